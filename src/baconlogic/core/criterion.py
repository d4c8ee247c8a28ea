"""What all criteria share: truth and falsity of raw values, a truth for missing ones, a direction, words."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from baconlogic.core.checks import Hint, ParameterError, check_truth
from baconlogic.core.words import degree

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

UNSTATED = (
    "the value is missing and no truth for missing values is stated; add `missing 0.5` to the criterion's brackets, "
    "fill the value in, or ask bounds() for the range"
)


@dataclass(frozen=True)
class Criterion(ABC):
    """What all criteria share."""

    kind: ClassVar[str]  # its name in files
    categorical: ClassVar[bool] = False
    missing: float | None = None

    @abstractmethod
    def truth(self, values: NDArray[Any]) -> Floats:
        """Return the degree of truth of each raw value."""

    def falsity(self, values: NDArray[Any]) -> Floats:
        """Return 1 - truth of each raw value, precise also where the truth is nearly 1."""
        return 1.0 - self.truth(values)

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
        return "" if self.missing is None else f"; {degree(self.missing)} when missing"


class Numeric(Criterion):
    """A criterion over a column of numbers. `domain`: what an unknown value may be."""

    domain: ClassVar[tuple[float, float]] = (-math.inf, math.inf)
    unit: str = ""

    def _in_unit(self) -> str:
        return f" {self.unit}" if self.unit else ""

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

    def fill(self, truths: Floats, values: Floats, *, turned: bool = False) -> Floats:
        """Put the stated truth, or when turned the stated falsity, where a raw value is missing."""
        unknown = np.isnan(values)
        if unknown.any():
            if self.missing is None:
                raise ParameterError(Hint("missing", UNSTATED))
            truths[unknown] = 1.0 - self.missing if turned else self.missing
        return truths

    def image(self, low: Floats, high: Floats) -> tuple[Floats, Floats]:
        """Return the exact lowest and highest truth over each raw interval; its ends may be infinite."""
        return self._image(low, high, self.known)

    def image_of_falsity(self, low: Floats, high: Floats) -> tuple[Floats, Floats]:
        """Return the exact lowest and highest falsity over each raw interval."""
        return self._image(low, high, self.known_falsity)

    def _image(self, low: Floats, high: Floats, curve: Callable[[Floats], Floats]) -> tuple[Floats, Floats]:
        ends = curve(low), curve(high)
        return np.minimum(*ends), np.maximum(*ends)
