"""A decision as C99: a header with the struct of its columns, and functions of it that keep nothing between calls."""

from __future__ import annotations

import math
import os
import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import chain, count
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np

from baconlogic.core.checks import Parameter, ParameterError
from baconlogic.export._about import commented, head
from baconlogic.export._c_program import in_single, logs_apart, longest_first, one_exp, shortened
from baconlogic.export._compile import program
from baconlogic.export._program import ATOM, Among, Expr, If, Less, Op, Past, Printer, Program, Test, reads

Real = Literal["double", "float"]
_Function = tuple[str, str, list[str]]  # of those that are public: what it does, its declaration, the lines of its body
_WHOLE = {"double": 2**53, "float": 2**24}  # beyond, two whole numbers are one
_NO_FAST_MATH = """#ifdef __FAST_MATH__
#error "compile without -ffast-math: it takes the test for missing values (NAN) away"
#endif
#ifdef __clang__
#pragma STDC FP_CONTRACT OFF
#endif"""
_HELPERS = {
    "less_of": "static {real} {name}_less_of({real} a, {real} b)\n{{\n    return a < b ? a : b;\n}}",
    "more_of": "static {real} {name}_more_of({real} a, {real} b)\n{{\n    return a > b ? a : b;\n}}",
    "same": "static int {name}_same({real} a, {real} b)\n{{\n    return a >= b && a <= b;\n}}",
    "log_sum": (
        "/* log(exp(a) + exp(b)) */\nstatic {real} {name}_log_sum({real} a, {real} b)\n{{\n"
        "    return (a > b ? a : b) + {log}({one} + {exp}(-{fabs}(a - b)));\n}}"
    ),
    "lost": (
        "/* 1 - e, where e is exp(g) and g at most 0: by its series where the difference would lose digits. */\n"
        "static {real} {name}_lost({real} g, {real} e)\n{{\n"
        "    const {real} g2 = g * g, g4 = g2 * g2{more};\n    return g < {turn} ? {one} - e : {series};\n}}"
    ),
}
_LONGEST = 40  # characters of a name; C promises that 63 count
_RESERVED = """
alignas alignof and and_eq asm auto bitand bitor bool break case catch char char8_t char16_t char32_t class co_await
co_return co_yield compl complex concept const const_cast consteval constexpr constinit continue decltype default delete
do double dynamic_cast else enum explicit export extern false float for friend goto if imaginary import inline int long
module mutable namespace new noexcept noreturn not not_eq nullptr operator or or_eq private protected public register
reinterpret_cast requires restrict return short signed sizeof static static_assert static_cast struct switch template
this thread_local throw true try typedef typeid typename typeof typeof_unqual union unsigned using virtual void volatile
wchar_t while xor xor_eq
far huge i386 interface linux near pascal small unix vax errno assert isnan isinf isfinite isnormal signbit fpclassify
signgam stdin stdout stderr
"""
_ENDS = r"\*(?=/)|/(?=\*)|\?(?=\?)"  # what ends a comment, begins another, or is the first half of a trigraph
_KEYWORDS = frozenset(_RESERVED.split())  # of C and C++, and words that some header makes a macro of


@dataclass(frozen=True)
class CSource:
    """A decision in C: what to include, and what to compile."""

    name: str
    header: str
    source: str

    def save(self, folder: str | os.PathLike[str]) -> list[Path]:
        """Write NAME.h and NAME.c into a folder and return the two paths."""
        paths = [Path(folder, f"{self.name}.{suffix}") for suffix in "hc"]
        for path, text in zip(paths, (self.header, self.source), strict=True):
            path.write_text(text, encoding="utf-8", newline="\n")
        return paths


def to_c(model: Any, *, name: str = "model", real: Real = "double", trace: bool = False) -> CSource:
    """Return C99 with NAME_truth, NAME_probability, NAME_decide, NAME_class and, if asked, NAME_trace.

    Their argument is a struct with a field for each column; NAN, or NULL for text, is missing. What has no truth is
    answered with NAN and -1. `real="float"` works in single precision throughout, for machines that have no other.
    """
    if not isinstance(name, str) or not re.fullmatch("[A-Za-z][A-Za-z0-9_]{0,39}", name) or name in _KEYWORDS:
        said = f" must be a name in C, at most 40 letters, digits and _, got {name!r:.60}"
        raise ParameterError(Parameter("name", ""), said)
    if real not in get_args(Real):
        raise ParameterError(Parameter("real", ""), f" must be 'double' or 'float', got {real!r:.60}")
    made = program(model, trace=trace)
    for _, category in made.categories():  # refuse those that C cannot tell apart
        if isinstance(category, str) and "\0" in category:
            raise ValueError(f"the category {category!r:.60} holds a NUL, where text in C ends; rename it")
        if not isinstance(category, str) and abs(int(category)) > _WHOLE[real]:
            raise ValueError(f"the category {category} is beyond {_WHOLE[real]}, the last that {real} holds; use text")
    said = f"/*\n{head(model, made, ' *', _ENDS)}\n */"
    made = shortened(made)
    made = longest_first(one_exp(in_single(made) if real == "float" else logs_apart(made)))
    writer = _CWriter(made, name, real)
    return CSource(name, f"{said}\n{writer.header()}", f"{said}\n{writer.source()}")


