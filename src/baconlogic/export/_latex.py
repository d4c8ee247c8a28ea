"""A decision as formulas for a paper: every criterion, every gate with its numbers, and how truth becomes an answer."""

from __future__ import annotations

import math
import re
import textwrap
import unicodedata
from collections.abc import Sequence
from itertools import count, pairwise
from typing import Any

from baconlogic.core.answers import Label
from baconlogic.core.criterion import Category, Operation
from baconlogic.core.nodes import Gate, Leaf, Node, Not, flatten
from baconlogic.core.tree import Tree
from baconlogic.core.words import listed, number, numbers, one_line
from baconlogic.export._about import about, trees_of
from baconlogic.export._compile import program
from baconlogic.export._program import Op, Program, unsupported

Rows = list[tuple[str, str]]  # values, each with when it holds

_LINE = 62  # signs of a formula that fit on a line
_ENDS = "[^ -~]|!|(?<=arara):"  # what old tools may not read, or obey: % !TeX program = ..., % arara: ...
_OTHERWISE = "\\text{otherwise}"
_HEAD = "\\documentclass{article}\n\\usepackage{amsmath}\n\\begin{document}\n"
_FOOT = "\\end{document}\n"
_UNBROKEN = 24  # letters of a name after which it may go on in the next line
_LETTERS = {"ß": "ss", "æ": "ae", "Æ": "AE", "œ": "oe", "Œ": "OE", "ø": "o", "Ø": "O", "ł": "l", "Ł": "L"}
_SPECIAL = {
    **{sign: f"\\{sign}" for sign in "#$%&_{}"},
    **{letter: f"{{\\{name}}}" for letter, name in _LETTERS.items()},
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    "`": r"\textquoteleft{}",
    '"': r"{\char34}",  # a letter to some languages of babel
    "-": "{-}",  # two of them, or two of the next, would melt into one sign
    "'": "{'}",
    "\u2013": "{--}",
    "\u2014": "{---}",
    "\u2018": r"\textquoteleft{}",
    "\u2019": "{'}",
    "\u201c": "{``}",
    "\u201d": "{''}",
    "…": r"\dots{}",
}
_GREEK = (  # in the order of Unicode; an o is the letter itself, and a sigma at the end of a word is a sigma
    "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi o pi rho sigma sigma tau upsilon phi chi "
    "psi omega"
)
_CAPITALS = "gamma delta theta lambda xi pi sigma upsilon phi psi omega"
_MATHS = {
    **{chr(0x3B1 + i): f"\\{name}" if name != "o" else "o" for i, name in enumerate(_GREEK.split())},
    **{chr(0x391 + i): f"\\{name.title()}" for i, name in enumerate(_GREEK.split()) if name in _CAPITALS.split()},
    **{c: f"^{i}" for i, c in enumerate("⁰¹²³⁴⁵⁶⁷⁸⁹")},
    **{c: f"_{i}" for i, c in enumerate("₀₁₂₃₄₅₆₇₈₉")},
    "\u00b5": r"\mu",
    "\u00d7": r"\times",
    "°": r"^\circ",
    "±": r"\pm",
    "·": r"\cdot",
    "≤": r"\le",
    "≥": r"\ge",
    "≠": r"\ne",
}
_ACCENTS = dict(  # as Unicode combines them with a letter, and as LaTeX does
    zip("\u0300\u0301\u0302\u0303\u0304\u0306\u0307\u0308\u030a\u030b\u030c\u0323\u0327", "`'^~=u.\"rHvdc", strict=True)
)


def to_latex(model: Any, *, standalone: bool = False) -> str:
    """Return the model as formulas for LaTeX with amsmath; `standalone` makes it a whole document.

    Numbers are rounded for reading: to decide, use the other exports.
    """
    made = program(model)
    comment = (textwrap.wrap(line, 116, subsequent_indent="    ") for line in about(model, made, _ENDS))
    formulas = _Formulas(made)
    parts = ["\n".join(f"% {line}" for wrapped in comment for line in wrapped)]
    parts += ["\\noindent Numbers are rounded for reading.", *_columns(made)]
    trees = trees_of(model)
    for k, tree in enumerate(trees):
        root = "z" if len(trees) == 1 else f"z_{{{k + 1}}}"
        title = "The tree" if len(trees) == 1 else f"The tree of {_label(made.classes[k])}"
        parts += [f"\\medskip\\noindent\\textbf{{{title}}}", *formulas.tree(tree, root)]
    body = "\n\n".join([*parts, *_answer(getattr(model, "decision_", model), made)]) + "\n"
    return f"{_HEAD}{body}{_FOOT}" if standalone else body


