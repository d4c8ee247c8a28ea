"""Loss and gradient over a flattened binary tree, compiled.

Nodes are numbered leaves first: leaf i is node i, gate j is node m + j and comes after its children, the root is last.
The parameters of m leaves and g = m - 1 gates are one vector of length 5m, in their natural units (see `Parameters`):

    slope[m] | centre[m] | missing[m] | weight[g] | andness[g] | steepness, threshold

Leaf:  truth = sigmoid(slope (raw - centre)), sigmoid(missing) where the raw value is missing, or the raw value itself
       when its criterion is fixed.
Link:  p = sigmoid(steepness (z - threshold)) of the root's truth z, or p = z as in the paper.
Loss:  amplifier * (sum_i sample_weight_i * cross-entropy(p_i, y_i) + penalty * mean_j (weight_j - 1/2)^2).

Each node keeps its truth x turned to its parent's side (1 - truth under a disjunction), the complement 1 - x and log x,
all to full precision, so nothing is clipped on the way: only fixed truths of exactly 0 and 1 are read as EPS away.
Gradients are carried as dL/dlog x. They stay bounded where dL/dx does not, and a hard gate under a gate of the same
side passes its logarithm on as it is.
"""

from __future__ import annotations

from typing import NamedTuple

import numba
import numpy as np

from baconlogic.core import Bools, Floats, Ints, gcd
from baconlogic.kernel import loops
from baconlogic.kernel.compile import compiled
from baconlogic.kernel.loops import Workspace

BLOCK = 1024  # rows: long enough for the loops to pay, short enough for the cache

_coefficients = numba.njit(error_model="numpy")(gcd.coefficients)
_slopes = numba.njit(error_model="numpy")(gcd.slopes)


class Topology(NamedTuple):
    """How gates hang together: the left and right child of each, every child before its gate."""

    left: Ints
    right: Ints


class Parameters(NamedTuple):
    """The parts of one parameter vector, or of its gradient; views, so that writing to them writes to it."""

    slope: Floats  # (leaves,)
    centre: Floats
    missing: Floats
    weight: Floats  # (gates,), of the left input; the right one has the rest
    andness: Floats
    link: Floats  # (2,): steepness, threshold


class Batch(NamedTuple):
    """The rows to learn from."""

    columns: Ints  # (leaves,): which feature each leaf reads
    learned: Bools  # (leaves,): whether its criterion is learned; if not, the feature holds truths
    X: Floats  # (features, rows); MISSING where a value is
    y: Floats  # (rows,), in [0, 1]
    share: Floats  # (rows,), sum 1


class Settings(NamedTuple):
    """What the loss is."""

    calibrated: bool  # link: sigmoid, or the truth itself
    knee: float  # of the aggregator
    penalty: float  # on unbalanced weights
    amplifier: float


@compiled(reassociate=False)
def parts(vector: Floats) -> Parameters:
    """Return the parts of a parameter vector."""
    m = vector.size // 5
    n = m - 1
    slope, centre, missing = vector[:m], vector[m : 2 * m], vector[2 * m : 3 * m]
    return Parameters(slope, centre, missing, vector[3 * m : 3 * m + n], vector[3 * m + n : -2], vector[-2:])


class Network(NamedTuple):
    """A tree ready to be worked out."""

    parameters: Parameters
    shape: Topology
    gates: Floats  # (gates, 10): the numbers of each gate, see `loops`
    turned: Bools  # (nodes,): whether a node is the input of a disjunction


@compiled(reassociate=False)
def prepare(parameters: Floats, shape: Topology, knee: float) -> Network:
    """Work out what does not depend on the rows."""
    p = parts(parameters)
    m, n = p.slope.size, p.weight.size
    gates = np.empty((n, 10))
    turned = np.zeros(m + n, np.bool_)
    for j in range(n - 1, -1, -1):
        low, high = gcd.LOWEST + gcd.SHORT_OF_DRASTIC, gcd.HIGHEST - gcd.SHORT_OF_DRASTIC
        andness = min(max(p.andness[j], low), high)
        dual = andness < gcd.NEUTRAL
        side = 1.0 - andness if dual else andness
        gates[j, loops.W] = p.weight[j]
        gates[j, loops.MEAN], gates[j, loops.PRODUCT], gates[j, loops.POWER] = _coefficients(side, 2.0, knee)
        gates[j, loops.DMEAN], gates[j, loops.DPRODUCT], gates[j, loops.DPOWER] = _slopes(side, 2.0, knee)
        gates[j, loops.DUAL] = dual
        gates[j, loops.SAME] = dual == turned[m + j]
        gates[j, loops.IS_HARD] = side > gcd.HARD
        turned[shape.left[j]] = dual
        turned[shape.right[j]] = dual
    return Network(p, shape, gates, turned)


