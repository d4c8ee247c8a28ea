"""What a command says when it cannot go on."""

from __future__ import annotations


class RefusedError(Exception):
    """Data or a model that cannot be used: exit code 1."""


class MisusedError(Exception):
    """Options that do not go together: exit code 2."""


def explain(error: BaseException) -> str:
    """Return what went wrong in one line."""
    if isinstance(error, MemoryError):
        return "there is not enough memory for this; use fewer rows or columns"
    if isinstance(error, OSError) and error.strerror:
        where = f"{error.filename}: " if error.filename else ""
        return f"{where}{_OS_HINTS.get(type(error), error.strerror.lower())}"
    problem = getattr(error, "problem", None)
    if isinstance(problem, str) and hasattr(error, "position"):  # a formula, whose message marks the place below it
        return f"{problem} (at character {error.position + 1} of the formula)"
    said = " ".join(str(error).split())
    for words, meant in _IN_OPTIONS.items():
        said = said.replace(words, meant)
    if isinstance(error, KeyError):
        said = f"{said} is not there"
    known = isinstance(
        error, RefusedError | MisusedError | ValueError | TypeError | LookupError | ImportError | OSError
    )
    if known and said:
        return said
    return f"{type(error).__name__}: {said or 'no more is known'}; run it again with --debug to see where"


# What the library says to programs, said to people at a command line.
_IN_OPTIONS = {
    "add `missing 0.5` to the criterion's brackets, fill the value in, or ask bounds() for the range": (
        "fill the value in, or say how true a missing one is: baconlogic edit MODEL --criterion 'COLUMN=missing 0.5'"
    ),
    "give label=": "give --label",
}

_OS_HINTS: dict[type[OSError], str] = {
    FileNotFoundError: "there is no such file or folder; check the path",
    IsADirectoryError: "this is a folder; give a file",
    NotADirectoryError: "a part of this path is a file, not a folder; check the path",
    PermissionError: "permission denied; check who may read and write there",
}
