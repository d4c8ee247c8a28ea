"""A criterion, and an aggregator, defined in one place: everything works with it, and what is not said raises."""

from __future__ import annotations

import json
import math
import subprocess
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import pytest

from baconlogic import Decision, Gate, Leaf, Not, Tree, edit, explain, load
from baconlogic.core.checks import check_finite
from baconlogic.core.criteria import Given, Numeric, Ramp, Sigmoid
from baconlogic.core.criterion import KINDS
from baconlogic.core.decision import Feature, Link
from baconlogic.core.files import ModelFormatError, schema
from baconlogic.core.gcd import AGGREGATORS, FAR, Aggregator, fading
from baconlogic.core.notation import FormulaError
from baconlogic.core.words import numbers
from baconlogic.export import to_c, to_excel, to_javascript, to_latex, to_onnx, to_python, to_sql


@dataclass(frozen=True)
class Bell(Numeric):
    """exp(-((x - centre) / width)**2): fully true at the centre, less so to both sides."""

    kind: ClassVar[str] = "bell"
    centre: float = 0.0
    width: float = 1.0
    unit: str = ""

    def __post_init__(self):
        super().__post_init__()
        check_finite(self.centre, "the centre of a bell")
        if not self.width > 0.0:
            raise ValueError(f"the width of a bell must be positive, got {self.width!r}")

    def _distance(self, values):
        with np.errstate(over="ignore"):
            return ((values - self.centre) / self.width) ** 2

    def known(self, values):
        return fading(self._distance(values))

    def known_falsity(self, values):
        distance = self._distance(values)
        return np.where(distance < FAR, -np.expm1(-distance), np.where(np.isnan(distance), np.nan, 1.0))

    @property
    def bends(self):
        return tuple(self.centre + k * self.width for k in (-math.sqrt(FAR), -2.0, 0.0, 2.0, math.sqrt(FAR)))

    @property
    def rising(self):
        return None

    def span(self, hardly):
        return self.crossings(hardly)[0], self.crossings(hardly)[-1]

    def crossings(self, truth):
        reach = self.width * math.sqrt(-math.log(truth)) if truth > 0.0 else math.inf
        return tuple(x for x in dict.fromkeys((self.centre - reach, self.centre + reach)) if math.isfinite(x))

    def levels(self):
        half, full, again = numbers([self.crossings(0.5)[0], self.centre, self.crossings(0.5)[-1]])
        return f"fully true at {full}, half true at {half} and {again}"

    def expression(self, build):
        share = build.op("/", build.past(self.centre), build.number(self.width))
        down = build.once(build.op("*", build.number(-1.0), share, share))
        near = build.less(build.number(-FAR), down)
        rest = build.op("-", build.number(0.0), build.op("expm1", down))
        return (
            build.choose(near, build.op("exp", down), build.number(0.0)),
            build.choose(near, rest, build.number(1.0)),
        )

    def moved(self, shift, steeper, middle, missing):
        return replace(self, centre=self.centre + shift, width=self.width * math.exp(-steeper), missing=missing)


class Bare(Numeric):
    """No more than is needed to be evaluated."""

    kind: ClassVar[str] = "bare"
    bends = (0.0, 1.0)
    rising = True

    def known(self, values):
        return np.clip(values, 0.0, 1.0)

    def levels(self):
        return "its value"


@pytest.fixture(scope="module", autouse=True)
def only_here():
    """Take the kinds of this file out again: tests of other files list what there is."""
    yield
    for kind in ("bell", "bare"):
        KINDS.pop(kind, None)


BELL = Bell(centre=21.0, width=3.0, missing=0.25, unit="C")
TREE = Tree(
    Gate(
        [
            Leaf("warm", BELL),
            Not(Leaf("loud", Bell(centre=4.0, width=0.5, missing=0.0))),
            Gate([Leaf("dry", Sigmoid(2, 1, 0.5)), Leaf("warm", Bell(centre=24.0, width=5.0, missing=0.5))], 0.2),
        ],
        0.8,
        [0.5, 0.3, 0.2],
        name="fine",
    )
)
DECISION = Decision((TREE,), (Link(9.0, 0.4),), ("stay", "go"), tuple(Feature(n, "number") for n in TREE.features))


def table(rows=400):
    rng = np.random.default_rng(0)
    found = {
        "warm": rng.normal(22, 6, rows),
        "loud": rng.normal(4, 1.5, rows),
        "dry": rng.normal(2, 2, rows),
    }
    for column in found.values():
        column[rng.random(rows) < 0.1] = np.nan
    found["warm"][:6] = [21.0, -1e6, 1e6, 21.0 + 3.0 * math.sqrt(FAR), 0.0, 24.0]
    return found


