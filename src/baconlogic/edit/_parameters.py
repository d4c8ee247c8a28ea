"""Changing what a node says: andness, weights, direction, criterion, name."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from baconlogic.core import notation
from baconlogic.core.checks import ParameterTypeError, TreePart
from baconlogic.core.criteria import Criterion
from baconlogic.core.nodes import Gate, Leaf, Node, Not, Path, mapped
from baconlogic.core.tree import Tree

What = Path | Node | str


def snap(tree: Tree) -> Tree:
    """Return the tree with every andness at the nearest of the 23 named levels."""
    return Tree(mapped(tree.root, lambda node: _snapped(node) if isinstance(node, Gate) else node))


def set_andness(tree: Tree, what: What, andness: float | str) -> Tree:
    """Return the tree with another andness, a number or a code such as "HC", of one gate."""
    path, gate = gate_at(tree, what, "andness")
    return tree.replace(path, Gate(gate.inputs, andness, gate.weights, gate.aggregator, gate.name))


def reweight(tree: Tree, what: What, weights: Sequence[float] | Mapping[str, float]) -> Tree:
    """Return the tree with other weights of one gate: of all its inputs, or {name or feature: share} of some.

    Inputs that a mapping does not mention share the rest in the proportion that they had.
    """
    path, gate = gate_at(tree, what, "weights")
    if isinstance(weights, Mapping):
        weights = _shared(gate, weights)
    elif isinstance(weights, str) or not hasattr(weights, "__len__"):
        raise TypeError(f"weights are a list, one for each input, or a mapping of names to shares; got {weights!r}")
    plain = [weight.item() if hasattr(weight, "item") else weight for weight in weights]
    return tree.replace(path, Gate(gate.inputs, gate.andness, plain, gate.aggregator, gate.name))


def negate(tree: Tree, what: What) -> Tree:
    """Return the tree with a part turned into its opposite: its `not` taken off, its criterion mirrored, or a `not`."""
    path = tree.find(what)
    above = tree[path[:-1]] if path else None
    if isinstance(above, Not) and not above.name:
        return tree.replace(path[:-1], above.input)
    return tree.replace(path, negated(tree[path]))


def negated(node: Node) -> Node:
    """Return the negation of a node: without its `not`, with the mirrored criterion, or else with a `not` in front.

    What has a name keeps it, and so the `not` stays: "the cell is large" is not the name of its opposite.
    """
    if isinstance(node, Not) and not node.name:
        return node.input
    if isinstance(node, Leaf) and not node.name:
        criterion = node.criterion.mirrored()
        if criterion is not None:
            return Leaf(node.feature, criterion)
    return Not(node)


def set_criterion(tree: Tree, what: What, criterion: Criterion | str) -> Tree:
    """Return the tree with another criterion of one leaf: "half at 17, slope 2", "0 at 10, 1 at 20", or an object.

    The unit, and the truth of missing values, stay where the new criterion states none.
    """
    path = tree.find(what)
    leaf = tree[path]
    if not isinstance(leaf, Leaf):
        raise ParameterTypeError(TreePart(what), f" is {_article(leaf)}; only a leaf has a criterion")
    if isinstance(criterion, str):
        read = notation.parse(f"{json.dumps(leaf.feature, ensure_ascii=False)}[{criterion}]")
        assert isinstance(read, Leaf)  # noqa: S101
        criterion = read.criterion
    elif not isinstance(criterion, Criterion):
        raise TypeError(f"a criterion is an object of baconlogic.core.criteria or text, got {type(criterion).__name__}")
    old = leaf.criterion
    if criterion.missing is None and old.missing is not None:
        criterion = replace(criterion, missing=old.missing)
    if old.unit and not criterion.unit and "unit" in criterion.entries():
        criterion = replace(criterion, unit=old.unit)  # type: ignore[call-arg]
    return tree.replace(path, Leaf(leaf.feature, criterion, leaf.name))


def rename(tree: Tree, what: What | Mapping[str, str], name: str | None = None) -> Tree:
    """Return the tree with another name of one part ("" for none), or with columns renamed: {"old": "new"}."""
    if isinstance(what, Mapping):
        if name is not None:
            raise TypeError("a mapping renames columns; it takes no name besides")
        return _with_columns(tree, what)
    if not isinstance(name, str):
        raise TypeError(f'give the new name as text, e.g. rename(tree, "old", "new"); got {name!r}')
    path = tree.find(what)
    return tree.replace(path, replace(tree[path], name=name))


def gate_at(tree: Tree, what: What, sought: str) -> tuple[Path, Gate]:
    """Return the path of a gate and the gate."""
    path = tree.find(what)
    node = tree[path]
    if not isinstance(node, Gate):
        raise ParameterTypeError(TreePart(what), f" is {_article(node)}; only a gate has {sought}")
    return path, node


def _article(node: Node) -> str:
    return "a leaf" if isinstance(node, Leaf) else "a negation" if isinstance(node, Not) else "a gate"


def _snapped(gate: Gate) -> Gate:
    try:
        return Gate(gate.inputs, gate.level.code, gate.weights, gate.aggregator, gate.name)
    except ValueError:  # so many inputs do not resolve the stretch between the product and the drastic gate
        nearest = "CP" if gate.andness > 1.0 else "DP"
        return Gate(gate.inputs, nearest, gate.weights, gate.aggregator, gate.name)


def _shared(gate: Gate, wanted: Mapping[str, float]) -> list[float]:
    """Return all weights of a gate, given the shares of some of its inputs."""
    given = {_input(gate, key): float(share) for key, share in wanted.items()}
    if len(given) < len(wanted):
        raise ValueError(f"two of {', '.join(map(repr, wanted))} are the same input")
    wrong = [share for share in given.values() if not 0.0 < share <= 1.0]
    if wrong:
        raise ValueError(f"a share is above 0 and at most 1, got {wrong[0]:g}")
    if len(given) == len(gate.inputs):
        return [given[i] for i in range(len(gate.inputs))]
    rest = 1.0 - math.fsum(given.values())
    if rest <= 0.0:
        raise ValueError(f"the shares must leave something to the other inputs, but they sum to {1.0 - rest:g}")
    others = math.fsum(weight for i, weight in enumerate(gate.weights) if i not in given)
    return [given.get(i, weight / others * rest) for i, weight in enumerate(gate.weights)]


def _input(gate: Gate, key: str) -> int:
    """Return the place of the input of this name, or else on this feature."""
    called = [i for i, node in enumerate(gate.inputs) if node.name == key]
    places = called or [i for i, node in enumerate(gate.inputs) if _feature(node) == key]
    if len(places) != 1:
        known = ", ".join(repr(node.name or _feature(node)) for node in gate.inputs if node.name or _feature(node))
        raise LookupError(f"{len(places)} inputs of this gate are called {key!r}; it has {known or 'none with a name'}")
    return places[0]


def _feature(node: Node) -> str:
    while isinstance(node, Not):
        node = node.input
    return node.feature if isinstance(node, Leaf) else ""


def _with_columns(tree: Tree, names: Mapping[Any, str]) -> Tree:
    features = tree.features
    unknown = [old for old in names if old not in features]
    if unknown:
        raise LookupError(f"no leaf is on {unknown[0]!r}; the tree uses {', '.join(map(repr, features))}")
    after = [names.get(feature, feature) for feature in features]
    twice = [feature for feature in after if after.count(feature) > 1]
    if twice:
        raise ValueError(f"two columns would both be called {twice[0]!r}; names must differ")
    new = dict(zip(features, after, strict=True))
    return Tree(mapped(tree.root, lambda n: replace(n, feature=new[n.feature]) if isinstance(n, Leaf) else n))
