"""A decision as a Python file that needs nothing but `math`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from baconlogic.export._about import head
from baconlogic.export._compile import program
from baconlogic.export._program import WHY, Among, Printer, Program

# Python looks for the encoding of a file in its first two lines: nothing of a model may stand there.
_CODING = "# -*- coding: utf-8 -*-"
_READ = """
def _read(row, name):
    try:
        return row[name]
    except KeyError:
        raise ValueError(f"missing column {name!r}") from None
"""
_NUMBER = """
def _number(row, name):
    value = _read(row, name)
    if isinstance(value, (str, bytes)):
        raise ValueError(f"{name!r} must be a number, got {value!r}")
    try:
        return nan if value is None else float(value)
    except (TypeError, ValueError, OverflowError):
        if type(value).__name__ in ("NAType", "NaTType"):
            return nan
        raise ValueError(f"{name!r} must be a number, got {value!r}") from None
"""
_CATEGORY = """
def _category(row, name, text):
    value = _read(row, name)
    if value is None or type(value).__name__ in ("NAType", "NaTType") or value != value:
        return None
    if isinstance(value, str) != text:
        raise ValueError(f"{name!r} must be {'text' if text else 'a whole number'}, got {value!r}")
    return value
"""
_REFUSE = """
def _refuse(name, value, why):
    raise ValueError(f"{name!r} is {value!r}, {why}")
"""
_CALLS = {"number": "_number(row, {!a})", "text": "_category(row, {!a}, True)", "whole": "_category(row, {!a}, False)"}


class _PythonPrinter(Printer):
    functions = {name: name for name in ("abs", "exp", "expm1", "log", "max", "min")}  # noqa: RUF012
    both, either = " and ", " or "

    def choice(self, test: str, then: str, otherwise: str) -> str:
        return f"{then} if {test} else {otherwise}"

    def missing(self, place: int) -> str:
        return f"x{place} is None" if self.kinds[place] != "number" else f"x{place} != x{place}"

    def among(self, test: Among) -> str:
        return f"x{test.input} in {_tuple(test.categories)}"

    def unlisted(self, test: Among) -> str:
        x = f"x{test.input}"
        known = f"{x} == {x}" if self.kinds[test.input] == "number" else f"{x} is not None"
        return f"{known} and {x} not in {_tuple(test.categories)}"


def to_python(model: Any, *, trace: bool = False) -> str:
    """Return a Python module with `truth(row)`, `probabilities(row)`, `decide(row)` and, if asked, `trace(row)`.

    A row is a dict (anything with `row[name]`); None and NaN are missing. What has no truth raises ValueError.
    """
    made = program(model, trace=trace)
    kinds = {each.kind for each in made.inputs}
    wanted = {_READ: kinds, _NUMBER: "number" in kinds, _CATEGORY: kinds - {"number"}, _REFUSE: made.checks}
    parts = [
        f"{_CODING}\n{head(model, made, '#')}",
        "from math import exp, expm1, log, nan",
        f"FEATURES = {_tuple(each.feature for each in made.inputs)}\n"
        f"CLASSES = {_tuple(made.classes)}\n"
        f"THRESHOLD = {made.threshold!r}",
        *(text.strip() for text, needed in wanted.items() if needed),
        *_functions(made, _PythonPrinter(made.inputs)),
    ]
    return "\n\n\n".join(parts) + "\n"


def _functions(made: Program, printer: _PythonPrinter) -> list[str]:
    names = [spot.name for spot in made.spots] or list(made.truths)
    work = [*_read(made, printer), *printer.lines(made.needed(*names))]
    roots = list(made.truths)
    found = []
    if made.spots:
        nodes = "NODES = " + _tuple((spot.tree, spot.path) for spot in made.spots)
        found = [nodes, _function("_nodes", "Return the truth of every one of NODES.", work, f"({', '.join(names)},)")]
        work, roots = ["found = _nodes(row)"], [f"found[{names.index(name)}]" for name in made.truths]
    one = len(roots) == 1
    say = "Return the degree of truth of a row" + (", a dict of FEATURES." if one else " for each class.")
    found.append(_function("truth", say, work, roots[0] if one else f"[{', '.join(roots)}]"))
    start = [f"{', '.join(made.truths)} = truth(row)"] if made.truths else []
    if made.probabilities:
        body = [*start, *printer.lines(made.after(*made.probabilities))]
        answer = f"[{', '.join(made.probabilities)}]"
        found.append(_function("probabilities", "Return the probability of each of CLASSES.", body, answer))
    body = [*start, *printer.lines(made.after(made.choice))]
    found.append(_function("decide", "Return the answer: one of CLASSES.", body, f"CLASSES[int({made.choice})]"))
    return [*found, _trace(made, roots)] if made.spots else found


def _trace(made: Program, roots: list[str]) -> str:
    chances = '        "probabilities": probabilities(row),\n' if made.probabilities else ""
    return (
        'def trace(row):\n    """Return the truth of every node of every tree, root first, with the answer."""\n'
        "    found = _nodes(row)\n    return {\n"
        f'        "truth": [{", ".join(roots)}],\n'
        '        "nodes": [{"tree": k, "path": list(path), "truth": t} for (k, path), t in zip(NODES, found)],\n'
        f'{chances}        "decision": decide(row),\n    }}'
    )


def _function(name: str, doc: str, body: Sequence[str], answer: str) -> str:
    lines = [f'"""{doc}"""', *body, f"return {answer}"]
    return "\n".join([f"def {name}(row):", *(f"    {line}" for line in lines)])


def _read(made: Program, printer: _PythonPrinter) -> list[str]:
    lines = [f"x{place} = {_CALLS[each.kind].format(each.feature)}" for place, each in enumerate(made.inputs)]
    for check in made.checks:
        lines += [
            f"if {printer.fails(check)}:",
            f"    _refuse({made.inputs[check.input].feature!a}, x{check.input}, {WHY[check.why]!r})",
        ]
    return lines


def _tuple(values: Any) -> str:
    written = [ascii(value) for value in values]
    return f"({', '.join(written)}{',' if len(written) == 1 else ''})"
