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
from baconlogic.kernel.loss import balanced, left_chain, parts, topology

JOINTS = [0.25, 0.5, 0.75]
CATEGORIES = 3


def free(m, rng, widest=2):
    """A random tree over m leaves, of gates of 2 to `widest` inputs."""
    loose, gates = list(range(m)), []
    while len(loose) > 1:
        inputs = rng.choice(loose, min(rng.integers(2, widest + 1), len(loose)), replace=False).tolist()
        loose = [node for node in loose if node not in inputs] + [m + len(gates)]
        gates.append(inputs)
    return topology(gates)


SHAPES = {
    "left chain": lambda m, _: left_chain(m),
    "balanced": lambda m, _: balanced(m),
    "free": free,
    "wide": lambda m, rng: free(m, rng, 5),
    "one gate": lambda m, _: topology([range(m)] if m > 1 else []),
}


def parameters(shape, rng, andness=None, categories=0):
    m, sizes = shape.leaves, np.diff(shape.first)
    ends = sizes / (sizes - 1)
    andness = rng.uniform(0.97 - 0.97 * ends, 0.97 * ends) if andness is None else rng.choice(andness, len(sizes))
    slope, centre, logits = rng.normal(0, 2, m), rng.normal(0, 1, m), rng.normal(0, 1, categories)
    weight = np.concatenate([np.empty(0), *(rng.dirichlet(np.full(n, 3.0)) for n in sizes)])
    return np.r_[slope, centre, np.linspace(-1, 1, m), logits, weight, andness, 5.0, 0.4]


def moved_weights(shape, gradient):
    """The gradient with the slope of each weight at the cost of the last one of its gate."""
    found = np.array(gradient)
    for own in shape.by_gate(parts(found, shape).weight):
        own -= own[-1]
    return found


def differences(objective, p, step=1e-6):
    """Central differences of the kernel's own loss; a weight is moved at the cost of the last one of its gate."""
    found, moves = np.empty_like(p), step * np.eye(len(p))
    for i, move in enumerate(moves):
        for own in objective.shape.by_gate(parts(move, objective.shape).weight):
            own[-1] -= own.sum()
        found[i] = (objective(p + move)[0] - objective(p - move)[0]) / (2 * step)
    return found


def assert_gradient(objective, p, expected):
    _, found = objective(p)
    assert np.isfinite(found).all()
    found, expected = moved_weights(objective.shape, found), np.array(expected)
    for part in parts(expected, objective.shape)[:3]:
        part[~objective.batch.learned] = 0.0
    scale = np.maximum(np.abs(expected), 1e-3 * np.abs(expected).max() + 1e-12)
    assert (np.abs(found - expected) / scale).max() < 1e-6


def rows_of(kinds, rows, rng):
    """A column for each leaf, by its kind, with missing values where it may have some."""
    X = np.empty((len(kinds), rows))
    for i, kind in enumerate(kinds):
        if kind == "given":
            X[i] = rng.choice([0, 1, 0, 1, 0.3, 0.999], rows)
        else:
            X[i] = rng.integers(0, CATEGORIES, rows) if kind == "table" else rng.normal(size=rows)
            X[i, rng.random(rows) < 0.2] = loops.MISSING
    return X


@pytest.mark.parametrize("shape", ["left chain", "wide"])
@pytest.mark.parametrize(
    "andness", [None, JOINTS, pytest.param([0.25 - 1e-4, 0.25 + 1e-4, 0.5 + 1e-4, 0.75 - 1e-4], marks=pytest.mark.slow)]
)
@pytest.mark.parametrize("kind", ["learned", "given", "any"])
@pytest.mark.parametrize("calibrated", [True, False])
@pytest.mark.parametrize("rule", ["gcd", "exact"])
def test_gradient_matches_central_differences_in_two_hundred_digits(shape, andness, kind, calibrated, rule):
    """The reference is the paper's formula in 200 digits; at a joint the slope is the mean of its two sides."""
    rng = np.random.default_rng(len(shape) + 2 * len(kind) + 4 * calibrated)
    for m in (1, 2, 5):
        kinds = [kind] * m if kind != "any" else rng.choice(["learned", "given", "table"], m).tolist()
        categories = [CATEGORIES * (each == "table") for each in kinds]
        X, y, weight = rows_of(kinds, 3, rng), rng.choice([0, 1, 0.3], 3), rng.uniform(0.1, 1, 3)
        settings = {"calibrated": calibrated, "penalty": 0.1, "amplifier": 3.0, "categories": categories}
        hung, learned = SHAPES[shape](m, rng), [each != "given" for each in kinds]
        rules = {"aggregator": gcd.AGGREGATORS[rule], "learned": learned}
        objective = Objective(hung, range(m), X, y, weight, **rules, **settings)
        p = parameters(hung, rng, andness, sum(categories))
        share, told = weight / weight.sum(), {"exact": rule == "exact", "kinds": kinds}
        assert_gradient(objective, p, reference.gradient(p, hung, range(m), X, y, share, **told, **settings))


