"""BaconClassifier: learns graded-logic trees the scikit-learn way."""

from __future__ import annotations

import copy
import os
import time
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from numbers import Real
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import assert_all_finite, check_array, check_consistent_length, column_or_1d, compute_class_weight
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from baconlogic.core import Floats
from baconlogic.core.answers import LARGEST
from baconlogic.core.checks import Hint, ParameterError
from baconlogic.core.columns import Columns, is_missing
from baconlogic.core.decision import Decision
from baconlogic.core.nodes import Leaf, flatten
from baconlogic.core.subject import subject
from baconlogic.core.tree import Tree
from baconlogic.learn import encode, params, thresholds
from baconlogic.learn.column import CATEGORY
from baconlogic.learn.fit import CallbackSupportMixin, Progress, decide, with_callbacks
from baconlogic.learn.path import Path, PathEntry, with_entry


class BaconClassifier(CallbackSupportMixin, ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Learn a small graded-logic tree (one a class when there are more than two) that people can read and check.

    Numbers, truths (0/1) and categories may be mixed, and values may be missing. Everything is chosen by
    validation inside `fit`; nothing is written or printed.

    Parameters
    ----------
    search : "auto", "cards", "growth", "additive", "peel", "sinkhorn", "refine", "calibrate" or a `baconlogic.search`
        How to find the tree. "auto" needs no thought: exact chains where there are some, else "cards", trees of two
        levels with round numbers. "growth" gives deep trees, "additive" weighted means of gentle criteria. "refine"
        learns the parameters of `init` (or of the chain `order` states) and keeps its structure, the default where
        these are given; "calibrate" keeps `init` as it is and fits the threshold and the probability only.
    criteria : "learned", "sigmoid" or "minmax"
        How numbers become truths: slope, centre and direction learned, or the paper's fixed normalisers.
    max_leaves : int, default None
        The largest tree to consider; None lets the search decide (10, or the whole of a crisp chain).
    form : "auto", "checklist", "scorecard", "rules" or "graded"
        At least k of n conditions, points that add up, any of groups that are all of conditions (or the dual), or gates
        over graded conditions. "auto" takes what reads simplest among all that hold out as well.
    simplicity : "best" or "one-se"
        How sure it must be that a simpler tree does worse on rows held out before it is passed over: by a third of a
        standard error of the difference, or by one.
    groups : mapping of names to lists of features, default None
        Ask for a tree over these named parts, each over its own features.
    reuse : bool
        Whether a feature may be used more than once, e.g. for "large but not too large".
    order : list of features, default None
        Use exactly these, ranked: the most important first, nearest to the root.
    directions : "rising", "falling" or mapping of features to "rising", "falling", "learn"
    required, forbidden : lists of features
    andness : (lowest, highest) for every gate, or a mapping of features to such pairs for the gate they enter
        (the key None stands for every gate). {"bed": (0.75, 2)} makes bed mandatory.
    init : Tree, default None
        A first guess, e.g. `Tree.parse("HC(bed, bath)")`; a leaf without criterion has one learned.
    aggregator : "gcd" or "exact"
    class_weight : mapping, "balanced" or None
    warm_start : bool
        Start the next fit from the trees of the last one, where the search can: "growth" and "refine".
    n_jobs : int, default None
        Searches to run side by side, through joblib. The result does not depend on it.
    random_state : int, RandomState or None
    time_budget : float, default None
        Seconds after which to stop with the best found.
    verbose : bool
        Show progress with rich.

    Attributes
    ----------
    tree_ : Tree, or a tuple of trees, one a class
    threshold_ : the truth at which the decision turns; an array with more than two classes
    path_ : the best tree of each form and size with its held-out scores, a list that prints as a table, the one that
        was taken marked; a tuple of such lists with more than two classes
    history_ : why the search stopped and what it reached; a tuple with more than two classes
    decision_ : the whole decision, which `save` writes
    classes_, n_features_in_, feature_names_in_
    """

    def __init__(
        self,
        search: Any = "auto",
        *,
        criteria: str = "learned",
        max_leaves: int | None = None,
        form: str = "auto",
        simplicity: str = "best",
        groups: Mapping[str, Sequence[str]] | None = None,
        reuse: bool = True,
        order: Sequence[str] | None = None,
        directions: str | Mapping[str, str] | None = None,
        required: Sequence[str] | None = None,
        forbidden: Sequence[str] | None = None,
        andness: Any = None,
        init: Tree | None = None,
        aggregator: str = "gcd",
        class_weight: Any = None,
        warm_start: bool = False,
        n_jobs: int | None = None,
        random_state: Any = None,
        time_budget: float | None = None,
        verbose: bool = False,
    ) -> None:
        self.search = search
        self.criteria = criteria
        self.max_leaves = max_leaves
        self.form = form
        self.simplicity = simplicity
        self.groups = groups
        self.reuse = reuse
        self.order = order
        self.directions = directions
        self.required = required
        self.forbidden = forbidden
        self.andness = andness
        self.init = init
        self.aggregator = aggregator
        self.class_weight = class_weight
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.time_budget = time_budget
        self.verbose = verbose

    @with_callbacks  # type: ignore[untyped-decorator]
    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Learn from rows X and their labels y."""
        started = time.monotonic()
        before = self.decision_ if self.warm_start and hasattr(self, "decision_") else None
        table, labels, weight = self._checked(X, y, sample_weight)
        self.classes_, codes = np.unique(labels, return_inverse=True)
        if len(self.classes_) == 1:
            only = f"y holds a single class, {self.classes_.tolist()[0]!r}: every answer will be that class"
            warnings.warn(f"{only}; give rows of two classes or more to learn from", UserWarning, stacklevel=3)
        importance = np.ones(len(self.classes_))
        if self.class_weight is not None:
            importance = self._class_weights(labels, codes, weight)
            weight = weight * importance[codes]
            _check_weight(weight, Hint("class_weight", "class_weight times sample_weight"))
        kept = weight > 0.0
        columns, counts = encode.merge(encode.read(table, weight), codes[kept], weight[kept], len(self.classes_))
        with Progress(self, X, labels, verbose=self.verbose) as progress:
            checked = params.checked(self, columns, before, started)
            decision, paths, histories = decide(checked, counts, importance, progress)
        self._take(decision, paths, histories)
        self._seen = {column.name: frozenset(column.categories) for column in columns if column.kind == CATEGORY}
        if any(history.interrupted for history in histories):
            warnings.warn("interrupted: the best tree found so far is kept", UserWarning, stacklevel=2)
        path = getattr(checked.search, "saves_to", None)
        if path is not None:
            self.save(path)
        return self

    def _checked(self, X: Any, y: ArrayLike, sample_weight: Any) -> tuple[Columns, NDArray[Any], Floats]:
        table = self._table(X, y, reset=True)
        labels = _labels(y)
        check_consistent_length(labels, np.empty(table.rows))
        weight = _check_sample_weight(sample_weight, np.empty((table.rows, 1)), dtype=np.float64)
        _check_weight(weight, "sample_weight")
        return table, labels, weight

    def _class_weights(self, labels: NDArray[Any], codes: NDArray[np.intp], weight: Floats) -> Floats:
        if isinstance(self.class_weight, str) and self.class_weight == "balanced":
            totals = np.bincount(codes, weight)  # a row of weight 2 is two rows, one of weight 0 none
            return np.asarray(totals[totals > 0.0].mean() / np.where(totals > 0.0, totals, np.inf))
        return np.asarray(compute_class_weight(self.class_weight, classes=self.classes_, y=labels))

    def _table(self, X: Any, y: Any = "no_validation", *, reset: bool) -> Columns:
        """Check names and number of columns as scikit-learn does, and what a search or a tree cannot take."""
        frame = hasattr(X, "columns")
        array, table = X, Columns(X) if frame else None
        if not frame:
            dtype = None if hasattr(X, "dtype") else object  # a list may mix numbers and text
            array = check_array(X, dtype=dtype, ensure_all_finite=False, estimator=self)
        validate_data(self, X if frame else array, y, reset=reset, skip_check_array=True)
        if table is None or not hasattr(self, "feature_names_in_"):
            array = np.asarray(array)
            names = getattr(self, "feature_names_in_", (f"x{i}" for i in range(array.shape[1])))
            table = Columns(array, list(names))
        if not table.rows or not table.names:
            raise ValueError(f"expected at least one row and one column, got {table.rows} and {len(table.names)}")
        return table

    def _take(self, decision: Decision, paths: Sequence[Any], histories: Sequence[Any]) -> None:
        self.decision_ = decision
        thresholds = [float(link.threshold) for link in decision.links]
        found = zip(paths, histories, decision.trees, strict=True)
        marked = tuple(path.marked(history, tree) for path, history, tree in found)
        each: Any = decision.trees, marked, tuple(histories)
        if len(self.classes_) == 2:
            each = [part[0] for part in each]
        self.tree_, self.path_, self.history_ = each
        self.threshold_ = thresholds[0] if len(self.classes_) == 2 else np.array(thresholds)

    def with_leaves(self, leaves: int, label: Any = None) -> Self:
        """Return a copy that takes the best entry of `path_` with this many leaves (of the class `label`)."""
        path = self._path(label)
        entry = next((entry for entry in path.sizes() if entry.leaves == leaves), None)
        if entry is None:
            sizes = ", ".join(str(entry.leaves) for entry in path.sizes()) or "none: nothing was learned"
            raise ValueError(f"path_ has no tree of {leaves!r} leaves; its sizes are {sizes}")
        return self.with_entry(entry, label)

    def with_entry(self, entry: PathEntry | int, label: Any = None) -> Self:
        """Return a copy that takes another entry of `path_`, or the one at this place of it (of the class `label`)."""
        path = self._path(label)
        if isinstance(entry, int | np.integer) and not isinstance(entry, bool):
            if not -len(path) <= entry < len(path):
                raise ValueError(
                    f"path_ has no entry at {entry}; it has {len(path)}, at the places 0 to {len(path) - 1}"
                )
            entry = path[int(entry)]
        if not isinstance(entry, PathEntry) or entry not in path:
            raise ValueError("entry must be one of path_, or its place there")
        several, place = len(self.classes_) > 2, self.classes_.tolist().index(label) if len(self.classes_) > 2 else 0
        paths, histories = (each if several else (each,) for each in (self.path_, self.history_))
        decision, changed = with_entry(self.decision_, paths, histories, place, entry)
        other = copy.copy(self)
        other._take(decision, paths, changed)
        return other

    def _path(self, label: Any) -> Path:
        check_is_fitted(self)
        several, known = len(self.classes_) > 2, self.classes_.tolist()
        if label not in known and (several or label is not None):
            raise ValueError(f"there is a path for each class; give label=, one of {known}")
        path: Path = self.path_[known.index(label)] if several else self.path_
        return path

    def with_threshold(self, where: Any, X: Any = None, y: ArrayLike | None = None) -> Self:
        """Return a copy whose decision between two classes turns elsewhere; probabilities stay what they are.

        `where` is a truth, or a scenario: "screening", "diagnosis", "treatment planning", `thresholds.costs(...)` or
        `thresholds.at_least(...)`. It is served by the rows that `fit` held out, or by X and y, which should be new.
        """
        check_is_fitted(self)
        if len(self.classes_) != 2:
            raise ValueError(f"a threshold turns a decision between two classes; here are {len(self.classes_)}")
        link = self.decision_.links[0]
        if isinstance(where, Real) and not isinstance(where, bool):
            said, turns_at = "given", float(where)
        else:
            scenario = thresholds.scenario_of(where)
            if X is None:
                cut = thresholds.cut_of(scenario, thresholds.entry_of(self))
            else:
                scores = link.score(self.truth(X))
                cut = scenario.pick(thresholds.held_out(scores, subject(self).positive(_given(y), len(scores))))
            said, turns_at = scenario.name, link.threshold + cut / link.steepness
        other = copy.copy(self)
        provenance = {**self.decision_.provenance, "threshold": said}
        other.decision_ = replace(self.decision_, turns_at=turns_at, provenance=provenance)
        other.threshold_ = turns_at
        return other

    def truth(self, X: Any) -> Floats:
        """Return the degree of truth of each row, (rows,); (rows, classes) with more than two classes."""
        return np.asarray(self._decide("truth", X))

    def decision_function(self, X: Any) -> Floats:
        """Return steepness * (truth - threshold): positive where the decision is yes."""
        return np.asarray(self._decide("decision_function", X))

    def predict_proba(self, X: Any) -> Floats:
        """Return the calibrated probability of each class, (rows, classes)."""
        return np.asarray(self._decide("predict_proba", X))

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the class of each row."""
        check_is_fitted(self)
        return np.asarray(self.classes_[self._decide("choose", X)])

    def _decide(self, what: str, X: Any) -> Any:
        check_is_fitted(self)
        table = self._table(X, reset=False)
        for name, categorical in _read(self.decision_).items():
            if not categorical:  # a tree would take infinity as a very large number, and `fit` does not
                encode.refuse_infinity(name, table.numbers(name))
            elif name in self._seen:
                encode.warn_of_unseen(name, table.categories(name), self._seen[name])
        return getattr(self.decision_, what)(table)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the whole decision as JSON; `baconlogic.load` reads it, with numpy alone."""
        check_is_fitted(self)
        self.decision_.save(path)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        return tags


def _read(decision: Decision) -> dict[str, bool]:
    """Return the columns that the trees read, and whether as categories."""
    leaves = (node for tree in decision.trees for node, _ in flatten(tree.root) if isinstance(node, Leaf))
    return {leaf.feature: leaf.criterion.categorical for leaf in leaves}


def _labels(y: ArrayLike) -> NDArray[Any]:
    given = np.asarray(y)
    several = given.tolist() if given.dtype == object and given.ndim == 1 else []
    lacking = [row for row, label in enumerate(several) if is_missing(label)]
    if lacking:
        raise ValueError(f"y is missing in {len(lacking)} row(s), the first is row {lacking[0]}; leave these rows out")
    labels = np.asarray(column_or_1d(y, warn=True))
    assert_all_finite(labels, input_name="y")
    kinds = {type(label) for label in labels.tolist()} if labels.dtype == object else set()
    if str in kinds and len(kinds) > 1:
        several = ", ".join(sorted(kind.__name__ for kind in kinds))
        raise ValueError(f"labels must be of one kind, all text or all numbers, got {several}")
    check_classification_targets(labels)
    return labels


def _given(y: ArrayLike | None) -> NDArray[Any]:
    if y is None:
        raise ValueError("y is missing: a threshold is chosen by rows X and their labels y")
    return np.asarray(column_or_1d(y))


def _check_weight(weight: Floats, what: str | Hint) -> None:
    with np.errstate(over="ignore"):
        total = weight.sum()
    if (weight < 0.0).any() or total <= 0.0:
        raise ParameterError(what, " must not be negative, and not 0 for all rows")
    if not total <= LARGEST:
        raise ParameterError(what, f" must not sum to more than {LARGEST:g}; divide it by a number")
