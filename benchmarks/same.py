"""Do two versions of the library say the same? Thirty models, with predictions, exports and descriptions.

Before a change that must change nothing, and after it:

    python benchmarks/same.py save /tmp/before
    python benchmarks/same.py compare /tmp/before

Trees, predictions and probabilities must be equal bit for bit, descriptions to the letter; the exported Python, C and
JavaScript, which are compiled and run, to 1e-12. Only public names are used, so that both versions run this file.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from problems import SUITE, Absent

from baconlogic import BaconClassifier, Tree, datasets, edit, explain, export, load
from baconlogic.learn import search

DATA = Path(__file__).resolve().parent.parent.parent / "shared" / "data"
TOLERANCE = 1e-12
ROWS = 400  # of each model's table, for predictions
LOAN = (
    "HHC(income = HD(salary[0 at 20000, 1 at 60000]: 0.7, savings[half at 9000, slope 0.0004, missing 0.2]: 0.3), "
    'trust = SC+(job[1 if "clerk", 0.8 if "nurse", other 0.3, missing 0.5], not debts[0 at 0, 0.9 at 4, 1 at 30]))'
)


def loans(rows: int, seed: int) -> tuple[pd.DataFrame, np.ndarray]:
    """Return a table with text, whole numbers and missing values, and whether a loan was repaid."""
    rng = np.random.default_rng(seed)
    table = pd.DataFrame(
        {
            "salary": rng.gamma(4.0, 10_000.0, rows).round(),
            "savings": rng.gamma(1.5, 6_000.0, rows).round(-1),
            "debts": rng.poisson(1.5, rows).astype(float),
            "job": rng.choice(["clerk", "nurse", "driver", "none", "student"], rows),
            "owner": rng.random(rows) < 0.4,
            "noise": rng.normal(size=rows),
        }
    )
    good = table.salary / 40_000 + table.job.isin(["clerk", "nurse"]) - table.debts / 3 + rng.normal(0, 0.4, rows)
    table.loc[rng.random(rows) < 0.1, "savings"] = np.nan
    table.loc[rng.random(rows) < 0.05, "job"] = None
    return table, np.where(good > 0.9, "repaid", "lost")


Made = tuple[Any, pd.DataFrame]  # a classifier, decision or tree, and rows to ask it about


def models() -> Iterator[tuple[str, Callable[[], Made]]]:
    """Name the models, each with how it is made."""
    for name in SUITE:
        yield f"suite {name}", lambda name=name: learned(*suite(name))
    table, repaid = loans(900, 1)
    for name, options in {
        "text and missing": {},
        "one-se": {"simplicity": "one-se"},
        "no reuse, balanced": {"reuse": False, "class_weight": "balanced"},
        "growth": {"search": "growth", "max_leaves": 5},
        "additive": {"search": "additive"},
        "exact": {"aggregator": "exact", "max_leaves": 4},
        "wishes": {
            "required": ["debts"], "forbidden": ["noise"], "directions": {"salary": "rising"},
            "andness": {"debts": (0.75, 2.0)},
        },
        "refine": {"init": Tree.parse("HC(salary, debts, job)")},
        "order": {"order": ["salary", "debts", "savings"]},
    }.items():  # fmt: skip
        yield f"loans {name}", lambda options=options: learned(table, repaid, **options)
    weight = np.random.default_rng(2).integers(0, 4, len(table)).astype(float)
    yield "loans weighted", lambda: learned(table, repaid, sample_weight=weight)
    yield "iris, three classes", lambda: learned(frame(datasets.iris()), datasets.iris().y)
    job = table.job.fillna("none")
    yield "jobs, five classes", lambda: learned(table.drop(columns="job"), job, max_leaves=3)
    b = datasets.boolean(datasets.appendix_b())
    yield "boolean", lambda: learned(frame(b), b.y)
    yield "boolean peel", lambda: learned(frame(b), b.y, search="peel")
    s = search.Sinkhorn(acceptance_threshold=0.9, attempts=3, max_epochs=300)
    yield "sinkhorn breast cancer", lambda: learned(*suite("WDBC"), search=s, criteria="sigmoid")
    yield "sinkhorn learned", lambda: learned(*suite("Iris Virginica"), search=s)
    yield "written", lambda: (Tree.parse(LOAN), table)
    yield "written, calibrated", lambda: learned(table, repaid, init=Tree.parse(LOAN), search="calibrate")
    yield "edited", lambda: (edited(), table)
    yield "edited decision", lambda: edited_decision(table, repaid)
    yield "smaller", lambda: (learned(*suite("WDBC"))[0].with_leaves(3), suite("WDBC")[0])
    yield "screening", lambda: (learned(*suite("WDBC"))[0].with_threshold("screening"), suite("WDBC")[0])


def suite(name: str) -> tuple[pd.DataFrame, np.ndarray]:
    X, y = SUITE[name](DATA)
    some = np.random.default_rng(0).permutation(len(X))[:800]
    return pd.DataFrame(X[some], columns=[f"x{i}" for i in range(X.shape[1])]), y[some]


def frame(data: Any) -> pd.DataFrame:
    return pd.DataFrame(data.X, columns=list(data.feature_names))


def learned(X: pd.DataFrame, y: Any, sample_weight: Any = None, **options: Any) -> Made:
    return BaconClassifier(random_state=0, **options).fit(X, y, sample_weight), X


def edited() -> Tree:
    tree = edit.rename(Tree.parse(LOAN), "trust", "reliable")
    tree = edit.reweight(edit.set_andness(tree, "reliable", "HC"), "income", {"salary": 0.6, "savings": 0.4})
    return edit.simplify(edit.negate(edit.add(tree, "reliable", "owner", 0.2), "owner"))


def edited_decision(X: pd.DataFrame, y: Any) -> Made:
    return edit.refit_decision(learned(X, y, max_leaves=4)[0].decision_, X, y), X


def facts(model: Any, table: pd.DataFrame, folder: Path) -> dict[str, Any]:
    """Return what a model is and says; save it to `folder`."""
    decision = getattr(model, "decision_", model)
    path = folder / "model.json"
    decision.save(path)
    assert load(path).to_dict() == decision.to_dict()  # noqa: S101
    rows = table.iloc[:ROWS]
    said: dict[str, Any] = {"file": json.loads(path.read_text(encoding="utf-8")), "text": str(decision)}
    if isinstance(decision, Tree):
        said["truths"] = bits(decision.evaluate(rows))
        asked = [(decision, "")]
    else:
        said["labels"] = np.asarray(decision.predict(rows)).tolist()
        said["probabilities"] = bits(decision.predict_proba(rows))
        said["scores"] = bits(decision.decision_function(rows))
        asked = [(decision, label) for label in decision.classes] if len(decision.trees) > 1 else [(decision, "")]
    case = {name: None if pd.isna(value) else value for name, value in rows.iloc[0].items()}
    for each, label in asked:
        which = {"label": label} if label != "" else {}
        said[f"describe {label}"] = str(explain.describe(each, **which))
        for ask in (explain.trace, explain.reasons):
            said[f"{ask.__name__} {label}"] = str(ask(each, case, **which))
    said["exports"] = exports(decision, rows, folder)
    return said


def bits(values: Any) -> list[Any]:
    return [float(value).hex() for value in np.ravel(values)]


def records(table: pd.DataFrame) -> list[dict[str, Any]]:
    """Return rows as plain values that JSON carries without loss; None where missing."""
    columns = {name: table[name].to_numpy(dtype=object).tolist() for name in table}
    plain = {
        name: [None if pd.isna(v) else getattr(v, "item", lambda v=v: v)() for v in values]
        for name, values in columns.items()
    }
    return [dict(zip(plain, row, strict=True)) for row in zip(*plain.values(), strict=True)]


PYTHON = """
import json, sys
import exported as m
def ask(row):
    try:
        return [m.truth(row)] + ([m.probabilities(row)] if hasattr(m, "probabilities") else [])
    except ValueError:
        return None
