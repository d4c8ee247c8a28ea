"""Versions of the library against each other and against peers: stratified 5-fold, one shuffle, the same folds for all.

Each version runs in a process of its own on one core. What is known of the same sources and the same data is not run
again. To run it:

    python benchmarks/before_after.py --versions 0.1.0=../old/src now=src
    python benchmarks/before_after.py --groups TEXT SHAPES --jobs 2
    python benchmarks/before_after.py --only Pima Titanic
    python benchmarks/before_after.py --forms        what each form gives, too, with the last version
    python benchmarks/before_after.py --quick        two folds of Iris
"""

from __future__ import annotations

import argparse
import json
import os
import zlib
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")  # every contender gets one core

import numpy as np
import peers
import record
import sklearn
import versions
from contenders import CONTENDERS, TABLES, Contender, _leaves
from parts import before_after as part
from problems import GROUPS, Absent, Table
from sklearn.model_selection import StratifiedKFold
from suite import EVERY, FOLDS, run_fold

PEERS = ("boosting", "tree, 10 leaves", "logistic")
QUICK = "Iris Virginica"

Scores = list[dict[str, Any]]  # of one model on one problem, fold by fold


def measured(who: Contender, problem: str, X: Table, y: np.ndarray, folds: int) -> Scores:
    splits = list(StratifiedKFold(FOLDS, shuffle=True, random_state=0).split(X, y))[:folds]
    scores = (asdict(run_fold(who, (problem, who.name, 0, i), X, y, split)) for i, split in enumerate(splits))
    return [{figure: round(float(score[figure]), 5) for figure in part.FIGURES} for score in scores]


def work(task: versions.Task) -> Scores:
    """Measure the version this process has on one problem."""
    peers.warm()
    model = partial(peers.ours, n_jobs=1, **task["fit"])
    who = Contender(task["version"], "baconlogic", "", model, _leaves, takes=TABLES)
    return measured(who, task["problem"], *EVERY[task["problem"]](Path(task["data"])), task["folds"])


def digest(X: Table, y: np.ndarray) -> str:
    """Return what tells a problem from others of its name."""
    text = X.to_csv(index=False) if hasattr(X, "iloc") else np.asarray(X, dtype=float).round(9).tobytes().hex()
    return f"{zlib.crc32(y.tobytes(), zlib.crc32(text.encode())):08x}"


class Known:
    """What was measured, by model and problem, with digests of both; it is kept after every step."""

    def __init__(self, options: argparse.Namespace) -> None:
        self.options = options
        place = record.place("before_after", options)
        there = place is not None and place.exists()
        self.entries = json.loads(place.read_text(encoding="utf-8"))["figures"]["scores"] if there else {}

    def has(self, model: str, problem: str, about: str) -> bool:
        """Return whether this model was measured on this problem, both as they are now."""
        return self.entries.get(model, {}).get(problem, {}).get("about") == about

    def add(self, model: str, problem: str, about: str, folds: Scores) -> None:
        """Take a measurement, print and keep it."""
        self.entries.setdefault(model, {})[problem] = {"about": about, "folds": folds}
        mean = {what: float(np.mean([fold[what] for fold in folds])) for what in part.FIGURES}
        print(
            f"{problem:24} {model:16} accuracy {mean['accuracy']:.4f}  log-loss {mean['log_loss']:.3f}"
            f"  {mean['fit_seconds']:7.2f} s  {mean['rules']:.1f} leaves",
            flush=True,
        )
        self.keep()

    def keep(self) -> None:
        """Write all of it."""
        settings = {"groups": {name: list(group) for name, group in GROUPS.items()}, "models": self.options.models}
        record.keep("before_after", self.options, settings, {"scores": self.entries})


def main(argv: list[str] | None = None) -> None:
    parser = record.parser(__doc__)
    versions.add_options(parser)
    parser.add_argument("--groups", nargs="+", choices=list(GROUPS), default=list(GROUPS), help="these problems")
    parser.add_argument("--only", nargs="+", metavar="DATA", choices=list(EVERY), help="these problems alone")
    parser.add_argument("--forms", action="store_true", help="each form that can be asked for, with the last version")
    options = record.parse(parser, argv)
    record.greet()
    which = versions.chosen(options)
    options.models = [*(version.name for version in which), *PEERS]
    names = [QUICK] if options.quick else options.only or [name for group in options.groups for name in GROUPS[group]]
    folds, known, tasks = 2 if options.quick else FOLDS, Known(options), []
    for name in names:
        try:
            X, y = EVERY[name](options.data)
        except Absent as why:
            print(f"{name} is skipped: {why}")
            continue
        data = digest(X, y)
        for peer in PEERS:
            about = f"{data} scikit-learn {sklearn.__version__}"
            if not known.has(peer, name, about):
                known.add(peer, name, about, measured(CONTENDERS[peer], name, X, y, folds))
        asked = [(version, version.name, {}) for version in which]
        asked += [(which[-1], form, {"form": form}) for form in part.FORMS if options.forms]
        for version, model, fit in asked:
            about = f"{data} {version.digest}"
            if not known.has(model, name, about):
                task = {"problem": name, "version": model, "data": str(options.data), "folds": folds, "fit": fit}
                tasks.append((version, {**task, "about": about}))
    for _, task, scores in versions.ask_all(__file__, tasks, options.jobs):
        known.add(task["version"], task["problem"], task["about"], scores)
    known.keep()
    print("\n" + part.told({"scores": known.entries}, options.models, names))


if __name__ == "__main__" and not versions.work(work):
    main()
