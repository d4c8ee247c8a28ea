"""What the Iris experiment found, and how it is said in words."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from baconlogic.core.results import Result
from baconlogic.core.words import aligned, listed
from baconlogic.explain._describe import describe
from experiments.result import WIDTH, Interval, Part, paragraph, share

if TYPE_CHECKING:
    from baconlogic.core.tree import Tree

ENOUGH = 29  # of 30 rows: the paper's 96.67%
ACCEPTED = 0.95  # from here on the paper's algorithm takes an attempt
DEFAULT, CHAIN = "the default search", "the paper's search"
LARGE, SMALL = "the paper's search, every feature large", "the paper's search, every feature small"
ONCE, BAND = "each feature at most once", "two leaves, reuse allowed"


@dataclass(frozen=True)
class Found(Result):
    """What one way of learning found for one species."""

    species: str
    way: str
    tree: Tree
    threshold: float
    words: str
    in_sample: float
    held_out: Interval
    right: tuple[int, ...]  # of the 30 rows held out in each split
    seconds: float


def parts(
    found: Sequence[Found], best: Mapping[str, float], attempts: int, paper: Mapping[str, tuple[float | None, str]]
) -> tuple[Part, ...]:
    """Return the sections: the paper's table, Setosa's directions, Versicolor, and what 30 rows can tell."""
    by = {species: [each for each in found if each.species == species] for species in paper}
    default = {species: next(each for each in rows if each.way == DEFAULT) for species, rows in by.items()}
    band = next(each for each in by["versicolor"] if each.way == BAND)
    chain = next(each for each in by["setosa"] if each.way == CHAIN)
    return (
        Part("The paper's table, and ours (in sample)", _table(default | {"versicolor": band}, paper)),
        Part("Setosa needs no flipping", _setosa(default["setosa"], chain)),
        Part("Versicolor: what a chain cannot say, and what a band can", _versicolor(by["versicolor"], best, attempts)),
        Part("What a test on 30 flowers can tell", _splits(default)),
    )


def _table(shown: Mapping[str, Found], paper: Mapping[str, tuple[float | None, str]]) -> str:
    told = []
    for species, (accuracy, words) in paper.items():
        ours = shown[species]
        said = f"  ours   {share(ours.in_sample, 2)}: {ours.words} ({ours.way})"
        told.append(f"{species}\n  paper  {'no figure' if accuracy is None else share(accuracy, 2)}: {words}")
        told.append(textwrap.fill(said, WIDTH, subsequent_indent=" " * 9))
    return "\n".join(told)


def _setosa(default: Found, chain: Found) -> str:
    rows = describe(chain.tree, threshold=chain.threshold, label="setosa").features
    directions = {row.feature: row.direction for row in rows}
    said = listed([f"{feature} ({directions[feature]})" for feature in sorted(directions)], "and")
    count = len(default.tree.features)
    return "\n".join(
        [
            paragraph(
                "The paper had to turn every feature by hand (1 - x). Here the direction of each is learned. What "
                f"speaks for Setosa, as the paper's search found it here with all four features: {said}. The default "
                f"search needs {'one feature' if count == 1 else f'{count} features'}:"
            ),
            str(default.tree),
        ]
    )


def _versicolor(found: Sequence[Found], best: Mapping[str, float], attempts: int) -> str:
    rows = [[each.way, share(each.in_sample, 2), each.held_out.short] for each in found]
    base = 2.0 / 3.0
    rows.insert(0, ["always saying no", share(base, 2), share(base)])
    reached = listed([share(value) for value in best.values()], "and")
    again = (
        "Its finding is found again: no apparent logic." if max(best.values()) < ACCEPTED else "Here it accepts one."
    )
    band, default = (next(each for each in found if each.way == way) for way in (BAND, DEFAULT))  # fmt: skip
    return "\n".join(
        [
            aligned(["way of learning", "in sample", "held out, 95% interval"], rows, left=3),
            "",
            paragraph(
                "A chain of the paper uses each feature once, and each is turned to large or small before the search. "
                f"Versicolor lies between the other two, so neither is enough. Of {attempts} attempts each, with all "
                f"large, all small and turned by the data, the best are right on {reached} (yes above truth 1/2, as in "
                f"the paper); the paper's algorithm accepts from {ACCEPTED:.0%} on. {again}"
            ),
            paragraph(
                "Two ways out. With directions chosen during the search, one petal measurement can be large and "
                "the other small. And with a feature used twice a band can be said:"
            ),
            str(band.tree),
            paragraph(band.words),
            "",
            paragraph(
                "The default search also uses bands and has a larger tree; more right in sample, it is not so on rows "
                "held out:"
                if default.in_sample > band.in_sample and default.held_out.mean <= band.held_out.mean
                else "The default search has this tree:"
            ),
            str(default.tree),
        ]
    )


def _splits(default: Mapping[str, Found]) -> str:
    told = []
    for species, found in default.items():
        enough = sum(right >= ENOUGH for right in found.right)
        told.append([species, f"{enough} of {len(found.right)}", str(min(found.right)), str(max(found.right))])
    return "\n".join(
        [
            paragraph(
                "The paper's 96.67% is 29 of 30 test rows of one split. Default search, splits of 120 and 30 rows:"
            ),
            aligned(["", "splits with 29 or 30 right", "fewest right", "most right"], told),
        ]
    )
