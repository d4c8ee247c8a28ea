"""Rows that look alike are one: what is learned depends on which cases there are and how often, not on their order.

So a row with weight 2 counts as the same row twice, and no case is both learned from and held out.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from baconlogic import encoding

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]

MOST = 200_000  # with more rows, equal ones are left apart: sorting them would cost more than it gives


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
    return [replace(column, values=column.values[first]) for column in columns], counts