def rows(columns):
    return [dict(zip(columns, map(float, values), strict=True)) for values in zip(*columns.values(), strict=True)]


def test_it_takes_at_most_60_lines():
    from pathlib import Path

    text = Path(__file__).read_text(encoding="utf-8").split("class Bell")[1].split("\n\n\nclass")[0]
    assert len(text.splitlines()) <= 60


def test_it_evaluates():
    found = Tree(Leaf("warm", BELL)).evaluate({"warm": [21.0, 24.0, 1e300, -math.inf, math.nan]})
    assert found.tolist() == pytest.approx([1.0, math.exp(-1), 0.0, 0.0, 0.25], abs=1e-15)
    many = {name: np.tile(column, 300) for name, column in table().items()}  # so many that steps are compiled
    assert TREE.evaluate(many)[:400] == pytest.approx(TREE.evaluate(table()), abs=1e-14)


def test_its_bounds_are_exact():
    alone = Tree(Leaf("warm", BELL))
    assert [end.item() for end in alone.bounds({"warm": [math.nan]})] == [0.0, 1.0]
    low, high = (end.item() for end in alone.bounds({"warm": [15.0]}, {"warm": [22.0]}))
    assert (low, high) == (math.exp(-4), 1.0)
    low, high = (end.item() for end in TREE.bounds({"warm": [math.nan], "loud": [3.0], "dry": [1.0]}))
    grid = np.linspace(-80, 120, 200_001)
    seen = TREE.evaluate({"warm": grid, "loud": np.full(len(grid), 3.0), "dry": np.full(len(grid), 1.0)})
    assert (low, high) == pytest.approx((seen.min(), seen.max()), abs=2e-6)


def test_the_notation_writes_and_reads_it():
    assert Tree(Leaf("warm", BELL)).formula() == 'warm[bell, centre 21, width 3, missing 0.25, unit "C"]'
    assert Tree.parse(TREE.formula()) == TREE
    assert Tree.parse("x[bell, width 2]") == Tree(Leaf("x", Bell(width=2.0)))
    with pytest.raises(FormulaError, match=r"expected e.g. bell, centre, width, missing, unit"):
        Tree.parse("x[bell, slope 2]")
    with pytest.raises(FormulaError, match="width of a bell must be positive"):
        Tree.parse("x[bell, width -2]")
    assert edit.set_criterion(TREE, (0,), "bell, width 2")[(0,)].criterion == replace(BELL, centre=0.0, width=2.0)


def test_a_file_holds_it(tmp_path):
    for made in (TREE, DECISION):
        made.save(tmp_path / "model.json")
        assert load(tmp_path / "model.json") == made
    document = TREE.to_dict()
    validator = pytest.importorskip("jsonschema").Draft202012Validator(schema())
    validator.validate(document)
    document["tree"]["nodes"][0]["criterion"]["kind"] = "ball"
    with pytest.raises(ModelFormatError, match=r"criterion.kind: expected one of .*bell"):
        Tree.from_dict(document)
    assert not validator.is_valid(document)
    document["tree"]["nodes"][0]["criterion"] = {"kind": "bell", "centre": 3}
    with pytest.raises(ModelFormatError, match="'width' is missing"):
        Tree.from_dict(document)


def test_people_are_told_of_it():
    assert BELL.words("warm") == "warm fits: fully true at 21, half true at 18.5 and 23.5 C; 25% true when missing"
    assert "fully true at 21" in str(TREE)
    told = str(explain.describe(TREE))
    assert "between about 18.5 and 23.5 C" in told
    assert "below about 3.584 or above about 4.416" in told


def test_every_question_has_an_answer():
    case = {"warm": 21.5, "loud": 6.0, "dry": 5.0}
    truth = float(TREE.evaluate([case])[0])
    assert truth > 0.5
    assert "warm" in str(explain.reasons(TREE, case))
    assert explain.trace(TREE, case).truth == pytest.approx(truth)
    change = explain.counterfactual(TREE, case)
    assert "warm" in {each.feature for each in change.rows}
    for each in change.rows:
        assert TREE.evaluate([{**case, each.feature: each.after}])[0] <= 0.5
    assert {ask.feature for ask in explain.unknown(TREE, {"loud": 6.0}).rows} == {"warm", "dry"}
    assert {row.feature for row in explain.attribution(TREE, table()).rows} == set(TREE.features)


