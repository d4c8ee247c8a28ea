"""Ctrl-C: a model that is learned keeps the best tree found so far."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Iterator
from typing import Any

from baconlogic.cli import _print as printing


class Stop:
    """A callback of scikit-learn that asks a fit to stop once Ctrl-C was pressed."""

    def __init__(self) -> None:
        self.wanted = False

    def setup(self, estimator: Any, context: Any) -> None:
        """Nothing to prepare."""

    def teardown(self, estimator: Any, context: Any) -> None:
        """Nothing to tidy up."""

    def on_fit_task_begin(self, estimator: Any, context: Any, **rest: Any) -> None:
        """Nothing to note."""

    def on_fit_task_end(self, estimator: Any, context: Any, **rest: Any) -> bool:  # noqa: ARG002
        """Return whether to stop."""
        return self.wanted

    def __call__(self, number: int, frame: Any) -> None:
        """Take Ctrl-C: the first one as a wish, the second as an order."""
        if self.wanted:
            signal.default_int_handler(number, frame)
        self.wanted = True
        printing.note("stopping after this step, with the best tree found so far; Ctrl-C again ends at once")


@contextlib.contextmanager
def stoppable(clf: Any) -> Iterator[Stop]:
    """Let Ctrl-C end the fit of a classifier early; where scikit-learn has no callbacks, `fit` alone sees to it."""
    stop = Stop()
    if threading.current_thread() is not threading.main_thread() or not hasattr(clf, "set_callbacks"):
        yield stop
        return
    clf.set_callbacks(stop)
    before = signal.signal(signal.SIGINT, stop)
    try:
        yield stop
    finally:
        signal.signal(signal.SIGINT, before)
