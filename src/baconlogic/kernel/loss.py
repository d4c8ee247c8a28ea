"""Loss and gradient over a flattened tree, compiled.

Nodes are numbered leaves first: leaf i is node i, gate j is node m + j and comes after its inputs, the root is last.
The parameters of m leaves and g gates are one vector, in their natural units (see `Parameters`); there is a weight for
each of the m + g - 1 inputs of gates, and a logit for each category that a table of truths tells apart:

    slope[m] | centre[m] | missing[m] | table[...] | weight[m + g - 1] | andness[g] | steepness, threshold

Leaf:  truth = sigmoid(slope (raw - centre)), or sigmoid(table[code]) where the raw value is a category's code,
       sigmoid(missing) where it is missing; or the raw value itself when the criterion is fixed.
Gate:  that of `gcd`, of any number of inputs; slopes in its weights are as if they were free: moving weight from one
       input to another gives the difference of theirs.
Link:  p = sigmoid(steepness (z - threshold)) of the root's truth z, or p = z as in the paper.
Loss:  amplifier * (sum_i sample_weight_i * cross-entropy(p_i, y_i) + penalty * mean over gates of unevenness),
       the unevenness of n weights being the mean of (weight - 1/n)^2.

Each node keeps its truth x turned to its parent's side (1 - truth under a disjunction), the complement 1 - x and log x,
all to full precision, so nothing is clipped on the way: only fixed truths of exactly 0 and 1 are read as EPS away.
Gradients are carried as dL/dlog x. They stay bounded where dL/dx does not, and a hard gate under a gate of the same
side passes its logarithm on as it is.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numba
import numpy as np
from numpy.typing import NDArray

from baconlogic.core import Bools, Floats, Ints, gcd
from baconlogic.kernel import loops
from baconlogic.kernel.compile import compiled
from baconlogic.kernel.loops import Workspace

BLOCK = 1024  # rows: long enough for the loops to pay, short enough for the cache

_coefficients = numba.njit(error_model="numpy")(gcd.coefficients)
_slopes = numba.njit(error_model="numpy")(gcd.slopes)
_drastic = numba.njit(error_model="numpy")(gcd.drastic)


class Topology(NamedTuple):
    """How gates hang together: the inputs of gate j are inputs[first[j] : first[j + 1]], every one before its gate."""

    first: Ints  # (gates + 1,)
    inputs: Ints  # (nodes - 1,): each node but the root once

    @property
    def leaves(self) -> int:
        """The number of leaves."""
        return len(self.inputs) - len(self.first) + 2

    @property
    def gates(self) -> list[Ints]:
        """The inputs of each gate."""
        return self.by_gate(self.inputs)

    def by_gate(self, values: NDArray[Any]) -> list[NDArray[Any]]:
        """Return what there is for each input, such as its weight, gate by gate."""
        return [values[start:end] for start, end in pairwise(self.first.tolist())]


class Parameters(NamedTuple):
    """The parts of one parameter vector, or of its gradient; views, so that writing to them writes to it."""

    slope: Floats  # (leaves,)
    centre: Floats
    missing: Floats
    table: Floats  # logits of categories, leaf by leaf
    weight: Floats  # of each input, in the order of `Topology.inputs`
    andness: Floats  # (gates,)
    link: Floats  # (2,): steepness, threshold


class Batch(NamedTuple):
    """The rows to learn from."""

    columns: Ints  # (leaves,): which feature each leaf reads
    learned: Bools  # (leaves,): whether its criterion is learned; if not, the feature holds truths
    tables: Ints  # (leaves + 1,): where the logits of each leaf begin; one that has some reads codes of categories
    X: Floats  # (features, rows); MISSING where a value is
    y: Floats  # (rows,), in [0, 1]
    share: Floats  # (rows,), sum 1


class Settings(NamedTuple):
    """What the loss is."""

    calibrated: bool  # link: sigmoid, or the truth itself
    knee: float  # of the aggregator
    penalty: float  # on uneven weights
    amplifier: float


def parts(vector: Floats, shape: Topology) -> Parameters:
    """Return the parts of a parameter vector."""
    gates, edges = shape.first.size - 1, shape.inputs.size
    m, links = edges - gates + 1, vector.size - 2
    andness, weight = links - gates, links - gates - edges
    return Parameters(
        vector[:m], vector[m : 2 * m], vector[2 * m : 3 * m], vector[3 * m : weight], vector[weight:andness],
        vector[andness:links], vector[links:],
    )  # fmt: skip


compiled_parts = compiled(reassociate=False, inner=True)(parts)  # for compiled code; from Python it would take longer


class Network(NamedTuple):
    """A tree ready to be worked out."""

    parameters: Parameters
    shape: Topology
    gates: Floats  # (gates, 9): the numbers of each gate, see `loops`
    turned: Bools  # (nodes,): whether a node is the input of a disjunction


@compiled(reassociate=False)
def prepare(parameters: Floats, shape: Topology, knee: float) -> Network:
    """Work out what does not depend on the rows."""
    p = compiled_parts(parameters, shape)
    m, count = p.slope.size, p.andness.size
    gates = np.empty((count, 9))
    turned = np.zeros(m + count, np.bool_)
    for j in range(count - 1, -1, -1):
        inputs = shape.inputs[shape.first[j] : shape.first[j + 1]]
        n = float(inputs.size)
        high = _drastic(n) - gcd.SHORT_OF_DRASTIC
        andness = min(max(p.andness[j], 1.0 - high), high)
        dual = andness < gcd.NEUTRAL
        side = 1.0 - andness if dual else andness
        mean, product, power = _coefficients(side, n, knee)
        dmean, dproduct, dpower = _slopes(side, n, knee)
        gates[j, loops.MEAN], gates[j, loops.PRODUCT], gates[j, loops.POWER] = mean, product, n * power
        gates[j, loops.DMEAN], gates[j, loops.DPRODUCT], gates[j, loops.DPOWER] = dmean, dproduct, n * dpower
        gates[j, loops.DUAL] = dual
        gates[j, loops.SAME] = dual == turned[m + j]
        gates[j, loops.IS_HARD] = side > gcd.HARD
        for child in inputs:
            turned[child] = dual
    return Network(p, shape, gates, turned)


def gate_numbers(rule: gcd.Aggregator, andness: float, n: int) -> tuple[float, ...]:
    """Return the first of a gate's numbers (see `loops`), where its aggregator is not that of the others."""
    side = min(max(andness, 1.0 - andness), gcd.drastic(n) - gcd.SHORT_OF_DRASTIC)
    (mean, product, power), (dmean, dproduct, dpower) = rule.numbers(side, float(n)), rule.slopes(side, float(n))
    return mean, product, n * power, dmean, dproduct, n * dpower


