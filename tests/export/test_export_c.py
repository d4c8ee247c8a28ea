"""The exported C says what the library says, compiles without a warning, and no name breaks it."""

import ctypes
import math
import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from export_cases import Expected, agree, expected, random_model, seeds, table

from baconlogic import Decision, Gate, Leaf, Tree, datasets, load
from baconlogic.core.criteria import Given, Ramp, Sigmoid, Table
from baconlogic.core.decision import Feature, Link
from baconlogic.export._c import to_c
from baconlogic.export._compile import program
from baconlogic.export._cost import cost

CC = shutil.which("gcc") or shutil.which("cc")
ROOT = Path(__file__).parents[2]
STRICT = ["-Wall", "-Wextra", "-Werror", "-std=c99", "-pedantic", "-Wshadow", "-Wconversion", "-Wfloat-equal"]
needs_cc = pytest.mark.skipif(CC is None, reason="no C compiler here")
TYPES = {"double": np.float64, "float": np.float32}


def compiled(sources, folder, *flags):
    """Return a shared library of several exports, compiled as two files at once."""
    running = []
    parts = range(min(2, len(sources)))
    for k in parts:
        part = folder / f"part{k}.c"
        for source in sources[k::2]:
            source.save(folder)
        part.write_text("".join(f'#include "{each.name}.c"\n{_runner(each)}' for each in sources[k::2]))
        command = [CC, *STRICT, "-O0", "-fPIC", *flags, "-c", str(part), "-o", str(folder / f"part{k}.o")]
        running.append(subprocess.Popen(command))
    ended = [process.wait() for process in running]
    assert not any(ended)
    objects = [str(folder / f"part{k}.o") for k in parts]
    subprocess.run([CC, "-shared", *objects, "-o", str(folder / "all.so"), "-lm"], check=True)
    return ctypes.CDLL(str(folder / "all.so"))


def _runner(source):
    """Return C that runs all functions over an array of rows."""
    name, real = source.name, "float" if re.search(r"^float |float out", source.header, re.MULTILINE) else "double"
    sizes = dict(re.findall(rf"#define {name.upper()}_(\w+) (\d+)", source.header))
    trees, classes, nodes = (int(sizes.get(key, 0)) for key in ("TREES", "CLASSES", "NODES"))
    lines = []
    if trees == 1:
        lines.append(f"truths[i] = {name}_truth(in + i);")
    elif trees:
        lines.append(f"{name}_truths(in + i, truths + i * {trees});")
    if f"{name}_probabilities" in source.header:
        lines.append(f"{name}_probabilities(in + i, chances + i * {classes});")
    if f"{name}_probability(" in source.header:
        lines.append(f"second[i] = {name}_probability(in + i);")
    if nodes:
        lines.append(f"{name}_trace(in + i, nodes + i * {nodes});")
    head = f"void {name}_all(const struct {name}_input *in, long rows, {real} *truths, {real} *chances, {real} *second,"
    unused = "".join(f"    (void){one};\n" for one in ("truths", "chances", "second", "nodes"))
    return (
        f'#include "{name}.h"\n{head} {real} *nodes, int *choice);\n{head} {real} *nodes, int *choice)\n{{\n{unused}'
        f"    for (long i = 0; i < rows; i++) {{\n        {' '.join(lines)}\n"
        f"        choice[i] = {name}_decide(in + i);\n    }}\n}}\n"
    )


def run(library, source, made, columns, real="double"):
    """Return what the compiled functions say of each row, and the truths of all nodes."""
    kept = []
    dtype = TYPES[real]
    rows = len(next(iter(columns.values())))
    fields = [(f"f{i}", np.uintp if each.kind == "text" else dtype) for i, each in enumerate(made.inputs)]
    packed = np.zeros(rows, dtype=np.dtype(fields or [("unused", "i1")], align=True))
    for i, each in enumerate(made.inputs):
        values = columns[each.feature]
        if each.kind == "text":
            known = {v: ctypes.create_string_buffer(v.encode()) for v in set(values) if v is not None}
            kept.append(known)
            packed[f"f{i}"] = [0 if v is None else ctypes.addressof(known[v]) for v in values]
        else:
            with np.errstate(over="ignore"):
                packed[f"f{i}"] = np.array([math.nan if v is None else v for v in values], dtype=float)
    sizes = len(made.truths), len(made.classes), 1, len(made.spots)
    found = [np.zeros((rows, size), dtype=dtype) for size in sizes]
    choice = np.full(rows, -7, dtype=np.intc)
    arrays = [array.ctypes.data_as(ctypes.c_void_p) for array in (*found, choice)]
    getattr(library, f"{source.name}_all")(packed.ctypes.data_as(ctypes.c_void_p), ctypes.c_long(rows), *arrays)
    truths, chances, second, nodes = (array.astype(float) for array in found)
    if len(made.probabilities) == 2:
        assert np.array_equal(second[:, 0], chances[:, 1], equal_nan=True)
    return Expected(None, truths, chances, choice, made.classes), nodes


