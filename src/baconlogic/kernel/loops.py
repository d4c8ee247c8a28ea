"""The compiled loops over rows: leaves, gates and links, forward and backward; and the steps of evaluation.

Each loop is kept simple enough for the compiler to turn it into vector code: no branch inside, no call but `exp` and
`log` of `elementary`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from baconlogic.core import Floats, Ints, gcd
from baconlogic.core.gcd import FAR, LEAST
from baconlogic.kernel.compile import compiled
from baconlogic.kernel.elementary import exp, exp_pair, log, log_of_one_plus

EPS = gcd.EPS
TINY = 1e-300  # a guard against log(0) and division by 0
SMALLEST = 2.3e-308  # about the smallest normal number
FARTHEST = 1e100  # a leaf's slope times distance stays below, so that no sum overflows
MISSING = 1e60  # stands for a missing raw value: compiled code cannot see NaN
KNOWN_BELOW = 0.5 * MISSING  # what is not below is missing

# The numbers of one gate: its weight, (mean, product, power) and their slopes in andness, and three flags: whether it
# is a disjunction, whether its parent is of the same side, whether it is hard (all product).
W, MEAN, PRODUCT, POWER, DMEAN, DPRODUCT, DPOWER, DUAL, SAME, IS_HARD = range(10)


@compiled(reassociate=False)
def _log_of(x: float, c: float) -> float:
    """Return log(x), given also c = 1 - x, which is precise where x has been rounded to nearly 1."""
    return log(max(x, TINY)) + ((1.0 - x) - c)


class Workspace(NamedTuple):
    """Arrays for a block of rows, by node: the turned truth, its complement, its log, dL/dlog; and products by gate."""

    x: Floats  # (nodes, rows), as the next three
    c: Floats
    logs: Floats
    d: Floats
    products: Floats  # (gates, rows)


@compiled(reassociate=True)
def leaf_forward(raw: Floats, slope: float, centre: float, missing: float, work: Workspace, node: int) -> None:
    """Truth of a sigmoid, with its complement and log; a turned leaf comes with slope and missing negated."""
    x, c, logs = work.x[node], work.c[node], work.logs[node]
    for i in range(raw.size):
        known = min(max(slope * (raw[i] - centre), -FARTHEST), FARTHEST)
        u = known if raw[i] < KNOWN_BELOW else missing
        e = exp(-abs(u))
        large = 1.0 / (1.0 + e)
        small = e * large
        x[i] = large if u > 0.0 else small
        c[i] = small if u > 0.0 else large
        logs[i] = min(u, 0.0) - log_of_one_plus(e)


@compiled(reassociate=True)
def given_forward(raw: Floats, turned: bool, work: Workspace, node: int) -> None:
    """Take the raw values as truths, at least EPS away from 0 and 1."""
    x, c, logs = work.x[node], work.c[node], work.logs[node]
    for i in range(raw.size):
        truth, rest = min(max(raw[i], EPS), 1.0 - EPS), min(max(1.0 - raw[i], EPS), 1.0 - EPS)
        x[i] = rest if turned else truth
        c[i] = truth if turned else rest
        logs[i] = _log_of(x[i], c[i])


@compiled(reassociate=True)
def leaf_backward(raw: Floats, slope: float, centre: float, work: Workspace, node: int) -> tuple[float, float, float]:
    """Return dL/dslope, dL/dcentre and dL/dmissing."""
    c, d = work.c[node], work.d[node]
    to_slope, to_centre, to_missing = 0.0, 0.0, 0.0
    for i in range(raw.size):
        step = d[i] * c[i]
        known = step if raw[i] < KNOWN_BELOW else 0.0
        to_slope += known * (raw[i] - centre)
        to_centre += known
        to_missing += step - known
    return to_slope, -slope * to_centre, to_missing


@compiled(reassociate=True)
def gate_forward(g: Floats, work: Workspace, left: int, right: int, node: int, gate: int, size: int) -> None:
    """Truth of a gate from its two inputs, which are turned to its side, turned on to the side of its parent."""
    x, cx, lx = work.x[left], work.c[left], work.logs[left]
    y, cy, ly = work.x[right], work.c[right], work.logs[right]
    z, cz, lz, products = work.x[node], work.c[node], work.logs[node], work.products[gate]
    w, v, mean, product = g[W], 1.0 - g[W], g[MEAN], g[PRODUCT]
    ex, ey = 2.0 * g[POWER] * w, 2.0 * g[POWER] * v
    if g[IS_HARD] > 0.0 and g[SAME] > 0.0:
        for i in range(size):
            lz[i] = ex * lx[i] + ey * ly[i]
            z[i], cz[i] = exp_pair(lz[i])
    elif g[IS_HARD] > 0.0:
        for i in range(size):
            cz[i], z[i] = exp_pair(ex * lx[i] + ey * ly[i])
            lz[i] = _log_of(z[i], cz[i])
    else:
        for i in range(size):
            products[i], rest = exp_pair(ex * lx[i] + ey * ly[i])
            true = mean * (w * x[i] + v * y[i]) + product * products[i]
            false = mean * (w * cx[i] + v * cy[i]) + product * rest
            z[i] = true if g[SAME] > 0.0 else false
            cz[i] = false if g[SAME] > 0.0 else true
            lz[i] = _log_of(z[i], cz[i])


@compiled(reassociate=True)
def _hard_backward(
    d: Floats, w: float, power: float, lx: Floats, ly: Floats, dx: Floats, dy: Floats
) -> tuple[float, float]:
    ex, ey = power * w, power * (1.0 - w)
    to_w, to_a = 0.0, 0.0
    for i in range(d.size):
        to_w += d[i] * (lx[i] - ly[i])
        to_a += d[i] * (w * lx[i] + (1.0 - w) * ly[i])
        dx[i] = d[i] * ex
        dy[i] = d[i] * ey
    return to_w, to_a


@compiled(reassociate=True)
def gate_backward(
    g: Floats, work: Workspace, left: int, right: int, node: int, gate: int, size: int
) -> tuple[float, float]:
    """Hand dL/dlog on to the inputs; return dL/dweight and dL/dandness of the gate's own side."""
    x, lx, dx = work.x[left], work.logs[left], work.d[left]
    y, ly, dy = work.x[right], work.logs[right], work.d[right]
    z, cz, d, products = work.x[node], work.c[node], work.d[node], work.products[gate]
    w, v, mean, product, power = g[W], 1.0 - g[W], g[MEAN], g[PRODUCT], 2.0 * g[POWER]
    dmean, dproduct, dpower = g[DMEAN], g[DPRODUCT], 2.0 * g[DPOWER]
    ex, ey = power * w, power * v
    to_w, to_a = 0.0, 0.0
    if g[IS_HARD] > 0.0 and g[SAME] > 0.0:
        to_w, to_a = _hard_backward(d[:size], w, power, lx, ly, dx, dy)
        return power * to_w, dpower * to_a
    if g[IS_HARD] > 0.0:
        for i in range(size):
            products[i] = -d[i] * cz[i] / max(z[i], TINY)  # from dL/dlog(1 - product) to dL/dlog(product)
        to_w, to_a = _hard_backward(products[:size], w, power, lx, ly, dx, dy)
        return power * to_w, dpower * to_a
    sign = 1.0 if g[SAME] > 0.0 else -1.0
    for i in range(size):
        step = sign * d[i] / max(z[i], TINY)
        p = product * products[i]
        to_w += step * (mean * (x[i] - y[i]) + power * p * (lx[i] - ly[i]))
        to_a += step * (dmean * (w * x[i] + v * y[i]) + dproduct * products[i] + dpower * p * (w * lx[i] + v * ly[i]))
        dx[i] = step * (p * ex + mean * w * x[i])
        dy[i] = step * (p * ey + mean * v * y[i])
    return to_w, to_a


