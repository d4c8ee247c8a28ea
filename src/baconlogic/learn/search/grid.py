"""What every possible condition would do to the loss of a card.

A grid has the columns of a table in bins between round numbers. Where a condition v enters a card, the card's decision
value is

    u = b + beta * (a + q v),      a, q known for each row,

because products, their duals and sums are linear in each input. With the slope g and the curvature h of the loss in
each row, summed by bin, the best (b, beta) of every cut, band, ramp and set of categories follows at once
(`Grid.screen`), and of every pair of two cuts from the sums over the cells of two columns (`Grid.pairs`).
"""

from __future__ import annotations

from collections.abc import Sequence
from math import floor, log10
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from baconlogic.core import Bools, Floats, Ints
from baconlogic.kernel.compile import compiled
from baconlogic.learn.column import CATEGORY, TRUTH, Column
from baconlogic.learn.search.conditions import (
    BAND,
    CUT,
    FEWEST,
    HALF,
    RAMP,
    TRUTHS,
    Condition,
    outside,
    round_between,
)  # fmt: skip

Bytes = NDArray[np.uint8]
Four = tuple[float, float, float, float]

BINS = 24  # of numbers
MOST_BINS = 64  # the last is that of missing values
MISSING = MOST_BINS - 1
COARSE = 12  # bins of each of two columns
SHRINK = 4.0  # cases that hold a category to the rate of all
PRICE = 2.0  # log-likelihood that a condition of another shape than the plain one must gain
QUARTERS = 4  # steps of a degree of truth
MOST_DEGREES = 6  # categories that have degrees: nobody reads more
WIDEST = 20  # columns that are paired
PROMISING = 4  # pairs whose intervals are all tried
EVERY, CRISP, PLAIN = range(3)  # shapes: all, cuts and bands and sets, or the plain ramp of each column
# quantiles between which ramps run; from the second to the last but one it is plain
KNOTS = (0.0, 0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 1.0)


class Offer(NamedTuple):
    """What a condition in some place would gain."""

    gain: float
    condition: Condition


class Place(NamedTuple):
    """Where a condition may enter: the decision value is b + beta (a + q v), in place of what is taken away."""

    slope: Floats  # (rows,): of the log-likelihood, as if what is taken away were not there
    curvature: Floats  # (rows,)
    a: Floats
    q: Floats
    sign: int = 0  # that beta must have; 0: either


def _marks(values: Floats, weight: Floats) -> Floats:
    """Return round numbers that part known values into bins of about equal weight; between neighbours if few."""
    distinct, place = np.unique(values, return_inverse=True)
    if len(distinct) <= BINS:
        return np.asarray(round_between(distinct[:-1], distinct[1:]))
    below = np.cumsum(np.bincount(place, weight))
    at = np.arange(1, BINS) * below[-1] / BINS
    reach = 0.35 * below[-1] / BINS
    first, last = (np.searchsorted(below, at + way).clip(0, len(distinct) - 2) for way in (-reach, reach))
    marks = np.unique(round_between(distinct[first], distinct[np.maximum(last, first + 1)]))
    return np.asarray(marks[(marks >= distinct[0]) & (marks < distinct[-1])])


def _ramps(values: Floats, weight: Floats) -> list[tuple[float, float]]:
    """Return the ramps to try over known values, the plain one first."""
    order = np.argsort(values, kind="stable")
    total = np.cumsum(weight[order])
    at = np.minimum(np.searchsorted(total, np.array(KNOTS) * total[-1] * (1.0 - 1e-9)), len(values) - 1)
    knots = values[order[at]]
    spread = knots[-2] - knots[1] or knots[-1] - knots[0]
    if not spread > 0.0:
        return []
    decimals = -floor(log10(spread / 9.0))
    rounded = [float(round(knot, decimals)) + 0.0 for knot in knots]  # no -0
    pairs = [(a, b) for i, a in enumerate(rounded) for b in rounded[i + 1 :] if b > a]
    plain = (rounded[1], rounded[-2])
    return list(dict.fromkeys(([plain] if plain[1] > plain[0] else []) + pairs))


