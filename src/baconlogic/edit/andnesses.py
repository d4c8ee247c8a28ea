"""Carrying an andness over to a gate of another number of inputs.

Between 0 and 1 an andness means the same for any number; beyond, the drastic ends lie at n/(n-1) and -1/(n-1), and a
gate keeps its place between the pure and the drastic one.
"""

from __future__ import annotations

from baconlogic import gcd

_RESOLVED = 2e-7  # the room to the drastic end that a gate must leave, or be drastic


def for_two(andness: float, n: int) -> float:
    """Return the andness that a gate of two inputs has where this one of n has its own."""
    if 0.0 <= andness <= 1.0:
        return andness
    pure = 1.0 if andness > 1.0 else 0.0
    return min(max(pure + (andness - pure) * (n - 1), gcd.LOWEST), gcd.HIGHEST)


def for_inputs(andness: float, n: int) -> float:
    """Return the andness of a gate of n inputs from that of two: the inverse of `for_two`."""
    if 0.0 <= andness <= 1.0:
        return andness
    if andness in (gcd.LOWEST, gcd.HIGHEST):
        return gcd.LEVELS["DD" if andness == gcd.LOWEST else "CC"].andness(n)
    pure = 1.0 if andness > 1.0 else 0.0
    most = (n - _RESOLVED) / (n - 1.0)
    return min(max(pure + (andness - pure) / (n - 1), 1.0 - most), most)


def opposite(andness: float, n: int) -> float:
    """Return 1 - andness: the exact point of the scale where that is one, rounding aside."""
    found = 1.0 - andness
    if found in (gcd.LOWEST, gcd.HIGHEST):
        return found
    point = gcd.nearest_level(found, n).andness(n)
    return point if abs(point - found) < 1e-15 else found
