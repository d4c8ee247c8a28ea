from itertools import islice

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from objective import joins_each_once

from baconlogic.kernel import loops
from baconlogic.kernel import loss as kernel
from baconlogic.learn.search import draft as drafts
from baconlogic.learn.search.growth import Grower
from baconlogic.learn.search.problem import Problem
from baconlogic.learn.search.refine import ANDNESS, GATES, refine, sharpen
from baconlogic.learn.search.screen import BINS, SHORTLIST, Screen, bins


def problem(X, y, **rest):
    n = len(X)
    usual = {
        "share": np.full(len(y), 1 / len(y)), "learned": np.ones(n, bool), "features": np.arange(n),
        "direction": np.zeros(n, int), "low": np.full(n, -1.0), "high": np.full(n, 2.0),
    }  # fmt: skip
    return Problem(np.ascontiguousarray(X, float), np.asarray(y, float), **usual | rest)


def noisy(rows=300, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(5, rows))
    return problem(X, (X[0] > 0) & (X[1] + 0.3 * rng.normal(size=rows) < 0.5))


def loss(p, draft):
    truths = p.truths(draft)
    u = draft.parts.link[0] * (truths - draft.parts.link[1])
    return p.share @ (np.logaddexp(0, u) - p.y * u)


def grown(seed, leaves):
    rng = np.random.default_rng(seed)
    draft = drafts.single(drafts.Literal(0, 2.0, 0.1))
    for _ in range(leaves - 1):
        leaf = drafts.Literal(int(rng.integers(5)), float(rng.normal()) or 1.0, float(rng.normal()))
        node = int(rng.integers(2 * draft.leaves - 1))
        draft = drafts.insert(draft, node, leaf, float(rng.uniform(0.1, 0.9)), float(rng.uniform(-0.9, 1.9)))
    return draft


@given(st.integers(0, 10**6), st.integers(2, 8))
def test_removing_what_was_inserted_gives_the_draft_back(seed, leaves):
    draft, rng = grown(seed, leaves), np.random.default_rng(seed)
    node = int(rng.integers(2 * leaves - 1))
    longer = drafts.insert(draft, node, drafts.Literal(3, 1.0, 0.0, 0.5), 0.3, 0.9)
    assert joins_each_once(longer.shape, leaves + 1)
    back = drafts.remove(longer, leaves)
    assert [side.tolist() for side in back.shape] == [side.tolist() for side in draft.shape]
    assert back.columns.tolist() == draft.columns.tolist()
    assert back.parameters.tolist() == draft.parameters.tolist()


def test_an_inserted_leaf_that_weighs_nothing_changes_nothing():
    p, draft = noisy(), grown(1, 4)
    for node in range(7):
        longer = drafts.insert(draft, node, drafts.Literal(2, 1.0, 0.0), 1.0, 0.5)
        assert loss(p, longer) == pytest.approx(loss(p, draft), rel=1e-12)


def test_refinement_lowers_the_loss_and_keeps_directions_and_bounds():
    p, start = noisy(), grown(2, 5)
    before, draft = refine(p, start, 0), refine(p, start, 60)
    assert draft.loss < before.loss
    assert (np.sign(draft.parts.slope) == np.sign(start.parts.slope)).all()
    hard = problem(p.X, p.y, andness=(0.75, 1.5))
    bounded = refine(hard, start, 60)
    assert ((bounded.parts.andness >= 0.75) & (bounded.parts.andness <= 1.5)).all()


def test_screening_predicts_the_change_of_the_loss():
    """What is predicted from bins and levels is close to what the insertion does."""
    p = noisy(1000)
    draft = refine(p, drafts.single(drafts.Literal(0, 2.0, 0.0)), 60)
    best = list(islice(Screen(p).insertions(draft, np.arange(5)), 3))
    assert best
    for proposal in best:
        longer = drafts.insert(draft, proposal.node, proposal.leaf, proposal.weight, proposal.andness)
        assert loss(p, longer) - loss(p, draft) == pytest.approx(proposal.change, abs=0.03)
    assert best[0].leaf.column == 1
    assert best[0].leaf.slope < 0


