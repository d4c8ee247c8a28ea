"""The exact lowest and highest truth of a tree when some values are missing or known only as intervals.

Every gate rises with each input. So when each unknown feature pulls the output one way, two evaluations give both
ends, and both are attained. A feature used twice can pull both ways ("large but not too large"). It is then settled in
the smallest subtree that holds all its leaves: its raw range is split, most promising parts first, until the bounds
of that subtree are within TOLERANCE of a value that is attained; above, the subtree counts as one leaf.
"""

from __future__ import annotations

import logging
import math
from collections import Counter
from collections.abc import Callable, Mapping
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from baconlogic.core import Floats, gcd
from baconlogic.core.checks import ParameterError, parts_of
from baconlogic.core.columns import Columns
from baconlogic.core.criteria import Criterion, unlisted
from baconlogic.core.evaluate import raw_columns
from baconlogic.core.nodes import Gate, Leaf, Node, Not, flatten

Key = tuple[str, bool]  # feature, whether as categories
RawEnds = tuple[NDArray[Any], NDArray[Any]]
Intervals = dict[Key, RawEnds]
Ends = tuple[Floats, Floats]  # the lowest and the highest truth, each with its falsity: (2, rows)
Known = dict[int, Ends]  # by position
Criteria = dict[Key, list[Criterion]]
Raw = dict[Key, NDArray[Any]]
Order = list[tuple[Node, tuple[int, ...]]]

TOLERANCE = 1e-6
AT_ONCE = 256  # parts to split in one step
MOST_PARTS = 40_000  # when features pull both ways together, splitting may stop here: the bounds hold but are wider

log = logging.getLogger("baconlogic")


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
    criteria: Criteria = {}
    for node in nodes:
        if isinstance(node, Leaf):
            criteria.setdefault(_key(node), []).append(node.criterion)
    for feature, uses in Counter(feature for feature, _ in criteria).items():
        if uses > 1:
            log.warning("%r is read as a number and as a category; where it is unknown the bounds may be wide", feature)
    intervals = _intervals(criteria, raw_columns(nodes, lower), None if upper is None else raw_columns(nodes, upper))
    known = _leaf_intervals(dict(enumerate(nodes)), intervals)
    for span, keys in _knots(order):
        known[span[-1]] = _settled(order, span, {key: criteria[key] for key in keys}, intervals, known)
    low, high = _through(order, range(len(order)), known)
    return Bounds(low[0], high[0])


def _settled(order: Order, span: range, criteria: Criteria, intervals: Intervals, known: Known) -> Ends:
    """Return the bounds of a subtree in which columns pull both ways."""
    low, high = _through(order, span, known)
    leaves = {i: leaf for i in span if isinstance(leaf := order[i][0], Leaf) and _key(leaf) in criteria}
    seen: dict[Any, tuple[float, float]] = {}  # rows that know the same have the same bounds
    for row in np.flatnonzero(high[0] - low[0] > TOLERANCE):
        here = slice(row, row + 1)
        ends = {key: (intervals[key][0][here], intervals[key][1][here]) for key in criteria}
        pieces = _all_pieces(criteria, ends)
        if not pieces:
            continue
        if _combinations(pieces) > MOST_PARTS // 4:
            log.warning("row %d: too many categories pull both ways; its bounds hold but are not exact", row)
            continue
        rest = {i: (a[:, here], b[:, here]) for i, (a, b) in known.items() if i in span}
        same = (*((a[0], b[0]) for a, b in ends.values()), *((a[0, 0], b[0, 0]) for a, b in rest.values()))
        if same not in seen:
            seen[same] = _extremes(order, span, leaves, ends, rest, _start(pieces))
        low[:, row], high[:, row] = ((truth, 1.0 - truth) for truth in seen[same])
    return low, high


def _extremes(
    order: Order, span: range, leaves: dict[int, Leaf], ends: Intervals, rest: Known, start: Intervals
) -> tuple[float, float]:
    """Return the bounds of a subtree over parts: intervals of some columns; `ends` are those of the others."""

    def outer(parts: Intervals) -> Ends:
        return _through(order, span, {**rest, **_leaf_intervals(leaves, {**ends, **parts})})

    lowest = 1.0 - _highest(lambda parts: 1.0 - outer(parts)[0][0], start)
    return lowest, _highest(lambda parts: outer(parts)[1][0], start)


def _all_pieces(criteria: Criteria, ends: Intervals) -> dict[Key, list[tuple[Any, Any]]]:
    """Return the pieces of each column that is not known; coarse ones where their combinations would be too many."""
    unknown = [key for key in criteria if (high := ends[key][1][0]) is None or ends[key][0][0] != high]
    pieces = {key: _pieces(criteria[key], key, ends[key]) for key in unknown}
    if _combinations(pieces) > MOST_PARTS // 4:
        return {key: _pieces(criteria[key], key, ends[key], coarse=True) for key in unknown}
    return pieces


