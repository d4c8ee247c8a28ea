"""The parameters of one fit: checked, and refused where they contradict each other or the table."""

from __future__ import annotations

import difflib
import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from numbers import Integral, Real
from typing import Any

from sklearn.utils import check_random_state

from baconlogic.core import gcd
from baconlogic.core.answers import Feature, as_labels
from baconlogic.core.checks import Hint, Parameter, ParameterError, check_text
from baconlogic.core.decision import Decision
from baconlogic.core.nodes import Gate, Leaf
from baconlogic.core.tree import Tree
from baconlogic.learn import encode
from baconlogic.learn.column import Column
from baconlogic.learn.search import SEARCHES
from baconlogic.learn.search.cards import FORMS, PARTS, Cards

GIVE_INIT = Hint("init", "init=Tree.parse(...)")
DIRECTIONS = {"rising": 1, "falling": -1, "learn": 0}
ANY = (gcd.LOWEST, gcd.HIGHEST)


@dataclass(frozen=True)
class Params:
    """A fit, ready to run: the table's columns, the expert's say by feature name, the search and its limits."""

    columns: tuple[Column, ...]
    classes: tuple[Any, ...]
    order: tuple[str, ...]  # most important first
    directions: Mapping[str, int]  # 1 rising, -1 falling
    required: tuple[str, ...]
    forbidden: tuple[str, ...]
    andness: tuple[float, float]  # of every gate
    gates: Mapping[str, tuple[float, float]]  # of the gate a feature enters
    init: Tree | None
    search: Any
    name: str  # of the search
    criteria: str
    simplicity: str
    form: str
    groups: tuple[tuple[str, tuple[str, ...]], ...]  # named parts of the tree, and their features
    most: int | None
    reuse: bool
    aggregator: gcd.Aggregator
    jobs: int | None
    seed: int
    seconds: float | None
    started: float
    before: tuple[Tree, ...] = ()  # the trees of the last fit, for a warm start

    @property
    def names(self) -> list[str]:
        """The features of the table."""
        return [column.name for column in self.columns]

    @property
    def spent(self) -> float:
        """The seconds since the fit started."""
        return time.monotonic() - self.started

    @property
    def overdue(self) -> bool:
        """Whether the time budget is used up: a search looks at its own share of it only now and then."""
        return self.seconds is not None and self.spent > self.seconds

    def direction(self, feature: str) -> int:
        """Return 1 for rising, -1 for falling, 0 to be learned."""
        return self.directions.get(feature, 0)

    def bounds(self, feature: str) -> tuple[float, float]:
        """Return the lowest and highest andness of a gate with this feature."""
        low, high = self.gates.get(feature, ANY)
        return max(low, self.andness[0]), min(high, self.andness[1])


def checked(clf: Any, columns: Sequence[Column], before: Decision | None, started: float) -> Params:
    """Return the parameters of a classifier, checked against each other and the table."""
    _one_of("criteria", clf.criteria, ("learned", "sigmoid", "minmax"))
    _one_of("simplicity", clf.simplicity, ("best", "one-se"))
    _one_of("form", clf.form, tuple(FORMS))
    _one_of("aggregator", clf.aggregator, tuple(name for name, rule in gcd.AGGREGATORS.items() if rule.learnable))
    _positive("max_leaves", clf.max_leaves, Integral, "whole number")
    _positive("time_budget", clf.time_budget, Real, "number of seconds")
    names = [Feature(column.name, column.kind).name for column in columns]  # refuses what no file can hold
    as_labels(clf.classes_.tolist())
    directions = _directions(clf.directions, names)
    andness, gates = _andness(clf.andness, names)
    order, required, forbidden = (_listed(clf, each, names) for each in ("order", "required", "forbidden"))
    groups = _groups(clf.groups, names)
    forbidden += tuple(n for n in names if groups and n not in forbidden and not any(n in own for _, own in groups))
    search, name = _search(clf.search, order, clf.init)
    if clf.form != "auto" or groups:
        search, name = _cards(clf.form, groups, search, name)
    seed = int(check_random_state(clf.random_state).randint(2**31 - 1))
    p = Params(
        tuple(columns), tuple(clf.classes_.tolist()), order, directions, required, forbidden, andness, gates, clf.init,
        search, name, clf.criteria, clf.simplicity, clf.form, groups, clf.max_leaves, bool(clf.reuse),
        gcd.AGGREGATORS[clf.aggregator], clf.n_jobs, seed, clf.time_budget, started,
    )  # fmt: skip
    _agree(p)
    if p.init is not None:
        _agree_with_init(p)
    _agree_with_search(p)
    _agree_with_aggregator(p)
    if name == "calibrate" and p.init is not None:
        encode.check_complete(p.init, columns)
    return replace(p, before=_warm(p, before))


