"""The command export: a model as code, a formula or a workbook that decides the same."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

from typer import Option

from baconlogic.cli import _models, _options, _overwrite, _print
from baconlogic.cli._run import MisusedError

# Each target with the options that it takes.
TARGETS = {
    "python": ("trace",), "javascript": ("trace",), "c": ("name", "real", "trace"),
    "sql": ("dialect", "table", "trace"), "latex": (), "onnx": (), "excel": (),
}  # fmt: skip
SUFFIXES = {
    ".py": "python", ".js": "javascript", ".mjs": "javascript", ".c": "c", ".h": "c", ".sql": "sql", ".tex": "latex",
    ".onnx": "onnx", ".xlsx": "excel",
}  # fmt: skip
BINARY = {"onnx": "model.onnx", "excel": "model.xlsx"}


def export(
    *,
    model: _options.Model,
    to: Annotated[_options.Language | None, Option(help="What to write; the suffix says it too.")] = None,
    output: Annotated[Path | None, Option("--output", "-o", help="The file to write; text is printed without.")] = None,
    dialect: Annotated[str | None, Option(help="Of SQL: duckdb (the default), sqlite or postgres.")] = None,
    table: Annotated[str | None, Option(help="Of SQL: the table to read (data).")] = None,
    real: Annotated[str | None, Option(help="Of C: double (the default) or float.")] = None,
    name: Annotated[str | None, Option(help="Of C: what names begin with (model).")] = None,
    trace: Annotated[bool, Option("--trace", help="Also say the truth of every part.")] = False,
    cost: Annotated[bool, Option("--cost", help="Also say how large and fast each export is.")] = False,
    force: _options.Force = False,
    as_json: _options.Json = False,
) -> None:
    """Write a model as Python, JavaScript, C, SQL, LaTeX, ONNX or Excel: it decides the same there."""
    kind = to if to is not None or output is None else SUFFIXES.get(output.suffix.lower())
    if kind is None:
        raise MisusedError(f"say what to write: --to with one of {', '.join(TARGETS)}")
    kind = str(kind)
    given = {"dialect": dialect, "table": table, "real": real, "name": name, "trace": trace or None}
    asked = {key: value for key, value in given.items() if value is not None}
    strange = [key for key in asked if key not in TARGETS[kind]]
    if strange:
        raise MisusedError(f"--{strange[0]} does not go with --to {kind}")
    if output is None and kind in BINARY:
        raise MisusedError(f"{kind} is not text to print; say where to write it: -o {BINARY[kind]}")
    _overwrite.check(output, kind, model, force=force)
    if output is not None and kind == "c":
        _overwrite.check(output.with_name(f"{name or output.stem}.h"), kind, model, output, force=force)
    found = _models.read(model)
    from baconlogic import export as exporting

    said: dict[str, Any] = {"to": kind, "files": [], "text": None}
    if output is None:
        made = getattr(exporting, f"to_{kind}")(found, **asked)
        said["text"] = made if isinstance(made, str) else f"{made.header}\n{made.source}"  # C is a header and a source
    else:
        said["files"] = [str(path) for path in exporting.save(found, output, to=kind, **asked)]
    costs = exporting.cost(found) if cost else None
    if as_json:
        _print.document(said if costs is None else said | {"cost": costs.to_dict()})
        return
    if output is None:
        _print.data(said["text"])
    else:
        _print.answer(f"written: {', '.join(said['files'])}")
    if costs is not None:
        _print.answer(str(costs)) if output is not None else _print.beside(str(costs))
