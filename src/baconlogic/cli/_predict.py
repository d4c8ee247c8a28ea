"""The command predict: the class of each row, the probability of each class, the degree of truth."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from typer import Option

from baconlogic import Decision, Tree
from baconlogic.cli import _models, _options, _overwrite, _print, _tables

if TYPE_CHECKING:
    from polars import DataFrame


def predict(
    *,
    model: _options.Model,
    data: _options.Table,
    output: Annotated[
        Path | None, Option("--output", "-o", help="Write .csv, .tsv, .parquet or .jsonl instead of printing.")
    ] = None,
    keep: Annotated[bool, Option("--keep", help="Keep the columns of the table in front.")] = False,
    lines: Annotated[bool, Option("--jsonl", help="Print JSON lines, one object a row.")] = False,
    force: _options.Force = False,
    form: _options.Format = None,
    missing: _options.Missing = None,
    as_json: _options.Json = False,
) -> None:
    """Say the class of each row, the probability of each class, and the degree of truth."""
    if output is not None:
        _tables.check_written(output)
        _overwrite.check(output, "predictions", model, data, force=force)
    found = _models.read(model)
    frame = _tables.read(data, form, missing)
    told = _tables.polars().DataFrame(_answers(found, frame))
    if keep:
        told = _tables.joined(frame, told)
    if output is not None:
        _tables.write(told, output)
        _print.give({"rows": told.height, "file": str(output)}, f"{told.height} rows are in {output}", as_json)
    elif as_json:
        _print.document({"rows": told.to_dicts()})
    else:
        for piece in _tables.pieces(told, lines):
            _print.data(piece)


def _answers(model: Tree | Decision, frame: DataFrame) -> dict[str, Any]:
    """Return the columns prediction, probability_CLASS, truth (truth_CLASS where there are several trees)."""
    if not isinstance(model, Decision):
        truths = model.evaluate(frame)
        return {"prediction": truths > 0.5, "truth": truths}
    kinds = {type(label) for label in model.classes}
    names = list(model.classes) if len(kinds) == 1 else [str(label) for label in model.classes]
    chances = model.predict_proba(frame)
    columns: dict[str, Any] = {"prediction": _tables.polars().Series(names).gather(model.choose(frame))}
    columns |= {f"probability_{label}": chances[:, i] for i, label in enumerate(model.classes)}
    if model.trees:
        truths = model.truth(frame)
        each = {f"truth_{label}": truths[:, i] for i, label in enumerate(model.classes)} if truths.ndim > 1 else {}
        columns |= each or {"truth": truths}
    return columns
