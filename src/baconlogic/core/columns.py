"""Tables of rows, whatever library they come from, as named numpy columns.

Arrays and mappings need numpy alone; data frames of any library go through narwhals.
"""

from __future__ import annotations

import contextlib
import difflib
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

PLAIN = {str, int, bool, type(None)}  # what categories are, and None where a value is missing
_PANDAS_NULLS = ("NAType", "NaTType")  # known by name, so that pandas need not be there


class Columns:
    """Named columns of one table. An array has no names: give `names`, or its columns are called x0, x1, ..."""

    def __init__(self, X: Any, names: Sequence[str] | None = None) -> None:
        self._named = True
        self._get_objects: Callable[[str], NDArray[Any]] | None = None  # when it differs from numbers: large integers
        self._orders: dict[str, tuple[Any, ...]] = {}
        if names is not None and not isinstance(X, np.ndarray | Sequence):
            raise TypeError("columns=[...] names the columns of an array; this table has names already")
        if isinstance(X, list | tuple) and X and all(isinstance(row, Mapping) for row in X):
            X = {name: [row.get(name) for row in X] for name in dict.fromkeys(key for row in X for key in row)}
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
        for name, column in columns.items():
            if column.ndim > 1:
                raise ValueError(f"column {name!r} has {column.ndim} dimensions, expected one value a row")
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
                f"expected a data frame, an array or a mapping of names to columns, got {type(X).__name__}; one row of "
                "a frame is df.iloc[[0]], a lazy frame needs collect()"
            ) from None
        except nw.exceptions.DuplicateError:
            twice = [repr(name) for name, times in Counter(getattr(X, "columns", ())).items() if times > 1]
            which = f"column {twice[0]} appears twice in the table" if twice else "two columns have the same name"
            raise ValueError(f"{which}; rename one of them") from None
        self.names = list(frame.columns)
        self.rows = len(frame)
        self._get = lambda name: _from_series(frame.get_column(name))
        self._get_objects = lambda name: _as_objects(frame.get_column(name))
        ranked = ((name, kind) for name, kind in frame.schema.items() if isinstance(kind, nw.Enum))
        self._orders = {name: tuple(kind.categories) for name, kind in ranked}

    def require(self, features: Sequence[str]) -> None:
        """Refuse a table that lacks one of the features."""
        present = set(self.names)
        lacking = [feature for feature in features if feature not in present]
        if not lacking:
            return
        listed = ", ".join(repr(name) for name in lacking[:10])
        if not self._named:
            raise ValueError(
                f"the array's columns have no names, so {listed} cannot be found; pass columns=[...] or a data frame"
            )
        plain = {str(name).lower(): str(name) for name in self.names}
        close = [difflib.get_close_matches(name.lower(), plain, n=1) for name in lacking[:10]]
        meant = [repr(plain[found[0]]) for found in close if found]
        hint = f"did you mean {', '.join(meant)}?" if meant else f"the table has {_shortened(self.names)}"
        raise ValueError(f"missing column{'s' if len(lacking) > 1 else ''} {listed}; {hint}")

    def take_in_order(self, names: Sequence[str]) -> None:
        """Give these names to columns that have none: those of an array, or that a frame calls 0, 1, ..."""
        if self._named and any(isinstance(name, str) for name in self.names):
            return
        if len(names) != len(self.names):
            raise ValueError(
                f"expected {len(names)} columns, {_shortened(names)}, got {len(self.names)} without names; give all of "
                "them in this order, or a data frame"
            )
        place, get, get_objects = dict(zip(names, self.names, strict=True)), self._get, self._get_objects
        self._get = lambda name: get(place[name])
        self._get_objects = None if get_objects is None else lambda name: get_objects(place[name])
        self.names, self._named = list(names), True

    def numbers(self, name: str) -> NDArray[np.float64]:
        """Return a column as floats, missing values as NaN."""
        column = self._get(name)
        if column.dtype.kind in "fiub":
            return column.astype(np.float64, copy=False)
        found = np.empty(len(column))
        for row, value in enumerate(column):
            number = _as_number(value)
            if number is None:
                raise _not_a_number(name, column, row)
            found[row] = number
        return found

    def whole(self, name: str) -> bool:
        """Whether a column is one of whole numbers, by its type."""
        values = (self._get_objects or self._get)(name)
        return values.dtype.kind in "iu" or all(
            type(value) is int or isinstance(value, np.integer) for value in values.tolist()
        )

    def categories(self, name: str) -> NDArray[np.object_]:
        """Return a column as Python objects, missing values as None."""
        values = (self._get_objects or self._get)(name).tolist()
        column = np.empty(len(values), dtype=object)
        column[:] = values if set(map(type, values)) <= PLAIN else [_as_category(value) for value in values]
        return column

    def order(self, name: str) -> tuple[Any, ...]:
        """Return the categories of a column in their order, where the table says that they have one."""
        return self._orders.get(name, ())


