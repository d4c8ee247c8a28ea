"""The command evaluate: how right a model is on rows that it has not seen."""

from __future__ import annotations

from baconlogic.cli import _models, _options, _print, _tables


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
    from baconlogic.cli import _score

    found, asked = _models.read_asked(model, label)
    X, y = _models.labelled(found, _tables.read(data, form, missing), target, asked)
    scores = _score.scores(found, X, y, asked)
    _print.give(scores.to_dict(), str(scores), as_json)
