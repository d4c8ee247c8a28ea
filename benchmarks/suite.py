"""Held-out scores of this library and its peers: stratified 5-fold, the same folds for all, fold by fold.

To run it:

    python benchmarks/suite.py                        all that results/suite.csv lacks; may be stopped
    python benchmarks/suite.py --again baconlogic     these models anew
    python benchmarks/suite.py --models EBM --only Pima
    python benchmarks/suite.py --quick                one fold of one set, nothing kept: does it run?
    python benchmarks/suite.py --extra --seeds 1      other public data, looked at less
"""

from __future__ import annotations

import argparse
import csv
import os
import time
from collections.abc import Iterator
from dataclasses import asdict, astuple, dataclass, fields
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")  # every contender gets one core

import numpy as np
from contenders import ALL, CONTENDERS, MISSING, OURS, TABLES, Contender
from problems import EXTRA, GROUPS, SUITE, Absent, Table, filled, numbers, rows
from record import DATA, RESULTS
from sklearn.metrics import accuracy_score, log_loss, roc_auc_score
from sklearn.model_selection import StratifiedKFold

SCORES = RESULTS / "suite.csv"
EVERY = {name: reader for group in GROUPS.values() for name, reader in group.items()}
FOLDS = 5
ONE_ROW = 30  # predictions of a single row, of which the median is taken


@dataclass(frozen=True)
class Score:
    """What one model did on one fold."""

    data: str
    model: str
    seed: int
    fold: int
    accuracy: float
    auc: float
    log_loss: float
    calibration: float  # expected calibration error, ten bins of equal width
    features: int
    rules: int
    fit_seconds: float  # CPU time, one core
    row_microseconds: float  # wall time of predict_proba for one row, median
    table_microseconds: float  # CPU time of predict_proba a row, for the whole fold

    @property
    def key(self) -> tuple[str, str, int, int]:
        """Return what it is the score of."""
        return self.data, self.model, self.seed, self.fold


def read(path: Path = SCORES) -> list[Score]:
    """Return the scores kept in a file; of those measured twice, the last."""
    if not path.exists():
        return []
    kinds = {f.name: {"str": str, "int": int, "float": float}[str(f.type)] for f in fields(Score)}
    with path.open(newline="", encoding="utf-8") as file:
        scores = [Score(**{name: kinds[name](text) for name, text in row.items()}) for row in csv.DictReader(file)]
    return list({score.key: score for score in scores}.values())


def keep(score: Score, path: Path) -> None:
    """Add a score to a file: one line in one go, so that two runs may share it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.exists():
        path.write_text(",".join(asdict(score)) + "\n", encoding="utf-8")
    values = [f"{v:.6g}" if isinstance(v, float) else str(v) for v in astuple(score)]
    with path.open("a", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerow(values)


def calibration_error(y: np.ndarray, p: np.ndarray, bins: int = 10) -> float:
    """Return the mean distance of probability and share over bins of equal width, weighted by their rows."""
    which = np.minimum((p * bins).astype(int), bins - 1)
    gaps = [abs(p[which == b].sum() - y[which == b].sum()) for b in range(bins)]
    return float(np.sum(gaps) / len(y))


def seen_by(who: Contender, X: Table, split: tuple) -> tuple[Table, Table]:
    """Return the rows to learn from and those held out, as this model takes them."""
    train, test = (rows(X, which) for which in split)
    if who.takes == TABLES:
        return train, test
    train, test = (rows(numbers(X), which) for which in split)
    return (train, test) if who.takes == MISSING else tuple(filled(train, test))


def run_fold(who: Contender, key: tuple[str, str, int, int], X: Table, y: np.ndarray, split: tuple) -> Score:
    train, test = split
    learned, unseen = seen_by(who, X, split)
    model = who.make()
    start = time.process_time()
    model.fit(learned, y[train])
    fit = getattr(model, "seconds_", time.process_time() - start)  # a process of its own says how long it took
    start = time.process_time()
    p = np.asarray(model.predict_proba(unseen), dtype=float)[:, 1]
    table = time.process_time() - start
    taken = []
    for i in range(ONE_ROW):
        row = rows(unseen, np.array([i % len(test)]))
        start = time.perf_counter()
        model.predict_proba(row)
        taken.append(time.perf_counter() - start)
    return Score(
        *key,
        accuracy=float(accuracy_score(y[test], model.predict(unseen))),
        auc=float(roc_auc_score(y[test], p)),
        log_loss=float(log_loss(y[test], np.clip(p, 1e-6, 1 - 1e-6), labels=[0, 1])),
        calibration=calibration_error(y[test], p),
        **dict(zip(("features", "rules"), who.size(model, learned.shape[1]), strict=True)),
        fit_seconds=fit,
        row_microseconds=1e6 * float(np.median(taken)),
        table_microseconds=1e6 * table / len(test),
    )


def run(options: argparse.Namespace, models: list[Contender]) -> Iterator[Score]:
    """Measure what is not known yet, data set by data set."""
    kept = [] if options.quick else read(options.out)  # a quick run measures, whatever is known
    known = {score.key for score in kept if score.model not in options.again}
    for data, reader in chosen(options).items():
        try:
            X, y = reader(options.data)
        except Absent as why:
            print(f"{data} is skipped: {why}")
            continue
        for seed in range(options.seeds or ALL):
            folds = list(StratifiedKFold(FOLDS, shuffle=True, random_state=seed).split(X, y))
            for who in models:
                if seed >= who.seeds:
                    continue
                for fold, split in enumerate(folds[: options.folds]):
                    key = (data, who.name, seed, fold)
                    if key not in known:
                        yield run_fold(who, key, X, y, split)


def chosen(options: argparse.Namespace) -> dict:
    if options.only:
        return {name: reader for name, reader in EVERY.items() if name in options.only}
    return EXTRA if options.extra else SUITE


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, default=DATA, help="folder of the data files")
    parser.add_argument("--out", type=Path, default=SCORES, metavar="FILE", help="where scores are kept")
    parser.add_argument("--seeds", type=int, help="so many shufflings of the folds; at most those of each model")
    parser.add_argument("--only", nargs="+", metavar="DATA", choices=list(EVERY), help="these data sets")
    parser.add_argument("--models", nargs="+", choices=list(CONTENDERS), help="these models")
    parser.add_argument("--again", nargs="+", choices=list(CONTENDERS), default=[], help="these models anew")
    parser.add_argument("--extra", action="store_true", help="the other public data")
    parser.add_argument("--quick", action="store_true", help="one fold of Iris, this library and logistic regression")
    options = parser.parse_args()
    options.folds = 1 if options.quick else FOLDS
    if options.quick:
        options.only, options.models, options.seeds = ["Iris Virginica"], options.models or [OURS, "logistic"], 1
    options.models = options.models or options.again or list(CONTENDERS)
    return options


def main() -> None:
    options = parse()
    models = []
    for name in options.models:
        who = CONTENDERS[name]
        if who.version() is None:
            print(f"{name} is skipped: {who.package} is not installed")
        else:
            models.append(who)
    for score in run(options, models):
        if not options.quick:
            keep(score, options.out)
        print(
            f"{score.data:15} {score.model:22} seed {score.seed} fold {score.fold}  accuracy {score.accuracy:.4f}"
            f"  log-loss {score.log_loss:.3f}  {score.features} features, {score.rules} rules"
            f"  {score.fit_seconds:.2f} s",
            flush=True,
        )


if __name__ == "__main__":
    main()