def test_edits_know_it():
    columns, y = table(), np.arange(400) % 3 == 0
    truth = TREE.evaluate(columns)
    negated = edit.negate(TREE, "fine")
    assert negated.evaluate(columns) == pytest.approx(1.0 - truth, abs=1e-15)
    assert edit.negate(TREE, (0,))[(0,)] == Not(Leaf("warm", BELL))  # it has no mirror image of its kind
    assert edit.simplify(negated).evaluate(columns) == pytest.approx(1.0 - truth, abs=1e-12)
    assert edit.snap(TREE)[(0,)] == TREE[(0,)]
    assert "loud" not in edit.prune(TREE, features="loud").features
    assert sum(isinstance(node, Leaf) for _, node in edit.prune(TREE, 3, X=columns, y=y).walk()) == 3
    made = edit.refit(TREE, columns, y)
    moved = made[(0,)].criterion
    assert isinstance(moved, Bell)
    assert (moved.centre, moved.width) != (BELL.centre, BELL.width)
    assert moved.unit == "C"


def python(model, columns):
    module = {}
    exec(compile(to_python(model), "exported", "exec"), module)  # noqa: S102
    return [module["truth"](row) for row in rows(columns)]


def javascript(model, columns, folder):
    import shutil

    node = shutil.which("node") or pytest.skip("node is not installed")
    (folder / "model.mjs").write_text(to_javascript(model), encoding="ascii")
    plain = [{name: None if x != x else x for name, x in row.items()} for row in rows(columns)]
    script = (
        f'import {{ truth }} from "{(folder / "model.mjs").as_uri()}";\n'
        f"console.log(JSON.stringify({json.dumps(plain)}.map(truth)));"
    )
    call = [node, "--input-type=module", "-"]
    return json.loads(subprocess.run(call, input=script, capture_output=True, text=True, check=True).stdout)


def c(model, columns, folder):
    from test_export_c import CC, compiled, run

    from baconlogic.export._compile import program

    if CC is None:
        pytest.skip("no C compiler here")
    source = to_c(model, name="model")
    return run(compiled([source], folder), source, program(model), columns)[0].truths[:, 0]


def sqlite(model, columns, folder):
    import sqlite3

    connection = sqlite3.connect(":memory:")
    try:
        connection.execute("SELECT exp(1), ln(1), tanh(1)")
    except sqlite3.OperationalError:
        pytest.skip("SQLite has no mathematics here")
    connection.execute("CREATE TABLE data (warm REAL, loud REAL, dry REAL)")
    given = [
        [None if row[name] != row[name] else row[name] for name in ("warm", "loud", "dry")] for row in rows(columns)
    ]
    connection.executemany("INSERT INTO data VALUES (?, ?, ?)", given)
    cursor = connection.execute(to_sql(model, dialect="sqlite", table="data"))
    place = [about[0] for about in cursor.description].index("truth")
    return [line[place] for line in cursor.fetchall()]


def onnx(model, columns, folder):
    runtime = pytest.importorskip("onnxruntime")
    pytest.importorskip("onnx")
    session = runtime.InferenceSession(to_onnx(model).SerializeToString(), providers=["CPUExecutionProvider"])
    return session.run(["truth"], {name: columns[name][:, None] for name in model.features})[0][:, 0]


@pytest.mark.parametrize("run", [python, javascript, c, sqlite, onnx])
def test_every_export_agrees(run, tmp_path):
    columns = table()
    found = run(TREE, columns) if run is python else run(TREE, columns, tmp_path)
    assert np.abs(np.array(found, dtype=float) - TREE.evaluate(columns)).max() <= 1e-12


def test_a_workbook_agrees(tmp_path):
    import warnings

    openpyxl = pytest.importorskip("openpyxl")
    columns = {name: column[6:12] for name, column in table().items()}
    book = to_excel(TREE, rows=6)
    for place, name in enumerate(["warm", "loud", "dry"], start=1):
        for line, value in enumerate(columns[name], start=2):
            book["Decide"].cell(line, place).value = None if value != value else float(value)
    assert [cell.value for cell in book["Decide"][1]][:3] == ["warm", "loud", "dry"]
    book.save(tmp_path / "model.xlsx")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        formulas = pytest.importorskip("formulas")
        solution = formulas.ExcelModel().loads(str(tmp_path / "model.xlsx")).finish().calculate()
    sheet = openpyxl.load_workbook(tmp_path / "model.xlsx")["Decide"]
    place = [cell.value for cell in sheet[1]].index("truth") + 1
    names = [sheet.cell(line, place).coordinate for line in range(2, 8)]
    found = [float(solution[f"'[model.xlsx]DECIDE'!{name}"].value[0, 0]) for name in names]
    assert np.abs(np.array(found) - TREE.evaluate(columns)).max() <= 1e-12


