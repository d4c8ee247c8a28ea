"""A structure is kept and its numbers are learned: all jointly, the crisp cut of one leaf, or the link alone.

`refine` is a quasi-Newton descent, compiled. It moves unconstrained parameters t, each of which stands for a parameter
of the kernel:

    slope, steepness   sign * exp(t)                     a direction, once chosen, is kept
    centre, missing, threshold   t, within bounds
    weight, andness    low + (high - low) sigmoid(t)     an expert's bounds are kept to by construction

The loss is the kernel's plus, for each of them, strength * ((t - usual) / spread)^2 / 2, where strength is
penalty / cases: what a case's evidence weighs. So small data keep to usual values and large data speak for themselves.
The hold on the link's two numbers stops growing some LINK_REACH spreads away (a pseudo-Huber penalty): a tree of few,
nearly linear leaves needs a link far steeper than usual, and would otherwise never be found on a few hundred rows.

`sharpen` finds the best cut of one leaf, given the rest of the tree, among all cuts of its column: were the leaf not
true at all, each row would have one loss, and were it fully true, another; summed in the order of the raw values, they
give the loss of every cut at once.
"""

from __future__ import annotations

from math import exp, log, sqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from baconlogic.core import Floats, gcd
from baconlogic.kernel import loops
from baconlogic.kernel import loss as kernel
from baconlogic.kernel.compile import compiled
from baconlogic.kernel.loops import Workspace
from baconlogic.kernel.loss import Batch, Settings, Topology
from baconlogic.learn.search import draft as drafts
from baconlogic.learn.search.draft import CRISP, STEEPNESS, THRESHOLD, Draft, Literal
from baconlogic.learn.search.problem import Found, Problem, Request
from baconlogic.learn.search.screen import EDGE, losses_at, view_of

LINEAR, EXPONENTIAL, BOUNDED = 0, 1, 2
STEEPEST = 1e4  # of a slope, on the robust scale
LEAST_WEIGHT = 0.02
STEEPNESSES, THRESHOLDS = (0.5, 200.0), (-1.0, 2.0)  # the bounds of a link
USUAL = (  # and spread, unconstrained: slope, centre, missing, weight, andness, steepness, threshold
    (log(2), 0.22), (0.0, 0.63), (0.0, 0.63), (0.0, 0.63), (0.0, 0.63), (log(STEEPNESS), 0.32), (THRESHOLD, 0.32),
)  # fmt: skip
LINK_REACH = 4.0
USUAL_CURVATURE = 0.1  # of the loss in an unconstrained parameter; where BFGS starts from
SHORT = gcd.SHORT_OF_DRASTIC
STEPS = 200  # of descent where a structure is given
POLISH = 20  # and where a tree was found on a sample


class Freedom(NamedTuple):
    """How each parameter may move; all arrays run along the parameter vector."""

    kind: NDArray[np.int64]
    sign: Floats  # of exponential ones
    low: Floats
    high: Floats
    low_free: Floats  # the bounds of the unconstrained parameter itself
    high_free: Floats
    usual: Floats
    spread: Floats


def freedom(problem: Problem, draft: Draft) -> Freedom:
    """Return how the parameters of a draft may move."""
    m, n = draft.leaves, draft.leaves - 1
    low, high = gate_bounds(problem, draft)
    block = [m, m, m, n, n, 1, 1]  # slope, centre, missing, weight, andness, steepness, threshold

    def along(*values: float) -> Floats:
        return np.repeat(np.array(values, dtype=float), block)

    kind = along(EXPONENTIAL, LINEAR, LINEAR, BOUNDED, BOUNDED, EXPONENTIAL, LINEAR).astype(np.int64)
    sign = np.r_[np.where(draft.parts.slope < 0.0, -1.0, 1.0), np.ones(4 * m)]
    (flat, steep), (lowest, highest) = STEEPNESSES, THRESHOLDS
    lows = along(log(0.05), 0, -6, LEAST_WEIGHT, 0, log(flat), lowest)
    highs = along(log(STEEPEST), 0, 6, 0, 0, log(steep), highest)
    lows[m : 2 * m], highs[m : 2 * m] = np.array([_range(problem.X[column]) for column in draft.columns]).T
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
    """Fill in the parameters that unconstrained ones stand for, and how they change with them."""
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


