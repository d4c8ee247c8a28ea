"""Commands that take a model and rows: predict, evaluate, thresholds, compare."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from baconlogic.cli import _options as options
from baconlogic.cli import _overwrite as overwriting
from baconlogic.cli import _print as printing
from baconlogic.cli import _tables as tables
from baconlogic.cli._errors import MisusedError, RefusedError

if TYPE_CHECKING:
    from polars import DataFrame


def predict(
    model: options.Model,
    data: options.Table,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Write .csv, .tsv, .parquet or .jsonl instead of printing.")
    ] = None,
    keep: Annotated[bool, typer.Option("--keep", help="Keep the columns of the table in front.")] = False,
    lines: Annotated[bool, typer.Option("--jsonl", help="Print JSON lines, one object a row.")] = False,
    force: options.Force = False,
    form: options.Format = None,
    missing: options.Missing = None,
    as_json: options.Json = False,
) -> None:
    """Say the class of each row, the probability of each class, and the degree of truth."""
    from baconlogic.cli import _models as models

    if output is not None:
        tables.check_written(output)
        overwriting.check(output, "predictions", model, data, force=force)
    found = models.read(model)
    frame = tables.read(data, form, missing)
    answers = _answers(found, frame)
    told = tables.joined(frame, answers) if keep else answers
    if output is not None:
        tables.write(told, output)
        said = {"rows": told.height, "file": str(output)}
        printing.document(said) if as_json else printing.answer(f"{told.height} rows are in {output}")
    elif as_json:
        printing.document({"rows": told.to_dicts()})
    else:
        for piece in tables.pieces(told, lines):
            printing.data(piece)


def _answers(model: Any, frame: DataFrame) -> DataFrame:
    """Return the columns prediction, probability_CLASS, truth (truth_CLASS where there are several trees)."""
    from baconlogic import Decision

    pl = tables.polars()
    if not isinstance(model, Decision):
        truths = model.evaluate(frame)
        columns: dict[str, Any] = {"prediction": truths > 0.5, "truth": truths}
        return cast("DataFrame", pl.DataFrame(columns))
    kinds = {type(label) for label in model.classes}
    names = list(model.classes) if len(kinds) == 1 else [str(label) for label in model.classes]
    chosen, chances = model.choose(frame), model.predict_proba(frame)
    columns = {"prediction": pl.Series(names).gather(chosen)}
    columns |= {f"probability_{label}": chances[:, i] for i, label in enumerate(model.classes)}
    if model.trees:
        truths = model.truth(frame)
        columns |= (
            {"truth": truths}
            if truths.ndim == 1
            else {f"truth_{label}": truths[:, i] for i, label in enumerate(model.classes)}
        )
    return cast("DataFrame", pl.DataFrame(columns))


def evaluate(
    model: options.Model,
    data: options.Table,
    target: options.Target,
    label: options.Label = None,
    form: options.Format = None,
    missing: options.Missing = None,
    as_json: options.Json = False,
) -> None:
    """Say how right a model is on rows it has not seen: accuracy, AUC, log-loss, Brier score, confusion matrix."""
    from baconlogic.cli import _models as models
    from baconlogic.cli import _score as scoring

    found = models.read(model)
    asked = models.label_of(label, found)
    rows = models.judged(found, tables.read(data, form, missing), target, asked)
    assert rows.y is not None  # noqa: S101
    printing.give(scoring.scores(found, rows.X, rows.y, asked), as_json)


def thresholds(
    model: options.Model,
    data: options.Table,
    target: options.Target,
    label: options.Label = None,
    scenario: Annotated[
        list[str] | None,
        typer.Option("--scenario", help="screening, diagnosis or treatment planning; all three by default."),
    ] = None,
    alarm: Annotated[float | None, typer.Option("--alarm", help="What a false alarm costs.")] = None,
    miss: Annotated[float | None, typer.Option("--miss", help="What a missed case costs.")] = None,
    recall: Annotated[
        float | None, typer.Option("--recall", help="Find at least this share of cases, with 95% confidence.")
    ] = None,
    parts: Annotated[int, typer.Option("--cv", help="Parts, each scored by a threshold of the others.", min=2)] = 5,
    apply: Annotated[
        str | None, typer.Option("--apply", help="Turn the model there: a scenario's name, costs or recall.")
    ] = None,
    output: options.NewModel = None,
    in_place: options.InPlace = False,
    force: options.Force = False,
    seed: options.Seed = 0,
    form: options.Format = None,
    missing: options.Missing = None,
    as_json: options.Json = False,
) -> None:
    """Say where the decision should turn for screening, diagnosis, treatment planning, or by what errors cost."""
    from baconlogic.cli import _models as models
    from baconlogic.core.subject import subject
    from baconlogic.learn import thresholds as turning

    if (alarm is None) != (miss is None):
        raise MisusedError("costs are two: give both --alarm and --miss")
    if apply is None and (output is not None or in_place):
        raise MisusedError("say which scenario the new model is for: --apply screening")
    to = None if apply is None else overwriting.destination(output, in_place, model, data, force=force)
    wanted: list[Any] = [_scenario(name, list(turning.SCENARIOS)) for name in options.split(scenario)]
    wanted += [] if alarm is None or miss is None else [turning.costs(alarm, miss)]
    wanted += [] if recall is None else [turning.at_least(recall=recall)]
    if apply is not None and apply not in ("costs", "recall"):
        applied = _scenario(apply, list(turning.SCENARIOS))
        wanted += [] if applied in wanted or not wanted else [applied]
    found = models.read(model)
    asked = models.label_of(label, found)
    if asked is not None:
        subject(found, None, asked)  # of two classes the tree speaks for one
    rows = models.judged(found, tables.read(data, form, missing), target, asked)
    assert rows.y is not None  # noqa: S101
    y = rows.y if asked is None or models.classes_of(found) else rows.y == asked  # a tree alone knows yes and no
    if len(models.classes_of(found)) not in (0, 2):
        n = len(models.classes_of(found))
        raise RefusedError(
            f"a threshold turns a decision between two classes; here are {n}; learn one of them: fit --positive CLASS"
        )
    if max(Counter(y.tolist()).values()) < parts:
        raise RefusedError(f"--cv {parts} needs {parts} rows of each class; use fewer parts")
    table = turning.scenarios(found, rows.X, y, names=wanted or tuple(turning.SCENARIOS), cv=parts, random_state=seed)
    said = table.to_dict()
    text = str(table)
    if apply is not None and to is not None:
        row = _applied(apply, table, list(turning.SCENARIOS))
        models.write(models.with_threshold(found, row.threshold, row.scenario), to)
        said |= {"applied": row.scenario, "threshold": row.threshold, "model": str(to)}
        text += f"\n\n{to} turns at a truth of {row.threshold:.4g}, for {row.scenario}."
    printing.document(said) if as_json else printing.answer(text)


def _scenario(name: str, known: list[str]) -> str:
    """Return a scenario by its name or how the name begins."""
    plain = name.strip().lower().replace("-", " ").replace("_", " ")
    found = [each for each in known if plain and each.startswith(plain)]
    if len(found) != 1:
        raise MisusedError(f"there is no scenario {name!r}; use {', '.join(known)}, --alarm with --miss, or --recall")
    return found[0]


def _applied(name: str, table: Any, known: list[str]) -> Any:
    begins = name if name in ("costs", "recall") else _scenario(name, known)
    row = next((row for row in table.rows or table.same_rows if row.scenario.startswith(begins)), None)
    if row is None:
        needed = "--alarm and --miss" if begins == "costs" else "--recall"
        raise MisusedError(f"--apply {name} needs {needed}")
    return row


def compare(
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
    from baconlogic.cli import _models as models
    from baconlogic.cli import _score as scoring

    if target is not None and data is None:
        raise MisusedError("--target needs the table that it is a column of")
    both = models.read(first), models.read(second)
    asked = models.label_of(label, both[0], needed=True)
    frame = None if data is None else tables.read(data, form, missing)
    if frame is not None and target is not None:
        tables.require(frame, target, "--target")
    result = explain.compare(*both, frame, label=asked)
    said, text = result.to_dict(), str(result)
    if frame is not None and target is not None:
        judged = [models.judged(each, frame, target, asked) for each in both]
        right = [
            scoring.scores(each, rows.X, rows.y, asked).accuracy
            for each, rows in zip(both, judged, strict=True)
            if rows.y is not None
        ]
        said["accuracy"] = [each.to_dict() for each in right]
        text += f"\nAccuracy of the first {right[0]}, of the second {right[1]}; in brackets 95% intervals."
    printing.document(said) if as_json else printing.answer(text)
