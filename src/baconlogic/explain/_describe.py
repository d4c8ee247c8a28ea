"""The whole logic of a tree in plain sentences: what is needed, how much each part weighs, and where in raw units."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

from baconlogic.core.answers import Label
from baconlogic.core.forms import (
    EITHER,
    MOST_LAYERS,
    Form,
    Reach,
    form_of,
    least_above,
    points,
    points_needed,
    shape_of,
    totals,
    without_effect,
)
from baconlogic.core.levels import HARD_ROLES, NEUTRAL_ROLE, OR_ROLES
from baconlogic.core.subject import Result, Subject, subject
from baconlogic.core.tree import Tree
from baconlogic.core.words import listed, number, one_line, percent
from baconlogic.explain._case import answer
from baconlogic.explain._words import ALONE, Group, Item, LeafRole, Statement, band, leaf_roles, needed, statement, told

MOST_ITEMS = 8  # to be told one by one in the summary
EVEN = 1.25  # shares that differ by less than this factor are called equal in sentences
EVEN_SHARES = 0.005  # and by less than this in lists
EXACT = 1e-9  # what rounding may eat of a whole part
GRADED = "(a to b): counts nothing at a, in full at b, in proportion between."
HILL = "(a, b to c, d): counts nothing up to a, in full from b to c, nothing from d on, in proportion between."
NEARLY = "(about a to b): counts next to nothing at a, nearly in full at b."
PARTLY = "(p%): counts p% of the full."
IDLE = "Never changes the answer, only how sure it is"


@dataclass(frozen=True)
class FeatureRow(Result):
    """One feature where it is used: its role, and where and in which direction it speaks for yes."""

    feature: str
    role: str  # "mandatory", or "mandatory within group 1"
    where: str  # "above about 880"
    direction: str  # which values speak for yes: "the higher, the more"


@dataclass(frozen=True)
class Description(Result):
    """A tree in words: lines to read, and for programs a sentence for the whole, one a step, and rows of features."""

    summary: str
    sentences: tuple[str, ...]
    features: tuple[FeatureRow, ...]
    form: Form
    lines: tuple[str, ...]  # what it prints

    def __str__(self) -> str:
        return "\n".join(self.lines)


def describe(model: Any, *, threshold: float | None = None, label: Any = None) -> Description:
    """Say the whole logic of a tree in plain words.

    A card (at most two layers of gates) is told as the form that it has: a checklist, a scorecard, rules or graded
    gates (see `baconlogic.core.forms`), and a list. A deeper tree is told in numbered steps: gates of one family right
    above each other are one step, with the codes of all of them. "About" marks where a statement is half true.
    """
    asked = subject(model, threshold, label)
    alone, groups = told(asked.tree)
    form = form_of(asked.tree, asked.threshold)
    card = shape_of(asked.tree.root).layers <= MOST_LAYERS
    sentences = tuple(_sentence(group, whole=group is groups[0]) for group in groups)
    steps = [f"{i}. {sentence}" for i, sentence in enumerate(sentences, 1)]
    if not 0.0 <= asked.threshold < 1.0:
        summary, lines = _constant(asked), list[str]()
        steps = []
    elif alone is not None:
        summary, lines = f"{_opening(asked.yes)} {_when(alone, asked.threshold)}.", []
    else:
        listing = _listing(form, groups[0], asked.threshold, card=card)
        summary = f"{_opening(asked.yes)} {listing.sentence()}."
        lines = listing.lines(_opening(asked.yes)) if card else []
    lines = lines or ([summary] if card else [summary, *steps])
    return Description(summary, sentences, _rows(asked.tree, groups), form, tuple(lines))


def _opening(yes: Label) -> str:
    if isinstance(yes, bool):
        return "Yes when" if yes else "No when"
    if isinstance(yes, str):
        said = one_line(yes)
        return f"{said[:1].upper()}{said[1:]} when"
    return f"The answer is {yes} when"


def _constant(asked: Subject) -> str:
    """Say that a threshold outside the truths leaves nothing to decide."""
    always, reach = ("Always", "below 0") if asked.threshold < 0.0 else ("Never", "above 1")
    turn = number(asked.threshold)
    return f"{always} {answer(asked.yes)}, whatever the values: the decision turns at {turn}, and no truth is {reach}."


def _more_than(threshold: float, more: str = "more") -> str:
    return f"{more} than half true" if threshold == 0.5 else f"{more} than {percent(threshold)} true"


def _when(alone: Statement, threshold: float) -> str:
    """Say where a single statement is true enough: in raw units, where they have an order."""
    turning = alone.turning_at(threshold) if 0.0 < threshold < 1.0 else alone
    if turning is not alone:
        return turning.short("is")
    if alone.leaves[0].criterion.holds_truths and not alone.name:
        negated = alone.negated[0]
        return f"{alone.feature} is {_more_than(1.0 - threshold, 'less') if negated else _more_than(threshold)}"
    if alone.crisp:
        return alone.short()
    return f"it is {_more_than(threshold)} that {alone.short()}"


class _Told(NamedTuple):
    """What the whole needs of what: inputs with their points or shares, if these make a difference."""

    head: str
    items: list[str]
    marks: list[str]
    last: str  # the word before the last item
    plain: bool  # whether the items alone say it all, without the head
    notes: list[str]

    def sentence(self) -> str:
        """Say it in one sentence, what weighs least in short."""
        most = MOST_ITEMS + (len(self.items) == MOST_ITEMS + 1)  # one more takes no more room than to say so
        said = self._marked()[:most]
        if len(self.items) > most:
            said.append(f"{len(self.items) - most} more that weigh less")
        return _series(said, self.last) if self.plain else f"{self.head}: {_series(said, self.last)}"

    def _marked(self) -> list[str]:
        pairs = zip(self.items, self.marks, strict=True)
        return [_weighing(*pair) for pair in pairs] if self.marks else list(self.items)

    def lines(self, opening: str) -> list[str]:
        """Say it as a list; of two inputs that weigh the same, in one sentence."""
        if len(self.items) == 2 and not self.marks and not any(map(_is_long, self.items)):
            return [f"{opening} {self.sentence()}.", *self.notes]
        width = max(map(len, self.marks), default=0)
        marks = [f"{mark:>{width + 2}}  " for mark in self.marks] or ["- "] * len(self.items)
        return [f"{opening} {self.head}:", *map("".join, zip(marks, self.items, strict=True)), *self.notes]


def _listing(form: Form, whole: Group, threshold: float, *, card: bool) -> _Told:
    """Say what the whole needs; groups of a card are told where they are mentioned, else by reference."""
    shares, last = [item.share for item in whole.items], _last(whole)
    items = [_mention(item, inline=card) for item in whole.items]
    marks, idle, plain = list[str](), list[str](), False
    if form == "checklist":
        k, n = points_needed(threshold, len(items)), len(items)
        head = "all of these hold" if k == n else "any of these holds" if k == 1 else f"at least {k} of these {n} hold"
        last = "or" if k == 1 else "and"
    elif whole.level.role == NEUTRAL_ROLE:
        head, marks, idle = _points(whole, items, threshold)
    elif form == "rules":
        head, plain = whole.level.family.holds, len(items) == 2 and not any(map(_is_long, items))
    else:
        head = f"it is {_more_than(threshold)} that {whole.level.family.holds}"
        marks = _percents(shares) if _are_uneven(shares) else []
    notes = [GRADED] * _any(whole, lambda said: said.graded) + [HILL] * _any(whole, lambda said: said.hill)
    notes += [NEARLY] * _any(whole, lambda said: said.nearly) + [PARTLY] * _any(whole, lambda said: said.partly)
    notes = [*(notes if card else []), *idle]
    return _Told(head, items, marks, last, plain, notes)


def _points(whole: Group, items: list[str], threshold: float) -> tuple[str, list[str], list[str]]:
    """Say how many points are needed, how many each input has, and which never make a difference."""
    shares = [item.share for item in whole.items]
    own = points(shares)
    worth, total = (shares, 1.0) if own is None else ([float(each) for each in own], float(sum(own)))
    reach, turn = [_truths(item) for item in whole.items], threshold * total
    head = f"the points add up to {needed(turn, least_above(totals(worth, reach), turn), total)}"
    idle = [items[i] for i in without_effect(worth, reach, turn)]
    notes = [f"{IDLE}: {_series(idle, 'and')}."] if idle else []
    if own is None:
        return head, [percent(share) for share in shares], notes
    return f"{head} of {sum(own)}", [str(each) for each in own], notes


def _truths(item: Item) -> Reach:
    """Return truths among which all are that an input can have."""
    if isinstance(item.said, Statement):
        return item.said.truths
    return EITHER if _is_crisp(item) else ((0.0, 1.0),)


def _is_crisp(item: Item, *, surely: bool = False) -> bool:
    """Whether an input is true or not and nothing between, also where values are unknown; see `forms` on truths."""
    said = item.said
    if isinstance(said, Statement):
        partly = any(leaf.criterion.missing not in (None, 0.0, 1.0) for leaf in said.leaves)
        return not partly and (said.crisp or (said.leaves[0].criterion.holds_truths and not surely))
    uneven = _are_uneven([each.share for each in said.items])
    return said.level.role in HARD_ROLES and all(_is_crisp(each, surely=surely or uneven) for each in said.items)


def _are_uneven(shares: list[float]) -> bool:
    return max(shares) - min(shares) >= EVEN_SHARES


def _any(group: Group, what: Callable[[Statement], bool]) -> bool:
    below = [item.said for item in group.items]
    return any(what(said) if isinstance(said, Statement) else _any(said, what) for said in below)


def _mention(item: Item, *, inline: bool) -> str:
    """Say an input of the whole: a group with what is in it."""
    if isinstance(item.said, Statement):
        return item.said.ranged() if inline else item.said.short()
    group, no = item.said, "not " if item.negated else ""
    if not inline:
        return no + group.reference
    inner = _inner(group)
    if no:
        return f"not {group.called} ({inner})"
    return f"{group.called}: {inner}" if group.name else inner


def _inner(group: Group) -> str:
    """Say a group of statements in a few words: "a and b", "any of: ...", "most of a, b and c"."""
    statements = [each.said for each in group.items if isinstance(each.said, Statement)]
    said, shares, last = [each.ranged() for each in statements], [each.share for each in group.items], _last(group)
    hard = group.level.role in HARD_ROLES
    if all(text.startswith("not ") for text in said) and hard and last == "and":
        said = [text.removeprefix("not ") for text in said]
        return f"neither {said[0]} nor {said[1]}" if len(said) == 2 else f"none of {listed(said)}"
    if _are_uneven(shares) and not _is_crisp(Item(1.0, group)):
        said = [_weighing(text, mark) for text, mark in zip(said, _percents(shares), strict=True)]
    if len(said) == 1:  # the two sides of a band
        return said[0]
    many = group.level.family.many or "on balance"
    if any(_is_long(text) for text in said):
        return f"{many}: {_series(said, last)}"
    return listed(said, last) if hard else f"{many} {listed(said, last)}"


def _percents(shares: list[float]) -> list[str]:
    """Say shares in percent that add up to 100: whole ones, or finer where one would be nothing."""
    parts, whole = list[int](), 0
    for whole in (100, 1000, 10_000):
        parts = _apportioned(shares, whole)
        if min(parts) > 0:
            break
    pairs = zip(parts, shares, strict=True)
    return [f"{number(100.0 * part / whole)}%" if 0 < part < whole else percent(share) for part, share in pairs]


def _apportioned(shares: list[float], whole: int) -> list[int]:
    """Return whole numbers in proportion that add up to a whole; the largest remainders are rounded up."""
    exact = [whole * share for share in shares]
    parts = [math.floor(each + EXACT) for each in exact]
    by_remainder = sorted(range(len(parts)), key=lambda i: round(parts[i] - exact[i], 6))
    for i in by_remainder[: whole - sum(parts)]:
        parts[i] += 1
    return parts


def _weighing(text: str, mark: str) -> str:
    """Say what weighs how much: "7 for x", "x at 60%"."""
    return f"{text} at {mark}" if mark.endswith("%") else f"{mark} for {text}"


def _is_long(text: str) -> bool:
    return "," in text or " and " in text or " or " in text


def _last(group: Group) -> str:
    return "or" if group.level.role in OR_ROLES else "and"


def _series(items: list[str], last: str) -> str:
    """Write a list whose items may hold commas themselves."""
    if not any(map(_is_long, items)):
        return listed(items, last)
    return "; ".join([*items[:-1], f"{last} {items[-1]}"]) if len(items) > 1 else items[0]


def _sentence(group: Group, *, whole: bool) -> str:
    """Say one step: what it needs of what, with weights in words and exact codes."""
    shares = [item.share for item in group.items]
    even = max(shares) <= EVEN * min(shares)
    said = []
    for item in group.items:
        text = item.said.short() if isinstance(item.said, Statement) else item.said.reference
        weight = "" if even else f" [{_weight(item.share, shares)}]"
        said.append(f"{'not ' if item.negated else ''}{text}{weight}")
    codes = ", ".join(code if times == 1 else f"{code} x{times}" for code, times in Counter(group.codes).items())
    called = group.called if group.name or not whole else "overall"
    equal = ", equally" if even and len(said) > 1 else ""
    phrase = group.level.phrased(even=even)
    return f"{called[:1].upper()}{called[1:]}: {phrase}: {_series(said, _last(group))}{equal} ({codes})."


def _weight(share: float, shares: list[float]) -> str:
    """Say a share in percent, and in words when it stands out."""
    others = sorted(shares, reverse=True)
    if share == others[0] and share > EVEN * others[1]:
        return f"{percent(share)}, most weight"
    return f"{percent(share)}, little weight" if share < 0.5 / len(shares) else percent(share)


def _rows(tree: Tree, groups: list[Group]) -> tuple[FeatureRow, ...]:
    """Return a row for each leaf, heaviest first; the two sides of a band are one row."""
    kept: list[tuple[LeafRole, Statement]] = []
    for role in sorted(leaf_roles(tree), key=lambda role: -role.weight):
        own = statement(role.leaf, role.negated)
        for i, (before, said) in enumerate(kept):
            if (before.scope, before.own) == (role.scope, role.own):
                joined = band(said, own, (before.weight, role.weight), role.own)
                if joined:
                    kept[i] = before, joined
                    break
        else:
            kept.append((role, own))
    scopes = {group.position: group for group in groups}
    return tuple(
        FeatureRow(role.leaf.feature, _role(role, scopes.get(role.scope)), said.where(), said.direction())
        for role, said in kept
    )


def _role(role: LeafRole, scope: Group | None) -> str:
    """Say a role, and within what when it is not the whole."""
    if role.own == ALONE or role.whole or scope is None:
        return role.own
    return f"{role.own} within {'' if role.own == scope.level.role else 'not '}{scope.called}"
