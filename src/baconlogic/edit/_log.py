"""EditLog: edits one after the other, each with its reason and what it changed; to undo, redo, replay and keep."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, fields, replace
from typing import Any, Self

import numpy as np

from baconlogic import metrics
from baconlogic.core import notation
from baconlogic.core.columns import Columns
from baconlogic.core.criteria import Criterion
from baconlogic.core.nodes import Gate, Leaf, Node
from baconlogic.core.subject import Result, Subject, subject
from baconlogic.core.tree import Tree
from baconlogic.core.words import number
from baconlogic.edit._parameters import negate, rename, reweight, set_andness, set_criterion, snap
from baconlogic.edit._prune import prune
from baconlogic.edit._refit import refit
from baconlogic.edit._regroup import regroup
from baconlogic.edit._simplify import simplify
from baconlogic.edit._structure import add, remove

SHOWN = 10  # rows, or items of a list, that a text names
_EDITS = (add, negate, prune, refit, regroup, remove, rename, reweight, set_andness, set_criterion, simplify, snap)
# Every edit that a log can record, by name; each takes a tree first and returns a tree.
OPERATIONS: dict[str, Callable[..., Tree]] = {operation.__name__: operation for operation in _EDITS}
DATA = ("X", "y")  # arguments that stand for the log's own data


@dataclass(frozen=True)
class Change(Result):
    """The difference between two trees over some rows; a decision is yes where the truth is above the threshold."""

    largest: float  # change of truth
    mean: float  # absolute change of truth
    changed: tuple[int, ...]  # the rows whose decision changes, by number
    rows: int
    accuracy_before: float | None  # where labels are known
    accuracy_after: float | None
    leaves_before: int
    leaves_after: int
    gates_before: int
    gates_after: int

    @property
    def share(self) -> float:
        """The share of decisions that change."""
        return len(self.changed) / self.rows if self.rows else 0.0

    def to_dict(self) -> dict[str, Any]:
        """Return the change as plain data."""
        return super().to_dict() | {"share": self.share}

    def __str__(self) -> str:
        said = [
            f"no truth changes by more than {_rounded_up(self.largest)}" if self.largest else "no truth changes",
            f"{len(self.changed) or 'none'} of {self.rows} decisions change{_numbered(self.changed)}",
        ]
        if self.accuracy_before is not None and self.accuracy_after is not None:
            said.append(_step("accuracy", f"{self.accuracy_before:.3f}", f"{self.accuracy_after:.3f}"))
        leaves = _step("leaves", str(self.leaves_before), str(self.leaves_after))
        return "; ".join([*said, leaves, _step("gates", str(self.gates_before), str(self.gates_after))])


def change(
    before: Any, after: Tree, X: Any, y: Any = None, *, threshold: float | None = None, label: Any = None
) -> Change:
    """Return what changes from one tree to another over the rows X; with labels y, also how accuracy does.

    `before` may be a Decision or a fitted classifier: its threshold counts, for both trees.
    """
    asked = subject(before, threshold, label)
    return _change(asked, after, asked.table(X), y)


def _change(asked: Subject, after: Tree, table: Columns, y: Any) -> Change:
    """Return what changes from the tree that is asked about to another."""
    first, second = (replace(asked, tree=tree).truths(table) for tree in (asked.tree, after))
    decided = asked.decides(first), asked.decides(second)
    accuracy: list[float | None] = [None, None]
    if y is not None and table.rows:
        positive = asked.positive(y, table.rows)
        accuracy = [metrics.accuracy(yes, positive) for yes in decided]
    difference = np.abs(second - first)
    (leaves, gates), (leaves_after, gates_after) = count(asked.tree), count(after)
    largest, mean = float(np.max(difference, initial=0.0)), float(np.mean(difference)) if table.rows else 0.0
    changed = tuple(np.flatnonzero(decided[0] != decided[1]).tolist())
    counts = leaves, leaves_after, gates, gates_after
    return Change(largest, mean, changed, table.rows, accuracy[0], accuracy[1], *counts)


def count(tree: Tree) -> tuple[int, int]:
    """Return the number of leaves and of gates."""
    nodes = [node for _, node in tree.walk()]
    return sum(isinstance(node, Leaf) for node in nodes), sum(isinstance(node, Gate) for node in nodes)


def _rounded_up(value: float) -> str:
    """Write a bound with two digits, rounded so that it stays a bound."""
    digits = 1 - math.floor(math.log10(value))
    if digits > 300:
        return f"{value:.2g}"
    shown = math.ceil(value * 10.0**digits) / 10.0**digits
    return number(shown) if shown >= 1e-4 else f"{shown:.1e}"


def _numbered(rows: tuple[int, ...]) -> str:
    more = f" and {len(rows) - SHOWN} more" if len(rows) > SHOWN else ""
    return f" (row{'s' if len(rows) > 1 else ''} {', '.join(map(str, rows[:SHOWN]))}{more})" if rows else ""


def _step(what: str, before: str, after: str) -> str:
    return f"{what} {before}" if before == after else f"{what} {before} -> {after}"


@dataclass(frozen=True)
class Entry(Result):
    """One edit: what was done, why, and what it changed over the log's rows (None when it has none, or not all)."""

    operation: str
    arguments: Mapping[str, Any]  # plain data, as `to_dict` of the log writes it
    reason: str
    before: Tree
    after: Tree
    change: Change | None = None

    def __str__(self) -> str:
        said = ", ".join(f"{name}={_shown(value)}" for name, value in self.arguments.items())
        why = f": {self.reason}" if self.reason else ""
        effect = "" if self.change is None else f"\n   {self.change}"
        return f"{self.operation}({said}){why}{effect}"


