"""How accuracy falls as leaves are taken away one by one (Appendix F): from the bottom, and in the best order."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from baconlogic.explain.absence import Recombined
from baconlogic.explain.roles import LeafRole, leaf_roles
from baconlogic.results import Listing, Result
from baconlogic.subjects import subject
from baconlogic.wording import aligned, listed, one_line, percent

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import ArrayLike, NDArray

    Floats = NDArray[np.float64]

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
    kept: tuple[str, ...]  # the features of the leaves that are left, heaviest first


@dataclass(frozen=True)
class PruningCurve(Listing):
    """Both orders, each from the whole tree down to one leaf."""

    rows: tuple[PruningStep, ...]

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
            [
                str(low.leaves),
                one_line(low.removed),
                _exact(low.accuracy),
                one_line(best.removed),
                _exact(best.accuracy),
            ]
            for low, best in zip(self.steps("bottom"), self.steps("best"), strict=True)
        ]
        lines[0][1] = lines[0][3] = "(the whole tree)"
        return f"{aligned(header, lines)}\n\n{self._conclusion()}"

    def _conclusion(self) -> str:
        least, of = self.smallest(), self.rows[0].leaves
        if of == 1:
            return "There is but one leaf."
        if least.leaves == of:
            return "Without any one of the leaves it does worse."
        kept = listed([one_line(name) for name in least.kept], "and")
        do = "does" if least.leaves == 1 else "do"
        return f"{least.leaves} of {of} leaves {do} as well as all of them, {percent(least.accuracy)} right: {kept}."


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
    known, roles = asked.positive(y, table.rows), leaf_roles(asked.tree)
    heaviest = sorted(roles, key=lambda role: -role.weight)
    features = {role.position: role.leaf.feature for role in heaviest}
    whole = Recombined(asked.tree, table).whole
    decided = asked.decides(whole)

    def accuracy(truths: Floats) -> float:
        return float(np.mean(asked.decides(truths) == known))

    steps: list[PruningStep] = []
    for order in ORDERS:
        tree = Recombined(asked.tree, table)
        leaves = bottom_order(roles) if order == "bottom" else best_order(roles, tree, accuracy)
        steps.append(PruningStep(order, len(features), "", accuracy(whole), 0.0, tuple(features.values())))
        for leaf in leaves:
            tree.take_away(leaf)
            changed = float(np.mean(asked.decides(tree.whole) != decided))
            kept = tuple(feature for position, feature in features.items() if position in tree.leaves)
            steps.append(PruningStep(order, len(kept), features[leaf], accuracy(tree.whole), changed, kept))
    return PruningCurve(tuple(steps))


def bottom_order(roles: list[LeafRole]) -> Iterator[int]:
    """Give leaves, all but one, deepest first; of equally deep ones the lightest first."""
    ranked = sorted(roles, key=lambda role: (-role.depth, role.weight))
    yield from (role.position for role in ranked[:-1])


def best_order(roles: list[LeafRole], tree: Recombined, accuracy: Callable[[Floats], float]) -> Iterator[int]:
    """Give leaves, all but one, each the one without which what is left of `tree` is most accurate.

    Of equally good ones it is that which leaves truth nearest to the whole tree's, then the deepest.
    """
    ranked = [*bottom_order(roles), max(roles, key=lambda role: (-role.depth, role.weight)).position]
    whole = tree.whole
    while len(tree.leaves) > 1:
        tried: dict[int, tuple[float, float]] = {}
        for leaf in (each for each in ranked if each in tree.leaves):
            truths = tree.without([leaf])
            assert truths is not None  # noqa: S101
            tried[leaf] = -accuracy(truths), float(np.mean(np.abs(truths - whole)))
        yield min(tried, key=tried.__getitem__)


def _exact(share: float) -> str:
    return f"{100.0 * share:.2f}%"
