"""How the parameters of one node may move: free numbers v, 0 where the parameter is now, 1 a usual change away.

    weights        w exp(v) scaled to sum 1: they stay positive
    andness        along a sigmoid between the drastic ends, short of them
    sigmoid        its centre along the column, its slope by a factor: the direction is kept
    ramp           all its breakpoints along the column, and apart or together by a factor: truths and order are kept
    table          the truth of each category and of any other, within [0, 1]
    missing        the stated truth of missing values, within [0, 1]

At v = 0 every parameter is exactly what it was, but for a drastic andness, which is read as just short of it.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from baconlogic.core import gcd
from baconlogic.core.criterion import FARTHEST, LARGEST

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from baconlogic.core.criterion import Criterion
    from baconlogic.core.nodes import Gate

    Floats = NDArray[np.float64]
    Span = tuple[float, float]

# How far a parameter usually moves; those of search/refine, in the numbers that are free here.
WEIGHT = 0.63 / math.sqrt(2.0)  # two weights share what one number does there
ANDNESS, POSITION, SLOPE = 0.63, 0.63, 0.22  # positions in deviations of the column
TRUTH = 0.2
FARTHEST_ANDNESS = 9.0  # a share of the andness scale is within those of e**-9 and e**9, a factor within e**-7 and e**7
LEAST_WEIGHT = 1e-300


class GateKnobs:
    """The free numbers of a gate: one a weight, then one for andness, as far as those are free."""

    def __init__(self, gate: Gate, words: set[str]) -> None:
        n = len(gate.inputs)
        self.gate, self.weights, self.andness = gate, n if "weights" in words else 0, "andness" in words
        end = gcd.drastic(n) - gcd.SHORT_OF_DRASTIC
        self._ends = 1.0 - end, end
        self._start = min(max(gate.andness, 1.0 - end), end)
        self._logit = _logit((self._start - self._ends[0]) / (2.0 * end - 1.0))
        spans = [(-FARTHEST / WEIGHT, FARTHEST / WEIGHT)] * self.weights
        if self.andness:
            spans.append(_around(-FARTHEST_ANDNESS - self._logit, FARTHEST_ANDNESS - self._logit, ANDNESS))
        self.spans: list[Span] = spans

    def moved(self, v: Floats) -> tuple[float, Floats]:
        """Return andness and weights at the free numbers."""
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
        """Return the slope of a loss in the free numbers from those in weights and andness."""
        found: list[float] = []
        if self.weights:
            _, weights = self.moved(v)
            found.extend(WEIGHT * weights * (in_weights - weights @ in_weights))
        if self.andness:
            share = _sigmoid(self._logit + ANDNESS * v[-1])
            found.append(in_andness * ANDNESS * (self._ends[1] - self._ends[0]) * share * (1.0 - share))
        return np.array(found)


class LeafKnobs(ABC):
    """The free numbers of a criterion over a column."""

    spans: list[Span]

    @abstractmethod
    def criterion(self, v: Floats) -> Criterion:
        """Return the criterion at the free numbers."""

    def read(self, column: NDArray[Any]) -> NDArray[Any]:
        """Return a column in the form that `truths` and `slopes` take."""
        return column

    def truths(self, criterion: Criterion, column: NDArray[Any]) -> Floats:
        """Return the truth of each value."""
        return criterion.truth(column)

    @abstractmethod
    def slopes(self, criterion: Criterion, v: Floats, column: NDArray[Any]) -> Floats:
        """Return how the truth of each value changes with each free number: (numbers, rows)."""


class NumericKnobs(LeafKnobs):
    """Two numbers for where the criterion is and how steep, none for given truths; then one for missing values."""

    def __init__(self, start: Criterion, column: Floats) -> None:
        self.start, self.middle, self.unit = start, 0.0, 1.0  # unit: how far the position moves usually
        self.spans = [] if start.holds_truths else self._places(np.clip(column[np.isfinite(column)], -LARGEST, LARGEST))
        if start.missing is not None:
            self.spans.append(_truth_span(start.missing))

    def _places(self, known: Floats) -> list[Span]:
        """Return how far position and steepness may go: the middle stays in the column."""
        ends = (float(known.min()), float(known.max())) if known.size else None
        first, last, width, steeper = self.start.room(*(ends or (0.0, 0.0)))
        self.middle = first + (last - first) / 2.0
        self.unit = POSITION * _deviation(known, min(max(width, 1.0 / LARGEST), LARGEST))
        if steeper is None:
            return [(0.0, 0.0)] * 2
        low, high = ends or (first, last)
        return [_around(low - last, high - first, self.unit), _around(*steeper, SLOPE)]

    def criterion(self, v: Floats) -> Criterion:
        """Return the criterion at the free numbers."""
        missing = None if self.start.missing is None else _kept_truth(self.start.missing + TRUTH * v[-1])
        shift, steeper = (0.0, 0.0) if self.start.holds_truths else (float(self.unit * v[0]), SLOPE * v[1])
        return self.start.moved(shift, steeper, self.middle, missing)

    def slopes(self, criterion: Criterion, v: Floats, column: NDArray[Any]) -> Floats:
        """Return how the truth of each value changes with each free number: (numbers, rows)."""
        found = np.zeros((len(self.spans), len(column)))
        unknown = np.isnan(column)
        if not criterion.holds_truths:
            found[:2] = criterion.slopes(column, (self.unit, SLOPE), self.middle + self.unit * v[0])
        found[:, unknown] = 0.0
        if criterion.missing is not None:
            found[-1, unknown] = TRUTH
        return found


class TableKnobs(LeafKnobs):
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
        """Return the table at the free numbers."""
        return self._with([_kept_truth(t + TRUTH * away) for t, away in zip(self.stated, v.tolist(), strict=True)])

    def truths(self, criterion: Criterion, column: NDArray[Any]) -> Floats:
        """Return the truth of each place."""
        return np.asarray(np.array(TableKnobs(criterion).stated)[column])

    def slopes(self, criterion: Criterion, v: Floats, column: NDArray[Any]) -> Floats:  # noqa: ARG002
        """Return how the truth of each value changes with each free number: (numbers, rows)."""
        return np.asarray(TRUTH * (np.arange(len(self.stated))[:, None] == column))


def leaf_knobs(criterion: Criterion, column: NDArray[Any]) -> LeafKnobs:
    """Return the free numbers of a criterion; a column tells how far is far."""
    return TableKnobs(criterion) if criterion.categorical else NumericKnobs(criterion, column)


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