class _CWriter:
    """Writes the functions of a program."""

    def __init__(self, made: Program, name: str, real: Real) -> None:
        self.made, self.name, self.real = made, name, real
        self.printer = _CPrinter(made, name, real)
        self.fields = identifiers(each.feature for each in made.inputs)
        self.argument = f"const struct {name}_input *in"
        self.nan = f"({real})NAN"
        self.functions = self._functions()

    def header(self) -> str:
        """Write what a caller includes."""
        guard = f"BACONLOGIC_{self.name}_H"
        sizes = {"TREES": self.made.truths, "CLASSES": self.made.classes, "NODES": self.made.spots}
        parts = [
            f"#ifndef {guard}\n#define {guard}",
            '#ifdef __cplusplus\nextern "C" {\n#endif',
            "\n".join(f"#define {self.name.upper()}_{what} {len(all_)}" for what, all_ in sizes.items() if all_),
            self._struct(),
            *(f"/* {said} */\n{declared};" for said, declared, _ in self.functions),
            "#ifdef __cplusplus\n}\n#endif",
            "#endif",
        ]
        return "\n\n".join(part for part in parts if part) + "\n"

    def source(self) -> str:
        """Write what is compiled."""
        functions = ["\n".join([declared, "{", *body, "}"]) for _, declared, body in self.functions]
        text = "\n\n".join([*self._refused(), *functions])
        used = self.printer.helpers(text)
        headers = ["math.h"] if re.search(r"\b(NAN|isnan|exp|log|fabs|expm1)", "\n".join([*used, text])) else []
        headers += ["stddef.h", "string.h"] if "strcmp(" in text else ["stddef.h"]
        start = "\n".join([f'#include "{self.name}.h"', "", *(f"#include <{each}>" for each in headers)])
        return "\n\n".join([start, _NO_FAST_MATH, *used, text]) + "\n"

    def _struct(self) -> str:
        strict = {check.input for check in self.made.checks if check.why == "missing"}
        lines = []
        for place, (column, field) in enumerate(zip(self.made.inputs, self.fields, strict=True)):
            unit = f" [{column.unit}]" if column.unit else ""
            kind = {"number": "", "text": "text in UTF-8, ", "whole": "a category, a whole number, "}[column.kind]
            gap = f"{kind}{'NULL' if column.kind == 'text' else 'NAN'} if missing"
            gap += ", which has no answer" if place in strict else ""
            declared = f"const char *{field}" if column.kind == "text" else f"{self.real} {field}"
            lines.append(f"    {declared}; /* {commented(column.feature + unit, _ENDS)}: {gap} */")
        lines = lines or ["    char unused; /* this decision looks at nothing */"]
        return "\n".join([f"struct {self.name}_input {{", *lines, "};"])

    def _functions(self) -> list[_Function]:
        made, chances = self.made, self.made.probabilities
        found = []
        if len(made.truths) == 1:
            found.append(
                self._number("truth", "The degree of truth of a row, NAN where there is none.", made.truths[0])
            )
        elif made.truths:
            said = "The degree of truth for each class, NAN where there is none."
            found.append(self._array("truths", said, made.truths, "TREES"))
        if len(chances) == 2:
            said = "The probability of the second class, NAN where there is no answer."
            found.append(self._number("probability", said, chances[1]))
        if chances:
            said = "The probability of each class, NAN where there is no answer."
            found.append(self._array("probabilities", said, chances, "CLASSES"))
        said = f"The answer, its place among {self.name.upper()}_CLASSES; -1 where there is none."
        found.append(self._number("decide", said, made.choice, kind="int"))
        labels = [str(label).lower() if isinstance(label, bool) else str(label) for label in made.classes]
        found.append(self._names("class", "The name of a class by its place, NULL of none.", labels))
        if made.spots:
            said = "The truth of every node of every tree, root first; NAN where there is no answer."
            found.append(self._array("trace", said, [spot.name for spot in made.spots], "NODES"))
            places = ["".join(f"/{step}" for step in (spot.tree, *spot.path)) for spot in made.spots]
            said = "Where a node of the trace is: its tree, then its place among the inputs."
            found.append(self._names("node", said, places))
        return found

    def _number(self, what: str, said: str, name: str, *, kind: str = "") -> _Function:
        """Write a function that returns the value of a name, as a real or of another kind."""
        work = self._work([name], [f"        return {-1 if kind else self.nan};"])
        declared = f"{kind or self.real} {self.name}_{what}({self.argument})"
        return said, declared, [*work, f"    return {f'({kind})' if kind else ''}{name};"]

    def _array(self, what: str, said: str, names: Sequence[str], size: str) -> _Function:
        """Write a function that puts the values of names into an array."""
        loop = f"        for (int i = 0; i < {len(names)}; i++) {{\n            out[i] = {self.nan};\n        }}"
        work = self._work(names, [loop, "        return;"])
        declared = f"void {self.name}_{what}({self.argument}, {self.real} out[{self.name.upper()}_{size}])"
        return said, declared, [*work, *(f"    out[{k}] = {name};" for k, name in enumerate(names))]

    def _names(self, what: str, said: str, texts: list[str]) -> _Function:
        """Write a function that tells a name by its place."""
        rows = ",\n".join(f"        {literal(text)}" for text in texts)
        body = [
            f"    static const char *const names[] = {{\n{rows}\n    }};",
            f"    return place >= 0 && place < {len(texts)} ? names[place] : NULL;",
        ]
        return said, f"const char *{self.name}_{what}(int place)", body

    def _work(self, names: Sequence[str], leave: list[str]) -> list[str]:
        """Write how names are worked out, links and the choice from truths; `leave` is where there is no answer."""
        made = self.made
        if {*names} <= {*made.probabilities, made.choice}:
            bindings, start = made.after(*names), self._truths(leave)
        else:
            bindings = made.needed(*names)
            start = [f"    if ({self.name}_refused(in)) {{", *leave, "    }"] if made.checks else []
            start += self._columns({place for each in bindings for place in reads(each.value)})
        return [*start, *self.printer.lines(bindings)]

    def _truths(self, leave: list[str]) -> list[str]:
        """Write how a function gets at the truths, and leaves where there are none."""
        truths = self.made.truths
        if not truths:
            return ["    (void)in;"]
        if len(truths) == 1:
            first = [f"    const {self.real} {truths[0]} = {self.name}_truth(in);"]
            return [*first, f"    if (isnan({truths[0]})) {{", *leave, "    }"]
        used = [f"    const {self.real} {t} = truths[{k}];" for k, t in enumerate(truths)]
        call = [f"    {self.real} truths[{self.name.upper()}_TREES];", f"    {self.name}_truths(in, truths);"]
        return [*call, "    if (isnan(truths[0])) {", *leave, "    }", *used]

    def _columns(self, places: set[int]) -> list[str]:
        lines = []
        for i in sorted(places):
            kind = "char *" if self.made.inputs[i].kind == "text" else f"{self.real} "
            lines.append(f"    const {kind}x{i} = in->{self.fields[i]};")
        return lines or ([] if self.made.checks else ["    (void)in;"])

    def _refused(self) -> list[str]:
        checks = self.made.checks
        if not checks:
            return []
        columns = self._columns({check.input for check in checks})
        tests = "\n        || ".join(self.printer.fails(check) for check in checks)
        start = ["/* Whether a row has no answer. */", f"static int {self.name}_refused({self.argument})"]
        return ["\n".join([*start, "{", *columns, f"    return {tests};", "}"])]


