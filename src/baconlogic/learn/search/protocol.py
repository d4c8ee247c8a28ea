"""What a search is asked and what it answers."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable

    from baconlogic.learn.search.draft import Draft
    from baconlogic.learn.search.problem import Problem


class Scored(NamedTuple):
    """A draft and the penalised loss it reaches."""

    loss: float
    draft: Draft


class Ask(NamedTuple):
    """How far to search, from where, and whether to go on."""

    most: int | None  # leaves; None: as many as the search thinks right
    start: Draft | None
    seed: int
    going: Callable[[], bool]
    jobs: int | None = None  # for a search that does many things at once
    deadline: float | None = None  # of time.monotonic()


class Found(NamedTuple):
    """The best tree of each size found, and why the search ended."""

    best: dict[int, Scored]
    ended: str
    interrupted: bool = False
    certain: bool = False  # nothing is left to be told by held-out rows
    rivals: dict[int, Scored] | None = None  # trees of another kind; of each size, held-out rows choose
    exact: bool = False  # a crisp chain that explains every row: found again on all rows where these were a sample
    records: tuple[object, ...] = ()  # of each attempt, where there are several


class Search(Protocol):
    """Anything that finds trees on one problem. It never sees the rows it will be scored on."""

    def find(self, problem: Problem, ask: Ask) -> Found:
        """Return the best trees by size; at least one."""
        ...
