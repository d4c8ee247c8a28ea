import copy
import pickle

import numpy as np
import pytest
from hypothesis import given
from strategies import trees

from baconlogic import Gate, Leaf, Not, Tree
from baconlogic.core.criteria import Ramp, Sigmoid
from baconlogic.core.gcd import gcd

JOB = "job = SC(compensation = A(salary: 0.7, benefits: 0.3): 0.6, interests: 0.4)"
ROWS = {"salary": [0.2, 0.9], "benefits": [0.5, 0.1], "interests": [1.0, 0.3]}


@pytest.fixture
def job():
    return Tree.parse(JOB)


def test_evaluate_is_the_formula_from_the_leaves_up(job):
    compensation = 0.7 * np.array([0.2, 0.9]) + 0.3 * np.array([0.5, 0.1])
    expected = gcd([compensation, [1.0, 0.3]], [0.6, 0.4], 9 / 14)
    assert job.evaluate(ROWS) == pytest.approx(expected, abs=1e-15)


def test_evaluate_with_nodes_gives_the_truth_of_every_node_by_path(job):
    truths = job.evaluate(ROWS, nodes=True)
    assert list(truths) == [(), (0,), (0, 0), (0, 1), (1,)]
    assert (truths[()] == job.evaluate(ROWS)).all()
    assert truths[0,] == pytest.approx([0.29, 0.66])
    assert (truths[0, 1] == [0.5, 0.1]).all()


def test_not_and_criteria():
    tree = Tree(Not(Leaf("age", Ramp.between(20, 60))))
    assert tree.evaluate({"age": [20, 30, 60]}).tolist() == [1, 0.75, 0]


def test_no_rows_give_no_truths(job):
    assert job.evaluate({"salary": [], "benefits": [], "interests": []}).shape == (0,)


def test_walk_and_getitem_agree(job):
    assert [path for path, _ in job.walk()] == [(), (0,), (0, 0), (0, 1), (1,)]
    assert all(job[path] == node for path, node in job.walk())
    for path in ((0, 5), (1, 0), (-1,), (0, "a")):
        with pytest.raises(LookupError, match="no node at"):
            job[path]
        with pytest.raises(LookupError, match="no node at"):
            job.replace(path, "x")


def test_parts_are_found_by_name_or_feature(job):
    assert job.find("compensation") == (0,)
    assert job.find("benefits") == (0, 1)
    assert job["compensation"].weights == (0.7, 0.3)
    assert job.replace("benefits", "perks").formula() == JOB.replace("benefits", "perks")
    with pytest.raises(LookupError, match="'nothing' occurs 0 times"):
        job.find("nothing")
    with pytest.raises(LookupError, match="'a' occurs 2 times"):
        Tree.parse("SC(a, not a)").find("a")


def test_text_that_is_a_formula_is_not_taken_for_a_column(job):
    for text in ("HC(a, b)", "0.8 (a, b)", "exact SC-(a, b)", "not a", "a[0 at 1, 1 at 2]", "x[half at 1, slope 2]"):
        with pytest.raises(ValueError, match="reads like a formula"):
            job.replace("benefits", text)
        with pytest.raises(ValueError, match="reads like a formula"):
            Gate(["a", text], "A")
    assert Gate(["sepal length (cm)", "area[m2]"], "A").inputs[0].feature == "sepal length (cm)"


def test_replace_returns_a_new_tree_and_leaves_the_old_one(job):
    changed = job.replace((0, 1), Not("perks"))
    assert changed.formula() == "job = SC(compensation = A(salary: 0.7, not perks: 0.3): 0.6, interests: 0.4)"
    assert job == Tree.parse(JOB)
    assert job.replace(Leaf("benefits"), Not("perks")) == changed
    assert job.replace((), "salary") == Tree("salary")


def test_replace_refuses_a_node_that_is_not_there_or_there_twice(job):
    with pytest.raises(LookupError, match="occurs 0 times"):
        job.replace(Leaf("nothing"), "x")
    with pytest.raises(LookupError, match="occurs 2 times in the tree"):
        Tree.parse("SC(a, not a)").replace(Leaf("a"), "x")


def test_features_come_most_important_first(job):
    assert job.features == ("salary", "interests", "benefits")
    assert Tree.parse("SC(a: 0.3, b: 0.4, not a: 0.3)").features == ("a", "b")


def test_depth(job):
    assert job.depth == 2
    assert Tree("a").depth == 0


