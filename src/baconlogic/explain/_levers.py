"""Levers: what may change in a case, how far, in what steps, and how large a change of each feature is.

A change of a number is measured in a scale of its feature: with a table X, the spread of its column there
(interquartile range / 1.349, about one standard deviation), and values stay within the range seen; without, the
distance over which its criterion goes from hardly true to nearly true. A change of category is of size 1.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import numpy as np

from baconlogic.core.checks import Parameter, ParameterError, check_finite
from baconlogic.explain import _case as cases

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from baconlogic.core.columns import Columns
    from baconlogic.core.nodes import Leaf
    from baconlogic.core.subject import Instance

    Floats = NDArray[np.float64]

NORMAL_QUARTILES = 1.349  # between the quartiles of a normal distribution, in standard deviations
SLACK = 1e-9  # of a step, which rounding may eat


@dataclass(frozen=True)
class Lever:
    """A feature of the case that may change: a number within `low` and `high`, or to one of some `options`."""

    feature: str
    value: Any
    scale: float = 1.0
    low: float = 0.0
    high: float = 0.0
    step: float | None = None
    options: tuple[Any, ...] | None = None  # other categories; None for a number

    @property
    def farthest(self) -> float:
        """The size of the largest change."""
        return 1.0 if self.options is not None else max(self.value - self.low, self.high - self.value) / self.scale

    def size(self, value: Any) -> float:
        """Return how large the change to a value is."""
        if self.options is not None:
            return float(value != self.value)
        return abs(float(value) - float(self.value)) / self.scale

    def ends(self, radius: float) -> tuple[Any, Any]:
        """Return the interval that changes up to this size reach; two Nones for any category."""
        if self.options is not None:
            return (None, None) if radius >= 1.0 else (self.value, self.value)
        return self.moved(-radius), self.moved(radius)

    def moved(self, size: float) -> float:
        """Return the value after a change of this size up, or down when it is negative: whole steps, within range."""
        reach = size * self.scale
        if self.step is None:
            moved = float(self.value) + reach
        else:
            moved = stepped(self.value, math.copysign(math.floor(abs(reach) / self.step + SLACK), reach), self.step)
        return min(max(moved, self.low), self.high)

    def inside(self, radius: float, parts: int) -> list[Any]:
        """Return values to try within a radius: none, the ends and, with `parts`, points between; or every category."""
        if self.options is not None:
            return [self.value, *(self.options if radius >= 1.0 else ())]
        if parts and self.step is not None:
            parts = 2 * min(math.floor(radius * self.scale / self.step + SLACK), 2 * parts) + 1  # each step, if few
        sizes = [radius, *np.linspace(-radius, radius, parts)] if parts else [radius]
        return list(dict.fromkeys([self.value, self.moved(-radius), *(self.moved(float(size)) for size in sizes)]))

    def plain(self, value: Any) -> Any:
        """Return a value of the kind the case holds: whole steps of a whole number are whole."""
        number = self.options is None and isinstance(self.value, int)
        return round(value) if number and float(value).is_integer() else value

    def rounded(self, value: Any, digits: int | None) -> Any:
        """Return a new value with so many digits of its change, rounded away from the old one; as it is without."""
        if self.options is not None or self.step is not None or digits is None:
            return value
        change = value - self.value
        decimals = max(digits - math.floor(math.log10(abs(change))), 0)
        near = round(value, decimals)
        if abs(near - self.value) < abs(change):
            near = round(near + math.copysign(10.0**-decimals, change), decimals)
        return min(max(near, self.low), self.high)


def levers(case: Instance, table: Columns | None, immutable: Iterable[str], steps: Mapping[str, float]) -> list[Lever]:
    """Return what may change in a case; missing values stay as they are."""
    fixed, leaves = set(immutable), case.leaves
    found: list[Lever] = []
    for name, value in case.values.items():
        if name in fixed or value is None or (isinstance(value, float) and math.isinf(value)):
            continue
        if any(leaf.criterion.categorical for leaf in leaves[name]):
            found.append(_category(name, value, leaves[name], table))
        elif name not in steps and value in (0, 1) and _is_flag(name, leaves[name], table):
            found.append(Lever(name, int(value), options=(1 - int(value),)))
        else:
            found.append(_number(name, value, leaves[name], table, steps.get(name)))
    return [lever for lever in found if lever.farthest > 0.0 and lever.options != ()]


def stepped(value: float, count: float, step: float) -> float:
    """Return a value so many steps away, as in decimal notation: 0.1 and two steps of 0.1 are 0.3."""
    return float(Decimal(repr(float(value))) + int(count) * Decimal(repr(float(step))))


def limits(found: Sequence[Lever], case: Instance, seen: bool) -> tuple[str, ...]:
    """Say what was not to change: of what cannot be, one must know among what it was sought."""
    open_, leaves, missing = {lever.feature: lever for lever in found}, case.leaves, case.missing
    fixed = [name for name in leaves if name not in open_ and name not in missing]
    flags = [name for name, lever in open_.items() if lever.options is not None and not cases.categories(leaves[name])]
    named = [name for name in leaves if not seen and cases.unnamed(leaves[name]) and cases.categories(leaves[name])]
    said = [
        (fixed, "stays as it is", "stay as they are"),
        (missing, "stays missing", "stay missing"),
        (flags, "is 0 or 1", "are 0 or 1"),
        (named, "is a category that the tree names", "are categories that the tree names"),
    ]
    told = [f"{cases.together(names)} {one if len(names) == 1 else several}" for names, one, several in said if names]
    return (*told, *(["values stay within the range seen in X"] if seen else []))


def check_names(names: Iterable[str], known: Sequence[str], what: str) -> None:
    """Refuse a name that nothing has: a feature misspelt would be changed after all."""
    for name in names:
        if name not in known:
            said = f" names {name!r:.60}, which is no column of the case; it has {', '.join(known)}"
            raise ParameterError(Parameter(what), said)


def check_steps(step: Any) -> dict[str, float]:
    """Return the steps of features, or refuse them."""
    if not isinstance(step, Mapping | None):
        raise TypeError(f"step gives the step of each feature, e.g. {{'bed': 1}}, got {type(step).__name__}")
    for name, size in (step or {}).items():
        check_finite(size, f"the step of {name!r}")
        if not size > 0.0:
            raise ValueError(f"the step of {name!r} must be positive, got {size!r}; leave it out for any value")
    return {name: float(size) for name, size in (step or {}).items()}


def _category(name: str, value: Any, leaves: Sequence[Leaf], table: Columns | None) -> Lever:
    """Return the lever of a category: to any other that the tables name or, with X, that was seen there."""
    value = int(value) if isinstance(value, float) and value.is_integer() else value
    if isinstance(value, float):  # read as a number by another leaf: it has no neighbours among categories
        return Lever(name, value, low=value, high=value)
    options = cases.categories(leaves)
    if table is not None:
        seen = [each for each in dict.fromkeys(table.categories(name).tolist()) if each is not None]
        options = [each for each in seen if all(cases.truth_of(leaf, each) is not None for leaf in leaves)]
    return Lever(name, value, options=tuple(each for each in options if each != value))


def _is_flag(name: str, leaves: Sequence[Leaf], table: Columns | None) -> bool:
    """Whether a column of truths holds 0 and 1 only, as far as it is known."""
    if not all(leaf.criterion.holds_truths for leaf in leaves):
        return False
    column = np.array([]) if table is None else table.numbers(name)
    return bool(np.isin(column[~np.isnan(column)], (0.0, 1.0)).all())


def _number(name: str, value: Any, leaves: Sequence[Leaf], table: Columns | None, step: float | None) -> Lever:
    bends = [bend for leaf in leaves for bend in leaf.criterion.bends]  # beyond them, nothing changes any more
    spans = [leaf.criterion.span(0.05) for leaf in leaves]
    low, high, scale = min(bends), max(bends), min(end - start for start, end in spans)
    whole = isinstance(value, int)
    if table is not None:
        column = table.numbers(name)
        seen = column[np.isfinite(column)]
        if seen.size:
            low, high = max(low, float(seen.min())), min(high, float(seen.max()))
            scale = _spread(seen) or scale
            whole = bool((seen == np.round(seen)).all()) and float(value).is_integer()
    step = step or (1.0 if whole else None)
    low, high = min(low, float(value)), max(high, float(value))
    if step is not None:
        low = stepped(value, -math.floor((value - low) / step + SLACK), step)
        high = stepped(value, math.floor((high - value) / step + SLACK), step)
    return Lever(name, value, scale, low, high, step)


def _spread(values: Floats) -> float:
    """Return the robust spread of a column; where half of it is one value, the standard deviation."""
    first, third = np.quantile(values, (0.25, 0.75))
    return float((third - first) / NORMAL_QUARTILES or values.std())
