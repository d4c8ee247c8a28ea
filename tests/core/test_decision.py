"""What a decision answers, that its answers agree with each other, and that a file keeps all of it."""

import copy
import dataclasses
import json
import pickle

import jsonschema
import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import names, trees

from baconlogic import Decision, Tree, load
from baconlogic.core import files
from baconlogic.core.answers import many_probabilities, two_probabilities
from baconlogic.core.decision import Feature, Link

FEATURES = [Feature("a", "truth"), Feature("b", "number"), Feature("colour", "category"), Feature("c", "truth")]
TWO = Tree.parse('HC(a: 0.6, colour[1 if "red", other 0.2]: 0.4)')
BOTH = Decision([TWO], [Link(8.0, 0.42)], ["benign", "malignant"], FEATURES, {"rows": 569, "scores": [0.97, None]})
MANY = Decision([Tree("a"), Tree("c"), TWO], [Link(5, 0.5), Link(7, 0.4), Link(3, 1.5)], [3, 1, 2], FEATURES)
ONLY = Decision([], [], [True], FEATURES)
ROWS = pd.DataFrame(
    {"a": [0.9, 0.1, 0.42], "b": [1.0, 2.0, np.nan], "colour": ["red", "blue", "red"], "c": [0, 1, 0.5]}
)


labels = st.one_of(
    st.text(st.characters(codec="utf-8"), max_size=5),
    st.integers(-5, 5),
    st.integers(-(2**70), 2**70),
    st.booleans(),
    st.floats(-1e300, 1e300),
    st.sampled_from([1, True, 1.0, "1", 0.0, "", "a\0"]),
)
plain = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**70), 2**70)
    | st.floats(-1e300, 1e300)
    | st.text(max_size=3).filter(lambda text: text.isascii()),
    lambda below: st.lists(below, max_size=3) | st.dictionaries(st.sampled_from(["a", "b", ""]), below, max_size=3),
    max_leaves=8,
)


@st.composite
def decisions(draw):
    classes = draw(st.lists(labels, min_size=1, max_size=4, unique=True))
    number = {1: 0, 2: 1}.get(len(classes), len(classes))
    chosen = draw(st.lists(trees, min_size=number, max_size=number))
    used = {feature for tree in chosen for feature in tree.features} | draw(st.sets(names, max_size=2))
    kinds = st.sampled_from(["number", "truth", "category"])
    features = [Feature(name, draw(kinds)) for name in draw(st.permutations(sorted(used)))]
    link = st.builds(Link, st.floats(0, 1e300, exclude_min=True), st.floats(-1e300, 1e300))
    provenance = draw(st.dictionaries(st.sampled_from(["rows", "scores", "é\n"]), plain))
    links = draw(st.lists(link, min_size=number, max_size=number))
    turns_at = draw(st.none() | st.floats(-1e300, 1e300)) if number == 1 else None
    return Decision(chosen, links, classes, features, provenance, turns_at)


@settings(max_examples=40)
@given(decisions())
def test_a_file_keeps_all_of_a_decision(decision):
    document = json.loads(json.dumps(decision.to_dict()))
    back = Decision.from_dict(document)
    assert back == decision
    assert [(type(label), label) for label in back.classes] == [(type(label), label) for label in decision.classes]
    assert hash(back) == hash(decision)
    assert json.dumps(back.to_dict()) == json.dumps(decision.to_dict())
    jsonschema.validate(document, files.schema())
    assert str(back) == str(decision)
    assert len(repr(back).splitlines()) == 1


@settings(max_examples=40)
@given(decisions())
def test_a_decision_survives_pickle_and_copy(decision):
    assert pickle.loads(pickle.dumps(decision)) == decision  # noqa: S301
    assert copy.deepcopy(decision) == copy.copy(decision) == dataclasses.replace(decision) == decision


@pytest.mark.parametrize("decision", [BOTH, MANY, ONLY])
def test_save_and_load(tmp_path, decision):
    decision.save(tmp_path / "model.json")
    back = load(tmp_path / "model.json")
    assert back == decision
    for method in ("truth", "decision_function", "predict_proba", "predict"):
        np.testing.assert_array_equal(getattr(back, method)(ROWS), getattr(decision, method)(ROWS), strict=True)
    assert [file.name for file in tmp_path.iterdir()] == ["model.json"]


