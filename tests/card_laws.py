"""What every card keeps, and a problem to ask it."""

import numpy as np
import pytest

from baconlogic import Gate, Tree
from baconlogic.core.levels import nearest_level
from baconlogic.learn.search.problem import Problem


def card_problem(columns, y):
    """Return the problem that a search for cards sees: columns as they were read."""
    n = len(columns)
    return Problem(
        np.empty((n, 0)), np.asarray(y, dtype=float), np.full(len(y), 1.0 / len(y)), np.ones(n, bool), np.arange(n),
        np.zeros(n, int), np.full(n, -1.0), np.full(n, 2.0), table=tuple(columns), places=tuple(range(n)),
        directions=np.zeros(n, np.int64),
    )  # fmt: skip


def laws_of_a_card(tree, leaves):
    """What every card keeps: so many leaves, none twice, two levels of gates with names, and it reads back."""
    nodes = list(tree.walk())
    gates = [(path, node) for path, node in nodes if isinstance(node, Gate)]
    said = [str(node) for _, node in nodes if not node.children]
    assert len(said) == leaves
    for path, gate in gates:
        above = sum(path[: len(other)] == other and path != other for other, _ in gates)
        assert above <= 1
        assert gate.level == nearest_level(gate.andness, len(gate.inputs))
        assert gate.andness == pytest.approx(gate.level.andness(len(gate.inputs)))
    assert Tree.parse(tree.formula()) == tree
