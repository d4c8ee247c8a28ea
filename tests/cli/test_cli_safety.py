"""The command line loses nothing of the user's, drives no terminal with names out of files, and ends quietly."""

# ruff: noqa: F811

import json
import os
import re
import shutil
import stat
import subprocess
import sys
import threading
from pathlib import Path

import polars as pl
import pytest
from cli_runs import FIT, answer, folder, learned, refusal, run, start, table  # noqa: F401

from baconlogic import Tree, load
from baconlogic.cli import _fit as fitting
from baconlogic.cli import _print as printing
from baconlogic.cli._app import app
from baconlogic.cli._run import RefusedError

posix = pytest.mark.skipif(os.name != "posix", reason="there are no such files")
TARGET = ("-t", "diagnosis")
EDIT = ("edit", "tree.json", "--andness", "root=HC")
NOTES = "what I must not lose\n"


def stop(monkeypatch):
    """Let learning end at once, so that what is said before it is seen."""

    def learned_now(*_):
        raise RefusedError("it would be learned now")

    monkeypatch.setattr(fitting, "learn", learned_now)


# What is written over


@pytest.mark.parametrize(
    ("arguments", "lost"),
    [
        ((*FIT, "-o", "data.csv"), "data.csv"),
        ((*FIT, "--test-data", "other.csv", "-o", "other.csv"), "other.csv"),
        ((*FIT, "--init", "tree.json", "-o", "tree.json"), "tree.json"),
        ((*FIT, "-o", "symbolic.csv"), "data.csv"),
        ((*FIT, "-o", "hard.csv"), "data.csv"),
        ((*FIT, "-o", "../work/data.csv"), "data.csv"),
        (("predict", "model.json", "data.csv", "-o", "data.csv"), "data.csv"),
        (("thresholds", "model.json", "data.csv", *TARGET, "--apply", "screening", "-o", "model.json"), "model.json"),
        (("prune", "model.json", "--keep", 1, "-o", "model.json"), "model.json"),
        (("simplify", "tree.json", "--data", "data.csv", "-o", "data.csv"), "data.csv"),
        ((*EDIT, "-o", "new.json", "--log", "tree.json"), "tree.json"),
        ((*EDIT, "--data", "data.csv", "--in-place", "--log", "data.csv"), "data.csv"),
        ((*EDIT, "-o", "new.json", "--log", "new.json"), "tree.json"),
        (("export", "model.json", "--to", "python", "-o", "model.json"), "model.json"),
        (("export", "model.json", "--to", "c", "-o", "code.h"), "model.json"),
        (("report", "model.json", "table.md", "--format", "csv", "-o", "table.md"), "table.md"),
        (("alternatives", "alternative-1.json", "data.csv", *TARGET, "-o", "."), "alternative-1.json"),
    ],
)
@posix
def test_what_a_command_reads_is_never_written_over(folder, arguments, lost):
    for source, name in (("data.csv", "other.csv"), ("data.csv", "table.md"), ("model.json", "alternative-1.json")):
        shutil.copy(folder / source, folder / name)
    (folder / "symbolic.csv").symlink_to("data.csv")
    (folder / "hard.csv").hardlink_to(folder / "data.csv")
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    for more in ((), ("--force",)):
        assert "give another name" in refusal(*arguments, *more, folder=folder, code=2)
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before
    assert lost in before


@posix
def test_what_a_pipe_reads_from_is_not_written_over(folder):
    with (folder / "data.csv").open("rb") as table:
        process = start("fit", "-", *TARGET, "-o", "data.csv", folder=folder, stdin=table)
        assert "data.csv is a file that this command uses already" in process.communicate(timeout=60)[1]
    assert process.returncode == 2
    assert pl.read_csv(folder / "data.csv").height == 200


