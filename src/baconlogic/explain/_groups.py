"""A tree as people tell it: gates of one family above each other are one step, negations are taken down to the leaves.

A gate with a name is a step of its own, and what is said of it is said once: under a negation it is "not large".
"""

from __future__ import annotations

import math
from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from baconlogic.core.levels import AND_ROLES, HARD_ROLES, NEUTRAL_ROLE
from baconlogic.core.nodes import Gate, Leaf, Not, flatten
from baconlogic.core.words import listed, one_line
from baconlogic.explain._phrases import Statement, band, statement
from baconlogic.explain._roles import told_level

if TYPE_CHECKING:
    from baconlogic.core.levels import Level
    from baconlogic.core.nodes import Node
    from baconlogic.core.tree import Tree

    Order = list[tuple[Node, tuple[int, ...]]]

MOST_FEATURES = 4  # to call a group by


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
    def reference(self) -> str:
        """Its name, or its number with what it is about."""
        if self.name or not self.number:
            return self.called
        more = len(self.features) - MOST_FEATURES + 1
        shown = self.features if more <= 1 else [*self.features[: MOST_FEATURES - 1], f"{more} more"]
        return f"{self.called} ({listed(shown, 'and')})" if more > 1 else f"{self.called} ({', '.join(shown)})"


class _Found(NamedTuple):
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
    for number, group in enumerate((each for each in groups[1:] if not each.name), start=1):
        group.number = number
    for group in reversed(groups):  # what is below first
        inner = [[i.said.feature] if isinstance(i.said, Statement) else i.said.features for i in group.items]
        group.features = list(dict.fromkeys(feature for features in inner for feature in features))
    return None, groups


def _inputs(order: Order, group: Group) -> list[tuple[float, _Found]]:
    """Return the inputs of a step with their shares."""
    inputs: list[tuple[float, _Found]] = []
    waiting = deque([(1.0, group.position, group.negated)])
    while waiting:
        above, position, sign = waiting.popleft()
        gate, below = order[position]
        assert isinstance(gate, Gate)  # noqa: S101
        level = told_level(gate, sign)
        group.codes.append(level.code)
        power = gate.coefficients.power  # a hard gate is a weighted product: exponents of gates in gates multiply
        strength = len(below) * power if level.role in HARD_ROLES and math.isfinite(power) else 1.0
        for child, weight in zip(below, gate.weights, strict=True):
            found = _below_negations(order, child, negated=sign)
            node, share = order[found.position][0], above * weight * strength
            if isinstance(node, Gate) and not found.name and told_level(node, found.negated).role == group.level.role:
                waiting.append((share, found.position, found.negated))
            else:
                inputs.append((share, found))
    total = sum(share for share, _ in inputs)
    return [(share / total, found) for share, found in inputs]


def _below_negations(order: Order, position: int, *, negated: bool = False) -> _Found:
    name, opposite = "", False
    while True:
        node, below = order[position]
        if node.name and not name:
            name, opposite = node.name, negated
        if not isinstance(node, Not):
            return _Found(position, negated, name, opposite)
        position, negated = below[0], not negated


def _tidy(group: Group) -> None:
    """Bring the leaves of a band together, and what weighs most to the front."""
    both = group.level.role in AND_ROLES
    kept: list[Item] = []
    for item in group.items if group.level.role != NEUTRAL_ROLE else []:
        for before in kept:
            if isinstance(item.said, Statement) and isinstance(before.said, Statement):
                joined = band(before.said, item.said, both=both)
                if joined:
                    before.share, before.said = before.share + item.share, joined
                    break
        else:
            kept.append(item)
    group.items = sorted(kept or group.items, key=lambda item: -item.share)