def test_latex_writes_its_formula():
    text = to_latex(Tree(Leaf("warm", replace(BELL, missing=None))))
    assert r"e^{-1\,\dfrac{x_{1} - 21}{3}\,\dfrac{x_{1} - 21}{3}}" in text.replace("(", "").replace(")", "")
    assert r"\text{if } -690 <" in text
    assert "0.25 & \\text{if } x_{1} \\text{ is missing}" in to_latex(Tree(Leaf("warm", BELL)))


@pytest.mark.parametrize(
    ("ask", "method"),
    [
        (to_python, "expression"),
        (to_latex, "expression"),
        (explain.describe, "crossings"),
        (lambda tree: edit.refit(tree, {"x": np.linspace(-1, 2, 50)}, np.arange(50) > 30), "moved"),
    ],
)
def test_what_a_criterion_does_not_say_raises_and_names_it(ask, method):
    tree = Tree(Leaf("x", Bare()))
    assert tree.evaluate({"x": [0.3]}).tolist() == [0.3]
    assert Tree.parse(tree.formula()) == tree
    with pytest.raises(NotImplementedError, match=f"Bare .*`{method}`"):
        ask(tree)


def test_a_field_that_no_file_holds_is_named():
    @dataclass(frozen=True)
    class Odd(Bare):
        kind: ClassVar[str] = "odd"
        parts: frozenset = frozenset()

    try:
        with pytest.raises(NotImplementedError, match=r"Odd\.parts is a frozenset"):
            Tree.from_dict({**Tree(Leaf("x", Odd())).to_dict()})
        with pytest.raises(NotImplementedError, match=r"Odd .*`text`"):
            Tree(Leaf("x", Odd())).formula()
    finally:
        del KINDS["odd"]


def test_two_classes_cannot_share_a_kind():
    with pytest.raises(TypeError, match="Other has the kind 'ramp', which is that of Ramp"):

        class Other(Numeric):
            kind: ClassVar[str] = "ramp"

    assert KINDS["ramp"] is Ramp
    assert next(iter(KINDS.values())) is Given


class Steeper(Aggregator):
    """A rule of its own: the power of gcd, doubled."""

    def numbers(self, andness, n):
        mean, product, power = super().numbers(andness, n)
        return mean, product, 2.0 * power


@pytest.fixture
def rules():
    AGGREGATORS["late"] = Aggregator("late", knee=0.9)
    AGGREGATORS["steeper"] = Steeper("steeper", knee=0.5)
    yield
    del AGGREGATORS["late"], AGGREGATORS["steeper"]


@pytest.mark.usefixtures("rules")
@pytest.mark.parametrize("rule", ["late", "steeper"])
def test_a_new_aggregator_works_everywhere(rule, tmp_path):
    tree = Tree(
        Gate([Leaf("warm", BELL), Not(Leaf("loud", Sigmoid(4, 1, 0.5))), Leaf("dry", Given(0.5))], 0.8, None, rule)
    )
    columns = {**table(), "dry": np.random.default_rng(1).random(400)}
    truth = tree.evaluate(columns)
    assert np.abs(truth - Tree(replace_rule(tree.root, "gcd")).evaluate(columns)).max() > 1e-3
    assert f"{rule} 0.8(" in tree.formula()
    assert Tree.parse(tree.formula()) == tree
    tree.save(tmp_path / "model.json")
    assert load(tmp_path / "model.json") == tree
    pytest.importorskip("jsonschema").validate(tree.to_dict(), schema())
    assert python(tree, columns) == pytest.approx(truth.tolist(), abs=1e-12)
    assert f"andness 0.80 {rule}" in str(tree)
    assert edit.simplify(edit.negate(tree, ())).evaluate(columns) == pytest.approx(1.0 - truth, abs=1e-12)


@pytest.mark.usefixtures("rules")
def test_what_a_new_aggregator_does_not_say_raises_and_names_it():
    columns, y = {"a": np.linspace(0, 1, 50), "b": np.linspace(1, 0, 50)}, np.arange(50) % 3 == 0
    edit.refit(Tree(Gate(["a", "b"], 0.8, None, "late")), columns, y)
    with pytest.raises(NotImplementedError, match=r"aggregator 'steeper' .*`slopes`"):
        edit.refit(Tree(Gate(["a", "b"], 0.8, None, "steeper")), columns, y)


def replace_rule(gate, rule):
    return Gate(gate.inputs, gate.andness, gate.weights, rule)
