"""How the tests run the command, installed or in this process, and the small table that they use."""

import contextlib
import io
import json
import os
import shutil
import subprocess
import sys
import warnings
from pathlib import Path
from unittest import mock

import numpy as np
import pytest

from baconlogic import Tree
from baconlogic.cli import main

INSTALLED = Path(sys.executable).parent / "baconlogic"
COMMAND = [str(INSTALLED)] if INSTALLED.exists() else [sys.executable, "-m", "baconlogic"]
FIT = ("fit", "data.csv", "--target", "diagnosis", "--max-leaves", 2)


def start(*arguments, folder, **options):
    """Start the installed command."""
    environment = {key: value for key, value in os.environ.items() if key != "BACONLOGIC_DEBUG"}
    environment |= {"PYTHONIOENCODING": "utf-8", "OMP_NUM_THREADS": "1"}
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "stdin": subprocess.PIPE}
    return subprocess.Popen(
        [*COMMAND, *map(str, arguments)], cwd=folder, env=environment, encoding="utf-8", **pipes | options
    )


def run(*arguments, folder, given=None):
    """Run a command line in this process and return its exit code, what it answers, and what it says beside."""
    out, err, pipe = io.StringIO(), io.StringIO(), io.TextIOWrapper(io.BytesIO((given or "").encode()))
    with contextlib.ExitStack() as stack:
        stack.enter_context(contextlib.chdir(folder))
        stack.enter_context(contextlib.redirect_stdout(out))
        stack.enter_context(contextlib.redirect_stderr(err))
        stack.enter_context(mock.patch.object(sys, "stdin", pipe))
        stack.enter_context(mock.patch.dict(os.environ))  # --debug is kept there
        stack.enter_context(warnings.catch_warnings())
        warnings.simplefilter("default")
        code = main([*map(str, arguments)])
    return code, out.getvalue(), err.getvalue()


def run_installed(*arguments, folder, given=None):
    """Run the installed command and return its exit code, what it answers, and what it says beside."""
    process = start(*arguments, folder=folder)
    out, err = process.communicate(given, timeout=300)
    return process.returncode, out, err


def answer(*arguments, folder, given=None, by=run):
    """Return the answer of a run that goes well."""
    code, out, err = by(*arguments, folder=folder, given=given)
    assert (code, "Traceback" in err) == (0, False), err
    return out


def refusal(*arguments, folder, code=1, given=None, by=run):
    """Return the one line that a run says which goes wrong."""
    found, out, err = by(*arguments, folder=folder, given=given)
    assert (found, out) == (code, ""), err
    lines = err.splitlines()
    assert len(lines) == 1, err
    assert lines[0].startswith("baconlogic: ")
    return lines[0]


def table(rows=200):
    """Return columns and labels: M where it is large and coarse; one label in ten is wrong."""
    rng = np.random.default_rng(0)
    size, coarse, noise = rng.uniform(5, 25, rows).round(2), rng.uniform(0, 1, rows).round(3), rng.integers(0, 9, rows)
    malignant = ((size > 14) & (coarse > 0.3)) ^ (rng.uniform(size=rows) < 0.1)
    return {"size": size, "coarse": coarse, "noise": noise, "diagnosis": np.where(malignant, "M", "B")}


def write_csv(path, columns, delimiter=","):
    """Write columns as text."""
    lines = [delimiter.join(columns), *(delimiter.join(map(str, row)) for row in zip(*columns.values(), strict=True))]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


@pytest.fixture(scope="session")
def learned(tmp_path_factory):
    folder = tmp_path_factory.mktemp("learned")
    write_csv(folder / "data.csv", table())
    (folder / "fit.txt").write_text(answer(*FIT, "--test", 0.25, "-o", "model.json", folder=folder), encoding="utf-8")
    Tree.parse("SC(size[0 at 5, 1 at 25], coarse)").save(folder / "tree.json")
    return folder


@pytest.fixture
def folder(learned, tmp_path):
    return Path(shutil.copytree(learned, tmp_path / "work"))


def ask_json(*arguments, folder):
    def refuse(word):
        raise AssertionError(f"{word} is no JSON")

    return json.loads(answer(*arguments, "--json", folder=folder), parse_constant=refuse)
