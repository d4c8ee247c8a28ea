"""The exported ONNX graph says what the library says, in onnxruntime."""

import json
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import pytest
from export_cases import Expected, agree, expected, random_model, seeds, table

from baconlogic import Decision, Gate, Leaf, Not, Tree, load
from baconlogic.core.criteria import Given, Ramp, Sigmoid, Table
from baconlogic.core.decision import Feature, Link
from baconlogic.export._onnx import to_onnx

WITHIN = 1e-12  # the promise is 1e-5; all arithmetic is in double, so this is what is seen


def session(graph):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    return onnxruntime.InferenceSession(graph.SerializeToString(), options, providers=["CPUExecutionProvider"])


def told(graph):
    return {entry.key: json.loads(entry.value) for entry in graph.metadata_props}


def feed(graph, columns, rows):
    """Return the inputs of a graph for a table by column."""
    texts, found = told(graph)["missing_text"], {}
    for entry in graph.graph.input:
        kind = entry.type.tensor_type.elem_type
        if entry.name not in columns:
            found[entry.name] = np.zeros((rows, 1))
        elif kind == onnx.TensorProto.STRING:
            values = [texts[entry.name] if v is None else v for v in columns[entry.name]]
            found[entry.name] = np.array(values, dtype=object)[:, None]
        else:
            real = np.float32 if kind == onnx.TensorProto.FLOAT else np.float64
            found[entry.name] = np.array(columns[entry.name], dtype=real)[:, None]
    return found


def run(model, columns, **options):
    """Return what onnxruntime says of each row."""
    graph = to_onnx(model, **options)
    onnx.checker.check_model(graph, full_check=True)
    rows = len(next(iter(columns.values())))
    runner = session(graph)
    answers = runner.run(None, feed(graph, columns, rows))
    found = dict(zip([entry.name for entry in runner.get_outputs()], answers, strict=True))
    places = {label: k for k, label in enumerate(told(graph)["classes"])}
    assert found["label"].shape == (rows,)
    choice = np.array([places.get(label, -1) for label in found["label"].tolist()])
    truths = found.get("truth", np.zeros((rows, 0)))
    return Expected(choice == -1, truths, found.get("probabilities"), choice, tuple(places))


def used(model, columns):
    """Return the columns that a model reads, or one where it reads none."""
    trees = (model,) if isinstance(model, Tree) else model.trees
    names = {node.feature for tree in trees for _, node in tree.walk() if isinstance(node, Leaf)}
    return {name: columns[name] for name in sorted(names) or list(columns)[:1]}


def check(model, columns, within=WITHIN, **options):
    columns = used(model, columns)
    said, found = expected(model, columns), run(model, columns, **options)
    agree(found, said, within)
    assert np.array_equal(found.refused, said.refused)
    assert found.truths.dtype == np.float64
    if found.probabilities is not None:
        assert np.array_equal(np.isnan(found.probabilities).all(axis=1), said.refused)
    return found


@pytest.mark.parametrize("first", seeds(10))
def test_onnx_agrees(first):
    for seed in range(first, first + 10):
        try:
            check(random_model(seed), table())
        except AssertionError as problem:
            raise AssertionError(f"model {seed}") from problem


def test_numbers_may_go_in_as_floats():
    columns = {f"n{i}": np.float32(np.linspace(-15 + i, 25, 1000)) for i in range(3)}
    tree = Tree(Gate([Leaf("n0", Sigmoid(3.3, 2.1)), Not(Leaf("n1", Ramp([(0.1, 0), (9.7, 1)]))), Leaf("n2")], 0.7))
    tree = tree.replace((2,), Leaf("n2", Sigmoid(1.0, -50.0, missing=0.2)))
    columns["n2"][::7] = np.nan
    kinds = {entry.type.tensor_type.elem_type for entry in to_onnx(tree, real="float").graph.input}
    assert kinds == {onnx.TensorProto.FLOAT}
    check(tree, columns, real="float")
    with pytest.raises(ValueError, match="real must be 'double' or 'float', got 'half'"):
        to_onnx(tree, real="half")


