"""Additive: a weighted mean of gentle criteria, a scorecard. Where evidence simply adds up, no other tree does better.

The truth of a leaf rises slowly with its column, the gate is neutral, and the weights are those of a logistic
regression on the truths, penalised a little: its coefficients are weights times the steepness of the link. Columns
enter one by one and are swapped, judged by the quadratic model of the loss around the tree before.
"""

from __future__ import annotations

from math import exp, log
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from baconlogic.core import Floats, Ints, gcd
from baconlogic.kernel.loops import KNOWN_BELOW
from baconlogic.kernel.loss import topology
from baconlogic.learn.search import draft as drafts
from baconlogic.learn.search.draft import CRISP, Draft, Literal
from baconlogic.learn.search.growth import LEAST_GAIN, PATIENCE
from baconlogic.learn.search.problem import Found, Problem, Request
from baconlogic.learn.search.refine import polish

SLOPE = 1.0  # of a leaf on the robust scale: between the quartiles a truth runs from 0.34 to 0.66
NARROW, STEEPEST = 0.4, 1e3  # columns of less deviation, mostly of categories, have steeper leaves, up to so much
WIDEST = 100  # columns that are looked at: those that say most on their own
SWAPS = 5  # at most, at each size
TRIES = 3  # of the best moves by the quadratic model, until one lowers the loss
STEPS = 30  # of Newton's method


class Additive(BaseEstimator):  # type: ignore[misc]
    """Search for weighted means. `max_leaves` is the largest size where the classifier states none."""

    def __init__(self, *, max_leaves: int = 10) -> None:
        self.max_leaves = max_leaves

    def find(self, problem: Problem, request: Request) -> Found:
        """Return the best weighted mean of each size."""
        score = _Scorecard(problem)
        found: dict[int, Draft] = {}
        model, idle, most = score.fit(()), 0, request.most or self.max_leaves
        while len(model.chosen) < most and idle < PATIENCE and (request.going() or not found):
            larger = score.best(model, score.additions(model.chosen))
            if larger is None:
                break
            for _ in range(SWAPS):
                better = score.best(larger, score.swaps(larger.chosen))
                if better is None or better.loss >= larger.loss:
                    break
                larger = better
            covered = score.lacking(larger.chosen) == set()
            idle = 0 if (model.loss - larger.loss) * problem.cases > LEAST_GAIN or not covered else idle + 1
            model = larger
            if covered:
                found[len(model.chosen)] = score.draft(model)
        if not found:  # no column has the direction asked for, or the search had to end before all required ones
            model = model if model.chosen else _Model((0,), np.r_[model.values, 0.0], model.loss)
            found[len(model.chosen)] = score.draft(model)
        return Found(found, f"weighted means of up to {max(found)} criteria", refit=refit)


def suits(problem: Problem) -> bool:
    """Whether a neutral gate may join columns: bounds of andness may ask for others."""
    return bool(_open(problem).any())


def refit(problem: Problem, draft: Draft) -> Draft:
    """Return a weighted mean with its weights learned again, unless a direction would turn against what is asked.

    One leaf is no mean: it is refined as any tree is.
    """
    if draft.leaves == 1:
        return polish(problem, draft)
    score = _Scorecard(problem, draft.columns)
    model = score.fit(tuple(range(draft.leaves)))
    return score.draft(model) if score.allowed(np.array([model.chosen]), model.values[None, 1:])[0] else draft


def _open(problem: Problem) -> NDArray[np.bool_]:
    low, high = np.maximum(problem.low, problem.andness[0]), np.minimum(problem.high, problem.andness[1])
    return np.asarray((low <= gcd.NEUTRAL) & (high >= gcd.NEUTRAL) & (problem.categories == 0))


class _Model(NamedTuple):
    """A logistic regression on the truths of some columns."""

    chosen: tuple[int, ...]
    values: Floats  # the intercept and the coefficients of the standardised truths
    loss: float


