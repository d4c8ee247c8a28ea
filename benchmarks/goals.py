"""What the library is held to in speed: one place, for what is printed and for what is written."""

from __future__ import annotations

from typing import NamedTuple


class Goal(NamedTuple):
    """A bound, its unit, and whether more is better."""

    bound: float
    unit: str
    more: bool = False

    def met(self, value: float) -> bool:
        """Return whether a value reaches the goal."""
        return value >= self.bound if self.more else value <= self.bound

    def __str__(self) -> str:
        return f"{self.bound:,g} {self.unit} or {'more' if self.more else 'less'}"

    def verdict(self, value: float) -> str:
        """Say the goal and whether it is met."""
        return f"goal {self}: {'met' if self.met(value) else 'missed'}"


NUMPY = Goal(4, "x", more=True)  # a loss and gradient against numpy by hand, chain of 30
TORCH = Goal(40, "x", more=True)  # the same against torch eager
EVALUATION = Goal(15, "ns")  # a row and leaf
EBM = Goal(20, "x", more=True)  # a default fit
EPOCH = Goal(25, "x", more=True)  # one epoch of the paper's search against bacon-net's
MILLION_SECONDS = Goal(60, "s")  # a million houses
MILLION_MEMORY = Goal(4096, "MB")
ONE_ROW = Goal(10, "x", more=True)  # the Python export against scikit-learn's logistic regression
C_DECISION = Goal(150, "ns")
FASTER = Goal(4, "x", more=True)  # a default fit against 0.1.0
LARGER = Goal(2.5, "x")  # a fit with twenty leaves against the default
MILLION_FIT = Goal(20, "s")  # a million rows of ten columns, one core
COMPILING = Goal(10, "s")  # what the first fit on a machine takes more than the second
