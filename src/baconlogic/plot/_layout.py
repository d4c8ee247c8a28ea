"""Where the parts of a tree go on paper, in inches: leaves in rows at the left, each gate right of its inputs.

A gate is centred on its inputs and stands in the column of its height above the leaves. The rows below a gate are
its own, so lines cross neither each other nor a box.
"""

from __future__ import annotations

import textwrap
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from baconlogic.core.forms import EVEN
from baconlogic.core.levels import Level
from baconlogic.core.nodes import Gate, Leaf, Node, Not, Path, flatten
from baconlogic.core.words import number, one_line, percent
from baconlogic.plot._style import LONGEST_NAME, SMALL, TEXT, height_of, shortened, width_of

MANY_LEAVES, MANY_COLUMNS = 16, 8  # beyond, labels are shorter
PAD = 0.06  # inside a box and around texts
GAUGE, FIGURES = 0.45, 0.36  # of a leaf's truth: the bar, and its number
BEND = 0.30  # room in which a line bends to its gate
LONGEST_CRITERION = 50


@dataclass(frozen=True)
class Line:
    """A line of text."""

    text: str
    size: float = TEXT
    bold: bool = False
    grey: bool = False

    @property
    def width(self) -> float:
        """In inches."""
        return width_of(self.text, self.size, bold=self.bold)


@dataclass(frozen=True)
class Part:
    """What is drawn in one place: a leaf with the negations right above it, a gate, or another negation."""

    path: Path  # the node whose truth it shows
    lines: tuple[Line, ...]
    inputs: tuple[int, ...] = ()  # places in the list of parts
    weights: tuple[float, ...] = ()
    level: Level | None = None  # of a gate
    negated: bool = False  # a leaf
    column: int = 0
    left: float = 0.0
    y: float = 0.0
    width: float = 0.0
    height: float = 0.0

    @property
    def tells_weights(self) -> bool:
        """Whether its inputs weigh differently; if not, there is nothing to say."""
        return bool(self.weights) and max(self.weights) - min(self.weights) > EVEN

    @property
    def right(self) -> float:
        """Where the line to the next gate starts."""
        return self.left + self.width


@dataclass(frozen=True)
class TreePlan:
    """Parts with their places, inputs first, the root last; `bends[c]`: where lines bend to column c."""

    parts: tuple[Part, ...]
    bends: tuple[float, ...]
    width: float
    height: float
    key: list[str]  # lines below the drawing: what codes mean, where boxes are too small to say it

    @property
    def key_height(self) -> float:
        """The room that the key takes, in inches."""
        return len(self.key) * height_of(SMALL) + 2 * PAD if self.key else 0.0


def parts_of(root: Node, truths: Mapping[Path, float] | None, case: Mapping[str, Any] | None) -> list[Part]:
    """Return the parts of a tree with their texts; with truths, each gate says its own."""
    order = flatten(root)
    paths: list[Path] = [()] * len(order)
    for position in reversed(range(len(order))):
        for i, below in enumerate(order[position][1]):
            paths[below] = (*paths[position], i)
    columns = _columns(order)
    brief = sum(isinstance(node, Leaf) for node, _ in order) > MANY_LEAVES, max(columns) > MANY_COLUMNS
    parts: list[Part] = []
    place: list[int] = []  # of each node, in the list of parts
    for (node, children), path, column in zip(order, paths, columns, strict=True):
        inputs = tuple(place[i] for i in children)
        truth = None if truths is None else truths[path]
        if isinstance(node, Leaf):
            parts.append(Part(path, _leaf_lines(node, case, brief=brief[0])))
        elif isinstance(node, Gate):
            lines = _gate_lines(node, truth, brief=brief[1])
            parts.append(Part(path, lines, inputs, node.weights, node.level, column=column))
        elif column == 0 and (leaf := _plainly_negated(node)) is not None:
            opposite = _leaf_lines(replace(leaf, name=node.name), case, brief=brief[0], negated=True)
            parts[-1] = Part(path, opposite)
        elif column == 0:
            first, *rest = parts[-1].lines
            name = f"{shortened(node.name)}: " if node.name else ""
            said = replace(first, text=f"{name}not {first.text}")
            parts[-1] = replace(parts[-1], path=path, lines=(said, *rest), negated=not parts[-1].negated)
        else:
            named = (Line(shortened(node.name)),) if node.name else ()
            lines = (*named, Line("not", TEXT, bold=True), *_truth_lines(truth))
            parts.append(Part(path, lines, inputs, column=column))
        place.append(len(parts) - 1)
    return parts