@pytest.mark.parametrize(
    ("arguments", "name"),
    [
        ((*FIT[:-1], 1, "-o"), "new.json"),
        (("thresholds", "model.json", "data.csv", *TARGET, "--apply", "screening", "-o"), "new.json"),
        (("simplify", "tree.json", "-o"), "new.json"),
        ((*EDIT, "-o", "new.json", "--log"), "log.json"),
        *((("predict", "tree.json", "data.csv", "-o"), f"made.{end}") for end in ("csv", "tsv", "parquet", "jsonl")),
        (("predict", "model.json", "data.csv", "--keep", "-o"), "made.csv"),
        *((("export", "model.json", "-o"), f"made.{end}") for end in ("py", "js", "c", "sql", "tex", "onnx", "xlsx")),
        *((("report", "model.json", "data.csv", "-o"), f"made.{end}") for end in ("html", "md")),
    ],
)
def test_only_the_same_kind_is_written_over_without_force(folder, arguments, name):
    if name.endswith((".onnx", ".xlsx")):
        pytest.importorskip({".onnx": "onnx", ".xlsx": "openpyxl"}[Path(name).suffix])
    place = folder / name
    place.write_text(NOTES, encoding="utf-8")
    assert f"{name} would be overwritten" in refusal(*arguments, name, folder=folder, code=2)
    assert place.read_text(encoding="utf-8") == NOTES
    answer(*arguments, name, "--force", folder=folder)
    made = place.read_bytes()
    answer(*arguments, name, folder=folder)
    place.write_bytes(b"")
    answer(*arguments, name, folder=folder)
    assert len(made) > len(NOTES)
    assert place.stat().st_size == pytest.approx(len(made), rel=0.01)


def test_kinds_are_told_apart(folder):
    answer(*EDIT, "-o", "new.json", "--log", "log.json", folder=folder)
    answer("export", "tree.json", "-o", "new.py", folder=folder)
    answer("predict", "tree.json", "data.csv", "--keep", "-o", "seen.csv", folder=folder)
    pl.read_csv(folder / "seen.csv").with_columns(mine=pl.lit("x")).write_csv(folder / "marked.csv")
    for arguments in (
        ("simplify", "tree.json", "-o", "log.json"),
        (*EDIT, "-o", "other.json", "--log", "new.json"),
        ("export", "tree.json", "--to", "c", "-o", "new.py"),
        ("predict", "tree.json", "data.csv", "-o", "marked.csv"),
    ):
        assert "--force" in refusal(*arguments, folder=folder, code=2)


def test_the_header_of_exported_c_is_looked_at_too(folder):
    (folder / "model.h").write_text(NOTES, encoding="utf-8")
    assert "model.h would be" in refusal("export", "model.json", "-o", "model.c", folder=folder, code=2)
    assert not (folder / "model.c").exists()


def test_folders_are_looked_at_before_the_work(folder, monkeypatch):
    stop(monkeypatch)
    several = ("alternatives", "data.csv", *TARGET, "-n", 2, "-o", ".")
    (folder / "alternative-2.json").write_text(NOTES, encoding="utf-8")
    assert "alternative-2.json would be" in refusal(*several, folder=folder, code=2)
    rows = folder / "breast_cancer.csv"
    rows.write_text(NOTES, encoding="utf-8")
    assert "breast_cancer.csv would be" in refusal("demo", "-o", ".", "--json", folder=folder, code=2)
    assert "learned now" in refusal("demo", "-o", ".", "--json", "--force", folder=folder)
    assert rows.read_text(encoding="utf-8") == NOTES


def test_every_command_that_writes_knows_force():
    import typer

    commands = typer.main.get_command(app).commands
    for name in commands:
        flags = {flag for parameter in commands[name].params for flag in parameter.opts}
        assert ("--output" in flags) == ("--force" in flags), name


@posix
def test_a_pipe_with_a_name_is_written_to_and_stays_one(folder):
    pipe = folder / "pipe.json"
    os.mkfifo(pipe)
    read = []
    for write in (
        lambda: answer("simplify", "tree.json", "-o", "pipe.json", folder=folder),
        lambda: load(folder / "tree.json").save(pipe),
    ):
        reader = threading.Thread(target=lambda: read.append(pipe.read_bytes()))
        reader.start()
        write()
        reader.join(60)
        assert stat.S_ISFIFO(pipe.stat().st_mode)
    assert read == [(folder / "tree.json").read_bytes()] * 2


