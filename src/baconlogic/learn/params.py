"""A fit before it runs: the parameters, checked against each other and the table."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any

from sklearn.utils import check_random_state

from baconlogic.core import gcd
from baconlogic.core.answers import Feature, as_labels
from baconlogic.core.checks import Hint, Parameter, ParameterError
from baconlogic.core.nodes import Gate
from baconlogic.learn import encode as encoding
from baconlogic.learn import start as starts
from baconlogic.learn.search.additive import Additive
from baconlogic.learn.search.auto import Auto
from baconlogic.learn.search.fixed import Calibrate, Refine
from baconlogic.learn.search.growth import Growth
from baconlogic.learn.search.peel import Peel
from baconlogic.learn.search.sinkhorn import Sinkhorn
from baconlogic.learn.wishes import Wishes, agree_with_init, agree_with_search, wishes

if TYPE_CHECKING:
    from collections.abc import Sequence

    from baconlogic.core.decision import Decision
    from baconlogic.core.tree import Tree
    from baconlogic.learn.encode import Column

GIVE_INIT = Hint("init", "init=Tree.parse(...)")
SEARCHES = {
    "auto": Auto,
    "growth": Growth,
    "additive": Additive,
    "peel": Peel,
    "sinkhorn": Sinkhorn,
    "refine": Refine,
    "calibrate": Calibrate,
}


@dataclass(frozen=True)
class Plan:
    """A fit, checked and ready to run."""

    columns: tuple[Column, ...]
    wishes: Wishes
    search: Any
    name: str  # of the search
    criteria: str
    simplicity: str
    most: int | None
    reuse: bool
    aggregator: gcd.Aggregator
    before: tuple[Tree, ...]  # the trees of the last fit, for a warm start
    jobs: int | None
    seed: int
    seconds: float | None
    started: float

    @property
    def spent(self) -> float:
        """The seconds since the fit started."""
        return time.monotonic() - self.started


def plan(clf: Any, columns: Sequence[Column], before: Decision | None, started: float) -> Plan:
    """Check the parameters of a classifier against each other and the table."""
    _one_of("criteria", clf.criteria, ("learned", "sigmoid", "minmax"))
    _one_of("simplicity", clf.simplicity, ("best", "one-se"))
    _one_of("aggregator", clf.aggregator, tuple(name for name, rule in gcd.AGGREGATORS.items() if rule.learnable))
    _positive("max_leaves", clf.max_leaves, Integral, "whole number")
    _positive("time_budget", clf.time_budget, Real, "number of seconds")
    names = [Feature(column.name, column.kind).name for column in columns]  # refuses what no file can hold
    as_labels(clf.classes_.tolist())
    asked = wishes(
        names, order=clf.order, directions=clf.directions, required=clf.required, forbidden=clf.forbidden,
        andness=clf.andness, init=clf.init, max_leaves=clf.max_leaves,
    )  # fmt: skip
    search, name = _search(clf.search, asked)
    usable = sum(not column.constant and column.name not in asked.forbidden for column in columns)
    agree_with_search(asked, name, usable, clf.max_leaves)
    _agree_with_aggregator(clf, asked)
    if name == "calibrate" and asked.init is not None:
        starts.check_complete(asked.init, columns)
    trees = _warm(clf, asked, name, columns, before)
    seed = int(check_random_state(clf.random_state).randint(2**31 - 1))
    return Plan(
        tuple(columns), asked, search, name, clf.criteria, clf.simplicity, clf.max_leaves, bool(clf.reuse),
        gcd.AGGREGATORS[clf.aggregator], trees, clf.n_jobs, seed, clf.time_budget, started,
    )  # fmt: skip


def _positive(what: str, value: Any, kind: type, words: str) -> None:
    if value is not None and (isinstance(value, bool) or not isinstance(value, kind) or not value > 0):  # type: ignore[operator]
        said = f" must be a positive {words}"
        raise ParameterError(Parameter(what), said, Hint("none", ", or None"), f", got {value!r}")


def _agree_with_aggregator(clf: Any, asked: Wishes) -> None:
    used = {node.aggregator for _, node in asked.init.walk() if isinstance(node, Gate)} if asked.init else set()
    if used - {clf.aggregator}:
        other = sorted(used - {clf.aggregator})[0]
        raise ValueError(f"init has a gate of aggregator {other!r}, but aggregator={clf.aggregator!r}; make them equal")


def _warm(clf: Any, asked: Wishes, search: str, columns: Sequence[Column], before: Decision | None) -> tuple[Tree, ...]:
    """Return the trees of the last fit where the next can start from them: same table, classes and wishes."""
    names = [column.name for column in columns]
    if before is None or asked.order or asked.init is not None or search in ("peel", "additive", "sinkhorn"):
        return ()
    if [f.name for f in before.features] != names or before.classes != tuple(clf.classes_.tolist()):
        return ()
    try:
        for tree in before.trees:
            again = replace(asked, init=tree)
            agree_with_init(again, names, clf.max_leaves)
            _agree_with_aggregator(clf, again)
            for source in starts.fixed_sources(tree, columns):
                if source.criterion is not None:
                    encoding.fixed_truths(columns[source.feature], source.criterion)
    except ValueError:  # what is asked for now, or what a column holds now, rules it out
        return ()
    return before.trees


def _one_of(what: str, value: Any, allowed: tuple[str, ...]) -> None:
    if value not in allowed:
        raise ValueError(f"{what} must be one of {', '.join(map(repr, allowed))}, got {value!r}")


def _search(given: Any, asked: Wishes) -> tuple[Any, str]:
    if given == "auto" and (asked.order or asked.init is not None):
        given = "refine"
    if isinstance(given, str):
        _one_of("search", given, tuple(SEARCHES))
        if given in ("refine", "calibrate") and not (asked.order or asked.init is not None):
            said = " needs a tree to start from: give "
            raise ParameterError(Parameter("search", given), said, GIVE_INIT, " or ", Hint("order", "order=[...]"))
        if given == "calibrate" and asked.init is None:
            raise ParameterError(Parameter("search", given), " keeps a tree as it is: give ", GIVE_INIT)
        return SEARCHES[given](), given
    if not hasattr(given, "find") or isinstance(given, type):
        raise TypeError(f"search must be one of {', '.join(SEARCHES)} or a search object, got {given!r:.60}")
    return given, type(given).__name__.lower()
