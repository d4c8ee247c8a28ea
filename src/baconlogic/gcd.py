"""How degrees of truth combine: the public names of `core.gcd`, the formula, and of `core.levels`, its named levels."""

from baconlogic.core.gcd import (
    AGGREGATORS,
    Aggregator,
    Coefficients,
    Derivatives,
    andness_of_power,
    check_andness,
    coefficients,
    combine,
    combine_both,
    drastic,
    exact,
    gcd,
    measured_andness,
    mix,
    product,
    slopes,
)
from baconlogic.core.levels import LEVELS, Family, Level, nearest_level

__all__ = [
    "AGGREGATORS", "LEVELS", "Aggregator", "Coefficients", "Derivatives", "Family", "Level", "andness_of_power",
    "check_andness", "coefficients", "combine", "combine_both", "drastic", "exact", "gcd", "measured_andness", "mix",
    "nearest_level", "product", "slopes",
]  # fmt: skip
