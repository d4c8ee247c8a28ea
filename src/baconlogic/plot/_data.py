"""Data through trees: truths of cases, correlations of columns, how often features are used."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from baconlogic.core import Floats
from baconlogic.core.columns import Columns
from baconlogic.core.subject import subject
from baconlogic.plot import _style as style
from baconlogic.plot._style import BLACK, BLUE, GREY, SKY, SMALL, TEXT, VERMILLION

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_VALUES = 12  # columns up to which correlations are printed


def truths(
    model: Any, X: Any, y: Any, ax: Axes | None = None, *, threshold: float | None = None, label: Any = None
) -> Axes:
    """Draw the truth of every case, lowest first, with its actual class; wrong decisions are marked."""
    asked = subject(model, threshold, label)
    found, positive = asked.judged(X, y)
    ax = style.axes_of(ax, (7.0, 4.0))
    order = np.argsort(found, kind="stable")
    found, positive = found[order], positive[order]
    place = np.arange(1, len(found) + 1)
    wrong = asked.decides(found) != positive
    yes, no = style.answer(asked.yes), style.answer(asked.no)
    kinds = [
        (~positive, "o", BLUE, "none", f"actually {no}: {np.sum(~positive)}"),
        (positive, "^", VERMILLION, VERMILLION, f"actually {yes}: {np.sum(positive)}"),
    ]
    for members, marker, edge, face, said in kinds:
        look: dict[str, Any] = {"markeredgecolor": edge, "markerfacecolor": face, "markeredgewidth": 0.8}
        ax.plot(place[members], found[members], marker, markersize=4.5, label=said, **look)
    crosses = [
        (wrong & ~positive, "x", f"wrongly {yes}: {np.sum(wrong & ~positive)}"),
        (wrong & positive, "+", f"wrongly {no}: {np.sum(wrong & positive)}"),
    ]
    for members, marker, said in crosses:
        ax.plot(place[members], found[members], marker, color=BLACK, markersize=9, markeredgewidth=1.2, label=said)
    said = f"threshold {asked.threshold:.2f}{style.never_crossed(asked.threshold)}"
    ax.axhline(style.near(asked.threshold), color=GREY, linewidth=1.0, dashes=(6, 3), label=said)
    _strips(ax, positive, (no, yes), style.near(asked.threshold))
    style.label_axes(ax, "cases, sorted by truth", "degree of truth")
    style.legend_above(ax)
    return ax


def _strips(ax: Axes, positive: Any, names: tuple[str, str], threshold: float) -> None:
    """Draw the cases of each class as ticks below and above: they stay apart where points crowd."""
    no, yes = names
    place = np.arange(1, len(positive) + 1)
    low, high = min(-0.03, threshold - 0.03), max(1.03, threshold + 0.03)
    for members, y_from, edge, said in ((~positive, low - 0.05, BLUE, no), (positive, high, VERMILLION, yes)):
        ax.vlines(place[members], y_from, y_from + 0.05, color=edge, linewidth=0.6)
        style.note(ax, said, (place[-1], y_from + 0.025), (5, 0), va="center")
    ax.set_ylim(low - 0.07, high + 0.07)
    ax.set_yticks([0.0, 0.2, 0.4, 0.6, 0.8, 1.0])


def correlation(X: Any, ax: Axes | None = None, columns: Sequence[str] | None = None) -> Axes:
    """Draw the correlations of the numeric columns, similar ones side by side.

    Up to 12 columns, the numbers are printed; of more, negative ones have a minus. `columns` chooses
    columns of a table, or names those of an array. Missing values are left out pair by pair.
    """
    names, values, left_out = _numeric(X, columns)
    if len(names) < 2:
        raise ValueError(f"correlations need two or more numeric columns that vary, got {len(names)}")
    found = _correlations(values)
    order = _by_similarity(found)
    found, names = found[np.ix_(order, order)], style.category_labels([names[i] for i in order], 32)
    count = len(names)
    side = 2.2 + max(0.19 * count, 0.42 * min(count, MOST_VALUES))
    ax = style.axes_of(ax, (side + 0.8, side))
    picture = ax.imshow(found, cmap="RdBu_r", vmin=-1.0, vmax=1.0, interpolation="nearest")
    ax.set_xticks(range(count), names, rotation=90, fontsize=SMALL)
    ax.set_yticks(range(count), names, fontsize=SMALL)
    ax.tick_params(length=0)
    ax.spines[:].set_visible(False)
    for i, j in np.ndindex(found.shape):
        text = _said(float(found[i, j]), whole=count <= MOST_VALUES)
        if text:
            colour = "white" if abs(found[i, j]) > 0.6 else BLACK
            ax.text(j, i, text, ha="center", va="center", fontsize=SMALL, color=colour)
    figure: Any = ax.get_figure(root=True)
    bar = figure.colorbar(picture, ax=ax, shrink=0.8, ticks=[-1, -0.5, 0, 0.5, 1])
    bar.ax.set_yticklabels(["−1 (opposite)", "−0.5", "0", "0.5", "1 (alike)"], fontsize=SMALL)  # noqa: RUF001
    bar.outline.set_visible(False)
    if left_out:
        ax.set_xlabel(f"left out, not numbers or constant: {left_out}", fontsize=TEXT)
    return ax


def _said(value: float, *, whole: bool) -> str:
    """Write a correlation, or only that it is negative: in print, red and blue are one grey."""
    if whole and not np.isnan(value):
        return f"{round(value, 2) + 0.0:.2f}".replace("-", "−")  # noqa: RUF001
    return "−" if value < -0.05 else ""  # noqa: RUF001


def _numeric(X: Any, columns: Sequence[str] | None) -> tuple[list[str], Floats, int]:
    """Return the names and values (rows, columns) of the numeric columns that vary, and how many others there are."""
    table = Columns(X, columns) if isinstance(X, np.ndarray) else Columns(X)
    chosen = table.names if columns is None else list(columns)
    table.require(chosen)
    names, values = [], []
    for name in chosen:
        with suppress(ValueError):
            column = table.numbers(name)
            known = column[np.isfinite(column)]
            if len(known) and known.min() < known.max():
                names.append(str(name))
                values.append(np.where(np.isfinite(column), column, np.nan))
    return names, np.column_stack(values) if values else np.empty((table.rows, 0)), len(chosen) - len(names)


def _correlations(values: Floats) -> Floats:
    """Return the correlation matrix, each pair over the rows that have both; NaN where it is not known."""
    known = ~np.isnan(values)
    with np.errstate(invalid="ignore"):
        values = values / np.nanmax(np.abs(values), axis=0)  # squares of very large or small numbers are not finite
    if known.all():
        return np.atleast_2d(np.corrcoef(values, rowvar=False))
    found = np.eye(values.shape[1])
    for j, i in combinations(range(len(found)), 2):
        both = known[:, i] & known[:, j]
        a, b = values[both, i], values[both, j]
        varies = both.any() and np.ptp(a) > 0.0 and np.ptp(b) > 0.0
        found[i, j] = found[j, i] = np.corrcoef(a, b)[0, 1] if varies else np.nan
    return found


def _by_similarity(found: Floats) -> list[int]:
    """Return an order in which similar columns are neighbours."""
    if len(found) < 3:
        return list(range(len(found)))
    from scipy.cluster.hierarchy import leaves_list, linkage, optimal_leaf_ordering
    from scipy.spatial.distance import squareform

    distance = np.clip(1.0 - np.nan_to_num(found), 0.0, 2.0)
    np.fill_diagonal(distance, 0.0)
    pairs = squareform((distance + distance.T) / 2.0)
    return [int(i) for i in leaves_list(optimal_leaf_ordering(linkage(pairs, "average"), pairs))]


def frequency(alternatives: Any, ax: Axes | None = None) -> Axes:
    """Draw in how many of the alternative trees each feature is used, the most used at the top."""
    pairs = sorted(alternatives.frequency, key=lambda pair: -pair[1])
    total = len(alternatives.rows)
    if not pairs:
        raise ValueError("the alternatives use no feature; there is nothing to draw")
    ax = style.axes_of(ax, (6.0, 0.9 + 0.26 * len(pairs)))
    place = np.arange(len(pairs))
    counts = [count for _, count in pairs]
    ax.barh(place, counts, 0.66, color=SKY, edgecolor=BLUE, linewidth=0.8)
    for at, count in enumerate(counts):
        style.note(ax, f"in {count} of {total}", (count, at), (4, 0), va="center")
    ax.set_yticks(place, style.category_labels([feature for feature, _ in pairs]))
    ax.set_xlim(0, max(total, *counts) * 1.2)
    ax.set_ylim(len(pairs) - 0.4, -0.6)
    ax.xaxis.set_major_locator(style.matplotlib("ticker").MaxNLocator(integer=True, nbins=6))
    style.label_axes(ax, "alternative trees that use it", "")
    ax.tick_params(axis="y", length=0)
    return ax
