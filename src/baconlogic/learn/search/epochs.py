"""The epochs of Algorithm 1 (Appendix A), compiled: exploring soft orders, then refining the gates of a hard one.

What is learned is one vector `free`: the gates' weights and andness as logits, then the logits of the permutation,

    weight = sigmoid(u),   andness = LOW + SPAN sigmoid(v) between the drastic ends, -1 and 2, which have no slopes
    matrix = Sinkhorn((logits + noise * Gumbel) / temperature)

Leaf i reads sum_j matrix_ij truth_j. Adam moves `free` down the slope of the kernel's loss. A run goes in stretches of
epochs, between which its caller may look at the clock; everything it needs to go on is in `State`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from baconlogic.core import Floats, Ints, gcd
from baconlogic.kernel import loss as kernel
from baconlogic.kernel.compile import compiled
from baconlogic.kernel.loops import Workspace
from baconlogic.kernel.loss import Batch, Settings, Topology
from baconlogic.kernel.sinkhorn import add_gumbel, sinkhorn, sinkhorn_backward

LOW = gcd.LOWEST + gcd.SHORT_OF_DRASTIC  # the kernel reads what is beyond as this, a tree would not
SPAN = gcd.HIGHEST - gcd.SHORT_OF_DRASTIC - LOW
INSIDE = 1e-4  # truths are kept this far from 0 and 1 while exploring; slopes are tame there
WINDOW = 40  # epochs: the sliding history; its newer half is compared with its older half
BETTER = 1e-3  # relative: what counts as an improvement
TOO_FLAT, TOO_STEEP = 1e-10, 1e6  # of the largest slope, before amplification
GOING, LOW_LOSS, VANISHING, EXPLODING, STALLED = range(5)  # why a stretch ended
LOSS, NOISE, TEMPERATURE = range(3)  # rows of the trace; in this order also the dials


class Blocks(NamedTuple):
    """The rows, in blocks that fit the cache; the last is filled up with rows of share 0."""

    truths: Floats  # (blocks, features, rows)
    y: Floats  # (blocks, rows)
    share: Floats  # (blocks, rows), sum 1
    shape: Topology
    settings: Settings


class Schedule(NamedTuple):
    """How to explore; see `Sinkhorn` for what each means."""

    temperature: float  # of the first epoch
    decay_every: int
    temperature_decay: float
    noise_increase: float
    noise_decrease: float
    min_noise: float
    max_noise: float
    patience: int
    freeze_below: float  # amplified, as the loss is


class State(NamedTuple):
    """One attempt: what it learns, Adam's memory, what it has seen and a workspace."""

    free: Floats  # (2 * gates + features ** 2,)
    best: Floats  # (2 * gates,), of the epoch with the lowest loss on a hard order
    slope: Floats  # of the loss in `free`
    moments: Floats  # (2, free)
    parameters: Floats  # kernel vector
    gradient: Floats  # its gradient
    part: Floats  # the gradient of one block
    softs: Floats  # (2 * iterations, features, features)
    read: Floats  # (features, rows) of one block: what the leaves read
    dials: Floats  # lowest loss on a hard order; noise and temperature of the next epoch
    trace: Floats  # (3, epochs): loss, noise, temperature
    work: Workspace


