"""Arguments and options that several commands have, and how their text is read."""

from __future__ import annotations

import difflib
import json
import os
from collections.abc import Iterable
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from baconlogic.cli import _print as printing
from baconlogic.cli._errors import MisusedError, RefusedError
from baconlogic.core.files import is_stream

if TYPE_CHECKING:
    from baconlogic import Tree

# Choices: they complete, and others are refused. A test holds them against what the library takes.
Formats = StrEnum("Formats", ["csv", "tsv", "parquet", "jsonl"])
Search = StrEnum("Search", ["auto", "growth", "additive", "peel", "sinkhorn", "refine", "calibrate"])
Criteria = StrEnum("Criteria", ["learned", "sigmoid", "minmax"])
Simplicity = StrEnum("Simplicity", {"best": "best", "one_se": "one-se"})
Aggregator = StrEnum("Aggregator", ["gcd", "exact"])
Language = StrEnum("Language", ["python", "javascript", "c", "sql", "latex", "onnx", "excel"])

Model = Annotated[Path, typer.Argument(help="A model file, as fit writes it.", metavar="MODEL")]
Table = Annotated[Path, typer.Argument(help="CSV, TSV, Parquet or JSON lines; - reads a pipe.", metavar="DATA")]
MaybeTable = Annotated[
    Path | None, typer.Argument(help="CSV, TSV, Parquet or JSON lines; - reads a pipe.", metavar="[DATA]")
]
Rows = Annotated[Path | None, typer.Option("--data", help="A table to measure on; - reads a pipe.", metavar="DATA")]
Target = Annotated[str, typer.Option("--target", "-t", help="The column that holds the classes.", metavar="COLUMN")]
MaybeTarget = Annotated[
    str | None, typer.Option("--target", "-t", help="The column that holds the classes.", metavar="COLUMN")
]
Label = Annotated[
    str | None,
    typer.Option("--label", help="The class to ask about where there are more than two; of a tree, what means yes."),
]
Format = Annotated[
    Formats | None, typer.Option("--format", help="The format of the table, where its name does not say it.")
]
Missing = Annotated[
    str | None,
    typer.Option("--missing", help="Cells of a text table that mean missing, with commas; empty ones always do."),
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON document.")]
NewModel = Annotated[Path | None, typer.Option("--output", "-o", help="Where to write the new model.", metavar="MODEL")]
InPlace = Annotated[bool, typer.Option("--in-place", help="Write the model over the old one.")]
Force = Annotated[bool, typer.Option("--force", help="Write over a file of another kind.")]
Seed = Annotated[
    int, typer.Option("--random-state", "--seed", help="The same number gives the same answer.", min=0, max=2**32 - 1)
]
Jobs = Annotated[int | None, typer.Option("--n-jobs", help="Searches side by side; -1 for one a core.")]


def split(given: Iterable[str] | None, known: Iterable[str] = ()) -> list[str]:
    """Return the names in options that may be repeated, or hold several with commas; a known name may hold commas."""
    names, found = set(known), []
    for text in given or ():
        found += [text] if text in names else [part.strip() for part in text.split(",") if part.strip()]
    return found


def pair(text: str, option: str, form: str, *, last: bool = False) -> tuple[str, str]:
    """Return the two sides of PART=VALUE."""
    left, sign, right = text.rpartition("=") if last else text.partition("=")
    if not sign or not left.strip() or not right.strip():
        raise MisusedError(f"{option} takes {form}, got {text!r}")
    return left.strip(), right.strip()


def value(text: str) -> Any:
    """Return a value as JSON reads it, else as text; empty, NA and null are missing."""
    if text in ("", "NA", "NaN", "nan", "?", "null"):
        return None
    try:
        read = json.loads(text)
    except ValueError:
        return text
    return text if isinstance(read, list | dict) else read


def number(text: str, option: str) -> float:
    """Return a number, or refuse the text."""
    try:
        return float(text)
    except ValueError:
        raise MisusedError(f"{option} takes a number, got {text!r}") from None


def check_jobs(n_jobs: int | None) -> None:
    """Refuse no search at all."""
    if n_jobs == 0:
        raise RefusedError("--n-jobs must not be 0; use 1, or -1 for one a core")


def part(text: str) -> tuple[int, ...] | str:
    """Return how a part of a tree is addressed: "root", a path such as 0.1, else a name or feature."""
    if text in ("root", "."):
        return ()
    steps = text.split(".")
    return tuple(map(int, steps)) if all(step.isascii() and step.isdigit() for step in steps) else text


def place(tree: Tree, text: str) -> tuple[int, ...]:
    """Return the path of the part that a text addresses."""
    try:
        return tree.find(part(text))
    except LookupError:
        pass
    called = [path for path, node in tree.walk() if text in (node.name, getattr(node, "feature", None))]
    if called:
        paths = ", ".join(printing.written(path) for path in called)
        raise RefusedError(
            f"{text!r} stands for {len(called)} parts; say which by its path: {paths} (see show --parts)"
        )
    known = list(
        dict.fromkeys(each for _, node in tree.walk() for each in (node.name, getattr(node, "feature", None)) if each)
    )
    close = difflib.get_close_matches(text, known, n=1)
    hint = f"did you mean {close[0]!r}? " if close else ""
    raise RefusedError(f"there is no part {text!r} in the tree; {hint}show --parts lists them with their paths")


def check_file(path: Path | None) -> None:
    """Refuse a file that cannot be written, before the work is done that would be lost."""
    if path is None:
        return
    if path.is_dir():
        raise RefusedError(f"{path}: this is a folder; give the name of a file, e.g. {path / 'new.json'}")
    if not path.parent.is_dir():
        raise RefusedError(f"{path.parent}: there is no such folder to write to; make it first")
    if not os.access(path.parent, os.W_OK) and not is_stream(path):
        raise RefusedError(f"{path.parent}: permission denied; write to a folder of your own")


def check_folder(path: Path | None) -> None:
    """Refuse what cannot be a folder."""
    if path is not None and path.exists() and not path.is_dir():
        raise RefusedError(f"{path}: this is a file; give the name of a folder, which may be new")
