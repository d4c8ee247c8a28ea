"""Every command in a temporary folder, in this process and installed: an answer, and what it says to wrong input."""

# ruff: noqa: F811

import polars as pl
import pytest
from cli_runs import FIT, answer, folder, learned, refusal, run, run_installed  # noqa: F401

from baconlogic import load
from baconlogic.cli._app import COMMANDS

TARGET = ("-t", "diagnosis")
OUT = ("-o", "new.json")

# Of each command: what is answered, words of the answer; what is wrong, the exit code, words of the one line.
RUNS = {
    "fit": ((*FIT[1:], *OUT), "written to new.json", ("data.csv", "-t", "Diagnose"), 1, "did you mean 'diagnosis'?"),
    "alternatives": (
        ("data.csv", *TARGET, "-n", 1, "--max-leaves", 1), "1 tree", ("a", "b", "c", *TARGET), 2, "3 files",
    ),
    "demo": (("-o", "trial"), "Malignant when", ("data.csv",), 2, "unexpected"),
    "show": (("model.json",), "learned from 150 rows", ("none.json",), 1, "no such file"),
    "describe": (("model.json",), "M when", ("data.csv",), 1, "the model comes first"),
    "explain": (("tree.json", "--set", "size=9"), "== unknown", ("tree.json",), 2, "--row 17"),
    "predict": (("model.json", "data.csv"), "prediction,probability_B", ("model.json", "x.csv"), 1, "no such file"),
    "evaluate": (("model.json", "data.csv", *TARGET), "accuracy", ("model.json", "data.csv"), 2, "--target"),
    "thresholds": (
        ("model.json", "data.csv", *TARGET), "screening",
        ("model.json", "data.csv", *TARGET, "--alarm", 1), 2, "--miss",
    ),
    "compare": (("model.json", "tree.json"), "second tree", ("model.json",), 2, "Missing argument"),
    "prune": (("model.json", "--keep", 1, *OUT), "pruned to 1 leaf", ("model.json", *OUT), 2, "--keep 7"),
    "simplify": (("tree.json", *OUT), "simplified exactly", ("tree.json",), 2, "--in-place"),
    "edit": (
        ("tree.json", "--andness", "root=HC", *OUT), "andness of root set to HC",
        ("tree.json", *OUT), 2, "what to change",
    ),
    "export": (("model.json", "--to", "c"), "#include", ("model.json", "--to", "cobol"), 2, "cobol"),
    "report": (
        ("model.json", "data.csv", *TARGET, "-o", "r.md"), "r.md",
        ("model.json", "data.csv", "-o", "r.pdf"), 2, ".html",
    ),
}  # fmt: skip


def test_every_command_is_run():
    assert list(RUNS) == [command.__name__ for _, command, _ in COMMANDS]


LONG = {"alternatives", "demo"}  # test_docs runs them too


@pytest.mark.parametrize("name", [pytest.param(name, marks=[pytest.mark.slow] * (name in LONG)) for name in RUNS])
def test_every_command_answers_and_refuses(folder, name):
    check(folder, name, run)


@pytest.mark.parametrize("name", [pytest.param(name, marks=[pytest.mark.slow] * (name != "show")) for name in RUNS])
def test_the_installed_command_answers_and_refuses(folder, name):
    check(folder, name, run_installed)


def check(folder, name, by):
    given, said, wrong, code, refused = RUNS[name]
    assert said in answer(name, *given, folder=folder, by=by)
    assert refused in refusal(name, *wrong, folder=folder, code=code, by=by)
    if name == "demo":
        assert load(folder / "trial" / "malignant.json").classes == ("benign", "malignant")
        assert pl.read_csv(folder / "trial" / "breast_cancer.csv").shape == (569, 31)
