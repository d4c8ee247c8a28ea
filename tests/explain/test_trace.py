import re

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from random_cases import random_case

from baconlogic import Decision, Gate, Leaf, Tree
from baconlogic.core.answers import Feature, Link
from baconlogic.core.criteria import Ramp
from baconlogic.core.words import number
from baconlogic.explain._trace import trace

JOB = Tree.parse(
    "job = SC(pay = HC(salary[0 at 20, 1 at 60]: 0.7, not tax[0 at 10, 1 at 50]: 0.3): 0.6, interest: 0.4)"
)
CASE = {"salary": 50, "tax": 20, "interest": 0.1}


def test_every_node_has_a_step_with_its_truth():
    found = trace(JOB, CASE)
    truths = JOB.evaluate({name: [value] for name, value in CASE.items()}, nodes=True)
    assert {step.path: step.truth for step in found.steps} == {path: truth[0] for path, truth in truths.items()}
    assert [step.value for step in found.steps] == [None, None, 50, None, 20, 0.1]
    assert [step.weight for step in found.steps] == [None, 0.6, 0.7, 0.3, None, 0.4]
    assert found.margin == found.truth - 0.5
    assert found.decision is False
    assert found.probability is None


def test_it_reads_as_the_tree_with_truths_and_values():
    assert str(trace(JOB, CASE)) == (
        "true\n"
        "38.6%  job: nice to have most of (SC) <- kept low most by interest\n"
        "  70%  ├─ 60%  pay: must have all of (HC) <- kept high most by salary\n"
        "  75%  │  ├─ 70%  salary high (20 to 60) <- 50\n"
        "  75%  │  └─ 30%  tax low (50 to 10) <- 20\n"
        "  10%  └─ 40%  interest <- 0.1\n"
        "\n"
        "The truth is 0.3864, 0.114 below the threshold 0.5: the answer is no."
    )


@settings(max_examples=40)
@given(st.integers(0, 2**32 - 1))
def test_the_driver_moves_its_gate_most(seed):
    tree, values, _ = random_case(np.random.default_rng(seed), most=6)
    found = trace(tree, values)
    assert found.truth == tree.evaluate({name: [value] for name, value in values.items()})[0]
    truths = {step.path: step.truth for step in found.steps}
    for step in found.steps:
        node = tree[step.path]
        if isinstance(node, Gate) and step.driver is not None:
            below = [truths[(*step.path, i)] for i in range(len(node.inputs))]
            extreme = 0.0 if step.high else 1.0
            letters = [f"i{k}" for k in range(len(below))]
            alone = Tree(Gate(letters, node.andness, node.weights))
            moved = [
                abs(
                    alone.evaluate({**{n: [t] for n, t in zip(letters, below, strict=True)}, name: [extreme]})[0]
                    - step.truth
                )
                for name in letters
            ]
            assert moved[step.driver[-1]] == pytest.approx(max(moved))


def test_a_missing_value_is_said_to_be_missing():
    found = trace(Tree.parse("C(a[0 at 0, 1 at 9, missing 0.3], b)"), {"a": None, "b": 1})
    assert "<- missing, taken as 30% true" in str(found)
    assert found.steps[1].value is None
    with pytest.raises(ValueError, match=r"'b' is missing, and no truth for missing values is stated.*ask `unknown`"):
        trace(Tree.parse("C(a, b)"), {"a": 1, "b": None})


def test_units_and_names_are_said():
    found = trace(
        Tree.parse('C(big = area[0 at 10, 1 at 90, unit "mm2"], k[1 if "red", other 0])'), {"area": 20, "k": "blue"}
    )
    assert "<- 20 mm2" in str(found)
    assert "<- 'blue'" in str(found)
    assert "kept low most by k" in str(found)


def test_a_decision_gives_probability_and_label():
    features = tuple(Feature(name, "number") for name in CASE)
    model = Decision((JOB,), (Link(10.0, 0.35),), ("stay", "go"), features)
    found = trace(model, CASE)
    assert found.decision == "go"
    assert found.probability == pytest.approx(model.predict_proba({k: [v] for k, v in CASE.items()})[0, 1])
    assert str(found).endswith("above the threshold 0.35: the answer is go (probability of go: 59%).")
    asked = trace(model, CASE, threshold=0.5)
    assert asked.decision == "stay"
    assert "kept high most by pay" in str(found)
    assert "kept low most by interest" in str(asked)


def test_certainty_is_not_claimed_where_it_is_not():
    model = Decision((Tree("a"),), (Link(100.0, 0.5),), (0, 1), (Feature("a", "truth"),))
    assert "(probability of 1: >99.99%)" in str(trace(model, {"a": 1}))
    assert "(probability of 1: <0.01%)" in str(trace(model, [0.0]))


def test_deep_trees_are_traced():
    node = Tree("a").root
    for i in range(1500):
        node = Gate([node, f"b{i}"], "A")
    found = trace(Tree(node), {"a": 1.0, **{f"b{i}": 0.5 for i in range(1500)}})
    assert len(found.steps) == 3001
    assert len(str(found).splitlines()) == 3004


