from itertools import product

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from random_cases import random_case

from baconlogic import Decision, Tree
from baconlogic.core.answers import Feature, Link
from baconlogic.explain._counterfactual import Action, counterfactual


def truth(tree, values, changes=()):
    changed = {**values, **{change.feature: change.after for change in changes}}
    return tree.evaluate({name: [value] for name, value in changed.items()})[0]


def grids(values, kind):
    """Every value that each feature may be changed to, on a fine grid."""
    grid = {}
    for name, value in values.items():
        if kind[name] == "table":
            grid[name] = list("xyz")
        elif kind[name] == "given":
            grid[name] = [1 - value] if value in (0, 1) else list(np.linspace(0, 1, 2001))
        else:
            grid[name] = list(np.linspace(-10, 20, 6001))
    return grid


def test_single_changes_are_the_smallest_and_all_changes_turn_the_decision():
    rng = np.random.default_rng(2)
    turned = 0
    for _ in range(30):
        tree, values, kind = random_case(rng, most=7)
        threshold = float(np.round(rng.uniform(0.2, 0.8), 3))
        found = counterfactual(tree, values, threshold=threshold)
        by_feature = {change.feature: change for change in found.rows}
        for name, tried in grids(values, kind).items():
            truths = tree.evaluate({**{other: [v] * len(tried) for other, v in values.items()}, name: tried})
            turning = [v for v, t in zip(tried, truths, strict=True) if (t > threshold) != found.decision]
            if name not in by_feature:
                assert not turning
                continue
            turned += 1
            change = by_feature[name]
            assert (truth(tree, values, [change]) > threshold) == found.other
            if turning and kind[name] != "table":
                nearest = min(abs(v - values[name]) for v in turning)
                assert abs(change.after - values[name]) <= nearest + 1e-9
        if found.joint is not None:
            assert (truth(tree, values, found.joint) > threshold) == found.other
            for left_out in found.joint:  # nothing is changed that need not be
                rest = [change for change in found.joint if change is not left_out]
                assert (truth(tree, values, rest) > threshold) == found.decision
            if found.single:
                assert max(change.size for change in found.joint) <= found.single.size
        else:
            flags = [name for name in values if kind[name] == "given" and values[name] in (0, 1)]
            either = list(product((0, 1), repeat=len(flags)))
            free = {name: [None] * len(either) for name in values}
            low, high = tree.bounds({**free, **{name: [row[i] for row in either] for i, name in enumerate(flags)}})
            assert (low > threshold).all() or (high <= threshold).all()
    assert turned > 20


def test_the_joint_change_is_the_smallest_box_that_reaches_the_other_decision():
    tree = Tree.parse("A(x[0 at 0, 1 at 10]: 0.5, y[1 at 0, 0 at 20]: 0.5)")
    found = counterfactual(tree, {"x": 2.0, "y": 12.0})  # truth 0.3; both move 0.2 of their width
    assert {change.feature: change.after for change in found.joint} == pytest.approx({"x": 4.0, "y": 8.0}, abs=1e-6)
    assert [change.size for change in found.joint] == pytest.approx([0.2, 0.2])
    assert {change.feature: change.after for change in found.rows} == pytest.approx({"x": 6.0, "y": 4.0}, abs=1e-6)
    assert found.single.size == pytest.approx(0.4)


def test_what_is_read_turns_the_decision_too():
    tree = Tree.parse("x[half at 3.14159, slope 2]")
    found = counterfactual(tree, {"x": 2.5})
    assert found.single.after == pytest.approx(3.14159)
    assert "2.5  3.15" in str(found)
    assert found.single.after_says == "3.15"


def test_immutable_features_stay_as_they_are():
    tree = Tree.parse("A(age[0 at 20, 1 at 60], dose[0 at 0, 1 at 8])")
    case = {"age": 30, "dose": 2.0}
    assert {row.feature for row in counterfactual(tree, case).rows} == {"age", "dose"}
    fixed = counterfactual(tree, case, immutable=["age"])
    assert [row.feature for row in fixed.rows] == ["dose"]
    assert [change.feature for change in fixed.joint] == ["dose"]
    with pytest.raises(ValueError, match="immutable names 'Age', which is no column of the case"):
        counterfactual(tree, case, immutable="Age")


def test_none_exists():
    found = counterfactual(Tree.parse("C(a, b)"), {"a": 0.0, "b": 0.3}, immutable=["a"])
    assert found.rows == ()
    assert found.single is found.joint is None
    assert str(found) == (
        "The answer is no: the truth is 0, and it turns at 0.5.\n"
        "No change of a single value would make it yes.\n"
        "No change of several values together would make it yes either: none exists.\n"
        "This takes for granted that a stays as it is."
    )


