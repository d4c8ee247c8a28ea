"""Crisp chains are recovered: exactly where some chain explains the rows, nearly so under noise."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from baconlogic import datasets
from baconlogic.kernel.loops import MISSING
from baconlogic.learn.search.peel import peel
from baconlogic.learn.search.problem import Problem
from baconlogic.learn.search.refine import gate_bounds


def problem(X, y, **rest):
    """Learned columns, no expert's say."""
    rows, columns = np.shape(X)
    usual = {
        "share": np.full(rows, 1.0 / rows),
        "learned": np.ones(columns, dtype=bool),
        "features": np.arange(columns),
        "direction": np.zeros(columns, dtype=np.int64),
        "low": np.full(columns, -1.0),
        "high": np.full(columns, 2.0),
    }
    return Problem(np.ascontiguousarray(np.transpose(X), dtype=float), np.asarray(y, dtype=float), **usual | rest)


def truths(task, chain):
    draft = chain.draft
    return task.truths(draft)


def decides(task, chain):
    return truths(task, chain) > chain.draft.parts.link[1]


def labels(task, chain):
    """What the crisp chain says: from the top, the first rule that holds a row labels it."""
    found = np.full(task.rows, chain.rest == 1)
    for rule in reversed(chain.rules):
        found[rule.holds(task.X)] = rule.label == 1
    return found


def settled(task, chain):
    """The labels of the rows that each rule settles."""
    left = np.ones(task.rows, dtype=bool)
    for rule in chain.rules:
        inside = left & rule.holds(task.X)
        yield rule, task.y[inside]
        left &= ~inside


def uniform(rows, columns, seed=0):
    return np.random.default_rng(seed).uniform(-1.0, 1.0, (rows, columns))


@given(st.integers(2, 9), st.integers(0, 10**6), st.booleans())
@settings(max_examples=20)
def test_every_chain_is_recovered_from_its_truth_table(n, seed, negate):
    task = problem(*datasets.boolean(datasets.random_chain(n, seed, negate=negate)))
    chain = peel(task)
    assert chain.exact
    assert chain.draft.leaves == n
    assert (labels(task, chain) == task.y).all()
    assert np.abs(truths(task, chain) - task.y).max() < 1e-3


def test_a_disjunction_of_twelve_is_recovered_though_one_row_tells_it_from_a_constant():
    task = problem(*datasets.boolean(datasets.chain(["or"] * 11)))
    assert peel(task).exact


@given(st.integers(0, 10**6))
@settings(max_examples=20)
def test_the_graded_tree_says_what_the_crisp_chain_says(seed):
    rng = np.random.default_rng(seed)
    X = np.round(rng.uniform(-1.0, 1.0, (80, 4)), 1)
    y = rng.random(80) < 0.5
    y[:] = y[0]
    for _ in range(5):
        y[rng.choice([-1.0, 1.0]) * (X[:, rng.integers(4)] - rng.uniform(-1.0, 1.0)) > 0.7] = rng.random() < 0.5
    task = problem(X, y)
    chain = peel(task)
    assert (decides(task, chain) == labels(task, chain)).all()
    assert not chain.rules or np.abs(truths(task, chain) - labels(task, chain)).max() < 1e-3
    assert chain.errors == pytest.approx(np.mean(labels(task, chain) != y))
    assert chain.errors <= min(y.mean(), 1.0 - y.mean()) + 1e-9


@pytest.mark.parametrize("seed", range(10))
def test_one_label_in_ten_may_be_wrong(seed):
    expression = datasets.random_chain(7, seed, negate=True)
    chain = peel(problem(*datasets.boolean(expression, repeats=100, noise=0.1, random_state=seed)))
    clean = problem(*datasets.boolean(expression))
    assert (decides(clean, chain) == clean.y).all()
    assert 0.09 < chain.errors < 0.11
    assert not chain.exact


def test_thresholds_are_found_among_numeric_columns_that_do_not_matter():
    X = uniform(2000, 30)
    y = (X[:, 3] > 0.6) | ((X[:, 5] <= 0.2) & (X[:, 7] > -0.4))
    chain = peel(problem(X, y))
    assert chain.exact
    found = {(rule.column, round(rule.cut, 1)) for rule in chain.rules}
    assert found == {(3, 0.6), (5, 0.2), (7, -0.4)}
    assert chain.draft.columns[-1] == chain.rules[0].column  # the first peeled is the top
    assert chain.draft.columns[0] == chain.rules[-1].column


def test_noisy_thresholds_are_found_and_random_columns_left_out():
    X, rng = uniform(4000, 30), np.random.default_rng(1)
    y = (X[:, 3] > 0.3) & (X[:, 5] <= 0.5)
    chain = peel(problem(X, y ^ (rng.random(4000) < 0.05)))
    assert {rule.column for rule in chain.rules} == {3, 5}
    assert (labels(problem(X, y), chain) == y).mean() > 0.99


