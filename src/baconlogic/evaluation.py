"""What a tree says about rows: the degree of truth of every node, block by block.

A block of rows stays in the cache while it passes through the whole tree. From COMPILED_ROWS on, and where numba is
installed, gates, sigmoids and ramps run compiled; the results agree to about 1e-15.
"""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import numpy as np

from baconlogic import gcd
from baconlogic.criteria import Criterion, Ramp, Sigmoid
from baconlogic.nodes import Gate, Leaf, Node, flatten

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from numpy.typing import NDArray

    from baconlogic.columns import Columns

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]

COMPILED_ROWS = 100_000
NUMPY_BLOCK = 8192
COMPILED_BLOCK = 65536  # long, so that threads do not wait for each other between steps; shorter for a large tree


def truths(root: Node, table: Columns, n_jobs: int = 1, *, every_node: bool = False) -> Floats:
    """Return the root's truth of each row, (rows,), or that of every node in the order of `flatten`, (nodes, rows)."""
    order = flatten(root)
    raw = raw_columns((node for node, _ in order), table)
    longest, leaf_truth, combine = _operations(table.rows)
    block = min(longest, max(4096, 4_000_000 // len(order)))
    gates = [
        (np.array(below), np.array(node.weights)[:, None], node.coefficients) if isinstance(node, Gate) else None
        for node, below in order
    ]
    out = np.empty((len(order) if every_node else 1, table.rows))

    def run(starts: range) -> None:
        room = np.empty((len(order) + 1, min(block, table.rows)))
        for start in starts:
            size = min(block, table.rows - start)
            found, scratch = room[:-1, :size], room[-1, :size]
            for (node, below), gate, truth in zip(order, gates, found, strict=True):
                if isinstance(node, Leaf):
                    column = raw[node.feature, node.criterion.categorical][start : start + size]
                    with _naming(node, column, start):
                        leaf_truth(node.criterion, column, truth)
                elif gate:
                    combine(found, *gate, truth, scratch)
                else:
                    np.subtract(1.0, found[below[0]], out=truth)
            out[:, start : start + size] = found if every_node else found[-1]

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
        return NUMPY_BLOCK, _leaf_truth, _combine
    from baconlogic import loops

    def leaf_truth(criterion: Criterion, column: NDArray[Any], out: Floats) -> None:
        if isinstance(criterion, Sigmoid):
            missing = loops.sigmoid(column, criterion.centre, criterion.slope, out)
        elif isinstance(criterion, Ramp):
            values, truths = np.array(criterion.points).T.copy()
            missing = loops.ramp(column, values, truths, out)
        else:
            _leaf_truth(criterion, column, out)
            return
        if missing:
            criterion.fill(out, column)

    def combine(truths: Floats, below: Ints, weights: Floats, gate: gcd.Coefficients, *room: Floats) -> None:
        (_combine if np.isinf(gate.power) else loops.combine)(truths, below, weights, gate, *room)

    return COMPILED_BLOCK, leaf_truth, combine


def _leaf_truth(criterion: Criterion, column: NDArray[Any], out: Floats) -> None:
    out[:] = criterion.truth(column)


def _combine(truths: Floats, below: Ints, weights: Floats, gate: gcd.Coefficients, out: Floats, _: Floats) -> None:
    out[:] = gcd.combine(truths[below], weights, gate)


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
