"""Rows held out: repeated stratified cross-validation, and the interval that its scores allow."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from baconlogic import metrics
from experiments.result import Interval

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from baconlogic.datasets import Dataset

CONFIDENCE = 0.95


def corrected(scores: ArrayLike, test_share: float) -> tuple[float, float, float]:
    """Return mean, low and high of the 95% interval of scores, or of paired differences, from resampled splits.

    The corrected resampled t of Nadeau and Bengio (2003): splits share rows, so the variance of the mean of k scores is
    (1/k + test/train) times that of one score, not 1/k times. `test_share` is the share of rows held out in a split.
    """
    from scipy.stats import t

    values = np.asarray(scores, dtype=np.float64)
    if values.ndim != 1 or len(values) < 2:
        raise ValueError(f"an interval needs two or more scores, got an array of shape {values.shape}")
    if not 0.0 < test_share < 1.0:
        raise ValueError(f"test_share must be between 0 and 1, got {test_share!r}")
    factor = 1.0 / len(values) + test_share / (1.0 - test_share)
    mean = float(values.mean())
    reach = float(t.ppf(0.5 + CONFIDENCE / 2.0, len(values) - 1)) * math.sqrt(factor * float(values.var(ddof=1)))
    return mean, mean - reach, mean + reach


def interval(scores: ArrayLike, test_share: float) -> Interval:
    """Return the mean of shares with its 95% interval (`corrected`), clipped to [0, 1]."""
    mean, low, high = corrected(scores, test_share)
    return Interval(mean, max(low, 0.0), min(high, 1.0), len(np.asarray(scores)))


def splits(y: ArrayLike, folds: int = 5, repeats: int = 2, seed: int = 0) -> list[tuple[Any, Any]]:
    """Return the rows to learn from and to judge on of each split; the same for the same seed."""
    from sklearn.model_selection import RepeatedStratifiedKFold

    labels = np.asarray(y)
    shuffled = RepeatedStratifiedKFold(n_splits=folds, n_repeats=repeats, random_state=seed)
    return list(shuffled.split(np.zeros(len(labels)), labels))


def held_out(
    make: Callable[[], Any],
    X: Any,
    y: ArrayLike,
    *,
    folds: int = 5,
    repeats: int = 2,
    seed: int = 0,
    n_jobs: int | None = 2,
) -> Interval:
    """Return the accuracy of what `make` makes on rows held out, by repeated stratified cross-validation."""
    scores = held_out_scores(make, X, y, splits(y, folds, repeats, seed), n_jobs=n_jobs)
    return interval(scores, 1.0 / folds)


def held_out_scores(
    make: Callable[[], Any], X: Any, y: ArrayLike, parts: Sequence[tuple[Any, Any]], *, n_jobs: int | None = 2
) -> NDArray[np.float64]:
    """Return the accuracy on each of the parts held out; the same parts make models comparable."""
    from joblib import Parallel, delayed

    labels = np.asarray(y)
    scores = Parallel(n_jobs=n_jobs)(delayed(_score)(make, X, labels, *part) for part in parts)
    return np.asarray(scores, dtype=np.float64)


def _score(make: Callable[[], Any], X: Any, y: NDArray[Any], seen: Any, hidden: Any) -> float:
    model = make().fit(take(X, seen), y[seen])
    return metrics.accuracy(model.predict(take(X, hidden)), y[hidden])


class Fitted(NamedTuple):
    """A model that was fitted, how right it is on the rows it has seen, and the seconds of one core it took."""

    model: Any
    accuracy: float
    seconds: float


def in_sample(make: Callable[[], Any], X: Any, y: ArrayLike) -> Fitted:
    """Fit what `make` makes to all rows, and judge it on the same rows."""
    labels, started = np.asarray(y), time.process_time()
    model = make().fit(X, labels)
    seconds = time.process_time() - started
    return Fitted(model, metrics.accuracy(model.predict(X), labels), seconds)


def take(X: Any, rows: Any) -> Any:
    """Return some rows of an array or of a frame of any library."""
    if isinstance(X, np.ndarray):
        return X[rows]
    import narwhals as nw

    return nw.from_native(X, eager_only=True)[np.asarray(rows), :].to_native()


def frame(data: Dataset) -> Any:
    """Return the features of a data set as a frame, so that trees know their names: of polars, else of pandas."""
    columns = {name: data.X[:, i] for i, name in enumerate(data.feature_names)}
    try:
        import polars
    except ImportError:
        try:
            import pandas as pd
        except ImportError:
            raise ImportError('experiments need a data frame library; pip install "baconlogic[cli]"') from None
        return pd.DataFrame(columns)
    return polars.DataFrame(columns)
