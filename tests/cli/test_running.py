"""Running it: budgets, interrupts, odd tables, other backends, signs of life."""

import importlib.util
import time

import joblib
import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from baconlogic import load
from baconlogic.learn import validate
from baconlogic.learn.classifier import BaconClassifier
from baconlogic.learn.search import Growth, Sinkhorn
from baconlogic.learn.search.sinkhorn import NotAccepted

RNG = np.random.default_rng(0)
X = RNG.normal(size=(120, 4))
Y = (X[:, 0] + 0.3 * RNG.normal(size=120) > 0.0).astype(int)


SEARCHES = ("auto", "cards", "growth", "additive", "peel", "sinkhorn", "refine", "calibrate")
NO_SEARCH = f"search must be one of {', '.join(SEARCHES)} or a search object"


def fit(X=X, y=Y, **rest):
    return BaconClassifier(**{"random_state": 0, "max_leaves": 2} | rest).fit(X, y)


# Budgets and interrupts


@pytest.mark.parametrize("search", ["auto", "growth", "peel", Sinkhorn(acceptance_threshold=1.0)])
def test_a_fit_whose_time_is_up_at_once_is_fitted(search):
    rng = np.random.default_rng(1)
    wide = rng.normal(size=(300, 40))
    y = wide[:, :5].sum(axis=1) + rng.normal(size=300) > 0.0
    clf = fit(wide, y, search=search, max_leaves=None, time_budget=0.001)
    assert clf.predict(wide).shape == (300,)
    assert search in ("auto", "growth", "peel") or clf.history_.stopped.endswith("time was up")


def test_validation_ends_with_the_budget(monkeypatch):
    train, calls = validate.train, []

    def slow(*given):
        calls.append(given)
        time.sleep(0.2)
        return train(*given)

    monkeypatch.setattr(validate, "train", slow)
    fit(time_budget=0.1)
    assert len(calls) == 1


def test_a_search_that_is_not_validated_has_the_whole_budget(monkeypatch):
    run, deadlines = Sinkhorn.run, []

    def noting(*given, deadline, **rest):
        deadlines.append(deadline)
        return run(*given, deadline=deadline, **rest)

    monkeypatch.setattr(Sinkhorn, "run", noting)
    before = time.monotonic()
    fit(search=Sinkhorn(acceptance_threshold=0.0), max_leaves=None, time_budget=1000.0)
    assert min(deadlines) >= before + 800.0  # the rest is for what comes after the search


@pytest.mark.parametrize("wrong", [0, -1, "soon", True, float("nan")])
def test_a_time_budget_must_be_a_positive_number(wrong):
    with pytest.raises(ValueError, match="time_budget must be a positive number of seconds, or None, got"):
        fit(time_budget=wrong)


@pytest.mark.parametrize("wrong", [0, -1, 2.5, "4", True])
def test_max_leaves_must_be_a_positive_whole_number(wrong):
    with pytest.raises(ValueError, match="max_leaves must be a positive whole number, or None, got"):
        fit(max_leaves=wrong)


@pytest.mark.parametrize(("wrong", "says"), [
    ({"search": "x"}, f"search must be one of {', '.join(map(repr, SEARCHES))}, got 'x'"),
    ({"search": Growth}, f"{NO_SEARCH}, got <class 'baconlogic.learn.search.growth.Growth'>"),
    ({"search": 3}, f"{NO_SEARCH}, got 3"),
    ({"criteria": "x"}, "criteria must be one of 'learned', 'sigmoid', 'minmax', got 'x'"),
    ({"simplicity": 1}, "simplicity must be one of 'best', 'one-se', got 1"),
    ({"aggregator": None}, "aggregator must be one of 'gcd', 'exact', got None"),
])  # fmt: skip
def test_parameters_that_make_no_sense_are_refused_in_one_line(wrong, says):
    with pytest.raises((ValueError, TypeError)) as refused:
        fit(**wrong)
    assert str(refused.value) == says


class Interrupted:
    """`validate.train`, during one call of which the user presses Ctrl-C."""

    def __init__(self, at):
        self.at, self.calls, self.train = at, 0, validate.train

    def __call__(self, *given):
        self.calls += 1
        if self.calls > self.at:
            raise KeyboardInterrupt
        return self.train(*given)


