"""From truths to answers: what a decision has besides its trees. Classes, features, links to probability, provenance.

    score = steepness (truth - threshold),    probability = 1 / (1 + exp(-score))

The class that is answered is the most probable one, also where probabilities round to the same number, unless two
classes are told to turn at another truth (see `thresholds`).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from baconlogic.core import Floats
from baconlogic.core.checks import check_finite, check_text

Label = str | int | float | bool
Kind = Literal["number", "truth", "category"]

LARGEST = 1e300  # numbers beyond are not told from infinity, in a table and in a file
MOST_LEVELS = 32  # of lists in lists in provenance
MOST_ENTRIES = 100_000  # in provenance
_JUST_BELOW_HALF = math.nextafter(0.5, 0.0)


@dataclass(frozen=True, slots=True)
class Feature:
    """A column seen at fit: numbers, degrees of truth, or categories."""

    name: str
    kind: Kind

    def __post_init__(self) -> None:
        check_text(self.name, "a feature's name")
        if self.kind not in get_args(Kind):
            raise ValueError(f"the kind of a feature must be {', '.join(get_args(Kind))}, got {self.kind!r:.60}")


@dataclass(frozen=True, slots=True)
class Link:
    """How a truth becomes a probability: 1 / (1 + exp(-steepness (truth - threshold))), so 0.5 at the threshold.

    A threshold outside [0, 1] is one that no truth crosses.
    """

    steepness: float
    threshold: float

    def __post_init__(self) -> None:
        for name in ("steepness", "threshold"):
            check_finite(getattr(self, name), f"the {name} of a link")
            object.__setattr__(self, name, float(getattr(self, name)))
        if not self.steepness > 0.0:
            raise ValueError(
                f"the steepness of a link must be positive, got {self.steepness:g}; negate the tree instead"
            )

    def score(self, truth: Floats) -> Floats:
        """Return steepness (truth - threshold), always finite: its sign decides, its sigmoid is the probability."""
        most = np.finfo(np.float64).max
        with np.errstate(over="ignore"):
            return np.clip(self.steepness * (truth - self.threshold), -most, most)


def two_probabilities(score: Floats) -> Floats:
    """Return the probabilities of two classes, (rows, 2), the second of which has the sigmoid of the score."""
    e = np.exp(-np.abs(score))
    larger, smaller = 1.0 / (1.0 + e), e / (1.0 + e)
    smaller = np.where(score == 0.0, smaller, np.minimum(smaller, _JUST_BELOW_HALF))  # a small score is no tie
    second = score > 0.0
    return np.column_stack([np.where(second, smaller, larger), np.where(second, larger, smaller)])


def many_probabilities(scores: Floats) -> Floats:
    """Return the sigmoids of scores, (rows, classes), divided by their sum.

    As a softmax of log sigmoids it is finite where every sigmoid is 0, and still has the order of the scores there.
    """
    log_sigmoids = np.minimum(scores, 0.0) - np.log1p(np.exp(-np.abs(scores)))
    shares: Floats = np.exp(log_sigmoids - log_sigmoids.max(axis=1, keepdims=True))
    shares /= shares.sum(axis=1, keepdims=True)
    best = scores.argmax(axis=1)
    rounded = np.flatnonzero(shares.argmax(axis=1) != best)  # the sigmoids of all large scores are 1
    shares[rounded, best[rounded]] = np.nextafter(shares[rounded].max(axis=1), 1.0)
    return shares


def as_label(value: Any) -> Label:
    """Return a class label as Python's own str, int, float or bool, or refuse it."""
    label = value.item() if isinstance(value, np.generic) else value
    if isinstance(label, str):
        check_text(f"{label}.", "a class")
        return str(label)
    if isinstance(label, bool):
        return label
    if not isinstance(label, int | float):
        raise TypeError(f"a class must be text, a number or true/false, got {_shown(value)}")
    if not abs(label) <= LARGEST:
        raise ValueError(f"a class that is a number must lie within {LARGEST:g}, got {_shown(label)}")
    return float(label) if isinstance(label, float) else int(label)


def as_labels(classes: Any) -> tuple[Label, ...]:
    """Return class labels, at least one, that all differ."""
    if isinstance(classes, str | bytes):
        raise TypeError(f"classes are a list of labels, got {classes!r:.60}")
    labels = tuple(as_label(value) for value in classes)
    if not labels:
        raise ValueError("a decision needs at least one class, got none")
    seen: dict[Label, Label] = {}
    for label in labels:
        if label in seen:
            raise ValueError(f"classes must differ, but {seen[label]!r:.60} and {label!r:.60} are equal; rename one")
        seen[label] = label
    return labels


def label_array(labels: tuple[Label, ...]) -> NDArray[Any]:
    """Return labels as an array of their own type; as objects where an array of one type would change them."""
    types = {type(label) for label in labels}
    kept = len(types) == 1
    if types == {int}:
        kept = all(-(2**63) <= label < 2**63 for label in labels)  # type: ignore[operator]
    if types == {str}:
        kept = not any(str(label).endswith("\0") for label in labels)  # which numpy's text drops
    if kept:
        return np.array(labels)
    array = np.empty(len(labels), dtype=object)
    array[:] = labels
    return array


def plain_data(given: Any) -> dict[str, Any]:
    """Return a deep copy of provenance, a mapping of plain JSON data, or refuse it with the place of what is not."""
    if not isinstance(given, Mapping):
        raise TypeError(f"provenance must be a mapping of names to plain data, got {_shown(given)}")
    left = MOST_ENTRIES

    def copy(value: Any, place: str, level: int) -> Any:
        nonlocal left
        left -= 1
        if left < 0 or level > MOST_LEVELS:
            raise ValueError(f"provenance holds at most {MOST_ENTRIES} entries in {MOST_LEVELS} levels; shorten it")
        if isinstance(value, Mapping):
            for key in value:
                check_text(f"{key}." if isinstance(key, str) else key, "a name in provenance")
            return {str(key): copy(item, f"{place}[{key!r:.40}]", level + 1) for key, item in value.items()}
        if isinstance(value, list | tuple):
            return [copy(item, f"{place}[{i}]", level + 1) for i, item in enumerate(value)]
        return _plain_value(value, place)

    return dict(copy(given, "provenance", 0))


def _plain_value(value: Any, place: str) -> Any:
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        check_text(f"{value}.", place)
        return str(value)
    if not isinstance(value, int | float):
        raise TypeError(f"{place} must be text, a number, true/false, None, a list or a dict, got {_shown(value)}")
    if not abs(value) <= LARGEST:
        raise ValueError(f"{place} must be a finite number, got {_shown(value)}; None stands for a number not known")
    return float(value) if isinstance(value, float) else int(value)


def _shown(value: Any) -> str:
    """Show a number or None, but nothing long."""
    return repr(value) if value is None or isinstance(value, float) else f"a {type(value).__name__}"
