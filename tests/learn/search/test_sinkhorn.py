import itertools
import pickle
import time

import numpy as np
import pytest
from sklearn.base import clone

from baconlogic.core import gcd
from baconlogic.kernel import loss as kernel
from baconlogic.learn.search import Sinkhorn, sinkhorn
from baconlogic.learn.search import epochs as annealing
from baconlogic.learn.search.sinkhorn import NotAccepted, Trainer

KNEE = gcd.gcd.knee


def table(n):
    return np.array(list(itertools.product([0.0, 1.0], repeat=n))).T


def chain(n, seed):
    rng = np.random.default_rng(seed)
    truths, order = table(n), rng.permutation(n)
    z = truths[order[0]]
    for j in order[1:]:
        z = rng.choice([np.minimum, np.maximum])(z, truths[j])
    return truths, z


def even(y):
    return np.full(len(y), 1.0 / len(y))


def graded(features=5, rows=60, seed=0):
    """Truths well inside (0, 1), and a decision that no tree follows exactly."""
    rng = np.random.default_rng(seed)
    truths = rng.uniform(0.05, 0.95, (features, rows))
    return truths, (truths[0] * truths[1] + 0.3 * rng.normal(size=rows) > 0.25).astype(float)


def run(search, truths, y, seed=0, **rest):
    return search.run(truths, y, even(y), seed=seed, **rest)


def best_of(search, truths, y, **rest):
    """Whatever was reached, accepted or not."""
    try:
        return run(search, truths, y, **rest)
    except NotAccepted as error:
        return error.best


def truth_of(attempt, truths):
    """What the tree says, by the formula in plain numpy."""
    shape = attempt.shape
    p = kernel.parts(attempt.parameters, shape)
    nodes = list(truths[attempt.order])
    for inputs, weights, a in zip(shape.gates, shape.by_gate(p.weight), p.andness, strict=True):
        nodes.append(gcd.gcd([nodes[k] for k in inputs], weights, a))
    return nodes[-1]


@pytest.mark.parametrize(("n", "seed"), [(4, 0), (4, 1), (5, 2), (5, 3), (6, 4), (6, 5), (6, 6)])
def test_chains_are_recovered_exactly(n, seed):
    truths, y = chain(n, seed)
    found = run(Sinkhorn(acceptance_threshold=1.0), truths, y)
    assert found.accepted
    assert sorted(found.order) == list(range(n))
    assert ((truth_of(found, truths) >= 0.5) == y).all()


def test_appendix_b_is_recovered():
    truths = table(8)
    a, b, c, d, e, f, g, h = truths.astype(bool)
    y = (((a | b | c) & d & e & f) | g | h).astype(float)
    shuffled = truths[np.random.default_rng(0).permutation(8)]
    found = run(Sinkhorn(acceptance_threshold=1.0), shuffled, y)
    assert ((truth_of(found, shuffled) >= 0.5) == y).all()


@pytest.mark.parametrize("layout", ["left", "balanced"])
@pytest.mark.parametrize("amplifier", [1.0, 7.0])
def test_the_loss_is_the_papers(layout, amplifier):
    truths, y = graded()
    search = Sinkhorn(tree_layout=layout, loss_amplifier=amplifier, weight_penalty_strength=0.05, attempts=2)
    found = best_of(search, truths, y)
    z, weight = truth_of(found, truths), kernel.parts(found.parameters, found.shape).weight
    cross_entropy = -(y * np.log(z) + (1 - y) * np.log(1 - z)).mean()
    assert found.loss == pytest.approx(amplifier * (cross_entropy + 0.05 * ((weight - 0.5) ** 2).mean()), rel=1e-9)
    assert found.accuracy == pytest.approx(((z >= 0.5) == y).mean())
    assert np.abs(weight - 0.5).max() > 0.05  # trained, in both layouts


def pose(truths, y, **rest):
    search = Sinkhorn(**rest)
    settings = kernel.Settings(
        calibrated=False, knee=KNEE, penalty=search.weight_penalty_strength, amplifier=search.loss_amplifier
    )
    blocks = annealing.pose(truths, y, even(y), kernel.left_chain(len(truths)), settings, annealing.INSIDE)
    return Trainer(search, blocks, blocks, np.random.default_rng(0))