def test_the_answers_between_two_classes():
    truth = BOTH.truth(ROWS)
    np.testing.assert_array_equal(truth, TWO.evaluate(ROWS))
    np.testing.assert_array_equal(BOTH.decision_function(ROWS), 8.0 * (truth - 0.42))
    np.testing.assert_allclose(BOTH.predict_proba(ROWS)[:, 1], 1 / (1 + np.exp(-8 * (truth - 0.42))), rtol=1e-14)
    assert BOTH.predict(ROWS).tolist() == ["malignant", "benign", "malignant"]
    assert BOTH.predict(ROWS).dtype.kind == "U"
    assert BOTH.tree == TWO
    assert BOTH.threshold == 0.42


def test_the_answers_between_several_classes():
    truth = np.column_stack([ROWS["a"], ROWS["c"], TWO.evaluate(ROWS)])
    np.testing.assert_array_equal(MANY.truth(ROWS), truth)
    scores = np.array([5, 7, 3]) * (truth - [0.5, 0.4, 1.5])
    np.testing.assert_array_equal(MANY.decision_function(ROWS), scores)
    sigmoids = 1 / (1 + np.exp(-scores))
    np.testing.assert_allclose(MANY.predict_proba(ROWS), sigmoids / sigmoids.sum(axis=1, keepdims=True), rtol=1e-14)
    np.testing.assert_array_equal(MANY.predict(ROWS), [3, 1, 1], strict=True)
    with pytest.raises(AttributeError, match="has 3 trees, so no single tree; its trees are in `trees`"):
        _ = MANY.tree
    with pytest.raises(AttributeError, match="has 3 trees, so no single threshold; its links are in `links`"):
        _ = MANY.threshold


def test_one_class_is_always_the_answer():
    assert ONLY.predict(ROWS).tolist() == [True] * 3
    assert ONLY.predict_proba(ROWS).tolist() == [[1.0]] * 3
    assert ONLY.truth(ROWS).shape == ONLY.decision_function(ROWS).shape == (3, 0)
    assert str(ONLY) == "always True"
    with pytest.raises(AttributeError, match="has 0 trees"):
        _ = ONLY.tree


def test_a_truth_at_the_threshold_is_not_above_it():
    decision = Decision([Tree("a")], [Link(1e-300, 0.5)], ["no", "yes"], [Feature("a", "truth")])
    rows = {"a": [0.5, np.nextafter(0.5, 1), np.nextafter(0.5, 0), 0.9]}
    assert decision.predict(rows).tolist() == ["no", "yes", "no", "yes"]  # also where the probability rounds to 0.5
    assert decision.predict_proba(rows).argmax(axis=1).tolist() == [0, 1, 0, 1]
    np.testing.assert_allclose(decision.predict_proba(rows), 0.5, atol=1e-15)


scores = (
    st.floats(-1e308, 1e308) | st.floats(-50, 50) | st.floats(-1e-15, 1e-15) | st.sampled_from([0.0, 800.0, -800.0])
)


@given(st.integers(1, 6).flatmap(lambda n: st.lists(st.lists(scores, min_size=n, max_size=n), min_size=1, max_size=4)))
def test_probabilities_sum_to_one_and_the_highest_has_the_highest_score(table):
    table = np.array(table)
    for found, best in [
        (many_probabilities(table), table.argmax(axis=1)),
        (two_probabilities(table[:, 0]), table[:, 0] > 0),
    ]:
        assert np.isfinite(found).all()
        assert (found >= 0).all()
        np.testing.assert_allclose(found.sum(axis=1), 1.0, rtol=1e-14)
        np.testing.assert_array_equal(found.argmax(axis=1), best)