class _Views(NamedTuple):
    """The columns as compiled code reads them."""

    bins: Bytes  # (columns, rows)
    sizes: Ints  # (columns,): bins of known values
    halves: Bools  # (columns,): whether rows are in bins 0 and 1 alone, whose sums vectorise
    ordered: Bools  # (columns,)
    several: Bools  # (columns,): whether values are missing
    direction: Ints  # (columns,): 1 rising, -1 falling, 0 either
    first: Ints  # (columns + 1,): where its ramps start
    ramps: Floats  # (ramps, MOST_BINS): the truth in each bin
    prices: Floats  # (ramps,)


class _Ask(NamedTuple):
    """A place as compiled code reads it."""

    rows: Floats  # (4, rows): g q, h a q, h q q, h q
    base: Floats  # sums of g a, h a a, h a
    sums: Floats  # of g, of h; and the ridge
    sign: int
    shapes: int


class _Tally(NamedTuple):
    """The rows of a place summed by the bins of one column."""

    own: Floats  # (MOST_BINS, 4)
    below: Floats  # (MOST_BINS + 1, 4): sums over the bins before each, in order
    order: Ints  # of numbers, or of what each category asks for
    ratio: Floats  # what each asks for


@compiled(reassociate=True, inner=True)
def _histogram(v: _Views, j: int, rows: Floats, out: Floats) -> None:
    """Fill out with the sums of rows (4, rows) over the bins of a column."""
    out[:] = 0.0
    bins = v.bins[j]
    if v.halves[j]:
        for k in range(4):
            one = both = 0.0
            for i in range(bins.size):
                one += np.float64(bins[i]) * rows[k, i]
                both += rows[k, i]
            out[0, k], out[1, k] = both - one, one
        return
    for i in range(bins.size):
        b = bins[i]
        out[b, 0] += rows[0, i]
        out[b, 1] += rows[1, i]
        out[b, 2] += rows[2, i]
        out[b, 3] += rows[3, i]


@compiled(reassociate=True, inner=True)
def _gain(ask: _Ask, g1: float, h11: float, h01: float, way: int) -> float:
    """Return the log-likelihood that the best (b, beta) gains; 0 where beta has not its sign."""
    sums = ask.sums
    var = h11 - h01 * h01 / sums[1]
    if var <= 1e-7 * sums[1]:
        return 0.0
    r = g1 - h01 * sums[0] / sums[1]
    if ask.sign * r < 0.0 or way * r < 0.0:
        return 0.0
    return float(0.5 * sums[0] * sums[0] / sums[1] + 0.5 * r * r / (var * (1.0 + sums[2] / sums[1])))


@compiled(reassociate=False, inner=True)
def _worth(ask: _Ask, known: Four, d: Four, way: int) -> float:
    """Return what a condition gains whose truth sums to d (4,) over the rows known; `known`: the sums of all else."""
    return _gain(ask, known[0] + d[0], known[1] + 2.0 * d[1] + d[2], known[2] + d[3], way)


@compiled(reassociate=False, inner=True)
def _intervals(v: _Views, j: int, ask: _Ask, known: Four, tally: _Tally, out: Floats) -> None:
    """Try every cut and band, and whether a value is there at all."""
    n, s, direction = v.sizes[j], tally.below, v.direction[j]
    if v.several[j] and known[3] != 0.5:
        there = (s[n, 0], s[n, 1], s[n, 2], s[n, 3]) if known[3] == 0.0 else (0.0, 0.0, 0.0, 0.0)
        gain = _worth(ask, known, there, 0) - PRICE
        if gain > out[0]:
            out[0], out[1], out[2], out[3], out[4], out[5] = gain, CUT, 0.0, 0.0, known[3], known[3]
    for a in range(n):
        for b in range(a + 1, n + 1):
            band = a > 0 and b < n
            if b - a == n or (band and (direction != 0 or (n > COARSE and (a % 2 == 1 or b % 2 == 1)))):
                continue  # of bands every other mark will do
            cost = 0.0 if n <= 2 else 2.0 * PRICE if band else PRICE
            way = direction if b == n else -direction
            for turned in range(2 if band else 1):
                d0, d1, d2, d3 = s[b, 0] - s[a, 0], s[b, 1] - s[a, 1], s[b, 2] - s[a, 2], s[b, 3] - s[a, 3]
                if turned == 1:
                    d0, d1, d2, d3 = s[n, 0] - d0, s[n, 1] - d1, s[n, 2] - d2, s[n, 3] - d3
                gain = _worth(ask, known, (d0, d1, d2, d3), way) - cost
                if gain > out[0]:
                    out[0], out[1], out[2] = gain, BAND if band else CUT, a
                    out[3], out[4], out[5] = b, turned, known[3]


