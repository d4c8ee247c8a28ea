"""The command evaluate: accuracy, AUC, log-loss, Brier score and confusion matrix, with 95% intervals."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from baconlogic import Decision, metrics
from baconlogic.cli import _models, _options, _print, _tables
from baconlogic.core import Floats
from baconlogic.core.subject import Result, subject
from baconlogic.core.words import aligned, percent
from baconlogic.metrics import Estimate


def evaluate(
    *,
    model: _options.Model,
    data: _options.Table,
    target: _options.Target,
    label: _options.Label = None,
    form: _options.Format = None,
    missing: _options.Missing = None,
    as_json: _options.Json = False,
) -> None:
    """Say how right a model is on rows it has not seen: accuracy, AUC, log-loss, Brier score, confusion matrix."""
    found, asked = _models.read_asked(model, label)
    X, y = _models.labelled(found, _tables.read(data, form, missing), target, asked)
    right = scores(found, X, y, asked)
    _print.give(right.to_dict(), str(right), as_json)


@dataclass(frozen=True)
class ScoreTable(Result):
    """What a model gets right; of a tree alone, which says nothing of probability, some figures are None."""

    rows: int
    accuracy: Estimate
    usual: float  # the accuracy of always answering the most frequent class
    auc: Estimate | None  # area under the ROC curve; of several classes the mean over each against the rest
    log_loss: Estimate | None
    brier: Estimate | None
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
        right = [percent(row[i] / sum(row)) if sum(row) else "-" for i, row in enumerate(self.confusion)]
        table = [[names[i], *map(str, row), right[i]] for i, row in enumerate(self.confusion)]
        figures, answers = aligned([], lines, left=3), aligned(["truly \\ answered", *names, "right"], table)
        return f"{self.rows} rows; in brackets 95% intervals\n\n{figures}\n\n{answers}"


def scores(model: Any, X: Any, y: NDArray[Any], label: Any = None) -> ScoreTable:
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
    confusion = metrics.confusion_matrix(codes, chosen, k)
    # of two classes truths, as probabilities near 0 and 1 round to ties
    ranking = truths if chances is None else model.truth(X) if k == 2 else chances
    return ScoreTable(
        rows=n,
        accuracy=metrics.share(int(np.trace(confusion)), n),
        usual=float(confusion.sum(axis=1).max() / n),
        auc=None if ranking is None else _auc(ranking, codes),
        log_loss=None if chances is None else metrics.mean(metrics.log_losses(chances, codes)),
        brier=None if chances is None else metrics.mean(metrics.brier_scores(chances, codes)),
        classes=tuple(classes),
        confusion=tuple(tuple(row) for row in confusion.tolist()),
    )


def _auc(ranking: Floats, codes: NDArray[np.intp]) -> Estimate | None:
    """Return the AUC of one score, or the mean over that of each class against the rest."""
    if ranking.ndim == 1:
        return metrics.auc(ranking, codes == 1, codes != 1)
    found = [metrics.auc(ranking[:, i], codes == i, codes != i) for i in range(ranking.shape[1])]
    known = [each.value for each in found if each is not None]
    return Estimate(float(np.mean(known))) if known else None
