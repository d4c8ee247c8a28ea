"""One fit: from its parameters to the searches that run side by side, and from what they find to a decision.

Its sign of life: scikit-learn's callbacks where it has them, and rich when asked for by `verbose`.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Self

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs

from baconlogic.core import Floats, Ints, __version__
from baconlogic.core.criteria import Table
from baconlogic.core.decision import Decision, Feature, Link
from baconlogic.core.nodes import Leaf
from baconlogic.core.tree import Tree
from baconlogic.kernel.compile import interruptible
from baconlogic.learn import validate
from baconlogic.learn.column import CATEGORY
from baconlogic.learn.params import Params, unmet
from baconlogic.learn.path import History, Path, tree_provenance
from baconlogic.learn.search.problem import Found, Search
from baconlogic.learn.validate import Fold, Target, Values
from baconlogic.metrics import base_log_loss

try:
    from sklearn.callback import CallbackSupportMixin as CallbackSupportMixin
    from sklearn.callback import with_callbacks as with_callbacks
except ImportError:  # scikit-learn before 1.9

    class CallbackSupportMixin:  # type: ignore[no-redef]
        """Nothing to support."""

    def with_callbacks(method: Any) -> Any:
        """Return the method as it is."""
        return method


Job = tuple[int, Search, Ints, Ints | None]  # which target, the search, the rows to learn from, those held out
Tries = tuple[Found, list[Fold]]  # on all rows, and on folds
Result = tuple[Tree, Link, Path, History]

SEARCHING = 0.8  # the part of a time budget that searches share; the rest is for what comes before and after


def decide(
    p: Params, counts: Floats, importance: Floats, progress: Progress
) -> tuple[Decision, list[Path], list[History]]:
    """Learn each class, all searches side by side; return the decision and, a class each, the path and the history.

    `counts` (rows, classes) is how much each class weighs in each row, the `importance` of classes included.
    """
    halted, several = [False], len(p.classes) > 2
    indices = range(len(p.classes)) if several else [1] if len(p.classes) == 2 else []
    counted = (1.0, 1.0) if several else _in_cases(counts, importance)
    targets = {i: validate.target_of(p, counts, i, counted, halted) for i in indices}
    found, interrupted = _train(p, {i: target for i, target in targets.items() if target is not None}, halted, progress)
    before = halted[0]
    results = [_result(p, counts, i, targets[i], found.get(i)) for i in indices]
    interrupted |= halted[0] and not before  # in the last refinement
    paths, histories = [path for *_, path, _ in results], [history for *_, history in results]
    trees = [tree_provenance(history, path) for history, path in zip(histories, paths, strict=True)]
    decision = Decision(
        tuple(tree for tree, *_ in results), tuple(link for _, link, *_ in results), p.classes,
        tuple(Feature(column.name, column.kind) for column in p.columns),
        {
            "baconlogic": __version__, "numpy": np.__version__, "cases": float(counts.sum()),
            "distinct_rows": len(counts), "columns": len(p.columns), "seed": p.seed, "trees": trees,
        },
    )  # fmt: skip
    return decision, paths, [replace(history, interrupted=interrupted) for history in histories]


def _in_cases(counts: Floats, importance: Floats) -> tuple[float, float]:
    """Return how many cases of each of two classes one is that is weighed by importance.

    How often a decision is right, and how sure that is, depends on how many cases there are, not on how much an error
    matters.
    """
    if (importance == 1.0).all():
        return 1.0, 1.0
    weighed = np.where(importance > 0.0, importance, 1.0)
    rows, total = len(counts), counts.sum()
    factor = max(rows / (counts / weighed).sum(), 1.0) / max(rows / total, 1.0) / weighed  # a row is at least a case
    return float(factor[0]), float(factor[1])


def _train(
    p: Params, targets: dict[int, Target], halted: list[bool], progress: Progress
) -> tuple[dict[int, Tries], bool]:
    """Run the searches on all rows, then those on folds; return what they found, and whether they were interrupted."""
    found: dict[int, Tries] = {}
    validated = getattr(p.search, "validated", True)
    pieces = len(targets) * (1 + validate.FOLDS if validated else 1)
    left = None if p.seconds is None else max(p.seconds - p.spent, 0.01)
    seconds = None if left is None else float(SEARCHING * left / math.ceil(pieces / effective_n_jobs(p.jobs)))
    progress.expect(pieces)
    try:
        first: list[Job] = [(i, p.search, target.sample, None) for i, target in targets.items()]
        for (i, *_), (whole, _) in _side_by_side(p, targets, first, seconds):
            found[i] = whole, []
            if progress.done(f"search {len(found)}") or whole.interrupted:
                halted[0] = True
                return found, whole.interrupted
        later: list[Job] = []
        for i, (whole, _) in found.items():
            if validated and not whole.certain and not p.overdue:
                later += [(i, whole.folds or p.search, kept, held) for kept, held in validate.folds(targets[i])]
        for (i, _, _, held), (part, values) in _side_by_side(p, targets, later, seconds):
            if held is not None:
                found[i][1].append((held, values))
            if progress.done("validation") or part.interrupted or p.overdue:
                halted[0] = True
                return found, part.interrupted
    except KeyboardInterrupt:
        halted[0] = True
        if not found:
            raise
        return found, True
    return found, False


def _side_by_side(
    p: Params, targets: dict[int, Target], jobs: list[Job], seconds: float | None
) -> Iterator[tuple[Job, tuple[Found, Values]]]:
    if not jobs:
        return
    results = Parallel(n_jobs=p.jobs, prefer="threads", return_as="generator")(
        delayed(validate.train)(targets[i], search, kept, held, seconds) for i, search, kept, held in jobs
    )
    with interruptible():
        yield from zip(jobs, results, strict=True)


def _result(p: Params, counts: Floats, index: int, target: Target | None, tries: Tries | None) -> Result:
    """Return the tree of one class, its link, the trees of other sizes, and how it was found."""
    label, weight = p.classes[index], counts.sum(axis=1)
    if target is None or tries is None:
        y = counts[:, index] / weight
        mute = "no column says anything about it" if y.max() > 0.0 and y.min() < 1.0 else "one class only"
        why, base_loss = mute if target is None else "stopped before its search", base_log_loss(y, weight)
        history = History(
            label, p.name, why, 1, "graded", logic=False, loss=math.nan, base_loss=base_loss, seconds=p.spent
        )
        return *_constant(p, float(counts[:, index].sum() / counts.sum())), Path(), history
    whole, folds = tries
    path, chosen = validate.path_of(target, whole, folds)
    lacks = unmet(p, chosen.tree)
    if lacks:
        why = "the search had to end early" if p.overdue else "no tree was found that grants all wishes"
        warnings.warn(f"the tree for {label!r} has {lacks}: {why}", UserWarning, stacklevel=5)
    history = History(
        label, p.name, whole.ended, chosen.leaves, chosen.form, chosen.logic, chosen.loss,
        base_log_loss(target.y, target.share), p.spent, tuple(whole.records),
    )  # fmt: skip
    return chosen.tree, chosen.link, path, history


def _constant(p: Params, rate: float) -> tuple[Tree, Link]:
    """Return a tree that says nothing, on a column that is not forbidden if it can be; its link is the base rate."""
    column = min(p.columns, key=lambda column: column.name in p.forbidden)
    value: Any = 0 if column.kind != CATEGORY else column.categories[0] if column.categories else ""
    leaf = Leaf(column.name, Table([(value, 0.5)], other=0.5, missing=0.5))
    return Tree(leaf), Link(*validate.flat_link(rate))


class Progress:
    """Counts finished pieces of work and tells whoever wants to know."""

    def __init__(self, estimator: Any, X: Any, y: Any, *, verbose: bool) -> None:
        self._estimator, self._data = estimator, {"X": X, "y": y}
        self._bar: Any = _rich() if verbose else None
        self._task: Any = None
        self._context: Any = None

    def __enter__(self) -> Self:
        if hasattr(self._estimator, "_init_callback_context"):
            self._context = self._estimator._init_callback_context(max_subtasks=None)
            self._context.call_on_fit_task_begin(estimator=self._estimator, **self._data)
        if self._bar is not None:
            self._bar.start()
            self._task = self._bar.add_task("search", total=None)
        return self

    def expect(self, pieces: int) -> None:
        """Say how many pieces of work there are in all."""
        if self._bar is not None:
            self._bar.update(self._task, total=pieces)

    def done(self, what: str) -> bool:
        """Say that a piece is done; True when a callback asks to stop."""
        if self._bar is not None:
            self._bar.update(self._task, advance=1, description=what)
        if self._context is None:
            return False
        piece = self._context.subcontext(task_name=what)
        piece.call_on_fit_task_begin(estimator=self._estimator, **self._data)
        return bool(piece.call_on_fit_task_end(estimator=self._estimator, **self._data))

    def __exit__(self, kind: type[BaseException] | None, error: object, trace: object) -> None:
        if self._bar is not None:
            self._bar.stop()
        if self._context is not None and kind is None:
            self._context.call_on_fit_task_end(estimator=self._estimator, **self._data)


def _rich() -> Any:
    try:
        from rich.progress import Progress as Bar
    except ImportError:
        raise ImportError("verbose=True shows progress with rich; pip install 'baconlogic[progress]'") from None
    return Bar(transient=True)