json.dump([ask(row) for row in json.load(open("rows.json", encoding="utf-8"))], sys.stdout)
"""
JAVASCRIPT = """
import { readFileSync } from "node:fs";
const m = await import(process.cwd() + "/exported.mjs");
const ask = (row) => {
  try { return [m.truth(row), ...(m.probabilities ? [m.probabilities(row)] : [])]; }
  catch (error) { if (!(error instanceof RangeError)) throw error; return null; }
};
console.log(JSON.stringify(JSON.parse(readFileSync("rows.json", "utf8")).map(ask)));
"""


def exports(model: Any, rows: pd.DataFrame, folder: Path) -> dict[str, Any]:
    """Return what exported programs answer, and the C without its comments."""
    (folder / "rows.json").write_text(json.dumps(records(rows)), encoding="utf-8")
    (folder / "exported.py").write_text(export.to_python(model), encoding="utf-8")
    (folder / "exported.mjs").write_text(export.to_javascript(model), encoding="utf-8")
    commands = {
        "python": [sys.executable, "-c", PYTHON],
        "javascript": ["node", "--input-type=module", "-e", JAVASCRIPT],
    }
    said = {
        name: json.loads(subprocess.run(command, cwd=folder, capture_output=True, check=True).stdout)  # noqa: S603
        for name, command in commands.items()
    }
    return said | {"c": re.sub(r"/\*.*?\*/", "", export.to_c(model).source, flags=re.DOTALL)}


def differences(before: Any, after: Any, place: str = "") -> Iterator[str]:
    """Name the places where two snapshots differ; numbers that an export gave may differ by 1e-12."""
    if isinstance(before, dict) and isinstance(after, dict):
        for key in [*before, *(key for key in after if key not in before)]:
            yield from differences(before.get(key), after.get(key), f"{place}/{key}")
    elif isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        for i, (a, b) in enumerate(zip(before, after, strict=True)):
            yield from differences(a, b, f"{place}/{i}")
    elif isinstance(before, float) and isinstance(after, float) and "/exports/" in place:
        if abs(before - after) > TOLERANCE:
            yield f"{place}: {before!r} became {after!r}"
    elif before != after:
        yield f"{place}: {str(before)[:200]!r} became {str(after)[:200]!r}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["save", "compare"])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--only", default="", help="models whose name contains this")
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    wrong = count = 0
    for name, make in models():
        kept = options.folder / f"{name.replace(' ', '_').replace(',', '')}.json"
        if options.only not in name:
            continue
        try:
            with tempfile.TemporaryDirectory() as place:
                found = facts(*make(), Path(place))
        except Absent as reason:
            print(f"{name}: skipped, {reason}")
            continue
        count += 1
        if options.what == "save":
            kept.write_text(json.dumps(found), encoding="utf-8")
            print(f"{name}: saved", flush=True)
            continue
        apart = list(differences(json.loads(kept.read_text(encoding="utf-8")), json.loads(json.dumps(found))))
        wrong += bool(apart)
        print(f"{name}: {'equal' if not apart else f'{len(apart)} differences'}", *apart[:5], sep="\n  ", flush=True)
    print(f"{count} models, {wrong} of them differ" if options.what == "compare" else f"{count} models saved")
    raise SystemExit(wrong > 0)


if __name__ == "__main__":
    main()
