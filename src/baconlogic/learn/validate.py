"""Learning one yes-or-no target: search on all rows and on folds, choose the size by held-out loss, calibrate.

The folds are disjoint in what they show: rows that look alike are one row here (see `rows`), so a tree is never scored
on a case it has seen; only in tables too long for that may equal rows fall on both sides.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from scipy.optimize import minimize
from sklearn.model_selection import StratifiedKFold

from baconlogic.kernel import loss as kernel
from baconlogic.kernel.compile import interruptible
from baconlogic.learn.search import additive
from baconlogic.learn.search.peel import Peel, covers
from baconlogic.learn.search.problem import Problem
from baconlogic.learn.search.protocol import Ask, Found, Scored
from baconlogic.learn.search.refine import refine
from baconlogic.learn.search.sharpen import sharpen
from baconlogic.metrics import base_log_loss, log_loss_of_scores

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from numpy.typing import NDArray

    from baconlogic.learn.encode import Encoding
    from baconlogic.learn.search.draft import Draft
    from baconlogic.learn.search.protocol import Search

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]

Made = TypeVar("Made")
Key = tuple[int, int]  # of a tree: its kind (0, or 1 for a rival) and size
Held = tuple[Any, Any, Any]  # scores, and how many cases each stands for: of the class and of the rest

FOLDS = 5
MOST_ROWS = 6000  # more are sampled for search and validation; the last refinement sees all
TIE = 1e-3  # a held-out loss that is not lower by more is no better
EVIDENCE = 3.0  # log-likelihood by which a tree must beat the base rate: the two numbers of its calibration gain
# as much in one case of twenty where there is nothing to be found (half the 95% point of chi-square)
DRAWN_ALIKE = 0.25  # logarithm of how much more of one side than of the other a sample may hold by chance
FLATTEST = 0.05  # steepness of a link that hardly looks at the truth


@dataclass(frozen=True)
class Task:
    """One target and how to learn it; goes to the workers."""

    encoding: Encoding
    y: Floats  # (rows,): share of positive cases of each row
    share: Floats  # (rows,), sum 1
    weight: float  # how many cases the rows stand for
    template: Problem  # bounds and wishes; its rows are filled in
    search: Search
    most: int | None
    start: Draft | None
    seed: int
    seconds: float | None = None  # for one search
    jobs: int | None = None
    halted: list[bool] = field(default_factory=lambda: [False])  # whether the fit is to end; one for all its tasks

    def problem(self, rows: Ints, fit: Ints | None = None) -> Problem:
        """Return the problem on some rows; `fit` are those that categories may learn from, `rows` by default."""
        X = self.encoding.table(self.y, self.share * self.weight, rows, fit)
        share = self.share[rows]
        weight = self.weight * float(share.sum())
        return replace(self.template, X=X, y=self.y[rows], share=share / share.sum(), weight=weight)


@dataclass(frozen=True)
class Trained:
    """What a search found on some rows, and the decision values of its trees on the rows held out."""

    found: Found
    held: Ints | None
    values: dict[Key, Floats]


def train(task: Task, rows: Ints, held: Ints | None) -> Trained:
    """Search on `rows`; score the trees on `held`."""
    problem = task.problem(rows)
    deadline = None if task.seconds is None else time.monotonic() + task.seconds

    def going() -> bool:
        return not task.halted[0] and (deadline is None or time.monotonic() < deadline)

    ask = Ask(task.most, task.start, task.seed, going, task.jobs, deadline)
    found = task.search.find(problem, ask)
    if found.interrupted:
        task.halted[0] = True
    values = {}
    if held is not None:
        unseen = task.problem(held, rows)
        values = {key: unseen.decision_values(scored.draft) for key, scored in _trees(found).items()}
    return Trained(found, held, values)


def _trees(found: Found) -> dict[Key, Scored]:
    """Return all trees of a search by kind and size."""
    kinds = found.best, found.rivals or {}
    return {(kind, size): tree for kind, trees in enumerate(kinds) for size, tree in trees.items()}


def sample(task: Task) -> Ints:
    """Return the rows to search on: all, or as many of each side as there are in proportion."""
    if len(task.y) <= MOST_ROWS:
        return np.arange(len(task.y))
    rng = np.random.default_rng(task.seed)
    sides = [np.flatnonzero(task.y >= 0.5), np.flatnonzero(task.y < 0.5)]
    taken = [
        rng.choice(side, max(min(len(side), 50), round(MOST_ROWS * len(side) / len(task.y))), replace=False)
        for side in sides
    ]
    return np.sort(np.concatenate(taken))


def drawn(task: Task, rows: Ints) -> Task:
    """Return the task for a sample: where more than their part of a rare side was drawn, each stands for less."""
    rare = task.y >= 0.5
    whole = np.array([task.share[side].sum() for side in (~rare, rare)])
    part = np.array([task.share[rows][side].sum() for side in (~rare[rows], rare[rows])])
    if len(rows) == len(task.y) or not part.all():
        return task
    factor = whole / part * part.sum()
    if abs(math.log(factor[1] / factor[0])) < DRAWN_ALIKE:
        return task
    return replace(task, share=task.share * np.where(rare, factor[1], factor[0]))


def folds(task: Task, rows: Ints) -> list[tuple[Ints, Ints]]:
    """Return (rows to learn from, rows held out) of each fold; none where a side has fewer than two rows."""
    side = (task.y[rows] >= 0.5).astype(int)
    count = min(FOLDS, int(np.bincount(side, minlength=2).min()))
    if count < 2:
        return []
    split = StratifiedKFold(count, shuffle=True, random_state=task.seed).split(rows, side)
    return [(rows[kept], rows[held]) for kept, held in split]


@dataclass(frozen=True)
class Sized:
    """The best tree of one size: its draft, and how it does held out (NaN where that could not be measured)."""

    draft: Draft
    loss: float
    error: float
    accuracy: float
    calibration: tuple[float, float]  # factor and shift of decision values that held-out rows ask for
    in_sample: float
    logic: bool  # whether it beats the base rate held out
    measured: bool  # whether in every fold
    held: Held | None  # what it said of the rows held out

    @property
    def link(self) -> tuple[float, float]:
        """Steepness and threshold, calibrated."""
        (steepness, threshold), (factor, shift) = self.draft.parts.link, self.calibration
        return float(steepness * factor), float(threshold - shift / (steepness * factor))


@dataclass(frozen=True)
class Learned:
    """What was learned about one target."""

    sizes: dict[int, Sized]
    chosen: int
    base_loss: float
    stopped: str


def flat_link(rate: float) -> tuple[float, float]:
    """Return the link that answers this rate, nearly, and always the same class, whatever the truth."""
    rate = min(max(rate, 1e-9), 1.0 - 1e-9)
    threshold = 0.5 - math.log(rate / (1.0 - rate)) / FLATTEST
    return FLATTEST, min(threshold, -0.01) if rate > 0.5 else max(threshold, 1.01)


def conclude(task: Task, whole: Trained, parts: Sequence[Trained], simplicity: str) -> Learned:
    """Choose a size by what the folds say of it, refine on all rows, and calibrate on the rows held out."""
    everything = task.problem(np.arange(len(task.y)))
    found = _unless_halted(task, lambda: _found_on_all(task, whole, everything), whole.found)
    trees, base = _trees(found), base_log_loss(task.y, task.share)
    seen = drawn(task, sample(task))
    parts = [_at_sizes(part, trees) for part in parts]
    sizes: dict[int, Sized] = {}
    for key in sorted(trees, key=lambda key: key[::-1]):
        draft, calibration = trees[key].draft, _calibration(seen, parts, key)
        loss, error, accuracy = _held_out(seen, parts, key, *calibration)
        logic = not (base - loss) * task.weight < EVIDENCE  # also where it could not be measured
        measured = not math.isnan(loss) and all(key in part.values for part in parts)
        in_sample = _in_sample(task, everything, draft)
        held = _held(task, seen, parts, key, *calibration) if measured else None
        sized = Sized(draft, loss, error, accuracy, calibration, in_sample, logic, measured, held)
        before = sizes.get(key[1])
        if before is None or (measured and not (before.measured and before.loss <= loss)):
            sizes[key[1]] = sized
    chosen = _choose(sizes, task, simplicity)
    if everything.rows > MOST_ROWS and not whole.found.exact:
        sizes[chosen] = _unless_halted(task, lambda: _refined(task, everything, sizes[chosen]), sizes[chosen])
    return Learned(sizes, chosen, base, whole.found.ended)


def _found_on_all(task: Task, whole: Trained, everything: Problem) -> Found:
    """Return what was found; an exact chain found on a sample is peeled again from all rows."""
    if whole.found.exact and everything.rows > MOST_ROWS:
        chain, again = Peel().chain(everything, Ask(task.most, None, task.seed, lambda: True))
        if covers(everything, chain):
            return again
    return whole.found


def _at_sizes(part: Trained, keys: Iterable[Key]) -> Trained:
    """Return a fold with values for each size found; one that stopped earlier has those of its largest tree."""
    known = {(kind, size): [k for k in part.values if k[0] == kind and k[1] <= size] for kind, size in keys}
    return replace(part, values={key: part.values[max(smaller)] for key, smaller in known.items() if smaller})


def _unless_halted(task: Task, make: Callable[[], Made], before: Made) -> Made:
    """Return what is made, or what was there before if the fit is to end."""
    if not task.halted[0]:
        try:
            with interruptible():
                return make()
        except KeyboardInterrupt:
            task.halted[0] = True
    return before


def _refined(task: Task, everything: Problem, sized: Sized) -> Sized:
    """Return a tree that was found on a sample, refined on all rows."""
    if additive.is_mean(sized.draft):
        draft = additive.refit(everything, sized.draft)
    else:
        _, draft = refine(everything, sized.draft, 20)
        _, draft = refine(everything, sharpen(everything, draft), 20)
    return replace(sized, draft=draft, in_sample=_in_sample(task, everything, draft))


def _in_sample(task: Task, everything: Problem, draft: Draft) -> float:
    return log_loss_of_scores(everything.decision_values(draft), task.y, task.share)


def _held_out(
    task: Task, parts: Sequence[Trained], key: Key, factor: float, shift: float
) -> tuple[float, float, float]:
    """Return the mean held-out loss over folds, its standard error, and the accuracy.

    They are those of calibrated probabilities: a tree must not pay for being too sure.
    """
    losses, right, total = [], 0.0, 0.0
    for part in parts:
        if key in part.values:
            values, y, share = factor * part.values[key] + shift, task.y[part.held], task.share[part.held]
            losses.append(log_loss_of_scores(values, y, share))
            right += float(share @ np.where(values > 0.0, y, 1.0 - y))
            total += float(share.sum())
    if len(losses) < 2:
        return math.nan, math.nan, math.nan
    return float(np.mean(losses)), float(np.std(losses, ddof=1) / math.sqrt(len(losses))), right / total


def _held(task: Task, seen: Task, parts: Sequence[Trained], key: Key, factor: float, shift: float) -> Held:
    """Return the calibrated decision values of all rows held out, and their cases of both sides.

    Where one side was drawn more often, the cases of the class are as many as were held out, and the rest as many as
    belong to them: how sure a share of cases is depends on how many there are.
    """
    rows = np.concatenate([part.held for part in parts if part.held is not None])
    cases = seen.share[rows] * task.weight
    if seen is not task:
        cases *= (task.share[rows] @ task.y[rows]) / (seen.share[rows] @ task.y[rows])
    scores = factor * np.concatenate([part.values[key] for part in parts]) + shift
    return scores, cases * task.y[rows], cases * (1.0 - task.y[rows])


def _choose(sizes: dict[int, Sized], task: Task, simplicity: str) -> int:
    """Return the size of the lowest held-out loss, or the smallest within one standard error of it."""
    measured = {size: sized.loss for size, sized in sizes.items() if sized.measured}
    if not measured:  # too few rows to hold some out: what each leaf must gain is that of Akaike's criterion
        return min(sizes, key=lambda size: (sizes[size].in_sample + kernel.size(size) / task.weight, size))
    best = min(measured, key=lambda size: (measured[size], size))
    allowed = sizes[best].error if simplicity == "one-se" else TIE
    return min(size for size, loss in measured.items() if loss <= measured[best] + allowed)


def _calibration(task: Task, parts: Sequence[Trained], key: Key) -> tuple[float, float]:
    """Return factor and shift of decision values that make held-out probabilities right, held to (1, 0) a little."""
    held = [part for part in parts if key in part.values and part.held is not None]
    if not held:
        return 1.0, 0.0
    values = np.concatenate([part.values[key] for part in held])
    rows = np.concatenate([part.held for part in held])
    y, share = task.y[rows], task.share[rows] / task.share[rows].sum()
    values = np.clip(values, -30.0, 30.0)
    strength = 2.0 / task.weight

    def loss(free: Floats) -> tuple[float, Floats]:
        factor, shift = math.exp(free[0]), free[1]
        u = factor * values + shift
        step = share * (1.0 / (1.0 + np.exp(-u)) - y)
        total = share @ (np.logaddexp(0.0, u) - y * u) + strength * (free[0] ** 2 + free[1] ** 2)
        slope = np.array([factor * (step @ values), step.sum()]) + 2.0 * strength * free
        return float(total), slope

    free: Any = minimize(loss, np.zeros(2), jac=True, method="L-BFGS-B", bounds=[(-3.0, 1.0), (-3.0, 3.0)]).x
    return math.exp(free[0]), float(free[1])
