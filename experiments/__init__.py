"""The paper's experiments, done again: each runs with one call and stands beside the paper's own figures.

    boolean          Appendix B: an expression of and/or found again, and a sweep over length and operators
    iris             Appendix C: when an Iris is Setosa, Versicolor or Virginica
    houses           Appendix D: the hidden rule of a buyer, and its thresholds
    breast_cancer    section 4: when a tumour is malignant; breast_fits has its fits and what is found in them
    result           what they give: lines beside the paper's, and sections in words
    validation       rows held out
    pictures         drawings that only experiments need
    compile_kernel   the kernel, compiled ahead

At a command line `python -m experiments iris -o pictures`, in Python

    from experiments import EXPERIMENTS
    print(EXPERIMENTS["iris"]())

Nothing is printed; `progress` is told one short sentence at each step. Pictures are made where a folder is given.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from experiments.result import Experiment

__all__ = ["EXPERIMENTS", "QUICK"]


def _later(module: str) -> Callable[..., Experiment]:
    """Return the `run` of a module that is imported once it is called."""

    def run(**options: Any) -> Experiment:
        found: Experiment = import_module(f"experiments.{module}").run(**options)
        return found

    return run


EXPERIMENTS: Mapping[str, Callable[..., Experiment]] = MappingProxyType(
    {
        "boolean": _later("boolean"),
        "iris": _later("iris"),
        "houses": _later("houses"),
        "breast-cancer": _later("breast_cancer"),
    }
)

# Options of a short run: fewer repeats, smaller sweeps.
QUICK: Mapping[str, Mapping[str, Any]] = MappingProxyType(
    {
        "boolean": {"largest": 6, "seeds": 2, "limit": 1.0, "splits": 2},
        "iris": {"repeats": 1, "attempts": 10},
        "houses": {"rows": 5000, "repeats": 1},
    }
)
