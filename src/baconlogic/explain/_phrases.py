"""Leaves in plain words: where, in raw units, the statement that speaks for yes is at least half true."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from baconlogic.core.criteria import Criterion
from baconlogic.core.nodes import Leaf
from baconlogic.core.words import degree, listed, numbers, one_line

Span = tuple[float, float]  # raw values between which a statement is more than half true; ends may be infinite
MOST_CATEGORIES = 6  # to be told one by one


@dataclass(frozen=True)
class Statement:
    """A leaf as it speaks for yes, or the two leaves of a band."""

    leaves: tuple[Leaf, ...]
    negated: tuple[bool, ...]
    name: str = ""
    spans: tuple[Span, ...] | None = None  # None where raw values have no order, or are truths already

    @property
    def feature(self) -> str:
        """The column it is about, fit for one line."""
        return one_line(self.leaves[0].feature)

    def short(self, verb: str = "") -> str:
        """Say it in a few words: "area above about 880"."""
        said = self._short(f" {verb}" if verb else "")
        return f"{one_line(self.name)} ({said})" if self.name else said

    def _short(self, verb: str) -> str:
        criterion, negated = self.leaves[0].criterion, self.negated[0]
        if criterion.categorical:
            return f"{self.feature} {_kinds(criterion, negated, MOST_CATEGORIES)}"
        if self.spans is None:
            return f"{'not ' if negated else ''}{self.feature}"
        if self._flag is not None:
            return f"{self.feature} is {self._flag}"
        if self.spans in ((), ((-math.inf, math.inf),)):
            return f"{self._wanted()} {self.feature}"
        return f"{self.feature}{verb} {places(self.spans, criterion.unit)}"

    def turning_at(self, threshold: float) -> Statement:
        """Return the statement with the ranges in which it is more true than a threshold, where there are any."""
        if not self.spans or len(self.leaves) > 1:
            return self
        spans = spans_of(self.leaves[0].criterion, self.negated[0], threshold)
        return replace(self, spans=spans) if spans else self

    def where(self) -> str:
        """Say where it is half true, and what a missing value counts as."""
        criterion, negated = self.leaves[0].criterion, self.negated[0]
        if criterion.categorical:
            said = _degrees(criterion, negated)
        elif self.spans is None:
            said = "the opposite of what is given" if negated else "as given"
        elif self._flag is not None:
            truths = [1.0 - t if negated else t for t in criterion.flag or ()]
            said = ", ".join(f"{degree(truths[flag])} when {flag}" for flag in (self._flag, 1 - self._flag))
        elif not self.spans:
            said = "never more than half true"
        else:
            always = self.spans == ((-math.inf, math.inf),)
            said = "more than half true everywhere" if always else places(self.spans, criterion.unit)
        return said + self._when_missing()

    def _when_missing(self) -> str:
        stated = [
            1.0 - leaf.criterion.missing if negated else leaf.criterion.missing
            for leaf, negated in zip(self.leaves, self.negated, strict=True)
            if leaf.criterion.missing is not None
        ]
        return f"; missing counts as {listed([degree(t) for t in dict.fromkeys(stated)], 'and')}" if stated else ""

    def direction(self) -> str:
        """Say which values speak for yes."""
        if self.leaves[0].criterion.categorical:
            return "by category"
        if self.spans is None:
            return "when not true" if self.negated[0] else "when true"
        if self._flag is not None:
            return f"when {self._flag}"
        wanted = self._wanted()
        if wanted != "fitting":
            return f"the {'higher' if wanted == 'high' else 'lower'}, the more"
        return "in between" if self._is_inner() else "in certain ranges"

    @property
    def _flag(self) -> int | None:
        """Which of 0 and 1 speaks for yes, where the column holds nothing else."""
        criterion = self.leaves[0].criterion
        if len(self.leaves) > 1 or criterion.flag is None:
            return None
        return int(bool(criterion.rising) != self.negated[0])

    def _is_inner(self) -> bool:
        return len(self.spans or ()) == 1 and all(math.isfinite(end) for end in (self.spans or ())[0])

    def _wanted(self) -> str:
        rising = {
            None if leaf.criterion.rising is None else leaf.criterion.rising != negated
            for leaf, negated in zip(self.leaves, self.negated, strict=True)
        }
        return {True: "high", False: "low", None: "fitting"}[rising.pop() if len(rising) == 1 else None]


def statement(leaf: Leaf, negated: bool = False, name: str = "") -> Statement:
    """Return a leaf as it speaks for yes: `negated` when it does so by not being true."""
    return Statement((leaf,), (negated,), name, spans_of(leaf.criterion, negated))


def band(one: Statement, other: Statement, *, both: bool) -> Statement | None:
    """Return two statements about one feature as one: where `both` hold, or either; None where that is no band."""
    if one.leaves[0].feature != other.leaves[0].feature or one.name or other.name or not one.spans or not other.spans:
        return None
    if len(one.spans) > 1 or len(other.spans) > 1:
        return None
    (low, end), (start, high) = sorted([one.spans[0], other.spans[0]])  # the one that is open to the left comes first
    if math.isfinite(low) or math.isfinite(high) or not (math.isfinite(end) and math.isfinite(start)):
        return None
    if both == (end <= start):  # they exclude each other, or one of them always holds
        return None
    spans: tuple[Span, ...] = ((start, end),) if both else ((low, end), (start, high))
    return Statement(one.leaves + other.leaves, one.negated + other.negated, "", spans)


def spans_of(criterion: Criterion, negated: bool = False, truth: float = 0.5) -> tuple[Span, ...] | None:
    """Return the raw ranges in which a criterion, or its opposite, is more than half true, or more than `truth`."""
    if criterion.categorical or criterion.holds_truths:
        return None
    turn = 1.0 - truth if negated else truth
    edges = [-math.inf, *criterion.crossings(turn), math.inf]
    found: list[Span] = []
    for low, high in pairwise(edges):
        inside = low if math.isinf(low) else high if math.isinf(high) else low / 2.0 + high / 2.0
        here = float(criterion.truth(np.array([inside]))[0])
        if (here < turn) if negated else (here > turn):
            joined = found and found[-1][1] == low
            found.append((found.pop()[0] if joined else low, high))
    return tuple(found)


def places(spans: tuple[Span, ...], unit: str = "") -> str:
    """Say raw ranges: "above about 880", "between about 3 and 5"."""
    ends = sorted({end for span in spans for end in span if math.isfinite(end)})
    shown = dict(zip(ends, numbers(ends), strict=True))
    said = []
    for low, high in spans:
        if math.isinf(low):
            said.append(f"below about {shown[high]}")
        elif math.isinf(high):
            said.append(f"above about {shown[low]}")
        else:
            said.append(f"between about {shown[low]} and {shown[high]}")
    return listed(said) + (f" {one_line(unit)}" if unit else "")


def _kinds(table: Criterion, negated: bool, most: int) -> str:
    """Say which categories are more than half true, or which are not where any other is."""
    truths = {category: 1.0 - t if negated else t for category, t in table.truths}
    other = None if table.other is None else (1.0 - table.other if negated else table.other)
    fits = [category for category, t in truths.items() if t > 0.5]
    if other is not None and other > 0.5:
        rest = [category for category, t in truths.items() if t <= 0.5]
        return f"is not {_some(rest, most)}" if rest else "is known"
    if fits:
        return f"is {_some(fits, most)}"
    best = max([*truths.values(), *([] if other is None else [other])])
    return f"fits (at most {degree(best)})"


def _some(categories: list[str | int | bool] | list[str], most: int) -> str:
    said = [one_line(repr(category)) for category in categories]
    return listed(said if len(said) <= most else [*said[: most - 1], f"{len(said) - most + 1} other categories"])


def _degrees(table: Criterion, negated: bool) -> str:
    """Say the degree of each category."""
    truths = {category: 1.0 - t if negated else t for category, t in table.truths}
    said = [
        f"{degree(t)} for {listed([one_line(repr(c)) for c, own in truths.items() if own == t])}"
        for t in dict.fromkeys(truths.values())
    ]
    if table.other is not None:
        said.append(f"{degree(1.0 - table.other if negated else table.other)} for anything else")
    return ", ".join(said)
