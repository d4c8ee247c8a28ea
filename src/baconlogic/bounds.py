"""The exact lowest and highest truth of a tree when some values are missing or known only as intervals.

Every gate rises with each input. So when each unknown feature pulls the output one way, two evaluations give both
ends, and both are attained. A feature used twice can pull both ways ("large but not too large"); its raw range is then
split, best part first, until the bounds are within TOLERANCE of a value that is attained.
"""

from __future__ import annotations

from itertools import count, pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from baconlogic import gcd
from baconlogic.criteria import Criterion, Given, Numeric, Ramp, Sigmoid, Table
from baconlogic.evaluation import raw_columns
from baconlogic.nodes import Gate, Leaf, Node, Not, flatten

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from baconlogic.columns import Columns

    Floats = NDArray[np.float64]
    Key = tuple[str, bool]  # feature, whether as categories
    Intervals = dict[Key, tuple[NDArray[Any], NDArray[Any]]]
    Order = list[tuple[Node, tuple[int, ...]]]

TOLERANCE = 1e-6
MOST_PARTS = 20_000  # with several two-way features the split may stop here: the bounds then hold but are wider


class Bounds(NamedTuple):
    """Lowest and highest degree of truth of each row."""

    low: Floats
    high: Floats


def bounds(root: Node, lower: Columns, upper: Columns | None = None) -> Bounds:
    """Return the bounds of each row. With two tables they hold the ends of intervals; NaN is an unknown end."""
    if upper is not None and upper.rows != lower.rows:
        raise ValueError(f"the two tables must have the same rows, got {lower.rows} and {upper.rows}")
    order = flatten(root)
    nodes = [node for node, _ in order]
    intervals = _intervals(nodes, lower, upper)
    low, high = _through(order, *_leaf_intervals(nodes, intervals))
    for row in np.flatnonzero(high - low > TOLERANCE):
        both = [key for key in _two_way(order) if _is_open(intervals[key], row)]
        if both:
            ends = {key: (a[row : row + 1], b[row : row + 1]) for key, (a, b) in intervals.items()}
            low[row] = 1.0 - _highest(order, ends, both, of_not=True)
            high[row] = _highest(order, ends, both, of_not=False)
    return Bounds(low, high)


def _intervals(nodes: list[Node], lower: Columns, upper: Columns | None) -> Intervals:
    """Return each column's interval ends: numbers with infinities for unknown, categories with None."""
    first = raw_columns(nodes, lower)
    second = first if upper is None else raw_columns(nodes, upper)
    found: Intervals = {}
    for key, low in first.items():
        high = second[key]
        if key[1]:
            found[key] = low, np.array([a if a == b else None for a, b in zip(low, high, strict=True)], dtype=object)
            continue
        domains = [c.domain for c in _criteria(nodes, key) if isinstance(c, Numeric)]
        low = np.where(np.isnan(low), max(domain[0] for domain in domains), low)
        high = np.where(np.isnan(high), min(domain[1] for domain in domains), high)
        if (low > high).any():
            row = int(np.argmax(low > high))
            raise ValueError(f"column {key[0]!r}, row {row}: the interval from {low[row]:g} to {high[row]:g} is empty")
        found[key] = low, high
    return found


def _criteria(nodes: list[Node], key: Key) -> list[Criterion]:
    return [n.criterion for n in nodes if isinstance(n, Leaf) and (n.feature, n.criterion.categorical) == key]


def _leaf_intervals(nodes: list[Node], intervals: Intervals) -> tuple[Any, Any]:
    """Return the truth interval of each leaf, by position."""
    lows: dict[int, Floats] = {}
    highs: dict[int, Floats] = {}
    for position, node in enumerate(nodes):
        if not isinstance(node, Leaf):
            continue
        a, b = intervals[node.feature, node.criterion.categorical]
        try:
            if isinstance(node.criterion, Numeric):
                lows[position], highs[position] = node.criterion.image(a, b)
            else:
                unknown = np.array([value is None for value in b], dtype=bool)
                truth = np.full(len(b), np.nan)
                truth[~unknown] = node.criterion.truth(b[~unknown])
                least, most = node.criterion.range
                lows[position], highs[position] = np.where(unknown, least, truth), np.where(unknown, most, truth)
        except ValueError as problem:
            raise ValueError(f"column {node.feature!r}: {problem}") from None
    return lows, highs


def _through(order: Order, lows: dict[int, Floats], highs: dict[int, Floats]) -> tuple[Floats, Floats]:
    """Carry the leaves' truth intervals to the root."""
    found: list[tuple[Floats, Floats]] = []
    for position, (node, below) in enumerate(order):
        if isinstance(node, Leaf):
            found.append((lows[position], highs[position]))
        elif isinstance(node, Gate):
            weights, gate = np.array(node.weights)[:, None], node.coefficients
            inputs = [np.stack(np.broadcast_arrays(*(found[i][end] for i in below))) for end in (0, 1)]
            low, high = (gcd.combine(x, weights, gate) for x in inputs)
            found.append((low, high))
        else:
            low, high = found[below[0]]
            found.append((1.0 - high, 1.0 - low))
    return found[-1]


