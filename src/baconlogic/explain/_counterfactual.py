"""Counterfactual: the smallest change of one value, and of several together, that turns the decision of a case.

`bounds` gives the exact extremes of the truth over a box of raw values. So the smallest change is found by bisection
on the size of the box: one feature wide for a single change, all of them for the joint one, whose size is that of its
largest part. What is proposed was evaluated: it does turn the decision.

A change of a number is measured in a scale of its feature: with a table X, the spread of its column there
(interquartile range / 1.349, about one standard deviation), and values stay within the range seen; without, the
distance over which its criterion goes from hardly true to nearly true. A change of category is of size 1.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import numpy as np
from numpy.typing import NDArray

from baconlogic.core import Floats
from baconlogic.core.answers import Label
from baconlogic.core.checks import Parameter, ParameterError, check_finite
from baconlogic.core.columns import Columns
from baconlogic.core.criteria import Table
from baconlogic.core.nodes import Leaf
from baconlogic.core.subject import Instance, Listing, Result, Subject, subject
from baconlogic.core.tree import Tree
from baconlogic.core.words import aligned, apart, crisp_places, is_tie, one_line
from baconlogic.explain import _case as cases

BISECTIONS = 40
NUDGES = (0.0, *(10.0**k for k in range(-15, -2)))  # rounding may leave a value just short of turning the decision
EXACT = 1e-9  # what a change may be larger than it need be, relatively
GRID = 2000  # parts of a range that is searched where bounds are too wide to tell
# Of the joint change: how far beyond the smallest box to look, and at how many parts of each range; None: at the ends.
ATTEMPTS = ((0.0, None), (1e-9, None), (1e-9, 0), (1e-9, 32), (1e-6, 32), (1e-3, 32))
SCANNED = 100_000  # whole steps to try before giving up
FARTHER = 16  # larger boxes to look in, where none of the smallest has a point: a band can lie between two steps
FINE = 0.01  # of the scale of a feature: no finer are its values written, if not needed
DIGITS = (2, 4, 6, 9, 12, None)  # of a change to be written: as few as still turn the decision; None: all
NORMAL_QUARTILES = 1.349  # between the quartiles of a normal distribution, in standard deviations
HARDLY = 0.001  # smaller changes are told as such: what is written is rounded by more
SLACK = 1e-9  # of a step, which rounding may eat


@dataclass(frozen=True)
class ValueChange(Result):
    """Another value for one feature. `size` is in units of the feature's scale."""

    feature: str
    before: Any
    after: Any
    size: float
    before_says: str
    after_says: str

    def __str__(self) -> str:
        return f"{self.feature} from {self.before_says} to {self.after_says}"


