from itertools import combinations, product

import numpy as np
import pytest
from random_cases import completions, random_case

from baconlogic import Gate, Leaf, Tree
from baconlogic.core.criteria import Ramp
from baconlogic.explain import _reasons as reasoning
from baconlogic.explain import reasons


def names(facts):
    return {fact.feature for fact in facts}


def subsets(features):
    return [set(some) for size in range(len(features) + 1) for some in combinations(features, size)]


def turning(tree, values, threshold, frees):
    """Whether the decision could turn with each of these sets of values free, by bounds."""
    rows = {name: [None if name in free else value for free in frees] for name, value in values.items()}
    low, high = tree.bounds(rows)
    yes = tree.evaluate({name: [value] for name, value in values.items()})[0] > threshold
    return low <= threshold if yes else high > threshold


def test_reasons_hold_and_are_minimal_among_all_subsets():
    rng = np.random.default_rng(0)
    none_exists = 0
    for _ in range(100):
        tree, values, kind = random_case(rng)
        threshold = float(np.round(rng.uniform(0.2, 0.8), 3))
        found = reasons(tree, values, threshold=threshold)
        features = set(values)
        kept = names(found.sufficient)
        free = [features - some for some in subsets(sorted(kept))]
        can_turn = turning(tree, values, threshold, free)
        assert not can_turn[-1]  # all of the reason is kept, and the decision stands
        assert can_turn[:-1].all()  # and with any part of it alone it does not
        truths = tree.evaluate(completions(rng, values, kind, features - kept, 300))
        assert ((truths > threshold) == found.decision).all()
        if found.contrastive is None:
            none_exists += 1
            assert not turning(tree, values, threshold, [features])[0]
            continue
        can_turn = turning(tree, values, threshold, subsets(sorted(names(found.contrastive))))
        assert can_turn[-1]
        assert not can_turn[:-1].any()
        others = [some for some in subsets(sorted(features)) if not names(found.contrastive) <= some]
        assert found.more == turning(tree, values, threshold, others).any()
    assert 0 < none_exists < 100


def test_one_of_several_changes_is_told_as_an_example():
    case = {"a": 0.0, "b": 0.0}
    assert "A change of just this, for example, could turn it to yes:" in str(reasons(Tree.parse("HD(a, b)"), case))
    assert "A change of just these 2 could turn it to yes:" in str(reasons(Tree.parse("HC(a, b)"), case))
    assert "A change of just this could turn it to yes:" in str(reasons(Tree.parse("a"), {"a": 0.0}))


def test_reasons_agree_with_every_completion_of_discrete_cases():
    """Without bounds: tables and truths, each value tried in each combination."""
    rng = np.random.default_rng(1)
    for _ in range(60):
        tree, values, _ = random_case(rng, most=5, again=0.0, kinds=("table",))
        found = reasons(tree, values, threshold=0.5)
        everything = dict(zip(values, zip(*product("xyz", repeat=len(values)), strict=True), strict=True))
        other = (tree.evaluate({name: list(column) for name, column in everything.items()}) > 0.5) != found.decision
        same = {name: np.array(everything[name]) == values[name] for name in values}

        def turns(free, other=other, same=same, values=values):
            agrees = [same[name] for name in values if name not in free]
            return bool(other[np.logical_and.reduce(agrees) if agrees else slice(None)].any())

        kept, features = names(found.sufficient), set(values)
        assert not turns(features - kept)
        assert all(turns(features - kept | {name}) for name in kept)
        assert (found.contrastive is None) == (not turns(features))
        if found.contrastive is not None:
            changed = names(found.contrastive)
            assert turns(changed)
            assert not any(turns(changed - {name}) for name in changed)


def test_reasons_need_two_evaluations_a_feature_and_one_for_each_that_could_turn_it_with_others(monkeypatch):
    partial = reasoning._PartialCase
    asked, bounded, worst, bounds = [], [], partial._evaluated, Tree.bounds
    monkeypatch.setattr(partial, "_evaluated", lambda self, free: asked.append(free) or worst(self, free))
    monkeypatch.setattr(Tree, "bounds", lambda self, X: bounded.append(X) or bounds(self, X))
    rng = np.random.default_rng(1)
    for _ in range(200):
        tree, values, _ = random_case(rng, again=0.0)
        asked.clear(), bounded.clear()
        found = reasons(tree, values, threshold=float(rng.uniform(0.2, 0.8)))
        others = max(len(found.contrastive or ()) - 1, 0)
        assert len(asked) <= 2 * len(values) + 1 + others  # and once with all values free
        assert len(bounded) == 1  # the case itself
    features = [f"x{i}" for i in range(100)]
    found = reasons(Tree(Gate(features, 0.5)), dict.fromkeys(features, 0.8))
    assert len(found.contrastive) == 38  # as 62 of 100 at 0.8 are just short of one half
    assert len(found.sufficient) == 63


