"""A tree as people tell it: statements in raw units, the role of each, and the groups that they form.

A negation is taken down to the leaves (De Morgan): under it "must have all" is told as "enough to have any" of the
opposites. So a role is about the statement that speaks for yes: "area is small" is mandatory, not "area is large".
Gates of one family above each other are one group. A gate with a name is a group of its own, and what is said of it is
said once: under a negation it is "not large".
"""

from __future__ import annotations

import math
from collections import deque
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from baconlogic.core.criteria import Criterion
from baconlogic.core.forms import EVEN, Reach, told_level, truths_of
from baconlogic.core.levels import AND_ROLES, HARD_ROLES, NEUTRAL_ROLE, Level
from baconlogic.core.nodes import Gate, Leaf, Node, Not, flatten, negations, shares
from baconlogic.core.tree import Tree
from baconlogic.core.words import (
    MOST_CATEGORIES,
    apart,
    crisp_places,
    degree,
    kinds,
    listed,
    number,
    numbers,
    one_line,
    percent,
    with_unit,
)

Order = list[tuple[Node, tuple[int, ...]]]
Span = tuple[float, float]  # raw values between which a statement is more than half true; ends may be infinite

HARDLY = 0.05  # true: where a smooth criterion is told to begin
MOST_FEATURES = 4  # to call a group by
ALONE = "decides alone"  # the role of the only leaf of a tree


