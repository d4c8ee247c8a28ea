"""The forms that people know decisions in, as a tree has them: checklist, scorecard, rules, graded.

    checklist   at least k of n conditions: a mean with equal weights over inputs that are true or not, unknown or not
    scorecard   points that add up: any other mean
    rules       any of these, each all of those, or all of these, each any of those: hard gates over crisp conditions
    graded      all else

A card has at most two layers of gates; gates of one role right above each other are one layer. A column of given
truths counts as a crisp condition: it is one where it holds 0 and 1. But where a hard gate weighs such columns
differently, which makes no difference to 0 and 1, they are degrees.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal, NamedTuple

from baconlogic.core.criteria import Criterion
from baconlogic.core.gcd import NEUTRAL
from baconlogic.core.levels import HARD_ROLES, Level, nearest_level
from baconlogic.core.nodes import Gate, Leaf, Node, Not, flatten, negations
from baconlogic.core.tree import Tree

Form = Literal["checklist", "scorecard", "rules", "graded"]
Reach = tuple[
    tuple[float, float], ...
]  # what can be reached: closed intervals in order, a point where both ends are one
EVEN = 1e-6  # weights that differ by less are equal
MOST_LAYERS = 2  # of a card
MOST_SUMS = 4096  # to be kept apart; more are as good as all between the lowest and the highest
EITHER: Reach = ((0.0, 0.0), (1.0, 1.0))


def told_level(gate: Gate, negated: bool) -> Level:
    """Return the level of a gate, or of its mirror image when it is negated."""
    return nearest_level(1.0 - gate.andness, len(gate.inputs)) if negated else gate.level


class Shape(NamedTuple):
    """What a node is with all below it."""

    layers: int  # of gates, those of one role above each other counted once
    crisp: bool  # whether it is true or not and nothing between, as far as given truths are
    surely: bool  # whether it is so whatever the columns hold
    role: str = ""  # of its inputs, where it is a gate; under negations that of the opposite


def shape_of(root: Node) -> Shape:
    """Return the layers of gates of a tree, and whether it is crisp."""
    order = flatten(root)
    found: list[Shape] = []
    for (node, below), negated in zip(order, negations(order), strict=True):
        under = [found[i] for i in below]
        if isinstance(node, Gate):
            role = told_level(node, negated).role
            parts = zip(below, under, strict=True)
            apart = (each.layers + (each.role != role or bool(order[i][0].name)) for i, each in parts)  # a name is told
            hard, even = role in HARD_ROLES, max(node.weights) - min(node.weights) < EVEN
            surely = hard and all(each.surely for each in under)
            crisp = surely or (hard and even and all(each.crisp for each in under))
            found.append(Shape(max(1, *apart), crisp, surely, role))
        elif isinstance(node, Leaf):
            own = node.criterion.crisp
            found.append(Shape(0, own or node.criterion.holds_truths, own))
        else:
            found.append(under[0])
    return found[-1]


def form_of(tree: Tree, threshold: float = 0.5) -> Form:
    """Return the form in which a decision is told that is yes where the truth of a tree is above a threshold."""
    whole, top = shape_of(tree.root), tree.root
    while isinstance(top, Not):
        top = top.input
    if whole.layers > MOST_LAYERS:
        return "graded"
    if isinstance(top, Gate) and top.andness == NEUTRAL:
        stated = (node.criterion.missing for _, node in tree.walk() if isinstance(node, Leaf))
        crisp = all(shape_of(each).crisp for each in top.inputs) and all(t in (None, 0.0, 1.0) for t in stated)
        even = max(top.weights) - min(top.weights) < EVEN
        return "checklist" if crisp and even and 0.0 <= threshold < 1.0 else "scorecard"
    return "rules" if whole.crisp else "graded"


def points(weights: Sequence[float], most: int = 100) -> tuple[int, ...] | None:
    """Return the smallest whole numbers in the proportion of weights that sum to 1; None if they sum to over `most`."""
    for total in range(len(weights), most + 1):
        found = [round(total * weight) for weight in weights]
        if min(found) > 0 and all(abs(p - total * w) < EVEN * total for p, w in zip(found, weights, strict=True)):
            return tuple(found)
    return None


def points_needed(threshold: float, total: int) -> int:
    """Return how many of `total` whole points are more than a share: 3 of 5 for 0.5."""
    return math.floor(threshold * total + EVEN) + 1


def truths_of(criterion: Criterion, *, negated: bool = False) -> Reach:
    """Return the truths that a criterion, or its opposite, can have; of given truths 0 and 1, as in `form_of`."""
    known = EITHER if criterion.crisp or criterion.holds_truths else (criterion.range,)
    if criterion.categorical:
        stated = [*(truth for _, truth in criterion.truths), *([] if criterion.other is None else [criterion.other])]
        known = tuple((truth, truth) for truth in stated)
    unknown = () if criterion.missing is None else ((criterion.missing, criterion.missing),)
    found = _joined([*known, *unknown])
    return tuple((1.0 - high, 1.0 - low) for low, high in reversed(found)) if negated else found


def truths_of_node(node: Node) -> Reach:
    """Return truths among which all are that a node can have; of a gate that is not crisp all from 0 to 1."""
    negated = False
    while isinstance(node, Not):
        node, negated = node.input, not negated
    if isinstance(node, Leaf):
        return truths_of(node.criterion, negated=negated)
    leaves = [each for each, _ in flatten(node) if isinstance(each, Leaf)]
    whole = shape_of(node).crisp and all(leaf.criterion.missing in (None, 0.0, 1.0) for leaf in leaves)
    return EITHER if whole else ((0.0, 1.0),)


def totals(worth: Sequence[float], reach: Sequence[Reach]) -> Reach:
    """Return the totals that inputs can add up to, each worth so many points where it is fully true."""
    found: Reach = ((0.0, 0.0),)
    for each, own in zip(worth, reach, strict=True):
        found = _joined([(a + each * low, b + each * high) for a, b in found for low, high in own])
    return found


def _joined(spans: Sequence[tuple[float, float]]) -> Reach:
    """Return intervals in order, those that touch as one."""
    found: list[tuple[float, float]] = []
    for low, high in sorted(spans):
        if found and low <= found[-1][1] + EVEN:
            found[-1] = found[-1][0], max(found[-1][1], high)
        else:
            found.append((low, high))
    return tuple(found) if len(found) <= MOST_SUMS else ((found[0][0], found[-1][1]),)


def least_above(total: Reach, turn: float) -> float | None:
    """Return the lowest total above a turn; None where there is none: totals come as near to it as one likes."""
    later = [low for low, high in total if high > turn + EVEN]
    return later[0] if later and later[0] > turn + EVEN else None


def without_effect(worth: Sequence[float], reach: Sequence[Reach], turn: float) -> list[int]:
    """Return the places of inputs that never change whether the total is above a turn, whatever the others are."""
    found = []
    for i, (each, own) in enumerate(zip(worth, reach, strict=True)):
        others = totals([*worth[:i], *worth[i + 1 :]], [*reach[:i], *reach[i + 1 :]])
        first, last = turn - each * own[-1][1], turn - each * own[0][0]  # from above the first, up to the last
        if not any(high > first + EVEN and low <= last + EVEN for low, high in others):
            found.append(i)
    return found
