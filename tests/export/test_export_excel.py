"""The exported workbook says what the library says, in LibreOffice where there is one and in the package formulas."""

import math
import re
import shutil
import subprocess
import warnings
from pathlib import Path

import numpy as np
import openpyxl
import pytest
from export_cases import Expected, agree, expected, random_model, table

from baconlogic import Decision, Gate, Leaf, Not, Tree, load
from baconlogic.core.criteria import Given, Ramp, Sigmoid, Table
from baconlogic.core.decision import Feature, Link
from baconlogic.export._excel import to_excel

OFFICE = shutil.which("soffice")
WITHIN = 1e-9
FUNCTIONS = {
    *("IF", "AND", "OR", "NOT", "ABS", "MIN", "MAX", "EXP", "LN", "TANH", "NA", "EXACT", "INDEX", "CHAR"),
    *("ISBLANK", "ISTEXT", "ISNUMBER", "ISLOGICAL"),
}


def used(model, columns):
    """Return the columns that a model reads, in the order of the sheet."""
    return {feature: columns[feature] for feature in features(model)}


def features(model):
    trees = (model,) if isinstance(model, Tree) else model.trees
    leaves = (node for tree in trees for node in postorder(tree.root))
    return list(dict.fromkeys(node.feature for node in leaves if isinstance(node, Leaf)))


def postorder(root):
    from baconlogic.core.nodes import flatten

    return [node for node, _ in flatten(root)]


def filled(model, columns, rows):
    """Return the workbook with cases typed in."""
    book = to_excel(model, rows=rows)
    sheet = book["Decide"]
    for column, values in enumerate(used(model, columns).values(), start=1):
        for row, value in enumerate(values[:rows], start=2):
            if value is None or value != value:
                continue
            cell = sheet.cell(row, column)
            cell.value = '=""' if value == "" else value if isinstance(value, str | int) else float(value)
            cell.data_type = "s" if isinstance(value, str) and value else cell.data_type
    return book


def recalculated(books, folder):
    """Return workbooks after LibreOffice has worked them out, all in one go."""
    for name, book in books.items():
        book.save(folder / f"{name}.xlsx")
    out = folder / "out"
    paths = [str(folder / f"{name}.xlsx") for name in books]
    call = [OFFICE, f"-env:UserInstallation={(folder / 'profile').as_uri()}", "--headless", "--convert-to", "xlsx"]
    subprocess.run([*call, "--outdir", str(out), *paths], check=True, capture_output=True, timeout=300)
    return {name: openpyxl.load_workbook(out / f"{name}.xlsx", data_only=True) for name in books}


def answers(model, book, rows):
    """Return what the sheet Decide says, as Expected."""
    sheet = book["Decide"]
    table = [[cell.value for cell in line] for line in sheet.iter_rows(1, rows + 1)]
    inputs, head = len(features(model)), table[0]
    end = head.index("decision", inputs)
    trees = 1 if isinstance(model, Tree) else len(model.trees)
    classes = (False, True) if isinstance(model, Tree) else model.classes
    numbers = [[math.nan if v == "#N/A" else v for v in line[inputs:end]] for line in table[1:]]
    found = np.array(numbers, dtype=float).reshape(rows, end - inputs)
    said = [line[end].replace("_x005F_", "_") if isinstance(line[end], str) else line[end] for line in table[1:]]
    choice = [-1 if label == "#N/A" else classes.index(label) for label in said]
    return Expected(None, found[:, :trees], found[:, trees:], np.array(choice), classes)


def sample(model, rows, seed=0):
    """Return some rows of the shared table, but none with what only a program tells apart from 1 or from 0."""
    columns = used(model, table())
    good = np.ones(len(table()["n0"]), dtype=bool)
    for name, values in columns.items():
        if name[0] in "ng":
            numbers = np.array(values, dtype=float)
            near = (np.abs(numbers - np.round(numbers)) < 1e-12) & (numbers != np.round(numbers))
            good &= ~near
    chosen = np.random.default_rng(seed).choice(np.flatnonzero(good), rows, replace=False)
    return {name: [values[i] for i in chosen] for name, values in columns.items()}


