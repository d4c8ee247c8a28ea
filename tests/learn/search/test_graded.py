"""Graded cards are what is printed: named levels, round numbers, and the tree says what the search judged it by."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from card_laws import card_problem, laws_of_a_card
from sklearn.tree import DecisionTreeClassifier

from baconlogic import BaconClassifier, Gate, Leaf, Tree
from baconlogic.core.columns import Columns
from baconlogic.core.criteria import Sigmoid
from baconlogic.learn import encode
from baconlogic.learn.column import Column
from baconlogic.learn.search import cards
from baconlogic.learn.search import graded as smooth
from baconlogic.learn.search.conditions import BAND, CUT, HILL, RAMP, Condition, between
from baconlogic.learn.search.newton import newton
from baconlogic.learn.search.problem import Request

NEUTRAL = 0.5


def ring(rows=600, seed=0, holes=0.0):
    """A ring in two columns, a category that shifts it, and a column of 0 and 1 that says nothing."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame({
        "x": rng.uniform(-3.0, 3.0, rows), "y": rng.uniform(-3.0, 3.0, rows),
        "kind": rng.choice(["small", "large"], rows), "coin": rng.integers(0, 2, rows).astype(float),
    }).astype({"kind": object})  # fmt: skip
    radius = np.hypot(X["x"], X["y"]) - 0.5 * (X["kind"] == "large")
    y = ((radius > 1.0) & (radius < 2.2)).to_numpy().astype(float)
    for name in X:
        X.loc[rng.random(rows) < holes, name] = None
    return X, y


def found_in(X, y, **rest):
    problem = card_problem(encode.read(Columns(X), np.ones(len(X))), y)
    found = cards.Cards(**rest).find(problem, Request(None, None, 0, lambda: True)).cards
    return problem, {size: card for (kind, size), card in found.items() if kind == cards.GRADED}


def the_sides_of_bands_weigh_the_same(gate):
    sides = {}
    for each, weight in zip(gate.inputs, gate.weights, strict=True):
        if isinstance(each, Leaf) and isinstance(each.criterion, Sigmoid):
            sides.setdefault(each.feature, []).append(weight)
    bands = [weights for weights in sides.values() if len(weights) > 1]
    assert all(np.ptp(weights) < 1e-9 for weights in bands)
    assert not bands or gate.andness != NEUTRAL


@pytest.mark.parametrize("holes", [0.0, 0.1])
def test_the_tree_says_what_the_search_judged_it_by(holes):
    X, y = ring(holes=holes)
    problem, graded = found_in(X, y)
    assert len(graded) >= 3
    for card in graded.values():
        tree = Tree(card.node(problem.table, "gcd"))
        truths = tree.evaluate({column.name: encode.raw(column) for column in problem.table})
        np.testing.assert_allclose(card.link.score(truths), card.scores(problem), atol=1e-6 * card.link.steepness)
        laws_of_a_card(tree, card.leaves)
        assert card.leaves <= cards.Cards().max_leaves
        for _, node in tree.walk():
            if isinstance(node, Gate):
                steps = np.array(node.weights) * 100
                assert np.allclose(steps, np.round(steps)) or np.ptp(node.weights) < 1e-9
                the_sides_of_bands_weigh_the_same(node)
            if isinstance(node, Leaf) and isinstance(node.criterion, Sigmoid):
                assert float(f"{node.criterion.slope:.2g}") == node.criterion.slope
                assert (node.criterion.missing is None) == (holes == 0.0)


def test_larger_cards_lose_less_of_what_they_have_seen():
    _, graded = found_in(*ring())
    losses = [graded[size].loss for size in sorted(graded)]
    assert losses == sorted(losses, reverse=True)
    assert losses[-1] < 0.7 * losses[0]


def test_a_ring_is_told_better_than_by_a_decision_tree_of_as_many_leaves():
    X, y = ring(rows=1200)
    clf = BaconClassifier(random_state=0).fit(X[:800], y[:800])
    numbers = X.assign(kind=X["kind"] == "large").to_numpy(dtype=float)
    other = DecisionTreeClassifier(max_leaf_nodes=10, random_state=0).fit(numbers[:800], y[:800])
    assert clf.score(X[800:], y[800:]) > other.score(numbers[800:], y[800:]) + 0.02


def test_asked_for_gates_over_graded_conditions_no_gate_is_a_mean():
    X, y = ring()
    clf = BaconClassifier(form="graded", random_state=0).fit(X, y)
    assert clf.history_.form == "graded"
    gates = [node for _, node in clf.tree_.walk() if isinstance(node, Gate)]
    assert gates
    assert all(gate.andness != NEUTRAL for gate in gates)


def test_where_nothing_is_smooth_a_graded_card_is_the_card_itself():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (400, 4)).astype(float)
    y = (X[:, 0] > 0) & (X[:, 1] > 0) ^ (rng.random(400) < 0.1)
    clf = BaconClassifier(form="graded", random_state=0).fit(X, y)
    assert clf.score(X, y) > 0.85


