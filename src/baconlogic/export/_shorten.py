"""The same program with less work: no log of an exp, and what takes long is begun first."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

from baconlogic.core.gcd import FAR, LEAST
from baconlogic.export._program import All, Binding, Expr, If, Less, Num, Op, Ref, Test, each, refs

if TYPE_CHECKING:
    from collections.abc import Callable

    from baconlogic.export._program import Program

    Change = Callable[[Expr | Test], Expr | Test | None]

Either = TypeVar("Either", Expr, Test)
ZERO, ONE = Num(0.0), Num(1.0)
_NANOSECONDS = {"exp": 12.0, "expm1": 12.0, "log": 16.0, "/": 5.0}  # about; the others take about one


def changed(value: Either, change: Change) -> Either:
    """Return a value with each part, from the whole down, replaced by what `change` gives for it, if it gives any."""
    found = change(value)
    if found is not None:
        return found  # type: ignore[return-value]
    if isinstance(value, Op):
        return Op(value.op, tuple(changed(arg, change) for arg in value.args))
    if isinstance(value, If):
        return If(changed(value.test, change), changed(value.then, change), changed(value.otherwise, change))
    if isinstance(value, Less):
        return Less(changed(value.left, change), changed(value.right, change))
    if isinstance(value, All):
        return All(tuple(changed(test, change) for test in value.tests))
    return value


def log_without_loss(value: Expr | Test) -> tuple[Expr, Expr] | None:
    """Return x and rest of log(x) + ((1 - x) - rest), the log of a truth by both its sides; None of anything else."""
    if isinstance(value, Op) and value.op == "+" and len(value.args) == 2:
        log, lost = value.args
        if isinstance(log, Op) and log.op == "log" and isinstance(lost, Op) and lost.op == "-":
            x, (left, rest) = log.args[0], lost.args
            return (x, rest) if left == Op("-", (ONE, x)) else None
    return None


def links_and_choice(made: Program) -> set[Binding]:
    """Return the bindings that stand in functions of their own, where of the trees no more than the truths is known."""
    return set(made.after(made.choice, *made.probabilities))


def shortened(made: Program) -> Program:
    """Return the program with g in the place of the log of exp(g), where a conjunction stands in a conjunction."""
    powers: dict[str, Ref] = {}  # truths that are exp(g): their g
    bindings = []
    answers = links_and_choice(made)

    def change(value: Expr | Test) -> Expr | Test | None:
        if isinstance(value, Less) and value.left == Num(LEAST) and isinstance(value.right, Ref):
            g = powers.get(value.right.name)
            return None if g is None else Less(Num(-FAR), g)
        both = log_without_loss(value)
        x = both[0] if both else value.args[0] if isinstance(value, Op) and value.op == "log" else None
        return powers.get(x.name) if isinstance(x, Ref) else None

    for binding in made.bindings:
        value = binding.value if binding in answers else changed(binding.value, change)
        bindings.append(Binding(binding.name, value))
        argument = _argument(value)
        if argument is not None and _is_power(value, argument):
            powers[binding.name] = argument
    return replace(made, bindings=tuple(bindings))


def logs_apart(made: Program) -> Program:
    """Return the program with a name for each log of a truth, so that its work can begin before its gate."""
    logs = [
        part for binding in made.bindings for part in each(binding.value) if isinstance(part, Op) and part.op == "log"
    ]
    taken = {log.args[0].name for log in logs if isinstance(log.args[0], Ref)}
    bindings: list[Binding] = []

    def change(value: Expr | Test) -> Expr | Test | None:
        found = isinstance(value, Op) and value.op == "log" and isinstance(value.args[0], Ref)
        return Ref(f"log_{value.args[0].name}") if found else None  # type: ignore[union-attr]

    for binding in made.bindings:
        bindings.append(Binding(binding.name, changed(binding.value, change)))
        if binding.name in taken:
            bindings.append(Binding(f"log_{binding.name}", Op("log", (Ref(binding.name),))))  # not used where x is 0
    return replace(made, bindings=tuple(bindings))


def one_exp(made: Program) -> Program:
    """Return the program with 1 - exp(g) worked out from the exp(g) that is there: `lost` of both."""
    lost: Any = "lost"
    known: dict[str, Ref] = {}  # g: exp(g)
    bindings: list[Binding] = []
    wanted = {g.name for binding in made.bindings for part in each(binding.value) if (g := _argument(part)) is not None}
    for binding in made.bindings:
        g = _argument(binding.value)
        if g is not None and _is_power(binding.value, g):
            known.setdefault(g.name, Ref(binding.name))
    own = {ref.name for ref in known.values()}

    def change(value: Expr | Test) -> Expr | Test | None:
        g = _argument(value)
        if g is None:
            return None
        e = known.setdefault(g.name, Ref(f"exp_{g.name}"))
        return e if _is_power(value, g) else Op(lost, (g, e))

    for binding in made.bindings:
        value = binding.value if binding.name in own else changed(binding.value, change)
        bindings.append(Binding(binding.name, value))
        if binding.name in wanted and known.get(binding.name, Ref("")).name not in own:
            g = Ref(binding.name)
            e = known.setdefault(g.name, Ref(f"exp_{g.name}"))
            bindings.append(Binding(e.name, If(Less(Num(-FAR), g), Op("exp", (g,)), ZERO)))
    return replace(made, bindings=tuple(bindings))


def _argument(value: Expr | Test) -> Ref | None:
    """Return g of exp(g), or of 1 - exp(g), as gates write them: 0 and 1 where g is too far below 0."""
    inner = value.then if isinstance(value, If) else value
    if isinstance(inner, Op) and inner.op == "-" and inner.args[0] == ZERO:
        inner = inner.args[1]
        if not (isinstance(inner, Op) and inner.op == "expm1"):
            return None
        end = ONE
    elif isinstance(inner, Op) and inner.op == "exp" and isinstance(value, If):
        end = ZERO
    else:
        return None
    g = inner.args[0]
    if not isinstance(g, Ref):
        return None
    whole = not isinstance(value, If) or (value.test == Less(Num(-FAR), g) and value.otherwise == end)
    return g if whole else None


def _is_power(value: Expr | Test, g: Ref) -> bool:
    return isinstance(value, If) and value.then == Op("exp", (g,))


def longest_first(made: Program) -> Program:
    """Return the program so ordered that those bindings come first from which the way to the end is the longest."""
    left: dict[str, float] = {}
    for binding in reversed(made.bindings):
        own = 1.0 + sum(_NANOSECONDS.get(part.op, 0.0) for part in each(binding.value) if isinstance(part, Op))
        left[binding.name] = own + left.get(binding.name, 0.0)
        for name in refs(binding.value):
            left[name] = max(left.get(name, 0.0), left[binding.name])
    return replace(made, bindings=tuple(sorted(made.bindings, key=lambda binding: -left[binding.name])))
