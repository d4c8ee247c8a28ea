"""Draft: a tree being learned, as the flat arrays the kernel works on; and the moves from one draft to the next."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from baconlogic.core import Floats, Ints
from baconlogic.kernel.loss import Parameters, Topology, left_chain, parts

STEEPNESS, THRESHOLD = LINK = 8.0, 0.5  # of a link to start from
CRISP = 7.0  # slope times distance from the centre where a crisp leaf is within 1e-3 of false or true


class Literal(NamedTuple):
    """A leaf to put into a draft: what it reads and its criterion's parameters, in the units of the column."""

    column: int
    slope: float
    centre: float
    missing: float = 0.0


class Draft(NamedTuple):
    """A binary tree: its shape, the column each leaf reads, and the kernel's parameter vector."""

    shape: Topology
    columns: Ints  # (leaves,)
    parameters: Floats
    loss: float = np.nan  # penalised, where it was worked out

    @property
    def leaves(self) -> int:
        """The number of leaves."""
        return len(self.columns)

    @property
    def parts(self) -> Parameters:
        """The parameter vector by name."""
        return parts(self.parameters)


def join(
    shape: Topology, leaves: Sequence[Literal], weight: ArrayLike, andness: ArrayLike, link: tuple[float, float] = LINK
) -> Draft:
    """Return the draft that joins leaves by the gates of a shape."""
    columns, *criteria = zip(*leaves, strict=True)
    values = np.r_[*(np.array(values, dtype=float) for values in (*criteria, weight, andness, link))]
    return Draft(shape, np.array(columns, dtype=np.int64), values)


def single(leaf: Literal, link: tuple[float, float] = LINK) -> Draft:
    """Return the tree of one leaf."""
    return join(left_chain(1), [leaf], (), (), link)


def chain(leaves: Sequence[Literal], weight: ArrayLike, andness: ArrayLike, link: tuple[float, float] = LINK) -> Draft:
    """Return the left chain of some leaves; `weight` is that of what came before each newcomer."""
    return join(left_chain(len(leaves)), leaves, weight, andness, link)


def insert(draft: Draft, node: int, leaf: Literal, weight: float, andness: float) -> Draft:
    """Return the draft with a new gate above `node` that joins it, with `weight`, to a new leaf."""
    m, p = draft.leaves, draft.parts
    place = 0 if node < m else node - m + 1  # of the new gate: right after its input

    def moved(old: Ints) -> Ints:
        gates = old - m
        return np.where(old < m, old, m + 1 + gates + (gates >= place))

    left, right = moved(draft.shape.left), moved(draft.shape.right)
    below, gate = int(moved(np.array([node]))[0]), m + 1 + place
    left, right = np.where(left == below, gate, left), np.where(right == below, gate, right)
    shape = Topology(np.insert(left, place, below), np.insert(right, place, m))
    criteria = (np.append(old, new) for old, new in zip(p[:3], leaf[1:], strict=True))
    values = np.r_[*criteria, np.insert(p.weight, place, weight), np.insert(p.andness, place, andness), p.link]
    return Draft(shape, np.append(draft.columns, leaf.column), values)


def remove(draft: Draft, leaf: int) -> Draft:
    """Return the draft without a leaf; the other input of its gate takes the gate's place."""
    m, p, (left, right) = draft.leaves, draft.parts, draft.shape
    gate = int(np.flatnonzero((left == leaf) | (right == leaf))[0])
    sibling = int(left[gate] + right[gate]) - leaf

    def moved(old: Ints) -> Ints:
        old = np.where(old == m + gate, sibling, old)
        gates = old - m
        return np.where(old < m, old - (old > leaf), m - 1 + gates - (gates > gate))

    shape = Topology(moved(np.delete(left, gate)), moved(np.delete(right, gate)))
    values = np.r_[*(np.delete(old, leaf) for old in p[:3]), *(np.delete(old, gate) for old in p[3:5]), p.link]
    return Draft(shape, np.delete(draft.columns, leaf), values)


def replace(draft: Draft, place: int, leaf: Literal) -> Draft:
    """Return the draft with another leaf in the place of one."""
    columns, values = draft.columns.copy(), draft.parameters.copy()
    columns[place] = leaf.column
    p = parts(values)
    p.slope[place], p.centre[place], p.missing[place] = leaf[1:]
    return Draft(draft.shape, columns, values)
