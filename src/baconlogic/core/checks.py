"""What names, truths, numbers and columns must be; errors say what was expected and what came."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike


@dataclass(frozen=True)
class Parameter:
    """A parameter in the text of an error: `max_leaves`, `label=`, `search='refine'`; an option has another name."""

    name: str
    given: str | None = None  # what stands behind =; nothing where this is empty

    def __str__(self) -> str:
        return self.name if self.given is None else f"{self.name}={repr(self.given) if self.given else ''}"


@dataclass(frozen=True)
class Hint:
    """Words in the text of an error that only help who writes Python; `about` says what to put in their place."""

    about: str
    text: str

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True)
class TreePart:
    """A part of a tree in the text of an error: by path, name or feature, or as a node."""

    what: Any

    def __str__(self) -> str:
        return repr(self.what)


LABEL = Parameter("label", "")


class SpokenError(Exception):
    """An error in whose text some parts are fields, for who calls these things otherwise than Python does."""

    def __init__(self, *parts: str | Parameter | Hint | TreePart) -> None:
        super().__init__("".join(map(str, parts)))
        self.parts = parts


class ParameterError(SpokenError, ValueError):
    """A value that a parameter cannot have, or a case that cannot be answered."""


class ParameterTypeError(SpokenError, TypeError):
    """A parameter of the wrong kind."""


def parts_of(error: Exception) -> tuple[str | Parameter | Hint | TreePart, ...]:
    """Return the text of an error in its parts, to say more around it."""
    return error.parts if isinstance(error, SpokenError) else (str(error),)


def pairs_of(given: Any, what: str, form: str) -> list[tuple[Any, Any]]:
    """Return a mapping or a list of pairs as a list of pairs."""
    try:
        return [(first, second) for first, second in (given.items() if isinstance(given, dict) else given)]
    except (TypeError, ValueError):
        raise ValueError(f"{what} are pairs {form}, got {given!r}") from None


def check_text(text: Any, what: str, *, empty: bool = False) -> None:
    """Refuse what cannot be a name: anything but text, blank text unless it may be `empty`, text no file can hold."""
    if not isinstance(text, str) or not (text.strip() or (empty and text == "")):
        raise ValueError(f"{what} must be text{'' if empty else ' that is not blank'}, got {text!r}")
    try:
        text.encode()
    except UnicodeEncodeError:
        raise ValueError(f"{what} holds a character that no file can store: {text!r}") from None


def check_truth(value: Any, what: str) -> None:
    """Refuse what is not a degree of truth."""
    if isinstance(value, bool) or not isinstance(value, Real) or not 0.0 <= float(value) <= 1.0:
        raise ValueError(f"{what} must be in [0, 1], got {value!r}")


def check_finite(value: Any, what: str) -> None:
    """Refuse what is not a number, or one so large that a difference of two is infinite."""
    if isinstance(value, bool) or not isinstance(value, Real) or not abs(float(value)) <= 1e300:
        raise ValueError(f"{what} must be a finite number, got {value!r}")


def quantiles_of(values: ArrayLike, low: float, high: float) -> tuple[float, float, float]:
    """Return the quantiles `low` and `high` of the known values and their median; the extremes when those coincide."""
    column = np.asarray(values)
    if column.ndim != 1:
        raise ValueError(f"a criterion is built from one column, got {column.ndim} dimensions")
    if not 0.0 <= low < high <= 1.0:
        raise ValueError(f"the quantiles must be 0 <= low < high <= 1, got {low:g} and {high:g}")
    if column.dtype.kind not in "fiub" and any(isinstance(value, str) for value in column.tolist()):
        raise ValueError("the column holds text; a ramp or sigmoid is built from numbers")
    column = column.astype(float)
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
