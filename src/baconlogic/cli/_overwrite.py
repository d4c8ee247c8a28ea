"""What a command may write over: nothing that it reads and, without --force, only what is of the same kind.

Kinds are recognised by what a file holds, not by its name: the `format` of a model, the first line of an export.
"""

from __future__ import annotations

import csv
import json
import os
import sys
import zipfile
from pathlib import Path

from baconlogic.cli import _tables
from baconlogic.cli._run import MisusedError, RefusedError
from baconlogic.core import files

HEAD = 4096  # bytes at the start of a file that say what it is
EXPORTED = b"A graded-logic decision, exported by baconlogic "
KINDS = {
    "model": "a model", "log": "a log of edits", "predictions": "predictions", "report": "a report of baconlogic",
    "demo": "the table of the demo", "python": "exported Python", "javascript": "exported JavaScript",
    "c": "exported C", "sql": "exported SQL", "latex": "exported LaTeX", "onnx": "an exported ONNX model",
    "excel": "an exported workbook",
}  # fmt: skip
STARTS = {
    "python": b"# -*- coding: utf-8 -*-\n# " + EXPORTED,
    "javascript": b"// " + EXPORTED,
    "c": b"/*\n * " + EXPORTED,
    "sql": b"-- " + EXPORTED,
    "latex": b"% " + EXPORTED,
}
REPORTED = (b'<meta name="generator" content="baconlogic">', b"[//]: # (A report by baconlogic.)")


def destination(output: Path | None, in_place: bool, model: Path, *read: Path | None, force: bool) -> Path:
    """Return where an edited model goes; only --in-place writes over the model that is read."""
    if output is not None and in_place:
        raise MisusedError("give -o NEW.json or --in-place, not both")
    if output is None and not in_place:
        raise MisusedError("say where the new model goes: -o NEW.json, or --in-place to write over the old one")
    if output is not None and _same(output, model) and not files.is_stream(output):
        raise MisusedError(f"{output} is the model that is read; give another name, or --in-place to write over it")
    check(output, "model", *read, force=force)
    return model if output is None else output


def check(path: Path | None, kind: str, *taken: Path | None, force: bool, content: bytes | None = None) -> None:
    """Refuse to write over what the command reads or writes already, and over another kind of file without --force.

    Also refuse what cannot be written at all: before the work is done that would be lost.
    `content`: only a file that holds exactly this is of the kind.
    """
    if path is None:
        return
    if path.is_dir():
        raise RefusedError(f"{path}: this is a folder; give the name of a file, e.g. {path / 'new.json'}")
    if not path.parent.is_dir():
        raise RefusedError(f"{path.parent}: there is no such folder to write to; make it first")
    if files.is_stream(path):
        return
    if not os.access(path.parent, os.W_OK):
        raise RefusedError(f"{path.parent}: permission denied; write to a folder of your own")
    for other in taken:
        if other is not None and _same(path, other):
            raise MisusedError(f"{path} is a file that this command uses already; give another name to write to")
    if force or not path.exists() or not path.stat().st_size:
        return
    if path.read_bytes() != content if content is not None else not _is(kind, path):
        raise MisusedError(
            f"{path} would be overwritten and is not {KINDS[kind]}; give another name, or --force to write over it"
        )


def check_folder(path: Path | None) -> None:
    """Refuse what cannot be a folder."""
    if path is not None and path.exists() and not path.is_dir():
        raise RefusedError(f"{path}: this is a file; give the name of a folder, which may be new")


def _same(path: Path, other: Path) -> bool:
    """Whether two paths are one file, through links of both sorts; `-` is the file that stdin reads, if it is one."""
    piped = str(other) == "-"
    try:
        return os.path.samestat(path.stat(), os.fstat(sys.stdin.fileno()) if piped else other.stat())
    except (OSError, ValueError, AttributeError):  # one of them is not there
        return not piped and path.resolve() == other.resolve()


def _is(kind: str, path: Path) -> bool:
    """Whether a file is what baconlogic writes as this kind."""
    with path.open("rb") as file:
        head = file.read(HEAD)
    if kind in STARTS:
        return head.startswith(STARTS[kind])
    if kind == "report":
        return any(mark in head for mark in REPORTED)
    if kind == "onnx":
        return b"\x12\x0abaconlogic" in head[:32]  # the producer
    if kind == "excel":
        return _is_workbook(path)
    if kind == "predictions":
        return _is_predicted(path)
    return _is_document(path, log=kind == "log")


def _is_document(path: Path, *, log: bool) -> bool:
    try:
        found = files.read(path)
    except files.ModelFormatError:
        return False
    if log:
        found = found.get("original") if isinstance(found, dict) and "entries" in found else None
    return isinstance(found, dict) and found.get("format") == files.FORMAT


def _is_workbook(path: Path) -> bool:
    try:
        with zipfile.ZipFile(path) as book:
            return b"<dc:creator>baconlogic</dc:creator>" in book.read("docProps/core.xml")
    except (zipfile.BadZipFile, KeyError, ValueError):
        return False


def _is_predicted(path: Path) -> bool:
    """Whether the last columns of a table are what predict says, and nothing that somebody added."""
    names = _columns(path)
    if "prediction" not in names:
        return False
    said = names[len(names) - names[::-1].index("prediction") :]
    return bool(said) and all(name == "truth" or name.startswith(("truth_", "probability_")) for name in said)


def _columns(path: Path) -> list[str]:
    kind = _tables.FORMATS.get(path.suffix.lower())
    try:
        if kind == "parquet":
            return list(_tables.polars().read_parquet_schema(path))
        with path.open("rb") as file:
            line = file.readline(1 << 20).decode()
        if kind == "jsonl":
            return list(json.loads(line))
        return next(csv.reader([line], delimiter="\t" if kind == "tsv" else ","), [])
    except (_tables.polars().exceptions.PolarsError, csv.Error, ValueError, TypeError):
        return []
