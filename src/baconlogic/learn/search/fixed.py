"""Searches that keep a structure: refine its parameters, or only the link from truth to probability."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.optimize import minimize

from baconlogic.kernel.loops import KNOWN_BELOW
from baconlogic.learn.search import draft as drafts
from baconlogic.learn.search.draft import STEEPNESS, THRESHOLD
from baconlogic.learn.search.protocol import Found, Scored
from baconlogic.learn.search.refine import STEEPNESSES, THRESHOLDS, refine

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from baconlogic.learn.search.draft import Draft
    from baconlogic.learn.search.problem import Problem
    from baconlogic.learn.search.protocol import Ask

    Floats = NDArray[np.float64]

STEPS = 200


class Refine:
    """Learn all parameters of a given tree."""

    def find(self, problem: Problem, ask: Ask) -> Found:
        """Refine the start."""
        if ask.start is None:
            raise ValueError("there is no tree to refine; give init=Tree.parse(...) or order=[...]")
        best = Scored(*refine(problem, ask.start, STEPS))
        return Found({best.draft.leaves: best}, "the structure was given")


class Calibrate:
    """Keep a tree as it is; learn only the threshold and the steepness of the probability."""

    def find(self, problem: Problem, ask: Ask) -> Found:
        """Fit the link of the start."""
        if ask.start is None:
            raise ValueError("there is no tree to calibrate; give init=Tree.parse(...)")
        loss, draft = fit_link(problem, ask.start)
        return Found({draft.leaves: Scored(loss, draft)}, "the tree was given; only its link was fitted")


def fit_link(problem: Problem, draft: Draft) -> tuple[float, Draft]:
    """Return the draft with the steepness and threshold of the lowest loss."""
    truths = problem.truths(draft)
    strength, usual = problem.penalty / problem.cases, np.array([np.log(STEEPNESS), THRESHOLD])

    def loss(free: Floats) -> tuple[float, Floats]:
        steepness, threshold = np.exp(free[0]), free[1]
        u = steepness * (truths - threshold)
        step = problem.share * (1.0 / (1.0 + np.exp(-np.clip(u, -500.0, 500.0))) - problem.y)
        away = free - usual
        total = problem.share @ (np.logaddexp(0.0, u) - problem.y * u) + 0.5 * strength * (away @ away)
        return float(total), np.array([step @ u, -steepness * step.sum()]) + strength * away

    start, bounds = np.array([usual[0], float(truths.mean())]), [np.log(STEEPNESSES), THRESHOLDS]
    found = minimize(loss, start, jac=True, method="L-BFGS-B", bounds=bounds)
    values = draft.parameters.copy()
    values[-2:] = np.exp(found.x[0]), found.x[1]
    return float(found.fun), draft._replace(parameters=values)


def ranked(problem: Problem, choices: list[list[int]]) -> Draft:
    """Return a left chain over features, the most important nearest the root; `choices` are the columns of each."""
    leaves = [_leaf(problem, columns) for columns in reversed(choices)]
    n = len(leaves) - 1
    low, high = problem.andness
    return drafts.chain(leaves, np.full(n, 0.5), np.full(n, min(max(0.5, low), high)), STEEPNESS, THRESHOLD)


def _leaf(problem: Problem, columns: list[int]) -> drafts.Leaf:
    column, sign = agreeing(problem, columns)
    return drafts.Leaf(column, 2.0 * sign, 0.0)


def agreeing(problem: Problem, columns: list[int]) -> tuple[int, float]:
    """Return the column that goes best with the target, and its sign: as asked, or as goes with the target."""
    column = max(columns, key=lambda column: _covariance(problem, column))
    return column, float(problem.direction[column]) or (1.0 if _covariance(problem, column) >= 0.0 else -1.0)


def _covariance(problem: Problem, column: int) -> float:
    """Return the weighted covariance of a column, held within 3 spreads of its middle, with the target."""
    x = problem.X[column]
    known = x < KNOWN_BELOW
    share = problem.share * known
    total = share.sum()
    if total <= 0.0:
        return 0.0
    values = np.clip(np.where(known, x, 0.0), -3.0, 3.0)
    return float(share @ (values * problem.y) / total - (share @ values / total) * (share @ problem.y / total))