def test_only_a_joint_change_turns_it():
    found = counterfactual(Tree.parse("C(a, b)"), {"a": 0.1, "b": 0.1}, threshold=0.9)
    assert found.single is None
    assert {change.feature for change in found.joint} == {"a", "b"}
    assert "It would be yes if all of these changed together:" in str(found)


def test_whole_numbers_move_in_whole_steps():
    tree = Tree.parse("bed[0 at 0, 1 at 5]")
    assert counterfactual(tree, {"bed": 1}).single.after == 3
    assert isinstance(counterfactual(tree, {"bed": 1}).single.after, int)
    assert counterfactual(tree, {"bed": 1.0}).single.after == pytest.approx(2.5)
    assert counterfactual(tree, {"bed": 1.0}, step={"bed": 0.75}).single.after == 3.25
    seen = {"bed": [0.0, 1.0, 4.0, 7.0]}
    assert counterfactual(tree, {"bed": 1.0}, X=seen).single.after == 3.0
    assert counterfactual(tree, {"bed": 1}, X={"bed": [0.5, 4]}).single.after == pytest.approx(2.5)
    with pytest.raises(ValueError, match="the step of 'bed' must be positive, got 0"):
        counterfactual(tree, {"bed": 1}, step={"bed": 0})


def test_a_band_between_two_steps_is_stepped_over():
    tree = Tree.parse("HD(C(x[0 at 4.2, 1 at 4.4], x[1 at 4.6, 0 at 4.8]), x[0 at 8, 1 at 10])")
    assert counterfactual(tree, {"x": 3.0}).single.after == pytest.approx(4.3, abs=0.1)
    assert counterfactual(tree, {"x": 3}).single.after == 10
    assert counterfactual(tree, {"x": 3}).joint[0].after == 10


def test_values_stay_within_what_was_seen():
    tree = Tree.parse("x[0 at 0, 1 at 10]")
    assert counterfactual(tree, {"x": 1.0}, X={"x": [0.5, 1.5, 4.9]}).single is None
    found = counterfactual(tree, {"x": 1.0}, X={"x": [0.5, 1.5, 2.5, 5.5]})
    assert found.single.after == pytest.approx(5.0)
    quartiles = np.quantile([0.5, 1.5, 2.5, 5.5], [0.25, 0.75])
    assert found.single.size == pytest.approx(4.0 / (np.diff(quartiles)[0] / 1.349))
    assert "spread of its column in X" in str(found)


def test_categories_and_truths_of_0_and_1_are_exchanged():
    tree = Tree.parse('A(k[0.9 if "red", 0.1 if "blue", 0.6 if "green", other 0.2]: 0.8, flag: 0.2)')
    found = counterfactual(tree, {"k": "blue", "flag": 0})
    assert [(row.feature, row.before, row.after, row.size) for row in found.rows] == [("k", "blue", "red", 1.0)]
    assert counterfactual(tree, {"k": "blue", "flag": 0}, X={"k": ["blue", "grey"], "flag": [0, 1]}).joint is None
    both = counterfactual(tree, {"k": "pink", "flag": 0}, X={"k": ["green", "pink"], "flag": [0, 1]})
    assert {change.feature: change.after for change in both.joint} == {"k": "green", "flag": 1}
    flipped = counterfactual(
        tree, {"k": "green", "flag": 1}, threshold=0.6, X={"k": ["green", "green"], "flag": [0, 1]}
    )
    assert [(row.feature, row.after) for row in flipped.rows] == [("flag", 0)]


def test_a_category_that_changes_leaves_no_needless_change_of_numbers():
    tree = Tree.parse('A(k[1 if "red", 0 if "blue"]: 0.8, x[0 at 0, 1 at 10]: 0.2)')
    found = counterfactual(tree, {"k": "blue", "x": 2.0})
    assert [(change.feature, change.after) for change in found.joint] == [("k", "red")]
    assert "Changing several values together would not need less." in str(found)


def test_missing_values_stay_as_stated_or_are_refused():
    tree = Tree.parse("A(a[0 at 0, 1 at 9, missing 0.2], b)")
    found = counterfactual(tree, {"a": None, "b": 0.3})
    assert [(row.feature, round(row.after, 6)) for row in found.rows] == [("b", 0.8)]
    with pytest.raises(ValueError, match=r"'b' is missing, .* ask `unknown`"):
        counterfactual(tree, {"a": 1, "b": None})


