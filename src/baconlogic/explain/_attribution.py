"""What each feature does to the decision: its weight and role, and what changes without it (sections 3.3.1 and 4.1)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from baconlogic import metrics
from baconlogic.core import Bools, Floats
from baconlogic.core.evaluate import Truths, leaf_truths
from baconlogic.core.nodes import Leaf
from baconlogic.core.subject import Listing, Result, Subject, subject
from baconlogic.core.words import aligned, listed, one_line, percent
from baconlogic.edit._structure import without_leaves
from baconlogic.explain._words import LeafRole, by_feature, feature_role, leaf_roles

LeafTruths = dict[Leaf, Floats]

RARE = 0.01  # the share of rows at each end of a feature's values that is left out: one outlier must not decide
MOST_VALUES = 21  # of a feature with several leaves to be tried in each row


@dataclass(frozen=True)
class FeatureImpact(Result):
    """One feature. Shares are of rows; what is without the feature is None where it is all the tree has."""

    feature: str
    weight: float  # the sum over its leaves of the product of weights on the way to them
    role: str  # at its own gate; of several leaves, the heaviest first
    whole: str  # mandatory or sufficient for the whole decision, or ""
    decisive: float  # rows decided by its value: of the values it takes in X, some mean yes here and some no
    changed: float | None  # rows decided otherwise when it is taken away
    moved: float | None  # mean absolute change of truth when it is taken away
    accuracy_drop: float | None  # accuracy with it minus without it
    _role_in_words: str

    @property
    def role_in_words(self) -> str:
        """The role at its own gate, and what it is to the whole where that is not the same."""
        return self._role_in_words


@dataclass(frozen=True)
class Attribution(Listing):
    """Features by what they do to decisions, most first: by decisive, then changed, moved and weight."""

    rows: tuple[FeatureImpact, ...]
    unused: tuple[str, ...]  # columns of X that the tree does not use
    cases: int
    accuracy: float | None  # of the whole tree

    def __str__(self) -> str:
        header = ["feature", "role", "weight", "decides", "changes", "moves truth by"]
        lines = [
            [row.feature, row.role_in_words, *map(_share, (row.weight, row.decisive, row.changed, row.moved))]
            for row in self.rows
        ]
        if self.accuracy is not None:
            header.append("accuracy lost")
            lines = [[*line, _share(row.accuracy_drop)] for line, row in zip(lines, self.rows, strict=True)]
        said = [aligned(header, lines, left=2), "", _LEGEND]
        if self.accuracy is not None:
            said.append(f"Accuracy of the whole tree: {percent(self.accuracy)} of {self.cases} cases.")
        if self.unused:
            said.append(f"Not used: {listed([one_line(name) for name in self.unused], 'and')}.")
        return "\n".join(said)


_LEGEND = (
    "decides: cases in which this feature alone, moved over its values, turns the decision; "
    "changes: decisions that turn when the feature is left out."
)


def attribution(
    model: Any,
    X: Any,
    y: ArrayLike | None = None,
    *,
    threshold: float | None = None,
    label: Any = None,
    columns: Sequence[str] | None = None,
) -> Attribution:
    """Rank the features of a tree by their logical impact: what their presence, absence and values change in X.

    A feature is taken away with all its leaves; gates go on without them. For `decisive` it takes, in each row, the
    values that it has in X, the other features as they are: of one leaf the least and the most true one, of several
    leaves up to 21 spread over all; the rarest hundredth at each end is left out.
    """
    asked = subject(model, threshold, label)
    table = asked.table(X, columns)
    if not table.rows:
        raise ValueError("attribution needs at least one row, got none")
    known = None if y is None else asked.positive(y, table.rows)
    truths = leaf_truths(asked.tree.root, table)
    whole = Truths(asked.tree.root, truths).of[-1]
    found = [_impact(leaves, asked, truths, whole, known) for leaves in by_feature(leaf_roles(asked.tree)).values()]
    found.sort(key=lambda row: (-row.decisive, -(row.changed or 0.0), -(row.moved or 0.0), -row.weight))
    used = set(asked.tree.features)
    unused = tuple(str(name) for name in table.names if name not in used)
    right = None if known is None else metrics.accuracy(asked.decides(whole), known)
    return Attribution(tuple(found), unused, table.rows, right)


def _impact(
    leaves: list[LeafRole], asked: Subject, truths: LeafTruths, whole: Floats, known: Bools | None
) -> FeatureImpact:
    decided = asked.decides(whole)
    changed = moved = drop = None
    if len(asked.tree.features) > 1:
        without = Truths(without_leaves(asked.tree.root, {each.position for each in leaves}), truths).of[-1]
        otherwise = asked.decides(without)
        changed, moved = float(np.mean(otherwise != decided)), float(np.mean(np.abs(without - whole)))
        drop = None if known is None else metrics.accuracy(decided, known) - metrics.accuracy(otherwise, known)
    feature, its = leaves[0].leaf.feature, feature_role(leaves)
    decisive = _decisive([each.leaf for each in leaves], asked, truths)
    return FeatureImpact(feature, its.weight, its.role, its.whole, decisive, changed, moved, drop, its.words)


def _decisive(leaves: list[Leaf], asked: Subject, truths: LeafTruths) -> float:
    """Return the share of rows in which the decision depends on the value of a feature."""
    seen = np.stack([truths[leaf] for leaf in leaves], axis=1)
    tried = np.linspace(RARE, 1.0 - RARE, 2 if len(leaves) == 1 else MOST_VALUES) * (len(seen) - 1)
    yes = no = np.zeros(len(seen), dtype=bool)
    for value in np.unique(seen[np.lexsort(seen.T)][np.rint(tried).astype(int)], axis=0):
        others = {leaf: np.full(len(seen), truth) for leaf, truth in zip(leaves, value, strict=True)}
        said = asked.decides(Truths(asked.tree.root, {**truths, **others}).of[-1])
        yes, no = yes | said, no | ~said
    return float(np.mean(yes & no))


def _share(value: float | None) -> str:
    return "-" if value is None else f"{100.0 * value:.1f}%"
