"""Ways to find a tree, one file each, behind one small protocol (`protocol.Search`).

Growth      the default: leaves are added anywhere, swapped and dropped; all is refined jointly
Peel        crisp chains of and/or, exactly
Sinkhorn    the paper's Algorithm 1
"""

from baconlogic.search.growth import Growth
from baconlogic.search.peel import Peel
from baconlogic.search.sinkhorn import NotAccepted, Sinkhorn

__all__ = ["Growth", "NotAccepted", "Peel", "Sinkhorn"]