@dataclass(frozen=True)
class Statement:
    """A leaf as it speaks for yes, or the two leaves of a band."""

    leaves: tuple[Leaf, ...]
    negated: tuple[bool, ...]
    name: str = ""
    spans: tuple[Span, ...] | None = None  # None where raw values have no order, or are truths already

    @property
    def feature(self) -> str:
        """The column it is about, fit for one line."""
        return one_line(self.leaves[0].feature)

    def short(self, verb: str = "") -> str:
        """Say it in a few words: "area above about 880"."""
        said = self._short(f" {verb}" if verb else "")
        return f"{one_line(self.name)} ({said})" if self.name else said

    def _short(self, verb: str) -> str:
        criterion, negated = self.leaves[0].criterion, self.negated[0]
        if len(self.leaves) == 1 and not verb:
            plain = criterion.condition(self.feature, negated=negated)
            if plain is not None:
                return plain
        unknown = self._unknown()
        if criterion.categorical:
            return f"{self.feature} {_kinds(criterion, negated)}{unknown}"
        if self.spans is None:
            return f"{'not ' if negated else ''}{self.feature}{unknown}"
        if self._flag is not None:
            return f"{self.feature} is {self._flag}{unknown}"
        if self.spans in ((), ((-math.inf, math.inf),)):
            return f"{self._wanted()} {self.feature}{unknown}"
        return f"{self.feature}{verb} {self._places()}{unknown}"

    def ranged(self) -> str:
        """Say it in a few words, a smooth criterion with where it turns: "area high (about 700 to 1100)"."""
        criterion = self.leaves[0].criterion
        if self.hill:
            start, full, until, end = numbers(list(criterion.bends))
            return f"{self.feature} in range ({start}, {full} to {until}, {end}){self._unknown()}"
        low, high = criterion.span(HARDLY) if self.smooth else (0.0, 0.0)
        if not high > low:
            return self.short()
        ends = [number(round(end, 1 - math.floor(math.log10(high - low)))) for end in (low, high)]
        way, (first, last) = ("high", ends) if criterion.rising != self.negated[0] else ("low", ends[::-1])
        where = f"about {first} to {last}"
        if not self.nearly:
            far = "nearly in full" if way == "high" else "next to nothing"
            where = f"half at {number(criterion.inverse(0.5))}, {far} at {ends[1]}"
        said = f"{self.feature} {way} ({with_unit(where, criterion.unit)})"
        return f"{one_line(self.name)} ({said}){self._unknown()}" if self.name else f"{said}{self._unknown()}"

    @property
    def hill(self) -> bool:
        """Whether it is told as "in range (a, b to c, d)": true between two ramps."""
        points = getattr(self.leaves[0].criterion, "points", ())
        plain = len(self.leaves) == 1 and not self.negated[0] and not self.name
        return plain and [t for _, t in points] == [0.0, 1.0, 1.0, 0.0]

    @property
    def smooth(self) -> bool:
        """Whether it is told as high or low with where: a criterion that turns, but for its ends, gradually."""
        return len(self.leaves) == 1 and self.leaves[0].criterion.learnable

    @property
    def nearly(self) -> bool:
        """Whether it is told as "high (about a to b)".

        Where these lie on both sides of 0, the one below may be what no value can be, a negative count or income: then
        it is told as "high (half at b, nearly in full at c)".
        """
        low, high = self.leaves[0].criterion.span(HARDLY) if self.smooth else (0.0, 0.0)
        return high > low and not low < 0.0 < high

    @property
    def partly(self) -> bool:
        """Whether it is told with categories that count by a share: "is red (50%)"."""
        return any("%)" in _kinds(leaf.criterion, no) for leaf, no in self._tables() if not leaf.criterion.crisp)

    def _tables(self) -> list[tuple[Leaf, bool]]:
        pairs = zip(self.leaves, self.negated, strict=True)
        return [(leaf, negated) for leaf, negated in pairs if leaf.criterion.categorical]

    @property
    def truths(self) -> Reach:
        """The truths that it can have."""
        if len(self.leaves) > 1:
            return ((0.0, 1.0),)
        return truths_of(self.leaves[0].criterion, negated=self.negated[0])

    @property
    def graded(self) -> bool:
        """Whether it is told as "high (a to b)": as true as a value is far on the way."""
        return len(self.leaves) == 1 and not self.crisp and self.leaves[0].criterion.predicate() is not None

    @property
    def crisp(self) -> bool:
        """Whether it is true or not, and nothing between."""
        return all(leaf.criterion.crisp for leaf in self.leaves)

    def _places(self) -> str:
        unit, spans = self.leaves[0].criterion.unit, self.spans or ()
        if self.crisp:
            ends = ([None if math.isinf(end) else end for end in span] for span in spans)
            return crisp_places([(low, high) for low, high in ends], unit)
        return places(spans, unit)

    def _unknown(self) -> str:
        """Say what an unknown value counts as, where all leaves agree on it."""
        pairs = zip(self.leaves, self.negated, strict=True)
        said = {leaf.criterion.when_unknown(negated=negated) for leaf, negated in pairs}
        return said.pop() if len(said) == 1 else ""

    def turning_at(self, threshold: float) -> Statement:
        """Return the statement with the ranges in which it is more true than a threshold, where there are any."""
        if not self.spans or len(self.leaves) > 1:
            return self
        spans = spans_of(self.leaves[0].criterion, self.negated[0], threshold)
        return replace(self, spans=spans) if spans else self

    def where(self) -> str:
        """Say where it is half true, and what a missing value counts as."""
        criterion, negated = self.leaves[0].criterion, self.negated[0]
        if criterion.categorical:
            said = criterion.predicate(negated=negated) or _degrees(criterion, negated)
        elif self.spans is None:
            said = "the opposite of what is given" if negated else "as given"
        elif self._flag is not None:
            truths = [1.0 - t if negated else t for t in criterion.flag or ()]
            said = ", ".join(f"{degree(truths[flag])} when {flag}" for flag in (self._flag, 1 - self._flag))
        else:
            known = {(): "never more than half true", ((-math.inf, math.inf),): "more than half true everywhere"}
            said = known.get(self.spans) or self._places()
        return said + self._when_missing()

    def _when_missing(self) -> str:
        stated = [
            1.0 - leaf.criterion.missing if negated else leaf.criterion.missing
            for leaf, negated in zip(self.leaves, self.negated, strict=True)
            if leaf.criterion.missing is not None
        ]
        return f"; missing counts as {listed([degree(t) for t in dict.fromkeys(stated)], 'and')}" if stated else ""

    def direction(self) -> str:
        """Say which values speak for yes."""
        if self.leaves[0].criterion.categorical:
            return "by category"
        if self.spans is None:
            return "when not true" if self.negated[0] else "when true"
        if self._flag is not None:
            return f"when {self._flag}"
        wanted = self._wanted()
        if wanted != "fitting" and self.crisp:
            return f"when {wanted}"
        if wanted != "fitting":
            return f"the {'higher' if wanted == 'high' else 'lower'}, the more"
        inner = len(self.spans) == 1 and all(math.isfinite(end) for end in self.spans[0])
        return "in between" if inner else "in certain ranges"

    @property
    def _flag(self) -> int | None:
        """Which of 0 and 1 speaks for yes, where the column holds nothing else."""
        criterion = self.leaves[0].criterion
        if len(self.leaves) > 1 or criterion.flag is None:
            return None
        return int(bool(criterion.rising) != self.negated[0])

    def _wanted(self) -> str:
        rising = {
            None if leaf.criterion.rising is None else leaf.criterion.rising != negated
            for leaf, negated in zip(self.leaves, self.negated, strict=True)
        }
        return {True: "high", False: "low", None: "fitting"}[rising.pop() if len(rising) == 1 else None]


