"""Models of every kind over one table with every edge, and what the library says of them: exports must agree."""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import numpy as np
import pytest

from baconlogic import Decision, Gate, Leaf, Not, Tree
from baconlogic.core.criteria import Given, Interval, Ramp, Sigmoid, Table
from baconlogic.core.decision import Feature, Link
from baconlogic.core.gcd import drastic
from baconlogic.core.levels import LEVELS

ROWS = 10_000
MODELS, OFTEN = 200, 24  # random models, and those of `make test`; `make slow` has the others


def seeds(together=1):
    """Return the first seed of each group of so many, as parameters of a test."""
    firsts = range(0, MODELS, together)
    return [pytest.param(first, marks=[pytest.mark.slow] * (first >= OFTEN)) for first in firsts]


NUMBERS = [f"n{i}" for i in range(6)]
TRUTHS = [f"g{i}" for i in range(4)]
TEXTS = ["c0", "c1"]
WHOLES = ["w0", "w1"]
COLUMNS = [*NUMBERS, *TRUTHS, *TEXTS, *WHOLES]
KINDS = {**dict.fromkeys(NUMBERS, "number"), **dict.fromkeys(TRUTHS, "truth")}
KNOWN = {"c": ["red", "blue", "it's", 'a "b"', ""], "w": [0, 1, 2, -3]}
UNSEEN = {"c": ["green", "RED", "red ", "naïve 🙂", "0"], "w": [7, -1, 2**40]}
MARKS = np.arange(-10, 21)


@cache
def table():
    """Return 10,000 rows by column: random values, marks and their neighbours, extremes, missing and unseen ones."""
    rng = np.random.default_rng(0)
    near = np.concatenate([MARKS, np.nextafter(MARKS, np.inf), np.nextafter(MARKS, -np.inf), MARKS + 0.5])
    far = [0.0, -0.0, 1.0, 1e-300, -1e-300, 1e6, -1e6, 1e150, -1e150, 1e307, -1e307, 5e-324]
    columns = {}
    for name in NUMBERS:
        columns[name] = _mixed(rng, rng.uniform(-15, 25, ROWS), (near, 0.2), (far, 0.1), ([np.nan], 0.05))
    for name in TRUTHS:
        edges = [0.0, 1.0, 0.5, 5e-324, 1e-300, 1e-17, 1 - 2**-53, 1 - 1e-9, 0.25, 0.75]
        wrong = [-5e-324, 1.0000000000000002, 1.5, -1.0] if name == "g3" else [0.0]
        columns[name] = _mixed(rng, rng.random(ROWS), (edges, 0.4), (wrong, 0.02), ([np.nan], 0.05))
    for name in [*TEXTS, *WHOLES]:
        values = [*KNOWN[name[0]] * 4, *UNSEEN[name[0]], None]
        columns[name] = [values[i] for i in rng.integers(0, len(values), ROWS)]
    return columns


def _mixed(rng, values, *sorts):
    values = np.array(values)
    for choices, share in sorts:
        some = rng.random(len(values)) < share
        values[some] = rng.choice(choices, some.sum())
    return values


def _criterion(rng, name):
    missing = None if rng.random() < 0.3 else float(rng.choice([0.0, 1.0, rng.random()]))
    kind = name[0]
    if kind == "g":
        return Given(missing)
    if kind in KNOWN:
        truths = {category: float(rng.choice([0.0, 1.0, rng.random()])) for category in KNOWN[kind]}
        return Table(truths, None if rng.random() < 0.3 else float(rng.random()), missing)
    kind = rng.choice(["sigmoid", "ramp", "interval"], p=[0.4, 0.4, 0.2])
    if kind == "interval":
        low, high = np.sort(rng.choice(MARKS, 2, replace=False)).astype(float).tolist()
        return Interval(*[(low, None), (None, high), (low, high)][rng.integers(3)], missing, unit="mm")
    if kind == "sigmoid":
        centre = float(rng.choice(MARKS)) if rng.random() < 0.5 else float(rng.uniform(-10, 20))
        return Sigmoid(centre, float(rng.choice([-1, 1]) * 10 ** rng.uniform(-1, 2)), missing, unit="mm")
    marks = np.sort(rng.choice(MARKS, rng.integers(2, 5), replace=False)).astype(float)
    truths = rng.choice([0.0, 1.0, rng.random()], len(marks))
    truths[0], truths[-1] = (0.0, 1.0) if rng.random() < 0.5 else (1.0, float(rng.random() * 0.9))
    return Ramp(list(zip(marks, truths, strict=True)), missing)


