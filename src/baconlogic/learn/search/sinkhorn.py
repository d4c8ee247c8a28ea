"""The paper's own search (Algorithm 1): learn a soft order of the features and the gates together, freeze, refine.

Features are shown as the paper wants them, one truth in [0, 1] each, already in its direction (`normalised`). An
attempt explores soft orders, freezes one and refines the gates on it (`Trainer`, `Attempt`); attempts run side by side
until one is accepted (`Sinkhorn.run`).
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from itertools import takewhile
from numbers import Integral, Real
from typing import NamedTuple

import numpy as np
from joblib import Parallel, delayed
from sklearn.base import BaseEstimator, clone
from threadpoolctl import threadpool_limits

from baconlogic.core import Floats, Ints, gcd
from baconlogic.kernel import loss as kernel
from baconlogic.kernel.compile import interruptible
from baconlogic.kernel.loops import KNOWN_BELOW
from baconlogic.kernel.sinkhorn import harden
from baconlogic.learn.search import draft as drafts
from baconlogic.learn.search import epochs as annealing
from baconlogic.learn.search.draft import Draft, Literal
from baconlogic.learn.search.epochs import Blocks, Phase, Schedule
from baconlogic.learn.search.problem import Found, Problem, Request
from baconlogic.learn.search.refine import agreeing, fit_link, refine

REFINEMENT = 150  # steps of descent after the second phase
LENIENCE = 0.1  # of the penalty meanwhile: the paper's loss has none on criteria and andness
SLOPE = 1.8  # of a leaf: spans 5% to 95% of truth between the same quantiles of a normal column
STEEP = 9.2  # of a column of two values, at -1 and 1: truths of 1e-4 and 1 - 1e-4
PATIENCE = 100  # epochs at full noise without progress before an attempt stops exploring
BETWEEN_FREEZES = 20  # epochs from an abandoned freeze to the next try
STRETCH = 10**7  # truths read between two looks at the clock: a small part of a second
ROUNDING = 1e-9  # shares that sum to 1 may add up to a little less
OVERDUE = "deadline"
WORDS: dict[str | int, str] = {
    annealing.GOING: "epochs spent",
    annealing.LOW_LOSS: "loss below the freeze threshold",
    annealing.VANISHING: "gradients vanished",
    annealing.EXPLODING: "gradients exploded",
    annealing.STALLED: "no further improvement",
}
LAYOUTS = {"left": kernel.left_chain, "balanced": kernel.balanced}


def normalised(problem: Problem) -> tuple[list[Literal], Floats]:
    """Return one leaf a feature, rising or falling as asked or as goes with the target, and truths (features, rows)."""
    leaves, truths = [], []
    for feature in dict.fromkeys(problem.features.tolist()):
        columns = np.flatnonzero(problem.features == feature)
        column, sign = agreeing(problem, columns.tolist())
        x = truth = problem.X[column]
        slope = 1.0
        if problem.learned[column]:
            missing = x >= KNOWN_BELOW
            crisp = np.isin(x[~missing], (-1.0, 1.0)).all()
            slope = sign * (STEEP if crisp else SLOPE)
            truth = sign * x > 0.0 if crisp else 1.0 / (1.0 + np.exp(np.clip(-slope * x, -700.0, 700.0)))
            truth = np.where(missing, 0.5, truth)
        leaves.append(Literal(column, slope, 0.0))
        truths.append(truth)
    return leaves, np.array(truths, dtype=float)


class Record(NamedTuple):
    """What one attempt reached."""

    number: int
    loss: float
    accuracy: float
    epochs: int
    frozen_at: int
    abandoned: int
    ended: str


@dataclass(frozen=True, eq=False)
class Attempt:
    """One attempt, complete: which feature each leaf reads, the gates, what they reach and how it went."""

    number: int
    order: Ints  # (features,): the feature that each leaf reads
    shape: kernel.Topology
    parameters: Floats  # kernel vector, weights and andness in natural units; the rest is 0
    loss: float  # amplified, with the penalty
    accuracy: float  # weighted, of reading a truth of 1/2 and more as 1
    epochs: int
    frozen_at: int  # epochs before the order was frozen
    abandoned: int  # freezes that were tried and cost more than lock_loss_tolerance
    ended: str  # why exploring and refining ended
    trace: Floats  # (3, epochs): loss, noise, temperature
    accepted: bool = False
    interrupted: bool = False  # the search was, by the keyboard
    timed_out: bool = False  # the search was, by its deadline
    history: tuple[Record, ...] = ()  # of the search, up to the attempt accepted

    @property
    def record(self) -> Record:
        """The attempt in short."""
        return Record(*(getattr(self, name) for name in Record._fields))


class Trainer:
    """Makes one attempt of a search: `blocks` to explore; `exact`, with the truths as given, to refine and measure."""

    def __init__(self, search: Sinkhorn, blocks: Blocks, exact: Blocks, rng: np.random.Generator) -> None:
        self.search, self.blocks, self.exact, self.rng = search, blocks, exact, rng
        amplifier = blocks.settings.amplifier
        self.tolerance = search.lock_loss_tolerance * amplifier
        self.schedule = Schedule(
            float(search.temperature), int(search.decay_every), float(search.temperature_decay),
            float(search.noise_increase), float(search.noise_decrease), float(search.min_noise),
            float(search.max_noise), PATIENCE, search.freeze_loss_threshold * amplifier,
        )  # fmt: skip
        self.state = annealing.begin(blocks, self.schedule, search.iterations, search.max_epochs, rng)
        count, self.features, block = blocks.truths.shape
        self.stretch = min(max(STRETCH // (count * self.features * block), 1), 200)
        self.order = np.arange(self.features)
        self.epochs = self.abandoned = self.freeze_from = 0

    def train(self, blocks: Blocks, phase: Phase, last: int, late: Callable[[], bool]) -> str | int:
        """Go on to epoch `last` in stretches; return why it ended."""
        why: str | int = annealing.GOING
        while why == annealing.GOING and self.epochs < last:
            if late():
                return OVERDUE
            stop = min(self.epochs + self.stretch, last)
            self.epochs, why = annealing.train(blocks, self.schedule, phase, self.state, self.rng, self.epochs, stop)
        return why

    def hard_loss(self, order: Ints, blocks: Blocks) -> float:
        """Return the loss of the present gates on a hard order."""
        annealing.to_parameters(self.state.free, blocks.shape, self.state.parameters)
        return annealing.loss_of(blocks, order, False, self.state, np.empty((self.features,) * 2))  # noqa: FBT003

    def accuracy(self) -> float:
        """Return the share of rows that the tree gets right, worked out as a tree does, where 0 and 1 are exact."""
        shape, rule, right = self.exact.shape, gcd.Aggregator("", self.exact.settings.knee), 0.0
        p = kernel.parts(self.state.parameters, shape)
        gates = list(zip(shape.gates, shape.by_gate(p.weight), p.andness, strict=True))
        for block, y, share in zip(self.exact.truths, self.exact.y, self.exact.share, strict=True):
            nodes = list(block[self.order])
            for inputs, weights, andness in gates:
                nodes.append(rule([nodes[k] for k in inputs], weights, andness))
            right += float(share @ ((nodes[-1] >= 0.5) == (y >= 0.5)))
        return right

    def explore(self, late: Callable[[], bool]) -> str | int:
        """Phase one: until a freeze holds, or the epochs of exploring end; sets the order."""
        logits = self.state.free[2 * (self.features - 1) :].reshape(self.features, self.features)
        while True:
            phase = Phase(self.order, True, self.search.learning_rate, 0, self.freeze_from)  # noqa: FBT003
            why = self.train(self.blocks, phase, self.search.max_epochs // 2, late)
            order = harden(logits)
            soft = self.state.trace[annealing.LOSS, self.epochs - 1]
            if why != annealing.LOW_LOSS or self.hard_loss(order, self.blocks) - soft <= self.tolerance:
                self.order = order
                return why
            self.abandoned += 1
            self.freeze_from = self.epochs + BETWEEN_FREEZES

    def refine(self, late: Callable[[], bool]) -> str | int:
        """Phase two: the gates alone; ends with those of the best epoch."""
        gates = self.state.best.size
        self.state.moments[:] = 0.0
        self.state.dials[annealing.NOISE] = 0.0
        self.state.best[:] = self.state.free[:gates]
        phase = Phase(self.order, False, self.search.learning_rate / 2.0, self.epochs)  # noqa: FBT003
        why = self.train(self.exact, phase, self.search.max_epochs, late)
        self.state.free[:gates] = self.state.best
        return why

    def attempt(self, number: int, late: Callable[[], bool]) -> Attempt:
        """Run both phases and measure. A gradient that vanished or exploded, or a deadline, leaves no second phase."""
        first = self.explore(late) if self.features > 1 and not self.search.is_frozen else "order given"
        frozen_at = self.epochs
        ends = self.features == 1 or first in (annealing.VANISHING, annealing.EXPLODING, OVERDUE)
        then = "not refined" if ends else self.refine(late)
        loss = self.hard_loss(self.order, self.exact)
        accuracy = self.accuracy()
        return Attempt(
            number, self.order, self.blocks.shape, self.state.parameters, loss, accuracy, self.epochs, frozen_at,
            self.abandoned, f"frozen: {WORDS.get(first, first)}; ended: {WORDS.get(then, then)}",
            self.state.trace[:, : self.epochs].copy(), accepted=accuracy >= self.search.acceptance_threshold - ROUNDING,
        )  # fmt: skip


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

    @property
    def saves_to(self) -> str | None:
        """Where the classifier saves what `fit` ends with."""
        return self.save_path if self.save_model else None

    def find(self, problem: Problem, request: Request) -> Found:
        """Search on the features' normalised truths; learned criteria are refined afterwards, with the gates."""
        problem, search = problem.crisp(), self
        leaves, truths = normalised(problem)
        if request.start is not None:  # an order asserted by the expert
            place = {leaf.column: i for i, leaf in enumerate(leaves)}
            rows = [place[int(column)] for column in request.start.columns]
            leaves, truths = [leaves[i] for i in rows], truths[rows]
            search = clone(self).set_params(is_frozen=True)
        attempt = search.run(
            truths, problem.y, problem.share, seed=request.seed, n_jobs=request.jobs, deadline=request.deadline,
            knee=problem.knee,
        )  # fmt: skip
        draft = _finish(problem, attempt, [leaves[i] for i in attempt.order])
        ended = "interrupted" if attempt.interrupted else "time was up" if attempt.timed_out else "accepted"
        ended = f"attempt {attempt.number + 1} {ended}"
        return Found({draft.leaves: draft}, ended, attempt.interrupted, records=attempt.history)

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
    ) -> Attempt:
        """Return the first accepted attempt, with the records of all up to it; the same for any `n_jobs`.

        `truths` is (features, rows) in [0, 1], `y` 0 or 1, `share` sums to 1. At `deadline` (of `time.monotonic`), or
        when interrupted from the keyboard after at least one attempt, the best so far comes back, flagged.
        """
        self.check()
        truths, y, share = _checked(truths, y, share)
        settings = kernel.Settings(False, float(knee), self.weight_penalty_strength, float(self.loss_amplifier))  # noqa: FBT003
        shape = LAYOUTS[self.tree_layout](len(truths))
        blocks = annealing.pose(truths, y, share, shape, settings, annealing.INSIDE)
        exact = annealing.pose(truths, y, share, shape, settings, 0.0)
        entropy = np.random.SeedSequence(seed).entropy
        board = _Board(deadline)
        interrupted = False
        try:
            with interruptible(), threadpool_limits(1, "blas"):  # small matrices: its threads would be in the way
                Parallel(n_jobs=n_jobs, require="sharedmem", batch_size=1)(
                    delayed(self._take)(number, entropy, blocks, exact, board)
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

    def _take(self, number: int, entropy: int, blocks: Blocks, exact: Blocks, board: _Board) -> None:
        """Make one attempt and tell the board, unless an earlier one has been accepted meanwhile."""
        if board.beaten(number):
            return
        rng = np.random.default_rng(np.random.SeedSequence(entropy, spawn_key=(number,)))
        attempt = Trainer(self, blocks, exact, rng).attempt(number, lambda: board.beaten(number) or board.overdue())
        if not board.beaten(number):
            board.add(attempt)


def _finish(problem: Problem, attempt: Attempt, leaves: list[Literal]) -> Draft:
    """Return the attempt as a draft with its link fitted; refined, with learned criteria, where that helps."""
    gates = kernel.parts(attempt.parameters, attempt.shape)
    found = [_linked(problem, drafts.join(attempt.shape, leaves, gates.weight, gates.andness))]
    if attempt.accuracy < 1.0 - 1e-12:
        lenient = replace(problem, penalty=problem.penalty * LENIENCE)
        found.append(_linked(problem, refine(lenient, found[0], REFINEMENT)))
    return max(found, key=lambda draft: _right(problem, draft))


def _linked(problem: Problem, draft: Draft) -> Draft:
    """Return the draft with its link fitted, or turning at 1/2 as in the paper where that is more accurate."""
    fitted = fit_link(problem, draft)
    half = fitted._replace(parameters=np.append(fitted.parameters[:-1], 0.5))
    return half if _right(problem, half) > _right(problem, fitted) else fitted


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
