"""Pictures of experiments: trees and criteria as `plot` draws them, and what only experiments need."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from baconlogic.plot import _shapes as shapes
from baconlogic.plot import _tree as trees
from baconlogic.plot._style import BLUE, VERMILLION, label_axes, legend_above, matplotlib, panels, tidy

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from baconlogic.core.tree import Tree

DPI = 130


def save(figure: Any, folder: Path, name: str) -> str:
    """Write a figure as PNG and close it; return the path."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name}.png"
    figure.savefig(path, dpi=DPI, bbox_inches="tight")
    matplotlib("pyplot").close(figure)
    return str(path)


def decision(tree: Tree, threshold: float, label: Any, X: Any, y: Any, folder: Path, name: str) -> list[str]:
    """Draw a tree, and its criteria over the data."""
    matplotlib().use("Agg")
    drawn = trees.tree(tree, threshold=threshold, label=label).figure
    shown = shapes.criteria(tree, X, y=y, label=label)[0].figure
    return [save(drawn, folder, f"{name}-tree"), save(shown, folder, f"{name}-criteria")]


def tree(drawn: Tree, threshold: float, folder: Path, name: str) -> str:
    """Draw a tree."""
    matplotlib().use("Agg")
    return save(trees.tree(drawn, threshold=threshold).figure, folder, name)


def sweep(rows: Mapping[str, Sequence[Any]], folder: Path, name: str) -> str:
    """Draw how often expressions of n variables were found, and in how many seconds, for each search."""
    matplotlib().use("Agg")
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
