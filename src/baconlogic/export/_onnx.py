"""A decision as an ONNX graph, in double precision, of operators that every runtime has (opset 13, ai.onnx.ml 2).

Each column is an input of its own, [rows, 1], under its own name: numbers and whole numbers as doubles (NaN is
missing), text as strings. A text is missing when it is "", or "<missing>" where "" is one of the categories. Outputs:

    truth          [rows, trees]     NaN where a row has no answer
    probabilities  [rows, classes]   NaN where a row has no answer; left out of a tree alone
    label          [rows]            int64 where all classes are whole numbers or true/false, else their text;
                                     where a row has no answer -1, or "" (another one if that is a class)

The metadata say which texts stand for missing ones, the classes in order, and the label of no answer. An output whose
name is that of a column gets a "_" behind it.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import reduce
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from baconlogic.core import __version__
from baconlogic.core.answers import Label
from baconlogic.core.criterion import Category
from baconlogic.export._about import about, commented, leaves_of
from baconlogic.export._compile import program
from baconlogic.export._program import (
    All,
    Among,
    Check,
    Expr,
    If,
    InputColumn,
    Less,
    Missing,
    Num,
    Op,
    Past,
    Program,
    Raw,
    Ref,
    Test,
    each,
    parts,
    unsupported,
)

if TYPE_CHECKING:
    from onnx import ModelProto, ValueInfoProto

OPSET, ML_OPSET, IR_VERSION = 13, 2, 7
_FLOAT, _INT32, _INT64, _STRING, _BOOL, _DOUBLE = 1, 6, 7, 8, 9, 11  # as TensorProto numbers them
_MOST = 2**53  # whole numbers from here on are not told apart as doubles
_OPERATORS = {"+": "Add", "*": "Mul", "-": "Sub", "/": "Div", "min": "Min", "max": "Max"}
_FUNCTIONS = {"abs": "Abs", "exp": "Exp", "log": "Log"}


def to_onnx(model: Any, *, real: Literal["double", "float"] = "double") -> ModelProto:
    """Return the ONNX model; `real` is the type of numbers going in, all arithmetic is in double.

    Only the columns that the trees use are inputs. A decision with one class, which uses none, has an input "rows"
    whose values mean nothing but how many rows there are.
    """
    if real not in ("double", "float"):
        raise ValueError(f"real must be 'double' or 'float', got {real!r}")
    try:
        from onnx import helper
    except ImportError as problem:
        raise ImportError("export to ONNX needs the package onnx; pip install 'baconlogic[onnx]'") from problem
    made, texts = program(model), _texts(model)
    graph = _Graph(made, texts, real)
    for binding in made.bindings:
        graph.names[binding.name] = graph.value(binding.value)
    told = _answer(graph, made)
    found = helper.make_model(
        helper.make_graph(
            graph.nodes, "decision", graph.entries(), graph.outputs, initializer=graph.constants, doc_string="Decide"
        ),
        opset_imports=[helper.make_opsetid("", OPSET), helper.make_opsetid("ai.onnx.ml", ML_OPSET)],
        ir_version=IR_VERSION,
        producer_name="baconlogic",
        producer_version=__version__,
        doc_string="\n".join(about(model, made)),
        model_version=1,
    )
    told["missing_text"] = json.dumps({feature: known[-1] for feature, known in texts.items()})
    helper.set_model_props(found, told)
    return found


class _Graph:
    """Nodes and constants so far; what was worked out once is not worked out again."""

    def __init__(self, made: Program, texts: dict[str, list[str]], real: str) -> None:
        from onnx import helper, numpy_helper

        self.make, self._tensor = helper, numpy_helper.from_array
        self._columns = [each.feature for each in made.inputs]
        self.prefix = "v"
        while any(feature.startswith(self.prefix) for feature in self._columns):
            self.prefix += "_"
        self.nodes: list[Any] = []
        self.constants: list[Any] = []
        self.outputs: list[ValueInfoProto] = []
        self.names: dict[str, str] = {}  # of bindings
        self.real = real
        self._known: dict[Any, str] = {}
        self._inputs, self._texts = made.inputs, texts

    def entries(self) -> list[ValueInfoProto]:
        """Return the inputs."""
        number = _FLOAT if self.real == "float" else _DOUBLE
        if not self._inputs:
            return [self.make.make_tensor_value_info("rows", number, ["rows", 1], "How many rows there are")]
        return [
            self.make.make_tensor_value_info(
                each.feature, _STRING if each.kind == "text" else number, ["rows", 1], self._said(each)
            )
            for each in self._inputs
        ]

    def _said(self, column: InputColumn) -> str:
        if column.kind == "text":
            return f"text; {json.dumps(self._texts[column.feature][-1])} is missing"
        unit = f"; {commented(column.unit)}" if column.unit else ""
        return f"{'a whole number' if column.kind == 'whole' else 'a number'}{unit}; NaN is missing"

    def node(self, kind: str, *inputs: str, domain: str = "", **attributes: Any) -> str:
        """Add a node, unless there is the same one, and return the name of its output."""
        key = kind, inputs, str(attributes)
        if key not in self._known:
            name = self._known[key] = f"{self.prefix}{len(self._known)}"
            self.nodes.append(self.make.make_node(kind, list(inputs), [name], domain=domain, **attributes))
        return self._known[key]

    def constant(self, value: Any, kind: Any) -> str:
        """Return the name of a constant."""
        key = repr(value), str(kind)  # 0 and -0 differ
        if key not in self._known:
            name = self._known[key] = f"{self.prefix}{len(self._known)}"
            self.constants.append(self._tensor(np.array(value, dtype=kind), name))
        return self._known[key]

    def number(self, value: float) -> str:
        """Return the name of a number."""
        return self.constant(value, np.float64)

    def folded(self, kind: str, names: Sequence[str]) -> str:
        """Apply an operator of two from left to right."""
        return reduce(lambda found, name: self.node(kind, found, name), names)

    def value(self, value: Expr | Test) -> str:
        """Add the nodes of an expression, without recursion."""
        found: dict[int, str] = {}
        for part in reversed(each(value)):
            found[id(part)] = self._part(part, [found[id(inner)] for inner in parts(part)])
        return found[id(value)]

    def _part(self, value: Expr | Test, inner: list[str]) -> str:
        if isinstance(value, Num):
            return self.number(value.value)
        if isinstance(value, Ref):
            return self.names[value.name]
        if isinstance(value, Raw):
            return self._raw(value.input)
        if isinstance(value, Past):
            return self.node("Sub", self._raw(value.input), self.number(value.mark))
        if isinstance(value, Op):
            return self._op(value, inner)
        if isinstance(value, If | Less):  # of both branches, but what is not taken does not count
            return self.node("Where" if isinstance(value, If) else "Less", *inner)
        if isinstance(value, All):
            return self.folded("And", inner)
        if isinstance(value, Missing):
            return self._missing(value.input)
        return self._among(value.input, value.categories) if isinstance(value, Among) else unsupported("ONNX", value)

    def _op(self, value: Op, inner: list[str]) -> str:
        if value.op == "expm1":  # there is no such operator; exp(g) - 1 would lose the digits near 0
            half = self.node("Tanh", self.node("Mul", inner[0], self.number(0.5)))
            return self.node("Mul", half, self.node("Add", self.node("Exp", inner[0]), self.number(1.0)))
        if value.op in _FUNCTIONS:
            return self.node(_FUNCTIONS[value.op], inner[0])
        if value.op == "-" and value.args[0] == Num(0.0):
            return self.node("Neg", inner[1])
        return self.folded(_OPERATORS[value.op], inner) if value.op in _OPERATORS else unsupported("ONNX", value)

    def _raw(self, place: int) -> str:
        feature = self._inputs[place].feature
        return self.node("Cast", feature, to=_DOUBLE) if self.real == "float" else feature

    def _missing(self, place: int) -> str:
        column = self._inputs[place]
        if column.kind == "text":
            return self._among(place, (self._texts[column.feature][-1],))
        return self.node("IsNaN", self._raw(place))

    def _among(self, place: int, categories: tuple[Category, ...]) -> str:
        column = self._inputs[place]
        if column.kind == "text":
            known = self._texts[column.feature]
            codes = {"keys_strings": known, "values_int64s": list(range(len(known))), "default_int64": len(known)}
            among = self.constant([*(text in categories for text in known), False], np.bool_)
            return self.node("Gather", among, self.node("LabelEncoder", column.feature, domain="ai.onnx.ml", **codes))
        listed = self.constant([[float(category) for category in categories]], np.float64)
        same = self.node("Cast", self.node("Equal", self._raw(place), listed), to=_INT32)
        return self.node("Cast", self.node("ReduceMax", same, axes=[1], keepdims=1), to=_BOOL)

    def answered(self, checks: Sequence[Check]) -> str:
        """Return which rows have an answer, as many as there are rows, whatever is asked of them."""
        true = self.make.make_tensor("", _BOOL, [1], [True])
        shape, every = self.node("Shape", [*self._columns, "rows"][0]), f"{self.prefix}every"
        self.nodes.append(self.make.make_node("ConstantOfShape", [shape], [every], value=true))
        return self.folded("And", [every, *(self._passes(check) for check in checks)])

    def _passes(self, check: Check) -> str:
        if check.why == "missing":
            return self.node("Not", self._missing(check.input))
        if check.why == "unlisted":
            known = self._among(check.input, check.categories)
            return self.node("Or", known, self._missing(check.input))
        if check.why != "outside":
            unsupported("ONNX", check)
        x = self._raw(check.input)
        wrong = [self.node("Less", x, self.number(0.0)), self.node("Less", self.number(1.0), x)]
        return self.node("Not", self.folded("Or", wrong))

    def output(self, name: str, node: str, inputs: list[str], kind: int, size: list[Any], **attributes: Any) -> None:
        """Add an output and its last node, under a name that is no column's."""
        while name in self._columns:
            name += "_"
        self.nodes.append(self.make.make_node(node, inputs, [name], **attributes))
        self.outputs.append(self.make.make_tensor_value_info(name, kind, ["rows", *size]))


