"""Appendix B: a Boolean expression found again from its truth table, and a sweep over length and operators."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from baconlogic import datasets
from experiments import validation
from experiments.boolean_sweep import (
    CHAIN,
    EXACT,
    LEARNED,
    MIXED,
    SHORT,
    Cell,
    Task,
    classifier,
    judged,
    read,
    solve,
    sweep,
    tasks,
)
from experiments.boolean_telling import LongChain, Recovery, parts, sizes
from experiments.result import Experiment, Line

FLIPPED = 0.05  # share of labels, in the test with noise
LONGEST = 60.0  # seconds for Appendix B itself


@dataclass(frozen=True, kw_only=True)
class Boolean(Experiment):
    """The expression of Appendix B by both searches, the sweep, and a long chain."""

    recoveries: tuple[Recovery, ...]
    cells: tuple[Cell, ...]
    long: LongChain


def run(
    *,
    seed: int = 0,
    n_jobs: int | None = 2,
    folder: Path | None = None,
    progress: Callable[[str], None] | None = None,
    largest: int = 10,
    seeds: int = 8,
    limit: float = 20.0,
    splits: int = 10,
) -> Boolean:
    """Find Appendix B's expression, and `seeds` random ones of each length up to `largest`, each in `limit` seconds."""
    started, tell = time.perf_counter(), progress or (lambda _: None)
    for search in (EXACT, CHAIN):  # what is compiled or loaded at the first fit is not timed
        solve(Task(3, search, seed))
    recoveries = []
    for search in (EXACT, CHAIN):
        tell(f"Appendix B by {search}")
        recoveries.append(_recover(search, seed, splits, limit, n_jobs))
    wanted = tasks(largest, seeds, limit)
    tell(f"{len(wanted)} expressions of 3 to 12 variables")
    cells = sweep(wanted, n_jobs)
    tell("a chain of 100 variables")
    long = _long(seed)
    pictures: tuple[str, ...] = ()
    if folder is not None:
        tell("drawing")
        pictures = _draw(recoveries, cells, folder)
    return Boolean(
        name="boolean", title="Boolean expressions (Appendix B of the paper)", lines=_lines(recoveries, cells),
        parts=parts(recoveries, cells, long, limit), pictures=pictures,
        seconds=time.perf_counter() - started, recoveries=tuple(recoveries), cells=cells, long=long,
    )  # fmt: skip


def _recover(search: str, seed: int, splits: int, limit: float, n_jobs: int | None) -> Recovery:
    expression = datasets.appendix_b()
    table, repeated = datasets.boolean(expression), datasets.boolean(expression, repeats=100)
    found = validation.in_sample(lambda: classifier(search, seed, LONGEST), validation.frame(repeated), repeated.y)
    formula, truth = read(found.model.tree_, table)
    short = min(limit, SHORT)
    clean, noisy = (judged(search, expression, noise, splits, short, n_jobs) for noise in (0.0, FLIPPED))
    return Recovery(
        search, found.model.tree_, found.model.threshold_, formula, found.accuracy, bool((truth == table.y).all()),
        found.seconds, validation.interval(clean, 1.0 - LEARNED), validation.interval(noisy, 1.0 - LEARNED),
    )  # fmt: skip


def _long(seed: int, variables: int = 100, rows: int = 10_000) -> LongChain:
    expression = datasets.random_chain(variables, seed)
    seen, new = (datasets.boolean(expression, rows, random_state=seed + i) for i in (1, 2))
    found = validation.in_sample(lambda: classifier(EXACT, seed, LONGEST), validation.frame(seen), seen.y)
    right = float(np.mean(found.model.predict(validation.frame(new)) == new.y))
    return LongChain(variables, rows, right, found.model.history_.leaves, found.seconds)


def _lines(recoveries: list[Recovery], cells: tuple[Cell, ...]) -> tuple[Line, ...]:
    hours = 'the paper found it too; of its harder expressions it says "hours", without a number'
    lines = [
        Line(f"Appendix B, {each.search}", 1.0, each.right, "all 256 rows of the table", each.held_out, each.seconds,
             hours if each.search == EXACT else "")
        for each in recoveries
    ]  # fmt: skip
    lines += [
        Line(
            f"Appendix B, 5% of labels flipped, {each.search}", None, each.noisy.mean, "clean rows held out", each.noisy
        )
        for each in recoveries
    ]
    for search in (EXACT, CHAIN):
        for low, high in ((3, 8), (9, 12)):  # the paper's, and longer ones
            some = [c for c in cells if c.search == search and c.operators == MIXED and low <= c.variables <= high]
            tried = sum(cell.tried for cell in some)
            if tried:
                found = sum(cell.recovered for cell in some)
                slowest = max(cell.slowest for cell in some)
                lines.append(
                    Line(
                        f"{sizes(some)} variables, {search}",
                        None,
                        found / tried,
                        f"{found} of {tried} found",
                        seconds=slowest,
                    )
                )
    return tuple(lines)


def _draw(recoveries: list[Recovery], cells: tuple[Cell, ...], folder: Path) -> tuple[str, ...]:
    from baconlogic.edit._simplify import simplify
    from experiments import pictures

    mixed = {search: [c for c in cells if c.search == search and c.operators == MIXED] for search in (EXACT, CHAIN)}
    made = [pictures.sweep(mixed, folder, "boolean-sweep")]
    for each in recoveries:
        name = "boolean-default" if each.search == EXACT else "boolean-paper-search"
        made.append(pictures.tree(simplify(each.tree), each.threshold, folder, f"{name}-tree"))
    return tuple(made)
