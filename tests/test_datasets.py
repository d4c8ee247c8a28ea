"""The tables of the paper's experiments: Boolean expressions, breast cancer, Iris, houses."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from baconlogic import Tree
from baconlogic.datasets import (
    HOUSE_FEATURES,
    HOUSE_RULES,
    Dataset,
    Expression,
    appendix_b,
    boolean,
    breast_cancer,
    chain,
    house_rule,
    houses,
    iris,
    random_balanced,
    random_chain,
    read_houses,
)

REALTOR = Path(__file__).parents[2] / "shared" / "data" / "realtor-13k.csv"
HEADER = "brokered_by,status,price,bed,bath,acre_lot,street,city,state,zip_code,house_size,prev_sold_date\n"
EXPRESSIONS = st.builds(
    lambda make, n, seed, negate, shuffle: make(n, seed, negate=negate, shuffle=shuffle),
    st.sampled_from([random_chain, random_balanced]),
    st.integers(2, 9),
    st.integers(0, 2**32),
    st.booleans(),
    st.booleans(),
)


def python_says(expression, dataset):
    """What Python makes of the text, row by row."""
    code = compile(str(expression), "expression", "eval")
    rows = (dict(zip(dataset.feature_names, map(bool, row), strict=True)) for row in dataset.X)
    return [int(eval(code, {}, row)) for row in rows]  # noqa: S307


def tree_says(expression, dataset):
    return Tree.parse(expression.formula()).evaluate(dataset.X, columns=dataset.feature_names)


# Expressions


def test_appendix_b_is_written_as_in_the_paper():
    assert str(appendix_b()) == "(((((((A or B) or C) and D) and E) and F) or G) or H)"
    assert appendix_b().formula() == "D(D(C(C(C(D(D(A, B), C), D), E), F), G), H)"
    assert appendix_b().operators == ("or", "or", "and", "and", "and", "or", "or")


@given(EXPRESSIONS, st.booleans())
def test_evaluate_text_and_formula_agree(expression, shuffle_columns):
    dataset = boolean(expression, shuffle_columns=shuffle_columns, random_state=1)
    assert dataset.y.tolist() == python_says(expression, dataset)
    assert (tree_says(expression, dataset) == dataset.y).all()


@given(EXPRESSIONS)
def test_every_variable_appears_once_and_matters(expression):
    assert sorted(expression.names) == list(expression.columns)
    X, y = boolean(expression)
    n = len(expression.names)
    for column in range(n):
        flipped = X.copy()
        flipped[:, column] = 1 - flipped[:, column]
        assert (expression.evaluate(flipped) != y).any()


def test_expressions_are_values():
    assert random_chain(12, 3, negate=True) == random_chain(12, 3, negate=True)
    assert random_chain(12, 3) != random_chain(12, 4)
    assert len({chain(["and"]), chain(["and"]), chain(["or"])}) == 2


def test_a_chain_takes_names_and_negations():
    expression = chain(["or", "and"], ["low", "not", "two words"], [False, True, False])
    assert str(expression) == "((low or not not) and two words)"
    assert expression.formula() == 'C(D(low, not "not"), "two words")'
    assert expression.evaluate([[0, 0, 1], [0, 1, 1], [1, 1, 0]]).tolist() == [True, False, False]
    assert (tree_says(expression, boolean(expression)) == boolean(expression).y).all()


def test_a_balanced_expression_pairs_neighbours():
    assert "".join(c for c in str(random_balanced(4, 0, shuffle=False)) if c in "()ABCD") == "((AB)(CD))"
    assert "".join(c for c in str(random_balanced(5, 0, shuffle=False)) if c in "()ABCDE") == "(((AB)(CD))E)"


@pytest.mark.parametrize("make", [random_chain, random_balanced])
def test_a_thousand_variables(make):
    expression = make(1000, 0, negate=True)
    dataset = boolean(expression, rows=200, random_state=0)
    assert dataset.X.shape == (200, 1000)
    assert dataset.feature_names[:2] == ("x0", "x1")
    assert str(expression).count("(") == 999
    assert (Tree.parse(expression.formula()).evaluate(dataset.X) == dataset.y).all()  # arrays are x0, x1, ... too


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: chain([]), "two or more variables, got 1"),
        (lambda: chain(["and", "xor"]), "'and' or 'or', got 'xor'"),
        (lambda: chain(["and"], ["a", "b", "c"]), "1 operators join 2 variables, got 3 names"),
        (lambda: chain(["and"], ["a", "a"]), "'a' appears 2 times; rename"),
        (lambda: chain(["and"], ["a", 3]), "text that is not blank, got 3"),
        (lambda: chain(["and"], negated=[True]), "2 flags in negated, got 1"),
        (lambda: Expression(("a", "b"), (("and", 0, 0),)), "exactly one later step"),
        (lambda: Expression(("a", "b", "c"), (("and", 0, 4), ("or", 1, 2))), "exactly one later step"),
        (lambda: Expression(("a", "b"), (("and", 0, 1),), columns=("a", "c")), "every name exactly once"),
        (lambda: random_chain(1, 0), "at least 2, got 1"),
        (lambda: random_balanced(2.5, 0), "whole number of at least 2, got 2.5"),
        (lambda: appendix_b().evaluate([[0, 1]]), r"8 columns, got shape \(1, 2\)"),
        (lambda: chain(["and"]).evaluate([[0, 0.5]]), "0 and 1 only"),
        (lambda: boolean(random_chain(21, 0)), "at most 20 variables, got 21; pass rows="),
        (lambda: boolean(appendix_b(), rows=0), "rows must be a whole number of at least 1, got 0"),
        (lambda: boolean(appendix_b(), repeats=True), "repeats must be a whole number"),
        (lambda: boolean(appendix_b(), noise=1.5), r"in \[0, 1\], got 1.5"),
        (lambda: houses("C"), "one of A, B, got 'C'; use None"),
        (lambda: houses(rows=-1), "at least 1, got -1"),
    ],
)
def test_bad_arguments_are_told_in_one_line(make, message):
    with pytest.raises(ValueError, match=message) as caught:
        make()
    assert "\n" not in str(caught.value)


def test_text_is_no_list_of_operators_and_no_expression():
    with pytest.raises(TypeError, match="got the text 'and'"):
        chain("and")
    with pytest.raises(TypeError, match=r"expected an Expression such as .* got str"):
        boolean("A or B")


# Boolean tables


def test_the_truth_table_has_every_row_once_and_repeats_it():
    table = boolean(appendix_b())
    assert table.X.shape == (256, 8)
    assert len(np.unique(table.X, axis=0)) == 256
    assert table.feature_names == tuple("ABCDEFGH")
    X, y = boolean(appendix_b(), repeats=100)
    assert X.shape == (25_600, 8)
    assert X.dtype == np.float64
    assert y.dtype == np.int64
    assert (X.reshape(100, 256, 8) == table.X).all()
    assert (y.reshape(100, 256) == table.y).all()


def test_noise_flips_labels_at_its_rate():
    clean, noisy = (boolean(appendix_b(), rows=40_000, noise=noise, random_state=0) for noise in (0.0, 0.1))
    assert (clean.X == noisy.X).all()
    assert (clean.y != noisy.y).mean() == pytest.approx(0.1, abs=0.01)
    assert (boolean(appendix_b(), noise=1.0).y == 1 - boolean(appendix_b()).y).all()


def test_random_rows_are_uniform():
    dataset = boolean(appendix_b(), rows=40_000, random_state=0)
    assert dataset.X.mean(axis=0) == pytest.approx(np.full(8, 0.5), abs=0.02)
    assert dataset.y.mean() == pytest.approx(boolean(appendix_b()).y.mean(), abs=0.01)


@pytest.mark.parametrize(
    "make",
    [
        lambda seed: boolean(appendix_b(), rows=50, noise=0.2, shuffle_columns=True, random_state=seed),
        lambda seed: houses("B", rows=50, random_state=seed),
    ],
)
def test_the_same_seed_gives_the_same_data(make):
    first, again, other = make(5), make(5), make(6)
    assert first.feature_names == again.feature_names
    assert (first.X == again.X).all()
    assert (first.y == again.y).all()
    assert not (first.X == other.X).all()


def test_a_frame_has_the_names_and_the_target():
    frame = boolean(appendix_b()).frame()
    assert list(frame.columns) == [*"ABCDEFGH", "target"]
    assert (frame["target"] == boolean(appendix_b()).y).all()
    assert list(houses(None, rows=3).frame().columns) == list(HOUSE_FEATURES)
    assert len(houses(None, rows=3).y) == 0


@pytest.mark.parametrize(
    ("package", "call", "message"),
    [
        ("pandas", "boolean(appendix_b()).frame()", "a frame needs pandas; pip install pandas"),
        ("sklearn", "iris()", "comes with scikit-learn; pip install scikit-learn"),
    ],
)
def test_numpy_is_enough_until_another_package_is_needed(package, call, message):
    script = f"""
