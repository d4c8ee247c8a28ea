"""A PostgreSQL server, started here where it is installed, says what the library says."""

from __future__ import annotations

import csv
import io
import os
import pwd
import shutil
import subprocess
import tempfile
from pathlib import Path

import numpy as np
import pytest
from export_cases import agree, expected, random_model, table
from sql_cases import balanced, chain, declared, endless, found, houses, patients, quoted, strange, wide

from baconlogic import Gate, Leaf, Tree
from baconlogic.core.criteria import Given, Ramp, Sigmoid, Table
from baconlogic.export._sql import to_sql

SERVER = "postgres"  # the account that a server may run as; it refuses to be started by root


def _programs():
    """Return the folder of the newest server, or None."""
    known = [Path(path).parent for path in [shutil.which("pg_ctl")] if path]
    known += sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda path: float(path.parent.name), reverse=True)
    return next((path for path in known if all((path / name).exists() for name in ("initdb", "pg_ctl", "psql"))), None)


def _account():
    """Return the account to run the server as, "" for our own, or None where there is none."""
    if os.geteuid() != 0:
        return ""
    names = {entry.pw_name for entry in pwd.getpwall()}
    return next((name for name in (SERVER, "nobody") if name in names and shutil.which("setpriv")), None)


class Server:
    """A server in a folder of its own, on a socket in that folder."""

    def __init__(self, programs, account, folder):
        self._programs, self._folder = programs, folder
        self._as = []
        if account:
            entry = pwd.getpwnam(account)
            shutil.chown(folder, entry.pw_uid, entry.pw_gid)
            self._as = ["setpriv", f"--reuid={entry.pw_uid}", f"--regid={entry.pw_gid}", "--clear-groups"]

    def _call(self, name, *options, text=None):
        done = subprocess.run(
            [*self._as, str(self._programs / name), *options],
            input=text,
            capture_output=True,
            encoding="utf-8",
            cwd=self._folder,
            env={"PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8", "PGCLIENTENCODING": "UTF8"},
            timeout=300,
        )
        if done.returncode:
            raise RuntimeError(f"{name}: {done.stderr[-2000:]}")
        return done.stdout

    def start(self):
        self._call("initdb", "-D", f"{self._folder}/data", "-U", "tester", "-A", "trust", "-E", "UTF8", "--no-sync")
        settings = f"-k '{self._folder}' -c listen_addresses='' -c fsync=off -c jit=off"
        self._call("pg_ctl", "-D", f"{self._folder}/data", "-o", settings, "-l", f"{self._folder}/log", "-w", "start")

    def stop(self):
        self._call("pg_ctl", "-D", f"{self._folder}/data", "-m", "immediate", "-w", "stop")

    def run(self, text):
        """Run statements; return what they print."""
        options = ("-h", str(self._folder), "-U", "tester", "-d", "postgres", "-X", "-q", "-v", "ON_ERROR_STOP=1")
        return self._call("psql", *options, text=text)

    def fill(self, name, columns, types):
        """Make a table of columns, and "row" to put answers in order; NaN stays NaN, None is NULL."""
        said = io.StringIO()
        for i, values in enumerate(zip(*columns.values(), strict=True)):
            said.write("\t".join([str(i), *("\\N" if v is None else _escaped(v) for v in values)]) + "\n")
        self.run(f"DROP TABLE IF EXISTS {name}; CREATE TABLE {name} (row integer, {types});\n")
        self.run(f"COPY {name} FROM STDIN;\n{said.getvalue()}\\.\n")

    def ask(self, query):
        """Return names and columns of the answer to a query."""
        query = f"SELECT * FROM (\n{query}\n) AS answers ORDER BY row"  # noqa: S608
        text = self.run(f"COPY (\n{query}\n) TO STDOUT (FORMAT csv, HEADER, NULL '<none>');\n")
        names, *rows = csv.reader(io.StringIO(text))
        return names, [list(column) for column in zip(*rows, strict=True)] if rows else [[] for _ in names]


def _escaped(value):
    if isinstance(value, str):
        for plain, written in (("\\", "\\\\"), ("\t", "\\t"), ("\n", "\\n"), ("\r", "\\r")):
            value = value.replace(plain, written)
        return value
    return (
        str(value).lower()
        if isinstance(value, bool | np.bool_)
        else repr(value.item() if isinstance(value, np.generic) else value)
    )


