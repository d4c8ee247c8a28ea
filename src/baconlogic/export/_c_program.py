"""A program as C works it out: no log of an exp, one exp a gate, what takes long begun first; and in single precision.

In single precision truths below 1e-38 are 0. But a gate with a small exponent makes 0.5 of 1e-300, so what a float
cannot hold still counts. The numbers that matter are logs, and those are of a size that a float holds. So wherever a
program takes the log of a truth x, it is log(x) while x is large enough to be precise; below, it is put together from
the logs of what x is made of.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import reduce
from typing import TypeVar

from baconlogic.core.gcd import FAR, LEAST
from baconlogic.export._compile import ONE, ZERO, exp_of, rest_of_exp
from baconlogic.export._program import All, Binding, Expr, If, Less, Num, Op, Past, Program, Ref, Test, each, refs

Either = TypeVar("Either", Expr, Test)
_NANOSECONDS = {"exp": 12.0, "expm1": 12.0, "log": 16.0, "/": 5.0}  # about; the others take about one
_LARGEST, _SMALLEST = 3.4e38, 1.2e-38  # numbers that a float holds with all its digits
_SMALL = 1e-30  # from here on a float is as precise as any, and so are the parts of a sum or product that make it
_NONE = Num(-10_000.0)  # the log of 0; the logs of truths that are not 0 are above -1000
_HARDLY = Num(math.log(LEAST))
_ENOUGH = Num(1e-3)


def shortened(made: Program) -> Program:
    """Return the program with g in the place of the log of exp(g), where a conjunction stands in a conjunction."""
    powers: dict[str, Ref] = {}  # truths that are exp(g): their g
    bindings = []
    answers = _links_and_choice(made)
    for binding in made.bindings:
        value = binding.value
        if binding not in answers:
            value = _changed(value, lambda part: _without_log(part, powers))
        bindings.append(Binding(binding.name, value))
        if g := _power(value):
            powers[binding.name] = g
    return replace(made, bindings=tuple(bindings))


def _without_log(value: Expr | Test, powers: Mapping[str, Ref]) -> Expr | Test | None:
    if isinstance(value, Less) and value.left == Num(LEAST) and isinstance(value.right, Ref):
        g = powers.get(value.right.name)
        return None if g is None else Less(Num(-FAR), g)
    both = _log_without_loss(value)
    x = both[0] if both else value.args[0] if isinstance(value, Op) and value.op == "log" else None
    return powers.get(x.name) if isinstance(x, Ref) else None


def logs_apart(made: Program) -> Program:
    """Return the program with a name for each log of a truth, so that its work can begin before its gate."""
    taken = {_logged(part) for part in made.parts()}
    bindings: list[Binding] = []
    for binding in made.bindings:
        value = _changed(binding.value, lambda part: (x := _logged(part)) and Ref(f"log_{x.name}"))
        bindings.append(Binding(binding.name, value))
        x = Ref(binding.name)
        if x in taken:
            bindings.append(Binding(f"log_{x.name}", Op("log", (x,))))  # not used where x is 0
    return replace(made, bindings=tuple(bindings))


def one_exp(made: Program) -> Program:
    """Return the program with 1 - exp(g) worked out from exp(g): `lost` of both.

    Where a truth is exp(g), its name is used; else exp(g) gets a name of its own, behind that of g.
    """
    exps: dict[str, Ref] = {}  # g: exp(g)
    for binding in made.bindings:
        if g := _power(binding.value):
            exps.setdefault(g.name, Ref(binding.name))
    powers = {ref.name for ref in exps.values()}
    asked = {g.name for part in made.parts() if (g := _power(part) or _rest(part))}
    added = {name: Ref(f"exp_{name}") for name in asked if name not in exps}
    exps |= added
    bindings: list[Binding] = []
    for binding in made.bindings:
        value = binding.value if binding.name in powers else _changed(binding.value, lambda part: _from_exp(part, exps))
        bindings.append(Binding(binding.name, value))
        if binding.name in added:
            bindings.append(Binding(added[binding.name].name, exp_of(Ref(binding.name))))
    return replace(made, bindings=tuple(bindings))


def _from_exp(value: Expr | Test, exps: Mapping[str, Ref]) -> Expr | None:
    if power := _power(value):
        return exps[power.name]
    return Op("lost", (rest, exps[rest.name])) if (rest := _rest(value)) else None


def longest_first(made: Program) -> Program:
    """Return the program so ordered that those bindings come first from which the way to the end is the longest."""
    left: dict[str, float] = {}
    for binding in reversed(made.bindings):
        own = 1.0 + sum(_NANOSECONDS.get(part.op, 0.0) for part in each(binding.value) if isinstance(part, Op))
        left[binding.name] = own + left.get(binding.name, 0.0)
        for name in refs(binding.value):
            left[name] = max(left.get(name, 0.0), left[binding.name])
    return replace(made, bindings=tuple(sorted(made.bindings, key=lambda binding: -left[binding.name])))


def in_single(made: Program) -> Program:
    """Return the program with logs beside truths; refuse numbers that a float cannot hold."""
    for part in made.parts():
        match part:
            case Op("*", (Num(number), other, *_)) if any(isinstance(inner, Past) for inner in each(other)):
                least = _SMALLEST
            case Num(number) | Past(_, number):
                least = 0.0
            case _:
                continue
        if not least <= abs(number) <= _LARGEST:
            raise ValueError(f"single precision does not hold the number {number:g}; use real='double'")
    return replace(made, bindings=_Logs(made).bindings())


class _Logs:
    """Writes what the logs of small truths are made of."""

    def __init__(self, made: Program) -> None:
        self.made = made
        self.values = {binding.name: binding.value for binding in made.bindings}
        self.logs: dict[str, Expr] = {}  # of x: log(x)
        self.negated: dict[str, Expr] = {}  # of g, itself a log: log(-g), for g near 0
        self.waiting: list[tuple[bool, str]] = []  # names whose log is asked for; of g rather log(-g)

    def bindings(self) -> tuple[Binding, ...]:
        """Return the bindings with those of logs among them."""
        for x in filter(None, map(_logged, self.made.parts())):
            self.log(x)
        own = set(self.logs)  # the others count only in sums that are small as a whole
        while self.waiting:
            minus, name = self.waiting.pop()
            x, value = Ref(name), self.values[name]
            if minus:
                self.negated[name] = If(Less(Num(-_SMALL), x), self.log_of_minus(value), ZERO)
            else:
                log = If(Less(x, Num(_SMALL)), self.log_of(value, x), Op("log", (x,)))
                self.logs[name] = log if name in own else If(Less(x, _ENOUGH), log, ZERO)
        found, answers = list[Binding](), _links_and_choice(self.made)
        for binding in self.made.bindings:
            name = binding.name
            found.append(binding if binding in answers else Binding(name, _changed(binding.value, self.change)))
            if name in self.logs:
                found.append(Binding(f"log_{name}", self.logs[name]))
            if name in self.negated:
                found.append(Binding(f"log_minus_{name}", _changed(self.negated[name], self.change)))
        return tuple(found)

    def change(self, value: Expr | Test) -> Expr | Test | None:
        """Put the logs in their places, and ask them whether a truth is 0."""
        x = _logged(value)
        if x is not None:
            return self.log(x)
        if isinstance(value, Less) and value.left == Num(LEAST) and isinstance(value.right, Ref):
            known = value.right.name in self.logs
            return Less(_HARDLY, self.log(value.right)) if known else Less(ZERO, value.right)
        return None

    def log(self, x: Ref, *, minus: bool = False) -> Ref:
        """Return the name of the log of x, or of -x."""
        logs = self.negated if minus else self.logs
        if x.name not in logs:
            logs[x.name] = ZERO
            self.waiting.append((minus, x.name))
        return Ref(f"log_{'minus_' if minus else ''}{x.name}")

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
        first, *others = value.args
        if value.op == "exp":
            return first
        if value.op == "/":
            return Op("-", (self.log_of(first), Op("log", (others[0],))))
        if value.op in ("min", "max"):
            return Op(value.op, tuple(self.log_of(arg) for arg in value.args))
        if value.op == "*" and isinstance(first, Num) and first.value > 0.0:
            return Op("+", tuple(self.log_of(arg) for arg in value.args))
        if value.op == "+" and not any(isinstance(arg, Num) and arg.value >= _SMALL for arg in value.args):
            return _log_of_sum([self.log_of(arg) for arg in value.args])
        g = _rest(value)
        return None if g is None else If(Less(g, Num(-_SMALL)), Op("log", (value,)), self.log(g, minus=True))

    def log_of_minus(self, value: Expr) -> Expr:
        """Return log(-value) of a value below 0, near it."""
        if isinstance(value, Num):
            return Num(math.log(-value.value)) if value.value < 0.0 else _NONE
        if isinstance(value, Ref):
            return self.log(value, minus=True)
        if isinstance(value, If):
            return If(value.test, self.log_of_minus(value.then), self.log_of_minus(value.otherwise))
        sides = _log_without_loss(value)
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
    return reduce(lambda found, other: Op("log_sum", (found, other)), logs)


def _changed(value: Either, change: Callable[[Expr | Test], Expr | Test | None]) -> Either:
    """Return a value with each part, from the whole down, replaced by what `change` gives for it, if it gives any."""
    found = change(value)
    if found is not None:
        return found  # type: ignore[return-value]
    if isinstance(value, Op):
        return Op(value.op, tuple(_changed(arg, change) for arg in value.args))
    if isinstance(value, If):
        return If(_changed(value.test, change), _changed(value.then, change), _changed(value.otherwise, change))
    if isinstance(value, Less):
        return Less(_changed(value.left, change), _changed(value.right, change))
    return All(tuple(_changed(test, change) for test in value.tests)) if isinstance(value, All) else value


def _links_and_choice(made: Program) -> set[Binding]:
    """Return the bindings that stand in functions of their own, where of the trees no more than the truths is known."""
    return set(made.after(made.choice, *made.probabilities))


def _logged(value: Expr | Test) -> Ref | None:
    """Return x of log(x), where it is a name."""
    x = value.args[0] if isinstance(value, Op) and value.op == "log" else None
    return x if isinstance(x, Ref) else None


def _log_without_loss(value: Expr | Test) -> tuple[Expr, Expr] | None:
    """Return x and rest of log(x) + ((1 - x) - rest), the log of a truth by both its sides; None of anything else."""
    match value:
        case Op("+", (Op("log", (x,)), Op("-", (left, rest)))) if left == Op("-", (ONE, x)):
            return x, rest
    return None


def _power(value: Expr | Test) -> Ref | None:
    """Return g of exp(g) as gates write it, 0 where g is too far below 0."""
    g = value.then.args[0] if isinstance(value, If) and isinstance(value.then, Op) else None
    return g if isinstance(g, Ref) and value == exp_of(g) else None


def _rest(value: Expr | Test) -> Ref | None:
    """Return g of 1 - exp(g) as gates write it, 1 where g is too far below 0, or without that."""
    match value.then if isinstance(value, If) else value:
        case Op("-", (_, Op(_, (Ref() as g,)))) if value in ((whole := rest_of_exp(g)), whole.then):
            return g
    return None
