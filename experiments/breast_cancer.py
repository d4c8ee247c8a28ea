"""Section 4 and Appendices F, H and I: when a tumour is malignant, by the Wisconsin diagnostic breast cancer data."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from baconlogic import datasets, explain, report
from baconlogic.core.words import number
from experiments import breast_findings as findings
from experiments import breast_fits as fits
from experiments import breast_pictures
from experiments import breast_words as words
from experiments.breast_steps import Layer, Step, layers, steps
from experiments.result import Experiment, Interval, Line, Part, duration, paragraph
from experiments.validation import frame, interval, splits, take

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from baconlogic.core.decision import Decision

NAME = "breast-cancer"  # files begin with it: the folder may hold other experiments
TITLE = "When is a tumour malignant? (section 4, Wisconsin diagnostic breast cancer data)"
RUNS = 10  # the paper's ten explanations
RELAXED, PAPER_STRICT, STRICT = 1e-4, 1e-2, 10.0  # weight penalties: the paper's two, and one that binds here
MEAN = "in sample, mean"
CONTEXT = "This tree says when a tumour is malignant, from measurements of cell nuclei (WDBC data, UCI 17)."


@dataclass(frozen=True, kw_only=True)
class BreastCancer(Experiment):
    """All that section 4 of the paper shows, measured in sample and held out."""

    paper_runs: findings.Explanations  # truths by the paper's normaliser
    learned_runs: findings.Explanations  # criteria learned
    chains: Mapping[str, tuple[Layer, ...]]  # by weight penalty
    enough: Mapping[str, tuple[str, ...]]  # the features that suffice, by weight penalty
    steps: tuple[Step, ...]
    turns: tuple[findings.Turn, ...]
    compared: tuple[findings.Comparison, ...]
    correlations: tuple[findings.Pair, ...]
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
    steps: list[tuple[Step, ...]]
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
        written = breast_pictures.draw(
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
    paper, learned = (findings.explanations(runs) for runs in found.runs.values())
    chains = {penalty: layers(each.decision.tree, each.curve) for penalty, each in found.chains.items()}
    way = steps(found.chains[STRICT].decision, X, y)
    held = {each.name: interval([_judged(fold[i]) for fold in found.steps], test) for i, each in enumerate(way)}
    turns = findings.turns(best_run(found.runs[fits.PAPER_NORMALISER]).decision, X, y, found.folds, test)
    compared = _compared(found, test)
    pairs = findings.correlated(data.X, data.feature_names)
    seen, hidden = parts[0]
    small = found.folds[0].few_model.decision_
    told = explain.describe(way[-1].tree, threshold=way[-1].threshold, label=fits.MALIGNANT).summary
    shown = {
        "The data": words.opening(len(y), int(data.y.sum()), data.X.shape[1], (len(parts), len(found.folds))),
        f"{len(paper.rows)} runs of the paper's search": words.ten_runs(paper, learned, found.scores, pairs),
        "Which features matter": words.pruning(found.chains, chains[STRICT], STRICT),
        "The tree, told more and more simply": words.tree_steps(way, held, told),
        "Where to turn": words.scenarios(turns),
        "The tree to take away": words.default_tree(small, found.folds, (len(seen), len(hidden))),
    }
    return BreastCancer(
        name=NAME, title=TITLE, parts=tuple(Part(*each) for each in shown.items()),
        lines=_lines(paper, learned, found, turns, compared), paper_runs=paper, learned_runs=learned,
        chains={str(penalty): each for penalty, each in chains.items()},
        enough={str(penalty): each.curve.smallest().kept for penalty, each in found.chains.items()},
        steps=tuple(replace(each, held_out=held[each.name].mean) for each in way), turns=turns, compared=compared,
        correlations=pairs, decision=small, prompt_words=len(_prompt(small).split()),
    )  # fmt: skip


def _judged(step: Step) -> float:
    assert step.held_out is not None  # noqa: S101 - steps of a fold are judged on the rows held out
    return step.held_out


def _compared(found: _Fitted, test: float) -> tuple[findings.Comparison, ...]:
    """Return trees of all kinds by accuracy and size, on the same parts."""
    own = [fits.Rival(fold.in_sample, fold.accuracy, fold.leaves) for fold in found.folds]
    few = [fits.Rival(fold.few_in_sample, fold.few, fold.few_leaves) for fold in found.folds]
    kinds = {
        "tumours, default": own,
        f"tumours, at most {fits.FEW}": few,
        "best tree of forest": found.forest,
        f"tree of depth {fits.TREE_DEPTH}": found.small,
    }
    return tuple(findings.comparison(name, rivals, test) for name, rivals in kinds.items())


def _lines(
    paper: findings.Explanations, learned: findings.Explanations, found: _Fitted,
    turns: Sequence[findings.Turn], compared: Sequence[findings.Comparison],
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
    told = [f"weight penalty {penalty}\n{words.chain_table(each)}\n" for penalty, each in result.chains.items()]
    chains.write_text("\n".join(told), encoding="utf-8")
    trees.write_text(words.all_trees(result.steps), encoding="utf-8")
    return tuple(str(path) for path in (page, prompt, model, chains, trees))
