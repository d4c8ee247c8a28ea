"""Rows that look alike are one: what is learned depends on which cases there are and how often, not on their order.

So a row with weight 2 counts as the same row twice, and no case is both learned from and held out. Where there are
only a few different rows, each many times, holding one out would hide it altogether: its cases are shared among PIECES.
Where there are more than MOST rows all this matters little, and equal rows are left apart.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from baconlogic.learn import encode as encoding

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]

MOST = 200_000  # sorting more rows would cost more than it gives
FEW = 100  # with fewer different rows, each stands for several
PIECES = 5


def merge(
    columns: Sequence[encoding.Column], codes: Ints, weight: Floats, classes: int
) -> tuple[list[encoding.Column], Floats]:
    """Return the columns of the distinct rows, and how much each class weighs in each of them (rows, classes)."""
    if len(codes) > MOST or not columns:
        counts = np.zeros((len(codes), classes))
        counts[np.arange(len(codes)), codes] = weight
        return list(columns), counts
    values = [np.nan_to_num(column.values.astype(float), nan=np.inf) for column in columns]
    order = np.lexsort(values[::-1])
    new = np.zeros(len(order), dtype=bool)
    new[:1] = True
    for column in values:
        new[1:] |= column[order][1:] != column[order][:-1]
    group = np.empty(len(order), dtype=np.int64)
    group[order] = np.cumsum(new) - 1
    counts = np.zeros((int(new.sum()), classes))
    np.add.at(counts, (group, codes), weight)
    first = order[new]
    if len(first) < FEW:
        pieces = _pieces(counts)
        first, counts = np.repeat(first, PIECES), pieces.reshape(-1, classes)
        filled = counts.sum(axis=1) > 0.0
        first, counts = first[filled], counts[filled]
    return [replace(column, values=column.values[first]) for column in columns], counts


def _pieces(counts: Floats) -> Floats:
    """Share the cases of each row and class (rows, classes) as evenly as whole cases allow: (rows, PIECES, classes)."""
    rng = np.random.default_rng(0)
    whole = np.floor(counts)
    pieces = np.repeat(whole[:, None, :] // PIECES, PIECES, axis=1)
    for row, label in np.ndindex(*counts.shape):
        places = rng.permutation(PIECES)
        pieces[row, places[: int(whole[row, label] % PIECES)], label] += 1.0
        pieces[row, places[-1], label] += counts[row, label] - whole[row, label]
    return np.asarray(pieces)
