"""From a table to the columns a search works on, from what it finds back to a tree in raw units, and back again.

Numbers are put on a robust scale (median 0, spread about 1), so that criteria can be learned; truths (0/1) run from -1
to 1. Categories are put in the order of how often the target is true for them, so a criterion on that order becomes a
truth for each category. With fixed criteria a column holds truths instead, once rising and once falling.

Rows that look alike are one: what is learned depends on which cases there are and how often, not on their order. So a
row with weight 2 counts as the same row twice, and no case is both learned from and held out. Where there are only a
few different rows, each many times, holding one out would hide it altogether: its cases are shared among PIECES. Where
there are more than MOST_SORTED rows all this matters little, and equal rows are left apart.

A typed tree can be the start of a search: n-ary gates become chains of binary ones, negations move into the leaves. A
leaf without a criterion on a column that does not hold truths gets one that is learned; a sigmoid is refined; a ramp or
a table of truths is kept as it was typed.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from baconlogic.core import Floats, Ints, gcd
from baconlogic.core.answers import LARGEST, Kind
from baconlogic.core.checks import Parameter, ParameterError
from baconlogic.core.columns import Columns
from baconlogic.core.criteria import Criterion, Given, Ramp, Sigmoid, Table
from baconlogic.core.gcd import NEUTRAL
from baconlogic.core.nodes import Gate, Leaf, Node, Not, flatten, negations
from baconlogic.core.tree import Tree
from baconlogic.kernel.loops import MISSING
from baconlogic.kernel.loss import Topology
from baconlogic.learn.search import draft as drafts
from baconlogic.learn.search.draft import CRISP, Draft, Literal

NUMBER: Final = "number"
TRUTH: Final = "truth"
CATEGORY: Final = "category"
FARTHEST = 1e6  # scaled values beyond are cut: no criterion tells them apart
REACH = 3.0  # a category for which y is true a deviation more often than overall lies as far out as 3 of a number
PRIOR_ROWS = 10.0  # how many rows of the overall rate a category's own rate is mixed with

SMALLEST = 1e-280  # numbers that differ by less are equal: no slope is steep enough to tell them apart
PARTS = 5  # a category's rate is taken from the other parts, so that a row does not see its own label
MOST_SORTED = 200_000  # sorting more rows would cost more than it gives
FEW = 100  # with fewer different rows, each stands for several
PIECES = 5
HARD = gcd.gcd.coefficients(gcd.HARD).power  # the least power of a hard gate of two inputs


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
    def has_missing(self) -> bool:
        """Whether values are missing."""
        return len(self.known) < len(self.values)

    @property
    def constant(self) -> bool:
        """Whether it has at most one value and none missing, so that nothing can be learned from it."""
        return self.known.size == 0 or (not self.has_missing and self.single)

    @property
    def single(self) -> bool:
        """Whether all values that are not missing are the same."""
        return bool((self.known == self.known[:1]).all())


def read(table: Columns, weight: Floats) -> list[Column]:
    """Return the features of the rows of a table that weigh something."""
    kept = np.flatnonzero(weight > 0.0)
    return [_read(table, name, kept, weight[kept]) for name in table.names]


def merge(columns: Sequence[Column], codes: Ints, weight: Floats, classes: int) -> tuple[list[Column], Floats]:
    """Return the columns of the distinct rows, and how much each class weighs in each of them (rows, classes)."""
    if len(codes) > MOST_SORTED or not columns:
        counts = np.zeros((len(codes), classes))
        counts[np.arange(len(codes)), codes] = weight
        return list(columns), counts
    values = [np.nan_to_num(column.values.astype(float), nan=np.inf) for column in columns]
    order = np.lexsort(values[::-1])
    new = np.arange(len(order)) == 0
    for column in values:
        new[1:] |= column[order][1:] != column[order][:-1]
    group = np.empty(len(order), dtype=np.int64)
    group[order] = np.cumsum(new) - 1
    counts = np.zeros((int(new.sum()), classes))
    np.add.at(counts, (group, codes), weight)
    first = order[new]
    if len(first) < FEW:
        first, counts = np.repeat(first, PIECES), _pieces(counts).reshape(-1, classes)
        filled = counts.sum(axis=1) > 0.0
        first, counts = first[filled], counts[filled]
    return [replace(column, values=column.values[first]) for column in columns], counts


def _pieces(counts: Floats) -> Floats:
    """Share the cases of each row and class (rows, classes) as evenly as whole cases allow: (rows, PIECES, classes)."""
    rng = np.random.default_rng(0)
    whole = np.floor(counts)
    pieces = np.repeat(whole[:, None, :] // PIECES, PIECES, axis=1)
    for row, label in np.ndindex(*counts.shape):
        places = rng.permutation(PIECES)
        pieces[row, places[: int(whole[row, label] % PIECES)], label] += 1.0
        pieces[row, places[-1], label] += counts[row, label] - whole[row, label]
    return np.asarray(pieces)


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


def shown(column: Column, source: Source, y: Floats, cases: Floats, rows: Ints, fit: Ints | None = None) -> Floats:
    """Return what a search sees of a feature in some rows; `cases` is how many each row of the table stands for.

    A category's place is learned from the rows `fit`, by default from these, each from the others.
    """
    part = replace(column, values=column.values[rows])
    if source.criterion is not None:
        truths = fixed_truths(part, source.criterion)
        return 1.0 - truths if source.negated else truths
    if column.kind != CATEGORY:
        return scaled(part)
    if fit is None:
        return _unseen_places(part, y[rows], cases[rows])
    known = places(replace(column, values=column.values[fit]), y[fit], cases[fit])
    return np.where(part.values >= 0, known[part.values], MISSING)


def root_of(
    draft: Draft, columns: Sequence[Column], sources: Sequence[Source], places: Sequence[Floats], aggregator: str, *,
    crisp: bool = False,
) -> Node:  # fmt: skip
    """Return a draft in raw units; `places` are those of the categories of each source, if it has any.

    `crisp`: 0/1 features that come out nearly so are taken as they are.
    """
    p, nodes = draft.parts, []
    for literal in map(Literal, draft.columns, *draft.parts[:3]):
        source = sources[literal.column]
        nodes.append(_leaf(columns[source.feature], source, literal, places[literal.column], crisp))
    for left, right, weight, andness in zip(*draft.shape, p.weight, p.andness, strict=True):
        nodes.append(_gate(nodes[left], nodes[right], float(weight), float(andness), aggregator))
    return nodes[-1]


def _leaf(column: Column, source: Source, literal: Literal, place: Floats, crisp: bool) -> Node:
    if source.criterion is not None:
        leaf = Leaf(column.name, source.criterion)
        return Not(leaf) if source.negated else leaf
    _, slope, centre, missing = literal
    when_missing = _sigmoid(missing) if column.has_missing else None
    if column.kind == TRUTH:
        at_0, at_1 = (_sigmoid(slope * (x - centre)) for x in (-1.0, 1.0))
        if not crisp or min(at_0, at_1) >= 0.1 or max(at_0, at_1) <= 0.9:
            return Leaf(column.name, Ramp([(0.0, at_0), (1.0, at_1)], missing=when_missing))
        if at_1 > at_0:
            return Leaf(column.name, Given(when_missing))
        return Not(Leaf(column.name, Given(None if when_missing is None else 1.0 - when_missing)))
    if column.kind == CATEGORY:
        placed = zip(column.categories, place, strict=True)
        truths = [(category, _sigmoid(slope * (at - centre))) for category, at in placed]
        other = _sigmoid(-slope * centre) if when_missing is None else when_missing
        return Leaf(column.name, Table(truths, other=other, missing=when_missing))
    raw_centre = float(np.clip(column.centre + column.scale * centre, -LARGEST, LARGEST))
    return Leaf(column.name, Sigmoid(raw_centre, slope / column.scale, missing=when_missing))


def _gate(left: Node, right: Node, weight: float, andness: float, aggregator: str) -> Gate:
    """Return a gate of two nodes; a weighted mean of weighted means is one gate."""
    inputs: list[tuple[Node, float]] = []
    for node, part in ((left, weight), (right, 1.0 - weight)):
        if isinstance(node, Gate) and node.andness == andness == NEUTRAL:
            inputs += [(child, part * own) for child, own in zip(node.inputs, node.weights, strict=True)]
        else:
            inputs.append((node, part))
    nodes, weights = zip(*inputs, strict=True)
    return Gate(nodes, andness, weights, aggregator)


def places(column: Column, y: Floats, cases: Floats, base: float | None = None) -> Floats:
    """Return the place of each category: how much more often y is true for it than overall, on a scale as numbers have.

    `base` is the overall rate, by default that of these rows.
    """
    base = float(cases @ y / cases.sum()) if base is None else base
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
        known = places(replace(column, values=column.values[others]), y[others], cases[others], base)
        out[own] = np.where(column.values[own] >= 0, known[column.values[own]], MISSING)
    return out


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
    missing = 0.5 if column.has_missing else None
    if column.kind == TRUTH:
        return Given(missing) if rising else Ramp([(0.0, 1.0), (1.0, 0.0)], missing=missing)
    make = Sigmoid.from_column if kind == "sigmoid" else Ramp.minmax
    return make(column.values, rising=rising, missing=missing)


def fixed_sources(tree: Tree, columns: Sequence[Column]) -> list[Source]:
    """Return the extra columns a typed tree needs: those of criteria that are kept as they are."""
    place = {column.name: i for i, column in enumerate(columns)}
    found = []
    for node, negated in _signed(tree.root):
        if isinstance(node, Leaf) and not _learnable(node, columns[place[node.feature]]):
            if columns[place[node.feature]].kind == CATEGORY and not node.criterion.categorical:
                raise ValueError(f"init reads {node.feature!r} as a number, but the column holds text; type a table")
            found.append(Source(place[node.feature], node.criterion, negated))
    return found


def check_complete(tree: Tree, columns: Sequence[Column]) -> None:
    """Refuse a tree that is to be kept as it is, but cannot be evaluated without learning something."""
    place = {column.name: column for column in columns}
    for _, leaf in tree.walk():
        if isinstance(leaf, Leaf) and _learnable(leaf, place[leaf.feature]):
            column = place[leaf.feature]
            if leaf.criterion.holds_truths and column.kind != TRUTH:
                lacks = "no criterion"
            elif column.has_missing and leaf.criterion.missing is None:
                lacks = "no truth for missing values"
            else:
                continue
            raise ParameterError(
                Parameter("search", "calibrate"),
                f" keeps init as it is, but its leaf {leaf.feature!r} has {lacks}; state it, or use search='refine'",
            )


def _learnable(leaf: Leaf, column: Column) -> bool:
    if leaf.criterion.holds_truths:
        return column.kind != NUMBER or not ((column.known >= 0.0) & (column.known <= 1.0)).all()
    return leaf.criterion.learnable and column.kind == NUMBER


def _signed(root: Node) -> list[tuple[Node, bool]]:
    """Return each node, children first, with whether an odd number of negations stands above it."""
    order = flatten(root)
    return [(node, sign) for (node, _), sign in zip(order, negations(order), strict=True)]


def draft_of(tree: Tree, columns: Sequence[Column], sources: Sequence[Source]) -> Draft:
    """Return the draft that a tree is refined from."""
    m = sum(isinstance(node, Leaf) for _, node in tree.walk())
    leaves: list[Literal] = []
    gates: list[tuple[int, int, float, float]] = []  # left, right, weight, andness
    made: list[int] = []  # the number of each node in the draft
    for (node, negated), (_, below) in zip(_signed(tree.root), flatten(tree.root), strict=True):
        if isinstance(node, Leaf):
            made.append(len(leaves))
            leaves.append(_literal(node, negated, columns, sources))
            continue
        at = made[below[0]]
        if isinstance(node, Gate):
            for child, (weight, andness) in zip(below[1:], _binary(node, negated), strict=True):
                gates.append((at, made[child], weight, andness))
                at = m + len(gates) - 1
        made.append(at)
    left, right, weights, andnesses = zip(*gates, strict=True) if gates else ((), (), (), ())
    shape = Topology(np.array(left, dtype=np.int64), np.array(right, dtype=np.int64))
    return drafts.join(shape, leaves, weights, andnesses)


def _literal(leaf: Leaf, negated: bool, columns: Sequence[Column], sources: Sequence[Source]) -> Literal:
    feature = [column.name for column in columns].index(leaf.feature)
    column, sign = columns[feature], -1.0 if negated else 1.0
    if not _learnable(leaf, column):
        return Literal(sources.index(Source(feature, leaf.criterion, negated)), 1.0, 0.0)
    slope, centre = CRISP if column.kind == TRUTH else 2.0, 0.0  # crisp: 0 and 1 lie at -1 and 1
    if column.kind != TRUTH and isinstance(leaf.criterion, Sigmoid):  # the shape that is learned, by these two numbers
        slope = leaf.criterion.slope * column.scale
        centre = (leaf.criterion.centre - column.centre) / column.scale
    return Literal(sources.index(Source(feature)), sign * slope, centre, sign * _logit(leaf.criterion.missing))


def _binary(gate: Gate, negated: bool) -> list[tuple[float, float]]:
    """Return, for each input but the first, the weight of what came before and the andness of a gate of the two."""
    andness, coefficients = 1.0 - gate.andness if negated else gate.andness, gate.coefficients
    if coefficients.mean == 0.0 and not math.isinf(coefficients.power):
        found = []
        for before, new in _pairs([len(gate.weights) * weight * coefficients.power for weight in gate.weights]):
            side = gcd.andness_of_power((before + new) / 2.0, 2)
            found.append((float(before / (before + new)), float(1.0 - side if andness < gcd.NEUTRAL else side)))
        return found
    each = zip(accumulate(gate.weights[:-1]), gate.weights[1:], strict=True)
    return [(float(total / (total + weight)), float(andness)) for total, weight in each]


def _pairs(exponents: list[float]) -> list[tuple[float, float]]:
    """Return the exponents (of what came before, of the newcomer) of binary gates whose chain is a weighted product.

    What came before may be raised to any power if its own exponents are divided by it: to one that keeps a gate hard.
    """
    found, scale = [], 1.0
    for new in reversed(exponents[2:]):
        before = max(2.0 * HARD - new / scale, 0.5)
        found.append((before, new / scale))
        scale *= before
    return [(exponents[0] / scale, exponents[1] / scale), *reversed(found)]


def _logit(truth: float | None) -> float:
    if truth is None:
        return 0.0
    inside = min(max(truth, 0.01), 0.99)
    return math.log(inside / (1.0 - inside))