@dataclass(frozen=True)
class Counterfactual(Listing):
    """What would turn the decision of a case: `rows` are the smallest single change of each feature that can."""

    decision: Label
    other: Label
    truth: float
    threshold: float
    rows: tuple[ValueChange, ...]  # smallest first
    joint: tuple[ValueChange, ...] | None  # the smallest joint change, as large as its largest; None if there is none
    unit: str  # what sizes are counted in
    limits: tuple[str, ...]  # among what changes these were sought
    certain: bool  # False where a joint change may exist although none was found
    tree_of: Label | None = None  # of more than two classes: the one whose tree this is about

    @property
    def single(self) -> ValueChange | None:
        """The smallest change of one value that turns the decision, if there is one."""
        return self.rows[0] if self.rows else None

    def __str__(self) -> str:
        decision, other = cases.answer(self.decision), cases.answer(self.other)
        truth, turn = apart(self.truth, self.threshold)
        turns = f"the truth is {truth}, " + (
            "exactly where it turns" if is_tie(self.truth, self.threshold) else f"and it turns at {turn}"
        )
        lines = [f"The answer is {decision}: {turns}."]
        alone = {(each.feature, each.after_says) for each in self.rows}
        would = f"It would be {other}" if self.tree_of is None else f"The tree would say {other}"
        if self.rows:
            lines += [f"{would} if one of these values changed, and nothing else:", _table(self.rows)]
        else:
            lines.append(f"No change of a single value would make it {other}.")
        if self.joint is None:
            none = f"would make it {other} either: none exists" if self.certain else f"was found to make it {other}"
            lines.append(f"No change of several values together {none}.")
        elif len(self.joint) > 1 and alone >= {(each.feature, each.after_says) for each in self.joint}:
            lines.append("Changing several values together would need hardly less.")
        elif len(self.joint) > 1:
            lines += ["Or if all of these changed together, each by less:" if self.rows else
                      f"{would} if all of these changed together:", _table(self.joint)]  # fmt: skip
        elif self.rows:
            lines.append("Changing several values together would not need less.")
        if self.limits and not (self.rows and self.joint):
            lines.append(f"This takes for granted that {'; '.join(self.limits)}.")
        counted = [f"Changes are counted in units of the feature: {self.unit}."] if self.joint else []
        return "\n".join([*lines, *counted, *self._scope()])

    def _scope(self) -> list[str]:
        """Say what is not proved: of several classes that is predicted whose tree is surest."""
        if self.tree_of is None:
            return []
        label = cases.answer(self.tree_of)
        return [f"This is about the tree of {label} alone; another class is predicted where its tree is surer."]


def counterfactual(
    model: Any,
    row: Any,
    *,
    X: Any = None,
    immutable: Sequence[str] = (),
    step: Mapping[str, float] | None = None,
    threshold: float | None = None,
    label: Any = None,
    columns: Sequence[str] | None = None,
) -> Counterfactual:
    """Return the smallest changes in raw units that turn the decision of a case: single ones and a joint one.

    With `X` changes stay within the range seen there. Features named in `immutable` stay as they are; whole numbers
    move in whole steps, and features in steps that `step` gives. Missing values stay missing.
    """
    about = subject(model, threshold, label)
    case = about.case(row, columns)
    cases.refuse_unknown(cases.unstated(case), "no change can be measured from it")
    table = None if X is None else about.table(X, columns)
    if table is not None:
        table.require(about.tree.features)
    immutable, steps = [immutable] if isinstance(immutable, str) else list(immutable), _check_steps(step)
    known = list(dict.fromkeys([*case.values, *about.columns, *case.names]))
    _check_names(immutable, known, "immutable")
    _check_names(steps, known, "step")
    found = _actions(case, table, immutable, steps)
    search = _BoxSearch(about, case, found)
    radii = search.radii([*([action] for action in found), found]) if found else np.array([])
    singles = [search.single(action, radius) for action, radius in zip(found, radii, strict=False)]
    rows = sorted((each for each in singles if each), key=lambda point: round(search.sizes(point)[0], 9))
    joint = search.joint(float(radii[-1]), rows[0] if rows else None) if found else None
    unit = "the width of its criterion, from 5% to 95% true"
    if table is not None:
        unit = "the spread of its column in X, about a standard deviation"
    if any(action.options is not None for action in found):
        unit += "; another category counts 1"
    return Counterfactual(
        decision=about.answer(search.yes),
        other=about.answer(not search.yes),
        truth=search.truth,
        threshold=about.threshold,
        rows=tuple(search.changes(point)[0] for point in rows),
        joint=None if joint is None else search.changes(joint),
        unit=unit,
        limits=_limits(found, case, table is not None),
        certain=joint is not None or len(found) < 2 or math.isinf(radii[-1]),
        tree_of=about.yes if len(about.classes) > 2 else None,
    )


