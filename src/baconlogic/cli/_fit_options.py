"""How the options of fit are read, and the fit itself."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from baconlogic.cli import _options as options
from baconlogic.cli import _print as printing
from baconlogic.cli import _tables as tables
from baconlogic.cli._errors import MisusedError, RefusedError

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from polars import DataFrame

    from baconlogic import Decision


def chosen(frame: DataFrame, features: list[str] | None, drop: list[str] | None) -> DataFrame:
    """Return the columns to learn from."""
    kept, gone = (options.split(given, frame.columns) for given in (features, drop))
    for name in kept:
        tables.require(frame, name, "--features")
    for name in gone:
        tables.require(frame, name, "--drop")
    names = [name for name in kept or frame.columns if name not in gone]
    if not names:
        raise RefusedError("there is no column left to learn from")
    return frame.select(names)


def classifier(given: dict[str, Any], columns: list[str], classes: list[Any]) -> Any:
    """Return the classifier that the options describe."""
    from baconlogic import BaconClassifier

    taken = ("search", "criteria", "max_leaves", "simplicity", "reuse", "aggregator", "n_jobs", "time_budget")
    asked: dict[str, Any] = {name: str(given[name]) if isinstance(given[name], str) else given[name] for name in taken}
    for name in ("order", "required", "forbidden"):
        asked[name] = options.split(given[name], columns) or None
    return BaconClassifier(
        **asked,
        directions=_directions(given["directions"]),
        andness=_andness(given["andness"]),
        class_weight=_class_weight(given["class_weight"], classes),
        init=None if given["init"] is None else _init(given["init"]),
        random_state=given["seed"],
        verbose=printing.shows_progress(),
    )


def _directions(given: list[str] | None) -> Any:
    if not given:
        return None
    if len(given) == 1 and "=" not in given[0]:
        return given[0]
    return dict(options.pair(text, "--directions", "rising, falling or COLUMN=rising", last=True) for text in given)


def _andness(given: list[str] | None) -> Any:
    def between(text: str) -> tuple[float, float]:
        low, sign, high = text.partition(":")
        if not sign:
            raise MisusedError(f"--andness takes LOW:HIGH such as 0.5:1, got {text!r}")
        return options.number(low, "--andness"), options.number(high, "--andness")

    if not given:
        return None
    if len(given) == 1 and "=" not in given[0]:
        return between(given[0])
    pairs = [
        options.pair(text, "--andness", "LOW:HIGH or COLUMN=LOW:HIGH", last=True) if "=" in text else (None, text)
        for text in given
    ]
    return {name: between(text) for name, text in pairs}


def _class_weight(given: list[str] | None, classes: list[Any]) -> Any:
    from baconlogic.cli import _models as models

    if not given:
        return None
    if given == ["balanced"]:
        return "balanced"
    found = {}
    for text in given:
        name, weight = options.pair(text, "--class-weight", "balanced or CLASS=WEIGHT", last=True)
        label = models.matched(name, classes)
        if label is None:
            raise RefusedError(f"--class-weight names {name!r}; the classes are {', '.join(map(repr, classes))}")
        found[label] = options.number(weight, "--class-weight")
    return found


def is_file(text: str) -> bool:
    """Whether a first guess is a model file, not a formula."""
    return text.endswith(".json")


def _init(text: str) -> Any:
    """Return the tree of a formula or of a model file."""
    from baconlogic import Decision, Tree
    from baconlogic.cli import _models as models

    if not is_file(text):
        return Tree.parse(text)
    found = models.read(Path(text))
    return found.tree if isinstance(found, Decision) else found


def held_out(frame: DataFrame, y: NDArray[Any], test: float | None, seed: int) -> tuple[Any, Any, Any]:
    """Return the rows to learn from, their labels, and the rows and labels held out: as many of each class."""
    if test is None:
        return frame, y, None
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

    from baconlogic.cli import _models as models

    if positive is None:
        return _fitted(clf, X, y)
    known = np.unique(y).tolist()
    label = models.matched(positive, known)
    if label is None:
        shown = ", ".join(map(repr, known[:10])) + (", ..." if len(known) > 10 else "")
        raise RefusedError(f"no row is --positive {positive!r}; the target holds {shown}")
    if len(known) == 1 or (len(known) == 2 and label == known[1]):
        return _fitted(clf, X, y)
    if isinstance(clf.class_weight, dict):
        if len(known) > 2:
            raise MisusedError("--class-weight CLASS=WEIGHT does not go with one class against the rest; use balanced")
        clf.set_params(class_weight={name == label: weight for name, weight in clf.class_weight.items()})
    other = known[1] if len(known) == 2 else f"not {label}"
    return replace(_fitted(clf, X, np.asarray(y == label)), classes=(other, label))


def _fitted(clf: Any, X: Any, y: NDArray[Any]) -> Decision:
    decision: Decision = clf.fit(X, y).decision_
    return decision