@pytest.mark.parametrize("shape", SHAPES)
def test_gradient_matches_central_differences_of_the_kernel_itself(shape):
    rng = np.random.default_rng(7)
    for m in (3, 8, 13):
        columns = rng.integers(0, m, m)  # a feature may be read twice
        hung = SHAPES[shape](m, rng)
        objective = Objective(hung, columns, rng.normal(size=(m, 2500)), rng.random(2500), penalty=0.01)
        p = parameters(hung, rng)
        assert_gradient(objective, p, differences(objective, p))


@pytest.mark.parametrize("calibrated", [True, False])
@pytest.mark.parametrize("learned", [True, False])
def test_everything_is_finite_at_the_extremes(learned, calibrated):
    rng = np.random.default_rng(3)
    for m in (1, 2, 7):
        X = rng.choice([-1e300, -50, 0, 50, 1e300], (m, 200)) if learned else rng.choice([0.0, 1.0], (m, 200))
        y = rng.choice([0.0, 1.0], 200)
        for shape in (left_chain(m), balanced(m), SHAPES["one gate"](m, rng)):
            objective = Objective(shape, range(m), X, y, learned=learned, calibrated=calibrated)
            for andness in ([-1, 2], [-0.999999, 1.999999], [0.25, 0.5, 0.75], [0.5], [0.0, 1.0]):
                loss, gradient = objective(parameters(shape, rng, andness))
                assert np.isfinite(loss)
                assert np.isfinite(gradient).all()


def grown(shape, p, rule="gcd"):
    """Every node of the tree that the parameters describe."""
    q = parts(p, shape)
    nodes = [
        Leaf(f"x{i}", Sigmoid(centre, slope)) for i, (slope, centre) in enumerate(zip(q.slope, q.centre, strict=True))
    ]
    for inputs, weights, andness in zip(shape.gates, shape.by_gate(q.weight), q.andness, strict=True):
        nodes.append(Gate([nodes[k] for k in inputs], andness, weights, rule))
    return nodes


@pytest.mark.parametrize("widest", [2, 5])
@pytest.mark.parametrize("rule", list(gcd.AGGREGATORS))
def test_the_kernel_computes_what_the_tree_says_at_every_node(rule, widest):
    rng = np.random.default_rng(5)
    for m in (1, 2, 7):
        X, shape = rng.normal(size=(m, 50)), free(m, rng, widest)
        p = parameters(shape, rng)
        found = Objective(shape, range(m), X, np.zeros(50), aggregator=gcd.AGGREGATORS[rule]).signals(p)
        for truths, node in zip(found.truths, grown(shape, p, rule), strict=True):
            assert truths == pytest.approx(Tree(node).evaluate(X.T), abs=1e-12)


@pytest.mark.parametrize("calibrated", [True, False])
def test_signals_are_the_slopes_of_the_loss_in_the_truth_of_each_node(calibrated):
    """Cut the tree above a node, put its truths there as a given column, and move them."""
    rng = np.random.default_rng(11)
    m, rows, step = 6, 4, 1e-6
    for _ in range(5):
        X, y, shape = rng.normal(size=(m, rows)), rng.random(rows), free(m, rng, 4)
        p = parameters(shape, rng, [-0.2, 0.1, 0.3, 0.6, 0.8, 1.1])
        objective = Objective(shape, range(m), X, y, calibrated=calibrated)
        found = objective.signals(p)
        assert (found.loss, found.gradient.tolist()) == (objective(p)[0], objective(p)[1].tolist())
        q = parts(p, shape)
        for cut in range(len(found.truths)):

            def loss(truths, cut=cut, q=q, y=y, shape=shape, found=found):
                values = {**dict(enumerate(found.truths[:m])), cut: truths}
                gates = zip(shape.gates, shape.by_gate(q.weight), q.andness, strict=True)
                for j, (inputs, weights, andness) in enumerate(gates):
                    values.setdefault(m + j, gcd.gcd([values[k] for k in inputs], weights, andness))
                z = values[len(found.truths) - 1]
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
    objective, p = Objective(balanced(m), range(m), X, rng.random(30), learned=which), parameters(balanced(m), rng)
    assert_gradient(objective, p, differences(objective, p))