def test_an_interrupt_before_anything_is_found_goes_through(monkeypatch):
    monkeypatch.setattr(validate, "train", Interrupted(0))
    clf = BaconClassifier()
    with pytest.raises(KeyboardInterrupt):
        clf.fit(X, Y)
    assert not hasattr(clf, "tree_")


@pytest.mark.parametrize("at", [1, 3])
def test_an_interrupt_during_validation_keeps_the_best_so_far(monkeypatch, at):
    monkeypatch.setattr(validate, "train", Interrupted(at))
    with pytest.warns(UserWarning, match="^interrupted: the best tree found so far is kept$"):
        clf = fit()
    assert clf.history_.interrupted
    assert clf.score(X, Y) > 0.85  # of cards of one size, the one with the lowest loss where it was learned
    str(clf.history_)


def test_an_interrupt_between_classes_leaves_the_others_at_their_base_rate(monkeypatch):
    monkeypatch.setattr(validate, "train", Interrupted(1))
    three = Y + (X[:, 1] > 1.0)
    with pytest.warns(UserWarning, match="interrupted"):
        clf = fit(y=three)
    assert [history.logic for history in clf.history_] == [True, False, False]
    assert "stopped before its search" in str(clf.history_[2])
    assert clf.predict_proba(X).sum(axis=1) == pytest.approx(1.0)


def test_an_interrupt_within_growth_keeps_what_was_grown(monkeypatch):
    from baconlogic.learn.search.growth import Grower

    extend, calls = Grower._extend, []

    def interrupted(self, size):
        calls.append(size)
        if len(calls) > 1:
            raise KeyboardInterrupt
        return extend(self, size)

    monkeypatch.setattr(Grower, "_extend", interrupted)
    with pytest.warns(UserWarning, match="interrupted"):
        clf = fit(search="growth", max_leaves=4)
    assert clf.score(X, Y) > 0.9


def interrupted_in_compiled_code(*_):
    """What numba makes of Ctrl-C: a SystemError that comes of it."""
    raise SystemError("returned a result with an exception set") from KeyboardInterrupt()


def test_an_interrupt_in_compiled_code_is_one_too(monkeypatch):
    from baconlogic.learn.search.growth import Grower

    monkeypatch.setattr(Grower, "_extend", interrupted_in_compiled_code)
    with pytest.warns(UserWarning, match="interrupted"):
        assert fit(search="growth", max_leaves=4).score(X, Y) > 0.9


def test_another_error_of_compiled_code_is_none(monkeypatch):
    from baconlogic.learn.search.growth import Grower

    def broken(*_):
        raise SystemError("broken")

    monkeypatch.setattr(Grower, "_extend", broken)
    with pytest.raises(SystemError, match="broken"):
        fit(search="growth", max_leaves=4)


def test_an_interrupt_within_cards_keeps_the_cards_found(monkeypatch):
    from baconlogic.learn.search import cards

    monkeypatch.setattr(cards._Builder, "_swap", interrupted_in_compiled_code)
    with pytest.warns(UserWarning, match="interrupted"):
        assert fit(max_leaves=4).score(X, Y) > 0.85  # a first cut, not yet compared with others


