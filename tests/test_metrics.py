"""Laws of the measures: intervals cover, answers add up, figures are scikit-learn's."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.stats import binom, binomtest
from sklearn import metrics as sk

from baconlogic import metrics

counted = st.integers(1, 300).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))
weighted = st.lists(
    st.tuples(st.integers(-4, 4).map(float), st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=30
).map(lambda rows: tuple(np.array(column, dtype=float) for column in zip(*rows, strict=True)))


@given(counted)
def test_the_interval_of_a_share_is_the_exact_one(pair):
    k, n = pair
    found, exact = metrics.share(k, n), binomtest(k, n).proportion_ci(method="exact")
    assert (found.low, found.high) == pytest.approx((exact.low, exact.high), abs=1e-9)
    assert found.low <= found.value == k / n <= found.high


@given(counted)
def test_one_sided_and_two_sided_bounds_agree(pair):
    k, n = pair
    found = metrics.share(k, n)
    assert found.low == metrics.lower_bound(k, n, 0.975) <= metrics.lower_bound(k, n, 0.95)
    assert 1.0 - found.high == pytest.approx(float(metrics.lower_bound(n - k, n, 0.975)))
    mirrored = metrics.share(n - k, n)
    assert (mirrored.low, mirrored.high) == pytest.approx((1.0 - found.high, 1.0 - found.low))


@pytest.mark.parametrize("n", [1, 5, 12, 60])
def test_the_interval_covers_every_share_as_often_as_it_says(n):
    ends = [metrics.share(k, n) for k in range(n + 1)]
    for share in np.linspace(0.001, 0.999, 300):
        covered = sum(binom.pmf(k, n, share) for k, each in enumerate(ends) if each.low <= share <= each.high)
        assert covered >= 0.95 - 1e-9


def test_the_same_42_of_60_are_told_alike_everywhere():
    share = metrics.share(42, 60)
    assert (round(share.low, 3), round(share.high, 3)) == (0.568, 0.812)
    assert str(share) == "0.7000 (0.5679 to 0.8115)"
    assert metrics.share(0, 10).low == 0.0
    assert metrics.share(10, 10).high == 1.0
    assert metrics.share(0, 0) == metrics.Estimate(0.0, 0.0, 1.0)


@given(weighted)
def test_the_answers_at_every_cut_are_those_of_scikit_learn(rows):
    scores, positive, negative = rows
    assume(positive.any() and negative.any())
    marks, found = metrics.at_every_cut(scores, positive, negative)
    assert len(found.true_positive) == len(marks) + 1
    label, weight = np.repeat([1, 0], len(scores)), np.r_[positive, negative]
    for i, cut in enumerate([marks[0] - 1.0, *marks]):
        here = metrics.Confusion(*(part[i] for part in found))
        assert here == metrics.confusion(scores > cut, positive, negative)
        assert sum(here) == weight.sum()
        yes = np.tile(scores > cut, 2)
        table = sk.confusion_matrix(label, yes, labels=[0, 1], sample_weight=weight)
        assert table.ravel().tolist() == [
            here.true_negative, here.false_positive, here.false_negative, here.true_positive,
        ]  # fmt: skip
        assert here.accuracy == pytest.approx(sk.accuracy_score(label, yes, sample_weight=weight))
        kind = {"sample_weight": weight, "zero_division": 0.0}
        assert here.precision == pytest.approx(sk.precision_score(label, yes, **kind))
        assert here.recall == pytest.approx(sk.recall_score(label, yes, **kind))


@given(weighted)
def test_the_area_under_the_curve_is_scikit_learns_with_ties_and_weights(rows):
    scores, positive, negative = rows
    found = metrics.auc(scores, positive, negative)
    if not (positive.any() and negative.any()):
        assert found is None
        return
    label, weight = np.repeat([1, 0], len(scores)), np.r_[positive, negative]
    assert found.value == pytest.approx(sk.roc_auc_score(label, np.tile(scores, 2), sample_weight=weight), abs=1e-12)
    assert 0.0 <= found.low <= found.value <= found.high <= 1.0
    assert found.low < found.high
    one_by_one = [np.repeat(each, times.astype(int)) for each, times in ((scores, positive), (scores, negative))]
    again = metrics.auc(np.concatenate(one_by_one), *_sides(*(len(each) for each in one_by_one)))
    assert (again.low, again.high) == pytest.approx((found.low, found.high))


def _sides(cases, others):
    positive = np.arange(cases + others) < cases
    return positive, ~positive


def test_the_interval_of_the_area_covers_the_true_one():
    rng, covered = np.random.default_rng(0), 0
    for _ in range(200):
        positive = rng.random(80) < 0.4
        found = metrics.auc(np.round(rng.normal(positive * 1.0), 1), positive, ~positive)
        covered += found.low <= 0.7602 <= found.high  # of two normal distributions one standard deviation apart
    assert 180 <= covered <= 200


def test_a_perfect_ranking_is_not_called_certain():
    positive = np.arange(20) >= 10
    found = metrics.auc(np.arange(20.0), positive, ~positive)
    assert (found.value, found.high) == (1.0, 1.0)
    assert found.low == metrics.share(10, 10).low < 0.8
    alike = metrics.auc(np.zeros(20), positive, ~positive)
    assert alike.low < 0.3 < 0.5 == alike.value < 0.7 < alike.high


@pytest.mark.parametrize("classes", [2, 3])
def test_losses_are_scikit_learns(classes):
    rng = np.random.default_rng(classes)
    chances = rng.dirichlet(np.ones(classes), 200)
    truly = rng.integers(0, classes, 200)
    assert metrics.log_losses(chances, truly).mean() == pytest.approx(sk.log_loss(truly, chances))
    sides = np.eye(classes)[truly]
    wanted = sk.brier_score_loss(truly, chances[:, 1]) if classes == 2 else ((chances - sides) ** 2).sum(axis=1).mean()
    assert metrics.brier_scores(chances, truly).mean() == pytest.approx(wanted)
    table = metrics.confusion_matrix(truly, chances.argmax(axis=1), classes)
    assert np.array_equal(table, sk.confusion_matrix(truly, chances.argmax(axis=1)))
    assert metrics.accuracy(chances.argmax(axis=1), truly) == np.trace(table) / table.sum()


def test_losses_of_scores_and_of_the_base_rate_are_those_of_their_probabilities():
    rng = np.random.default_rng(0)
    scores, y, weight = rng.normal(size=100), rng.integers(0, 2, 100).astype(float), rng.uniform(size=100)
    chance = 1.0 / (1.0 + np.exp(-scores))
    assert metrics.log_loss_of_scores(scores, y, weight) == pytest.approx(sk.log_loss(y, chance, sample_weight=weight))
    rate = np.full(100, weight @ y / weight.sum())
    assert metrics.base_log_loss(y, weight) == pytest.approx(sk.log_loss(y, rate, sample_weight=weight))


def test_a_mean_has_the_interval_of_its_standard_error():
    values = np.random.default_rng(0).uniform(size=50)
    found = metrics.mean(values)
    assert found.high - found.value == pytest.approx(1.96 * values.std(ddof=1) / np.sqrt(50), rel=1e-4)
    assert str(metrics.mean(values[:1])) == f"{values[0]:.4f}"


def test_calibration_keeps_equal_probabilities_together_and_counts_every_row():
    chance, positive = np.repeat([0.1, 0.5, 0.9], [50, 30, 20]), np.arange(100) % 2 == 0
    bins = metrics.calibration(chance, positive)
    assert [each.rows for each in bins] == [50, 30, 20]
    assert [each.cases for each in bins] == [25, 15, 10]
    assert [each.mean for each in bins] == pytest.approx([0.1, 0.5, 0.9])
    many = metrics.calibration(np.linspace(0, 1, 500), np.arange(500) % 3 == 0)
    assert [each.rows for each in many] == [50] * 10
    assert all(a.high < b.low for a, b in pairwise(many))