@dataclass(frozen=True)
class Action:
    """A feature of the case that may change: a number within `low` and `high`, or to one of some `options`."""

    feature: str
    value: Any
    scale: float = 1.0
    low: float = 0.0
    high: float = 0.0
    step: float | None = None
    options: tuple[Any, ...] | None = None  # other categories; None for a number
    decimals: int = 0  # that a new value is written with, if so it turns the decision

    @property
    def farthest(self) -> float:
        """The size of the largest change."""
        return 1.0 if self.options is not None else max(self.value - self.low, self.high - self.value) / self.scale

    def size(self, value: Any) -> float:
        """Return how large the change to a value is."""
        if self.options is not None:
            return float(value != self.value)
        return abs(float(value) - float(self.value)) / self.scale

    def ends(self, radius: float) -> tuple[Any, Any]:
        """Return the interval that changes up to this size reach; two Nones for any category."""
        if self.options is not None:
            return (None, None) if radius >= 1.0 else (self.value, self.value)
        return self.moved(-radius), self.moved(radius)

    def moved(self, size: float) -> float:
        """Return the value after a change of this size up, or down when it is negative: whole steps, within range."""
        reach = size * self.scale
        if self.step is None:
            moved = float(self.value) + reach
        else:
            moved = _stepped(self.value, math.copysign(math.floor(abs(reach) / self.step + SLACK), reach), self.step)
        return min(max(moved, self.low), self.high)

    def inside(self, radius: float, parts: int) -> list[Any]:
        """Return values to try within a radius: none, the ends and, with `parts`, points between; or every category."""
        if self.options is not None:
            return [self.value, *(self.options if radius >= 1.0 else ())]
        if parts and self.step is not None:
            parts = 2 * min(math.floor(radius * self.scale / self.step + SLACK), 2 * parts) + 1  # each step, if few
        sizes = [radius, *np.linspace(-radius, radius, parts)] if parts else [radius]
        return list(dict.fromkeys([self.value, self.moved(-radius), *(self.moved(float(size)) for size in sizes)]))

    def plain(self, value: Any) -> Any:
        """Return a value of the kind the case holds: whole steps of a whole number are whole."""
        number = self.options is None and isinstance(self.value, int)
        return round(value) if number and float(value).is_integer() else value

    def rounded(self, value: Any, digits: int | None) -> Any:
        """Return a new value with so many digits of its change, rounded away from the old one; as it is without.

        A change far below the scale of the feature is told as the next value that people would write.
        """
        if self.options is not None or self.step is not None or digits is None:
            return value
        change = value - self.value
        decimals = max(min(digits - math.floor(math.log10(abs(change))), self.decimals + digits - DIGITS[0]), 0)
        near = round(value, decimals)
        if abs(near - self.value) < abs(change):
            near = round(near + math.copysign(10.0**-decimals, change), decimals)
        return min(max(near, self.low), self.high)


def _actions(case: Instance, table: Columns | None, fixed: Sequence[str], steps: dict[str, float]) -> list[Action]:
    """Return what may change in a case; missing values stay as they are."""
    found, leaves = list[Action](), case.leaves
    for name, value in case.values.items():
        if name in fixed or value is None or (isinstance(value, float) and math.isinf(value)):
            continue
        if any(leaf.criterion.categorical for leaf in leaves[name]):
            found.append(_category(name, value, leaves[name], table))
        elif name not in steps and value in (0, 1) and _is_flag(name, leaves[name], table):
            found.append(Action(name, int(value), options=(1 - int(value),)))
        else:
            found.append(_number(name, value, leaves[name], table, steps.get(name)))
    return [action for action in found if action.farthest > 0.0 and action.options != ()]


def _stepped(value: float, count: float, step: float) -> float:
    """Return a value so many steps away, as in decimal notation: 0.1 and two steps of 0.1 are 0.3."""
    return float(Decimal(repr(float(value))) + int(count) * Decimal(repr(float(step))))