def pose(truths: Floats, y: Floats, share: Floats, shape: Topology, settings: Settings, inside: float) -> Blocks:
    """Return these rows in blocks; truths, (features, rows), are kept `inside` away from 0 and 1."""
    features, rows = truths.shape
    block = min(rows, kernel.BLOCK)
    count = -(-rows // block)
    spare = (0, count * block - rows)
    padded = np.pad(np.clip(truths, inside, 1.0 - inside), ((0, 0), spare), constant_values=0.5)
    cut = np.ascontiguousarray(padded.reshape(features, count, block).swapaxes(0, 1))
    y, share = (np.pad(values, spare).reshape(count, block) for values in (y, share))
    return Blocks(cut, y, share, shape, settings)


def begin(blocks: Blocks, schedule: Schedule, iterations: int, max_epochs: int, rng: np.random.Generator) -> State:
    """Return the state before the first epoch: almost uniform order, andness on both sides of 1/2 alike."""
    _, features, block = blocks.truths.shape
    gates, vector = features - 1, kernel.size(blocks.shape)
    free = np.r_[np.zeros(gates), rng.normal(0.0, 1.0, gates), rng.normal(0.0, 0.1, features**2)]
    return State(
        free, free[: 2 * gates].copy(), np.zeros_like(free), np.zeros((2, free.size)), np.zeros(vector),
        np.zeros(vector), np.zeros(vector), np.empty((2 * iterations, features, features)),
        np.empty((features, block)), np.array([np.inf, schedule.max_noise, schedule.temperature]),
        np.zeros((3, max_epochs)), kernel.workspace(blocks.shape, block, (features, block)),
    )  # fmt: skip


@compiled(reassociate=False)
def to_parameters(free: Floats, shape: Topology, parameters: Floats) -> None:
    """Write weights and andness in natural units; the gates have two inputs each."""
    p = kernel.compiled_parts(parameters, shape)
    n = p.andness.size
    for j in range(n):
        p.weight[2 * j] = 1.0 / (1.0 + np.exp(-free[j]))
        p.weight[2 * j + 1] = 1.0 - p.weight[2 * j]
        p.andness[j] = LOW + SPAN / (1.0 + np.exp(-free[n + j]))


@compiled(reassociate=False, inner=True)
def _to_free(parameters: Floats, gradient: Floats, shape: Topology, slope: Floats) -> None:
    """Write the slopes in the logits of weights and andness: sigmoid' = s (1 - s)."""
    p, g = kernel.compiled_parts(parameters, shape), kernel.compiled_parts(gradient, shape)
    n = p.andness.size
    for j in range(n):
        s = (p.andness[j] - LOW) / SPAN
        slope[j] = (g.weight[2 * j] - g.weight[2 * j + 1]) * p.weight[2 * j] * p.weight[2 * j + 1]
        slope[n + j] = g.andness[j] * SPAN * s * (1.0 - s)


@compiled(reassociate=False, inner=True)
def _step(free: Floats, slope: Floats, moments: Floats, step: int, rate: float) -> None:
    """Take one step of Adam."""
    first, second = 1.0 - 0.9**step, 1.0 - 0.99**step
    m, v = moments[0], moments[1]
    for i in range(slope.size):
        m[i] = 0.9 * m[i] + 0.1 * slope[i]
        v[i] = 0.99 * v[i] + 0.01 * slope[i] * slope[i]
        free[i] -= rate * (m[i] / first) / (np.sqrt(v[i] / second) + 1e-12)


@compiled(reassociate=False)
def loss_of(blocks: Blocks, order: Ints, soft: bool, state: State, back: Floats) -> float:
    """Return the loss; fill the gradient and, if soft, `back` with dL/dmatrix.

    Leaves read features in `order`, or `matrix @ truths` if soft, the matrix being the last of `softs`.
    """
    learned, tables, settings = np.zeros(len(order), np.bool_), np.zeros(len(order) + 1, np.int64), blocks.settings
    state.gradient[:] = 0.0
    back[:] = 0.0
    loss = 0.0
    for b in range(len(blocks.y)):
        read, y, share = blocks.truths[b], blocks.y[b], blocks.share[b]
        if soft:
            np.dot(state.softs[-1], blocks.truths[b], state.read)
            read = state.read
        once = Settings(settings.calibrated, settings.knee, settings.penalty * (b == 0), settings.amplifier)
        data = Batch(order, learned, tables, read, y, share)
        loss += kernel.loss_gradient(state.parameters, blocks.shape, data, once, state.work, state.part)
        state.gradient[:] += state.part
        if soft:
            back += np.dot(state.work.slopes, blocks.truths[b].T)
    return loss


@compiled(reassociate=False)
def improving(losses: Floats) -> bool:
    """Whether the newer half of the sliding window is lower than the older half; a short history is taken to be."""
    if losses.size < WINDOW:
        return True
    half, total_new, total_old = WINDOW // 2, 0.0, 0.0
    for i in range(1, half + 1):
        total_new += losses[-i]
        total_old += losses[-half - i]
    return total_new < total_old * (1.0 - BETTER)


@compiled(reassociate=False, inner=True)
def _stuck(losses: Floats, patience: int) -> bool:
    """Whether the last `patience` epochs were on average no better than as many before them."""
    if losses.size < 2 * patience:
        return False
    new, old = losses[-patience:].sum(), losses[-2 * patience : -patience].sum()
    return bool(new > old * (1.0 - BETTER))


@compiled(reassociate=False)
def verdict_on(slope: Floats, amplifier: float) -> int:
    """Whether the slopes vanish or explode."""
    largest = 0.0
    for value in slope:
        if not abs(value) < TOO_STEEP * amplifier:  # also when it is not a number
            return EXPLODING
        largest = max(largest, abs(value))
    return VANISHING if largest < TOO_FLAT * amplifier else GOING


@compiled(reassociate=False)
def next_noise(noise: float, better: bool, schedule: Schedule) -> float:
    """Return less noise while the loss falls, more while it does not, within bounds."""
    if better:
        return max(noise * schedule.noise_decrease, schedule.min_noise)
    return min(noise * schedule.noise_increase, schedule.max_noise)


@compiled(reassociate=False)
def _epoch(blocks: Blocks, order: Ints, soft: bool, state: State, rng: np.random.Generator, back: Floats) -> float:
    """Return the loss of one forward pass and leave its slopes in `state.slope`."""
    gates = state.best.size
    _, noise, temperature = state.dials
    if soft:
        add_gumbel(state.free[gates:].reshape(back.shape), noise, temperature, rng, back)
        sinkhorn(back, state.softs)
    to_parameters(state.free, blocks.shape, state.parameters)
    loss = loss_of(blocks, order, soft, state, back)
    _to_free(state.parameters, state.gradient, blocks.shape, state.slope)
    if soft:
        sinkhorn_backward(back, state.softs)
        state.slope[gates:] = back.ravel() / temperature
    return loss


class Phase(NamedTuple):
    """What is trained: order and gates together (soft), or the gates alone on a hard order."""

    order: Ints
    soft: bool
    rate: float  # of Adam
    first: int  # epoch
    freeze_from: int = 0  # the first epoch whose loss, if low enough to freeze, ends the phase


@compiled(reassociate=False)
def train(
    blocks: Blocks, schedule: Schedule, phase: Phase, state: State, rng: np.random.Generator, start: int, stop: int
) -> tuple[int, int]:
    """Go from epoch `start` to `stop` of a phase; return the epochs done and why it ended."""
    features, soft = len(phase.order), phase.soft
    back = np.empty((features, features))
    free = state.free if soft else state.free[: state.best.size]
    slope = state.slope[: free.size]
    for epoch in range(start, stop):
        if soft and epoch > 0 and epoch % schedule.decay_every == 0:
            state.dials[TEMPERATURE] *= schedule.temperature_decay
        loss = _epoch(blocks, phase.order, soft, state, rng, back)
        state.trace[:, epoch] = state.dials
        state.trace[LOSS, epoch] = loss
        if not soft and loss < state.dials[LOSS]:
            state.dials[LOSS] = loss
            state.best[:] = free
        verdict = verdict_on(slope, blocks.settings.amplifier)
        if verdict != GOING:
            return epoch + 1, verdict
        seen = state.trace[LOSS, phase.first : epoch + 1]
        better = improving(seen)
        if soft and loss < schedule.freeze_below and epoch >= phase.freeze_from:
            return epoch + 1, LOW_LOSS
        if soft:
            state.dials[NOISE] = next_noise(state.dials[NOISE], better, schedule)
            stuck = state.dials[NOISE] >= schedule.max_noise and _stuck(seen, schedule.patience)
        else:
            stuck = not better
        if stuck and epoch % 10 == 0:
            return epoch + 1, STALLED
        _step(free, slope, state.moments[:, : free.size], epoch - phase.first + 1, phase.rate)
    return stop, GOING
