"""The command compare: where two models differ."""

from __future__ import annotations

from baconlogic.cli import _models as models
from baconlogic.cli import _options as options
from baconlogic.cli import _print as printing
from baconlogic.cli import _tables as tables
from baconlogic.cli._run import MisusedError


def compare(
    *,
    first: options.Model,
    second: options.Model,
    data: options.MaybeTable = None,
    target: options.MaybeTarget = None,
    label: options.Label = None,
    form: options.Format = None,
    missing: options.Missing = None,
    as_json: options.Json = False,
) -> None:
    """Say where two models differ: in what they are made of and, given rows, in what they decide."""
    from baconlogic import explain
    from baconlogic.cli import _score as scoring

    if target is not None and data is None:
        raise MisusedError("--target needs the table that it is a column of")
    one, asked = models.read_asked(first, label, needed=True)
    both = one, models.read(second)
    frame = None if data is None else tables.read(data, form, missing)
    if frame is not None and target is not None:
        tables.require(frame, target, "--target")
    result = explain.compare(*both, frame, label=asked)
    said, text = result.to_dict(), str(result)
    if frame is not None and target is not None:
        right = [scoring.scores(each, *models.labelled(each, frame, target, asked), asked).accuracy for each in both]
        said["accuracy"] = [each.to_dict() for each in right]
        text += f"\nAccuracy of the first {right[0]}, of the second {right[1]}; in brackets 95% intervals."
    printing.give(said, text, as_json)