def statement(leaf: Leaf, negated: bool = False, name: str = "") -> Statement:
    """Return a leaf as it speaks for yes: `negated` when it does so by not being true."""
    return Statement((leaf,), (negated,), name, spans_of(leaf.criterion, negated))


def band(one: Statement, other: Statement, weights: tuple[float, float], role: str) -> Statement | None:
    """Return two inputs of a step about one feature as one: where both hold, or either; None where that is no band.

    They must weigh the same, or it is not the band that counts but mostly one side of it. Of crisp conditions under a
    hard gate weights make no difference.
    """
    if one.leaves[0].feature != other.leaves[0].feature or one.name or other.name or not one.spans or not other.spans:
        return None
    free = role in HARD_ROLES and one.crisp and other.crisp
    if role == NEUTRAL_ROLE or not (free or abs(weights[0] - weights[1]) < EVEN):
        return None
    if len(one.spans) > 1 or len(other.spans) > 1:
        return None
    (low, end), (start, high) = sorted([one.spans[0], other.spans[0]])  # the one that is open to the left comes first
    if math.isfinite(low) or math.isfinite(high) or not (math.isfinite(end) and math.isfinite(start)):
        return None
    both = role in AND_ROLES
    if both == (end <= start):  # they exclude each other, or one of them always holds
        return None
    spans: tuple[Span, ...] = ((start, end),) if both else ((low, end), (start, high))
    return Statement(one.leaves + other.leaves, one.negated + other.negated, "", spans)


def spans_of(criterion: Criterion, negated: bool = False, truth: float = 0.5) -> tuple[Span, ...] | None:
    """Return the raw ranges in which a criterion, or its opposite, is more than half true, or more than `truth`."""
    if criterion.categorical or criterion.holds_truths:
        return None
    turn = 1.0 - truth if negated else truth
    found: list[Span] = []
    for low, high in pairwise([-math.inf, *criterion.crossings(turn), math.inf]):
        inside = low if math.isinf(low) else high if math.isinf(high) else low / 2.0 + high / 2.0
        here = float(criterion.truth(np.array([inside]))[0])
        if (here < turn) if negated else (here > turn):
            joined = found and found[-1][1] == low
            found.append((found.pop()[0] if joined else low, high))
    return tuple(found)


