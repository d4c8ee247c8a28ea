"""Ways to find a tree, one file each, behind one small protocol (`problem.Search`); here by their names.

Auto        the default: exact chains where there are some, else cards
Cards       trees of two levels with round numbers, in every form
Growth      deep trees: leaves are added anywhere, swapped and dropped; all is refined jointly
Additive    weighted means of gentle criteria
Peel        crisp chains of and/or, exactly
Sinkhorn    the paper's Algorithm 1
Refine, Calibrate    a structure that is given is kept
"""

from baconlogic.learn.search.additive import Additive
from baconlogic.learn.search.auto import Auto
from baconlogic.learn.search.cards import Cards
from baconlogic.learn.search.growth import Growth
from baconlogic.learn.search.peel import Peel
from baconlogic.learn.search.refine import Calibrate, Refine
from baconlogic.learn.search.sinkhorn import NotAccepted, Sinkhorn

__all__ = ["SEARCHES", "Additive", "Cards", "Growth", "NotAccepted", "Peel", "Sinkhorn"]

SEARCHES = {each.__name__.lower(): each for each in (Auto, Cards, Growth, Additive, Peel, Sinkhorn, Refine, Calibrate)}
