"""Peel: crisp chains solved by asking, again and again, which literal settles the most rows.

A left chain of and/or over literals (a decision list) has a literal that settles the output by itself: the one at its
top. Find a set S = {x > t} or {x <= t} whose rows all have one label, make it the top, go on with the rest of the rows:

    S has label 1:   x in S      or   the rest          S has label 0:   x not in S   and   the rest

Rows that some chain explains have such a set whatever was peeled before, so peeling pure sets, largest first, finds a
chain (Rivest, 1987). Under noise no set is pure: a second pass ranks sets by the Wilson lower bound of their purity.
Both peel to the end and are then cut back to where the description is shortest, that of the labels given the
chain plus that of the chain: rows * entropy(errors) + leaves * log(literals to choose from).
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import takewhile
from math import log, log1p, sqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from baconlogic.core import Bools, Floats, Ints
from baconlogic.kernel.compile import compiled
from baconlogic.kernel.loops import KNOWN_BELOW
from baconlogic.learn.search import draft as drafts
from baconlogic.learn.search.draft import CRISP, Draft, Literal
from baconlogic.learn.search.problem import Found, Problem, Request
from baconlogic.learn.search.refine import fit_link

Rows = NDArray[np.int32]

JOINS = (1.25, -0.25)  # the andness that joins a literal of label 0 (product) and of label 1 (its dual)
Z = 2.0  # standard deviations of the Wilson bound
TIED = 1e-9  # values closer than this are not cut apart
NEARLY = 0.01  # truths of a fixed column this close to 0 or 1 are read as them; a column with others is left alone
STEEPNESS = 12.0  # of the link of a chain: its truths are nearly 0 and 1
LOOKS = 5  # how often a pass may look at the whole table; rows that a chain explains take fewer
QUICK = 5e7  # values that are always looked at: less than a second


class Cuts(NamedTuple):
    """The rows that are not settled yet, sorted by every column, and the sets that may settle them."""

    X: Floats  # (columns, rows), of all rows that count
    y: NDArray[np.uint8]  # (rows,)
    weight: Floats  # (rows,), mean about 1
    order: Rows  # (columns, rows left): rows by rising value, missing ones last
    allowed: Bools  # (columns, 2, 2): whether {x <= t}, {x > t} may settle label 0, 1
    price: float  # of a leaf: log of the number of literals


def cuts_of(problem: Problem) -> Cuts:
    """Return the sorted rows of a problem and the sets that its directions and bounds of andness allow."""
    counts = np.flatnonzero(problem.share > 0.0)
    X = np.ascontiguousarray(problem.X[:, counts])
    given = ~problem.learned
    X[given] = np.rint(X[given])
    usable = problem.learned | (np.abs(problem.X - np.rint(problem.X)) <= NEARLY).all(axis=1)
    usable &= problem.categories == 0
    rising = np.eye(2, dtype=bool)  # of the leaf, by side and label
    direction = np.where(given, 1, problem.direction)[:, None, None]
    allowed = usable[:, None, None] & ((direction == 0) | (direction == np.where(rising, 1, -1)))
    for label, andness in enumerate(JOINS):
        allowed[:, :, label] &= ((problem.low <= andness) & (andness <= problem.high))[:, None]
    order = np.argsort(X, axis=1).astype(np.int32)
    cuts = sum(int((np.diff(values[rows]) > TIED).sum()) for values, rows in zip(X, order, strict=True))
    weight = problem.share[counts] * problem.rows
    return Cuts(X, problem.y[counts].astype(np.uint8), weight, order, allowed, log(max(4 * cuts, 2)))


@compiled(reassociate=False, inner=True)
def _bound(right: float, wrong: float) -> float:
    """Return Wilson's lower bound of the share of `right`."""
    n = right + wrong
    p = right / n
    return (p + 0.5 * Z * Z / n - Z * sqrt(p * (1.0 - p) / n + 0.25 * Z * Z / (n * n))) / (1.0 + Z * Z / n)


