"""From a model to its program: criteria, gates, links and the choice, written as arithmetic once for every target.

The numbers of a gate are those that `gcd` gives; what is worked out of truth and falsity is what `needed` says.
"""

from __future__ import annotations

import math
import sys
from collections import Counter
from collections.abc import Sequence
from itertools import count, pairwise
from typing import Any as Anything

from baconlogic.core.answers import Link
from baconlogic.core.criterion import Category, Operation
from baconlogic.core.decision import Decision
from baconlogic.core.evaluate import Sides, needed
from baconlogic.core.gcd import FAR, FULLY, LEAST
from baconlogic.core.nodes import Gate, Leaf, Not, flatten, walk
from baconlogic.core.subject import HALF
from baconlogic.core.tree import Tree
from baconlogic.export._about import leaves_of, trees_of
from baconlogic.export._program import (
    All,
    Among,
    Binding,
    Check,
    Expr,
    If,
    InputColumn,
    Kind,
    Less,
    Missing,
    Num,
    Op,
    Past,
    Program,
    Raw,
    Ref,
    Spot,
    unsupported,
)

ZERO, ONE = Num(0.0), Num(1.0)
LARGEST = 1e300
NOTHING = Num(-2.0 * FAR)  # stands for the log of a product with a 0 in it


def program(model: Anything, *, trace: bool = False) -> Program:
    """Return the program of a Tree, a Decision or a fitted classifier; with `trace`, every node's truth has a name."""
    model = getattr(model, "decision_", model)
    if not isinstance(model, Tree | Decision):
        raise TypeError(f"expected a Tree, a Decision or a fitted classifier, got {type(model).__name__}")
    made = _Compiler(model, trace=trace)
    decided = None if isinstance(model, Tree) else model  # a tree states no classes: false or true, turning at one half
    probabilities = [] if decided is None else made.probabilities(decided.links)
    threshold = HALF if decided is None else decided.threshold if len(decided.trees) == 1 else None
    return Program(
        choice=made.choice(threshold).name,
        inputs=made.inputs,
        checks=made.checks,
        bindings=tuple(made.bindings),
        truths=made.truths,
        probabilities=tuple(ref.name for ref in probabilities),
        classes=(False, True) if decided is None else decided.classes,
        threshold=threshold,
        spots=tuple(made.spots),
    )


def exp_of(g: Expr) -> If:
    """Write exp(g), 0 where g is too far below 0."""
    return If(Less(Num(-FAR), g), Op("exp", (g,)), ZERO)


def rest_of_exp(g: Expr) -> If:
    """Write 1 - exp(g), 1 where g is too far below 0."""
    return If(Less(Num(-FAR), g), Op("-", (ZERO, Op("expm1", (g,)))), ONE)