@posix
def test_dev_stdout_is_what_is_printed_to(folder):
    with (folder / "said.txt").open("wb") as said:
        process = start("simplify", "tree.json", "-o", "/dev/stdout", folder=folder, stdout=said)
        assert process.communicate(timeout=60)[1] == ""
    text = (folder / "said.txt").read_text(encoding="utf-8")
    assert text.startswith((folder / "tree.json").read_text(encoding="utf-8"))
    assert text.endswith("written to /dev/stdout\n")


@posix
def test_a_link_stays_a_link(folder):
    for name in ("target.json", "target.csv"):
        (folder / f"link-{name}").symlink_to(name)
    answer("simplify", "tree.json", "-o", "link-target.json", folder=folder)
    answer("predict", "tree.json", "data.csv", "-o", "link-target.csv", folder=folder)
    for name in ("target.json", "target.csv"):
        assert (folder / f"link-{name}").is_symlink()
        assert (folder / name).stat().st_size


# What is printed

SIZE, COARSE, NODE = "size\x1b]0;title\x07", "coarse\x1b[2J\r\x9b\u202e", "both\x1b]0;t\x07\r"
YES, NO = "M\x1b[2J\r", "B\x7f\x07"
UNSEEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


@pytest.fixture
def hostile(folder):
    columns = table()
    labels = [YES if label == "M" else NO for label in columns["diagnosis"]]
    frame = pl.DataFrame({SIZE: columns["size"], COARSE: columns["coarse"], "diagnosis": labels})
    frame.write_csv(folder / "data.csv")
    document = json.loads((folder / "model.json").read_text(encoding="utf-8"))
    tree = Tree.parse("SC(size[0 at 5, 1 at 25], coarse)").to_dict()["tree"]
    for node, name in zip(tree["nodes"], (SIZE, COARSE, NODE), strict=True):
        node["name" if "gate" in node else "leaf"] = name
    names = [{"name": name, "kind": "number"} for name in (SIZE, COARSE)]
    document["decision"] |= {"trees": [tree], "classes": [NO, YES], "features": names}
    (folder / "model.json").write_text(json.dumps(document), encoding="utf-8")
    (folder / "tree.json").write_text(json.dumps({"format": "baconlogic", "version": 1, "tree": tree}), "utf-8")
    return folder


HOSTILE = [
    ("fit", "data.csv", *TARGET, "--max-leaves", 1),
    ("fit", "data.csv", *TARGET, "--positive", "\x1b[2J"),
    ("fit", "data.csv", "-t", "diag\x1b[2J"),
    ("alternatives", "data.csv", *TARGET, "-n", 1, "--max-leaves", 1),
    ("show", "model.json"),
    ("show", "model.json", "--parts"),
    ("show", "model.json", "--formula"),
    ("show", "model.json", "--json"),
    ("show", "\x1b[2J.json"),
    ("describe", "model.json"),
    ("explain", "model.json", "data.csv", "--row", 3),
    ("explain", "model.json", "--set", "\x1b[2J=3"),
    ("explain", "model.json", "--set", f"{SIZE}=3"),
    ("predict", "model.json", "data.csv", "--json"),
    ("predict", "model.json", "data.csv", "--keep", "-o", "seen.csv"),
    ("evaluate", "model.json", "data.csv", *TARGET),
    ("evaluate", "model.json", "data.csv", *TARGET, "--label", "\x1b[2J"),
    ("thresholds", "model.json", "data.csv", *TARGET),
    ("compare", "model.json", "tree.json", "data.csv"),
    ("prune", "model.json", "--keep", 1, "-o", "new.json"),
    ("prune", "model.json", "--features", SIZE, "-o", "new.json"),
    ("simplify", "model.json", "-o", "new.json"),
    ("edit", "model.json", "--andness", f"{NODE}=HC", "--rename", f"{SIZE}=\x1b[2J", "-o", "new.json"),
    ("edit", "model.json", "--remove", "\x1b[2J", "-o", "new.json", "--debug"),
    ("edit", "model.json", "--andness", "root=HC", "--reason", "\x1b[2J", "-o", "new.json", "--data", "data.csv"),
    ("export", "model.json", "--to", "python"),
    ("export", "model.json", "--to", "python", "--table", "\x1b[2J"),
    ("report", "model.json", "data.csv", *TARGET, "-o", "new.md"),
    ("\x1b[2J",),
]


