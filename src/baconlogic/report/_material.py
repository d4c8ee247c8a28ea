"""What a report is made of: the rows given, read once, and one tree with what it says of them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from baconlogic.core import Bools, Floats
from baconlogic.core.columns import Columns
from baconlogic.core.decision import Decision
from baconlogic.core.nodes import Leaf
from baconlogic.core.subject import Subject, leaves_by_feature, subject
from baconlogic.explain import _case as cases

MOST_ROWS, FEWEST_ROWS = 20_000, 500  # for what is slow: more are sampled
MOST_WORK = 20_000_000  # rows times leaves times leaves
SEED = 0
LARGEST_WHOLE = 2.0**53  # up to which floats tell whole numbers apart


@dataclass(frozen=True)
class Rows:
    """The rows given; `used` are the columns that the trees use, numbers or categories as their leaves read them."""

    table: Columns
    used: dict[str, NDArray[Any]]
    leaves: dict[str, list[Leaf]]  # of all trees, by feature
    count: int
    sample: NDArray[np.intp] | None  # places of the rows for what is slow; None where all are few enough

    def some(self) -> dict[str, NDArray[Any]]:
        """Return the columns in use at the sampled rows."""
        return self.used if self.sample is None else {name: column[self.sample] for name, column in self.used.items()}

    def case(self, place: int) -> dict[str, Any]:
        """Return one row, missing values as None."""
        found = {name: column[place] for name, column in self.used.items()}
        plain = {name: value.item() if isinstance(value, np.generic) else value for name, value in found.items()}
        return {name: None if value is None or value != value else value for name, value in plain.items()}


@dataclass(frozen=True)
class Material:
    """One tree and the rows: `place` is that of the tree among those of the model."""

    model: Any
    label: Any  # to hand on to questions
    place: int
    asked: Subject
    rows: Rows
    truths: Floats
    y: NDArray[Any] | None
    positive: Bools | None

    @property
    def decision(self) -> Decision | None:
        """The decision that the tree belongs to, where there is one."""
        return decision_of(self.model)

    @property
    def several(self) -> bool:
        """Whether it is one of the trees of more than two classes."""
        return self.decision is not None and len(self.decision.trees) > 1

    @property
    def some_y(self) -> NDArray[Any] | None:
        """The labels at the sampled rows."""
        return self.y if self.y is None or self.rows.sample is None else self.y[self.rows.sample]

    @property
    def leaves(self) -> int:
        """The number of leaves of the tree."""
        return sum(not node.children for _, node in self.asked.tree.walk())

    @property
    def both_kinds(self) -> bool:
        """Whether there are labels, of both answers."""
        return self.positive is not None and bool(self.positive.any()) and not self.positive.all()

    @property
    def answers(self) -> list[str]:
        """All answers in words: no and yes, or the classes of several trees."""
        decision = self.decision if self.several else None
        labels = (self.asked.no, self.asked.yes) if decision is None else decision.classes
        return [cases.answer(label) for label in labels]

    @property
    def yes(self) -> str:
        """The answer that the tree speaks for, in words."""
        return cases.answer(self.asked.yes)

    @property
    def no(self) -> str:
        """The other answer, in words."""
        return cases.answer(self.asked.no)


def decision_of(model: Any) -> Decision | None:
    """Return the decision of a model; a tree alone has none."""
    found = getattr(model, "decision_", model)
    return found if isinstance(found, Decision) else None


def materials(model: Any, X: Any, y: ArrayLike | None, label: Any) -> list[Material]:
    """Return what there is to tell: one tree, or that of each class, or of the class that `label` picks."""
    decision = decision_of(model)
    classes = () if decision is None or len(decision.trees) < 2 else decision.classes
    labels: Sequence[Any] = classes if classes and label is None else [label]
    subjects = [subject(model, None, each) for each in labels]
    rows = _rows(model, subjects[0].table(X))
    known = None if y is None else np.asarray(y)
    found = []
    for each, asked in zip(labels, subjects, strict=True):
        place = classes.index(each) if classes else 0
        positive = None if known is None else asked.positive(known, rows.count)
        found.append(Material(model, each, place, asked, rows, asked.truths(rows.table), known, positive))
    return found


def _rows(model: Any, table: Columns) -> Rows:
    leaves: dict[str, list[Leaf]] = defaultdict(list)
    decision = decision_of(model)
    for tree in (model,) if decision is None else decision.trees:
        for name, own in leaves_by_feature(tree).items():
            leaves[name] += own
    table.require(list(leaves))
    if not table.rows:
        raise ValueError("a report needs at least one row, got none")
    used: dict[str, NDArray[Any]] = {}
    for name, own in leaves.items():
        if all(leaf.criterion.categorical for leaf in own):
            used[name] = table.categories(name)
        else:
            column = table.numbers(name)
            whole = table.whole(name) and bool((np.abs(column) <= LARGEST_WHOLE).all())
            used[name] = column.astype(np.int64) if whole else column
    total, sample = sum(len(own) for own in leaves.values()), None
    most = min(MOST_ROWS, max(FEWEST_ROWS, MOST_WORK // total**2))
    if table.rows > most:
        sample = np.sort(np.random.default_rng(SEED).choice(table.rows, most, replace=False))
    return Rows(table, used, dict(leaves), table.rows, sample)