def test_of_a_wide_table_the_columns_that_matter_are_tried_by_all_gates():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3 * SHORTLIST, 500))
    wide = problem(X, (X[0] > 0) & (X[200] < 0.5) | (X[250] > 1.5), low=np.full(len(X), 0.9))
    draft = refine(wide, drafts.single(drafts.Literal(0, 2.0, 0.0)), 60)
    screen, columns = Screen(wide), np.arange(len(X))
    chosen = screen._worthwhile(draft, np.array([0]), columns)
    assert len(chosen) == SHORTLIST
    assert {200, 250} <= set(chosen)
    assert next(screen.insertions(draft, columns)) == next(screen.insertions(draft, np.array([200])))


def test_sharpening_finds_the_cut_between_neighbouring_values():
    x = np.arange(100.0) / 10
    p = problem([x], x > 3.0)
    soft = refine(p, drafts.single(drafts.Literal(0, 2.0, 5.0)), 10)
    crisp = sharpen(p, soft)
    assert 3.0 < crisp.parts.centre[0] < 3.1
    assert crisp.parts.slope[0] > 100
    assert loss(p, crisp) < loss(p, soft)


def test_bins_keep_equal_values_together_and_mark_missing_ones():
    rng = np.random.default_rng(0)
    x = np.round(rng.normal(size=500), 1)
    x[::7] = loops.MISSING
    (found,), _ = bins(x[None])
    assert (found[::7] == BINS).all()
    for value in np.unique(x[x < 1e50]):
        assert len(set(found[x == value])) == 1
    known = x < 1e50
    order = np.argsort(x[known])
    assert (np.diff(found[known][order].astype(int)) >= 0).all()


def test_a_band_needs_the_same_feature_twice():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(2, 600))
    y = np.abs(x[0]) < 0.7
    losses = {reuse: min(s.loss for s in Grower(problem(x, y, reuse=reuse)).run(3).values()) for reuse in (True, False)}
    assert losses[True] < 0.15
    assert losses[False] > 0.4


def test_a_missing_value_that_tells_the_class_is_learned():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(1, 400))
    y = rng.random(400) < 0.3
    x[0, y] = loops.MISSING
    best = Grower(problem(x, y)).run(1)[1]
    assert best.loss < 0.2
    assert best.parts.missing[0] > 0


@given(st.integers(0, 2**32 - 1), st.sampled_from([ANDNESS, GATES]))
def test_what_is_pinned_stays_and_the_rest_only_gains(seed, pinned):
    """The loss that falls is the one that is told: nothing that has no effect may be paid for by what has one."""
    rng = np.random.default_rng(seed)
    X = rng.normal(0.0, 1.0, (4, 120))
    own = problem(X, (X[0] + X[1] * X[2] + rng.normal(0.0, 0.5, 120) > 0.0).astype(float))
    leaves = [drafts.Literal(k, *rng.normal(0.0, 1.0, 2)) for k in range(4)]
    few = [[0.01, 0.5, 0.49], [0.99, 0.01]]  # less than a descent gives to any
    even = [rng.dirichlet([2.0] * 3) * 0.94 + 0.02, rng.dirichlet([2.0] * 2) * 0.94 + 0.03]
    weights = np.concatenate(few if seed % 2 else even)
    start = drafts.join(kernel.topology([[0, 1, 2], [4, 3]]), leaves, weights, rng.choice([0.25, 0.5, 0.75], 2))
    end = refine(own, start, 20, pinned=pinned)
    np.testing.assert_array_equal(end.parts.andness, start.parts.andness)
    if pinned == GATES:
        np.testing.assert_array_equal(end.parts.weight, start.parts.weight)
    assert end.loss <= refine(own, start, 0, pinned=pinned).loss + 1e-12
    assert np.isclose(end.loss, refine(own, end, 0, pinned=pinned).loss, rtol=1e-9)