def test_the_soft_loss_has_the_slopes_it_claims():
    run_ = pose(*graded(), weight_penalty_strength=0.1, loss_amplifier=3.0, max_noise=0.0, min_noise=0.0)
    state, back = run_.state, np.empty((5, 5))

    def loss(soft=True):
        return annealing._epoch(run_.blocks, run_.order, soft, state, run_.rng, back)

    loss()
    slope = state.slope.copy()
    for i in range(len(slope)):
        sides = []
        for shift in (1e-6, -2e-6):
            state.free[i] += shift
            sides.append(loss())
        state.free[i] += 1e-6
        assert slope[i] == pytest.approx((sides[0] - sides[1]) / 2e-6, rel=1e-5, abs=1e-8)


def test_rows_in_blocks_give_the_loss_of_rows_at_once(monkeypatch):
    truths, y = graded(rows=101)
    whole = pose(truths, y)
    monkeypatch.setattr(kernel, "BLOCK", 25)
    parts = pose(truths, y)
    assert parts.blocks.truths.shape == (5, 5, 25)
    for soft in (False, True):
        losses, slopes = [], []
        for each in (whole, parts):
            back = np.empty((5, 5))
            losses.append(annealing._epoch(each.blocks, each.order, soft, each.state, each.rng, back))
            slopes.append(each.state.slope.copy())
        assert losses[0] == pytest.approx(losses[1], rel=1e-12)
        assert slopes[0] == pytest.approx(slopes[1], rel=1e-9, abs=1e-14)
    accuracies = [each.accuracy() for each in (whole, parts)]
    assert accuracies[0] == pytest.approx(accuracies[1])


def test_noise_falls_while_the_loss_improves_and_rises_when_not_within_bounds():
    truths, y = graded()
    search = Sinkhorn(attempts=1, max_noise=0.6, min_noise=0.1, noise_increase=1.1, noise_decrease=0.9, max_epochs=1000)
    found = best_of(search, truths, y)
    loss, noise, _ = found.trace[:, : found.frozen_at]
    assert noise[0] == 0.6
    assert noise.min() == 0.1
    for epoch in range(1, len(noise)):
        history = loss[:epoch]
        half = annealing.WINDOW // 2
        better = epoch < annealing.WINDOW or (
            history[-half:].sum() < history[-2 * half : -half].sum() * (1 - annealing.BETTER)
        )
        expected = max(0.1, noise[epoch - 1] * 0.9) if better else min(0.6, noise[epoch - 1] * 1.1)
        assert noise[epoch] == pytest.approx(expected, rel=1e-12)
    assert (np.diff(noise) > 0).any()
    assert (np.diff(noise) < 0).any()
    assert (found.trace[annealing.NOISE, found.frozen_at :] == 0.0).all()


