"""Speed of learning, as ratios in one run: against EBM, against bacon-net's epoch, and growth in rows with memory.

To run it:

    python benchmarks/fit.py                 all three parts; EBM alone takes ten minutes or more on WDBC
    python benchmarks/fit.py --parts epoch   one of: ebm, epoch, rows
    python benchmarks/fit.py --quick         small and short: does it run?
    python benchmarks/fit.py --skip-peers    this library alone
"""

from __future__ import annotations

import argparse
import importlib.metadata
import json
import os
import platform
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")  # every contender gets one core

import numpy as np
from problems import SUITE, Absent

PARTS = ("ebm", "epoch", "rows")
JOBS = 2


def seconds_of(run: Callable[[], object]) -> float:
    start = time.perf_counter()
    run()
    return time.perf_counter() - start


def version(package: str) -> str | None:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None


def ours(**options: Any) -> Any:
    from baconlogic import BaconClassifier

    return BaconClassifier(random_state=0, **options)


def ebm() -> Any:
    from interpret.glassbox import ExplainableBoostingClassifier

    return ExplainableBoostingClassifier(n_jobs=1)


def warm() -> float:
    """Fit once, so that what is compiled or loaded once a process is not counted; return the seconds of that."""
    X, y = SUITE["Iris Virginica"](Path())
    return seconds_of(lambda: ours().fit(X, y))


# ---- part one: a default fit, size selection included, against EBM


def against_ebm(options: argparse.Namespace) -> None:
    print("\ndefault fit on all rows, one core")
    contenders: dict[str, tuple[Callable[[], Any], int]] = {"baconlogic": (lambda: ours(n_jobs=1), 3), "EBM": (ebm, 1)}
    if options.skip_peers or options.quick:
        del contenders["EBM"]
    for name in ["Iris Virginica"] if options.quick else ["WDBC", "Banknote"]:
        try:
            X, y = SUITE[name](options.data)
        except Absent as why:
            print(f"  {name} is skipped: {why}")
            continue
        taken: dict[str, float] = {}
        for who, (make, times) in contenders.items():
            try:
                taken[who] = fit_seconds(make, X, y, times)
            except ImportError as why:
                print(f"  {name:9} {who} is skipped: {why}")
                continue
            ratio = f"   {taken[who] / taken['baconlogic']:6.1f} x" if "baconlogic" in taken else ""
            goal = "   (goal: 20 x or more)" if ratio and who == "EBM" else ""
            print(f"  {name:9} {who:10} {taken[who]:8.2f} s{ratio}{goal}", flush=True)


def fit_seconds(make: Callable[[], Any], X: np.ndarray, y: np.ndarray, times: int) -> float:
    """Return the shortest of several fits, after a small one that compiles and loads; a single fit goes without."""
    if times > 1:
        make().fit(*SUITE["Iris Virginica"](Path()))
    return min(seconds_of(lambda: make().fit(X, y)) for _ in range(times))


# ---- part two: one epoch of the paper's search, all 30 features of WDBC, full batch


def truths(folder: Path) -> tuple[np.ndarray, np.ndarray]:
    """Return WDBC under the paper's fixed normaliser: the sigmoid of the standardised column."""
    X, y = SUITE["WDBC"](folder)
    return 1.0 / (1.0 + np.exp(-(X - X.mean(axis=0)) / X.std(axis=0))), y


def our_epochs(X: np.ndarray, y: np.ndarray, iterations: int) -> Callable[[int], object]:
    """Return a function that runs so many epochs of one attempt with the permutation layer on."""
    from baconlogic import gcd, kernel
    from baconlogic.search import Sinkhorn, annealing
    from baconlogic.search.attempt import Run

    settings = kernel.Settings(calibrated=False, knee=gcd.gcd.knee, penalty=1e-3, amplifier=1.0)
    columns, share = np.ascontiguousarray(X.T), np.full(len(y), 1.0 / len(y))
    shape = kernel.left_chain(len(columns))
    problem = annealing.pose(columns, y.astype(float), share, shape, settings, annealing.INSIDE)

    def run(epochs: int) -> object:
        search = Sinkhorn(iterations=iterations, max_epochs=epochs, freeze_loss_threshold=0.0)
        attempt = Run(search, problem, problem, np.random.default_rng(0))
        attempt.schedule = attempt.schedule._replace(patience=10**9)
        attempt._train(problem, True, 0.1, 0, epochs, lambda: False)  # noqa: FBT003
        return attempt.epochs

    return run


def bacon_net_epochs(X: np.ndarray, y: np.ndarray, iterations: int) -> Callable[[int], object]:
    """Return the same for bacon-net: its own loop (loss, amplifier, weight penalty, Adam, noise), nothing around it.

    `find_best_model` costs more an epoch (a second Sinkhorn for its sparsity loss); this is its cheapest way to train.
    """
    import torch
    from bacon.baconNet import baconNet

    torch.set_num_threads(1)
    torch.manual_seed(0)
    net = baconNet(X.shape[1], weight_normalization="softmax", loss_amplifier=1000).assembler
    net.sinkhorn_iters = iterations  # the constructor does not pass it on
    inputs = torch.tensor(X, dtype=torch.float32, device=net.device)
    target = torch.tensor(y, dtype=torch.float32, device=net.device)[:, None]
    return lambda epochs: net.train_model(inputs, target, epochs, False)  # noqa: FBT003