def test_a_tumour_model_agrees_on_all_patients_and_on_edges():
    sklearn = pytest.importorskip("sklearn.datasets")
    model = load(Path(__file__).parents[2] / "docs" / "malignant.json")
    X = sklearn.load_breast_cancer().data
    rng = np.random.default_rng(0)
    low, high = X.min(axis=0), X.max(axis=0)
    edges = rng.choice([0.0, -1.0, 1e-9, 1e6, 1e300], (1000, X.shape[1]))
    rows = np.concatenate([X, low + (high - low) * rng.uniform(-0.5, 1.5, (9000, X.shape[1])), edges])
    check(model, {feature.name: rows[:, i] for i, feature in enumerate(model.features)})


def house_rule():
    """Return a rule over the columns of the houses: affordable and large enough, in a good place if possible."""
    size = Gate([Leaf("bed", Ramp([(1, 0), (4, 1)], missing=0.3)), Leaf("house_size", Sigmoid(1500, 0.004, 0.0))], 0.3)
    place = Leaf("zip_code", Table({601: 1.0, 602: 0.7, 10001: 0.2}, other=0.4, missing=0.5))
    cheap = Leaf("price", Ramp([(2e5, 1.0), (4e5, 0.5), (9e5, 0.0)]))
    return Tree(Gate([cheap, Gate([size, Not(Leaf("acre_lot", Sigmoid(2.0, 3.0, 0.5))), place], 0.6)], 0.9, [0.6, 0.4]))


def test_a_house_rule_agrees():
    rng, rows = np.random.default_rng(1), 10_000
    columns = {
        "price": rng.choice([*rng.uniform(0, 1e6, rows), 2e5, 4e5, 9e5], rows),
        "bed": rng.choice([0.0, 1, 2, 3, 4, 5, 123, np.nan], rows),
        "house_size": rng.choice([*rng.lognormal(7.5, 1, rows), np.nan, 0.0], rows),
        "acre_lot": rng.choice([*rng.lognormal(-1, 2, rows), np.nan, 1e5], rows),
        "zip_code": [[601, 602, 10001, 7, -1, None][i] for i in rng.integers(0, 6, rows)],
    }
    columns["price"][:50] = np.nan
    check(house_rule(), columns)


STRANGE = [
    "label", "truth", "probabilities", "v", "v1", "vevery", "v_", "rows", "decision", "", "'); DROP TABLE x; --",
    'quote "', "new\nline", "back\\", "??/", "*/ //", "</script>", "naïve 🙂", "\x01\x7f", "__proto__", "0", "x" * 300,
    "a b", "a_b", "a\tb", "=1+1",
]  # fmt: skip


def test_strange_names_stay_as_they_are():
    names = [name for name in STRANGE if name]
    leaves = [Leaf(name, Given(0.3)) for name in names]
    categories = Leaf("colour", Table({name: i / len(STRANGE) for i, name in enumerate(STRANGE)}, None, 0.9))
    tree = Tree(Gate([*leaves, categories], 0.4, name="*/"))
    rng, rows = np.random.default_rng(2), 500
    columns = {name: rng.random(rows) for name in names}
    columns["colour"] = [[*STRANGE, None, "unseen", "label "][i] for i in rng.integers(0, len(STRANGE) + 3, rows)]
    model = Decision((tree,), (Link(20, 0.4),), ("<no answer>", ""), tuple(Feature(n, "number") for n in columns))
    graph = to_onnx(model)
    onnx.checker.check_model(graph, full_check=True)
    runner = session(graph)
    assert [entry.name for entry in runner.get_inputs()] == [*names, "colour"]
    assert [entry.name for entry in runner.get_outputs()] == ["truth_", "probabilities_", "label_"]
    truth, _, label = runner.run(None, feed(graph, columns, rows))
    said = expected(model, columns)
    agree(Expected(None, truth, _, np.where(said.refused, -1, label == ""), ()), said)
    assert set(label[said.refused]) == {told(graph)["no_answer"]} == {"<no answer>."}


