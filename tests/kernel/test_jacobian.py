"""The equations in numpy say what the compiled kernel says, and their curvature is that of Gauss and Newton."""

import numpy as np
import pytest
from objective import Objective
from test_kernel import CATEGORIES, JOINTS, SHAPES, moved_weights, parameters, rows_of

from baconlogic.core import gcd
from baconlogic.kernel.jacobian import BLOCK, FLATTEST, equations, node_truths


def tree_on(shape, kind, rule, rows, rng, andness=None, m=5):
    kinds = [kind] * m if kind != "any" else rng.choice(["learned", "given", "table"], m).tolist()
    categories = [CATEGORIES * (each == "table") for each in kinds]
    hung, y = SHAPES[shape](m, rng), rng.choice([0, 1, 0.3], rows)
    objective = Objective(
        hung, range(m), rows_of(kinds, rows, rng), y, rng.uniform(0.1, 1, rows), aggregator=gcd.AGGREGATORS[rule],
        learned=[each != "given" for each in kinds], categories=categories,
    )  # fmt: skip
    return objective, parameters(hung, rng, andness, sum(categories))


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("andness", [None, JOINTS])
@pytest.mark.parametrize("kind", ["learned", "given", "table", "any"])
@pytest.mark.parametrize("rule", ["gcd", "exact"])
def test_loss_gradient_and_truths_are_those_of_the_compiled_kernel(shape, andness, kind, rule):
    rng = np.random.default_rng(len(shape) + 2 * len(kind))
    objective, p = tree_on(shape, kind, rule, 40, rng, andness)
    signals, knee = objective.signals(p), gcd.AGGREGATORS[rule].knee
    found = equations(p, objective.shape, objective.batch, knee, np.arange(len(p)))
    assert found.loss == pytest.approx(signals.loss, rel=1e-9)
    expected, said = (moved_weights(objective.shape, each) for each in (signals.gradient, found.gradient))
    np.testing.assert_allclose(said, expected, rtol=1e-6, atol=1e-9 * np.abs(expected).max())
    np.testing.assert_allclose(node_truths(p, objective.shape, objective.batch, knee), signals.truths, atol=1e-12)


def test_curvature_is_the_sum_of_the_squares_of_slopes():
    """Of one row, the gradient is (p - y) J and the curvature p (1 - p) J J', so either follows from the other."""
    rng = np.random.default_rng(5)
    objective, p = tree_on("wide", "learned", "gcd", 12, rng)
    where, total = np.arange(len(p)), 0.0
    for i in range(12):
        own = objective.batch._replace(X=objective.batch.X[:, [i]], y=np.zeros(1), share=objective.batch.share[[i]])
        one = equations(p, objective.shape, own, gcd.gcd.knee, where)
        chance = -np.expm1(-one.loss / own.share[0])
        slopes = one.gradient / (own.share[0] * chance)
        total = total + own.share[0] * max(chance * (1.0 - chance), FLATTEST) * np.outer(slopes, slopes)
    whole = equations(p, objective.shape, objective.batch, gcd.gcd.knee, where).curvature
    np.testing.assert_allclose(whole, total, rtol=1e-6, atol=1e-9 * np.abs(whole).max())


def test_many_rows_are_summed_up_in_blocks():
    rng = np.random.default_rng(6)
    objective, p = tree_on("balanced", "any", "gcd", 2 * BLOCK + 7, rng)
    found = equations(p, objective.shape, objective.batch, gcd.gcd.knee, np.arange(3))
    loss, gradient = objective(p)
    assert found.loss == pytest.approx(loss, rel=1e-9)
    np.testing.assert_allclose(found.gradient, gradient[:3], rtol=1e-6)


def test_everything_is_finite_at_the_extremes():
    rng = np.random.default_rng(3)
    for m in (1, 2, 7):
        X, y = rng.choice([-1e300, -50, 0, 50, 1e300], (m, 200)), rng.choice([0.0, 1.0], 200)
        for make in SHAPES.values():
            objective = Objective(make(m, rng), range(m), X, y)
            for andness in ([-1, 2], [-0.999999, 1.999999], [0.25, 0.5, 0.75], [0.5], [0.0, 1.0]):
                p = parameters(objective.shape, rng, andness)
                found = equations(p, objective.shape, objective.batch, gcd.gcd.knee, np.arange(len(p)))
                assert all(np.isfinite(each).all() for each in found)
