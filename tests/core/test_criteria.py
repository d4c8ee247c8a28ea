import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import criteria, intervals, monotone_ramps, numbers, ramps, sigmoids, tables

from baconlogic import Gate, Leaf, Tree
from baconlogic.core.criteria import Given, Interval, Ramp, Sigmoid, Table


def truth(criterion, *values):
    return criterion.truth(np.array(values, dtype=object if criterion.categorical else float)).tolist()


def test_a_ramp_is_straight_between_its_breakpoints_and_flat_outside():
    ramp = Ramp([(10, 0), (20, 1), (30, 1), (40, 0.2)])
    values = (-math.inf, 5, 10, 15, 20, 25, 35, 40, 1e9, math.inf)
    assert truth(ramp, *values) == pytest.approx([0, 0, 0, 0.5, 1, 1, 0.6, 0.2, 0.2, 0.2], abs=1e-15)
    assert not ramp.monotone
    assert ramp.range == (0, 1)
    assert ramp.crossings(0.6) == pytest.approx((16, 35))


def test_the_order_in_which_breakpoints_are_given_does_not_matter():
    assert Ramp([(25, 1), (12, 0)]) == Ramp([(12, 0), (25, 1)])


def test_rounding_does_not_carry_a_truth_past_its_breakpoints():
    for ramp, x in ((Ramp([(-9.2, 0.22), (1, 0)]), 0.9999999999999999), (Ramp([(-96, 0.08), (0, 1)]), -1e-17)):
        low, high = ramp.range
        assert low <= truth(ramp, x)[0] <= high
        for rows in (1, 100_000):
            tree = Tree(Gate([Leaf("a", ramp), "b"], "C" if low == 0 else "D"))
            assert np.isfinite(tree.evaluate({"a": np.full(rows, x), "b": np.full(rows, 0.5)})).all()


def test_between_falls_when_yes_is_smaller():
    assert Ramp.between(25, 12) == Ramp([(12, 1), (25, 0)])
    assert Ramp.between(25, 12).rising is False


def test_a_sigmoid_is_half_true_at_its_centre():
    assert truth(Sigmoid(16.8, 0.9), 16.8, math.inf, -math.inf) == [0.5, 1, 0]
    assert Sigmoid(1, -2).rising is False


def test_huge_values_and_slopes_saturate_without_a_warning():
    assert truth(Sigmoid(0, 1e300), 1e300, -1e300, 0) == [1, 0, 0.5]
    assert truth(Ramp.between(-1e300, 1e300), 1.7e308, -1.7e308, 0) == [1, 0, 0.5]


def test_an_interval_is_true_above_its_low_mark_and_up_to_its_high_one():
    after = math.nextafter(16.8, math.inf)
    values = (-math.inf, 16.8, after, math.inf)
    assert truth(Interval(16.8), *values) == [0, 0, 1, 1]
    assert truth(Interval(high=16.8), *values) == [1, 1, 0, 0]
    assert truth(Interval(0.5, 16.8), 0.5, 0.6, *values) == [0, 1, 0, 1, 0, 0]
    assert [Interval(1).rising, Interval(high=1).rising, Interval(0, 1).rising] == [True, False, None]
    assert (Interval(16.8).inverse(0.5), Interval(16.8).inverse(1), Interval(16.8).inverse(0)) == (16.8, after, 16.8)
    with pytest.raises(ValueError, match="an interval needs a mark"):
        Interval()
    with pytest.raises(ValueError, match="nothing is above 2 and up to 2"):
        Interval(2, 2)
    with pytest.raises(ValueError, match="a mark of an interval"):
        Interval(math.inf)


@given(intervals())
def test_what_an_interval_is_at_its_ends_is_exact(interval):
    for p in (0.0, 1.0):
        assert truth(interval, *interval.crossings(p)) == [p] * len(interval.crossings(p))
    ends = np.array(interval.bends)
    least, most = interval.image(ends[:-1], ends[1:])
    seen = np.stack([interval.truth(ends[:-1]), interval.truth(ends[1:])])
    assert (least == seen.min(0)).all()
    assert (most == seen.max(0)).all()
    first, last = interval.span(0.05)
    everywhere = [end.item() for end in interval.image(np.array([first]), np.array([last]))]
    assert everywhere == [0, 1]


@given(intervals(most=1), numbers)
def test_the_complement_of_a_cut_is_its_other_side(interval, x):
    other = interval.mirrored()
    assert truth(other, x)[0] == 1 - truth(interval, x)[0]
    again = other.mirrored()
    assert (again.low, again.high, again.unit) == (interval.low, interval.high, interval.unit)
    assert (again.missing is None) == (interval.missing is None)
    assert interval.missing is None or again.missing == pytest.approx(interval.missing, abs=1e-15)
    assert Interval(0, 1).mirrored() is None


