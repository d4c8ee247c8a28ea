"""A decision as a JavaScript module that needs nothing else: for a page, a server, a form that answers as one types."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from typing import Any

from baconlogic.core.answers import Label
from baconlogic.export._about import head
from baconlogic.export._compile import program
from baconlogic.export._program import WHY, Among, Printer, Program

_ENDS = "[^ -~]|[<>&]|/(?=/)"  # what a page reads as markup; and tools find //# sourceMappingURL= in any comment
_SAFE = 2**53 - 1  # whole numbers beyond are not told apart by JavaScript's numbers, but by its BigInt

_READERS = {
    "": """
function refuse(name, value, why) {
  const shown = typeof value === "string" ? JSON.stringify(value)
    : typeof value === "object" && value !== null ? "an object" : String(value);
  throw new RangeError(`${JSON.stringify(name)} is ${shown}, ${why}`);
}

function read(row, name) {
  if (typeof row !== "object" || row === null) {
    throw new TypeError("a row is an object that has the columns as properties");
  }
  if (!Object.hasOwn(row, name)) {
    throw new RangeError(`missing column ${JSON.stringify(name)}`);
  }
  const value = row[name];
  return value === undefined || value !== value ? null : value;
}
""",
    "number": """
function readNumber(row, name) {
  const value = read(row, name);
  if (typeof value === "number") return value;
  if (value === null) return NaN;
  const whole = typeof value === "boolean" || typeof value === "bigint" ? Number(value) : NaN;
  return Number.isFinite(whole) ? whole : refuse(name, value, "not a number");
}
""",
    "text": """
function readText(row, name) {
  const value = read(row, name);
  return value === null || typeof value === "string" ? value : refuse(name, value, "not text");
}
""",
    "whole": """
