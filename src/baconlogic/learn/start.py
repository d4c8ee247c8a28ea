"""A typed tree as the start of a search: n-ary gates become chains of binary ones, negations move into the leaves.

A leaf without a criterion on a column that does not hold truths gets one that is learned; a sigmoid is refined; a ramp
or a table of truths is kept as it was typed.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from baconlogic.core import gcd
from baconlogic.core.checks import Parameter, ParameterError
from baconlogic.core.criteria import Sigmoid
from baconlogic.core.nodes import Gate, Leaf, flatten, negations
from baconlogic.kernel.loss import Topology
from baconlogic.learn import encode as encoded
from baconlogic.learn.encode import Source
from baconlogic.learn.search import draft as drafts
from baconlogic.learn.search.draft import CRISP, STEEPNESS, THRESHOLD, Draft

if TYPE_CHECKING:
    from collections.abc import Sequence

    from baconlogic.core.nodes import Node
    from baconlogic.core.tree import Tree
    from baconlogic.learn.encode import Column

HARD = gcd.gcd.coefficients(gcd.HARD).power  # the least power of a hard gate of two inputs


def fixed_sources(tree: Tree, columns: Sequence[Column]) -> list[Source]:
    """Return the extra columns a typed tree needs: those of criteria that are kept as they are."""
    place = {column.name: i for i, column in enumerate(columns)}
    found = []
    for node, negated in _signed(tree.root):
        if isinstance(node, Leaf) and not _learnable(node, columns[place[node.feature]]):
            if columns[place[node.feature]].kind == encoded.CATEGORY and not node.criterion.categorical:
                raise ValueError(f"init reads {node.feature!r} as a number, but the column holds text; type a table")
            found.append(Source(place[node.feature], node.criterion, negated))
    return found


def check_complete(tree: Tree, columns: Sequence[Column]) -> None:
    """Refuse a tree that is to be kept as it is, but cannot be evaluated without learning something."""
    place = {column.name: column for column in columns}
    for _, leaf in tree.walk():
        if isinstance(leaf, Leaf) and _learnable(leaf, place[leaf.feature]):
            column = place[leaf.feature]
            if leaf.criterion.holds_truths and column.kind != encoded.TRUTH:
                lacks = "no criterion"
            elif column.holes and leaf.criterion.missing is None:
                lacks = "no truth for missing values"
            else:
                continue
            raise ParameterError(
                Parameter("search", "calibrate"),
                f" keeps init as it is, but its leaf {leaf.feature!r} has {lacks}; state it, or use search='refine'",
            )


def _learnable(leaf: Leaf, column: Column) -> bool:
    if leaf.criterion.holds_truths:
        truths = (column.known >= 0.0) & (column.known <= 1.0)
        return column.kind != encoded.NUMBER or not truths.all()
    return leaf.criterion.learnable and column.kind == encoded.NUMBER


def _signed(root: Node) -> list[tuple[Node, bool]]:
    """Return each node, children first, with whether an odd number of negations stands above it."""
    order = flatten(root)
    return [(node, sign) for (node, _), sign in zip(order, negations(order), strict=True)]


def draft_of(tree: Tree, encoding: encoded.Encoding) -> Draft:
    """Return the draft that a tree is refined from."""
    return _Builder(encoding).build(tree)


class _Builder:
    """Collects leaves and binary gates; a node is ("leaf", i) or ("gate", j) until all are counted."""

    def __init__(self, encoding: encoded.Encoding) -> None:
        self.encoding = encoding
        self.place = {column.name: i for i, column in enumerate(encoding.columns)}
        self.leaves: list[drafts.Leaf] = []
        self.gates: list[tuple[tuple[str, int], tuple[str, int], float, float]] = []

    def build(self, tree: Tree) -> Draft:
        made: list[tuple[str, int]] = []
        for (node, negated), (_, below) in zip(_signed(tree.root), flatten(tree.root), strict=True):
            if isinstance(node, Leaf):
                made.append(self._leaf(node, negated))
            elif isinstance(node, Gate):
                made.append(self._gate(node, [made[child] for child in below], negated))
            else:
                made.append(made[below[0]])
        m = len(self.leaves)
        number = {("leaf", i): i for i in range(m)} | {("gate", j): m + j for j in range(len(self.gates))}
        left = np.array([number[gate[0]] for gate in self.gates], dtype=np.int64)
        right = np.array([number[gate[1]] for gate in self.gates], dtype=np.int64)
        columns, *criteria = zip(*self.leaves, strict=True)
        values = np.r_[
            *(np.array(part, dtype=float) for part in criteria),
            [gate[2] for gate in self.gates], [gate[3] for gate in self.gates], STEEPNESS, THRESHOLD,
        ]  # fmt: skip
        return Draft(Topology(left, right), np.array(columns, dtype=np.int64), values)

    def _leaf(self, leaf: Leaf, negated: bool) -> tuple[str, int]:
        feature = self.place[leaf.feature]
        column, sign = self.encoding.columns[feature], -1.0 if negated else 1.0
        if not _learnable(leaf, column):
            source = Source(feature, leaf.criterion, negated)
            self.leaves.append(drafts.Leaf(self.encoding.sources.index(source), 1.0, 0.0))
            return "leaf", len(self.leaves) - 1
        missing = _logit(leaf.criterion.missing)
        slope, centre = 2.0, 0.0
        if column.kind == encoded.TRUTH:
            slope = CRISP  # of 0 and 1, at -1 and 1
        elif isinstance(leaf.criterion, Sigmoid):  # the shape that is learned, by these two numbers
            slope = leaf.criterion.slope * column.scale
            centre = (leaf.criterion.centre - column.centre) / column.scale
        at = self.encoding.sources.index(Source(feature))
        self.leaves.append(drafts.Leaf(at, sign * slope, centre, sign * missing))
        return "leaf", len(self.leaves) - 1

    def _gate(self, gate: Gate, inputs: list[tuple[str, int]], negated: bool) -> tuple[str, int]:
        andness = 1.0 - gate.andness if negated else gate.andness
        hard = gate.coefficients.mean == 0.0 and not math.isinf(gate.coefficients.power)
        pairs = _pairs([len(inputs) * weight * gate.coefficients.power for weight in gate.weights]) if hard else []
        joined, total = inputs[0], gate.weights[0]
        for i in range(1, len(inputs)):
            if hard:
                before, new = pairs[i - 1]
                weight, power = before / (before + new), (before + new) / 2.0
                side = gcd.andness_of_power(power, 2)
                value = 1.0 - side if andness < gcd.NEUTRAL else side
            else:
                weight, value = total / (total + gate.weights[i]), andness
            total += gate.weights[i]
            self.gates.append((joined, inputs[i], float(weight), float(value)))
            joined = "gate", len(self.gates) - 1
        return joined


def _pairs(exponents: list[float]) -> list[tuple[float, float]]:
    """Return the exponents (of what came before, of the newcomer) of binary gates whose chain is a weighted product.

    What came before may be raised to any power if its own exponents are divided by it: to one that keeps a gate hard.
    """
    found, scale = [], 1.0
    for new in reversed(exponents[2:]):
        before = max(2.0 * HARD - new / scale, 0.5)
        found.append((before, new / scale))
        scale *= before
    return [(exponents[0] / scale, exponents[1] / scale), *reversed(found)]


def _logit(truth: float | None) -> float:
    if truth is None:
        return 0.0
    inside = min(max(truth, 0.01), 0.99)
    return math.log(inside / (1.0 - inside))
