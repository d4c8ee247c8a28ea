"""What each leaf is to the decision: its weight, its role at its own gate, and how far up that role reaches.

A negation is taken down to the leaves (De Morgan): under it "must have all" is told as "enough to have any" of the
opposites. So a role is about the statement that speaks for yes: "area is small" is mandatory, not "area is large".
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from baconlogic.core.levels import HARD_ROLES, Level, nearest_level
from baconlogic.core.nodes import Gate, Leaf, Not, flatten

if TYPE_CHECKING:
    from baconlogic.core.tree import Tree

ALONE = "decides alone"  # the role of the only leaf of a tree


@dataclass(frozen=True)
class LeafRole:
    """One leaf and what it is: `position` is its place in `flatten`."""

    position: int
    leaf: Leaf
    weight: float  # the product of the weights on the way from the root
    depth: int  # gates above it
    negated: bool  # whether it speaks for yes when it is not true
    own: str  # its role at its own gate: mandatory, desired, neutral, optional or sufficient
    scope: int  # the position of the highest gate within which it has this role
    whole: bool  # whether that is the whole decision

    @property
    def for_the_whole(self) -> str:
        """What it is to the whole decision: mandatory, sufficient, alone, or nothing that is certain."""
        return self.own if self.whole and (self.own in HARD_ROLES or self.own == ALONE) else ""


def told_level(gate: Gate, negated: bool) -> Level:
    """Return the level of a gate, or of its mirror image when it is negated."""
    return nearest_level(1.0 - gate.andness, len(gate.inputs)) if negated else gate.level


def leaf_roles(tree: Tree) -> list[LeafRole]:
    """Return the role of each leaf, left to right. Gates of one family above each other pass a role on."""
    order = flatten(tree.root)
    top = len(order) - 1
    while isinstance(order[top][0], Not):
        top = order[top][1][0]
    negated, weight, depth = [False] * len(order), [1.0] * len(order), [0] * len(order)
    role, scope = [ALONE] * len(order), [top] * len(order)  # of the nearest gate above
    found: list[LeafRole] = []
    for position in range(len(order) - 1, -1, -1):
        node, below = order[position]
        if isinstance(node, Leaf):
            way = weight[position], depth[position], negated[position], role[position], scope[position]
            found.append(LeafRole(position, node, *way, scope[position] == top))
            continue
        own, reach = role[position], scope[position]
        shares = node.weights if isinstance(node, Gate) else (1.0,)
        if isinstance(node, Gate):
            own = told_level(node, negated[position]).role
            reach = scope[position] if own == role[position] else position
        for child, share in zip(below, shares, strict=True):
            negated[child] = negated[position] != isinstance(node, Not)
            weight[child], depth[child] = weight[position] * share, depth[position] + isinstance(node, Gate)
            role[child], scope[child] = own, reach
    return found[::-1]


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


def in_words(role: str, whole: str) -> str:
    """Say the role of a feature at its own gate, and what it is to the whole where that is not the same."""
    if whole in (role, ""):
        return role if whole or not any(each in HARD_ROLES for each in role.split(" and ")) else f"{role} within a part"
    return f"{role} ({whole} for the whole)"
