"""How degrees of truth combine: the public names of `core.gcd`, the formula and its named levels."""

from baconlogic.core.gcd import (
    AGGREGATORS,
    LEVELS,
    Aggregator,
    Coefficients,
    Derivatives,
    Family,
    Level,
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
    nearest_level,
    product,
    slopes,
)

__all__ = [
    "AGGREGATORS", "LEVELS", "Aggregator", "Coefficients", "Derivatives", "Family", "Level", "andness_of_power",
    "check_andness", "coefficients", "combine", "combine_both", "drastic", "exact", "gcd", "measured_andness", "mix",
    "nearest_level", "product", "slopes",
]  # fmt: skip
