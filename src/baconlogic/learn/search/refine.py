"""A structure is kept and its numbers are learned: all jointly, the crisp cut of one leaf, or the link alone.

`refine` is a quasi-Newton descent, compiled. It moves unconstrained parameters t, each of which stands for a parameter
of the kernel:

    slope, steepness   sign * exp(t)                     a direction, once chosen, is kept
    centre, missing, table, threshold   t, within bounds
    andness            low + (high - low) sigmoid(t)     an expert's bounds are kept to by construction
    weight             floor + (1 - n floor) softmax(t / sqrt(2)) of the n in a gate

The loss is the kernel's plus, for each of them, strength * ((t - usual) / spread)^2 / 2, where strength is
penalty / cases: what a case's evidence weighs. So small data keep to usual values and large data speak for themselves.
What is usual for a category is the mean of its leaf at the start: one with few cases stays near what all of them say.
Only what makes a difference moves: given truths have no criterion, a column without missing values none for these.
The hold on the link's two numbers stops growing some LINK_REACH spreads away (a pseudo-Huber penalty): a tree of few,
nearly linear leaves needs a link far steeper than usual, and would otherwise never be found on a few hundred rows.

`sharpen` finds the best cut of one leaf, given the rest of the tree, among all cuts of its column: were the leaf not
true at all, each row would have one loss, and were it fully true, another; summed in the order of the raw values, they
give the loss of every cut at once.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from math import exp, log, sqrt
from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize

from baconlogic.core import Floats, Ints, gcd
from baconlogic.kernel import loops
from baconlogic.kernel import loss as kernel
from baconlogic.kernel.compile import compiled
from baconlogic.kernel.loops import Workspace, dot
from baconlogic.kernel.loss import Batch, Settings, Topology
from baconlogic.learn.search import draft as drafts
from baconlogic.learn.search.draft import CRISP, STEEPNESS, THRESHOLD, Draft, Literal
from baconlogic.learn.search.problem import Found, Problem, Request
from baconlogic.learn.search.screen import EDGE, losses_at, view_of

LINEAR, EXPONENTIAL, BOUNDED, SHARE = 0, 1, 2, 3
ANDNESS, GATES = "andness", "gates"  # what may be pinned: the levels of gates, or these and their weights
STEEPEST = 1e4  # of a slope, on the robust scale
FLOOR = 0.04  # the part of a gate's weight that its inputs share evenly, whatever is learned
LEAST_WEIGHT = FLOOR / 2.0  # of an input that must not weigh more than the other
LOGITS = 6.0  # how far those of missing values and categories go
STEEPNESSES, THRESHOLDS = (0.5, 200.0), (-1.0, 2.0)  # the bounds of a link
USUAL = (  # and spread, unconstrained: slope, centre, missing, table, weight, andness, steepness, threshold
    (log(2), 0.22), (0.0, 0.63), (0.0, 0.63), (0.0, 1.0), (0.0, 0.63), (0.0, 0.63), (log(STEEPNESS), 0.32),
    (THRESHOLD, 0.32),
)  # fmt: skip
LINK_REACH = 4.0
USUAL_CURVATURE = 0.1  # of the loss in an unconstrained parameter; where BFGS starts from
HALF_ROOT = sqrt(0.5)  # two weights share what one number does
LEAST_PART = 1e-4  # of what lies between two bounds: there a slope is left
SHORT = gcd.SHORT_OF_DRASTIC
TRIES = 12  # lengths of one step
STEPS = 200  # of descent where a structure is given
POLISH = 20  # and where a tree was found on a sample


class Freedom(NamedTuple):
    """How the parameters that move may move; all arrays run along these."""

    where: Ints  # in the parameter vector
    kind: Ints
    sign: Floats  # of exponential ones
    low: Floats
    high: Floats
    low_free: Floats  # the bounds of the unconstrained parameter itself
    high_free: Floats
    usual: Floats
    spread: Floats


def freedom(problem: Problem, draft: Draft, *, pinned: str = "") -> Freedom:
    """Return how the parameters of a draft may move; `pinned` ("andness" or "gates"): what stays as it is."""
    m, gates, edges, logits = draft.leaves, len(draft.shape.first) - 1, len(draft.shape.inputs), int(draft.tables[-1])
    low, high = (draft.parts.andness,) * 2 if pinned else gate_bounds(problem, draft)
    block = [m, m, m, logits, edges, gates, 1, 1]

    def along(*values: float) -> Floats:
        return np.repeat(np.array(values, dtype=float), block)

    kind = along(EXPONENTIAL, LINEAR, LINEAR, LINEAR, SHARE, BOUNDED, EXPONENTIAL, LINEAR).astype(np.int64)
    sign = np.ones(len(kind))
    sign[:m] = np.where(draft.parts.slope < 0.0, -1.0, 1.0)
    (flat, steep), (lowest, highest) = STEEPNESSES, THRESHOLDS
    lows = along(log(0.05), 0, -LOGITS, -LOGITS, 0, 0, log(flat), lowest)
    highs = along(log(STEEPEST), 0, LOGITS, LOGITS, 0, 0, log(steep), highest)
    lows[m : 2 * m], highs[m : 2 * m] = problem.ranges[draft.columns].T
    lows[-2 - gates : -2], highs[-2 - gates : -2] = low, high
    if problem.ranked:  # of each pair, the second weighs at least as much
        first = 3 * m + logits + draft.shape.first[:-1]
        kind[first], lows[first], highs[first] = BOUNDED, LEAST_WEIGHT, 0.5
    open_ends = (kind == BOUNDED) | (kind == SHARE)
    low_free, high_free = (np.where(open_ends, end, ends) for end, ends in ((-9.0, lows), (9.0, highs)))
    usual, spread = along(*(mean for mean, _ in USUAL)), along(*(spread for _, spread in USUAL))
    for place, value in _pins(draft, pinned):
        low_free[place] = high_free[place] = usual[place] = value
    usual[3 * m : 3 * m + logits] = _usual_logits(problem, draft)
    coded = np.diff(draft.tables) > 0
    learned = (problem.learned & ~problem.fixed)[draft.columns] | coded
    moves = np.ones(len(kind), dtype=bool)
    moves[: 3 * m] = np.concatenate([learned & ~coded, learned & ~coded, learned & problem.gaps[draft.columns]])
    found = sign, lows, highs, low_free, high_free, usual, spread
    return Freedom(np.flatnonzero(moves), kind[moves], *(np.asarray(each[moves], dtype=float) for each in found))


def _pins(draft: Draft, pinned: str) -> Iterator[tuple[slice, Floats]]:
    """Yield the places of parameters that stay, and the unconstrained ones they have as `_to_free` has it."""
    gates, edges = len(draft.shape.first) - 1, len(draft.shape.inputs)
    if pinned and gates:
        yield slice(-2 - gates, -2), np.full(gates, log(LEAST_PART / (1.0 - LEAST_PART)))  # between two equal bounds
    if pinned == GATES and gates:
        shares = [np.clip((w - FLOOR / len(w)) / (1.0 - FLOOR), LEAST_PART, 1.0 - LEAST_PART) for w in draft.weights]
        logs = [np.log(share) / HALF_ROOT for share in shares]
        yield slice(-2 - gates - edges, -2 - gates), np.concatenate([each - each.mean() for each in logs])


def _usual_logits(problem: Problem, draft: Draft) -> Floats:
    """Return, for the logit of each category, the mean of its leaf's over the cases that are not missing."""
    found = np.zeros(int(draft.tables[-1]))
    for leaf, (start, end) in enumerate(pairwise(draft.tables.tolist())):
        if end > start:
            codes = problem.X[draft.columns[leaf]]
            known = codes < loops.KNOWN_BELOW
            cases = np.bincount(codes[known].astype(np.int64), problem.share[known], end - start)
            found[start:end] = cases @ draft.parts.table[start:end] / max(cases.sum(), 1e-300)
    return found


