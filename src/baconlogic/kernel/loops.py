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

# The numbers of one gate of n inputs: (mean, product, n * power) and their slopes in andness, and three flags: whether
# it is a disjunction, whether its parent is of the same side, whether it is hard (all product).
MEAN, PRODUCT, POWER, DMEAN, DPRODUCT, DPOWER, DUAL, SAME, IS_HARD = range(9)


@compiled(reassociate=False, inner=True)
def _log_of(x: float, c: float) -> float:
    """Return log(x), given also c = 1 - x, which is precise where x has been rounded to nearly 1."""
    return log(max(x, TINY)) + ((1.0 - x) - c)


@compiled(reassociate=True, inner=True)
def dot(x: Floats, y: Floats) -> float:
    """Return the sum of products."""
    total = 0.0
    for i in range(x.size):
        total += x[i] * y[i]
    return total


class Workspace(NamedTuple):
    """Arrays for a block of rows, by node: the turned truth, its complement, its log, dL/dlog; and products by gate."""

    x: Floats  # (nodes, rows), as the next three
    c: Floats
    logs: Floats
    d: Floats
    products: Floats  # (gates, rows)
    scratch: Floats  # (3, rows), for the gate at hand
    slopes: Floats  # (leaves, all rows), filled with dL/dtruth; or (0, 0) where nobody asks for it


@compiled(reassociate=True, inner=True)
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


@compiled(reassociate=True, inner=True)
def given_forward(raw: Floats, turned: bool, work: Workspace, node: int) -> None:
    """Take the raw values as truths, at least EPS away from 0 and 1."""
    x, c, logs = work.x[node], work.c[node], work.logs[node]
    for i in range(raw.size):
        truth, rest = min(max(raw[i], EPS), 1.0 - EPS), min(max(1.0 - raw[i], EPS), 1.0 - EPS)
        x[i] = rest if turned else truth
        c[i] = truth if turned else rest
        logs[i] = _log_of(x[i], c[i])


@compiled(reassociate=True, inner=True)
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


@compiled(reassociate=False, inner=True)
def table_forward(raw: Floats, logits: Floats, missing: float, sign: float, work: Workspace, node: int) -> None:
    """Truth of a category, whose code is the raw value: the sigmoid of its logit; `sign` is -1 of a turned leaf."""
    x, c, logs, known = work.x[node], work.c[node], work.logs[node], logits.size
    found = np.empty((3, known + 1))
    for k in range(known + 1):
        u = sign * (logits[k] if k < known else missing)
        e = exp(-abs(u))
        large = 1.0 / (1.0 + e)
        found[0, k] = large if u > 0.0 else e * large
        found[1, k] = e * large if u > 0.0 else large
        found[2, k] = min(u, 0.0) - log_of_one_plus(e)
    for i in range(raw.size):
        k = int(raw[i]) if raw[i] < KNOWN_BELOW else known
        x[i], c[i], logs[i] = found[0, k], found[1, k], found[2, k]


@compiled(reassociate=False, inner=True)
def table_backward(raw: Floats, sign: float, work: Workspace, node: int, to_logits: Floats) -> float:
    """Add dL/dlogit to that of each category; return dL/dmissing."""
    c, d, to_missing = work.c[node], work.d[node], 0.0
    for i in range(raw.size):
        step = sign * d[i] * c[i]
        if raw[i] < KNOWN_BELOW:
            to_logits[int(raw[i])] += step
        else:
            to_missing += step
    return to_missing


@compiled(reassociate=True, inner=True)
def truth_slopes(turned: bool, work: Workspace, node: int, out: Floats) -> None:
    """Put dL/dtruth of a leaf into `out`: from dL/dlog x, where x is the truth or, turned, its complement."""
    x, d = work.x[node], work.d[node]
    sign = -1.0 if turned else 1.0
    for i in range(out.size):
        out[i] = sign * d[i] / max(x[i], TINY)


@compiled(reassociate=True, inner=True)
def _sum_up(weights: Floats, inputs: Ints, power: float, work: Workspace, size: int) -> None:
    """Put into the scratch rows what all inputs but the last come to: mean truth, mean complement, log of product."""
    total, rest, logs = work.scratch[0], work.scratch[1], work.scratch[2]
    total[:size], rest[:size], logs[:size] = 0.0, 0.0, 0.0
    for k in range(inputs.size - 1):
        x, c, lx = work.x[inputs[k]], work.c[inputs[k]], work.logs[inputs[k]]
        weight, exponent = weights[k], power * weights[k]
        for i in range(size):
            total[i] += weight * x[i]
            rest[i] += weight * c[i]
            logs[i] += exponent * lx[i]


