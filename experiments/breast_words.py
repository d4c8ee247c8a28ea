"""The sections that the breast cancer experiment prints."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import TYPE_CHECKING

from baconlogic.core.nodes import Gate
from baconlogic.core.words import aligned, listed, number, percent
from experiments.breast_findings import Explanations, Pair, Turn
from experiments.breast_fits import FEW, LEARNED, PAPER_NORMALISER, Chain, Fold
from experiments.breast_steps import Layer, Step
from experiments.result import Interval, paragraph, share

if TYPE_CHECKING:
    from baconlogic.core.decision import Decision

CLOSE = 0.9  # a correlation from which two columns say nearly the same
LITTLE = 0.005  # a loss of accuracy that is not worth a line


def opening(rows: int, malignant: int, features: int, fits: tuple[int, int]) -> str:
    """Say what the data are, and how to read the figures."""
    return paragraph(
        f"{rows} tumours, {malignant} of them malignant, {features} measurements of cell nuclei; in their names 1 is "
        "the mean over an image, 2 its standard error, 3 the worst (largest). In sample: judged on the rows learned "
        "from, as all of the paper's figures are. Held out: judged on rows that had no part in learning, as a new "
        f"patient is; means of stratified cross-validation, {fits[0]} fits of the paper's search, {fits[1]} of all "
        "else."
    )


def ten_runs(paper: Explanations, learned: Explanations, held: Mapping[str, Interval], pairs: Sequence[Pair]) -> str:
    """Tell the runs of the paper's search, each an explanation of its own, and why there are several."""
    lines = [
        [str(i), ", ".join(a.top), share(a.accuracy, 2), share(b.accuracy, 2)]
        for i, (a, b) in enumerate(zip(paper.rows, learned.rows, strict=True), 1)
    ]
    lines.append(["", "mean", share(paper.mean, 2), share(learned.mean, 2)])
    lines.append(["", "mean on rows held out", *(share(held[how].mean, 2) for how in (PAPER_NORMALISER, LEARNED))])
    header = ["run", "the five features that decide most", "fixed sigmoid", "learned criteria"]
    often = listed([f"{name} ({count})" for name, count in paper.frequency[:5]], "and")
    close = sum(abs(pair.correlation) > CLOSE for pair in pairs)
    closest = listed([f"{pair.first} and {pair.second} ({pair.correlation:.3f})" for pair in pairs[:2]], "and")
    told = paragraph(
        "Accuracy in sample. search.Sinkhorn as it comes, all features, seeds in a row, none picked. Truths come from "
        "the paper's fixed sigmoid (the features are of these runs), or slope, centre and direction are learned. Most "
        f"often among the first five: {often}. Two runs decide alike on {share(paper.least_alike)} to "
        f"{share(paper.most_alike)} of the tumours. {close} of {len(pairs)} pairs of features correlate by more than "
        f"{CLOSE}, most of all {closest}: they can stand for each other, so there is more than one explanation."
    )
    return f"{aligned(header, lines, left=2)}\n{told}"


def pruning(chains: Mapping[float, Chain], shown: Sequence[Layer], strict: float) -> str:
    """Tell how many features suffice under each weight penalty, and show one chain from the bottom up."""
    rows = []
    for penalty, chain in chains.items():
        least, whole = chain.curve.smallest(), chain.curve.rows[0]
        gates = [node for _, node in chain.decision.tree.walk() if isinstance(node, Gate)]
        off = max(abs(gate.weights[0] - 0.5) for gate in gates)
        enough = f"{least.leaves} of {whole.leaves}"
        rows.append([number(penalty), f"{off:.2f}", share(whole.accuracy, 2), enough, share(least.accuracy, 2)])
    header = ["weight penalty", "weights off 1/2 by up to", "accuracy of all", "enough are", "their accuracy"]
    enough = listed(list(chains[strict].curve.smallest().kept), "and")
    told = paragraph(
        "Features are taken away, the one missed least first, as long as accuracy in sample does not fall. The paper "
        "uses penalties of 0.0001 (relaxed) and 0.01 (strict) on a scale that it does not state. Enough with "
        f"{number(strict)}: {enough}. That chain from the bottom up, as the paper's table shows its own (accuracy "
        "with all below the feature taken away):"
    )
    return f"{aligned(header, rows)}\n{told}\n{chain_table(shown, brief=True)}"


