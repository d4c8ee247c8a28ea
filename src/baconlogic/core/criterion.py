"""What all criteria share, and the two worlds they live in: columns of numbers, and columns of categories.

A criterion class owns all that depends on its shape. To add one, subclass `Numeric` (or `Criterion`, for categories),
name its `kind` and say `known`, `bends`, `rising`, `crossings` or `inverse`, `levels`, and for exports `expression`.
Truth, words, notation, files, bounds and plots follow from those. What a class does not say raises and names the class.
"""

from __future__ import annotations

import json
import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from decimal import Decimal
from typing import Any, ClassVar, Literal, NamedTuple, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from baconlogic.core import Floats
from baconlogic.core.checks import Hint, ParameterError, check_truth
from baconlogic.core.words import degree, digits, number, percent

Category = str | int | bool
Mark = float  # a raw value, as files have it: any number, where a plain float of theirs that may be left out is a truth
Operation = Literal["+", "*", "-", "/", "min", "max", "abs", "exp", "log", "expm1"]

UNSTATED = (
    "the value is missing and no truth for missing values is stated; add `missing 0.5` to the criterion's brackets, "
    "fill the value in, or ask bounds() for the range"
)
#: Every class of criteria by its kind, the name it has in files; a class enters by being defined.
KINDS: dict[str, type[Criterion]] = {}
LARGEST = 1e300
FARTHEST = 7.0  # refit makes a criterion at most e**7 times as steep, or as flat


class ExpressionBuilder(Protocol):
    """What an export gives a criterion to write its truth with: x is a raw value that is not missing.

    Expressions and tests are the export's own; a criterion makes them here and hands them on.
    """

    x: Any

    def number(self, value: float) -> Any:
        """Write a number."""

    def past(self, mark: float) -> Any:
        """Write x - mark."""

    def op(self, name: Operation, *args: Any) -> Any:
        """Write +, * of any number of expressions, -, /, min, max of two, abs, exp, log, expm1 of one."""

    def less(self, left: Any, right: Any) -> Any:
        """Write the test whether left < right."""

    def choose(self, test: Any, then: Any, otherwise: Any) -> Any:
        """Write `then` where the test holds, else `otherwise`; only the one that holds is worked out."""

    def once(self, value: Any) -> Any:
        """Return an expression that stands for this one and is worked out a single time, however often it is used."""

    def lines(self, points: Sequence[tuple[float, float]]) -> Any:
        """Write straight lines between (value, truth), constant outside."""

    def logistic(self, centre: float, slope: float) -> Any:
        """Write 1 / (1 + exp(-slope (x - centre)))."""

    def choices(self, truths: Sequence[tuple[Category, float]], other: float | None) -> Any:
        """Write a truth for each category, and one for any other where it is stated."""


class Leeway(NamedTuple):
    """How far refit may move a criterion: first and last mark, a usual width, and the span of log steepness."""

    first: float
    last: float
    width: float
    steeper: tuple[float, float] | None  # None where nothing may move


