"""Draw the pictures of docs/idea.md: `python docs/pictures.py` draws all of them again, into docs/images."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import matplotlib as mpl

mpl.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
from sklearn.model_selection import train_test_split

from baconlogic import Tree, datasets, gcd, load, plot
from baconlogic.core.gcd import HIGHEST, LOWEST
from baconlogic.plot._style import BLACK, BLUE, GREEN, GREY, ORANGE, PALE, SKY, SMALL, TEXT, VERMILLION, tidy

DOCS = Path(__file__).parent
IMAGES = DOCS / "images"
LINES = ("-", "--", ":", "-.", (0, (5, 1, 1, 1, 1, 1)))
JOB = """offer = HC(
    pay = A(salary[0 at 2500, 1 at 4500, unit "EUR"]: 0.7, benefits: 0.3): 0.5,
    commute[1 at 20, 0 at 70, unit "min"]: 0.2,
    interest = SD(work[0.2 if "routine", 0.6 if "mixed", 1 if "new"]: 0.6, team: 0.4): 0.3)"""
OFFER = {"salary": 3900, "benefits": 0.5, "commute": 35, "work": "new", "team": 0.4}


def criteria() -> Any:
    """Draw a ramp, a band, a sigmoid and a table, in raw units."""
    tree = Tree.parse("""A(salary[0 at 2500, 1 at 4500, unit "EUR a month"]: 0.4,
        temperature[0 at 16, 1 at 20, 1 at 24, 0 at 28, unit "degrees"]: 0.3,
        radius[half at 16.8, slope 0.9, unit "mm"]: 0.2,
        status[1 if "permanent", 0.6 if "temporary", other 0.2]: 0.1)""")
    return plot.criteria(tree)[0].figure


def andness() -> Any:
    """Draw what a gate of two inputs says, from the drastic conjunction to the drastic disjunction."""
    figure, axes = plt.subplots(2, 4, figsize=(10.8, 5.9), layout="constrained")
    plot.surfaces(["CC", "HC", "SC", "A", "DD", "HD", "SD", ("A", 0.8)], axes)
    for ax, corner, colour, said in (
        (axes[0, 0], 1.0, "#FEE838", "1 where both are 1,\n0 everywhere else"),
        (axes[1, 0], 0.0, "#00224E", "0 where both are 0,\n1 everywhere else"),
    ):  # one point of the square, which a map cannot show
        ax.plot(corner, corner, "o", color=colour, markeredgecolor=BLACK, markersize=9, clip_on=False, zorder=5)
        ax.text(0.5, 0.5, said, ha="center", va="center", fontsize=TEXT, color="white" if corner else BLACK)
    return figure


def scale() -> Any:
    """Draw how the truth of a gate falls as andness rises, for four pairs of inputs."""
    figure, ax = plt.subplots(figsize=(8.0, 3.9), layout="constrained")
    along = np.linspace(LOWEST, HIGHEST, 1201)
    pairs = {(0.8, 0.8): BLUE, (0.9, 0.5): VERMILLION, (0.9, 0.1): GREEN, (1.0, 0.0): BLACK}
    for (pair, colour), dashes in zip(pairs.items(), LINES, strict=False):
        truth = gcd.gcd([np.full(along.shape, pair[0]), np.full(along.shape, pair[1])], None, along)
        ax.plot(along, truth, color=colour, linestyle=dashes, linewidth=1.8, label=f"{pair[0]:g} and {pair[1]:g}")
    joints = [LOWEST, 3.5 / 14, 6.5 / 14, 7.5 / 14, 10.5 / 14, HIGHEST]
    words = ["enough to have any\nsufficient", "nice to\nhave some\noptional", "", "nice to\nhave most\ndesired"]
    for i, (low, high) in enumerate(pairwise(joints)):
        ax.axvspan(low, high, color=PALE if i % 2 else "white", alpha=0.5, linewidth=0)
        said = (*words, "must have all\nmandatory")[i]
        ax.text((low + high) / 2, 1.04, said, ha="center", va="bottom", fontsize=SMALL)
    ax.annotate("mean", (0.5, 1.0), (0.5, 1.26), ha="center", fontsize=SMALL, arrowprops={"arrowstyle": "-"})
    ax.set(xlim=(LOWEST, HIGHEST), ylim=(-0.02, 1.02))
    ax.set_xlabel("andness", fontsize=TEXT)
    ax.set_ylabel("truth of the gate", fontsize=TEXT)
    ax.legend(title="two inputs, equal weights", fontsize=SMALL, title_fontsize=SMALL, loc="lower left")
    tidy(ax)
    return figure


def roles() -> Any:
    """Draw what one input can do in each kind of gate, the other being 0.6 true; and what weights do to that."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(9.6, 3.8), layout="constrained", sharey=True)
    x = np.linspace(0.0, 1.0, 401)
    named = {"HC": BLUE, "SC": SKY, "A": GREY, "SD": ORANGE, "HD": VERMILLION}
    for (code, colour), dashes in zip(named.items(), LINES, strict=True):
        level = gcd.LEVELS[code]
        truth = gcd.gcd([x, np.full(x.shape, 0.6)], None, level.andness())
        left.plot(x, truth, color=colour, linestyle=dashes, linewidth=1.8, label=f"{level.role} ({code})")
    for weight, dashes in zip((0.8, 0.5, 0.2), LINES, strict=False):
        for code, colour in (("HC", BLUE), ("HD", VERMILLION)):
            truth = gcd.gcd([x, np.full(x.shape, 0.6)], [weight, 1.0 - weight], gcd.LEVELS[code].andness())
            right.plot(x, truth, color=colour, linestyle=dashes, linewidth=1.8, label=f"{code}, weight {weight:.0%}")
    left.set_title("what an input can do, by the gate (equal weights)", fontsize=TEXT)
    right.set_title("the same for weights of 80%, 50% and 20%", fontsize=TEXT)
    for ax in (left, right):
        ax.set(xlim=(0, 1), ylim=(0, 1.01))
        ax.set_xlabel("truth of the input; the other is 0.6 true", fontsize=TEXT)
        ax.legend(fontsize=SMALL, frameon=False)
        tidy(ax)
    left.set_ylabel("truth of the gate", fontsize=TEXT)
    return figure


