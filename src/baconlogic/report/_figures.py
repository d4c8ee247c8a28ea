"""How well a tree does, as a report tells it: on the rows given, on those that fit held out, and other trees beside."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from baconlogic import metrics
from baconlogic.core.words import listed, number, one_line, percent
from baconlogic.explain._alternatives import Alternatives
from baconlogic.learn.path import Path, PathEntry
from baconlogic.metrics import Confusion
from baconlogic.report._material import Material

MOST_NAMED = 8  # features of a tree


def tenths(share: float | None) -> str:
    """Write a share in tenths of a percent; what is not quite 0% or 100% is not rounded to it."""
    if share is None:
        return "-"
    text = f"{100.0 * share:.1f}%"
    return percent(share) if text in ("0.0%", "100.0%", "-0.0%") and share not in (0.0, 1.0) else text


class Share(NamedTuple):
    """How many of how many, in words; of a share of nothing, nothing is said."""

    k: float
    n: float

    @property
    def estimate(self) -> metrics.Estimate:
        """The share with its 95% interval."""
        return metrics.share(self.k, self.n)

    @property
    def said(self) -> str:
        """The share in percent."""
        return tenths(self.estimate.value) if self.n else "-"

    @property
    def interval(self) -> str:
        """Its interval in percent."""
        return f"{tenths(self.estimate.low)} to {tenths(self.estimate.high)}" if self.n else "-"

    @property
    def of(self) -> str:
        """What was counted."""
        return f"{number(self.k)} of {number(self.n)}"


class Figure(NamedTuple):
    """One line of a table of results."""

    key: str
    name: str
    means: str
    said: str
    interval: str
    of: str


def figures(counts: Confusion, ranking: metrics.Estimate | None, yes: str) -> list[Figure]:
    """Return the usual shares of right answers, and the AUC, as lines of a table."""
    means = {
        "accuracy": "of all rows, how many are decided rightly",
        "recall": f"of the rows that are {yes}, how many are called so (sensitivity)",
        "precision": f"of the rows called {yes}, how many are so",
        "specificity": f"of the rows that are not {yes}, how many are not called so",
    }
    found = {key: Share(*counts.shares[key]) for key in means}
    lines = [
        Figure(key, key.capitalize(), means[key], each.said, each.interval, each.of) for key, each in found.items()
    ]
    if ranking is not None:
        about = f"how often a row that is {yes} gets a higher truth than one that is not (AUC)"
        interval = f"{ranking.low:.3f} to {ranking.high:.3f}"
        lines.append(Figure("auc", "Ranking", about, f"{ranking.value:.3f}", interval, ""))
    return lines


def given(m: Material) -> list[Figure]:
    """Return the figures on the rows given; none without labels."""
    if m.positive is None:
        return []
    ranking = metrics.auc(m.truths, m.positive, ~m.positive)
    return figures(metrics.confusion(m.asked.decides(m.truths), m.positive), ranking, m.yes)


def entry_of(m: Material) -> PathEntry | None:
    """Return what fit kept of the tree that was taken, with the rows it held out."""
    history = getattr(m.model, "history_", None)
    chosen = history[m.place] if m.several and history else history
    return path_of(m).taken(chosen) if chosen else None


def path_of(m: Material) -> Path:
    """Return the trees of other forms and sizes that fit found, for this class."""
    path = getattr(m.model, "path_", [])
    return Path(path[m.place] if m.several and path else path)


def told_by_fit(m: Material) -> dict[str, Any]:
    """Return what the decision says of where this tree comes from."""
    said = m.decision.provenance.get("trees") if m.decision is not None else None
    usable = isinstance(said, list) and m.place < len(said) and isinstance(said[m.place], dict)
    return dict(said[m.place]) if usable and said is not None else {}


def held_out(m: Material) -> tuple[list[Figure], list[str]]:
    """Return what fit measured on rows it held out: recounted from the scores it kept, else as the model file says."""
    entry, said = entry_of(m), told_by_fit(m)
    if said.get("edited"):
        return [], ["The tree was edited after fit, so what fit measured says nothing about it."]
    if entry is not None and entry.held is not None:
        held, cut = entry.held, entry.link.steepness * (m.asked.threshold - entry.link.threshold)
        counts = metrics.confusion(held.scores > cut, held.positive, held.negative)
        found = figures(counts, metrics.auc(held.scores, held.positive, held.negative), m.yes)
        total = number(round(float(held.positive.sum() + held.negative.sum()), 2))
        about = (
            f"Fit held {total} cases out, fold by fold: each was scored by a tree that had not seen it. The size of "
            "the tree was chosen by these scores, so they flatter a little; rows that fit never had are a better test."
        )
        return found, [about, *_losses(said)]
    sentences = _losses(said)
    if said.get("held_out_accuracy") is not None:
        share = f"{100.0 * said['held_out_accuracy']:.1f}%"
        sentences.insert(0, f"Fit measured an accuracy of {share} on rows held out; the model file keeps no more.")
    if not sentences:
        why = "A tree alone" if m.decision is None else "This model"
        sentences.append(f"{why} does not say how it did on rows held out.")
    return [], sentences


def _losses(said: dict[str, Any]) -> list[str]:
    loss, base = said.get("held_out_log_loss"), said.get("base_rate_log_loss")
    if loss is None or base is None:
        return []
    told = f"Held-out log-loss: {loss:.3f}; always telling the share of cases would have {base:.3f} (lower is better)."
    return [told] if said.get("logic", True) else [told, "So no apparent logic was found: the base rate is answered."]


def rows_said(m: Material) -> str:
    """Say how many rows there are."""
    return "1 row" if m.rows.count == 1 else f"{m.rows.count} rows"


def seen_before(m: Material) -> str:
    """Say what can be known of whether the rows given are those that the model learned from."""
    rows = m.rows.count
    cases = None if m.decision is None else m.decision.provenance.get("cases")
    here = f"Figures under this heading are on the {rows_said(m)} given to this report"
    if not isinstance(cases, int | float):
        return f"{here}. Nothing says whether the model has learned from them; if it has, they flatter."
    if float(cases) == rows:
        return f"{here}. Fit learned from as many: if they are the same rows, these figures are in sample and flatter."
    return (
        f"{here}. Fit learned from {number(float(cases))} cases, so they are not just the rows it saw; whether some of "
        "them are among those, this report cannot know."
    )


def others(m: Material, alternatives: Alternatives | None) -> tuple[str, list[dict[str, Any]]]:
    """Return other trees and what they are: those given, else those that fit found and none shorter does better than.

    One of them may be `here`, the one that the report is about.
    """
    path = path_of(m)
    front, own = path.front, entry_of(m)
    found: Sequence[Any] = [each for each in path if each in front or each is own]
    found = found if alternatives is None else alternatives.rows
    rows = [
        {
            "form": each.form,
            "leaves": each.leaves,
            "accuracy": "-" if np.isnan(each.accuracy) else f"{100.0 * each.accuracy:.1f}%",
            "loss": "-" if np.isnan(each.loss) else f"{each.loss:.3f}",
            "features": some([one_line(name) for name in each.tree.features], "and", MOST_NAMED),
            "here": each.tree == m.asked.tree,
        }
        for each in found
    ]
    if alternatives is not None:
        near = f"within {100.0 * alternatives.tolerance:g} points of the best held-out accuracy"
        return f"Trees on other features that do about as well, {near}:", rows
    if rows:
        return (
            "Trees of other forms and sizes that fit found, by rows held out; no shorter one does better:",
            rows,
        )
    return (
        "None were given to this report. With the classifier at hand, explain.alternatives(clf, X, y) learns trees on "
        "other features that do about as well; hand them over as report(..., alternatives=...).",
        [],
    )


def some(names: list[str], last: str, most: int) -> str:
    """Write a list of names, or as many of it as may be named and how many more there are."""
    return listed(names if len(names) <= most else [*names[: most - 1], f"{len(names) - most + 1} more"], last)