@compiled(reassociate=False, inner=True)
def _forward(net: Network, batch: Batch, start: int, stop: int, work: Workspace) -> None:
    """Work out every node on the rows from `start` to `stop`."""
    m, p, first, tables = batch.columns.size, net.parameters, net.shape.first, batch.tables
    for i in range(m):
        raw = batch.X[batch.columns[i], start:stop]
        sign = -1.0 if net.turned[i] else 1.0
        if tables[i + 1] > tables[i]:
            loops.table_forward(raw, p.table[tables[i] : tables[i + 1]], p.missing[i], sign, work, i)
        elif batch.learned[i]:
            loops.leaf_forward(raw, sign * p.slope[i], p.centre[i], sign * p.missing[i], work, i)
        else:
            loops.given_forward(raw, net.turned[i], work, i)
    for j in range(p.andness.size):
        own = slice(first[j], first[j + 1])
        loops.gate_forward(net.gates[j], p.weight[own], net.shape.inputs[own], work, m + j, stop - start)


@compiled(reassociate=False, inner=True)
def _backward(net: Network, batch: Batch, start: int, stop: int, work: Workspace, slope_in: Parameters) -> None:
    """Hand dL/dlog down from the root, and add up the slopes in the parameters."""
    m, size, p, first, tables = batch.columns.size, stop - start, net.parameters, net.shape.first, batch.tables
    for j in range(p.andness.size - 1, -1, -1):
        own = slice(first[j], first[j + 1])
        g, weights, inputs = net.gates[j], p.weight[own], net.shape.inputs[own]
        to_andness = loops.gate_backward(g, weights, inputs, work, m + j, size, slope_in.weight[own])
        if p.andness[j] == gcd.NEUTRAL:
            to_andness = loops.neutral_slope(g, weights, inputs, work, m + j, size)
        slope_in.andness[j] += -to_andness if g[loops.DUAL] > 0.0 else to_andness
    for i in range(m):
        raw = batch.X[batch.columns[i], start:stop]
        sign = -1.0 if net.turned[i] else 1.0
        if work.slopes.size:
            loops.truth_slopes(net.turned[i], work, i, work.slopes[i, start:stop])
        if tables[i + 1] > tables[i]:
            logits = slope_in.table[tables[i] : tables[i + 1]]
            slope_in.missing[i] += loops.table_backward(raw, sign, work, i, logits)
        elif batch.learned[i]:
            to_slope, to_centre, to_missing = loops.leaf_backward(raw, sign * p.slope[i], p.centre[i], work, i)
            slope_in.slope[i] += sign * to_slope
            slope_in.centre[i] += to_centre
            slope_in.missing[i] += sign * to_missing


