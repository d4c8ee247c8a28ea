"""What the Boolean experiment found, and how it is said in words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from baconlogic import datasets
from baconlogic.core.results import Result
from baconlogic.core.words import aligned, listed
from experiments.boolean_sweep import (
    ALL_AND,
    ALL_OR,
    CHAIN,
    EXACT,
    KINDS,
    MIXED,
    MOSTLY_AND,
    MOSTLY_OR,
    SHORT,
)
from experiments.result import Interval, Part, duration, paragraph, share

if TYPE_CHECKING:
    from baconlogic.core.tree import Tree
    from experiments.boolean_sweep import Cell

CHANCE = 0.05


@dataclass(frozen=True)
class Recovery(Result):
    """The expression of Appendix B as one search found it."""

    search: str
    tree: Tree
    threshold: float  # of the tree
    formula: str  # the tree read as and/or
    right: float  # share of the 256 rows that the tree decides as the expression does
    equivalent: bool  # whether the formula does so in every row
    seconds: float  # of one core
    held_out: Interval  # learned from 70% of the table, judged on the rest
    noisy: Interval  # the same with 5% of the labels flipped; the rest is clean


@dataclass(frozen=True)
class LongChain(Result):
    """A chain of many variables, learned from random rows."""

    variables: int
    rows: int
    accuracy: float  # on as many new rows
    leaves: int
    seconds: float


def parts(recoveries: Sequence[Recovery], cells: Sequence[Cell], long: LongChain, limit: float) -> tuple[Part, ...]:
    """Return the sections: Appendix B, rows not seen, the sweep over n, and that over operators."""
    return (
        Part("The expression of Appendix B", _appendix(recoveries)),
        Part("Rows that were not seen", _unseen(recoveries, limit)),
        Part("Random expressions of n variables", _sweep(cells, long, limit)),
        Part("Is there a bias towards and?", _operators(cells)),
    )


def _appendix(recoveries: Sequence[Recovery]) -> str:
    told = [f"sought  {datasets.appendix_b()}"]
    for each in recoveries:
        same = "the same" if each.equivalent else "not the same"
        told += [
            f"found   {each.formula}",
            f"        by {each.search} in {duration(each.seconds)}; as and/or it is {same} in all 256 rows;",
            f"        the tree itself is right on {share(each.right)} of them",
        ]
    told += [
        "",
        paragraph(
            "Learned from the whole truth table, 100 times over, as in the paper. The paper found it too, and gives no "
            'time for it; of "more intricate cases" it says that they "could take hours".'
        ),
    ]
    return "\n".join(told)


def _unseen(recoveries: Sequence[Recovery], limit: float) -> str:
    rows = [[each.search, each.held_out.short, each.noisy.short] for each in recoveries]
    return "\n".join(
        [
            paragraph(
                "A complete truth table leaves nothing to hold out. So: Appendix B learned from 70% of its 256 rows "
                "and judged on the others; then also with 5% of the labels of the learned rows flipped, the "
                f"others clean. The paper's search has {min(limit, SHORT):g} s by the clock for each."
            ),
            aligned(["", "70% of the table", "and 5% of labels flipped"], rows, left=3),
        ]
    )


def _sweep(cells: Sequence[Cell], long: LongChain, limit: float) -> str:
    lines = []
    for n in sorted({cell.variables for cell in cells if cell.operators == MIXED}):
        line = [str(n)]
        for search in (EXACT, CHAIN):
            found = [c for c in cells if (c.variables, c.search, c.operators) == (n, search, MIXED)]
            line += _figures(found[0]) if found else ["-", "-", "-"]
        lines.append(line)
    header = ["n", "default: found", "median", "slowest", "paper's search: found", "median", "slowest"]
    return "\n".join(
        [
            paragraph(
                "Chains of and/or drawn at random, variables in random order, learned from the whole table. Times are "
                f"those of one core; the paper's search has {limit:g} s by the clock for each. The paper stops at 8."
            ),
            aligned(header, lines, left=0),
            "",
            paragraph(
                f"A chain of {long.variables} variables from {long.rows:,} random rows, default search: right on "
                f"{share(long.accuracy, 2)} of as many new rows, {long.leaves} leaves, {duration(long.seconds)}. In "
                "random rows the inner variables of so long a chain hardly ever matter, so they cannot be found."
            ),
        ]
    )


def _figures(cell: Cell) -> list[str]:
    return [f"{cell.recovered} of {cell.tried}", duration(cell.seconds), duration(cell.slowest)]


def _operators(cells: Sequence[Cell]) -> str:
    lines = []
    for search in (EXACT, CHAIN):
        for kind in KINDS:
            cell = _cell(cells, search, kind)
            attempts = f"{cell.median_attempts:g}" if search == CHAIN else "-"
            lines.append([search, kind, *_figures(cell), attempts])
    table = aligned(["n = 8", "operators", "found", "median", "slowest", "median attempts"], lines, left=2)
    return f"{table}\n\n{paragraph(_bias(cells))}"


def _cell(cells: Sequence[Cell], search: str, kind: str) -> Cell:
    return next(cell for cell in cells if (cell.variables, cell.search, cell.operators) == (8, search, kind))


def _bias(cells: Sequence[Cell]) -> str:
    """Say what the counts say: fewer attempts for and than for or would be a bias."""
    told = []
    for conjunctive, disjunctive in ((ALL_AND, ALL_OR), (MOSTLY_AND, MOSTLY_OR)):
        one, other = _cell(cells, CHAIN, conjunctive), _cell(cells, CHAIN, disjunctive)
        told.append(
            f"{conjunctive} {one.recovered} of {one.tried} (median attempts {one.median_attempts:g}), {disjunctive} "
            f"{other.recovered} of {other.tried} ({other.median_attempts:g})"
        )
    return (
        "The paper reports a bias: expressions with many ands are found sooner and more reliably than others. Its "
        f"search here found {'; '.join(told)}. {_verdict(cells)}"
    )


def sizes(cells: Sequence[Cell]) -> str:
    """Say of how many variables expressions were: "3 to 8", "9, 10 and 12"."""
    found = sorted({cell.variables for cell in cells})
    if len(found) > 2 and found[-1] - found[0] == len(found) - 1:
        return f"{found[0]} to {found[-1]}"
    return listed([str(n) for n in found], "and")


def _verdict(cells: Sequence[Cell]) -> str:
    """Say whether attempts differ by more than chance; all and, all or would tell little: one attempt does."""
    from scipy.stats import mannwhitneyu

    conjunctive, disjunctive = (_cell(cells, CHAIN, kind).attempts for kind in (MOSTLY_AND, MOSTLY_OR))
    smaller, chance = map(float, mannwhitneyu(conjunctive, disjunctive))
    if chance >= CHANCE:
        return (
            f"Attempts at mostly and and at mostly or differ no more than by chance (Mann-Whitney p = {chance:.2f}); "
            f"{len(conjunctive)} expressions of each cannot rule out a small bias."
        )
    easier = MOSTLY_AND if smaller < len(conjunctive) * len(disjunctive) / 2.0 else MOSTLY_OR
    return f"So {easier} is easier for it here (Mann-Whitney p = {chance:.3f})."
