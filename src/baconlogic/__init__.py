"""Graded-logic trees: decisions that people can read, check, edit and carry away.

    raw column --criterion--> degree of truth in [0, 1] --gates--> degree of truth of the decision

The reading map, from the bottom up:

    gcd         how truths combine: the formula, its derivatives, the 23 named levels
    criteria    how a raw column becomes a truth, and back
    nodes       Leaf, Not and Gate
    tree        Tree: the one object everything else is a function of; load
    evaluation, bounds      what a tree says about rows, also when values are missing
    notation, drawing       a tree as text: one line to type, a picture to read
    files       a tree as JSON
    kernel      loss and gradient, compiled; needs numba, which a tree itself does not
"""

from baconlogic import criteria, gcd
from baconlogic.files import ModelFormatError
from baconlogic.notation import FormulaError
from baconlogic.tree import Gate, Leaf, Not, Tree, load

__version__ = "0.1.0"
__all__ = ["FormulaError", "Gate", "Leaf", "ModelFormatError", "Not", "Tree", "criteria", "gcd", "load"]
