"""Screening: what every possible new leaf would do to the loss, without optimising any of them.

For a node of the draft, the loss of each row is tabulated as a function of that node's truth z (`losses_at`): only the
gates above the node have to be worked out again. A new gate turns z into F(z, v), with v the truth of the new leaf; so
the change of the loss is known for each row at a few levels of v (`_changes`). Summed by a column's bins, it tells the
effect of any criterion on that column: 100 sigmoids cost 32 places each, however many rows there are (`_best`).
Of a wide table all columns are tried by two gates, and only the best of them by all (`Screen._worthwhile`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from baconlogic.kernel import loss as kernel
from baconlogic.kernel.compile import compiled
from baconlogic.kernel.elementary import exp, log, log_of_one_plus
from baconlogic.learn.search import bins as binning
from baconlogic.learn.search.draft import Draft, Leaf

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from baconlogic.kernel.loss import Topology
    from baconlogic.learn.search.bins import Bins
    from baconlogic.learn.search.problem import Problem

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]

EDGE = 1e-6  # how far off 0 and 1 the truths of a node are kept
GRID = 17  # truths of a node at which the loss is tabulated, evenly spaced
_GRID = np.clip(np.linspace(0.0, 1.0, GRID), EDGE, 1.0 - EDGE)
ANDNESS = (1.6, 1.0, 0.6, 0.4, 0.0, -0.6)
WEIGHTS = (0.5, 0.8)  # of what is there already
PROBES = np.array([(0.5, 1.0), (0.5, 0.0)])  # (weight, andness): a column that helps shows by an "and" or by an "or"
SHORTLIST = 100  # columns that are tried by all gates
REPLACE = -1.0  # as a weight: the new leaf takes the node's place
_LEVELS = len(binning.LEVELS)
_LOWEST, _STEP = float(binning.LEVELS[0]), float(binning.LEVELS[1] - binning.LEVELS[0])
_coefficients = kernel._coefficients


class Proposal(NamedTuple):
    """A new leaf, where to put it, and the loss that it is expected to change by."""

    change: float
    node: int
    leaf: Leaf
    weight: float  # of the node; REPLACE to put the leaf in its place
    andness: float


@compiled(reassociate=False)
def _gate(x: float, y: float, w: float, dual: bool, mean: float, product: float, power: float) -> float:
    a, b = (1.0 - x if dual else x), (1.0 - y if dual else y)
    both = exp(2.0 * power * (w * log(max(a, EDGE)) + (1.0 - w) * log(max(b, EDGE))))
    z = mean * (w * a + (1.0 - w) * b) + product * both
    return 1.0 - z if dual else z


@compiled(reassociate=False)
def _numbers(andness: float, knee: float) -> tuple[bool, float, float, float]:
    dual = andness < 0.5
    mean, product, power = _coefficients(1.0 - andness if dual else andness, 2.0, knee)
    return dual, mean, product, power


@compiled(reassociate=False)
def _loss(z: float, link: Floats, y: float, share: float) -> float:
    """Return what one row adds to the loss if the root's truth is z."""
    u = link[0] * (z - link[1])
    loss: float = share * (log_of_one_plus(exp(-abs(u))) + max(u, 0.0) - y * u)
    return loss


@compiled(reassociate=False)
def losses_at(
    grid: Floats, node: int, truths: Floats, shape: Topology, p: kernel.Parameters, y: Floats, share: Floats, knee: float,
    out: Floats,
) -> None:  # fmt: skip
    """Fill out (grid, rows) with each row's loss if the node's truth were that of the grid."""
    m, rows = p.slope.size, y.size
    for g in range(grid.size):
        out[g] = grid[g]
    at = node
    for j in range(m - 1):
        if shape.left[j] != at and shape.right[j] != at:
            continue
        is_left = shape.left[j] == at
        other = truths[shape.right[j] if is_left else shape.left[j]]
        w = p.weight[j] if is_left else 1.0 - p.weight[j]
        dual, mean, product, power = _numbers(p.andness[j], knee)
        for g in range(grid.size):
            for i in range(rows):
                out[g, i] = _gate(out[g, i], other[i], w, dual, mean, product, power)
        at = m + j
    for g in range(grid.size):
        for i in range(rows):
            out[g, i] = _loss(out[g, i], p.link, y[i], share[i])