def cases():
    """Return the models that are run in LibreOffice, with their rows."""
    found = {str(seed): random_model(seed) for seed in (0, 2, 5, 6, 9, 46)}
    rows = {name: sample(model, 50) for name, model in found.items()}
    found["tumours"] = load(Path(__file__).parents[2] / "docs" / "malignant.json")
    patients = pytest.importorskip("sklearn.datasets").load_breast_cancer().data[:50]
    columns = {feature.name: patients[:, i] for i, feature in enumerate(found["tumours"].features)}
    rows["tumours"] = used(found["tumours"], columns)
    found["houses"], rows["houses"] = houses()
    found["strange"], rows["strange"] = strange()
    found["wide"], rows["wide"] = wide()
    return found, rows


def houses():
    size = Gate([Leaf("bed", Ramp([(1, 0), (4, 1)], missing=0.3)), Leaf("house_size", Sigmoid(1500, 0.004, 0.0))], 0.3)
    place = Leaf("zip_code", Table({601: 1.0, 602: 0.7, 10001: 0.2}, other=0.4, missing=0.5))
    cheap = Leaf("price", Ramp([(2e5, 1.0), (4e5, 0.5), (9e5, 0.0)], unit="$"))
    tree = Tree(Gate([cheap, Gate([size, Not(Leaf("acre_lot", Sigmoid(2.0, 3.0, 0.5))), place], 0.6)], 0.9))
    rng, rows = np.random.default_rng(1), 50
    columns = {
        "price": rng.choice([*rng.uniform(0, 1e6, rows), 2e5, 4e5, 9e5, np.nan], rows),
        "bed": rng.choice([0.0, 1, 2, 3, 4, 5, 123, np.nan], rows),
        "house_size": rng.choice([*rng.lognormal(7.5, 1, rows), np.nan, 0.0], rows),
        "acre_lot": rng.choice([*rng.lognormal(-1, 2, rows), np.nan, 1e5], rows),
        "zip_code": [[601, 602, 10001, 7, -1, None][i] for i in rng.integers(0, 6, rows)],
    }
    return tree, used(tree, columns)


STRANGE = [
    "=1+1", "+1", "-2", "@SUM(A1)", '=HYPERLINK("http://x")', "'quoted", 'a "b"', "new\nline", "tab\t", "_x0041_", "A",
    "naïve 🙂", "</f>&amp;", "x" * 300, "x" * 299, "y" * 255, "TRUE", "0", "decision", "\x01bell", "", "case", "CASE",
]  # fmt: skip


def strange():
    names = [name for name in STRANGE if name]
    truths = {name: i / len(STRANGE) for i, name in enumerate(STRANGE)}
    leaves = [Leaf(name, Given(0.3), name=name) for name in names]
    known = Leaf("known", Table({**truths, "no\0cell": 1.0, "nor\uffff": 1.0}, None, 0.9))
    tree = Tree(Gate([*leaves, Leaf("any", Table(truths, 0.5, 0.1)), known], 0.4))
    rng, rows = np.random.default_rng(2), 50
    columns = {name: rng.random(rows) for name in names}
    texts = [text for text in STRANGE if "\x01" not in text and text != "_x0041_"]  # which openpyxl does not write
    columns["any"] = [[*texts, None, "unseen", "Case"][i] for i in np.arange(rows) % (len(texts) + 3)]
    columns["known"] = [[*texts, None, "Case"][i] for i in np.arange(rows) % (len(texts) + 2)]
    features = tuple(Feature(name, "number") for name in columns)
    model = Decision((tree,), (Link(20, 0.5),), ('=HYPERLINK("http://x")', "_x0041_"), features)
    return model, used(model, columns)


