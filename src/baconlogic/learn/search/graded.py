"""Graded cards: smooth criteria under gates of any named level, learned jointly and then rounded to what is printed.

They have the structure of cards of other kinds, whose cuts and ramps become smooth criteria, and a band two of them.
Sets of categories and columns of 0 and 1 stay as those cards have them.

At the end every gate takes the nearest named level, then weights are rounded, and what is left is learned again after
either: criteria make up for much of what that costs. They are rounded last, which hardly costs anything, and the link
is fitted to that.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from math import exp, floor, log, log10
from typing import NamedTuple

import numpy as np

from baconlogic.core import Floats, Ints, gcd
from baconlogic.core.criteria import Sigmoid
from baconlogic.core.decision import Link
from baconlogic.core.levels import LEVELS
from baconlogic.core.nodes import Gate, Leaf, Node
from baconlogic.kernel.loss import parts, topology
from baconlogic.learn.column import NUMBER, Column
from baconlogic.learn.search import draft as drafts
from baconlogic.learn.search.card import (
    ALL,
    ANY,
    FINE,
    PAYS,
    STEPS,
    SUM,
    Clause,
    Hand,
    fitted_link,
    in_steps,
    shared_name,
    whole_steps,
)
from baconlogic.learn.search.conditions import BAND, CUT, HILL, RAMP, TRUTHS, Condition
from baconlogic.learn.search.draft import Draft, Literal
from baconlogic.learn.search.newton import newton
from baconlogic.learn.search.problem import Problem, Request
from baconlogic.learn.search.refine import ANDNESS, GATES

LONG, PINNED = 6, 2  # steps: of a start, and with levels or weights that have been changed
ROWS = 1000  # to learn numbers from; the link is fitted to all rows
FIXED = (CUT, TRUTHS)  # conditions that are taken as they are where they have no smooth form
SLOPE = 3.0  # of a cut to start from, on the robust scale
EVEN = 0.05  # weights that are all this near to each other are equal
FINEST = 0.2  # of the stretch in which a criterion turns: centres are rounded to this
CERTAIN = 1e-300  # stands for a truth of 0
QUARTERS = 4  # steps of the truth of a missing value


Joined = tuple[str, list[tuple[Condition, Literal]]]  # a group: how it is joined, and its leaves


class Graded(NamedTuple):
    """A card as a draft of its own leaves, and the link to probability."""

    draft: Draft
    conditions: tuple[Condition, ...]  # by leaf: where it comes from
    link: Link
    loss: float  # log-likelihood lost on the rows it was learned from

    @property
    def leaves(self) -> int:
        """The number of leaves."""
        return self.draft.leaves

    def scores(self, whole: Problem) -> Floats:
        """Return the decision value of each row of a problem."""
        return self.link.score(_own(whole, self.conditions).truths(self.draft))

    def again(self, whole: Problem) -> Graded:
        """Return it with its link learned on other rows."""
        link, loss = fitted_link(_own(whole, self.conditions).truths(self.draft), whole.y, whole.share * whole.cases)
        return self._replace(link=link, loss=loss)

    def node(self, columns: Sequence[Column], aggregator: str) -> Node:
        """Return it as a tree."""
        nodes: list[Node] = [
            _leaf(columns[c.column], c, literal)
            for c, literal in zip(self.conditions, self.draft.literals, strict=True)
        ]
        names = [columns[c.column].name for c in self.conditions]
        gates = zip(self.draft.shape.gates, self.draft.parts.andness.tolist(), self.draft.weights, strict=True)
        for inputs, andness, weights in gates:
            own = [names[k] for k in inputs if k < self.leaves]
            group = shared_name(own) if len(own) == len(inputs) else ""
            nodes.append(Gate([nodes[k] for k in inputs], andness, weights.tolist(), aggregator, group))
        return nodes[-1]


def graded(problem: Problem, hands: Sequence[Hand], request: Request, most: int, *, means: bool) -> Iterator[Graded]:
    """Yield the best graded card of each size that loses less than smaller ones; without `means` no gate is neutral.

    They start from `hands`, the best cards of other kinds.
    """
    smoother = _Smoother(problem, hands, request.seed)
    told, sizes = np.inf, sorted(size for size in smoother.starts if size <= most)
    for size in sizes:
        if size > sizes[0] and not request.going():
            return
        best = min((_learned(smoother.own, draft, LONG) for draft in smoother.starts[size]), key=_loss)
        card = smoother.finished(best, means=means)
        if card is not None and card.loss < told:
            told = card.loss
            yield card


class _Smoother:
    """Makes cards of one problem smooth: on a sample, where it has many rows."""

    def __init__(self, problem: Problem, hands: Sequence[Hand], seed: int) -> None:
        self.problem, self.some = problem, _sample(problem, ROWS, seed)
        conditions = [c for hand in hands for group in hand.groups for c in group.conditions]
        numbers = sorted({c.column for c in conditions if _scale(problem.table[c.column])})
        kept = [self._upright(c) for c in conditions if not _smooth(c, problem.table[c.column]) and c.kind in FIXED]
        self.conditions = [*(Condition(j, CUT, (0.0,)) for j in numbers), *dict.fromkeys(kept)]
        self.starts: dict[int, list[Draft]] = {}
        if self.conditions:
            self.own = _own(self.some, self.conditions)
            for draft in filter(None, map(self._start, sorted(hands, key=lambda hand: hand.loss))):
                same = self.starts.setdefault(draft.leaves, [])
                if not same or not (self._stays(draft) and self._stays(same[0])):
                    same.append(draft)

    def _upright(self, condition: Condition) -> Condition:
        """Return a condition or its opposite, the same one of both; as it is where a direction is asked for."""
        asked = self.problem.directions[condition.column]
        return condition if asked else min(condition, condition.opposite)

    def _plain(self, draft: Draft) -> bool:
        """Whether no leaf stands twice, and every column has one direction, but for two sides in one gate.

        Of what is kept as it is, a gate has one condition a column: two sets of the same categories say one thing.
        """
        uses: dict[int, set[tuple[int, bool]]] = {}
        kept = set[tuple[int, int]]()
        for gate, column, rising in _uses(draft):
            own, place = uses.setdefault(column, set()), (gate, self.conditions[column].column)
            if (gate, rising) in own or (self.own.fixed[column] and (own or place in kept)):
                return False
            own.add((gate, rising))
            if self.own.fixed[column]:
                kept.add(place)
        return all(len({rising for gate, rising in own if (gate, not rising) not in own}) < 2 for own in uses.values())

    def _stays(self, draft: Draft) -> bool:
        """Whether there is little to learn: every leaf is taken as it is."""
        return bool(self.own.fixed[draft.columns].all())

    def _start(self, hand: Hand) -> Draft | None:
        """Return the card of a hand with smooth criteria, unless something in it has no such form."""
        groups = _apart([_literals(group, self.problem.table) for group in hand.groups])
        leaves = [c for _, own in groups for c, _ in own]
        smooth = [_smooth(c, self.problem.table[c.column]) for c in leaves]
        numbers = {c.column: k for k, c in enumerate(self.conditions) if not self.own.fixed[k]}
        sets = {c: k for k, c in enumerate(self.conditions) if self.own.fixed[k]}
        if not any(smooth) and max(len(own) for _, own in groups) == 1:
            return None  # there is nothing to learn but weights
        if any(not s and self._upright(c) not in sets for c, s in zip(leaves, smooth, strict=True)):
            return None
        draft = _joined(hand, groups)
        p = draft.parts
        for i, (c, s) in enumerate(zip(leaves, smooth, strict=True)):
            draft.columns[i] = numbers[c.column] if s else sets[self._upright(c)]
            p.slope[i] = p.slope[i] if s else 1.0 if c == self._upright(c) else -1.0
        return draft if self._plain(draft) else None

    def finished(self, draft: Draft, *, means: bool) -> Graded | None:
        """Return a card with named levels and round numbers; None if a leaf comes out twice."""
        problem, table = self.problem, self.problem.table
        conditions = tuple(self.conditions[k] for k in draft.columns)
        turned = self.own.fixed[draft.columns] & (draft.parts.slope < 0.0)
        conditions = tuple(c.opposite if t else c for c, t in zip(conditions, turned, strict=True))
        draft = draft._replace(columns=np.arange(draft.leaves), parameters=draft.parameters.copy())
        draft.parts.slope[turned] = 1.0
        own = _own(problem, conditions)
        if own.fixed.all():
            own = _merged(own, draft.columns)
        some = own if own.fixed.all() or self.some is problem else _own(self.some, conditions)
        firsts = _firsts(draft, conditions, own)

        def linked(draft: Draft) -> Graded:
            return Graded(draft, conditions, *fitted_link(own.truths(draft), own.y, own.share * own.cases))

        def settled(draft: Draft, pinned: str) -> Draft:
            """Return a draft of which some numbers were changed and are to stay, with the rest learned again."""
            values, link = draft.parameters.copy(), linked(draft).link
            parts(values, draft.shape).link[:] = link.steepness, link.threshold
            return _learned(some, draft._replace(parameters=values), PINNED, pinned)

        def rounded(draft: Draft, steps: int) -> Graded:
            draft = _with_weights(draft, own, firsts, steps)
            draft = settled(draft, GATES) if linked(draft).loss > known + PAYS else draft
            return linked(_with_weights(_rounded(draft, own, conditions, table), own, firsts, steps))

        draft = settled(_named(draft, firsts, means=means), ANDNESS) if firsts else draft
        known, pays = linked(draft).loss, PAYS * len(conditions)
        card = rounded(draft, STEPS)
        if card.loss > known + pays:
            fine = rounded(draft, FINE)
            card = fine if fine.loss < card.loss - pays else card
        p = card.draft.parts
        leaves = [(c.column, p.slope[i], p.centre[i]) for i, c in enumerate(conditions) if not own.fixed[i]]
        return card if len(set(leaves)) == len(leaves) else None


def _loss(draft: Draft) -> float:
    return draft.loss


def _learned(problem: Problem, draft: Draft, steps: int, pinned: str = "") -> Draft:
    """Return a draft after so many steps; few where no criterion moves."""
    if problem.fixed[draft.columns].all():
        return newton(_merged(problem, draft.columns), draft, PINNED, pinned=pinned)
    return newton(problem, draft, steps, pinned=pinned)


def _merged(problem: Problem, columns: Ints) -> Problem:
    """Return a problem in which rows that these columns do not tell apart are one, whatever others say."""
    key = np.random.default_rng(0).normal(size=len(columns)) @ problem.X[columns]  # as good as all of them, and quick
    _, first, place = np.unique(key, return_index=True, return_inverse=True)
    share = np.asarray(np.bincount(place, problem.share), dtype=float)
    y = np.bincount(place, problem.share * problem.y) / np.maximum(share, CERTAIN)
    return replace(problem, X=problem.X[:, first], y=y, share=share, weight=problem.cases)


def _uses(draft: Draft) -> list[tuple[int, int, bool]]:
    """Return the gate, the column and the direction of each leaf."""
    gates, slope = draft.shape.gates, draft.parts.slope
    above = {k: j for j, inputs in enumerate(gates) for k in inputs.tolist()}
    return [(above.get(i, 0), int(column), bool(slope[i] > 0.0)) for i, column in enumerate(draft.columns)]


def _sample(problem: Problem, most: int, seed: int) -> Problem:
    """Return the problem on so many rows, if it has more."""
    if problem.rows <= most:
        return problem
    rows = np.sort(np.random.default_rng(seed).choice(problem.rows, most, replace=False))
    share, table = problem.share[rows], tuple(column.take(rows) for column in problem.table)
    return replace(problem, y=problem.y[rows], share=share / share.sum(), table=table, weight=problem.cases)


def _apart(groups: Sequence[Joined]) -> list[Joined]:
    """Return groups without a second leaf on the same column in the same direction; learned jointly, they are one.

    A lone leaf stands with the others that are alone.
    """
    found, alone = [], set[tuple[int, bool]]()
    for kind, own in groups:
        seen = alone if len(own) == 1 else set[tuple[int, bool]]()
        kept = []
        for c, literal in own:
            key = c.column, literal.slope > 0.0
            if c.kind not in (CUT, RAMP) or key not in seen:
                kept.append((c, literal))
                seen.add(key)
        if kept:
            found.append((kind, kept))
    return found


def _scale(column: Column) -> bool:
    """Whether a column measures something."""
    return column.kind == NUMBER and not column.of_two


def _smooth(condition: Condition, column: Column) -> bool:
    """Whether a condition is learned as a smooth criterion, or kept as it is."""
    return _scale(column) and condition.kind in (CUT, RAMP)


def _own(problem: Problem, conditions: Sequence[Condition]) -> Problem:
    """Return the problem with one column a leaf: values on the robust scale, or logits of the truths that are kept.

    These are as far out as they go: in a soft gate an input of 0 says much more than one of 1e-9.
    """
    smooth = np.array([_smooth(c, problem.table[c.column]) for c in conditions], np.bool_)
    shown = []
    for c, learned in zip(conditions, smooth, strict=True):
        column = problem.table[c.column]
        if learned:
            shown.append(column.scaled)
        else:
            truths = np.clip(c.truths(column), CERTAIN, 1.0)
            shown.append(np.log(truths) - np.log(np.maximum(1.0 - truths, CERTAIN)))
    count = len(conditions)
    asked = np.array([problem.directions[c.column] for c in conditions], np.int64)
    asked = np.where(smooth, asked, np.abs(asked))  # what is kept goes the right way as it is
    return Problem(
        np.array(shown), problem.y, problem.share, np.ones(count, np.bool_), np.arange(count), asked,
        np.full(count, gcd.LOWEST), np.full(count, gcd.HIGHEST),
        weight=problem.cases, penalty=problem.penalty, knee=problem.knee, fixed=~smooth,
    )  # fmt: skip


def _literals(group: Clause, columns: Sequence[Column]) -> Joined:
    """Return a group's leaves and how they are joined; a band is two leaves where its sides may stand in the group."""
    kind, found = group.kind, list[tuple[Condition, Literal]]()
    alone = len(group.conditions) == 1
    for c in group.conditions:
        column, missing = columns[c.column], log((0.05 + 0.9 * c.missing) / (0.95 - 0.9 * c.missing))
        if not _smooth(c, column) and c.kind not in (BAND, HILL):
            found.append((c, Literal(0)))
            continue
        ends = [(end - column.centre) / column.scale for end in c.numbers]
        sign = -1.0 if c.turned else 1.0
        if c.kind in (BAND, HILL):
            sides = ANY if c.turned else ALL
            if not alone and sides != kind:
                found.append((c, Literal(0)))
                continue
            kind = sides
            half = len(ends) // 2
            steepest = max(SLOPE, 4.0 / (ends[half] - ends[half - 1]))  # so that it is true between them
            for way, own in ((sign, ends[:half]), (-sign, ends[half:])):
                found.append((c._replace(kind=CUT), _literal(way, own, steepest, missing)))
        else:
            found.append((c, _literal(sign, ends, SLOPE, missing)))
    return kind, found


