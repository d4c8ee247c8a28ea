"""A program for single precision, where truths below 1e-38 are 0: beside a small truth its log is carried.

A gate with a small exponent makes 0.5 of 1e-300, so what a float cannot hold still counts. The numbers that matter are
logs, and those are of a size that a float holds. So wherever a program takes the log of a truth x, it is log(x) while x
is large enough to be precise; below, it is put together from the logs of what x is made of.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from baconlogic.core.gcd import LEAST
from baconlogic.export._program import Binding, Expr, If, Less, Num, Op, Past, Ref, Test, each
from baconlogic.export._shorten import ZERO, changed, links_and_choice, log_without_loss

if TYPE_CHECKING:
    from baconlogic.export._program import Program

LARGEST, SMALLEST = 3.4e38, 1.2e-38  # numbers that a float holds with all its digits
_SMALL = 1e-30  # from here on a float is as precise as any, and so are the parts of a sum or product that make it
_NONE = Num(-10_000.0)  # the log of 0; the logs of truths that are not 0 are above -1000
_HARDLY = Num(math.log(LEAST))
_ENOUGH = Num(1e-3)


def in_single(made: Program) -> Program:
    """Return the program with logs beside truths; refuse numbers that a float cannot hold."""
    _check(made)
    writer = _Logs(made)
    return replace(made, bindings=writer.bindings())


class _Logs:
    """Writes what the logs of small truths are made of."""

    def __init__(self, made: Program) -> None:
        self.made = made
        self.values = {binding.name: binding.value for binding in made.bindings}
        self.logs: dict[str, Expr] = {}  # of x: log(x)
        self.negated: dict[str, Expr] = {}  # of g, itself a log: log(-g), for g near 0
        self.waiting: list[tuple[bool, str]] = []

    def bindings(self) -> tuple[Binding, ...]:
        """Return the bindings with those of logs among them."""
        for binding in self.made.bindings:
            for part in each(binding.value):
                if isinstance(part, Op) and part.op == "log" and isinstance(part.args[0], Ref):
                    self.log(part.args[0])
        own = set(self.logs)  # the others count only in sums that are small as a whole
        while self.waiting:
            minus, name = self.waiting.pop()
            if minus:
                near_0 = Less(Num(-_SMALL), Ref(name))
                self.negated[name] = If(near_0, self.log_of_minus(self.values[name]), ZERO)
            else:
                value = self.log_of(self.values[name], Ref(name))
                log = If(Less(Ref(name), Num(_SMALL)), value, Op("log", (Ref(name),)))
                self.logs[name] = log if name in own else If(Less(Ref(name), _ENOUGH), log, ZERO)
        found, answers = list[Binding](), links_and_choice(self.made)
        for binding in self.made.bindings:
            found.append(binding if binding in answers else Binding(binding.name, changed(binding.value, self.change)))
            if binding.name in self.logs:
                found.append(Binding(f"log_{binding.name}", self.logs[binding.name]))
            if binding.name in self.negated:
                found.append(Binding(f"log_minus_{binding.name}", changed(self.negated[binding.name], self.change)))
        return tuple(found)

    def change(self, value: Expr | Test) -> Expr | Test | None:
        """Put the logs in their places, and ask them whether a truth is 0."""
        if isinstance(value, Op) and value.op == "log" and isinstance(value.args[0], Ref):
            return self.log(value.args[0])
        if isinstance(value, Less) and value.left == Num(LEAST) and isinstance(value.right, Ref):
            known = value.right.name in self.logs
            return Less(_HARDLY, self.log(value.right)) if known else Less(ZERO, value.right)
        return None

    def log(self, x: Ref) -> Ref:
        """Return the name of the log of x."""
        if x.name not in self.logs:
            self.logs[x.name] = ZERO
            self.waiting.append((False, x.name))
        return Ref(f"log_{x.name}")

    def log_minus(self, g: Ref) -> Ref:
        """Return the name of the log of -g."""
        if g.name not in self.negated:
            self.negated[g.name] = ZERO
            self.waiting.append((True, g.name))
        return Ref(f"log_minus_{g.name}")

    def log_of(self, value: Expr, itself: Expr | None = None) -> Expr:
        """Return the log of a value that is 0 or more, small; what is not known better is taken as it is."""
        if isinstance(value, Num):
            return Num(math.log(value.value)) if value.value > 0.0 else _NONE
        if isinstance(value, Ref):
            fading = self.values[value.name]
            direct = isinstance(fading, If) and isinstance(fading.then, Op) and fading.then.op == "exp"
            return self.log_of(fading) if direct and value.name not in self.logs else self.log(value)
        if isinstance(value, If):
            then, otherwise = self.log_of(value.then), self.log_of(value.otherwise)
            return then if then == otherwise else If(value.test, then, otherwise)
        found = self._log_of_op(value) if isinstance(value, Op) else None
        return _plain_log(itself or value) if found is None else found

    def _log_of_op(self, value: Op) -> Expr | None:
        first, *rest = value.args
        if value.op == "exp":
            return first
        if value.op == "/":
            return Op("-", (self.log_of(first), Op("log", (rest[0],))))
        if value.op in ("min", "max"):
            return Op(value.op, tuple(self.log_of(arg) for arg in value.args))
        if value.op == "*" and isinstance(first, Num) and first.value > 0.0:
            return Op("+", tuple(self.log_of(arg) for arg in value.args))
        if value.op == "+" and not any(isinstance(arg, Num) and arg.value >= _SMALL for arg in value.args):
            return _log_of_sum([self.log_of(arg) for arg in value.args])
        if value.op == "-" and first == ZERO and isinstance(rest[0], Op) and rest[0].op == "expm1":
            g = rest[0].args[0]
            return If(Less(g, Num(-_SMALL)), Op("log", (value,)), self.log_minus(g)) if isinstance(g, Ref) else None
        return None

    def log_of_minus(self, value: Expr) -> Expr:
        """Return log(-value) of a value below 0, near it."""
        if isinstance(value, Num):
            return Num(math.log(-value.value)) if value.value < 0.0 else _NONE
        if isinstance(value, Ref):
            return self.log_minus(value)
        if isinstance(value, If):
            return If(value.test, self.log_of_minus(value.then), self.log_of_minus(value.otherwise))
        sides = log_without_loss(value)
        if sides:
            return self.log_of(sides[1])
        if isinstance(value, Op) and value.op == "*" and isinstance(value.args[0], Num):
            factor = value.args[0].value
            return Op("+", (Num(math.log(factor)), self.log_of_minus(value.args[1]))) if factor > 0.0 else _NONE
        if isinstance(value, Op) and value.op == "+":
            return _log_of_sum([self.log_of_minus(arg) for arg in value.args])
        return _plain_log(Op("-", (ZERO, value)))


def _plain_log(value: Expr) -> Expr:
    return If(Less(ZERO, value), Op("log", (value,)), _NONE)


def _log_of_sum(logs: list[Expr]) -> Expr:
    together: Any = "log_sum"  # log(exp(a) + exp(b)), which C is given as a function
    found = logs[0]
    for other in logs[1:]:
        found = Op(together, (found, other))
    return found


def _check(made: Program) -> None:
    for binding in made.bindings:
        for part in each(binding.value):
            number = part.value if isinstance(part, Num) else part.mark if isinstance(part, Past) else 0.0
            fits = abs(number) <= LARGEST
            if isinstance(part, Op) and part.op == "*" and isinstance(part.args[0], Num) and _measures(part.args[1]):
                number = part.args[0].value
                fits = SMALLEST <= abs(number) <= LARGEST
            if not fits:
                raise ValueError(f"single precision does not hold the number {number:g}; use real='double'")


def _measures(value: Expr) -> bool:
    return any(isinstance(part, Past) for part in each(value))
