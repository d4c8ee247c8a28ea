"""Part 5, size and speed of exports."""

from __future__ import annotations

from pathlib import Path

import goals

from parts import style
from parts.markdown import Records, duration, ran, ratio, table, unmeasured

OWN, PEER, C = "Python export, probabilities", "LogisticRegression.predict_proba", "C export, decide"
TITLES = {"with_leaves(7)": "`with_leaves(7)`", "malignant7.json": "four gates deep"}


def section(records: Records) -> str:
    """Return all of the part but its picture."""
    if "export" not in records:
        return unmeasured("export")
    record = records["export"]
    models = record["figures"]["models"]
    heads = [TITLES.get(m["model"], m["model"]) for m in models]
    ways = list(dict.fromkeys(way for m in models for way in m["seconds"]))
    rows = [[way, *(_cell(m["seconds"], way) for m in models)] for way in sorted(ways, key=lambda w: _first(models, w))]
    kinds = list(dict.fromkeys(kind for m in models for kind in m["bytes"]))
    rows += [[f"bytes: {kind}", *(f"{m['bytes'].get(kind, 0):,}" for m in models)] for kind in kinds]
    rows.append(["operations a decision, at most", *(f"{m['operations']:,}" for m in models)])
    said = [
        ran(record),
        "Two models of seven leaves on WDBC, one core: what `with_leaves(7)` gives, and a tree with gates of both "
        "kinds four deep, where each step waits for the one before. One row at a time; SQL: a row of many. Python, C "
        "and scikit-learn in CPU time; in brackets: against the Python export's probabilities.",
        table(["", *heads], rows),
    ]
    for title, m in zip(heads, models, strict=True):
        seconds, verdicts = m["seconds"], []
        if PEER in seconds and OWN in seconds:
            verdicts.append(
                f"one row against logistic regression, {goals.ONE_ROW.verdict(seconds[PEER] / seconds[OWN])}"
            )
        if C in seconds:
            verdicts.append(f"C, {goals.C_DECISION.verdict(1e9 * seconds[C])}")
        if verdicts:
            said.append(f"{title}: {'; '.join(verdicts)}.")
    return "\n\n".join(said)


def _first(models: list[dict], way: str) -> float:
    return next(m["seconds"][way] for m in models if way in m["seconds"])


def _cell(seconds: dict[str, float], way: str) -> str:
    if way not in seconds:
        return "-"
    against = f" ({ratio(seconds[way], seconds[OWN])})" if "Classifier" in way or "Regression" in way else ""
    return duration(seconds[way]) + against


def draw(records: Records, path: Path) -> bool:
    """Draw time and size; say whether there was anything to draw."""
    if "export" not in records:
        return False
    models = records["export"]["figures"]["models"]
    made, (left, right) = style.figure(2, width=4.6)
    looks = [("//", style.style.BLUE), ("", style.style.SKY)]
    for place, (m, (hatch, colour)) in enumerate(zip(models, looks, strict=False)):
        look = {"height": 0.38, "color": colour, "hatch": hatch, "edgecolor": "white"}
        label = TITLES.get(m["model"], m["model"]).strip("`")
        for ax, kind in ((left, "seconds"), (right, "bytes")):
            ways = sorted(models[0][kind], key=models[0][kind].get)  # one order, so that bars and names belong together
            at = [i + 0.4 * place - 0.2 for i in range(len(ways))]
            ax.barh(at, [m[kind].get(way, float("nan")) for way in ways], label=label, **look)
            ax.set_yticks(range(len(ways)), ways, fontsize=8)
    left.set(xscale="log", xlabel="seconds a row")
    right.set(xlabel="bytes")
    style.legend(made, [left])
    style.save(made, path)
    return True
