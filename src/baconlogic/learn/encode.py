"""From a table to the columns a search works on, and from what it finds back to a tree in raw units.

Numbers are put on a robust scale (median 0, spread about 1), so that criteria can be learned; truths (0/1) run from -1
to 1. Categories are put in the order of how often the target is true for them, so a criterion on that order becomes a
truth for each category. With fixed criteria a column holds truths instead, once rising and once falling.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from baconlogic.core.answers import LARGEST
from baconlogic.core.criteria import Criterion, Given, Ramp, Sigmoid, Table
from baconlogic.core.gcd import NEUTRAL
from baconlogic.core.nodes import Gate, Leaf, Node, Not
from baconlogic.kernel.loops import MISSING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from baconlogic.core.answers import Kind
    from baconlogic.core.columns import Columns
    from baconlogic.learn.search.draft import Draft

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]

NUMBER: Final = "number"
TRUTH: Final = "truth"
CATEGORY: Final = "category"
FARTHEST = 1e6  # scaled values beyond are cut: no criterion tells them apart
REACH = 3.0  # a category for which y is true a deviation more often than overall lies as far out as 3 of a number
PRIOR_ROWS = 10.0  # how many rows of the overall rate a category's own rate is mixed with

SMALLEST = 1e-280  # numbers that differ by less are equal: no slope is steep enough to tell them apart
PARTS = 5  # a category's rate is taken from the other parts, so that a row does not see its own label


@dataclass(frozen=True)
class Column:
    """One feature of the table, as it was at fit."""

    name: str
    kind: Kind
    values: NDArray[Any] = field(repr=False)  # numbers, NaN where missing; or codes of categories, -1 where missing
    centre: float = 0.0
    scale: float = 1.0
    categories: tuple[Any, ...] = ()

    @property
    def known(self) -> NDArray[Any]:
        """The values that are not missing."""
        return self.values[self.values >= 0 if self.kind == CATEGORY else ~np.isnan(self.values)]

    @property
    def holes(self) -> bool:
        """Whether values are missing."""
        return len(self.known) < len(self.values)

    @property
    def constant(self) -> bool:
        """Whether it has at most one value and none missing, so that nothing can be learned from it."""
        return self.known.size == 0 or (not self.holes and self.single)

    @property
    def single(self) -> bool:
        """Whether all values that are not missing are the same."""
        return bool((self.known == self.known[:1]).all())


def read(table: Columns, weight: Floats) -> list[Column]:
    """Return the features of the rows of a table that weigh something."""
    kept = np.flatnonzero(weight > 0.0)
    return [_read(table, name, kept, weight[kept]) for name in table.names]


def _read(table: Columns, name: str, kept: Ints, weight: Floats) -> Column:
    try:
        values = table.numbers(name)[kept]
    except ValueError:
        return _categories(name, table.categories(name)[kept])
    if np.isinf(values).any():
        raise ValueError(f"column {name!r} contains infinity; replace it by a number, or by NaN if it is not known")
    known = ~np.isnan(values)
    if (np.abs(values[known]) > LARGEST).any():
        raise ValueError(f"column {name!r} contains numbers beyond {LARGEST:g}; divide it, or take its logarithm")
    if not known.any():
        return Column(name, NUMBER, values)
    if np.isin(values[known], (0.0, 1.0)).all():
        return Column(name, TRUTH, values, 0.5, 0.5)
    if np.ptp(values[known]) < SMALLEST:
        values = np.where(known, values[known][0], np.nan)
    return Column(name, NUMBER, values, *_robust(values[known], weight[known]))


def _robust(values: Floats, share: Floats) -> tuple[float, float]:
    """Return the weighted median, and a spread that is 1 for a normal distribution and does not mind outliers."""
    order = np.argsort(values, kind="stable")
    values, total = values[order], np.cumsum(share[order])
    marks = np.array([0.05, 0.25, 0.5, 0.75, 0.95]) * total[-1]
    low, start, middle, end, high = values[np.minimum(np.searchsorted(total, marks), len(values) - 1)]
    # the quartiles, the outer twentieths and the range of a normal column lie 1.349, 3.29 and about 4 deviations apart
    for spread in ((end - start) / 1.349, (high - low) / 3.29, (values[-1] - values[0]) / 4.0):
        if spread > 1e-12 * max(abs(middle), 1e-290):
            return float(middle), float(spread)
    return float(middle), 1.0


def _categories(name: str, values: NDArray[Any]) -> Column:
    for value in values:
        if isinstance(value, float):
            raise TypeError(f"column {name!r} mixes text and numbers, e.g. {value!r}; make it all text or all numbers")
        if value is not None and not isinstance(value, str | int | bool):
            raise TypeError(f"column {name!r}: argument must be a string or a number, got {value!r:.60}")
    known = sorted({value for value in values if value is not None}, key=lambda value: (type(value).__name__, value))
    place = {value: code for code, value in enumerate(known)}  # True and 1 are one, as in a table of truths
    codes = np.array([-1 if value is None else place[value] for value in values], dtype=np.int64)
    return Column(name, CATEGORY, codes, categories=tuple(known))


@dataclass(frozen=True)
class Source:
    """Where a column of the problem comes from: a feature, on its scale, or a feature through a fixed criterion."""

    feature: int
    criterion: Criterion | None = None
    negated: bool = False  # whether the column holds the complement of the criterion's truths


class Encoding:
    """The columns of one problem: what each shows, and how a leaf on it reads in raw units."""

    def __init__(self, columns: Sequence[Column], sources: Sequence[Source]) -> None:
        self.columns, self.sources = tuple(columns), tuple(sources)
        self.features = np.array([source.feature for source in self.sources], dtype=np.int64)
        self.learned = np.array([source.criterion is None for source in self.sources], dtype=bool)

    def table(self, y: Floats, cases: Floats, rows: Ints, fit: Ints | None = None) -> Floats:
        """Return X (columns, rows) of some rows; a category's place is learned from the rows `fit`, by default these.

        `cases` is how many cases each row stands for.
        """
        X = np.empty((len(self.sources), len(rows)))
        for j, source in enumerate(self.sources):
            column = self.columns[source.feature]
            part = replace(column, values=column.values[rows])
            if source.criterion is not None:
                truths = fixed_truths(part, source.criterion)
                X[j] = 1.0 - truths if source.negated else truths
            elif column.kind != CATEGORY:
                X[j] = scaled(part)
            elif fit is None:
                X[j] = _unseen_places(part, y[rows], cases[rows])
            else:
                places = _places(replace(column, values=column.values[fit]), y[fit], cases[fit])
                X[j] = np.where(part.values >= 0, places[part.values], MISSING)
        return X

    def places(self, y: Floats, cases: Floats) -> dict[int, Floats]:
        """Return the place of each category on the scale, by feature, learned from all rows."""
        shown = {source.feature for source in self.sources if source.criterion is None}
        return {i: _places(self.columns[i], y, cases) for i in shown if self.columns[i].kind == CATEGORY}

    def tree(self, draft: Draft, aggregator: str, places: dict[int, Floats], crisp: bool = False) -> Node:
        """Return a draft in raw units. `crisp`: 0/1 features that come out nearly so are taken as they are."""
        p = draft.parts
        nodes: list[Node] = [
            self._leaf(int(column), slope, centre, missing, places, crisp)
            for column, slope, centre, missing in zip(draft.columns, p.slope, p.centre, p.missing, strict=True)
        ]
        for left, right, weight, andness in zip(*draft.shape, p.weight, p.andness, strict=True):
            nodes.append(_joined(nodes[left], nodes[right], float(weight), float(andness), aggregator))
        return nodes[-1]

    def _leaf(
        self, column: int, slope: float, centre: float, missing: float, places: dict[int, Floats], crisp: bool
    ) -> Node:
        source = self.sources[column]
        feature = self.columns[source.feature]
        if source.criterion is not None:
            leaf = Leaf(feature.name, source.criterion)
            return Not(leaf) if source.negated else leaf
        when_missing = _sigmoid(missing) if feature.holes else None
        if feature.kind == TRUTH:
            at_0, at_1 = (_sigmoid(slope * (x - centre)) for x in (-1.0, 1.0))
            return _truth_leaf(feature.name, at_0, at_1, when_missing, crisp)
        if feature.kind == CATEGORY:
            placed = zip(feature.categories, places[source.feature], strict=True)
            truths = [(category, _sigmoid(slope * (place - centre))) for category, place in placed]
            other = _sigmoid(-slope * centre) if when_missing is None else when_missing
            return Leaf(feature.name, Table(truths, other=other, missing=when_missing))
        raw = float(np.clip(feature.centre + feature.scale * centre, -LARGEST, LARGEST))
        return Leaf(feature.name, Sigmoid(raw, slope / feature.scale, missing=when_missing))


def _joined(left: Node, right: Node, weight: float, andness: float, aggregator: str) -> Gate:
    """Return a gate of two nodes; a weighted mean of weighted means is one gate."""
    inputs: list[tuple[Node, float]] = []
    for node, part in ((left, weight), (right, 1.0 - weight)):
        if isinstance(node, Gate) and node.andness == andness == NEUTRAL:
            inputs += [(child, part * own) for child, own in zip(node.inputs, node.weights, strict=True)]
        else:
            inputs.append((node, part))
    nodes, weights = zip(*inputs, strict=True)
    return Gate(nodes, andness, weights, aggregator)


def _places(column: Column, y: Floats, cases: Floats, base: float | None = None) -> Floats:
    """Return the place of each category: how much more often y is true for it than overall, on a scale as numbers have.

    `base` is the overall rate, by default that of these rows.
    """
    if base is None:
        base = float(cases @ y / cases.sum())
    known = column.values >= 0
    codes, y, cases, count = column.values[known], y[known], cases[known], len(column.categories)
    total = np.bincount(codes, cases, count) + PRIOR_ROWS
    true = np.bincount(codes, cases * y, count) + PRIOR_ROWS * base
    return np.asarray((true / total - base) / np.sqrt(base * (1.0 - base) + 1e-9) * REACH)


def _unseen_places(column: Column, y: Floats, cases: Floats) -> Floats:
    """Return the place of each row's category, learned from other rows: a row must not see its own label."""
    base = float(cases @ y / cases.sum())
    part = np.random.default_rng(0).permutation(len(y)) % PARTS  # rows are sorted: every fifth may look alike
    out = np.empty(len(y))
    for i in range(PARTS):
        own, others = part == i, np.flatnonzero(part != i)
        places = _places(replace(column, values=column.values[others]), y[others], cases[others], base)
        out[own] = np.where(column.values[own] >= 0, places[column.values[own]], MISSING)
    return out