def _texts(model: Any) -> dict[str, list[str]]:
    """Return the categories that the tables of each column of text list, and last what stands for a missing one."""
    found: dict[str, dict[str, None]] = {}
    for leaf in leaves_of(model):
        for category, _ in leaf.criterion.truths:
            if isinstance(category, str):
                found.setdefault(leaf.feature, {})[category] = None
            elif abs(category) >= _MOST:
                raise ValueError(f"column {leaf.feature!r} has the category {category}; ONNX takes up to 2**53")
    return {feature: [*texts, _unused(["", "<missing>"], texts)] for feature, texts in found.items()}


def _unused(wanted: Sequence[str], known: Any) -> str:
    """Return the first of some texts that is not known; the last gets dots until it is not."""
    last = wanted[-1]
    while last in known:
        last += "."
    return next((text for text in wanted[:-1] if text not in known), last)


def _answer(graph: _Graph, made: Program) -> dict[str, str]:
    """Add what is answered; return what the metadata say of it."""
    answered = graph.answered(made.checks)
    for name, values in ("truth", made.truths), ("probabilities", made.probabilities):
        if values:
            columns = [graph.node("Where", answered, graph.names[value], graph.number(np.nan)) for value in values]
            graph.output(name, "Concat", columns, _DOUBLE, [len(values)], axis=1)
    labels, none = _labels(made.classes)
    text = isinstance(none, str)
    choice = graph.node("Where", answered, graph.names[made.choice], graph.number(float(len(labels))))
    place = graph.node("Cast", graph.node("Squeeze", choice, graph.constant([1], np.int64)), to=_INT64)
    stored = graph.constant([*labels, none], np.object_ if text else np.int64)
    graph.output("label", "Gather", [stored, place], _STRING if text else _INT64, [])
    return {"classes": json.dumps(labels), "no_answer": json.dumps(none)}


def _labels(classes: tuple[Label, ...]) -> tuple[list[Any], str | int]:
    """Return the labels as they are answered, and the one of no answer."""
    if all(isinstance(label, int) and -(2**63) < label < 2**63 for label in classes):
        numbers = [int(label) for label in classes]
        return numbers, -1 if -1 not in numbers else min(n for n in range(-len(numbers) - 2, 0) if n not in numbers)
    texts = [label if isinstance(label, str) else repr(label) for label in classes]
    if len(set(texts)) < len(texts):  # 1 and "1"
        texts = [repr(label) for label in classes]
    return texts, _unused(["", "<no answer>"], texts)
