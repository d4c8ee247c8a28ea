"""Fewer gates for the same truths: nested gates of one kind become one gate, negations go into leaves.

A hard gate is a product, z = prod(x_i ** e_i) with e_i = n w_i c, or the same on 1 - x. Such gates inside each other
are again one product, so they are one gate with w_i = e_i / sum(e) and c = sum(e) / n; it exists while its andness
stays at 3/4 or above. Neutral gates merge too, and so do drastic ones: their weights multiply.

That is exact on paper. On a computer a truth below 1e-308 is lost, and so is the distance to 1 of a truth above
1 - 1e-16; a small exponent blows up what was lost. So a part is merged only where its exponent is large enough.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from baconlogic import gcd
from baconlogic.criteria import Table
from baconlogic.edit.andnesses import opposite
from baconlogic.edit.approximating import approximate
from baconlogic.edit.mirroring import negated
from baconlogic.nodes import Gate, Leaf, Node, Not, flatten
from baconlogic.tree import Tree

if TYPE_CHECKING:
    from collections.abc import Sequence

    Kind = tuple[str, bool]  # neutral, hard or drastic; whether on the disjunctive side
    Parts = list[tuple[Node, float]]  # inputs with their exponents; with their weights when neutral or drastic

SAME = 1e-13  # how well a gate must give back the exponents it was made for
LEAST_EXPONENT = 0.05  # (1e-308) ** 0.05 is 4e-16
LEAST_DUAL_EXPONENT = 0.5  # (1e-16) ** 0.5 is 1e-8: what a disjunction of truths as near to 1 as this may lose


def simplify(tree: Tree, tolerance: float = 0.0, X: Any = None) -> Tree:
    """Return a tree of fewer gates with the same truths, or nearly the same: within `tolerance`.

    Without tolerance it is exact: gates of one kind that lie inside each other become one, negations cancel or go into
    leaves. A gate that has a name stays. With a tolerance, similar gates become one too, and leaves go that have no
    effect, as long as no truth changes by more; over the rows X or, without, over a sample of leaf truths.
    """
    if not 0.0 <= tolerance <= 1.0:
        raise ValueError(f"tolerance is a difference of truths, from 0 to 1, e.g. 0.01; got {tolerance!r}")
    root = tree.root
    while True:
        simpler = merge_gates(_settle_negations(root))
        if simpler == root:
            break
        root = simpler
    return approximate(tree, Tree(root), tolerance, X) if tolerance > 0.0 else Tree(root)


def merged(gate: Gate, parts: Parts) -> Gate | None:
    """Return the gate of this kind over the parts, or None when there is no such gate."""
    (kind, dual), n = kind_of(gate) or ("", False), len(parts)
    nodes, shares = zip(*parts, strict=True)
    andness, power = gcd.NEUTRAL, 0.0
    if kind == "drastic":
        andness = gcd.LEVELS["DD" if dual else "CC"].andness(n)
    elif kind == "hard":
        total = math.fsum(shares)
        power, shares = total / n, tuple(share / total for share in shares)
        andness = gcd.andness_of_power(power, n)
        andness = 1.0 - andness if dual else andness
    try:
        made = Gate(nodes, andness, shares, gate.aggregator, gate.name)
    except ValueError:  # a weight too small for a float, an andness that n inputs cannot resolve
        return None
    if kind == "hard" and not (kind_of(made) == (kind, dual) and _same(made.coefficients.power, power)):
        return None
    return made if all(map(_same, made.weights, shares)) and min(shares) > 1e-290 else None


def kind_of(node: Node) -> Kind | None:
    """Return what kind of exactly mergeable gate a node is; None for a soft gate, and for what is no gate."""
    if not isinstance(node, Gate):
        return None
    found = node.coefficients
    if node.andness == gcd.NEUTRAL:
        return "neutral", False
    if math.isinf(found.power):
        return "drastic", found.dual
    return ("hard", found.dual) if found.mean == 0.0 else None


def exponents(gate: Gate) -> Parts:
    """Return the inputs of a gate with their exponents; of a neutral or drastic gate, with their weights."""
    scale = len(gate.inputs) * gate.coefficients.power if kind_of(gate) in (("hard", False), ("hard", True)) else 1.0
    return [(node, scale * weight) for node, weight in zip(gate.inputs, gate.weights, strict=True)]


def _same(a: float, b: float) -> bool:
    return abs(a - b) <= SAME * abs(b)


def merge_gates(root: Node) -> Node:
    """Merge gates exactly, from the root down: a gate takes in what it can, then the next ones below begin."""
    waiting, found = [root], []
    while waiting:
        node = waiting.pop()
        if isinstance(node, Gate):
            node = _taking_in(node)
        found.append(node)
        waiting.extend(node.children)
    loose: list[Node] = []
    for node in reversed(found):  # children come first, left to right, as in `flatten`
        below = tuple(loose[len(loose) - len(node.children) :])
        del loose[len(loose) - len(node.children) :]
        same = all(new is old for new, old in zip(below, node.children, strict=True))
        loose.append(node if same else node.with_children(below))
    return loose[0]


def _taking_in(gate: Gate) -> Gate:
    """Return a gate with the gates of its kind below it merged into it: all at once, or else as many as can be."""
    kind = kind_of(gate)
    if kind is None:
        return gate
    start = exponents(gate)
    if not any(_mergeable(part, kind) for part in start):
        return gate
    parts, position = start, 0
    while position < len(parts):
        if _mergeable(parts[position], kind):
            parts = _opened(parts, position)
        else:
            position += 1
    return merged(gate, parts) or _one_by_one(gate, start, kind)


def _one_by_one(gate: Gate, parts: Parts, kind: Kind) -> Gate:
    best, position = gate, 0
    while position < len(parts):
        if _mergeable(parts[position], kind):
            wider = _opened(parts, position)
            made = merged(gate, wider)
            if made is not None:
                best, parts = made, wider
                continue
        position += 1
    return best


def _mergeable(part: tuple[Node, float], kind: Kind) -> bool:
    node, share = part
    least = 0.0 if kind[0] != "hard" else LEAST_DUAL_EXPONENT if kind[1] else LEAST_EXPONENT
    return not node.name and share >= least and kind_of(node) == kind


def _opened(parts: Parts, position: int) -> Parts:
    """Put the inputs of a gate in its place; products multiply exponents, means and drastic gates weights."""
    node, share = parts[position]
    assert isinstance(node, Gate)  # noqa: S101
    return [*parts[:position], *((child, share * own) for child, own in exponents(node)), *parts[position + 1 :]]


def _settle_negations(root: Node) -> Node:
    """Cancel, mirror and push down negations, from the leaves up."""
    made: list[Node] = []
    for node, below in flatten(root):
        children = tuple(made[i] for i in below)
        if isinstance(node, Gate):
            children = tuple(_mirrored_input(node, i, child) for i, child in enumerate(children))
        same = all(new is old for new, old in zip(children, node.children, strict=True))
        node = node if same else node.with_children(children)
        made.append(_pushed(node) if isinstance(node, Not) and not node.name else node)
    top = made[-1]
    return negated(top.input) if _is_mirror(top) and isinstance(top, Not) else top


def _mirrored_input(gate: Gate, place: int, child: Node) -> Node:
    """Return an input of a gate with its `not` in the leaf, where the gate does not blow up what that rounds off."""
    if not (isinstance(child, Not) and isinstance(child.input, Leaf) and _is_mirror(child)):
        return child
    return negated(child.input) if isinstance(child.input.criterion, Table) or _steady(gate, place) else child


def _is_mirror(node: Node) -> bool:
    """Whether a node is a negation that its leaf could say."""
    if not isinstance(node, Not) or node.name or not isinstance(node.input, Leaf):
        return False
    return not isinstance(negated(node.input), Not)


def _steady(gate: Gate, place: int) -> bool:
    """Whether the last digit of an input is no more than 1e-8 of the output."""
    found = gate.coefficients
    if found.product == 0.0:
        return True
    return math.isfinite(found.power) and len(gate.inputs) * gate.weights[place] * found.power >= LEAST_DUAL_EXPONENT


def _pushed(node: Not) -> Node:
    """Return a negation cancelled against another, or pushed through a gate where fewer negations remain."""
    below = node.input
    if isinstance(below, Not) and not below.name:
        return below.input
    if not isinstance(below, Gate) or below.name:
        return node
    inputs = [negated(child) for child in below.inputs]
    before = 1 + _negations(below.inputs)
    if _negations(inputs) >= before or not all(_steady(below, i) for i in range(len(inputs))):
        return node
    try:
        andness = opposite(below.andness, len(inputs))
        dual = Gate(inputs, andness, below.weights, below.aggregator)
    except ValueError:  # a hyper gate whose mirrored andness rounds to where it cannot be resolved
        return node
    old, new = below.coefficients, dual.coefficients
    return dual if _same(new.power, old.power) and abs(new.product - old.product) < SAME else node


def _negations(nodes: Sequence[Node]) -> int:
    return sum(isinstance(node, Not) for node in nodes)