def gate_bounds(problem: Problem, draft: Draft) -> tuple[Floats, Floats]:
    """Return the lowest and highest andness of each gate: the narrowest of what its own leaves ask for."""
    count, first, inputs = len(draft.shape.first) - 1, draft.shape.first, draft.shape.inputs
    (lowest, highest), leaf = problem.andness, inputs < draft.leaves
    columns = draft.columns[np.where(leaf, inputs, 0)]
    low, high = np.where(leaf, problem.low[columns], lowest), np.where(leaf, problem.high[columns], highest)
    if not count:
        return np.empty(0), np.empty(0)
    low, high = np.maximum.reduceat(low, first[:-1]), np.minimum.reduceat(high, first[:-1])
    n = np.diff(first)
    end = n / (n - 1.0) - SHORT
    low, high = np.maximum(low, lowest), np.minimum(high, highest)
    return np.clip(low, 1.0 - end, end), np.clip(high, 1.0 - end, end)


@compiled(reassociate=False, inner=True)
def _to_free(values: Floats, f: Freedom, shape: Topology) -> Floats:
    free = np.empty(f.where.size)
    for i in range(free.size):
        value = values[f.where[i]]
        if f.kind[i] == EXPONENTIAL:
            free[i] = min(max(log(max(f.sign[i] * value, 1e-300)), f.low[i]), f.high[i])
        elif f.kind[i] == BOUNDED:
            part = (value - f.low[i]) / max(f.high[i] - f.low[i], 1e-12)
            part = min(max(part, LEAST_PART), 1.0 - LEAST_PART)
            free[i] = log(part / (1.0 - part))
        elif f.kind[i] == LINEAR:
            free[i] = min(max(value, f.low[i]), f.high[i])
    at = free.size - 1 - shape.first.size - shape.inputs.size
    for j in range(shape.first.size - 1):
        start, end = at + shape.first[j], at + shape.first[j + 1]
        if f.kind[start] != SHARE:
            free[end - 1] = 0.0
            continue
        n, mean = end - start, 0.0
        for i in range(start, end):
            share = (values[f.where[i]] - FLOOR / n) / (1.0 - FLOOR)
            free[i] = log(min(max(share, LEAST_PART), 1.0 - LEAST_PART)) / HALF_ROOT
            mean += free[i] / n
        for i in range(start, end):
            free[i] = min(max(free[i] - mean, f.low_free[i]), f.high_free[i])
    return free


