"""What is learned: from numbers, truths and categories, values missing, in raw units, and no more than is there."""

import itertools
import os
import subprocess
import sys

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.metrics import log_loss
from sklearn.model_selection import train_test_split

from baconlogic import Leaf, Not
from baconlogic.core.criteria import Given, Ramp, Sigmoid, Table
from baconlogic.learn.classifier import BaconClassifier


def fit(X, y, **rest):
    return BaconClassifier(**{"random_state": 0, "max_leaves": 4} | rest).fit(X, y)


def leaves(tree):
    return [node for _, node in tree.walk() if isinstance(node, Leaf)]


def mixed(rows=500, seed=0, holes=0.0):
    """Numbers, truths and categories: large and (garden or in town)."""
    rng = np.random.default_rng(seed)
    size, garden = rng.lognormal(4.0, 0.5, rows), rng.random(rows) < 0.5
    place = rng.choice(["town", "village", "farm", "coast"], rows)
    y = (size > 50.0) & (garden | (place == "town"))
    X = pd.DataFrame({"size": size, "garden": garden, "place": place, "noise": rng.normal(size=rows)}).astype(
        {"garden": object, "place": object}
    )
    for name in X:
        X.loc[rng.random(rows) < holes, name] = None
    return X, y


def noisy(rows=400, seed=0, columns=3):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, columns))
    return X, rng.random(rows) < 1.0 / (1.0 + np.exp(-2.0 * X[:, 0] - X[:, 1]))


@pytest.mark.parametrize("kind", ["object", "category", "polars"])
def test_numbers_truths_and_categories_together(kind):
    X, y = mixed()
    if kind == "category":
        X = X.astype({"place": "category", "garden": bool})
    if kind == "polars":
        X = pl.DataFrame(X.to_dict("list"))
    clf = fit(X, y)
    assert clf.score(X, y) > 0.97
    assert set(clf.tree_.features) == {"size", "garden", "place"}
    assert {f.name: f.kind for f in clf.decision_.features} == {
        "size": "number", "garden": "truth", "place": "category", "noise": "number",
    }  # fmt: skip
    town = next(leaf.criterion for leaf in leaves(clf.tree_) if leaf.feature == "place")
    assert isinstance(town, Table)


def test_missing_values_of_each_kind_are_lived_with():
    X, y = mixed(holes=0.1)
    clf = fit(X, y)
    assert clf.score(X, y) > 0.85
    assert all(leaf.criterion.missing is not None for leaf in leaves(clf.tree_))


@pytest.mark.parametrize("kind", ["number", "truth", "category"])
@pytest.mark.parametrize("when", [0, 1])
def test_missingness_that_tells_the_class_is_learned(kind, when):
    rng = np.random.default_rng(1)
    y = rng.integers(0, 2, 400)
    values = {
        "number": rng.normal(size=400), "truth": rng.integers(0, 2, 400), "category": rng.choice(list("abc"), 400),
    }[kind].astype(object)  # fmt: skip
    values[(y == when) & (rng.random(400) < 0.95)] = None
    X = pd.DataFrame({"seen": values, "noise": rng.normal(size=400)})
    assert fit(X, y).score(X, y) > 0.93


def test_a_column_that_only_is_there_or_not_can_be_used_with_any_criteria():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 100)
    X = np.column_stack([rng.normal(size=100), np.where(y == 1, 7.0, np.nan)])
    for criteria in ("learned", "sigmoid", "minmax"):
        assert fit(X, y, criteria=criteria).score(X, y) == 1.0


def test_an_unseen_category_is_answered_and_told():
    X, y = mixed()
    clf = fit(X, y)
    assert "place" in clf.tree_.features
    with pytest.warns(UserWarning, match=r"column 'place' holds 'moon', not seen in fit \('.*it counts as any other"):
        probability = clf.predict_proba(X.head(3).assign(place="moon"))
    assert np.isfinite(probability).all()


@pytest.mark.parametrize("search", ["auto", "cards"])
@pytest.mark.parametrize("form", ["auto", "checklist", "graded"])
def test_columns_that_offer_no_condition_give_the_base_rate(search, form):
    X = pd.DataFrame({"name": [f"p{i}" for i in range(60)]})
    clf = fit(X, [0, 1, 1] * 20, search=search, form=form)
    assert not clf.history_.logic
    assert set(clf.predict(X)) == {1}


