"""What a tree says about rows: the degree of truth of every node, block by block.

A block of rows stays in the cache while it passes through the whole tree. From COMPILED_ROWS on, and where numba is
installed, gates, sigmoids and ramps run compiled; the results agree to about 1e-15. Beside truths, falsities are
carried where they are needed for that (see `sides`).
"""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from baconlogic import gcd
from baconlogic.criteria import Criterion, Ramp, Sigmoid
from baconlogic.nodes import Gate, Leaf, Node, flatten
from baconlogic.sides import Sides, below, needed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from numpy.typing import NDArray

    from baconlogic.columns import Columns

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]
    Pair = tuple[Floats, Floats]  # truths and falsities, (nodes, rows) each

COMPILED_ROWS = 100_000
NUMPY_BLOCK = 8192
COMPILED_BLOCK = 65536  # long, so that threads do not wait for each other between steps; shorter for a large tree


class _Step(NamedTuple):
    """A gate as it is worked out for a block of rows."""

    node: Gate
    children: Ints
    weights: Floats  # (inputs, 1)
    numbers: gcd.Coefficients
    side: Sides  # what is wanted of it


def truths(root: Node, table: Columns, n_jobs: int = 1, *, every_node: bool = False) -> Floats:
    """Return the root's truth of each row, (rows,), or that of every node in the order of `flatten`, (nodes, rows)."""
    order = flatten(root)
    raw = raw_columns((node for node, _ in order), table)
    sides = needed(order, every_truth=every_node)
    falsities = len(order) if any(side.falsity for side in sides) else 0
    longest, leaf_side, combine = _operations(table.rows)
    block = min(longest, max(4096, 4_000_000 // (len(order) + falsities)))
    gates = {
        position: _Step(node, np.array(children), np.array(node.weights)[:, None], node.coefficients, sides[position])
        for position, (node, children) in enumerate(order)
        if isinstance(node, Gate)
    }
    out = np.empty((len(order) if every_node else 1, table.rows))

    def run(starts: range) -> None:
        room = np.empty((len(order) + falsities + 1, min(block, table.rows)))
        for start in starts:
            size = min(block, table.rows - start)
            true, false, scratch = room[: len(order), :size], room[-falsities - 1 : -1, :size], room[-1, :size]
            for position, ((node, children), side) in enumerate(zip(order, sides, strict=True)):
                if isinstance(node, Leaf):
                    column = raw[node.feature, node.criterion.categorical][start : start + size]
                    with _naming(node, column, start):
                        for turned, wanted, found in zip((False, True), side, (true, false), strict=True):
                            if wanted:
                                leaf_side(node.criterion, column, found[position], turned)
                elif isinstance(node, Gate):
                    combine(gates[position], (true, false), position, scratch)
                else:
                    for wanted, found, opposite in zip(side, (true, false), (false, true), strict=True):
                        if wanted:
                            found[position] = opposite[children[0]]
            out[:, start : start + size] = true if every_node else true[-1]

    workers = (os.cpu_count() or 1) if n_jobs < 0 else max(n_jobs, 1)
    shares = [range(k * block, table.rows, workers * block) for k in range(workers)]
    if workers == 1 or len(shares[1]) == 0:
        run(range(0, table.rows, block))
    else:
        with ThreadPoolExecutor(workers) as pool:
            list(pool.map(run, shares))
    return out if every_node else out[0]


def raw_columns(nodes: Iterable[Node], table: Columns) -> dict[tuple[str, bool], NDArray[Any]]:
    """Read the columns that leaves need, keyed by (feature, whether as categories)."""
    leaves = [node for node in nodes if isinstance(node, Leaf)]
    table.require(list(dict.fromkeys(leaf.feature for leaf in leaves)))
    wanted = dict.fromkeys((leaf.feature, leaf.criterion.categorical) for leaf in leaves)
    return {key: table.categories(key[0]) if key[1] else table.numbers(key[0]) for key in wanted}


def _operations(rows: int) -> tuple[int, Callable[..., None], Callable[..., None]]:
    if rows < COMPILED_ROWS or not find_spec("numba"):
        return NUMPY_BLOCK, _leaf_side, _combine
    from baconlogic import loops

    def leaf_side(criterion: Criterion, column: NDArray[Any], out: Floats, turned: bool) -> None:
        if isinstance(criterion, Sigmoid):
            slope = -criterion.slope if turned else criterion.slope
            missing = loops.sigmoid(column, criterion.centre, slope, out)
        elif isinstance(criterion, Ramp):
            values, truths = np.array(criterion.points).T.copy()
            missing = loops.ramp(column, values, 1.0 - truths if turned else truths, out)
        else:
            _leaf_side(criterion, column, out, turned)
            return
        if missing:
            criterion.fill(out, column, turned=turned)

    def combine(gate: _Step, found: Pair, position: int, scratch: Floats) -> None:
        if np.isinf(gate.numbers.power):
            _combine(gate, found, position, scratch)
            return
        sides, own, rest = gate.side, *found
        if gate.numbers.dual:
            sides, own, rest = sides.turned(), rest, own
        if gate.numbers.product == 0.0 and sides.falsity:  # a mean is the mean of either side
            loops.combine(rest, gate.children, gate.weights, gate.numbers, rest[position], scratch)
        elif sides.falsity:
            loops.combine_both(own, rest, gate.children, gate.weights, gate.numbers, position, scratch)
            return
        if sides.truth:
            loops.combine(own, gate.children, gate.weights, gate.numbers, own[position], scratch)

    return COMPILED_BLOCK, leaf_side, combine


def _leaf_side(criterion: Criterion, column: NDArray[Any], out: Floats, turned: bool) -> None:
    out[:] = criterion.falsity(column) if turned else criterion.truth(column)


def _combine(gate: _Step, found: Pair, position: int, _: Floats) -> None:
    true, false = found
    has = below(gate.node, gate.side)
    truth = true[gate.children] if has.truth else 1.0 - false[gate.children]
    falsity = false[gate.children] if has.falsity else 1.0 - truth
    values = gcd.combine_both(truth, falsity, gate.weights, gate.numbers)
    for wanted, into, value in zip(gate.side, found, values, strict=True):
        if wanted:
            into[position] = value


@contextmanager
def _naming(leaf: Leaf, column: NDArray[Any], start: int) -> Iterator[None]:
    """Say the column and the row in the error of a value that has no truth."""
    try:
        yield
    except ValueError as problem:
        row = next((i for i in range(len(column)) if _fails(leaf.criterion, column[i : i + 1])), 0)
        raise ValueError(f"column {leaf.feature!r}, row {start + row}: {problem}") from None


def _fails(criterion: Criterion, value: NDArray[Any]) -> bool:
    try:
        criterion.truth(value)
    except ValueError:
        return True
    return False
