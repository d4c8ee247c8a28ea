"""Scorecards: what adds up is found as a weighted mean, within the wishes, and only where held-out rows prefer it."""

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression

from baconlogic import Gate, Leaf
from baconlogic.core.criteria import Given, Ramp
from baconlogic.kernel.loops import MISSING
from baconlogic.learn import validate
from baconlogic.learn.classifier import BaconClassifier
from baconlogic.learn.search import Additive, additive
from baconlogic.learn.search.problem import Problem, Request

RNG = np.random.default_rng(0)
X = RNG.normal(size=(400, 6))
Y = (RNG.random(400) < 1.0 / (1.0 + np.exp(-(2.0 * X[:, 0] - 1.5 * X[:, 1] + X[:, 2] + 0.7 * X[:, 3])))).astype(int)


def problem(X=X, y=Y, **rest):
    rows, columns = X.shape
    given = {
        "learned": np.ones(columns, dtype=bool), "features": np.arange(columns),
        "direction": np.zeros(columns, dtype=np.int64), "low": np.full(columns, -1.0), "high": np.full(columns, 2.0),
    } | rest  # fmt: skip
    return Problem(np.ascontiguousarray(X.T), y.astype(float), np.full(rows, 1.0 / rows), **given)


def find(problem, most=None, going=lambda: True):
    return Additive().find(problem, Request(most, None, 0, going)).best


def fit(X=X, y=Y, **rest):
    return BaconClassifier(**{"random_state": 0, "search": "additive"} | rest).fit(X, y)


def gates(tree):
    return [node for _, node in tree.walk() if isinstance(node, Gate)]


def test_a_weighted_mean_is_a_logistic_regression_on_the_truths():
    truths = 1.0 / (1.0 + np.exp(-additive.SLOPE * X))
    regression = LogisticRegression(C=1.0, max_iter=1000, tol=1e-10).fit((truths - truths.mean(0)) / truths.std(0), Y)
    stated = problem()
    draft = find(stated, 6)[6]
    expected = regression.decision_function((truths - truths.mean(0)) / truths.std(0))
    assert stated.decision_values(draft) == pytest.approx(expected, abs=1e-4)
    again = additive.refit(stated, draft)
    assert stated.decision_values(again) == pytest.approx(expected, abs=1e-4)


def test_the_columns_that_matter_enter_first_with_their_direction():
    trees = find(problem())
    assert sorted(trees[4].columns.tolist()) == [0, 1, 2, 3]
    slopes = dict(zip(trees[4].columns.tolist(), trees[4].parts.slope, strict=True))
    assert [slopes[column] > 0.0 for column in range(4)] == [True, False, True, True]
    losses = [trees[size].loss for size in sorted(trees)]
    assert losses == sorted(losses, reverse=True)


def test_the_tree_is_one_neutral_gate_the_heaviest_first():
    clf = fit(max_leaves=4)
    (gate,) = gates(clf.with_leaves(4).tree_)
    assert gate.andness == 0.5
    assert list(gate.weights) == sorted(gate.weights, reverse=True)
    assert len(gate.inputs) == 4
    assert clf.decision_function(X) == pytest.approx(
        clf.decision_.links[0].steepness * (clf.truth(X) - clf.decision_.links[0].threshold)
    )


def test_directions_and_required_features_are_kept_to():
    stated = problem(direction=np.array([-1, 1, 0, 0, 0, 0]), required=(5,))
    for size, draft in find(stated).items():
        assert len(draft.columns) == size
        assert 5 in draft.columns
        assert not {0, 1} & set(draft.columns.tolist())  # they have the other direction


def test_where_no_column_has_the_direction_asked_for_the_base_rate_is_answered():
    clf = fit(X[:, :1], directions={"x0": "falling"})
    assert not clf.history_.logic
    assert all(not leaf.criterion.rising for _, leaf in clf.tree_.walk() if isinstance(leaf, Leaf))


