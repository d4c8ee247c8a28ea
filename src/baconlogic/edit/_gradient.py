"""The penalised log-loss of a tree with a link, and its slope in the free numbers: forward and back through the tree.

    loss = mean of -log p(y), p = sigmoid(steepness (truth - threshold)), + strength * sum of v^2 / 2

over the free numbers v (see knobs), strength being penalty / cases: what a case's evidence weighs. The last two numbers
are the link's; their hold stops growing some LINK_REACH units away, as in search/refine. What does not move is
evaluated once; the rest block by block, so that a block of rows stays in the cache.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from baconlogic.core import gcd
from baconlogic.core.answers import Link
from baconlogic.core.nodes import Gate, Leaf, Node, Not, flatten, rebuild
from baconlogic.edit._knobs import GateKnobs, LeafKnobs

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

STEEPNESS = 8.0  # of a link that nothing is known of
STEEPNESSES, THRESHOLDS = (0.5, 200.0), (-1.0, 2.0)
LINK_UNIT, LINK_REACH = 0.32, 4.0
BLOCK = 8192


@dataclass(frozen=True)
class Task:
    """All that the loss is made of, but the free numbers. Positions are those of `flatten`."""

    root: Node
    knobs: dict[int, GateKnobs | LeafKnobs]
    columns: dict[int, NDArray[Any]]  # of leaves with knobs, as these read them
    still: dict[int, Floats]  # truths of the largest parts that do not move
    y: Floats  # (rows,): 0 or 1
    share: Floats  # (rows,): sums to 1
    strength: float
    link: Link
    hold: bool = False  # whether the threshold stays

    def spans(self) -> list[tuple[float, float]]:
        """Return the bounds of the free numbers."""
        steep, turn = self.link.steepness, self.link.threshold
        low, high = (math.log(end / steep) / LINK_UNIT for end in STEEPNESSES)
        lowest, highest = (0.0, 0.0) if self.hold else ((end - turn) / LINK_UNIT for end in THRESHOLDS)
        found = [span for knobs in self.knobs.values() for span in knobs.spans]
        return [*found, (min(low, 0.0), max(high, 0.0)), (min(lowest, 0.0), max(highest, 0.0))]

    def sample(self, step: int) -> Task:
        """Return the task of every so many rows."""
        columns, still = ({k: c[::step] for k, c in each.items()} for each in (self.columns, self.still))
        share = self.share[::step]
        return replace(self, columns=columns, still=still, y=self.y[::step], share=share / share.sum())

    def parts(self, v: Floats) -> dict[int, Floats]:
        """Return the free numbers of each node that has some."""
        cuts = np.cumsum([len(knobs.spans) for knobs in self.knobs.values()])
        return dict(zip(self.knobs, np.split(v[:-2], cuts[:-1]), strict=True)) if self.knobs else {}

    def link_at(self, v: Floats) -> Link:
        """Return the link at the free numbers."""
        return Link(self.link.steepness * math.exp(LINK_UNIT * v[-2]), self.link.threshold + LINK_UNIT * v[-1])

    def tree_at(self, v: Floats) -> Node:
        """Return the tree at the free numbers; what is not free is as it was."""
        spelled, parts = [], self.parts(v)
        for position, (node, below) in enumerate(flatten(self.root)):
            knobs, content = self.knobs.get(position), node.content
            if isinstance(knobs, GateKnobs) and isinstance(node, Gate):
                andness, weights = knobs.moved(parts[position])
                content = (andness, tuple(weights.tolist()), node.aggregator, node.name)
            elif isinstance(knobs, LeafKnobs) and isinstance(node, Leaf):
                content = (node.feature, knobs.criterion(parts[position]), node.name)
            spelled.append((type(node), content, below))
        return rebuild(tuple(spelled))

    def log_loss(self, v: Floats) -> float:
        """Return the mean log-loss, without the penalty."""
        return self.loss(v)[0] - self._penalty(v)[0]

    def loss(self, v: Floats) -> tuple[float, Floats]:
        """Return the penalised loss and its slope in each free number."""
        run = _Run(self, v)
        rows, block = len(self.y), min(BLOCK, max(256, 4_000_000 // (len(run.order) + 1)))
        loss = sum(run.through(slice(start, start + block)) for start in range(0, rows, block))
        penalty, slope = self._penalty(v)
        return float(loss) + penalty, run.gradient() + slope

    def _penalty(self, v: Floats) -> tuple[float, Floats]:
        root = np.ones_like(v)
        root[-2:] = np.sqrt(1.0 + (v[-2:] / LINK_REACH) ** 2)
        return float(self.strength * (v * v / (1.0 + root)).sum()), self.strength * v / root


class _Run:
    """One passage of all rows through the tree at given free numbers, adding up slopes."""

    def __init__(self, task: Task, v: Floats) -> None:
        self.task, self.link, self.parts = task, task.link_at(v), task.parts(v)
        every = flatten(task.root)
        moving, self.top = moves(every, task.knobs), len(every) - 1
        self.order = [(k, *every[k]) for k in range(len(every)) if moving[k]]
        self.gates, self.criteria, self.slopes = {}, {}, {}
        for k, node, _ in self.order:
            knobs = task.knobs.get(k)
            if isinstance(node, Gate):
                at = (node.andness, np.array(node.weights))
                self.gates[k] = knobs.moved(self.parts[k]) if isinstance(knobs, GateKnobs) else at
                self.slopes[k] = np.zeros(len(node.inputs) + 1)
            elif isinstance(knobs, LeafKnobs):
                self.criteria[k] = knobs.criterion(self.parts[k])
                self.slopes[k] = np.zeros(len(knobs.spans))
        self.link_slopes = np.zeros(2)

    def through(self, rows: slice) -> float:
        """Return what some rows add to the loss, and add up their slopes."""
        task, top = self.task, self.top
        truths = self._forward(rows)
        score, y = self.link.score(truths[top]), task.y[rows]
        e = np.exp(-np.abs(score))
        wrong = task.share[rows] * (np.where(score > 0.0, 1.0, e) / (1.0 + e) - y)
        self.link_slopes += wrong @ score, -self.link.steepness * wrong.sum()
        self._back(truths, {top: self.link.steepness * wrong}, rows)
        return float(task.share[rows] @ (np.log1p(e) + np.maximum(score, 0.0) - y * score))

    def _forward(self, rows: slice) -> dict[int, Floats]:
        truths = {k: still[rows] for k, still in self.task.still.items()}
        for k, node, below in self.order:
            knobs = self.task.knobs.get(k)
            if isinstance(knobs, LeafKnobs):
                truths[k] = knobs.truths(self.criteria[k], self.task.columns[k][rows])
            elif isinstance(node, Gate):
                andness, weights = self.gates[k]
                numbers = gcd.AGGREGATORS[node.aggregator].coefficients(andness, len(below))
                truths[k] = gcd.combine(np.array([truths[i] for i in below]), weights[:, None], numbers)
            else:
                truths[k] = 1.0 - truths[below[0]]
        return truths

    def _back(self, truths: dict[int, Floats], slope: dict[int, Floats], rows: slice) -> None:
        """Carry the slope of the loss in the root's truth down, and add it up in each node that moves."""
        for k, node, below in reversed(self.order):
            own, knobs = slope.pop(k), self.task.knobs.get(k)
            if isinstance(node, Not):
                slope[below[0]] = -own
            elif isinstance(node, Gate):
                andness, weights = self.gates[k]
                found = _slopes(gcd.AGGREGATORS[node.aggregator], truths, below, weights, andness)
                slope.update(zip(below, own * found.inputs, strict=True))
                self.slopes[k] += [*(found.weights @ own), found.andness @ own]
            elif isinstance(knobs, LeafKnobs):
                change = knobs.slopes(self.criteria[k], self.parts[k], self.task.columns[k][rows])
                self.slopes[k] += change @ own

    def gradient(self) -> Floats:
        """Return the slope in each free number."""
        found = []
        for k, knobs in self.task.knobs.items():
            slopes = self.slopes[k]
            if isinstance(knobs, GateKnobs):
                slopes = knobs.gradient(self.parts[k], slopes[:-1], slopes[-1])
            found.append(slopes)
        return np.concatenate([*found, LINK_UNIT * self.link_slopes])


