"""Figures as Markdown: tables, durations, what was run."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

Record = dict[str, Any]
Records = dict[str, Record]


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a Markdown table."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def duration(seconds: float | None) -> str:
    """Return a time in the unit that suits it, to three digits."""
    if seconds is None:
        return "-"
    for unit, factor in (("s", 1.0), ("ms", 1e3), ("us", 1e6)):
        if seconds * factor >= 1.0:
            return f"{_digits(seconds * factor)} {unit}"
    return f"{_digits(seconds * 1e9)} ns"


def _digits(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.1f}" if value >= 10 else f"{value:.2f}"


def ratio(value: float, than: float) -> str:
    """Return how many times as much."""
    return f"{_digits(value / than)} x"


def listed(names: Sequence[str]) -> str:
    """Return names as one phrase."""
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def ran(record: Record) -> str:
    """Return the command that gave the figures, or several, as a block."""
    return "\n".join(f"    {line}" for line in record["command"].splitlines())


def unmeasured(name: str) -> str:
    """Say that there are no figures, and how to get them."""
    return f"Not measured. To measure it:\n\n    python benchmarks/{name}.py"


def absent(record: Record, found: Iterable[str]) -> str:
    """Say which contenders of a benchmark were left out of this run, or nothing."""
    seen = set(found)
    missing = [who for who in record["settings"].get("contenders", []) if who not in seen]
    return f"Not measured in this run: {'; '.join(missing)}." if missing else ""


def faster_and_slower(seconds: dict[str, float], own: str) -> str:
    """Say which contenders take less and which take more than ours."""
    less = [who for who, taken in seconds.items() if who != own and taken < seconds[own]]
    more = [who for who, taken in seconds.items() if who != own and taken >= seconds[own]]
    said = [f"slower than {listed(less)}"] if less else []
    said += [f"faster than {listed(more)}"] if more else []
    return f"{own} is {' and '.join(said)}" if said else f"{own} has no peer here"
