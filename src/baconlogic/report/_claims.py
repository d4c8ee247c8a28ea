"""What a report claims: one statement, whether it holds, and the helpers that every kind of check shares."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from baconlogic.report._words import NOT

if TYPE_CHECKING:
    from collections.abc import Iterable

    from baconlogic.report._sentences import Clause, Mention

_JOINS = re.compile(
    r"[\s,/&()\"':*-]*(?:(?:and|or|as\s+well\s+as|plus|both|the|with|high|low|large|larger|higher|lower|mean)\b[\s,/&()\"'*-]*)*"
)
_JUST_BEFORE = re.compile(
    r"(?:\b(?:not|never|no|neither|nor|cannot|hardly|nowhere|without)\b|n't\b)(?:\s+\w+){0,3}\s*$", re.IGNORECASE
)
_UNREAL = re.compile(
    r"\b(?:would|if|whether|were|unless|unlike|rather\s+than|instead\s+of|compared|apart\s+from|besides|except|could)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Claim:
    """One statement that could be checked; `start` and `end` are places in the plain text."""

    kind: str
    start: int
    end: int
    said: str
    true: str
    holds: bool


def claim(kind: str, clause: Clause, found: re.Match[str], said: str, true: str, *, holds: bool) -> Claim:
    """Return a claim made where a pattern was found."""
    return Claim(kind, clause.start + found.start(), clause.start + found.end(), said, true, holds)


def is_negated(text: str, place: int) -> bool:
    """Whether "not" or the like stands right before a place."""
    return _JUST_BEFORE.search(text[max(place - 100, 0) : place]) is not None


def is_unreal(text: str) -> bool:
    """Whether a clause speaks of what would be, or of something else by contrast."""
    return _UNREAL.search(text) is not None


def is_plain(text: str) -> bool:
    """Whether a clause says what it says without any "not"."""
    return NOT.search(text) is None and not is_unreal(text)


def runs(text: str, mentions: Iterable[Mention]) -> list[list[str]]:
    """Return the features of a text as lists: "a, b and c" is one."""
    found: list[list[str]] = []
    last = -1
    for each in mentions:
        if found and _JOINS.fullmatch(text[last : each.start]):
            if each.feature not in found[-1]:
                found[-1].append(each.feature)
        else:
            found.append([each.feature])
        last = each.end
    return found


def candidates(clause: Clause, start: int, end: int) -> list[list[str]]:
    """Return the lists of features that a word may be about: those before it, else those after it, else carried on."""
    if _speaks_of_group(clause, start):
        return []
    before = runs(clause.text, [each for each in clause.features if each.end <= start])
    after = runs(clause.text, [each for each in clause.features if each.start >= end])
    if before:
        return [before[0], before[-1]] if len(before) > 1 else before
    return after[:1] or ([list(clause.subject)] if clause.subject else [])


def _speaks_of_group(clause: Clause, place: int) -> bool:
    """Whether what was named last before a place is a group, with its features in brackets or not."""
    last = clause.before(place)
    opens = clause.text.rfind("(", 0, last.start) if last else -1
    if last is None or clause.text.find(")", opens, last.start) >= 0:
        return False
    return opens >= 0 and any(
        re.fullmatch(r"\s*", clause.text[each.end : opens]) for each in clause.gates if each.end <= opens
    )


def digits(text: str, *, percent: bool, about: bool) -> tuple[float, float]:
    """Return a number as written and how far it may be from the truth: half of its last digit."""
    bare = text.replace(",", "")
    mantissa, _, exponent = bare.lower().partition("e")
    decimals = len(mantissa.partition(".")[2]) - int(exponent or 0)
    if about and "." not in mantissa and not exponent:
        decimals = -(len(mantissa) - len(mantissa.rstrip("0"))) if mantissa.strip("0") else 0
    scale = 0.01 if percent else 1.0
    return float(bare) * scale, 0.5 * 10.0**-decimals * scale * (1.0 + 1e-6) + 1e-12


def agrees(value: float, slack: float, truths: Iterable[float]) -> bool:
    """Whether a number is one of the truths, as far as it is written out."""
    return any(abs(value - true) <= slack for true in truths)
