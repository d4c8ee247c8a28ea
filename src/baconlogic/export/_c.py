"""A decision as C99: a header with the struct of its columns, and functions of it that keep nothing between calls."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

from baconlogic.core.checks import Parameter, ParameterError
from baconlogic.export._about import about, commented
from baconlogic.export._c_print import CPrinter, Real
from baconlogic.export._c_text import ENDS, KEYWORDS, comment, identifiers, literal
from baconlogic.export._compile import program
from baconlogic.export._program import Among, Missing, Past, Raw, each
from baconlogic.export._shorten import logs_apart, longest_first, one_exp, shortened
from baconlogic.export._single import in_single

if TYPE_CHECKING:
    import os
    from collections.abc import Sequence

    from baconlogic.core.answers import Label
    from baconlogic.export._program import Binding, Check, Expr, Program

_WHOLE = {"double": 2**53, "float": 2**24}  # beyond, two whole numbers are one
_NO_FAST_MATH = """#ifdef __FAST_MATH__
#error "compile without -ffast-math: it takes the test for missing values (NAN) away"
#endif
#ifdef __clang__
#pragma STDC FP_CONTRACT OFF
#endif"""


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
    if not isinstance(name, str) or not re.fullmatch("[A-Za-z][A-Za-z0-9_]{0,39}", name) or name in KEYWORDS:
        said = f" must be a name in C, at most 40 letters, digits and _, got {name!r:.60}"
        raise ParameterError(Parameter("name", ""), said)
    if real not in get_args(Real):
        raise ParameterError(Parameter("real", ""), f" must be 'double' or 'float', got {real!r:.60}")
    made = program(model, trace=trace)
    _check_categories(made, real)
    said = comment(about(model, made, ENDS))
    made = shortened(made)
    made = longest_first(one_exp(in_single(made) if real == "float" else logs_apart(made)))
    writer = _Writer(made, name, real)
    return CSource(name, f"{said}\n{writer.header()}", f"{said}\n{writer.source()}")


