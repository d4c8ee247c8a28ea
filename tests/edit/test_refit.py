"""Refitting: what is fixed stays, what is free moves to fit, and never for the worse."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import leaves, nodes, ramps, sigmoids, tables

from baconlogic import Decision, Gate, Leaf, Not, Tree, datasets
from baconlogic.core.answers import Feature, Link
from baconlogic.core.criteria import Given, Interval, Ramp, Sigmoid, Table
from baconlogic.core.gcd import HIGHEST, drastic
from baconlogic.core.nodes import flatten
from baconlogic.core.subject import subject
from baconlogic.edit import _gradient as gradients
from baconlogic.edit import _refit as refitting
from baconlogic.edit._refit import freedom, learn, refit, refit_decision

EVERY_KIND = Tree(
    Gate(
        [
            Leaf("a", Sigmoid(0.2, 2.0, missing=0.3)),
            Gate([Leaf("b", Ramp([(-1, 0.1), (0, 0.2), (1, 0.9)], missing=0.4)), Leaf("g", Given(missing=0.6))], 0.3),
            Not(Leaf("c", Table({"x": 0.2, "y": 0.7}, other=0.4, missing=0.5)), name="the kind"),
            Gate([Leaf("a", Sigmoid(1.0, -3.0, missing=0.2)), Leaf("b", Ramp([(-2, 1), (2, 0)], missing=0.5)), "g2"],
                 0.9, [0.2, 0.3, 0.5], "exact", "size"),
        ],
        0.65, [0.4, 0.3, 0.2, 0.1],
    )
)  # fmt: skip
FREE = ["all", "weights", "andness", "criteria"]


def rows_of(seed=0, rows=300, missing=0.1):
    """A table for EVERY_KIND, with missing values, and labels."""
    rng = np.random.default_rng(seed)
    X = {"a": rng.normal(size=rows), "b": rng.normal(size=rows), "g": rng.random(rows)}
    for column in X.values():
        column[rng.random(rows) < missing] = np.nan
    X["g2"] = rng.random(rows)
    X["c"] = np.where(rng.random(rows) < missing, None, rng.choice(np.array(["x", "y", "z"], dtype=object), rows))
    y = rng.random(rows) < 1 / (1 + np.exp(-3 * (np.nan_to_num(X["a"]) + X["g2"] - 0.5)))
    return X, y


def learned(tree, X, y, **rest):
    asked = {"free": "all", "fixed": None, "sample_weight": None, "penalty": 1.0, "hold": False, "columns": None}
    return learn(subject(tree), X, y, **(asked | rest))


def task_of(tree, X, y, monkeypatch, penalty=1.0):
    """The task that a refit of everything solves, caught on the way."""
    caught = []
    monkeypatch.setattr(refitting, "_lowest", lambda task, start: caught.append(task) or (start, 0.0))
    learned(tree, X, y, penalty=penalty)
    return caught[-1]


def assert_slopes(task, v, tolerance=1e-5):
    _, slope = task.loss(v)
    step = 1e-6
    for i in range(len(v)):
        ends = [task.loss(v + sign * step * (np.arange(len(v)) == i))[0] for sign in (1, -1)]
        assert slope[i] == pytest.approx((ends[0] - ends[1]) / (2 * step), rel=tolerance, abs=tolerance), i


@pytest.mark.parametrize("seed", range(3))
def test_slopes_are_those_of_finite_differences_for_every_kind_of_parameter(seed, monkeypatch):
    X, y = rows_of(seed)
    task = task_of(EVERY_KIND, X, y, monkeypatch)
    assert len(task.moving) == 9  # all nodes but the negation, and the leaf that has nothing to learn
    v = np.random.default_rng(seed).normal(size=len(task.spans())) * 0.3
    assert_slopes(task, v)


kinds = sigmoids | ramps() | tables.map(lambda t: Table(t.truths, 0.5, t.missing))


@given(nodes(leaves(st.sampled_from("abc"), kinds)).map(Tree), st.integers(0, 99))
@settings(max_examples=40)
def test_slopes_of_random_trees(tree, seed):
    rng = np.random.default_rng(seed)
    for path, node in tree.walk():  # one column cannot be numbers and categories; joints and drastic ends have no slope
        if isinstance(node, Leaf):
            name = node.feature + ("t" if node.criterion.categorical else "n")
            tree = tree.replace(path, Leaf(name, centred(node.criterion, rng)))
        elif isinstance(node, Gate):
            inside = 0.5 + 0.9 * np.clip(node.andness - 0.5 + 0.0123, -1, 1) * (drastic(len(node.inputs)) - 0.5)
            tree = tree.replace(path, Gate(tree[path].inputs, float(inside), node.weights, node.aggregator))
    X = {f: rng.choice([1, 7, 8], 20) if f[-1] == "t" else rng.normal(size=20) for f in tree.features}
    for table in (n.criterion for n, _ in flatten(tree.root) if isinstance(n, Leaf) and isinstance(n.criterion, Table)):
        if any(isinstance(category, str) for category, _ in table.truths):
            return  # numbers are not of its kind
    with pytest.MonkeyPatch.context() as patch:
        task = task_of(tree, X, np.arange(20) % 2 == 0, patch)
    if task.moving:
        inside = [0.1 * rng.normal() if low < -1 and high > 1 else 0.0 for low, high in task.spans()]
        assert_slopes(task, np.array(inside), 2e-4)


def centred(criterion, rng):
    """The criterion where the rows are, and gentle."""
    if isinstance(criterion, Sigmoid):
        return Sigmoid(rng.normal(), math.copysign(rng.uniform(0.5, 2), criterion.slope), criterion.missing)
    if isinstance(criterion, Ramp):
        places = np.linspace(-3, 3, len(criterion.points)) + 0.01 * rng.random()
        return Ramp([(x, rng.uniform(0.1, 0.9)) for x in places], criterion.missing)
    return Table([(c, 0.3 + 0.4 * t) for c, t in criterion.truths], 0.5, criterion.missing)


def differences(old, new):
    """What differs: {(path, word)}."""
    found = set()
    for path, node in old.walk():
        other = new[path]
        assert type(node) is type(other)
        assert node.name == other.name
        if isinstance(node, Gate):
            assert node.aggregator == other.aggregator
            found |= {(path, "weights")} if node.weights != other.weights else set()
            found |= {(path, "andness")} if node.andness != other.andness else set()
        elif isinstance(node, Leaf):
            assert node.feature == other.feature
            found |= {(path, "criteria")} if node.criterion != other.criterion else set()
    return found


GATES, LEAVES = [(), (1,), (3,)], [(0,), (1, 0), (1, 1), (2, 0), (3, 0), (3, 1)]


@pytest.mark.parametrize(
    ("asked", "moved"),
    [
        ({"free": "all"}, [(p, w) for p in GATES for w in ("weights", "andness")] + [(p, "criteria") for p in LEAVES]),
        ({"free": "weights"}, [(p, "weights") for p in GATES]),
        ({"free": ["andness"]}, [(p, "andness") for p in GATES]),
        ({"free": "criteria"}, [(p, "criteria") for p in LEAVES]),
        ({"free": "size"}, [((3,), "weights"), ((3,), "andness"), ((3, 0), "criteria"), ((3, 1), "criteria")]),
        ({"free": (1,)}, [((1,), "weights"), ((1,), "andness"), ((1, 0), "criteria"), ((1, 1), "criteria")]),
        ({"free": "a"}, [((0,), "criteria"), ((3, 0), "criteria")]),
        ({"free": ["the kind", (3,), "weights"]}, [((2, 0), "criteria"), ((3,), "weights"), ((3,), "andness"),
          ((3, 0), "criteria"), ((3, 1), "criteria"), ((), "weights"), ((1,), "weights")]),
        ({"free": {"size": ["andness", "weights"], "c": "criteria"}},
         [((3,), "andness"), ((3,), "weights"), ((2, 0), "criteria")]),
        ({"fixed": ["criteria", "size", "andness"]}, [((), "weights"), ((1,), "weights")]),
        ({"fixed": {(): "weights", "size": "all", (1,): ["criteria"]}},
         [((), "andness"), ((1,), "andness"), ((0,), "criteria"), ((2, 0), "criteria")]),
        ({"free": []}, []),
        ({"free": "g2"}, []),
    ],
)  # fmt: skip
def test_only_what_is_free_moves(asked, moved):
    X, y = rows_of()
    assert differences(EVERY_KIND, refit(EVERY_KIND, X, y, **asked)) == set(moved)


def test_what_a_criterion_may_not_change():
    X, y = rows_of()
    new = refit(EVERY_KIND, X, y, free="criteria", penalty=0.01)
    ramp, table = new[1, 0].criterion, new[2, 0].criterion
    assert [t for _, t in ramp.points] == [0.1, 0.2, 0.9]
    assert [x for x, _ in ramp.points] == sorted(x for x, _ in ramp.points)
    assert [c for c, _ in table.truths] == ["x", "y"]
    assert new[0,].criterion.slope > 0 > new[3, 0].criterion.slope
    assert all(0 <= n.criterion.missing <= 1 for _, n in new.walk() if isinstance(n, Leaf) and n.feature != "g2")


def test_categories_that_do_not_occur_and_missing_values_that_do_not_either_keep_their_truth():
    tree = Tree(Gate([Leaf("c", Table({"x": 0.2, "y": 0.7, "never": 0.31}, missing=0.5)), "g"], 0.6))
    rng = np.random.default_rng(0)
    X = {"c": rng.choice(["x", "y"], 80), "g": rng.random(80)}
    new = refit(tree, X, (X["c"] == "x") | (X["g"] > 0.8), free="c")["c"].criterion
    assert new.missing == 0.5
    assert dict(new.truths)["never"] == 0.31
    assert dict(new.truths)["x"] > 0.2


@pytest.mark.parametrize("free", FREE)
@pytest.mark.parametrize("seed", range(3))
def test_the_loss_never_rises(free, seed):
    X, y = rows_of(seed, rows=40)
    found = learned(EVERY_KIND, X, y, free=free)
    assert found.loss_after <= found.loss_before
    truth = found.tree.evaluate(X)
    p = 1 / (1 + np.exp(-found.link.score(truth)))
    assert found.loss_after == pytest.approx(-np.mean(np.log(np.where(y, p, 1 - p))), abs=1e-9)


def known_tree(andness, centres, slopes, weight):
    first, second, third, fourth = (
        Leaf(f"c{i}", Sigmoid(c, s)) for i, (c, s) in enumerate(zip(centres, slopes, strict=True))
    )
    below = Gate([second, third, Not(fourth)], andness[1], [weight, 0.5 - weight / 2, 0.5 - weight / 2])
    return Tree(Gate([first, below], andness[0], [weight, 1 - weight]))


def test_a_known_tree_is_found_again_from_other_numbers():
    rng = np.random.default_rng(1)
    X = {f"c{i}": rng.normal(size=3000) for i in range(4)}
    true = known_tree((0.95, 0.2), (0.3, -0.5, 0.8, 0.0), (2, 1.5, -2, 1), 0.35)
    start = known_tree((0.7, 0.4), (0, 0, 0, 0), (1, 1, -1, 1), 0.5)
    truth = true.evaluate(X)
    p = 1 / (1 + np.exp(-15 * (truth - np.median(truth))))
    y = rng.random(3000) < p
    best = -np.mean(np.log(np.where(y, p, 1 - p)))
    found = learned(start, X, y)
    assert found.loss_before > best + 0.01
    assert found.loss_after < best + 0.001
    assert np.corrcoef(found.tree.evaluate(X), truth)[0, 1] > 0.99
    assert found.tree == learned(start, X, y).tree  # the same again


def test_learning_from_a_sample_first_ends_as_low(monkeypatch):
    rng = np.random.default_rng(2)
    X = {f"c{i}": rng.normal(size=2000) for i in range(4)}
    y = rng.random(2000) < known_tree((0.95, 0.2), (0.3, -0.5, 0.8, 0.0), (2, 1.5, -2, 1), 0.35).evaluate(X)
    start = known_tree((0.7, 0.4), (0, 0, 0, 0), (1, 1, -1, 1), 0.5)
    whole = learned(start, X, y)
    monkeypatch.setattr(refitting, "SAMPLE", 500)
    monkeypatch.setattr(gradients, "BLOCK", 257)
    sampled = learned(start, X, y)
    assert sampled.loss_after == pytest.approx(whole.loss_after, abs=2e-4)
    assert sampled.loss_after < sampled.loss_before - 0.005


def test_an_input_of_exactly_0_keeps_a_conjunction_at_0_whatever_its_weights(monkeypatch):
    X = {"a": [0.0, 0.0, 1.0, 0.7], "b": [0.0, 0.4, 1.0, 0.2], "c": [1.0, 0.3, 0.0, 0.6]}
    for andness in (0.6, 0.9, 0.35, 0.1):
        tree = Tree(Gate([Gate(["a", "b"], andness), Gate(["b", "c"], 1 - andness, aggregator="exact")], andness))
        task = task_of(tree, X, [False, True, True, False], monkeypatch)
        assert_slopes(task, np.zeros(len(task.spans())))


def test_a_penalty_holds_parameters_to_where_they_were():
    X, y = rows_of(rows=60)
    far, near = (learned(EVERY_KIND, X, y, penalty=penalty) for penalty in (0.1, 1e4))
    assert far.loss_after < near.loss_after
    assert near.tree[()].andness == pytest.approx(EVERY_KIND[()].andness, abs=1e-3)
    assert abs(far.tree[()].andness - EVERY_KIND[()].andness) > 0.01


def test_a_row_of_weight_two_is_two_rows_and_one_of_weight_zero_none():
    X, y = rows_of(rows=120)
    weight = np.arange(120) % 3.0
    twice = np.repeat(np.arange(120), weight.astype(int))
    X["g"][0] = 7.0  # no degree of truth, but of weight 0
    found = learned(EVERY_KIND, X, y, sample_weight=weight)
    other = learned(EVERY_KIND, {name: column[twice] for name, column in X.items()}, y[twice])
    assert found.loss_before == pytest.approx(other.loss_before, abs=1e-7)
    assert found.loss_after == pytest.approx(other.loss_after, abs=1e-3)  # a kink of andness may part their ways
    X["g"][1] = 7.0
    with pytest.raises(
        ValueError, match=r"among the 80 rows of weight above 0, column 'g', row 0: 7\.0 is not a degree of truth"
    ):
        refit(EVERY_KIND, X, y, sample_weight=weight)


def test_constant_columns_and_one_row_a_class():
    tree = Tree(Gate([Leaf("a", Sigmoid(0, 1)), Leaf("b", Ramp.between(0, 1)), "g"], "SC"))
    still = refit(tree, {"a": [1.0] * 4, "b": [3.0] * 4, "g": [0.5] * 4}, [True, False, True, False])
    assert all(math.isfinite(n.criterion.centre) for _, n in still.walk() if isinstance(n, Leaf) and n.feature == "a")
    found = learned(tree, {"a": [-1.0, 1.0], "b": [0.2, 0.7], "g": [0.1, 0.9]}, [False, True])
    assert found.loss_after <= found.loss_before
    assert learned(tree, {"a": [np.inf, -np.inf], "b": [-np.inf, np.inf], "g": [0, 1]}, [False, True]).tree


def test_columns_that_are_all_missing_only_move_the_truth_of_missing_values():
    tree = Tree(Gate([Leaf("a", Sigmoid(0, 1, missing=0.5)), "g"], "SC"))
    g = np.linspace(0, 1, 30)
    new = refit(tree, {"a": [np.nan] * 30, "g": g}, g > 0.4, free="a", penalty=0.1)["a"].criterion
    assert (new.centre, new.slope) == (0, 1)


def test_a_drastic_gate_that_is_free_may_become_less_so_and_one_that_is_fixed_stays():
    rng = np.random.default_rng(0)
    X = {"a": rng.random(200), "b": rng.random(200)}
    tree = Tree(Gate(["a", "b"], HIGHEST))
    y = X["a"] + X["b"] > 1
    assert refit(tree, X, y, free="weights")[()].andness == HIGHEST
    assert learned(tree, X, y, penalty=0.0).loss_after <= learned(tree, X, y, free=[]).loss_after


def test_a_band_of_one_feature_twice():
    rng = np.random.default_rng(0)
    x = rng.uniform(0, 10, 400)
    band = Tree(Gate([Leaf("x", Sigmoid(2, 1)), Leaf("x", Sigmoid(6, -1))], "C"))
    found = learned(band, {"x": x}, (x > 3) & (x < 8), free="x")
    assert found.loss_after < 0.5 * found.loss_before
    assert found.tree[0,].criterion.centre > 2
    assert found.tree[1,].criterion.centre > 6


def test_breast_cancer_gains_clearly():
    data = datasets.breast_cancer()
    X, y = data.frame(), data.y == data.target_names.index("malignant")
    leaf = {c: Leaf(c, Sigmoid.from_column(X[c])) for c in ("concave_points3", "area3", "radius3", "area2")}
    size = Gate([leaf["area3"], leaf["radius3"], leaf["area2"]], "HD", name="size")
    tree = Tree(Gate([leaf["concave_points3"], size], "HC"))
    found = learned(tree, X, y)
    assert found.loss_before == pytest.approx(0.1448, abs=1e-3)
    assert found.loss_after < 0.122
    assert learned(tree, X, y, free="andness").loss_after < 0.136
    assert f"log-loss {found.loss_before:.4f} before" in str(found)
    assert found.to_dict()["tree"] == found.tree.formula()


def test_a_threshold_that_is_given_is_kept():
    X, y = rows_of()
    held = learn(subject(EVERY_KIND, 0.4), X, y, free="all", fixed=None, sample_weight=None, penalty=1.0, hold=True,
                 columns=None)  # fmt: skip
    assert held.link.threshold == 0.4
    assert refit(EVERY_KIND, X, y, threshold=0.4) == held.tree


def decision_of(classes, trees):
    kinds = {"a": "number", "b": "number", "g": "truth", "g2": "truth", "c": "category"}
    features = [Feature(name, kind) for name, kind in kinds.items()]
    return Decision(trees, [Link(5, 0.5)] * len(trees), classes, features, {"trees": [{"leaves": 6}] * len(trees)})


def test_a_decision_is_refitted_with_its_link():
    X, y = rows_of()
    labels = np.where(y, "sick", "well")
    old = decision_of(("well", "sick"), [EVERY_KIND])
    new = refit_decision(old, X, labels)
    assert new.tree != old.tree
    assert (new.predict(X) == labels).mean() >= (old.predict(X) == labels).mean()
    assert new.links != old.links
    assert new.provenance["trees"][0]["leaves"] == 6
    assert new.provenance["trees"][0]["refit"]["penalty"] == 1.0
    assert Decision.from_dict(new.to_dict()) == new
    with pytest.raises(TypeError, match="of a Tree use refit"):
        refit_decision(EVERY_KIND, X, y)


def test_of_several_classes_all_trees_are_refitted_or_that_of_a_label():
    X, y = rows_of()
    labels = np.where(y, "one", np.where(X["g2"] > 0.5, "two", "three"))
    old = decision_of(("one", "two", "three"), [EVERY_KIND] * 3)
    every, two = (refit_decision(old, X, labels, free="andness", label=label) for label in (None, "two"))
    assert [differences(EVERY_KIND, tree) != set() for tree in every.trees] == [True] * 3
    assert [differences(EVERY_KIND, tree) != set() for tree in two.trees] == [False, True, False]
    assert two.trees[1] == every.trees[1]


@pytest.mark.parametrize(
    ("asked", "error", "said"),
    [
        ({"free": "sizes"}, LookupError, "free: 'sizes' is no part of the tree.*did you mean 'size'"),
        ({"fixed": ["weight"]}, LookupError, "fixed: 'weight' is no part.*did you mean 'weights'"),
        ({"free": (7, 7)}, LookupError, r"\(7, 7\) is no part of the tree"),
        ({"free": {"size": "colour"}}, ValueError, "expected all, weights, andness, criteria.*got 'colour'"),
        ({"free": {"size": []}}, ValueError, "expected all, weights, andness, criteria"),
        ({"free": 7}, TypeError, "a part of a tree is a path, a name, a feature or a node, got 7"),
        ({"free": "weights", "fixed": "size"}, ValueError, "give one of them"),
        ({"penalty": -1}, ValueError, "penalty must not be negative, got -1"),
        ({"penalty": math.nan}, ValueError, "penalty must be a finite number"),
        ({"sample_weight": [1.0]}, ValueError, "one number for each of 300 rows"),
        ({"sample_weight": np.full(300, -1.0)}, ValueError, "finite and not negative"),
        ({"sample_weight": np.zeros(300)}, ValueError, "rows of both answers.*no rows"),
    ],
)
def test_errors_say_what_to_do(asked, error, said):
    X, y = rows_of()
    with pytest.raises(error, match=said):
        refit(EVERY_KIND, X, y, **asked)


def test_one_class_is_an_error():
    X, y = rows_of()
    with pytest.raises(ValueError, match="needs rows of both answers, True and False; y has only True"):
        refit(EVERY_KIND, X, np.ones(300, dtype=bool))
    with pytest.raises(ValueError, match="y has only False"):
        refit(EVERY_KIND, X, y, sample_weight=np.where(y, 0.0, 1.0))


def test_a_part_named_like_a_word_is_meant_in_a_mapping():
    tree = Tree(Gate([Leaf("weights", Sigmoid(0, 1)), "g"], "A"))
    assert freedom(tree, {"weights": "all"}, None) == [{"criteria"}, set(), set()]
    assert freedom(tree, "weights", None) == [set(), set(), {"weights"}]
    assert freedom(tree, tree[0,], None) == [{"criteria"}, set(), set()]


def test_an_array_takes_names():
    rng = np.random.default_rng(0)
    X = rng.random((50, 2))
    tree = Tree(Gate(["a", "b"], "A"))
    y = X[:, 0] > 0.5
    assert refit(tree, X, y, columns=["a", "b"])[()].weights[0] > 0.5


def test_the_marks_of_an_interval_stay_while_all_else_moves():
    rng = np.random.default_rng(0)
    X = {"a": rng.normal(size=300), "b": rng.normal(size=300)}
    X["a"][::9] = np.nan
    tree = Tree(Gate([Leaf("a", Interval(0.25, 1.5, 0.5)), Leaf("b", Sigmoid(0, 1))], "A"))
    made = refit(tree, X, np.nan_to_num(X["a"], nan=1.0) > 0.3)
    cut = made[(0,)].criterion
    assert (cut.low, cut.high) == (0.25, 1.5)
    assert cut.missing > 0.5
    assert made.root.weights[0] > 0.5


def test_deep_trees():
    node = Leaf("a", Sigmoid(0, 1))
    for _ in range(600):
        node = Gate([node, Leaf("b", Sigmoid(0, 1))], "SC-", [0.99, 0.01])
    X = {"a": np.linspace(-1, 1, 8), "b": np.linspace(1, -1, 8)}
    assert refit(Tree(node), X, np.arange(8) > 3, free={(0,) * 590: "weights"}).depth == 600
