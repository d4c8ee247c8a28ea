"""The exported JavaScript module says what the library says, in node."""

import json
import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from export_cases import Expected, agree, expected, random_model, seeds, table

import baconlogic
from baconlogic import Decision, Gate, Leaf, Not, Tree, datasets
from baconlogic.core.criteria import Ramp, Sigmoid, Table
from baconlogic.core.decision import Feature, Link
from baconlogic.export._javascript import to_javascript

NODE = shutil.which("node")
pytestmark = pytest.mark.skipif(NODE is None, reason="node is not installed")

TOGETHER = 20  # so many in one process
RUN = """
Error.stackTraceLimit = 0;
import { readFileSync, writeFileSync } from "node:fs";
const [folder, first, end] = [process.argv[2], Number(process.argv[3]), Number(process.argv[4])];
const table = JSON.parse(readFileSync(`${folder}/table.json`, "utf8"));
const names = Object.keys(table);
const rows = table[names[0]].map((_, i) => Object.fromEntries(names.map((name) => [name, table[name][i]])));
for (let k = first; k < end; k++) {
  const model = await import(`${folder}/m${k}.mjs`);
  const found = rows.map((row) => {
    try {
      const truth = [model.truth(row)].flat();
      const chances = model.probabilities ? model.probabilities(row) : [];
      return [0, ...truth, ...chances, model.CLASSES.indexOf(model.decide(row))];
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
      return null;
    }
  });
  const width = Math.max(...found.map((row) => (row ? row.length : 0)));
  const gone = [1, ...Array(Math.max(width - 1, 0)).fill(NaN)];
  writeFileSync(`${folder}/m${k}.bin`, new Float64Array(found.flatMap((row) => row ?? gone)));
}
"""


