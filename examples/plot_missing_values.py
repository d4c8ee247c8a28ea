"""
Missing values: what must be asked?
===================================

A patient comes in and half of the values are not there yet. Does the decision already stand? If not, which value should
be measured first? The tree answers with exact bounds instead of filling values in.
"""

import math

import matplotlib.pyplot as plt
import numpy as np

from baconlogic import Tree, explain

tree = Tree.parse(
    """
    malignant = HC(
        irregular = concave_points[0 at 0.02, 1 at 0.14]: 0.5,
        large = HD(radius[0 at 12, 1 at 20, unit "mm"]: 0.6, concavity[0 at 0.05, 1 at 0.4]: 0.4): 0.5
    )
    """
)

# %%
# Earlier patients tell which values are usual.

rng = np.random.default_rng(0)
earlier = {
    "concave_points": rng.gamma(2.0, 0.025, 300),
    "radius": rng.normal(14.0, 3.5, 300),
    "concavity": rng.gamma(1.5, 0.06, 300),
}

# %%
# Only the concave points are known, and they are many. The decision is open, and the answer says what to ask for.

print(explain.unknown(tree, {"concave_points": 0.11}, X=earlier, label="malignant"))

# %%
# With few concave points the other two need not be measured at all:

print(explain.unknown(tree, {"concave_points": 0.03}, X=earlier, label="malignant"))

# %%
# How far the truth is still open, over all numbers of concave points, when nothing else is known and when the radius
# is. Below the dotted line the answer is no, above it is yes; a band on one side of it is settled.

points = np.linspace(0.0, 0.18, 200)
unknown = np.full(200, math.nan)
cases = {"only concave points are known": unknown, "and the radius, 15 mm": np.full(200, 15.0)}
figure, axes = plt.subplots(figsize=(7, 4), layout="constrained")
for (name, radius), colour in zip(cases.items(), ["0.8", "tab:blue"], strict=True):
    low, high = tree.bounds({"concave_points": points, "radius": radius, "concavity": unknown})
    axes.fill_between(points, low, high, color=colour, alpha=0.6, label=name)
axes.axhline(0.5, color="black", linestyle=":")
axes.set(xlabel="concave points", ylabel="truth of malignant", ylim=(0, 1))
axes.legend(loc="upper left", frameon=False)
plt.show()
