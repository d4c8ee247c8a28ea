"""
Learn a tree and read it
========================

When is an iris a *virginica*? A tree is learned from two thirds of the flowers, read in words and as a picture, and
judged by the rest.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.model_selection import train_test_split

from baconlogic import BaconClassifier, datasets, explain, plot

flowers = datasets.iris().frame()
species = np.where(flowers.pop("target") == "virginica", "virginica", "other")
seen, unseen, known, hidden = train_test_split(flowers, species, test_size=1 / 3, random_state=0, stratify=species)

# %%
# Nothing is scaled or encoded before. Form and size of the tree, three conditions at most, are chosen inside ``fit``
# by flowers it holds out.

clf = BaconClassifier(max_leaves=3, random_state=0).fit(seen, known)
print(clf.decision_)

# %%
# In words, with what each feature is good for:

print(explain.describe(clf))

# %%
# As a picture. Weights stand at the branches, and each leaf says what is asked of its column.

plot.tree(clf)
plt.show()

# %%
# How each measurement becomes a degree of truth, with the flowers that were learned from beneath.

plot.criteria(clf, seen, y=known)
plt.show()

# %%
# The best tree of each form and size, with its log-loss on flowers held out inside ``fit``. The tree was chosen by
# these figures; the last line is of flowers that had no say in anything.

print(clf.path_)
print(f"right on {clf.score(unseen, hidden):.1%} of {len(unseen)} flowers not seen")
