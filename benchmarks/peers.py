"""This library and its peers, made alike: one core each, settings of their own unless said so."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
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


FASTERRISK = Path(__file__).resolve().parents[1] / ".venv-fasterrisk" / "bin" / "python"


def risk_python() -> Path | None:
    """Return the Python that has FasterRisk, which needs an environment of its own; None where there is none."""
    python = Path(os.environ.get("FASTERRISK_PYTHON", FASTERRISK))
    return python if python.exists() else None


def risk_version() -> str | None:
    """Return the version of FasterRisk in that environment, by the name of its folder."""
    python = risk_python()
    found = list(python.parents[1].glob("lib/python*/site-packages/fasterrisk-*.dist-info")) if python else []
    return found[0].name.removeprefix("fasterrisk-").removesuffix(".dist-info") if found else None


class FasterRisk:
    """A risk score: points for at most so many conditions "column <= threshold", added up into a probability."""

    def __init__(self, most: int) -> None:
        self.most = most

    def fit(self, X: np.ndarray, y: np.ndarray) -> FasterRisk:
        """Have it found by a process of its own; `seconds_` are that one's."""
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "rows.npz"
            np.savez(path, X=X, y=y)
            words = [str(risk_python()), "-W", "ignore", str(Path(__file__).with_name("risk.py")), str(path)]
            done = subprocess.run(  # noqa: S603
                [*words, str(self.most)], capture_output=True, text=True, check=True, env=_without_sources()
            )
        found = json.loads(done.stdout)
        self.conditions_, self.seconds_ = found["conditions"], found["seconds"]
        self._intercept, self._multiplier = found["intercept"], found["multiplier"]
        return self

    def predict_proba(self, X: np.ndarray) -> np.ndarray:
        """Return the probabilities of both classes."""
        points = sum(((X[:, i] <= at) * points for i, at, points in self.conditions_), np.zeros(len(X)))
        p = 1.0 / (1.0 + np.exp(-(self._intercept + points) / self._multiplier))
        return np.column_stack([1.0 - p, p])

    def predict(self, X: np.ndarray) -> np.ndarray:
        """Return the more probable class."""
        return (self.predict_proba(X)[:, 1] > 0.5).astype(int)


def _without_sources() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}


def warm(make: Callable[[], Any] = ours) -> None:
    """Fit a small set once, so that what is compiled or loaded once a process is not counted; if it is installed."""
    X, y = SUITE["Iris Virginica"](Path())
    with contextlib.suppress(ImportError):
        make().fit(X[::3], y[::3])
