"""Five telling cases: the surest ones, the least sure, and the ones that are decided wrongly, with their reasons."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from baconlogic.core.words import listed, number, one_line, percent
from baconlogic.explain import _case as cases
from baconlogic.explain._counterfactual import ValueChange, counterfactual
from baconlogic.explain._reasons import reasons
from baconlogic.explain._trace import trace
from baconlogic.explain._unknown import unknown
from baconlogic.report._material import Material

TOLD = 5
MOST_TOGETHER = 3  # changes told in one sentence
MOST_VALUES = 200  # of a column that are tried
MOST_LEAVES = 30  # of a tree that is searched for what would turn a case
MOST_FEATURES = 200  # of a tree that is asked for reasons
MOST_LETTERS = 4000  # leaves times depth of a tree whose way is told


def places(m: Material) -> list[tuple[str, int]]:
    """Return up to five rows that tell most, each with why; no row twice."""
    found: dict[int, str] = {}
    for title, place in _candidates(m):
        found.setdefault(place, title)
    return [(title, place) for place, title in found.items()][:TOLD]


def _candidates(m: Material) -> Iterator[tuple[str, int]]:
    """Yield rows in the order in which they should be told."""
    yes = m.asked.decides(m.truths)
    every = np.ones(len(yes), dtype=bool)
    right = every if m.positive is None else yes == m.positive
    closeness = np.abs(m.truths - m.asked.threshold)
    known = "" if m.positive is None else ", and right"
    for title, keys, among in (
        (f"Surest {m.yes}{known}", -m.truths, yes & right),
        (f"Surest {m.no}{known}", m.truths, ~yes & right),
        ("Least sure", closeness, every),
        (f"Wrong: surest {m.yes} that is not", -m.truths, yes & ~right),
        (f"Wrong: {m.yes}, missed by most", m.truths, ~yes & ~right),
    ):
        if among.any():
            yield title, int(np.argmin(np.where(among, keys, np.inf)))
    for place in np.argsort(closeness, kind="stable")[: 2 * TOLD].tolist():
        yield "Nearly as unsure", place


def told(m: Material) -> list[dict[str, Any]]:
    """Tell the cases, each with why it is told, what it is, and how it is decided."""
    return [{"title": title, "place": place, **_case(m, place)} for title, place in places(m)]


def _case(m: Material, place: int) -> dict[str, str]:
    row = m.rows.case(place)
    followed = trace(m.model, row, label=m.label)
    chance = "" if followed.probability is None else f", probability of {m.yes} {percent(followed.probability)}"
    said = f"Decided {cases.answer(followed.decision)} (truth {number(followed.truth)}{chance})"
    if m.y is not None:
        said += f"; it is {cases.answer(m.y[place : place + 1].tolist()[0])}"
    features = m.asked.tree.features
    why = f"The tree uses {len(features)} values: too many to search for those that fix the answer."
    if len(features) <= MOST_FEATURES:
        why = str(reasons(m.model, row, label=m.label))
    gone = any(row[name] is None for name in features)
    return {
        "facts": f"{said}.",
        "trace": str(followed) if m.leaves * m.asked.tree.depth <= MOST_LETTERS else "",
        "reasons": why,
        "turning": _turning(m, row, place),
        "unknown": str(unknown(m.model, row, X=m.rows.some(), label=m.label)) if gone else "",
    }


def _turning(m: Material, row: dict[str, Any], place: int) -> str:
    """Say in one or two sentences what would turn a case, among values that were seen."""
    if m.leaves > MOST_LEAVES:
        return f"What would turn it was not searched for: the tree has more than {MOST_LEAVES} leaves."
    if m.leaves > len(m.asked.tree.features):
        return _nearest_seen(m, row, place)
    found = counterfactual(m.model, row, X=m.rows.some(), label=m.label)
    other = cases.answer(found.other)
    said = []
    if found.single is not None:
        said.append(f"It would be {other} if {_changes([found.single])}, and nothing else changed.")
    together = found.joint if found.joint is not None and len(found.joint) > 1 else ()
    if 0 < len(together) <= MOST_TOGETHER:
        less = " together, each by less" if said else " together"
        said.append(f"{'Or if' if said else f'It would be {other} if'} {_changes(together)}{less}.")
    elif together and not said:
        said.append(f"Within the values seen here, no single change would make it {other}; several together would.")
    if not said:
        said.append(f"No change within the values seen here would make it {other}.")
    return " ".join(said)


def _nearest_seen(m: Material, row: dict[str, Any], place: int) -> str:
    """Say which one value, among those seen, would turn a case: `counterfactual` takes long where leaves share one."""
    now = bool(m.asked.decides(m.truths)[place])
    other, best = cases.answer(m.asked.answer(not now)), list[tuple[float, str]]()
    case = m.asked.case(row)
    for name, leaves in case.leaves.items():
        column = m.rows.some()[name]
        seen = _spread(column)
        turned = m.asked.decides(m.asked.tree.evaluate({**case.rows(len(seen)), name: seen})) != now
        sizes = _sizes(row[name], seen, column)
        found = [(size, value) for size, value, turns in zip(sizes, seen, turned, strict=True) if turns]
        if found:
            size, value = min(found, key=lambda pair: pair[0])
            before, after = cases.raw(row[name], leaves), cases.raw(value, leaves)
            best.append((size, f"{one_line(name)} went from {before} to {after}"))
    if not best:
        return f"No single value seen here, put in place of its own, would make it {other}."
    return f"It would be {other} if {min(best)[1]}, and nothing else changed; values seen here were tried."


def _spread(column: Any) -> list[Any]:
    """Return values of a column, evenly by rank; of categories, each that occurs."""
    known = {value for value in column.tolist() if value is not None and value == value}
    ordered = sorted(known, key=str if column.dtype == object else None)
    places = np.linspace(0, len(ordered) - 1, min(len(ordered), MOST_VALUES)).round().astype(int)
    return [ordered[place] for place in places]


def _sizes(own: Any, seen: list[Any], column: Any) -> list[float]:
    """Return how far each value is from that of the case, in standard deviations; another category counts 1."""
    if column.dtype == object or own is None:
        return [1.0] * len(seen)
    spread = float(np.nanstd(column.astype(float))) or 1.0
    return [abs(value - own) / spread for value in seen]


def _changes(changes: Sequence[ValueChange]) -> str:
    return listed([f"{one_line(x.feature)} went from {x.before_says} to {x.after_says}" for x in changes], "and")