class _CPrinter(Printer):
    """Writes expressions over locals x0, x1 ... and names of bindings."""

    def __init__(self, made: Program, name: str, real: Real) -> None:
        super().__init__(made.inputs)
        self._name, self._single = name, real == "float"
        self.binding = f"    const {real} {{}} = {{}};"  # type: ignore[misc]
        f = "f" if self._single else ""
        own = {helper: f"{name}_{helper}" for helper in _HELPERS}
        self.functions = {"abs": f"fabs{f}", "exp": f"exp{f}", "log": f"log{f}", **own}  # type: ignore[misc]

    def number(self, value: float) -> str:
        """Write a number, all the digits that its type holds."""
        return f"{np.float32(value)!s}f" if self._single else repr(value)

    def missing(self, place: int) -> str:
        """Write the test for NAN or NULL."""
        return f"x{place} == NULL" if self.kinds[place] == "text" else f"isnan(x{place})"

    def among(self, test: Among) -> str:
        """Write the test for categories; what is missing does not get here."""
        x = self.raw(test.input)
        if self.kinds[test.input] == "text":
            tests = [f"strcmp({x}, {literal(str(category))}) == 0" for category in test.categories]
        else:
            tests = [f"{self._name}_same({x}, {self.number(float(category))})" for category in test.categories]
        return tests[0] if len(tests) == 1 else f"({' || '.join(tests)})"

    def unlisted(self, test: Among) -> str:
        """Write the test for a category that is not listed, with the parentheses that C compilers ask for."""
        known = self.among(test)
        return f"(!({self.missing(test.input)}) && !{known if known.startswith('(') else f'({known})'})"

    def past(self, place: int, mark: float) -> tuple[str, int]:
        """Write x - mark; in single precision the mark is the sum of two numbers, as one may not hold it."""
        high, low = _halves(mark) if self._single else (mark, 0.0)
        if low == 0.0:
            return super().past(place, mark)
        return f"(({self.raw(place)} - {self.number(high)}) - {self.number(low)})", ATOM

    def less(self, test: Less) -> str:
        """Write a comparison, in single precision by the sign of the difference if the mark needs two numbers."""
        marks = [side.mark for side in (test.left, test.right) if isinstance(side, Past)]
        if self._single and any(_halves(mark)[1] != 0.0 for mark in marks):
            return f"{self.text(test.left)} < {self.text(test.right)}"
        return super().less(test)

    def series(self, terms: int) -> str:
        """Write -(g + g**2 / 2 + g**3 / 6 ...), in pairs, and pairs of pairs: a processor works on them at once."""
        parts = [self.number(1.0 / math.factorial(k)) for k in range(1, terms + 1)]
        for power in ("g", "g2", "g4", "g8"):
            pairs = [parts[i : i + 2] for i in range(0, len(parts), 2)]
            parts = [f"({pair[0]} + {power} * {pair[1]})" if len(pair) > 1 else pair[0] for pair in pairs]
        return f"-g * {parts[0]}"

    def helpers(self, text: str) -> list[str]:
        """Return the functions that a text calls."""
        terms, more = (8, "") if self._single else (12, ", g8 = g4 * g4")
        names = {**self.functions, "fabs": self.functions["abs"], "series": self.series(terms), "more": more}
        names |= {"real": "float" if self._single else "double", "name": self._name}
        names |= {"one": self.number(1.0), "turn": self.number(-0.25)}
        return [code.format(**names) for helper, code in _HELPERS.items() if f"{self.functions[helper]}(" in text]

    def _written(self, value: Expr | Test) -> tuple[str, int]:
        if isinstance(value, If) and isinstance(value.then, Op) and isinstance(value.otherwise, Op):
            then, otherwise = value.then, value.otherwise
            if then.op == otherwise.op == "/" and then.args[1] == otherwise.args[1]:  # one division, the same value
                over = If(value.test, then.args[0], otherwise.args[0])
                return super()._written(Op("/", (over, then.args[1])))
        return super()._written(value)

    def _op(self, value: Op) -> tuple[str, int]:
        if value.op in ("min", "max"):
            helper = self.functions["less_of" if value.op == "min" else "more_of"]
            return reduce(lambda found, other: f"{helper}({found}, {other})", map(self.text, value.args)), ATOM
        return super()._op(value)


def _halves(mark: float) -> tuple[float, float]:
    high = float(np.float32(mark))
    return high, float(np.float32(mark - high))


def identifiers(names: Iterable[str]) -> list[str]:
    """Return a C name for each name, all different: lower case, as macros are mostly written in upper case."""
    found: dict[str, None] = {}
    for name in names:
        plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode().lower()
        start = re.sub(r"[^a-z0-9]+", "_", plain).strip("_")[:_LONGEST].strip("_") or "column"
        start = f"x_{start}" if start[0].isdigit() else f"{start}_" if start in _KEYWORDS else start
        tried = chain([start], (f"{start.rstrip('_')}_{times}" for times in count(2)))
        found[next(each for each in tried if each not in found)] = None
    return list(found)


def literal(text: str) -> str:
    """Write text as a C string, in UTF-8; octal escapes have three digits, so no digit after them is taken in."""
    quoted = re.sub(r'["\\?]', r"\\\g<0>", text)  # ? because two of them begin a trigraph
    return '"' + "".join(chr(byte) if 32 <= byte < 127 else f"\\{byte:03o}" for byte in quoted.encode()) + '"'
