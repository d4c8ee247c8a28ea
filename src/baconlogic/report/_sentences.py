"""A report cut into sentences and clauses, with what each of them is about: features, gates, the root."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING

from baconlogic.core.words import one_line
from baconlogic.report._plain import TYPED, plain
from baconlogic.report._words import CARRIES, CLAUSE, CODE, COMMON, LEVEL_NAME, ROOT

if TYPE_CHECKING:
    from collections.abc import Iterator

    from baconlogic.report._knowledge import Knowledge
    from baconlogic.report._plain import Plain

_ITEM = re.compile(r"\s*(?:[-•—]|\(?\d+[.)]|[a-z]\))\s+")
_CELLS = re.compile(r"\S {2,}\S|\t|\|")
_END = re.compile(
    r"(?<!\be\.g)(?<!\bi\.e)(?<!\bvs)(?<!\bca)(?<!\bcf)(?<!\bno)(?<!\betc)(?<!\bapprox)(?<!\bincl)[.!?][\"')\]]*(?=\s|$)"
)
_SINGLE = frozenset("ACD")  # codes that are also words or letters


@dataclass(frozen=True)
class Mention:
    """A feature or a gate where the text speaks of it; a code or a name may stand for several gates."""

    start: int
    end: int
    feature: str = ""
    gates: frozenset[int] = frozenset()


@dataclass
class Clause:
    """A part of a sentence that says one thing; `subject` is what it goes on about when it names no feature itself."""

    text: str
    start: int  # in the plain text
    sentence: Sentence
    features: list[Mention] = field(default_factory=list)
    gates: list[Mention] = field(default_factory=list)
    subject: tuple[str, ...] = ()

    @property
    def named(self) -> list[str]:
        """The features it is about, each once."""
        return list(dict.fromkeys(each.feature for each in self.features)) or list(self.subject)

    def before(self, place: int) -> Mention | None:
        """Return the feature or gate named last before a place."""
        found = [each for each in (*self.features, *self.gates) if each.end <= place]
        return max(found, key=lambda each: each.end, default=None)


@dataclass
class Sentence:
    """One sentence, list item head or line of a table."""

    text: str
    start: int
    row: bool = False  # a line of a table
    item: bool = False
    heading: bool = False
    within: frozenset[int] = frozenset()  # the gate that the list it stands in is about
    local: bool = False  # whether it goes on about a group that its item or paragraph began with
    clauses: list[Clause] = field(default_factory=list)


@dataclass(frozen=True)
class _Block:
    start: int
    end: int
    item: bool
    row: bool


def read(text: Plain, known: Knowledge) -> list[Sentence]:
    """Cut a text into sentences and find what they are about."""
    names, hidden = _patterns(known), _hidden(known)
    found: list[Sentence] = []
    within: frozenset[int] = frozenset()
    for block in _blocks(text.text):
        head: tuple[str, ...] = ()
        for first, sentence in enumerate(_split(text.text, block)):
            last = found[-1] if found and first else None
            _fill(sentence, names, known, head if block.item else _carried(last))
            for clause in sentence.clauses:
                if hidden and hidden.search(clause.text):
                    clause.features, clause.gates, clause.subject = [], [], ()
            sentence.local = bool(first) and (found[-1].local or _begins_with_group(found[-1], known))
            if not first:
                head = tuple(sentence.clauses[0].named[:1])
            codes = {gates for clause in sentence.clauses for gates in (each.gates for each in clause.gates)}
            if sentence.heading:
                within = next(iter(codes)) if len(codes) == 1 else frozenset()
            elif not block.item:
                within = frozenset()
            sentence.within = within if block.item else frozenset()
            found.append(sentence)
    return found


def _begins_with_group(sentence: Sentence, known: Knowledge) -> bool:
    """Whether a sentence names a group below the root first of all."""
    clause = sentence.clauses[0]
    first = min((*clause.gates, *clause.features), key=lambda each: each.start, default=None)
    return first is not None and bool(first.gates) and known.top not in first.gates


def _carried(last: Sentence | None) -> tuple[str, ...]:
    named = {name for clause in (last.clauses if last else []) for name in clause.named}
    return tuple(named) if len(named) == 1 else ()


def _blocks(text: str) -> Iterator[_Block]:
    """Cut at blank lines, list items and lines of tables; other lines of a paragraph belong together."""
    start, item, place, open_ = 0, False, 0, False
    for line in [*text.split("\n"), ""]:
        cells = bool(_CELLS.search(line.strip())) and not _ITEM.match(line)
        begins = _ITEM.match(line)
        if open_ and (not line.strip() or begins or cells or text[place - 2 : place - 1] == ":"):
            yield _Block(start, place - 1, item, row=False)
            open_ = False
        if cells:
            yield _Block(place, place + len(line), item=False, row=True)
        elif line.strip() and not open_:
            start, open_ = place + (begins.end() if begins else 0), True
            item = bool(begins)
        place += len(line) + 1


def _split(text: str, block: _Block) -> list[Sentence]:
    whole = text[block.start : block.end].replace("\n", " ")
    if block.row:
        return [Sentence(whole, block.start, row=True)]
    ends = [found.end() for found in _END.finditer(whole)]
    cuts = [0, *ends, len(whole)]
    parts = [(a, whole[a:b]) for a, b in pairwise(cuts) if whole[a:b].strip()]
    heading = len(parts) == 1 and not block.item and (not ends or whole.rstrip().endswith(":"))
    return [
        Sentence(part.strip(), block.start + a + len(part) - len(part.lstrip()), item=block.item, heading=heading)
        for a, part in parts
    ]


def _fill(
    sentence: Sentence, names: list[tuple[re.Pattern[str], str]], known: Knowledge, carried: tuple[str, ...]
) -> None:
    features = _features(sentence.text, names)
    gates = _gates(sentence.text, known, features)
    cuts = [
        0,
        *(f.start() for f in CLAUSE.finditer(sentence.text) if not sentence.row and _outside(sentence.text, f.start())),
        len(sentence.text),
    ]
    subject = carried
    for a, b in pairwise(cuts):
        text = sentence.text[a:b]
        clause = Clause(text, sentence.start + a, sentence)
        clause.features = [_moved(each, a) for each in features if a <= each.start < b]
        clause.gates = [_moved(each, a) for each in gates if a <= each.start < b]
        if not clause.features and not clause.gates:
            after = re.sub(r"^\W*(?:but|although|though|while|whereas|however|yet)\b", "", text)
            if CARRIES.match(after):
                clause.subject = subject
        named = clause.named
        subject = tuple(named) if len(named) == 1 else subject if a == 0 and not named else ()
        sentence.clauses.append(clause)


def _outside(text: str, place: int) -> bool:
    """Whether a place is in no bracket."""
    return text.count("(", 0, place) <= text.count(")", 0, place)


def _moved(mention: Mention, by: int) -> Mention:
    return Mention(mention.start - by, mention.end - by, mention.feature, mention.gates)


def _features(text: str, names: list[tuple[re.Pattern[str], str]]) -> list[Mention]:
    found: list[Mention] = []
    taken = bytearray(len(text))
    for pattern, feature in names:
        for hit in pattern.finditer(text):
            if not any(taken[hit.start() : hit.end()]):
                taken[hit.start() : hit.end()] = b"1" * len(hit[0])
                found.append(Mention(hit.start(), hit.end(), feature))
    return sorted(found, key=lambda each: each.start)


def _patterns(known: Knowledge) -> list[tuple[re.Pattern[str], str]]:
    """Return what may stand for each feature, longest first: its name, and how people say it where that is clear."""
    spoken: dict[str, set[str]] = {}
    names = set(known.features)
    taken = {node.name.lower() for node, _ in known.order if node.name}
    for feature in known.features:
        for form in _forms(feature):
            spoken.setdefault(form.lower(), set()).add(feature)
    lower = Counter(name.lower() for name in names)
    patterns = []
    for name in names:
        if _is_clear(name):
            anyhow = len(name) > 3 and lower[name.lower()] == 1
            written = re.escape(one_line(name).translate(TYPED))
            several = "(?:e?s)?" if anyhow and name[-1].isalpha() and f"{name.lower()}s" not in lower else ""
            patterns.append((re.compile(rf"(?<!\w){written}{several}(?!\w)", re.IGNORECASE if anyhow else 0), name))
    for form, features in spoken.items():
        if len(features) == 1 and form not in lower and form not in taken and _is_clear(form):
            said = form.replace(" ", r"[\s_-]+")
            patterns.append((re.compile(rf"(?<!\w){said}s?(?!\w)", re.IGNORECASE), next(iter(features))))
    return sorted(patterns, key=lambda each: -len(each[0].pattern))


def _hidden(known: Knowledge) -> re.Pattern[str] | None:
    """Return what finds names that are common words or look like markup: who is meant near them is not clear."""
    names = {*known.features, *(node.name for node, _ in known.order if node.name)}
    shown = [one_line(name) for name in names if not _is_clear(name)]
    left = [plain(name).text.strip() for name in shown]
    if not all(left):
        return re.compile("")  # markup takes the whole name away: it may be anywhere
    unclear = {re.escape(name.translate(TYPED)) for name in (*shown, *left)}
    return re.compile(rf"(?<!\w)(?:{'|'.join(unclear)})(?!\w)", re.IGNORECASE) if unclear else None


def _is_clear(name: str) -> bool:
    """Whether a name is found where it is meant, and only there."""
    shown = one_line(name)
    if plain(shown).text != shown.translate(TYPED):
        return False
    return len(name) > 1 and name.lower() not in COMMON and not CODE.fullmatch(name) and any(c.isalnum() for c in name)


def _forms(feature: str) -> set[str]:
    """Return a name with spaces for underscores and capitals, and without its number."""
    if not re.fullmatch(r"[A-Za-z][\w -]*", feature, re.ASCII):
        return set()
    words = re.sub(r"([a-z])([A-Z])|[_-]+", lambda m: f"{m[1]} {m[2]}" if m[1] else " ", feature).strip()
    forms = {words, re.sub(r"(?<=[A-Za-z])\s*(?=\d)", " ", words)}
    stem = re.sub(r"[\s\d]+$", "", words)
    return {each.lower() for each in forms} | ({stem.lower()} if len(stem) >= 4 else set())


def _gates(text: str, known: Knowledge, features: list[Mention]) -> list[Mention]:
    """Find gates by code, level, name, number of the step, and the root by its place."""
    found: list[Mention] = []

    def add(start: int, end: int, gates: set[int]) -> None:
        free = all(end <= each.start or each.end <= start for each in (*found, *features))
        if gates and free:
            found.append(Mention(start, end, gates=frozenset(gates)))

    for group in known.groups:
        calls = (
            [group.name]
            if len(group.name) > 3 and _is_clear(group.name)
            else [f"group {group.number}"]
            if group.number
            else []
        )
        for call in calls:
            for hit in re.finditer(rf"(?<!\w){re.escape(one_line(call).translate(TYPED))}(?!\w)", text, re.IGNORECASE):
                add(*hit.span(), {group.position})
    for hit in codes_in(text):
        add(*hit.span(), {i for i, gate in known.gates.items() if hit[0] in gate.codes})
    for hit in LEVEL_NAME.finditer(text):
        name = re.sub(r"[-\s]+", " ", hit[0].lower())
        add(*hit.span(), {i for i, g in known.gates.items() if name in {x.name.replace("-", " ") for x in g.levels}})
    for hit in ROOT.finditer(text):
        add(*hit.span(), {known.top} if known.top is not None else set())
    return sorted(found, key=lambda each: each.start)


def codes_in(text: str) -> list[re.Match[str]]:
    """Return the codes in a text; C, D and A only where they can be nothing else."""
    found = []
    for hit in CODE.finditer(text):
        before, after = text[: hit.start()], text[hit.end() :]
        if hit[0] in _SINGLE:
            told = re.search(r"(?:operator|aggregator|gate|code)s?\s*(?:is|of|:|=)?\s*[\"']?$", before, re.IGNORECASE)
            bracket = (
                before.endswith("(")
                and (after[:1] in ("", ",", ")"))
                and re.search(r"junction|neutrality|of:?.*$", before, re.IGNORECASE)
            )
            if not told and not bracket:
                continue
        found.append(hit)
    return found
