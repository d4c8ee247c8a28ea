"""Check a written report against its tree: each claim exactly, and whether the text has more than its claims.

The report is JSON by the published schema (see `report_schema`). What the words between names and numbers say is not
judged: the claims are.
"""

from __future__ import annotations

import html
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cache
from typing import Any

import numpy as np

from baconlogic.core.criterion import Criterion
from baconlogic.core.levels import LEVELS
from baconlogic.core.nodes import Path
from baconlogic.core.subject import Listing, Result, subject
from baconlogic.core.words import listed, number, one_line
from baconlogic.explain._case import answer
from baconlogic.report._facts import MIRRORED, Facts, UnknownPartError, is_equal, quoted
from baconlogic.report._prompt import report_schema
from baconlogic.report._report import in_markdown

Claim = dict[str, Any]  # as in the schema: numbers are Decimal, they know how they were written; paths are tuples
Truth = tuple[bool | None, str]  # whether a claim holds, None where that cannot be known; and what is true, or why not

SHARE = 0.05  # shares have at least one decimal: 1 stands for 0.95 to 1.05
_PROBLEMS = {"wrong": "wrong", "unknown": "cannot be checked", "uncovered": "no claim covers it"}
_COUNTED = ["two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"]
_NUMBER = re.compile(
    r"(?:(?<![\w.])[-+\u2212]?|(?<=[^\W\d])(?=\d+\.\d))"  # not the 3 of x3, but the 0.3 of x0.3
    r"(?P<digits>(?:(?:\d{1,3}(?:,\d{3})+(?!\d)|\d+)(?:\.\d+)?|\.\d+)(?:e[-+]?\d{1,2})?)"
    r"(?:(?P<percent>\s?%|\s?percent\b)|(?:st|nd|rd|th)\b)?"
    rf"|(?<!\w)(?P<word>{'|'.join(_COUNTED)})(?!\w)",
    re.IGNORECASE,
)
_CODES = "|".join(re.escape(code) for code in sorted(LEVELS, key=len, reverse=True) if len(code) > 1)
_CODE = re.compile(rf"(?<!\w)(?:{_CODES})(?!\w|(?<=\w)[+-](?!\w))")
_NAME = re.compile(r"`([^`]+)`|(?<!\w)([^\W_]+(?:_[^\W_]+)+)(?!\w)")  # in backticks, or like_this
_APART = re.compile(r"[\s_-]+")  # what parts of a name may stand apart by
_STYLE = "body{font:16px/1.5 sans-serif;max-width:45em;margin:2em auto;padding:0 1em}mark{background:#fd9}"


@dataclass(frozen=True)
class Finding(Result):
    """Something that a report should not say."""

    problem: str  # wrong: it contradicts the tree; unknown: it cannot be checked; uncovered: no claim says it
    kind: str  # of claim: weight, rank, ...; uncovered: number, feature, column, gate, class, level or name
    sentence: str
    said: str
    true: str
    where: tuple[int, int]  # section and sentence, counted from 1; sentence 0 is the title

    def __str__(self) -> str:
        head = f'{self.kind}, {_PROBLEMS[self.problem]}: "{one_line(self.sentence)}"'
        return f"{head}\n  says: {self.said}\n  {'true' if self.problem == 'wrong' else 'but'}: {self.true}"