def places(spans: tuple[Span, ...], unit: str = "") -> str:
    """Say raw ranges: "above about 880", "between about 3 and 5"."""
    ends = sorted({end for span in spans for end in span if math.isfinite(end)})
    shown = dict(zip(ends, numbers(ends), strict=True))
    said = []
    for low, high in spans:
        if math.isinf(low):
            said.append(f"below about {shown[high]}")
        elif math.isinf(high):
            said.append(f"above about {shown[low]}")
        else:
            said.append(f"between about {shown[low]} and {shown[high]}")
    return with_unit(listed(said), unit)


def needed(turn: float, least: float | None, total: float) -> str:
    """Say how many points it takes: "at least 3" where that is the next total above the turn, else "more than 2.7"."""
    if least is not None:
        return f"at least {_share(least, total)}"
    return f"more than {_share(turn, total)}"


def _share(points: float, total: float) -> str:
    """Write points to a hundredth, but what is not quite whole is not rounded to it; of a total of 1 in percent."""
    if total == 1.0:
        return percent(points)
    near = round(points, 2)
    return number(points if near.is_integer() and abs(points - near) > EVEN else near)


def counted(have: float, turn: float, least: float | None, total: float) -> tuple[str, str]:
    """Say how many points there are and how many it takes, so that one reads whether these are enough."""
    if least is not None:
        return f"{number(have)} of {number(total)}", needed(turn, least, total)
    shown, mark = apart(have, turn, lambda points: _share(points, total))
    return f"{shown} of {number(total)}", f"more than {mark}"


def _stated(table: Criterion, negated: bool) -> tuple[dict[Any, float], float | None]:
    """Return how true a table, or its opposite, is of each category, and of any other."""
    truths = {category: 1.0 - t if negated else t for category, t in table.truths}
    return truths, None if table.other is None else (1.0 - table.other if negated else table.other)


def _kinds(table: Criterion, negated: bool) -> str:
    """Say which categories are true and how, or which are more than half, or which are not where any other is."""
    truths, other = _stated(table, negated)
    some = [category for category, t in truths.items() if t > 0.0]
    if not other and 0 < len(some) <= MOST_CATEGORIES:
        shares = ("" if truths[each] == 1.0 else f" ({percent(truths[each])})" for each in some)
        return f"is {listed([kinds([each]) + share for each, share in zip(some, shares, strict=True)])}"
    fits, rest = ([category for category, t in truths.items() if (t > 0.5) == fit] for fit in (True, False))
    if other is not None and other > 0.5:
        return f"is not {kinds(rest)}" if rest else "is known"
    best = max([*truths.values(), *([] if other is None else [other])])
    return f"is {kinds(fits)}" if fits else f"fits (at most {degree(best)})"


def _degrees(table: Criterion, negated: bool) -> str:
    """Say the degree of each category."""
    truths, other = _stated(table, negated)
    said = [
        f"{degree(t)} for {listed([one_line(repr(c)) for c, own in truths.items() if own == t])}"
        for t in dict.fromkeys(truths.values())
    ]
    if other is not None:
        said.append(f"{degree(other)} for anything else")
    return ", ".join(said)


@dataclass(frozen=True)
class LeafRole:
    """One leaf and what it is: `position` is its place in `flatten`."""

    position: int
    leaf: Leaf
    weight: float  # the product of the weights on the way from the root
    negated: bool  # whether it speaks for yes when it is not true
    own: str  # its role at its own gate: mandatory, desired, neutral, optional or sufficient
    scope: int  # the position of the highest gate within which it has this role
    whole: bool  # whether that is the whole decision

    @property
    def for_the_whole(self) -> str:
        """What it is to the whole decision: mandatory, sufficient, alone, or nothing that is certain."""
        return self.own if self.whole and (self.own in HARD_ROLES or self.own == ALONE) else ""


