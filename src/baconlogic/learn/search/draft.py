"""Draft: a tree being learned, as the flat arrays the kernel works on; and the moves from one draft to the next."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from baconlogic.core import Floats, Ints
from baconlogic.core.nodes import Node
from baconlogic.kernel.loss import Parameters, Topology, left_chain, parts, topology

STEEPNESS, THRESHOLD = LINK = 8.0, 0.5  # of a link to start from
CRISP = 7.0  # slope times distance from the centre where a crisp leaf is within 1e-3 of false or true


class Literal(NamedTuple):
    """A leaf to put into a draft: what it reads and its criterion's parameters, in the units of the column.

    On a column of codes it has a logit for each category instead of slope and centre.
    """

    column: int
    slope: float = 1.0
    centre: float = 0.0
    missing: float = 0.0
    table: Sequence[float] = ()


class Draft(NamedTuple):
    """A tree: its shape, the column each leaf reads, and the kernel's parameter vector."""

    shape: Topology
    columns: Ints  # (leaves,)
    tables: Ints  # (leaves + 1,): where the logits of each leaf begin
    parameters: Floats
    loss: float = np.nan  # penalised, where it was worked out
    typed: Node | None = None  # the tree whose leaves and gates these are, in the order of `flatten`

    @property
    def leaves(self) -> int:
        """The number of leaves."""
        return len(self.columns)

    @property
    def parts(self) -> Parameters:
        """The parameter vector by name."""
        return parts(self.parameters, self.shape)

    @property
    def literals(self) -> list[Literal]:
        """Its leaves."""
        p, ends = self.parts, self.tables.tolist()
        tables = [p.table[start:end].tolist() for start, end in pairwise(ends)]
        return [*map(Literal, self.columns.tolist(), p.slope.tolist(), p.centre.tolist(), p.missing.tolist(), tables)]

    @property
    def weights(self) -> list[Floats]:
        """The weights of each gate."""
        return self.shape.by_gate(self.parts.weight)


def join(
    shape: Topology, leaves: Sequence[Literal], weight: ArrayLike, andness: ArrayLike, link: ArrayLike = LINK
) -> Draft:
    """Return the draft that joins leaves by the gates of a shape; `weight` is that of each of `shape.inputs`."""
    columns, *criteria, tables = zip(*leaves, strict=True)
    logits = [logit for table in tables for logit in table]
    values = np.concatenate([np.array(part, dtype=float) for part in (*criteria, logits, weight, andness, link)])
    ends = np.cumsum([0, *(len(table) for table in tables)])
    return Draft(shape, np.array(columns, dtype=np.int64), ends.astype(np.int64), values)


def single(leaf: Literal, link: ArrayLike = LINK) -> Draft:
    """Return the tree of one leaf."""
    return join(left_chain(1), [leaf], (), (), link)


def chain(leaves: Sequence[Literal], weight: ArrayLike, andness: ArrayLike, link: ArrayLike = LINK) -> Draft:
    """Return the left chain of some leaves; `weight` is that of what came before each newcomer."""
    before = np.asarray(weight, dtype=float)
    return join(left_chain(len(leaves)), leaves, np.stack([before, 1.0 - before], axis=-1).ravel(), andness, link)


def insert(draft: Draft, node: int, leaf: Literal, weight: float, andness: float) -> Draft:
    """Return the draft with a new gate above `node` that joins it, with `weight`, to a new leaf."""
    m, p = draft.leaves, draft.parts
    place = 0 if node < m else node - m + 1  # of the new gate: right after its input
    gate = m + 1 + place

    def moved(old: int) -> int:
        return old if old < m else old + 1 + (old - m >= place)

    gates = [[gate if k == node else moved(k) for k in inputs] for inputs in draft.shape.gates]
    gates.insert(place, [moved(node), m])
    weights = draft.weights
    weights.insert(place, np.array([weight, 1.0 - weight]))
    return join(topology(gates), [*draft.literals, leaf], _flat(weights), np.insert(p.andness, place, andness), p.link)


def remove(draft: Draft, leaf: int) -> Draft:
    """Return the draft without a leaf; the last input that a gate is left with takes the gate's place."""
    m, p = draft.leaves, draft.parts
    gates, weights = [inputs.tolist() for inputs in draft.shape.gates], draft.weights
    gate = next(j for j, inputs in enumerate(gates) if leaf in inputs)
    gone, stand_in = -1, -1
    if len(gates[gate]) == 2:
        gone, stand_in = m + gate, sum(gates[gate]) - leaf
        del gates[gate], weights[gate]
    else:
        place = gates[gate].index(leaf)
        del gates[gate][place]
        left = np.delete(weights[gate], place)
        weights[gate] = left / left.sum()

    def moved(old: int) -> int:
        old = stand_in if old == gone else old
        return old - (old > leaf) - (gone >= 0 and old > gone)

    shape = topology([[moved(k) for k in inputs] for inputs in gates])
    literals = draft.literals
    del literals[leaf]
    andness = p.andness if gone < 0 else np.delete(p.andness, gate)
    return join(shape, literals, _flat(weights), andness, p.link)


def replace(draft: Draft, place: int, leaf: Literal) -> Draft:
    """Return the draft with another leaf in the place of one."""
    literals, p = draft.literals, draft.parts
    typed = draft.typed if literals[place].column == leaf.column else None
    literals[place] = leaf
    return join(draft.shape, literals, p.weight, p.andness, p.link)._replace(typed=typed)


def _flat(weights: Sequence[Floats]) -> Floats:
    return np.concatenate([*weights, np.empty(0)])