def _one_of(what: str, value: Any, allowed: tuple[str, ...]) -> None:
    if value not in allowed:
        raise ValueError(f"{what} must be one of {', '.join(map(repr, allowed))}, got {value!r}")


def _positive(what: str, value: Any, kind: type, words: str) -> None:
    if value is not None and (isinstance(value, bool) or not isinstance(value, kind) or not value > 0):  # type: ignore[operator]
        said = f" must be a positive {words}"
        raise ParameterError(Parameter(what), said, Hint("none", ", or None"), f", got {value!r}")


def _search(given: Any, order: tuple[str, ...], init: Tree | None) -> tuple[Any, str]:
    structure = bool(order) or init is not None
    if given == "auto" and structure:
        given = "refine"
    if isinstance(given, str):
        _one_of("search", given, tuple(SEARCHES))
        if given in ("refine", "calibrate") and not structure:
            said = " needs a tree to start from: give "
            raise ParameterError(Parameter("search", given), said, GIVE_INIT, " or ", Hint("order", "order=[...]"))
        if given == "calibrate" and init is None:
            raise ParameterError(Parameter("search", given), " keeps a tree as it is: give ", GIVE_INIT)
        return SEARCHES[given](), given
    if not hasattr(given, "find") or isinstance(given, type):
        raise TypeError(f"search must be one of {', '.join(SEARCHES)} or a search object, got {given!r:.60}")
    return given, type(given).__name__.lower()


def _cards(form: str, groups: Any, search: Any, name: str) -> tuple[Any, str]:
    """Return the search for cards of a form, or over named parts."""
    if name not in ("auto", "cards"):
        what = f"form={form!r}" if form != "auto" else "groups"
        raise ValueError(f"{what} asks for a card, which search={name!r} does not look for; use search='auto'")
    if groups and form not in ("auto", "scorecard"):
        raise ValueError(f"groups asks for parts that add up, which form={form!r} does not have; use form='scorecard'")
    limit = search.max_leaves if isinstance(search, Cards) else Cards().max_leaves
    return Cards(max_leaves=limit, kinds=PARTS if groups else FORMS[form]), "cards"


def _groups(given: Any, names: Sequence[str]) -> tuple[tuple[str, tuple[str, ...]], ...]:
    if given is None:
        return ()
    if not isinstance(given, Mapping) or len(given) < 2:
        raise TypeError(f"groups must be a mapping of two or more names to lists of features, got {given!r:.60}")
    found = []
    for name, features in given.items():
        if isinstance(features, str) or not isinstance(features, Iterable):
            raise TypeError(f"the group {name!r} must be a list of feature names, got {features!r:.60}")
        check_text(name, "the name of a group")
        own = tuple(features)
        _known(own, "groups", names)
        if not own:
            raise ValueError(f"the group {name!r} has no features")
        found.append((name, own))
    twice = [name for name, times in Counter(n for _, own in found for n in own).items() if times > 1]
    if twice:
        raise ValueError(f"{twice[0]!r} is in groups twice; a feature belongs to one part")
    return tuple(found)


def _listed(clf: Any, what: str, names: Sequence[str]) -> tuple[str, ...]:
    value = getattr(clf, what)
    if value is None:
        return ()
    if isinstance(value, str) or not isinstance(value, Iterable):
        raise TypeError(f"{what} must be a list of feature names, got {value!r}")
    found = tuple(value)
    _known(found, what, names)
    twice = [name for name, times in Counter(found).items() if times > 1]
    if twice:
        raise ParameterError(Parameter(what), f" names {twice[0]!r} twice")
    return found


