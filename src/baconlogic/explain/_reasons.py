"""Reasons: which values alone fix the decision of a case, and which alone could turn it.

Let some values be free, to be anything. The decision then stands or not, which one bound of the truth tells, and
freeing more values never makes it stand again. So one pass that drops what can be dropped leaves a minimal set:

    sufficient    the decision stands with all other values free, and with no smaller set of these kept
    contrastive   the decision can turn with only these free, and with no smaller set of them

That is one evaluation a feature for each. Were a contrastive set the only one, each of its values alone would be
sufficient: that tells whether there are others, by at most one evaluation more for each.
What could move the truth least is dropped first, by its weight and by how far its own truth is from the end, so that
reasons come out small.
Where several features pull both ways at once, bounds may be wider than exact: a sufficient reason still is one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import compress, product
from typing import Any

import numpy as np

from baconlogic.core import Floats
from baconlogic.core.answers import Label
from baconlogic.core.criteria import Table
from baconlogic.core.evaluate import both_combined
from baconlogic.core.nodes import Leaf, flatten
from baconlogic.core.subject import Instance, Result, Subject, subject
from baconlogic.core.tree import Tree
from baconlogic.core.words import number
from baconlogic.explain import _case as cases
from baconlogic.explain._words import LeafRole, leaf_roles

Sided = tuple[float, float]  # truth and falsity

MOST_BANDS = 6  # missing features with several leaves, for which "free" means both any value and still missing


@dataclass(frozen=True)
class Fact(Result):
    """A value of the case, and what the tree makes of it."""

    feature: str
    value: Any  # None when missing
    says: str

    def __str__(self) -> str:
        return self.says


@dataclass(frozen=True)
class Reasons(Result):
    """Why a case is decided as it is. None of the facts of either reason can be left out."""

    decision: Label
    other: Label
    threshold: float
    truth: float | None  # None when a missing value leaves it open
    sufficient: tuple[Fact, ...]  # these alone fix the decision; none when nothing can turn it
    contrastive: tuple[Fact, ...] | None  # these alone could turn it; None when nothing can
    features: tuple[str, ...]  # all that the tree uses
    more: bool = False  # whether there are other values that could turn it without all of these

    def __str__(self) -> str:
        decision, other = cases.answer(self.decision), cases.answer(self.other)
        if self.contrastive is None:
            said = f"The answer is {decision} whatever the values are, so no change could turn it to {other}"
            return f"{said} (the threshold is {number(self.threshold)})."
        free = len(self.features) - len(self.sufficient)
        why = "because, whatever the other values are" if free else "because of all its values; none can be left out"
        lines = [f"The answer is {decision} {why}:", *(f"  {each}" for each in self.sufficient)]
        if free:
            others = "the other" if free == 1 else f"the other {free}"
            lines.append(f"({len(self.sufficient)} of {len(self.features)} values; {others} could be anything)")
        enough = "this" if len(self.contrastive) == 1 else f"these {len(self.contrastive)}"
        enough += ", for example," if self.more else ""
        lines += [f"A change of just {enough} could turn it to {other}:", *(f"  {each}" for each in self.contrastive)]
        return "\n".join(lines)


def reasons(
    model: Any, row: Any, *, threshold: float | None = None, label: Any = None, columns: Sequence[str] | None = None
) -> Reasons:
    """Return a minimal set of values that fixes the decision of a case, and a minimal set that could turn it.

    A missing value counts as what its criterion takes it as; where none states that, it is unknown throughout.
    """
    about = subject(model, threshold, label)
    case = _PartialCase(about, about.case(row, columns))
    order = case.ordered()
    kept: list[str] = []
    turning: list[str] | None = None
    if not case.stands(order):
        kept = _needed(order, lambda some: case.stands([name for name in order if name not in some]))
        turning = _needed(order, lambda some: not case.stands(some))
    answers, facts = (about.answer(case.yes), about.answer(not case.yes)), case.facts(kept)
    contrastive = None if turning is None else case.facts(turning)
    more = len(kept) > 1 or any(case.turns_without(name, order) for name in turning or () if name not in kept)
    return Reasons(*answers, about.threshold, case.truth, facts, contrastive, tuple(case.leaves), more)


def _needed(order: list[str], holds: Callable[[list[str]], bool]) -> list[str]:
    """Drop what can be dropped, in this order; it `holds` for all of them, and not for none.

    What holds for some holds for more of them: what cannot be dropped now cannot be later, so one pass is enough.
    """
    kept = list(order)
    for name in order:
        rest = [each for each in kept if each != name]
        if rest and holds(rest):
            kept = rest
    return kept


class _PartialCase:
    """A case some of whose values may be free."""

    def __init__(self, about: Subject, case: Instance) -> None:
        self.about, self.case, self.leaves = about, case, case.leaves
        self.unknown = cases.unstated(case)
        self._missing = [name for name in case.missing if name not in self.unknown]
        self._variants: dict[frozenset[str], list[Tree]] = {}
        (tree,) = self._trees(frozenset())
        low, high = (float(end[0]) for end in tree.bounds(case.rows()))
        self.yes = low > about.threshold
        if not self.yes and high > about.threshold:
            cases.refuse_unknown(self.unknown, "the decision is still open and has no reasons yet")
        self.truth = low if low == high else None
        self._order, self._roles = flatten(about.tree.root), leaf_roles(about.tree)
        self._truths = {role.position: self._ends(role) for role in self._roles}

    def ordered(self) -> list[str]:
        """Return the features whose values are known, least first: by weight, and by how far their truth could move."""
        moves = dict.fromkeys((name for name in reversed(self.leaves) if name not in self.unknown), 0.0)
        for role in self._roles:
            if role.leaf.feature in moves:
                (truth, _), (end, _) = self._truths[role.position]
                moves[role.leaf.feature] += role.weight * abs(truth - end)
        return sorted(moves, key=lambda name: moves[name])

    def _ends(self, role: LeafRole) -> tuple[Sided, Sided]:
        """Return truth and falsity of a leaf in this case, and those that speak most against the decision."""
        known = cases.sides_of(role.leaf, self.case.values[role.leaf.feature])
        able = [*role.leaf.criterion.range]
        if self.case.values[role.leaf.feature] is None and known is not None:  # it may also stay missing
            able.append(known[0])
        end = min(able) if self.yes != role.negated else max(able)
        return known or (end, 1.0 - end), (end, 1.0 - end)

    def stands(self, free: list[str]) -> bool:
        """Whether the decision is the same whatever these values are: one evaluation."""
        return (self.worst(free) > self.about.threshold) == self.yes

    def turns_without(self, name: str, order: list[str]) -> bool:
        """Whether the decision can turn although this value is as it is."""
        return not self.stands([other for other in order if other != name])

    def worst(self, free: list[str]) -> float:
        """Return the truth that speaks most against the decision when these values are free.

        Where each of them is read by one leaf, that is the truth with these leaves at their ends; else bounds tell it.
        """
        loose = {*free, *self.unknown}
        if all(len(self.leaves[name]) == 1 for name in loose):
            return self._evaluated(loose)
        rows = {**self.case.rows(), **{name: [None] for name in loose}}
        ends = [tree.bounds(rows) for tree in self._trees(frozenset(free) & frozenset(self._missing))]
        return float(min(b.low[0] for b in ends) if self.yes else max(b.high[0] for b in ends))

    def _evaluated(self, loose: set[str]) -> float:
        found: list[Floats] = []
        for position, (node, below) in enumerate(self._order):
            if isinstance(node, Leaf):
                found.append(np.array(self._truths[position][node.feature in loose])[:, None])
            else:
                found.append(both_combined(node, [found[i] for i in below]))
        return float(found[-1][0, 0])

    def _trees(self, free: frozenset[str]) -> list[Tree]:
        """Return the trees to bound when these of the missing values are free: to be any value, or still missing."""
        if free not in self._variants:
            bands = [name for name in self._missing if name in free and len(self.leaves[name]) > 1][:MOST_BANDS]
            fixed = [name for name in self._missing if name not in free]
            lone = {name for name in free if len(self.leaves[name]) == 1}
            widened = cases.with_leaves(self.about.tree, lambda leaf: _widened(leaf) if leaf.feature in lone else leaf)
            gone = (compress(bands, still) for still in product((False, True), repeat=len(bands)))
            self._variants[free] = [cases.taken_as_stated(widened, [*fixed, *names]) for names in gone]
        return self._variants[free]

    def facts(self, names: list[str]) -> tuple[Fact, ...]:
        """Return the facts of these features, the most important feature first."""
        values = {name: value for name, value in self.case.values.items() if name in names}
        return tuple(Fact(name, value, cases.fact(name, value, self.leaves[name])) for name, value in values.items())


def _widened(leaf: Leaf) -> Leaf:
    """Return a leaf whose unknown value has any truth of the criterion or the one stated for missing values."""
    (low, high), stated = leaf.criterion.range, leaf.criterion.missing
    if stated is None or low <= stated <= high:
        return leaf
    return type(leaf)(leaf.feature, Table([(0, low), (1, high), (2, stated)], missing=stated), leaf.name)