def test_an_interrupt_while_refining_on_all_rows_keeps_the_tree_of_the_sample(monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(validate, "MOST_ROWS", 100)
    monkeypatch.setattr(validate, "polish", interrupted)
    with pytest.warns(UserWarning, match="interrupted"):
        clf = fit(search="growth", max_leaves=2)
    assert clf.score(X, Y) > 0.9


def test_after_an_interrupt_the_next_fit_is_whole(monkeypatch):
    with monkeypatch.context() as patched:
        patched.setattr(validate, "train", Interrupted(2))
        with pytest.warns(UserWarning, match="interrupted"):
            clf = fit()
    assert clf.fit(X, Y).decision_ == fit().decision_


# Odd tables


def test_one_class_is_always_answered(tmp_path):
    with pytest.warns(UserWarning, match="y holds a single class, 'only'"):
        clf = fit(y=np.full(120, "only"))
    assert set(clf.predict(X)) == {"only"}
    assert clf.predict_proba(X).shape == (120, 1)
    clf.save(tmp_path / "one.json")
    assert set(load(tmp_path / "one.json").predict(X)) == {"only"}


@pytest.mark.parametrize(
    "column", [np.ones(50), np.full(50, np.nan), np.full(50, "u"), np.full(50, None), np.zeros(50)]
)
def test_tables_that_say_nothing_give_the_base_rate(column):
    y = np.arange(50) % 5 == 0
    table = pd.DataFrame({"a": column, "b": column})
    clf = fit(table, y)
    assert not clf.history_.logic
    assert clf.predict_proba(table)[:, 1] == pytest.approx(0.2)
    assert "no column says anything about it" in str(clf.history_)
    assert clf.path_ == []


def test_one_column_two_rows_one_row():
    assert fit(X[:, :1]).score(X[:, :1], Y) > 0.9
    assert fit(X[:2], [0, 1]).predict(X[:2]).tolist() == [0, 1]
    with pytest.warns(UserWarning, match="y holds a single class, 1"):
        assert fit(X[:1], [1]).predict(X[:3]).tolist() == [1, 1, 1]
    assert fit(X[:3], [0, 1, 2]).predict(X[:3]).shape == (3,)


def test_the_one_of_five_hundred_columns_is_found():
    wide = np.random.default_rng(0).normal(size=(60, 500))
    assert fit(wide, wide[:, 3] > 0.0, max_leaves=None).tree_.features == ("x3",)


def test_a_column_of_nothing_but_nan_is_ignored():
    holed = np.column_stack([np.full(120, np.nan), X])
    assert "x0" not in fit(holed).tree_.features


@pytest.mark.parametrize(("value", "says"), [
    (np.inf, "column 'x1' contains infinity; replace it by a number, or by NaN if it is not known"),
    (-np.inf, "column 'x1' contains infinity; replace it by a number, or by NaN if it is not known"),
    (1.7e308, "column 'x1' contains numbers beyond 1e+300; divide it, or take its logarithm"),
])  # fmt: skip
def test_infinities_are_refused_by_column(value, says):
    wrong = X.copy()
    wrong[3, 1] = value
    with pytest.raises(ValueError, match="column 'x1'") as refused:
        fit(wrong)
    assert str(refused.value) == says


@pytest.mark.parametrize("factor", [1e299, 1e150, 1e-150, 1e-270])
def test_huge_and_tiny_values_are_learned_from(factor):
    assert fit(X * factor).score(X * factor, Y) > 0.9


def test_differences_too_small_to_see_are_none():
    assert not fit(X * 1e-305).history_.logic


def test_one_outlier_hides_nothing():
    wild = X.copy()
    wild[0] = 1e299
    assert fit(wild).score(wild, Y) > 0.9


def test_labels_never_seen_count_as_wrong():
    assert fit().score(X, np.full(120, 7)) == 0.0


def test_names_at_predict_must_be_those_at_fit():
    frame = pd.DataFrame(X, columns=list("abcd"))
    clf = fit(frame)
    for wrong in (frame[list("dcba")], frame.rename(columns={"a": "z"}), frame[["a"]], frame.assign(e=1.0)):
        with pytest.raises(ValueError, match="feature names should match"):
            clf.predict(wrong)
    with pytest.warns(UserWarning, match="does not have valid feature names"):
        assert np.array_equal(clf.predict(X), clf.predict(frame))


@pytest.mark.parametrize(("table", "says"), [
    (pd.DataFrame(X, columns=["a", "a", "b", "c"]), "column 'a' appears twice in the table"),
    (pd.DataFrame(X, columns=["a", " ", "b", "c"]), "a feature's name must be text that is not blank, got ' '"),
    (pd.DataFrame(index=range(120)), "expected at least one row and one column, got 120 and 0"),
    (pd.DataFrame({"a": []}), "expected at least one row and one column, got 0 and 1"),
    (np.empty((0, 3)), r"0 sample\(s\)"),
    (X[:, 0], "Expected 2D array, got 1D array"),
    (pd.DataFrame({"d": pd.date_range("2020", periods=120)}), "column 'd': argument must be a string or a number"),
    (pd.DataFrame({"d": [1.5, "a"] * 60}), "column 'd' mixes text and numbers, e.g. 1.5; make it all text or"),
    (pd.DataFrame({"d": [[1]] * 120}), "column 'd': argument must be a string or a number"),
])  # fmt: skip
def test_tables_that_cannot_be_read_are_refused_by_name(table, says):
    with pytest.raises((ValueError, TypeError), match=says):
        fit(table, Y[: len(table)])


# Backends and signs of life


def test_dask_gives_the_same_tree():
    distributed = pytest.importorskip("distributed")
    alone = fit(max_leaves=3)
    with (
        distributed.Client(processes=False, n_workers=1, threads_per_worker=2, dashboard_address=None) as client,
        joblib.parallel_config("dask", client=client),
    ):
        assert fit(max_leaves=3, n_jobs=2).decision_ == alone.decision_


def test_a_parallel_config_around_it_changes_nothing():
    with joblib.parallel_config("loky", n_jobs=2):
        assert fit().decision_ == fit(n_jobs=1).decision_


@pytest.mark.skipif(not importlib.util.find_spec("sklearn.callback"), reason="scikit-learn before 1.9")
def test_scikit_learns_callbacks_are_called():
    from sklearn.callback import ProgressBar

    clf = BaconClassifier(max_leaves=1, random_state=0)
    clf.set_callbacks(Counting(), ProgressBar())
    clf.fit(X, Y)
    assert clf.tree_ == fit(max_leaves=1).tree_
    assert Counting.ended > 6
    assert Counting.torn_down == 1


class Counting:
    """A callback that counts."""

    ended = torn_down = 0

    def setup(self, estimator, context):
        Counting.ended = Counting.torn_down = 0

    def on_fit_task_begin(self, estimator, context, **rest):
        pass

    def on_fit_task_end(self, estimator, context, **rest):
        Counting.ended += 1
        return False

    def teardown(self, estimator, context):
        Counting.torn_down += 1


def test_verbose_shows_progress_with_rich(monkeypatch):
    progress = pytest.importorskip("rich.progress")
    seen = []
    monkeypatch.setattr(
        progress.Progress, "update", lambda self, task, **said: seen.append(said.get("description", said.get("total")))
    )
    fit(verbose=True)
    assert seen == [6, "search 1", *["validation"] * 5]


def test_fit_prints_nothing_and_writes_no_file(capfd, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    fit(search="auto")
    fit(search=Sinkhorn(attempts=1, acceptance_threshold=0.0, max_epochs=20), max_leaves=None)
    assert capfd.readouterr() == ("", "")
    assert not list(tmp_path.iterdir())


# The paper's search


def test_sinkhorn_saves_where_it_is_told(tmp_path):
    search = Sinkhorn(
        attempts=1, acceptance_threshold=0.0, max_epochs=20, save_model=True, save_path=str(tmp_path / "m")
    )
    clf = fit(search=search, max_leaves=None)
    assert load(tmp_path / "m").trees == clf.decision_.trees


def test_not_accepted_carries_the_best_attempt():
    with pytest.raises(NotAccepted, match="no attempt of 2 reached an accuracy of 1") as refused:
        fit(search=Sinkhorn(attempts=2, acceptance_threshold=1.0, max_epochs=20), max_leaves=None)
    assert 0.5 < refused.value.best.accuracy < 1.0
    assert len(refused.value.best.history) == 2


def test_is_frozen_keeps_the_order_of_columns():
    search = Sinkhorn(is_frozen=True, attempts=1, acceptance_threshold=0.0, max_epochs=40)
    clf = fit(search=search, max_leaves=None)
    used = [node.feature for _, node in clf.tree_.walk() if hasattr(node, "feature")]
    assert sorted(used) == ["x0", "x1", "x2", "x3"]
    assert used in (["x0", "x1", "x2", "x3"], ["x3", "x2", "x1", "x0"])
    assert clf.history_.attempts


def test_attempts_side_by_side_give_the_same_tree():
    search = Sinkhorn(attempts=3, acceptance_threshold=0.9, max_epochs=60)
    one, two = (fit(search=clone(search), max_leaves=None, n_jobs=n) for n in (1, 2))
    assert one.decision_ == two.decision_


def test_a_search_object_is_used_as_it_is():
    clf = fit(search=Growth(max_leaves=1), max_leaves=None)
    assert [entry.leaves for entry in clf.path_] == [1]