class _Compiler:
    """Writes bindings: tree by tree, then probabilities and the choice."""

    def __init__(self, model: Tree | Decision, *, trace: bool) -> None:
        leaves = leaves_of(model)
        self.inputs = _inputs(leaves)
        self.place = {each.feature: i for i, each in enumerate(self.inputs)}
        self.checks = tuple(dict.fromkeys(check for leaf in leaves for check in self._checks(leaf)))
        self.bindings: list[Binding] = []
        self.numbers = count()  # of the nodes
        self.spots: list[Spot] = []
        self.truths = tuple(self._tree(k, tree, trace=trace) for k, tree in enumerate(trees_of(model)))

    def bind(self, name: str, value: Expr) -> Ref:
        """Give a value a name."""
        self.bindings.append(Binding(name, value))
        return Ref(name)

    def probabilities(self, links: Sequence[Link]) -> list[Ref]:
        """Write the probability of each class.

        Of more than two they are sigmoids divided by their sum, as a softmax of their logs: there is an answer also
        where all are 0.
        """
        truths = [Ref(name) for name in self.truths]
        if not truths:
            return [self.bind("p0", ONE)]
        scores = [self.bind(f"s{k}", _score(t, link)) for k, (t, link) in enumerate(zip(truths, links, strict=True))]
        logs: list[Expr] = []
        for k, score in enumerate(scores):
            small = self.bind(f"r{k}", _fading(Op("abs", (score,))))
            if len(scores) == 1:
                return [self.bind(f"p{p}", _sigmoid(score, small, rising=p == 1)) for p in (0, 1)]
            logs.append(self.bind(f"l{k}", Op("-", (Op("min", (score, ZERO)), Op("log", (_sum(ONE, small),))))))
        top = self.bind("top", Op("max", tuple(logs)))
        shares = [self.bind(f"h{k}", _fading(Op("-", (top, each)))) for k, each in enumerate(logs)]
        total = self.bind("total", _sum(*shares))
        return [self.bind(f"p{k}", Op("/", (share, total))) for k, share in enumerate(shares)]

    def choice(self, threshold: float | None) -> Ref:
        """Write the place of the answer: by the threshold of two classes, else the first that scores best."""
        if threshold is not None:
            return self.bind("choice", If(Less(Num(threshold), Ref(self.truths[0])), ONE, ZERO))
        if not self.truths:
            return self.bind("choice", ZERO)
        best, place = Ref("s0"), self.bind("c0", ZERO)
        for k in range(1, len(self.truths)):
            place = self.bind(f"c{k}", If(Less(best, Ref(f"s{k}")), Num(float(k)), place))
            best = self.bind(f"b{k}", Op("max", (best, Ref(f"s{k}"))))
        return place

    def _checks(self, leaf: Leaf) -> list[Check]:
        criterion, place = leaf.criterion, self.place[leaf.feature]
        found = [Check("missing", place)] if criterion.missing is None else []
        if criterion.holds_truths:
            found.append(Check("outside", place))
        if criterion.categorical and criterion.other is None:
            found.append(Check("unlisted", place, tuple(category for category, _ in criterion.truths)))
        return found

    def _tree(self, k: int, tree: Tree, *, trace: bool) -> str:
        """Write a tree from its leaves up; return the name of the root's truth."""
        order = flatten(tree.root)
        sides = needed(order, every_truth=trace)
        made: list[tuple[Expr, Expr]] = []  # the truth and the falsity of each node; of what is not needed, nothing
        for (node, below), side in zip(order, sides, strict=True):
            number = next(self.numbers)
            if isinstance(node, Not):
                made.append(made[below[0]][::-1])
            elif isinstance(node, Gate):
                made.append(self._gate(node, [made[i] for i in below], side, number))
            elif isinstance(node, Leaf):
                made.append(self._leaf(node, side, number))
            else:
                unsupported("an export", node)
        names = [truth.name if isinstance(truth, Ref) else "" for truth, _ in made]
        if trace:
            places = sorted((path for path, _ in walk(tree.root)), key=lambda path: [*path, math.inf])
            self.spots += [Spot(k, path, name) for path, name in sorted(zip(places, names, strict=True))]
        return names[-1]

    def _wanted(self, letters: str, number: int, side: Sides, both: tuple[Expr, Expr]) -> tuple[Expr, Expr]:
        """Give what is needed of two sides its names."""
        first, second = (
            self.bind(f"{letter}{number}", value) if wanted else ZERO
            for letter, wanted, value in zip(letters, side, both, strict=True)
        )
        return first, second

    def _leaf(self, leaf: Leaf, side: Sides, number: int) -> tuple[Expr, Expr]:
        gap, missing = Missing(self.place[leaf.feature]), leaf.criterion.missing
        truth, falsity = leaf.criterion.expression(_LeafBuilder(self, leaf, number))
        if missing is not None:
            truth, falsity = If(gap, Num(missing), truth), If(gap, Num(1.0 - missing), falsity)
        return self._wanted("tf", number, side, (truth, falsity))

    def _gate(self, gate: Gate, inputs: list[tuple[Expr, Expr]], side: Sides, number: int) -> tuple[Expr, Expr]:
        dual, mean, product, power = gate.coefficients
        if dual:
            inputs, side = [pair[::-1] for pair in inputs], side.turned()
        both: tuple[Expr, Expr]
        if math.isinf(power):
            full = All(tuple(Less(falsity, Num(FULLY)) for _, falsity in inputs))
            both = If(full, ONE, ZERO), If(full, ZERO, ONE)
        else:
            exponents = [len(inputs) * weight * power for weight in gate.weights]
            log = self._log_product(inputs, exponents, number, precise=side.falsity) if product > 0.0 else ZERO
            truths, falsities = zip(*inputs, strict=True)
            both = (
                _mixed(mean, gate.weights, truths, product, exp_of(log)),
                _mixed(mean, gate.weights, falsities, product, rest_of_exp(log)),
            )
        found = self._wanted("ft" if dual else "tf", number, side, both)
        return found[::-1] if dual else found

    def _log_product(
        self, inputs: list[tuple[Expr, Expr]], exponents: list[float], number: int, *, precise: bool
    ) -> Ref:
        """Write sum(exponent log x). What 1 - x lost of the falsity is added where the rest of the gate is wanted."""
        terms = []
        for (x, rest), exponent in zip(inputs, exponents, strict=True):
            log: Expr = Op("log", (x,))
            if precise:
                log = _sum(log, Op("-", (Op("-", (ONE, x)), rest)))
            terms.append(Op("*", (Num(exponent), log)))
        none_0 = All(tuple(Less(Num(LEAST), x) for x, _ in inputs))
        return self.bind(f"g{number}", If(none_0, _sum(*terms), NOTHING))


