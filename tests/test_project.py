"""What the project promises about itself: its public names, who imports whom, its README and its demo."""

import ast
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import baconlogic
from baconlogic.core.gcd import gcd

ROOT = Path(__file__).parent.parent
SOURCE = Path(baconlogic.__file__).parent


def run_python(*arguments, cwd=None):
    environment = os.environ | {"PYTHONIOENCODING": "utf-8"}
    command = [sys.executable, *arguments]
    done = subprocess.run(command, check=True, capture_output=True, encoding="utf-8", cwd=cwd, env=environment)
    return done.stdout


def definitions(kind):
    """Return (module, node) of every class or function of the package."""
    for path in sorted(SOURCE.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, kind):
                yield path.relative_to(SOURCE).as_posix(), node


def test_modules_are_named_by_nouns():
    assert [path.name for path in SOURCE.rglob("*.py") if path.stem.endswith("ing")] == []


def test_no_class_name_exists_twice():
    homes = {}
    for module, node in definitions(ast.ClassDef):
        homes.setdefault(node.name.lstrip("_"), []).append(module)
    assert {name: where for name, where in homes.items() if len(where) > 1} == {}


def test_no_function_takes_more_than_seven_positional_parameters():
    many = []
    for module, node in definitions(ast.FunctionDef):
        named = [given.arg for given in node.args.posonlyargs + node.args.args]
        if len(named) - (named[:1] in (["self"], ["cls"])) > 7:
            many.append(f"{module}: {node.name}")
    assert many == []


def test_the_map_names_files_that_exist():
    """CONTRIBUTING says for each ordinary change which one or two files to open."""
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    rows = re.findall(
        r"^\| (.+?) \| (.+?) \|$", text.split("## To change X, open Y")[1].split("\n## ")[0], re.MULTILINE
    )[2:]
    assert len(rows) >= 15
    for change, files in rows:
        named = re.findall(r"`([^`]+)`", files)
        assert 1 <= len(named) <= 2, change
        for name in named:
            assert (ROOT / name).is_file(), f"{change}: {name}"


def test_public_names():
    assert baconlogic.__all__ == [
        "BaconClassifier",
        "Decision",
        "FormulaError",
        "Gate",
        "Leaf",
        "ModelFormatError",
        "Not",
        "Tree",
        "criteria",
        "datasets",
        "edit",
        "explain",
        "export",
        "gcd",
        "load",
        "plot",
        "report",
        "search",
        "thresholds",
    ]
    assert baconlogic.search.__all__ == ["Additive", "Cards", "Growth", "NotAccepted", "Peel", "Sinkhorn"]
    assert baconlogic.explain.__all__[9:] == [
        "alternatives", "attribution", "compare", "counterfactual", "describe", "pruning_curve", "reasons", "trace",
        "unknown",
    ]  # fmt: skip
    assert baconlogic.edit.__all__ == [
        "Change", "EditLog", "Entry", "add", "best_order", "bottom_order", "change", "negate", "prune", "refit",
        "refit_decision", "regroup", "remove", "rename", "reweight", "set_andness", "set_criterion", "simplify", "snap",
    ]  # fmt: skip
    assert baconlogic.thresholds.__all__ == [
        "SCENARIOS", "Scenario", "ScenarioRow", "ScenarioTable", "at_least", "costs", "scenarios",
    ]  # fmt: skip
    assert baconlogic.plot.__all__ == [
        "correlation", "criteria", "frequency", "path", "precision_recall", "pruning_curve", "scenarios", "surfaces",
        "tree", "truths",
    ]  # fmt: skip
    assert baconlogic.export.__all__ == [
        "CSource", "Cost", "cost", "save", "to_c", "to_excel", "to_javascript", "to_latex", "to_onnx", "to_python",
        "to_sql",
    ]  # fmt: skip
    assert baconlogic.report.__all__ == ["check_report", "prompt", "report", "report_schema"]
    public = [name for name in vars(baconlogic.BaconClassifier) if not name.startswith(("_", "set_"))]
    assert sorted(public) == [
        "decision_function", "fit", "predict", "predict_proba", "save", "truth", "with_entry", "with_leaves",
        "with_threshold",
    ]  # fmt: skip
    assert len(baconlogic.BaconClassifier().get_params(deep=False)) <= 20
    public = [name for name in vars(baconlogic.Tree) if not name.startswith("_")]
    assert sorted(public) == [
        "bounds", "depth", "evaluate", "features", "find", "formula", "from_dict", "parse", "replace", "root", "save",
        "to_dict", "walk",
    ]  # fmt: skip
    public = [name for name in vars(baconlogic.Decision) if not name.startswith("_")]
    assert sorted(public) == [
        "choose", "classes", "decision_function", "features", "from_dict", "links", "predict", "predict_proba",
        "provenance", "save", "threshold", "to_dict", "tree", "trees", "truth", "turns_at", "with_tree",
    ]  # fmt: skip