def test_probabilities_keep_their_order_where_sigmoids_underflow_or_saturate():
    assert many_probabilities(np.array([[-900.0, -800.0, -1e308]])).tolist()[0] == pytest.approx([0, 1, 0], abs=1e-40)
    np.testing.assert_allclose(many_probabilities(np.array([[100.0, 200.0, 300.0]])), 1 / 3)
    assert two_probabilities(np.array([-745.0]))[0, 1] > 0.0  # a small probability is not lost in 1 - p


@given(
    st.floats(0, 1e300, exclude_min=True),
    st.floats(-1e300, 1e300) | st.floats(-1, 2),
    st.lists(st.floats(0, 1), min_size=3, max_size=3),
)
def test_answers_and_probabilities_never_disagree(steepness, threshold, truths):
    features = [Feature(name, "truth") for name in "abc"]
    link = Link(steepness, threshold)
    for classes, used in (("x", "y"), "a"), (("x", "y", "z"), "abc"):
        decision = Decision([Tree(name) for name in used], [link] * len(used), classes, features)
        X = np.array([truths])
        assert np.isfinite(decision.decision_function(X)).all()
        assert decision.predict(X)[0] == classes[decision.predict_proba(X)[0].argmax()]


@pytest.mark.parametrize("n_jobs", [1, 2, -1])
def test_tables_of_every_kind_give_the_same_answers(n_jobs):
    expected = MANY.predict_proba(ROWS, n_jobs=n_jobs)
    shuffled = ROWS[["c", "colour", "b", "a"]].assign(more=1)
    unnamed = ROWS.set_axis(range(4), axis=1)
    kinds = [shuffled, shuffled.drop(columns="b"), pl.from_pandas(ROWS), ROWS.to_dict("list"), ROWS.to_dict("records")]
    for table in [*kinds, ROWS.to_numpy(), ROWS.to_numpy().tolist(), unnamed]:
        np.testing.assert_array_equal(MANY.predict_proba(table, n_jobs=n_jobs), expected)
        assert MANY.truth(table, n_jobs=n_jobs).shape == MANY.decision_function(table, n_jobs=n_jobs).shape == (3, 3)
        assert BOTH.predict(table, n_jobs=n_jobs).tolist() == ["malignant", "benign", "malignant"]


@pytest.mark.parametrize("method", ["truth", "decision_function", "predict_proba", "predict"])
@pytest.mark.parametrize("decision", [BOTH, MANY, ONLY])
def test_no_rows_are_no_answers(decision, method):
    assert len(getattr(decision, method)(ROWS.iloc[:0])) == 0


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (ROWS.drop(columns=["a", "c"]), r"^missing columns 'a', 'c'; the table has 'b', 'colour'$"),
        (ROWS.rename(columns={"colour": "Color"}), "^missing column 'colour'; did you mean 'Color'"),
        (
            np.ones((2, 3)),
            "^expected 4 columns, 'a', 'b', 'colour', 'c', got 3 without names; give all of them in this",
        ),
        (np.ones((2, 5)), "got 5 without names"),
        (np.ones(4), "expected a table of rows and columns"),
        (ROWS.assign(a=np.nan), "column 'a', row 0: the value is missing"),
    ],
)
def test_a_wrong_table_is_refused_in_one_line(table, message):
    with pytest.raises(ValueError, match=message) as caught:
        MANY.predict(table)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("classes", "dtype"),
    [
        ((1, 2), np.int64),
        ((1.0, 2.0), np.float64),
        ((False, True), np.bool_),
        (("no", "maybe"), np.dtype("<U5")),
        ((1, "1"), object),
        ((1, 2.5), object),
        ((-1, 2**63), object),
        (("a", "a\0"), object),
        (tuple(np.array([1, 2])), np.int64),
        (tuple(np.array([True, False])), np.bool_),
        (tuple(np.array(["b", "a"])), np.dtype("<U1")),
        (np.array([0.5, 1.0]), np.float64),
    ],
)
def test_answers_are_the_labels_in_their_own_type(classes, dtype):
    decision = Decision([Tree("a")], [Link(1, 0.5)], classes, FEATURES)
    answers = decision.predict(ROWS)
    assert answers.dtype == dtype
    assert [(type(a), a) for a in answers.tolist()] == [(type(c), c) for c in (decision.classes[i] for i in (1, 0, 0))]
    assert {type(label) for label in decision.classes} <= {str, int, float, bool}


