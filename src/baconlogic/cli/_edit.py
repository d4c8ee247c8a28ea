"""The command edit: change parts of a model; and how a revised model is written and what is said of it."""

from __future__ import annotations

import difflib
import json
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from typer import Option

from baconlogic import Decision, Gate, Leaf, Tree
from baconlogic.cli import _models, _options, _overwrite, _print, _tables
from baconlogic.cli._options import Text, Texts
from baconlogic.cli._run import MisusedError, RefusedError
from baconlogic.core.files import write_whole
from baconlogic.core.words import number, one_line, percent

if TYPE_CHECKING:
    from baconlogic.edit import EditLog
    from baconlogic.edit._log import Entry


def edit(
    *,
    model: _options.Model,
    criterion: Annotated[
        Texts, Option(metavar="PART=CRITERION", help="e.g. 'radius=0 at 10, 1 at 20'; may be repeated.")
    ] = None,
    andness: Annotated[Texts, Option(metavar="PART=VALUE", help="A number or a code such as HC.")] = None,
    weight: Annotated[
        Texts, Option(metavar="PART=SHARE", help="Its share in its gate, or all of a gate's: 0=0.3,0.7.")
    ] = None,
    negate: Annotated[Texts, Option(metavar="PART", help="Turn into its opposite.")] = None,
    rename: Annotated[Texts, Option(metavar="PART=NAME", help="Give a part a name to read.")] = None,
    remove: Annotated[Texts, Option(metavar="PART", help="Take a part away.")] = None,
    snap: Annotated[bool, Option("--snap", help="Move every andness to the nearest named level.")] = False,
    threshold: Annotated[float | None, Option(help="The truth above which the decision is yes.")] = None,
    reason: Annotated[str, Option(help="Why; kept in the log.")] = "",
    log: Annotated[Path | None, Option(help="Write the protocol of the edits as JSON.")] = None,
    data: _options.Rows = None,
    target: _options.MaybeTarget = None,
    output: _options.NewModel = None,
    in_place: _options.InPlace = False,
    force: _options.Force = False,
    label: _options.Label = None,
    form: _options.Format = None,
    missing: _options.Missing = None,
    as_json: _options.Json = False,
) -> None:
    """Change parts of a model: andness, weight, criterion, threshold and more; --data says what that does.

    A PART is a column, a name, or a path such as 0.1 (see show --parts); root is the whole. Paths are those of the
    model as it is.
    """
    to = _overwrite.destination(output, in_place, model, data, force=force)
    _overwrite.check(log, "log", model, data, to, force=force)
    if not any((criterion, andness, weight, negate, rename, remove, snap)) and threshold is None:
        raise MisusedError("say what to change, e.g. --andness root=HC, --weight radius=0.7 or --threshold 0.4")
    revision = Revision(model, data, target=target, label=label, form=form, missing=missing)
    edits, tree = revision.log, revision.log.tree
    if snap:
        edits.apply("snap", reason=reason)
    for text in criterion or ():
        where, given = _options.pair(text, "--criterion", "PART=CRITERION")
        path = _path(tree, where)
        edits.apply("set_criterion", path, _criterion(tree[path], given), reason=reason)
    for text in andness or ():
        where, given = _options.pair(text, "--andness", "PART=VALUE", last=True)
        edits.apply("set_andness", _path(tree, where), _options.value(given), reason=reason)
    for text in weight or ():
        where, given = _options.pair(text, "--weight", "PART=SHARE", last=True)
        edits.apply("reweight", *_weights(edits.tree, _path(tree, where), where, given), reason=reason)
    for text in rename or ():
        where, given = _options.pair(text, "--rename", "PART=NAME", last=True)
        edits.apply("rename", _path(tree, where), given, reason=reason)
    _negate_and_remove(edits, negate or [], remove or [], reason)
    revision.finish(to, as_json, threshold=threshold, log=log)