@pytest.mark.parametrize("yes", [[True, 1], [np.str_("a"), "a"], [np.int64(3), 3], [np.True_, True]])
def test_categories_that_are_equal_are_one(yes):
    X = pd.DataFrame({"c": pd.Series([*yes, "no", "never"] * 30, dtype=object)})
    clf = fit(X, [1, 1, 0, 0] * 30)
    assert clf.score(X, [1, 1, 0, 0] * 30) == 1.0
    listed = [category for category, _ in clf.tree_["c"].criterion.truths]
    assert len(set(listed)) == len(listed) <= 3


def test_a_single_column_of_categories_is_learned():
    rng = np.random.default_rng(0)
    rates = dict(zip("abcde", (0.1, 0.9, 0.2, 0.8, 0.5), strict=True))
    place = rng.choice(list(rates), 1000)
    y = rng.random(1000) < [rates[value] for value in place]
    clf = fit(pd.DataFrame({"place": place}), y)
    assert clf.history_.logic
    found = clf.predict_proba(pd.DataFrame({"place": list(rates)}))[:, 1]
    assert found == pytest.approx(list(rates.values()), abs=0.08)


@pytest.mark.parametrize("columns", [1, 2, 3])
def test_a_few_truths_with_noise_are_learned_though_few_rows_differ(columns):
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (1000, columns))
    y = rng.random(1000) < np.where(X[:, : min(columns, 2)].all(axis=1), 0.9, 0.1)
    clf = fit(X, y)
    assert clf.history_.logic
    assert clf.score(X, y) > 0.88


def test_categories_in_regular_order_are_learned():
    X = pd.DataFrame(list(itertools.product(range(40), "abcde")), columns=["n", "c"])
    y = X["c"].isin(["a", "d"])
    assert fit(X, y, max_leaves=2).score(X, y) == 1.0


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_many_categories_of_pure_noise_are_not_believed(seed):
    rng = np.random.default_rng(seed)
    X = pd.DataFrame({"c": rng.choice([f"v{i}" for i in range(300)], 2000), "x": rng.normal(size=2000)})
    y = rng.random(2000) < 0.5
    clf = fit(X[:700], y[:700], max_leaves=2)
    assert log_loss(y[700:], clf.predict_proba(X[700:])) < 0.71
    y = rng.random(2000) < np.where(X["x"] > 0.0, 0.85, 0.15)
    clf = fit(X[:700], y[:700], max_leaves=2)
    assert clf.score(X[700:], y[700:]) > 0.8


@pytest.mark.parametrize("criteria", ["learned", "sigmoid", "minmax"])
def test_shifted_and_scaled_columns_give_the_same_answers_and_moved_thresholds(criteria):
    X, y = noisy()
    moved = X * np.array([1000.0, 1.0, 0.001]) + np.array([5.0, -3.0, 0.0])
    clf, other = fit(X, y, criteria=criteria, max_leaves=3), fit(moved, y, criteria=criteria, max_leaves=3)
    most, near, apart = (
        (0.97, 0.1, 0.15) if criteria == "learned" else (0.995, 1e-2, 0.05)
    )  # round numbers do not shift
    assert (clf.predict(X) == other.predict(moved)).mean() > most
    assert other.predict_proba(moved) == pytest.approx(clf.predict_proba(X), abs=near)
    move = {"x0": (1000.0, 5.0), "x1": (1.0, -3.0), "x2": (0.001, 0.0)}
    for leaf, far in zip(leaves(clf.tree_), leaves(other.tree_), strict=True):
        assert leaf.feature == far.feature
        scale, shift = move[leaf.feature]
        centre = leaf.criterion.inverse(0.5)
        assert (far.criterion.inverse(0.5) - shift) / scale == pytest.approx(centre, abs=apart)


def test_other_units_by_powers_of_ten_give_the_same_tree_in_these_units():
    X, y = noisy()
    clf, other = fit(X, y), fit(X * np.array([1000.0, 1.0, 0.01]), y)
    factors = {"x0": 1000.0, "x1": 1.0, "x2": 0.01}
    assert clf.threshold_ == other.threshold_
    for leaf, far in zip(leaves(clf.tree_), leaves(other.tree_), strict=True):
        marks = np.array(leaf.criterion.bends) * factors[leaf.feature]
        assert far.criterion.bends == pytest.approx(marks, rel=1e-9)