def _literal(way: float, ends: Sequence[float], steepest: float, missing: float) -> Literal:
    """Return the smooth criterion that is most like a ramp between two ends, or like a cut at one."""
    slope = max(min(4.0 / max(ends[-1] - ends[0], 1e-9), steepest), 0.3)
    return Literal(0, way * slope, (ends[0] + ends[-1]) / 2.0, missing)


def _joined(hand: Hand, groups: Sequence[Joined]) -> Draft:
    """Return the draft to start from: gates as products, a sum as a mean."""
    literals = [literal for _, own in groups for _, literal in own]
    literals = [literal._replace(column=k) for k, literal in enumerate(literals)]
    gates, top, weights, andness, place = list[list[int]](), list[int](), list[float](), list[float](), 0
    for kind, own in groups:
        inputs = list(range(place, place + len(own)))
        place += len(own)
        top.append(inputs[0] if len(own) == 1 else len(literals) + len(gates))
        if len(own) > 1:
            gates.append(inputs)
            weights += [1.0 / len(own)] * len(own)
            andness.append(_product(kind, len(own)))
    if len(top) > 1:
        gates.append(top)
        even = hand.root != SUM or len(hand.weights) != len(top)
        share = np.maximum(np.array([1.0] * len(top) if even else hand.weights), 0.03)
        weights += (share / share.sum()).tolist()
        andness.append(_product(hand.root, len(top)) if hand.root in (ALL, ANY) else gcd.NEUTRAL)
    link = float(np.clip(hand.link.steepness, 1.0, 100.0)), float(np.clip(hand.link.threshold, -0.5, 1.5))
    return drafts.join(topology(gates), literals, weights, andness, link)


