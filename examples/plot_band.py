"""
A band: neither too cold nor too warm
=====================================

A plant thrives between two temperatures. One criterion, rising or falling, cannot say that; using a feature twice can.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from baconlogic import BaconClassifier

rng = np.random.default_rng(0)
n = 900
plants = pd.DataFrame({"temperature": rng.uniform(5, 40, n).round(1), "light": rng.uniform(0, 12, n).round(1)})
good = plants["temperature"].between(17, 27) & (plants["light"] > 4)
thrives = np.where(good ^ (rng.random(n) < 0.05), "thrives", "suffers")
seen, unseen, known, hidden = plants[:600], plants[600:], thrives[:600], thrives[600:]

# %%
# The hidden rule asks for 17 to 27 degrees and more than 4 hours of light; one label in twenty is wrong. Each feature
# at most once, as in the paper's chains, and with reuse, which is the default:

once = BaconClassifier(reuse=False, max_leaves=3, random_state=0).fit(seen, known)
band = BaconClassifier(max_leaves=3, random_state=0).fit(seen, known)
for name, clf in ("each feature once", once), ("with reuse", band):
    print(f"{name}: right on {clf.score(unseen, hidden):.1%} of {len(unseen)} plants not seen")
    print(clf.tree_, end="\n\n")
rule = np.where(good, "thrives", "suffers")[600:]
print(f"the hidden rule itself: {(rule == hidden).mean():.1%}")

# %%
# The temperature stands in the second tree twice, once "large" and once "small", under gates that ask for both.
# Together they make a band:

degrees = np.linspace(5, 40, 400)
figure, axes = plt.subplots(figsize=(7, 4), layout="constrained")
for name, clf, style in ("each feature once", once, "--"), ("with reuse", band, "-"):
    truths = clf.tree_.evaluate({"temperature": degrees, "light": np.full(400, 8.0)})
    axes.plot(degrees, truths, style, label=name)
axes.axvspan(17, 27, color="0.9", label="the hidden rule")
axes.set(xlabel="temperature, at 8 hours of light", ylabel="truth of thriving", ylim=(-0.02, 1.02))
axes.legend(frameon=False)
plt.show()
