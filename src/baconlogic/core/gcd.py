"""Graded conjunction/disjunction (GCD): how degrees of truth combine.

On the conjunctive side (andness a >= 1/2) n inputs x_i with weights w_i combine as

    z = p * sum(w_i x_i) + q * prod(x_i ** (n w_i c)),        p + q = 1
    q = min(4a - 2, 1)                                        all product from a = 3/4 upward
    c = ((n + 1) / (n - (n - 1) a)) ** (1/n) - 1

and on the disjunctive side by De Morgan: 1 - z(1 - x_i, 1 - a). For n = 2 this is the formula the paper prints.
`gcd` uses it as printed. `exact` holds c at its value for a = 3/4 in the soft range, where the printed formula lets it
move with a: then the andness one measures (section 2.2) is the andness one asked for. This module is the only place
that knows p, q and c: the kernel compiles `coefficients` and `slopes`, and exports print the numbers they return.

n inputs reach the drastic ends at n/(n-1) and -1/(n-1) (2 and -1 for two); beyond them a gate stays drastic.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from baconlogic.core.fading import LEAST, fading

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import ArrayLike, NDArray

    Floats = NDArray[np.float64]

LOWEST, HIGHEST = -1.0, 2.0
DRASTIC_BELOW = 1e-9  # n - (n - 1) a, the room left to the drastic end: what is smaller is rounding
NEUTRAL, HARD = 0.5, 0.75  # the joints of the formula (and, mirrored, 1/4)
FULLY = 0.75 * 2.0**-53  # to a drastic gate a falsity below this is none: the truth is 1 to the last digit

# At truth 0 the geometric form has an infinite slope: where slopes are taken, 0 and 1 are read as this far inside.
EPS = 1e-9
SHORT_OF_DRASTIC = 1e-4  # the drastic ends have no slope either: slopes are taken this far inside


def coefficients(andness: Any, n: Any, knee: Any) -> tuple[Any, Any, Any]:
    """Return (p, q, c) of the conjunctive side, andness >= 1/2. `c` follows andness from `knee` upward."""
    product = np.minimum(np.maximum(4.0 * andness - 2.0, 0.0), 1.0)
    room = n - (n - 1.0) * np.maximum(andness, knee)
    room = np.maximum(room, 0.0) * (room > DRASTIC_BELOW)
    return 1.0 - product, product, ((n + 1.0) / room) ** (1.0 / n) - 1.0


def slopes(andness: Any, n: Any, knee: Any) -> tuple[Any, Any, Any]:
    """Return the derivatives of (p, q, c) in andness, andness > 1/2; at a joint, the mean of its two sides."""
    product = 4.0 * (andness < HARD) + 2.0 * (andness == HARD)
    follows = 1.0 * (andness > knee) + 0.5 * (andness == knee)
    room = n - (n - 1.0) * np.maximum(andness, knee)
    return -product, product, follows * ((n + 1.0) / room) ** (1.0 / n) * (n - 1.0) / (n * room)


def andness_of_power(power: float, n: int) -> float:
    """Return the andness whose c is `power`: the inverse of `coefficients` on the hard side (3/4 and above)."""
    return float((n - (n + 1.0) * (1.0 + power) ** -n) / (n - 1.0))


class Coefficients(NamedTuple):
    """What one gate computes: z = mean * sum(w x) + product * prod(x ** (n w power)), on 1 - x and back when dual.

    A drastic gate has an infinite power: its product is 1 when every x is 1, else 0.
    """

    dual: bool
    mean: float
    product: float
    power: float


class Derivatives(NamedTuple):
    """Partial derivatives of a gate's output. Weights are free here: moving weight from j to i gives i's minus j's."""

    inputs: Floats  # (n, ...)
    weights: Floats  # (n, ...)
    andness: Floats  # (...)


def check_andness(andness: ArrayLike) -> None:
    """Refuse an andness outside [-1, 2]."""
    given = np.asarray(andness)
    wrong = given[~((given >= LOWEST) & (given <= HIGHEST))]
    if wrong.size:
        high, low = "2 for the drastic conjunction", "-1 for the drastic disjunction"
        hint = f"; use {low if wrong[0] < LOWEST else high}" if wrong[0] == wrong[0] else ""
        raise ValueError(f"andness must be in [-1, 2], got {wrong[0]:g}{hint}")