@compiled(reassociate=False, inner=True)
def _score(zeros: float, ones: float, other: int, rates: Floats, allowed: Bools, strict: bool) -> float:
    """Return how well a set settles its majority's label; -1 when it does not, or not purely although that is asked.

    Sets that surely settle more than chance come before all others. `other` is the number of rows of the minority.
    """
    label = 1 if ones > zeros else 0
    right, wrong = max(ones, zeros), min(ones, zeros)
    if not allowed[label] or (strict and other > 0) or right <= (rates[label] + 1e-12) * (right + wrong):
        return -1.0
    bound = _bound(right, wrong)
    return bound + 1.0 if bound > rates[label] else bound


@compiled(reassociate=False, inner=True)
def _best_set(
    cuts: Cuts, column: int, every: tuple[float, float, int], rates: Floats, strict: bool
) -> tuple[float, int]:
    """Return the best score on a column and its place: k for the k lowest rows, -k for all known ones but those.

    `every` is the weight of all rows, that of label 1, and how many rows have it.
    """
    x, y, weight, order = cuts.X[column], cuts.y, cuts.weight, cuts.order[column]
    low, high = cuts.allowed[column, 0], cuts.allowed[column, 1]
    known, (total, total_ones, count) = order.size, every
    while known and x[order[known - 1]] >= KNOWN_BELOW:
        known -= 1
        row = order[known]
        total -= weight[row]
        total_ones -= weight[row] * y[row]
        count -= y[row]
    best, place = -1.0, 0
    below, ones, count_below = 0.0, 0.0, 0
    for k in range(1, known):
        row = order[k - 1]
        below += weight[row]
        if y[row]:
            ones += weight[row]
            count_below += 1
        if x[order[k]] - x[row] > TIED:
            score = _score(below - ones, ones, min(count_below, k - count_below), rates, low, strict)
            if score > best:
                best, place = score, k
            above, count_above = total_ones - ones, count - count_below
            other = min(count_above, known - k - count_above)
            score = _score(total - below - above, above, other, rates, high, strict)
            if score > best:
                best, place = score, -k
    return best, place


@compiled(reassociate=False)
def scan(cuts: Cuts, rates: Floats, strict: bool) -> tuple[Floats, Ints]:
    """Return each column's best score, for all its cuts at once, and its place; -1 where no set settles anything."""
    columns = len(cuts.order)
    found, place = np.full(columns, -1.0), np.zeros(columns, np.int64)
    total, ones, count = 0.0, 0.0, 0
    for row in cuts.order[0]:
        total += cuts.weight[row]
        ones += cuts.weight[row] * cuts.y[row]
        count += cuts.y[row]
    for j in range(columns):
        if cuts.allowed[j].any():
            found[j], place[j] = _best_set(cuts, j, (total, ones, count), rates, strict)
    return found, place


@compiled(reassociate=False)
def keep(order: Rows, left: Bools, count: int) -> Rows:
    """Return the sorted rows of each column, only those that are left."""
    kept = np.empty((order.shape[0], count), np.int32)
    for j in range(order.shape[0]):
        k = 0
        for r in order[j]:
            if left[r]:
                kept[j, k] = r
                k += 1
    return kept


class Rule(NamedTuple):
    """One set that settles its rows: those not settled before with x > cut (side 1) or x <= cut (side -1)."""

    column: int
    side: int
    cut: float
    label: int  # the label of its rows
    reach: float  # from the cut to the nearest value of a row not settled before

    def holds(self, X: Floats) -> Bools:
        """Return which rows of (columns, rows) are in the set; a missing value is in none."""
        x = X[self.column]
        return np.asarray((x > self.cut) & (x < KNOWN_BELOW) if self.side > 0 else x <= self.cut)


@dataclass(frozen=True, eq=False)
class Chain:
    """A crisp chain: from the top, the first rule that holds a row labels it; `rest` labels the others."""

    draft: Draft  # the same as a graded tree, within 1e-3 on the rows it was peeled from; the last rule is leaf 0
    rules: tuple[Rule, ...]  # top first
    rest: int
    errors: float  # the weighted share of rows with another label

    @property
    def exact(self) -> bool:
        """Whether every row gets its label."""
        return self.errors == 0.0


