"""Conditions that a card is made of, as they are printed: cuts, bands and ramps between round numbers, and sets."""

from __future__ import annotations

from itertools import pairwise
from math import floor, log10
from typing import Any, NamedTuple

import numpy as np

from baconlogic.core import Floats
from baconlogic.core.criteria import Given, Interval, Ramp, Table
from baconlogic.core.nodes import Leaf, Node, Not
from baconlogic.learn.column import TRUTH, Column

CUT, BAND, RAMP, TRUTHS, HILL = range(5)
RARE = 0.02  # share of 0 or 1 in a column of both below which it may hold other numbers as well, not yet seen
HALF = 0.5  # the cut of a column of 0 and 1
MARGIN = 0.3  # of a gap between values: a cut is not nearer to either
FEW = 8  # categories that are all listed
FEWEST = 3  # cases of a category that speaks for itself


class Condition(NamedTuple):
    """One column and what is asked of it; `turned`: the opposite is asked. A missing value has the truth stated."""

    column: int
    kind: int
    numbers: tuple[float, ...]  # a cut's mark, the ends of a band, of a ramp or of both ramps of a hill, or truths
    turned: bool = False
    missing: float = 0.5

    @property
    def opposite(self) -> Condition:
        """What is true where this one is not."""
        return self._replace(turned=not self.turned, missing=1.0 - self.missing)

    @property
    def content(self) -> tuple[float, ...]:
        """What it says, whichever side it takes: of categories, without those that are not known."""
        truths = self.numbers[:-1]
        return min(truths, tuple(1.0 - t for t in truths)) if self.kind == TRUTHS else self.numbers

    @property
    def crisp(self) -> bool:
        """Whether a known value is either fully true or not at all."""
        return self.kind in (CUT, BAND) or (self.kind == TRUTHS and set(self.numbers) <= {0.0, 1.0})

    def truths(self, column: Column) -> Floats:
        """Return the truth of each row."""
        x, n = column.values, self.numbers
        if self.kind == TRUTHS:
            found, unknown = np.array([*n, 0.0])[np.where(x < 0, len(n), np.minimum(x, len(n) - 1))], x < 0
        else:
            unknown = np.isnan(x)
            if self.kind == RAMP:
                found = np.clip((x - n[0]) / (n[1] - n[0]), 0.0, 1.0)
            elif self.kind == HILL:
                found = np.interp(x, n, (0.0, 1.0, 1.0, 0.0))
            else:
                found = ((x > n[0]) & (x <= n[1]) if self.kind == BAND else x > n[0]).astype(float)
        return np.where(unknown, self.missing, 1.0 - found if self.turned else found)

    def node(self, column: Column) -> Node:
        """Return it as a leaf in raw units, or the negation of one."""
        missing, n = (self.missing if column.has_missing else None), self.numbers
        if column.kind == TRUTH and n[0] == HALF and RARE < column.known.mean() < 1.0 - RARE:
            leaf = Leaf(column.name, Given(None if missing is None else 1.0 - missing if self.turned else missing))
            return Not(leaf) if self.turned else leaf
        if self.kind == RAMP:
            return Leaf(column.name, Ramp.between(*(n[::-1] if self.turned else n), missing=missing))
        if self.kind == HILL:
            return Leaf(column.name, Ramp(list(zip(n, (0.0, 1.0, 1.0, 0.0), strict=True)), missing=missing))
        if self.kind == CUT:
            low, high = (None, n[0]) if self.turned else (n[0], None)
            return Leaf(column.name, Interval(low, high, missing))
        if self.kind == BAND:
            stated = None if missing is None else 1.0 - missing if self.turned else missing
            leaf = Leaf(column.name, Interval(n[0], n[1], stated))
            return Not(leaf) if self.turned else leaf
        return Leaf(column.name, self._table(column, missing))

    def _table(self, column: Column, missing: float | None) -> Table:
        """Return the truths of categories: of many, only those that are not as any other is."""
        *truths, other = [1.0 - t if self.turned else t for t in self.numbers]
        if set(truths) == {0.0, 1.0} and np.bincount(column.known, minlength=len(truths)).min() >= FEWEST:
            other = float(sum(truths) > len(truths) / 2)  # no rare ones stand behind it: what is said is shortest
        several = len({isinstance(c, str) for c in column.categories}) > 1  # a table refuses a kind it does not list
        every = several or len(truths) <= FEW  # questions about other values know these
        listed = [(c, t) for c, t in zip(column.categories, truths, strict=False) if t != other or every]
        return Table(listed or [(column.categories[0], other)], other=other, missing=missing)