@compiled(reassociate=False, inner=True)
def _to_values(free: Floats, f: Freedom, shape: Topology, values: Floats, slope: Floats) -> None:
    """Fill in the parameters that unconstrained ones stand for, and how they change with them.

    For weights: the share of each.
    """
    for i in range(free.size):
        k = f.where[i]
        if f.kind[i] == EXPONENTIAL:
            values[k] = f.sign[i] * exp(free[i])
            slope[i] = values[k]
        elif f.kind[i] == BOUNDED:
            part = 1.0 / (1.0 + exp(-free[i]))
            values[k] = f.low[i] + (f.high[i] - f.low[i]) * part
            slope[i] = (f.high[i] - f.low[i]) * part * (1.0 - part)
        elif f.kind[i] == LINEAR:
            values[k] = free[i]
            slope[i] = 1.0
    at = free.size - 1 - shape.first.size - shape.inputs.size
    for j in range(shape.first.size - 1):
        start, end = at + shape.first[j], at + shape.first[j + 1]
        if f.kind[start] != SHARE:
            values[f.where[end - 1]] = 1.0 - values[f.where[start]]
            continue
        n, total = end - start, 0.0
        for i in range(start, end):
            slope[i] = exp(HALF_ROOT * free[i])
            total += slope[i]
        for i in range(start, end):
            slope[i] /= total
            values[f.where[i]] = FLOOR / n + (1.0 - FLOOR) * slope[i]


