"""SQLite and DuckDB say what the library says; so does PostgreSQL, in test_export_postgres."""

from __future__ import annotations

import re
import sqlite3
import sys

import duckdb
import numpy as np
import pyarrow as pa
import pytest
from export_cases import agree, expected, random_model, seeds, table
from sql_cases import balanced, chain, declared, endless, found, houses, patients, quoted, strange, wide

from baconlogic import Decision, Gate, Leaf, Not, Tree
from baconlogic.core.criteria import Given, Ramp, Sigmoid, Table
from baconlogic.core.decision import Feature, Link
from baconlogic.export._sql import to_sql


class SQLite:
    """SQLite in memory; what is missing is NULL."""

    dialect = "sqlite"

    def __init__(self):
        self.connection = sqlite3.connect(":memory:")

    def fill(self, name, columns, types):
        self.connection.execute(f"CREATE TABLE {quoted(name)} ({types})")
        rows = zip(*([_plain(v) for v in values] for values in columns.values()), strict=True)
        self.connection.executemany(f"INSERT INTO {quoted(name)} VALUES ({', '.join('?' * len(columns))})", rows)  # noqa: S608

    def ask(self, query):
        cursor = self.connection.execute(query)
        rows = cursor.fetchall()
        names = [about[0] for about in cursor.description]
        return names, list(zip(*rows, strict=True)) if rows else [[] for _ in names]


class DuckDB:
    """DuckDB in memory; NaN stays NaN."""

    dialect = "duckdb"

    def __init__(self):
        self.connection = duckdb.connect(config={"threads": 1})

    def fill(self, name, columns, types):
        self.connection.execute(f"CREATE TABLE {quoted(name)} ({types})")
        arrays = [pa.array(values, from_pandas=False) for values in columns.values()]
        self.connection.register("arrow", pa.table(arrays, names=[f"column{i}" for i in range(len(arrays))]))
        self.connection.execute(f"INSERT INTO {quoted(name)} SELECT * FROM arrow")  # noqa: S608

    def ask(self, query):
        answer = self.connection.sql(query).to_arrow_table()
        return answer.column_names, [
            column.to_numpy() if pa.types.is_floating(column.type) and name != "decision" else column.to_pylist()
            for name, column in zip(answer.column_names, answer.columns, strict=True)
        ]


def _has_mathematics():
    try:
        sqlite3.connect(":memory:").execute("SELECT exp(1), ln(1), tanh(1)")
    except sqlite3.OperationalError:
        return False
    return True


DATABASES = [SQLite, DuckDB] if _has_mathematics() else [DuckDB]


def _plain(value):
    value = value.item() if isinstance(value, np.generic) else value
    return None if value is None or value != value else value


@pytest.fixture(scope="module")
def databases():
    """Return both databases with the 10,000 rows in the table "data"."""
    made = [kind() for kind in DATABASES]
    for database in made:
        database.fill("data", table(), declared(table()))
    return made


@pytest.fixture(params=DATABASES)
def database(request):
    return request.param()


def ask(database, model, name="data", **options):
    """Return what a database says of a table, as `Expected`."""
    return found(model, *database.ask(to_sql(model, dialect=database.dialect, table=name, **options)))


def check(databases, model):
    said = expected(model)
    for database in databases:
        try:
            agree(ask(database, model), said)
        except AssertionError as problem:
            raise AssertionError(database.dialect) from problem


@pytest.mark.parametrize("seed", seeds())
def test_databases_agree(databases, seed):
    check(databases, random_model(seed))


@pytest.mark.parametrize("make", [patients, houses])
def test_databases_agree_on_real_columns(database, make):
    model, columns = make()
    database.fill("rows", columns, ", ".join(f"{name} double precision" for name in columns))
    agree(ask(database, model, "rows"), expected(model, columns))


def test_numbers_without_end_have_an_answer(database):
    model, columns = endless()
    database.fill("endless", columns, declared(columns))
    agree(ask(database, model, "endless"), expected(model, columns))


@pytest.mark.parametrize(("make", "leaves"), [(chain, 100), (balanced, 128), (wide, 300)])
def test_databases_agree_on_large_trees(databases, make, leaves):
    check(databases, make(leaves))


