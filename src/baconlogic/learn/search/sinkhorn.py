"""The paper's own search (Algorithm 1): learn a soft order of the features and the gates together, freeze, refine."""

from __future__ import annotations

import math
import threading
import time
from dataclasses import dataclass, field, replace
from itertools import takewhile
from numbers import Integral, Real
from typing import TYPE_CHECKING

import numpy as np
from joblib import Parallel, delayed
from sklearn.base import BaseEstimator, clone
from threadpoolctl import threadpool_limits

from baconlogic.core import gcd
from baconlogic.kernel import loss as kernel
from baconlogic.kernel.compile import interruptible
from baconlogic.learn.search import epochs as annealing
from baconlogic.learn.search.attempt import Attempt, Record, Run
from baconlogic.learn.search.draft import STEEPNESS, THRESHOLD, Draft, Leaf
from baconlogic.learn.search.fixed import fit_link
from baconlogic.learn.search.normalised import normalised
from baconlogic.learn.search.protocol import Ask, Found, Scored
from baconlogic.learn.search.refine import refine

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from baconlogic.learn.search.epochs import Problem as Rows
    from baconlogic.learn.search.problem import Problem

    Floats = NDArray[np.float64]

REFINEMENT = 150  # steps of descent after the second phase
LENIENCE = 0.1  # of the penalty meanwhile: the paper's loss has none on criteria and andness
LAYOUTS = {"left": kernel.left_chain, "balanced": kernel.balanced}


class NotAccepted(RuntimeError):  # noqa: N818 - what happened, in the paper's word
    """No attempt was accurate enough; `best` is the best of them, complete and usable."""

    def __init__(self, message: str, best: Attempt) -> None:
        super().__init__(message)
        self.best = best

    def __reduce__(self) -> tuple[type[NotAccepted], tuple[str, Attempt]]:
        return NotAccepted, (str(self), self.best)


@dataclass
class _Board:
    """What attempts running side by side tell each other; the lowest accepted number closes all higher ones."""

    deadline: float | None
    progress: Callable[[Record], None] | None
    best: Attempt | None = None
    records: list[Record] = field(default_factory=list)
    stopped: bool = False
    lock: threading.Lock = field(default_factory=threading.Lock)

    def overdue(self) -> bool:
        return self.stopped or (self.deadline is not None and time.monotonic() >= self.deadline)

    def beaten(self, number: int) -> bool:
        """Whether an earlier attempt was accepted, so that this one cannot matter."""
        return self.stopped or (self.best is not None and self.best.accepted and self.best.number < number)

    def open_for(self, number: int) -> bool:
        return number == 0 or not (self.beaten(number) or self.overdue())

    def add(self, attempt: Attempt) -> None:
        with self.lock:
            self.records.append(attempt.record)
            if self.best is None or _rank(attempt) < _rank(self.best):
                self.best = attempt
            if self.progress is not None:
                self.progress(attempt.record)


def _rank(attempt: Attempt) -> tuple[float, ...]:
    """Order attempts, whenever they end: accepted first, of these the lowest number; else the most accurate."""
    if attempt.accepted:
        return (0.0, attempt.number)
    return (1.0, -attempt.accuracy, attempt.loss, attempt.number)


