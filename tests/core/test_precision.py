"""Truths are right to the last digits also where sigmoids are saturated and weights are small."""

import mpmath as mp
import numpy as np
import pytest
from random_cases import completions, random_case

from baconlogic import Gate, Leaf, Not, Tree
from baconlogic.core import evaluate as evaluation
from baconlogic.core.criteria import Ramp, Sigmoid
from baconlogic.core.nodes import flatten


def exactly(tree, row):
    """Return the truth of one row in 400 digits, from the coefficients of the gates."""
    with mp.workdps(400):
        found = []
        for node, below in flatten(tree.root):
            if isinstance(node, Leaf):
                found.append(leaf_exactly(node, row[node.feature]))
            elif isinstance(node, Not):
                found.append(1 - found[below[0]])
            else:
                found.append(gate_exactly(node, [found[i] for i in below]))
        return float(found[-1])


def leaf_exactly(leaf, value):
    criterion = leaf.criterion
    if isinstance(criterion, Sigmoid):
        score = mp.mpf(criterion.slope) * (mp.mpf(float(value)) - mp.mpf(criterion.centre))
        return 1 / (1 + mp.exp(-score))
    if isinstance(criterion, Ramp):
        (x0, t0), (x1, t1) = ((mp.mpf(x), mp.mpf(t)) for x, t in criterion.points)
        return t0 + (t1 - t0) * min(max((mp.mpf(float(value)) - x0) / (x1 - x0), 0), 1)
    return mp.mpf(float(criterion.truth(np.array([value], dtype=object if criterion.categorical else float))[0]))


def gate_exactly(gate, x):
    dual, _, product, power = gate.coefficients
    x = [1 - each for each in x] if dual else x
    shares = [mp.mpf(weight) for weight in gate.weights]
    weights = [share / mp.fsum(shares) for share in shares]  # as floats they sum to 1 only nearly
    total = mp.fsum(weight * each for weight, each in zip(weights, x, strict=True))
    grown = mp.fprod(each ** (len(x) * weight * mp.mpf(power)) for weight, each in zip(weights, x, strict=True))
    z = (1 - mp.mpf(product)) * total + mp.mpf(product) * grown
    return 1 - z if dual else z


@pytest.mark.parametrize("seed", range(30))
@pytest.mark.parametrize("compiled", [False, True])
def test_truths_are_exact_far_out_too(seed, compiled, monkeypatch):
    rng = np.random.default_rng([3, seed])
    tree, values, kind = random_case(rng, most=12)
    rows = completions(rng, values, kind, set(values), 25)
    for name in (name for name, own in kind.items() if own in ("sigmoid", "ramp")):
        rows[name] = rng.uniform(-100, 100, 25)  # where sigmoids are as near to 0 and 1 as 1e-130
    monkeypatch.setattr(evaluation, "COMPILED_ROWS", 1 if compiled else 10**9)
    found = tree.evaluate({name: list(column) for name, column in rows.items()})
    for i, truth in enumerate(found):
        row = {name: column[i] for name, column in rows.items()}
        assert truth == pytest.approx(exactly(tree, row), abs=1e-12), row


def test_an_or_of_nearly_impossible_things_is_not_impossible():
    """1 - (1 - 1e-20)**k is about k 1e-20: an "or" that works on 1 - x alone says 0, and the "and" above it too."""
    rare = Gate([Leaf("a", Sigmoid(46.0, 1.0)), Leaf("b", Sigmoid(46.0, 1.0))], "DP")
    tree = Tree(Gate([rare, Leaf("c")], "HC-", [0.02, 0.98]))
    row = {"a": [0.0], "b": [0.0], "c": [1.0]}
    assert tree.evaluate(row)[0] == pytest.approx(exactly(tree, {name: value[0] for name, value in row.items()}))
    assert tree.evaluate(row)[0] > 0.3


@pytest.mark.parametrize("seed", range(20))
def test_bounds_hold_far_out_too(seed):
    rng = np.random.default_rng([4, seed])
    tree, values, kind = random_case(rng, most=8, again=0.0)
    rows = completions(rng, values, kind, set(values), 50)
    table = {name: list(column) for name, column in rows.items()}
    low, high = tree.bounds(table)
    assert low == pytest.approx(tree.evaluate(table), abs=1e-12)
    assert high == pytest.approx(low, abs=1e-12)
