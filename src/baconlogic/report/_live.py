"""What the page needs to move by itself: inputs with their ranges, cases to start from, counts at each threshold."""

from __future__ import annotations

import base64
import json
import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from baconlogic import metrics
from baconlogic.core.nodes import Leaf
from baconlogic.core.words import one_line
from baconlogic.explain import _case as cases
from baconlogic.report._material import Material, Rows
from baconlogic.report._pictures import shown_range

MOST_MARKS = 10_000  # thresholds at which counts are kept exactly
ALL_MARKS = 30_000  # over all trees of a page
FEWER_MARKS = 2_000  # where there are more
MOST_OPTIONS = 100  # categories to choose from
OTHER = "another value"
STEPS = 100  # of a slider, at least


@dataclass(frozen=True)
class Control:
    """One input of a case: a number between two ends, or a choice."""

    name: str  # as the export knows it
    shown: str
    unit: str
    options: tuple[tuple[str, Any], ...] | None  # (text, value); None for numbers
    low: float
    high: float
    step: float
    missing: bool  # whether it may be
    seen: str = ""  # the values seen, in words
    other: tuple[int, ...] = ()  # the place of the option that is as true as any category not listed, where there is

    @property
    def ends(self) -> tuple[str, str, str]:
        """The ends and the step of its slider."""
        return tuple(f"{end:.12g}" for end in (self.low, self.high, self.step))  # type: ignore[return-value]

    def to_json(self) -> dict[str, Any]:
        """Return what the script reads."""
        options = None if self.options is None else [value for _, value in self.options]
        ends = {"low": self.low, "high": self.high}
        return {"name": self.name, "options": options, "missing": self.missing, **ends}


def inputs(rows: Rows) -> list[Control]:
    """Return an input for each feature in use."""
    return [_input(name, rows.used[name], leaves) for name, leaves in rows.leaves.items()]


def _input(name: str, column: NDArray[Any], leaves: list[Leaf]) -> Control:
    if column.dtype == object:
        return _choice(name, column, leaves)
    known = column.astype(float)
    known = known[np.isfinite(known)]
    shapes = [leaf.criterion for leaf in leaves if not leaf.criterion.categorical]
    given = [shape for shape in shapes if shape.holds_truths]
    low, high = shown_range([*given, *shapes][0], known)
    whole = known.size > 0 and bool((known == np.floor(known)).all()) and high - low >= 1.0 and not given
    step = 1.0 if whole and high - low < 1e6 else 10.0 ** math.floor(math.log10((high - low) / STEPS))
    low, high = math.floor(low / step + 1e-9) * step, math.ceil(high / step - 1e-9) * step
    low, high = float(f"{low:.12g}"), float(f"{high:.12g}")
    units = [leaf.criterion.unit for leaf in leaves if leaf.criterion.unit]
    unit, stated = one_line(units[0]) if units else "", cases.is_stated(leaves)
    return Control(name, one_line(name), unit, None, low, high, step, stated, _seen(known, leaves))


def _seen(known: NDArray[np.float64], leaves: list[Leaf]) -> str:
    """Say which values were seen; a slider may go beyond them."""
    if not known.size:
        return "none"
    low, high = (cases.raw(float(end), leaves) for end in (known.min(), known.max()))
    return low if low == high else f"{low} to {high}"


def _choice(name: str, column: NDArray[Any], leaves: list[Leaf]) -> Control:
    """Return the categories that the leaves accept: named ones, others that were seen, any other, missing."""
    named, stated = cases.categories(leaves), cases.is_stated(leaves)
    counted = Counter(value for value in column.tolist() if value is not None and isinstance(value, str | int))
    extra = [value for value, _ in counted.most_common(MOST_OPTIONS) if value not in named]
    known = [*named, *(value for value in extra if all(cases.truth_of(leaf, value) is not None for leaf in leaves))]
    found = [(one_line(str(value)), value) for value in known[:MOST_OPTIONS]]
    other = cases.unnamed(leaves)
    options = (*found, *((OTHER, value) for value in other), *([("missing", None)] if stated else []))
    place = (len(found),) if other else ()
    return Control(name, one_line(name), "", options, 0.0, 0.0, 0.0, stated, other=place)


def middle(rows: Rows) -> dict[str, Any]:
    """Return a case in the middle: of numbers the median, of categories the most common."""
    found: dict[str, Any] = dict.fromkeys(rows.used)
    for name, column in rows.used.items():
        known = [value for value in column.tolist() if value is not None and value == value]
        if known and column.dtype == object:
            found[name] = Counter(known).most_common(1)[0][0]
        elif known:
            found[name] = float(np.quantile(np.array(known, dtype=float), 0.5, method="nearest"))
    return found


def marks(m: Material, trees: int) -> dict[str, Any] | None:
    """Return counts of cases and others above each truth that occurs, or above 2,000 of them where they are many."""
    if m.positive is None:
        return None
    truths, counts = metrics.at_every_cut(m.truths, m.positive, ~m.positive)
    hits, alarms = counts.true_positive[1:], counts.false_positive[1:]
    exact = len(truths) <= min(MOST_MARKS, ALL_MARKS // max(trees, 1))
    kept = slice(None) if exact else np.unique(np.linspace(0, len(truths) - 1, FEWER_MARKS).round().astype(int))
    columns = {"truths": (truths, "<f8"), "hits": (hits, "<u4"), "alarms": (alarms, "<u4")}
    packed = {name: base64.b64encode(column[kept].astype(kind).tobytes()) for name, (column, kind) in columns.items()}
    counted = {"exact": exact, "cases": int(m.positive.sum()), "others": int((~m.positive).sum())}
    return counted | {name: text.decode("ascii") for name, text in packed.items()}


def data(
    found: Sequence[Material], told: Sequence[Sequence[dict[str, Any]]], shown: Sequence[Control]
) -> dict[str, Any]:
    """Return all that the script reads. Names are values here, never keys: "__proto__" is a name like any other."""
    first = found[0]
    starts = []
    for m, own in zip(found, told, strict=True):
        whose = f"{m.yes}: " if len(found) > 1 else ""
        for case in own:
            title = f"{whose}{case['title']} (row {case['place']})"
            starts.append({"title": title, "values": _start(first.rows.case(case["place"]), shown)})
    title = "Middle case (each value in the middle of its column)"
    starts.append({"title": title, "values": _start(middle(first.rows), shown)})
    return {
        "several": first.several, "linked": first.decision is not None, "answers": first.answers,
        "threshold": first.asked.threshold, "inputs": [each.to_json() for each in shown], "cases": starts,
        "marks": [marks(m, len(found)) for m in found],
    }  # fmt: skip


def _start(case: dict[str, Any], shown: Sequence[Control]) -> list[float | int | None]:
    """Return the values of a case as the page takes them: numbers, and places among the options."""
    found: list[float | int | None] = []
    for each in shown:
        value = case[each.name]
        if each.options is not None:
            same = [i for i, (_, own) in enumerate(each.options) if own == value and (own is None) == (value is None)]
            found.append([*same, *each.other, 0][0])
        else:
            found.append(None if value is None or not math.isfinite(value) else value)
    return found


def as_json(value: Any) -> str:
    """Write JSON that can stand inside a script element."""
    escapes = {ord(letter): f"\\u{ord(letter):04x}" for letter in "<>&"}
    return json.dumps(value, allow_nan=False, separators=(",", ":")).translate(escapes)
