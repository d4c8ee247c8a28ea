"""Simplifying keeps truths: on paper exactly, in floats to 1e-12 wherever the tree itself is not lost in rounding."""

from pathlib import Path

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import completions, givens, leaves, nodes, ramps, sigmoids, tables, unique_features

from baconlogic import Gate, Leaf, Not, Tree, load
from baconlogic.core.criteria import Sigmoid
from baconlogic.core.levels import LEVELS
from baconlogic.core.nodes import flatten
from baconlogic.edit import simplify

LETTERS = st.sampled_from("abcdefghij")
any_tree = nodes(leaves(LETTERS, st.one_of(givens, ramps(), sigmoids, tables))).map(Tree).map(unique_features)
extreme = st.sampled_from([0.0, 1.0, 1e-300, 1e-17, 1e-9, 0.5, 0.999, 1 - 1e-9, 1 - 2**-53]) | st.floats(0, 1)


def rows_of(tree, seed):
    """Rows for a tree, with missing values where a leaf states a truth for them."""
    rng = np.random.default_rng(seed)
    X = completions(tree, rng, 120)
    for _, leaf in tree.walk():
        if isinstance(leaf, Leaf) and leaf.criterion.missing is not None:
            column = np.array(X[leaf.feature], dtype=object)
            column[rng.random(len(column)) < 0.2] = None
            X[leaf.feature] = column.tolist()
    return X


def gates(tree):
    return sum(isinstance(node, Gate) for _, node in tree.walk())


def negations(tree):
    return sum(isinstance(node, Not) for _, node in tree.walk())


@settings(max_examples=40)
@given(any_tree, st.integers(0, 2**32 - 1))
def test_no_output_changes(tree, seed):
    X = rows_of(tree, seed)
    simpler = simplify(tree)
    change = np.abs(simpler.evaluate(X) - tree.evaluate(X))
    assert change.max() < 1e-3
    every = np.array([truth for path, truth in tree.evaluate(X, nodes=True).items() if isinstance(tree[path], Leaf)])
    sharp = [not isinstance(node.criterion, Sigmoid) for _, node in tree.walk() if isinstance(node, Leaf)]
    whole = ((every == 0) | (every == 1)) & np.array(sharp)[:, None]  # a sigmoid never is, but rounded
    plain = (whole | ((every > 0.01) & (every < 0.99))).all(axis=0)
    assert change[plain].max(initial=0) < 1e-12


def test_no_output_of_large_trees_changes():
    rng = np.random.default_rng(0)
    merged = 0
    for _ in range(250):
        tree = Tree(grown(rng, int(rng.integers(2, 6)), iter(range(1000))))
        simpler = simplify(tree)
        X = np.vstack([rng.random((300, len(tree.features))), rng.integers(0, 2, (50, len(tree.features)))])
        names = list(tree.features)
        assert np.abs(simpler.evaluate(X, columns=names) - tree.evaluate(X, columns=names)).max() <= 1e-12
        merged += gates(tree) - gates(simpler)
    assert merged > 100


def grown(rng, depth, numbers):
    """A random tree of up to 3 ** depth leaves and gates of all levels."""
    if depth == 0 or rng.random() < 0.2:
        return Leaf(f"x{next(numbers)}")
    if rng.random() < 0.1:
        return Not(grown(rng, depth - 1, numbers))
    n = int(rng.integers(2, 4))
    weights = rng.dirichlet(np.full(n, 3.0)) * 0.97 + 0.03 / n
    inputs = [grown(rng, depth - 1, numbers) for _ in range(n)]
    return Gate(inputs, str(rng.choice(list(LEVELS))), weights.tolist())


@settings(max_examples=40)
@given(any_tree)
def test_simplifying_again_changes_nothing_and_adds_no_node(tree):
    simpler = simplify(tree)
    assert simplify(simpler) == simpler
    assert len(flatten(simpler.root)) <= len(flatten(tree.root))
    assert set(simpler.features) == set(tree.features)
    named = {node.name for _, node in tree.walk() if isinstance(node, Gate) and node.name}
    assert named <= {node.name for _, node in simpler.walk()}


