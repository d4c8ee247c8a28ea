"""The command line with a model: look at it, judge it, change it, carry it away."""

# ruff: noqa: F811

import io
import json
import subprocess
import sys
import types
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from cli_runs import answer, ask_json, folder, learned, refusal, run, start  # noqa: F401

from baconlogic import Decision, Tree, edit, explain, load
from baconlogic.cli import main
from baconlogic.cli._evaluate import scores

TARGET = ("--target", "diagnosis")


# Look


def test_show_prints_the_card_draws_the_model_and_lists_its_parts(folder):
    model = load(folder / "model.json")
    assert answer("show", "model.json", folder=folder).startswith(f"{explain.describe(model)}\n\nlearned from 150 rows")
    assert answer("show", "model.json", "--tree", folder=folder).startswith(f"{model}\n")
    assert answer("show", "model.json", "--formula", folder=folder) == f"{model.tree.formula()}\n"
    lines = answer("show", "model.json", "--parts", folder=folder).splitlines()[1:]
    paths = [() if path == "root" else tuple(map(int, path.split("."))) for path in (line.split()[0] for line in lines)]
    assert paths == [path for path, _ in model.tree.walk()]
    assert ask_json("show", "model.json", folder=folder)["classes"] == ["B", "M"]


def test_show_refuses_what_is_no_model(folder):
    assert "no such file" in refusal("show", "none.json", folder=folder)
    assert "the model comes first" in refusal("show", "data.csv", folder=folder)
    (folder / "odd.json").write_text("{}", encoding="utf-8")
    assert "as baconlogic fit writes it" in refusal("show", "odd.json", folder=folder)


def test_parts_of_several_trees_stand_under_their_class(folder):
    trees = (Tree.parse("size[0 at 5, 1 at 25]"), Tree.parse("coarse"), Tree.parse("HC(size[0 at 5, 1 at 25], coarse)"))
    old = load(folder / "model.json")
    model = Decision(trees, old.links * 3, ("a", "b", "c"), old.features)
    model.save(folder / "three.json")
    cards = (str(explain.describe(model, label=label)) for label in model.classes)
    assert answer("show", "three.json", folder=folder) == "\n\n".join(cards) + "\n"
    said = answer("show", "three.json", "--parts", folder=folder)
    assert [line for line in said.splitlines() if line.startswith("--label")] == ["--label a", "--label b", "--label c"]
    assert "fit --positive" in refusal("thresholds", "three.json", "three.csv", *TARGET, folder=_three(folder))
    for command in (("edit", "--andness", "root=C"), ("prune", "--keep", 1), ("simplify",)):
        name, *more = command
        assert "say which: --label" in refusal(name, "three.json", *more, "-o", "x.json", folder=folder)


def _three(folder):
    frame = pl.read_csv(folder / "data.csv")
    labels = [("a", "b", "c")[i % 3] for i in range(frame.height)]
    frame.with_columns(pl.Series("diagnosis", labels)).write_csv(folder / "three.csv")
    return folder


def test_describe_says_what_explain_describe_says(folder):
    assert answer("describe", "model.json", folder=folder) == f"{explain.describe(load(folder / 'model.json'))}\n"
    assert ask_json("describe", "model.json", folder=folder)["summary"]


def test_describe_refuses_a_class_that_is_not_there(folder):
    assert "the model knows 'B', 'M'" in refusal("describe", "model.json", "--label", "X", folder=folder)


def test_explain_answers_four_questions_about_a_row(folder):
    said = answer("explain", "model.json", "data.csv", "--row", 17, folder=folder)
    assert said.count("row 17 (counted from 0)") == 4
    frame = pl.read_csv(folder / "data.csv")
    assert str(explain.trace(load(folder / "model.json"), frame.row(17, named=True))) in said
    told = ask_json("explain", "model.json", "data.csv", "--row", 17, "--only", "trace,reasons", folder=folder)
    assert set(told) == {"row", "case", "trace", "reasons"}


