"""Part 4, stability: how far models change when rows are drawn again, and under noise."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from parts import style
from parts.markdown import Records, listed, ran, table, unmeasured

OURS, CLEAN = "baconlogic", "as it is"
NOISE = {"5% labels": "5% of labels wrong", "10% labels": "10% of labels wrong", "columns": "noise in columns"}


def section(records: Records) -> str:
    """Return all of the part but its picture."""
    if "stability" not in records:
        return unmeasured("stability")
    record = records["stability"]
    drawn = record["figures"].get("bootstrap", [])
    parts = [_noise(record) if record["figures"]["rows"] else "", bootstrap(drawn, record["settings"]) if drawn else ""]
    return "\n\n".join([ran(record), *(part for part in parts if part)])


def bootstrap(rows: list[dict[str, Any]], settings: dict[str, Any]) -> str:
    """Tell versions and a decision tree on bootstrap samples: their features, and their answers on all rows."""
    data, models = (list(dict.fromkeys(row[what] for row in rows)) for what in ("data", "model"))
    of = {(row["data"], row["model"]): row for row in rows}
    cells = [[name, *(_pair(of.get((name, model))) for model in models)] for name in data]
    means = [[of[name, m] for name in data if (name, m) in of] for m in models]
    cells.append(
        ["mean", *(_pair({w: np.mean([r[w] for r in own]) for w in ("jaccard", "agreement")}) for own in means)]
    )
    return (
        f"From version to version, {settings['bootstraps']} samples of as many rows as there are, drawn with "
        "replacement, the same for every model. Means over all pairs: Jaccard of the features used, and answers on all "
        f"rows that are the same.\n\n{table(['data', *models], cells)}"
    )


def _pair(row: Any) -> str:
    return "-" if row is None else f"{row['jaccard']:.2f}, {row['agreement']:.1%}"


def _noise(record: dict[str, Any]) -> str:
    rows, settings = record["figures"]["rows"], record["settings"]
    clean = [row for row in rows if row["condition"] == CLEAN]
    ebm = ", ".join(f"{name}={value}" for name, value in settings["EBM"].items())
    said = [
        "Three tenths of the rows held out; from the others rows were drawn with replacement "
        f"{settings['draws']} times, the same for every model. Means over all pairs of draws: features used by both, "
        "of those used by either (Jaccard; in brackets about what random choices of as many features would give), and "
        "held-out rows on which two fits give the same answer. Tree: depth 4. "
        f"EBM: `{ebm}`, so that a fit ends in seconds, which is not its default; of its terms as many of the strongest "
        "as baconlogic has features on average. With 7 leaves: the largest tree of the same fit with at most 7.",
        table(
            ["data", "model", "features", "Jaccard (by chance)", "same answer", "accuracy"],
            [
                [
                    row["data"],
                    row["model"],
                    f"{row['features']:.1f}",
                    f"{row['jaccard']:.2f} ({row['by chance']:.2f})",
                    f"{row['agreement']:.1%}",
                    f"{np.mean(row['accuracy']):.3f}",
                ]
                for row in clean
            ],
        ),
        verdicts(clean),
        "The same with noise in the rows learned from: some labels wrong, or normal noise of a tenth of each column's "
        "standard deviation. Change of held-out accuracy in points, on average over the draws; in brackets the answers "
        "that two draws share.",
        _noisy(rows),
        noise_verdicts(rows),
        "These are few draws of one split: differences of a point, or of 0.05 in Jaccard, mean little.",
    ]
    return "\n\n".join(said)


def verdicts(clean: list[dict[str, Any]]) -> str:
    """Say, for each peer, on which data ours keeps its features and its answers better and worse."""
    data = list(dict.fromkeys(row["data"] for row in clean))
    of = {(row["data"], row["model"]): row for row in clean}
    peers = [m for m in dict.fromkeys(row["model"] for row in clean) if not m.startswith(OURS)]
    said = []
    for peer in peers:
        for what, words in (("jaccard", "the choice of features"), ("agreement", "the answers")):
            gaps = {d: of[d, OURS][what] - of[d, peer][what] for d in data if (d, peer) in of}
            better, worse = [d for d, g in gaps.items() if g > 0], [d for d, g in gaps.items() if g < 0]
            parts = [f"more stable on {listed(better)}"] if better else []
            parts += [f"less stable on {listed(worse)}"] if worse else []
            how = " and ".join(parts) or "as stable everywhere"
            name = peer if peer == "EBM" else f"the {peer}"
            said.append(f"- Against {name}, {words}: baconlogic is {how}.")
    return "\n".join(said)


def noise_verdicts(rows: list[dict[str, Any]], condition: str = "10% labels") -> str:
    """Say, for each peer, on which data ours loses more accuracy to wrong labels, and on which less."""
    clean = [row for row in rows if row["condition"] == CLEAN]
    data = list(dict.fromkeys(row["data"] for row in clean))
    done = {(row["data"], row["model"]) for row in rows if row["condition"] == condition}
    said = []
    for peer in (m for m in dict.fromkeys(row["model"] for row in clean) if not m.startswith(OURS)):
        both = [d for d in data if {(d, OURS), (d, peer)} <= done]
        gaps = {d: (changes(rows, d, OURS, condition) - changes(rows, d, peer, condition)).mean() for d in both}
        more, less = [d for d, g in gaps.items() if g < 0], [d for d, g in gaps.items() if g > 0]
        parts = [f"more than {peer} on {listed(more)}"] if more else []
        parts += [f"less than {peer} on {listed(less)}"] if less else []
        if parts:
            said.append(f"- With {NOISE[condition]} baconlogic loses {' and '.join(parts)}.")
    return "\n".join(said)


def changes(rows: list[dict[str, Any]], data: str, model: str, condition: str) -> np.ndarray:
    """Return how much the held-out accuracy of each draw changes under a condition."""
    found = {
        row["condition"]: np.array(row["accuracy"]) for row in rows if (row["data"], row["model"]) == (data, model)
    }
    return found[condition] - found[CLEAN]


def _noisy(rows: list[dict[str, Any]]) -> str:
    lines = []
    for row in (row for row in rows if row["condition"] == CLEAN):
        data, model = row["data"], row["model"]
        cells = []
        for condition in NOISE:
            here = [r for r in rows if (r["data"], r["model"], r["condition"]) == (data, model, condition)]
            change = f"{100 * changes(rows, data, model, condition).mean():+z.1f}" if here else "-"
            cells.append(change + (f" ({here[0]['agreement']:.1%})" if here else ""))
        lines.append([data, model, *cells])
    return table(["data", "model", *NOISE.values()], lines)


def draw(records: Records, path: Path) -> bool:
    """Draw features, answers and accuracy under noise, data by data; say whether there was anything to draw."""
    if "stability" not in records or not records["stability"]["figures"]["rows"]:
        return False
    rows = records["stability"]["figures"]["rows"]
    clean = [row for row in rows if row["condition"] == CLEAN]
    data, models = ([*dict.fromkeys(row[key] for row in clean)] for key in ("data", "model"))
    made, axes = style.figure(3)
    width = 0.8 / len(models)
    hatches = ("//", "", "..", "xx")
    for place, model in enumerate(models):
        at = [i + width * (place - (len(models) - 1) / 2) for i in range(len(data))]
        mine = {row["data"]: row for row in clean if row["model"] == model}
        look = {"color": style.LOOKS[model][0], "hatch": hatches[place % 4], "edgecolor": "white", "label": model}
        axes[0].bar(at, [mine[d]["jaccard"] for d in data], width, **look)
        axes[0].plot(at, [mine[d]["by chance"] for d in data], "_k", markersize=7)
        axes[1].bar(at, [100 * (1 - mine[d]["agreement"]) for d in data], width, **look)
        lost = [-100 * changes(rows, d, model, "10% labels").mean() for d in data]
        axes[2].bar(at, lost, width, **look)
    for ax, words in zip(
        axes,
        ("features shared (Jaccard; dash: by chance)", "answers that differ, %", "points lost with 10% wrong labels"),
        strict=True,
    ):
        ax.set_xticks(range(len(data)), data)
        ax.set_title(words, fontsize=9)
    style.legend(made, axes)
    style.save(made, path)
    return True
