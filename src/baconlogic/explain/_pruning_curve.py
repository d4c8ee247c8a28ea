"""How accuracy falls as leaves are taken away one by one (Appendix F): from the bottom, and in the best order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from baconlogic import metrics
from baconlogic.core.evaluate import Truths, leaf_truths
from baconlogic.core.nodes import Leaf
from baconlogic.core.subject import Listing, Result, subject
from baconlogic.core.words import aligned, listed, one_line, percent
from baconlogic.edit._prune import best_order, bottom_order

ORDERS = ("bottom", "best")
ROUNDING = 1e-12  # accuracies that differ by less are equal


@dataclass(frozen=True)
class PruningStep(Result):
    """A tree with some leaves taken away."""

    order: str  # "bottom" or "best"
    leaves: int  # left
    removed: str  # the feature of the leaf taken away in this step; "" for the whole tree
    accuracy: float
    changed: float  # share of decisions that differ from the whole tree's
    kept: tuple[str, ...]  # the features that are left, heaviest first


@dataclass(frozen=True)
class PruningCurve(Listing):
    """Both orders, each from the whole tree down to one leaf."""

    rows: tuple[PruningStep, ...]
    base: float = 0.0  # the accuracy of always giving the more frequent answer

    def steps(self, order: str = "best") -> tuple[PruningStep, ...]:
        """Return the steps of one order, "bottom" or "best", from the whole tree down."""
        if order not in ORDERS:
            raise ValueError(f"unknown order {order!r}; use one of {', '.join(ORDERS)}")
        return tuple(row for row in self.rows if row.order == order)

    def smallest(self, tolerance: float = 0.0, order: str = "best") -> PruningStep:
        """Return the step with the fewest leaves whose accuracy is within `tolerance` of the whole tree's."""
        steps = self.steps(order)
        kept = [step for step in steps if step.accuracy >= steps[0].accuracy - tolerance - ROUNDING]
        return min(kept, key=lambda step: step.leaves, default=steps[0])

    def __str__(self) -> str:
        header = ["leaves left", "from the bottom: without", "accuracy", "in the best order: without", "accuracy"]
        lines = [
            [str(low.leaves), low.removed, _exact(low.accuracy), best.removed, _exact(best.accuracy)]
            for low, best in zip(self.steps("bottom"), self.steps("best"), strict=True)
        ]
        lines[0][1] = lines[0][3] = "(the whole tree)"
        return f"{aligned(header, lines)}\n\n{self.conclusion}"

    @property
    def conclusion(self) -> str:
        """How few leaves do as well as all of them, in words."""
        least, of = self.smallest(), self.rows[0].leaves
        if of == 1:
            return "There is but one leaf."
        if least.leaves == of:
            return "Without any one of the leaves it does worse."
        kept = listed([one_line(name) for name in least.kept], "and")
        do = "does" if least.leaves == 1 else "do"
        said = f"{least.leaves} of {of} leaves {do} as well as all of them, {percent(least.accuracy)} right: {kept}."
        but = f" But so does always giving the more frequent answer ({percent(self.base)}): accuracy tells little here."
        return said if least.accuracy > self.base + ROUNDING else said + but


def pruning_curve(
    model: Any,
    X: Any,
    y: ArrayLike,
    *,
    threshold: float | None = None,
    label: Any = None,
    columns: Sequence[str] | None = None,
) -> PruningCurve:
    """Take leaves away one by one, down to one, and return the accuracy after each, in two orders.

    "bottom" takes the deepest leaf first, as the paper's pruning does; of equally deep ones the lightest. "best" takes
    at each step the leaf without which accuracy is highest; of equally good ones that which moves truth least.
    """
    asked = subject(model, threshold, label)
    table = asked.table(X, columns)
    if not table.rows:
        raise ValueError("a pruning curve needs at least one row, got none")
    known = asked.positive(y, table.rows)
    truths = leaf_truths(asked.tree.root, table)
    whole = asked.decides(Truths(asked.tree.root, truths).of[-1])
    orders = bottom_order(asked.tree), ((leaf, tree) for leaf, tree, _ in best_order(asked, table, known))
    steps: list[PruningStep] = []
    for order, taken in zip(ORDERS, orders, strict=True):
        for removed, tree in [("", asked.tree), *((leaf.feature, tree) for leaf, tree in taken)]:
            decided = asked.decides(Truths(tree.root, truths).of[-1])
            leaves = sum(isinstance(node, Leaf) for _, node in tree.walk())
            right, changed = metrics.accuracy(decided, known), float(np.mean(decided != whole))
            steps.append(PruningStep(order, leaves, removed, right, changed, tree.features))
    share = float(np.mean(known))
    return PruningCurve(tuple(steps), max(share, 1.0 - share))


def _exact(share: float) -> str:
    return f"{100.0 * share:.2f}%"
