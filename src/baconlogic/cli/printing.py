"""Everything that is printed: answers on stdout, notes on stderr, colours and progress on terminals only."""

from __future__ import annotations

import contextlib
import json
import math
import os
import sys
import warnings
from collections.abc import Iterator, Mapping
from typing import Any

MARKS = (
    r"(?P<gate>\((?:[A-Z]{1,3}[+-]{0,3}), andness -?[\d.]+\))",
    r"(?P<line>[│├└─]+)",
    r"(?P<share>(?<![\w.])\d+(?:\.\d+)?%)",
    r"(?P<label>'[^'\n]*')",
)
STYLES = {"mark.gate": "cyan", "mark.line": "dim", "mark.share": "bold", "mark.label": "green"}


def answer(text: str) -> None:
    """Print an answer: in colours on a terminal, as it is everywhere else."""
    if not text.endswith("\n"):
        text += "\n"
    if not sys.stdout.isatty() or os.environ.get("NO_COLOR"):
        sys.stdout.write(text)
        return
    from rich.console import Console
    from rich.highlighter import RegexHighlighter
    from rich.text import Text
    from rich.theme import Theme

    class Marks(RegexHighlighter):
        base_style = "mark."
        highlights = list(MARKS)  # noqa: RUF012

    Console(theme=Theme(STYLES)).print(Marks()(Text(text)), soft_wrap=True, end="")


def document(data: Any) -> None:
    """Print one JSON document; what is no number is null."""
    sys.stdout.write(json.dumps(plain(data), ensure_ascii=False, allow_nan=False, indent=2) + "\n")


def give(result: Any, as_json: bool) -> None:
    """Print a result as text, or as the JSON of its `to_dict()`."""
    if as_json:
        document(result.to_dict())
    else:
        answer(str(result))


def note(text: str) -> None:
    """Say something beside the answer."""
    sys.stderr.write(f"note: {' '.join(text.split())}\n")


def error(text: str) -> None:
    """Say in one line what went wrong."""
    sys.stderr.write(f"baconlogic: {text}\n")


def plain(value: Any) -> Any:
    """Return what JSON can hold: None for NaN and infinity, lists for tuples and arrays, text for what is neither."""
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [plain(item) for item in value]
    if hasattr(value, "tolist"):  # of numpy
        return plain(value.tolist())
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value if value is None or isinstance(value, bool | int | str) else str(value)


def shows_progress() -> bool:
    """Whether progress is to be shown: on a terminal; what is shown then goes to stderr, beside the answer."""
    if not sys.stderr.isatty():
        return False
    import rich

    rich.reconfigure(stderr=True)
    return True


@contextlib.contextmanager
def busy(what: str) -> Iterator[None]:
    """Show a sign of life on a terminal."""
    if not sys.stderr.isatty():
        yield
        return
    from rich.console import Console

    with Console(stderr=True).status(f"{what} ..."):
        yield


@contextlib.contextmanager
def warnings_as_notes() -> Iterator[list[str]]:
    """Say warnings as notes, each once, and give what was said."""
    said: list[str] = []

    def show(message: Any, *_: Any, **__: Any) -> None:
        if str(message) not in said:
            said.append(str(message))
            note(str(message))

    with warnings.catch_warnings():
        warnings.showwarning = show
        yield said


def beside(text: str) -> None:
    """Print a text of several lines beside an answer that a program may read."""
    sys.stderr.write(f"{text}\n")
