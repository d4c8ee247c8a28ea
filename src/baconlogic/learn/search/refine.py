"""Joint refinement of all parameters of a draft by a quasi-Newton descent, compiled.

Descent moves free numbers t, each of which stands for a parameter of the kernel:

    slope, steepness   sign * exp(t)                     a direction, once chosen, is kept
    centre, missing, threshold   t, within bounds
    weight, andness    low + (high - low) sigmoid(t)     an expert's bounds are kept to by construction

The loss is the kernel's plus, for each free number, strength * ((t - usual) / spread)^2 / 2, where strength is
penalty / cases: what a case's evidence weighs. So small data keep to usual values and large data speak for themselves.
The hold on the link's two numbers stops growing some LINK_REACH spreads away (a pseudo-Huber penalty): a tree of few,
nearly linear leaves needs a link far steeper than usual, and would otherwise never be found on a few hundred rows.
"""

from __future__ import annotations

from math import exp, log, sqrt
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from baconlogic.core import gcd
from baconlogic.kernel import loops
from baconlogic.kernel import loss as kernel
from baconlogic.kernel.compile import compiled
from baconlogic.learn.search.draft import STEEPNESS, THRESHOLD, Draft

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from baconlogic.kernel.loops import Workspace
    from baconlogic.kernel.loss import Batch, Settings, Topology
    from baconlogic.learn.search.problem import Problem

    Floats = NDArray[np.float64]

LINEAR, EXPONENTIAL, BOUNDED = 0, 1, 2
STEEPEST = 1e4  # of a slope, on the robust scale
LEAST_WEIGHT = 0.02
STEEPNESSES, THRESHOLDS = (0.5, 200.0), (-1.0, 2.0)  # the bounds of a link
USUAL = (  # and spread, of the free numbers: slope, centre, missing, weight, andness, steepness, threshold
    (log(2), 0.22), (0.0, 0.63), (0.0, 0.63), (0.0, 0.63), (0.0, 0.63), (log(STEEPNESS), 0.32), (THRESHOLD, 0.32),
)  # fmt: skip
LINK_REACH = 4.0
USUAL_CURVATURE = 0.1  # of the loss in a free number; where BFGS starts from
SHORT = gcd.SHORT_OF_DRASTIC


class Freedom(NamedTuple):
    """How each parameter may move; all arrays run along the parameter vector."""

    kind: NDArray[np.int64]
    sign: Floats  # of exponential ones
    low: Floats
    high: Floats
    low_free: Floats  # the bounds of the free number itself
    high_free: Floats
    usual: Floats
    spread: Floats


def freedom(problem: Problem, draft: Draft) -> Freedom:
    """Return how the parameters of a draft may move."""
    m, n = draft.leaves, draft.leaves - 1
    low, high = gate_bounds(problem, draft)
    centres = [_range(problem.X[column]) for column in draft.columns]
    block = [m, m, m, n, n, 1, 1]  # slope, centre, missing, weight, andness, steepness, threshold

    def along(*values: float) -> Floats:
        return np.repeat(np.array(values, dtype=float), block)

    kind = along(EXPONENTIAL, LINEAR, LINEAR, BOUNDED, BOUNDED, EXPONENTIAL, LINEAR).astype(np.int64)
    sign = np.r_[np.where(draft.parts.slope < 0.0, -1.0, 1.0), np.ones(4 * m)]
    (flat, steep), (lowest, highest) = STEEPNESSES, THRESHOLDS
    lows = along(log(0.05), 0, -6, LEAST_WEIGHT, 0, log(flat), lowest)
    highs = along(log(STEEPEST), 0, 6, 0, 0, log(steep), highest)
    lows[m : 2 * m], highs[m : 2 * m] = np.array(centres).T
    lows[3 * m + n : -2], highs[3 * m + n : -2] = low, high
    highs[3 * m : 3 * m + n] = 0.5 if problem.ranked else 1.0 - LEAST_WEIGHT
    low_free, high_free = (np.where(kind == BOUNDED, end, ends) for end, ends in ((-9.0, lows), (9.0, highs)))
    usual, spread = along(*(mean for mean, _ in USUAL)), along(*(spread for _, spread in USUAL))
    return Freedom(kind, sign, lows, highs, low_free, high_free, usual, spread)


def gate_bounds(problem: Problem, draft: Draft) -> tuple[Floats, Floats]:
    """Return the lowest and highest andness of each gate: the narrowest of what its own leaves ask for."""
    m = draft.leaves
    low, high = (np.full(m - 1, end) for end in problem.andness)
    for side in draft.shape:
        leaf = side < m
        column = draft.columns[side[leaf]]
        low[leaf] = np.maximum(low[leaf], problem.low[column])
        high[leaf] = np.minimum(high[leaf], problem.high[column])
    ends = gcd.LOWEST + SHORT, gcd.HIGHEST - SHORT
    return np.clip(low, *ends), np.clip(high, *ends)


def _range(values: Floats) -> tuple[float, float]:
    known = values[values < loops.KNOWN_BELOW]
    return (float(known.min()), float(known.max())) if known.size else (-1.0, 1.0)


