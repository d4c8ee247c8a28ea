"""Learning one class against the rest: search on all rows and on folds, choose the size by held-out loss, calibrate.

The folds are disjoint in what they show: rows that look alike are one row here (see `encode`), so a tree is never
scored on a case it has seen; only in tables too long for that may equal rows fall on both sides.
"""

from __future__ import annotations

import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from sklearn.model_selection import StratifiedKFold

from baconlogic.core import Floats, Ints
from baconlogic.core.checks import Parameter, ParameterError
from baconlogic.core.decision import Link
from baconlogic.core.nodes import Gate, Leaf
from baconlogic.core.tree import Tree
from baconlogic.kernel.compile import interruptible
from baconlogic.learn import encode
from baconlogic.learn.column import CATEGORY
from baconlogic.learn.encode import Source
from baconlogic.learn.params import Params
from baconlogic.learn.path import HeldOut, Path, PathEntry
from baconlogic.learn.search.card import regress
from baconlogic.learn.search.cards import Cards
from baconlogic.learn.search.draft import Draft
from baconlogic.learn.search.problem import Finished, Found, Problem, Request, Search
from baconlogic.learn.search.refine import polish, ranked
from baconlogic.metrics import base_log_loss, log_loss_of_scores

Key = tuple[str, int]  # kind and size of a tree
Values = dict[Key, Floats]  # decision values of held-out rows, by kind of tree and size
Fold = tuple[Ints, Values]  # the rows held out, and what was said of them

FOLDS = 5
MANY, FEWER_FOLDS = 500, 3  # so many rows tell as much in fewer folds
MOST_ROWS = 6000  # more are sampled for search and validation; the last refinement sees all
TIE = 1e-3  # a held-out loss that is not lower by more is no better
EVIDENCE = 3.0  # log-likelihood by which a tree must beat the base rate: the two numbers of its calibration gain
# as much in one case of twenty where there is nothing to be found (half the 95% point of chi-square)
DRAWN_ALIKE = 0.25  # logarithm of how much more of one side than of the other a sample may hold by chance
CALIBRATION = 0.1  # cases' worth of hold on a calibration
AS_WELL = 0.1  # standard errors by which a simpler tree may lose more
SEEN = 0.3  # weight of the loss on rows seen, where that on rows held out weighs 1
EACH = 1.5  # numbers that stand behind each condition, gate and set of weights
PLACE = 1.0  # log-likelihood that the place of a cut gains by being sought
NUMBERS = 5  # that a leaf brings: slope, centre and truth of missing values, and with its gate a weight and an andness
FLATTEST = 0.05  # steepness of a link that hardly looks at the truth


@dataclass(frozen=True)
class Target:
    """One class against the rest: its rows, the columns that may explain it, where its search starts.

    It goes to the workers.
    """

    params: Params
    sources: tuple[Source, ...]
    y: Floats  # (rows,): share of positive cases of each row
    share: Floats  # (rows,), sum 1
    cases: float  # how many cases the rows stand for
    counted: tuple[float, float]  # cases of the rest and of the class in one of them, where classes weigh differently
    sample: Ints  # the rows to search on
    drawn: Floats  # (rows,): the share of each where a sample was drawn; as `share` where sides are drawn alike
    halted: list[bool] = field(default_factory=lambda: [False])  # whether the fit is to end; one for all its targets
    start: Draft | None = None

    def problem(self, rows: Ints, share: Floats, fit: Ints | None = None, *, scaled: bool = True) -> Problem:
        """Return the problem on some rows; `fit` are those that categories may learn from, `rows` by default.

        Without columns on their scale where these are not needed: categories take long to be put in order.
        """
        p, cases, own = self.params, share * self.cases, share[rows]
        names = [p.columns[source.feature].name for source in self.sources]
        X = [
            encode.shown(p.columns[source.feature], source, self.y, cases, rows, fit) if scaled else np.empty(0)
            for source in self.sources
        ]
        low, high = np.array([p.bounds(name) for name in names]).T
        learned = sorted({source.feature for source in self.sources if source.criterion is None})
        return Problem(
            np.array(X), self.y[rows], own / own.sum(),
            learned=np.array([source.criterion is None for source in self.sources]),
            features=np.array([source.feature for source in self.sources]),
            direction=np.array([p.direction(name) for name in names]), low=np.array(low), high=np.array(high),
            andness=p.andness, required=tuple(p.names.index(name) for name in p.required), reuse=p.reuse,
            ranked=bool(p.order), weight=self.cases * float(own.sum()), knee=p.aggregator.knee,
            table=tuple(p.columns[i].take(rows) for i in learned), places=tuple(learned),
            directions=np.array([p.direction(p.columns[i].name) for i in learned], dtype=np.int64),
            parts=tuple((name, tuple(p.names.index(own) for own in features)) for name, features in p.groups),
            categories=np.array([len(p.columns[s.feature].categories) * s.coded for s in self.sources]),
        )  # fmt: skip

    @cached_property
    def everything(self) -> Problem:
        """The problem on all rows."""
        return self.problem(np.arange(len(self.y)), self.share)

    @cached_property
    def _places(self) -> list[Floats]:
        """The place of each category on the scale, learned from all rows, by source; none but for categories."""
        columns, cases = [self.params.columns[source.feature] for source in self.sources], self.share * self.cases
        return [encode.places(each, self.y, cases) if each.kind == CATEGORY else np.empty(0) for each in columns]

    def tree(self, draft: Draft) -> Tree:
        """Return a draft in raw units; 0/1 columns are read as they are where that costs nothing."""
        p = self.params
        plain, crisp = (
            Tree(encode.root_of(draft, p.columns, self.sources, self._places, p.aggregator.name, crisp=crisp))
            for crisp in (False, True)
        )
        if crisp == plain:
            return plain
        rows, (steepness, threshold) = self.sample, draft.parts.link
        table = {column.name: encode.raw(column)[rows] for column in p.columns}
        losses = [
            log_loss_of_scores(steepness * (tree.evaluate(table) - threshold), self.y[rows], self.share[rows])
            for tree in (plain, crisp)
        ]
        return crisp if losses[1] <= losses[0] + TIE else plain


