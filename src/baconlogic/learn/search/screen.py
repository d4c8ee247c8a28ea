"""Screening: what every possible new leaf would do to the loss, without optimising any of them.

For a node of the draft, the loss of each row is tabulated as a function of that node's truth z (`losses_at`): only the
gates above the node have to be worked out again. A new gate turns z into F(z, v), with v the truth of the new leaf; so
the change of the loss is known for each row at a few levels of v (`_changes`). Summed by a column's bins, it tells the
effect of any criterion on that column: 100 sigmoids cost 32 places each, however many rows there are (`_best`).
Of a wide table all columns are tried by two gates, and only the best of them by all (`Screen._worthwhile`).
"""

from __future__ import annotations

from collections.abc import Iterator
from math import log as ln
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from baconlogic.core import Bools, Floats, Ints
from baconlogic.kernel import loss as kernel
from baconlogic.kernel.compile import compiled
from baconlogic.kernel.elementary import exp, log, log_of_one_plus
from baconlogic.kernel.loops import KNOWN_BELOW
from baconlogic.learn.search.draft import Draft, Literal
from baconlogic.learn.search.problem import Problem

Bytes = NDArray[np.uint8]

EDGE = 1e-6  # how far off 0 and 1 the truths of a node are kept
GRID = 17  # truths of a node at which the loss is tabulated, evenly spaced
_GRID = np.clip(np.linspace(0.0, 1.0, GRID), EDGE, 1.0 - EDGE)
ANDNESS = (1.6, 1.0, 0.6, 0.4, 0.0, -0.6)
WEIGHTS = (0.5, 0.8)  # of what is there already
PROBES = np.array([(0.5, 1.0), (0.5, 0.0)])  # (weight, andness): a column that helps shows by an "and" or by an "or"
SHORTLIST = 100  # columns that are tried by all gates
REPLACE = -1.0  # as a weight: the new leaf takes the node's place
BINS = 32  # of a column's known values, by rank; those that are missing have the next
LEVELS = np.array([0.02, 0.26, 0.5, 0.74, 0.98])  # truths at which the effect of a leaf is worked out; evenly spaced
_LEVELS = len(LEVELS)
_LOWEST, _STEP = float(LEVELS[0]), float(LEVELS[1] - LEVELS[0])
_coefficients = kernel._coefficients


def bins(X: Floats) -> tuple[Bytes, Floats]:
    """Return the bin of each value (columns, rows), and the raw values at the borders of bins (columns, BINS + 1).

    A column's bins have about as many rows each; equal values share one.
    """
    index, borders = np.empty(X.shape, np.uint8), np.empty((len(X), BINS + 1))
    for column, values in enumerate(X):
        known = values < KNOWN_BELOW
        distinct, place, count = np.unique(values[known], return_inverse=True, return_counts=True)
        middle = np.cumsum(count) - count / 2.0
        bin_of = np.minimum((BINS * middle / max(count.sum(), 1)).astype(np.int64), BINS - 1)
        index[column] = BINS
        index[column, known] = bin_of[place]
        borders[column] = _borders(distinct, bin_of)
    return index, borders


def _borders(distinct: Floats, bin_of: Ints) -> Floats:
    """Return, for each border, the middle between the values on its two sides."""
    if distinct.size == 0:
        return np.zeros(BINS + 1)
    right = np.searchsorted(bin_of, np.arange(BINS + 1))
    above, below = distinct[np.minimum(right, len(distinct) - 1)], distinct[np.maximum(right - 1, 0)]
    return np.asarray(below + (above - below) / 2.0)


def _templates() -> tuple[Ints, Floats, Floats]:
    """Return sigmoids over the bins to try, the rising ones first: half true at which border, how steep, their truths.

    Steepness is that of a bin, negative when falling; truths are (templates, BINS), within LEVELS.
    """
    found = [
        (border, sign * steepness)
        for sign in (1.0, -1.0)
        for steepness, step in ((8.0, 1), (0.6, 2), (0.2, 3))
        for border in range(1, BINS, step)
    ]
    border, steepness = np.array([b for b, _ in found]), np.array([s for _, s in found])
    distance = np.arange(BINS) + 0.5 - border[:, None]
    truths = 1.0 / (1.0 + np.exp(-np.clip(steepness[:, None] * distance, -30.0, 30.0)))
    return border, steepness, np.clip(truths, LEVELS[0], LEVELS[-1])


