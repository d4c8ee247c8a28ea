"""Unknown: whether a decision stands although values are missing, and which of them to ask for first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from baconlogic.core.answers import Label
from baconlogic.core.columns import Columns
from baconlogic.core.nodes import Leaf
from baconlogic.core.subject import Listing, Result, subject
from baconlogic.core.words import aligned, listed, number, one_line, percent
from baconlogic.explain import _case as cases

MOST_VALUES = 200  # of a column of X that are tried
DEGREES = tuple(k / 20.0 for k in range(1, 20, 2))  # 0.05, 0.15, ..., 0.95: where values are tried without X


@dataclass(frozen=True)
class MissingValue(Result):
    """What is known once a missing value is."""

    feature: str
    settles: float  # the share of its values with which the decision would stand, whatever the other missing ones are
    width: float  # how far apart the lowest and the highest truth would still be, on average


@dataclass(frozen=True)
class Unknown(Listing):
    """What can be said of a case with missing values; `rows` are those values, the one to ask for first on top."""

    stands: bool
    decision: Label | None  # None when it does not stand
    low: float
    high: float
    threshold: float
    now: Label | None  # the answer when missing values are taken as the criteria state; None when one states nothing
    truth: float | None  # its truth
    rows: tuple[MissingValue, ...]

    def __str__(self) -> str:
        between = f"between {number(round(self.low, 4))} and {number(round(self.high, 4))}"
        turns = f"the decision turns at {number(self.threshold)}"
        if not self.rows:
            known = f"{cases.answer(self.decision)} (truth {number(self.low)}; {turns})"
            return f"Nothing is missing: the answer is {known}."
        names = [one_line(row.feature) for row in self.rows]
        if self.stands:
            gone = listed(names, "and") if len(names) <= 5 else f"the {len(names)} missing values"
            stands = f"The decision already stands: {cases.answer(self.decision)}, whatever {gone} may be"
            lines = [f"{stands} (truth {between}; {turns})."]
            return "\n".join(lines if self.now in (None, self.decision) else [*lines, self._now()])
        values = "one value" if len(names) == 1 else f"{len(names)} values"
        open_ = f"with {values} missing, the truth may lie anywhere {between}"
        lines = [f"The decision does not stand yet: {open_}, and {turns}."]
        if self.now is not None:
            lines.append(self._now())
        first, name = self.rows[0], names[0]
        lines.append(
            f"Ask first for {name}: {percent(first.settles)} of its values would settle it."
            if first.settles > 0.0
            else f"No single value would settle it; {name} would narrow it most."
        )
        table = [
            [f"  {name}", percent(row.settles), number(row.width)] for name, row in zip(names, self.rows, strict=True)
        ]
        return "\n".join([*lines, aligned(["  missing", "settles it", "truth still open by"], table)])

    def _now(self) -> str:
        now = f"the answer would be {cases.answer(self.now)} (truth {number(self.truth or 0.0)})"
        return f"As missing values are taken now, {now}."


def unknown(
    model: Any,
    row: Any,
    *,
    X: Any = None,
    threshold: float | None = None,
    label: Any = None,
    columns: Sequence[str] | None = None,
) -> Unknown:
    """Say whether the decision of a case already stands although values are missing, and which would settle it.

    Columns that the row lacks count as missing. Each missing value is tried over its values in `X`; without, over
    values that are from hardly to nearly true.
    """
    about = subject(model, threshold, label)
    case = about.case(row, columns, partial=True)
    table = None if X is None else about.table(X, columns)
    low, high = (float(end[0]) for end in about.tree.bounds(case.rows()))
    stands = low > about.threshold or high <= about.threshold
    truth = None if cases.unstated(case) else float(about.tree.evaluate(case.rows())[0])
    asks = []
    for name in case.missing:
        tried = _plausible(name, case.leaves[name], table)
        lows, highs = about.tree.bounds({**case.rows(len(tried)), name: tried})
        settled = (lows > about.threshold) | (highs <= about.threshold)
        asks.append(MissingValue(name, float(settled.mean()), float((highs - lows).mean())))
    asks.sort(key=lambda ask: (-ask.settles, ask.width))
    decision = about.answer(low > about.threshold) if stands else None
    now = None if truth is None else about.answer(truth > about.threshold)
    return Unknown(stands, decision, low, high, about.threshold, now, truth, tuple(asks))


def _plausible(name: str, leaves: Sequence[Leaf], table: Columns | None) -> list[Any]:
    """Return values that a feature may well have: those seen in a table, evenly by rank, else some of each degree."""
    discrete = any(leaf.criterion.categorical for leaf in leaves)
    if table is not None and name in table.names:
        column = table.categories(name) if all(leaf.criterion.categorical for leaf in leaves) else table.numbers(name)
        seen = [value for value in column.tolist() if value is not None and value == value]
        seen.sort(key=str if discrete else None)
        places = np.linspace(0, len(seen) - 1, min(len(seen), MOST_VALUES)).round().astype(int)
        tried = [
            value
            for value in (seen[place] for place in places)
            if all(cases.truth_of(leaf, value) is not None for leaf in leaves)
        ]
        if tried:
            return tried
    if discrete:
        return cases.categories(leaves) + cases.unnamed(leaves)
    return [value for leaf in leaves for truth in DEGREES for value in _values_at(leaf, truth)]


def _values_at(leaf: Leaf, share: float) -> Sequence[float]:
    """Return the raw values this far up the range of truths of a leaf."""
    low, high = leaf.criterion.range
    return leaf.criterion.crossings(low + share * (high - low))
