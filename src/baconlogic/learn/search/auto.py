"""Auto, the default: peel for crisp logic first; unless the chain found is beyond doubt, grow, and add up as well."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import partial

import numpy as np

from baconlogic.kernel.compile import interruptible
from baconlogic.kernel.loops import KNOWN_BELOW
from baconlogic.learn.search.additive import Additive, suits
from baconlogic.learn.search.draft import Draft
from baconlogic.learn.search.growth import Growth
from baconlogic.learn.search.peel import Chain, Peel, covers, linked, peel, peel_again
from baconlogic.learn.search.problem import Found, Problem, Request

DOUBT = 0.02  # share of cases that an exact chain may still get wrong before growth is not worth its time
COMPLETE = "exact: every combination of inputs was seen, and the chain says of each what most of its cases say"
BEYOND_DOUBT = "exact: a chain this short that fits this many rows is hardly a coincidence"


class Auto:
    """Peel, then grow from nothing; the best of both by size. Weighted means are their rivals."""

    def find(self, problem: Problem, request: Request) -> Found:
        """Return the best trees by size of both searches."""
        if request.start is not None:
            return Growth().find(problem, request)
        if _complete(problem):
            chain = peel(replace(problem, y=np.round(problem.y)), request.most)  # what most cases of each row say
            draft = linked(problem, chain)
            if chain.exact and covers(problem, chain) and _excess(problem, draft) <= problem.rows / problem.cases:
                return Found({draft.leaves: draft}, COMPLETE, certain=True)
        chain = peel(problem.crisp(), request.most)
        draft = linked(problem, chain)
        if chain.exact and covers(problem, chain) and _doubt(problem, chain) < DOUBT:
            again = partial(peel_again, most=request.most)
            return Found({draft.leaves: draft}, BEYOND_DOUBT, refit=again, folds=Peel())  # folds need not grow
        grown = Growth().find(problem, request)
        if covers(problem, chain):
            loss = draft.loss + _price(problem, chain) / problem.cases
            if draft.leaves not in grown.best or loss < grown.best[draft.leaves].loss:
                grown.best[draft.leaves] = draft
        if grown.interrupted or not suits(problem):
            return grown
        try:
            with interruptible():
                means = Additive().find(problem, request)
        except KeyboardInterrupt:
            return grown._replace(interrupted=True, ended="interrupted")
        rivals = {size: mean for size, mean in means.best.items() if size > 1 and problem.granted(mean)}
        ended = f"{grown.ended}; {means.ended} were tried as well"
        return grown._replace(rivals=means._replace(best=rivals), ended=ended)


def _excess(problem: Problem, draft: Draft) -> float:
    """Return by how much the loss of a chain exceeds that of knowing each row's own rate: noise does not explain it."""
    y = np.clip(problem.y, 1e-12, 1.0 - 1e-12)
    return draft.loss + float(problem.share @ (y * np.log(y) + (1.0 - y) * np.log1p(-y)))


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
