"""Random gates, criteria and trees for laws."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

from baconlogic import Gate, Leaf, Not, Tree
from baconlogic.core.criteria import Given, Interval, Ramp, Sigmoid, Table
from baconlogic.core.gcd import AGGREGATORS, drastic
from baconlogic.core.levels import LEVELS

truths = st.floats(0, 1)


def andness(n):
    """Over the whole scale of n inputs: numbers, joints and ends, codes."""
    marks = [-1.0, 0.0, 0.25, 0.5, 0.75, 1.0, 2.0, drastic(n), 1 - drastic(n)]
    return st.floats(1 - drastic(n), drastic(n)).map(lambda a: round(a, 6)) | st.sampled_from(marks + list(LEVELS))


def shares(given):
    total = sum(given)
    return [weight / total for weight in given]


numbers = st.floats(-1e6, 1e6, allow_nan=False).map(lambda x: round(x, 3))
missing = st.none() | truths
units = st.sampled_from(["", "mm", 'a "quoted" unit', "µg/l\n", "%"])
names = st.one_of(
    st.sampled_from(
        ["a", "b", "radius", "A", "HHC", "not", "missing", "exact", "true", "half", "x y", 'q"uote', "0x", "é_ü"]
    ),
    st.text(st.characters(codec="utf-8"), min_size=1, max_size=8).filter(lambda text: text.strip()),
)
weights = st.integers(1, 1000).map(lambda k: k / 1000)


@st.composite
def ramps(draw):
    values = sorted(draw(st.lists(numbers, min_size=2, max_size=5, unique=True)))
    shape = draw(st.lists(truths, min_size=len(values), max_size=len(values)).filter(lambda t: len(set(t)) > 1))
    return Ramp(zip(values, shape, strict=True), draw(missing), draw(units))


@st.composite
def monotone_ramps(draw):
    ramp = draw(ramps())
    shape = sorted((t for _, t in ramp.points), reverse=draw(st.booleans()))
    return Ramp([(x, t) for (x, _), t in zip(ramp.points, shape, strict=True)], ramp.missing)


@st.composite
def intervals(draw, most=2):
    marks = sorted(draw(st.lists(numbers, min_size=1, max_size=most, unique=True)))
    ends = marks if len(marks) == 2 else draw(st.permutations([marks[0], None]))
    return Interval(*ends, draw(missing), draw(units))


sigmoids = st.builds(
    Sigmoid, numbers, st.floats(0.001, 100).flatmap(lambda s: st.sampled_from([s, -s])), missing, units
)
tables = st.builds(
    Table,
    st.dictionaries(
        st.text(st.characters(codec="utf-8"), max_size=5) | st.integers(-5, 5) | st.integers(-(2**70), 2**70),
        truths,
        min_size=1,
        max_size=4,
    ),
    missing,
    missing,
)
givens = st.builds(Given, missing)
criteria = st.one_of(givens, ramps(), sigmoids, intervals(), tables)


def leaves(features=names, kinds=criteria):
    return st.builds(Leaf, features, kinds, st.just("") | names)


def nodes(leaf):
    def gates(children):
        return st.integers(2, 5).flatmap(
            lambda n: st.builds(
                Gate,
                st.lists(children, min_size=n, max_size=n),
                andness(n),
                st.none() | st.lists(weights, min_size=n, max_size=n).map(shares),
                st.sampled_from(list(AGGREGATORS)),
                st.just("") | names,
            )
        )

    return st.recursive(leaf, lambda below: gates(below) | st.builds(Not, below, st.just("") | names), max_leaves=10)


trees = nodes(leaves()).map(Tree)


def unique_features(tree):
    """The same tree with every leaf on a feature of its own, so that nothing can pull both ways."""
    for k, (path, leaf) in enumerate([place for place in tree.walk() if isinstance(place[1], Leaf)]):
        tree = tree.replace(path, Leaf(f"f{k}", leaf.criterion))
    return tree


def unseen(table):
    return "never seen" if any(isinstance(category, str) for category, _ in table.truths) else 12345


def completions(tree, rng, count):
    """Random raw values for every feature: in and out of the range where criteria bend, categories known or not."""
    X = {}
    for _, leaf in tree.walk():
        if isinstance(leaf, Leaf) and leaf.feature not in X:
            criterion = leaf.criterion
            if isinstance(criterion, Table):
                known = [category for category, _ in criterion.truths] + (
                    [unseen(criterion)] if criterion.other is not None else []
                )
                X[leaf.feature] = [known[i] for i in rng.integers(0, len(known), count)]
            elif isinstance(criterion, Given):
                X[leaf.feature] = rng.choice([0, 1, 0.5, *rng.random(5)], count)
            else:
                marks = [criterion.centre] if isinstance(criterion, Sigmoid) else list(criterion.bends)
                spread = rng.normal(size=count) * rng.choice([1e-2, 1, 1e4], count)
                X[leaf.feature] = np.clip(rng.choice(marks, count) + spread, -1e9, 1e9)
    return X
