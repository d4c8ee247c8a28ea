"""Crisp thresholds, exactly: the best cut of one leaf, given the rest of the tree, among all cuts of its column.

Were the leaf not true at all, each row would have one loss, and were it fully true, another. Summed in the order of the
raw values, they give the loss of every cut at once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from baconlogic.kernel import loss as kernel
from baconlogic.kernel.loops import KNOWN_BELOW
from baconlogic.learn.search import screen
from baconlogic.learn.search.draft import CRISP, Draft, Leaf, replace
from baconlogic.learn.search.refine import STEEPEST

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from baconlogic.learn.search.problem import Problem

    Floats = NDArray[np.float64]


def sharpen(problem: Problem, draft: Draft) -> Draft:
    """Return the draft with each learned leaf in turn cut where the loss is least, if that lowers the loss."""
    for place in range(draft.leaves):
        if problem.learned[draft.columns[place]]:
            draft = _cut(problem, draft, place)
    return draft


def _cut(problem: Problem, draft: Draft, place: int) -> Draft:
    p, x = draft.parts, problem.X[draft.columns[place]]
    known = np.flatnonzero(x < KNOWN_BELOW)
    rows = known[np.argsort(x[known], kind="stable")]
    values = x[rows]
    between = np.flatnonzero(values[1:] > values[:-1]) + 1  # cuts: how many values lie below
    if between.size == 0:
        return draft
    false, true = _ends(problem, draft, place)[:, rows]
    below, above = (false, true) if p.slope[place] > 0.0 else (true, false)
    losses = np.r_[0.0, np.cumsum(below - above)][between]
    least = losses.min()
    best = between[np.abs(losses - least) <= 1e-9 + 1e-6 * abs(least)]
    first, last = best[0], best[-1]
    if np.any(losses[(between >= first) & (between <= last)] > least + 1e-6):
        last = first
    low, high = values[first - 1], values[last]
    slope = np.sign(p.slope[place]) * min(2.0 * CRISP / (high - low), STEEPEST)
    crisp = replace(draft, place, Leaf(int(draft.columns[place]), slope, low + (high - low) / 2.0, p.missing[place]))
    return crisp if _loss(problem, crisp) < _loss(problem, draft) else draft


def _ends(problem: Problem, draft: Draft, place: int) -> Floats:
    """Return (2, rows): each row's loss if the leaf were not true at all, and if it were fully true."""
    grid, out = np.array([screen.EDGE, 1.0 - screen.EDGE]), np.empty((2, problem.rows))
    truths = kernel.node_truths(draft.parameters, draft.shape, problem.data(draft), problem.knee)
    screen.losses_at(grid, place, truths, draft.shape, draft.parts, problem.y, problem.share, problem.knee, out)
    return out


def _loss(problem: Problem, draft: Draft) -> float:
    u = problem.decision_values(draft)
    return float(problem.share @ (np.logaddexp(0.0, u) - problem.y * u))
