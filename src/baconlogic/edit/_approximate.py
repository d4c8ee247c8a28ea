"""Merging gates that are nearly the same, and dropping leaves without effect, while truths stay within a tolerance."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from baconlogic.core import evaluate as evaluation
from baconlogic.core import gcd
from baconlogic.core.columns import Columns
from baconlogic.core.evaluate import Truths, combined, leaf_truths
from baconlogic.core.nodes import Gate, Leaf, Node, Not, flatten
from baconlogic.core.tree import Tree
from baconlogic.edit._andness import for_inputs, for_two
from baconlogic.edit._remove import without

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Move = tuple[int, Node, list[Floats]]  # the position of a gate, what takes its place, the truths of its inputs

POINTS = 3000  # of the sample: a third inside, a third at corners, a third with some truths at 0 or 1


def approximate(original: Tree, start: Tree, tolerance: float, X: Any = None) -> Tree:
    """Return a smaller tree than `start` whose truths stay within the tolerance of the original's.

    Each step takes the merger or the leaf that changes truths least.
    """
    if X is None:
        leaves = list(dict.fromkeys(node for node, _ in flatten(start.root) if isinstance(node, Leaf)))
        known = dict(zip(leaves, _sample(len(leaves)), strict=True))
        target = Truths(start.root, known).of[-1]
    else:
        table = Columns(X)
        known = leaf_truths(start.root, table)
        target = evaluation.truths(original.root, table)
    root, refused = start.root, set[Node]()
    while True:
        truths = Truths(root, known)
        best: tuple[float, int, Node] | None = None
        for position, node, inputs in _moves(truths):
            if node in refused:
                continue
            truth = inputs[0] if len(inputs) == 1 else combined(node, inputs)
            change = float(np.max(np.abs(truths.root_if(position, truth) - target), initial=0.0))
            if change > tolerance:
                refused.add(node)  # what is too much now is not tried again
            elif best is None or change < best[0]:
                best = change, position, node
        if best is None:
            return Tree(root)
        root = truths.tree_with(*best[1:])


def _sample(leaves: int) -> Floats:
    """Return truths of leaves in the unit cube, (leaves, points): inside, at corners, and in between."""
    rng = np.random.default_rng(0)
    third = POINTS // 3
    inside, corners = rng.random((leaves, POINTS)), rng.integers(0, 2, (leaves, POINTS)).astype(float)
    inside[:, third : 2 * third] = corners[:, third : 2 * third]
    some = rng.random((leaves, POINTS)) < 0.5
    some[:, : 2 * third] = False
    return np.where(some, corners, inside)


def _moves(truths: Truths) -> Iterator[Move]:
    """Yield every merger of a gate with one right below it, and every leaf that could go."""
    for position, (node, below) in enumerate(truths.order):
        if not isinstance(node, Gate):
            continue
        for place, child in enumerate(node.inputs):
            inner = truths.order[below[place]][1]
            others = [truths.of[i] for i in below]
            if isinstance(child, Gate) and not child.name:
                inputs = [*others[:place], *(truths.of[i] for i in inner), *others[place + 1 :]]
                yield from ((position, made, inputs) for made in _mergers(node, place, child))
            elif _is_leaf(child) and not (node.name and len(below) == 2):  # a named gate stays
                yield position, without(node, place), others[:place] + others[place + 1 :]


def _is_leaf(node: Node) -> bool:
    return isinstance(node, Leaf) or (isinstance(node, Not) and isinstance(node.input, Leaf))


def _mergers(gate: Gate, place: int, child: Gate) -> Iterator[Gate]:
    """Yield gates that may stand for a gate with another one in it: by shares and similar andness, or as a product."""
    outer, inner = gate.coefficients, child.coefficients
    if outer.dual != inner.dual and gcd.NEUTRAL not in (gate.andness, child.andness):
        return
    nodes = [*gate.inputs[:place], *child.inputs, *gate.inputs[place + 1 :]]
    n, share = len(nodes), gate.weights[place]
    andness = for_two(gate.andness, len(gate.inputs)), for_two(child.andness, len(child.inputs))
    shares = [*gate.weights[:place], *(share * w for w in child.weights), *gate.weights[place + 1 :]]
    tries = [(for_inputs(a, n), shares) for a in {*andness, (1.0 - share) * andness[0] + share * andness[1]}]
    if max(outer.power, inner.power) < 100.0 and outer.dual == inner.dual:
        scale, own = len(gate.inputs) * outer.power, len(child.inputs) * inner.power
        powers = [scale * w for w in shares]
        powers[place : place + len(child.inputs)] = [p * own for p in powers[place : place + len(child.inputs)]]
        total = sum(powers)
        power = max(gcd.andness_of_power(total / n, n), gcd.NEUTRAL)
        tries.append((1.0 - power if outer.dual else power, [p / total for p in powers]))
    for a, weights in tries:
        if min(weights) > 0.0:
            try:
                yield Gate(nodes, a, weights, gate.aggregator, gate.name)
            except ValueError:  # an andness that so many inputs cannot resolve
                continue
