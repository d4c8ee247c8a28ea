"""The loss of one tree on one table as a function of its parameters: what tests ask of the kernel."""

from typing import NamedTuple

import numpy as np

from baconlogic.core import gcd
from baconlogic.kernel import loops
from baconlogic.kernel.loss import BLOCK, Batch, Settings, loss_gradient, prepare, workspace


class Signals(NamedTuple):
    """Loss and gradient, and what every node says and how the loss depends on it; leaves first, root last."""

    loss: float
    gradient: np.ndarray
    truths: np.ndarray  # (nodes, rows)
    slopes: np.ndarray  # (nodes, rows): dL/dtruth


class Objective:
    """`X` is (features, rows); `learned`, for all or for each leaf, whether its criterion is; weights are scaled.

    `categories`: of each leaf, how many its column holds codes of; 0 for a column of numbers or truths.
    """

    def __init__(
        self, shape, columns, X, y, sample_weight=None, *, learned=True, calibrated=True, aggregator=gcd.gcd,
        penalty=0.0, amplifier=1.0, categories=None,
    ):  # fmt: skip
        y, columns = np.ascontiguousarray(y, dtype=float), np.ascontiguousarray(columns, dtype=np.int64)
        share = np.ones(len(y)) if sample_weight is None else np.array(sample_weight, dtype=float)
        which = np.array(np.broadcast_to(np.asarray(learned, dtype=bool), columns.shape))
        self.shape = shape
        counts = np.zeros(len(columns), dtype=int) if categories is None else categories
        tables = np.cumsum(np.r_[0, counts]).astype(np.int64)
        self.batch = Batch(columns, which, tables, np.ascontiguousarray(X, dtype=float), y, share / share.sum())
        self.settings = Settings(calibrated, aggregator.knee, float(penalty), float(amplifier))
        self.work = workspace(shape, min(BLOCK, len(y)))

    def __call__(self, parameters):
        """Return the loss and its gradient."""
        return self._run(parameters, self.work)

    def _run(self, parameters, work):
        gradient = np.empty_like(parameters)
        return loss_gradient(parameters, self.shape, self.batch, self.settings, work, gradient), gradient

    def signals(self, parameters):
        """Return loss and gradient with each node's truths and the loss's slopes in them, for every row at once."""
        rows = len(self.batch.y)
        work = workspace(self.shape, rows, (len(self.batch.columns), rows))
        loss, gradient = self._run(parameters, work)
        turned = prepare(parameters, self.shape, self.settings.knee).turned
        truths = np.where(turned[:, None], work.c, work.x)
        slopes = np.where(turned, -1.0, 1.0)[:, None] * work.d / np.maximum(work.x, loops.TINY)
        assert np.allclose(slopes[: len(work.slopes)], work.slopes, rtol=1e-12, atol=0.0)
        return Signals(loss, gradient, truths, slopes)


def joins_each_once(shape, leaves):
    """Whether a shape joins so many leaves: each node is an input once, of a gate that comes after it."""
    later = all(max(inputs) < leaves + j for j, inputs in enumerate(shape.gates))
    return bool(later and sorted(shape.inputs) == list(range(leaves + len(shape.gates) - 1)))
