"""The command compare: where two models differ."""

from __future__ import annotations

from baconlogic.cli import _models, _options, _print, _tables
from baconlogic.cli._evaluate import scores
from baconlogic.cli._run import MisusedError


def compare(
    *,
    first: _options.Model,
    second: _options.Model,
    data: _options.MaybeTable = None,
    target: _options.MaybeTarget = None,
    label: _options.Label = None,
    form: _options.Format = None,
    missing: _options.Missing = None,
    as_json: _options.Json = False,
) -> None:
    """Say where two models differ: in what they are made of and, given rows, in what they decide."""
    from baconlogic import explain

    if target is not None and data is None:
        raise MisusedError("--target needs the table that it is a column of")
    one, asked = _models.read_asked(first, label, needed=True)
    both = one, _models.read(second)
    frame = None if data is None else _tables.read(data, form, missing)
    if frame is not None and target is not None:
        _tables.require(frame, "--target", target)
    result = explain.compare(*both, frame, label=asked)
    said, text = result.to_dict(), str(result)
    if frame is not None and target is not None:
        right = [scores(each, *_models.labelled(each, frame, target, asked), asked).accuracy for each in both]
        said["accuracy"] = [each.to_dict() for each in right]
        text += f"\nAccuracy of the first {right[0]}, of the second {right[1]}; in brackets 95% intervals."
    _print.give(said, text, as_json)