@dataclass(frozen=True)
class ReportCheck(Listing):
    """What of a report is wrong, cannot be checked, or is said without a claim."""

    rows: tuple[Finding, ...]
    remarks: tuple[str, ...]
    checked: int  # claims
    sentences: int
    unchecked: int  # sentences that make no claim
    sections: tuple[tuple[str, tuple[str, ...]], ...]  # the report: titles and sentences

    @property
    def passed(self) -> bool:
        """Whether every claim is true, and no number or name is without one."""
        return not self.rows

    @property
    def _head(self) -> str:
        count = len(self.rows)
        found = f"{count} {'finding' if count == 1 else 'findings'}" if count else "Nothing found against the tree"
        quiet = f"{self.unchecked} of {self.sentences} sentences make no claim"
        return f"{found}: {self.checked} {'claim' if self.checked == 1 else 'claims'} checked; {quiet}."

    def __str__(self) -> str:
        remarks = [f"Remark: {remark}" for remark in self.remarks]
        return "\n".join([self._head, *(f"- {row}" for row in self.rows), *remarks])

    def to_markdown(self) -> str:
        """Return the report in Markdown, with numbers where something was found and a list of it below."""
        lines = [f"*{in_markdown(self._head)}*"]
        for i, (title, sentences) in enumerate(self.sections, 1):
            said = [in_markdown(text) + self._marks(" **[{}]**", i, j) for j, text in enumerate((title, *sentences))]
            lines += [f"## {said[0]}", " ".join(said[1:])]
        notes = [f"{i}. {in_markdown(note)}" for i, note in enumerate(self._notes, 1)]
        lines += ["## What the check found", "\n".join(notes)] if notes else []
        return "\n\n".join([*lines, *map(in_markdown, self.remarks)]) + "\n"

    def to_html(self) -> str:
        """Return the report as a page of its own, with marks where something was found and a list of it below."""
        link = '<sup><a href="#finding-{0}">{0}</a></sup>'
        lines = [f"<p><em>{_html(self._head)}</em></p>"]
        for i, (title, sentences) in enumerate(self.sections, 1):
            said = [(_html(text), self._marks(link, i, j)) for j, text in enumerate((title, *sentences))]
            shown = [f"<mark>{text}</mark>{marks}" if marks else text for text, marks in said]
            lines += [f"<h2>{shown[0]}</h2>", f"<p>{' '.join(shown[1:])}</p>"]
        notes = [f'<li id="finding-{i}">{_html(note)}</li>' for i, note in enumerate(self._notes, 1)]
        lines += ["<h2>What the check found</h2>", "<ol>", *notes, "</ol>"] if notes else []
        lines += [f"<p>{_html(remark)}</p>" for remark in self.remarks]
        head = f'<meta charset="utf-8"><title>A checked report</title><style>{_STYLE}</style>'
        return "\n".join(["<!doctype html>", f'<html lang="en"><head>{head}</head><body>', *lines, "</body></html>\n"])

    def _marks(self, mark: str, *where: int) -> str:
        return "".join(mark.format(i) for i, row in enumerate(self.rows, 1) if row.where == where)

    @property
    def _notes(self) -> list[str]:
        return [f"{row.kind}, {_PROBLEMS[row.problem]}: {row.said}; {row.true}" for row in self.rows]


def _html(text: str) -> str:
    return html.escape(one_line(text))


def check_report(
    report: Any,
    model: Any,
    X: Any = None,
    y: Any = None,
    *,
    label: Any = None,
    threshold: float | None = None,
    known: Sequence[str] = (),
) -> ReportCheck:
    """Verify each claim of a report, written by `report_schema`, and that no number or name in it is without one.

    `report` is the JSON that `prompt` asks for, as text (also between fences) or as the data it holds. A number is
    right when the true one rounds to it: 0.6 stands for 0.55 to 0.65, 0.60 for 0.595 to 0.605. Metrics need rows, `X`,
    and labels, `y`. Of more than two classes `label` picks the tree; `known` are all columns of the data, so that one
    the tree does not use is known by its name. What the words say is not judged, the claims are.
    """
    sections = _read(_document(report), _schema(), "report")["sections"]
    facts = Facts(subject(model, threshold, label), X, y)
    facts.columns.update(known)
    vocabulary = Vocabulary(facts)
    rows: dict[Finding, None] = {}
    spoken: set[str] = set()
    for i, section in enumerate(sections, 1):
        for j, sentence in enumerate([{"text": section["title"], "claims": []}, *section["sentences"]]):
            text, claims = sentence["text"], sentence["claims"]
            for claim in claims:
                holds, true = _truth(claim, facts)
                if not holds:
                    problem = "unknown" if holds is None else "wrong"
                    rows[Finding(problem, claim["kind"], text, _said(claim), true, (i, j))] = None
            found = _uncovered(text, claims, facts, vocabulary)
            rows.update({Finding("uncovered", kind, text, said, true, (i, j)): None for kind, said, true in found})
            spoken |= {name for claim in claims for name in _names(claim, facts)}
    claims_of = [sentence["claims"] for section in sections for sentence in section["sentences"]]
    silent = [one_line(name) for name in facts.features if name not in spoken]
    shown = silent[:8] + ([f"{len(silent) - 8} more"] if len(silent) > 8 else [])
    return ReportCheck(
        tuple(rows),
        (f"no claim is about {listed(shown, 'or')}, which the tree uses",) if silent else (),
        sum(map(len, claims_of)),
        len(claims_of),
        sum(not claims for claims in claims_of),
        tuple((each["title"], tuple(sentence["text"] for sentence in each["sentences"])) for each in sections),
    )


