"""The command report: a page about a model and its decisions on a table."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from typer import Option

from baconlogic.cli import _models as models
from baconlogic.cli import _options as options
from baconlogic.cli import _overwrite as overwriting
from baconlogic.cli import _print as printing
from baconlogic.cli import _tables as tables
from baconlogic.cli._run import MisusedError


def report(
    *,
    model: options.Model,
    data: options.Table,
    output: Annotated[Path, Option("--output", "-o", help="report.html or report.md.", metavar="FILE")],
    target: options.MaybeTarget = None,
    label: options.Label = None,
    title: Annotated[str | None, Option(help="The heading.")] = None,
    context: Annotated[str, Option(help="What the reader should know of the data.")] = "",
    force: options.Force = False,
    form: options.Format = None,
    missing: options.Missing = None,
    as_json: options.Json = False,
) -> None:
    """Write a report about a model and its decisions on a table, as a web page or Markdown."""
    from baconlogic import report as reporting

    if output.suffix.lower() not in (".html", ".md"):
        raise MisusedError(f"a report is written as .html or .md, got {output.name!r}")
    overwriting.check(output, "report", model, data, force=force)
    found, asked = models.read_asked(model, label)
    X, y = tables.read(data, form, missing), None
    if target is not None:
        X, y = models.labelled(found, X, target, asked)
    with printing.busy("writing the report"):
        path = reporting.report(found, X, y, path=output, title=title, context=context, label=asked)
    printing.give({"report": str(path)}, f"written: {path}", as_json)
