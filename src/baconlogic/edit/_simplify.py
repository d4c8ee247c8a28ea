"""Fewer gates for the same truths: nested gates of one kind become one gate, negations go into leaves.

A hard gate is a product, z = prod(x_i ** e_i) with e_i = n w_i c, or the same on 1 - x. Such gates inside each other
are again one product, so they are one gate with w_i = e_i / sum(e) and c = sum(e) / n; it exists while its andness
stays at 3/4 or above. Neutral gates merge too, and so do drastic ones: their weights multiply.

That is exact on paper. On a computer a truth below 1e-308 is lost, and so is the distance to 1 of a truth above
1 - 1e-16, and small exponents blow up what was lost. So a gate is merged only where its exponent is not too small, and
a negation moved only where the exponents on the way to the root are not; and what comes out is compared with the tree
over a sample of truths that are 0, 1, between them, and near them: where rounding shows, more gates are left apart.

With a tolerance, gates that are nearly the same merge too, and leaves without effect go.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from baconlogic.core import Floats, gcd
from baconlogic.core import evaluate as evaluation
from baconlogic.core.columns import Columns
from baconlogic.core.evaluate import Truths, combined, leaf_truths
from baconlogic.core.levels import LEVELS, nearest_level
from baconlogic.core.nodes import Gate, Leaf, Node, Not, flatten, negations
from baconlogic.core.tree import Tree
from baconlogic.edit._parameters import negated
from baconlogic.edit._structure import carried, without

Parts = list[tuple[Node, float]]  # inputs with their exponents; with their weights when neutral or drastic

SAME = 1e-13  # how well a gate must give back the exponents it was made for
LEAST_EXPONENT = 0.05  # (1e-308) ** 0.05 is 4e-16
LEAST_DUAL_EXPONENT = 0.2  # where 1 - x is rounded; (1e-16) ** 0.2 is 6e-4
LEAST_REACH = 1 / 3  # (1e-16) ** (1/3) is 5e-6
NEAR_ONE, ROUNDED, BEARABLE = 1e-3, 2.0**-53, 5e-13  # what 1 - x rounds off, of inputs this far from 1, may do

# What exponents must at least be where 1 - x is rounded, tried in turn until a sample of truths shows no difference.
CAUTIONS = (0.0, 0.5, 0.8, 1.0, math.inf)

POINTS = 200  # of each kind to compare trees at; INSIDE times as many anywhere between 0 and 1
INSIDE = 6
NEAREST = 3.0  # digits: how near to 0 and 1 others come
CUBE_POINTS = 3000  # to measure a tolerance at: a third inside, a third at corners, a third with some truths at 0 or 1


class Kind(NamedTuple):
    """A kind of gates that merge exactly."""

    name: str  # neutral, hard or drastic
    dual: bool  # whether on the disjunctive side


class _Ends(NamedTuple):
    """A number for truths near 0 and one for truths near 1."""

    zero: float
    one: float

    def turned(self, turn: bool = True) -> _Ends:
        """Swap the two, as a negation does."""
        return _Ends(self.one, self.zero) if turn else self


def simplify(tree: Tree, tolerance: float = 0.0, X: Any = None) -> Tree:
    """Return a tree of fewer gates with the same truths, or nearly the same: within `tolerance`.

    Without tolerance it is exact: gates of one kind that lie inside each other become one, negations cancel or go into
    leaves. A gate that has a name stays. With a tolerance, similar gates become one too, and leaves go that have no
    effect, as long as no truth changes by more; over the rows X or, without, over a sample of leaf truths. That tries
    every pair again after each step: seconds for 30 leaves, minutes for 100.
    """
    if not 0.0 <= tolerance <= 1.0:
        raise ValueError(f"tolerance is a difference of truths, from 0 to 1, e.g. 0.01; got {tolerance!r}")
    for caution in CAUTIONS:
        root = _merged_through(tree.root, caution)
        if _agree(tree.root, root):
            break
    return _approximated(tree, root, tolerance, X) if tolerance > 0.0 else Tree(root)


def _merged_through(root: Node, caution: float) -> Node:
    """Merge and settle until nothing changes any more."""
    while True:
        simpler = merge_gates(_settle_negations(root, caution), caution)
        if simpler == root:
            return root
        root = simpler


# Exact mergers


def kind_of(node: Node) -> Kind | None:
    """Return what kind of exactly mergeable gate a node is; None for a soft gate, and for what is no gate."""
    if not isinstance(node, Gate):
        return None
    found = node.coefficients
    if node.andness == gcd.NEUTRAL:
        return Kind("neutral", dual=False)
    if math.isinf(found.power):
        return Kind("drastic", found.dual)
    return Kind("hard", found.dual) if found.mean == 0.0 else None


def exponents(gate: Gate, kind: Kind) -> Parts:
    """Return the inputs of a gate of a kind with their exponents; of a neutral or drastic gate, with their weights."""
    scale = len(gate.inputs) * gate.coefficients.power if kind.name == "hard" else 1.0
    return [(node, scale * weight) for node, weight in zip(gate.inputs, gate.weights, strict=True)]


def merged(gate: Gate, kind: Kind, parts: Parts) -> Gate | None:
    """Return the gate of this kind over the parts, or None when there is no such gate."""
    nodes, shares = zip(*parts, strict=True)
    n, andness, power = len(parts), gcd.NEUTRAL, 0.0
    if kind.name == "drastic":
        andness = LEVELS["DD" if kind.dual else "CC"].andness(n)
    elif kind.name == "hard":
        total = math.fsum(shares)
        power, shares = total / n, tuple(share / total for share in shares)
        andness = gcd.andness_of_power(power, n)
        andness = 1.0 - andness if kind.dual else andness
    try:
        made = replace(gate, inputs=nodes, andness=andness, weights=shares)
    except ValueError:  # a weight too small for a float, an andness that n inputs cannot resolve
        return None
    if kind.name == "hard" and not (kind_of(made) == kind and _same(made.coefficients.power, power)):
        return None
    return made if all(map(_same, made.weights, shares)) and min(shares) > 1e-290 else None


def _same(a: float, b: float) -> bool:
    return abs(a - b) <= SAME * abs(b)


def merge_gates(root: Node, caution: float = 0.0) -> Node:
    """Merge gates exactly, from the root down: a gate takes in what it can, then the next ones below begin."""
    nearest = _nearest_ends(root)
    waiting: list[tuple[Node, _Ends]] = [(root, _Ends(1.0, 1.0))]
    found: list[Node] = []
    while waiting:
        node, reach = waiting.pop()
        kind = kind_of(node)
        if isinstance(node, Gate) and kind is not None and not _delicate(node, reach, nearest[id(node)]):
            node = _taking_in(node, kind, nearest, caution)
        found.append(node)
        waiting.extend((child, _reach_below(node, i, reach)) for i, child in enumerate(node.children))
    loose: list[Node] = []
    for node in reversed(found):  # children come first, left to right, as in `flatten`
        first = len(loose) - len(node.children)
        loose[first:] = [_with_children(node, tuple(loose[first:]))]
    return loose[0]


def _with_children(node: Node, children: tuple[Node, ...]) -> Node:
    """Return a node over other children: itself where they are none other."""
    same = all(new is old for new, old in zip(children, node.children, strict=True))
    return node if same else node.with_children(children)


def _delicate(gate: Gate, reach: _Ends, nearest: _Ends) -> bool:
    """Whether gates above would show the last digit of this one: near 1 and, of a disjunction, near 0."""
    if math.isinf(gate.coefficients.power):  # it says 0 or 1
        return False
    return _shows(reach.one, nearest.one) or (gate.coefficients.dual and _shows(reach.zero, nearest.zero))


def _taking_in(gate: Gate, kind: Kind, nearest: dict[int, _Ends], caution: float) -> Gate:
    """Return a gate with the gates of its kind below it merged into it: all at once, or else as many as can be."""
    start = exponents(gate, kind)
    parts, position = start, 0
    while position < len(parts):
        if _mergeable(parts[position], kind, nearest, caution):
            parts = _opened(parts, position, kind)
        else:
            position += 1
    if len(parts) == len(start):
        return gate
    made = merged(gate, kind, parts)
    if made is not None:
        return made
    best, parts, position = gate, start, 0
    while position < len(parts):
        wider = _opened(parts, position, kind) if _mergeable(parts[position], kind, nearest, caution) else parts
        made = merged(gate, kind, wider) if wider is not parts else None
        if made is not None:
            best, parts = made, wider
        else:
            position += 1
    return best


def _mergeable(part: tuple[Node, float], kind: Kind, nearest: dict[int, _Ends], caution: float) -> bool:
    node, share = part
    if not isinstance(node, Gate) or node.name or kind_of(node) != kind:
        return False
    if kind == ("hard", True):
        return share >= max(LEAST_DUAL_EXPONENT, caution) and not _shows(share, nearest[id(node)].one)
    return caution < math.inf and (kind.name != "hard" or share >= LEAST_EXPONENT)


def _opened(parts: Parts, position: int, kind: Kind) -> Parts:
    """Put the inputs of a gate in its place; products multiply exponents, means and drastic gates weights."""
    node, share = parts[position]
    assert isinstance(node, Gate)  # noqa: S101
    inner = [(child, share * own) for child, own in exponents(node, kind)]
    return [*parts[:position], *inner, *parts[position + 1 :]]


# What rounding allows


def _nearest_ends(root: Node) -> dict[int, _Ends]:
    """Return, by id, the logarithms of how near to 0 and to 1 a node comes while its leaves stay NEAR_ONE away."""
    order, ends = flatten(root), list[_Ends]()
    for node, below in order:
        own = _Ends(math.log(NEAR_ONE), math.log(NEAR_ONE))
        if isinstance(node, Gate):
            dual = node.coefficients.dual
            own = _least([ends[i].turned(dual) for i in below], node.weights, node.coefficients).turned(dual)
        elif below:
            own = ends[below[0]].turned()
        ends.append(own)
    return {id(node): own for (node, _), own in zip(order, ends, strict=True)}


def _least(ends: list[_Ends], weights: Sequence[float], gate: gcd.Coefficients) -> _Ends:
    """Return the logarithms of the least truth and of the least distance from 1 of a conjunction, nearly."""
    if math.isinf(gate.power):
        return _Ends(-math.inf, 0.0)
    truth, distance = (math.fsum(w * math.exp(end[i]) for w, end in zip(weights, ends, strict=True)) for i in (0, 1))
    powers = [len(ends) * w * gate.power for w in weights]
    product = math.fsum(e * end.zero for e, end in zip(powers, ends, strict=True))
    far = min(math.fsum(e * math.exp(end.one) for e, end in zip(powers, ends, strict=True)), 0.5)
    low = math.log(gate.mean * truth + gate.product * math.exp(product)) if gate.mean * truth else product
    least = gate.mean * distance + gate.product * far
    return _Ends(low, math.log(least) if least > 0.0 else min(end.one for end in ends))


def _shows(power: float, nearest: float) -> bool:
    """Whether what 1 - x rounds off can be seen in x ** power, by its slope, where log x is `nearest`."""
    return power == 0.0 or math.log(power * ROUNDED) + (power - 1.0) * nearest > math.log(BEARABLE)


def _reach_below(node: Node, place: int, reach: _Ends) -> _Ends:
    """Return the power with which what is lost near 0, or near 1, of an input reaches the root, from that of its node.

    A gate takes roots of what its exponent makes a root of; a negation swaps ends.
    """
    if not isinstance(node, Gate):
        return reach.turned()
    found = node.coefficients
    if found.product == 0.0:
        return reach
    power = min(len(node.inputs) * node.weights[place] * found.power, 1.0) if math.isfinite(found.power) else 0.0
    return _Ends(reach.zero, reach.one * power) if found.dual else _Ends(reach.zero * power, reach.one)


# Negations


def opposite(andness: float, n: int) -> float:
    """Return 1 - andness: the exact point of the scale where that is one, rounding aside."""
    found = 1.0 - andness
    if found in (gcd.LOWEST, gcd.HIGHEST):
        return found
    point = nearest_level(found, n).andness(n)
    return point if abs(point - found) < 1e-15 else found


def _settle_negations(root: Node, caution: float) -> Node:
    """Cancel, mirror and push down negations, from the leaves up."""
    order, least, nearest = flatten(root), max(LEAST_REACH, caution), _nearest_ends(root)
    reach = [_Ends(1.0, 1.0)] * len(order)
    for position in range(len(order) - 1, -1, -1):
        node, below = order[position]
        for i, child in enumerate(below):
            reach[child] = _reach_below(node, i, reach[position])
    made: list[Node] = []
    for position, (old, below) in enumerate(order):
        node = _with_children(old, tuple(made[i] for i in below))
        if isinstance(node, Not) and not node.name:
            node = _settled(node, reach[position], least, nearest[id(old)].zero)
        made.append(node)
    return made[-1]


def _settled(node: Not, reach: _Ends, least: float, nearest: float) -> Node:
    """Return a negation cancelled, said by its leaf or pushed through its gate, where rounding then does not count."""
    below = node.input
    if isinstance(below, Leaf):
        mirror = negated(below)
        harmless = below.criterion.categorical or min(reach) >= least
        return mirror if harmless and not isinstance(mirror, Not) else node
    if isinstance(below, Not) and not below.name:
        return node if _shows(reach.zero, nearest) else below.input  # 1 - (1 - x) loses digits of a small x
    if isinstance(below, Gate) and not below.name:
        inner = reach.turned()
        if all(min(_reach_below(below, i, inner)) >= least for i in range(len(below.inputs))):
            return _pushed(node, below)
    return node


def _pushed(node: Not, below: Gate) -> Node:
    """Return the negation of a gate as a gate of negations, by De Morgan, where fewer negations remain."""
    inputs = [negated(child) for child in below.inputs]
    before, after = (sum(isinstance(each, Not) for each in nodes) for nodes in ((node, *below.inputs), inputs))
    if after >= before:
        return node
    try:
        dual = Gate(inputs, opposite(below.andness, len(inputs)), below.weights, below.aggregator)
    except ValueError:  # a hyper gate whose mirrored andness rounds to where it cannot be resolved
        return node
    old, new = below.coefficients, dual.coefficients
    return dual if _same(new.power, old.power) and abs(new.product - old.product) < SAME else node


# Whether two trees over the same leaves say the same


def _agree(one: Node, other: Node) -> bool:
    """Whether no truth differs by more than is BEARABLE over a sample: truths inside, at 0 and 1, and near these.

    The leaves of both stand in the same order; one that is negated in one tree only is mirrored in the other.
    """
    signs = []
    for order in (flatten(one), flatten(other)):
        leaves = (isinstance(node, Leaf) for node, _ in order)
        signs.append(np.array([turn for leaf, turn in zip(leaves, negations(order), strict=True) if leaf]))
    truths = _truths_to_compare(len(signs[0]))
    mirrored = np.where((signs[0] != signs[1])[:, None], 1.0 - truths, truths)
    return bool(np.max(np.abs(_root_truths(one, truths) - _root_truths(other, mirrored))) <= BEARABLE)


def _truths_to_compare(leaves: int) -> Floats:
    """Return truths of leaves, (leaves, points)."""
    rng = np.random.default_rng(0)
    inside, corners = rng.random((leaves, INSIDE * POINTS)), rng.integers(0, 2, (leaves, POINTS)).astype(float)
    near = np.abs(rng.integers(0, 2, (leaves, POINTS)) - 10.0 ** -rng.uniform(0.0, NEAREST, (leaves, POINTS)))
    high = 1.0 - 10.0 ** -rng.uniform(1.0, NEAREST, (leaves, POINTS))
    return np.hstack([inside, corners, near, high, 1.0 - high])


def _root_truths(root: Node, truths: Floats) -> Floats:
    found, leaves = list[Floats](), iter(truths)
    for node, below in flatten(root):
        found.append(next(leaves) if isinstance(node, Leaf) else combined(node, [found[i] for i in below]))
        for i in below:
            found[i] = found[i][:0]  # a long chain would otherwise keep them all
    return found[-1]


# Nearly the same


class _Move(NamedTuple):
    """A smaller gate, or the last of its inputs, in place of one; with the truths of its inputs."""

    position: int
    node: Node
    inputs: list[Floats]


def _approximated(original: Tree, root: Node, tolerance: float, X: Any) -> Tree:
    """Return a smaller tree than `root` whose truths stay within the tolerance of the original's.

    Each step takes the merger or the leaf that changes truths least.
    """
    if X is None:
        leaves = list(dict.fromkeys(node for node, _ in flatten(root) if isinstance(node, Leaf)))
        known = dict(zip(leaves, _truths_in_cube(len(leaves)), strict=True))
        target = Truths(root, known).of[-1]
    else:
        table = Columns(X)
        known = leaf_truths(root, table)
        target = evaluation.truths(original.root, table)
    refused = set[Node]()
    while True:
        truths = Truths(root, known)
        best, least = None, math.inf
        for move in _moves(truths):
            if move.node in refused:
                continue
            truth = move.inputs[0] if len(move.inputs) == 1 else combined(move.node, move.inputs)
            change = float(np.max(np.abs(truths.root_if(move.position, truth) - target), initial=0.0))
            if change > tolerance:
                refused.add(move.node)  # what is too much now is not tried again
            elif change < least:
                best, least = move, change
        if best is None:
            return Tree(root)
        root = truths.tree_with(best.position, best.node)


def _truths_in_cube(leaves: int) -> Floats:
    """Return truths of leaves in the unit cube, (leaves, points): inside, at corners, and in between."""
    rng = np.random.default_rng(0)
    third, size = CUBE_POINTS // 3, (leaves, CUBE_POINTS)
    inside, corners = rng.random(size), rng.integers(0, 2, size).astype(float)
    some = rng.random(size) < 0.5
    some[:, :third], some[:, third : 2 * third] = False, True
    return np.where(some, corners, inside)


def _moves(truths: Truths) -> Iterator[_Move]:
    """Yield every merger of a gate with one right below it, and every leaf that could go."""
    for position, (node, below) in enumerate(truths.order):
        if not isinstance(node, Gate):
            continue
        for place, child in enumerate(node.inputs):
            leaf, others = child.input if isinstance(child, Not) else child, [truths.of[i] for i in below]
            if isinstance(child, Gate) and not child.name:
                inner = [truths.of[i] for i in truths.order[below[place]][1]]
                inputs = [*others[:place], *inner, *others[place + 1 :]]
                yield from (_Move(position, made, inputs) for made in _mergers(node, place, child))
            elif isinstance(leaf, Leaf) and not (node.name and len(below) == 2):  # a named gate stays
                yield _Move(position, without(node, place), others[:place] + others[place + 1 :])


def _mergers(gate: Gate, place: int, child: Gate) -> Iterator[Gate]:
    """Yield gates that may stand for a gate with another one in it: by shares and similar andness, or as a product."""
    outer, inner = gate.coefficients, child.coefficients
    if outer.dual != inner.dual and gcd.NEUTRAL not in (gate.andness, child.andness):
        return
    nodes = (*gate.inputs[:place], *child.inputs, *gate.inputs[place + 1 :])
    n, share, end = len(nodes), gate.weights[place], place + len(child.inputs)
    own, below = (carried(each.andness, len(each.inputs), 2) for each in (gate, child))
    shares = [*gate.weights[:place], *(share * w for w in child.weights), *gate.weights[place + 1 :]]
    tries = [(carried(a, 2, n), shares) for a in {own, below, (1.0 - share) * own + share * below}]
    if max(outer.power, inner.power) < 100.0 and outer.dual == inner.dual:
        powers = [len(gate.inputs) * outer.power * w for w in shares]
        powers[place:end] = [p * (len(child.inputs) * inner.power) for p in powers[place:end]]
        total = sum(powers)
        andness = max(gcd.andness_of_power(total / n, n), gcd.NEUTRAL)
        tries.append((1.0 - andness if outer.dual else andness, [p / total for p in powers]))
    for a, weights in tries:
        if min(weights) > 0.0:
            try:
                yield replace(gate, inputs=nodes, andness=a, weights=tuple(weights))
            except ValueError:  # an andness that so many inputs cannot resolve
                continue