def _known(found: Iterable[Any], what: str, names: Sequence[str]) -> None:
    for name in found:
        if name not in names:
            close = difflib.get_close_matches(str(name), [str(known) for known in names], n=1)
            hint = f"did you mean {close[0]!r}?" if close else f"the table has {', '.join(map(repr, names[:10]))}"
            raise ParameterError(Parameter(what), f" names {name!r}, which is not a column; {hint}")


def _directions(given: Any, names: Sequence[str]) -> Mapping[str, int]:
    turned = {} if given is None else dict.fromkeys(names, given) if isinstance(given, str) else given
    if not isinstance(turned, Mapping):
        raise TypeError(f"directions must be a mapping of feature names to values, got {given!r}")
    _known(turned, "directions", names)
    for name, value in turned.items():
        if not isinstance(value, str) or value not in DIRECTIONS:
            raise ValueError(f"the direction of {name!r} must be 'rising', 'falling' or 'learn', got {value!r}")
    return {name: DIRECTIONS[value] for name, value in turned.items()}


def _andness(value: Any, names: Sequence[str]) -> tuple[tuple[float, float], Mapping[str, tuple[float, float]]]:
    if value is None:
        return ANY, {}
    if not isinstance(value, Mapping):
        return _bounds(value, Parameter("andness")), {}
    said = {name: _bounds(pair, f"the andness of {name!r}") for name, pair in value.items()}
    tree = said.pop(None, ANY)
    _known(said, "andness", names)
    return tree, said


def _bounds(value: Any, what: str | Parameter) -> tuple[float, float]:
    pair = tuple(value) if isinstance(value, Iterable) and not isinstance(value, str) else ()
    if len(pair) != 2 or not all(isinstance(end, Real) and not isinstance(end, bool) for end in pair):
        raise TypeError(f"{what} must be a pair (lowest, highest), e.g. (0.75, 2) for hard conjunction, got {value!r}")
    low, high = float(pair[0]), float(pair[1])
    if not gcd.LOWEST <= low <= high <= gcd.HIGHEST:
        pair_words = Hint("bounds", "(lowest, highest)")
        raise ParameterError(what, " must be ", pair_words, f" within [-1, 2], got ({low:g}, {high:g})")
    return low, high


def _agree(p: Params) -> None:
    for what, named in (("required", p.required), ("order", p.order)):
        both = [name for name in named if name in p.forbidden]
        if both:
            raise ValueError(f"{both[0]!r} is in {what} and in forbidden; take it out of one of them")
        if p.most is not None and len(named) > p.most:
            raise ParameterError(Parameter(what), f" names {len(named)} features, but max_leaves is {p.most}")
    lost = [name for name in p.required if name not in p.order]
    if p.order and lost:
        raise ValueError(f"{lost[0]!r} is required, but order, which names all features to use, lacks it")
    for name, (low, high) in p.gates.items():
        if max(low, p.andness[0]) > min(high, p.andness[1]):
            tree = f"({p.andness[0]:g}, {p.andness[1]:g})"
            raise ValueError(f"andness ({low:g}, {high:g}) for {name!r} lies outside that of the tree, {tree}")
        if name in p.forbidden:
            raise ValueError(f"andness is stated for {name!r}, which is forbidden; take it out of one of them")
    last = {name: p.bounds(name) for name in p.order[-2:]}  # these enter one gate
    if last and max(low for low, _ in last.values()) > min(high for _, high in last.values()):
        pair = " and ".join(f"{name!r} ({low:g}, {high:g})" for name, (low, high) in last.items())
        raise ValueError(f"order puts {pair} into one gate, but their andness excludes each other")


