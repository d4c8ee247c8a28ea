"""Decision: trees, links, classes, features and provenance as one immutable object; `load` reads what `save` wrote.

X --trees--> truth --links--> score and probability --> class
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from types import MappingProxyType
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from baconlogic.core import Floats, files
from baconlogic.core import answers as answering
from baconlogic.core import evaluate as evaluation
from baconlogic.core.answers import Feature, Label, Link
from baconlogic.core.checks import LABEL, ParameterError, check_finite
from baconlogic.core.columns import Columns
from baconlogic.core.nodes import Leaf, flatten
from baconlogic.core.tree import Tree
from baconlogic.core.words import number

__all__ = ["Decision", "Feature", "Label", "Link", "load"]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Decision:
    """What a classifier decides, and all that is needed to decide it again: with numpy alone.

    Two classes have one tree, whose truth speaks for the second of them; more have a tree each; one class has none, and
    every answer is that class. A table with names is taken by them, in any order, and needs only the columns that the
    trees use; an array must have all `features`, in their order. `n_jobs` threads share rows.
    """

    trees: tuple[Tree, ...]
    links: tuple[Link, ...]  # one a tree
    classes: tuple[Label, ...]
    features: tuple[Feature, ...]  # the columns seen at fit
    provenance: Mapping[str, Any] = field(default_factory=dict)  # plain data: versions, rows, scores, search, seed
    turns_at: float | None = None  # the truth at which two classes turn, where it is not that of probability 0.5

    def __post_init__(self) -> None:
        checked: dict[str, Any] = {
            "trees": _tuple_of(Tree, self.trees, "trees"),
            "links": _tuple_of(Link, self.links, "links"),
            "classes": answering.as_labels(self.classes),
            "features": _tuple_of(Feature, self.features, "features"),
            "provenance": MappingProxyType(answering.plain_data(self.provenance)),
        }
        if self.turns_at is not None:
            check_finite(self.turns_at, "the truth at which a decision turns")
            checked["turns_at"] = float(self.turns_at)
        for name, value in checked.items():
            object.__setattr__(self, name, value)
        self._check()

    def _check(self) -> None:
        """Refuse parts that do not belong together."""
        classes, trees = len(self.classes), len(self.trees)
        needed = {1: 0, 2: 1}.get(classes, classes)
        if trees != needed:
            why = {1: "no tree", 2: "one tree, which speaks for the second"}.get(classes, f"{needed} trees, one each")
            raise ValueError(f"a decision between {classes} class(es) needs {why}; got {trees} tree(s)")
        if len(self.links) != trees:
            raise ValueError(f"each tree needs a link, but there are {trees} tree(s) and {len(self.links)} link(s)")
        if self.turns_at is not None and classes != 2:
            raise ValueError(f"a threshold turns a decision between two classes; here are {classes}")
        names = Counter(feature.name for feature in self.features)
        twice = [name for name, times in names.items() if times > 1]
        if twice:
            raise ValueError(f"the feature {twice[0]!r:.60} is listed twice; names must differ")
        lacking = [name for name in self._used() if name not in names]
        if lacking:
            raise ValueError(f"the trees use {_some(lacking)}, which the features do not list; add what the trees use")

    def _used(self) -> dict[str, None]:
        """Return the columns that the trees use."""
        nodes = (node for tree in self.trees for node, _ in flatten(tree.root))
        return dict.fromkeys(node.feature for node in nodes if isinstance(node, Leaf))

    @property
    def tree(self) -> Tree:
        """The one tree of a decision between two classes."""
        self._check_single("tree", "trees")
        return self.trees[0]

    @property
    def threshold(self) -> float:
        """The truth at which a decision between two classes turns; outside [0, 1] it never does."""
        self._check_single("threshold", "links")
        return self.links[0].threshold if self.turns_at is None else self.turns_at

    def _check_single(self, what: str, many: str) -> None:
        if len(self.trees) != 1:
            n = len(self.trees)
            raise AttributeError(f"this decision has {n} trees, so no single {what}; its {many} are in `{many}`")

    def with_tree(self, tree: Tree, label: Any = None) -> Self:
        """Return the decision with another tree, e.g. an edited one, in the place of its own, or of that of `label`.

        Threshold and link to probability stay; what was measured of the tree before is no longer said.
        """
        place = 0 if len(self.trees) == 1 else self.classes.index(label) if label in self.classes else -1
        if place < 0 or (len(self.trees) == 1 and label not in (None, self.classes[1])):
            known = _some(self.classes[-len(self.trees) :])
            raise ParameterError(f"there is no tree for {label!r}; give ", LABEL, f", one of {known}")
        trees = (*self.trees[:place], tree, *self.trees[place + 1 :])
        told = self.provenance.get("trees")
        said = list(told) if isinstance(told, list) and len(told) == len(trees) else [{} for _ in trees]
        said[place] = {"edited": True}
        return replace(self, trees=trees, provenance={**self.provenance, "trees": said})

    def truth(self, X: Any, *, n_jobs: int = 1) -> Floats:
        """Return the degree of truth of each row: (rows,) of the one tree, else (rows, trees)."""
        return self._each(self._table(X), n_jobs)

    def decision_function(self, X: Any, *, n_jobs: int = 1) -> Floats:
        """Return steepness (truth - threshold), in the shape of `truth`: above 0 where the decision is yes."""
        return self._each(self._table(X), n_jobs, self._turning())

    def _turning(self) -> tuple[Link, ...]:
        """Return the links whose scores decide."""
        return self.links if self.turns_at is None else (replace(self.links[0], threshold=self.turns_at),)

    def predict_proba(self, X: Any, *, n_jobs: int = 1) -> Floats:
        """Return the probability of each class, (rows, classes): sigmoids of the scores; of several, their shares."""
        table = self._table(X)
        if not self.trees:
            return np.ones((table.rows, 1))
        scores = self._each(table, n_jobs, self.links)
        return (answering.two_probabilities if scores.ndim == 1 else answering.many_probabilities)(scores)

    def predict(self, X: Any, *, n_jobs: int = 1) -> NDArray[Any]:
        """Return the most probable class of each row; of two the second where its truth is above the threshold."""
        return answering.label_array(self.classes)[self.choose(X, n_jobs=n_jobs)]

    def choose(self, X: Any, *, n_jobs: int = 1) -> NDArray[np.intp]:
        """Return the place of the class of each row in `classes`."""
        table = self._table(X)
        if not self.trees:
            return np.zeros(table.rows, dtype=np.intp)
        scores = self._each(table, n_jobs, self._turning())
        return (scores > 0.0).astype(np.intp) if scores.ndim == 1 else scores.argmax(axis=1)

    def _table(self, X: Any) -> Columns:
        table = X if isinstance(X, Columns) else Columns(X)
        table.take_in_order([feature.name for feature in self.features])
        table.require(list(self._used()))
        return table

    def _each(self, table: Columns, n_jobs: int, links: Sequence[Link] | None = None) -> Floats:
        """Return the truth of each tree, or its score by a link."""
        out = np.empty((table.rows, len(self.trees)), order="F")
        for i, tree in enumerate(self.trees):
            truth = evaluation.truths(tree.root, table, n_jobs)
            out[:, i] = truth if links is None else links[i].score(truth)
        return out[:, 0] if len(self.trees) == 1 else out

    def to_dict(self) -> dict[str, Any]:
        """Return the decision as plain data: the document that `save` writes."""
        said = {
            "classes": [{"float": label} if isinstance(label, float) else label for label in self.classes],
            "features": [asdict(feature) for feature in self.features],
            "trees": files.write_trees(*(tree.root for tree in self.trees)),
            "links": [asdict(link) for link in self.links],
            "provenance": answering.plain_data(self.provenance),
        }
        return files.document("decision", said if self.turns_at is None else {**said, "turns_at": self.turns_at})

    @classmethod
    def from_dict(cls, document: dict[str, Any]) -> Self:
        """Return the decision of a document; raises ModelFormatError with the place of the first problem."""
        said = files.decision_from_document(document)
        trees = tuple(Tree(root) for root in said.pop("trees"))
        return files.made("decision", lambda: cls(trees=trees, **said))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the decision as JSON. A process killed meanwhile leaves the old file or the new one, whole."""
        files.write(self.to_dict(), path)

    def __eq__(self, other: object) -> bool:
        if self is other or not isinstance(other, Decision):
            return self is other
        same = (self.trees, self.links, self.features) == (other.trees, other.links, other.features)
        return same and self.turns_at == other.turns_at and self._spelled() == other._spelled()

    def __hash__(self) -> int:
        return hash((self.trees, self.links, self.features, self.classes))

    def _spelled(self) -> str:
        """Write classes and provenance so that 1, 1.0 and True differ."""
        return json.dumps([self.classes, dict(self.provenance)], sort_keys=True)

    def __reduce__(self) -> tuple[Any, ...]:
        parts = self.trees, self.links, self.classes, self.features, dict(self.provenance), self.turns_at
        return type(self), parts

    def __str__(self) -> str:
        labels = [f"{label!r:.60}" for label in self.classes]
        if not self.trees:
            return f"always {labels[0]}"
        if len(self.trees) == 1:
            return f"{labels[0]} or {labels[1]}\n\n{self.tree}\n\n{_turn(self.threshold, self.links[0], *labels)}"
        parts = [
            f"{label}, rather than not, when this truth is above {number(link.threshold)}{_crossed(link)}:\n{tree}"
            for label, link, tree in zip(labels, self.links, self.trees, strict=True)
        ]
        return "\n\n".join([f"the most probable of {', '.join(labels)}", *parts])

    def __repr__(self) -> str:
        n = len(self.trees)
        trees = f"{n} tree{'' if n == 1 else 's'} on {len(self._used())} of {len(self.features)} features"
        return f"Decision(between {_some(self.classes)}: {trees})"