def _label(label: Label) -> str:
    return f"``{escaped(label)}''" if isinstance(label, str) else escaped(str(label))


def _columns(made: Program) -> list[str]:
    if not made.inputs:
        return []
    items = [
        f"\\item[$x_{{{i}}}$] {{{escaped(each.feature)}}}{f' in {escaped(each.unit)}' if each.unit else ''}"
        for i, each in enumerate(made.inputs, start=1)
    ]
    listing = "\n".join(["\\begin{description}", *items, "\\end{description}"])
    no_answer = "A value that no formula speaks of, such as a missing one where nothing is said of it, has no answer."
    return [f"\\noindent The columns are\n{listing}\n{no_answer}"]


class _Formulas:
    """Writes trees from their leaves up: t for the truth of a criterion, g for that of a gate."""

    def __init__(self, made: Program) -> None:
        self._column = {each.feature: f"x_{{{i}}}" for i, each in enumerate(made.inputs, start=1)}
        self._counts = {"t": count(1), "g": count(1)}

    def tree(self, tree: Tree, root: str) -> list[str]:
        """Return the paragraphs of a tree whose truth is called `root`."""
        order = flatten(tree.root)
        symbols: list[tuple[str, bool]] = []  # the name of each node's truth, and whether it is turned
        found = []
        for place, (node, below) in enumerate(order):
            inputs, last = [symbols[i] for i in below], place == len(order) - 1
            if isinstance(node, Not) and not node.name and not last:
                symbol, turned = inputs[0]
                symbols.append((symbol, not turned))
                continue
            letter = "t" if isinstance(node, Leaf) else "g"
            symbol = root if last else f"{letter}_{{{next(self._counts[letter])}}}"
            said, pieces = self._node(node, inputs)
            name = f", \\emph{{{escaped(node.name)}}}" if node.name else ""
            found.append(f"\\noindent ${symbol}${name}: {said}.\n{_shown(symbol, pieces)}")
            symbols.append((symbol, False))
        return found

    def _node(self, node: Node, inputs: Sequence[tuple[str, bool]]) -> tuple[str, list[str]]:
        """Return the words of a node, and its formula in pieces between which a line may end."""
        if isinstance(node, Leaf):
            x, missing = self._column[node.feature], node.criterion.missing
            rows = [] if missing is None else [(_number(missing), f"\\text{{if }} {x} \\text{{ is missing}}")]
            rows += node.criterion.expression(_CaseBuilder(x))[0]
            return escaped(node.criterion.words(node.feature)), [_whole(rows)]
        if isinstance(node, Gate):
            return _said(node, inputs), _combined(node, inputs)
        if isinstance(node, Not):
            symbol, turned = inputs[0]
            return "the negation", [_turned(symbol, not turned)]
        return unsupported("LaTeX", node)


