"""Commands that learn: fit, alternatives, demo."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from baconlogic.cli import _options as options
from baconlogic.cli import _overwrite as overwriting
from baconlogic.cli import _print as printing
from baconlogic.cli import _tables as tables
from baconlogic.cli._errors import MisusedError, RefusedError
from baconlogic.cli._fit_options import chosen, classifier, held_out, is_file, learn
from baconlogic.cli._stop import stoppable
from baconlogic.core.files import write_whole
from baconlogic.core.words import one_line

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from baconlogic import Decision

INTERRUPTED = 130


def fit(
    data: options.Table,
    target: options.Target,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="The model file to write.")] = None,
    positive: Annotated[
        str | None, typer.Option("--positive", help="The class that the tree speaks for; of several, against the rest.")
    ] = None,
    features: Annotated[list[str] | None, typer.Option("--features", help="Use only these columns.")] = None,
    drop: Annotated[list[str] | None, typer.Option("--drop", help="Leave these columns out.")] = None,
    test: Annotated[
        float | None, typer.Option("--test", help="Hold this share of the rows out and score the model on it.")
    ] = None,
    test_data: Annotated[Path | None, typer.Option("--test-data", help="Score the model on this table.")] = None,
    search: Annotated[
        options.Search, typer.Option("--search", help="How to find the tree; auto needs no thought.")
    ] = options.Search.auto,
    criteria: Annotated[
        options.Criteria, typer.Option("--criteria", help="How numbers become truths.")
    ] = options.Criteria.learned,
    max_leaves: Annotated[int | None, typer.Option("--max-leaves", help="The largest tree to consider.")] = None,
    simplicity: Annotated[
        options.Simplicity, typer.Option("--simplicity", help="one-se: the smallest tree about as good as the best.")
    ] = options.Simplicity.best,
    reuse: Annotated[
        bool, typer.Option("--reuse/--no-reuse", help="Whether a column may be used more than once.")
    ] = True,
    order: Annotated[
        list[str] | None, typer.Option("--order", help="Exactly these columns, most important first.")
    ] = None,
    directions: Annotated[
        list[str] | None, typer.Option("--directions", help="rising, falling, or COLUMN=rising; may be repeated.")
    ] = None,
    required: Annotated[list[str] | None, typer.Option("--required", help="Columns that must be used.")] = None,
    forbidden: Annotated[list[str] | None, typer.Option("--forbidden", help="Columns that must not be used.")] = None,
    andness: Annotated[
        list[str] | None, typer.Option("--andness", help="LOW:HIGH for every gate, or COLUMN=LOW:HIGH.")
    ] = None,
    init: Annotated[
        str | None, typer.Option("--init", help="A first guess: a formula such as 'HC(bed, bath)', or a model file.")
    ] = None,
    aggregator: Annotated[
        options.Aggregator, typer.Option("--aggregator", help="The formula of gates: as printed, or corrected.")
    ] = options.Aggregator.gcd,
    class_weight: Annotated[
        list[str] | None, typer.Option("--class-weight", help="balanced, or CLASS=WEIGHT; may be repeated.")
    ] = None,
    n_jobs: options.Jobs = None,
    seed: options.Seed = 0,
    time_budget: Annotated[
        float | None, typer.Option("--time-budget", help="Seconds after which to stop with the best found.")
    ] = None,
    force: options.Force = False,
    form: options.Format = None,
    missing: options.Missing = None,
    as_json: options.Json = False,
) -> None:
    """Learn a model from a table and write it. Ctrl-C stops and writes the best tree found so far."""
    if test is not None and (test_data is not None or not 0.0 < test < 1.0):
        raise MisusedError("--test is a share between 0 and 1 such as 0.25, and does not go with --test-data")
    given = dict(locals())
    guess = Path(init) if init is not None and is_file(init) else None
    overwriting.check(output, "model", data, test_data, guess, force=force)
    from baconlogic.cli import _models as models
    from baconlogic.cli import _score as scoring

    rows = models.split(tables.read(data, form, missing), target)
    rows = replace(rows, X=chosen(rows.X, features, drop))
    assert rows.y is not None  # noqa: S101
    known = None if positive is not None else models.known_labels(rows.y, target)
    clf = classifier(given, rows.X.columns, known or sorted(set(rows.y.tolist())))
    X, y, held = held_out(rows.X, rows.y, test, seed)
    if test_data is not None:
        other = models.split(tables.read(test_data, form, missing), target)
        held = other.X, other.y
    options.check_jobs(n_jobs)
    with stoppable(clf) as stop:
        decision = learn(clf, X, y, positive)
    interrupted = stop.wanted or any(history.interrupted for history in _each(clf.history_))
    if output is not None:  # before anything else can go wrong
        models.write(decision, output)
    score = None if held is None else scoring.scores(decision, held[0], models.labels(decision, held[1]))
    _tell(decision, clf, score, output, as_json)
    if len(decision.classes) == 1:
        printing.note(f"every row is {decision.classes[0]!r}, so there was nothing to learn; check --target")
    if interrupted:
        printing.note("interrupted: this is the best tree found until then")
        raise typer.Exit(INTERRUPTED)


def _tell(decision: Decision, clf: Any, score: Any, output: Path | None, as_json: bool) -> None:
    from baconlogic.cli import _models as models

    if as_json:
        said = models.summary(decision) | {"model": None if output is None else str(output)}
        printing.document(said | {"test": None if score is None else score.to_dict()})
        return
    lines = [str(decision), ""]
    if decision.trees:
        for place, (history, path) in enumerate(zip(_each(clf.history_), _each(clf.path_), strict=True)):
            label = decision.classes[1 if len(decision.trees) == 1 else place]
            lines.append(f"{one_line(str(label))}: {_found(history, path)}")
    if score is not None:
        lines.append(f"on {score.rows} rows not learned from: accuracy {_between(score.accuracy)}")
    if output is not None:
        lines.append(f"written to {output}; ask it: baconlogic describe {output}")
    printing.answer("\n".join(lines))
    if output is None:
        printing.note("the model is not kept; add -o model.json to write it")


def _each(found: Any) -> tuple[Any, ...]:
    """Return what a fit found for each tree."""
    return found if isinstance(found, tuple) else (found,)


def _between(figure: Any) -> str:
    return f"{figure.value:.4f}, 95% interval {figure.low:.4f} to {figure.high:.4f}"


def _found(history: Any, path: Any) -> str:
    """Say how large a tree is, and how it does on the rows that fit held out."""
    leaves = f"{history.leaves} {'leaf' if history.leaves == 1 else 'leaves'}, found in {history.seconds:.1f} s"
    entry = next((each for each in path if each.leaves == history.leaves), None)
    if not history.logic:
        return f"{leaves}; no logic was found that beats the base rate, which is what it answers"
    if entry is None or entry.accuracy != entry.accuracy:
        return f"{leaves}; {history.stopped}"
    return (
        f"{leaves}; held out inside fit: accuracy {entry.accuracy:.4f}, log-loss {entry.loss:.4f} +- {entry.error:.4f}"
    )


def alternatives(
    paths: Annotated[
        list[Path],
        typer.Argument(help="A table and, before it, a model whose columns and class count.", metavar="[MODEL] DATA"),
    ],
    target: options.Target,
    positive: Annotated[
        str | None, typer.Option("--positive", help="The class to explain; needed where there are more than two.")
    ] = None,
    count: Annotated[int, typer.Option("-n", "--count", help="Trees to look for.", min=1)] = 5,
    tolerance: Annotated[float, typer.Option("--tolerance", help="How much less accurate than the best.")] = 0.01,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="A folder for the models, alternative-1.json and so on.")
    ] = None,
    features: Annotated[list[str] | None, typer.Option("--features", help="Use only these columns.")] = None,
    drop: Annotated[list[str] | None, typer.Option("--drop", help="Leave these columns out.")] = None,
    max_leaves: Annotated[int | None, typer.Option("--max-leaves", help="The largest tree to consider.")] = None,
    n_jobs: options.Jobs = None,
    seed: options.Seed = 0,
    force: options.Force = False,
    form: options.Format = None,
    missing: options.Missing = None,
    as_json: options.Json = False,
) -> None:
    """Learn other trees that are about as right with other columns: several explanations of the same data."""
    import numpy as np

    from baconlogic import BaconClassifier, Decision
    from baconlogic import explain as questions
    from baconlogic.cli import _models as models

    options.check_folder(output)
    options.check_jobs(n_jobs)
    if len(paths) > 2:
        raise MisusedError(f"give a table, or a model and a table; got {len(paths)} files")
    if output is not None and output.is_dir():
        for i in range(1, count + 1):
            overwriting.check(_alternative(output, i), "model", *paths, force=force)
    model = models.read(paths[0]) if len(paths) == 2 else None
    rows = models.split(tables.read(paths[-1], form, missing), target)
    X, y = chosen(rows.X, features, drop), rows.y
    assert y is not None  # noqa: S101
    label = _explained(y, positive, target, models.classes_of(model) if model is not None else ())
    if isinstance(model, Decision):
        X = X.select([each.name for each in model.features if each.name in X.columns] or X.columns)
    clf = BaconClassifier(max_leaves=max_leaves, random_state=seed, n_jobs=n_jobs)
    with printing.busy("learning several trees"):
        found = questions.alternatives(clf, X, y, count, tolerance=tolerance, label=label, n_jobs=n_jobs)
        files = [] if output is None else _save(found, X, np.asarray(y), label, seed, output)
    if as_json:
        printing.document(found.to_dict() | {"models": [str(path) for path in files]})
    else:
        written = f"\n\n{len(files)} models are in {output}: {files[0].name} to {files[-1].name}" if files else ""
        printing.answer(f"{found}{written}")


def _explained(y: NDArray[Any], positive: str | None, target: str, classes: tuple[Any, ...]) -> Any:
    """Return the class to explain; None where it is the last of two anyway."""
    import numpy as np

    from baconlogic.cli import _models as models

    known = np.unique(y).tolist() if positive is not None else models.known_labels(y, target)
    if positive is None and len(classes) == 2:
        positive = str(classes[1])
    if positive is None:
        if len(known) > 2:
            raise RefusedError(f"say which class to explain: --positive, one of {', '.join(map(repr, known))}")
        return None
    label = models.matched(positive, known)
    if label is None:
        raise RefusedError(f"no row is {positive!r}; the target holds {', '.join(map(repr, known[:10]))}")
    return None if len(known) == 2 and label == known[1] else label


def _save(found: Any, X: Any, y: NDArray[Any], label: Any, seed: int, folder: Path) -> list[Path]:
    """Write each tree as a model, with a threshold and probabilities fitted to the rows."""
    from baconlogic import BaconClassifier

    folder.mkdir(parents=True, exist_ok=True)
    files = []
    for i, row in enumerate(found.rows, 1):
        clf = BaconClassifier("calibrate", init=row.tree, random_state=seed)
        path = _alternative(folder, i)
        learn(clf, X, y, None if label is None else str(label)).save(path)
        files.append(path)
    return files


def _alternative(folder: Path, number: int) -> Path:
    return folder / f"alternative-{number}.json"


def demo(
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="A folder for the table and the model, to go on with.")
    ] = None,
    seed: options.Seed = 0,
    force: options.Force = False,
    as_json: options.Json = False,
) -> None:
    """Learn when a tumour is malignant, from the breast cancer data that comes along, and show the tree."""
    import numpy as np

    from baconlogic import BaconClassifier, datasets
    from baconlogic.cli import _models as models
    from baconlogic.cli import _score as scoring

    options.check_folder(output)
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
    seen, known, held = held_out(X, y, 1 / 3, seed)
    if not as_json:
        printing.note(f"learning when a tumour is malignant, from {len(known)} patients and {X.width} measurements")
    clf = BaconClassifier(simplicity="one-se", random_state=seed, verbose=printing.shows_progress())
    decision = learn(clf, seen, known, None)
    score = scoring.scores(decision, held[0], models.labels(decision, held[1]))
    if output is not None and model is not None:
        output.mkdir(parents=True, exist_ok=True)
        write_whole(rows, table)
        models.write(decision, model)
    _tell(decision, clf, score, model, as_json)
    if model is not None and not as_json:
        printing.note(f"the table is {output}/breast_cancer.csv, with the column diagnosis")
