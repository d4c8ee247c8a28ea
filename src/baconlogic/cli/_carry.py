"""Commands that carry a model elsewhere: export and report."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from baconlogic.cli import _options as options
from baconlogic.cli import _overwrite as overwriting
from baconlogic.cli import _print as printing
from baconlogic.cli import _tables as tables
from baconlogic.cli._errors import MisusedError

TARGETS = {
    "python": ("trace",), "javascript": ("trace",), "c": ("name", "real", "trace"),
    "sql": ("dialect", "table", "trace"), "latex": (), "onnx": (), "excel": (),
}  # fmt: skip
SUFFIXES = {
    ".py": "python", ".js": "javascript", ".mjs": "javascript", ".c": "c", ".h": "c", ".sql": "sql", ".tex": "latex",
    ".onnx": "onnx", ".xlsx": "excel",
}  # fmt: skip
BINARY = ("onnx", "excel")


def export(
    model: options.Model,
    to: Annotated[options.Language | None, typer.Option("--to", help="What to write; the suffix says it too.")] = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="The file to write; text is printed without.")
    ] = None,
    dialect: Annotated[
        str | None, typer.Option("--dialect", help="Of SQL: duckdb (the default), sqlite or postgres.")
    ] = None,
    table: Annotated[str | None, typer.Option("--table", help="Of SQL: the table to read (data).")] = None,
    real: Annotated[str | None, typer.Option("--real", help="Of C: double (the default) or float.")] = None,
    name: Annotated[str | None, typer.Option("--name", help="Of C: what names begin with (model).")] = None,
    trace: Annotated[bool, typer.Option("--trace", help="Also say the truth of every part.")] = False,
    cost: Annotated[bool, typer.Option("--cost", help="Also say how large and fast each export is.")] = False,
    force: options.Force = False,
    as_json: options.Json = False,
) -> None:
    """Write a model as Python, JavaScript, C, SQL, LaTeX, ONNX or Excel: it decides the same there."""
    from baconlogic.cli import _models as models

    kind = _kind(to, output)
    given = {"dialect": dialect, "table": table, "real": real, "name": name, "trace": trace or None}
    asked = {key: value for key, value in given.items() if value is not None}
    strange = [key for key in asked if key not in TARGETS[kind]]
    if strange:
        raise MisusedError(f"--{strange[0]} does not go with --to {kind}")
    if output is None and kind in BINARY:
        raise MisusedError(f"{kind} is not text to print; say where to write it: -o model.{_suffix(kind)}")
    overwriting.check(output, kind, model, force=force)
    if output is not None and kind == "c":
        overwriting.check(output.with_name(f"{name or output.stem}.h"), kind, model, output, force=force)
    found = models.read(model)
    exporting = _exporting()
    said: dict[str, Any] = {"to": kind, "files": [], "text": None}
    if output is None:
        said["text"] = _text(getattr(exporting, f"to_{kind}")(found, **asked))
    else:
        said["files"] = [str(path) for path in exporting.save(found, output, to=kind, **asked)]
    costs = exporting.cost(found) if cost else None
    if as_json:
        printing.document(said if costs is None else said | {"cost": costs.to_dict()})
        return
    if output is None:
        printing.data(said["text"])
    else:
        printing.answer(f"written: {', '.join(said['files'])}")
    if costs is not None:
        printing.answer(str(costs)) if output is not None else printing.beside(str(costs))


def _kind(to: str | None, output: Path | None) -> str:
    """Return what to write, by option or by the name of the file."""
    if to is not None:
        return str(to)
    found = None if output is None else SUFFIXES.get(output.suffix.lower())
    if found is None:
        raise MisusedError(f"say what to write: --to with one of {', '.join(TARGETS)}")
    return found


def _suffix(kind: str) -> str:
    return next(suffix[1:] for suffix, each in SUFFIXES.items() if each == kind)


def _text(made: Any) -> str:
    """Return an export as text; C is a header and a source, one after the other."""
    return made if isinstance(made, str) else f"{made.header}\n{made.source}"


def _exporting() -> Any:
    from importlib import import_module

    return import_module("baconlogic.export")


def report(
    model: options.Model,
    data: options.Table,
    output: Annotated[Path, typer.Option("--output", "-o", help="report.html or report.md.", metavar="FILE")],
    target: options.MaybeTarget = None,
    label: options.Label = None,
    title: Annotated[str | None, typer.Option("--title", help="The heading.")] = None,
    context: Annotated[str, typer.Option("--context", help="What the reader should know of the data.")] = "",
    force: options.Force = False,
    form: options.Format = None,
    missing: options.Missing = None,
    as_json: options.Json = False,
) -> None:
    """Write a report about a model and its decisions on a table, as a web page or Markdown."""
    from importlib import import_module

    from baconlogic.cli import _models as models

    if output.suffix.lower() not in (".html", ".md"):
        raise MisusedError(f"a report is written as .html or .md, got {output.name!r}")
    overwriting.check(output, "report", model, data, force=force)
    found = models.read(model)
    asked = models.label_of(label, found)
    rows = models.judged(found, tables.read(data, form, missing), target, asked)
    with printing.busy("writing the report"):
        path = import_module("baconlogic.report").report(
            found, rows.X, rows.y, path=output, title=title, context=context, label=asked
        )
    printing.document({"report": str(path)}) if as_json else printing.answer(f"written: {path}")
