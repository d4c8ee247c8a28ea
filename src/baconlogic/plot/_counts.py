"""Tables as pictures: how often features are used, how a decision does in each scenario."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from baconlogic.plot._style import (
    BLACK,
    BLUE,
    SKY,
    SMALL,
    TEXT,
    VERMILLION,
    axes_of,
    category_labels,
    label_axes,
    legend_above,
    matplotlib,
    shortened,
    tidy,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SCORES = {"accuracy": (BLACK, "^", "-"), "precision": (BLUE, "o", "-"), "recall": (VERMILLION, "s", "-")}


def frequency(alternatives: Any, ax: Axes | None = None) -> Axes:
    """Draw in how many of the alternative trees each feature is used, the most used at the top."""
    pairs = sorted(alternatives.frequency, key=lambda pair: -pair[1])
    total = len(alternatives.rows)
    if not pairs:
        raise ValueError("the alternatives use no feature; there is nothing to draw")
    ax = axes_of(ax, (6.0, 0.9 + 0.26 * len(pairs)))
    place = np.arange(len(pairs))
    counts = [count for _, count in pairs]
    ax.barh(place, counts, 0.66, color=SKY, edgecolor=BLUE, linewidth=0.8)
    for at, count in zip(place, counts, strict=True):
        ax.annotate(
            f"in {count} of {total}",
            (count, at),
            xytext=(4, 0),
            textcoords="offset points",
            va="center",
            fontsize=SMALL,
        )
    ax.set_yticks(place, category_labels([feature for feature, _ in pairs]))
    ax.set_xlim(0, max(total, *counts) * 1.2)
    ax.set_ylim(len(pairs) - 0.4, -0.6)
    ax.xaxis.set_major_locator(matplotlib("ticker").MaxNLocator(integer=True, nbins=6))
    label_axes(ax, "alternative trees that use it", "")
    tidy(ax)
    ax.tick_params(axis="y", length=0)
    return ax


def scenarios(table: Any, ax: Axes | None = None) -> Axes:
    """Draw accuracy, precision and recall of each scenario, with their intervals."""
    rows = list(table.rows)
    if not rows:
        raise ValueError("the table has no scenario; there is nothing to draw")
    ax = axes_of(ax, (6.4, 1.1 + 0.75 * len(rows)))
    place = np.arange(len(rows), dtype=float)
    for i, (name, (colour, marker, dashes)) in enumerate(SCORES.items()):
        y = place + 0.22 * (i - 1)
        value = np.array([getattr(row, name) for row in rows], dtype=float)
        low, high = (np.array([getattr(row, f"{name}_{end}") for row in rows], dtype=float) for end in ("low", "high"))
        ax.hlines(y, low, high, color=colour, linestyle=dashes, linewidth=1.4)
        face = "white" if marker == "s" else colour
        ax.plot(value, y, marker, color=colour, markerfacecolor=face, markersize=6, label=name)
        for x, at, end in zip(value, y, np.fmax(high, value), strict=True):
            if np.isfinite(x):
                style: dict[str, Any] = {"textcoords": "offset points", "va": "center", "fontsize": SMALL}
                ax.annotate(f"{x:.2f}", (end, at), xytext=(5, 0), **style)
    names = [f"{shortened(row.scenario)}\ntruth > {row.threshold:.2f}".replace("$", r"\$") for row in rows]
    ax.set_yticks(place, names)
    ax.set_ylim(len(rows) - 0.5, -0.5)
    for at in place[1:]:
        ax.axhline(at - 0.5, color="#D9D9D9", linewidth=0.8)
    label_axes(ax, "share of cases, with interval", "")
    tidy(ax)
    ax.tick_params(axis="y", length=0, labelsize=TEXT)
    ax.margins(x=0.08)
    ax.xaxis.set_major_locator(matplotlib("ticker").MaxNLocator(nbins=6))
    legend_above(ax)
    return ax