class _CaseBuilder:
    """What a criterion writes its truth with (see ExpressionBuilder): values, each with when it holds."""

    def __init__(self, x: str) -> None:
        self._x, self.x = x, _always(x)

    def number(self, value: float) -> Rows:
        return _always(_number(value))

    def past(self, mark: float) -> Rows:
        return _always(_past(self._x, mark))

    def op(self, name: Operation, *args: Rows) -> Rows:
        texts = [_whole(rows) for rows in args]
        first, last = texts[0], texts[-1]
        written = {
            "+": " + ".join(texts),
            "*": "\\,".join(map(_factor, texts)),
            "-": f"{'' if first == '0' else first} - {_factor(last)}".strip(),
            "/": f"\\dfrac{{{first}}}{{{last}}}",
            "abs": f"\\left|{first}\\right|",
            "exp": f"e^{{{first}}}",
            "expm1": f"e^{{{first}}} - 1",
            "log": f"\\ln({first})",
            "min": f"\\min({', '.join(texts)})",
            "max": f"\\max({', '.join(texts)})",
        }
        return _always(written[name]) if name in written else unsupported("LaTeX", Op(name, ()))

    def less(self, left: Rows, right: Rows) -> str:
        return f"{_whole(left)} < {_whole(right)}"

    def choose(self, test: str, then: Rows, otherwise: Rows) -> Rows:
        return [(_whole(then), f"\\text{{if }} {test}"), *otherwise]

    def once(self, value: Rows) -> Rows:
        return value

    def lines(self, points: Sequence[tuple[float, float]]) -> Rows:
        marks = [_power_of_ten(mark) for mark in numbers([mark for mark, _ in points])]
        rows = [(_number(points[0][1]), f"\\text{{if }} {self._x} < {marks[0]}")]
        for ((x0, t0), (x1, t1)), (start, end) in zip(pairwise(points), pairwise(marks), strict=True):
            line = _number(t0)
            if t0 != t1:
                factor = "" if abs(t1 - t0) == 1.0 else f"{_number(abs(t1 - t0))}\\,"
                sign = f"{line} {'-' if t1 < t0 else '+'} " if t0 > 0.0 else ""
                line = f"{sign}{factor}\\dfrac{{{_past(self._x, x0)}}}{{{_number(x1 - x0)}}}"
            rows.append((line, f"\\text{{if }} {start} \\le {self._x} < {end}"))
        return [*rows, (_number(points[-1][1]), f"\\text{{if }} {marks[-1]} \\le {self._x}")]

    def logistic(self, centre: float, slope: float) -> Rows:
        return _always(_sigmoid(slope, self._x, centre))

    def choices(self, truths: Sequence[tuple[Category, float]], other: float | None) -> Rows:
        groups: dict[float, list[str]] = {}
        for category, truth in truths:
            groups.setdefault(truth, []).append(_label(category if isinstance(category, str) else int(category)))
        rows = [
            (_number(truth), f"\\parbox[t]{{0.6\\linewidth}}{{\\raggedright for {listed(names)}}}")
            for truth, names in groups.items()
        ]
        return rows if other is None else [*rows, (_number(other), "\\text{for anything else}")]


def _always(value: str) -> Rows:
    return [(value, _OTHERWISE)]


def _whole(rows: Rows) -> str:
    """Write values by when they hold; one alone holds always."""
    if len(rows) == 1:
        return rows[0][0]
    lines = " \\\\\n".join(f"{value} & {when}" for value, when in rows)
    return f"\\begin{{cases}}\n{lines}\n\\end{{cases}}"


def _said(gate: Gate, inputs: Sequence[tuple[str, bool]]) -> str:
    level, given = gate.level, [_turned(name, turned) for name, turned in inputs]
    weights = listed([f"${_number(w)}$ of ${x}$" for w, x in zip(gate.weights, given, strict=True)], "and")
    rule = f"; rule {escaped(gate.rule)}" if gate.rule else ""
    said = f"{escaped(level.code)}, {escaped(level.name)}: {escaped(level.words)}"
    return f"{said}. Andness ${_number(gate.andness)}${rule}; weights {weights}"


def _combined(gate: Gate, inputs: Sequence[tuple[str, bool]]) -> list[str]:
    """Write what the coefficients of a gate say: the mean and the product, in pieces between which a line may end."""
    dual, mean, product, power = gate.coefficients
    if math.isinf(power):
        full, other = ("0", "1") if dual else ("1", "0")
        all_of = f"\\text{{if every input is fully {'false' if dual else 'true'}}}"
        return [_whole([(full, all_of), (other, _OTHERWISE)])]
    given = [_turned(name, turned != dual) for name, turned in inputs]
    pieces = []
    if mean > 0.0:
        terms = [f"{_number(w)}\\,{_factor(x)}" for w, x in zip(gate.weights, given, strict=True)]
        pieces = [terms[0], *(f"+ {term}" for term in terms[1:])]
        if mean < 1.0:
            pieces[0], pieces[-1] = f"{_number(mean)}\\,({pieces[0]}", f"{pieces[-1]})"
    if product > 0.0:
        exponents = [_number(len(given) * w * power) for w in gate.weights]
        factors = [_factor(x) + (f"^{{{e}}}" if e != "1" else "") for x, e in zip(given, exponents, strict=True)]
        front = f"{_number(product)}\\," if product < 1.0 else ""
        factors[0] = ("+ " if pieces else "") + front + factors[0]
        together = "\\, ".join(factors)
        pieces += [together] if _width(together) <= _LINE else [factors[0], *(f"\\, {each}" for each in factors[1:])]
    if dual:
        start, end = ("[", "]") if mean > 0.0 else ("", "")
        pieces[0] = f"1 - {start}{pieces[0]}"
        pieces[-1] += end
    return pieces