def test_a_tree_that_is_too_deep_is_refused():
    tree = chain(600)
    for dialect in ("sqlite", "duckdb", "postgres"):
        with pytest.raises(ValueError, match=r"steps, and .* is known to manage \d+; make the tree smaller"):
            to_sql(tree, dialect=dialect)


def test_a_table_that_is_too_wide_is_refused():
    leaves = [Leaf(f"g{i}", Given(0.5)) for i in range(1000)]
    tree = Tree(Gate(leaves, 0.8, [0.001] * 1000))
    for dialect in ("sqlite", "postgres"):
        with pytest.raises(ValueError, match=r"columns in a step, and .* is known to manage \d+"):
            to_sql(tree, dialect=dialect)


def test_names_cannot_break_a_query(database):
    model, columns = strange()
    types = ", ".join(f"{quoted(name)} {'text' if name.startswith('text') else 'double'}" for name in columns)
    database.fill('strange "table"', columns, types)
    agree(ask(database, model, 'strange "table"'), expected(model, columns))


def test_every_line_before_the_query_is_a_comment():
    model, _ = strange()
    header, _, query = to_sql(model).partition("\nWITH ")
    assert header
    assert all(line.startswith("--") for line in header.splitlines())
    assert query


def test_kept_columns_come_first_and_answers_make_way(database):
    model = Decision((Tree(Leaf("g", Given(0.5))),), (Link(8.0, 0.5),), ("no", "yes"), (Feature("g", "truth"),))
    columns = {"id": [3, 1, 2], "truth": ["a", "b", "c"], "Decision": [1.5, 2.5, None], "g": [0.25, 0.75, None]}
    database.fill("data", columns, "id integer, truth text, Decision double, g double")
    query = to_sql(model, dialect=database.dialect, keep=["id", "truth", "Decision", "id"])
    names, found_columns = database.ask(query)
    assert names == ["id", "truth", "Decision", "model_truth", "probability_no", "probability_yes", "model_decision"]
    for name in ("id", "truth", "Decision"):
        assert [_plain(v) for v in found_columns[names.index(name)]] == columns[name]
    assert list(found_columns[names.index("model_truth")]) == [0.25, 0.75, 0.5]
    assert list(found_columns[-1]) == ["no", "yes", "no"]


@pytest.mark.parametrize("name", ["input", "Input", "step_1", "our_input", "row_in", "select"])
def test_a_table_may_be_called_what_a_step_is_called(database, name):
    database.fill(name, {"g": [0.25, None]}, "g double")
    assert list(database.ask(to_sql(Tree(Leaf("g", Given(1.0))), dialect=database.dialect, table=name))[1][0]) == [
        0.25,
        1,
    ]


def test_a_table_may_be_in_a_schema(database):
    schema = "main"
    database.fill("data", {"g": [0.25]}, "g double")
    query = to_sql(Tree(Leaf("g", Given())), dialect=database.dialect, table=(schema, "data"))
    assert 'FROM "main"."data" AS row_in' in query
    assert list(database.ask(query)[1][0]) == [0.25]


def test_a_query_can_be_a_view(database):
    database.fill("data", {"g": [0.25, 0.75]}, "g double")
    query = to_sql(Tree(Leaf("g", Given())), dialect=database.dialect)
    database.connection.execute(f"CREATE VIEW answers AS {query}")
    names, columns = database.ask("SELECT * FROM answers WHERE decision")
    assert names == ["truth", "decision"]
    assert list(columns[0]) == [0.75]


@pytest.mark.parametrize("labels", [("no", "yes"), (False, True), (0, 1), (-1, 2.5), ("a", 1), (-(2**60), 3, 7)])
def test_decisions_are_of_the_type_of_labels(database, labels):
    trees = tuple(Tree(Leaf(f"g{k}", Given())) for k in range(len(labels) if len(labels) > 2 else 1))
    features = [Feature(f"g{k}", "truth") for k in range(3)]
    model = Decision(trees, tuple(Link(5.0, 0.5) for _ in trees), labels, features)
    columns = {"g0": [0.9, 0.2], "g1": [0.1, 0.7], "g2": [0.0, 0.1]}
    database.fill("data", columns, "g0 double, g1 double, g2 double")
    names, values = database.ask(to_sql(model, dialect=database.dialect))
    said = list(model.predict(columns))
    assert list(values[names.index("decision")]) == ([str(label) for label in said] if "a" in labels else said)


