import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import completions, givens, leaves, monotone_ramps, nodes, ramps, sigmoids, tables, unique_features

from baconlogic import Leaf, Not, Tree
from baconlogic.core.bounds import TOLERANCE

LETTERS = ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j"]


def hide(tree, X, hidden):
    """The first row of X with some features missing."""
    return {name: [None if name in hidden else column[0]] for name, column in X.items()}


any_tree = nodes(leaves(st.sampled_from(LETTERS), st.one_of(givens, ramps(), sigmoids, tables))).map(Tree)


@settings(max_examples=40)
@given(any_tree.map(unique_features), st.integers(0, 2**32 - 1), st.data())
def test_bounds_bracket_every_completion(tree, seed, data):
    rng = np.random.default_rng(seed)
    X = completions(tree, rng, 10_000)
    hidden = data.draw(st.sets(st.sampled_from(sorted(X)), min_size=1))
    for name in set(X) - hidden:
        X[name] = [X[name][0]] * 10_000
    (low,), (high,) = tree.bounds(hide(tree, X, hidden))
    truths = tree.evaluate(X)
    assert low <= truths.min() + 1e-12
    assert truths.max() <= high + 1e-12


@settings(max_examples=40)
@given(nodes(leaves(st.just("a"), monotone_ramps())).map(Tree).map(unique_features))
def test_bounds_are_attained(tree):
    """Ramps reach their extremes, so a row that reaches each bound can be written down."""
    highest, sign = {}, {(): 1}
    for path, node in tree.walk():
        for i in range(len(node.children)):
            sign[(*path, i)] = -sign[path] if isinstance(node, Not) else sign[path]
        if isinstance(node, Leaf):
            highest[node.feature] = sign[path] * (1e9 if node.criterion.rising else -1e9)
    (low,), (high,) = tree.bounds({name: [np.nan] for name in tree.features})
    assert high == pytest.approx(tree.evaluate({name: [x] for name, x in highest.items()})[0], abs=1e-12)
    assert low == pytest.approx(tree.evaluate({name: [-x] for name, x in highest.items()})[0], abs=1e-12)


def test_known_rows_have_equal_bounds():
    tree = Tree.parse("SC(a, HD(b[0 at 0, 1 at 9], not c))")
    X = {"a": [0.3, 1], "b": [4, 12], "c": [0, 0.7]}
    low, high = tree.bounds(X)
    assert (low == high).all()
    assert low == pytest.approx(tree.evaluate(X))


def test_missing_means_unknown_even_where_a_truth_for_missing_is_stated():
    assert [side.tolist() for side in Tree.parse("a[missing 0.5]").bounds({"a": [np.nan]})] == [[0], [1]]
    assert [side.tolist() for side in Tree.parse("a[0.2 at 0, 0.7 at 1]").bounds({"a": [np.nan]})] == [[0.2], [0.7]]


def test_an_unknown_category_may_be_any_of_the_table():
    tree = Tree.parse('k[0.9 if "red", 0.2 if "blue"]')
    assert [side.tolist() for side in tree.bounds({"k": [None, "red"]})] == [[0.2, 0.9], [0.9, 0.9]]


def test_intervals():
    tree = Tree.parse("C(age[0 at 20, 1 at 60, 0 at 80]: 0.5, dose[1 at 0, 0 at 10]: 0.5)")
    low, high = tree.bounds({"age": [50.0, 30.0], "dose": [0, 0]}, {"age": [70.0, np.nan], "dose": [0, 5]})
    assert low == pytest.approx(tree.evaluate({"age": [70, 80], "dose": [0, 5]}))
    assert high == pytest.approx(tree.evaluate({"age": [60, 60], "dose": [0, 0]}))


def test_a_feature_used_twice_the_same_way_is_exact():
    tree = Tree.parse("HC(x[0 at 0, 1 at 1], x[half at 3, slope 1], not x[1 at 0, 0 at 9])")
    (low,), (high,) = tree.bounds({"x": [2.0]}, {"x": [4.0]})
    assert [low, high] == pytest.approx(tree.evaluate({"x": [2, 4]}), abs=1e-15)


@pytest.mark.parametrize(
    "text",
    [
        "CP(x[half at 3, slope 2], not x[half at 6, slope 2], y)",
        "CP(x[0 at 1, 1 at 3], x[1 at 4, 0 at 7], y)",
        "HD(HC(x[half at 3, slope 2], x[half at 6, slope -2]), y, not x[half at 4, slope 9])",
        "HC(x, not x, y)",
        "SC(x[0 at 0, 1 at 5, 0 at 9], x[0 at 3, 1 at 6], y)",
    ],
)
def test_a_feature_that_pulls_both_ways_is_bounded_closely(text):
    tree = Tree.parse(text)
    x = np.linspace(0, 1, 200_001) if "x, " in text else np.linspace(-20, 30, 200_001)
    truths = tree.evaluate({"x": x, "y": np.full(len(x), 0.6)})
    (low,), (high,) = tree.bounds({"x": [np.nan], "y": [0.6]})
    assert low <= truths.min() + 1e-12
    assert truths.max() <= high + 1e-12
    assert high - truths.max() <= 2 * TOLERANCE
    assert truths.min() - low <= 2 * TOLERANCE


