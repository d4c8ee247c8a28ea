"""Section 4 and Appendices F, H and I: when a tumour is malignant, by the Wisconsin diagnostic breast cancer data."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from baconlogic import datasets, explain, plot, report
from baconlogic.core.nodes import Gate
from baconlogic.core.words import aligned, listed, number, percent
from experiments import breast_fits as fits
from experiments import pictures
from experiments.result import Experiment, Interval, Line, Part, duration, paragraph, share
from experiments.validation import frame, interval, splits, take

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    from baconlogic.core.decision import Decision
    from baconlogic.explain import PruningCurve

NAME = "breast-cancer"  # files begin with it: the folder may hold other experiments
TITLE = "When is a tumour malignant? (section 4, Wisconsin diagnostic breast cancer data)"
RUNS = 10  # the paper's ten explanations
RELAXED, PAPER_STRICT, STRICT = 1e-4, 1e-2, 10.0  # weight penalties: the paper's two, and one that binds here
MEAN = "in sample, mean"
CLOSE = 0.9  # a correlation from which two columns say nearly the same
LITTLE = 0.005  # a loss of accuracy that is not worth a line
CONTEXT = "This tree says when a tumour is malignant, from measurements of cell nuclei (WDBC data, UCI 17)."


@dataclass(frozen=True, kw_only=True)
class BreastCancer(Experiment):
    """All that section 4 of the paper shows, measured in sample and held out."""

    paper_runs: fits.Explanations  # truths by the paper's normaliser
    learned_runs: fits.Explanations  # criteria learned
    chains: Mapping[str, tuple[fits.Layer, ...]]  # by weight penalty
    enough: Mapping[str, tuple[str, ...]]  # the features that suffice, by weight penalty
    steps: tuple[fits.Step, ...]
    turns: tuple[fits.Turn, ...]
    compared: tuple[fits.Comparison, ...]
    correlations: tuple[fits.Pair, ...]
    decision: Decision  # the small tree, learned from the rows of the first part
    prompt_words: int
    files: tuple[str, ...] = ()  # the report first, the prompt, the tables

    def ending(self) -> str:
        """Say which files were written and how long it took; the report comes last."""
        ended = f"{self.name} took {duration(self.seconds)}."
        if not self.files:
            return f"{ended} With a folder it also writes a report, a prompt and pictures."
        page, *others = map(Path, self.files)
        names = ", ".join(path.name for path in (*others, *map(Path, self.pictures)))
        also = f"{ended} In {page.parent}: {names}. The prompt, {self.prompt_words} words, is for a language model."
        return f"{paragraph(also)}\nThe report, to be opened in a browser: {page}"

    def to_dict(self) -> dict[str, Any]:
        """Return the findings as plain data; the decision in the form of its file."""
        plain = super().to_dict()
        return plain | {"decision": self.decision.to_dict()}


@dataclass(frozen=True)
class _Fitted:
    """All fits, sorted."""

    runs: dict[str, list[fits.Run]]
    scores: dict[str, Interval]
    folds: list[fits.Fold]
    chains: dict[float, fits.Chain]
    steps: list[tuple[fits.Step, ...]]
    forest: list[fits.Rival]
    small: list[fits.Rival]


def run(
    *,
    seed: int = 0,
    n_jobs: int | None = 2,
    folder: Path | None = None,
    progress: Callable[[str], None] | None = None,
    runs: int = RUNS,
    folds: int = 5,
    thorough: bool = False,
) -> BreastCancer:
    """Do section 4 again; `thorough` repeats the slowest part, holding rows out for the library's default, too."""
    started, say = time.perf_counter(), progress or (lambda _: None)
    if folder is not None:
        Path(folder).mkdir(parents=True, exist_ok=True)
    data = datasets.breast_cancer()
    X, y = frame(data), np.array(data.target_names)[data.y]
    parts = splits(y, folds, 2, seed)
    found = _fit(X, y, parts, runs=runs, seed=seed, n_jobs=n_jobs, folds=folds, thorough=thorough, say=say)
    say("explaining")
    result = _told(data, X, y, parts, found, folds)
    if folder is not None:
        say("drawing and reporting")
        written = _draw(
            result, found.chains[STRICT].curve, best_run(found.runs[fits.PAPER_NORMALISER]).decision, X, y, Path(folder)
        )
        result = replace(result, pictures=written, files=_write(result, X, y, parts[0][1], Path(folder)))
    return replace(result, seconds=time.perf_counter() - started)