@compiled(reassociate=False, inner=True)
def _sets(n: int, ask: _Ask, known: Four, tally: _Tally, out: Floats, table: Floats) -> None:
    """Try the sets of those categories that ask for least, and for most."""
    s = tally.below
    for side in range(2):
        for cut in range(1, n):
            a, b = (0, cut) if side == 0 else (cut, n)
            d = s[b, 0] - s[a, 0], s[b, 1] - s[a, 1], s[b, 2] - s[a, 2], s[b, 3] - s[a, 3]
            gain = _worth(ask, known, d, 0) - PRICE * min(0.5 * (n - 2), 3.0)
            if gain > out[0]:
                out[0], out[1], out[4], out[5] = gain, TRUTHS, 0.0, known[3]
                for k in range(n):
                    table[tally.order[k]] = 1.0 if a <= k < b else 0.0


@compiled(reassociate=False, inner=True)
def _degrees(n: int, ask: _Ask, known: Four, tally: _Tally, out: Floats, table: Floats) -> None:
    """Try degrees of truth of categories, by what each asks for."""
    low, high = tally.ratio[tally.order[0]], tally.ratio[tally.order[n - 1]]
    if not 2 < n <= MOST_DEGREES or not tally.below[n, 2] > 0.0 or not high > low:
        return
    truth, d0, d1, d2, d3 = np.empty(n), 0.0, 0.0, 0.0, 0.0
    for k in range(n):
        truth[k] = np.floor((tally.ratio[k] - low) / (high - low) * QUARTERS + 0.5) / QUARTERS
        d0 += truth[k] * tally.own[k, 0]
        d1 += truth[k] * tally.own[k, 1]
        d2 += truth[k] * truth[k] * tally.own[k, 2]
        d3 += truth[k] * tally.own[k, 3]
    gain = _worth(ask, known, (d0, d1, d2, d3), 0) - PRICE * min(0.5 * (n - 1), 4.0)
    if gain > out[0]:
        out[0], out[1], out[4], out[5] = gain, TRUTHS, 0.0, known[3]
        for k in range(n):
            table[k] = truth[k]


@compiled(reassociate=False, inner=True)
def _slopes(v: _Views, j: int, ask: _Ask, known: Four, tally: _Tally, out: Floats) -> None:
    """Try every ramp, or the plain one alone."""
    n, s, whole = v.sizes[j], tally.own, tally.below[v.sizes[j]]
    for r in range(v.first[j], min(v.first[j] + 1, v.first[j + 1]) if ask.shapes == PLAIN else v.first[j + 1]):
        d0 = d1 = d2 = d3 = e2 = 0.0
        for k in range(n):
            x = v.ramps[r, k]
            d0 += x * s[k, 0]
            d1 += x * s[k, 1]
            e2 += x * s[k, 2]
            d2 += x * x * s[k, 2]
            d3 += x * s[k, 3]
        for turned in range(2):
            if turned == 1:
                d0, d1, d3 = whole[0] - d0, whole[1] - d1, whole[3] - d3
                d2 = whole[2] - 2.0 * e2 + d2
            way = v.direction[j] if turned == 0 else -v.direction[j]
            gain = _worth(ask, known, (d0, d1, d2, d3), way) - PRICE * v.prices[r]
            if gain > out[0]:
                out[0], out[1], out[2], out[3], out[4], out[5] = gain, RAMP, r, 0.0, turned, known[3]


@compiled(reassociate=False, inner=True)
def _sorted(ratio: Floats, order: Ints) -> None:
    """Bring categories into the order of what each asks for: insertion sort."""
    for a in range(1, order.size):
        at = order[a]
        b = a
        while b > 0 and ratio[order[b - 1]] > ratio[at]:
            order[b] = order[b - 1]
            b -= 1
        order[b] = at


@compiled(reassociate=False, inner=True)
def _count(tally: _Tally, n: int, ordered: bool) -> None:
    """Bring n bins into order and add up their sums; by loops, since arrays take seconds to compile."""
    for k in range(n):
        tally.order[k], tally.ratio[k] = k, tally.own[k, 0] / (tally.own[k, 2] + SHRINK * 0.25)
    if not ordered:
        _sorted(tally.ratio, tally.order[:n])
    for a in range(n):
        for k in range(4):
            tally.below[a + 1, k] = tally.below[a, k] + tally.own[tally.order[a], k]