def round_between(low: Any, high: Any) -> Any:
    """Return the roundest number in each [low, high); low where there is none."""
    low, high = np.asarray(low, dtype=float), np.asarray(high, dtype=float)
    if not low.size:
        return low
    found, open_, middle = low.copy(), high > low, low + (high - low) / 2.0
    width = np.where(open_, high - low, 1.0)
    largest = np.abs(np.r_[low.ravel(), high.ravel(), 1e-300]).max()
    for decimals in range(-floor(log10(largest)), min(-floor(log10(width.min())) + 2, 300)):
        if not open_.any():
            break
        for near in (np.round(middle, decimals), np.round(low, decimals)):
            fits = open_ & (near >= low) & (near < high)
            found[fits] = near[fits]
            open_ = open_ & ~fits
    return found


def outside(values: Floats) -> tuple[float, float, float, float]:
    """Return round numbers below all values, and not below any; and further ones on both sides, in order.

    What is always above 0 is said to be so.
    """
    low, high = float(values.min()), float(values.max())
    reach = max(high - low, 0.1 * abs(low), 1.0) / 4.0
    least = max(low - reach, 0.0) if low > 0.0 else low - reach
    start, end = round_between(least, np.nextafter(low, -np.inf)), round_between(high, high + reach)
    before, behind = round_between(start - 2.0 * reach, start - reach), round_between(end + reach, end + 2.0 * reach)
    return float(before), float(start), float(end), float(behind)


def joined_band(one: Condition, other: Condition, *, both: bool) -> Condition | None:
    """Return two cuts on a column from both sides as one band: what lies between, or what lies beyond if `both` do not.

    None where they are no such cuts, or leave nothing.
    """
    if one.kind != CUT or other.kind != CUT or one.column != other.column or one.turned == other.turned:
        return None
    low, high = sorted((one, other), key=lambda c: c.turned == both)
    marks = low.numbers + high.numbers
    if not marks[0] < marks[1]:
        return None
    missing = one.missing * other.missing if both else 1.0 - (1.0 - one.missing) * (1.0 - other.missing)
    return Condition(one.column, BAND, marks, not both, missing)


def between(condition: Condition, column: Column) -> Condition:
    """Return a cut or ramp as what holds between it and the end of the known values."""
    before, start, end, behind = outside(column.known)
    n = condition.numbers
    if condition.kind == CUT:  # beyond all values where only what is missing holds
        low = n[0] if not condition.turned else start if start < n[0] else before
        high = n[0] if condition.turned else end if end > n[0] else behind
        return condition._replace(kind=BAND, numbers=(low, high), turned=False)
    ends = (before, min(start, n[0]), *n) if condition.turned else (*n, max(end, n[1]), behind)
    if not all(b > a for a, b in pairwise(ends)):
        step = (n[1] - n[0]) / 2.0
        ends = (n[0] - 2.0 * step, n[0] - step, *n) if condition.turned else (*n, n[1] + step, n[1] + 2.0 * step)
    return condition._replace(kind=HILL, numbers=ends, turned=False)


def round_in_gap(low: float, high: float, step: float) -> float:
    """Return the roundest number between two values, off both where values in steps of `step` could lie between."""
    off = MARGIN * (high - low) if high - low > 1.5 * step else 0.0
    return float(round_between(low + off, high - off))
