"""A decision as arithmetic: the one form that every export prints.

    inputs -> checks -> bindings -> truths, probabilities, choice

A program is a list of bindings, each a name for an expression over raw inputs and earlier names. Nothing in it needs
more than + - * /, exp, log, expm1, comparisons and "if". Where a raw value has no truth (a check fails) there is no
answer at all: an error, NaN or NULL, whatever the target has. After the checks every expression has a value.

`Printer` writes expressions as text. A target that does not know a node or an operation raises NotImplementedError.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal, NoReturn

from baconlogic.core.answers import Label
from baconlogic.core.criterion import Category
from baconlogic.core.nodes import Path

Kind = Literal["number", "text", "whole"]
Arithmetic = Literal["+", "*", "-", "/", "min", "max", "abs", "exp", "log", "expm1", "lost", "log_sum"]


@dataclass(frozen=True, slots=True)
class Num:
    """A number, finite."""

    value: float


@dataclass(frozen=True, slots=True)
class Ref:
    """The value of an earlier binding."""

    name: str


@dataclass(frozen=True, slots=True)
class Raw:
    """A raw number, by the place of its input."""

    input: int


@dataclass(frozen=True, slots=True)
class Past:
    """How far a raw number lies above a mark, x - mark: all that sigmoids and ramps do with numbers."""

    input: int
    mark: float


@dataclass(frozen=True, slots=True)
class Op:
    """Arithmetic: sums and products of any length, the rest of two arguments or one; the last two are C's alone."""

    op: Arithmetic
    args: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class If:
    """`then` where the test holds, else `otherwise`; only the one that holds may be worked out."""

    test: Test
    then: Expr
    otherwise: Expr


@dataclass(frozen=True, slots=True)
class Less:
    """Whether left < right."""

    left: Expr
    right: Expr

    def sides(self) -> tuple[Expr, Expr]:
        """Return what is written: an input past a mark or not is compared with the mark itself."""
        if isinstance(self.left, Past) and self.right == Num(0.0):
            return Raw(self.left.input), Num(self.left.mark)
        if isinstance(self.right, Past) and self.left == Num(0.0):
            return Num(self.right.mark), Raw(self.right.input)
        return self.left, self.right


@dataclass(frozen=True, slots=True)
class All:
    """Whether all of several tests hold."""

    tests: tuple[Test, ...]


@dataclass(frozen=True, slots=True)
class Missing:
    """Whether an input is missing."""

    input: int


@dataclass(frozen=True, slots=True)
class Among:
    """Whether an input is one of some categories."""

    input: int
    categories: tuple[Category, ...]


Expr = Num | Ref | Raw | Past | Op | If
Test = Less | All | Missing | Among


@dataclass(frozen=True, slots=True)
class InputColumn:
    """A column that is read: numbers, texts, or whole numbers that stand for categories (true and false too)."""

    feature: str
    kind: Kind
    unit: str = ""


@dataclass(frozen=True, slots=True)
class Check:
    """What gives no answer: a value missing, outside [0, 1], or a category not in the list (and not missing)."""

    why: Literal["missing", "outside", "unlisted"]
    input: int
    categories: tuple[Category, ...] = ()


@dataclass(frozen=True, slots=True)
class Binding:
    """A name for the value of an expression."""

    name: str
    value: Expr


@dataclass(frozen=True, slots=True)
class Spot:
    """A node of a tree and the name of its truth."""

    tree: int
    path: Path
    name: str


@dataclass(frozen=True, slots=True)
class Program:
    """All of a decision. `truths`, `probabilities` and `choice` (the place of the answer in `classes`) are names."""

    inputs: tuple[InputColumn, ...]
    checks: tuple[Check, ...]
    bindings: tuple[Binding, ...]
    truths: tuple[str, ...]  # one a tree
    probabilities: tuple[str, ...]  # one a class; none where only a tree is known
    choice: str
    classes: tuple[Label, ...]
    threshold: float | None  # the truth at which two classes turn
    spots: tuple[Spot, ...]  # every node, in the order of Tree.walk, where a trace is wanted

    def needed(self, *names: str) -> tuple[Binding, ...]:
        """Return the bindings that these names stand on, themselves included, in order."""
        wanted, kept = set(names), list[Binding]()
        for binding in reversed(self.bindings):
            if binding.name in wanted:
                kept.append(binding)
                wanted |= refs(binding.value)
        return tuple(reversed(kept))

    def after(self, *names: str) -> tuple[Binding, ...]:
        """Return those of `needed` that come after the truths of the trees: links and the choice."""
        before = set(self.needed(*self.truths))
        return tuple(binding for binding in self.needed(*names) if binding not in before)

    def parts(self) -> list[Expr | Test]:
        """Return all that the values of the bindings are made of."""
        return [part for binding in self.bindings for part in each(binding.value)]

    def categories(self) -> list[tuple[int, Category]]:
        """Return the categories that are asked for, each with its input."""
        lists: list[Among | Check] = [*(part for part in self.parts() if isinstance(part, Among)), *self.checks]
        return [(test.input, category) for test in lists for category in test.categories]