def test_explain_takes_a_case_and_what_is_not_known_of_it(folder):
    whole = answer("explain", "tree.json", "--case", '{"size": 20, "coarse": 1}', "--only", "trace", folder=folder)
    assert whole == answer(
        "explain", "tree.json", "--set", "size=20", "--set", "coarse=1", "--only", "trace", folder=folder
    )
    code, out, err = run("explain", "tree.json", "--set", "size=20", folder=folder)
    assert code == 0
    assert "== unknown" in out
    assert err.startswith("note: no trace, reasons, counterfactual: 'coarse' is missing")


def test_explain_refuses_a_value_that_is_none(folder):
    model = load(folder / "model.json")
    whole = {feature.name: 1.0 for feature in model.features}
    assert set(model.tree.features) < set(
        whole
    )  # a case may state what the tree does not use, but no column of another table
    assert answer("explain", "model.json", "--case", json.dumps(whole), "--only", "trace", folder=folder)
    assert "has no column 'colour'" in refusal("explain", "model.json", "--set", "colour=3", folder=folder)
    assert "'abc' is not a number" in refusal("explain", "tree.json", "--set", "size=abc", folder=folder)
    assert "ask --only unknown" in refusal("explain", "tree.json", "--set", "size=9", "--only", "trace", folder=folder)


def test_explain_refuses_a_row_that_is_not_there(folder):
    assert "the last is 199" in refusal("explain", "model.json", "data.csv", "--row", 200, folder=folder)
    assert "--row 17" in refusal("explain", "model.json", "data.csv", folder=folder, code=2)


# Judge


def test_predict_says_class_probabilities_and_truth(folder):
    frame, model = pl.read_csv(folder / "data.csv"), load(folder / "model.json")
    said = pl.read_csv(io.StringIO(answer("predict", "model.json", "data.csv", folder=folder)))
    assert said.columns == ["prediction", "probability_B", "probability_M", "truth"]
    assert (said["prediction"].to_numpy() == model.predict(frame)).all()
    np.testing.assert_array_equal(said.select("probability_B", "probability_M").to_numpy(), model.predict_proba(frame))
    np.testing.assert_array_equal(said["truth"].to_numpy(), model.truth(frame))


@pytest.mark.parametrize("name", ["out.csv", "out.parquet", "out.jsonl", "out.tsv"])
def test_predict_writes_tables_that_predict_reads(folder, monkeypatch, capsys, name):
    monkeypatch.chdir(folder)
    assert main(["predict", "model.json", "data.csv", "--keep", "-o", name]) == 0
    assert main(["predict", "model.json", name]) == main(["predict", "model.json", "data.csv"]) == 0
    told = capsys.readouterr().out.split("prediction,")
    assert told[1] == told[2]


def test_predict_as_json_and_as_lines(folder):
    rows = ask_json("predict", "model.json", "data.csv", folder=folder)["rows"]
    lines = answer("predict", "model.json", "data.csv", "--jsonl", folder=folder).splitlines()
    assert rows == [json.loads(line) for line in lines]
    assert len(rows) == 200


@pytest.mark.slow  # a pipe that is closed from the start is quicker: test_cli_safety has it
def test_predict_into_a_closed_pipe_is_quiet(folder):
    pl.concat([pl.read_csv(folder / "data.csv")] * 500).write_csv(folder / "long.csv")
    process = start("predict", "model.json", "long.csv", folder=folder, stdin=subprocess.DEVNULL)
    with process.stderr:
        assert process.stdout.readline().startswith("prediction,")
        process.stdout.close()
        assert (process.stderr.read(), process.wait()) == ("", 141)


def test_predict_refuses_a_table_without_the_columns(folder):
    (folder / "other.csv").write_text("sise\n1\n", encoding="utf-8")
    assert "missing column" in refusal("predict", "model.json", "other.csv", folder=folder)