@dataclass(frozen=True)
class Aggregator:
    """A rule that turns andness into the coefficients of a gate. `knee`: the andness from which c follows it."""

    name: str
    knee: float

    def coefficients(self, andness: float, n: int = 2) -> Coefficients:
        """Return the coefficients of a gate with n inputs."""
        check_andness(andness)
        dual = andness < NEUTRAL
        with np.errstate(divide="ignore"):
            mean, product, power = coefficients(1.0 - andness if dual else andness, n, self.knee)
        return Coefficients(dual, float(mean), float(product), float(power))

    def __call__(
        self, inputs: Sequence[ArrayLike], weights: ArrayLike | None = None, andness: ArrayLike = 0.5
    ) -> Floats:
        """Combine n arrays of truths; `inputs[i]`, `weights[i]` and `andness` broadcast against each other."""
        x, w, a = _prepare(inputs, weights, andness)
        dual = a < NEUTRAL
        with np.errstate(divide="ignore"):
            mean, product, power = coefficients(np.where(dual, 1.0 - a, a), float(len(x)), self.knee)
        z, rest = mix(np.where(dual, 1.0 - x, x), np.where(dual, x, 1.0 - x), w, mean, product, power)
        return np.where(dual, rest, z)

    def derivatives(
        self, inputs: Sequence[ArrayLike], weights: ArrayLike | None = None, andness: ArrayLike = 0.5
    ) -> Derivatives:
        """Return the derivatives of `__call__` in inputs, weights and andness; finite everywhere (see EPS)."""
        x, w, a = _prepare(inputs, weights, andness)
        x = np.clip(x, EPS, 1.0 - EPS)
        upper = self._side_derivatives(x, w, np.maximum(a, NEUTRAL))
        lower = self._side_derivatives(1.0 - x, w, np.maximum(1.0 - a, NEUTRAL))
        up = np.where(a == NEUTRAL, 0.5, np.where(a > NEUTRAL, 1.0, 0.0))  # both sides count half at their joint
        return Derivatives(
            up * upper.inputs + (1.0 - up) * lower.inputs,
            up * upper.weights - (1.0 - up) * lower.weights,
            up * upper.andness + (1.0 - up) * lower.andness,
        )

    def _side_derivatives(self, x: Floats, w: Floats, a: Floats) -> Derivatives:
        n = float(len(x))
        changes = 1.0 * (a <= n / (n - 1.0))  # beyond its end a gate stays drastic: no slope at all
        a = np.minimum(a, n / (n - 1.0) - SHORT_OF_DRASTIC)
        mean, product, power = coefficients(a, n, self.knee)
        dmean, dproduct, dpower = slopes(a, n, self.knee)
        logs = np.log(x)
        log_product = n * (w * logs).sum(axis=0)
        g = np.exp(power * log_product)
        return Derivatives(
            changes * (mean * w + product * g * n * w * power / x),
            changes * (mean * x + product * g * n * power * logs),
            changes * (dmean * (w * x).sum(axis=0) + (dproduct + product * dpower * log_product) * g),
        )


#: The formula as the paper prints it; the default.
gcd = Aggregator("gcd", knee=NEUTRAL)
#: The same with the andness one asked for in the soft range.
exact = Aggregator("exact", knee=HARD)
#: The aggregators by name.
AGGREGATORS = {rule.name: rule for rule in (gcd, exact)}


