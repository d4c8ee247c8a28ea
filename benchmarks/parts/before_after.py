"""Part 6, versions of the library against each other and against peers, on the same folds."""

from __future__ import annotations

from typing import Any

import numpy as np
from problems import GROUPS

from parts.markdown import Records, listed, ran, table, unmeasured

FIGURES = ("accuracy", "log_loss", "fit_seconds", "rules")
BEST = "boosting"
PEERS = (BEST, "tree, 10 leaves", "logistic")
POOLS = {**{name: (name,) for name in GROUPS}, "EXTRA and TEXT": ("EXTRA", "TEXT")}
NEAR = 0.01  # of accuracy: within a point
FORMS = ("checklist", "scorecard", "rules", "graded")

Means = dict[str, dict[str, float]]  # of one problem: the figures of each model


def section(records: Records) -> str:
    """Return all of the part."""
    if "before_after" not in records:
        return unmeasured("before_after")
    found = records["before_after"]
    names = [name for group in GROUPS.values() for name in group]
    said = [
        ran(found),
        "Stratified 5-fold, one shuffle, the same folds for all, default settings, one core. Peers get a column for "
        "each word of a text column. Cells: accuracy, log-loss; of versions also CPU seconds of a fit and leaves. "
        "SUITE is what the library is held to, EXTRA and TEXT other public data, without and with text and missing "
        "values, SHAPES generated, KEEL some classes of public data with several against the rest.",
        told(found["figures"], found["settings"]["models"], names),
        forms(found["figures"], found["settings"]["models"], names),
    ]
    return "\n\n".join(each for each in said if each)


def forms(figures: dict[str, Any], models: list[str], names: list[str]) -> str:
    """Return the table of what each form gives where it is asked for; nothing where that was not measured."""
    last = [model for model in models if model not in PEERS][-1]
    asked, rows = [last, *FORMS], []
    means = {name: _means(figures["scores"], asked, name) for name in names}
    for title, groups in POOLS.items():
        here = [means[name] for group in groups for name in GROUPS[group] if len(means.get(name, {})) == len(asked)]
        if here:
            pooled = [{f: float(np.mean([m[model][f] for m in here])) for f in FIGURES} for model in asked]
            rows.append([f"{title} ({len(here)})", *(_cell(mean, ours=True) for mean in pooled)])
    if not rows:
        return ""
    said = "What each form gives (`form=`), on the same folds; the first column is the default, which chooses:"
    return f"{said}\n\n{table(['means', f'{last}, auto', *FORMS], rows)}"


def told(figures: dict[str, Any], models: list[str], names: list[str]) -> str:
    """Return the tables of these models and problems: means by group first, then each problem."""
    means = {name: _means(figures["scores"], models, name) for name in names}
    versions = [model for model in models if model not in PEERS]
    said, whole = [], []
    for title, groups in POOLS.items():
        here = [means[name] for group in groups for name in GROUPS[group] if name in means]
        here = [each for each in here if len(each) == len(models)]
        if not here:
            continue
        pooled = {model: {f: float(np.mean([m[model][f] for m in here])) for f in FIGURES} for model in models}
        whole.append([f"{title} ({len(here)})", *(_cell(pooled[m], m in versions) for m in models)])
        said += [f"- {title}: {sentence}" for sentence in _closed(pooled, versions)]
    head = ["means", *models]
    said = [table(head, whole), "\n".join(said)]
    for title, group in GROUPS.items():
        rows = [
            [name, *(_cell(means[name].get(m), m in versions) for m in models)] for name in group if means.get(name)
        ]
        if rows:
            said += [table([title, *models], rows), _far(means, group, versions)]
    return "\n\n".join(each for each in said if each)


def _means(scores: dict[str, Any], models: list[str], name: str) -> Means:
    there = {model: scores.get(model, {}).get(name) for model in models}
    return {
        model: {figure: float(np.mean([fold[figure] for fold in entry["folds"]])) for figure in FIGURES}
        for model, entry in there.items()
        if entry
    }


def _cell(mean: dict[str, float] | None, ours: bool) -> str:
    if mean is None:
        return "-"
    more = f", {mean['fit_seconds']:.2f} s, {mean['rules']:.1f}" if ours else ""
    return f"{mean['accuracy']:.4f}, {mean['log_loss']:.3f}{more}"


def _closed(pooled: Means, versions: list[str]) -> list[str]:
    """Say how far each version is above the first, and how much of the first one's distance to boosting is closed."""
    old, said = versions[0], []
    gap = pooled[BEST]["accuracy"] - pooled[old]["accuracy"]
    for version in versions[1:]:
        more = pooled[version]["accuracy"] - pooled[old]["accuracy"]
        share = f"{more / gap:.0%} of its distance to {BEST} closed" if gap > 0 else f"{old} is not below {BEST}"
        faster = pooled[old]["fit_seconds"] / pooled[version]["fit_seconds"]
        said.append(f"{version} is {100 * more:+.2f} points from {old} ({share}) and takes 1/{faster:.1f} of the time.")
    return said


def _far(means: dict[str, Means], group: Any, versions: list[str]) -> str:
    """Say where a version is more than a point below boosting."""
    said = []
    for version in versions:
        here = [name for name in group if {version, BEST} <= set(means.get(name, {}))]
        far = [n for n in here if means[n][version]["accuracy"] < means[n][BEST]["accuracy"] - NEAR]
        where = f": not on {listed(far)}" if far else ""
        said.append(f"- {version} is within a point of {BEST} on {len(here) - len(far)} of {len(here)}{where}.")
    return "\n".join(said)