def test_a_tree_and_a_decision_need_numpy_alone(tmp_path):
    """Load, evaluate, bound, draw and save with every other package out of reach."""
    script = f"""
import sys
class Refuse:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in {{"numba", "llvmlite", "narwhals", "scipy", "sklearn", "pandas", "joblib", "sqlglot"}}:
            raise ModuleNotFoundError(name)
sys.meta_path.insert(0, Refuse())
import numpy as np
from baconlogic import Decision, Tree, load
from baconlogic.core.decision import Feature, Link
tree = Tree.parse("HC(a[half at 0, slope 1], HD(b[0 at 0, 1 at 1], not a[half at 3, slope 2]))")
tree.save({str(tmp_path / "model.json")!r})
assert load({str(tmp_path / "model.json")!r}) == tree
str(tree)
tree.bounds({{"a": [np.nan], "b": [1.0]}})
assert tree.evaluate({{"a": np.zeros(10), "b": np.ones(10)}}).shape == (10,)
from baconlogic import edit, explain
case, rows = {{"a": 1.0, "b": 0.5}}, {{"a": np.linspace(-5, 5, 20), "b": np.linspace(0, 1, 20)}}
for ask in explain.trace, explain.reasons, explain.counterfactual, explain.unknown:
    str(ask(tree, case))
labels = tree.evaluate(rows) > 0.5
for ask in explain.attribution, explain.pruning_curve:
    str(ask(tree, rows, labels))
str(explain.describe(tree)) + str(explain.compare(tree, edit.simplify(tree), rows))
log = edit.EditLog(tree, rows, labels)
log.apply("snap")
log.apply("prune", 2)
from baconlogic import export
for to in export.to_python, export.to_c, export.to_javascript, export.to_latex:
    to(tree)
str(export.cost(tree, measure=False))
from baconlogic.report import check_report, prompt
claim = {{"kind": "metric", "name": "accuracy", "value": 1.0}}
told = {{"sections": [{{"title": "Logic", "sentences": [{{"text": "It is right.", "claims": [claim]}}]}}]}}
checked = check_report(told, tree, rows, labels)
assert prompt(tree) and checked.passed and checked.to_markdown() and checked.to_html()
features = [Feature("a", "number"), Feature("b", "number")]
for classes, trees in (("no", "yes"), [tree]), ((1, 2, 3), [tree, Tree("b"), tree]), (("only",), []):
    decision = Decision(trees, [Link(9.0, 0.4)] * len(trees), classes, features, {{"rows": 10}})
    decision.save({str(tmp_path / "decision.json")!r})
    decision = load({str(tmp_path / "decision.json")!r})
    assert decision.classes == classes and str(decision)
    assert decision.predict(np.ones((10, 2))).shape == (10,)
    assert decision.predict_proba({{"a": np.zeros(10), "b": np.ones(10)}}).shape == (10, len(classes))
sys.modules["numba"] = None  # as if not installed
assert tree.evaluate({{"a": np.zeros(200_000), "b": np.ones(200_000)}}).shape == (200_000,)
del sys.modules["numba"]
assert "numba" not in sys.modules and "narwhals" not in sys.modules
"""
    run_python("-c", script)


def test_the_readme_examples_print_what_the_readme_says(tmp_path):
    blocks = re.findall(r"```(python|text)\n(.*?)```", (ROOT / "README.md").read_text(encoding="utf-8"), re.DOTALL)
    assert [kind for kind, _ in blocks] == ["python", "text"] * 5
    for (_, code), (_, expected) in zip(blocks[::2], blocks[1::2], strict=True):
        assert run_python("-c", code, cwd=tmp_path) == expected


@pytest.mark.skipif("BACONLOGIC_TEST_TOOLS" not in os.environ, reason="only continuous integration demands them")
@pytest.mark.parametrize("tool", ["chromium", "gcc", "node", "valgrind"])
def test_the_tools_that_other_tests_skip_without_are_here(tool):
    assert shutil.which(tool)


def test_the_demo_ranks_the_four_offers():
    printed = run_python(str(ROOT / "examples" / "plot_job_offers.py"))
    rows = [
        line.split() for line in printed.splitlines() if line.startswith(("Agency", "University", "Start-up", "Bank"))
    ]
    assert [row[0] for row in rows] == ["Agency", "University", "Start-up", "Bank"]
    for _, salary, benefits, compensation, interests, suits in rows:
        expected = 0.7 * float(salary) + 0.3 * float(benefits)
        assert float(compensation) == pytest.approx(expected, abs=0.011)
        assert float(suits) == pytest.approx(
            gcd([float(compensation), float(interests)], [0.6, 0.4], 9 / 14), abs=0.011
        )


def test_the_version_is_the_same_everywhere():
    assert f"\nversion: {baconlogic.__version__}\n" in (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert f"## {baconlogic.__version__} " in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
