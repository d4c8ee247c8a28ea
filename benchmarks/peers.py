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


def logistic(features: int | None = None) -> Any:
    """Return logistic regression on standardised columns: all, or so many that recursive elimination leaves."""
    from sklearn.feature_selection import RFE
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    class AtMost(RFE):
        def fit(self, X: Any, y: Any) -> Any:
            self.n_features_to_select = min(features, X.shape[1])
            return super().fit(X, y)

    chosen = [] if features is None else [AtMost(LogisticRegression())]
    return make_pipeline(StandardScaler(), *chosen, LogisticRegression())


def tree(depth: int | None = 4, leaves: int | None = None) -> Any:
    from sklearn.tree import DecisionTreeClassifier

    return DecisionTreeClassifier(max_depth=depth, max_leaf_nodes=leaves, random_state=0)


def forest() -> Any:
    from sklearn.ensemble import RandomForestClassifier

    return RandomForestClassifier(random_state=0, n_jobs=1)


def boosting() -> Any:
    from sklearn.ensemble import HistGradientBoostingClassifier

    return HistGradientBoostingClassifier(random_state=0)


def ebm(**options: Any) -> Any:
    from interpret.glassbox import ExplainableBoostingClassifier

    return ExplainableBoostingClassifier(n_jobs=1, random_state=0, **options)


def figs(**limits: int) -> Any:
    from imodels import FIGSClassifier

    return FIGSClassifier(random_state=0, **limits)


def rulefit(**limits: int) -> Any:
    from imodels import RuleFitClassifier

    return RuleFitClassifier(random_state=0, **limits)


def warm(make: Callable[[], Any] = ours) -> None:
    """Fit a small set once, so that what is compiled or loaded once a process is not counted; if it is installed."""
    X, y = SUITE["Iris Virginica"](Path())
    with contextlib.suppress(ImportError):
        make().fit(X[::3], y[::3])
