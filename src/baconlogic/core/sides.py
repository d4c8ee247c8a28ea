"""Truth and falsity: which of the two must be known of each node for the answer to be precise.

A truth near 1 has lost the digits in which its falsity, 1 - truth, differs from 0, and a disjunction works on those:
"almost surely not, but for one chance in 10**20" is a difference to the gates above. So where it matters the falsity
is worked out beside the truth, both to full precision, and never taken as 1 - truth.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

from baconlogic.core.nodes import Gate, Node, Not

if TYPE_CHECKING:
    from collections.abc import Sequence


class Sides(NamedTuple):
    """Whether a node's truth and its falsity are needed."""

    truth: bool
    falsity: bool

    def turned(self) -> Sides:
        """Swap the two, as a negation does."""
        return Sides(self.falsity, self.truth)

    def __or__(self, other: object) -> Sides:
        return Sides(self.truth or other.truth, self.falsity or other.falsity) if isinstance(other, Sides) else self


def needed(order: Sequence[tuple[Node, tuple[int, ...]]], *, every_truth: bool = False) -> list[Sides]:
    """Return what is needed of each node of `flatten` to know the truth of the root, or of every node."""
    found = [Sides(every_truth, falsity=False)] * len(order)
    found[-1] = Sides(truth=True, falsity=False)
    for position in range(len(order) - 1, -1, -1):
        node, children = order[position]
        for child in children:
            found[child] |= below(node, found[position])
    return found


def below(node: Node, own: Sides) -> Sides:
    """Return what a node needs of each input to know its own sides."""
    if isinstance(node, Not):
        return own.turned()
    if not isinstance(node, Gate):
        return own
    dual, _, product, power = node.coefficients
    combined, rest = own.turned() if dual else own  # a disjunction combines falsities
    if math.isinf(power):
        found = Sides(truth=False, falsity=True)  # only what is fully true counts: where falsity is 0
    elif product > 0.0 and rest:
        found = Sides(truth=True, falsity=True)
    else:
        found = Sides(combined, rest)
    return found.turned() if dual else found