def _slopes(
    rule: gcd.Aggregator, truths: dict[int, Floats], below: tuple[int, ...], weights: Floats, andness: float
) -> gcd.Derivatives:
    """Return the slopes of a gate; in rows where an input is 0 (or 1, of a disjunction) those of its mean alone.

    There the product is 0 whatever the rest of the gate is; only that one input, if it is alone, makes a difference.
    """
    x = np.array([truths[i] for i in below])
    found, gate = rule.derivatives(list(x), weights, andness), rule.coefficients(andness, len(below))
    side, sign, a = (1.0 - x, -1.0, 1.0 - andness) if gate.dual else (x, 1.0, andness)
    ends = side <= gcd.EPS
    rows = np.flatnonzero(ends.any(axis=0))
    if gate.product == 0.0 or not rows.size or np.isinf(gate.power):
        return found
    alone = ends[:, rows] & (ends[:, rows].sum(axis=0) == 1)
    found.inputs[:, rows] = np.where(alone, found.inputs[:, rows], gate.mean * weights[:, None])
    found.weights[:, rows] = sign * gate.mean * side[:, rows]
    found.andness[rows] = rule.slopes(a, float(len(below)))[0] * (weights @ side[:, rows])
    return found


def moves(order: list[tuple[Node, tuple[int, ...]]], knobs: Mapping[int, Any]) -> list[bool]:
    """Return which nodes have something free in or below them."""
    moving: list[bool] = []
    for k, (_, below) in enumerate(order):
        moving.append(k in knobs or any(moving[i] for i in below))
    return moving