def test_a_number_and_its_text_stay_two_classes(database):
    model = Decision([Tree(Leaf("g"))], [Link(5.0, 0.5)], (1, "1"), [Feature("g", "truth")])
    database.fill("data", {"g": [0.9, 0.2]}, "g double")
    names, values = database.ask(to_sql(model, dialect=database.dialect))
    assert list(values[names.index("decision")]) == ["'1'", "1"]


def test_columns_are_named_after_classes_that_hardly_differ():
    labels = ("A", "a", "a__0", "class 5", "-", "🙂", "minus 1", "x" * 200, "x" * 300)
    trees = tuple(Tree(Gate([Leaf("g", Given()), Leaf("h", Given())], 0.6, [0.5, 0.5])) for _ in labels)
    features = [Feature("g", "truth"), Feature("h", "truth")]
    model = Decision(trees, tuple(Link(5.0, 0.5) for _ in trees), labels, features)
    database = SQLite()
    database.fill("data", {"g": [0.5], "h": [0.25]}, "g double, h double")
    names, _ = database.ask(to_sql(model, dialect="sqlite", trace=True))
    assert len({name.lower() for name in names}) == len(names) == 9 + 9 + 1 + 27
    assert all(re.fullmatch("[a-z0-9_]{1,63}", name) for name in names)


def test_trace_shows_every_node(databases):
    tree = random_model(0)
    said = expected(tree)
    kept = np.flatnonzero(~said.refused)[:300]
    rows = {name: [values[i] for i in kept] for name, values in table().items()}
    for database in databases:
        names, columns = database.ask(to_sql(tree, dialect=database.dialect, trace=True))
        answers = dict(zip(names, columns, strict=True))
        for path, node in tree.walk():
            name = "_".join(["node", *map(str, path)])
            wanted = Tree(node).evaluate(rows)
            assert np.abs(np.array(answers[name], dtype=float)[kept] - wanted).max() <= 1e-12, name


def test_long_paths_have_short_names(databases):
    tree = chain(40)
    for database in databases:
        names, _ = database.ask(to_sql(tree, dialect=database.dialect, trace=True) + " LIMIT 1")
        assert len(set(names)) == 2 + 79
        assert max(map(len, names)) <= 63


def test_whole_numbers_are_not_divided_as_such(database):
    tree = Tree(Gate([Leaf("i", Ramp([(0, 0), (10, 1)])), Leaf("j", Sigmoid(5.0, 1.0))], 0.7, [0.5, 0.5]))
    columns = {"i": [0, 1, 5, 9, 10], "j": [1, 2, 5, 6, 10**9]}
    database.fill("data", columns, "i integer, j integer")
    agree(ask(database, tree), expected(tree, columns))


def test_true_and_false_are_1_and_0(database):
    leaves = [
        Leaf("a", Given(0.5)),
        Leaf("b", Table({True: 0.9, False: 0.2}, 0.4, 0.6)),
        Leaf("c", Table({1: 0.3}, 0.8, 0)),
    ]
    tree = Tree(Gate(leaves, 0.6, [0.3, 0.3, 0.4]))
    columns = {"a": [True, False, None], "b": [True, None, False], "c": [True, False, None]}
    database.fill("data", columns, "a boolean, b boolean, c boolean")
    agree(ask(database, tree), expected(tree, columns))


def test_categories_are_told_apart_as_they_are_written(database):
    """Whatever the column's own idea of equality is."""
    tree = Tree(Leaf("c", Table({"red": 1.0, "é": 0.7}, 0.25, 0.5)))
    collation = {"sqlite": "NOCASE", "duckdb": "NOCASE"}[database.dialect]
    columns = {"c": ["red", "RED", "red ", "é", "É", "e\u0301", None]}
    database.fill("data", columns, f"c text COLLATE {collation}")
    agree(ask(database, tree), expected(tree, columns))


