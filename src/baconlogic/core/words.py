"""Numbers and degrees of truth, written for people."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Container, Sequence
from itertools import pairwise
from typing import Any

MOST_CATEGORIES = 6  # to be told one by one
ROUNDING = 1e-12  # numbers that differ relatively by no more are the same but for rounding
_PLAIN = re.compile(r"[\w.+<>=-]+")


def number(value: float, step: float | None = None) -> str:
    """Write a number as it is when it is short, else rounded to a hundredth of `step`, or to four digits without."""
    value += 0.0  # no -0
    digits = f"{value:.7g}"
    if float(digits) != value:
        step = step or abs(value) / 10.0
        decimals = max(2 - math.floor(math.log10(step)), 0) if step > 0.0 and math.isfinite(step) else 0
        digits = f"{value:.{min(decimals, 15)}f}" if decimals <= 15 else f"{value:.4g}"
    elif "e" in digits and 1e-7 < abs(value) < 1e15:
        digits = f"{value:.15f}" if abs(value) < 1.0 else f"{value:.0f}"
    return digits.rstrip("0").rstrip(".") if "." in digits and "e" not in digits else digits


def numbers(values: list[float]) -> list[str]:
    """Write increasing numbers so that they stay apart."""
    step = min((b - a for a, b in pairwise(values)), default=0.0)
    return [number(value, step) for value in values]


def is_tie(value: float, mark: float) -> bool:
    """Whether two numbers are the same but for rounding."""
    return abs(value - mark) <= ROUNDING * max(abs(value), abs(mark))


def apart(value: float, mark: float, write: Callable[[float], str] = number) -> tuple[str, str]:
    """Write a number and the mark it is held against so that one reads on which side it is; a tie is written alike.

    `write` is how the mark is written where that is enough.
    """
    if is_tie(value, mark):
        return write(mark), write(mark)
    shown, against = number(value), write(mark)
    if float(shown) != float(against) and (float(shown) > float(against)) == (value > mark):
        return shown, against
    return number(value, abs(value - mark)), number(mark, abs(value - mark))


def digits(value: float) -> str:
    """Write a number with all its digits, as the notation has it: 1, 0.3, 1e-05."""
    return repr(value).removesuffix(".0")


def degree(truth: float) -> str:
    """Say a degree of truth; one that is not quite 0 or 1 is not rounded to it."""
    named = {0.0: "not true", 0.5: "half true", 1.0: "fully true"}
    return named.get(truth, f"{percent(truth)} true")


def percent(share: float) -> str:
    """Write a share in percent with three digits; what is not quite 0% or 100% stays apart from it."""
    if 0.0 < share < 1e-4:
        return "<0.01%"
    if 0.9999 < share < 1.0:
        return ">99.99%"
    shown = f"{100.0 * share:.3g}"
    if share < 1.0 and float(shown) == 100.0:
        shown = f"{100.0 * share:.4g}"
    return f"{number(float(shown))}%"


def listed(items: list[str], last: str = "or") -> str:
    """Write a list as people do: a, b or c."""
    return items[0] if len(items) == 1 else f"{', '.join(items[:-1])} {last} {items[-1]}"


def with_unit(said: str, unit: str) -> str:
    """Write what a number is measured in behind it."""
    return f"{said} {one_line(unit)}" if unit else said


def crisp_places(spans: Sequence[tuple[float | None, float | None]], unit: str = "") -> str:
    """Say where numbers above one mark and up to another lie: "above 16.8", "at most 0.5 or above 2.1"; None: open."""
    marks = [mark for span in spans for mark in span if mark is not None]
    shown = dict(zip(sorted(marks), numbers(sorted(marks)), strict=True))
    said = []
    for low, high in spans:
        if low is None or high is None:
            said.append(f"above {shown[low]}" if low is not None else f"at most {shown[high or 0.0]}")
        else:
            said.append(f"above {shown[low]} up to {shown[high]}")
    return with_unit(listed(said), unit)


def kinds(categories: Sequence[Any]) -> str:
    """Write categories as a list, a plain word as it is and all else in quotes; of many only the first."""
    plain = (isinstance(each, str) and _PLAIN.fullmatch(each) and each not in ("or", "unknown") for each in categories)
    said = [each if bare else one_line(repr(each)) for each, bare in zip(categories, plain, strict=True)]
    more = len(said) - MOST_CATEGORIES + 1
    return listed(said if more <= 1 else [*said[: MOST_CATEGORIES - 1], f"{more} other categories"])


def one_line(text: str) -> str:
    """Spell out what would break a line or drive a terminal."""
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)


def aligned(header: Sequence[str], lines: Sequence[Sequence[str]], left: int | Container[int] = 1) -> str:
    """Write a table, two spaces between columns; an empty header is left out.

    `left` says which columns, or how many of the first, stand at the left; the others stand at the right.
    """
    table = [[one_line(cell) for cell in line] for line in ([header, *lines] if header else lines)]
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    at_left = range(left) if isinstance(left, int) else left
    return "\n".join(
        "  ".join(
            cell.ljust(width) if i in at_left else cell.rjust(width)
            for i, (cell, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in table
    )
