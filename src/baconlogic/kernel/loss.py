"""Loss and gradient over a flattened binary tree, compiled.

Nodes are numbered leaves first: leaf i is node i, gate j is node m + j and comes after its children, the root is last.
The parameters of m leaves and g = m - 1 gates are one vector of length 5m, in their natural units (see `Parameters`):

    slope[m] | centre[m] | missing[m] | weight[g] | andness[g] | steepness, threshold

Leaf:  truth = sigmoid(slope (raw - centre)), sigmoid(missing) where the raw value is missing, or the raw value itself
       when its criterion is fixed.
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

from baconlogic.core import gcd
from baconlogic.kernel import loops
from baconlogic.kernel.compile import compiled
from baconlogic.kernel.loops import Work

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]
    Bools = NDArray[np.bool_]

BLOCK = 1024  # rows: long enough for the loops to pay, short enough for the cache

_coefficients = numba.njit(error_model="numpy")(gcd.coefficients)
_slopes = numba.njit(error_model="numpy")(gcd.slopes)


class Shape(NamedTuple):
    """How gates hang together: the left and right child of each, every child before its gate."""

    left: Ints
    right: Ints


class Parameters(NamedTuple):
    """The parts of one parameter vector, or of its gradient; views, so that writing to them writes to it."""

    slope: Floats  # (leaves,)
    centre: Floats
    missing: Floats
    weight: Floats  # (gates,), of the left input; the right one has the rest
    andness: Floats
    link: Floats  # (2,): steepness, threshold


class Data(NamedTuple):
    """The rows to learn from."""

    columns: Ints  # (leaves,): which feature each leaf reads
    learned: Bools  # (leaves,): whether its criterion is learned; if not, the feature holds truths
    X: Floats  # (features, rows); MISSING where a value is
    y: Floats  # (rows,), in [0, 1]
    share: Floats  # (rows,), sum 1


class Settings(NamedTuple):
    """What the loss is."""

    calibrated: bool  # link: sigmoid, or the truth itself
    knee: float  # of the aggregator
    penalty: float  # on unbalanced weights
    amplifier: float


@compiled(reassociate=False)
def parts(vector: Floats) -> Parameters:
    """Return the parts of a parameter vector."""
    m = vector.size // 5
    n = m - 1
    slope, centre, missing = vector[:m], vector[m : 2 * m], vector[2 * m : 3 * m]
    return Parameters(slope, centre, missing, vector[3 * m : 3 * m + n], vector[3 * m + n : -2], vector[-2:])


@compiled(reassociate=False)
def prepare(p: Parameters, shape: Shape, knee: float) -> tuple[Floats, Bools]:
    """Return each gate's numbers (see `loops`), and for each node whether it is turned: the input of a disjunction."""
    m, n = p.slope.size, p.weight.size
    gates = np.empty((n, 10))
    turned = np.zeros(m + n, np.bool_)
    for j in range(n - 1, -1, -1):
        low, high = gcd.LOWEST + gcd.SHORT_OF_DRASTIC, gcd.HIGHEST - gcd.SHORT_OF_DRASTIC
        andness = min(max(p.andness[j], low), high)
        dual = andness < gcd.NEUTRAL
        side = 1.0 - andness if dual else andness
        gates[j, loops.W] = p.weight[j]
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
    p: Parameters, shape: Shape, data: Data, start: int, stop: int, gates: Floats, turned: Bools, work: Work
) -> None:
    m = data.columns.size
    for i in range(m):
        raw = data.X[data.columns[i], start:stop]
        if data.learned[i]:
            sign = -1.0 if turned[i] else 1.0
            loops.leaf_forward(raw, sign * p.slope[i], p.centre[i], sign * p.missing[i], work, i)
        else:
            loops.given_forward(raw, turned[i], work, i)
    for j in range(m - 1):
        loops.gate_forward(gates[j], work, shape.left[j], shape.right[j], m + j, j, stop - start)


@compiled(reassociate=False)
def _backward(
    p: Parameters, shape: Shape, data: Data, start: int, stop: int, gates: Floats, turned: Bools, work: Work,
    slope_in: Parameters,
) -> None:  # fmt: skip
    m, size = data.columns.size, stop - start
    for j in range(m - 2, -1, -1):
        left, right = shape.left[j], shape.right[j]
        to_weight, to_andness = loops.gate_backward(gates[j], work, left, right, m + j, j, size)
        if p.andness[j] == gcd.NEUTRAL:
            to_andness = loops.neutral_slope(gates[j], work, left, right, m + j, size)
        slope_in.weight[j] += to_weight
        slope_in.andness[j] += -to_andness if gates[j, loops.DUAL] > 0.0 else to_andness
    for i in range(m):
        if data.learned[i]:
            sign = -1.0 if turned[i] else 1.0
            raw = data.X[data.columns[i], start:stop]
            to_slope, to_centre, to_missing = loops.leaf_backward(raw, sign * p.slope[i], p.centre[i], work, i)
            slope_in.slope[i] += sign * to_slope
            slope_in.centre[i] += to_centre
            slope_in.missing[i] += sign * to_missing


