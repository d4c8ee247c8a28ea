r"""Everything that is printed: answers on stdout, notes on stderr, colours and progress on terminals only.

Names come from files that others wrote: what in them would drive a terminal is shown escaped, as \x1b. Only data for
programs, CSV and code, go into a file or a pipe as they are; JSON says the same with its own escapes.
"""

from __future__ import annotations

import contextlib
import json
import math
import os
import re
import sys
import warnings
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

MARKS = (
    r"(?P<gate>\((?:[A-Z]{1,3}[+-]{0,3}), andness -?[\d.]+\))",
    r"(?P<line>[│├└─]+)",
    r"(?P<share>(?<![\w.])\d+(?:\.\d+)?%)",
    r"(?P<label>'[^'\n]*')",
)
STYLES = {"mark.gate": "cyan", "mark.line": "dim", "mark.share": "bold", "mark.label": "green"}

# control characters but newline and tab, what turns the direction of writing, and halves of characters
UNSEEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def visible(text: str) -> str:
    """Return a text with escapes for what a terminal would not show but obey."""
    return UNSEEN.sub(lambda found: ascii(found[0])[1:-1], text)


def answer(text: str) -> None:
    """Print an answer: in colours on a terminal, without everywhere else."""
    text = visible(text if text.endswith("\n") else f"{text}\n")
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


def data(text: str) -> None:
    """Print what a program may read: on a terminal visible, into a file or a pipe as it is."""
    if sys.stdout.isatty():
        answer(text)
    else:
        sys.stdout.write(text if text.endswith("\n") else f"{text}\n")


def document(content: Any) -> None:
    """Print one JSON document; what is no number is null."""
    text = json.dumps(plain(content), ensure_ascii=False, allow_nan=False, indent=2)
    sys.stdout.write(UNSEEN.sub(lambda found: f"\\u{ord(found[0]):04x}", text) + "\n")


def give(content: Any, text: str, as_json: bool) -> None:
    """Print one JSON document, or the same as text."""
    if as_json:
        document(content)
    else:
        answer(text)


def note(text: str) -> None:
    """Say something beside the answer."""
    beside(f"note: {' '.join(visible(text).split())}")


def error(text: str) -> None:
    """Say in one line what went wrong."""
    beside(f"baconlogic: {text}")


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


def written(path: Sequence[int]) -> str:
    """Return a path as it is written: root, 0, 0.1."""
    return ".".join(map(str, path)) or "root"


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
def warnings_as_notes() -> Iterator[None]:
    """Say warnings as notes, each once."""
    said: set[str] = set()

    def show(message: Any, *_: Any, **__: Any) -> None:
        if str(message) not in said:
            said.add(str(message))
            note(str(message))

    with warnings.catch_warnings():
        warnings.showwarning = show
        yield


def beside(text: str) -> None:
    """Print a text of several lines beside an answer that a program may read."""
    sys.stderr.write(visible(f"{text}\n"))
