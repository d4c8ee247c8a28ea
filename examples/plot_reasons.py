"""
Reasons for a credit decision
=============================

An applicant is refused. Which values fix that, whatever the others are? What would turn it? Both answers are proved by
the bounds of the tree; nothing is sampled.
"""

import matplotlib.pyplot as plt

from baconlogic import Tree, explain, plot

# %%
# The bank's rule, written by hand: an applicant must earn or own enough, must be steady, and age counts a little.

tree = Tree.parse(
    """
    grant = HC(
        means = HD(income[0 at 1500, 1 at 4000, unit "a month"]: 0.6, savings[0 at 0, 1 at 50000]: 0.4): 0.5,
        steady = SC(years_in_job[0 at 0, 1 at 5], debts[1 at 0, 0 at 20000]): 0.35,
        age[0 at 18, 1 at 25]: 0.15
    )
    """
)
applicant = {"income": 2300, "savings": 4000, "years_in_job": 2, "debts": 6000, "age": 29}

# %%
# From raw values to the decision, step by step:

print(explain.trace(tree, applicant, label="grant"))

# %%

plot.tree(tree, case=applicant)
plt.show()

# %%
# A *sufficient* reason is a set of values that fixes the answer; none of them can be left out. A *contrastive* reason
# is a set of values that could turn it.

print(explain.reasons(tree, applicant, label="grant"))

# %%
# The smallest changes that turn it, in raw units. Nobody can change their age, so it is held.

print(explain.counterfactual(tree, applicant, label="grant", immutable=["age"]))

# %%
# The first of them, checked:

change = explain.counterfactual(tree, applicant, label="grant", immutable=["age"]).single
print(change)
print("truth before:", tree.evaluate([applicant])[0].round(4))
print("truth after: ", tree.evaluate([applicant | {change.feature: change.after}])[0].round(4))