def _limits(found: Sequence[Action], case: Instance, seen: bool) -> tuple[str, ...]:
    """Say what was not to change: of what cannot be, one must know among what it was sought."""
    open_, leaves, missing = {action.feature: action for action in found}, case.leaves, case.missing
    fixed = [name for name in leaves if name not in open_ and name not in missing]
    kinds = [name for name in leaves if cases.categories(leaves[name])]
    flags = [name for name, action in open_.items() if action.options is not None and name not in kinds]
    named = [name for name in kinds if not seen and cases.unnamed(leaves[name])]
    said = [
        (fixed, "stays as it is", "stay as they are"),
        (missing, "stays missing", "stay missing"),
        (flags, "is 0 or 1", "are 0 or 1"),
        (named, "is a category that the tree names", "are categories that the tree names"),
    ]
    told = [f"{cases.together(names)} {one if len(names) == 1 else several}" for names, one, several in said if names]
    return (*told, *(["values stay within the range seen in X"] if seen else []))


def _check_names(names: Iterable[str], known: Sequence[str], what: str) -> None:
    """Refuse a name that nothing has: a feature misspelt would be changed after all."""
    for name in names:
        if name not in known:
            said = f" names {name!r:.60}, which is no column of the case; it has {', '.join(known)}"
            raise ParameterError(Parameter(what), said)


def _check_steps(step: Any) -> dict[str, float]:
    """Return the steps of features, or refuse them."""
    if not isinstance(step, Mapping | None):
        raise TypeError(f"step gives the step of each feature, e.g. {{'bed': 1}}, got {type(step).__name__}")
    for name, size in (step or {}).items():
        check_finite(size, f"the step of {name!r}")
        if not size > 0.0:
            raise ValueError(f"the step of {name!r} must be positive, got {size!r}; leave it out for any value")
    return {name: float(size) for name, size in (step or {}).items()}


def _category(name: str, value: Any, leaves: Sequence[Leaf], table: Columns | None) -> Action:
    """Return the action of a category: to any other that the tables name or, with X, that was seen there."""
    value = int(value) if isinstance(value, float) and value.is_integer() else value
    if isinstance(value, float):  # read as a number by another leaf: it has no neighbours among categories
        return Action(name, value, low=value, high=value)
    options = cases.categories(leaves)
    if table is not None:
        seen = [each for each in dict.fromkeys(table.categories(name).tolist()) if each is not None]
        options = [each for each in seen if all(cases.truth_of(leaf, each) is not None for leaf in leaves)]
    return Action(name, value, options=tuple(each for each in options if each != value))


def _is_flag(name: str, leaves: Sequence[Leaf], table: Columns | None) -> bool:
    """Whether a column of truths holds 0 and 1 only, as far as it is known."""
    if not all(leaf.criterion.holds_truths for leaf in leaves):
        return False
    column = np.array([]) if table is None else table.numbers(name)
    return bool(np.isin(column[~np.isnan(column)], (0.0, 1.0)).all())


def _number(name: str, value: Any, leaves: Sequence[Leaf], table: Columns | None, step: float | None) -> Action:
    spans = [leaf.criterion.span(0.05) for leaf in leaves]
    bends = [bend for leaf in leaves for bend in leaf.criterion.bends]  # beyond them, nothing changes any more
    ends = [*bends, *(end for span in spans for end in span)]  # but past a crisp mark there must be some room
    low, high = min(ends), max(ends)
    scale = min(end - start for start, end in spans)
    column = np.array([]) if table is None else table.numbers(name)
    seen = column[np.isfinite(column)]
    whole = float(value).is_integer() and bool((seen == np.round(seen)).all()) if seen.size else isinstance(value, int)
    step = step or (1.0 if whole else None)
    if step is not None:
        low, high = low - step, high + step  # room for a whole step past the last mark
    if seen.size:
        low, high = max(low, float(seen.min())), min(high, float(seen.max()))
        first, third = np.quantile(seen, (0.25, 0.75))  # where half of it is one value, the standard deviation
        scale = float((third - first) / NORMAL_QUARTILES or seen.std()) or scale
    low, high = min(low, float(value)), max(high, float(value))
    if step is not None:
        low = _stepped(value, -math.floor((value - low) / step + SLACK), step)
        high = _stepped(value, math.floor((high - value) / step + SLACK), step)
    return Action(name, value, scale, low, high, step, decimals=_decimals(scale, seen))