def exactly(tree, truths):
    """The truth of a tree of given truths, in 400 digits."""
    found = []
    for node, below in flatten(tree.root):
        if isinstance(node, Leaf):
            found.append(mp.mpf(truths[node.feature]))
        elif isinstance(node, Not):
            found.append(1 - found[below[0]])
        else:
            dual, mean, product, power = node.coefficients
            x = [1 - found[i] if dual else found[i] for i in below]
            if np.isinf(power):
                z = mp.mpf(all(each == 1 for each in x))
            else:
                z = mean * mp.fsum(w * each for w, each in zip(node.weights, x, strict=True))
                z += product * mp.fprod(
                    each ** (len(x) * w * mp.mpf(power)) for w, each in zip(node.weights, x, strict=True)
                )
            found.append(1 - z if dual else z)
    return found[-1]


@settings(max_examples=40)
@given(nodes(leaves(LETTERS, givens)).map(Tree).map(unique_features), st.data())
def test_on_paper_the_two_trees_are_the_same_for_any_truths(tree, data):
    truths = {feature: data.draw(extreme) for feature in tree.features}
    with mp.workdps(400):
        assert abs(exactly(simplify(tree), truths) - exactly(tree, truths)) < 1e-12


@pytest.mark.parametrize(
    ("some", "every"),
    [
        ("D", "C"),
        ("HD", "HC"),
        ("HD-", "HC-"),
        ("HD+", "HC+"),
        ("DP", "CP"),
        ("LHD", "LHC"),
        ("HHD", "HHC"),
        ("DD", "CC"),
    ],
)
def test_a_chain_of_two_kinds_becomes_two_gates(some, every):
    tree = Tree.parse(f"{every}({every}({some}({some}(A, B), C), D), E)")
    simpler = simplify(tree)
    assert gates(simpler) == 2
    assert [leaf.feature for leaf in simpler[0,].children] == ["A", "B", "C"]
    X = np.random.default_rng(0).choice([0, 0.2, 0.5, 0.9, 1], (500, 5))
    names = ["A", "B", "C", "D", "E"]
    assert np.abs(simpler.evaluate(X, columns=names) - tree.evaluate(X, columns=names)).max() < 1e-14


