"""Keep what the expert fixed, learn the rest: the leaves and gates stay, free parameters move to fit labelled rows.

    refit(tree, X, y)                                              everything may move
    refit(tree, X, y, free=["weights"])                            the weights of all gates
    refit(tree, X, y, free={"size": ["andness", "weights"]})       two things in one part
    refit(tree, X, y, fixed=["size", "andness"])                   all but one part, and all andness

Each free parameter is held, gently, to where it was (see _gradient): a few rows do not throw the expert's numbers away.
"""

from __future__ import annotations

import difflib
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from baconlogic.core import Floats
from baconlogic.core import evaluate as evaluation
from baconlogic.core.answers import Link
from baconlogic.core.checks import check_finite
from baconlogic.core.columns import Columns
from baconlogic.core.decision import Decision
from baconlogic.core.nodes import Gate, Leaf, Node, Path, flatten
from baconlogic.core.subject import Result, Subject, subject
from baconlogic.core.tree import Tree
from baconlogic.edit import _gradient as gradient
from baconlogic.metrics import log_loss_of_scores

Choice = set[tuple[Path, str]]

WORDS = ("weights", "andness", "criteria")
SAMPLE = 10_000  # rows that are learned from first, where there are at least twice as many
MEMORY = 60  # of L-BFGS: about as much as there is to learn of an expert's tree
ROUNDS = 5  # of descent: one that stops at a kink of andness starts anew from there


@dataclass(frozen=True)
class Refit(Result):
    """A refitted tree, its link to probability, and the log-loss on the rows it was refitted to.

    `loss_before` is that of the tree as it was, with the link that fits it best, so that the two can be compared.
    """

    tree: Tree
    link: Link
    loss_before: float
    loss_after: float

    def __str__(self) -> str:
        change = f"log-loss {self.loss_before:.4f} before, {self.loss_after:.4f} after"
        return f"{self.tree}\n\n{change}, on the rows it was refitted to"


def refit(
    model: Any,
    X: Any,
    y: ArrayLike,
    *,
    free: Any = "all",
    fixed: Any = None,
    sample_weight: ArrayLike | None = None,
    penalty: float = 1.0,
    threshold: float | None = None,
    label: Any = None,
    columns: Sequence[str] | None = None,
) -> Tree:
    """Return the tree with its free parameters moved to lower the penalised log-loss; the rest is exactly as it was.

    `free` is "all", "weights", "andness" or "criteria"; or a part of the tree, given by path, name or feature, in which
    everything is free; or a list of such; or a mapping of parts to words. `fixed` says, in the same form, what is not
    free. The decision turns where it did: at `threshold`, at the model's own, or at 0.5 of a tree alone. `penalty` is
    how many cases a usual change must convince; 0 lets the data speak alone.
    """
    return learn(subject(model, threshold, label), X, y, free=free, fixed=fixed, sample_weight=sample_weight,
                 penalty=penalty, hold=True, columns=columns).tree  # fmt: skip


def refit_decision(
    model: Any,
    X: Any,
    y: ArrayLike,
    *,
    free: Any = "all",
    fixed: Any = None,
    sample_weight: ArrayLike | None = None,
    penalty: float = 1.0,
    label: Any = None,
    columns: Sequence[str] | None = None,
) -> Decision:
    """Return the decision with its trees refitted (see `refit`), or that of `label` alone, and their links with them.

    It turns at probability 0.5 again: a threshold that was chosen for the truths of before means nothing now.
    Probabilities are those of the rows it was refitted to, which it has seen: on others they are less sure than said.
    """
    decision = getattr(model, "decision_", model)
    if not isinstance(decision, Decision):
        raise TypeError(f"expected a Decision or a fitted classifier, got {type(model).__name__}; of a Tree use refit")
    several = len(decision.classes) > 2
    labels = decision.classes if several and label is None else (label,)
    trees, links, said = list(decision.trees), list(decision.links), _told(decision)
    for each in labels:
        found = learn(subject(decision, label=each), X, y, free=free, fixed=fixed, sample_weight=sample_weight,
                      penalty=penalty, hold=False, columns=columns)  # fmt: skip
        place = decision.classes.index(each) if several else 0
        trees[place], links[place] = found.tree, found.link
        story = {"log_loss_before": found.loss_before, "log_loss_after": found.loss_after, "penalty": float(penalty)}
        said[place] = {**said[place], "held_out_log_loss": None, "held_out_accuracy": None, "refit": story}
    provenance = {key: value for key, value in decision.provenance.items() if key != "threshold"} | {"trees": said}
    return replace(decision, trees=tuple(trees), links=tuple(links), provenance=provenance, turns_at=None)


