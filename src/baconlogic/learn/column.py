"""Column: one feature of the table that is learned from, as it was at fit."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, Final, Self

import numpy as np
from numpy.typing import NDArray

from baconlogic.core import Floats, Ints
from baconlogic.core.answers import Kind
from baconlogic.kernel.loops import MISSING

NUMBER: Final = "number"
TRUTH: Final = "truth"
CATEGORY: Final = "category"
FARTHEST = 1e6  # scaled values beyond are cut


@dataclass(frozen=True)
class Column:
    """One feature of the table, as it was at fit."""

    name: str
    kind: Kind
    values: NDArray[Any] = field(repr=False)  # numbers, NaN where missing; or codes of categories, -1 where missing
    centre: float = 0.0
    scale: float = 1.0
    categories: tuple[Any, ...] = ()
    ordered: bool = False  # whether categories are in an order of their own
    of_two: bool = False  # whether its numbers are but two, so that it states something and measures nothing

    def take(self, rows: Ints) -> Self:
        """Return it with some of its rows."""
        return replace(self, values=self.values[rows])

    @property
    def known(self) -> NDArray[Any]:
        """The values that are not missing."""
        return self.values[self.values >= 0 if self.kind == CATEGORY else ~np.isnan(self.values)]

    @property
    def scaled(self) -> Floats:
        """Its numbers on a robust scale, cut where no criterion tells them apart; `MISSING` where they are missing."""
        with np.errstate(over="ignore"):
            values = np.clip((self.values - self.centre) / self.scale, -FARTHEST, FARTHEST)
        return np.where(np.isnan(self.values), MISSING, values)

    @property
    def has_missing(self) -> bool:
        """Whether values are missing."""
        return len(self.known) < len(self.values)

    @property
    def constant(self) -> bool:
        """Whether it has at most one value and none missing, so that nothing can be learned from it."""
        return self.known.size == 0 or (not self.has_missing and self.single)

    @property
    def single(self) -> bool:
        """Whether all values that are not missing are the same."""
        return bool((self.known == self.known[:1]).all())
