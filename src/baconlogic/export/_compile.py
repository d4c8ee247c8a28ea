"""From a model to its program: criteria, gates, links and the choice, written as arithmetic once for every target.

The numbers of a gate are those that `gcd` gives; what is worked out of truth and falsity is what `needed` says.
"""

from __future__ import annotations

import math
import sys
from collections import Counter
from itertools import pairwise
from typing import TYPE_CHECKING

from baconlogic.core.decision import Decision
from baconlogic.core.evaluate import Sides, needed
from baconlogic.core.gcd import FAR, FULLY, LEAST
from baconlogic.core.nodes import Gate, Leaf, Not, flatten, walk
from baconlogic.core.subject import HALF
from baconlogic.core.tree import Tree
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

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any as Anything

    from baconlogic.core.answers import Link
    from baconlogic.core.criterion import Category, Criterion, Operation
    from baconlogic.export._program import Test

ZERO, ONE = Num(0.0), Num(1.0)
LARGEST = 1e300
NOTHING = Num(-2.0 * FAR)  # stands for the log of a product with a 0 in it


def program(model: Anything, *, trace: bool = False) -> Program:
    """Return the program of a Tree, a Decision or a fitted classifier; with `trace`, every node's truth has a name."""
    model = getattr(model, "decision_", model)
    if isinstance(model, Tree):
        return _Compiler((model,), trace=trace).tree_alone()
    if isinstance(model, Decision):
        return _Compiler(model.trees, trace=trace).decision(model)
    raise TypeError(f"expected a Tree, a Decision or a fitted classifier, got {type(model).__name__}")


def exp_of(g: Expr) -> If:
    """Write exp(g), 0 where g is too far below 0."""
    return If(Less(Num(-FAR), g), Op("exp", (g,)), ZERO)


def rest_of_exp(g: Expr) -> If:
    """Write 1 - exp(g), 1 where g is too far below 0."""
    return If(Less(Num(-FAR), g), Op("-", (ZERO, Op("expm1", (g,)))), ONE)


