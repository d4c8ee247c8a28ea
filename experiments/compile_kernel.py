"""Compile what learning needs: `python -m experiments.compile_kernel`; the result is kept beside the code."""

from __future__ import annotations

from joblib import Parallel, delayed

from baconlogic import datasets
from baconlogic.learn.classifier import BaconClassifier
from baconlogic.learn.search.problem import Search
from baconlogic.learn.search.sinkhorn import Sinkhorn


def compile_all(n_jobs: int = 2) -> None:
    """Fit a small table once by each search, side by side: they compile different parts."""
    searches: list[str | Search] = ["auto", Sinkhorn(attempts=1, acceptance_threshold=0.0)]
    Parallel(n_jobs=n_jobs)(delayed(_fit)(search) for search in searches)


def _fit(search: str | Search) -> None:
    data = datasets.breast_cancer()
    BaconClassifier(search, random_state=0).fit(data.X[::4], data.y[::4])


if __name__ == "__main__":
    compile_all()