@compiled(reassociate=False)
def _forward(net: Network, batch: Batch, start: int, stop: int, work: Workspace) -> None:
    """Work out every node on the rows from `start` to `stop`."""
    m, p, left, right = batch.columns.size, net.parameters, net.shape.left, net.shape.right
    for i in range(m):
        raw = batch.X[batch.columns[i], start:stop]
        if batch.learned[i]:
            sign = -1.0 if net.turned[i] else 1.0
            loops.leaf_forward(raw, sign * p.slope[i], p.centre[i], sign * p.missing[i], work, i)
        else:
            loops.given_forward(raw, net.turned[i], work, i)
    for j in range(m - 1):
        loops.gate_forward(net.gates[j], work, left[j], right[j], m + j, j, stop - start)


@compiled(reassociate=False)
def _backward(net: Network, batch: Batch, start: int, stop: int, work: Workspace, slope_in: Parameters) -> None:
    """Hand dL/dlog down from the root, and add up the slopes in the parameters."""
    m, size, p = batch.columns.size, stop - start, net.parameters
    for j in range(m - 2, -1, -1):
        left, right = net.shape.left[j], net.shape.right[j]
        to_weight, to_andness = loops.gate_backward(net.gates[j], work, left, right, m + j, j, size)
        if p.andness[j] == gcd.NEUTRAL:
            to_andness = loops.neutral_slope(net.gates[j], work, left, right, m + j, size)
        slope_in.weight[j] += to_weight
        slope_in.andness[j] += -to_andness if net.gates[j, loops.DUAL] > 0.0 else to_andness
    for i in range(m):
        if batch.learned[i]:
            sign = -1.0 if net.turned[i] else 1.0
            raw = batch.X[batch.columns[i], start:stop]
            to_slope, to_centre, to_missing = loops.leaf_backward(raw, sign * p.slope[i], p.centre[i], work, i)
            slope_in.slope[i] += sign * to_slope
            slope_in.centre[i] += to_centre
            slope_in.missing[i] += sign * to_missing


@compiled(reassociate=False)
def loss_gradient(
    parameters: Floats, shape: Topology, batch: Batch, settings: Settings, work: Workspace, gradient: Floats
) -> float:
    """Fill `gradient` and return the loss; goes through the rows in blocks of what `work` holds."""
    rows, block, gate_count = batch.y.size, work.x.shape[1], shape.left.size
    net, slope_in = prepare(parameters, shape, settings.knee), parts(gradient)
    link, weight = net.parameters.link, net.parameters.weight
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
    for j in range(gate_count):
        away = weight[j] - 0.5
        loss += settings.penalty * away * away / gate_count
        slope_in.weight[j] += settings.amplifier * settings.penalty * 2.0 * away / gate_count
    return settings.amplifier * loss


def node_truths(parameters: Floats, shape: Topology, batch: Batch, knee: float) -> Floats:
    """Return what every node says, (nodes, rows); leaves first, root last."""
    work, net = workspace(len(batch.columns), len(batch.y)), prepare(parameters, shape, knee)
    _forward(net, batch, 0, len(batch.y), work)
    return np.where(net.turned[:, None], work.c, work.x)


def root_truths(parameters: Floats, shape: Topology, batch: Batch, knee: float) -> Floats:
    """Return what the root says, row by row, in blocks."""
    found = np.empty(len(batch.y))
    work = workspace(len(batch.columns), min(BLOCK, len(found)))
    _root_truths(prepare(parameters, shape, knee), batch, work, found)
    return found


@compiled(reassociate=False)
def _root_truths(net: Network, batch: Batch, work: Workspace, found: Floats) -> None:
    block = work.x.shape[1]
    for start in range(0, found.size, block):
        stop = min(start + block, found.size)
        _forward(net, batch, start, stop, work)
        found[start:stop] = work.x[-1, : stop - start]  # the root is never turned


def size(m: int) -> int:
    """Return the length of the parameter vector of m leaves."""
    return 5 * m


def left_chain(m: int) -> Topology:
    """Return ((x0 . x1) . x2) . ...: the paper's layout."""
    gates = np.arange(m - 1)
    return Topology(np.where(gates == 0, 0, m + gates - 1), gates + 1)


def balanced(m: int) -> Topology:
    """Return the layout that pairs neighbours, level by level; an odd one out goes up to the next level."""
    level: list[int] = list(range(m))
    pairs: list[tuple[int, int]] = []
    while len(level) > 1:
        here = list(zip(level[::2], level[1::2], strict=False))
        level = [*range(m + len(pairs), m + len(pairs) + len(here)), *level[2 * len(here) :]]
        pairs += here
    left, right = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
    return Topology(np.ascontiguousarray(left), np.ascontiguousarray(right))


def workspace(leaves: int, rows: int) -> Workspace:
    """Return a workspace; each thread needs its own."""
    x, c, logs, d = (np.empty((2 * leaves - 1, rows)) for _ in range(4))
    return Workspace(x, c, logs, d, np.empty((leaves - 1, rows)))
