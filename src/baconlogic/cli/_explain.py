"""The command explain: how one case is decided, for which reasons, what would turn it, what is not known."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated, Any

from typer import Option

from baconlogic.cli import _models, _options, _print, _tables
from baconlogic.cli._options import Texts
from baconlogic.cli._run import MisusedError, RefusedError, in_one_line
from baconlogic.core.subject import subject

if TYPE_CHECKING:
    from polars import DataFrame

PARTS = ("trace", "reasons", "counterfactual", "unknown")


def explain(
    *,
    model: _options.Model,
    data: _options.MaybeTable = None,
    row: Annotated[int | None, Option(help="Which row, counted from 0.", min=0)] = None,
    case: Annotated[str | None, Option(help="The case itself, as JSON.", metavar="JSON", show_default=False)] = None,
    put: Annotated[Texts, Option("--set", help="A value of the case; may be repeated.", metavar="COLUMN=VALUE")] = None,
    only: Annotated[Texts, Option(help=f"Some of {', '.join(PARTS)}, with commas.")] = None,
    immutable: Annotated[Texts, Option(help="Columns that cannot change, with commas.")] = None,
    label: _options.Label = None,
    form: _options.Format = None,
    missing: _options.Missing = None,
    as_json: _options.Json = False,
) -> None:
    """Explain one case: how it is decided, for which reasons, what would turn it, and what is not known.

    The case is a row of a table (counted from 0), or given by --case or --set. A table also says in which range
    values may change.
    """
    found, asked = _models.read_asked(model, label, needed=True)
    wanted = _options.split(only) or list(PARTS)
    unknown = [each for each in wanted if each not in PARTS]
    if unknown:
        raise MisusedError(f"--only takes {', '.join(PARTS)}; got {unknown[0]!r}")
    frame = None if data is None else _tables.read(data, form, missing)
    about = subject(found, None, asked)
    features = about.tree.features
    stated = _stated(case, put, row)
    strange = [name for name in stated if name not in {*features, *about.columns}]
    if strange:
        raise RefusedError(f"the tree has no column {strange[0]!r}; it uses {', '.join(map(repr, features))}")
    seen = {} if row is None else _row(frame, row, features)
    values = {name: stated.get(name, seen.get(name)) for name in features}  # missing where nobody states them
    given: dict[str, dict[str, Any]] = {name: {"label": asked} for name in wanted}
    for name in given.keys() & {"counterfactual", "unknown"} if frame is not None else ():
        given[name]["X"] = frame
    if "counterfactual" in given and immutable:
        given["counterfactual"]["immutable"] = _options.split(immutable, features)
    told = _answers(found, values, given, strict=bool(only))
    if as_json:
        said = {name: None if each is None else each.to_dict() for name, each in told.items()}
        _print.document({"row": row, "case": values, **said})
    else:
        where = "the case" if row is None else f"row {row} (counted from 0)"
        _print.answer("\n\n".join(f"== {name}: {where} ==\n{each}" for name, each in told.items() if each is not None))


def _answers(model: Any, values: dict[str, Any], given: dict[str, dict[str, Any]], *, strict: bool) -> dict[str, Any]:
    """Ask each question; one that a case with missing values does not allow is left out with a note."""
    from baconlogic import explain as questions

    told: dict[str, Any] = {}
    why: ValueError | None = None
    for name, more in given.items():
        try:
            told[name] = getattr(questions, name)(model, values, **more)
        except ValueError as problem:
            if strict or None not in values.values():
                raise
            told[name] = None
            why = problem
    left = [name for name, each in told.items() if each is None]
    if why is not None:
        if len(left) == len(told):  # it is not for what is missing
            raise why
        _print.note(f"no {', '.join(left)}: {in_one_line(why)}")
    return told


def _stated(case: str | None, put: Texts, row: int | None) -> dict[str, Any]:
    """Return the values that the options state; columns that the tree left out do not matter."""
    if row is None and case is None and not put:
        raise MisusedError("say which case: DATA with --row 17, --case '{\"column\": value}', or --set column=value")
    if row is not None and case is not None:
        raise MisusedError("give --row or --case, not both")
    stated: Any = {}
    if case is not None:
        try:
            stated = json.loads(case)
        except ValueError:
            stated = None
        if not isinstance(stated, dict) or not stated:
            raise MisusedError(f"--case takes a JSON object such as '{{\"radius\": 3}}', got {case!r:.60}")
    for text in put or ():
        name, sign, given = text.partition("=")
        if not sign or not name:
            raise MisusedError(f"--set takes COLUMN=VALUE, got {text!r}")
        stated[name] = _options.value(given)
    return dict(stated)


def _row(frame: DataFrame | None, row: int, features: tuple[str, ...]) -> dict[str, Any]:
    """Return a row of the table, which must have the columns of the tree."""
    if frame is None:
        raise MisusedError("--row needs the table that it is in")
    if row >= frame.height:
        raise RefusedError(f"there is no row {row}: rows are counted from 0, and the last is {frame.height - 1}")
    _tables.require(frame, "the tree", *features)
    return dict(frame.row(row, named=True))