TOGETHER = 20  # so many in one library
TRACED = range(0, 200, 25)


def some_models(first, folder, columns, real, within):
    """Assert that each random model says in C what it says here."""
    these = range(first, first + TOGETHER)
    sources = [to_c(random_model(seed), name=f"m{seed}", real=real, trace=seed in TRACED) for seed in these]
    library = compiled(sources, folder)
    for seed, source in zip(these, sources, strict=True):
        model = random_model(seed)
        made, said = program(model, trace=seed in TRACED), expected(model, columns)
        found, nodes = run(library, source, made, columns, real)
        try:
            agree(found, said, within)
            if seed in TRACED:
                check_nodes(model, made, nodes, said.refused, columns, within)
        except AssertionError as wrong:
            raise AssertionError(f"model {seed}: {wrong}") from wrong


def check_nodes(model, made, nodes, refused, columns, within):
    trees = (model,) if isinstance(model, Tree) else model.trees
    kept = {name: [v for v, no in zip(values, refused, strict=True) if not no] for name, values in columns.items()}
    assert np.isnan(nodes[refused]).all()
    assert [(spot.tree, spot.path) for spot in made.spots] == [(k, p) for k, t in enumerate(trees) for p, _ in t.walk()]
    for spot, truths in zip(made.spots, nodes[~refused].T, strict=True):
        part = Tree(dict(trees[spot.tree].walk())[spot.path])
        assert np.abs(part.evaluate(kept) - truths).max(initial=0.0) <= within


@needs_cc
@pytest.mark.parametrize("first", seeds(TOGETHER))
def test_c_agrees_with_the_library(first, tmp_path):
    some_models(first, tmp_path, table(), "double", 1e-12)


@needs_cc
@pytest.mark.parametrize("first", seeds(TOGETHER))
def test_c_in_single_precision_agrees(first, tmp_path):
    columns = {}
    for name, values in table().items():
        if name[0] in "ng":
            with np.errstate(over="ignore"):  # 1e150 is infinite here
                columns[name] = values.astype(np.float32).astype(float)
        else:
            columns[name] = values
    some_models(first, tmp_path, columns, "float", 1e-5)


@needs_cc
@pytest.mark.parametrize("real", ["double", "float"])
def test_a_truth_too_small_for_a_float_still_counts(real, tmp_path):
    low, high = Leaf("a", Sigmoid(0.0, 1.0)), Leaf("b", Sigmoid(0.0, -1.0))
    tiny = Gate([low, Leaf("c", Ramp([(0, 1e-60), (1, 1)]))], 0.9, [0.5, 0.5])
    gate = Gate([tiny, Gate([high, Leaf("c", Given())], 0.1, [0.5, 0.5])], 0.8, [0.002, 0.998])
    columns = {"a": np.linspace(-690, 40, 500), "b": np.linspace(40, -690, 500), "c": np.tile([0.0, 0.25], 250)}
    columns = {name: values.astype(np.float32).astype(float) for name, values in columns.items()}
    for k, tree in enumerate((Tree(gate), Tree(Gate([gate, high], 0.2, [0.9, 0.1])))):
        source = to_c(tree, real=real)
        (tmp_path / str(k)).mkdir()
        found, _ = run(compiled([source], tmp_path / str(k)), source, program(tree), columns, real)
        said = tree.evaluate(columns)
        assert (said > 0.2).any()
        assert np.abs(found.truths[:, 0] - said).max() <= (1e-5 if real == "float" else 1e-12)


