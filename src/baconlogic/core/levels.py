"""The 23 named degrees of simultaneity (Appendix D): their codes, andness, words, and the role of an input in each.

This is the one place that says "must have all" and "mandatory"; all else asks it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from baconlogic.core.gcd import NEUTRAL, check_andness, drastic, product


@dataclass(frozen=True)
class Family:
    """A stretch of the andness scale that people speak of in one way (Appendix D), and the role of a feature in it."""

    name: str
    words: str
    role: str
    phrase: str  # the words, to be followed by a list
    holds: str = ""  # said of a list to come: "all of these hold"; a mean counts instead
    many: str = ""  # the same before a list: "all of"


_HARD_AND = Family("hard conjunction", "must have all", "mandatory", "must have all of", "all of these hold", "all of")
_SOFT_AND = Family(
    "soft conjunction", "nice to have most", "desired", "nice to have most of", "most of these hold", "most of"
)
_MEAN = Family("arithmetic mean", "nice to have", "neutral", "nice to have, by weight")
_SOFT_OR = Family(
    "soft disjunction", "nice to have some", "optional", "nice to have some of", "some of these hold", "some of"
)
_HARD_OR = Family(
    "hard disjunction", "enough to have any", "sufficient", "enough to have any of", "any of these holds", "any of"
)
#: The roles of inputs: those of conjunctions, of disjunctions and of the hard ones of both; and that of a mean.
AND_ROLES, OR_ROLES = (_HARD_AND.role, _SOFT_AND.role), (_HARD_OR.role, _SOFT_OR.role)
HARD_ROLES, NEUTRAL_ROLE = (_HARD_AND.role, _HARD_OR.role), _MEAN.role


@dataclass(frozen=True)
class Level:
    """A named degree of simultaneity: a point of the andness scale, or the open stretch between two points."""

    code: str
    name: str
    family: Family
    low: Callable[[int], float]  # the ends for n inputs: the hyper levels move with n
    high: Callable[[int], float]

    @property
    def words(self) -> str:
        """How a person says it: "must have all"."""
        return self.family.words

    @property
    def phrase(self) -> str:
        """The words, to be followed by what they are about: "must have all of"."""
        return self.family.phrase

    def phrased(self, *, even: bool) -> str:
        """Return the phrase; where weights are `even`, nothing is nice to have "by weight"."""
        return self.family.words if even and self.family is _MEAN else self.family.phrase

    @property
    def role(self) -> str:
        """What an input is at this level: mandatory, desired, neutral, optional or sufficient (section 3.3.1)."""
        return self.family.role

    def span(self, n: int = 2) -> tuple[float, float]:
        """Return its lowest and highest andness for n inputs; equal for a point."""
        return self.low(n), self.high(n)

    def andness(self, n: int = 2) -> float:
        """Return the andness its code stands for with n inputs: the point, or the middle of the stretch."""
        low, high = self.span(n)
        return low if low == high else (low + high) / 2.0


def _at(fourteenths: int) -> Callable[[int], float]:
    return lambda _: fourteenths / 14.0


def _not(point: Callable[[int], float]) -> Callable[[int], float]:
    return lambda n: 1.0 - point(n)


_TABLE = (
    ("CC", "drastic conjunction", _HARD_AND, drastic, drastic),
    ("HHC", "high hyper-conjunction", _HARD_AND, product, drastic),
    ("CP", "product t-norm", _HARD_AND, product, product),
    ("LHC", "low hyper-conjunction", _HARD_AND, _at(14), product),
    ("C", "pure conjunction", _HARD_AND, _at(14), _at(14)),
    ("HC+", "high hard conjunction", _HARD_AND, _at(13), _at(13)),
    ("HC", "medium hard conjunction", _HARD_AND, _at(12), _at(12)),
    ("HC-", "low hard conjunction", _HARD_AND, _at(11), _at(11)),
    ("SC+", "high soft conjunction", _SOFT_AND, _at(10), _at(10)),
    ("SC", "medium soft conjunction", _SOFT_AND, _at(9), _at(9)),
    ("SC-", "low soft conjunction", _SOFT_AND, _at(8), _at(8)),
    ("A", "logic neutrality", _MEAN, _at(7), _at(7)),
    ("SD-", "low soft disjunction", _SOFT_OR, _at(6), _at(6)),
    ("SD", "medium soft disjunction", _SOFT_OR, _at(5), _at(5)),
    ("SD+", "high soft disjunction", _SOFT_OR, _at(4), _at(4)),
    ("HD-", "low hard disjunction", _HARD_OR, _at(3), _at(3)),
    ("HD", "medium hard disjunction", _HARD_OR, _at(2), _at(2)),
    ("HD+", "high hard disjunction", _HARD_OR, _at(1), _at(1)),
    ("D", "pure disjunction", _HARD_OR, _at(0), _at(0)),
    ("LHD", "low hyper-disjunction", _HARD_OR, _not(product), _at(0)),
    ("DP", "product t-conorm", _HARD_OR, _not(product), _not(product)),
    ("HHD", "high hyper-disjunction", _HARD_OR, _not(drastic), _not(product)),
    ("DD", "drastic disjunction", _HARD_OR, _not(drastic), _not(drastic)),
)
#: The 23 named levels by their code, from the drastic conjunction to the drastic disjunction.
LEVELS: dict[str, Level] = {row[0]: Level(*row) for row in _TABLE}
_CONJUNCTIVE = tuple(LEVELS.values())[:12]  # from the drastic conjunction down to neutrality
_DISJUNCTIVE = tuple(LEVELS.values())[:10:-1]  # its mirror


def nearest_level(andness: float, n: int = 2) -> Level:
    """Return the level nearest to an andness for n inputs; half-way cases go to the harder one, as the formula does."""
    check_andness(andness)
    side, a = (_DISJUNCTIVE, 1.0 - andness) if andness < NEUTRAL else (_CONJUNCTIVE, andness)
    if a <= 1.0:
        steps = 14 - int(np.floor(14.0 * a + 0.5))  # below C, in fourteenths
        return side[4 + steps]
    if a >= drastic(n):
        return side[0]
    if abs(a - product(n)) < 1e-9:
        return side[2]
    return side[1] if a > product(n) else side[3]
