"""Shapes of the parts of a tree: the surfaces of gates, the criteria of leaves."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from baconlogic.core import Floats, gcd
from baconlogic.core.criteria import Criterion
from baconlogic.core.levels import LEVELS, nearest_level
from baconlogic.core.nodes import Leaf
from baconlogic.core.subject import subject
from baconlogic.core.words import number, percent
from baconlogic.plot import _style as style
from baconlogic.plot._style import BLACK, BLUE, GREY, SKY, SMALL, TEXT, VERMILLION

if TYPE_CHECKING:
    from matplotlib.axes import Axes

FIGURE_3 = (1.0, 0.0, 1.9, -0.9, 0.5, (0.0, 0.8))  # the paper's panels 2 to 7
ISOLINES = np.arange(1, 10) / 10
STRIP = (-0.42, -0.08)  # where the data are drawn, below truth 0
MOST_CATEGORIES, MOST_FIGURES = 12, 5  # bars of a panel, and bars up to which their truths are printed


def surfaces(andnesses: Sequence[Any] = FIGURE_3, axes: Any = None, *, aggregator: str = "gcd") -> NDArray[Any]:
    """Draw what a gate of two inputs says over the unit square, one panel an andness: a map with lines of equal truth.

    An andness is a number, a code ("HC+"), or a pair with the weight of the first input: (0.0, 0.8).
    """
    grid = (1.0 - np.cos(np.pi * np.linspace(0.0, 1.0, 121))) / 2.0  # dense where gates are steep
    across, up = np.meshgrid(grid, grid)
    drawn = style.panels(axes, len(andnesses), 3, (2.7, 2.85))
    for ax, given in zip(drawn, andnesses, strict=True):
        wanted, weight = given if isinstance(given, tuple) else (given, 0.5)
        if isinstance(wanted, str) and wanted not in LEVELS:
            raise ValueError(f"no level has the code {wanted!r:.60}; the codes are {', '.join(LEVELS)}")
        andness = LEVELS[wanted].andness() if isinstance(wanted, str) else float(wanted)
        truth = gcd.AGGREGATORS[aggregator]([across, up], [weight, 1.0 - weight], andness)
        ax.contourf(grid, grid, truth, levels=np.linspace(0.0, 1.0, 11), cmap="cividis", vmin=0.0, vmax=1.0)
        colours = ["white" if level < 0.45 else BLACK for level in ISOLINES]
        lines = ax.contour(grid, grid, truth, levels=ISOLINES, colors=colours, linewidths=0.7)
        ax.clabel(lines, fontsize=SMALL, fmt="%.1f", manual=_on_diagonal(grid, np.diag(truth)), inline_spacing=2)
        level = nearest_level(andness)
        share = "" if weight == 0.5 else f", weight of x {percent(weight)}"
        title = f"{level.code}, andness {andness:.2f}{share}".replace("-0", "−0").replace("-1", "−1")  # noqa: RUF001
        ax.set_title(f"{title}\n{level.words}", fontsize=TEXT)
        ax.set_xlabel("truth of x", fontsize=SMALL)
        ax.set_ylabel("truth of y", fontsize=SMALL)
        ax.set_xticks([0, 0.5, 1], ["0", "0.5", "1"], fontsize=SMALL)
        ax.set_yticks([0, 0.5, 1], ["0", "0.5", "1"], fontsize=SMALL)
        ax.set_aspect("equal")
    return drawn


def _on_diagonal(grid: Floats, truth: Floats) -> list[tuple[float, float]]:
    """Return where the lines of equal truth cross the diagonal, as far as labels there have room."""
    places: list[tuple[float, float]] = []
    for x in np.interp(ISOLINES, truth, grid):
        if 0.06 <= x <= 0.94 and (not places or x - places[-1][0] >= 0.1):
            places.append((float(x), float(x)))
    return places


def criteria(model: Any, X: Any = None, axes: Any = None, *, y: Any = None, label: Any = None) -> NDArray[Any]:
    """Draw truth against raw value for each leaf, with the data beneath; with `y`, each class apart.

    Leaves on one feature stand side by side, the most important feature first.
    """
    asked = subject(model, label=label)
    leaves = [node for _, node in asked.tree.walk() if isinstance(node, Leaf)]
    rank = {feature: i for i, feature in enumerate(asked.tree.features)}
    leaves.sort(key=lambda leaf: rank[leaf.feature])
    table = None if X is None else asked.table(X)
    if table is not None:
        table.require(asked.tree.features)
    groups: list[tuple[str, Any]] = [("cases", slice(None))]
    if y is not None:
        if table is None:
            raise ValueError("y tells the classes of the rows of X; give X as well")
        positive = asked.positive(y, table.rows)
        sides = ((asked.yes, positive), (asked.no, ~positive))
        groups = [(style.shortened(style.answer(label), 12), members) for label, members in sides]
    drawn = style.panels(axes, len(leaves), 4, (2.5, 2.1))
    for ax, leaf in zip(drawn, leaves, strict=True):
        column: Any = None
        if table is not None:
            column = (table.categories if leaf.criterion.categorical else table.numbers)(leaf.feature)
        (_categories if leaf.criterion.categorical else _curve)(ax, leaf.criterion, column, groups)
        _dress(ax, leaf, groups if column is not None else [])
    return drawn


def _dress(ax: Axes, leaf: Leaf, groups: list[tuple[str, Any]]) -> None:
    ax.set_title(style.shortened(leaf.feature, 28), fontsize=TEXT, parse_math=False)
    if leaf.criterion.unit:
        ax.set_xlabel(style.shortened(leaf.criterion.unit, 28), fontsize=SMALL, parse_math=False)
    middles = [_strip(i, len(groups)) for i in range(len(groups))]
    ticks = [1.0, 0.5, 0.0, *(low if len(groups) == 1 else (low + high) / 2 for low, high in middles)]
    ax.set_yticks(ticks, ["1", "0.5", "0", *style.category_labels([name for name, _ in groups])], fontsize=SMALL)
    ax.set_ylim(STRIP[0] - 0.04 if groups else -0.04, 1.08)
    place = ax.get_subplotspec()
    if place is None or place.is_first_col():
        ax.set_ylabel("truth", fontsize=SMALL)
    style.tidy(ax)
    ax.tick_params(labelsize=SMALL)


def _strip(i: int, count: int) -> tuple[float, float]:
    """Return where the data of one group are drawn."""
    high = (STRIP[1] - STRIP[0]) / count
    return STRIP[1] - (i + 1) * high + 0.02, STRIP[1] - i * high - 0.02


def _curve(ax: Axes, criterion: Criterion, column: Floats | None, groups: list[tuple[str, Any]]) -> None:
    known = np.array([]) if column is None else column[np.isfinite(column)]
    low, high = _span(criterion, known)
    inside = [bend for bend in criterion.bends if low < bend < high]
    x = np.unique(np.concatenate([np.linspace(low, high, 201), inside]))
    ax.plot(x, criterion.truth(x), color=BLUE, linewidth=2.0, gid="criterion")
    halves = criterion.crossings(0.5)
    for half in halves:
        if not low <= half <= high:
            said = f"half true at {number(half)}"
            ax.text(0.5, 0.55, said, transform=ax.transAxes, ha="center", va="center", fontsize=SMALL)
            continue
        ax.plot([half, half], [0.0, 0.5], color=GREY, linewidth=1.0, linestyle=":")
        ax.plot(half, 0.5, "D", color=BLACK, markersize=4.5, gid="half")
        left = half > (low + high) / 2 if criterion.monotone else half == halves[0] and half - low > (high - low) / 4
        before, after = criterion.truth(half + np.array([-1e-3, 1e-3]) * (high - low))
        below = (after > before) != left  # where the curve is not
        look = {"ha": "right" if left else "left", "va": "top" if below else "bottom"}
        offset = (-6 if left else 6, -1 if below else 1)
        style.note(ax, number(half, (high - low) / 10.0), (half, 0.5), offset, **look)
    ax.set_xlim(low, high)
    if column is None or not len(known):
        return
    edges = np.linspace(low, high, 31)
    counts = [np.histogram(column[members][np.isfinite(column[members])], edges)[0] for _, members in groups]
    _bars(ax, edges[:-1], np.diff(edges), counts)


def _bars(ax: Axes, left: Any, width: Any, counts: list[Any]) -> None:
    """Draw how many cases there are, group by group, each to its own highest bar."""
    looks = [(VERMILLION, "////"), (SKY, "")] if len(counts) > 1 else [(GREY, "")]
    for i, (own, (colour, hatch)) in enumerate(zip(counts, looks, strict=True)):
        low, high = _strip(i, len(counts))
        heights = own / max(own.max(), 1) * (high - low)
        look: dict[str, Any] = {"color": colour, "hatch": hatch, "edgecolor": "white", "linewidth": 0.2}
        ax.bar(left, heights, width, bottom=low, align="edge", **look)
        ax.axhline(low, color=GREY, linewidth=0.6)


def _span(criterion: Criterion, known: Floats) -> tuple[float, float]:
    """Return the raw values worth showing: the data and the half-true points near them; or where truth changes."""
    if all(map(math.isfinite, criterion.domain)):
        return criterion.domain
    if len(known) and np.ptp(known) > 0.0:
        reach = float(np.ptp(known))
        near = [half for half in criterion.crossings(0.5) if known.min() - reach < half < known.max() + reach]
        ends = [float(known.min()), float(known.max()), *near]
    else:
        ends = [*criterion.span(0.01), *known[:1]]
    room = max(0.04 * (max(ends) - min(ends)), 1e-9 * max(map(abs, ends)))
    return min(ends) - room, max(ends) + room


def _categories(ax: Axes, criterion: Criterion, column: Any, groups: list[tuple[str, Any]]) -> None:
    listed, truths = map(list, zip(*criterion.truths[:MOST_CATEGORIES], strict=True))
    names = style.category_labels(listed, 12)
    if criterion.other is not None:
        names.append("other")
        truths.append(criterion.other)
    place = np.arange(len(names))
    ax.bar(place, truths, 0.7, color=SKY, edgecolor=BLUE, linewidth=1.0, gid="criterion")
    for at, truth in enumerate(truths if len(truths) <= MOST_FIGURES else []):
        ax.text(at, truth + 0.02, f"{truth:.2f}", ha="center", va="bottom", fontsize=SMALL)
    ax.axhline(0.5, color=GREY, linewidth=0.8, linestyle=":")
    crowded = len(names) * max(map(len, names)) > 24
    ax.set_xticks(place, names, rotation=90 if crowded else 0, fontsize=SMALL)
    if len(criterion.truths) > len(listed):
        ax.set_xlabel(f"and {len(criterion.truths) - len(listed)} more", fontsize=SMALL)
    if column is None:
        return
    known = {category for category, _ in criterion.truths}
    counts = []
    for _, members in groups:
        own = column[members].tolist()
        count = [own.count(category) for category in listed]
        if criterion.other is not None:
            count.append(sum(value is not None and value not in known for value in own))
        counts.append(np.array(count))
    _bars(ax, place - 0.35, 0.7, counts)
