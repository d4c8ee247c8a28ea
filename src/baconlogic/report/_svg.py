"""Small charts as SVG text, to stand in a page: colours and fonts are those of the page's style sheet, by class."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from html import escape
from typing import TYPE_CHECKING, Any

from baconlogic.core.words import number

if TYPE_CHECKING:
    from collections.abc import Sequence

    Point = tuple[float, float]

LEFT, RIGHT, TOP, BOTTOM = 48.0, 20.0, 10.0, 42.0  # around the plot, in pixels
_NARROW, _WIDE = frozenset("iljtfrI.,:;|!'()[] "), frozenset("mwMW%@")


class Svg(str):
    """Text that is SVG already, so that a template does not escape it."""

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


def drawing(parts: Sequence[str], width: float, height: float, says: str, css: str = "chart") -> Svg:
    """Return a drawing; `says` tells those who cannot see it what it shows."""
    box = f"0 0 {coordinate(float(width))} {coordinate(float(height))}"
    opening = {"class_": css, "viewBox": box, "width": float(width), "height": float(height), "role": "img"}
    return Svg(element("svg", "".join(parts), **opening, aria_label=says))


@dataclass(frozen=True)
class Series:
    """Points to be drawn as a line, or one by one; each may have an interval (low, high) up and down."""

    points: Sequence[Point]
    name: str = ""  # said in the legend
    css: str = "line"  # line, line2, dashed, dots
    intervals: Sequence[Point] = field(default=())


@dataclass(frozen=True)
class Chart:
    """Two axes and what is drawn between them."""

    x: Point  # range
    y: Point
    labels: tuple[str, str]
    says: str
    series: Sequence[Series]
    bars: Sequence[tuple[float, float, float]] = ()  # (from, to, height as a share of the plot)
    marks: Sequence[tuple[float, str]] = ()  # upright lines
    percent: tuple[bool, bool] = (False, False)  # whether an axis shows shares
    whole: bool = False  # whether x counts things
    size: Point = (460.0, 280.0)

    def draw(self) -> Svg:
        """Return the chart."""
        legend = [each for each in self.series if each.name]
        top = TOP + 18.0 * len(legend)
        parts = [*self._legend(legend), *self._bars(top), *self._axes(top)]
        for value, said in self.marks:
            x, _ = self._at(min(max(value, self.x[0]), self.x[1]), self.y[0], top)
            parts.append(element("line", x1=x, x2=x, y1=top, y2=self.size[1] - BOTTOM, class_="mark"))
            right = x > self.size[0] * 0.62
            parts.append(
                label(
                    said,
                    x - 4.0 if right else x + 4.0,
                    top + 11.0,
                    class_="small",
                    text_anchor="end" if right else None,
                )
            )
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
        parts = []
        height = self.size[1] - BOTTOM - top
        for low, high, share in self.bars:
            x0, x1 = self._at(low, 0.0, top)[0], self._at(high, 0.0, top)[0]
            tall = share * height * 0.6
            y = self.size[1] - BOTTOM - tall
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
        if up:
            middle = (top + bottom) / 2.0
            turned = f"rotate(-90 11 {coordinate(middle)})"
            parts.append(label(up, 11.0, middle, class_="small", text_anchor="middle", transform=turned))
        return parts

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