@needs_cc
@pytest.mark.parametrize("real", ["double", "float"])
def test_a_decision_may_turn_at_0(real, tmp_path):
    """Whether a product is above 0 can be asked of its log, but not where only the truth is known."""
    tree = Tree(Gate([Leaf("a"), Leaf("b")], "CP"))
    model = Decision([tree], [Link(5.0, 0.5)], ("no", "yes"), [Feature("a", "truth"), Feature("b", "truth")], {}, 0.0)
    source, columns = to_c(model, real=real), {"a": np.array([0.0, 0.5]), "b": np.array([1.0, 0.5])}
    found, _ = run(compiled([source], tmp_path), source, program(model), columns, real)
    assert found.choice.tolist() == model.choose(columns).tolist() == [0, 1]


def malignant(rows=10_000):
    """Return the model of 7 leaves, and random and edge rows for it."""
    model = load(ROOT / "benchmarks" / "malignant7.json")
    data = datasets.breast_cancer()
    rng = np.random.default_rng(0)
    columns = {}
    for each in program(model).inputs:
        known = data.X[:, data.feature_names.index(each.feature)]
        values = rng.choice(known, rows) * rng.choice([1.0, 1.0, 1.01, 0.0, -1.0], rows)
        edges = [np.nan, np.inf, -np.inf, 1e308, -1e308, 5e-324, 0.0]
        columns[each.feature] = np.where(rng.random(rows) < 0.1, rng.choice(edges, rows), values)
    return model, columns


@needs_cc
def test_the_malignant_model_is_small_and_clean(tmp_path):
    model, columns = malignant()
    said = expected(model, columns)
    source = to_c(model)
    source.save(tmp_path)
    spelled = {"nan": "NAN", "inf": "INFINITY", "-inf": "-INFINITY"}
    rows = ",\n".join(
        "{" + ", ".join(spelled.get(repr(float(v)), repr(float(v))) for v in row) + "}"
        for row in zip(*columns.values(), strict=True)
    )
    (tmp_path / "main.c").write_text(
        f'#include "model.h"\n#include <math.h>\n#include <stdio.h>\n'
        f"static const struct model_input rows[] = {{{rows}}};\n"
        "int main(void)\n{\n    double p[2];\n    for (int i = 0; i < 10000; i++) {\n"
        "        model_probabilities(&rows[i], p);\n"
        '        printf("%d %.17g %.17g\\n", model_decide(&rows[i]), model_truth(&rows[i]), p[1]);\n'
        "    }\n    return model_class(2) != 0 || model_class(-1) != 0;\n}\n"
    )
    subprocess.run([CC, *STRICT, "-Os", "-c", "model.c"], cwd=tmp_path, check=True)
    size = shutil.which("size")
    if size:
        told = subprocess.run([size, "model.o"], cwd=tmp_path, check=True, capture_output=True, text=True).stdout
        assert int(told.split("\n")[1].split()[0]) < 4096
    for k, flags in enumerate((["-O2"], ["-O1", "-g", "-fsanitize=undefined,address", "-fno-sanitize-recover=all"])):
        command = [CC, "-Wall", "-Wextra", "-Werror", "-std=c99", "-pedantic", *flags, "main.c", "model.c", "-lm"]
        subprocess.run([*command, "-o", f"run{k}"], cwd=tmp_path, check=True)
        lines = subprocess.run([str(tmp_path / f"run{k}")], check=True, capture_output=True, text=True).stdout
        found = np.array([line.split() for line in lines.splitlines()], dtype=float)
        chances = np.column_stack([1.0 - found[:, 2], found[:, 2]])
        agree(Expected(None, found[:, 1:2], chances, found[:, 0], model.classes), said)
    if shutil.which("valgrind"):
        command = ["valgrind", "-q", "--error-exitcode=3", "--leak-check=full", str(tmp_path / "run0")]
        assert subprocess.run(command, capture_output=True, check=False).returncode == 0


@needs_cc
def test_contraction_and_other_modes_change_nothing(tmp_path):
    model, columns = malignant(2000)
    source = to_c(model, trace=True)
    flags = ["-std=gnu11", "-O3", "-march=native", "-ffp-contract=fast"]
    found, _ = run(compiled([source], tmp_path, *flags), source, program(model, trace=True), columns)
    agree(found, expected(model, columns))