def test_a_disjunction_of_conjunctions_stays_exact_when_all_is_false():
    """D(C(a, b), C(c, d)): the truth of each conjunction is far below what 1 - truth can show."""
    p = np.array([3.0] * 4 + [0.0] * 8 + [0.5] * 6 + [1.0, 1.0, 0.0] + [1.0, 0.5])
    for x in (-4.0, -9.0, -12.0, -60.0):
        X, y = np.full((4, 1), x), [0.3]
        objective = Objective(balanced(4), range(4), X, y, calibrated=False)
        settings = {"calibrated": False, "exact": False, "penalty": 0.0, "amplifier": 1.0}
        settings |= {"kinds": ["learned"] * 4, "categories": [0] * 4}
        with reference.mp.workdps(reference.DIGITS):
            point = [reference.mp.mpf(float(v)) for v in p]
            expected = float(reference.loss(point, balanced(4), range(4), X, y, [1.0], **settings))
        assert objective(p)[0] == pytest.approx(expected, rel=1e-12)
        assert_gradient(objective, p, reference.gradient(p, balanced(4), range(4), X, y, [1.0], **settings))


def test_no_gradient_explodes_on_ordinary_data():
    rng = np.random.default_rng(0)
    for _ in range(500):
        X, y = rng.normal(0, 3, (5, 20)), rng.integers(0, 2, 20)
        weight = np.repeat(rng.uniform(0.1, 0.9, 4), 2)
        weight[1::2] = 1 - weight[::2]
        p = np.r_[rng.normal(0, 3, 5), rng.normal(0, 1, 10), weight, rng.uniform(-1, 2, 4), 5, 0.5]
        gradient = Objective(balanced(5), range(5), X, y)(p)[1]
        assert np.abs(moved_weights(balanced(5), gradient)).max() < 1000


def test_loss_is_the_papers():
    """a * (cross-entropy + lambda * mean (w - 0.5)^2), truth read as probability."""
    X, y = np.array([[0.2, 0.9], [0.6, 0.7]]), np.array([0.0, 1.0])
    p = np.r_[np.zeros(6), 0.3, 0.7, 0.9, 1.0, 0.0]
    z = gcd.gcd(X, [0.3, 0.7], 0.9)
    expected = 10 * (-np.mean(y * np.log(z) + (1 - y) * np.log(1 - z)) + 0.01 * 0.2**2)
    settings = {"learned": False, "calibrated": False, "penalty": 0.01, "amplifier": 10.0}
    assert Objective(left_chain(2), [0, 1], X, y, **settings)(p)[0] == pytest.approx(expected, rel=1e-12)


def test_shapes():
    assert [inputs.tolist() for inputs in left_chain(4).gates] == [[0, 1], [4, 2], [5, 3]]
    assert [inputs.tolist() for inputs in balanced(5).gates] == [[0, 1], [2, 3], [5, 6], [7, 4]]
    assert balanced(1).gates == []
    assert [shape.leaves for shape in (left_chain(4), balanced(5), balanced(1), topology([range(3)]))] == [4, 5, 1, 3]


def test_blocks_of_rows_add_up():
    rng = np.random.default_rng(2)
    X, y, p = rng.normal(size=(5, 3001)), rng.random(3001), parameters(balanced(5), rng)
    objective = Objective(balanced(5), range(5), X, y)
    loss, gradient = objective(p)
    cuts = [slice(0, 700), slice(700, 1800), slice(1800, 3001)]
    parts = [Objective(balanced(5), range(5), X[:, cut], y[cut])(p) for cut in cuts]
    share = [len(y[cut]) / 3001 for cut in cuts]
    assert loss == pytest.approx(sum(s * part[0] for s, part in zip(share, parts, strict=True)), rel=1e-12)
    assert gradient == pytest.approx(sum(s * part[1] for s, part in zip(share, parts, strict=True)), rel=1e-9)


def test_sample_weights_count_rows():
    rng = np.random.default_rng(4)
    X, y, times, p = rng.normal(size=(3, 20)), rng.random(20), rng.integers(0, 4, 20), parameters(left_chain(3), rng)
    weighted = Objective(left_chain(3), range(3), X, y, times)(p)
    repeated = Objective(left_chain(3), range(3), np.repeat(X, times, axis=1), np.repeat(y, times))(p)
    assert weighted[0] == pytest.approx(repeated[0], rel=1e-12)
    assert weighted[1] == pytest.approx(repeated[1], rel=1e-9)


def test_threads_with_an_objective_each_do_not_disturb_each_other():
    rng = np.random.default_rng(6)
    X, y = rng.normal(size=(8, 5000)), rng.random(5000)
    points = [parameters(balanced(8), rng) for _ in range(8)]
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
Objective(left_chain(2), [0, 1], np.zeros((2, 3)), [0, 1, 1])(np.ones(11) / 2)
stats = loss_gradient.stats
print(sum(stats.cache_hits.values()), sum(stats.cache_misses.values()))
"""
    command = [sys.executable, "-c", script]
    environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path), "PYTHONPATH": os.pathsep.join(sys.path)}
    runs = [subprocess.run(command, check=True, capture_output=True, text=True, env=environment) for _ in range(2)]
    assert [run.stdout.split() for run in runs] == [["0", "1"], ["1", "0"]]
