from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from baconlogic import Tree

TREE = Tree.parse('A(n[0 at 0, 1 at 10, missing 0.25], b, c[1 if "red", other 0, missing 0.5])')
EXPECTED = (np.array([0.1, 0.25, 1.0]) + np.array([1, 0, 1]) + np.array([1, 0.5, 0])) / 3
COLUMNS = {"extra": [9, 9, 9], "c": ["red", None, "blue"], "n": [1, None, 12], "b": [True, False, True]}


@pytest.mark.parametrize(
    "table",
    [
        COLUMNS,
        pd.DataFrame(COLUMNS),
        pd.DataFrame(COLUMNS).convert_dtypes(),
        pd.DataFrame(COLUMNS).astype({"c": "category"}),
        pd.DataFrame(COLUMNS).convert_dtypes(dtype_backend="pyarrow"),
        pl.DataFrame(COLUMNS),
        pl.DataFrame(COLUMNS).with_columns(pl.col("c").cast(pl.Categorical), pl.col("n").cast(pl.Int8)),
        pa.table(COLUMNS),
    ],
    ids=[
        "mapping",
        "pandas",
        "pandas nullable",
        "pandas category",
        "pandas arrow",
        "polars",
        "polars casts",
        "pyarrow",
    ],
)
def test_every_kind_of_table_gives_the_same_truths(table):
    assert TREE.evaluate(table) == pytest.approx(EXPECTED, abs=1e-15)


def test_arrays_need_names_for_their_columns():
    objects = np.array([[1, True, "red"], [None, False, np.nan], [12, True, "blue"]], dtype=object)
    assert TREE.evaluate(objects, columns=["n", "b", "c"]) == pytest.approx(EXPECTED)
    assert TREE.evaluate(objects.tolist(), columns=["n", "b", "c"]) == pytest.approx(EXPECTED)
    with pytest.raises(ValueError, match=r"the array's columns have no names, so 'n', 'b', 'c' cannot be found; pass"):
        TREE.evaluate(objects)
    with pytest.raises(ValueError, match="the array has 3 columns, but 2 names were given"):
        TREE.evaluate(objects, columns=["n", "b"])


def test_columns_of_an_array_without_names_are_called_x0_x1():
    X = np.random.default_rng(0).random((4, 3))
    assert (Tree.parse("A(x2: 0.3, x0: 0.7)").evaluate(X) == 0.3 * X[:, 2] + 0.7 * X[:, 0]).all()


@pytest.mark.parametrize("dtype", [np.float32, np.int8, np.uint16, bool])
def test_numbers_of_any_kind(dtype):
    assert Tree("x0").evaluate(np.array([[0], [1]], dtype=dtype)).tolist() == [0, 1]


def test_rows_as_mappings_masked_arrays_decimals_and_numpy_objects():
    assert Tree("a").evaluate([{"a": 0.25, "b": 1}, {"a": 1}]).tolist() == [0.25, 1]
    assert Tree("a").evaluate({"a": 0.5}).tolist() == [0.5]
    masked = np.ma.array([[0.1, 0.9]], mask=[[0, 1]])
    assert Tree.parse("a[missing 0]").evaluate(masked, columns=["b", "a"]).tolist() == [0]
    objects = np.array([np.int64(1), np.float32(0.5), np.zeros(1, bool)[0], Decimal("0.25"), None], dtype=object)
    assert Tree.parse("a[missing 0.75]").evaluate({"a": objects}).tolist() == [1, 0.5, 0, 0.25, 0.75]
    assert Tree("a").evaluate(pl.DataFrame({"a": [Decimal("0.25")]})).tolist() == [0.25]
    column = np.ma.array([0.2, 0.9], mask=[0, 1])
    assert Tree.parse("a[missing 0]").evaluate({"a": column}).tolist() == [0.2, 0]
    for null in (pd.NA, pd.NaT, None, float("nan"), Decimal("sNaN")):
        assert Tree.parse("a[missing 0.75]").evaluate([{"a": 1}, {"a": null}]).tolist() == [1, 0.75]
        assert Tree.parse('a[1 if "x", missing 0.75]').evaluate([{"a": "x"}, {"a": null}]).tolist() == [1, 0.75]
    with pytest.raises(TypeError, match="names the columns of an array"):
        Tree("a").evaluate({"a": [1]}, columns=["a"])


def test_strided_and_read_only_arrays():
    X = np.asfortranarray(np.random.default_rng(0).random((200_000, 4)))[::-1, ::2]
    X.flags.writeable = False
    tree = Tree.parse("HC(x0[half at 0.5, slope 4], x1[0 at 0, 1 at 1])")
    assert (
        np.abs(tree.evaluate(X) - np.r_[tree.evaluate(X[:99_999]), tree.evaluate(X[99_999:])][: len(X)]).max() < 1e-13
    )


