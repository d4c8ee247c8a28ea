"""What a model cannot tell, read from the rows: few rows, values never seen, missing ones, columns that go together."""

from __future__ import annotations

import contextlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

from baconlogic import metrics
from baconlogic.core.subject import leaves_by_feature
from baconlogic.core.words import listed, number, one_line, percent
from baconlogic.explain import _case as cases
from baconlogic.report._figures import rows_said, some, told_by_fit
from baconlogic.report._material import Material

FEW = 30  # rows of a class, below which shares of them are called uncertain
RARE = 10  # rows of a category
NEAR = 0.05  # truths this near to the threshold
NAMED = 12  # columns listed by name
ALIKE = 0.9  # correlation above which two columns are told to go together
MOST_COLUMNS = 200  # that are compared
FEWEST = 10  # rows with both values, below which two columns are not compared


def seen(m: Material) -> list[dict[str, str]]:
    """Return the values seen of each feature in use, and what a missing one is taken as."""
    found = []
    for name in m.asked.tree.features:
        column, leaves = m.rows.used[name], m.rows.leaves[name]
        gone = _missing(column)
        if column.dtype == object:
            kinds = {value for value in column.tolist() if value is not None}
            low, middle, high = "-", f"{len(kinds)} categories", "-"
        elif gone.all():
            low = middle = high = "-"
        else:
            quantiles = np.quantile(column[~gone].astype(float), (0.0, 0.5, 1.0), method="nearest")
            low, middle, high = (cases.raw(end, leaves) for end in quantiles.tolist())
        taken = dict.fromkeys(
            "not accepted" if leaf.criterion.missing is None else f"{percent(leaf.criterion.missing)} true"
            for leaf in leaves
        )
        share = percent(float(gone.mean())) if gone.any() else "none"
        ends = {"low": low, "middle": middle, "high": high}
        found.append({"feature": one_line(name), **ends, "missing": share, "taken": listed(list(taken), "and")})
    return found


def _missing(column: NDArray[Any]) -> NDArray[np.bool_]:
    if column.dtype == object:
        return np.array([value is None for value in column.tolist()], dtype=bool)
    return np.asarray(np.isnan(column.astype(float)))


def told(m: Material) -> list[str]:
    """Say what the rows leave open, one sentence each."""
    said = [*_few(m), *_near(m), *_gone(m), *_rare(m), *_unused(m)]
    if told_by_fit(m).get("logic") is False:
        said.insert(
            0, "No logic was found that beats the base rate on rows held out: the tree does not help to decide."
        )
    pairs = _alike(m)
    if pairs:
        said.append(
            f"Columns that go together can stand in for each other: {'; '.join(pairs)}. The tree uses the first of "
            "each pair; that does not make the other less of a cause."
        )
    said.append(
        f"The ranges below are those of the {rows_said(m)} given. Beyond them the tree still answers, but no "
        "row here checks it there."
    )
    said.append(
        f"The tree says which values go with {m.yes} in rows like these. It does not say that changing a value would "
        "change the outcome: what would turn a case above would turn the model's answer."
    )
    return said


def _few(m: Material) -> list[str]:
    if m.positive is None:
        return ["No labels were given, so nothing here says how often the answers are right."]
    yes = int(m.positive.sum())
    no = len(m.positive) - yes
    if not yes or not no:
        only = m.yes if yes else m.no
        every = "The only row is" if m.rows.count == 1 else f"All {m.rows.count} rows are"
        return [f"{every} {only}: nothing can be said about telling the two apart."]
    fewer, name = (yes, m.yes) if yes <= no else (no, m.no)
    if fewer < FEW:
        bound = metrics.share(fewer, fewer)
        reach = f"even if all {fewer} were decided rightly, the true share could be as low as {percent(bound.low)}"
        return [f"Only {fewer} of {m.rows.count} rows are {name}: {reach}."]
    rare = f" ({percent(fewer / m.rows.count)})" if fewer < 0.1 * m.rows.count else ""
    return [
        f"{fewer} of {m.rows.count} rows are {name}{rare}. Where their share is another, precision and probabilities "
        "change, even if the tree does not."
    ]


