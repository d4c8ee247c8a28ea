"""One case: what its leaves say of its values, what its missing values are taken as, and how both are put in words."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from baconlogic.core.checks import Hint, ParameterError
from baconlogic.core.criteria import Table, unlisted
from baconlogic.core.nodes import Leaf, mapped
from baconlogic.core.subject import Instance
from baconlogic.core.tree import Tree
from baconlogic.core.words import degree, kinds, listed, number, one_line

MOST_LISTED = 3  # categories to be told of one value


def with_leaves(tree: Tree, change: Callable[[Leaf], Leaf]) -> Tree:
    """Return the tree with every leaf changed."""
    return Tree(mapped(tree.root, lambda node: change(node) if isinstance(node, Leaf) else node))


def constant(leaf: Leaf, truth: float) -> Leaf:
    """Return the leaf that has one truth whatever the value is, also an unknown one."""
    return Leaf(leaf.feature, Table([(0, truth)], other=truth, missing=truth), leaf.name)


def taken_as_stated(tree: Tree, features: Iterable[str]) -> Tree:
    """Return the tree in which these missing values are what their criteria take them as, a fact like any other."""
    fixed = set(features)
    if not fixed:
        return tree
    return with_leaves(
        tree, lambda leaf: constant(leaf, leaf.criterion.missing or 0.0) if leaf.feature in fixed else leaf
    )


def is_stated(leaves: Iterable[Leaf]) -> bool:
    """Whether every criterion of a feature states a truth for missing values."""
    return all(leaf.criterion.missing is not None for leaf in leaves)


def unstated(case: Instance) -> list[str]:
    """Return the missing features for which no truth is stated."""
    return [name for name in case.missing if not is_stated(case.leaves[name])]


def refuse_unknown(features: Sequence[str], why: str) -> None:
    """Refuse a case that lacks values whose truth when missing nobody stated."""
    if features:
        names = listed([repr(name) for name in features[:10]], "and")
        raise ParameterError(
            f"{names} {'is' if len(features) == 1 else 'are'} missing, and no truth for missing values is stated, so "
            f"{why}; fill in the value, or ask ",
            Hint("unknown", "`unknown`"),
            " whether the decision stands without it",
        )


def truth_of(leaf: Leaf, value: Any) -> float | None:
    """Return what a leaf says of one value; None when it refuses the value."""
    sides = sides_of(leaf, value)
    return None if sides is None else sides[0]


def sides_of(leaf: Leaf, value: Any) -> tuple[float, float] | None:
    """Return truth and falsity of one value at a leaf; None when it refuses the value."""
    kind = object if leaf.criterion.categorical else float
    try:
        values = np.array([np.nan if value is None and kind is float else value], kind)
        return float(leaf.criterion.truth(values)[0]), float(leaf.criterion.falsity(values)[0])
    except (ValueError, TypeError):
        return None


def categories(leaves: Sequence[Leaf]) -> list[Any]:
    """Return the categories that tables on a feature name and every leaf on it accepts; none for numbers."""
    named = dict.fromkeys(category for leaf in leaves for category, _ in leaf.criterion.truths)
    return [category for category in named if all(truth_of(leaf, category) is not None for leaf in leaves)]


def unnamed(leaves: Sequence[Leaf]) -> list[Any]:
    """Return a category that no table on a feature names, where every leaf on it accepts such; else nothing."""
    named = [category for leaf in leaves for category, _ in leaf.criterion.truths]
    other = unlisted(named)
    return [other] if named and all(truth_of(leaf, other) is not None for leaf in leaves) else []


def answer(label: Any) -> str:
    """Say a label; a tree alone answers yes or no."""
    return {True: "yes", False: "no"}[label] if isinstance(label, bool) else one_line(str(label))


def together(features: Iterable[str]) -> str:
    """Write features as a list."""
    return listed([one_line(name) for name in features], "and")


def raw(value: Any, leaves: Sequence[Leaf], step: float | None = None) -> str:
    """Write a raw value with its unit; a number to a hundredth of `step`, or in full where that is 0."""
    if value is None:
        return "missing"
    if isinstance(value, str | bool):
        return repr(value)
    units = [leaf.criterion.unit for leaf in leaves if leaf.criterion.unit]
    text = number(value, step or None)
    text = repr(value) if step == 0.0 and float(text) != value else text
    return f"{text}{f' {one_line(units[0])}' if units else ''}"


def fact(feature: str, value: Any, leaves: Sequence[Leaf]) -> str:
    """Say a value and what the tree makes of it: "area is 1200 mm2 (large: 83% true)"."""
    if value is None:
        taken = dict.fromkeys(degree(leaf.criterion.missing or 0.0) for leaf in leaves)
        return f"{one_line(feature)} is missing (taken as {listed(list(taken), 'and')})"
    told = list(dict.fromkeys(_told(leaf, value) for leaf in leaves if not _is_it(leaf, value)))
    return f"{one_line(feature)} is {raw(value, leaves)}" + (f" ({_apart(told)})" if told else "")


def _told(leaf: Leaf, value: Any) -> str:
    """Say what a leaf makes of a value: which side of a crisp condition it is on, "above 720", else how true it is."""
    truth = truth_of(leaf, value) or 0.0
    side = leaf.criterion.predicate(negated=truth == 0.0) if leaf.criterion.crisp and not leaf.name else None
    listed_ones = [category for category, each in leaf.criterion.truths if each == 1.0]
    if side is not None and not leaf.criterion.other and len(listed_ones) > MOST_LISTED:
        return f"{'one' if truth else 'none'} of {len(listed_ones)} listed"
    return f"{meaning(leaf)}{degree(truth)}" if side is None else side.removeprefix("is ")


def _apart(told: list[str]) -> str:
    return ("; " if any("," in each or " or " in each for each in told) else ", ").join(told)


def _is_it(leaf: Leaf, value: Any) -> bool:
    """Whether a leaf asks just for this category, or for any but this: then there is no more to say of it."""
    if not leaf.criterion.crisp or leaf.name:
        return False
    return f"is {kinds([value])}" in (leaf.criterion.predicate(), leaf.criterion.predicate(negated=True))


def meaning(leaf: Leaf) -> str:
    """Say what a leaf claims, without its numbers: "large: "; nothing where the column speaks for itself."""
    return f"{one_line(leaf.name)}: " if leaf.name else leaf.criterion.meaning