def mix(x: Floats, rest: Floats, weights: Floats, mean: Any, product: Any, power: Any) -> tuple[Floats, Floats]:
    """Evaluate the conjunctive side for truths x (n, ...): the formula at the head of this module, and 1 - it.

    `rest` is 1 - x, given apart: it has digits that x near 1 has lost, and so has what is returned beside the truth.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        terms = np.where(x > LEAST, len(x) * weights * power * (np.log(x) + ((1.0 - x) - rest)), -np.inf)
    if np.any(np.isinf(power)):
        terms = np.where(np.isinf(power), np.where(rest < FULLY, 0.0, -np.inf), terms)  # drastic: 1 ** inf
    logs = terms.sum(axis=0)
    z = mean * np.sum(weights * x, axis=0) + product * fading(-logs)
    others = mean * np.sum(weights * rest, axis=0) - product * np.expm1(logs)
    return np.minimum(z, 1.0), np.minimum(others, 1.0)


def combine_both(x: Floats, rest: Floats, weights: Floats, gate: Coefficients) -> tuple[Floats, Floats]:
    """Evaluate one gate: truths x and falsities, (n, rows), weights (n, 1); return its truth and its falsity."""
    if gate.dual:
        falsity, truth = mix(rest, x, weights, *gate[1:])
        return truth, falsity
    return mix(x, rest, weights, *gate[1:])


def combine(x: Floats, weights: Floats, gate: Coefficients) -> Floats:
    """Evaluate one gate: truths x (n, rows), weights (n, 1); their falsities are taken as 1 - x."""
    return combine_both(x, 1.0 - x, weights, gate)[0]


def measured_andness(andness: float, n: int = 2, aggregator: Aggregator = gcd) -> float:
    """Return n/(n-1) - (n+1)/(n-1) * (mean output over the unit cube), equal weights: the definition of section 2.2."""
    if not 2 <= n <= 7:
        raise ValueError(f"andness is measured for 2 to 7 inputs, got {n}")
    nodes, shares = np.polynomial.legendre.leggauss(min(64, int(300_000 ** (1.0 / n))))
    u = (nodes + 1.0) / 2.0
    x, shares = u * u * (3.0 - 2.0 * u), 3.0 * u * (1.0 - u) * shares  # smooth where the integrand is steep: 0 and 1
    grid = np.meshgrid(*[x] * n, indexing="ij", sparse=True)
    value = aggregator(grid, None, andness)
    for _ in range(n):
        value = value @ shares
    return float(n / (n - 1.0) - (n + 1.0) / (n - 1.0) * value)


@dataclass(frozen=True)
class Family:
    """A stretch of the andness scale that people speak of in one way (Appendix D), and the role of a feature in it."""

    name: str
    words: str
    role: str
    phrase: str  # the words, to be followed by a list


_HARD_AND = Family("hard conjunction", "must have all", "mandatory", "must have all of")
_SOFT_AND = Family("soft conjunction", "nice to have most", "desired", "nice to have most of")
_MEAN = Family("arithmetic mean", "nice to have", "neutral", "nice to have, by weight")
_SOFT_OR = Family("soft disjunction", "nice to have some", "optional", "nice to have some of")
_HARD_OR = Family("hard disjunction", "enough to have any", "sufficient", "enough to have any of")


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


def drastic(n: int) -> float:
    """Return the highest andness of n inputs; the lowest is its mirror."""
    return n / (n - 1.0)


def product(n: int) -> float:
    """Return the andness of the product of n inputs (c = 1): 5/4 for two."""
    return andness_of_power(1.0, n)


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
    mirrored = andness < NEUTRAL
    side, a = (_DISJUNCTIVE, 1.0 - andness) if mirrored else (_CONJUNCTIVE, andness)
    if a <= 1.0:
        steps = 14 - int(np.floor(14.0 * a + 0.5))  # below C, in fourteenths
        return side[4 + steps]
    if a >= drastic(n):
        return side[0]
    if abs(a - product(n)) < 1e-9:
        return side[2]
    return side[1] if a > product(n) else side[3]


def _prepare(
    inputs: Sequence[ArrayLike], weights: ArrayLike | None, andness: ArrayLike
) -> tuple[Floats, Floats, Floats]:
    check_andness(andness)
    n = len(inputs)
    if n < 2:
        raise ValueError(f"a gate combines two or more inputs, got {n}")
    shares = np.full(n, 1.0 / n) if weights is None else np.asarray(weights, dtype=float)
    if len(shares) != n:
        raise ValueError(f"{n} inputs need {n} weights, got {len(shares)}")
    a, *rest = np.broadcast_arrays(np.asarray(andness, dtype=float), *inputs, *shares)
    x, w = np.stack(rest[:n]).astype(float), np.stack(rest[n:])
    if not np.all((x >= 0.0) & (x <= 1.0)):
        raise ValueError(f"truths must be in [0, 1], got {x[~((x >= 0.0) & (x <= 1.0))][0]:g}")
    if not np.all(w > 0.0) or not np.allclose(w.sum(axis=0), 1.0, rtol=0.0, atol=1e-6):
        raise ValueError("weights must be positive and sum to 1 over the inputs")
    return x, w, a