class _LeafBuilder:
    """What a leaf's criterion writes its truth with (see ExpressionBuilder): expressions over its input."""

    less, choose = Less, If

    def __init__(self, compiler: _Compiler, leaf: Leaf, number: int) -> None:
        self._compiler, self._place, self._number = compiler, compiler.place[leaf.feature], number
        self._guarded = leaf.criterion.missing is not None
        self._shared: dict[Expr, Ref] = {}
        self.x = Raw(self._place)

    def number(self, value: float) -> Expr:
        return Num(float(value))

    def past(self, mark: float) -> Expr:
        return Past(self._place, mark)

    def op(self, name: Operation, *args: Expr) -> Expr:
        return Op(name, args)

    def once(self, value: Expr) -> Expr:
        return self._bound(If(Missing(self._place), ZERO, value) if self._guarded else value)

    def _bound(self, value: Expr) -> Ref:
        if value not in self._shared:
            also = f"_{len(self._shared)}" if self._shared else ""
            self._shared[value] = self._compiler.bind(f"e{self._number}{also}", value)
        return self._shared[value]

    def lines(self, points: Sequence[tuple[float, float]]) -> Expr:
        """Write which piece between marks holds: constant, a line, ..., constant."""
        pieces = [Num(points[0][1]), *(_line(self._place, *ends) for ends in pairwise(points)), Num(points[-1][1])]
        return _first_below(self._place, [x for x, _ in points], pieces)

    def logistic(self, centre: float, slope: float) -> Expr:
        """Write 1 / (1 + e) or e / (1 + e), by the side of the centre, where e = exp(-|slope (x - centre)|)."""
        past, steep = self.past(centre), abs(slope)
        small = self._bound(_fading(Op("abs", (past,)), min(FAR / steep, sys.float_info.max), steep))
        return _sigmoid(past, small, rising=slope > 0.0)

    def choices(self, truths: Sequence[tuple[Category, float]], other: float | None) -> Expr:
        """Write the truth of each group of categories; the commonest is what remains where nothing else is allowed."""
        groups: dict[float, list[Anything]] = {}
        for category, truth in truths:
            groups.setdefault(truth, []).append(category)
        if other is None:
            other = Counter(truth for _, truth in truths).most_common(1)[0][0]
        groups.pop(other, None)
        return _among(self._place, list(groups.items()), Num(other))


