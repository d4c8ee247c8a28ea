"""Check a written report against the tree it is about: flag what contradicts it, leave alone what is not understood."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from baconlogic.core.results import Listing, Result
from baconlogic.core.subject import subject
from baconlogic.core.words import listed, one_line
from baconlogic.report import _amounts as amounts
from baconlogic.report import _logic as logic
from baconlogic.report import _names as naming
from baconlogic.report import _order as order
from baconlogic.report import _roles as roles
from baconlogic.report._knowledge import Knowledge
from baconlogic.report._plain import plain
from baconlogic.report._sentences import read

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from baconlogic.report._claims import Claim
    from baconlogic.report._sentences import Clause, Sentence


@dataclass(frozen=True)
class Finding(Result):
    """A statement that contradicts the tree."""

    kind: str  # weight, code, words, andness, feature, count, group, role, rank, direction or threshold
    sentence: str
    said: str
    true: str
    where: tuple[int, int]  # in the text as it was given

    def __str__(self) -> str:
        return f'{self.kind}: "{self.sentence}"\n  says: {self.said}\n  true: {self.true}'


@dataclass(frozen=True)
class ReportCheck(Listing):
    """What of a report contradicts the tree; what could not be understood was not checked."""

    rows: tuple[Finding, ...]
    remarks: tuple[str, ...]
    checked: int  # statements
    sentences: int
    unchecked: int  # sentences in which no statement was understood

    @property
    def passed(self) -> bool:
        """Whether nothing was found that contradicts the tree; that does not make the report right."""
        return not self.rows

    def __str__(self) -> str:
        count = len(self.rows)
        found = f"{count} {'statement' if count == 1 else 'statements'} against the tree"
        quiet = f"{self.unchecked} of {self.sentences} sentences say nothing that can be checked"
        found = found if count else "Nothing found that contradicts the tree"
        head = f"{found}: {self.checked} statements checked; {quiet}."
        return "\n".join([head, *(f"- {row}" for row in self.rows), *(f"Remark: {remark}" for remark in self.remarks)])


def check_report(
    text: str, model: Any, *, label: Any = None, threshold: float | None = None, known: Sequence[str] = ()
) -> ReportCheck:
    """Compare what a report says of features, weights, codes, roles, ranks, directions and thresholds with the tree.

    A report that passes is one in which nothing wrong was found, not one that is right: what is not understood is not
    checked. English, in plain text, Markdown, LaTeX or HTML. `label` is what yes is called in the text, where the model
    does not say; `known` are all columns of the data, so that one the tree does not use is known by its name.
    """
    if not isinstance(text, str):
        raise TypeError(f"a report is text, got {type(text).__name__}; give the text of a file, not the file")
    asked = subject(model, threshold, label)
    facts, clean = Knowledge(asked), plain(text)
    sentences = read(clean, facts)
    outcome = order.Outcome(asked.yes, asked.no)
    words = naming.Names(facts, clean, [*known, *asked.columns])
    rows: list[Finding] = []
    checked, quiet, spoken = 0, 0, set()
    header: list[str] = []
    for sentence in sentences:
        header = _header(sentence, header)
        claims = [each for clause in sentence.clauses for each in _claims(clause, facts, outcome, words, header)]
        spoken |= {each.feature for clause in sentence.clauses for each in clause.features}
        checked += len(claims)
        quiet += not claims
        rows += [Finding(c.kind, sentence.text, c.said, c.true, clean.where(c.start, c.end)) for c in _wrong(claims)]
    return ReportCheck(tuple(rows), _remarks(facts, spoken, text), checked, len(sentences), quiet)


def _claims(
    clause: Clause, facts: Knowledge, outcome: order.Outcome, words: naming.Names, header: list[str]
) -> Iterator[Claim]:
    for check in (amounts.weights, amounts.andness, amounts.counts, logic.codes, logic.words):
        yield from check(clause, facts)
    for check in (logic.groups, logic.listed_groups, roles.roles, order.ranks, order.comparisons):
        yield from check(clause, facts)
    yield from amounts.thresholds(clause, facts, outcome.yes)
    yield from order.directions(clause, facts, outcome)
    yield from naming.names(clause, facts, words)
    if header and clause.sentence.row:
        yield from amounts.table_weights(header, _cells(clause.text), clause, facts)


def _wrong(claims: list[Claim]) -> list[Claim]:
    """Return the statements that do not hold, each once."""
    seen: dict[tuple[str, str, str], Claim] = {}
    for each in claims:
        if not each.holds:
            seen.setdefault((each.kind, each.said, each.true), each)
    return list(seen.values())


def _header(sentence: Sentence, before: list[str]) -> list[str]:
    """Return the titles of the table that a line belongs to: its first line."""
    if not sentence.row:
        return []
    return before or [cell for _, cell in _cells(sentence.text)]


def _cells(line: str) -> list[tuple[int, str]]:
    """Return the cells of a line of a table with their places."""
    inner = line.strip().strip("|") if "|" in line else line
    start = line.find(inner)
    pattern = r"[^|]+" if "|" in line else r"\S+(?: \S+)*"
    return [(start + hit.start(), hit[0]) for hit in re.finditer(pattern, inner)]


def _remarks(facts: Knowledge, spoken: set[str], text: str) -> tuple[str, ...]:
    silent = [name for name in facts.features if name not in spoken and name not in text and one_line(name) not in text]
    if not silent:
        return ()
    shown = [one_line(name) for name in silent[:8]] + ([f"{len(silent) - 8} more"] if len(silent) > 8 else [])
    return (f"never mentioned, though the tree uses {'it' if len(silent) == 1 else 'them'}: {listed(shown, 'and')}",)
