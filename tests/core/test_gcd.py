import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from baconlogic.core import gcd
from baconlogic.core.gcd import andness_of_power, exact, measured_andness
from baconlogic.core.levels import LEVELS, nearest_level

RULES = list(gcd.AGGREGATORS.values())


@st.composite
def cases(draw):
    """(truths, weights, andness) of 2 to 6 inputs."""
    n = draw(st.integers(2, 6))
    x = draw(st.lists(st.floats(0, 1), min_size=n, max_size=n))
    w = np.array(draw(st.lists(st.integers(1, 100), min_size=n, max_size=n)), dtype=float)
    return np.array(x), w / w.sum(), draw(st.floats(-1, 2))


rules = st.sampled_from(RULES)


def test_gcd_equals_the_printed_formula_on_a_grid():
    def printed(x, y, w, a):
        if a < 0.5:
            return 1 - printed(1 - x, 1 - y, w, 1 - a)
        if a == 2:
            return float(x == 1 and y == 1)
        if a == 0.5:
            return w * x + (1 - w) * y
        product = (x ** (2 * w) * y ** (2 * (1 - w))) ** (np.sqrt(3 / (2 - a)) - 1)
        return product if a >= 0.75 else (3 - 4 * a) * (w * x + (1 - w) * y) + (4 * a - 2) * product

    truths, weights = np.linspace(0, 1, 21), np.linspace(0.05, 0.95, 7)
    andnesses = np.r_[np.linspace(-1, 2, 61), 0.25, 0.5, 0.75, 1.25]
    x, y, w, a = (grid.ravel() for grid in np.meshgrid(truths, truths, weights, andnesses))
    expected = [printed(*case) for case in zip(x, y, w, a, strict=True)]
    assert np.abs(gcd.gcd([x, y], [w, 1 - w], a) - expected).max() <= 1e-14


@given(cases(), rules)
def test_output_is_a_degree_of_truth(case, rule):
    assert 0.0 <= rule(*case) <= 1.0


@given(cases(), rules, st.integers(0, 5), st.floats(0, 1))
def test_monotone_in_each_input(case, rule, which, higher):
    x, w, a = case
    more = x.copy()
    more[which % len(x)] = max(more[which % len(x)], higher)
    assert rule(more, w, a) >= rule(x, w, a) - 1e-14


@given(cases(), rules)
def test_de_morgan(case, rule):
    x, w, a = case
    x = 1 - (1 - x)  # without the digits of a small truth that its opposite cannot hold
    assert rule(1 - x, w, 1 - a) == pytest.approx(1 - rule(x, w, a), abs=1e-12)


@given(cases(), rules, st.randoms())
def test_order_of_inputs_does_not_matter(case, rule, random):
    x, w, a = case
    order = random.sample(range(len(x)), len(x))
    assert rule(x[order], w[order], a) == pytest.approx(rule(x, w, a), abs=1e-14)


@given(cases(), rules, st.sampled_from([0.25, 0.5, 0.75]))
def test_continuous_at_the_joints(case, rule, joint):
    x, w, _ = case
    below, at, above = rule([v * np.ones(3) for v in x], w, joint + np.array([-1e-8, 0, 1e-8]))
    assert abs(above - at) <= 1e-6
    assert abs(at - below) <= 1e-6


@given(cases(), rules)
def test_neutral_is_the_weighted_mean(case, rule):
    x, w, _ = case
    assert rule(x, w, 0.5) == pytest.approx(w @ x, abs=1e-14)


@given(st.integers(2, 6), st.data(), rules)
def test_product_at_the_level_named_after_it(n, data, rule):
    x = np.array(data.draw(st.lists(st.floats(0, 1), min_size=n, max_size=n)))
    assert rule(x, None, LEVELS["CP"].andness(n)) == pytest.approx(np.prod(x), abs=1e-12)
    assert rule(x, None, LEVELS["DP"].andness(n)) == pytest.approx(1 - np.prod(1 - x), abs=1e-12)


@pytest.mark.parametrize("n", [2, 3])
def test_product_is_at_five_quarters_for_two_and_three_inputs(n):
    assert LEVELS["CP"].andness(n) == 1.25
    assert gcd.gcd([0.3, 0.6, 0.9][:n], None, 1.25) == pytest.approx(np.prod([0.3, 0.6, 0.9][:n]), abs=1e-15)


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("n", [2, 3, 4, 5, 6])
def test_drastic_ends_are_exact(rule, n):
    for x in itertools.product([0.0, 0.3, 1.0], repeat=n):
        for high in (2.0, n / (n - 1)):
            assert rule(x, None, high) == float(min(x) == 1.0)
            assert rule(x, None, 1 - high) == float(max(x) > 0.0)


