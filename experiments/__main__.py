"""The command that does the paper's experiments again."""

from __future__ import annotations

import os
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from baconlogic.cli import _options as options
from baconlogic.cli import _print as printing
from baconlogic.cli._errors import MisusedError, RefusedError
from baconlogic.cli._stop import ending_at_once
from experiments import EXPERIMENTS, QUICK

ALL = "all"
Which = StrEnum(
    "Which",
    {"boolean": "boolean", "iris": "iris", "houses": "houses", "breast_cancer": "breast-cancer", "all": "all"},
)  # a test holds it against EXPERIMENTS


def reproduce(
    which: Annotated[Which, typer.Argument(help="The experiment, or all of them.", show_default=False)],
    output: Annotated[Path | None, typer.Option("--output", "-o", help="A folder for pictures and the report.")] = None,
    houses: Annotated[
        Path | None, typer.Option("--houses", help='The Kaggle file "USA Real Estate Dataset", for houses.')
    ] = None,
    quick: Annotated[bool, typer.Option("--quick", help="A short run: fewer repeats, smaller sweeps.")] = False,
    seed: options.Seed = 0,
    jobs: Annotated[int, typer.Option("--jobs", "--n-jobs", help="Processes side by side; -1 for one a core.")] = 2,
    as_json: options.Json = False,
) -> None:
    """Do the paper's experiments again, and print our figures beside the paper's, in sample and on rows held out."""
    names = list(EXPERIMENTS) if which == ALL else [str(which)]
    _check(names, output, houses, jobs)
    done = []
    for name in names:
        asked: dict[str, Any] = dict(QUICK.get(name, {})) if quick else {}
        if name == "houses":
            asked["path"] = houses
        with ending_at_once():
            result = EXPERIMENTS[name](seed=seed, n_jobs=jobs, folder=output, progress=partial(_tell, name), **asked)
        done.append(result)
        if not as_json:
            printing.answer(f"{result}\n" if which == ALL else str(result))
    if as_json:
        printing.document(done[0].to_dict() if which != ALL else _document(done))
    elif which == ALL:
        printing.answer(_together(done))


def _check(names: list[str], output: Path | None, houses: Path | None, jobs: int) -> None:
    """Refuse what cannot work, before the work."""
    options.check_folder(output)
    if jobs == 0:
        raise MisusedError("--jobs must not be 0; use 1, or -1 for one a core")
    if houses is not None and "houses" not in names:
        raise MisusedError("--houses goes with the experiments houses and all")
    if houses is not None:
        _check_houses(houses)
    if output is not None:
        _check_output(output, report="breast-cancer" in names)


def _check_houses(path: Path) -> None:
    """Refuse a file that is not the one of the paper; a wrong one would be met minutes later."""
    from baconlogic import datasets

    if not path.is_file():
        raise RefusedError(f"{path}: there is no such file; check the path")
    if not len(datasets.read_houses(path).X):
        raise RefusedError(f"{path}: no row knows {', '.join(datasets.HOUSE_FEATURES)}")


def _check_output(folder: Path, *, report: bool) -> None:
    """Make the folder, and refuse where what is written into it could not be made."""
    from baconlogic.plot._style import matplotlib

    matplotlib()
    if report:
        from baconlogic.report._report import jinja

        jinja()
    folder.mkdir(parents=True, exist_ok=True)
    if not os.access(folder, os.W_OK):
        raise RefusedError(f"{folder}: permission denied; write to a folder of your own")


def _tell(name: str, step: str) -> None:
    printing.note(f"{name}: {step}")


def _lines(done: list[Any]) -> list[Any]:
    return [line for result in done for line in result.lines]


def _together(done: list[Any]) -> str:
    from experiments.result import Part, duration, table, tally

    seconds = sum(result.seconds for result in done)
    lines = _lines(done)
    return f"{Part('All experiments', table(lines))}\n\n{tally(lines)}; all of it took {duration(seconds)}."


def _document(done: list[Any]) -> dict[str, Any]:
    from experiments.result import tally

    return {"experiments": [result.to_dict() for result in done], "tally": tally(_lines(done))}