def test_whole_numbers_past_double_precision_stay_apart(database):
    tree = Tree(Leaf("w", Table({2**60 + 1: 1.0, -3: 0.5}, 0.25, 0.0)))
    columns = {"w": [2**60 + 1, 2**60, 2**60 + 2, -3, None]}
    database.fill("data", columns, "w bigint")
    agree(ask(database, tree), expected(tree, columns))


def test_sqlite_does_not_take_text_for_a_number():
    database = SQLite()
    database.fill("data", {"n": [1.0, "abc", "7", None, b"x"], "c": ["a", "a", "a", "a", "a"]}, "n, c")
    tree = Tree(Gate([Leaf("n", Ramp([(0, 0), (10, 1)], 0.5)), Leaf("c", Table({"a": 1.0}, 0.5))], 0.5, [0.5, 0.5]))
    assert [row[0] is None for row in database.connection.execute(to_sql(tree, dialect="sqlite"))] == [
        False,
        True,
        True,
        False,
        True,
    ]
    tree = Tree(Leaf("n", Table({"7": 1.0}, 0.5, 0.25)))
    truths = [row[0] for row in database.connection.execute(to_sql(tree, dialect="sqlite"))]
    assert truths == [None, 0.5, 1.0, 0.25, None]


def test_a_column_that_is_not_there_is_an_error(database):
    """SQLite takes "a name" in quotes for text where there is no such column."""
    database.fill("data", {"g": [0.5]}, "g double")
    for options in ({}, {"keep": ["nothing"]}):
        tree = Tree(Leaf("g" if options else "nothing", Given(0.5)))
        with pytest.raises((sqlite3.OperationalError, duckdb.BinderException), match="nothing"):
            database.ask(to_sql(tree, dialect=database.dialect, **options))


def test_names_that_a_database_takes_for_one_are_refused():
    tree = Tree(Gate([Leaf("Age", Given()), Leaf("age", Given())], 0.6, [0.5, 0.5]))
    for dialect in ("sqlite", "duckdb"):
        with pytest.raises(ValueError, match="does not tell the columns 'Age' and 'age' apart"):
            to_sql(tree, dialect=dialect)
    assert to_sql(tree, dialect="postgres")
    long = Tree(Gate([Leaf("x" * 63 + "1", Given()), Leaf("x" * 63 + "2", Given())], 0.6, [0.5, 0.5]))
    with pytest.raises(ValueError, match="rename one"):
        to_sql(long, dialect="postgres")
    assert to_sql(long)


@pytest.mark.parametrize(
    "tree",
    [Tree(Leaf("a\0", Given())), Tree(Leaf("a", Table({"b\0": 1.0})))],
)
def test_the_character_0_is_refused(tree):
    with pytest.raises(ValueError, match="character 0"):
        to_sql(tree)


def test_wrong_arguments_are_explained():
    tree = Tree(Not(Leaf("g", Given())))
    with pytest.raises(TypeError, match=r"keep is a list of columns, e\.g\. \['id'\]"):
        to_sql(tree, keep="id")
    for name in ("", (), ("a", "b", "c", "d")):
        with pytest.raises(ValueError, match="a table is a name or its parts"):
            to_sql(tree, table=name)
    for dialect in ("cobol", "duckdb, version=1", ""):
        with pytest.raises(ValueError, match=f"(?i)dialect.*{dialect}"):
            to_sql(tree, dialect=dialect)
    assert to_sql(tree, dialect="DuckDB") == to_sql(tree, dialect="duckdb")
    with pytest.raises(TypeError, match="expected a Tree"):
        to_sql("tree")


def test_without_sqlglot_the_error_says_what_to_install(monkeypatch):
    monkeypatch.delitem(sys.modules, "baconlogic.export._sql_tree", raising=False)
    monkeypatch.setitem(sys.modules, "sqlglot", None)
    with pytest.raises(ImportError, match=r"pip install 'baconlogic\[sql\]'"):
        to_sql(Tree(Leaf("g", Given())))


@pytest.mark.parametrize("dialect", ["mysql", "bigquery", "snowflake", "spark", "tsql"])
def test_other_dialects_can_be_written_and_parsed(dialect):
    from sqlglot import parse_one

    assert parse_one(to_sql(random_model(6), dialect=dialect), dialect=dialect).named_selects[0] == "truth_a"
