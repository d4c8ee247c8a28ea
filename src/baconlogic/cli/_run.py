"""Run a command line: every error is one line on stderr and an exit code, with the traceback only on demand.

Ctrl-C ends a command; a model that is being learned keeps the best tree found so far.
"""

from __future__ import annotations

import contextlib
import functools
import io
import os
import signal
import sys
import threading
import traceback
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import typer

from baconlogic.cli import _print
from baconlogic.core.checks import Hint, Parameter, TreePart, parts_of
from baconlogic.core.notation import FormulaError

DEBUG = "BACONLOGIC_DEBUG"
UNUSABLE, MISUSED, INTERRUPTED = 1, 2, 130
UNREAD = 141  # what a shell says of a program that SIGPIPE ended


class RefusedError(Exception):
    """Data or a model that cannot be used: exit code 1."""


class MisusedError(Exception):
    """Options that do not go together: exit code 2."""


def run(app: typer.Typer, arguments: Sequence[str]) -> int:
    """Run a command line and return its exit code."""
    given = list(arguments)
    if "--debug" in given:  # may stand anywhere
        given.remove("--debug")
        os.environ[DEBUG] = "1"
    if sys.stdout is None:  # closed (`>&-`): taken for a pipe that nobody reads
        reader, writer = os.pipe()
        os.close(reader)
        sys.stdout = os.fdopen(writer, "w", encoding="utf-8")
    if sys.stderr is None:
        sys.stderr = os.fdopen(os.open(os.devnull, os.O_WRONLY), "w", encoding="utf-8")
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace", encoding=None if stream.isatty() else "utf-8")
    code = _code(app, given)
    try:
        sys.stdout.flush()
    except OSError:  # it was said; Python would say it again at its end
        _quiet()
    return code


def _code(app: typer.Typer, given: list[str]) -> int:
    try:
        code = app(given, prog_name="baconlogic", standalone_mode=False)
        sys.stdout.flush()
    except SystemExit as end:  # of shell completion, and where typer finds the pipe closed
        return _quiet() if isinstance(end.__context__, BrokenPipeError) else int(end.code or 0)
    except (BrokenPipeError, KeyboardInterrupt, typer.Abort) as end:
        return _told(end)
    except Exception as error:
        if not hasattr(error, "format_message"):  # the usage errors of every version of typer and click have one
            raise
        context = getattr(error, "ctx", None)
        path = context.command_path if context is not None else "baconlogic"
        said = " ".join(str(error.format_message()).split()).rstrip(".") or "a command is missing"
        _print.error(f"{said}; see {path} --help")
        return MISUSED
    return code if isinstance(code, int) else 0


def _quiet() -> int:
    """End without a word: whoever read the answer, `head` perhaps, has seen enough."""
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError):  # what is not written yet goes nowhere, or Python would complain
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
    return UNREAD


def guarded(command: Callable[..., Any]) -> Callable[..., Any]:
    """Return the command with its errors told in one line."""

    @functools.wraps(command)
    def run_it(*args: Any, **options: Any) -> Any:
        try:
            with _print.warnings_as_notes():
                done = command(*args, **options)
            sys.stdout.flush()
        except (typer.Exit, typer.Abort):
            raise
        except (Exception, KeyboardInterrupt) as error:
            if hasattr(error, "format_message"):
                raise
            raise typer.Exit(_told(error)) from None
        return done

    return run_it


def _told(error: Exception | KeyboardInterrupt) -> int:
    """Say in one line what ended a command, and return its exit code."""
    if isinstance(error, BrokenPipeError):
        return _quiet()
    cause = error.__cause__ or error.__context__  # Ctrl-C in compiled code comes as another error
    if isinstance(error, KeyboardInterrupt | typer.Abort) or isinstance(cause, KeyboardInterrupt):
        _print.error("interrupted")
        return INTERRUPTED
    assert isinstance(error, Exception)  # noqa: S101
    if os.environ.get(DEBUG):
        _print.beside(traceback.format_exc().rstrip())
    _print.error(in_one_line(error))
    return MISUSED if isinstance(error, MisusedError) else UNUSABLE


# What errors say


def in_one_line(error: Exception) -> str:
    """Return what went wrong in one line."""
    if isinstance(error, MemoryError):
        return "there is not enough memory for this; use fewer rows or columns"
    if isinstance(error, OSError) and error.strerror:
        where = f"{error.filename}: " if error.filename else ""
        return f"{where}{_OS_WORDS.get(type(error), error.strerror.lower())}"
    if isinstance(error, FormulaError):  # whose message marks the place below it
        return f"{error.problem} (at character {error.position + 1} of the formula)"
    said = " ".join("".join(map(_as_option, parts_of(error))).split())
    if isinstance(error, KeyError):
        said = f"{said} is not there"
    if said and isinstance(error, _KNOWN):
        return said
    return f"{type(error).__name__}: {said or 'no more is known'}; run it again with --debug to see where"


def _as_option(part: str | Parameter | Hint | TreePart) -> str:
    """Return a part of an error's text in the words of a command line: --max-leaves, --search refine, 0.1."""
    if isinstance(part, Parameter):
        return f"--{part.name.replace('_', '-')}" + (f" {part.given}" if part.given else "")
    if isinstance(part, Hint):
        return HINTS.get(part.about, part.text)
    if isinstance(part, TreePart) and isinstance(part.what, tuple):
        return _print.written(part.what)
    return str(part)


_KNOWN = (RefusedError, MisusedError, ValueError, TypeError, LookupError, ImportError, OSError)
HINTS = {
    "missing": "the value is missing and no truth for missing values is stated; fill the value in, or say how true a "
    "missing one is: baconlogic edit MODEL --criterion 'COLUMN=missing 0.5'",
    "unknown": "--only unknown",
    "init": "--init 'HC(a, b)'",
    "order": "--order a,b",
    "bounds": "LOWEST:HIGHEST",
    "class_weight": "--class-weight",
    "none": "",
}
_OS_WORDS: dict[type[OSError], str] = {
    FileNotFoundError: "there is no such file or folder; check the path",
    IsADirectoryError: "this is a folder; give a file",
    NotADirectoryError: "a part of this path is a file, not a folder; check the path",
    PermissionError: "permission denied; check who may read and write there",
}


# Ctrl-C while a model is learned


class Stop:
    """A callback of scikit-learn that asks a fit to stop once Ctrl-C was pressed."""

    def __init__(self) -> None:
        self.wanted = False

    def setup(self, estimator: Any, context: Any, **rest: Any) -> None:
        """Nothing to prepare, to note or to tidy up."""

    teardown = on_fit_task_begin = setup

    def on_fit_task_end(self, estimator: Any, context: Any, **rest: Any) -> bool:  # noqa: ARG002
        """Return whether to stop."""
        return self.wanted

    def __call__(self, number: int, frame: Any) -> None:
        """Take Ctrl-C: the first one as a wish, the second as an order."""
        if self.wanted:
            signal.default_int_handler(number, frame)
        self.wanted = True
        _print.note("stopping after this step, with the best tree found so far; Ctrl-C again ends at once")


@contextlib.contextmanager
def stoppable(clf: Any) -> Iterator[Stop]:
    """Let Ctrl-C end the fit of a classifier early; where scikit-learn has no callbacks, `fit` alone sees to it."""
    stop = Stop()
    if threading.current_thread() is not threading.main_thread() or not hasattr(clf, "set_callbacks"):
        yield stop
        return
    clf.set_callbacks(stop)
    before = signal.signal(signal.SIGINT, stop)
    try:
        yield stop
    finally:
        signal.signal(signal.SIGINT, before)
