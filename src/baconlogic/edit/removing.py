"""Taking parts away: the gate above goes on with what is left, weights in the same proportion."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from baconlogic import gcd
from baconlogic.nodes import Gate, Node
from baconlogic.tree import Tree

if TYPE_CHECKING:
    from baconlogic.nodes import Path


def remove(tree: Tree, what: Path | Node | str) -> Tree:
    """Return the tree without a part, given by path, name or feature, or as a node.

    A gate left with one input gives way to it; a negation goes with its input.
    """
    path = tree.find(what)
    while path and not isinstance(tree[path[:-1]], Gate):  # a negation has nothing to say without its input
        path = path[:-1]
    if not path:
        raise ValueError(f"{what!r} is all there is; a tree needs at least one leaf")
    above, place = path[:-1], path[-1]
    gate = tree[above]
    assert isinstance(gate, Gate)  # noqa: S101
    return tree.replace(above, without(gate, place))


def without(gate: Gate, place: int) -> Node:
    """Return a gate without one of its inputs, of the same andness; a drastic gate stays drastic."""
    inputs = gate.inputs[:place] + gate.inputs[place + 1 :]
    if len(inputs) == 1:
        return inputs[0]
    weights = gate.weights[:place] + gate.weights[place + 1 :]
    left = sum(weights)
    andness = gate.andness
    if math.isinf(gate.coefficients.power):  # the ends of the scale lie farther out for fewer inputs
        andness = gcd.LOWEST if gate.coefficients.dual else gcd.HIGHEST
    return Gate(inputs, andness, [weight / left for weight in weights], gate.aggregator, gate.name)
