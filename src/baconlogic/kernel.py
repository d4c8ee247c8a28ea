"""Loss and gradient over a flattened binary tree, compiled.

Nodes are numbered leaves first: leaf i is node i, gate j is node m + j and comes after its children, the root is last.
The parameters of m leaves and g = m - 1 gates are one vector of length 4m, in their natural units:

    slope[m] | centre[m] | weight[g] (of the left input; 1 - weight of the right) | andness[g] | steepness, threshold

Leaf:  truth = sigmoid(slope (raw - centre)), or the raw value itself when criteria are fixed.
Link:  p = sigmoid(steepness (z - threshold)) of the root's truth z, or p = z as in the paper.
Loss:  amplifier * (sum_i sample_weight_i * cross-entropy(p_i, y_i) + penalty * mean_j (weight_j - 1/2)^2).

Each node keeps its truth x turned to its parent's side (1 - truth under a disjunction), the complement 1 - x and log x,
all to full precision, so nothing is clipped on the way: only fixed truths of exactly 0 and 1 are read as EPS away.
Gradients are carried as dL/dlog x. They stay bounded where dL/dx does not, and a hard gate under a gate of the same
side passes its logarithm on as it is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numba
import numpy as np

from baconlogic import gcd, loops
from baconlogic.elementary import compiled
from baconlogic.loops import Work

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]
    Bools = NDArray[np.bool_]

SHORT_OF_DRASTIC = 1e-4  # the drastic ends have no slope: andness stays this far inside while learning
BLOCK = 1024  # rows: long enough for the loops to pay, short enough for the cache

_coefficients = numba.njit(error_model="numpy")(gcd.coefficients)
_slopes = numba.njit(error_model="numpy")(gcd.slopes)


class Shape(NamedTuple):
    """How gates hang together: the left and right child of each, every child before its gate."""

    left: Ints
    right: Ints


class Table(NamedTuple):
    """The rows to learn from."""

    columns: Ints  # (leaves,): which feature each leaf reads
    X: Floats  # (features, rows)
    y: Floats  # (rows,), in [0, 1]
    share: Floats  # (rows,), sum 1


class Settings(NamedTuple):
    """What the loss is."""

    learned: bool  # criteria: learned, or X holds truths
    calibrated: bool  # link: sigmoid, or the truth itself
    knee: float  # of the aggregator
    penalty: float  # on unbalanced weights
    amplifier: float


@compiled(reassociate=False)
def _prepare(parameters: Floats, shape: Shape, knee: float) -> tuple[Floats, Bools]:
    """Return each gate's numbers (see `loops`), and for each node whether it is turned: the input of a disjunction."""
    n = shape.left.size
    m = n + 1
    gates = np.empty((n, 10))
    turned = np.zeros(m + n, np.bool_)
    for j in range(n - 1, -1, -1):
        andness = min(max(parameters[2 * m + n + j], gcd.LOWEST + SHORT_OF_DRASTIC), gcd.HIGHEST - SHORT_OF_DRASTIC)
        dual = andness < gcd.NEUTRAL
        side = 1.0 - andness if dual else andness
        gates[j, loops.W] = parameters[2 * m + j]
        gates[j, loops.MEAN], gates[j, loops.PRODUCT], gates[j, loops.POWER] = _coefficients(side, 2.0, knee)
        gates[j, loops.DMEAN], gates[j, loops.DPRODUCT], gates[j, loops.DPOWER] = _slopes(side, 2.0, knee)
        gates[j, loops.DUAL] = dual
        gates[j, loops.SAME] = dual == turned[m + j]
        gates[j, loops.IS_HARD] = side > gcd.HARD
        turned[shape.left[j]] = dual
        turned[shape.right[j]] = dual
    return gates, turned


