"""The command alternatives: other trees that are about as right with other columns."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

from numpy.typing import NDArray
from typer import Argument, Option

from baconlogic.cli import _fit, _models, _options, _overwrite, _print, _tables
from baconlogic.cli._run import MisusedError, RefusedError


def alternatives(
    *,
    paths: Annotated[
        list[Path],
        Argument(help="A table and, before it, a model whose columns and class count.", metavar="[MODEL] DATA"),
    ],
    target: _options.Target,
    positive: Annotated[str | None, Option(help="The class to explain; needed where there are more than two.")] = None,
    count: Annotated[int, Option("-n", "--count", help="Trees to look for.", min=1)] = 5,
    tolerance: Annotated[float, Option(help="How much less accurate than the best.")] = 0.01,
    output: Annotated[
        Path | None, Option("--output", "-o", help="A folder for the models, alternative-1.json and so on.")
    ] = None,
    features: _options.Features = None,
    drop: _options.Drop = None,
    max_leaves: _options.MaxLeaves = None,
    n_jobs: _options.Jobs = None,
    seed: _options.Seed = 0,
    force: _options.Force = False,
    form: _options.Format = None,
    missing: _options.Missing = None,
    as_json: _options.Json = False,
) -> None:
    """Learn other trees that are about as right with other columns: several explanations of the same data."""
    from baconlogic import BaconClassifier, Decision
    from baconlogic import explain as questions

    _overwrite.check_folder(output)
    _options.check_jobs(n_jobs)
    if len(paths) > 2:
        raise MisusedError(f"give a table, or a model and a table; got {len(paths)} files")
    if output is not None and output.is_dir():
        for i in range(1, count + 1):
            _overwrite.check(_file(output, i), "model", *paths, force=force)
    model = _models.read(paths[0]) if len(paths) == 2 else None
    X, y = _models.split(_tables.read(paths[-1], form, missing), target)
    X = _fit.chosen(X, features, drop)
    label = _explained(y, positive, target, () if model is None else _models.classes_of(model))
    if isinstance(model, Decision):
        X = X.select([each.name for each in model.features if each.name in X.columns] or X.columns)
    clf = BaconClassifier(max_leaves=max_leaves, random_state=seed, n_jobs=n_jobs)
    with _print.busy("learning several trees"):
        found = questions.alternatives(clf, X, y, count, tolerance=tolerance, label=label, n_jobs=n_jobs)
        files = [] if output is None else _save(found, X, y, label, seed, output)
    written = f"\n\n{len(files)} models are in {output}: {files[0].name} to {files[-1].name}" if files else ""
    _print.give(found.to_dict() | {"models": [str(path) for path in files]}, f"{found}{written}", as_json)


def _explained(y: NDArray[Any], positive: str | None, target: str, classes: tuple[Any, ...]) -> Any:
    """Return the class to explain; None where it is the last of two anyway."""
    import numpy as np

    known = np.unique(y).tolist() if positive is not None else _models.known_labels(y, target)
    if positive is None and len(classes) == 2:
        positive = str(classes[1])
    if positive is None:
        if len(known) > 2:
            raise RefusedError(f"say which class to explain: --positive, one of {_models.listed(known)}")
        return None
    label = _models.matched(positive, known)
    if label is None:
        raise RefusedError(f"no row is {positive!r}; the target holds {_models.listed(known, 10)}")
    return None if len(known) == 2 and label == known[1] else label


def _save(found: Any, X: Any, y: NDArray[Any], label: Any, seed: int, folder: Path) -> list[Path]:
    """Write each tree as a model, with a threshold and probabilities fitted to the rows."""
    from baconlogic import BaconClassifier

    folder.mkdir(parents=True, exist_ok=True)
    files = []
    for i, row in enumerate(found.rows, 1):
        clf = BaconClassifier("calibrate", init=row.tree, random_state=seed)
        files.append(_file(folder, i))
        _fit.learn(clf, X, y, None if label is None else str(label)).save(files[-1])
    return files


def _file(folder: Path, number: int) -> Path:
    return folder / f"alternative-{number}.json"
