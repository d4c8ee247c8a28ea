"""Stability: how far a model changes when the rows are drawn again, and when labels or measurements are noisy.

Three tenths of the rows are held out. From the others, rows are drawn with replacement several times (the same rows
for every model), and each model is fitted to each draw: as it is, with some labels wrong, and with noise added to
every column. Between the draws: which features are used (Jaccard: how many both use, of those that either uses) and
on how many of the held-out rows the answers agree.

The second part draws as many rows as there are, twenty times, and compares versions of the library and a decision tree
with ten leaves by the features they use and their answers on all rows. To run it:

    python benchmarks/stability.py            EBM is measured when it is installed
    python benchmarks/stability.py --parts bootstrap --versions 0.1.0=../old/src now=src
    python benchmarks/stability.py --quick    two draws of Iris, small trees
"""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Callable, Iterator
from itertools import combinations
from pathlib import Path
from typing import Any, NamedTuple

os.environ.setdefault("OMP_NUM_THREADS", "1")  # every contender gets one core

import numpy as np
import peers
import record
import versions
from problems import Absent, Table, numbers, owners, rows
from sklearn.model_selection import train_test_split
from suite import EVERY

EBM_SETTINGS = {"max_rounds": 500, "outer_bags": 4, "interactions": 0}  # so that a fit ends in seconds, not minutes
PARTS = ("noise", "bootstrap")
QUICK = "Iris Virginica"
BOOTSTRAPPED = ("WDBC", "Pima", "Baseball", "Chile, all columns")  # the last two have text
TEN = "tree, 10 leaves"
CONDITIONS = {"as it is": (0.0, 0.0), "5% labels": (0.05, 0.0), "10% labels": (0.1, 0.0), "columns": (0.0, 0.1)}


class Fitted(NamedTuple):
    """What one fit says about the held-out rows, and the columns it uses."""

    said: np.ndarray
    used: frozenset[int]


def ours(model: Any, X: np.ndarray) -> Fitted:
    names = [f"x{i}" for i in range(X.shape[1])]
    return Fitted(model.predict(X), frozenset(names.index(feature) for feature in model.tree_.features))


def smaller(model: Any, most: int) -> Any:
    """Return the largest tree of the same fit with at most so many leaves."""
    return model.with_leaves(max(entry.leaves for entry in model.path_ if entry.leaves <= most))


def both_of_ours(X: np.ndarray, y: np.ndarray, unseen: np.ndarray, **options: Any) -> dict[str, Fitted]:
    model = peers.ours(**options).fit(X, y)
    seven = smaller(model, 7) if model.path_ else model
    return {"baconlogic": ours(model, unseen), "baconlogic, 7 leaves": ours(seven, unseen)}


def tree(X: np.ndarray, y: np.ndarray, unseen: np.ndarray) -> dict[str, Fitted]:
    model = peers.tree().fit(X, y)
    used = frozenset(int(i) for i in model.tree_.feature if i >= 0)
    return {"tree": Fitted(model.predict(unseen), used)}


def ebm(X: np.ndarray, y: np.ndarray, unseen: np.ndarray, top: int) -> dict[str, Fitted]:
    """Return EBM with as many features as ours has: those of the largest mean contribution."""
    model = peers.ebm(**EBM_SETTINGS).fit(X, y)
    strongest = np.argsort(-np.asarray(model.term_importances()), kind="stable")[:top]
    return {"EBM": Fitted(model.predict(unseen), frozenset(int(model.term_features_[i][0]) for i in strongest))}