def epoch_seconds(run: Callable[[int], object], few: int, many: int, repeats: int) -> float:
    """Return the time of one epoch: two lengths, and the difference divided, so that what happens once drops out."""
    run(few)
    short = min(seconds_of(lambda: run(few)) for _ in range(repeats))
    return (min(seconds_of(lambda: run(many)) for _ in range(repeats)) - short) / (many - few)


def against_bacon_net(options: argparse.Namespace) -> None:
    X, y = truths(options.data)
    contenders = {"baconlogic": (our_epochs, 200, 1200), "bacon-net": (bacon_net_epochs, 10, 60)}
    if options.skip_peers:
        del contenders["bacon-net"]
    for iterations in options.iterations[:1] if options.quick else options.iterations:
        print(f"\none epoch of the paper's search, WDBC, {iterations} Sinkhorn iterations, one core")
        taken: dict[str, float] = {}
        for who, (prepare, few, many) in contenders.items():
            shorter, repeats = (10, 1) if options.quick else (1, 3)
            try:
                taken[who] = epoch_seconds(prepare(X, y, iterations), few // shorter, many // shorter, repeats)
            except (ImportError, NotImplementedError) as why:
                print(f"  {who:10} is skipped: {why}")
                continue
            ratio = f"   {taken[who] / taken['baconlogic']:6.1f} x" if "baconlogic" in taken else ""
            goal = "   (goal: 25 x or more)" if ratio and who == "bacon-net" else ""
            print(f"  {who:10} {1e3 * taken[who]:8.3f} ms{ratio}{goal}", flush=True)


# ---- part three: growth in rows, each size in a process of its own, so that peak memory is its own


def one_size(rows: int) -> None:
    """Fit generated houses and print what it took as JSON: the child's half of `growth`."""
    from baconlogic import datasets

    first = warm()
    X, y = datasets.houses(case="A", rows=rows)
    model = ours(n_jobs=JOBS)
    seconds = seconds_of(lambda: model.fit(X, y))
    _stop_workers()
    unit = 1 if sys.platform == "darwin" else 1024  # bytes there, kilobytes here
    own, child = (resource.getrusage(who).ru_maxrss * unit for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    score = float(model.score(X, y))
    memory = (own + JOBS * child) / 2**20  # at most: all workers as large as the largest
    print(json.dumps({"seconds": seconds, "megabytes": memory, "accuracy": score, "first": first}))


def _stop_workers() -> None:
    """End joblib's worker processes, if any: only those that have ended are counted as children."""
    from joblib.externals.loky import get_reusable_executor

    get_reusable_executor().shutdown(wait=True)


def growth(options: argparse.Namespace) -> None:
    sizes = [1_000, 10_000] if options.quick else [10_000, 100_000, 1_000_000]
    print(f"\ngenerated houses, case A, default fit, {JOBS} cores (goals: ratio <= 1; 1,000,000 rows in 60 s and 4 GB)")
    print(f"  {'rows':>10} {'seconds':>9} {'us a row':>9} {'ratio':>7} {'MB':>7} {'in sample':>10}")
    each = None
    for rows in sizes:
        command = [sys.executable, __file__, "--child", str(rows)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603
        if done.returncode:
            print(f"  {rows:10,} failed: {done.stderr.strip().splitlines()[-1]}")
            return
        took = json.loads(done.stdout.splitlines()[-1])
        mine = took["seconds"] / rows
        each = each or mine
        print(
            f"  {rows:10,} {took['seconds']:9.2f} {1e6 * mine:9.1f} {mine / each:7.2f} {took['megabytes']:7.0f}"
            f" {took['accuracy']:10.4f}",
            flush=True,
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    root = Path(__file__).resolve().parents[1]
    parser.add_argument("--data", type=Path, default=root.parent / "shared" / "data", help="folder of the data files")
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=list(PARTS))
    parser.add_argument("--iterations", type=int, nargs="+", default=[10, 100], help="Sinkhorn iterations an epoch")
    parser.add_argument("--skip-peers", action="store_true", help="neither EBM nor bacon-net")
    parser.add_argument("--quick", action="store_true", help="small sizes, few repeats, no EBM")
    parser.add_argument("--child", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        one_size(options.child)
        return
    found = ", ".join(
        f"{p} {version(p)}" for p in ("numpy", "numba", "interpret-core", "bacon-net", "torch") if version(p)
    )
    print(f"Python {platform.python_version()}, {found}, {os.cpu_count()} cores, {platform.machine()}")
    for part, run in zip(PARTS, (against_ebm, against_bacon_net, growth), strict=True):
        if part in options.parts:
            run(options)


if __name__ == "__main__":
    main()