@compiled(reassociate=False)
def _screen(v: _Views, ask: _Ask, out: Floats, tables: Floats) -> None:
    """Fill out (columns, 6) with gain, kind, i, j, turned, missing of the best condition on each column."""
    s, below = np.empty((MOST_BINS, 4)), np.zeros((MOST_BINS + 1, 4))
    order, ratio = np.empty(MOST_BINS, np.int64), np.empty(MOST_BINS)
    tally = _Tally(s, below, order, ratio)
    for j in range(v.sizes.size):
        out[j, 0] = 0.0
        n = v.sizes[j]
        if n < 1 or out[j, 1] < 0.0:
            continue
        _histogram(v, j, ask.rows, s)
        _count(tally, n, v.ordered[j])
        crisp = ask.shapes != PLAIN or n <= 2 or v.first[j] == v.first[j + 1]
        for m in range(3 if v.several[j] else 1):
            if m == 1 and ask.shapes == CRISP:  # known or not, it is true or not
                continue
            t, gone = 0.5 * m, s[MISSING]
            start = ask.base[0] + t * gone[0], ask.base[1] + 2.0 * t * gone[1] + t * t * gone[2]
            known = start[0], start[1], ask.base[2] + t * gone[3], t
            if not v.ordered[j]:
                _sets(n, ask, known, tally, out[j], tables[j])
                if ask.shapes != CRISP:
                    _degrees(n, ask, known, tally, out[j], tables[j])
                continue
            if crisp:
                _intervals(v, j, ask, known, tally, out[j])
            if ask.shapes != CRISP:
                _slopes(v, j, ask, known, tally, out[j])


@compiled(reassociate=False)
def _coarsen(v: _Views, rows: Floats, groups: Bytes, scores: Floats) -> None:
    """Fill in the coarse bin of each bin, in order of what it asks for where bins have none, and what it says alone."""
    s, order, ratio = np.empty((MOST_BINS, 4)), np.empty(MOST_BINS, np.int64), np.empty(MOST_BINS)
    for j in range(v.sizes.size):
        n = v.sizes[j]
        _histogram(v, j, rows, s)
        total = 0.0
        for k in range(n):
            order[k], ratio[k] = k, s[k, 0] / (s[k, 3] + 1.0)
            total += s[k, 3]
        if not v.ordered[j]:
            _sorted(ratio, order[:n])
        groups[j] = COARSE
        below, group, last, g, h = 0.0, 0, -1, 0.0, 0.0
        scores[j] = 0.0
        for a in range(n):
            k = order[a]
            place = a if n <= COARSE else min(int(COARSE * (below + 0.5 * s[k, 3]) / max(total, 1e-12)), COARSE - 1)
            below += s[k, 3]
            if place != last and last >= 0:
                group += 1
                scores[j] += g * g / (h + 1.0)
                g = h = 0.0
            last = place
            g += s[k, 0]
            h += s[k, 3]
            groups[j, k] = group
        scores[j] += g * g / (h + 1.0)


@compiled(reassociate=True)
def _cells(x: Bytes, y: Bytes, na: int, nb: int, halves: bool, rows: Floats, cum: Floats) -> None:
    """Fill cum with the sums of rows (3, rows) over the cells below and left of each corner."""
    cum[:] = 0.0
    if halves:
        for k in range(3):
            of_x = of_y = of_both = whole = 0.0
            for i in range(x.size):
                here, one, two = rows[k, i], np.float64(x[i]), np.float64(y[i])
                of_x += one * here
                of_y += two * here
                of_both += one * two * here
                whole += here
            cum[1, 1, k], cum[2, 2, k] = whole - of_x - of_y + of_both, of_both
            cum[2, 1, k], cum[1, 2, k] = of_x - of_both, of_y - of_both
    else:
        for i in range(x.size):
            a, b = x[i] + 1, y[i] + 1
            cum[a, b, 0] += rows[0, i]
            cum[a, b, 1] += rows[1, i]
            cum[a, b, 2] += rows[2, i]
    for a in range(1, na + 1):
        for b in range(1, nb + 1):
            for k in range(3):
                cum[a, b, k] += cum[a - 1, b, k] + cum[a, b - 1, k] - cum[a - 1, b - 1, k]


