"""Fewer gates for the same truths: nested gates of one kind become one gate, negations go into leaves.

A hard gate is a product, z = prod(x_i ** e_i) with e_i = n w_i c, or the same on 1 - x. Such gates inside each other
are again one product, so they are one gate with w_i = e_i / sum(e) and c = sum(e) / n; it exists while its andness
stays at 3/4 or above. Neutral gates merge too, and so do drastic ones: their weights multiply.

That is exact on paper. On a computer a truth below 1e-308 is lost, and so is the distance to 1 of a truth above
1 - 1e-16, and small exponents blow up what was lost. So a gate is merged only where its exponent is not too small, and
a negation moved only where the exponents on the way to the root are not; and what comes out is compared with the tree
over a sample of truths that are 0, 1, between them, and near them: where rounding shows, more gates are left apart.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from baconlogic.core import gcd
from baconlogic.core.levels import LEVELS
from baconlogic.core.nodes import Gate, Leaf, Node, Not, flatten
from baconlogic.core.tree import Tree
from baconlogic.edit._agree import agree
from baconlogic.edit._andness import opposite
from baconlogic.edit._approximate import approximate
from baconlogic.edit._mirror import negated

if TYPE_CHECKING:
    from collections.abc import Sequence

    Kind = tuple[str, bool]  # neutral, hard or drastic; whether on the disjunctive side
    Reach = tuple[float, float]  # the power with which what is lost near 0, or near 1, reaches the root
    Nearest = dict[int, tuple[float, float]]
    Parts = list[tuple[Node, float]]  # inputs with their exponents; with their weights when neutral or drastic

SAME = 1e-13  # how well a gate must give back the exponents it was made for
LEAST_EXPONENT = 0.05  # (1e-308) ** 0.05 is 4e-16
LEAST_DUAL_EXPONENT = 0.2  # where 1 - x is rounded; (1e-16) ** 0.2 is 6e-4
LEAST_REACH = 1 / 3  # (1e-16) ** (1/3) is 5e-6
NEAR_ONE, ROUNDED, BEARABLE = 1e-3, 2.0**-53, 5e-13  # what 1 - x rounds off, of inputs this far from 1, may do

# What exponents must at least be where 1 - x is rounded, tried in turn until a sample of truths shows no difference.
CAUTIONS = (0.0, 0.5, 0.8, 1.0, math.inf)


def simplify(tree: Tree, tolerance: float = 0.0, X: Any = None) -> Tree:
    """Return a tree of fewer gates with the same truths, or nearly the same: within `tolerance`.

    Without tolerance it is exact: gates of one kind that lie inside each other become one, negations cancel or go into
    leaves. A gate that has a name stays. With a tolerance, similar gates become one too, and leaves go that have no
    effect, as long as no truth changes by more; over the rows X or, without, over a sample of leaf truths. That tries
    every pair again after each step: seconds for 30 leaves, minutes for 100.
    """
    if not 0.0 <= tolerance <= 1.0:
        raise ValueError(f"tolerance is a difference of truths, from 0 to 1, e.g. 0.01; got {tolerance!r}")
    root = tree.root
    for caution in CAUTIONS:
        root = _merged_through(tree.root, caution)
        if agree(tree.root, root, BEARABLE):
            break
    return approximate(tree, Tree(root), tolerance, X) if tolerance > 0.0 else Tree(root)


def _merged_through(root: Node, caution: float) -> Node:
    """Merge and settle until nothing changes any more."""
    while True:
        simpler = merge_gates(_settle_negations(root, caution), caution)
        if simpler == root:
            return root
        root = simpler


def merged(gate: Gate, parts: Parts) -> Gate | None:
    """Return the gate of this kind over the parts, or None when there is no such gate."""
    (kind, dual), n = kind_of(gate) or ("", False), len(parts)
    nodes, shares = zip(*parts, strict=True)
    andness, power = gcd.NEUTRAL, 0.0
    if kind == "drastic":
        andness = LEVELS["DD" if dual else "CC"].andness(n)
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


def merge_gates(root: Node, caution: float = 0.0) -> Node:
    """Merge gates exactly, from the root down: a gate takes in what it can, then the next ones below begin."""
    nearest = _nearest_one(root)
    waiting: list[tuple[Node, Reach]] = [(root, (1.0, 1.0))]
    found: list[Node] = []
    while waiting:
        node, reach = waiting.pop()
        if isinstance(node, Gate) and not _delicate(node, reach, nearest[id(node)]):
            node = _taking_in(node, nearest, caution)
        found.append(node)
        waiting.extend((child, _reach_below(node, i, reach)) for i, child in enumerate(node.children))
    loose: list[Node] = []
    for node in reversed(found):  # children come first, left to right, as in `flatten`
        below = tuple(loose[len(loose) - len(node.children) :])
        del loose[len(loose) - len(node.children) :]
        same = all(new is old for new, old in zip(below, node.children, strict=True))
        loose.append(node if same else node.with_children(below))
    return loose[0]


def _delicate(gate: Gate, reach: Reach, ends: tuple[float, float]) -> bool:
    """Whether gates above would show the last digit of this one: near 1 and, of a disjunction, near 0."""
    if math.isinf(gate.coefficients.power):  # it says 0 or 1
        return False
    return _shows(reach[1], ends[1]) or (gate.coefficients.dual and _shows(reach[0], ends[0]))


def _taking_in(gate: Gate, nearest: Nearest, caution: float) -> Gate:
    """Return a gate with the gates of its kind below it merged into it: all at once, or else as many as can be."""
    kind = kind_of(gate)
    if kind is None:
        return gate
    start = exponents(gate)
    parts, position = start, 0
    while position < len(parts):
        if _mergeable(parts[position], kind, nearest, caution):
            parts = _opened(parts, position)
        else:
            position += 1
    if len(parts) == len(start):
        return gate
    return merged(gate, parts) or _one_by_one(gate, start, kind, nearest, caution)


def _one_by_one(gate: Gate, parts: Parts, kind: Kind, nearest: Nearest, caution: float) -> Gate:
    best, position = gate, 0
    while position < len(parts):
        if _mergeable(parts[position], kind, nearest, caution):
            wider = _opened(parts, position)
            made = merged(gate, wider)
            if made is not None:
                best, parts = made, wider
                continue
        position += 1
    return best


def _mergeable(part: tuple[Node, float], kind: Kind, nearest: Nearest, caution: float) -> bool:
    node, share = part
    if not isinstance(node, Gate) or node.name or kind_of(node) != kind:
        return False
    if kind != ("hard", True):
        return caution < math.inf and (kind[0] != "hard" or share >= LEAST_EXPONENT)
    return share >= max(LEAST_DUAL_EXPONENT, caution) and not _shows(share, nearest[id(node)][1])


def _nearest_one(root: Node) -> Nearest:
    """Return, by id, the logarithms of how near to 0 and to 1 a node comes while its leaves stay NEAR_ONE away."""
    found: Nearest = {}
    ends: list[tuple[float, float]] = []  # logarithms of the least truth, and of the least distance from 1
    for node, below in flatten(root):
        low, high = math.log(NEAR_ONE), math.log(NEAR_ONE)
        if isinstance(node, Gate):
            gate = node.coefficients
            sides = [ends[i][::-1] if gate.dual else ends[i] for i in below]
            low, high = _least(sides, node.weights, gate)
            low, high = (high, low) if gate.dual else (low, high)
        elif below:
            low, high = ends[below[0]][::-1]
        ends.append((low, high))
        found[id(node)] = low, high
    return found


def _shows(power: float, nearest: float) -> bool:
    """Whether what 1 - x rounds off can be seen in x ** power, by its slope, where log x is `nearest`."""
    return power == 0.0 or math.log(power * ROUNDED) + (power - 1.0) * nearest > math.log(BEARABLE)


def _least(ends: list[tuple[float, float]], weights: Sequence[float], gate: gcd.Coefficients) -> tuple[float, float]:
    """Return the logarithms of the least truth and of the least distance from 1 of a conjunction, nearly."""
    truth, distance = (math.fsum(w * math.exp(end[i]) for w, end in zip(weights, ends, strict=True)) for i in (0, 1))
    if math.isinf(gate.power):
        return -math.inf, 0.0
    exponents = [len(ends) * w * gate.power for w in weights]
    product = math.fsum(e * low for e, (low, _) in zip(exponents, ends, strict=True))
    far = min(math.fsum(e * math.exp(high) for e, (_, high) in zip(exponents, ends, strict=True)), 0.5)
    low = math.log(gate.mean * truth + gate.product * math.exp(product)) if gate.mean * truth else product
    least = gate.mean * distance + gate.product * far
    return low, math.log(least) if least > 0.0 else min(high for _, high in ends)


def _opened(parts: Parts, position: int) -> Parts:
    """Put the inputs of a gate in its place; products multiply exponents, means and drastic gates weights."""
    node, share = parts[position]
    assert isinstance(node, Gate)  # noqa: S101
    return [*parts[:position], *((child, share * own) for child, own in exponents(node)), *parts[position + 1 :]]


def _reach_below(node: Node, place: int, reach: Reach) -> Reach:
    """Return the reach of an input. A gate takes roots of what its exponent makes a root of; a negation swaps ends."""
    low, high = reach
    if not isinstance(node, Gate):
        return high, low
    found = node.coefficients
    if found.product == 0.0:
        return reach
    power = min(len(node.inputs) * node.weights[place] * found.power, 1.0) if math.isfinite(found.power) else 0.0
    return (low, high * power) if found.dual else (low * power, high)


def _settle_negations(root: Node, caution: float) -> Node:
    """Cancel, mirror and push down negations, from the leaves up."""
    order, least, nearest = flatten(root), max(LEAST_REACH, caution), _nearest_one(root)
    reach: list[Reach] = [(1.0, 1.0)] * len(order)
    for position in range(len(order) - 1, -1, -1):
        node, below = order[position]
        for i, child in enumerate(below):
            reach[child] = _reach_below(node, i, reach[position])
    made: list[Node] = []
    for position, (old, below) in enumerate(order):
        children = tuple(made[i] for i in below)
        same = all(new is before for new, before in zip(children, old.children, strict=True))
        node = old if same else old.with_children(children)
        if isinstance(node, Not) and not node.name:
            node = _settled(node, reach[position], least, nearest[id(old)][0])
        made.append(node)
    return made[-1]


def _settled(node: Not, reach: Reach, least: float, nearest: float) -> Node:
    """Return a negation cancelled, said by its leaf or pushed through its gate, where rounding then does not count."""
    below = node.input
    if isinstance(below, Leaf):
        mirror = negated(below)
        harmless = below.criterion.categorical or min(reach) >= least
        return mirror if harmless and not isinstance(mirror, Not) else node
    if isinstance(below, Not) and not below.name:
        return node if _shows(reach[0], nearest) else below.input  # 1 - (1 - x) loses digits of a small x
    if isinstance(below, Gate) and not below.name:
        inner = (reach[1], reach[0])
        if all(min(_reach_below(below, i, inner)) >= least for i in range(len(below.inputs))):
            return _pushed(node, below)
    return node


def _pushed(node: Not, below: Gate) -> Node:
    """Return the negation of a gate as a gate of negations, by De Morgan, where fewer negations remain."""
    inputs = [negated(child) for child in below.inputs]
    before = 1 + _negations(below.inputs)
    if _negations(inputs) >= before:
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
