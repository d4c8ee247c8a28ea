"""The pictures of a report as SVG text: the tree; charts of criteria, pruning, precision and recall, calibration.

Colours and fonts are those of the page's style sheet, by class. A page does not know what font it will be shown in, so
places are worked out in pixels with rough measures of letters.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from html import escape
from typing import Any

import numpy as np
from numpy.typing import NDArray

from baconlogic import metrics
from baconlogic.core import Floats
from baconlogic.core.criterion import Criterion
from baconlogic.core.nodes import Leaf
from baconlogic.core.subject import Subject
from baconlogic.core.words import degree, number, one_line, percent
from baconlogic.explain._pruning_curve import PruningCurve
from baconlogic.metrics import CalibrationBin
from baconlogic.plot._layout import Line, Part, parts_of, share_words
from baconlogic.report._material import Material

Point = tuple[float, float]

LEFT, RIGHT, TOP, BOTTOM = 48.0, 20.0, 10.0, 42.0  # around the plot, in pixels
CURVE_POINTS = 120
HISTOGRAM = 24
MOST_POINTS = 300  # of a precision-recall curve
MOST_CATEGORIES = 40  # to be listed

# of the tree
MOST_LEAVES, MOST_DEPTH = 60, 14  # of a tree that is drawn
LARGE, SMALL, LEADING = 13.0, 11.5, 16.0
PAD, GAP = 8.0, 44.0  # inside a box; between columns, for lines and weights
BAR, FIGURE = 56.0, 40.0  # of a leaf: its bar, and room for its number
FITS = 1600.0  # width up to which a tree may be shown smaller to fit a wide screen
_SMALLER = 9.0  # points of plot.layout below which text is small

_NARROW, _WIDE = frozenset("iljtfrI.,:;|!'()[] "), frozenset("mwMW%@")


class Written(str):
    """Text that is SVG, HTML or Markdown already, so that a template does not escape it."""

    __slots__ = ()

    def __html__(self) -> str:
        """Return it as it is."""
        return str(self)


def text_width(text: str, size: float, *, bold: bool = False) -> float:
    """Return about how wide a line of text is in pixels, rather more than less."""
    ems = 0.0
    for letter in text:
        if letter in _NARROW:
            ems += 0.4
        elif letter in _WIDE or ord(letter) > 0x2E7F:
            ems += 0.95 if ord(letter) < 0x2E7F else 1.3
        else:
            ems += 0.72 if letter.isupper() else 0.62
    return ems * size * (1.06 if bold else 1.0)


def element(name: str, content: str | None = None, **attributes: Any) -> str:
    """Write an element; `content` must be SVG already. Underscores in attributes stand for hyphens."""
    said = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{escape(coordinate(value))}"'
        for key, value in attributes.items()
        if value is not None
    )
    return f"<{name}{said}/>" if content is None else f"<{name}{said}>{content}</{name}>"


def label(text: str, x: float, y: float, **attributes: Any) -> str:
    """Write a line of text."""
    return element("text", escape(text), x=x, y=y, **attributes)


def coordinate(value: Any) -> str:
    """Write a number with a tenth of a pixel, anything else as it is."""
    return f"{value:.1f}".removesuffix(".0") if isinstance(value, float) else str(value)


def drawing(parts: Sequence[str], width: float, height: float, says: str, css: str = "chart") -> Written:
    """Return a drawing; `says` tells those who cannot see it what it shows."""
    box = f"0 0 {coordinate(float(width))} {coordinate(float(height))}"
    opening = {"class_": css, "viewBox": box, "width": float(width), "height": float(height), "role": "img"}
    return Written(element("svg", "".join(parts), **opening, aria_label=says))


@dataclass(frozen=True)
class Series:
    """Points to be drawn as a line, or one by one; each may have an interval (low, high) up and down."""

    points: Sequence[Point]
    name: str = ""  # said in the legend
    css: str = "line"  # line, dashed, dots
    intervals: Sequence[Point] = ()


@dataclass(frozen=True)
class Chart:
    """Two axes and what is drawn between them."""

    x: Point  # range
    y: Point
    labels: tuple[str, str]
    says: str
    series: Sequence[Series]
    bars: Sequence[tuple[float, float, float]] = ()  # (from, to, height as a share of the plot)
    percent: tuple[bool, bool] = (False, False)  # whether an axis shows shares
    whole: bool = False  # whether x counts things
    size: Point = (460.0, 280.0)

    def draw(self) -> Written:
        """Return the chart."""
        legend = [each for each in self.series if each.name]
        top = TOP + 18.0 * len(legend)
        parts = [*self._legend(legend), *self._bars(top), *self._axes(top)]
        for each in self.series:
            parts += self._drawn(each, top)
        return drawing(parts, *self.size, self.says)

    def _at(self, x: float, y: float, top: float) -> Point:
        across, up = (x - self.x[0]) / (self.x[1] - self.x[0]), (y - self.y[0]) / (self.y[1] - self.y[0])
        width, height = self.size[0] - LEFT - RIGHT, self.size[1] - BOTTOM - top
        return LEFT + across * width, top + (1.0 - up) * height

    def _legend(self, legend: Sequence[Series]) -> list[str]:
        parts = []
        for i, each in enumerate(legend):
            y = TOP + 18.0 * i + 5.0
            key = (
                element("circle", cx=LEFT + 10.0, cy=y, r=4.0, class_=each.css)
                if each.css == "dots"
                else element("line", x1=LEFT, x2=LEFT + 20.0, y1=y, y2=y, class_=each.css)
            )
            parts += [key, label(each.name, LEFT + 26.0, y + 4.0, class_="small")]
        return parts

    def _bars(self, top: float) -> list[str]:
        parts, bottom = [], self.size[1] - BOTTOM
        for low, high, share in self.bars:
            x0, x1 = self._at(low, 0.0, top)[0], self._at(high, 0.0, top)[0]
            tall = share * (bottom - top) * 0.6
            y = bottom - tall
            parts.append(element("rect", x=x0, y=y, width=max(x1 - x0 - 0.6, 0.6), height=tall, class_="pale"))
        return parts

    def _axes(self, top: float) -> list[str]:
        bottom, right = self.size[1] - BOTTOM, self.size[0] - RIGHT
        parts = [element("path", d=f"M{LEFT} {coordinate(top)}V{bottom}H{right}", class_="axis")]
        for value in ticks(*self.x, 6, whole=self.whole):
            x, _ = self._at(value, self.y[0], top)
            parts.append(element("line", x1=x, x2=x, y1=bottom, y2=bottom + 4.0, class_="axis"))
            parts.append(label(_tick(value, self.percent[0]), x, bottom + 16.0, class_="small", text_anchor="middle"))
        for value in ticks(*self.y, 5):
            _, y = self._at(self.x[0], value, top)
            parts.append(element("line", x1=LEFT, x2=right, y1=y, y2=y, class_="grid"))
            parts.append(label(_tick(value, self.percent[1]), LEFT - 6.0, y + 4.0, class_="small", text_anchor="end"))
        across, up = self.labels
        parts.append(label(across, (LEFT + right) / 2.0, self.size[1] - 6.0, class_="small", text_anchor="middle"))
        middle = (top + bottom) / 2.0
        turned = f"rotate(-90 11 {coordinate(middle)})"
        return [*parts, label(up, 11.0, middle, class_="small", text_anchor="middle", transform=turned)]

    def _drawn(self, series: Series, top: float) -> list[str]:
        places = [self._at(x, y, top) for x, y in series.points]
        parts = []
        for (x, _), (low, high) in zip(series.points, series.intervals, strict=False):
            (across, y0), (_, y1) = self._at(x, low, top), self._at(x, high, top)
            parts.append(element("line", x1=across, x2=across, y1=y0, y2=y1, class_="reach"))
        if series.css == "dots":
            return [*parts, *(element("circle", cx=x, cy=y, r=4.0, class_="dots") for x, y in places)]
        path = "M" + "L".join(f"{coordinate(x)} {coordinate(y)}" for x, y in places)
        return [*parts, element("path", d=path, class_=series.css)]


def ticks(low: float, high: float, most: int, *, whole: bool = False) -> list[float]:
    """Return round numbers between two ends, at most so many."""
    span = high - low
    if not (span > 0.0 and math.isfinite(span)):
        return [low]
    step = 10.0 ** math.floor(math.log10(span / most))
    step = next(step * factor for factor in (1, 2, 5, 10, 20) if span / (step * factor) <= most)
    step = max(step, 1.0) if whole else step
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [float(f"{i * step:.12g}") for i in range(first, last + 1)]


def _tick(value: float, share: bool) -> str:
    return f"{number(float(f'{100.0 * value:.6g}'))}%" if share else number(float(f"{value:.6g}"))


def criterion(leaf: Leaf, column: NDArray[Any], *, negated: bool) -> dict[str, Any]:
    """Return what a leaf says, its curve over the values seen, and examples: value, truth and rows.

    Categories have no curve, they are listed. A plain condition is shown as the tree uses it, also where that is its
    opposite.
    """
    plain = leaf.criterion.predicate() is not None and not leaf.name
    turned = leaf.criterion.mirrored() if plain and negated else None
    if turned is not None:
        leaf, negated = Leaf(leaf.feature, turned), False
    words = one_line(leaf.criterion.condition(leaf.feature) or leaf.criterion.words(leaf.feature))
    said = {"feature": one_line(leaf.feature), "name": one_line(leaf.name), "words": words, "negated": negated}
    if leaf.criterion.categorical:
        examples, note = _categories(leaf.criterion, column)
        return {**said, "picture": None, "examples": examples, "note": note}
    known = column.astype(float)[~np.isnan(column.astype(float))]
    return {**said, "picture": _curve(leaf, known), "examples": _quantiles(leaf.criterion, known), "note": ""}


def _curve(leaf: Leaf, known: Floats) -> Written:
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


def shown_range(shape: Criterion, known: Floats) -> tuple[float, float]:
    """Return the values to show: those seen, or where nothing or one value was seen, those of the criterion."""
    if all(map(math.isfinite, shape.domain)):
        return shape.domain
    if known.size and known.min() < known.max() and np.isfinite(known.max() - known.min()):
        return float(known.min()), float(known.max())
    if shape.crisp:
        return shape.span(0.05)
    bends = shape.bends
    middle = len(bends) // 2
    low, high = bends[max(middle - 3, 0)], bends[min(middle + 3, len(bends) - 1)]
    return (low, high) if high - low < 1e300 else (low, low + 1.0)


def _quantiles(shape: Criterion, known: Floats) -> list[tuple[str, str, str]]:
    if not known.size:
        return []
    names = ("lowest", "5%", "25%", "middle", "75%", "95%", "highest")
    values = np.quantile(known, (0.0, 0.05, 0.25, 0.5, 0.75, 0.95, 1.0), method="nearest")
    truths = shape.truth(values)
    shown = [number(float(value), float(known.max() - known.min()) / 10.0 or None) for value in values]
    return [(text, degree(float(t)), name) for text, t, name in zip(shown, truths, names, strict=True)]


def _categories(shape: Criterion, column: NDArray[Any]) -> tuple[list[tuple[str, str, str]], str]:
    counted = Counter(column.tolist())
    found = [(one_line(str(value)), degree(truth), str(counted[value])) for value, truth in shape.truths]
    known = dict(shape.truths)
    other = sum(times for value, times in counted.items() if value is not None and value not in known)
    if shape.other is not None:
        found.append(("any other", degree(shape.other), str(other)))
    if shape.missing is not None:
        found.append(("missing", degree(shape.missing), str(counted[None])))
    more = len(found) - MOST_CATEGORIES
    return found[:MOST_CATEGORIES], f"and {more} more categories" if more > 0 else ""


def pruning(found: PruningCurve) -> Written:
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


def precision_recall(m: Material) -> Written:
    """Draw precision against recall over all thresholds, and the one in use."""
    assert m.positive is not None  # noqa: S101
    _, counts = metrics.at_every_cut(m.truths, m.positive, ~m.positive)
    recall, precision = counts.recall[1:-1], counts.precision[1:-1]  # without "all are" and "none is"
    kept = np.unique(np.linspace(0, max(len(recall) - 1, 0), min(len(recall), MOST_POINTS)).round().astype(int))
    points = [(1.0, float(m.positive.mean())), *zip(recall[kept].tolist(), precision[kept].tolist(), strict=True)]
    own = metrics.confusion(m.asked.decides(m.truths), m.positive)
    now = [(float(own.recall), float(own.precision))] if own.shares["precision"][1] else []
    series = [Series(points, "every threshold")]
    if now:
        series.append(Series(now, f"the threshold in use, {number(m.asked.threshold)}", "dots"))
    return Chart(
        (0.0, 1.0), (0.0, 1.0), (f"recall: share of {m.yes} found"[:60], "precision"),
        "Precision against recall over all thresholds", series, percent=(True, True),
    ).draw()  # fmt: skip


def calibrated(bins: Sequence[CalibrationBin], yes: str) -> Written:
    """Draw how often the answer is yes against the probability that was told."""
    seen = [metrics.share(each.cases, each.rows) for each in bins]
    points = [(each.mean, share.value) for each, share in zip(bins, seen, strict=True)]
    reach = [(share.low, share.high) for share in seen]
    return Chart(
        (0.0, 1.0), (0.0, 1.0), (f"probability told of {yes}"[:60], "share seen"),
        f"How often rows are {yes}, by the probability told; on the diagonal the two agree",
        [Series([(0.0, 0.0), (1.0, 1.0)], "as told", "dashed"), Series(points, "rows, 95% intervals", "dots", reach)],
        percent=(True, True),
    ).draw()  # fmt: skip


def share_bar(share: float, says: str) -> Written:
    """Draw a share as a bar."""
    full = element("rect", x=0.0, y=1.0, width=100.0, height=10.0, class_="track")
    part = element("rect", x=0.0, y=1.0, width=100.0 * min(max(share, 0.0), 1.0), height=10.0, class_="fill")
    return drawing([full, part], 100.0, 12.0, f"{says}: {percent(share)}", "chart bar")


def is_drawable(m: Material) -> bool:
    """Whether a tree is small enough for a picture that can be read."""
    return m.leaves <= MOST_LEAVES and m.asked.tree.depth <= MOST_DEPTH


def tree(m: Material, *, live: bool) -> Written:
    """Draw a tree, leaves at the left, the decision at the right; the page fills in truths of a case in a live one."""
    parts = _placed(parts_of(m.asked.tree.root, None, None), lit=live)
    drawn, root = [line for part in parts for line in _links(part, parts)], parts[-1]
    drawn += [_part(part, m.asked if part is root else None, m.place if live else None) for part in parts]
    said = [f"{m.yes} above {number(m.asked.threshold)}", f"else {m.no}"]
    wide = max(text_width(text, LARGE, bold=True) for text in said) + 2 * PAD
    left, tall = root.right + GAP / 2, 2 * LEADING + 2 * PAD
    drawn.append(element("line", x1=root.right, x2=left, y1=root.y, y2=root.y, class_="link"))
    top = root.y - tall / 2
    drawn.append(element("rect", x=left, y=top, width=wide, height=tall, rx=4.0, class_="box decision"))
    drawn.append(label(said[0], left + PAD, top + PAD + 12.0, class_="bold"))
    drawn.append(label(said[1], left + PAD, top + PAD + 12.0 + LEADING, class_="soft"))
    height = max(root.y + tall / 2, *(part.y + part.height / 2 for part in parts))
    shift = max(0.0, -top)  # a single leaf is lower than the box of the decision
    moved = element("g", "".join(drawn), transform=f"translate(2 {shift + 2:.1f})")
    says = f"The tree that decides between {m.yes} and {m.no}; it is told in words below."
    total = left + wide + 4.0
    return drawing([moved], total, height + shift + 4.0, says, "chart tree fits" if total <= FITS else "chart tree")


def _size(line: Line) -> float:
    return LARGE if line.size >= _SMALLER else SMALL


def _placed(parts: list[Part], *, lit: bool) -> list[Part]:
    """Give each part its place, y downward: leaves one below the other, gates in the middle of their inputs."""
    columns = max(part.column for part in parts) + 1
    widths = [0.0] * columns
    for part in parts:
        own = max(text_width(line.text, _size(line), bold=line.bold) for line in part.lines) + 2 * PAD
        least = BAR + FIGURE + 2 * PAD if lit else 0.0
        own = max(own, least) if part.column else own + (BAR + FIGURE + PAD if lit else 0.0)
        widths[part.column] = max(widths[part.column], own)
    lefts = [sum(widths[:i]) + GAP * i for i in range(columns)]
    heights = [len(part.lines) * LEADING + 2 * PAD + (LEADING if lit and part.column else 0.0) for part in parts]
    tallest = max((h for part, h in zip(parts, heights, strict=True) if part.column), default=0.0)
    leaf = max(h for part, h in zip(parts, heights, strict=True) if not part.column)
    pitch, below, placed = max(leaf, tallest / 2 + 6.0) + 4.0, 0.0, list[Part]()
    for part, height in zip(parts, heights, strict=True):
        if part.column:
            y = (placed[part.inputs[0]].y + placed[part.inputs[-1]].y) / 2
        else:
            y, below = below + pitch / 2, below + pitch
        placed.append(replace(part, left=lefts[part.column], y=y, width=widths[part.column], height=height))
    return placed


def _links(part: Part, parts: list[Part]) -> list[str]:
    """Draw the lines from inputs to a gate, each with its weight."""
    drawn = []
    count = len(part.inputs)
    for i, below in enumerate(part.inputs):
        start = parts[below]
        spread = min(part.height - 12.0, 14.0 * count)
        end = part.y + (spread * ((i + 0.5) / count - 0.5) if count > 1 else 0.0)
        bend = part.left - 14.0
        path = f"M{start.right:.1f} {start.y:.1f}H{bend:.1f}L{part.left:.1f} {end:.1f}"
        drawn.append(element("path", d=path, class_="link"))
        if part.tells_weights:
            said = share_words(part.weights[i], brief=True)
            drawn.append(label(said, bend - 3.0, start.y - 4.0, class_="small", text_anchor="end"))
    return drawn


def _part(part: Part, root: Subject | None, live: int | None) -> str:
    """Draw a leaf or a gate; a live one has a bar and a number for its truth, the root a mark at the threshold."""
    top = part.y - part.height / 2
    css = ("box gate" if part.column else "box leaf") + (f" {part.level.role}" if part.level is not None else "")
    drawn = [element("rect", x=part.left, y=top, width=part.width, height=part.height, rx=4.0, class_=css)]
    for i, line in enumerate(part.lines):
        kinds = {"bold": line.bold, "soft": line.grey, "small": _size(line) == SMALL}
        kind = " ".join(word for word, on in kinds.items() if on)
        drawn.append(label(line.text, part.left + PAD, top + PAD + 12.0 + i * LEADING, class_=kind or None))
    if live is not None:
        x = part.left + PAD if part.column else part.right - BAR - FIGURE
        y = top + part.height - PAD - 9.0 if part.column else part.y - 5.0
        drawn.append(element("rect", x=x, y=y, width=BAR, height=10.0, class_="track"))
        drawn.append(element("rect", x=x, y=y, width=0.0, height=10.0, class_="fill", data_full=BAR))
        if root is not None and 0.0 <= root.threshold <= 1.0:
            mark = x + BAR * root.threshold
            drawn.append(element("line", x1=mark, x2=mark, y1=y - 3.0, y2=y + 13.0, class_="turn"))
        drawn.append(label("", x + BAR + 5.0, y + 9.0, class_="small figure"))
    where = {} if live is None else {"data_tree": live, "data_path": ".".join(map(str, part.path))}
    return element("g", "".join(drawn), **where)
