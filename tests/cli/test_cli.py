"""The command line: every command runs, says what it does in text and JSON, and refuses wrong input in one line."""

# ruff: noqa: F811

import re
import signal
import subprocess
import sys
from pathlib import Path

import pandas as pd
import polars as pl
import pytest
from cli_runs import FIT, answer, ask_json, folder, learned, refusal, run, run_installed, table, write_csv  # noqa: F401

from baconlogic import BaconClassifier, Decision, Tree, __version__, explain, load
from baconlogic.cli import _options as options
from baconlogic.cli import main
from baconlogic.cli._app import COMMANDS, app
from baconlogic.cli._run import HINTS
from baconlogic.core.gcd import AGGREGATORS

REALTOR = Path(__file__).parents[3] / "shared" / "data" / "realtor-13k.csv"
DOCS = Path(__file__).parents[2] / "docs" / "cli.md"
NAMES = [command.__name__ for _, command, _ in COMMANDS]


# The command itself


def test_help_is_a_map_of_all_commands_and_loads_nothing_heavy(tmp_path):
    script = """
import sys
from baconlogic.cli import main
code = main(["--help"])
heavy = {"numba", "sklearn", "scipy", "pandas", "polars"} & set(sys.modules)
sys.exit(str(heavy) if heavy else code)
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, encoding="utf-8", check=False)
    assert done.returncode == 0, done.stderr
    assert all(re.search(rf"\b{name}\b", done.stdout) for name in NAMES)


def test_every_command_has_an_example_in_its_help_and_in_the_docs(capsys):
    page = DOCS.read_text(encoding="utf-8")
    assert re.findall(r"^## `baconlogic (\w+)`", page, re.MULTILINE) == NAMES
    assert [each.name for each in app.registered_commands] == NAMES
    for name in NAMES:
        assert main([name, "--help"]) == 0
        said = capsys.readouterr().out
        assert f"Example: baconlogic {name} " in " ".join(said.replace("\n", " ").split()) + " "
        assert f"\n$ baconlogic {name} " in page or f"\n$ baconlogic {name}\n" in page


def test_the_version_and_python_m(tmp_path):
    assert answer("--version", folder=tmp_path, by=run_installed) == f"baconlogic {__version__}\n"
    done = subprocess.run([sys.executable, "-m", "baconlogic", "--version"], capture_output=True, check=True)
    assert done.stdout.decode().split() == ["baconlogic", __version__]


def test_shells_can_complete(tmp_path, monkeypatch):
    monkeypatch.setenv("_BACONLOGIC_COMPLETE", "complete_bash")
    monkeypatch.setenv("COMP_WORDS", "baconlogic ex")
    monkeypatch.setenv("COMP_CWORD", "1")
    assert answer(folder=tmp_path, by=run_installed).split() == ["explain", "export"]


def test_without_typer_one_line_says_what_to_install(monkeypatch, capsys):
    for name in [name for name in sys.modules if name.startswith("baconlogic.cli.")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "typer", None)
    assert main(["--help"]) == 2
    assert capsys.readouterr().err == 'baconlogic: the command line needs typer; pip install "baconlogic[cli]"\n'


def test_wrong_usage_is_one_line_and_code_2(folder):
    assert "see baconlogic --help" in refusal("fti", folder=folder, code=2)
    assert "--target" in refusal("fit", "data.csv", folder=folder, code=2)
    assert "auto" in refusal(*FIT, "--search", "magic", folder=folder, code=2)


def test_debug_shows_the_traceback_wherever_it_stands(folder):
    for arguments in (("--debug", "show", "none.json"), ("show", "none.json", "--debug")):
        code, _, err = run(*arguments, folder=folder)
        assert code == 1
        assert "Traceback" in err
        assert err.splitlines()[-1].startswith("baconlogic: none.json: ")


def test_choices_are_those_of_the_library():
    from baconlogic.learn.search import SEARCHES
    from baconlogic.learn.search.cards import FORMS

    assert list(options.Search) == list(SEARCHES)
    assert list(options.Form) == list(FORMS)
    assert set(options.Aggregator) == set(AGGREGATORS)


# fit


def test_fit_writes_what_python_writes(folder):
    answer(*FIT, "-o", "cli.json", folder=folder)
    for frame in (pd.read_csv(folder / "data.csv"), pl.read_csv(folder / "data.csv")):
        X = frame[["size", "coarse", "noise"]]
        BaconClassifier(max_leaves=2, random_state=0).fit(X, frame["diagnosis"].to_numpy()).save(folder / "python.json")
        assert (folder / "cli.json").read_bytes() == (folder / "python.json").read_bytes()


def test_fit_tells_card_form_size_score_and_file(learned):
    said = (learned / "fit.txt").read_text(encoding="utf-8")
    assert said.startswith(f"{explain.describe(load(learned / 'model.json'))}\n")
    assert re.search(r"M: \w+, \d lea\w+, found in [\d.]+ s; held out inside fit: accuracy 0\.\d+", said)
    assert re.search(r"on 50 rows not learned from: accuracy 0\.[89]\d+, 95% interval", said)
    assert "written to model.json" in said


def test_the_path_is_listed_and_another_tree_of_it_taken(folder):
    said = answer(*FIT, "--path", folder=folder)
    frame = pl.read_csv(folder / "data.csv")
    clf = BaconClassifier(max_leaves=2, random_state=0).fit(frame.drop("diagnosis"), frame["diagnosis"].to_numpy())
    assert str(clf.path_) in said
    listed = ask_json(*FIT, "--entry", 0, "-o", "other.json", folder=folder)["paths"][0]
    assert [each["formula"] for each in listed] == [entry.tree.formula() for entry in clf.path_]
    assert load(folder / "other.json") == clf.with_entry(0).decision_
    answer(*FIT, "--entry", 0, "--positive", "B", "-o", "turned.json", folder=folder)
    assert load(folder / "turned.json").classes == ("M", "B")
    assert [each["taken"] for each in listed] == [place == 0 for place in range(len(listed))]
    assert f"--entry 99 is none of the {len(listed)} trees that --path lists" in refusal(
        *FIT, "--entry", 99, folder=folder
    )


@pytest.mark.parametrize("form", ["checklist", "rules"])
def test_a_form_is_asked_for_and_told(folder, form):
    said = ask_json(*FIT, "--form", form, "-o", "form.json", folder=folder)["trees"][0]
    assert said["form"] == form
    assert said["card"] == [*explain.describe(load(folder / "form.json")).lines]


def test_parts_of_the_tree_are_asked_for_by_name(folder):
    said = ask_json(*FIT, "--groups", "extent=size,noise;surface=coarse", folder=folder)
    tree = Tree.parse(said["trees"][0]["formula"])
    assert {node.name for _, node in tree.walk() if node.name} == {"extent", "surface"}
    again = ask_json(*FIT, "--groups", "extent=size,noise", "--groups", "surface=coarse", folder=folder)
    assert again["trees"] == said["trees"]
    assert "--groups takes NAME=COLUMN,COLUMN" in refusal(*FIT, "--groups", "size", folder=folder, code=2)
    assert "'nosuch'" in refusal(*FIT, "--groups", "a=nosuch", folder=folder)


def test_the_tree_speaks_for_the_positive_class(folder):
    said = ask_json(*FIT, "--positive", "B", "-o", "b.json", folder=folder)
    model, data = load(folder / "b.json"), pl.read_csv(folder / "data.csv")
    assert model.classes == ("M", "B")
    assert said["classes"] == ["M", "B"]
    assert (model.predict(data) == data["diagnosis"].to_numpy()).mean() > 0.8
    assert ask_json("evaluate", "b.json", "data.csv", "-t", "diagnosis", folder=folder)["accuracy"]["value"] > 0.8


def test_one_class_against_the_rest(folder):
    columns = table()
    columns["diagnosis"] = [f"{label}{i % 2 if label == 'B' else ''}" for i, label in enumerate(columns["diagnosis"])]
    write_csv(folder / "three.csv", columns)
    answer("fit", "three.csv", "-t", "diagnosis", "--positive", "M", "--max-leaves", 2, "-o", "m.json", folder=folder)
    assert load(folder / "m.json").classes == ("not M", "M")
    scores = ask_json("evaluate", "m.json", "three.csv", "-t", "diagnosis", folder=folder)
    assert sum(map(sum, scores["confusion"])) == 200
    assert scores["accuracy"]["value"] > 0.8


def test_fit_says_which_target_was_meant(folder):
    assert "did you mean 'diagnosis'?" in refusal("fit", "data.csv", "--target", "Diagnose", folder=folder)
    assert "'size' has" in refusal("fit", "data.csv", "-t", "size", folder=folder)
    assert "the target holds 'B', 'M'" in refusal(*FIT, "--positive", "X", folder=folder)
    assert not (folder / "x.json").exists()


def test_what_cannot_be_written_or_scored_is_said_before_the_work(folder, monkeypatch):
    from baconlogic.cli import _fit as fitting

    def late(*_):
        raise AssertionError("it was learned first")

    monkeypatch.setattr(fitting, "learn", late)
    (folder / "taken.json").mkdir()
    (folder / "other.csv").write_text("a,b\n1,2\n", encoding="utf-8")
    assert "taken.json: this is a folder" in refusal(*FIT, "-o", "taken.json", folder=folder)
    assert "none: there is no such folder" in refusal(*FIT, "-o", "none/x.json", folder=folder)
    assert "no column 'diagnosis'" in refusal(*FIT, "--test-data", "other.csv", folder=folder)
    assert "some rows of each class" in refusal(*FIT, "--test", 0.001, folder=folder)
    assert "this is a file" in refusal("demo", "-o", "data.csv", folder=folder)
    assert "this is a file" in refusal("alternatives", "data.csv", "-t", "diagnosis", "-o", "data.csv", folder=folder)


def test_a_model_is_kept_where_the_test_table_does_not_fit(folder):
    (folder / "other.csv").write_text("size,coarse,noise,diagnosis\n1,2,3,X\n", encoding="utf-8")
    said = refusal(*FIT[:-1], 1, "--test-data", "other.csv", "-o", "kept.json", folder=folder)
    assert "the target holds 'X'" in said
    assert load(folder / "kept.json").classes == ("B", "M")


def test_one_class_alone_is_no_surprise(folder):
    write_csv(folder / "one.csv", {**table(), "diagnosis": ["B"] * 200})
    code, out, err = run("fit", "one.csv", "-t", "diagnosis", "-o", "one.json", folder=folder)
    assert (code, err) == (0, "note: every row is 'B', so there was nothing to learn; check --target\n")
    assert out.startswith("always 'B'")


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (("--max-leaves", 0), "--max-leaves must be a positive whole number, got 0"),
        (("--time-budget", -1), "--time-budget must be a positive number of seconds, got -1"),
        (("--required", "x"), "--required names 'x'"),
        (("--andness", "3:9"), "--andness must be LOWEST:HIGHEST within [-1, 2]"),
        (("--class-weight", "M=-3"), "--class-weight must not be negative"),
        (("--search", "refine"), "--search refine needs a tree to start from: give --init 'HC(a, b)' or --order a,b"),
        (("--n-jobs", 0), "--n-jobs must not be 0"),
    ],
)
def test_fit_speaks_of_options_not_of_python(folder, given, said):
    assert said in refusal(*FIT, *given, folder=folder)


def test_every_hint_of_the_library_has_words_at_the_command_line():
    sources = (Path(__file__).parents[2] / "src" / "baconlogic").rglob("*.py")
    given = {about for path in sources for about in re.findall(r'\bHint\("(\w+)"', path.read_text(encoding="utf-8"))}
    assert given == set(HINTS)


def test_a_wish_to_stop_ends_the_fit_with_a_tree(folder, monkeypatch, capsys):
    from baconlogic.cli import _fit as fitting
    from baconlogic.cli._run import Stop

    if not hasattr(BaconClassifier(), "set_callbacks"):
        pytest.skip("scikit-learn before 1.9")
    monkeypatch.chdir(folder)
    learn = fitting.learn

    def pressed(clf, *rest):
        signal.raise_signal(signal.SIGINT)
        return learn(clf, *rest)

    monkeypatch.setattr(fitting, "learn", pressed)
    assert main([*map(str, FIT), "-o", "early.json"]) == 130
    assert isinstance(load("early.json"), Decision)
    assert "the best tree found" in capsys.readouterr().err
    assert signal.getsignal(signal.SIGINT) is not Stop


@pytest.mark.skipif(not REALTOR.exists(), reason="the data is not here")
def test_fit_on_the_realtor_file(tmp_path):
    said = answer("fit", REALTOR, "-t", "status", "--drop", "city,street", "-o", "model.json", folder=tmp_path)
    assert "written to model.json" in said
    assert load(tmp_path / "model.json").classes == ("for_sale", "ready_to_build")


# The other commands that learn


def test_alternatives_are_shown_and_saved(folder):
    arguments = ("alternatives", "data.csv", "-t", "diagnosis", "-n", 2, "--max-leaves", 2, "--tolerance", 0.3)
    said = ask_json(*arguments, "-o", "trees", folder=folder)
    assert len(said["rows"]) == len(said["models"]) > 0
    for path in said["models"]:
        assert load(folder / path).classes == ("B", "M")


def test_alternatives_refuse_three_files(folder):
    said = refusal("alternatives", "model.json", "data.csv", "data.csv", "-t", "diagnosis", folder=folder, code=2)
    assert "3 files" in said


def test_nothing_is_printed_in_colour_to_a_pipe(folder):
    for command in ([], ["show", "model.json"], ["describe", "model.json"]):
        assert "\x1b" not in "".join(map(str, run(*command, folder=folder)[1:]))
