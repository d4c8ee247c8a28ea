"""From a table to the columns a search works on, from what it finds back to a tree in raw units, and back again.

Numbers are put on a robust scale (median 0, spread about 1), so that criteria can be learned; truths (0/1) run from -1
to 1. Categories are put in the order of how often the target is true for them, so a criterion on that order becomes a
truth for each category. With fixed criteria a column holds truths instead, once rising and once falling.

Rows that look alike are one: what is learned depends on which cases there are and how often, not on their order. So a
row with weight 2 counts as the same row twice, and no case is both learned from and held out. Where there are only a
few different rows, each many times, holding one out would hide it altogether: its cases are shared among PIECES. Where
there are more than MOST_SORTED rows all this matters little, and equal rows are left apart.

A typed tree can be the start of a search: its gates stay, and so do names and negations as long as the structure does.
A leaf without a criterion on a column that does not hold truths gets one that is learned; a sigmoid, and a table of
truths of categories, are refined; a ramp or any other criterion is kept as it was typed.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from baconlogic.core import Floats, Ints, gcd
from baconlogic.core.answers import LARGEST
from baconlogic.core.checks import Parameter, ParameterError
from baconlogic.core.columns import PLAIN, Columns
from baconlogic.core.criteria import Criterion, Given, Interval, Ramp, Sigmoid, Table
from baconlogic.core.nodes import Gate, Leaf, Node, Not, flatten, negations
from baconlogic.core.tree import Tree
from baconlogic.kernel.loops import MISSING
from baconlogic.kernel.loss import topology
from baconlogic.learn.column import CATEGORY, NUMBER, TRUTH, Column
from baconlogic.learn.search import draft as drafts
from baconlogic.learn.search.conditions import round_in_gap
from baconlogic.learn.search.draft import CRISP, Draft, Literal

REACH = 3.0  # a category for which y is true a deviation more often than overall lies as far out as 3 of a number
PRIOR_ROWS = 10.0  # how many rows of the overall rate a category's own rate is mixed with

SMALLEST = 1e-280  # numbers that differ by less are equal: no slope is steep enough to tell them apart
FEW_CATEGORIES = 50  # of more, new ones are to be expected
PARTS = 5  # a category's rate is taken from the other parts, so that a row does not see its own label
MOST_SORTED = 200_000  # sorting more rows would cost more than it gives
FEW = 100  # with fewer different rows, each stands for several
PIECES = 5
MANY = 20  # categories that all read as numbers are hardly meant as such
NEARLY = 0.02  # a truth this far from 0 or 1 is as good as that


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
        return _categories(name, table.categories(name)[kept], table.order(name))
    refuse_infinity(name, values)
    known = ~np.isnan(values)
    if (np.abs(values[known]) > LARGEST).any():
        raise ValueError(f"column {name!r} contains numbers beyond {LARGEST:g}; divide it, or take its logarithm")
    if not known.any():
        return Column(name, NUMBER, values)
    if np.isin(values[known], (0.0, 1.0)).all():
        return Column(name, TRUTH, values, 0.5, 0.5)
    if np.ptp(values[known]) < SMALLEST:
        values = np.where(known, values[known][0], np.nan)
    of_two = bool(np.isin(values[known], (values[known].min(), values[known].max())).all())
    return Column(name, NUMBER, values, *_robust(values[known], weight[known]), of_two=of_two)


def refuse_infinity(name: str, values: Floats) -> None:
    """Refuse a column with numbers that are infinite: more often a division by 0 than a value."""
    if np.isinf(values).any():
        raise ValueError(f"column {name!r} contains infinity; replace it by a number, or by NaN if it is not known")


def warn_of_unseen(name: str, values: NDArray[np.object_], seen: frozenset[Any]) -> None:
    """Say which categories were not there in `fit`, unless there were so many that new ones are to be expected."""
    new = [value for value in dict.fromkeys(values.tolist()) if value is not None and value not in seen]
    if new and len(seen) <= FEW_CATEGORIES:
        known = ", ".join(sorted(map(repr, seen))[:10]) + (", ..." if len(seen) > 10 else "")
        first = f"column {name!r} holds {new[0]!r:.60}" + (f" and {len(new) - 1} more" if len(new) > 1 else "")
        warnings.warn(f"{first}, not seen in fit ({known}); it counts as any other value does", stacklevel=4)


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


def _categories(name: str, values: NDArray[Any], order: tuple[Any, ...] = ()) -> Column:
    for value in values if set(map(type, values)) - PLAIN else ():
        if isinstance(value, float):
            raise TypeError(f"column {name!r} mixes text and numbers, e.g. {value!r}; make it all text or all numbers")
        if value is not None and not isinstance(value, str | int | bool):
            kind = f"argument must be a string or a number, got {value!r:.60}"
            raise TypeError(f"column {name!r}: {kind}; of a date, make a number such as days or a year")
    known = sorted(set(values) - {None}, key=lambda value: (type(value).__name__, value))
    if order:
        seen = set(known)
        known = [value for value in order if value in seen]
    if len(known) > MANY and all(isinstance(value, str) and _is_number(value) for value in known):
        many = f"column {name!r} holds {len(known)} different numbers as text, e.g. {known[0]!r:.30}"
        warnings.warn(f"{many}; each is taken as a category, so make numbers of them if that is meant", stacklevel=2)
    place = {None: -1, **{value: code for code, value in enumerate(known)}}  # True and 1 are one, as in a `Table`
    codes = np.array([place[value] for value in values], dtype=np.int64)
    return Column(name, CATEGORY, codes, categories=tuple(known), ordered=bool(order))


def _is_number(text: str) -> bool:
    """Whether a text reads as a number, also with a decimal comma."""
    try:
        float(text.replace(",", ".", 1))
    except ValueError:
        return False
    return True


@dataclass(frozen=True)
class Source:
    """Where a column of the problem comes from: a feature, on its scale, or a feature through a fixed criterion."""

    feature: int
    criterion: Criterion | None = None
    negated: bool = False  # whether the column holds the complement of the criterion's truths
    coded: bool = False  # whether the column holds the codes of categories, each of which gets its own truth


def shown(column: Column, source: Source, y: Floats, cases: Floats, rows: Ints, fit: Ints | None = None) -> Floats:
    """Return what a search sees of a feature in some rows; `cases` is how many each row of the table stands for.

    A category's place is learned from the rows `fit`, by default from these, each from the others.
    """
    part = replace(column, values=column.values[rows])
    if source.coded:
        return np.where(part.values >= 0, part.values, MISSING)
    if source.criterion is not None:
        truths = fixed_truths(part, source.criterion)
        return 1.0 - truths if source.negated else truths
    if column.kind != CATEGORY:
        return part.scaled
    if fit is None:
        return _unseen_places(part, y[rows], cases[rows])
    known = places(replace(column, values=column.values[fit]), y[fit], cases[fit])
    return np.where(part.values >= 0, known[part.values], MISSING)


def root_of(
    draft: Draft, columns: Sequence[Column], sources: Sequence[Source], places: Sequence[Floats], aggregator: str, *,
    crisp: bool = False,
) -> Node:  # fmt: skip
    """Return a draft in raw units; `places` are those of the categories of each source, if it has any.

    `crisp`: what comes out nearly crisp is crisp: a 0/1 feature as it is, a cut at a round number, a set of categories;
    and products of products are one gate.
    """

    def leaf(literal: Literal, typed: Leaf | None) -> Node:
        source = sources[literal.column]
        return _leaf(columns[source.feature], source, literal, places[literal.column], crisp, typed)

    if draft.typed is not None:
        return _as_typed(draft, draft.typed, leaf)
    nodes = [leaf(literal, None) for literal in draft.literals]
    for inputs, andness, weights in zip(draft.shape.gates, draft.parts.andness.tolist(), draft.weights, strict=True):
        gate = Gate([nodes[k] for k in inputs], andness, weights.tolist(), aggregator)
        nodes.append(_flat(gate) if crisp else gate)
    return nodes[-1]


def _flat(gate: Gate) -> Gate:
    """Return a product, or its dual, with the products among its inputs taken in: the same function."""
    dual = gate.andness < gcd.NEUTRAL
    if not _multiplies(gate, dual):
        return gate
    inputs = [each for node in gate.inputs for each in (node.children if _multiplies(node, dual) else (node,))]
    andness = gcd.product(len(inputs))
    return Gate(inputs, 1.0 - andness if dual else andness, None, gate.aggregator)


def _multiplies(node: Node, dual: bool) -> bool:
    if not isinstance(node, Gate) or max(node.weights) - min(node.weights) > 1e-9:
        return False
    andness = 1.0 - node.andness if dual else node.andness
    return abs(andness - gcd.product(len(node.inputs))) < 1e-9


def _as_typed(draft: Draft, typed: Node, leaf: Callable[[Literal, Leaf], Node]) -> Node:
    """Return the typed tree with the numbers of the draft: names and negations stay where they were.

    Under an odd number of negations the draft has the complement of a node.
    """
    literals, gates = iter(draft.literals), zip(draft.parts.andness.tolist(), draft.weights, strict=True)
    made: list[Node] = []
    for (node, negated), (_, below) in zip(_signed(typed), flatten(typed), strict=True):
        if isinstance(node, Leaf):
            literal = next(literals)
            made.append(leaf(_complement(literal) if negated else literal, node))
        elif isinstance(node, Gate):
            andness, weights = next(gates)
            andness = 1.0 - andness if negated else andness
            made.append(Gate([made[k] for k in below], andness, weights.tolist(), node.aggregator, node.name))
        else:
            made.append(node.with_children((made[below[0]],)))
    return made[-1]


def _complement(leaf: Literal) -> Literal:
    return leaf._replace(slope=-leaf.slope, missing=-leaf.missing, table=[-logit for logit in leaf.table])


def _leaf(
    column: Column, source: Source, literal: Literal, place: Floats, crisp: bool, typed: Leaf | None = None
) -> Node:
    """Return a leaf in raw units; one that was typed has its name, and its criterion where that is kept."""
    name = "" if typed is None else typed.name
    if source.criterion is not None:
        leaf = Leaf(column.name, source.criterion, name)
        return Not(leaf) if source.negated and typed is None else leaf
    slope, centre, missing = literal.slope, literal.centre, literal.missing
    when_missing = _sigmoid(missing) if column.has_missing else None
    if crisp and typed is None and not source.coded and column.kind != TRUTH:
        sharp = _sharp(column, literal, place, when_missing)
        if sharp is not None:
            return sharp
    if source.coded:
        return Leaf(column.name, _table(column, literal, when_missing, typed), name)
    if column.kind == TRUTH:
        at_0, at_1 = (_sigmoid(slope * (x - centre)) for x in (-1.0, 1.0))
        if not crisp or min(at_0, at_1) >= 0.1 or max(at_0, at_1) <= 0.9:
            return Leaf(column.name, Ramp([(0.0, at_0), (1.0, at_1)], missing=when_missing), name)
        if at_1 > at_0:
            return Leaf(column.name, Given(when_missing), name)
        return Not(Leaf(column.name, Given(None if when_missing is None else 1.0 - when_missing)), name)
    if column.kind == CATEGORY:
        placed = zip(column.categories, place, strict=True)
        truths = [(category, _sigmoid(slope * (at - centre))) for category, at in placed]
        other = _sigmoid(-slope * centre) if when_missing is None else when_missing
        return Leaf(column.name, Table(truths, other=other, missing=when_missing), name)
    raw_centre = float(np.clip(column.centre + column.scale * centre, -LARGEST, LARGEST))
    return Leaf(column.name, Sigmoid(raw_centre, slope / column.scale, missing=when_missing), name)


def _sharp(column: Column, literal: Literal, place: Floats, when_missing: float | None) -> Leaf | None:
    """Return a leaf that is nearly true or nearly not for almost all known values as a cut or a set, or None."""
    at = place[column.known] if column.kind == CATEGORY else replace(column, values=column.known).scaled
    truths = 1.0 / (1.0 + np.exp(-np.clip(literal.slope * (at - literal.centre), -50.0, 50.0)))
    if np.mean(np.minimum(truths, 1.0 - truths) > NEARLY) > NEARLY:
        return None
    if when_missing is not None:
        when_missing = 0.0 if when_missing < NEARLY else 1.0 if when_missing > 1.0 - NEARLY else when_missing
    if column.kind == CATEGORY:
        holds = literal.slope * (place - literal.centre) > 0.0
        other = float(holds.sum() > len(holds) / 2)
        several = len({isinstance(c, str) for c in column.categories}) > 1
        each = zip(column.categories, holds.astype(float).tolist(), strict=True)
        listed = [(c, own) for c, own in each if own != other or several]
        return Leaf(column.name, Table(listed, other, when_missing)) if listed else None
    centre, reach = column.centre + column.scale * literal.centre, CRISP * column.scale / abs(literal.slope)
    whole = bool((column.known == np.rint(column.known)).all())  # then the lower of two values will do
    low, high = math.floor(centre) if whole else centre - reach, centre + reach
    mark = round_in_gap(low, high, high - low if whole else 0.0)
    above = literal.slope > 0.0
    return Leaf(column.name, Interval(mark if above else None, None if above else mark, when_missing))


def _table(column: Column, literal: Literal, when_missing: float | None, typed: Leaf | None) -> Table:
    """Return the truths of a leaf by category; what was typed of others stays, else these have the mean of all rows."""
    truths = dict(zip(column.categories, map(_sigmoid, literal.table), strict=True))
    if typed is not None and isinstance(typed.criterion, Table):
        before = typed.criterion
        kept = [(category, truth) for category, truth in before.truths if category not in truths]
        return Table([*truths.items(), *kept], before.other, before.missing if when_missing is None else when_missing)
    codes = column.known
    mean = _sigmoid(float(np.array(literal.table)[codes].mean())) if len(codes) else 0.5
    return Table(list(truths.items()), mean if when_missing is None else when_missing, when_missing)


def places(column: Column, y: Floats, cases: Floats) -> Floats:
    """Return the place of each category: how much more often y is true for it than overall, on a scale as numbers have.

    A category of few rows is held to the overall rate.
    """
    total, true = _counted(column, y, cases, np.zeros(len(y), np.int64))
    return _places(total[0], true[0], float(cases @ y / cases.sum()))


def _unseen_places(column: Column, y: Floats, cases: Floats) -> Floats:
    """Return the place of each row's category, learned from other rows: a row must not see its own label."""
    part = np.random.default_rng(0).permutation(len(y)) % PARTS  # rows are sorted: every fifth may look alike
    total, true = _counted(column, y, cases, part)
    known = _places(total.sum(axis=0) - total, true.sum(axis=0) - true, float(cases @ y / cases.sum()))
    return np.where(column.values >= 0, known[part, column.values], MISSING)


