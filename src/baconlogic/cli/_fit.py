"""The commands fit, which learns a model from a table, and demo, which does so with data that comes along."""

from __future__ import annotations

import warnings
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from numpy.typing import NDArray
from typer import Option

from baconlogic.cli import _models, _options, _overwrite, _print, _tables
from baconlogic.cli._evaluate import scores
from baconlogic.cli._options import Aggregator, Criteria, Form, Search, Text, Texts
from baconlogic.cli._run import INTERRUPTED, MisusedError, RefusedError, stoppable
from baconlogic.core.files import write_whole
from baconlogic.core.words import one_line

if TYPE_CHECKING:
    from polars import DataFrame

    from baconlogic import Decision, Tree


def fit(
    *,
    data: _options.Table,
    target: _options.Target,
    output: Annotated[Path | None, Option("--output", "-o", help="The model file to write.")] = None,
    positive: Annotated[Text, Option(help="The class that the tree speaks for; of several, against the rest.")] = None,
    features: _options.Features = None,
    drop: _options.Drop = None,
    test: Annotated[float | None, Option(help="Hold this share of the rows out and score the model on it.")] = None,
    test_data: Annotated[Path | None, Option(help="Score the model on this table.")] = None,
    search: Annotated[Search, Option(help="How to find the tree; auto needs no thought.")] = Search.auto,
    criteria: Annotated[Criteria, Option(help="How numbers become truths.")] = Criteria.learned,
    max_leaves: _options.MaxLeaves = None,
    form: Annotated[Form, Option(help="What the tree is told as; auto: the simplest that does as well.")] = Form.auto,
    groups: _options.Groups = None,
    path: Annotated[bool, Option("--path", help="List the trees of other forms and sizes as well.")] = False,
    entry: Annotated[
        int | None, Option(help="Take the tree with this number of those that --path lists.", min=0)
    ] = None,
    simplicity: Annotated[
        _options.Simplicity, Option(help="one-se: the smallest tree about as good as the best.")
    ] = _options.Simplicity.best,
    reuse: Annotated[bool, Option("--reuse/--no-reuse", help="Whether a column may be used more than once.")] = True,
    order: Annotated[Texts, Option(help="Exactly these columns, most important first.")] = None,
    directions: Annotated[Texts, Option(help="rising, falling, or COLUMN=rising; may be repeated.")] = None,
    required: Annotated[Texts, Option(help="Columns that must be used.")] = None,
    forbidden: Annotated[Texts, Option(help="Columns that must not be used.")] = None,
    andness: Annotated[Texts, Option(help="LOW:HIGH for every gate, or COLUMN=LOW:HIGH.")] = None,
    init: Annotated[Text, Option(help="A first guess: a formula such as 'HC(bed, bath)', or a model file.")] = None,
    aggregator: Annotated[Aggregator, Option(help="The formula of gates: as printed, or corrected.")] = Aggregator.gcd,
    class_weight: Annotated[Texts, Option(help="balanced, or CLASS=WEIGHT; may be repeated.")] = None,
    n_jobs: _options.Jobs = None,
    seed: _options.Seed = 0,
    time_budget: Annotated[float | None, Option(help="Seconds after which to stop with the best found.")] = None,
    force: _options.Force = False,
    table_format: _options.Format = None,
    missing: _options.Missing = None,
    as_json: _options.Json = False,
) -> None:
    """Learn a model from a table and write it. Ctrl-C stops and writes the best tree found so far."""
    from baconlogic import BaconClassifier

    if test is not None and (test_data is not None or not 0.0 < test < 1.0):
        raise MisusedError("--test is a share between 0 and 1 such as 0.25, and does not go with --test-data")
    _options.check_jobs(n_jobs)
    _overwrite.check(output, "model", data, test_data, _model_file(init), force=force)
    X, y = _models.split(_tables.read(data, table_format, missing), target)
    X = chosen(X, features, drop)
    classes = _models.known_labels(y, target) if positive is None else sorted(set(y.tolist()))
    clf = BaconClassifier(
        str(search),
        criteria=str(criteria),
        max_leaves=max_leaves,
        form=str(form),
        groups=_groups(groups, X.columns),
        simplicity=str(simplicity),
        reuse=reuse,
        order=_options.split(order, X.columns) or None,
        directions=_directions(directions),
        required=_options.split(required, X.columns) or None,
        forbidden=_options.split(forbidden, X.columns) or None,
        andness=_andness(andness),
        init=_init(init),
        aggregator=str(aggregator),
        class_weight=_class_weight(class_weight, classes),
        n_jobs=n_jobs,
        random_state=seed,
        time_budget=time_budget,
        verbose=_print.shows_progress(),
    )
    held = None
    if test is not None:
        X, y, held = held_out(X, y, test, seed)
    elif test_data is not None:
        held = _models.split(_tables.read(test_data, table_format, missing), target)
    with stoppable(clf) as stop:
        decision = learn(clf, X, y, positive)
    if entry is not None:
        clf, decision = taken(clf, decision, entry)
    if output is not None:  # before anything else can go wrong
        decision.save(output)
    score = None if held is None else scores(decision, held[0], _models.labels(decision, held[1]))
    tell(decision, clf, score, output, as_json=as_json, path=path)
    if len(decision.classes) == 1:
        _print.note(f"every row is {decision.classes[0]!r}, so there was nothing to learn; check --target")
    if stop.wanted or any(history.interrupted for history in _each(clf.history_)):
        _print.note("interrupted: this is the best tree found until then")
        raise typer.Exit(INTERRUPTED)


