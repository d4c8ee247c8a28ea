"""A one-line notation that a person can type: `formula` writes it, `parse` reads it; `draw` shows a tree in lines.

    HHC(shape: 0.5, size = HHD(radius: 0.2, area: 0.8): 0.5)

The parts:

    gate        CODE(input, input, ...) or ANDNESS(...), e.g. SC(a, b), 0.83(a, b); `exact SC(...)` names an aggregator
    input       node, or node: weight (0.6 or 60%); equal weights when none is given
    node        gate, leaf or `not` node, with a name in front or not: size = ...; brackets around it are allowed
    leaf        feature, or feature[criterion]; a feature that is not a plain word stands in double quotes
    criterion   ramp       radius[0 at 12, 1 at 25]               truth at value, any number of breakpoints
                sigmoid    radius[half at 16.8, slope 0.9]
                interval   radius[above 16.8], radius[up to 16.8], radius[above 0.5, up to 2.1]     true there, else not
                table      colour[1 if "red", 0.4 if "blue", other 0]
                another    x[kind, field 3, other_field 2]            a kind defined elsewhere, by its name and fields
                any of them, or none, with: missing 0.5, unit "mm"
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import reduce
from typing import Any

from baconlogic.core.criteria import Given
from baconlogic.core.criterion import KINDS, Criterion
from baconlogic.core.gcd import AGGREGATORS, DEFAULT
from baconlogic.core.levels import LEVELS
from baconlogic.core.nodes import Gate, Leaf, Node, Not, Path, flatten
from baconlogic.core.words import digits, listed, one_line, percent

_WORD = re.compile(r"[^\W\d]\w*")
_NUMBER = re.compile(r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?")
_STRING = re.compile(r'"(?:[^"\\]|\\.)*"', re.DOTALL)
_SPACE = re.compile(r"\s*")
_WHOLE = re.compile(r"[+-]?\d+(?![\w.])")
EVEN = 1e-6  # weights that differ by less are equal
_SECOND = {"half": "at", "up": "to"}  # words of two
_EXAMPLES = '1 at 25, half at 16.8, slope 0.9, above 16.8, up to 25, 1 if "red", other 0, missing 0.5'
_HEAD = re.compile(rf"(?:(?P<rule>{_WORD.pattern})\s+)?(?P<level>{_NUMBER.pattern}|{_WORD.pattern}[+-]?)\s*\(")


class FormulaError(ValueError):
    """A formula that cannot be read; the message shows where."""

    def __init__(self, problem: str, text: str, position: int) -> None:
        line, begins = text.count("\n", 0, position) + 1, text.rfind("\n", 0, position) + 1
        column, whole = position - begins, text[begins:].split("\n")[0]
        left, right = max(column - 60, 0), column + 40
        shown = ("..." if left else "") + re.sub(r"\s", " ", whole[left:right]) + ("..." if right < len(whole) else "")
        mark = " " * (column - left + (3 if left else 0)) + "^"
        place = f"line {line}, column {column + 1}" if "\n" in text.strip() else f"column {column + 1}"
        super().__init__(f"{problem} ({place})\n  {shown}\n  {mark}")
        self.problem, self.position = problem, position


def formula(root: Node) -> str:
    """Write a tree in the notation; `parse` gives it back exactly."""
    texts: list[str] = []
    for node, below in flatten(root):
        label = f"{_write_name(node.name)} = " if node.name else ""
        texts.append(label + _write(node, [texts[i] for i in below]))
        for i in below:
            texts[i] = ""  # a long chain would otherwise keep every prefix of itself
    return texts[-1]


def _write(node: Node, inputs: list[str]) -> str:
    if isinstance(node, Gate):
        n = len(inputs)
        rule = f"{node.rule} " if node.rule else ""
        code = node.level.code if node.level.andness(n) == node.andness else digits(node.andness)
        if node.weights != (1.0 / n,) * n:
            inputs = [f"{text}: {digits(weight)}" for text, weight in zip(inputs, node.weights, strict=True)]
        return f"{rule}{code}({', '.join(inputs)})"
    if isinstance(node, Leaf):
        inside = in_brackets(node.criterion)
        return _write_name(node.feature) + (f"[{inside}]" if inside else "")
    return f"not {inputs[0]}"


def in_brackets(criterion: Criterion) -> str:
    """Write what stands in the brackets of a leaf."""
    items = criterion.text()
    items += [] if criterion.missing is None else [f"missing {digits(criterion.missing)}"]
    return ", ".join(items + ([f"unit {json.dumps(criterion.unit, ensure_ascii=False)}"] if criterion.unit else []))


def _write_name(name: str) -> str:
    return name if _WORD.fullmatch(name) and name != "not" else json.dumps(name, ensure_ascii=False)


def draw(root: Node) -> str:
    """Draw a tree, one line a node, each input with its share of the gate above where shares differ."""
    return "\n".join(line for _, line in drawn(root))


def drawn(root: Node) -> Iterator[tuple[Path, str]]:
    """Yield the lines of a drawing, each with the path of its node; a negated leaf is said in the line of its `not`."""
    waiting: list[tuple[Path, Node, str, str, str]] = [((), root, "", "", "")]  # then two prefixes: here, and below
    while waiting:
        path, node, first, below, weight = waiting.pop()
        yield path, f"{first}{weight}{one_line(say(node))}"
        if isinstance(node, Not) and isinstance(node.input, Leaf):
            continue
        shares = [""] * len(node.children)
        if isinstance(node, Gate) and not _is_even(node):
            shares = [f"{percent(share)}  " for share in node.weights]
        ways = [("├─ ", "│  ")] * (len(node.children) - 1) + [("└─ ", "   ")]
        waiting.extend(
            ((*path, i), child, below + ways[i][0], below + ways[i][1], shares[i])
            for i, child in reversed(list(enumerate(node.children)))
        )


def _is_even(gate: Gate) -> bool:
    return max(gate.weights) - min(gate.weights) <= EVEN


def say(node: Node) -> str:
    """Say one node: a gate without its inputs, a negated leaf with its leaf."""
    name = f"{node.name}: " if node.name else ""
    if isinstance(node, Gate):
        rule = f" {node.rule}" if node.rule else ""
        named = node.level.andness(len(node.inputs)) == node.andness
        exactly = "" if named else f", andness {node.andness:.2f}"
        return f"{name}{node.level.phrased(even=_is_even(node))} ({node.level.code}{exactly}{rule})"
    if isinstance(node, Not):
        if not isinstance(node.input, Leaf):
            return f"{name}not"
        leaf = node.input
        short = None if leaf.name else leaf.criterion.condition(leaf.feature, negated=True)
        return name + (short or f"not ({say(leaf)})")
    assert isinstance(node, Leaf)  # noqa: S101
    return name + (node.criterion.condition(node.feature) or node.criterion.words(node.feature))


@dataclass
class _Open:
    """A gate whose closing bracket is still to come."""

    names: list[str]
    position: int
    andness: float | str | None  # None: brackets around one node
    aggregator: str
    inputs: list[Node] = field(default_factory=list)
    weights: list[float] = field(default_factory=list)
    unweighted: int | None = None  # where the first input without a weight ends


class _Reader:
    """The text and how far it has been read."""

    def __init__(self, text: str, parts: Mapping[str, Node]) -> None:
        self.text, self.at, self.parts, self.used = text, 0, parts, set[str]()
        self.take(_SPACE)

    def fail(self, problem: str, at: int | None = None) -> FormulaError:
        return FormulaError(problem, self.text, self.at if at is None else at)

    def take(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        """Read what fits the pattern here, and the space after it; None where it does not fit."""
        match = pattern.match(self.text, self.at)
        if match:
            self.at = _SPACE.match(self.text, match.end()).end()  # type: ignore[union-attr]
        return match

    def sign(self, choices: str, what: str = "") -> str:
        """Read one of the given signs; with `what`, its absence is an error."""
        found = self.text[self.at : self.at + 1]
        if found and found in choices:
            self.at = _SPACE.match(self.text, self.at + 1).end()  # type: ignore[union-attr]
            return found
        if what:
            raise self.fail(f"expected {what}")
        return ""

    def number(self, what: str) -> float:
        match = self.take(_NUMBER)
        if not match:
            raise self.fail(f"expected {what}, a number")
        return float(match.group())

    def string(self) -> str | None:
        start, match = self.at, self.take(_STRING)
        if not match:
            return None
        try:
            return str(json.loads(match.group(), strict=False))
        except ValueError:
            raise self.fail("this quoted text has an escape that is not valid", start) from None

    def name(self) -> str | None:
        text = self.string()
        if text is not None:
            return text
        match = self.take(_WORD)
        return match.group() if match else None


def parse(text: str, parts: Mapping[str, Node | str] | None = None) -> Node:
    """Read a tree; the notation is described at the head of this module.

    A name of `parts` stands for the whole tree given there, which is then called by it.
    """
    if not isinstance(text, str):
        raise TypeError(f"a formula is text, got {type(text).__name__}")
    reader = _Reader(text, {name: _part(name, given) for name, given in (parts or {}).items()})
    node = _parsed(reader, text)
    unused = [name for name in reader.parts if name not in reader.used]
    if unused:
        raise ValueError(f"the part {unused[0]!r} is not in the formula; use it there, or leave it out")
    return node


def _part(name: str, given: Node | str) -> Node:
    """Return a part as the node that has its name."""
    if not isinstance(given, Node | str):
        raise TypeError(f"the part {name!r} must be a Tree, a node or a formula, got {type(given).__name__}")
    try:
        return replace(parse(given) if isinstance(given, str) else given, name=name)
    except FormulaError as problem:
        raise FormulaError(f"part {name!r}: {problem.problem}", str(given), problem.position) from None


def _parsed(reader: _Reader, text: str) -> Node:
    if not text.strip():
        raise reader.fail("a tree needs at least one leaf, e.g. SC(salary: 0.6, interests: 0.4)")
    waiting: list[_Open] = []
    while True:
        names = _read_names(reader)
        gate = _read_head(reader, names)
        if gate:
            waiting.append(gate)
            continue
        node = _read_leaf(reader, names)
        while waiting:
            if _read_after(reader, waiting[-1], node) == ",":
                break
            node = _close(reader, waiting.pop())
        else:
            if reader.at < len(text):
                raise reader.fail(_unexpected(reader, "the end of the formula"))
            return node


def _read_after(reader: _Reader, gate: _Open, node: Node) -> str:
    """Add an input to its gate with the weight behind it; return the "," or ")" that follows."""
    gate.inputs.append(node)
    if gate.andness is not None and reader.sign(":"):
        weight = reader.number("a weight")
        gate.weights.append(weight / 100.0 if reader.sign("%") else weight)
    elif gate.unweighted is None:
        gate.unweighted = reader.at
    follows = reader.sign(",)" if gate.andness is not None else ")")
    if not follows:
        raise reader.fail(_unexpected(reader, "',' or ')'" if gate.andness is not None else "')'"))
    return follows


def _unexpected(reader: _Reader, expected: str) -> str:
    """Say what was expected; a name of several words or with signs in it is the usual reason."""
    here, before = reader.text[reader.at : reader.at + 1], reader.text[: reader.at].rstrip()[-1:]
    if (here.isalnum() or here in "_./-%#") and here and (before.isalnum() or before == "_"):
        return f'expected {expected}; a name that is not one plain word stands in double quotes, e.g. "worst radius"'
    return f"expected {expected}"


def _read_names(reader: _Reader) -> list[str]:
    """Read names and `not`s in front of a node. The last name is its own; those before it belong to its negations."""
    names = [""]
    while True:
        start, quoted = reader.at, reader.text.startswith('"', reader.at)
        word = reader.name()
        if word == "not" and not quoted:
            names.append("")
        elif word and reader.sign("="):
            names[-1] = word
        else:
            reader.at = start
            return names


def _read_head(reader: _Reader, names: list[str]) -> _Open | None:
    """Read "CODE(", "ANDNESS(" or "(", with an aggregator in front or not; None when no gate begins here."""
    start = reader.at
    if reader.sign("("):
        return _Open(names, start, None, "")
    match = reader.take(_HEAD)
    if not match:
        return None
    rule, level = match["rule"] or DEFAULT, match["level"]
    if rule not in AGGREGATORS:
        raise reader.fail(f"unknown aggregator {rule!r}; use one of {', '.join(AGGREGATORS)}", start)
    if _NUMBER.fullmatch(level):
        return _Open(names, start, float(level), rule)
    if level not in LEVELS:
        meant = {"AND": "HC", "OR": "HD"}.get(level.upper(), level.upper())
        hint = f"did you mean {meant}?" if meant in LEVELS else f"use a number or one of {', '.join(LEVELS)}"
        raise reader.fail(f"unknown code {level!r}; {hint}", match.start("level"))
    return _Open(names, start, level, rule)


def _close(reader: _Reader, gate: _Open) -> Node:
    if gate.andness is None:
        return _make(reader, gate.names, gate.position, _renamed, gate.inputs[0])
    if gate.weights and gate.unweighted is not None:
        raise reader.fail("give every input of this gate a weight, or none", gate.unweighted)
    content = gate.inputs, gate.andness, gate.weights or None, gate.aggregator
    return _make(reader, gate.names, gate.position, Gate, *content)


def _read_leaf(reader: _Reader, names: list[str]) -> Node:
    start = reader.at
    feature = reader.name()
    if feature is None:
        quote = reader.text[start : start + 1] in tuple("\"'`\u2018\u2019\u201c\u201d")
        raise reader.fail(
            'put the name between straight double quotes, e.g. "worst radius"'
            if quote
            else "expected a feature, `not` or a gate such as SC(...)"
        )
    if feature in reader.parts:
        if reader.sign("["):
            raise reader.fail(f"{feature!r} is a part, which takes no criterion", start)
        reader.used.add(feature)
        return _make(reader, names, start, _renamed, reader.parts[feature])
    return _make(reader, names, start, Leaf, feature, _read_criterion(reader) if reader.sign("[") else Given())


def _make(reader: _Reader, names: list[str], position: int, make: Callable[..., Node], *content: Any) -> Node:
    """Make a node, wrapped in the negations that stood in front of it."""
    try:
        return reduce(Not, reversed(names[:-1]), make(*content, name=names[-1]))
    except ValueError as problem:
        raise reader.fail(str(problem), position) from None


def _renamed(node: Node, name: str) -> Node:
    if name and node.name:
        raise ValueError(f"this part has two names, {name!r} and {node.name!r}")
    return replace(node, name=name) if name else node


def _read_criterion(reader: _Reader) -> Criterion:
    start, said, kind = reader.at, dict[str, Any](), _read_kind(reader)
    while kind is None or reader.sign(",]", "',' or ']'") == ",":
        _read_item(reader, said, kind)
        if kind is None and reader.sign(",]", "',' or ']'") == "]":
            break
    try:
        return _build(said, kind)
    except (ValueError, TypeError) as problem:
        raise reader.fail(str(problem), start) from None


def _read_kind(reader: _Reader) -> type[Criterion] | None:
    """Read the name of a kind whose notation is its name and its fields, where brackets begin with one."""
    start, word = reader.at, reader.take(_WORD)
    kind = KINDS.get(word.group()) if word else None
    if kind is None or kind.text is not Criterion.text:
        reader.at = start
        return None
    return kind


def _read_item(reader: _Reader, said: dict[str, Any], kind: type[Criterion] | None) -> None:
    here, truth, word = reader.at, reader.take(_NUMBER), reader.take(_WORD)
    key = word.group() if word else ""
    spoken = {"missing", "unit", *(each for other in KINDS.values() for each in other.vocabulary)} - {"at", "if"}
    if truth and key == "at":
        said.setdefault(key, []).append((reader.number("a breakpoint"), float(truth.group())))
    elif truth and key == "if":
        said.setdefault(key, []).append((_read_category(reader), float(truth.group())))
    elif truth or key not in (kind.entries() if kind else spoken):
        known = f"{kind.kind}, {', '.join(kind.entries())}" if kind else _EXAMPLES
        raise reader.fail(f"expected e.g. {known}", here)
    elif key in said:
        raise reader.fail(f"{key!r} is said twice", here)
    else:
        said[key] = _read_value(reader, key, text=key == "unit" or bool(kind and kind.entries()[key] == "str"))


def _build(said: dict[str, Any], kind: type[Criterion] | None) -> Criterion:
    """Make the one kind of criterion that everything said fits."""
    owners = [kind] if kind else [each for each in KINDS.values() if any(word in said for word in each.vocabulary)]
    if len(owners) > 1:
        kinds = "a ramp (at), a sigmoid (half at, slope), an interval (above, up to) or a table (if)"
        raise ValueError(f"a criterion is {kinds}, no mixture")
    made = owners[0] if owners else Given
    with_unit = [_a(each.kind) for each in KINDS.values() if "unit" in each.entries()]
    if "unit" in said and _a(made.kind) not in with_unit:
        raise ValueError(f"`unit` goes with {listed(with_unit)} only")
    return made.from_text(said)


def _a(kind: str) -> str:
    return f"{'an' if kind[0] in 'aeiou' else 'a'} {kind}"


def _read_value(reader: _Reader, key: str, *, text: bool) -> Any:
    if key in _SECOND and not text:
        word = reader.take(_WORD)
        if not word or word.group() != _SECOND[key]:
            raise reader.fail(f"expected `{key} {_SECOND[key]}` and a number")
    if not text:
        return reader.number(f"the value of {key!r}")
    found = reader.string()
    if found is None:
        raise reader.fail(f'expected the {key} in double quotes, e.g. {key} "mm"')
    return found


def _read_category(reader: _Reader) -> str | int | bool:
    start, text = reader.at, reader.string()
    if text is not None:
        return text
    word = reader.take(_WORD) or reader.take(_WHOLE)
    if word and word.group() in ("true", "false"):
        return word.group() == "true"
    if word and _WHOLE.fullmatch(word.group()) and len(word.group()) < 1000:
        return int(word.group())
    raise reader.fail("expected a category: text in double quotes, a whole number, true or false", start)