@compiled(reassociate=False)
def _changes(z: Floats, losses: Floats, now: Floats, weight: float, andness: float, knee: float, out: Floats) -> None:
    """Fill out (rows, levels) with the change of each row's loss if the new leaf's truth were at that level."""
    dual, mean, product, power = _numbers(andness, knee)
    for level in range(_LEVELS):
        v = _LOWEST + level * _STEP
        for i in range(z.size):
            new = v if weight < 0.0 else _gate(z[i], v, weight, dual, mean, product, power)
            place = min(max(new, 0.0), 1.0) * (GRID - 1.0)
            below = min(int(place), GRID - 2)
            part = place - below
            out[i, level] = (1.0 - part) * losses[below, i] + part * losses[below + 1, i] - now[i]


@compiled(reassociate=True)
def _sums(changes: Floats, index: NDArray[np.uint8], out: Floats) -> None:
    """Add up changes (rows, levels) by bin."""
    out[:] = 0.0
    for i in range(index.size):
        b = index[i]
        for level in range(_LEVELS):
            out[b, level] += changes[i, level]


@compiled(reassociate=True)
def _best(sums: Floats, where: Ints, part: Floats, bound: float) -> tuple[float, int]:
    """Return the lowest total over the templates, and which; gives up at once when no criterion can reach `bound`."""
    least = 0.0
    for b in range(sums.shape[0] - 1):
        low = sums[b, 0]
        for level in range(1, _LEVELS):
            low = min(low, sums[b, level])
        least += low
    best, which = bound, -1
    if least >= bound:
        return best, which
    for t in range(where.shape[0]):
        total = 0.0
        for b in range(where.shape[1]):
            at = where[t, b]
            total += sums[b, at] + part[t, b] * (sums[b, at + 1] - sums[b, at])
        if total < best:
            best, which = total, t
    return best, which


@compiled(reassociate=False)
def _given(changes: Floats, truths: Floats) -> float:
    """Return the total change of a leaf whose truths are given."""
    total = 0.0
    for i in range(truths.size):
        place = min(max((truths[i] - _LOWEST) / _STEP, 0.0), _LEVELS - 1.0)
        at = min(int(place), _LEVELS - 2)
        total += changes[i, at] + (place - at) * (changes[i, at + 1] - changes[i, at])
    return total


@compiled(reassociate=False)
def _column(
    changes: Floats, index: NDArray[np.uint8], truths: Floats, learned: bool, first: int, last: int, where: Ints,
    part: Floats, bound: float, sums: Floats,
) -> tuple[float, int, int]:  # fmt: skip
    """Return (change, template, level of missing) of the best leaf on one column, or the bound and -1."""
    if not learned:
        change = _given(changes, truths)
        return (change, 0, 0) if change < bound else (bound, -1, 0)
    _sums(changes, index, sums)
    hole = int(np.argmin(sums[-1]))
    best, which = _best(sums, where[first:last], part[first:last], bound - sums[-1, hole])
    return (best + sums[-1, hole], first + which, hole) if which >= 0 else (bound, -1, 0)


@compiled(reassociate=False)
def _screen(
    nodes: Ints, moves: Floats, truths: Floats, shape: Topology, p: kernel.Parameters, X: Floats, y: Floats, share: Floats,
    knee: float, columns: Ints, index: NDArray[np.uint8], learned: NDArray[np.bool_], spans: Ints, where: Ints,
    part: Floats, low: Floats, high: Floats, bound: float,
) -> Floats:  # fmt: skip
    """Return (nodes, columns, moves, 3): change, template and level of missing of the best leaf."""
    rows = y.size
    found = np.zeros((nodes.size, columns.size, moves.shape[0], 3))
    losses, now, changes = np.empty((GRID, rows)), np.empty(rows), np.empty((rows, _LEVELS))
    sums = np.empty((binning.COUNT + 1, _LEVELS))
    for i in range(rows):
        now[i] = _loss(truths[-1, i], p.link, y[i], share[i])
    for n in range(nodes.size):
        losses_at(_GRID, nodes[n], truths, shape, p, y, share, knee, losses)
        for k in range(moves.shape[0]):
            _changes(truths[nodes[n]], losses, now, moves[k, 0], moves[k, 1], knee, changes)
            for c in range(columns.size):
                j = columns[c]
                found[n, c, k, 0], found[n, c, k, 1] = np.inf, -1.0
                if moves[k, 0] > 0.0 and not low[j] <= moves[k, 1] <= high[j]:
                    continue
                first, last = spans[j, 0], spans[j, 1]
                change, which, hole = _column(
                    changes, index[j], X[j], learned[j], first, last, where, part, bound, sums
                )
                found[n, c, k, 0], found[n, c, k, 1], found[n, c, k, 2] = change, which, hole
    return found


