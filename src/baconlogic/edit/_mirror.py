"""Saying "not" in the leaf itself: "not (radius is large)" is "radius is small"."""

from __future__ import annotations

from baconlogic.core.nodes import Leaf, Node, Not


def negated(node: Node) -> Node:
    """Return the negation of a node: without its `not`, with the mirrored criterion, or else with a `not` in front.

    What has a name keeps it, and so the `not` stays: "the cell is large" is not the name of its opposite.
    """
    if isinstance(node, Not) and not node.name:
        return node.input
    if isinstance(node, Leaf) and not node.name:
        criterion = node.criterion.mirrored()
        if criterion is not None:
            return Leaf(node.feature, criterion)
    return Not(node)
