"""Names from strangers stay names: each export is run with them, answers right, and keeps the shape it always has."""

import ast
import ctypes
import io
import json
import re
import shutil
import sqlite3
import subprocess
import sys
import tokenize

import numpy as np
import pytest
from hostile_names import NAMES, PLACES, payload, placed

from baconlogic import Decision, Gate, Leaf, Not, Tree, export
from baconlogic.core.criteria import Ramp, Table
from baconlogic.core.decision import Feature, Link
from baconlogic.export import to_javascript, to_python
from baconlogic.export._about import about, commented
from baconlogic.export._compile import program

ELSEWHERE = {"latex", "excel"}  # whose own tests do what is done here


def model(name):
    """Return a decision with a name in every place that takes one: columns, unit, category, nodes, class."""
    text = Leaf(name, Table({name: 1.0, "b": 0.0}, other=0.25, missing=0.75), name)
    number = Leaf(name + name, Ramp([(0, 0), (10, 1)], missing=0.5, unit=name), name)
    root = Gate([text, Not(number, name)], "HC-", [0.4, 0.6], name=name)
    columns = Feature(name, "category"), Feature(name + name, "number")
    return Decision((Tree(root),), (Link(4.0, 0.3),), (name, "b"), columns)


def rows(name):
    return {name: [name, "b", "zzz", None, name, None], name + name: [2.0, 1.0, 6.5, 3.0, np.nan, 9.0]}


MODELS = [*map(model, NAMES), Tree(Gate([Leaf(name, Ramp([(0, 0), (10, 1)])) for name in NAMES], "SC"))]
TABLES = [*map(rows, NAMES), {name: [float(i % 11), 7.0, 10.0] for i, name in enumerate(NAMES)}]
NAMED = [*NAMES, "all of them"]


def by_row(columns):
    plain = {name: [None if v is None or v != v else v for v in values] for name, values in columns.items()}
    return [dict(zip(plain, values, strict=True)) for values in zip(*plain.values(), strict=True)]


def python(tmp_path):
    for each, table in zip(MODELS, TABLES, strict=True):
        module = {}
        exec(to_python(each, trace=True), module)  # noqa: S102
        yield [(module["truth"](row), module["decide"](row)) for row in by_row(table)]


def javascript(tmp_path):
    for i, each in enumerate(MODELS):
        (tmp_path / f"m{i}.mjs").write_bytes(to_javascript(each, trace=True).encode("ascii"))
    (tmp_path / "rows.json").write_text(json.dumps([by_row(table) for table in TABLES]), encoding="ascii")
    script = f"""
        import {{ readFileSync }} from "node:fs";
        const found = [];
        for (const [i, rows] of JSON.parse(readFileSync({json.dumps(str(tmp_path / "rows.json"))})).entries()) {{
          const m = await import(`{tmp_path.as_uri()}/m${{i}}.mjs`);
          found.push(rows.map((row) => [m.truth(row), m.decide(row)]));
        }}
        console.log(JSON.stringify(found));"""
    call = [tool("node"), "--input-type=module", "-"]
    done = subprocess.run(call, input=script, capture_output=True, text=True, encoding="utf-8", check=True)
    return json.loads(done.stdout)


