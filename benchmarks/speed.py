"""Speed of a fit from version to version: CPU time on one core, as ratios in one run.

Each fit is the second in a process of its own, so that nothing is compiled in it (the first one sees a tenth of the
rows). Twenty leaves, a million rows and the first fit with an empty compile cache are asked of the last version alone.
To run it:

    python benchmarks/speed.py --versions 0.1.0=../old/src now=src
    python benchmarks/speed.py --parts fit compile
    python benchmarks/speed.py --quick
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
import peers
import record
import versions
from parts import versions_speed as part
from problems import SUITE, Problem, interleaved, rows
from timing import cpu_seconds

PARTS = ("fit", "leaves", "million", "compile")
QUICK = "Iris Virginica"
MILLION = "1,000,000 x 10"


def mixed(rng: np.random.Generator, size: int = 1000) -> Problem:
    """Return ten columns of numbers and ten of text, four of each with a say."""
    import pandas as pd

    X = pd.DataFrame({f"number{i}": rng.normal(0.0, 1.0, size) for i in range(10)})
    score = sum(X[f"number{i}"] * (1.0 - 0.2 * i) for i in range(4))
    for i in range(10):
        codes = rng.integers(0, 2 + i % 4, size)
        X[f"text{i}"] = np.array(["red", "green", "blue", "white", "black"])[codes]
        score = score + (np.sin(1.7 * codes + i) if i < 4 else 0.0)
    return X, (score + rng.normal(0.0, 1.0, size) > score.median()).to_numpy().astype(int)


def five(rng: np.random.Generator, size: int = 3000) -> Problem:
    """Return two columns of interleaved clusters and three that say nothing."""
    X, y = interleaved(rng, size)
    return np.column_stack([X, rng.normal(0.0, 1.0, (size, 3))]), y.astype(int)


def endgame(rng: np.random.Generator, size: int = 3200) -> Problem:
    """Return 36 columns of text, mostly f and t, decided by a handful of patterns."""
    import pandas as pd

    likely = rng.beta(1.0, 1.0, 36)
    bits = rng.random((size, 36)) < likely
    y = (bits[:, 0] & bits[:, 1]) | (bits[:, 2] & ~bits[:, 3] & bits[:, 4]) | (bits[:, 5] & bits[:, 6] & ~bits[:, 7])
    X = pd.DataFrame({f"field{i}": np.where(bits[:, i], "t", "f") for i in range(36)})
    X["field35"] = np.array(["n", "b", "w"])[rng.integers(0, 3, size)]
    return X, (y ^ (rng.random(size) < 0.02)).astype(int)


def million(rng: np.random.Generator, size: int = 1_000_000) -> Problem:
    """Return ten columns of numbers and a rule of three of them, with noise."""
    X = rng.normal(0.0, 1.0, (size, 10))
    return X, ((X[:, 0] + 0.5 * rng.normal(size=size) > 0.3) & (X[:, 1] > -0.5) | (X[:, 2] > 1.2)).astype(int)


def _drawn(make: Callable[[np.random.Generator], Problem]) -> Callable[[Path], Problem]:
    return lambda folder: make(np.random.default_rng(15))  # noqa: ARG005


CASES: dict[str, Callable[[Path], Problem]] = {
    "WDBC": SUITE["WDBC"],
    "1,000 x 20, half text": _drawn(mixed),
    "3,000 x 5 numbers": _drawn(five),
    "3,200 x 36 text": _drawn(endgame),
}
EVERY = {**CASES, MILLION: _drawn(million), QUICK: SUITE[QUICK]}


def work(task: versions.Task) -> list[float]:
    """Return the CPU seconds of a first and of a second fit; the first one may see fewer rows."""
    X, y = EVERY[task["case"]](Path(task["data"]))
    few = np.arange(0, len(y), max(1, len(y) // task["first"]))
    seconds = []
    for which in (few, np.arange(len(y))):
        table, labels, model = rows(X, which), y[which], peers.ours(n_jobs=1, **task["options"])
        seconds.append(cpu_seconds(lambda m=model, t=table, labels=labels: m.fit(t, labels)))
    return seconds


def main(argv: list[str] | None = None) -> None:
    parser = record.parser(__doc__)
    versions.add_options(parser)
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=PARTS)
    options = record.parse(parser, argv)
    record.greet()
    which, figures = versions.chosen(options), {}
    cases, last = [QUICK] if options.quick else list(CASES), which[-1]

    def ask(version: versions.Version, case: str, cache: Path | None = None, first: int = 300, **rest: Any) -> Any:
        task = {"case": case, "data": str(options.data), "first": first, "options": rest}
        found = versions.ask(__file__, version, task, cache)
        print(f"{case:24} {version.name:10} {rest or ''} first {found[0]:.2f} s, second {found[1]:.2f} s", flush=True)
        record.keep("speed", options, {"versions": [each.name for each in which]}, figures)
        return found

    if "fit" in options.parts or "leaves" in options.parts:
        figures["fit"] = {}
        for case in cases:
            asked = which if "fit" in options.parts else [last]
            figures["fit"][case] = {version.name: ask(version, case)[1] for version in asked}
    if "leaves" in options.parts:
        figures["leaves"] = {case: ask(last, case, max_leaves=20)[1] for case in cases}
    if "million" in options.parts and not options.quick:
        figures["million"] = ask(last, MILLION, first=2000)[1]
    if "compile" in options.parts and not options.quick:
        with tempfile.TemporaryDirectory() as empty:
            figures["compile"] = ask(last, cases[0], Path(empty), first=10**9)
    record.keep("speed", options, {"versions": [each.name for each in which]}, figures)
    print("\n" + part.told(figures, [each.name for each in which]))


if __name__ == "__main__" and not versions.work(work):
    main()
