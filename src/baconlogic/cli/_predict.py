"""The command predict: the class of each row, the probability of each class, the degree of truth."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from typer import Option

from baconlogic import Decision, Tree
from baconlogic.cli import _models, _options, _overwrite, _print, _tables
from baconlogic.cli._run import MisusedError, RefusedError
from baconlogic.core.files import write_whole

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
        if output.suffix.lower() not in _tables.FORMATS:
            raise MisusedError(f"{output}: a table is written as .csv, .tsv, .parquet or .jsonl")
        _overwrite.check(output, "predictions", model, data, force=force)
    found = _models.read(model)
    frame = _tables.read(data, form, missing)
    told = _tables.polars().DataFrame(_answers(found, frame))
    if keep:
        both = [name for name in told.columns if name in frame.columns]
        if both:
            raise RefusedError(f"the table has a column {both[0]!r} already; rename it, or leave out --keep")
        told = frame.hstack(told)
    if output is not None:
        write_whole(_tables.as_bytes(told, output), output)
        _print.give({"rows": told.height, "file": str(output)}, f"{told.height} rows are in {output}", as_json)
    elif as_json:
        _print.document({"rows": told.to_dicts()})
    else:
        for start in range(0, told.height, 50_000):
            piece = told.slice(start, 50_000)
            _print.data(piece.write_ndjson() if lines else piece.write_csv(include_header=start == 0))


def _answers(model: Tree | Decision, frame: DataFrame) -> dict[str, Any]:
    """Return the columns prediction, probability_CLASS, truth (truth_CLASS where there are several trees)."""
    if not isinstance(model, Decision):
        truths = model.evaluate(frame)
        return {"prediction": truths > 0.5, "truth": truths}
    names = list(model.classes if len(set(map(type, model.classes))) == 1 else map(str, model.classes))
    chances = model.predict_proba(frame)
    columns: dict[str, Any] = {"prediction": _tables.polars().Series(names).gather(model.choose(frame))}
    columns |= {f"probability_{label}": chances[:, i] for i, label in enumerate(model.classes)}
    if model.trees:
        truths = model.truth(frame)
        each = {f"truth_{label}": truths[:, i] for i, label in enumerate(model.classes)} if truths.ndim > 1 else {}
        columns |= each or {"truth": truths}
    return columns