def _counted(column: Column, y: Floats, cases: Floats, part: Ints) -> tuple[Floats, Floats]:
    """Return the cases that each part of the rows has of each category, and how many of them are true."""
    known, shape = column.values >= 0, (PARTS, len(column.categories))
    place = (part * shape[1] + column.values)[known]
    total, true = (np.bincount(place, each[known], PARTS * shape[1]) for each in (cases, cases * y))
    return np.asarray(total, float).reshape(shape), np.asarray(true, float).reshape(shape)


def _places(total: Floats, true: Floats, base: float) -> Floats:
    rate = (true + PRIOR_ROWS * base) / (total + PRIOR_ROWS)
    return np.asarray((rate - base) / np.sqrt(base * (1.0 - base) + 1e-9) * REACH)


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


def typed_sources(tree: Tree, columns: Sequence[Column]) -> list[Source]:
    """Return the columns that the leaves of a typed tree read, leaf by leaf."""
    place = {column.name: i for i, column in enumerate(columns)}
    return [
        _source(node, negated, place[node.feature], columns[place[node.feature]])
        for node, negated in _signed(tree.root)
        if isinstance(node, Leaf)
    ]


def _source(leaf: Leaf, negated: bool, feature: int, column: Column) -> Source:
    if _is_table(leaf, column):
        return Source(feature, coded=True)
    if _learnable(leaf, column):
        return Source(feature)
    if column.kind == CATEGORY and not leaf.criterion.categorical:
        raise ValueError(f"init reads {leaf.feature!r} as a number, but the column holds text; type a table")
    return Source(feature, leaf.criterion, negated)


