"""Expressions as text: what languages that write arithmetic the usual way have in common.

A printer says how its language writes names, calls, "if" and tests; `Printer` sets parentheses only where they are
needed, so that the code reads like the formula.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar

from baconlogic.export._program import All, Among, Expr, If, Less, Missing, Num, Op, Past, Raw, Ref, Test

CHOICE, TEST, SUM, PRODUCT, ATOM = range(5)  # how tightly a piece of text holds together
WHY = {  # there is no answer
    "missing": "missing, and no truth for missing values is stated",
    "outside": "not a degree of truth in [0, 1]",
    "unlisted": "a category that the model does not know",
}
_LEVELS = {"+": SUM, "-": SUM, "*": PRODUCT, "/": PRODUCT}


class Printer(ABC):
    """Writes expressions; a language fills in what differs."""

    functions: ClassVar[dict[str, str]]  # names of abs, exp, expm1, log, max, min
    both: ClassVar[str] = " && "

    @abstractmethod
    def choice(self, test: str, then: str, otherwise: str) -> str:
        """Write "if" as an expression; `then` and `otherwise` hold together by themselves."""

    @abstractmethod
    def missing(self, place: int) -> str:
        """Write the test whether an input is missing."""

    @abstractmethod
    def among(self, test: Among) -> str:
        """Write the test whether an input is one of some categories."""

    def raw(self, place: int) -> str:
        """Write an input."""
        return f"x{place}"

    def ref(self, name: str) -> str:
        """Write the name of a binding."""
        return name

    def number(self, value: float) -> str:
        """Write a number, all its digits."""
        return repr(value)

    def past(self, place: int, mark: float) -> tuple[str, int]:
        """Write how far an input lies above a mark."""
        if mark == 0.0:
            return self.raw(place), ATOM
        return f"{self.raw(place)} {'+' if mark < 0.0 else '-'} {self.number(abs(mark))}", SUM

    def less(self, test: Less) -> str:
        """Write a comparison; an input past a mark or not is compared with the mark itself."""
        left, right = test.left, test.right
        if isinstance(left, Past) and right == Num(0.0):
            return f"{self.raw(left.input)} < {self.number(left.mark)}"
        if isinstance(right, Past) and left == Num(0.0):
            return f"{self.number(right.mark)} < {self.raw(right.input)}"
        return f"{self.text(left, SUM)} < {self.text(right, SUM)}"

    def text(self, value: Expr | Test, least: int = CHOICE) -> str:
        """Write an expression or a test, in parentheses when it holds together less than `least`."""
        written, level = self._written(value)
        return written if level >= least else f"({written})"

    def _written(self, value: Expr | Test) -> tuple[str, int]:
        if isinstance(value, Num):
            return self.number(value.value), ATOM if value.value >= 0.0 else PRODUCT
        if isinstance(value, Ref):
            return self.ref(value.name), ATOM
        if isinstance(value, Raw):
            return self.raw(value.input), ATOM
        if isinstance(value, Past):
            return self.past(value.input, value.mark)
        if isinstance(value, Op):
            return self._op(value)
        if isinstance(value, If):
            parts = self.text(value.test, TEST), self.text(value.then, TEST), self.text(value.otherwise)
            return self.choice(*parts), CHOICE
        return self._test(value)

    def _op(self, value: Op) -> tuple[str, int]:
        if value.op not in _LEVELS:
            return f"{self.functions[value.op]}({', '.join(self.text(arg) for arg in value.args)})", ATOM
        if value.op == "-" and value.args[0] == Num(0.0):
            return f"-{self.text(value.args[1], ATOM)}", PRODUCT
        level = _LEVELS[value.op]
        first, *rest = value.args  # what stands in parentheses stays there: rounding is part of the formula
        return f" {value.op} ".join([self.text(first, level), *(self.text(arg, level + 1) for arg in rest)]), level

    def _test(self, value: All | Among | Less | Missing) -> tuple[str, int]:
        if isinstance(value, Less):
            return self.less(value), TEST
        if isinstance(value, All):
            return self.both.join(self.text(test, TEST) for test in value.tests), CHOICE
        return (self.missing(value.input) if isinstance(value, Missing) else self.among(value)), TEST
