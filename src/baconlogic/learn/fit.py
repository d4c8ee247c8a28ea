"""One fit: from a plan to the searches that run side by side, and from what they find to a decision."""

from __future__ import annotations

import math
import warnings
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs

from baconlogic.core import __version__
from baconlogic.core.criteria import Table
from baconlogic.core.decision import Decision, Feature, Link
from baconlogic.core.nodes import Leaf
from baconlogic.core.tree import Tree
from baconlogic.kernel.compile import interruptible
from baconlogic.learn import encode as encoding
from baconlogic.learn import validate as learning
from baconlogic.learn import wishes
from baconlogic.learn.encode import CATEGORY
from baconlogic.learn.path import HeldOut, History, Outcome, PathEntry, tree_provenance
from baconlogic.learn.search.peel import Peel
from baconlogic.learn.target import task_of
from baconlogic.metrics import base_log_loss, log_loss_of_scores

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from baconlogic.learn.params import Plan
    from baconlogic.learn.progress import Progress
    from baconlogic.learn.search.draft import Draft
    from baconlogic.learn.validate import Task, Trained

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]
    Job = tuple[int, Ints, Ints | None]  # which task, the rows to learn from, those held out
    Tries = tuple[Trained, list[Trained]]  # on all rows, and on folds

SEARCHING = 0.8  # the part of a time budget that searches share; the rest is for what comes before and after


def run(p: Plan, counts: Floats, classes: list[Any], progress: Progress) -> Outcome:
    """Learn each target, all searches side by side."""
    targets = [1] if len(classes) == 2 else list(range(len(classes) if len(classes) > 2 else 0))
    halted = [False]
    tasks = {i: task_of(p, counts, target, i, halted) for i, target in enumerate(targets)}
    trained, interrupted = _train(p, {i: task for i, task in tasks.items() if task is not None}, halted, progress)
    before = halted[0]
    results = [
        _result(p, counts, classes[target], target, tasks[i], trained.get(i)) for i, target in enumerate(targets)
    ]
    trees, links, paths, histories = zip(*results, strict=True) if results else ((), (), (), ())
    decision = Decision(
        trees, links, tuple(classes), tuple(Feature(column.name, column.kind) for column in p.columns),
        _provenance(p, counts, histories, paths),
    )  # fmt: skip
    interrupted |= halted[0] and not before  # in the last refinement
    histories = tuple(replace(history, interrupted=interrupted) for history in histories)
    return Outcome(decision, tuple(paths), histories, interrupted)


def _train(p: Plan, tasks: dict[int, Task], halted: list[bool], progress: Progress) -> tuple[dict[int, Tries], bool]:
    """Run the searches on all rows, then those on folds; return what they found by task, and whether interrupted."""
    found: dict[int, Tries] = {}
    rows = {i: learning.sample(task) for i, task in tasks.items()}
    checked = getattr(p.search, "validated", True)
    pieces = len(tasks) * (1 + learning.FOLDS if checked else 1)
    timed = {i: replace(learning.drawn(task, rows[i]), seconds=_slot(p, pieces)) for i, task in tasks.items()}
    progress.expect(pieces)
    try:
        for i, trained in _side_by_side(p, timed, [(i, rows[i], None) for i in tasks]):
            found[i] = trained, []
            if progress.done(f"search {len(found)}") or trained.found.interrupted:
                halted[0] = True
                return found, trained.found.interrupted
        later: list[Job] = []
        for i, (whole, _) in found.items():
            if checked and not whole.found.certain and not _over(p):
                later += [(i, kept, held) for kept, held in learning.folds(tasks[i], rows[i])]
            if whole.found.exact:  # where a chain explains all, the folds need not grow
                timed[i] = replace(timed[i], search=Peel())
        for i, trained in _side_by_side(p, timed, later):
            found[i][1].append(trained)
            if progress.done("validation") or trained.found.interrupted or _over(p):
                halted[0] = True
                return found, trained.found.interrupted
    except KeyboardInterrupt:
        halted[0] = True
        if not found:
            raise
        return found, True
    return found, False


def _side_by_side(p: Plan, tasks: dict[int, Task], jobs: list[Job]) -> Iterator[tuple[int, Trained]]:
    if not jobs:
        return
    results = Parallel(n_jobs=p.jobs, prefer="threads", return_as="generator")(
        delayed(learning.train)(tasks[i], kept, held) for i, kept, held in jobs
    )
    with interruptible():
        for (i, _, _), found in zip(jobs, results, strict=True):
            yield i, found


