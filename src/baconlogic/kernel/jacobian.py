"""Loss, gradient and curvature of a small tree, in plain numpy: nothing to compile, and few steps to the best numbers.

With u the decision value of a row, p = sigmoid(u), and J how u changes with each parameter (see `loss` for both):

    gradient   sum of share * (p - y) J
    curvature  sum of share * p (1 - p) J J'        Gauss and Newton's: how J itself changes is left out

Nodes keep their truth turned to the side of their gate, its complement and its log, as the compiled loops do.
"""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np

from baconlogic.core import Bools, Floats, Ints, gcd
from baconlogic.kernel.loops import FARTHEST, KNOWN_BELOW, TINY
from baconlogic.kernel.loss import Batch, Parameters, Topology, parts

BLOCK = 4096  # rows at a time
FLATTEST = 1e-4  # p (1 - p) of a row that is all but certain
LEAST = 1e-60  # of a truth that slopes are divided by


class Equations(NamedTuple):
    """The loss, and its slopes in the parameters that were asked for."""

    loss: float
    gradient: Floats
    curvature: Floats


class _GateNumbers(NamedTuple):
    """What a gate does with its inputs, on its own side."""

    inputs: Ints
    weights: Floats
    n: int
    dual: bool
    same: bool  # as the gate above it
    neutral: bool
    mean: float
    product: float
    power: float  # n times that of `gcd.coefficients`, as its slope
    mean_slope: float
    product_slope: float
    power_slope: float


def _gates(p: Parameters, shape: Topology, knee: float) -> tuple[list[_GateNumbers], Bools]:
    """Return the gates, and which nodes are inputs of a disjunction."""
    n = np.diff(shape.first)
    high = n / (n - 1.0) - gcd.SHORT_OF_DRASTIC
    andness = np.minimum(np.maximum(p.andness, 1.0 - high), high)
    dual = andness < gcd.NEUTRAL
    side = np.where(dual, 1.0 - andness, andness)
    mean, product, power = (each.tolist() for each in gcd.coefficients(side, n, knee))
    mean_slope, product_slope, power_slope = (each.tolist() for each in gcd.slopes(side, n, knee))
    turned = np.zeros(len(shape.inputs) + 1, np.bool_)
    turned[shape.inputs] = np.repeat(dual, n)
    same, first = dual == turned[shape.leaves :], shape.first.tolist()
    return [
        _GateNumbers(
            shape.inputs[a:b], p.weight[a:b], b - a, bool(dual[j]), bool(same[j]), bool(andness[j] == gcd.NEUTRAL),
            mean[j], product[j], (b - a) * power[j], mean_slope[j], product_slope[j], (b - a) * power_slope[j],
        )
        for j, (a, b) in enumerate(pairwise(first))
    ], turned  # fmt: skip


