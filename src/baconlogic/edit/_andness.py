"""Carrying an andness over to a gate of another number of inputs.

Between 0 and 1 an andness means the same for any number. Beyond, where the product and the drastic gate lie depends on
the number, and a gate keeps its place between them: what was a product stays one, and every gate keeps its code.
"""

from __future__ import annotations

import math

import numpy as np

from baconlogic.core import gcd
from baconlogic.core.levels import LEVELS, nearest_level

_RESOLVED = 2e-7  # the room to the drastic end that a gate must leave, or be drastic


def carried(andness: float, n: int, to: int) -> float:
    """Return the andness that a gate of `to` inputs has where one of n has this."""
    if 0.0 <= andness <= 1.0 or n == to:
        return andness
    dual = andness < 0.0
    if math.isinf(gcd.gcd.coefficients(andness, n).power):
        return LEVELS["DD" if dual else "CC"].andness(to)
    place = float(np.interp(1.0 - andness if dual else andness, _marks(n), _marks(to)))
    beyond = min(place, (to - _RESOLVED) / (to - 1.0))
    return 1.0 - beyond if dual else beyond


def _marks(n: int) -> tuple[float, float, float]:
    return 1.0, gcd.product(n), gcd.drastic(n)


def for_two(andness: float, n: int) -> float:
    """Return the andness that a gate of two inputs has where this one of n has its own."""
    return carried(andness, n, 2)


def for_inputs(andness: float, n: int) -> float:
    """Return the andness of a gate of n inputs from that of two: the inverse of `for_two`."""
    return carried(andness, 2, n)


def opposite(andness: float, n: int) -> float:
    """Return 1 - andness: the exact point of the scale where that is one, rounding aside."""
    found = 1.0 - andness
    if found in (gcd.LOWEST, gcd.HIGHEST):
        return found
    point = nearest_level(found, n).andness(n)
    return point if abs(point - found) < 1e-15 else found
