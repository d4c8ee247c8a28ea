"""The command evaluate: how right a model is on rows that it has not seen."""

from __future__ import annotations

from baconlogic.cli import _models as models
from baconlogic.cli import _options as options
from baconlogic.cli import _print as printing
from baconlogic.cli import _tables as tables


def evaluate(
    *,
    model: options.Model,
    data: options.Table,
    target: options.Target,
    label: options.Label = None,
    form: options.Format = None,
    missing: options.Missing = None,
    as_json: options.Json = False,
) -> None:
    """Say how right a model is on rows it has not seen: accuracy, AUC, log-loss, Brier score, confusion matrix."""
    from baconlogic.cli import _score as scoring

    found, asked = models.read_asked(model, label)
    X, y = models.labelled(found, tables.read(data, form, missing), target, asked)
    scores = scoring.scores(found, X, y, asked)
    printing.give(scores.to_dict(), str(scores), as_json)
