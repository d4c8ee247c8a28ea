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
from scipy.linalg.lapack import dposv
from scipy.optimize import minimize

from baconlogic.core import Floats, Ints, gcd
from baconlogic.kernel import loops
from baconlogic.kernel import loss as kernel
from baconlogic.kernel.jacobian import Equations, equations
from baconlogic.kernel.loss import Topology
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
DAMP, EASIER, HARDER = 0.01, 0.15, 8.0  # of the first step; after one that led down, and after one that did not
FARTHEST = 3.0  # that a step moves an unconstrained parameter
ENOUGH = 1e-6  # part of the loss that a step must gain for another
HALF_ROOT = sqrt(0.5)  # two weights share what one number does
LEAST_PART = 1e-4  # of what lies between two bounds: there a slope is left
SHORT = gcd.SHORT_OF_DRASTIC
TRIES = 6  # of one step
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


class Scale:
    """How unconstrained parameters and those of the kernel turn into one another."""

    def __init__(self, f: Freedom, shape: Topology) -> None:
        self.freedom, self.width = f, f.high - f.low
        self.curved, self.bounded = np.flatnonzero(f.kind == EXPONENTIAL), np.flatnonzero(f.kind == BOUNDED)
        at = len(f.where) - 1 - len(shape.first) - len(shape.inputs)
        gates = [slice(at + start, at + end) for start, end in pairwise(shape.first.tolist())]
        self.shares = [own for own in gates if f.kind[own.start] == SHARE]
        self.pairs = [own.start for own in gates if f.kind[own.start] != SHARE]

    def free(self, values: Floats) -> Floats:
        """Return the unconstrained parameters that stand for those of the kernel."""
        f = self.freedom
        v = values[f.where]
        free = v.copy()
        free[self.curved] = np.log(np.maximum(f.sign[self.curved] * v[self.curved], 1e-300))
        part = (v - f.low)[self.bounded] / np.maximum(self.width[self.bounded], 1e-12)
        part = np.clip(part, LEAST_PART, 1.0 - LEAST_PART)
        free[self.bounded] = np.log(part / (1.0 - part))
        for own in self.shares:
            share = (v[own] - FLOOR / (own.stop - own.start)) / (1.0 - FLOOR)
            logs = np.log(np.clip(share, LEAST_PART, 1.0 - LEAST_PART)) / HALF_ROOT
            free[own] = logs - logs.mean()
        for first in self.pairs:
            free[first + 1] = 0.0
        return np.clip(free, f.low_free, f.high_free)

    def fill(self, values: Floats, free: Floats) -> Floats:
        """Fill in the parameters of the kernel, and return how they change, (kernel's, unconstrained)."""
        f, slope, v = self.freedom, np.ones(len(free)), free.copy()
        v[self.curved] = slope[self.curved] = f.sign[self.curved] * np.exp(free[self.curved])
        part, width = 1.0 / (1.0 + np.exp(-free[self.bounded])), self.width[self.bounded]
        v[self.bounded], slope[self.bounded] = f.low[self.bounded] + width * part, width * part * (1.0 - part)
        change = np.diag(slope)
        for own in self.shares:
            share = np.exp(HALF_ROOT * free[own])
            share /= share.sum()
            v[own] = FLOOR / len(share) + (1.0 - FLOOR) * share
            change[own, own] = (HALF_ROOT * (1.0 - FLOOR)) * (np.diag(share) - np.outer(share, share))
        for first in self.pairs:
            v[first + 1] = 1.0 - v[first]
            change[first + 1, first], change[first + 1, first + 1] = -slope[first], 0.0
        values[f.where] = v
        return change


def refine(problem: Problem, draft: Draft, steps: int, *, pinned: str = "") -> Draft:
    """Return the draft that so many `steps` reach at most; `pinned` ("andness" or "gates"): what stays as it is.

    A step that does not lower the loss is made shorter and turned towards the gradient (Levenberg and Marquardt).
    """
    f, strength = freedom(problem, draft, pinned=pinned), problem.penalty / problem.cases
    values, batch, scale = draft.parameters.copy(), problem.batch(draft), Scale(f, draft.shape)
    kernel.parts(values, draft.shape).missing[~problem.gaps[draft.columns]] = 0.0

    def looked(free: Floats) -> Equations:
        """Return the penalised loss, with its slopes in the unconstrained parameters."""
        change = scale.fill(values, free)
        loss, gradient, curvature = equations(values, draft.shape, batch, problem.knee, f.where)
        away, root = (free - f.usual) / f.spread, np.ones(len(free))
        root[-2:] = np.sqrt(1.0 + (away[-2:] / LINK_REACH) ** 2)
        loss += strength * float((away * away / (1.0 + root)).sum())  # a square / 2 where root is 1
        curvature = change.T @ curvature @ change
        curvature[np.diag_indices_from(curvature)] += strength / (root * f.spread**2)
        return Equations(loss, change.T @ gradient + strength * away / (root * f.spread), curvature)

    free, damp = scale.free(values), DAMP
    here, tries = looked(free), 0
    while steps and tries < TRIES:
        falls = (free > f.low_free) & (here.gradient > 0.0)
        own = np.flatnonzero((f.low_free < f.high_free) & (falls | ((free < f.high_free) & (here.gradient <= 0.0))))
        new = free.copy()
        new[own] += _step(here.gradient[own], here.curvature[np.ix_(own, own)], damp)
        new = np.clip(new, f.low_free, f.high_free)
        there = looked(new)
        if not there.loss < here.loss:
            damp, tries = damp * HARDER, tries + 1
            continue
        gained, free, here, damp = here.loss - there.loss, new, there, damp * EASIER
        steps, tries = steps - 1 if gained > ENOUGH * abs(here.loss) else 0, 0
    scale.fill(values, free)
    if pinned == GATES:  # to the last digit
        kernel.parts(values, draft.shape).weight[:] = draft.parts.weight
    return draft._replace(parameters=values, loss=float(here.loss))


def _step(gradient: Floats, curvature: Floats, damp: float) -> Floats:
    """Return the step that a damped curvature asks for; no number by more than FARTHEST."""
    damped = curvature.copy()
    damped[np.diag_indices_from(damped)] *= 1.0 + damp
    step = np.asarray(dposv(damped, -gradient)[1])
    return step * (FARTHEST / np.abs(step).max(initial=FARTHEST))


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
