"""Many Boolean expressions, each to be found again by a search within a time limit."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from baconlogic import datasets
from baconlogic.core.nodes import Gate, Leaf, Not
from baconlogic.core.results import Result
from baconlogic.learn.classifier import BaconClassifier
from baconlogic.learn.search.sinkhorn import Sinkhorn
from experiments import validation

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from baconlogic.core.tree import Tree
    from baconlogic.datasets import Dataset, Expression

    Bools = NDArray[np.bool_]

EXACT, CHAIN = "the default search", "the paper's search"
ALL_AND, MOSTLY_AND, MIXED, MOSTLY_OR, ALL_OR = KINDS = ("all and", "mostly and", "mixed", "mostly or", "all or")
ATTEMPTS = 10**6  # of the paper's search: its time limit ends it
SHORT = 3.0  # seconds for it on a part of the table: with flipped labels no attempt is right on every row


@dataclass(frozen=True)
class Task:
    """An expression of n variables to be found: its operators are of a kind, the rest is drawn by a seed."""

    variables: int
    search: str
    seed: int
    operators: str = MIXED
    limit: float = 20.0  # seconds


@dataclass(frozen=True)
class Cell(Result):
    """What became of the tasks of one kind."""

    variables: int
    search: str
    operators: str
    recovered: int
    tried: int
    seconds: float  # of one core, median
    slowest: float
    attempts: tuple[int, ...]  # of the paper's search, for each expression

    @property
    def median_attempts(self) -> float:
        """The median of the attempts."""
        return float(np.median(self.attempts))


def classifier(search: str, seed: int, limit: float) -> BaconClassifier:
    """Return the default classifier, or the paper's search until every row is right or time is up."""
    if search == EXACT:
        return BaconClassifier(random_state=seed)
    chain = Sinkhorn(acceptance_threshold=1.0, attempts=ATTEMPTS)
    return BaconClassifier(chain, random_state=seed, time_budget=limit)


def expression(task: Task) -> Expression:
    """Return the expression of a task: a left chain whose variables stand in random order."""
    drawn = datasets.random_chain(task.variables, task.seed)
    if task.operators == MIXED:
        return drawn
    how, which = task.operators.split()
    operators = [which] * (task.variables - 1)
    if how == "mostly":  # two of them are the other one
        for place in np.random.default_rng(task.seed).choice(len(operators), 2, replace=False):
            operators[place] = "or" if which == "and" else "and"
    return datasets.chain(operators, drawn.names)


def tasks(largest: int, seeds: int, limit: float) -> list[Task]:
    """Return the sweep over n with mixed operators, then over kinds of operators at eight variables."""
    found = []
    for n in range(3, largest + 1):
        few = max(seeds // 2, 2) if n > 8 else seeds  # the paper's search takes long there
        found += [Task(n, CHAIN, seed, limit=limit) for seed in range(few)]
        found += [Task(n, EXACT, seed) for seed in range(seeds)]
    if largest < 12:
        found += [Task(12, EXACT, seed) for seed in range(seeds)]
    kinds = [(kind, search) for kind in KINDS for search in (CHAIN, EXACT) if kind != MIXED or largest < 8]
    return found + [Task(8, search, seed, kind, limit) for kind, search in kinds for seed in range(seeds)]


def solve(task: Task) -> tuple[bool, float, int]:
    """Learn an expression from its truth table; return whether all rows are right, seconds of a core, attempts."""
    table = datasets.boolean(expression(task))
    X, started = validation.frame(table), time.process_time()
    clf = classifier(task.search, task.seed, task.limit).fit(X, table.y)
    seconds = time.process_time() - started
    return bool((clf.predict(X) == table.y).all()), seconds, len(clf.history_.attempts)


def sweep(wanted: Sequence[Task], n_jobs: int | None) -> tuple[Cell, ...]:
    """Solve tasks side by side, the long ones first; return a cell for each kind, in the order of the tasks."""
    from joblib import Parallel, delayed

    order = sorted(range(len(wanted)), key=lambda i: (wanted[i].search != CHAIN, -wanted[i].variables))
    done = Parallel(n_jobs=n_jobs)(delayed(solve)(wanted[i]) for i in order)
    kinds: dict[tuple[int, str, str], list[tuple[bool, float, int]]] = {
        (task.variables, task.search, task.operators): [] for task in wanted
    }
    for i, outcome in zip(order, done, strict=True):
        task = wanted[i]
        kinds[task.variables, task.search, task.operators].append(outcome)
    return tuple(_cell(*kind, outcomes) for kind, outcomes in kinds.items())


def _cell(n: int, search: str, operators: str, outcomes: list[tuple[bool, float, int]]) -> Cell:
    seconds = [each[1] for each in outcomes]
    attempts = tuple(each[2] for each in outcomes)
    right = sum(each[0] for each in outcomes)
    return Cell(n, search, operators, right, len(outcomes), float(np.median(seconds)), max(seconds), attempts)


def judged(search: str, of: Expression, noise: float, splits: int, limit: float, n_jobs: int | None) -> NDArray[Any]:
    """Learn from 70% of the truth table, some labels flipped; return the accuracy on the clean rest of each split."""
    from joblib import Parallel, delayed

    table = datasets.boolean(of)
    scores = Parallel(n_jobs=n_jobs)(delayed(_judge)(search, table, noise, seed, limit) for seed in range(splits))
    return np.asarray(scores, dtype=np.float64)


LEARNED = 0.7  # of the truth table


def _judge(search: str, table: Dataset, noise: float, seed: int, limit: float) -> float:
    rng = np.random.default_rng(seed)
    order = rng.permutation(len(table.y))
    seen, hidden = np.split(order, [round(LEARNED * len(order))])
    y = np.where(rng.random(len(table.y)) < noise, 1 - table.y, table.y)
    X = validation.frame(table)
    clf = classifier(search, seed, limit).fit(validation.take(X, seen), y[seen])
    return float(np.mean(clf.predict(validation.take(X, hidden)) == table.y[hidden]))


def read(tree: Tree, table: Dataset) -> tuple[str, Bools]:
    """Read a tree over 0/1 columns as and/or; return it as text, and what the text says of each row.

    A gate nearer to conjunction (andness 1/2 or more) is read as "and", else as "or"; gates of one kind right above
    each other are written as one.
    """
    columns = {name: table.X[:, i] > 0.5 for i, name in enumerate(table.feature_names)}
    said: dict[tuple[int, ...], tuple[str, str, Bools]] = {}  # of each node: operator, text, truth
    for path, node in sorted(tree.walk(), key=lambda pair: -len(pair[0])):
        parts = [said[*path, i] for i in range(len(node.children))]
        if isinstance(node, Leaf):
            turned = node.criterion.rising is False
            truth = columns[node.feature] != turned
            said[path] = "", f"not {node.feature}" if turned else node.feature, truth
        elif isinstance(node, Not):
            said[path] = "", f"not {_inside(parts[0], '')}", ~parts[0][2]
        elif isinstance(node, Gate):
            operator = "and" if node.andness >= 0.5 else "or"
            join = np.logical_and if operator == "and" else np.logical_or
            text = f" {operator} ".join(_inside(part, operator) for part in parts)
            said[path] = operator, text, join.reduce([part[2] for part in parts])
    return said[()][1], said[()][2]


def _inside(part: tuple[str, str, Bools], operator: str) -> str:
    return part[1] if part[0] in ("", operator) else f"({part[1]})"
