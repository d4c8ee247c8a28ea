"""What a search is asked (a Problem, a Request) and what it answers (Found)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import NamedTuple, Protocol, Self

import numpy as np

from baconlogic.core import Bools, Floats, Ints, gcd
from baconlogic.core.decision import Link
from baconlogic.core.nodes import Node
from baconlogic.kernel.jacobian import node_truths
from baconlogic.kernel.loops import KNOWN_BELOW
from baconlogic.kernel.loss import Batch
from baconlogic.learn.column import Column
from baconlogic.learn.search.draft import Draft


@dataclass(frozen=True)
class Problem:
    """One yes-or-no target and the columns that may explain it.

    A learned column holds raw values on a robust scale (median 0, spread about 1, `loops.MISSING` where missing) and
    its leaves learn a criterion; one of categories holds their codes, and its leaves learn a truth for each (it is
    learned, too); any other column holds truths. `y` may lie between 0 and 1: the share of yes.
    """

    X: Floats  # (columns, rows)
    y: Floats  # (rows,), in [0, 1]
    share: Floats  # (rows,), sum 1
    learned: Bools  # (columns,)
    features: Ints  # (columns,): which feature each column shows
    direction: Ints  # (columns,): 1 rising, -1 falling, 0 to be learned; for learned columns
    low: Floats  # (columns,): bounds for the andness of a gate with a leaf on this column
    high: Floats
    andness: tuple[float, float] = (gcd.LOWEST, gcd.HIGHEST)  # bounds for every gate
    required: tuple[int, ...] = ()  # features every tree must use
    reuse: bool = True  # whether a feature may be used twice
    ranked: bool = False  # whether a newcomer must weigh at least as much as what came before
    weight: float = 0.0  # how many cases the rows stand for; 0: as many as there are rows
    penalty: float = 1.0  # how strongly parameters are held to what is usual, against the evidence of the rows
    knee: float = gcd.gcd.knee
    table: tuple[Column, ...] = ()  # the features whose criteria are learned, with these rows
    places: tuple[int, ...] = ()  # which feature each of them is
    parts: tuple[tuple[str, tuple[int, ...]], ...] = ()  # named parts that a tree is asked to have, by their features
    directions: Ints = field(default_factory=lambda: np.empty(0, np.int64))  # of each of them
    categories: Ints = field(default_factory=lambda: np.empty(0, np.int64))  # (columns,): how many codes; 0: no codes
    fixed: Bools = field(default_factory=lambda: np.empty(0, np.bool_))  # (columns,): learned, but to stay as they are

    def __post_init__(self) -> None:
        if not len(self.categories):
            object.__setattr__(self, "categories", np.zeros(len(self.X), np.int64))
        if not len(self.fixed):
            object.__setattr__(self, "fixed", np.zeros(len(self.X), np.bool_))

    @property
    def rows(self) -> int:
        """The number of rows."""
        return len(self.y)

    @property
    def cases(self) -> float:
        """How many cases the rows stand for: what the penalty is weighed against."""
        return self.weight or float(self.rows)

    @property
    def base_rate(self) -> float:
        """The share of positive rows, kept off 0 and 1."""
        return float(np.clip(self.share @ self.y, 1e-6, 1.0 - 1e-6))

    @cached_property
    def ranges(self) -> Floats:
        """The lowest and highest known value of each column, (columns, 2); -1 and 1 where all are missing."""
        known = self.X < KNOWN_BELOW
        low, high = np.where(known, self.X, np.inf).min(axis=1), np.where(known, self.X, -np.inf).max(axis=1)
        return np.asarray(np.where(known.any(axis=1), (low, high), np.array([[-1.0], [1.0]])).T)

    @cached_property
    def gaps(self) -> Bools:
        """Whether each column has missing values."""
        return np.asarray((self.X >= KNOWN_BELOW).any(axis=1))

    def crisp(self) -> Self:
        """Return the problem with every y 0 or 1: a row that is both is two rows, each with its part of the weight."""
        if np.isin(self.y, (0.0, 1.0)).all():
            return self
        rows, y = np.tile(np.arange(self.rows), 2), np.repeat([1.0, 0.0], self.rows)
        share = np.concatenate([self.share * self.y, self.share * (1.0 - self.y)])
        seen = share > 0.0
        X = np.ascontiguousarray(self.X[:, rows[seen]])
        return replace(self, X=X, y=y[seen], share=share[seen], weight=self.cases)

    def granted(self, draft: Draft) -> bool:
        """Whether a draft uses every required feature."""
        return set(self.required) <= set(self.features[draft.columns].tolist())

    def batch(self, draft: Draft) -> Batch:
        """Return what the kernel needs to know of the rows."""
        return Batch(draft.columns, self.learned[draft.columns], draft.tables, self.X, self.y, self.share)

    def truths(self, draft: Draft) -> Floats:
        """Return what a draft says of each row."""
        return np.asarray(self.node_truths(draft)[-1])

    def node_truths(self, draft: Draft) -> Floats:
        """Return what each node of a draft says of each row, (nodes, rows)."""
        return node_truths(draft.parameters, draft.shape, self.batch(draft), self.knee)

    def decision_values(self, draft: Draft) -> Floats:
        """Return steepness * (truth - threshold) of each row."""
        steepness, threshold = draft.parts.link
        return np.asarray(steepness * (self.truths(draft) - threshold))


class Request(NamedTuple):
    """How far to search, from where, and whether to go on."""

    most: int | None  # leaves; None: as many as the search thinks right
    start: Draft | None
    seed: int
    going: Callable[[], bool]
    jobs: int | None = None  # for a search that does many things at once
    deadline: float | None = None  # of time.monotonic()


class Finished(Protocol):
    """A tree with round numbers, as a person gets it."""

    @property
    def link(self) -> Link:
        """The link to probability."""
        ...

    @property
    def loss(self) -> float:
        """The log-likelihood lost on the rows it was learned from."""
        ...

    @property
    def leaves(self) -> int:
        """The number of leaves."""
        ...

    def scores(self, problem: Problem) -> Floats:
        """Return the decision value of each row."""
        ...

    def node(self, columns: Sequence[Column], aggregator: str) -> Node:
        """Return it in raw units."""
        ...

    def again(self, problem: Problem) -> Finished:
        """Return it with what may be learned again learned on other rows."""
        ...


class Found(NamedTuple):
    """The best tree of each size found, and why the search ended."""

    best: dict[int, Draft]
    ended: str
    interrupted: bool = False
    certain: bool = False  # nothing is left to be told by held-out rows
    rivals: Found | None = None  # trees of another kind; of each size, held-out rows choose
    refit: Callable[[Problem, Draft], Draft] | None = None  # from a sample to all rows; None: as `refine.polish` does
    folds: Search | None = None  # what is enough to search the folds; None: the search itself
    kept: bool = False  # the tree is the start as it was typed, but for its link
    records: tuple[object, ...] = ()  # of each attempt, where there are several
    cards: dict[tuple[str, int], Finished] = {}  # noqa: RUF012 - by kind and size; never changed


class Search(Protocol):
    """Anything that finds trees on one problem. It never sees the rows it will be scored on.

    It may have `validated = False`, which says that no rows are to be held out, and `saves_to`, a path to which the
    classifier saves what `fit` ends with.
    """

    def find(self, problem: Problem, request: Request) -> Found:
        """Return the best trees by size; at least one."""
        ...
