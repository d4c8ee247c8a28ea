"""Conditions are what is printed, and what a grid says one would gain is what a regression gains."""

import itertools
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from baconlogic import Not, Tree
from baconlogic.core.columns import Columns
from baconlogic.core.criteria import Given, Interval, Ramp, Table
from baconlogic.learn import encode
from baconlogic.learn.column import NUMBER, Column
from baconlogic.learn.search.conditions import (
    BAND,
    CUT,
    RAMP,
    TRUTHS,
    Condition,
    between,
    joined_band,
    outside,
    round_between,
)
from baconlogic.learn.search.grid import CRISP, EVERY, PLAIN, PRICE, Grid, Place

ROWS = 300


def columns_of(X):
    return encode.read(Columns(X), np.ones(len(X)))


def mixed(seed=0, holes=0.0, rows=ROWS):
    """A number, a column of few numbers, one of 0 and 1, and categories, some of them rare."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame({
        "number": rng.lognormal(2.0, 1.0, rows).round(2), "few": rng.integers(0, 4, rows).astype(float),
        "truth": (rng.random(rows) < 0.4).astype(float),
        "kind": rng.choice(list("abcde"), rows, p=[0.4, 0.3, 0.2, 0.095, 0.005]),
    }).astype({"kind": object})  # fmt: skip
    for name in X:
        X.loc[rng.random(rows) < holes, name] = None
    return X


CONDITIONS = [
    (0, CUT, (7.5,)), (0, BAND, (3.0, 12.5)), (0, RAMP, (2.0, 20.0)), (1, CUT, (1.5,)), (1, BAND, (0.5, 2.5)),
    (1, RAMP, (0.0, 3.0)), (2, CUT, (0.5,)), (3, TRUTHS, (1.0, 0.0, 1.0, 0.0, 0.0, 0.0)),
    (3, TRUTHS, (0.25, 0.0, 1.0, 0.75, 0.5, 0.5)), (3, TRUTHS, (1.0,) * 6),
]  # fmt: skip


@pytest.mark.parametrize("stated", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize(("column", "kind", "numbers"), CONDITIONS)
def test_a_condition_says_what_its_leaf_says(column, kind, numbers, turned, stated):
    for holes in (0.0, 0.15):
        X = mixed(holes=holes)
        own = columns_of(X)[column]
        condition = Condition(column, kind, numbers, turned, stated)
        node = condition.node(own)
        assert Tree(node).evaluate(X) == pytest.approx(condition.truths(own), abs=1e-12)
        assert condition.opposite.truths(own) == pytest.approx(1.0 - condition.truths(own), abs=1e-12)
        leaf = node.input if isinstance(node, Not) else node
        assert isinstance(leaf.criterion, {CUT: (Interval, Given), BAND: Interval, RAMP: Ramp, TRUTHS: Table}[kind])
        assert (leaf.criterion.missing is None) == (holes == 0.0)
        assert Tree.parse(Tree(node).formula()) == Tree(node)


def test_an_unseen_category_is_any_other_one_in_both():
    seen, new = mixed(), pd.DataFrame({"kind": ["a", "moon", "e"]})
    (own,) = [column for column in columns_of(seen) if column.name == "kind"]
    condition = Condition(3, TRUTHS, (1.0, 0.0, 0.0, 0.0, 0.25, 0.25))
    assert Tree(condition.node(own)).evaluate(new).tolist() == [1.0, 0.25, 0.25]
    assert condition.truths(replace(own, values=np.array([0, 5, 4]))).tolist() == [1.0, 0.25, 0.25]


def test_a_column_of_ones_but_for_a_few_is_cut_as_a_number():
    """It may hold other numbers that were not seen: as a truth it would refuse them."""
    X = pd.DataFrame({"x": np.r_[np.zeros(3), np.ones(297)]})
    leaf = Condition(0, CUT, (0.5,)).node(columns_of(X)[0])
    assert leaf.criterion == Interval(0.5)


@given(st.lists(st.tuples(st.floats(-1e9, 1e9), st.floats(1e-9, 1e9)), min_size=1, max_size=5))
def test_a_round_number_lies_between(pairs):
    low = np.array([a for a, _ in pairs])
    high = np.array([a + width for a, width in pairs])
    found = round_between(low, high)
    assert ((found >= low) & ((found < high) | (low == high))).all()


@pytest.mark.parametrize(("low", "high", "found"), [
    (16.75, 16.83, 16.8), (0.0, 1.0, 0.0), (1.0, 2.0, 1.0), (-3.2, 4.0, 0.0), (1234.0, 2345.0, 2000.0), (5.0, 5.0, 5.0),
])  # fmt: skip
def test_the_roundest_number_is_taken(low, high, found):
    assert float(round_between(low, high)) == found


def place_of(y, weight, rng, kind):
    """A place in a card: alone, in a sum with another, or beside what holds already."""
    p = np.full(len(y), weight @ y / weight.sum()) if kind == "alone" else rng.uniform(0.1, 0.9, len(y))
    g, h = weight * (y - p), weight * p * (1.0 - p)
    if kind == "any":
        held = rng.random(len(y))
        return Place(g, h, held, 1.0 - held, 1)
    return Place(g, h, np.zeros(len(y)), np.ones(len(y)))


def gain_of(place, truths, ridge, way=0):
    """What the best (b, beta) gains by the quadratic model, by least squares on the rows themselves."""
    x = place.a + place.q * truths
    g, h = place.slope, place.curvature
    design = np.stack([np.ones_like(x), x])
    hessian, slope = (design * h) @ design.T, design @ g
    centred = x - hessian[0, 1] / hessian[0, 0]
    spread = h @ centred**2
    if spread <= 1e-7 * hessian[0, 0]:
        return 0.0
    beta = (g @ centred) / spread
    if place.sign * beta < 0.0 or way * beta < 0.0:
        return 0.0
    free = 0.5 * slope @ np.linalg.solve(hessian, slope)
    alone = 0.5 * slope[0] ** 2 / hessian[0, 0]
    return alone + (free - alone) / (1.0 + ridge / hessian[0, 0])


def crisp_conditions(grid, j, columns):
    """Every cut, band and set of categories of one column, with its price."""
    marks, n, missing = grid.marks[j], int(grid.views.sizes[j]), columns[j].has_missing
    stated = (0.0, 1.0) if missing else (0.5,)
    for t in stated:
        if not grid.views.ordered[j]:
            for size in range(1, n):
                for chosen in itertools.combinations(range(n), size):
                    table = np.isin(np.arange(n), chosen).astype(float)
                    yield Condition(j, TRUTHS, grid._truths(j, table), missing=t), PRICE * min(0.5 * (n - 2), 3.0)
            continue
        for mark in marks:
            for turned in (False, True):
                yield Condition(j, CUT, (float(mark),), turned, t), 0.0 if n <= 2 else PRICE
        for a, b in itertools.combinations(marks, 2):
            for turned in (False, True):
                yield Condition(j, BAND, (float(a), float(b)), turned, t), 2.0 * PRICE


@pytest.mark.parametrize("kind", ["alone", "sum", "any"])
@pytest.mark.parametrize("holes", [0.0, 0.1])
@pytest.mark.parametrize("seed", [0, 1])
def test_screening_finds_the_best_crisp_condition_of_each_column(kind, holes, seed):
    rng = np.random.default_rng(seed)
    X = mixed(seed, holes, 120).assign(number=lambda t: t["number"].clip(upper=12).round(0))
    columns, weight = columns_of(X), rng.uniform(0.5, 1.5, 120)
    y = (rng.random(120) < np.where(X["number"] > 6, 0.8, 0.3)) ^ (X["kind"] == "a") ^ (X["truth"] == 1)
    grid = Grid(columns, weight, np.zeros(4, np.int64), 1.0)
    place = place_of(y.to_numpy(float), weight, rng, kind)
    offers = grid.screen(place, np.ones(4, bool), 4, CRISP)
    assert [offer.gain for offer in offers] == sorted((offer.gain for offer in offers), reverse=True)
    found = {offer.condition.column: offer for offer in offers}
    for j, column in enumerate(columns):
        gains = {
            condition: gain_of(place, condition.truths(column), 1.0) - cost
            for condition, cost in crisp_conditions(grid, j, columns)
        }
        best = max(0.0, *gains.values())
        if j not in found:
            assert best <= 1e-9
            continue
        offer = found[j]
        assert offer.gain <= best + 1e-6
        if offer.condition in gains:
            assert offer.gain == pytest.approx(gains[offer.condition], abs=1e-6)
        if grid.views.ordered[j] and grid.views.sizes[j] <= 12:  # sets are tried in the order of what each asks for
            assert offer.gain == pytest.approx(best, abs=1e-6)
        else:
            assert offer.gain >= best - 1.0


def test_directions_and_allowed_columns_bind_the_screening():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"up": rng.normal(size=ROWS), "down": rng.normal(size=ROWS)})
    y = (X["up"] > X["down"]).to_numpy(float)
    weight = np.ones(ROWS)
    place = place_of(y, weight, rng, "alone")
    for direction in (1, -1):
        grid = Grid(columns_of(X), weight, np.array([direction, direction]), 1.0)
        for shapes in (CRISP, EVERY, PLAIN):
            for offer in grid.screen(place, np.ones(2, bool), 2, shapes):
                truths = offer.condition.truths(columns_of(X)[offer.condition.column])
                rising = np.polyfit(X.iloc[:, offer.condition.column], truths, 1)[0] > 0
                for_yes = (truths[y == 1].mean() > truths[y == 0].mean()) == rising  # as it counts
                assert for_yes == (direction > 0)
    grid = Grid(columns_of(X), weight, np.zeros(2, np.int64), 1.0)
    assert [offer.condition.column for offer in grid.screen(place, np.array([False, True]), 2, EVERY)] == [1]
    assert {offer.condition.kind for offer in grid.screen(place, np.ones(2, bool), 2, PLAIN)} == {RAMP}
    assert {offer.condition.kind for offer in grid.screen(place, np.ones(2, bool), 2, CRISP)} <= {CUT, BAND}


@pytest.mark.parametrize("seed", range(3))
def test_pairs_find_the_checkerboard(seed):
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(rng.uniform(size=(600, 6)), columns=list("abcdef"))
    y = ((X["b"] > 0.5) == (X["e"] > 0.5)).to_numpy(float)
    grid = Grid(columns_of(X), np.ones(600), np.zeros(6, np.int64), 1.0)
    place = place_of(y, np.ones(600), rng, "alone")
    (gain, one, two), *_ = grid.pairs(place, np.ones(6, bool), 3)
    assert {one.column, two.column} == {1, 4}
    truths = one.truths(grid.columns[one.column]) * two.truths(grid.columns[two.column])
    alone = max(offer.gain for offer in grid.screen(place, np.ones(6, bool), 6, CRISP))
    assert gain > 2.0 * alone
    bands = sum(condition.kind == BAND for condition in (one, two))
    assert gain == pytest.approx(gain_of(place, truths, 1.0) - PRICE * (2 + bands), abs=1e-6)
    assert grid.pairs(place, np.arange(6) == 1, 3) == []


@given(st.integers(0, 10**6), st.sampled_from([EVERY, CRISP, PLAIN]), st.sampled_from([0.0, 0.2]))
@settings(max_examples=20)
def test_what_is_offered_can_be_said_and_read_again(seed, shapes, holes):
    rng = np.random.default_rng(seed)
    X = mixed(seed, holes, 80)
    columns, weight = columns_of(X), np.ones(80)
    place = place_of(rng.integers(0, 2, 80).astype(float), weight, rng, "sum")
    grid = Grid(columns, weight, np.zeros(4, np.int64), 1.0)
    for offer in grid.screen(place, np.ones(4, bool), 4, shapes):
        assert offer.gain > 0.0
        own = columns[offer.condition.column]
        tree = Tree(offer.condition.node(own))
        assert np.allclose(tree.evaluate(X), offer.condition.truths(own), atol=1e-12)
        assert Tree.parse(tree.formula()) == tree


@given(st.floats(-3.0, 3.0), st.floats(-3.0, 3.0), st.booleans(), st.sampled_from([0.0, 1.0]))
def test_two_cuts_from_both_sides_are_one_band(a, b, both, missing):
    column = columns_of(pd.DataFrame({"x": [*np.linspace(-4.0, 4.0, 33), np.nan]}))[0]
    above, below = (Condition(0, CUT, (at,), turned, missing) for at, turned in ((a, False), (b, True)))
    band = joined_band(above, below, both=both)
    assert (band is None) == ((a >= b) if both else (b >= a))
    assert joined_band(above, above, both=both) is None
    if band is not None:
        truths = above.truths(column), below.truths(column)
        together = np.minimum(*truths) if both else np.maximum(*truths)
        assert np.array_equal(band.truths(column), together)


@given(st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=20, unique=True))
def test_round_ends_lie_around_all_values_and_not_below_0_where_these_do_not(values):
    before, start, end, behind = outside(np.array(values))
    assert before <= start < min(values)
    assert max(values) <= end <= behind
    assert start >= 0.0 or min(values) <= 0.0


@pytest.mark.parametrize("turned", [True, False])
def test_a_cut_beyond_all_values_is_a_band_that_only_missing_values_are_in(turned):
    column = Column("x", NUMBER, np.array([1.0, 2.0, 3.0, np.nan]))
    mark = outside(column.known)[1 if turned else 2]
    band = between(Condition(0, CUT, (mark,), turned, missing=1.0), column)
    assert band.numbers[0] < band.numbers[1]
    assert band.truths(column).tolist() == [0.0, 0.0, 0.0, 1.0]
