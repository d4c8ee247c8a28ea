"""Saying "not" in the leaf itself: "not (radius is large)" is "radius is small"."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from typing import TYPE_CHECKING

from baconlogic.core.criteria import Ramp, Sigmoid, Table
from baconlogic.core.nodes import Leaf, Node, Not

if TYPE_CHECKING:
    from baconlogic.core.criteria import Criterion


def negated(node: Node) -> Node:
    """Return the negation of a node: without its `not`, with the mirrored criterion, or else with a `not` in front.

    What has a name keeps it, and so the `not` stays: "the cell is large" is not the name of its opposite.
    """
    if isinstance(node, Not) and not node.name:
        return node.input
    if isinstance(node, Leaf) and not node.name:
        criterion = mirrored(node.criterion)
        if criterion is not None:
            return Leaf(node.feature, criterion)
    return Not(node)


def mirrored(criterion: Criterion) -> Criterion | None:
    """Return the criterion that is as true as this one is not, or None where there is none of its kind."""
    missing = None if criterion.missing is None else complement(criterion.missing)
    if isinstance(criterion, Sigmoid):
        return replace(criterion, slope=-criterion.slope, missing=missing)
    if isinstance(criterion, Ramp):
        points = [(x, complement(t)) for x, t in criterion.points]
        flat = len({t for _, t in points}) == 1  # truths too near 0 to be told apart near 1
        return None if flat else Ramp(points, missing, criterion.unit)
    if isinstance(criterion, Table):
        other = None if criterion.other is None else complement(criterion.other)
        return Table([(category, complement(t)) for category, t in criterion.truths], other, missing)
    return None


def complement(truth: float) -> float:
    """Return 1 - truth, taken from the digits that a person sees: 0.1 for 0.9, and 0.9 for 0.1."""
    return float(1 - Decimal(repr(truth)))
