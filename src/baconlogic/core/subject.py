"""What is asked about: one tree with the truth at which its decision turns, the two answers, and the columns it knows.

A question takes a Tree, a Decision (what `load` gives) or a fitted classifier. A tree alone turns at 0.5 and answers
yes or no. Of more than two classes the tree of one is asked about: `label`, rather than not. And what answers have in
common: they are frozen, read well as text, and can be carried on as plain data or a table.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from baconlogic.core import Bools, Floats
from baconlogic.core import evaluate as evaluation
from baconlogic.core.answers import Label, Link
from baconlogic.core.checks import LABEL, ParameterError, check_finite
from baconlogic.core.columns import Columns
from baconlogic.core.decision import Decision
from baconlogic.core.nodes import Leaf, Node
from baconlogic.core.tree import Tree

HALF = 0.5  # where a tree turns that states nothing else


@dataclass(frozen=True)
class Subject:
    """A tree and its decision: `yes` where the truth is above the threshold, else `no`."""

    tree: Tree
    threshold: float
    yes: Label
    no: Label
    link: Link | None = None  # to probability, where it is known
    columns: tuple[str, ...] = ()  # the columns seen at fit, in their order, where they are known
    classes: tuple[Label, ...] = ()  # every label that y may hold, where they are known

    def decides(self, truths: Floats) -> Bools:
        """Whether each truth means yes."""
        return np.asarray(truths > self.threshold)

    def answer(self, decided: Any) -> Label:
        """Return the label of a decision."""
        return self.yes if decided else self.no

    def table(self, X: Any, columns: Sequence[str] | None = None) -> Columns:
        """Return rows as named columns; an array without names has those seen at fit."""
        table = Columns(X, columns)
        if columns is None and self.columns:
            table.take_in_order(self.columns)
        return table

    def truths(self, table: Columns) -> Floats:
        """Return the truth of each row."""
        return evaluation.truths(self.tree.root, table)

    def judged(self, X: Any, y: ArrayLike) -> tuple[Floats, Bools]:
        """Return the truth of each row and whether its label means yes."""
        table = self.table(X)
        if not table.rows:
            raise ValueError("the table has no rows")
        return self.truths(table), self.positive(y, table.rows)

    def case(self, row: Any, columns: Sequence[str] | None = None, *, partial: bool = False) -> Instance:
        """Read one row, once, as the tree does.

        A row is a mapping of names to values, a pandas series, one row of a frame, or values in the order of the
        columns. With `partial`, columns that the row does not have count as missing.
        """
        leaves = leaves_by_feature(self.tree)
        values, found = dict[str, Any].fromkeys(leaves), dict.fromkeys(leaves, np.array([None]))
        if partial and isinstance(row, Mapping) and not row:
            return Instance((), leaves, values, found)
        table = self.table(*_as_rows(row, columns))
        if table.rows != 1:
            raise ValueError(f"expected one row, got {table.rows}; of a frame take one, e.g. df.iloc[[0]]")
        if not partial:
            table.require(self.tree.features)
        for name in (name for name in leaves if name in table.names):
            categorical = all(leaf.criterion.categorical for leaf in leaves[name])
            found[name] = table.categories(name) if categorical else table.numbers(name)
            value = found[name].tolist()[0]
            if value is not None and value == value:
                values[name] = int(value) if isinstance(value, float) and table.whole(name) else value
        return Instance(tuple(map(str, table.names)), leaves, values, found)

    def positive(self, y: ArrayLike, rows: int) -> Bools:
        """Return which labels mean yes."""
        labels = np.asarray(y)
        if labels.ndim != 1 or len(labels) != rows:
            raise ValueError(f"y needs one label for each of {rows} rows, got an array of shape {labels.shape}")
        allowed = self.classes or ((False, True) if self.yes is True else labels.tolist())
        strange = [label for label in labels.tolist() if label not in allowed]
        if strange:
            known = ", ".join(repr(label) for label in allowed)
            said = f"y holds {strange[0]!r:.60}, expected {known}; of a tree alone, "
            raise ParameterError(said, LABEL, " says what means yes")
        found = np.asarray(labels == self.yes, dtype=bool)
        if not self.classes and self.yes is not True and not found.any():
            held = list(dict.fromkeys(labels.tolist()))
            shown = ", ".join(f"{label!r:.60}" for label in held[:5]) + (", ..." if len(held) > 5 else "")
            raise ParameterError(f"no row is {self.yes!r:.60}, which ", LABEL, f" says means yes; y holds {shown}")
        return found


@dataclass(frozen=True)
class Instance:
    """One case as a tree reads it; its features are in the order of `Tree.features`."""

    names: tuple[str, ...]  # of all columns that the row has
    leaves: dict[str, list[Leaf]]  # on each feature
    values: dict[str, Any]  # of each feature; None where missing
    columns: dict[str, NDArray[Any]]  # the same, as a table of one row

    @property
    def missing(self) -> list[str]:
        """The features whose values are missing."""
        return [name for name, value in self.values.items() if value is None]

    def rows(self, count: int = 1) -> dict[str, Any]:
        """Return a table of so many rows like this one."""
        return {name: np.repeat(column, count) for name, column in self.columns.items()}


def leaves_by_feature(tree: Tree) -> dict[str, list[Leaf]]:
    """Return the leaves on each feature, the most important feature first."""
    found: dict[str, list[Leaf]] = {feature: [] for feature in tree.features}
    for _, node in tree.walk():
        if isinstance(node, Leaf):
            found[node.feature].append(node)
    return found


def subject(model: Any, threshold: float | None = None, label: Any = None) -> Subject:
    """Return what is asked about; `threshold` asks what if the decision turned there."""
    model = getattr(model, "decision_", model)
    if isinstance(model, Decision):
        found = _of_decision(model, label)
    elif isinstance(model, Tree):
        found = Subject(model, HALF, True if label is None else label, False if label is None else f"not {label}")
    else:
        raise TypeError(f"expected a Tree, a Decision or a fitted classifier, got {type(model).__name__}")
    if threshold is None:
        return found
    check_finite(threshold, "a threshold")
    return replace(found, threshold=float(threshold))


def _of_decision(decision: Decision, label: Any) -> Subject:
    if not decision.trees:
        raise ValueError(f"this decision has no tree: every answer is {decision.classes[0]!r}")
    columns, classes = tuple(feature.name for feature in decision.features), decision.classes
    if len(classes) == 2 and label is not None and label != classes[1]:
        raise ParameterError(f"the tree speaks for {classes[1]!r}, so ", LABEL, f" can be nothing else; got {label!r}")
    if len(classes) == 2:
        no, yes = classes
        return Subject(decision.tree, decision.threshold, yes, no, decision.links[0], columns, classes)
    if label is None or label not in classes:
        known = ", ".join(map(repr, classes))
        raise ParameterError("there is a tree for each class; give ", LABEL, f", one of {known}")
    place = classes.index(label)
    link = decision.links[place]
    return Subject(decision.trees[place], link.threshold, label, f"not {label}", link, columns, classes)


def _as_rows(row: Any, columns: Sequence[str] | None) -> tuple[Any, Sequence[str] | None]:
    """Return one row as a table, with the names of its columns where they come apart from it."""
    if isinstance(row, Mapping):
        return {name: value if _is_column(value) else [value] for name, value in row.items()}, None
    if hasattr(row, "to_dict") and not hasattr(row, "columns"):  # a pandas series
        if not any(isinstance(name, str) for name in row.index):
            return [row.to_list()], columns
        if not row.index.is_unique:
            raise ValueError("two values of the row have the same name; rename one of them")
        return {name: [value] for name, value in row.to_dict().items()}, None
    if isinstance(row, list | tuple | np.ndarray) and len(row) and not _is_column(row[0]):
        return [list(row)], columns
    return row, columns


def _is_column(value: Any) -> bool:
    return isinstance(value, list | tuple | Mapping) or (hasattr(value, "__len__") and not isinstance(value, str))


class Result:
    """A frozen dataclass that is an answer."""

    def to_dict(self) -> dict[str, Any]:
        """Return the answer as plain data; trees are written as formulas, and what begins with _ stays inside."""
        names = [each.name for each in fields(self) if not each.name.startswith("_")]  # type: ignore[arg-type]
        return {name: _plain(getattr(self, name)) for name in names}


class Listing(Result):
    """An answer that is a table: `rows` are its lines, all of one kind."""

    rows: tuple[Result, ...]

    def to_frame(self) -> Any:
        """Return the table as a pandas frame."""
        try:
            import pandas as pd
        except ModuleNotFoundError:
            raise ModuleNotFoundError("to_frame() needs pandas: pip install pandas; to_dict() does not") from None
        return pd.DataFrame([row.to_dict() for row in self.rows])


def _plain(value: Any) -> Any:
    if isinstance(value, Result):
        return value.to_dict()
    if isinstance(value, Tree | Node):
        return (value if isinstance(value, Tree) else Tree(value)).formula()
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if is_dataclass(value) and not isinstance(value, type):
        return {each.name: _plain(getattr(value, each.name)) for each in fields(value)}
    return [_plain(item) for item in value] if isinstance(value, list | tuple) else value