def _told(decision: Decision) -> list[dict[str, Any]]:
    """Return what the provenance says of each tree; what was measured before does not hold for a refitted one."""
    told = decision.provenance.get("trees")
    if not isinstance(told, list | tuple) or len(told) != len(decision.trees):
        return [{} for _ in decision.trees]
    return [dict(each) if isinstance(each, Mapping) else {} for each in told]


def learn(
    asked: Subject,
    X: Any,
    y: ArrayLike,
    *,
    free: Any,
    fixed: Any,
    sample_weight: ArrayLike | None,
    penalty: float,
    hold: bool,
    columns: Sequence[str] | None,
) -> Refit:
    """Return the refitted tree with its link; `hold` keeps the threshold."""
    check_finite(penalty, "penalty")
    if penalty < 0.0:
        raise ValueError(f"penalty must not be negative, got {penalty:g}")
    words = freedom(asked.tree, free, fixed)
    table = asked.table(X, columns)
    positive = asked.positive(y, table.rows)
    weight = _weights(sample_weight, table.rows)
    seen = weight > 0.0
    kinds = set(positive[seen].tolist())
    if len(kinds) < 2:
        one = "no rows" if not kinds else f"only {asked.answer(kinds.pop())!r}"
        raise ValueError(f"refitting needs rows of both answers, {asked.yes!r} and {asked.no!r}; y has {one}")
    start = Link(asked.link.steepness if asked.link else gradient.STEEPNESS, asked.threshold)
    total = float(weight.sum())
    y_seen, share = positive[seen].astype(float), weight[seen] / total
    penalised = gradient.PenalisedLoss(asked.tree.root, {}, {}, {}, y_seen, share, float(penalty) / total, start, hold)
    return _solved(penalised, words, table, seen)


def _solved(penalised: gradient.PenalisedLoss, words: list[set[str]], table: Columns, seen: NDArray[np.bool_]) -> Refit:
    """Learn the link alone, then everything; keep the tree as it was unless that is better."""
    order = flatten(penalised.root)
    table = _only(table, penalised.root, seen)
    truths = evaluation.truths(penalised.root, table)  # also refuses what a criterion cannot take, and says where
    raw = evaluation.raw_columns((node for node, _ in order), table)
    moving: dict[int, gradient.GateParameters | gradient.LeafParameters] = {}
    read: dict[int, NDArray[Any]] = {}
    for k, (node, _) in enumerate(order):
        if isinstance(node, Gate) and words[k]:
            moving[k] = gradient.GateParameters(node, words[k])
        elif isinstance(node, Leaf) and words[k]:
            column = raw[node.feature, node.criterion.categorical]
            found = gradient.leaf_parameters(node.criterion, column)
            if found.spans:
                moving[k], read[k] = found, found.read(column)
    as_it_was = replace(penalised, still={len(order) - 1: truths})
    start, _ = _lowest(as_it_was, np.zeros(2))
    link = as_it_was.link_at(start)
    loss_before = log_loss_of_scores(link.score(truths), penalised.y, penalised.share)
    before = Refit(Tree(penalised.root), link, loss_before, loss_before)
    if not moving:
        return before
    moves = gradient.moves(order, moving)  # what does not move below what does is still
    parts = [i for k, (_, below) in enumerate(order) if moves[k] for i in below if not moves[i]]
    still = {k: evaluation.truths(order[k][0], table) for k in parts}
    penalised = replace(penalised, moving=moving, columns=read, still=still)
    v, _ = _lowest(penalised, np.r_[np.zeros(len(penalised.spans()) - 2), start])
    root, link = penalised.tree_at(v), penalised.link_at(v)
    loss_after = log_loss_of_scores(link.score(evaluation.truths(root, table)), penalised.y, penalised.share)
    gained = loss_before + as_it_was.penalty(start)[0] - loss_after - penalised.penalty(v)[0]
    return Refit(Tree(root), link, loss_before, loss_after) if gained > 0.0 else before


def _lowest(penalised: gradient.PenalisedLoss, start: Floats) -> tuple[Floats, float]:
    """Return unconstrained parameters of a low penalised loss, not above that of the start, and this loss."""
    from scipy.optimize import minimize

    best, loss = start, penalised.loss(start)[0]
    step = len(penalised.y) // SAMPLE
    for some in [penalised.sample(step), penalised] if step > 1 else [penalised]:
        options = {"maxiter": 300, "maxcor": MEMORY, "ftol": 1e-8, "gtol": 1e-7}
        for _ in range(ROUNDS):
            found = minimize(some.loss, best, jac=True, method="L-BFGS-B", bounds=penalised.spans(), options=options)
            reached = penalised.loss(found.x)[0]
            gained = loss - reached
            if gained > 0.0:
                best, loss = found.x, reached
            if found.success or not gained > 1e-6 * abs(loss):
                break
    return best, loss