def _product(kind: str, n: int) -> float:
    return gcd.product(n) if kind == ALL else 1.0 - gcd.product(n)


def _firsts(draft: Draft, conditions: Sequence[Condition], own: Problem) -> list[list[int]]:
    """Return, gate by gate and input by input, the place of the first input that reads the same column.

    Two smooth criteria on a column in a gate are the sides of a band.
    """
    smooth = {i: c.column for i, c in enumerate(conditions) if not own.fixed[i]}
    read = [[smooth.get(k, -1 - k) for k in inputs.tolist()] for inputs in draft.shape.gates]
    return [[columns.index(column) for column in columns] for columns in read]


def _named(draft: Draft, firsts: Sequence[Sequence[int]], *, means: bool) -> Draft:
    """Return a draft with the nearest named level in each gate."""
    values, shape = draft.parameters.copy(), draft.shape
    places = parts(values, shape).andness
    for j, first in enumerate(firsts):
        mean = means and len(set(first)) == len(first)  # a band is no mean of its sides
        skipped = ("CC", "DD", "" if mean else "A")
        levels = [level.andness(len(first)) for level in LEVELS.values() if level.code not in skipped]
        places[j] = min(levels, key=lambda level: abs(level - draft.parts.andness[j]))
    return draft._replace(parameters=values)