class Sinkhorn(BaseEstimator):  # type: ignore[misc]
    """Search by Algorithm 1 of the paper; the parameters of Appendix E under their names, of Appendix A in words.

    An attempt explores soft orders by Gumbel-Sinkhorn while it trains the gates. Once the loss is below
    `freeze_loss_threshold` the Hungarian order is tried: it is frozen unless it costs more than
    `lock_loss_tolerance`, in which case exploring goes on. The gates are then refined on the frozen order, and the
    attempt is accepted if its accuracy is at least `acceptance_threshold`. If none is, `NotAccepted` is raised.

    Two things are added to Algorithm 1. Exploring takes at most half of `max_epochs` and ends early when the loss
    stands still at full noise; an attempt that is then not frozen is frozen once at its end, at any cost, because the
    loss of real data never falls to 0.01 and every attempt should end in a tree. And the best epoch of the
    second phase is kept, not the last.

    - acceptance_threshold: accuracy asked for, in the rows learned from.
    - attempts: how many to make at most.
    - freeze_loss_threshold: loss below which to freeze; multiplied by `loss_amplifier` here, as the loss is.
    - is_frozen: keep the features in the order given.
    - lock_loss_tolerance: loss that freezing may cost; multiplied by `loss_amplifier` too.
    - loss_amplifier: factor of the whole loss.
    - max_epochs: of one attempt, both phases together.
    - save_model, save_path: for the classifier, which then saves what `fit` ends with.
    - tree_layout: "left", ((x0 . x1) . x2) . ..., or "balanced".
    - weight_penalty_strength: of mean (weight - 1/2) ** 2 in the loss.
    - noise_increase, noise_decrease: factors of the Gumbel noise in an epoch whose loss is not improving, or is.
    - min_noise, max_noise: its bounds; it starts at the upper one.
    - temperature: of Sinkhorn at the start; every `decay_every` epochs multiplied by `temperature_decay`. With the
      default `max_epochs` exploring ends before that; raise it, or lower `decay_every`, to see it fall.
    - iterations: of Sinkhorn.
    - learning_rate: of Adam; half of it in the second phase.
    """

    def __init__(
        self,
        *,
        acceptance_threshold: float = 0.95,
        attempts: int = 100,
        freeze_loss_threshold: float = 0.01,
        is_frozen: bool = False,
        lock_loss_tolerance: float = 0.05,
        loss_amplifier: float = 1.0,
        max_epochs: int = 1200,
        save_model: bool = False,
        save_path: str = "./assembler.json",
        tree_layout: str = "left",
        weight_penalty_strength: float = 1e-3,
        noise_increase: float = 1.02,
        noise_decrease: float = 0.95,
        min_noise: float = 0.02,
        max_noise: float = 0.5,
        temperature: float = 0.5,
        temperature_decay: float = 0.5,
        decay_every: int = 1000,
        iterations: int = 10,
        learning_rate: float = 0.1,
    ) -> None:
        self.acceptance_threshold = acceptance_threshold
        self.attempts = attempts
        self.freeze_loss_threshold = freeze_loss_threshold
        self.is_frozen = is_frozen
        self.lock_loss_tolerance = lock_loss_tolerance
        self.loss_amplifier = loss_amplifier
        self.max_epochs = max_epochs
        self.save_model = save_model
        self.save_path = save_path
        self.tree_layout = tree_layout
        self.weight_penalty_strength = weight_penalty_strength
        self.noise_increase = noise_increase
        self.noise_decrease = noise_decrease
        self.min_noise = min_noise
        self.max_noise = max_noise
        self.temperature = temperature
        self.temperature_decay = temperature_decay
        self.decay_every = decay_every
        self.iterations = iterations
        self.learning_rate = learning_rate

    def check(self) -> None:
        """Refuse parameters that make no sense."""
        for name in ("attempts", "max_epochs", "decay_every", "iterations"):
            value, least = getattr(self, name), 2 if name == "max_epochs" else 1
            if not isinstance(value, Integral) or isinstance(value, bool) or value < least:
                raise ValueError(f"{name} must be a whole number of at least {least}, got {value!r}")
        for name, (low, high) in _RANGES.items():
            value = getattr(self, name)
            if not isinstance(value, Real) or isinstance(value, bool) or not low <= float(value) <= high:
                raise ValueError(f"{name} must be a number in [{low:g}, {high:g}], got {value!r}")
        for name in ("is_frozen", "save_model"):
            if getattr(self, name) not in (True, False):
                raise ValueError(f"{name} must be True or False, got {getattr(self, name)!r}")
        if self.min_noise > self.max_noise:
            raise ValueError(f"min_noise must not be above max_noise, got {self.min_noise:g} > {self.max_noise:g}")
        if self.tree_layout not in LAYOUTS:
            raise ValueError(f'tree_layout must be "left" or "balanced", got {self.tree_layout!r}')

    validated = False  # the paper accepts by the rows learned from; held-out rows have no say

    def find(self, problem: Problem, ask: Ask) -> Found:
        """Search on the features' normalised truths; learned criteria are refined afterwards, with the gates."""
        problem = problem.crisp()
        shown = normalised(problem)
        leaves, truths, search = shown.leaves, shown.truths, self
        if ask.start is not None:  # an order asserted by the expert
            place = {leaf.column: i for i, leaf in enumerate(leaves)}
            rows = [place[int(column)] for column in ask.start.columns]
            leaves, truths = [leaves[i] for i in rows], truths[rows]
            search = clone(self).set_params(is_frozen=True)
        attempt = search.run(
            truths, problem.y, problem.share, seed=ask.seed, n_jobs=ask.jobs, deadline=ask.deadline, knee=problem.knee
        )
        scored = _finish(problem, attempt, [leaves[i] for i in attempt.order])
        ended = "interrupted" if attempt.interrupted else "time was up" if attempt.timed_out else "accepted"
        best = {scored.draft.leaves: scored}
        return Found(best, f"attempt {attempt.number + 1} {ended}", attempt.interrupted, records=attempt.history)

    def run(
        self,
        truths: Floats,
        y: Floats,
        share: Floats,
        *,
        seed: int | None,
        n_jobs: int | None = None,
        deadline: float | None = None,
        knee: float = gcd.gcd.knee,
        progress: Callable[[Record], None] | None = None,
    ) -> Attempt:
        """Return the first accepted attempt, with the records of all up to it; the same for any `n_jobs`.

        `truths` is (features, rows) in [0, 1], `y` 0 or 1, `share` sums to 1. At `deadline` (of `time.monotonic`), or
        when interrupted from the keyboard after at least one attempt, the best so far comes back, flagged.
        """
        self.check()
        truths, y, share = _checked(truths, y, share)
        settings = kernel.Settings(False, float(knee), self.weight_penalty_strength, float(self.loss_amplifier))  # noqa: FBT003
        shape = LAYOUTS[self.tree_layout](len(truths))
        problem = annealing.pose(truths, y, share, shape, settings, annealing.INSIDE)
        exact = annealing.pose(truths, y, share, shape, settings, 0.0)
        entropy = np.random.SeedSequence(seed).entropy
        board = _Board(deadline, progress)
        interrupted = False
        try:
            with (
                interruptible(),
                threadpool_limits(1, "blas"),
            ):  # small matrices: threads of its own would only be in the way
                Parallel(n_jobs=n_jobs, require="sharedmem", batch_size=1)(
                    delayed(self._take)(number, entropy, problem, exact, board)
                    for number in takewhile(board.open_for, range(self.attempts))
                )
        except KeyboardInterrupt:
            board.stopped = interrupted = True
            if board.best is None:
                raise
        return self._conclude(board, interrupted)

    def _conclude(self, board: _Board, interrupted: bool) -> Attempt:
        with board.lock:
            found, records = board.best, sorted(board.records)
        assert found is not None  # noqa: S101 - the first attempt always ends in a tree
        if found.accepted:
            records = [record for record in records if record.number <= found.number]
        late = not found.accepted and not interrupted and board.overdue()
        found = replace(found, interrupted=interrupted, timed_out=late, history=tuple(records))
        if found.accepted or interrupted or late:
            return found
        raise NotAccepted(
            f"no attempt of {self.attempts} reached an accuracy of {self.acceptance_threshold:g}, the best "
            f"{found.accuracy:.4f}; lower acceptance_threshold, allow more attempts or max_epochs, or take `.best`",
            found,
        )

    def _take(self, number: int, entropy: int, problem: Rows, exact: Rows, board: _Board) -> None:
        """Make one attempt and tell the board, unless an earlier one has been accepted meanwhile."""
        if board.beaten(number):
            return
        rng = np.random.default_rng(np.random.SeedSequence(entropy, spawn_key=(number,)))
        attempt = Run(self, problem, exact, rng).attempt(number, lambda: board.beaten(number) or board.overdue())
        if not board.beaten(number):
            board.add(attempt)