def test_a_category_used_twice_is_bounded_exactly():
    tree = Tree.parse(
        'C(k[1 if "a", 0.1 if "b", other 0.4], not k[1 if "a", 0.2 if "b", other 0.3], k[0 if "z", other 1])'
    )
    (low,), (high,) = tree.bounds({"k": [None]})
    truths = tree.evaluate({"k": ["a", "b", "z", "anything"]})
    assert [low, high] == pytest.approx([truths.min(), truths.max()], abs=1e-15)


@pytest.mark.parametrize("bands", [2, 5, 10])
def test_bands_that_do_not_share_a_subtree_are_settled_one_by_one(bands):
    each = [f"CP(f{i}[half at {i}, slope 2], not f{i}[half at {i + 2}, slope 3])" for i in range(bands)]
    tree = Tree.parse(f"SC({', '.join(each)})")
    (low,), (high,) = tree.bounds({f"f{i}": [np.nan] for i in range(bands)})
    best = max(Tree.parse(each[0]).evaluate({"f0": np.linspace(-2, 4, 100_001)}))
    highest = Tree.parse(f"SC({', '.join(f'a{i}' for i in range(bands))})").evaluate(
        {f"a{i}": [best] for i in range(bands)}
    )
    assert high == pytest.approx(highest[0], abs=2 * TOLERANCE)
    assert low == pytest.approx(0.0, abs=1e-12)


def test_columns_whose_leaves_interleave_are_settled_together(caplog):
    tree = Tree.parse(
        "HC(SC(x[half at 0, slope 2], y[half at 1, slope -3]), HD(x[half at 1, slope -2], z[half at 0, slope 1]), "
        "y[half at 0, slope 1], SC(z[half at 0, slope 1], not z[half at 1, slope 1]))"
    )
    grid = np.linspace(-5, 5, 61)
    x, y, z = (axis.ravel() for axis in np.meshgrid(grid, grid, grid))
    truths = tree.evaluate({"x": x, "y": y, "z": z})
    (low,), (high,) = tree.bounds({"x": [np.nan], "y": [np.nan], "z": [np.nan]})
    assert low <= truths.min()
    assert truths.max() <= high <= truths.max() + 0.15
    assert "the bounds hold but are not exact" in caplog.text


@pytest.mark.parametrize(
    "text",
    [
        "SC(x[half at 1e6, slope 1e5], not x[half at 1e6, slope 1e5])",
        "SC(x[0 at 1.7e9, 1 at 1700000000.1], not x[0 at 1.7e9, 1 at 1700000000.1])",
        "C(x[half at 1.7e9, slope 1e10], not x[half at 1.8e9, slope 1e10])",
        "C(x[half at 5, slope 1e20], not x[half at 7, slope 1e20])",
        "C(x[half at 5, slope 1e-306], not x[half at 7, slope 1e-306])",
    ],
)
def test_steep_and_flat_criteria_do_not_hang_or_escape(text):
    tree = Tree.parse(text)
    (low,), (high,) = tree.bounds({"x": [np.nan]})
    truths = tree.evaluate({"x": [-np.inf, -1e308, 0, 5, 6, 7, 1e6, 1.7e9, 1700000000.05, 1.75e9, 1e308, np.inf]})
    assert low <= truths.min() + 1e-12
    assert truths.max() <= high + 1e-12


def test_tables_without_a_common_category_and_mixed_readings_are_said(caplog):
    tree = Tree.parse('C(k[1 if "a", 0 if "c"], k[0.5 if "b", 1 if "d"])')
    with pytest.raises(ValueError, match="column 'k' is unknown, but no category is in all the tables that read it"):
        tree.bounds({"k": [None]})
    low, high = Tree.parse("C(x[1 if 1, other 0], x[0 at 0, 1 at 2])").bounds({"x": [None]})
    assert low <= 0 < 0.602 < high
    assert "'x' is read as a number and as a category" in caplog.text


def test_many_columns_that_pull_both_ways_in_one_gate_are_bracketed(caplog):
    leaves = ", ".join(f"f{i}[half at 0, slope 1], f{i}[half at 1, slope -1]" for i in range(9))
    (low,), (high,) = Tree.parse(f"A({leaves})").bounds({f"f{i}": [None] for i in range(9)})
    assert low <= 0.5 <= 0.6225 <= high < 1.0
    assert "the bounds hold but are not exact" in caplog.text


def test_two_features_that_pull_both_ways_are_bracketed():
    tree = Tree.parse(
        "C(HD(x[half at 0, slope 1], y[half at 0, slope -1]), HD(x[half at 1, slope -2], y[half at 1, slope 2]))"
    )
    rng = np.random.default_rng(0)
    truths = tree.evaluate({"x": rng.normal(0, 4, 50_000), "y": rng.normal(0, 4, 50_000)})
    (low,), (high,) = tree.bounds({"x": [np.nan], "y": [np.nan]})
    assert low <= truths.min()
    assert truths.max() <= high
    assert high - truths.max() < 1e-2


@pytest.mark.parametrize(
    ("lower", "upper", "message"),
    [
        ({"a": [0.5]}, {"a": [0.2]}, "column 'a', row 0: the interval from 0.5 to 0.2 is empty"),
        ({"a": [0.5]}, {"a": [0.6, 0.7]}, "must have the same rows, got 1 and 2"),
        ({"a": [2.0]}, None, "column 'a': 2.0 is not a degree of truth"),
        ({"b": [2.0]}, None, "missing column 'a'"),
    ],
)
def test_bad_intervals(lower, upper, message):
    with pytest.raises(ValueError, match=message):
        Tree("a").bounds(lower, upper)