@needs_cc
def test_houses_agree(tmp_path):
    tree = Tree.parse(
        "HC(price[1 at 150000, 0 at 600000]: 0.4, D(bed[0 at 1, 1 at 4], bath[half at 2, slope 3]): 0.35, "
        "0.6(acre_lot[0 at 0, 1 at 0.25, 0.4 at 5]: 0.5, house_size[half at 1800, slope 0.004]: 0.5): 0.25)"
    )
    data = datasets.houses("A", rows=9_000, random_state=0)
    rng = np.random.default_rng(1)
    edges = np.array([0.0, -1.0, 0.25, 1e300, -1e300, np.nan, 150000.0, np.nextafter(600000.0, 0.0)])
    columns = {
        name: np.concatenate([data.X[:, i], rng.choice(edges, 1_000)]) for i, name in enumerate(data.feature_names)
    }
    for real, within in (("double", 1e-12), ("float", 1e-5)):
        with np.errstate(over="ignore"):
            rounded = {name: values.astype(TYPES[real]).astype(float) for name, values in columns.items()}
        source = to_c(tree, name=f"house_{real}", real=real)
        (tmp_path / real).mkdir()
        found, _ = run(compiled([source], tmp_path / real), source, program(tree), rounded, real)
        agree(found, expected(tree, rounded), within)


HOSTILE = [
    'a "quoted" name',
    "ends in \\",
    "*/ int broken(void) { /*",
    "// gone",
    "??/",
    "what??/",
    "**//*/*/",
    "two\nlines\\\n",
    "int",
    "double",
    "NAN",
    "NULL",
    "linux",
    "in",
    "out",
    "x0",
    "7 dwarfs",
    "naïve 🙂",
    "🙂",
    "_",
    "__proto__",
    "\x01\x7f",
    "%s%n",
    "A",
    "a",
    "a ",
    "a_2",
    "a" * 300,
    "a" * 299 + "b",
    "</script>",
    "'); DROP TABLE data; --",
    "\u202ereversed",
    "exp",
    "log",
    "t0",
    "1a\\0012",
]


@needs_cc
@pytest.mark.parametrize("real", ["double", "float"])
def test_no_name_breaks_the_code(real, tmp_path):
    leaves = [Leaf(name, Sigmoid(0.5, 3.0, unit=name)) for name in HOSTILE]
    leaves.append(Leaf("kind", Table({name: i / len(HOSTILE) for i, name in enumerate(HOSTILE)}, 0.0, 1.0)))
    leaves.append(Leaf("yes/no", Table({True: 1.0, False: 0.0}, None, 0.5)))
    tree = Tree(Gate(leaves, 0.6, None, "gcd", '*/ "??/'))
    features = [
        *(Feature(name, "number") for name in HOSTILE),
        Feature("kind", "category"),
        Feature("yes/no", "category"),
    ]
    labels = tuple(HOSTILE[:9])
    model = Decision((tree,) * 9, (Link(9.0, 0.5),) * 9, labels, tuple(features), {"rows": 3})
    source = to_c(model, real=real, trace=True)
    made = program(model, trace=True)
    library = compiled([source], tmp_path, "-Wtrigraphs", "-Wcomment")
    rng = np.random.default_rng(0)
    columns = {name: rng.random(200).astype(np.float32).astype(float) for name in HOSTILE}
    columns |= {"kind": [*HOSTILE, None, "a\\", "?", "\\?\\?/"] * 5, "yes/no": [True, False, None, 1, 0] * 40}
    found, _ = run(library, source, made, columns, real)
    agree(found, expected(model, columns), 1e-5 if real == "float" else 1e-12)
    library.model_class.restype = ctypes.c_char_p
    assert [library.model_class(k).decode() for k in range(9)] == list(labels)
    assert library.model_class(9) is None
    fields = re.findall(r"(?:double|float|\*) ?(\w+); /\*", source.header)
    assert len(fields) == len(set(fields)) == len(HOSTILE) + 2
    if shutil.which("g++"):
        command = ["g++", "-x", "c++", "-std=c++11", "-Wall", "-Wextra", "-Werror", "-fsyntax-only"]
        subprocess.run([*command, str(tmp_path / "model.c")], check=True)