def tree() -> Any:
    """Draw a tree written by hand."""
    return plot.tree(Tree.parse(JOB)).figure


def case() -> Any:
    """Draw one case on its way through the tree."""
    return plot.tree(Tree.parse(JOB), case=OFFER).figure


def threshold() -> Any:
    """Draw truths of unseen patients by class, and the link from truth to probability."""
    data = datasets.breast_cancer()
    patients = data.frame().drop(columns="target")
    _, unseen, _, hidden = train_test_split(patients, data.y, test_size=1 / 3, random_state=0, stratify=data.y)
    model = load(DOCS / "card.json")
    truths = model.truth(unseen)
    figure, ax = plt.subplots(figsize=(8.0, 3.6), layout="constrained")
    edges = np.linspace(0.0, 1.0, 41)
    apart = [truths[hidden == 0], truths[hidden == 1]]
    names = ["benign", "malignant"]
    ax.hist(apart, edges, stacked=True, color=[SKY, VERMILLION], hatch=["", "////"], edgecolor="white", label=names)
    ax.set_ylabel("patients not learned from", fontsize=TEXT)
    ax.set_xlabel("truth of “malignant”", fontsize=TEXT)
    tidy(ax)
    chance = ax.twinx()
    z = np.linspace(0.0, 1.0, 401)
    chance.plot(z, 1.0 / (1.0 + np.exp(-model.links[0].score(z))), color=BLACK, linewidth=1.8, label="probability")
    chance.set_ylabel("probability", fontsize=TEXT)
    chance.set_ylim(0, 1.02)
    chance.axvline(model.threshold, color=GREY, linestyle="--", label=f"turns at {model.threshold:.3f}")
    handles = [*ax.get_legend_handles_labels()[0], *chance.get_legend_handles_labels()[0]]
    chance.legend(handles=handles, fontsize=SMALL, frameon=False, loc="center left")
    chance.spines["top"].set_visible(False)
    return figure


PICTURES = (criteria, andness, scale, roles, tree, case, threshold)


def main() -> None:
    """Draw all pictures."""
    for draw in PICTURES:
        figure = draw()
        figure.savefig(IMAGES / f"idea_{draw.__name__}.png", dpi=110, bbox_inches="tight", metadata={"Software": None})
        plt.close(figure)


if __name__ == "__main__":
    main()