class EditLog:
    """A protocol of edits. `tree` is the tree as it is now; X, and y, let each entry say what it changed."""

    def __init__(
        self, model: Any, X: Any = None, y: Any = None, *, threshold: float | None = None, label: Any = None
    ) -> None:
        self._start(subject(model, threshold, label), X, y)

    def _start(self, asked: Subject, X: Any, y: Any) -> None:
        if X is None and y is not None:
            raise ValueError("labels y need their rows X")
        self._asked, self.X, self.y = asked, X, y
        self._all: list[Entry] = []
        self._done = 0

    @property
    def original(self) -> Tree:
        """The tree before any edit."""
        return self._asked.tree

    @property
    def tree(self) -> Tree:
        """The tree as it is now."""
        return self._all[self._done - 1].after if self._done else self.original

    @property
    def entries(self) -> tuple[Entry, ...]:
        """The edits that are in effect, oldest first."""
        return tuple(self._all[: self._done])

    def apply(self, operation: str | Callable[..., Tree], *args: Any, reason: str = "", **kwargs: Any) -> Tree:
        """Run an edit, by name or as a function of `baconlogic.edit`, record it, and return the new tree.

        An argument may be the log's own X or y; any other table is refused, because it could not be replayed.
        """
        if not isinstance(reason, str):
            raise TypeError(f"a reason is text, got {type(reason).__name__}")
        name = _operation_name(operation)
        bound = inspect.signature(OPERATIONS[name]).bind(self.tree, *args, **kwargs).arguments
        arguments = {key: self._write(value, key) for key, value in list(bound.items())[1:]}
        if "X" in arguments and "threshold" in inspect.signature(OPERATIONS[name]).parameters:
            arguments.setdefault("threshold", self._asked.threshold)
            if self._asked.yes is not True:
                arguments.setdefault("label", self._asked.yes)
        before = self.tree
        after = self._run(name, arguments, before)
        self._all[self._done :] = [Entry(name, arguments, reason, before, after, self._measure(before, after))]
        self._done += 1
        return after

    def undo(self) -> Tree:
        """Take the last edit back and return the tree before it."""
        if not self._done:
            raise ValueError("there is nothing to undo")
        self._done -= 1
        return self.tree

    def redo(self) -> Tree:
        """Bring the edit back that was undone last, and return the tree after it."""
        if self._done == len(self._all):
            raise ValueError("there is nothing to redo")
        self._done += 1
        return self.tree

    def replay(self, tree: Tree | None = None) -> Tree:
        """Return what the recorded edits make of a tree, by default of the original."""
        found = self.original if tree is None else tree
        for entry in self.entries:
            found = self._run(entry.operation, entry.arguments, found)
        return found

    def change(self) -> Change | None:
        """Return what all edits together have changed; None without rows, or where they lack a column."""
        return self._measure(self.original, self.tree)

    def _run(self, name: str, arguments: Mapping[str, Any], tree: Tree) -> Tree:
        return OPERATIONS[name](tree, **{key: self._read(value) for key, value in arguments.items()})

    def _measure(self, before: Tree, after: Tree) -> Change | None:
        if self.X is None:
            return None
        table = self._asked.table(self.X)
        if not {*before.features, *after.features} <= set(table.names):  # columns were renamed, or are still to come
            return None
        return _change(replace(self._asked, tree=before), after, table, self.y)

    def _named(self) -> Any:
        """Return the rows with the names of their columns, which an array takes from the decision."""
        records = isinstance(self.X, list) and all(isinstance(row, Mapping) for row in self.X)
        if not self._asked.columns or not isinstance(self.X, np.ndarray | list) or records:
            return self.X
        array = self.X if isinstance(self.X, np.ndarray) else np.array(self.X, dtype=object)
        return dict(zip(self._asked.columns, array.T, strict=True))

    def _write(self, value: Any, key: str) -> Any:
        """Return an argument as plain data."""
        if key in DATA and value is not None:
            if value is not getattr(self, key):
                give = f"give it to EditLog(..., {key}=...) and pass log.{key}"
                raise TypeError(f"a log replays only its own {key}; {give}")
            return {"data": key}
        return _plain(value, key)

    def _read(self, value: Any) -> Any:
        """Return an argument from plain data."""
        if not isinstance(value, Mapping) or "data" not in value:
            return _from_plain(value)
        key = value["data"]
        if getattr(self, key) is None:
            raise ValueError(f"this edit went by the log's {key}; give it, e.g. EditLog.from_dict(d, X=X, y=y)")
        return self._named() if key == "X" else self.y

    def __str__(self) -> str:
        lines = [f"{i}. {entry}" for i, entry in enumerate(self.entries, 1)] or ["no edits"]
        altogether = self.change() if self._done > 1 else None
        return "\n".join([*lines, f"altogether: {altogether}"] if altogether else lines)

    def __repr__(self) -> str:
        return f"EditLog({self._done} edits of {self.original!r})"

    def to_dict(self) -> dict[str, Any]:
        """Return the log as plain data, ready for JSON; its rows are not in it."""
        asked = {name: getattr(self._asked, name) for name in ("threshold", "yes", "no")}
        asked |= {name: list(getattr(self._asked, name)) for name in ("columns", "classes")}
        return {
            "original": self.original.to_dict(),
            **asked,
            "done": self._done,
            "entries": [
                {
                    "operation": entry.operation,
                    "arguments": dict(entry.arguments),
                    "reason": entry.reason,
                    "after": entry.after.to_dict(),
                    "change": entry.change and asdict(entry.change) | {"changed": [*entry.change.changed]},
                }
                for entry in self._all
            ],
        }

    @classmethod
    def from_dict(cls, document: Mapping[str, Any], X: Any = None, y: Any = None) -> Self:
        """Return the log of a document; with rows, what each edit changes is measured on them."""
        try:
            said = {name: document[name] for name in ("threshold", "yes", "no")}
            said |= {name: tuple(document[name]) for name in ("columns", "classes")}
            asked = Subject(tree=Tree.from_dict(document["original"]), **said)
            log = cls.__new__(cls)
            log._start(asked, X, y)
            tree = asked.tree
            for entry in document["entries"]:
                log._all.append(log._entry(entry, tree))
                tree = log._all[-1].after
            log._done = min(max(int(document["done"]), 0), len(log._all))
        except (KeyError, TypeError, AttributeError) as problem:
            raise ValueError(f"this is not what EditLog.to_dict() gave: {problem!r}") from None
        return log

    def _entry(self, said: Mapping[str, Any], before: Tree) -> Entry:
        name = _operation_name(said["operation"])
        after = Tree.from_dict(said["after"])
        measured = self._measure(before, after)
        if self.X is None and said["change"] is not None:
            known = {each.name: said["change"][each.name] for each in fields(Change)}
            measured = Change(**known | {"changed": tuple(known["changed"])})
        return Entry(name, dict(said["arguments"]), str(said["reason"]), before, after, measured)


