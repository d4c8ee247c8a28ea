"""exp(-distance), which is 0 from FAR on, and the truth up to which a product takes it as 0.

So nothing hangs on numbers near the smallest that a computer can hold, where digits are lost one by one and programs
in other languages would differ from this one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

FAR = 690.0
LEAST = 1e-300  # exp(-FAR) is a little above


def fading(distance: Floats) -> Floats:
    """Return exp(-distance), and 0 where the distance is FAR or more; NaN stays NaN."""
    return np.where(distance >= FAR, 0.0, np.exp(-np.minimum(distance, FAR)))


def logistic(u: Floats) -> Floats:
    """Return 1 / (1 + exp(-u)), precise also where it is nearly 0."""
    small = fading(np.abs(u))
    return np.where(u > 0.0, 1.0, small) / (1.0 + small)
