"""Part 7, how much there is to read, and what misleads."""

from __future__ import annotations

from typing import Any

import numpy as np

from parts.markdown import Records, ran, table, unmeasured

SIZES = {"leaves": 8, "gates": 4, "depth": 2, "words": 100}  # of the median tree, at most
VIOLATIONS = ("duplicates", "levels", "digits", "weights", "parse")

Trees = dict[str, dict[str, Any]]  # by problem


def section(records: Records) -> str:
    """Return all of the part."""
    if "reading" not in records:
        return unmeasured("reading")
    found = records["reading"]
    said = [
        ran(found),
        "Default fits to all rows. Depth: gates above a leaf, a gate over leaves is 1. Words: of `explain.describe`. "
        "Duplicates: a leaf said twice, or a feature in two directions that is no band. Levels: gates that are not at "
        "a named level. Digits: numbers of the formula with more than three. Weights: neutral gates in which a larger "
        "weight means less influence. Parse: trees that their formula does not give back.",
        told({name: found["figures"]["trees"].get(name, {}) for name in found["settings"]["versions"]}),
    ]
    return "\n\n".join(said)


def told(versions: dict[str, Trees]) -> str:
    """Return medians and counts by version, then every tree."""
    heads = ["version", "trees", *(f"median {size}" for size in SIZES), "deeper than 2", *VIOLATIONS]
    rows = [_summary(name, list(trees.values())) for name, trees in versions.items() if trees]
    problems = list(dict.fromkeys(problem for trees in versions.values() for problem in trees))
    figures = [*SIZES, *VIOLATIONS]
    cells = [[p, *(_cell(trees.get(p), figures) for trees in versions.values())] for p in problems]
    goal = ", ".join(f"{bound} {size}" for size, bound in SIZES.items())
    return "\n\n".join(
        [
            table(heads, rows),
            f"Goal: medians of at most {goal}, and no violations (how many trees have one, and how many there are).",
            f"Each tree: {', '.join(figures)}.",
            table(["data", *versions], cells),
        ]
    )


def _summary(name: str, trees: list[dict[str, Any]]) -> list[str]:
    medians = [f"{np.median([tree[size] for tree in trees]):g}" for size in SIZES]
    deep = sum(tree["depth"] > SIZES["depth"] for tree in trees)
    counts = [f"{sum(t[v] > 0 for t in trees)} ({sum(t[v] for t in trees)})" for v in VIOLATIONS]
    return [name, str(len(trees)), *medians, str(deep), *counts]


def _cell(tree: dict[str, Any] | None, figures: list[str]) -> str:
    return "-" if tree is None else ", ".join(str(tree[figure]) for figure in figures)
