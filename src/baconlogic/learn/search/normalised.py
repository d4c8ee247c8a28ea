"""Columns as the paper wants them: one truth in [0, 1] for each feature, already in its direction."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from baconlogic.kernel.loops import KNOWN_BELOW
from baconlogic.learn.search.draft import Leaf
from baconlogic.learn.search.fixed import agreeing

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from baconlogic.learn.search.problem import Problem

    Floats = NDArray[np.float64]

SLOPE = 1.8  # spans 5% to 95% of truth between the same quantiles of a normal column
STEEP = 9.2  # of a column of two values, at -1 and 1: truths of 1e-4 and 1 - 1e-4


class Normalised(NamedTuple):
    """For each feature: the leaf that reads it, and its truths."""

    leaves: list[Leaf]
    truths: Floats  # (features, rows)


def normalised(problem: Problem) -> Normalised:
    """Return one leaf a feature: rising or falling as asked, or as goes with the target."""
    leaves, truths = [], []
    for feature in dict.fromkeys(problem.features.tolist()):
        columns = np.flatnonzero(problem.features == feature)
        column, sign = agreeing(problem, columns.tolist())
        x = problem.X[column]
        if not problem.learned[column]:
            leaves.append(Leaf(column, 1.0, 0.0))
            truths.append(x)
            continue
        missing = x >= KNOWN_BELOW
        if np.isin(x[~missing], (-1.0, 1.0)).all():
            leaves.append(Leaf(column, sign * STEEP, 0.0))
            truths.append(np.where(missing, 0.5, sign * x > 0.0))
        else:
            leaves.append(Leaf(column, sign * SLOPE, 0.0))
            truths.append(np.where(missing, 0.5, 1.0 / (1.0 + np.exp(np.clip(-sign * SLOPE * x, -700.0, 700.0)))))
    return Normalised(leaves, np.array(truths, dtype=float))
