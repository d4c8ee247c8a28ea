"""What tests of the SQL exports share: the table as rows, and answers of a database in the form of `Expected`."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from export_cases import ROWS, Expected

from baconlogic import Decision, Gate, Leaf, Tree, datasets, load
from baconlogic.core.criteria import Given, Ramp, Sigmoid, Table
from baconlogic.core.decision import Feature, Link

TYPES = {"n": "double precision", "g": "double precision", "c": "text", "w": "bigint"}


def declared(columns):
    """Return the columns of a table with their types, by the letter that their names begin with."""
    return ", ".join(f"{name} {TYPES[name[0]]}" for name in columns)


def quoted(name):
    """Return a name as SQL writes it."""
    return '"' + name.replace('"', '""') + '"'


def found(model, names, columns):
    """Return what a database said, given the names and values of all columns of its answer."""
    said = dict(zip(names, columns, strict=True))
    classes = getattr(model, "classes", (False, True))
    truths = [said[name] for name in names if name.removeprefix("model_").startswith("truth")]
    chances = [said[name] for name in names if name.startswith("probability")]
    decision = said["decision"]
    places = {label: place for place, label in enumerate(classes)}
    choice = np.array([-1 if label is None else places[label] for label in decision])
    return Expected(None, _matrix(truths, len(decision)), _matrix(chances, len(decision)), choice, classes)


def _matrix(columns, rows):
    return np.array(columns, dtype=float).T if columns else np.zeros((rows, 0))


def chain(leaves):
    """Return a tree in which each gate has a leaf and the gate before."""
    node = _leaf(0)
    for i in range(1, leaves):
        node = Gate([node, _leaf(i)], (0.7, 0.3, 0.95, 0.1)[i % 4], [0.7, 0.3])
    return Tree(node)


def balanced(leaves):
    """Return a tree of gates of two, all leaves equally deep; `leaves` is a power of 2."""
    nodes = [_leaf(i) for i in range(leaves)]
    while len(nodes) > 1:
        nodes = [
            Gate(list(pair), (0.7, 0.3, 0.95, 0.1)[i % 4], [0.6, 0.4])
            for i, pair in enumerate(zip(nodes[::2], nodes[1::2], strict=True))
        ]
    return Tree(nodes[0])


def wide(leaves):
    """Return a gate with many inputs."""
    return Tree(Gate([_leaf(i) for i in range(leaves)], 0.8, [1 / leaves] * leaves))


def _leaf(i):
    if i % 3 == 0:
        return Leaf(f"n{i % 6}", Sigmoid(float(i % 7), 0.5, 0.4))
    return Leaf(f"g{i % 3}", Given(0.5))


def endless():
    """Return a tree over numbers, and the largest numbers there are, infinite ones included."""
    leaves = [Leaf("n0", Sigmoid(-1e6, 2.0)), Leaf("n1", Ramp([(-5, 0), (1e6, 1)])), Leaf("n2", Sigmoid(3.0, -1e-6))]
    ends = [np.inf, -np.inf, 1.7976931348623157e308, -1.7976931348623157e308, 0.0, 5.0]
    columns = {f"n{i}": np.roll(ends * 6, i * 7) for i in range(3)}
    return Tree(Gate(leaves, 0.4, [0.3, 0.3, 0.4])), columns


def patients():
    """Return the decision of the documentation and 10,000 patients: some real, others random, far out or incomplete."""
    data = datasets.breast_cancer()
    rng = np.random.default_rng(1)
    X = data.X[rng.integers(0, len(data.X), ROWS)] * rng.lognormal(0.0, 0.3, (ROWS, data.X.shape[1]))
    X[: len(data.X)] = data.X
    return load(Path(__file__).parent.parent / "docs" / "malignant.json"), _spoiled(rng, data.feature_names, X)


def houses():
    """Return a rule about houses, written by hand, and 10,000 houses."""
    data = datasets.houses("A", rows=ROWS)
    price = Leaf("price", Ramp([(250_000, 1), (400_000, 0)], 0.2, unit="$"))
    room = Gate(
        [Leaf("bed", Ramp([(1, 0), (3, 1)], 0.0)), Leaf("house_size", Sigmoid(1800.0, 0.002, 0.5))], 0.3, [0.4, 0.6]
    )
    cheap = {int(code): float(code % 7) / 7 for code in np.unique(data.X[:, -1])[:50]}
    place = Leaf(data.feature_names[-1], Table(cheap, 0.4, 0.1))
    rule = Tree(Gate([price, room, place], 0.9, [0.5, 0.3, 0.2]))
    features = [Feature(name, "number") for name in data.feature_names]
    decision = Decision((rule,), (Link(20.0, 0.6),), ("pass", "buy"), features)
    return decision, _spoiled(np.random.default_rng(2), data.feature_names, data.X, share=0.02)


def _spoiled(rng, names, X, share=0.003):
    for values in (0.0, 1.0, -1.0, 1e300, -1e300, 1e-300, np.nan):
        X = np.where(rng.random(X.shape) < share, values, X)
    return dict(zip(names, X.T, strict=True))


NAMES = [
    'a "quoted" name',
    "it's; DROP TABLE data; --",
    "two\nlines */ /* -- x",
    "select",
    "x0",
    "K0",
    "refused",
    "choice",
    "row_in",
    "naïve 🙂 \\",
    "%s :name $1 ? {}",
    " 1st",
    "z" * 300,
]


def strange():
    """Return a decision whose names and labels try to break a query, and some rows of it."""
    rng = np.random.default_rng(3)
    texts = ["it's", "'); DROP TABLE data; --", "a\\", "new\nline", '"', " red", "red", "🙂", "", "$$", "\\n", "%"]
    leaves = [Leaf(name, Sigmoid(0.5, 6.0, 0.5, unit="*/ \n--")) for name in NAMES]
    leaves.append(Leaf("text\t'", Table({text: (i + 1) / 20 for i, text in enumerate(texts)}, 0.9, 0.0)))
    tree = Tree(Gate(leaves, 0.7, [1 / len(leaves)] * len(leaves), name="it's\n*/"))
    labels = ("no\n'; --", "no; ", "🙂", "", "NO")
    trees = tuple(tree.replace((k,), Leaf("truth", Ramp([(0, 0), (1, 1)], 0.5))) for k in range(len(labels)))
    links = tuple(Link(10.0 + k, 0.4 + k / 20) for k in range(len(labels)))
    features = [Feature(name, "number") for name in [*NAMES, "truth"]] + [Feature("text\t'", "category")]
    columns = {name: np.where(rng.random(500) < 0.1, np.nan, rng.random(500)) for name in [*NAMES, "truth"]}
    some = [*texts, None, "RED", "red ", "never seen"]
    columns["text\t'"] = [some[i] for i in rng.integers(0, len(some), 500)]
    return Decision(trees, links, labels, features), columns
