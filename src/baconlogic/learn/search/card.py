"""Card: a tree of two levels being learned; and what a person is given of it, with round weights.

    scorecard   points that add up                       sum of beta_i item_i
    checklist   as many of so many crisp conditions      beta * mean of conditions
    rules       any of groups that are all of conditions beta * (1 - prod(1 - group)); or the dual, prod(group)

An item is a condition or a group of them, all (a product) or any (its dual). Weights and link of a scorecard are those
of a logistic regression on its items.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from math import log, sqrt
from typing import Any, NamedTuple

import numpy as np

from baconlogic.core import Floats, gcd
from baconlogic.core.decision import Link
from baconlogic.core.nodes import Gate, Node
from baconlogic.kernel.compile import compiled
from baconlogic.kernel.elementary import exp, log_of_one_plus
from baconlogic.kernel.loops import dot
from baconlogic.learn.column import NUMBER, Column
from baconlogic.learn.search.conditions import BAND, CUT, RAMP, TRUTHS, Condition, between, joined_band
from baconlogic.learn.search.grid import PRICE
from baconlogic.learn.search.problem import Problem

ALL, ANY, SUM, COUNT = "all", "any", "sum", "count"
RIDGE = 1.0
LONG = 15  # steps of Newton's method
HOLD = 0.2  # on the steepness of a link, in cases: what is never wrong among few is not sure
STEPS = 20  # of a weight: 5% each
FINE = 100  # where 5% is too coarse
PAYS = 1.0  # log-likelihood that finer weights must gain, for each
STEEPEST = 1e3  # of a link
HOPE = 5.0, 0.5  # log-likelihood, and a root of cases: what is behind by more is not tried


class Clause(NamedTuple):
    """Conditions of which all must hold, or any."""

    kind: str
    conditions: tuple[Condition, ...]

    @property
    def opposite(self) -> Clause:
        """What is true where this one is not (De Morgan)."""
        other = ANY if self.kind == ALL else ALL
        return Clause(other, tuple(condition.opposite for condition in self.conditions))


class Card(NamedTuple):
    """Groups under a root; `values` are the intercept and the coefficients of its items."""

    root: str
    groups: tuple[Clause, ...]
    values: Floats
    loss: float = np.inf  # penalised, in log-likelihood

    @property
    def leaves(self) -> int:
        """The number of conditions."""
        return sum(len(group.conditions) for group in self.groups)

    @property
    def conditions(self) -> list[Condition]:
        """All its conditions."""
        return [condition for group in self.groups for condition in group.conditions]


class Section(NamedTuple):
    """A named part of a card: some of its items, and their weights in it."""

    name: str
    items: tuple[int, ...]
    weights: tuple[float, ...]


class Hand(NamedTuple):
    """A card as a person gets it: positive round weights, and the link to probability."""

    root: str
    groups: tuple[Clause, ...]
    weights: tuple[float, ...]  # of a sum, by item; or by part, where there are parts
    link: Link
    loss: float  # log-likelihood lost on the rows it was learned from
    parts: tuple[Section, ...] = ()

    @property
    def leaves(self) -> int:
        """The number of conditions."""
        return sum(len(group.conditions) for group in self.groups)

    def said(self, group: Clause, columns: Sequence[Column]) -> Floats:
        """Return what a group says of each row."""
        return group_truths(group, [c.truths(columns[c.column]) for c in group.conditions])

    def scores(self, problem: Problem) -> Floats:
        """Return the decision value of each row."""
        items = [self.said(group, problem.table) for group in self.groups]
        if self.parts:
            items = [joined(SUM, [items[i] for i in part.items], part.weights) for part in self.parts]
        return self.link.score(joined(self.root, items, self.weights))

    def stated(self, columns: Sequence[Column]) -> Hand:
        """Return it with bands, if need be up to the ends of the values, where a column is cut from both sides."""
        groups = tuple(map(_with_bands, self.groups))
        sides: dict[int, set[bool]] = {}
        for c in (c for group in groups for c in group.conditions if c.kind in (CUT, RAMP)):
            sides.setdefault(c.column, set()).add(c.turned)
        both = {column for column, found in sides.items() if len(found) == 2 and columns[column].kind == NUMBER}

        def told(c: Condition) -> Condition:
            return between(c, columns[c.column]) if c.kind in (CUT, RAMP) and c.column in both else c

        return self._replace(groups=tuple(Clause(group.kind, tuple(map(told, group.conditions))) for group in groups))

    def again(self, problem: Problem) -> Hand:
        """Return it with its weights and link learned on other rows."""
        items = np.array([self.said(group, problem.table) for group in self.groups])
        items = items if self.root == SUM else joined(self.root, list(items))[None]
        values = np.zeros(len(items) + 1)
        regress(items, problem.y, problem.share * problem.cases, RIDGE, values, LONG)
        if self.root != SUM and values[1] <= 0.0:
            return self
        return hand_of(problem, Card(self.root, self.groups, values), items).stated(problem.table)

    def node(self, columns: Sequence[Column], aggregator: str) -> Node:
        """Return it as a tree."""
        items = [_group_node(group, columns, aggregator) for group in self.groups]
        if self.parts:
            items = [_part_node(part, items, aggregator) for part in self.parts]
        if len(items) == 1:
            return items[0]
        if self.root in (SUM, COUNT):
            return Gate(items, gcd.NEUTRAL, self.weights or None, aggregator)
        return _gate(self.root, items, aggregator)


def _with_bands(group: Clause) -> Clause:
    """Return a group in which two cuts on a column from both sides are one band."""
    kept: list[Condition] = []
    for c in group.conditions:
        pairs = ((i, joined_band(other, c, both=group.kind == ALL)) for i, other in enumerate(kept))
        place, band = next(((i, band) for i, band in pairs if band is not None), (0, None))
        if band is None:
            kept.append(c)
        else:
            kept[place] = band
    return Clause(group.kind, tuple(kept))


def _part_node(part: Section, items: Sequence[Node], aggregator: str) -> Node:
    own = [items[i] for i in part.items]
    if len(own) > 1:
        return Gate(own, gcd.NEUTRAL, part.weights, aggregator, part.name)
    return own[0].build(own[0].children, (*own[0].content[:-1], part.name))


def group_truths(group: Clause, truths: Sequence[Floats]) -> Floats:
    """Return what a group says, given what its conditions say."""
    return joined(group.kind, truths) if len(truths) > 1 else truths[0]


def joined(root: str, items: Sequence[Floats], weights: Sequence[float] = ()) -> Floats:
    """Return what a gate says, given what its inputs say."""
    if root == ALL:
        return np.asarray(np.prod(items, axis=0))
    if root == ANY:
        return np.asarray(1.0 - np.prod([1.0 - item for item in items], axis=0))
    return np.asarray(np.average(items, axis=0, weights=weights if root == SUM else None))


def _group_node(group: Clause, columns: Sequence[Column], aggregator: str) -> Node:
    nodes = [condition.node(columns[condition.column]) for condition in group.conditions]
    if len(nodes) == 1:
        return nodes[0]
    return _gate(group.kind, nodes, aggregator, shared_name([columns[c.column].name for c in group.conditions]))


def _gate(kind: str, nodes: list[Node], aggregator: str, name: str = "") -> Gate:
    andness = gcd.product(len(nodes))
    return Gate(nodes, andness if kind == ALL else 1.0 - andness, None, aggregator, name)


def shared_name(features: Sequence[str]) -> str:
    """Return the word that names of different features share: texture of texture1 and texture3; or nothing."""
    words = [re.findall(r"[^\W\d_]{3,}", feature.lower()) for feature in features]
    shared = [word for word in words[0] if all(word in other for other in words[1:])]
    return shared[-1] if shared and len(set(features)) > 1 else ""


def price(condition: Condition, column_bins: int, plain: tuple[float, float] | None) -> float:
    """Return the log-likelihood that a condition must gain for its shape, as the grid's screening has it."""
    if condition.kind == TRUTHS:
        degrees = not condition.crisp
        return PRICE * (min(0.5 * (column_bins - 1), 4.0) if degrees else min(0.5 * max(column_bins - 2, 0), 3.0))
    if column_bins <= 2 or (condition.kind == RAMP and condition.numbers == plain):
        return 0.0
    return 2.0 * PRICE if condition.kind == BAND else PRICE