@compiled(reassociate=False, inner=True)
def _in_free(in_values: Floats, f: Freedom, shape: Topology, slope: Floats, gradient: Floats) -> None:
    """Turn slopes of the loss in the parameters into those in unconstrained ones."""
    for i in range(slope.size):
        gradient[i] = in_values[f.where[i]] * slope[i]
    at = slope.size - 1 - shape.first.size - shape.inputs.size
    for j in range(shape.first.size - 1):
        start, end = at + shape.first[j], at + shape.first[j + 1]
        if f.kind[start] != SHARE:
            gradient[start] -= in_values[f.where[end - 1]] * slope[start]
            gradient[end - 1] = 0.0
            continue
        mean = 0.0
        for i in range(start, end):
            mean += gradient[i]
        for i in range(start, end):
            gradient[i] = HALF_ROOT * (1.0 - FLOOR) * (gradient[i] - slope[i] * mean)


class Objective(NamedTuple):
    """All that the penalised loss is made of, but the unconstrained parameters."""

    freedom: Freedom
    strength: float
    shape: Topology
    batch: Batch
    settings: Settings
    work: Workspace
    in_values: Floats  # the gradient in the kernel's parameters


@compiled(reassociate=False, inner=True)
def _penalised(free: Floats, objective: Objective, values: Floats, slope: Floats, gradient: Floats) -> float:
    """Return the loss at unconstrained parameters and fill in its gradient in them."""
    f, shape, in_values = objective.freedom, objective.shape, objective.in_values
    _to_values(free, f, shape, values, slope)
    net = kernel.prepare(values, shape, objective.settings.knee)
    loss = kernel.network_loss(net, objective.batch, objective.settings, objective.work, in_values)
    _in_free(in_values, f, shape, slope, gradient)
    for i in range(free.size):
        away = (free[i] - f.usual[i]) / f.spread[i]
        root = 1.0 if i < free.size - 2 else sqrt(1.0 + (away / LINK_REACH) ** 2)
        loss += objective.strength * away * away / (1.0 + root)  # a square / 2 where root is 1
        gradient[i] += objective.strength * away / (root * f.spread[i])
    return loss


@compiled(reassociate=False, inner=True)
def _direction(inverse: Floats, gradient: Floats, free: Floats, f: Freedom, out: Floats) -> float:
    """Fill in the quasi-Newton direction, less what would leave the bounds; return the slope of the loss along it."""
    slope = 0.0
    for i in range(free.size):
        total = -dot(inverse[i], gradient)
        stuck = (total < 0.0 and free[i] <= f.low_free[i]) or (total > 0.0 and free[i] >= f.high_free[i])
        out[i] = 0.0 if stuck else total
        slope += out[i] * gradient[i]
    return slope


@compiled(reassociate=False, inner=True)
def _update(inverse: Floats, moved: Floats, change: Floats, turned: Floats) -> None:
    """BFGS: make the inverse Hessian agree with the change of gradient that the last move brought."""
    n, curvature = moved.size, dot(moved, change)
    if curvature <= 1e-12 * sqrt(dot(moved, moved) * dot(change, change)):
        return
    for i in range(n):
        turned[i] = dot(inverse[i], change)
    factor = (1.0 + dot(change, turned) / curvature) / curvature
    for i in range(n):
        for j in range(n):
            cross = moved[i] * turned[j] + turned[i] * moved[j]
            inverse[i, j] += factor * moved[i] * moved[j] - cross / curvature


@compiled(reassociate=False, inner=True)
def _first_size(ahead: Floats) -> float:
    """Return how far to go at first, when no curvature is known yet: no number by more than 0.3."""
    longest = 0.3
    for i in range(ahead.size):
        longest = max(longest, abs(ahead[i]))
    return 0.3 / longest


