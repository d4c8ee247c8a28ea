"""How well a tree does: as it is pruned, over thresholds, in each scenario, and by its size."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from baconlogic import metrics
from baconlogic.core import Bools, Floats
from baconlogic.core.subject import subject
from baconlogic.learn.path import Path
from baconlogic.metrics import Confusion
from baconlogic.plot import _style as style
from baconlogic.plot._style import BLACK, BLUE, GREEN, GREY, SMALL, TEXT, VERMILLION

if TYPE_CHECKING:
    from matplotlib.axes import Axes

UNKNOWN = {"precision": "no case is decided yes", "recall": "no case is actually yes"}
SCORES = {"precision": (BLUE, "-", "o"), "recall": (VERMILLION, "--", "s"), "accuracy": (BLACK, ":", "^")}
COSTS = 0.005  # a loss of accuracy worth a name
ORDERS = {
    "bottom": ("from the bottom of the tree", BLUE, "-", "o", "top"),
    "best": ("what costs least first", VERMILLION, "--", "s", "bottom"),
}  # words, colour, dashes, marker, and the side of the point that its name hangs on


def pruning_curve(curve: Any, ax: Axes | None = None) -> Axes:
    """Draw accuracy against the leaves left, and name each feature whose removal cost more than 0.005."""
    ax = style.axes_of(ax, (6.4, 4.2))
    rows = list(curve.rows)
    if not rows:
        raise ValueError("the pruning curve has no rows; there is nothing to draw")
    named = []
    for order in dict.fromkeys(row.order for row in rows):
        words, colour, dashes, marker, side = ORDERS.get(order, (str(order), GREEN, ":", "^", "top"))
        own = sorted((row for row in rows if row.order == order), key=lambda row: -row.leaves)
        x, y = [row.leaves for row in own], [row.accuracy for row in own]
        face = colour if marker == "o" else "white"
        ax.plot(x, y, dashes, color=colour, marker=marker, markersize=4.5, markerfacecolor=face, label=words)
        costly = [row for before, row in pairwise(own) if before.accuracy - row.accuracy > COSTS and row.removed]
        named += [((row.leaves, row.accuracy), style.shortened(row.removed, 24), side) for row in costly]
    sizes = [row.leaves for row in rows]
    ax.set_xlim(max(sizes) + 0.7, min(sizes) - 0.7)
    ax.xaxis.set_major_locator(style.matplotlib("ticker").MaxNLocator(integer=True))
    _name_points(ax, named, [row.accuracy for row in rows])
    style.label_axes(ax, "leaves left", "accuracy")
    style.legend_above(ax)
    return ax


def _name_points(ax: Axes, named: list[tuple[tuple[float, float], str, str]], accuracy: list[float]) -> None:
    """Write names upright, above or below their points, and make room for them."""
    inches = style.inches_of(ax)[1]
    low = bottom = min(accuracy)
    high = top = max(accuracy)
    for _ in range(20):  # a name of fixed length reaches farther on a longer scale
        unit = max(top - bottom, 0.01) * 1.1 / inches
        reach = [(y, (style.width_of(text, SMALL) + 0.12) * unit, side) for (_, y), text, side in named]
        bottom = max(min([low, *(y - length for y, length, side in reach if side == "top")]), low - 2.0)
        top = min(max([high, *(y + length for y, length, side in reach if side == "bottom")]), high + 2.0)
    margin = 0.05 * max(top - bottom, 0.01)
    ax.set_ylim(bottom - margin, top + margin)
    ax.spines["left"].set_bounds(bottom - margin, min(1.0, top + margin))
    ax.set_yticks([tick for tick in ax.get_yticks() if bottom - margin <= tick <= min(1.0, top + margin) + 1e-9])
    for point, text, side in named:  # aside of the point, where the falling curve is not
        style.note(ax, text, point, (-5, -5) if side == "top" else (5, 5), va=side, ha="center", rotation=90)


def precision_recall(
    model: Any, X: Any, y: Any, ax: Axes | None = None, *, threshold: float | None = None, label: Any = None
) -> Axes:
    """Draw precision, recall and accuracy against the threshold on truth; the decision's own threshold is marked."""
    asked = subject(model, threshold, label)
    truths, positive = asked.judged(X, y)
    ax = style.axes_of(ax, (6.4, 4.0))
    at = np.unique(np.concatenate([[0.0, 1.0], truths]))
    scores, own = _scores(truths, positive, at), _scores(truths, positive, np.array([asked.threshold]))
    line = style.near(asked.threshold)
    for name, (colour, dashes, marker) in SCORES.items():
        value = own[name][0]
        said = f"{name} ({UNKNOWN[name] if math.isnan(value) else f'{value:.3f}'})"
        ax.step(at, scores[name], dashes, where="post", color=colour, linewidth=1.8)
        ax.plot([], [], dashes, color=colour, marker=marker, linewidth=1.8, markersize=6, label=said)
        ax.plot(line, value, marker, color=colour, markersize=6, markeredgecolor="white", zorder=4)
    ax.axvline(line, color=GREY, linewidth=1.0, dashes=(6, 3))
    said = f"decides at {asked.threshold:.2f}{style.never_crossed(asked.threshold)}"
    left = line > 0.8  # the room is there
    style.note(ax, said, (line, 0.02), (-4 if left else 4, 0), ha="right" if left else "left")
    ax.set_xlim(min(-0.02, line - 0.02), max(1.02, line + 0.02))
    ax.set_ylim(-0.02, 1.03)
    style.label_axes(ax, "threshold on truth", "share of cases")
    style.legend_above(ax)
    return ax