def test_more_rows_than_are_searched_fit_the_link_again():
    X, y = ring(rows=9000)
    clf = BaconClassifier(form="graded", max_leaves=6, random_state=0).fit(X, y)
    assert clf.score(X, y) > max(y.mean(), 1.0 - y.mean()) + 0.05


@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize(("kind", "numbers", "stated"), [(CUT, (1.0,), BAND), (RAMP, (0.5, 1.5), HILL)])
def test_a_side_stated_as_a_band_says_the_same_of_what_is_known(kind, numbers, stated, turned):
    values = np.r_[np.linspace(-3.0, 4.0, 50), np.nan]
    column = Column("x", "number", values)
    side = Condition(0, kind, numbers, turned, 0.25)
    band = between(side, column)
    assert band.kind == stated
    assert np.array_equal(band.truths(column), side.truths(column))
    assert list(band.numbers) == sorted(band.numbers)


def test_more_leaves_than_steps_of_a_weight_are_no_obstacle():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 200)
    X = rng.normal(size=(200, 24)) + 0.5 * y[:, None]
    problem, found = found_in(pd.DataFrame(X, columns=[f"x{i}" for i in range(24)]), y.astype(float), max_leaves=23)
    assert max(found) > 10
    for card in found.values():
        assert all(abs(sum(weights) - 1.0) < 1e-9 and min(weights) > 0.0 for weights in card.draft.weights)
        laws_of_a_card(Tree(card.node(problem.table, "gcd")), card.leaves)


def test_a_rule_that_no_single_leaf_leads_to_is_found():
    """Fields of a board: no column says anything by itself, so a group of two must come in at once."""
    rng = np.random.default_rng(3)
    X = pd.DataFrame(rng.uniform(-1.0, 1.0, (800, 3)), columns=["a", "b", "c"])
    y = ((X["a"] > 0.0) == (X["b"] > 0.0)).to_numpy().astype(float)
    clf = BaconClassifier(random_state=0).fit(X[:600], y[:600])
    assert clf.score(X[600:], y[600:]) > 0.95
    assert set(clf.tree_.features) == {"a", "b"}


@pytest.mark.parametrize("way", [1, -1])
def test_criteria_go_the_way_that_is_asked_for(way):
    X, y = ring()
    problem = card_problem(encode.read(Columns(X), np.ones(len(X))), y)
    asked = replace(problem, directions=np.array([way, 0, 0, 0]))
    found = cards.Cards().find(asked, Request(None, None, 0, lambda: True)).cards
    graded = [card for (kind, _), card in found.items() if kind == cards.GRADED]
    slopes = [slope for card in graded for c, slope in zip(card.conditions, card.draft.parts.slope, strict=True)
              if c.column == 0 and c.kind in (CUT, RAMP)]  # fmt: skip
    assert graded
    assert all(slope * way > 0.0 for slope in slopes)


def test_rows_that_fixed_criteria_do_not_tell_apart_count_as_one_another():
    """What is learned of a card of categories is the same whether its rows are merged or not."""
    rng = np.random.default_rng(4)
    X = pd.DataFrame({f"c{i}": rng.choice(["a", "b"], 500) for i in range(3)}).astype(object)
    y = ((X["c0"] == "a") & (X["c1"] == "a") | (X["c2"] == "a")).to_numpy() ^ (rng.random(500) < 0.1)
    problem = card_problem(encode.read(Columns(X), np.ones(len(X))), y.astype(float))
    found = cards.Cards(kinds=("any",)).find(problem, Request(None, None, 0, lambda: True))
    smoother = smooth._Smoother(problem, list(found.cards.values()), 0)
    drafts = [draft for some in smoother.starts.values() for draft in some]
    assert drafts
    for draft in drafts:
        merged = smooth._learned(smoother.own, draft, smooth.PINNED)
        plain = newton(smoother.own, draft, smooth.PINNED)
        np.testing.assert_allclose(merged.parameters, plain.parameters, rtol=1e-6, atol=1e-9)


def test_a_gate_has_no_two_sets_of_one_column():
    """Two tables of the same categories, each nearly the other, read as a mistake."""
    rng = np.random.default_rng(5)
    X = pd.DataFrame({"class": rng.choice(["1st", "2nd", "3rd"], 700), "size": rng.normal(0.0, 1.0, 700)}).astype(
        {"class": object}
    )
    rate = X["class"].map({"1st": 2.0, "2nd": 0.3, "3rd": -1.5}) + X["size"]
    problem, graded = found_in(X, (rate + rng.logistic(0.0, 1.0, 700) > 0.0).to_numpy().astype(float))
    for card in graded.values():
        for _, node in Tree(card.node(problem.table, "gcd")).walk():
            if isinstance(node, Gate):
                sets = [each.feature for each in node.inputs if isinstance(each, Leaf) and each.criterion.categorical]
                assert len(set(sets)) == len(sets)