@pytest.mark.parametrize("arguments", HOSTILE, ids=lambda given: ascii(" ".join(map(str, given))))
def test_no_name_drives_the_terminal(hostile, arguments):
    code, out, err = run(*arguments, folder=hostile)
    assert code in (0, 1, 2)
    assert not UNSEEN.search(out + err)


def test_what_is_escaped_can_be_read(hostile):
    assert r"size\x1b]0;title\x07" in answer("show", "model.json", "--parts", folder=hostile)
    assert json.loads(answer("show", "model.json", "--json", folder=hostile))["classes"] == [NO, YES]
    assert printing.visible("a\tb\n\r\x85\u2066\udc80é") == "a\tb\n\\r\\x85\\u2066\\udc80é"


def test_data_for_programs_stay_as_they_are(hostile):
    text = answer("predict", "model.json", "data.csv", "--keep", folder=hostile)
    assert pl.read_csv(text.encode()).columns[:2] == [SIZE, COARSE]


@posix
@pytest.mark.parametrize("more", [pytest.param((), marks=pytest.mark.slow), ("--keep", "--jsonl")])
def test_on_a_terminal_data_are_shown_escaped(hostile, more, monkeypatch):
    import pty

    monkeypatch.setenv("NO_COLOR", "1")
    pl.read_csv(hostile / "data.csv").head(3).write_csv(hostile / "data.csv")
    ours, theirs = pty.openpty()
    process = start("predict", "model.json", "data.csv", *more, folder=hostile, stdout=theirs)
    assert process.communicate(timeout=60)[1] == ""
    shown = os.read(ours, 1 << 16).decode().replace("\r\n", "\n")
    os.close(theirs)
    os.close(ours)
    assert shown.count("\n") == (3 if more else 4)
    assert not UNSEEN.search(shown)


# Where nobody reads


@posix
@pytest.mark.parametrize("arguments", [("show", "model.json"), ("predict", "model.json", "data.csv"), ("--help",)])
def test_a_closed_stdout_ends_it_quietly(folder, arguments):
    reader, writer = os.pipe()
    os.close(reader)
    process = start(*arguments, folder=folder, stdout=writer)
    os.close(writer)
    assert (process.communicate(timeout=60)[1], process.returncode) == ("", 141)
    closing = ["sh", "-c", '"$0" -m baconlogic "$@" >&-', sys.executable, *arguments]
    done = subprocess.run(closing, cwd=folder, capture_output=True, check=False, timeout=60)
    assert (done.stderr, done.returncode) == (b"", 141)


@posix
def test_without_stdout_and_stderr_the_work_is_done(folder):
    closing = ["sh", "-c", '"$0" -m baconlogic simplify tree.json -o new.json >&- 2>&-', sys.executable]
    assert subprocess.run(closing, cwd=folder, check=False, timeout=60).returncode == 141
    assert load(folder / "new.json") == load(folder / "tree.json")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no such device")
def test_a_full_disk_is_said_once(folder):
    with Path("/dev/full").open("wb") as full:
        process = start("show", "model.json", folder=folder, stdout=full)
        assert process.communicate(timeout=60)[1] == "baconlogic: no space left on device\n"
    assert process.returncode == 1