def _combinations(pieces: dict[Key, list[tuple[Any, Any]]]) -> int:
    return math.prod(len(piece) for piece in pieces.values())


def _knots(order: Order) -> list[tuple[range, list[Key]]]:
    """Return the subtrees to settle, innermost first: their positions and the columns that pull both ways in them.

    A column is settled where all its leaves meet. When another column's leaves lie both inside and outside that
    subtree, the two are settled together, where both meet.
    """
    first = list(range(len(order)))  # the first position of each subtree; it ends with its root
    for position, (_, below) in enumerate(order):
        first[position] = first[below[0]] if below else position
    knots: list[tuple[range, list[Key], list[int]]] = []  # positions, columns, their leaves
    for key, leaves in _two_way(order).items():
        keys, spots = [key], leaves
        while True:
            root = next(i for i in range(max(spots), len(order)) if first[i] <= min(spots))
            span = range(first[root], root + 1)
            crossing = [k for k in knots if _cross(span, spots, k)]
            if not crossing:
                break
            knots = [k for k in knots if not _cross(span, spots, k)]
            keys = keys + [each for _, theirs, _ in crossing for each in theirs]
            spots = spots + [each for _, _, theirs in crossing for each in theirs]
        knots.append((span, keys, spots))
    return [(span, keys) for span, keys, _ in sorted(knots, key=lambda knot: knot[0][-1])]


def _cross(span: range, spots: list[int], knot: tuple[range, list[Key], list[int]]) -> bool:
    """Whether two knots cannot be settled one after the other: one has a leaf in the other's subtree, and they meet."""
    theirs, _, leaves = knot
    inner, outer_spots = (span, leaves) if len(span) < len(theirs) else (theirs, spots)
    return any(spot in inner for spot in outer_spots)


def _key(leaf: Leaf) -> Key:
    return leaf.feature, leaf.criterion.categorical


def _intervals(criteria: Criteria, first: Raw, second: Raw | None) -> Intervals:
    """Return each column's interval ends: numbers with infinities for unknown, categories with None."""
    found: Intervals = {}
    for key, low in first.items():
        high = low if second is None else second[key]
        if key[1]:
            found[key] = low, np.array([a if a == b else None for a, b in zip(low, high, strict=True)], dtype=object)
            continue
        domains = [c.domain for c in criteria[key]]
        low = np.where(np.isnan(low), max(domain[0] for domain in domains), low)
        high = np.where(np.isnan(high), min(domain[1] for domain in domains), high)
        if (low > high).any():
            row = int(np.argmax(low > high))
            raise ValueError(f"column {key[0]!r}, row {row}: the interval from {low[row]:g} to {high[row]:g} is empty")
        found[key] = low, high
    return found


def _leaf_intervals(nodes: Mapping[int, Node], intervals: Intervals) -> Known:
    """Return the truth interval of each leaf, by position."""
    found: Known = {}
    for position, node in nodes.items():
        if not isinstance(node, Leaf):
            continue
        a, b = intervals[_key(node)]
        try:
            found[position] = node.criterion.ends(a, b)
        except ValueError as problem:
            raise ParameterError(f"column {node.feature!r}: ", *parts_of(problem)) from None
    return found


def _through(order: Order, span: range, known: Known) -> Ends:
    """Carry truth intervals up a subtree, from its leaves or from what is already known, to its root."""
    found: Known = {}
    for position in span:
        node, below = order[position]
        if position in known:
            found[position] = known[position]
        elif isinstance(node, Gate):
            weights, gate = np.array(node.weights)[:, None], node.coefficients
            ends = (np.stack(np.broadcast_arrays(*(found[i][end] for i in below)), axis=1) for end in (0, 1))
            low, high = (np.stack(gcd.combine_both(true, false, weights, gate)) for true, false in ends)
            found[position] = low, high
        else:
            low, high = found[below[0]]
            found[position] = high[::-1], low[::-1]
    return found[span[-1]]


def _two_way(order: Order) -> dict[Key, list[int]]:
    """Return the columns whose leaves do not all rise, or all fall, with the output; with the leaves' positions."""
    sign = [1] * len(order)
    pulls: dict[Key, dict[int, int]] = {}
    for position, (node, below) in reversed(list(enumerate(order))):
        for child in below:
            sign[child] = -sign[position] if isinstance(node, Not) else sign[position]
        if isinstance(node, Leaf):
            rising = node.criterion.rising
            pulls.setdefault(_key(node), {})[position] = sign[position] * {True: 1, False: -1, None: 0}[rising]
    return {key: list(p) for key, p in pulls.items() if len(p) > 1 and (0 in p.values() or len(set(p.values())) > 1)}