# the document


def _document(report: Any) -> Any:
    """Return the data of a report that may be text."""
    if isinstance(report, Mapping):
        return report
    if not isinstance(report, str):
        raise TypeError(f"a report is JSON, as text or as a dictionary, got {type(report).__name__}")
    lines = report.strip().split("\n")  # splitlines() would cut strings at U+2028
    fences = [i for i, line in enumerate(lines) if line.startswith("```")]
    text = "\n".join(lines[fences[0] + 1 : fences[1]] if len(fences) == 2 else lines)
    try:
        return json.loads(text, parse_float=Decimal, parse_int=Decimal, parse_constant=Decimal, object_pairs_hook=_once)
    except json.JSONDecodeError as error:
        raise ValueError(
            f"a report is the JSON that prompt(model) asks for, not plain text: {error.msg} at line {error.lineno}, "
            f"column {error.colno} of {text[:40]!r}; report_schema() is its form"
        ) from None
    except (ArithmeticError, RecursionError) as error:
        raise ValueError(f"the JSON of the report cannot be read: {type(error).__name__}") from None


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError(f"the JSON of the report has a key twice in one object, which has {', '.join(found)[:60]!r}")
    return found


_schema = cache(report_schema)
_TYPES: dict[str, Any] = {"object": Mapping, "array": list | tuple, "string": str, "boolean": bool, "number": Decimal}


def _read(value: Any, rule: Mapping[str, Any], at: str) -> Any:
    """Return a value that follows a rule of the schema; an error names the place that does not."""
    rule = _followed(rule)
    if isinstance(value, int | float) and not isinstance(value, bool):
        value = Decimal(repr(float(value))) if isinstance(value, float) else Decimal(value)
    kinds = [rule["type"]] if isinstance(rule.get("type"), str) else rule.get("type", [])
    wants = ""
    if isinstance(value, Decimal) and not (value.is_finite() and value.copy_abs() <= Decimal("1e300")):
        wants = "a number within 1e300"
    elif kinds and not any(_is_a(kind, value) for kind in kinds):
        wants = " or ".join(kinds)
    elif value not in rule.get("enum", [rule.get("const", value)]):
        wants = " or ".join(map(str, rule.get("enum", [rule.get("const")])))
    elif isinstance(value, Decimal) and not rule.get("minimum", value) <= value <= rule.get("maximum", value):
        wants = f"{rule['minimum']} to {rule['maximum']}"
    elif value in ("", [], ()) and rule.get("minLength" if value == "" else "minItems"):
        wants = "something"
    if wants:
        raise ValueError(f"{at}: expected {wants}, got {_shown(value)}")
    if isinstance(value, list | tuple):
        found = [_read(each, rule["items"], f"{at}[{i}]") for i, each in enumerate(value)]
        return tuple(map(int, found)) if "string" in kinds else found  # a path
    return _read_object(value, rule, at) if isinstance(value, Mapping) else value


def _is_a(kind: str, value: Any) -> bool:
    whole = isinstance(value, Decimal) and value == value.to_integral_value()
    return whole if kind == "integer" else isinstance(value, _TYPES[kind])


