"""A sign of life while fitting: scikit-learn's callbacks where it has them, and rich when asked for by `verbose`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

try:
    from sklearn.callback import CallbackSupportMixin, with_callbacks
except ImportError:  # scikit-learn before 1.9

    class CallbackSupportMixin:  # type: ignore[no-redef]
        """Nothing to support."""

    def with_callbacks(method: Any) -> Any:
        """Return the method as it is."""
        return method


if TYPE_CHECKING:
    from types import TracebackType

__all__ = ["CallbackSupportMixin", "Progress", "with_callbacks"]


class Progress:
    """Counts finished pieces of work and tells whoever wants to know."""

    def __init__(self, estimator: Any, X: Any, y: Any, *, verbose: bool) -> None:
        self._estimator, self._data = estimator, {"X": X, "y": y}
        self._bar: Any = _rich() if verbose else None
        self._task: Any = None
        self._context: Any = None

    def __enter__(self) -> Self:
        if hasattr(self._estimator, "_init_callback_context"):
            self._context = self._estimator._init_callback_context(max_subtasks=None)
            self._context.call_on_fit_task_begin(estimator=self._estimator, **self._data)
        if self._bar is not None:
            self._bar.start()
            self._task = self._bar.add_task("search", total=None)
        return self

    def expect(self, pieces: int) -> None:
        """Say how many pieces of work there are in all."""
        if self._bar is not None:
            self._bar.update(self._task, total=pieces)

    def done(self, what: str) -> bool:
        """Say that a piece is done; True when a callback asks to stop."""
        if self._bar is not None:
            self._bar.update(self._task, advance=1, description=what)
        if self._context is None:
            return False
        piece = self._context.subcontext(task_name=what)
        piece.call_on_fit_task_begin(estimator=self._estimator, **self._data)
        return bool(piece.call_on_fit_task_end(estimator=self._estimator, **self._data))

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar is not None:
            self._bar.stop()
        if self._context is not None and kind is None:
            self._context.call_on_fit_task_end(estimator=self._estimator, **self._data)


def _rich() -> Any:
    try:
        from rich.progress import Progress as Bar
    except ImportError:
        raise ImportError("verbose=True shows progress with rich; pip install 'baconlogic[progress]'") from None
    return Bar(transient=True)
