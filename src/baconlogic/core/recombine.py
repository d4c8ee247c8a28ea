"""The truths of every node of a tree over some rows, and what the root would say if one node were another.

Only the gates between that node and the root are combined again, so trying many small changes is cheap.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from baconlogic.core import evaluate as evaluation
from baconlogic.core import gcd
from baconlogic.core.nodes import Gate, Leaf, Node, Not, flatten

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from baconlogic.core.columns import Columns

    Floats = NDArray[np.float64]


class Truths:
    """The nodes of a tree in the order of `flatten`, with the truths of each; `known` has those of the leaves."""

    def __init__(self, root: Node, known: Mapping[Leaf, Floats]) -> None:
        self.order = flatten(root)
        self.parent: list[int | None] = [None] * len(self.order)
        self.known = known
        self.of: list[Floats] = []
        for position, (node, below) in enumerate(self.order):
            for child in below:
                self.parent[child] = position
            self.of.append(known[node] if isinstance(node, Leaf) else combined(node, [self.of[i] for i in below]))
        self._gates = {
            position: (np.array(node.weights)[:, None], node.coefficients)
            for position, (node, _) in enumerate(self.order)
            if isinstance(node, Gate)
        }

    def root_if(self, position: int, truth: Floats) -> Floats:
        """Return the truths of the root if the node at a position had these."""
        while (above := self.parent[position]) is not None:
            if above in self._gates:
                inputs = [truth if i == position else self.of[i] for i in self.order[above][1]]
                truth = gcd.combine(np.stack(inputs), *self._gates[above])
            else:
                truth = 1.0 - truth
            position = above
        return truth

    def tree_with(self, position: int, node: Node) -> Node:
        """Return the whole tree with another node at a position."""
        while (above := self.parent[position]) is not None:
            parent, below = self.order[above]
            node = parent.with_children(
                tuple(node if i == position else old for i, old in zip(below, parent.children, strict=True))
            )
            position = above
        return node

    def entry(self, position: int) -> tuple[int, int]:
        """Return the gate at which a leaf enters, negations included, and the place at which it does."""
        above = self.parent[position]
        while above is not None and isinstance(self.order[above][0], Not):
            position, above = above, self.parent[above]
        if above is None:
            raise ValueError("this is the only leaf; a tree needs at least one")
        return above, self.order[above][1].index(position)


def leaf_truths(root: Node, table: Columns) -> dict[Leaf, Floats]:
    """Return what each leaf of a tree says of some rows."""
    order = flatten(root)
    found = evaluation.truths(root, table, every_node=True)
    return {node: truth for (node, _), truth in zip(order, found, strict=True) if isinstance(node, Leaf)}


def combined(node: Node, inputs: list[Floats]) -> Floats:
    """Return the truths of a gate or a negation over those of its inputs."""
    if isinstance(node, Gate):
        return gcd.combine(np.stack(inputs), np.array(node.weights)[:, None], node.coefficients)
    return 1.0 - inputs[0]


def both_combined(node: Node, inputs: list[Floats]) -> Floats:
    """Return truths and falsities of a gate or a negation over those of its inputs, (2, rows) each."""
    if isinstance(node, Gate):
        true, false = np.stack(inputs, axis=1)
        return np.stack(gcd.combine_both(true, false, np.array(node.weights)[:, None], node.coefficients))
    return inputs[0][::-1]
