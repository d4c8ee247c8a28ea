"""Every fit of the breast cancer experiment: the paper's search, the library's default search, decision trees."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from baconlogic import explain
from baconlogic.learn import search
from baconlogic.learn.classifier import BaconClassifier
from baconlogic.learn.thresholds import SCENARIOS
from baconlogic.metrics import Confusion, accuracy, confusion
from experiments.breast_steps import Step, steps
from experiments.validation import take

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from baconlogic.core.decision import Decision

    Labels = NDArray[Any]
    Part = tuple[NDArray[np.intp], NDArray[np.intp]]  # rows to learn from, rows held out

MALIGNANT = "malignant"
FEW = 7  # leaves of a small tree: as many as the paper has features
TOP = 5  # features of a run that are told, as in the paper
TREE_DEPTH = 4
PAPER_NORMALISER, LEARNED = "sigmoid", "learned"


@dataclass(frozen=True)
class Run:
    """One run of the paper's search on all rows: what it ends with, and the features that decide most."""

    decision: Decision
    accuracy: float  # in sample
    top: tuple[str, ...]  # () where they are not asked for
    decided: NDArray[np.bool_]  # whether each row is called malignant
    seconds: float  # of one core, as in all of these


@dataclass(frozen=True)
class Chain:
    """A chain of the paper's search under one weight penalty, and what happens as it is pruned."""

    decision: Decision
    curve: explain.PruningCurve


@dataclass(frozen=True)
class Fold:
    """The library's default search on one part: judged on the rows held out, at each threshold too."""

    accuracy: float
    in_sample: float
    leaves: int
    few: float  # of the best tree with at most FEW leaves, chosen inside fit
    few_in_sample: float
    few_leaves: int
    few_model: Any  # the classifier that takes it
    scenarios: tuple[Confusion, ...]
    seconds: float


@dataclass(frozen=True)
class Rival:
    """A decision tree: accuracy in sample and on rows held out, and its size."""

    in_sample: float
    held_out: float
    leaves: int


def paper_search(criteria: str, seed: int, penalty: float | None = None) -> BaconClassifier:
    """Return the paper's search with its default settings, and another weight penalty where one is given."""
    found = search.Sinkhorn() if penalty is None else search.Sinkhorn(weight_penalty_strength=penalty)
    return BaconClassifier(found, criteria=criteria, random_state=seed)


def side_by_side(tasks: Iterable[tuple[Callable[..., Any], tuple[Any, ...]]], n_jobs: int | None) -> Iterator[Any]:
    """Call each function with its arguments, `n_jobs` at a time, and yield what they give, in order."""
    from joblib import Parallel, delayed

    yield from Parallel(n_jobs=n_jobs, batch_size=1, return_as="generator")(delayed(do)(*given) for do, given in tasks)


def run_once(X: Any, y: Labels, criteria: str, seed: int) -> Run:
    """Learn from all rows, as the paper does."""
    started = time.process_time()
    clf = paper_search(criteria, seed).fit(X, y)
    seconds = time.process_time() - started
    top: tuple[str, ...] = ()
    if criteria == PAPER_NORMALISER:  # the runs whose features are told
        top = tuple(row.feature for row in explain.attribution(clf, X, y).rows[:TOP])
    decided = clf.predict(X) == MALIGNANT
    return Run(clf.decision_, float(np.mean(decided == (y == MALIGNANT))), top, decided, seconds)


def chain(X: Any, y: Labels, seed: int, penalty: float) -> Chain:
    """Learn a chain over all features with the paper's normaliser, and take its leaves away one by one."""
    clf = paper_search(PAPER_NORMALISER, seed, penalty).fit(X, y)
    return Chain(clf.decision_, explain.pruning_curve(clf, X, y))


def paper_fold(X: Any, y: Labels, part: Part, criteria: str, seed: int) -> float:
    """Return the accuracy of the paper's search on rows held out."""
    seen, hidden = part
    clf = paper_search(criteria, seed).fit(take(X, seen), y[seen])
    return accuracy(clf.predict(take(X, hidden)), y[hidden])


def steps_fold(X: Any, y: Labels, part: Part, seed: int, penalty: float) -> tuple[Step, ...]:
    """Learn, prune, group and refit on some rows; judge each step on the others."""
    seen, hidden = part
    clf = paper_search(PAPER_NORMALISER, seed, penalty).fit(take(X, seen), y[seen])
    return steps(clf.decision_, take(X, seen), y[seen], take(X, hidden), y[hidden])


def default_fold(X: Any, y: Labels, part: Part, seed: int) -> Fold:
    """Learn by the library's default; sizes and thresholds are chosen inside fit, without the rows held out."""
    seen, hidden = part
    old, new, truth = take(X, seen), take(X, hidden), y[hidden] == MALIGNANT
    started = time.process_time()
    clf = BaconClassifier(random_state=seed).fit(old, y[seen])
    seconds = time.process_time() - started
    few = clf.with_leaves(
        min((entry for entry in clf.path_ if entry.leaves <= FEW), key=lambda entry: entry.loss).leaves
    )
    counted = []
    for name in SCENARIOS:
        yes = clf.with_threshold(name).predict(new) == MALIGNANT
        counted.append(confusion(yes, truth))
    return Fold(
        clf.score(new, y[hidden]), clf.score(old, y[seen]), clf.history_.leaves, few.score(new, y[hidden]),
        few.score(old, y[seen]), few.history_.leaves, few, tuple(counted), seconds,
    )  # fmt: skip


def forest_tree(X: Any, y: Labels, part: Part, seed: int) -> Rival:
    """Return the tree of a random forest that is right most often on the rows it learned from (Appendix I)."""
    from sklearn.ensemble import RandomForestClassifier

    seen, hidden = part
    table = _numbers(X)
    forest = RandomForestClassifier(random_state=seed).fit(table[seen], y[seen])
    codes = np.searchsorted(forest.classes_, y)
    rights = [float(np.mean(tree.predict(table[seen]) == codes[seen])) for tree in forest.estimators_]
    best = forest.estimators_[int(np.argmax(rights))]
    return Rival(max(rights), float(np.mean(best.predict(table[hidden]) == codes[hidden])), int(best.get_n_leaves()))


def small_tree(X: Any, y: Labels, part: Part, seed: int) -> Rival:
    """Return a decision tree of limited depth."""
    from sklearn.tree import DecisionTreeClassifier

    seen, hidden = part
    table = _numbers(X)
    tree = DecisionTreeClassifier(max_depth=TREE_DEPTH, random_state=seed).fit(table[seen], y[seen])
    return Rival(tree.score(table[seen], y[seen]), tree.score(table[hidden], y[hidden]), int(tree.get_n_leaves()))


def _numbers(X: Any) -> NDArray[np.float64]:
    return np.asarray(X.to_numpy(), dtype=np.float64)