def test_temperature_decays_every_so_many_epochs():
    truths, y = graded()
    search = Sinkhorn(attempts=1, temperature=0.8, temperature_decay=0.5, decay_every=30, freeze_loss_threshold=0.0)
    found = best_of(search, truths, y)
    epochs = np.arange(found.frozen_at)
    assert found.frozen_at > 90
    assert found.trace[annealing.TEMPERATURE, : found.frozen_at] == pytest.approx(0.8 * 0.5 ** (epochs // 30))
    assert Sinkhorn().decay_every == 1000


def test_a_freeze_that_costs_too_much_is_abandoned_and_exploring_goes_on():
    truths, y = graded()
    eager = {"freeze_loss_threshold": 10.0, "attempts": 1, "acceptance_threshold": 0.0}
    taken = run(Sinkhorn(lock_loss_tolerance=10.0, **eager), truths, y)
    assert (taken.frozen_at, taken.abandoned) == (1, 0)
    assert "freeze threshold" in taken.ended
    never = run(Sinkhorn(lock_loss_tolerance=-10.0, **eager), truths, y)
    assert never.abandoned > 1
    assert never.frozen_at > 100
    assert "freeze threshold" not in never.ended


def test_the_freeze_compares_the_hard_loss_with_the_soft_one():
    run_ = pose(*graded(), freeze_loss_threshold=10.0)
    order = np.arange(5)[::-1]
    hard = run_.hard_loss(np.ascontiguousarray(order), run_.blocks)
    z = truth_of(type("Tree", (), {"parameters": run_.state.parameters, "order": order, "shape": run_.blocks.shape}),
                 graded()[0])  # fmt: skip
    y, weight = graded()[1], kernel.parts(run_.state.parameters, run_.blocks.shape).weight
    assert hard == pytest.approx(
        -(y * np.log(z) + (1 - y) * np.log(1 - z)).mean() + 1e-3 * ((weight - 0.5) ** 2).mean()
    )


def test_thresholds_are_amplified_with_the_loss():
    for amplifier in (1.0, 100.0):
        run_ = pose(*graded(), loss_amplifier=amplifier)
        assert run_.schedule.freeze_below == pytest.approx(0.01 * amplifier)
        assert run_.tolerance == pytest.approx(run_.search.lock_loss_tolerance * amplifier)


def test_is_frozen_keeps_the_order_given():
    truths = table(5)
    a, b, c, d, e = truths.astype(bool)
    y = ((((a | b) & c) | d) & e).astype(float)
    found = run(Sinkhorn(is_frozen=True, acceptance_threshold=1.0), truths, y)
    assert found.order.tolist() == [0, 1, 2, 3, 4]
    assert found.frozen_at == 0
    assert "order given" in found.ended
    backwards = best_of(Sinkhorn(is_frozen=True, acceptance_threshold=1.0, attempts=3), truths[::-1], y)
    assert backwards.order.tolist() == [0, 1, 2, 3, 4]
    assert backwards.accuracy < 1.0


def test_vanishing_and_exploding_gradients_end_an_attempt():
    assert annealing.verdict_on(np.array([1e-12, -1e-11]), 1.0) == annealing.VANISHING
    assert annealing.verdict_on(np.array([1e-12, -1e-11]), 1e-4) == annealing.GOING
    assert annealing.verdict_on(np.array([0.1, -1e7]), 1.0) == annealing.EXPLODING
    assert annealing.verdict_on(np.array([0.1, np.nan]), 1.0) == annealing.EXPLODING
    assert annealing.verdict_on(np.array([0.1, -0.2]), 1.0) == annealing.GOING
    truths = np.full((3, 8), 0.5)  # nothing to tell the features apart, nothing to gain by any gate
    found = best_of(Sinkhorn(attempts=1, weight_penalty_strength=0.0), truths, np.array([0.0, 1.0] * 4))
    assert found.accuracy == pytest.approx(0.5)
    assert np.isfinite(found.loss)


def test_an_unmet_threshold_raises_and_carries_the_best():
    truths, y = graded()
    with pytest.raises(
        NotAccepted, match=r"no attempt of 3 reached an accuracy of 1, the best 0\.\d+; lower"
    ) as caught:
        run(Sinkhorn(acceptance_threshold=1.0, attempts=3), truths, y)
    best = caught.value.best
    assert [record.number for record in best.history] == [0, 1, 2]
    assert best.accuracy == max(record.accuracy for record in best.history)
    assert ((truth_of(best, truths) >= 0.5) == y).mean() == pytest.approx(best.accuracy)
    again = pickle.loads(pickle.dumps(caught.value))  # noqa: S301 - our own bytes
    assert str(again) == str(caught.value)
    assert again.best.loss == best.loss


def test_the_same_seed_gives_the_same_result_on_one_and_two_threads():
    truths, y = chain(8, 13)
    found = [run(Sinkhorn(acceptance_threshold=1.0), truths, y, seed=3, n_jobs=jobs) for jobs in (1, 2, 2)]
    assert len(found[0].history) > 2
    for other in found[1:]:
        assert other.history == found[0].history
        assert (other.order == found[0].order).all()
        assert (other.parameters == found[0].parameters).all()
    assert run(Sinkhorn(), truths, y, seed=4).loss != run(Sinkhorn(), truths, y, seed=5).loss


def test_a_deadline_gives_the_best_so_far():
    truths, y = graded()
    search = Sinkhorn(acceptance_threshold=1.0, attempts=10**6)
    past = run(search, truths, y, deadline=time.monotonic() - 1.0)
    assert past.timed_out
    assert past.epochs == 0
    assert sorted(past.order) == list(range(5))
    found = run(search, truths, y, deadline=time.monotonic() + 0.5, n_jobs=2)
    assert found.timed_out
    assert not found.accepted
    assert len(found.history) > 1


def test_an_interrupt_gives_the_best_so_far_once_there_is_one(monkeypatch):
    truths, y = graded()
    search = Sinkhorn(acceptance_threshold=1.0)
    seen, add = [], sinkhorn._Board.add

    def interrupt_second(self, attempt):
        add(self, attempt)
        seen.append(attempt.record)
        if len(seen) == 2:
            raise KeyboardInterrupt

    monkeypatch.setattr(sinkhorn._Board, "add", interrupt_second)
    found = run(search, truths, y)
    assert found.interrupted
    assert list(found.history) == seen


def test_an_interrupt_before_any_attempt_goes_through(monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(sinkhorn.Trainer, "attempt", interrupted)
    with pytest.raises(KeyboardInterrupt):
        run(Sinkhorn(), *graded())


def test_one_feature_and_weighted_rows():
    truths = np.array([[0.2, 0.9, 0.6]])
    found = Sinkhorn(attempts=1, acceptance_threshold=0.5).run(truths, [0.0, 1.0, 0.0], [0.25, 0.5, 0.25], seed=0)
    assert found.accuracy == pytest.approx(0.75)
    assert found.order.tolist() == [0]


def test_parameters_are_kept_cloned_and_shown():
    search = Sinkhorn(attempts=7, save_path="./mine.json")
    assert clone(search).get_params() == search.get_params()
    assert "attempts=7" in repr(search)
    asked = {"acceptance_threshold", "attempts", "freeze_loss_threshold", "is_frozen", "lock_loss_tolerance",
             "loss_amplifier", "max_epochs", "save_model", "save_path", "tree_layout",
             "weight_penalty_strength"}  # fmt: skip
    assert asked <= set(search.get_params())
    defaults = Sinkhorn()
    assert (defaults.attempts, defaults.freeze_loss_threshold, defaults.loss_amplifier) == (100, 0.01, 1.0)
    assert (defaults.is_frozen, defaults.save_model, defaults.tree_layout) == (False, False, "left")


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"attempts": 0}, "attempts must be a whole number of at least 1, got 0"),
        ({"max_epochs": 2.5}, "max_epochs must be a whole number of at least 2, got 2.5"),
        ({"acceptance_threshold": 98}, r"acceptance_threshold must be a number in \[0, 1\], got 98"),
        ({"temperature": float("nan")}, "temperature must be a number in"),
        ({"noise_increase": 0.9}, "noise_increase must be a number in"),
        ({"noise_decrease": 1.1}, "noise_decrease must be a number in"),
        ({"min_noise": 2.0}, "min_noise must not be above max_noise, got 2 > 0.5"),
        ({"tree_layout": "right"}, 'tree_layout must be "left" or "balanced", got \'right\''),
        ({"is_frozen": "yes"}, "is_frozen must be True or False, got 'yes'"),
    ],
)
def test_bad_parameters_are_refused_in_one_line(wrong, says):
    with pytest.raises(ValueError, match=says):
        run(Sinkhorn(**wrong), *graded())


def test_bad_rows_are_refused():
    truths, y = graded()
    for t, target, share, says in (
        (truths * 2, y, even(y), r"truths must be in \[0, 1\]"),
        (truths, y + 0.5, even(y), "y must be 0 or 1"),
        (truths, y, even(y) * 2, "sum to 1, got a sum of 2"),
        (truths[:, 1:], y, even(y), "truths must be"),
    ):
        with pytest.raises(ValueError, match=says):
            Sinkhorn().run(t, target, share, seed=0)