@compiled(reassociate=True)
def neutral_slope(g: Floats, work: Workspace, left: int, right: int, node: int, size: int) -> float:
    """Return dL/dandness at exactly 1/2, where conjunction and disjunction meet: the mean of both sides."""
    lx, cx, ly, cy = work.logs[left], work.c[left], work.logs[right], work.c[right]
    z, d = work.x[node], work.d[node]
    ex, ey = 2.0 * g[POWER] * g[W], 2.0 * g[POWER] * (1.0 - g[W])
    half = 0.5 * (g[DPRODUCT] if g[SAME] > 0.0 else -g[DPRODUCT])
    total = 0.0
    for i in range(size):
        dual = exp(ex * log(max(cx[i], TINY)) + ey * log(max(cy[i], TINY)))
        total += half * d[i] / max(z[i], TINY) * (exp(ex * lx[i] + ey * ly[i]) + dual - 1.0)  # the two means sum to 1
    return total


@compiled(reassociate=True)
def calibrated_link(
    y: Floats, share: Floats, amplifier: float, steepness: float, threshold: float, work: Workspace
) -> tuple[float, float, float]:
    """Cross-entropy of sigmoid(steepness (z - threshold)), its slopes in both; starts the way back at the root."""
    z, d = work.x[-1], work.d[-1]
    loss, to_steepness, to_threshold = 0.0, 0.0, 0.0
    for i in range(y.size):
        u = steepness * (z[i] - threshold)
        e = exp(-abs(u))
        p = (1.0 if u > 0.0 else e) / (1.0 + e)
        loss += share[i] * (log_of_one_plus(e) + max(u, 0.0) - y[i] * u)
        step = amplifier * share[i] * (p - y[i])
        to_steepness += step * (z[i] - threshold)
        to_threshold -= step * steepness
        d[i] = step * steepness * z[i]
    return loss, to_steepness, to_threshold


