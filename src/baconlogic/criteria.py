"""How a raw column becomes a degree of truth: the public names of `core.criteria`."""

from baconlogic.core.criteria import UNSTATED, Criterion, Given, Interval, Numeric, Ramp, Sigmoid, Table, unlisted

__all__ = ["UNSTATED", "Criterion", "Given", "Interval", "Numeric", "Ramp", "Sigmoid", "Table", "unlisted"]