def _shown(symbol: str, pieces: Sequence[str]) -> str:
    """Write an equation, over several lines where it is long."""
    lines, left = [""], _LINE
    for piece in pieces:
        if lines[-1] and _width(piece) > left:
            lines.append("")
            left = _LINE
        left -= _width(piece)
        lines[-1] += f" {piece}" if lines[-1] else piece
    return f"\\begin{{align*}}\n{symbol} &= " + " \\\\\n&\\quad ".join(lines) + "\n\\end{align*}"


def _width(piece: str) -> int:
    return len(re.sub(r"\\[a-z]+|[\\{}_^, ]", "", piece)) + 1


def _answer(model: Any, made: Program) -> list[str]:
    start, labels = "\\medskip\\noindent\\textbf{The answer}", [_label(label) for label in made.classes]
    if len(labels) == 1:
        return [start, f"\\noindent It is always {labels[0]}."]
    if made.threshold is not None:
        turn = f"\\noindent It is {labels[1]} when $z > {_number(made.threshold)}$, else {labels[0]}."
        if isinstance(model, Tree):
            return [start, turn]
        chance = _sigmoid(model.links[0].steepness, "z", model.links[0].threshold)
        return [start, turn, f"\\noindent The probability of {labels[1]} is\n{_shown('p', [chance])}"]
    found = [start, f"\\noindent It is the most probable of {listed(labels, 'and')}. Their probabilities are"]
    for k, link in enumerate(model.links, start=1):
        score = _sigmoid(link.steepness, f"z_{{{k}}}", link.threshold)
        found.append(_shown(f"p_{{{k}}}", [f"\\frac{{s_{{{k}}}}}{{\\sum_j s_j}}", f"\\qquad s_{{{k}}} = {score}"]))
    return found


def _turned(symbol: str, turned: bool) -> str:
    return f"1 - {symbol}" if turned else symbol


def _factor(symbol: str) -> str:
    return f"({symbol})" if " " in symbol else symbol


def _past(x: str, mark: float) -> str:
    return x if mark == 0.0 else f"{x} {'+' if mark < 0.0 else '-'} {_number(abs(mark))}"


def _sigmoid(slope: float, x: str, centre: float) -> str:
    return f"\\dfrac{{1}}{{1 + e^{{{_number(-slope)}\\,{_factor(_past(x, centre))}}}}}"


def _number(value: float) -> str:
    return _power_of_ten(number(value))


def _power_of_ten(digits: str) -> str:
    front, e, power = digits.partition("e")
    return f"{front} \\cdot 10^{{{int(power)}}}" if e else digits


def escaped(text: str) -> str:
    """Write text so that LaTeX sets it as it is, also with pdflatex and its oldest fonts.

    A sign that fonts may lack is told by its number, [U+1F642].
    """
    found, unbroken, last = list[str](), 0, " "
    for sign in unicodedata.normalize("NFC", one_line(text)):
        unbroken = 0 if sign == " " else unbroken + 1
        found.append("\\ " if sign == last == " " else _sign(sign))
        if unbroken and unbroken % _UNBROKEN == 0:
            found.append("\\allowbreak{}")
        last = sign
    return "".join(found)


def _sign(sign: str) -> str:
    if sign in _MATHS:
        return f"\\ensuremath{{{_MATHS[sign]}}}"
    if sign in _SPECIAL or sign.isascii():
        return _SPECIAL.get(sign, sign)
    apart = unicodedata.normalize("NFD", sign)
    base, marks = apart[:1], apart[1:]
    if base.isascii() and base.isalpha() and marks in _ACCENTS:
        letter = f"\\{base}" if base in "ij" else base
        return f"\\{_ACCENTS[marks]}{{{letter}}}"
    return f"[U+{ord(sign):04X}]"