@pytest.fixture(scope="module")
def server():
    programs, account = _programs(), _account()
    if programs is None or account is None:
        pytest.skip("PostgreSQL is not installed, or there is no account that may run it")
    with tempfile.TemporaryDirectory(prefix="pg", ignore_cleanup_errors=True) as folder:
        made = Server(programs, account, Path(folder))
        made.start()
        try:
            yield made
        finally:
            made.stop()


def ask(server, model, name="data"):
    """Return the answers of a model about a table as `Expected`."""
    names, columns = server.ask(to_sql(model, dialect="postgres", table=name, keep=["row"]))
    classes = getattr(model, "classes", (False, True))
    known = {_shown(label): label for label in classes} | {"<none>": None}
    read = [
        [known[v] for v in values] if name == "decision" else [np.nan if v == "<none>" else float(v) for v in values]
        for name, values in zip(names, columns, strict=True)
    ]
    return found(model, names, read)


def _shown(label):
    return {True: "t", False: "f"}[label] if isinstance(label, bool) else str(label)


@pytest.fixture(scope="module")
def rows(server):
    """Fill a table with the 10,000 rows, half of what is missing NULL and half NaN."""
    columns = {
        name: [None if v is None or (v != v and i % 2) else v for i, v in enumerate(values)]
        for name, values in table().items()
    }
    server.fill("data", columns, declared(columns))
    return server


@pytest.mark.parametrize("seed", [seed for seed in range(200) if (seed + seed // 8) % 8 == 0])  # some of each kind
def test_postgres_agrees(rows, seed):
    model = random_model(seed)
    agree(ask(rows, model), expected(model))


@pytest.mark.parametrize("make", [patients, houses])
def test_postgres_agrees_on_real_columns(server, make):
    model, columns = make()
    server.fill(make.__name__, columns, ", ".join(f"{name} double precision" for name in columns))
    agree(ask(server, model, make.__name__), expected(model, columns))


def test_numbers_without_end_have_an_answer(server):
    model, columns = endless()
    server.fill("endless", columns, declared(columns))
    agree(ask(server, model, "endless"), expected(model, columns))


@pytest.mark.parametrize("make", [chain, balanced, wide])
def test_postgres_agrees_on_large_trees(rows, make):
    model = make(128 if make is balanced else 60)
    agree(ask(rows, model), expected(model))


def test_names_cannot_break_a_query(server):
    model, columns = strange()
    types = ", ".join(f"{quoted(name)} {'text' if name.startswith('text') else 'float8'}" for name in columns)
    server.fill('"strange ""table"""', columns, types)
    agree(ask(server, model, 'strange "table"'), expected(model, columns))


def test_categories_are_told_apart_as_they_are_written(server):
    tree = Tree(Leaf("c", Table({"red": 1.0, "é": 0.7}, 0.25, 0.5)))
    columns = {"c": ["red", "RED", "red ", "é", "É", "e\u0301", None]}
    server.run("CREATE COLLATION loose (provider = icu, locale = 'und-u-ks-level1', deterministic = false);")
    server.fill("loosely", columns, "c text COLLATE loose")
    agree(ask(server, tree, "loosely"), expected(tree, columns))


def test_columns_may_be_of_other_types(server):
    """Whole numbers, decimals, single precision, true and false, texts of fixed length."""
    tree = Tree(
        Gate(
            [
                Leaf("i", Sigmoid(5.0, 1.0, 0.5)),
                Leaf("d", Ramp([(0, 0), (10, 1)], 0.5)),
                Leaf("r", Given(0.5)),
                Leaf("b", Table({True: 0.9, False: 0.1}, 0.3, 0.5)),
                Leaf("s", Table({1: 0.9, 2: 0.1, 2**60 + 1: 0.7}, 0.3, 0.5)),
                Leaf("m", Table({1: 0.9, 2: 0.1}, 0.3, 0.5)),
                Leaf("t", Table({"red": 0.9, "blue": 0.2}, 0.4, 0.5)),
            ],
            0.6,
            [1 / 7] * 7,
        )
    )
    columns = {
        "i": [1, 5, 9, None, 0],
        "d": [0.5, 2.25, 10, None, 11],
        "r": [0.25, 0.0, 1.0, None, 0.125],
        "b": [True, False, None, True, False],
        "s": [1, 2, 2**60 + 1, None, 2**60],
        "m": [1, 2, 3, None, 1],
        "t": ["red", "blue", "RED", None, "green"],
    }
    types = "i integer, d numeric(20, 5), r real, b boolean, s bigint, m double precision, t varchar(20)"
    server.fill("types", columns, types)
    agree(ask(server, tree, "types"), expected(tree, columns))
