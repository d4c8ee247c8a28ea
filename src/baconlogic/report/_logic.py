"""Claims about logic: codes and their names, the words of a family, who belongs to which group."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from baconlogic.core.levels import LEVELS
from baconlogic.core.words import listed, one_line
from baconlogic.report._claims import claim, is_plain, is_unreal
from baconlogic.report._sentences import codes_in
from baconlogic.report._words import CODE, FAMILY_WORDS, LEVEL_NAME, LEVEL_NAMES, ROOT, WORDS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from baconlogic.report._claims import Claim
    from baconlogic.report._knowledge import Knowledge
    from baconlogic.report._sentences import Clause

_LINK = r"[\s\"']*(?:[—:,(\[=-]|\bis\b|\bor\b|\bi\.e\.)?[\s\"'(]*(?:an?\s+|the\s+)?"
_CODE_THEN_NAME = re.compile(rf"(?P<code>{CODE.pattern}){_LINK}(?P<name>{LEVEL_NAME.pattern})", re.IGNORECASE)
_NAME_THEN_CODE = re.compile(
    rf"(?P<name>{LEVEL_NAME.pattern})\s*[(\[—,:-]+\s*(?:code\s+)?(?P<code>{CODE.pattern})(?=[)\],.\s]|$)",
    re.IGNORECASE,
)
_STRANGE = re.compile(
    r"\b(?i:operator|aggregator|gate|code)\s*(?:is\s+|:\s*|=\s*)?[\"']?(?P<a>[A-Z]{1,4}(?:[+-](?!\w))?)(?![\w+-])"
    r"|(?<![\w-])(?P<b>[A-Z]{2,4}(?:[+-](?!\w))?)(?=\s*[(—:-]+\s*[A-Za-z -]{0,30}(?i:con|dis)junction)"
)
_NOT_CODES = {"LSP", "GCD", "BACON", "AND", "OR", "NOT", "THE", "JSON", "AI"}
_IN = re.compile(
    r"\b(?:within|in|under|inside|below|beneath|belongs?\s+to|part\s+of|child(?:ren)?\s+of|members?\s+of|inputs?\s+(?:of|to))\s+"
    r"(?:(?:the|a|an|operator|aggregator|second|first|lower|inner|same|size-related)\s+){0,3}$",
    re.IGNORECASE,
)
_HOLDS = re.compile(
    r"\b(?:combines?|averages?|joins?|contains?|includes?|aggregates?|groups?\s+together|merges?|covers?|consists?\s+of|takes|gathers?)\b",
    re.IGNORECASE,
)
_ALL = re.compile(
    r"\b(?:requires?|needs?|demands?|wants)\s+(?:that\s+)?(?:all|both|every|each)\b|\ball\s+(?:of\s+)?(?:its|the|their)\s+"
    r"(?:\w+\s+)?(?:inputs?|children|features|branches|conditions|members)\s+(?:must|have\s+to|are\s+(?:required|needed))",
    re.IGNORECASE,
)
_ANY = re.compile(
    r"\b(?:any|a\s+single|one)\s+(?:one\s+)?(?:of\s+(?:its|the|these|them|their)\b\s*(?:two\s+|\w+\s+)?(?:inputs?|children|features|branches|"
    r"conditions)?|input|child|feature|branch|condition)[^.;,]{0,40}\b(?:enough|sufficient|suffices?)\b"
    r"|\b(?:enough|sufficient)\s+(?:that|if|for)\s+(?:any|one|a\s+single)\b",
    re.IGNORECASE,
)
_CODES = re.compile(rf"(?:{CODE.pattern}(?: x\d+)?(?:, )?)+")
_BESIDE = re.compile(r"[\s\"')]*(?:of\s*)?[(\[—-]\s*(?:code|operator)?\s*")
_SIDE = re.compile(r"\b(?P<con>conjuncti(?:on|ve))\b|\b(?P<dis>disjuncti(?:on|ve))\b", re.IGNORECASE)


def codes(clause: Clause, known: Knowledge) -> Iterator[Claim]:
    """Check codes: known at all, with the right name, in the tree, and at the root when said so."""
    text = clause.text
    pairs = [hit for hit in (*_CODE_THEN_NAME.finditer(text), *_NAME_THEN_CODE.finditer(text)) if _is_pair(hit)]
    for hit in pairs:
        level = LEVELS[hit["code"]]
        right = LEVEL_NAMES.get(_spaced(hit["name"])) is level
        said, true = f"{hit['code']} is {hit['name']}", f"{level.code} is {level.name}"
        yield claim("code", clause, hit, said, true, holds=right)
    for hit in _STRANGE.finditer(text):
        code = hit["a"] or hit["b"]
        if code not in LEVELS and code not in _NOT_CODES and code.lower() not in known.words:
            yield claim("code", clause, hit, f"operator {code}", f"there is no code {code}", holds=False)
    if is_unreal(text) or re.search(r"e\.g\.|\bnot\b", text):
        return
    there = {code for gate in known.gates.values() for code in gate.codes}
    for hit in codes_in(text):
        if hit[0].lower() not in known.words:
            yield claim(
                "code", clause, hit, f"operator {hit[0]}", f"the tree has {_listed(there)}", holds=hit[0] in there
            )
    for hit in LEVEL_NAME.finditer(text):
        if any(pair.start() <= hit.start() < pair.end() for pair in pairs):
            continue  # said with its code
        code = LEVEL_NAMES[_spaced(hit[0])].code
        yield claim("code", clause, hit, hit[0], f"the tree has {_levels(there)}", holds=code in there)
    yield from _root(clause, known)


def _is_pair(hit: re.Match[str]) -> bool:
    """Whether a code and a name belong together; A, C and D may be letters, or the beginning of a sentence."""
    if hit["code"] not in LEVELS:
        return False
    between = hit[0].removeprefix(hit["code"])
    return len(hit["code"]) > 1 or re.match(r"\s*[—:(=-]", between) is not None or hit[0].endswith(hit["code"])


def _spaced(name: str) -> str:
    return re.sub(r"[-\s]+", " ", name.lower())


def _listed(codes: set[str]) -> str:
    return listed([code for code in LEVELS if code in codes], "and") if codes else "no gate"


def _levels(codes: set[str]) -> str:
    return (
        listed([f"{level.name} ({code})" for code, level in LEVELS.items() if code in codes], "and")
        if codes
        else "no gate"
    )


def _root(clause: Clause, known: Knowledge) -> Iterator[Claim]:
    """Check the code that the root is said to have: the only one of the clause."""
    where = ROOT.search(clause.text)
    said = {hit[0] for hit in codes_in(clause.text)} | {
        LEVEL_NAMES[_spaced(hit[0])].code for hit in LEVEL_NAME.finditer(clause.text)
    }
    if where is None or known.top is None or len(said) != 1:
        return
    right = set(known.gates[known.top].codes)
    right |= {code for group in known.groups[:1] for code in group.codes}
    code = next(iter(said))
    yield claim("code", clause, where, f"the root is {code}", f"the root is {_listed(right)}", holds=code in right)


def words(clause: Clause, known: Knowledge) -> Iterator[Claim]:
    """Check the words of a family against the gate they are said of."""
    if not known.gates:
        return
    for hit in WORDS.finditer(clause.text):
        if is_plain(clause.text[: hit.start()]):
            gates = _spoken_of(clause, hit.start(), hit.end(), known)
            yield _family(clause, hit, gates, {FAMILY_WORDS[_spaced(hit[0])]}, known)
    if is_plain(clause.text):
        yield from _behaviour(clause, known)


def _behaviour(clause: Clause, known: Knowledge) -> Iterator[Claim]:
    """Check what a gate is said to ask of its inputs: all, any, or to be one of the two kinds."""
    for pattern, roles in ((_ALL, {"mandatory", "desired", "neutral"}), (_ANY, {"sufficient", "optional", "neutral"})):
        for hit in pattern.finditer(clause.text):
            before = {each.gates for each in clause.gates if each.end <= hit.start()}
            if len(before) == 1:
                yield _family(clause, hit, set(next(iter(before))), roles, known)
    spoken = {each.gates for each in clause.gates}
    if len(spoken) != 1:
        return
    gates = set(next(iter(spoken)))
    for hit in _SIDE.finditer(clause.text):
        if not LEVEL_NAME.search(clause.text) and not re.search(r"\bin\s+$", clause.text[: hit.start()], re.IGNORECASE):
            roles = {"mandatory", "desired"} if hit["con"] else {"sufficient", "optional"}
            yield _family(clause, hit, gates, roles, known)


def _family(clause: Clause, hit: re.Match[str], gates: set[int], roles: set[str], known: Knowledge) -> Claim:
    said = f'"{hit[0]}" of {_codes(gates, known)}'
    return claim("words", clause, hit, said, _words_of(gates, known), holds=_has(gates, roles, known))


def _spoken_of(clause: Clause, start: int, end: int, known: Knowledge) -> set[int]:
    """Return the gates that words are said of: those before, in the closing bracket, right after, or any."""
    before = [each for each in clause.gates if each.end <= start]
    if before:
        return set(before[-1].gates)
    closing = re.search(r"\(([^()]*)\)\.?\s*$", clause.sentence.text)
    told = {hit[0] for hit in CODE.finditer(closing[1])} if closing and _CODES.fullmatch(closing[1]) else set()
    named = {i for i, gate in known.gates.items() if gate.codes & told}
    if named and clause.sentence.text.startswith(clause.text[:20]):
        return named
    near = [each for each in clause.gates if each.start >= end and _BESIDE.fullmatch(clause.text[end : each.start])]
    return set(near[0].gates) if near else set(known.gates)


def _has(gates: set[int], roles: set[str], known: Knowledge) -> bool:
    return any(level.role in roles for i in gates for level in known.gates[i].levels)


def _codes(gates: set[int], known: Knowledge) -> str:
    return _listed({known.gates[i].told.code for i in gates})


def _words_of(gates: set[int], known: Knowledge) -> str:
    return " or ".join(
        dict.fromkeys(f'{known.gates[i].told.code}: "{known.gates[i].told.words}"' for i in sorted(gates))
    )


def groups(clause: Clause, known: Knowledge) -> Iterator[Claim]:
    """Check which group a feature is said to be in: by place, by list, or by what a group combines."""
    for gate in clause.gates:
        ahead = _IN.search(clause.text[: gate.start])
        inside = [each for each in clause.features if ahead and each.end <= ahead.start()]
        verb = _HOLDS.search(clause.text, gate.end)
        others = [each for each in clause.gates if each.start >= gate.end]
        if verb and not others and (not ahead or not inside):
            inside += [each for each in clause.features if each.start >= verb.end() and verb.start() - gate.end < 40]
        if not is_plain(clause.text):
            continue
        for each in inside:
            holds = known.is_below(each.feature, set(gate.gates))
            found = re.compile(re.escape(clause.text[each.start : each.end])).search(clause.text, each.start)
            if found:
                yield claim(
                    "group",
                    clause,
                    found,
                    _in(each.feature, set(gate.gates), known),
                    _place(each.feature, known),
                    holds=holds,
                )


def listed_groups(clause: Clause, known: Knowledge) -> Iterator[Claim]:
    """Check the feature at the head of an item of a list that is about a gate."""
    within = set(clause.sentence.within)
    if (
        within
        and clause.features
        and clause is clause.sentence.clauses[0]
        and not clause.text[: clause.features[0].start].strip(" \"'(")
    ):
        first = clause.features[0]
        found = re.compile(re.escape(clause.text[first.start : first.end])).search(clause.text, first.start)
        if found:
            holds = known.is_below(first.feature, within)
            yield claim(
                "group", clause, found, _in(first.feature, within, known), _place(first.feature, known), holds=holds
            )


def _in(feature: str, gates: set[int], known: Knowledge) -> str:
    return f"{one_line(feature)} is below {_codes(gates, known)}"


def _place(feature: str, known: Knowledge) -> str:
    own = {known.gates[i].told.code for i in known.parents_of(feature)}
    return f"{one_line(feature)} is an input of {_listed(own)}"