@compiled(reassociate=True, inner=True)
def _interaction(cum: Floats, na: int, nb: int) -> float:
    """Return how much more the parts of two columns say together than apart, by four parts of each."""
    total, whole = 0.0, cum[na, nb]
    for i in range(4):
        for j in range(4):
            a, b, c, d = i * na // 4, (i + 1) * na // 4, j * nb // 4, (j + 1) * nb // 4
            g = cum[b, d, 0] - cum[a, d, 0] - cum[b, c, 0] + cum[a, c, 0]
            h = cum[b, d, 2] - cum[a, d, 2] - cum[b, c, 2] + cum[a, c, 2]
            row, row_h = cum[b, nb, 0] - cum[a, nb, 0], cum[b, nb, 2] - cum[a, nb, 2]
            column, column_h = cum[na, d, 0] - cum[na, c, 0], cum[na, d, 2] - cum[na, c, 2]
            mean = whole[0] / (whole[2] + 1e-9)
            apart = g - h * (row / (row_h + 1e-9) + column / (column_h + 1e-9) - mean)
            total += apart * apart / (h + 1.0)
    return total


@compiled(reassociate=True)
def _pairs(bins: Bytes, count: Ints, halves: Bools, rows: Floats, out: Floats) -> None:
    """Fill out with the interaction of each pair of columns."""
    cum, pair = np.empty((COARSE + 2, COARSE + 2, 3)), 0
    for a in range(count.size):
        for b in range(a):
            _cells(bins[a], bins[b], count[a], count[b], halves[a] and halves[b], rows, cum)
            out[pair] = _interaction(cum, count[a], count[b])
            pair += 1


@compiled(reassociate=True, inner=True)
def _inside(cum: Floats, sides: Ints, ends: tuple[int, int, int, int], turned: int, part: Floats) -> None:
    """Fill in the sums over the rows between the ends in both columns, or beyond them where a side is turned."""
    (a, b, c, d), na, nb = ends, sides[0], sides[1]
    for k in range(3):
        here = cum[b, d, k] - cum[a, d, k] - cum[b, c, k] + cum[a, c, k]
        of_a, of_b = cum[b, nb, k] - cum[a, nb, k], cum[na, d, k] - cum[na, c, k]
        if turned == 3:
            part[k] = cum[na, nb, k] - of_a - of_b + here
        elif turned == 1:
            part[k] = of_b - here
        elif turned == 2:
            part[k] = of_a - here
        else:
            part[k] = here


@compiled(reassociate=False)
def _rectangles(cum: Floats, sides: Ints, ask: _Ask, out: Floats) -> None:
    """Fill out with gain, ends in one column, ends in the other, which are turned: of the best two intervals together.

    sides: bins of both columns, whether each has an order, and the direction asked for of each.
    """
    na, nb = sides[0], sides[1]
    part, base = np.empty(3), ask.base
    out[0] = 0.0
    for a in range(na):
        for b in range(a + 1, na + 1):
            inner_a = a > 0 and b < na
            if b - a == na or (inner_a and (sides[2] == 0 or sides[4] != 0)):
                continue
            way_a = sides[4] if b == na else -sides[4]
            for c in range(nb):
                for d in range(c + 1, nb + 1):
                    inner_b = c > 0 and d < nb
                    way_b = sides[5] if d == nb else -sides[5]
                    if d - c == nb or (inner_b and (sides[3] == 0 or sides[5] != 0)) or way_a * way_b < 0:
                        continue
                    way = way_a if way_a != 0 else way_b
                    for turned in range(4):
                        if (turned & 1 and not inner_a) or (turned >> 1 and not inner_b):
                            continue
                        _inside(cum, sides, (a, b, c, d), turned, part)
                        g1, h11, h01 = base[0] + part[0], base[1] + 2.0 * part[1] + part[2], base[2] + part[2]
                        gain = _gain(ask, g1, h11, h01, way) - PRICE * (2.0 + inner_a + inner_b)
                        if gain > out[0]:
                            out[0], out[1], out[2], out[3], out[4], out[5] = gain, a, b, c, d, turned