class _Writer:
    """Writes the functions of a program."""

    def __init__(self, made: Program, name: str, real: Real) -> None:
        self.made, self.name, self.real = made, name, real
        self.printer = CPrinter(made, name, real)
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
        refused = self._refused()
        functions = [f"{declared}\n{{\n{body}\n}}" for _, declared, body in self.functions]
        text = "\n\n".join([*([refused] if refused else []), *functions])
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
            lines.append(f"    {declared}; /* {commented(column.feature + unit, ENDS)}: {gap} */")
        lines = lines or ["    char unused; /* this decision looks at nothing */"]
        return "\n".join([f"struct {self.name}_input {{", *lines, "};"])

    def _functions(self) -> list[tuple[str, str, str]]:
        """Return what each public function does, its declaration and its body."""
        made, name, upper = self.made, self.name, self.name.upper()
        found = [self._truth()] if made.truths else []
        if made.probabilities:
            found += self._probabilities()
        found += [
            (
                f"The answer, its place among {upper}_CLASSES; -1 where there is none.",
                f"int {name}_decide({self.argument})",
                "\n".join(
                    [
                        *self._start("-1"),
                        *self._lines(made.after(made.choice)),
                        f"    return (int){self.printer.ref(made.choice)};",
                    ]
                ),
            ),
            self._names("class", "The name of a class by its place, NULL of none.", [_said(c) for c in made.classes]),
        ]
        if made.spots:
            found += self._trace()
        return found

    def _truth(self) -> tuple[str, str, str]:
        made, many = self.made, len(self.made.truths) > 1
        bindings = made.needed(*made.truths)
        if not many:
            lines = [*self._read(bindings, [f"        return {self.nan};"]), *self._lines(bindings)]
            body = "\n".join([*lines, f"    return {made.truths[0]};"])
            said = "The degree of truth of a row, NAN where there is none."
            return said, f"{self.real} {self.name}_truth({self.argument})", body
        body = "\n".join(
            [
                *self._read(bindings, self._all_nan(len(made.truths))),
                *self._lines(bindings),
                *(f"    out[{k}] = {t};" for k, t in enumerate(made.truths)),
            ]
        )
        said = "The degree of truth for each class, NAN where there is none."
        declared = f"void {self.name}_truths({self.argument}, {self.real} out[{self.name.upper()}_TREES])"
        return said, declared, body

    def _probabilities(self) -> list[tuple[str, str, str]]:
        made, size = self.made, f"{self.name.upper()}_CLASSES"
        nan = self._all_nan(len(made.probabilities))
        body = [*self._start("", nan), *self._lines(made.after(*made.probabilities))]
        body += [f"    out[{k}] = {p};" for k, p in enumerate(made.probabilities)]
        found = [
            (
                "The probability of each class, NAN where there is no answer.",
                f"void {self.name}_probabilities({self.argument}, {self.real} out[{size}])",
                "\n".join(body),
            )
        ]
        if len(made.probabilities) == 2:
            last = made.probabilities[1]
            lines = [*self._start(self.nan), *self._lines(made.after(last)), f"    return {last};"]
            said = "The probability of the second class, NAN where there is no answer."
            found.insert(0, (said, f"{self.real} {self.name}_probability({self.argument})", "\n".join(lines)))
        return found

    def _trace(self) -> list[tuple[str, str, str]]:
        made, size = self.made, f"{self.name.upper()}_NODES"
        names = [spot.name for spot in made.spots]
        bindings = made.needed(*names)
        lines = [*self._read(bindings, self._all_nan(len(names))), *self._lines(bindings)]
        body = "\n".join([*lines, *(f"    out[{i}] = {name};" for i, name in enumerate(names))])
        said = "The truth of every node of every tree, root first; NAN where there is no answer."
        declared = f"void {self.name}_trace({self.argument}, {self.real} out[{size}])"
        places = ["".join(f"/{step}" for step in (spot.tree, *spot.path)) for spot in made.spots]
        node = self._names("node", "Where a node of the trace is: its tree, then its place among the inputs.", places)
        return [(said, declared, body), node]

    def _names(self, what: str, said: str, texts: list[str]) -> tuple[str, str, str]:
        rows = ",\n".join(f"        {literal(text)}" for text in texts)
        body = (
            f"    static const char *const names[] = {{\n{rows}\n    }};\n"
            f"    return place >= 0 && place < {len(texts)} ? names[place] : NULL;"
        )
        return said, f"const char *{self.name}_{what}(int place)", body

    def _start(self, refusal: str, otherwise: list[str] | None = None) -> list[str]:
        """Write how a function gets at the truths, and leaves where there are none."""
        truths = self.made.truths
        if not truths:
            return ["    (void)in;"]
        leave = [f"        return {refusal};"] if otherwise is None else otherwise
        if len(truths) == 1:
            first = [f"    const {self.real} {truths[0]} = {self.name}_truth(in);"]
            return [*first, f"    if (isnan({truths[0]})) {{", *leave, "    }"]
        used = [f"    const {self.real} {t} = truths[{k}];" for k, t in enumerate(truths)]
        call = [f"    {self.real} truths[{self.name.upper()}_TREES];", f"    {self.name}_truths(in, truths);"]
        return [*call, "    if (isnan(truths[0])) {", *leave, "    }", *used]

    def _all_nan(self, size: int) -> list[str]:
        loop = f"        for (int i = 0; i < {size}; i++) {{"
        return [loop, f"            out[i] = {self.nan};", "        }", "        return;"]

    def _read(self, bindings: Sequence[Binding], leave: list[str]) -> list[str]:
        check = [f"    if ({self.name}_refused(in)) {{", *leave, "    }"] if self.made.checks else []
        return [*check, *self._columns(_read_by([binding.value for binding in bindings]))]

    def _columns(self, places: set[int]) -> list[str]:
        lines = []
        for i in sorted(places):
            kind = "char *" if self.made.inputs[i].kind == "text" else f"{self.real} "
            lines.append(f"    const {kind}x{i} = in->{self.fields[i]};")
        return lines or ([] if self.made.checks else ["    (void)in;"])

    def _lines(self, bindings: Sequence[Binding]) -> list[str]:
        return [f"    const {self.real} {each.name} = {self.printer.text(each.value)};" for each in bindings]

    def _refused(self) -> str:
        checks = self.made.checks
        if not checks:
            return ""
        columns = self._columns({check.input for check in checks})
        tests = "\n        || ".join(self._fails(check) for check in checks)
        lines = [f"static int {self.name}_refused({self.argument})", "{", *columns, f"    return {tests};", "}"]
        return "\n".join(["/* Whether a row has no answer. */", *lines])

    def _fails(self, check: Check) -> str:
        x, missing = self.printer.raw(check.input), self.printer.missing(check.input)
        if check.why == "outside":
            return f"{x} < {self.printer.number(0.0)} || {x} > {self.printer.number(1.0)}"
        if check.why == "missing":
            return missing
        known = self.printer.among(Among(check.input, check.categories))
        return f"(!({missing}) && !{known if known.startswith('(') else f'({known})'})"


def _read_by(values: list[Expr]) -> set[int]:
    kinds = (Raw, Past, Missing, Among)
    return {part.input for value in values for part in each(value) if isinstance(part, kinds)}


def _said(label: Label) -> str:
    return str(label).lower() if isinstance(label, bool) else str(label)


def _check_categories(made: Program, real: Real) -> None:
    """Refuse categories that C cannot tell apart."""
    tests = [part for binding in made.bindings for part in each(binding.value) if isinstance(part, Among)]
    for category in (c for test in [*tests, *made.checks] for c in getattr(test, "categories", ())):
        if isinstance(category, str) and "\0" in category:
            raise ValueError(f"the category {category!r:.60} holds a NUL, where text in C ends; rename it")
        if not isinstance(category, str) and abs(int(category)) > _WHOLE[real]:
            raise ValueError(f"the category {category} is beyond {_WHOLE[real]}, the last that {real} holds; use text")
