"""
A band: neither too cold nor too warm
=====================================

A plant thrives between two temperatures. A criterion that only rises or only falls cannot say that; a band can.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from baconlogic import BaconClassifier, Tree, explain

rng = np.random.default_rng(0)
n = 900
plants = pd.DataFrame({"temperature": rng.uniform(5, 40, n).round(1), "light": rng.uniform(0, 12, n).round(1)})
good = plants["temperature"].between(17, 27) & (plants["light"] > 4)
thrives = np.where(good ^ (rng.random(n) < 0.05), "thrives", "suffers")
seen, unseen, known, hidden = plants[:600], plants[600:], thrives[:600], thrives[600:]

# %%
# The hidden rule asks for 17 to 27 degrees and more than 4 hours of light; one label in twenty is wrong. We ask
# for rules; once the temperature may only count the higher, the more, once it is left to the data:

rising = BaconClassifier(form="rules", directions={"temperature": "rising"}, random_state=0).fit(seen, known)
band = BaconClassifier(form="rules", random_state=0).fit(seen, known)
for name, clf in ("rising", rising), ("left to the data", band):
    print(f"{name}: right on {clf.score(unseen, hidden):.1%} of {len(unseen)} plants not seen")
    print(explain.describe(clf), end="\n\n")
rule = np.where(good, "thrives", "suffers")[600:]
print(f"the hidden rule itself: {(rule == hidden).mean():.1%}")

# %%
# The band is one condition of the card. By hand it is written the same way, and a gentle one takes four points:

print(Tree.parse("temperature[above 17, up to 27]"))
gentle = Tree.parse("temperature[0 at 14, 1 at 19, 1 at 25, 0 at 30]")
print(gentle)

degrees = np.linspace(5, 40, 400)
figure, axes = plt.subplots(figsize=(7, 4), layout="constrained")
for name, tree, style in ("rising", rising.tree_, "--"), ("left to the data", band.tree_, "-"), ("gentle", gentle, ":"):
    axes.plot(degrees, tree.evaluate({"temperature": degrees, "light": np.full(400, 8.0)}), style, label=name)
axes.axvspan(17, 27, color="0.9", label="the hidden rule")
axes.set(xlabel="temperature, at 8 hours of light", ylabel="truth of thriving", ylim=(-0.02, 1.02))
axes.legend(frameon=False)
plt.show()