def test_to_dict_is_plain_data():
    found = trace(JOB, CASE).to_dict()
    assert found["steps"][2] == {
        "path": [0, 0],
        "says": "salary high (20 to 60)",
        "value": 50,
        "weight": 0.7,
        "truth": 0.75,
        "driver": None,
        "high": None,
    }
    assert Tree.parse(found["tree"]) == JOB


def test_each_node_is_one_line_whatever_names_units_and_labels_hold():
    tree = Tree(Gate([Leaf("a\nb", Ramp.between(0, 9, unit="m\n")), Gate(["c", "d\n"], "C", name="e\n")], "C"))
    text = str(trace(tree, {"a\nb": 1, "c": 0.2, "d\n": 0.3}, label="f\n"))
    assert len(text.split("\n")) == 1 + 5 + 2
    assert "a\\nb" in text


def test_a_row_may_come_in_any_shape():
    tree, names = Tree.parse("A(a[0 at 0, 1 at 10], b[0 at 0, 1 at 10])"), ["b", "a"]
    said = str(trace(tree, {"a": 1, "b": 8}))
    frame = pd.DataFrame({"z": ["p"], "b": [8], "a": [1]}, index=[7])
    polar = pl.DataFrame({"b": [8], "a": [1]})
    for row in (frame, frame.iloc[0], frame[names].iloc[0], polar, polar.row(0, named=True), [frame.iloc[0].to_dict()]):
        assert str(trace(tree, row)) == said
    for row in (np.array([8, 1]), np.array([[8, 1]]), [8, 1], polar.row(0), pd.Series([8, 1])):
        assert str(trace(tree, row, columns=names)) == said
    with pytest.raises(ValueError, match="two values of the row have the same name"):
        trace(tree, pd.Series([1, 2, 3], index=["a", "b", "b"]))


def test_whole_numbers_are_whole_also_beside_text():
    tree = Tree.parse('A(n[0 at 0, 1 at 9], k[1 if "a", other 0])')
    row = pd.DataFrame({"n": [4], "k": ["a"]}).iloc[0]
    for values in (row.to_list(), row.to_numpy(), [4, "a"], [np.int64(4), "a"]):
        assert isinstance(trace(tree, values, columns=["n", "k"]).steps[1].value, int)


def test_conditions_and_points_are_counted():
    three = Tree.parse("A(a[above 1], b[above 1], c[above 1, missing 0.5])")
    assert "(2 of 3 points; it takes at least 2)" in str(trace(three, {"a": 2, "b": 2, "c": 0}))
    assert "(1.5 of 3 points; it takes at least 2)" in str(trace(three, {"a": 2, "b": 0, "c": None}))
    checklist = Tree.parse("A(a[above 1], b[above 1], c[above 1])")
    assert "(2 of 3; it takes at least 2)" in str(trace(checklist, {"a": 2, "b": 2, "c": 0}))
    points = Tree.parse("A(a[above 1]: 0.5, b[0 at 0, 1 at 2]: 0.3, c[above 1]: 0.2)")
    assert "(6.5 of 10 points; it takes more than 4.5)" in str(trace(points, {"a": 2, "b": 1, "c": 0}, threshold=0.45))
    assert "it takes" not in str(trace(Tree.parse("CP(a[above 1], b[above 1])"), {"a": 2, "b": 2}))


def test_what_keeps_a_gate_low_is_called_by_its_feature_also_where_it_is_negated():
    tree = Tree.parse("CP(not hd[above 235, up to 425], speed[above 30])")
    assert "kept low most by hd\n" in str(trace(tree, {"hd": 340, "speed": 66}))


@given(st.integers(0, 1000), st.sampled_from([0.0, 1e-16, 3e-15, 1e-9, 3e-6, 1e-4, 0.01]), st.booleans())
def test_what_decides_is_told_apart_or_told_as_a_tie(tenths, margin, up):
    tree = Tree.parse("A(a[0 at 0, 1 at 100]: 0.35, b[0 at 0, 1 at 10]: 0.35, c[0 at 0, 1 at 10]: 0.3)")
    case = {"a": tenths / 10, "b": 7.3, "c": 6.1}
    truth = float(tree.evaluate({name: [value] for name, value in case.items()})[0])
    found = trace(tree, case, threshold=truth + (margin if up else -margin))
    said = str(found).splitlines()[-1]
    shown = [float(each) for each in re.findall(r"(?<![\d.])\d[\d.e-]*\d|\d", said)]
    truth_told, points, _, needed, *_, turn = shown
    if abs(found.margin) < 1e-13:
        assert f"exactly at the threshold {number(turn)}" in said
        assert (truth_told, points) == (turn, needed)
        assert ("only by rounding" in said) == (found.margin != 0.0)
    else:
        assert (truth_told > turn) == (points > needed) == found.decision
        assert truth_told != turn
        assert points != needed
