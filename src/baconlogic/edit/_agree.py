"""Whether two trees over the same leaves say the same, on a sample of leaf truths."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from baconlogic.core.evaluate import combined
from baconlogic.core.nodes import Leaf, flatten, negations

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from baconlogic.core.nodes import Node

    Floats = NDArray[np.float64]

POINTS = 200  # of each kind; INSIDE times as many anywhere between 0 and 1
INSIDE = 6
NEAREST = 3.0  # digits: how near to 0 and 1 others come


def agree(one: Node, other: Node, within: float) -> bool:
    """Whether no truth differs by more over a sample: truths inside, at 0 and 1, and near these.

    The leaves of both stand in the same order; one that is negated in one tree only is mirrored in the other.
    """
    first, second = (negations(flatten(root)) for root in (one, other))
    signs = [[sign[i] for i, (node, _) in enumerate(flatten(root)) if isinstance(node, Leaf)]
             for root, sign in ((one, first), (other, second))]  # fmt: skip
    truths = sample(len(signs[0]))
    mirrored = np.where((np.array(signs[0]) != np.array(signs[1]))[:, None], 1.0 - truths, truths)
    return bool(np.max(np.abs(_root(one, truths) - _root(other, mirrored))) <= within)


def sample(leaves: int) -> Floats:
    """Return truths of leaves, (leaves, points)."""
    rng = np.random.default_rng(0)
    inside, corners = rng.random((leaves, INSIDE * POINTS)), rng.integers(0, 2, (leaves, POINTS)).astype(float)
    near = np.abs(rng.integers(0, 2, (leaves, POINTS)) - 10.0 ** -rng.uniform(0.0, NEAREST, (leaves, POINTS)))
    high = 1.0 - 10.0 ** -rng.uniform(1.0, NEAREST, (leaves, POINTS))
    return np.hstack([inside, corners, near, high, 1.0 - high])


def _root(root: Node, truths: Floats) -> Floats:
    found: list[Floats] = []
    leaves = iter(truths)
    for node, below in flatten(root):
        found.append(next(leaves) if isinstance(node, Leaf) else combined(node, [found[i] for i in below]))
        for i in below:
            found[i] = found[i][:0]  # a long chain would otherwise keep them all
    return found[-1]
