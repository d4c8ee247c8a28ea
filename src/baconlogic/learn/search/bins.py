"""Columns by rank: each value's bin, so that a search looks at 32 places of a column instead of at every row."""

from __future__ import annotations

from math import log
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from baconlogic.kernel.loops import KNOWN_BELOW
from baconlogic.learn.search.draft import Leaf

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

COUNT = 32
HOLE = COUNT  # the bin of missing values
LEVELS = np.array([0.02, 0.26, 0.5, 0.74, 0.98])  # truths at which the effect of a leaf is worked out; evenly spaced


class Bins(NamedTuple):
    """The bin of each value, and the raw value at each border between bins."""

    places: NDArray[np.uint8]  # (columns, rows)
    borders: Floats  # (columns, COUNT + 1)


class Templates(NamedTuple):
    """Sigmoids over the bins: half true at a border, of several widths, rising and falling."""

    truths: Floats  # (templates, COUNT), within LEVELS
    border: NDArray[np.int64]  # (templates,)
    steepness: Floats  # (templates,), a bin; negative when falling


def bins(X: Floats) -> Bins:
    """Put each column's values into bins of about as many rows; equal values share one."""
    index, borders = np.empty(X.shape, np.uint8), np.empty((len(X), COUNT + 1))
    for column, values in enumerate(X):
        known = values < KNOWN_BELOW
        distinct, place, count = np.unique(values[known], return_inverse=True, return_counts=True)
        middle = np.cumsum(count) - count / 2.0
        bin_of = np.minimum((COUNT * middle / max(count.sum(), 1)).astype(np.int64), COUNT - 1)
        index[column] = HOLE
        index[column, known] = bin_of[place]
        borders[column] = _borders(distinct, bin_of)
    return Bins(index, borders)


def _borders(distinct: Floats, bin_of: NDArray[np.int64]) -> Floats:
    """Return, for each border, the middle between the values on its two sides."""
    if distinct.size == 0:
        return np.zeros(COUNT + 1)
    right = np.searchsorted(bin_of, np.arange(COUNT + 1))
    above, below = distinct[np.minimum(right, len(distinct) - 1)], distinct[np.maximum(right - 1, 0)]
    return np.asarray(below + (above - below) / 2.0)


def templates(direction: int = 0) -> Templates:
    """Return the sigmoids to try; `direction` 1 or -1 keeps the rising or the falling ones."""
    found = [
        (border, sign * steepness)
        for sign in (1.0, -1.0)
        if direction in (0, sign)
        for steepness, step in ((8.0, 1), (0.6, 2), (0.2, 3))
        for border in range(1, COUNT, step)
    ]
    border, steepness = np.array([b for b, _ in found]), np.array([s for _, s in found])
    distance = np.arange(COUNT) + 0.5 - border[:, None]
    truths = 1.0 / (1.0 + np.exp(-np.clip(steepness[:, None] * distance, -30.0, 30.0)))
    return Templates(np.clip(truths, LEVELS[0], LEVELS[-1]), border, steepness)


def leaf(column: int, borders: Floats, border: int, steepness: float, missing: float) -> Leaf:
    """Return the leaf that a template stands for, in the column's own units."""
    reach = max(1, round(2.0 / abs(steepness)))
    low, high = max(border - reach, 0), min(border + reach, COUNT)
    a_bin = max((borders[high] - borders[low]) / (high - low), 1e-6)
    slope = np.sign(steepness) * min(max(abs(steepness) / a_bin, 0.3), 30.0)
    return Leaf(column, float(slope), float(borders[border]), log(missing / (1.0 - missing)))
