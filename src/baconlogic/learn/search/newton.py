"""Levenberg and Marquardt: all numbers of a small tree learned jointly, in few steps and without compiled code.

What is minimised, and in which unconstrained parameters, is that of `refine`, whose descent is faster but has to be
compiled for a quarter of a minute first. A card has few numbers, so that their curvature costs little, and a handful of
steps along it do what takes a descent along gradients dozens.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from scipy.linalg.lapack import dposv

from baconlogic.core import Floats
from baconlogic.kernel.jacobian import Equations, equations
from baconlogic.kernel.loss import Topology, parts
from baconlogic.learn.search.draft import Draft
from baconlogic.learn.search.problem import Problem
from baconlogic.learn.search.refine import (
    BOUNDED,
    EXPONENTIAL,
    FLOOR,
    GATES,
    HALF_ROOT,
    LEAST_PART,
    LINK_REACH,
    SHARE,
    Freedom,
    freedom,
)

DAMP, EASIER, HARDER = 0.01, 0.2, 4.0  # of the first step; after one that did as promised, and after one that failed
FARTHEST = 3.0  # that a step moves an unconstrained parameter
ENOUGH = 0.01  # log-likelihood that a step must gain for another
TRIES = 6  # of one step


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


def newton(problem: Problem, draft: Draft, steps: int, *, pinned: str = "") -> Draft:
    """Return the draft that so many `steps` reach at most; `pinned` ("andness" or "gates"): what stays as it is.

    A step that does not lower the loss is made shorter and turned towards the gradient; how much so follows how far the
    last one kept what its curvature had promised.
    """
    f, strength = freedom(problem, draft, pinned=pinned), problem.penalty / problem.cases
    values, batch, scale = draft.parameters.copy(), problem.batch(draft), Scale(f, draft.shape)
    parts(values, draft.shape).missing[~problem.gaps[draft.columns]] = 0.0

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

    free, damp, harder, tries = scale.free(values), DAMP, HARDER, 0
    here = looked(free)
    while steps and tries < TRIES:
        falls = (free > f.low_free) & (here.gradient > 0.0)
        own = np.flatnonzero((f.low_free < f.high_free) & (falls | ((free < f.high_free) & (here.gradient <= 0.0))))
        gradient, curvature = here.gradient[own], here.curvature[np.ix_(own, own)]
        new = free.copy()
        new[own] = np.clip(free[own] + _step(gradient, curvature, damp), f.low_free[own], f.high_free[own])
        there, step = looked(new), (new - free)[own]
        gained = here.loss - there.loss
        if not gained > 0.0:
            damp, harder, tries = damp * harder, harder * 2.0, tries + 1
            continue
        kept = gained / max(-float(step @ gradient + 0.5 * step @ curvature @ step), 1e-300)  # of what was promised
        free, here, damp = new, there, damp * max(EASIER, 1.0 - (2.0 * min(kept, 1.0) - 1.0) ** 3)
        harder, tries, steps = HARDER, 0, steps - 1 if gained * problem.cases > ENOUGH else 0
    scale.fill(values, free)
    if pinned == GATES:  # to the last digit
        parts(values, draft.shape).weight[:] = draft.parts.weight
    return draft._replace(parameters=values, loss=float(here.loss))


def _step(gradient: Floats, curvature: Floats, damp: float) -> Floats:
    """Return the step that a damped curvature asks for; no number by more than FARTHEST."""
    damped = curvature.copy()
    damped[np.diag_indices_from(damped)] *= 1.0 + damp
    step = np.asarray(dposv(damped, -gradient)[1])
    return np.asarray(step * (FARTHEST / np.abs(step).max(initial=FARTHEST)))
