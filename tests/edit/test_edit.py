"""Edits return new, valid trees and do what they say."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import completions, givens, leaves, names, nodes, ramps, sigmoids, tables, unique_features

from baconlogic import Decision, Gate, Leaf, Not, Tree, edit
from baconlogic.core.criteria import Ramp, Sigmoid
from baconlogic.core.decision import Feature, Link
from baconlogic.core.levels import LEVELS
from baconlogic.core.nodes import flatten
from baconlogic.core.subject import subject

any_tree = nodes(leaves(st.sampled_from("abcdefghij"), st.one_of(givens, ramps(), sigmoids, tables)))
any_tree = any_tree.map(Tree).map(unique_features)
JOB = "job = SC(pay = A(salary: 0.7, benefits: 0.3): 0.6, interests: 0.4)"


@pytest.fixture
def job():
    return Tree.parse(JOB)


def chain(count, seed=0):
    """A left chain as the paper learns it, with raw columns."""
    rng = np.random.default_rng(seed)
    node = Leaf("x0", Sigmoid(0, 2))
    for i in range(1, count):
        weight = rng.uniform(0.5, 0.9)
        node = Gate([node, Leaf(f"x{i}", Sigmoid(0, 2))], rng.uniform(-0.9, 1.9), [weight, 1 - weight])
    return Tree(node)


def leaf_features(tree):
    return [node.feature for node, _ in flatten(tree.root) if isinstance(node, Leaf)]


def check(tree, X):
    truths = tree.evaluate(X)
    assert ((truths >= 0) & (truths <= 1)).all()


# --- any edit on any tree


@st.composite
def edits(draw, tree):
    """An edit, and the columns that it turns into numbers."""
    path = draw(st.sampled_from([path for path, _ in tree.walk()]))
    feature = draw(st.sampled_from(tree.features))
    share, name = draw(st.floats(0.01, 0.99)), draw(names)
    level = draw(st.sampled_from([*LEVELS, 0.5, 0.3, 1.2, 2.0, -1.0]))
    some = draw(st.lists(st.sampled_from(tree.features), unique=True, min_size=1))
    if draw(st.integers(0, 9)) == 0:
        return lambda: edit.set_criterion(tree, feature, "half at 0, slope 1, missing 0.5"), [feature]
    make = draw(
        st.sampled_from(
            [
                lambda: edit.remove(tree, path),
                lambda: edit.prune(tree, keep=1 + len(some)),
                lambda: edit.prune(tree, features=some),
                lambda: edit.snap(tree),
                lambda: edit.set_andness(tree, path, level),
                lambda: edit.reweight(tree, path, {feature: share}),
                lambda: edit.reweight(tree, path, [share, 1 - share]),
                lambda: edit.negate(tree, path),
                lambda: edit.rename(tree, path, name),
                lambda: edit.add(tree, path, Not(Leaf("new")), share),
                lambda: edit.add(tree, path, "SC(new, HD(new, new))", share, level),
                lambda: edit.regroup(tree, {name: some}),
                lambda: edit.regroup(tree, {name: some[:1], name + ".": some[1:]}),
                lambda: edit.simplify(tree, 0.2),
            ]
        )
    )
    return make, []


@settings(max_examples=40)
@given(any_tree, st.integers(0, 2**32 - 1), st.data())
def test_every_edit_gives_a_valid_tree_or_says_clearly_why_not(tree, seed, data):
    X = completions(tree, np.random.default_rng(seed), 20) | {"new": np.linspace(0, 1, 20)}
    before = tree.formula()
    make, read = data.draw(edits(tree))
    try:
        after = make()
    except (ValueError, LookupError, TypeError):
        return
    assert type(after) is Tree
    assert tree.formula() == before
    assert Tree.parse(after.formula()) == after
    check(after, X | {name: np.linspace(-3, 3, 20) for name in read})


# --- removing and pruning


def test_remove_leaves_the_others_in_proportion_and_a_single_input_alone(job):
    tree = Tree.parse("HC(a: 0.5, b: 0.3, c: 0.2)")
    assert edit.remove(tree, "a") == Tree.parse("HC(b: 0.6, c: 0.4)")
    assert edit.remove(job, "benefits") == Tree.parse("job = SC(salary: 0.6, interests: 0.4)")
    assert edit.remove(job, "pay") == Tree("interests")
    assert edit.remove(Tree.parse("SC(a, b, not not c)"), "c") == Tree.parse("SC(a, b)")
    assert edit.remove(Tree.parse("CC(a, b, c)"), "c").evaluate({"a": [1, 1], "b": [1, 0.9]}).tolist() == [1, 0]
    with pytest.raises(ValueError, match="is all there is"):
        edit.remove(Tree.parse("not a"), "a")


def test_a_left_chain_is_pruned_from_the_bottom_up():
    tree = chain(12)
    gone = [leaf.feature for leaf, _ in edit.bottom_order(tree)]
    assert set(gone[:2]) == {"x0", "x1"}
    assert gone[2:] == [f"x{i}" for i in range(2, 11)]
    for count, (_, after) in enumerate(edit.bottom_order(tree), 1):
        assert leaf_features(after) == [f for f in leaf_features(tree) if f not in gone[:count]]
        assert after == edit.prune(tree, keep=12 - count)


def test_negations_do_not_make_a_leaf_deeper_and_the_lightest_goes_first():
    tree = Tree.parse("HC(HC(HC(a: 0.7, b: 0.3), not not c), d)")
    assert [leaf.feature for leaf, _ in edit.bottom_order(tree)] == ["b", "a", "c"]
    assert edit.prune(tree, keep=2) == Tree.parse("HC(not not c, d)")


def test_prune_keeps_all_when_there_is_nothing_to_take(job):
    assert edit.prune(job, keep=3) == edit.prune(job, keep=30) == job


def test_prune_takes_all_leaves_of_a_feature():
    tree = Tree.parse("HC(HD(a, b), HD(c, not a), d)")
    assert edit.prune(tree, features=["a"]) == Tree.parse("HC(b, c, d)")
    assert edit.prune(tree, features="d") == Tree.parse("HC(HD(a, b): 0.5, HD(c, not a): 0.5)")


def test_prune_keeps_the_output_of_a_leaf_without_effect():
    X = {name: np.random.default_rng(0).random(50) for name in "abc"}
    tree = Tree.parse("A(a: 0.5, b: 0.499999999999, c: 0.000000000001)")
    pruned = edit.prune(tree, features=["c"])
    assert np.abs(pruned.evaluate(X) - tree.evaluate(X)).max() < 1e-11


def test_the_best_order_takes_each_time_the_leaf_that_is_missed_least():
    tree = chain(7, seed=3)
    rng = np.random.default_rng(1)
    X = rng.normal(size=(150, 7))
    asked = subject(tree)
    table = asked.table(X, [f"x{i}" for i in range(7)])
    positive = (X[:, 6] + X[:, 5] > 0) & (rng.random(150) < 0.9)
    whole = asked.truths(table)
    before = tree
    for leaf, after, accuracy in edit.best_order(asked, table, positive):
        tried = {}
        for feature in leaf_features(before):
            truths = subject(edit.remove(before, feature)).truths(table)
            tried[feature] = (np.mean((truths > 0.5) == positive), -np.mean(np.abs(truths - whole)))
        assert tried[leaf.feature][0] == pytest.approx(accuracy) == max(tried.values())[0]
        assert tried[leaf.feature][1] == pytest.approx(max(tried.values())[1])
        assert after.formula() == edit.remove(before, leaf.feature).formula()
        before = after
    assert isinstance(before.root, Leaf)


def test_prune_by_accuracy_stops_before_it_falls_too_far():
    rng = np.random.default_rng(0)
    X = {name: rng.random(400) for name in "abcdef"}
    tree = Tree.parse("HC(HC(a, HD(b, c)): 0.5, A(d, e, f): 0.5)")
    y = tree.evaluate(X) > 0.5
    for tolerance in (0, 0.02, 0.1, 1):
        pruned = edit.prune(tree, X=X, y=y, tolerance=tolerance)
        assert np.mean((pruned.evaluate(X) > 0.5) == y) >= 1 - tolerance - 1e-12
    assert len(pruned.features) == 1
    assert len(edit.prune(tree, X=X, y=y, tolerance=0.1).features) < 6
    assert len(edit.prune(tree, X=X, y=y, keep=4).features) == 4


def test_prune_by_accuracy_goes_by_the_threshold_of_a_decision():
    rng = np.random.default_rng(0)
    X = {name: rng.random(300) for name in "ab"}
    features = [Feature("a", "truth"), Feature("b", "truth")]
    tree = Tree.parse("A(a: 0.9, b: 0.1)")
    decision = Decision([tree], [Link(9, 0.2)], ["no", "yes"], features)
    y = np.where(X["a"] > 0.2, "yes", "no")
    assert edit.prune(decision, X=X, y=y) == Tree("a")
    assert edit.prune(decision, keep=1) == Tree("a")
    with pytest.raises(ValueError, match="y holds 'maybe'"):
        edit.prune(decision, X=X, y=["maybe"] * 300)


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({}, ValueError, "say what to prune"),
        ({"keep": 0}, ValueError, "keep is a number of leaves, 1 or more; got 0"),
        ({"keep": 1.5}, TypeError, "float"),
        ({"features": ["nothing"]}, LookupError, "no leaf is on 'nothing'"),
        ({"features": ["salary", "benefits", "interests"]}, ValueError, "every leaf away"),
        ({"features": ["salary"], "keep": 2}, ValueError, "not both"),
        ({"X": {}}, ValueError, "needs both X and y"),
        ({"X": {"salary": [], "benefits": [], "interests": []}, "y": []}, ValueError, "at least one row"),
    ],
)
def test_what_cannot_be_pruned_is_said(job, arguments, error, message):
    with pytest.raises(error, match=message):
        edit.prune(job, **arguments)


# --- parameters


def test_set_andness_takes_numbers_and_codes(job):
    assert edit.set_andness(job, "job", "HC")["job"].level.code == "HC"
    assert edit.set_andness(job, "pay", 0.8).root.inputs[0].andness == 0.8
    with pytest.raises(TypeError, match="'salary' is a leaf; only a gate has andness"):
        edit.set_andness(job, "salary", "HC")
    with pytest.raises(LookupError, match="occurs 0 times"):
        edit.set_andness(job, "nothing", "HC")


def test_snap_puts_every_gate_on_a_level():
    tree = Tree.parse("0.81(0.49(a, b), 1.3(c, d, not -0.4(e, f)))")
    snapped = edit.snap(tree)
    assert snapped == Tree.parse("HC-(A(a, b), HHC(c, d, not HHD(e, f)))")
    assert edit.snap(snapped) == snapped


def test_reweight_takes_all_weights_or_some(job):
    tree = Tree.parse("size = HC(a: 0.5, not b: 0.3, part = SC(c, d): 0.2)")
    assert edit.reweight(tree, "size", [20, 30, 50]).root.weights == (0.2, 0.3, 0.5)
    assert edit.reweight(tree, "size", {"b": 0.6}).root.weights == pytest.approx((0.4 * 5 / 7, 0.6, 0.4 * 2 / 7))
    assert edit.reweight(tree, (), {"part": 0.5, "a": 0.1}).root.weights == pytest.approx((0.1, 0.4, 0.5))
    assert edit.reweight(tree, "size", np.array([0.2, 0.3, 0.5])).root.weights == (0.2, 0.3, 0.5)
    for wrong, error, message in (
        ({"x": 0.5}, LookupError, "0 inputs of this gate are called 'x'; it has 'a', 'b', 'part'"),
        ({"a": 0.7, "b": 0.3}, ValueError, "must leave something"),
        ({"a": 0}, ValueError, "a share is above 0"),
        ([0.5, 0.5], ValueError, "3 inputs need 3 weights"),
        ("abc", TypeError, "weights are a list"),
    ):
        with pytest.raises(error, match=message):
            edit.reweight(tree, "size", wrong)


def test_negate_takes_a_not_off_mirrors_a_criterion_or_puts_a_not_in_front():
    tree = Tree.parse("SC(a, not b, c[half at 3, slope 2], size = HC(d, e), large = f[0 at 1, 1 at 2])")
    assert edit.negate(tree, "a")[0,] == Not("a")
    assert edit.negate(tree, "b")[1,] == Leaf("b")
    assert edit.negate(tree, (1,))[1,] == Leaf("b")
    assert edit.negate(tree, "c")[2,] == Leaf("c", Sigmoid(3, -2))
    assert edit.negate(tree, "size")[3,] == Not(tree["size"])
    assert edit.negate(tree, "large")[4,] == Not(tree["large"])
    for part in ("a", "b", "c", "size", "large"):
        assert edit.negate(edit.negate(tree, part), part) == tree


@given(any_tree, st.integers(0, 2**32 - 1))
def test_negate_is_one_minus_the_truth(tree, seed):
    X = completions(tree, np.random.default_rng(seed), 20)
    assert edit.negate(tree, ()).evaluate(X) == pytest.approx(1 - tree.evaluate(X), abs=1e-15)


def test_set_criterion_reads_the_notation_and_keeps_unit_and_missing():
    tree = Tree.parse('HC(large = a[0 at 10, 1 at 20, missing 0.3, unit "mm"], b)')
    assert edit.set_criterion(tree, "a", "half at 17, slope 2")["a"].criterion == Sigmoid(17, 2, 0.3, "mm")
    assert edit.set_criterion(tree, "large", "0 at 1, 1 at 2, missing 0")["large"] == Leaf(
        "a", Ramp([(1, 0), (2, 1)], 0.0, "mm"), "large"
    )
    assert edit.set_criterion(tree, "b", Ramp.between(1, 2)).root.inputs[1].criterion == Ramp.between(1, 2)
    assert edit.set_criterion(tree, "a", '1 if "red"')["a"].criterion.missing == 0.3
    with pytest.raises(ValueError, match=r"expected e\.g\. 1 at 25"):
        edit.set_criterion(tree, "a", "rising")
    with pytest.raises(TypeError, match="is a gate; only a leaf has a criterion"):
        edit.set_criterion(tree, (), "0 at 1, 1 at 2")
    with pytest.raises(TypeError, match="got int"):
        edit.set_criterion(tree, "a", 3)


def test_rename_names_a_part_or_columns(job):
    assert edit.rename(job, "pay", "compensation").find("compensation") == (0,)
    assert edit.rename(job, "salary", "well paid")["well paid"] == Leaf("salary", name="well paid")
    assert edit.rename(job, "pay", "").root.inputs[0].name == ""
    swapped = edit.rename(job, {"salary": "benefits", "benefits": "salary"})
    assert leaf_features(swapped) == ["benefits", "salary", "interests"]
    for wrong, error in (
        (({"x": "y"},), LookupError),
        (({"salary": "benefits"},), ValueError),
        (("pay",), TypeError),
        (({"salary": "y"}, "z"), TypeError),
        (({"salary": ""},), ValueError),
    ):
        with pytest.raises(error):
            edit.rename(job, *wrong)


# --- structure


def test_add_gives_a_gate_another_input_or_joins_a_part(job):
    assert edit.add(job, "pay", "bonus", 0.5)["pay"].weights == (0.35, 0.15, 0.5)
    assert edit.add(job, "pay", Leaf("bonus"))["pay"].weights == pytest.approx((0.7 * 2 / 3, 0.1 * 2, 1 / 3))
    joined = edit.add(job, "interests", "HD(x, y[0 at 1, 1 at 2])", weight=0.3, andness="SC")
    assert joined[1,] == Tree.parse("SC(interests: 0.7, HD(x, y[0 at 1, 1 at 2]): 0.3)").root
    assert edit.add(job, (), "x", andness="HC").root.inputs == (job.root, Leaf("x"))
    with pytest.raises(TypeError, match="'salary' is not a gate; give andness="):
        edit.add(job, "salary", "x")
    with pytest.raises(ValueError, match="a share between 0 and 1, got 1"):
        edit.add(job, "pay", "x", 1)
    with pytest.raises(ValueError, match="expected"):
        edit.add(job, "pay", "two words")


def test_a_hyper_or_drastic_gate_stays_one_when_it_gets_an_input():
    assert edit.add(Tree.parse("CC(a, b)"), (), "c").root.level.code == "CC"
    assert edit.add(Tree.parse("DD(a, b)"), (), "c") == Tree.parse("DD(a, b, c)")
    assert edit.add(Tree.parse("HHC(a, b)"), (), "c").root.level.code == "HHC"
    assert edit.add(Tree.parse("HC(a, b)"), (), "c") == Tree.parse("HC(a, b, c)")


@pytest.mark.parametrize("code", LEVELS)
def test_a_gate_keeps_its_code_when_inputs_come_and_go(code):
    tree = Tree(Gate(["a", "b", "c", "d"], code))
    assert edit.remove(tree, "d").root.level.code == code
    assert edit.prune(tree, features=["c", "d"]).root.level.code == code
    wider = edit.add(tree, (), "e")
    assert wider.root.level.code == code
    assert edit.remove(wider, "e").root.andness == pytest.approx(tree.root.andness, abs=1e-12)


def test_a_product_regroups_into_products():
    grouped = edit.regroup(Tree.parse("CP(CP(bed, bath), house_size)"), {"size": ["bed", "house_size"]})
    assert [node.level.code for _, node in grouped.walk() if isinstance(node, Gate)] == ["CP", "CP"]
    assert grouped.root.weights == pytest.approx((0.5, 0.5))


@pytest.mark.parametrize("code", ["A", "HC", "HD", "C", "D", "HC+", "CP", "HHD", "CC", "DD"])
def test_regrouping_one_gate_keeps_every_truth(code):
    tree = Tree.parse(f"all = {code}(a: 0.1, b: 0.2, c: 0.15, not d: 0.25, e: 0.3)")
    grouped = edit.regroup(tree, {"size": ["a", "c"], "shape": ["d", "b"]})
    assert [node.name for node in grouped.root.inputs] == ["size", "shape", ""]
    assert grouped.root.name == "all"
    assert grouped["shape"].inputs == (Leaf("b"), Not("d"))
    X = {name: np.random.default_rng(i).choice([0, 0.3, 0.7, 0.95, 1], 400) for i, name in enumerate("abcde")}
    assert np.abs(grouped.evaluate(X) - tree.evaluate(X)).max() < 1e-12


def test_regrouping_a_chain_of_one_kind_keeps_every_truth():
    tree = Tree.parse("HC(HC(HC(a, b), c), d)")
    grouped = edit.regroup(tree, {"size": ["a", "d"]})
    X = {name: np.random.default_rng(i).random(200) for i, name in enumerate("abcd")}
    assert np.abs(grouped.evaluate(X) - tree.evaluate(X)).max() < 1e-12


def test_regrouping_takes_the_andness_at_which_members_meet():
    tree = Tree.parse("HC(HD(area: 0.6, radius: 0.4): 0.5, SC(dents: 0.5, HD-(symmetry: 0.5, texture: 0.5): 0.5): 0.5)")
    groups = {"size": ["area", "radius"], "shape": ["dents", "symmetry"]}
    grouped = edit.regroup(tree, groups)
    assert grouped["size"] == Gate(["area", "radius"], "HD", [0.6, 0.4], name="size")
    assert grouped["shape"].andness == pytest.approx(9 / 14)
    assert grouped["shape"].weights == pytest.approx((2 / 3, 1 / 3))
    assert grouped.root.weights == pytest.approx((0.5, 0.375, 0.125))
    pairs = [(0.5 * 0.375, 12 / 14), (0.5 * 0.125, 12 / 14), (0.25 * 0.125, 9 / 14), (0.125 * 0.125, 3 / 14)]
    assert grouped.root.andness == pytest.approx(sum(w * a for w, a in pairs) / sum(w for w, _ in pairs))


def test_a_group_of_one_is_its_leaf_with_a_name_and_negations_stay_on_leaves():
    grouped = edit.regroup(Tree.parse("not SC(a, not HC(b, c))"), {"first": ["a"], "rest": ["b", "c"]})
    assert grouped["first"] == Not("a", "first")
    assert grouped["rest"] == Gate(["b", "c"], "HC", name="rest")
    assert grouped.root.andness == pytest.approx(5 / 14)
    assert edit.regroup(Tree("a"), {"only": ["a"]}) == Tree(Leaf("a", name="only"))


@pytest.mark.parametrize(
    ("groups", "error", "message"),
    [
        ({"g": ["salary", "nothing"]}, LookupError, "'nothing', which the tree does not use"),
        ({"g": ["salary"], "h": ["salary"]}, ValueError, "listed twice, in 'g' and 'h'"),
        ({"g": ["salary", "salary"]}, ValueError, "listed twice"),
        ({"g": "salary"}, TypeError, "must be a list of features"),
        ({"g": []}, ValueError, "at least one feature"),
        ({}, TypeError, "groups are a mapping"),
    ],
)
def test_groups_that_make_no_sense_are_refused(job, groups, error, message):
    with pytest.raises(error, match=message):
        edit.regroup(job, groups)


def test_a_chain_of_thousands_of_gates_can_be_edited():
    node = Leaf("x0")
    for i in range(1, 1000):
        node = Gate([node, f"x{i}"], "HC" if i % 2 else "SD")
    tree = Tree(node)
    assert len(leaf_features(edit.prune(tree, keep=990))) == 990
    edit.snap(tree)
    edit.simplify(tree)
    assert edit.regroup(tree, {"g": ["x1", "x999"]})["g"].name == "g"


# --- what changes


@settings(max_examples=40)
@given(any_tree, st.integers(0, 2**32 - 1))
def test_the_change_is_what_one_computes(tree, seed):
    rng = np.random.default_rng(seed)
    X = completions(tree, rng, 50)
    after = edit.negate(tree, ())
    y = rng.random(50) < 0.5
    found = edit.change(tree, after, X, y, threshold=0.4)
    a, b = tree.evaluate(X), after.evaluate(X)
    assert found.largest == np.abs(a - b).max()
    assert found.mean == pytest.approx(np.abs(a - b).mean())
    assert found.changed == tuple(np.flatnonzero((a > 0.4) != (b > 0.4)))
    assert found.share == len(found.changed) / 50
    assert found.accuracy_before == np.mean((a > 0.4) == y)
    assert found.accuracy_after == np.mean((b > 0.4) == y)
    assert found.leaves_before == len(leaf_features(tree))
    assert found.to_dict()["share"] == found.share


def test_a_change_reads_well():
    X = {"a": [0.1, 0.9, 0.5, 0.52], "b": [0.1, 0.9, 0.5, 0.4]}
    before = Tree.parse("A(a: 0.8, b: 0.2)")
    assert str(edit.change(before, Tree("a"), X, [False, True, False, False])) == (
        "no truth changes by more than 0.024; 1 of 4 decisions change (row 3); accuracy 1.000 -> 0.750; "
        "leaves 2 -> 1; gates 1 -> 0"
    )
    assert str(edit.change(before, before, X)) == "no truth changes; none of 4 decisions change; leaves 2; gates 1"
    decision = Decision([before], [Link(5, 0.51)], ["no", "yes"], [Feature("a", "truth"), Feature("b", "truth")])
    found = edit.change(decision, Tree("a"), X, ["no", "yes", "no", "no"])
    assert found.changed == (3,)
    assert "1 of 4 decisions change (row 3); accuracy 1.000 -> 0.750" in str(found)
    assert edit.change(before, Tree("a"), {"a": [], "b": []}, []).share == 0