def _operation_name(operation: Any) -> str:
    """Return the name under which an edit is recorded."""
    if isinstance(operation, str) and operation in OPERATIONS:
        return operation
    found = [name for name, known in OPERATIONS.items() if known is operation]
    if not found:
        said = repr(operation) if isinstance(operation, str) else getattr(operation, "__name__", repr(operation))
        raise ValueError(f"{said} cannot be recorded and replayed; the operations are {', '.join(OPERATIONS)}")
    return found[0]


def _plain(value: Any, key: str) -> Any:
    """Return an argument as plain data: parts as formulas, criteria as the text in their brackets."""
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, str | bool | int | float):
        return value
    if isinstance(value, Tree | Node):
        return {"node": notation.formula(value.root if isinstance(value, Tree) else value)}
    if isinstance(value, Criterion):
        return {"criterion": notation.formula(Leaf("x", value))}
    if isinstance(value, tuple):
        return {"tuple": [_plain(item, key) for item in value]}
    if isinstance(value, list | np.ndarray):
        return [_plain(item, key) for item in value]
    if isinstance(value, Mapping) and all(isinstance(each, str) for each in value):
        return {"mapping": {each: _plain(item, key) for each, item in value.items()}}
    raise TypeError(f"{key}={value!r:.60} cannot be written as plain data, so the edit could not be replayed")