def _path(tree: Tree, text: str) -> tuple[int, ...]:
    """Return the path of the part that a text addresses: root, a path such as 0.1, else a name or feature."""
    steps = [] if text in ("root", ".") else text.split(".")
    by_path = all(step.isascii() and step.isdigit() for step in steps)
    try:
        return tree.find(tuple(map(int, steps)) if by_path else text)
    except LookupError:
        pass
    named = [(path, {node.name, getattr(node, "feature", "")} - {""}) for path, node in tree.walk()]
    found = [path for path, names in named if text in names]
    if found:
        paths = ", ".join(map(_print.written, found))
        raise RefusedError(f"{text!r} stands for {len(found)} parts; say which by its path: {paths} (see show --parts)")
    close = difflib.get_close_matches(text, sorted({name for _, names in named for name in names}), n=1)
    hint = f"did you mean {close[0]!r}? " if close else ""
    raise RefusedError(f"there is no part {text!r} in the tree; {hint}show --parts lists them with their paths")


def _criterion(old: Any, text: str) -> Any:
    """Return a criterion given as `0 at 10, 1 at 20`, as `radius[0 at 10, 1 at 20]`, or the old with `missing 0.5`."""
    if text.startswith("missing ") and isinstance(old, Leaf):  # the rest stays
        return replace(old.criterion, missing=_options.number(text.removeprefix("missing "), "missing"))
    if not text.endswith("]"):
        return text
    leaf = Tree.parse(text).root
    if not isinstance(leaf, Leaf) or not isinstance(old, Leaf) or leaf.feature != old.feature:
        raise MisusedError(f"--criterion sets what is said of the same column, got {text!r}")
    return leaf.criterion


def _weights(tree: Tree, path: tuple[int, ...], where: str, given: str) -> tuple[tuple[int, ...], list[float]]:
    """Return the path of a gate and its weights; of one share, the other inputs keep their proportion."""
    if "," in given:
        return path, [_options.number(each, "--weight") for each in given.split(",")]
    while path and not isinstance(tree[path[:-1]], Gate):
        path = path[:-1]
    if not path:
        raise MisusedError(f"{where} enters no gate, so it has no weight; all weights of a gate: --weight root=0.3,0.7")
    share, gate = _options.number(given, "--weight"), tree[path[:-1]]
    if not 0.0 < share < 1.0:
        raise MisusedError(f"a weight is a share between 0 and 1, got {given}")
    assert isinstance(gate, Gate)  # noqa: S101
    rest = (1.0 - share) / (1.0 - gate.weights[path[-1]])
    return path[:-1], [share if i == path[-1] else each * rest for i, each in enumerate(gate.weights)]


def _negate_and_remove(log: EditLog, negate: list[str], remove: list[str], reason: str) -> None:
    """Make the edits after which paths differ: parts are sought before all of them; what goes with more is left out."""
    gone = {_path(log.tree, text) for text in remove}
    gone = {path for path in gone if not any(path[:i] in gone for i in range(len(path)))}
    edits = [("negate", log.tree[_path(log.tree, text)]) for text in negate]
    edits += [("remove", log.tree[path]) for path in sorted(gone)]
    for operation, node in edits:
        try:
            path = log.tree.find(node)
        except LookupError:
            raise RefusedError("these edits touch the same part; make them one after the other") from None
        log.apply(operation, path, reason=reason)


