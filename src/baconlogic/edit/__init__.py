"""Tree -> Tree: every edit returns a new tree.

    remove, prune, simplify     less: a part, leaves, gates that say the same
    snap, set_andness, reweight, negate, set_criterion, rename      another parameter
    add, regroup                another structure
    refit, refit_decision       keep what an expert fixed, learn the rest from labelled rows
    change                      what an edit changes: truths, decisions, accuracy
    EditLog                     edits with their reasons, to undo, replay and keep

A part is given by its path, its name or its feature, or as a node (see `Tree.find`).
"""

from baconlogic.edit._log import Change, EditLog, Entry, change
from baconlogic.edit._parameters import negate, rename, reweight, set_andness, set_criterion, snap
from baconlogic.edit._prune import best_order, bottom_order, prune
from baconlogic.edit._refit import refit, refit_decision
from baconlogic.edit._regroup import regroup
from baconlogic.edit._simplify import simplify
from baconlogic.edit._structure import add, remove

__all__ = [
    "Change",
    "EditLog",
    "Entry",
    "add",
    "best_order",
    "bottom_order",
    "change",
    "negate",
    "prune",
    "refit",
    "refit_decision",
    "regroup",
    "remove",
    "rename",
    "reweight",
    "set_andness",
    "set_criterion",
    "simplify",
    "snap",
]