def check_complete(tree: Tree, columns: Sequence[Column]) -> None:
    """Refuse a tree that is to be kept as it is, but cannot be evaluated without learning something."""
    place = {column.name: column for column in columns}
    for _, leaf in tree.walk():
        if isinstance(leaf, Leaf) and (_learnable(leaf, place[leaf.feature]) or _is_table(leaf, place[leaf.feature])):
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


def _is_table(leaf: Leaf, column: Column) -> bool:
    """Whether a leaf has a truth for each category of a column: those are refined."""
    return column.kind == CATEGORY and isinstance(leaf.criterion, Table)


def _signed(root: Node) -> list[tuple[Node, bool]]:
    """Return each node, children first, with whether an odd number of negations stands above it."""
    order = flatten(root)
    return [(node, sign) for (node, _), sign in zip(order, negations(order), strict=True)]


def draft_of(tree: Tree, columns: Sequence[Column], sources: Sequence[Source]) -> Draft:
    """Return the draft that a tree is refined from: negations are moved into the leaves."""
    m = sum(isinstance(node, Leaf) for _, node in tree.walk())
    leaves: list[Literal] = []
    gates: list[Gate] = []
    inputs: list[list[int]] = []  # of each gate
    andness: list[float] = []
    made: list[int] = []  # the number of each node in the draft
    own = iter(typed_sources(tree, columns))
    for (node, negated), (_, below) in zip(_signed(tree.root), flatten(tree.root), strict=True):
        if isinstance(node, Leaf):
            made.append(len(leaves))
            source = next(own)
            leaf = _literal(node, columns[source.feature], source)._replace(column=sources.index(source))
            leaves.append(_complement(leaf) if negated else leaf)
        elif isinstance(node, Gate):
            made.append(m + len(gates))
            gates.append(node)
            inputs.append([made[k] for k in below])
            andness.append(1.0 - node.andness if negated else node.andness)
        else:
            made.append(made[below[0]])
    weights = [weight for gate in gates for weight in gate.weights]
    return drafts.join(topology(inputs), leaves, weights, andness)._replace(typed=tree.root)


def _literal(leaf: Leaf, column: Column, source: Source) -> Literal:
    """Return a leaf's numbers to start from."""
    missing = _logit(leaf.criterion.missing)
    if source.criterion is not None:
        return Literal(0)
    if source.coded:
        truths = fixed_truths(replace(column, values=np.arange(len(column.categories))), leaf.criterion)
        return Literal(0, missing=missing, table=[_logit(truth, 1e-9) for truth in truths.tolist()])
    slope, centre = CRISP if column.kind == TRUTH else 2.0, 0.0  # crisp: 0 and 1 lie at -1 and 1
    if column.kind != TRUTH and isinstance(leaf.criterion, Sigmoid):  # the shape that is learned, by these two numbers
        slope = leaf.criterion.slope * column.scale
        centre = (leaf.criterion.centre - column.centre) / column.scale
    return Literal(0, slope, centre, missing)


def _logit(truth: float | None, inside: float = 0.01) -> float:
    """Return the logit of a truth, kept so far inside; 0 where there is none."""
    if truth is None:
        return 0.0
    truth = min(max(truth, inside), 1.0 - inside)
    return math.log(truth / (1.0 - truth))