def _quarter(logit: float) -> float:
    """Return the truth of a missing value, rounded."""
    return round(QUARTERS / (1.0 + exp(-logit))) / QUARTERS


def _rounded(draft: Draft, own: Problem, conditions: Sequence[Condition], columns: Sequence[Column]) -> Draft:
    """Return a draft whose criteria are as round as they are printed."""
    values = draft.parameters.copy()
    p = parts(values, draft.shape)
    for i, c in enumerate(conditions):
        truth = _quarter(p.missing[i])
        p.missing[i] = log(max(truth, 1e-9) / max(1.0 - truth, 1e-9))
        if not own.fixed[i]:
            column = columns[c.column]
            slope, centre = _round_criterion(column, p.slope[i], p.centre[i])
            p.slope[i], p.centre[i] = slope * column.scale, (centre - column.centre) / column.scale
    return draft._replace(parameters=values)


def _with_weights(draft: Draft, own: Problem, firsts: Sequence[Sequence[int]], steps: int) -> Draft:
    """Return a draft with its weights in so many steps; in a mean, in the order of what each contributes.

    The two sides of a band weigh the same, or it would be none.
    """
    values, truths = draft.parameters.copy(), own.node_truths(draft)
    p = parts(values, draft.shape)
    gates = zip(draft.shape.gates, draft.shape.by_gate(p.weight), p.andness, firsts, strict=True)
    for inputs, weights, andness, first in gates:
        if andness == gcd.NEUTRAL and len(inputs) <= steps:
            weights[:] = in_steps(weights, truths[inputs], own.share, steps)[0] / steps
        else:
            weights[:] = _steps(weights, steps, first)
    return draft._replace(parameters=values)