def hope(problem: Problem) -> float:
    """Return by how much log-likelihood one card may be behind another on rows both have seen, and still do as well."""
    return HOPE[0] + HOPE[1] * sqrt(problem.cases)


@compiled(reassociate=True, inner=True)
def _link(u: Floats, y: Floats, weight: Floats, slope: Floats, curvature: Floats) -> float:
    """Fill in slope and curvature of each row's loss in its decision value; return the loss."""
    loss = 0.0
    for i in range(u.size):
        e = exp(-abs(u[i]))
        p = (1.0 if u[i] > 0.0 else e) / (1.0 + e)
        loss += weight[i] * (log_of_one_plus(e) + max(u[i], 0.0) - y[i] * u[i])
        slope[i] = weight[i] * (p - y[i])
        curvature[i] = weight[i] * max(p * (1.0 - p), 1e-6)
    return loss


@compiled(reassociate=True, inner=True)
def _sum_of(v: Floats, items: Floats, out: Floats) -> None:
    out[:] = v[0]
    for a in range(items.shape[0]):
        for i in range(out.size):
            out[i] += v[a + 1] * items[a, i]


@compiled(reassociate=True, inner=True)
def _dot3(x: Floats, y: Floats, z: Floats) -> float:
    total = 0.0
    for i in range(x.size):
        total += x[i] * y[i] * z[i]
    return total


