"""Tables, plots and plain sentences out of the scores of the suite: `python benchmarks/ranks.py` prints them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean

import numpy as np
from contenders import CONTENDERS, OURS
from parts import style
from parts.markdown import table
from problems import EXTRA, SUITE
from scipy.stats import rankdata
from suite import FOLDS, SCORES, Score, read

from baconlogic.plot import _style as colours
from experiments.validation import corrected

HELD_TO = ("EBM", "logistic")  # the two it must not be significantly below
BAR = 7  # on so many of the nine


@dataclass(frozen=True)
class Difference:
    """How much more accurate this library is than a peer on one data set, over the folds that both have."""

    data: str
    peer: str
    mean: float
    low: float
    high: float
    folds: int

    @property
    def verdict(self) -> str:
        """Return what the interval allows to say."""
        return "below" if self.high < 0.0 else "above" if self.low > 0.0 else "not told apart"


class Scores:
    """The scores of the suite, by data set, model and fold."""

    def __init__(self, scores: Iterable[Score], among: Iterable[str] = SUITE) -> None:
        self.cells: dict[tuple[str, str], dict[tuple[int, int], Score]] = {}
        for score in scores:
            self.cells.setdefault((score.data, score.model), {})[score.seed, score.fold] = score
        self.data = [name for name in among if self._whole(name, OURS)]
        self.models = [name for name in CONTENDERS if all(self._whole(data, name) for data in self.data)]

    def _whole(self, data: str, model: str) -> bool:
        """Whether all folds of the first shuffling are there: a run that was stopped leaves some out."""
        return {(0, fold) for fold in range(FOLDS)} <= set(self.cells.get((data, model), ()))

    def small(self) -> list[str]:
        """Return the models that have ten rules or features at most."""
        return [name for name in self.models if CONTENDERS[name].small]

    def shared(self, data: str, models: Sequence[str]) -> list[tuple[int, int]]:
        """Return the folds that all these models have."""
        return sorted(set.intersection(*(set(self.cells[data, model]) for model in models)))

    def mean(self, data: str, model: str, what: str, folds: Iterable[tuple[int, int]] | None = None) -> float:
        """Return the mean of a score over these folds, or all."""
        cell = self.cells[data, model]
        return fmean(getattr(cell[fold], what) for fold in (cell if folds is None else folds))

    def overall(self, model: str, what: str) -> float:
        """Return the mean over the data sets."""
        return fmean(self.mean(data, model, what) for data in self.data)

    def ranks(self, models: Sequence[str], what: str = "accuracy") -> dict[str, float]:
        """Return the mean rank of each model over the data sets, 1 for the best; equal scores share their ranks."""
        rows = []
        for data in self.data:
            folds = self.shared(data, models)
            means = [round(self.mean(data, model, what, folds), 9) for model in models]
            rows.append(rankdata([-m if what in ("accuracy", "auc") else m for m in means]))
        return dict(zip(models, np.mean(rows, axis=0).tolist(), strict=True))

    def difference(self, data: str, peer: str) -> Difference:
        """Return how much more accurate this library is, with the 95% interval of the paired folds."""
        folds = self.shared(data, [OURS, peer])
        ours, theirs = self.cells[data, OURS], self.cells[data, peer]
        gaps = [ours[fold].accuracy - theirs[fold].accuracy for fold in folds]
        return Difference(data, peer, *corrected(gaps, 1.0 / FOLDS), len(folds))


def sentences(scores: Scores) -> list[str]:
    """Say what the tables show, as they show it."""
    small = scores.small()
    ranks = scores.ranks(small)
    order = ", ".join(f"{name} {rank:.2f}" for name, rank in sorted(ranks.items(), key=lambda item: item[1]))
    place = sorted(ranks.values()).index(ranks[OURS]) + 1
    said = [
        f"Among models with at most ten rules or features, {OURS} is "
        + ("**first**" if place == 1 else f"**not first** (number {place})")
        + f" in mean accuracy rank: {order}."
    ]
    for peer in HELD_TO:
        if peer not in scores.models:
            said.append(f"{peer} was not measured.")
            continue
        gaps = [scores.difference(data, peer) for data in scores.data]
        below, above = ([g.data for g in gaps if g.verdict == v] for v in ("below", "above"))
        good = len(gaps) - len(below)
        said.append(
            f"{OURS} is not significantly below {peer} on **{good} of {len(gaps)}** data sets"
            + (f" (below on {', '.join(below)})" if below else "")
            + (f"; it is significantly above on {', '.join(above)}" if above else "; it is significantly above on none")
            + f". The goal, {BAR} of {len(gaps)}, is {'met' if good >= BAR else '**missed**'}."
        )
    return said


def models_table(scores: Scores) -> list[list[str]]:
    """Return a line a model: means over the data sets."""
    ranks, small = scores.ranks(scores.models), scores.ranks(scores.small())
    scored, read_as = ["accuracy", "AUC", "log-loss", "calibration error"], ["features", "rules"]
    lines = [["model", *scored, *read_as, "fit, s", "one row, µs", "rank", "rank among small"]]
    for name in sorted(scores.models, key=ranks.__getitem__):
        numbers = [f"{scores.overall(name, what):.4f}" for what in ("accuracy", "auc", "log_loss", "calibration")]
        sizes = [f"{scores.overall(name, what):.1f}" for what in ("features", "rules")]
        times = [f"{scores.overall(name, 'fit_seconds'):.2f}", f"{scores.overall(name, 'row_microseconds'):.0f}"]
        among = f"{small[name]:.2f}" if name in small else ""
        lines.append([f"**{name}**" if name == OURS else name, *numbers, *sizes, *times, f"{ranks[name]:.2f}", among])
    return lines


def short_table(scores: Scores) -> list[list[str]]:
    """Return the table of the README: a line a model, the best rank first."""
    ranks = scores.ranks(scores.models)
    lines = [["", "held-out accuracy", "mean rank", "log-loss", "rules to read", "a fit, s"]]
    for name in sorted(scores.models, key=ranks.__getitem__):
        accuracy, loss, rules, fit = (
            scores.overall(name, what) for what in ("accuracy", "log_loss", "rules", "fit_seconds")
        )
        told = [f"{100 * accuracy:.1f}%", f"{ranks[name]:.1f}", f"{loss:.3f}", f"{rules:,.0f}", f"{fit:.2g}"]
        lines.append([f"**{cell}**" for cell in (name, *told)] if name == OURS else [name, *told])
    return lines


def accuracy_table(scores: Scores) -> list[list[str]]:
    """Return a line a model and a column a data set; the best of a column, and what equals it, is bold."""
    lines = [["model", *scores.data]]
    means = {m: [round(scores.mean(d, m, "accuracy"), 4) for d in scores.data] for m in scores.models}
    best = [max(column) for column in zip(*means.values(), strict=True)]
    for name, row in means.items():
        lines.append([name, *(f"**{a:.4f}**" if a == b else f"{a:.4f}" for a, b in zip(row, best, strict=True))])
    return lines


def difference_table(scores: Scores) -> list[list[str]]:
    """Return a line a data set and a column a peer: the difference in points with its interval."""
    peers = [name for name in scores.models if name != OURS]
    lines = [["data", *peers]]
    for data in scores.data:
        gaps = [scores.difference(data, peer) for peer in peers]
        lines.append([data, *(_told(gap) for gap in gaps)])
    return lines


def _told(gap: Difference) -> str:
    text = f"{100 * gap.mean:+.1f} ({100 * gap.low:+.1f} to {100 * gap.high:+.1f})"
    return text if gap.verdict == "not told apart" else f"**{text}**"


def markdown(lines: Sequence[Sequence[str]]) -> str:
    """Return a table; its first line is the head."""
    return table(lines[0], lines[1:])


def settings(scores: Scores) -> str:
    """Return how each model was made, and on how many folds a data set it was measured."""
    lines = [["model", "package, as installed where this page was written", "settings", "folds a data set"]]
    for name in scores.models:
        who = CONTENDERS[name]
        folds = len(scores.cells[scores.data[0], name])
        lines.append([name, f"{who.package} {who.version() or ''}".strip(), who.about, str(folds)])
    return markdown(lines)


def section(path: Path = SCORES, images: str = "images") -> str:
    """Return the part of RESULTS.md about accuracy, as Markdown."""
    scores = Scores(read(path))
    if not scores.data:
        return "Not measured: `python benchmarks/suite.py` does it.\n"
    said = "\n".join(f"- {line}" for line in sentences(scores))
    common = len(scores.shared(scores.data[0], scores.models))
    return f"""    python benchmarks/suite.py
    python benchmarks/suite.py --extra --seeds 1

