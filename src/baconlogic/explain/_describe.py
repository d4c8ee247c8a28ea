"""The whole logic of a tree in plain sentences: what is needed, how much each part weighs, and where in raw units."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

from baconlogic.core.answers import Label
from baconlogic.core.levels import AND_ROLES, NEUTRAL_ROLE, OR_ROLES
from baconlogic.core.subject import Result, Subject, subject
from baconlogic.core.tree import Tree
from baconlogic.core.words import aligned, listed, number, one_line, percent
from baconlogic.explain._case import answer
from baconlogic.explain._words import ALONE, Group, Item, LeafRole, Statement, band, leaf_roles, statement, told

MOST_ITEMS = 8  # to be told one by one in the summary
MOST_INNER = 4  # statements of a group to be told where it is mentioned
EVEN = 1.25  # shares that differ by less than this factor are called equal


@dataclass(frozen=True)
class FeatureRow(Result):
    """One feature where it is used: its role, and where and in which direction it speaks for yes."""

    feature: str
    role: str  # "mandatory", or "mandatory within group 1"
    where: str  # "above about 880"
    direction: str  # which values speak for yes: "the higher, the more"


@dataclass(frozen=True)
class Description(Result):
    """A tree in words: one sentence for the whole, one for each step, and a row for each use of a feature."""

    summary: str
    sentences: tuple[str, ...]
    features: tuple[FeatureRow, ...]

    def __str__(self) -> str:
        lines = [[one_line(row.feature), row.role, row.direction, row.where] for row in self.features]
        table = aligned(["feature", "role", "speaks for yes", "more than half true"], lines, left=4)
        steps = ["", *(f"{i}. {sentence}" for i, sentence in enumerate(self.sentences, 1))] if self.sentences else []
        return "\n".join([self.summary, *steps, "", table])


def describe(model: Any, *, threshold: float | None = None, label: Any = None) -> Description:
    """Say the whole logic of a tree in plain sentences.

    "About" marks where a statement is half true: around it truth changes gradually. Gates of one family right above
    each other are told as one step, with the codes of all of them.
    """
    asked = subject(model, threshold, label)
    alone, groups = told(asked.tree)
    condition = _condition(groups[0], asked.threshold) if alone is None else _when(alone, asked.threshold)
    sentences = tuple(_sentence(group, whole=group is groups[0]) for group in groups)
    return Description(_summary(asked, condition), sentences, _rows(asked.tree, groups))


def _opening(yes: Label) -> str:
    if isinstance(yes, bool):
        return "Yes when" if yes else "No when"
    if isinstance(yes, str):
        said = one_line(yes)
        return f"{said[:1].upper()}{said[1:]} when"
    return f"The answer is {yes} when"


def _summary(asked: Subject, condition: str) -> str:
    """Say the whole in one sentence; a threshold outside the truths is all there is to say."""
    if 0.0 <= asked.threshold < 1.0:
        return f"{_opening(asked.yes)} {condition}."
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
    return f"it is {_more_than(threshold)} that {alone.short()}"


def _condition(whole: Group, threshold: float) -> str:
    """Say what the whole needs; groups are told where they are mentioned when they are small, else by reference."""
    most = MOST_ITEMS + (len(whole.items) == MOST_ITEMS + 1)  # one more takes no more room than to say so
    shown, rest = whole.items[:most], whole.items[most:]
    inline = len(shown) <= MOST_ITEMS // 2
    said = [_mention(item, inline=inline) for item in shown]
    referred = any(isinstance(item.said, Group) and not (inline and _is_small(item.said)) for item in shown)
    below = "; groups are told below" if referred else ""
    if whole.level.role == NEUTRAL_ROLE:
        said = [f"{text} counts {percent(item.share)}" for text, item in zip(said, shown, strict=True)]
        if rest:
            said.append(f"{len(rest)} more count {percent(sum(item.share for item in rest))} together")
        points = f"the points add up to more than {percent(max(threshold, 0.0))}: {_series(said, 'and')}"
        return f"{points}; each counts in proportion to how true it is{below}"
    if rest:
        said.append(f"{len(rest)} more that weigh less")
    return f"it is {_more_than(threshold)} that {whole.level.family.holds}: {_series(said, _last(whole))}{below}"


def _mention(item: Item, *, inline: bool) -> str:
    """Say an input of the whole: a small group with what is in it."""
    if isinstance(item.said, Statement):
        return item.said.short()
    group, no = item.said, "not " if item.negated else ""
    if not (inline and _is_small(group)):
        return no + group.reference
    said = [each.said.short() for each in group.items if isinstance(each.said, Statement)]
    if group.level.role == NEUTRAL_ROLE:
        said = [f"{text} ({percent(each.share)})" for text, each in zip(said, group.items, strict=True)]
        inner = f"on balance {listed(said, 'and')}"
    else:
        inner = f"{group.level.family.many} {listed(said, _last(group))}"
    return f"{no}{group.called} ({inner})" if group.name else inner


def _is_small(group: Group) -> bool:
    return len(group.items) <= MOST_INNER and all(isinstance(each.said, Statement) for each in group.items)


def _last(group: Group) -> str:
    return "or" if group.level.role in OR_ROLES else "and"


def _series(items: list[str], last: str) -> str:
    """Write a list whose items may hold commas themselves."""
    if not any("," in item or " and " in item or " or " in item for item in items):
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
    return f"{called[:1].upper()}{called[1:]}: {group.level.phrase}: {_series(said, _last(group))}{equal} ({codes})."


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
            if (before.scope, before.own) == (role.scope, role.own) and role.own != NEUTRAL_ROLE:
                joined = band(said, own, both=role.own in AND_ROLES)
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
