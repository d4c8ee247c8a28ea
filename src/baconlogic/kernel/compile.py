"""How this library compiles: one decorator, and a guard against stale machine code."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar, cast

import numba

F = TypeVar("F", bound=Callable[..., Any])

SHARED = (
    "core/gcd.py",
    "kernel/elementary.py",
    "kernel/loops.py",
    "kernel/loss.py",
    "kernel/sinkhorn.py",
)  # their compiled code ends up in that of other files


def compiled(*, reassociate: bool, inner: bool = False) -> Callable[[F], F]:
    """Return the decorator for loops over rows: cached on disk, free of the GIL, numpy's rules for division.

    Sums over rows vectorise only when they may be reassociated; code that must see 0, infinities and NaN must not be.
    What is `inner` can be called from compiled code alone: to unpack Python's arguments takes longer to compile than
    most loops do. It becomes part of what calls it. Were it called by name, the copy that runs, and how its sums are
    rounded, would depend on what else the process has loaded; so would the tree.
    """
    flags = True if reassociate else {"nsz", "contract", "arcp"}
    options: Any = {"no_cfunc_wrapper": True, "no_cpython_wrapper": inner, "forceinline": True, "cache": not inner}
    return cast("Callable[[F], F]", numba.njit(nogil=True, error_model="numpy", fastmath=flags, **options))


@contextlib.contextmanager
def interruptible() -> Iterator[None]:
    """Let Ctrl-C that falls into compiled code come out as KeyboardInterrupt; numba reports it as a SystemError."""
    try:
        yield
    except SystemError as problem:
        if isinstance(problem.__cause__ or problem.__context__, KeyboardInterrupt):
            raise KeyboardInterrupt from None
        raise


def _forget_stale_code() -> None:
    """Drop cached machine code older than a file whose functions it may contain; numba looks at the caller's file only.

    This is for people who edit the library: an installation replaces all files at once. A cache elsewhere
    (NUMBA_CACHE_DIR) is not swept.
    """
    here = Path(__file__).parent.parent
    newest = max((here / name).stat().st_mtime for name in SHARED)
    for index in here.rglob("*.nbi"):
        with contextlib.suppress(OSError):  # installed read-only, or gone already
            if index.stat().st_mtime < newest:
                index.unlink()


_forget_stale_code()
