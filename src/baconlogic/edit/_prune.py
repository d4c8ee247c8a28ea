"""Taking leaves away: so many, certain features, or as many as the accuracy bears."""

from __future__ import annotations

import operator
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any

import numpy as np

from baconlogic import metrics
from baconlogic.core import Bools, Floats
from baconlogic.core import evaluate as evaluation
from baconlogic.core.columns import Columns
from baconlogic.core.evaluate import Truths, combined, leaf_truths
from baconlogic.core.nodes import Gate, Leaf, Node, flatten, shares
from baconlogic.core.subject import Subject, subject
from baconlogic.core.tree import Tree
from baconlogic.edit._structure import without, without_leaves


def prune(
    model: Any,
    keep: int | None = None,
    *,
    features: Sequence[str] | None = None,
    X: Any = None,
    y: Any = None,
    tolerance: float = 0.005,
    threshold: float | None = None,
    label: Any = None,
) -> Tree:
    """Return the tree with `keep` leaves, without `features`, or with as few leaves as accuracy on (X, y) bears.

    Without data the deepest leaves go first, the lightest of equally deep ones (see `bottom_order`). With data each
    step takes the leaf that is missed least (see `best_order`); without `keep` it goes on while accuracy does not fall
    more than `tolerance` below that of the whole tree.
    """
    asked = subject(model, threshold, label)
    if (X is None) != (y is None):
        raise ValueError("pruning by accuracy needs both X and y")
    if features is not None:
        if keep is not None or X is not None:
            raise ValueError("give features=, or keep= and data; not both")
        return _without_features(asked.tree, [features] if isinstance(features, str) else features)
    if keep is not None and operator.index(keep) < 1:
        raise ValueError(f"keep is a number of leaves, 1 or more; got {keep}")
    surplus = None if keep is None else max(_count(asked.tree) - operator.index(keep), 0)
    if X is not None:
        return _by_accuracy(asked, X, y, surplus, tolerance)
    if surplus is None:
        ways = "keep=7 leaves, features=[...] to take away, or X= and y= to go by accuracy"
        raise ValueError(f"say what to prune: {ways}")
    return Tree(without_leaves(asked.tree.root, set(_deepest_first(asked.tree.root)[:surplus])))


def bottom_order(tree: Tree) -> Iterator[tuple[Leaf, Tree]]:
    """Yield each leaf with the tree after it is gone, down to one leaf: deepest first, the lightest of equally deep.

    Depth counts the gates above a leaf, weight is the product of weights on the way to it, both in the whole tree. On
    a left chain this goes from the bottom up, as the paper prunes.
    """
    nodes = [node for node, _ in flatten(tree.root)]
    order = _deepest_first(tree.root)
    for count in range(1, len(order)):
        leaf = nodes[order[count - 1]]
        assert isinstance(leaf, Leaf)  # noqa: S101
        yield leaf, Tree(without_leaves(tree.root, set(order[:count])))


def best_order(asked: Subject, table: Columns, positive: Bools) -> Iterator[tuple[Leaf, Tree, float]]:
    """Yield leaf, tree after it is gone, and accuracy, down to one leaf: each time the leaf that is missed least.

    That is the one whose absence leaves the highest accuracy; of equal ones, the smallest mean change of truth against
    the whole tree.
    """
    root = asked.tree.root
    known = leaf_truths(root, table)
    whole = Truths(root, known).of[-1]
    for _ in range(_count(asked.tree) - 1):
        truths = Truths(root, known)
        tried = [
            (*_missed(asked, truths, position, positive, whole), position)
            for position, (node, _) in enumerate(truths.order)
            if isinstance(node, Leaf)
        ]
        wrong, _, position = min(tried)
        leaf = truths.order[position][0]
        assert isinstance(leaf, Leaf)  # noqa: S101
        root = truths.tree_with(*_after(truths, position))
        yield leaf, Tree(root), 1.0 - wrong / max(len(positive), 1)


def _missed(asked: Subject, truths: Truths, position: int, positive: Bools, whole: Floats) -> tuple[int, float]:
    """Return how many rows are decided wrongly without a leaf, and by how much truths differ from the whole tree's."""
    above, place = truths.entry(position)
    kept = [truths.of[child] for i, child in enumerate(truths.order[above][1]) if i != place]
    root = truths.root_if(above, kept[0] if len(kept) == 1 else combined(_after(truths, position)[1], kept))
    change = float(np.mean(np.abs(root - whole))) if len(whole) else 0.0
    return int(np.count_nonzero(asked.decides(root) != positive)), change


def _after(truths: Truths, position: int) -> tuple[int, Node]:
    """Return the gate a leaf enters, and what takes its place when the leaf goes."""
    above, place = truths.entry(position)
    gate = truths.order[above][0]
    assert isinstance(gate, Gate)  # noqa: S101
    return above, without(gate, place)


def _by_accuracy(asked: Subject, X: Any, y: Any, surplus: int | None, tolerance: float) -> Tree:
    table = asked.table(X)
    positive = asked.positive(y, table.rows)
    if not table.rows:
        raise ValueError("pruning by accuracy needs at least one row")
    steps = best_order(asked, table, positive)
    tree = asked.tree
    if surplus is not None:
        return ([tree] + [smaller for _, smaller, _ in islice(steps, surplus)])[-1]
    if not tolerance >= 0.0:
        raise ValueError(f"tolerance is a share of rows, 0 or more, e.g. 0.005; got {tolerance!r}")
    whole = metrics.accuracy(asked.decides(evaluation.truths(tree.root, table)), positive)
    for _, smaller, accuracy in steps:
        if accuracy < whole - tolerance - 1e-12:  # both are counts over the rows; this is their rounding
            break
        tree = smaller
    return tree


def _deepest_first(root: Node) -> list[int]:
    """Return the positions of the leaves in `flatten`, in the order in which they go."""
    order = flatten(root)
    gates, weight = [0] * len(order), shares(order)
    for position in range(len(order) - 1, -1, -1):
        node, below = order[position]
        for child in below:
            gates[child] = gates[position] + isinstance(node, Gate)
    leaves = [position for position, (node, _) in enumerate(order) if isinstance(node, Leaf)]
    return sorted(leaves, key=lambda leaf: (-gates[leaf], weight[leaf], leaf))


def _without_features(tree: Tree, features: Sequence[str]) -> Tree:
    unknown = [feature for feature in features if feature not in tree.features]
    if unknown:
        raise LookupError(f"no leaf is on {unknown[0]!r}; the tree uses {', '.join(map(repr, tree.features))}")
    gone = {i for i, (node, _) in enumerate(flatten(tree.root)) if isinstance(node, Leaf) and node.feature in features}
    return Tree(without_leaves(tree.root, gone))


def _count(tree: Tree) -> int:
    return sum(isinstance(node, Leaf) for node, _ in flatten(tree.root))