def test_a_mandatory_input_that_is_not_true_is_reason_enough():
    found = reasons(Tree.parse("C(a, b, c)"), {"a": 0, "b": 0.9, "c": 1})
    assert names(found.sufficient) == {"a"}
    assert names(found.contrastive) == {"a"}
    assert found.decision is False
    assert str(found) == (
        "The answer is no because, whatever the other values are:\n"
        "  a is 0 (not true)\n"
        "(1 of 3 values; the other 2 could be anything)\n"
        "A change of just this could turn it to yes:\n"
        "  a is 0 (not true)"
    )


def test_a_band_is_seen_whole():
    tree = Tree.parse("C(x[0 at 1, 1 at 3], x[1 at 6, 0 at 8], y)")
    found = reasons(tree, {"x": 9, "y": 0.9})
    assert names(found.sufficient) == names(found.contrastive) == {"x"}
    assert "x is 9 (high: fully true, low: not true)" in str(found)
    assert "(1 of 2 values; the other could be anything)" in str(found)


def test_nothing_turns_a_decision_that_every_case_gets():
    found = reasons(Tree.parse("A(a, b)"), {"a": 1, "b": 1}, threshold=-0.1, label="M")
    assert found.sufficient == ()
    assert found.contrastive is None
    assert str(found).startswith("The answer is M whatever the values are, so no change could turn it to not M")


def test_a_missing_value_is_a_fact_with_the_stated_truth():
    tree = Tree.parse("C(a[0 at 0, 1 at 9, missing 0.1], b)")
    found = reasons(tree, {"a": None, "b": 1.0})
    assert names(found.sufficient) == {"a"}
    assert found.truth == pytest.approx(tree.evaluate({"a": [np.nan], "b": [1.0]})[0])
    assert "a is missing (taken as 10% true)" in str(found)


@pytest.mark.parametrize(
    "a",
    ["a[0.4 at 0, 0.5 at 9, missing 0.1]", "A(a[0.4 at 0, 0.5 at 9, missing 0.1], a[0.5 at 0, 0.4 at 8, missing 0.1])"],
)
def test_a_free_value_may_also_stay_missing(a):
    """Every known value is truer than a missing one; freeing it must not count on one of those."""
    found = reasons(Tree.parse(f"A({a}: 0.5, b: 0.5)"), {"a": None, "b": 1.0}, threshold=0.19)
    assert found.decision is True
    assert names(found.sufficient) == names(found.contrastive) == {"b"}


def test_an_unknown_value_without_stated_truth_is_refused_only_while_the_decision_is_open():
    tree = Tree.parse("C(a, b, c)")
    found = reasons(tree, {"a": None, "b": 0.1, "c": 0.9}, threshold=0.7)
    assert names(found.sufficient) == {"b"}
    assert found.truth is None
    with pytest.raises(ValueError, match=r"'a' is missing, .* still open .* ask `unknown`"):
        reasons(tree, {"a": None, "b": 0.9, "c": 0.9})


def test_to_dict_is_plain_data():
    found = reasons(Tree.parse("C(a, b)"), {"a": 0.2, "b": 0.9}, label="grant").to_dict()
    assert found["decision"] == "not grant"
    assert found["contrastive"] == [{"feature": "a", "value": 0.2, "says": "a is 0.2 (20% true)"}]


def test_each_fact_is_one_line_whatever_names_hold():
    tree = Tree(Gate([Leaf("a\nb"), Leaf("c", Ramp.between(0, 9, unit="m\n"), "d\n")], "C"))
    found = reasons(tree, {"a\nb": 0.9, "c": 8}, label="f\n")
    assert len(found.sufficient) == 2
    assert len(str(found).split("\n")) == 2 + 2 + len(found.contrastive)


def test_a_crisp_condition_is_told_by_the_side_that_a_value_is_on():
    tree = Tree.parse(
        'CP(area[above 720], not grade[above 1, up to 3], kind[1 if "a", 1 if "b", other 0], home[1 if "no", other 0])'
    )
    said = [str(fact) for fact in reasons(tree, {"area": 900, "grade": 5, "kind": "b", "home": "no"}).sufficient]
    assert said == [
        "area is 900 (above 720)",
        "grade is 5 (at most 1 or above 3)",
        "kind is 'b' (a or b)",
        "home is 'no'",
    ]
    (fact,) = reasons(tree, {"area": 300, "grade": 5, "kind": "b", "home": "no"}).sufficient
    assert str(fact) == "area is 300 (at most 720)"


def test_a_long_list_of_categories_is_counted_and_a_category_not_said_twice():
    named = ", ".join(f'1 if "{each}"' for each in "abcdef")
    tree = Tree.parse(f'HC(model[{named}, other 0], kind[1 if "x", 1 if "y", other 0], by[0 if "z", other 1])')
    said = str(reasons(tree, {"model": "e", "kind": "x", "by": "p"}))
    assert "model is 'e' (one of 6 listed)" in said
    assert "kind is 'x' (x or y)" in said
    said = str(reasons(tree, {"model": "q", "kind": "x", "by": "p"}))
    assert "model is 'q' (none of 6 listed)" in said
    assert "by is 'z'\n" in str(reasons(tree, {"model": "e", "kind": "x", "by": "z"}))
