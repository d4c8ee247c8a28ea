"""
Thresholds by cost
==================

A missed failure of a machine costs more than a visit in vain. Where should the decision turn? The threshold is chosen
on rows that ``fit`` held out, and judged by rows that had no say in it.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from baconlogic import BaconClassifier, plot, thresholds

rng = np.random.default_rng(3)
n = 1000
machines = pd.DataFrame(
    {
        "heat": rng.normal(70, 10, n).round(1),
        "vibration": rng.gamma(4, 1.0, n).round(2),
        "age": rng.integers(0, 15, n),
    }
)
risk = 0.12 * (machines["heat"] - 75) + 0.9 * (machines["vibration"] - 5) + 0.15 * (machines["age"] - 7)
later = np.where(rng.random(n) < 1 / (1 + np.exp(-risk)), "stops", "runs")
seen, unseen, known, hidden = machines[:600], machines[600:], later[:600], later[600:]

# %%
# Evidence adds up here, so a scorecard is asked for: points that add up.

clf = BaconClassifier(form="scorecard", random_state=0).fit(seen, known)
print(clf.decision_)

# %%
# The dearer a miss, the sooner it says that a machine will stop. Tree and probabilities stay what they are.

for miss in 1, 3, 10, 30:
    by_cost = clf.with_threshold(thresholds.costs(alarm=1, miss=miss))
    said, stops = by_cost.predict(unseen) == "stops", hidden == "stops"
    missed, alarms = (stops & ~said).sum(), (said & ~stops).sum()
    print(
        f"a miss costs {miss:2}: turns at truth {by_cost.threshold_:.3f}; {missed:2} missed, {alarms:3} visits in vain"
    )

# %%
# What every threshold would cost on the machines not seen, a visit in vain counting 1 and a miss 10. The line is where
# the rows that were held out put it: near the lowest point, which they could not see.

truths = clf.truth(unseen)
cuts = np.linspace(truths.min(), truths.max(), 200)
cost = [
    ((truths > cut) & (hidden == "runs")).sum() + 10 * ((truths <= cut) & (hidden == "stops")).sum() for cut in cuts
]
figure, axes = plt.subplots(figsize=(7, 4), layout="constrained")
axes.plot(cuts, cost)
axes.axvline(clf.with_threshold(thresholds.costs(alarm=1, miss=10)).threshold_, color="black", linestyle=":")
axes.set(xlabel="threshold of the truth", ylabel="cost on 400 machines not seen")
plt.show()

# %%
# Precision and recall at every threshold:

plot.precision_recall(clf, unseen, hidden)
plt.show()
