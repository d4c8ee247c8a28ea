"""Speed of predicting: one row, and many at once, for this library and its peers on the breast cancer data.

To run it:

    python benchmarks/predict.py            peers that are not installed are skipped, and said so
    python benchmarks/predict.py --quick    fewer rows and repeats, this library and scikit-learn
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")  # every contender gets one core

import numpy as np
import peers
import record
from problems import SUITE
from timing import best_seconds

Predict = Callable[[np.ndarray], Any]


def contenders(X: np.ndarray, y: np.ndarray, quick: bool) -> dict[str, Callable[[], Predict]]:
    """Return what learns and gives back a function that answers rows; few rounds for EBM, which has no say in speed."""
    names = [f"x{i}" for i in range(X.shape[1])]

    def decision() -> Predict:
        loaded = peers.ours(**settings).fit(X, y).decision_
        return lambda rows: loaded.predict_proba(dict(zip(names, rows.T, strict=True)))

    settings = {"max_leaves": 3, "search": "additive"} if quick else {}
    made: dict[str, Callable[[], Predict]] = {
        "baconlogic, classifier": lambda: peers.ours(**settings).fit(X, y).predict_proba,
        "baconlogic, loaded decision": decision,
        "logistic": lambda: peers.logistic().fit(X, y).predict_proba,
        "tree": lambda: peers.tree().fit(X, y).predict_proba,
        "boosting": lambda: peers.boosting().fit(X, y).predict_proba,
    }
    if not quick:
        made["EBM"] = lambda: peers.ebm(max_rounds=50, outer_bags=2).fit(X, y).predict_proba
        made["bacon-net"] = lambda: bacon_net(X)
    return made


def bacon_net(X: np.ndarray) -> Predict:
    """Return an untrained chain of bacon-net in frozen order: what it costs does not depend on what it has learned."""
    import torch
    from bacon.baconNet import baconNet

    torch.set_num_threads(1)
    net = baconNet(X.shape[1], weight_normalization="softmax", is_frozen=True)

    def run(rows: np.ndarray) -> Any:
        return net.inference_raw(torch.tensor(rows / X.max(axis=0), dtype=torch.float32, device=net.assembler.device))

    return run


def main(argv: list[str] | None = None) -> None:
    options = record.parse(record.parser(__doc__), argv)
    record.greet()
    X, y = SUITE["WDBC"](options.data)
    budget, count = (0.02, 2_000) if options.quick else (1.0, 100_000)
    one, many = X[:1].copy(), X[np.arange(count) % len(X)]
    found = []
    print(f"\n{'':28} {'one row':>12} {f'{count:,} rows':>16}")
    for who, prepare in contenders(X, y, options.quick).items():
        try:
            predict = prepare()
            seconds = {"one": best_seconds(lambda p=predict: p(one), budget)}
            seconds["many"] = best_seconds(lambda p=predict: p(many), budget)
        except ImportError as why:
            print(f"{who:28} is skipped: {why}")
            continue
        found.append({"model": who, **seconds})
        print(f"{who:28} {1e6 * seconds['one']:9.1f} us {1e3 * seconds['many']:13.2f} ms", flush=True)
    record.keep("predict", options, {"rows": count, "data": "WDBC"}, {"models": found})


if __name__ == "__main__":
    main()
