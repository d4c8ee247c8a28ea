"""One attempt of Algorithm 1: explore soft orders, freeze, refine; and what is kept of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from baconlogic.core import gcd
from baconlogic.kernel import loss as kernel
from baconlogic.kernel.sinkhorn import harden
from baconlogic.learn.search import epochs as annealing
from baconlogic.learn.search.epochs import Problem, Schedule

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]

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


class Run:
    """An attempt of a `Sinkhorn`: `problem` to explore; `exact`, with the truths as given, to refine and measure."""

    def __init__(self, search: Any, problem: Problem, exact: Problem, rng: np.random.Generator) -> None:
        self.search, self.problem, self.exact, self.rng = search, problem, exact, rng
        amplifier = problem.settings.amplifier
        self.tolerance = search.lock_loss_tolerance * amplifier
        self.schedule = Schedule(
            float(search.temperature), int(search.decay_every), float(search.temperature_decay),
            float(search.noise_increase), float(search.noise_decrease), float(search.min_noise),
            float(search.max_noise), PATIENCE, search.freeze_loss_threshold * amplifier,
        )  # fmt: skip
        self.state = annealing.begin(problem, self.schedule, search.iterations, search.max_epochs, rng)
        blocks, self.features, block = problem.truths.shape
        self.stretch = min(max(STRETCH // (blocks * self.features * block), 1), 200)
        self.order = np.arange(self.features)
        self.epochs = self.abandoned = self.freeze_from = 0

    def _train(
        self, problem: Problem, soft: bool, rate: float, phase: int, last: int, late: Callable[[], bool]
    ) -> str | int:
        """Go on to epoch `last` in stretches; return why it ended."""
        why: str | int = annealing.GOING
        while why == annealing.GOING and self.epochs < last:
            if late():
                return OVERDUE
            stop = min(self.epochs + self.stretch, last)
            self.epochs, why = annealing.train(
                problem, self.schedule, self.state, self.order, soft, rate, self.rng, phase, self.epochs, stop,
                self.freeze_from,
            )  # fmt: skip
        return why

    def hard_loss(self, order: Ints, problem: Problem) -> float:
        """Return the loss of the present gates on a hard order."""
        annealing.to_parameters(self.state.free, self.state.parameters)
        back = np.empty((self.features, self.features))
        return annealing.loss_of(problem, order, False, self.state, back)  # noqa: FBT003

    def accuracy(self) -> float:
        """Return the share of rows that the tree gets right, worked out as a tree does, where 0 and 1 are exact."""
        p, rule, right = kernel.parts(self.state.parameters), gcd.Aggregator("", self.exact.settings.knee), 0.0
        for block, y, share in zip(self.exact.truths, self.exact.y, self.exact.share, strict=True):
            nodes = list(block[self.order])
            for left, right_one, weight, andness in zip(*self.exact.shape, p.weight, p.andness, strict=True):
                nodes.append(rule([nodes[left], nodes[right_one]], [weight, 1.0 - weight], andness))
            right += float(share @ ((nodes[-1] >= 0.5) == (y >= 0.5)))
        return right

    def explore(self, late: Callable[[], bool]) -> str | int:
        """Phase one: until a freeze holds, or the epochs of exploring end; sets the order."""
        logits = self.state.free[2 * (self.features - 1) :].reshape(self.features, self.features)
        while True:
            why = self._train(self.problem, True, self.search.learning_rate, 0, self.search.max_epochs // 2, late)  # noqa: FBT003
            order = harden(logits)
            if why != annealing.LOW_LOSS:
                break
            soft = self.state.trace[annealing.LOSS, self.epochs - 1]
            if self.hard_loss(order, self.problem) - soft <= self.tolerance:
                break
            self.abandoned += 1
            self.freeze_from = self.epochs + BETWEEN_FREEZES
        self.order = order
        return why

    def refine(self, late: Callable[[], bool]) -> str | int:
        """Phase two: the gates alone; ends with those of the best epoch."""
        gates = self.state.best.size
        self.state.moments[:] = 0.0
        self.state.dials[annealing.NOISE] = 0.0
        self.state.best[:] = self.state.free[:gates]
        why = self._train(self.exact, False, self.search.learning_rate / 2.0, self.epochs, self.search.max_epochs, late)  # noqa: FBT003
        self.state.free[:gates] = self.state.best
        return why

    def attempt(self, number: int, late: Callable[[], bool]) -> Attempt:
        """Run both phases and measure. A gradient that vanished or exploded, or a deadline, leaves no second phase."""
        first: str | int = "order given"
        then: str | int = "not refined"
        if self.features > 1 and not self.search.is_frozen:
            first = self.explore(late)
        frozen_at = self.epochs
        if self.features > 1 and first not in (annealing.VANISHING, annealing.EXPLODING, OVERDUE):
            then = self.refine(late)
        loss = self.hard_loss(self.order, self.exact)
        accuracy = self.accuracy()
        return Attempt(
            number, self.order, self.problem.shape, self.state.parameters, loss, accuracy, self.epochs, frozen_at,
            self.abandoned, f"frozen: {WORDS.get(first, first)}; ended: {WORDS.get(then, then)}",
            self.state.trace[:, : self.epochs].copy(), accepted=accuracy >= self.search.acceptance_threshold - ROUNDING,
        )  # fmt: skip