def test_a_left_chain_of_thirty_leaves_becomes_few_gates():
    node = Leaf("x0")
    for i in range(1, 30):
        node = Gate([node, f"x{i}"], [0.86, 0.14][i // 6 % 2], [0.62, 0.38])  # six of a kind
    tree = Tree(node)
    simpler = simplify(tree)
    assert gates(tree) == 29
    assert gates(simpler) <= 6
    X = np.random.default_rng(1).random((300, 30))
    assert np.abs(simpler.evaluate(X) - tree.evaluate(X)).max() < 1e-12


def test_a_hyper_disjunction_whose_rounding_would_show_stays_apart():
    tree = Tree.parse("D(-0.94(a, b): 0.2, c: 0.8)")
    X = {"a": [0.9, 0.98], "b": [0.9, 0.98], "c": [0.9, 0.1]}
    assert np.abs(simplify(tree).evaluate(X) - tree.evaluate(X)).max() < 1e-12
    assert gates(simplify(Tree.parse("D(DP(a, b): 0.3, c: 0.7)"))) == 1


def test_means_merge_and_weights_multiply():
    assert simplify(Tree.parse("A(A(a: 0.7, b: 0.3): 0.5, c: 0.5)")) == Tree.parse("A(a: 0.35, b: 0.15, c: 0.5)")


def test_what_cannot_be_one_gate_stays_nested():
    for formula in (
        "SC(SC(a, b), c)",
        "HC(HD(a, b), c)",
        "HC(A(a, b), c)",
        "C(CC(a, b), c)",
        "0.75(0.75(a, b), c, d, e)",
    ):
        tree = Tree.parse(formula)
        simpler = simplify(tree)
        if simpler != tree:  # two gates at the limit may or may not be one
            assert simpler.root.coefficients.mean == 0
    assert simplify(Tree.parse("SC(SC(a, b), c)")) == Tree.parse("SC(SC(a, b), c)")


def test_a_gate_with_a_name_stays_and_keeps_its_name_when_it_takes_in_others():
    tree = Tree.parse("all = HC(size = HC(HC(a, b), c), HC(d, e))")
    simpler = simplify(tree)
    assert gates(simpler) == 2
    assert simpler["size"].children == (Leaf("a"), Leaf("b"), Leaf("c"))
    assert simpler.root.name == "all"
    assert [child.name or child.feature for child in simpler.root.inputs] == ["size", "d", "e"]


def test_gates_merge_one_by_one_where_not_all_together_do():
    hyper = "CP(CP(CP(CP(a, b), CP(c, d)), CP(CP(e, f), CP(g, h))), CP(CP(CP(i, j), CP(k, l)), CP(CP(m, n), CP(o, p))))"
    tree = Tree.parse(hyper)
    assert 1 <= gates(simplify(tree)) <= 5
    X = np.random.default_rng(0).random((100, 16)) ** 0.1
    names = [*"abcdefghijklmnop"]
    assert simplify(tree).evaluate(X, columns=names) == pytest.approx(tree.evaluate(X, columns=names), abs=1e-13)


def test_a_weight_too_small_for_a_float_does_not_crash():
    node = Gate(["a", "b"], 0.5, [1e-200, 1.0])
    tree = Tree(Gate([Gate([node, "c"], 0.5, [1e-200, 1.0]), "d"], 0.5))
    assert simplify(simplify(tree)) == simplify(tree)
    deep = Leaf("x0")
    for i in range(1, 1500):
        deep = Gate([deep, f"x{i}"], 0.5)
    assert gates(simplify(Tree(deep))) < 5


def test_negations_cancel_or_go_into_leaves():
    cases = {
        "not not a": "a",
        "not a": "not a",
        "not a[half at 3, slope 2, missing 0.25]": "a[half at 3, slope -2, missing 0.75]",
        "HC(not a[0 at 1, 0.9 at 2], b)": "HC(a[1 at 1, 0.1 at 2], b)",
        'not a[0.1 if "red", other 1, missing 0]': 'a[0.9 if "red", other 0, missing 1]',
        "not HC(not a, not b)": "HD(a, b)",
        "not HC(a, b)": "not HC(a, b)",
        "not 0.9(not a: 0.4, not C(b, c): 0.6)": None,
        "not size = HC(not a, not b)": "not size = HC(not a, not b)",
        "not large = a[half at 3, slope 2]": "not large = a[half at 3, slope 2]",
        "HD(a, not HC(not b, not c))": None,
    }
    for before, after in cases.items():
        simpler = simplify(Tree.parse(before))
        if after is None:
            assert negations(simpler) == 0, before
        else:
            assert simpler == Tree.parse(after), before
    assert gates(simplify(Tree.parse("HD(a, not HC(not b, not c))"))) == 1


def test_a_tolerance_merges_similar_gates_and_drops_leaves_without_effect():
    tree = Tree.parse("0.52(0.51(a, b): 0.6, 0.53(c, d): 0.399, e: 0.001)")
    simpler = simplify(tree, 0.1)
    assert gates(simpler) == 1
    assert "e" not in simpler.features
    rng = np.random.default_rng(5)
    X = {name: rng.random(2000) for name in "abcde"}
    assert 1e-6 < np.abs(simpler.evaluate(X) - tree.evaluate(X)).max() <= 0.1
    assert simplify(tree) == tree


@settings(max_examples=25)
@given(any_tree, st.integers(0, 2**32 - 1), st.sampled_from([0.003, 0.05, 0.3]))
def test_over_rows_no_truth_changes_by_more_than_the_tolerance(tree, seed, tolerance):
    X = rows_of(tree, seed)
    simpler = simplify(tree, tolerance, X)
    assert np.abs(simpler.evaluate(X) - tree.evaluate(X)).max() <= tolerance + 1e-12
    assert len(flatten(simpler.root)) <= len(flatten(simplify(tree).root))
    assert {n.name for _, n in tree.walk() if isinstance(n, Gate) and n.name} - {
        n.name for _, n in simpler.walk()
    } == set()


def test_a_tolerance_on_the_sample_is_the_same_every_time_and_rows_allow_more():
    tree = Tree.parse("HC(HC-(a, b), SC+(c, d))")
    assert simplify(tree, 0.1) == simplify(tree, 0.1)
    X = {name: [0.8, 0.9] for name in "abcd"}
    assert len(flatten(simplify(tree, 0.1, X).root)) < len(flatten(simplify(tree, 0.1).root))


def test_a_tolerance_that_is_none_is_refused():
    for wrong in (-0.1, 2, float("nan")):
        with pytest.raises(ValueError, match="tolerance is a difference of truths"):
            simplify(Tree("a"), wrong)


def test_a_learned_tree_prints_in_ten_lines():
    tree = load(Path(__file__).parents[2] / "docs" / "malignant.json").tree
    assert len(str(tree).splitlines()) == 11
    assert len(str(simplify(tree)).splitlines()) == 10