def test_evaluate_agrees_with_scikit_learn(folder):
    from sklearn import metrics

    said = ask_json("evaluate", "model.json", "data.csv", *TARGET, folder=folder)
    frame, model = pl.read_csv(folder / "data.csv"), load(folder / "model.json")
    y, chance = frame["diagnosis"].to_numpy(), model.predict_proba(frame)
    assert said["accuracy"]["value"] == pytest.approx(metrics.accuracy_score(y, model.predict(frame)))
    assert said["auc"]["value"] == pytest.approx(metrics.roc_auc_score(y == "M", model.truth(frame)))
    assert said["log_loss"]["value"] == pytest.approx(metrics.log_loss(y, chance))
    assert said["brier"]["value"] == pytest.approx(metrics.brier_score_loss(y == "M", chance[:, 1]))
    assert said["confusion"] == metrics.confusion_matrix(y, model.predict(frame)).tolist()
    for name in ("accuracy", "auc", "log_loss", "brier"):
        assert said[name]["low"] < said[name]["value"] < said[name]["high"]
    assert "truly \\ answered" in answer("evaluate", "model.json", "data.csv", *TARGET, folder=folder)


def test_the_interval_of_the_auc_holds_the_true_one():
    """Of a normal score that is one deviation higher for cases the area is Phi(1 / sqrt 2) = 0.7602."""
    rng, held = np.random.default_rng(0), 0
    tree = Tree.parse("x[half at 0, slope 1]")
    for _ in range(200):
        y = rng.uniform(size=150) < 0.3
        found = scores(tree, {"x": rng.normal(size=150) + y}, y).auc
        held += found.low < 0.7602 < found.high
    assert 180 <= held <= 198


def test_evaluate_refuses_labels_that_the_model_does_not_know(folder):
    said = refusal("evaluate", "model.json", "data.csv", "-t", "noise", folder=folder)
    assert "the model knows 'B', 'M'" in said
    assert "--label" in refusal("evaluate", "tree.json", "data.csv", *TARGET, folder=folder)


def test_thresholds_tells_scenarios_and_applies_one(folder):
    arguments = ("thresholds", "model.json", "data.csv", *TARGET)
    said = ask_json(*arguments, "--alarm", 1, "--miss", 10, "--apply", "costs", "-o", "new.json", folder=folder)
    assert [row["scenario"] for row in said["rows"]] == ["costs"]
    new, old = load(folder / "new.json"), load(folder / "model.json")
    assert new.threshold == said["threshold"] < old.threshold
    assert new.trees == old.trees
    assert "treatment planning" in answer(*arguments, folder=folder)


def test_a_tree_alone_is_judged_by_what_means_yes(folder):
    arguments = ("tree.json", "data.csv", *TARGET)
    cases = (pl.read_csv(folder / "data.csv")["diagnosis"] == "M").sum()
    assert "--label says which" in refusal("thresholds", *arguments, folder=folder)
    assert f"200 rows, {cases} of them cases" in answer("thresholds", *arguments, "--label", "M", folder=folder)
    assert "--label says which" in refusal("report", *arguments, "-o", "r.md", folder=folder)
    assert "written: r.md" in answer("report", *arguments, "-o", "r.md", "--label", "M", folder=folder)
    said = refusal("thresholds", "model.json", "data.csv", *TARGET, "--label", "B", folder=folder)
    assert "speaks for 'M', so --label can be nothing else" in said


def test_thresholds_refuses_a_scenario_that_is_not_there(folder):
    arguments = ("thresholds", "model.json", "data.csv", *TARGET)
    assert "screening, diagnosis" in refusal(*arguments, "--scenario", "guessing", folder=folder, code=2)
    assert "--miss" in refusal(*arguments, "--alarm", 1, folder=folder, code=2)