def _finish(problem: Problem, attempt: Attempt, leaves: list[Leaf]) -> Scored:
    """Return the attempt as a draft with its link fitted; refined, with learned criteria, where that helps."""
    gates = kernel.parts(attempt.parameters)
    criteria = (np.array(part) for part in list(zip(*leaves, strict=True))[1:])
    values = np.concatenate([*criteria, gates.weight, gates.andness, [STEEPNESS, THRESHOLD]])
    draft = Draft(attempt.shape, np.array([leaf.column for leaf in leaves]), values)
    found = [_linked(problem, draft)]
    if attempt.accuracy < 1.0 - 1e-12:
        free = replace(problem, penalty=problem.penalty * LENIENCE)
        found.append(_linked(problem, refine(free, found[0].draft, REFINEMENT)[1]))
    return max(found, key=lambda scored: _right(problem, scored.draft))


def _linked(problem: Problem, draft: Draft) -> Scored:
    """Return the draft with its link fitted, or turning at 1/2 as in the paper where that is more accurate."""
    loss, fitted = fit_link(problem, draft)
    half = fitted._replace(parameters=np.append(fitted.parameters[:-1], 0.5))
    return Scored(loss, half if _right(problem, half) > _right(problem, fitted) else fitted)


def _right(problem: Problem, draft: Draft) -> float:
    """Return the share of cases that a draft gets right."""
    return float(problem.share @ np.where(problem.truths(draft) > draft.parts.link[1], problem.y, 1.0 - problem.y))


_RANGES = {
    "acceptance_threshold": (0.0, 1.0),
    "freeze_loss_threshold": (0.0, math.inf),
    "lock_loss_tolerance": (-math.inf, math.inf),
    "loss_amplifier": (1e-9, 1e9),
    "weight_penalty_strength": (0.0, 1e9),
    "noise_increase": (1.0, 1e9),
    "noise_decrease": (0.0, 1.0),
    "min_noise": (0.0, 1e6),
    "max_noise": (0.0, 1e6),
    "temperature": (1e-6, 1e6),
    "temperature_decay": (1e-6, 1.0),
    "learning_rate": (1e-9, 1e3),
}


def _checked(truths: Floats, y: Floats, share: Floats) -> tuple[Floats, Floats, Floats]:
    truths, y, share = (np.ascontiguousarray(v, dtype=np.float64) for v in (truths, y, share))
    if truths.ndim != 2 or 0 in truths.shape or y.shape != truths.shape[1:] or share.shape != y.shape:
        raise ValueError(
            f"truths must be (features, rows), y and share (rows,), got {truths.shape}, {y.shape}, {share.shape}"
        )
    if not ((truths >= 0.0) & (truths <= 1.0)).all():
        raise ValueError("truths must be in [0, 1]; turn raw columns into truths by criteria first")
    if not np.isin(y, (0.0, 1.0)).all():
        raise ValueError("y must be 0 or 1")
    if not (share >= 0.0).all() or not math.isclose(share.sum(), 1.0, rel_tol=1e-6):
        raise ValueError(f"share must not be negative and must sum to 1, got a sum of {share.sum():g}")
    return truths, y, share