class Proposal(NamedTuple):
    """A new leaf, where to put it, and the loss that it is expected to change by."""

    change: float
    node: int
    leaf: Literal
    weight: float  # of the node; REPLACE to put the leaf in its place
    andness: float


class View(NamedTuple):
    """A draft and what its nodes say of the rows."""

    truths: Floats  # (nodes, rows)
    shape: kernel.Topology
    parameters: kernel.Parameters
    y: Floats  # (rows,), as the next
    share: Floats
    knee: float


def view_of(problem: Problem, draft: Draft) -> View:
    """Return a draft with what its nodes say."""
    return View(problem.node_truths(draft), draft.shape, draft.parts, problem.y, problem.share, problem.knee)


class Candidates(NamedTuple):
    """The leaves to choose from, on each column."""

    X: Floats  # (columns, rows), read where a column holds truths
    bins: Bytes  # (columns, rows), read where criteria are learned
    learned: Bools  # (columns,)
    spans: Ints  # (columns, 2): which templates may be used
    level: Ints  # (templates, BINS): the level below the truth of a template in a bin
    part: Floats  # (templates, BINS): how far it lies towards the next level
    low: Floats  # (columns,): bounds for the andness of the gate that a leaf enters
    high: Floats


@compiled(reassociate=False, inner=True)
def _gate(x: float, y: float, w: float, dual: bool, mean: float, product: float, power: float) -> float:
    a, b = (1.0 - x if dual else x), (1.0 - y if dual else y)
    both = exp(2.0 * power * (w * log(max(a, EDGE)) + (1.0 - w) * log(max(b, EDGE))))
    z = mean * (w * a + (1.0 - w) * b) + product * both
    return 1.0 - z if dual else z


@compiled(reassociate=False, inner=True)
def _numbers(andness: float, n: float, knee: float) -> tuple[bool, float, float, float]:
    dual = andness < 0.5
    mean, product, power = _coefficients(1.0 - andness if dual else andness, n, knee)
    return dual, mean, product, power


@compiled(reassociate=False, inner=True)
def _others(view: View, gate: int, at: int, dual: bool, out: Floats) -> float:
    """Fill out (2, rows) with the weighted sums of a gate's other inputs and of their logs; return the weight of `at`.

    Inputs are turned to the gate's side.
    """
    own, shape = 1.0, view.shape
    out[:] = 0.0
    for k in range(shape.first[gate], shape.first[gate + 1]):
        w = view.parameters.weight[k]
        if shape.inputs[k] == at:
            own = w
            continue
        truths = view.truths[shape.inputs[k]]
        for i in range(truths.size):
            x = 1.0 - truths[i] if dual else truths[i]
            out[0, i] += w * x
            out[1, i] += w * log(max(x, EDGE))
    return own


@compiled(reassociate=False, inner=True)
def _through(view: View, gate: int, at: int, others: Floats, out: Floats) -> None:
    """Turn out (grid, rows), truths of the input `at` of a gate, into the truths of the gate."""
    shape = view.shape
    n = float(shape.first[gate + 1] - shape.first[gate])
    dual, mean, product, power = _numbers(view.parameters.andness[gate], n, view.knee)
    w = _others(view, gate, at, dual, others)
    for g in range(out.shape[0]):
        for i in range(out.shape[1]):
            x = 1.0 - out[g, i] if dual else out[g, i]
            z = mean * (w * x + others[0, i]) + product * exp(n * power * (w * log(max(x, EDGE)) + others[1, i]))
            out[g, i] = 1.0 - z if dual else z


@compiled(reassociate=False, inner=True)
def _loss(z: float, link: Floats, y: float, share: float) -> float:
    """Return what one row adds to the loss if the root's truth is z."""
    u = link[0] * (z - link[1])
    loss: float = share * (log_of_one_plus(exp(-abs(u))) + max(u, 0.0) - y * u)
    return loss


@compiled(reassociate=False)
def losses_at(view: View, grid: Floats, node: int, out: Floats) -> None:
    """Fill out (grid, rows) with each row's loss if the node's truth were that of the grid."""
    p, shape, rows = view.parameters, view.shape, view.y.size
    others = np.empty((2, rows))
    for g in range(grid.size):
        out[g] = grid[g]
    at, gate = node, 0
    for k in range(shape.inputs.size):
        while k >= shape.first[gate + 1]:
            gate += 1
        if shape.inputs[k] == at:
            _through(view, gate, at, others, out)
            at = p.slope.size + gate
    for g in range(grid.size):
        for i in range(rows):
            out[g, i] = _loss(out[g, i], p.link, view.y[i], view.share[i])


