"""Other trees that fit as well: different features, nearly the same score on rows held out."""

import numpy as np
import pandas as pd
import pytest

from baconlogic import BaconClassifier, Tree
from baconlogic.explain import alternatives


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
    return alternatives(BaconClassifier(random_state=0, max_leaves=2), X, y, n=4, tolerance=0.03), X, y


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
    assert scores[-1] >= scores[0] - 0.03


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
    assert text.startswith("4 trees within 0.03 of the best accuracy on rows held out:")
    assert "size_a (2)" in text
    assert list(several.to_frame()["leaves"]) == [2, 2, 2, 2]
    assert Tree.parse(several.to_dict()["rows"][0]["tree"]) == several.rows[0].tree


def test_the_same_for_any_number_of_workers(found):
    several, X, y = found
    again = alternatives(BaconClassifier(random_state=0, max_leaves=2), X, y, n=4, tolerance=0.03, n_jobs=2)
    assert again == several


def test_fewer_are_returned_where_there_are_no_more():
    X, y = twins()
    few = alternatives(BaconClassifier(random_state=0, max_leaves=2), X[["size_a", "shape_a"]], y, n=5, tolerance=0.01)
    assert len(few.rows) == 1
    assert "No more were found (5 were asked for)" in str(few)


def test_required_and_forbidden_features_stay_so():
    X, y = twins()
    clf = BaconClassifier(random_state=0, max_leaves=2, required=["size_a"], forbidden=["noise"])
    several = alternatives(clf, X, y, n=3, tolerance=0.03)
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
