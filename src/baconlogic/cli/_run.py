"""Run a command line: every error is one line on stderr and an exit code, with the traceback only on demand."""

from __future__ import annotations

import contextlib
import functools
import io
import os
import sys
import traceback
from collections.abc import Callable, Sequence
from typing import Any

import typer

from baconlogic.cli import _print as printing
from baconlogic.cli._errors import MisusedError, explain

DEBUG = "BACONLOGIC_DEBUG"
UNUSABLE, MISUSED, INTERRUPTED = 1, 2, 130
UNREAD = 141  # what a shell says of a program that SIGPIPE ended


def run(arguments: Sequence[str]) -> int:
    """Run a command line and return its exit code."""
    given = list(arguments)
    if "--debug" in given:  # may stand anywhere
        given.remove("--debug")
        os.environ[DEBUG] = "1"
    _reopen()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace", encoding=None if stream.isatty() else "utf-8")
    code = _code(given)
    try:
        sys.stdout.flush()
    except OSError:  # it was said; Python would say it again at its end
        _quiet()
    return code


def _code(given: list[str]) -> int:
    from baconlogic.cli._app import app

    try:
        code = app(given, prog_name="baconlogic", standalone_mode=False)
        sys.stdout.flush()
    except BrokenPipeError:
        return _quiet()
    except SystemExit as end:  # of shell completion, and where typer finds the pipe closed
        return _quiet() if isinstance(end.__context__, BrokenPipeError) else int(end.code or 0)
    except (KeyboardInterrupt, typer.Abort):
        printing.error("interrupted")
        return INTERRUPTED
    except Exception as error:
        if not hasattr(error, "format_message"):  # the usage errors of every version of typer and click have one
            raise
        return _usage(error)
    return code if isinstance(code, int) else 0


def _usage(error: Any) -> int:
    """Say what is wrong with the command line, and where help is."""
    context = getattr(error, "ctx", None)
    path = context.command_path if context is not None else "baconlogic"
    said = " ".join(str(error.format_message()).split()).rstrip(".") or "a command is missing"
    printing.error(f"{said}; see {path} --help")
    return MISUSED


def _quiet() -> int:
    """End without a word: whoever read the answer, `head` perhaps, has seen enough."""
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError):  # what is not written yet goes nowhere, or Python would complain
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
    return UNREAD


def _reopen() -> None:
    """Take a closed stdout (`>&-`, where Python has None) for a pipe that nobody reads, and a closed stderr as well."""
    if sys.stdout is None:
        reader, writer = os.pipe()
        os.close(reader)
        sys.stdout = os.fdopen(writer, "w", encoding="utf-8")
    if sys.stderr is None:
        sys.stderr = os.fdopen(os.open(os.devnull, os.O_WRONLY), "w", encoding="utf-8")


def guarded(command: Callable[..., Any]) -> Callable[..., Any]:
    """Return the command with its errors told in one line."""

    @functools.wraps(command)
    def run_it(*args: Any, **options: Any) -> Any:
        try:
            with printing.warnings_as_notes():
                done = command(*args, **options)
            sys.stdout.flush()
        except BrokenPipeError:
            raise typer.Exit(_quiet()) from None
        except KeyboardInterrupt:
            printing.error("interrupted")
            raise typer.Exit(INTERRUPTED) from None
        except (typer.Exit, typer.Abort):
            raise
        except Exception as error:
            if hasattr(error, "format_message"):
                raise
            if isinstance(error.__cause__ or error.__context__, KeyboardInterrupt):  # it came in compiled code
                printing.error("interrupted")
                raise typer.Exit(INTERRUPTED) from None
            if os.environ.get(DEBUG):
                printing.beside(traceback.format_exc().rstrip())
            printing.error(explain(error))
            raise typer.Exit(MISUSED if isinstance(error, MisusedError) else UNUSABLE) from None
        return done

    return run_it
