"""Building a tree anew around groups that people name: what the paper does by hand (section 4.3, "size group")."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from baconlogic.core import gcd
from baconlogic.core.nodes import Gate, Leaf, Node, Not, flatten, negations
from baconlogic.core.tree import Tree
from baconlogic.edit._andness import carried, for_inputs, for_two, opposite
from baconlogic.edit._simplify import exponents, kind_of, merge_gates, merged

LEAST = 1e-15  # the least share that a leaf keeps
LEAST_EXPONENT = 0.5  # of a disjunction in another: small ones blow up what 1 - x rounds off

Group = str | int  # the name of a group, or the position of a leaf that is in none


@dataclass(frozen=True)
class _Part:
    """A leaf, or its negation, with its share of the tree and the group it goes to."""

    node: Node
    share: float
    group: Group


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
    parts = _parts(plain, of)
    inside, across = _meetings(plain, parts)
    rule = plain.aggregator if isinstance(plain, Gate) else gcd.DEFAULT
    built = {group: _joined(members, inside.get(group), rule, group) for group, members in _by_group(parts).items()}
    return Tree(_top([(node, share) for node, share in built.values()], across, rule, name))


def _check(tree: Tree, groups: Mapping[str, Sequence[str]]) -> None:
    if not isinstance(groups, Mapping) or not groups:
        raise TypeError(
            f'groups are a mapping of names to features, e.g. {{"size": ["area", "radius"]}}; got {groups!r}'
        )
    seen: dict[str, str] = {}
    for group, features in groups.items():
        if isinstance(features, str) or not isinstance(features, Sequence):
            raise TypeError(f"the group {group!r} must be a list of features, got {features!r}")
        if not isinstance(group, str) or not group.strip() or not features:
            raise ValueError(f"a group needs a name and at least one feature, got {group!r}: {list(features)!r}")
        for feature in features:
            if feature not in tree.features:
                raise LookupError(
                    f"the group {group!r} has {feature!r}, which the tree does not use; it uses "
                    f"{', '.join(map(repr, tree.features))}"
                )
            if seen.setdefault(feature, group) != group or list(features).count(feature) > 1:
                raise ValueError(
                    f"{feature!r} is listed twice, in {seen[feature]!r} and {group!r}; it goes to one group"
                )


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


def _parts(root: Node, of: Mapping[str, str]) -> dict[int, _Part]:
    """Return leaves and negated leaves by their position in `flatten`."""
    order = flatten(root)
    shares, parts = [1.0] * len(order), dict[int, _Part]()
    for position in range(len(order) - 1, -1, -1):
        node, below = order[position]
        if isinstance(node, Gate):
            for child, weight in zip(below, node.weights, strict=True):
                shares[child] = shares[position] * weight
        elif isinstance(node, Not) or position not in parts:
            leaf = node.input if isinstance(node, Not) else node
            assert isinstance(leaf, Leaf)  # noqa: S101
            part = _Part(node, max(shares[position], LEAST), of.get(leaf.feature, position))
            parts |= dict.fromkeys((position, *below), part)
    return {i: part for i, part in sorted(parts.items()) if part.node is order[i][0]}


def _by_group(parts: Mapping[int, _Part]) -> dict[Group, list[_Part]]:
    found: dict[Group, list[_Part]] = defaultdict(list)
    for part in parts.values():
        found[part.group].append(part)
    return found


def _meetings(root: Node, parts: Mapping[int, _Part]) -> tuple[dict[Group, float], float]:
    """Return the mean andness at which members of each group meet, and at which different groups do."""
    inside: dict[Group, list[float]] = defaultdict(lambda: [0.0, 0.0])  # weight, weight times andness
    across = [0.0, 0.0]
    below_of: list[dict[Group, float]] = []
    for position, (node, below) in enumerate(flatten(root)):
        held = [below_of[i] for i in below]
        total: dict[Group, float] = defaultdict(float)
        for each in held:
            for group, share in each.items():
                total[group] += share
        if position in parts:
            total = defaultdict(float, {parts[position].group: parts[position].share})
        elif isinstance(node, Gate):
            andness = for_two(node.andness, len(below))
            pairs = _pairs([sum(each.values()) for each in held])
            for group in total:
                own = _pairs([each.get(group, 0.0) for each in held])
                pairs -= own
                inside[group] = [inside[group][0] + own, inside[group][1] + own * andness]
            across = [across[0] + max(pairs, 0.0), across[1] + max(pairs, 0.0) * andness]
        below_of.append(total)
        for i in below:
            below_of[i] = {}  # a long chain would otherwise keep every prefix of itself
    mean = {group: moment / weight for group, (weight, moment) in inside.items() if weight > 0.0}
    return mean, across[1] / across[0] if across[0] > 0.0 else gcd.NEUTRAL


def _pairs(shares: list[float]) -> float:
    """Return the sum of products over all pairs."""
    return max((sum(shares) ** 2 - sum(share * share for share in shares)) / 2.0, 0.0)


def _joined(members: list[_Part], andness: float | None, rule: str, group: Group) -> tuple[Node, float]:
    """Return the gate of a group, or its one member, and the share of the group."""
    name, total = (group if isinstance(group, str) else ""), math.fsum(part.share for part in members)
    if len(members) == 1:
        node = members[0].node
        return (replace(node, name=name) if name else node), total
    level = for_inputs(gcd.NEUTRAL if andness is None else andness, len(members))
    weights = [part.share / total for part in members]
    return Gate([part.node for part in members], level, weights, rule, name), total


def _top(inputs: list[tuple[Node, float]], andness: float, rule: str, name: str) -> Node:
    if len(inputs) == 1:
        return inputs[0][0]
    nodes, shares = zip(*inputs, strict=True)
    total = math.fsum(shares)
    return Gate(nodes, for_inputs(andness, len(nodes)), [share / total for share in shares], rule, name)


def _exactly(root: Node, of: Mapping[str, str], name: str) -> Node | None:
    """Return the regrouped tree when the tree is one gate that can be split; else None."""
    kind = kind_of(root)
    if kind is None or not isinstance(root, Gate):
        return None
    members: dict[Group, list[tuple[Node, float]]] = defaultdict(list)
    for place, (node, share) in enumerate(exponents(root)):
        leaf = node.input if isinstance(node, Not) else node
        if not isinstance(leaf, Leaf):
            return None
        members[of.get(leaf.feature, place)].append((node, share))
    if len(members) == 1:
        return Gate(root.inputs, root.andness, root.weights, root.aggregator, str(next(iter(members))))
    found: list[Node] = []
    for inner in (root.andness, 0.25 if kind[1] else gcd.HARD):  # the softer the groups, the harder the gate over them
        parts = [_split(root, group, inputs, inner) for group, inputs in members.items()]
        made = merged(replace(root, name=name), parts)
        if made is not None and (kind != ("hard", True) or min(share for _, share in parts) >= LEAST_EXPONENT):
            return made
        found += [] if made is None else [made]
    return found[0] if found else None


def _split(root: Gate, group: Group, inputs: list[tuple[Node, float]], andness: float) -> tuple[Node, float]:
    """Return the gate of a group, or its one member, and the exponent that gives the members theirs."""
    name = group if isinstance(group, str) else ""
    nodes, shares = zip(*inputs, strict=True)
    total = math.fsum(shares)
    if len(nodes) == 1:
        return (replace(nodes[0], name=name) if name else nodes[0]), total
    level = carried(andness, len(root.inputs), len(nodes))
    if kind_of(root) in (("neutral", False), ("drastic", False), ("drastic", True)):
        level = root.andness if root.andness == gcd.NEUTRAL else level
        return Gate(nodes, level, [share / total for share in shares], root.aggregator, name), total
    gate = Gate(nodes, level, [share / total for share in shares], root.aggregator, name)
    return gate, total / (len(nodes) * gate.coefficients.power)
