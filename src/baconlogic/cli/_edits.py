"""What edits are called at the command line, and what they changed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from baconlogic.cli import _print as printing
from baconlogic.core.words import number, one_line, percent

if TYPE_CHECKING:
    from baconlogic.edit import EditLog
    from baconlogic.edit._log import Entry


def protocol(log: EditLog) -> str:
    """Return the edits in their order, each with its reason and what it changed over the rows."""
    lines = []
    for i, entry in enumerate(log.entries, 1):
        lines.append(one_line(f"{i}. {said(entry)}" + (f": {entry.reason}" if entry.reason else "")))
        lines += [] if entry.change is None else [f"   {entry.change}"]
    altogether = log.change() if len(log.entries) > 1 else None
    return "\n".join([*lines, f"altogether: {altogether}"] if altogether else lines)


def said(entry: Entry) -> str:
    """Return what an edit did, in words."""
    given = entry.arguments
    if entry.operation == "prune":
        return _pruned(given)
    if entry.operation == "simplify":
        return f"simplified within {number(given['tolerance'])}" if given.get("tolerance") else "simplified exactly"
    if entry.operation == "snap":
        return "every andness moved to the nearest named level"
    part = _part(entry)
    if entry.operation == "set_andness":
        return f"andness of {part} set to {given['andness']}"
    if entry.operation == "reweight":
        return f"weights in {part} set to {', '.join(map(percent, given['weights']))}"
    if entry.operation == "set_criterion":
        return f"criterion of {part} set to {_criterion(given['criterion'])}"
    if entry.operation == "rename":
        return f"{part} called {given['name']!r}"
    return f"{part} {'turned into its opposite' if entry.operation == 'negate' else 'removed'}"


def _pruned(given: Any) -> str:
    if given.get("keep") is not None:
        return f"pruned to {given['keep']} {'leaf' if given['keep'] == 1 else 'leaves'}"
    if given.get("features") is not None:
        return f"pruned of {', '.join(given['features'])}"
    return f"pruned as far as accuracy falls by at most {number(given['tolerance'])}"


def _part(entry: Entry) -> str:
    """Return the part that an edit is about: its name or column, and its path."""
    path = tuple(entry.arguments["what"]["tuple"])
    node = entry.before[path]
    name, where = node.name or getattr(node, "feature", None), printing.written(path)
    return f"{name} ({where})" if name else where


def _criterion(given: Any) -> str:
    """Return a criterion as the text in its brackets."""
    if isinstance(given, str):
        return given
    return str(given["criterion"]).removeprefix("x[").removesuffix("]")
