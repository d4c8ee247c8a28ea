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
from baconlogic.gcd import gcd

ROOT = Path(__file__).parent.parent
SOURCE = Path(baconlogic.__file__).parent

# Who may import whom: each module only modules above it in this list, and of them only these.
LAYERS = {
    "checking": set(),
    "columns": set(),
    "compiling": set(),
    "datasets": set(),
    "fading": set(),
    "progress": set(),
    "report/plain": set(),
    "wording": set(),
    "answering": {"checking"},
    "criterion": {"checking", "wording"},
    "elementary": {"compiling"},
    "export/ctext": {"wording"},
    "export/latex_text": {"wording"},
    "gcd": {"fading"},
    "plot/style": {"wording"},
    "report/svg": {"wording"},
    "criteria": {"checking", "criterion", "fading", "wording"},
    "edit/andnesses": {"gcd"},
    "loops": {"compiling", "elementary", "fading", "gcd"},
    "permutation": {"compiling", "elementary"},
    "plot/counts": {"plot/style"},
    "report/words": {"gcd"},
    "kernel": {"compiling", "gcd", "loops"},
    "nodes": {"checking", "criteria", "gcd"},
    "drawing": {"criteria", "nodes", "wording"},
    "edit/knobs": {"criteria", "gcd", "nodes"},
    "edit/mirroring": {"criteria", "nodes"},
    "explain/phrases": {"criteria", "nodes", "wording"},
    "export/expression": {"answering", "criteria", "nodes"},
    "files": {"answering", "criteria", "nodes"},
    "notation": {"criteria", "gcd", "nodes"},
    "plot/layout": {"criteria", "gcd", "nodes", "plot/style", "wording"},
    "search/annealing": {"compiling", "gcd", "kernel", "loops", "permutation"},
    "search/drafts": {"kernel"},
    "sides": {"nodes"},
    "edit/gradients": {"answering", "edit/knobs", "gcd", "nodes"},
    "encoding": {"answering", "columns", "criteria", "gcd", "loops", "nodes", "search/drafts"},
    "evaluation": {"columns", "criteria", "gcd", "loops", "nodes", "sides"},
    "export/printing": {"export/expression"},
    "export/shortening": {"export/expression", "fading"},
    "export/sqltree": {"export/expression"},
    "search/attempt": {"gcd", "kernel", "permutation", "search/annealing"},
    "search/bins": {"loops", "search/drafts"},
    "search/problem": {"gcd", "kernel", "search/drafts"},
    "bounds": {"columns", "criteria", "evaluation", "gcd", "nodes"},
    "edit/recombining": {"columns", "evaluation", "gcd", "nodes"},
    "export/cprinting": {"export/ctext", "export/expression", "export/printing"},
    "export/single": {"export/expression", "export/shortening", "fading"},
    "rows": {"encoding"},
    "search/cuts": {"compiling", "loops", "search/problem"},
    "search/protocol": {"search/drafts", "search/problem"},
    "search/refine": {"compiling", "gcd", "kernel", "loops", "search/drafts", "search/problem"},
    "search/screen": {"compiling", "elementary", "kernel", "search/bins", "search/drafts", "search/problem"},
    "edit/agreeing": {"edit/recombining", "nodes"},
    "search/fixed": {"loops", "search/drafts", "search/problem", "search/protocol", "search/refine"},
    "search/sharpen": {"kernel", "loops", "search/drafts", "search/problem", "search/refine", "search/screen"},
    "tree": {"bounds", "columns", "drawing", "evaluation", "files", "nodes", "notation"},
    "decision": {"answering", "checking", "columns", "evaluation", "files", "nodes", "tree", "wording"},
    "edit/parameters": {"criteria", "edit/mirroring", "nodes", "notation", "tree"},
    "edit/removing": {"edit/andnesses", "nodes", "tree"},
    "edit/structure": {"edit/andnesses", "nodes", "notation", "tree"},
    "explain/cases": {"criteria", "nodes", "tree", "wording"},
    "explain/roles": {"gcd", "nodes", "tree"},
    "export/excel_sheets": {"answering", "drawing", "export/expression", "nodes", "tree", "wording"},
    "results": {"nodes", "tree"},
    "search/growth": {
        "compiling",
        "search/drafts",
        "search/problem",
        "search/protocol",
        "search/refine",
        "search/screen",
        "search/sharpen",
    },
    "search/normalised": {"loops", "search/drafts", "search/fixed", "search/problem"},
    "search/peel": {"loops", "search/cuts", "search/drafts", "search/fixed", "search/problem", "search/protocol"},
    "starts": {"criteria", "encoding", "gcd", "kernel", "nodes", "search/drafts", "tree"},
    "wishes": {"gcd", "nodes", "tree"},
    "edit/approximating": {
        "columns",
        "edit/andnesses",
        "edit/recombining",
        "edit/removing",
        "evaluation",
        "gcd",
        "nodes",
        "tree",
    },
    "explain/groups": {"explain/phrases", "explain/roles", "gcd", "nodes", "tree", "wording"},
    "explain/levers": {"checking", "columns", "criteria", "explain/cases", "nodes"},
    "export/about": {"criteria", "decision", "export/expression", "nodes", "tree", "wording"},
    "outcome": {"decision", "tree"},
    "search/additive": {"gcd", "loops", "search/drafts", "search/growth", "search/problem", "search/protocol"},
    "search/sinkhorn": {
        "compiling",
        "gcd",
        "kernel",
        "search/annealing",
        "search/attempt",
        "search/drafts",
        "search/fixed",
        "search/normalised",
        "search/problem",
        "search/protocol",
        "search/refine",
    },
    "subjects": {"answering", "checking", "columns", "decision", "evaluation", "nodes", "tree"},
    "edit/changes": {"evaluation", "nodes", "results", "subjects", "tree", "wording"},
    "edit/pruning": {"columns", "edit/recombining", "edit/removing", "evaluation", "nodes", "subjects", "tree"},
    "edit/refitting": {
        "answering",
        "checking",
        "columns",
        "decision",
        "edit/gradients",
        "edit/knobs",
        "evaluation",
        "nodes",
        "results",
        "subjects",
        "tree",
    },
    "edit/simplifying": {
        "criteria",
        "edit/agreeing",
        "edit/andnesses",
        "edit/approximating",
        "edit/mirroring",
        "gcd",
        "nodes",
        "tree",
    },
    "explain/asking": {"answering", "columns", "criteria", "explain/cases", "nodes", "results", "subjects", "wording"},
    "explain/attributing": {
        "edit/recombining",
        "edit/removing",
        "explain/roles",
        "nodes",
        "results",
        "subjects",
        "wording",
    },
    "explain/comparing": {
        "drawing",
        "explain/groups",
        "explain/phrases",
        "explain/roles",
        "nodes",
        "results",
        "subjects",
        "wording",
    },
    "explain/counterfactuals": {
        "answering",
        "criteria",
        "explain/cases",
        "explain/levers",
        "nodes",
        "results",
        "subjects",
        "tree",
        "wording",
    },
    "explain/describing": {
        "answering",
        "criteria",
        "explain/groups",
        "explain/phrases",
        "explain/roles",
        "results",
        "subjects",
        "tree",
        "wording",
    },
    "explain/reasoning": {
        "answering",
        "criteria",
        "edit/recombining",
        "explain/cases",
        "explain/roles",
        "nodes",
        "results",
        "subjects",
        "tree",
        "wording",
    },
    "explain/tracing": {
        "answering",
        "drawing",
        "explain/cases",
        "gcd",
        "nodes",
        "results",
        "subjects",
        "tree",
        "wording",
    },
    "export/compiling": {
        "answering",
        "criteria",
        "decision",
        "export/expression",
        "fading",
        "gcd",
        "nodes",
        "sides",
        "subjects",
        "tree",
    },
    "learning": {
        "compiling",
        "encoding",
        "kernel",
        "search/additive",
        "search/drafts",
        "search/peel",
        "search/problem",
        "search/protocol",
        "search/refine",
        "search/sharpen",
    },
    "plot/curves": {"plot/style", "subjects"},
    "plot/data": {"columns", "plot/style", "subjects"},
    "plot/shapes": {"criteria", "gcd", "nodes", "plot/style", "subjects", "wording"},
    "plot/trees": {"nodes", "plot/layout", "plot/style", "subjects"},
    "report/knowledge": {
        "criteria",
        "explain/cases",
        "explain/groups",
        "explain/phrases",
        "explain/roles",
        "gcd",
        "nodes",
        "subjects",
        "tree",
    },
    "report/material": {"columns", "decision", "explain/cases", "nodes", "subjects", "tree"},
    "report/tree_svg": {"plot/layout", "report/svg", "subjects", "wording"},
    "search/__init__": {"search/additive", "search/growth", "search/peel", "search/sinkhorn"},
    "search/auto": {
        "compiling",
        "loops",
        "search/additive",
        "search/growth",
        "search/peel",
        "search/problem",
        "search/protocol",
    },
    "thresholds": {"answering", "outcome", "results", "subjects", "wording"},
    "edit/grouping": {"edit/andnesses", "edit/simplifying", "gcd", "nodes", "tree"},
    "explain/alternating": {"columns", "evaluation", "outcome", "results", "thresholds", "tree", "wording"},
    "explain/pruning_curves": {"edit/pruning", "edit/recombining", "nodes", "results", "subjects", "wording"},
    "export/c": {
        "answering",
        "export/about",
        "export/compiling",
        "export/cprinting",
        "export/ctext",
        "export/expression",
        "export/shortening",
        "export/single",
    },
    "export/excel": {
        "drawing",
        "export/about",
        "export/compiling",
        "export/excel_sheets",
        "export/expression",
        "export/printing",
        "tree",
        "wording",
    },
    "export/javascript": {
        "answering",
        "criteria",
        "export/about",
        "export/compiling",
        "export/expression",
        "export/printing",
    },
    "export/latex": {
        "answering",
        "criteria",
        "export/about",
        "export/compiling",
        "export/expression",
        "export/latex_text",
        "nodes",
        "tree",
        "wording",
    },
    "export/onnx": {"answering", "criteria", "export/about", "export/compiling", "export/expression", "nodes", "tree"},
    "export/python": {"export/about", "export/compiling", "export/expression", "export/printing"},
    "export/sql": {"export/about", "export/compiling", "export/expression", "export/sqltree"},
    "plans": {
        "answering",
        "decision",
        "encoding",
        "gcd",
        "nodes",
        "search/additive",
        "search/auto",
        "search/fixed",
        "search/growth",
        "search/peel",
        "search/sinkhorn",
        "starts",
        "tree",
        "wishes",
    },
    "plot/__init__": {"plot/counts", "plot/curves", "plot/data", "plot/shapes", "plot/trees"},
    "report/measuring": {"thresholds", "wording"},
    "report/prompting": {
        "explain/cases",
        "explain/describing",
        "explain/roles",
        "files",
        "gcd",
        "nodes",
        "report/knowledge",
        "report/plain",
        "subjects",
        "wording",
    },
    "report/sentences": {"report/knowledge", "report/plain", "report/words", "wording"},
    "report/telling": {
        "explain/asking",
        "explain/cases",
        "explain/counterfactuals",
        "explain/reasoning",
        "explain/tracing",
        "report/material",
        "wording",
    },
    "edit/log": {
        "criteria",
        "edit/changes",
        "edit/grouping",
        "edit/parameters",
        "edit/pruning",
        "edit/refitting",
        "edit/removing",
        "edit/simplifying",
        "edit/structure",
        "nodes",
        "notation",
        "results",
        "subjects",
        "tree",
        "wording",
    },
    "explain/__init__": {
        "explain/alternating",
        "explain/asking",
        "explain/attributing",
        "explain/comparing",
        "explain/counterfactuals",
        "explain/describing",
        "explain/pruning_curves",
        "explain/reasoning",
        "explain/tracing",
    },
    "export/costs": {"export/c", "export/compiling", "export/ctext", "export/expression", "results", "wording"},
    "export/saving": {"export/c", "files"},
    "report/claims": {"report/sentences", "report/words"},
    "report/origin": {
        "explain/alternating",
        "explain/cases",
        "outcome",
        "report/material",
        "report/measuring",
        "wording",
    },
    "report/pictures": {
        "criteria",
        "explain/pruning_curves",
        "nodes",
        "report/material",
        "report/measuring",
        "report/svg",
        "wording",
    },
    "targets": {
        "encoding",
        "learning",
        "nodes",
        "plans",
        "search/drafts",
        "search/fixed",
        "search/problem",
        "starts",
        "tree",
    },
    "edit/__init__": {
        "edit/changes",
        "edit/grouping",
        "edit/log",
        "edit/parameters",
        "edit/pruning",
        "edit/refitting",
        "edit/removing",
        "edit/simplifying",
        "edit/structure",
    },
    "export/__init__": {
        "export/c",
        "export/costs",
        "export/excel",
        "export/javascript",
        "export/latex",
        "export/onnx",
        "export/python",
        "export/saving",
        "export/sql",
    },
    "report/amounts": {"report/claims", "report/knowledge", "report/sentences", "report/words", "wording"},
    "report/limits": {"criteria", "explain/cases", "report/material", "report/measuring", "report/origin", "wording"},
    "report/live": {
        "criteria",
        "explain/cases",
        "nodes",
        "report/material",
        "report/measuring",
        "report/pictures",
        "report/telling",
        "wording",
    },
    "report/logic": {"gcd", "report/claims", "report/knowledge", "report/sentences", "report/words", "wording"},
    "report/naming": {
        "gcd",
        "report/claims",
        "report/knowledge",
        "report/plain",
        "report/sentences",
        "report/words",
        "wording",
    },
    "report/order": {
        "answering",
        "explain/describing",
        "report/claims",
        "report/knowledge",
        "report/sentences",
        "report/words",
        "wording",
    },
    "report/roles": {
        "explain/roles",
        "report/claims",
        "report/knowledge",
        "report/sentences",
        "report/words",
        "wording",
    },
    "study": {
        "compiling",
        "criteria",
        "decision",
        "encoding",
        "learning",
        "nodes",
        "outcome",
        "plans",
        "progress",
        "search/drafts",
        "search/peel",
        "targets",
        "tree",
        "wishes",
    },
    "classifier": {
        "answering",
        "columns",
        "encoding",
        "outcome",
        "plans",
        "progress",
        "rows",
        "search/sinkhorn",
        "study",
        "subjects",
        "thresholds",
        "tree",
    },
    "report/checks": {
        "report/amounts",
        "report/claims",
        "report/knowledge",
        "report/logic",
        "report/naming",
        "report/order",
        "report/plain",
        "report/roles",
        "report/sentences",
        "results",
        "subjects",
        "wording",
    },
    "report/content": {
        "answering",
        "explain/alternating",
        "explain/attributing",
        "explain/cases",
        "explain/describing",
        "explain/pruning_curves",
        "explain/roles",
        "nodes",
        "report/limits",
        "report/material",
        "report/measuring",
        "report/origin",
        "report/pictures",
        "report/svg",
        "report/telling",
        "report/tree_svg",
        "thresholds",
        "wording",
    },
    "__init__": {"classifier", "criteria", "datasets", "decision", "files", "gcd", "notation", "thresholds", "tree"},
    "report/writing": {
        "explain/alternating",
        "explain/cases",
        "export/javascript",
        "files",
        "report/content",
        "report/live",
        "report/material",
        "report/origin",
        "report/plain",
        "report/svg",
        "wording",
    },
    "report/__init__": {"report/checks", "report/prompting", "report/writing"},
}