def _read_object(value: Mapping[Any, Any], rule: Mapping[str, Any], at: str) -> dict[str, Any]:
    ways = [_followed(each) for each in rule.get("oneOf", ())]
    if ways and "properties" not in rule:  # claims: which one is said by its kind
        kinds = {way["properties"]["kind"]["const"]: way for way in ways}
        kind = value.get("kind")
        if not isinstance(kind, str) or kind not in kinds:
            raise ValueError(f"{at}.kind: expected one of {', '.join(kinds)}, got {_shown(kind)}")
        return _read_object(value, kinds[kind], at)
    for name in value:
        if name not in rule["properties"]:
            raise ValueError(f"{at}: {_shown(name)} is not expected; it has {', '.join(rule['properties'])}")
    needs = [*rule.get("required", ())]
    needs += [need for name, those in rule.get("dependentRequired", {}).items() if name in value for need in those]
    for name in needs:
        if name not in value:
            raise ValueError(f"{at}: {name!r} is missing")
    if ways and sum(way["required"][0] in value for way in ways) != 1:
        raise ValueError(f"{at}: give one of {' and '.join(repr(way['required'][0]) for way in ways)}")
    return {name: _read(each, rule["properties"][name], f"{at}.{name}") for name, each in value.items()}


def _followed(rule: Mapping[str, Any]) -> Mapping[str, Any]:
    return _schema()["$defs"][rule["$ref"].rsplit("/", 1)[1]] if "$ref" in rule else rule


def _shown(value: Any) -> str:
    return "nothing" if value is None else str(value)[:40] if isinstance(value, Decimal) else f"{value!r:.60}"


# the claims


def half(said: Decimal, *, share: bool = False) -> float:
    """Return how far from a number, as it was written, that may be which it is the rounding of."""
    unit = float(Decimal((0, (5,), int(said.as_tuple().exponent) - 1)))
    return min(unit, SHARE) if share else unit


def stands_for(said: Decimal, true: float, *, share: bool = False) -> bool:
    """Whether a number, as it was written, is a rounding of the true one; halves are rounded either way."""
    return abs(float(said) - true) <= half(said, share=share) + 1e-12 * abs(true)


def _said(claim: Claim) -> str:
    """Write a claim: of "radius", in [1], value 0.6."""
    values = {key: list(value) if isinstance(value, tuple) else value for key, value in claim.items() if key != "kind"}
    return ", ".join(f"{key} {quoted(value) if isinstance(value, str) else value}" for key, value in values.items())


def _truth(claim: Claim, facts: Facts) -> Truth:
    try:
        return _TRUTHS[claim["kind"]](claim, facts)
    except UnknownPartError as error:
        return None, str(error)


def _within(claim: Claim, facts: Facts) -> Path:
    """Return the gate that a claim is about, the root where it names none."""
    return facts.gate(claim["in"]) if "in" in claim else ()


def _weight(claim: Claim, facts: Facts) -> Truth:
    true = facts.weight(claim["of"], _within(claim, facts))
    return stands_for(claim["value"], true, share=True), f"it is {number(true)}"


def _rank(claim: Claim, facts: Facts) -> Truth:
    part, within = claim["of"], _within(claim, facts)
    if "order" in claim:
        one, other = facts.weight(part, within), facts.weight(claim["than"], within)
        order = "equal" if is_equal(one, other) else "more" if one > other else "less"
        return claim["order"] == order, f"it is {order}, {number(one)} and {number(other)}"
    if facts.path(part) is not None:
        return None, "only features have ranks; groups can be compared by order and than"
    ranks, count = facts.ranks(part, within), len(facts.weights(within))
    rank = int(claim["rank"]) + (count + 1 if claim["rank"] < 0 else 0)
    return rank in ranks, f"it is {listed([str(r) for r in ranks])} of {count}" if ranks else "it is not used there"


def _role(claim: Claim, facts: Facts) -> Truth:
    within = _within(claim, facts) if "in" in claim else None
    mirror = MIRRORED if _speaks_for(claim, facts) == answer(facts.asked.no) else {role: role for role in MIRRORED}
    holds = facts.has_role(claim["of"], mirror[claim["role"]], within)
    if holds is None:
        return None, "a column is read both as a number and as a category, so that no bounds are known"
    roles = [role for role in MIRRORED if facts.has_role(claim["of"], mirror[role], within)]
    where = "for the whole decision" if within is None else "there"
    return holds is claim.get("holds", True), f"it is {listed(roles, 'and') if roles else 'nothing certain'} {where}"