def disturbed(X: np.ndarray, y: np.ndarray, labels: float, columns: float, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the rows with this share of labels wrong, and normal noise of this share of each column's deviation."""
    rng = np.random.default_rng(seed)
    return X + columns * X.std(axis=0) * rng.normal(size=X.shape), y ^ (rng.random(len(y)) < labels)


def jaccard(a: frozenset[int], b: frozenset[int]) -> float:
    """Return how many both have, of those that either has; two empty sets are alike."""
    return len(a & b) / len(a | b) if a | b else 1.0


def by_chance(a: frozenset[int], b: frozenset[int], features: int) -> float:
    """Return about what the Jaccard would be if sets of these sizes were drawn at random."""
    both = len(a) * len(b) / features
    return both / (len(a) + len(b) - both) if a or b else 1.0


def summary(fits: list[Fitted], truth: np.ndarray, features: int) -> dict[str, Any]:
    """Return the means over all pairs of draws, and the held-out accuracy of each draw."""
    pairs = list(combinations(fits, 2))
    return {
        "features": float(np.mean([len(fit.used) for fit in fits])),
        "jaccard": float(np.mean([jaccard(a.used, b.used) for a, b in pairs])),
        "by chance": float(np.mean([by_chance(a.used, b.used, features) for a, b in pairs])),
        "agreement": float(np.mean([(a.said == b.said).mean() for a, b in pairs])),
        "accuracy": [float((fit.said == truth).mean()) for fit in fits],
    }


def study(name: str, X: np.ndarray, y: np.ndarray, draws: int, options: Any) -> Iterator[list[dict[str, Any]]]:
    """Give the summaries of all models on one data set, condition by condition."""
    seen, unseen, known, hidden = train_test_split(X, y, test_size=0.3, random_state=0, stratify=y)
    print(f"\n{name}: {len(known)} rows drawn {draws} times, {len(hidden)} held out", flush=True)
    settings = {"max_leaves": 2, "search": "additive"} if options.quick else {}
    solvers: list[Callable[..., dict[str, Fitted]]] = [lambda *data: both_of_ours(*data, **settings), tree]
    for condition, (labels, columns) in CONDITIONS.items():
        tables = [
            disturbed(seen[chosen], known[chosen], labels, columns, i)
            for i, chosen in enumerate(drawn(len(known), draws))
        ]
        fits: dict[str, list[Fitted]] = {}
        for solve in solvers:
            _add(fits, [solve(*table, unseen) for table in tables])
        if "EBM" in options.models:
            top = max(1, round(float(np.mean([len(fit.used) for fit in fits["baconlogic"]]))))
            _add(fits, [ebm(*table, unseen, top) for table in tables])
        about = {"data": name, "condition": condition}
        found = [{**about, "model": who, **summary(mine, hidden, X.shape[1])} for who, mine in fits.items()]
        print("\n".join(map(_line, found)), flush=True)
        yield found


def _add(fits: dict[str, list[Fitted]], made: list[dict[str, Fitted]]) -> None:
    for each in made:
        for who, fit in each.items():
            fits.setdefault(who, []).append(fit)


def _line(row: dict[str, Any]) -> str:
    return (
        f"  {row['condition']:10} {row['model']:21} features {row['features']:4.1f}  Jaccard {row['jaccard']:.2f}"
        f" (by chance {row['by chance']:.2f})  agree {row['agreement']:.3f}  accuracy {np.mean(row['accuracy']):.4f}"
    )


def drawn(size: int, draws: int) -> list[np.ndarray]:
    """Return the rows of each bootstrap sample, the same for every model."""
    return [np.random.default_rng(seed).integers(0, size, size) for seed in range(draws)]


def bootstrapped(X: Table, y: np.ndarray, draws: int, solve: Callable[[np.ndarray], Fitted]) -> dict[str, Any]:
    """Return the means over all pairs of samples, each the numbers of its rows; answers are those on all rows."""
    return summary([solve(which) for which in drawn(len(y), draws)], y, X.shape[1])


def ten_leaves(X: Table, y: np.ndarray) -> Callable[[np.ndarray], Fitted]:
    """Return what fits a tree of ten leaves to some rows of a table, and asks it about all of them."""
    matrix, owner = numbers(X), owners(X)

    def solve(which: np.ndarray) -> Fitted:
        model = peers.tree(None, 10).fit(matrix[which], y[which])
        return Fitted(model.predict(matrix), frozenset(owner[i] for i in model.tree_.feature if i >= 0))

    return solve


def work(task: versions.Task) -> dict[str, Any]:
    """Measure the version this process has on one problem."""
    X, y = EVERY[task["problem"]](Path(task["data"]))
    names = list(X.columns) if hasattr(X, "columns") else [f"x{i}" for i in range(X.shape[1])]

    def solve(which: np.ndarray) -> Fitted:
        model = peers.ours(n_jobs=1, **task["options"]).fit(rows(X, which), y[which])
        return Fitted(model.predict(X), frozenset(names.index(feature) for feature in model.tree_.features))

    return bootstrapped(X, y, task["draws"], solve)


def bootstrap(options: argparse.Namespace) -> Iterator[dict[str, Any]]:
    """Give the summary of each model on each problem."""
    draws = 2 if options.quick else options.bootstraps
    tasks = []
    for name in [QUICK] if options.quick else BOOTSTRAPPED:
        try:
            X, y = EVERY[name](options.data)
        except Absent as why:
            print(f"{name} is skipped: {why}")
            continue
        yield {"data": name, "model": TEN, **bootstrapped(X, y, draws, ten_leaves(X, y))}
        task = {"problem": name, "data": str(options.data), "draws": draws}
        settings = {"max_leaves": 2, "search": "additive"} if options.quick else {}
        tasks += [(version, {**task, "options": settings}) for version in versions.chosen(options)]
    for version, task, found in versions.ask_all(__file__, tasks, options.jobs):
        yield {"data": task["problem"], "model": version.name, **found}


def noise(options: argparse.Namespace) -> Iterator[list[dict[str, Any]]]:
    """Give the summaries of each problem and condition."""
    if options.models and (options.quick or "interpret-core" not in record.versions()):
        print("EBM is skipped" + ("" if options.quick else ": interpret-core is not installed"))
        options.models = []
    for name in [QUICK] if options.quick else ["WDBC", "Pima", "Banknote"]:
        try:
            X, y = EVERY[name](options.data)
        except Absent as why:
            print(f"\n{name} is skipped: {why}")
            continue
        yield from study(name, X, y, 2 if options.quick else options.draws, options)


def before(options: argparse.Namespace) -> dict[str, Any]:
    """Return the figures of parts that are not measured now; the commands that gave them are told first."""
    place = record.place("stability", options)
    if place is None or not place.exists():
        return {}
    old = json.loads(place.read_text(encoding="utf-8"))
    kept = {"noise": "rows", "bootstrap": "bootstrap"}
    figures = {key: old["figures"].get(key) for part, key in kept.items() if part not in options.parts}
    options.before = [old["command"].splitlines()[0]] if figures else []
    return {key: value for key, value in figures.items() if value}


def main(argv: list[str] | None = None) -> None:
    parser = record.parser(__doc__)
    parser.add_argument("--draws", type=int, default=5)
    parser.add_argument("--bootstraps", type=int, default=20)
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=PARTS)
    parser.add_argument("--models", nargs="*", choices=["EBM"], default=["EBM"], help="peers that take long")
    versions.add_options(parser)
    options = record.parse(parser, argv)
    record.greet()
    figures: dict[str, Any] = {"rows": [], "bootstrap": [], **before(options)}
    settings = {"draws": 2 if options.quick else options.draws, "EBM": EBM_SETTINGS, "bootstraps": options.bootstraps}
    for found in noise(options) if "noise" in options.parts else ():
        figures["rows"] += found
        record.keep("stability", options, settings, figures)
    for row in bootstrap(options) if "bootstrap" in options.parts else ():
        print(_line({**row, "condition": row["data"][:10]}), flush=True)
        figures["bootstrap"].append(row)
        record.keep("stability", options, settings, figures)


if __name__ == "__main__" and not versions.work(work):
    main()
