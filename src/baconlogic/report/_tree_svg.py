"""A tree as SVG: leaves at the left, each gate right of its inputs, the decision at the right.

The texts are those of `plot.layout`; places are worked out in pixels with rough measures of letters, because a page
does not know what font it will be shown in.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from baconlogic.core.words import number
from baconlogic.plot._layout import Line, Part, parts_of, share_words
from baconlogic.report._svg import Svg, drawing, element, label, text_width

if TYPE_CHECKING:
    from baconlogic.core.subject import Subject

MOST_LEAVES, MOST_DEPTH = 60, 14  # of a tree that is drawn
LARGE, SMALL, LEADING = 13.0, 11.5, 16.0
PAD, GAP = 8.0, 44.0  # inside a box; between columns, for lines and weights
BAR, FIGURE = 56.0, 40.0  # of a leaf: its bar, and room for its number
FITS = 1600.0  # width up to which a tree may be shown smaller to fit a wide screen
_SMALLER = 9.0  # points of plot.layout below which text is small


@dataclass(frozen=True)
class _Place:
    left: float
    width: float
    middle: float
    height: float

    @property
    def right(self) -> float:
        return self.left + self.width


def is_drawable(asked: Subject) -> bool:
    """Whether a tree is small enough for a picture that can be read."""
    return len(_leaves(asked)) <= MOST_LEAVES and asked.tree.depth <= MOST_DEPTH


def _leaves(asked: Subject) -> list[object]:
    return [node for _, node in asked.tree.walk() if not node.children]


def tree(asked: Subject, yes: str, no: str, *, live: int | None = None) -> Svg:
    """Draw a tree; `live` is its place among the trees of a page that fills in the truths of a case."""
    parts = parts_of(asked.tree.root, None, None)
    places = _placed(parts, lit=live is not None)
    drawn: list[str] = []
    for part, place in zip(parts, places, strict=True):
        drawn += _links(part, place, places)
    for part, place in zip(parts, places, strict=True):
        drawn.append(_part(part, place, asked if part is parts[-1] else None, live))
    root = places[-1]
    said = [f"{yes} above {number(asked.threshold)}", f"else {no}"]
    wide = max(text_width(text, LARGE, bold=True) for text in said) + 2 * PAD
    left, tall = root.right + GAP / 2, 2 * LEADING + 2 * PAD
    drawn.append(element("line", x1=root.right, x2=left, y1=root.middle, y2=root.middle, class_="link"))
    top = root.middle - tall / 2
    drawn.append(element("rect", x=left, y=top, width=wide, height=tall, rx=4.0, class_="box decision"))
    drawn.append(label(said[0], left + PAD, top + PAD + 12.0, class_="bold"))
    drawn.append(label(said[1], left + PAD, top + PAD + 12.0 + LEADING, class_="soft"))
    bottom = max(place.middle + place.height / 2 for place in places)
    height = max(bottom, root.middle + tall / 2)
    shift = max(0.0, -top)  # a single leaf is lower than the box of the decision
    moved = element("g", "".join(drawn), transform=f"translate(2 {shift + 2:.1f})")
    says = f"The tree that decides between {yes} and {no}; it is told in words below."
    total = left + wide + 4.0
    css = "chart tree fits" if total <= FITS else "chart tree"
    return drawing([moved], total, height + shift + 4.0, says, css)


def _size(line: Line) -> float:
    return LARGE if line.size >= _SMALLER else SMALL


def _placed(parts: list[Part], *, lit: bool) -> list[_Place]:
    """Give each part its place: leaves one below the other, gates in the middle of their inputs."""
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
    pitch, below, places = max(leaf, tallest / 2 + 6.0) + 4.0, 0.0, list[_Place]()
    for part, height in zip(parts, heights, strict=True):
        if part.column:
            middle = (places[part.inputs[0]].middle + places[part.inputs[-1]].middle) / 2
        else:
            middle, below = below + pitch / 2, below + pitch
        places.append(_Place(lefts[part.column], widths[part.column], middle, height))
    return places


def _links(part: Part, place: _Place, places: list[_Place]) -> list[str]:
    """Draw the lines from inputs to a gate, each with its weight."""
    drawn = []
    count = len(part.inputs)
    for i, below in enumerate(part.inputs):
        start = places[below]
        spread = min(place.height - 12.0, 14.0 * count)
        end = place.middle + (spread * ((i + 0.5) / count - 0.5) if count > 1 else 0.0)
        bend = place.left - 14.0
        path = f"M{start.right:.1f} {start.middle:.1f}H{bend:.1f}L{place.left:.1f} {end:.1f}"
        drawn.append(element("path", d=path, class_="link"))
        if part.weights:
            said = share_words(part.weights[i], brief=True)
            drawn.append(label(said, bend - 3.0, start.middle - 4.0, class_="small", text_anchor="end"))
    return drawn


def _part(part: Part, place: _Place, root: Subject | None, live: int | None) -> str:
    """Draw a leaf or a gate; a live one has a bar and a number for its truth, the root a mark at the threshold."""
    top = place.middle - place.height / 2
    css = "box gate" if part.column else "box leaf"
    if part.level is not None:
        css += f" {part.level.role}"
    drawn = [element("rect", x=place.left, y=top, width=place.width, height=place.height, rx=4.0, class_=css)]
    for i, line in enumerate(part.lines):
        kind = " ".join(
            word for word, on in (("bold", line.bold), ("soft", line.grey), ("small", _size(line) == SMALL)) if on
        )
        drawn.append(label(line.text, place.left + PAD, top + PAD + 12.0 + i * LEADING, class_=kind or None))
    if live is not None:
        x = place.left + PAD if part.column else place.right - BAR - FIGURE
        y = top + place.height - PAD - 9.0 if part.column else place.middle - 5.0
        drawn.append(element("rect", x=x, y=y, width=BAR, height=10.0, class_="track"))
        drawn.append(element("rect", x=x, y=y, width=0.0, height=10.0, class_="fill", data_full=BAR))
        if root is not None and 0.0 <= root.threshold <= 1.0:
            mark = x + BAR * root.threshold
            drawn.append(element("line", x1=mark, x2=mark, y1=y - 3.0, y2=y + 13.0, class_="turn"))
        drawn.append(label("", x + BAR + 5.0, y + 9.0, class_="small figure"))
    where = {} if live is None else {"data_tree": live, "data_path": ".".join(map(str, part.path))}
    return element("g", "".join(drawn), **where)