def target_of(p: Params, counts: Floats, index: int, counted: tuple[float, float], halted: list[bool]) -> Target | None:
    """Return one class against the rest, by its index; None when there is nothing to learn.

    `counts` (rows, classes) is how much each class weighs in each row.
    """
    weight = counts.sum(axis=1)
    y = counts[:, index] / weight
    place = 0 if len(p.classes) == 2 else index
    start = p.init or (p.before[place] if place < len(p.before) else None)
    sources = _sources(p, start)
    if not sources or y.max() <= 0.0 or y.min() >= 1.0:
        return None
    shown = {p.columns[source.feature].name for source in sources}
    for what, names in (("required", p.required), ("order", p.order)):
        lost = [name for name in names if name not in shown]
        if lost:
            said = f" names {lost[0]!r}, which has one value only; nothing can be learned from it"
            raise ParameterError(Parameter(what), said)
    cases = max(float(weight.sum()), float(len(weight)))  # a row is at least one case: weights that are less are shares
    share, sample = weight / weight.sum(), _sample(y, p.seed)
    target = Target(p, tuple(sources), y, share, cases, counted, sample, _drawn(y, share, sample), halted)
    return replace(target, start=_start(target, start))


def _sources(p: Params, start: Tree | None) -> list[Source]:
    """Return the columns of the problem: each usable feature, and what a typed tree needs besides."""
    found = []
    for i, column in enumerate(p.columns):
        if column.constant or column.name in p.forbidden or (p.order and column.name not in p.order):
            continue
        if p.criteria == "learned" or column.kind == CATEGORY or column.single:
            found.append(Source(i))
            continue
        asked = p.direction(column.name)
        ways = [rising for rising in (True, False) if asked in (0, 1 if rising else -1)]
        found += [Source(i, encode.fixed_criterion(column, p.criteria, rising)) for rising in ways]
    if start is not None:
        found += [source for source in encode.typed_sources(start, p.columns) if source not in found]
    return found


def _start(target: Target, tree: Tree | None) -> Draft | None:
    """Return where the search starts: a typed tree, the tree of the last fit, or the order asked for."""
    p = target.params
    if tree is not None:
        draft = encode.draft_of(tree, p.columns, target.sources)
        turned = _turned(target, draft)
        if turned and p.init is not None:
            raise ValueError(turned)
        return None if turned else draft
    if not p.order:
        return None
    names = [p.columns[source.feature].name for source in target.sources]
    choices = [[j for j, name in enumerate(names) if name == wanted] for wanted in p.order]
    return ranked(target.problem(target.sample, target.share), choices)