def test_compare_says_what_explain_compare_says(folder):
    both = load(folder / "model.json"), load(folder / "tree.json")
    assert answer("compare", "model.json", "tree.json", folder=folder) == f"{explain.compare(*both)}\n"
    said = ask_json("compare", "model.json", "model.json", "data.csv", *TARGET, folder=folder)
    assert said["same"]
    assert said["accuracy"][0] == said["accuracy"][1]


def test_compare_refuses_a_missing_second_model(folder):
    assert "Missing argument" in refusal("compare", "model.json", folder=folder, code=2)


# Change


def test_prune_keeps_so_many_leaves_and_the_decision_around_them(folder):
    said = answer("prune", "model.json", "--keep", 1, "--data", "data.csv", *TARGET, "-o", "small.json", folder=folder)
    new, old = load(folder / "small.json"), load(folder / "model.json")
    assert len(new.tree.features) == 1
    assert (new.classes, new.links) == (old.classes, old.links)
    assert "\n1. pruned to 1 leaf\n" in said
    assert "decisions change" in said
    assert "written to small.json" in said


def test_prune_refuses_to_guess(folder):
    assert "--keep 7" in refusal("prune", "model.json", "-o", "x.json", folder=folder, code=2)
    assert "--in-place" in refusal("prune", "model.json", "--keep", 1, folder=folder, code=2)
    assert not (folder / "x.json").exists()


def test_simplify_merges_gates_in_place(folder):
    tree = Tree.parse("C(a, C(b, c))")
    tree.save(folder / "nested.json")
    said = ask_json("simplify", "nested.json", "--in-place", folder=folder)
    assert load(folder / "nested.json") == edit.simplify(tree)
    assert said["gates"] == [2, 1]


def test_simplify_refuses_a_tolerance_beyond_1(folder):
    assert "from 0 to 1" in refusal("simplify", "model.json", "--tolerance", 2, "-o", "x.json", folder=folder)


def test_edit_changes_parts_and_says_what_that_does(folder):
    Tree.parse("SC(a[0 at 0, 1 at 10], group = HC(b[0 at 0, 1 at 1], c[0 at 0, 1 at 1], d))").save(folder / "old.json")
    said = answer(
        "edit", "old.json", "--andness", "root=C", "--weight", "b=0.5", "--criterion", "a=a[0 at 5, 1 at 6]",
        "--criterion", "c=missing 0.25", "--negate", "c", "--remove", "1.2", "--rename", "group=both",
        "-o", "new.json", folder=folder,
    )  # fmt: skip
    for words in (
        "criterion of a (0) set to 0 at 5, 1 at 6\n", "andness of root set to C\n",
        "weights in group (1) set to 50%, 25%, 25%\n",
        "group (1) called 'both'\n", "c (1.1) turned into its opposite\n", "d (1.2) removed\n",
    ):  # fmt: skip
        assert words in said
    new = load(folder / "new.json")
    assert new[()].andness == Tree.parse("C(a, b)")[()].andness
    assert new["both"].weights == pytest.approx((2 / 3, 1 / 3))
    assert new["a"] == Tree.parse("a[0 at 5, 1 at 6]").root
    assert new["c"].criterion.missing == 0.75
    assert not new["c"].criterion.rising
    assert new.features == ("a", "b", "c")


def test_edit_moves_the_threshold_and_keeps_a_log(folder):
    said = answer(
        "edit", "model.json", "--threshold", 0.9, "--andness", "root=C", "--reason", "policy", "--log", "log.json",
        "--data", "data.csv", *TARGET, "-o", "new.json", folder=folder,
    )  # fmt: skip
    assert load(folder / "new.json").threshold == 0.9
    assert "with the new threshold" in said
    entries = json.loads((folder / "log.json").read_text(encoding="utf-8"))["entries"]
    assert [entry["reason"] for entry in entries] == ["policy"]