def demo(
    *,
    output: Annotated[
        Path | None, Option("--output", "-o", help="A folder for the table and the model, to go on with.")
    ] = None,
    seed: _options.Seed = 0,
    force: _options.Force = False,
    as_json: _options.Json = False,
) -> None:
    """Learn when a tumour is malignant, from the breast cancer data that comes along, and show the tree."""
    import numpy as np

    from baconlogic import BaconClassifier, datasets

    _overwrite.check_folder(output)
    pl = _tables.polars()
    data = datasets.breast_cancer()
    X = pl.DataFrame({name: data.X[:, i] for i, name in enumerate(data.feature_names)})
    y = np.where(data.y == 1, "malignant", "benign")
    model = None
    if output is not None:
        table, model = output / "breast_cancer.csv", output / "malignant.json"
        rows = _tables.as_bytes(X.with_columns(pl.Series("diagnosis", y)), table)
        if output.is_dir():
            _overwrite.check(table, "demo", force=force, content=rows)
            _overwrite.check(model, "model", force=force)
    seen, known, held = held_out(X, y, 1 / 3, seed)
    if not as_json:
        _print.note(f"learning when a tumour is malignant, from {len(known)} patients and {X.width} measurements")
    clf = BaconClassifier(simplicity="one-se", random_state=seed, verbose=_print.shows_progress())
    decision = learn(clf, seen, known, None)
    score = scores(decision, held[0], _models.labels(decision, held[1]))
    if output is not None and model is not None:
        output.mkdir(parents=True, exist_ok=True)
        write_whole(rows, table)
        decision.save(model)
    tell(decision, clf, score, model, as_json=as_json)
    if model is not None and not as_json:
        _print.note(f"the table is {output}/breast_cancer.csv, with the column diagnosis")


# How options are read


def chosen(frame: DataFrame, features: Texts, drop: Texts) -> DataFrame:
    """Return the columns to learn from."""
    kept, gone = (_options.split(given, frame.columns) for given in (features, drop))
    _tables.require(frame, "--features", *kept)
    _tables.require(frame, "--drop", *gone)
    names = [name for name in kept or frame.columns if name not in gone]
    if not names:
        raise RefusedError("there is no column left to learn from")
    return frame.select(names)


def _directions(given: Texts) -> Any:
    if not given or (len(given) == 1 and "=" not in given[0]):
        return given[0] if given else None
    return dict(_options.pair(text, "--directions", "rising, falling or COLUMN=rising", last=True) for text in given)


def _andness(given: Texts) -> Any:
    if not given or (len(given) == 1 and "=" not in given[0]):
        return _bounds(given[0]) if given else None
    pairs = [
        _options.pair(text, "--andness", "LOW:HIGH or COLUMN=LOW:HIGH", last=True) if "=" in text else (None, text)
        for text in given
    ]
    return {name: _bounds(text) for name, text in pairs}


def _bounds(text: str) -> tuple[float, float]:
    low, sign, high = text.partition(":")
    if not sign:
        raise MisusedError(f"--andness takes LOW:HIGH such as 0.5:1, got {text!r}")
    return _options.number(low, "--andness"), _options.number(high, "--andness")


def _groups(given: Texts, columns: list[str]) -> dict[str, list[str]] | None:
    """Return the parts of the tree: size=radius3,area3;texture=texture1."""
    parts = [part for text in given or () for part in text.split(";") if part.strip()]
    pairs = [_options.pair(part, "--groups", "NAME=COLUMN,COLUMN") for part in parts]
    return {name: _options.split([text], columns) for name, text in pairs} or None


def _class_weight(given: Texts, classes: list[Any]) -> Any:
    if not given or given == ["balanced"]:
        return given[0] if given else None
    found = {}
    for text in given:
        name, weight = _options.pair(text, "--class-weight", "balanced or CLASS=WEIGHT", last=True)
        label = _models.matched(name, classes)
        if label is None:
            raise RefusedError(f"--class-weight names {name!r}; the classes are {_models.listed(classes)}")
        found[label] = _options.number(weight, "--class-weight")
    return found


def _model_file(init: str | None) -> Path | None:
    """Return the path of a first guess that is a model file, not a formula."""
    return Path(init) if init is not None and init.endswith(".json") else None


def _init(text: str | None) -> Tree | None:
    """Return the tree of a formula or of a model file."""
    from baconlogic import Decision, Tree

    path = _model_file(text)
    if text is None or path is None:
        return None if text is None else Tree.parse(text)
    found = _models.read(path)
    return found.tree if isinstance(found, Decision) else found


