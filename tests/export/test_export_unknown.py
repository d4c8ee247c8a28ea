"""What a target cannot write it refuses by name; nothing is passed through or left out."""

from dataclasses import dataclass, replace
from importlib import import_module

import pytest

from baconlogic import Tree
from baconlogic.export._compile import program
from baconlogic.export._program import Binding, Check, If, Num, Op, Ref

TARGETS = ["python", "javascript", "c", "sql", "onnx", "excel"]
TREE = Tree.parse("C(a[half at 3, slope 1], b)")


@dataclass(frozen=True)
class Cube:
    """A node that no target knows."""

    value: object


def export(target, made, monkeypatch):
    if target in ("onnx", "sql", "excel"):
        pytest.importorskip({"sql": "sqlglot", "excel": "openpyxl"}.get(target, target))
    module = import_module(f"baconlogic.export._{target}")
    monkeypatch.setattr(module, "program", lambda model, **options: made)
    return getattr(module, f"to_{target}")(TREE)


def with_root(made, change):
    *first, last = [binding for binding in made.bindings if binding.name != made.choice]
    choice = next(binding for binding in made.bindings if binding.name == made.choice)
    return replace(made, bindings=(*first, Binding(last.name, change(last.value)), choice))


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize(
    ("change", "named"),
    [
        (lambda value: Op("sqrt", (value,)), "sqrt"),
        (Cube, "Cube"),
        (lambda value: Op("+", (value, Cube(Ref("t0")))), "Cube"),
        (lambda value: If(Cube(Num(0.0)), value, Num(1.0)), "Cube"),
    ],
)
def test_an_unknown_node_or_operation_is_refused_by_name(target, change, named, monkeypatch):
    with pytest.raises(NotImplementedError, match=named):
        export(target, with_root(program(TREE, trace=target == "excel"), change), monkeypatch)


@pytest.mark.parametrize("target", TARGETS)
def test_an_unknown_check_is_refused_by_name(target, monkeypatch):
    made = program(TREE, trace=target == "excel")
    with pytest.raises(NotImplementedError, match="odd"):
        export(target, replace(made, checks=(*made.checks, Check("odd", 0))), monkeypatch)
