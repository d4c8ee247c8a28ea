"""BaconClassifier is a scikit-learn citizen."""

import inspect
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_iris
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import estimator_checks
from sklearn.utils.estimator_checks import parametrize_with_checks

from baconlogic import Tree, load
from baconlogic.learn.classifier import BaconClassifier
from baconlogic.learn.search import Growth, Sinkhorn


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:y holds a single class")  # of that it is told, and fitted
@parametrize_with_checks(
    [
        BaconClassifier(),
        BaconClassifier(search="peel", random_state=0),
        BaconClassifier(search=Growth(max_leaves=2), simplicity="one-se", n_jobs=2, random_state=0),
    ]
)
def test_scikit_learns_own_checks(estimator, check):
    check(estimator)


QUICK = (
    "check_parameters_default_constructible",
    "check_get_params_invariance",
    "check_dict_unchanged",
    "check_estimators_dtypes",
    "check_estimators_pickle",
    "check_classifiers_one_label",
    "check_n_features_in",
)


@pytest.mark.filterwarnings("ignore:y holds a single class")  # it is answered, and said
@pytest.mark.parametrize("check", QUICK)
def test_some_of_scikit_learns_own_checks(check):
    getattr(estimator_checks, check)("BaconClassifier", BaconClassifier(search="peel", random_state=0))


def table(rows=150, seed=0):
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(rng.normal(size=(rows, 3)), columns=["bed", "bath", "acre"])
    return X, ((X["bed"] > 0.2) & (X["bath"] > -0.5)).to_numpy()


def fitted(**rest):
    X, y = table()
    return BaconClassifier(**{"max_leaves": 2, "random_state": 0} | rest).fit(X, y)


def test_it_has_at_most_20_parameters_and_stores_them_as_they_are():
    assert len(inspect.signature(BaconClassifier).parameters) <= 20
    order = ["bed"]
    assert BaconClassifier(order=order).order is order


def test_a_clone_has_the_parameters_of_its_original_and_learns_the_same_tree():
    clf = fitted(init=Tree.parse("HC(bed, bath)"), directions={"bed": "rising"})
    other = clone(clf)
    assert not hasattr(other, "tree_")
    assert other.init == clf.init
    assert other.fit(*table()).decision_ == clf.decision_


def test_pipelines_with_and_without_names():
    X, y = table()
    assert make_pipeline(StandardScaler(), BaconClassifier(max_leaves=2)).fit(X, y).score(X, y) > 0.95
    named = make_column_transformer((StandardScaler(), ["bed"]), remainder="passthrough")
    pipe = make_pipeline(named.set_output(transform="pandas"), BaconClassifier(max_leaves=2, random_state=0)).fit(X, y)
    assert set(pipe[-1].tree_.features) <= {"standardscaler__bed", "remainder__bath", "remainder__acre"}


def test_grid_search_over_its_own_and_its_searchs_parameters():
    X, y = table()
    grid = GridSearchCV(
        BaconClassifier("peel", random_state=0), {"max_leaves": [1, 2], "simplicity": ["best", "one-se"]}, cv=2
    ).fit(X, y)
    assert grid.best_params_["max_leaves"] == 2
    search = Sinkhorn(attempts=1, max_epochs=60, acceptance_threshold=0.0)
    nested = {"search__tree_layout": ["left", "balanced"], "search__max_epochs": [40]}
    grid = GridSearchCV(BaconClassifier(search, random_state=0), nested, cv=2, error_score="raise").fit(X, y)
    assert grid.best_estimator_.search.max_epochs == 40
    assert search.max_epochs == 60


def test_cross_validation_scores_probabilities():
    assert cross_val_score(BaconClassifier(max_leaves=2), *table(), cv=2, scoring="neg_log_loss").mean() > -0.3


