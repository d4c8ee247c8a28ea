"""What a report says of one tree, section by section. What the model does not know is left out, with why."""

from __future__ import annotations

from typing import Any

import numpy as np

from baconlogic import metrics
from baconlogic.core import Bools
from baconlogic.core.answers import Link, two_probabilities
from baconlogic.core.forms import MOST_LAYERS, shape_of
from baconlogic.core.nodes import Gate
from baconlogic.core.words import number, one_line, percent
from baconlogic.explain._alternatives import Alternatives
from baconlogic.explain._attribution import attribution
from baconlogic.explain._describe import describe
from baconlogic.explain._pruning_curve import pruning_curve
from baconlogic.explain._words import leaf_roles
from baconlogic.learn import thresholds
from baconlogic.report import _cases as telling
from baconlogic.report import _figures as figures
from baconlogic.report import _limits as limits
from baconlogic.report import _pictures as pictures
from baconlogic.report._figures import Figure, tenths
from baconlogic.report._material import Material

MOST_CRITERIA = 40  # drawn, the heaviest
MOST_PRUNED = 30  # leaves of a tree that is pruned step by step
MOST_ASKED = 200  # leaves of a tree whose features are taken away one by one
LONGEST_FORMULA = 20_000  # characters
MOST_LINES = 400  # of a tree drawn in text


def chapter(m: Material, index: int, alternatives: Alternatives | None) -> dict[str, Any]:
    """Tell one tree. Where a section is None, `left_out` says why."""
    drawable, said = pictures.is_drawable(m), str(describe(m.model, label=m.label))
    criteria, more = _criteria(m)
    given, (held, held_said) = figures.given(m), figures.held_out(m)
    return {
        "id": f"c{index}", "yes": m.yes, "no": m.no, "several": m.several, "threshold": number(m.asked.threshold),
        "facts": _facts(m, given, held), "card": said, "legend": _legend(m, said), "formula": _formula(m),
        "text": _text(m), "picture": pictures.tree(m, live=False) if drawable else None,
        "live": pictures.tree(m, live=True) if drawable else None, "criteria": criteria, "more_criteria": more,
        "ranking": _ranking(m), "sampled": _sampled(m), "pruning": _pruning(m), "turning": _turning(m),
        "calibration": _calibration(m), "source": figures.seen_before(m), "figures": given, "held": held,
        "held_said": held_said, "cases": telling.told(m), "others": figures.others(m, alternatives),
        "unsaid": limits.told(m), "seen": limits.seen(m), "left_out": _left_out(m),
    }  # fmt: skip


def _left_out(m: Material) -> dict[str, str]:
    """Say why a section is not there."""
    said, leaves = {}, m.leaves
    if m.positive is None:
        for section in ("figures", "pruning", "turning", "calibration"):
            said[section] = "No labels y were given to this report, so nothing can be counted as right or wrong."
    elif not m.both_kinds:
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
    if not pictures.is_drawable(m):
        said["tree"] = f"The tree has {leaves} leaves, {m.asked.tree.depth} steps deep: too large for a picture."
    return said


def _legend(m: Material, said: str) -> str:
    """Say how to read the words of a tree, as far as they do not say it themselves."""
    about = (
        "“About” marks where a statement is half true: around it, truth changes gradually from 0 (not true) to 1 "
        "(fully true)."
    )
    codes = "Codes in brackets name the gate exactly: from C (all must hold) over A (the mean) to D (any is enough)."
    deep = shape_of(m.asked.tree.root).layers > MOST_LAYERS
    return " ".join([about] * (" about " in said) + [codes] * deep)


def _sampled(m: Material) -> str:
    if m.rows.sample is None:
        return ""
    return f"Counted on {len(m.rows.sample)} of the {m.rows.count} rows, drawn at random with a fixed seed."


def _facts(m: Material, given: list[Figure], held: list[Figure]) -> list[tuple[str, str]]:
    """Return the overview."""
    tree, rows = m.asked.tree, m.rows
    gates = sum(isinstance(node, Gate) for _, node in tree.walk())
    leaves = m.leaves
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
    right = given[0]
    found.append(("Right on rows given", f"{right.said} ({right.of}; 95% interval {right.interval})"))
    if held:
        found.append(("Right on rows held out by fit", f"{held[0].said} (95% interval {held[0].interval})"))
    return found


def _formula(m: Material) -> str:
    text = m.asked.tree.formula()
    return text if len(text) <= LONGEST_FORMULA else f"{text[:LONGEST_FORMULA]} ... (the model file has all of it)"


def _text(m: Material) -> str:
    """Return the drawing in letters; of a deep tree only as much as can be read."""
    if m.leaves * m.asked.tree.depth > MOST_LINES * 100:
        return ""
    lines = str(m.asked.tree).split("\n")
    return "\n".join([*lines[:MOST_LINES], *(["..."] if len(lines) > MOST_LINES else [])])