def test_random_labels_give_a_constant():
    y = np.random.default_rng(3).random(500) < 0.3
    task = problem(uniform(500, 10), y)
    chain = peel(task)
    assert chain.rules == ()
    assert chain.rest == 0
    assert chain.draft.leaves == 1
    assert not decides(task, chain).any()
    assert chain.errors == pytest.approx(y.mean())


@pytest.mark.parametrize("label", [0, 1])
def test_one_label_alone_gives_that_constant(label):
    task = problem(uniform(20, 2), np.full(20, label))
    chain = peel(task)
    assert chain.exact
    assert (decides(task, chain) == label).all()


@pytest.mark.parametrize("way", [-1, 1])
def test_leaves_keep_to_the_direction_of_their_column(way):
    X = uniform(1000, 3)
    chain = peel(problem(X, (X[:, 0] > 0) & (X[:, 1] < 0), direction=np.full(3, way)))
    assert (way * chain.draft.parts.slope > 0.0).all()


def test_gates_keep_to_the_bounds_of_andness():
    X = uniform(1000, 3)
    only_and = problem(X, (X[:, 0] > 0) | ((X[:, 1] < 0.3) & (X[:, 2] < 0.5)), low=np.full(3, 0.6))
    chain = peel(only_and)
    low, high = gate_bounds(only_and, chain.draft)
    assert ((low <= chain.draft.parts.andness) & (chain.draft.parts.andness <= high)).all()
    assert {rule.label for rule in chain.rules} == {0}


def test_without_reuse_a_feature_is_used_once_and_most_bounds_the_leaves():
    X = uniform(1000, 3)
    band = (X[:, 0] > -0.5) & (X[:, 0] < 0.5)
    assert peel(problem(X, band)).exact
    once = peel(problem(X, band, reuse=False))
    assert len(set(once.draft.columns)) == once.draft.leaves
    assert peel(problem(X, band), most=1).draft.leaves == 1
    with pytest.raises(ValueError, match="at least one leaf"):
        peel(problem(X, band), most=0)


def test_a_rule_that_a_wider_one_covers_is_left_out():
    rng = np.random.default_rng(20712)  # three views of one thing, and noise
    rows = int(rng.integers(20, 120))
    seen = rng.normal(size=rows)
    X = np.column_stack([seen + 0.5 * rng.normal(size=rows) for _ in range(3)])
    task = problem(X, (X[:, 0] > 0.0) ^ (rng.random(rows) < 0.2))
    chain = peel(task)
    assert chain.rules
    assert all(y.size for _, y in settled(task, chain))


def test_missing_values_settle_nothing():
    X = uniform(1000, 2)
    y = (X[:, 0] > 0.2) | (X[:, 1] > 0.5)
    X[::5, 0] = MISSING
    y[::5] = X[::5, 1] > 0.5
    task = problem(X, y)
    chain = peel(task)
    assert chain.exact
    assert (decides(task, chain) == y).all()


def test_fixed_truths_enter_as_they_are_and_only_where_the_literal_is_positive():
    X, _ = datasets.boolean(datasets.random_chain(3, 0))
    fixed = np.zeros(3, dtype=bool)
    chain = peel(problem(X, (X[:, 0] > 0) & (X[:, 2] > 0), learned=fixed))
    assert chain.exact
    assert set(chain.draft.columns) == {0, 2}
    assert not peel(problem(X, (X[:, 0] > 0) & (X[:, 2] < 1), learned=fixed)).exact
    complement = np.c_[X, 1.0 - X[:, 2]]
    chain = peel(problem(complement, (X[:, 0] > 0) & (X[:, 2] < 1), learned=np.zeros(4, dtype=bool)))
    assert set(chain.draft.columns) == {0, 3}
    graded = peel(problem(0.5 + 0.3 * (X - 0.5), X[:, 0], learned=fixed))
    assert graded.rules == ()


def test_rows_of_no_weight_are_not_looked_at():
    X = uniform(300, 2)
    y = X[:, 0] > 0
    wrong = np.arange(300) % 3 == 0
    share = np.where(wrong, 0.0, 1.0 / 200)
    chain = peel(problem(X, y ^ wrong, share=share))
    assert chain.exact
    assert len(chain.rules) == 1


def test_each_rule_of_an_exact_chain_settles_rows_of_its_label():
    X = uniform(1000, 3)
    task = problem(X, (X[:, 0] > 0) & (X[:, 1] > 0))
    for rule, y in settled(task, peel(task)):
        assert y.size
        assert (y == rule.label).all()


@pytest.mark.parametrize("case", ["A", "B"])
def test_the_house_rules_are_found(case):
    data = datasets.houses(case, rows=4000)
    chain = peel(problem(data.X, data.y))
    assert chain.exact
    cuts = dict(datasets.house_rule(case).thresholds)
    assert {data.feature_names[rule.column] for rule in chain.rules} == set(cuts)
    for rule in chain.rules:
        assert rule.cut == pytest.approx(cuts[data.feature_names[rule.column]], rel=0.2)
