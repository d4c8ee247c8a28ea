"""How the pictures look: the colours of the library, a marker and a dash for each model."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from baconlogic.plot import _style as style

LOOKS = {
    "baconlogic": (style.BLUE, "o", "-"),
    "baconlogic, Sinkhorn": (style.SKY, "s", "--"),
    "baconlogic, 7 leaves": (style.SKY, "s", "--"),
    "tree": (style.GREEN, "^", "-."),
    "boosting": (style.VERMILLION, "D", "--"),
    "logistic": (style.ORANGE, "v", ":"),
    "EBM": (style.PURPLE, "P", "-."),
    "bacon-net": (style.GREY, "X", ":"),
}
OTHER = (style.BLACK, ".", "-")


def line(ax: Any, who: str, x: list[float], y: list[float]) -> None:
    """Draw one model's curve."""
    colour, marker, dash = LOOKS.get(who, OTHER)
    ax.plot(x, y, color=colour, marker=marker, linestyle=dash, label=who, markersize=6, linewidth=1.2, fillstyle="none")


def figure(panels: int, width: float = 3.6, height: float = 3.2) -> tuple[Any, list[Any]]:
    """Return a figure with so many panels side by side."""
    matplotlib = style.matplotlib()
    matplotlib.use("Agg")
    made, axes = style.matplotlib("pyplot").subplots(
        1, panels, figsize=(width * panels, height), layout="constrained", squeeze=False
    )
    for ax in axes[0]:
        style.tidy(ax)
        ax.grid(visible=True, color=style.PALE, linewidth=0.5)
        ax.set_axisbelow(True)
    return made, list(axes[0])


def legend(made: Any, axes: list[Any]) -> None:
    """Put one legend under the panels, each model once."""
    found: dict[str, Any] = {}
    for ax in axes:
        handles, labels = ax.get_legend_handles_labels()
        found.update(zip(labels, handles, strict=True))
    made.legend(
        found.values(), found.keys(), loc="outside lower center", ncols=min(len(found), 5), frameon=False, fontsize=8
    )


def save(made: Any, path: Path) -> None:
    """Write a picture and forget the figure."""
    path.parent.mkdir(parents=True, exist_ok=True)
    made.savefig(path, dpi=110, metadata={"Software": None})
    style.matplotlib("pyplot").close(made)