def _two_way(order: Order) -> list[Key]:
    """Return the columns that may pull the output both ways: their leaves do not all rise, or all fall, with it."""
    sign = [1] * len(order)
    pulls: dict[Key, list[int]] = {}
    for position in range(len(order) - 1, -1, -1):
        node, below = order[position]
        for child in below:
            sign[child] = -sign[position] if isinstance(node, Not) else sign[position]
        if isinstance(node, Leaf):
            rising = node.criterion.rising
            pull = 0 if rising is None else sign[position] * (1 if rising else -1)
            pulls.setdefault((node.feature, node.criterion.categorical), []).append(pull)
    return [key for key, ways in pulls.items() if len(ways) > 1 and (0 in ways or len(set(ways)) > 1)]


def _is_open(interval: tuple[NDArray[Any], NDArray[Any]], row: Any) -> bool:
    low, high = interval
    return high[row] is None or bool(low[row] != high[row])


def _highest(order: Order, ends: Intervals, both: list[Key], *, of_not: bool) -> float:
    """Return one row's highest output (or that of 1 - output), splitting the ranges of the columns in `both`."""
    nodes = [node for node, _ in order]

    def outer(parts: Intervals) -> Floats:
        low, high = _through(order, *_leaf_intervals(nodes, {**ends, **parts}))
        return 1.0 - low if of_not else high

    parts = _start(nodes, ends, both)
    numeric = [key for key in both if not key[1]]
    attained, finished = 0.0, 0.0
    for turn in count():
        upper = outer(parts)
        middles = {key: a if key[1] else a + (b - a) / 2.0 for key, (a, b) in parts.items()}
        attained = max(attained, float(np.max(outer({key: (m, m) for key, m in middles.items()}))))
        keep = upper > attained + TOLERANCE
        finished = max(finished, float(np.max(upper[~keep], initial=0.0)))
        if not keep.any():
            break
        if len(upper) > MOST_PARTS:
            return max(finished, float(np.max(upper)))
        key = numeric[turn % len(numeric)]
        parts = _halve({k: (a[keep], b[keep]) for k, (a, b) in parts.items()}, key, middles[key][keep])
    return max(attained, finished)


def _halve(parts: Intervals, key: Key, middle: Floats) -> Intervals:
    halves = {k: (np.concatenate([a, a]), np.concatenate([b, b])) for k, (a, b) in parts.items()}
    a, b = parts[key]
    halves[key] = np.concatenate([a, middle]), np.concatenate([middle, b])
    return halves


def _start(nodes: list[Node], ends: Intervals, both: list[Key]) -> Intervals:
    """Return the parts to start from: every combination of the pieces of each column."""
    pieces = [_pieces(nodes, key, ends[key]) for key in both]
    chosen = np.indices([len(piece) for piece in pieces]).reshape(len(both), -1)
    parts: Intervals = {}
    for key, piece, index in zip(both, pieces, chosen, strict=True):
        a, b = (np.array([part[end] for part in piece], dtype=object if key[1] else float) for end in (0, 1))
        parts[key] = a[index], b[index]
    return parts


def _pieces(nodes: list[Node], key: Key, interval: tuple[NDArray[Any], NDArray[Any]]) -> list[tuple[Any, Any]]:
    """Return each category, or the finite ranges between the points where a leaf bends; outside, all are constant."""
    criteria = _criteria(nodes, key)
    if key[1]:
        tables = [c for c in criteria if isinstance(c, Table)]
        listed: dict[Any, None] = dict.fromkeys(category for c in tables for category, _ in c.truths)
        unlisted = object()  # stands for any category that no table names
        allowed = [v for v in (*listed, unlisted) if all(c.other is not None or v in dict(c.truths) for c in tables)]
        return [(category, category) for category in allowed]
    bends: set[float] = set()
    for c in criteria:
        if isinstance(c, Ramp):
            bends.update(x for x, _ in c.points)
        elif isinstance(c, Sigmoid):  # beyond these it is 0 or 1 to the last bit
            bends.update((c.centre - 800.0 / abs(c.slope), c.centre, c.centre + 800.0 / abs(c.slope)))
        elif isinstance(c, Given):
            bends.update(c.domain)
    start, end = (float(np.clip(side[0], min(bends), max(bends))) for side in interval)
    edges = [start, *sorted(bend for bend in bends if start < bend < end), end]
    return list(pairwise(edges))
