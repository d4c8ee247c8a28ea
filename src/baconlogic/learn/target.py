"""One class against the rest: the columns it may be explained by, the wishes as bounds, and where its search starts."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from baconlogic.core.checks import Parameter, ParameterError
from baconlogic.core.nodes import Leaf
from baconlogic.learn import encode as encoding
from baconlogic.learn import start as starts
from baconlogic.learn import validate as learning
from baconlogic.learn.encode import CATEGORY, Encoding, Source
from baconlogic.learn.search.fixed import ranked
from baconlogic.learn.search.problem import Problem
from baconlogic.learn.validate import Task

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from baconlogic.core.tree import Tree
    from baconlogic.learn.params import Plan
    from baconlogic.learn.search.draft import Draft

    Floats = NDArray[np.float64]


def task_of(p: Plan, counts: Floats, target: int, place: int, halted: list[bool]) -> Task | None:
    """Return the task of one class against the rest; None when there is nothing to learn."""
    weight = counts.sum(axis=1)
    y = counts[:, target] / weight
    start = p.wishes.init or (p.before[place] if place < len(p.before) else None)
    sources = _sources(p, start)
    if not sources or y.max() <= 0.0 or y.min() >= 1.0:
        return None
    shown = Encoding(p.columns, sources)
    names = [column.name for column in p.columns]
    lost = [name for name in p.wishes.required if names.index(name) not in shown.features]
    if lost:
        said = f" names {lost[0]!r}, which has one value only; nothing can be learned from it"
        raise ParameterError(Parameter("required"), said)
    bounds = np.array([p.wishes.bounds(p.columns[s.feature].name) for s in sources])
    template = Problem(
        np.empty((len(sources), 0)), np.empty(0), np.empty(0), shown.learned, shown.features,
        np.array([p.wishes.direction(p.columns[s.feature].name) for s in sources], dtype=np.int64),
        bounds[:, 0], bounds[:, 1], p.wishes.andness, tuple(names.index(name) for name in p.wishes.required),
        p.reuse, bool(p.wishes.order), knee=p.aggregator.knee,
    )  # fmt: skip
    total = max(float(weight.sum()), float(len(weight)))  # a row is at least one case: weights that are less are shares
    task = Task(shown, y, weight / weight.sum(), total, template, p.search, p.most, None, p.seed, None, p.jobs, halted)
    return replace(task, start=_start(p, task, start))


def _sources(p: Plan, start: Tree | None) -> list[Source]:
    """Return the columns of the problem: each usable feature, and what a typed tree needs besides."""
    allowed = [
        i for i, column in enumerate(p.columns) if not column.constant and column.name not in p.wishes.forbidden
    ]  # fmt: skip
    if p.wishes.order:
        allowed = [i for i in allowed if p.columns[i].name in p.wishes.order]
    found = []
    for i in allowed:
        column = p.columns[i]
        if p.criteria == "learned" or column.kind == CATEGORY or column.single:
            found.append(Source(i))
            continue
        asked = p.wishes.direction(column.name)
        ways = [rising for rising in (True, False) if asked in (0, 1 if rising else -1)]
        found += [Source(i, encoding.fixed_criterion(column, p.criteria, rising)) for rising in ways]
    if start is not None:
        extra = starts.fixed_sources(start, p.columns)
        known = [leaf.feature for _, leaf in start.walk() if isinstance(leaf, Leaf)]
        found += [Source(i) for i, column in enumerate(p.columns) if column.name in known and Source(i) not in found]
        found += [source for i, source in enumerate(extra) if source not in extra[:i]]
    return found


def _start(p: Plan, task: Task, tree: Tree | None) -> Draft | None:
    """Return where the search starts: a typed tree, the tree of the last fit, or the order asked for."""
    if tree is not None:
        draft = starts.draft_of(tree, task.encoding)
        try:
            _agree(p, task, draft)
        except ValueError:
            if p.wishes.init is not None:
                raise
            return None  # a tree of the last fit
        return draft
    if p.wishes.order:
        names = [p.columns[source.feature].name for source in task.encoding.sources]
        lost = [name for name in p.wishes.order if name not in names]
        if lost:
            said = f" names {lost[0]!r}, which has one value only; nothing can be learned from it"
            raise ParameterError(Parameter("order"), said)
        problem = task.problem(learning.sample(task))
        return ranked(problem, [[j for j, name in enumerate(names) if name == wanted] for wanted in p.wishes.order])
    return None


def _agree(p: Plan, task: Task, draft: Draft) -> None:
    """Refuse a typed leaf whose direction is not the one asked for."""
    for column, slope in zip(draft.columns, draft.parts.slope, strict=True):
        source = task.encoding.sources[column]
        name = p.columns[source.feature].name
        asked = p.wishes.direction(name)
        rising = source.criterion.rising if source.criterion is not None else None
        sign = slope if rising is None else (1.0 if rising != source.negated else -1.0)
        if asked and asked * sign < 0.0:
            words = {1: "rising", -1: "falling"}
            raise ValueError(f"directions asks for {name!r} {words[asked]}, but init has it {words[-asked]}")
