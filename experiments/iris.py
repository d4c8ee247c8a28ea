"""Appendix C: when an Iris is Setosa, Versicolor or Virginica; beside the paper's table, words and all."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from baconlogic import datasets
from baconlogic.explain._describe import describe
from baconlogic.learn.classifier import BaconClassifier
from baconlogic.learn.search.sinkhorn import NotAccepted, Sinkhorn
from experiments import validation
from experiments.iris_telling import BAND, CHAIN, DEFAULT, LARGE, ONCE, SMALL, Found, parts
from experiments.result import Experiment, Line

if TYPE_CHECKING:
    from numpy.typing import NDArray

PAPER: Mapping[str, tuple[float | None, str]] = {  # accuracy and words of Appendix C
    "setosa": (0.9667, "Sepal is small and petal is short"),
    "versicolor": (None, "(no apparent logic)"),
    "virginica": (0.9667, "Petal is long and wide"),
}
REST = "another"  # the label of the other two species
TEST = 30  # rows held out in a split, as in the paper


@dataclass(frozen=True, kw_only=True)
class Iris(Experiment):
    """The trees of each species by each way of learning, and what the paper's chain reaches for Versicolor."""

    found: tuple[Found, ...]
    best_attempts: Mapping[str, float]  # the best of the attempts of the paper's search at Versicolor, by direction

    def of(self, species: str, way: str) -> Found:
        """Return what one way of learning found for a species."""
        return next(each for each in self.found if (each.species, each.way) == (species, way))


def ways(seed: int) -> dict[str, Callable[[], Any]]:
    """Return the ways of learning: the default, the paper's search, and what each may say."""
    chain = partial(
        BaconClassifier, Sinkhorn(acceptance_threshold=0.0), criteria="sigmoid", random_state=seed
    )  # the first attempt is taken: none is chosen by its score
    return {
        DEFAULT: partial(BaconClassifier, random_state=seed),
        CHAIN: chain,
        LARGE: partial(chain, directions="rising"),
        SMALL: partial(chain, directions="falling"),
        ONCE: partial(BaconClassifier, reuse=False, random_state=seed),
        BAND: partial(BaconClassifier, max_leaves=2, random_state=seed),
    }


WANTED = {"setosa": (DEFAULT, CHAIN), "versicolor": (LARGE, SMALL, CHAIN, ONCE, BAND, DEFAULT),
          "virginica": (DEFAULT, CHAIN)}  # fmt: skip


def run(
    *,
    seed: int = 0,
    n_jobs: int | None = 2,
    folder: Path | None = None,
    progress: Callable[[str], None] | None = None,
    repeats: int = 4,
    attempts: int = 100,
) -> Iris:
    """Learn each species against the others, in sample and in `repeats` times five splits of 120 and 30 rows."""
    started, tell = time.perf_counter(), progress or (lambda _: None)
    data = datasets.iris()
    X, makers = validation.frame(data), ways(seed)
    found = []
    for species, wanted in WANTED.items():
        y = labels(data.y, species)
        for way in wanted:
            tell(f"{species}: {way}")
            found.append(_find(species, way, makers[way], X, y, repeats, seed, n_jobs))
    tell(f"versicolor: {attempts} attempts of the paper's search")
    versicolor = labels(data.y, "versicolor")
    best = {way: best_attempt(directions, X, versicolor, seed, attempts) for way, directions in
            ((LARGE, "rising"), (SMALL, "falling"), (CHAIN, None))}  # fmt: skip
    pictures: tuple[str, ...] = ()
    if folder is not None:
        tell("drawing")
        pictures = _draw(found, X, data.y, folder)
    return Iris(
        name="iris", title="Iris (Appendix C of the paper): 150 flowers, 4 measurements in cm", lines=_lines(found),
        parts=parts(found, best, attempts, PAPER), pictures=pictures, seconds=time.perf_counter() - started,
        found=tuple(found), best_attempts=best,
    )  # fmt: skip


def labels(species: NDArray[Any], which: str) -> NDArray[Any]:
    """Return the labels of one species against the others."""
    return np.where(species == which, which, REST)


def _find(
    species: str, way: str, make: Callable[[], Any], X: Any, y: NDArray[Any], repeats: int, seed: int,
    n_jobs: int | None,
) -> Found:  # fmt: skip
    whole = validation.in_sample(make, X, y)
    splits = validation.splits(y, 5, repeats, seed)
    scores = validation.held_out_scores(make, X, y, splits, n_jobs=n_jobs)
    words = describe(whole.model, label=species).summary
    right = tuple(round(score * TEST) for score in scores)
    return Found(
        species, way, whole.model.tree_, whole.model.threshold_, words, whole.accuracy,
        validation.interval(scores, TEST / len(y)), right, whole.seconds,
    )  # fmt: skip


def best_attempt(directions: str | None, X: Any, y: NDArray[Any], seed: int, attempts: int) -> float:
    """Return the best accuracy of so many attempts of the paper's search, or of the first that reaches its 95%."""
    clf = BaconClassifier(Sinkhorn(attempts=attempts), criteria="sigmoid", directions=directions, random_state=seed)
    try:
        return float(np.mean(clf.fit(X, y).predict(X) == y))
    except NotAccepted as refused:
        return refused.best.accuracy


def _lines(found: list[Found]) -> tuple[Line, ...]:
    """Return the lines beside the paper: in sample by both searches, and one split of 120 and 30 rows."""
    known = [each for each in found if each.species != "versicolor"]
    default = [each for each in known if each.way == DEFAULT]
    lines = [_line(each, CHAIN, each.in_sample, "in sample") for each in known if each.way == CHAIN]
    lines += [_line(each, DEFAULT, each.in_sample, "in sample") for each in default]
    lines += [
        _line(each, f"{DEFAULT}, one split", each.right[0] / TEST, f"{each.right[0]} of {TEST} rows held out")
        for each in default
    ]
    others = [each for each in found if each.species == "versicolor" and each.way in (BAND, DEFAULT)]
    return (*lines, *(_line(each, each.way, each.in_sample, "in sample") for each in others))


def _line(found: Found, way: str, ours: float, protocol: str) -> Line:
    paper = PAPER[found.species][0]
    note = ""
    if paper is not None and found.way == DEFAULT and protocol == "in sample" and ours < paper:
        note = "the size of the tree is chosen by rows held out, not by the rows it learned from"
    return Line(f"{found.species}, {way}", paper, ours, protocol, found.held_out, found.seconds, note)


def _draw(found: list[Found], X: Any, species: NDArray[Any], folder: Path) -> tuple[str, ...]:
    from experiments import pictures

    made = []
    for each in found:
        if each.way in (DEFAULT, BAND) and (each.way != BAND or each.species == "versicolor"):
            name = each.species if each.way == DEFAULT else f"{each.species}-band"
            made += pictures.decision(
                each.tree, each.threshold, each.species, X, labels(species, each.species), folder, f"iris-{name}"
            )
    return tuple(made)