def _highest(outer: Callable[[Intervals], Floats], parts: Intervals) -> float:
    """Return the highest value of one row: `outer` bounds it over each part, and the most promising parts are split."""
    numeric = [key for key in parts if not key[1]]
    upper, attained, finished = outer(parts), 0.0, 0.0
    if not numeric:
        return float(np.max(upper))  # every part is a point
    splits = np.zeros(len(upper), dtype=int)  # of each part, so that columns take turns
    for _ in range(MOST_PARTS // AT_ONCE):
        alive = upper > attained + TOLERANCE
        finished = max(finished, float(np.max(upper[~alive], initial=0.0)))
        if not alive.any():
            return max(attained, finished)
        order = np.flatnonzero(alive)[np.argsort(-upper[alive])]
        best, rest = order[:AT_ONCE], order[AT_ONCE:]
        chosen = _take(parts, best)
        middles = {key: _middle(*ends) for key, ends in chosen.items()}
        attained = max(attained, float(np.max(outer({key: (m, m) for key, m in middles.items()}))))
        halves = _halve(chosen, middles, {key: splits[best] % len(numeric) == i for i, key in enumerate(numeric)})
        parts = {k: _joined(ends, halves[k]) for k, ends in _take(parts, rest).items()}
        upper = np.concatenate([upper[rest], outer(halves)])
        splits = np.concatenate([splits[rest], splits[best] + 1, splits[best] + 1])
    log.warning("several features pull both ways together; the bounds hold but are not exact")
    return max(attained, finished, float(np.max(upper)))


def _take(parts: Intervals, which: NDArray[np.int64]) -> Intervals:
    return {key: (a[which], b[which]) for key, (a, b) in parts.items()}


def _joined(first: RawEnds, second: RawEnds) -> RawEnds:
    return np.concatenate([first[0], second[0]]), np.concatenate([first[1], second[1]])


def _middle(a: NDArray[Any], b: NDArray[Any]) -> NDArray[Any]:
    """Return the middle of each part; of a point, which a category always is, the point."""
    if a.dtype == object:
        return a
    with np.errstate(invalid="ignore"):  # infinite points
        return np.where(a == b, a, a / 2.0 + b / 2.0)


def _halve(parts: Intervals, middles: dict[Key, NDArray[Any]], turn: dict[Key, NDArray[np.bool_]]) -> Intervals:
    """Split each part in the column whose turn it is; where no number lies between its ends, into the two ends."""
    halves: Intervals = {}
    for key, (a, b) in parts.items():
        if key not in turn:
            halves[key] = _joined((a, b), (a, b))
            continue
        middle = middles[key]
        tight = (middle == a) | (middle == b)
        below = np.where(turn[key], np.where(tight, a, middle), b)
        above = np.where(turn[key], np.where(tight, b, middle), a)
        halves[key] = _joined((a, below), (above, b))
    return halves


def _start(pieces: dict[Key, list[tuple[Any, Any]]]) -> Intervals:
    """Return the parts to start from: every combination of the pieces of each column."""
    chosen = np.indices([len(piece) for piece in pieces.values()]).reshape(len(pieces), -1)
    parts: Intervals = {}
    for (key, piece), index in zip(pieces.items(), chosen, strict=True):
        a, b = (np.array([part[end] for part in piece], dtype=object if key[1] else float) for end in (0, 1))
        parts[key] = a[index], b[index]
    return parts


def _pieces(criteria: list[Criterion], key: Key, interval: RawEnds, *, coarse: bool = False) -> list[tuple[Any, Any]]:
    """Return each category, or the finite ranges between the points where a leaf bends; outside, all are constant."""
    if key[1]:
        listed: dict[Any, None] = dict.fromkeys(category for c in criteria for category, _ in c.truths)
        allowed = [v for v in (*listed, unlisted(listed)) if all(c.accepts(v) for c in criteria)]
        if not allowed:
            raise ValueError(f"column {key[0]!r} is unknown, but no category is in all the tables that read it")
        return [(category, category) for category in allowed]
    bends = {x for c in criteria for x in c.bends}
    low, high = (float(side[0]) for side in interval)
    start, end = (float(np.clip(side, min(bends), max(bends))) for side in (low, high))
    if coarse:
        return [(start, end)]
    edges = [start, *sorted(bend for bend in bends if start < bend < end), end]
    return [(low, low), (high, high), *pairwise(edges)]
