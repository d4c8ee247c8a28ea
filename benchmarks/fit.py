"""Speed of learning, as ratios in one run: a default fit against EBM, and one epoch against bacon-net's.

To run it:

    python benchmarks/fit.py                 both parts; EBM is stopped after --limit CPU seconds a fit
    python benchmarks/fit.py --parts epoch   one of: ebm, epoch
    python benchmarks/fit.py --quick         small and short, without EBM: does it run?
    python benchmarks/fit.py --skip-peers    this library alone

How fitting grows with rows and columns is in growth.py.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")  # every contender gets one core

import goals
import numpy as np
import peers
import record
from problems import SUITE, Absent
from timing import Taken, cpu_seconds, limited

PARTS = ("ebm", "epoch")


# ---- part one: a default fit, size selection included, against EBM


def against_ebm(options: argparse.Namespace) -> list[dict[str, Any]]:
    """Return the CPU seconds of a default fit; None where a peer was stopped at the limit."""
    print("\ndefault fit on all rows, one core")
    contenders: dict[str, Callable[[], Any]] = {"baconlogic": lambda: peers.ours(n_jobs=1), "EBM": peers.ebm}
    if options.skip_peers or options.quick:
        del contenders["EBM"]
    found = []
    for name in ["Iris Virginica"] if options.quick else ["WDBC", "Banknote"]:
        try:
            X, y = SUITE[name](options.data)
        except Absent as why:
            print(f"  {name} is skipped: {why}")
            continue
        seconds: dict[str, float | None] = {}
        for who, make in contenders.items():
            taken = fit_once(make, X, y, options.limit)
            if taken.stopped and taken.stopped != "time":
                print(f"  {name:9} {who} is skipped: {taken.stopped}")
                continue
            seconds[who] = taken.seconds
            least = options.limit if taken.seconds is None else taken.seconds
            more = "more than " if taken.seconds is None else ""
            ratio = f"   {more}{least / seconds['baconlogic']:.1f} x" if seconds.get("baconlogic") else ""
            goal = f"   (goal: {goals.EBM})" if ratio and who == "EBM" else ""
            print(f"  {name:9} {who:10} {more}{least:8.2f} s{ratio}{goal}", flush=True)
        found.append({"data": name, "seconds": seconds})
    return found


def fit_once(make: Callable[[], Any], X: np.ndarray, y: np.ndarray, limit: float) -> Taken:
    """Return what one fit takes; its value is the accuracy on the rows learned from."""

    def prepare() -> tuple[Callable[[], Any], Callable[[], float]]:
        model = make()
        return lambda: model.fit(X, y), lambda: float(model.score(X, y))

    return limited(prepare, limit)


# ---- part two: one epoch of the paper's search, all 30 features of WDBC, full batch


def truths(folder: Path) -> tuple[np.ndarray, np.ndarray]:
    """Return WDBC under the paper's fixed normaliser: the sigmoid of the standardised column."""
    X, y = SUITE["WDBC"](folder)
    return 1.0 / (1.0 + np.exp(-(X - X.mean(axis=0)) / X.std(axis=0))), y


def our_epochs(X: np.ndarray, y: np.ndarray, iterations: int) -> Callable[[int], object]:
    """Return a function that runs so many epochs of one attempt with the permutation layer on."""
    from baconlogic.core import gcd
    from baconlogic.kernel import loss as kernel
    from baconlogic.learn.search import Sinkhorn
    from baconlogic.learn.search import epochs as annealing
    from baconlogic.learn.search.sinkhorn import Trainer

    settings = kernel.Settings(calibrated=False, knee=gcd.gcd.knee, penalty=1e-3, amplifier=1.0)
    columns, share = np.ascontiguousarray(X.T), np.full(len(y), 1.0 / len(y))
    shape = kernel.left_chain(len(columns))
    blocks = annealing.pose(columns, y.astype(float), share, shape, settings, annealing.INSIDE)

    def run(epochs: int) -> object:
        search = Sinkhorn(iterations=iterations, max_epochs=epochs, freeze_loss_threshold=0.0)
        attempt = Trainer(search, blocks, blocks, np.random.default_rng(0))
        attempt.schedule = attempt.schedule._replace(patience=10**9)
        phase = annealing.Phase(attempt.order, soft=True, rate=0.1, first=0)
        attempt.train(blocks, phase, epochs, lambda: False)
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
    """Return the CPU time of one epoch: two lengths, the difference divided, so that what happens once drops out."""
    run(few)
    short = min(cpu_seconds(lambda: run(few)) for _ in range(repeats))
    return (min(cpu_seconds(lambda: run(many)) for _ in range(repeats)) - short) / (many - few)


def against_bacon_net(options: argparse.Namespace) -> list[dict[str, Any]]:
    """Return the CPU seconds of one epoch by the number of Sinkhorn iterations."""
    X, y = truths(options.data)
    contenders = {"baconlogic": (our_epochs, 200, 1200), "bacon-net": (bacon_net_epochs, 10, 60)}
    if options.skip_peers:
        del contenders["bacon-net"]
    found = []
    for iterations in options.iterations[:1] if options.quick else options.iterations:
        print(f"\none epoch of the paper's search, WDBC, {iterations} Sinkhorn iterations, one core")
        seconds: dict[str, float] = {}
        for who, (prepare, few, many) in contenders.items():
            shorter, repeats = (10, 1) if options.quick else (1, 3)
            try:
                seconds[who] = epoch_seconds(prepare(X, y, iterations), few // shorter, many // shorter, repeats)
            except (ImportError, NotImplementedError) as why:
                print(f"  {who:10} is skipped: {why}")
                continue
            ratio = f"   {seconds[who] / seconds['baconlogic']:6.1f} x" if "baconlogic" in seconds else ""
            goal = f"   (goal: {goals.EPOCH})" if ratio and who == "bacon-net" else ""
            print(f"  {who:10} {1e3 * seconds[who]:8.3f} ms{ratio}{goal}", flush=True)
        found.append({"iterations": iterations, "seconds": seconds})
    return found


def main(argv: list[str] | None = None) -> None:
    parser = record.parser(__doc__)
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=list(PARTS))
    parser.add_argument("--iterations", type=int, nargs="+", default=[10, 100], help="Sinkhorn iterations an epoch")
    parser.add_argument("--limit", type=float, default=120.0, help="CPU seconds after which a fit is stopped")
    parser.add_argument("--skip-peers", action="store_true", help="neither EBM nor bacon-net")
    options = record.parse(parser, argv)
    record.greet()
    peers.warm()
    figures: dict[str, Any] = {}
    for part, run in zip(PARTS, (against_ebm, against_bacon_net), strict=True):
        if part in options.parts:
            figures[part] = run(options)
    record.keep("fit", options, {"limit": options.limit}, figures)


if __name__ == "__main__":
    main()