@compiled(reassociate=False, inner=True)
def _changes(z: Floats, losses: Floats, now: Floats, weight: float, andness: float, knee: float, out: Floats) -> None:
    """Fill out (rows, levels) with the change of each row's loss if the new leaf's truth were at that level."""
    dual, mean, product, power = _numbers(andness, 2.0, knee)
    for level in range(_LEVELS):
        v = _LOWEST + level * _STEP
        for i in range(z.size):
            new = v if weight < 0.0 else _gate(z[i], v, weight, dual, mean, product, power)
            place = min(max(new, 0.0), 1.0) * (GRID - 1.0)
            below = min(int(place), GRID - 2)
            part = place - below
            out[i, level] = (1.0 - part) * losses[below, i] + part * losses[below + 1, i] - now[i]


@compiled(reassociate=True, inner=True)
def _sums(changes: Floats, index: Bytes, out: Floats) -> None:
    """Add up changes (rows, levels) by bin."""
    out[:] = 0.0
    for i in range(index.size):
        b = index[i]
        for level in range(_LEVELS):
            out[b, level] += changes[i, level]


@compiled(reassociate=True, inner=True)
def _best(sums: Floats, level: Ints, part: Floats, bound: float) -> tuple[float, int]:
    """Return the lowest total over the templates, and which; gives up at once when no criterion can reach `bound`."""
    least = 0.0
    for b in range(sums.shape[0] - 1):
        low = sums[b, 0]
        for k in range(1, _LEVELS):
            low = min(low, sums[b, k])
        least += low
    best, which = bound, -1
    if least >= bound:
        return best, which
    for t in range(level.shape[0]):
        total = 0.0
        for b in range(level.shape[1]):
            at = level[t, b]
            total += sums[b, at] + part[t, b] * (sums[b, at + 1] - sums[b, at])
        if total < best:
            best, which = total, t
    return best, which


@compiled(reassociate=False, inner=True)
def _given(changes: Floats, truths: Floats) -> float:
    """Return the total change of a leaf whose truths are given."""
    total = 0.0
    for i in range(truths.size):
        place = min(max((truths[i] - _LOWEST) / _STEP, 0.0), _LEVELS - 1.0)
        at = min(int(place), _LEVELS - 2)
        total += changes[i, at] + (place - at) * (changes[i, at + 1] - changes[i, at])
    return total


@compiled(reassociate=False, inner=True)
def _column(c: Candidates, j: int, changes: Floats, bound: float, sums: Floats) -> tuple[float, int, int]:
    """Return (change, template, level of missing) of the best leaf on column j, or the bound and -1."""
    if not c.learned[j]:
        change = _given(changes, c.X[j])
        return (change, 0, 0) if change < bound else (bound, -1, 0)
    _sums(changes, c.bins[j], sums)
    missing = int(np.argmin(sums[-1]))
    first, last = c.spans[j, 0], c.spans[j, 1]
    best, which = _best(sums, c.level[first:last], c.part[first:last], bound - sums[-1, missing])
    return (best + sums[-1, missing], first + which, missing) if which >= 0 else (bound, -1, 0)


@compiled(reassociate=False)
def _screen(view: View, c: Candidates, nodes: Ints, columns: Ints, moves: Floats, bound: float) -> Floats:
    """Return (nodes, columns, moves, 3): change, template and level of missing of the best leaf."""
    grid = _GRID.copy()  # a constant would be another type than what Python passes, and compiled once more
    rows = view.y.size
    found = np.zeros((nodes.size, columns.size, moves.shape[0], 3))
    losses, now, changes = np.empty((GRID, rows)), np.empty(rows), np.empty((rows, _LEVELS))
    sums = np.empty((BINS + 1, _LEVELS))
    for i in range(rows):
        now[i] = _loss(view.truths[-1, i], view.parameters.link, view.y[i], view.share[i])
    for n in range(nodes.size):
        losses_at(view, grid, nodes[n], losses)
        for k in range(moves.shape[0]):
            weight, andness = moves[k, 0], moves[k, 1]
            _changes(view.truths[nodes[n]], losses, now, weight, andness, view.knee, changes)
            for i in range(columns.size):
                j = columns[i]
                found[n, i, k, 0], found[n, i, k, 1] = np.inf, -1.0
                if weight < 0.0 or c.low[j] <= andness <= c.high[j]:
                    change, which, missing = _column(c, j, changes, bound, sums)
                    found[n, i, k, 0], found[n, i, k, 1], found[n, i, k, 2] = change, which, missing
    return found


