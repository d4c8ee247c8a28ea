"""Newton's steps go where the compiled descent goes, and keep what is to stay."""

import numpy as np
import pytest
from card_laws import card_problem

from baconlogic.core.columns import Columns
from baconlogic.kernel.loss import parts, topology
from baconlogic.learn import encode
from baconlogic.learn.search import draft as drafts
from baconlogic.learn.search.conditions import CUT, Condition
from baconlogic.learn.search.graded import _own
from baconlogic.learn.search.newton import newton
from baconlogic.learn.search.refine import ANDNESS, FLOOR, GATES, refine


def a_problem(seed, rows=300, holes=0.0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, 5))
    X[rng.random((rows, 5)) < holes] = np.nan
    score = np.nan_to_num(X[:, 0]) + np.minimum(np.nan_to_num(X[:, 1]), np.nan_to_num(X[:, 2]))
    problem = card_problem(
        encode.read(Columns(X), np.ones(rows)), (score + rng.logistic(0.0, 0.5, rows) > 0).astype(float)
    )
    return _own(problem, [Condition(j, CUT, (0.0,)) for j in range(5)])


def a_start(rng):
    leaves = [drafts.Literal(k, rng.choice([-1.0, 1.0]) * 2.0, 0.0) for k in range(5)]
    andness = [rng.choice([0.2, 0.7, 1.25]), rng.choice([0.3, 0.5, 0.8])]
    return drafts.join(topology([[0, 1, 2], [5, 3, 4]]), leaves, np.full(6, 1.0 / 3.0), andness)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("holes", [0.0, 0.1])
def test_a_few_steps_reach_what_the_descent_reaches(seed, holes):
    problem, start = a_problem(seed, holes=holes), a_start(np.random.default_rng(seed))
    before = newton(problem, start, 0).loss
    losses = [newton(problem, start, steps).loss for steps in (1, 2, 4, 8, 60)]
    assert losses == sorted(losses, reverse=True)
    assert losses[0] <= before
    assert losses[-1] * problem.cases < refine(problem, start, 200).loss * problem.cases + 3.0


@pytest.mark.parametrize("pinned", [ANDNESS, GATES])
def test_what_is_pinned_stays_to_the_last_digit(pinned):
    problem, start = a_problem(0), a_start(np.random.default_rng(0))
    end = newton(problem, start, 10, pinned=pinned)
    assert end.loss < newton(problem, start, 0, pinned=pinned).loss
    np.testing.assert_allclose(end.parts.andness, start.parts.andness, rtol=1e-9)
    if pinned == GATES:
        assert np.array_equal(end.parts.weight, start.parts.weight)


def test_weights_stay_shares_and_directions_stay():
    problem, start = a_problem(1), a_start(np.random.default_rng(1))
    end = newton(problem, start, 30)
    for own in end.shape.by_gate(parts(end.parameters, end.shape).weight):
        assert own.sum() == pytest.approx(1.0)
        assert (own >= FLOOR / len(own) - 1e-12).all()
    assert np.array_equal(np.sign(end.parts.slope), np.sign(start.parts.slope))
