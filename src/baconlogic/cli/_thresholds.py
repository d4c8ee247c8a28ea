"""The command thresholds: where the decision should turn, for a scenario or by what errors cost."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Annotated, Any

from numpy.typing import NDArray
from typer import Option

from baconlogic.cli import _models, _options, _overwrite, _print, _tables
from baconlogic.cli._options import Texts
from baconlogic.cli._run import MisusedError, RefusedError
from baconlogic.core.subject import subject

if TYPE_CHECKING:
    from baconlogic import Decision, Tree


def thresholds(
    *,
    model: _options.Model,
    data: _options.Table,
    target: _options.Target,
    label: _options.Label = None,
    scenario: Annotated[Texts, Option(help="screening, diagnosis or treatment planning; all three by default.")] = None,
    alarm: Annotated[float | None, Option(help="What a false alarm costs.")] = None,
    miss: Annotated[float | None, Option(help="What a missed case costs.")] = None,
    recall: Annotated[float | None, Option(help="Find at least this share of cases, with 95% confidence.")] = None,
    parts: Annotated[int, Option("--cv", help="Parts, each scored by a threshold of the others.", min=2)] = 5,
    apply: Annotated[str | None, Option(help="Turn the model there: a scenario's name, costs or recall.")] = None,
    output: _options.NewModel = None,
    in_place: _options.InPlace = False,
    force: _options.Force = False,
    seed: _options.Seed = 0,
    form: _options.Format = None,
    missing: _options.Missing = None,
    as_json: _options.Json = False,
) -> None:
    """Say where the decision should turn for screening, diagnosis, treatment planning, or by what errors cost."""
    from baconlogic.learn import thresholds as turning

    if (alarm is None) != (miss is None):
        raise MisusedError("costs are two: give both --alarm and --miss")
    if apply is None and (output is not None or in_place):
        raise MisusedError("say which scenario the new model is for: --apply screening")
    to = None if apply is None else _overwrite.destination(output, in_place, model, data, force=force)
    known = tuple(turning.SCENARIOS)
    wanted: list[Any] = [_scenario(name, known) for name in _options.split(scenario)]
    own = {} if alarm is None or miss is None else {"costs": turning.costs(alarm, miss)}
    own |= {} if recall is None else {"recall": turning.at_least(recall=recall)}
    wanted += own.values()
    if apply in ("costs", "recall"):
        if apply not in own:
            raise MisusedError(f"--apply {apply} needs {'--alarm and --miss' if apply == 'costs' else '--recall'}")
        apply = own[apply].name
    elif apply is not None:
        apply = _scenario(apply, known)
        wanted += [] if apply in wanted or not wanted else [apply]
    found, asked = _models.read_asked(model, label)
    if asked is not None:
        subject(found, None, asked)  # of two classes the tree speaks for one
    X, y = _models.labelled(found, _tables.read(data, form, missing), target, asked)
    if asked is not None and not _models.classes_of(found):
        y = y == asked  # a tree alone knows yes and no
    _check(found, y, parts)
    table = turning.scenarios(found, X, y, names=wanted or known, cv=parts, random_state=seed)
    said, text = table.to_dict(), str(table)
    if apply is not None and to is not None:
        row = next(row for row in table.rows or table.same_rows if row.scenario == apply)
        _models.with_threshold(found, row.threshold, row.scenario).save(to)
        said |= {"applied": row.scenario, "threshold": row.threshold, "model": str(to)}
        text += f"\n\n{to} turns at a truth of {row.threshold:.4g}, for {row.scenario}."
    _print.give(said, text, as_json)


def _check(model: Tree | Decision, y: NDArray[Any], parts: int) -> None:
    """Refuse a model of more than two classes, and fewer rows than there are parts."""
    classes = len(_models.classes_of(model))
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
