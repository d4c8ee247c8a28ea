import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import reference
from objective import Objective

from baconlogic import Gate, Leaf, Tree
from baconlogic.core import gcd
from baconlogic.core.criteria import Sigmoid
from baconlogic.kernel import loops
from baconlogic.kernel.loss import Topology, balanced, left_chain, parts

JOINTS = [0.25, 0.5, 0.75]


def free(m, rng):
    """A random binary tree over m leaves."""
    loose, pairs = list(range(m)), []
    while len(loose) > 1:
        a, b = rng.choice(loose, 2, replace=False)
        loose = [node for node in loose if node not in (a, b)] + [m + len(pairs)]
        pairs.append((a, b))
    left, right = np.array(pairs, dtype=int).reshape(-1, 2).T
    return Topology(left, right)


SHAPES = {"left chain": lambda m, _: left_chain(m), "balanced": lambda m, _: balanced(m), "free": free}


def parameters(m, rng, andness=None):
    andness = rng.uniform(-0.95, 1.95, m - 1) if andness is None else rng.choice(andness, m - 1)
    slope, centre, weight = rng.normal(0, 2, m), rng.normal(0, 1, m), rng.uniform(0.1, 0.9, m - 1)
    return np.r_[slope, centre, np.linspace(-1, 1, m), weight, andness, 5.0, 0.4]


def assert_gradient(objective, p, expected):
    _, found = objective(p)
    assert np.isfinite(found).all()
    expected = np.array(expected)
    for part in parts(expected)[:3]:
        part[~objective.batch.learned] = 0.0
    scale = np.maximum(np.abs(expected), 1e-3 * np.abs(expected).max() + 1e-12)
    assert (np.abs(found - expected) / scale).max() < 1e-6


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize(
    "andness", [None, JOINTS, pytest.param([0.25 - 1e-4, 0.25 + 1e-4, 0.5 + 1e-4, 0.75 - 1e-4], marks=pytest.mark.slow)]
)
@pytest.mark.parametrize("learned", [True, False])
@pytest.mark.parametrize("calibrated", [True, False])
@pytest.mark.parametrize("rule", ["gcd", "exact"])
def test_gradient_matches_central_differences_in_two_hundred_digits(shape, andness, learned, calibrated, rule):
    """The reference is the paper's formula in 200 digits; at a joint the slope is the mean of its two sides."""
    rng = np.random.default_rng(len(shape) + 2 * learned + 4 * calibrated)
    for m in (1, 2, 4):
        X = rng.normal(size=(m, 3)) if learned else rng.choice([0, 1, 0, 1, 0.3, 0.999], (m, 3))
        if learned:
            X[0, 1] = X[-1, 2] = loops.MISSING
        y, weight = rng.choice([0, 1, 0.3], 3), rng.uniform(0.1, 1, 3)
        kind = {"learned": learned, "calibrated": calibrated, "penalty": 0.1, "amplifier": 3.0}
        hung = SHAPES[shape](m, rng)
        objective = Objective(hung, range(m), X, y, weight, aggregator=gcd.AGGREGATORS[rule], **kind)
        p = parameters(m, rng, andness)
        expected = reference.gradient(p, hung, range(m), X, y, weight / weight.sum(), exact=rule == "exact", **kind)
        assert_gradient(objective, p, expected)


@pytest.mark.parametrize("shape", SHAPES)
def test_gradient_matches_central_differences_of_the_kernel_itself(shape):
    rng = np.random.default_rng(7)
    for m in (3, 8, 13):
        columns = rng.integers(0, m, m)  # a feature may be read twice
        objective = Objective(
            SHAPES[shape](m, rng), columns, rng.normal(size=(m, 2500)), rng.random(2500), penalty=0.01
        )
        p = parameters(m, rng)
        steps = np.eye(len(p)) * 1e-6
        assert_gradient(objective, p, [(objective(p + step)[0] - objective(p - step)[0]) / 2e-6 for step in steps])


@pytest.mark.parametrize("calibrated", [True, False])
@pytest.mark.parametrize("learned", [True, False])
def test_everything_is_finite_at_the_extremes(learned, calibrated):
    rng = np.random.default_rng(3)
    for m in (1, 2, 7):
        X = rng.choice([-1e300, -50, 0, 50, 1e300], (m, 200)) if learned else rng.choice([0.0, 1.0], (m, 200))
        y = rng.choice([0.0, 1.0], 200)
        for shape in (left_chain(m), balanced(m)):
            objective = Objective(shape, range(m), X, y, learned=learned, calibrated=calibrated)
            for andness in ([-1, 2], [-0.999999, 1.999999], [0.25, 0.5, 0.75], [0.5], [0.0, 1.0]):
                loss, gradient = objective(parameters(m, rng, andness))
                assert np.isfinite(loss)
                assert np.isfinite(gradient).all()


