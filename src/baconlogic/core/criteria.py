"""Elementary criteria: one raw column -> degree of truth in [0, 1], and back.

    Given      the column already holds degrees of truth (or 0/1)
    Ramp       piecewise linear between breakpoints (value, truth), constant outside: LSP's usual criterion
    Sigmoid    1 / (1 + exp(-slope (x - centre))): extremes pushed to 0 and 1, the middle stretched (Appendix F)
    Interval   true above one mark, up to another, or between both; not true elsewhere
    Table      a truth for each category

Each can state the truth of a missing value; without it a missing value is an error. Missing is NaN in a numeric column
and None in a column of categories.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import groupby, pairwise
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from baconlogic.core import Floats
from baconlogic.core.checks import Hint, ParameterError, check_finite, check_text, check_truth, pairs_of, quantiles_of
from baconlogic.core.criterion import (
    FARTHEST,
    LARGEST,
    UNSTATED,
    Category,
    Criterion,
    ExpressionBuilder,
    Leeway,
    Mark,
    Numeric,
    complement,
    finite,
    log_leeway,
    rest_of,
)
from baconlogic.core.gcd import logistic
from baconlogic.core.words import crisp_places, degree, digits, kinds, listed, number, numbers, with_unit

__all__ = ["UNSTATED", "Criterion", "Given", "Interval", "Numeric", "Ramp", "Sigmoid", "Table", "unlisted"]


@dataclass(frozen=True)
class Given(Numeric):
    """The column holds degrees of truth already."""

    kind: ClassVar[str] = "given"
    holds_truths: ClassVar[bool] = True
    domain: ClassVar[tuple[float, float]] = (0.0, 1.0)
    bends = domain  # nothing lies outside
    rising = True
    claim = ""  # the column speaks for itself

    def __init__(self, missing: float | None = None) -> None:
        self._set(missing)

    def known(self, values: Floats) -> Floats:
        """Return the values themselves."""
        outside = (values < 0.0) | (values > 1.0)
        if outside.any():
            raise ValueError(
                f"{float(values[outside][0])!r} is not a degree of truth in [0, 1]; give the leaf a criterion, "
                "e.g. name[0 at 10, 1 at 20]"
            )
        return np.array(values, dtype=float)

    def inverse(self, truth: float) -> float:
        """Return the truth itself."""
        check_truth(truth, "truth")
        return float(truth)

    def levels(self) -> str:
        """Say that the column speaks for itself."""
        return "a degree of truth"

    def words(self, feature: str) -> str:
        """Say that the column speaks for itself."""
        return f"{feature} is true, to the degree given{self.when_missing()}"

    def condition(self, feature: str, *, negated: bool = False) -> str:
        """Say the feature itself, or "not" it."""
        return f"{'not ' if negated else ''}{feature}{self.when_unknown(negated=negated)}"

    def brief(self) -> str:
        """Say what the column holds."""
        return self.detail()

    def expression(self, build: ExpressionBuilder) -> tuple[Any, Any]:
        """Return the value itself."""
        return build.x, build.op("-", build.number(1.0), build.x)

    def text(self) -> list[str]:
        """Write nothing: a leaf without a criterion is a given one."""
        return []

    def moved(self, shift: float, steeper: float, middle: float, missing: float | None) -> Self:  # noqa: ARG002
        """Return it with another truth for missing values; nothing else may move."""
        return type(self)(missing)


@dataclass(frozen=True)
class Ramp(Numeric):
    """Straight lines between breakpoints, e.g. Ramp([(12, 0), (25, 1)]): not true below 12, fully true above 25."""

    kind: ClassVar[str] = "ramp"
    vocabulary: ClassVar[tuple[str, ...]] = ("at",)
    points: tuple[tuple[float, float], ...] = ()  # (raw value, truth), raw values increasing
    unit: str = ""

    def __init__(self, points: Any, missing: float | None = None, unit: str = "") -> None:
        pairs = pairs_of(points, "breakpoints", "(value, truth), e.g. [(12, 0), (25, 1)]")
        for x, t in pairs:
            check_finite(x, "a breakpoint")
            check_truth(t, f"the truth at {number(x)}")
        check_text(unit, "a unit", empty=True)
        self._set(missing, points=tuple(sorted((float(x), float(t)) for x, t in pairs)), unit=unit)
        if len(pairs) < 2:
            raise ValueError(f"a ramp needs two or more breakpoints, got {len(pairs)}")
        for (a, _), (b, _) in pairwise(self.points):
            if not (b > a and math.isfinite(1.0 / (b - a))):
                raise ValueError(f"two breakpoints are at the same value, {number(b)}; set them apart")
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
        start, end, _ = quantiles_of(values, low, high)
        return cls.between(start, end, **rest) if rising else cls.between(end, start, **rest)

    @classmethod
    def minmax(cls, values: ArrayLike, *, rising: bool = True, **rest: Any) -> Self:
        """Return the ramp from the smallest to the largest value of a column."""
        return cls.from_column(values, rising=rising, low=0.0, high=1.0, **rest)

    @property
    def _truths(self) -> list[float]:
        return [t for _, t in self.points]

    @property
    def bends(self) -> tuple[float, ...]:
        """The breakpoints."""
        return tuple(x for x, _ in self.points)

    @property
    def corners(self) -> tuple[float, ...]:
        """The breakpoints."""
        return self.bends

    def known(self, values: Floats) -> Floats:
        """Interpolate between the breakpoints."""
        return _interpolated(values, np.array(self.bends), np.array(self._truths))

    def known_falsity(self, values: Floats) -> Floats:
        """Interpolate between the falsities of the breakpoints."""
        return _interpolated(values, np.array(self.bends), 1.0 - np.array(self._truths))

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

    @property
    def flag(self) -> tuple[float, float] | None:
        """The truths of 0 and 1, as one learned of a 0/1 column has them: not those two themselves."""
        if self.bends == (0.0, 1.0) and set(self._truths) != {0.0, 1.0}:
            return self._truths[0], self._truths[1]
        return None

    @property
    def claim(self) -> str:
        """What its breakpoints ask for: large values, small ones, or some between; of a flag nothing."""
        if self.flag or self.rising is not None:
            return "" if self.flag else super().claim
        top = self._truths.index(max(self._truths))
        rises, falls = self._truths[: top + 1], self._truths[top:]
        return "is in range" if rises == sorted(rises) and falls == sorted(falls, reverse=True) else "fits"

    def levels(self) -> str:
        """Say each level and where it holds, and half-way when there are but two."""
        points = list(self.points)
        if self.flag:
            no, yes = (degree(t) for t in self.flag)
            return f"{yes} when 1, {no} when 0"
        if len(points) == 2 and self.range == (0.0, 1.0):
            points.insert(1, (self.inverse(0.5), 0.5))
        shown = dict(zip((x for x, _ in points), numbers([x for x, _ in points]), strict=True))
        levels = [(t, [shown[x] for x, _ in group]) for t, group in groupby(points, key=lambda point: point[1])]
        places = [f"at {at[0]}" if len(at) == 1 else f"from {at[0]} to {at[-1]}" for _, at in levels]
        places[0], places[-1] = f"below {levels[0][1][-1]}", f"above {levels[-1][1][0]}"
        return ", ".join(f"{degree(t)} {place}" for (t, _), place in zip(levels, places, strict=True))

    def predicate(self, *, negated: bool = False) -> str | None:
        """Say from where to where it becomes true, when it is one line: "high (12 to 25)", "low (25 to 12)"."""
        if self.bends != (self.bends[0], self.bends[-1]) or self.range != (0.0, 1.0):
            return None
        low, high = numbers([*self.bends])
        way, first, last = ("high", low, high) if self.rising != negated else ("low", high, low)
        return f"{way} ({with_unit(f'{first} to {last}', self.unit)})"

    def brief(self) -> str:
        """Say where it is half true, when that is one value; of a flag, how true 1 and 0 are."""
        return self.detail() if self.flag else super().brief()

    def mirrored(self) -> Ramp | None:
        """Return the ramp through the complements, unless they are too near 1 to be told apart."""
        points = [(x, complement(t)) for x, t in self.points]
        return None if len({t for _, t in points}) == 1 else Ramp(points, rest_of(self.missing), self.unit)

    def expression(self, build: ExpressionBuilder) -> tuple[Any, Any]:
        """Return its lines, and those of the falsities."""
        return build.lines(self.points), build.lines([(x, 1.0 - t) for x, t in self.points])

    def compiled(self, loops: Any, values: NDArray[Any], out: Floats, *, turned: bool) -> bool | None:
        """Interpolate by a compiled loop."""
        marks, truths = np.array(self.points).T.copy()
        return bool(loops.ramp(values, marks, 1.0 - truths if turned else truths, out))

    def leeway(self, low: float, high: float) -> Leeway:
        """Return its ends; breakpoints so near each other that rounding would make them one stay where they are."""
        first, last = self.bends[0], self.bends[-1]
        gap = min(b - a for a, b in pairwise(self.bends))
        apart = math.log(gap) - math.log(1e-12 * max(abs(first), abs(last), abs(low), abs(high), 1e-280))
        steeper = log_leeway(1.0 / (last - first))[0], min(apart, FARTHEST)
        return Leeway(first, last, (last - first) / 5.0, steeper if apart >= 0.0 else None)

    def moved(self, shift: float, steeper: float, middle: float, missing: float | None) -> Self:
        """Return it with all breakpoints moved, and apart or together: truths and order are kept."""
        wider = math.expm1(-steeper)
        points = [(finite(x + (x - middle) * wider + shift), t) for x, t in self.points]
        return type(self)(points, missing, self.unit)

    def slopes(self, values: Floats, units: tuple[float, float], middle: float) -> Floats:
        """Return how truth changes as it moves: by the rise of the line that a value is on."""
        x, t = np.array(self.points).T
        rise = np.r_[0.0, np.diff(t) / np.diff(x), 0.0][np.searchsorted(x, values)]
        return np.stack([-units[0] * rise, units[1] * rise * (np.clip(values, x[0], x[-1]) - middle)])

    def text(self) -> list[str]:
        """Write each breakpoint: 1 at 25."""
        return [f"{digits(t)} at {digits(x)}" for x, t in self.points]

    @classmethod
    def from_text(cls, said: dict[str, Any]) -> Self:
        """Make a ramp of its breakpoints."""
        return cls(said.pop("at"), **said)


@dataclass(frozen=True)
class Sigmoid(Numeric):
    """Half true at `centre`, rising with `slope` (falling when it is negative)."""

    kind: ClassVar[str] = "sigmoid"
    vocabulary: ClassVar[tuple[str, ...]] = ("half", "slope")
    learnable: ClassVar[bool] = True
    centre: float = 0.0
    slope: float = 1.0
    unit: str = ""

    def __init__(self, centre: float, slope: float, missing: float | None = None, unit: str = "") -> None:
        check_finite(centre, "the centre of a sigmoid")
        check_finite(slope, "the slope of a sigmoid")
        if slope == 0.0:
            raise ValueError("the slope of a sigmoid must not be 0: it would be half true everywhere")
        check_text(unit, "a unit", empty=True)
        self._set(missing, centre=float(centre), slope=float(slope), unit=unit)

    @classmethod
    def from_column(
        cls, values: ArrayLike, *, rising: bool = True, low: float = 0.05, high: float = 0.95, **rest: Any
    ) -> Self:
        """Return the sigmoid that is half true at the median and spans 5% to 95% of truth between two quantiles."""
        start, end, middle = quantiles_of(values, low, high)
        slope = 2.0 * math.log(19.0) / (end - start)
        return cls(middle, slope if rising else -slope, **rest)

    @property
    def bends(self) -> tuple[float, ...]:
        """The centre, and marks on both sides of it; beyond the last it is 0 or 1 to the last bit."""
        below, above = math.nextafter(self.centre, -math.inf), math.nextafter(self.centre, math.inf)
        reaches = [min(distance / abs(self.slope), 1.7e308) for distance in (1.0, 2.0, 4.0, 8.0, 20.0, 800.0)]
        left = [min(self.centre - reach, below) for reach in reversed(reaches)]
        return (*left, self.centre, *(max(self.centre + reach, above) for reach in reaches))

    def known(self, values: Floats) -> Floats:
        """Evaluate the logistic curve."""
        with np.errstate(over="ignore"):
            return logistic(self.slope * (values - self.centre))

    def known_falsity(self, values: Floats) -> Floats:
        """Evaluate the mirrored curve."""
        with np.errstate(over="ignore"):
            return logistic(-self.slope * (values - self.centre))

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

    def span(self, hardly: float) -> tuple[float, float]:
        """Return where it is hardly true and where nearly, the smaller value first."""
        start, end = sorted((self.inverse(hardly), self.inverse(1.0 - hardly)))
        return start, end

    def levels(self) -> str:
        """Say where it is half true, and where above that it is nearly true, or hardly."""
        at = [(self.inverse(t), t) for t in (0.5, 0.95 if self.rising else 0.05)]
        shown = numbers([x for x, _ in at])
        return ", ".join(f"{degree(t)} at {text}" for (_, t), text in zip(at, shown, strict=True))

    def mirrored(self) -> Sigmoid:
        """Return the sigmoid of the opposite slope."""
        return replace(self, slope=-self.slope, missing=rest_of(self.missing))

    def expression(self, build: ExpressionBuilder) -> tuple[Any, Any]:
        """Return the curve and its mirror image."""
        return build.logistic(self.centre, self.slope), build.logistic(self.centre, -self.slope)

    def compiled(self, loops: Any, values: NDArray[Any], out: Floats, *, turned: bool) -> bool | None:
        """Evaluate the curve by a compiled loop."""
        return bool(loops.sigmoid(values, self.centre, -self.slope if turned else self.slope, out))

    def leeway(self, low: float, high: float) -> Leeway:  # noqa: ARG002
        """Return its centre, and how much steeper or flatter it may be."""
        return Leeway(self.centre, self.centre, 1.0 / abs(self.slope), log_leeway(self.slope))

    def moved(self, shift: float, steeper: float, middle: float, missing: float | None) -> Self:  # noqa: ARG002
        """Return it with its centre moved and its slope times a factor: the direction is kept."""
        return type(self)(finite(self.centre + shift), self.slope * math.exp(steeper), missing, self.unit)

    def slopes(self, values: Floats, units: tuple[float, float], middle: float) -> Floats:  # noqa: ARG002
        """Return how truth changes as it moves: t (1 - t) times -slope, and times slope (x - centre)."""
        truth = self.known(values)
        bend = truth * (1.0 - truth)
        with np.errstate(over="ignore"):
            steps = np.clip(self.slope * (values - self.centre), -LARGEST, LARGEST)
        return np.stack([-units[0] * self.slope * bend, units[1] * steps * bend])

    def text(self) -> list[str]:
        """Write where it is half true, and how steep it is there."""
        return [f"half at {digits(self.centre)}", f"slope {digits(self.slope)}"]

    @classmethod
    def from_text(cls, said: dict[str, Any]) -> Self:
        """Make a sigmoid of its centre and slope."""
        if not ("half" in said and "slope" in said):
            raise ValueError("a sigmoid needs both `half at` and `slope`")
        return cls(said.pop("half"), said.pop("slope"), **said)


@dataclass(frozen=True)
class Interval(Numeric):
    """Fully true where low < x <= high, not true elsewhere; one of the two marks may be left out.

    So "above 16.8" and "up to 16.8" are each other's complement, and neighbouring intervals share no value.
    """

    kind: ClassVar[str] = "interval"
    vocabulary: ClassVar[tuple[str, ...]] = ("above", "up")
    claim = ""  # its levels say it all
    low: Mark | None = None
    high: Mark | None = None
    unit: str = ""

    def __init__(
        self, low: float | None = None, high: float | None = None, missing: float | None = None, unit: str = ""
    ) -> None:
        for mark in (low, high):
            if mark is not None:
                check_finite(mark, "a mark of an interval")
        check_text(unit, "a unit", empty=True)
        first, last = (None if mark is None else float(mark) for mark in (low, high))
        self._set(missing, low=first, high=last, unit=unit)
        if not self._marks:
            raise ValueError("an interval needs a mark: Interval(low=16.8) is above 16.8, Interval(high=5) up to 5")
        if len(self._marks) == 2 and not self._marks[0] < self._marks[1]:
            raise ValueError(f"nothing is above {number(self._marks[0])} and up to {number(self._marks[1])}")

    @property
    def _marks(self) -> tuple[float, ...]:
        return tuple(mark for mark in (self.low, self.high) if mark is not None)

    def known(self, values: Floats) -> Floats:
        """Return 1 inside and 0 outside."""
        inside = np.ones(np.shape(values), dtype=bool) if self.low is None else values > self.low
        inside = inside if self.high is None else inside & (values <= self.high)
        return np.where(np.isnan(values), np.nan, inside.astype(float))

    @property
    def bends(self) -> tuple[float, ...]:
        """Each mark and the number right above it: nothing lies between."""
        return tuple(sorted({x for mark in self._marks for x in (mark, math.nextafter(mark, math.inf))}))

    @property
    def corners(self) -> tuple[float, ...]:
        """The same: the curve is drawn upright there."""
        return self.bends

    @property
    def rising(self) -> bool | None:
        """Whether it is open above, open below, or closed on both sides."""
        return None if len(self._marks) == 2 else self.low is not None

    def crossings(self, truth: float) -> tuple[float, ...]:
        """Return its marks; for a truth of 1 or 0, the number next to each that has it."""
        check_truth(truth, "truth")
        above = (truth == 1.0, truth == 0.0)  # whether it is the number above the mark that is so true
        sides = zip((self.low, self.high), above, strict=True)
        return tuple(math.nextafter(m, math.inf) if next_ else m for m, next_ in sides if m is not None)

    def span(self, hardly: float) -> tuple[float, float]:  # noqa: ARG002
        """Return a stretch around its marks: of half the width it has or, of a single mark, the mark's own size."""
        first, last = self._marks[0], self._marks[-1]
        reach = (last - first or abs(first) or 1.0) / 2.0
        return first - reach, last + reach

    def levels(self) -> str:
        """Say where it is true: "above 16.8", "at most 5", "above 0.5 up to 2.1"."""
        return crisp_places([(self.low, self.high)])

    crisp = True

    def predicate(self, *, negated: bool = False) -> str:
        """Say where it is true, or where it is not."""
        spans = [(self.low, self.high)] if not negated else [(None, self.low), (self.high, None)]
        return crisp_places([span for span in spans if span != (None, None)], self.unit)

    @property
    def meaning(self) -> str:
        """Say where it is true."""
        return f"{self.levels()}: "

    def words(self, feature: str) -> str:
        """Say where it is true."""
        return f"{feature} {self.detail()}"

    def brief(self) -> str:
        """Say where it is true."""
        return self.detail()

    def mirrored(self) -> Interval | None:
        """Return the other side of a single mark; between two there is none."""
        other = rest_of(self.missing)
        return None if self.rising is None else Interval(self.high, self.low, other, self.unit)

    def expression(self, build: ExpressionBuilder) -> tuple[Any, Any]:
        """Return 1 or 0 by the side of each mark."""
        zero, found = build.number(0.0), []
        for truth, falsity in ((1.0, 0.0), (0.0, 1.0)):
            inside, outside = build.number(truth), build.number(falsity)
            if self.low is not None:
                inside = build.choose(build.less(zero, build.past(self.low)), inside, outside)
            if self.high is not None:
                inside = build.choose(build.less(zero, build.past(self.high)), outside, inside)
            found.append(inside)
        return found[0], found[1]

    def leeway(self, low: float, high: float) -> Leeway:  # noqa: ARG002
        """Return that nothing moves: a cut has no slope to follow."""
        return Leeway(self._marks[0], self._marks[-1], 1.0, None)

    def moved(self, shift: float, steeper: float, middle: float, missing: float | None) -> Self:  # noqa: ARG002
        """Return it moved along the column; it cannot be steeper."""
        low, high = (None if mark is None else finite(mark + shift) for mark in (self.low, self.high))
        return type(self)(low, high, missing, self.unit)

    def slopes(self, values: Floats, units: tuple[float, float], middle: float) -> Floats:  # noqa: ARG002
        """Return 0: between marks truth does not change."""
        return np.zeros((2, len(values)))

    def text(self) -> list[str]:
        """Write its marks: above 0.5, up to 2.1."""
        marks = (("above", self.low), ("up to", self.high))
        return [f"{side} {digits(mark)}" for side, mark in marks if mark is not None]

    @classmethod
    def from_text(cls, said: dict[str, Any]) -> Self:
        """Make an interval of its marks."""
        return cls(said.pop("above", None), said.pop("up", None), **said)


