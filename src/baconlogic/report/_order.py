"""Claims about order: which feature matters most, or more than another, and which way values speak."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from baconlogic.core.words import number, one_line
from baconlogic.explain._describe import EVEN
from baconlogic.report._claims import candidates, claim, is_negated, is_plain, is_unreal, runs
from baconlogic.report._knowledge import TIE
from baconlogic.report._words import COUNTS, GROUPED, WHOLE

if TYPE_CHECKING:
    from collections.abc import Iterator

    from baconlogic.core.answers import Label
    from baconlogic.report._claims import Claim
    from baconlogic.report._knowledge import Knowledge
    from baconlogic.report._sentences import Clause, Mention

NEAR = 100  # characters around a name in which a word may belong to it
_KIND = r"(?:influential|important|weight|decisive|significant|dominant|relevant|powerful|heavily\s+weighted)"
_NOUN = r"(?:weights?|importance|influence|share|impact)"
_MOST = re.compile(
    rf"\b(?:(?P<which>second|third|two|three|four|five)[\s-]+)?(?:(?P<most>most\s+{_KIND}|(?:highest|largest|greatest|biggest|heaviest)\s+{_NOUN}|"
    rf"heaviest|(?:weighs|matters|counts)\s+(?:the\s+)?most\b)|(?P<least>least\s+{_KIND}|(?:lowest|smallest)\s+{_NOUN}|lightest|"
    r"(?:weighs|matters|counts)\s+(?:the\s+)?least\b))",
    re.IGNORECASE,
)
_ONE_OF = re.compile(r"\b(?:one|some|among|amongst|many|few)\s+(?:of\s+)?(?:the\s+)?$", re.IGNORECASE)
_THAN = re.compile(
    r"\b(?P<sign>more|less|higher|lower|greater|smaller|larger|heavier)\b[^,;.]{0,40}?\bthan\b|\b(?P<out>outweighs|outranks|dominates\s+over)\b",
    re.IGNORECASE,
)
_COMPARED = re.compile(r"\b(?:than|as\s+\w+\s+as)\b", re.IGNORECASE)
_ABOUT_WEIGHT = re.compile(
    r"\b(?:matters?|weighs?|counts?|influen\w+|important|importance|weights?|decisive|significant|outweighs|outranks|dominates)\b",
    re.I,
)
_EQUAL = re.compile(
    r"\b(?:equally\s+(?:important|influential|weighted|heavy)|equal\s+(?:weights?|importance)|(?:the\s+)?same\s+(?:weight|importance)|as\s+important\s+as)\b",
    re.IGNORECASE,
)
_UP = r"(?P<up>higher|larger|greater|bigger|increas(?:ed|ing)|rising|elevated|high|large)"
_DOWN = r"(?P<down>lower|smaller|decreas(?:ed|ing)|falling|reduced|low|small)"
_BEFORE = re.compile(
    rf"\b(?:{_UP}|{_DOWN})\s+(?:(?:values?|levels?|degrees?|amounts?|numbers?)\s+(?:of|in|for)\s+)?(?:the\s+|its\s+|mean\s+)?[\"'(]*$"
    r"|\b(?:(?P<rise>increase|rise|growth)|(?P<fall>decrease|drop|fall|reduction))s?\s+(?:in|of)\s+(?:the\s+)?[\"']*$",
    re.IGNORECASE,
)
_AFTER = re.compile(
    rf"^[\"')]*\s+(?:values?\s+)?(?:(?:is|are|being|gets?|becomes?|must\s+be|has\s+to\s+be|needs\s+to\s+be)\s+(?:very\s+|too\s+)?(?:{_UP}|{_DOWN})\b"
    r"|(?P<rise>increases|rises|grows)\b(?!\s+the)|(?P<fall>decreases|falls|drops|shrinks)\b(?!\s+the))",
    re.IGNORECASE,
)
_ROW = re.compile(
    r"\bthe\s+(?:(?P<up>higher|larger)|(?P<down>lower|smaller)),?\s+the\s+(?:(?P<more>more)|less)\b", re.IGNORECASE
)
_REQUIRED = re.compile(r"\brequires?\b[^.;]{0,30}$", re.IGNORECASE)
_MUST_BE = re.compile(r"[\"')\s]*(?:values?\s+)?(?:must|has\s+to|needs\s+to)\s+be\b", re.IGNORECASE)
_TARGET = r"(?:risk|likelihood|probability|chances?|score|truth|odds|support)"


class Outcome:
    """The words of the two answers."""

    def __init__(self, yes: Label, no: Label) -> None:
        self.yes = rf"(?:{_stem(yes, 'yes')}|affirmative|positive)"
        other = _stem(no, "no answer")
        same = (
            isinstance(no, str)
            and isinstance(yes, str)
            and (no.lower().startswith("not ") or yes.lower() in no.lower())
        )
        self.no = None if same else other

    def effect(self, text: str) -> int:
        """Return +1 when a clause speaks for yes, -1 when against, 0 when neither is clear."""
        signs = {sign for pattern, sign in self._patterns() if re.search(pattern, text, re.IGNORECASE)}
        return signs.pop() if len(signs) == 1 else 0

    def _patterns(self) -> list[tuple[str, int]]:
        toward = (
            r"\b(?:suggests?|indicates?|indicators?\s+of|indicative\s+of|means?|points?\s+to(?:wards?)?|supports?|favou?rs?|leans?\s+towards?|"
            r"speaks?\s+for|leads?\s+to|signals?|makes?|evidence\s+(?:for|of)|consistent\s+with|predicts?)\s+(?:an?\s+|the\s+)?(?:\w+\s+){0,2}?"
        )
        against = r"\b(?:speaks?|argues?|evidence|counts?)\s+against\b|\brules?\s+out\b|\bless\s+likely\b|\bunlikely\b"
        raised = rf"\b(?:increas(?:es?|ing)|raises?|boosts?|higher|greater)\s+(?:the\s+|its\s+)?(?:\w+\s+)?{_TARGET}\b"
        raised += r"|\bmore\s+likely\b|\brisk\s+(?:factor|indicator)s?\b"
        lowered = rf"\b(?:decreas(?:es?|ing)|lowers?|reduces?|lower)\s+(?:the\s+|its\s+)?(?:\w+\s+)?{_TARGET}\b"
        found = [(toward + self.yes, 1), (rf"\bthe\s+more\s+(?:\w+\s+){{0,2}}?{self.yes}", 1)]
        if self.no:
            found.append((toward + self.no, -1))
            found += [(rf"(?:{raised})[^.;]{{0,20}}\b{self.no}", -1)]
            other = rf"(?![^.;]{{0,20}}\b{self.no})"
        else:
            other = ""
        return [*found, (rf"(?:{raised}){other}", 1), (rf"(?:{lowered}|{against}){other}", -1)]


def _stem(label: Label, otherwise: str) -> str:
    """Return a pattern for a label as it is spoken: malignant, malignancy."""
    if not isinstance(label, str) or not label.strip():
        return otherwise
    words = [re.escape(word[: max(4, len(word) - 3)]) + r"\w*" for word in label.split()]
    return r"\b" + r"\s+".join(words)


def ranks(clause: Clause, known: Knowledge) -> Iterator[Claim]:
    """Check which feature is said to matter most or least, overall or in its group."""
    if is_unreal(clause.text) or clause.sentence.row:
        return
    for hit in _MOST.finditer(clause.text):
        lists = candidates(clause, hit.start(), hit.end())
        after = runs(clause.text, [each for each in clause.features if each.start >= hit.end()])
        if not _COMPARED.search(clause.text[: hit.start()]):
            lists = lists[-1:]  # else the last may be what the first is compared with
        lists = [*lists, *after[:1]] if lists else []
        if not lists or _ONE_OF.search(clause.text[: hit.start()]) or is_negated(clause.text, hit.start()):
            continue
        lists = [names for names in lists if names]
        right = any(_is_extreme(names, hit, clause, known) for names in lists)
        name = lists[0][0]
        yield claim(
            "rank", clause, hit, f"{listed_names(lists[0])}: {hit[0]}", _order_of(name, clause, known), holds=right
        )


def listed_names(names: list[str]) -> str:
    """Write features as a short list."""
    return ", ".join(one_line(name) for name in names)


def _is_local(clause: Clause, known: Knowledge) -> bool:
    gates = {gate for each in clause.gates for gate in each.gates} - {known.top}
    grouped = (
        bool(gates) or bool(clause.sentence.within) or clause.sentence.local or GROUPED.search(clause.text) is not None
    )
    return grouped and not WHOLE.search(clause.text)


def _rankings(name: str, clause: Clause, known: Knowledge) -> list[dict[str, float]]:
    return known.rankings(name) if _is_local(clause, known) else known.whole_rankings


def _is_extreme(names: list[str], hit: re.Match[str], clause: Clause, known: Knowledge) -> bool:
    """Whether features are the heaviest, or the lightest, or the second, in some ranking that may be meant."""
    which, sign = (hit["which"] or "").lower(), -1.0 if hit["most"] else 1.0
    rankings = _rankings(names[0], clause, known)
    if re.search(r"[\[(][^\])]*$", clause.text[: hit.start()]):  # in brackets, of whatever is told there
        rankings = [*known.rankings(names[0]), *known.whole_rankings]
    for ranking in rankings:
        if any(name not in ranking for name in names):
            continue
        order = sorted(sign * weight for weight in ranking.values())
        if which in ("second", "third"):
            place = {"second": 1, "third": 2}[which]
            wanted = order[place] if place < len(order) else None
            if wanted is not None and abs(sign * ranking[names[0]] - wanted) <= TIE:
                return True
            continue
        count = max(len(names), COUNTS.get(which, 1) if len(names) > 1 else 1)
        if count <= len(order) and all(sign * ranking[name] <= order[count - 1] + TIE for name in names):
            return True
    return False


def _order_of(name: str, clause: Clause, known: Knowledge) -> str:
    ranking = next((each for each in _rankings(name, clause, known) if name in each), known.overall)
    first = sorted(ranking, key=lambda each: -ranking[each])[:6]
    return "by weight: " + ", ".join(f"{one_line(each)} {number(round(ranking[each], 4))}" for each in first)


def comparisons(clause: Clause, known: Knowledge) -> Iterator[Claim]:
    """Check "a matters more than b" and "a and b weigh the same"."""
    if not is_plain(clause.text) or clause.sentence.row:
        return
    for hit in _THAN.finditer(clause.text):
        before = [each.feature for each in clause.features if each.end <= hit.start()] or list(clause.subject)
        after = [each for each in clause.features if hit.end() <= each.start <= hit.end() + 20]
        if not before or not after or not _ABOUT_WEIGHT.search(clause.text):
            continue
        one, other = before[-1], after[0].feature
        less = hit["sign"] is not None and hit["sign"].lower() in ("less", "lower", "smaller")
        pairs = [(r[one], r[other]) for r in [known.overall, *known.rankings(one)] if one in r and other in r]
        right = one == other or any((a < b) if less else (a > b) for a, b in pairs)
        one_weighs, other_weighs = (number(round(weight, 4)) for weight in pairs[0])
        true = f"{one_line(one)} weighs {one_weighs} in the whole, {one_line(other)} {other_weighs}"
        yield claim("rank", clause, hit, f"{one_line(one)} {hit[0]} {one_line(other)}", true, holds=right)
    for hit in _EQUAL.finditer(clause.text):
        names = max(runs(clause.text, clause.features), key=len, default=[])
        if len(names) > 1:
            rankings = [r for r in [known.overall, *known.rankings(names[0])] if all(name in r for name in names)]
            right = any(max(r[n] for n in names) <= EVEN * min(r[n] for n in names) for r in rankings)
            yield claim(
                "rank", clause, hit, f"{listed_names(names)}: {hit[0]}", _order_of(names[0], clause, known), holds=right
            )


def directions(clause: Clause, known: Knowledge, outcome: Outcome) -> Iterator[Claim]:
    """Check which values of a feature are said to speak for yes."""
    text = clause.text
    if clause.sentence.row or (_ROW.search(text) and len(clause.named) == 1):
        hit = _ROW.search(text)
        if hit and clause.features:
            yield from _direction(clause, hit, clause.features[0].feature, bool(hit["up"]) == bool(hit["more"]), known)
        return
    if not is_plain(text):
        return
    effect = outcome.effect(text) if clause.features else 0
    for mention in clause.features:
        ahead, behind = text[max(mention.start - NEAR, 0) : mention.start], text[mention.end : mention.end + NEAR]
        before, after = _BEFORE.search(ahead), _AFTER.match(behind)
        needed = _REQUIRED.search(ahead) or _MUST_BE.match(behind)
        hit = before or after
        sign = effect or (1 if needed else 0)
        if hit and sign and not _of_another(clause, mention, hit is after):
            up = bool(hit["up"] or hit["rise"])
            place = re.compile(re.escape(text[mention.start : mention.end])).search(text, mention.start)
            if place:
                yield from _direction(clause, place, mention.feature, up == (sign > 0), known)


def _of_another(clause: Clause, mention: Mention, is_after: bool) -> bool:
    """Whether the word that was found behind a mention stands before another one."""
    return is_after and any(0 <= each.start - mention.end < 12 for each in clause.features)


def _direction(clause: Clause, hit: re.Match[str], name: str, up: bool, known: Knowledge) -> Iterator[Claim]:
    ways = known.directions(name)
    if None in ways:
        return
    true = " and ".join("larger" if way else "smaller" for way in sorted(ways, key=str))
    said = "larger" if up else "smaller"
    yield claim(
        "direction", clause, hit, f"{said} values of {one_line(name)} speak for yes",
        f"{true} values of {one_line(name)} speak for yes", holds=up in ways,
    )  # fmt: skip
