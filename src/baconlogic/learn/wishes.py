"""What the expert says before learning: checked, and refused where it contradicts itself or the table."""

from __future__ import annotations

import difflib
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from numbers import Real
from typing import TYPE_CHECKING, Any

from baconlogic.core import gcd
from baconlogic.core.checks import Hint, Parameter, ParameterError
from baconlogic.core.nodes import Gate, Leaf

if TYPE_CHECKING:
    from collections.abc import Sequence

    from baconlogic.core.tree import Tree

DIRECTIONS = {"rising": 1, "falling": -1, "learn": 0}
ANY = (gcd.LOWEST, gcd.HIGHEST)


@dataclass(frozen=True)
class Wishes:
    """The expert's say, by feature name; nothing asked for is the default."""

    order: tuple[str, ...] = ()  # most important first
    directions: Mapping[str, int] | None = None  # 1 rising, -1 falling
    required: tuple[str, ...] = ()
    forbidden: tuple[str, ...] = ()
    andness: tuple[float, float] = ANY  # of every gate
    gates: Mapping[str, tuple[float, float]] | None = None  # of the gate a feature enters
    init: Tree | None = None

    def direction(self, feature: str) -> int:
        """Return 1 for rising, -1 for falling, 0 to be learned."""
        return (self.directions or {}).get(feature, 0)

    def bounds(self, feature: str) -> tuple[float, float]:
        """Return the lowest and highest andness of a gate with this feature."""
        low, high = (self.gates or {}).get(feature, ANY)
        return max(low, self.andness[0]), min(high, self.andness[1])


def wishes(
    names: Sequence[str], *, order: Any, directions: Any, required: Any, forbidden: Any, andness: Any, init: Any,
    max_leaves: int | None,
) -> Wishes:  # fmt: skip
    """Return what is asked for; raises where two wishes contradict each other, naming both."""
    turned = {name: _direction(name, value) for name, value in _mapping(directions, "directions", names).items()}
    tree, gates = _andness(andness, names)
    asked = Wishes(
        _listed(order, "order", names), turned, _listed(required, "required", names),
        _listed(forbidden, "forbidden", names), tree, gates, init,
    )  # fmt: skip
    _agree(asked, max_leaves)
    if init is not None:
        agree_with_init(asked, names, max_leaves)
    return asked


def agree_with_search(asked: Wishes, search: str, features: int, max_leaves: int | None) -> None:
    """Refuse wishes that a search, by its name, cannot grant; `features` is how many it may use."""
    stated = "order" if asked.order else "init" if asked.init is not None else ""
    if (stated and search in ("peel", "additive")) or (asked.order and search in ("growth", "auto")):
        raise ValueError(f"{stated} states a structure, which search={search!r} would not keep; use search='refine'")
    if stated == "init" and search == "sinkhorn":
        raise ValueError("init states a structure, but search='sinkhorn' has its own; use search='refine' or 'growth'")
    if asked.required and search == "peel":
        raise ValueError(f"{asked.required[0]!r} is required, which search='peel' does not promise; use search='auto'")
    if search == "sinkhorn" and max_leaves is not None and features > max_leaves:
        said = f" uses all {features} features, but max_leaves is {max_leaves}; forbid some"
        raise ParameterError(Parameter("search", search), said)
    if search == "additive" and any(not low <= gcd.NEUTRAL <= high for low, high in _stated(asked)):
        raise ValueError("andness excludes 0.5, but search='additive' joins all by a neutral gate; use search='auto'")
    if search == "sinkhorn" and (asked.andness != ANY or asked.gates):
        raise ValueError("andness is bounded, but search='sinkhorn' learns it freely; use search='auto' or 'growth'")


def _stated(asked: Wishes) -> list[tuple[float, float]]:
    return [asked.andness, *(asked.gates or {}).values()]


def _listed(value: Any, what: str, names: Sequence[str]) -> tuple[str, ...]:
    if value is None:
        return ()
    if isinstance(value, str) or not isinstance(value, Iterable):
        raise TypeError(f"{what} must be a list of feature names, got {value!r}")
    found = tuple(value)
    _known(found, what, names)
    twice = [name for name, times in Counter(found).items() if times > 1]
    if twice:
        raise ParameterError(Parameter(what), f" names {twice[0]!r} twice")
    return found


def _known(found: Iterable[Any], what: str, names: Sequence[str]) -> None:
    for name in found:
        if name not in names:
            close = difflib.get_close_matches(str(name), [str(known) for known in names], n=1)
            hint = f"did you mean {close[0]!r}?" if close else f"the table has {', '.join(map(repr, names[:10]))}"
            raise ParameterError(Parameter(what), f" names {name!r}, which is not a column; {hint}")


def _mapping(value: Any, what: str, names: Sequence[str]) -> Mapping[str, Any]:
    if value is None:
        return {}
    if isinstance(value, str):
        return dict.fromkeys(names, value)
    if not isinstance(value, Mapping):
        raise TypeError(f"{what} must be a mapping of feature names to values, got {value!r}")
    _known(value, what, names)
    return value


