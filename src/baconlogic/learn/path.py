"""What a fit leaves behind: the decision, the best tree of each form and size, and what happened."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import accumulate
from typing import Any

import numpy as np

from baconlogic.core import Floats
from baconlogic.core.decision import Decision, Link
from baconlogic.core.forms import Form, form_of
from baconlogic.core.nodes import Gate
from baconlogic.core.tree import Tree
from baconlogic.core.words import aligned


@dataclass(frozen=True, eq=False)
class HeldOut:
    """What trees of one size said of rows they had not seen: calibrated scores, and the cases each row stands for."""

    scores: Floats
    positive: Floats  # cases of the class that the tree speaks for
    negative: Floats

    @property
    def losses(self) -> Floats:
        """The mean log-loss of each row's cases."""
        yes = self.positive / (self.positive + self.negative)
        return np.asarray(np.logaddexp(0.0, self.scores) - yes * self.scores)


@dataclass(frozen=True)
class PathEntry:
    """The best tree of one form and size, and how it does on rows held out: log-loss, its standard error, accuracy."""

    leaves: int
    tree: Tree
    loss: float
    error: float
    accuracy: float
    in_sample_loss: float
    logic: bool  # whether it beats the base rate on rows held out; where it does not, the link answers that rate
    link: Link
    held: HeldOut | None = field(default=None, compare=False, repr=False)  # None where no rows were held out

    @cached_property
    def form(self) -> Form:
        """The form in which it is told: a checklist, a scorecard, rules, or graded."""
        return form_of(self.tree, self.link.threshold)

    @cached_property
    def gates(self) -> int:
        """The number of gates."""
        return sum(isinstance(node, Gate) for _, node in self.tree.walk())

    @cached_property
    def words(self) -> int:
        """The number of words of the printed tree."""
        return len(str(self.tree).split())

    def __str__(self) -> str:
        held = f"held-out log-loss {self.loss:.4f} +- {self.error:.4f}, accuracy {self.accuracy:.4f}"
        said = "not validated" if math.isnan(self.loss) else held
        return f"{self.form}, {_leaves(self.leaves)}: {said}; {self.tree.formula()}"


class Path(list[PathEntry]):
    """The best tree of each form and size. Printed, it is a table that marks the front and the entry taken."""

    place: int | None = None  # of the entry that was taken; None where it is not known

    def marked(self, history: History, tree: Tree) -> Path:
        """Return the path of a fit that has taken this tree."""
        other, entry = Path(self), self.taken(history)
        own = [i for i, each in enumerate(self) if each.tree == tree]
        same = [i for i in own if self[i] is entry]
        other.place = next(iter(same or own), None)
        return other

    @property
    def front(self) -> list[PathEntry]:
        """The entries for which no other has both fewer words and a lower loss."""
        known = sorted((e for e in self if not math.isnan(e.loss)), key=lambda entry: (entry.words, entry.loss))
        lowest = accumulate((entry.loss for entry in known), min)
        return [entry for i, (entry, low) in enumerate(zip(known, lowest, strict=True)) if i == 0 or entry.loss == low]

    def sizes(self) -> list[PathEntry]:
        """Return the best entry of each size, in order."""
        best: dict[int, PathEntry] = {}
        for entry in sorted(self, key=lambda entry: (entry.leaves, math.isnan(entry.loss), entry.loss)):
            best.setdefault(entry.leaves, entry)
        return list(best.values())

    def taken(self, history: History) -> PathEntry | None:
        """Return the entry that a fit has taken."""
        own = (entry for entry in self if (entry.leaves, entry.form) == (history.leaves, history.form))
        return next(own, None)

    def __str__(self) -> str:
        front = self.front
        lines = [
            [
                str(i), entry.form, str(entry.leaves), str(entry.gates), str(entry.words),
                "" if math.isnan(entry.loss) else f"{entry.loss:.4f} +- {entry.error:.4f}",
                "" if math.isnan(entry.accuracy) else f"{entry.accuracy:.4f}", "*" if entry in front else "",
                "<- taken" if i == self.place else "",
            ]
            for i, entry in enumerate(self)
        ]  # fmt: skip
        header = ["", "form", "leaves", "gates", "words", "held-out log-loss", "accuracy", "front", ""]
        table = aligned(header, lines, left={1, 8})
        return f"{table}\n* no other has both fewer words and a lower log-loss" if front else table

    def __repr__(self) -> str:
        """Return the table too: with more than two classes `path_` is a tuple of these."""
        return f"\n{self}\n" if self else "[]"


def _leaves(count: int) -> str:
    return f"{count} {'leaf' if count == 1 else 'leaves'}"


@dataclass(frozen=True)
class History:
    """What happened while one target was learned."""

    label: Any  # the class that the tree speaks for
    search: str
    stopped: str  # why
    leaves: int
    form: str
    logic: bool  # whether the tree beats the base rate on rows held out
    loss: float  # held-out log-loss
    base_loss: float  # that of always answering the base rate
    seconds: float
    attempts: tuple[Any, ...] = ()
    interrupted: bool = False  # from the keyboard, and the best tree found so far was kept

    def __str__(self) -> str:
        said = f"{self.label}: {self.search} search, {self.stopped}; {_leaves(self.leaves)} in {self.seconds:.1f} s"
        if math.isnan(self.loss):
            return f"{said}; not validated" if self.logic else f"{said}; the base rate is answered"
        scores = f"held-out log-loss {self.loss:.4f}, that of the base rate {self.base_loss:.4f}"
        return f"{said}; {scores}" if self.logic else f"{said}; no apparent logic, the base rate is answered; {scores}"


def tree_provenance(history: History, path: Sequence[PathEntry]) -> dict[str, Any]:
    """Return what a file says of where a tree comes from; None stands for what was not measured."""
    entry = Path(path).taken(history)
    accuracy = math.nan if entry is None else entry.accuracy
    return {
        "search": history.search, "stopped": history.stopped, "leaves": history.leaves, "form": history.form,
        "logic": history.logic, "held_out_log_loss": _known(history.loss),
        "base_rate_log_loss": _known(history.base_loss), "held_out_accuracy": _known(accuracy),
    }  # fmt: skip


def _known(value: float) -> float | None:
    return None if math.isnan(value) else float(value)


def with_entry(
    decision: Decision, paths: Sequence[Path], histories: Sequence[History], place: int, entry: PathEntry
) -> tuple[Decision, list[History]]:
    """Return a decision and its histories with another entry of the path in one place."""
    trees, links, changed = list(decision.trees), list(decision.links), list(histories)
    trees[place], links[place] = entry.tree, entry.link
    changed[place] = replace(histories[place], leaves=entry.leaves, form=entry.form, loss=entry.loss, logic=entry.logic)
    said = [tree_provenance(history, path) for history, path in zip(changed, paths, strict=True)]
    provenance = {key: value for key, value in decision.provenance.items() if key != "threshold"} | {"trees": said}
    other = replace(decision, trees=tuple(trees), links=tuple(links), provenance=provenance, turns_at=None)
    return other, changed
