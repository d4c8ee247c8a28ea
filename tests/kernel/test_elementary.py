import numpy as np
import pytest

from baconlogic.kernel.elementary import exp, exp_pair, log, log_of_one_plus


def relative(found, expected):
    return np.max(np.abs(np.array(found) - expected) / np.abs(expected))


def test_exp_and_log_are_right_to_the_last_digits():
    rng = np.random.default_rng(0)
    x = np.r_[rng.uniform(-708, 709, 2000), rng.uniform(-1, 1, 2000), 0.0, -1e-300, 1e-9]
    assert relative([exp(v) for v in x], np.exp(x)) < 1e-15
    y = np.r_[np.exp(rng.uniform(-700, 700, 2000)), rng.uniform(0.5, 1.5, 2000), 2.3e-308]
    assert relative([log(v) for v in y], np.log(y)) < 1e-15
    assert log(1.0) == 0.0


def test_the_complement_of_exp_does_not_cancel():
    x = -np.exp(np.random.default_rng(1).uniform(-600, 6, 2000))
    value, rest = np.array([exp_pair(v) for v in x]).T
    assert relative(value, np.exp(x)) < 1e-15
    assert relative(rest, -np.expm1(x)) < 1e-15


def test_log_of_one_plus_is_precise_for_tiny_values():
    x = np.r_[np.exp(np.random.default_rng(2).uniform(-700, 0, 2000)), 1.0]
    assert relative([log_of_one_plus(v) for v in x], np.log1p(x)) < 1e-15


@pytest.mark.parametrize(("x", "expected"), [(-1e9, np.exp(-708)), (1e9, np.exp(709))])
def test_exp_is_clipped(x, expected):
    assert exp(x) == pytest.approx(expected)
