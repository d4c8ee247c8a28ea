"""What a command says when it cannot go on."""

from __future__ import annotations

from baconlogic.cli import _print as printing
from baconlogic.core.checks import Hint, Parameter, Place, parts_of
from baconlogic.core.notation import FormulaError


class RefusedError(Exception):
    """Data or a model that cannot be used: exit code 1."""


class MisusedError(Exception):
    """Options that do not go together: exit code 2."""


# What the library says to who writes Python, as it is said at a command line.
_HINTS = {
    "missing": "the value is missing and no truth for missing values is stated; fill the value in, or say how true a "
    "missing one is: baconlogic edit MODEL --criterion 'COLUMN=missing 0.5'",
    "unknown": "--only unknown",
    "init": "--init 'HC(a, b)'",
    "order": "--order a,b",
    "bounds": "LOWEST:HIGHEST",
    "class_weight": "--class-weight",
    "none": "",
}


def explain(error: Exception) -> str:
    """Return what went wrong in one line."""
    if isinstance(error, MemoryError):
        return "there is not enough memory for this; use fewer rows or columns"
    if isinstance(error, OSError) and error.strerror:
        where = f"{error.filename}: " if error.filename else ""
        return f"{where}{_OS_HINTS.get(type(error), error.strerror.lower())}"
    if isinstance(error, FormulaError):  # whose message marks the place below it
        return f"{error.problem} (at character {error.position + 1} of the formula)"
    said = " ".join("".join(map(_as_option, parts_of(error))).split())
    if isinstance(error, KeyError):
        said = f"{said} is not there"
    known = isinstance(
        error, RefusedError | MisusedError | ValueError | TypeError | LookupError | ImportError | OSError
    )
    if known and said:
        return said
    return f"{type(error).__name__}: {said or 'no more is known'}; run it again with --debug to see where"


def _as_option(part: str | Parameter | Hint | Place) -> str:
    """Return a part of an error's text in the words of a command line: --max-leaves, --search refine, 0.1."""
    if isinstance(part, Parameter):
        return f"--{part.name.replace('_', '-')}" + (f" {part.given}" if part.given else "")
    if isinstance(part, Hint):
        return _HINTS.get(part.about, part.text)
    if isinstance(part, Place) and isinstance(part.what, tuple):
        return printing.written(part.what)
    return str(part)


_OS_HINTS: dict[type[OSError], str] = {
    FileNotFoundError: "there is no such file or folder; check the path",
    IsADirectoryError: "this is a folder; give a file",
    NotADirectoryError: "a part of this path is a file, not a folder; check the path",
    PermissionError: "permission denied; check who may read and write there",
}
