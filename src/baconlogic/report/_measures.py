"""How well a tree does on rows: shares with Wilson's intervals, the area under the curve with DeLong's, calibration."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from baconlogic.core.words import number, percent
from baconlogic.learn.thresholds import Counts

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Bools = NDArray[np.bool_]

NORMAL = 1.959963984540054  # 97.5% of a normal distribution lies below
BINS = 10


def tenths(share: float) -> str:
    """Write a share in tenths of a percent; what is not quite 0% or 100% is not rounded to it."""
    text = f"{100.0 * share:.1f}%"
    return percent(share) if text in ("0.0%", "100.0%", "-0.0%") and share not in (0.0, 1.0) else text


class Share(NamedTuple):
    """A share with its 95% interval; `n` is what it is a share of, 0 where nothing was counted."""

    value: float
    low: float
    high: float
    k: float
    n: float

    @property
    def said(self) -> str:
        """The share in percent."""
        return tenths(self.value) if self.n else "-"

    @property
    def interval(self) -> str:
        """Its interval in percent."""
        return f"{tenths(self.low)} to {tenths(self.high)}" if self.n else "-"

    @property
    def of(self) -> str:
        """What was counted."""
        return f"{number(self.k)} of {number(self.n)}"


@dataclass(frozen=True)
class Figure:
    """One line of a table of results."""

    key: str
    name: str
    means: str
    said: str
    interval: str
    of: str
    value: float | None


def wilson(k: float, n: float) -> Share:
    """Return a share with Wilson's 95% interval, which holds up near 0 and 1 and for few rows."""
    if n <= 0.0:
        return Share(0.0, 0.0, 1.0, 0.0, 0.0)
    share, z2 = k / n, NORMAL**2
    middle = (share + z2 / (2.0 * n)) / (1.0 + z2 / n)
    reach = NORMAL * math.sqrt(share * (1.0 - share) / n + z2 / (4.0 * n * n)) / (1.0 + z2 / n)
    low = 0.0 if k <= 0.0 else middle - reach
    return Share(share, max(low, 0.0), 1.0 if k >= n else min(middle + reach, 1.0), k, n)


def counts_at(scores: Floats, positive: Floats, negative: Floats, cut: float) -> Counts:
    """Return right and wrong answers where a score above the cut means yes; rows may stand for several cases."""
    yes = scores > cut
    found = positive[yes].sum(), negative[yes].sum(), positive[~yes].sum(), negative[~yes].sum()
    return Counts(*(float(each) for each in found))


def shares(counts: Counts) -> dict[str, Share]:
    """Return the usual shares of right and wrong answers."""
    return {
        "accuracy": wilson(counts.hits + counts.passes, sum(counts)),
        "recall": wilson(counts.hits, counts.hits + counts.misses),
        "precision": wilson(counts.hits, counts.hits + counts.alarms),
        "specificity": wilson(counts.passes, counts.passes + counts.alarms),
    }


def meanings(yes: str) -> dict[str, str]:
    """Say what each share is a share of."""
    return {
        "accuracy": "of all rows, how many are decided rightly",
        "recall": f"of the rows that are {yes}, how many are called so (sensitivity)",
        "precision": f"of the rows called {yes}, how many are so",
        "specificity": f"of the rows that are not {yes}, how many are not called so",
    }


def figures(scores: Floats, positive: Floats, negative: Floats, cut: float, yes: str) -> list[Figure]:
    """Return the shares at a cut, and the area under the curve, as lines of a table."""
    found = shares(counts_at(scores, positive, negative, cut))
    said = meanings(yes)
    lines = [
        Figure(key, key.capitalize(), said[key], each.said, each.interval, each.of, each.value if each.n else None)
        for key, each in found.items()
    ]
    area = auc(scores, positive, negative)
    if area is not None:
        means = f"how often a row that is {yes} gets a higher truth than one that is not (AUC)"
        interval = f"{area[1]:.3f} to {area[2]:.3f}"
        lines.append(Figure("auc", "Ranking", means, f"{area[0]:.3f}", interval, "", area[0]))
    return lines


def auc(scores: Floats, positive: Floats, negative: Floats) -> tuple[float, float, float] | None:
    """Return the area under the ROC curve with DeLong's 95% interval; None where one class is not there.

    Where no pair is in the wrong order DeLong's interval has no width: Wilson's for the rarer class stands in.
    """
    cases, others = float(positive.sum()), float(negative.sum())
    if cases <= 1.0 or others <= 1.0:
        return None
    marks, place = np.unique(scores, return_inverse=True)
    yes, no = (np.bincount(place, weight, len(marks)) for weight in (positive, negative))
    below = (np.cumsum(no) - no / 2.0) / others  # of the other class, how many lie below each mark
    above = 1.0 - (np.cumsum(yes) - yes / 2.0) / cases
    area = float(yes @ below / cases)
    spread = float(yes @ (below - area) ** 2) / (cases - 1.0) / cases
    spread += float(no @ (above - area) ** 2) / (others - 1.0) / others
    if spread <= 0.0:
        fewest = min(cases, others)
        bound = wilson(area * fewest, fewest)
        return area, bound.low, bound.high
    reach = NORMAL * math.sqrt(spread)
    return area, max(area - reach, 0.0), min(area + reach, 1.0)


class Bin(NamedTuple):
    """Rows of about the same probability."""

    low: float
    high: float
    mean: float  # probability
    seen: Share  # how many of them are yes


def calibration(probability: Floats, positive: Bools) -> list[Bin]:
    """Return up to ten groups of about equally many rows, from the least to the most probable."""
    order = np.argsort(probability, kind="stable")
    sorted_ = probability[order]
    ends = np.linspace(0, len(order), min(BINS, max(len(order) // 10, 1)) + 1).round().astype(int)
    starts = np.unique(np.searchsorted(sorted_, sorted_[ends[:-1]]))  # equal probabilities stay together
    found = []
    for start, end in zip(starts, [*starts[1:], len(order)], strict=True):
        own = sorted_[start:end]
        seen = wilson(float(positive[order[start:end]].sum()), float(end - start))
        found.append(Bin(float(own[0]), float(own[-1]), float(own.mean()), seen))
    return found


def losses(probability: Floats, positive: Bools) -> dict[str, float]:
    """Return the Brier score and the log-loss, and what always answering the share of yes would have."""
    rate = float(positive.mean())

    def of(p: Any) -> tuple[float, float]:
        clipped = np.clip(np.broadcast_to(p, positive.shape), 1e-15, 1.0 - 1e-15)
        log = np.where(positive, np.log(clipped), np.log1p(-clipped))
        return float(np.mean((p - positive) ** 2)), float(-log.mean())

    (brier, loss), (base_brier, base_loss) = of(probability), of(rate)
    return {"brier": brier, "loss": loss, "base_brier": base_brier, "base_loss": base_loss}


def curve(truths: Floats, positive: Bools) -> tuple[Floats, Floats, Floats]:
    """Return each truth that occurs, increasing, and how many cases and others have a truth above it."""
    marks, place = np.unique(truths, return_inverse=True)
    yes, no = (np.bincount(place, weight, len(marks)) for weight in (positive, ~positive))
    return marks, yes.sum() - np.cumsum(yes), no.sum() - np.cumsum(no)
