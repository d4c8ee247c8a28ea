"""Where a model comes from: what fit measured on rows held out, other trees, and how to get the same again."""

from __future__ import annotations

import hashlib
import platform
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from baconlogic.core import __version__
from baconlogic.core.words import listed, number, one_line
from baconlogic.explain import _case as cases
from baconlogic.report import _measures as measuring
from baconlogic.report._material import decision_of

if TYPE_CHECKING:
    from baconlogic.explain._alternatives import Alternatives
    from baconlogic.learn.path import PathEntry
    from baconlogic.report._material import Material
    from baconlogic.report._measures import Figure

LONGEST = 2000  # characters of a setting that are shown


def entry_of(m: Material) -> PathEntry | None:
    """Return what fit kept of the tree that was taken, with the rows it held out."""
    path = path_of(m)
    history = getattr(m.model, "history_", None)
    chosen = history[m.place] if m.several and history else history
    return next((each for each in path if each.leaves == chosen.leaves), None) if chosen else None


def path_of(m: Material) -> list[PathEntry]:
    """Return the trees of other sizes that fit found, for this class."""
    path = getattr(m.model, "path_", [])
    return list(path[m.place] if m.several and path else path)


def told_by_fit(m: Material) -> dict[str, Any]:
    """Return what the decision says of where this tree comes from."""
    said = m.decision.provenance.get("trees") if m.decision is not None else None
    usable = isinstance(said, list) and m.place < len(said) and isinstance(said[m.place], dict)
    return dict(said[m.place]) if usable and said is not None else {}


@dataclass(frozen=True)
class HeldOut:
    """What fit measured on rows that the trees scored there had not seen."""

    figures: list[Figure]
    sentences: list[str]


def held_out(m: Material) -> HeldOut:
    """Return held-out figures: recounted from the scores that fit kept, else those written in the model."""
    entry, said, sentences = entry_of(m), told_by_fit(m), list[str]()
    if said.get("edited"):
        return HeldOut([], ["The tree was edited after fit, so what fit measured says nothing about it."])
    if entry is not None and entry.held is not None:
        held, cut = entry.held, entry.link.steepness * (m.asked.threshold - entry.link.threshold)
        found = measuring.figures(held.scores, held.positive, held.negative, cut, m.yes)
        total = number(round(float(held.positive.sum() + held.negative.sum()), 2))
        sentences.append(
            f"Fit held {total} cases out, fold by fold: each was scored by a tree that had not seen it. The size of "
            "the tree was chosen by these scores, so they flatter a little; rows that fit never had are a better test."
        )
        return HeldOut(found, sentences + _losses(said))
    sentences += _losses(said)
    if said.get("held_out_accuracy") is not None:
        share = f"{100.0 * said['held_out_accuracy']:.1f}%"
        sentences.insert(0, f"Fit measured an accuracy of {share} on rows held out; the model file keeps no more.")
    if not sentences:
        why = "A tree alone" if m.decision is None else "This model"
        sentences.append(f"{why} does not say how it did on rows held out.")
    return HeldOut([], sentences)


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


@dataclass(frozen=True)
class Other:
    """Another tree."""

    leaves: int
    accuracy: str
    loss: str
    features: str
    here: bool


def others(m: Material, given: Alternatives | None) -> tuple[str, list[Other]]:
    """Return other trees and what they are: those given, else those of other sizes that fit found."""
    if given is not None:
        rows = [
            Other(each.leaves, f"{100.0 * each.accuracy:.1f}%", _loss(each.loss), _named(each.tree),
                  each.tree == m.asked.tree)
            for each in given.rows
        ]  # fmt: skip
        near = f"within {100.0 * given.tolerance:g} points of the best held-out accuracy"
        return f"Trees on other features that do about as well, {near}:", rows
    path = path_of(m)
    if path:
        rows = [
            Other(each.leaves, "-" if np.isnan(each.accuracy) else f"{100.0 * each.accuracy:.1f}%", _loss(each.loss),
                  _named(each.tree), each.tree == m.asked.tree)
            for each in path
        ]  # fmt: skip
        return "Trees of other sizes that fit found, scored on rows held out:", rows
    return (
        "None were given to this report. With the classifier at hand, explain.alternatives(clf, X, y) learns trees on "
        "other features that do about as well; hand them over as report(..., alternatives=...).",
        [],
    )


def _named(tree: Any) -> str:
    names = [one_line(name) for name in tree.features]
    return listed(names if len(names) <= 8 else [*names[:7], f"{len(names) - 7} more"], "and")


def _loss(loss: float) -> str:
    return "-" if np.isnan(loss) else f"{loss:.3f}"


@dataclass(frozen=True)
class Recipe:
    """How to get the same again."""

    facts: list[tuple[str, str]]
    code: str


def recipe(model: Any) -> Recipe:
    """Return versions, seed and search, the hash of the model's file, and the lines of Python that fit or use it."""
    decision = decision_of(model)
    facts = [("SHA-256 of the model file", digest(model))]
    made = {} if decision is None else dict(decision.provenance)
    names = {"baconlogic": "baconlogic at fit", "numpy": "numpy at fit", "cases": "cases at fit",
             "distinct_rows": "distinct rows at fit", "columns": "columns at fit",
             "seed": "seed, drawn from random_state", "threshold": "threshold chosen by"}  # fmt: skip
    facts += [(name, _plain(made[key])) for key, name in names.items() if key in made]
    trees = made.get("trees")
    labels = decision.classes if decision is not None and len(decision.trees) > 1 else ("",)
    for label, each in zip(labels, trees if isinstance(trees, list) else [], strict=False):
        if isinstance(each, dict) and "search" in each:
            whose = f" ({cases.answer(label)})" if len(labels) > 1 else ""
            facts.append((f"search{whose}", f"{_plain(each['search'])}: {_plain(each.get('stopped', ''))}"))
    here = f"baconlogic {__version__}, numpy {np.__version__}, Python {platform.python_version()}"
    facts.append(("this report made with", here))
    if decision is None:
        facts.append(("provenance", "a tree alone has none; a Decision keeps where it comes from"))
    return Recipe(facts, _code(model))


def _plain(value: Any) -> str:
    return number(value) if isinstance(value, float) else one_line(str(value))[:LONGEST]


def digest(model: Any) -> str:
    """Return the SHA-256 of the file that `save` writes."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.json"
        getattr(model, "decision_", model).save(path)
        return hashlib.sha256(path.read_bytes()).hexdigest()


def _code(model: Any) -> str:
    """Write the Python that makes and uses the model."""
    use = 'model = load("model.json")  # written by model.save("model.json")\n'
    again = 'report.report(model, X, y, path="report.html")'
    if not hasattr(model, "get_params"):
        kind = "predict" if decision_of(model) is not None else "evaluate"
        return f"from baconlogic import load, report\n\n{use}model.{kind}(X)\n{again}"
    usual = type(model)().get_params(deep=False)
    own = {name: value for name, value in model.get_params(deep=False).items() if repr(value) != repr(usual[name])}
    given = ", ".join(f"{name}={one_line(repr(value))[:LONGEST]}" for name, value in own.items())
    fit = f"model = {type(model).__name__}({given}).fit(X_train, y_train)"
    return f"from baconlogic import {type(model).__name__}, report\n\n{fit}\n{again}"
