"""The exported Python file says what the library says, on a bare interpreter."""

import ast
import math
import subprocess
import sys
from functools import cache

import numpy as np
import pytest
from export_cases import Expected, agree, expected, random_model, seeds, table

from baconlogic import Gate, Leaf, Tree
from baconlogic.core.criteria import Ramp, Sigmoid, Table
from baconlogic.export import to_python

EVERY = 5  # of the rows: probability and answer are worked out from the truth, which is compared in all


@cache
def rows():
    columns = table()
    return [dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)]


def module_of(model, **options):
    module = {}
    exec(compile(to_python(model, **options), "exported", "exec"), module)  # noqa: S102
    return module


def answers(function, of, refused):
    found = []
    for row in of:
        try:
            found.append(function(row))
        except ValueError:
            found.append(refused)
    return found


@pytest.mark.parametrize("seed", seeds())
def test_python_agrees(seed):
    model, module = random_model(seed), None
    said, module = expected(model), module_of(model)
    trees, classes = said.truths.shape[1], module["CLASSES"]
    truths = answers(module["truth"], rows(), [np.nan] * trees)
    found = np.array([truth if isinstance(truth, list) else [truth] * trees for truth in truths], dtype=float)
    some = rows()[::EVERY]
    chances = answers(module["probabilities"], some, [np.nan] * len(classes)) if "probabilities" in module else []
    choice = [-1 if label is None else classes.index(label) for label in answers(module["decide"], some, None)]
    thin = Expected(
        said.refused[::EVERY],
        said.truths[::EVERY],
        None if said.probabilities is None else said.probabilities[::EVERY],
        said.choice[::EVERY],
        said.classes,
    )
    kept = ~said.refused
    assert np.array_equal(np.isnan(found).any(axis=1), said.refused) or not trees
    assert np.abs(found[kept] - said.truths[kept]).max(initial=0.0) <= 1e-12
    agree(Expected(None, found[::EVERY], np.array(chances), np.array(choice), classes), thin)


@pytest.mark.parametrize("seed", range(0, 200, 20))
def test_a_trace_has_the_truth_of_every_node(seed):
    model = random_model(seed)
    module, said = module_of(model, trace=True), expected(model)
    row = int(np.flatnonzero(~said.refused)[0])
    found = module["trace"](rows()[row])
    trees = (model,) if isinstance(model, Tree) else model.trees
    for k, tree in enumerate(trees):
        nodes = tree.evaluate([rows()[row]], nodes=True)
        traced = {tuple(each["path"]): each["truth"] for each in found["nodes"] if each["tree"] == k}
        assert traced.keys() == nodes.keys()
        assert all(traced[path] == pytest.approx(truth[0], abs=1e-12) for path, truth in nodes.items())
        assert next(each["path"] for each in found["nodes"] if each["tree"] == k) == []
    assert found["decision"] == said.classes[said.choice[row]]


def test_the_file_runs_on_a_bare_interpreter(tmp_path):
    """Without site-packages there is no baconlogic, numpy or numba to lean on."""
    tree = Tree(Gate([Leaf("radius", Sigmoid(15.0, 0.8)), Leaf("shape")], "HC"))
    (tmp_path / "model.py").write_text(to_python(tree, trace=True), encoding="ascii")
    code = (
        "import sys; sys.path.insert(0, sys.argv[1])\n"
        "import model\n"
        "assert not {'numpy', 'numba', 'baconlogic'} & set(sys.modules)\n"
        "print(repr(model.truth({'radius': 17, 'shape': 0.9})))"
    )
    run = subprocess.run(
        [sys.executable, "-I", "-S", "-c", code, str(tmp_path)], capture_output=True, text=True, check=True
    )
    assert float(run.stdout) == pytest.approx(tree.evaluate({"radius": [17], "shape": [0.9]})[0], abs=1e-15)


def test_math_is_the_only_import():
    imports = [
        node
        for node in ast.walk(ast.parse(to_python(random_model(3), trace=True)))
        if isinstance(node, ast.Import | ast.ImportFrom)
    ]
    assert [node.module for node in imports] == ["math"]


