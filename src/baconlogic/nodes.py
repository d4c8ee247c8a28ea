"""The parts of a tree: Leaf, Not and Gate. Immutable; compared by what they say, not by who they are.

Trees can be thousands of gates deep (a chain over 1,000 variables), so nothing that walks them recurses.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from numbers import Real
from typing import TYPE_CHECKING, Any, Self

from baconlogic import gcd
from baconlogic.criteria import Criterion, Given

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

Path = tuple[int, ...]  # the way down from the root: which input at each step


@dataclass(frozen=True, eq=False, repr=False)
class Node(ABC):
    """A statement with a degree of truth. `name` is what people call it ("the cell is large"), if anything."""

    name: str

    @classmethod
    @abstractmethod
    def build(cls, children: tuple[Node, ...], content: tuple[Any, ...]) -> Self:
        """Make a node of its children and its content."""

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
        return self is other or (isinstance(other, Node) and spell(self) == spell(other))

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
        check_text(name or "-", "a name")
        if not isinstance(criterion, Criterion | None):
            raise TypeError(f"the criterion of {feature!r} must be a Criterion, got {type(criterion).__name__}")
        _set(self, name=name, feature=feature, criterion=criterion or Given())

    @classmethod
    def build(cls, children: tuple[Node, ...], content: tuple[Any, ...]) -> Self:  # noqa: ARG003
        """Make a leaf; it has no children."""
        return cls(*content)

    @property
    def content(self) -> tuple[Any, ...]:
        """Feature, criterion and name."""
        return self.feature, self.criterion, self.name


@dataclass(frozen=True, eq=False, repr=False)
class Not(Node):
    """1 - x."""

    input: Node

    def __init__(self, input: Node | str, name: str = "") -> None:  # noqa: A002
        check_text(name or "-", "a name")
        _set(self, name=name, input=_as_node(input))

    @classmethod
    def build(cls, children: tuple[Node, ...], content: tuple[Any, ...]) -> Self:
        """Make the negation of its one child."""
        return cls(children[0], *content)

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
        aggregator: str = "gcd",
        name: str = "",
    ) -> None:
        check_text(name or "-", "a name")
        nodes = tuple(_as_node(each) for each in inputs)
        if len(nodes) < 2:
            raise ValueError(f"a gate combines two or more inputs, got {len(nodes)}")
        if aggregator not in gcd.AGGREGATORS:
            raise ValueError(f"unknown aggregator {aggregator!r}; use one of {', '.join(gcd.AGGREGATORS)}")
        _set(
            self,
            name=name,
            inputs=nodes,
            andness=_as_andness(andness, len(nodes)),
            weights=_as_weights(weights, len(nodes)),
            aggregator=aggregator,
        )

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
    def level(self) -> gcd.Level:
        """The named level nearest to its andness."""
        return gcd.nearest_level(self.andness, len(self.inputs))

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


def check_text(text: Any, what: str) -> None:
    """Refuse what cannot be a name: anything but text, nothing at all, or text that no file can hold."""
    if not isinstance(text, str) or not text.strip():
        raise ValueError(f"{what} must be text that is not blank, got {text!r}")
    try:
        text.encode()
    except UnicodeEncodeError:
        raise ValueError(f"{what} holds a character that no file can store: {text!r}") from None


def _set(node: Node, **fields: Any) -> None:
    for name, value in fields.items():
        object.__setattr__(node, name, value)


def _as_node(given: Any) -> Node:
    if isinstance(given, str):
        return Leaf(given)
    if not isinstance(given, Node):
        raise TypeError(f"an input must be a Leaf, Not or Gate, or a feature's name, got {type(given).__name__}")
    return given


def _as_andness(andness: Any, n: int) -> float:
    if isinstance(andness, str):
        if andness not in gcd.LEVELS:
            raise ValueError(f"unknown code {andness!r}; the codes are {', '.join(gcd.LEVELS)}")
        return gcd.LEVELS[andness].andness(n)
    if isinstance(andness, bool) or not isinstance(andness, Real):
        raise TypeError(f"andness must be a number or a code, got {andness!r}")
    gcd.check_andness(float(andness))
    return float(andness)


def _as_weights(weights: Sequence[float] | None, n: int) -> tuple[float, ...]:
    """Return the weights scaled to sum 1; as they are when they do already, so that nothing drifts in a round trip."""
    if weights is None:
        return (1.0 / n,) * n
    if len(weights) != n:
        raise ValueError(f"{n} inputs need {n} weights, got {len(weights)}")
    for weight in weights:
        if isinstance(weight, bool) or not isinstance(weight, Real) or not 0.0 < weight <= 1e300:
            raise ValueError(f"a weight must be a positive number, got {weight!r}")
    total = math.fsum(weights)
    shares = tuple(float(w) for w in weights) if abs(total - 1.0) < 1e-9 else tuple(float(w / total) for w in weights)
    if min(shares) < 1e-300:
        raise ValueError(f"the smallest weight, {min(weights):g}, is nothing beside the largest, {max(weights):g}")
    return shares
