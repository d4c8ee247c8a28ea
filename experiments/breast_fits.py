"""Every fit of the breast cancer experiment, and what is found in them, as plain data.

Fits: the paper's search, the library's default search, decision trees. Steps: from the chain over all features to a
tree that can be told. Findings: explanations, scenarios, rivals, columns that go together.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from baconlogic import edit, explain
from baconlogic.core.nodes import Gate, Leaf, Not
from baconlogic.core.subject import Listing, Result
from baconlogic.learn import search, thresholds
from baconlogic.learn.classifier import BaconClassifier
from baconlogic.metrics import Confusion, accuracy, confusion
from experiments.result import Interval
from experiments.validation import interval, take

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from baconlogic.core.decision import Decision
    from baconlogic.core.tree import Tree
    from baconlogic.explain import PruningCurve

    Labels = NDArray[Any]
    Part = tuple[NDArray[np.intp], NDArray[np.intp]]  # rows to learn from, rows held out

MALIGNANT = "malignant"
FEW = 7  # leaves of a small tree: as many as the paper has features
TOP = 5  # features of a run that are told, as in the paper
TREE_DEPTH = 4
PAPER_NORMALISER, LEARNED = "sigmoid", "learned"

# What a measurement is about: its name without the number (1 mean, 2 standard error, 3 worst of an image).
MEANINGS = {
    "size": ("radius", "perimeter", "area"),
    "shape": ("smoothness", "compactness", "concavity", "concave_points", "symmetry", "fractal_dimension"),
    "texture": ("texture",),
}
NAMES = ("as learned", "pruned", "simplified", "grouped by meaning", "refitted")

# Section 4.4: threshold, accuracy, precision, recall, all in sample.
PAPER_SCENARIOS = {
    "screening": (0.01, 0.6397, 0.5084, 1.0),
    "diagnosis": (0.46, 0.9877, 0.9952, 0.9717),
    "treatment planning": (0.63, 0.9842, 1.0, 0.9575),
}


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
    curve: PruningCurve


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
    small = (entry for entry in clf.path_ if entry.leaves <= FEW and not np.isnan(entry.loss))
    few = clf.with_entry(min(small, key=lambda entry: entry.loss))
    counted = []
    for name in thresholds.SCENARIOS:
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


# From the chain over all features to a tree that can be told: prune, simplify, group by meaning, refit


@dataclass(frozen=True)
class Step(Result):
    """A tree on the way, with its accuracy on the rows it was made with and on others."""

    name: str
    tree: Tree
    threshold: float
    leaves: int
    gates: int
    in_sample: float
    held_out: float | None


@dataclass(frozen=True)
class Layer(Result):
    """A gate of a chain: the feature that enters it there, and accuracy once all below that feature is pruned."""

    layer: int  # from the bottom
    feature: str
    weight: float  # of the feature; the chain below has the rest
    andness: float
    accuracy: float


def steps(whole: Decision, X: Any, y: NDArray[Any], X_new: Any = None, y_new: Any = None) -> tuple[Step, ...]:
    """Return the tree as learned, pruned, simplified, grouped by meaning and refitted, each judged.

    Pruning goes on while no accuracy is lost in (X, y); refitting uses these rows too. (X_new, y_new) only judge.
    """
    pruned = edit.prune(whole, X=X, y=y, tolerance=0.0)
    simple = edit.simplify(pruned)
    grouped = whole.with_tree(edit.regroup(simple, groups_of(simple.features)))
    trees = [whole, whole.with_tree(pruned), whole.with_tree(simple), grouped, edit.refit_decision(grouped, X, y)]
    return tuple(
        Step(
            name, each.tree, each.threshold, *_size(each.tree), _right(each, X, y),
            None if X_new is None else _right(each, X_new, y_new),
        )
        for name, each in zip(NAMES, trees, strict=True)
    )  # fmt: skip


def groups_of(features: tuple[str, ...]) -> dict[str, list[str]]:
    """Return the features of each meaning."""
    found = {what: [name for name in features if name[:-1] in kinds] for what, kinds in MEANINGS.items()}
    return {what: names for what, names in found.items() if names}


def layers(tree: Tree, curve: PruningCurve) -> tuple[Layer, ...]:
    """Return a left chain from the bottom up, as the paper's Table 7 does."""
    enters: dict[str, tuple[float, float]] = {}
    for _, node in tree.walk():
        for i, below in enumerate(node.inputs if isinstance(node, Gate) else ()):
            leaf = below.input if isinstance(below, Not) else below
            if isinstance(node, Gate) and isinstance(leaf, Leaf):
                enters[leaf.feature] = node.weights[i], node.andness
    bottom = curve.steps("bottom")
    left = [step.removed for step in bottom[2:]] + [bottom[-1].kept[0]]  # the lowest leaf after each removal
    return tuple(
        Layer(i, feature, *enters[feature], step.accuracy)
        for i, (feature, step) in enumerate(zip(left, bottom[1:], strict=True), 1)
    )


def _size(tree: Tree) -> tuple[int, int]:
    nodes = [node for _, node in tree.walk()]
    return sum(isinstance(node, Leaf) for node in nodes), sum(isinstance(node, Gate) for node in nodes)


def _right(decision: Decision, X: Any, y: NDArray[Any]) -> float:
    return float(np.mean(decision.predict(X) == y))


# Findings


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