def _fit(
    X: Any, y: NDArray[Any], parts: Sequence[Any], *, runs: int, seed: int, n_jobs: int | None, folds: int,
    thorough: bool, say: Callable[[str], None],
) -> _Fitted:  # fmt: skip
    """Do every fit. The first two tasks compile different parts of the library at the same time."""
    kinds = (fits.PAPER_NORMALISER, fits.LEARNED)
    own, once = parts if thorough else parts[:folds], parts[:folds]
    groups: dict[Any, list[tuple[Callable[..., Any], tuple[Any, ...]]]] = {
        "default": [(fits.default_fold, (X, y, part, seed)) for part in own],
        **{kind: [(fits.run_once, (X, y, kind, seed + i)) for i in range(runs)] for kind in kinds},
        **{f"held out {kind}": [(fits.paper_fold, (X, y, part, kind, seed)) for part in parts] for kind in kinds},
        "chains": [(fits.chain, (X, y, seed, penalty)) for penalty in (RELAXED, PAPER_STRICT, STRICT)],
        "steps": [(fits.steps_fold, (X, y, part, seed, STRICT)) for part in once],
        "forest": [(fits.forest_tree, (X, y, part, seed)) for part in own],
        "small": [(fits.small_tree, (X, y, part, seed)) for part in own],
    }
    tasks = [(name, task) for name, group in groups.items() for task in group]
    tasks.insert(1, tasks.pop(len(own)))
    say(f"learning: {len(tasks)} fits; the first fit on a machine compiles the kernel, which takes some 20 seconds")
    found: dict[Any, list[Any]] = {name: [] for name in groups}
    for (name, _), result in zip(tasks, fits.side_by_side((task for _, task in tasks), n_jobs), strict=True):
        found[name].append(result)
        done = sum(map(len, found.values()))
        if done % 20 == 0:
            say(f"{done} of {len(tasks)} fits done")
    return _Fitted(
        {kind: found[kind] for kind in kinds},
        {kind: interval(found[f"held out {kind}"], 1.0 / folds) for kind in kinds},
        found["default"],
        dict(zip((RELAXED, PAPER_STRICT, STRICT), found["chains"], strict=True)),
        found["steps"], found["forest"], found["small"],
    )  # fmt: skip


def best_run(runs: Sequence[fits.Run]) -> fits.Run:
    """Return the run that is right most often in sample, as the paper chooses; the first of equal ones."""
    return max(runs, key=lambda each: each.accuracy)


def _told(data: Any, X: Any, y: NDArray[Any], parts: Sequence[Any], found: _Fitted, folds: int) -> BreastCancer:
    """Return the findings with their words."""
    test = 1.0 / folds
    paper, learned = (fits.explanations(runs) for runs in found.runs.values())
    chains = {penalty: fits.layers(each.decision.tree, each.curve) for penalty, each in found.chains.items()}
    way = fits.steps(found.chains[STRICT].decision, X, y)
    held = {each.name: interval([_judged(fold[i]) for fold in found.steps], test) for i, each in enumerate(way)}
    turns = fits.turns(best_run(found.runs[fits.PAPER_NORMALISER]).decision, X, y, found.folds, test)
    compared = _compared(found, test)
    pairs = fits.correlated(data.X, data.feature_names)
    seen, hidden = parts[0]
    small = found.folds[0].few_model.decision_
    told = explain.describe(way[-1].tree, threshold=way[-1].threshold, label=fits.MALIGNANT).summary
    shown = {
        "The data": _opening(len(y), int(data.y.sum()), data.X.shape[1], (len(parts), len(found.folds))),
        f"{len(paper.rows)} runs of the paper's search": _ten_runs(paper, learned, found.scores, pairs),
        "Which features matter": _pruning(found.chains, chains[STRICT], STRICT),
        "The tree, told more and more simply": _tree_steps(way, held, told),
        "Where to turn": _scenarios(turns),
        "The tree to take away": _default_tree(small, found.folds, (len(seen), len(hidden))),
    }
    return BreastCancer(
        name=NAME, title=TITLE, parts=tuple(Part(*each) for each in shown.items()),
        lines=_lines(paper, learned, found, turns, compared), paper_runs=paper, learned_runs=learned,
        chains={str(penalty): each for penalty, each in chains.items()},
        enough={str(penalty): each.curve.smallest().kept for penalty, each in found.chains.items()},
        steps=tuple(replace(each, held_out=held[each.name].mean) for each in way), turns=turns, compared=compared,
        correlations=pairs, decision=small, prompt_words=len(_prompt(small).split()),
    )  # fmt: skip


