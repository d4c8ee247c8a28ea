"""What a tree says without some of its leaves, or with other truths in their place.

Truths are evaluated once; then only the gates on the way to the root are combined again.
"""

from __future__ import annotations

from heapq import heapify, heappop, heappush
from typing import TYPE_CHECKING

import numpy as np

from baconlogic import evaluation, gcd
from baconlogic.edit.removing import without
from baconlogic.nodes import Gate, Leaf, Node, flatten

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from numpy.typing import NDArray

    from baconlogic.columns import Columns
    from baconlogic.tree import Tree

    Floats = NDArray[np.float64]
    Changes = dict[int, tuple[Floats | None, Node, list[int]]]  # by position: truths, gate as it is left, its inputs


class Recombined:
    """The truths of every node for some rows, in the order of `flatten`. `take_away` is the only change for good."""

    def __init__(self, tree: Tree, table: Columns) -> None:
        order = flatten(tree.root)
        self.truths: list[Floats] = list(evaluation.truths(tree.root, table, every_node=True))
        self.leaves = [position for position, (node, _) in enumerate(order) if isinstance(node, Leaf)]
        self._nodes = [node for node, _ in order]
        self._inputs = [list(below) for _, below in order]
        self._above = [-1] * len(order)
        for position, (_, below) in enumerate(order):
            for child in below:
                self._above[child] = position

    @property
    def whole(self) -> Floats:
        """The truth of the decision as it stands."""
        return self.truths[-1]

    def with_truths(self, truths: Mapping[int, Floats]) -> Floats:
        """Return the truth of the decision with other truths of some leaves."""
        found = self._changes(truths)[len(self._nodes) - 1][0]
        assert found is not None  # noqa: S101
        return found

    def without(self, leaves: Iterable[int]) -> Floats | None:
        """Return the truth of the decision without some leaves, as after `edit.remove`; None if none is left."""
        return self._changes(dict.fromkeys(leaves))[len(self._nodes) - 1][0]

    def take_away(self, leaf: int) -> None:
        """Go on without a leaf."""
        for position, (truths, node, inputs) in self._changes({leaf: None}).items():
            self._nodes[position], self._inputs[position] = node, inputs
            if truths is not None:
                self.truths[position] = truths
        self.leaves.remove(leaf)

    def _changes(self, leaves: Mapping[int, Floats | None]) -> Changes:
        """Return what changes on the way up from leaves that get other truths, or are no more (None)."""
        changed: Changes = {leaf: (truths, self._nodes[leaf], []) for leaf, truths in leaves.items()}
        waiting = list({self._above[leaf] for leaf in leaves if self._above[leaf] >= 0})
        heapify(waiting)  # inputs come before their gates, so that each gate is combined once
        while waiting:
            position = heappop(waiting)
            if position in changed:
                continue
            changed[position] = self._again(position, changed)
            if self._above[position] >= 0:
                heappush(waiting, self._above[position])
        return changed

    def _again(self, position: int, changed: Changes) -> tuple[Floats | None, Node, list[int]]:
        node, inputs = self._nodes[position], self._inputs[position]
        found = {i: changed[i][0] if i in changed else self.truths[i] for i in inputs}
        for place in reversed(range(len(inputs))):
            if found[inputs[place]] is None and isinstance(node, Gate):
                node = without(node, place)  # of a gate with two inputs, the other one
        left = [i for i in inputs if found[i] is not None]
        truths = [truth for truth in found.values() if truth is not None]
        if not truths:
            return None, node, []
        if isinstance(self._nodes[position], Gate):
            if len(truths) == 1:
                return truths[0], self._nodes[position], left
            assert isinstance(node, Gate)  # noqa: S101
            x = np.stack(np.broadcast_arrays(*truths))
            return gcd.combine(x, np.array(node.weights)[:, None], node.coefficients), node, left
        return 1.0 - truths[0], node, left
