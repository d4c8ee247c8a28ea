"""
Editing with a log, and undoing it
==================================

A tree is changed by people: each edit has a reason, the log says what it changed, and every step can be taken back.
"""

import json

import matplotlib.pyplot as plt
import numpy as np

from baconlogic import BaconClassifier, datasets, edit, plot

houses = datasets.houses("A", rows=2000, random_state=0).frame()
buy = houses.pop("target")
clf = BaconClassifier(random_state=0).fit(houses, buy)
print(clf.tree_)

# %%
# The rule that was learned is crisp. The buyer would rather have it gentle: a house of 2,900 square feet is not so much
# worse than one of 3,100. Each edit is recorded with its reason and with what it changes for these houses.

log = edit.EditLog(clf, houses, buy)
log.apply("set_criterion", "house_size", "0 at 2000, 1 at 3600", reason="somewhat smaller is all right")
log.apply("set_andness", (), "SC", reason="a little less of one may be made up for by another")
log.apply("rename", "house_size", "enough room", reason="what it is about")
print(log)

# %%
# Second thoughts: bed and bath should be had in any case. Two steps back, and on from there.

log.undo()
log.undo()
log.apply("rename", "house_size", "enough room", reason="what it is about")
print(len(log.entries), "edits are in effect")
print(log.tree)

# %%
# The tree before and after:

figure, axes = plt.subplots(2, 1, figsize=(9, 7), layout="constrained")
for each, tree, title in zip(axes, (log.original, log.tree), ("learned", "edited"), strict=True):
    plot.tree(tree, ax=each)
    each.set_title(title)
plt.show()

# %%
# A log is plain data, to be kept beside the model. Read back, it makes the same tree again.

kept = json.dumps(log.to_dict())
again = edit.EditLog.from_dict(json.loads(kept), X=houses, y=buy)
print(again.replay() == log.tree)
differ = np.flatnonzero((log.original.evaluate(houses) > 0.5) != (log.tree.evaluate(houses) > 0.5))
print(f"{len(differ)} of {len(houses)} houses are decided differently now")