class _Block:
    """A tree on a block of rows."""

    def __init__(self, p: Parameters, shape: Topology, batch: Batch, knee: float) -> None:
        self.p, self.shape, self.batch = p, shape, batch
        self.gates, self.turned = _gates(p, shape, knee)
        m, rows = shape.leaves, len(batch.y)
        self.raw = batch.X[batch.columns]
        self.missing = self.raw >= KNOWN_BELOW
        self.gaps = bool(self.missing.any())
        self.x, self.c, self.logs = np.empty((3, len(self.turned), rows))
        u = self._leaves()
        self.sign = np.where(self.turned[:m], -1.0, 1.0)[:, None]
        u *= self.sign
        e = np.exp(-np.abs(u))
        large = 1.0 / (1.0 + e)
        small, true = e * large, u > 0.0
        self.x[:m], self.c[:m] = np.where(true, large, small), np.where(true, small, large)
        self.logs[:m] = np.minimum(u, 0.0) - np.log1p(e)
        self.products, self.means = np.empty((2, len(self.gates), rows))
        for j, gate in enumerate(self.gates):
            self._forward(m + j, gate)

    def _leaves(self) -> Floats:
        """Return the logit of each leaf's truth."""
        p, (_, learned, tables, *_) = self.p, self.batch
        raw = np.where(self.missing, 0.0, self.raw) if self.gaps else self.raw
        self.distance, self.smooth = raw - p.centre[:, None], learned & (np.diff(tables) == 0)
        u = np.clip(p.slope[:, None] * self.distance, -FARTHEST, FARTHEST)
        for i in np.flatnonzero(np.diff(tables)):
            u[i] = p.table[tables[i] + raw[i].astype(np.int64)]
        if not learned.all():
            truths = np.clip(raw, gcd.EPS, 1.0 - gcd.EPS)
            u = np.where(learned[:, None], u, np.log(truths) - np.log1p(-truths))
        return np.where(self.missing, p.missing[:, None], u) if self.gaps else u

    def _forward(self, node: int, gate: _GateNumbers) -> None:
        x, c, logs, j = self.x, self.c, self.logs, node - self.shape.leaves
        exponent = gate.power * (gate.weights @ logs[gate.inputs])
        self.products[j] = np.exp(exponent)
        self.means[j] = gate.weights @ x[gate.inputs]
        true, false = gate.product * self.products[j], -gate.product * np.expm1(exponent)
        if gate.mean:
            true += gate.mean * self.means[j]
            false += gate.mean * (gate.weights @ c[gate.inputs])
        x[node], c[node] = (true, false) if gate.same else (false, true)
        logs[node] = exponent if gate.same and not gate.mean else np.log(np.maximum(x[node], TINY))

    def slopes(self) -> Floats:
        """Return how the decision value changes with each parameter, (parameters, rows)."""
        p, m, tables = self.p, self.shape.leaves, self.batch.tables
        found = np.zeros((3 * m + len(p.table) + len(p.weight) + len(p.andness) + 2, len(self.batch.y)))
        weight, andness = found[3 * m + len(p.table) : -2 - len(p.andness)], found[-2 - len(p.andness) : -2]
        found[-2], found[-1] = self.x[-1] - p.link[1], -p.link[0]
        d = np.empty_like(self.x)  # how the decision value changes with x
        d[-1] = p.link[0]
        first = self.shape.first
        for j in range(len(self.gates) - 1, -1, -1):
            self._backward(j, d, weight[first[j] : first[j + 1]], andness[j])
        step = self.sign * d[:m] * self.x[:m] * self.c[:m]
        if self.gaps:
            found[2 * m : 3 * m] = np.where(self.missing, step, 0.0)
            step[self.missing] = 0.0
        smooth = self.smooth[:, None]
        found[:m] = step * np.where(smooth, self.distance, 0.0)
        found[m : 2 * m] = step * np.where(smooth, -p.slope[:, None], 0.0)
        for i in np.flatnonzero(np.diff(tables)):
            known = np.flatnonzero(~self.missing[i])
            found[3 * m + tables[i] + self.raw[i, known].astype(np.int64), known] = step[i, known]
        return found

    def _backward(self, j: int, d: Floats, to_weights: Floats, to_andness: Floats) -> None:
        gate, node = self.gates[j], self.shape.leaves + j
        step = d[node] if gate.same else -d[node]
        x, logs, w = self.x[gate.inputs], self.logs[gate.inputs], gate.weights
        product = step * self.products[j]
        found = (gate.product_slope + gate.product * gate.power_slope * (w @ logs)) * product
        if gate.mean_slope:
            found += gate.mean_slope * (step * self.means[j])
        if gate.neutral:  # a kink: the mean of both sides
            c = self.c[gate.inputs]
            other = gate.product_slope * np.exp(gate.power * (w @ np.log(np.maximum(c, TINY))))
            found = 0.5 * (found + step * (other + gate.mean_slope * (w @ c)))
        to_andness[:] = -found if gate.dual else found
        product *= gate.product * gate.power
        to_weights[:] = product * logs
        d[gate.inputs] = w[:, None] * (product / np.maximum(x, LEAST))
        if gate.mean:
            step = gate.mean * step
            to_weights += step * x
            d[gate.inputs] += w[:, None] * step


def equations(parameters: Floats, shape: Topology, batch: Batch, knee: float, where: Ints) -> Equations:
    """Return the loss, and its gradient and curvature in the parameters at `where`."""
    p, loss, gradient, curvature = parts(parameters, shape), 0.0, np.zeros(len(where)), np.zeros((len(where),) * 2)
    for start in range(0, len(batch.y), BLOCK):
        own = slice(start, start + BLOCK)
        block = _Block(p, shape, batch._replace(X=batch.X[:, own], y=batch.y[own], share=batch.share[own]), knee)
        y, share, u = block.batch.y, block.batch.share, p.link[0] * (block.x[-1] - p.link[1])
        e = np.exp(-np.abs(u))
        chance = np.where(u > 0.0, 1.0, e) / (1.0 + e)
        loss += float(share @ (np.maximum(u, 0.0) + np.log1p(e) - y * u))
        slopes = block.slopes()[where]
        gradient += slopes @ (share * (chance - y))
        curvature += (slopes * (share * np.maximum(chance * (1.0 - chance), FLATTEST))) @ slopes.T
    return Equations(loss, gradient, curvature)


def node_truths(parameters: Floats, shape: Topology, batch: Batch, knee: float) -> Floats:
    """Return what every node says, (nodes, rows); leaves first, root last."""
    found = np.empty((len(shape.inputs) + 1, len(batch.y)))
    for start in range(0, len(batch.y), BLOCK):
        own = slice(start, start + BLOCK)
        block = _Block(parts(parameters, shape), shape, batch._replace(X=batch.X[:, own], y=batch.y[own]), knee)
        found[:, own] = np.where(block.turned[:, None], block.c, block.x)
    return found