@compiled(reassociate=True)
def truth_link(y: Floats, share: Floats, amplifier: float, work: Workspace) -> float:
    """Cross-entropy of the root's truth itself; starts the way back at the root."""
    z, c, logs, d = work.x[-1], work.c[-1], work.logs[-1], work.d[-1]
    loss = 0.0
    for i in range(y.size):
        loss -= share[i] * (y[i] * logs[i] + (1.0 - y[i]) * log(max(c[i], TINY)))
        d[i] = amplifier * share[i] * ((1.0 - y[i]) * z[i] / max(c[i], TINY) - y[i])
    return loss


@compiled(reassociate=False)
def sigmoid(raw: Floats, centre: float, slope: float, out: Floats) -> bool:
    """Do what `criteria.Sigmoid.known` does; return whether a value is missing, whose truth is then still open."""
    missing = 0
    for i in range(raw.size):
        u = slope * (raw[i] - centre)
        truth = 1.0 / (1.0 + exp(-u))  # worked out in any case: a branch would stop the vector loop
        out[i] = truth if u > -FAR else 0.0
        missing += raw[i] != raw[i]
    return missing > 0


@compiled(reassociate=False)
def ramp(raw: Floats, values: Floats, truths: Floats, out: Floats) -> bool:
    """Do what `criteria.Ramp.known` does; return whether a value is missing, whose truth is then still open."""
    missing = 0
    last = values.size - 1
    lowest, highest = truths.min(), truths.max()
    out[:] = truths[last]
    for k in range(last - 1, -1, -1):  # from the right: each segment overwrites what lies left of its end
        start, end, low = values[k], values[k + 1], min(truths[k], truths[k + 1])
        slope = (truths[k + 1] - truths[k]) / (end - start)
        anchor = start if truths[k] <= truths[k + 1] else end
        for i in range(raw.size):
            line = low + slope * (max(raw[i], start) - anchor)
            out[i] = line if raw[i] < end else out[i]
    for i in range(raw.size):
        out[i] = min(max(out[i], lowest), highest)
        missing += raw[i] != raw[i]
    return missing > 0


@compiled(reassociate=False)
def _add_input(x: Floats, weight: float, exponent: float, total: Floats, logs: Floats) -> None:
    for i in range(x.size):
        known = log(max(x[i], SMALLEST))
        total[i] += weight * x[i]
        logs[i] += exponent * (known if x[i] > LEAST else -np.inf)


@compiled(reassociate=False)
def combine(x: Floats, below: Ints, weights: Floats, gate: gcd.Coefficients, out: Floats, logs: Floats) -> None:
    """Put into `out` what the conjunctive side of a gate that is not drastic makes of `x[below]`."""
    out[:] = 0.0
    logs[:] = 0.0
    for j in range(below.size):
        weight = weights[j, 0]
        _add_input(x[below[j]], weight, below.size * weight * gate.power, out, logs)
    for i in range(out.size):
        known = exp(logs[i])
        out[i] = min(gate.mean * out[i] + gate.product * (known if logs[i] > -FAR else 0.0), 1.0)


@compiled(reassociate=False)
def _add_both(
    x: Floats, rest: Floats, weight: float, exponent: float, total: Floats, others: Floats, logs: Floats
) -> None:
    for i in range(x.size):
        known = log(max(x[i], SMALLEST)) + ((1.0 - x[i]) - rest[i])
        total[i] += weight * x[i]
        others[i] += weight * rest[i]
        logs[i] += exponent * (known if x[i] > LEAST else -np.inf)


@compiled(reassociate=False)
def combine_both(
    x: Floats, rest: Floats, below: Ints, weights: Floats, gate: gcd.Coefficients, node: int, logs: Floats
) -> None:
    """Put into `x[node]` and `rest[node]` both sides of such a gate, to full precision."""
    total, others = x[node], rest[node]
    total[:], others[:], logs[:] = 0.0, 0.0, 0.0
    for j in range(below.size):
        k, weight = below[j], weights[j, 0]
        _add_both(x[k], rest[k], weight, below.size * weight * gate.power, total, others, logs)
    for i in range(logs.size):
        known, left = exp_pair(logs[i])
        some = logs[i] > -FAR
        total[i] = min(gate.mean * total[i] + gate.product * (known if some else 0.0), 1.0)
        others[i] = min(gate.mean * others[i] + gate.product * (left if some else 1.0), 1.0)
