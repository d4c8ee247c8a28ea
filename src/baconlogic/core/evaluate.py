"""What a tree says about rows: the degree of truth of every node, block by block.

A block of rows stays in the cache while it passes through the whole tree. From COMPILED_ROWS on, and where numba is
installed, gates, sigmoids and ramps run compiled; the results agree to about 1e-15. Beside truths, falsities are
carried where they are needed for that (see `sides`).
"""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from baconlogic.core import gcd
from baconlogic.core.checks import ParameterError, parts_of
from baconlogic.core.criteria import Criterion, Ramp, Sigmoid
from baconlogic.core.nodes import Gate, Leaf, Node, flatten
from baconlogic.core.sides import Sides, below, needed

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from numpy.typing import NDArray

    from baconlogic.core.columns import Columns

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]
    Pair = tuple[Floats, Floats]  # truths and falsities, (nodes, rows) each

COMPILED_ROWS = 100_000
NUMPY_BLOCK = 8192
COMPILED_BLOCK = 65536  # long, so that threads do not wait for each other between steps; shorter for a large tree


class _GateStep(NamedTuple):
    """A gate as it is worked out for a block of rows."""

    node: Gate
    children: Ints
    weights: Floats  # (inputs, 1)
    numbers: gcd.Coefficients
    side: Sides  # what is wanted of it


def truths(root: Node, table: Columns, n_jobs: int = 1, *, every_node: bool = False) -> Floats:
    """Return the root's truth of each row, (rows,), or that of every node in the order of `flatten`, (nodes, rows)."""
    order = flatten(root)
    sides = needed(order, every_truth=every_node)
    steps = tuple(_prepared(node, children, side) for (node, children), side in zip(order, sides, strict=True))
    operations = _CompiledSteps() if table.rows >= COMPILED_ROWS and find_spec("numba") else _NumpySteps()
    run = _Evaluation(steps, tuple(sides), raw_columns((node for node, _ in order), table), table.rows, operations)
    out = np.empty((len(order) if every_node else 1, table.rows))
    workers = (os.cpu_count() or 1) if n_jobs < 0 else max(n_jobs, 1)
    shares = [range(k * run.block, table.rows, workers * run.block) for k in range(workers)]
    if workers == 1 or len(shares[1]) == 0:
        run.fill(range(0, table.rows, run.block), out)
    else:
        with ThreadPoolExecutor(workers) as pool:
            list(pool.map(lambda starts: run.fill(starts, out), shares))
    return out if every_node else out[0]