# The fit itself


def held_out(frame: DataFrame, y: NDArray[Any], test: float, seed: int) -> tuple[Any, Any, tuple[Any, Any]]:
    """Return the rows to learn from, their labels, and the rows and labels held out: as many of each class."""
    import numpy as np
    from sklearn.model_selection import train_test_split

    try:
        kept, held = train_test_split(np.arange(len(y)), test_size=test, random_state=seed, stratify=y)
    except ValueError:
        raise RefusedError(
            f"--test {test:g} cannot hold out some rows of each class: there are {len(y)} rows and "
            f"{len(np.unique(y))} classes; try another share, or leave --test away"
        ) from None
    return frame[kept], y[kept], (frame[held], y[held])


def learn(clf: Any, X: Any, y: NDArray[Any], positive: str | None) -> Decision:
    """Fit, and return the decision whose tree speaks for `positive`.

    Without, or where it sorts last of two, this is what `fit` gives; else the rows are learned as being it or not.
    """
    import numpy as np

    known = np.unique(y).tolist()
    label = known[-1] if positive is None else _models.matched(positive, known)
    if label is None:
        shown = _models.listed(known, 10) + (", ..." if len(known) > 10 else "")
        raise RefusedError(f"no row is --positive {positive!r}; the target holds {shown}")
    as_is = positive is None or len(known) == 1 or (len(known) == 2 and label == known[1])
    if not as_is and isinstance(clf.class_weight, dict):
        if len(known) > 2:
            raise MisusedError("--class-weight CLASS=WEIGHT does not go with one class against the rest; use balanced")
        clf.set_params(class_weight={name == label: weight for name, weight in clf.class_weight.items()})
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "y holds a single class")  # said as a note that names --target
        decision: Decision = clf.fit(X, y if as_is else np.asarray(y == label)).decision_
    other = known[1] if len(known) == 2 else f"not {label}"
    return decision if as_is else replace(decision, classes=(other, label))


def taken(clf: Any, decision: Decision, entry: int) -> tuple[Any, Decision]:
    """Return a fit and its decision with another tree of the path."""
    if len(decision.trees) != 1:
        raise RefusedError(f"--entry takes one tree, but this model has {len(decision.trees)}; use --positive")
    if entry >= len(clf.path_):
        raise RefusedError(f"--entry {entry} is none of the {len(clf.path_)} trees that --path lists, from 0 on")
    other = clf.with_entry(entry)
    return other, replace(other.decision_, classes=decision.classes)


# What was found


def tell(decision: Decision, clf: Any, score: Any, output: Path | None, *, as_json: bool, path: bool = False) -> None:
    """Print the card, how large and how right the tree is, the `path` if asked for, and where it is kept."""
    found = list(zip(_each(clf.history_), _each(clf.path_), strict=True)) if decision.trees else []
    if as_json:
        said = _models.summary(decision) | {"model": None if output is None else str(output)}
        said |= {"paths": [_entries(entries) for _, entries in found]}
        _print.document(said | {"test": None if score is None else score.to_dict()})
        return
    lines = [_models.card(decision), ""]
    for place, (history, entries) in enumerate(found):
        label = decision.classes[1 if len(found) == 1 else place]
        lines.append(f"{one_line(str(label))}: {_found(history, entries)}")
        lines += ["", str(entries), ""] if path else []
    if score is not None:
        right = score.accuracy
        between = f"{right.value:.4f}, 95% interval {right.low:.4f} to {right.high:.4f}"
        lines.append(f"on {score.rows} rows not learned from: accuracy {between}")
    if output is not None:
        lines.append(f"written to {output}; ask it: baconlogic describe {output}")
    _print.answer("\n".join(lines))
    if output is None:
        _print.note("the model is not kept; add -o model.json to write it")


def _each(found: Any) -> tuple[Any, ...]:
    """Return what a fit found for each tree."""
    return found if isinstance(found, tuple) else (found,)


def _found(history: Any, path: Any) -> str:
    """Say how large a tree is, and how it does on the rows that fit held out."""
    leaves = f"{history.leaves} {'leaf' if history.leaves == 1 else 'leaves'}"
    size = f"{history.form}, {leaves}, found in {history.seconds:.1f} s"
    entry = path.taken(history)
    if not history.logic:
        return f"{size}; no logic was found that beats the base rate, which is what it answers"
    if entry is None or entry.accuracy != entry.accuracy:
        return f"{size}; {history.stopped}"
    return f"{size}; held out inside fit: accuracy {entry.accuracy:.4f}, log-loss {entry.loss:.4f} +- {entry.error:.4f}"


def _entries(path: Any) -> list[dict[str, Any]]:
    """Return the trees of a path as plain data."""
    kept, front = ("form", "leaves", "gates", "words", "loss", "error", "accuracy"), path.front
    return [
        {name: getattr(entry, name) for name in kept}
        | {"front": entry in front, "taken": place == path.place, "formula": entry.tree.formula()}
        for place, entry in enumerate(path)
    ]
