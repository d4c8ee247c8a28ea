"""Part 8, the time of a fit from version to version."""

from __future__ import annotations

from typing import Any

import goals

from parts.markdown import Records, duration, ran, ratio, table, unmeasured


def section(records: Records) -> str:
    """Return all of the part."""
    if "speed" not in records:
        return unmeasured("speed")
    found = records["speed"]
    said = [
        ran(found),
        "CPU time of a default fit on one core, the second in its process. In brackets: how many times as long as the "
        "last version.",
        told(found["figures"], found["settings"]["versions"]),
    ]
    return "\n\n".join(said)


def told(figures: dict[str, Any], versions: list[str]) -> str:
    """Return the table of fits and what is held against a goal."""
    last, said = versions[-1], []
    rows = []
    for case, seconds in figures.get("fit", {}).items():
        cells = [_cell(seconds.get(version), seconds[last], version == last) for version in versions]
        larger = figures.get("leaves", {}).get(case)
        verdict = goals.FASTER.verdict(seconds[versions[0]] / seconds[last]) if versions[0] in seconds else ""
        rows.append([case, *cells, _cell(larger, seconds[last], alone=False), verdict if len(versions) > 1 else ""])
    if rows:
        said.append(table(["", *versions, f"{last}, 20 leaves", "goal"], rows))
    if "leaves" in figures:
        worst = max(figures["leaves"][case] / figures["fit"][case][last] for case in figures["leaves"])
        said.append(f"- Twenty leaves take at most {worst:.1f} times the default; {goals.LARGER.verdict(worst)}.")
    if "million" in figures:
        taken = figures["million"]
        said.append(f"- 1,000,000 rows x 10: {duration(taken)}; {goals.MILLION_FIT.verdict(taken)}.")
    if "compile" in figures:
        first, second = figures["compile"]
        said.append(
            f"- The first fit with an empty compile cache: {duration(first)}, the second {duration(second)}; "
            f"the difference, {goals.COMPILING.verdict(first - second)}."
        )
    return "\n\n".join([*said[: bool(rows)], "\n".join(said[bool(rows) :])])


def _cell(seconds: float | None, than: float, alone: bool) -> str:
    if seconds is None:
        return "-"
    return duration(seconds) if alone else f"{duration(seconds)} ({ratio(seconds, than)})"