@compiled(reassociate=False, inner=True)
def _solve(h: Floats, g: Floats, step: Floats) -> None:
    """Fill in the solution of h step = g, h positive definite, which it changes: Cholesky, then two triangles."""
    n = g.size
    for a in range(n):
        step[a] = g[a]
        for b in range(a + 1):
            for c in range(b):
                h[a, b] -= h[a, c] * h[b, c]
            if a == b:
                h[a, a] = np.sqrt(max(h[a, a], 1e-12))
            else:
                h[a, b] /= h[b, b]
                step[a] -= h[a, b] * step[b]
        step[a] /= h[a, a]
    for a in range(n - 1, -1, -1):
        for c in range(a + 1, n):
            step[a] -= h[c, a] * step[c]
        step[a] /= h[a, a]


@compiled(reassociate=False, inner=True)
def _copy(x: Floats, out: Floats) -> None:
    for i in range(x.size):
        out[i] = x[i]


@compiled(reassociate=False)
def regress(items: Floats, y: Floats, weight: Floats, ridge: float, v: Floats, steps: int) -> float:
    """Return the penalised loss of a logistic regression on items (k, rows), by Newton's method from v, changed.

    The penalty is ridge / 2 times the squares of the coefficients of standardised items.
    """
    k, rows = items.shape
    slope, curvature, u = np.empty(rows), np.empty(rows), np.empty(rows)
    penalty, total = np.zeros(k + 1), weight.sum()
    for a in range(k):
        mean = dot(items[a], weight) / total
        penalty[a + 1] = ridge * max(_dot3(items[a], items[a], weight) / total - mean * mean, 0.0) + 1e-6
    g, h, step, new = np.empty(k + 1), np.empty((k + 1, k + 1)), np.empty(k + 1), np.empty(k + 1)
    _sum_of(v, items, u)
    loss = _link(u, y, weight, slope, curvature) + 0.5 * _dot3(penalty, v, v)
    for _ in range(steps):
        g[0], h[0, 0] = slope.sum(), curvature.sum()
        for a in range(k):
            g[a + 1] = dot(items[a], slope) + penalty[a + 1] * v[a + 1]
            h[a + 1, 0] = dot(items[a], curvature)
            for b in range(a + 1):
                h[a + 1, b + 1] = _dot3(items[a], items[b], curvature)
            h[a + 1, a + 1] += penalty[a + 1] + 1e-7
        _solve(h, g, step)
        size, ahead = 1.0, np.inf
        for _ in range(10):
            for a in range(k + 1):
                new[a] = v[a] - size * step[a]
            _sum_of(new, items, u)
            ahead = _link(u, y, weight, slope, curvature) + 0.5 * _dot3(penalty, new, new)
            if ahead <= loss + 1e-9:
                break
            size *= 0.5
        if not ahead <= loss:
            break
        _copy(new, v)
        gained, loss = loss - ahead, ahead
        if gained < 1e-3:
            break
    return loss


def hand(card: Card, items: Floats, y: Floats, weight: Floats) -> Hand:
    """Return a card with its groups speaking for yes, round weights and a link that fits them.

    The order of weights is the order of what each contributes: weight times the spread of its truth.
    """
    if card.root != SUM:
        return Hand(card.root, card.groups, (), *fitted_link(items[0], y, weight))
    groups, items, size = _for_yes(card, items)
    weights = _weights(size, items, y, weight)
    order = np.argsort(-weights, kind="stable")
    link, loss = fitted_link(weights @ items, y, weight)
    return Hand(SUM, tuple(groups[i] for i in order), tuple(weights[order].tolist()), link, loss)


