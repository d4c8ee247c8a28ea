"""Tree: a graded-logic decision as one immutable object. Everything the library does is a function of it."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Self, overload

from baconlogic.core import Floats, files, notation
from baconlogic.core import bounds as bounding
from baconlogic.core import evaluate as evaluation
from baconlogic.core.columns import Columns
from baconlogic.core.nodes import Gate, Leaf, Node, Not, Path, as_node, flatten, shares, walk

__all__ = ["Gate", "Leaf", "Node", "Not", "Path", "Tree"]


@dataclass(frozen=True, slots=True, repr=False)
class Tree:
    """A graded-logic tree; `root` is the node whose truth is the tree's.

    Write one with `Tree.parse("SC(salary: 0.6, interests: 0.4)")`, or build it of `Leaf`, `Not` and `Gate`.
    Tables are data frames (pandas, polars, ...), mappings of names to columns, lists of such rows, or arrays with
    `columns=[...]`.
    """

    root: Node

    def __post_init__(self) -> None:
        if self.root is None:
            raise TypeError("a tree needs at least one leaf; give it a Leaf, Not or Gate, or use Tree.parse(...)")
        object.__setattr__(self, "root", as_node(self.root))

    @property
    def features(self) -> tuple[str, ...]:
        """The columns it uses, most important first: by the product of weights on the way down to them."""
        share: dict[str, float] = defaultdict(float)
        order = flatten(self.root)
        for (node, _), own in zip(order, shares(order), strict=True):
            if isinstance(node, Leaf):
                share[node.feature] += own
        return tuple(sorted(share, key=lambda feature: -share[feature]))

    @property
    def depth(self) -> int:
        """The number of steps from the root to the farthest leaf."""
        return max(len(path) for path, _ in self.walk())

    def walk(self) -> Iterator[tuple[Path, Node]]:
        """Yield (path, node) from the root down, left to right; a path is the input taken at each step."""
        return walk(self.root)

    def find(self, what: Path | Node | str) -> Path:
        """Return the path of a part: of the one node with this name, of the one leaf on this feature, of a node."""
        if isinstance(what, tuple):
            self._down(what)
            return what
        if isinstance(what, str):
            named = [path for path, node in self.walk() if node.name == what]
            places = named or [path for path, node in self.walk() if isinstance(node, Leaf) and node.feature == what]
        else:
            places = [path for path, node in self.walk() if node == what]
        if len(places) != 1:
            raise LookupError(
                f"{what!r} occurs {len(places)} times in the tree; its parts have the paths that walk() gives"
            )
        return places[0]

    def __getitem__(self, what: Path | str) -> Node:
        """Return a part by its path, name or feature; `tree[()]` is the root."""
        return self._down(self.find(what))[-1]

    def _down(self, path: Path) -> list[Node]:
        """Return the nodes on the way from the root down a path."""
        nodes = [self.root]
        for i in path:
            inputs = nodes[-1].children
            if not isinstance(i, int) or not 0 <= i < len(inputs):
                raise LookupError(f"no node at {path}: there are {len(inputs)} inputs at {path[: len(nodes) - 1]}")
            nodes.append(inputs[i])
        return nodes

    def replace(self, old: Path | Node | str, new: Node | str) -> Self:
        """Return the tree with another node in place of a part, given by path, name or feature, or as a node."""
        path, node = self.find(old), as_node(new)
        for parent, i in zip(reversed(self._down(path[:-1])), reversed(path), strict=False):
            node = parent.with_children((*parent.children[:i], node, *parent.children[i + 1 :]))
        return type(self)(node)

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
        """Return the degree of truth of each row; with `nodes`, that of every node by its path (see `find`).

        An array needs `columns`, the names of its columns; without, they are x0, x1, ... `n_jobs` threads share rows.
        Infinity is a number above (or below) all others here and in a loaded decision; classifiers refuse it.
        """
        found = evaluation.truths(self.root, Columns(X, columns), n_jobs, every_node=nodes)
        if not nodes:
            return found
        places = sorted((path for path, _ in self.walk()), key=lambda path: [*path, float("inf")])  # children first
        return dict(sorted(zip(places, found, strict=True)))

    def bounds(self, X: Any, upper: Any = None, *, columns: Sequence[str] | None = None) -> bounding.Bounds:
        """Return the exact lowest and highest truth of each row, whatever its missing values turn out to be.

        Missing means unknown here, also where a criterion states a truth for missing values. With `upper`, the two
        tables hold the lower and upper ends of intervals (missing: that end is not known).
        """
        return bounding.bounds(self.root, Columns(X, columns), None if upper is None else Columns(upper, columns))

    def formula(self) -> str:
        """Return the tree in the one-line notation that `parse` reads."""
        return notation.formula(self.root)

    @classmethod
    def parse(cls, text: str, parts: Mapping[str, Tree | Node | str] | None = None) -> Self:
        """Read the one-line notation (see `baconlogic.core.notation`): `HHC(shape, HHD(radius: 0.2, area: 0.8))`.

        With `parts`, names stand for whole trees: `Tree.parse("HC(size, texture)", parts={"size": fitted.tree_,
        "texture": "HD(texture1, texture3)"})`. Each keeps its name, also where a column has the same one.
        """
        if not isinstance(parts, Mapping | None):
            raise TypeError(f"parts gives trees by name, got {type(parts).__name__}")
        given = {name: each.root if isinstance(each, Tree) else each for name, each in (parts or {}).items()}
        return cls(notation.parse(text, given))

    def to_dict(self) -> dict[str, Any]:
        """Return the tree as plain data: the document that `save` writes."""
        return files.document("tree", files.write_trees(self.root)[0])

    @classmethod
    def from_dict(cls, document: dict[str, Any]) -> Self:
        """Return the tree of a document; raises ModelFormatError with the place of the first problem."""
        return cls(files.from_document(document))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the tree as JSON. A process killed meanwhile leaves the old file or the new one, whole."""
        files.write(self.to_dict(), path)

    def __str__(self) -> str:
        return notation.draw(self.root)

    def __repr__(self) -> str:
        return f"Tree.parse({self.formula()!r})"
