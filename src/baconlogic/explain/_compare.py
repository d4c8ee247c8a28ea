"""Where two trees differ: in what they are made of, and in what they decide."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from baconlogic.core.nodes import Gate
from baconlogic.core.notation import say
from baconlogic.core.subject import Result, Subject, subject
from baconlogic.core.words import aligned, listed, number, one_line, percent
from baconlogic.explain._words import LeafRole, by_feature, feature_role, leaf_roles, statement, told

MOST_ROWS = 10  # to be listed in text


@dataclass(frozen=True)
class FeatureUse(Result):
    """How one tree uses a feature."""

    weight: float  # the sum over its leaves of the product of weights on the way to them
    role: str  # at its own gate; of several leaves, the heaviest first
    whole: str  # mandatory or sufficient for the whole decision, or ""
    where: str  # where it is more than half true, in raw units
    criterion: str  # in full
    _role_in_words: str


@dataclass(frozen=True)
class FeatureDifference(Result):
    """A feature that both trees use, not in the same way."""

    feature: str
    first: FeatureUse
    second: FeatureUse

    def __str__(self) -> str:
        pairs = [
            ("weight", percent(self.first.weight), percent(self.second.weight)),
            ("role", self.first._role_in_words, self.second._role_in_words),
            ("more than half true", self.first.where, self.second.where),
        ]
        if self.first.where == self.second.where:
            pairs[-1] = "criterion", self.first.criterion, self.second.criterion
        return "; ".join(f"{what} {a} -> {b}" for what, a, b in pairs if a != b)


@dataclass(frozen=True)
class TreeShape(Result):
    """What a tree looks like from afar."""

    leaves: int
    gates: int
    root: str  # what the whole needs, in words
    threshold: float


@dataclass(frozen=True)
class Agreement(Result):
    """What two trees decide about the same rows."""

    rows: int
    agreement: float  # share of rows decided alike
    kappa: float  # Cohen's: agreement beyond chance; 1 where both always say the same one thing
    differ: tuple[int, ...]  # the rows decided otherwise, counted from 0
    only_first: int  # yes by the first tree alone
    only_second: int
    largest: float  # the largest difference of truth
    largest_at: int  # and its row

    def __str__(self) -> str:
        if not self.differ:
            said = f"All {self.rows} rows are decided alike"
        else:
            rows = [str(row) for row in self.differ[:MOST_ROWS]]
            more = [f"{len(self.differ) - MOST_ROWS} more"] if len(self.differ) > MOST_ROWS else []
            said = (
                f"{self.rows - len(self.differ)} of {self.rows} rows are decided alike ({percent(self.agreement)}; "
                f"Cohen's kappa {self.kappa:.2f}, where 0 is chance and 1 is full agreement). Yes by the first alone: "
                f"{self.only_first}, by the second alone: {self.only_second}. They differ in rows "
                f"{listed([*rows, *more], 'and')}"
            )
        if not self.largest:
            return f"{said}, with the same truths."
        return f"{said}. The truths are farthest apart in row {self.largest_at}: by {self.largest:.3g}."


@dataclass(frozen=True)
class Comparison(Result):
    """Two trees beside each other; `decisions` is None without rows to decide."""

    same: bool  # the same tree with the same threshold
    first: TreeShape
    second: TreeShape
    only_first: tuple[str, ...]  # features that only the first tree uses, heaviest first
    only_second: tuple[str, ...]
    common: tuple[str, ...]  # features that both use
    changed: tuple[FeatureDifference, ...]  # those of them that are used otherwise
    decisions: Agreement | None

    def __str__(self) -> str:
        said = ["The same tree." if self.same else self._differences()]
        return "\n".join(said if self.decisions is None else [*said, "", str(self.decisions)])

    def _differences(self) -> str:
        a, b = self.first, self.second
        shape = [
            ["leaves", str(a.leaves), str(b.leaves)],
            ["gates", str(a.gates), str(b.gates)],
            ["the whole", a.root, b.root],
            ["turns at", number(a.threshold), number(b.threshold)],
            ["only here", _names(self.only_first), _names(self.only_second)],
        ]
        lines = [aligned(["", "first tree", "second tree"], shape, left=3), ""]
        if not self.common:
            lines.append("They have no feature in common.")
        elif not self.changed:
            lines.append(f"Used alike: {_names(self.common)}.")
            if not (self.only_first or self.only_second) and a == b:
                lines.append("They differ in the names, the order or the exact numbers of their gates only.")
        else:
            lines.append("Used by both, but not alike:")
            lines.extend(f"  {one_line(each.feature)}: {each}" for each in self.changed)
        return "\n".join(lines)


def compare(
    model_a: Any,
    model_b: Any,
    X: Any = None,
    *,
    threshold: float | None = None,
    label: Any = None,
    columns: Sequence[str] | None = None,
) -> Comparison:
    """Say where two trees differ in structure and, given rows, in their decisions.

    `threshold` and `label` are asked of both. A weight counts as changed from half a percent on.
    """
    a, b = subject(model_a, threshold, label), subject(model_b, threshold, label)
    if a.classes and b.classes and a.yes != b.yes:
        said = f"the first tree speaks for {a.yes!r:.60}, the second for {b.yes!r:.60}"
        raise ValueError(f"{said}; compare like with like")
    uses = [{f: _use(leaves) for f, leaves in by_feature(leaf_roles(each.tree)).items()} for each in (a, b)]
    common = tuple(feature for feature in uses[0] if feature in uses[1])
    pairs = [FeatureDifference(feature, uses[0][feature], uses[1][feature]) for feature in common]
    return Comparison(
        same=a.tree == b.tree and a.threshold == b.threshold,
        first=_shape(a),
        second=_shape(b),
        only_first=tuple(feature for feature in uses[0] if feature not in uses[1]),
        only_second=tuple(feature for feature in uses[1] if feature not in uses[0]),
        common=common,
        changed=tuple(pair for pair in pairs if _is_change(pair)),
        decisions=None if X is None else _agreement(a, b, X, columns),
    )


def _use(leaves: list[LeafRole]) -> FeatureUse:
    where = dict.fromkeys(statement(each.leaf, each.negated).where() for each in leaves)
    full = dict.fromkeys(one_line(say(each.leaf)) for each in leaves)
    its = feature_role(leaves)
    return FeatureUse(its.weight, its.role, its.whole, " and ".join(where), " and ".join(full), its.words)


def _is_change(pair: FeatureDifference) -> bool:
    a, b = pair.first, pair.second
    return abs(a.weight - b.weight) >= 0.005 or replace(a, weight=0.0) != replace(b, weight=0.0)


def _shape(asked: Subject) -> TreeShape:
    gates = sum(isinstance(node, Gate) for _, node in asked.tree.walk())
    _, groups = told(asked.tree)
    root = f"{groups[0].phrase} ({', '.join(dict.fromkeys(groups[0].codes))})" if groups else "one statement"
    return TreeShape(len(leaf_roles(asked.tree)), gates, root, asked.threshold)


def _agreement(a: Subject, b: Subject, X: Any, columns: Sequence[str] | None) -> Agreement:
    first, second = (each.truths(each.table(X, columns)) for each in (a, b))
    if not len(first):
        raise ValueError("comparing decisions needs at least one row, got none; without X the trees alone are compared")
    yes, also = a.decides(first), b.decides(second)
    alike = float(np.mean(yes == also))
    chance = float(yes.mean() * also.mean() + (1.0 - yes.mean()) * (1.0 - also.mean()))
    apart = np.abs(first - second)
    return Agreement(
        rows=len(first),
        agreement=alike,
        kappa=1.0 if chance == 1.0 else (alike - chance) / (1.0 - chance),
        differ=tuple(int(row) for row in np.flatnonzero(yes != also)),
        only_first=int(np.sum(yes & ~also)),
        only_second=int(np.sum(also & ~yes)),
        largest=float(apart.max()),
        largest_at=int(apart.argmax()),
    )


def _names(features: tuple[str, ...]) -> str:
    return ", ".join(one_line(feature) for feature in features) or "-"