They measure what `benchmarks/results/suite.csv` lacks; without that file, everything.

{said}

Stratified 5-fold cross-validation, the same folds for all, settings as told below, none chosen for a single data set;
the defaults of {OURS} were chosen with these nine among others in view. Scores are means over the folds. A rank is
that of the mean accuracy over the folds that all ranked models share ({common} a data set over all models), averaged
over the data sets, 1 for the best; equal scores share their ranks. Models that take minutes have fewer folds (last
table), and their means are over those. Rules are what there is to read: leaves of trees (of FIGS splits, which are
fewer), rules or terms with a weight, coefficients, curves. Fit is CPU time on one core; one row is a call of
`predict_proba`.

{markdown(models_table(scores))}

![Accuracy against what there is to read]({images}/suite_size.png)

Accuracy by data set, the best in bold:

{markdown(accuracy_table(scores))}

How much more accurate {OURS} is than each peer, in percentage points, with the 95% interval of the paired folds
(corrected resampled t of Nadeau and Bengio); bold where the interval leaves out zero. With so many comparisons some
are bold by chance.

{markdown(difference_table(scores))}

![Paired differences]({images}/suite_differences.png)

{settings(scores)}

{other_data(path)}"""


def other_data(path: Path = SCORES) -> str:
    """Return the table of the other data."""
    scores = Scores(read(path), EXTRA)
    if not scores.data:
        return ""
    folds = len(scores.shared(scores.data[0], scores.models))
    return f"""On {len(scores.data)} other data sets, looked at less when defaults were chosen ({folds} folds each):

