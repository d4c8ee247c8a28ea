"""Tables of rows, whatever library they come from, as named numpy columns.

Arrays and mappings need numpy alone; data frames of any library go through narwhals.
"""

from __future__ import annotations

import difflib
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


class Columns:
    """Named columns of one table. An array has no names: give `names`, or its columns are called x0, x1, ..."""

    def __init__(self, X: Any, names: Sequence[str] | None = None) -> None:
        self._named = True
        if isinstance(X, Mapping):
            self._read_mapping(X)
        elif isinstance(X, np.ndarray | Sequence):
            self._read_array(_as_array(X), names)
        else:
            self._read_frame(X)
        twice = [name for name, times in Counter(self.names).items() if times > 1]
        if twice:
            raise ValueError(f"column {twice[0]!r} appears twice in the table; rename one of them")

    def _read_mapping(self, X: Mapping[str, Any]) -> None:
        columns = {name: np.atleast_1d(_as_array(values)) for name, values in X.items()}
        self.names = list(columns)
        lengths = {len(column) for column in columns.values()} or {0}
        if len(lengths) > 1:
            raise ValueError(f"columns must be equally long, got lengths {sorted(lengths)}")
        self.rows = lengths.pop()
        self._get = columns.__getitem__

    def _read_array(self, X: NDArray[Any], names: Sequence[str] | None) -> None:
        if X.ndim != 2:
            raise ValueError(f"expected a table of rows and columns, got {X.ndim} dimension(s); for one row, [row]")
        self.names = [f"x{i}" for i in range(X.shape[1])] if names is None else list(names)
        if len(self.names) != X.shape[1]:
            raise ValueError(f"the array has {X.shape[1]} columns, but {len(self.names)} names were given")
        place = {name: i for i, name in enumerate(self.names)}
        self.rows = X.shape[0]
        self._get = lambda name: X[:, place[name]]
        self._named = names is not None

    def _read_frame(self, X: Any) -> None:
        import narwhals as nw

        try:
            frame = nw.from_native(X, eager_only=True)
        except TypeError:
            raise TypeError(
                f"expected a data frame, an array or a mapping of names to columns, got {type(X).__name__}"
            ) from None
        self.names = list(frame.columns)
        self.rows = len(frame)
        self._get = lambda name: _from_series(frame.get_column(name))

    def require(self, features: Sequence[str]) -> None:
        """Refuse a table that lacks one of the features."""
        lacking = [feature for feature in features if feature not in set(self.names)]
        if not lacking:
            return
        listed = ", ".join(repr(name) for name in lacking[:10])
        if not self._named:
            raise ValueError(
                f"the array's columns have no names, so {listed} cannot be found; pass columns=[...] or a data frame"
            )
        close = difflib.get_close_matches(lacking[0], [str(name) for name in self.names], n=1)
        hint = f"did you mean {close[0]!r}?" if close else f"the table has {_shortened(self.names)}"
        raise ValueError(f"missing column{'s' if len(lacking) > 1 else ''} {listed}; {hint}")

    def numbers(self, name: str) -> NDArray[np.float64]:
        """Return a column as floats, missing values as NaN."""
        column = self._get(name)
        if column.dtype == np.float64:
            return column
        if column.dtype.kind in "fiub":
            return column.astype(np.float64)
        values = column.tolist()
        for row, value in enumerate(values):
            if not (_is_missing(value) or isinstance(value, int | float)):
                raise ValueError(
                    f"column {name!r}, row {row}: {value!r} is not a number; turn the column into numbers or give its "
                    "leaf a table of categories"
                )
        return np.array([np.nan if _is_missing(value) else float(value) for value in values])

    def categories(self, name: str) -> NDArray[np.object_]:
        """Return a column as Python objects, missing values as None."""
        values = self._get(name).tolist()
        column = np.empty(len(values), dtype=object)
        column[:] = [None if _is_missing(value) else value for value in values]
        return column


def _as_array(values: Any) -> NDArray[Any]:
    """Return an array; values of several kinds stay what they are instead of all becoming text."""
    array = np.asarray(values)
    return array if array.dtype.kind in "fiubO" else np.asarray(values, dtype=object)


def _from_series(series: Any) -> NDArray[Any]:
    """Numbers and truth values as floats; anything else as objects, with None where the library has its own null."""
    import narwhals as nw

    if series.dtype.is_numeric() or series.dtype == nw.Boolean:
        return np.asarray(series.cast(nw.Float64).to_numpy(), dtype=np.float64)
    null = series.is_null().to_list()
    column = np.empty(len(null), dtype=object)
    column[:] = [None if unknown else value for value, unknown in zip(series.to_list(), null, strict=True)]
    return column


def _is_missing(value: Any) -> bool:
    return value is None or (isinstance(value, float) and value != value)


def _shortened(names: Sequence[Any]) -> str:
    return ", ".join(repr(name) for name in names[:10]) + (f" and {len(names) - 10} more" if len(names) > 10 else "")