def leaf_roles(tree: Tree) -> list[LeafRole]:
    """Return the role of each leaf, left to right. Gates of one family above each other pass a role on."""
    order = flatten(tree.root)
    top = len(order) - 1
    while isinstance(order[top][0], Not):
        top = order[top][1][0]
    negated, weight = negations(order), shares(order)
    role, scope = [ALONE] * len(order), [top] * len(order)  # of the nearest gate above
    found: list[LeafRole] = []
    for position in range(len(order) - 1, -1, -1):
        node, below = order[position]
        own, reach = role[position], scope[position]
        if isinstance(node, Leaf):
            found.append(LeafRole(position, node, weight[position], negated[position], own, reach, reach == top))
        elif isinstance(node, Gate):
            own = told_level(node, negated[position]).role
            reach = reach if own == role[position] else position
        for child in below:
            role[child], scope[child] = own, reach
    return found[::-1]


class FeatureRole(NamedTuple):
    """What the leaves on one feature are to the decision; the heaviest first."""

    weight: float  # the sum over its leaves
    roles: tuple[str, ...]  # at their own gates
    certain: tuple[str, ...]  # for the whole decision: mandatory, sufficient, alone

    @property
    def role(self) -> str:
        """Its role at its own gate, or its roles."""
        return " and ".join(self.roles)

    @property
    def whole(self) -> str:
        """What it certainly is to the whole decision, or ""."""
        return " and ".join(self.certain)

    @property
    def words(self) -> str:
        """The role of a feature at its own gate, and what it is to the whole where that is not the same."""
        if self.certain not in ((), self.roles):
            return f"{self.role} ({self.whole} for the whole)"
        within = " within a part" if not self.certain and any(each in HARD_ROLES for each in self.roles) else ""
        return f"{self.role}{within}"


def feature_role(leaves: list[LeafRole]) -> FeatureRole:
    """Return what the leaves on one feature are together."""
    certain = dict.fromkeys(each.for_the_whole for each in leaves if each.for_the_whole)
    roles = dict.fromkeys(each.own for each in leaves)
    return FeatureRole(sum(each.weight for each in leaves), (*roles,), (*certain,))


def feature_weights(roles: list[LeafRole]) -> dict[str, float]:
    """Return the weight of each feature: the sum over its leaves; heaviest first, as in `tree.features`."""
    found: dict[str, float] = {}
    for each in roles:
        found[each.leaf.feature] = found.get(each.leaf.feature, 0.0) + each.weight
    return dict(sorted(found.items(), key=lambda item: -item[1]))


def by_feature(roles: list[LeafRole]) -> dict[str, list[LeafRole]]:
    """Return the leaves of each feature, heaviest feature first, and its heaviest leaf first."""
    return {
        feature: sorted((each for each in roles if each.leaf.feature == feature), key=lambda each: -each.weight)
        for feature in feature_weights(roles)
    }


@dataclass
class Item:
    """One input of a step: a statement or a group, with its share of the step."""

    share: float
    said: Statement | Group
    negated: bool = False  # of a group with a name


@dataclass
class Group:
    """One step: a gate with the gates of its family right below it."""

    position: int  # of the gate in `flatten`
    negated: bool  # whether its opposite is told
    level: Level
    name: str
    number: int = 0  # of a group without a name; 0 is the whole
    codes: list[str] = field(default_factory=list)
    items: list[Item] = field(default_factory=list)
    features: list[str] = field(default_factory=list)

    @property
    def called(self) -> str:
        """What it is referred to by."""
        return one_line(self.name) if self.name else f"group {self.number}" if self.number else "the whole"

    @property
    def phrase(self) -> str:
        """What it needs of its inputs, to be followed by a list of them."""
        shares = [item.share for item in self.items]
        return self.level.phrased(even=max(shares) - min(shares) < EVEN)

    @property
    def reference(self) -> str:
        """Its name, or its number with what it is about."""
        if self.name or not self.number:
            return self.called
        more = len(self.features) - MOST_FEATURES + 1
        shown = self.features if more <= 1 else [*self.features[: MOST_FEATURES - 1], f"{more} more"]
        return f"{self.called} ({listed(shown, 'and')})" if more > 1 else f"{self.called} ({', '.join(shown)})"


