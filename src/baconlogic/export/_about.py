"""What stands at the top of every export: what the model is, where it comes from, its columns, how it answers."""

from __future__ import annotations

import re
from typing import Any

from baconlogic.core import __version__
from baconlogic.core.decision import Decision
from baconlogic.core.forms import MOST_LAYERS, shape_of
from baconlogic.core.nodes import Leaf, flatten
from baconlogic.core.tree import Tree
from baconlogic.core.words import listed, number
from baconlogic.explain._describe import describe
from baconlogic.export._program import Program


def commented(text: str, also: str = "") -> str:
    """Return text that a comment of any language can hold, as one printable line without a backslash.

    All else is told by its number, [U+005C], and so is each sign that the pattern `also` matches: those that
    a language, or a tool that reads it, would take for more than a comment.
    """
    marked = {found.start() for found in re.finditer(also, text)} if also else set()
    kept = (c.isprintable() and c != "\\" and i not in marked for i, c in enumerate(text))
    return "".join(c if keep else f"[U+{ord(c):04X}]" for c, keep in zip(text, kept, strict=True))


def about(model: Any, program: Program, also: str = "") -> list[str]:
    """Return the lines of the comment on top, each `commented`; nothing of the model is in the first."""
    lines = [f"A graded-logic decision, exported by baconlogic {__version__}."]
    lines += [*_answers(model, program), *_cards(model, program)]
    lines += ["Columns:"] if program.inputs else []
    words = _words(model)
    for each in program.inputs:
        lines += [f"  {each.feature}{f' [{each.unit}]' if each.unit else ''}"]
        lines += [f"      {said}" for said in words[each.feature]]
    lines += _origin(getattr(model, "decision_", model))
    for k, tree in enumerate(trees_of(model)):
        title = "Tree" if len(program.truths) == 1 else f"Tree of {program.classes[k]}"
        lines += [f"{title}: {tree.formula()}"]
    return [commented(line, also) for line in lines]


def head(model: Any, program: Program, mark: str, also: str = "") -> str:
    """Return `about` with the mark of a comment before each line."""
    return "\n".join(f"{mark} {line}".rstrip() for line in about(model, program, also))


def trees_of(model: Any) -> tuple[Tree, ...]:
    """Return the trees of a Tree, a Decision or a fitted classifier."""
    model = getattr(model, "decision_", model)
    return (model,) if isinstance(model, Tree) else tuple(model.trees)


def leaves_of(model: Any) -> list[Leaf]:
    """Return the leaves of all trees, left to right."""
    return [node for tree in trees_of(model) for node, _ in flatten(tree.root) if isinstance(node, Leaf)]


def _answers(model: Any, program: Program) -> list[str]:
    labels = [repr(label) for label in program.classes]
    if len(labels) == 1:
        return [f"Every answer is {labels[0]}."]
    if program.threshold is None:
        return [f"The answer is the most probable of {listed(labels, 'and')}."]
    said = f"The answer is {labels[1]} when the truth is above {program.threshold!r}, else {labels[0]}."
    if isinstance(model, Tree):
        return [said]
    link = getattr(model, "decision_", model).links[0]
    return [said, f"Probability: 1 / (1 + exp(-{link.steepness!r} (truth - {link.threshold!r})))."]


def _cards(model: Any, program: Program) -> list[str]:
    """Say the logic of each tree that fits on a card."""
    labels = [None] if len(program.truths) == 1 else program.classes
    pairs = zip(trees_of(model), labels, strict=True) if program.truths else ()
    small = (label for tree, label in pairs if shape_of(tree.root).layers <= MOST_LAYERS)
    return [line for label in small for line in describe(model, label=label).lines]


def _words(model: Any) -> dict[str, dict[str, None]]:
    """Return what the leaves say of each column, each thing once."""
    found: dict[str, dict[str, None]] = {}
    for leaf in leaves_of(model):
        shape = leaf.criterion
        said = shape.words("it") if shape.categorical or shape.holds_truths else shape.detail()
        found.setdefault(leaf.feature, {})[said] = None
    return found


def _origin(model: Tree | Decision) -> list[str]:
    """Say by which version it was learned and from how many rows; a file may hold anything there."""
    told = model.provenance if isinstance(model, Decision) else {}
    made, rows = told.get("baconlogic"), told.get("cases")
    said = [f"with baconlogic {made}"] if isinstance(made, str) else []
    said += [f"from {number(rows)} rows"] if isinstance(rows, int | float) and not isinstance(rows, bool) else []
    edited = any(isinstance(tree, dict) and tree.get("edited") for tree in told.get("trees") or ())
    return [f"It was learned {' '.join(said)}{', then edited by hand' if edited else ''}."] if said else []
