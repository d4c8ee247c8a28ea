"""Questions to a tree. Each answer is frozen, reads well (`str`), and carries on as `to_dict()` or `to_frame()`.

About the whole:

    describe         the logic in plain sentences
    attribution      what each feature weighs, its role, and what changes without it
    pruning_curve    how accuracy falls as leaves are taken away
    compare          where two trees differ, in what they are made of and in what they decide
    alternatives     other trees that fit about as well; needs to learn them

About one case:

    trace            from raw values through truths and gates to the decision
    reasons          the values that fix the decision, and those that could turn it: minimal sets
    counterfactual   the smallest changes that turn it
    unknown          whether it stands although values are missing, and which to ask for first

A question takes a Tree, a Decision (what `load` gives) or a fitted classifier; `threshold=` asks what if the decision
turned elsewhere, `label=` chooses among the trees of more than two classes.
"""

from baconlogic.explain._alternatives import Alternatives, alternatives
from baconlogic.explain._attribution import Attribution, attribution
from baconlogic.explain._compare import Comparison, compare
from baconlogic.explain._counterfactual import Counterfactual, counterfactual
from baconlogic.explain._describe import Description, describe
from baconlogic.explain._pruning_curve import PruningCurve, pruning_curve
from baconlogic.explain._reasons import Reasons, reasons
from baconlogic.explain._trace import Trace, trace
from baconlogic.explain._unknown import Unknown, unknown

__all__ = [
    "Alternatives",
    "Attribution",
    "Comparison",
    "Counterfactual",
    "Description",
    "PruningCurve",
    "Reasons",
    "Trace",
    "Unknown",
    "alternatives",
    "attribution",
    "compare",
    "counterfactual",
    "describe",
    "pruning_curve",
    "reasons",
    "trace",
    "unknown",
]