@compiled(reassociate=False)
def _to_free(values: Floats, f: Freedom) -> Floats:
    free = np.empty_like(values)
    for i in range(values.size):
        if f.kind[i] == EXPONENTIAL:
            free[i] = min(max(log(max(f.sign[i] * values[i], 1e-300)), f.low[i]), f.high[i])
        elif f.kind[i] == BOUNDED:
            part = (values[i] - f.low[i]) / max(f.high[i] - f.low[i], 1e-12)
            part = min(max(part, 1e-4), 1.0 - 1e-4)
            free[i] = log(part / (1.0 - part))
        else:
            free[i] = min(max(values[i], f.low[i]), f.high[i])
    return free


@compiled(reassociate=False)
def _to_values(free: Floats, f: Freedom, values: Floats, slope: Floats) -> None:
    """Fill in the parameters that free numbers stand for, and how they change with them."""
    for i in range(free.size):
        if f.kind[i] == EXPONENTIAL:
            values[i] = f.sign[i] * exp(free[i])
            slope[i] = values[i]
        elif f.kind[i] == BOUNDED:
            part = 1.0 / (1.0 + exp(-free[i]))
            values[i] = f.low[i] + (f.high[i] - f.low[i]) * part
            slope[i] = (f.high[i] - f.low[i]) * part * (1.0 - part)
        else:
            values[i] = free[i]
            slope[i] = 1.0


class Task(NamedTuple):
    """All that the penalised loss is made of, but the free numbers."""

    freedom: Freedom
    strength: float
    shape: Topology
    data: Batch
    settings: Settings
    work: Workspace


@compiled(reassociate=False)
def _penalised(free: Floats, task: Task, values: Floats, slope: Floats, gradient: Floats) -> float:
    """Return the loss at the free numbers and fill in its gradient in them."""
    f = task.freedom
    _to_values(free, f, values, slope)
    loss = kernel.loss_gradient(values, task.shape, task.data, task.settings, task.work, gradient)
    for i in range(free.size):
        away = (free[i] - f.usual[i]) / f.spread[i]
        root = 1.0 if i < free.size - 2 else sqrt(1.0 + (away / LINK_REACH) ** 2)
        loss += task.strength * away * away / (1.0 + root)  # a square / 2 where root is 1
        gradient[i] = gradient[i] * slope[i] + task.strength * away / (root * f.spread[i])
    return loss


@compiled(reassociate=False)
def _direction(inverse: Floats, gradient: Floats, free: Floats, f: Freedom, out: Floats) -> float:
    """Fill in the quasi-Newton direction, less what would leave the bounds; return the slope of the loss along it."""
    slope = 0.0
    for i in range(free.size):
        total = 0.0
        for j in range(free.size):
            total -= inverse[i, j] * gradient[j]
        stuck = (total < 0.0 and free[i] <= f.low_free[i]) or (total > 0.0 and free[i] >= f.high_free[i])
        out[i] = 0.0 if stuck else total
        slope += out[i] * gradient[i]
    return slope


@compiled(reassociate=False)
def _update(inverse: Floats, moved: Floats, change: Floats) -> None:
    """BFGS: make the inverse Hessian agree with the change of gradient that the last move brought."""
    n, curvature = moved.size, moved @ change
    if curvature <= 1e-12 * sqrt((moved @ moved) * (change @ change)):
        return
    turned = inverse @ change
    factor = (1.0 + (change @ turned) / curvature) / curvature
    for i in range(n):
        for j in range(n):
            cross = moved[i] * turned[j] + turned[i] * moved[j]
            inverse[i, j] += factor * moved[i] * moved[j] - cross / curvature


@compiled(reassociate=False)
def _descend(start: Floats, task: Task, steps: int) -> tuple[float, Floats]:
    """BFGS with a bisecting line search, which also gets past the kinks of andness (Lewis and Overton, 2013)."""
    f, n = task.freedom, start.size
    free = _to_free(start, f)
    values, slope = np.empty(n), np.empty(n)
    gradient, ahead, new_gradient, new = np.empty(n), np.empty(n), np.empty(n), np.empty(n)
    inverse = np.eye(n) / USUAL_CURVATURE
    loss = _penalised(free, task, values, slope, gradient)
    for step in range(steps):
        along = _direction(inverse, gradient, free, f, ahead)
        if along > -1e-12:
            break
        size = 1.0 if step else min(1.0, 0.3 / np.abs(ahead).max())
        low, high, new_loss = 0.0, np.inf, loss
        for _ in range(12):
            for i in range(n):
                new[i] = min(max(free[i] + size * ahead[i], f.low_free[i]), f.high_free[i])
            new_loss = _penalised(new, task, values, slope, new_gradient)
            if not new_loss <= loss + 1e-4 * size * along:
                high = size
            elif new_gradient @ ahead < 0.9 * along:
                low = size
            else:
                break
            size = 0.5 * (low + high) if high < np.inf else 2.0 * size
        if not new_loss < loss:
            break
        _update(inverse, new - free, new_gradient - gradient)
        gained, loss = loss - new_loss, new_loss
        free[:], gradient[:] = new, new_gradient
        if gained < 1e-9 * abs(loss):
            break
    _to_values(free, f, values, slope)
    return loss, values


def refine(problem: Problem, draft: Draft, steps: int) -> tuple[float, Draft]:
    """Return the penalised loss that `steps` of descent reach at most, and the draft there."""
    work = kernel.workspace(draft.leaves, min(kernel.BLOCK, problem.rows))
    strength = problem.penalty / problem.cases
    task = Task(freedom(problem, draft), strength, draft.shape, problem.data(draft), problem.settings, work)
    loss, values = _descend(draft.parameters, task, steps)
    return float(loss), draft._replace(parameters=values)