def test_a_crisp_threshold_lies_between_its_neighbours_in_raw_units():
    rng = np.random.default_rng(0)
    price = np.round(rng.uniform(50_000.0, 900_000.0, 400))
    X = pd.DataFrame({"price": price, "noise": rng.normal(size=400)})
    clf = fit(X, price < 300_000.0)
    (leaf,) = leaves(clf.tree_)
    assert price[price < 300_000.0].max() < leaf.criterion.inverse(0.5) < price[price >= 300_000.0].min()
    assert not leaf.criterion.rising


@pytest.mark.parametrize("holes", [0.0, 0.1])
def test_the_tree_is_the_classifier(holes):
    X, y = mixed(holes=holes)
    clf = fit(X, y)
    assert np.array_equal(clf.decision_.trees[0].evaluate(X), clf.truth(X))
    assert clf.tree_ is clf.decision_.trees[0]
    link = clf.decision_.links[0]
    assert clf.threshold_ == link.threshold
    score = link.steepness * (clf.truth(X) - clf.threshold_)
    assert clf.decision_function(X) == pytest.approx(score)
    assert clf.predict_proba(X)[:, 1] == pytest.approx(1.0 / (1.0 + np.exp(-score)))
    assert np.array_equal(clf.predict(X), clf.truth(X) > clf.threshold_)


def test_the_path_has_a_tree_for_each_form_and_size_and_any_can_be_taken():
    X, y = noisy()
    clf = fit(X, y, max_leaves=5)
    keys = [(entry.leaves, entry.form) for entry in clf.path_]
    assert keys == sorted(set(keys))
    sizes = [entry.leaves for entry in clf.path_.sizes()]
    assert sizes == sorted({size for size, _ in keys})
    assert max(sizes) <= 5
    for size, entry in zip(sizes, clf.path_.sizes(), strict=True):
        assert entry.loss == min(e.loss for e in clf.path_ if e.leaves == size and not np.isnan(e.loss))
        assert clf.with_leaves(size).tree_ == entry.tree
    for place, entry in enumerate(clf.path_):
        assert len(leaves(entry.tree)) == entry.leaves
        measured = np.isfinite([entry.loss, entry.error, entry.accuracy])
        assert measured.all() or not measured.any()
        assert np.isfinite(entry.in_sample_loss)
        assert str(entry).startswith(f"{entry.form}, {entry.leaves} lea")
        other = clf.with_entry(place)
        assert other.history_.form == entry.form
        assert clf.with_entry(entry).decision_ == other.decision_
        assert other.tree_ == entry.tree
        assert other.path_ == clf.path_
        assert [line.endswith("<- taken") for line in str(other.path_).split("\n")[1:-1]] == [
            each is entry for each in clf.path_
        ]
        said = other.decision_.provenance["trees"][0]
        assert (said["leaves"], said["form"]) == (entry.leaves, entry.form)
        assert said["held_out_log_loss"] == (entry.loss if measured.all() else None)
        score = entry.link.steepness * (
            entry.tree.evaluate({f"x{i}": X[:, i] for i in range(3)}) - entry.link.threshold
        )
        assert other.decision_function(X) == pytest.approx(score)
    taken = clf.path_.taken(clf.history_)
    assert clf.tree_ == taken.tree
    assert clf.path_[clf.path_.place] is taken
    assert clf.with_entry(np.int64(0)).path_.place == 0
    assert str(clf.path_).count("<- taken") == 1
    best = min((entry for entry in clf.path_ if np.isfinite(entry.loss)), key=lambda entry: entry.loss)
    assert taken.loss <= best.loss + max(taken.error, best.error)
    with pytest.raises(ValueError, match=r"^path_ has no entry at 99; it has \d+, at the places 0 to \d+$"):
        clf.with_entry(99)
    for nothing in (True, None, fit(X, ~y, max_leaves=1).path_[0]):
        with pytest.raises(ValueError, match=r"^entry must be one of path_, or its place there$"):
            clf.with_entry(nothing)
    with pytest.raises(ValueError, match=r"^path_ has no tree of 99 leaves; its sizes are 1"):
        clf.with_leaves(99)
    with pytest.raises(ValueError, match=r"^there is a path for each class; give label=, one of \["):
        clf.with_leaves(sizes[0], label="nobody")


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_one_se_is_never_larger_than_best(seed):
    X, y = noisy(200, seed)
    best, simple = fit(X, y, max_leaves=5), fit(X, y, max_leaves=5, simplicity="one-se")
    assert simple.history_.leaves <= best.history_.leaves
    pairs = list(zip(simple.path_, best.path_, strict=True))
    assert all((one.form, one.leaves) == (other.form, other.leaves) for one, other in pairs)
    taken = simple.tree_, best.tree_  # of two kinds told in one form, the one that was taken stands for both
    assert all(one.tree == other.tree or one.tree in taken or other.tree in taken for one, other in pairs)


