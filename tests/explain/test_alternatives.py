"""Other trees that fit as well: different features, nearly the same score on rows held out."""

import numpy as np
import pandas as pd
import pytest

from baconlogic import BaconClassifier, Tree
from baconlogic.core.decision import Link
from baconlogic.explain import _alternatives as alternating
from baconlogic.explain import alternatives
from baconlogic.learn.path import PathEntry


def twins(rows=240, seed=0):
    """Two measurements of size and two of shape, each pair nearly the same; both together make the case."""
    rng = np.random.default_rng(seed)
    size, shape = rng.normal(size=(2, rows))
    X = pd.DataFrame({
        "size_a": size + 0.05 * rng.normal(size=rows), "size_b": size + 0.05 * rng.normal(size=rows),
        "shape_a": shape + 0.05 * rng.normal(size=rows), "shape_b": shape + 0.05 * rng.normal(size=rows),
        "noise": rng.normal(size=rows),
    })  # fmt: skip
    return X, (size > -0.3) & (shape > -0.3)


@pytest.fixture(scope="module")
def found():
    X, y = twins()
    return alternatives(BaconClassifier(random_state=0, max_leaves=2), X, y, n=4, tolerance=0.05), X, y


def test_twins_can_stand_for_each_other(found):
    several, _, _ = found
    sets = [frozenset(row.features) for row in several.rows]
    assert len(set(sets)) == len(sets) == 4
    assert {frozenset(pair) for pair in sets} == {
        frozenset({f"size_{i}", f"shape_{j}"}) for i in "ab" for j in "ab"
    }  # fmt: skip


def test_all_are_within_the_tolerance_of_the_best_and_the_best_comes_first(found):
    several, _, _ = found
    scores = [row.accuracy for row in several.rows]
    assert scores == sorted(scores, reverse=True)
    assert scores[-1] >= scores[0] - 0.05


def test_agreement_and_frequency_are_those_of_the_trees(found):
    several, X, _ = found
    decided = [row.tree.evaluate(X) > row.threshold for row in several.rows]
    for i, a in enumerate(decided):
        for j, b in enumerate(decided):
            assert several.agreement[i][j] == np.mean(a == b)
    assert dict(several.frequency) == dict.fromkeys(["size_a", "size_b", "shape_a", "shape_b"], 2)


def test_it_reads_well_and_carries_on(found):
    several, _, _ = found
    text = str(several)
    assert text.startswith("4 trees within 0.05 of the best accuracy on rows held out:")
    assert "size_a (2)" in text
    assert list(several.to_frame()["leaves"]) == [2, 2, 2, 2]
    assert Tree.parse(several.to_dict()["rows"][0]["tree"]) == several.rows[0].tree


def test_the_same_for_any_number_of_workers(found):
    several, X, y = found
    again = alternatives(BaconClassifier(random_state=0, max_leaves=2), X, y, n=4, tolerance=0.05, n_jobs=2)
    assert again == several


def test_fewer_are_returned_where_there_are_no_more():
    X, y = twins()
    few = alternatives(BaconClassifier(random_state=0, max_leaves=2), X[["size_a", "shape_a"]], y, n=5, tolerance=0.01)
    assert len(few.rows) == 1
    assert "No more were found (5 were asked for)" in str(few)


def test_required_and_forbidden_features_stay_so():
    X, y = twins()
    clf = BaconClassifier(random_state=0, max_leaves=2, required=["size_a"], forbidden=["noise"])
    several = alternatives(clf, X, y, n=3, tolerance=0.05)
    assert all("size_a" in row.features for row in several.rows)
    assert len(several.rows) == 2


def test_one_of_several_classes_and_arrays_without_names():
    X, y = twins()
    labels = np.where(y, "both", np.where(X["size_a"] > 0, "large", "small"))
    with pytest.raises(ValueError, match="give label=, one of 'both', 'large', 'small'"):
        alternatives(BaconClassifier(random_state=0), X, labels)
    several = alternatives(BaconClassifier(random_state=0, max_leaves=2), X.to_numpy(), labels, n=2, label="both")
    assert set(several.rows[0].features) <= {"x0", "x1", "x2", "x3"}


def test_what_has_no_alternatives_says_so():
    X, y = twins()
    with pytest.raises(ValueError, match="init= says which tree to learn"):
        alternatives(BaconClassifier(init=Tree("size_a")), X, y)
    with pytest.raises(ValueError, match="no logic was found"):
        alternatives(BaconClassifier(random_state=0, max_leaves=1), X[["noise"]], y)


def test_of_two_sizes_with_the_same_features_the_better_counts(monkeypatch):
    small, large = Tree.parse("C(a, b)"), Tree.parse("C(a, b, a)")
    link = Link(9.0, 0.5)
    path = [
        PathEntry(2, small, 0.1, 0.01, 0.95, 0.1, logic=True, link=link),
        PathEntry(3, large, 0.1, 0.01, 0.93, 0.1, logic=True, link=link),
    ]
    monkeypatch.setattr(alternating, "_paths", lambda _clf, _X, _y, batch, _jobs: [path] * len(batch))
    X = {"a": np.linspace(0, 1, 9), "b": np.linspace(0, 1, 9)}
    (best,) = alternatives(BaconClassifier(), X, np.arange(9) > 4, n=1).rows
    assert (best.tree, best.accuracy) == (small, 0.95)


def test_all_fits_hold_out_the_same_rows_without_a_seed_too(monkeypatch):
    X, y = twins()
    seeds = []
    fit = BaconClassifier.fit

    def watched(self, *given):
        seeds.append(self.random_state)
        return fit(self, *given)

    monkeypatch.setattr(BaconClassifier, "fit", watched)
    alternatives(BaconClassifier(max_leaves=1), X, y, n=1)
    assert len(seeds) > 1
    assert len(set(seeds)) == 1
    assert isinstance(seeds[0], int)


def test_one_tree_reads_well_under_any_name():
    X, y = twins()
    one = alternatives(
        BaconClassifier(random_state=0, max_leaves=1), X[["size_a"]].set_axis(["si\nze"], axis=1), y, n=2
    )
    first, _, header, line, _, no_more, *_ = str(one).splitlines()
    assert first == "1 tree within 0.01 of the best accuracy on rows held out:"
    assert header.index("features") == line.index("si\\nze")
    assert no_more == "No more were found (2 were asked for): what else was tried does worse."


@pytest.mark.parametrize(
    ("clf", "rest", "words"),
    [
        (BaconClassifier(), {"n": 2.5}, "n must be a whole number"),
        (BaconClassifier(), {"tolerance": -0.1}, "tolerance must not be negative"),
        (BaconClassifier(class_weight={"a": 1, "b": 2, "c": 3}), {"label": "a"}, "use 'balanced'"),
    ],
)
def test_what_cannot_be_asked_is_refused_before_anything_is_learned(clf, rest, words):
    X, y = twins()
    with pytest.raises(ValueError, match=words):
        alternatives(clf, X, np.where(y, "a", np.where(X["noise"] > 0, "b", "c")), **{"label": "a"} | rest)
    with pytest.raises(TypeError, match="expected a BaconClassifier, got Tree"):
        alternatives(Tree("a"), X, y)


def test_weights_of_two_classes_go_with_the_label():
    X, y = twins()
    clf = BaconClassifier(random_state=0, max_leaves=1, class_weight={"a": 2, "b": 1})
    labels = np.where(y, "b", "a")
    turned = BaconClassifier(random_state=0, max_leaves=1, class_weight={False: 1, True: 2})
    assert alternatives(clf, X, labels, n=1, label="a") == alternatives(turned, X, labels == "a", n=1)
