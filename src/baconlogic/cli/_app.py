"""The commands and their map: what `baconlogic --help` shows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any

import typer

from baconlogic import __version__
from baconlogic.cli import _print
from baconlogic.cli._alternatives import alternatives
from baconlogic.cli._compare import compare
from baconlogic.cli._edit import edit
from baconlogic.cli._evaluate import evaluate
from baconlogic.cli._explain import explain
from baconlogic.cli._export import export
from baconlogic.cli._fit import demo, fit
from baconlogic.cli._predict import predict
from baconlogic.cli._prune import prune, simplify
from baconlogic.cli._report import report
from baconlogic.cli._run import guarded
from baconlogic.cli._show import describe, show
from baconlogic.cli._thresholds import thresholds

app = typer.Typer(
    name="baconlogic",
    help="Decisions as graded-logic trees that people can read, check, edit and carry away.\n\n"
    "Learn a model from a table, then ask it: the model comes first, then the data.",
    epilog="Start with: baconlogic demo",
    no_args_is_help=True,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

LEARN, LOOK, JUDGE, CHANGE, CARRY = "Learn", "Understand", "Judge", "Change", "Carry away"

# Every command: where it stands in the map, what it does, an example.
COMMANDS: tuple[tuple[str, Callable[..., Any], str], ...] = (
    (LEARN, fit, "baconlogic fit data.csv --target diagnosis --positive M -o model.json"),
    (LEARN, alternatives, "baconlogic alternatives data.csv --target diagnosis -n 5 -o trees"),
    (LEARN, demo, "baconlogic demo -o trial"),
    (LOOK, show, "baconlogic show model.json --parts"),
    (LOOK, describe, "baconlogic describe model.json"),
    (LOOK, explain, "baconlogic explain model.json data.csv --row 17 --only trace,reasons"),
    (JUDGE, predict, "baconlogic predict model.json data.csv --keep -o answers.csv"),
    (JUDGE, evaluate, "baconlogic evaluate model.json new.csv --target diagnosis"),
    (JUDGE, thresholds, "baconlogic thresholds model.json new.csv --target diagnosis --apply screening -o s.json"),
    (JUDGE, compare, "baconlogic compare old.json new.json data.csv"),
    (CHANGE, prune, "baconlogic prune model.json --keep 4 -o small.json"),
    (CHANGE, simplify, "baconlogic simplify model.json --tolerance 0.01 -o simple.json"),
    (CHANGE, edit, "baconlogic edit model.json --andness root=HC --weight radius=0.7 -o edited.json"),
    (CARRY, export, "baconlogic export model.json --to c -o model.c"),
    (CARRY, report, "baconlogic report model.json data.csv --target diagnosis -o report.html"),
)

for panel, command, example in COMMANDS:
    app.command(command.__name__, rich_help_panel=panel, epilog=f"Example: {example}")(guarded(command))


def _version(wanted: bool) -> None:
    if wanted:
        _print.answer(f"baconlogic {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", help="Say the version and end.", callback=_version, is_eager=True)
    ] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Show where an error comes from; may stand anywhere.")] = False,
) -> None:
    pass