class Screen:
    """Screens leaves on one problem; keeps the bins."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.bins: Bins = binning.bins(problem.X)
        self._templates = binning.templates()
        place = (self._templates.truths - _LOWEST) / _STEP
        self._where = np.minimum(place.astype(np.int64), _LEVELS - 2)
        self._part = place - self._where
        falling = int(np.argmax(self._templates.steepness < 0.0))
        spans = {0: (0, len(place)), 1: (0, falling), -1: (falling, len(place))}
        self._spans = np.array([spans[int(direction)] for direction in problem.direction], dtype=np.int64).reshape(
            -1, 2
        )

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
        nodes = np.arange(2 * draft.leaves - 1)
        if len(columns) > SHORTLIST:
            columns = self._worthwhile(draft, nodes, columns)
        return self._proposals(draft, nodes, columns, self.moves(), np.inf if forced else 0.0)

    def _worthwhile(self, draft: Draft, nodes: Ints, columns: Ints) -> Ints:
        """Return the columns that come first above some node by some probe, whatever the bounds of andness."""
        free = np.full(len(self.problem.X), -np.inf), np.full(len(self.problem.X), np.inf)
        change = self._screened(draft, nodes, columns, PROBES, free, np.inf)[..., 0]
        rank = change.argsort(axis=1, kind="stable").argsort(axis=1)
        return np.sort(columns[rank.min(axis=(0, 2)).argsort(kind="stable")[:SHORTLIST]])

    def replacements(self, draft: Draft, columns: Ints, places: Ints) -> Iterator[Proposal]:
        """Yield what another leaf in the place of a leaf would do, best first."""
        return self._proposals(draft, places, columns, np.array([(REPLACE, 0.5)]), np.inf)

    def _screened(
        self, draft: Draft, nodes: Ints, columns: Ints, moves: Floats, bounds: tuple[Floats, Floats], bound: float
    ) -> Floats:
        p = self.problem
        truths = kernel.node_truths(draft.parameters, draft.shape, p.data(draft), p.knee)
        return _screen(
            nodes, moves, truths, draft.shape, draft.parts, p.X, p.y, p.share, p.knee, columns, self.bins.places,
            p.learned, self._spans, self._where, self._part, *bounds, bound,
        )  # fmt: skip

    def _proposals(self, draft: Draft, nodes: Ints, columns: Ints, moves: Floats, bound: float) -> Iterator[Proposal]:
        found = self._screened(draft, nodes, columns, moves, (self.problem.low, self.problem.high), bound)
        for flat in np.argsort(found[..., 0], axis=None, kind="stable"):
            n, c, k = np.unravel_index(flat, found.shape[:3])
            change, which, hole = found[n, c, k]
            if which < 0.0:  # neither this nor what comes after is below the bound
                return
            leaf = self._leaf(int(columns[c]), int(which), int(hole))
            yield Proposal(float(change), int(nodes[n]), leaf, float(moves[k, 0]), float(moves[k, 1]))

    def _leaf(self, column: int, template: int, hole: int) -> Leaf:
        if not self.problem.learned[column]:
            return Leaf(column, 1.0, 0.0)
        t = self._templates
        border, steepness = int(t.border[template]), float(t.steepness[template])
        return binning.leaf(column, self.bins.borders[column], border, steepness, float(binning.LEVELS[hole]))
