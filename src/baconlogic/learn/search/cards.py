"""Cards: the search for trees that fit on an index card: a root over groups over conditions, round numbers.

From the best card of each size: a condition as its own item or into a group, a pair or a triple as a new group; then
each condition is swapped for the best in its place, cuts move to where the loss is least, and each condition is dropped
in turn. Every candidate is judged by a regression on all its items, never by its promise alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import pairwise
from math import log

import numpy as np
from sklearn.base import BaseEstimator

from baconlogic.core import Bools, Floats, Ints, gcd
from baconlogic.kernel.compile import interruptible
from baconlogic.learn.column import CATEGORY
from baconlogic.learn.search import card as cards
from baconlogic.learn.search.card import ALL, ANY, COUNT, LONG, RIDGE, SUM, Card, Clause, Hand, hope, regress
from baconlogic.learn.search.conditions import BAND, CUT, TRUTHS, Condition, joined_band, round_between, round_in_gap
from baconlogic.learn.search.graded import graded
from baconlogic.learn.search.grid import CRISP, EVERY, PLAIN, Grid, Place
from baconlogic.learn.search.problem import Finished, Found, Problem, Request

ITEMS, PAIRS, INTO = 4, 2, 3  # candidates of each kind that are fitted
QUICK = 5  # steps of Newton's method
LEAST_GAIN = 2.0  # log-likelihood that a size should gain: chance gives as much
PATIENCE, EARLY = 2, 4  # sizes in a row that gain less end the growth; where little adds up, evidence may come together
FEW = 10  # conditions that are little
FIRST = 2  # sizes that every kind of card is grown to
ENOUGH = 0.05  # log-likelihood: a smaller gain is none
SHORT = 0.002  # of the range of a column: a mark of three digits may be so far off
APART = 0.03  # share of cases between two cuts on a column
NEARLY = 0.5  # log-likelihood that a rounder cut may cost
GRADED = "graded"  # smooth, grown by itself and out of the best card of each size: see `graded`
KINDS = {  # the root, the shapes of conditions, and whether there are groups
    "plain": (SUM, PLAIN, False),
    "points": (SUM, EVERY, False),
    "groups": (SUM, EVERY, True),
    "checklist": (COUNT, CRISP, False),
    "any": (ANY, CRISP, True),
    "all": (ALL, CRISP, True),
}
FORMS = {  # the kinds of cards of each
    "auto": ("plain", "groups", "checklist", "any", "all", GRADED),
    "checklist": ("checklist",),
    "scorecard": ("plain", "groups"),
    "rules": ("any", "all"),
    "graded": (GRADED,),
}
USUAL, PARTS = FORMS["auto"], ("plain", "points")
STAYING, FAR = ("plain", GRADED), 3.0  # kinds that folds are asked about unless they are behind so many times as much


class Cards(BaseEstimator):  # type: ignore[misc]
    """Search for cards. `max_leaves` is the largest size where the classifier states none."""

    def __init__(self, *, max_leaves: int = 10, kinds: tuple[str, ...] = USUAL) -> None:
        self.max_leaves = max_leaves
        self.kinds = kinds

    def find(self, problem: Problem, request: Request) -> Found:
        """Return the best cards of each kind and size."""
        found: dict[tuple[str, int], Finished] = {}
        interrupted = False
        try:
            with interruptible():
                self._fill(found, _Sheet(problem), request)
        except KeyboardInterrupt:
            if not found:
                raise
            interrupted = True
        size = max((size for _, size in found), default=0)
        ended = "interrupted" if interrupted else f"cards of up to {size} {'condition' if size == 1 else 'conditions'}"
        return Found({}, ended, interrupted, cards=found, folds=self._worthwhile(problem, found))

    def _fill(self, found: dict[tuple[str, int], Finished], table: _Sheet, request: Request) -> None:
        """Fill in the best cards of each kind and size as they come."""
        most, reached = request.most or self.max_leaves, dict[int, float]()
        starts = dict[tuple[int, str], tuple[float, Hand]]()
        steep = not len(table.grid.ramps) and "groups" in self.grown  # what is plain is what any other kind has
        for kind in (kind for kind in self.grown if not (steep and kind == "plain")):
            grower = _Builder(table, kind, most, request.going)
            try:
                grower.run(reached)
            finally:
                new = grower.complete()
                hands = {size: table.hand(card) for size, card in new.items()}
                if kind in self.kinds or not request.going():
                    found |= {(kind, size): hand for size, hand in hands.items()}
            for size, card in new.items():
                reached[size] = min(reached.get(size, np.inf), card.loss)
                starts[size, kind] = card.loss, hands[size]
            if not request.going():
                return
        if GRADED in self.kinds:
            behind = hope(table.problem)
            near = [hand for (size, _), (loss, hand) in starts.items() if loss <= reached[size] + behind]
            for smooth in graded(table.problem, near, request, most, means=len(self.kinds) > 1):
                found[GRADED, smooth.leaves] = smooth
        if not found:  # nothing is smooth
            best = {size: hand for (size, _), (_, hand) in sorted(starts.items(), key=lambda start: -start[1][0])}
            found |= {(GRADED, size): hand for size, hand in (best or {1: table.hand(table.first())}).items()}

    @property
    def grown(self) -> tuple[str, ...]:
        """The kinds that are grown: graded cards take their structure from others."""
        return tuple(kind for kind in self.kinds if kind != GRADED) or tuple(kind for kind in USUAL if kind != GRADED)

    def _worthwhile(self, problem: Problem, found: Mapping[tuple[str, int], Finished]) -> Cards:
        """Return the search for those kinds that lose no more on rows they have seen than chance may make up for.

        What is smooth or plain fits the rows seen less well, and others as well or better: such cards stay longer.
        """
        losses = {kind: min(hand.loss for (own, _), hand in found.items() if own == kind) for kind, _ in found}
        least, behind = min(losses.values(), default=0.0), hope(problem)
        bounds = {kind: least + behind * (FAR if kind in STAYING else 1.0) for kind in losses}
        kinds = tuple(kind for kind in self.kinds if kind in losses and losses[kind] <= bounds[kind])
        return Cards(max_leaves=self.max_leaves, kinds=kinds)


class _Sheet:
    """The rows of a problem, its grid, and what conditions and groups say of the rows."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.y, self.weight = problem.y, problem.share * problem.cases
        self.columns = problem.table
        self.grid = Grid(self.columns, self.weight, problem.directions, RIDGE)
        self._said: dict[Condition | Clause, Floats] = {}
        self._orders: dict[int, Ints] = {}
        self._last: tuple[Card | None, Floats, Floats] = None, self.y, self.y  # slopes of the last card asked for
        self.ones, self.zeros = np.ones(problem.rows), np.zeros(problem.rows)
        self.start = log(problem.base_rate / (1.0 - problem.base_rate))
        first = self.grid.views.first
        self._plain = [self.grid.ramps[a] if a < b else None for a, b in pairwise(first)]

    def order(self, column: int) -> Ints:
        """Return the rows whose value is known, by rising value."""
        if column not in self._orders:
            x = self.columns[column].values
            self._orders[column] = np.argsort(x, kind="stable")[: int((~np.isnan(x)).sum())]
        return self._orders[column]

    def said(self, what: Condition | Clause) -> Floats:
        """Return the truths of a condition or a group."""
        known = self._said.get(what)
        if known is None:
            if isinstance(what, Condition):
                known = what.truths(self.columns[what.column])
            else:
                known = cards.group_truths(what, [self.said(condition) for condition in what.conditions])
            self._said[what] = known
        return known

    def items(self, card: Card) -> Floats:
        """Return what the regression of a card is on, (items, rows)."""
        groups = [self.said(group) for group in card.groups]
        return np.array(groups) if card.root == SUM else cards.joined(card.root, groups)[None]

    def fit(self, card: Card, steps: int = QUICK) -> Card:
        """Return the card with its coefficients learned."""
        items = self.items(card)
        values = np.zeros(len(items) + 1)
        values[0] = self.start
        if len(card.values) <= len(values):
            values[: len(card.values)] = card.values
        loss = regress(items, self.y, self.weight, RIDGE, values, steps)
        for condition in card.conditions:
            loss += cards.price(condition, int(self.grid.views.sizes[condition.column]), self._plain[condition.column])
        return card._replace(values=values, loss=float(loss))

    def first(self) -> Card:
        """Return a card of one condition, whatever it says: for columns of which none gains anything."""
        column = self.columns[0]
        if column.kind == CATEGORY:
            condition = Condition(0, TRUTHS, (1.0, *(0.0 for _ in column.categories)))
        else:
            condition = Condition(0, CUT, (float(round_between(*np.quantile(column.known, (0.4, 0.6)))),))
        return self.fit(Card(SUM, (Clause(ALL, (condition,)),), np.zeros(0)))

    def slopes(self, card: Card) -> tuple[Floats, Floats]:
        """Return slope and curvature of the log-likelihood in each row's decision value."""
        if self._last[0] is not card:
            u = np.full(len(self.y), card.values[0]) + (card.values[1:] @ self.items(card) if card.groups else 0.0)
            p = 1.0 / (1.0 + np.exp(-np.clip(u, -40.0, 40.0)))
            self._last = card, self.weight * (self.y - p), self.weight * np.maximum(p * (1.0 - p), 1e-4)
        return self._last[1:]

    def place(self, card: Card, at: int, rest: tuple[Floats, Floats]) -> Place:
        """Return the place of a condition in group `at`, which says rest[0] + rest[1] v; a new one if there is none."""
        g, h = self.slopes(card)
        inner, slope = rest
        others = [self.said(group) for i, group in enumerate(card.groups) if i != at]
        sign = 0 if card.root == SUM else 1
        if card.root == SUM:
            gone = card.values[1 + at] * self.said(card.groups[at]) if at < len(card.groups) else self.zeros
            return Place(g + h * gone, h, inner, slope, sign)
        gone = card.values[1] * self.items(card)[0] if card.groups else self.zeros
        if card.root == COUNT:
            n = len(others) + 1
            a, q = (sum(others, self.zeros) + inner) / n, slope / n
        elif card.root == ANY:
            f = np.prod([1.0 - other for other in others], axis=0) if others else self.ones
            a, q = 1.0 - f * (1.0 - inner), f * slope
        else:
            f = np.prod(others, axis=0) if others else self.ones
            a, q = f * inner, f * slope
        return Place(g + h * gone, h, np.asarray(a), np.asarray(q), sign)

    def hand(self, card: Card) -> Hand:
        """Return a card as a person gets it."""
        return cards.hand_of(self.problem, card, self.items(card)).stated(self.columns)


