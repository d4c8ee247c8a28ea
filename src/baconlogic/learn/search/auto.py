"""Auto, the default: peel for crisp logic first; unless the chain found is beyond doubt, grow, and add up as well."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from baconlogic.kernel.compile import interruptible
from baconlogic.kernel.loops import KNOWN_BELOW
from baconlogic.learn.search.additive import Additive, suits
from baconlogic.learn.search.growth import Growth
from baconlogic.learn.search.peel import Peel, covers
from baconlogic.learn.search.protocol import Found

if TYPE_CHECKING:
    from baconlogic.learn.search.peel import Chain
    from baconlogic.learn.search.problem import Problem
    from baconlogic.learn.search.protocol import Ask

DOUBT = 0.02  # share of cases that an exact chain may still get wrong before growth is not worth its time
COMPLETE = "exact: every combination of inputs was seen, and the chain says of each what most of its cases say"
BEYOND_DOUBT = "exact: a chain this short that fits this many rows is hardly a coincidence"


class Auto:
    """Peel, then grow from nothing; the best of both by size. Weighted means are their rivals."""

    def find(self, problem: Problem, ask: Ask) -> Found:
        """Return the best trees by size of both searches."""
        if ask.start is not None:
            return Growth().find(problem, ask)
        if _complete(problem):
            chain, peeled = Peel().chain(problem, ask, by_majority=True)
            if chain.exact and covers(problem, chain) and _excess(problem, peeled) <= problem.rows / problem.cases:
                return peeled._replace(ended=COMPLETE, certain=True)
        chain, peeled = Peel().chain(problem, ask)
        if chain.exact and covers(problem, chain) and _doubt(problem, chain) < DOUBT:
            return peeled._replace(ended=BEYOND_DOUBT, exact=True)
        grown = Growth().find(problem, ask)
        best = dict(grown.best)
        for size, scored in peeled.best.items():
            loss = scored.loss + _price(problem, chain) / problem.cases
            if covers(problem, chain) and (size not in best or loss < best[size].loss):
                best[size] = scored
        grown = grown._replace(best=best)
        if grown.interrupted or not suits(problem):
            return grown
        try:
            with interruptible():
                means = Additive().find(problem, ask)
        except KeyboardInterrupt:
            return grown._replace(interrupted=True, ended="interrupted")
        rivals = {size: scored for size, scored in means.best.items() if size > 1 and problem.granted(scored.draft)}
        return grown._replace(rivals=rivals, ended=f"{grown.ended}; {means.ended} were tried as well")


def _excess(problem: Problem, peeled: Found) -> float:
    """Return by how much the loss of a chain exceeds that of knowing each row's own rate: noise does not explain it."""
    y = np.clip(problem.y, 1e-12, 1.0 - 1e-12)
    least = -float(problem.share @ (y * np.log(y) + (1.0 - y) * np.log1p(-y)))
    return min(scored.loss for scored in peeled.best.values()) - least


def _complete(problem: Problem) -> bool:
    """Whether the rows show every combination of the values of the columns."""
    possible = 1
    for column in problem.X:
        possible *= len(np.unique(column))
        if possible > problem.rows:
            return False
    return not (problem.X >= KNOWN_BELOW).any() and possible == len(np.unique(problem.X.T, axis=0))


def _doubt(problem: Problem, chain: Chain) -> float:
    """Bound the error of a chain that fits all rows: so many chains of its length there are to choose from."""
    literals = 2 * sum(len(np.unique(column)) for column in problem.X)
    return (chain.draft.leaves * math.log(2.0 * literals) + math.log(20.0)) / problem.rows


def _price(problem: Problem, chain: Chain) -> float:
    """Return what a chain pays for the choice of its cuts, as a grown tree pays a penalty on its parameters."""
    return sum(math.log(len(np.unique(problem.X[column]))) for column in chain.draft.columns)
