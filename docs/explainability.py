"""Yardsticks for `explainability.md`: Shapley values and minimal reasons by trying every set; a picture of one case.

Both try all 2^k sets, so they are exact and only for trees with few features. `explain.reasons` needs no such search.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from math import factorial
from typing import TYPE_CHECKING, Any

import numpy as np

from baconlogic import explain
from baconlogic.core.subject import subject
from baconlogic.plot import _style as style

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Sets = dict[frozenset[str], bool]

MOST = 12  # features, of which all sets are tried


def shapley(f: Callable[[Floats], Floats], row: Floats, background: Floats) -> Floats:
    """Return the exact Shapley values of a row: f is asked about every set of its values, the others from background.

    phi_j = sum over sets S without j of |S|! (k - |S| - 1)! / k! (v(S and j) - v(S)), where v(S) is the mean of f over
    the rows of the background with the values in S put in.
    """
    k = len(row)
    if k > MOST:
        raise ValueError(f"expected at most {MOST} features, got {k}; 2^{k} sets are too many to try")
    sets = (np.arange(2**k)[:, None] >> np.arange(k)) & 1 == 1
    asked = np.where(sets[:, None, :], row, background[None, :, :])
    value = f(asked.reshape(-1, k)).reshape(len(sets), len(background)).mean(axis=1)
    share = np.array([factorial(s) * factorial(k - s - 1) / factorial(k) for s in range(k)])
    found = np.empty(k)
    for j in range(k):
        without = np.flatnonzero(~sets[:, j])
        found[j] = share[sets[without].sum(axis=1)] @ (value[without + 2**j] - value[without])
    return found


def fixing(model: Any, row: Mapping[str, Any]) -> Sets:
    """Return for every set of features whether their values alone fix the decision, whatever the others are."""
    about = subject(model)
    case = about.case(row).values
    if len(case) > MOST:
        raise ValueError(f"expected at most {MOST} features, got {len(case)}; there are too many sets to try")
    sets = [frozenset(some) for size in range(len(case) + 1) for some in combinations(case, size)]
    low, high = about.tree.bounds(
        {name: [value if name in some else None for some in sets] for name, value in case.items()}
    )
    yes = low[-1] > about.threshold
    stands = low > about.threshold if yes else high <= about.threshold
    return dict(zip(sets, stands.tolist(), strict=True))


def minimal(fixes: Sets) -> list[frozenset[str]]:
    """Return the sets that fix a decision and of which nothing can be left out, smallest first."""
    return [some for some, stands in fixes.items() if stands and not any(fixes[some - {name}] for name in some)]


@dataclass(frozen=True)
class Case:
    """A case whose true answers are known: which values fix its decision."""

    features: tuple[str, ...]
    yes: bool
    fixes: Sets  # of every set of features, whether it fixes the decision
    shown: frozenset[str]  # what explain.reasons says

    @property
    def smallest(self) -> int:
        """How many values fix the decision at least."""
        return len(minimal(self.fixes)[0])

    def first(self, told: Floats) -> str:
        """Return the feature that an attribution puts first."""
        return self.features[int(np.abs(told).argmax())]

    def beside_the_point(self, told: Floats) -> bool:
        """Whether the feature put first is in none of the minimal reasons."""
        return not any(self.first(told) in reason for reason in minimal(self.fixes))

    def needed(self, told: Floats) -> int:
        """Return how many values fix the decision when taken in the order in which they are told to speak for it."""
        best = np.argsort(-told if self.yes else told, kind="stable")
        order = [self.features[j] for j in best]
        return next(size for size in range(len(order) + 1) if self.fixes[frozenset(order[:size])])


def case(model: Any, row: Mapping[str, Any]) -> Case:
    """Return a case with its true answers."""
    about, fixes, said = subject(model), fixing(model, row), explain.reasons(model, row)
    shown = frozenset(fact.feature for fact in said.sufficient)
    return Case(about.tree.features, said.decision == about.yes, fixes, shown)


def judged(told: Floats, exact: Floats, cases: Sequence[Case]) -> list[str]:
    """Return how attributions, a row a case, stand to the exact values and to the reasons: one line of a table."""
    each = list(zip(told, exact, cases, strict=True))
    other = sum(one.first(a) != one.first(b) for a, b, one in each)
    signs = sum(bool((a * b < 0.0).any()) for a, b, _ in each)
    beside = sum(one.beside_the_point(a) for a, _, one in each)
    missed = sum(one.needed(a) > one.smallest for a, _, one in each)
    needed = np.mean([one.needed(a) for a, _, one in each])
    return [str(other), str(signs), str(beside), str(missed), f"{needed:.1f}"]


def draw(one: Case, exact: Floats, sampled: Floats, runs: Floats, *, yes: str = "yes", ax: Axes | None = None) -> Axes:
    """Draw what is told about one case: exact Shapley values, SHAP's estimates, LIME's runs; proved reasons marked."""
    ax = style.axes_of(ax, (7.0, 3.2))
    place = np.arange(len(one.features))[::-1]
    ax.barh(place, exact, height=0.55, color=style.SKY, label="exact Shapley value")
    ax.plot(sampled, place, "|", color=style.BLACK, markersize=14, markeredgewidth=2, label="SHAP, sampled")
    for i, told in enumerate(runs):
        label = f"LIME, {len(runs)} seeds" if i == 0 else None
        ax.plot(told, place - 0.38, "o", color=style.VERMILLION, markersize=3.5, alpha=0.6, label=label)
    ax.axvline(0.0, color=style.GREY, linewidth=0.8)
    ax.set_yticks(place, [f"{name} (reason)" if name in one.shown else name for name in one.features])
    for name, text in zip(one.features, ax.get_yticklabels(), strict=True):
        text.set_fontweight("bold" if name in one.shown else "normal")
    ax.set_xlabel(f"speaks against {yes}  ←  added to the truth  →  speaks for {yes}")
    ax.legend(fontsize=style.SMALL, frameon=False, loc="best")
    return ax
