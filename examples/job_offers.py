"""Four job offers, scored by the paper's job-selection tree (Figure 1-2) and ranked, each step in the open."""

from baconlogic import Tree

TREE = Tree.parse(
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

OFFERS = {
    "offer": ["Bank", "Start-up", "University", "Agency"],
    "salary": [88_000, 62_000, 55_000, 74_000],
    "benefits": [8, 3, 9, 5],
    "interests": [2, 9, 8, 6],
}


def main() -> None:
    """Print the tree and the offers, best first, with the degree of truth of every step."""
    print(TREE)
    truths = TREE.evaluate(OFFERS, nodes=True)
    steps = {step: TREE.find(step) for step in ("salary", "benefits", "compensation", "interests", "the job suits me")}
    print(f"\n{'':10}" + "  ".join(f"{step:>12}" for step in steps))
    best_first = sorted(range(4), key=lambda row: -truths[()][row])
    for row in best_first:
        degrees = (f"{truths[path][row]:>{max(len(step), 12)}.2f}" for step, path in steps.items())
        print(f"{OFFERS['offer'][row]:10}" + "  ".join(degrees))
    first = OFFERS["offer"][best_first[0]]
    print(f"\nBest: {first}. Every number is a degree of truth: 0 not true, 1 fully true.")


if __name__ == "__main__":
    main()