import sys
sys.modules[{package!r}] = None  # as if not installed
from baconlogic.datasets import *
houses("A", 10), boolean(appendix_b())
try:
    {call}
except ImportError as problem:
    assert {message!r} in str(problem), problem
else:
    raise AssertionError
"""
    subprocess.run([sys.executable, "-c", script], check=True)


# Breast cancer and Iris


def test_breast_cancer_has_the_papers_names_and_212_malignant():
    from sklearn.datasets import load_breast_cancer

    dataset, original = breast_cancer(), load_breast_cancer()
    assert dataset.X.shape == (569, 30)
    assert int(dataset.y.sum()) == 212
    assert dataset.target_names == ("benign", "malignant")
    assert " ".join(dataset.feature_names) == (
        "radius1 texture1 perimeter1 area1 smoothness1 compactness1 concavity1 concave_points1 symmetry1 "
        "fractal_dimension1 radius2 texture2 perimeter2 area2 smoothness2 compactness2 concavity2 concave_points2 "
        "symmetry2 fractal_dimension2 radius3 texture3 perimeter3 area3 smoothness3 compactness3 concavity3 "
        "concave_points3 symmetry3 fractal_dimension3"
    )
    suffix = {"mean": "1", "error": "2", "worst": "3"}
    for ours, theirs in zip(dataset.feature_names, original.feature_names, strict=True):
        words = theirs.split()
        kind = next(word for word in words if word in suffix)
        assert ours == "_".join(word for word in words if word != kind) + suffix[kind]
    large = dataset.X[:, dataset.feature_names.index("radius3")]
    assert large[dataset.y == 1].mean() > large[dataset.y == 0].mean()


def test_iris_has_species_as_text():
    dataset = iris()
    assert dataset.feature_names == ("sepal_length", "sepal_width", "petal_length", "petal_width")
    assert dataset.target_names == ("setosa", "versicolor", "virginica")
    assert {name: int((dataset.y == name).sum()) for name in dataset.target_names} == dict.fromkeys(
        dataset.target_names, 50
    )
    assert dataset.X[dataset.y == "setosa", 2].max() == 1.9


# Houses


def test_the_rules_are_the_papers():
    assert dict(house_rule("A").thresholds) == {"bed": 4, "bath": 3, "house_size": 3000}
    assert dict(house_rule("B").thresholds) == {"bed": 4, "bath": 3, "acre_lot": 0.5}
    assert str(house_rule("A")) == "bed > 4 and bath > 3 and house_size > 3000"
    assert str(house_rule("B")) == "bed > 4 or bath > 3 or acre_lot > 0.5"
    assert list(HOUSE_RULES) == ["A", "B"]


def test_a_rule_buys_only_above_its_thresholds():
    names = ("bed", "bath", "house_size", "acre_lot")
    rows = [[5, 4, 3001, 0.1], [4, 4, 3001, 0.1], [5, 3, 3001, 0.1], [5, 4, 3000, 0.1], [4, 3, 9999, 0.5]]
    rows += [[4, 3, 100, 0.51]]
    assert house_rule("A").label(rows, names).tolist() == [1, 0, 0, 0, 0, 0]
    assert house_rule("B").label(rows, names).tolist() == [1, 1, 1, 1, 0, 1]


def test_a_rule_refuses_missing_values_and_columns():
    rows = [[5, 4, np.nan, 0.1], [5, 4, 3001, 0.1]]
    names = ("bed", "bath", "house_size", "acre_lot")
    assert house_rule("B").label(rows, names).tolist() == [1, 1]  # it does not ask for the size
    with pytest.raises(ValueError, match="needs known values, 1 rows lack one; drop them"):
        house_rule("A").label(rows, names)
    with pytest.raises(ValueError, match="needs the column 'acre_lot', got bed, bath"):
        house_rule("B").label([[1, 2]], ("bed", "bath"))
    with pytest.raises(ValueError, match=r"6 columns, got shape \(2, 4\)"):
        house_rule("A").label(rows)


@pytest.mark.parametrize("seed", range(5))
def test_made_up_houses_look_like_listings(seed):
    dataset = houses("A", rows=20_000, random_state=seed)
    price, bed, bath, acre, size, code = dataset.X.T
    assert dataset.feature_names == HOUSE_FEATURES
    assert 0.03 < dataset.y.mean() < 0.6
    assert 0.03 < house_rule("B").label(dataset.X).mean() < 0.6
    for column in (bed, bath, size, price, code):
        assert (column == np.rint(column)).all()
        assert column.min() >= 1
    assert (acre == np.round(acre, 2)).all()
    assert ((acre >= 0.1) & (acre <= 0.3)).mean() > 0.25
    assert acre.mean() > 4 * np.median(acre)  # a heavy tail
    assert 1600 < np.median(size) < 2100
    assert np.quantile(size, 0.999) > 4 * np.median(size)
    assert 0.1 < (size % 100 == 0).mean() < 0.2
    correlation = np.corrcoef([np.log(size), np.log(bed), np.log(bath), np.log(price), code])
    assert (correlation[0, 1:4] > 0.5).all()
    assert (abs(correlation[4, :3]) < 0.1).all()


@pytest.fixture
def listings(tmp_path):
    def write(text, header=HEADER):
        path = tmp_path / "listings.csv"
        path.write_text(header + text, encoding="utf-8")
        return path

    return write


FULL = '1.0,for_sale,105000.0,5,4,0.12,2.0,"San Juan, PR",Puerto Rico,00601,3920.0,2020-01-01\n'
GAP = "1.0,for_sale,80000.0,,2,0.6,2.0,Adjuntas,Puerto Rico,601.0,1527.0,\n"
CUT = "1.0,for_sale,67000.0,2,1,0.15,2.0,Juana Diaz,Puerto Rico,00795,74"  # of 748: not known


def test_the_reader_takes_a_gap_and_a_cut_last_row(listings):
    path = listings(FULL + GAP + CUT)
    dataset = read_houses(path)
    assert isinstance(dataset, Dataset)
    assert dataset.X.tolist() == [[105000, 5, 4, 0.12, 3920, 601]]
    everything = read_houses(path, complete=False)
    expected = [dataset.X[0], [80000, np.nan, 2, 0.6, 1527, 601], [67000, 2, 1, 0.15, np.nan, 795]]
    np.testing.assert_array_equal(everything.X, expected)
    everything.X[0, 0] = 1.0  # it belongs to the caller


def test_the_reader_labels_complete_rows_only(listings):
    path = listings(FULL + GAP)
    assert read_houses(path, "A").y.tolist() == [1]
    with pytest.raises(ValueError, match="1 rows lack one; drop them, or use complete=True"):
        read_houses(path, "B", complete=False)


def test_the_reader_finds_nothing_in_an_empty_table(listings):
    assert read_houses(listings("")).X.shape == (0, 6)
    assert read_houses(listings(CUT), "A").y.shape == (0,)


@pytest.mark.parametrize(
    ("text", "header", "message"),
    [
        (CUT + "\n" + FULL, HEADER, "line 2: expected 12 fields"),
        (FULL + "1," + FULL, HEADER, "line 3: expected 12 fields"),
        (FULL.replace("105000.0", "cheap"), HEADER, "line 2: expected numbers, got .'cheap', '5'"),
        (FULL, HEADER.replace("acre_lot", "lot"), "lacks the column 'acre_lot' in its first line"),
        ("", "", "lacks the column 'price'"),
    ],
)
def test_the_reader_says_which_line_is_wrong(listings, text, header, message):
    with pytest.raises(ValueError, match=message):
        read_houses(listings(text, header))


@pytest.mark.skipif(not REALTOR.exists(), reason="the shared data are not here")
def test_the_real_listings_have_7699_complete_rows():
    assert read_houses(REALTOR, "A").X.shape == (7699, 6)
    assert read_houses(REALTOR, complete=False).X.shape == (12_886, 6)
    rates = {case: read_houses(REALTOR, case).y.mean() for case in "AB"}
    assert rates == pytest.approx({"A": 0.0848, "B": 0.5707}, abs=1e-4)
