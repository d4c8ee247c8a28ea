"""How well a decision does on rows: one confusion table, one interval, AUC, log-loss, Brier score, calibration table.

Whatever measures a model calls these, so that no two pages give different figures for the same rows. Rows may stand for
several cases, `positive` of the class that is asked about and `negative` of the rest; each stands for one by default.

A share has the exact interval (Clopper and Pearson, 1934): at its ends, so many or so few would be seen once in forty
samples. Wilson's is narrower and needs no scipy, but there are shares that it covers less often than it says. What
`thresholds` guarantees must hold, and must agree with the interval that stands beside it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from baconlogic.core import Bools, Floats
from baconlogic.core.subject import Result

Ints = NDArray[np.intp]
Cases = Floats | Bools  # how many cases each row stands for

NORMAL = 1.959963984540054  # 95% of a normal distribution lie within so many standard deviations
UNKNOWN = 0.25  # the variance of a number in [0, 1] is at most so much, where one case alone does not tell it
LEAST_VARIANCE = 1e-24  # below, it is rounding
LEAST_CHANCE = 1e-15  # a probability of 0 counts as this in a log-loss, as scikit-learn's did
BINS = 10  # of a calibration table


@dataclass(frozen=True)
class Estimate(Result):
    """A figure with its 95% interval; ends that are not known are NaN."""

    value: float
    low: float = math.nan
    high: float = math.nan

    def __str__(self) -> str:
        return f"{self.value:.4f}" + ("" if math.isnan(self.low) else f" ({self.low:.4f} to {self.high:.4f})")


def share(k: float, n: float) -> Estimate:
    """Return the share k of n with its exact two-sided 95% interval; of nothing it is 0, and may be anything."""
    if n <= 0.0:
        return Estimate(0.0, 0.0, 1.0)
    low, missed = lower_bound([k, n - k], n, 0.975).tolist()
    return Estimate(k / n, low, 1.0 - missed)


def lower_bound(k: Any, n: Any, confidence: float = 0.95) -> Floats:
    """Return the exact (Clopper-Pearson) one-sided lower bound of a share of which k of n were seen.

    It solves P(K >= k) = 1 - confidence for the share of a binomial K, which is a quantile of Beta(k, n - k + 1); so k
    and n need not be whole.
    """
    from scipy.special import betaincinv

    k, n = np.asarray(k, dtype=float), np.asarray(n, dtype=float)
    return np.where(k > 0.0, betaincinv(np.maximum(k, 1e-9), n - k + 1.0, 1.0 - confidence), 0.0)


def mean(values: Floats) -> Estimate:
    """Return the mean of figures of 0 and more, one a row, with its interval by their standard deviation."""
    middle = float(values.mean())
    if len(values) < 2:
        return Estimate(middle)
    reach = NORMAL * float(values.std(ddof=1)) / math.sqrt(len(values))
    return Estimate(middle, max(middle - reach, 0.0), middle + reach)


class Confusion(NamedTuple):
    """Right and wrong answers of yes or no: numbers, or arrays for several cuts."""

    true_positive: Any
    false_positive: Any
    false_negative: Any
    true_negative: Any

    @property
    def shares(self) -> dict[str, tuple[Any, Any]]:
        """How many of how many each of the usual shares counts."""
        tp, fp, fn, tn = self
        return {
            "accuracy": (tp + tn, tp + fp + fn + tn),
            "recall": (tp, tp + fn),
            "precision": (tp, tp + fp),
            "specificity": (tn, tn + fp),
        }

    @property
    def accuracy(self) -> Any:
        """The share of right answers."""
        return _ratio(*self.shares["accuracy"])

    @property
    def precision(self) -> Any:
        """The share of right answers among yes; 0 where there is none."""
        return _ratio(*self.shares["precision"])

    @property
    def recall(self) -> Any:
        """The share of cases that are found; 0 where there is none."""
        return _ratio(*self.shares["recall"])


def _ratio(k: Any, n: Any) -> Any:
    return k / np.maximum(n, 1e-300)


def confusion(yes: Bools, positive: Cases, negative: Cases | None = None) -> Confusion:
    """Return how many of the answers are right and wrong."""
    rest: Any = np.logical_not(positive) if negative is None else negative
    return Confusion(*(cases.sum().item() for cases in (positive[yes], rest[yes], positive[~yes], rest[~yes])))


def confusion_matrix(truly: Ints, answered: Ints, classes: int) -> Ints:
    """Return how many rows of each class got each answer: [truly, answered]."""
    return np.bincount(truly * classes + answered, minlength=classes * classes).reshape(classes, classes)


def accuracy(answered: NDArray[Any], truly: NDArray[Any]) -> float:
    """Return the share of right answers, of any classes."""
    return float(np.mean(answered == truly))


def at_every_cut(scores: Floats, positive: Cases, negative: Cases) -> tuple[Floats, Confusion]:
    """Return the scores that occur, increasing, and the answers at every cut between them that makes a difference.

    Where i scores lie below the cut, answer i says yes to the others: first to all, last to none.
    """
    marks, cases, others = _by_score(scores, positive, negative)
    tp, fp = (np.append(np.cumsum(each[::-1])[::-1], 0.0) for each in (cases, others))
    return marks, Confusion(tp, fp, tp[0] - tp, fp[0] - fp)


def _by_score(scores: Floats, positive: Cases, negative: Cases) -> tuple[Floats, Floats, Floats]:
    """Return each score that a case has, increasing, and how many cases of both sides have it."""
    counted = (positive > 0) | (negative > 0)
    marks, place = np.unique(scores[counted], return_inverse=True)
    sides: Any = (np.bincount(place, each[counted], len(marks)) for each in (positive, negative))
    return marks, *sides


def auc(scores: Floats, positive: Cases, negative: Cases) -> Estimate | None:
    """Return the area under the ROC curve with the 95% interval of DeLong; None where a class has no case.

    The area is the share of pairs, a case of each class, in which the positive one has the higher score; ties count
    half. Where every pair, or every tie, is alike that interval has no width: that of a share of the rarer class stands
    in.
    """
    _, cases, others = _by_score(scores, positive, negative)
    m, n = float(cases.sum()), float(others.sum())
    if m <= 0.0 or n <= 0.0:
        return None
    below = (np.cumsum(others) - others / 2.0) / n  # the share of the other class below each score
    above = 1.0 - (np.cumsum(cases) - cases / 2.0) / m
    area = float(cases @ below / m)
    variance = _variance_of_mean(below, cases, area) + _variance_of_mean(above, others, area)
    if variance < LEAST_VARIANCE or area in (0.0, 1.0):
        return replace(share(min(area, 1.0) * min(m, n), min(m, n)), value=area)
    reach = NORMAL * math.sqrt(variance)
    return Estimate(area, max(area - reach, 0.0), min(area + reach, 1.0))


def _variance_of_mean(values: Floats, weights: Floats, middle: float) -> float:
    total = float(weights.sum())
    return float(weights @ (values - middle) ** 2) / (total - 1.0) / total if total > 1.0 else UNKNOWN


def log_losses(chances: Floats, truly: Ints) -> Floats:
    """Return -log of the probability, (rows, classes), that each row gave to its own class."""
    return np.asarray(-np.log(np.maximum(chances[np.arange(len(truly)), truly], LEAST_CHANCE)))


def log_loss_of_scores(scores: Floats, y: Floats, weight: Floats) -> float:
    """Return the mean log-loss of scores, log(p / (1 - p)): of a score u it is log(1 + exp(u)) - y u."""
    return float(weight @ (np.logaddexp(0.0, scores) - y * scores) / weight.sum())


def base_log_loss(y: Floats, weight: Floats) -> float:
    """Return the mean log-loss of always telling the base rate."""
    rate = float(np.clip(weight @ y / weight.sum(), 1e-12, 1.0 - 1e-12))
    return -rate * math.log(rate) - (1.0 - rate) * math.log(1.0 - rate)


def brier_scores(chances: Floats, truly: Ints) -> Floats:
    """Return the squared error of each row's probabilities: of two classes that of the second, of more their sum."""
    errors = (chances - (np.arange(chances.shape[1]) == truly[:, None])) ** 2
    return np.asarray(errors[:, 1] if chances.shape[1] == 2 else errors.sum(axis=1))


class CalibrationBin(NamedTuple):
    """Rows of about the same probability."""

    low: float
    high: float
    mean: float  # probability
    cases: float  # how many of the rows are
    rows: float


def calibration(probability: Floats, positive: Bools) -> list[CalibrationBin]:
    """Return up to ten groups of about equally many rows, from the least to the most probable."""
    order = np.argsort(probability, kind="stable")
    told = probability[order]
    ends = np.linspace(0, len(order), min(BINS, max(len(order) // 10, 1)) + 1).round().astype(int)
    starts = np.unique(np.searchsorted(told, told[ends[:-1]]))  # equal probabilities stay together
    groups = zip(np.split(told, starts[1:]), np.split(positive[order], starts[1:]), strict=True)
    return [
        CalibrationBin(float(own[0]), float(own[-1]), float(own.mean()), float(cases.sum()), float(len(own)))
        for own, cases in groups
    ]