def _scores(truths: Floats, positive: Bools, thresholds: Floats) -> dict[str, Floats]:
    """Return the scores of deciding yes above each threshold; precision is unknown where nothing is."""
    marks, counts = metrics.at_every_cut(truths, positive, ~positive)
    at = Confusion(*(each[np.searchsorted(marks, thresholds, side="right")] for each in counts))
    with np.errstate(invalid="ignore", divide="ignore"):
        return {name: k / n for name, (k, n) in at.shares.items()}


def scenarios(table: Any, ax: Axes | None = None) -> Axes:
    """Draw accuracy, precision and recall of each scenario, with their intervals."""
    rows = list(table.rows)
    if not rows:
        raise ValueError("the table has no scenario; there is nothing to draw")
    ax = style.axes_of(ax, (6.4, 1.1 + 0.75 * len(rows)))
    place = np.arange(len(rows), dtype=float)
    for i, name in enumerate(("accuracy", "precision", "recall")):
        colour, _, marker = SCORES[name]
        y = place + 0.22 * (i - 1)
        value = np.array([getattr(row, name) for row in rows], dtype=float)
        low, high = (np.array([getattr(row, f"{name}_{end}") for row in rows], dtype=float) for end in ("low", "high"))
        ax.hlines(y, low, high, color=colour, linewidth=1.4)
        face = "white" if marker == "s" else colour
        ax.plot(value, y, marker, color=colour, markerfacecolor=face, markersize=6, label=name)
        for x, at, end in zip(value, y, np.fmax(high, value), strict=True):
            if np.isfinite(x):
                style.note(ax, f"{x:.2f}", (end, at), (5, 0), va="center")
    names = style.category_labels([row.scenario for row in rows])
    ax.set_yticks(place, [f"{name}\ntruth > {row.threshold:.2f}" for name, row in zip(names, rows, strict=True)])
    ax.set_ylim(len(rows) - 0.5, -0.5)
    for at in place[1:]:
        ax.axhline(at - 0.5, color="#D9D9D9", linewidth=0.8)
    style.label_axes(ax, "share of cases, with interval", "")
    ax.tick_params(axis="y", length=0, labelsize=TEXT)
    ax.margins(x=0.08)
    ax.xaxis.set_major_locator(style.matplotlib("ticker").MaxNLocator(nbins=6))
    style.legend_above(ax)
    return ax


def path(model: Any, ax: Axes | None = None, *, label: Any = None) -> Axes:
    """Draw held-out log-loss (with its standard error) and accuracy against leaves; the chosen size is marked.

    Takes a fitted classifier, or a `path_` of one.
    """
    entries, chosen = _entries(model, label)
    entries = [entry for entry in Path(entries).sizes() if not math.isnan(entry.loss)]
    if not entries:
        raise ValueError("no size was scored on rows held out, so there is nothing to draw")
    ax = style.axes_of(ax, (6.4, 4.0))
    leaves = [entry.leaves for entry in entries]
    loss = ax.errorbar(
        leaves, [entry.loss for entry in entries], [entry.error for entry in entries], color=BLUE, marker="o",
        markersize=5, capsize=3, linewidth=1.8, label="log-loss, ± standard error",
    )  # fmt: skip
    right = ax.twinx()
    look: dict[str, Any] = {"color": VERMILLION, "marker": "s", "markerfacecolor": "white", "markersize": 5}
    (accuracy,) = right.plot(leaves, [entry.accuracy for entry in entries], "--", label="accuracy", **look)
    handles: list[Any] = [loss, accuracy]
    if chosen is not None:
        said = f"chosen: {chosen} {'leaf' if chosen == 1 else 'leaves'}"
        handles.append(ax.axvline(chosen, color=GREY, linewidth=1.0, dashes=(6, 3), label=said))
    ax.xaxis.set_major_locator(style.matplotlib("ticker").MaxNLocator(integer=True))
    ax.set_xlabel("leaves", fontsize=TEXT)
    ax.set_ylabel("log-loss on rows held out (solid)", fontsize=TEXT)
    right.set_ylabel("accuracy on rows held out (dashed)", fontsize=TEXT)
    for each in (ax, right):
        each.spines["top"].set_visible(False)
        each.tick_params(labelsize=TEXT)
    style.legend_above(ax, handles=handles)
    return ax


def _entries(model: Any, label: Any) -> tuple[list[Any], int | None]:
    """Return the entries of a path, and the size chosen where it is known."""
    if not hasattr(model, "path_"):
        return list(model), None
    path, history = model.path_, model.history_
    if isinstance(history, tuple):
        if not history:
            raise ValueError("there is one class only, so nothing was learned and there is nothing to draw")
        known = [each.label for each in history]
        if label not in known:
            raise ValueError(f"there is a path for each class; give label=, one of {', '.join(map(repr, known))}")
        path, history = path[known.index(label)], history[known.index(label)]
    return list(path), history.leaves