def _decimals(scale: float, seen: Floats) -> int:
    """Return how many decimals a value of a column is written with: those of its scale, or its own if they are less."""
    fine = max(math.ceil(-math.log10(FINE * scale)), 0)
    own = (places for places in range(fine) if seen.size and bool((seen == np.round(seen, places)).all()))
    return next(own, fine)


class _BoxSearch:
    """The search for the nearest cases that are decided otherwise; such a case is given by the values that differ."""

    def __init__(self, about: Subject, case: Instance, found: list[Action]) -> None:
        self._about, self._case, self._actions = about, case, {action.feature: action for action in found}
        self._tree = _prepared(about.tree, case, found)
        self.truth = float(about.tree.evaluate(case.rows())[0])
        self.yes = bool(self.truth > about.threshold)

    def _rows(self, count: int) -> dict[str, Any]:
        """Return a table of so many rows like the case; those of features that may change are lists."""
        return {**self._case.rows(count), **{name: [action.value] * count for name, action in self._actions.items()}}

    def radii(self, groups: list[list[Action]]) -> Floats:
        """Return the size of box, open in the actions of each group, that reaches the other decision; else infinity."""
        far = np.array([max(action.farthest for action in group) for group in groups])
        near, open_ = np.zeros(len(groups)), np.flatnonzero(self._crosses(groups, far))
        for _ in range(BISECTIONS if open_.size else 0):
            middle = (near[open_] + far[open_]) / 2.0
            hit = self._crosses([groups[i] for i in open_], middle)
            far[open_], near[open_] = np.where(hit, middle, far[open_]), np.where(hit, near[open_], middle)
        return np.where(np.isin(np.arange(len(groups)), open_), far, np.inf)

    def _crosses(self, groups: list[list[Action]], radii: Floats) -> NDArray[np.bool_]:
        lower, upper = self._rows(len(groups)), self._rows(len(groups))
        for i, (group, radius) in enumerate(zip(groups, radii, strict=True)):
            for action in group:
                lower[action.feature][i], upper[action.feature][i] = action.ends(float(radius))
        low, high = self._tree.bounds(lower, upper)
        return np.asarray(low <= self._about.threshold if self.yes else high > self._about.threshold)

    def single(self, action: Action, radius: float) -> dict[str, Any] | None:
        """Return the nearest value of one feature that turns the decision; nothing nearer than the radius does."""
        if math.isinf(radius):
            return None
        if action.options is not None:
            truths = self._truths({action.feature: list(action.options)})
            best = int(np.argmin(truths) if self.yes else np.argmax(truths))  # they are all as far: the clearest
            return {action.feature: action.options[best]} if self._turns(truths)[best] else None
        for batch, sizes in enumerate(_outward(action, radius)):
            place, value = self._first(action, sizes)
            if value is None:
                continue
            coarse = action.step is None and place and (batch or NUDGES[place] > EXACT)
            for _ in range(2 if coarse else 0):  # it lies between two sizes that were tried
                sizes = np.linspace(sizes[place - 1], sizes[place], GRID)
                place, value = self._first(action, sizes)
            return {action.feature: action.plain(value)}
        return None

    def _first(self, action: Action, sizes: Floats) -> tuple[int, float | None]:
        """Return the first of some sizes at which a change turns the decision, and the value there, if any."""
        tried = [action.moved(sign * float(size)) for size in sizes for sign in (-1.0, 1.0)]
        turned = np.flatnonzero(self._turns(self._truths({action.feature: tried})))
        return (int(turned[0]) // 2, tried[turned[0]]) if turned.size else (0, None)

    def joint(self, radius: float, single: dict[str, Any] | None) -> dict[str, Any] | None:
        """Return a point of the smallest box that turns the decision, with nothing changed that need not be.

        Where none is found in it, larger boxes are searched, up to the size of the smallest single change.
        """
        if math.isinf(radius):
            return None
        least = math.inf if single is None else max(self.sizes(single))
        top = min(least, max(action.farthest for action in self._actions.values()))
        boxes = [(radius * (1.0 + nudge), parts) for nudge, parts in ATTEMPTS]
        boxes += [(float(far), parts) for far in np.linspace(radius, top, FARTHER + 1)[1:] for parts in (None, 32)]
        points = (self._within(size, parts) for size, parts in boxes)
        point = next((point for point in points if point is not None), None)
        return single if point is None or max(self.sizes(point)) >= least else point

    def _within(self, radius: float, parts: int | None) -> dict[str, Any] | None:
        """Return a point of a box that turns the decision, if one is found, with nothing changed that need not be."""
        point = self._corner(radius) if parts is None else self._extreme(radius, parts)
        return self._shrunk(self._put_back(point)) if self._turns(self._truths(_rows([point])))[0] else None

    def _corner(self, radius: float) -> dict[str, Any]:
        """Return the point of a box where each feature is best for the other decision; right where all pull one way."""
        ends = {name: action.ends(radius) for name, action in self._actions.items()}
        tried = [(name, value) for name, action in self._actions.items() for value in action.inside(radius, 0)]
        best: dict[str, tuple[float, Any]] = {}
        for (name, value), against in zip(tried, self._against(ends, tried), strict=True):
            if name not in best or against < best[name][0]:
                best[name] = against, value
        return {name: self._actions[name].plain(value) for name, (_, value) in best.items()}

    def _extreme(self, radius: float, parts: int) -> dict[str, Any]:
        """Return the point of a box where the truth is lowest, or highest: settle one feature after the other."""
        ends = {name: action.ends(radius) for name, action in self._actions.items()}
        for name, action in self._actions.items():
            tried = [(name, value) for value in action.inside(radius, parts)]
            best = tried[int(np.argmin(self._against(ends, tried)))][1]
            ends[name] = best, best
        return {name: self._actions[name].plain(both[0]) for name, both in ends.items()}

    def _against(self, ends: dict[str, tuple[Any, Any]], tried: list[tuple[str, Any]]) -> Floats:
        """Return how the box between `ends`, with one feature at one value, bounds the truth: less is more against."""
        sides = []
        for side in (0, 1):
            rows = {**self._rows(len(tried)), **{name: [both[side]] * len(tried) for name, both in ends.items()}}
            for i, (name, value) in enumerate(tried):
                rows[name][i] = value
            sides.append(rows)
        low, high = self._tree.bounds(*sides)
        return low if self.yes else -high

    def _put_back(self, point: dict[str, Any]) -> dict[str, Any]:
        """Undo every change that is not needed, the largest and least important first."""
        kept = {name: value for name, value in point.items() if self._actions[name].size(value) > 0.0}
        for name in sorted(kept, key=lambda name: self._actions[name].size(kept[name]))[::-1]:
            rest = {other: value for other, value in kept.items() if other != name}
            if rest and self._turns(self._truths(_rows([rest])))[0]:
                kept = rest
        return kept

    def _shrunk(self, point: dict[str, Any]) -> dict[str, Any]:
        """Take back as much of the changes as whole steps and categories leave unneeded."""
        actions = [self._actions[name] for name in point]
        old = {each.feature: each.value for each in actions if each.options is None and each.step is None}
        shares = np.linspace(0.0, 1.0, GRID // 2 + 1)[:-1].tolist()
        points = [point | {name: v + share * (point[name] - v) for name, v in old.items()} for share in shares]
        points.append(point)
        shrunk = points[int(np.flatnonzero(self._turns(self._truths(_rows(points))))[0])]
        return {name: value for name, value in shrunk.items() if self._actions[name].size(value) > 0.0}

    def _truths(self, changed: dict[str, list[Any]]) -> Floats:
        return self._tree.evaluate({**self._rows(len(next(iter(changed.values())))), **changed})

    def _turns(self, truths: Floats) -> NDArray[np.bool_]:
        return np.asarray(self._about.decides(truths) != self.yes)

    def sizes(self, point: dict[str, Any]) -> list[float]:
        """Return the size of each change."""
        return [self._actions[name].size(value) for name, value in point.items()]

    def changes(self, point: dict[str, Any]) -> tuple[ValueChange, ...]:
        """Return what differs in a point, written so that what is read turns the decision too."""
        for digits in DIGITS:
            read = {name: self._actions[name].rounded(value, digits) for name, value in point.items()}
            if self._turns(self._truths(_rows([read])))[0]:
                break
        found = []
        for name, value in point.items():
            action = self._actions[name]
            full = action.options is not None or action.step is not None or digits is None
            step = 0.0 if full else abs(value - action.value) * 10.0 ** (2 - (digits or 0))
            leaves = self._case.leaves[name]
            before, after = cases.raw(action.value, leaves, step), _reached(action, read[name], leaves)
            found.append(ValueChange(name, action.value, value, action.size(value), before, after))
        return tuple(found)


def _reached(action: Action, value: Any, leaves: Sequence[Leaf]) -> str:
    """Say a new value; where all that counts is on which side of cuts it is, say that: "above 720"."""
    if action.options is not None or not all(leaf.criterion.crisp for leaf in leaves):
        return cases.raw(value, leaves, 0.0)
    cuts = sorted({cut for leaf in leaves for cut in leaf.criterion.crossings(0.5)})
    low = max((cut for cut in cuts if cut < value), default=None)
    high = min((cut for cut in cuts if cut >= value), default=None)
    return crisp_places([(low, high)], leaves[0].criterion.unit)


def _prepared(tree: Tree, case: Instance, found: list[Action]) -> Tree:
    """Return the tree with missing values as stated and with just the categories that may be: so bounds are exact."""
    allowed = {action.feature: (action.value, *action.options) for action in found if action.options is not None}

    def narrowed(leaf: Leaf) -> Leaf:
        if leaf.feature not in allowed:
            return leaf
        truths = [(category, cases.truth_of(leaf, category)) for category in allowed[leaf.feature]]
        return Leaf(leaf.feature, Table(truths), leaf.name)

    return cases.taken_as_stated(cases.with_leaves(tree, narrowed), case.missing)


def _outward(action: Action, radius: float) -> list[Floats]:
    """Return the sizes of change to try, nearest first, in batches: right at the radius, then beyond it."""
    if action.step is None:
        return [radius * (1.0 + np.array(NUDGES)), np.linspace(radius, action.farthest, GRID)]
    unit = np.float64(action.step / action.scale)
    first = max(round(radius / unit), 1)
    last = min(math.floor(action.farthest / unit + 0.5), first + SCANNED)
    return [np.arange(start, min(start + GRID, last + 1)) * unit for start in range(first, last + 1, GRID)]


def _rows(points: list[dict[str, Any]]) -> dict[str, list[Any]]:
    return {name: [point[name] for point in points] for name in points[0]}


def _table(changes: Sequence[ValueChange]) -> str:
    sizes = [f"{each.size:.3g}" if each.size >= HARDLY else f"<{HARDLY}" for each in changes]
    pairs = zip(changes, sizes, strict=True)
    lines = [[one_line(each.feature), each.before_says, each.after_says, size] for each, size in pairs]
    return aligned(["  feature", "from", "to", "change"], [[f"  {line[0]}", *line[1:]] for line in lines])
