"""Recovery of Boolean logic: random chains of and/or on full truth tables, columns in random order.

Recovered means right on every row of the clean table. Chains have no negation, because bacon-net's tree cannot say
one without a further layer. Every case is a process of its own, stopped after --limit CPU seconds; a model that
recovered none of one size is not tried on larger ones. With noise, one label in twenty is wrong and each row of the
table is repeated, so that there are about 10,000 rows. To run it:

    python benchmarks/recovery.py            all; bacon-net is measured when it is installed
    python benchmarks/recovery.py --add --models tree    this one again; the others stay as they were measured
    python benchmarks/recovery.py --quick    two small sizes, this library and the decision tree
"""

from __future__ import annotations

import contextlib
import importlib
import json
import os
from collections.abc import Callable, Iterator
from statistics import median
from typing import Any, NamedTuple

os.environ.setdefault("OMP_NUM_THREADS", "1")  # every contender gets one core

import numpy as np
import peers
import record
from timing import limited

from baconlogic import Leaf, datasets

NOISE, ROWS = 0.05, 10_000
Solver = Callable[[np.ndarray, np.ndarray, int], tuple[Callable[[np.ndarray], Any], int]]  # to predict, and its leaves


def ours(X: np.ndarray, y: np.ndarray, seed: int, **options: Any) -> tuple[Callable[[np.ndarray], Any], int]:
    from baconlogic import BaconClassifier

    model = BaconClassifier(random_state=seed, **options).fit(X, y)
    return model.predict, sum(isinstance(node, Leaf) for _, node in model.tree_.walk())


def sinkhorn(X: np.ndarray, y: np.ndarray, seed: int) -> tuple[Callable[[np.ndarray], Any], int]:
    from baconlogic.learn.search import Sinkhorn

    return ours(X, y, seed, search=Sinkhorn(acceptance_threshold=1.0, attempts=10**6))


def tree(X: np.ndarray, y: np.ndarray, seed: int) -> tuple[Callable[[np.ndarray], Any], int]:  # noqa: ARG001
    model = peers.tree(depth=None).fit(X, y)
    return model.predict, int(model.get_n_leaves())


def bacon_net(X: np.ndarray, y: np.ndarray, seed: int) -> tuple[Callable[[np.ndarray], Any], int]:
    """Learn as in the suite, attempt after attempt until the table is matched; the order is not given away.

    The settings of bacon-net's own hello-world, with the permutation layer on, do worse: 62% right at n = 3.
    """
    import torch
    from bacon.baconNet import baconNet

    torch.set_num_threads(1)
    torch.manual_seed(seed)
    n = X.shape[1]
    net = baconNet(n, weight_normalization="softmax", loss_amplifier=1000)
    device = net.assembler.device
    rows = torch.tensor(X, dtype=torch.float32, device=device)
    target = torch.tensor(y, dtype=torch.float32, device=device)[:, None]
    net.find_best_model(
        rows, target, rows, target,
        acceptance_threshold=1.0, attempts=10**6, max_epochs=600, annealing_epochs=500, frozen_training_epochs=200,
        sinkhorn_iters=20, save_model=False,
    )  # fmt: skip

    def predict(table: np.ndarray) -> Any:
        said = net.inference(torch.tensor(table, dtype=torch.float32, device=device), threshold=0.5)
        return said.cpu().numpy()[:, 0].astype(int)

    return predict, n


class Contender(NamedTuple):
    """A way to learn, how many expressions of each size it is given, and how many with noise."""

    solve: Solver
    cases: int
    noisy: int


CONTENDERS = {
    "baconlogic": Contender(ours, 10, 5),
    "baconlogic, Sinkhorn": Contender(sinkhorn, 5, 0),
    "bacon-net": Contender(bacon_net, 3, 0),
    "tree": Contender(tree, 10, 5),
}