@pytest.mark.parametrize("code", list(LEVELS))
def test_named_levels_from_three_quarters_upward_measure_their_andness(code):
    a = LEVELS[code].andness()
    if a >= 0.75 or a <= 0.25:
        assert measured_andness(a) == pytest.approx(a, abs=1e-3)


@pytest.mark.parametrize("n", [2, 3, 4, 5, 6])
def test_exact_measures_every_andness(n):
    for a in np.linspace(-1 / (n - 1), n / (n - 1), 13):
        assert measured_andness(a, n, exact) == pytest.approx(a, abs=1e-3)


def test_printed_formula_measures_another_andness_in_the_soft_range():
    assert measured_andness(0.6) == pytest.approx(4 * 0.36 - 4 * 0.6 + 1.5, abs=1e-3)  # 0.54


@pytest.mark.parametrize("gates", [2, 3, 4, 6])
def test_chain_of_hard_gates_equals_one_merged_gate(gates):
    """prod x_i^e_i is one gate with w_i = e_i / sum(e) and c = sum(e) / n, while its andness stays hard; and dually."""
    rng, n, merges = np.random.default_rng(gates), gates + 1, 0
    for _ in range(300):
        x = np.where(rng.random(n) < 0.1, rng.integers(0, 2, n), rng.uniform(0.1, 1, n))
        a, w = rng.uniform(0.76, 1.6, gates), rng.uniform(0.1, 0.9, gates)
        z, dual, exponents = x[0], 1 - x[0], np.array([1.0])
        for k in range(gates):
            z = gcd.gcd([z, x[k + 1]], [w[k], 1 - w[k]], a[k])
            dual = gcd.gcd([dual, 1 - x[k + 1]], [w[k], 1 - w[k]], 1 - a[k])
            power = gcd.gcd.coefficients(a[k]).power
            exponents = np.r_[exponents * 2 * w[k] * power, 2 * (1 - w[k]) * power]
        merged, shares = andness_of_power(exponents.sum() / n, n), exponents / exponents.sum()
        if merged >= 0.75:
            merges += 1
            assert gcd.gcd(x, shares, merged) == pytest.approx(z, abs=1e-12)
            assert gcd.gcd(1 - x, shares, 1 - merged) == pytest.approx(dual, abs=1e-12)
    assert merges > 100


@given(st.data(), rules)
def test_derivatives_match_central_differences(data, rule):
    n = data.draw(st.integers(2, 4))
    x = np.array(data.draw(st.lists(st.floats(0.05, 0.95), min_size=n, max_size=n)))
    w = np.array(data.draw(st.lists(st.floats(0.2, 1), min_size=n, max_size=n)))
    w /= w.sum()
    a = data.draw(st.floats(0.05 - 1 / (n - 1), n / (n - 1) - 0.05) | st.sampled_from([0.25, 0.5, 0.75]))
    found, h = rule.derivatives(x, w, a), 1e-6

    def slope(up, down):
        return (rule(*up) - rule(*down)) / (2 * h)

    for i, step in enumerate(np.eye(n) * h):
        assert found.inputs[i] == pytest.approx(slope((x + step, w, a), (x - step, w, a)), rel=1e-5, abs=1e-6)
    step = np.r_[h, -h, np.zeros(n - 2)]  # weight moved from the second input to the first
    moved = found.weights[0] - found.weights[1]
    assert moved == pytest.approx(slope((x, w + step, a), (x, w - step, a)), rel=1e-5, abs=1e-6)
    assert found.andness == pytest.approx(slope((x, w, a + h), (x, w, a - h)), rel=1e-4, abs=1e-4)


@given(cases(), rules)
def test_derivatives_are_finite_everywhere(case, rule):
    for part in rule.derivatives(*case):
        assert np.isfinite(part).all()


def test_beyond_its_end_a_gate_stays_drastic_and_has_no_slope():
    assert gcd.gcd([0.99] * 3, None, [1.5, 1.8, 2.0]).tolist() == [0, 0, 0]
    for part in gcd.gcd.derivatives([0.99] * 3, None, 1.8):
        assert not np.any(part)


@pytest.mark.parametrize("n", [2, 10, 48, 60, 1100])
def test_gates_of_many_inputs(n):
    x = np.full(n, 0.99)
    assert gcd.gcd(x, None, LEVELS["CC"].andness(n)) == 0.0
    assert gcd.gcd(x, None, LEVELS["A"].andness(n)) == pytest.approx(0.99)
    power = (n + 1) ** (1 / n) - 1
    assert gcd.gcd(x, None, LEVELS["C"].andness(n)) == pytest.approx(0.99 ** (n * power), rel=1e-9)


