"""Growth: deep trees. Leaves are added anywhere in the tree, swapped and dropped again; all is refined jointly.

From the best tree of each size (`Grower._extend`):
  1. screen every new leaf above every node (`screen`), refine the most promising shortly, the best of them at length;
  2. swap: screen every other leaf in the place of each leaf, and keep what lowers the loss;
  3. float: drop each leaf in turn; a better tree of the smaller size than the one known replaces it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from heapq import merge

import numpy as np
from sklearn.base import BaseEstimator

from baconlogic.core import Ints
from baconlogic.kernel.compile import interruptible
from baconlogic.learn.search import draft as drafts
from baconlogic.learn.search.draft import Draft
from baconlogic.learn.search.problem import Found, Problem, Request
from baconlogic.learn.search.refine import gate_bounds, refine, sharpen
from baconlogic.learn.search.screen import REPLACE, Proposal, Screen

SHORT, LONG = 12, 80  # steps of descent
CANDIDATES, FINALISTS, SWAPS = 12, 3, 6
PATIENCE, LEAST_GAIN = 2, 0.5  # sizes in a row that gain less log-likelihood than this before growth ends
ENOUGH = 1e-5  # a smaller gain in loss is none
PROMISING = 2e-3  # a draft this close to the best after SHORT steps may overtake it at length


class Growth(BaseEstimator):  # type: ignore[misc]
    """Grow trees leaf by leaf. `max_leaves` is the largest size where the classifier states none."""

    def __init__(self, *, max_leaves: int = 10) -> None:
        self.max_leaves = max_leaves

    def find(self, problem: Problem, request: Request) -> Found:
        """Return the best tree of each size."""
        grower = Grower(problem)
        interrupted = False
        try:
            with interruptible():
                grower.run(request.most or self.max_leaves, request.start, request.going)
        except KeyboardInterrupt:
            if not grower.best:
                raise
            interrupted = True
        size = max(grower.best)
        ended = "interrupted" if interrupted else f"grown to {size} {'leaf' if size == 1 else 'leaves'}"
        return Found(grower.complete(), ended, interrupted)


class Grower:
    """Grows trees on one problem; `best[m]` is the best tree of m leaves so far."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.screen = Screen(problem)
        self.contrary = bool(problem.low.max(initial=-np.inf) > problem.high.min(initial=np.inf))
        self.best: dict[int, Draft] = {}
        self.going: Callable[[], bool] = lambda: True

    def run(self, most: int, start: Draft | None = None, going: Callable[[], bool] = lambda: True) -> dict[int, Draft]:
        """Grow to at most `most` leaves, from `start` or from nothing, as long as `going` says so."""
        self.going = going
        self._keep(self._first() if start is None else self._at_length([start]))
        size, idle = min(self.best, default=most), 0
        while size < most and size in self.best and idle < PATIENCE and going():
            self._extend(size)
            gained = self.best[size].loss - self.best[size + 1].loss if size + 1 in self.best else 0.0
            idle = 0 if gained * self.problem.cases > LEAST_GAIN or self._lacking(self.best[size]) else idle + 1
            size += 1
        return self.best

    def _lacking(self, draft: Draft, without: int = -1) -> list[int]:
        kept = np.delete(draft.columns, without) if without >= 0 else draft.columns
        return [feature for feature in self.problem.required if feature not in self.problem.features[kept]]

    def _agrees(self, draft: Draft) -> bool:
        """Whether no gate joins two leaves whose bounds of andness exclude each other."""
        if not self.contrary:
            return True
        low, high = gate_bounds(self.problem, draft)
        return bool((low <= high).all())

    def complete(self) -> dict[int, Draft]:
        """Return the trees that use every required feature; the largest, if none does yet."""
        found = {m: draft for m, draft in self.best.items() if not self._lacking(draft) and self._agrees(draft)}
        return found or {max(self.best): self.best[max(self.best)]}

    def _keep(self, found: Draft | None) -> None:
        """Keep a draft that is the best of its size and uses as many of the required features as it has leaves for."""
        if found is None or len(self._lacking(found)) > max(len(self.problem.required) - found.leaves, 0):
            return
        if found.leaves not in self.best or found.loss < self.best[found.leaves].loss - ENOUGH:
            self.best[found.leaves] = found

    def _first(self) -> Draft | None:
        rate = self.problem.base_rate
        threshold = drafts.THRESHOLD - np.log(rate / (1.0 - rate)) / drafts.STEEPNESS
        blank = drafts.single(drafts.Literal(0, 1.0, 0.0), (drafts.STEEPNESS, float(np.clip(threshold, 0.0, 1.0))))
        return self._choose(blank, self.screen.replacements(blank, self._columns(blank, 0), np.array([0])))

    def _extend(self, size: int) -> None:
        draft = self.best[size]
        forced = bool(self._lacking(draft))
        self._keep(self._choose(draft, self.screen.insertions(draft, self._columns(draft), forced=forced)))
        if size + 1 in self.best and self.going():
            self._swap(size + 1)
            self._float(size + 1)

    def _columns(self, draft: Draft, without: int = -1) -> Ints:
        """Return the columns a new leaf may read: of required features first; without reuse, of those not used yet."""
        features, numbers = self.problem.features, self.problem.categories == 0  # codes are not screened
        lacking = self._lacking(draft, without)
        if lacking:
            return np.flatnonzero(np.isin(features, lacking) & numbers)
        if self.problem.reuse:
            return np.flatnonzero(numbers)
        used = np.delete(draft.columns, without) if without >= 0 else draft.columns
        return np.flatnonzero(~np.isin(features, features[used]) & numbers)

    def _choose(self, draft: Draft, proposals: Iterable[Proposal], most: int = CANDIDATES) -> Draft | None:
        """Refine the most promising proposals, different ones, shortly; the best of them at length."""
        tried: list[Draft] = []
        seen = set()
        forced = bool(self._lacking(draft))  # what is required may stand where it cannot stay, until there is more
        for proposal in proposals:
            key = proposal.leaf.column, proposal.node, proposal.leaf.slope > 0.0, proposal.andness > 0.5
            if key not in seen:
                seen.add(key)
                new = _put(draft, proposal)
                if forced or self._agrees(new):
                    tried.append(refine(self.problem, new, SHORT))
            if len(tried) == most or (tried and not self.going()):
                break
        return self._at_length(sorted(tried, key=_loss)[:FINALISTS])

    def _at_length(self, candidates: list[Draft]) -> Draft | None:
        best = min((refine(self.problem, draft, LONG) for draft in candidates), key=_loss, default=None)
        if best is None:
            return None
        return min(best, refine(self.problem, sharpen(self.problem, best), LONG), key=_loss)

    def _swap(self, size: int) -> None:
        draft, places = self.best[size], np.arange(size)
        if self.problem.reuse and not self.problem.required:
            found = self.screen.replacements(draft, self._columns(draft), places)
        else:
            each = (self.screen.replacements(draft, self._columns(draft, i), places[i : i + 1]) for i in range(size))
            found = merge(*each, key=lambda p: p.change)
        other = (p for p in found if p.leaf.column != draft.columns[p.node] or p.change < -ENOUGH)
        self._keep(self._choose(draft, other, SWAPS))

    def _float(self, size: int) -> None:
        """Try the tree without each of its leaves as the tree of the size below."""
        if size < 3:
            return
        without = [drafts.remove(self.best[size], i) for i in range(size)]
        shorter = [refine(self.problem, new, SHORT) for new in without if self._agrees(new)]
        best = min(shorter, key=_loss, default=None)
        if best is not None and best.loss < self.best[size - 1].loss + PROMISING:
            self._keep(self._at_length([best]))


def _put(draft: Draft, proposal: Proposal) -> Draft:
    if proposal.weight == REPLACE:
        return drafts.replace(draft, proposal.node, proposal.leaf)
    return drafts.insert(draft, proposal.node, proposal.leaf, proposal.weight, proposal.andness)


def _loss(draft: Draft) -> float:
    return draft.loss
