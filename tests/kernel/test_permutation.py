import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from baconlogic.kernel.sinkhorn import add_gumbel, harden, sinkhorn, sinkhorn_backward


def soft(logits, iterations=10):
    softs = np.empty((2 * iterations, *np.shape(logits)))
    return sinkhorn(np.array(logits, dtype=float), softs).copy(), softs


@given(st.integers(1, 12), st.floats(0.01, 1.0), st.integers(0, 1000))
def test_rows_sum_to_one_exactly_and_columns_in_the_limit(n, spread, seed):
    logits = np.random.default_rng(seed).normal(0, spread, (n, n))
    assert soft(logits, 1)[0].sum(axis=1) == pytest.approx(np.ones(n), abs=1e-14)
    matrix, _ = soft(logits, 300)
    assert matrix.sum(axis=1) == pytest.approx(np.ones(n), abs=1e-14)
    assert matrix.sum(axis=0) == pytest.approx(np.ones(n), abs=1e-3)


def test_it_is_what_plain_division_gives():
    logits = np.random.default_rng(0).normal(size=(5, 5))
    expected = np.exp(logits)
    for _ in range(4):
        expected /= expected.sum(axis=0)
        expected /= expected.sum(axis=1, keepdims=True)
    assert soft(logits, 4)[0] == pytest.approx(expected, rel=1e-13)


@pytest.mark.parametrize("n", [1, 2, 5, 9])
@pytest.mark.parametrize("iterations", [1, 10])
def test_the_way_back_matches_central_differences(n, iterations):
    rng = np.random.default_rng(n)
    logits, towards = rng.normal(0, 2, (n, n)), rng.normal(size=(n, n))
    _, softs = soft(logits, iterations)
    slope = towards.copy()
    sinkhorn_backward(slope, softs)
    h = 1e-5
    for i, j in np.ndindex(n, n):
        shift = np.zeros((n, n))
        shift[i, j] = h
        up, down = (soft(logits + s, iterations)[0] for s in (shift, -shift))
        assert slope[i, j] == pytest.approx(((up - down) * towards).sum() / (2 * h), abs=1e-8, rel=1e-6)


def test_temperature_towards_zero_gives_the_hungarian_permutation():
    logits = np.random.default_rng(3).normal(size=(6, 6))
    expected = np.eye(6)[harden(logits)]
    distances = [np.abs(soft(logits / temperature, 2000)[0] - expected).max() for temperature in (1.0, 0.1, 0.02)]
    assert distances == sorted(distances, reverse=True)
    assert distances[-1] < 1e-3


@pytest.mark.parametrize("size", [1e-300, 1e-8, 1e3, 1e8, 1e300])
def test_huge_and_tiny_logits_stay_finite(size):
    logits = size * np.random.default_rng(0).normal(size=(7, 7))
    matrix, softs = soft(logits)
    slope = np.ones((7, 7))
    sinkhorn_backward(slope, softs)
    assert np.isfinite(matrix).all()
    assert np.isfinite(softs).all()
    assert np.isfinite(slope).all()
    assert matrix.sum(axis=1) == pytest.approx(np.ones(7))


@given(st.permutations(range(9)), st.integers(0, 1000))
def test_hardening_recovers_a_planted_permutation(planted, seed):
    logits = np.random.default_rng(seed).uniform(0, 0.5, (9, 9)) + np.eye(9)[list(planted)]
    assert harden(logits).tolist() == list(planted)
    assert harden(np.log(soft(logits)[0])).tolist() == list(planted)


def test_noise_is_gumbel_and_repeats_with_its_seed():
    zeros, noise, again = np.zeros((300, 300)), np.empty((300, 300)), np.empty((300, 300))
    add_gumbel(zeros, 2.0, 0.5, np.random.default_rng(5), noise)
    add_gumbel(zeros, 2.0, 0.5, np.random.default_rng(5), again)
    assert (noise == again).all()
    assert noise.mean() / 4.0 == pytest.approx(np.euler_gamma, abs=0.02)
    assert noise.std() / 4.0 == pytest.approx(np.pi / np.sqrt(6), abs=0.02)
    add_gumbel(zeros + 3.0, 0.0, 0.5, np.random.default_rng(5), noise)
    assert (noise == 6.0).all()
