"""A card as a person gets it: its regression is one, its weights are round and in order, its tree says what it says."""

import itertools

import numpy as np
import pandas as pd
import pytest
from card_laws import card_problem, laws_of_a_card
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.optimize import minimize
from sklearn.linear_model import LogisticRegression

from baconlogic import Tree
from baconlogic.core.columns import Columns
from baconlogic.learn import encode
from baconlogic.learn.search import card as cards
from baconlogic.learn.search.card import ALL, ANY, COUNT, FINE, STEPS, SUM, Card, Clause, hand, hand_of_parts, regress
from baconlogic.learn.search.conditions import BAND, CUT, RAMP, TRUTHS, Condition


def table(rows=200, seed=0, holes=0.1):
    rng = np.random.default_rng(seed)
    X = pd.DataFrame({
        "height": rng.normal(170.0, 10.0, rows).round(1), "age": rng.integers(20, 80, rows).astype(float),
        "smoker": rng.integers(0, 2, rows).astype(float), "place": rng.choice(list("abc"), rows),
    }).astype({"place": object})  # fmt: skip
    for name in X:
        X.loc[rng.random(rows) < holes, name] = None
    y = rng.random(rows) < np.where(X["height"] > 170, 0.7, 0.3)
    return X, encode.read(Columns(X), np.ones(rows)), y.astype(float)


CONDITIONS = [
    Condition(0, CUT, (170.0,), missing=0.0), Condition(0, RAMP, (150.0, 190.0), missing=0.5),
    Condition(1, BAND, (30.0, 60.0), turned=True, missing=1.0), Condition(1, CUT, (45.0,), turned=True),
    Condition(2, CUT, (0.5,), missing=0.0), Condition(2, CUT, (0.5,), turned=True, missing=1.0),
    Condition(3, TRUTHS, (1.0, 0.0, 1.0, 0.0), missing=0.5), Condition(3, TRUTHS, (0.25, 1.0, 0.0, 0.0), missing=0.0),
]  # fmt: skip


def penalised(v, items, y, weight, ridge):
    u = v[0] + v[1:] @ items
    mean = items @ weight / weight.sum()
    penalty = ridge * ((items**2) @ weight / weight.sum() - mean**2) + 1e-6
    return weight @ (np.logaddexp(0.0, u) - y * u) + 0.5 * penalty @ v[1:] ** 2


@pytest.mark.parametrize("k", [1, 3, 8])
@pytest.mark.parametrize("ridge", [0.0, 1.0, 30.0])
def test_the_regression_reaches_the_penalised_optimum(k, ridge):
    rng = np.random.default_rng(k)
    items, weight = rng.random((k, 250)) ** 2, rng.uniform(0.2, 3.0, 250)
    y = (rng.random(250) < 1.0 / (1.0 + np.exp(1.0 - 2.0 * items[0] + items[-1]))).astype(float)
    values = np.zeros(k + 1)
    loss = regress(items, y, weight, ridge, values, 30)
    assert loss == pytest.approx(penalised(values, items, y, weight, ridge), abs=1e-9)
    best = minimize(penalised, np.zeros(k + 1), (items, y, weight, ridge), method="BFGS", options={"gtol": 1e-8})
    assert loss == pytest.approx(best.fun, abs=2e-3)
    assert values == pytest.approx(best.x, abs=0.05)


def test_without_a_penalty_it_is_that_of_scikit_learn():
    rng = np.random.default_rng(0)
    items, y = rng.random((3, 500)), rng.integers(0, 2, 500).astype(float)
    values = np.zeros(4)
    regress(items, y, np.ones(500), 0.0, values, 30)
    other = LogisticRegression(C=np.inf, tol=1e-8).fit(items.T, y)
    assert values == pytest.approx(np.r_[other.intercept_, other.coef_[0]], abs=0.01)


def test_the_regression_lives_with_items_that_are_constant_equal_or_perfect():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 100).astype(float)
    items = np.stack([np.ones(100), y, y, 1.0 - y])
    values = np.zeros(5)
    loss = regress(items, y, np.ones(100), 1.0, values, 30)
    assert np.isfinite(values).all()
    assert 0.0 < loss < 100 * np.log(2)


@st.composite
def hands(draw):
    root = draw(st.sampled_from([SUM, COUNT, ANY, ALL]))
    chosen = draw(st.lists(st.sampled_from(CONDITIONS), min_size=1, max_size=6, unique=True))
    groups, at = [], 0
    while at < len(chosen):
        size = 1 if root == COUNT else draw(st.integers(1, 3))
        kind = draw(st.sampled_from([ALL, ANY])) if root == SUM else ALL if root == ANY else ANY
        groups.append(Clause(kind, tuple(chosen[at : at + size])))
        at += size
    items = len(groups) if root == SUM else 1
    values = draw(arrays(float, items + 1, elements=st.floats(-3.0, 3.0)))
    if root != SUM:
        values[1] = abs(values[1]) + 0.1
    return Card(root, tuple(groups), values)


def dealt(card, columns, y):
    groups = [cards.group_truths(g, [c.truths(columns[c.column]) for c in g.conditions]) for g in card.groups]
    items = np.array(groups) if card.root == SUM else cards.joined(card.root, groups)[None]
    return hand(card, items, y, np.ones(len(y)))


