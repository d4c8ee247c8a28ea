"""What an experiment gives: lines that stand beside the paper's figures, and sections in words."""

from __future__ import annotations

import math
import textwrap
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any

from baconlogic.core.subject import Result
from baconlogic.core.words import aligned, number

WIDTH = 120  # columns of a terminal that everything printed fits in
BEATS, MEETS, MISSES = "beats the paper", "meets the paper", "misses the paper"
NO_FIGURE = "the paper has no figure"
SHARE = "%"  # the unit of figures that are shares: 0.9807 is printed as 98.07%


@dataclass(frozen=True)
class Interval(Result):
    """The mean of scores on rows held out, with its 95% interval."""

    mean: float
    low: float
    high: float
    scores: int  # how many fits it is the mean of

    def __str__(self) -> str:
        return f"{share(self.mean)} (95% CI {share(self.low)[:-1]} to {share(self.high)}, {self.scores} fits)"

    @property
    def short(self) -> str:
        """The interval as a cell of a table whose header says what it is."""
        return f"{share(self.mean)} ({share(self.low)[:-1]} to {share(self.high)})"


@dataclass(frozen=True)
class Line(Result):
    """One figure beside the paper's."""

    what: str
    paper: float | None  # None: the paper has no figure
    ours: float
    protocol: str  # how ours was measured: "in sample", "29 of 30 rows held out", ...
    held_out: Interval | None = None
    seconds: float = math.nan  # what ours took
    note: str = ""
    digits: int = 4  # decimals that the paper prints: 4 for 98.07%, a share of 0.9807
    less_is_better: bool = False
    unit: str = SHARE

    @property
    def verdict(self) -> str:
        """Whether ours, rounded as the paper rounds, beats, meets or misses the paper's figure."""
        if self.paper is None:
            return NO_FIGURE
        ours = round(self.ours, self.digits)
        if self.unit == SHARE and self.ours < 1.0 <= ours:  # it is not written as 100% either
            ours -= 10.0**-self.digits
        gain = ours - round(self.paper, self.digits)
        if abs(gain) < 0.5 * 10.0**-self.digits:
            return MEETS
        return BEATS if (gain > 0.0) != self.less_is_better else MISSES

    def written(self, value: float) -> str:
        """Write one of the two figures with its unit."""
        if self.unit == SHARE:
            return share(value, max(self.digits - 2, 0))
        return f"{number(round(value, self.digits))}{self.unit and ' '}{self.unit}"

    def to_dict(self) -> dict[str, Any]:
        """Return the line as plain data, with its verdict."""
        return super().to_dict() | {"verdict": self.verdict}


@dataclass(frozen=True)
class Part(Result):
    """A section of what is printed, already in words."""

    title: str
    text: str

    def __str__(self) -> str:
        return f"== {self.title} ==\n{self.text}"


@dataclass(frozen=True, kw_only=True)
class Experiment(Result):
    """An experiment of the paper, done again. Each one adds fields of its own for what it found."""

    name: str
    title: str
    lines: tuple[Line, ...]
    parts: tuple[Part, ...]
    pictures: tuple[str, ...] = ()  # files that were written
    seconds: float = math.nan

    def __str__(self) -> str:
        shown = [f"{self.title}\n{'=' * len(self.title)}", *map(str, self.parts)]
        shown.append(str(Part("Beside the paper", f"{table(self.lines)}\n\n{tally(self.lines)}.")))
        return "\n\n".join([*shown, self.ending()])

    def ending(self) -> str:
        """Say which files were written and how long it took."""
        took = f"{self.name} took {duration(self.seconds)}."
        return f"{Part('Pictures', chr(10).join(self.pictures))}\n\n{took}" if self.pictures else took


def share(value: float, decimals: int = 1) -> str:
    """Write a share in percent; what is not quite 100% is not rounded to it."""
    shown = f"{100.0 * value:.{decimals}f}"
    if value < 1.0 and float(shown) >= 100.0:
        shown = f"{math.floor(10.0**decimals * 100.0 * value) / 10.0**decimals:.{decimals}f}"
    return f"{shown}%"


def duration(seconds: float) -> str:
    """Write a time as people say it."""
    if math.isnan(seconds):
        return "-"
    if seconds >= 90.0:
        return f"{seconds / 60.0:.1f} min"
    return "<0.01 s" if seconds < 0.005 else f"{seconds:.2f} s" if seconds < 1.0 else f"{seconds:.1f} s"


def table(lines: Iterable[Line]) -> str:
    """Write lines as one table that fits a terminal, with their notes below it."""
    lines = list(lines)
    header = ["", "paper", "ours (how measured)", "held out, 95% interval", "time", "verdict"]
    rows: list[list[str]] = []
    for line in lines:
        rows += _cells(line)
    notes = [paragraph(f"{line.what}: {line.note}") for line in lines if line.note]
    return "\n".join([aligned(header, rows, left=len(header)), *([""] if notes else []), *notes])


def paragraph(text: str) -> str:
    """Fold a text to the width of a terminal."""
    return textwrap.fill(" ".join(text.split()), WIDTH, break_long_words=False, break_on_hyphens=False)


def tally(lines: Iterable[Line]) -> str:
    """Count verdicts: "12 lines: 10 beat, 1 meets, 1 misses the paper"."""
    counted = Counter(line.verdict for line in lines)
    verbs = ((BEATS, "beat"), (MEETS, "meet"), (MISSES, "miss"))
    told = [f"{counted[verdict]} {_verb(verb, counted[verdict])}" for verdict, verb in verbs]
    total = counted.total()
    said = f"{total} line{'' if total == 1 else 's'}: {', '.join(told)} the paper"
    return f"{said}; of {counted[NO_FIGURE]} the paper has no figure" if counted[NO_FIGURE] else said


def _verb(verb: str, count: int) -> str:
    return verb if count != 1 else f"{verb}{'es' if verb.endswith('s') else 's'}"


def _cells(line: Line) -> list[list[str]]:
    """Return a line as rows of a table: its long cells are folded."""
    ours = f"{line.written(line.ours)} ({line.protocol})"
    columns = [
        textwrap.wrap(line.what, 29),
        ["-" if line.paper is None else line.written(line.paper)],
        textwrap.wrap(ours, 25),
        ["-" if line.held_out is None else line.held_out.short],
        [duration(line.seconds)],
        ["no figure" if line.paper is None else line.verdict],
    ]
    return [list(row) for row in zip_longest(*columns, fillvalue="")]
