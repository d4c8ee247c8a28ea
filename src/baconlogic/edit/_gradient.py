"""The penalised log-loss of a tree with a link, and its slope in unconstrained parameters v, which any number suits.

    loss = mean of -log p(y), p = sigmoid(steepness (truth - threshold)), + strength * sum of v^2 / 2

v is 0 where a parameter is now, and 1 a usual change away:

    weights        w exp(v) scaled to sum 1: they stay positive
    andness        along a sigmoid between the drastic ends, short of them
    sigmoid        its centre along the column, its slope by a factor: the direction is kept
    ramp           all its breakpoints along the column, and apart or together by a factor: truths and order are kept
    table          the truth of each category and of any other, within [0, 1]
    missing        the stated truth of missing values, within [0, 1]

At v = 0 every parameter is exactly what it was, but for a drastic andness, which is read as just short of it. The
strength is penalty / cases: what a case's evidence weighs. The last two of v are the link's; their hold stops growing
some LINK_REACH units away, as in learn/search/refine. What does not move is evaluated once; the rest block by block, so
that a block of rows stays in the cache.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from baconlogic.core import Floats, gcd
from baconlogic.core.answers import Link
from baconlogic.core.criterion import FARTHEST, LARGEST, Criterion
from baconlogic.core.nodes import Gate, Leaf, Node, Not, flatten, rebuild

Span = tuple[float, float]

# How far a parameter usually moves; those of learn/search/refine, in the parameters here.
WEIGHT = 0.63 / math.sqrt(2.0)  # two weights share what one number does there
ANDNESS, POSITION, SLOPE = 0.63, 0.63, 0.22  # positions in deviations of the column
TRUTH = 0.2
FARTHEST_ANDNESS = 9.0  # a share of the andness scale is within those of e**-9 and e**9, a factor within e**-7 and e**7
LEAST_WEIGHT = 1e-300

STEEPNESS = 8.0  # of a link that nothing is known of
STEEPNESSES, THRESHOLDS = (0.5, 200.0), (-1.0, 2.0)
LINK_UNIT, LINK_REACH = 0.32, 4.0
BLOCK = 8192


class GateParameters:
    """The unconstrained parameters of a gate: one a weight, then one for andness, as far as those are free."""

    def __init__(self, gate: Gate, words: set[str]) -> None:
        n = len(gate.inputs)
        self.gate, self.weights, self.andness = gate, n if "weights" in words else 0, "andness" in words
        end = gcd.drastic(n) - gcd.SHORT_OF_DRASTIC
        self._ends = 1.0 - end, end
        self._start = min(max(gate.andness, 1.0 - end), end)
        self._logit = _logit((self._start - self._ends[0]) / (2.0 * end - 1.0))
        self.spans: list[Span] = [(-FARTHEST / WEIGHT, FARTHEST / WEIGHT)] * self.weights
        if self.andness:
            self.spans.append(_around(-FARTHEST_ANDNESS - self._logit, FARTHEST_ANDNESS - self._logit, ANDNESS))

    def moved(self, v: Floats) -> tuple[float, Floats]:
        """Return andness and weights at v."""
        andness, weights = self.gate.andness, np.array(self.gate.weights)
        if self.weights:
            weights = weights * np.exp(WEIGHT * v[: self.weights])
            weights = np.maximum(weights / weights.sum(), LEAST_WEIGHT) if v[: self.weights].any() else weights
        if self.andness:
            low, high = self._ends
            away = _sigmoid(self._logit + ANDNESS * v[-1]) - _sigmoid(self._logit)
            andness = float(min(max(self._start + (high - low) * away, low), high))
        return andness, weights

    def gradient(self, v: Floats, in_weights: Floats, in_andness: float) -> Floats:
        """Return the slope of a loss in v from those in weights and andness."""
        found: list[float] = []
        if self.weights:
            _, weights = self.moved(v)
            found.extend(WEIGHT * weights * (in_weights - weights @ in_weights))
        if self.andness:
            share = _sigmoid(self._logit + ANDNESS * v[-1])
            found.append(in_andness * ANDNESS * (self._ends[1] - self._ends[0]) * share * (1.0 - share))
        return np.array(found)


class LeafParameters(ABC):
    """The unconstrained parameters of a criterion over a column."""

    spans: list[Span]

    @abstractmethod
    def criterion(self, v: Floats) -> Criterion:
        """Return the criterion at v."""

    def read(self, column: NDArray[Any]) -> NDArray[Any]:
        """Return a column in the form that `truths` and `slopes` take."""
        return column

    def truths(self, criterion: Criterion, column: NDArray[Any]) -> Floats:
        """Return the truth of each value."""
        return criterion.truth(column)

    @abstractmethod
    def slopes(self, criterion: Criterion, v: Floats, column: NDArray[Any]) -> Floats:
        """Return how the truth of each value changes with each of v: (parameters, rows)."""


class NumericParameters(LeafParameters):
    """Two numbers for where the criterion is and how steep, none for given truths; then one for missing values."""

    def __init__(self, start: Criterion, column: Floats) -> None:
        self.start, self.middle, self.unit = start, 0.0, 1.0  # unit: how far the position moves usually
        self.spans = [] if start.holds_truths else self._places(np.clip(column[np.isfinite(column)], -LARGEST, LARGEST))
        if start.missing is not None:
            self.spans.append(_truth_span(start.missing))

    def _places(self, known: Floats) -> list[Span]:
        """Return how far position and steepness may go: the middle stays in the column."""
        ends = (float(known.min()), float(known.max())) if known.size else None
        first, last, width, steeper = self.start.leeway(*(ends or (0.0, 0.0)))
        self.middle = first + (last - first) / 2.0
        self.unit = POSITION * _deviation(known, min(max(width, 1.0 / LARGEST), LARGEST))
        if steeper is None:
            return [(0.0, 0.0)] * 2
        low, high = ends or (first, last)
        return [_around(low - last, high - first, self.unit), _around(*steeper, SLOPE)]

    def criterion(self, v: Floats) -> Criterion:
        """Return the criterion at v."""
        missing = None if self.start.missing is None else _kept_truth(self.start.missing + TRUTH * v[-1])
        shift, steeper = (0.0, 0.0) if self.start.holds_truths else (float(self.unit * v[0]), SLOPE * v[1])
        return self.start.moved(shift, steeper, self.middle, missing)

    def slopes(self, criterion: Criterion, v: Floats, column: NDArray[Any]) -> Floats:
        """Return how the truth of each value changes with each of v: (parameters, rows)."""
        found, unknown = np.zeros((len(self.spans), len(column))), np.isnan(column)
        if not criterion.holds_truths:
            found[:2] = criterion.slopes(column, (self.unit, SLOPE), self.middle + self.unit * v[0])
        found[:, unknown] = 0.0
        if criterion.missing is not None:
            found[-1, unknown] = TRUTH
        return found


class TableParameters(LeafParameters):
    """One number for the truth of each category, of any other, and of missing values, as far as they are stated."""

    def __init__(self, start: Criterion) -> None:
        self.start = start
        self.stated = [t for _, t in start.truths] + [t for t in (start.other, start.missing) if t is not None]
        self.spans = [_truth_span(t) for t in self.stated]

    def _with(self, truths: list[float]) -> Criterion:
        """Return the table that states other truths."""
        left = iter(truths)
        listed = [(category, next(left)) for category, _ in self.start.truths]
        other, missing = (None if t is None else next(left) for t in (self.start.other, self.start.missing))
        return replace(self.start, truths=listed, other=other, missing=missing)  # type: ignore[call-arg]

    def read(self, column: NDArray[Any]) -> NDArray[Any]:
        """Return the place of each value among the truths: what a table of places, scaled into [0, 1], says of it."""
        places = np.arange(len(self.stated)) / len(self.stated)
        return np.rint(self._with(places.tolist()).truth(column) * len(self.stated)).astype(np.intp)

    def criterion(self, v: Floats) -> Criterion:
        """Return the table at v."""
        return self._with([_kept_truth(t + TRUTH * away) for t, away in zip(self.stated, v.tolist(), strict=True)])

    def truths(self, criterion: Criterion, column: NDArray[Any]) -> Floats:
        """Return the truth of each place."""
        return np.asarray(np.array(TableParameters(criterion).stated)[column])

    def slopes(self, criterion: Criterion, v: Floats, column: NDArray[Any]) -> Floats:  # noqa: ARG002
        """Return how the truth of each value changes with each of v: (parameters, rows)."""
        return np.asarray(TRUTH * (np.arange(len(self.stated))[:, None] == column))


def leaf_parameters(criterion: Criterion, column: NDArray[Any]) -> LeafParameters:
    """Return the unconstrained parameters of a criterion; a column tells how far is far."""
    return TableParameters(criterion) if criterion.categorical else NumericParameters(criterion, column)


def _deviation(known: Floats, otherwise: float) -> float:
    """Return a spread that is 1 for a normal column and does not mind outliers."""
    if not known.size:
        return otherwise
    low, start, middle, end, high = np.quantile(known, (0.05, 0.25, 0.5, 0.75, 0.95))
    for spread in ((end - start) / 1.349, (high - low) / 3.29, (known.max() - known.min()) / 4.0):
        if spread > 1e-12 * abs(middle):
            return float(min(spread, LARGEST))
    return otherwise


def _around(low: float, high: float, unit: float) -> Span:
    """Return a span in units; 0 is in it."""
    return min(low / unit, 0.0), max(high / unit, 0.0)


def _truth_span(truth: float) -> Span:
    return _around(-truth, 1.0 - truth, TRUTH)


def _kept_truth(truth: float) -> float:
    return float(min(max(truth, 0.0), 1.0))


def _logit(share: float) -> float:
    share = min(max(share, _sigmoid(-FARTHEST_ANDNESS)), _sigmoid(FARTHEST_ANDNESS))
    return math.log(share / (1.0 - share))


def _sigmoid(x: float) -> float:
    return 1.0 / (1.0 + math.exp(-x))


@dataclass(frozen=True)
class PenalisedLoss:
    """All that the loss is made of, but v. Positions are those of `flatten`."""

    root: Node
    moving: dict[int, GateParameters | LeafParameters]
    columns: dict[int, NDArray[Any]]  # of leaves that move, as these read them
    still: dict[int, Floats]  # truths of the largest parts that do not move
    y: Floats  # (rows,): 0 or 1
    share: Floats  # (rows,): sums to 1
    strength: float
    link: Link
    hold: bool = False  # whether the threshold stays

    def spans(self) -> list[Span]:
        """Return how far each of v may go."""
        steep = _around(*(math.log(end / self.link.steepness) for end in STEEPNESSES), LINK_UNIT)
        turn = (0.0, 0.0) if self.hold else _around(*(end - self.link.threshold for end in THRESHOLDS), LINK_UNIT)
        return [*(span for parameters in self.moving.values() for span in parameters.spans), steep, turn]

    def sample(self, step: int) -> PenalisedLoss:
        """Return the loss over every so many rows."""
        columns, still = ({k: c[::step] for k, c in each.items()} for each in (self.columns, self.still))
        share = self.share[::step]
        return replace(self, columns=columns, still=still, y=self.y[::step], share=share / share.sum())

    def parts(self, v: Floats) -> dict[int, Floats]:
        """Return the unconstrained parameters of each node that has some."""
        cuts = np.cumsum([len(parameters.spans) for parameters in self.moving.values()])
        return dict(zip(self.moving, np.split(v[:-2], cuts[:-1]), strict=True)) if self.moving else {}

    def link_at(self, v: Floats) -> Link:
        """Return the link at v."""
        return Link(self.link.steepness * math.exp(LINK_UNIT * v[-2]), self.link.threshold + LINK_UNIT * v[-1])

    def tree_at(self, v: Floats) -> Node:
        """Return the tree at v; what is not free is as it was."""
        spelled, parts = [], self.parts(v)
        for position, (node, below) in enumerate(flatten(self.root)):
            parameters, content = self.moving.get(position), node.content
            if isinstance(parameters, GateParameters) and isinstance(node, Gate):
                andness, weights = parameters.moved(parts[position])
                content = (andness, tuple(weights.tolist()), node.aggregator, node.name)
            elif isinstance(parameters, LeafParameters) and isinstance(node, Leaf):
                content = (node.feature, parameters.criterion(parts[position]), node.name)
            spelled.append((type(node), content, below))
        return rebuild(tuple(spelled))

    def log_loss(self, v: Floats) -> float:
        """Return the mean log-loss, without the penalty."""
        return self.loss(v)[0] - self._penalty(v)[0]

    def loss(self, v: Floats) -> tuple[float, Floats]:
        """Return the penalised loss and its slope in each of v."""
        run = _Passage(self, v)
        rows, block = len(self.y), min(BLOCK, max(256, 4_000_000 // (len(run.order) + 1)))
        loss = sum(run.through(slice(start, start + block)) for start in range(0, rows, block))
        penalty, slope = self._penalty(v)
        return float(loss) + penalty, run.gradient() + slope

    def _penalty(self, v: Floats) -> tuple[float, Floats]:
        root = np.ones_like(v)
        root[-2:] = np.sqrt(1.0 + (v[-2:] / LINK_REACH) ** 2)
        return float(self.strength * (v * v / (1.0 + root)).sum()), self.strength * v / root


class _Passage:
    """One passage of all rows through the tree at a given v, adding up slopes."""

    def __init__(self, loss: PenalisedLoss, v: Floats) -> None:
        self.loss, self.link, self.parts = loss, loss.link_at(v), loss.parts(v)
        every = flatten(loss.root)
        moving, self.top = moves(every, loss.moving), len(every) - 1
        self.order = [(k, *every[k]) for k in range(len(every)) if moving[k]]
        self.gates, self.criteria, self.slopes = {}, {}, {}
        for k, node, _ in self.order:
            parameters = loss.moving.get(k)
            if isinstance(node, Gate):
                at = (node.andness, np.array(node.weights))
                self.gates[k] = parameters.moved(self.parts[k]) if isinstance(parameters, GateParameters) else at
                self.slopes[k] = np.zeros(len(node.inputs) + 1)
            elif isinstance(parameters, LeafParameters):
                self.criteria[k] = parameters.criterion(self.parts[k])
                self.slopes[k] = np.zeros(len(parameters.spans))
        self.link_slopes = np.zeros(2)

    def through(self, rows: slice) -> float:
        """Return what some rows add to the loss, and add up their slopes."""
        truths, y, share = self._forward(rows), self.loss.y[rows], self.loss.share[rows]
        score = self.link.score(truths[self.top])
        e = np.exp(-np.abs(score))
        wrong = share * (np.where(score > 0.0, 1.0, e) / (1.0 + e) - y)
        self.link_slopes += wrong @ score, -self.link.steepness * wrong.sum()
        self._back(truths, {self.top: self.link.steepness * wrong}, rows)
        return float(share @ (np.log1p(e) + np.maximum(score, 0.0) - y * score))

    def _forward(self, rows: slice) -> dict[int, Floats]:
        truths = {k: still[rows] for k, still in self.loss.still.items()}
        for k, node, below in self.order:
            parameters = self.loss.moving.get(k)
            if isinstance(parameters, LeafParameters):
                truths[k] = parameters.truths(self.criteria[k], self.loss.columns[k][rows])
            elif isinstance(node, Gate):
                andness, weights = self.gates[k]
                numbers = gcd.AGGREGATORS[node.aggregator].coefficients(andness, len(below))
                truths[k] = gcd.combine(np.array([truths[i] for i in below]), weights[:, None], numbers)
            else:
                truths[k] = 1.0 - truths[below[0]]
        return truths

    def _back(self, truths: dict[int, Floats], slope: dict[int, Floats], rows: slice) -> None:
        """Carry the slope of the loss in the root's truth down, and add it up in each node that moves."""
        for k, node, below in reversed(self.order):
            own, parameters = slope.pop(k), self.loss.moving.get(k)
            if isinstance(node, Not):
                slope[below[0]] = -own
            elif isinstance(node, Gate):
                andness, weights = self.gates[k]
                found = _slopes(gcd.AGGREGATORS[node.aggregator], truths, below, weights, andness)
                slope.update(zip(below, own * found.inputs, strict=True))
                self.slopes[k] += [*(found.weights @ own), found.andness @ own]
            elif isinstance(parameters, LeafParameters):
                self.slopes[k] += parameters.slopes(self.criteria[k], self.parts[k], self.loss.columns[k][rows]) @ own

    def gradient(self) -> Floats:
        """Return the slope in each of v."""
        found = []
        for k, parameters in self.loss.moving.items():
            slopes = self.slopes[k]
            if isinstance(parameters, GateParameters):
                slopes = parameters.gradient(self.parts[k], slopes[:-1], slopes[-1])
            found.append(slopes)
        return np.concatenate([*found, LINK_UNIT * self.link_slopes])