def hand_of_parts(
    card: Card, items: Floats, y: Floats, weight: Floats, part: Sequence[int], names: Sequence[str]
) -> Hand:
    """Return a sum as one over named parts, each a sum of its own items; weights are round on both levels."""
    groups, items, size = _for_yes(card, items)
    own = [[i for i in np.argsort(-size, kind="stable").tolist() if part[i] == k] for k in range(len(names))]
    used = [k for k in range(len(names)) if own[k]]
    inner = [_weights(size[own[k]], items[own[k]], y, weight) for k in used]
    truths = np.array([w @ items[own[k]] for k, w in zip(used, inner, strict=True)])
    outer = _weights(np.array([size[own[k]].sum() for k in used]), truths, y, weight)
    order = np.argsort(-outer, kind="stable")
    parts = tuple(Section(names[used[i]], tuple(own[used[i]]), tuple(inner[i].tolist())) for i in order)
    link, loss = fitted_link(outer @ truths, y, weight)
    return Hand(SUM, tuple(groups), tuple(outer[order].tolist()), link, loss, parts)


def _for_yes(card: Card, items: Floats) -> tuple[list[Clause], Floats, Floats]:
    """Return the groups of a sum, what they say and how much each counts, those that speak against turned round."""
    values = card.values[1:]
    groups = [group.opposite if value < 0.0 else group for group, value in zip(card.groups, values, strict=True)]
    return groups, np.where(values[:, None] < 0.0, 1.0 - items, items), np.maximum(np.abs(values), 1e-9)


def _weights(size: Floats, items: Floats, y: Floats, weight: Floats) -> Floats:
    """Return round weights near the sizes: in steps of 5%, finer only where that pays."""
    if len(size) == 1:
        return np.ones(1)

    def loss(weights: Floats) -> float:
        return fitted_link(weights @ items, y, weight)[1]

    sized = size / size.sum()
    link, free = fitted_link(sized @ items, y, weight)
    p = 1.0 / (1.0 + np.exp(-np.clip(link.score(sized @ items), -40.0, 40.0)))
    curvature = weight * np.maximum(p * (1.0 - p), 1e-4)

    def rounded(steps: int) -> tuple[float, Floats]:
        found = [each / steps for each in in_steps(size, items, weight, steps, curvature)]
        losses = [loss(each) for each in found]
        best = int(np.argmin(losses))
        return losses[best], found[best]

    pays, steps = PAYS * len(size), next(each for each in (STEPS, FINE, 100 * FINE) if each >= len(size))
    lost, coarse = rounded(steps)
    if steps < FINE and lost > free + pays:
        less, fine = rounded(FINE)
        return fine if less < lost - pays else coarse
    return coarse


def whole_steps(target: Floats, steps: int) -> Floats:
    """Return whole numbers from 1 on that sum to `steps`, near the targets; there are no more of these than steps."""
    counts: Floats = np.maximum(np.floor(target), 1.0)
    while counts.sum() != steps:
        more = counts.sum() < steps
        away = np.where(more | (counts > 1.0), (target - counts) * (1.0 if more else -1.0), -np.inf)
        counts[int(np.argmax(away))] += 1.0 if more else -1.0
    return counts


