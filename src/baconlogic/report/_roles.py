"""Claims about roles: what is mandatory, sufficient or optional. The tree itself is asked, by its bounds."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from baconlogic.core.words import number, one_line
from baconlogic.explain._words import ALONE
from baconlogic.report._claims import candidates, claim, is_negated, is_unreal, runs
from baconlogic.report._words import TOGETHER

if TYPE_CHECKING:
    from collections.abc import Iterator

    from baconlogic.report._claims import Claim
    from baconlogic.report._knowledge import Knowledge
    from baconlogic.report._sentences import Clause

_WANTED = r"(?:high|large|elevated|low|small|true|present|satisfied|met|fulfilled|favou?rable)"
_PATTERNS = {
    "mandatory": re.compile(
        r"\b(?:mandatory|required|necessary|indispensable|prerequisite|gate-?keeper|non-negotiable|(?:is|are)\s+a\s+must|"
        rf"must\s+(?:\w+\s+)?be\s+(?:\w+\s+)?{_WANTED})\b",
        re.IGNORECASE,
    ),
    "sufficient": re.compile(
        r"\b(?:sufficient(?!\s+(?:evidence|support|signals?|strength|data|detail))|suffices?|(?:is|are|be|alone|itself|own)\s+enough|"
        r"decides?\s+alone|alone\s+can\s+(?:make|trigger|cause|decide|lead|flag|produce)|alone\s+(?:decides?|determines?|triggers?)|(?:on\s+its\s+own|by\s+itself)\s+(?:triggers?|decides?|makes?|"
        r"determines?)|single-?handedly)\b",
        re.IGNORECASE,
    ),
    "optional": re.compile(
        r"\b(?:optional|dispensable|(?:can|may)\s+be\s+(?:left\s+out|ignored|omitted))\b", re.IGNORECASE
    ),
}
_REQUIRES = re.compile(r"\b(?:requires?|demands?|cannot\s+do\s+without|insists?\s+on)\b", re.IGNORECASE)
_LOCAL = re.compile(
    r"\b(?:within|in|inside|for|of|among)\s+(?:\w+\s+){0,3}(?:group|branch|path|part|gate|step|subtree|node)\b|\bwithin\b",
    re.IGNORECASE,
)
_CHOICE = re.compile(r"\b(?:or|either|any|one\s+of|some\s+of|most\s+of)\b", re.IGNORECASE)


def roles(clause: Clause, known: Knowledge) -> Iterator[Claim]:
    """Check roles said of features, or of a group where no feature is named."""
    if is_unreal(clause.text):
        return
    for role, pattern in _PATTERNS.items():
        for hit in pattern.finditer(clause.text):
            said = not is_negated(clause.text, hit.start())
            lists = candidates(clause, hit.start(), hit.end())
            if len({name for names in lists for name in names}) > 1 and _skips(role, clause, said=said):
                continue
            if lists:
                yield from _about(clause, hit, role, lists, known, said=said)
            else:
                yield from _of_group(clause, hit, role, known, said=said)
    for hit in _REQUIRES.finditer(clause.text):
        rest = [each for each in clause.features if each.start >= hit.end()]
        before = [each for each in (*clause.features, *clause.gates) if each.end <= hit.start()]
        if rest and not before and not _CHOICE.search(clause.text, hit.end()):
            said = not is_negated(clause.text, hit.start()) or hit[0].lower().startswith("cannot")
            first = runs(clause.text, rest)[0]
            yield from _about(clause, hit, "mandatory", [first], known, said=said)


def _skips(role: str, clause: Clause, *, said: bool) -> bool:
    """Whether a list of features may be meant as a whole, or as a choice."""
    if _CHOICE.search(clause.text) and not re.search(r"\beach\b", clause.text):
        return True
    together = role == "sufficient" and not re.search(r"\b(?:each|either|any|alone)\b", clause.text, re.IGNORECASE)
    return together or not said or TOGETHER.search(clause.text) is not None


def _about(
    clause: Clause, hit: re.Match[str], role: str, lists: list[list[str]], known: Knowledge, *, said: bool
) -> Iterator[Claim]:
    """Yield one claim for a list of features; of several lists that may be meant, one must be right."""
    wrong = [[name for name in names if not _holds(name, role, clause, known, said=said)] for names in lists]
    name = wrong[-1][0] if all(wrong) else lists[-1][0]
    no = "" if said else "not "
    yield claim(
        "role", clause, hit, f"{one_line(name)} is {no}{role}", _truth(name, known), holds=not all(wrong)
    )  # fmt: skip


def _holds(name: str, role: str, clause: Clause, known: Knowledge, *, said: bool) -> bool:
    """Whether a feature has a role: by the bounds, by its place, or within its group when that is said."""
    if name not in known.decisive:
        return True
    necessary, sufficient = known.decisive[name]
    own = {each.own for each in known.leaves[name]}
    local = (
        _LOCAL.search(clause.text) is not None
        or bool(clause.gates)
        or bool(clause.sentence.within)
        or clause.sentence.local
        or clause.sentence.row
    )
    placed = known.certain(name) | (own if local else set())
    if role == "optional":
        return (not necessary or "optional" in own) if said else necessary or bool(own - {"optional"})
    truly = necessary if role == "mandatory" else sufficient
    if said:
        return truly or role in placed or ALONE in placed
    return not truly or (local and role not in own)


def _truth(name: str, known: Knowledge) -> str:
    """Say what a feature is, and how that was found."""
    if name not in known.decisive:
        return ""
    necessary, sufficient = known.decisive[name]
    turn = number(known.asked.threshold)
    needed = f"without it no truth is above {turn}" if necessary else f"a truth above {turn} can be reached without it"
    enough = f"at its best alone every truth is above {turn}" if sufficient else "it does not make a yes sure alone"
    roles = {(True, True): "necessary and sufficient", (True, False): "necessary", (False, True): "sufficient"}
    role = roles.get((necessary, sufficient), "neither necessary nor sufficient")
    return f"{one_line(name)} is {role} ({needed}, and {enough}, by the bounds of the tree)"


def _of_group(clause: Clause, hit: re.Match[str], role: str, known: Knowledge, *, said: bool) -> Iterator[Claim]:
    """Check a role that is said of one group below the root."""
    before = [each for each in clause.gates if each.end <= hit.start()]
    gates = {gate for each in before for gate in each.gates}
    if role == "optional" or len(gates) != 1 or known.top in gates or _LOCAL.search(clause.text, before[-1].end):
        return
    if re.search(r"\b(?:any|all|inputs?|children|features?|each|every)\b", clause.text):
        return  # said of what is in it
    gate = next(iter(gates))
    decisive = known.gate_decisive(gate)
    if decisive is None:
        return
    necessary, sufficient = decisive
    truly = necessary if role == "mandatory" else sufficient
    placed = {known.gates[i].told.role for i in known.above(gate)[:1]}
    code, no = known.gates[gate].told.code, "" if said else "not "
    kind = "necessary" if necessary else "sufficient" if sufficient else "neither necessary nor sufficient"
    yield claim(
        "role", clause, hit, f"group {code} is {no}{role}", f"group {code} is {kind} (by the bounds of the tree)",
        holds=(truly or role in placed) if said else not truly,
    )  # fmt: skip