def load(path: str | os.PathLike[str]) -> Tree | Decision:
    """Read what `Decision.save` or `Tree.save` wrote; raises ModelFormatError when the file is neither."""
    try:
        document = files.read(path)
        decided = isinstance(document, dict) and "decision" in document
        return Decision.from_dict(document) if decided else Tree.from_dict(document)
    except files.ModelFormatError as problem:
        raise files.ModelFormatError(f"{path}: {problem.place}", problem.problem) from None


def _crossed(link: Link) -> str:
    return " (always)" if link.threshold < 0.0 else " (never)" if link.threshold >= 1.0 else ""


def _turn(threshold: float, link: Link, first: str, second: str) -> str:
    probability = answering.two_probabilities(link.score(np.array([threshold])))[0, 1]
    shown, chance = number(threshold), f"probability {probability:.3g}"
    if threshold < 0.0:
        return f"always {second}: no truth is as low as {shown} ({chance})"
    if threshold >= 1.0:
        return f"always {first}: no truth is above {shown} ({chance})"
    return f"{second} when the truth is above {shown} ({chance}), else {first}"


def _tuple_of(kind: type, given: Any, what: str) -> tuple[Any, ...]:
    if not isinstance(given, list | tuple):
        raise TypeError(f"{what} must be a list of {kind.__name__}, got {type(given).__name__}")
    wrong = [type(item).__name__ for item in given if not isinstance(item, kind)]
    if wrong:
        raise TypeError(f"{what} must be a list of {kind.__name__}, got {wrong[0]} in it")
    return tuple(given)


def _some(names: Any) -> str:
    shown = ", ".join(f"{name!r:.60}" for name in list(names)[:10])
    return shown + (f" and {len(names) - 10} more" if len(names) > 10 else "")