def test_a_missing_value_says_nothing():
    holes = np.where(RNG.random(X.shape) < 0.2, MISSING, X)
    stated = problem(holes)
    draft = find(stated, 4)[4]
    values = stated.decision_values(draft)
    assert np.isfinite(values).all()
    assert ((values > 0.0) == Y).mean() > 0.75
    clf = fit(np.where(holes >= 1e50, np.nan, holes))
    assert clf.score(np.where(holes >= 1e50, np.nan, holes), Y) > 0.75


@pytest.mark.parametrize("criteria", ["sigmoid", "minmax"])
def test_fixed_criteria_are_weighed_as_they_are(criteria):
    clf = fit(criteria=criteria, max_leaves=4)
    assert clf.score(X, Y) > 0.8
    if criteria == "minmax":
        assert all(isinstance(leaf.criterion, Ramp) for _, leaf in clf.tree_.walk() if isinstance(leaf, Leaf))


@pytest.mark.parametrize("seed", range(5))
def test_a_category_that_hardly_matters_weighs_least(seed):
    rng = np.random.default_rng(seed)
    home = rng.choice(["yes", "no"], 400)
    table = pd.DataFrame({"income": X[:, 0], "job": np.where(X[:, 1] > 0.0, "nurse", "clerk"), "home": home})
    clf = fit(table, X[:, 0] + 0.8 * (X[:, 1] > 0.0) + rng.normal(size=400) > 0.4).with_leaves(3)
    (gate,) = gates(clf.tree_)
    assert [leaf.feature for leaf in gate.inputs] == ["income", "job", "home"]
    assert gate.weights[2] < 0.2


def test_truths_are_weighed_as_they_are():
    table = RNG.integers(0, 2, (300, 4))
    y = RNG.random(300) < 1.0 / (1.0 + np.exp(-(3.0 * table[:, 0] + 2.0 * table[:, 1] - 2.5)))
    clf = fit(table, y, max_leaves=2)
    assert {leaf.criterion for _, leaf in clf.tree_.walk() if isinstance(leaf, Leaf)} == {Given()}


def test_the_default_takes_a_scorecard_where_evidence_adds_up_and_none_where_logic_rules():
    adds_up = fit(search="auto", max_leaves=6)
    assert [gate.andness for gate in gates(adds_up.tree_)] == [0.5]
    logic = fit(y=((X[:, 0] > 0.0) & (X[:, 1] > 0.0)).astype(int), search="auto")
    assert all(gate.andness > 0.75 for gate in gates(logic.tree_))


def test_many_rows_are_all_weighed(monkeypatch):
    refit, rows = additive.refit, []

    def watched(problem, draft):
        rows.append(problem.rows)
        return refit(problem, draft)

    monkeypatch.setattr(validate, "MOST_ROWS", 200)
    monkeypatch.setattr(additive, "refit", watched)
    assert fit(max_leaves=4).score(X, Y) > 0.8
    assert rows == [len(Y)]


def test_a_grown_mean_is_not_taken_for_a_scorecard(monkeypatch):
    monkeypatch.setattr(validate, "MOST_ROWS", 200)
    monkeypatch.setattr(additive, "refit", None)
    clf = fit(search="growth", andness=(0.5, 0.5), max_leaves=3)
    assert {gate.andness for gate in gates(clf.tree_)} <= {0.5}


@pytest.mark.parametrize(("wish", "said"), [
    ({"andness": (0.75, 2.0)}, "andness excludes 0.5, but search='additive' joins all by a neutral gate"),
    ({"andness": {"x1": (0.0, 0.25)}}, "andness excludes 0.5, but search='additive' joins all by a neutral gate"),
    ({"order": ["x0", "x1"]}, "order states a structure, which search='additive' would not keep"),
])  # fmt: skip
def test_wishes_that_a_scorecard_cannot_grant_are_refused(wish, said):
    with pytest.raises(ValueError, match=f"^{said}"):
        fit(**wish)


def test_bounds_of_andness_keep_scorecards_out_of_the_default():
    clf = fit(search="auto", andness=(0.75, 2.0), max_leaves=3)
    for entry in clf.path_:
        assert all(gate.andness >= 0.75 for gate in gates(entry.tree))