def wide():
    """Return a gate of 300 inputs, a ramp of 150 points and a table of 400 categories."""
    leaves = [Leaf(f"a{i}", Sigmoid(i / 300, 3.0 + i / 7, 0.5)) for i in range(300)]
    ramp = Leaf("ramp", Ramp([(float(i), i * 37 % 101 / 101) for i in range(150)]))
    many = Leaf("many", Table({f"category {i}": i % 3 / 2 for i in range(400)}))
    tree = Tree(Gate([Gate(leaves, 0.9), Gate([Not(Gate(leaves[:150], 0.1)), ramp, many], 0.7)], 0.6))
    rng, rows = np.random.default_rng(3), 10
    columns = {f"a{i}": rng.random(rows) for i in range(300)}
    columns["ramp"] = rng.uniform(-1, 151, rows)
    columns["many"] = [f"category {i}" for i in rng.integers(0, 402, rows)]
    return tree, used(tree, columns)


MISTYPED = [(1.0, "a", 1), ("1", "a", 1), (1.0, 7, 1), (1.0, "a", "1"), (1.0, "a", True), (1.0, "A", 1)]


def mistyped():
    """Return a book with values of the wrong kind in it, and the truth that each row should have."""
    leaves = [Leaf("n", Ramp([(0, 0), (2, 1)])), Leaf("c", Table({"a": 0.5})), Leaf("w", Table({1: 0.5}))]
    book = to_excel(Tree(Gate(leaves, 0.5)), rows=len(MISTYPED))
    for row, values in enumerate(MISTYPED, start=2):
        for column, value in enumerate(values, start=1):
            book["Decide"].cell(row, column, value)
    return book, [0.5, "#N/A", "#N/A", "#N/A", 0.5, "#N/A"]


@pytest.mark.slow
@pytest.mark.skipif(OFFICE is None, reason="LibreOffice is not installed")
def test_libreoffice_agrees(tmp_path):
    models, rows = cases()
    counts = {name: len(next(iter(columns.values()))) for name, columns in rows.items()}
    books = {name: filled(model, rows[name], counts[name]) for name, model in models.items()}
    wrong, truths = mistyped()
    done = recalculated({**books, "mistyped": wrong}, tmp_path)
    assert [line[3].value for line in done.pop("mistyped")["Decide"].iter_rows(2)] == truths
    for name, book in done.items():
        try:
            agree(answers(models[name], book, counts[name]), expected(models[name], rows[name]), WITHIN)
        except AssertionError as problem:
            raise AssertionError(f"model {name}") from problem


@pytest.mark.parametrize("name", ["0", "3", "houses"])
def test_the_package_formulas_agrees(name, tmp_path):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        formulas = pytest.importorskip("formulas")
        rows = 4
        model, columns = (
            houses() if name == "houses" else (random_model(int(name)), sample(random_model(int(name)), rows))
        )
        columns = {feature: values[:rows] for feature, values in columns.items()}
        filled(model, columns, rows).save(tmp_path / "model.xlsx")
        solution = formulas.ExcelModel().loads(str(tmp_path / "model.xlsx")).finish().calculate()
    book = openpyxl.load_workbook(tmp_path / "model.xlsx")
    for line in book["Decide"].iter_rows(2, rows + 1):
        for cell in line:
            if cell.data_type == "f":
                found = solution[f"'[model.xlsx]DECIDE'!{cell.coordinate}"].value[0, 0]
                cell.value = found if isinstance(found, float | int | bool | np.generic) else str(found)
                cell.value = cell.value.item() if isinstance(cell.value, np.generic) else cell.value
    agree(answers(model, book, rows), expected(model, columns), WITHIN)


def cells(book):
    return [cell for sheet in book for line in sheet.iter_rows() for cell in line if cell.value is not None]


