"""The loss, written a second time: as the paper states it, in 200 digits, one row at a time. For tests only."""

from __future__ import annotations

import mpmath as mp

EPS = mp.mpf("1e-9")  # fixed truths of 0 and 1 are read this far away
DIGITS = 200


def gcd2(x, y, w, a, *, exact=False):
    """GCD_2 as printed in section 3.1; `exact` holds the exponent at its value for 3/4 in the soft range."""
    if a < mp.mpf("0.5"):
        return 1 - gcd2(1 - x, 1 - y, w, 1 - a, exact=exact)
    if a == 2:
        return mp.mpf(x == 1 and y == 1)
    power = mp.sqrt(3 / (2 - (max(a, mp.mpf("0.75")) if exact else a))) - 1
    product = (x ** (2 * w) * y ** (2 * (1 - w))) ** power
    if a >= mp.mpf("0.75"):
        return product
    return (3 - 4 * a) * (w * x + (1 - w) * y) + (4 * a - 2) * product


def loss(p, shape, columns, X, y, share, *, learned, calibrated, exact, penalty, amplifier):
    m = len(columns)
    slope, centre, missing = p[:m], p[m : 2 * m], p[2 * m : 3 * m]
    weight, andness = p[3 * m : 4 * m - 1], p[4 * m - 1 : 5 * m - 2]
    total = mp.mpf(0)
    for row in range(len(y)):
        raw = [mp.mpf(float(X[c][row])) for c in columns]
        if learned:
            score = [u if r > 1e50 else s * (r - c) for r, s, c, u in zip(raw, slope, centre, missing, strict=True)]
            z = [1 / (1 + mp.exp(-u)) for u in score]
        else:
            z = [min(max(r, EPS), 1 - EPS) for r in raw]
        for j, (a, b) in enumerate(zip(*shape, strict=True)):
            z.append(gcd2(z[int(a)], z[int(b)], weight[j], andness[j], exact=exact))
        target = mp.mpf(float(y[row]))
        prob = 1 / (1 + mp.exp(-p[-2] * (z[-1] - p[-1]))) if calibrated else z[-1]
        total -= mp.mpf(float(share[row])) * (target * mp.log(prob) + (1 - target) * mp.log(1 - prob))
    if m > 1:
        total += penalty * sum((w - mp.mpf("0.5")) ** 2 for w in weight) / (m - 1)
    return amplifier * total


def gradient(p, *arguments, **settings):
    """Central differences with a step of 1e-60: free of curvature, and at a joint the mean of both sides."""
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
