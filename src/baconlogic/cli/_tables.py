"""Data files: CSV, TSV, Parquet and JSON lines, from a path or a pipe, as polars frames.

The columns of a text table are typed by all of their cells, as pandas does: whole numbers, numbers, true/false, text.
"""

from __future__ import annotations

import csv
import difflib
import gzip
import io
import sys
import zlib
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from baconlogic.cli import _print
from baconlogic.cli._run import RefusedError

if TYPE_CHECKING:
    from polars import DataFrame

FORMATS = {
    ".csv": "csv", ".txt": "csv", ".tsv": "tsv", ".tab": "tsv", ".parquet": "parquet", ".pq": "parquet",
    ".jsonl": "jsonl", ".ndjson": "jsonl",
}  # fmt: skip
MISSING = (
    "", "NA", "N/A", "n/a", "#N/A", "<NA>", "NaN", "nan", "-NaN", "-nan", "NULL", "null", "None", "?",
)  # fmt: skip
DELIMITERS = ",;\t|"


def polars() -> Any:
    """Return the package that reads tables."""
    try:
        import polars as pl
    except ModuleNotFoundError:
        raise RefusedError('tables are read with polars; pip install "baconlogic[cli]"') from None
    return pl


def read(path: Path, form: str | None = None, missing: str | None = None) -> DataFrame:
    """Return the table of a file, or of the pipe where the path is `-`."""
    kind = _format_of(path, form)
    content = _bytes(path)
    if not content:
        raise RefusedError(f"{path}: the table is empty; expected a line of column names and rows below it")
    frame = _text(path, content, kind, missing) if kind in ("csv", "tsv") else _typed_already(path, content, kind)
    blank = [name for name in frame.columns if not name.strip()]
    if blank:
        _print.note(f"{path}: a column without a name is left out")
        frame = frame.drop(blank)
    if not frame.width or not frame.height:
        lacking = "rows" if frame.width else "columns"
        raise RefusedError(f"{path}: the table has no {lacking}, so there is nothing to do")
    return frame


def _format_of(path: Path, form: str | None) -> str:
    """Return the format of a file, by option or name; CSV of a pipe without either."""
    if form is not None:
        return str(form)
    named = path.with_suffix("") if path.suffix.lower() == ".gz" else path
    found = FORMATS.get(named.suffix.lower())
    if found is None and str(path) != "-" and not path.is_dir():
        path.stat()  # a missing file is said to be missing
        raise RefusedError(f"{path}: the name does not say what it is; add --format csv, tsv, parquet or jsonl")
    return found or "csv"


def _bytes(path: Path) -> bytes:
    content = sys.stdin.buffer.read() if str(path) == "-" else path.read_bytes()
    if content[:2] != b"\x1f\x8b":
        return content
    try:
        return gzip.decompress(content)
    except (OSError, EOFError, zlib.error) as problem:
        raise RefusedError(f"{path}: it cannot be unpacked ({problem}); make it again with gzip") from None


def _text(path: Path, content: bytes, kind: str, missing: str | None) -> DataFrame:
    _check_text(path, content)
    pl = polars()
    head = content[: 1 << 16].decode("utf-8-sig", errors="ignore")
    line = next((line for line in head.splitlines() if line.strip()), "")
    outside = "".join(line.split('"')[::2])  # of quotes, where the mark that is there most often separates the names
    delimiter = "\t" if kind == "tsv" else max(DELIMITERS, key=outside.count)
    names = next(csv.reader(io.StringIO(head), delimiter=delimiter), [])
    twice = [name for name, times in Counter(name for name in names if name.strip()).items() if times > 1]
    nameless = sum(map(_is_number, names)) > len(names) / 2
    if twice:
        what = "put a line of names on top, if this is a row of values" if nameless else "rename one of them"
        raise RefusedError(f"{path}: two columns are called {twice[0]!r} in the first line; {what}")
    if nameless and any("." in name for name in names):
        shown = ", ".join(names[:3])
        _print.note(f"{path}: the first line is taken as names of columns, but looks like values: {shown}")
    try:
        frame: DataFrame = pl.read_csv(io.BytesIO(content), separator=delimiter, infer_schema_length=0)
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException) as problem:
        _check_widths(path, content, delimiter)
        raise RefusedError(f"{path}: not a {kind.upper()} table; {_first_line(problem)}") from None
    if frame.height and frame.get_column(frame.columns[-1]).null_count():  # rows may be too short
        blank = _check_widths(path, content, delimiter)
        frame = frame.with_row_index("\0").filter(~pl.col("\0").is_in(blank)).drop("\0") if blank else frame
    unknown = set(MISSING if missing is None else ["", *(word.strip() for word in missing.split(","))])
    return frame.select([_typed(pl, frame.get_column(name), unknown) for name in frame.columns])