def _from_plain(value: Any) -> Any:
    """Return what `_plain` wrote."""
    if isinstance(value, list):
        return [_from_plain(item) for item in value]
    if not isinstance(value, Mapping):
        return value
    (kind, content), *_ = value.items()
    return _READ[kind](content)


def _criterion(formula: str) -> Criterion:
    leaf = notation.parse(formula)
    assert isinstance(leaf, Leaf)  # noqa: S101
    return leaf.criterion


_READ: dict[str, Callable[[Any], Any]] = {
    "node": notation.parse,
    "criterion": _criterion,
    "tuple": lambda found: tuple(_from_plain(found)),
    "mapping": lambda found: {key: _from_plain(item) for key, item in found.items()},
}


def _shown(value: Any) -> str:
    """Write an argument for a protocol; of a long list, how it begins."""
    if isinstance(value, list):
        more = f", ... {len(value)} in all" if len(value) > SHOWN else ""
        return f"[{', '.join(map(_shown, value[:SHOWN]))}{more}]"
    if not isinstance(value, Mapping):
        return number(value) if isinstance(value, float) else repr(value)
    (kind, content), *_ = value.items()
    if kind == "criterion":
        return f"[{notation.in_brackets(_criterion(content))}]"
    if kind == "mapping":
        return f"{{{', '.join(f'{key!r}: {_shown(item)}' for key, item in content.items())}}}"
    return repr(_from_plain(value)) if kind == "tuple" else f"the log's {content}" if kind == "data" else str(content)
