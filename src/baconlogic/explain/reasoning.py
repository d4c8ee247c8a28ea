"""Reasons: which values alone fix the decision of a case, and which alone could turn it.

Let some values be free, to be anything. The decision then stands or not, which one bound of the truth tells, and
freeing more values never makes it stand again. So one pass that drops what can be dropped leaves a minimal set:

    sufficient    the decision stands with all other values free, and with no smaller set of these kept
    contrastive   the decision can turn with only these free, and with no smaller set of them

That is one evaluation a feature for the order in which to drop, what moves the truth least first, and about one more
for both passes together.
Where several features pull both ways at once, bounds may be wider than exact: a sufficient reason still is one.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Any

from baconlogic.criteria import Table
from baconlogic.explain import cases
from baconlogic.results import Result
from baconlogic.subjects import Subject, subject
from baconlogic.wording import number

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from baconlogic.answering import Label
    from baconlogic.nodes import Leaf
    from baconlogic.tree import Tree

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
        only = "only this" if len(self.contrastive) == 1 else f"only these {len(self.contrastive)}"
        lines += [f"It could turn to {other} if {only} changed:", *(f"  {each}" for each in self.contrastive)]
        return "\n".join(lines)


def reasons(
    model: Any,
    row: Any,
    *,
    threshold: float | None = None,
    label: Any = None,
    columns: Sequence[str] | None = None,
) -> Reasons:
    """Return a minimal set of values that fixes the decision of a case, and a minimal set that could turn it.

    A missing value counts as what its criterion takes it as; where none states that, it is unknown throughout.
    """
    about = subject(model, threshold, label)
    case = _Case(about, about.case(row, columns))
    names = [name for name in reversed(case.leaves) if name not in case.unknown]
    effects = dict(zip(names, case.worst([[name] for name in names]), strict=True))
    order = sorted(names, key=lambda name: -effects[name] if case.yes else effects[name])  # least effect first
    alone = [name for name in order if case.is_turned(effects[name])]  # each turns it by itself: no reason lacks them
    kept = alone + _needed(
        [name for name in order if name not in alone],
        lambda some: case.stands([name for name in names if name not in alone and name not in some]),
    )
    turning: list[str] | None = alone[-1:]
    if not alone:
        turning = None if case.stands(names) else _needed(order, lambda some: not case.stands(some))
    decision, other = (about.yes, about.no) if case.yes else (about.no, about.yes)
    return Reasons(
        decision,
        other,
        about.threshold,
        case.truth,
        case.facts(kept),
        None if turning is None else case.facts(turning),
        tuple(case.leaves),
    )


def _needed(order: list[str], holds: Callable[[list[str]], bool]) -> list[str]:
    """Drop what can be dropped, in this order; it `holds` for all of them.

    What holds for some holds for more of them. So the first that cannot be dropped is found by bisection, and what
    cannot be dropped now cannot be later: one pass is enough.
    """
    dropped, first = 0, len(order)  # the first `first` of them cannot all be dropped, unless there are no more
    while dropped < first:
        middle = (dropped + first + 1) // 2
        if holds(order[middle:]):
            dropped = middle
        else:
            first = middle - 1
    kept = order[dropped:]
    for name in kept[1:]:
        rest = [each for each in kept if each != name]
        if holds(rest):
            kept = rest
    return kept


class _Case:
    """A case some of whose values may be free."""

    def __init__(self, about: Subject, values: dict[str, Any]) -> None:
        self.about, self.values = about, values
        self.leaves = cases.leaves_by_feature(about.tree)
        self.unknown = cases.unstated(values, self.leaves)
        self._missing = [name for name, value in values.items() if value is None and name not in self.unknown]
        self._variants: dict[frozenset[str], list[Tree]] = {}
        (tree,) = self._trees(frozenset())
        low, high = (float(end[0]) for end in tree.bounds(cases.repeat(values, 1)))
        self.yes = low > about.threshold
        if not self.yes and high > about.threshold:
            cases.refuse_unknown(self.unknown, "the decision is still open and has no reasons yet")
        self.truth = low if low == high else None

    def stands(self, free: list[str]) -> bool:
        """Whether the decision is the same whatever these values are."""
        return not self.is_turned(self.worst([free])[0])

    def is_turned(self, truth: float) -> bool:
        """Whether a truth means the other decision."""
        return (truth > self.about.threshold) != self.yes

    def worst(self, each: list[list[str]]) -> list[float]:
        """Return the truth that speaks most against the decision, for each list of free values."""
        groups: dict[frozenset[str], list[int]] = {}
        for place, free in enumerate(each):
            groups.setdefault(frozenset(free) & frozenset(self._missing), []).append(place)
        found = [0.0] * len(each)
        for missing, places in groups.items():
            rows = {name: [None if name in each[i] else value for i in places] for name, value in self.values.items()}
            ends = [tree.bounds(rows) for tree in self._trees(missing)]
            for k, place in enumerate(places):
                found[place] = float(min(b.low[k] for b in ends) if self.yes else max(b.high[k] for b in ends))
        return found

    def _trees(self, free: frozenset[str]) -> list[Tree]:
        """Return the trees to bound when these of the missing values are free: to be any value, or still missing."""
        if free not in self._variants:
            bands = [name for name in self._missing if name in free and len(self.leaves[name]) > 1][:MOST_BANDS]
            fixed = [name for name in self._missing if name not in free]
            lone = {name for name in free if len(self.leaves[name]) == 1}
            widened = cases.with_leaves(self.about.tree, lambda leaf: _widened(leaf) if leaf.feature in lone else leaf)
            self._variants[free] = [
                cases.taken_as_stated(
                    widened, [*fixed, *(name for name, gone in zip(bands, still, strict=True) if gone)]
                )
                for still in product((False, True), repeat=len(bands))
            ]
        return self._variants[free]

    def facts(self, names: Iterable[str]) -> tuple[Fact, ...]:
        """Return the facts of these features, the most important feature first."""
        chosen = set(names)
        return tuple(
            Fact(name, self.values[name], cases.fact(name, self.values[name], leaves))
            for name, leaves in self.leaves.items()
            if name in chosen
        )


def _widened(leaf: Leaf) -> Leaf:
    """Return a leaf whose unknown value has any truth of the criterion or the one stated for missing values."""
    low, high = leaf.criterion.range
    stated = leaf.criterion.missing
    if stated is None or low <= stated <= high:
        return leaf
    return type(leaf)(leaf.feature, Table([(0, low), (1, high), (2, stated)], missing=stated), leaf.name)
