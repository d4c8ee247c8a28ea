"""Model files, and how the labels in a table are those of a model."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from numpy.typing import NDArray

from baconlogic import Decision, ModelFormatError, Tree, load
from baconlogic.cli import _options, _print, _tables
from baconlogic.cli._run import RefusedError

if TYPE_CHECKING:
    import numpy as np
    from polars import DataFrame

    from baconlogic.explain import Description

MOST_CLASSES = 100


def read(path: Path) -> Tree | Decision:
    """Return the model of a file."""
    if str(path) == "-":
        raise RefusedError("a model is read from a file, not from a pipe; give its path")
    try:
        return load(path)
    except ModelFormatError as problem:
        is_table = path.suffix.lower() in _tables.FORMATS
        hint = "the model comes first, then the data" if is_table else "give a model file, as baconlogic fit writes it"
        raise RefusedError(f"{problem}; {hint}") from None


def read_asked(path: Path, label: str | None, *, needed: bool = False) -> tuple[Tree | Decision, Any]:
    """Return the model of a file and the class that --label means; of several trees one must be `needed`."""
    model = read(path)
    known = classes_of(model)
    if label is None and needed and len(known) > 2:
        raise RefusedError(f"there is a tree for each class; say which: --label, one of {listed(known)}")
    if label is None or not known:
        return model, None if label is None else _options.value(label)
    found = matched(label, known)
    if found is None:
        raise RefusedError(f"there is no class {label!r}; the model knows {listed(known)}")
    return model, found


def classes_of(model: Tree | Decision) -> tuple[Any, ...]:
    """Return the classes of a decision; none of a tree alone."""
    return model.classes if isinstance(model, Decision) else ()


def trees_of(model: Tree | Decision) -> tuple[Tree, ...]:
    """Return the trees of a decision, or the tree alone."""
    return model.trees if isinstance(model, Decision) else (model,)


def listed(labels: Any, most: int | None = None) -> str:
    """Return labels in a row, at `most` so many."""
    return ", ".join(map(repr, labels[:most]))


def matched(text: Any, known: Any) -> Any:
    """Return the label that a text means, or None: 1 is "1", True is "true" or "True"."""
    for label in known:
        if text == label and isinstance(text, bool) == isinstance(label, bool):
            return label
    spelled = str(text).strip()
    for label in known:
        said = {str(label), str(label).lower()} if isinstance(label, bool) else {str(label)}
        if isinstance(label, float) and label.is_integer():
            said.add(str(int(label)))
        if spelled in said:
            return label
    return None


def split(frame: DataFrame, target: str) -> tuple[DataFrame, NDArray[Any]]:
    """Return a table as rows and labels; rows without a label are left out."""
    _tables.require(frame, "--target", target)
    known = frame.get_column(target).is_not_null()
    if frame.schema[target].is_float():
        known &= frame.get_column(target).is_not_nan().fill_null(value=False)
    kept = frame.filter(known)
    if not kept.height:
        raise RefusedError(f"column {target!r} is empty in every row, so there are no classes")
    if n := frame.height - kept.height:
        _print.note(f"{n} row{'' if n == 1 else 's'} without {target!r} {'is' if n == 1 else 'are'} left out")
    return kept.drop(target), kept.get_column(target).to_numpy()


def known_labels(y: NDArray[Any], target: str) -> list[Any]:
    """Return the different labels, in their order; refuse what looks like a measurement."""
    import numpy as np

    found: list[Any] = np.unique(y).tolist()
    fractions = any(isinstance(label, float) and not label.is_integer() for label in found)
    if fractions or len(found) > MOST_CLASSES:
        raise RefusedError(
            f"column {target!r} has {len(found)} different values ({listed(found, 3)}, ...), which are no classes; "
            "choose another --target, or --positive VALUE for one value against the rest"
        )
    return found


def labelled(model: Tree | Decision, X: DataFrame, target: str, label: Any = None) -> tuple[DataFrame, NDArray[Any]]:
    """Return rows and their labels as the model knows them."""
    X, y = split(X, target)
    return X, labels(model, y, label)


def labels(model: Tree | Decision, y: NDArray[Any], label: Any = None) -> NDArray[np.object_]:
    """Return labels of a table as those of the model; "not M" stands for every other label than M."""
    import numpy as np

    found, codes = np.unique(y, return_inverse=True)
    known = classes_of(model)
    if not known and label is not None and matched(label, found.tolist()) is None:
        raise RefusedError(f"no row is --label {label!r}; the target holds {listed(found.tolist(), 10)}")
    meant = np.empty(len(found), dtype=object)
    meant[:] = [_of_classes(given, known) if known else _of_a_tree(given, label) for given in found.tolist()]
    return np.asarray(meant[codes])


def _of_classes(given: Any, known: tuple[Any, ...]) -> Any:
    """Return the class of a decision that a label is."""
    found = matched(given, known)
    if found is not None:
        return found
    if len(known) == 2 and known[0] == f"not {known[1]}":
        return known[0]
    raise RefusedError(
        f"the target holds {given!r:.60}, but the model knows {listed(known)}; check --target, or leave these rows out"
    )


def _of_a_tree(given: Any, label: Any) -> Any:
    """Return what a label says to a tree alone: whether it is --label, or else true or false."""
    if label is not None:
        return label if matched(label, [given]) is not None else f"not {label}"
    meant = matched(str(given).lower(), [True, False])
    if meant is None and given in (0, 1):
        meant = bool(given)
    if meant is None:
        raise RefusedError(f"the target holds {given!r:.60}; of a tree alone, --label says which value means yes")
    return meant


def card(model: Tree | Decision, label: Any = None) -> str:
    """Return the logic of a model in words; of several trees, that of each class."""
    return "\n\n".join(map(str, described(model, label).values())) or str(model)


def described(model: Tree | Decision, label: Any = None) -> dict[Any, Description]:
    """Return the description of the tree of each class, or of the one that speaks for a label."""
    from baconlogic import explain

    classes = model.classes if isinstance(model, Decision) and len(model.trees) != 1 and label is None else (label,)
    known = classes if trees_of(model) else ()
    return {each: explain.describe(model, label=each) for each in known}


def summary(model: Tree | Decision) -> dict[str, Any]:
    """Return what there is to know about a model as plain data."""
    from baconlogic.edit._log import count

    said: dict[str, Any] = {
        "kind": "decision" if isinstance(model, Decision) else "tree",
        "trees": [
            {"formula": tree.formula(), "features": tree.features, "leaves": count(tree)[0], "gates": count(tree)[1]}
            | {"form": said.form, "card": said.lines}
            for tree, said in zip(trees_of(model), described(model).values(), strict=True)
        ],
    }
    if isinstance(model, Decision):
        said |= {
            "classes": model.classes,
            "thresholds": [model.threshold] if len(model.trees) == 1 else [link.threshold for link in model.links],
            "columns": [{"name": feature.name, "kind": feature.kind} for feature in model.features],
            "provenance": dict(model.provenance),
        }
    return said


def with_threshold(model: Tree | Decision, threshold: float, said: str) -> Decision:
    """Return the decision that turns at another truth; probabilities stay what they are."""
    if not isinstance(model, Decision) or len(model.trees) != 1:
        what = f"has {len(model.trees)} trees" if isinstance(model, Decision) else "is a tree alone"
        raise RefusedError(f"a threshold turns a decision between two classes, but this model {what}")
    return replace(model, turns_at=threshold, provenance={**model.provenance, "threshold": said})