def test_texts_never_become_formulas(tmp_path):
    model, _ = strange()
    to_excel(model, rows=2).save(tmp_path / "model.xlsx")
    book = openpyxl.load_workbook(tmp_path / "model.xlsx")
    texts = [cell for cell in cells(book) if isinstance(cell.value, str) and cell.value[0] in "=+-@"]
    known = {cell.value for cell in texts if cell.data_type == "s"}
    assert {"=1+1", "+1", "-2", "@SUM(A1)", '=HYPERLINK("http://x")'} <= known
    formulas = [cell for cell in texts if cell.data_type == "f"]
    assert {cell.parent.title for cell in formulas} == {"Decide", "Workings"}
    assert {cell.row for cell in formulas} == {2, 3}
    assert not any("HYPERLINK" in outside(cell.value) for cell in formulas)


def outside(formula):
    """Return a formula without the texts in it."""
    return re.sub('"(?:[^"]|"")*"', '""', formula)


@pytest.mark.parametrize("make", [houses, strange, wide, *(lambda k=k: (random_model(k), 0) for k in range(40))])
def test_formulas_keep_to_what_every_spreadsheet_takes(make):
    model, _ = make()
    for cell in cells(to_excel(model, rows=1)):
        if cell.data_type != "f":
            continue
        bare = outside(cell.value)
        assert set(re.findall(r"[A-Z]+(?=\()", bare)) <= FUNCTIONS
        assert len(cell.value) < 8192
        assert all(len(text) <= 257 for text in re.findall('"(?:[^"]|"")*"', cell.value))
        assert all(len(found.strip("0.").replace(".", "")) <= 15 for found in re.findall(r"(?<![A-Z$])[\d.]+", bare))
        depth, arguments = 0, [0]
        for c in bare:
            if c == "(":
                arguments.append(1)
            elif c == ",":
                arguments[-1] += 1
            elif c == ")":
                assert arguments.pop() < 255
            depth = max(depth, len(arguments))
        assert depth < 64


def test_a_number_of_17_digits_stands_in_a_cell():
    tree = Tree(Leaf("x", Sigmoid(0.1 + 0.2, 1.5)))
    book = to_excel(tree, rows=1)
    assert book["Numbers"]["B2"].value == 0.1 + 0.2
    assert any("Numbers!$B$2" in cell.value for cell in cells(book) if cell.data_type == "f")


def test_the_first_sheet_reads_like_a_form():
    model, _ = houses()
    book = to_excel(model, rows=3)
    assert book.sheetnames == ["Decide", "Workings", "Tree", "Numbers", "About"]
    head = [cell.value for cell in book["Decide"][1]]
    assert head[:7] == ["price", "bed", "house_size", "acre_lot", "zip_code", "truth", "decision"]
    assert len(head) == 7 + len(list(model.walk())) - 1
    assert book["Decide"]["A1"].comment.text.startswith("A number in $; empty when missing.")
    assert book["Decide"].max_row == 4
    assert "A graded-logic decision" in book["About"]["A1"].value
    assert book["Tree"]["C2"].value.startswith("must")


def test_a_chain_of_1000_gates_exports():
    node = Leaf("n0", Given())
    for k in range(1000):
        node = Gate([node, Leaf(f"n{k % 6}", Sigmoid(k / 100, 0.1, 0.5))], 0.5 + 0.1 * (k % 3))
    book = to_excel(Tree(node), rows=1)
    assert book.sheetnames[:2] == ["Decide", "Workings"]
    with pytest.raises(ValueError, match="give fewer rows"):
        to_excel(Tree(node), rows=10_000)


@pytest.mark.parametrize("rows", [0, -1, 2.0, True, 1_048_576])
def test_the_number_of_rows_is_checked(rows):
    with pytest.raises(ValueError, match="rows must be a whole number from 1 to 1048575, got"):
        to_excel(Tree(Leaf("x", Given())), rows=rows)