@compiled(reassociate=False)
def network_loss(net: Network, batch: Batch, settings: Settings, work: Workspace, gradient: Floats) -> float:
    """Fill `gradient` and return the loss; goes through the rows in blocks of what `work` holds."""
    rows, block, slope_in = batch.y.size, work.x.shape[1], compiled_parts(gradient, net.shape)
    link, weight, first, gates = net.parameters.link, net.parameters.weight, net.shape.first, net.gates.shape[0]
    gradient[:] = 0.0
    loss = 0.0
    for start in range(0, rows, block):
        stop = min(start + block, rows)
        _forward(net, batch, start, stop, work)
        y, share = batch.y[start:stop], batch.share[start:stop]
        if settings.calibrated:
            part, to_steepness, to_threshold = loops.calibrated_link(
                y, share, settings.amplifier, link[0], link[1], work
            )
            slope_in.link[0] += to_steepness
            slope_in.link[1] += to_threshold
        else:
            part = loops.truth_link(y, share, settings.amplifier, work)
        loss += part
        _backward(net, batch, start, stop, work, slope_in)
    for j in range(gates):
        n = first[j + 1] - first[j]
        for k in range(first[j], first[j + 1]):
            away = weight[k] - 1.0 / n
            loss += settings.penalty * away * away / (n * gates)
            slope_in.weight[k] += settings.amplifier * settings.penalty * 2.0 * away / (n * gates)
    return settings.amplifier * loss


@compiled(reassociate=False)
def loss_gradient(
    parameters: Floats, shape: Topology, batch: Batch, settings: Settings, work: Workspace, gradient: Floats
) -> float:
    """Fill `gradient` and return the loss."""
    return network_loss(prepare(parameters, shape, settings.knee), batch, settings, work, gradient)


def size(shape: Topology, categories: int = 0) -> int:
    """Return the length of the parameter vector of a shape, its tables having so many categories in all."""
    return 3 * shape.leaves + categories + len(shape.inputs) + len(shape.first) + 1


def topology(gates: Sequence[Sequence[int]]) -> Topology:
    """Return the shape with these inputs of each gate."""
    first = np.cumsum([0, *(len(inputs) for inputs in gates)])
    return Topology(first.astype(np.int64), np.array([k for inputs in gates for k in inputs], dtype=np.int64))


def left_chain(m: int) -> Topology:
    """Return ((x0 . x1) . x2) . ...: the paper's layout."""
    return topology([(m + j - 1 if j else 0, j + 1) for j in range(m - 1)])


def balanced(m: int) -> Topology:
    """Return the layout that pairs neighbours, level by level; an odd one out goes up to the next level."""
    level: list[int] = list(range(m))
    pairs: list[tuple[int, int]] = []
    while len(level) > 1:
        here = list(zip(level[::2], level[1::2], strict=False))
        level = [*range(m + len(pairs), m + len(pairs) + len(here)), *level[2 * len(here) :]]
        pairs += here
    return topology(pairs)


def workspace(shape: Topology, rows: int, slopes: tuple[int, int] = (0, 0)) -> Workspace:
    """Return a workspace for so many rows at once; each thread needs its own.

    `slopes`: (leaves, all rows), to have the loss's slopes in the leaves' truths as well.
    """
    gates = len(shape.first) - 1
    x, c, logs, d = (np.empty((shape.leaves + gates, rows)) for _ in range(4))
    return Workspace(x, c, logs, d, np.empty((gates, rows)), np.empty((3, rows)), np.empty(slopes))