@compiled(reassociate=True, inner=True)
def gate_forward(g: Floats, weights: Floats, inputs: Ints, work: Workspace, node: int, size: int) -> None:
    """Truth of a gate from its inputs, which are turned to its side, turned on to the side of its parent.

    More than two inputs are summed up to two, so that a gate of two takes one passage.
    """
    first, last, w, v = inputs[0], inputs[-1], weights[0], weights[-1]
    x, cx, lx = work.x[first], work.c[first], work.logs[first]
    y, cy, ly = work.x[last], work.c[last], work.logs[last]
    z, cz, lz = work.x[node], work.c[node], work.logs[node]
    products = work.products[node - work.x.shape[0] + work.products.shape[0]]
    mean, product, ex, ey = g[MEAN], g[PRODUCT], g[POWER] * w, g[POWER] * v
    if inputs.size > 2:
        _sum_up(weights, inputs, g[POWER], work, size)
        x, cx, lx, w, ex = work.scratch[0], work.scratch[1], work.scratch[2], 1.0, 1.0
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


@compiled(reassociate=True, inner=True)
def _hard_input(step: Floats, logs: Floats, exponent: float, d: Floats) -> float:
    """Hand dL/dlog on to one input of a product; return how the loss changes with its exponent."""
    total = 0.0
    for i in range(step.size):
        total += step[i] * logs[i]
        d[i] = step[i] * exponent
    return total


@compiled(reassociate=True, inner=True)
def _soft_input(
    step: Floats, part: Floats, work: Workspace, node: int, weight: float, exponent: float
) -> tuple[float, float]:
    """Hand dL/dlog on to one input of a mixture; return how the loss changes with its part of mean and product."""
    x, logs, d = work.x[node], work.logs[node], work.d[node]
    to_mean, to_product = 0.0, 0.0
    for i in range(step.size):
        mean = step[i] * x[i]
        to_mean += mean
        to_product += part[i] * logs[i]
        d[i] = exponent * part[i] + weight * mean
    return to_mean, to_product


@compiled(reassociate=True, inner=True)
def gate_backward(
    g: Floats, weights: Floats, inputs: Ints, work: Workspace, node: int, size: int, to_weights: Floats
) -> float:
    """Hand dL/dlog on to the inputs, add up dL/dweight of each; return dL/dandness of the gate's own side."""
    z, cz, d = work.x[node], work.c[node], work.d[node][:size]
    step, part = work.scratch[0][:size], work.scratch[1][:size]
    products = work.products[node - work.x.shape[0] + work.products.shape[0]]
    mean, product, power = g[MEAN], g[PRODUCT], g[POWER]
    dmean, dproduct, dpower = float(g[DMEAN]), float(g[DPRODUCT]), float(g[DPOWER])
    to_power, to_mean, to_product = 0.0, 0.0, 0.0
    if g[IS_HARD] > 0.0:
        if g[SAME] == 0.0:
            for i in range(size):
                step[i] = -d[i] * cz[i] / max(z[i], TINY)  # from dL/dlog(1 - product) to dL/dlog(product)
            d = step
        for k in range(inputs.size):
            total = _hard_input(d, work.logs[inputs[k]], power * weights[k], work.d[inputs[k]])
            to_weights[k] += power * total
            to_power += weights[k] * total
        return dpower * to_power
    sign = 1.0 if g[SAME] > 0.0 else -1.0
    for i in range(size):
        step[i] = sign * d[i] / max(z[i], TINY)
        to_product += step[i] * products[i]
        part[i] = product * step[i] * products[i]
    for k in range(inputs.size):
        in_mean, in_logs = _soft_input(step, part, work, inputs[k], mean * weights[k], power * weights[k])
        to_weights[k] += mean * in_mean + power * in_logs
        to_mean += weights[k] * in_mean
        to_power += weights[k] * in_logs
    return dmean * to_mean + dproduct * to_product + dpower * to_power


@compiled(reassociate=True, inner=True)
def neutral_slope(g: Floats, weights: Floats, inputs: Ints, work: Workspace, node: int, size: int) -> float:
    """Return dL/dandness at exactly 1/2, where conjunction and disjunction meet: the mean of both sides."""
    z, d, logs = work.x[node], work.d[node], work.scratch[2]
    products = work.products[node - work.x.shape[0] + work.products.shape[0]]
    half = 0.5 * (g[DPRODUCT] if g[SAME] > 0.0 else -g[DPRODUCT])
    logs[:size] = 0.0
    for k in range(inputs.size):
        c, exponent = work.c[inputs[k]], g[POWER] * weights[k]
        for i in range(size):
            logs[i] += exponent * log(max(c[i], TINY))
    total = 0.0
    for i in range(size):
        total += half * d[i] / max(z[i], TINY) * (products[i] + exp(logs[i]) - 1.0)  # the two means sum to 1
    return total


@compiled(reassociate=True, inner=True)
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


@compiled(reassociate=True, inner=True)
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


@compiled(reassociate=False, inner=True)
def _add_one(x: Floats, weight: float, exponent: float, total: Floats, logs: Floats) -> None:
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
        _add_one(x[below[j]], weight, below.size * weight * gate.power, out, logs)
    for i in range(out.size):
        known = exp(logs[i])
        out[i] = min(gate.mean * out[i] + gate.product * (known if logs[i] > -FAR else 0.0), 1.0)


@compiled(reassociate=False, inner=True)
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