def test_a_table_maps_categories():
    table = Table({"red": 1, "blue": 0.4, 3: 0.2}, other=0, missing=0.5)
    assert truth(table, "red", "blue", 3, 3.0, "green", None) == [1, 0.4, 0.2, 0.2, 0, 0.5]
    assert table.inverse(0.4) == ("red", "blue")
    assert table.range == (0, 1)
    assert not table.monotone


def test_missing_values_take_the_stated_truth():
    for criterion in (Given(0.3), Ramp.between(0, 1, missing=0.3), Sigmoid(0, 1, missing=0.3)):
        assert truth(criterion, math.nan, 1.0)[0] == 0.3


@pytest.mark.parametrize("criterion", [Given(), Ramp.between(0, 1), Sigmoid(0, 1)])
def test_a_missing_value_without_a_stated_truth_is_an_error(criterion):
    with pytest.raises(ValueError, match="value is missing and no truth for missing values is stated"):
        truth(criterion, math.nan)


@given(monotone_ramps() | sigmoids, st.floats(0.01, 0.99))
def test_inverse_gives_the_value_that_is_p_true(criterion, p):
    low, high = criterion.range
    p = low + p * (high - low)
    assert truth(criterion, criterion.inverse(p))[0] == pytest.approx(p, abs=1e-6)


@given(ramps(), st.floats(0, 1))
def test_every_crossing_is_p_true(ramp, p):
    for x in ramp.crossings(p):
        assert truth(ramp, x)[0] == pytest.approx(p, abs=1e-9)


@given(monotone_ramps() | sigmoids | intervals(most=1), st.floats(-2e6, 2e6), st.floats(-2e6, 2e6))
def test_monotone_criteria_are_monotone(criterion, a, b):
    low, high = truth(criterion, min(a, b), max(a, b))
    assert low <= high + 1e-12 if criterion.rising else low >= high - 1e-12


@given(ramps() | sigmoids | intervals(), st.floats(-2e6, 2e6), st.floats(-2e6, 2e6), st.floats(0, 1))
def test_image_brackets_every_value_of_the_interval(criterion, a, b, part):
    low, high = (np.array([end]) for end in sorted((a, b)))
    least, most = criterion.image(low, high)
    inside = criterion.truth(low + part * (high - low))
    assert least - 1e-12 <= inside <= most + 1e-12


@given(criteria)
def test_every_criterion_has_words_and_a_range(criterion):
    assert "size" in criterion.words("size")
    assert 0 <= criterion.range[0] <= criterion.range[1] <= 1


@pytest.mark.parametrize(
    ("criterion", "words"),
    [
        (
            Ramp.between(12, 25, unit="mm"),
            "worst radius is high: not true below 12, half true at 18.5, fully true above 25 mm",
        ),
        (Ramp.between(25, 12), "worst radius is low: fully true below 12, half true at 18.5, not true above 25"),
        (Sigmoid(16.8, 0.9), "worst radius is high: half true at 16.8, 95% true at 20.07"),
        (
            Ramp([(18, 0), (30, 1), (60, 0.25)], missing=0.5),
            "worst radius is in range: not true below 18, fully true at 30, 25% true above 60; half true when missing",
        ),
        (Interval(16.8, unit="mm"), "worst radius above 16.8 mm"),
        (Interval(high=5, missing=0.5), "worst radius at most 5; half true when missing"),
        (Interval(0.5, 2.1), "worst radius above 0.5 up to 2.1"),
        (
            Table({"red": 1, "blue": 0.4, "pink": 1}, other=0),
            "worst radius fits: fully true for 'red' or 'pink', 40% true for 'blue', not true for anything else",
        ),
        (
            Ramp([(18, 0), (25, 1), (60, 1), (75, 0)], unit="years"),
            "worst radius is in range: not true below 18, fully true from 25 to 60, not true above 75 years",
        ),
        (Ramp([(1, 1), (2, 0), (3, 1)]), "worst radius fits: fully true below 1, not true at 2, fully true above 3"),
        (Ramp([(0, 0), (5, 0), (10, 1)]), "worst radius is high: not true below 5, fully true above 10"),
        (
            Ramp.between(1000.1, 1000.4),
            "worst radius is high: not true below 1000.1, half true at 1000.25, fully true above 1000.4",
        ),
        (Ramp([(0, 0.9999), (1, 0)]), "worst radius: not true when 1, 99.99% true when 0"),
        (Sigmoid(686.512345678, -0.0035), "worst radius is low: half true at 687, 5% true at 1528"),
        (
            Ramp.between(1e-5, 3.21e-5),
            "worst radius is high: not true below 0.00001, half true at 0.0000211, fully true above 0.0000321",
        ),
        (
            Ramp.between(40_000, 1_250_000),
            "worst radius is high: not true below 40000, half true at 645000, fully true above 1250000",
        ),
    ],
)
def test_words(criterion, words):
    assert criterion.words("worst radius") == words


