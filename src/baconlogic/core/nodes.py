"""The parts of a tree: Leaf, Not and Gate. Immutable; compared by what they say, not by who they are.

Trees can be thousands of gates deep (a chain over 1,000 variables), so nothing that walks them recurses.
"""

from __future__ import annotations

import math
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any, Self

from baconlogic.core import gcd
from baconlogic.core.checks import check_text
from baconlogic.core.criteria import Criterion, Given
from baconlogic.core.levels import LEVELS, Level, nearest_level

_CODES = "|".join(re.escape(code) for code in LEVELS)
_SPOKEN = "at|half|above|up|if|other|missing"
_FORMULA = re.compile(rf"^\s*not\s|^\s*(\w+\s+)?({_CODES}|[-+]?[\d.]+)\s*\(|\[.*\b({_SPOKEN})\b.*\]\s*$")

Path = tuple[int, ...]  # the way down from the root: which input at each step


@dataclass(frozen=True, eq=False, repr=False)
class Node(ABC):
    """A statement with a degree of truth. `name` is what people call it ("the cell is large"), if anything."""

    name: str

    @classmethod
    def build(cls, children: tuple[Node, ...], content: tuple[Any, ...]) -> Self:
        """Make a node of its children and its content."""
        parts: tuple[Any, ...] = (*children, *content)
        return cls(*parts)

    @property
    def children(self) -> tuple[Node, ...]:
        """The nodes right below."""
        return ()

    @property
    @abstractmethod
    def content(self) -> tuple[Any, ...]:
        """What the node itself says, without its children."""

    def with_children(self, children: tuple[Node, ...]) -> Self:
        """Return the same node over as many other children."""
        return self.build(children, self.content)

    def __eq__(self, other: object) -> bool:
        if self is other or not isinstance(other, Node):
            return self is other
        return type(self) is type(other) and self.content == other.content and spell(self) == spell(other)

    def __hash__(self) -> int:
        return hash(spell(self))

    def __repr__(self) -> str:
        said = [repr(part) for part in self.content if part != ""]
        return f"{type(self).__name__}({', '.join([*said, f'{len(self.children)} inputs'] if self.children else said)})"

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return rebuild, (spell(self),)  # flat, so that a deep tree pickles too


@dataclass(frozen=True, eq=False, repr=False)
class Leaf(Node):
    """One column seen through a criterion."""

    feature: str
    criterion: Criterion

    def __init__(self, feature: str, criterion: Criterion | None = None, name: str = "") -> None:
        check_text(feature, "a leaf's feature")
        check_text(name, "a name", empty=True)
        if not isinstance(criterion, Criterion | None):
            raise TypeError(f"the criterion of {feature!r} must be a Criterion, got {type(criterion).__name__}")
        _set(self, name=name, feature=feature, criterion=criterion or Given())

    @property
    def content(self) -> tuple[Any, ...]:
        """Feature, criterion and name."""
        return self.feature, self.criterion, self.name


@dataclass(frozen=True, eq=False, repr=False)
class Not(Node):
    """1 - x."""

    input: Node

    def __init__(self, input: Node | str, name: str = "") -> None:  # noqa: A002
        check_text(name, "a name", empty=True)
        _set(self, name=name, input=as_node(input))

    @property
    def children(self) -> tuple[Node, ...]:
        """The negated node."""
        return (self.input,)

    @property
    def content(self) -> tuple[Any, ...]:
        """Its name."""
        return (self.name,)


@dataclass(frozen=True, eq=False, repr=False)
class Gate(Node):
    """A GCD aggregator over two or more inputs. Text stands for a leaf, a code ("HC+") for its andness."""

    inputs: tuple[Node, ...]
    andness: float
    weights: tuple[float, ...]  # positive, sum 1
    aggregator: str

    def __init__(
        self,
        inputs: Sequence[Node | str],
        andness: float | str,
        weights: Sequence[float] | None = None,
        aggregator: str = gcd.DEFAULT,
        name: str = "",
    ) -> None:
        check_text(name, "a name", empty=True)
        if isinstance(inputs, str | Node):
            raise TypeError(f"the inputs of a gate are a list of two or more, got {inputs!r}")
        nodes = tuple(as_node(each) for each in inputs)
        if len(nodes) < 2:
            raise ValueError(f"a gate combines two or more inputs, got {len(nodes)}")
        if aggregator not in gcd.AGGREGATORS:
            raise ValueError(f"unknown aggregator {aggregator!r}; use one of {', '.join(gcd.AGGREGATORS)}")
        level, shares = _as_andness(andness, len(nodes)), _as_weights(weights, len(nodes))
        _set(self, name=name, inputs=nodes, andness=level, weights=shares, aggregator=aggregator)

    @classmethod
    def build(cls, children: tuple[Node, ...], content: tuple[Any, ...]) -> Self:
        """Make a gate over its children."""
        return cls(children, *content)

    @property
    def children(self) -> tuple[Node, ...]:
        """The inputs."""
        return self.inputs

    @property
    def content(self) -> tuple[Any, ...]:
        """Andness, weights, aggregator and name."""
        return self.andness, self.weights, self.aggregator, self.name

    @property
    def rule(self) -> str:
        """The name of its aggregator, where that is not the one that goes without saying."""
        return "" if self.aggregator == gcd.DEFAULT else self.aggregator

    @property
    def level(self) -> Level:
        """The named level nearest to its andness."""
        return nearest_level(self.andness, len(self.inputs))

    @property
    def coefficients(self) -> gcd.Coefficients:
        """The numbers of its formula."""
        return gcd.AGGREGATORS[self.aggregator].coefficients(self.andness, len(self.inputs))


