"""Fits of cards: the forms and parts asked for, wishes, and what every card keeps."""

import itertools
import math
import signal
import time

import numpy as np
import pandas as pd
import pytest
from card_laws import laws_of_a_card

from baconlogic import BaconClassifier, Gate, Leaf, Not, search
from baconlogic.core.criteria import Given, Interval, Ramp, Sigmoid, Table
from baconlogic.core.forms import form_of
from baconlogic.learn.search import cards


def patients(rows=300, seed=0, holes=0.0):
    """Numbers, truths and categories; points that add up, with noise."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame({
        "age": rng.integers(20, 90, rows).astype(float), "weight": rng.normal(75.0, 15.0, rows).round(1),
        "smoker": (rng.random(rows) < 0.3).astype(float), "place": rng.choice(["town", "farm", "coast"], rows),
        "noise": rng.normal(size=rows),
    }).astype({"place": object})  # fmt: skip
    points = (X["age"] > 55) + (X["weight"] > 80) + 1.5 * X["smoker"] + 0.8 * (X["place"] == "town")
    y = (points + 0.6 * rng.normal(size=rows) > 1.7).to_numpy()
    for name in X:
        X.loc[rng.random(rows) < holes, name] = None
    return X, y


def fit(X, y, **rest):
    return BaconClassifier(**{"random_state": 0, "max_leaves": 5} | rest).fit(X, y)


def leaves(tree):
    return [node for _, node in tree.walk() if isinstance(node, Leaf)]


@pytest.fixture(scope="module")
def usual():
    X, y = patients()
    return fit(X, y, search="cards"), X, y


@pytest.mark.parametrize("holes", [0.0, 0.1])
def test_every_entry_of_the_path_is_a_card(holes):
    X, y = patients(holes=holes)
    clf = fit(X, y, search="cards")
    assert clf.score(X, y) > 0.75
    assert len({(entry.form, entry.leaves) for entry in clf.path_}) == len(clf.path_)
    for entry in clf.path_:
        laws_of_a_card(entry.tree, entry.leaves)
        own = leaves(entry.tree)
        assert all(isinstance(leaf.criterion, (Interval, Ramp, Sigmoid, Table, Given)) for leaf in own)
        assert all((leaf.criterion.missing is None) == (holes == 0.0) for leaf in own)
        said = [str(node) for path, node in entry.tree.walk() if isinstance(node, (Leaf, Not))]
        assert len(set(said)) == len(said)
        for _, gate in entry.tree.walk():
            if isinstance(gate, Gate):
                steps = np.array(gate.weights) * 100
                assert np.allclose(steps, np.round(steps)) or np.ptp(gate.weights) < 1e-9
        if entry.held is not None:
            assert entry.loss == pytest.approx(entry.held.losses @ _share(entry.held), abs=0.05)


def _share(held):
    cases = held.positive + held.negative
    return cases / cases.sum()


@pytest.mark.parametrize("form", ["checklist", "scorecard", "rules", "graded"])
def test_the_form_asked_for_is_the_form_given(form):
    X, y = patients()
    clf = fit(X, y, form=form)
    found = form_of(clf.tree_, clf.threshold_)
    assert found == form or (form, found) == ("scorecard", "checklist")  # with equal points it is one, too
    assert clf.history_.form == found
    assert clf.score(X, y) > 0.7


def test_two_parts_are_there_by_name_and_nothing_else_is():
    X, y = patients()
    groups = {"body": ["age", "weight"], "life": ["smoker", "place"]}
    clf = fit(X, y, groups=groups)
    for entry in clf.path_:
        if entry.leaves >= len(groups):
            assert {each.name for each in entry.tree.root.inputs} == set(groups)
        assert "noise" not in entry.tree.features
    assert {each.name for each in clf.tree_.root.inputs} == set(groups)
    for each in clf.tree_.root.inputs:
        below = {node.feature for _, node in type(clf.tree_)(each).walk() if isinstance(node, Leaf)}
        assert below
        assert below <= set(groups[each.name])
    assert clf.score(X, y) > 0.75


@pytest.mark.parametrize("direction", ["rising", "falling"])
def test_directions_hold_on_every_card(direction):
    X, y = patients()
    for form in ("auto", "graded"):
        clf = fit(X, y, directions={"age": direction, "weight": direction}, form=form)
        for entry in clf.path_:
            for name in ("age", "weight"):
                for row in range(0, 300, 60):
                    rows = X.iloc[[row] * 30].assign(**{name: np.linspace(0.0, 150.0, 30)})
                    change = np.diff(entry.tree.evaluate(rows))
                    assert (change >= -1e-12).all() if direction == "rising" else (change <= 1e-12).all()


def test_a_column_speaks_in_one_direction_on_a_card_unless_as_a_band(usual):
    clf, X, _ = usual
    for entry in clf.path_:
        for name in ("age", "weight", "noise"):
            own = [leaf.criterion for leaf in leaves(entry.tree) if leaf.feature == name]
            if any(isinstance(each, Interval) and None not in (each.low, each.high) for each in own):
                continue
            for row in range(0, 300, 60):
                rows = X.iloc[[row] * 30].assign(**{name: np.linspace(-10.0, 150.0, 30)})
                change = np.diff(entry.tree.evaluate(rows))
                assert (change >= -1e-12).all() or (change <= 1e-12).all()


@pytest.mark.parametrize("asked", [
    {"required": ["noise", "place"]}, {"forbidden": ["age", "smoker"]}, {"reuse": False},
    {"required": ["noise"], "reuse": False, "forbidden": ["age"], "max_leaves": 3},
])  # fmt: skip
def test_wishes_hold_on_every_card(asked):
    X, y = patients()
    for entry in fit(X, y, search="cards", **asked).path_:
        used = [leaf.feature for leaf in leaves(entry.tree)]
        if entry.leaves >= len(asked.get("required", [])):
            assert set(asked.get("required", [])) <= set(used)
        assert not set(asked.get("forbidden", [])) & set(used)
        assert asked.get("reuse", True) or len(set(used)) == len(used)
        assert entry.leaves <= asked.get("max_leaves", 5)


def test_columns_that_say_something_only_together_are_found():
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(500, 4))
    y = ((X[:, 1] > 0.5) == (X[:, 2] > 0.5)) ^ (rng.random(500) < 0.05)
    clf = fit(X, y).with_leaves(2)
    assert set(clf.tree_.features) == {"x1", "x2"}
    assert clf.score(X, y) > 0.68


def test_the_search_is_an_object_too():
    X, y = patients()
    clf = fit(X, y, search=search.Cards(max_leaves=2, kinds=("plain",)), max_leaves=None)
    assert max(entry.leaves for entry in clf.path_) <= 2
    assert all(isinstance(leaf.criterion, (Ramp, Table, Given)) for e in clf.path_ for leaf in leaves(e.tree))
    assert set(itertools.chain(cards.PARTS, *cards.FORMS.values())) == {*cards.KINDS, cards.GRADED}


def test_a_path_prints_as_a_table(usual):
    clf, _, _ = usual
    header, *lines = str(clf.path_).splitlines()
    assert header.split() == ["form", "leaves", "gates", "words", "held-out", "log-loss", "accuracy", "front"]
    rows = [line for line in lines if line.split()[0].isdigit()]
    assert [int(line.split()[0]) for line in rows] == list(range(len(clf.path_)))
    for line, entry in zip(rows, clf.path_, strict=True):
        cells = line.split()
        gates = sum(isinstance(node, Gate) for _, node in entry.tree.walk())
        assert cells[1:5] == [entry.form, str(entry.leaves), str(gates), str(entry.words)]
        assert ("*" in cells) == (entry in clf.path_.front)
        assert math.isnan(entry.loss) or f"{entry.loss:.4f} +- {entry.error:.4f}" in line
    for one, two in itertools.pairwise(clf.path_.front):
        assert one.words <= two.words
        assert one.loss >= two.loss


def test_paths_of_several_classes_print_as_tables():
    X, y = patients()
    clf = fit(X, y.astype(int) + (X["age"] > 70), max_leaves=2)
    assert all(str(path) in str(clf.path_) for path in clf.path_)


def test_a_checklist_counts_no_column_of_words_twice():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"checking": rng.choice(["A11", "A12", "A13", "A14"], 600), "age": rng.integers(20, 70, 600)})
    points = X["checking"].map({"A11": 0, "A12": 1, "A13": 2, "A14": 3}) + (X["age"] > 40)
    clf = fit(X, (points + rng.normal(size=600) > 2).to_numpy(), form="checklist")
    for entry in (entry for entry in clf.path_ if entry.form in ("checklist", "rules")):
        asked = [leaf.feature for leaf in leaves(entry.tree)]
        assert asked.count("checking") <= 1


def test_the_same_card_for_any_number_of_jobs_and_any_order_of_rows():
    X, y = patients(holes=0.05)
    one, two = (fit(X, y, n_jobs=n) for n in (1, 2))
    assert one.decision_ == two.decision_
    assert list(map(repr, one.path_)) == list(map(repr, two.path_))
    order = np.random.default_rng(1).permutation(len(y))
    assert fit(X.iloc[order], y[order]).decision_ == one.decision_


def test_a_time_budget_ends_the_search_with_a_card():
    X, y = patients(2000)
    started = time.monotonic()
    clf = fit(X, y, time_budget=1e-3, max_leaves=10)
    assert time.monotonic() - started < 10.0
    assert clf.path_
    assert set(clf.predict(X)) <= {False, True}


def test_ctrl_c_keeps_what_was_found(monkeypatch):
    X, y = patients(1000)
    grow, rounds = cards._Builder.run, []

    def slowly(self, *rest):
        grow(self, *rest)
        rounds.append(1)
        if len(rounds) == 2:
            signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(cards._Builder, "run", slowly)
    with pytest.warns(UserWarning, match="^interrupted: the best tree found so far is kept$"):
        clf = fit(X, y, n_jobs=1)
    assert clf.history_.interrupted
    assert clf.score(X, y) > 0.6


def test_a_value_that_is_missing_where_none_was_is_refused_by_name():
    X, y = patients()
    clf = fit(X, y)
    name = clf.tree_.features[0]
    with pytest.raises(ValueError, match=rf"^column '{name}', row 3: the value is missing and no truth for missing"):
        clf.predict(X.assign(**{name: X[name].where(np.arange(len(X)) != 3)}))


def test_an_unseen_category_is_answered_by_every_card(usual):
    clf, X, _ = usual
    for entry in clf.path_:
        assert np.isfinite(entry.tree.evaluate(X.head(3).assign(place="moon"))).all()
