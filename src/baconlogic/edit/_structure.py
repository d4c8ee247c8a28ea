"""Adding a part and taking parts away: weights of the others stay in proportion, and a gate keeps its place.

Between 0 and 1 an andness means the same for any number of inputs. Beyond, where the product and the drastic gate lie
depends on the number, and a gate keeps its place between them: what was a product stays one, every gate its code.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import replace

import numpy as np

from baconlogic.core import gcd, notation
from baconlogic.core.checks import ParameterError, TreePart
from baconlogic.core.levels import LEVELS
from baconlogic.core.nodes import Gate, Leaf, Node, Path, flatten
from baconlogic.core.tree import Tree

_RESOLVED = 2e-7  # the distance to the drastic end that a gate must leave, or be drastic


def add(
    tree: Tree,
    where: Path | Node | str,
    node: Node | str,
    weight: float | None = None,
    andness: float | str | None = None,
) -> Tree:
    """Return the tree with one more input of a gate, or with a part joined to a new one by a gate of this andness.

    The new part is a node or a formula. `weight` is its share, by default an equal one; those of the others shrink in
    proportion. A hyper gate keeps its place between pure, product and drastic, which lie elsewhere for more inputs.
    """
    path = tree.find(where)
    old, new = tree[path], _as_part(node)
    n = len(old.inputs) if isinstance(old, Gate) and andness is None else 1
    share = 1.0 / (n + 1) if weight is None else weight
    if isinstance(share, bool) or not isinstance(share, int | float) or not 0.0 < share < 1.0:
        raise ValueError(f"the weight of the new part is a share between 0 and 1, got {weight!r}")
    if andness is not None:
        return tree.replace(path, Gate([old, new], andness, [1.0 - share, share]))
    if not isinstance(old, Gate):
        raise TypeError(f'{where!r} is not a gate; give andness=, e.g. "SC", to join it with the new part by a gate')
    left = n / (n + 1) if weight is None else 1.0 - share
    return tree.replace(path, _over(old, [*old.inputs, new], [*(w * left for w in old.weights), share]))


def remove(tree: Tree, what: Path | Node | str) -> Tree:
    """Return the tree without a part, given by path, name or feature, or as a node.

    A gate left with one input gives way to it; a negation goes with its input.
    """
    path = tree.find(what)
    while path:
        *above, place = path
        path = tuple(above)
        gate = tree[path]
        if isinstance(gate, Gate):  # a negation has nothing to say without its input
            return tree.replace(path, without(gate, place))
    raise ParameterError(TreePart(what), " is all there is; a tree needs at least one leaf")


def without(gate: Gate, place: int) -> Node:
    """Return a gate without one of its inputs, of the same andness; a hyper gate stays the like one."""
    return _with_only(gate, [(child, i) for i, child in enumerate(gate.inputs) if i != place])


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
            made.append(_with_only(node, left))
        else:
            made.append(node.with_children(tuple(child for child, _ in left)))
    if made[-1] is None:
        raise ValueError("this would take every leaf away; a tree needs at least one")
    return made[-1]


def carried(andness: float, n: int, to: int) -> float:
    """Return the andness that a gate of `to` inputs has where one of n has this."""
    if 0.0 <= andness <= 1.0 or n == to:
        return andness
    dual = andness < 0.0
    if math.isinf(gcd.gcd.coefficients(andness, n).power):
        return LEVELS["DD" if dual else "CC"].andness(to)
    here, there = ((1.0, gcd.product(inputs), gcd.drastic(inputs)) for inputs in (n, to))
    place = float(np.interp(1.0 - andness if dual else andness, here, there))
    beyond = min(place, (to - _RESOLVED) / (to - 1.0))
    return 1.0 - beyond if dual else beyond


def _with_only(gate: Gate, left: Sequence[tuple[Node, int]]) -> Node:
    """Return a gate over some of its inputs, each with the place it had; over one, that input."""
    if len(left) == 1:
        return left[0][0]
    weights = [gate.weights[place] for _, place in left]
    total = math.fsum(weights)
    return _over(gate, [child for child, _ in left], [weight / total for weight in weights])


def _over(gate: Gate, inputs: list[Node], weights: list[float]) -> Gate:
    """Return the like gate over more or fewer inputs."""
    andness = carried(gate.andness, len(gate.inputs), len(inputs))
    return replace(gate, inputs=tuple(inputs), andness=andness, weights=tuple(weights))


def _as_part(node: Node | str | Tree) -> Node:
    if isinstance(node, Tree):
        return node.root
    if isinstance(node, str):
        return notation.parse(node)
    if not isinstance(node, Node):
        raise TypeError(f"the new part must be a node or a formula, got {type(node).__name__}")
    return node