def chain(gates):
    """Return a tree as deep as it has gates."""
    node = Leaf("a", Sigmoid(0.0, 1.0))
    for k in range(gates):
        node = Gate([node, Leaf(f"b{k % 7}", Given(0.5))], (0.4, 0.9, 0.55, 1.0)[k % 4], [0.999, 0.001])
    return Tree(node)


@needs_cc
@pytest.mark.slow
def test_a_chain_of_thousands_of_gates_and_a_decision_without_a_tree(tmp_path):
    assert to_c(chain(3_000)).source.count("\n") > 3_000
    long, short = chain(500), chain(100)
    only = Decision((), (), ("only",), ())
    sources = [to_c(long, name="chain"), to_c(short, name="single", real="float"), to_c(only, name="only")]
    library = compiled(sources, tmp_path)
    columns = {"a": np.linspace(-3, 3, 50).astype(np.float32).astype(float)}
    columns |= {f"b{k}": np.tile([0.0, 0.5, 1.0, np.nan, 0.25], 10) for k in range(7)}
    cases = (sources[0], long, "double", 1e-11), (sources[1], short, "float", 1e-5)
    for source, tree, real, within in cases:
        found, _ = run(library, source, program(tree), columns, real)
        assert np.abs(found.truths[:, 0] - tree.evaluate(columns)).max() <= within
    found, _ = run(library, sources[2], program(only), {"a": [1.0]})
    assert found.choice.tolist() == [0]
    assert found.probabilities.tolist() == [[1.0]]


def test_what_c_cannot_hold_is_refused():
    tree = Tree("a")
    for name in ("", "1a", "a b", "int", "a" * 41, 'x"', None):
        with pytest.raises(ValueError, match="name in C"):
            to_c(tree, name=name)
    with pytest.raises(ValueError, match="'double' or 'float'"):
        to_c(tree, real="half")
    with pytest.raises(ValueError, match="NUL"):
        to_c(Tree(Leaf("a", Table({"x\0y": 1.0, "z": 0.0}))))
    large = Tree(Leaf("a", Table({2**24 + 1: 1.0, 0: 0.0})))
    to_c(large)
    with pytest.raises(ValueError, match="use text"):
        to_c(large, real="float")
    with pytest.raises(ValueError, match="use text"):
        to_c(Tree(Leaf("a", Table({2**53 + 2: 1.0, 0: 0.0}))))
    for far in (Sigmoid(1e40, 1.0), Sigmoid(0.0, 1e-39), Ramp([(0, 0), (1e39, 1)])):
        to_c(Tree(Leaf("a", far)))
        with pytest.raises(ValueError, match="single precision"):
            to_c(Tree(Leaf("a", far)), real="float")


def test_nothing_is_kept_between_calls_and_little_is_included():
    for real in ("double", "float"):
        for seed in range(8):
            source = to_c(random_model(seed), real=real, trace=True).source
            assert set(re.findall(r"#include <(.*)>", source)) <= {"math.h", "stddef.h", "string.h"}
            assert "malloc" not in source
            assert not re.search(r"^static (?!.*\()", source, re.MULTILINE)
            assert not re.search(r"^ +static (?!const char \*const)", source, re.MULTILINE)
            code = re.sub(r"/\*.*?\*/", "", source, flags=re.DOTALL)
            assert real == "double" or not re.search(r"\bdouble\b|\b(exp|log|fabs)\(", code)


def test_cost_counts_what_is_worked_out():
    told = cost(Tree.parse("a[half at 1, slope 2]"), measure=False)
    assert (told.exponentials, told.logarithms, told.c_ns) == (1, 0, None)
    assert told.bytes["python"] > 0
    assert told.bytes["c"] > 0
    assert f"at most {told.operations} operations" in str(told)
    assert told.to_dict()["exponentials"] == 1


@needs_cc
def test_cost_is_measured_where_a_compiler_is():
    for seed in (0, 2, 6, 7, 9):
        told = cost(random_model(seed))
        assert told.c_ns is not None
        assert 0.0 < told.c_ns < 1e5
        assert f"{told.c_ns:.0f} ns" in told.line()