def _turned(target: Target, draft: Draft) -> str | None:
    """Return, in words, the first typed leaf whose direction is not the one asked for."""
    for column, slope in zip(draft.columns, draft.parts.slope, strict=True):
        source = target.sources[column]
        name = target.params.columns[source.feature].name
        asked = target.params.direction(name)
        rising = source.criterion.rising if source.criterion is not None else None
        sign = slope if rising is None else (1.0 if rising != source.negated else -1.0)
        if asked and asked * sign < 0.0 and not source.coded:
            words = {1: "rising", -1: "falling"}
            return f"directions asks for {name!r} {words[asked]}, but init has it {words[-asked]}"
    return None


def _sample(y: Floats, seed: int) -> Ints:
    """Return the rows to search on: all, or as many of each side as there are in proportion."""
    if len(y) <= MOST_ROWS:
        return np.arange(len(y))
    rng = np.random.default_rng(seed)
    taken = [
        rng.choice(side, max(min(len(side), 50), round(MOST_ROWS * len(side) / len(y))), replace=False)
        for side in (np.flatnonzero(y >= 0.5), np.flatnonzero(y < 0.5))
    ]
    return np.sort(np.concatenate(taken))


def _drawn(y: Floats, share: Floats, sample: Ints) -> Floats:
    """Return the shares of rows in a sample: where more than their part of a rare side was drawn, each is less."""
    rare = y >= 0.5
    whole = np.array([share[side].sum() for side in (~rare, rare)])
    part = np.array([share[sample][side].sum() for side in (~rare[sample], rare[sample])])
    if len(sample) == len(y) or not part.all():
        return share
    factor = whole / part * part.sum()
    if abs(math.log(factor[1] / factor[0])) < DRAWN_ALIKE:
        return share
    return np.asarray(share * np.where(rare, factor[1], factor[0]))


def folds(target: Target) -> list[tuple[Ints, Ints]]:
    """Return (rows to learn from, rows held out) of each fold; none where a side has fewer than two rows."""
    rows = target.sample
    side = (target.y[rows] >= 0.5).astype(int)
    most = FOLDS if len(rows) < MANY else FEWER_FOLDS
    count = min(most, int(np.bincount(side, minlength=2).min()))
    if count < 2:
        return []
    split = StratifiedKFold(count, shuffle=True, random_state=target.params.seed).split(rows, side)
    return [(rows[kept], rows[held]) for kept, held in split]


def train(target: Target, search: Search, rows: Ints, held: Ints | None, seconds: float | None) -> tuple[Found, Values]:
    """Search on `rows`, for so many seconds; return what was found, and what its trees say of the rows held out."""
    p, scaled = target.params, not isinstance(search, Cards)
    problem = target.problem(rows, target.drawn, scaled=scaled)
    deadline = None if seconds is None else time.monotonic() + seconds

    def going() -> bool:
        return not target.halted[0] and (deadline is None or time.monotonic() < deadline)

    found = search.find(problem, Request(p.most, target.start, p.seed, going, p.jobs, deadline))
    if found.interrupted:
        target.halted[0] = True
    if held is None:
        return found, {}
    unseen = target.problem(held, target.drawn, rows, scaled=scaled)
    said = {
        (kind, size): unseen.decision_values(draft)
        for kind, trees in _kinds(found).items()
        for size, draft in trees.best.items()
    }
    return found, said | {key: card.scores(unseen) for key, card in found.cards.items()}


def _kinds(found: Found) -> dict[str, Found]:
    return {"tree": found} if found.rivals is None else {"tree": found, "mean": found.rivals}


def path_of(target: Target, found: Found, folds: Sequence[Fold]) -> tuple[Path, PathEntry]:
    """Return the best trees of each kind and size, calibrated on the rows held out, and the one chosen by these."""
    drafts = {(kind, size): draft for kind, each in _kinds(found).items() for size, draft in each.best.items()}
    models: dict[Key, Draft | Finished] = {**drafts, **found.cards}
    entries = {key: _entry(target, found, key, models, folds) for key in models}
    chosen = _choose(_of_form(entries, target.params.form), target)
    if len(target.y) > MOST_ROWS:  # it was found on a sample
        models[chosen] = _on_all_rows(target, found, chosen, models[chosen])
        entries[chosen] = _entry(target, found, chosen, models, folds)
    taken, best = entries[chosen], {(entries[chosen].form, entries[chosen].leaves): entries[chosen]}
    for entry in sorted(entries.values(), key=lambda entry: entry.loss):  # what was not held out only if nothing was
        if entry.held is not None or taken.held is None:
            best.setdefault((entry.form, entry.leaves), entry)
    return Path(sorted(best.values(), key=lambda entry: (entry.leaves, entry.form))), taken


