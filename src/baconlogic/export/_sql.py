"""A decision as one SELECT, for databases.

    WITH input AS (columns as they are needed), step_1 AS (...), ... SELECT kept columns, truth, probability, decision

Each step works out what needs only earlier steps, so that nothing is worked out twice.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from baconlogic.export._about import head
from baconlogic.export._compile import program
from baconlogic.export._program import Binding, Program, Spot, reads, refs

if TYPE_CHECKING:
    from baconlogic.export._sql_tree import Pieces  # which needs sqlglot

Step = dict[str, Any]  # names of columns and their sqlglot expressions

# What keeps a database from copying a step into each place where it is used, which doubles the work with every step.
_FENCE = {"sqlite": "LIMIT -1 OFFSET 0", "postgres": "OFFSET 0"}
_MOST_STEPS = {"sqlite": 800, "duckdb": 250, "postgres": 250}
_MOST_COLUMNS = {"sqlite": 1900, "postgres": 1600}
_LONGEST_NAME = 63  # bytes, in PostgreSQL


def to_sql(
    model: Any,
    *,
    dialect: str = "duckdb",
    table: str | Sequence[str] = "data",
    keep: Iterable[str] = (),
    trace: bool = False,
) -> str:
    """Return a SELECT that answers each row of a table: `truth`, `probability_<class>` and `decision`.

    Tested dialects are "sqlite", "duckdb" and "postgres"; others that sqlglot knows are written untested. `table` is a
    name, or its parts: ("schema", "table"). The columns in `keep`, a key for instance, stand before the answers; an
    answer of the same name gets `model_` in front. A model of several trees has a `truth_<class>` each; a Tree has no
    probabilities, and decides true or false. With `trace` there is a column for each node: `node`, `node_0`,
    `node_0_1`, ... by its path (of several trees `node_<class>__0_1`; where that is long, `node__at_<place in walk>`).

    NULL and NaN are missing. Where the model has no answer (see its criteria), and where a column of SQLite holds text
    instead of a number or the reverse, all answers are NULL. There is no semicolon: it can follow CREATE VIEW ... AS.
    SQLite must have its mathematical functions (`SELECT exp(1)`: 3.35 or later, built with them), PostgreSQL be 12 or
    later; there, a column of true and false that the model reads as numbers must be made whole numbers first.
    """
    try:
        from baconlogic.export._sql_tree import Pieces
    except ImportError:
        raise ModuleNotFoundError("an export to SQL needs sqlglot; pip install 'baconlogic[sql]'") from None
    if not re.fullmatch(r"\w+", dialect):
        raise ValueError(f"a dialect is one word, e.g. 'duckdb', got {dialect!r:.60}")
    dialect = dialect.lower()
    made = program(model, trace=trace)
    parts, kept = _parts(table), _kept(keep)
    _check_names([*parts, *kept, *(one.feature for one in made.inputs)], made, dialect)
    query = _Query(made, Pieces(dialect, made), kept)
    return f"{head(model, made, '--')}\n{query.text(parts)}\n"


def _parts(table: str | Sequence[str]) -> list[str]:
    parts = [table] if isinstance(table, str) else list(table)
    if not 1 <= len(parts) <= 3 or not all(isinstance(part, str) and part for part in parts):
        raise ValueError(f'a table is a name or its parts, e.g. ("schema", "table"), got {table!r:.60}')
    return parts


def _kept(keep: Iterable[str]) -> list[str]:
    if isinstance(keep, str):
        raise TypeError(f"keep is a list of columns, e.g. [{keep!r:.60}], got text")
    return list(dict.fromkeys(keep))


def _check_names(names: list[str], made: Program, dialect: str) -> None:
    """Refuse names and texts that the database cannot hold, or cannot tell apart."""
    for text in [*names, *made.classes, *(category for _, category in made.categories())]:
        if isinstance(text, str) and "\0" in text:
            raise ValueError(f"{text!r:.60} holds the character 0, which SQL cannot write; rename it")
    seen: dict[str, str] = {}
    for name in (column.feature for column in made.inputs):
        same = seen.setdefault(_as_known(name, dialect), name)
        if same != name:
            raise ValueError(f"{dialect} does not tell the columns {same!r:.80} and {name!r:.80} apart; rename one")


def _as_known(name: str, dialect: str) -> str:
    """Return a name as a database tells it from others."""
    if dialect == "postgres":
        return name.encode()[:_LONGEST_NAME].decode(errors="ignore")
    return "".join(c.lower() if c.isascii() else c for c in name)


class _Query:
    """Puts a program into steps and a last SELECT."""

    def __init__(self, made: Program, pieces: Pieces, kept: list[str]) -> None:
        self.made, self.pieces, self.dialect, self.kept = made, pieces, pieces.dialect, kept

    def text(self, table: list[str]) -> str:
        """Return the whole query."""
        steps = [self._input(), *self._steps()]
        answers = self._answers()
        carried = self._carried(steps, answers)
        widest = max(len(step) + len(names) for step, names in zip(steps, carried, strict=True))
        self._check_size("columns in a step", max(widest, len(answers)), _MOST_COLUMNS)
        stem = "our_" if re.fullmatch(r"input|step_\d+", table[-1].lower()) else ""
        names = [f"{stem}input", *(f"{stem}step_{i}" for i in range(1, len(steps)))]
        fence = f"\n  {_FENCE[self.dialect]}" if self.dialect in _FENCE else ""
        parts = []
        for name, step, kept, source in zip(names, steps, carried, [self.pieces.table(table), *names], strict=False):
            columns = [", ".join(self.pieces.text(self.pieces.column(each)) for each in kept)] if kept else []
            columns += [self.pieces.named(piece, each) for each, piece in step.items()]
            parts.append(f"{name} AS (\n  {_select(columns, source, '  ')}{fence}\n)")
        last = [self.pieces.named(piece, name, quoted=True) for name, piece in answers]
        return f"WITH {', '.join(parts)}\n{_select(last, names[-1])}"

    def _carried(self, steps: list[Step], answers: list[tuple[str, Any]]) -> list[list[str]]:
        """Return the columns of earlier steps that each step hands on, because a later one needs them."""
        wanted = set().union(*(self.pieces.uses(piece) for _, piece in answers))
        kept: list[set[str]] = []
        for step in reversed(steps):
            kept.append(wanted - set(step))
            wanted = kept[-1].union(*(self.pieces.uses(piece) for piece in step.values()))
        order = {name: place for place, name in enumerate(name for step in steps for name in step)}
        return [[], *(sorted(names, key=order.__getitem__) for names in reversed(kept[:-1]))]

    def _check_size(self, what: str, count: int, most: dict[str, int]) -> None:
        if count > most.get(self.dialect, count):
            raise ValueError(
                f"the query would have {count} {what}, and {self.dialect} is known to manage {most[self.dialect]}; "
                "make the tree smaller or less deep (edit.simplify, edit.prune), or export it to another target"
            )

    def _input(self) -> Step:
        """Return the columns that are read."""
        pieces = self.pieces
        found = {f"k{i}": pieces.outside(name) for i, name in enumerate(self.kept)}
        found |= {f"x{place}": pieces.read(place) for place in range(len(self.made.inputs))}
        if not pieces.typed:
            found["wrong"] = pieces.wrong()
        return found or {"x0": pieces.nothing()}

    def _steps(self) -> list[Step]:
        """Return what each step works out: all that needs only columns of steps before."""
        pieces = self.pieces
        steps: dict[int, Step] = {}
        if pieces.checked:
            steps[1] = {"refused": pieces.refused()}
        for place in pieces.bounded:
            steps[1][f"d{place}"] = pieces.bound(place)
        when = self._when()
        self._check_size("steps", max(when.values()), _MOST_STEPS)
        for binding, step in when.items():
            steps.setdefault(step, {})[binding.name] = pieces.value(binding.value)
        return [steps[step] for step in sorted(steps)]

    def _when(self) -> dict[Binding, int]:
        """Return the step of each binding: gates as early as can be, what reads an input just before it is used."""
        made = self.made
        bindings = made.needed(*made.truths, *made.probabilities, made.choice, *(spot.name for spot in made.spots))
        uses = {binding.name: refs(binding.value) for binding in bindings}
        step: dict[str, int] = {}
        for binding in bindings:
            first = 2 if reads(binding.value, numbers=True).intersection(self.pieces.bounded) else 1
            step[binding.name] = max((1 + step[name] for name in uses[binding.name]), default=first)
        user = dict[str, int]()
        for binding in reversed(bindings):
            if reads(binding.value):
                step[binding.name] = user.get(binding.name, step[binding.name] + 1) - 1
            for name in uses[binding.name]:
                user[name] = min(step[binding.name], user.get(name, step[binding.name]))
        return {binding: step[binding.name] for binding in bindings}

    def _answers(self) -> list[tuple[str, Any]]:
        """Return the last columns: what is kept, truths, probabilities, the decision and, if asked, every node."""
        pieces, made = self.pieces, self.made
        marks = _marks(made.classes)
        of_one = len(made.truths) < 2
        values = {"truth" if of_one else f"truth_{marks[k]}": name for k, name in enumerate(made.truths)}
        values |= {f"probability_{marks[k]}": name for k, name in enumerate(made.probabilities)}
        answers = {name: pieces.answer(ref) for name, ref in values.items()}
        answers["decision"] = pieces.label(made.choice, made.classes)
        for place, spot in enumerate(made.spots):
            name = _node(spot, place, "" if of_one else f"_{marks[spot.tree]}")
            answers[name] = pieces.answer(spot.name)
        found = [(name, pieces.column(f"k{i}")) for i, name in enumerate(self.kept)]
        taken = {_as_known(name, "") for name in self.kept}
        for name, piece in answers.items():
            free = name
            while free in taken:
                free = f"model_{free}"
            found.append((free, piece))
        return found


def _select(columns: Iterable[str], source: str, indent: str = "") -> str:
    listed = f",\n{indent}  ".join(columns)
    return f"SELECT\n{indent}  {listed}\n{indent}FROM {source}"


def _node(spot: Spot, place: int, of_class: str) -> str:
    """Return the name of a node's column, by its path or, where that is long, by its place in `Tree.walk`."""
    path = "_".join(map(str, spot.path))
    name = f"node{of_class}{'__' if of_class and path else '_' if path else ''}{path}"
    return name if len(name) <= _LONGEST_NAME else f"node{of_class}__at_{place}"


def _marks(labels: Sequence[object]) -> list[str]:
    """Return what stands for each label in a column's name: its letters and digits; a number where they are none."""
    signed = [str(label) if isinstance(label, str) else str(label).replace("-", "minus ") for label in labels]
    found = [re.sub("[^0-9a-z]+", "_", text.lower()) for text in signed]
    marks = [mark.strip("_")[:30].rstrip("_") or f"class_{k}" for k, mark in enumerate(found)]
    times = Counter(marks)
    return [f"{mark}__{k}" if times[mark] > 1 else mark for k, mark in enumerate(marks)]
