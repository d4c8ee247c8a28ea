import numpy as np
import pytest
from random_cases import completions, random_case

from baconlogic import Gate, Tree
from baconlogic.explain import _case as cases
from baconlogic.explain._unknown import MOST_VALUES, unknown

TREE = Tree.parse("A(big[0 at 0, 1 at 10]: 0.6, small: 0.1, known: 0.3)")


def test_a_decision_that_stands_is_right_whatever_the_missing_values_are():
    rng = np.random.default_rng(3)
    standing = 0
    for _ in range(100):
        tree, values, kind = random_case(rng, most=6)
        missing = set(rng.choice(list(values), 2)) & set(values)
        found = unknown(tree, {name: value for name, value in values.items() if name not in missing})
        truths = tree.evaluate(completions(rng, values, kind, missing, 200))
        assert found.low - 1e-12 <= truths.min() <= truths.max() <= found.high + 1e-12
        assert {row.feature for row in found.rows} == missing
        if found.stands:
            standing += 1
            assert ((truths > 0.5) == found.decision).all()
            assert all(row.settles == 1.0 for row in found.rows)
        else:
            assert found.decision is None
            assert found.low <= 0.5 < found.high
    assert 10 < standing < 90


def test_the_value_to_ask_for_is_the_one_that_settles_most():
    found = unknown(TREE, {"known": 0.4})
    assert [row.feature for row in found.rows] == ["big", "small"]
    # big at 0.05, 0.15, ..., 0.95 true leaves 0.12 + 0.6 t to 0.22 + 0.6 t: only 0.55 true (0.45 to 0.55) is open
    assert found.rows[0].settles == pytest.approx(0.9)
    assert found.rows[0].width == pytest.approx(0.1)
    assert found.rows[1].settles == 0.0
    assert found.rows[1].width == pytest.approx(0.6)
    assert str(found) == (
        "The decision does not stand yet: with 2 values missing, the truth may lie anywhere between 0.12 and 0.82, and "
        "the decision turns at 0.5.\n"
        "Ask first for big: 90% of its values would settle it.\n"
        "  missing  settles it  truth still open by\n"
        "  big             90%                  0.1\n"
        "  small            0%                  0.6"
    )


def test_with_a_table_its_values_are_tried():
    X = {"big": [1, 2, 3, np.nan, 6], "small": [0, 1, 1, 0, 0], "known": [0] * 5}
    found = unknown(TREE, {"known": 0.4, "big": None, "small": np.nan}, X=X)
    assert found.rows[0].settles == pytest.approx(1.0 * 3 / 4)  # 6 gives 0.48 to 0.58
    many = {**{name: np.zeros(10_000) for name in TREE.features}, "big": np.linspace(0, 10, 10_000)}
    assert unknown(TREE, {"known": 0.4}, X=many).rows[0].settles == pytest.approx(5 / 6, abs=2 / MOST_VALUES)


def test_it_says_when_the_decision_already_stands():
    found = unknown(Tree.parse("C(a, b)"), {"a": 0.1}, threshold=0.8, label="B")
    assert found.stands
    assert found.decision == "not B"
    assert str(found).startswith("The decision already stands: not B, whatever b may be (truth between 0 and ")


def test_nothing_missing():
    found = unknown(Tree.parse("A(a, b)"), {"a": 0.2, "b": 1})
    assert found.rows == ()
    assert found.stands
    assert str(found) == "Nothing is missing: the answer is yes (truth 0.6; the decision turns at 0.5)."


def test_what_would_be_answered_now():
    stated = Tree.parse("A(a[missing 0.9], b)")
    found = unknown(stated, {"b": 0.4})
    assert found.now is True
    assert found.truth == pytest.approx(0.65)
    assert "As missing values are taken now, the answer would be yes (truth 0.65)." in str(found)
    assert unknown(Tree.parse("A(a, b)"), {"b": 0.4}).now is None


def test_no_single_value_settles_it():
    found = unknown(Tree.parse("A(a: 0.5, b: 0.3, c: 0.2)"), {}, threshold=0.5)
    assert max(row.settles for row in found.rows) < 0.2
    found = unknown(Tree.parse("A(a, b, c, d)"), {})
    assert "No single value would settle it; a would narrow it most." in str(found)


def test_categories_and_ramps_that_rise_and_fall_are_tried():
    tree = Tree.parse('A(k[1 if "red", 0 if "blue"]: 0.8, x[0 at 0, 1 at 5, 0.2 at 9]: 0.2)')
    found = unknown(tree, {})
    assert [(row.feature, row.settles) for row in found.rows] == [("k", 1.0), ("x", 0.0)]
    X = {"k": ["red", "blue", "never listed", None], "x": [1, 2, 3, 4]}
    assert unknown(tree, {}, X=X).rows[0].settles == 1.0


def test_to_frame_and_to_dict():
    found = unknown(TREE, {"known": 0.4})
    assert found.to_frame().columns.tolist() == ["feature", "settles", "width"]
    assert found.to_dict()["rows"][0]["feature"] == "big"


def test_each_missing_value_is_one_line_whatever_its_name_holds():
    found = unknown(Tree(Gate(["a\nb", "c\n"], 0.5)), {})
    assert len(str(found).split("\n")) == 2 + 3
    assert "\n" not in str(unknown(Tree(Gate(["a\nb", "c\n"], "C")), {"c\n": 0}))


def test_categories_that_a_table_does_not_name_are_tried_too():
    found = unknown(Tree.parse('A(k[1 if "red", other 0.4]: 0.6, b: 0.4)'), {})
    assert {row.feature: row.settles for row in found.rows}["k"] == 0.5  # red settles it, another colour does not
    found = unknown(Tree.parse("A(k[1 if 1, 0.9 if 2, other 0.4]: 0.6, b: 0.4)"), {})
    assert {row.feature: row.settles for row in found.rows}["k"] == pytest.approx(2 / 3)


def test_it_says_when_the_answer_without_the_value_is_another_than_with_any_value():
    tree = Tree.parse("A(a[0.8 at 0, 1 at 9, missing 0], b)")
    found = unknown(tree, {"b": 0.5})
    assert found.stands
    assert found.decision is True
    assert found.now is False
    assert "As missing values are taken now, the answer would be no (truth 0.25)." in str(found)


def test_of_a_large_table_only_the_values_that_are_tried_are_looked_at(monkeypatch):
    asked = []
    truth_of = cases.truth_of
    monkeypatch.setattr(cases, "truth_of", lambda leaf, value: asked.append(value) or truth_of(leaf, value))
    X = {name: np.linspace(0, 1, 10_000) for name in TREE.features}
    unknown(TREE, {"known": 0.4}, X=X)
    assert 0 < len(asked) <= 2 * MOST_VALUES
