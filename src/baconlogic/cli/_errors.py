"""What a command says when it cannot go on."""

from __future__ import annotations

import re


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
    if not isinstance(error, RefusedError | MisusedError):
        said = in_options(said)
    if isinstance(error, KeyError):
        said = f"{said} is not there"
    known = isinstance(
        error, RefusedError | MisusedError | ValueError | TypeError | LookupError | ImportError | OSError
    )
    if known and said:
        return said
    return f"{type(error).__name__}: {said or 'no more is known'}; run it again with --debug to see where"


def in_options(said: str) -> str:
    """Return what the library says to programs as it is said to people at a command line."""
    for pattern, meant in _IN_OPTIONS:
        said = re.sub(pattern, meant, said)
    return _PATH.sub(lambda found: ".".join(re.findall(r"\d+", found[1])) or "root", said)


_PATH = re.compile(r"^\(([\d, ]*)\)(?= is )")
_IN_OPTIONS = (
    (
        r"add `missing 0\.5` to the criterion's brackets, fill the value in, or ask bounds\(\) for the range",
        "fill the value in, or say how true a missing one is: baconlogic edit MODEL --criterion 'COLUMN=missing 0.5'",
    ),
    (r"ask `unknown` whether", "ask --only unknown whether"),
    (r"give init=Tree\.parse\(\.\.\.\) or order=\[\.\.\.\]", "give --init 'HC(a, b)' or --order a,b"),
    (r"^n_jobs == 0 .*", "--n-jobs must not be 0; use 1, or -1 for one a core"),
    (r"^n_splits=(\d+) cannot be .*", r"--cv \1 needs \1 rows of each class; use fewer parts"),
    (r"^class_weight times sample_weight", "--class-weight"),
    (r"^andness must be \(lowest, highest\)", "--andness must be LOWEST:HIGHEST"),
    (r"^(required|forbidden|order|directions|init|immutable) names ", r"--\1 names "),
    (r"^(max_leaves|time_budget) must be (.*), or None, ", r"--\1 must be \2, "),
    (r"--(max|time)_(leaves|budget)", r"--\1-\2"),
    (r"^search='(\w+)'", r"--search \1"),
    (r"(?<![\w'\"])(label|real|name|dialect|table)=(?=[ ,;]|$)", r"--\1"),
    (
        r"^(a threshold turns a decision between two classes; here are \d+)$",
        r"\1; learn one of them: fit --positive CLASS",
    ),
)

_OS_HINTS: dict[type[OSError], str] = {
    FileNotFoundError: "there is no such file or folder; check the path",
    IsADirectoryError: "this is a folder; give a file",
    NotADirectoryError: "a part of this path is a file, not a folder; check the path",
    PermissionError: "permission denied; check who may read and write there",
}