def test_trees_are_equal_by_what_they_say(job):
    again = Tree.parse(JOB)
    assert again == job
    assert hash(again) == hash(job)
    assert len({again, job}) == 1
    assert job != Tree.parse(JOB.replace("0.7", "0.6").replace("0.3)", "0.4)"))
    assert job != Tree.parse(JOB.replace("salary", "wage"))
    assert job != "job"
    assert Leaf("a") != Not("a")


@given(trees)
def test_copies_and_pickles_are_equal(tree):
    assert copy.deepcopy(tree) == tree
    assert pickle.loads(pickle.dumps(tree)) == tree  # noqa: S301
    assert hash(copy.copy(tree)) == hash(tree)


def test_a_tree_cannot_be_changed(job):
    with pytest.raises(AttributeError, match="root"):
        job.root = Leaf("x")
    with pytest.raises(AttributeError):
        job.root.andness = 1.0


@given(trees)
def test_every_tree_is_drawn_with_a_line_a_node(tree):
    folded = sum(isinstance(node, Not) and isinstance(node.input, Leaf) for _, node in tree.walk())
    assert len(str(tree).split("\n")) == sum(1 for _ in tree.walk()) - folded
    assert eval(repr(tree), {"Tree": Tree}) == tree  # noqa: S307


def test_the_drawing():
    tree = Tree.parse("size = HHD(not a: 0.25, b[0 at 1, 1 at 3]: 0.749, exact A(c, not SC(d, e)): 0.001)")
    assert str(tree) == "\n".join(
        [
            "size: enough to have any of (HHD)",
            "├─ 25%  not a",
            "├─ 74.9%  b high (1 to 3)",
            "└─ 0.1%  nice to have (A exact)",
            "   ├─ c",
            "   └─ not",
            "      └─ nice to have most of (SC)",
            "         ├─ d",
            "         └─ e",
        ]
    )
    rest = 'HC(not r[above 16.8, missing 0.5], 0.83(not (k[1 if "red", other 0]), x[half at 1, slope 2]), flat = not y)'
    assert str(Tree.parse(rest)) == "\n".join(
        [
            "must have all of (HC)",
            "├─ r at most 16.8 (unknown counts half)",
            "├─ must have all of (HC, andness 0.83)",
            "│  ├─ k is not red",
            "│  └─ x is high: half true at 1, 95% true at 2.47",
            "└─ flat: not y",
        ]
    )


def test_names_cannot_break_a_line_of_the_drawing():
    assert str(Tree(Leaf("a\nb\x1b[31m"))) == "a\\nb\\x1b[31m"


