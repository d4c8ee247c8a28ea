import numpy as np
import pytest
from hypothesis import given, settings
from strategies import trees

from baconlogic import Gate, Tree
from baconlogic.core.decision import Decision, Feature, Link
from baconlogic.explain._compare import compare

X = {name: np.random.default_rng(i).random(50) for i, name in enumerate("abcdx")}


@given(trees)
@settings(max_examples=20)
def test_a_tree_is_the_same_as_itself(tree):
    found = compare(tree, Tree.parse(tree.formula()))
    assert found.same
    assert (found.only_first, found.only_second, found.changed) == ((), (), ())
    assert str(found) == "The same tree."


@given(trees, trees)
@settings(max_examples=20)
def test_comparing_the_other_way_round_turns_everything_round(one, other):
    found, back = compare(one, other), compare(other, one)
    assert (found.first, found.only_first, set(found.common)) == (back.second, back.only_second, set(back.common))
    assert {(each.feature, each.first) for each in found.changed} == {(e.feature, e.second) for e in back.changed}
    assert str(found)
    assert found.to_dict()["same"] == (one == other)


def test_the_same_tree_decides_alike():
    tree = Tree.parse("HC(a, b)")
    found = compare(tree, tree, X)
    assert str(found) == "The same tree.\n\nAll 50 rows are decided alike, with the same truths."
    assert (found.decisions.agreement, found.decisions.kappa, found.decisions.largest) == (1.0, 1.0, 0.0)
    assert not compare(tree, Tree.parse("HC(b, a)")).same


def test_what_changed_is_told_feature_by_feature():
    one = Tree.parse("HC(a[0 at 1, 1 at 3]: 0.6, b: 0.2, d: 0.2)")
    other = Tree.parse("SC(a[0 at 1, 1 at 5]: 0.6, HC(b: 0.9, c: 0.1): 0.4)")
    found = compare(one, other)
    assert (found.only_first, found.only_second, found.common) == (("d",), ("c",), ("a", "b"))
    assert str(found) == "\n".join(
        [
            "           first tree             second tree",
            "leaves     3                      3",
            "gates      1                      2",
            "the whole  must have all of (HC)  nice to have most of (SC)",
            "turns at   0.5                    0.5",
            "only here  d                      c",
            "",
            "Used by both, but not alike:",
            "  a: role mandatory -> desired; more than half true above about 2 -> above about 3",
            "  b: weight 20% -> 36%; role mandatory -> mandatory within a part",
        ]
    )


def test_a_criterion_that_only_got_steeper_is_a_change():
    one, other = Tree.parse("HC(a[0 at 1, 1 at 3], b)"), Tree.parse("HC(a[0 at 0, 1 at 4], b)")
    (change,) = compare(one, other).changed
    assert str(change) == "criterion a high (1 to 3) -> a high (0 to 4)"


def test_a_role_for_the_whole_can_change_alone():
    one, other = Tree.parse("HC(a: 0.5, HC(b, c): 0.5)"), Tree.parse("SC(a: 0.5, HC(b, c): 0.5)")
    changes = {each.feature: str(each) for each in compare(one, other).changed}
    assert changes["a"] == "role mandatory -> desired"
    assert changes["b"] == "role mandatory -> mandatory within a part"


def test_trees_that_share_nothing():
    found = compare(Tree.parse("HC(a, b)"), Tree.parse("not c"), {"a": [0, 1.0], "b": [1, 1.0], "c": [0, 1.0]})
    assert "They have no feature in common." in str(found)
    assert found.second.root == "one statement"
    assert found.decisions.differ == (0, 1)
    assert (found.decisions.only_first, found.decisions.only_second, found.decisions.kappa) == (1, 1, -1.0)


def test_only_the_gates_differ():
    text = str(compare(Tree.parse("HC(a, SC(b, c))"), Tree.parse("HC(a, SC-(b, c))")))
    assert text.endswith(
        "Used alike: a, b, c.\nThey differ in the names, the order or the exact numbers of their gates only."
    )


def test_decisions_are_compared_row_by_row():
    from sklearn.metrics import cohen_kappa_score

    one, other = Tree.parse("HC(a, b)"), Tree.parse("HD(a, c)")
    found = compare(one, other, X, threshold=0.4).decisions
    yes, also = one.evaluate(X) > 0.4, other.evaluate(X) > 0.4
    assert found.differ == tuple(np.flatnonzero(yes != also))
    assert found.agreement == np.mean(yes == also)
    assert found.kappa == pytest.approx(cohen_kappa_score(yes, also))
    apart = np.abs(one.evaluate(X) - other.evaluate(X))
    assert (found.largest, found.largest_at) == (apart.max(), apart.argmax())
    assert f"The truths are farthest apart in row {apart.argmax()}" in str(found)
    assert " and 9 more" in str(found) or len(found.differ) != 19


def test_a_table_and_names_are_read_for_each_model_by_itself():
    features = (Feature("a", "number"), Feature("b", "number"))
    saved = Decision((Tree.parse("HC(a, b)"),), (Link(8.0, 0.3),), (0, 1), features)
    found = compare(saved, Tree.parse("HC(a, b)"), np.array([[0.9, 0.9], [0.4, 0.4]]), columns=["a", "b"])
    assert not found.same
    assert (found.first.threshold, found.second.threshold) == (0.3, 0.5)
    assert found.decisions.differ == (1,)
    assert compare(saved, Tree.parse("HC(a, b)"), threshold=0.4).same


def test_what_cannot_be_asked_is_said():
    with pytest.raises(ValueError, match="needs at least one row"):
        compare(Tree("a"), Tree("b"), {"a": [], "b": []})
    with pytest.raises(TypeError, match="expected a Tree, a Decision or a fitted classifier, got int"):
        compare(Tree("a"), 3)


def test_trees_that_differ_in_a_name_only_are_not_said_to_differ_in_numbers():
    one, other = (Tree(Gate(["a", "b"], "C", name=name)) for name in ("first", "second"))
    assert "They differ in the names, the order" in str(compare(one, other))


def test_trees_that_speak_for_different_classes_are_not_compared():
    features = [Feature("a", "truth")]
    one, other = (
        Decision([Tree("a")], [Link(5, 0.5)], classes, features) for classes in (("no", "yes"), ("yes", "no"))
    )
    with pytest.raises(ValueError, match="the first tree speaks for 'yes', the second for 'no'"):
        compare(one, other)
    assert compare(one, Tree("a")).first == compare(Tree("a"), one).first