@compiled(reassociate=False)
def loss_gradient(
    parameters: Floats, shape: Shape, data: Data, settings: Settings, work: Work, gradient: Floats
) -> float:
    """Fill `gradient` and return the loss; goes through the rows in blocks of what `work` has room for."""
    rows, block, gate_count = data.y.size, work.x.shape[1], shape.left.size
    p, slope_in = parts(parameters), parts(gradient)
    gates, turned = prepare(p, shape, settings.knee)
    gradient[:] = 0.0
    loss = 0.0
    for start in range(0, rows, block):
        stop = min(start + block, rows)
        _forward(p, shape, data, start, stop, gates, turned, work)
        y, share = data.y[start:stop], data.share[start:stop]
        if settings.calibrated:
            part, to_steepness, to_threshold = loops.calibrated_link(
                y, share, settings.amplifier, p.link[0], p.link[1], work
            )
            slope_in.link[0] += to_steepness
            slope_in.link[1] += to_threshold
        else:
            part = loops.truth_link(y, share, settings.amplifier, work)
        loss += part
        _backward(p, shape, data, start, stop, gates, turned, work, slope_in)
    for j in range(gate_count):
        away = p.weight[j] - 0.5
        loss += settings.penalty * away * away / gate_count
        slope_in.weight[j] += settings.amplifier * settings.penalty * 2.0 * away / gate_count
    return settings.amplifier * loss


def node_truths(parameters: Floats, shape: Shape, data: Data, knee: float) -> Floats:
    """Return what every node says, (nodes, rows); leaves first, root last."""
    work = room(len(data.columns), len(data.y))
    p = parts(parameters)
    gates, turned = prepare(p, shape, knee)
    _forward(p, shape, data, 0, len(data.y), gates, turned, work)
    return np.where(turned[:, None], work.c, work.x)


def root_truths(parameters: Floats, shape: Shape, data: Data, knee: float) -> Floats:
    """Return what the root says, row by row, in blocks."""
    found = np.empty(len(data.y))
    work = room(len(data.columns), min(BLOCK, len(found)))
    _root_truths(parts(parameters), shape, data, knee, work, found)
    return found


@compiled(reassociate=False)
def _root_truths(p: Parameters, shape: Shape, data: Data, knee: float, work: Work, found: Floats) -> None:
    gates, turned = prepare(p, shape, knee)
    block = work.x.shape[1]
    for start in range(0, found.size, block):
        stop = min(start + block, found.size)
        _forward(p, shape, data, start, stop, gates, turned, work)
        found[start:stop] = work.x[-1, : stop - start]  # the root is never turned


def size(m: int) -> int:
    """Return the length of the parameter vector of m leaves."""
    return 5 * m


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
    """Loss and gradient, and what every node says and how the loss depends on it; leaves first, root last."""

    loss: float
    gradient: Floats
    truths: Floats  # (nodes, rows)
    slopes: Floats  # (nodes, rows): dL/dtruth


class Objective:
    """The loss of one tree shape on one table: checks its arguments, keeps a workspace. Use one a thread.

    `X` is (features, rows) and finite, `loops.MISSING` where a value is missing. `columns` says which feature each leaf
    reads; `learned`, for all or for each leaf, whether its criterion is learned or its feature holds truths. `y` may be
    soft, `sample_weight` is scaled to sum 1.
    """

    def __init__(
        self,
        shape: Shape,
        columns: ArrayLike,
        X: ArrayLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        *,
        learned: ArrayLike = True,
        calibrated: bool = True,
        aggregator: gcd.Aggregator = gcd.gcd,
        penalty: float = 0.0,
        amplifier: float = 1.0,
    ) -> None:
        target, leaves = np.ascontiguousarray(y, dtype=np.float64), np.ascontiguousarray(columns, dtype=np.int64)
        if target.ndim != 1 or target.size == 0:
            raise ValueError(f"y must be one column of at least one row, got shape {target.shape}")
        share = np.ones(len(target)) if sample_weight is None else np.array(sample_weight, dtype=np.float64)
        if not np.isfinite(share).all() or (share < 0.0).any() or share.sum() <= 0.0:
            raise ValueError("sample weights must be finite, not negative and not all 0")
        which = np.array(np.broadcast_to(np.asarray(learned, dtype=bool), leaves.shape))
        self.shape = Shape(*(np.ascontiguousarray(side, dtype=np.int64) for side in shape))
        self.data = Data(leaves, which, np.ascontiguousarray(X, dtype=np.float64), target, share / share.sum())
        self.settings = Settings(calibrated, aggregator.knee, float(penalty), float(amplifier))
        self._check()
        self._work = room(len(leaves), min(BLOCK, len(target)))

    def _check(self) -> None:
        columns, learned, X, y, share = self.data
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
        fixed = X[columns[~learned]]
        if not ((fixed >= 0.0) & (fixed <= 1.0)).all():
            raise ValueError("the features of leaves with fixed criteria must hold truths in [0, 1]")

    def __call__(self, parameters: Floats) -> tuple[float, Floats]:
        """Return the loss and its gradient."""
        return self._run(parameters, self._work)

    def _run(self, parameters: Floats, work: Work) -> tuple[float, Floats]:
        gradient = np.empty(size(len(self.data.columns)))
        if parameters.shape != gradient.shape:
            raise ValueError(f"expected {len(gradient)} parameters, got {parameters.shape}")
        return loss_gradient(parameters, self.shape, self.data, self.settings, work, gradient), gradient

    def signals(self, parameters: Floats) -> Signals:
        """Return loss and gradient with each node's truths and the loss's slopes in them, for every row at once."""
        work = room(len(self.data.columns), len(self.data.y))
        loss, gradient = self._run(parameters, work)
        _, turned = prepare(parts(parameters), self.shape, self.settings.knee)
        truths = np.where(turned[:, None], work.c, work.x)
        slopes = np.where(turned, -1.0, 1.0)[:, None] * work.d / np.maximum(work.x, loops.TINY)
        return Signals(loss, gradient, truths, slopes)