def test_labels_that_differ_in_type_make_different_decisions():
    same = [Decision([], [], [label], []) for label in (1, True, 1.0, "1")]
    assert len({json.dumps(d.to_dict()) for d in same}) == 4
    assert sum(a == b for a in same for b in same) == 4
    assert dataclasses.replace(BOTH, provenance={"rows": 569.0, "scores": [0.97, None]}) != BOTH
    assert BOTH != TWO


def test_the_file_spells_labels_so_that_no_writer_can_change_them():
    classes = Decision([], [], [1.0], []).to_dict()["decision"]["classes"]
    assert classes == [{"float": 1.0}]
    document = Decision([Tree("a")], [Link(1, 0.5)], [0.0, 1], FEATURES).to_dict()
    document["decision"]["classes"] = [{"float": 0}, 1.0]  # as a writer that knows one kind of number may have it
    assert [(type(c), c) for c in Decision.from_dict(document).classes] == [(float, 0.0), (int, 1)]


def test_nothing_in_a_decision_changes():
    given = {"scores": [0.9], "search": {"name": "growth"}}
    decision = dataclasses.replace(BOTH, provenance=given)
    given["scores"].append(0.1)
    decision.to_dict()["decision"]["provenance"]["scores"].append(0.1)
    assert decision.provenance == {"scores": [0.9], "search": {"name": "growth"}}
    with pytest.raises(TypeError):
        decision.provenance["rows"] = 1
    with pytest.raises(dataclasses.FrozenInstanceError):
        decision.classes = ("a", "b")
    numpy_values = dataclasses.replace(BOTH, provenance={"score": np.float64(0.5), "rows": np.int64(3), "t": (1, 2)})
    assert numpy_values.to_dict()["decision"]["provenance"] == {"score": 0.5, "rows": 3, "t": [1, 2]}


def test_a_decision_reads_like_a_sentence():
    lines = str(BOTH).splitlines()
    assert lines[0] == "'benign' or 'malignant'"
    assert "\n".join(lines[2:-2]) == str(TWO)
    assert lines[-1] == "'malignant' when the truth is above 0.42 (probability 0.5), else 'benign'"
    assert str(MANY).splitlines()[0] == "the most probable of 3, 1, 2"
    assert "1, rather than not, when this truth is above 0.4:\nc" in str(MANY)
    assert "2, rather than not, when this truth is above 1.5 (never):" in str(MANY)
    assert repr(BOTH) == "Decision(between 'benign', 'malignant': 1 tree on 2 of 4 features)"