def _near(m: Material) -> list[str]:
    close = float(np.mean(np.abs(m.truths - m.asked.threshold) < NEAR))
    if close == 0.0:
        return []
    turns = f"within {NEAR:g} of the threshold {number(m.asked.threshold)}"
    return [f"{percent(close)} of rows have a truth {turns}: a small error in a measurement may turn them."]


def _gone(m: Material) -> list[str]:
    shares = {name: float(_missing(m.rows.used[name]).mean()) for name in m.asked.tree.features}
    gone = [f"{one_line(name)} ({percent(share)})" for name, share in shares.items() if share > 0.0]
    said = [f"Missing values are taken as the criteria state; missing here: {listed(gone, 'and')}."] if gone else []
    never = [one_line(n) for n, share in shares.items() if not share and cases.is_stated(m.rows.leaves[n])]
    if never:
        said.append(f"No row lacks {some(never, 'or', NAMED)}, so how well the tree does without them was not seen.")
    refused = [one_line(name) for name in shares if not cases.is_stated(m.rows.leaves[name])]
    if refused:
        said.append(f"It needs a value of {some(refused, 'and', NAMED)}: a case without one has no answer.")
    return said


def _rare(m: Material) -> list[str]:
    said = []
    for name, leaves in leaves_by_feature(m.asked.tree).items():
        categories = [category for leaf in leaves for category, _ in leaf.criterion.truths]
        if not categories:
            continue
        values = m.rows.used[name].tolist()
        counted = {category: values.count(category) for category in categories}
        few = [f"{one_line(str(category))} ({times})" for category, times in counted.items() if times < RARE]
        if few:
            said.append(f"Of {one_line(name)}, fewer than {RARE} rows back each of these: {some(few, 'and', NAMED)}.")
    return said


def _unused(m: Material) -> list[str]:
    used = set(m.asked.tree.features)
    others = [one_line(str(name)) for name in m.rows.table.names if name not in used]
    if not others:
        return []
    if len(others) == 1:
        return [f"1 column is not used, so the answer is the same whatever it says: {others[0]}."]
    named = some(others, "and", NAMED)
    return [f"{len(others)} columns are not used, so the answer is the same whatever they say: {named}."]


def _alike(m: Material) -> list[str]:
    """Return the columns that go most with each feature in use, the closest pairs first."""
    places = slice(None) if m.rows.sample is None else m.rows.sample
    columns: dict[str, NDArray[np.float64]] = {}
    for name in m.rows.table.names[:MOST_COLUMNS]:
        with contextlib.suppress(ValueError, TypeError):
            columns[name] = m.rows.table.numbers(name)[places]
    used = [name for name in m.asked.tree.features if name in columns]
    pairs = [(name, other) for name in used for other in columns if other not in used]
    found = [(_correlation(columns[name], columns[other]), name, other) for name, other in pairs]
    alike = sorted((each for each in found if abs(each[0]) >= ALIKE), key=lambda each: -abs(each[0]))
    return [f"{one_line(name)} and {one_line(str(other))} (correlation {r:.2f})" for r, name, other in alike[:6]]


def _correlation(one: NDArray[np.float64], other: NDArray[np.float64]) -> float:
    """Return the correlation over the rows that have both values; 0 where it is not defined."""
    both = np.isfinite(one) & np.isfinite(other)
    if both.sum() < FEWEST:
        return 0.0
    a, b = one[both], other[both]
    if a.min() == a.max() or b.min() == b.max():
        return 0.0
    return float(np.corrcoef(a / np.abs(a).max(), b / np.abs(b).max())[0, 1])  # squares of large values would overflow
