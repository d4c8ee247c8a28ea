"""A teacher: softer targets for the choice of a tree's structure, from models that read all columns at once.

A label says only on which side a row fell. The chance that a logistic regression and a forest of random cuts give the
row, neither having learned from it, says how clear a case it is as well. Candidates for a tree that differ by the luck
of a few rows are told apart better by a mixture of the two. Where the teacher is poor, the mixture misleads: so compare
with a growth on the labels by validation, and always let the labels have the last word on the parameters (`by_labels`).
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, cross_val_predict

from baconlogic.loops import MISSING
from baconlogic.search.protocol import Scored
from baconlogic.search.refine import refine

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from baconlogic.search.problem import Problem

    Floats = NDArray[np.float64]

LONG = 80  # steps of descent
TRUST = 0.4  # the part of the teacher in a target
FOLDS, TREES = 5, 60
FARTHEST = 10.0  # on the robust scale: what lies beyond counts as there, for the regression


def soft_targets(problem: Problem, seed: int, trust: float = TRUST) -> Problem:
    """Return the problem with targets between the labels and what a teacher, cross-fitted, makes of the rows."""
    labels = problem.y > 0.5
    if min(labels.sum(), (~labels).sum()) < FOLDS:
        return problem
    table = _table(problem)
    weight = problem.share * problem.rows
    taught = (_regression(table, labels, weight, seed) + _forest(table, labels, weight, seed)) / 2.0
    return replace(problem, y=(1.0 - trust) * problem.y + trust * taught)


def by_labels(problem: Problem, grown: dict[int, Scored]) -> dict[int, Scored]:
    """Return the trees with their parameters refined on the labels of the problem."""
    return {size: Scored(*refine(problem, scored.draft, LONG)) for size, scored in grown.items()}


def _table(problem: Problem) -> Floats:
    """Return (rows, columns) on one scale, missing values in the middle and marked by a column of their own."""
    holes = problem.X > MISSING / 2
    X = np.clip(np.where(holes, 0.0, problem.X), -FARTHEST, FARTHEST)
    X = np.vstack([X, holes[holes.any(axis=1)]]).T
    spread = X.std(axis=0)
    return np.asarray((X - X.mean(axis=0)) / np.where(spread > 0.0, spread, 1.0))


def _regression(table: Floats, labels: NDArray[np.bool_], weight: Floats, seed: int) -> Floats:
    """Return the chance of yes by a logistic regression on the other folds."""
    folds = StratifiedKFold(FOLDS, shuffle=True, random_state=seed)
    model = LogisticRegression(max_iter=200, tol=1e-3)
    chances = cross_val_predict(
        model, table, labels, cv=folds, method="predict_proba", params={"sample_weight": weight}
    )
    return np.asarray(chances[:, 1])


def _forest(table: Floats, labels: NDArray[np.bool_], weight: Floats, seed: int) -> Floats:
    """Return the chance of yes by those of the trees whose sample a row is not in."""
    rows = min(1.0, 2000 / len(labels))  # a sample of each tree: all that a smooth guess needs
    model = ExtraTreesClassifier(TREES, min_samples_leaf=2, bootstrap=True, max_samples=rows, random_state=seed)
    model.set_params(oob_score=True).fit(table, labels, sample_weight=weight)
    chances = model.oob_decision_function_[:, 1]
    return np.where(np.isfinite(chances), chances, labels.mean())