@compiled(reassociate=False)
def _descend(values: Floats, objective: Objective, inverse: Floats, steps: int) -> float:
    """BFGS with a bisecting line search, which also gets past the kinks of andness (Lewis and Overton, 2013).

    Moves `values` and returns the loss; `inverse` is what to start from. Loops where arrays would be shorter: these
    take seconds to compile.
    """
    f, n, loss, along, size, low, high = objective.freedom, objective.freedom.where.size, 0.0, 0.0, 0.0, 0.0, 0.0
    free, slope = _to_free(values, f, objective.shape), np.empty(n)
    gradient, ahead, new_gradient, new = np.zeros(n), np.zeros(n), np.empty(n), np.empty(n)
    step, tries = -1, 0  # before the first step: the loss where it starts
    while True:
        for i in range(n):
            new[i] = min(max(free[i] + size * ahead[i], f.low_free[i]), f.high_free[i]) if step >= 0 else free[i]
        new_loss = _penalised(new, objective, values, slope, new_gradient)
        if step >= 0:
            tries += 1
            far = not new_loss <= loss + 1e-4 * size * along
            if tries < TRIES and (far or dot(new_gradient, ahead) < 0.9 * along):
                low, high = (low, size) if far else (size, high)
                size = 0.5 * (low + high) if high < np.inf else 2.0 * size
                continue
            if not new_loss < loss:
                break
        for i in range(n):
            free[i], new[i] = new[i], new[i] - free[i]
            gradient[i], new_gradient[i] = new_gradient[i], new_gradient[i] - gradient[i]
        if step >= 0:
            _update(inverse, new, new_gradient, ahead)
        gained, loss, step = loss - new_loss, new_loss, step + 1
        if step == steps or (step > 0 and gained < 1e-9 * abs(loss)):
            break
        along = _direction(inverse, gradient, free, f, ahead)
        if along > -1e-12:
            break
        size, low, high, tries = 1.0 if step else _first_size(ahead), 0.0, np.inf, 0
    _to_values(free, f, objective.shape, values, slope)
    return loss


def refine(problem: Problem, draft: Draft, steps: int, *, pinned: str = "") -> Draft:
    """Return the draft that `steps` of descent reach at most; `pinned` ("andness" or "gates"): what stays as it is."""
    values, work = draft.parameters.copy(), kernel.workspace(draft.shape, min(kernel.BLOCK, problem.rows))
    kernel.parts(values, draft.shape).missing[~problem.gaps[draft.columns]] = 0.0
    settings = Settings(calibrated=True, knee=problem.knee, penalty=0.0, amplifier=1.0)  # cross-entropy, nothing else
    free, strength = freedom(problem, draft, pinned=pinned), problem.penalty / problem.cases
    batch, in_values = problem.batch(draft), np.empty_like(values)
    objective = Objective(free, strength, draft.shape, batch, settings, work, in_values)
    moves = free.low_free < free.high_free  # what is pinned has no part in any step
    loss = _descend(values, objective, np.diag(moves / USUAL_CURVATURE), steps)
    if pinned == GATES:  # to the last digit
        kernel.parts(values, draft.shape).weight[:] = draft.parts.weight
    return draft._replace(parameters=values, loss=float(loss))


def polish(problem: Problem, draft: Draft) -> Draft:
    """Return a draft that was found on a sample of these rows, refined on all."""
    return refine(problem, sharpen(problem, refine(problem, draft, POLISH)), POLISH)


def sharpen(problem: Problem, draft: Draft) -> Draft:
    """Return the draft with each learned leaf in turn cut where the loss is least, if that lowers the loss."""
    for place in range(draft.leaves):
        if problem.learned[draft.columns[place]] and not problem.categories[draft.columns[place]]:
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
