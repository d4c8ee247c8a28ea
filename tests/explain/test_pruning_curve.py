import numpy as np
import pytest

from baconlogic import BaconClassifier, Gate, Leaf, Tree, datasets
from baconlogic.core.criteria import Sigmoid
from baconlogic.edit import remove
from baconlogic.explain._pruning_curve import pruning_curve
from baconlogic.learn import search


def cells():
    """Return the breast cancer data and a left chain over all 30 features, the most telling at the top."""
    data = datasets.breast_cancer()
    telling = np.argsort([abs(np.corrcoef(column, data.y)[0, 1]) for column in data.X.T])
    node = None
    for i in telling:
        leaf = Leaf(data.feature_names[i], Sigmoid.from_column(data.X[:, i]))
        node = leaf if node is None else Gate([node, leaf], "A", [0.6, 0.4])
    return data, Tree(node)


@pytest.fixture(scope="module")
def curve():
    data, tree = cells()
    found = pruning_curve(tree, data.X, data.y, label=1, columns=data.feature_names)
    return data, tree, found


def test_a_chain_is_pruned_from_its_deepest_leaf_up(curve):
    _, tree, found = curve
    chain = [node.feature for _, node in tree.walk() if isinstance(node, Leaf)]
    steps = found.steps("bottom")
    assert [step.leaves for step in steps] == list(range(30, 0, -1))
    assert steps[0].removed == ""
    assert {steps[1].removed, steps[2].removed} == set(chain[:2])
    assert [step.removed for step in steps[3:]] == chain[2:-1]
    assert steps[-1].kept == (chain[-1],)


@pytest.mark.parametrize("order", ["bottom", "best"])
def test_accuracies_are_those_of_the_edited_trees(curve, order):
    data, tree, found = curve
    X = dict(zip(data.feature_names, data.X.T, strict=True))
    whole = tree.evaluate(X) > 0.5
    left = tree
    for step in found.steps(order):
        left = remove(left, step.removed) if step.removed else left
        decided = left.evaluate(X) > 0.5
        assert step.accuracy == np.mean(decided == data.y)
        assert step.changed == np.mean(decided != whole)
        assert step.kept == left.features or set(step.kept) == set(left.features)


def test_each_step_of_the_best_order_is_the_best(curve):
    data, tree, found = curve
    X = dict(zip(data.feature_names, data.X.T, strict=True))
    steps = found.steps("best")
    left = tree
    for step in steps[1:4]:
        others = [np.mean((remove(left, feature).evaluate(X) > 0.5) == data.y) for feature in left.features]
        assert step.accuracy == max(others)
        left = remove(left, step.removed)


def test_most_leaves_cost_nothing_in_the_best_order(curve):
    _, _, found = curve
    best = found.smallest()
    assert best.leaves <= 7  # the paper keeps 7 of 30
    assert best.accuracy >= found.steps("best")[0].accuracy
    assert len(best.kept) == best.leaves
    assert found.smallest(0.02).leaves <= best.leaves
    assert found.smallest(order="bottom").order == "bottom"


def test_equally_deep_leaves_go_lightest_first_and_negations_do_not_count():
    tree = Tree.parse("A(a: 0.5, A(b: 0.3, not c: 0.7): 0.3, d: 0.2)")
    X = {name: [0.2, 0.9, 0.4] for name in "abcd"}
    steps = pruning_curve(tree, X, [False, True, True]).steps("bottom")
    assert [step.removed for step in steps] == ["", "b", "c", "d"]


def test_ties_go_to_the_leaf_that_moves_truth_least():
    tree = Tree.parse("A(a: 0.7, b: 0.2, c: 0.1)")
    X = {"a": [0.1, 0.9], "b": [0.0, 1.0], "c": [0.1, 0.9]}
    steps = pruning_curve(tree, X, [False, True]).steps("best")
    assert [step.removed for step in steps] == ["", "c", "b"]
    assert [step.accuracy for step in steps] == [1.0] * 3


def test_a_feature_used_twice_goes_leaf_by_leaf():
    tree = Tree.parse("HC(x[0 at 0, 1 at 1], x[1 at 3, 0 at 4], y)")
    X = {"x": [0.0, 2.0, 5.0, 2.0], "y": [1.0, 1.0, 1.0, 0.1]}
    found = pruning_curve(tree, X, [False, True, False, False])
    assert [step.removed for step in found.steps("best")][1:].count("x") >= 1
    assert found.steps("best")[0].accuracy == 1.0


def test_the_text():
    tree = Tree.parse("HC(a: 0.7, SD(b: 0.5, c: 0.5): 0.3)")
    X = {"a": [0.9, 0.1, 0.8, 0.2], "b": [0.9, 0.9, 0.8, 0.1], "c": [0.5, 0.6, 0.5, 0.6]}
    found = pruning_curve(tree, X, [True, False, True, False])
    assert str(found) == "\n".join(
        [
            "leaves left  from the bottom: without  accuracy  in the best order: without  accuracy",
            "3                    (the whole tree)   100.00%            (the whole tree)   100.00%",
            "2                                   b   100.00%                           c   100.00%",
            "1                                   c   100.00%                           b   100.00%",
            "",
            "1 of 3 leaves does as well as all of them, 100% right: a.",
        ]
    )
    assert found.to_dict()["rows"][0]["removed"] == ""
    assert len(found.to_frame()) == 6
    alone = pruning_curve(Tree("a"), X, [True, False, True, False])
    assert len(alone.rows) == 2
    assert str(alone).endswith("There is but one leaf.")


def test_what_cannot_be_asked_is_said():
    tree = Tree.parse("HC(a, b)")
    with pytest.raises(ValueError, match="unknown order 'top'; use one of bottom, best"):
        pruning_curve(tree, {"a": [0.1], "b": [0.1]}, [True]).steps("top")
    with pytest.raises(ValueError, match="needs at least one row"):
        pruning_curve(tree, {"a": [], "b": []}, [])
    with pytest.raises(ValueError, match="y holds 3"):
        pruning_curve(tree, {"a": [0.1], "b": [0.1]}, [3])


def test_of_a_tree_learned_as_the_paper_does_most_leaves_cost_nothing():
    """All 30 features, weights held strictly to one half, in sample: in the paper 7 of 30 matter (section 4.1)."""
    data = datasets.breast_cancer()
    strict = search.Sinkhorn(weight_penalty_strength=10.0)
    clf = BaconClassifier(strict, criteria="sigmoid", random_state=0).fit(data.X, data.y)
    found = pruning_curve(clf, data.X, data.y)
    assert found.rows[0].leaves == 30
    assert found.rows[0].accuracy > 0.97
    assert found.smallest(0.005, "bottom").leaves < 15  # most can go
    assert found.smallest(0.005, "best").leaves <= 10
    assert found.steps("bottom")[-1].accuracy < 0.8


def test_where_one_answer_is_rare_the_base_rate_is_named():
    tree = Tree.parse("A(a[0 at 0, 1 at 1], b[0 at 0, 1 at 1])")
    rare = {"a": [0.0, 0.0, 0.0, 0.6, 0.0], "b": [0.0, 0.0, 0.0, 0.6, 0.0]}
    never = pruning_curve(tree, rare, [1, 0, 0, 0, 0], label=1, threshold=0.9)
    assert never.base == 0.8
    assert "But so does always giving the more frequent answer (80%)" in str(never)
    assert "more frequent" not in str(pruning_curve(tree, rare, [0, 0, 0, 1, 0], label=1, threshold=0.5))
