"""What all drawings share: matplotlib, brought in when one is drawn; colours; text and its measures.

The colours are those of Okabe and Ito, which people with any kind of colour vision tell apart. Nothing is said by
colour alone: lines differ in dashes, points in shape, bars in hatches.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from baconlogic.core.words import one_line

if TYPE_CHECKING:
    from matplotlib.axes import Axes

BLACK, ORANGE, SKY, GREEN = "#000000", "#E69F00", "#56B4E9", "#009E73"
BLUE, VERMILLION, PURPLE, GREY = "#0072B2", "#D55E00", "#CC79A7", "#595959"
PALE = "#D9D9D9"

TEXT, SMALL = 9.0, 8.0  # points; nothing is smaller at its own size
LONGEST_NAME = 40  # characters


def matplotlib(module: str = "") -> Any:
    """Return matplotlib, or a module of it; nothing else in the package imports it."""
    try:
        return import_module(f"matplotlib.{module}" if module else "matplotlib")
    except ModuleNotFoundError as problem:
        if (problem.name or "").split(".")[0] != "matplotlib":
            raise
        raise ModuleNotFoundError("drawing needs matplotlib: pip install 'baconlogic[plot]'") from None


def axes_of(ax: Axes | None, size: tuple[float, float], **options: Any) -> Axes:
    """Return the axes given, or those of a new figure of this size in inches."""
    pyplot = matplotlib("pyplot")
    return ax if ax is not None else pyplot.subplots(figsize=size, **{"layout": "constrained", **options})[1]


def panels(axes: Any, count: int, across: int, size: tuple[float, float]) -> NDArray[Any]:
    """Return `count` axes, those given or of a new figure with `across` of this size in a row."""
    if axes is not None:
        given: NDArray[Any] = np.atleast_1d(np.asarray(axes, dtype=object)).ravel()
        if len(given) < count:
            raise ValueError(f"there are {count} panels to draw, got {len(given)} axes; give as many, or none")
        return given[:count]
    if not count:
        raise ValueError("there is no panel to draw")
    across = min(across, count)
    down = -(-count // across)
    whole = size[0] * across, size[1] * down
    grid = matplotlib("pyplot").subplots(down, across, figsize=whole, layout="constrained", squeeze=False)[1]
    made: NDArray[Any] = grid.ravel()
    for unused in made[count:]:
        unused.remove()
    return made[:count]


def inches_of(ax: Axes) -> tuple[float, float]:
    """Return the width and height of axes in inches."""
    figure: Any = ax.get_figure(root=True)
    box = ax.get_position()
    return box.width * figure.get_size_inches()[0], box.height * figure.get_size_inches()[1]


def tidy(ax: Axes) -> None:
    """Take away what carries nothing."""
    ax.spines[["top", "right"]].set_visible(False)
    ax.tick_params(labelsize=TEXT)


@cache
def _measure(text: str, size: float, bold: bool, family: str) -> float:
    font = matplotlib("font_manager").FontProperties(family=[family], size=size, weight="bold" if bold else "normal")
    width = matplotlib("textpath").text_to_path.get_text_width_height_descent(text, font, ismath=False)[0]
    return float(width) / 72.0 * 1.06  # renderers round each letter to whole pixels


def width_of(text: str, size: float = TEXT, *, bold: bool = False) -> float:
    """Return the width of a line of text in inches."""
    return _measure(text, size, bold, matplotlib().rcParams["font.family"][0]) if text else 0.0


def height_of(size: float = TEXT) -> float:
    """Return the height that a line of text takes, in inches."""
    return size * 1.25 / 72.0


def shortened(text: Any, longest: int = LONGEST_NAME) -> str:
    """Return a name on one line, its middle left out where it is too long: names tend to differ at their ends."""
    line = one_line(str(text))
    if len(line) <= longest:
        return line
    end = (longest - 1) // 3
    return f"{line[: longest - 1 - end].rstrip()}…{line[-end:].lstrip()}"


def apart(value: float, other: float) -> tuple[str, str]:
    """Write two numbers with two decimals, or as many as keep them apart."""
    for decimals in range(2, 17):
        said = f"{value:.{decimals}f}", f"{other:.{decimals}f}"
        if said[0] != said[1]:
            return said
    return f"{value:.2f}", f"{other:.2f}"


def near(threshold: float) -> float:
    """Return a threshold, or the edge of a drawing where it is far outside: no scale is stretched for it."""
    return min(max(threshold, -0.1), 1.1)


def never_crossed(threshold: float) -> str:
    """Say what a threshold outside [0, 1] means."""
    return " (always yes)" if threshold < 0.0 else " (never yes)" if threshold >= 1.0 else ""


def answer(label: Any) -> str:
    """Say a class as an answer."""
    if isinstance(label, bool):
        return "yes" if label else "no"
    return shortened(label, 24) if isinstance(label, str) else f"class {shortened(label, 24)}"


def legend_above(ax: Axes, **options: Any) -> None:
    """Add a legend on top of the axes, where it hides nothing."""
    made = ax.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=3, frameon=False, fontsize=SMALL, **options)
    for text in made.get_texts():
        text.set_parse_math(False)  # a class may be called "$"


def label_axes(ax: Axes, x: str, y: str) -> None:
    """Name both axes, and take away what carries nothing."""
    ax.set_xlabel(x, fontsize=TEXT)
    ax.set_ylabel(y, fontsize=TEXT)
    tidy(ax)


def note(ax: Axes, text: str, at: tuple[float, float], offset: tuple[float, float], **look: Any) -> None:
    """Write a few words beside a point, so many points of type away from it."""
    ax.annotate(text, at, xytext=offset, textcoords="offset points", fontsize=SMALL, parse_math=False, **look)


def category_labels(names: Sequence[Any], longest: int = LONGEST_NAME) -> list[str]:
    """Return names for ticks: on one line, and with $ as it is (matplotlib would read mathematics)."""
    return [shortened(name, longest).replace("$", r"\$") for name in names]