@compiled(reassociate=False)
def _forward(
    parameters: Floats, shape: Shape, table: Table, start: int, stop: int, learned: bool, gates: Floats, turned: Bools,
    work: Work,
) -> None:  # fmt: skip
    m = table.columns.size
    for i in range(m):
        raw = table.X[table.columns[i], start:stop]
        if learned:
            loops.leaf_forward(raw, -parameters[i] if turned[i] else parameters[i], parameters[m + i], work, i)
        else:
            loops.given_forward(raw, turned[i], work, i)
    for j in range(m - 1):
        loops.gate_forward(gates[j], work, shape.left[j], shape.right[j], m + j, j, stop - start)


@compiled(reassociate=False)
def _backward(
    parameters: Floats, shape: Shape, table: Table, start: int, stop: int, learned: bool, gates: Floats, turned: Bools,
    work: Work, gradient: Floats,
) -> None:  # fmt: skip
    m, size = table.columns.size, stop - start
    n = m - 1
    for j in range(n - 1, -1, -1):
        left, right = shape.left[j], shape.right[j]
        to_w, to_a = loops.gate_backward(gates[j], work, left, right, m + j, j, size)
        if parameters[2 * m + n + j] == gcd.NEUTRAL:
            to_a = loops.neutral_slope(gates[j], work, left, right, m + j, size)
        gradient[2 * m + j] += to_w
        gradient[2 * m + n + j] += -to_a if gates[j, loops.DUAL] > 0.0 else to_a
    if learned:
        for i in range(m):
            sign = -1.0 if turned[i] else 1.0
            raw = table.X[table.columns[i], start:stop]
            to_slope, to_centre = loops.leaf_backward(raw, sign * parameters[i], parameters[m + i], work, i)
            gradient[i] += sign * to_slope
            gradient[m + i] += to_centre


@compiled(reassociate=False)
def loss_gradient(
    parameters: Floats, shape: Shape, table: Table, settings: Settings, work: Work, gradient: Floats
) -> float:
    """Fill `gradient` and return the loss; goes through the rows in blocks of what `work` has room for."""
    m, rows, block = table.columns.size, table.y.size, work.x.shape[1]
    gates, turned = _prepare(parameters, shape, settings.knee)
    gradient[:] = 0.0
    loss = 0.0
    for start in range(0, rows, block):
        stop = min(start + block, rows)
        _forward(parameters, shape, table, start, stop, settings.learned, gates, turned, work)
        y, share = table.y[start:stop], table.share[start:stop]
        if settings.calibrated:
            part, to_steepness, to_threshold = loops.calibrated_link(
                y, share, settings.amplifier, parameters[4 * m - 2], parameters[4 * m - 1], work
            )
            gradient[4 * m - 2] += to_steepness
            gradient[4 * m - 1] += to_threshold
        else:
            part = loops.truth_link(y, share, settings.amplifier, work)
        loss += part
        _backward(parameters, shape, table, start, stop, settings.learned, gates, turned, work, gradient)
    for j in range(m - 1):
        away = parameters[2 * m + j] - 0.5
        loss += settings.penalty * away * away / (m - 1)
        gradient[2 * m + j] += settings.amplifier * settings.penalty * 2.0 * away / (m - 1)
    return settings.amplifier * loss


def left_chain(m: int) -> Shape:
    """Return ((x0 . x1) . x2) . ...: the paper's layout."""
    gates = np.arange(m - 1)
    return Shape(np.where(gates == 0, 0, m + gates - 1), gates + 1)


def balanced(m: int) -> Shape:
    """Return the layout that pairs neighbours, level by level; an odd one out goes up to the next level."""
    level: list[int] = list(range(m))
    pairs: list[tuple[int, int]] = []
    while len(level) > 1:
        here = list(zip(level[::2], level[1::2], strict=False))
        level = [*range(m + len(pairs), m + len(pairs) + len(here)), *level[2 * len(here) :]]
        pairs += here
    left, right = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
    return Shape(np.ascontiguousarray(left), np.ascontiguousarray(right))


