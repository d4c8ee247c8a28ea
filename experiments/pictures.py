"""Pictures of experiments: trees and criteria as `plot` draws them, and what only experiments need."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from baconlogic.plot import _shapes as shapes
from baconlogic.plot import _tree as trees
from baconlogic.plot._style import (
    BLACK,
    BLUE,
    GREY,
    SMALL,
    VERMILLION,
    axes_of,
    label_axes,
    legend_above,
    matplotlib,
    panels,
    tidy,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from matplotlib.axes import Axes

    from baconlogic.core.tree import Tree

DPI = 130
SERIES = (
    ("paper, in sample", "paper", BLACK, "x"),
    ("ours, in sample", "in_sample", BLUE, "o"),
    ("ours, held out", "held_out", VERMILLION, "s"),
)


def headless() -> None:
    """Draw into files alone: there may be no screen."""
    matplotlib().use("Agg")


def save(figure: Any, folder: Path, name: str) -> str:
    """Write a figure as PNG and close it; return the path."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name}.png"
    figure.savefig(path, dpi=DPI, bbox_inches="tight")
    matplotlib("pyplot").close(figure)
    return str(path)


def decision(tree: Tree, threshold: float, label: Any, X: Any, y: Any, folder: Path, name: str) -> list[str]:
    """Draw a tree, and its criteria over the data."""
    headless()
    drawn = trees.tree(tree, threshold=threshold, label=label).figure
    shown = shapes.criteria(tree, X, y=y, label=label)[0].figure
    return [save(drawn, folder, f"{name}-tree"), save(shown, folder, f"{name}-criteria")]


def tree(drawn: Tree, threshold: float, folder: Path, name: str) -> str:
    """Draw a tree."""
    headless()
    return save(trees.tree(drawn, threshold=threshold).figure, folder, name)


def sweep(rows: Mapping[str, Sequence[Any]], folder: Path, name: str) -> str:
    """Draw how often expressions of n variables were found, and in how many seconds, for each search."""
    headless()
    found, times = panels(None, 2, 2, (4.2, 3.1))
    styles = ((BLUE, "o", "-"), (VERMILLION, "s", "--"))
    for (search, cells), (colour, marker, dashes) in zip(rows.items(), styles, strict=False):
        n = [cell.variables for cell in cells]
        style = {"color": colour, "marker": marker, "linestyle": dashes, "label": search}
        found.plot(n, [100.0 * cell.recovered / cell.tried for cell in cells], **style)
        times.plot(n, [cell.seconds for cell in cells], **style)
    found.set_ylim(-5.0, 105.0)
    times.set_yscale("log")
    label_axes(found, "variables", "expressions found (%)")
    label_axes(times, "variables", "median seconds, one core")
    for ax in (found, times):
        tidy(ax)
        ax.xaxis.set_major_locator(matplotlib("ticker").MaxNLocator(integer=True))
    legend_above(found)
    return save(found.figure, folder, name)


def scenarios(turns: Sequence[Any], ax: Axes | None = None) -> Axes:
    """Draw accuracy, precision and recall of each scenario: the paper's, ours in sample and held out."""
    ax = axes_of(ax, (6.8, 0.8 + 1.15 * len(turns)))
    names: dict[float, str] = {}
    for i, turn in enumerate(turns):
        for j, what in enumerate(("accuracy", "precision", "recall")):
            names[i * 4 + j] = f"{turn.scenario}: {what}"
            for said, where, colour, marker in SERIES:
                value = getattr(getattr(turn, where), what)
                style: dict[str, Any] = {"markerfacecolor": "none", "markersize": 8, "linestyle": "none"}
                ax.plot(value, i * 4 + j, marker, color=colour, label=said if i + j == 0 else None, **style)
    for at in names:
        ax.axhline(at, color=GREY, linewidth=0.3, zorder=0)
    ax.set_yticks(list(names), list(names.values()), fontsize=SMALL)
    ax.invert_yaxis()
    label_axes(ax, "share of cases", "")
    tidy(ax)
    legend_above(ax)
    return ax