def c(tmp_path):
    compiler, to_c = tool("cc"), function("c")
    kinds = {"number": ctypes.c_double, "whole": ctypes.c_double, "text": ctypes.c_char_p}
    sources = [to_c(each, name=f"m{i}").save(tmp_path) for i, each in enumerate(MODELS)]
    library = tmp_path / "models.so"
    flags = ["-std=c99", "-pedantic", "-Wall", "-Wextra", "-Werror", "-trigraphs", "-shared", "-fPIC"]
    files = [str(path) for both in sources for path in both if path.suffix == ".c"]
    subprocess.run([compiler, *flags, "-o", str(library), *files, "-lm"], check=True)
    compiled = ctypes.CDLL(str(library))
    for i, (each, table) in enumerate(zip(MODELS, TABLES, strict=True)):
        inputs = program(each).inputs
        fields = [(f"f{k}", kinds[column.kind]) for k, column in enumerate(inputs)]
        struct = type("Row", (ctypes.Structure,), {"_fields_": fields})
        getattr(compiled, f"m{i}_truth").restype = ctypes.c_double
        getattr(compiled, f"m{i}_class").restype = ctypes.c_char_p
        found = []
        for row in by_row(table):
            values = [row[column.feature] for column in inputs]
            values = [v.encode() if isinstance(v, str) else v for v in values]
            given = struct(
                *(np.nan if v is None and f[1] is ctypes.c_double else v for v, f in zip(values, fields, strict=True))
            )
            place = getattr(compiled, f"m{i}_decide")(ctypes.byref(given))
            label = getattr(compiled, f"m{i}_class")(place).decode()
            found.append((getattr(compiled, f"m{i}_truth")(ctypes.byref(given)), label))
        yield found


def sql(tmp_path):
    pytest.importorskip("sqlglot")
    to_sql = function("sql")
    for each, table in zip(MODELS, TABLES, strict=True):
        with sqlite3.connect(":memory:") as database:
            quoted = ", ".join('"' + name.replace('"', '""') + '"' for name in table)
            database.execute(f"CREATE TABLE data ({quoted})")
            places = ", ".join("?" * len(table))
            values = [tuple(row.values()) for row in by_row(table)]
            database.executemany(f"INSERT INTO data VALUES ({places})", values)  # noqa: S608
            answer = database.execute(to_sql(each, dialect="sqlite"))
            names = [entry[0] for entry in answer.description]
            yield [(row[names.index("truth")], row[names.index("decision")]) for row in answer.fetchall()]
            assert database.execute("SELECT count(*) FROM data").fetchone() == (len(values),)


def onnx(tmp_path):
    runtime = pytest.importorskip("onnxruntime")
    to_onnx = function("onnx")
    for each, table in zip(MODELS, TABLES, strict=True):
        graph = to_onnx(each)
        missing = json.loads({entry.key: entry.value for entry in graph.metadata_props}["missing_text"])
        given = {
            name: np.array([missing[name] if v is None else v for v in values], dtype=object)[:, None]
            if name in missing
            else np.array(values, dtype=float)[:, None]
            for name, values in table.items()
        }
        session = runtime.InferenceSession(graph.SerializeToString(), providers=["CPUExecutionProvider"])
        truth, label = session.run(["truth", "label"], given)
        yield list(zip(truth[:, 0].tolist(), label.tolist(), strict=True))


EXPORTS = {"python": python, "javascript": javascript, "c": c, "sql": sql, "onnx": onnx}


def tool(name):
    return shutil.which(name) or pytest.skip(f"{name} is not installed")


def function(target):
    return getattr(export, f"to_{target}")


@pytest.mark.parametrize("target", EXPORTS)
def test_names_stay_names(target, tmp_path):
    answers = list(EXPORTS[target](tmp_path))
    wrong = []
    for name, each, table, found in zip(NAMED, MODELS, TABLES, answers, strict=True):
        alone = isinstance(each, Tree)
        truths = each.evaluate(table) if alone else each.truth(table)
        labels = (truths > 0.5).tolist() if alone else each.predict(table).tolist()
        if np.abs(np.array([truth for truth, _ in found]) - truths).max() > 1e-12:
            wrong.append((name, "truth"))
        same = [
            label == said or (alone and str(label).lower() == str(said).lower())  # of C a class is a text
            for (_, label), said in zip(found, labels, strict=True)
        ]
        if not all(same):
            wrong.append((name, "decision"))
    assert not wrong


def test_no_export_is_forgotten():
    public = {name.removeprefix("to_") for name in export.__all__ if name.startswith("to_")}
    assert public <= EXPORTS.keys() | ELSEWHERE


