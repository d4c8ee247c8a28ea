"""Auto, the default: peel for crisp logic first; unless the chain found is beyond doubt, look for cards."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import partial

import numpy as np

from baconlogic.kernel.loops import KNOWN_BELOW
from baconlogic.learn.search.cards import USUAL, Cards, suits
from baconlogic.learn.search.draft import Draft
from baconlogic.learn.search.growth import Growth
from baconlogic.learn.search.peel import Chain, Peel, covers, linked, peel, peel_again
from baconlogic.learn.search.problem import Found, Problem, Request

DOUBT = 0.02  # share of cases that an exact chain may still get wrong before growth is not worth its time
COMPLETE = "exact: every combination of inputs was seen, and the chain says of each what most of its cases say"
BEYOND_DOUBT = "exact: a chain this short that fits this many rows is hardly a coincidence"


class Auto:
    """Peel, then look for cards; where these cannot grant what is asked, grow a deep tree."""

    def __init__(self, kinds: tuple[str, ...] = USUAL) -> None:
        self.kinds = kinds

    def find(self, problem: Problem, request: Request) -> Found:
        """Return the best trees by size of both searches."""
        if not suits(problem):
            return Growth().find(problem, request)
        if _complete(problem):
            chain = peel(replace(problem, y=np.round(problem.y)), request.most)  # what most cases of each row say
            draft = linked(problem, chain)
            if chain.exact and covers(problem, chain) and _excess(problem, draft) <= problem.rows / problem.cases:
                return Found({draft.leaves: draft}, COMPLETE, certain=True)
        chain = peel(problem.crisp(), request.most)
        exact = {}
        if chain.exact and covers(problem, chain):
            draft = linked(problem, chain)
            exact = {draft.leaves: draft}
            if _doubt(problem, chain) < DOUBT:
                again = partial(peel_again, most=request.most)
                return Found(exact, BEYOND_DOUBT, refit=again, folds=Peel())  # folds need not look further
        found = Cards(kinds=self.kinds).find(problem, request)
        if exact and isinstance(found.folds, Cards):
            found = found._replace(folds=Auto(found.folds.kinds))
        return found._replace(best=exact)


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