def chain_table(layers: Sequence[Layer], *, brief: bool = False) -> str:
    """Write a chain from the bottom up; with `brief`, a start in which little is lost is one line."""
    lost = (i for i, layer in enumerate(layers) if layer.accuracy < layers[0].accuracy - LITTLE)
    first = next(lost, len(layers)) if brief else 0
    rows = [
        [str(each.layer), each.feature, f"{each.weight:.2f}", f"{each.andness:.2f}", share(each.accuracy, 2)]
        for each in layers[first:]
    ]
    if first:
        rights = [each.accuracy for each in layers[:first]]
        both = " to ".join(dict.fromkeys(share(right, 2) for right in (min(rights), max(rights))))
        rows.insert(0, [f"1-{first}", f"({first} features)", "", "", both])
    return aligned(["layer", "feature", "weight", "andness", "accuracy, in sample"], rows, left=2)


def tree_steps(steps: Sequence[Step], held: Mapping[str, Interval], summary: str) -> str:
    """Tell the tree from the whole chain to groups that people name."""
    rows = [
        [each.name, str(each.leaves), str(each.gates), share(each.in_sample, 2), held[each.name].short]
        for each in steps
    ]
    table = aligned(["tree", "leaves", "gates", "in sample", "held out, 95% interval"], rows)
    same = "" if steps[2].gates < steps[1].gates else " No two gates of it can be merged without changing truths."
    told = paragraph(
        f"Pruned: leaves go while accuracy in sample does not fall.{same} Grouped: features of one meaning come under "
        "one gate, which the paper does by hand; truths are then others, and the old threshold does not fit them. "
        "Refitted: weights, gates, criteria and threshold are learned anew. That tree:"
    )
    return f"{table}\n{told}\n{steps[-1].tree}\n{paragraph(summary)}"


def all_trees(steps: Sequence[Step]) -> str:
    """Draw the tree of every step, with where it turns and its accuracy."""
    told = "{0.name}: malignant when more than {0.threshold:.3f} true; right on {1} in sample\n\n{0.tree}\n"
    return "\n".join(told.format(each, share(each.in_sample, 2)) for each in steps)


def scenarios(turns: Sequence[Turn]) -> str:
    """Tell where to turn for each use."""
    rows = []
    for turn in turns:
        told = [
            ("paper, in sample", f"{turn.paper_threshold:.2f}", turn.paper),
            ("ours, in sample", f"{turn.threshold:.2f}", turn.in_sample),
            ("ours, held out", "by fit", turn.held_out),
        ]
        for i, (who, at, scores) in enumerate(told):
            figures = [share(x, 2) for x in (scores.accuracy, scores.precision, scores.recall)]
            rows.append([f"{turn.scenario}: {turn.aim}" if i == 0 else "", who, at, *figures])
    header = ["scenario", "", "truth above", "accuracy", "precision", "recall"]
    legend = paragraph(
        "In sample: the best run with the fixed sigmoid, its threshold chosen on the rows it is judged on; 100% there "
        "is no promise. Held out: the library's default, tree and threshold chosen without the rows. Precision: of "
        "those called malignant, how many are. Recall: of the malignant, how many are found."
    )
    return f"{aligned(header, rows, left=2)}\n{legend}"


def default_tree(decision: Decision, folds: Sequence[Fold], rows: tuple[int, int]) -> str:
    """Show the tree to take away, and how it did on the rows that it has not seen."""
    sizes = [f"{size} ({len(list(same))})" for size, same in groupby(sorted(each.leaves for each in folds))]
    said = (
        f"The library's default search, at most {FEW} leaves, learned from {rows[0]} tumours. It is right on "
        f"{share(folds[0].few)} of {rows[1]} others. Without that limit it takes {listed(sizes, 'or')} leaves (in "
        f"brackets: how many fits). Malignant when more than {percent(decision.threshold)} true:"
    )
    return f"{paragraph(said)}\n{decision.tree}"