def test_numbers_as_categories():
    large = Tree.parse(f"k[0.2 if {2**53}, 0.9 if {2**53 + 1}]")
    assert large.evaluate(pd.DataFrame({"k": [2**53 + 1]})).tolist() == [0.9]
    assert large.evaluate(pl.DataFrame({"k": [2**53 + 1]})).tolist() == [0.9]
    tree = Tree.parse("k[1 if 3, 0.5 if 4, missing 0]")
    assert tree.evaluate(pd.DataFrame({"k": [3, 4, None]})).tolist() == [1, 0.5, 0]
    assert tree.evaluate({"k": [3, 4]}).tolist() == [1, 0.5]


@pytest.mark.parametrize(
    ("table", "error", "message"),
    [
        ({"n": [1], "b": [1]}, ValueError, "missing column 'c'; the table has 'n', 'b'"),
        ({"N": [1], "b": [1], "colour": [1]}, ValueError, "missing columns 'n', 'c'"),
        ({"n": [1], "b": [1, 0], "c": ["red"]}, ValueError, "columns must be equally long, got lengths [1, 2]"),
        ({"n": ["ten"], "b": [1], "c": ["red"]}, ValueError, "column 'n', row 0: 'ten' is not a number, and its"),
        (
            {"n": ["0.2", "3", "12%", "n/a"], "b": [1] * 4, "c": ["red"] * 4},
            ValueError,
            "column 'n', row 2: '12%' is not a number, and its criterion needs numbers",
        ),
        ({"n": ["7"], "b": [1], "c": ["red"]}, ValueError, "column 'n', row 0: '7' is not a number"),
        ({"n": [1j], "b": [1], "c": ["red"]}, ValueError, "column 'n', row 0: 1j is not a number"),
        ({"n": pd.to_datetime(["2020-01-01"]), "b": [1], "c": ["red"]}, ValueError, "is not a number"),
        ({"n": np.array(["2020-01-01"], "M8[ns]"), "b": [1], "c": ["red"]}, ValueError, "is not a number"),
        ({"n": [10**400], "b": [1], "c": ["red"]}, ValueError, "is not a number"),
        ({"n": [[1], [2]], "b": [1, 1], "c": ["red", "red"]}, ValueError, "column 'n' has 2 dimensions, expected one"),
        ({"n": [[1], 2], "b": [1, 1], "c": ["red", "red"]}, ValueError, "one value in each place, got lists of differ"),
        (
            {"n": [1], "b": [1], "c": [7]},
            ValueError,
            "column 'c', row 0: 7 is of another kind than the table's categor",
        ),
        (np.zeros(3), ValueError, "expected a table of rows and columns, got 1 dimension(s)"),
        (np.zeros((1, 1, 1)), ValueError, "expected a table of rows and columns, got 3 dimension(s)"),
        (None, TypeError, "expected a data frame, an array or a mapping of names to columns, got NoneType"),
        (pl.LazyFrame(COLUMNS), TypeError, "got LazyFrame"),
        (pd.Series([1, 2]), TypeError, "got Series"),
    ],
)
def test_bad_tables_are_refused_in_one_line(table, error, message):
    with pytest.raises(error) as caught:
        TREE.evaluate(table)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_renamed_column_is_recognised():
    with pytest.raises(ValueError, match=r"missing column 'worst radius'; did you mean 'worst_radius'\?"):
        Tree("worst radius").evaluate({"worst_radius": [1], "area": [2]})
    with pytest.raises(ValueError, match=r"missing columns 'age', 'income'; did you mean 'AGE', 'Income'\?"):
        Tree.parse("A(age, income)").evaluate({"AGE": [1], "Income": [2]})


def test_a_column_given_twice_is_refused():
    frame = pd.DataFrame([[1, 2, 3]], columns=["n", "b", "b"])
    with pytest.raises(ValueError, match="column 'b' appears twice in the table; rename one of them"):
        Tree("b").evaluate(frame)
    with pytest.raises(ValueError, match="column 'b' appears twice"):
        Tree("b").evaluate(np.zeros((1, 2)), columns=["b", "b"])


def test_an_unknown_category_is_named():
    with pytest.raises(
        ValueError, match="column 'k', row 2: the category 'green' is not in the table \\('red'\\); add it, or"
    ):
        Tree.parse('k[1 if "red"]').evaluate({"k": ["red", "red", "green"]})