def ours(path):
    """The modules of this package that a module imports, anywhere in it."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            if (node.module or "").split(".")[0] == "baconlogic":
                base = node.module.split(".")[1:]
                for name in node.names:
                    inner = "/".join([*base, name.name])
                    yield inner if (SOURCE / f"{inner}.py").exists() else "/".join(base)
        elif isinstance(node, ast.Import):
            assert not any(name.name.startswith("baconlogic.") for name in node.names), f"{path}: use from ... import"


def run_python(*arguments, cwd=None):
    environment = os.environ | {"PYTHONIOENCODING": "utf-8"}
    command = [sys.executable, *arguments]
    done = subprocess.run(command, check=True, capture_output=True, encoding="utf-8", cwd=cwd, env=environment)
    return done.stdout


def test_imports_point_downward():
    found = {path.relative_to(SOURCE).with_suffix("").as_posix(): set(ours(path)) for path in SOURCE.rglob("*.py")}
    found["__init__"] -= {
        "",
        "edit",
        "explain",
        "export",
        "plot",
        "report",
        "search",
    }  # packages, brought in when asked for
    top = {module for module in found if module.startswith(("cli/", "experiments/"))} | {"__main__"}  # may use anything
    assert set(found) - top == set(LAYERS)
    order = list(LAYERS)
    for module in LAYERS:
        assert found[module] <= LAYERS[module], module
        assert all(order.index(below) < order.index(module) for below in found[module]), module


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
    assert baconlogic.search.__all__ == ["Additive", "Growth", "NotAccepted", "Peel", "Sinkhorn"]
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
    assert baconlogic.report.__all__ == ["check_report", "prompt", "report"]
    public = [name for name in vars(baconlogic.BaconClassifier) if not name.startswith(("_", "set_"))]
    assert sorted(public) == [
        "decision_function", "fit", "predict", "predict_proba", "save", "truth", "with_leaves", "with_threshold",
    ]  # fmt: skip
    assert len(baconlogic.BaconClassifier().get_params(deep=False)) < 20
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
from baconlogic.decision import Feature, Link
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
assert prompt(tree) and check_report("a is mandatory", tree)
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
