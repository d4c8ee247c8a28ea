"""How long something takes, on a machine that others use too."""

from __future__ import annotations

import time
from collections.abc import Callable


def best_seconds(run: Callable[[], object], budget: float) -> float:
    """Return the shortest of several runs: the noise of a shared machine only ever adds."""
    run()
    taken, spent = [], 0.0
    while spent < budget or len(taken) < 3:
        start = time.perf_counter()
        run()
        taken.append(time.perf_counter() - start)
        spent += taken[-1]
    return min(taken)
