"""Elementary criteria: one raw column -> degree of truth in [0, 1], and back.

    Given      the column already holds degrees of truth (or 0/1)
    Ramp       piecewise linear between breakpoints (value, truth), constant outside: LSP's usual criterion
    Sigmoid    1 / (1 + exp(-slope (x - centre))): extremes pushed to 0 and 1, the middle stretched (Appendix F)
    Table      a truth for each category

Each can state the truth of a missing value; without it a missing value is an error. Missing is NaN in a numeric column
and None in a column of categories.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from itertools import pairwise
from numbers import Real
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Floats = NDArray[np.float64]
    Category = str | int | bool

UNSTATED = "a value is missing and no truth for missing values is stated; fill it or state one, e.g. name[missing 0.5]"


@dataclass(frozen=True)
class Criterion(ABC):
    """What all criteria share."""

    categorical: ClassVar[bool] = False
    missing: float | None = None

    @abstractmethod
    def truth(self, values: NDArray[Any]) -> Floats:
        """Return the degree of truth of each raw value."""

    @property
    def range(self) -> tuple[float, float]:
        """The lowest and highest truth a known value can have."""
        return 0.0, 1.0

    @property
    @abstractmethod
    def rising(self) -> bool | None:
        """True when larger raw values are truer, False when smaller ones are, None when it is neither."""

    @property
    def monotone(self) -> bool:
        """Whether truth only rises or only falls along the raw scale."""
        return self.rising is not None

    @abstractmethod
    def inverse(self, truth: float) -> Any:
        """Return the raw value that is `truth` true."""

    @abstractmethod
    def words(self, feature: str) -> str:
        """Say the criterion in words."""

    def _set(self, missing: float | None, **fields: Any) -> None:
        if missing is not None:
            check_truth(missing, "the truth for missing values")
            missing = float(missing)
        for name, value in {"missing": missing, **fields}.items():
            object.__setattr__(self, name, value)

    def _when_missing(self) -> str:
        return "" if self.missing is None else f"; {_degree(self.missing)} when missing"


class Numeric(Criterion):
    """A criterion over a column of numbers. `domain`: what an unknown value may be."""

    domain: ClassVar[tuple[float, float]] = (-math.inf, math.inf)

    @abstractmethod
    def known(self, values: Floats) -> Floats:
        """Return the truth of values that are not missing; a missing one comes back as it is, NaN."""

    def truth(self, values: NDArray[Any]) -> Floats:
        """Return the degree of truth of each raw value."""
        return self.fill(self.known(values), values)

    def fill(self, truths: Floats, values: Floats) -> Floats:
        """Put the stated truth where a raw value is missing."""
        unknown = np.isnan(values)
        if unknown.any():
            if self.missing is None:
                raise ValueError(UNSTATED)
            truths[unknown] = self.missing
        return truths

    def image(self, low: Floats, high: Floats) -> tuple[Floats, Floats]:
        """Return the exact lowest and highest truth over each raw interval; its ends may be infinite."""
        ends = self.known(low), self.known(high)
        return np.minimum(*ends), np.maximum(*ends)


@dataclass(frozen=True)
class Given(Numeric):
    """The column holds degrees of truth already."""

    domain: ClassVar[tuple[float, float]] = (0.0, 1.0)

    def __init__(self, missing: float | None = None) -> None:
        self._set(missing)

    def known(self, values: Floats) -> Floats:
        """Return the values themselves."""
        outside = (values < 0.0) | (values > 1.0)
        if outside.any():
            raise ValueError(
                f"{values[outside][0]:g} is not a degree of truth in [0, 1]; give the leaf a criterion, "
                "e.g. name[0 at 10, 1 at 20]"
            )
        return np.array(values, dtype=float)

    @property
    def rising(self) -> bool:
        """Larger is truer."""
        return True

    def inverse(self, truth: float) -> float:
        """Return the truth itself."""
        check_truth(truth, "truth")
        return float(truth)

    def words(self, feature: str) -> str:
        """Say that the column speaks for itself."""
        return f"{feature} is true, to the degree given{self._when_missing()}"


@dataclass(frozen=True)
class Ramp(Numeric):
    """Straight lines between breakpoints, e.g. Ramp([(12, 0), (25, 1)]): not true below 12, fully true above 25."""

    points: tuple[tuple[float, float], ...] = ()  # (raw value, truth), raw values increasing
    unit: str = ""

    def __init__(self, points: Any, missing: float | None = None, unit: str = "") -> None:
        pairs = tuple((float(x), float(t)) for x, t in points)
        self._set(missing, points=pairs, unit=unit)
        if len(pairs) < 2:
            raise ValueError(f"a ramp needs two or more breakpoints, got {len(pairs)}")
        for x, t in pairs:
            _check_finite(x, "a breakpoint")
            check_truth(t, f"the truth at {x:g}")
        steps = [b[0] - a[0] for a, b in pairwise(pairs)]
        if not all(step > 0.0 and math.isfinite(step) and math.isfinite(1.0 / step) for step in steps):
            raise ValueError(f"breakpoints must increase, got {', '.join(f'{x:g}' for x, _ in pairs)}")
        if len(set(self._truths)) == 1:
            raise ValueError(f"a ramp must rise or fall, but it is {self._truths[0]:g} everywhere")

    @classmethod
    def between(cls, no: float, yes: float, **rest: Any) -> Self:
        """Return the ramp that is not true at `no` and fully true at `yes`; falling when `yes` is the smaller."""
        return cls(sorted([(no, 0.0), (yes, 1.0)]), **rest)

    @classmethod
    def from_column(
        cls, values: ArrayLike, *, rising: bool = True, low: float = 0.05, high: float = 0.95, **rest: Any
    ) -> Self:
        """Return the ramp between two quantiles of a column, so that outliers do not squeeze the rest."""
        start, end, _ = _quantiles(values, low, high)
        return cls.between(start, end, **rest) if rising else cls.between(end, start, **rest)

    @classmethod
    def minmax(cls, values: ArrayLike, *, rising: bool = True, **rest: Any) -> Self:
        """Return the ramp from the smallest to the largest value of a column."""
        return cls.from_column(values, rising=rising, low=0.0, high=1.0, **rest)

    @property
    def _values(self) -> list[float]:
        return [x for x, _ in self.points]

    @property
    def _truths(self) -> list[float]:
        return [t for _, t in self.points]

    def known(self, values: Floats) -> Floats:
        """Interpolate between the breakpoints."""
        return np.asarray(np.interp(values, self._values, self._truths))

    def image(self, low: Floats, high: Floats) -> tuple[Floats, Floats]:
        """Return the exact lowest and highest truth over each raw interval."""
        lowest, highest = super().image(low, high)
        for x, t in self.points:
            inside = (low < x) & (x < high)
            lowest = np.where(inside, np.minimum(lowest, t), lowest)
            highest = np.where(inside, np.maximum(highest, t), highest)
        return lowest, highest

    @property
    def range(self) -> tuple[float, float]:
        """The lowest and highest truth of its breakpoints."""
        return min(self._truths), max(self._truths)

    @property
    def rising(self) -> bool | None:
        """Whether the breakpoints rise, fall, or do both."""
        if self._truths == sorted(self._truths):
            return True
        return False if self._truths == sorted(self._truths, reverse=True) else None

    def crossings(self, truth: float) -> tuple[float, ...]:
        """Return every raw value at which the ramp passes or first reaches `truth`."""
        check_truth(truth, "truth")
        found: list[float] = []
        for (x0, t0), (x1, t1) in pairwise(self.points):
            if t0 != t1 and min(t0, t1) <= truth <= max(t0, t1):
                x = x0 + (x1 - x0) * ((truth - t0) / (t1 - t0))
                if not found or x > found[-1]:
                    found.append(x)
        return tuple(found)

    def inverse(self, truth: float) -> float:
        """Return the raw value that is `truth` true; the first to be fully true, the last not to be true at all."""
        found = self.crossings(truth)
        low, high = self.range
        if not found:
            raise ValueError(f"no value is {truth:g} true; truths run from {low:g} to {high:g}")
        if not self.monotone:
            raise ValueError("this ramp rises and falls; use crossings(truth) for every value")
        return found[0]

    def words(self, feature: str) -> str:
        """Say the breakpoints, and half-way between two of them."""
        unit = f" {self.unit}" if self.unit else ""
        if len(self.points) == 2 and self.range == (0.0, 1.0):
            (x0, t0), (x1, t1) = self.points
            size, half = ("large" if self.rising else "small"), self.inverse(0.5)
            said = f"{_degree(t0)} below {number(x0)}, half true at {number(half)}, {_degree(t1)} above {number(x1)}"
        else:
            size = {True: "large", False: "small", None: "right"}[self.rising]
            said = ", ".join(f"{_degree(t)} at {number(x)}" for x, t in self.points)
        return f"{feature} is {size}: {said}{unit}{self._when_missing()}"


@dataclass(frozen=True)
class Sigmoid(Numeric):
    """Half true at `centre`, rising with `slope` (falling when it is negative)."""

    centre: float = 0.0
    slope: float = 1.0
    unit: str = ""

    def __init__(self, centre: float, slope: float, missing: float | None = None, unit: str = "") -> None:
        _check_finite(centre, "the centre of a sigmoid")
        _check_finite(slope, "the slope of a sigmoid")
        if slope == 0.0:
            raise ValueError("the slope of a sigmoid must not be 0: it would be half true everywhere")
        self._set(missing, centre=float(centre), slope=float(slope), unit=unit)

    @classmethod
    def from_column(
        cls, values: ArrayLike, *, rising: bool = True, low: float = 0.05, high: float = 0.95, **rest: Any
    ) -> Self:
        """Return the sigmoid that is half true at the median and spans 5% to 95% of truth between two quantiles."""
        start, end, middle = _quantiles(values, low, high)
        slope = 2.0 * math.log(19.0) / (end - start)
        return cls(middle, slope if rising else -slope, **rest)

    def known(self, values: Floats) -> Floats:
        """Evaluate the logistic curve."""
        with np.errstate(over="ignore"):
            return np.asarray(1.0 / (1.0 + np.exp(-self.slope * (values - self.centre))))

    @property
    def rising(self) -> bool:
        """Whether the slope is positive."""
        return self.slope > 0.0

    def inverse(self, truth: float) -> float:
        """Return the raw value that is `truth` true; infinite for 0 and 1."""
        check_truth(truth, "truth")
        if truth in (0.0, 1.0):
            return math.inf if (truth == 1.0) == self.rising else -math.inf
        return self.centre + (math.log(truth) - math.log1p(-truth)) / self.slope

    def words(self, feature: str) -> str:
        """Say where it is half true, and nearly true or nearly false."""
        at = sorted((self.inverse(t), t) for t in (0.05, 0.5, 0.95))
        said = ", ".join(f"{_degree(t)} at {number(x)}" for x, t in at)
        unit = f" {self.unit}" if self.unit else ""
        return f"{feature} is {'large' if self.rising else 'small'}: {said}{unit}{self._when_missing()}"


@dataclass(frozen=True)
class Table(Criterion):
    """A truth for each category, and one for any `other`; without it a category not in the table is an error."""

    categorical: ClassVar[bool] = True
    truths: tuple[tuple[Category, float], ...] = ()
    other: float | None = None

    def __init__(self, truths: Any, other: float | None = None, missing: float | None = None) -> None:
        pairs = tuple(truths.items() if isinstance(truths, dict) else truths)
        for category, truth in pairs:
            if not isinstance(category, str | int):
                raise TypeError(f"a category must be text, a whole number or true/false, got {category!r}")
            check_truth(truth, f"the truth of {category!r}")
        if not pairs or len({category for category, _ in pairs}) < len(pairs):
            raise ValueError("a table needs at least one category, and each only once")
        if other is not None:
            check_truth(other, "the truth of other categories")
            other = float(other)
        self._set(missing, truths=tuple((c, float(t)) for c, t in pairs), other=other)

    def truth(self, values: NDArray[Any]) -> Floats:
        """Return the truth of each category."""
        listed = dict(self.truths)
        truths = [self.missing if v is None else listed.get(v, self.other) for v in values.tolist()]
        if None in truths:
            value = values[truths.index(None)]
            if value is None:
                raise ValueError(UNSTATED)
            first = ", ".join(repr(c) for c in list(listed)[:5]) + (", ..." if len(listed) > 5 else "")
            raise ValueError(f"category {value!r} is not in the table ({first}); add it, or state `other`")
        return np.array(truths, dtype=float)

    @property
    def range(self) -> tuple[float, float]:
        """The lowest and highest truth of a category, `other` included."""
        truths = [t for _, t in self.truths] + ([] if self.other is None else [self.other])
        return min(truths), max(truths)

    @property
    def rising(self) -> None:
        """Categories have no order."""
        return

    def inverse(self, truth: float) -> tuple[Category, ...]:
        """Return the categories that are at least `truth` true."""
        check_truth(truth, "truth")
        return tuple(category for category, t in self.truths if t >= truth)

    def words(self, feature: str) -> str:
        """Say the truth of each category."""
        said = [f"{_degree(t)} for {category}" for category, t in self.truths]
        if self.other is not None:
            said.append(f"{_degree(self.other)} for anything else")
        return f"{feature} fits: {', '.join(said)}{self._when_missing()}"


def number(value: float) -> str:
    """Write a number for people: about four digits, never a power of ten where plain digits will do."""
    return f"{value:.0f}" if 1000.0 <= abs(value) < 1e15 else f"{value:.4g}"


def _degree(truth: float) -> str:
    named = {0.0: "not true", 0.5: "half true", 1.0: "fully true"}
    return named.get(truth, f"{100.0 * truth:.3g}% true")


def check_truth(value: Any, what: str) -> None:
    """Refuse what is not a degree of truth."""
    if isinstance(value, bool) or not isinstance(value, Real) or not 0.0 <= float(value) <= 1.0:
        raise ValueError(f"{what} must be in [0, 1], got {value!r}")


def _check_finite(value: Any, what: str) -> None:
    if isinstance(value, bool) or not isinstance(value, Real) or not abs(float(value)) <= 1e300:
        raise ValueError(f"{what} must be a finite number, got {value!r}")


def _quantiles(values: ArrayLike, low: float, high: float) -> tuple[float, float, float]:
    """Return the quantiles `low` and `high` of the known values and their median; the extremes when those coincide."""
    column = np.asarray(values, dtype=float).ravel()
    known = column[~np.isnan(column)]
    if known.size == 0:
        raise ValueError("the column is empty or all missing; a criterion needs values to be built from")
    if np.isinf(known).any():
        raise ValueError("the column holds an infinite value; replace it before a criterion is built from it")
    start, middle, end = (float(q) for q in np.quantile(known, (low, 0.5, high)))
    if start == end:
        start, end = float(known.min()), float(known.max())
    if start == end:
        raise ValueError(f"the column is constant ({start:g} in every row); no criterion can be built from it")
    return start, end, middle