def random_tree(rng, most=10, columns=COLUMNS):
    """Return a tree with criteria, gates, levels and negations of every kind; a column at times used twice."""
    nodes = []
    for _ in range(rng.integers(1, most + 1)):
        name = str(rng.choice(columns))
        nodes.append(Leaf(name, _criterion(rng, name)))
    while len(nodes) > 1:
        size = min(int(rng.integers(2, 5)), len(nodes))
        inputs = [nodes.pop(rng.integers(len(nodes))) for _ in range(size)]
        inputs = [Not(each) if rng.random() < 0.2 else each for each in inputs]
        low, high = 1 - drastic(size), drastic(size)
        marks = [low, high, 0.5, 0.75, 0.25, *LEVELS]
        andness = marks[rng.integers(len(marks))] if rng.random() < 0.4 else float(rng.uniform(-0.2, 1.2))
        rule = "exact" if rng.random() < 0.3 else "gcd"
        shares = rng.dirichlet(np.full(size, 1.0)) * 0.998 + 0.002 / size
        nodes.append(Gate(inputs, andness, shares.tolist(), rule, "part" if rng.random() < 0.2 else ""))
    return Tree(nodes[0])


def random_model(seed):
    """Return a tree alone, or a decision between one, two (mostly) or three classes."""
    rng = np.random.default_rng([7, seed])
    kind = seed % 8
    classes = [("no", "yes"), ("benign", "malignant"), (0, 1), (False, True), ("a", "b", "c"), (1, 2, 3.5)]
    if kind < 2:
        return random_tree(rng)
    labels = ("only",) if seed == 7 else classes[kind - 2]
    trees = tuple(random_tree(rng) for _ in range({1: 0, 2: 1}.get(len(labels), len(labels))))
    links = tuple(Link(float(10 ** rng.uniform(0, 2.5)), float(rng.uniform(0.1, 0.9))) for _ in trees)
    features = tuple(Feature(name, KINDS.get(name, "category")) for name in COLUMNS)
    turns_at = float(rng.uniform(0.1, 0.9)) if len(labels) == 2 and rng.random() < 0.4 else None
    return Decision(trees, links, labels, features, turns_at=turns_at)


class Expected(NamedTuple):
    """What the library says of each row; `refused` rows have no answer, and their other values mean nothing."""

    refused: np.ndarray  # (rows,)
    truths: np.ndarray  # (rows, trees)
    probabilities: np.ndarray | None  # (rows, classes)
    choice: np.ndarray  # (rows,) place in classes
    classes: tuple


def expected(model, columns=None):
    """Return what `evaluate`, `predict_proba` and `predict` say, and which rows they refuse."""
    columns = table() if columns is None else columns
    rows = len(next(iter(columns.values())))
    trees = (model,) if isinstance(model, Tree) else model.trees
    leaves = [node for tree in trees for _, node in tree.walk() if isinstance(node, Leaf)]
    refused = np.zeros(rows, dtype=bool)
    for leaf in leaves:
        refused |= _refused(leaf.criterion, columns[leaf.feature])
    used = {leaf.feature for leaf in leaves} or set(columns)
    kept = {name: _objects(values)[~refused] for name, values in columns.items() if name in used}
    some = not refused.all()
    truths = np.full((rows, len(trees)), np.nan)
    choice, chances = np.full(rows, -1), None
    if some:
        truths[~refused] = np.column_stack([tree.evaluate(kept) for tree in trees]) if trees else 0.0
    if isinstance(model, Tree):
        choice[~refused] = truths[~refused, 0] > 0.5
        return Expected(refused, truths, None, choice, (False, True))
    chances = np.full((rows, len(model.classes)), np.nan)
    if some:
        chances[~refused] = model.predict_proba(kept)
        choice[~refused] = model.choose(kept)
    return Expected(refused, truths, chances, choice, model.classes)


def _objects(values):
    if isinstance(values, np.ndarray):
        return values
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array


def _refused(criterion, values):
    missing = np.isnan(values) if isinstance(values, np.ndarray) and values.dtype == float else None
    missing = np.array([v is None or v != v for v in values]) if missing is None else missing
    refused = missing & (criterion.missing is None)
    if isinstance(criterion, Given):
        numbers = np.array(values, dtype=float)
        refused |= (numbers < 0) | (numbers > 1)
    if isinstance(criterion, Table) and criterion.other is None:
        known = dict(criterion.truths)
        refused |= np.array([v is not None and v not in known for v in values])
    return refused


def agree(found, said, within=1e-12):
    """Assert that truths, probabilities and choices found (as Expected, refused rows NaN or -1) are those expected."""
    assert np.array_equal(np.isnan(found.truths).any(axis=1) if found.truths.size else said.refused, said.refused)
    kept = ~said.refused
    assert np.abs(found.truths[kept] - said.truths[kept]).max(initial=0.0) <= within
    if said.probabilities is not None:
        steep = 100.0  # a probability moves by a quarter of the steepness of its link when the truth moves
        assert np.abs(found.probabilities[kept] - said.probabilities[kept]).max(initial=0.0) <= steep * within
    close = _on_the_edge(said, within)
    assert np.array_equal(found.choice[kept & ~close], said.choice[kept & ~close])


def _on_the_edge(said, within):
    """Return rows where the answer hangs on less than `within`: two probabilities that are equal, or nearly."""
    if said.probabilities is None or said.probabilities.shape[1] < 2:
        return np.abs(said.truths[:, 0] - 0.5) <= within if said.truths.size else np.zeros(len(said.refused), bool)
    top = np.sort(said.probabilities, axis=1)
    return top[:, -1] - top[:, -2] <= 1e3 * within
