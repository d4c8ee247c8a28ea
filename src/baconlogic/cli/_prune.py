"""The commands prune and simplify: a smaller model, which decides nearly or exactly the same."""

from __future__ import annotations

from typing import Annotated, Any

from typer import Option

from baconlogic.cli import _options, _overwrite, _print
from baconlogic.cli._edit import Revision
from baconlogic.cli._options import Texts
from baconlogic.cli._run import MisusedError


def prune(
    *,
    model: _options.Model,
    keep: Annotated[int | None, Option(help="Leaves to keep.", min=1)] = None,
    features: Annotated[Texts, Option(help="Columns to take away.")] = None,
    data: _options.Rows = None,
    target: _options.MaybeTarget = None,
    tolerance: Annotated[float, Option(help="Without --keep: how much accuracy may fall, as a share of rows.")] = 0.005,
    output: _options.NewModel = None,
    in_place: _options.InPlace = False,
    force: _options.Force = False,
    label: _options.Label = None,
    form: _options.Format = None,
    missing: _options.Missing = None,
    as_json: _options.Json = False,
) -> None:
    """Take leaves away: so many, certain columns, or as many as the accuracy on a table bears."""
    to = _overwrite.destination(output, in_place, model, data, force=force)
    gone = _options.split(features)
    if keep is not None and gone:
        raise MisusedError("give --keep or --features, not both")
    if keep is None and not gone and (data is None or target is None):
        raise MisusedError("say what to prune: --keep 7, --features a,b, or --data with --target to go by accuracy")
    revision = Revision(model, data, target=target, label=label, form=form, missing=missing)
    log = revision.log
    more: dict[str, Any] = {"features": gone} if gone else {} if keep is None else {"keep": keep}
    if log.y is not None and not gone:
        more |= {"X": log.X, "y": log.y, "tolerance": tolerance}
    log.apply("prune", **more)
    revision.finish(to, as_json)


def simplify(
    *,
    model: _options.Model,
    tolerance: Annotated[float, Option(help="How much a truth may change, from 0 to 1; 0 changes none.")] = 0.0,
    data: _options.Rows = None,
    target: _options.MaybeTarget = None,
    output: _options.NewModel = None,
    in_place: _options.InPlace = False,
    force: _options.Force = False,
    label: _options.Label = None,
    form: _options.Format = None,
    missing: _options.Missing = None,
    as_json: _options.Json = False,
) -> None:
    """Say the same with fewer gates; with a tolerance, nearly the same with fewer still."""
    to = _overwrite.destination(output, in_place, model, data, force=force)
    revision = Revision(model, data, target=target, label=label, form=form, missing=missing)
    more = {} if revision.log.X is None else {"X": revision.log.X}
    with _print.busy("simplifying"):
        revision.log.apply("simplify", tolerance, **more)
    revision.finish(to, as_json)
