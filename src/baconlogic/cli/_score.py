"""How right a model is on a table: accuracy, AUC, log-loss, Brier score, confusion matrix, with 95% intervals."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from baconlogic.core.decision import Decision
from baconlogic.core.results import Result
from baconlogic.core.subject import subject
from baconlogic.core.words import aligned, percent

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Ints = NDArray[np.intp]

NORMAL = 1.959963984540054  # 95% of a normal distribution lie within


@dataclass(frozen=True)
class Figure(Result):
    """A figure with its 95% interval."""

    value: float
    low: float | None
    high: float | None

    def __str__(self) -> str:
        between = "" if self.low is None or self.high is None else f" ({self.low:.4f} to {self.high:.4f})"
        return f"{self.value:.4f}{between}"


@dataclass(frozen=True)
class Scores(Result):
    """What a model gets right; of a tree alone, which says nothing of probability, some figures are None."""

    rows: int
    accuracy: Figure
    usual: float  # the accuracy of always answering the most frequent class
    auc: Figure | None  # area under the ROC curve; of several classes the mean over each against the rest
    log_loss: Figure | None
    brier: Figure | None
    classes: tuple[Any, ...]
    confusion: tuple[tuple[int, ...], ...]  # [truly][answered]

    def __str__(self) -> str:
        lines = [["accuracy", str(self.accuracy), f"of always the same answer: {self.usual:.4f}"]]
        if self.auc is not None:
            lines.append(["AUC", str(self.auc), "0.5 is chance, 1 ranks every pair rightly"])
        if self.log_loss is not None:
            lines.append(["log-loss", str(self.log_loss), "of the probabilities; 0 is best"])
        if self.brier is not None:
            lines.append(["Brier score", str(self.brier), "mean squared error of the probabilities; 0 is best"])
        names = [str(label) for label in self.classes]
        header = ["truly \\ answered", *names, "right"]
        right = [percent(row[i] / sum(row)) if sum(row) else "-" for i, row in enumerate(self.confusion)]
        table = [[names[i], *map(str, row), right[i]] for i, row in enumerate(self.confusion)]
        figures = aligned(["", "", ""], lines, left=3).lstrip("\n")
        return f"{self.rows} rows; in brackets 95% intervals\n\n{figures}\n\n{aligned(header, table)}"


def scores(model: Any, X: Any, y: NDArray[Any], label: Any = None) -> Scores:
    """Judge a Decision or a Tree by rows and their labels."""
    if isinstance(model, Decision):
        classes, truths = model.classes, None
        chosen = model.choose(X)
        chances = model.predict_proba(X) if model.trees else None
    else:
        asked = subject(model, None, label)
        classes, chances = (asked.no, asked.yes), None
        truths = asked.truths(asked.table(X))
        chosen = asked.decides(truths).astype(np.intp)
    place = {known: i for i, known in enumerate(classes)}
    codes = np.array([place[each] for each in y.tolist()], dtype=np.intp)
    n, k = len(codes), len(classes)
    confusion = np.zeros((k, k), dtype=int)
    np.add.at(confusion, (codes, chosen), 1)
    ranking = truths if chances is None else chances[:, 1] if k == 2 else chances
    if k == 2 and chances is not None and isinstance(model, Decision):
        ranking = model.truth(X)  # probabilities near 0 and 1 round to ties
    return Scores(
        rows=n,
        accuracy=share(int(np.trace(confusion)), n),
        usual=float(confusion.sum(axis=1).max() / n),
        auc=None if ranking is None else _auc(ranking, codes, k),
        log_loss=None if chances is None else _mean(-np.log(np.maximum(chances[np.arange(n), codes], 1e-15))),
        brier=None if chances is None else _brier(chances, codes),
        classes=tuple(classes),
        confusion=tuple(tuple(int(count) for count in row) for row in confusion),
    )


def share(hits: int, n: int) -> Figure:
    """Return a share with its exact interval."""
    from scipy.stats import binomtest

    between = binomtest(hits, n).proportion_ci(method="exact")
    return Figure(hits / n, float(between.low), float(between.high))


def _mean(values: Floats) -> Figure:
    mean = float(values.mean())
    if len(values) < 2:
        return Figure(mean, None, None)
    error = NORMAL * float(values.std(ddof=1)) / float(np.sqrt(len(values)))
    return Figure(mean, max(mean - error, 0.0), mean + error)


def _brier(chances: Floats, codes: Ints) -> Figure:
    """Return the mean squared error: of two classes that of the second, of more the sum over classes."""
    wanted = np.zeros_like(chances)
    wanted[np.arange(len(codes)), codes] = 1.0
    errors = (chances - wanted) ** 2
    return _mean(errors[:, 1] if chances.shape[1] == 2 else errors.sum(axis=1))


def _auc(ranking: Floats, codes: Ints, k: int) -> Figure | None:
    if k == 2:
        return _two_auc(ranking, codes == 1)
    found = [_two_auc(ranking[:, i], codes == i) for i in range(k)]
    known = [each.value for each in found if each is not None]
    return Figure(float(np.mean(known)), None, None) if known else None


def _two_auc(truths: Floats, positive: NDArray[np.bool_]) -> Figure | None:
    """Return the area under the ROC curve with the interval of DeLong; None where only one class is there.

    Where every pair is ranked rightly that interval has no width; the smaller class then says how sure it is.
    """
    from scipy.stats import rankdata

    m, n = int(positive.sum()), int((~positive).sum())
    if not m or not n:
        return None
    ranks = rankdata(truths)
    above = (ranks[positive] - rankdata(truths[positive])) / n
    below = 1.0 - (ranks[~positive] - rankdata(truths[~positive])) / m
    area = float(above.mean())
    variance = (above.var(ddof=1) / m if m > 1 else 0.25) + (below.var(ddof=1) / n if n > 1 else 0.25)
    if area in (0.0, 1.0):
        few = share(round(area * min(m, n)), min(m, n))
        return Figure(area, few.low, few.high)
    error = NORMAL * float(np.sqrt(variance))
    return Figure(area, max(area - error, 0.0), min(area + error, 1.0))