def _slopes(
    rule: gcd.Aggregator, truths: dict[int, Floats], below: tuple[int, ...], weights: Floats, andness: float
) -> gcd.Derivatives:
    """Return the slopes of a gate; in rows where an input is 0 (or 1, of a disjunction) those of its mean alone.

    There the product is 0 whatever the rest of the gate is; only that one input, if it is alone, makes a difference.
    """
    x = np.array([truths[i] for i in below])
    found, gate = rule.derivatives(list(x), weights, andness), rule.coefficients(andness, len(below))
    side, sign, a = (1.0 - x, -1.0, 1.0 - andness) if gate.dual else (x, 1.0, andness)
    ends = side <= gcd.EPS
    rows = np.flatnonzero(ends.any(axis=0))
    if gate.product == 0.0 or not rows.size or np.isinf(gate.power):
        return found
    alone = ends[:, rows] & (ends[:, rows].sum(axis=0) == 1)
    found.inputs[:, rows] = np.where(alone, found.inputs[:, rows], gate.mean * weights[:, None])
    found.weights[:, rows] = sign * gate.mean * side[:, rows]
    found.andness[rows] = rule.slopes(a, float(len(below)))[0] * (weights @ side[:, rows])
    return found


def moves(order: list[tuple[Node, tuple[int, ...]]], parameters: Mapping[int, Any]) -> list[bool]:
    """Return which nodes have something free in or below them."""
    moving: list[bool] = []
    for k, (_, below) in enumerate(order):
        moving.append(k in parameters or any(moving[i] for i in below))
    return moving
