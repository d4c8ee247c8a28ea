"""Arguments and options that several commands have, and how their text is read."""

from __future__ import annotations

import json
from collections.abc import Iterable
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

from typer import Argument, Option

from baconlogic.cli._run import MisusedError, RefusedError

# Choices: they complete, and others are refused. A test holds them against what the library takes.
Formats = StrEnum("Formats", ["csv", "tsv", "parquet", "jsonl"])
Search = StrEnum("Search", ["auto", "cards", "growth", "additive", "peel", "sinkhorn", "refine", "calibrate"])
Criteria = StrEnum("Criteria", ["learned", "sigmoid", "minmax"])
Form = StrEnum("Form", ["auto", "checklist", "scorecard", "rules", "graded"])
Simplicity = StrEnum("Simplicity", {"best": "best", "one_se": "one-se"})
Aggregator = StrEnum("Aggregator", ["gcd", "exact"])
Language = StrEnum("Language", ["python", "javascript", "c", "sql", "latex", "onnx", "excel"])

Text = str | None
Texts = list[str] | None  # an option that may be repeated
TABLE, TARGET = "CSV, TSV, Parquet or JSON lines; - reads a pipe.", "The column that holds the classes."
LABEL = "The class to ask about where there are more than two; of a tree, what means yes."
SEED = "The same number gives the same answer."

Model = Annotated[Path, Argument(help="A model file, as fit writes it.", metavar="MODEL")]
Table = Annotated[Path, Argument(help=TABLE, metavar="DATA")]
MaybeTable = Annotated[Path | None, Argument(help=TABLE, metavar="[DATA]")]
Rows = Annotated[Path | None, Option("--data", help="A table to measure on; - reads a pipe.", metavar="DATA")]
Target = Annotated[str, Option("--target", "-t", help=TARGET, metavar="COLUMN")]
MaybeTarget = Annotated[str | None, Option("--target", "-t", help=TARGET, metavar="COLUMN")]
Label = Annotated[str | None, Option(help=LABEL)]
Format = Annotated[Formats | None, Option("--format", help="The format of the table, where its name does not say it.")]
Missing = Annotated[Text, Option(help="Cells of a text table that mean missing, with commas; empty ones always do.")]
Json = Annotated[bool, Option("--json", help="Print one JSON document.")]
Features = Annotated[Texts, Option(help="Use only these columns.")]
Drop = Annotated[Texts, Option(help="Leave these columns out.")]
Groups = Annotated[Texts, Option(help="Parts of the tree and their columns: NAME=COLUMN,COLUMN; several with ;")]
MaxLeaves = Annotated[int | None, Option(help="The largest tree to consider.")]
NewModel = Annotated[Path | None, Option("--output", "-o", help="Where to write the new model.", metavar="MODEL")]
InPlace = Annotated[bool, Option("--in-place", help="Write the model over the old one.")]
Force = Annotated[bool, Option("--force", help="Write over a file of another kind.")]
Seed = Annotated[int, Option("--random-state", "--seed", help=SEED, min=0, max=2**32 - 1)]
Jobs = Annotated[int | None, Option("--n-jobs", help="Searches side by side; -1 for one a core.")]


def check_jobs(n_jobs: int | None) -> None:
    """Refuse no search at all."""
    if n_jobs == 0:
        raise RefusedError("--n-jobs must not be 0; use 1, or -1 for one a core")


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
