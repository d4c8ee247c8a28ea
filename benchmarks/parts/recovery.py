"""Part 3, recovery of Boolean logic."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from parts import style
from parts.markdown import Records, absent, duration, faster_and_slower, ran, table, unmeasured

OURS = "baconlogic"


def section(records: Records) -> str:
    """Return all of the part but its picture."""
    if "recovery" not in records:
        return unmeasured("recovery")
    record = records["recovery"]
    limit = record["settings"]["limit"]
    said = [
        ran(record),
        "Random chains of and/or without negation, full truth tables, columns in random order. Recovered: right on "
        "every row of the clean table. Cells: recovered of tried, median CPU time (a case stopped after "
        f"{limit:g} s counts as that), median number of leaves. A model that recovered none of one size was not tried "
        "on larger ones; -: not measured. A chain of n variables needs n leaves; a decision tree, whose leaves are "
        "answers, needs at least n + 1. Sinkhorn is the paper's own search in this library.",
        _table(record, 0.0),
    ]
    noise = max(row["noise"] for row in record["figures"]["cases"])
    if noise:
        said += [
            f"With {noise:.0%} of the labels wrong and every row repeated, "
            f"{record['settings']['rows with noise']:,} rows or some more in all:",
            _table(record, noise),
        ]
    cases = record["figures"]["cases"]
    said += [*_sentences(cases), absent(record, (row["model"] for row in cases))]
    return "\n\n".join(each for each in said if each)


def _table(record: dict[str, Any], noise: float) -> str:
    cases = [row for row in record["figures"]["cases"] if row["noise"] == noise]
    models = list(dict.fromkeys(row["model"] for row in cases))
    rows = []
    for n in dict.fromkeys(row["n"] for row in cases):
        here = {row["model"]: row for row in cases if row["n"] == n}
        rows.append([str(n), *(_cell(here.get(who)) for who in models)])
    return table(["n", *models], rows)


def _cell(row: dict[str, Any] | None) -> str:
    if row is None:
        return "-"
    leaves = "" if row["median leaves"] is None else f", {row['median leaves']:g} leaves"
    return f"{row['recovered']} of {row['cases']}, {duration(row['median seconds'])}{leaves}"


def _sentences(cases: list[dict[str, Any]]) -> list[str]:
    """Say up to which size each model recovered everything it was given."""
    said = []
    for noise in sorted({row["noise"] for row in cases}):
        for who in dict.fromkeys(row["model"] for row in cases if row["noise"] == noise):
            mine = [row for row in cases if row["model"] == who and row["noise"] == noise]
            lost = next((row["n"] for row in mine if row["recovered"] < row["cases"]), None)
            what = f"all it was given, up to n = {mine[-1]['n']}" if lost is None else f"not all from n = {lost} on"
            said.append(f"- {who}{f', {noise:.0%} of the labels wrong' if noise else ''}: recovers {what}.")
        own = [row for row in cases if row["model"] == OURS and row["noise"] == noise]
        if own:
            last = own[-1]["n"]
            here = {r["model"]: r["median seconds"] for r in cases if (r["n"], r["noise"]) == (last, noise)}
            said.append(f"- At n = {last}{', with wrong labels,' if noise else ''} {faster_and_slower(here, OURS)}.")
    return ["\n".join(said)]


def draw(records: Records, path: Path) -> bool:
    """Draw share, time and leaves over n; say whether there was anything to draw."""
    if "recovery" not in records:
        return False
    cases = [row for row in records["recovery"]["figures"]["cases"] if not row["noise"]]
    noisy = [row for row in records["recovery"]["figures"]["cases"] if row["noise"]]
    made, axes = style.figure(4 if noisy else 3)
    for who in dict.fromkeys(row["model"] for row in cases):
        mine = [row for row in cases if row["model"] == who]
        style.line(axes[0], who, [r["n"] for r in mine], [100 * r["recovered"] / r["cases"] for r in mine])
        style.line(axes[1], who, [r["n"] for r in mine], [r["median seconds"] for r in mine])
        sized = [r for r in mine if r["median leaves"] is not None]
        style.line(axes[2], who, [r["n"] for r in sized], [r["median leaves"] for r in sized])
    for who in dict.fromkeys(row["model"] for row in noisy):
        mine = [row for row in noisy if row["model"] == who]
        style.line(axes[3], who, [r["n"] for r in mine], [100 * r["recovered"] / r["cases"] for r in mine])
    axes[0].set(ylabel="recovered, %", ylim=(-5, 105))
    axes[1].set(ylabel="median CPU seconds", yscale="log")
    axes[2].set(ylabel="median leaves", yscale="log")
    if noisy:
        axes[3].set(ylabel=f"recovered, %, {noisy[0]['noise']:.0%} wrong labels", ylim=(-5, 105))
    for ax in axes:
        ax.set_xlabel("variables")
        ax.set_xticks(sorted({row["n"] for row in cases}))
    style.legend(made, axes)
    style.save(made, path)
    return True
