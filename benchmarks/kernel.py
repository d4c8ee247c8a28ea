"""Speed of one loss and gradient, and of evaluation: this library, numpy by hand and torch eager, in one run.

To run it:

    python benchmarks/kernel.py            torch is measured when it is installed
    python benchmarks/kernel.py --quick    fewer repeats: does it run, and do all agree?
"""

from __future__ import annotations

import importlib.util
import os
import time
from collections.abc import Callable
from functools import partial
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")  # every contender gets one core

import goals
import numpy as np
import record
from goals import Goal
from timing import best_seconds

from baconlogic import Tree
from baconlogic.core import gcd
from baconlogic.kernel import loss as kernel

Floats = np.ndarray


def sigmoid(u: Floats) -> Floats:
    return 1.0 / (1.0 + np.exp(-u))


def numpy_loss_gradient(p: Floats, left: Floats, right: Floats, X: Floats, y: Floats) -> tuple[float, Floats]:
    """Return the same loss, written as a careful numpy user would: whole rows at a time, logs kept for the way back."""
    m, n = len(X), len(X) - 1
    slope, centre, weight, andness = p[:m], p[m : 2 * m], p[3 * m : 3 * m + 2 * n : 2], p[3 * m + 2 * n : -2]
    steepness, threshold = p[-2:]
    z: list[Floats] = list(sigmoid(slope[:, None] * (X - centre[:, None])))
    kept = []
    for j in range(n):
        dual = andness[j] < 0.5
        a = 1.0 - andness[j] if dual else andness[j]
        x, v = (1.0 - z[left[j]], 1.0 - z[right[j]]) if dual else (z[left[j]], z[right[j]])
        w, q = weight[j], min(4.0 * a - 2.0, 1.0)
        c = np.sqrt(3.0 / (2.0 - a)) - 1.0
        lx, lv = np.log(x), np.log(v)
        g = np.exp(2.0 * c * (w * lx + (1.0 - w) * lv))
        out = q * g if q == 1.0 else (1.0 - q) * (w * x + (1.0 - w) * v) + q * g
        z.append(1.0 - out if dual else out)
        kept.append((dual, a, w, q, c, x, v, lx, lv, g))
    u = steepness * (z[-1] - threshold)
    loss = float(np.mean(np.logaddexp(0.0, u) - y * u))
    step = (sigmoid(u) - y) / len(y)
    gradient = np.zeros_like(p)
    gradient[-2], gradient[-1] = step @ (z[-1] - threshold), -steepness * step.sum()
    d: list[Floats | None] = [None] * (m + n)
    d[-1] = step * steepness
    for j in range(n - 1, -1, -1):
        dual, a, w, q, c, x, v, lx, lv, g = kept[j]
        e = d[m + j]
        both = w * lx + (1.0 - w) * lv
        slope_of_c = 0.5 * (c + 1.0) / (2.0 - a)
        to_weight, to_andness = 2.0 * c * q * g * (lx - lv), 2.0 * slope_of_c * q * g * both
        to_x, to_v = 2.0 * c * w * q * g / x, 2.0 * c * (1.0 - w) * q * g / v
        if q < 1.0:
            to_weight += (1.0 - q) * (x - v)
            to_andness += 4.0 * (g - w * x - (1.0 - w) * v)
            to_x, to_v = to_x + (1.0 - q) * w, to_v + (1.0 - q) * (1.0 - w)
        gradient[3 * m + 2 * j] = -(e @ to_weight) if dual else e @ to_weight
        gradient[3 * m + 2 * n + j] = e @ to_andness
        d[left[j]], d[right[j]] = e * to_x, e * to_v
    back = np.array(d[:m]) * np.array(z[:m]) * (1.0 - np.array(z[:m]))
    gradient[:m] = (back * (X - centre[:, None])).sum(axis=1)
    gradient[m : 2 * m] = -slope * back.sum(axis=1)
    return loss, gradient


def torch_loss_gradient(
    p: Floats, left: Floats, right: Floats, X: Floats, y: Floats
) -> Callable[[], tuple[float, Floats]]:
    """Return the same in torch eager with autograd, everything that can be prepared once already prepared."""
    import torch

    torch.set_num_threads(1)
    m, n = len(X), len(X) - 1
    raw, target = torch.tensor(X), torch.tensor(y)

    def run() -> tuple[float, Floats]:
        parameters = torch.tensor(p, requires_grad=True)
        slope, centre, _, both, andness, link = torch.split(parameters, [m, m, m, 2 * n, n, 2])
        weight = both[::2]
        z = list(torch.sigmoid(slope[:, None] * (raw - centre[:, None])))
        for j in range(n):
            dual = bool(p[3 * m + 2 * n + j] < 0.5)
            a = 1.0 - andness[j] if dual else andness[j]
            x, v = (1.0 - z[left[j]], 1.0 - z[right[j]]) if dual else (z[left[j]], z[right[j]])
            w, c = weight[j], torch.sqrt(3.0 / (2.0 - a)) - 1.0
            g = x ** (2.0 * w * c) * v ** (2.0 * (1.0 - w) * c)
            if float(a.detach()) < 0.75:
                g = (3.0 - 4.0 * a) * (w * x + (1.0 - w) * v) + (4.0 * a - 2.0) * g
            z.append(1.0 - g if dual else g)
        u = link[0] * (z[-1] - link[1])
        loss = torch.nn.functional.binary_cross_entropy_with_logits(u, target)
        loss.backward()
        return float(loss.detach()), parameters.grad.numpy()

    return run


