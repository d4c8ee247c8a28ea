"""What the Boolean experiment says in words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from baconlogic import datasets
from baconlogic.experiments.boolean_sweep import CHAIN, EXACT, MIXED
from baconlogic.experiments.result import Part, duration, paragraph, share
from baconlogic.wording import aligned

if TYPE_CHECKING:
    from baconlogic.experiments.boolean import LongChain, Recovery
    from baconlogic.experiments.boolean_sweep import Cell


def parts(recoveries: Sequence[Recovery], cells: Sequence[Cell], long: LongChain, limit: float) -> tuple[Part, ...]:
    """Return the sections: Appendix B, rows not seen, the sweep over n, and that over operators."""
    return (
        Part("The expression of Appendix B", _appendix(recoveries)),
        Part("Rows that were not seen", _unseen(recoveries)),
        Part("Random expressions of n variables", _sweep(cells, long, limit)),
        Part("Is there a bias towards and?", _operators(cells)),
    )


def _appendix(recoveries: Sequence[Recovery]) -> str:
    told = [f"sought  {datasets.appendix_b()}"]
    for each in recoveries:
        same = "the same in all 256 rows" if each.equivalent else "not the same in all 256 rows"
        told += [
            "",
            f"found   {each.formula}",
            paragraph(
                f"        by {each.search} in {duration(each.seconds)}; read as and/or it is {same}; the tree itself is "
                f"right on {share(each.right)} of them."
            ),
        ]
    told += [
        "",
        paragraph(
            "Learned from the whole truth table, 100 times over, as in the paper. The paper found it too, and gives no "
            'time for it; it says that expressions "could take hours" in its harder cases.'
        ),
    ]
    return "\n".join(told)


def _unseen(recoveries: Sequence[Recovery]) -> str:
    rows = [[each.search, each.held_out.short, each.noisy.short] for each in recoveries]
    return "\n".join(
        [
            paragraph(
                "A complete truth table leaves nothing to hold out. So: Appendix B learned from 70% of its 256 rows and "
                "judged on the others, which are clean; with 5% of the labels flipped in the rows learned from as well."
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
                "Chains of and/or drawn at random, variables in random order, learned from the whole table; times are "
                f"seconds of one core. The paper's search has {limit:g} seconds for each; the paper went up to n = 8."
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
        for operators in ("and", "or", MIXED):
            cell = next(c for c in cells if (c.variables, c.search, c.operators) == (8, search, operators))
            attempts = f"{cell.attempts:g}" if search == CHAIN else "-"
            lines.append([search, operators if operators == MIXED else f"all {operators}", *_figures(cell), attempts])
    table = aligned(["n = 8", "operators", "found", "median", "slowest", "median attempts"], lines, left=2)
    return f"{paragraph(_bias(cells))}\n{table}"


def _bias(cells: Sequence[Cell]) -> str:
    """Say what the counts say: fewer attempts for and than for or would be a bias."""
    paper = "The paper reports that expressions with many ands are found sooner and more reliably than those with ors."
    both, either = (
        next(c for c in cells if (c.variables, c.search, c.operators) == (8, CHAIN, operators))
        for operators in ("and", "or")
    )
    counts = (
        f"all and: {both.recovered} of {both.tried}, {both.attempts:g} attempts in the median; all or: "
        f"{either.recovered} of {either.tried}, {either.attempts:g} attempts"
    )
    if both.recovered == either.recovered and max(both.attempts, either.attempts) <= 2 * min(
        both.attempts, either.attempts
    ):
        return (
            f"{paper} Here the paper's search has no such bias ({counts}), and mixed expressions are harder than both."
        )
    better = "and" if (both.recovered, -both.attempts) > (either.recovered, -either.attempts) else "or"
    return f"{paper} Here the paper's search finds all {better} more easily ({counts})."