@pytest.mark.parametrize("most", [1, 2, 3])
@pytest.mark.parametrize("search", ["auto", "growth", "peel"])
def test_max_leaves_is_respected(most, search):
    assert all(entry.leaves <= most for entry in fit(*noisy(), max_leaves=most, search=search).path_)


def test_three_classes_have_a_tree_each():
    X, y = load_iris(return_X_y=True)
    clf = fit(X, np.array(["setosa", "versicolor", "virginica"])[y])
    assert isinstance(clf.history_, tuple)
    assert [history.label for history in clf.history_] == ["setosa", "versicolor", "virginica"]
    assert len(clf.tree_) == len(clf.path_) == len(clf.threshold_) == 3
    probability = clf.predict_proba(X)
    assert probability.sum(axis=1) == pytest.approx(1.0)
    assert np.array_equal(clf.classes_[probability.argmax(axis=1)], clf.predict(X))
    assert clf.truth(X).shape == clf.decision_function(X).shape == (150, 3)
    size = clf.path_[1][0].leaves
    assert clf.with_leaves(size, "versicolor").tree_[1] == clf.path_[1].sizes()[0].tree
    assert clf.with_entry(-1, "versicolor").tree_ == (clf.tree_[0], clf.path_[1][-1].tree, clf.tree_[2])
    with pytest.raises(ValueError, match="there is a path for each class; give label=, one of"):
        clf.with_leaves(size)


def test_a_class_without_logic_is_reported_and_prediction_still_works():
    rng = np.random.default_rng(4)
    X = rng.normal(size=(300, 3))
    y = np.where(X[:, 0] > 0.6, 2, 0)
    y[rng.random(300) < 0.15] = 1
    clf = fit(X, y, max_leaves=2)
    assert [history.logic for history in clf.history_] == [True, False, True]
    assert "no apparent logic" in str(clf.history_[1])
    assert clf.score(X, y) > 0.75
    assert clf.predict_proba(X).sum(axis=1) == pytest.approx(1.0)


def test_pure_noise_gets_the_base_rate():
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(300, 4)), rng.random(300) < 0.3
    clf = fit(X, y)
    assert not clf.history_.logic
    assert clf.predict_proba(X)[:, 1] == pytest.approx(y.mean(), abs=0.02)


def test_a_rule_of_truths_reads_as_one_though_not_every_case_was_seen():
    table = np.random.default_rng(0).integers(0, 2, (150, 8))
    clf = fit(table, (table[:, 0] & table[:, 3]) | table[:, 5])
    assert {leaf.criterion for leaf in leaves(clf.tree_)} == {Given()}
    assert sorted(clf.tree_.features) == ["x0", "x3", "x5"]


@pytest.mark.slow
def test_noise_is_hardly_ever_taken_for_logic():
    taken = 0
    for seed in range(12):
        rng = np.random.default_rng(seed)
        taken += fit(rng.normal(size=(150, 3)), rng.random(150) < 0.4, max_leaves=2).history_.logic
    assert taken <= 2


def test_weights_that_are_shares_learn_what_equal_weights_do():
    X, y = noisy()
    clf = fit(X, y, max_leaves=3)
    shares = clone(clf).fit(X, y, np.full(len(y), 1.0 / len(y)))
    assert shares.predict_proba(X) == pytest.approx(clf.predict_proba(X), abs=1e-6)