def _columns(order: list[tuple[Node, tuple[int, ...]]]) -> list[int]:
    """Return the height of each node above its leaves; a negated leaf is still a leaf."""
    heights: list[int] = []
    for node, below in order:
        highest = max((heights[i] for i in below), default=-1)
        heights.append(highest if isinstance(node, Not) and highest == 0 else highest + 1)
    return heights


def _plainly_negated(node: Node) -> Leaf | None:
    """Return the leaf whose opposite a negation is, where that can be said in a few words."""
    leaf = node.children[0]
    return leaf if isinstance(leaf, Leaf) and not leaf.name and _small_print(leaf, negated=True) else None


def _small_print(leaf: Leaf, *, negated: bool) -> str:
    """Say what a leaf asks for, or its opposite, in a few words; nothing where that takes more."""
    said = leaf.criterion.predicate(negated=negated)
    return "" if said is None else said + leaf.criterion.when_unknown(negated=negated)


def _leaf_lines(leaf: Leaf, case: Mapping[str, Any] | None, *, brief: bool, negated: bool = False) -> tuple[Line, ...]:
    value = ""
    if case is not None:
        own = case[leaf.feature]
        value = f" = {number(own) if isinstance(own, float) else 'missing' if own is None else shortened(own, 24)}"
    words = one_line(_small_print(leaf, negated=negated) or leaf.criterion.brief())
    said = textwrap.wrap(words, LONGEST_CRITERION, max_lines=1 if brief else 2, placeholder=" …")
    if leaf.criterion.holds_truths and leaf.criterion.missing is None:  # the column speaks for itself
        said = []
    if brief:
        small = f"  ({said[0]})" if said else ""
        return (Line(shortened(leaf.name or leaf.feature) + value + small, SMALL),)
    names = textwrap.wrap(shortened(leaf.name or leaf.feature, 2 * LONGEST_NAME - 8), LONGEST_NAME)
    if leaf.name:
        names.append(shortened(leaf.feature))
    names[-1] += value
    return (*(Line(text) for text in names), *(Line(text, SMALL, grey=True) for text in said))


def _gate_lines(gate: Gate, truth: float | None, *, brief: bool) -> tuple[Line, ...]:
    rule = f" {gate.rule}" if gate.rule else ""
    if brief:
        lines = (Line(gate.level.code, SMALL, bold=True), Line(f"{_decimals(gate.andness)}{rule}", SMALL))
        return (*lines, *(() if truth is None else (Line(f"{truth:.2f}", SMALL, bold=True),)))
    name = tuple(Line(text) for text in textwrap.wrap(shortened(gate.name), 20))
    code = Line(f"{gate.level.code}   {_decimals(gate.andness)}{rule}", TEXT, bold=True)
    return (*name, code, Line(gate.level.words, SMALL), *_truth_lines(truth))


def _decimals(andness: float) -> str:
    return f"{andness:.2f}".replace("-", "−")  # noqa: RUF001


def share_words(weight: float, *, brief: bool) -> str:
    """Say a weight."""
    return f"{100 * weight:.0f}%" if brief and weight >= 0.095 else percent(float(f"{weight:.2g}") if brief else weight)


def _truth_lines(truth: float | None) -> tuple[Line, ...]:
    return () if truth is None else (Line(f"truth {truth:.2f}", SMALL, bold=True),)