class Revision:
    """One model on its way to another: edits of its tree, or of the one of a label, and their effect on rows."""

    def __init__(self, path: Path, data: Path | None, *, target: Text, label: Text, form: Text, missing: Text) -> None:
        from baconlogic.edit import EditLog

        if target is not None and data is None:
            raise MisusedError("--target needs --data, the table that it is a column of")
        self.model, self.label = _models.read_asked(path, label, needed=True)
        X = None if data is None else _tables.read(data, form, missing)
        y = None
        if X is not None and target is not None:
            X, y = _models.labelled(self.model, X, target, self.label)
        self.log = EditLog(self.model, X, y, label=self.label)

    def finish(self, to: Path, as_json: bool, *, threshold: float | None = None, log: Path | None = None) -> None:
        """Write the new model, which turns at another truth if one is given, and the log; say what changed."""
        from baconlogic.edit._log import count

        tree = self.log.tree
        new: Tree | Decision = tree
        if isinstance(self.model, Decision):
            new = self.model.with_tree(tree, self.label) if self.log.entries else self.model
        if threshold is not None:
            new = _models.with_threshold(new, threshold, "given")
        if log is not None:
            text = json.dumps(_print.plain(self.log.to_dict()), ensure_ascii=False, indent=2) + "\n"
            write_whole(text.encode(), log)
        changed = self._changed(new, threshold)
        new.save(to)
        (before, gates), (after, gates_after) = map(count, (self.log.original, tree))
        said = {
            "model": str(to),
            "edits": [in_words(entry) for entry in self.log.entries],
            "threshold": threshold,
            "leaves": [before, after],
            "gates": [gates, gates_after],
            "formula": tree.formula(),
            "change": changed,
        }
        turned = "" if changed is None else changed.get("said", "")
        size = f"leaves {before} -> {after}, gates {gates} -> {gates_after}; written to {to}"
        _print.give(said, "\n\n".join(filter(None, [str(new), protocol(self.log), turned, size])), as_json)

    def _changed(self, new: Tree | Decision, threshold: float | None) -> dict[str, Any] | None:
        """Return what changes over the rows, also where the decision turns elsewhere."""
        if self.log.X is None:
            return None
        done = self.log.change() if self.log.entries else None
        if threshold is None:
            return None if done is None else done.to_dict()
        from baconlogic import explain

        both = explain.compare(self.model, new, self.log.X, label=self.label).decisions
        assert both is not None  # noqa: S101
        n = len(both.differ)
        said = f"with the new threshold {n or 'none'} of {both.rows} decisions change" + (
            f": {both.only_second} to yes, {both.only_first} to no" if n else ""
        )
        return ({} if done is None else done.to_dict()) | {"decisions": both.to_dict(), "said": said}


def protocol(log: EditLog) -> str:
    """Return the edits in their order, each with its reason and what it changed over the rows."""
    lines = []
    for i, entry in enumerate(log.entries, 1):
        lines.append(one_line(f"{i}. {in_words(entry)}" + (f": {entry.reason}" if entry.reason else "")))
        lines += [] if entry.change is None else [f"   {entry.change}"]
    altogether = log.change() if len(log.entries) > 1 else None
    return "\n".join([*lines, f"altogether: {altogether}"] if altogether else lines)


def in_words(entry: Entry) -> str:
    """Return what an edit did, in words."""
    given = entry.arguments
    if entry.operation == "prune" and given.get("keep") is not None:
        return f"pruned to {given['keep']} {'leaf' if given['keep'] == 1 else 'leaves'}"
    if entry.operation == "prune" and given.get("features") is not None:
        return f"pruned of {', '.join(given['features'])}"
    if entry.operation == "prune":
        return f"pruned as far as accuracy falls by at most {number(given['tolerance'])}"
    if entry.operation == "simplify":
        return f"simplified within {number(given['tolerance'])}" if given.get("tolerance") else "simplified exactly"
    if entry.operation == "snap":
        return "every andness moved to the nearest named level"
    path = tuple(given["what"]["tuple"])
    node = entry.before[path]
    name, where = node.name or getattr(node, "feature", None), _print.written(path)
    part = f"{name} ({where})" if name else where
    if entry.operation == "set_andness":
        return f"andness of {part} set to {given['andness']}"
    if entry.operation == "reweight":
        return f"weights in {part} set to {', '.join(map(percent, given['weights']))}"
    if entry.operation == "set_criterion":
        said = given["criterion"]
        text = said if isinstance(said, str) else str(said["criterion"]).removeprefix("x[").removesuffix("]")
        return f"criterion of {part} set to {text}"
    if entry.operation == "rename":
        return f"{part} called {given['name']!r}"
    return f"{part} {'turned into its opposite' if entry.operation == 'negate' else 'removed'}"