def test_sample_weight_is_routed():
    X, y = table()
    wrong = y.copy()
    wrong[100:] = ~wrong[100:]
    weight = np.r_[np.ones(100), np.zeros(50)]
    with sklearn.config_context(enable_metadata_routing=True):
        clf = BaconClassifier(max_leaves=2, random_state=0).set_fit_request(sample_weight=True)
        pipe = make_pipeline(StandardScaler().set_fit_request(sample_weight=False), clf).fit(
            X, wrong, sample_weight=weight
        )
    assert pipe.score(X, y) > 0.9


def test_rows_of_no_weight_are_not_there():
    X, y = table()
    weight = np.r_[np.ones(100), np.zeros(50)]
    few = BaconClassifier(max_leaves=2, random_state=0).fit(X[:100], y[:100])
    assert BaconClassifier(max_leaves=2, random_state=0).fit(X, y, weight).decision_ == few.decision_


def test_class_weight_moves_the_threshold():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 1))
    y = rng.random(400) < 1.0 / (1.0 + np.exp(2.0 - X[:, 0]))
    plain, balanced = (
        BaconClassifier(class_weight=w, max_leaves=1, random_state=0).fit(X, y) for w in (None, "balanced")
    )
    assert balanced.predict(X).mean() > plain.predict(X).mean() + 0.1
    as_weight = np.where(y, 0.5 / y.mean(), 0.5 / (1.0 - y.mean()))
    same = BaconClassifier(max_leaves=1, random_state=0).fit(X, y, as_weight)
    assert np.allclose(same.predict_proba(X), balanced.predict_proba(X), atol=1e-6)


def test_balanced_classes_are_balanced_by_weight():
    X, y = table()
    times = np.arange(150) % 3
    clf = BaconClassifier(class_weight="balanced", max_leaves=2, random_state=0)
    weighted = clf.fit(X, y, times).predict_proba(X)
    assert np.allclose(clf.fit(X.loc[X.index.repeat(times)], y.repeat(times)).predict_proba(X), weighted, atol=1e-12)


def test_weights_too_large_to_add_up_are_refused():
    X, y = table()
    with pytest.raises(ValueError, match=r"^sample_weight must not sum to more than 1e\+300; divide it by a number$"):
        fitted().fit(X, y, np.full(len(y), 1e308))


@pytest.mark.parametrize("weights", [{0: 0, 1: 0}, {0: -1, 1: 1}])
def test_class_weights_that_make_no_sense_are_refused(weights):
    with pytest.raises(ValueError, match=r"^class_weight times sample_weight must not be negative, and not 0"):
        BaconClassifier(class_weight=weights).fit(*table())


@pytest.mark.parametrize("labels", [["no", "yes"], [False, True], [3, 7], [-1.0, 1.0]])
def test_labels_of_any_kind_come_back_as_they_were(labels):
    X, y = table()
    given = np.array(labels)[y.astype(int)]
    clf = BaconClassifier(max_leaves=2, random_state=0).fit(X, given)
    assert clf.classes_.tolist() == labels
    assert clf.predict(X).dtype == given.dtype
    assert clf.score(X, given) > 0.95
    assert list(clf.decision_.predict(X)) == list(clf.predict(X))


def test_labels_of_several_kinds_are_refused():
    X, _ = table()
    with pytest.raises(ValueError, match=r"^labels must be of one kind, all text or all numbers, got int, str$"):
        BaconClassifier().fit(X, np.array(["a", 1] * 75, dtype=object))


@pytest.mark.parametrize("unknown", [None, np.nan, pd.NA])
def test_missing_labels_are_refused_with_where_they_are(unknown):
    X, _ = table()
    with pytest.raises(ValueError, match=r"^y is missing in 75 row\(s\), the first is row 1; leave these rows out$"):
        BaconClassifier().fit(X, np.array(["a", unknown] * 75, dtype=object))


