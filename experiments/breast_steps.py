"""From the chain over all features to a tree that can be told: prune, simplify, group by meaning, refit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from baconlogic import edit
from baconlogic.core.nodes import Gate, Leaf, Not
from baconlogic.core.results import Result

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from baconlogic.core.decision import Decision
    from baconlogic.core.tree import Tree
    from baconlogic.explain import PruningCurve

# What a measurement is about: its name without the number (1 mean, 2 standard error, 3 worst of an image).
MEANINGS = {
    "size": ("radius", "perimeter", "area"),
    "shape": ("smoothness", "compactness", "concavity", "concave_points", "symmetry", "fractal_dimension"),
    "texture": ("texture",),
}
NAMES = ("as learned", "pruned", "simplified", "grouped by meaning", "refitted")


@dataclass(frozen=True)
class Step(Result):
    """A tree on the way, with its accuracy on the rows it was made with and on others."""

    name: str
    tree: Tree
    threshold: float
    leaves: int
    gates: int
    in_sample: float
    held_out: float | None


@dataclass(frozen=True)
class Layer(Result):
    """A gate of a chain: the feature that enters it there, and accuracy once all below that feature is pruned."""

    layer: int  # from the bottom
    feature: str
    weight: float  # of the feature; the chain below has the rest
    andness: float
    accuracy: float


def steps(whole: Decision, X: Any, y: NDArray[Any], X_new: Any = None, y_new: Any = None) -> tuple[Step, ...]:
    """Return the tree as learned, pruned, simplified, grouped by meaning and refitted, each judged.

    Pruning goes on while no accuracy is lost in (X, y); refitting uses these rows too. (X_new, y_new) only judge.
    """
    pruned = edit.prune(whole, X=X, y=y, tolerance=0.0)
    simple = edit.simplify(pruned)
    grouped = whole.with_tree(edit.regroup(simple, groups_of(simple.features)))
    trees = [whole, whole.with_tree(pruned), whole.with_tree(simple), grouped, edit.refit_decision(grouped, X, y)]
    return tuple(
        Step(
            name, each.tree, each.threshold, *_size(each.tree), _right(each, X, y),
            None if X_new is None else _right(each, X_new, y_new),
        )
        for name, each in zip(NAMES, trees, strict=True)
    )  # fmt: skip


def groups_of(features: tuple[str, ...]) -> dict[str, list[str]]:
    """Return the features of each meaning."""
    found = {what: [name for name in features if name[:-1] in kinds] for what, kinds in MEANINGS.items()}
    return {what: names for what, names in found.items() if names}


def layers(tree: Tree, curve: PruningCurve) -> tuple[Layer, ...]:
    """Return a left chain from the bottom up, as the paper's Table 7 does."""
    enters: dict[str, tuple[float, float]] = {}
    for _, node in tree.walk():
        for i, below in enumerate(node.inputs if isinstance(node, Gate) else ()):
            leaf = below.input if isinstance(below, Not) else below
            if isinstance(node, Gate) and isinstance(leaf, Leaf):
                enters[leaf.feature] = node.weights[i], node.andness
    bottom = curve.steps("bottom")
    left = [step.removed for step in bottom[2:]] + [bottom[-1].kept[0]]  # the lowest leaf after each removal
    return tuple(
        Layer(i, feature, *enters[feature], step.accuracy)
        for i, (feature, step) in enumerate(zip(left, bottom[1:], strict=True), 1)
    )


def _size(tree: Tree) -> tuple[int, int]:
    nodes = [node for _, node in tree.walk()]
    return sum(isinstance(node, Leaf) for node in nodes), sum(isinstance(node, Gate) for node in nodes)


def _right(decision: Decision, X: Any, y: NDArray[Any]) -> float:
    return float(np.mean(decision.predict(X) == y))