def parts(value: Expr | Test) -> tuple[Expr | Test, ...]:
    """Return what an expression or a test is made of, one level down."""
    if isinstance(value, Op):
        return value.args
    if isinstance(value, If):
        return value.test, value.then, value.otherwise
    if isinstance(value, Less):
        return value.left, value.right
    if isinstance(value, All):
        return value.tests
    return () if isinstance(value, Num | Ref | Raw | Past | Missing | Among) else unsupported("an export", value)


def each(value: Expr | Test) -> list[Expr | Test]:
    """Return an expression with all that is in it."""
    waiting, found = [value], list[Expr | Test]()
    while waiting:
        found.append(waiting.pop())
        waiting.extend(parts(found[-1]))
    return found


def refs(value: Expr | Test) -> set[str]:
    """Return the names that an expression uses."""
    return {part.name for part in each(value) if isinstance(part, Ref)}


def reads(value: Expr | Test, *, numbers: bool = False) -> set[int]:
    """Return the inputs that an expression reads itself, or only those that it reads as numbers."""
    kinds = Raw | Past if numbers else Raw | Past | Missing | Among
    return {part.input for part in each(value) if isinstance(part, kinds)}


def unsupported(target: str, value: object) -> NoReturn:
    """Refuse a node, an operation or a check that a target does not know, instead of leaving it out."""
    what = value.op if isinstance(value, Op) else value.why if isinstance(value, Check) else type(value).__name__
    raise NotImplementedError(f"{target} has no way to write {what!r}")


CHOICE, TEST, SUM, PRODUCT, ATOM = range(5)  # how tightly a piece of text holds together
WHY = {  # there is no answer
    "missing": "missing, and no truth for missing values is stated",
    "outside": "not a degree of truth in [0, 1]",
    "unlisted": "a category that the model does not know",
}
_LEVELS = {"+": SUM, "-": SUM, "*": PRODUCT, "/": PRODUCT}


class Printer(ABC):
    """Writes expressions in a language that writes arithmetic the usual way; the language fills in what differs.

    Parentheses are set only where they are needed, so that the code reads like the formula.
    """

    functions: ClassVar[dict[str, str]]  # names of abs, exp, expm1, log, max, min
    both: ClassVar[str] = " && "
    either: ClassVar[str] = " || "
    binding: ClassVar[str] = "{} = {}"

    def __init__(self, inputs: Sequence[InputColumn] = ()) -> None:
        self.kinds = [column.kind for column in inputs]

    @abstractmethod
    def missing(self, place: int) -> str:
        """Write the test whether an input is missing."""

    @abstractmethod
    def among(self, test: Among) -> str:
        """Write the test whether an input is one of some categories."""

    def choice(self, test: str, then: str, otherwise: str) -> str:
        """Write "if" as an expression; `then` and `otherwise` hold together by themselves."""
        return f"{test} ? {then} : {otherwise}"

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
        """Write a comparison."""
        left, right = test.sides()
        return f"{self.text(left, SUM)} < {self.text(right, SUM)}"

    def unlisted(self, test: Among) -> str:
        """Write the test whether an input is neither missing nor one of some categories."""
        return f"!({self.missing(test.input)}{self.either}{self.among(test)})"

    def fails(self, check: Check) -> str:
        """Write the test whether a check fails."""
        x = self.raw(check.input)
        if check.why == "missing":
            return self.missing(check.input)
        if check.why == "outside":
            return f"{x} < {self.number(0.0)}{self.either}{x} > {self.number(1.0)}"
        if check.why == "unlisted":
            return self.unlisted(Among(check.input, check.categories))
        return unsupported(type(self).__name__, check)

    def lines(self, bindings: Sequence[Binding]) -> list[str]:
        """Write bindings, one a line."""
        return [self.binding.format(each.name, self.text(each.value)) for each in bindings]

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
        if value.op in self.functions:
            return f"{self.functions[value.op]}({', '.join(self.text(arg) for arg in value.args)})", ATOM
        if value.op == "-" and value.args[0] == Num(0.0):
            return f"-{self.text(value.args[1], ATOM)}", PRODUCT
        level = _LEVELS.get(value.op)
        if level is None:
            unsupported(type(self).__name__, value)
        first, *rest = value.args  # what stands in parentheses stays there: rounding is part of the formula
        return f" {value.op} ".join([self.text(first, level), *(self.text(arg, level + 1) for arg in rest)]), level

    def _test(self, value: All | Among | Less | Missing) -> tuple[str, int]:
        if isinstance(value, Less):
            return self.less(value), TEST
        if isinstance(value, All):
            return self.both.join(self.text(test, TEST) for test in value.tests), CHOICE
        if isinstance(value, Missing):
            return self.missing(value.input), TEST
        return (self.among(value), TEST) if isinstance(value, Among) else unsupported(type(self).__name__, value)