def _inputs(leaves: list[Leaf]) -> tuple[InputColumn, ...]:
    """Return the columns that leaves read, in the order of their first use."""
    kinds: dict[str, set[Kind]] = {}
    units: dict[str, str] = {}
    for leaf in leaves:
        criterion = leaf.criterion
        known: set[Kind] = {"text" if isinstance(category, str) else "whole" for category, _ in criterion.truths}
        kinds.setdefault(leaf.feature, set()).update(known if criterion.categorical else {"number"})
        units[leaf.feature] = units.get(leaf.feature, "") or criterion.unit
    clash = [feature for feature, found in kinds.items() if "text" in found and len(found) > 1]
    if clash:
        raise ValueError(
            f"column {clash[0]!r} is read as text and as numbers; only Python can hold both, so make it two columns"
        )
    return tuple(
        InputColumn(feature, "number" if "number" in found else "text" if "text" in found else "whole", units[feature])
        for feature, found in kinds.items()
    )


def _score(truth: Ref, link: Link) -> Expr:
    steepness = min(link.steepness, LARGEST / (1.0 + abs(link.threshold)))  # the product must not overflow
    return Op("*", (Num(steepness), Op("-", (truth, Num(link.threshold)))))


def _sigmoid(x: Expr, small: Expr, *, rising: bool) -> If:
    """Write 1 / (1 + e) or e / (1 + e), by the sign of x, where e is `small`."""
    parts = [Op("/", (part, _sum(ONE, small))) for part in (ONE, small)]
    return If(Less(ZERO, x), *(parts if rising else reversed(parts)))


def _fading(distance: Expr, end: float = FAR, steepness: float = 1.0) -> Expr:
    """Write exp(-steepness distance), which is 0 from `end` on: nothing underflows, and no target disagrees there."""
    return If(Less(distance, Num(end)), Op("exp", (Op("*", (Num(-steepness), distance)),)), ZERO)


def _line(place: int, start: tuple[float, float], end: tuple[float, float]) -> Expr:
    """Write a line from its lower end, so that no digits are lost near 0."""
    (x0, t0), (x1, t1) = start, end
    if t0 == t1:
        return Num(t0)
    anchor, low, high = (x0, t0, t1) if t0 < t1 else (x1, t1, t0)
    rise = Op("*", (Num((t1 - t0) / (x1 - x0)), Past(place, anchor)))
    return Op("min", (_sum(Num(low), rise) if low else rise, Num(high)))


def _first_below(place: int, marks: list[float], pieces: list[Expr]) -> Expr:
    """Write which of the pieces between marks holds, by halves: many marks make no deep expression."""
    if not marks:
        return pieces[0]
    middle = len(marks) // 2
    left = _first_below(place, marks[:middle], pieces[: middle + 1])
    right = _first_below(place, marks[middle + 1 :], pieces[middle + 1 :])
    return If(Less(Past(place, marks[middle]), ZERO), left, right)


def _among(place: int, groups: list[tuple[float, list[Anything]]], other: Expr) -> Expr:
    """Write the truth of the group that a category is in, by halves."""
    if not groups:
        return other
    middle = (len(groups) + 1) // 2
    first = groups[:middle]
    inside = Num(first[0][0]) if middle == 1 else _among(place, first[:-1], Num(first[-1][0]))
    listed = tuple(category for _, categories in first for category in categories)
    return If(Among(place, listed), inside, _among(place, groups[middle:], other))


def _mixed(mean: float, weights: tuple[float, ...], inputs: Sequence[Expr], product: float, grown: Expr) -> Expr:
    if product == 1.0:
        return grown
    terms = [Op("*", (Num(mean * weight), x)) for weight, x in zip(weights, inputs, strict=True) if mean > 0.0]
    if product > 0.0:
        terms.append(Op("*", (Num(product), grown)))
    return Op("min", (_sum(*terms), ONE))


def _sum(*terms: Expr) -> Expr:
    return terms[0] if len(terms) == 1 else Op("+", terms)