{markdown(models_table(scores))}

{", ".join(scores.data)}.
"""


def draw(folder: Path, path: Path = SCORES) -> None:
    """Draw accuracy against size, and the paired differences with their intervals."""
    scores = Scores(read(path))
    folder.mkdir(parents=True, exist_ok=True)
    _draw_size(scores, folder / "suite_size.png")
    _draw_differences(scores, folder / "suite_differences.png")


def _draw_size(scores: Scores, path: Path) -> None:
    figure, (axes,) = style.figure(1, 8.0, 5.0)
    places = {m: (scores.overall(m, "rules"), 100 * scores.overall(m, "accuracy")) for m in scores.models}
    for name, height in _apart(places).items():
        x, y = places[name]
        colour = colours.BLUE if name == OURS else colours.BLACK if CONTENDERS[name].small else colours.GREY
        axes.plot(x, y, "o", color=colour)
        axes.text(1.12 * x, height, name, va="center", fontsize=9, color=colour)
    axes.set(xscale="log", xlabel="rules to read (mean over the data sets)", ylabel="held-out accuracy, %")
    axes.margins(x=0.2)
    axes.set_title("Up and to the left is better; black and blue: ten rules or features at most", fontsize=10)
    style.save(figure, path)


def _apart(places: dict[str, tuple[float, float]], step: float = 0.3, reach: float = 6.0) -> dict[str, float]:
    """Return the height of each name, moved down where it would lie on one above it."""
    heights: dict[str, float] = {}
    for name, (x, y) in sorted(places.items(), key=lambda item: -item[1][1]):
        near = [h for other, h in heights.items() if 1 / reach < places[other][0] / x < reach]
        heights[name] = min([y, *(h - step for h in near)])
    return heights


def _draw_differences(scores: Scores, path: Path) -> None:
    peers = [name for name in (*HELD_TO, "boosting", "random forest", "tree, depth 4") if name in scores.models]
    figure, panels = style.figure(len(peers), 2.8, 4.0)
    for axes, peer in zip(panels, peers, strict=True):
        for i, data in enumerate(scores.data):
            gap = scores.difference(data, peer)
            colour = {"below": colours.VERMILLION, "above": colours.GREEN}.get(gap.verdict, colours.BLACK)
            axes.plot([100 * gap.low, 100 * gap.high], [i, i], color=colour)
            axes.plot(100 * gap.mean, i, "o", color=colour, markersize=4)
        axes.axvline(0.0, color=colours.BLACK, linewidth=0.8)
        axes.set_title(f"against {peer}", fontsize=10)
        axes.set_yticks(range(len(scores.data)), scores.data if axes is panels[0] else [])
        axes.invert_yaxis()
    figure.supxlabel(f"accuracy of {OURS} minus that of the peer, percentage points, 95% interval", fontsize=10)
    style.save(figure, path)


if __name__ == "__main__":
    print(section())