def test_to_frame_has_a_line_for_each_feature_that_can_turn_it():
    frame = counterfactual(Tree.parse("A(a, b)"), {"a": 0.2, "b": 0.6}).to_frame()
    assert frame["feature"].tolist() == ["a", "b"]
    assert frame["size"].tolist() == pytest.approx([0.2, 0.2])


def test_a_lever_moves_outward_in_steps_and_stays_in_range():
    lever = Action("x", 3, scale=2.0, low=1, high=6, step=1.0)
    assert [lever.moved(size) for size in (-9, -0.9, -0.49, 0.5, 1.2, 9)] == [1, 2, 3, 4, 5, 6]
    assert lever.farthest == 1.5


@pytest.mark.parametrize("kind", [dict, pd.Series, lambda row: pd.DataFrame([row])])
def test_a_column_that_the_tree_does_not_use_may_be_immutable(kind):
    found = counterfactual(Tree.parse("A(a, b)"), kind({"a": 0.2, "b": 0.3, "sex": 1}), immutable=["sex", "a"])
    assert [row.feature for row in found.rows] == ["b"]


@pytest.mark.parametrize(
    ("formula", "case", "more", "granted"),
    [
        ("x[0 at 0, 1 at 10]", {"x": np.inf}, {}, "x stays as it is"),
        ("A(x[0 at 0, 1 at 9, missing 0]: 0.9, b: 0.1)", {"x": None, "b": 0}, {}, "x stays missing; b is 0 or 1"),
        ("x[0 at 0, 1 at 10]", {"x": 1.0}, {"X": {"x": [0, 2.5]}}, "values stay within the range seen in X"),
        ('k[0.1 if "red", 0.2 if "blue", other 0.9]', {"k": "red"}, {}, "k is a category that the tree names"),
        ("C(x, not x)", {"x": 0}, {"threshold": 0.1}, "x is 0 or 1"),
    ],
)
def test_none_exists_is_said_with_what_it_takes_for_granted(formula, case, more, granted):
    found = counterfactual(Tree.parse(formula), case, **more)
    assert found.joint is found.single is None
    assert str(found).endswith(f"none exists.\nThis takes for granted that {granted}.")


def test_a_category_seen_in_the_table_counts_although_the_tree_does_not_name_it():
    tree = Tree.parse('k[0.1 if "red", 0.2 if "blue", other 0.9]')
    assert counterfactual(tree, {"k": "red"}, X={"k": ["red", None, "green"]}).single.after == "green"


def test_a_joint_change_is_found_beyond_a_band_that_lies_between_two_steps():
    band = "HD(C(x[0 at 4.2, 1 at 4.4], x[1 at 4.6, 0 at 4.8]), x[0 at 8, 1 at 10])"
    tree = Tree.parse(f"C({band}, y[0 at 0, 1 at 10])")
    found = counterfactual(tree, {"x": 3, "y": 1.0})
    assert found.single is None
    assert [(change.feature, change.after) for change in found.joint if change.feature == "x"] == [("x", 10)]
    assert truth(tree, {"x": 3, "y": 1.0}, found.joint) > 0.5


def test_as_many_digits_are_written_as_turn_the_decision():
    tree = Tree.parse("C(x[0 at 1000, 1 at 1000.0005], x[1 at 1000.001, 0 at 1000.0015])")
    found = counterfactual(tree, {"x": 1.0}, threshold=0.4)
    assert tree.evaluate({"x": [float(found.single.after_says)]})[0] > 0.4
    assert tree.evaluate({"x": [float(found.joint[0].after_says)]})[0] > 0.4
    found = counterfactual(Tree.parse("x[0 at 0, 1 at 3.6]"), {"x": 0.1234567}, step={"x": 0.8387})
    assert float(found.single.after_says) == found.single.after == 1.8008567


def test_steps_are_counted_in_decimals():
    found = counterfactual(Tree.parse("x[0 at 0, 1 at 0.6]"), {"x": 0.1}, step={"x": 0.1})
    assert found.single.after == 0.4  # 0.3 is half true; 0.1 + 0.2 in binary would be a little more


def test_a_flat_top_does_not_make_a_single_change_coarse():
    tree = Tree.parse("0.4966(not a: 0.603, a: 0.3725, 0.0331(not b: 0.5, a: 0.5): 0.0245)")
    case, tried = {"a": 0.526, "b": 0.2538}, np.linspace(0, 1, 100_001)
    truths = tree.evaluate({"a": tried, "b": [case["b"]] * len(tried)})
    threshold = float(np.quantile(truths, 0.3))
    found = {row.feature: row for row in counterfactual(tree, case, threshold=threshold).rows}
    yes = truth(tree, case) > threshold
    nearest = np.abs(tried[(truths > threshold) != yes] - case["a"]).min()
    assert found["a"].size <= nearest + 1e-6


