"""exp(-distance), which is 0 from FAR on.

Truths are so either 0 or far above the smallest number a computer can hold, where digits are lost one by one and
programs in other languages would differ from this one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

FAR = 690.0  # exp(-690) is about 1e-300


def fading(distance: Floats) -> Floats:
    """Return exp(-distance), and 0 where the distance is FAR or more; NaN stays NaN."""
    return np.where(distance >= FAR, 0.0, np.exp(-np.minimum(distance, FAR)))


def logistic(u: Floats) -> Floats:
    """Return 1 / (1 + exp(-u)), precise also where it is nearly 0."""
    small = fading(np.abs(u))
    return np.where(u > 0.0, 1.0, small) / (1.0 + small)