def test_arrays_of_rows_weights_and_andness_broadcast():
    x, y = np.random.default_rng(0).random((2, 7))
    w, a = np.linspace(0.1, 0.9, 5)[:, None], np.linspace(-1, 2, 5)[:, None]
    together = gcd.gcd([x, y], [w, 1 - w], a)
    assert together.shape == (5, 7)
    for i, j in itertools.product(range(5), range(7)):
        assert together[i, j] == gcd.gcd([x[j], y[j]], [w[i, 0], 1 - w[i, 0]], a[i, 0])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: gcd.gcd([0.1, 0.2], None, 2.4), r"andness must be in \[-1, 2\], got 2.4; use 2 for the drastic con"),
        (lambda: gcd.gcd([0.1, 0.2], None, -3), r"andness must be in \[-1, 2\], got -3; use -1 for the drastic dis"),
        (lambda: gcd.gcd([0.1, 0.2], None, np.nan), r"andness must be in \[-1, 2\], got nan$"),
        (lambda: gcd.gcd([0.1], None, 1), "two or more inputs, got 1"),
        (lambda: gcd.gcd([0.1, 1.2], None, 1), r"truths must be in \[0, 1\], got 1.2"),
        (lambda: gcd.gcd([0.1, np.nan], None, 1), r"truths must be in \[0, 1\], got nan"),
        (lambda: gcd.gcd([0.1, 0.2], [0.5, 0.4], 1), "weights must be positive and sum to 1"),
        (lambda: gcd.gcd([0.1, 0.2], [1.0, 0.0], 1), "weights must be positive"),
        (lambda: gcd.gcd([0.1, 0.2], [0.5, 0.3, 0.2], 1), "2 inputs need 2 weights, got 3"),
        (lambda: measured_andness(0.5, 9), "2 to 7 inputs, got 9"),
    ],
)
def test_bad_arguments_are_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_the_table_of_appendix_d():
    fourteenths = {code: level.andness() * 14 for code, level in LEVELS.items()}
    assert len(LEVELS) == 23
    assert list(LEVELS)[:8] == ["CC", "HHC", "CP", "LHC", "C", "HC+", "HC", "HC-"]
    assert [round(fourteenths[code], 9) for code in ("C", "HC+", "SC", "A", "SD", "HD+", "D")] == [
        14,
        13,
        9,
        7,
        5,
        1,
        0,
    ]
    assert LEVELS["HHC"].span() == (1.25, 2.0)
    assert LEVELS["LHC"].span() == (1.0, 1.25)
    assert LEVELS["LHD"].span() == (-0.25, 0.0)
    assert LEVELS["HHD"].span() == (-1.0, -0.25)
    assert LEVELS["CC"].andness() == 2.0
    assert LEVELS["DD"].andness() == -1.0
    words = [level.words for level in LEVELS.values()]
    assert (
        words
        == ["must have all"] * 8
        + ["nice to have most"] * 3
        + ["nice to have"]
        + ["nice to have some"] * 3
        + ["enough to have any"] * 8
    )


@pytest.mark.parametrize("n", [2, 3, 4, 7])
def test_every_level_is_nearest_to_itself_and_mirrors_its_dual(n):
    codes = list(LEVELS)
    for code, mirror in zip(codes, reversed(codes), strict=True):
        a = LEVELS[code].andness(n)
        assert nearest_level(a, n).code == code
        assert LEVELS[mirror].andness(n) == pytest.approx(1 - a, abs=1e-15)


@given(st.floats(-1, 2))
def test_nearest_level_is_nearest(a):
    def distance(level):
        low, high = level.span()
        return max(low - a, a - high, 0.0)

    assert distance(nearest_level(a)) <= min(map(distance, LEVELS.values())) + 1e-9


@given(st.floats(-1, 2), st.integers(2, 5))
def test_role_agrees_with_what_the_gate_does(a, n):
    """A mandatory input that is false makes the output false; a sufficient one that is true makes it true."""
    role = nearest_level(a, n).role
    without = gcd.gcd([0.0] + [1.0] * (n - 1), None, a)
    alone = gcd.gcd([1.0] + [0.0] * (n - 1), None, a)
    assert (role == "mandatory") == (without == 0.0)
    assert (role == "sufficient") == (alone == 1.0)
    if role != "neutral":
        assert (role in ("mandatory", "desired")) == (a > 0.5)