@pytest.mark.parametrize("name", NAMES)
def test_the_python_file_has_the_shape_it_has_with_a_plain_name(name):
    assert python_shape(to_python(model(name), trace=True)) == python_shape(to_python(model("plain"), trace=True))


def python_shape(text):
    """Return the syntax tree with all texts taken out; comments are no part of it."""
    found = ast.parse(text)
    for part in ast.walk(found):
        if isinstance(part, ast.Constant) and isinstance(part.value, str):
            part.value = ""
    assert {type(part).__name__ for part in found.body} <= {"ImportFrom", "Assign", "FunctionDef"}
    return ast.dump(found)


@pytest.mark.parametrize("name", NAMES)
def test_the_javascript_file_has_the_shape_it_has_with_a_plain_name(name):
    text = to_javascript(model(name), trace=True)
    assert re.fullmatch(r"[\n -~]*", text)
    assert javascript_shape(text) == javascript_shape(to_javascript(model("plain"), trace=True))


def javascript_shape(text):
    """Return the text without lines that are comments, and with all texts taken out."""
    code = [line for line in text.split("\n") if not line.startswith("//")]
    return re.sub(r'"(?:[^"\\]|\\.)*"', '""', "\n".join(code))


def test_node_takes_every_file(tmp_path):
    paths = [tmp_path / f"m{i}.mjs" for i in range(len(MODELS))]
    for path, each in zip(paths, MODELS, strict=True):
        path.write_text(to_javascript(each, trace=True), encoding="ascii")
    for path in paths[:: len(paths) // 5]:
        subprocess.run([tool("node"), "--check", str(path)], check=True)
    script = f"""
        for (let i = 0; i < {len(paths)}; i++) {{
          const m = await import(`{tmp_path.as_uri()}/m${{i}}.mjs`);
          console.log(Object.keys(m).sort().join(" "));
        }}"""
    done = subprocess.run(
        [tool("node"), "--input-type=module", "-"], input=script, capture_output=True, text=True, check=True
    )
    names = ["CLASSES FEATURES THRESHOLD decide probabilities trace truth"] * len(NAMES)
    assert done.stdout.splitlines() == [*names, "CLASSES FEATURES THRESHOLD decide trace truth"]


def head(text, sign):
    """Return the lines of the comment on top."""
    lines = text.split("\n")
    return lines[: next(i for i, line in enumerate(lines) if not line.startswith(sign))]


def is_plain(line):
    return line.isprintable() and "\\" not in line


def test_a_comment_holds_any_text():
    every = commented("".join(map(chr, range(0x11000))))
    assert is_plain(every)
    told = {"\n", "\r", "\x0b", "\x0c", "\x85", "\\", "\u2028", "\u2029", "\u202e", "\ud800"}
    assert {f"[U+{ord(sign):04X}]" for sign in told} <= set(re.findall(r"\[U\+\w+\]", every))
    assert "é" in every
    assert commented("*/ a/* ??/", r"\*(?=/)|/(?=\*)|\?(?=\?)") == "[U+002A]/ a[U+002F]* [U+003F]?/"


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("codec", ["raw_unicode_escape", "unicode_escape", "utf-7", "utf-16"])
def test_python_runs_nothing_of_a_model(place, codec, tmp_path):
    text = to_python(placed(place, payload("open('ran', 'w')", "#"), f"coding: {codec} "), trace=True)
    first = to_python(placed(place, "plain")).split("\n")[:2]
    assert text.split("\n")[:2] == first
    assert all(map(is_plain, head(text, "#")))
    assert tokenize.detect_encoding(io.BytesIO(text.encode()).readline)[0] == "utf-8"
    (tmp_path / "model.py").write_bytes(text.encode())
    subprocess.run([sys.executable, "-I", "model.py"], cwd=tmp_path, check=True)
    assert [path.name for path in tmp_path.iterdir()] == ["model.py"]


def test_c_compiles_nothing_of_a_model(tmp_path):
    flags = ["-std=c99", "-pedantic", "-Wall", "-Wextra", "-Werror", "-trigraphs", "-fsyntax-only"]
    for place in PLACES:
        for name in payload("#error ran", "/*", "*/"), payload("#error ran", "//"):
            made = function("c")(placed(place, name), name="model", trace=True)
            assert all(map(is_plain, head(made.source.removeprefix("/*\n"), " *")))
            sources = made.save(tmp_path)
            subprocess.run([tool("cc"), *flags, *(str(path) for path in sources if path.suffix == ".c")], check=True)


def test_javascript_runs_nothing_of_a_model(tmp_path):
    for i, place in enumerate(PLACES):
        text = to_javascript(placed(place, payload("globalThis.ran = 1;", "//", "*/")), trace=True)
        assert all(map(is_plain, head(text, "//")))
        (tmp_path / f"m{i}.mjs").write_text(text, encoding="ascii")
    script = f"""
        for (let i = 0; i < {len(PLACES)}; i++) await import(`{tmp_path.as_uri()}/m${{i}}.mjs`);
        console.log(globalThis.ran);"""
    call = [tool("node"), "--input-type=module", "-"]
    assert subprocess.run(call, input=script, capture_output=True, text=True, check=True).stdout == "undefined\n"


@pytest.mark.parametrize("dialect", ["sqlite", "duckdb", "postgres"])
@pytest.mark.parametrize("place", PLACES)
def test_sql_runs_nothing_of_a_model(place, dialect):
    parse = pytest.importorskip("sqlglot").parse
    made = placed(place, payload("; CREATE TABLE ran (x int);", "--", "*/"))
    text = function("sql")(made, dialect=dialect)
    assert all(map(is_plain, head(text, "--")))
    assert len(parse(text, dialect)) == 1
    table = ", ".join(f'"{each.name}" {"text" if each.kind == "category" else "double"}' for each in made.features)
    if dialect == "sqlite":
        with sqlite3.connect(":memory:") as database:
            database.executescript(f"CREATE TABLE data ({table}); {text}")
            assert database.execute("SELECT name FROM sqlite_master").fetchall() == [("data",)]
    if dialect == "duckdb":
        with pytest.importorskip("duckdb").connect() as database:
            database.execute(f"CREATE TABLE data ({table})")
            database.execute(text)
            assert [row[0] for row in database.execute("SHOW TABLES").fetchall()] == ["data"]


@pytest.mark.parametrize("place", PLACES)
def test_what_is_said_on_top_keeps_its_lines(place):
    plain, made = (placed(place, text) for text in ("plain", payload("ran", "", "*/")))
    lines = about(made, program(made))
    assert all(map(is_plain, lines))
    assert len(lines) == len(about(plain, program(plain)))
    assert lines[0] == about(plain, program(plain))[0]


def test_onnx_says_a_unit_on_one_line():
    pytest.importorskip("onnx")
    graph = function("onnx")(placed("unit", payload("ran", "")))
    assert all(map(is_plain, [*graph.doc_string.split("\n"), *(each.doc_string for each in graph.graph.input)]))


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("name", ["!TeX program = sh", "arara: sh", "ends \\"])
def test_no_comment_of_latex_is_an_order(place, name):
    comments = re.findall("(?m)^%.*", function("latex")(placed(place, name)))
    assert comments
    assert not re.search(r"!|arara:|\\", "\n".join(comments))


@pytest.mark.parametrize("place", PLACES)
def test_no_comment_of_javascript_names_another_file(place):
    comments = head(to_javascript(placed(place, "//# sourceMappingURL=data:, <!-- --> ]]> </script>")), "//")
    assert not re.search("//#|[<>]", "\n".join(comments))