def test_built_from_a_column_outliers_do_not_squeeze_the_rest():
    column = np.r_[np.linspace(0, 100, 1001), 1e9, np.nan]
    ramp, sigmoid = Ramp.from_column(column), Sigmoid.from_column(column, rising=False)
    assert ramp.inverse(0.5) == pytest.approx(50, abs=0.1)
    assert sigmoid.inverse(0.5) == pytest.approx(50, abs=0.1)
    assert truth(sigmoid, 5, 95) == pytest.approx([0.95, 0.05], abs=0.01)
    assert Ramp.minmax(column).points == ((0, 0), (1e9, 1))


def test_a_column_that_is_nearly_constant_falls_back_to_its_extremes():
    assert Ramp.from_column([0] * 99 + [7]).points == ((0, 0), (7, 1))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Ramp.from_column([3, 3, 3]), "constant \\(3 in every row\\)"),
        (lambda: Ramp.from_column([]), "empty or all missing"),
        (lambda: Sigmoid.from_column([math.nan]), "empty or all missing"),
        (lambda: Ramp.from_column([1, math.inf]), "infinite"),
        (lambda: Ramp([(1, 0)]), "two or more breakpoints, got 1"),
        (lambda: Ramp([(1, 0), (1, 1)]), "two breakpoints are at the same value, 1"),
        (lambda: Ramp([("a", 0), (1, 1)]), "a breakpoint must be a finite number, got 'a'"),
        (lambda: Ramp([12, 25]), r"breakpoints are pairs \(value, truth\)"),
        (lambda: Ramp(12, 25), r"breakpoints are pairs \(value, truth\)"),
        (lambda: Table(["a", "b"]), r"truths are pairs \(category, truth\)"),
        (lambda: Ramp.from_column(["1", "2"]), "the column holds text"),
        (lambda: Ramp.from_column([[1, 2], [3, 4]]), "built from one column, got 2 dimensions"),
        (lambda: Ramp.from_column([1, 2], low=0.9, high=0.1), "low < high"),
        (lambda: Ramp([(1, 0.5), (2, 0.5)]), "must rise or fall, but it is 0.5 everywhere"),
        (lambda: Ramp([(1, 0), (math.inf, 1)]), "a breakpoint must be a finite number, got inf"),
        (lambda: Ramp([(0, 0), (5e-324, 1)]), "two breakpoints are at the same value"),
        (lambda: Ramp([(1, 0), (2, 1.5)]), r"the truth at 2 must be in \[0, 1\], got 1.5"),
        (lambda: Ramp.between(0, 1, missing=2), r"missing values must be in \[0, 1\], got 2"),
        (lambda: Sigmoid(0, 0), "slope of a sigmoid must not be 0"),
        (lambda: Sigmoid(math.nan, 1), "centre of a sigmoid must be a finite number"),
        (lambda: Table({}), "at least one category"),
        (lambda: Table([("a", 1), ("a", 0)]), "the category 'a' is given twice"),
        (lambda: Table({"a": 7}), "the truth of 'a' must be in"),
        (lambda: truth(Given(), 1.5), "1.5 is not a degree of truth"),
        (lambda: truth(Table({"a": 1}), "b"), "the category 'b' is not in the table"),
        (lambda: truth(Table({"a": 1}, other=0), 3), "3 is of another kind than the table's categories"),
        (lambda: Ramp([(0, 0), (1, 1), (2, 0)]).inverse(0.5), "use crossings"),
        (lambda: Ramp([(0, 0.2), (1, 0.8)]).inverse(0.9), "no value is 0.9 true; truths run from 0.2 to 0.8"),
        (lambda: Sigmoid(0, 1).inverse(1.2), r"truth must be in \[0, 1\], got 1.2"),
    ],
)
def test_bad_criteria_are_refused_in_one_line(make, message):
    with pytest.raises(ValueError, match=message) as caught:
        make()
    assert "\n" not in str(caught.value)


@given(tables)
def test_a_table_is_as_true_as_it_says(table):
    for category, expected in table.truths:
        assert truth(table, category) == [expected]
