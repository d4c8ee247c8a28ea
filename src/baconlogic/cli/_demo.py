"""The command demo: a first model, of data that comes along."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from typer import Option

from baconlogic.cli import _fit as fitting
from baconlogic.cli import _models as models
from baconlogic.cli import _options as options
from baconlogic.cli import _overwrite as overwriting
from baconlogic.cli import _print as printing
from baconlogic.cli import _tables as tables
from baconlogic.core.files import write_whole


def demo(
    *,
    output: Annotated[
        Path | None, Option("--output", "-o", help="A folder for the table and the model, to go on with.")
    ] = None,
    seed: options.Seed = 0,
    force: options.Force = False,
    as_json: options.Json = False,
) -> None:
    """Learn when a tumour is malignant, from the breast cancer data that comes along, and show the tree."""
    import numpy as np

    from baconlogic import BaconClassifier, datasets
    from baconlogic.cli import _score as scoring

    overwriting.check_folder(output)
    pl = tables.polars()
    data = datasets.breast_cancer()
    X = pl.DataFrame({name: data.X[:, i] for i, name in enumerate(data.feature_names)})
    y = np.where(data.y == 1, "malignant", "benign")
    model = None
    if output is not None:
        table, model = output / "breast_cancer.csv", output / "malignant.json"
        rows = tables.as_bytes(X.with_columns(pl.Series("diagnosis", y)), table)
        if output.is_dir():
            overwriting.check(table, "demo", force=force, content=rows)
            overwriting.check(model, "model", force=force)
    seen, known, held = fitting.held_out(X, y, 1 / 3, seed)
    if not as_json:
        printing.note(f"learning when a tumour is malignant, from {len(known)} patients and {X.width} measurements")
    clf = BaconClassifier(simplicity="one-se", random_state=seed, verbose=printing.shows_progress())
    decision = fitting.learn(clf, seen, known, None)
    score = scoring.scores(decision, held[0], models.labels(decision, held[1]))
    if output is not None and model is not None:
        output.mkdir(parents=True, exist_ok=True)
        write_whole(rows, table)
        decision.save(model)
    fitting.tell(decision, clf, score, model, as_json)
    if model is not None and not as_json:
        printing.note(f"the table is {output}/breast_cancer.csv, with the column diagnosis")
