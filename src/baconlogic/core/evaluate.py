"""What a tree says about rows: the degree of truth of every node, block by block.

A block of rows stays in the cache while it passes through the whole tree. From COMPILED_ROWS on, and where numba is
installed, gates, sigmoids and ramps run compiled; the results agree to about 1e-15. Beside truths, falsities are
carried where they are needed.

A truth near 1 has lost the digits in which its falsity, 1 - truth, differs from 0, and a disjunction works on those:
"almost surely not, but for one chance in 10**20" is a difference to the gates above. So where it matters the falsity
is worked out beside the truth, both to full precision, and never taken as 1 - truth.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from baconlogic.core import Floats, Ints, gcd
from baconlogic.core.checks import ParameterError, parts_of
from baconlogic.core.columns import Columns
from baconlogic.core.criteria import Criterion
from baconlogic.core.nodes import Gate, Leaf, Node, Not, flatten

Pair = tuple[Floats, Floats]  # truths and falsities, (nodes, rows) each

COMPILED_ROWS = 100_000
NUMPY_BLOCK = 8192
COMPILED_BLOCK = 65536  # long, so that threads do not wait for each other between steps; shorter for a large tree


class Sides(NamedTuple):
    """Whether a node's truth and its falsity are needed."""

    truth: bool
    falsity: bool

    def turned(self) -> Sides:
        """Swap the two, as a negation does."""
        return Sides(self.falsity, self.truth)

    def __or__(self, other: object) -> Sides:
        return Sides(self.truth or other.truth, self.falsity or other.falsity) if isinstance(other, Sides) else self


def needed(order: Sequence[tuple[Node, tuple[int, ...]]], *, every_truth: bool = False) -> list[Sides]:
    """Return what is needed of each node of `flatten` to know the truth of the root, or of every node."""
    found = [Sides(every_truth, falsity=False)] * len(order)
    found[-1] = Sides(truth=True, falsity=False)
    for position, (node, children) in reversed(list(enumerate(order))):
        for child in children:
            found[child] |= below(node, found[position])
    return found


def below(node: Node, own: Sides) -> Sides:
    """Return what a node needs of each input to know its own sides."""
    if isinstance(node, Not):
        return own.turned()
    if not isinstance(node, Gate):
        return own
    dual, _, product, power = node.coefficients
    combined, rest = own.turned() if dual else own  # a disjunction combines falsities
    found = Sides(combined or (rest and product > 0.0), rest)
    if math.isinf(power):
        found = Sides(truth=False, falsity=True)  # only what is fully true counts: where falsity is 0
    return found.turned() if dual else found


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

        missing = criterion.compiled(loops, column, out, turned=turned)
        if missing is None:
            super().leaf(criterion, column, out, turned=turned)
        elif missing:
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


class Truths:
    """The nodes of a tree in the order of `flatten`, with the truths of each; `known` has those of the leaves.

    Asked what the root would say if one node were another, only the gates between the two are combined again: trying
    many small changes is cheap.
    """

    def __init__(self, root: Node, known: Mapping[Leaf, Floats]) -> None:
        self.order = flatten(root)
        self.parent: list[int | None] = [None] * len(self.order)
        self.known = known
        self.of: list[Floats] = []
        for position, (node, below) in enumerate(self.order):
            for child in below:
                self.parent[child] = position
            self.of.append(known[node] if isinstance(node, Leaf) else combined(node, [self.of[i] for i in below]))
        self._gates = {
            position: (np.array(node.weights)[:, None], node.coefficients)
            for position, (node, _) in enumerate(self.order)
            if isinstance(node, Gate)
        }

    def root_if(self, position: int, truth: Floats) -> Floats:
        """Return the truths of the root if the node at a position had these."""
        while (above := self.parent[position]) is not None:
            if above in self._gates:
                inputs = [truth if i == position else self.of[i] for i in self.order[above][1]]
                truth = gcd.combine(np.stack(inputs), *self._gates[above])
            else:
                truth = 1.0 - truth
            position = above
        return truth

    def tree_with(self, position: int, node: Node) -> Node:
        """Return the whole tree with another node at a position."""
        while (above := self.parent[position]) is not None:
            parent, below = self.order[above]
            children = tuple(node if i == position else old for i, old in zip(below, parent.children, strict=True))
            node = parent.with_children(children)
            position = above
        return node

    def entry(self, position: int) -> tuple[int, int]:
        """Return the gate at which a leaf enters, negations included, and the place at which it does."""
        above = self.parent[position]
        while above is not None and isinstance(self.order[above][0], Not):
            position, above = above, self.parent[above]
        if above is None:
            raise ValueError("this is the only leaf; a tree needs at least one")
        return above, self.order[above][1].index(position)


def leaf_truths(root: Node, table: Columns) -> dict[Leaf, Floats]:
    """Return what each leaf of a tree says of some rows."""
    found = zip(flatten(root), truths(root, table, every_node=True), strict=True)
    return {node: truth for (node, _), truth in found if isinstance(node, Leaf)}


def combined(node: Node, inputs: list[Floats]) -> Floats:
    """Return the truths of a gate or a negation over those of its inputs."""
    if isinstance(node, Gate):
        return gcd.combine(np.stack(inputs), np.array(node.weights)[:, None], node.coefficients)
    return 1.0 - inputs[0]


def both_combined(node: Node, inputs: list[Floats]) -> Floats:
    """Return truths and falsities of a gate or a negation over those of its inputs, (2, rows) each."""
    if isinstance(node, Gate):
        true, false = np.stack(inputs, axis=1)
        return np.stack(gcd.combine_both(true, false, np.array(node.weights)[:, None], node.coefficients))
    return inputs[0][::-1]