def in_steps(size: Floats, items: Floats, weight: Floats, steps: int, curvature: Floats | None = None) -> list[Floats]:
    """Return ways to share out `steps` near the sizes, no larger share contributing less; the nearest first.

    Near is what the loss calls near: around the sizes it is a square of what is off in each row, by its curvature. Even
    shares, which contradict nothing, are the last resort.
    """
    n, share = len(size), weight / weight.sum()
    spread = np.sqrt(np.maximum((items**2) @ share - (items @ share) ** 2, 0.0))
    by = share if curvature is None else curvature / curvature.sum()
    off = items - (items @ by)[:, None]
    square = (off * by) @ off.T + 1e-9 * np.eye(n)
    goal = square @ size

    def rated(counts: Floats) -> tuple[Any, Any]:
        """Return how much the shares contradict what each contributes, and how far off they are, at the best scale."""
        return _fault(counts, spread), -((counts @ goal) ** 2) / ((counts @ square) * counts).sum(axis=-1)

    lawful, even = _lawful(size, np.maximum(spread, 1e-9), square), np.full(n, steps / n)
    starts = [lawful]
    if lawful is not size:
        starts += [size, np.sort(size)[np.argsort(np.argsort(spread, kind="stable"), kind="stable")]]
    found = {tuple(even.tolist()): tuple(map(float, rated(even)))}
    moves = (np.eye(n) - np.eye(n)[:, None])[~np.eye(n, dtype=bool)]  # a step from one to another
    moves = np.concatenate([moves, 2.0 * moves])
    for start in starts:
        counts = whole_steps(start / start.sum() * steps, steps)
        best = tuple(map(float, rated(counts)))
        for _ in range(4 * n):
            after = counts + moves
            after = after[after.min(axis=1) >= 1.0]
            wrong, away = rated(after)
            first = np.lexsort((away, wrong))[:1]
            if not len(first) or (float(wrong[first[0]]), float(away[first[0]])) >= best:
                break
            best, counts = (float(wrong[first[0]]), float(away[first[0]])), after[first[0]]
        found[tuple(counts.tolist())] = best
    return [np.array(each) for each in sorted(found, key=lambda each: found[each]) if not found[each][0]]


def _fault(counts: Floats, spread: Floats) -> Any:
    """Return how much weights contradict what each contributes; 0: no larger one contributes less."""
    contributes = counts * spread
    less = contributes[..., None, :] - contributes[..., :, None]
    wrong = (counts[..., :, None] > counts[..., None, :]) & (less > 0.0)
    return np.asarray((less * wrong).sum(axis=(-1, -2))).round(9)


def _lawful(size: Floats, spread: Floats, square: Floats) -> Floats:
    """Return weights near the sizes, by a square of what is off, of which no larger one contributes less.

    Of two that contradict each other, the worst first, both weigh the same or both contribute the same: whichever costs
    less. The sizes themselves where none do.
    """
    found, n, tied, ratio = size, len(size), np.arange(len(size)), np.ones(len(size))
    for _ in range(n):
        heavier = found[:, None] / found
        wrong = np.minimum(heavier, (found * spread) / (found * spread)[:, None])
        i, j = divmod(int(np.argmax(wrong - 2.0 * np.eye(n))), n)
        if wrong[i, j] <= 1.0 + 1e-9:
            return found
        ways = []
        for times in (1.0, spread[j] / spread[i]):  # what i weighs, where j weighs 1
            own, new_ratio = tied == tied[i], ratio.copy()
            if tied[i] == tied[j]:
                new_ratio[own] = 1.0
            else:
                new_ratio[own] *= times * ratio[j] / ratio[i]
            new_tied = np.where(own, tied[j], tied)
            parts = (new_tied[:, None] == np.unique(new_tied)) * new_ratio[:, None]
            least = parts @ np.linalg.lstsq(parts.T @ square @ parts, parts.T @ square @ size, rcond=None)[0]
            off = least - size
            if least.min() > 0.0:
                ways.append((float(off @ square @ off), least, new_tied, new_ratio))
        if not ways:
            break
        _, found, tied, ratio = min(ways, key=lambda way: way[0])
    return np.full(n, size.mean())


def fitted_link(truth: Floats, y: Floats, weight: Floats) -> tuple[Link, float]:
    """Return the link that fits the truths of rows best, and the log-likelihood that is lost."""
    rate = float(np.clip(weight @ y / weight.sum(), 1e-6, 1.0 - 1e-6))
    v = np.array([log(rate / (1.0 - rate)), 1.0])
    loss = regress(np.ascontiguousarray(truth)[None], y, weight, HOLD, v, 30)
    steepness = float(np.clip(v[1], 1e-2, STEEPEST))
    threshold = float(np.clip(-v[0] / max(v[1], 1e-2), -1.0, 2.0))
    return Link(steepness, threshold), float(loss)


def hand_of(problem: Problem, card: Card, items: Floats) -> Hand:
    """Return a card as a person gets it, over the named parts that are asked for."""
    weight = problem.share * problem.cases
    if not problem.parts:
        return hand(card, items, problem.y, weight)
    part = [
        next(i for i, (_, own) in enumerate(problem.parts) if problem.places[group.conditions[0].column] in own)
        for group in card.groups
    ]
    return hand_of_parts(card, items, problem.y, weight, part, [name for name, _ in problem.parts])