def _of_form(entries: dict[Key, PathEntry], form: str) -> dict[Key, PathEntry]:
    """Return the entries that are told in the form asked for, or as a special case of it; all where none is."""
    told = {"scorecard": ("scorecard", "checklist")}.get(form, (form,))
    return {key: entry for key, entry in entries.items() if form == "auto" or entry.form in told} or entries


def _on_all_rows(target: Target, found: Found, key: Key, model: Draft | Finished) -> Draft | Finished:
    """Return a tree that was found on a sample, refined on all rows unless the fit is to end."""
    if not target.halted[0]:
        try:
            with interruptible():
                if not isinstance(model, Draft):
                    return model.again(target.everything)
                return (_kinds(found)[key[0]].refit or polish)(target.everything, model)
        except KeyboardInterrupt:
            target.halted[0] = True
    return model


def _said(key: Key, folds: Sequence[Fold]) -> list[tuple[Ints, Floats]]:
    """Return what trees of a kind and size said of rows held out; a fold that stopped earlier speaks by its largest."""
    kind, size = key
    own = [[each for each in values if each[0] == kind and each[1] <= size] for _, values in folds]
    return [(held, values[max(keys)]) for (held, values), keys in zip(folds, own, strict=True) if keys]


def _entry(
    target: Target, found: Found, key: Key, models: Mapping[Key, Draft | Finished],
    folds: Sequence[Fold],
) -> PathEntry:  # fmt: skip
    """Return a model as a tree, and how those of its kind and size do on the rows held out (NaN where not measured).

    It must beat the base rate by more the more kinds of models there are: the best of many does so by chance, but those
    of a kind are much alike.
    """
    model, said = models[key], _said(key, folds)
    factor, shift = _calibration(target, said)
    said = [(held, factor * values + shift) for held, values in said]
    loss, error, accuracy = _measured(target, said)
    gained = (base_log_loss(target.y, target.share) - loss) * target.cases
    logic = not gained < EVIDENCE + math.log(len({kind for kind, _ in models}))  # also where it was not measured
    rate, init = float(target.share @ target.y), target.params.init
    if not isinstance(model, Draft):
        steepness, threshold = model.link.steepness, model.link.threshold
        tree = Tree(model.node(target.everything.table, target.params.aggregator.name))
        own = model.scores(target.everything)
    else:
        steepness, threshold = (float(each) for each in model.parts.link)
        tree = init if found.kept and init is not None else target.tree(model)
        own = target.everything.decision_values(model)
    calibrated = _rounded(steepness * factor, threshold - shift / (steepness * factor))
    return PathEntry(
        model.leaves, tree, loss, error, accuracy, log_loss_of_scores(own, target.y, target.share), logic,
        Link(*(calibrated if logic else flat_link(rate))),
        None if math.isnan(loss) or len(said) < len(folds) else _held_out(target, said),
    )  # fmt: skip


def _rounded(steepness: float, threshold: float) -> tuple[float, float]:
    """Return a link in few digits; the threshold is no sum of 5% weights, at which a decision would hang."""
    rounded = round(threshold, 3)
    if math.isclose(20.0 * rounded, round(20.0 * rounded), abs_tol=1e-9):
        rounded += math.copysign(0.001, threshold - rounded)
    return float(f"{steepness:.4g}"), round(rounded, 3)


def flat_link(rate: float) -> tuple[float, float]:
    """Return the link that answers this rate, nearly, and always the same class, whatever the truth."""
    rate = min(max(rate, 1e-9), 1.0 - 1e-9)
    threshold = 0.5 - math.log(rate / (1.0 - rate)) / FLATTEST
    return FLATTEST, min(threshold, -0.01) if rate > 0.5 else max(threshold, 1.01)


def _calibration(target: Target, said: Sequence[tuple[Ints, Floats]]) -> tuple[float, float]:
    """Return factor and shift of decision values that make held-out probabilities right, held to (1, 0) a little."""
    if not said:
        return 1.0, 0.0
    rows, values = (np.concatenate(part) for part in zip(*said, strict=True))
    y, share = target.y[rows], target.drawn[rows] / target.drawn[rows].sum()
    values = np.clip(values, -30.0, 30.0)
    found = np.array([0.0, 1.0])
    regress(values[None], y, share * target.cases, CALIBRATION, found, 20)
    return float(np.clip(found[1], 0.05, 1.2)), float(np.clip(found[0], -3.0, 3.0))


