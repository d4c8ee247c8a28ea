"""The command report: a page about a model and its decisions on a table."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from typer import Option

from baconlogic.cli import _models, _options, _overwrite, _print, _tables
from baconlogic.cli._run import MisusedError


def report(
    *,
    model: _options.Model,
    data: _options.Table,
    output: Annotated[Path, Option("--output", "-o", help="report.html or report.md.", metavar="FILE")],
    target: _options.MaybeTarget = None,
    label: _options.Label = None,
    title: Annotated[str | None, Option(help="The heading.")] = None,
    context: Annotated[str, Option(help="What the reader should know of the data.")] = "",
    force: _options.Force = False,
    form: _options.Format = None,
    missing: _options.Missing = None,
    as_json: _options.Json = False,
) -> None:
    """Write a report about a model and its decisions on a table, as a web page or Markdown."""
    from baconlogic import report as reporting

    if output.suffix.lower() not in (".html", ".md"):
        raise MisusedError(f"a report is written as .html or .md, got {output.name!r}")
    _overwrite.check(output, "report", model, data, force=force)
    found, asked = _models.read_asked(model, label)
    X, y = _tables.read(data, form, missing), None
    if target is not None:
        X, y = _models.labelled(found, X, target, asked)
    with _print.busy("writing the report"):
        path = reporting.report(found, X, y, path=output, title=title, context=context, label=asked)
    _print.give({"report": str(path)}, f"written: {path}", as_json)