@dataclass(frozen=True)
class _Evaluation:
    """One evaluation: the steps of a tree, children first, over the columns of one table."""

    steps: tuple[Leaf | _GateStep | int, ...]  # see `_prepared`
    sides: tuple[Sides, ...]  # what is wanted of each step
    raw: dict[tuple[str, bool], NDArray[Any]]
    rows: int
    operations: _NumpySteps

    @property
    def falsities(self) -> int:
        """How many rows of workspace falsities take: none where no step needs one."""
        return len(self.steps) if any(side.falsity for side in self.sides) else 0

    @property
    def block(self) -> int:
        """Rows that pass through the tree together."""
        return min(self.operations.block, max(4096, 4_000_000 // (len(self.steps) + self.falsities)))

    def fill(self, starts: range, out: Floats) -> None:
        """Put the truths of the blocks that begin at `starts` into `out`: of every node, or of the root alone."""
        nodes = len(self.steps)
        workspace = np.empty((nodes + self.falsities + 1, min(self.block, self.rows)))
        for start in starts:
            size = min(self.block, self.rows - start)
            found, scratch = (workspace[:nodes, :size], workspace[nodes:-1, :size]), workspace[-1, :size]
            for position in range(nodes):
                self._step(position, found, start, scratch)
            out[:, start : start + size] = found[0] if len(out) == nodes else found[0][-1]

    def _step(self, position: int, found: Pair, start: int, scratch: Floats) -> None:
        step, side = self.steps[position], self.sides[position]
        if isinstance(step, _GateStep):
            self.operations.combine(step, found, position, scratch)
        elif isinstance(step, Leaf):
            column = self.raw[step.feature, step.criterion.categorical][start : start + len(scratch)]
            with _naming(step, column, start):
                for into, wanted, turned in zip(found, side, (False, True), strict=True):
                    if wanted:
                        self.operations.leaf(step.criterion, column, into[position], turned=turned)
        else:  # a negation: truth and falsity change places
            for wanted, into, opposite in zip(side, found, reversed(found), strict=True):
                if wanted:
                    into[position] = opposite[step]


def _prepared(node: Node, children: tuple[int, ...], side: Sides) -> Leaf | _GateStep | int:
    """Return a leaf, what is worked out of a gate, or of a negation the place of its input."""
    if isinstance(node, Gate):
        return _GateStep(node, np.array(children), np.array(node.weights)[:, None], node.coefficients, side)
    return node if isinstance(node, Leaf) else children[0]


def raw_columns(nodes: Iterable[Node], table: Columns) -> dict[tuple[str, bool], NDArray[Any]]:
    """Read the columns that leaves need, keyed by (feature, whether as categories)."""
    leaves = [node for node in nodes if isinstance(node, Leaf)]
    table.require(list(dict.fromkeys(leaf.feature for leaf in leaves)))
    wanted = dict.fromkeys((leaf.feature, leaf.criterion.categorical) for leaf in leaves)
    return {key: table.categories(key[0]) if key[1] else table.numbers(key[0]) for key in wanted}


class _NumpySteps:
    """The steps in numpy."""

    block = NUMPY_BLOCK

    def leaf(self, criterion: Criterion, column: NDArray[Any], out: Floats, *, turned: bool) -> None:
        """Put in a leaf's truth, or when turned its falsity."""
        out[:] = criterion.falsity(column) if turned else criterion.truth(column)

    def combine(self, gate: _GateStep, found: Pair, position: int, scratch: Floats) -> None:  # noqa: ARG002
        """Put in what is wanted of a gate."""
        true, false = found
        has = below(gate.node, gate.side)
        truth = true[gate.children] if has.truth else 1.0 - false[gate.children]
        falsity = false[gate.children] if has.falsity else 1.0 - truth
        values = gcd.combine_both(truth, falsity, gate.weights, gate.numbers)
        for wanted, into, value in zip(gate.side, found, values, strict=True):
            if wanted:
                into[position] = value


class _CompiledSteps(_NumpySteps):
    """The same steps, compiled where that pays."""

    block = COMPILED_BLOCK

    def leaf(self, criterion: Criterion, column: NDArray[Any], out: Floats, *, turned: bool) -> None:
        from baconlogic.kernel import loops

        if isinstance(criterion, Sigmoid):
            slope = -criterion.slope if turned else criterion.slope
            missing = loops.sigmoid(column, criterion.centre, slope, out)
        elif isinstance(criterion, Ramp):
            values, truths = np.array(criterion.points).T.copy()
            missing = loops.ramp(column, values, 1.0 - truths if turned else truths, out)
        else:
            super().leaf(criterion, column, out, turned=turned)
            return
        if missing:
            criterion.fill(out, column, turned=turned)

    def combine(self, gate: _GateStep, found: Pair, position: int, scratch: Floats) -> None:
        from baconlogic.kernel import loops

        if np.isinf(gate.numbers.power):
            super().combine(gate, found, position, scratch)
            return
        (own, rest), side = (found[::-1], gate.side.turned()) if gate.numbers.dual else (found, gate.side)
        if side.falsity and gate.numbers.product > 0.0:
            loops.combine_both(own, rest, *gate[1:4], position, scratch)
            return
        for wanted, each in zip(side, (own, rest), strict=True):  # both only of a mean, which is one on either side
            if wanted:
                loops.combine(each, *gate[1:4], each[position], scratch)


@contextmanager
def _naming(leaf: Leaf, column: NDArray[Any], start: int) -> Iterator[None]:
    """Say the column and the row in the error of a value that has no truth."""
    try:
        yield
    except ValueError as problem:
        row = next((i for i in range(len(column)) if _fails(leaf.criterion, column[i : i + 1])), 0)
        raise ParameterError(f"column {leaf.feature!r}, row {start + row}: ", *parts_of(problem)) from None


def _fails(criterion: Criterion, value: NDArray[Any]) -> bool:
    try:
        criterion.truth(value)
    except ValueError:
        return True
    return False
