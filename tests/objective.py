"""The loss of one tree on one table as a function of its parameters: what tests ask of the kernel."""

from typing import NamedTuple

import numpy as np

from baconlogic.core import gcd
from baconlogic.kernel import loops
from baconlogic.kernel.loss import BLOCK, Batch, Settings, Topology, loss_gradient, prepare, size, workspace


class Signals(NamedTuple):
    """Loss and gradient, and what every node says and how the loss depends on it; leaves first, root last."""

    loss: float
    gradient: np.ndarray
    truths: np.ndarray  # (nodes, rows)
    slopes: np.ndarray  # (nodes, rows): dL/dtruth


class Objective:
    """`X` is (features, rows); `learned`, for all or for each leaf, whether its criterion is; weights are scaled."""

    def __init__(
        self, shape, columns, X, y, sample_weight=None, *, learned=True, calibrated=True, aggregator=gcd.gcd,
        penalty=0.0, amplifier=1.0,
    ):  # fmt: skip
        y, columns = np.ascontiguousarray(y, dtype=float), np.ascontiguousarray(columns, dtype=np.int64)
        share = np.ones(len(y)) if sample_weight is None else np.array(sample_weight, dtype=float)
        which = np.array(np.broadcast_to(np.asarray(learned, dtype=bool), columns.shape))
        self.shape = Topology(*(np.ascontiguousarray(side, dtype=np.int64) for side in shape))
        self.batch = Batch(columns, which, np.ascontiguousarray(X, dtype=float), y, share / share.sum())
        self.settings = Settings(calibrated, aggregator.knee, float(penalty), float(amplifier))
        self.work = workspace(len(columns), min(BLOCK, len(y)))

    def __call__(self, parameters):
        """Return the loss and its gradient."""
        return self._run(parameters, self.work)

    def _run(self, parameters, work):
        gradient = np.empty(size(len(self.batch.columns)))
        return loss_gradient(parameters, self.shape, self.batch, self.settings, work, gradient), gradient

    def signals(self, parameters):
        """Return loss and gradient with each node's truths and the loss's slopes in them, for every row at once."""
        work = workspace(len(self.batch.columns), len(self.batch.y))
        loss, gradient = self._run(parameters, work)
        turned = prepare(parameters, self.shape, self.settings.knee).turned
        truths = np.where(turned[:, None], work.c, work.x)
        slopes = np.where(turned, -1.0, 1.0)[:, None] * work.d / np.maximum(work.x, loops.TINY)
        return Signals(loss, gradient, truths, slopes)


def joins_each_once(shape, leaves):
    """Whether a shape joins so many leaves: each node is an input once, of a gate that comes after it."""
    left, right = shape
    later = (np.maximum(left, right) < leaves + np.arange(leaves - 1)).all()
    return bool(later and sorted([*left, *right]) == list(range(2 * leaves - 2)))
