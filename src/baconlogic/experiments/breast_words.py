"""The sections that the breast cancer experiment prints."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import TYPE_CHECKING

from baconlogic import explain
from baconlogic.experiments.breast_findings import Comparison, Explanations, Pair, Turn
from baconlogic.experiments.breast_fits import FEW, LEARNED, PAPER_NORMALISER, Chain, Fold
from baconlogic.experiments.breast_steps import Layer, Step
from baconlogic.experiments.result import Interval, paragraph, share
from baconlogic.nodes import Gate
from baconlogic.wording import aligned, listed, number

if TYPE_CHECKING:
    from baconlogic.decision import Decision

CLOSE = 0.9  # a correlation from which two columns say nearly the same


def opening(rows: int, malignant: int, features: int) -> str:
    """Say what the data are, and how to read the figures."""
    return paragraph(
        f"{rows} tumours, {malignant} of them malignant, {features} measurements of cell nuclei. In names, 1 is the mean "
        "over an image, 2 its standard error, 3 the worst (largest) values. In sample: judged on the rows learned from, "
        "as all of the paper's figures are. Held out: judged on rows that had no part in learning, as a new patient is."
    )


def ten_runs(paper: Explanations, learned: Explanations, held: Mapping[str, Interval]) -> str:
    """Tell the runs of the paper's search, each an explanation of its own."""
    lines = [
        [str(i), ", ".join(a.top), share(a.accuracy, 2), share(b.accuracy, 2)]
        for i, (a, b) in enumerate(zip(paper.rows, learned.rows, strict=True), 1)
    ]
    lines.append(["", "mean", share(paper.mean, 2), share(learned.mean, 2)])
    lines.append(["", "mean on rows held out", *(share(held[how].mean, 2) for how in (PAPER_NORMALISER, LEARNED))])
    header = ["run", "the five features that decide most", "paper's normaliser", "learned criteria"]
    often = listed([f"{name} ({count})" for name, count in paper.frequency[:6]], "and")
    told = paragraph(
        "Accuracy in sample, by search.Sinkhorn with its default settings on all features; seeds in a row, none picked. "
        "Truths come from the paper's fixed sigmoid (these features), or slope, centre and direction are learned. "
        f"Most often among the first five: {often}. Two of these runs decide alike on {share(paper.least_alike)} "
        f"to {share(paper.most_alike)} of the tumours."
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
    """Write a chain from the bottom up; with `brief`, a start in which nothing is lost is one line."""
    first = next((i for i, layer in enumerate(layers) if layer.accuracy != layers[0].accuracy), 0) if brief else 0
    rows = [
        [str(each.layer), each.feature, f"{each.weight:.2f}", f"{each.andness:.2f}", share(each.accuracy, 2)]
        for each in layers[first:]
    ]
    if first:
        rows.insert(0, [f"1-{first}", f"({first} features)", "", "", share(layers[0].accuracy, 2)])
    return aligned(["layer", "feature", "weight", "andness", "accuracy, in sample"], rows, left=2)


def tree_steps(steps: Sequence[Step], held: Mapping[str, Interval], summary: str) -> str:
    """Tell the tree from the whole chain to groups that people name."""
    rows = [
        [each.name, str(each.leaves), str(each.gates), share(each.in_sample, 2), held[each.name].short]
        for each in steps
    ]
    table = aligned(["tree", "leaves", "gates", "in sample", "held out, 95% interval"], rows)
    same = "" if steps[2].gates < steps[1].gates else " No two of its gates can be merged without changing truths."
    told = paragraph(
        f"Pruned: leaves go while accuracy does not fall.{same} Grouped: measurements of one meaning come under one gate, "
        "which the paper does by hand. Their truths are then others, so the old threshold does not fit: refitted, weights, "
        "gates, criteria and threshold are learned anew."
    )
    return f"{table}\n{told}\n\n{steps[1].tree}\n\ngrouped and refitted:\n{steps[-1].tree}\n{paragraph(summary)}"


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
        "In sample: the best of the runs above, its threshold chosen on the rows it is judged on; 100% there is no promise. "
        "Held out: the library's default, tree and threshold chosen without the rows. Precision: of those called "
        "malignant, how many are. Recall: of the malignant, how many are found."
    )
    return f"{aligned(header, rows, left=2)}\n{legend}"


def correlations(pairs: Sequence[Pair]) -> str:
    """Tell which columns can stand for each other."""
    close = [pair for pair in pairs if abs(pair.correlation) > CLOSE]
    top = listed([f"{pair.first} and {pair.second} ({pair.correlation:.3f})" for pair in pairs[:4]], "and")
    return paragraph(
        f"{len(close)} of {len(pairs)} pairs of measurements correlate by more than {CLOSE}; closest are {top}. Such pairs "
        "can stand for each other, so there is more than one explanation."
    )


def rivals(compared: Sequence[Comparison]) -> str:
    """Tell how decision trees do on the same parts."""
    rows = [
        [each.name, number(round(each.leaves, 1)), share(each.in_sample, 2), each.held_out.short] for each in compared
    ]
    table = aligned(["", "leaves", "in sample", "held out, 95% interval"], rows)
    told = "Means over fits. A leaf of a decision tree is a whole rule of several splits, a leaf of ours one criterion."
    return f"{table}\n{told}"


def default_tree(decision: Decision, folds: Sequence[Fold], rows: int, known: int) -> str:
    """Show the tree to take away, and how it did on the rows that it has not seen."""
    fold = folds[0]
    sizes = [f"{size} ({len(list(same))})" for size, same in groupby(sorted(each.leaves for each in folds))]
    said = (
        f"The library's default search, at most {FEW} leaves, learned from {known} tumours; right on {share(fold.few)} of "
        f"{rows} others. Without that limit it takes {listed(sizes, 'or')} leaves (in brackets: how many fits)."
    )
    return f"{paragraph(said)}\n\n{decision.tree}\n\n{paragraph(explain.describe(decision).summary)}"