class Grid:
    """The columns of some rows in bins between round numbers."""

    def __init__(self, columns: Sequence[Column], weight: Floats, direction: Ints, ridge: float = 1.0) -> None:
        self.columns, self.ridge = columns, ridge
        n, rows = len(columns), len(weight)
        self.marks: list[Floats] = []
        self.ramps: list[tuple[float, float]] = []
        bins, count, several = np.zeros((n, rows), np.uint8), np.zeros(n, np.int64), np.zeros(n, np.bool_)
        ordered, first = np.zeros(n, np.bool_), np.zeros(n + 1, np.int64)
        shapes: list[Floats] = []
        prices: list[float] = []
        for j, column in enumerate(columns):
            several[j] = column.has_missing
            ordered[j] = column.kind != CATEGORY or column.ordered
            if column.kind == CATEGORY:
                count[j], bins[j] = self._categories(column, weight)
            else:
                count[j], bins[j] = self._numbers(column, weight, shapes, prices)
            first[j + 1] = len(shapes)
        ramps = np.array(shapes).reshape(-1, MOST_BINS)
        asked, priced = direction.astype(np.int64), np.array(prices, dtype=float)
        halves = bins.max(axis=1, initial=0) == 1
        self.views = _Views(bins, count, halves, ordered, several, asked, first, ramps, priced)

    def _categories(self, column: Column, weight: Floats) -> tuple[int, Bytes]:
        known = column.values >= 0
        cases = np.bincount(column.values[known], weight[known], len(column.categories))
        own = np.flatnonzero(cases >= FEWEST)
        own = np.sort(own[np.argsort(-cases[own], kind="stable")][: MISSING - 1])
        if column.ordered and len(column.categories) < MISSING:
            own = np.arange(len(column.categories))
        rest = bool(len(own) < len(column.categories) and (cases.sum() > cases[own].sum()))
        place = np.full(len(column.categories) + 1, len(own) if rest else MISSING)
        place[own], place[-1] = np.arange(len(own)), MISSING
        self.marks.append(own.astype(float))
        return len(own) + rest, place[column.values].astype(np.uint8)

    def _numbers(self, column: Column, weight: Floats, shapes: list[Floats], prices: list[float]) -> tuple[int, Bytes]:
        x = column.values
        known = ~np.isnan(x)
        values, own = x[known], weight[known]
        marks = np.array([HALF]) if column.kind == TRUTH else _marks(values, own)
        self.marks.append(marks)
        place = np.searchsorted(marks, values)
        bins = np.full(len(x), MISSING, np.uint8)
        bins[known] = place
        if len(marks) > 1:
            cases = np.maximum(np.bincount(place, own, len(marks) + 1), 1e-12)
            means = np.bincount(place, own * values, len(marks) + 1) / cases
            ramps = _ramps(values, own)
            start, end = np.array(ramps, dtype=float).reshape(-1, 2).T[:, :, None]
            found = np.zeros((len(ramps), MOST_BINS))
            found[:, : len(means)] = shape = np.clip((means - start) / (end - start), 0.0, 1.0)
            bends = ((shape > 0.02) & (shape < 0.98)).sum(axis=1) >= 2
            for k in np.flatnonzero((bends & (np.ptp(shape, axis=1) >= 0.7)) | (np.arange(len(ramps)) == 0)):
                shapes.append(found[k])
                prices.append(float(k > 0))
                self.ramps.append(ramps[k])
        return len(marks) + 1, bins

    def screen(self, place: Place, allowed: Bools, most: int, shapes: int) -> list[Offer]:
        """Return the best condition on each column that gains something, best first."""
        n = len(self.columns)
        out, tables = np.zeros((n, 6)), np.zeros((n, MOST_BINS))
        out[:, 1] = np.where(allowed, 0.0, -1.0)
        _screen(self.views, self._ask(place, shapes), out, tables)
        order = np.argsort(-out[:, 0], kind="stable")[:most]
        return [Offer(float(out[j, 0]), self._condition(int(j), out[j], tables[j])) for j in order if out[j, 0] > 0.0]

    def _ask(self, place: Place, shapes: int) -> _Ask:
        g, h, a, q = place.slope, place.curvature, place.a, place.q
        rows = np.array([g * q, h * a * q, h * q * q, h * q])
        base, sums = np.array([g @ a, h @ (a * a), h @ a]), np.array([g.sum(), h.sum(), self.ridge])
        return _Ask(rows, base, sums, place.sign, shapes)

    def _condition(self, j: int, said: Floats, table: Floats) -> Condition:
        _, kind, a, b, turned, missing = said
        marks, missing = self.marks[j], missing if self.views.several[j] else 0.5
        if kind != TRUTHS and self.columns[j].kind == CATEGORY:  # in their order
            kind, inside = TRUTHS, (np.arange(MOST_BINS) >= a) & (np.arange(MOST_BINS) < b)
            table = np.where(inside, 0.0, 1.0) if turned else np.where(inside, 1.0, 0.0)
        if kind == TRUTHS:
            return Condition(j, TRUTHS, self._truths(j, table), missing=float(missing))
        if kind == RAMP:
            numbers: tuple[float, ...] = self.ramps[int(a)]
        elif kind == BAND:
            numbers = float(marks[int(a) - 1]), float(marks[int(b) - 1])
        else:
            above = int(b) == self.views.sizes[j] or (int(b) == 0 and not turned)
            mark = marks[int(a) - 1 if above else int(b) - 1] if b else outside(self.columns[j].known)[1]
            numbers, turned = (float(mark),), not above
        return Condition(j, int(kind), numbers, bool(turned), float(missing))

    def _truths(self, j: int, table: Floats) -> tuple[float, ...]:
        """Return the truth of each category, then that of any other: of those that share a bin, or else none."""
        own = self.marks[j].astype(np.int64)
        rest = float(table[len(own)]) if self.views.sizes[j] > len(own) else 0.0
        truths = np.full(len(self.columns[j].categories) + 1, rest)
        truths[own] = table[: len(own)]
        return tuple(truths.tolist())

    def pairs(self, place: Place, allowed: Bools, most: int) -> list[tuple[float, Condition, Condition]]:
        """Return the best conjunctions of two cuts, best first."""
        ask = self._ask(place, CRISP)
        rows = ask.rows[[0, 1, 3]]
        groups, scores = np.empty((len(self.columns), MOST_BINS), np.uint8), np.empty(len(self.columns))
        _coarsen(self.views, ask.rows, groups, scores)
        scores[~(allowed & (self.views.sizes > 1))] = -1.0
        chosen = [int(j) for j in np.argsort(-scores, kind="stable")[:WIDEST] if scores[j] >= 0.0]
        if len(chosen) < 2:
            return []
        bins = np.array([groups[j][self.views.bins[j]] for j in chosen])
        count = np.array([groups[j][: self.views.sizes[j]].max() + 1 for j in chosen], dtype=np.int64)
        halves, ways = self.views.halves[chosen], np.where(self.views.ordered, self.views.direction, 0)[chosen]
        at = [(x, y) for x in range(len(chosen)) for y in range(x)]
        scores = np.empty(len(at))
        _pairs(bins, count, halves, rows, scores)
        found, cum, out = [], np.empty((COARSE + 2, COARSE + 2, 3)), np.empty(6)
        for k in np.argsort(-scores, kind="stable")[:PROMISING]:
            x, y = at[k]
            _cells(bins[x], bins[y], count[x], count[y], bool(halves[x] and halves[y]), rows, cum)
            own = np.array([chosen[x], chosen[y]])
            sides = np.r_[count[x], count[y], self.views.ordered[own], ways[x], ways[y]].astype(np.int64)
            _rectangles(cum, sides, ask, out)
            if out[0] > 0.0:
                turned = int(out[5])
                one = self._side(chosen[x], groups, (int(out[1]), int(out[2])), turned=bool(turned & 1))
                two = self._side(chosen[y], groups, (int(out[3]), int(out[4])), turned=bool(turned >> 1))
                found.append((float(out[0]), one, two))
        return sorted(found, key=lambda each: -each[0])[:most]

    def _side(self, j: int, groups: Bytes, ends: tuple[int, int], *, turned: bool) -> Condition:
        """Return the condition that a column lies between two coarse bins."""
        own, (first, last) = groups[j, : self.views.sizes[j]], ends
        missing = 0.0 if self.views.several[j] else 0.5
        if self.columns[j].kind == CATEGORY:
            inside = ((own >= first) & (own < last)) != turned
            return Condition(j, TRUTHS, self._truths(j, inside.astype(float)), missing=missing)
        ends = first if first else last, last if first and last <= own.max() else 0
        marks = tuple(float(self.marks[j][int((own < end).sum()) - 1]) for end in ends if end)
        return Condition(j, BAND if len(marks) == 2 else CUT, marks, turned if len(marks) == 2 else first == 0, missing)
