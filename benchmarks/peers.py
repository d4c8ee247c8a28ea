"""This library and its peers, made alike: one core each, settings of their own unless said so."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

from problems import SUITE


def ours(**options: Any) -> Any:
    from baconlogic import BaconClassifier

    return BaconClassifier(random_state=0, **options)


def logistic() -> Any:
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    return make_pipeline(StandardScaler(), LogisticRegression())


def tree(depth: int | None = 4) -> Any:
    from sklearn.tree import DecisionTreeClassifier

    return DecisionTreeClassifier(max_depth=depth, random_state=0)


def boosting() -> Any:
    from sklearn.ensemble import HistGradientBoostingClassifier

    return HistGradientBoostingClassifier(random_state=0)


def ebm(**options: Any) -> Any:
    from interpret.glassbox import ExplainableBoostingClassifier

    return ExplainableBoostingClassifier(n_jobs=1, random_state=0, **options)


def warm(make: Callable[[], Any] = ours) -> None:
    """Fit a small set once, so that what is compiled or loaded once a process is not counted; if it is installed."""
    X, y = SUITE["Iris Virginica"](Path())
    with contextlib.suppress(ImportError):
        make().fit(X[::3], y[::3])