def grown(shape, p, rule="gcd"):
    """Every node of the tree that the parameters describe."""
    q = parts(p)
    nodes = [
        Leaf(f"x{i}", Sigmoid(centre, slope)) for i, (slope, centre) in enumerate(zip(q.slope, q.centre, strict=True))
    ]
    for a, b, w, andness in zip(*shape, q.weight, q.andness, strict=True):
        nodes.append(Gate([nodes[a], nodes[b]], andness, [w, 1 - w], rule))
    return nodes


@pytest.mark.parametrize("rule", list(gcd.AGGREGATORS))
def test_the_kernel_computes_what_the_tree_says_at_every_node(rule):
    rng = np.random.default_rng(5)
    for m in (1, 2, 6):
        X, shape, p = rng.normal(size=(m, 50)), free(m, rng), parameters(m, rng)
        found = Objective(shape, range(m), X, np.zeros(50), aggregator=gcd.AGGREGATORS[rule]).signals(p)
        for truths, node in zip(found.truths, grown(shape, p, rule), strict=True):
            assert truths == pytest.approx(Tree(node).evaluate(X.T), abs=1e-12)


@pytest.mark.parametrize("calibrated", [True, False])
def test_signals_are_the_slopes_of_the_loss_in_the_truth_of_each_node(calibrated):
    """Cut the tree above a node, put its truths there as a given column, and move them."""
    rng = np.random.default_rng(11)
    m, rows, step = 6, 4, 1e-6
    for _ in range(5):
        X, y, shape, p = rng.normal(size=(m, rows)), rng.random(rows), free(m, rng), parameters(m, rng)
        objective = Objective(shape, range(m), X, y, calibrated=calibrated)
        found = objective.signals(p)
        assert (found.loss, found.gradient.tolist()) == (objective(p)[0], objective(p)[1].tolist())
        q = parts(p)
        for cut in range(2 * m - 1):

            def loss(truths, cut=cut, q=q, y=y, shape=shape, found=found):
                values = {**dict(enumerate(found.truths[:m])), cut: truths}
                for j, (a, b, w, andness) in enumerate(zip(*shape, q.weight, q.andness, strict=True)):
                    values.setdefault(m + j, gcd.gcd([values[a], values[b]], [w, 1 - w], andness))
                z = values[2 * m - 2]
                prob = 1 / (1 + np.exp(-q.link[0] * (z - q.link[1]))) if calibrated else z
                return -np.mean(y * np.log(prob) + (1 - y) * np.log(1 - prob))

            for row in range(rows):
                move = np.eye(rows)[row] * np.minimum(step, found.truths[cut] * (1 - found.truths[cut]) * step * 4)
                change = (loss(found.truths[cut] + move) - loss(found.truths[cut] - move)) / (2 * move[row])
                assert found.slopes[cut, row] == pytest.approx(change, rel=1e-4, abs=1e-5)


def test_leaves_may_be_learned_or_given_each():
    rng = np.random.default_rng(9)
    m, which = 4, np.array([True, False, True, False])
    X = np.where(which[:, None], rng.normal(size=(m, 30)), rng.random((m, 30)))
    objective, p = Objective(balanced(m), range(m), X, rng.random(30), learned=which), parameters(m, rng)
    steps = np.eye(len(p)) * 1e-6
    assert_gradient(objective, p, [(objective(p + step)[0] - objective(p - step)[0]) / 2e-6 for step in steps])


def test_a_disjunction_of_conjunctions_stays_exact_when_all_is_false():
    """D(C(a, b), C(c, d)): the truth of each conjunction is far below what 1 - truth can show."""
    p = np.array([3.0] * 4 + [0.0] * 8 + [0.5] * 3 + [1.0, 1.0, 0.0] + [1.0, 0.5])
    for x in (-4.0, -9.0, -12.0, -60.0):
        X, y = np.full((4, 1), x), [0.3]
        objective = Objective(balanced(4), range(4), X, y, calibrated=False)
        settings = {"learned": True, "calibrated": False, "exact": False, "penalty": 0.0, "amplifier": 1.0}
        with reference.mp.workdps(reference.DIGITS):
            point = [reference.mp.mpf(float(v)) for v in p]
            expected = float(reference.loss(point, balanced(4), range(4), X, y, [1.0], **settings))
        assert objective(p)[0] == pytest.approx(expected, rel=1e-12)
        assert_gradient(objective, p, reference.gradient(p, balanced(4), range(4), X, y, [1.0], **settings))


