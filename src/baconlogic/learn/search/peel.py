"""Peeling: crisp chains solved by asking, again and again, which literal settles the most rows.

A left chain of and/or over literals (a decision list) has a literal that settles the output by itself: the one at its
top. Find a set S = {x > t} or {x <= t} whose rows all have one label, make it the top, go on with the rest of the rows:

    S has label 1:   x in S      or   the rest          S has label 0:   x not in S   and   the rest

Rows that some chain explains have such a set whatever was peeled before, so peeling pure sets, largest first, finds a
chain (Rivest, 1987). Under noise no set is pure: a second pass ranks sets by the Wilson lower bound of their purity.
Both peel to the end and are then cut back to where the description is shortest, that of the labels given the
chain plus that of the chain: rows * entropy(errors) + leaves * log(literals to choose from).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import log, log1p
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from sklearn.base import BaseEstimator

from baconlogic.kernel.loops import KNOWN_BELOW
from baconlogic.learn.search import cuts
from baconlogic.learn.search import draft as drafts
from baconlogic.learn.search.cuts import JOINS, TIED
from baconlogic.learn.search.draft import CRISP, Leaf
from baconlogic.learn.search.fixed import fit_link
from baconlogic.learn.search.protocol import Found, Scored

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from baconlogic.learn.search.cuts import Rows, Table
    from baconlogic.learn.search.draft import Draft
    from baconlogic.learn.search.problem import Problem
    from baconlogic.learn.search.protocol import Ask

    Bools = NDArray[np.bool_]
    Floats = NDArray[np.float64]

STEEPNESS = 12.0  # of the link of a chain: its truths are nearly 0 and 1
LOOKS = 5  # how often a pass may look at the whole table; rows that a chain explains take fewer
QUICK = 5e7  # values that are always looked at: less than a second


class Step(NamedTuple):
    """One set that settles its rows: those not settled before with x > cut (side 1) or x <= cut (side -1)."""

    column: int
    side: int
    cut: float
    label: int  # the label of its rows
    reach: float = 0.0  # from the cut to the nearest value of a row not settled before
    purity: float = 0.0  # the weighted share of its rows that have the label
    rows: float = 0.0  # how many it settles, by weight

    def holds(self, X: Floats) -> Bools:
        """Return which rows of (columns, rows) are in the set; a missing value is in none."""
        x = X[self.column]
        return np.asarray((x > self.cut) & (x < KNOWN_BELOW) if self.side > 0 else x <= self.cut)

    @property
    def rising(self) -> bool:
        """Whether the leaf, x in S under label 1 and x not in S under label 0, grows with the column."""
        return (self.side > 0) == (self.label == 1)


@dataclass(frozen=True, eq=False)
class Chain:
    """A crisp chain: from the top, the first step that holds a row labels it; `rest` labels the others."""

    draft: Draft  # the same as a graded tree, within 1e-3 on the rows it was peeled from; the last step is leaf 0
    steps: tuple[Step, ...]  # top first
    rest: int
    errors: float  # the weighted share of rows with another label

    @property
    def exact(self) -> bool:
        """Whether every row gets its label."""
        return self.errors == 0.0

    def predict(self, problem: Problem) -> Bools:
        """Return the crisp labels of the rows of a problem with the same columns."""
        labels = np.full(problem.rows, self.rest == 1)
        for step in reversed(self.steps):
            labels[step.holds(problem.X)] = step.label == 1
        return labels


def peel(problem: Problem, most: int | None = None) -> Chain:
    """Return the crisp chain of at most `most` leaves that describes the labels best.

    An exact chain that uses each feature once is taken at its word. Leaves keep to the directions, the bounds of
    andness and the reuse that the problem allows; `required` is not looked at.
    """
    if most is not None and most < 1:
        raise ValueError(f"a chain has at least one leaf, got most={most}; leave it out for as many as it takes")
    table = cuts.table(problem)
    pure = _Peeling(problem, table, most, strict=True).run()
    if pure.errors == 0.0 and pure.once:
        return _chain(problem, table, pure.steps)
    tolerant = _Peeling(problem, table, most, strict=False).run()
    return _chain(problem, table, min(pure, tolerant, key=lambda found: found.description).steps)


class _Found(NamedTuple):
    """Steps, the weight of what they get wrong, and the length of the description."""

    steps: list[Step]
    errors: float
    once: bool  # whether each feature is used once
    description: float


class _Peeling:
    """One pass: peels set after set and remembers the prefix with the shortest description."""

    def __init__(self, problem: Problem, table: Table, most: int | None, *, strict: bool) -> None:
        self.problem, self.table, self.strict = problem, table, strict
        self.most = len(table.y) if most is None else most
        self.order = table.order
        self.left = np.ones(len(table.y), dtype=bool)
        self.steps: list[Step] = []
        self.settled_wrong = 0.0
        self.looks = max(LOOKS * table.order.size, QUICK)

    def run(self) -> _Found:
        """Peel until the rest is pure, nothing settles anything, or more leaves cannot pay."""
        best = self._state()
        while True:
            now = self._state()
            if now.description < best.description or (self.strict and now.once and now.errors == 0.0):
                best = now
            could = self._description(self.settled_wrong, len(self.steps) + 1)
            if self._minority() == 0 or (could >= best.description and not (self.strict and now.once)):
                return best
            self.looks -= self.order.size
            step = self._next() if self.looks >= 0 else None
            if step is None:
                return best
            self._settle(step)

    def _minority(self) -> int:
        return int(min(np.bincount(self.table.y[self.left], minlength=2)))

    def _state(self) -> _Found:
        weights = np.bincount(self.table.y[self.left], self.table.weight[self.left], minlength=2)
        errors = self.settled_wrong + float(weights.min())
        features = [self.problem.features[step.column] for step in self.steps]
        once = len(set(features)) == len(features)
        return _Found(list(self.steps), errors, once, self._description(errors, len(self.steps)))

    def _description(self, errors: float, leaves: int) -> float:
        rows = float(self.table.weight.sum())
        p = min(max(errors / rows, 1e-300), 0.5)
        return -rows * (p * log(p) + (1.0 - p) * log1p(-p)) + leaves * self.table.price

    def _allowed(self) -> Bools:
        """Return which sets may come next: without reuse, or with no leaf left, only wider ones of the last label."""
        full = len(self.steps) >= self.most
        if self.problem.reuse and not full:
            return self.table.allowed
        features = self.problem.features
        used = np.isin(features, [features[step.column] for step in self.steps]) | full
        allowed = self.table.allowed & ~used[:, None, None]
        for step in self._last_block():
            allowed[step.column, (step.side + 1) // 2, step.label] = True
        return allowed

    def _last_block(self) -> list[Step]:
        """Return the last steps that have one label: their order makes no difference."""
        first = len(self.steps)
        while first and self.steps[first - 1].label == self.steps[-1].label:
            first -= 1
        return self.steps[first:]

    def _next(self) -> Step | None:
        t, columns = self.table, len(self.table.X)
        weights = np.bincount(t.y[self.left], t.weight[self.left], minlength=2)
        found, place = np.empty(columns), np.zeros(columns, np.int64)
        rates = weights / weights.sum()
        cuts.scan(t.X, t.y, t.weight, self.order, self._allowed(), self.strict, rates, found, place)
        if found.max(initial=-1.0) < 0.0:
            return None
        column = int(found.argmax())
        rows = self.order[column]
        rows = rows[t.X[column, rows] < KNOWN_BELOW]
        k, side = abs(int(place[column])), -1 if place[column] > 0 else 1
        inside = rows[:k] if side < 0 else rows[k:]
        ones = float(t.weight[inside] @ t.y[inside])
        label = int(ones > t.weight[inside].sum() - ones)
        if not self.strict:
            k = self._best_cut(column, rows, k, side, label)
        low, high = t.X[column, rows[k - 1]], t.X[column, rows[k]]
        return Step(column, side, float(low + (high - low) / 2.0), label, float((high - low) / 2.0))

    def _best_cut(self, column: int, rows: Rows, k: int, side: int, label: int) -> int:
        """Return where the share of a label changes, most likely, from that of the set to that of the rest."""
        t = self.table
        right, weight = t.y[rows] == label, t.weight[rows]
        inside = np.arange(len(rows)) < k if side < 0 else np.arange(len(rows)) >= k
        n = weight[inside].sum()
        pure = min(float(weight[inside & right].sum() / n), 1.0 - 0.5 / (n + 1.0))
        rest = max(float(weight[~inside & right].sum() / weight[~inside].sum()), 0.5 / (n + 1.0))
        if rest >= pure:
            return k
        gain = weight * np.where(right, log(pure / rest), log((1.0 - pure) / (1.0 - rest)))
        gains = -side * np.cumsum(gain)[:-1]
        return int(np.where(np.diff(t.X[column, rows]) > TIED, gains, -np.inf).argmax()) + 1

    def _settle(self, step: Step) -> None:
        """Take a step; it replaces a narrower set of the same column and side among the last steps of one label."""
        t = self.table
        inside = self.left & step.holds(t.X)
        self.settled_wrong += float(t.weight[inside & (t.y != step.label)].sum())
        self.left &= ~inside
        self.order = cuts.keep(self.order, self.left, int(self.left.sum()))
        start = len(self.steps) - len(self._last_block())
        for i in range(start, len(self.steps)):
            old = self.steps[i]
            if (old.column, old.side, old.label) == (step.column, step.side, step.label):
                self.steps[i] = step
                return
        self.steps.append(step)


def _chain(problem: Problem, table: Table, steps: list[Step]) -> Chain:
    """Return the chain of some steps, less what changes nothing at its end."""
    left = np.ones(len(table.y), dtype=bool)
    described, wrong = [], 0.0
    for step in steps:
        inside = left & step.holds(table.X)
        if not inside.any():  # a step before it was made wider
            continue
        rows = float(table.weight[inside].sum())
        right = float(table.weight[inside & (table.y == step.label)].sum())
        wrong += float(table.weight[inside & (table.y != step.label)].sum())
        described.append(step._replace(purity=right / rows, rows=rows))
        left &= ~inside
    weights = np.bincount(table.y[left], table.weight[left], minlength=2)
    rest = int(weights[1] > weights[0])
    while described and described[-1].label == rest:
        described.pop()
    if len(described) > 1:  # the last leaf enters the gate of the one before it
        column, andness = described[-1].column, JOINS[described[-2].label]
        if not problem.low[column] <= andness <= problem.high[column]:
            return _chain(problem, table, described[:-1])
    errors = (wrong + float(weights[1 - rest])) / float(table.weight.sum())
    return Chain(_draft(problem, described, rest), tuple(described), rest, errors)


def _draft(problem: Problem, steps: list[Step], rest: int) -> Draft:
    """Return the chain as a tree; leaves are steeper the more there are, so that their errors sum to less than 1e-3."""
    if not steps:
        return drafts.single(Leaf(0, 1.0, 0.0), STEEPNESS, -1.0 if rest else 2.0)
    ends = CRISP + log(len(steps))
    leaves = []
    for step in reversed(steps):
        sign = 1.0 if step.rising else -1.0
        neutral = -ends if step.label else ends  # a missing value settles nothing
        holes = (problem.X[step.column] >= KNOWN_BELOW).any()
        leaves.append(Leaf(step.column, sign * ends / step.reach, step.cut, neutral if holes else 0.0))
    andness = np.array([JOINS[step.label] for step in reversed(steps[:-1])])
    return drafts.chain(leaves, np.full(len(andness), 0.5), andness, STEEPNESS, 0.5)


def covers(problem: Problem, chain: Chain) -> bool:
    """Whether a chain is one, and uses every required feature."""
    return bool(chain.steps) and problem.granted(chain.draft)


class Peel(BaseEstimator):  # type: ignore[misc]
    """Search for crisp chains alone."""

    def find(self, problem: Problem, ask: Ask) -> Found:
        """Return the chain as the one tree found."""
        _, found = self.chain(problem, ask)
        return found

    def chain(self, problem: Problem, ask: Ask, *, by_majority: bool = False) -> tuple[Chain, Found]:
        """Return the chain, of all cases or of what most cases of each row say, and what it is worth."""
        cases = replace(problem, y=np.round(problem.y)) if by_majority else problem.crisp()
        chain = peel(cases, ask.most)
        crisp = chain.exact and np.isin(problem.y, (0.0, 1.0)).all()
        loss, draft = (0.0, chain.draft) if crisp else fit_link(problem, chain.draft)
        ended = "exact chain" if chain.exact else f"chain with {100.0 * chain.errors:.1f}% of the cases against it"
        return chain, Found({draft.leaves: Scored(loss, draft)}, ended)