def test_where_only_cuts_count_the_side_is_told():
    tree = Tree.parse("DP(area[above 960], CP(area[above 740], smooth[above 0.14]))")
    found = counterfactual(tree, {"area": 856.9, "smooth": 0.1135})
    assert {each.feature: each.after_says for each in found.rows} == {"area": "above 960", "smooth": "above 0.14"}
    back = counterfactual(tree, {"area": 1000.0, "smooth": 0.2})
    assert [each.after_says for each in back.rows] == ["at most 740"]
    assert all(truth(tree, {"area": 1000.0, "smooth": 0.2}, [each]) == 0.0 for each in back.rows)


MARKS = st.integers(-8, 8).map(lambda half: half / 2)


@example("up to", 1.0, 1, None)
@example("above", 0.5, 6, None)
@example("up to", 1.0, 1.0, [1.0, 2.0])
@given(
    st.sampled_from(["above", "up to"]),
    MARKS | st.integers(-500, 500).map(lambda k: k / 10),
    st.integers(-9, 9) | st.integers(-90, 90).map(lambda k: k / 10),
    st.none() | st.lists(st.integers(-9, 9).map(float), min_size=2, max_size=4) | st.lists(MARKS, min_size=2),
)
def test_a_crisp_cut_is_crossed_whenever_a_value_in_reach_lies_beyond_it(side, mark, value, seen):
    tree = Tree.parse(f"n[{side} {mark}]")
    found = counterfactual(tree, {"n": value}, X=None if seen is None else {"n": seen * 10})
    reach = [mark - 2.0, mark, mark + 2.0] if seen is None else seen
    beyond = [other for other in reach if (other > mark) != (value > mark)]
    if beyond:
        assert (found.single.after > mark) != (value > mark)
        assert seen is not None or isinstance(found.single.after, int) == isinstance(value, int)
    if seen and not beyond:
        assert found.single is None


@given(st.integers(1, 99), st.integers(1, 99), st.floats(1e-13, 1e-3), st.booleans())
def test_a_change_far_below_the_scale_is_told_in_few_digits_that_turn_the_decision(weight, tenths, margin, up):
    tree = Tree.parse(f"A(a[0 at 0, 1 at 10]: {weight / 100}, b[0 at 0, 1 at 10]: {1 - weight / 100})")
    values = {"a": tenths / 10, "b": 5.0}
    threshold = float(truth(tree, values)) + (margin if up else -margin)
    found = counterfactual(tree, values, threshold=threshold)
    for change in found.rows:
        assert len(change.after_says.split(".")[-1]) <= 2 or change.size > 0.01
        told = truth(tree, {**values, change.feature: float(change.after_says)})
        assert (told > threshold) == found.other


def test_a_new_value_has_no_more_decimals_than_its_column():
    tree = Tree.parse("pulse[half at 79, slope 0.5]")
    seen = {"pulse": [60.0, 71.5, 78.5, 79.0, 79.5, 90.5, 99.0]}
    assert counterfactual(tree, {"pulse": 79.0}, X=seen).single.after_says == "79.1"
    assert str(counterfactual(tree, {"pulse": 79.0}, X=seen)).startswith(
        "The answer is no: the truth is 0.5, exactly where it turns.\n"
    )


def test_a_joint_change_that_is_told_like_single_ones_is_not_told():
    tree = Tree.parse("A(a[0 at 0, 1 at 10], b[0 at 0, 1 at 10])")
    said = str(counterfactual(tree, {"a": 4.99999, "b": 4.99999}))
    assert "Changing several values together would need hardly less." in said
    assert said.count("<0.001") == 2


def test_of_several_classes_it_says_that_it_is_about_one_tree():
    trees = [Tree.parse(f"{name}[0 at 0, 1 at 10]") for name in "abc"]
    features = tuple(Feature(name, "number") for name in "abc")
    decision = Decision(tuple(trees), (Link(10.0, 0.5),) * 3, ("x", "y", "z"), features)
    row = {"a": 3.0, "b": 4.0, "c": 9.0}
    found = counterfactual(decision, row, label="y")
    assert decision.predict({name: [value] for name, value in {**row, "b": found.single.after}.items()}) == ["z"]
    assert "It would be" not in str(found)
    assert "The tree would say y if one of these values changed" in str(found)
    assert str(found).endswith("This is about the tree of y alone; another class is predicted where its tree is surer.")
    assert "It would be yes if" in str(counterfactual(trees[0], row))
