"""A tree drawn as the LSP method draws it: features at the left, gates with codes and words, the decision at right."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from baconlogic.core.subject import Instance, Subject, subject
from baconlogic.plot import _layout as layout
from baconlogic.plot._layout import FIGURES, GAUGE, PAD, Line, Part, TreePlan
from baconlogic.plot._style import (
    BLACK,
    BLUE,
    GREY,
    ORANGE,
    PALE,
    SKY,
    SMALL,
    TEXT,
    VERMILLION,
    answer,
    apart,
    axes_of,
    height_of,
    inches_of,
    matplotlib,
    width_of,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from matplotlib.axes import Axes

    from baconlogic.core.nodes import Path

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
    instance = None if case is None else asked.case(case)
    truths = None if instance is None else _truths(asked, instance)
    parts = layout.parts_of(asked.tree.root, truths, None if instance is None else instance.values)
    decision = _decision(asked, None if truths is None else truths[()])
    natural = layout.plan(parts, decision, lit=truths is not None)
    wide, high = natural.width + 2 * MARGIN, natural.height + 2 * MARGIN + _key_height(natural)
    if ax is None:
        fits = min(1.0, (width or LARGEST) / wide, LARGEST / high)
        size = (width or wide * fits, high * fits)
        ax = axes_of(None, size, layout="none")
        ax.set_position((0.0, 0.0, 1.0, 1.0))
    room = np.array(inches_of(ax))
    scale = min(1.0, room[0] / wide, room[1] / high)
    gaps = natural.parts[-1].column
    spare = min(max(room[0] / scale - wide, 0.0) / gaps, 1.5) if scale < 1.0 or width is not None else 0.0
    plan = layout.plan(parts, decision, lit=truths is not None, stretch=spare)
    _frame(ax, plan, room / scale)
    _Pen(ax, plan, truths, scale).draw()
    return ax


def _truths(asked: Subject, case: Instance) -> dict[Path, float]:
    found = asked.tree.evaluate(case.rows(), nodes=True)
    return {path: float(truth[0]) for path, truth in found.items()}


def _decision(asked: Subject, truth: float | None) -> tuple[Line, ...]:
    yes, no = answer(asked.yes), answer(asked.no)
    if truth is None:
        return Line(yes, TEXT, bold=True), Line(f"if truth > {asked.threshold:.2f}", SMALL), Line(f"else {no}", SMALL)
    decided = bool(asked.decides(np.array(truth)))
    said, turn = apart(truth, asked.threshold)
    return Line(yes if decided else no, TEXT, bold=True), Line(f"truth {said} {'>' if decided else '≤'} {turn}", SMALL)


def _key_lines(plan: TreePlan) -> list[str]:
    lines: list[str] = []
    for entry in plan.key:
        longer = f"{lines[-1]};  {entry}" if lines else entry
        if lines and width_of(longer, SMALL) <= plan.width:
            lines[-1] = longer
        else:
            lines.append(entry)
    return lines


def _key_height(plan: TreePlan) -> float:
    return len(_key_lines(plan)) * height_of(SMALL) + (2 * PAD if plan.key else 0.0)


def _frame(ax: Axes, plan: TreePlan, room: Any) -> None:
    """Make one unit of the axes an inch (before scaling), the drawing in the middle."""
    below = _key_height(plan)
    aside, above = (room[0] - plan.width) / 2, (room[1] - plan.height - below) / 2
    ax.set_xlim(-aside, plan.width + aside)
    ax.set_ylim(-below - above, plan.height + above)
    ax.set_axis_off()


class _Pen:
    """Draws the parts of a plan on axes; `scale` shrinks text and lines with the rest."""

    def __init__(self, ax: Axes, plan: TreePlan, truths: Mapping[Path, float] | None, scale: float) -> None:
        self.ax, self.plan, self.truths, self.scale = ax, plan, truths, scale

    def draw(self) -> None:
        for part in self.plan.parts:
            self._lines_into(part)
        for part in self.plan.parts[:-1]:
            (self._box if part.column else self._leaf)(part)
        self._decision(self.plan.parts[-1])
        for i, text in enumerate(_key_lines(self.plan)):
            self._text(0.0, -2 * PAD - (i + 0.5) * height_of(SMALL), Line(text, SMALL), "left")

    def _text(self, x: float, y: float, line: Line, where: str = "center", colour: str = BLACK) -> None:
        self.ax.text(
            x, y, line.text, fontsize=line.size * self.scale, fontweight="bold" if line.bold else "normal",
            color=GREY if line.grey else colour, ha=where, va="center_baseline", parse_math=False, zorder=4,
        )  # fmt: skip

    def _stack(self, part: Part, x: float, y: float, where: str) -> None:
        """Write the lines of a part around the height y."""
        top = y + sum(height_of(line.size) for line in part.lines) / 2
        for line in part.lines:
            self._text(x, top - height_of(line.size) / 2, line, where)
            top -= height_of(line.size)

    def _patch(self, kind: str, *shape: Any, **style: Any) -> None:
        style["linewidth"] = style.get("linewidth", 0.8) * self.scale
        self.ax.add_patch(getattr(matplotlib("patches"), kind)(*shape, **style))

    def _lines_into(self, part: Part) -> None:
        """Draw the lines from its inputs, as thick as their weights and as dark as their truths."""
        weights = part.weights or (0.4,) * len(part.inputs)
        for i, (below, weight) in enumerate(zip(part.inputs, weights, strict=True)):
            child = self.plan.parts[below]
            port = part.y + part.height * 0.7 * (0.5 - (i + 0.5) / len(weights)) if len(weights) > 1 else part.y
            bend, thick = self.plan.bends[part.column], 0.7 + 5.0 * weight
            middle = (bend + part.left) / 2
            way = [(child.right, child.y), (bend, child.y), (middle, child.y), (middle, port), (part.left, port)]
            codes = [1, 2, 4, 4, 4]  # move, line, curve
            path = matplotlib("path").Path(way, codes)
            style = {"linewidth": thick, "edgecolor": self._colour(child), "facecolor": "none", "zorder": 1}
            self._patch("PathPatch", path, **style, gid="line")
            if part.weights:
                y = child.y + thick / 144.0 + 0.02 + height_of(SMALL) * 0.4
                self._text(
                    bend - PAD / 2, y, Line(layout.share_words(weight, brief=bool(self.plan.key)), SMALL), "right"
                )
            if child.negated:
                self._patch("Circle", (child.right, child.y), 0.045, facecolor="white", edgecolor=BLACK, zorder=3)

    def _colour(self, part: Part) -> Any:
        if self.truths is None:
            return GREY
        dark, pale = (np.array(matplotlib("colors").to_rgb(colour)) for colour in (LIT, PALE))
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
        style = {"facecolor": "white", "edgecolor": colour, "linewidth": 2.4 if heavy else 1.6, "zorder": 2}
        shape = matplotlib("patches").BoxStyle("Round", pad=0.0, rounding_size=0.06)
        self._patch("FancyBboxPatch", corner, part.width, part.height, boxstyle=shape, **style)
        shown = self.truths is not None and not heavy
        self._stack(part, part.left + part.width / 2, part.y + (PAD / 2 if shown else 0.0), "center")
        if shown and self.truths is not None:
            wide = part.width - 2 * PAD
            text = sum(height_of(line.size) for line in part.lines)
            self._gauge(part.left + PAD, part.y - text / 2 - PAD * 0.8, wide, PAD * 0.8, self.truths[part.path])

    def _decision(self, part: Part) -> None:
        self._box(part, heavy=True)