def _over(p: Plan) -> bool:
    """Whether the time budget is used up: a search looks at its own slot only now and then."""
    return p.seconds is not None and p.spent > p.seconds


def _slot(p: Plan, searches: int) -> float | None:
    """Return the seconds that each search may take."""
    if p.seconds is None:
        return None
    left = max(p.seconds - p.spent, 0.01)
    return float(SEARCHING * left / math.ceil(searches / effective_n_jobs(p.jobs)))


def _result(
    p: Plan, counts: Floats, label: Any, target: int, task: Task | None, tries: Tries | None
) -> tuple[Tree, Link, list[PathEntry], History]:
    """Return the tree of one class, its link, the trees of other sizes, and how it was found."""
    if task is None or tries is None:
        return _nothing(p, counts, label, target, searched=task is not None)
    learned = learning.conclude(task, *tries, p.simplicity)
    places = task.encoding.places(task.y, task.share * task.weight)
    entries = []
    for size, sized in learned.sizes.items():
        link = Link(*(sized.link if sized.logic else learning.flat_link(float(task.share @ task.y))))
        tree = _tree(p, task, sized.draft, places)
        held = None if sized.held is None else HeldOut(*sized.held)
        entry = PathEntry(size, tree, sized.loss, sized.error, sized.accuracy, sized.in_sample, sized.logic, link, held)
        entries.append(entry)
    chosen = next(entry for entry in entries if entry.leaves == learned.chosen)
    unmet = wishes.unmet(p.wishes, chosen.tree)
    if unmet:
        why = "the search had to end early" if _over(p) else "no tree was found that grants all wishes"
        warnings.warn(f"the tree for {label!r} has {unmet}: {why}", UserWarning, stacklevel=5)
    history = History(
        label, p.name, learned.stopped, learned.chosen, chosen.logic, chosen.loss, learned.base_loss, p.spent,
        tuple(tries[0].found.records),
    )  # fmt: skip
    return chosen.tree, chosen.link, entries, history


def _tree(p: Plan, task: Task, draft: Draft, places: dict[int, Floats]) -> Tree:
    """Return a draft as a tree; 0/1 columns are read as they are where that costs nothing."""
    if p.name == "calibrate" and p.wishes.init is not None:
        return p.wishes.init
    plain, crisp = (Tree(task.encoding.tree(draft, p.aggregator.name, places, crisp)) for crisp in (False, True))
    if crisp == plain:
        return plain
    rows = learning.sample(task)
    table = {column.name: encoding.raw(column)[rows] for column in p.columns}
    steepness, threshold = draft.parts.link
    losses = [
        log_loss_of_scores(steepness * (tree.evaluate(table) - threshold), task.y[rows], task.share[rows])
        for tree in (plain, crisp)
    ]
    return crisp if losses[1] <= losses[0] + learning.TIE else plain


def _nothing(
    p: Plan, counts: Floats, label: Any, target: int, *, searched: bool
) -> tuple[Tree, Link, list[PathEntry], History]:
    """Return what stands for a class that nothing could be learned of: its base rate."""
    weight = counts.sum(axis=1)
    y = counts[:, target] / weight
    why = "no column says anything about it" if y.max() > 0.0 and y.min() < 1.0 else "one class only"
    if searched:
        why = "stopped before its search"
    loss = base_log_loss(y, weight)
    tree, link = _constant(p, counts, target)
    return tree, link, [], History(label, p.name, why, 1, logic=False, loss=math.nan, base_loss=loss, seconds=p.spent)


def _constant(p: Plan, counts: Floats, target: int) -> tuple[Tree, Link]:
    """Return a tree that says nothing, on a column that is not forbidden if it can be; its link is the base rate."""
    column = min(p.columns, key=lambda column: column.name in p.wishes.forbidden)
    value = 0 if column.kind != CATEGORY else column.categories[0] if column.categories else ""
    criterion = Table([(value, 0.5)], other=0.5, missing=0.5)
    rate = float(counts[:, target].sum() / counts.sum())
    return Tree(Leaf(column.name, criterion)), Link(*learning.flat_link(rate))


def _provenance(
    p: Plan, counts: Floats, histories: Sequence[History], paths: Sequence[list[PathEntry]]
) -> dict[str, Any]:
    trees = [tree_provenance(history, path) for history, path in zip(histories, paths, strict=True)]
    return {
        "baconlogic": __version__, "numpy": np.__version__, "cases": float(counts.sum()),
        "distinct_rows": len(counts), "columns": len(p.columns), "seed": p.seed, "trees": trees,
    }  # fmt: skip