def room(leaves: int, rows: int) -> Work:
    """Return a workspace; each thread needs its own."""
    x, c, logs, d = (np.empty((2 * leaves - 1, rows)) for _ in range(4))
    return Work(x, c, logs, d, np.empty((leaves - 1, rows)))


class Signals(NamedTuple):
    """What every node says and how the loss depends on it, each (nodes, rows); leaves first, root last."""

    truths: Floats
    slopes: Floats  # dL/dtruth


class Objective:
    """The loss of one tree shape on one table: checks its arguments, keeps a workspace. Use one a thread.

    `X` is (features, rows) and finite; with `learned=False` it holds truths. `columns` says which feature each leaf
    reads, `y` may be soft, `sample_weight` is scaled to sum 1.
    """

    def __init__(
        self,
        shape: Shape,
        columns: ArrayLike,
        X: ArrayLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        *,
        learned: bool = True,
        calibrated: bool = True,
        aggregator: gcd.Aggregator = gcd.gcd,
        penalty: float = 0.0,
        amplifier: float = 1.0,
    ) -> None:
        target = np.ascontiguousarray(y, dtype=np.float64)
        share = np.ones(len(target)) if sample_weight is None else np.array(sample_weight, dtype=np.float64)
        if not np.isfinite(share).all() or (share < 0.0).any() or share.sum() <= 0.0:
            raise ValueError("sample weights must be finite, not negative and not all 0")
        self.shape = Shape(*(np.ascontiguousarray(side, dtype=np.int64) for side in shape))
        self.table = Table(
            np.ascontiguousarray(columns, dtype=np.int64),
            np.ascontiguousarray(X, dtype=np.float64),
            target,
            share / share.sum(),
        )
        self.settings = Settings(learned, calibrated, aggregator.knee, float(penalty), float(amplifier))
        self._check()
        self._work = room(len(self.table.columns), min(BLOCK, len(target)))

    def _check(self) -> None:
        columns, X, y, share = self.table
        left, right = self.shape
        m = len(columns)
        if sorted([*left, *right]) != list(range(2 * m - 2)) or (np.maximum(left, right) >= m + np.arange(m - 1)).any():
            raise ValueError(f"the shape must join {m} leaves by {m - 1} gates, each node once and before its gate")
        if X.ndim != 2 or X.shape[1] != len(y) or len(share) != len(y):
            raise ValueError(
                f"X must be (features, rows) with a target and a weight a row, got {X.shape}, {len(y)} rows"
            )
        if m == 0 or columns.min() < 0 or columns.max() >= len(X):
            raise ValueError(f"columns must name one of {len(X)} features for each leaf")
        if not np.isfinite(X).all() or not ((y >= 0.0) & (y <= 1.0)).all():
            raise ValueError("X must be finite and y in [0, 1]")
        if not self.settings.learned and not ((X >= 0.0) & (X <= 1.0)).all():
            raise ValueError("with fixed criteria X must hold truths in [0, 1]")

    def __call__(self, parameters: Floats) -> tuple[float, Floats]:
        """Return the loss and its gradient."""
        gradient = np.empty(4 * len(self.table.columns))
        if parameters.shape != gradient.shape:
            raise ValueError(f"expected {len(gradient)} parameters, got {parameters.shape}")
        return loss_gradient(parameters, self.shape, self.table, self.settings, self._work, gradient), gradient

    def signals(self, parameters: Floats) -> Signals:
        """Return each node's truths and the loss's slopes in them, for every row at once."""
        work = room(len(self.table.columns), len(self.table.y))
        loss_gradient(parameters, self.shape, self.table, self.settings, work, np.empty_like(parameters))
        _, turned = _prepare(parameters, self.shape, self.settings.knee)
        sign = np.where(turned, -1.0, 1.0)[:, None]
        return Signals(np.where(turned[:, None], work.c, work.x), sign * work.d / np.maximum(work.x, loops.TINY))
