"""Building a tree anew around groups that people name: what the paper does by hand (section 4.3, "size group")."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from baconlogic.core import gcd
from baconlogic.core.nodes import Gate, Leaf, Node, Not, flatten, negations, shares
from baconlogic.core.tree import Tree
from baconlogic.edit._simplify import exponents, kind_of, merge_gates, merged, opposite
from baconlogic.edit._structure import carried

LEAST = 1e-15  # the least share that a leaf keeps
LEAST_EXPONENT = 0.5  # of a disjunction in another: small ones blow up what 1 - x rounds off

Group = str | int  # the name of a group, or the position of a leaf that is in none
Order = list[tuple[Node, tuple[int, ...]]]  # as `flatten` gives it
Members = list[tuple[Node, float]]  # leaves or negated leaves with their shares of the tree, or their exponents


@dataclass
class _Mean:
    """A weighted mean, as it is added up."""

    weight: float = 0.0
    moment: float = 0.0

    def add(self, value: float, weight: float) -> None:
        self.weight, self.moment = self.weight + weight, self.moment + weight * value

    @property
    def value(self) -> float:
        """The mean; neutral where nothing weighs anything."""
        return self.moment / self.weight if self.weight > 0.0 else gcd.NEUTRAL


def regroup(tree: Tree, groups: Mapping[str, Sequence[str]]) -> Tree:
    """Return a tree with one named gate for each group of features and a gate that joins groups and other leaves.

    Weights are the shares that leaves have in the tree. The andness of a gate is the mean of those at which its members
    meet in the tree, by their shares. A tree that is one neutral, hard or drastic gate keeps its truths exactly; of a
    hard gate this holds while a product can be split that way.
    """
    _check(tree, groups)
    of = {feature: group for group, features in groups.items() for feature in features}
    plain = merge_gates(_negations_at_leaves(tree.root))
    name = tree.root.name if isinstance(tree.root, Gate) else ""
    exact = _exactly(plain, of, name)
    if exact is not None:
        return Tree(exact)
    order = flatten(plain)
    group_of, share = _groups(order, of), [max(share, LEAST) for share in shares(order)]
    inside, across = _meetings(order, group_of, share)
    members: dict[Group, Members] = defaultdict(list)
    for position, group in group_of.items():
        members[group].append((order[position][0], share[position]))
    rule = plain.aggregator if isinstance(plain, Gate) else gcd.DEFAULT
    built = [
        (_gathered(inputs, inside[group].value, 2, rule, _name(group)), math.fsum(own for _, own in inputs))
        for group, inputs in members.items()
    ]
    return Tree(built[0][0] if len(built) == 1 else _gathered(built, across.value, 2, rule, name))


def _check(tree: Tree, groups: Mapping[str, Sequence[str]]) -> None:
    if not isinstance(groups, Mapping) or not groups:
        example = '{"size": ["area", "radius"]}'
        raise TypeError(f"groups are a mapping of names to features, e.g. {example}; got {groups!r}")
    seen: dict[str, str] = {}
    for group, features in groups.items():
        if isinstance(features, str) or not isinstance(features, Sequence):
            raise TypeError(f"the group {group!r} must be a list of features, got {features!r}")
        if not isinstance(group, str) or not group.strip() or not features:
            raise ValueError(f"a group needs a name and at least one feature, got {group!r}: {list(features)!r}")
        for feature in features:
            if feature not in tree.features:
                uses = ", ".join(map(repr, tree.features))
                raise LookupError(f"the group {group!r} has {feature!r}, which the tree does not use; it uses {uses}")
            if seen.setdefault(feature, group) != group or list(features).count(feature) > 1:
                twice = f"in {seen[feature]!r} and {group!r}"
                raise ValueError(f"{feature!r} is listed twice, {twice}; it goes to one group")


def _negations_at_leaves(root: Node) -> Node:
    """Return the tree without names of gates, every negation pushed down to the leaves by De Morgan."""
    order = flatten(root)
    made: list[Node] = []
    for (node, below), turn in zip(order, negations(order), strict=True):
        if isinstance(node, Gate):
            andness = opposite(node.andness, len(below)) if turn else node.andness
            made.append(Gate([made[i] for i in below], andness, node.weights, node.aggregator))
        elif isinstance(node, Leaf):
            made.append(Not(node) if turn else node)
        else:
            made.append(made[below[0]])
    return made[-1]


def _groups(order: Order, of: Mapping[str, str]) -> dict[int, Group]:
    """Return the group of each leaf, or of its negation, by position."""
    found: dict[int, Group] = {}
    for position, (node, below) in enumerate(order):
        leaf = node.input if isinstance(node, Not) else node
        if isinstance(leaf, Leaf):
            for inner in below:  # a negated leaf stands for its leaf
                del found[inner]
            found[position] = of.get(leaf.feature, position)
    return found


def _meetings(order: Order, group_of: dict[int, Group], share: list[float]) -> tuple[dict[Group, _Mean], _Mean]:
    """Return the mean andness at which members of each group meet, and at which different groups do.

    Two leaves meet at the gate where their ways to the root join; a pair counts by the product of their shares.
    """
    inside, across = defaultdict[Group, _Mean](_Mean), _Mean()
    held: list[dict[Group, float]] = []  # below each node, by group
    for position, (node, below) in enumerate(order):
        inputs = [held[i] for i in below]
        own: dict[Group, float] = defaultdict(float)
        if position in group_of:
            own[group_of[position]] = share[position]
        else:
            for each in inputs:
                for group, held_share in each.items():
                    own[group] += held_share
        if isinstance(node, Gate):
            andness = carried(node.andness, len(below), 2)
            apart = _pairs([sum(each.values()) for each in inputs])
            for group in own:
                alike = _pairs([each.get(group, 0.0) for each in inputs])
                inside[group].add(andness, alike)
                apart -= alike
            across.add(andness, max(apart, 0.0))
        held.append(own)
        for i in below:
            held[i] = {}  # a long chain would otherwise keep every prefix of itself
    return inside, across


def _pairs(shares: list[float]) -> float:
    """Return the sum of products over all pairs."""
    return max((sum(shares) ** 2 - sum(share * share for share in shares)) / 2.0, 0.0)


def _gathered(members: Members, andness: float, n: int, rule: str, name: str) -> Node:
    """Return the gate over some members, like one of n inputs with this andness; of one member, that by the name."""
    if len(members) == 1:
        return replace(members[0][0], name=name) if name else members[0][0]
    total = math.fsum(share for _, share in members)
    weights = [share / total for _, share in members]
    return Gate([node for node, _ in members], carried(andness, n, len(members)), weights, rule, name)


def _name(group: Group) -> str:
    return group if isinstance(group, str) else ""


def _exactly(root: Node, of: Mapping[str, str], name: str) -> Node | None:
    """Return the regrouped tree when the tree is one gate that can be split; else None."""
    kind = kind_of(root)
    if kind is None or not isinstance(root, Gate):
        return None
    members: dict[Group, Members] = defaultdict(list)
    for place, (node, share) in enumerate(exponents(root, kind)):
        leaf = node.input if isinstance(node, Not) else node
        if not isinstance(leaf, Leaf):
            return None
        members[of.get(leaf.feature, place)].append((node, share))
    if len(members) == 1:
        return replace(root, name=str(next(iter(members))))
    softest = [0.25 if kind.dual else gcd.HARD] if kind.name == "hard" else []
    found: list[Node] = []
    for andness in (root.andness, *softest):  # the softer the groups, the harder the gate over them
        parts: Members = []
        for group, inputs in members.items():
            gate = _gathered(inputs, andness, len(root.inputs), root.aggregator, _name(group))
            share = math.fsum(exponent for _, exponent in inputs)
            if kind.name == "hard" and isinstance(gate, Gate):  # the exponent that gives the members theirs
                share /= len(inputs) * gate.coefficients.power
            parts.append((gate, share))
        made = merged(replace(root, name=name), kind, parts)
        if made is not None and (kind != ("hard", True) or min(share for _, share in parts) >= LEAST_EXPONENT):
            return made
        found += [] if made is None else [made]
    return found[0] if found else None
