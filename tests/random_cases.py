"""Random trees with a random case each, small enough to try everything: for laws that brute force checks."""

from __future__ import annotations

import numpy as np

from baconlogic import Gate, Leaf, Not, Tree
from baconlogic.core.criteria import Given, Interval, Ramp, Sigmoid, Table

KINDS = ("given", "sigmoid", "ramp", "interval", "table")


def random_criterion(rng, kind):
    if kind == "given":
        return Given()
    if kind == "table":
        return Table({category: float(rng.random()) for category in "xyz"})
    if kind == "interval":
        marks = [*np.sort(rng.uniform(0, 10, 2)).round(2).tolist(), None]
        return Interval(*(marks[i] for i in [(0, 1), (0, 2), (2, 0)][rng.integers(3)]))
    if kind == "sigmoid" or rng.random() < 0.5:
        return Sigmoid(rng.uniform(2, 8), rng.choice([-1, 1]) * rng.uniform(0.5, 3))
    points = np.sort(rng.uniform(0, 10, 2))
    return Ramp.between(*(points if rng.random() < 0.5 else points[::-1]))


def random_value(rng, kind):
    if kind == "table":
        return str(rng.choice(list("xyz")))
    return float(rng.choice([0, 1, rng.random()]) if kind == "given" else rng.uniform(0, 10))


def random_case(rng, *, most=10, again=0.08, kinds=KINDS):
    """Return (tree, values, kind of each feature): up to `most` leaves, one feature at times used more than once."""
    kind, nodes, twice = {}, [], None
    for i in range(rng.integers(2, most + 1)):
        name = f"f{i}"
        used = [each for each, own in kind.items() if own != "table" and twice in (None, each)]
        if used and rng.random() < again:
            name = twice = str(rng.choice(used))
        kind.setdefault(name, str(rng.choice(kinds)))
        nodes.append(Leaf(name, random_criterion(rng, kind[name])))
    while len(nodes) > 1:
        size = min(int(rng.integers(2, 5)), len(nodes))
        inputs = [nodes.pop(rng.integers(len(nodes))) for _ in range(size)]
        inputs = [Not(each) if rng.random() < 0.2 else each for each in inputs]
        nodes.append(Gate(inputs, float(rng.uniform(-0.1, 1.1)), rng.dirichlet(np.full(size, 2.0)).tolist()))
    values = {name: random_value(rng, own) for name, own in kind.items()}
    return Tree(nodes[0]), values, kind


def completions(rng, values, kind, free, count):
    """Return a table of cases in which the free values are anything."""
    far = [-1e4, 1e4, *np.linspace(-2, 12, 15)]
    draw = {
        "given": lambda: rng.choice([0.0, 1.0, rng.random()], count),
        "table": lambda: rng.choice(list("xyz"), count),
        "sigmoid": lambda: rng.choice(far, count) + rng.normal(size=count),
        "ramp": lambda: rng.choice(far, count) + rng.normal(size=count),
        "interval": lambda: rng.choice(far, count) + rng.normal(size=count),
    }
    return {name: draw[kind[name]]() if name in free else [value] * count for name, value in values.items()}
