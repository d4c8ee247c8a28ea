"""What a report says of one tree, section by section. What the model does not know is left out, with why."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from baconlogic.core.answers import Link, two_probabilities
from baconlogic.core.nodes import Gate
from baconlogic.core.words import number, one_line, percent
from baconlogic.explain import _case as cases
from baconlogic.explain._attribution import attribution
from baconlogic.explain._describe import describe
from baconlogic.explain._pruning_curve import pruning_curve
from baconlogic.explain._roles import in_words, leaf_roles
from baconlogic.learn import thresholds
from baconlogic.report import _cases as telling
from baconlogic.report import _limits as limits
from baconlogic.report import _measures as measuring
from baconlogic.report import _origin as origin
from baconlogic.report import _pictures as pictures
from baconlogic.report import _tree_svg as tree_svg

if TYPE_CHECKING:
    from baconlogic.explain._alternatives import Alternatives
    from baconlogic.explain._describe import Description
    from baconlogic.report._material import Material
    from baconlogic.report._svg import Svg

MOST_CRITERIA = 40  # drawn, the heaviest
MOST_PRUNED = 30  # leaves of a tree that is pruned step by step
MOST_ASKED = 200  # leaves of a tree whose features are taken away one by one
LONGEST_FORMULA = 20_000  # characters
MOST_LINES = 400  # of a tree drawn in text


@dataclass(frozen=True)
class Chapter:
    """One tree. Where a section is None, `left_out` says why."""

    id: str
    yes: str
    no: str
    several: bool
    threshold: str
    facts: list[tuple[str, str]]
    description: Description
    formula: str
    text: str
    picture: Svg | None
    live: Svg | None
    criteria: list[pictures.Criterion]
    more_criteria: int
    ranking: list[dict[str, Any]] | None
    sampled: str
    pruning: dict[str, Any] | None
    turning: dict[str, Any] | None
    calibration: dict[str, Any] | None
    source: str  # of the rows given
    figures: list[measuring.Figure]
    held: origin.HeldOut
    cases: list[telling.Case]
    others: tuple[str, list[origin.Other]]
    unsaid: list[str]
    seen: list[limits.Seen]
    left_out: dict[str, str]


def chapter(m: Material, index: int, alternatives: Alternatives | None) -> Chapter:
    """Tell one tree."""
    drawable = tree_svg.is_drawable(m.asked)
    criteria, more = _criteria(m)
    figures = _figures(m)
    held = origin.held_out(m)
    return Chapter(
        id=f"c{index}", yes=m.yes, no=m.no, several=m.several, threshold=number(m.asked.threshold),
        facts=_facts(m, figures, held), description=describe(m.model, label=m.label), formula=_formula(m),
        text=_text(m), picture=tree_svg.tree(m.asked, m.yes, m.no) if drawable else None,
        live=tree_svg.tree(m.asked, m.yes, m.no, live=m.place) if drawable else None,
        criteria=criteria, more_criteria=more, ranking=_ranking(m), sampled=_sampled(m), pruning=_pruning(m),
        turning=_turning(m), calibration=_calibration(m), source=origin.seen_before(m), figures=figures, held=held,
        cases=telling.told(m), others=origin.others(m, alternatives), unsaid=limits.told(m), seen=limits.seen(m),
        left_out=_left_out(m),
    )  # fmt: skip


def leaves_of(m: Material) -> int:
    """Return the number of leaves."""
    return sum(not node.children for _, node in m.asked.tree.walk())


def _left_out(m: Material) -> dict[str, str]:
    """Say why a section is not there."""
    said, leaves = {}, leaves_of(m)
    if m.positive is None:
        for section in ("figures", "pruning", "turning", "calibration"):
            said[section] = "No labels y were given to this report, so nothing can be counted as right or wrong."
    elif m.positive.all() or not m.positive.any():
        for section in ("turning", "calibration"):
            said[section] = "The rows given are all of one kind, so a threshold has nothing to tell apart."
    if m.asked.link is None:
        said["calibration"] = (
            "A tree alone gives degrees of truth, not probabilities, so there is nothing to calibrate."
        )
    if leaves > MOST_PRUNED:
        said.setdefault("pruning", f"The tree has {leaves} leaves: more than are taken away one by one here.")
    if leaves > MOST_ASKED:
        said["ranking"] = f"The tree has {leaves} leaves: more than are left out one by one here."
    if not tree_svg.is_drawable(m.asked):
        said["tree"] = f"The tree has {leaves} leaves, {m.asked.tree.depth} steps deep: too large for a picture."
    return said


def _sampled(m: Material) -> str:
    if m.rows.sample is None:
        return ""
    return f"Counted on {len(m.rows.sample)} of the {m.rows.count} rows, drawn at random with a fixed seed."


def _facts(m: Material, figures: list[measuring.Figure], held: origin.HeldOut) -> list[tuple[str, str]]:
    """Return the overview."""
    tree, rows = m.asked.tree, m.rows
    gates = sum(isinstance(node, Gate) for _, node in tree.walk())
    leaves = leaves_of(m)
    criteria = "1 criterion" if leaves == 1 else f"{leaves} criteria"
    joined = "" if not gates else f", joined by {gates} gate{'' if gates == 1 else 's'}"
    made = f"{criteria} on {len(tree.features)} of {len(rows.table.names)} columns{joined}"
    turn = f"{m.yes} where the truth is above {number(m.asked.threshold)}, else {m.no}"
    if m.asked.link is not None:
        chance = float(two_probabilities(m.asked.link.score(np.array([m.asked.threshold])))[0, 1])
        turn += f" (probability {percent(round(chance, 6))})"
    found = [("Decides", f"{m.yes} or {m.no}"), ("Made of", made), ("Turns at", turn)]
    if m.positive is None:
        return [*found, ("Rows given", f"{rows.count}, without labels")]
    found.append(("Rows given", f"{rows.count}, of which {int(m.positive.sum())} are {m.yes}"))
    right = figures[0]
    found.append(("Right on rows given", f"{right.said} ({right.of}; 95% interval {right.interval})"))
    if held.figures:
        right = held.figures[0]
        found.append(("Right on rows held out by fit", f"{right.said} (95% interval {right.interval})"))
    return found


def _formula(m: Material) -> str:
    text = m.asked.tree.formula()
    return text if len(text) <= LONGEST_FORMULA else f"{text[:LONGEST_FORMULA]} ... (the model file has all of it)"


def _text(m: Material) -> str:
    """Return the drawing in letters; of a deep tree only as much as can be read."""
    if leaves_of(m) * m.asked.tree.depth > MOST_LINES * 100:
        return ""
    lines = str(m.asked.tree).split("\n")
    return "\n".join([*lines[:MOST_LINES], *(["..."] if len(lines) > MOST_LINES else [])])


def _criteria(m: Material) -> tuple[list[pictures.Criterion], int]:
    roles = sorted(leaf_roles(m.asked.tree), key=lambda role: -role.weight)
    distinct = list({(role.leaf, role.negated): None for role in roles})
    shown = distinct[:MOST_CRITERIA]
    found = [pictures.criterion(leaf, m.rows.used[leaf.feature], negated=negated) for leaf, negated in shown]
    return found, len(distinct) - len(shown)


def _ranking(m: Material) -> list[dict[str, Any]] | None:
    if leaves_of(m) > MOST_ASKED:
        return None
    found = attribution(m.model, m.rows.some(), m.some_y, label=m.label)
    return [
        {
            "feature": one_line(row.feature), "role": in_words(row.role, row.whole), "weight": percent(row.weight),
            "decisive": _tenths(row.decisive), "changed": _tenths(row.changed), "moved": _tenths(row.moved),
            "drop": _tenths(row.accuracy_drop), "bar": pictures.share_bar(row.decisive, "decides"),
        }
        for row in found.rows
    ]  # fmt: skip


def _tenths(share: float | None) -> str:
    return "-" if share is None else measuring.tenths(share)


def _pruning(m: Material) -> dict[str, Any] | None:
    if m.positive is None or leaves_of(m) > MOST_PRUNED:
        return None
    found = pruning_curve(m.model, m.rows.some(), m.some_y, label=m.label)  # type: ignore[arg-type]
    pairs = zip(found.steps("best"), found.steps("bottom"), strict=True)
    whole = "(the whole tree)"
    steps = [
        (a.leaves, one_line(a.removed) or whole, _tenths(a.accuracy), one_line(b.removed) or whole, _tenths(b.accuracy))
        for a, b in pairs
    ]
    conclusion = str(found).rsplit("\n\n", 1)[-1]
    return {"picture": pictures.pruning(found) if len(steps) > 1 else None, "steps": steps, "conclusion": conclusion}


def _figures(m: Material) -> list[measuring.Figure]:
    if m.positive is None:
        return []
    return measuring.figures(m.truths, m.positive.astype(float), (~m.positive).astype(float), m.asked.threshold, m.yes)


def _turning(m: Material) -> dict[str, Any] | None:
    """Return what a threshold does: the counts at the one in use, and where scenarios would put it."""
    if m.positive is None or m.positive.all() or not m.positive.any():
        return None
    cases_, others = m.positive.astype(float), (~m.positive).astype(float)
    counts = measuring.counts_at(m.truths, cases_, others, m.asked.threshold)
    rows, said = _scenarios(m)
    return {
        "counts": {name: int(count) for name, count in counts._asdict().items()},
        "threshold": m.asked.threshold, "errors": int(counts.alarms + counts.misses),
        "picture": pictures.precision_recall(m), "scenarios": rows, "said": said,
    }  # fmt: skip


def _scenarios(m: Material) -> tuple[list[dict[str, Any]], str]:
    if m.several:
        return [], "Scenarios move a threshold between two classes; here the most probable of several is answered."
    entry = origin.entry_of(m)
    if entry is not None and not entry.logic:
        return [], "No logic was found that beats the base rate, so there is no threshold to choose."
    assert m.positive is not None  # noqa: S101
    link = m.asked.link or Link(1.0, m.asked.threshold)
    kept = entry is not None and entry.held is not None
    given = thresholds.held_out(link.score(m.truths), m.positive)
    rows = []
    for scenario in thresholds.SCENARIOS.values():
        cut = thresholds.cut_of(scenario, entry) if kept else scenario.pick(given)
        turn = link.threshold + cut / link.steepness
        counts = measuring.counts_at(m.truths, given.positive, given.negative, turn)
        shares = measuring.shares(counts)
        rows.append({"name": scenario.name, "aim": scenario.aim, "threshold": _enough(m, turn), **shares})
    if kept:
        return rows, "Each threshold was chosen on the rows that fit held out; the shares are those of the rows given."
    return rows, "Each threshold was chosen on the very rows it is counted on here, so these shares flatter."


def _enough(m: Material, turn: float) -> str:
    """Write a threshold with as many decimals as it takes to decide every row as it does."""
    decided = m.truths > turn
    for decimals in range(3, 17):
        text = f"{turn:.{decimals}f}"
        if np.array_equal(m.truths > float(text), decided):
            return text
    return repr(turn)


def _calibration(m: Material) -> dict[str, Any] | None:
    if m.positive is None or m.asked.link is None or m.positive.all() or not m.positive.any():
        return None
    chance = two_probabilities(m.asked.link.score(m.truths))[:, 1]
    bins = measuring.calibration(chance, m.positive)
    lines = [(f"{percent(b.low)} to {percent(b.high)}", percent(b.mean), b.seen) for b in bins]
    off = [b for b in bins if not b.seen.low <= b.mean <= b.seen.high]
    fits = "In every group the probability told is within the 95% interval of the share seen."
    if off:
        out = "outside the 95% interval of the share seen; by chance alone, about one group in twenty would be"
        fits = f"In {len(off)} of {len(bins)} groups the probability told is {out}."
    return {
        "picture": pictures.calibrated(bins, m.yes),
        "bins": lines,
        "said": fits,
        **measuring.losses(chance, m.positive),
    }


def overall(found: list[Material]) -> list[tuple[str, str]]:
    """Say how often the most probable of several classes is right."""
    first = found[0]
    decision = first.decision
    if decision is None or not first.several:
        return []
    said = [("Decides", f"the most probable of {', '.join(cases.answer(label) for label in decision.classes)}")]
    said.append(("Rows given", str(first.rows.count)))
    if first.y is not None:
        labels = [decision.classes[place] for place in decision.choose(first.rows.used).tolist()]
        right = sum(told == true for told, true in zip(labels, first.y.tolist(), strict=True))
        share = measuring.wilson(right, len(labels))
        said.append(("Right on rows given", f"{share.said} ({share.of}; 95% interval {share.interval})"))
    return said