class Objective(NamedTuple):
    """All that the penalised loss is made of, but the unconstrained parameters."""

    freedom: Freedom
    strength: float
    shape: Topology
    batch: Batch
    settings: Settings
    work: Workspace


@compiled(reassociate=False)
def _penalised(free: Floats, objective: Objective, values: Floats, slope: Floats, gradient: Floats) -> float:
    """Return the loss at unconstrained parameters and fill in its gradient in them."""
    f = objective.freedom
    _to_values(free, f, values, slope)
    loss = kernel.loss_gradient(values, objective.shape, objective.batch, objective.settings, objective.work, gradient)
    for i in range(free.size):
        away = (free[i] - f.usual[i]) / f.spread[i]
        root = 1.0 if i < free.size - 2 else sqrt(1.0 + (away / LINK_REACH) ** 2)
        loss += objective.strength * away * away / (1.0 + root)  # a square / 2 where root is 1
        gradient[i] = gradient[i] * slope[i] + objective.strength * away / (root * f.spread[i])
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
def _descend(start: Floats, objective: Objective, steps: int) -> tuple[float, Floats]:
    """BFGS with a bisecting line search, which also gets past the kinks of andness (Lewis and Overton, 2013)."""
    f, n = objective.freedom, start.size
    free = _to_free(start, f)
    values, slope = np.empty(n), np.empty(n)
    gradient, ahead, new_gradient, new = np.empty(n), np.empty(n), np.empty(n), np.empty(n)
    inverse = np.eye(n) / USUAL_CURVATURE
    loss = _penalised(free, objective, values, slope, gradient)
    for step in range(steps):
        along = _direction(inverse, gradient, free, f, ahead)
        if along > -1e-12:
            break
        size = 1.0 if step else min(1.0, 0.3 / np.abs(ahead).max())
        low, high, new_loss = 0.0, np.inf, loss
        for _ in range(12):
            for i in range(n):
                new[i] = min(max(free[i] + size * ahead[i], f.low_free[i]), f.high_free[i])
            new_loss = _penalised(new, objective, values, slope, new_gradient)
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


def refine(problem: Problem, draft: Draft, steps: int) -> Draft:
    """Return the draft that `steps` of descent reach at most."""
    work = kernel.workspace(draft.leaves, min(kernel.BLOCK, problem.rows))
    strength = problem.penalty / problem.cases
    settings = Settings(calibrated=True, knee=problem.knee, penalty=0.0, amplifier=1.0)  # cross-entropy, nothing else
    objective = Objective(freedom(problem, draft), strength, draft.shape, problem.batch(draft), settings, work)
    loss, values = _descend(draft.parameters, objective, steps)
    return draft._replace(parameters=values, loss=float(loss))


def polish(problem: Problem, draft: Draft) -> Draft:
    """Return a draft that was found on a sample of these rows, refined on all."""
    return refine(problem, sharpen(problem, refine(problem, draft, POLISH)), POLISH)


def sharpen(problem: Problem, draft: Draft) -> Draft:
    """Return the draft with each learned leaf in turn cut where the loss is least, if that lowers the loss."""
    for place in range(draft.leaves):
        if problem.learned[draft.columns[place]]:
            draft = _cut(problem, draft, place)
    return draft


def _cut(problem: Problem, draft: Draft, place: int) -> Draft:
    p, x = draft.parts, problem.X[draft.columns[place]]
    known = np.flatnonzero(x < loops.KNOWN_BELOW)
    rows = known[np.argsort(x[known], kind="stable")]
    values = x[rows]
    between = np.flatnonzero(values[1:] > values[:-1]) + 1  # cuts: how many values lie below
    if between.size == 0:
        return draft
    ends = np.empty((2, problem.rows))  # each row's loss if the leaf were not true at all, and if it were fully true
    losses_at(view_of(problem, draft), np.array([EDGE, 1.0 - EDGE]), place, ends)
    false, true = ends[:, rows]
    below, above = (false, true) if p.slope[place] > 0.0 else (true, false)
    losses = np.r_[0.0, np.cumsum(below - above)][between]
    least = losses.min()
    best = between[np.abs(losses - least) <= 1e-9 + 1e-6 * abs(least)]
    first, last = best[0], best[-1]
    if np.any(losses[(between >= first) & (between <= last)] > least + 1e-6):
        last = first
    low, high = values[first - 1], values[last]
    slope = np.sign(p.slope[place]) * min(2.0 * CRISP / (high - low), STEEPEST)
    leaf = Literal(int(draft.columns[place]), slope, low + (high - low) / 2.0, p.missing[place])
    crisp = drafts.replace(draft, place, leaf)
    return crisp if _loss(problem, crisp) < _loss(problem, draft) else draft