function readWhole(row, name) {
  const value = read(row, name);
  if (value === null) return null;
  if (!["number", "boolean", "bigint"].includes(typeof value)) return refuse(name, value, "not a whole number");
  const number = Number(value);
  if (Number.isSafeInteger(number)) return number;
  return Number.isInteger(value) ? BigInt(value) : value;
}
""",
}
_CALLS = {"number": "readNumber", "text": "readText", "whole": "readWhole"}
_LABEL = "string | number | bigint | boolean"
_ROW = " * @param {Object<string, number | boolean | bigint | string | null | undefined>} row an object with FEATURES"


class _JavaScriptPrinter(Printer):
    functions = {name: f"Math.{name}" for name in ("abs", "exp", "expm1", "log", "max", "min")}  # noqa: RUF012
    binding = "const {} = {};"

    def missing(self, place: int) -> str:
        return f"x{place} !== x{place}" if self.kinds[place] == "number" else f"x{place} === null"

    def among(self, test: Among) -> str:
        """Write the test for categories; a number that no JavaScript number equals is none."""
        if self.kinds[test.input] == "number":
            numbers = [int(each) for each in test.categories]
            written = [repr(float(each)) for each in numbers if abs(each) <= _SAFE or _is_double(each)]
        else:
            written = [text(each) if isinstance(each, str) else _whole(int(each)) for each in test.categories]
        x = self.raw(test.input)
        return f"{x} === {written[0]}" if len(written) == 1 else f"{_array(written)}.includes({x})"


def to_javascript(model: Any, *, trace: bool = False) -> str:
    """Return an ES module with `truth(row)`, `probabilities(row)`, `decide(row)` and, if asked, `trace(row)`.

    A row is an object with the columns as its own properties; null, undefined and NaN are missing. What has no truth
    throws RangeError. The text is plain ASCII without "</", so that it may also stand inside a page.
    """
    made = program(model, trace=trace)
    kinds = {"", *(each.kind for each in made.inputs)} if made.inputs else set()
    parts = [
        head(model, made, "//", _ENDS),
        _constants(made),
        *(code.strip() for kind, code in _READERS.items() if kind in kinds),
        *_functions(made, _JavaScriptPrinter(made.inputs)),
    ]
    return "\n\n".join(parts) + "\n"


def text(value: str) -> str:
    r"""Write a text as a literal of JavaScript: ASCII only, and nothing that a page would read as markup."""
    return re.sub("[<>&\x7f]", lambda found: f"\\u{ord(found[0]):04x}", json.dumps(value))


def _constants(made: Program) -> str:
    lines = [
        "/** The columns that are read. @type {readonly string[]} */",
        f"export const FEATURES = Object.freeze({_array(text(each.feature) for each in made.inputs)});",
        f"/** The possible answers. @type {{readonly ({_LABEL})[]}} */",
        f"export const CLASSES = Object.freeze({_array(_label(label) for label in made.classes)});",
        "/** The truth above which the second of two answers is given. @type {number | null} */",
        f"export const THRESHOLD = {json.dumps(made.threshold)};",
    ]
    if made.spots:
        lines.append("// The tree of every node, and the way down to it: which input at each step.\nconst NODES = [")
        lines += [f"  [{spot.tree}, {_array(map(str, spot.path))}]," for spot in made.spots]
        lines.append("];")
    return "\n".join(lines)


def _functions(made: Program, printer: _JavaScriptPrinter) -> list[str]:
    names = [spot.name for spot in made.spots] or list(made.truths)
    body = [*_reading(made, printer), *printer.lines(made.needed(*names))]
    found = [_function("known" if made.spots else "truths", "row", body, _array(names))]
    roots = _array(f"found[{names.index(name)}]" for name in made.truths)
    if made.spots:
        found.append(_function("truths", "row", ["const found = known(row);"], roots))
    given = _array(made.truths)
    if made.probabilities:
        body = printer.lines(made.after(*made.probabilities))
        found.append(_function("chances", given, body, _array(made.probabilities)))
    found.append(_function("answer", given, printer.lines(made.after(made.choice)), f"CLASSES[{made.choice}]"))
    one = len(made.truths) == 1
    said = f"The degree of truth of a row{'' if one else ' for each of CLASSES'}."
    found.append(_public("truth", f"truths(row){'[0]' if one else ''}", said, f"number{'' if one else '[]'}"))
    if made.probabilities:
        said = "The probability of each of CLASSES."
        found.append(_public("probabilities", "chances(truths(row))", said, "number[]"))
    found.append(_public("decide", "answer(truths(row))", "The answer: one of CLASSES.", _LABEL))
    return [*found, _trace(made, roots)] if made.spots else found


def _trace(made: Program, roots: str) -> str:
    chances = "\n    probabilities: chances(roots)," if made.probabilities else ""
    return f"""/**
 * The truth of every node of every tree, root first, with the answer.
{_ROW}
 */
export function trace(row) {{
  const found = known(row);
  const roots = {roots};
  return {{
    truth: roots,
    nodes: NODES.map(([tree, path], i) => ({{ tree, path: [...path], truth: found[i] }})),{chances}
    decision: answer(roots),
  }};
}}"""


def _array(values: Iterable[str]) -> str:
    return f"[{', '.join(values)}]"


def _function(name: str, argument: str, body: Sequence[str], answer: str) -> str:
    return "\n".join([f"function {name}({argument}) {{", *(f"  {line}" for line in body), f"  return {answer};", "}"])


def _public(name: str, answer: str, says: str, gives: str) -> str:
    doc = ["/**", f" * {says}", _ROW, f" * @returns {{{gives}}}", " */"]
    return "\n".join([*doc, "export " + _function(name, "row", [], answer)])


def _reading(made: Program, printer: _JavaScriptPrinter) -> list[str]:
    lines = [f"const x{i} = {_CALLS[each.kind]}(row, {text(each.feature)});" for i, each in enumerate(made.inputs)]
    for check in made.checks:
        fails, feature = printer.fails(check), text(made.inputs[check.input].feature)
        lines.append(f"if ({fails}) refuse({feature}, x{check.input}, {text(WHY[check.why])});")
    return lines


def _label(label: Label) -> str:
    if isinstance(label, bool | float):
        return json.dumps(label)
    return text(label) if isinstance(label, str) else _whole(label)


def _whole(value: int) -> str:
    return str(value) if abs(value) <= _SAFE else f"{value}n"


def _is_double(value: int) -> bool:
    try:
        return int(float(value)) == value
    except OverflowError:
        return False
