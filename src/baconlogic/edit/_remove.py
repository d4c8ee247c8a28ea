"""Taking parts away: the gate above goes on with what is left, weights in the same proportion."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from baconlogic.core.checks import ParameterError, Place
from baconlogic.core.nodes import Gate, Leaf, Node, flatten
from baconlogic.core.tree import Tree
from baconlogic.edit._andness import carried

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from baconlogic.core.nodes import Path


def remove(tree: Tree, what: Path | Node | str) -> Tree:
    """Return the tree without a part, given by path, name or feature, or as a node.

    A gate left with one input gives way to it; a negation goes with its input.
    """
    path = tree.find(what)
    while path and not isinstance(tree[path[:-1]], Gate):  # a negation has nothing to say without its input
        path = path[:-1]
    if not path:
        raise ParameterError(Place(what), " is all there is; a tree needs at least one leaf")
    above, place = path[:-1], path[-1]
    gate = tree[above]
    assert isinstance(gate, Gate)  # noqa: S101
    return tree.replace(above, without(gate, place))


def without(gate: Gate, place: int) -> Node:
    """Return a gate without one of its inputs, of the same andness; a hyper gate stays the like one."""
    return _with_only(gate, [(child, w) for i, (child, w) in enumerate(_inputs(gate)) if i != place])


def without_leaves(root: Node, dropped: Collection[int]) -> Node:
    """Return a tree without some leaves, given by their positions in `flatten`, all at once."""
    made: list[Node | None] = []
    for position, (node, below) in enumerate(flatten(root)):
        left = [(child, i) for i, child in enumerate(made[b] for b in below) if child is not None]
        if isinstance(node, Leaf):
            made.append(None if position in dropped else node)
        elif not left:
            made.append(None)
        elif isinstance(node, Gate) and len(left) < len(below):
            made.append(_with_only(node, [(child, node.weights[i]) for child, i in left]))
        else:
            made.append(node.with_children(tuple(child for child, _ in left)))
    if made[-1] is None:
        raise ValueError("this would take every leaf away; a tree needs at least one")
    return made[-1]


def _inputs(gate: Gate) -> Sequence[tuple[Node, float]]:
    return list(zip(gate.inputs, gate.weights, strict=True))


def _with_only(gate: Gate, inputs: Sequence[tuple[Node, float]]) -> Node:
    """Return a gate over some of its inputs; over one, that input."""
    nodes, weights = zip(*inputs, strict=True)
    if len(nodes) == 1:
        only: Node = nodes[0]
        return only
    total = math.fsum(weights)
    andness = carried(gate.andness, len(gate.inputs), len(nodes))
    return Gate(nodes, andness, [weight / total for weight in weights], gate.aggregator, gate.name)
