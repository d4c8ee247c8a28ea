"""Problem: the columns, the target and the expert's say, as a search sees them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Self

import numpy as np

from baconlogic import gcd
from baconlogic.kernel import Data, Settings

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from baconlogic.search.drafts import Draft

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]
    Bools = NDArray[np.bool_]


@dataclass(frozen=True)
class Problem:
    """One yes-or-no target and the columns that may explain it.

    A learned column holds raw values on a robust scale (median 0, spread about 1, `loops.MISSING` where missing) and its
    leaves learn a criterion; any other column holds truths.
    """

    X: Floats  # (columns, rows)
    y: Floats  # (rows,), 0 or 1
    share: Floats  # (rows,), sum 1
    learned: Bools  # (columns,)
    features: Ints  # (columns,): which feature each column shows
    direction: Ints  # (columns,): 1 rising, -1 falling, 0 to be learned; for learned columns
    low: Floats  # (columns,): bounds for the andness of a gate with a leaf on this column
    high: Floats
    required: tuple[int, ...] = ()  # features every tree must use
    reuse: bool = True  # whether a feature may be used twice
    penalty: float = 1.0  # how strongly parameters are held to what is usual, against the evidence of the rows
    knee: float = gcd.gcd.knee

    @property
    def rows(self) -> int:
        """The number of rows."""
        return len(self.y)

    @property
    def base_rate(self) -> float:
        """The share of positive rows, kept off 0 and 1."""
        return float(np.clip(self.share @ self.y, 1e-6, 1.0 - 1e-6))

    def at(self, rows: Ints) -> Self:
        """Return the problem on some of its rows."""
        share = self.share[rows]
        total = share.sum()
        fair = share / total if total > 0.0 else np.full(len(share), 1.0 / max(len(share), 1))
        return replace(self, X=np.ascontiguousarray(self.X[:, rows]), y=self.y[rows], share=fair)

    def data(self, draft: Draft) -> Data:
        """Return what the kernel needs to know of the rows."""
        return Data(draft.columns, self.learned[draft.columns], self.X, self.y, self.share)

    @property
    def settings(self) -> Settings:
        """The kernel's settings: cross-entropy of the calibrated probability, nothing else."""
        return Settings(calibrated=True, knee=self.knee, penalty=0.0, amplifier=1.0)