def _criteria(m: Material) -> tuple[list[dict[str, Any]], int]:
    roles = sorted(leaf_roles(m.asked.tree), key=lambda role: -role.weight)
    distinct = list({(role.leaf, role.negated): None for role in roles})
    shown = distinct[:MOST_CRITERIA]
    found = [pictures.criterion(leaf, m.rows.used[leaf.feature], negated=negated) for leaf, negated in shown]
    return found, len(distinct) - len(shown)


def _ranking(m: Material) -> list[dict[str, Any]] | None:
    if m.leaves > MOST_ASKED:
        return None
    found = attribution(m.model, m.rows.some(), m.some_y, label=m.label)
    return [
        {
            "feature": one_line(row.feature), "role": row.role_in_words, "weight": percent(row.weight),
            "decisive": tenths(row.decisive), "changed": tenths(row.changed), "moved": tenths(row.moved),
            "drop": tenths(row.accuracy_drop), "bar": pictures.share_bar(row.decisive, "decides"),
        }
        for row in found.rows
    ]  # fmt: skip


def _pruning(m: Material) -> dict[str, Any] | None:
    if m.positive is None or m.leaves > MOST_PRUNED:
        return None
    found = pruning_curve(m.model, m.rows.some(), m.some_y, label=m.label)  # type: ignore[arg-type]
    orders = [found.steps(order) for order in ("best", "bottom")]
    said = [[(one_line(s.removed) or "(the whole tree)", tenths(s.accuracy)) for s in order] for order in orders]
    steps = [(step.leaves, *best, *bottom) for step, best, bottom in zip(orders[0], *said, strict=True)]
    picture = pictures.pruning(found) if len(steps) > 1 else None
    return {"picture": picture, "steps": steps, "conclusion": found.conclusion}


def _turning(m: Material) -> dict[str, Any] | None:
    """Return what a threshold does: the counts at the one in use, and where scenarios would put it."""
    if m.positive is None or not m.both_kinds:
        return None
    counts = metrics.confusion(m.asked.decides(m.truths), m.positive)
    rows, said = _scenarios(m, m.positive)
    return {
        "counts": counts, "threshold": m.asked.threshold, "errors": counts.false_positive + counts.false_negative,
        "picture": pictures.precision_recall(m), "scenarios": rows, "said": said,
    }  # fmt: skip


def _scenarios(m: Material, positive: Bools) -> tuple[list[dict[str, Any]], str]:
    if m.several:
        return [], "Scenarios move a threshold between two classes; here the most probable of several is answered."
    entry = figures.entry_of(m)
    if entry is not None and not entry.logic:
        return [], "No logic was found that beats the base rate, so there is no threshold to choose."
    link = m.asked.link or Link(1.0, m.asked.threshold)
    kept = entry is not None and entry.held is not None
    given = thresholds.held_out(link.score(m.truths), positive)
    rows = []
    for scenario in thresholds.SCENARIOS.values():
        cut = thresholds.cut_of(scenario, entry) if kept else scenario.pick(given)
        turn = link.threshold + cut / link.steepness
        counts = metrics.confusion(m.truths > turn, positive)
        shares = {key: figures.Share(*counts.shares[key]) for key in ("accuracy", "recall", "precision")}
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
    if m.positive is None or m.asked.link is None or not m.both_kinds:
        return None
    chances, truly = two_probabilities(m.asked.link.score(m.truths)), m.positive.astype(int)
    bins = metrics.calibration(chances[:, 1], m.positive)
    seen = [figures.Share(each.cases, each.rows) for each in bins]
    lines = [
        (f"{percent(each.low)} to {percent(each.high)}", percent(each.mean), share)
        for each, share in zip(bins, seen, strict=True)
    ]
    off = sum(not s.estimate.low <= each.mean <= s.estimate.high for each, s in zip(bins, seen, strict=True))
    fits = "In every group the probability told is within the 95% interval of the share seen."
    if off:
        out = "outside the 95% interval of the share seen; by chance alone, about one group in twenty would be"
        fits = f"In {off} of {len(bins)} groups the probability told is {out}."
    rate = float(m.positive.mean())
    return {
        "picture": pictures.calibrated(bins, m.yes), "bins": lines, "said": fits,
        "brier": metrics.brier_scores(chances, truly).mean(), "base_brier": rate * (1.0 - rate),
        "loss": metrics.log_losses(chances, truly).mean(),
        "base_loss": metrics.base_log_loss(truly, np.ones(len(truly))),
    }  # fmt: skip


def overall(found: list[Material]) -> list[tuple[str, str]]:
    """Say how often the most probable of several classes is right."""
    first = found[0]
    decision = first.decision
    if decision is None or not first.several:
        return []
    said = [("Decides", f"the most probable of {', '.join(first.answers)}"), ("Rows given", str(first.rows.count))]
    if first.y is not None:
        labels = [decision.classes[place] for place in decision.choose(first.rows.used).tolist()]
        right = sum(told == true for told, true in zip(labels, first.y.tolist(), strict=True))
        share = figures.Share(right, len(labels))
        said.append(("Right on rows given", f"{share.said} ({share.of}; 95% interval {share.interval})"))
    return said
