"""
A checklist, a scorecard, rules: one tree, four forms
=====================================================

What is learned fits on an index card. The same card can be asked for in the form that people at hand know.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from baconlogic import BaconClassifier, explain

rng = np.random.default_rng(1)
n = 1200
patients = pd.DataFrame(
    {
        "age": rng.integers(20, 95, n),
        "pulse": rng.normal(88, 18, n).round(),
        "pressure": rng.normal(112, 22, n).round(),
        "oxygen": (100 - rng.gamma(2.0, 2.5, n)).round(),
        "ward": rng.choice(["day", "night"], n),
    }
)
signs = (patients["age"] > 65).astype(int) + (patients["pulse"] > 100) + (patients["pressure"] <= 95)
signs += patients["oxygen"] <= 92
worse = np.where((signs >= 2) ^ (rng.random(n) < 0.05), "worse", "stable")
seen, unseen, known, hidden = patients[:800], patients[800:], worse[:800], worse[800:]

# %%
# Made-up patients get worse where two of four signs are there; one label in twenty is wrong. Each form by itself:

found = {}
for form in "checklist", "scorecard", "rules", "graded":
    found[form] = BaconClassifier(form=form, random_state=0).fit(seen, known)
    print(f"{form}: right on {found[form].score(unseen, hidden):.1%} of {len(unseen)} patients not seen")
    print(explain.describe(found[form]), end="\n\n")

# %%
# Without a wish, the form that reads simplest among those that do as well on patients held out inside ``fit``:

clf = BaconClassifier(random_state=0).fit(seen, known)
print(clf.history_.form)
print(explain.describe(clf))

# %%
# What the others would have cost: words to read against the loss on patients held out.

print(clf.path_)
figure, axes = plt.subplots(figsize=(7, 4), layout="constrained")
for form, marker in ("checklist", "s"), ("scorecard", "o"), ("rules", "^"), ("graded", "x"):
    known_ones = [entry for entry in clf.path_ if entry.form == form and np.isfinite(entry.loss)]
    axes.plot([e.words for e in known_ones], [e.loss for e in known_ones], marker, label=form)
axes.set(xlabel="words to read", ylabel="held-out log-loss")
axes.legend(frameon=False)
plt.show()

# %%
# Another card of that table, without fitting again:

other = clf.with_entry(clf.path_.front[0])
print(other.history_.form, "of", other.history_.leaves)
print(other.tree_)
