"""Other trees that fit about as well: where features say nearly the same, there is more than one explanation.

The paper lists ten (Appendix F). Here they are found by forbidding what earlier trees rest on, scored on the same rows
held out, and chosen to differ.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from baconlogic.core import evaluate as evaluation
from baconlogic.core.checks import LABEL, ParameterError
from baconlogic.core.columns import Columns
from baconlogic.core.forms import Form, form_of
from baconlogic.core.subject import Listing, Result
from baconlogic.core.tree import Tree
from baconlogic.core.words import aligned, listed, one_line
from baconlogic.learn.thresholds import SETTLED

if TYPE_CHECKING:
    from baconlogic.learn.path import PathEntry

    Features = frozenset[str]

BRANCHES = 3  # of the features of a tree found without others, as many are forbidden next
BATCH = 3  # fits side by side
CHOICE = 2  # good trees for each that is asked for, to choose different ones from
MOST_TRIES = 3  # fits for each tree asked for, at most


@dataclass(frozen=True)
class Alternative(Result):
    """One explanation: its features, most important first, and how trees found so do on rows held out."""

    features: tuple[str, ...]
    leaves: int
    accuracy: float
    loss: float
    threshold: float
    tree: Tree

    @property
    def form(self) -> Form:
        """The form in which it is told: a checklist, a scorecard, rules, or graded."""
        return form_of(self.tree, self.threshold)


@dataclass(frozen=True)
class Alternatives(Listing):
    """Several trees, the best first. `agreement[i][j]`: the share of rows that trees i and j decide alike."""

    rows: tuple[Alternative, ...]
    asked: int
    tolerance: float
    agreement: tuple[tuple[float, ...], ...]
    frequency: tuple[tuple[str, int], ...]  # (feature, how many trees use it)

    def __str__(self) -> str:
        lines = [
            [str(i), f"{row.accuracy:.4f}", _shown(row.loss), row.form, str(row.leaves), f"  {', '.join(row.features)}"]
            for i, row in enumerate(self.rows, 1)
        ]
        header = ["tree", "accuracy", "log-loss", "form", "leaves", "  features, most important first"]
        trees = f"{len(self.rows)} tree{'' if len(self.rows) == 1 else 's'}"
        opening = f"{trees} within {self.tolerance:g} of the best accuracy on rows held out:"
        said = [opening, "", aligned(header, lines, left=(0, 3, 5)), ""]
        if len(self.rows) < self.asked:
            said.append(f"No more were found ({self.asked} were asked for): what else was tried does worse.")
        if any(math.isnan(row.loss) for row in self.rows):
            said.append("A log-loss of - is that of a rule that explains every row, so that none was held out.")
        often = [f"{one_line(feature)} ({count})" for feature, count in self.frequency]
        said.append(f"How many of them use a feature: {listed(often, 'and')}.")
        pairs = [share for i, line in enumerate(self.agreement) for share in line[:i]]
        if pairs:
            shares = list(dict.fromkeys(f"{share:.1%}" for share in (min(pairs), max(pairs))))
            said.append(f"Two of them decide alike on {' to '.join(shares)} of the rows.")
        return "\n".join(said)


def _shown(loss: float) -> str:
    return "-" if math.isnan(loss) else f"{loss:.4f}"


def alternatives(
    clf: Any,
    X: Any,
    y: ArrayLike,
    n: int = 10,
    *,
    tolerance: float = 0.01,
    label: Any = None,
    n_jobs: int | None = None,
) -> Alternatives:
    """Return up to n trees with different sets of features, within `tolerance` of the best held-out accuracy.

    `clf` says how to learn; it need not be fitted. Scores are those of the rows that each fit holds out, the same for
    all; the best of many is a little flattering. Of more than two classes, `label` is explained.
    """
    if not isinstance(n, Integral) or n < 1:
        raise ValueError(f"n must be a whole number, 1 or more, got {n!r}")
    if not tolerance >= 0.0:
        raise ValueError(f"tolerance must not be negative, got {tolerance!r}")
    if not hasattr(clf, "forbidden"):
        raise TypeError(f"alternatives are learned: expected a BaconClassifier, got {type(clf).__name__}")
    stated = [name for name in ("order", "init") if getattr(clf, name) is not None]
    if stated:
        raise ValueError(f"{stated[0]}= says which tree to learn, so there are no alternatives; leave it out")
    clf, labels = _one_class(_seeded(clf), np.asarray(y), label)
    found = _find(clf, X, labels, n, tolerance, n_jobs)
    if not found:
        raise ValueError(
            "no logic was found that beats the base rate on rows held out, so there is nothing to choose from; "
            "too few rows, or a search that holds none out, give none either"
        )
    return _told(_diverse(_near(found, tolerance), n), X, n, tolerance)


def _seeded(clf: Any) -> Any:
    """Return an unfitted copy whose fits all hold out the same rows, also where no seed is given."""
    from sklearn.base import clone

    copy = clone(clf)
    if copy.random_state is None:
        copy.set_params(random_state=int(np.random.default_rng().integers(2**31 - 1)))
    return copy


def _one_class(clf: Any, y: NDArray[Any], label: Any) -> tuple[Any, NDArray[Any]]:
    """Return the classifier and y; where a label is given, of whether y is that."""
    known = np.unique(y).tolist()
    if len(known) <= 2 and label is None:
        return clf, y
    if label not in known:
        raise ParameterError("there is a tree for each class; give ", LABEL, f", one of {', '.join(map(repr, known))}")
    if isinstance(clf.class_weight, Mapping):
        if len(known) > 2:
            said = " is explained against all others; use 'balanced'"
            raise ParameterError("class_weight weighs classes, but ", LABEL, said)
        clf.set_params(class_weight={name == label: weight for name, weight in clf.class_weight.items()})
    return clf, np.asarray(y == label)


def _find(clf: Any, X: Any, y: NDArray[Any], n: int, tolerance: float, n_jobs: int | None) -> dict[Features, PathEntry]:
    """Return the best tree for each set of features, from fits that may not use what earlier trees rest on."""
    found: dict[Features, PathEntry] = {}
    waiting: list[Features] = [frozenset()]
    seen, fits, useful = {frozenset[str]()}, 0, 0
    while waiting and fits < MOST_TRIES * n and (useful <= n / 2 or len(_near(found, tolerance)) < CHOICE * n):
        waiting.sort(key=lambda forbidden: -_use(forbidden, found, tolerance))
        batch, waiting = waiting[:BATCH], waiting[BATCH:]
        for forbidden, path in zip(batch, _paths(clf, X, y, batch, n_jobs), strict=True):
            fits += 1
            entries = [entry for entry in path if entry.logic and _score(entry) > 0.0]
            for entry in entries:  # several forms and sizes may use the same features
                features = frozenset(entry.tree.features)
                if features not in found or _score(entry) > _score(found[features]):
                    found[features] = entry
            if not entries:
                continue
            useful += not _near(found, tolerance).keys().isdisjoint(frozenset(entry.tree.features) for entry in entries)
            best = min(entries, key=lambda entry: (entry.loss, entry.leaves))
            ranked = [name for name in best.tree.features if name not in (clf.required or ())]
            wider = [forbidden | {name} for name in (ranked[:BRANCHES] if forbidden else ranked)]
            waiting += [each for each in wider if each not in seen]
            seen.update(wider)
    return found


def _use(forbidden: Features, found: dict[Features, PathEntry], tolerance: float) -> float:
    """Return how many of the good trees use what is forbidden, by feature: what most rest on is forbidden first."""
    near = _near(found, tolerance) if found else {}
    return sum(name in features for name in forbidden for features in near) / max(len(forbidden), 1)


def _paths(clf: Any, X: Any, y: NDArray[Any], batch: Sequence[Features], n_jobs: int | None) -> list[list[PathEntry]]:
    """Return the path of a fit for each set of forbidden features; none where too few are left."""
    from joblib import Parallel, delayed
    from sklearn.base import clone

    columns = set(Columns(X).names)

    def fit(forbidden: Features) -> list[PathEntry]:
        banned = {*(clf.forbidden or ()), *forbidden}
        if not columns - banned:
            return []
        return list(clone(clf).set_params(forbidden=sorted(banned), n_jobs=1, verbose=False).fit(X, y).path_)

    return list(Parallel(n_jobs=n_jobs, prefer="threads")(delayed(fit)(forbidden) for forbidden in batch))


def _score(entry: PathEntry) -> float:
    """Return the accuracy on rows held out; a rule that explains every row is not validated."""
    return float(entry.in_sample_loss < SETTLED) if math.isnan(entry.accuracy) else entry.accuracy


def _near(found: dict[Features, PathEntry], tolerance: float) -> dict[Features, PathEntry]:
    best = max(_score(entry) for entry in found.values())
    return {features: entry for features, entry in found.items() if _score(entry) >= best - tolerance - 1e-12}


def _diverse(found: dict[Features, PathEntry], n: int) -> list[PathEntry]:
    """Return n trees, the best first, each as different as can be from those before, then in order of accuracy."""
    left = dict(sorted(found.items(), key=lambda item: (-_score(item[1]), item[1].loss, sorted(item[0]))))
    taken = [next(iter(left))]
    while len(taken) < min(n, len(left)):
        rest = [features for features in left if features not in taken]
        taken.append(max(rest, key=lambda a: min(1.0 - len(a & b) / len(a | b) for b in taken)))
    return [left[features] for features in left if features in taken]


def _told(chosen: Sequence[PathEntry], X: Any, n: int, tolerance: float) -> Alternatives:
    table = Columns(X)
    table.take_in_order([f"x{i}" for i in range(len(table.names))])  # as fit calls columns that have no names
    decided = [evaluation.truths(entry.tree.root, table) > entry.link.threshold for entry in chosen]
    agreement = tuple(tuple(float(np.mean(a == b)) for b in decided) for a in decided)
    frequency = Counter(feature for entry in chosen for feature in entry.tree.features)
    rows = [
        Alternative(entry.tree.features, entry.leaves, _score(entry), entry.loss, entry.link.threshold, entry.tree)
        for entry in chosen
    ]
    return Alternatives(tuple(rows), n, tolerance, agreement, tuple(frequency.most_common()))