class _Compiler:
    """Writes bindings, tree by tree."""

    def __init__(self, trees: tuple[Tree, ...], *, trace: bool) -> None:
        leaves = [node for tree in trees for node, _ in flatten(tree.root) if isinstance(node, Leaf)]
        self.inputs = _inputs(leaves)
        self.place = {each.feature: i for i, each in enumerate(self.inputs)}
        self.checks = tuple(dict.fromkeys(check for leaf in leaves for check in self._checks(leaf)))
        self.bindings: list[Binding] = []
        self.nodes = 0
        self.spots: list[Spot] = []
        self.truths = tuple(self._tree(k, tree, trace=trace) for k, tree in enumerate(trees))

    def bind(self, name: str, value: Expr) -> Ref:
        """Give a value a name."""
        self.bindings.append(Binding(name, value))
        return Ref(name)

    def tree_alone(self) -> Program:
        """Return the program of a tree that states no classes: false or true, turning at one half."""
        choice = self._turn(Ref(self.truths[0]), HALF)
        return self._program((), choice, (False, True), HALF)

    def decision(self, decision: Decision) -> Program:
        """Return the program with the probabilities of the classes and the choice between them."""
        classes, truths = decision.classes, [Ref(name) for name in self.truths]
        if not truths:
            return self._program((self.bind("p0", ONE),), self.bind("choice", ZERO), classes, None)
        if len(truths) == 1:
            p = self._two_probabilities(truths[0], decision.links[0])
            return self._program(p, self._turn(truths[0], decision.threshold), classes, decision.threshold)
        scores = [
            self.bind(f"s{k}", _score(t, link)) for k, (t, link) in enumerate(zip(truths, decision.links, strict=True))
        ]
        return self._program(self._many_probabilities(scores), self._first_largest(scores), classes, None)

    def _program(
        self, probabilities: tuple[Ref, ...], choice: Ref, classes: Anything, threshold: float | None
    ) -> Program:
        return Program(
            self.inputs,
            self.checks,
            tuple(self.bindings),
            self.truths,
            tuple(ref.name for ref in probabilities),
            choice.name,
            classes,
            threshold,
            tuple(self.spots),
        )

    def _turn(self, truth: Ref, threshold: float) -> Ref:
        return self.bind("choice", If(Less(Num(threshold), truth), ONE, ZERO))

    def _two_probabilities(self, truth: Ref, link: Link) -> tuple[Ref, ...]:
        score = self.bind("s0", _score(truth, link))
        small = self.bind("r0", _fading(Op("abs", (score,)), FAR, 1.0))
        rising, falling = _logistic(score, small)
        return self.bind("p0", falling), self.bind("p1", rising)

    def _many_probabilities(self, scores: list[Ref]) -> tuple[Ref, ...]:
        """Write sigmoids divided by their sum, as a softmax of their logs: there is an answer also where all are 0."""
        logs = []
        for k, score in enumerate(scores):
            small = self.bind(f"r{k}", _fading(Op("abs", (score,)), FAR, 1.0))
            logs.append(self.bind(f"l{k}", Op("-", (Op("min", (score, ZERO)), Op("log", (_sum(ONE, small),))))))
        top = self.bind("top", Op("max", tuple(logs)))
        shares = [self.bind(f"h{k}", _fading(Op("-", (top, each)), FAR, 1.0)) for k, each in enumerate(logs)]
        total = self.bind("total", _sum(*shares))
        return tuple(self.bind(f"p{k}", Op("/", (share, total))) for k, share in enumerate(shares))

    def _first_largest(self, scores: list[Ref]) -> Ref:
        best, place = scores[0], self.bind("c0", ZERO)
        for k, score in enumerate(scores[1:], start=1):
            place = self.bind(f"c{k}", If(Less(best, score), Num(float(k)), place))
            best = self.bind(f"b{k}", Op("max", (best, score)))
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
            number, self.nodes = self.nodes, self.nodes + 1
            if isinstance(node, Not):
                truth, falsity = made[below[0]]
                made.append((falsity, truth))
            elif isinstance(node, Gate):
                made.append(self._gate(node, [made[i] for i in below], side, number))
            elif isinstance(node, Leaf):
                made.append(self._leaf(node, side, number))
            else:
                unsupported("an export", node)
        names = [truth.name if isinstance(truth, Ref) else "" for truth, _ in made]
        if trace:
            places = sorted((path for path, _ in walk(tree.root)), key=lambda path: [*path, math.inf])
            self.spots += sorted(
                (Spot(k, path, name) for path, name in zip(places, names, strict=True)), key=lambda spot: spot.path
            )
        return names[-1]

    def _leaf(self, leaf: Leaf, side: Sides, number: int) -> tuple[Expr, Expr]:
        place, criterion = self.place[leaf.feature], leaf.criterion
        both = criterion.expression(_LeafBuilder(self, leaf, number))
        missing = criterion.missing
        found: list[Expr] = []
        for letter, wanted, known, unknown in zip("tf", side, both, (missing, _rest(missing)), strict=True):
            value = known if unknown is None else If(Missing(place), Num(unknown), known)
            found.append(self.bind(f"{letter}{number}", value) if wanted else ZERO)
        return found[0], found[1]

    def _gate(self, gate: Gate, inputs: list[tuple[Expr, Expr]], side: Sides, number: int) -> tuple[Expr, Expr]:
        dual, mean, product, power = gate.coefficients
        if dual:
            inputs, side = [(falsity, truth) for truth, falsity in inputs], side.turned()
        names = ("f", "t") if dual else ("t", "f")
        if math.isinf(power):
            combined, rest = _drastic([falsity for _, falsity in inputs])
        else:
            exponents = [len(inputs) * weight * power for weight in gate.weights]
            log = self._log_product(inputs, exponents, number, precise=side.falsity) if product > 0.0 else ZERO
            combined = _mixed(mean, gate.weights, [truth for truth, _ in inputs], product, exp_of(log))
            rest = _mixed(mean, gate.weights, [falsity for _, falsity in inputs], product, rest_of_exp(log))
        found = [
            self.bind(f"{letter}{number}", value) if wanted else ZERO
            for letter, wanted, value in zip(names, side, (combined, rest), strict=True)
        ]
        return (found[1], found[0]) if dual else (found[0], found[1])

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

    def less(self, left: Expr, right: Expr) -> Test:
        return Less(left, right)

    def choose(self, test: Test, then: Expr, otherwise: Expr) -> Expr:
        return If(test, then, otherwise)

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
        rising, falling = _logistic(past, small)
        return rising if slope > 0.0 else falling

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
        kinds.setdefault(leaf.feature, set()).update(_kinds(leaf.criterion))
        units[leaf.feature] = units.get(leaf.feature, "") or leaf.criterion.unit
    clash = [feature for feature, found in kinds.items() if "text" in found and len(found) > 1]
    if clash:
        raise ValueError(
            f"column {clash[0]!r} is read as text and as numbers; only Python can hold both, so make it two columns"
        )
    return tuple(
        InputColumn(feature, "number" if "number" in found else "text" if "text" in found else "whole", units[feature])
        for feature, found in kinds.items()
    )


def _kinds(criterion: Criterion) -> set[Kind]:
    if not criterion.categorical:
        return {"number"}
    return {"text" if isinstance(category, str) else "whole" for category, _ in criterion.truths}


def _score(truth: Ref, link: Link) -> Expr:
    steepness = min(link.steepness, LARGEST / (1.0 + abs(link.threshold)))  # the product must not overflow
    return Op("*", (Num(steepness), Op("-", (truth, Num(link.threshold)))))


def _logistic(u: Expr, small: Expr) -> tuple[Expr, Expr]:
    """Write the logistic of u and its rest: 1 / (1 + e) and e / (1 + e), by the sign of u; `small` is e = exp(-|u|)."""
    larger, smaller = Op("/", (ONE, _sum(ONE, small))), Op("/", (small, _sum(ONE, small)))
    above = Less(ZERO, u)
    return If(above, larger, smaller), If(above, smaller, larger)


def _fading(distance: Expr, end: float, steepness: float) -> Expr:
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


def _drastic(falsities: list[Expr]) -> tuple[Expr, Expr]:
    full = All(tuple(Less(falsity, Num(FULLY)) for falsity in falsities))
    return If(full, ONE, ZERO), If(full, ZERO, ONE)


def _mixed(mean: float, weights: tuple[float, ...], inputs: list[Expr], product: float, grown: Expr) -> Expr:
    terms: list[Expr] = [
        Op("*", (Num(mean * weight), x)) for weight, x in zip(weights, inputs, strict=True) if mean > 0.0
    ]
    if product == 1.0:
        return grown
    if product > 0.0:
        terms.append(Op("*", (Num(product), grown)))
    return Op("min", (_sum(*terms), ONE))


def _sum(*terms: Expr) -> Expr:
    return terms[0] if len(terms) == 1 else Op("+", terms)


def _rest(truth: float | None) -> float | None:
    return None if truth is None else 1.0 - truth