def _loss(problem: Problem, draft: Draft) -> float:
    u = problem.decision_values(draft)
    return float(problem.share @ (np.logaddexp(0.0, u) - problem.y * u))


def fit_link(problem: Problem, draft: Draft) -> Draft:
    """Return the draft with the steepness and threshold of the lowest loss."""
    truths = problem.truths(draft)
    strength, usual = problem.penalty / problem.cases, np.array([np.log(STEEPNESS), THRESHOLD])

    def loss(free: Floats) -> tuple[float, Floats]:
        steepness, threshold = np.exp(free[0]), free[1]
        u = steepness * (truths - threshold)
        step = problem.share * (1.0 / (1.0 + np.exp(-np.clip(u, -500.0, 500.0))) - problem.y)
        away = free - usual
        total = problem.share @ (np.logaddexp(0.0, u) - problem.y * u) + 0.5 * strength * (away @ away)
        return float(total), np.array([step @ u, -steepness * step.sum()]) + strength * away

    start, bounds = np.array([usual[0], float(truths.mean())]), [np.log(STEEPNESSES), THRESHOLDS]
    found = minimize(loss, start, jac=True, method="L-BFGS-B", bounds=bounds)
    values = np.r_[draft.parameters[:-2], np.exp(found.x[0]), found.x[1]]
    return draft._replace(parameters=values, loss=float(found.fun))


class Refine:
    """Search that learns all parameters of a given tree."""

    def find(self, problem: Problem, request: Request) -> Found:
        """Refine the start."""
        if request.start is None:
            raise ValueError("there is no tree to refine; give init=Tree.parse(...) or order=[...]")
        return Found({request.start.leaves: refine(problem, request.start, STEPS)}, "the structure was given")


class Calibrate:
    """Search that keeps a tree as it is and learns only the threshold and the steepness of the probability."""

    def find(self, problem: Problem, request: Request) -> Found:
        """Fit the link of the start."""
        if request.start is None:
            raise ValueError("there is no tree to calibrate; give init=Tree.parse(...)")
        best = {request.start.leaves: fit_link(problem, request.start)}
        return Found(best, "the tree was given; only its link was fitted", refit=fit_link, kept=True)


def ranked(problem: Problem, choices: list[list[int]]) -> Draft:
    """Return a left chain over features, the most important nearest the root; `choices` are the columns of each."""
    found = [agreeing(problem, columns) for columns in reversed(choices)]
    n, (low, high) = len(found) - 1, problem.andness
    leaves = [Literal(column, 2.0 * sign, 0.0) for column, sign in found]
    return drafts.chain(leaves, np.full(n, 0.5), np.full(n, min(max(0.5, low), high)))


def agreeing(problem: Problem, columns: list[int]) -> tuple[int, float]:
    """Return the column that goes best with the target, and its sign: as asked, or as goes with the target."""
    column = max(columns, key=lambda column: _covariance(problem, column))
    return column, float(problem.direction[column]) or (1.0 if _covariance(problem, column) >= 0.0 else -1.0)


def _covariance(problem: Problem, column: int) -> float:
    """Return the weighted covariance of a column, held within 3 spreads of its middle, with the target."""
    x = problem.X[column]
    known = x < loops.KNOWN_BELOW
    share = problem.share * known
    total = share.sum()
    if total <= 0.0:
        return 0.0
    values = np.clip(np.where(known, x, 0.0), -3.0, 3.0)
    return float(share @ (values * problem.y) / total - (share @ values / total) * (share @ problem.y / total))
