"""Pictures of trees, of what they say about data, and of how they were chosen; needs matplotlib.

    tree              the tree itself; with a case, the truth of every part
    criteria, surfaces      what leaves and gates do
    truths, precision_recall    how a decision does on data, and at other thresholds
    path, pruning_curve     simplicity against accuracy
    correlation, frequency, scenarios   columns that stand for each other, features that come back, thresholds by use

Each takes the axes to draw on, or makes a figure, and returns the axes; showing and saving are yours.
"""

from baconlogic.plot._curves import path, precision_recall, pruning_curve, scenarios
from baconlogic.plot._data import correlation, frequency, truths
from baconlogic.plot._shapes import criteria, surfaces
from baconlogic.plot._tree import tree

__all__ = [
    "correlation",
    "criteria",
    "frequency",
    "path",
    "precision_recall",
    "pruning_curve",
    "scenarios",
    "surfaces",
    "tree",
    "truths",
]
