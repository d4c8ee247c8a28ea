"""Cuts: how well each set {x > t} or {x <= t} of each column settles the label of its rows, for all cuts t at once."""

from __future__ import annotations

from math import log, sqrt
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from baconlogic.kernel.compile import compiled
from baconlogic.kernel.loops import KNOWN_BELOW

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from baconlogic.learn.search.problem import Problem

    Bools = NDArray[np.bool_]
    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]
    Rows = NDArray[np.int32]

JOINS = (1.25, -0.25)  # the andness that joins a literal of label 0 (product) and of label 1 (its dual)
Z = 2.0  # standard deviations of the Wilson bound
TIED = 1e-9  # values closer than this are not cut apart
NEARLY = 0.01  # truths of a fixed column this close to 0 or 1 are read as them; a column with others is left alone


class Table(NamedTuple):
    """The rows that count, sorted by every column once."""

    X: Floats  # (columns, rows)
    y: NDArray[np.uint8]  # (rows,)
    weight: Floats  # (rows,), mean about 1
    order: Rows  # (columns, rows): rows by rising value, missing ones last
    allowed: Bools  # (columns, 2, 2): whether {x <= t}, {x > t} may settle label 0, 1
    price: float  # of a leaf: log of the number of literals


def table(problem: Problem) -> Table:
    """Return the sorted rows of a problem and the sets that its directions and bounds of andness allow."""
    counts = np.flatnonzero(problem.share > 0.0)
    X = np.ascontiguousarray(problem.X[:, counts])
    given = ~problem.learned
    X[given] = np.rint(X[given])
    usable = problem.learned | (np.abs(problem.X - np.rint(problem.X)) <= NEARLY).all(axis=1)
    rising = np.eye(2, dtype=bool)  # of the leaf, by side and label
    direction = np.where(given, 1, problem.direction)[:, None, None]
    allowed = usable[:, None, None] & ((direction == 0) | (direction == np.where(rising, 1, -1)))
    for label, andness in enumerate(JOINS):
        allowed[:, :, label] &= ((problem.low <= andness) & (andness <= problem.high))[:, None]
    order = np.argsort(X, axis=1).astype(np.int32)
    cuts = sum(int((np.diff(values[rows]) > TIED).sum()) for values, rows in zip(X, order, strict=True))
    weight = problem.share[counts] * problem.rows
    return Table(X, problem.y[counts].astype(np.uint8), weight, order, allowed, log(max(4 * cuts, 2)))


@compiled(reassociate=False)
def _bound(right: float, wrong: float) -> float:
    """Return Wilson's lower bound of the share of `right`."""
    n = right + wrong
    p = right / n
    return (p + 0.5 * Z * Z / n - Z * sqrt(p * (1.0 - p) / n + 0.25 * Z * Z / (n * n))) / (1.0 + Z * Z / n)


@compiled(reassociate=False)
def _score(zeros: float, ones: float, other: int, rates: Floats, allowed: Bools, strict: bool) -> float:
    """Return how well a set settles its majority's label; -1 when it does not, or not purely although that is asked.

    Sets that surely settle more than chance come before all others. `other` is the number of rows of the minority.
    """
    label = 1 if ones > zeros else 0
    right, wrong = max(ones, zeros), min(ones, zeros)
    if not allowed[label] or (strict and other > 0) or right <= (rates[label] + 1e-12) * (right + wrong):
        return -1.0
    bound = _bound(right, wrong)
    return bound + 1.0 if bound > rates[label] else bound


@compiled(reassociate=False)
def scan(
    X: Floats, y: NDArray[np.uint8], weight: Floats, order: Rows, allowed: Bools, strict: bool,
    rates: Floats, found: Floats, place: Ints,
) -> None:  # fmt: skip
    """Fill in each column's best score and its place: k for the k lowest rows, -k for all known ones but those."""
    rows = order.shape[1]
    all_weight, all_ones, count_ones = 0.0, 0.0, 0
    for r in order[0]:
        all_weight += weight[r]
        all_ones += weight[r] * y[r]
        count_ones += y[r]
    for j in range(order.shape[0]):
        found[j] = -1.0
        if not allowed[j].any():
            continue
        known, total, total_ones, ones_above = rows, all_weight, all_ones, count_ones
        while known and X[j, order[j, known - 1]] >= KNOWN_BELOW:
            known -= 1
            r = order[j, known]
            total -= weight[r]
            total_ones -= weight[r] * y[r]
            ones_above -= y[r]
        below, ones, ones_below, value = 0.0, 0.0, 0, X[j, order[j, 0]]
        for k in range(1, known):
            r = order[j, k - 1]
            below += weight[r]
            if y[r]:
                ones += weight[r]
                ones_below += 1
                ones_above -= 1
            value, last = X[j, order[j, k]], value
            if value - last > TIED:
                other = min(ones_below, k - ones_below)
                score = _score(below - ones, ones, other, rates, allowed[j, 0], strict)
                if score > found[j]:
                    found[j], place[j] = score, k
                above = total_ones - ones
                other = min(ones_above, known - k - ones_above)
                score = _score(total - below - above, above, other, rates, allowed[j, 1], strict)
                if score > found[j]:
                    found[j], place[j] = score, -k


@compiled(reassociate=False)
def keep(order: Rows, left: Bools, count: int) -> Rows:
    """Return the sorted rows of each column, only those that are left."""
    kept = np.empty((order.shape[0], count), np.int32)
    for j in range(order.shape[0]):
        k = 0
        for r in order[j]:
            if left[r]:
                kept[j, k] = r
                k += 1
    return kept