def _measured(target: Target, said: Sequence[tuple[Ints, Floats]]) -> tuple[float, float, float]:
    """Return the mean held-out loss over folds, its standard error, and the accuracy.

    They are those of calibrated probabilities: a tree must not pay for being too sure.
    """
    if len(said) < 2:
        return math.nan, math.nan, math.nan
    losses, right, total = [], 0.0, 0.0
    for held, values in said:
        y, share = target.y[held], target.drawn[held]
        losses.append(log_loss_of_scores(values, y, share))
        right += float(share @ np.where(values > 0.0, y, 1.0 - y))
        total += float(share.sum())
    return float(np.mean(losses)), float(np.std(losses, ddof=1) / math.sqrt(len(losses))), right / total


def _held_out(target: Target, said: Sequence[tuple[Ints, Floats]]) -> HeldOut:
    """Return the calibrated decision values of all rows held out, and their cases of both sides.

    Where one side was drawn more often, the cases of the class are as many as were held out, and the rest as many as
    belong to them: how sure a share of cases is depends on how many there are.
    """
    rows, scores = (np.concatenate(part) for part in zip(*said, strict=True))
    y, cases = target.y[rows], target.drawn[rows] * target.cases
    if target.drawn is not target.share:
        cases *= (target.share[rows] @ y) / (target.drawn[rows] @ y)
    of_rest, of_class = target.counted
    return HeldOut(scores, cases * y * of_class, cases * (1.0 - y) * of_rest)


def _choose(entries: Mapping[Key, PathEntry], target: Target) -> Key:
    """Return the entry that reads simplest among those that do as well as the best: by what chance explains."""
    measured = {key: entry for key, entry in entries.items() if entry.held is not None}
    if not measured:  # too few rows to hold some out: what each leaf must gain is that of Akaike's criterion
        return min(entries, key=lambda k: (entries[k].in_sample_loss + NUMBERS * k[1] / target.cases, k[1]))
    loss = _estimates(measured, target.cases)
    best = min(measured, key=lambda k: (loss[k], measured[k].leaves))
    errors = {"best": AS_WELL, "one-se": 1.0}[target.params.simplicity]
    good = [k for k in measured if loss[k] - loss[best] <= errors * _error(measured[k], measured[best])]
    return min(good, key=lambda k: (_effort(measured[k]), loss[k]))


def _estimates(entries: Mapping[Key, PathEntry], cases: float) -> dict[Key, float]:
    """Return what each entry is thought to lose on new rows.

    Rows held out are too hard on a tree, for it was learned from fewer rows, and the rows it has seen too easy: a mean
    of both, as Efron's .632 has it, with Akaike's correction of the latter. What is as sure right behind a cut as far
    from it is flattered by a few rows that happen to lie well.
    """
    found = {}
    for (kind, size), entry in entries.items():
        held = max(entry.loss, entry.in_sample_loss)
        seen = entry.in_sample_loss + EACH * _effort(entry) / cases
        found[kind, size] = (held + SEEN * seen) / (1.0 + SEEN) + PLACE * (kind != "tree") * _cuts(entry) / cases
    return found


def _cuts(entry: PathEntry) -> int:
    """Return how many conditions part the numbers of a column at one place."""
    criteria = [node.criterion for _, node in entry.tree.walk() if isinstance(node, Leaf)]
    return sum(criterion.crisp and not criterion.categorical for criterion in criteria)


def _error(entry: PathEntry, best: PathEntry) -> float:
    """Return the standard error of the difference between the losses of two entries, row by row."""
    if entry is best or entry.held is None or best.held is None:
        return 0.0
    cases = best.held.positive + best.held.negative
    share, apart = cases / cases.sum(), entry.held.losses - best.held.losses
    return math.sqrt(float(share @ (apart - share @ apart) ** 2) / max(float(cases.sum()), 1.0))


def _effort(entry: PathEntry) -> int:
    """Return what there is to read: conditions, gates, and weights that differ."""
    gates = [node for _, node in entry.tree.walk() if isinstance(node, Gate)]
    return entry.leaves + len(gates) + sum(len(set(gate.weights)) > 1 for gate in gates)
