"""How long something takes, on a machine that others use too."""

from __future__ import annotations

import contextlib
import math
import multiprocessing
import resource
import signal
import sys
import time
from collections.abc import Callable
from typing import Any, NamedTuple

from threadpoolctl import threadpool_limits

PATIENCE = 20  # times the CPU seconds of a limited run: what it may take on a busy machine

Clock = Callable[[], float]
Prepare = Callable[[], tuple[Callable[[], Any], Callable[[], Any]]]  # what is timed, what then gives the value


def best_seconds(run: Callable[[], object], budget: float, clock: Clock = time.process_time) -> float:
    """Return the shortest of several runs: the noise of a shared machine only ever adds.

    CPU time by default; give `time.perf_counter` for what runs on several cores.
    """
    run()
    taken, spent = [], 0.0
    while spent < budget or len(taken) < 3:
        start = clock()
        run()
        taken.append(clock() - start)
        spent += taken[-1]
    return min(taken)


def cpu_seconds(run: Callable[[], object]) -> float:
    """Return the CPU time of this process for one run."""
    start = time.process_time()
    run()
    return time.process_time() - start


class Taken(NamedTuple):
    """What a limited run came to: its value and CPU seconds, or why there are none; peak memory of its process."""

    value: Any = None
    seconds: float | None = None
    megabytes: float | None = None
    stopped: str = ""  # "", "time" or what went wrong


def limited(prepare: Prepare, limit: float) -> Taken:
    """Run what `prepare` returns in a process of its own, which is stopped after so many CPU seconds.

    The process is a fork of this one, so what is loaded or compiled here is so there too. `prepare` returns what is
    timed and what gives the value afterwards; it and preparing are not counted. One that sleeps uses no CPU time: it is
    stopped when `PATIENCE` times the limit has passed on the wall.
    """
    context = multiprocessing.get_context("fork")
    reader, writer = context.Pipe(duplex=False)
    child = context.Process(target=_child, args=(prepare, limit, writer))
    sys.stdout.flush()
    child.start()
    writer.close()
    answer, awake = None, reader.poll(PATIENCE * limit)
    if not awake:
        child.kill()
    with contextlib.suppress(EOFError):
        answer = reader.recv()
    child.join()
    if answer is not None:
        return Taken(*answer)
    if not awake:
        return Taken(stopped=f"asleep: no answer in {PATIENCE * limit:g} s")
    over = child.exitcode == -signal.SIGXCPU
    return Taken(stopped="time" if over else f"ended with code {child.exitcode}")


def _child(prepare: Prepare, limit: float, writer: Any) -> None:
    unit = 1 if sys.platform == "darwin" else 1024  # bytes there, kilobytes here
    # one core; and a fork waits for ever for the OpenMP threads that only its parent has
    threadpool_limits(1)
    try:
        run, judge = prepare()
        _limit(time.process_time() + limit)
        seconds = cpu_seconds(run)
        megabytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 2**20
        _limit(math.inf)
        value = judge()
    except Exception as problem:  # whatever it is, it is said in the table
        writer.send((None, None, None, f"{type(problem).__name__}: {problem}"[:200]))
        return
    writer.send((value, seconds, megabytes, ""))


def _limit(seconds: float) -> None:
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    hard = resource.getrlimit(resource.RLIMIT_CPU)[1]
    resource.setrlimit(resource.RLIMIT_CPU, (hard if math.isinf(seconds) else math.ceil(seconds), hard))