def one_case(solve: Solver, n: int, seed: int, noise: float, limit: float) -> dict[str, Any]:
    """Return whether one expression was recovered, in how many CPU seconds and with how many leaves."""
    kept: list[Any] = []

    def prepare() -> tuple[Callable[[], Any], Callable[[], Any]]:
        chain = datasets.random_chain(n, seed)
        clean = datasets.boolean(chain, shuffle_columns=True, random_state=seed)
        repeats = -(-ROWS // 2**n) if noise else 1
        wrong = np.random.default_rng(seed).random(repeats * 2**n) < noise
        X, y = np.tile(clean.X, (repeats, 1)), np.tile(clean.y, repeats) ^ wrong

        def judge() -> tuple[bool, int]:
            predict, leaves = kept[0]
            return bool((predict(clean.X) == clean.y).all()), leaves

        return lambda: kept.append(solve(X, y, seed)), judge

    taken = limited(prepare, limit)
    right, leaves = taken.value or (False, None)
    return {"recovered": right, "leaves": leaves, "seconds": taken.seconds, "stopped": taken.stopped}


def warm(who: str) -> None:
    """Learn the smallest table once, so that what is compiled or loaded once a process is not counted."""
    table = datasets.boolean(datasets.random_chain(3, 0))
    if who == "bacon-net":  # importing is enough: torch must not have run before the process is forked
        with contextlib.suppress(ImportError):
            importlib.import_module("bacon.baconNet")
    else:
        CONTENDERS[who].solve(table.X, table.y, 0)


def sweep(who: str, sizes: list[int], cases: int, noise: float, limit: float) -> Iterator[dict[str, Any]]:
    """Give the results of one contender, size by size, until it recovers none."""
    for n in sizes:
        mine = [one_case(CONTENDERS[who].solve, n, seed, noise, limit) for seed in range(cases)]
        failed = [case["stopped"] for case in mine if case["stopped"] not in ("", "time")]
        if failed:
            print(f"  {who:22} is skipped: {failed[0]}")
            break
        times = [limit if case["seconds"] is None else case["seconds"] for case in mine]
        leaves = [case["leaves"] for case in mine if case["leaves"] is not None]
        row = {
            "model": who,
            "n": n,
            "noise": noise,
            "cases": cases,
            "recovered": sum(case["recovered"] for case in mine),
            "stopped": sum(case["stopped"] == "time" for case in mine),
            "median seconds": median(times),  # a stopped case counts as the limit
            "median leaves": median(leaves) if leaves else None,
        }
        print(
            f"  {who:22} n = {n:2}  {row['recovered']:2} of {cases:2}  median {row['median seconds']:8.3f} s"
            f"  leaves {row['median leaves'] if leaves else '-'}",
            flush=True,
        )
        yield row
        if not row["recovered"]:
            break


def earlier(options: Any) -> list[dict[str, Any]]:
    """Return what was measured before of other models, if that is wanted; it must have had the same limit."""
    path = record.place("recovery", options)
    if not options.add or path is None or not path.exists():
        return []
    old = json.loads(path.read_text(encoding="utf-8"))
    if old["settings"]["limit"] != options.limit:
        raise SystemExit(f"{path.name} has a limit of {old['settings']['limit']:g} s; measure all again")
    options.before = old["command"].splitlines()
    return [row for row in old["figures"]["cases"] if row["model"] not in options.models]


def main(argv: list[str] | None = None) -> None:
    parser = record.parser(__doc__)
    parser.add_argument("--limit", type=float, default=60.0, help="CPU seconds after which a case is stopped")
    parser.add_argument("--sizes", type=int, nargs="+", default=[3, 4, 5, 6, 8, 10, 12])
    parser.add_argument("--models", nargs="+", choices=list(CONTENDERS), default=list(CONTENDERS))
    parser.add_argument("--add", action="store_true", help="keep what was measured before of other models")
    options = record.parse(parser, argv)
    record.greet()
    if options.quick:
        options.sizes, options.models = [3, 4], [who for who in options.models if who != "bacon-net"]
    for who in options.models:
        warm(who)
    settings = {"limit": options.limit, "rows with noise": ROWS, "contenders": list(CONTENDERS)}
    rows = earlier(options)
    for noise in (0.0, NOISE):
        print(f"\nrandom chains on full tables, {noise:.0%} of the labels wrong")
        for who in options.models:
            cases = CONTENDERS[who].noisy if noise else CONTENDERS[who].cases
            if cases:
                for row in sweep(who, options.sizes, 1 if options.quick else cases, noise, options.limit):
                    rows.append(row)
                    record.keep("recovery", options, settings, {"cases": rows})


if __name__ == "__main__":
    main()
