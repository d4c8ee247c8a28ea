"""What an exported decision costs: bytes, operations and time of each export, against scikit-learn on one row.

Two models of seven leaves on the breast cancer data: the one that `BaconClassifier(random_state=0)` gives with
`with_leaves(7)`, a scorecard, and one with gates of both kinds four deep (malignant7.json), where each step waits for
the one before. To run it:

    python benchmarks/export.py            node and duckdb are measured when they are installed
    python benchmarks/export.py --quick    fewer repeats: does it run, and do all agree?
"""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")  # every contender gets one core

import goals
import numpy as np
import record
from timing import best_seconds

from baconlogic import BaconClassifier, datasets, load
from baconlogic.export._compile import program
from baconlogic.export._cost import c_nanoseconds, cost
from baconlogic.export._python import to_python

_NODE = """
import {{ CLASSES, decide }} from "./model.mjs";
const rows = {rows};
let best = Infinity, yes = 0;
for (let run = 0; run < {runs}; run++) {{
  const start = process.hrtime.bigint();
  for (const row of rows) yes += decide(row) === CLASSES[1] ? 1 : 0;
  best = Math.min(best, Number(process.hrtime.bigint() - start) / rows.length);
}}
console.log(best, yes / {runs});
"""


def optional(module: str, name: str) -> Callable[..., Any] | None:
    """Return a function of an export that may not be there."""
    if importlib.util.find_spec(f"baconlogic.export.{module}") is None:
        return None
    return getattr(importlib.import_module(f"baconlogic.export.{module}"), name)


def node_nanoseconds(model: Any, rows: list[dict[str, float]], runs: int) -> tuple[float, float] | None:
    """Return nanoseconds a decision in node, and how many rows are of the second class."""
    node, to_javascript = shutil.which("node"), optional("javascript", "to_javascript")
    if node is None or to_javascript is None:
        return None
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "model.mjs").write_text(to_javascript(model), encoding="utf-8")
        main = Path(folder, "main.mjs")
        main.write_text(_NODE.format(rows=json.dumps(rows), runs=runs), encoding="utf-8")
        said = subprocess.run([node, str(main)], check=True, capture_output=True, text=True)  # noqa: S603
    nanoseconds, yes = said.stdout.split()
    return float(nanoseconds), float(yes)


def sql_rows_a_second(model: Any, frame: Any, budget: float) -> float | None:
    """Return how many rows duckdb decides in a second; a table of a million."""
    to_sql = optional("sql", "to_sql")
    if to_sql is None or importlib.util.find_spec("duckdb") is None:
        return None
    import duckdb

    many = frame.iloc[np.arange(1_000_000 if budget > 0.5 else 10_000) % len(frame)]
    with duckdb.connect() as database:
        database.execute("SET threads = 1")
        database.register("many", many)
        database.execute("CREATE TABLE data AS SELECT * FROM many")
        query = to_sql(model, dialect="duckdb", table="data").rstrip().rstrip(";")
        return len(many) / best_seconds(
            lambda: database.execute(f"CREATE OR REPLACE TEMP TABLE said AS {query}"), budget
        )


def in_python(model: Any, used: Any, said: np.ndarray, budget: float) -> dict[str, float]:
    """Return the CPU seconds of one row in the Python export and in scikit-learn; the export must agree."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.tree import DecisionTreeClassifier

    rows, X, module = used.to_dict("records"), used.to_numpy(), {}
    exec(to_python(model), module)  # noqa: S102
    assert [module["decide"](row) for row in rows] == said.tolist()  # noqa: S101
    logistic = LogisticRegression(max_iter=10_000).fit(X, said)
    tree = DecisionTreeClassifier(max_leaf_nodes=7, random_state=0).fit(X, said)
    one, first, hundred = X[:1], rows[0], range(100)
    contenders: dict[str, Callable[[], object]] = {
        "Python export, probabilities": lambda: [module["probabilities"](first) for _ in hundred],
        "Python export, decide": lambda: [module["decide"](first) for _ in hundred],
        "LogisticRegression.predict_proba": lambda: [logistic.predict_proba(one) for _ in hundred],
        "DecisionTreeClassifier.predict": lambda: [tree.predict(one) for _ in hundred],
    }
    seconds = dict.fromkeys(contenders, np.inf)
    for _ in range(3):  # in turns, so that a busy moment of the machine meets all
        for who, run in contenders.items():
            seconds[who] = min(seconds[who], best_seconds(run, budget / 3) / len(hundred))
    return seconds


def measure(title: str, model: Any, frame: Any, budget: float, runs: int) -> dict[str, Any]:
    """Print and return what one model costs."""
    print(f"\n{title}: {len(list(model.tree.walk()))} nodes, depth {model.tree.depth}, {len(frame)} rows\n")
    size = cost(model, measure=False)
    print(size)
    used = frame[[each.feature for each in program(model).inputs]]
    said = model.predict(frame)
    seconds = in_python(model, used, said, budget)
    print("\none row at a time")
    own = seconds["Python export, probabilities"]
    for who, taken in seconds.items():
        goal = f"   (goal: {goals.ONE_ROW})" if who.startswith("Logistic") else ""
        print(f"  {who:33} {1e6 * taken:10.2f} us   {taken / own:6.1f} x{goal}")
    c = c_nanoseconds(model, used.to_numpy().tolist(), runs)
    if c is not None:
        print(f"  {'C export, decide (cc -O2)':33} {c:10.1f} ns            (goal: {goals.C_DECISION})")
    node = node_nanoseconds(model, used.to_dict("records"), runs)
    if node is not None:
        assert node[1] == (said == model.classes[1]).sum()  # noqa: S101
        print(f"  {'JavaScript export, decide (node)':33} {node[0]:10.1f} ns")
    rate = sql_rows_a_second(model, frame, budget)
    if rate is not None:
        print(f"  {'SQL export (duckdb, one thread)':33} {rate / 1e6:10.2f} million rows a second")
    if c is not None:
        seconds["C export, decide"] = 1e-9 * c
    if node is not None:
        seconds["JavaScript export, decide"] = 1e-9 * node[0]
    if rate is not None:
        seconds["SQL export, DuckDB, many rows"] = 1.0 / rate
    return {"model": title, "bytes": dict(size.bytes), "operations": size.operations, "seconds": seconds}


def main(argv: list[str] | None = None) -> None:
    options = record.parse(record.parser(__doc__), argv)
    budget, runs = (0.05, 20) if options.quick else (2.0, 3000)
    record.greet()
    data = datasets.breast_cancer()
    frame = data.frame().drop(columns="target")
    settings = {"max_leaves": 7, "search": "additive"} if options.quick else {}  # the same kind of model, sooner
    learned = BaconClassifier(random_state=0, **settings).fit(frame, data.y).with_leaves(7).decision_
    deep = load(Path(__file__).with_name("malignant7.json"))
    models = {"with_leaves(7)": learned, "malignant7.json": deep}
    found = [measure(title, model, frame, budget, runs) for title, model in models.items()]
    record.keep("export", options, {"seconds a contender": budget, "runs in C and node": runs}, {"models": found})


if __name__ == "__main__":
    main()
