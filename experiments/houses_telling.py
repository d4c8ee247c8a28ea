"""What the houses experiment found, and how it is said in words."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from baconlogic.core.results import Result
from baconlogic.core.words import aligned, listed, number
from experiments.result import Interval, Part, paragraph, share

if TYPE_CHECKING:
    from baconlogic.core.tree import Tree


@dataclass(frozen=True)
class Threshold(Result):
    """Where the decision turns along one feature, in the rows where this feature decides."""

    feature: str
    true: float  # the rule says yes above it
    paper: float
    low: float  # the largest value of these rows with the answer no
    high: float  # the smallest with the answer yes
    half: float  # where the leaf is half true; of several leaves on it, the one that turns the decision

    @property
    def exact(self) -> bool:
        """Whether the rule turns between the same two values, so that no row tells the two apart."""
        return self.low <= self.true < self.high


@dataclass(frozen=True)
class Case(Result):
    """One hidden rule on one table."""

    case: str
    source: str
    rows: int
    bought: float  # share of houses that the rule buys
    rule: str
    tree: Tree
    threshold: float  # of the tree
    words: str
    in_sample: float
    held_out: Interval
    seconds: float
    thresholds: tuple[Threshold, ...]
    left_out: tuple[str, ...]  # noise that the tree does not use
    noise_used: tuple[str, ...]  # noise that it uses
    missed: tuple[str, ...]  # features of the rule that it does not use
    chain_in_sample: float  # by the paper's search, one attempt
    chain_held_out: Interval
    chain_seconds: float


def parts(cases: Sequence[Case], paper: Mapping[str, float]) -> tuple[Part, ...]:
    """Return a section for each case on each table, and what thresholds of counts mean."""
    told = [Part(f"Case {case.case}, {case.source} houses", _case(case, paper[case.case])) for case in cases]
    return (Part("The data", paragraph(DATA)), *told, Part("How to read the thresholds", paragraph(READING)))


DATA = """The paper labels listings of a Kaggle file (USA Real Estate Dataset) by a rule that the search must find; the
other columns are noise. The file does not come along: made-up houses follow its shape, and --houses PATH adds the real
ones. The paper does not say which rows its accuracies were measured on."""


READING = """The rules say "above": more than 4 beds is 5 beds or more. Data can only tell between which two values a
decision turns (of the rows in which that feature decides); every threshold in between decides all rows alike. Where the
true threshold is the lower of the two or lies between them, the rule is found exactly, as far as these rows can tell.
The paper's 3.5 baths for 3 is exact in the same sense; its 3454.5 sq ft for 3000 and 0.59 acres for 0.5 are not."""


def _case(case: Case, paper: float) -> str:
    said = [
        paragraph(f"{case.rows:,} rows, of which the hidden rule buys {share(case.bought)}. The rule: {case.rule}."),
        str(case.tree),
        paragraph(case.words),
        "",
        aligned(
            ["feature", "true: above", "paper", "ours: turns between", "half true at", "exact"],
            [_row(each) for each in case.thresholds],
            left=1,
        ),
        "",
        paragraph(_noise(case)),
        paragraph(
            f"Right on {share(case.in_sample, 2)} of the rows it learned from (paper: {share(paper, 2)}) and on "
            f"{case.held_out} of rows held out. The paper's search (fixed criteria, one attempt): "
            f"{share(case.chain_in_sample, 2)} and {case.chain_held_out}."
        ),
    ]
    return "\n".join(said)


def _row(found: Threshold) -> list[str]:
    if math.isnan(found.low):
        between, exact = "not one place", "no"
    else:
        between, exact = f"{number(found.low)} and {number(found.high)}", "yes" if found.exact else "no"
    return [found.feature, number(found.true), number(found.paper), between, number(found.half), exact]


def _noise(case: Case) -> str:
    missed = f"Of the rule the tree misses {listed(list(case.missed), 'and')}. " if case.missed else ""
    left = (
        f"{missed}Noise left out: {listed(list(case.left_out), 'and')}."
        if case.left_out
        else f"{missed}No noise was left out."
    )
    if case.noise_used:
        return f"{left} Noise that the tree uses: {listed(list(case.noise_used), 'and')}."
    return f"{left} No noise is used."
