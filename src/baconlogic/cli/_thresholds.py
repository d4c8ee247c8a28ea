"""The command thresholds: where the decision should turn, for a scenario or by what errors cost."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Annotated, Any

from typer import Option

from baconlogic.cli import _models as models
from baconlogic.cli import _options as options
from baconlogic.cli import _overwrite as overwriting
from baconlogic.cli import _print as printing
from baconlogic.cli import _tables as tables
from baconlogic.cli._options import Texts
from baconlogic.cli._run import MisusedError, RefusedError
from baconlogic.core.subject import subject

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from baconlogic import Decision, Tree


def thresholds(
    *,
    model: options.Model,
    data: options.Table,
    target: options.Target,
    label: options.Label = None,
    scenario: Annotated[Texts, Option(help="screening, diagnosis or treatment planning; all three by default.")] = None,
    alarm: Annotated[float | None, Option(help="What a false alarm costs.")] = None,
    miss: Annotated[float | None, Option(help="What a missed case costs.")] = None,
    recall: Annotated[float | None, Option(help="Find at least this share of cases, with 95% confidence.")] = None,
    parts: Annotated[int, Option("--cv", help="Parts, each scored by a threshold of the others.", min=2)] = 5,
    apply: Annotated[str | None, Option(help="Turn the model there: a scenario's name, costs or recall.")] = None,
    output: options.NewModel = None,
    in_place: options.InPlace = False,
    force: options.Force = False,
    seed: options.Seed = 0,
    form: options.Format = None,
    missing: options.Missing = None,
    as_json: options.Json = False,
) -> None:
    """Say where the decision should turn for screening, diagnosis, treatment planning, or by what errors cost."""
    from baconlogic.learn import thresholds as turning

    if (alarm is None) != (miss is None):
        raise MisusedError("costs are two: give both --alarm and --miss")
    if apply is None and (output is not None or in_place):
        raise MisusedError("say which scenario the new model is for: --apply screening")
    to = None if apply is None else overwriting.destination(output, in_place, model, data, force=force)
    known = tuple(turning.SCENARIOS)
    wanted: list[Any] = [_scenario(name, known) for name in options.split(scenario)]
    wanted += [] if alarm is None or miss is None else [turning.costs(alarm, miss)]
    wanted += [] if recall is None else [turning.at_least(recall=recall)]
    if apply is not None and apply not in ("costs", "recall"):
        apply_to = _scenario(apply, known)
        wanted += [] if apply_to in wanted or not wanted else [apply_to]
    found, asked = models.read_asked(model, label)
    if asked is not None:
        subject(found, None, asked)  # of two classes the tree speaks for one
    X, y = models.labelled(found, tables.read(data, form, missing), target, asked)
    if asked is not None and not models.classes_of(found):
        y = y == asked  # a tree alone knows yes and no
    _check(found, y, parts)
    table = turning.scenarios(found, X, y, names=wanted or known, cv=parts, random_state=seed)
    said, text = table.to_dict(), str(table)
    if apply is not None and to is not None:
        row = _applied(apply, table, known)
        models.with_threshold(found, row.threshold, row.scenario).save(to)
        said |= {"applied": row.scenario, "threshold": row.threshold, "model": str(to)}
        text += f"\n\n{to} turns at a truth of {row.threshold:.4g}, for {row.scenario}."
    printing.give(said, text, as_json)


def _check(model: Tree | Decision, y: NDArray[Any], parts: int) -> None:
    """Refuse a model of more than two classes, and fewer rows than there are parts."""
    classes = len(models.classes_of(model))
    if classes not in (0, 2):
        said = f"a threshold turns a decision between two classes; here are {classes}"
        raise RefusedError(f"{said}; learn one of them: fit --positive CLASS")
    if max(Counter(y.tolist()).values()) < parts:
        raise RefusedError(f"--cv {parts} needs {parts} rows of each class; use fewer parts")


def _scenario(name: str, known: tuple[str, ...]) -> str:
    """Return a scenario by its name or how the name begins."""
    plain = name.strip().lower().replace("-", " ").replace("_", " ")
    found = [each for each in known if plain and each.startswith(plain)]
    if len(found) != 1:
        raise MisusedError(f"there is no scenario {name!r}; use {', '.join(known)}, --alarm with --miss, or --recall")
    return found[0]


def _applied(name: str, table: Any, known: tuple[str, ...]) -> Any:
    begins = name if name in ("costs", "recall") else _scenario(name, known)
    row = next((row for row in table.rows or table.same_rows if row.scenario.startswith(begins)), None)
    if row is None:
        needed = "--alarm and --miss" if begins == "costs" else "--recall"
        raise MisusedError(f"--apply {name} needs {needed}")
    return row