def case(shape: kernel.Topology, rows: int) -> tuple[Floats, Floats, Floats, Floats, Floats]:
    rng = np.random.default_rng(0)
    m, (left, right) = shape.leaves, shape.inputs.reshape(-1, 2).T
    X = rng.normal(size=(m, rows))
    y = (rng.random(rows) < 0.4).astype(float)
    # trained trees are mixed: mostly hard gates of both kinds, some soft ones
    andness = rng.choice([1.6, 1.2, 0.9, 0.65, 0.4, 0.1, -0.3, -0.7], m - 1)
    leaves = rng.normal(1.0, 0.5, m), rng.normal(0, 0.5, m), np.zeros(m)
    weight = rng.uniform(0.3, 0.7, m - 1)
    parameters = np.r_[*leaves, np.stack([weight, 1.0 - weight], axis=1).ravel(), andness, 6.0, 0.5]
    return parameters, left, right, X, y


def compare(name: str, shape: kernel.Topology, rows: int, budget: float, wanted: dict[str, Goal]) -> dict[str, Any]:
    """Return the CPU seconds of one loss and gradient by each contender, after checking that they agree."""
    p, left, right, X, y = case(shape, rows)
    leaves, share = len(X), np.full(rows, 1.0 / rows)
    no_tables = np.zeros(leaves + 1, dtype=np.int64)
    batch = kernel.Batch(np.arange(leaves), np.ones(leaves, dtype=bool), no_tables, X, y, share)
    settings = kernel.Settings(calibrated=True, knee=gcd.gcd.knee, penalty=0.0, amplifier=1.0)
    work = kernel.workspace(shape, min(kernel.BLOCK, rows))

    def objective(p: Floats) -> tuple[float, Floats]:
        gradient = np.empty_like(p)
        loss = kernel.loss_gradient(p, shape, batch, settings, work, gradient)
        weight = kernel.parts(gradient, shape).weight  # the others have one weight a gate, the second is the rest
        weight[::2] -= weight[1::2]
        weight[1::2] = 0.0
        return loss, gradient

    contenders: dict[str, Callable[[], tuple[float, Floats]]] = {
        "baconlogic": lambda: objective(p),
        "numpy by hand": lambda: numpy_loss_gradient(p, left, right, X, y),
    }
    if importlib.util.find_spec("torch"):
        contenders["torch eager"] = torch_loss_gradient(p, left, right, X, y)
    loss, gradient = objective(p)
    print(f"\n{name}: one loss and gradient")
    seconds = {}
    for who, run in contenders.items():
        their_loss, theirs = run()
        assert abs(their_loss - loss) < 1e-9 * abs(loss), who  # noqa: S101
        assert np.abs(theirs - gradient).max() < 1e-8 * np.abs(gradient).max(), who  # noqa: S101
        seconds[who] = best_seconds(run, budget)
        ratio = seconds[who] / seconds["baconlogic"]
        goal = f"   ({wanted[who].verdict(ratio)})" if who in wanted else ""
        print(f"  {who:15} {1e3 * seconds[who]:10.3f} ms   {ratio:6.1f} x{goal}")
    return {"case": name, "seconds": seconds}


def evaluation(rows: int, budget: float) -> list[dict[str, Any]]:
    """Return, for two trees, nanoseconds a row and leaf on one core, and the share of it that two cores take."""
    rng = np.random.default_rng(1)
    sigmoids = "[half at 0.2, slope 1.5]"
    chain = "f0" + sigmoids
    for i, andness in enumerate((1.4, -0.3, 0.65, 0.9, 0.1, 1.1), start=1):
        chain = f"{andness}({chain}: 0.6, f{i}{sigmoids}: 0.4)"
    ramp = "[0 at -1, 1 at 1]"
    grouped = f"HHC(f0{ramp}: 0.5, HHD({', '.join(f'f{i}{ramp}' for i in range(1, 7))}): 0.5)"
    found = []
    for name, text in (("chain of sigmoids", chain), ("two n-ary gates of ramps", grouped)):
        tree = Tree.parse(text)
        X = {f"f{i}": rng.normal(size=rows) for i in range(7)}
        alone, both = partial(tree.evaluate, X, n_jobs=1), partial(tree.evaluate, X, n_jobs=2)
        each = 1e9 * best_seconds(alone, budget) / rows / 7
        one, two = np.inf, np.inf
        for _ in range(3):  # in turns, so that a busy moment of the machine meets both
            one = min(one, best_seconds(alone, budget, time.perf_counter))
            two = min(two, best_seconds(both, budget, time.perf_counter))
        print(
            f"  {name:25} {each:5.1f} ns a row and leaf on one core ({goals.EVALUATION.verdict(each)});"
            f" two cores: {two / one:.2f} of the time"
        )
        found.append({"tree": name, "nanoseconds": each, "two_cores": two / one})
    return found


def main(argv: list[str] | None = None) -> None:
    options = record.parse(record.parser(__doc__), argv)
    quick = options.quick
    budget = 0.05 if quick else 2.0
    record.greet()
    chain = compare(
        "left chain, 30 leaves, 569 rows",
        kernel.left_chain(30),
        569,
        budget,
        {"numpy by hand": goals.NUMPY, "torch eager": goals.TORCH},
    )
    rows = 10_000 if quick else 100_000
    balanced = compare(f"balanced, 32 leaves, {rows:,} rows", kernel.balanced(32), rows, budget, {})
    rows = 200_000 if quick else 1_000_000
    print(f"\nevaluating {rows:,} rows of a 7-leaf tree")
    figures = {"gradient": [chain, balanced], "evaluation": evaluation(rows, budget)}
    record.keep("kernel", options, {"seconds a contender": budget, "rows evaluated": rows}, figures)


if __name__ == "__main__":
    main()
