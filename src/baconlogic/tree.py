"""Tree: a graded-logic decision as one immutable object. Everything the library does is a function of it."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any, Literal, Self, overload

from baconlogic import bounds as bounding
from baconlogic import drawing, evaluation, files, notation
from baconlogic.columns import Columns
from baconlogic.nodes import Gate, Leaf, Node, Not, Path, walk

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator, Mapping, Sequence

    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

__all__ = ["Gate", "Leaf", "Node", "Not", "Path", "Tree", "load"]


class Tree:
    """A graded-logic tree.

    Write one with `Tree.parse("SC(salary: 0.6, interests: 0.4)")`, or build it of `Leaf`, `Not` and `Gate`.
    Tables are data frames (pandas, polars, ...), mappings of names to columns, or arrays with `columns=[...]`.
    """

    __slots__ = ("_root",)

    _root: Node

    def __init__(self, root: Node | str) -> None:
        if isinstance(root, str):
            root = Leaf(root)
        if not isinstance(root, Node):
            raise TypeError(f"a tree needs a root: a Leaf, Not or Gate, got {root!r}")
        object.__setattr__(self, "_root", root)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError("a tree cannot be changed; `replace` returns a new one")

    @property
    def root(self) -> Node:
        """The node whose truth is the tree's."""
        return self._root

    @property
    def features(self) -> tuple[str, ...]:
        """The columns it uses, most important first: by the product of weights on the way down to them."""
        share: dict[str, float] = defaultdict(float)
        weight: dict[Path, float] = {(): 1.0}
        for path, node in self.walk():
            above = weight.pop(path)
            if isinstance(node, Leaf):
                share[node.feature] += above
            for i in range(len(node.children)):
                weight[(*path, i)] = above * node.weights[i] if isinstance(node, Gate) else above
        return tuple(sorted(share, key=lambda feature: -share[feature]))

    @property
    def depth(self) -> int:
        """The number of steps from the root to the farthest leaf."""
        return max(len(path) for path, _ in self.walk())

    def walk(self) -> Iterator[tuple[Path, Node]]:
        """Yield (path, node) from the root down, left to right; a path is the input taken at each step."""
        return walk(self.root)

    def __getitem__(self, path: Path) -> Node:
        """Return the node at a path; `tree[()]` is the root."""
        node = self.root
        for step, i in enumerate(path):
            if not 0 <= i < len(node.children):
                raise KeyError(f"no node at {path}: {path[:step]} has {len(node.children)} inputs")
            node = node.children[i]
        return node

    def replace(self, old: Path | Node, new: Node | str) -> Self:
        """Return the tree with another node in place of the one at a path, or of a node that occurs once."""
        path = self._place_of(old) if isinstance(old, Node) else old
        above = [self[path[:step]] for step in range(len(path))]
        node = Leaf(new) if isinstance(new, str) else new
        for parent, i in zip(reversed(above), reversed(path), strict=True):
            node = parent.with_children((*parent.children[:i], node, *parent.children[i + 1 :]))
        return type(self)(node)

    def _place_of(self, node: Node) -> Path:
        places = [path for path, found in self.walk() if found == node]
        if len(places) != 1:
            raise ValueError(f"{node!r} occurs {len(places)} times in the tree; give its path instead")
        return places[0]

    @overload
    def evaluate(
        self, X: Any, *, nodes: Literal[False] = ..., columns: Sequence[str] | None = ..., n_jobs: int = ...
    ) -> Floats: ...
    @overload
    def evaluate(
        self, X: Any, *, nodes: Literal[True], columns: Sequence[str] | None = ..., n_jobs: int = ...
    ) -> dict[Path, Floats]: ...
    def evaluate(
        self, X: Any, *, nodes: bool = False, columns: Sequence[str] | None = None, n_jobs: int = 1
    ) -> Floats | dict[Path, Floats]:
        """Return the degree of truth of each row; with `nodes`, that of every node by its path. Threads: `n_jobs`."""
        table = Columns(X, columns)
        if not nodes:
            return evaluation.truths(self.root, table, n_jobs)
        found = evaluation.truths(self.root, table, n_jobs, every_node=True)
        places = sorted((path for path, _ in self.walk()), key=lambda path: [*path, float("inf")])  # children first
        return dict(sorted(zip(places, found, strict=True)))

    def bounds(self, X: Any, upper: Any = None, *, columns: Sequence[str] | None = None) -> bounding.Bounds:
        """Return the exact lowest and highest truth of each row, whatever its missing values turn out to be.

        With `upper`, the two tables hold the lower and upper ends of intervals (missing: no end known).
        """
        return bounding.bounds(self.root, Columns(X, columns), None if upper is None else Columns(upper, columns))

    def formula(self) -> str:
        """Return the tree in the one-line notation that `parse` reads."""
        return notation.formula(self.root)

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read the one-line notation (see `baconlogic.notation`): `HHC(shape, HHD(radius: 0.2, area: 0.8))`."""
        return cls(notation.parse(text))

    def to_dict(self) -> dict[str, Any]:
        """Return the tree as plain data: the document that `save` writes."""
        return files.to_document(self.root)

    @classmethod
    def from_dict(cls, document: Mapping[str, Any]) -> Self:
        """Return the tree of a document; raises ModelFormatError with the place of the first problem."""
        return cls(files.from_document(document))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the tree as JSON. A process killed meanwhile leaves the old file or the new one, whole."""
        files.write(self.to_dict(), path)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Tree) and self.root == other.root

    def __hash__(self) -> int:
        return hash(self.root)

    def __str__(self) -> str:
        return drawing.draw(self.root)

    def __repr__(self) -> str:
        return f"Tree.parse({self.formula()!r})"

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.root,)


def load(path: str | os.PathLike[str]) -> Tree:
    """Read a tree that `Tree.save` wrote; raises ModelFormatError when the file is not one."""
    return Tree.from_dict(files.read(path))