@pytest.mark.parametrize("positive", [148, 150, 152])
def test_noise_that_is_nearly_even_gets_one_answer(positive):
    X, y = np.random.default_rng(0).normal(size=(300, 2)), np.arange(300) < positive
    clf = fit(X, y, max_leaves=2)
    assert not clf.history_.logic
    assert len(set(clf.predict(X))) == 1
    assert clf.predict_proba(X)[:, 1] == pytest.approx(0.5, abs=0.03)


def test_probabilities_are_calibrated():
    X, y = noisy(1200)
    train, test, y_train, y_test = train_test_split(X, y, random_state=0)
    clf = fit(train, y_train)
    found = clf.predict_proba(test)[:, 1]
    assert log_loss(y_test, found) < 0.5
    assert log_loss(y_test, found) <= log_loss(y_test, np.clip(clf.truth(test), 0.01, 0.99)) + 0.005
    for low, high in ((0.0, 0.3), (0.3, 0.7), (0.7, 1.0)):
        there = (found >= low) & (found < high)
        assert y_test[there].mean() == pytest.approx(found[there].mean(), abs=0.12)


@pytest.mark.parametrize(("criteria", "kind"), [("sigmoid", Sigmoid), ("minmax", Ramp)])
@pytest.mark.parametrize("search", ["auto", "growth"])
def test_fixed_criteria_are_the_papers(criteria, kind, search):
    X, y = noisy()
    for leaf in leaves(fit(X, ~y, criteria=criteria, search=search).tree_):
        column = X[:, int(leaf.feature[1:])]
        make = Sigmoid.from_column if kind is Sigmoid else Ramp.minmax
        assert leaf.criterion in [make(column, rising=rising) for rising in (True, False)]


def test_truths_are_read_as_they_are_where_logic_is_crisp():
    rows = np.array(list(itertools.product([0, 1], repeat=4)))
    clf = fit(rows, (rows[:, 0] == 1) & ((rows[:, 1] == 0) | (rows[:, 2] == 1)))
    assert all(isinstance(leaf.criterion, Given) for leaf in leaves(clf.tree_))
    assert any(isinstance(node, Not) for _, node in clf.tree_.walk())
    assert clf.history_.stopped.startswith("exact")


@pytest.mark.parametrize("search", ["auto", "growth", "peel"])
def test_the_same_seed_gives_the_same_tree_for_any_n_jobs(search):
    X, y = mixed(200, holes=0.05)
    one, two = (fit(X, y, search=search, n_jobs=n, max_leaves=3) for n in (1, 2))
    assert one.decision_ == two.decision_
    assert [e.loss for e in one.path_] == pytest.approx([e.loss for e in two.path_], nan_ok=True)


def test_the_order_of_rows_does_not_matter():
    X, y = mixed(200, holes=0.05)
    order = np.random.default_rng(0).permutation(200)
    assert fit(X.iloc[order], y[order]).decision_ == fit(X, y).decision_


@pytest.mark.parametrize("few", [False, True])
def test_a_row_twice_is_a_row_of_weight_two(few):
    X, y = noisy(80)
    if few:
        X = np.round(X)
    times = np.random.default_rng(0).integers(1, 4, 80)
    weighted = BaconClassifier(max_leaves=2, random_state=0).fit(X, y, sample_weight=times)
    repeated = fit(np.repeat(X, times, axis=0), np.repeat(y, times), max_leaves=2)
    assert weighted.decision_ == repeated.decision_


FIT = """
from sklearn.datasets import load_iris
from baconlogic import BaconClassifier
X, y = load_iris(return_X_y=True, as_frame=True)
for entry in BaconClassifier(random_state=0, form="graded").fit(X, y == 2).path_:
    print(entry.tree.formula(), repr(entry.loss))
"""


@pytest.mark.slow  # it compiles
def test_what_is_learned_does_not_depend_on_whether_the_kernel_was_compiled_just_now(tmp_path):
    environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path)}
    command = [sys.executable, "-W", "ignore", "-c", FIT]
    first, second = (subprocess.run(command, env=environment, capture_output=True, check=True) for _ in range(2))
    assert first.stdout == second.stdout
    assert len(first.stdout.splitlines()) > 1
