"""A tree drawn as the LSP method draws it: features at the left, gates with codes and words, the decision at right."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from baconlogic.core.forms import form_of, points_needed
from baconlogic.core.nodes import Path
from baconlogic.core.subject import Subject, subject
from baconlogic.plot import _layout as layout
from baconlogic.plot import _style as style
from baconlogic.plot._layout import FIGURES, GAUGE, PAD, Line, Part, TreePlan
from baconlogic.plot._style import BLACK, BLUE, GREY, ORANGE, PALE, SKY, SMALL, TEXT, VERMILLION

if TYPE_CHECKING:
    from matplotlib.axes import Axes

LARGEST = 300.0  # inches; pictures of more are beyond what can be saved
MARGIN = 0.12  # inches around the drawing
LIT = "#003E63"  # a line that carries truth 1
FRAMES = {
    "hard conjunction": BLUE,
    "soft conjunction": SKY,
    "arithmetic mean": GREY,
    "soft disjunction": ORANGE,
    "hard disjunction": VERMILLION,
}


def tree(
    model: Any,
    ax: Axes | None = None,
    *,
    case: Any = None,
    threshold: float | None = None,
    label: Any = None,
    width: float | None = None,
) -> Axes:
    """Draw a tree; with `case`, one row, show the truth of every part and what is decided.

    `width` is that of the figure in inches: a wider one spreads the columns, a narrower one shrinks everything, text
    too. On axes of your own the drawing takes the room they have.
    """
    asked = subject(model, threshold, label)
    truths, values = None, None
    if case is not None:
        instance = asked.case(case)
        found = asked.tree.evaluate(instance.rows(), nodes=True)
        truths, values = {path: float(truth[0]) for path, truth in found.items()}, instance.values
    parts = layout.parts_of(asked.tree.root, truths, values)
    decision = _decision(asked, None if truths is None else truths[()])
    natural = layout.plan(parts, decision, lit=truths is not None)
    wide, high = natural.width + 2 * MARGIN, natural.height + 2 * MARGIN + natural.key_height
    if ax is None:
        fits = min(1.0, (width or LARGEST) / wide, LARGEST / high)
        size = (width or wide * fits, high * fits)
        ax = style.axes_of(None, size, layout="none")
        ax.set_position((0.0, 0.0, 1.0, 1.0))
    room = np.array(style.inches_of(ax))
    scale = min(1.0, room[0] / wide, room[1] / high)
    gaps = natural.parts[-1].column
    spare = min(max(room[0] / scale - wide, 0.0) / gaps, 1.5) if scale < 1.0 or width is not None else 0.0
    plan = layout.plan(parts, decision, lit=truths is not None, stretch=spare)
    # one unit of the axes is an inch (before scaling), the drawing in the middle
    aside, above = (room / scale - (plan.width, plan.height) - (0.0, plan.key_height)) / 2
    ax.set_xlim(-aside, plan.width + aside)
    ax.set_ylim(-plan.key_height - above, plan.height + above)
    ax.set_axis_off()
    _Pen(ax, plan, truths, scale).draw()
    return ax


def _decision(asked: Subject, truth: float | None) -> tuple[Line, ...]:
    yes, no = style.answer(asked.yes), style.answer(asked.no)
    if truth is None:
        turn, count = f"truth > {asked.threshold:.2f}", len(asked.tree.root.children)
        if count > 1 and form_of(asked.tree, asked.threshold) == "checklist":
            turn = f"at least {points_needed(asked.threshold, count)} of {count}"
        return Line(yes, TEXT, bold=True), Line(f"if {turn}", SMALL), Line(f"else {no}", SMALL)
    decided = bool(asked.decides(np.array(truth)))
    said, turn = style.apart(truth, asked.threshold)
    return Line(yes if decided else no, TEXT, bold=True), Line(f"truth {said} {'>' if decided else '≤'} {turn}", SMALL)


class _Pen:
    """Draws the parts of a plan on axes; `scale` shrinks text and lines with the rest."""

    def __init__(self, ax: Axes, plan: TreePlan, truths: Mapping[Path, float] | None, scale: float) -> None:
        self.ax, self.plan, self.truths, self.scale = ax, plan, truths, scale

    def draw(self) -> None:
        for part in self.plan.parts:
            self._lines_into(part)
        for part in self.plan.parts[:-1]:
            (self._box if part.column else self._leaf)(part)
        self._box(self.plan.parts[-1], heavy=True)
        for i, text in enumerate(self.plan.key):
            self._text(0.0, -2 * PAD - (i + 0.5) * style.height_of(SMALL), Line(text, SMALL), "left")

    def _text(self, x: float, y: float, line: Line, where: str) -> None:
        self.ax.text(
            x, y, line.text, fontsize=line.size * self.scale, fontweight="bold" if line.bold else "normal",
            color=GREY if line.grey else BLACK, ha=where, va="center_baseline", parse_math=False, zorder=4,
        )  # fmt: skip

    def _stack(self, part: Part, x: float, y: float, where: str) -> None:
        """Write the lines of a part around the height y."""
        top = y + sum(style.height_of(line.size) for line in part.lines) / 2
        for line in part.lines:
            self._text(x, top - style.height_of(line.size) / 2, line, where)
            top -= style.height_of(line.size)

    def _patch(self, kind: str, *shape: Any, **look: Any) -> None:
        look["linewidth"] = look.get("linewidth", 0.8) * self.scale
        self.ax.add_patch(getattr(style.matplotlib("patches"), kind)(*shape, **look))

    def _lines_into(self, part: Part) -> None:
        """Draw the lines from its inputs, as thick as their weights and as dark as their truths."""
        weights = part.weights or (0.4,) * len(part.inputs)
        for i, (below, weight) in enumerate(zip(part.inputs, weights, strict=True)):
            child = self.plan.parts[below]
            port = part.y + part.height * 0.7 * (0.5 - (i + 0.5) / len(weights)) if len(weights) > 1 else part.y
            bend, thick = self.plan.bends[part.column], 0.7 + 5.0 * weight
            middle = (bend + part.left) / 2
            way = [(child.right, child.y), (bend, child.y), (middle, child.y), (middle, port), (part.left, port)]
            path = style.matplotlib("path").Path(way, [1, 2, 4, 4, 4])  # move, line, curve
            look = {"linewidth": thick, "edgecolor": self._colour(child), "facecolor": "none", "zorder": 1}
            self._patch("PathPatch", path, **look, gid="line")
            if part.tells_weights:
                y = child.y + thick / 144.0 + 0.02 + style.height_of(SMALL) * 0.4
                said = layout.share_words(weight, brief=bool(self.plan.key))
                self._text(bend - PAD / 2, y, Line(said, SMALL), "right")
            if child.negated:
                self._patch("Circle", (child.right, child.y), 0.045, facecolor="white", edgecolor=BLACK, zorder=3)

    def _colour(self, part: Part) -> Any:
        if self.truths is None:
            return GREY
        dark, pale = (np.array(style.matplotlib("colors").to_rgb(colour)) for colour in (LIT, PALE))
        return tuple(pale + (dark - pale) * self.truths[part.path])

    def _leaf(self, part: Part) -> None:
        self._stack(part, part.left, part.y, "left")
        if self.truths is not None:
            bar = part.right - FIGURES - GAUGE - PAD
            self._gauge(bar, part.y - 0.05, GAUGE, 0.10, self.truths[part.path])
            number = Line(f"{self.truths[part.path]:.2f}", SMALL, bold=True)
            self._text(part.right - PAD, part.y, number, "right")

    def _gauge(self, x: float, y: float, wide: float, high: float, truth: float) -> None:
        self._patch("Rectangle", (x, y), wide, high, facecolor="white", edgecolor=GREY, linewidth=0.6, zorder=3)
        self._patch("Rectangle", (x, y), wide * truth, high, facecolor=LIT, edgecolor="none", zorder=3, gid="truth")

    def _box(self, part: Part, *, heavy: bool = False) -> None:
        colour = BLACK if part.level is None else FRAMES[part.level.family.name]
        corner = (part.left, part.y - part.height / 2)
        look = {"facecolor": "white", "edgecolor": colour, "linewidth": 2.4 if heavy else 1.6, "zorder": 2}
        shape = style.matplotlib("patches").BoxStyle("Round", pad=0.0, rounding_size=0.06)
        self._patch("FancyBboxPatch", corner, part.width, part.height, boxstyle=shape, **look)
        truths = None if heavy else self.truths
        self._stack(part, part.left + part.width / 2, part.y + (0.0 if truths is None else PAD / 2), "center")
        if truths is not None:
            wide = part.width - 2 * PAD
            text = sum(style.height_of(line.size) for line in part.lines)
            self._gauge(part.left + PAD, part.y - text / 2 - PAD * 0.8, wide, PAD * 0.8, truths[part.path])
