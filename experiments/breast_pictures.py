"""The pictures of the breast cancer experiment."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from baconlogic import plot
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
    tidy,
)
from experiments.pictures import save

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    from baconlogic.core.decision import Decision
    from baconlogic.explain import PruningCurve
    from experiments.breast_cancer import BreastCancer
    from experiments.breast_findings import Turn

SERIES = (
    ("paper, in sample", "paper", BLACK, "x"),
    ("ours, in sample", "in_sample", BLUE, "o"),
    ("ours, held out", "held_out", VERMILLION, "s"),
)


def draw(
    result: BreastCancer, curve: PruningCurve, best: Decision, X: Any, y: NDArray[Any], folder: Path
) -> tuple[str, ...]:
    """Write every picture and return their paths."""
    pruned, refitted = result.steps[1], result.steps[-1]
    pictures: dict[str, Callable[[], Axes]] = {
        "1-pruning": lambda: _labelled(plot.pruning_curve(curve), y="accuracy, in sample"),
        "2-tree-pruned": lambda: plot.tree(pruned.tree, threshold=pruned.threshold, label="malignant"),
        "3-tree-grouped": lambda: plot.tree(refitted.tree, threshold=refitted.threshold, label="malignant"),
        "4-truths": lambda: _labelled(plot.truths(best, X, y), x="cases the tree has learned from, sorted by truth"),
        "5-scenarios": lambda: scenarios(result.turns),
        "6-correlation": lambda: plot.correlation(X),
        "7-frequency": lambda: _labelled(
            plot.frequency(result.paper_runs), x="runs in which it is among the first five"
        ),
        "8-tree-default": lambda: plot.tree(result.decision),
    }
    matplotlib().use("Agg")
    return tuple(save(make().get_figure(root=True), folder, f"{result.name}-{name}") for name, make in pictures.items())


def scenarios(turns: Sequence[Turn], ax: Axes | None = None) -> Axes:
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


def _labelled(ax: Axes, x: str = "", y: str = "") -> Axes:
    """Say on an axis what these figures are, where the drawing cannot know."""
    ax.set_xlabel(x or ax.get_xlabel())
    ax.set_ylabel(y or ax.get_ylabel())
    return ax