def _as_array(values: Any) -> NDArray[Any]:
    """Return an array; values of several kinds stay what they are instead of all becoming text."""
    if isinstance(values, np.ma.MaskedArray):
        plain = np.array(values.data, dtype=object)
        plain[np.ma.getmaskarray(values)] = None
        return plain
    try:
        array = np.asarray(values)
    except ValueError:
        raise ValueError("a table needs one value in each place, got lists of different lengths") from None
    return array if array.dtype.kind in "fiubOMm" else np.asarray(values, dtype=object)


def _from_series(series: Any) -> NDArray[Any]:
    """Numbers and truth values as floats; anything else as objects."""
    import narwhals as nw

    if series.dtype == nw.Decimal or not (series.dtype.is_numeric() or series.dtype == nw.Boolean):
        return _as_objects(series)
    return np.asarray(series.cast(nw.Float64).to_numpy(), dtype=np.float64)


def _as_objects(series: Any) -> NDArray[Any]:
    """Python objects, with None where the library has a null of its own."""
    values, null = series.to_list(), series.is_null().to_list()
    column = np.empty(len(null), dtype=object)
    column[:] = (
        [None if unknown else value for value, unknown in zip(values, null, strict=True)] if any(null) else values
    )
    return column


def _as_number(value: Any) -> float | None:
    """Return a number, NaN for a missing one, None for what is not a number; text is not, even "7"."""
    if type(value) is str:  # nearly always
        return None
    if is_missing(value):
        return np.nan
    if isinstance(value, Real | Decimal | np.bool_):
        with contextlib.suppress(OverflowError):
            return float(value)
    return None


def _not_a_number(name: str, column: NDArray[Any], first: int) -> ValueError:
    """Return the error for a column with such a value, and show why it is one of text."""
    wrong = (row for row in range(first, len(column)) if _as_number(column[row]) is None)
    row = next((row for row in wrong if not _reads_as_number(column[row])), first)
    return ValueError(
        f"column {name!r}, row {row}: {column[row]!r:.60} is not a number, and its criterion needs numbers"
    )


def _reads_as_number(value: Any) -> bool:
    try:
        float(value)
    except (TypeError, ValueError, OverflowError):
        return False
    return isinstance(value, str)


def _as_category(value: Any) -> Any:
    if type(value) in PLAIN:
        return value
    if is_missing(value):
        return None
    if isinstance(value, np.generic):
        value = value.item()
    return int(value) if isinstance(value, float) and value.is_integer() else value


def is_missing(value: Any) -> bool:
    """Whether a value stands for one that is not known: None, NaN, or what pandas has for it."""
    if isinstance(value, Decimal):
        return value.is_nan()
    return value is None or (isinstance(value, Real) and value != value) or type(value).__name__ in _PANDAS_NULLS


def _shortened(names: Sequence[Any]) -> str:
    return ", ".join(repr(name) for name in names[:10]) + (f" and {len(names) - 10} more" if len(names) > 10 else "")
