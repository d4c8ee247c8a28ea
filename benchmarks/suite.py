"""Held-out accuracy of this library and its peers: stratified 5-fold, the same folds for all, fold by fold.

To run it:

    python benchmarks/suite.py --seeds 0 1 2 3       peers that are not installed are skipped, and said so
    python benchmarks/suite.py --quick               one fold of one set: does it run?
    python benchmarks/suite.py --extra only          data on which no default was chosen
    python benchmarks/suite.py --json scores.json    keep every score; --reuse scores.json reruns no peer
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")  # every contender gets one core

import numpy as np
import sklearn
from problems import EXTRA, SUITE, Absent
from sklearn.metrics import accuracy_score, log_loss
from sklearn.model_selection import StratifiedKFold

Score = dict[str, Any]

OURS = "baconlogic"
PEERS = ("logistic", "tree", "FIGS", "boosting")  # the four the library is held to


def baconlogic() -> Any:
    from baconlogic import BaconClassifier

    return BaconClassifier(max_leaves=10, random_state=0)


def logistic() -> Any:
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    return make_pipeline(StandardScaler(), LogisticRegression())


def tree() -> Any:
    from sklearn.tree import DecisionTreeClassifier

    return DecisionTreeClassifier(max_depth=4, random_state=0)


def figs() -> Any:
    from imodels import FIGSClassifier

    return FIGSClassifier(random_state=0)


def boosting() -> Any:
    from sklearn.ensemble import HistGradientBoostingClassifier

    return HistGradientBoostingClassifier(random_state=0)


def ebm() -> Any:
    from interpret.glassbox import ExplainableBoostingClassifier

    return ExplainableBoostingClassifier(n_jobs=1)


MODELS: dict[str, Callable[[], Any]] = {
    OURS: baconlogic,
    "logistic": logistic,
    "tree": tree,
    "FIGS": figs,
    "boosting": boosting,
    "EBM": ebm,
}


def installed(names: Iterable[str]) -> list[str]:
    """Return the models that can be made here, and say why the others cannot."""
    kept = []
    for name in names:
        try:
            MODELS[name]()
        except ImportError as error:
            print(f"{name} is skipped: {error}")
        else:
            kept.append(name)
    return kept


def leaves_of(model: Any) -> int:
    from baconlogic import Leaf

    return sum(isinstance(node, Leaf) for _, node in model.tree_.walk())


def run_fold(name: str, X: np.ndarray, y: np.ndarray, train: np.ndarray, test: np.ndarray) -> Score:
    model = MODELS[name]()
    start = time.perf_counter()
    model.fit(X[train], y[train])
    seconds = time.perf_counter() - start
    p = np.asarray(model.predict_proba(X[test]), dtype=float)[:, 1]
    return {
        "accuracy": float(accuracy_score(y[test], model.predict(X[test]))),
        "log_loss": float(log_loss(y[test], np.clip(p, 1e-6, 1 - 1e-6), labels=[0, 1])),
        "leaves": leaves_of(model) if name == OURS else None,
        "seconds": seconds,
    }


def run_problem(
    data: str, X: np.ndarray, y: np.ndarray, models: list[str], options: argparse.Namespace, known: dict[tuple, Score]
) -> list[Score]:
    print(f"\n{data}: {len(y):,} rows, {X.shape[1]} features, {y.mean():.1%} positive", flush=True)
    scores = []
    for seed in options.seeds:
        folds = list(StratifiedKFold(5, shuffle=True, random_state=seed).split(X, y))[: options.folds]
        for name in models:
            mine = []
            for fold, (train, test) in enumerate(folds):
                who = (data, name, seed, fold)
                score = known.get(who) or run_fold(name, X, y, train, test)
                mine.append({**score, "data": data, "model": name, "seed": seed, "fold": fold})
            print(_fold_line(name, seed, mine), flush=True)
            scores += mine
    return scores


def _fold_line(name: str, seed: int, folds: list[Score]) -> str:
    line = f"  seed {seed}  {name:10} " + " ".join(f"{f['accuracy']:.3f}" for f in folds)
    line += f"  mean {_mean(folds, 'accuracy'):.4f}  {_mean(folds, 'seconds'):6.2f} s a fit"
    if folds[0]["leaves"] is not None:
        line += "  log-loss " + " ".join(f"{f['log_loss']:.3f}" for f in folds)
        line += "  leaves " + " ".join(f"{f['leaves']}" for f in folds)
    return line


def _mean(scores: list[Score], what: str) -> float:
    return float(np.mean([s[what] for s in scores])) if scores else float("nan")


def means(scores: list[Score], data: list[str], models: list[str], what: str) -> np.ndarray:
    """Return the mean over folds and seeds: a row a data set, a column a model."""
    cells = [[[s for s in scores if s["data"] == d and s["model"] == m] for m in models] for d in data]
    return np.array([[_mean(cell, what) for cell in row] for row in cells])


def print_table(scores: list[Score], markdown: bool) -> None:
    data = list(dict.fromkeys(s["data"] for s in scores))
    models = [m for m in MODELS if any(s["model"] == m for s in scores)]
    accuracy = means(scores, data, models, "accuracy")
    head, rows = ["data", *models], [[d, *(f"{a:.4f}" for a in row)] for d, row in zip(data, accuracy, strict=True)]
    rows.append(["mean", *(f"{a:.4f}" for a in accuracy.mean(axis=0))])
    rows.append(["log-loss", *(f"{a:.4f}" for a in means(scores, data, models, "log_loss").mean(axis=0))])
    rows.append(["seconds a fit", *(f"{a:.2f}" for a in means(scores, data, models, "seconds").mean(axis=0))])
    if OURS in models:
        leaves = means(scores, data, [OURS], "leaves")[:, 0]
        head.append("leaves")
        rows = [[*row, f"{n:.1f}"] for row, n in zip(rows, [*leaves, leaves.mean()], strict=False)] + [
            [*row, ""] for row in rows[len(data) + 1 :]
        ]
    width = max(map(len, (row[0] for row in rows)))
    print()
    for i, row in enumerate([head, *rows]):
        if markdown:
            print("| " + " | ".join(row) + " |" + ("\n|" + " --- |" * len(row) if i == 0 else ""))
        else:
            print(f"{row[0]:{width}}" + "".join(f"{cell:>12}" for cell in row[1:]))
    _print_verdict(accuracy, models)


def _print_verdict(accuracy: np.ndarray, models: list[str]) -> None:
    peers = [models.index(p) for p in PEERS if p in models]
    if OURS not in models or not peers:
        return
    ours, best = accuracy[:, models.index(OURS)], accuracy[:, peers].max(axis=1)
    close = int((ours >= best - 0.01 - 1e-9).sum())
    among = "the four peers" if len(peers) == len(PEERS) else ", ".join(models[p] for p in peers)
    above = int((ours.mean() > accuracy[:, peers].mean(axis=0)).sum())
    print(f"\nwithin 0.01 of the best of {among} on {close} of {len(ours)}; mean above {above} of {len(peers)} of them")


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    root = Path(__file__).resolve().parents[1]
    parser.add_argument("--data", type=Path, default=root.parent / "shared" / "data", help="folder of the data files")
    parser.add_argument("--seeds", type=int, nargs="+", default=[0], help="one shuffling of the folds each")
    parser.add_argument("--only", nargs="+", metavar="DATA", choices=[*SUITE, *EXTRA], help="these data sets")
    parser.add_argument("--models", nargs="+", choices=list(MODELS), help="these models")
    parser.add_argument("--extra", nargs="?", const="also", choices=["also", "only"], help="the other public data too")
    parser.add_argument("--ebm", action="store_true", help="also run the explainable boosting machine (minutes)")
    parser.add_argument("--quick", action="store_true", help="one fold of Iris, this library and logistic regression")
    parser.add_argument("--markdown", action="store_true", help="print the table for RESULTS.md")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the score of every fold")
    parser.add_argument(
        "--reuse", type=Path, nargs="+", metavar="FILE", default=[], help="take the peers' scores from here"
    )
    options = parser.parse_args()
    options.folds = 1 if options.quick else 5
    if options.quick:
        options.only, options.models = options.only or ["Iris Virginica"], options.models or [OURS, "logistic"]
    options.models = options.models or [OURS, *PEERS, *(["EBM"] if options.ebm else [])]
    return options


def main() -> None:
    options = parse()
    readers = {**(SUITE if options.extra != "only" or options.only else {}), **(EXTRA if options.extra else {})}
    if options.only:
        readers = {name: reader for name, reader in {**SUITE, **EXTRA}.items() if name in options.only}
    stored = [s for path in options.reuse for s in json.loads(path.read_text())]
    known = {(s["data"], s["model"], s["seed"], s["fold"]): s for s in stored if s["model"] != OURS}
    print(f"Python {platform.python_version()}, numpy {np.__version__}, scikit-learn {sklearn.__version__}")
    models = installed(options.models)
    scores: list[Score] = []
    for name, read in readers.items():
        try:
            X, y = read(options.data)
        except Absent as why:
            print(f"\n{name} is skipped: {why}")
            continue
        scores += run_problem(name, X, y, models, options, known)
        if options.json:
            options.json.write_text(json.dumps(scores))
    for names in (SUITE, EXTRA):
        if part := [s for s in scores if s["data"] in names]:
            print_table(part, options.markdown)


if __name__ == "__main__":
    main()