def node(script, *arguments):
    """Run a script as a module; return what it prints."""
    call = [NODE, "--input-type=module", "-", *map(str, arguments)]
    done = subprocess.run(call, input=script, capture_output=True, text=True, encoding="utf-8", check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout


def answers(folder, models, columns):
    """Run the exports of models over one table in one process; return what each says as `Expected`."""
    for k, model in enumerate(models):
        (folder / f"m{k}.mjs").write_bytes(to_javascript(model).encode("ascii"))
    plain = {name: [None if v is None or v != v else v for v in list(values)] for name, values in columns.items()}
    (folder / "table.json").write_text(json.dumps(plain, allow_nan=False), encoding="utf-8")
    node(RUN, folder, 0, len(models))
    return [said(model, np.fromfile(folder / f"m{k}.bin"), columns) for k, model in enumerate(models)]


def said(model, flat, columns):
    found = flat.reshape(len(next(iter(columns.values()))), -1)
    refused = found[:, 0] == 1
    trees = 1 if isinstance(model, Tree) else len(model.trees)
    width = 0 if isinstance(model, Tree) else len(model.classes)
    if refused.all():
        found = np.full((len(found), 2 + trees + width), np.nan)
    choice = np.where(refused, -1, np.nan_to_num(found[:, -1])).astype(int)
    return Expected(refused, found[:, 1 : 1 + trees], found[:, 1 + trees : 1 + trees + width], choice, None)


@pytest.mark.parametrize("first", seeds(TOGETHER))
def test_javascript_agrees(first, tmp_path):
    these = range(first, first + TOGETHER)
    models = [random_model(seed) for seed in these]
    wrong = {}
    for seed, model, found in zip(these, models, answers(tmp_path, models, table()), strict=True):
        try:
            agree(found, expected(model), within=1e-14)
        except AssertionError as problem:
            wrong[seed] = str(problem)
    assert not wrong


def edges(model, columns, rows=10_000):
    """Return rows drawn from columns of numbers, with the marks of the criteria, their neighbours and gaps in them."""
    rng = np.random.default_rng(3)
    drawn = {name: rng.choice(np.asarray(values, dtype=float), rows) for name, values in columns.items()}
    for tree in (model,) if isinstance(model, Tree) else model.trees:
        for _, node in tree.walk():
            if isinstance(node, Leaf):
                marks = np.array(node.criterion.bends)
                marks = np.concatenate([marks, np.nextafter(marks, np.inf), np.nextafter(marks, -np.inf)])
                some = rng.random(rows) < 0.3
                drawn[node.feature][some] = rng.choice([*marks, 0.0, 1e300, -1e300, np.nan], some.sum())
    return drawn


def test_the_model_of_the_documents_agrees(tmp_path):
    model = baconlogic.load(Path(__file__).parents[2] / "docs" / "malignant.json")
    data = datasets.breast_cancer()
    columns = edges(model, dict(zip(data.feature_names, data.X.T, strict=True)))
    agree(answers(tmp_path, [model], columns)[0], expected(model, columns), within=1e-14)


def test_a_rule_for_houses_agrees(tmp_path):
    cheap, large = Ramp([(200_000, 1), (400_000, 0)], unit="$"), Sigmoid(1800, 0.004, missing=0.3, unit="sq ft")
    rooms = Gate([Leaf("bed", Ramp([(1, 0), (4, 1)])), Leaf("bath", Ramp([(1, 0), (3, 1)]))], "HC+", [0.7, 0.3])
    model = Tree(Gate([Leaf("price", cheap), Gate([rooms, Leaf("house_size", large)], "SD")], "C", [0.6, 0.4]))
    rng = np.random.default_rng(1)
    most = {"price": 9e5, "bed": 8, "bath": 6, "acre_lot": 5, "house_size": 5000, "zip_code": 1e5}
    assert tuple(most) == datasets.HOUSE_FEATURES
    columns = edges(model, {name: rng.random(2000) * top for name, top in most.items()})
    agree(answers(tmp_path, [model], columns)[0], expected(model, columns), within=1e-14)


def asked(tmp_path, model, expressions, **options):
    """Return what JavaScript expressions over the module `m` give, or the name of the error they end in."""
    (tmp_path / "model.mjs").write_bytes(to_javascript(model, **options).encode("ascii"))
    tried = ", ".join(f"() => ({expression})" for expression in expressions)
    script = f"""
        import * as m from {json.dumps((tmp_path / "model.mjs").as_uri())};
        console.log(JSON.stringify([{tried}].map((f) => {{
          try {{ return f(); }} catch (e) {{ return `${{e.name}}: ${{e.message}}`; }}
        }})));"""
    return json.loads(node(script))


@pytest.mark.parametrize("seed", [0, 9, 4, 13, 22, 30])
def test_a_trace_has_the_truth_of_every_node(seed, tmp_path):
    model = random_model(seed)
    trees = (model,) if isinstance(model, Tree) else model.trees
    rows = np.flatnonzero(~expected(model).refused)[:50]
    columns = {name: [values[i] for i in rows] for name, values in table().items()}
    plain = [{name: None if v[i] is None or v[i] != v[i] else v[i] for name, v in columns.items()} for i in range(50)]
    traces = asked(tmp_path, model, [f"m.trace({json.dumps(row)})" for row in plain], trace=True)
    said = [tree.evaluate(columns, nodes=True) for tree in trees]
    order = [(k, path) for k, truths in enumerate(said) for path in truths]
    assert all([(node["tree"], tuple(node["path"])) for node in trace["nodes"]] == order for trace in traces)
    found = np.array([[node["truth"] for node in trace["nodes"]] for trace in traces])
    assert np.abs(found.T - [truth for truths in said for truth in truths.values()]).max() <= 1e-14
    assert all(trace["truth"] == [n["truth"] for n in trace["nodes"] if not n["path"]] for trace in traces)
    if not isinstance(model, Tree):
        assert [trace["decision"] for trace in traces] == model.predict(columns).tolist()
        chances = np.array([trace["probabilities"] for trace in traces])
        assert np.abs(chances - model.predict_proba(columns)).max() <= 1e-12
    else:
        assert all("probabilities" not in trace for trace in traces)


def test_values_are_read_as_the_library_reads_them(tmp_path):
    leaves = [Leaf("n", Ramp([(0, 0), (10, 1)])), Leaf("c", Table({"1": 1, "b": 0}, 0.25, missing=0.75))]
    whole = Leaf("w", Table({1: 1, 2: 0.5, 2**60: 0.125, 2**60 + 1: 0}))
    model = Tree(Gate([*leaves, whole], "A"))
    cases = {
        "{n: 5, c: '1', w: 1}": 2.5,
        "{n: 5n, c: 'b', w: true}": 1.5,
        "{n: true, c: 'z', w: 2.0}": 0.85,
        "{n: 5, c: null, w: 2n}": 1.75,
        "{n: Infinity, c: undefined, w: 1}": 2.75,
        "{n: 0, c: NaN, w: 2 ** 60}": 0.875,
        "{n: 0, c: 'b', w: 2n ** 60n + 1n}": 0.0,
        'JSON.parse(\'{"n": -0.0, "c": "b", "w": 1}\')': 1.0,
        "{n: '5', c: 'b', w: 1}": 'RangeError: "n" is "5", not a number',
        "{n: 10n ** 400n, c: 'b', w: 1}": "RangeError",
        "{n: {}, c: 'b', w: 1}": 'RangeError: "n" is an object, not a number',
        "{n: null, c: 'b', w: 1}": "RangeError",
        "{n: 5, c: 1, w: 1}": 'RangeError: "c" is 1, not text',
        "{n: 5, c: 'b', w: '1'}": 'RangeError: "w" is "1", not a whole number',
        "{n: 5, c: 'b', w: 3}": "RangeError",
        "{n: 5, c: 'b', w: 1.5}": "RangeError",
        "{n: 5, c: 'b'}": 'RangeError: missing column "w"',
        "Object.create({n: 5, c: 'b', w: 1})": 'RangeError: missing column "n"',
        "null": "TypeError",
    }
    found = asked(tmp_path, model, [f"m.truth({row})" for row in cases])
    for (row, said), truth in zip(cases.items(), found, strict=True):
        if isinstance(said, str):
            assert str(truth).startswith(said), row
        else:
            assert abs(truth * 3 - said) < 1e-14, row


def test_a_column_of_numbers_may_hold_categories_too(tmp_path):
    model = Tree(Gate([Leaf("n", Ramp([(0, 0), (4, 1)], missing=0)), Leaf("n", Table({1: 1, 2: 0}, missing=1))], "A"))
    found = asked(tmp_path, model, [f"m.truth({{n: {n}}})" for n in ("1", "2", "null", "true", "3")])
    assert found[:4] == [0.625, 0.25, 0.5, 0.625]
    assert found[4].startswith("RangeError")


def test_labels_keep_their_kind(tmp_path):
    for classes in [(2**60, 7), (False, True), (1.5, -2.0), ("</script>", "ünï")]:
        model = Decision((Tree(Leaf("a")),), (Link(4.0, 0.5),), classes, (Feature("a", "truth"),))
        said = asked(tmp_path, model, [f"m.CLASSES.indexOf(m.decide({{a: {a}}}))" for a in (0.2, 0.5, 0.7)])
        assert said == [0, 0, 1]
        kinds = asked(tmp_path, model, ["m.CLASSES.map(String)", "m.THRESHOLD", "m.FEATURES"])
        assert kinds[0] == [
            str(c).lower() if isinstance(c, bool) else f"{c:g}" if isinstance(c, float) else str(c) for c in classes
        ]
        assert kinds[1:] == [0.5, ["a"]]


def test_one_class_needs_no_row_and_constants_are_frozen(tmp_path):
    model = Decision((), (), ("only",), (Feature("a", "number"),))
    found = asked(
        tmp_path, model, ["m.decide({})", "m.probabilities({})", "m.truth({})", "m.trace", "m.CLASSES.push(1)"]
    )
    assert found[:3] == ["only", [1], []]
    assert found[3] is None
    assert found[4].startswith("TypeError")


def test_a_deep_chain_is_exported(tmp_path):
    node_, inputs = Leaf("x0"), 3000
    for i in range(1, inputs + 1):
        node_ = Gate([Not(node_) if i % 7 == 0 else node_, Leaf(f"x{i % 50}")], "HC-" if i % 2 else "SD+")
    model = Tree(node_)
    row = {f"x{i}": (i * 37 % 50) / 50 for i in range(50)}
    found = asked(tmp_path, model, [f"m.truth({json.dumps(row)})"])[0]
    assert abs(found - model.evaluate({name: [value] for name, value in row.items()})[0]) <= 1e-14


def test_the_text_is_plain_and_may_stand_in_a_page():
    nasty = "</script><!-- \u2028 \U0001f642 \x7f --> */ ${x} \\"
    model = Decision(
        (
            Tree(
                Gate(
                    [Leaf(nasty, Table({nasty: 1, "b": 0})), Leaf("n", Ramp([(0, 0), (1, 1)], unit=nasty))],
                    "C",
                    name=nasty,
                )
            ),
        ),
        (Link(4.0, 0.5),),
        (nasty, "b"),
        (Feature(nasty, "category"), Feature("n", "number")),
    )
    text = to_javascript(model, trace=True)
    assert text.isascii()
    assert re.fullmatch(r"[\n -~]*", text)
    assert "</" not in text
    assert "<!" not in text
