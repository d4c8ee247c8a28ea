"""Commands that make one model of another: prune, simplify, edit."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from baconlogic.cli import _options as options
from baconlogic.cli import _overwrite as overwriting
from baconlogic.cli import _print as printing
from baconlogic.cli import _tables as tables
from baconlogic.cli._errors import MisusedError, RefusedError
from baconlogic.core.files import write_whole

if TYPE_CHECKING:
    from collections.abc import Iterable

    from baconlogic import Decision, Tree
    from baconlogic.core.nodes import Gate, Node
    from baconlogic.edit import EditLog


def prune(
    model: options.Model,
    keep: Annotated[int | None, typer.Option("--keep", help="Leaves to keep.", min=1)] = None,
    features: Annotated[list[str] | None, typer.Option("--features", help="Columns to take away.")] = None,
    data: options.Rows = None,
    target: options.MaybeTarget = None,
    tolerance: Annotated[
        float, typer.Option("--tolerance", help="Without --keep: how much accuracy may fall, as a share of rows.")
    ] = 0.005,
    output: options.NewModel = None,
    in_place: options.InPlace = False,
    force: options.Force = False,
    label: options.Label = None,
    form: options.Format = None,
    missing: options.Missing = None,
    as_json: options.Json = False,
) -> None:
    """Take leaves away: so many, certain columns, or as many as the accuracy on a table bears."""
    to = overwriting.destination(output, in_place, model, data, force=force)
    gone = options.split(features)
    if keep is not None and gone:
        raise MisusedError("give --keep or --features, not both")
    if keep is None and not gone and (data is None or target is None):
        raise MisusedError("say what to prune: --keep 7, --features a,b, or --data with --target to go by accuracy")
    job = _Job(model, to, data, target, label, form, missing)
    more: dict[str, Any] = {"features": gone} if gone else {} if keep is None else {"keep": keep}
    if job.log.y is not None and not gone:
        more |= {"X": job.log.X, "y": job.log.y, "tolerance": tolerance}
    job.log.apply("prune", **more)
    job.finish(as_json)


def simplify(
    model: options.Model,
    tolerance: Annotated[
        float, typer.Option("--tolerance", help="How much a truth may change, from 0 to 1; 0 changes none.")
    ] = 0.0,
    data: options.Rows = None,
    target: options.MaybeTarget = None,
    output: options.NewModel = None,
    in_place: options.InPlace = False,
    force: options.Force = False,
    label: options.Label = None,
    form: options.Format = None,
    missing: options.Missing = None,
    as_json: options.Json = False,
) -> None:
    """Say the same with fewer gates; with a tolerance, nearly the same with fewer still."""
    to = overwriting.destination(output, in_place, model, data, force=force)
    job = _Job(model, to, data, target, label, form, missing)
    more = {} if job.log.X is None else {"X": job.log.X}
    with printing.busy("simplifying"):
        job.log.apply("simplify", tolerance, **more)
    job.finish(as_json)


def edit(
    model: options.Model,
    criterion: Annotated[
        list[str] | None,
        typer.Option("--criterion", metavar="PART=CRITERION", help="e.g. 'radius=0 at 10, 1 at 20'; may be repeated."),
    ] = None,
    andness: Annotated[
        list[str] | None, typer.Option("--andness", metavar="PART=VALUE", help="A number or a code such as HC.")
    ] = None,
    weight: Annotated[
        list[str] | None,
        typer.Option("--weight", metavar="PART=SHARE", help="Its share in its gate, or all of a gate's: 0=0.3,0.7."),
    ] = None,
    negate: Annotated[
        list[str] | None, typer.Option("--negate", metavar="PART", help="Turn into its opposite.")
    ] = None,
    rename: Annotated[
        list[str] | None, typer.Option("--rename", metavar="PART=NAME", help="Give a part a name to read.")
    ] = None,
    remove: Annotated[list[str] | None, typer.Option("--remove", metavar="PART", help="Take a part away.")] = None,
    snap: Annotated[bool, typer.Option("--snap", help="Move every andness to the nearest named level.")] = False,
    threshold: Annotated[
        float | None, typer.Option("--threshold", help="The truth above which the decision is yes.")
    ] = None,
    reason: Annotated[str, typer.Option("--reason", help="Why; kept in the log.")] = "",
    log: Annotated[Path | None, typer.Option("--log", help="Write the protocol of the edits as JSON.")] = None,
    data: options.Rows = None,
    target: options.MaybeTarget = None,
    output: options.NewModel = None,
    in_place: options.InPlace = False,
    force: options.Force = False,
    label: options.Label = None,
    form: options.Format = None,
    missing: options.Missing = None,
    as_json: options.Json = False,
) -> None:
    """Change parts of a model: andness, weight, criterion, threshold and more; --data says what that does.

    A PART is a column, a name, or a path such as 0.1 (see show --parts); root is the whole. Paths are those of the
    model as it is.
    """
    to = overwriting.destination(output, in_place, model, data, force=force)
    overwriting.check(log, "log", model, data, to, force=force)
    if not any((criterion, andness, weight, negate, rename, remove, snap)) and threshold is None:
        raise MisusedError("say what to change, e.g. --andness root=HC, --weight radius=0.7 or --threshold 0.4")
    job = _Job(model, to, data, target, label, form, missing)
    for operation, what in _edits(job.log.tree, criterion, andness, weight, rename, snap):
        job.log.apply(operation, *(given(job.log.tree) if callable(given) else given for given in what), reason=reason)
    for operation, node in _moves(job.log.tree, negate or (), remove or ()):
        job.log.apply(operation, _where(job.log.tree, node), reason=reason)
    if threshold is not None:
        job.turn(threshold)
    if log is not None:
        text = json.dumps(printing.plain(job.log.to_dict()), ensure_ascii=False, indent=2) + "\n"
        write_whole(text.encode(), log)
    job.finish(as_json)


def _edits(
    tree: Tree, criterion: Any, andness: Any, weight: Any, rename: Any, snap: bool
) -> list[tuple[str, tuple[Any, ...]]]:
    """Return the edits that change no path, in order; parts are sought in the tree as it is."""
    found: list[tuple[str, tuple[Any, ...]]] = [("snap", ())] if snap else []
    for text in criterion or ():
        where, given = options.pair(text, "--criterion", "PART=CRITERION")
        path = options.place(tree, where)
        found.append(("set_criterion", (path, _criterion(tree, path, given))))
    for text in andness or ():
        where, given = options.pair(text, "--andness", "PART=VALUE", last=True)
        found.append(("set_andness", (options.place(tree, where), options.value(given))))
    for text in weight or ():
        where, given = options.pair(text, "--weight", "PART=SHARE", last=True)
        found.append(("reweight", _weights(tree, where, given)))
    for text in rename or ():
        where, given = options.pair(text, "--rename", "PART=NAME", last=True)
        found.append(("rename", (options.place(tree, where), given)))
    return found


def _moves(tree: Tree, negate: Iterable[str], remove: Iterable[str]) -> list[tuple[str, Node]]:
    """Return the edits after which paths differ, with the nodes they are about; what goes with more is left out."""
    gone = {options.place(tree, text) for text in remove}
    gone = {path for path in gone if not any(path[:i] in gone for i in range(len(path)))}
    turned = [("negate", tree[options.place(tree, text)]) for text in negate]
    return turned + [("remove", tree[path]) for path in sorted(gone)]


def _where(tree: Tree, node: Node) -> tuple[int, ...]:
    try:
        return tree.find(node)
    except LookupError:
        raise RefusedError("these edits touch the same part; make them one after the other") from None


def _criterion(tree: Tree, path: tuple[int, ...], text: str) -> Any:
    """Return a criterion given as `0 at 10, 1 at 20`, as `radius[0 at 10, 1 at 20]`, or the old with `missing 0.5`."""
    from baconlogic import Leaf, Tree

    old = tree[path]
    if text.startswith("missing ") and isinstance(old, Leaf):  # the rest stays
        return replace(old.criterion, missing=options.number(text.removeprefix("missing "), "missing"))
    if not text.endswith("]"):
        return text
    leaf = Tree.parse(text).root
    if not isinstance(leaf, Leaf) or not isinstance(old, Leaf) or leaf.feature != old.feature:
        raise MisusedError(f"--criterion sets what is said of the same column, got {text!r}")
    return leaf.criterion


def _weights(tree: Tree, where: str, given: str) -> tuple[Any, Any]:
    """Return a gate and its weights; of one share, the other inputs keep their proportion."""
    from baconlogic import Gate

    path = options.place(tree, where)
    if "," in given:
        return path, [options.number(each, "--weight") for each in given.split(",")]
    while path and not isinstance(tree[path[:-1]], Gate):
        path = path[:-1]
    if not path:
        raise MisusedError(f"{where} enters no gate, so it has no weight; all weights of a gate: --weight root=0.3,0.7")
    share, above, place = options.number(given, "--weight"), path[:-1], path[-1]
    if not 0.0 < share < 1.0:
        raise MisusedError(f"a weight is a share between 0 and 1, got {given}")

    def weights(now: Tree) -> list[float]:
        gate: Gate = now[above]  # type: ignore[assignment]
        rest = (1.0 - share) / (1.0 - gate.weights[place])
        return [share if i == place else each * rest for i, each in enumerate(gate.weights)]

    return above, weights


class _Job:
    """One model on its way to another."""

    log: EditLog

    def __init__(
        self, path: Path, to: Path, data: Path | None, target: str | None, label: str | None,
        form: options.Formats | None, missing: str | None,
    ) -> None:  # fmt: skip
        from baconlogic.cli import _models as models
        from baconlogic.edit import EditLog

        if target is not None and data is None:
            raise MisusedError("--target needs --data, the table that it is a column of")
        self.model: Tree | Decision = models.read(path)
        self.to, self.label = to, models.label_of(label, self.model, needed=True)
        self.rows = None
        if data is not None:
            self.rows = models.judged(self.model, tables.read(data, form, missing), target, self.label)
        X, y = (None, None) if self.rows is None else (self.rows.X, self.rows.y)
        self.log = EditLog(self.model, X, y, label=self.label)
        self.threshold: float | None = None

    def turn(self, threshold: float) -> None:
        """Let the decision turn elsewhere."""
        from baconlogic.cli import _models as models

        models.with_threshold(self.model, threshold, "given")
        self.threshold = threshold

    def finish(self, as_json: bool) -> None:
        """Write the new model, and say what changed."""
        from baconlogic import Decision
        from baconlogic.cli import _edits as editing
        from baconlogic.cli import _models as models

        new: Tree | Decision = self.log.tree
        if isinstance(self.model, Decision):
            new = self.model.with_tree(self.log.tree, self.label) if self.log.entries else self.model
            if self.threshold is not None:
                new = models.with_threshold(new, self.threshold, "given")
        changed = self._changed(new)
        models.write(new, self.to)
        (before, gates), (after, gates_after) = models.size(self.log.original), models.size(self.log.tree)
        if as_json:
            printing.document(
                {
                    "model": str(self.to),
                    "edits": [editing.said(entry) for entry in self.log.entries],
                    "threshold": self.threshold,
                    "leaves": [before, after],
                    "gates": [gates, gates_after],
                    "formula": self.log.tree.formula(),
                    "change": changed,
                }
            )
            return
        size = f"leaves {before} -> {after}, gates {gates} -> {gates_after}"
        edits = editing.protocol(self.log)
        turned = "" if changed is None or self.threshold is None else changed["said"]
        printing.answer("\n\n".join(filter(None, [str(new), edits, turned, f"{size}; written to {self.to}"])))

    def _changed(self, new: Tree | Decision) -> dict[str, Any] | None:
        """Return what changes over the rows, also where the decision turns elsewhere."""
        if self.rows is None:
            return None
        done = self.log.change() if self.log.entries else None
        if self.threshold is None:
            return None if done is None else done.to_dict()
        from baconlogic import explain

        both = explain.compare(self.model, new, self.rows.X, label=self.label).decisions
        assert both is not None  # noqa: S101
        n = len(both.differ)
        said = f"with the new threshold {n or 'none'} of {both.rows} decisions change" + (
            f": {both.only_second} to yes, {both.only_first} to no" if n else ""
        )
        return ({} if done is None else done.to_dict()) | {"decisions": both.to_dict(), "said": said}