class Screen:
    """Screens leaves on one problem; keeps the bins."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        places, self._borders = bins(problem.X)
        self._border, self._steepness, truths = _templates()
        place = (truths - _LOWEST) / _STEP
        level = np.minimum(place.astype(np.int64), _LEVELS - 2)
        falling = int(np.argmax(self._steepness < 0.0))
        by_direction = {0: (0, len(place)), 1: (0, falling), -1: (falling, len(place))}
        spans = np.array([by_direction[int(each)] for each in problem.direction], dtype=np.int64).reshape(-1, 2)
        bounds = problem.low, problem.high
        self._candidates = Candidates(problem.X, places, problem.learned, spans, level, place - level, *bounds)

    def moves(self) -> Floats:
        """Return (weight, andness) of the gates to try: for each column at least one within its bounds."""
        low, high = self.problem.andness
        allowed = {a for a in ANDNESS if low <= a <= high}
        for bounds in zip(self.problem.low, self.problem.high, strict=True):
            if not any(bounds[0] <= a <= bounds[1] for a in allowed):
                allowed.add(float(sum(bounds)) / 2.0)
        return np.array([(w, a) for a in sorted(allowed) for w in WEIGHTS])

    def insertions(self, draft: Draft, columns: Ints, *, forced: bool = False) -> Iterator[Proposal]:
        """Yield what a new leaf on one of the columns would do above each node, best first; `forced`: harm or good."""
        nodes = np.arange(len(draft.shape.inputs) + 1)
        if len(columns) > SHORTLIST:
            columns = self._worthwhile(draft, nodes, columns)
        return self._proposals(draft, nodes, columns, self.moves(), np.inf if forced else 0.0)

    def _worthwhile(self, draft: Draft, nodes: Ints, columns: Ints) -> Ints:
        """Return the columns that come first above some node by some probe, whatever the bounds of andness."""
        whole = np.full(len(self.problem.X), np.inf)
        candidates = self._candidates._replace(low=-whole, high=whole)
        change = _screen(view_of(self.problem, draft), candidates, nodes, columns, PROBES, np.inf)[..., 0]
        rank = change.argsort(axis=1, kind="stable").argsort(axis=1)
        return np.sort(columns[rank.min(axis=(0, 2)).argsort(kind="stable")[:SHORTLIST]])

    def replacements(self, draft: Draft, columns: Ints, places: Ints) -> Iterator[Proposal]:
        """Yield what another leaf in the place of a leaf would do, best first."""
        return self._proposals(draft, places, columns, np.array([(REPLACE, 0.5)]), np.inf)

    def _proposals(self, draft: Draft, nodes: Ints, columns: Ints, moves: Floats, bound: float) -> Iterator[Proposal]:
        found = _screen(view_of(self.problem, draft), self._candidates, nodes, columns, moves, bound)
        for flat in np.argsort(found[..., 0], axis=None, kind="stable"):
            n, c, k = np.unravel_index(flat, found.shape[:3])
            change, which, missing = found[n, c, k]
            if which < 0.0:  # neither this nor what comes after is below the bound
                return
            leaf = self._leaf(int(columns[c]), int(which), float(LEVELS[int(missing)]))
            yield Proposal(float(change), int(nodes[n]), leaf, float(moves[k, 0]), float(moves[k, 1]))

    def _leaf(self, column: int, template: int, missing: float) -> Literal:
        """Return the leaf that a template stands for, in the column's own units."""
        if not self.problem.learned[column]:
            return Literal(column, 1.0, 0.0)
        border, steepness = int(self._border[template]), float(self._steepness[template])
        borders, reach = self._borders[column], max(1, round(2.0 / abs(steepness)))
        low, high = max(border - reach, 0), min(border + reach, BINS)
        a_bin = max((borders[high] - borders[low]) / (high - low), 1e-6)
        slope = np.sign(steepness) * min(max(abs(steepness) / a_bin, 0.3), 30.0)
        return Literal(column, float(slope), float(borders[border]), ln(missing / (1.0 - missing)))
