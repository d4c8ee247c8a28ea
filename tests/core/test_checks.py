"""Errors say what was expected in Python's words, and carry as fields what others call otherwise."""

import pickle

import pytest

from baconlogic.core.checks import LABEL, Hint, Parameter, ParameterError, ParameterTypeError, TreePart, parts_of


@pytest.mark.parametrize(
    ("part", "said"),
    [
        (Parameter("max_leaves"), "max_leaves"),
        (Parameter("search", "refine"), "search='refine'"),
        (LABEL, "label="),
        (Hint("init", "init=Tree.parse(...)"), "init=Tree.parse(...)"),
        (TreePart((0, 1)), "(0, 1)"),
        (TreePart("radius"), "'radius'"),
    ],
)
def test_an_error_reads_as_python_says_it_and_keeps_its_parts(part, said):
    for kind, base in ((ParameterError, ValueError), (ParameterTypeError, TypeError)):
        error = pickle.loads(pickle.dumps(kind("give ", part, ", or none")))  # noqa: S301
        assert isinstance(error, base)
        assert str(error) == f"give {said}, or none"
        assert parts_of(error) == ("give ", part, ", or none")
    assert parts_of(ValueError("plain")) == ("plain",)
