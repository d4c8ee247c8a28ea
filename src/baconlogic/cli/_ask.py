"""Commands that ask a model: show, describe, explain."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated, Any

import typer

from baconlogic.cli import _options as options
from baconlogic.cli import _print as printing
from baconlogic.cli import _tables as tables
from baconlogic.cli._errors import MisusedError, RefusedError
from baconlogic.cli._errors import explain as said_of
from baconlogic.core.words import aligned, one_line

if TYPE_CHECKING:
    from polars import DataFrame

    from baconlogic import Decision, Tree

PARTS = ("trace", "reasons", "counterfactual", "unknown")


def show(
    model: options.Model,
    parts: Annotated[
        bool, typer.Option("--parts", help="List the parts with the paths by which edit finds them.")
    ] = False,
    formula: Annotated[bool, typer.Option("--formula", help="Print the one-line notation.")] = False,
    as_json: options.Json = False,
) -> None:
    """Draw the tree of a model, and say where it comes from."""
    from baconlogic import Decision
    from baconlogic.cli import _models as models

    found = models.read(model)
    if as_json:
        printing.document(models.summary(found) | {"parts": _parts(found)})
    elif parts or formula:
        trees = found.trees if isinstance(found, Decision) else (found,)
        printing.answer(_parts_text(found) if parts else "\n".join(tree.formula() for tree in trees))
    else:
        printing.answer("\n\n".join(filter(None, [str(found), _origin(found)])))


def _parts(model: Tree | Decision) -> list[list[dict[str, Any]]]:
    """Return the parts of each tree: where they are and what they are."""
    from baconlogic import Decision
    from baconlogic.core.nodes import Gate, Leaf
    from baconlogic.core.outline import say

    told = []
    for tree in model.trees if isinstance(model, Decision) else (model,):
        nodes = dict(tree.walk())
        lines = []
        for path, node in nodes.items():
            above = nodes[path[:-1]] if path else None
            lines.append(
                {
                    "path": printing.written(path),
                    "kind": "leaf" if isinstance(node, Leaf) else "gate" if isinstance(node, Gate) else "not",
                    "name": node.name or (node.feature if isinstance(node, Leaf) else ""),
                    "weight": above.weights[path[-1]] if isinstance(above, Gate) else None,
                    "andness": node.andness if isinstance(node, Gate) else None,
                    "text": say(node),
                }
            )
        told.append(lines)
    return told


def _parts_text(model: Tree | Decision) -> str:
    from baconlogic.cli import _models as models

    texts = []
    classes = models.classes_of(model)
    for i, lines in enumerate(_parts(model)):
        about = f"--label {one_line(str(classes[i]))}\n" if len(classes) > 2 else ""
        rows = [
            [each["path"], each["kind"], "" if each["weight"] is None else f"{each['weight']:.1%}", each["text"]]
            for each in lines
        ]
        texts.append(about + aligned(["path", "kind", "weight", "what it says"], rows, left=4))
    return "\n\n".join(texts)


def _origin(model: Tree | Decision) -> str:
    """Say where a model comes from, as far as it knows."""
    from baconlogic import Decision

    if not isinstance(model, Decision) or not model.provenance:
        return ""
    known, said = model.provenance, []
    if "cases" in known:
        said.append(f"learned from {known['cases']:g} rows and {len(model.features)} columns")
    for tree in known.get("trees") or ():
        if tree.get("edited"):
            said.append("edited since it was learned")
        elif tree.get("held_out_accuracy") is not None:
            said.append(
                f"held out inside fit: accuracy {tree['held_out_accuracy']:.4f}, "
                f"log-loss {tree['held_out_log_loss']:.4f} (of the base rate {tree['base_rate_log_loss']:.4f})"
            )
    if "threshold" in known:
        said.append(f"threshold: {known['threshold']}")
    return "\n".join(said)


def describe(model: options.Model, label: options.Label = None, as_json: options.Json = False) -> None:
    """Say the whole logic in plain sentences."""
    from baconlogic import Decision, explain
    from baconlogic.cli import _models as models

    found = models.read(model)
    asked = models.label_of(label, found)
    if asked is not None or not isinstance(found, Decision) or len(found.trees) < 2:
        printing.give(explain.describe(found, label=asked), as_json)
        return
    each = {known: explain.describe(found, label=known) for known in found.classes}
    if as_json:
        printing.document({str(known): said.to_dict() for known, said in each.items()})
    else:
        printing.answer("\n\n".join(str(said) for said in each.values()))


def explain(
    model: options.Model,
    data: options.MaybeTable = None,
    row: Annotated[int | None, typer.Option("--row", help="Which row, counted from 0.", min=0)] = None,
    case: Annotated[
        str | None, typer.Option("--case", help="The case itself, as JSON.", metavar="JSON", show_default=False)
    ] = None,
    set_: Annotated[
        list[str] | None, typer.Option("--set", help="A value of the case; may be repeated.", metavar="COLUMN=VALUE")
    ] = None,
    only: Annotated[list[str] | None, typer.Option("--only", help=f"Some of {', '.join(PARTS)}, with commas.")] = None,
    fixed: Annotated[
        list[str] | None, typer.Option("--immutable", help="Columns that cannot change, with commas.")
    ] = None,
    label: options.Label = None,
    form: options.Format = None,
    missing: options.Missing = None,
    as_json: options.Json = False,
) -> None:
    """Explain one case: how it is decided, for which reasons, what would turn it, and what is not known.

    The case is a row of a table (counted from 0), or given by --case or --set. A table also says in which range
    values may change.
    """
    from baconlogic.cli import _models as models
    from baconlogic.core import subject as subjects

    found = models.read(model)
    asked = models.label_of(label, found, needed=True)
    wanted = options.split(only) or list(PARTS)
    unknown = [each for each in wanted if each not in PARTS]
    if unknown:
        raise MisusedError(f"--only takes {', '.join(PARTS)}; got {unknown[0]!r}")
    frame = None if data is None else tables.read(data, form, missing)
    about = subjects.subject(found, None, asked)
    values = _case(frame, row, case, set_, about.tree.features, about.columns)
    told = _answers(found, values, frame, asked, wanted, options.split(fixed, about.tree.features), bool(only))
    if as_json:
        said = {name: None if each is None else each.to_dict() for name, each in told.items()}
        printing.document({"row": row, "case": values, **said})
    else:
        where = "the case" if row is None else f"row {row} (counted from 0)"
        sections = [f"== {name}: {where} ==\n{each}" for name, each in told.items() if each is not None]
        printing.answer("\n\n".join(sections))


def _answers(
    model: Any, values: dict[str, Any], frame: DataFrame | None, label: Any, wanted: list[str], fixed: list[str],
    strict: bool,
) -> dict[str, Any]:  # fmt: skip
    """Ask each question; one that a case with missing values does not allow is left out with a note."""
    from baconlogic import explain as questions

    told: dict[str, Any] = {}
    why: ValueError | None = None
    for name in wanted:
        more: dict[str, Any] = {"X": frame} if name in ("counterfactual", "unknown") and frame is not None else {}
        more |= {"immutable": fixed} if name == "counterfactual" and fixed else {}
        try:
            told[name] = getattr(questions, name)(model, values, label=label, **more)
        except ValueError as problem:
            if strict or None not in values.values():
                raise
            told[name] = None
            why = problem
    left = [name for name, each in told.items() if each is None]
    if why is not None:
        if len(left) == len(told):  # it is not for what is missing
            raise why
        printing.note(f"no {', '.join(left)}: {said_of(why)}")
    return told


def _case(
    frame: DataFrame | None,
    row: int | None,
    case: str | None,
    set_: list[str] | None,
    features: tuple[str, ...],
    seen_at_fit: tuple[str, ...],
) -> dict[str, Any]:
    """Return the values of the case: missing where nobody states them; columns that the tree left out do not matter."""
    if row is None and case is None and not set_:
        raise MisusedError("say which case: DATA with --row 17, --case '{\"column\": value}', or --set column=value")
    if row is not None and case is not None:
        raise MisusedError("give --row or --case, not both")
    stated = {} if case is None else _stated(case)
    for text in set_ or ():
        name, sign, given = text.partition("=")
        if not sign or not name:
            raise MisusedError(f"--set takes COLUMN=VALUE, got {text!r}")
        stated[name] = options.value(given)
    strange = [name for name in stated if name not in {*features, *seen_at_fit}]
    if strange:
        raise RefusedError(f"the tree has no column {strange[0]!r}; it uses {', '.join(map(repr, features))}")
    seen = {} if row is None else _row(frame, row, features)
    return {name: stated.get(name, seen.get(name)) for name in features}


def _stated(case: str) -> dict[str, Any]:
    """Return the values of a case given as JSON."""
    try:
        values = json.loads(case)
    except ValueError:
        values = None
    if not isinstance(values, dict) or not values:
        raise MisusedError(f"--case takes a JSON object such as '{{\"radius\": 3}}', got {case!r:.60}")
    return values


def _row(frame: DataFrame | None, row: int, features: tuple[str, ...]) -> dict[str, Any]:
    """Return a row of the table, which must have the columns of the tree."""
    if frame is None:
        raise MisusedError("--row needs the table that it is in")
    if row >= frame.height:
        raise RefusedError(f"there is no row {row}: rows are counted from 0, and the last is {frame.height - 1}")
    for name in features:
        tables.require(frame, name, "the tree")
    return dict(frame.row(row, named=True))