def test_no_gradient_explodes_on_ordinary_data():
    rng = np.random.default_rng(0)
    for _ in range(500):
        X, y = rng.normal(0, 3, (5, 20)), rng.integers(0, 2, 20)
        p = np.r_[rng.normal(0, 3, 5), rng.normal(0, 1, 10), rng.uniform(0.1, 0.9, 4), rng.uniform(-1, 2, 4), 5, 0.5]
        assert np.abs(Objective(balanced(5), range(5), X, y)(p)[1]).max() < 1000


def test_loss_is_the_papers():
    """a * (cross-entropy + lambda * mean (w - 0.5)^2), truth read as probability."""
    X, y = np.array([[0.2, 0.9], [0.6, 0.7]]), np.array([0.0, 1.0])
    p = np.r_[np.zeros(6), 0.3, 0.9, 1.0, 0.0]
    z = gcd.gcd(X, [0.3, 0.7], 0.9)
    expected = 10 * (-np.mean(y * np.log(z) + (1 - y) * np.log(1 - z)) + 0.01 * 0.2**2)
    settings = {"learned": False, "calibrated": False, "penalty": 0.01, "amplifier": 10.0}
    assert Objective(left_chain(2), [0, 1], X, y, **settings)(p)[0] == pytest.approx(expected, rel=1e-12)


def test_shapes():
    assert [side.tolist() for side in left_chain(4)] == [[0, 4, 5], [1, 2, 3]]
    assert [side.tolist() for side in balanced(5)] == [[0, 2, 5, 7], [1, 3, 6, 4]]
    assert [side.tolist() for side in balanced(1)] == [[], []]


def test_blocks_of_rows_add_up():
    rng = np.random.default_rng(2)
    X, y, p = rng.normal(size=(5, 3001)), rng.random(3001), parameters(5, rng)
    objective = Objective(balanced(5), range(5), X, y)
    loss, gradient = objective(p)
    cuts = [slice(0, 700), slice(700, 1800), slice(1800, 3001)]
    parts = [Objective(balanced(5), range(5), X[:, cut], y[cut])(p) for cut in cuts]
    share = [len(y[cut]) / 3001 for cut in cuts]
    assert loss == pytest.approx(sum(s * part[0] for s, part in zip(share, parts, strict=True)), rel=1e-12)
    assert gradient == pytest.approx(sum(s * part[1] for s, part in zip(share, parts, strict=True)), rel=1e-9)


def test_sample_weights_count_rows():
    rng = np.random.default_rng(4)
    X, y, times, p = rng.normal(size=(3, 20)), rng.random(20), rng.integers(0, 4, 20), parameters(3, rng)
    weighted = Objective(left_chain(3), range(3), X, y, times)(p)
    repeated = Objective(left_chain(3), range(3), np.repeat(X, times, axis=1), np.repeat(y, times))(p)
    assert weighted[0] == pytest.approx(repeated[0], rel=1e-12)
    assert weighted[1] == pytest.approx(repeated[1], rel=1e-9)


def test_threads_with_an_objective_each_do_not_disturb_each_other():
    rng = np.random.default_rng(6)
    X, y = rng.normal(size=(8, 5000)), rng.random(5000)
    points = [parameters(8, rng) for _ in range(8)]
    alone = [Objective(balanced(8), range(8), X, y)(p) for p in points]
    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(lambda p: Objective(balanced(8), range(8), X, y)(p), points * 5))
    for k, (loss, gradient) in enumerate(together):
        assert loss == alone[k % 8][0]
        assert (gradient == alone[k % 8][1]).all()


@pytest.mark.slow
def test_a_second_process_finds_the_compiled_code(tmp_path):
    script = """
import numpy as np
from objective import Objective
from baconlogic.kernel.loss import left_chain, loss_gradient
Objective(left_chain(2), [0, 1], np.zeros((2, 3)), [0, 1, 1])(np.ones(10) / 2)
stats = loss_gradient.stats
print(sum(stats.cache_hits.values()), sum(stats.cache_misses.values()))
"""
    command = [sys.executable, "-c", script]
    environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path), "PYTHONPATH": os.pathsep.join(sys.path)}
    runs = [subprocess.run(command, check=True, capture_output=True, text=True, env=environment) for _ in range(2)]
    assert [run.stdout.split() for run in runs] == [["0", "1"], ["1", "0"]]