@given(hands(), st.integers(0, 3))
@settings(max_examples=60)
def test_a_hand_says_what_its_tree_says(card, seed):
    X, columns, y = table(seed=seed)
    found = dealt(card, columns, y)
    tree = Tree(found.node(columns, "gcd"))
    assert found.leaves == card.leaves
    truth = tree.evaluate(X)
    scores = found.scores(card_problem(columns, y))
    assert scores == pytest.approx(found.link.score(truth), abs=1e-12 * max(found.link.steepness, 1.0))
    if found.root == SUM:
        assert sum(found.weights) == pytest.approx(1.0)
        assert list(found.weights) == sorted(found.weights, reverse=True)
        weights = np.array(found.weights)
        assert any(np.allclose(weights * steps, np.round(weights * steps)) for steps in (STEPS, FINE))
    laws_of_a_card(tree, card.leaves)


@given(hands().filter(lambda card: card.root == SUM and len(card.groups) > 1), st.integers(0, 3), st.data())
@settings(max_examples=30)
def test_a_hand_of_parts_says_what_its_tree_says(card, seed, data):
    X, columns, y = table(seed=seed)
    items = np.array([cards.group_truths(g, [c.truths(columns[c.column]) for c in g.conditions]) for g in card.groups])
    part = [data.draw(st.integers(0, 2)) for _ in card.groups]
    found = hand_of_parts(card, items, y, np.ones(len(y)), part, ["first", "second", "third"])
    tree = Tree(found.node(columns, "gcd"))
    assert found.scores(card_problem(columns, y)) == pytest.approx(
        found.link.score(tree.evaluate(X)), abs=1e-12 * max(found.link.steepness, 1.0)
    )
    assert {p.name for p in found.parts} == {["first", "second", "third"][p] for p in part}
    for each in found.parts:
        assert sum(each.weights) == pytest.approx(1.0)
        assert all(part[i] == ["first", "second", "third"].index(each.name) for i in each.items)
    assert sorted(i for each in found.parts for i in each.items) == list(range(len(part)))
    names = {node.name for _, node in tree.walk()}
    assert {each.name for each in found.parts} <= names


@given(st.integers(2, 10), st.integers(0, 10**6), st.sampled_from([STEPS, FINE]))
def test_round_weights_are_in_the_order_of_what_each_contributes(n, seed, steps):
    rng = np.random.default_rng(seed)
    items = np.where(rng.random((n, 60)) < rng.random((n, 1)), rng.random((n, 60)) ** 3, rng.integers(0, 2, (n, 60)))
    weight, size = rng.uniform(0.1, 2.0, 60), rng.lognormal(0.0, 1.5, n)
    share = weight / weight.sum()
    spread = np.sqrt(np.maximum(items**2 @ share - (items @ share) ** 2, 0.0))
    found = cards.in_steps(size, items, weight, steps)
    for counts in found:
        even = np.ptp(counts) == 0.0
        assert counts.sum() == pytest.approx(steps)
        assert even or ((counts >= 1.0).all() and np.array_equal(counts, np.round(counts)))
        heavier, contributes = counts[:, None] > counts[None, :], counts * spread
        assert (contributes[:, None] - contributes[None, :])[heavier].min(initial=0.0) >= -1e-8
    assert any(np.ptp(counts) == 0.0 for counts in found)  # which contradicts nothing


@given(st.integers(2, 5), st.integers(0, 10**6))
def test_round_weights_are_about_as_near_as_any_that_keep_to_the_order(n, seed):
    rng = np.random.default_rng(seed)
    items = (rng.random((n, 80)) < rng.uniform(0.05, 0.95, (n, 1))).astype(float)
    items[:, 0], items[:, 1] = 0.0, 1.0
    size, weight, steps = rng.lognormal(0.0, 1.0, n), np.full(80, 1.0 / 80), 12
    square = np.cov(items, bias=True)

    def kept(counts):
        return (counts @ square @ size) ** 2 / (counts @ square @ counts)

    spread, best = items.std(axis=1), 0.0
    for rest in itertools.product(range(1, steps), repeat=n - 1):
        counts = np.array([*rest, steps - sum(rest)], dtype=float)
        if counts[-1] >= 1.0:
            wrong = (counts[:, None] > counts) & ((counts * spread)[:, None] < counts * spread - 1e-9)
            best = best if wrong.any() else max(best, kept(counts))
    assert kept(cards.in_steps(size, items, weight, steps)[0]) >= 0.95 * best


def test_de_morgan():
    _, columns, _ = table()
    for kind in (ALL, ANY):
        group = Clause(kind, tuple(CONDITIONS[i] for i in (0, 2, 4, 7)))
        own, other = (
            cards.group_truths(g, [c.truths(columns[c.column]) for c in g.conditions]) for g in (group, group.opposite)
        )
        assert other == pytest.approx(1.0 - own, abs=1e-12)
        assert group.opposite.opposite == group


@pytest.mark.parametrize(("features", "name"), [
    (["texture1", "texture3"], "texture"), (["mean radius", "worst radius"], "radius"), (["a", "b"], ""),
    (["texture1", "texture1"], ""), (["age", "page"], ""), (["Blood_pressure", "pressure 2", "PRESSURE"], "pressure"),
])  # fmt: skip
def test_a_group_is_named_by_the_word_its_features_share(features, name):
    assert cards.shared_name(features) == name