def _check_text(path: Path, content: bytes) -> None:
    """Refuse what is no text in UTF-8."""
    start = content[:4096]
    if start[:2] in (b"\xff\xfe", b"\xfe\xff"):
        raise RefusedError(f"{path}: this is UTF-16 text; save it as UTF-8")
    if start[:2] == b"PK":
        raise RefusedError(f"{path}: this is a zip or Excel file; unpack it, or save it as CSV")
    if start[:4] == b"PAR1":
        raise RefusedError(f"{path}: this is a Parquet file; add --format parquet")
    if b"\0" in start:
        raise RefusedError(f"{path}: this is no text table but binary data; give CSV, TSV, Parquet or JSON lines")
    try:
        content.decode("utf-8")
    except UnicodeDecodeError as problem:
        line = content.count(b"\n", 0, problem.start) + 1
        raise RefusedError(
            f"{path}, line {line}: this is not UTF-8 text; convert it, e.g. iconv -f latin1 -t utf-8 old.csv > new.csv"
        ) from None


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _check_widths(path: Path, content: bytes, delimiter: str) -> list[int]:
    """Refuse rows that are shorter or longer than the header; return which are blank, counted from 0."""
    text = content.decode("utf-8-sig")
    lines = text.count("\n") + 1
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    try:
        width = len(next(reader, []))
        blank: list[int] = []
        for row, cells in enumerate(reader):
            if not cells:
                blank.append(row)
            elif len(cells) < width and reader.line_num == lines and not content.endswith((b"\n", b"\r")):
                _print.note(f"{path}: the last line is cut short; what it lacks counts as missing")
            elif len(cells) != width:
                raise RefusedError(
                    f"{path}, line {reader.line_num}: expected {width} values as in the header, got {len(cells)}; "
                    "mend the row, or check quotes and delimiter"
                )
    except csv.Error as problem:
        raise RefusedError(f"{path}, line {reader.line_num}: {problem}; check the quotes") from None
    return blank


def _typed(pl: Any, column: Any, unknown: set[str]) -> Any:
    """Return a column of text as what all of its cells are."""
    bare = column.str.strip_chars()
    known = ~bare.is_in(list(unknown))
    bare, column = (pl.select(pl.when(known).then(each)).to_series().alias(column.name) for each in (bare, column))
    if bare.null_count() == len(bare):
        return bare
    for kind in (pl.Int64, pl.Float64):
        numbers = bare.cast(kind, strict=False)
        if numbers.null_count() == bare.null_count():
            return numbers
    words = bare.str.to_lowercase()
    if words.drop_nulls().is_in(["true", "false"]).all():
        return words == "true"
    return column


def _typed_already(path: Path, content: bytes, kind: str) -> DataFrame:
    """Return the table of Parquet or JSON lines, which say what their cells are."""
    pl = polars()
    lines = kind == "jsonl"
    if lines:
        _check_text(path, content)
    try:
        file = io.BytesIO(content)
        frame: DataFrame = pl.read_ndjson(file, infer_schema_length=None) if lines else pl.read_parquet(file)
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, TypeError) as problem:
        what = "not JSON lines, one object a row" if lines else "not a Parquet file"
        raise RefusedError(f"{path}: {what}; {_first_line(problem)}") from None
    deep = [name for name, kind in frame.schema.items() if kind.is_nested()]
    if deep:
        raise RefusedError(f"{path}: column {deep[0]!r} holds lists or objects; a cell is a number, text or true/false")
    return frame


def _first_line(problem: BaseException) -> str:
    return next((line.strip() for line in str(problem).splitlines() if line.strip()), type(problem).__name__)


def require(frame: DataFrame, what: str, *names: str) -> None:
    """Refuse a name that no column has."""
    name = next((name for name in names if name not in frame.columns), None)
    if name is None:
        return
    plain = {column.lower(): column for column in frame.columns}
    close = difflib.get_close_matches(name.strip().lower(), plain, n=1)
    shown = ", ".join(map(repr, frame.columns[:10])) + (", ..." if frame.width > 10 else "")
    hint = f"did you mean {plain[close[0]]!r}?" if close else f"the table has {shown}"
    raise RefusedError(f"there is no column {name!r} for {what}; {hint}")


def as_bytes(frame: DataFrame, path: Path) -> bytes:
    """Return a table as the file of this name holds it."""
    kind, file = FORMATS[path.suffix.lower()], io.BytesIO()
    if kind == "parquet":
        frame.write_parquet(file)
    elif kind == "jsonl":
        frame.write_ndjson(file)
    else:
        frame.write_csv(file, separator="\t" if kind == "tsv" else ",")
    return file.getvalue()