def _speaks_for(claim: Claim, facts: Facts) -> str:
    """Return the answer that a claim is about."""
    yes, no = answer(facts.asked.yes), answer(facts.asked.no)
    label: str = claim.get("for", yes)
    if label not in (yes, no):
        raise UnknownPartError(f"the tree decides between {quoted(yes)} and {quoted(no)}")
    return label


def _level(claim: Claim, facts: Facts) -> Truth:
    gate, told = facts.gates[facts.gate(claim["gate"])]
    codes = list(dict.fromkeys((gate.level.code, told.code)))
    near = "andness" not in claim or stands_for(claim["andness"], gate.andness, share=True)
    true = f"it is {', or as it is negated '.join(codes)}, andness {number(gate.andness)}"
    return near and claim["code"] in codes, true


def _direction(claim: Claim, facts: Facts) -> Truth:
    ways = facts.directions(claim["feature"])
    if not ways:
        return False, "it is not used"
    up = ways.pop() if len(ways) == 1 else None
    no = answer(facts.asked.no)
    true = "neither" if up is None else "rising" if up == (_speaks_for(claim, facts) != no) else "falling"
    return claim["value"] == true, f"it is {true}"


def _threshold(claim: Claim, facts: Facts) -> Truth:
    if "feature" not in claim:
        return stands_for(claim["value"], facts.asked.threshold, share=True), f"it is {number(facts.asked.threshold)}"
    feature, truth = claim["feature"], claim["truth"]
    criteria = [criterion for criterion, _ in facts.criteria(feature)]
    true = "; ".join(dict.fromkeys(one_line(each.words(feature)) for each in criteria)) or "it is not used"
    if "category" in claim:
        category = int(claim["category"]) if isinstance(claim["category"], Decimal) else claim["category"]
        return any(_has_truth(each, category, truth) for each in criteria if each.categorical), true
    value = claim["value"]
    reach = half(value) + 1e-12 * abs(float(value))
    holds = facts.turns(feature, float(value) - reach, float(value) + reach, float(truth))
    return holds and claim.get("unit", "") in {"", *(each.unit for each in criteria)}, true


def _has_truth(table: Criterion, category: Any, truth: Decimal) -> bool:
    try:
        return stands_for(truth, float(table.truth(np.array([category], dtype=object))[0]), share=True)
    except (TypeError, ValueError):  # not in the table
        return False


def _count(claim: Claim, facts: Facts) -> Truth:
    true = facts.count(claim["what"], _within(claim, facts))
    return (None, "no rows are given, as X") if true is None else (claim["value"] == true, f"it is {true}")


def _metric(claim: Claim, facts: Facts) -> Truth:
    true = facts.metric(claim["name"])
    if true is None:
        return None, "it needs rows and their labels, X and y, of both answers"
    return stands_for(claim["value"], true, share=True), f"it is {number(true)}"


_TRUTHS: dict[str, Callable[[Claim, Facts], Truth]] = {
    "weight": _weight, "rank": _rank, "role": _role, "level": _level, "direction": _direction,
    "threshold": _threshold, "count": _count, "metric": _metric,
}  # fmt: skip


# the text


def _key(name: str) -> str:
    """Return what names have in common that differ only in case, or in what stands between their words."""
    return " ".join(_APART.split(name)).casefold()


