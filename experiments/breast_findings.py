"""What the breast cancer experiment finds, as plain data: explanations, scenarios, rivals, columns that go together."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from baconlogic.core.results import Listing, Result
from baconlogic.learn import thresholds
from baconlogic.metrics import Confusion
from experiments.breast_fits import Fold, Rival, Run
from experiments.result import Interval
from experiments.validation import interval

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from baconlogic.core.decision import Decision

# Section 4.4: threshold, accuracy, precision, recall, all in sample.
PAPER_SCENARIOS = {
    "screening": (0.01, 0.6397, 0.5084, 1.0),
    "diagnosis": (0.46, 0.9877, 0.9952, 0.9717),
    "treatment planning": (0.63, 0.9842, 1.0, 0.9575),
}


@dataclass(frozen=True)
class Explanation(Result):
    """One run of the paper's search: the features that decide most, and its accuracy in sample."""

    top: tuple[str, ...]
    accuracy: float
    seconds: float


@dataclass(frozen=True)
class Explanations(Listing):
    """Several runs, how often a feature is among the first five, and how far they decide alike."""

    rows: tuple[Explanation, ...]
    frequency: tuple[tuple[str, int], ...]
    least_alike: float  # share of rows that the two most different runs decide alike
    most_alike: float

    @property
    def mean(self) -> float:
        """The mean accuracy, in sample."""
        return float(np.mean([row.accuracy for row in self.rows]))

    @property
    def best(self) -> float:
        """The accuracy of the best run, in sample."""
        return max(row.accuracy for row in self.rows)


@dataclass(frozen=True)
class Scores(Result):
    """How a decision does."""

    accuracy: float
    precision: float
    recall: float


@dataclass(frozen=True)
class Turn(Result):
    """A scenario: where the decision turns and what that gives, in the paper, in sample and held out."""

    scenario: str
    aim: str
    paper_threshold: float
    paper: Scores
    threshold: float  # of the paper's search, in sample
    in_sample: Scores
    held_out: Scores  # of the library's default, over all parts
    accuracy: Interval  # held out
    recall: Interval  # held out


@dataclass(frozen=True)
class Comparison(Result):
    """A kind of decision tree: accuracy and size, means over the parts."""

    name: str
    in_sample: float
    held_out: Interval
    leaves: float


@dataclass(frozen=True)
class Pair(Result):
    """Two columns and their correlation."""

    first: str
    second: str
    correlation: float


def explanations(runs: Sequence[Run]) -> Explanations:
    """Return what several runs rest on."""
    counted = Counter(feature for run in runs for feature in run.top)
    alike = [float(np.mean(a.decided == b.decided)) for a, b in combinations(runs, 2)] or [1.0]
    rows = tuple(Explanation(run.top, run.accuracy, run.seconds) for run in runs)
    return Explanations(rows, tuple(counted.most_common()), min(alike), max(alike))


def turns(best: Decision, X: Any, y: ArrayLike, folds: Sequence[Fold], test_share: float) -> tuple[Turn, ...]:
    """Return the three scenarios: `best` in sample, as in the paper, and the folds on rows held out."""
    found = []
    for i, row in enumerate(thresholds.scenarios(best, X, y, in_sample=True).same_rows):
        threshold, *figures = PAPER_SCENARIOS[row.scenario]
        own = [fold.scenarios[i] for fold in folds]
        pooled = Confusion(*(sum(part) for part in zip(*own, strict=True)))
        found.append(
            Turn(
                row.scenario, row.aim, threshold, Scores(*figures), row.threshold,
                Scores(row.accuracy, row.precision, row.recall),
                Scores(float(pooled.accuracy), float(pooled.precision), float(pooled.recall)),
                interval([float(each.accuracy) for each in own], test_share),
                interval([float(each.recall) for each in own], test_share),
            )
        )  # fmt: skip
    return tuple(found)


def comparison(name: str, rivals: Sequence[Rival], test_share: float) -> Comparison:
    """Return how one kind of tree does over all parts."""
    held = interval([rival.held_out for rival in rivals], test_share)
    in_sample = float(np.mean([rival.in_sample for rival in rivals]))
    return Comparison(name, in_sample, held, float(np.mean([rival.leaves for rival in rivals])))


def correlated(X: NDArray[np.float64], names: Sequence[str]) -> tuple[Pair, ...]:
    """Return all pairs of columns, the closest first."""
    found = np.asarray(np.corrcoef(X, rowvar=False))
    pairs = [Pair(names[i], names[j], float(found[i, j])) for i, j in combinations(range(len(names)), 2)]
    return tuple(sorted(pairs, key=lambda pair: -abs(pair.correlation)))