def test_edit_refuses_parts_that_are_not_there(folder):
    assert "show --parts" in refusal("edit", "model.json", "--remove", "nothing", "-o", "x.json", folder=folder)
    Tree.parse("C(a[0 at 0, 1 at 1], D(a[1 at 5, 0 at 9], b))").save(folder / "band.json")
    for change, words in (
        (("--weight", "a=0.7"), "'a' stands for 2 parts; say which by its path: 0, 1.0"),
        (("--andness", "1.1=HC"), "1.1 is a leaf; only a gate has andness"),
        (("--remove", "root"), "root is all there is"),
    ):
        assert words in refusal("edit", "band.json", *change, "-o", "x.json", folder=folder)
    assert "PART=VALUE" in refusal("edit", "model.json", "--andness", "HC", "-o", "x.json", folder=folder, code=2)
    assert "a tree alone" in refusal("edit", "tree.json", "--threshold", 0.4, "-o", "x.json", folder=folder)
    assert not (folder / "x.json").exists()


# Carry away


def test_export_prints_python_that_decides_alike(folder):
    code = answer("export", "model.json", "--to", "python", folder=folder)
    rows = pl.read_csv(folder / "data.csv").head(20)
    made = types.ModuleType("made")
    exec(code, vars(made))  # noqa: S102
    model = load(folder / "model.json")
    assert isinstance(model, Decision)
    assert [made.decide(row) for row in rows.to_dicts()] == model.predict(rows).tolist()


def test_export_writes_files_by_suffix(folder):
    said = ask_json("export", "model.json", "-o", "model.py", folder=folder)
    assert said["files"] == ["model.py"]
    done = subprocess.run([sys.executable, "model.py"], cwd=folder, capture_output=True, check=False)
    assert done.returncode == 0


def test_export_refuses_what_does_not_go_together(folder):
    assert "--dialect does not go" in refusal(
        "export", "model.json", "--to", "c", "--dialect", "duckdb", folder=folder, code=2
    )
    assert "not text" in refusal("export", "model.json", "--to", "onnx", folder=folder, code=2)
    assert "cobol" in refusal("export", "model.json", "--to", "cobol", folder=folder, code=2)


def test_export_hands_its_options_on(folder, monkeypatch, capsys):
    asked = []
    monkeypatch.setattr(
        "baconlogic.export.to_c",
        lambda model, **given: types.SimpleNamespace(header=f"// {given}", source="int x;"),
    )
    monkeypatch.setattr(
        "baconlogic.export.save",
        lambda model, path, **given: asked.append(given) or [Path(path), Path("model.h")],
    )
    monkeypatch.chdir(folder)
    assert main(["export", "model.json", "--to", "c", "--real", "float", "--name", "tumour"]) == 0
    assert capsys.readouterr().out == "// {'real': 'float', 'name': 'tumour'}\nint x;\n"
    assert main(["export", "model.json", "-o", "model.c", "--trace"]) == 0
    assert capsys.readouterr().out == "written: model.c, model.h\n"
    assert asked == [{"to": "c", "trace": True}]


def test_report_writes_a_page(folder):
    said = answer("report", "model.json", "data.csv", *TARGET, "-o", "report.html", "--title", "Tumours", folder=folder)
    assert "report.html" in said
    assert "Tumours" in (folder / "report.html").read_text(encoding="utf-8")


def test_report_hands_its_options_on(folder, monkeypatch, capsys):
    monkeypatch.setattr(
        "baconlogic.report.report",
        lambda model, X, y, **given: Path(f"{len(X)}-{len(y)}-{given['title']}-{given['path']}"),
    )
    monkeypatch.chdir(folder)
    assert main(["report", "model.json", "data.csv", *TARGET, "-o", "r.md", "--title", "T", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {"report": "200-200-T-r.md"}


def test_report_refuses_other_formats(folder):
    assert ".html or .md" in refusal("report", "model.json", "data.csv", "-o", "report.pdf", folder=folder, code=2)
