"""One fit: from a plan to the searches that run side by side, and from what they find to a decision."""

from __future__ import annotations

import math
import time
from dataclasses import replace
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs

from baconlogic import encoding, learning, starts
from baconlogic.criteria import Table
from baconlogic.decision import Decision, Feature, Link
from baconlogic.encoding import CATEGORY, Encoding, Source
from baconlogic.learning import Learned, Task
from baconlogic.nodes import Leaf
from baconlogic.outcome import History, Outcome, PathEntry, tree_provenance
from baconlogic.search.fixed import ranked
from baconlogic.search.peel import Peel
from baconlogic.search.problem import Problem
from baconlogic.tree import Tree

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from baconlogic.plans import Plan
    from baconlogic.progress import Progress
    from baconlogic.search.drafts import Draft

    Floats = NDArray[np.float64]


def run(p: Plan, counts: Floats, classes: list[Any], progress: Progress) -> Outcome:
    """Learn each target, all searches side by side."""
    targets = [1] if len(classes) == 2 else list(range(len(classes) if len(classes) > 2 else 0))
    tasks: list[Task | None] = [_task(p, counts, target, i) for i, target in enumerate(targets)]
    live = [i for i, task in enumerate(tasks) if task is not None]
    trained, interrupted = _train(p, tasks, live, progress)
    results = []
    for i, target in enumerate(targets):
        task, learned = tasks[i], None
        if task is not None and i in trained:
            whole, parts = trained[i]
            learned = learning.conclude(task, whole, parts, p.simplicity)
        results.append(_result(p, counts, classes[target], target, task, learned, trained.get(i)))
    trees, links, paths, histories = zip(*results, strict=True) if results else ((), (), (), ())
    decision = Decision(
        trees, links, tuple(classes), tuple(Feature(column.name, column.kind) for column in p.columns),
        _provenance(p, counts, histories, paths),
    )  # fmt: skip
    return Outcome(decision, tuple(paths), tuple(histories), interrupted)


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


def _task(p: Plan, counts: Floats, target: int, place: int) -> Task | None:
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
        raise ValueError(f"required names {lost[0]!r}, which has one value only; nothing can be learned from it")
    bounds = np.array([p.wishes.bounds(p.columns[s.feature].name) for s in sources])
    template = Problem(
        np.empty((len(sources), 0)), np.empty(0), np.empty(0), shown.learned, shown.features,
        np.array([p.wishes.direction(p.columns[s.feature].name) for s in sources], dtype=np.int64),
        bounds[:, 0], bounds[:, 1], p.wishes.andness, tuple(names.index(name) for name in p.wishes.required),
        p.reuse, bool(p.wishes.order), knee=p.aggregator.knee,
    )  # fmt: skip
    total = float(weight.sum())
    task = Task(shown, y, weight / total, total, template, p.search, p.most, None, p.seed)
    return replace(task, start=_start(p, task, start), jobs=p.jobs)


def _start(p: Plan, task: Task, tree: Tree | None) -> Draft | None:
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
            raise ValueError(f"order names {lost[0]!r}, which has one value only; nothing can be learned from it")
        problem = task.problem(learning.sample(task))
        return ranked(problem, [[j for j, name in enumerate(names) if name == wanted] for wanted in p.wishes.order])
    return None


def _agree(p: Plan, task: Task, draft: Draft) -> None:
    for column, slope in zip(draft.columns, draft.parts.slope, strict=True):
        source = task.encoding.sources[column]
        name = p.columns[source.feature].name
        asked = p.wishes.direction(name)
        rising = source.criterion.rising if source.criterion is not None else None
        sign = slope if rising is None else (1.0 if rising != source.negated else -1.0)
        if asked and asked * sign < 0.0:
            words = {1: "rising", -1: "falling"}
            raise ValueError(f"directions asks for {name!r} {words[asked]}, but init has it {words[-asked]}")


def _train(p: Plan, tasks: list[Task | None], live: list[int], progress: Progress) -> tuple[dict[int, Any], bool]:
    """Run the searches on all rows, then those on folds; return (whole, folds) by task, and whether interrupted."""
    wholes: dict[int, Any] = {}
    parts: dict[int, list[Any]] = {i: [] for i in live}
    rows = {i: learning.sample(tasks[i]) for i in live}  # type: ignore[arg-type]
    first = [(i, rows[i], None) for i in live]
    checked = getattr(p.search, "validated", True)
    pieces = len(live) * (1 + learning.FOLDS if checked else 1)
    per_search = _slot(p, pieces)
    timed = {i: replace(task, seconds=per_search) for i, task in enumerate(tasks) if task is not None}
    try:
        progress.expect(pieces)
        for i, trained in _side_by_side(p, timed, first):
            wholes[i] = trained
            if progress.done(f"search {len(wholes)}") or trained.found.interrupted:
                return {i: (wholes[i], parts[i]) for i in wholes}, trained.found.interrupted
        validated = [i for i in wholes if checked and not wholes[i].found.certain and not _over(p)]
        later = [(i, kept, held) for i in validated for kept, held in learning.folds(timed[i], rows[i])]
        for i in validated:
            if wholes[i].found.exact:  # where a chain explains all, the folds need not grow
                timed[i] = replace(timed[i], search=Peel())
        for i, trained in _side_by_side(p, timed, later):
            parts[i].append(trained)
            if progress.done("validation") or trained.found.interrupted or _over(p):
                return {i: (wholes[i], parts[i]) for i in wholes}, trained.found.interrupted
    except KeyboardInterrupt:
        for task in timed.values():
            task.halted[0] = True
        if not wholes:
            raise
        return {i: (wholes[i], parts[i]) for i in wholes}, True
    return {i: (wholes[i], parts[i]) for i in wholes}, False