def _agree_with_search(p: Params) -> None:
    """Refuse wishes that a search, by its name, cannot grant."""
    search, features = p.name, sum(not column.constant and column.name not in p.forbidden for column in p.columns)
    stated = "order" if p.order else "init" if p.init is not None else ""
    if (stated and search in ("peel", "additive")) or (p.order and search in ("growth", "auto")):
        raise ValueError(f"{stated} states a structure, which search={search!r} would not keep; use search='refine'")
    if stated == "init" and search == "sinkhorn":
        raise ValueError("init states a structure, but search='sinkhorn' has its own; use search='refine' or 'growth'")
    if p.required and search == "peel":
        raise ValueError(f"{p.required[0]!r} is required, which search='peel' does not promise; use search='auto'")
    if search == "sinkhorn" and p.most is not None and features > p.most:
        said = f" uses all {features} features, but max_leaves is {p.most}; forbid some"
        raise ParameterError(Parameter("search", search), said)
    if search == "additive" and any(not low <= gcd.NEUTRAL <= high for low, high in (p.andness, *p.gates.values())):
        raise ValueError("andness excludes 0.5, but search='additive' joins all by a neutral gate; use search='auto'")
    if search == "sinkhorn" and (p.andness != ANY or p.gates):
        raise ValueError("andness is bounded, but search='sinkhorn' learns it freely; use search='auto' or 'growth'")


def _agree_with_init(p: Params) -> None:
    """Refuse wishes that contradict the tree to start from."""
    tree = p.init
    if tree is None or not hasattr(tree, "walk"):
        raise TypeError(f"init must be a Tree, e.g. Tree.parse('HC(a, b)'), got {tree!r:.60}")
    _known(tree.features, "init", p.names)
    leaves = sum(isinstance(node, Leaf) for _, node in tree.walk())
    if p.most is not None and leaves > p.most:
        raise ValueError(f"init has {leaves} leaves, but max_leaves is {p.most}")
    if p.order:
        raise ValueError("order and init both state the structure; give one of them")
    for name in p.required:
        if name not in tree.features:
            raise ValueError(f"{name!r} is required, but init does not use it")
    for name in tree.features:
        if name in p.forbidden:
            raise ValueError(f"{name!r} is forbidden, but init uses it")
    broken = _broken_bound(p, tree)
    if broken:
        raise ValueError(f"init has {broken}")


def _agree_with_aggregator(p: Params) -> None:
    used = {node.aggregator for _, node in p.init.walk() if isinstance(node, Gate)} if p.init else set()
    if used - {p.aggregator.name}:
        other, own = sorted(used - {p.aggregator.name})[0], p.aggregator.name
        raise ValueError(f"init has a gate of aggregator {other!r}, but aggregator={own!r}; make them equal")


def _warm(p: Params, before: Decision | None) -> tuple[Tree, ...]:
    """Return the trees of the last fit where the next can start from them: same table, classes and wishes."""
    anew = ("auto", "cards", "peel", "additive", "sinkhorn")  # these do not start from trees
    if before is None or p.order or p.init is not None or p.name in anew:
        return ()
    if [f.name for f in before.features] != p.names or before.classes != p.classes:
        return ()
    try:
        for tree in before.trees:
            again = replace(p, init=tree)
            _agree_with_init(again)
            _agree_with_aggregator(again)
            for source in encode.typed_sources(tree, p.columns):
                if source.criterion is not None:
                    encode.fixed_truths(p.columns[source.feature], source.criterion)
    except ValueError:  # what is asked for now, or what a column holds now, rules it out
        return ()
    return before.trees


def unmet(p: Params, tree: Tree) -> str | None:
    """Return what a tree that was found has or lacks against the wishes, in words; None where it grants them."""
    for name in p.required:
        if name not in tree.features:
            return f"no leaf for {name!r}, which is required"
    return _broken_bound(p, tree)


def _broken_bound(p: Params, tree: Tree) -> str | None:
    """Return the first gate whose andness is not as asked, in words; None where all are."""
    for _, gate in tree.walk():
        if isinstance(gate, Gate):
            bounds = {f"andness for {n.feature!r}": p.bounds(n.feature) for n in gate.inputs if isinstance(n, Leaf)}
            for what, (low, high) in ({"andness": p.andness} | bounds).items():
                if not low - 1e-9 <= gate.andness <= high + 1e-9:
                    return f"a gate of andness {gate.andness:g}, but {what} asks for [{low:g}, {high:g}]"
    return None