@dataclass(frozen=True)
class Table(Criterion):
    """A truth for each category, and one for any `other`; without it a category not in the table is an error."""

    kind: ClassVar[str] = "table"
    vocabulary: ClassVar[tuple[str, ...]] = ("if", "other")
    categorical: ClassVar[bool] = True
    rising = None  # categories have no order
    claim = "fits"
    truths: tuple[tuple[Category, float], ...] = ()
    other: float | None = None

    def __init__(self, truths: Any, other: float | None = None, missing: float | None = None) -> None:
        pairs = pairs_of(truths, "truths", '(category, truth), e.g. {"red": 1, "blue": 0.4}')
        for category, truth in pairs:
            if isinstance(category, str):
                check_text(f"{category}.", "a category")
            elif not isinstance(category, int):
                raise TypeError(f"a category must be text, a whole number or true/false, got {category!r}")
            check_truth(truth, f"the truth of {category!r}")
        if not pairs:
            raise ValueError("a table needs at least one category")
        twice = [category for category, times in Counter(c for c, _ in pairs).items() if times > 1]
        if twice:
            raise ValueError(f"the category {twice[0]!r} is given twice")
        if other is not None:
            check_truth(other, "the truth of other categories")
            other = float(other)
        self._set(missing, truths=tuple((c, float(t)) for c, t in pairs), other=other)

    def truth(self, values: NDArray[Any]) -> Floats:
        """Return the truth of each category."""
        text = {isinstance(category, str) for category, _ in self.truths}
        seen: dict[Any, float | None] = {**dict(self.truths), None: self.missing}
        truths: list[float] = []
        for v in values.tolist():
            try:
                found = seen[v]
            except KeyError:
                found = seen[v] = self.other if isinstance(v, str) in text else None
            except TypeError:
                raise ValueError(f"{v!r:.60} cannot be a category") from None
            if found is None:
                raise ParameterError(self._refusal(v))
            truths.append(found)
        return np.array(truths, dtype=float)

    def _refusal(self, value: Any) -> str | Hint:
        first = ", ".join(repr(category) for category, _ in self.truths[:5]) + (", ..." if len(self.truths) > 5 else "")
        if value is None:
            return Hint("missing", UNSTATED)
        if self.other is None:
            return f"the category {value!r} is not in the table ({first}); add it, or state `other`"
        return f"{value!r} is of another kind than the table's categories ({first}); is this the right column?"

    @property
    def range(self) -> tuple[float, float]:
        """The lowest and highest truth of a category, `other` included."""
        truths = [t for _, t in self.truths] + ([] if self.other is None else [self.other])
        return min(truths), max(truths)

    def inverse(self, truth: float) -> tuple[Category, ...]:
        """Return the categories that are at least `truth` true."""
        check_truth(truth, "truth")
        return tuple(category for category, t in self.truths if t >= truth)

    def ends(self, low: NDArray[Any], high: NDArray[Any]) -> tuple[Floats, Floats]:  # noqa: ARG002
        """Return the lowest and highest truth of each category with its falsity; None is one of any truth."""
        unknown = np.array([value is None for value in high], dtype=bool)
        truth = np.full(len(high), np.nan)
        truth[~unknown] = self.truth(high[~unknown])
        least, most = (np.where(unknown, end, truth) for end in self.range)
        return np.stack([least, 1.0 - least]), np.stack([most, 1.0 - most])

    def levels(self) -> str:
        """Say the categories of each degree of truth."""
        degrees = dict.fromkeys(t for _, t in self.truths)
        said = [f"{degree(t)} for {listed([repr(c) for c, own in self.truths if own == t])}" for t in degrees]
        return ", ".join(said if self.other is None else [*said, f"{degree(self.other)} for anything else"])

    @property
    def crisp(self) -> bool:
        """Whether each category is either fully true or not true at all."""
        return {t for _, t in self.truths} | {self.other or 0.0} <= {0.0, 1.0}

    def predicate(self, *, negated: bool = False) -> str | None:
        """Say which categories it is true of, where it is true or not of each: "is red or blue", "is not red"."""
        if not self.crisp:
            return None
        sides = [
            [category for category, t in self.truths if t == side] for side in (float(not negated), float(negated))
        ]
        if self.other is not None and (self.other == 1.0) != negated:
            return f"is not {kinds(sides[1])}" if sides[1] else "is known"
        return f"is {kinds(sides[0])}" if sides[0] else "is never so"

    def mirrored(self) -> Table:
        """Return the table of the complements."""
        return Table([(c, complement(t)) for c, t in self.truths], rest_of(self.other), rest_of(self.missing))

    def expression(self, build: ExpressionBuilder) -> tuple[Any, Any]:
        """Return the truth of each category, and its falsity."""
        turned = [(category, 1.0 - t) for category, t in self.truths]
        other = None if self.other is None else 1.0 - self.other
        return build.choices(self.truths, self.other), build.choices(turned, other)

    def text(self) -> list[str]:
        """Write the truth of each category: 1 if "red"."""
        said = [f"{digits(t)} if {json.dumps(category, ensure_ascii=False)}" for category, t in self.truths]
        return said if self.other is None else [*said, f"other {digits(self.other)}"]

    @classmethod
    def from_text(cls, said: dict[str, Any]) -> Self:
        """Make a table of what is said of categories."""
        return cls(said.pop("if", []), **said)


def _interpolated(values: Floats, marks: Floats, truths: Floats) -> Floats:
    """Follow straight lines between marks, each from its lower end so that no digits are lost where truth is near 0."""
    place = np.clip(np.searchsorted(marks, values, side="right") - 1, 0, len(marks) - 2)
    start, end = truths[place], truths[place + 1]
    anchor = np.where(start <= end, marks[place], marks[place + 1])
    with np.errstate(over="ignore", invalid="ignore"):  # far outside, where the line is not taken
        slope = (end - start) / (marks[place + 1] - marks[place])
        line = np.minimum(np.minimum(start, end) + slope * (values - anchor), np.maximum(start, end))
    line = np.where(values < marks[0], truths[0], np.where(values >= marks[-1], truths[-1], line))
    return np.where(np.isnan(values), np.nan, line)


def unlisted(listed: Iterable[Any]) -> Any:
    """Return what stands for any category that no table lists, of the same kind as those they do."""
    known = list(listed)
    text = any(isinstance(category, str) for category in known)
    return "".join(map(str, known)) + "." if text else sum(abs(category) for category in known) + 1
