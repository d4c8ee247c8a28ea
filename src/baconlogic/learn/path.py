"""What a fit leaves behind: the decision, the best tree of each size, and what happened."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from baconlogic.core import Floats
from baconlogic.core.decision import Decision, Link
from baconlogic.core.tree import Tree


@dataclass(frozen=True, eq=False)
class HeldOut:
    """What trees of one size said of rows they had not seen: calibrated scores, and the cases each row stands for."""

    scores: Floats
    positive: Floats  # cases of the class that the tree speaks for
    negative: Floats


@dataclass(frozen=True)
class PathEntry:
    """The best tree of one size, and how it does on rows held out: log-loss, its standard error, accuracy."""

    leaves: int
    tree: Tree
    loss: float
    error: float
    accuracy: float
    in_sample_loss: float
    logic: bool  # whether it beats the base rate on rows held out; where it does not, the link answers that rate
    link: Link
    held: HeldOut | None = field(default=None, compare=False, repr=False)  # None where no rows were held out

    def __str__(self) -> str:
        held = f"held-out log-loss {self.loss:.4f} +- {self.error:.4f}, accuracy {self.accuracy:.4f}"
        return f"{_leaves(self.leaves)}: {'not validated' if math.isnan(self.loss) else held}; {self.tree.formula()}"


def _leaves(count: int) -> str:
    return f"{count} {'leaf' if count == 1 else 'leaves'}"


@dataclass(frozen=True)
class History:
    """What happened while one target was learned."""

    label: Any  # the class that the tree speaks for
    search: str
    stopped: str  # why
    leaves: int
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
    accuracy = next((entry.accuracy for entry in path if entry.leaves == history.leaves), math.nan)
    return {
        "search": history.search, "stopped": history.stopped, "leaves": history.leaves, "logic": history.logic,
        "held_out_log_loss": _known(history.loss), "base_rate_log_loss": _known(history.base_loss),
        "held_out_accuracy": _known(accuracy),
    }  # fmt: skip


def _known(value: float) -> float | None:
    return None if math.isnan(value) else float(value)


def with_entry(
    decision: Decision, paths: Sequence[list[PathEntry]], histories: Sequence[History], place: int, entry: PathEntry
) -> tuple[Decision, list[History]]:
    """Return a decision and its histories with another entry of the path in one place."""
    trees, links, changed = list(decision.trees), list(decision.links), list(histories)
    trees[place], links[place] = entry.tree, entry.link
    changed[place] = replace(histories[place], leaves=entry.leaves, loss=entry.loss, logic=entry.logic)
    said = [tree_provenance(history, path) for history, path in zip(changed, paths, strict=True)]
    provenance = {key: value for key, value in decision.provenance.items() if key != "threshold"} | {"trees": said}
    other = replace(decision, trees=tuple(trees), links=tuple(links), provenance=provenance, turns_at=None)
    return other, changed
