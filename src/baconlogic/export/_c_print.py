"""Expressions in C, in double or single precision, and the few functions of its own that they call."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Literal

import numpy as np

from baconlogic.export._c_text import literal
from baconlogic.export._printer import ATOM, Printer
from baconlogic.export._program import If, Op, Past

if TYPE_CHECKING:
    from baconlogic.export._program import Among, Expr, Less, Program, Test

Real = Literal["double", "float"]
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


class CPrinter(Printer):
    """Writes expressions over locals x0, x1 ... and names of bindings."""

    def __init__(self, made: Program, name: str, real: Real) -> None:
        self._name, self._kinds, self._single = name, [each.kind for each in made.inputs], real == "float"
        f = "f" if self._single else ""
        own = {helper: f"{name}_{helper}" for helper in _HELPERS}
        self.functions = {"abs": f"fabs{f}", "exp": f"exp{f}", "log": f"log{f}", **own}  # type: ignore[misc]

    def number(self, value: float) -> str:
        """Write a number, all the digits that its type holds."""
        return f"{np.float32(value)!s}f" if self._single else repr(value)

    def choice(self, test: str, then: str, otherwise: str) -> str:
        """Write "if"."""
        return f"{test} ? {then} : {otherwise}"

    def missing(self, place: int) -> str:
        """Write the test for NAN or NULL."""
        return f"x{place} == NULL" if self._kinds[place] == "text" else f"isnan(x{place})"

    def among(self, test: Among) -> str:
        """Write the test for categories; what is missing does not get here."""
        x = self.raw(test.input)
        if self._kinds[test.input] == "text":
            tests = [f"strcmp({x}, {literal(str(category))}) == 0" for category in test.categories]
        else:
            tests = [f"{self._name}_same({x}, {self.number(float(category))})" for category in test.categories]
        return tests[0] if len(tests) == 1 else f"({' || '.join(tests)})"

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
            found, *others = map(self.text, value.args)
            for other in others:
                found = f"{helper}({found}, {other})"
            return found, ATOM
        return super()._op(value)


def _halves(mark: float) -> tuple[float, float]:
    high = float(np.float32(mark))
    return high, float(np.float32(mark - high))
