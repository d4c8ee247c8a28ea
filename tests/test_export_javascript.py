"""The exported JavaScript module says what the library says, in node."""

import json
import math
import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from export_cases import Expected, agree, expected, random_model, table

import baconlogic
from baconlogic import Decision, Gate, Leaf, Not, Tree
from baconlogic.criteria import Given, Ramp, Sigmoid, Table
from baconlogic.decision import Feature, Link
from baconlogic.export.javascript import to_javascript

NODE = shutil.which("node")
pytestmark = pytest.mark.skipif(NODE is None, reason="node is not installed")

MODELS = 200
TRACED = range(0, MODELS, 10)
RUN = """
import { readFileSync, writeFileSync } from "node:fs";
const [folder, first, end] = [process.argv[2], Number(process.argv[3]), Number(process.argv[4])];
const table = JSON.parse(readFileSync(`${folder}/table.json`, "utf8"));
const names = Object.keys(table);
const rows = table[names[0]].map((_, i) => Object.fromEntries(names.map((name) => [name, table[name][i]])));
for (let k = first; k < end; k++) {
  const model = await import(`${folder}/m${k}.mjs`);
  const found = rows.map((row) => {
    try {
      const truth = [model.truth(row)].flat();
      const chances = model.probabilities ? model.probabilities(row) : [];
      return [0, ...truth, ...chances, model.CLASSES.indexOf(model.decide(row))];
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
      return null;
    }
  });
  const width = Math.max(...found.map((row) => (row ? row.length : 0)));
  const gone = [1, ...Array(Math.max(width - 1, 0)).fill(NaN)];
  writeFileSync(`${folder}/m${k}.bin`, new Float64Array(found.flatMap((row) => row ?? gone)));
}
"""


def node(script, *arguments):
    """Run a script as a module; return what it prints."""
    call = [NODE, "--input-type=module", "-", *map(str, arguments)]
    done = subprocess.run(call, input=script, capture_output=True, text=True, encoding="utf-8", check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout


def answers(folder, models, columns):
    """Run the exports of models over one table in one process; return what each says as `Expected`."""
    for k, model in enumerate(models):
        (folder / f"m{k}.mjs").write_bytes(to_javascript(model).encode("ascii"))
    plain = {name: [None if v is None or v != v else v for v in list(values)] for name, values in columns.items()}
    (folder / "table.json").write_text(json.dumps(plain, allow_nan=False), encoding="utf-8")
    node(RUN, folder, 0, len(models))
    return [said(model, np.fromfile(folder / f"m{k}.bin"), columns) for k, model in enumerate(models)]


def said(model, flat, columns):
    found = flat.reshape(len(next(iter(columns.values()))), -1)
    refused = found[:, 0] == 1
    trees = 1 if isinstance(model, Tree) else len(model.trees)
    width = 0 if isinstance(model, Tree) else len(model.classes)
    if refused.all():
        found = np.full((len(found), 2 + trees + width), np.nan)
    choice = np.where(refused, -1, np.nan_to_num(found[:, -1])).astype(int)
    return Expected(refused, found[:, 1 : 1 + trees], found[:, 1 + trees : 1 + trees + width], choice, None)


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    models = [random_model(seed) for seed in range(MODELS)]
    return answers(tmp_path_factory.mktemp("javascript"), models, table())


@pytest.mark.xdist_group("javascript")
def test_javascript_agrees(found):
    wrong = {}
    for seed in range(MODELS):
        try:
            agree(found[seed], expected(random_model(seed)), within=1e-14)
        except AssertionError as problem:
            wrong[seed] = str(problem)
    assert not wrong