class _Builder:
    """Grows cards of one kind; `best[m]` is the best card of m conditions so far."""

    def __init__(self, table: _Sheet, kind: str, most: int, going: Callable[[], bool]) -> None:
        self.table, self.most, self.going = table, most, going
        self.root, self.shapes, self.grouped = KINDS[kind]
        problem = table.problem
        self.demands = [{feature} for feature in problem.required] + [set(own) for _, own in problem.parts]
        self.best: dict[int, Card] = {}

    def run(self, reached: dict[int, float]) -> None:
        """Grow to the largest size, as long as it pays, and is not too far behind what was reached by other kinds."""
        t = self.table
        rate = t.problem.base_rate
        nothing = -float(t.weight.sum()) * (rate * log(rate) + (1.0 - rate) * log(1.0 - rate))
        self.best[0] = Card(self.root, (), np.array([t.start]), nothing)
        size, idle, behind = 0, 0, list[float]()
        while size < self.most and (self.going() or len(self.best) == 1):
            if idle >= (EARLY if self.root == SUM and size < FEW else PATIENCE):
                break
            if size in self.best:
                for candidate in self._candidates(self.best[size]):
                    self._keep(t.fit(candidate))
            size += 1
            if size in self.best:
                self._swap(size)
                self._drop(size)
                before = min(card.loss for m, card in self.best.items() if m < size)
                idle = 0 if before - self.best[size].loss > LEAST_GAIN else idle + 1
                behind.append(self.best[size].loss - reached.get(size, np.inf))
                if self.root != SUM and size > FIRST and min(behind[-2:]) > hope(t.problem):
                    break
            else:
                idle += 1

    def complete(self) -> dict[int, Card]:
        """Return the cards that use every required feature, if any does, each cut where the loss is least."""
        found = {m: card for m, card in self.best.items() if m}
        whole = {m: card for m, card in found.items() if not self._lacking(card)}
        for m, card in (whole or found).items():
            sharp = self._sharpened(card)
            if sharp is not card and (self.root == SUM or sharp.values[1] > 0.0) and self._plain(sharp):
                self.best[m] = sharp
        return {m: self.best[m] for m in (whole or found)}

    def _keep(self, card: Card) -> bool:
        if not 0 < card.leaves <= self.most or (self.root != SUM and card.values[1] <= 0.0):
            return False
        if card.leaves in self.best and card.loss >= self.best[card.leaves].loss - ENOUGH:
            return False
        if len(self._lacking(card)) > max(len(self.demands) - card.leaves, 0) or not self._plain(card):
            return False
        self.best[card.leaves] = card
        return True

    def _lacking(self, card: Card, leaving: Condition | None = None) -> list[set[int]]:
        """Return the demands that a card does not meet: of each, one feature must be used."""
        used = {self.table.problem.places[c.column] for c in card.conditions if c is not leaving}
        return [demand for demand in self.demands if not demand & used]

    def _plain(self, card: Card) -> bool:
        """Whether no condition stands twice, and every column speaks in one direction: the one asked for, if any.

        Conditions in groups may take both sides: they are told as bands (`stated`).
        """
        places = [self.table.problem.places[c.column] for c in card.conditions]
        if not self.table.problem.reuse and len(set(places)) < len(places):
            return False
        ways: dict[int, int] = {}
        seen: set[tuple[int, int, tuple[float, ...], bool]] = set()
        for i, group in enumerate(card.groups):
            sign = 1 if self.root != SUM or card.values[1 + i] >= 0.0 else -1
            for c in group.conditions:
                key = c.column, c.kind, c.content, c.turned and c.kind == BAND
                if key in seen or not self._says_more(c, group, card):
                    return False
                seen.add(key)
                if c.kind in (BAND, TRUTHS):
                    continue
                way, asked = -sign if c.turned else sign, int(self.table.problem.directions[c.column])
                if (asked or len(group.conditions) == 1) and ways.setdefault(c.column, asked or way) != way:
                    return False
        return True

    def _says_more(self, one: Condition, group: Clause, card: Card) -> bool:
        """Whether a cut or a set says something besides the others on its column.

        In a group one cut from the same side says it all, and one from the other side must leave something, and so
        does one set; no two that stand alone are counted or needed; and where points add up, no two cuts that do so
        are nearly the same.
        """
        lone = len(group.conditions) == 1
        if one.kind == CUT and self.root == SUM and any(self._is_near(one, c, group, card) for c in card.conditions):
            return False
        beside = [g.conditions[0] for g in card.groups if len(g.conditions) == 1] if lone else group.conditions
        others = [c for c in beside if c is not one and c.kind == one.kind and c.column == one.column]
        if one.kind not in (CUT, TRUTHS) or not others or (lone and self.root == SUM):
            return True
        return (
            one.kind == CUT
            and not lone
            and all(one.turned != other.turned and joined_band(one, other, both=group.kind == ALL) for other in others)
        )

    def _is_near(self, one: Condition, other: Condition, group: Clause, card: Card) -> bool:
        """Whether another cut on the column, which counts beside this one, parts nearly the same cases."""
        if other is one or other.kind != CUT or other.column != one.column or other in group.conditions:
            return False
        if len(group.conditions) > 1 and not any(g.conditions == (other,) for g in card.groups):
            return False
        apart = np.abs(self.table.said(one) - self.table.said(other)) @ self.table.problem.share
        return bool(min(apart, 1.0 - apart) < APART)

    def _allowed(self, card: Card, leaving: Condition | None = None) -> Bools:
        """Return the columns of a condition to come: of required features first; without reuse, those not used yet."""
        problem, columns = self.table.problem, np.array(self.table.problem.places)
        lacking = self._lacking(card, leaving)
        if lacking:
            return np.isin(columns, [feature for demand in lacking for feature in demand])
        if problem.reuse:
            return np.ones(len(columns), bool)
        return ~np.isin(columns, [problem.places[c.column] for c in card.conditions if c is not leaving])

    def _candidates(self, card: Card) -> Iterator[Card]:
        t, room, new = self.table, self.most - card.leaves, len(card.groups)
        place, allowed = t.place(card, new, (t.zeros, t.ones)), self._allowed(card)
        for found in t.grid.screen(place, allowed, ITEMS, self.shapes):
            yield _with(card, new, Clause(ALL, (found.condition,)))
        if not self.grouped:
            return
        if room >= 2:
            for _, one, two in t.grid.pairs(place, allowed, PAIRS):
                pair = Clause(ALL, (one, two))
                if self.root == ALL:
                    pair = pair.opposite
                yield _with(card, new, pair)
                if room >= 3 and self.root != ALL:
                    inside = t.place(card, new, (t.zeros, t.said(pair)))
                    for found in t.grid.screen(inside, allowed, 1, self.shapes):
                        yield _with(card, new, Clause(ALL, (one, two, found.condition)))
        yield from self._into(card, allowed)

    def _into(self, card: Card, allowed: Bools) -> Iterator[Card]:
        """Yield cards with one condition more in a group that is there."""
        t, into = self.table, []
        for at, group in enumerate(card.groups):
            for kind in (ALL, ANY):
                if (len(group.conditions) > 1 and kind != group.kind) or kind == self.root:
                    continue
                said = t.said(group)
                rest = (t.zeros, said) if kind == ALL else (said, 1.0 - said)
                place = t.place(card, at, rest)
                base = float(place.slope @ self._gone(card, at) - 0.5 * place.curvature @ self._gone(card, at) ** 2)
                into += [
                    (found.gain - base, _with(card, at, Clause(kind, (*group.conditions, found.condition))))
                    for found in t.grid.screen(place, allowed, 2, self.shapes)
                ]
        into.sort(key=lambda each: -each[0])
        yield from (candidate for _, candidate in into[:INTO])

    def _gone(self, card: Card, at: int) -> Floats:
        t = self.table
        said = card.values[1 + at] * t.said(card.groups[at]) if self.root == SUM else card.values[1] * t.items(card)[0]
        return np.asarray(said)

    def _swap(self, size: int) -> None:
        """Try, in the place of each condition, the best there."""
        for at in range(len(self.best[size].groups)):
            for i in range(len(self.best[size].groups[at].conditions)):
                card = self.best[size]
                if at >= len(card.groups) or i >= len(card.groups[at].conditions):
                    return
                group = card.groups[at]
                others = group.conditions[:i] + group.conditions[i + 1 :]
                t = self.table
                rest = (t.zeros, t.ones)
                if others:
                    said = t.said(Clause(group.kind, others))
                    rest = (t.zeros, said) if group.kind == ALL else (said, 1.0 - said)
                place, allowed = t.place(card, at, rest), self._allowed(card, group.conditions[i])
                for found in t.grid.screen(place, allowed, 2, self.shapes):
                    if found.condition in group.conditions:
                        break
                    conditions = (*group.conditions[:i], found.condition, *group.conditions[i + 1 :])
                    if self._keep(t.fit(_with(card, at, Clause(group.kind, conditions)))):
                        break

    def _drop(self, size: int) -> None:
        """Try the card without each condition as the card of the size below."""
        card = self.best[size]
        if size < 3 or size - 1 not in self.best:
            return
        for at, group in enumerate(card.groups):
            for i in range(len(group.conditions)):
                left = group.conditions[:i] + group.conditions[i + 1 :]
                groups = (*card.groups[:at], *((Clause(group.kind, left),) if left else ()), *card.groups[at + 1 :])
                self._keep(self.table.fit(Card(self.root, groups, np.zeros(0))))

    def _sharpened(self, card: Card) -> Card:
        """Return the card with each cut where the loss is least, as round as that allows."""
        t, before = self.table, card
        for at in range(len(card.groups)):
            for i, condition in enumerate(card.groups[at].conditions):
                if condition.kind in (CUT, BAND) and t.grid.views.sizes[condition.column] > 2:
                    card = self._cut(card, at, i)
        return before if card.groups == before.groups else t.fit(card, LONG)

    def _cut(self, card: Card, at: int, i: int) -> Card:
        t, group = self.table, card.groups[at]
        condition = group.conditions[i]
        ends = []
        for truth in (t.zeros, t.ones):  # each row's loss if the condition did not hold, and if it did
            said = [truth if k == i else t.said(c) for k, c in enumerate(group.conditions)]
            value = cards.group_truths(group, said)
            groups = [value if k == at else t.said(other) for k, other in enumerate(card.groups)]
            items = np.array(groups) if self.root == SUM else cards.joined(self.root, groups)[None]
            u = card.values[0] + card.values[1:] @ items
            ends.append(t.weight * (np.logaddexp(0.0, u) - t.y * u))
        marks = self._marks(condition, ends[1] - ends[0])
        if marks == condition.numbers:
            return card
        moved = condition._replace(numbers=marks)
        return _with(card, at, Clause(group.kind, (*group.conditions[:i], moved, *group.conditions[i + 1 :])))

    def _marks(self, condition: Condition, inside: Floats) -> tuple[float, ...]:
        """Return the marks of the lowest loss, one after the other; `inside`: what each row adds where it holds."""
        order = self.table.order(condition.column)
        values = self.table.columns[condition.column].values[order]
        between = np.flatnonzero(values[1:] > values[:-1]) + 1  # how many values lie below each possible mark
        if not len(between):
            return condition.numbers
        total, marks = np.cumsum(inside[order])[between - 1], list(condition.numbers)
        outside_holds = condition.kind == BAND and condition.turned
        for end in range(len(marks)):
            upper = end == 1 or (condition.kind == CUT and condition.turned)
            losses = total if upper != outside_holds else -total
            if len(marks) == 2:
                beyond = values[between - 1] <= marks[0] if end == 1 else values[between] >= marks[1]
                losses = np.where(beyond, np.inf, losses)
            if np.isfinite(losses).any():
                marks[end] = _mark(values, between, losses)
        return tuple(marks) if marks == sorted(set(marks)) else condition.numbers


def _mark(values: Floats, between: Ints, losses: Floats) -> float:
    """Return the roundest number around the place of the lowest loss, between which values lie."""
    best = int(np.argmin(losses))
    near = losses <= losses[best] + NEARLY
    first = last = best
    while first > 0 and near[first - 1]:
        first -= 1
    while last < len(losses) - 1 and near[last + 1]:
        last += 1
    low, high = float(values[between[first] - 1]), float(values[between[last]])
    mark = round_in_gap(low, high, float((values[between] - values[between - 1]).min()))
    short = float(f"{mark:.3g}")
    return short if abs(short - mark) < SHORT * (values[-1] - values[0]) else mark


def _with(card: Card, at: int, group: Clause) -> Card:
    """Return a card with another group in a place, or behind the last."""
    return card._replace(groups=(*card.groups[:at], group, *card.groups[at + 1 :]))


def suits(problem: Problem) -> bool:
    """Whether cards are made of what is asked for: criteria are learned, and gates may be of any andness."""
    free = problem.andness == (gcd.LOWEST, gcd.HIGHEST) and problem.learned.all()
    return bool(free and (problem.low <= gcd.LOWEST).all() and (problem.high >= gcd.HIGHEST).all())