def test_the_empty_text_is_missing_unless_a_table_lists_it():
    plain = Tree(Leaf("c", Table({"red": 1.0}, 0.25, 0.5)))
    found = run(plain, {"c": ["red", "", None, "blue", "<missing>"]})
    assert found.truths[:, 0].tolist() == [1.0, 0.5, 0.5, 0.25, 0.25]
    listed = Tree(Leaf("c", Table({"red": 1.0, "": 0.25}, 0.25, 0.5)))  # "" as true as any other, and yet not missing
    found = run(listed, {"c": ["red", "", None, "blue", "<missing>"]})
    assert found.truths[:, 0].tolist() == [1.0, 0.25, 0.5, 0.25, 0.5]
    assert told(to_onnx(plain))["missing_text"] == {"c": ""}
    assert told(to_onnx(listed))["missing_text"] == {"c": "<missing>"}


@pytest.mark.parametrize(
    ("classes", "answers", "none"),
    [
        (("no", "yes"), ["no", "yes"], ""),
        ((False, True), [0, 1], -1),
        ((-1, 1), [-1, 1], -4),
        ((1.5, 2), ["1.5", "2"], ""),
        (("1", 1), ["'1'", "1"], ""),
        ((0, 2**64), ["0", str(2**64)], ""),
        (("", "naïve 🙂"), ["", "naïve 🙂"], "<no answer>"),
    ],
)
def test_labels_are_whole_numbers_or_text(classes, answers, none):
    tree = Tree(Leaf("g", Given()))
    graph = to_onnx(Decision((tree,), (Link(10, 0.5),), classes, (Feature("g", "truth"),)))
    label = session(graph).run(["label"], {"g": np.array([[0.2], [0.9], [np.nan], [1.1]])})[0]
    assert label.tolist() == [*answers, none, none]
    assert told(graph)["classes"] == answers
    assert told(graph)["no_answer"] == none


def test_one_class_answers_as_many_rows_as_come():
    model = Decision((), (), ("only",), (Feature("a", "number"),))
    found = run(model, {"a": [1.0, np.nan, 3.0]})
    assert found.choice.tolist() == [0, 0, 0]
    assert found.probabilities.tolist() == [[1.0]] * 3


def test_a_constant_truth_has_a_row_for_each_row():
    found = run(Tree(Leaf("c", Table({"a": 0.25, "b": 0.25}, 0.25, 0.25))), {"c": ["a", "z", None]})
    assert found.truths.tolist() == [[0.25]] * 3


def test_a_column_may_be_read_as_numbers_and_as_categories():
    leaves = [Leaf("x", Ramp([(0, 0), (4, 1)], missing=0.2)), Leaf("x", Table({1: 1.0, 3: 0.5, 4: 0.7}, 0.0, 0.6))]
    check(Tree(Gate(leaves, 0.6)), {"x": np.array([0.0, 1.0, 1.5, 3.0, 4.0, 7.0, np.nan, 2.0**60])})


def test_no_rows_give_no_answers():
    found = run(random_model(2), {name: values[:0] for name, values in table().items()})
    assert len(found.truths) == len(found.probabilities) == 0


def test_whole_numbers_that_doubles_cannot_tell_apart_are_refused():
    with pytest.raises(ValueError, match="up to 2\\*\\*53"):
        to_onnx(Tree(Leaf("id", Table({2**53: 1.0}, 0.0))))


def chain(gates, points=3):
    node = Leaf("n0", Ramp([(float(x), (x % 3) / 2) for x in range(points)]))
    for k in range(gates):
        node = Gate([node, Leaf(f"n{k % 6}", Sigmoid(k / 100, 0.1, 0.5))], 0.5 + 0.1 * (k % 3))
    return Tree(node)


def test_a_chain_of_1500_gates_from_a_ramp_of_1000_points_exports():
    graph = to_onnx(chain(1500, 1000))
    onnx.checker.check_model(graph, full_check=True)
    assert len(graph.graph.node) < 100_000


def test_a_chain_of_100_gates_from_a_ramp_of_100_points_agrees():
    check(chain(100, 100), table())


def test_the_model_says_where_it_comes_from():
    graph = to_onnx(random_model(3))
    assert graph.producer_name == "baconlogic"
    assert "A graded-logic decision" in graph.doc_string
    assert [(entry.domain, entry.version) for entry in graph.opset_import] == [("", 13), ("ai.onnx.ml", 2)]
    assert graph.ir_version == 7
