"""Where a decision should turn: for screening, for diagnosis, for treatment planning, or by what errors cost.

    scenarios(clf, X, y)               what each scenario really gives, on rows that did not choose its threshold
    clf.with_threshold("screening")    the decision that turns there; probabilities stay what they are

A threshold is chosen on scores of rows that the trees had not seen: those that `fit` held out. Scores are calibrated,
so those of different folds can be compared: score 0 is probability 0.5. Scikit-learn's own tools
(`TunedThresholdClassifierCV`, `FixedThresholdClassifier`) take a BaconClassifier too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from baconlogic import metrics
from baconlogic.core import Bools, Floats
from baconlogic.core.answers import Link, two_probabilities
from baconlogic.core.subject import Listing, Result, Subject, subject
from baconlogic.core.words import aligned, number
from baconlogic.learn.path import HeldOut
from baconlogic.metrics import Confusion, lower_bound

Keys = tuple[Floats, ...]

__all__ = ["SCENARIOS", "Scenario", "ScenarioRow", "ScenarioTable", "at_least", "costs", "scenarios"]

SETTLED = 0.01  # in-sample log-loss below which a rule explains every row, so that none need be held out


@dataclass(frozen=True)
class Scenario:
    """What a threshold is for. `keys` ranks cuts, the first key first: more is better; -inf is not allowed."""

    name: str
    aim: str
    keys: Callable[[Confusion, Floats], Keys]  # of the answers at each cut, and of the cuts
    promises: str = "accuracy"  # or precision, or recall: what its guarantee is about

    def pick(self, held: HeldOut) -> float:
        """Return the score at which to turn, judged by rows held out."""
        counts, cuts = _counted(held)
        keys = self.keys(counts, cuts)
        if not np.isfinite(keys[0]).any():
            cases = f"{number(held.positive.sum())} cases and {number(held.negative.sum())} others"
            raise ValueError(f"no threshold serves {self.name} ({self.aim}) on {cases}")
        return float(cuts[np.lexsort(tuple(np.round(key, 12) for key in reversed(keys)))[-1]])


SCREENING = Scenario("screening", "find every case", lambda n, _: (n.recall, n.accuracy), "recall")
DIAGNOSIS = Scenario("diagnosis", "be right most often", lambda n, cuts: (n.accuracy, -np.abs(cuts)))
TREATMENT = Scenario(
    "treatment planning", "be right whenever it says yes", lambda n, _: (n.precision, n.recall), "precision"
)
#: The three scenarios of the paper by name.
SCENARIOS = {each.name: each for each in (SCREENING, DIAGNOSIS, TREATMENT)}


def costs(alarm: float, miss: float) -> Scenario:
    """Return the scenario in which a false alarm and a missed case cost so much: the cheapest threshold is chosen."""
    if not (alarm >= 0.0 and miss >= 0.0 and 0.0 < alarm + miss < np.inf):
        raise ValueError(f"costs must not be negative, and not both 0, got {alarm!r} and {miss!r}")
    aim = f"a false alarm costs {number(alarm)}, a missed case {number(miss)}"

    def keys(n: Confusion, cuts: Floats) -> Keys:
        return -(alarm * n.false_positive + miss * n.false_negative), -np.abs(cuts)

    return Scenario("costs", aim, keys)


def at_least(*, recall: float, confidence: float = 0.95) -> Scenario:
    """Return the scenario that finds at least this share of cases, with confidence, and is right most often so.

    The bound is exact for rows like those held out: the cut is put at one of the cases, and the share of cases above
    the k-th lowest of n is Beta(n - k + 1, k) distributed, whatever the scores are. A row of sample_weight 2 counts as
    two rows; class_weight makes no case count as more.
    """
    for what, share in (("recall", recall), ("confidence", confidence)):
        if not (isinstance(share, Real) and 0.0 < share < 1.0):
            raise ValueError(f'{what} must be a share between 0 and 1, got {share!r}; "screening" finds every case')

    def keys(n: Confusion, cuts: Floats) -> Keys:
        enough = lower_bound(*n.shares["recall"], confidence) >= recall
        return np.where(enough, n.accuracy, -np.inf), -np.abs(cuts)

    aim = f"find at least {number(100.0 * recall)}% of cases, with {number(100.0 * confidence)}% confidence"
    return Scenario(f"recall {number(recall)}", aim, keys, "recall")


def scenario_of(given: Any) -> Scenario:
    """Return a scenario by its name, or as it is."""
    if isinstance(given, Scenario):
        return given
    if not isinstance(given, str) or given not in SCENARIOS:
        raise ValueError(f"unknown scenario {given!r}; use {', '.join(map(repr, SCENARIOS))}, a number, or costs(...)")
    return SCENARIOS[given]


def entry_of(clf: Any) -> Any:
    """Return the entry of its path that a classifier between two classes has taken."""
    entry = clf.path_.taken(clf.history_)
    if entry is None:
        raise ValueError("nothing was learned, so there is no threshold to choose")
    return entry


def cut_of(scenario: Scenario, entry: Any) -> float:
    """Return the score at which an entry of a path should turn; where a rule explains every row, its own 0."""
    if not entry.logic:
        raise ValueError("no logic was found that beats the base rate, so there is no threshold to choose")
    if entry.held is not None:
        return scenario.pick(entry.held)
    if entry.in_sample_loss < SETTLED:
        return 0.0
    raise ValueError(
        "fit held no rows out (too few of them, ended early, or a search that does not validate); choose the threshold "
        "by rows it has not seen: clf.with_threshold(..., X, y) or scenarios(clf.decision_, X, y)"
    )


def held_out(scores: Floats, positive: Bools) -> HeldOut:
    """Return scores of rows that each stand for one case."""
    return HeldOut(scores, positive.astype(float), (~positive).astype(float))


def _counted(held: HeldOut) -> tuple[Confusion, Floats]:
    """Return the answers at every cut that makes a difference, from always no to always yes, and the cuts."""
    if not (held.positive.any() and held.negative.any()):
        raise ValueError("a threshold is chosen between cases of both classes; only one is there")
    marks, counts = metrics.at_every_cut(held.scores, held.positive, held.negative)
    marks = np.r_[marks[0] - 2.0, marks, marks[-1] + 2.0]
    return Confusion(*(each[::-1] for each in counts)), ((marks[:-1] + marks[1:]) / 2.0)[::-1]


@dataclass(frozen=True)
class ScenarioRow(Result):
    """One scenario: where the decision turns, and how it does there, with exact 95% intervals."""

    scenario: str
    aim: str
    threshold: float  # of the truth
    probability: float | None  # at the threshold, where the tree has a link to it
    accuracy: float
    accuracy_low: float
    accuracy_high: float
    precision: float
    precision_low: float
    precision_high: float
    recall: float
    recall_low: float
    recall_high: float
    guarantee: str


@dataclass(frozen=True)
class ScenarioTable(Listing):
    """Scenarios. `rows`: on rows that did not choose the threshold; `same_rows`: on those that did."""

    rows: tuple[ScenarioRow, ...]
    same_rows: tuple[ScenarioRow, ...]
    cases: int  # rows that mean yes
    total: int  # rows
    measured: str  # on what

    def __str__(self) -> str:
        said = [f"Where to turn, judged by {self.total} rows, {self.cases} of them cases ({self.measured}):", ""]
        if self.rows:
            promises = [f"{row.scenario} ({row.aim}): {row.guarantee}" for row in self.rows]
            said += [_as_text(self.rows), "", *promises, ""]
        said += ["Where the rows that are scored also choose the threshold (flattering, for comparison):", ""]
        legend = (
            "precision: of those it says yes to, how many are cases; recall: of the cases, how many it says yes to."
        )
        return "\n".join([*said, _as_text(self.same_rows), "", legend])


def _as_text(rows: Sequence[ScenarioRow]) -> str:
    linked = any(row.probability is not None for row in rows)
    lines = [
        [
            row.scenario, f"{row.threshold:.3f}", *([f"{row.probability:.3f}"] if linked else []),
            *(
                f"{getattr(row, what):.4f} ({getattr(row, f'{what}_low'):.3f}-{getattr(row, f'{what}_high'):.3f})"
                for what in ("accuracy", "precision", "recall")
            ),
        ]
        for row in rows
    ]  # fmt: skip
    chance = ["probability"] if linked else []
    return aligned(["scenario", "truth", *chance, "accuracy", "precision", "recall"], lines)


class _Fold(NamedTuple):
    """Rows to be scored, and where each scenario turns there, chosen without them."""

    scores: Floats
    positive: Bools
    cuts: list[float]


def scenarios(
    model: Any,
    X: Any,
    y: ArrayLike,
    *,
    names: Sequence[Any] = tuple(SCENARIOS),
    cv: int = 5,
    in_sample: bool = False,
    random_state: int | None = 0,
) -> ScenarioTable:
    """Return what each scenario gives: threshold, accuracy, precision and recall with intervals, and a guarantee.

    A classifier is fitted again on all but one of `cv` parts of the rows; each part is scored by a tree, and at a
    threshold, that have not seen it. A Decision or a Tree is kept, and X must be rows that it has not seen: there, only
    the thresholds are chosen on the other parts. `in_sample` scores the rows that chose, as the paper does.
    `names` may hold names, `costs(...)` and `at_least(...)`.
    """
    chosen = [scenario_of(name) for name in ([names] if isinstance(names, str) else names)]
    if not chosen:
        raise ValueError(f"names holds no scenario; use {', '.join(map(repr, SCENARIOS))}")
    fitted = model
    if hasattr(model, "fit") and not hasattr(model, "decision_"):
        from sklearn.base import clone

        fitted = clone(model).fit(X, y)
    asked = _asked(fitted)
    link = _link(asked)
    if in_sample or not hasattr(model, "fit"):
        table = asked.table(X)
        scores, positive = link.score(asked.truths(table)), asked.positive(y, table.rows)
        folds = [] if in_sample else list(_parts(scores, positive, chosen, cv, random_state))
        measured = "in sample: the tree has seen them" if in_sample else f"{cv} parts, the tree as it is"
    else:
        folds = list(_refits(model, X, y, chosen, cv, random_state))
        scores, positive = (np.concatenate([fold[i] for fold in folds]) for i in (0, 1))
        measured = f"each by a tree that has not seen it, {cv} parts"
    everything = held_out(scores, positive)
    same = [each.pick(everything) for each in chosen]
    own = [cut_of(each, entry_of(fitted)) for each in chosen] if hasattr(fitted, "path_") and folds else same
    whole = [_Fold(scores, positive, same)]
    return ScenarioTable(
        tuple(_row(each, own[i], asked, _at(folds, i)) for i, each in enumerate(chosen) if folds),
        tuple(_row(each, same[i], asked, _at(whole, i)) for i, each in enumerate(chosen)),
        int(positive.sum()), len(positive), measured,
    )  # fmt: skip


def _asked(model: Any) -> Subject:
    classes = getattr(getattr(model, "decision_", model), "classes", (False, True))
    if len(classes) != 2:
        raise ValueError(f"a threshold turns a decision between two classes; here are {len(classes)}")
    return subject(model)


def _link(asked: Subject) -> Link:
    """Return how truths are scored: a tree alone says nothing of probability, but its truths can be ranked."""
    return asked.link or Link(1.0, asked.threshold)


def _parts(scores: Floats, positive: Bools, chosen: Sequence[Scenario], cv: int, seed: Any) -> Iterator[_Fold]:
    from sklearn.model_selection import StratifiedKFold

    for kept, held in StratifiedKFold(cv, shuffle=True, random_state=seed).split(scores, positive):
        rest = held_out(scores[kept], positive[kept])
        yield _Fold(scores[held], positive[held], [each.pick(rest) for each in chosen])


def _refits(model: Any, X: Any, y: ArrayLike, chosen: Sequence[Scenario], cv: int, seed: Any) -> Iterator[_Fold]:
    from sklearn.base import clone
    from sklearn.model_selection import StratifiedKFold
    from sklearn.utils import _safe_indexing

    labels = np.asarray(y)
    for kept, held in StratifiedKFold(cv, shuffle=True, random_state=seed).split(np.empty(len(labels)), labels):
        clf = clone(model).fit(_safe_indexing(X, kept), labels[kept])
        asked = subject(clf)
        table = asked.table(_safe_indexing(X, held))
        scores = _link(asked).score(asked.truths(table))
        cuts = [cut_of(each, entry_of(clf)) if clf.history_.logic else 0.0 for each in chosen]  # else its one answer
        yield _Fold(scores, asked.positive(labels[held], table.rows), cuts)


def _at(folds: Sequence[_Fold], scenario: int) -> Confusion:
    """Return the answers over all folds."""
    yes = np.concatenate([fold.scores > fold.cuts[scenario] for fold in folds])
    return metrics.confusion(yes, np.concatenate([fold.positive for fold in folds]))


def _row(scenario: Scenario, cut: float, asked: Subject, counts: Confusion) -> ScenarioRow:
    figures: dict[str, float] = {}
    for what in ("accuracy", "precision", "recall"):
        found = metrics.share(*counts.shares[what])
        figures |= {what: found.value, f"{what}_low": found.low, f"{what}_high": found.high}
    k, n = counts.shares[scenario.promises]
    bound = f"{np.floor(float(lower_bound(k, n)) * 1000.0) / 1000.0:.3f}"  # rounded up, it would promise too much
    guarantee = f"{scenario.promises} at least {bound} with 95% confidence on data like this ({k} of {n})"
    if not n:
        guarantee = "it never says yes on these rows, so nothing can be promised"
    link = _link(asked)
    threshold = link.threshold + cut / link.steepness
    probability = None if asked.link is None else float(two_probabilities(np.array([cut]))[0, 1])
    return ScenarioRow(scenario.name, scenario.aim, threshold, probability, **figures, guarantee=guarantee)