def _truth_leaf(name: str, at_0: float, at_1: float, missing: float | None, crisp: bool) -> Node:
    if crisp and min(at_0, at_1) < 0.1 and max(at_0, at_1) > 0.9:
        if at_1 > at_0:
            return Leaf(name, Given(missing))
        return Not(Leaf(name, Given(None if missing is None else 1.0 - missing)))
    return Leaf(name, Ramp([(0.0, at_0), (1.0, at_1)], missing=missing))


def scaled(column: Column) -> Floats:
    """Return the values of a feature of numbers or truths on its scale."""
    with np.errstate(over="ignore"):
        values = np.clip((column.values - column.centre) / column.scale, -FARTHEST, FARTHEST)
    return np.where(np.isnan(column.values), MISSING, values)


def raw(column: Column) -> NDArray[Any]:
    """Return the values of a feature as the table had them: numbers, or categories and None."""
    if column.kind != CATEGORY:
        return column.values
    names = np.empty(len(column.categories) + 1, dtype=object)
    names[:-1], names[-1] = column.categories, None
    return np.asarray(names[column.values])


def fixed_truths(column: Column, criterion: Criterion) -> Floats:
    """Return what a criterion says of a feature; raises where it cannot read a value."""
    try:
        return criterion.truth(raw(column))
    except ValueError as error:
        raise ValueError(f"column {column.name!r}: {error}") from None


def _sigmoid(u: float) -> float:
    return float(1.0 / (1.0 + np.exp(-np.clip(u, -700.0, 700.0))))


def fixed_criterion(column: Column, kind: str, rising: bool) -> Criterion:
    """Return the paper's normaliser of a feature: "sigmoid" or "minmax"."""
    missing = 0.5 if column.holes else None
    if column.kind == TRUTH:
        return Given(missing) if rising else Ramp([(0.0, 1.0), (1.0, 0.0)], missing=missing)
    make = Sigmoid.from_column if kind == "sigmoid" else Ramp.minmax
    return make(column.values, rising=rising, missing=missing)
