"""The commands show and describe: the card of a model, its parts, its logic in sentences."""

from __future__ import annotations

from typing import Annotated, Any

from typer import Option

from baconlogic import Decision, Gate, Leaf, Tree
from baconlogic.cli import _models, _options, _print
from baconlogic.core.words import aligned, one_line


def show(
    *,
    model: _options.Model,
    parts: Annotated[bool, Option("--parts", help="List the parts with the paths by which edit finds them.")] = False,
    tree: Annotated[bool, Option("--tree", help="Draw the tree in letters.")] = False,
    formula: Annotated[bool, Option("--formula", help="Print the one-line notation.")] = False,
    as_json: _options.Json = False,
) -> None:
    """Print the card of a model, its logic in short, and where it comes from."""
    found = _models.read(model)
    trees = _models.trees_of(found)
    if as_json:
        _print.document(_models.summary(found) | {"parts": [_parts(each) for each in trees]})
    elif parts:
        classes = _models.classes_of(found)
        abouts = [f"--label {one_line(str(label))}\n" for label in classes] if len(classes) > 2 else [""]
        _print.answer("\n\n".join(about + _table(each) for about, each in zip(abouts, trees, strict=False)))
    elif formula:
        _print.answer("\n".join(each.formula() for each in trees))
    else:
        _print.answer("\n\n".join(filter(None, [str(found) if tree else _models.card(found), _origin(found)])))


def _parts(tree: Tree) -> list[dict[str, Any]]:
    """Return the parts of a tree: where they are and what they are."""
    from baconlogic.core.notation import say

    nodes = dict(tree.walk())
    return [
        {
            "path": _print.written(path),
            "kind": "leaf" if isinstance(node, Leaf) else "gate" if isinstance(node, Gate) else "not",
            "name": node.name or (node.feature if isinstance(node, Leaf) else ""),
            "weight": above.weights[path[-1]] if path and isinstance(above := nodes[path[:-1]], Gate) else None,
            "andness": node.andness if isinstance(node, Gate) else None,
            "text": say(node),
        }
        for path, node in nodes.items()
    ]


def _table(tree: Tree) -> str:
    rows = [
        [each["path"], each["kind"], "" if each["weight"] is None else f"{each['weight']:.1%}", each["text"]]
        for each in _parts(tree)
    ]
    return aligned(["path", "kind", "weight", "what it says"], rows, left=4)


def _origin(model: Tree | Decision) -> str:
    """Say where a model comes from, as far as it knows."""
    if not isinstance(model, Decision) or not model.provenance:
        return ""
    known, said = model.provenance, []
    if "cases" in known:
        said.append(f"learned from {known['cases']:g} rows and {len(model.features)} columns")
    for tree in known.get("trees") or ():
        if tree.get("edited"):
            said.append("edited since it was learned")
        elif tree.get("held_out_accuracy") is not None:
            said.append(
                f"held out inside fit: accuracy {tree['held_out_accuracy']:.4f}, "
                f"log-loss {tree['held_out_log_loss']:.4f} (of the base rate {tree['base_rate_log_loss']:.4f})"
            )
    if "threshold" in known:
        said.append(f"threshold: {known['threshold']}")
    return "\n".join(said)


def describe(*, model: _options.Model, label: _options.Label = None, as_json: _options.Json = False) -> None:
    """Say the whole logic in plain sentences."""
    found, asked = _models.read_asked(model, label)
    told = {str(known): said.to_dict() for known, said in _models.described(found, asked).items()}
    _print.give(told if len(told) != 1 else next(iter(told.values())), _models.card(found, asked), as_json)