class Vocabulary:
    """The names of a tree, to be found in text: its features and gates, answers, levels, and columns it does not use.

    In backticks any name is known. Without, those that have three characters or more and are not numbers: whole words,
    in upper or lower case, with spaces, _ or - between their parts.
    """

    def __init__(self, facts: Facts) -> None:
        labels = (facts.asked.yes, facts.asked.no, *facts.asked.classes)
        criteria = [criterion for feature in facts.features for criterion, _ in facts.criteria(feature)]
        named = {
            "feature": facts.features,
            "gate": [gate.name for gate, _ in facts.gates.values() if gate.name],
            "class": [answer(label) for label in labels if not isinstance(label, bool)],
            "level": [text for level in LEVELS.values() for text in (level.name, level.words)],
            "column": sorted(facts.columns),
            "category": [str(category) for each in criteria for category, _ in each.truths],
        }
        self.kinds = {_key(name): kind for kind in reversed(named) for name in named[kind]}
        bare = {name for names in named.values() for name in names if len(name) > 2 and not _NUMBER.fullmatch(name)}
        words = [_APART.split(name) for name in sorted(bare, key=len, reverse=True) if re.search(r"[^\W_]", name)]
        pattern = "|".join(r"[\s_-]+".join(map(re.escape, parts)) for parts in words)
        self.pattern = re.compile(rf"(?<!\w)(?:{pattern})(?!\w)", re.IGNORECASE)

    def mentions(self, text: str) -> Iterator[tuple[str, str]]:
        """Yield each name or number in a text: its kind, and how it is written; kind "name" is one nobody knows."""
        for hit in self.pattern.finditer(text):
            yield self.kinds.get(_key(hit[0]), "name"), hit[0]
        text = self.pattern.sub("\0", text)
        for hit in _NAME.finditer(text):
            name = hit[1] or hit[2]
            if "\0" not in name and not _NUMBER.fullmatch(name):
                yield "level" if name in LEVELS else self.kinds.get(_key(name), "name"), name
                text = text.replace(hit[0], "\0")
        yield from (("level", hit[0]) for hit in _CODE.finditer(text))
        yield from (("number", hit[0]) for hit in _NUMBER.finditer(_CODE.sub("\0", text)))


def _uncovered(text: str, claims: list[Claim], facts: Facts, vocabulary: Vocabulary) -> Iterator[tuple[str, str, str]]:
    """Yield kind and spelling of the names and numbers of a text that no claim of its sentence is about, and why."""
    names = {_key(name) for claim in claims for name in _names(claim, facts) | _answers(claim, facts)}
    numbers = [each for claim in claims for each in _numbers(claim)]
    for kind, said in dict.fromkeys(vocabulary.mentions(text)):
        if kind == "category" or _key(said) in names or (kind == "number" and _is_covered(said, numbers)):
            continue
        own = [str(value) for value, _, _ in numbers] if kind == "number" else []
        held = listed(own, "and") if own else "nothing of it"
        true = "nothing in the tree is called so" if kind == "name" else f"the claims of the sentence have {held}"
        yield kind, one_line(said), true


def _names(claim: Claim, facts: Facts) -> set[str]:
    """Return the names of features, gates and levels that a claim is about."""
    found: set[str] = set()
    for part in (claim[field] for field in ("of", "than", "in", "gate", "feature") if field in claim):
        node = None if isinstance(part, str) else facts.nodes.get(part)
        found |= {part} if isinstance(part, str) else {getattr(node, "feature", ""), getattr(node, "name", "")}
    level = LEVELS.get(claim.get("code", ""))
    return (found | ({level.code, level.name, level.words} if level else set())) - {""}


def _answers(claim: Claim, facts: Facts) -> set[str]:
    """Return the answers that a claim is about; what is said of the decision itself is said of both."""
    if claim["kind"] in ("role", "metric") or (claim["kind"] == "threshold" and "feature" not in claim):
        return {answer(facts.asked.yes), answer(facts.asked.no)}
    return {claim.get("for", answer(facts.asked.yes))}


def _numbers(claim: Claim) -> Iterator[tuple[Decimal, bool, str]]:
    """Yield the numbers of a claim, whether each is a share, and its unit."""
    for field in ("value", "truth", "andness", "rank"):
        if isinstance(claim.get(field), Decimal):
            raw = field == "rank" or claim["kind"] == "count" or ("feature" in claim and field == "value")
            yield claim[field], not raw, claim.get("unit", "")


def _is_covered(said: str, numbers: list[tuple[Decimal, bool, str]]) -> bool:
    """Whether a number of a claim rounds to one in the text; 60% is 0.60, unless % is the unit."""
    hit = _NUMBER.fullmatch(said)
    if hit is None:
        return False
    if hit["word"]:
        return any(value == _COUNTED.index(said.lower()) + 2 for value, _, _ in numbers)
    shown = Decimal(hit["digits"].replace(",", "")) * (-1 if said[0] in "-\u2212" else 1)
    return any(
        (share or not percent) and stands_for(shown.scaleb(-2) if percent else shown, float(value), share=share)
        for value, share, unit in numbers
        for percent in [hit["percent"] is not None and unit != "%"]
    )