def flatten(root: Node) -> list[tuple[Node, tuple[int, ...]]]:
    """List every node with the positions of its children in the list: children first, left to right, root last."""
    waiting, found = [root], []
    while waiting:
        node = waiting.pop()
        found.append(node)
        waiting.extend(node.children)
    order: list[tuple[Node, tuple[int, ...]]] = []
    loose: list[int] = []  # positions of nodes whose parent is still to come
    for position, node in enumerate(reversed(found)):
        first = len(loose) - len(node.children)
        order.append((node, tuple(loose[first:])))
        del loose[first:]
        loose.append(position)
    return order


def mapped(root: Node, change: Callable[[Node], Node]) -> Node:
    """Return the tree with every node changed, from the leaves up."""
    made: list[Node] = []
    for node, below in flatten(root):
        made.append(change(node.with_children(tuple(made[i] for i in below)) if below else node))
    return made[-1]


def negations(order: list[tuple[Node, tuple[int, ...]]]) -> list[bool]:
    """Return, for each node of `flatten`, whether an odd number of negations stands above it."""
    negated = [False] * len(order)
    for position, (node, below) in reversed(list(enumerate(order))):
        for child in below:
            negated[child] = negated[position] != isinstance(node, Not)
    return negated


def shares(order: list[tuple[Node, tuple[int, ...]]]) -> list[float]:
    """Return, for each node of `flatten`, the product of the weights on the way from the root."""
    found = [1.0] * len(order)
    for position, (node, below) in reversed(list(enumerate(order))):
        for place, child in enumerate(below):
            found[child] = found[position] * (node.weights[place] if isinstance(node, Gate) else 1.0)
    return found


def walk(root: Node) -> Iterator[tuple[Path, Node]]:
    """Yield every node with its path, root first, left to right."""
    waiting: list[tuple[Path, Node]] = [((), root)]
    while waiting:
        path, node = waiting.pop()
        yield path, node
        waiting.extend(((*path, i), child) for i, child in reversed(list(enumerate(node.children))))


def spell(root: Node) -> tuple[tuple[type[Node], tuple[Any, ...], tuple[int, ...]], ...]:
    """Return a tree as one flat tuple: (type, content, positions of children) for each node."""
    return tuple((type(node), node.content, below) for node, below in flatten(root))


def rebuild(spelled: tuple[tuple[type[Node], tuple[Any, ...], tuple[int, ...]], ...]) -> Node:
    """Return the tree that `spell` spelled."""
    made: list[Node] = []
    for kind, content, below in spelled:
        made.append(kind.build(tuple(made[i] for i in below), content))
    return made[-1]


def _set(node: Node, **fields: Any) -> None:
    for name, value in fields.items():
        object.__setattr__(node, name, value)


def as_node(given: Any) -> Node:
    """Return a node as it is and text as the leaf of that column; text that is a formula is surely not a column."""
    if isinstance(given, str):
        if _FORMULA.search(given):
            raise ValueError(f"{given!r} reads like a formula, not a column; use Tree.parse(...).root, or Leaf(...)")
        return Leaf(given)
    if not isinstance(given, Node):
        raise TypeError(f"an input must be a Leaf, Not or Gate, or a feature's name, got {type(given).__name__}")
    return given


def _as_andness(andness: Any, n: int) -> float:
    if isinstance(andness, str):
        if andness not in LEVELS:
            raise ValueError(f"unknown code {andness!r}; the codes are {', '.join(LEVELS)}")
        value = LEVELS[andness].andness(n)
        if andness not in ("CC", "DD"):
            _check_resolved(value, n)
        return value
    if isinstance(andness, bool) or not isinstance(andness, Real):
        raise TypeError(f"andness must be a number or a code, got {andness!r}")
    value, end = float(andness), gcd.drastic(n)
    gcd.check_andness(value)
    if end < value < gcd.HIGHEST or gcd.LOWEST < value < 1.0 - end:
        limits = f"andness of {n} inputs runs from {1.0 - end:.4g} to {end:.4g}"
        raise ValueError(f"{limits}, got {value:g}; use CC or DD for a drastic gate")
    if value not in (gcd.HIGHEST, gcd.LOWEST, end, 1.0 - end):
        _check_resolved(value, n)
    return value


def _check_resolved(andness: float, n: int) -> None:
    """Refuse a hyper gate of so many inputs that its andness cannot be told from the drastic one's."""
    if n - (n - 1.0) * max(andness, 1.0 - andness) < 1e-7:
        raise ValueError(f"a gate of {n} inputs cannot resolve an andness of {andness:.12g}; use C or D, or nest gates")


def _as_weights(weights: Sequence[float] | None, n: int) -> tuple[float, ...]:
    """Return weights that sum to 1: as they are when they do, so that no round trip drifts; rounded ones scaled."""
    if weights is None:
        return (1.0 / n,) * n
    if len(weights) != n:
        raise ValueError(f"{n} inputs need {n} weights, got {len(weights)}")
    for weight in weights:
        if isinstance(weight, bool) or not isinstance(weight, Real) or not 0.0 < weight <= 1e300:
            raise ValueError(f"a weight must be a positive number, got {weight!r}")
    total = math.fsum(weights)
    if abs(total - 1.0) < 1e-9:
        return tuple(float(w) for w in weights)
    if not (abs(total - 1.0) <= 0.0101 or abs(total - 100.0) <= 1.01):
        raise ValueError(f"weights must sum to 1, or to 100 as percentages, got {total:g}")
    return tuple(float(w / total) for w in weights)
