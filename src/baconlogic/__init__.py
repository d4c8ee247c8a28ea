"""Graded-logic trees: decisions that people can read, check, edit and carry away.

    raw column --criterion--> degree of truth in [0, 1] --gates--> degree of truth of the decision --link--> class

The reading map, from the bottom up:

    gcd         how truths combine: the formula, its derivatives, the 23 named levels
    criteria    how a raw column becomes a truth, and back
    nodes       Leaf, Not and Gate
    tree        Tree: the one object everything else is a function of
    decision    Decision: trees with classes, links to probability, features and provenance; load
    evaluation, bounds      what a tree says about rows, also when values are missing
    notation, drawing       a tree as text: one line to type, a picture to read
    files       a tree or a decision as JSON
    kernel      loss and gradient, compiled; needs numba, which a tree itself does not
    search      ways to find a tree: Growth, Additive, Peel, Sinkhorn
    classifier  BaconClassifier: learning, the scikit-learn way
    thresholds  where a decision should turn: screening, diagnosis, treatment planning, costs
    explain     questions to a tree: what matters, why this case, what would change it
    edit        tree -> tree: prune, simplify, regroup, set, refit; EditLog
    plot        pictures; needs matplotlib
    export      tree -> Python, C, JavaScript, SQL, ONNX, LaTeX, a workbook
    report      a page or Markdown for people; a prompt for a language model, and a check of what it wrote
    cli         the command `baconlogic`; needs typer and polars
    datasets    tables for experiments
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from baconlogic import criteria, gcd
from baconlogic.core import __version__ as __version__
from baconlogic.core.decision import Decision, load
from baconlogic.core.files import ModelFormatError
from baconlogic.core.notation import FormulaError
from baconlogic.core.tree import Gate, Leaf, Not, Tree

if TYPE_CHECKING:
    from baconlogic import datasets, edit, explain, export, plot, report, search, thresholds
    from baconlogic.learn.classifier import BaconClassifier

__all__ = [
    "BaconClassifier",
    "Decision",
    "FormulaError",
    "Gate",
    "Leaf",
    "ModelFormatError",
    "Not",
    "Tree",
    "criteria",
    "datasets",
    "edit",
    "explain",
    "export",
    "gcd",
    "load",
    "plot",
    "report",
    "search",
    "thresholds",
]


def __getattr__(name: str) -> Any:
    """Bring in what learns only when it is asked for: a tree needs numpy alone."""
    if name == "BaconClassifier":
        return import_module("baconlogic.learn.classifier").BaconClassifier
    if name in ("datasets", "edit", "explain", "export", "plot", "report", "search", "thresholds"):
        return import_module(f"baconlogic.{name}")
    raise AttributeError(f"module 'baconlogic' has no attribute {name!r}")
