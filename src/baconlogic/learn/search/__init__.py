"""Ways to find a tree, one file each, behind one small protocol (`problem.Search`).

Growth      the default: leaves are added anywhere, swapped and dropped; all is refined jointly
Additive    weighted means of gentle criteria: scorecards
Peel        crisp chains of and/or, exactly
Sinkhorn    the paper's Algorithm 1
"""

from baconlogic.learn.search.additive import Additive
from baconlogic.learn.search.growth import Growth
from baconlogic.learn.search.peel import Peel
from baconlogic.learn.search.sinkhorn import NotAccepted, Sinkhorn

__all__ = ["Additive", "Growth", "NotAccepted", "Peel", "Sinkhorn"]