def _only(table: Columns, root: Node, seen: NDArray[np.bool_]) -> Columns:
    """Return the columns that a tree reads, of the rows that count."""
    if seen.all():
        return table
    raw = evaluation.raw_columns((node for node, _ in flatten(root)), table)
    columns = sorted(raw.items(), key=lambda item: item[0][1])  # of one that is read in both ways, its categories
    found = Columns({name: column[seen] for (name, _), column in columns})
    try:
        evaluation.truths(root, found)
    except ValueError as problem:
        raise ValueError(f"among the {found.rows} rows of weight above 0, {problem}") from None
    return found


def _weights(given: ArrayLike | None, rows: int) -> Floats:
    """Return how many cases each row stands for."""
    weight = np.ones(rows) if given is None else np.asarray(given, dtype=float)
    if weight.shape != (rows,):
        raise ValueError(f"sample_weight needs one number for each of {rows} rows, got the shape {weight.shape}")
    if not np.isfinite(weight).all() or (weight < 0.0).any():
        raise ValueError("sample_weight must be finite and not negative")
    if not math.isfinite(float(weight.sum())):
        raise ValueError("sample_weight sums to infinity; divide it by a number")
    return weight


def freedom(tree: Tree, free: Any, fixed: Any) -> list[set[str]]:
    """Return the words that are free at each node, in the order of `flatten`."""
    if fixed is not None and not (isinstance(free, str) and free == "all"):
        raise ValueError("free= says what may move and fixed= what may not, all else being the other; give one of them")
    nodes = dict(tree.walk())
    gates, leaves = ([path for path, node in nodes.items() if isinstance(node, kind)] for kind in (Gate, Leaf))
    every = {(path, word) for path in gates for word in WORDS[:2]} | {(path, WORDS[2]) for path in leaves}
    chosen = _chosen(nodes, free if fixed is None else fixed, "free" if fixed is None else "fixed")
    moving = every & chosen if fixed is None else every - chosen
    places = sorted(nodes, key=lambda path: [*path, math.inf])  # children first
    return [{word for word in WORDS if (path, word) in moving} for path in places]


def _chosen(nodes: Mapping[Path, Node], said: Any, what: str) -> Choice:
    """Return the (path, word) pairs that are meant."""
    pairs: list[tuple[Any, Any]]
    if isinstance(said, Mapping):
        pairs = list(said.items())
    else:
        path = isinstance(said, tuple) and all(isinstance(step, int) for step in said)
        listed = list(said) if isinstance(said, list | tuple | set | frozenset) and not path else [said]
        pairs = [((), each) if each in (*WORDS, "all") else (each, "all") for each in listed]
    chosen: Choice = set()
    for part, words in pairs:
        tops, meant = _places(nodes, part, what), _as_words(words, what)
        inside = {path for path in nodes if any(path[: len(top)] == top for top in tops)}
        chosen |= {(path, word) for path in inside for word in meant}
    return chosen


def _as_words(given: Any, what: str) -> tuple[str, ...]:
    words = (given,) if isinstance(given, str) else tuple(given) if isinstance(given, list | tuple | set) else ()
    wrong = [word for word in words if word not in (*WORDS, "all")]
    if not words or wrong:
        strange = wrong[0] if wrong else given
        raise ValueError(f"{what}: expected all, {', '.join(WORDS)}, or a list of these, got {strange!r}")
    return WORDS if "all" in words else words


def _places(nodes: Mapping[Path, Node], part: Any, what: str) -> list[Path]:
    """Return the paths of a part: of the nodes with this name, else of the leaves on this feature, or of a node."""
    if isinstance(part, tuple):
        found = [path for path in nodes if path == part]
    elif isinstance(part, str):
        found = [path for path, node in nodes.items() if node.name == part]
        found = found or [path for path, node in nodes.items() if isinstance(node, Leaf) and node.feature == part]
    elif isinstance(part, Node):
        found = [path for path, node in nodes.items() if node == part]
    else:
        raise TypeError(f"{what}: a part of a tree is a path, a name, a feature or a node, got {part!r:.60}")
    if found:
        return found
    known = {node.name for node in nodes.values()} | {n.feature for n in nodes.values() if isinstance(n, Leaf)}
    close = difflib.get_close_matches(part, [*sorted(known - {""}), *WORDS], n=1) if isinstance(part, str) else []
    hint = f"did you mean {close[0]!r}?" if close else f"the words are all, {', '.join(WORDS)}"
    raise LookupError(f"{what}: {part!r:.60} is no part of the tree, by path, name or feature; {hint}")