def _judged(step: fits.Step) -> float:
    assert step.held_out is not None  # noqa: S101 - steps of a fold are judged on the rows held out
    return step.held_out


def _compared(found: _Fitted, test: float) -> tuple[fits.Comparison, ...]:
    """Return trees of all kinds by accuracy and size, on the same parts."""
    own = [fits.Rival(fold.in_sample, fold.accuracy, fold.leaves) for fold in found.folds]
    few = [fits.Rival(fold.few_in_sample, fold.few, fold.few_leaves) for fold in found.folds]
    kinds = {
        "tumours, default": own,
        f"tumours, at most {fits.FEW}": few,
        "best tree of forest": found.forest,
        f"tree of depth {fits.TREE_DEPTH}": found.small,
    }
    return tuple(fits.comparison(name, rivals, test) for name, rivals in kinds.items())


def _lines(
    paper: fits.Explanations, learned: fits.Explanations, found: _Fitted,
    turns: Sequence[fits.Turn], compared: Sequence[fits.Comparison],
) -> tuple[Line, ...]:  # fmt: skip
    """Return the figures beside the paper's."""
    lines = []
    for runs, held, how in zip((paper, learned), found.scores.values(), ("sigmoid", "learned"), strict=True):
        seconds = float(np.median([row.seconds for row in runs.rows]))
        lines.append(Line(f"tumours, mean of {len(runs.rows)}, {how}", 0.9807, runs.mean, "in sample", held, seconds))
        lines.append(Line(f"tumours, best of {len(runs.rows)}, {how}", 0.9895, runs.best, "in sample", None, seconds))
    seconds = float(np.median([fold.seconds for fold in found.folds]))
    kinds = {each: f"{each.name}, {each.leaves:.0f} leaves" for each in compared}
    lines += [Line(kinds[each], 0.9807, each.in_sample, MEAN, each.held_out, seconds) for each in compared[:2]]
    for penalty in (PAPER_STRICT, STRICT):
        least = found.chains[penalty].curve.smallest().leaves
        how = f"in sample, penalty {number(penalty)}"
        lines.append(Line("tumours, features enough", 7, least, how, digits=0, less_is_better=True, unit=""))
    note = "here and in the other scenarios, in sample is the best run with the sigmoid, held out the library's default"
    for turn in turns:
        name = {"treatment planning": "recall"}.get(turn.scenario, "accuracy")
        figures = getattr(turn.paper, name), getattr(turn.in_sample, name)
        lines.append(Line(f"{turn.scenario}: {name}", *figures, "in sample", getattr(turn, name), note=note))
        note = ""  # once is enough
    lines += [Line(kinds[each], None, each.in_sample, MEAN, each.held_out) for each in compared[2:]]
    return tuple(lines)


def _prompt(decision: Decision) -> str:
    return report.prompt(decision, CONTEXT, domain="clinical")


def _write(result: BreastCancer, X: Any, y: NDArray[Any], hidden: Any, folder: Path) -> tuple[str, ...]:
    """Write the report, the prompt, the model, the chains layer by layer and the trees of every step."""
    page = report.report(
        result.decision, take(X, hidden), y[hidden], folder / f"{NAME}-report.html",
        title="When is a tumour malignant?", context=f"{CONTEXT} The rows told here had no part in learning it.",
    )  # fmt: skip
    names = ("prompt.txt", "model.json", "chains.txt", "trees.txt")
    prompt, model, chains, trees = (folder / f"{NAME}-{name}" for name in names)
    prompt.write_text(_prompt(result.decision), encoding="utf-8")
    result.decision.save(model)
    told = [f"weight penalty {penalty}\n{_chain_table(each)}\n" for penalty, each in result.chains.items()]
    chains.write_text("\n".join(told), encoding="utf-8")
    trees.write_text(_all_trees(result.steps), encoding="utf-8")
    return tuple(str(path) for path in (page, prompt, model, chains, trees))


