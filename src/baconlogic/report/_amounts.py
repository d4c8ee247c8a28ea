"""Claims with numbers: weights, thresholds, andness, and how many features there are."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from baconlogic.core.words import number, one_line
from baconlogic.report._claims import agrees, claim, digits, is_plain
from baconlogic.report._words import ABOUT, COUNTED, COUNTS, GROUPED, NUMBER, SHARE, TOGETHER

if TYPE_CHECKING:
    from collections.abc import Iterator

    from baconlogic.report._claims import Claim
    from baconlogic.report._knowledge import Knowledge
    from baconlogic.report._sentences import Clause, Mention

_ONLY = rf"(?:only\s+|just\s+|exactly\s+|an?\s+)?(?P<about>{ABOUT})?"
_WEIGHTS = (
    re.compile(
        rf"\b(?:weight(?:ing)?s?|importances?|shares?)\b(?:\s+(?:value|score))?\s*(?:of|is|are|was|equals?|at|:|=|—)?\s*"
        rf"{_ONLY}{SHARE}",
        re.IGNORECASE,
    ),
    re.compile(rf"\b(?:weighs?|weigh(?:ed|ted))\s+(?:at\s+|with\s+|by\s+|in\s+at\s+)?{_ONLY}{SHARE}", re.IGNORECASE),
    re.compile(
        rf"\b(?:counts?(?:\s+for)?|contributes?|accounts?\s+for|carries|carry|makes?\s+up)\s+{_ONLY}(?P<number>{NUMBER})\s*"
        r"(?:(?P<percent>%|percent\b|per\s+cent\b)|of\s+the\s+(?:total\s+)?weight)(?!\s*true)",
        re.IGNORECASE,
    ),
    re.compile(
        rf"\bwith\s+{_ONLY}(?P<number>{NUMBER})\s*(?P<percent>%|percent\b|per\s+cent\b)?\s*of\s+the\s+(?:total\s+)?"
        r"(?:weight|importance)",
        re.IGNORECASE,
    ),
    re.compile(rf"[\[(]\s*{_ONLY}(?P<number>{NUMBER})\s*(?P<percent>%)\s*(?=[\],)])"),
)
_GIVEN_TO = re.compile(
    r"\s*(?:\)\s*)?(?:is\s+)?(?:given\s+|assigned\s+)?(?:to|for|on)\s+(?:the\s+)?(?:feature\s+)?[\"']?$"
)
_DECIDES = re.compile(
    rf"(?:\b(?:decision\s+)?(?:threshold|cut-?off)(?:\s+value)?\s*(?:for\s+(?:an?\s+)?\w+\s+)?(?:of|is|at|=|:)?\s*|\btruth\s+(?:is\s+)?(?:above|over|exceeds|(?:more|greater|higher)\s+than)\s+|\badd\s+up\s+to\s+more\s+than\s+|\bturns\s+at\s+(?:a\s+truth\s+of\s+)?|"
    rf"\bit\s+is\s+more\s+than\s+){_ONLY}{SHARE}",
    re.IGNORECASE,
)
_SIGNED = r"-?" + NUMBER.removeprefix(r"(?<![\w.])")
_LINE = rf"(?P<number>{_SIGNED})"
_PLACED = re.compile(
    r"\b(?P<side>above|over|exceed(?:s|ing)?|(?:greater|more|larger|higher|less|lower|smaller)\s+than|at\s+least|at\s+most|below|under|"
    rf"half\s+true\s+at|half[- ]way\s+at|fully\s+true\s+(?:at|from|above|below)|between)"
    rf"\s+(?P<about>{ABOUT})?{_LINE}(?!\s*%|\s*percent)"
    rf"(?:\s+and\s+(?P<second>{_SIGNED}))?",
    re.IGNORECASE,
)
_NEARLY = re.compile(
    r"[^.;]{0,20}\b(?:close\s+to|near(?:ly)?|almost|mostly|largely|practically|virtually)\b", re.IGNORECASE
)
_HIGH = ("above", "over", "exceed", "greater", "more", "larger", "higher", "at least")
_LOW = ("below", "under", "less", "lower", "smaller", "at most")
_FOR_YES = re.compile(r"\b(?:must|required|mandatory|needs?|yes|speaks?\s+for)\b", re.IGNORECASE)
_ANDNESS = re.compile(
    r"\bandness(?:\s+of\s+(?:the\s+)?[A-Za-z][\w+ -]{0,30}?\s+(?=is\b))?\s*(?:of|is|at|=|:)?\s*"
    rf"(?P<about>{ABOUT})?{_LINE}",
    re.IGNORECASE,
)
_COUNT = re.compile(
    r"\b(?P<count>\d{1,4}|" + "|".join(COUNTS) + r")\s+(?:(?:different|input|distinct|raw|key|of\s+(?:the\s+)?\d+)\s+)?"
    r"(?:features|variables|inputs|measurements|columns|attributes|predictors)\b",
    re.IGNORECASE,
)
_USES = re.compile(
    r"\b(?:tree|model|decision|logic|it|report)\b[^.;]{0,30}\b(?:uses?|using|combines?|has|relies\s+on|based\s+on|considers?|takes?|reads?|"
    r"looks\s+at|with|of)\s+(?:only\s+|just\s+|exactly\s+|a\s+total\s+of\s+|the\s+|all\s+)?$|\bthere\s+are\s+$",
    re.IGNORECASE,
)


def weights(clause: Clause, known: Knowledge) -> Iterator[Claim]:
    """Check numbers that are called a weight, or stand like one behind a name."""
    if clause.sentence.row or TOGETHER.search(clause.text):
        return
    found = sorted((hit for pattern in _WEIGHTS for hit in pattern.finditer(clause.text)), key=lambda hit: hit.start())
    last = 0
    for hit in found:
        if hit.start("number") < last:
            continue  # two patterns saw the same number
        about = _targets(clause, hit, last)
        last = hit.end()
        if not about:
            continue
        value, slack = digits(hit["number"], percent=bool(hit["percent"]), about=bool(hit["about"]))
        if value > 1.0 and not hit["percent"]:
            value, slack = value / 100.0, slack / 100.0
        truths = [truth for each in about for truth in _weights_of(each, known)]
        own = _weights_of(about[-1], known)[:1]
        name = f"{_called(about[-1], known)} weighs"
        yield claim(
            "weight", clause, hit, f"{name} {hit['number']}{hit['percent'] or ''}",
            f"{name} {number(round(own[0], 4))} in its gate", holds=agrees(value, slack, truths),
        )  # fmt: skip


def _targets(clause: Clause, hit: re.Match[str], last: int) -> list[Mention | str]:
    """Return what a number may be the weight of: the features since the number before it, or a gate."""
    after = [each for each in clause.features if each.start >= hit.end()]
    if after and _GIVEN_TO.fullmatch(clause.text[hit.end() : after[0].start]):
        return [after[0]]
    features = [each for each in clause.features if last <= each.start and each.end <= hit.start()]
    gates = [each for each in clause.gates if last <= each.start and each.end <= hit.start()]
    if features and re.search(
        r"\b(?:all|most|some|any|both|one)\s+of\s+(?:not\s+)?$|\bon\s+balance\s*$", clause.text[: features[0].start]
    ):
        return []  # the weight of what they make together
    if features:
        return [*gates, *features]
    if gates:
        return [gates[-1]]
    return list(clause.subject) if not clause.features else []


def _weights_of(about: Mention | str, known: Knowledge) -> list[float]:
    if isinstance(about, str):
        return known.weights(about)
    return (
        known.weights(about.feature)
        if about.feature
        else [w for g in sorted(about.gates) for w in known.gate_weights(g)]
    )


def _called(about: Mention | str, known: Knowledge) -> str:
    if isinstance(about, str):
        return one_line(about)
    return one_line(about.feature) or f"group {known.gates[min(about.gates)].told.code}"


def table_weights(header: list[str], cells: list[tuple[int, str]], clause: Clause, known: Knowledge) -> Iterator[Claim]:
    """Check a line of a table whose head has a column of weights."""
    named = clause.named
    for title, (start, cell) in zip(header, cells, strict=False):
        hit = re.compile(rf"\s*{SHARE}\s*").fullmatch(clause.text, start, start + len(cell))
        if len(named) == 1 and hit and re.search(r"\b(?:weight|importance|share)", title, re.IGNORECASE):
            percent = bool(hit["percent"]) or "%" in title
            value, slack = digits(hit["number"], percent=percent, about=False)
            truths = known.weights(named[0])
            said = f"{one_line(named[0])} weighs"
            yield claim(
                "weight", clause, hit, f"{said} {cell.strip()}", f"{said} {number(round(truths[0], 4))} in its gate",
                holds=agrees(value, slack, truths),
            )  # fmt: skip


def thresholds(clause: Clause, known: Knowledge, yes: str) -> Iterator[Claim]:
    """Check where the decision turns, and where a feature is said to be true enough for `yes`, a pattern."""
    for hit in _DECIDES.finditer(clause.text):
        value, slack = digits(hit["number"], percent=bool(hit["percent"]), about=bool(hit["about"]))
        marks = [mark for name in clause.named for mark in known.marks(name)]
        turn = known.asked.threshold
        yield claim(
            "threshold", clause, hit, hit[0].strip(), f"the decision turns at a truth of {number(turn)}",
            holds=agrees(value, slack, [turn, *marks]),
        )  # fmt: skip
    for hit in _PLACED.finditer(clause.text):
        before = [each for each in clause.features if each.end <= hit.start()]
        feature = before[-1].feature if before else (clause.subject[0] if clause.subject else "")
        between = clause.text[before[-1].end : hit.start()] if before else ""
        if COUNTED.search(clause.text) or _NEARLY.match(clause.text, hit.end()):
            continue
        if feature and len(between) <= 60 and not re.search(r"\d\s|weight|andness|share|truth\b", between):
            yield from _placed(clause, hit, feature, known, yes)


def _placed(clause: Clause, hit: re.Match[str], feature: str, known: Knowledge, yes: str) -> Iterator[Claim]:
    marks = known.marks(feature, half=hit["side"].lower().startswith("half"))
    if not marks:
        return
    true = (
        f"{one_line(feature)} changes at {', '.join(number(mark) for mark in sorted(set(known_ends(feature, known))))}"
    )
    for written in (hit["number"], hit["second"]):
        if written is None:
            continue
        sign = -1.0 if written[0] == "-" else 1.0
        value, slack = digits(written.lstrip("-"), percent=False, about=bool(hit["about"]))
        near = [mark for mark in marks if abs(sign * value - mark) <= slack + 1e-9 * abs(mark)]
        holds = bool(near) and _right_side(clause, hit["side"].lower(), known.sides(feature), sign * value, slack, yes)
        yield claim("threshold", clause, hit, f"{one_line(feature)} {hit[0].strip()}", true, holds=holds)


def known_ends(feature: str, known: Knowledge) -> list[float]:
    """Return the finite ends of the ranges in which a feature speaks for yes, else all its marks."""
    ends = [end for span in known.sides(feature) for end in span if abs(end) != float("inf")]
    return ends or known.marks(feature)


def _right_side(
    clause: Clause, side: str, spans: list[tuple[float, float]], value: float, slack: float, yes: str
) -> bool:
    """Whether the side that is said to speak for yes is one that does; unsaid, both are right."""
    above, below = side.startswith(_HIGH), side.startswith(_LOW)
    said = _FOR_YES.search(clause.text) or re.search(rf"{yes}[^.;]*\b(?:when|where|once)\b", clause.text, re.IGNORECASE)
    if not (above or below) or not spans or not said or not is_plain(clause.text):
        return True
    starts, ends = [low for low, _ in spans], [high for _, high in spans]
    mine, other = (starts, ends) if above else (ends, starts)
    return agrees(value, slack, mine) or not agrees(value, slack, other)


def andness(clause: Clause, known: Knowledge) -> Iterator[Claim]:
    """Check numbers that are called andness: that of a gate in the clause, or of any."""
    for hit in _ANDNESS.finditer(clause.text):
        sign = -1.0 if hit["number"][0] == "-" else 1.0
        value, slack = digits(hit["number"].lstrip("-"), percent=False, about=bool(hit["about"]))
        spoken = {gate for each in clause.gates for gate in each.gates} or set(known.gates)
        truths: list[float] = []
        for gate in (known.gates[i].gate for i in spoken):
            truths += [gate.andness, 1.0 - gate.andness, *gate.level.span(len(gate.inputs)), *gate.level.span()]
        shown = " or ".join(dict.fromkeys(number(round(known.gates[i].gate.andness, 3)) for i in sorted(spoken)[:5]))
        holds = agrees(sign * value, slack, truths) or not truths
        yield claim("andness", clause, hit, hit[0], f"andness {shown}", holds=holds)


def counts(clause: Clause, known: Knowledge) -> Iterator[Claim]:
    """Check how many features the tree, or a group, is said to use."""
    for hit in _COUNT.finditer(clause.text):
        said = hit["count"].lower()
        count = COUNTS[said] if said in COUNTS else int(said)
        grouped = bool(clause.gates) or GROUPED.search(clause.text) is not None
        if (
            grouped
            or not _USES.search(clause.text[: hit.start()])
            or re.search(r"\b(?:more|other|least|most)\b", clause.text)
        ):
            continue
        true = f"the tree uses {len(known.features)} features"
        yield claim("count", clause, hit, f"{said} features", true, holds=count == len(known.features))
