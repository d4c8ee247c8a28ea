"""How fitting grows with rows and with columns: this library and its peers, one core, the same data, in one run.

Two kinds of data: houses with a hidden rule, one label in twenty wrong; and log-odds that add up over five of the
columns, where there is no rule to be found. Each fit is a process of its own, so that its peak memory is its own, and
is stopped after --limit CPU seconds; a model that was stopped is not tried on more of the same. To run it:

    python benchmarks/growth.py            peers that are not installed are skipped, and said so
    python benchmarks/growth.py --quick    small sizes, this library and scikit-learn
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")  # every contender gets one core

import numpy as np
import peers
import record
from timing import Taken, limited

MODELS: dict[str, Callable[[], Any]] = {
    "baconlogic": peers.ours,
    "boosting": peers.boosting,
    "logistic": peers.logistic,
    "tree": peers.tree,
    "EBM": peers.ebm,
}
HELD_OUT = 2_000  # rows on which each model is judged
WEIGHTS = np.array([2.0, -1.5, 1.0, -0.75, 0.5])  # of the columns that count; all others are noise

Rows = tuple[np.ndarray, np.ndarray]


def houses(rows: int, columns: int) -> Rows:  # noqa: ARG001
    """Return generated houses under the paper's rule A, one label in twenty wrong; those held out are all right."""
    from baconlogic import datasets

    X, y = datasets.houses("A", rows=rows + HELD_OUT)
    wrong = np.random.default_rng(0).random(len(y)) < 0.05
    wrong[rows:] = False
    return X, y ^ wrong


def additive(rows: int, columns: int) -> Rows:
    """Return normal columns, of which five add up to the log-odds."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(rows + HELD_OUT, columns))
    odds = X[:, : len(WEIGHTS)] @ WEIGHTS
    return X, (rng.random(len(X)) < 1.0 / (1.0 + np.exp(-odds))).astype(int)


def once(make: Callable[[], Any], data: Callable[[int, int], Rows], rows: int, columns: int, limit: float) -> Taken:
    """Return what one fit takes; its value is the accuracy on rows that it has not seen."""

    def prepare() -> tuple[Callable[[], Any], Callable[[], float]]:
        X, y = data(rows, columns)
        model = make()
        return lambda: model.fit(X[:rows], y[:rows]), lambda: float(model.score(X[rows:], y[rows:]))

    return limited(prepare, limit)


def series(
    title: str, data: Callable[[int, int], Rows], sizes: list[tuple[int, int]], options: Any
) -> Iterator[dict[str, Any]]:
    """Give the fits of every model over growing sizes: after each fit, all so far."""
    print(f"\n{title}\n  {'rows':>9} {'columns':>8} {'model':10} {'CPU s':>8} {'MB':>6} {'held out':>9}")
    fits: list[dict[str, Any]] = []
    for who in options.models:
        for rows, columns in sizes:
            taken = once(MODELS[who], data, rows, columns, options.limit)
            fit = {"model": who, "rows": rows, "columns": columns, "seconds": taken.seconds}
            fits.append({**fit, "megabytes": taken.megabytes, "accuracy": taken.value, "stopped": taken.stopped})
            print(_line(fits[-1], options.limit), flush=True)
            yield {"title": title, "fits": fits}
            if taken.stopped:
                break


def _line(fit: dict[str, Any], limit: float) -> str:
    start = f"  {fit['rows']:9,} {fit['columns']:8,} {fit['model']:10} "
    if fit["stopped"] == "time":
        return f"{start}stopped after {limit:g} s"
    if fit["stopped"]:
        return f"{start}skipped: {fit['stopped']}"
    return f"{start}{fit['seconds']:8.2f} {fit['megabytes']:6.0f} {fit['accuracy']:9.4f}"


def main(argv: list[str] | None = None) -> None:
    parser = record.parser(__doc__)
    parser.add_argument("--limit", type=float, default=60.0, help="CPU seconds after which a fit is stopped")
    parser.add_argument("--models", nargs="+", choices=list(MODELS), default=list(MODELS))
    options = record.parse(parser, argv)
    record.greet()
    rows, columns, fixed = [1_000, 10_000, 100_000, 1_000_000], [10, 30, 100, 300, 1_000], 2_000
    if options.quick:
        rows, columns, fixed = [100, 200], [6, 10], 100
        options.models = [who for who in options.models if who != "EBM"]
        MODELS["baconlogic"] = lambda: peers.ours(max_leaves=2, search="additive")
    for who in options.models:
        peers.warm(MODELS[who])
    all_series = {
        # goals: 1,000,000 rows in 60 s and 4 GB, and no more time a row than with fewer of them
        "rows, a rule": series("houses, a rule with 5% wrong labels", houses, [(n, 6) for n in rows], options),
        "rows, no rule": series("log-odds that add up, 10 columns", additive, [(n, 10) for n in rows], options),
        "columns": series(f"log-odds that add up, {fixed:,} rows", additive, [(fixed, n) for n in columns], options),
    }
    settings = {"limit": options.limit, "held out": HELD_OUT, "contenders": list(MODELS)}
    figures: dict[str, Any] = {}
    for name, each in all_series.items():
        for figures[name] in each:
            record.keep("growth", options, settings, figures)


if __name__ == "__main__":
    main()
