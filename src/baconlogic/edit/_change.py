"""What an edit changes: truths, decisions, accuracy, size."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from baconlogic import metrics
from baconlogic.core import evaluate as evaluation
from baconlogic.core.nodes import Gate, Leaf
from baconlogic.core.results import Result
from baconlogic.core.subject import Subject, subject
from baconlogic.core.words import number

if TYPE_CHECKING:
    from baconlogic.core.tree import Tree

SHOWN = 10  # rows, or items of a list, that a text names


@dataclass(frozen=True)
class Change(Result):
    """The difference between two trees over some rows; a decision is yes where the truth is above the threshold."""

    largest: float  # change of truth
    mean: float  # absolute change of truth
    changed: tuple[int, ...]  # the rows whose decision changes, by number
    rows: int
    accuracy_before: float | None  # where labels are known
    accuracy_after: float | None
    leaves_before: int
    leaves_after: int
    gates_before: int
    gates_after: int

    @property
    def share(self) -> float:
        """The share of decisions that change."""
        return len(self.changed) / self.rows if self.rows else 0.0

    def to_dict(self) -> dict[str, Any]:
        """Return the change as plain data."""
        return super().to_dict() | {"share": self.share}

    def __str__(self) -> str:
        said = [
            f"no truth changes by more than {_rounded_up(self.largest)}" if self.largest else "no truth changes",
            f"{len(self.changed) or 'none'} of {self.rows} decisions change{_named(self.changed)}",
        ]
        if self.accuracy_before is not None and self.accuracy_after is not None:
            said.append(_step("accuracy", f"{self.accuracy_before:.3f}", f"{self.accuracy_after:.3f}"))
        said.append(_step("leaves", str(self.leaves_before), str(self.leaves_after)))
        said.append(_step("gates", str(self.gates_before), str(self.gates_after)))
        return "; ".join(said)


def change(
    before: Any, after: Tree, X: Any, y: Any = None, *, threshold: float | None = None, label: Any = None
) -> Change:
    """Return what changes from one tree to another over the rows X; with labels y, also how accuracy does.

    `before` may be a Decision or a fitted classifier: its threshold counts, for both trees.
    """
    return change_of(subject(before, threshold, label), after, X, y)


def change_of(asked: Subject, after: Tree, X: Any, y: Any = None) -> Change:
    """Return what changes from the tree that is asked about to another."""
    table = asked.table(X)
    first, second = (evaluation.truths(tree.root, table) for tree in (asked.tree, after))
    decided = asked.decides(first), asked.decides(second)
    accuracy: list[float | None] = [None, None]
    if y is not None and table.rows:
        positive = asked.positive(y, table.rows)
        accuracy = [metrics.accuracy(yes, positive) for yes in decided]
    difference = np.abs(second - first)
    (leaves, gates), (leaves_after, gates_after) = count(asked.tree), count(after)
    return Change(
        largest=float(np.max(difference, initial=0.0)),
        mean=float(np.mean(difference)) if table.rows else 0.0,
        changed=tuple(np.flatnonzero(decided[0] != decided[1]).tolist()),
        rows=table.rows,
        accuracy_before=accuracy[0],
        accuracy_after=accuracy[1],
        leaves_before=leaves,
        leaves_after=leaves_after,
        gates_before=gates,
        gates_after=gates_after,
    )


def asking(asked: Subject, tree: Tree) -> Subject:
    """Return the same question about another tree."""
    return replace(asked, tree=tree)


def count(tree: Tree) -> tuple[int, int]:
    """Return the number of leaves and of gates."""
    nodes = [node for _, node in tree.walk()]
    return sum(isinstance(node, Leaf) for node in nodes), sum(isinstance(node, Gate) for node in nodes)


def _rounded_up(value: float) -> str:
    """Write a bound with two digits, rounded so that it stays a bound."""
    digits = 1 - math.floor(math.log10(value))
    if digits > 300:
        return f"{value:.2g}"
    shown = math.ceil(value * 10.0**digits) / 10.0**digits
    return number(shown) if shown >= 1e-4 else f"{shown:.1e}"


def _named(rows: tuple[int, ...]) -> str:
    if not rows:
        return ""
    more = f" and {len(rows) - SHOWN} more" if len(rows) > SHOWN else ""
    return f" (row{'s' if len(rows) > 1 else ''} {', '.join(map(str, rows[:SHOWN]))}{more})"


def _step(what: str, before: str, after: str) -> str:
    return f"{what} {before}" if before == after else f"{what} {before} -> {after}"
