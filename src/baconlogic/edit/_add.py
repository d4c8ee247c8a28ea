"""Adding a part."""

from __future__ import annotations

from typing import TYPE_CHECKING

from baconlogic.core import notation
from baconlogic.core.nodes import Gate, Node
from baconlogic.core.tree import Tree
from baconlogic.edit._andness import carried

if TYPE_CHECKING:
    from baconlogic.core.nodes import Path


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
    weights = [*(w * left for w in old.weights), share]
    return tree.replace(
        path, Gate([*old.inputs, new], carried(old.andness, n, n + 1), weights, old.aggregator, old.name)
    )


def _as_part(node: Node | str | Tree) -> Node:
    if isinstance(node, Tree):
        return node.root
    if isinstance(node, str):
        return notation.parse(node)
    if not isinstance(node, Node):
        raise TypeError(f"the new part must be a node or a formula, got {type(node).__name__}")
    return node