@pytest.mark.parametrize("ask", ["predict", "predict_proba", "truth", "decision_function"])
@pytest.mark.parametrize("far", [np.inf, -np.inf])
def test_infinity_is_refused_where_a_tree_reads_it(ask, far):
    X, y = table()
    clf = BaconClassifier(random_state=0).fit(X, y)
    assert set(clf.tree_.features) == {"bed", "bath"}
    for given in (X.assign(bed=far), X.assign(bed=np.where(X["bed"] > 0, far, X["bed"]))):
        with pytest.raises(ValueError, match=r"^column 'bed' contains infinity; replace it by a number, or by NaN if"):
            getattr(clf, ask)(given)
    assert len(getattr(clf, ask)(X.assign(acre=far))) == len(X)
    assert clf.tree_.evaluate(X.assign(bed=far)).max() == (1.0 if far > 0 else 0.0)  # a tree itself takes it


def test_a_single_class_is_answered_and_said():
    X, _ = table()
    with pytest.warns(UserWarning, match=r"^y holds a single class, 'no': every answer will be that class; give rows"):
        clf = BaconClassifier().fit(X, ["no"] * len(X))
    assert set(clf.predict(X)) == {"no"}


def test_numbers_that_are_text_are_said():
    X, y = table()
    for mark in ".,":
        text = [f"{value:.3f}".replace(".", mark) for value in X["acre"]]
        with pytest.warns(UserWarning, match=r"^column 'acre' holds \d+ different numbers as text, e.g. '-0"):
            BaconClassifier(max_leaves=1).fit(X.assign(acre=text), y)
    BaconClassifier(max_leaves=1).fit(X.assign(acre=[str(i % 5) for i in range(len(X))]), y)  # codes of a few kinds


def test_dates_and_columns_given_twice_are_refused_by_name():
    X, y = table()
    with pytest.raises(TypeError, match=r"^column 'day': .*got Timestamp.*; of a date, make a number such as days"):
        BaconClassifier().fit(X.assign(day=pd.Timestamp("2020-01-01")), y)
    with pytest.raises(ValueError, match=r"^column 'bed' appears twice in the table; rename one of them$"):
        BaconClassifier().fit(pd.concat([X, X[["bed"]]], axis=1), y)


def test_it_shows_itself_in_a_notebook():
    clf = fitted(search=Sinkhorn(attempts=1, acceptance_threshold=0.0, max_epochs=20), max_leaves=None)
    assert "BaconClassifier" in clf._repr_html_()
    assert "attempts=1" in repr(clf)


def test_pickled_it_answers_the_same():
    X, _ = table()
    clf = fitted()
    again = pickle.loads(pickle.dumps(clf))  # noqa: S301
    assert np.array_equal(again.predict_proba(X), clf.predict_proba(X))
    assert list(map(repr, again.path_)) == list(map(repr, clf.path_))  # NaN is not equal to itself
    assert str(again.path_) == str(clf.path_)


def test_saved_it_answers_the_same(tmp_path):
    X, _ = table()
    clf = fitted()
    clf.save(tmp_path / "model.json")
    again = load(tmp_path / "model.json")
    assert np.array_equal(again.predict_proba(X), clf.predict_proba(X))


@pytest.mark.parametrize("library", [pd.DataFrame, pl.DataFrame])
def test_frames_of_any_library_give_names_and_the_same_tree(library):
    X, y = table()
    frame = library(X.to_dict("list"))
    clf = BaconClassifier(max_leaves=2, random_state=0).fit(frame, y)
    assert clf.feature_names_in_.tolist() == ["bed", "bath", "acre"]
    assert clf.decision_ == fitted().decision_
    assert np.array_equal(clf.predict(frame), fitted().predict(X))


def test_arrays_have_columns_x0_x1():
    X, y = table()
    clf = BaconClassifier(max_leaves=2, random_state=0).fit(X.to_numpy(), y)
    assert not hasattr(clf, "feature_names_in_")
    assert set(clf.tree_.features) == {"x0", "x1"}
    assert np.array_equal(clf.predict(X.to_numpy()), fitted().predict(X))


def test_three_classes_pass_through_cross_validation():
    assert cross_val_score(BaconClassifier(max_leaves=2, random_state=0), *load_iris(return_X_y=True), cv=3).min() > 0.9