def peel(problem: Problem, most: int | None = None) -> Chain:
    """Return the crisp chain of at most `most` leaves that describes the labels best.

    An exact chain that uses each feature once is taken at its word. Leaves keep to the directions, the bounds of
    andness and the reuse that the problem allows; `required` is not looked at.
    """
    if most is not None and most < 1:
        raise ValueError(f"a chain has at least one leaf, got most={most}; leave it out for as many as it takes")
    cuts = cuts_of(problem)
    pure = _Pass(problem, cuts, most, strict=True).run()
    if pure.errors == 0.0 and pure.once:
        return _chain(problem, cuts, pure.rules)
    tolerant = _Pass(problem, cuts, most, strict=False).run()
    return _chain(problem, cuts, min(pure, tolerant, key=lambda prefix: prefix.description).rules)


class _Prefix(NamedTuple):
    """Rules, the weight of what they get wrong, and the length of the description."""

    rules: list[Rule]
    errors: float
    once: bool  # whether each feature is used once
    description: float


class _Pass:
    """One pass: peels set after set and remembers the prefix with the shortest description."""

    def __init__(self, problem: Problem, cuts: Cuts, most: int | None, *, strict: bool) -> None:
        self.problem, self.cuts, self.strict = problem, cuts, strict
        self.most = len(cuts.y) if most is None else most
        self.left = np.ones(len(cuts.y), dtype=bool)
        self.rules: list[Rule] = []
        self.settled_wrong = 0.0
        self.looks = max(LOOKS * cuts.order.size, QUICK)

    def run(self) -> _Prefix:
        """Peel until the rest is pure, nothing settles anything, or more leaves cannot pay."""
        best = self._state()
        while True:
            now = self._state()
            if now.description < best.description or (self.strict and now.once and now.errors == 0.0):
                best = now
            could = self._description(self.settled_wrong, len(self.rules) + 1)
            pure = np.bincount(self.cuts.y[self.left], minlength=2).min() == 0
            if pure or (could >= best.description and not (self.strict and now.once)):
                return best
            self.looks -= self.cuts.order.size
            rule = self._next() if self.looks >= 0 else None
            if rule is None:
                return best
            self._settle(rule)

    def _state(self) -> _Prefix:
        weights = np.bincount(self.cuts.y[self.left], self.cuts.weight[self.left], minlength=2)
        errors = self.settled_wrong + float(weights.min())
        features = [self.problem.features[rule.column] for rule in self.rules]
        description = self._description(errors, len(self.rules))
        return _Prefix(list(self.rules), errors, len(set(features)) == len(features), description)

    def _description(self, errors: float, leaves: int) -> float:
        rows = float(self.cuts.weight.sum())
        p = min(max(errors / rows, 1e-300), 0.5)
        return -rows * (p * log(p) + (1.0 - p) * log1p(-p)) + leaves * self.cuts.price

    def _allowed(self) -> Bools:
        """Return which sets may come next: without reuse, or with no leaf left, only wider ones of the last label."""
        full = len(self.rules) >= self.most
        if self.problem.reuse and not full:
            return self.cuts.allowed
        features = self.problem.features
        used = np.isin(features, [features[rule.column] for rule in self.rules]) | full
        allowed = self.cuts.allowed & ~used[:, None, None]
        for rule in self._last_block():
            allowed[rule.column, (rule.side + 1) // 2, rule.label] = True
        return allowed

    def _last_block(self) -> list[Rule]:
        """Return the last rules that have one label: their order makes no difference."""
        return [*takewhile(lambda rule: rule.label == self.rules[-1].label, reversed(self.rules))][::-1]

    def _next(self) -> Rule | None:
        t = self.cuts
        weights = np.bincount(t.y[self.left], t.weight[self.left], minlength=2)
        found, place = scan(t._replace(allowed=self._allowed()), weights / weights.sum(), self.strict)
        if found.max(initial=-1.0) < 0.0:
            return None
        column = int(found.argmax())
        rows = t.order[column][t.X[column, t.order[column]] < KNOWN_BELOW]
        k, side = abs(int(place[column])), -1 if place[column] > 0 else 1
        inside = rows[:k] if side < 0 else rows[k:]
        ones = float(t.weight[inside] @ t.y[inside])
        label = int(ones > t.weight[inside].sum() - ones)
        if not self.strict:
            k = self._best_cut(column, rows, k, side, label)
        low, high = t.X[column, rows[k - 1]], t.X[column, rows[k]]
        return Rule(column, side, float(low + (high - low) / 2.0), label, float((high - low) / 2.0))

    def _best_cut(self, column: int, rows: Rows, k: int, side: int, label: int) -> int:
        """Return where the share of a label changes, most likely, from that of the set to that of the rest."""
        t = self.cuts
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

    def _settle(self, rule: Rule) -> None:
        """Take a rule; it replaces a narrower set of the same column and side among the last rules of one label."""
        t = self.cuts
        inside = self.left & rule.holds(t.X)
        self.settled_wrong += float(t.weight[inside & (t.y != rule.label)].sum())
        self.left &= ~inside
        self.cuts = t._replace(order=keep(t.order, self.left, int(self.left.sum())))
        for i in range(len(self.rules) - len(self._last_block()), len(self.rules)):
            old = self.rules[i]
            if (old.column, old.side, old.label) == (rule.column, rule.side, rule.label):
                self.rules[i] = rule
                return
        self.rules.append(rule)


def _chain(problem: Problem, cuts: Cuts, rules: list[Rule]) -> Chain:
    """Return the chain of some rules, less what changes nothing at its end."""
    left = np.ones(len(cuts.y), dtype=bool)
    kept, wrong = [], 0.0
    for rule in rules:
        inside = left & rule.holds(cuts.X)
        if not inside.any():  # a rule before it was made wider
            continue
        wrong += float(cuts.weight[inside & (cuts.y != rule.label)].sum())
        kept.append(rule)
        left &= ~inside
    weights = np.bincount(cuts.y[left], cuts.weight[left], minlength=2)
    rest = int(weights[1] > weights[0])
    while kept and kept[-1].label == rest:
        kept.pop()
    if len(kept) > 1:  # the last leaf enters the gate of the one before it
        column, andness = kept[-1].column, JOINS[kept[-2].label]
        if not problem.low[column] <= andness <= problem.high[column]:
            return _chain(problem, cuts, kept[:-1])
    errors = (wrong + float(weights[1 - rest])) / float(cuts.weight.sum())
    return Chain(_draft(problem, kept, rest), tuple(kept), rest, errors)


def _draft(problem: Problem, rules: list[Rule], rest: int) -> Draft:
    """Return the chain as a tree; leaves are steeper the more there are, so that their errors sum to less than 1e-3."""
    if not rules:
        return drafts.single(Literal(0, 1.0, 0.0), (STEEPNESS, -1.0 if rest else 2.0))
    ends = CRISP + log(len(rules))
    leaves = []
    for rule in reversed(rules):
        sign = 1.0 if (rule.side > 0) == (rule.label == 1) else -1.0  # the leaf is x in S, or under label 0 x not in S
        neutral = -ends if rule.label else ends  # a missing value settles nothing
        missing = neutral if (problem.X[rule.column] >= KNOWN_BELOW).any() else 0.0
        leaves.append(Literal(rule.column, sign * ends / rule.reach, rule.cut, missing))
    andness = np.array([JOINS[rule.label] for rule in reversed(rules[:-1])])
    return drafts.chain(leaves, np.full(len(andness), 0.5), andness, (STEEPNESS, 0.5))


def covers(problem: Problem, chain: Chain) -> bool:
    """Whether a chain is one, and uses every required feature."""
    return bool(chain.rules) and problem.granted(chain.draft)


class Peel(BaseEstimator):  # type: ignore[misc]
    """Search for crisp chains alone."""

    def find(self, problem: Problem, request: Request) -> Found:
        """Return the chain as the one tree found."""
        chain = peel(problem.crisp(), request.most)
        draft = linked(problem, chain)
        told = "exact chain" if chain.exact else f"chain with {100.0 * chain.errors:.1f}% of the cases against it"
        return Found({draft.leaves: draft}, told)


def linked(problem: Problem, chain: Chain) -> Draft:
    """Return the draft of a chain with its link fitted, which one that explains all rows does not need."""
    if chain.exact and np.isin(problem.y, (0.0, 1.0)).all():
        return chain.draft._replace(loss=0.0)
    return fit_link(problem, chain.draft)


def peel_again(problem: Problem, draft: Draft, most: int | None) -> Draft:
    """Return the chain of all rows for one that was found on a sample of them, where there is one."""
    chain = peel(problem.crisp(), most)
    return linked(problem, chain) if covers(problem, chain) else draft
