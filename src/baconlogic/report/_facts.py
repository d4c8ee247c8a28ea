"""What is true of a tree, as far as a report may speak of it. Each truth is worked out when it is asked for.

A part of the tree is a feature, with all its leaves, or one node; a node is known by its path, as in `Tree.walk`.
"""

from __future__ import annotations

import json
import math
from dataclasses import replace
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np

from baconlogic import metrics
from baconlogic.core.criteria import unlisted
from baconlogic.core.criterion import Criterion
from baconlogic.core.forms import told_level
from baconlogic.core.levels import HARD_ROLES, Level
from baconlogic.core.nodes import Gate, Leaf, Node, Not, Path
from baconlogic.core.subject import Subject
from baconlogic.explain._case import categories, constant, unnamed
from baconlogic.explain._words import LeafRole, by_feature, feature_weights, leaf_roles

MIRRORED = {  # what a part is to no that is this to yes
    "mandatory": "sufficient", "desired": "optional", "neutral": "neutral", "optional": "desired",
    "sufficient": "mandatory",
}  # fmt: skip

METRICS = ("accuracy", "recall", "precision", "specificity", "auc")


class UnknownPartError(LookupError):
    """A part that the tree does not have, or has more than once."""


class Facts:
    """A tree and its decision, asked as a reader of a report would ask; `X` are rows and `y` their labels."""

    def __init__(self, asked: Subject, X: Any = None, y: Any = None) -> None:
        if X is None and y is not None:
            raise ValueError("y are the labels of rows: give X, the rows, as well")
        self.asked, self.tree = asked, asked.tree
        self.nodes: dict[Path, Node] = dict(self.tree.walk())
        roles = leaf_roles(self.tree)
        leaves = [path for path, node in self.nodes.items() if isinstance(node, Leaf)]
        self.paths = {role.position: path for role, path in zip(roles, leaves, strict=True)}  # both left to right
        self.leaves: dict[str, list[LeafRole]] = by_feature(roles)
        self.features = list(self.leaves)
        self.columns = set(asked.columns)  # of the data, whether the tree uses them or not
        self.table = None if X is None else asked.table(X)
        self._judged = None if X is None or y is None else asked.judged(X, y)

    @cached_property
    def gates(self) -> dict[Path, tuple[Gate, Level]]:
        """Each gate by its path, root first, with its level as a reader meets it: mirrored under a negation."""
        negated: dict[Path, bool] = {(): False}
        found: dict[Path, tuple[Gate, Level]] = {}
        for path, node in self.nodes.items():
            for i in range(len(node.children)):
                negated[(*path, i)] = negated[path] != isinstance(node, Not)
            if isinstance(node, Gate):
                found[path] = node, told_level(node, negated[path])
        return found

    def path(self, part: str | Path) -> Path | None:
        """Return the path of a node, below its negations; None for a feature. An error for what is not there."""
        if isinstance(part, str):
            found: list[Path | None] = [path for path, (gate, _) in self.gates.items() if gate.name == part]
            found += [None] if part in self.leaves or (part in self.columns and not found) else []
            if len(found) != 1:
                several = f"{len(found)} parts of the tree are called {quoted(part)}; give a path"
                raise UnknownPartError(several if found else f"the tree has no feature or gate {quoted(part)}")
            return found[0]
        path = tuple(part)
        if path not in self.nodes:
            raise UnknownPartError(f"the tree has no node at {list(path)}")
        while isinstance(self.nodes[path], Not):
            path = (*path, 0)
        return path

    def gate(self, part: str | Path) -> Path:
        """Return the path of a gate."""
        path = self.path(part)
        if path not in self.gates:
            raise UnknownPartError(f"{part if isinstance(part, str) else list(part)} is no gate")
        return path

    def criteria(self, feature: str) -> list[tuple[Criterion, bool]]:
        """Return each criterion of a feature, and whether it is negated; none for a column that is not used."""
        if feature not in self.leaves and feature not in self.columns:
            raise UnknownPartError(f"the tree has no feature {quoted(feature)}")
        return [(each.leaf.criterion, each.negated) for each in self.leaves.get(feature, ())]

    def places(self, part: str | Path) -> list[Path]:
        """Return the paths of the leaves of a feature, heaviest first, or that of a node."""
        path = self.path(part)
        return [self.paths[role.position] for role in self.leaves.get(str(part), ())] if path is None else [path]

    def weight(self, part: str | Path, within: Path = ()) -> float:
        """Return the product of the weights from a gate down to a part, summed over its places; 0 where it has none."""
        return math.fsum(self._product(path, within) for path in self.places(part) if path[: len(within)] == within)

    def own_weight(self, path: Path) -> float:
        """Return the weight of a node in the gate right above it."""
        above = next((path[:i] for i in range(len(path) - 1, -1, -1) if path[:i] in self.gates), ())
        return self._product(path, above)

    def _product(self, path: Path, within: Path) -> float:
        node, product = self.nodes[within], 1.0
        for i in path[len(within) :]:
            product *= node.weights[i] if isinstance(node, Gate) else 1.0
            node = node.children[i]
        return product

    def weights(self, within: Path = ()) -> dict[str, float]:
        """Return the weight of each feature below a gate, heaviest first."""
        inside = [
            replace(role, weight=self._product(path, within)) if within else role
            for role, path in ((role, self.paths[role.position]) for roles in self.leaves.values() for role in roles)
            if path[: len(within)] == within
        ]
        return feature_weights(inside)

    def ranks(self, feature: str, within: Path = ()) -> range:
        """Return the ranks that a feature has by weight among those below a gate: several where weights are equal."""
        weights = self.weights(within)
        if feature not in weights:
            return range(0)
        own = weights[feature]
        above = sum(weight > own and not is_equal(weight, own) for weight in weights.values())
        return range(above + 1, above + 1 + sum(is_equal(weight, own) for weight in weights.values()))

    def has_role(self, part: str | Path, role: str, within: Path | None = None) -> bool | None:
        """Whether a part has a role within a gate, or in the whole decision; None where that is not known.

        By its place: the gates above it, up to that gate, all give it this role. To the whole it is also mandatory
        when no truth is above the threshold without it, and sufficient when it alone makes every truth so.
        """
        places = self.places(part)
        if any(self._place_role(path, within or ()) == role for path in places):
            return True
        if within is not None or role not in HARD_ROLES or not places:
            return False
        path = self.path(part)
        found = self.decisive.get(str(part)) if path is None else self._node_decisive(path)
        return None if found is None else found[HARD_ROLES.index(role)]

    def _place_role(self, path: Path, within: Path) -> str:
        """Return the role that all gates from one gate down to a node give it; nothing where they differ."""
        above = (path[:i] for i in range(len(within), len(path)) if path[: len(within)] == within)
        roles = {self.gates[gate][1].role for gate in above if gate in self.gates}
        return roles.pop() if len(roles) == 1 else ""

    @cached_property
    def decisive(self) -> dict[str, tuple[bool, bool]]:
        """For each feature: is it necessary for yes, does it alone make a yes sure? By the bounds of the tree.

        It is necessary when some value of it keeps the highest truth, all else free, at or below the threshold; it is
        sufficient when some value keeps the lowest truth above it.
        """
        if any(len({each.leaf.criterion.categorical for each in leaves}) > 1 for leaves in self.leaves.values()):
            return {}  # a column read as a number and as a category: the bounds may be wider than the truth
        tried = {feature: _tried([each.leaf for each in leaves]) for feature, leaves in self.leaves.items()}
        starts = np.cumsum([0, *(len(values) for values in tried.values())])
        table: dict[str, Any] = {}
        for (feature, values), start in zip(tried.items(), starts, strict=False):
            text = self.leaves[feature][0].leaf.criterion.categorical
            table[feature] = np.full(starts[-1], None if text else np.nan, dtype=object if text else float)
            table[feature][start : start + len(values)] = values
        try:
            low, high = self.tree.bounds(table)
        except ValueError:  # no category is in all the tables that read a column: it can have no value at all
            return {}
        at = self.asked.threshold
        places = zip(tried, pairwise(starts), strict=True)
        return {name: (bool(high[i:j].min() <= at), bool(low[i:j].max() > at)) for name, (i, j) in places}

    def _node_decisive(self, path: Path) -> tuple[bool, bool] | None:
        """Return the same of one node: whatever its truth and all else turn out to be."""
        if not self.decisive:
            return None
        ends = []
        for truth in (0.0, 1.0):
            tree = self.tree.replace(path, constant(Leaf(str(unlisted(self.features))), truth))
            leaves = [node for _, node in tree.walk() if isinstance(node, Leaf)]
            low, high = tree.bounds({leaf.feature: [None if leaf.criterion.categorical else np.nan] for leaf in leaves})
            ends.append((low[0], high[0]))
        at = self.asked.threshold
        return bool(min(high for _, high in ends) <= at), bool(max(low for low, _ in ends) > at)

    def directions(self, feature: str) -> set[bool | None]:
        """Return which way a feature speaks for yes: True by larger values, False by smaller, None otherwise."""
        rising = ((criterion.rising, negated) for criterion, negated in self.criteria(feature))
        return {None if up is None else bool(up) != negated for up, negated in rising}

    def turns(self, feature: str, low: float, high: float, truth: float) -> bool:
        """Whether a criterion of a feature, between two raw values, passes, reaches or leaves a degree of truth."""
        criteria = [criterion for criterion, _ in self.criteria(feature) if not criterion.categorical]
        return any(low <= value <= high for criterion in criteria for value in criterion.crossings(truth))

    def count(self, what: str, within: Path = ()) -> int | None:
        """Return how many features, leaves or gates there are below a gate, itself counted, its inputs, or the rows."""
        if what == "rows":
            return None if self.table is None else self.table.rows
        if what == "inputs":
            return len(self.nodes[within or next(iter(self.gates))].children) if self.gates else 0
        if what == "features":
            return len(self.weights(within))
        return sum(path[: len(within)] == within for path in (self.gates if what == "gates" else self.paths.values()))

    def metric(self, name: str) -> float | None:
        """Return what the decision reaches on the rows, one of METRICS; None without rows and labels that tell it."""
        if self._judged is None:
            return None
        truths, positive = self._judged
        if name == "auc":  # its interval may ask for scipy, so it is taken only where it is wanted
            area = metrics.auc(truths, positive, ~positive)
            return None if area is None else area.value
        k, n = metrics.confusion(self.asked.decides(truths), positive).shares[name]
        return k / n if n else None


def quoted(text: str) -> str:
    """Write text as a JSON string on one line; what is not printable is spelled out."""
    return json.dumps(text, ensure_ascii=not text.isprintable())


def is_equal(one: float, other: float) -> bool:
    """Whether two weights are the same but for rounding."""
    return math.isclose(one, other, rel_tol=1e-9)


def _tried(leaves: list[Leaf]) -> list[Any]:
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
