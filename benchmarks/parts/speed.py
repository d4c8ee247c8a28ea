"""Part 2, speed: the kernel, evaluation, fitting, growth with rows and columns, predicting."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import goals

from parts import style
from parts.markdown import Records, absent, duration, faster_and_slower, listed, ran, ratio, table, unmeasured

OURS = "baconlogic"


def section(records: Records) -> str:
    """Return all of the part but its picture."""
    parts = [
        ("Kernel and evaluation", "kernel", kernel),
        ("A fit, and an epoch of the paper's search", "fit", fit),
        ("Growth with rows and columns", "growth", growth),
        ("Predicting", "predict", predict),
    ]
    said = []
    for title, name, tell in parts:
        body = f"{ran(records[name])}\n\n{tell(records[name])}" if name in records else unmeasured(name)
        said.append(f"### {title}\n\n{body}")
    return "\n\n".join(said)


def kernel(record: dict[str, Any]) -> str:
    """Tell one loss and gradient, and evaluation."""
    figures, rows = record["figures"], []
    who = list(figures["gradient"][0]["seconds"])
    for case in figures["gradient"]:
        taken = case["seconds"]
        others = [f"{duration(taken[w])} ({ratio(taken[w], taken[OURS])})" for w in who if w != OURS]
        rows.append([case["case"], duration(taken[OURS]), *others])
    chain = figures["gradient"][0]["seconds"]
    wanted = {"numpy by hand": goals.NUMPY, "torch eager": goals.TORCH}
    verdicts = [f"{w}, {goal.verdict(chain[w] / chain[OURS])}" for w, goal in wanted.items() if w in chain]
    trees = [
        [e["tree"], f"{e['nanoseconds']:.1f} ns", f"{e['two_cores']:.2f} of the time"] for e in figures["evaluation"]
    ]
    slowest = max(e["nanoseconds"] for e in figures["evaluation"])
    return "\n\n".join(
        [
            "One loss and gradient, learned criteria and calibrated link, float64, one core, CPU time. All contenders "
            "agree on loss and gradient; the run checks it. In brackets: how many times as long as baconlogic.",
            table(["", OURS, *(w for w in who if w != OURS)], rows),
            f"On the chain, {'; '.join(verdicts)}.",
            f"Evaluating {record['settings']['rows evaluated']:,} rows of a 7-leaf tree with `Tree.evaluate`; a row "
            "and leaf on one core in CPU time, two cores in wall time, which other work on the machine disturbs:",
            table(["tree", "one core, a row and leaf", "two cores"], trees),
            f"On one core, {goals.EVALUATION.verdict(slowest)}.",
        ]
    )


def fit(record: dict[str, Any]) -> str:
    """Tell a default fit against EBM and an epoch against bacon-net."""
    limit = record["settings"]["limit"]
    rows = [
        _compared(f"default fit, {case['data']}", case["seconds"], "EBM", limit, goals.EBM)
        for case in record["figures"].get("ebm", [])
    ]
    for case in record["figures"].get("epoch", []):
        what = f"one epoch of the paper's search, WDBC, {case['iterations']} Sinkhorn iterations"
        rows.append(_compared(what, case["seconds"], "bacon-net", limit, goals.EPOCH))
    return "\n\n".join(
        [
            f"One core, CPU time. A default fit includes choosing the size. A fit was stopped after {limit:g} s.",
            table(["", OURS, "peer", "ratio", "goal"], rows),
        ]
    )


def _compared(what: str, seconds: dict[str, Any], peer: str, limit: float, goal: goals.Goal) -> list[str]:
    own = seconds.get(OURS)
    if own is None or peer not in seconds:
        return [what, "stopped" if OURS in seconds and own is None else duration(own), f"{peer}: not measured", "", ""]
    theirs, more = (limit, "more than ") if seconds[peer] is None else (seconds[peer], "")
    verdict = goal.verdict(theirs / own)
    if more and not goal.met(theirs / own):
        verdict = f"goal {goal}: open, the peer was stopped"
    return [what, duration(own), f"{peer}: {more}{duration(theirs)}", f"{more}{ratio(theirs, own)}", verdict]


def growth(record: dict[str, Any]) -> str:
    """Tell how fitting grows, series by series."""
    limit = record["settings"]["limit"]
    said = [
        f"Default settings (tree: depth 4), one core. Cells: CPU time, peak memory of the process, accuracy on "
        f"{record['settings']['held out']:,} further rows. A fit was stopped after {limit:g} s, and that model was not "
        "tried on more."
    ]
    for name, series in record["figures"].items():
        by = "columns" if name == "columns" else "rows"
        said += [f"**{series['title'][0].upper()}{series['title'][1:]}**", _grown(series["fits"], by, limit)]
        said += [
            _verdict(series["fits"], by),
            absent(record, (f["model"] for f in series["fits"] if f["stopped"] in ("", "time"))),
        ]
    return "\n\n".join(each for each in said if each)


def _grown(fits: list[dict[str, Any]], by: str, limit: float) -> str:
    models = list(dict.fromkeys(f["model"] for f in fits if f["stopped"] in ("", "time")))
    rows = []
    for size in sorted({f[by] for f in fits}):
        here = {f["model"]: f for f in fits if f[by] == size}
        rows.append([f"{size:,}", *(_cell(here.get(who), limit) for who in models)])
    return table([by, *models], rows)


def _cell(fit: dict[str, Any] | None, limit: float) -> str:
    if fit is None:
        return "-"
    if fit["stopped"]:
        return f"more than {limit:g} s" if fit["stopped"] == "time" else "failed"
    return f"{duration(fit['seconds'])}, {fit['megabytes']:,.0f} MB, {fit['accuracy']:.3f}"


def _verdict(fits: list[dict[str, Any]], by: str) -> str:
    """Say how ours stands at the largest size it reached, and whether the goals for a million rows are met."""
    own = [f for f in fits if f["model"] == OURS and f["seconds"] is not None]
    if not own:
        return ""
    last = own[-1]
    here = {f["model"]: f["seconds"] for f in fits if f[by] == last[by] and f["seconds"] is not None}
    said = f"At {last[by]:,} {by} {faster_and_slower(here, OURS)}."
    gone = [f["model"] for f in fits if f["stopped"] == "time" and f[by] <= last[by]]
    if gone:
        said += f" Stopped before that: {listed(list(dict.fromkeys(gone)))}."
    each, growing = last["seconds"] / last[by], own[0]["seconds"] / own[0][by]
    said += f" A {by[:-1]} takes {ratio(each, growing)} the time it takes at {own[0][by]:,}."
    if by == "rows" and last["rows"] >= 1_000_000:
        said += f" Time: {goals.MILLION_SECONDS.verdict(last['seconds'])}."
        said += f" Memory: {goals.MILLION_MEMORY.verdict(last['megabytes'])}."
    return said


def predict(record: dict[str, Any]) -> str:
    """Tell predicting one row and many."""
    models, count = record["figures"]["models"], record["settings"]["rows"]
    rows = [[m["model"], duration(m["one"]), duration(m["many"])] for m in models]
    said = [
        f"`predict_proba` on {record['settings']['data']}, CPU time, one core. The loaded decision is what `load` "
        "returns; part 5 has exported ones. bacon-net: a frozen chain of all columns.",
        table(["", "one row", f"{count:,} rows"], rows),
    ]
    own = next(m["model"] for m in models if m["model"].startswith(OURS))
    for what, words in (("one", "On one row"), ("many", f"On {count:,} rows")):
        here = {m["model"]: m[what] for m in models if m["model"] == own or not m["model"].startswith(OURS)}
        said.append(f"{words}: {faster_and_slower(here, own)}.")
    return "\n\n".join(said)


def draw(records: Records, path: Path) -> bool:
    """Draw growth, log-log, and predicting; say whether there was anything to draw."""
    if "growth" not in records:
        return False
    series = records["growth"]["figures"]
    made, axes = style.figure(len(series))
    for ax, (name, each) in zip(axes, series.items(), strict=True):
        by = "columns" if name == "columns" else "rows"
        for who in dict.fromkeys(f["model"] for f in each["fits"]):
            mine = [f for f in each["fits"] if f["model"] == who and f["seconds"] is not None]
            style.line(ax, who, [f[by] for f in mine], [f["seconds"] for f in mine])
        ax.set(xscale="log", yscale="log", xlabel=by)
        ax.set_title(each["title"], fontsize=9)
    axes[0].set_ylabel("CPU seconds of one fit")
    style.legend(made, axes)
    style.save(made, path)
    return True