def test_weights_are_scaled_to_sum_one_and_left_alone_when_they_do():
    assert Gate(["a", "b"], "A", [75, 25]).weights == (0.75, 0.25)
    assert Gate(["a", "b", "c"], "A", [0.333] * 3).weights == pytest.approx((1 / 3,) * 3)
    thirds = (0.1 + 0.2, 0.7)  # 0.30000000000000004
    assert Gate(["a", "b"], "A", thirds).weights == thirds
    assert Gate(["a", "b", "c"], "A").weights == (1 / 3,) * 3


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (
            lambda: Gate(["a", "b"], 2.4),
            ValueError,
            "andness must be in [-1, 2], got 2.4; use 2 for the drastic conjunction",
        ),
        (lambda: Gate(["a", "b"], float("nan")), ValueError, "andness must be in [-1, 2], got nan"),
        (lambda: Gate(["a", "b"], "HHX"), ValueError, "unknown code 'HHX'; the codes are CC, HHC"),
        (lambda: Gate(["a", "b"], None), TypeError, "andness must be a number or a code, got None"),
        (lambda: Gate(["a", "b"], "A", [1, 0]), ValueError, "a weight must be a positive number, got 0"),
        (lambda: Gate(["a", "b"], "A", [1, -0.5]), ValueError, "a weight must be a positive number, got -0.5"),
        (lambda: Gate(["a", "b"], "A", [1, float("inf")]), ValueError, "a weight must be a positive number, got inf"),
        (
            lambda: Gate(["a", "b"], "A", [0.6, 0.5]),
            ValueError,
            "weights must sum to 1, or to 100 as percentages, got 1.1",
        ),
        (lambda: Gate(["a", "b", "c"], 1.6), ValueError, "andness of 3 inputs runs from -0.5 to 1.5, got 1.6; use CC"),
        (lambda: Gate([f"x{i}" for i in range(60)], "CP"), ValueError, "a gate of 60 inputs cannot resolve"),
        (lambda: Gate("ab", "A"), TypeError, "the inputs of a gate are a list of two or more, got 'ab'"),
        (lambda: Leaf("a", name=None), ValueError, "a name must be text, got None"),
        (lambda: Leaf("a", Ramp.between(0, 1, unit=5)), ValueError, "a unit must be text, got 5"),
        (lambda: Gate(["a", "b"], "A", [1]), ValueError, "2 inputs need 2 weights, got 1"),
        (lambda: Gate(["a"], "A"), ValueError, "a gate combines two or more inputs, got 1"),
        (lambda: Gate([], "A"), ValueError, "a gate combines two or more inputs, got 0"),
        (lambda: Gate(["a", 3], "A"), TypeError, "an input must be a Leaf, Not or Gate, or a feature's name, got int"),
        (
            lambda: Gate(["a", "b"], "A", aggregator="mean"),
            ValueError,
            "unknown aggregator 'mean'; use one of gcd, exact",
        ),
        (lambda: Leaf(""), ValueError, "a leaf's feature must be text that is not blank, got ''"),
        (lambda: Leaf(3), ValueError, "a leaf's feature must be text that is not blank, got 3"),
        (lambda: Leaf("a", "rising"), TypeError, "the criterion of 'a' must be a Criterion, got str"),
        (lambda: Tree(None), TypeError, "a tree needs at least one leaf; give it a Leaf"),
        (lambda: Tree.parse(JOB).evaluate({"salary": [1]}), ValueError, "missing columns 'benefits', 'interests'"),
        (
            lambda: Tree.parse(JOB).evaluate(ROWS | {"salary": [0.1, np.nan]}),
            ValueError,
            "column 'salary', row 1: the value is missing and no truth for missing values is stated",
        ),
        (
            lambda: Tree.parse(JOB).evaluate(ROWS | {"salary": [0.1, 40_000]}),
            ValueError,
            "column 'salary', row 1: 40000.0 is not a degree of truth in [0, 1]",
        ),
    ],
)
def test_what_is_wrong_is_said_in_one_line(make, error, message):
    with pytest.raises(error) as caught:
        make()
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("n_jobs", [1, 2, -1])
def test_many_rows_run_compiled_and_agree_with_few(n_jobs):
    rng = np.random.default_rng(0)
    rows = 150_001
    X = {name: rng.normal(size=rows) for name in "abcd"}
    X["a"][[0, 70_000]] = np.nan
    X["b"][:4] = [np.inf, -np.inf, 1e300, -1e300]
    X["t"] = rng.choice([0, 0.3, 1], rows)
    X["k"] = rng.choice(["red", "blue"], rows)
    tree = Tree.parse(
        "1.2(a[half at 0, slope 3, missing 0.2], HD(b[0 at -1, 0.7 at 0, 0.2 at 1], t, SC(t, c[half at 0, slope -9])), "
        'CC(t, not k[1 if "red", 0.5 if "blue"]), exact 0.6(d[1 at 0, 0 at 2], A(t, a[0 at 0, 1 at 1, missing 1])))'
    )
    many = tree.evaluate(X, n_jobs=n_jobs)
    few = [
        tree.evaluate({name: column[start : start + 9_999] for name, column in X.items()})
        for start in range(0, rows, 9_999)
    ]
    assert np.abs(many - np.concatenate(few)).max() < 1e-13
    by_node = tree.evaluate(X, nodes=True, n_jobs=n_jobs)
    assert (by_node[()] == many).all()
    assert set(by_node) == {path for path, _ in tree.walk()}


def test_the_row_is_named_among_many():
    X = {"a": np.linspace(0, 1, 200_000)}
    X["a"][123_456] = np.nan
    for leaf in (Leaf("a"), Leaf("a", Ramp.between(0, 1)), Leaf("a", Sigmoid(0, 1))):
        with pytest.raises(ValueError, match="column 'a', row 123456: the value is missing"):
            Tree(leaf).evaluate(X, n_jobs=2)


def test_a_chain_of_thousands_of_gates():
    node = Leaf("x0")
    for i in range(1, 3000):
        node = Gate([node, f"x{i}"], "HC" if i % 2 else "SD")
    tree = Tree(node)
    assert tree.depth == 2999
    assert pickle.loads(pickle.dumps(tree)) == tree  # noqa: S301
    X = np.random.default_rng(0).random((5, 3000))
    low, high = tree.bounds(X)
    assert (low == high).all()
    assert low == pytest.approx(tree.evaluate(X))


def test_equal_weights_are_not_told_as_weights():
    even, uneven = Tree.parse("A(a, b, not A(c, d))"), Tree.parse("A(a: 0.6, b: 0.2, not A(c: 0.3, d: 0.7): 0.2)")
    assert str(even).count("nice to have (A)") == 2
    assert "by weight" not in str(even)
    assert str(uneven).count("nice to have, by weight (A)") == 2