class _Unnegated(NamedTuple):
    """What is below some negations, with the name nearest to the top."""

    position: int
    negated: bool
    name: str
    opposite: bool  # whether the name is that of the opposite of what is told

    @property
    def label(self) -> str:
        return f"not {self.name}" if self.name and self.opposite else self.name


def told(tree: Tree) -> tuple[Statement | None, list[Group]]:
    """Return the steps of a tree, the whole first; of a tree without gates the one statement that it is."""
    order = flatten(tree.root)
    top = _below_negations(order, len(order) - 1)
    node = order[top.position][0]
    if isinstance(node, Leaf):
        return statement(node, top.negated, top.label), []
    assert isinstance(node, Gate)  # noqa: S101
    groups = [Group(top.position, top.negated, told_level(node, top.negated), top.label)]
    for group in groups:  # grows meanwhile
        for share, found in _inputs(order, group):
            below = order[found.position][0]
            if isinstance(below, Leaf):
                group.items.append(Item(share, statement(below, found.negated, found.label)))
                continue
            assert isinstance(below, Gate)  # noqa: S101
            negated = found.negated != found.opposite  # a group is told as it is named, and referred to by "not"
            groups.append(Group(found.position, negated, told_level(below, negated), found.name))
            group.items.append(Item(share, groups[-1], found.opposite))
        _tidy(group)
    for place, group in enumerate((each for each in groups[1:] if not each.name), start=1):
        group.number = place
    for group in reversed(groups):  # what is below first
        inner = [[i.said.feature] if isinstance(i.said, Statement) else i.said.features for i in group.items]
        group.features = list(dict.fromkeys(feature for features in inner for feature in features))
    return None, groups


def _inputs(order: Order, group: Group) -> list[tuple[float, _Unnegated]]:
    """Return the inputs of a step with their shares: the products of the weights on the way to them, as in the tree.

    A hard gate is a weighted product, and exponents of gates in gates multiply: where all are alike in the end, as in
    CP(CP(a, b), c), so are the shares.
    """
    inputs: list[tuple[float, float, _Unnegated]] = []
    waiting = deque([(1.0, 1.0, group.position, group.negated)])
    while waiting:
        above, exponent, position, sign = waiting.popleft()
        gate, below = order[position]
        assert isinstance(gate, Gate)  # noqa: S101
        level, power = told_level(gate, sign), gate.coefficients.power
        group.codes.append(level.code)
        strength = len(below) * power if level.role in HARD_ROLES and math.isfinite(power) else 1.0
        for child, weight in zip(below, gate.weights, strict=True):
            found = _below_negations(order, child, negated=sign)
            node, share, own = order[found.position][0], above * weight, exponent * weight * strength
            if isinstance(node, Gate) and not found.name and told_level(node, found.negated).role == group.level.role:
                waiting.append((share, own, found.position, found.negated))
            else:
                inputs.append((share, own, found))
    exponents = [own for _, own, _ in inputs]
    alike = max(exponents) - min(exponents) < EVEN * max(exponents)
    return [(1.0 / len(inputs) if alike else share, found) for share, _, found in inputs]


def _below_negations(order: Order, position: int, *, negated: bool = False) -> _Unnegated:
    name, opposite = "", False
    while True:
        node, below = order[position]
        if node.name and not name:
            name, opposite = node.name, negated
        if not isinstance(node, Not):
            return _Unnegated(position, negated, name, opposite)
        position, negated = below[0], not negated


def _tidy(group: Group) -> None:
    """Bring the leaves of a band together, and what weighs most to the front."""
    kept: list[Item] = []
    for item in group.items:
        for before in kept:
            if isinstance(item.said, Statement) and isinstance(before.said, Statement):
                joined = band(before.said, item.said, (before.share, item.share), group.level.role)
                if joined:
                    before.share, before.said = before.share + item.share, joined
                    break
        else:
            kept.append(item)
    group.items = sorted(kept, key=lambda item: -item.share)
