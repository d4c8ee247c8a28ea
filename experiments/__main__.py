"""The paper's experiments at a command line: `python -m experiments boolean|iris|houses|breast-cancer|all [-o DIR]`.

Answers go to stdout, steps and errors to stderr. What the end needs is looked at before the work begins. Exit codes: 0
whatever the verdicts, 1 where the work cannot be done, 2 for wrong usage, 130 after Ctrl-C.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import signal
import sys
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NoReturn

from baconlogic import datasets
from baconlogic.cli import _print as printing
from experiments import EXPERIMENTS, QUICK
from experiments.result import Experiment, Part, duration, table, tally

ALL = "all"
UNUSABLE, MISUSED, INTERRUPTED, UNREAD = 1, 2, 130, 141


class Parser(argparse.ArgumentParser):
    """A parser whose errors are one line."""

    def error(self, message: str) -> NoReturn:
        """Say what is wrong with the command line, and end."""
        self.exit(MISUSED, f"{self.prog}: {message}; see python -m {self.prog} --help\n")


def parser() -> Parser:
    """Return the parser of the command line."""
    made = Parser(
        prog="experiments",
        description="Do the paper's experiments again, and print our figures beside the paper's, in sample and on rows "
        "held out.",
    )
    made.add_argument("which", choices=[*EXPERIMENTS, ALL], help="the experiment, or all of them")
    made.add_argument("-o", "--output", type=Path, metavar="DIR", help="a folder for pictures and the report")
    made.add_argument(
        "--houses", type=Path, metavar="FILE", help='the Kaggle file "USA Real Estate Dataset", for houses'
    )
    made.add_argument("--quick", action="store_true", help="a short run: fewer repeats, smaller sweeps")
    made.add_argument("--seed", type=int, default=0, help="the same number gives the same answer (0)")
    made.add_argument("--jobs", type=int, default=2, help="processes side by side; -1 for one a core (2)")
    made.add_argument("--json", action="store_true", help="print one JSON document")
    return made


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command line and return its exit code."""
    asked = parser()
    given = asked.parse_args(arguments)
    names = list(EXPERIMENTS) if given.which == ALL else [given.which]
    if given.jobs == 0:
        asked.error("--jobs must not be 0; use 1, or -1 for one a core")
    if not 0 <= given.seed < 2**32:
        asked.error(f"--seed must be from 0 to {2**32 - 1}, got {given.seed}")
    if given.houses is not None and "houses" not in names:
        asked.error("--houses goes with the experiments houses and all")
    try:
        check(names, given.output, given.houses)
    except (ImportError, OSError, ValueError) as problem:
        printing.beside(f"{asked.prog}: {_said(problem)}")
        return UNUSABLE
    try:
        with ctrl_c_ends(), printing.warnings_as_notes():
            _run(names, given)
    except KeyboardInterrupt:
        printing.beside(f"{asked.prog}: interrupted")
        return INTERRUPTED
    except BrokenPipeError:  # whoever read the answer, `head` perhaps, has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return UNREAD
    return 0


def check(names: Sequence[str], output: Path | None, houses: Path | None) -> None:
    """Refuse what cannot work, before the work: it would be met minutes later."""
    if houses is not None and not len(datasets.read_houses(houses).X):
        raise ValueError(f"{houses}: no row knows {', '.join(datasets.HOUSE_FEATURES)}")
    if output is None:
        return
    from baconlogic.plot._style import matplotlib

    matplotlib()
    if "breast-cancer" in names:
        from baconlogic.report._report import jinja

        jinja()
    output.mkdir(parents=True, exist_ok=True)
    if not os.access(output, os.W_OK):
        raise PermissionError(f"{output}: permission denied; write to a folder of your own")


def _run(names: Sequence[str], given: argparse.Namespace) -> None:
    """Run experiments and print each; of all of them, one table at the end."""
    together, done = given.which == ALL, []
    for name in names:
        options: dict[str, Any] = dict(QUICK.get(name, {})) if given.quick else {}
        if name == "houses":
            options["path"] = given.houses
        result = EXPERIMENTS[name](
            seed=given.seed, n_jobs=given.jobs, folder=given.output, progress=partial(_tell, name), **options
        )
        done.append(result)
        if not given.json:
            printing.answer(f"{result}\n" if together else str(result))
            sys.stdout.flush()  # it may take minutes until the next one
    if given.json:
        printing.document(_document(done) if together else done[0].to_dict())
    elif together:
        printing.answer(_together(done))
    sys.stdout.flush()


def _said(problem: Exception) -> str:
    """Return what went wrong; of a file its name first."""
    if isinstance(problem, OSError) and problem.strerror:
        return f"{problem.filename}: {problem.strerror}"
    return str(problem)


def _tell(name: str, step: str) -> None:
    printing.note(f"{name}: {step}")


def _together(done: Sequence[Experiment]) -> str:
    lines = [line for result in done for line in result.lines]
    took = duration(sum(result.seconds for result in done))
    return f"{Part('All experiments', table(lines))}\n\n{tally(lines)}; all of it took {took}."


def _document(done: Sequence[Experiment]) -> dict[str, Any]:
    lines = [line for result in done for line in result.lines]
    return {"experiments": [result.to_dict() for result in done], "tally": tally(lines)}


class EndedError(BaseException):
    """Ctrl-C, as an exception that no fit takes for the wish to keep its best tree so far."""


@contextlib.contextmanager
def ctrl_c_ends() -> Iterator[None]:
    """Let Ctrl-C end all that runs: figures of fits that were cut short would be printed as if they were whole."""
    pressed: list[int] = []

    def end(number: int, frame: Any) -> None:  # noqa: ARG001
        pressed.append(number)
        raise EndedError

    before = signal.signal(signal.SIGINT, end)
    try:
        yield
    except BaseException:
        if pressed:  # compiled code may have made another error of it
            raise KeyboardInterrupt from None
        raise
    finally:
        signal.signal(signal.SIGINT, before)
    if pressed:
        raise KeyboardInterrupt


if __name__ == "__main__":
    sys.exit(main())
