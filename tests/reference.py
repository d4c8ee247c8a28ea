"""The loss, written a second time: as the paper states it, in 200 digits, one row at a time. For tests only."""

from __future__ import annotations

import mpmath as mp

EPS = mp.mpf("1e-9")  # fixed truths of 0 and 1 are read this far away
DIGITS = 200


def gcd(x, weights, a, *, exact=False):
    """GCD as `core.gcd` prints it; `exact` holds the exponent at its value for 3/4 in the soft range."""
    n = len(x)
    if a < mp.mpf("0.5"):
        return 1 - gcd([1 - value for value in x], weights, 1 - a, exact=exact)
    power = mp.root((n + 1) / (n - (n - 1) * (max(a, mp.mpf("0.75")) if exact else a)), n) - 1
    product = mp.fprod(value ** (n * w * power) for value, w in zip(x, weights, strict=True))
    if a >= mp.mpf("0.75"):
        return product
    return (3 - 4 * a) * mp.fdot(weights, x) + (4 * a - 2) * product


def loss(p, shape, columns, X, y, share, *, kinds, categories, calibrated, exact, penalty, amplifier):
    """`kinds`: of each leaf, "given", "learned" or "table"; `categories`: how many of a table."""
    m, gates = len(columns), [inputs.tolist() for inputs in shape.gates]
    slope, centre, missing = p[:m], p[m : 2 * m], p[2 * m : 3 * m]
    logits = iter(p[3 * m :])
    tables = [[next(logits) for _ in range(count)] for count in categories]
    weights = [[next(logits) for _ in inputs] for inputs in gates]
    weights = [[*own[:-1], 1 - sum(own[:-1])] for own in weights]
    andness = [next(logits) for _ in gates]
    total = mp.mpf(0)
    for row in range(len(y)):
        z = []
        for i, c in enumerate(columns):
            raw = mp.mpf(float(X[c][row]))
            if kinds[i] == "given":
                z.append(min(max(raw, EPS), 1 - EPS))
                continue
            known = raw < 1e50
            u = (
                missing[i]
                if not known
                else tables[i][int(raw)]
                if kinds[i] == "table"
                else slope[i] * (raw - centre[i])
            )
            z.append(1 / (1 + mp.exp(-u)))
        for inputs, own, a in zip(gates, weights, andness, strict=True):
            z.append(gcd([z[k] for k in inputs], own, a, exact=exact))
        target = mp.mpf(float(y[row]))
        prob = 1 / (1 + mp.exp(-p[-2] * (z[-1] - p[-1]))) if calibrated else z[-1]
        total -= mp.mpf(float(share[row])) * (target * mp.log(prob) + (1 - target) * mp.log(1 - prob))
    uneven = [sum((w - mp.mpf(1) / len(own)) ** 2 for w in own) / len(own) for own in weights]
    return amplifier * (total + (penalty * sum(uneven) / len(gates) if gates else 0))


def gradient(p, *arguments, **settings):
    """Central differences with a step of 1e-60: free of curvature, and at a joint the mean of both sides.

    A weight is moved at the cost of the last one of its gate, whose own slope is 0.
    """
    with mp.workdps(DIGITS):
        step = mp.mpf("1e-60")
        point = [mp.mpf(float(value)) for value in p]
        found = []
        for i in range(len(point)):
            up, down = list(point), list(point)
            up[i] += step
            down[i] -= step
            found.append(float((loss(up, *arguments, **settings) - loss(down, *arguments, **settings)) / (2 * step)))
        return found
