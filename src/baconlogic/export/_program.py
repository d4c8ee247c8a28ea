"""A decision as arithmetic: the one form that every export prints.

    inputs -> checks -> bindings -> truths, probabilities, choice

A program is a list of bindings, each a name for an expression over raw inputs and earlier names. Nothing in it needs
more than + - * /, exp, log, expm1, comparisons and "if". Where a raw value has no truth (a check fails) there is no
answer at all: an error, NaN or NULL, whatever the target has. After the checks every expression has a value.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from baconlogic.core.answers import Label
    from baconlogic.core.criterion import Category
    from baconlogic.core.nodes import Path

Kind = Literal["number", "text", "whole"]
Arithmetic = Literal["+", "*", "-", "/", "min", "max", "abs", "exp", "log", "expm1"]


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
    """Arithmetic: sums and products of any length, the rest of two arguments or one."""

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
class Input:
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

    inputs: tuple[Input, ...]
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


def parts(value: Expr | Test) -> tuple[Expr | Test, ...]:
    """Return what an expression or a test is made of, one level down."""
    if isinstance(value, Op):
        return value.args
    if isinstance(value, If):
        return value.test, value.then, value.otherwise
    if isinstance(value, Less):
        return value.left, value.right
    return value.tests if isinstance(value, All) else ()


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