def _draw(
    result: BreastCancer, curve: PruningCurve, best: Decision, X: Any, y: NDArray[Any], folder: Path
) -> tuple[str, ...]:
    """Write every picture and return their paths."""
    pruned, refitted = result.steps[1], result.steps[-1]
    drawn: dict[str, Callable[[], Axes]] = {
        "1-pruning": lambda: _labelled(plot.pruning_curve(curve), y="accuracy, in sample"),
        "2-tree-pruned": lambda: plot.tree(pruned.tree, threshold=pruned.threshold, label="malignant"),
        "3-tree-grouped": lambda: plot.tree(refitted.tree, threshold=refitted.threshold, label="malignant"),
        "4-truths": lambda: _labelled(plot.truths(best, X, y), x="cases the tree has learned from, sorted by truth"),
        "5-scenarios": lambda: pictures.scenarios(result.turns),
        "6-correlation": lambda: plot.correlation(X),
        "7-frequency": lambda: _labelled(
            plot.frequency(result.paper_runs), x="runs in which it is among the first five"
        ),
        "8-tree-default": lambda: plot.tree(result.decision),
    }
    pictures.headless()
    return tuple(
        pictures.save(make().get_figure(root=True), folder, f"{result.name}-{name}") for name, make in drawn.items()
    )


def _labelled(ax: Axes, x: str = "", y: str = "") -> Axes:
    """Say on an axis what these figures are, where the drawing cannot know."""
    ax.set_xlabel(x or ax.get_xlabel())
    ax.set_ylabel(y or ax.get_ylabel())
    return ax


# In words


def _opening(rows: int, malignant: int, features: int, counts: tuple[int, int]) -> str:
    """Say what the data are, and how to read the figures."""
    return paragraph(
        f"{rows} tumours, {malignant} of them malignant, {features} measurements of cell nuclei; in their names 1 is "
        "the mean over an image, 2 its standard error, 3 the worst (largest). In sample: judged on the rows learned "
        "from, as all of the paper's figures are. Held out: judged on rows that had no part in learning, as a new "
        f"patient is; means of stratified cross-validation, {counts[0]} fits of the paper's search, {counts[1]} of all "
        "else."
    )


def _ten_runs(
    paper: fits.Explanations, learned: fits.Explanations, held: Mapping[str, Interval], pairs: Sequence[fits.Pair]
) -> str:
    """Tell the runs of the paper's search, each an explanation of its own, and why there are several."""
    lines = [
        [str(i), ", ".join(a.top), share(a.accuracy, 2), share(b.accuracy, 2)]
        for i, (a, b) in enumerate(zip(paper.rows, learned.rows, strict=True), 1)
    ]
    lines.append(["", "mean", share(paper.mean, 2), share(learned.mean, 2)])
    lines.append(
        ["", "mean on rows held out", *(share(held[how].mean, 2) for how in (fits.PAPER_NORMALISER, fits.LEARNED))]
    )
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


def _pruning(chains: Mapping[float, fits.Chain], shown: Sequence[fits.Layer], strict: float) -> str:
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
    return f"{aligned(header, rows)}\n{told}\n{_chain_table(shown, brief=True)}"


def _chain_table(layers: Sequence[fits.Layer], *, brief: bool = False) -> str:
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


def _tree_steps(steps: Sequence[fits.Step], held: Mapping[str, Interval], summary: str) -> str:
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


def _all_trees(steps: Sequence[fits.Step]) -> str:
    """Draw the tree of every step, with where it turns and its accuracy."""
    told = "{0.name}: malignant when more than {0.threshold:.3f} true; right on {1} in sample\n\n{0.tree}\n"
    return "\n".join(told.format(each, share(each.in_sample, 2)) for each in steps)


def _scenarios(turns: Sequence[fits.Turn]) -> str:
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


def _default_tree(decision: Decision, folds: Sequence[fits.Fold], rows: tuple[int, int]) -> str:
    """Show the tree to take away, and how it did on the rows that it has not seen."""
    sizes = [f"{size} ({len(list(same))})" for size, same in groupby(sorted(each.leaves for each in folds))]
    said = (
        f"The library's default search, at most {fits.FEW} leaves, learned from {rows[0]} tumours. It is right on "
        f"{share(folds[0].few)} of {rows[1]} others. Without that limit it takes {listed(sizes, 'or')} leaves (in "
        f"brackets: how many fits). Malignant when more than {percent(decision.threshold)} true:"
    )
    return f"{paragraph(said)}\n{decision.tree}"