def _direction(name: str, value: Any) -> int:
    if not isinstance(value, str) or value not in DIRECTIONS:
        raise ValueError(f"the direction of {name!r} must be 'rising', 'falling' or 'learn', got {value!r}")
    return DIRECTIONS[value]


def _andness(value: Any, names: Sequence[str]) -> tuple[tuple[float, float], Mapping[str, tuple[float, float]]]:
    if value is None:
        return ANY, {}
    if not isinstance(value, Mapping):
        return _bounds(value, Parameter("andness")), {}
    said = {name: _bounds(pair, f"the andness of {name!r}") for name, pair in value.items()}
    tree = said.pop(None, ANY)
    _known(said, "andness", names)
    return tree, said


def _bounds(value: Any, what: str | Parameter) -> tuple[float, float]:
    pair = tuple(value) if isinstance(value, Iterable) and not isinstance(value, str) else ()
    if len(pair) != 2 or not all(isinstance(end, Real) and not isinstance(end, bool) for end in pair):
        raise TypeError(f"{what} must be a pair (lowest, highest), e.g. (0.75, 2) for hard conjunction, got {value!r}")
    low, high = float(pair[0]), float(pair[1])
    if not gcd.LOWEST <= low <= high <= gcd.HIGHEST:
        pair_words = Hint("bounds", "(lowest, highest)")
        raise ParameterError(what, " must be ", pair_words, f" within [-1, 2], got ({low:g}, {high:g})")
    return low, high


def _agree(asked: Wishes, max_leaves: int | None) -> None:
    for what, named in (("required", asked.required), ("order", asked.order)):
        both = [name for name in named if name in asked.forbidden]
        if both:
            raise ValueError(f"{both[0]!r} is in {what} and in forbidden; take it out of one of them")
        if max_leaves is not None and len(named) > max_leaves:
            raise ParameterError(Parameter(what), f" names {len(named)} features, but max_leaves is {max_leaves}")
    if asked.order:
        lost = [name for name in asked.required if name not in asked.order]
        if lost:
            raise ValueError(f"{lost[0]!r} is required, but order, which names all features to use, lacks it")
    for name, (low, high) in (asked.gates or {}).items():
        if max(low, asked.andness[0]) > min(high, asked.andness[1]):
            tree = f"({asked.andness[0]:g}, {asked.andness[1]:g})"
            raise ValueError(f"andness ({low:g}, {high:g}) for {name!r} lies outside that of the tree, {tree}")
        if name in asked.forbidden:
            raise ValueError(f"andness is stated for {name!r}, which is forbidden; take it out of one of them")
    last = {name: asked.bounds(name) for name in asked.order[-2:]}  # these enter one gate
    if last and max(low for low, _ in last.values()) > min(high for _, high in last.values()):
        pair = " and ".join(f"{name!r} ({low:g}, {high:g})" for name, (low, high) in last.items())
        raise ValueError(f"order puts {pair} into one gate, but their andness excludes each other")


def agree_with_init(asked: Wishes, names: Sequence[str], max_leaves: int | None) -> None:
    """Refuse wishes that contradict the tree to start from."""
    tree = asked.init
    if tree is None or not hasattr(tree, "walk"):
        raise TypeError(f"init must be a Tree, e.g. Tree.parse('HC(a, b)'), got {tree!r:.60}")
    _known(tree.features, "init", names)
    leaves = sum(isinstance(node, Leaf) for _, node in tree.walk())
    if max_leaves is not None and leaves > max_leaves:
        raise ValueError(f"init has {leaves} leaves, but max_leaves is {max_leaves}")
    if asked.order:
        raise ValueError("order and init both state the structure; give one of them")
    for name in asked.required:
        if name not in tree.features:
            raise ValueError(f"{name!r} is required, but init does not use it")
    for name in tree.features:
        if name in asked.forbidden:
            raise ValueError(f"{name!r} is forbidden, but init uses it")
    broken = _broken_bound(asked, tree)
    if broken:
        raise ValueError(f"init has {broken}")


def unmet(asked: Wishes, tree: Tree) -> str | None:
    """Return what a tree that was found has or lacks against the wishes, in words; None where it grants them."""
    for name in asked.required:
        if name not in tree.features:
            return f"no leaf for {name!r}, which is required"
    return _broken_bound(asked, tree)


def _broken_bound(asked: Wishes, tree: Tree) -> str | None:
    """Return the first gate whose andness is not as asked, in words; None where all are."""
    for _, gate in tree.walk():
        if isinstance(gate, Gate):
            bounds = {f"andness for {n.feature!r}": asked.bounds(n.feature) for n in gate.inputs if isinstance(n, Leaf)}
            for what, (low, high) in ({"andness": asked.andness} | bounds).items():
                if not low - 1e-9 <= gate.andness <= high + 1e-9:
                    return f"a gate of andness {gate.andness:g}, but {what} asks for [{low:g}, {high:g}]"
    return None