def _side_by_side(p: Plan, tasks: dict[int, Task], jobs: list[Any]) -> Any:
    if not jobs:
        return
    results = Parallel(n_jobs=p.jobs, prefer="threads", return_as="generator")(
        delayed(learning.train)(tasks[i], kept, held) for i, kept, held in jobs
    )
    for (i, _, _), found in zip(jobs, results, strict=True):
        yield i, found


def _over(p: Plan) -> bool:
    """Whether the time budget is used up: a search looks at its own slot only now and then."""
    return p.seconds is not None and time.monotonic() - p.started > p.seconds


def _slot(p: Plan, searches: int) -> float | None:
    """Return the seconds that each search may take."""
    if p.seconds is None:
        return None
    left = max(p.seconds - (time.monotonic() - p.started), 0.01)
    return float(0.8 * left / math.ceil(searches / effective_n_jobs(p.jobs)))


def _result(
    p: Plan, counts: Floats, label: Any, target: int, task: Task | None, learned: Learned | None, trained: Any
) -> tuple[Tree, Link, list[PathEntry], History]:
    seconds = time.monotonic() - p.started
    if task is None or learned is None:
        tree, link = _constant(p, counts, target)
        loss = learning.base_loss(counts[:, target] / counts.sum(axis=1), counts.sum(axis=1))
        why = "no column says anything about it" if 0.0 < counts[:, target].sum() < counts.sum() else "one class only"
        if task is not None:
            why = "stopped before its search"
        return (
            tree,
            link,
            [],
            History(label, p.name, why, 1, logic=False, loss=math.nan, base_loss=loss, seconds=seconds),
        )
    task.encoding.table(task.y, task.share * task.weight)  # the places of categories, from all rows
    entries = []
    for size, sized in learned.sizes.items():
        tree = _tree(p, task, sized.draft)
        steepness, threshold = sized.draft.parts.link
        found = learning.calibrated(steepness, threshold, *learned.calibration)
        link = Link(*(learned.link if size == learned.chosen else found))
        entries.append(PathEntry(size, tree, sized.loss, sized.error, sized.accuracy, sized.in_sample, link))
    chosen = next(entry for entry in entries if entry.leaves == learned.chosen)
    history = History(
        label, p.name, learned.stopped, learned.chosen, learned.logic, chosen.loss, learned.base_loss, seconds,
        tuple(trained[0].found.records),
    )  # fmt: skip
    return chosen.tree, chosen.link, entries, history


def _tree(p: Plan, task: Task, draft: Draft) -> Tree:
    """Return a draft as a tree; 0/1 columns are read as they are where that costs nothing."""
    if p.name == "calibrate" and p.wishes.init is not None:
        return p.wishes.init
    plain = Tree(task.encoding.tree(draft, p.aggregator.name))
    crisp = Tree(task.encoding.tree(draft, p.aggregator.name, crisp=True))
    if crisp == plain:
        return plain
    rows = learning.sample(task)
    table: dict[str, Any] = {column.name: column.values[rows] for column in p.columns if column.kind != CATEGORY}
    table |= {
        column.name: [None if code < 0 else column.categories[code] for code in column.values[rows]]
        for column in p.columns if column.kind == CATEGORY
    }  # fmt: skip
    steepness, threshold = draft.parts.link
    losses = [
        learning.cross_entropy(steepness * (tree.evaluate(table) - threshold), task.y[rows], task.share[rows])
        for tree in (plain, crisp)
    ]
    return crisp if losses[1] <= losses[0] + learning.TIE else plain


def _constant(p: Plan, counts: Floats, target: int) -> tuple[Tree, Link]:
    """Return a tree that says nothing, on a column that is not forbidden if it can be; its link is the base rate."""
    column = min(p.columns, key=lambda column: column.name in p.wishes.forbidden)
    value = 0 if column.kind != CATEGORY else column.categories[0] if column.categories else ""
    criterion = Table([(value, 0.5)], other=0.5, missing=0.5)
    rate = float(np.clip(counts[:, target].sum() / counts.sum(), 1e-9, 1.0 - 1e-9))
    return Tree(Leaf(column.name, criterion)), Link(*learning.flat_link(rate))


def _provenance(
    p: Plan, counts: Floats, histories: Sequence[History], paths: Sequence[list[PathEntry]]
) -> dict[str, Any]:
    trees = [tree_provenance(history, path) for history, path in zip(histories, paths, strict=True)]
    return {
        "baconlogic": version("baconlogic"), "numpy": np.__version__, "cases": float(counts.sum()),
        "distinct_rows": len(counts), "columns": len(p.columns), "seed": p.seed, "trees": trees,
    }  # fmt: skip
