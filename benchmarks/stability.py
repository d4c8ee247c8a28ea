"""Stability: how far a model changes when the rows are drawn again, and when labels or measurements are noisy.

Three tenths of the rows are held out. From the others, rows are drawn with replacement several times (the same rows
for every model), and each model is fitted to each draw: as it is, with some labels wrong, and with noise added to
every column. Between the draws: which features are used (Jaccard: how many both use, of those that either uses) and
on how many of the held-out rows the answers agree. To run it:

    python benchmarks/stability.py            EBM is measured when it is installed
    python benchmarks/stability.py --quick    two draws of Iris, small trees
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from itertools import combinations
from typing import Any, NamedTuple

os.environ.setdefault("OMP_NUM_THREADS", "1")  # every contender gets one core

import numpy as np
import peers
import record
from problems import SUITE, Absent
from sklearn.model_selection import train_test_split

EBM_SETTINGS = {"max_rounds": 500, "outer_bags": 4, "interactions": 0}  # so that a fit ends in seconds, not minutes
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
    rows = [np.random.default_rng(seed).integers(0, len(known), len(known)) for seed in range(draws)]
    settings = {"max_leaves": 2, "search": "additive"} if options.quick else {}
    solvers: list[Callable[..., dict[str, Fitted]]] = [lambda *data: both_of_ours(*data, **settings), tree]
    for condition, (labels, columns) in CONDITIONS.items():
        tables = [disturbed(seen[chosen], known[chosen], labels, columns, i) for i, chosen in enumerate(rows)]
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


def main(argv: list[str] | None = None) -> None:
    parser = record.parser(__doc__)
    parser.add_argument("--draws", type=int, default=5)
    parser.add_argument("--models", nargs="*", choices=["EBM"], default=["EBM"], help="peers that take long")
    options = record.parse(parser, argv)
    record.greet()
    if options.models and (options.quick or "interpret-core" not in record.versions()):
        print("EBM is skipped" + ("" if options.quick else ": interpret-core is not installed"))
        options.models = []
    draws = 2 if options.quick else options.draws
    rows: list[dict[str, Any]] = []
    for name in ["Iris Virginica"] if options.quick else ["WDBC", "Pima", "Banknote"]:
        try:
            X, y = SUITE[name](options.data)
        except Absent as why:
            print(f"\n{name} is skipped: {why}")
            continue
        for found in study(name, X, y, draws, options):
            rows += found
            record.keep("stability", options, {"draws": draws, "EBM": EBM_SETTINGS}, {"rows": rows})


if __name__ == "__main__":
    main()