@pytest.mark.parametrize(
    ("value", "problem"),
    [("7", "must be a number"), (None, "missing"), ([1], "must be a number"), (10**400, "must be a number")],
)
def test_what_is_no_number_is_refused(value, problem):
    module = module_of(Tree(Leaf("radius", Sigmoid(15.0, 0.8))))
    with pytest.raises(ValueError, match=problem):
        module["truth"]({"radius": value})


def test_a_category_of_another_kind_is_refused():
    module = module_of(Tree(Leaf("colour", Table({"red": 1.0}, other=0.2))))
    assert module["truth"]({"colour": "blue"}) == 0.2
    with pytest.raises(ValueError, match="must be text"):
        module["truth"]({"colour": 3})


def test_numbers_of_other_libraries_are_taken():
    module = module_of(Tree(Gate([Leaf("size", Sigmoid(15.0, 0.8)), Leaf("rooms", Table({1: 0.1, 2: 0.9}))], "HC")))
    assert module["truth"]({"size": np.float32(17), "rooms": np.int64(2)}) == module["truth"](
        {"size": 17, "rooms": 2.0}
    )


def test_a_column_that_is_not_there_is_an_error():
    with pytest.raises(ValueError, match="missing column 'radius'"):
        module_of(Tree(Leaf("radius", Sigmoid(15.0, 0.8))))["truth"]({"size": 3})


def test_long_ramps_and_tables_make_no_deep_expressions():
    rng = np.random.default_rng(0)
    ramp = Ramp(list(zip(range(3000), rng.random(3000), strict=True)))
    words = Table({f"w{i}": float(t) for i, t in enumerate(rng.random(2000))}, other=0.5, missing=0.1)
    tree = Tree(Gate([Leaf("x", ramp), Leaf("w", words)], "SC"))
    module = module_of(tree)
    for x, word in [(-1.0, "w0"), (17.25, "w1999"), (2998.5, "none"), (5000.0, None)]:
        said = tree.evaluate([{"x": x, "w": word}])[0]
        assert module["truth"]({"x": x, "w": word}) == pytest.approx(said, abs=1e-12)


def test_sigmoids_may_be_as_wide_as_numbers_go():
    tree = Tree(Leaf("x", Sigmoid(0.0, -3e-300)))
    module = module_of(tree)
    for x in (-1e302, -4e300, 1e299, 4e300, 1e308, math.inf):
        assert module["truth"]({"x": x}) == pytest.approx(tree.evaluate([{"x": x}])[0], abs=1e-12)


def test_a_column_read_as_numbers_and_as_whole_categories_may_be_missing():
    tree = Tree(Gate([Leaf("a", Sigmoid(1.0, 1.0, 0.5)), Leaf("a", Table({1: 1.0, 2: 0.3}, missing=0.5))], "HC"))
    module = module_of(tree)
    for value in (1, 2, None):
        assert module["truth"]({"a": value}) == pytest.approx(tree.evaluate([{"a": value}])[0], abs=1e-12)
    with pytest.raises(ValueError, match="does not know"):
        module["truth"]({"a": 3})


def test_truths_too_small_to_hold_count_as_0_to_a_product():
    """Their digits are lost in sums that round differently here and there, and a small exponent would show it."""
    mean = Gate([Leaf("a"), Leaf("b")], 0.6, [0.3, 0.7])
    tree = Tree(Gate([mean, Leaf("c")], "HC", [0.002, 0.998]))
    module = module_of(tree)
    for tiny in (5e-324, 1e-310, 1e-301, 2e-300, 1e-290):
        row = {"a": tiny, "b": 0.0, "c": 1.0}
        assert module["truth"](row) == pytest.approx(tree.evaluate([row])[0], abs=1e-12)
    assert module["truth"]({"a": 1e-301, "b": 0.0, "c": 1.0}) == 0.0


def test_a_column_cannot_be_text_and_numbers():
    tree = Tree(Gate([Leaf("a", Sigmoid(1.0, 1.0)), Leaf("a", Table({"x": 1.0}))], "HC"))
    with pytest.raises(ValueError, match="read as text and as numbers"):
        to_python(tree)
