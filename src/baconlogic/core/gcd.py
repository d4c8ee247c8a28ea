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

Exponentials are 0 from FAR on, and a product takes a truth up to LEAST as 0. So nothing hangs on numbers near the
smallest that a computer can hold, where digits are lost one by one and programs in other languages would differ.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from baconlogic.core import Floats

FAR = 690.0
LEAST = 1e-300  # exp(-FAR) is a little above
LOWEST, HIGHEST = -1.0, 2.0
DRASTIC_BELOW = 1e-9  # n - (n - 1) a, the room left to the drastic end: what is smaller is rounding
NEUTRAL, HARD = 0.5, 0.75  # the joints of the formula (and, mirrored, 1/4)
FULLY = 0.75 * 2.0**-53  # to a drastic gate a falsity below this is none: the truth is 1 to the last digit

# At truth 0 the geometric form has an infinite slope: where slopes are taken, 0 and 1 are read as this far inside.
EPS = 1e-9
SHORT_OF_DRASTIC = 1e-4  # the drastic ends have no slope either: slopes are taken this far inside


def fading(distance: Floats) -> Floats:
    """Return exp(-distance), and 0 where the distance is FAR or more; NaN stays NaN."""
    return np.where(distance >= FAR, 0.0, np.exp(-np.minimum(distance, FAR)))


def logistic(u: Floats) -> Floats:
    """Return 1 / (1 + exp(-u)), precise also where it is nearly 0."""
    small = fading(np.abs(u))
    return np.where(u > 0.0, 1.0, small) / (1.0 + small)


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


def drastic(n: float) -> float:
    """Return the highest andness of n inputs; the lowest is its mirror."""
    return n / (n - 1.0)


def product(n: int) -> float:
    """Return the andness of the product of n inputs (c = 1): 5/4 for two."""
    return andness_of_power(1.0, n)


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
    """A rule that turns andness into the coefficients of a gate. `knee`: the andness from which c follows it.

    Another rule is another knee, or a subclass with its own `numbers` and `slopes`; it is known once in AGGREGATORS.
    """

    name: str
    knee: float

    def numbers(self, andness: Any, n: Any) -> tuple[Any, Any, Any]:
        """Return (p, q, c) of the conjunctive side, andness >= 1/2."""
        return coefficients(andness, n, self.knee)

    def slopes(self, andness: Any, n: Any) -> tuple[Any, Any, Any]:
        """Return the derivatives of `numbers` in andness."""
        if not self.learnable:
            raise NotImplementedError(f"the aggregator {self.name!r} has numbers of its own, but no `slopes` of them")
        return slopes(andness, n, self.knee)

    @property
    def learnable(self) -> bool:
        """Whether compiled learning knows the rule: all that it knows of one is the knee."""
        return type(self).numbers is Aggregator.numbers

    def coefficients(self, andness: float, n: int = 2) -> Coefficients:
        """Return the coefficients of a gate with n inputs."""
        check_andness(andness)
        dual = andness < NEUTRAL
        with np.errstate(divide="ignore"):
            mean, product, power = self.numbers(1.0 - andness if dual else andness, n)
        return Coefficients(dual, float(mean), float(product), float(power))

    def __call__(
        self, inputs: Sequence[ArrayLike], weights: ArrayLike | None = None, andness: ArrayLike = 0.5
    ) -> Floats:
        """Combine n arrays of truths; `inputs[i]`, `weights[i]` and `andness` broadcast against each other."""
        x, w, a = _prepare(inputs, weights, andness)
        dual = a < NEUTRAL
        with np.errstate(divide="ignore"):
            mean, product, power = self.numbers(np.where(dual, 1.0 - a, a), float(len(x)))
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
        mean, product, power = self.numbers(a, n)
        dmean, dproduct, dpower = self.slopes(a, n)
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
DEFAULT = gcd.name


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
    return mix(rest, x, weights, *gate[1:])[::-1] if gate.dual else mix(x, rest, weights, *gate[1:])


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