def plan(parts: list[Part], decision: tuple[Line, ...], *, lit: bool, stretch: float = 0.0) -> TreePlan:
    """Give every part its place; the decision is the last part. `stretch` widens each gap between columns."""
    heights = [sum(height_of(line.size) for line in part.lines) + 2 * PAD for part in parts]
    boxes = [h + (PAD if lit else 0.0) for part, h in zip(parts, heights, strict=True) if part.column]
    rows = [h for part, h in zip(parts, heights, strict=True) if not part.column]
    pitch = max(*rows, 0.26, max(boxes, default=0.0) / 2 + PAD)
    middle, row = list[float](), 0
    for part in parts:
        if part.column:
            middle.append((middle[part.inputs[0]] + middle[part.inputs[-1]]) / 2)
        else:
            middle.append(-pitch * (row + 0.5))
            row += 1
    lefts, widths, bends = _across(parts, lit=lit, stretch=stretch)
    placed = []
    for i, part in enumerate(parts):
        height = heights[i] + (PAD if lit and part.column else 0.0)
        if part.level is not None:
            span = middle[part.inputs[0]] - middle[part.inputs[-1]]
            height = max(height, min(0.4 * span, 0.16 * len(part.inputs)))  # room for its lines to end apart
        placed.append(replace(part, left=lefts[part.column], y=middle[i], width=widths[part.column], height=height))
    last = placed[-1]
    tall = sum(height_of(line.size) for line in decision) + 2 * PAD
    wide = max(line.width for line in decision) + 4 * PAD
    left = last.right + 0.35 + stretch
    placed.append(
        Part((), decision, (len(parts) - 1,), column=last.column + 1, left=left, y=last.y, width=wide, height=tall)
    )
    total = max(pitch * row, tall)
    placed = [replace(part, y=part.y + pitch * row + (total - pitch * row) / 2) for part in placed]
    return TreePlan(tuple(placed), (*bends, left - 0.1), left + wide, total, _key(parts, left + wide, lit=lit))


def _across(parts: list[Part], *, lit: bool, stretch: float) -> tuple[list[float], list[float], list[float]]:
    """Return the left end and width of each column, and where lines bend to it."""
    count = max(part.column for part in parts) + 1
    brief = count - 1 > MANY_COLUMNS
    least, pad = (BEND / 2, PAD / 2) if brief else (BEND, PAD)
    widths, labels, bend = [0.0] * count, [0.0] * count, [BEND / 2] * count
    for part in parts:
        text = max(line.width for line in part.lines)
        own = text + 2 * pad if part.column else text + PAD + (GAUGE + FIGURES + 2 * PAD if lit else 0.0)
        widths[part.column] = max(widths[part.column], own)
        for weight in part.weights:
            said = share_words(weight, brief=brief) if part.tells_weights else ""
            labels[part.column] = max(labels[part.column], width_of(said, SMALL) + 2 * pad)
            bend[part.column] = max(bend[part.column], min(least + 0.02 * len(part.weights), 0.8))
    lefts, bends = [0.0], [0.0]
    for column in range(1, count):
        start = lefts[-1] + widths[column - 1]
        bends.append(start + labels[column] + pad + stretch)
        lefts.append(bends[-1] + bend[column])
    return lefts, widths, bends


def _key(parts: list[Part], width: float, *, lit: bool) -> list[str]:
    """Return the key on lines of this width, none where boxes say it all."""
    if max(part.column for part in parts) <= MANY_COLUMNS:
        return []
    levels = {part.level.code: part.level for part in parts if part.level is not None}
    lines = [f"in each box: code, andness{', truth' if lit else ''}"]
    for level in sorted(levels.values(), key=lambda level: -level.andness()):
        entry = f"{level.code}: {level.words}"
        longer = f"{lines[-1]};  {entry}"
        lines[-1:] = [longer] if width_of(longer, SMALL) <= width else [lines[-1], entry]
    return lines
