"""Trace: one case from its raw values through truths and gates to the decision."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from baconlogic.core import gcd, notation
from baconlogic.core.answers import Label, two_probabilities
from baconlogic.core.forms import form_of, least_above, points, totals, truths_of_node
from baconlogic.core.nodes import Gate, Leaf, Node, Not, Path
from baconlogic.core.subject import Result, subject
from baconlogic.core.tree import Tree
from baconlogic.core.words import aligned, apart, degree, is_tie, listed, number, one_line, percent
from baconlogic.explain import _case as cases
from baconlogic.explain._words import counted

MATTERS = 1e-9  # an input whose extremes move a gate by less drives nothing
MOST_CALLED = 3  # features that a part without a name is called by


@dataclass(frozen=True)
class TraceStep(Result):
    """One node in one case. `driver` is the input that does most to keep a gate low, or high."""

    path: Path
    says: str
    value: Any  # the raw value of a leaf; None when missing, and of other nodes
    weight: float | None  # its share of the gate above
    truth: float
    driver: Path | None = None
    high: bool | None = None  # of a gate: whether it is above one half; of the root, above the threshold


@dataclass(frozen=True)
class Trace(Result):
    """How one case is decided: a step for every node, root first, as `Tree.walk` gives them."""

    steps: tuple[TraceStep, ...]
    truth: float
    threshold: float
    margin: float  # truth - threshold: the decision is yes where it is above 0
    decision: Label
    probability: float | None  # of yes rather than no, by the tree's link; None where there is none
    yes: Label
    tree: Tree

    def __str__(self) -> str:
        steps, nodes = {step.path: step for step in self.steps}, dict(self.tree.walk())
        table = [
            [percent(steps[path].truth), f"{line}{_here(path, steps, nodes)}"]
            for path, line in notation.drawn(self.tree.root)
        ]
        return "\n".join(["true", aligned([], table, left=[1]), "", self._closing()])

    def _closing(self) -> str:
        truth, turn = apart(self.truth, self.threshold)
        side = "above" if self.margin > 0.0 else "below"
        where = f"{number(abs(self.margin), abs(self.margin))} {side} the threshold {turn}"
        if is_tie(self.truth, self.threshold):
            where = f"exactly at the threshold {turn}" + (f", {side} it only by rounding" if self.margin else "")
        said = f"The truth is {truth}{self._counted()}, {where}"
        known = ""
        if self.probability is not None:
            chance = min(max(self.probability, 1e-12), 1.0 - 1e-12)  # a sigmoid: never quite 0 or 1
            known = f" (probability of {cases.answer(self.yes)}: {percent(chance)})"
        return f"{said}: the answer is {cases.answer(self.decision)}{known}."

    def _counted(self) -> str:
        """Say how many conditions of a checklist hold, or how many points of a scorecard there are, and are needed."""
        form, root = form_of(self.tree, self.threshold), self.tree.root
        own = points(root.weights) if form in ("checklist", "scorecard") and isinstance(root, Gate) else None
        if own is None:
            return ""
        total, what = sum(own), "" if form == "checklist" else " points"
        turn = self.threshold * total
        least = least_above(totals(own, [truths_of_node(each) for each in root.children]), turn)
        there, takes = counted(self.truth * total, turn, least, total)
        return f" ({there}{what}; it takes {takes})"


def trace(
    model: Any, row: Any, *, threshold: float | None = None, label: Any = None, columns: Sequence[str] | None = None
) -> Trace:
    """Follow one case from its raw values to the decision: what each node says, how true it is, what drives it."""
    about = subject(model, threshold, label)
    case = about.case(row, columns)
    cases.refuse_unknown(cases.unstated(case), "the case cannot be followed to a decision")
    found = about.tree.evaluate(case.rows(), nodes=True)
    truths = {path: float(truth[0]) for path, truth in found.items()}
    nodes = dict(about.tree.walk())
    steps = tuple(_step(path, nodes, case.values, truths, about.threshold) for path in nodes)
    truth, decision = truths[()], about.answer(about.decides(found[()])[0])
    chance = None if about.link is None else float(two_probabilities(about.link.score(found[()]))[0, 1])
    return Trace(steps, truth, about.threshold, truth - about.threshold, decision, chance, about.yes, about.tree)


def _step(
    path: Path, nodes: dict[Path, Node], values: Mapping[str, Any], truths: dict[Path, float], threshold: float
) -> TraceStep:
    node, above = nodes[path], nodes[path[:-1]] if path else None
    weight = above.weights[path[-1]] if isinstance(above, Gate) else None
    value = values[node.feature] if isinstance(node, Leaf) else None
    inputs = [truths[(*path, i)] for i in range(len(node.children))]
    high = truths[path] > (0.5 if path else threshold) if isinstance(node, Gate) else None
    place = _driver(node, inputs, truths[path], high=high) if isinstance(node, Gate) and high is not None else None
    driver = None if place is None else (*path, place)
    return TraceStep(path, notation.say(node), value, weight, truths[path], driver, high)


def _driver(gate: Gate, inputs: list[float], truth: float, *, high: bool) -> int | None:
    """Return the input that would sink a high gate most if it were not true, or lift a low one if fully true."""
    x = np.repeat(np.array(inputs)[:, None], len(inputs), axis=1)  # a column for each input that is changed
    np.fill_diagonal(x, 0.0 if high else 1.0)
    moves = np.abs(gcd.combine(x, np.array(gate.weights)[:, None], gate.coefficients) - truth)
    return int(np.argmax(moves)) if moves.max() > MATTERS else None


def _here(path: Path, steps: dict[Path, TraceStep], nodes: dict[Path, Node]) -> str:
    """Say what a case adds to a line of the drawing."""
    step, node = steps[path], nodes[path]
    if step.driver is not None:
        return f" <- kept {'high' if step.high else 'low'} most by {_called(nodes[step.driver])}"
    leaf, value = (node.input, steps[*path, 0].value) if isinstance(node, Not) else (node, step.value)
    if not isinstance(leaf, Leaf):
        return ""
    taken = "" if value is not None else f", taken as {degree(leaf.criterion.missing or 0.0)}"
    return f" <- {cases.raw(value, [leaf])}{taken}"


def _called(node: Node) -> str:
    """Call a node by its name, else by the features in it."""
    if node.name:
        return one_line(node.name)
    names, waiting = dict[str, None](), deque([node])
    while waiting and len(names) <= MOST_CALLED:  # the nearest first: a part can be thousands of gates deep
        each = waiting.popleft()
        waiting.extend(each.children)
        if isinstance(each, Leaf):
            names[one_line(each.feature)] = None
    called = listed([*names][:MOST_CALLED] + ["more"] * (len(names) > MOST_CALLED), "and")
    return called if len(names) == 1 else f"the part on {called}"
