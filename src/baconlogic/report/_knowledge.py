"""What is true of a tree, as far as a report may speak of it. Each truth is worked out when it is asked for."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from baconlogic.core.nodes import Gate, Leaf, flatten, negations
from baconlogic.core.tree import Tree
from baconlogic.explain._case import categories, constant, unnamed
from baconlogic.explain._words import (
    Group,
    LeafRole,
    Statement,
    by_feature,
    feature_weights,
    leaf_roles,
    spans_of,
    told,
    told_level,
)

if TYPE_CHECKING:
    from baconlogic.core.levels import Level
    from baconlogic.core.nodes import Node
    from baconlogic.core.subject import Subject

TIE = 1e-9  # weights that differ by no more are equal


@dataclass(frozen=True)
class GateFact:
    """One gate: `told` is its level as a reader meets it, that of the mirror image under a negation."""

    position: int
    gate: Gate
    told: Level

    @property
    def levels(self) -> tuple[Level, Level]:
        """The level it has and the one it is told as."""
        return self.gate.level, self.told

    @property
    def codes(self) -> set[str]:
        """The codes of both."""
        return {level.code for level in self.levels}


class Knowledge:
    """A tree and its decision, asked as a reader of a report would ask."""

    def __init__(self, asked: Subject) -> None:
        self.asked = asked
        self.tree = asked.tree
        self.order = flatten(self.tree.root)
        self.roles = leaf_roles(self.tree)
        self.leaves: dict[str, list[LeafRole]] = by_feature(self.roles)
        self.features = list(self.leaves)

    @cached_property
    def gates(self) -> dict[int, GateFact]:
        """Every gate by its position, the root last."""
        negated = negations(self.order)
        return {
            i: GateFact(i, node, told_level(node, negated[i]))
            for i, (node, _) in enumerate(self.order)
            if isinstance(node, Gate)
        }

    @cached_property
    def top(self) -> int | None:
        """The position of the gate that decides; None for a tree that is one leaf."""
        return max(self.gates, default=None)

    @cached_property
    def parents(self) -> list[int]:
        """The nearest gate above each node, -1 above the first."""
        found = [-1] * len(self.order)
        for position in range(len(self.order) - 1, -1, -1):
            node, below = self.order[position]
            for child in below:
                found[child] = position if isinstance(node, Gate) else found[position]
        return found

    @cached_property
    def shares(self) -> list[float]:
        """The weight of each node in the gate above."""
        found = [1.0] * len(self.order)
        for position in range(len(self.order) - 1, -1, -1):
            node, below = self.order[position]
            for i, child in enumerate(below):
                found[child] = node.weights[i] if isinstance(node, Gate) else found[position]
        return found

    @cached_property
    def groups(self) -> list[Group]:
        """The steps in which `describe` tells the tree."""
        return told(self.tree)[1]

    @cached_property
    def words(self) -> set[str]:
        """The words of all names: of features, groups, units, categories and answers."""
        asked = self.asked
        texts = [*self.features, str(asked.yes), str(asked.no), *map(str, asked.classes)]
        for node, _ in self.order:
            texts.append(node.name)
            if isinstance(node, Leaf):
                texts += [node.criterion.unit, *(str(category) for category, _ in node.criterion.truths)]
        return {word.lower() for text in texts for word in re.findall(r"\w+[+-]?", text)}

    @cached_property
    def overall(self) -> dict[str, float]:
        """The weight of each feature in the whole."""
        return feature_weights(self.roles)

    def above(self, position: int) -> list[int]:
        """Return the gates above a node, nearest first."""
        found: list[int] = []
        while self.parents[position] >= 0:
            position = self.parents[position]
            found.append(position)
        return found

    def is_below(self, feature: str, gates: set[int]) -> bool:
        """Whether a leaf of a feature is somewhere below one of the gates."""
        return any(not gates.isdisjoint(self.above(each.position)) for each in self.leaves[feature])

    def below(self, gate: int) -> list[str]:
        """Return the features below a gate."""
        return [feature for feature in self.features if self.is_below(feature, {gate})]

    def parents_of(self, feature: str) -> set[int]:
        """Return the gates that a feature is an input of."""
        return {self.parents[each.position] for each in self.leaves[feature]} - {-1}

    def local(self, feature: str, gate: int) -> float:
        """Return the weight of a feature among the inputs of a gate."""
        places = [each.position for each in self.leaves[feature] if self.parents[each.position] == gate]
        return sum(self.shares[i] for i in places)

    def beside(self, gate: int) -> list[str]:
        """Return the features that are inputs of a gate themselves."""
        return [feature for feature in self.features if gate in self.parents_of(feature)]

    def weights(self, feature: str) -> list[float]:
        """Return every number that may be called the weight of a feature, the weight in its own gate first."""
        own = [self.shares[each.position] for each in self.leaves[feature]]
        whole = [self.overall[feature], *(each.weight for each in self.leaves[feature])]
        return [*own, *whole, *self._told.get(feature, [])]

    def gate_weights(self, gate: int) -> list[float]:
        """Return every number that may be called the weight of a gate."""
        whole = self.shares[gate]
        for each in self.above(gate):
            whole *= self.shares[each]
        return [self.shares[gate], whole, *self._told.get(gate, [])]

    @cached_property
    def _told(self) -> dict[str | int, list[float]]:
        """The shares that steps are told with: of features by name, of gates by position."""
        found: dict[str | int, list[float]] = {}
        of_group: dict[int, float] = {}
        for group in self.groups:  # those above come first
            for item in group.items:
                if isinstance(item.said, Group):
                    found.setdefault(item.said.position, []).append(item.share)
                    of_group[item.said.position] = item.share
                    continue
                shares = [item.share, item.share * of_group.get(group.position, 1.0)]
                found.setdefault(item.said.leaves[0].feature, []).extend(shares)
        return found

    def rankings(self, feature: str) -> list[dict[str, float]]:
        """Return the weights of the features beside one, in each of its gates and in each step it is told in."""
        found = [{each: self.local(each, gate) for each in self.beside(gate)} for gate in self.parents_of(feature)]
        for group in self.groups:
            shares = {i.said.leaves[0].feature: i.share for i in group.items if isinstance(i.said, Statement)}
            if feature in shares:
                found.append(shares)
        return found

    @cached_property
    def whole_rankings(self) -> list[dict[str, float]]:
        """The weights of all features in the whole, and of those that the first step is told of."""
        first = [i for group in self.groups[:1] for i in group.items]
        shares = {i.said.leaves[0].feature: i.share for i in first if isinstance(i.said, Statement)}
        heaviest = max((i.share for i in first), default=0.0)
        return [self.overall, *([shares] if shares and max(shares.values()) >= heaviest - TIE else [])]

    def directions(self, feature: str) -> set[bool | None]:
        """Return which way a feature speaks for yes: True by larger values, False by smaller, None otherwise."""
        rising = ((each.leaf.criterion.rising, each.negated) for each in self.leaves[feature])
        return {None if up is None else bool(up) != negated for up, negated in rising}

    def marks(self, feature: str, *, half: bool = False) -> list[float]:
        """Return the raw values at which something happens to a feature: breakpoints, half-way, the decision.

        With `half`, only those at which it is half true.
        """
        found: list[float] = []
        turns = {0.5} if half else {0.05, 0.5, 0.95, min(max(self.asked.threshold, 0.0), 1.0)}
        for each in self.leaves[feature]:
            criterion = each.leaf.criterion
            if not (criterion.categorical or criterion.holds_truths):
                found += () if half else criterion.corners
                found += [x for turn in turns for t in (turn, 1.0 - turn) for x in criterion.crossings(t)]
        return found

    def sides(self, feature: str) -> list[tuple[float, float]]:
        """Return the raw ranges in which a feature speaks for yes."""
        return [span for each in self.leaves[feature] for span in spans_of(each.leaf.criterion, each.negated) or ()]

    def certain(self, feature: str) -> set[str]:
        """Return what a feature is to the whole by its place: mandatory, sufficient, or it decides alone."""
        return {each.for_the_whole for each in self.leaves[feature]} - {""}

    @cached_property
    def decisive(self) -> dict[str, tuple[bool, bool]]:
        """For each feature: is it necessary for yes, does it alone make a yes sure? By the bounds of the tree.

        It is necessary when some value of it keeps the highest truth, all else free, at or below the threshold; it is
        sufficient when some value keeps the lowest truth above it.
        """
        if any(len({each.leaf.criterion.categorical for each in leaves}) > 1 for leaves in self.leaves.values()):
            return {}  # a column read as a number and as a category: the bounds may be wider than the truth
        tried = {feature: self._tried([each.leaf for each in self.leaves[feature]]) for feature in self.features}
        rows = sum(len(values) for values in tried.values())
        table: dict[str, Any] = {}
        start = 0
        for feature, values in tried.items():
            text = all(each.leaf.criterion.categorical for each in self.leaves[feature])
            column: Any = np.full(rows, None, dtype=object) if text else np.full(rows, np.nan)
            column[start : start + len(values)] = values
            table[feature] = column
            start += len(values)
        try:
            low, high = self.tree.bounds(table)
        except ValueError:  # no category is in all the tables that read a column: it can have no value at all
            return {}
        found, start = {}, 0
        for feature, values in tried.items():
            here = slice(start, start + len(values))
            found[feature] = (
                bool(np.min(high[here]) <= self.asked.threshold),
                bool(np.max(low[here]) > self.asked.threshold),
            )
            start += len(values)
        return found

    def _tried(self, leaves: list[Leaf]) -> list[Any]:
        """Return values of a feature among which its best and its worst are."""
        if all(leaf.criterion.categorical for leaf in leaves):
            return [*categories(leaves), *unnamed(leaves)] or [None]
        numeric = [leaf.criterion for leaf in leaves if not leaf.criterion.categorical]
        bends = sorted({x for criterion in numeric for x in criterion.bends})
        if any(criterion.holds_truths for criterion in numeric):
            bends = sorted({0.0, 1.0, *(x for x in bends if 0.0 <= x <= 1.0)})
        if len(leaves) == 1 and numeric[0].rising is not None:
            return [bends[0], bends[-1]]
        return sorted({*bends, *(a / 2.0 + b / 2.0 for a, b in pairwise(bends))})

    def gate_decisive(self, gate: int) -> tuple[bool, bool] | None:
        """Return whether a part is necessary for yes, and whether it alone makes a yes sure: all else free."""
        if not self.decisive:
            return None
        worst, best = (1.0, 0.0) if negations(self.order)[gate] else (0.0, 1.0)
        return (
            self._bounds_with(gate, worst)[1] <= self.asked.threshold,
            self._bounds_with(gate, best)[0] > self.asked.threshold,
        )

    def _bounds_with(self, part: int, truth: float) -> tuple[float, float]:
        """Return the bounds of the whole when one part has this truth and all else is free."""
        made: list[Node] = []
        for position, (node, below) in enumerate(self.order):
            fixed = constant(Leaf("part"), truth) if position == part else node
            made.append(fixed if position == part or not below else node.with_children(tuple(made[i] for i in below)))
        tree = Tree(made[-1])
        text = {leaf.feature for leaf, _ in flatten(tree.root) if isinstance(leaf, Leaf) and leaf.criterion.categorical}
        low, high = tree.bounds({name: [None] if name in text else [np.nan] for name in tree.features})
        return float(low[0]), float(high[0])
