"""
Job offers, by a tree written by hand
=====================================

Four job offers, scored by the paper's job-selection tree (Figure 1-2) and ranked, each step in the open.
"""

import matplotlib.pyplot as plt

from baconlogic import Tree, plot

# %%
# The tree is one line of the notation. Compensation is a weighted mean of salary and benefits; it and interests should
# *both* be there, which is what the soft conjunction SC asks for. A criterion says how a raw value becomes a degree of
# truth: a salary of 40,000 is not large at all, one of 90,000 is fully large.

tree = Tree.parse(
    """
    "the job suits me" = SC(
        compensation = A(
            salary[0 at 40000, 1 at 90000, unit "dollars a year"]: 0.7,
            benefits[0 at 0, 1 at 10, unit "points"]: 0.3
        ): 0.6,
        interests[0 at 0, 1 at 10, unit "points"]: 0.4
    )
    """
)
print(tree)

# %%
# The offers, best first. Every number is a degree of truth: 0 not true, 1 fully true.

offers = {
    "offer": ["Bank", "Start-up", "University", "Agency"],
    "salary": [88_000, 62_000, 55_000, 74_000],
    "benefits": [8, 3, 9, 5],
    "interests": [2, 9, 8, 6],
}
truths = tree.evaluate(offers, nodes=True)
steps = {step: tree.find(step) for step in ("salary", "benefits", "compensation", "interests", "the job suits me")}
best_first = sorted(range(4), key=lambda row: -truths[()][row])

print(f"{'':10}" + "  ".join(f"{step:>12}" for step in steps))
for row in best_first:
    degrees = (f"{truths[path][row]:>{max(len(step), 12)}.2f}" for step, path in steps.items())
    print(f"{offers['offer'][row]:10}" + "  ".join(degrees))

# %%
# The bank pays most, and comes last: what it lacks in interest, salary cannot make up for. Its way through the tree:

bank = {name: values[0] for name, values in offers.items()}
plot.tree(tree, case=bank)
plt.show()
