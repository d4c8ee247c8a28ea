"""Soft permutations: Gumbel-Sinkhorn in log space with its own way back, and the hard permutation nearest to one.

Logits A become an almost doubly stochastic matrix by normalising columns and rows in turn, in log space:

    A <- A - log sum_i exp(A_ij)          each column sums to 1
    A <- A - log sum_j exp(A_ij)          each row sums to 1

so after any number of iterations rows sum to 1 exactly: what a row reads is a true average of the features. Each
normalisation is a softmax S of its column or row, kept on the way; the way back through it is g <- g - S sum(g).
Divided by a temperature that goes to 0, A tends to the permutation that `harden` finds.
"""

from __future__ import annotations

import numpy as np
from scipy.optimize import linear_sum_assignment

from baconlogic.core import Floats, Ints
from baconlogic.kernel.compile import compiled
from baconlogic.kernel.elementary import exp, log


@compiled(reassociate=True)
def add_gumbel(logits: Floats, scale: float, temperature: float, rng: np.random.Generator, out: Floats) -> None:
    """Put (logits + scale * g) / temperature into `out`, g standard Gumbel: -log of a standard exponential number."""
    n, m = logits.shape
    if scale > 0.0:
        for i in range(n):
            for j in range(m):
                out[i, j] = rng.standard_exponential()
        for i in range(n):
            row = out[i]
            for j in range(m):
                row[j] = (logits[i, j] - scale * log(max(row[j], 1e-300))) / temperature
    else:
        for i in range(n):
            for j in range(m):
                out[i, j] = logits[i, j] / temperature


@compiled(reassociate=True, inner=True)
def _columns(a: Floats, top: Floats, total: Floats, soft: Floats) -> None:
    """Normalise each column of `a` in place; `soft` gets its exponentials. Goes by rows, which makes vector code."""
    n = a.shape[0]
    top[:] = a[0]
    for i in range(1, n):
        row = a[i]
        for j in range(n):
            top[j] = max(top[j], row[j])
    total[:] = 0.0
    for i in range(n):
        row, out = a[i], soft[i]
        for j in range(n):
            out[j] = exp(row[j] - top[j])
            total[j] += out[j]
    for j in range(n):
        top[j] += log(total[j])
        total[j] = 1.0 / total[j]
    for i in range(n):
        row, out = a[i], soft[i]
        for j in range(n):
            row[j] -= top[j]
            out[j] *= total[j]


@compiled(reassociate=True, inner=True)
def _rows(a: Floats, soft: Floats) -> None:
    """Normalise each row of `a` in place; `soft` gets its exponentials."""
    n = a.shape[0]
    for i in range(n):
        row, out = a[i], soft[i]
        top = row[0]
        for j in range(1, n):
            top = max(top, row[j])
        total = 0.0
        for j in range(n):
            out[j] = exp(row[j] - top)
            total += out[j]
        top += log(total)
        for j in range(n):
            row[j] -= top
            out[j] /= total


@compiled(reassociate=False)
def sinkhorn(logits: Floats, softs: Floats) -> Floats:
    """Return the matrix of `logits`, which are overwritten; `softs`, (2 * iterations, n, n), keeps the way there.

    The last of `softs` is the matrix itself.
    """
    top, total = np.empty(len(logits)), np.empty(len(logits))
    for k in range(0, len(softs), 2):
        _columns(logits, top, total, softs[k])
        _rows(logits, softs[k + 1])
    matrix: Floats = softs[-1]
    return matrix


@compiled(reassociate=True, inner=True)
def _columns_backward(slope: Floats, soft: Floats, total: Floats) -> None:
    n = len(slope)
    total[:] = 0.0
    for i in range(n):
        for j in range(n):
            total[j] += slope[i, j]
    for i in range(n):
        for j in range(n):
            slope[i, j] -= soft[i, j] * total[j]


@compiled(reassociate=True, inner=True)
def _rows_backward(slope: Floats, soft: Floats) -> None:
    n = len(slope)
    for i in range(n):
        total = 0.0
        for j in range(n):
            total += slope[i, j]
        for j in range(n):
            slope[i, j] -= soft[i, j] * total


@compiled(reassociate=False)
def sinkhorn_backward(slope: Floats, softs: Floats) -> None:
    """Turn dL/dmatrix into dL/dlogits, in place; `softs` as `sinkhorn` left it."""
    total = np.empty(len(slope))
    slope *= softs[-1]  # from dL/dmatrix to dL/dlog
    for k in range(len(softs) - 2, -1, -2):
        _rows_backward(slope, softs[k + 1])
        _columns_backward(slope, softs[k], total)


def harden(logits: Floats) -> Ints:
    """Return the permutation with the largest sum of logits (Hungarian): row i reads column order[i].

    Normalising adds the same number to a whole row or column, so logits and soft matrix have the same answer.
    """
    return np.asarray(linear_sum_assignment(logits, maximize=True)[1], dtype=np.int64)
