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
some LINK_REACH units away, as in learn/search/refine. What does not move is evaluated once. The kernel works out gates
and link, block by block, and hands back how the loss changes with the truth of each leaf; the rest is here.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from baconlogic.core import Floats, gcd
from baconlogic.core.answers import Link
from baconlogic.core.criterion import FARTHEST, LARGEST, Criterion
from baconlogic.core.nodes import Gate, Leaf, Node, Not, flatten, negations, rebuild

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
        low, high = (math.log(end / self.link.steepness) for end in STEEPNESSES)
        first, last = (0.0, 0.0) if self.hold else (end - self.link.threshold for end in THRESHOLDS)
        found = [span for parameters in self.moving.values() for span in parameters.spans]
        return [*found, _around(low, high, LINK_UNIT), _around(first, last, LINK_UNIT)]

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

    def loss(self, v: Floats) -> tuple[float, Floats]:
        """Return the penalised loss and its slope in each of v."""
        run = _Passage(self, v)
        block = min(BLOCK, max(256, 4_000_000 // len(self._frame.number)))
        loss = sum(run.through(slice(start, start + block)) for start in range(0, len(self.y), block))
        penalty, slope = self.penalty(v)
        return float(loss) + penalty, run.gradient() + slope

    def penalty(self, v: Floats) -> tuple[float, Floats]:
        """Return the penalty and its slope in each of v."""
        root = np.ones_like(v)
        root[-2:] = np.sqrt(1.0 + (v[-2:] / LINK_REACH) ** 2)
        return float(self.strength * (v * v / (1.0 + root)).sum()), self.strength * v / root

    @cached_property
    def _frame(self) -> _Frame:
        return _Frame(self.root, self.moving, self.still)


class _Frame:
    """What moves, as the kernel sees it: parts that do not are leaves, negations move into what is below them."""

    def __init__(self, root: Node, moving: Mapping[int, Any], still: Mapping[int, Any]) -> None:
        from baconlogic.kernel.loss import topology

        self.order = flatten(root)
        self.negated, free = negations(self.order), moves(self.order, moving)
        self.leaves = [
            k for k, (node, _) in enumerate(self.order) if k in still or (free[k] and isinstance(node, Leaf))
        ]
        self.gates = [k for k, (node, _) in enumerate(self.order) if free[k] and isinstance(node, Gate)]
        self.number = {k: i for i, k in enumerate([*self.leaves, *self.gates])}  # of each node in the kernel
        for k, (node, below) in enumerate(self.order):
            if free[k] and isinstance(node, Not):
                self.number[k] = self.number[below[0]]
        self.shape = topology([[self.number[i] for i in self.order[k][1]] for k in self.gates])

    def gate(self, k: int) -> Gate:
        """Return a gate by its position."""
        gate = self.order[k][0]
        assert isinstance(gate, Gate)  # noqa: S101
        return gate


class _Passage:
    """One passage of all rows through the tree at a given v, adding up slopes."""

    def __init__(self, loss: PenalisedLoss, v: Floats) -> None:
        from baconlogic.kernel import loops
        from baconlogic.kernel import loss as kernel

        self.loss, self.frame, self.parts = loss, loss._frame, loss.parts(v)
        self.link, shape, size = loss.link_at(v), self.frame.shape, kernel.size(self.frame.shape)
        self.criteria, self.slopes = {}, {}
        for k, parameters in loss.moving.items():
            if isinstance(parameters, LeafParameters):
                self.criteria[k] = parameters.criterion(self.parts[k])
                self.slopes[k] = np.zeros(len(parameters.spans))
        values, self.total = np.zeros(size), np.zeros(size)
        p = kernel.parts(values, shape)
        weights = shape.by_gate(p.weight)
        for j, k in enumerate(self.frame.gates):
            andness, weights[j][:] = self._gate(k)
            p.andness[j] = 1.0 - andness if self.frame.negated[k] else andness
        p.link[:] = self.link.steepness, self.link.threshold
        self.net = kernel.prepare(values, shape, gcd.gcd.knee)
        for j, k in enumerate(self.frame.gates):
            rule = gcd.AGGREGATORS[self.frame.gate(k).aggregator]
            if rule is not gcd.gcd:
                self.net.gates[j, : loops.DUAL] = kernel.gate_numbers(rule, float(p.andness[j]), len(weights[j]))

    def _gate(self, k: int) -> tuple[float, Floats]:
        """Return andness and weights of a gate."""
        parameters, gate = self.loss.moving.get(k), self.frame.gate(k)
        if isinstance(parameters, GateParameters):
            return parameters.moved(self.parts[k])
        return gate.andness, np.array(gate.weights)

    def through(self, rows: slice) -> float:
        """Return what some rows add to the loss, and add up their slopes."""
        from baconlogic.kernel import loss as kernel

        y, leaves = self.loss.y[rows], self.frame.leaves
        truths, learned = np.empty((len(leaves), len(y))), np.zeros(len(leaves), dtype=bool)
        for own, k in zip(truths, leaves, strict=True):
            own[:] = self._truths(k, rows)
            if self.frame.negated[k]:
                own[:] = 1.0 - own
        tables = np.zeros(len(leaves) + 1, dtype=np.int64)
        batch = kernel.Batch(np.arange(len(leaves)), learned, tables, truths, y, self.loss.share[rows])
        settings = kernel.Settings(calibrated=True, knee=gcd.gcd.knee, penalty=0.0, amplifier=1.0)
        work = kernel.workspace(self.frame.shape, min(kernel.BLOCK, len(y)), truths.shape)
        gradient = np.empty_like(self.total)
        loss = kernel.network_loss(self.net, batch, settings, work, gradient)
        self.total += gradient
        for slope, k in zip(work.slopes, leaves, strict=True):
            parameters = self.loss.moving.get(k)
            if isinstance(parameters, LeafParameters):
                found = parameters.slopes(self.criteria[k], self.parts[k], self.loss.columns[k][rows]) @ slope
                self.slopes[k] += -found if self.frame.negated[k] else found
        return loss

    def _truths(self, k: int, rows: slice) -> Floats:
        parameters = self.loss.moving.get(k)
        if isinstance(parameters, LeafParameters):
            return parameters.truths(self.criteria[k], self.loss.columns[k][rows])
        return self.loss.still[k][rows]

    def gradient(self) -> Floats:
        """Return the slope in each of v."""
        from baconlogic.kernel import loss as kernel

        total, gates = kernel.parts(self.total, self.frame.shape), {k: j for j, k in enumerate(self.frame.gates)}
        weights, found = self.frame.shape.by_gate(total.weight), []
        for k, parameters in self.loss.moving.items():
            if isinstance(parameters, GateParameters):
                andness = total.andness[gates[k]] * (-1.0 if self.frame.negated[k] else 1.0)
                found.append(parameters.gradient(self.parts[k], weights[gates[k]], andness))
            else:
                found.append(self.slopes[k])
        return np.concatenate([*found, LINK_UNIT * total.link * (self.link.steepness, 1.0)])


def moves(order: list[tuple[Node, tuple[int, ...]]], parameters: Mapping[int, Any]) -> list[bool]:
    """Return which nodes have something free in or below them."""
    moving: list[bool] = []
    for k, (_, below) in enumerate(order):
        moving.append(k in parameters or any(moving[i] for i in below))
    return moving