def _round_criterion(column: Column, slope: float, centre: float) -> tuple[float, float]:
    """Return slope and centre in raw units, rounded to what makes a difference."""
    slope, found = float(f"{slope / column.scale:.2g}"), column.centre + column.scale * centre
    found = round(found, -floor(log10(FINEST / abs(slope))))
    short = float(f"{found:.3g}") + 0.0  # no -0
    return slope, short if abs((short - found) * slope) < FINEST else found


def _steps(weights: Floats, steps: int, first: Sequence[int]) -> Floats:
    """Return weights as shares of so many steps, or even ones where they hardly differ.

    `first`: by input, the first one of the same column, which weighs the same.
    """
    n, together = len(weights), np.bincount(first, minlength=len(weights))[first]
    target = (np.bincount(first, weights)[first] / together) * steps
    counts, single = np.maximum(np.round(target), 1.0), together == 1
    left = steps - int(counts[~single].sum())
    if np.ptp(target) < EVEN * STEPS or left < single.sum() or (left and not single.any()):
        return np.full(n, 1.0 / n)
    if single.any():
        counts[single] = whole_steps(target[single] / target[single].sum() * left, left)
    return np.asarray(counts / steps)


def _leaf(column: Column, condition: Condition, literal: Literal) -> Node:
    if not _smooth(condition, column):
        return condition.node(column)
    slope, centre = _round_criterion(column, literal.slope, literal.centre)
    missing = _quarter(literal.missing) if column.has_missing else None
    return Leaf(column.name, Sigmoid(centre, slope, missing=missing))