@dataclass(frozen=True)
class Criterion(ABC):
    """What all criteria share."""

    kind: ClassVar[str]  # its name in files
    vocabulary: ClassVar[tuple[str, ...]] = ()  # the words that only its notation has
    categorical: ClassVar[bool] = False
    holds_truths: ClassVar[bool] = False  # whether the column holds degrees of truth already: 0 to 1, nothing else
    learnable: ClassVar[bool] = False  # whether learning goes on from it; what it does not is kept as it was typed
    domain: ClassVar[tuple[float, float]] = (-math.inf, math.inf)  # what an unknown number may be
    missing: float | None = None

    def __init_subclass__(cls, **rest: Any) -> None:
        super().__init_subclass__(**rest)
        if "kind" not in vars(cls):
            return
        known = KINDS.setdefault(cls.kind, cls)
        if (known.__module__, known.__qualname__) != (cls.__module__, cls.__qualname__):
            raise TypeError(f"{cls.__name__} has the kind {cls.kind!r}, which is that of {known.__name__}; rename it")
        KINDS[cls.kind] = cls

    def __post_init__(self) -> None:
        if self.missing is not None:
            check_truth(self.missing, "the truth for missing values")

    @abstractmethod
    def truth(self, values: NDArray[Any]) -> Floats:
        """Return the degree of truth of each raw value."""

    def falsity(self, values: NDArray[Any]) -> Floats:
        """Return 1 - truth of each raw value, precise also where the truth is nearly 1."""
        return 1.0 - self.truth(values)

    def fill(self, truths: Floats, values: Floats, *, turned: bool = False) -> Floats:
        """Put the stated truth, or when turned the stated falsity, where a number is missing."""
        unknown = np.isnan(values)
        if unknown.any():
            if self.missing is None:
                raise ParameterError(Hint("missing", UNSTATED))
            truths[unknown] = 1.0 - self.missing if turned else self.missing
        return truths

    @abstractmethod
    def ends(self, low: NDArray[Any], high: NDArray[Any]) -> tuple[Floats, Floats]:
        """Return the lowest truth over each raw interval with its falsity, and the highest: (2, rows) each."""

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

    @property
    def unit(self) -> str:
        """What raw values are measured in."""
        return ""

    @property
    def truths(self) -> tuple[tuple[Category, float], ...]:
        """The categories that have a truth of their own, with it; a number has none."""
        return ()

    @property
    def other(self) -> float | None:
        """The truth of any other category, where one is stated."""
        return None

    def accepts(self, category: Any) -> bool:
        """Whether a category has a truth."""
        return self.other is not None or category in dict(self.truths)

    @property
    def bends(self) -> tuple[float, ...]:
        """Raw values between which truth is monotone; below the first and above the last it is constant."""
        return ()

    @property
    def corners(self) -> tuple[float, ...]:
        """Raw values at which straight pieces of the curve meet."""
        return ()

    @property
    def flag(self) -> tuple[float, float] | None:
        """The truths of 0 and 1 where it gives those two, and nothing else, a truth of their own."""
        return None

    def crossings(self, truth: float) -> tuple[float, ...]:
        """Return every raw value at which it passes or first reaches `truth`."""
        raise self.lacks("crossings", truth)

    def span(self, hardly: float) -> tuple[float, float]:
        """Return the raw values between which it goes from `hardly` true to nearly (1 - hardly), or the other way."""
        raise self.lacks("span", hardly)

    @property
    @abstractmethod
    def claim(self) -> str:
        """What it says of its feature: "is high", "fits"; nothing where the column speaks for itself."""

    @property
    def meaning(self) -> str:
        """The claim as it stands before what is said of it: "high: ", "fits: "; or nothing."""
        return f"{self.claim.removeprefix('is ')}: " if self.claim else ""

    @abstractmethod
    def levels(self) -> str:
        """Say which values are how true: "half true at 16.8, 95% true at 20.07"."""

    def detail(self) -> str:
        """Say which values are how true, in their unit, a missing one too."""
        unit = f" {self.unit}" if self.unit else ""
        return f"{self.levels()}{unit}{self.when_missing()}"

    def words(self, feature: str) -> str:
        """Say the criterion in words."""
        return f"{feature}{' ' if self.claim else ''}{self.claim}: {self.detail()}"

    def brief(self) -> str:
        """Say it in small print, without its feature."""
        return f"{self.meaning}{self.detail()}"

    @property
    def crisp(self) -> bool:
        """Whether every known value is either fully true or not true at all."""
        return False

    def predicate(self, *, negated: bool = False) -> str | None:  # noqa: ARG002
        """Say all of it, or of its opposite, in a few words: "above 16.8", "is red"; None where it takes more."""
        return None

    def condition(self, feature: str, *, negated: bool = False) -> str | None:
        """Say it of its feature in a few words, an unknown value too: "radius above 16.8 or unknown"; or None."""
        said = self.predicate(negated=negated)
        return None if said is None else f"{feature} {said}{self.when_unknown(negated=negated)}"

    def when_unknown(self, *, negated: bool = False) -> str:
        """Say what an unknown value counts as, where that is stated and not nothing."""
        truth = rest_of(self.missing) if negated else self.missing
        if truth is None or truth == 0.0:
            return ""
        return " or unknown" if truth == 1.0 else f" (unknown counts {'half' if truth == 0.5 else percent(truth)})"

    def when_missing(self) -> str:
        """Say the truth of a missing value, where one is stated."""
        return "" if self.missing is None else f"; {degree(self.missing)} when missing"

    def mirrored(self) -> Criterion | None:
        """Return the criterion that is as true as this one is not, or None where there is none of its kind."""
        return None

    def expression(self, build: ExpressionBuilder) -> tuple[Any, Any]:
        """Return truth and falsity of a raw value that is not missing, as arithmetic."""
        raise self.lacks("expression", build)

    def compiled(self, loops: Any, values: NDArray[Any], out: Floats, *, turned: bool) -> bool | None:  # noqa: ARG002
        """Put truths, or when turned falsities, into `out` by a compiled loop; return whether one is left missing.

        None: there is no such loop.
        """
        return None

    def leeway(self, low: float, high: float) -> Leeway:
        """Return how far refit may move it in a column that runs from low to high."""
        raise self.lacks("leeway", low, high)

    def moved(self, shift: float, steeper: float, middle: float, missing: float | None) -> Self:
        """Return it moved along the column by `shift`, and e**steeper times as steep around `middle`."""
        raise self.lacks("moved", shift, steeper, middle, missing)

    def slopes(self, values: Floats, units: tuple[float, float], middle: float) -> Floats:
        """Return how truth changes as it moves, in units of shift and of steepness around its middle: (2, rows)."""
        raise self.lacks("slopes", values, units, middle)

    @classmethod
    def entries(cls) -> dict[str, str]:
        """Return the types of the fields it is made of, by name: its own, then what other kinds have too."""
        types: dict[str, str] = {f.name: f.type if isinstance(f.type, str) else f.type.__name__ for f in fields(cls)}
        for name in [each for each in ("missing", "unit") if each in types]:
            types[name] = types.pop(name)
        return types

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain data: its kind and its fields, but for those that state nothing."""
        said = {name: _plain(getattr(self, name)) for name in self.entries()}
        return {"kind": self.kind, **{name: value for name, value in said.items() if value not in (None, "")}}

    def text(self) -> list[str]:
        """Write what its brackets hold in the notation, but for `missing` and `unit`."""
        said = {name: getattr(self, name) for name in self.entries() if name not in ("missing", "unit")}
        if any(not isinstance(value, int | float | str) for value in said.values()):
            raise self.lacks("text")
        written = (json.dumps(v, ensure_ascii=False) if isinstance(v, str) else digits(float(v)) for v in said.values())
        return [self.kind, *map(" ".join, zip(said, written, strict=True))]

    @classmethod
    def from_text(cls, said: dict[str, Any]) -> Self:
        """Make one of the values that its brackets give to words."""
        return cls(**said)

    def lacks(self, method: str, *_: Any) -> NotImplementedError:
        """Return the error of a criterion that is asked for what its class does not say."""
        return NotImplementedError(f"{type(self).__name__} is a criterion without `{method}`; add that method to it")

    def _set(self, missing: float | None, **given: Any) -> None:
        if missing is not None:
            check_truth(missing, "the truth for missing values")
            missing = float(missing)
        for name, value in {"missing": missing, **given}.items():
            object.__setattr__(self, name, value)


class Numeric(Criterion):
    """A criterion over a column of numbers: it has a truth for every number in its domain."""

    unit: str = ""

    @property
    @abstractmethod
    def bends(self) -> tuple[float, ...]:
        """Raw values between which truth is monotone; below the first and above the last it is constant."""

    @abstractmethod
    def known(self, values: Floats) -> Floats:
        """Return the truth of values that are not missing; a missing one comes back as it is, NaN."""

    def known_falsity(self, values: Floats) -> Floats:
        """Return 1 - truth of values that are not missing, precise also where the truth is nearly 1."""
        return 1.0 - self.known(values)

    def truth(self, values: NDArray[Any]) -> Floats:
        """Return the degree of truth of each raw value."""
        return self.fill(self.known(values), values)

    def falsity(self, values: NDArray[Any]) -> Floats:
        """Return 1 - truth of each raw value, precise also where the truth is nearly 1."""
        return self.fill(self.known_falsity(values), values, turned=True)

    def image(self, low: Floats, high: Floats) -> tuple[Floats, Floats]:
        """Return the exact lowest and highest truth over each raw interval; its ends may be infinite."""
        return self._image(low, high, self.known)

    def _image(self, low: Floats, high: Floats, curve: Callable[[Floats], Floats]) -> tuple[Floats, Floats]:
        found = curve(low), curve(high)
        lowest, highest = np.minimum(*found), np.maximum(*found)
        marks = () if self.monotone else self.bends
        for x, t in zip(marks, curve(np.array(marks)), strict=True):
            inside = (low < x) & (x < high)
            lowest = np.where(inside, np.minimum(lowest, t), lowest)
            highest = np.where(inside, np.maximum(highest, t), highest)
        return lowest, highest

    def ends(self, low: Floats, high: Floats) -> tuple[Floats, Floats]:
        """Return the lowest truth over each raw interval with its falsity, and the highest: (2, rows) each."""
        (least, most), (least_false, most_false) = self.image(low, high), self._image(low, high, self.known_falsity)
        return np.stack([least, most_false]), np.stack([most, least_false])

    def crossings(self, truth: float) -> tuple[float, ...]:
        """Return every raw value at which it passes or first reaches `truth`."""
        if type(self).inverse is Numeric.inverse or not self.monotone:
            raise self.lacks("crossings")
        low, high = self.range
        found = (self.inverse(truth),) if low <= truth <= high else ()
        return tuple(x for x in found if math.isfinite(x))

    def inverse(self, truth: float) -> float:
        """Return the raw value that is `truth` true; the first to be fully true, the last not to be true at all."""
        found = self.crossings(truth)
        low, high = self.range
        if not found:
            raise ValueError(f"no value is {truth:g} true; truths run from {low:g} to {high:g}")
        if not self.monotone:
            raise ValueError(f"this {self.kind} rises and falls; use crossings(truth) for every value")
        return found[0]

    def span(self, hardly: float) -> tuple[float, float]:  # noqa: ARG002
        """Return the ends of what bends; beyond them it is constant."""
        return self.bends[0], self.bends[-1]

    @property
    def claim(self) -> str:
        """Whether it asks for high values or low ones."""
        return {True: "is high", False: "is low", None: "fits"}[self.rising]

    def brief(self) -> str:
        """Say where it is half true, when that is one value."""
        if not self.monotone or not self.range[0] <= 0.5 <= self.range[1]:
            return super().brief()
        unit = f" {self.unit}" if self.unit else ""
        return f"{self.meaning}half true at {number(self.inverse(0.5))}{unit}{self.when_missing()}"

    def leeway(self, low: float, high: float) -> Leeway:  # noqa: ARG002
        """Return its span, and how much steeper or flatter it may be without leaving the numbers there are."""
        first, last = self.span(0.05)
        return Leeway(first, last, (last - first) / 5.0, log_leeway(1.0 / (last - first)))

    def slopes(self, values: Floats, units: tuple[float, float], middle: float) -> Floats:
        """Return how truth changes as it moves, by small differences."""
        shift, found = 1e-6 * (self.span(0.05)[1] - self.span(0.05)[0]), []
        for step, way in ((shift, (shift, 0.0)), (1e-6, (0.0, 1e-6))):
            after, before = (self.moved(s * way[0], s * way[1], middle, self.missing) for s in (1.0, -1.0))
            found.append((after.known(values) - before.known(values)) / (2.0 * step))
        return np.stack([unit * slope for unit, slope in zip(units, found, strict=True)])


def complement(truth: float) -> float:
    """Return 1 - truth, taken from the digits that a person sees: 0.1 for 0.9, and 0.9 for 0.1."""
    return float(1 - Decimal(repr(truth)))


def rest_of(truth: float | None) -> float | None:
    """Return the complement of a truth that may not be stated."""
    return None if truth is None else complement(truth)


def log_leeway(value: float) -> tuple[float, float]:
    """Return how far the logarithm of a size may go without leaving the numbers there are."""
    size = math.log(abs(value))
    return max(-FARTHEST, -690.0 - size), min(FARTHEST, 690.0 - size)


def finite(value: float) -> float:
    """Return a number kept within those that a criterion may hold."""
    return float(min(max(value, -LARGEST), LARGEST))


def _plain(value: Any) -> Any:
    return [_plain(item) for item in value] if isinstance(value, tuple) else value