@pytest.mark.parametrize(
    ("threshold", "answer", "words"),
    [
        (-0.2, "malignant", "always 'malignant': no truth is as low as -0.2 (probability 0.5)"),
        (1.0, "benign", "always 'benign': no truth is above 1 (probability 0.5)"),
        (7.0, "benign", "always 'benign': no truth is above 7 (probability 0.5)"),
    ],
)
def test_a_threshold_that_no_truth_crosses_never_turns(threshold, answer, words):
    decision = Decision([Tree("a")], [Link(3, threshold)], ["benign", "malignant"], FEATURES)
    assert decision.predict({"a": [0.0, 0.5, 1.0]}).tolist() == [answer] * 3
    assert str(decision).splitlines()[-1] == words


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"trees": [TWO, TWO]}, r"between 2 class\(es\) needs one tree, which speaks for the second; got 2 tree"),
        ({"classes": ["a", "b", "c"]}, r"between 3 class\(es\) needs 3 trees, one each; got 1 tree"),
        ({"classes": ["a"]}, r"between 1 class\(es\) needs no tree; got 1 tree"),
        ({"classes": []}, "needs at least one class"),
        ({"classes": [1, True]}, "classes must differ, but 1 and True are equal"),
        ({"classes": "ab"}, "classes are a list of labels, got 'ab'"),
        ({"classes": [None, 1]}, "a class must be text, a number or true/false, got None"),
        ({"classes": [float("nan"), 1]}, "must lie within 1e\\+300, got nan"),
        ({"classes": [10**5000, 1]}, "must lie within 1e\\+300, got a int"),
        ({"classes": ["\ud800", 1]}, "a class holds a character that no file can store"),
        ({"links": []}, r"each tree needs a link, but there are 1 tree\(s\) and 0 link\(s\)"),
        ({"links": [(1, 2)]}, "links must be a list of Link, got tuple in it"),
        ({"trees": TWO}, "trees must be a list of Tree, got Tree"),
        ({"features": FEATURES[:2]}, "the trees use 'colour', which the features do not list"),
        ({"features": FEATURES * 2}, "the feature 'a' is listed twice"),
        ({"provenance": {"x": {1, 2}}}, r"provenance\['x'\] must be text, a number, .* got a set"),
        ({"provenance": {"x": [1, float("inf")]}}, r"provenance\['x'\]\[1\] must be a finite number, got inf"),
        ({"provenance": {"x": np.ones(3)}}, "got a ndarray"),
        ({"provenance": {1: 2}}, "a name in provenance must be text"),
        ({"provenance": [1]}, "provenance must be a mapping"),
        ({"provenance": {"x": [0] * 100_001}}, "at most 100000 entries"),
    ],
)
def test_parts_that_do_not_belong_together_are_refused(change, message):
    with pytest.raises((ValueError, TypeError), match=message) as caught:
        dataclasses.replace(BOTH, **change)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Link(0, 0.5), "steepness of a link must be positive, got 0; negate the tree instead"),
        (lambda: Link(-1, 0.5), "must be positive, got -1"),
        (lambda: Link(float("nan"), 0.5), "steepness of a link must be a finite number, got nan"),
        (lambda: Link(1, float("inf")), "threshold of a link must be a finite number, got inf"),
        (lambda: Link(1, "0.5"), "threshold of a link must be a finite number, got '0.5'"),
        (lambda: Feature(" ", "number"), "a feature's name must be text that is not blank"),
        (lambda: Feature("a", "date"), "the kind of a feature must be number, truth, category, got 'date'"),
    ],
)
def test_links_and_features_are_checked(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_a_decision_may_turn_elsewhere_and_its_probabilities_stay():
    moved = dataclasses.replace(BOTH, turns_at=0.05)
    truth = BOTH.truth(ROWS)
    assert (BOTH.threshold, moved.threshold) == (0.42, 0.05)
    assert moved.predict(ROWS).tolist() == np.where(truth > 0.05, "malignant", "benign").tolist()
    assert moved.predict(ROWS).tolist() != BOTH.predict(ROWS).tolist()
    assert np.array_equal(moved.decision_function(ROWS) > 0, truth > 0.05)
    assert np.array_equal(moved.predict_proba(ROWS), BOTH.predict_proba(ROWS))
    assert str(moved).endswith("'malignant' when the truth is above 0.05 (probability 0.0493), else 'benign'")
    assert moved != BOTH


@pytest.mark.parametrize(("decision", "turns_at"), [(MANY, 0.5), (ONLY, 0.5), (BOTH, np.nan), (BOTH, "0.5")])
def test_only_two_classes_turn_and_only_at_a_number(decision, turns_at):
    with pytest.raises(ValueError, match="turn"):
        dataclasses.replace(decision, turns_at=turns_at)


def test_an_edited_tree_takes_the_place_of_the_learned_one():
    edited = BOTH.with_tree(Tree("a"))
    assert edited.tree == Tree("a")
    assert (edited.threshold, edited.classes) == (BOTH.threshold, BOTH.classes)
    assert edited.provenance["trees"] == [{"edited": True}]
    other = MANY.with_tree(Tree("c"), label=2)
    assert other.trees == (*MANY.trees[:2], Tree("c"))
    for decision, label in (MANY, None), (MANY, 7), (BOTH, "benign"), (ONLY, None):
        with pytest.raises(ValueError, match="there is no tree for"):
            decision.with_tree(Tree("a"), label)