class _Scorecard:
    """The columns of a problem as truths, standardised, and regressions on some of them."""

    def __init__(self, problem: Problem, columns: Ints | None = None) -> None:
        self.problem = problem
        self.strength = problem.penalty / problem.cases
        self._look(np.flatnonzero(_open(problem)) if columns is None else columns)
        if len(self.columns) > WIDEST:
            told = np.abs((problem.share * (problem.y - problem.share @ problem.y)) @ self.X)
            needed = np.isin(problem.features[self.columns], problem.required)
            most = np.argsort(-np.where(needed, np.inf, told), kind="stable")[:WIDEST]
            self._look(self.columns[np.sort(most)])
        self.features = problem.features[self.columns]
        self.sign = np.where(problem.learned, problem.direction, 1)[self.columns]  # of coefficients; 0: either

    def _look(self, columns: Ints) -> None:
        leaves, self.columns = [self._truths(column) for column in columns], columns
        self.slope, self.mean = (np.array([leaf[i] for leaf in leaves]) for i in (0, 1))
        X = np.array([leaf[2] for leaf in leaves]).reshape(len(columns), self.problem.rows).T
        self.spread = np.sqrt(np.maximum(self.problem.share @ (X - self.mean) ** 2, 1e-12))
        self.X = (X - self.mean) / self.spread

    def _truths(self, column: int) -> tuple[float, float, Floats]:
        """Return the slope of a leaf on a column, its mean truth, and its truths: the mean where a value is missing."""
        x, share = self.problem.X[column], self.problem.share
        known = x < KNOWN_BELOW
        slope, truths = 1.0, x  # of a 0/1 column, shown as -1 and 1, it is crisp
        if self.problem.learned[column]:
            slope = CRISP if (np.abs(x[known]) == 1.0).all() else self._slope(x[known], share[known])
            truths = 1.0 / (1.0 + np.exp(-slope * np.clip(x, -50.0, 50.0)))
        weight = share[known].sum()
        mean = float(share[known] @ truths[known] / weight) if weight > 0.0 else 0.5
        return slope, mean, np.where(known, truths, mean)

    def _slope(self, x: Floats, share: Floats) -> float:
        """Return the slope of a leaf: steeper where values lie close, or its weight would not tell what it does."""
        if not share.sum() > 0.0:
            return SLOPE
        mean = float(np.average(x, weights=share))
        deviation = float(np.sqrt(np.average((x - mean) ** 2, weights=share)))
        return SLOPE * max(1.0, NARROW / max(deviation, NARROW / STEEPEST))

    def lacking(self, chosen: tuple[int, ...]) -> set[int]:
        """Return the required features that are not among the chosen columns."""
        return set(self.problem.required) - set(self.features[list(chosen)].tolist())

    def fit(self, chosen: tuple[int, ...], start: Floats | None = None) -> _Model:
        """Return the regression on some columns, by Newton's method."""
        problem = self.problem
        A = np.c_[np.ones(problem.rows), self.X[:, list(chosen)]]
        penalty = np.r_[0.0, np.full(len(chosen), self.strength)]
        rate = problem.base_rate
        values = np.r_[log(rate / (1.0 - rate)), np.zeros(len(chosen))] if start is None else start

        def loss(values: Floats) -> float:
            u = A @ values
            return float(problem.share @ (np.logaddexp(0.0, u) - problem.y * u) + 0.5 * penalty @ values**2)

        now = loss(values)
        for _ in range(STEPS):
            p = 1.0 / (1.0 + np.exp(-np.clip(A @ values, -500.0, 500.0)))
            gradient = A.T @ (problem.share * (p - problem.y)) + penalty * values
            hessian = (A * (problem.share * p * (1.0 - p))[:, None]).T @ A + np.diag(penalty + 1e-9)
            step = np.linalg.solve(hessian, gradient)
            ahead = loss(values - step)
            while not ahead <= now + 1e-12 and np.abs(step).max() > 1e-9:
                step = step / 2.0
                ahead = loss(values - step)
            values, gained, now = values - step, now - ahead, ahead
            if gained < 1e-10:
                break
        return _Model(chosen, values, now)

    def additions(self, chosen: tuple[int, ...]) -> list[tuple[int, ...]]:
        """Return the ways to add a column; one of a required feature first."""
        taken, lacking = set(self.features[list(chosen)].tolist()), self.lacking(chosen)
        return [
            (*chosen, j)
            for j, feature in enumerate(self.features.tolist())
            if feature not in taken and (not lacking or feature in lacking)
        ]

    def swaps(self, chosen: tuple[int, ...]) -> list[tuple[int, ...]]:
        """Return the ways to take another column in the place of one."""
        rest = [(old, chosen[:i] + chosen[i + 1 :]) for i, old in enumerate(chosen)]
        return [new for old, others in rest for new in self.additions(others) if new[-1] != old]

    def best(self, model: _Model, choices: list[tuple[int, ...]]) -> _Model | None:
        """Return the regression on the choice that promises most, as the quadratic model around `model` has it."""
        if not choices:
            return None
        curvature, aim = self._quadratic(model)
        at = np.c_[np.zeros(len(choices), dtype=np.int64), 1 + np.array(choices)]  # the intercept and the columns
        values = np.linalg.solve(curvature[at[:, :, None], at[:, None, :]], aim[at][:, :, None])[:, :, 0]
        promise = np.where(self.allowed(at[:, 1:] - 1, values[:, 1:]), (aim[at] * values).sum(axis=1), -np.inf)
        start = self._everywhere(model)
        fits = [
            self.fit(choices[i], start[at[i]])
            for i in np.argsort(-promise, kind="stable")[:TRIES]
            if promise[i] > -np.inf
        ]
        kept = [new for new in fits if self.allowed(np.array([new.chosen]), new.values[None, 1:])[0]]
        return min(kept, key=lambda new: new.loss, default=None)

    def _everywhere(self, model: _Model) -> Floats:
        """Return the intercept and the coefficients of all columns, 0 for those that are not chosen."""
        values = np.zeros(1 + len(self.columns))
        values[0], values[1 + np.array(model.chosen, dtype=np.int64)] = model.values[0], model.values[1:]
        return values

    def _quadratic(self, model: _Model) -> tuple[Floats, Floats]:
        """Return H and b of the penalised loss v'Hv / 2 - b'v in the coefficients v of all columns, around a model."""
        problem, values = self.problem, self._everywhere(model)
        A = np.c_[np.ones(problem.rows), self.X]
        p = 1.0 / (1.0 + np.exp(-np.clip(A @ values, -500.0, 500.0)))
        curvature = (A * (problem.share * np.maximum(p * (1.0 - p), 1e-4))[:, None]).T @ A
        aim = curvature @ values - A.T @ (problem.share * (p - problem.y))
        curvature += np.diag(np.r_[1e-9, np.full(len(self.columns), self.strength)])
        return curvature, aim

    def allowed(self, chosen: Ints, values: Floats) -> NDArray[np.bool_]:
        """Whether coefficients, one row for each choice of columns, have the directions asked for."""
        return np.asarray((self.sign[chosen] * values >= 0.0).all(axis=1))

    def draft(self, model: _Model) -> Draft:
        """Return a regression as one neutral gate, the heaviest leaves first."""
        chosen, values = np.array(model.chosen), model.values[1:] / self.spread[list(model.chosen)]
        falling = (values < 0.0) | ((values == 0.0) & (self.sign[chosen] < 0))
        steepness = max(float(np.abs(values).sum()), exp(-9.0))
        zero = model.values[0] - values @ self.mean[chosen] + values[falling].sum()
        order = np.argsort(-np.abs(values), kind="stable")
        leaves = [self._leaf(chosen[i], falling=bool(falling[i])) for i in order]
        weight = np.maximum(np.abs(values[order]), 1e-9 * steepness)
        link = steepness, float(-zero / steepness)
        if len(leaves) == 1:
            return drafts.single(leaves[0], link)._replace(loss=model.loss)
        shape = topology([range(len(leaves))])
        return drafts.join(shape, leaves, weight / weight.sum(), [gcd.NEUTRAL], link)._replace(loss=model.loss)

    def _leaf(self, place: int, *, falling: bool) -> Literal:
        sign, mean = -1.0 if falling else 1.0, float(np.clip(self.mean[place], 1e-6, 1.0 - 1e-6))
        column = int(self.columns[place])
        missing = sign * log(mean / (1.0 - mean)) if self.problem.learned[column] else 0.0
        return Literal(column, sign * float(self.slope[place]), 0.0, missing)
