"""The charts of a report: criteria over the values seen, pruning, precision and recall, calibration."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from baconlogic.core import criteria
from baconlogic.core.words import degree, number, one_line, percent
from baconlogic.report._measures import curve
from baconlogic.report._svg import Chart, Series, Svg, drawing, element

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from baconlogic.core.nodes import Leaf
    from baconlogic.explain._pruning_curve import PruningCurve
    from baconlogic.report._material import Material
    from baconlogic.report._measures import Bin

CURVE_POINTS = 120
HISTOGRAM = 24
MOST_POINTS = 300  # of a precision-recall curve
MOST_CATEGORIES = 40  # to be listed


@dataclass(frozen=True)
class Criterion:
    """One leaf: what it says, its curve over the values seen, and some values with their truths."""

    feature: str
    name: str
    words: str
    negated: bool
    picture: Svg | None
    examples: list[tuple[str, str, str]]  # value, truth, rows
    note: str


def criterion(leaf: Leaf, column: NDArray[Any], *, negated: bool) -> Criterion:
    """Return a leaf with its curve; categories are listed instead."""
    words = one_line(leaf.criterion.words(leaf.feature))
    picture, note = None, ""
    if not leaf.criterion.categorical:
        known = column.astype(float)[~np.isnan(column.astype(float))]
        picture = _curve(leaf, known)
        examples = _quantiles(leaf.criterion, known)
    else:
        examples, note = _categories(leaf.criterion, column)
    return Criterion(one_line(leaf.feature), one_line(leaf.name), words, negated, picture, examples, note)


def _curve(leaf: Leaf, known: NDArray[np.float64]) -> Svg:
    shape = leaf.criterion
    low, high = shown_range(shape, known)
    xs = np.linspace(low, high, CURVE_POINTS + 1)
    if shape.corners:
        xs = np.unique(np.r_[xs, [x for x in shape.corners if low <= x <= high]])
    points = list(zip(xs.tolist(), shape.truth(xs).tolist(), strict=True))
    bars = []
    if known.size:
        heights, edges = np.histogram(known, HISTOGRAM, (low, high))
        shares = heights / max(heights.max(), 1)
        bars = [(float(a), float(b), float(s)) for a, b, s in zip(edges[:-1], edges[1:], shares, strict=True) if s > 0]
    unit = shape.unit
    label = one_line(leaf.feature) + (f" ({one_line(unit)})" if unit else "")
    return Chart(
        (low, high), (0.0, 1.0), (label if len(label) <= 48 else f"{label[:47]}…", "truth"),
        f"How true {one_line(leaf.feature)} makes its statement, from {number(low)} to {number(high)}; bars: rows",
        [Series(points)], bars=bars, size=(360.0, 220.0),
    ).draw()  # fmt: skip


def shown_range(shape: criteria.Criterion, known: NDArray[np.float64]) -> tuple[float, float]:
    """Return the values to show: those seen, or where nothing or one value was seen, those of the criterion."""
    if all(map(math.isfinite, shape.domain)):
        return shape.domain
    if known.size and known.min() < known.max() and np.isfinite(known.max() - known.min()):
        return float(known.min()), float(known.max())
    bends = shape.bends
    middle = len(bends) // 2
    low, high = bends[max(middle - 3, 0)], bends[min(middle + 3, len(bends) - 1)]
    return (low, high) if high - low < 1e300 else (low, low + 1.0)


def _quantiles(shape: criteria.Criterion, known: NDArray[np.float64]) -> list[tuple[str, str, str]]:
    if not known.size:
        return []
    names = ("lowest", "5%", "25%", "middle", "75%", "95%", "highest")
    values = np.quantile(known, (0.0, 0.05, 0.25, 0.5, 0.75, 0.95, 1.0), method="nearest")
    truths = shape.truth(values)
    shown = [number(float(value), float(known.max() - known.min()) / 10.0 or None) for value in values]
    return [(text, degree(float(t)), name) for text, t, name in zip(shown, truths, names, strict=True)]


def _categories(shape: criteria.Criterion, column: NDArray[Any]) -> tuple[list[tuple[str, str, str]], str]:
    values = column.tolist()
    counted: dict[Any, int] = {}
    for value in values:
        counted[value] = counted.get(value, 0) + 1
    found = [(one_line(str(value)), degree(truth), str(counted.get(value, 0))) for value, truth in shape.truths]
    known = dict(shape.truths)
    other = sum(times for value, times in counted.items() if value is not None and value not in known)
    if shape.other is not None:
        found.append(("any other", degree(shape.other), str(other)))
    if shape.missing is not None:
        found.append(("missing", degree(shape.missing), str(counted.get(None, 0))))
    more = len(found) - MOST_CATEGORIES
    return found[:MOST_CATEGORIES], f"and {more} more categories" if more > 0 else ""


def pruning(found: PruningCurve) -> Svg:
    """Draw accuracy against the number of leaves left."""
    best, bottom = ([(float(s.leaves), s.accuracy) for s in found.steps(order)] for order in ("best", "bottom"))
    lowest = min(y for _, y in best + bottom)
    most = best[0][0]
    return Chart(
        (1.0, max(most, 2.0)), (max(0.0, lowest - 0.02), 1.0), ("leaves left", "accuracy"),
        "Accuracy as leaves are taken away; the table has the numbers",
        [Series(best, "the least missed leaf first"), Series(bottom, "the deepest leaf first", "dashed")],
        percent=(False, True), whole=True,
    ).draw()  # fmt: skip


def precision_recall(m: Material) -> Svg:
    """Draw precision against recall over all thresholds, and the one in use."""
    assert m.positive is not None  # noqa: S101
    _, hits, alarms = curve(m.truths, m.positive)
    cases = m.positive.sum()
    some = hits + alarms > 0
    recall, precision = hits[some] / cases, hits[some] / (hits + alarms)[some]
    kept = np.unique(np.linspace(0, max(len(recall) - 1, 0), min(len(recall), MOST_POINTS)).round().astype(int))
    points = [(1.0, float(cases / len(m.truths)))]
    points += list(zip(recall[kept].tolist(), precision[kept].tolist(), strict=True)) if len(recall) else []
    decided = m.asked.decides(m.truths)
    here = (decided & m.positive).sum()
    now = [(float(here / cases), float(here / decided.sum()))] if decided.any() else []
    series = [Series(points, "every threshold")]
    if now:
        series.append(Series(now, f"the threshold in use, {number(m.asked.threshold)}", "dots"))
    return Chart(
        (0.0, 1.0), (0.0, 1.0), (f"recall: share of {m.yes} found"[:60], "precision"),
        "Precision against recall over all thresholds", series, percent=(True, True),
    ).draw()  # fmt: skip


def calibrated(bins: Sequence[Bin], yes: str) -> Svg:
    """Draw how often the answer is yes against the probability that was told."""
    points = [(each.mean, each.seen.value) for each in bins]
    reach = [(each.seen.low, each.seen.high) for each in bins]
    return Chart(
        (0.0, 1.0), (0.0, 1.0), (f"probability told of {yes}"[:60], "share seen"),
        f"How often rows are {yes}, by the probability told; on the diagonal the two agree",
        [Series([(0.0, 0.0), (1.0, 1.0)], "as told", "dashed"), Series(points, "rows, 95% intervals", "dots", reach)],
        percent=(True, True),
    ).draw()  # fmt: skip


def share_bar(share: float, says: str) -> Svg:
    """Draw a share as a bar."""
    full = element("rect", x=0.0, y=1.0, width=100.0, height=10.0, class_="track")
    part = element("rect", x=0.0, y=1.0, width=100.0 * min(max(share, 0.0), 1.0), height=10.0, class_="fill")
    return drawing([full, part], 100.0, 12.0, f"{says}: {percent(share)}", "chart bar")
