"""Model files: JSON with a version and a schema (schema/model-1.json). Reading one never runs code.

    {"format": "baconlogic", "version": 1, "tree": {"nodes": [...]}}
    {"format": "baconlogic", "version": 1, "decision": {"classes": [...], "features": [...], "trees": [...], ...}}

Nodes are listed children first, root last, and name their inputs by position. So a file cannot describe a cycle, its
depth costs nothing to read, and every problem has a place: `tree.nodes[3].weights`. A class label is text, true/false,
a whole number, or {"float": 1.0}, because JSON does not tell 1.0 from 1.
"""

from __future__ import annotations

import contextlib
import json
import math
import os
import stat
import sys
from collections.abc import Callable
from importlib.resources import files as package_files
from pathlib import Path
from typing import Any, NoReturn, TypeVar

from baconlogic.core.answers import Feature, Label, Link, as_label, plain_data
from baconlogic.core.criterion import KINDS, Criterion
from baconlogic.core.gcd import AGGREGATORS
from baconlogic.core.nodes import Gate, Leaf, Node, Not, flatten

T = TypeVar("T")

FORMAT, VERSION = "baconlogic", 1
MOST_BYTES = 64 * 1024 * 1024
MOST_NODES = 100_000


class ModelFormatError(ValueError):
    """A model file that cannot be trusted; the message names the place in the document."""

    def __init__(self, place: str, problem: str) -> None:
        super().__init__(f"{place}: {problem}")
        self.place, self.problem = place, problem


def schema() -> dict[str, Any]:
    """Return the JSON schema of model files."""
    text = package_files("baconlogic.core").joinpath(f"schema/model-{VERSION}.json").read_text(encoding="utf-8")
    found = dict(json.loads(text))
    shapes = found["$defs"]["criterion"]["oneOf"]
    listed = {shape["properties"]["kind"]["const"] for shape in shapes}
    shapes += [_shape(kind) for name, kind in KINDS.items() if name not in listed]
    found["$defs"]["gate"]["properties"]["gate"]["enum"] = list(AGGREGATORS)
    return found


def _shape(kind: type[Criterion]) -> dict[str, Any]:
    """Return the schema of a criterion that the file does not list: one that was defined elsewhere."""
    required = [name for name, entry in _typed(kind).items() if _is_required(name, entry)]
    properties = {"kind": {"const": kind.kind}} | {name: _ENTRIES[entry][1] for name, entry in _typed(kind).items()}
    return {"required": required, "properties": properties, "additionalProperties": False}


def document(part: str, said: dict[str, Any]) -> dict[str, Any]:
    """Return a tree or a decision, as plain data, as the document that a file holds."""
    return {"format": FORMAT, "version": VERSION, part: said}


def write_trees(*roots: Node) -> list[dict[str, Any]]:
    """Return trees as the parts of a document that they are."""
    orders = [flatten(root) for root in roots]
    count = sum(map(len, orders))
    if count > MOST_NODES:
        raise ValueError(f"a file holds at most {MOST_NODES} nodes, got {count}")
    return [{"nodes": [_write(*entry) for entry in order]} for order in orders]


def _write(node: Node, below: tuple[int, ...]) -> dict[str, Any]:
    named = {"name": node.name} if node.name else {}
    if isinstance(node, Leaf):
        return {"leaf": node.feature, "criterion": node.criterion.to_dict(), **named}
    if isinstance(node, Gate):
        gate = {"gate": node.aggregator, "andness": node.andness, "weights": list(node.weights)}
        return {**gate, "inputs": list(below), **named}
    return {"not": below[0], **named}


def from_document(document: Any) -> Node:
    """Return the tree of a document, or raise ModelFormatError."""
    return _content(document, "tree", read_tree)


def decision_from_document(document: Any) -> dict[str, Any]:
    """Return what the decision of a document is made of, its trees as their roots, or raise ModelFormatError."""
    return _content(document, "decision", _read_decision)


def _content(document: Any, part: str, read_part: Callable[[Any, str], T]) -> T:
    known = _mapping(document, "document")
    if known.get("format") != FORMAT:
        _refuse("format", repr(FORMAT), known.get("format"))
    version = _whole(known.get("version"), "version")
    if version != VERSION:
        shown = version if abs(version) < 10**9 else "another"
        raise ModelFormatError("version", f"this library reads version {VERSION}, the file has {shown}")
    other = next((name for name in ("tree", "decision") if name in known and part not in known), None)
    if other:
        raise ModelFormatError("document", f"it holds a {other}, not a {part}; use {other.title()}.from_dict, or load")
    found: T = _fields(document, "", {"format": _text, "version": _whole, part: read_part}, {})[part]
    return found


def _read_decision(value: Any, place: str) -> dict[str, Any]:
    trees = _mapping(value, place).get("trees")
    listed = [tree.get("nodes") for tree in trees if isinstance(tree, dict)] if isinstance(trees, list) else []
    total = sum(len(nodes) for nodes in listed if isinstance(nodes, list))
    if total > MOST_NODES:
        raise ModelFormatError(f"{place}.trees", f"at most {MOST_NODES} nodes are read, got {total}")
    readers = {
        "classes": _each(_label),
        "features": _each(_record(Feature, {"name": _text, "kind": _text})),
        "trees": _each(read_tree),
        "links": _each(_record(Link, {"steepness": _number, "threshold": _number})),
        "provenance": lambda entry, at: made(at, lambda: plain_data(_mapping(entry, at))),
    }
    return _fields(value, place, readers, {"turns_at": _number})


def _record(make: Callable[..., T], readers: dict[str, Any]) -> Callable[[Any, str], T]:
    def read(value: Any, place: str) -> T:
        said = _fields(value, place, readers, {})
        return made(place, lambda: make(**said))

    return read


def _label(value: Any, place: str) -> Label:
    if isinstance(value, dict):
        return float(_fields(value, place, {"float": _number}, {})["float"])
    return made(place, lambda: as_label(_category(value, place)))


def read_tree(value: Any, place: str) -> Node:
    """Return one tree of a document; `place` says where in the document it stands."""
    entries = _fields(value, place, {"nodes": _items}, {})["nodes"]
    if not entries:
        raise ModelFormatError(f"{place}.nodes", "a tree needs at least one leaf")
    if len(entries) > MOST_NODES:
        raise ModelFormatError(f"{place}.nodes", f"at most {MOST_NODES} nodes are read, got {len(entries)}")
    loose: dict[int, Node] = {}
    for position, entry in enumerate(entries):
        loose[position] = _read_node(entry, f"{place}.nodes[{position}]", position, loose)
    if len(loose) > 1:
        raise ModelFormatError(f"{place}.nodes[{min(loose)}]", "no later node has this one as an input")
    return loose.popitem()[1]


def _read_node(entry: Any, place: str, position: int, loose: dict[int, Node]) -> Node:
    kind = next((k for k in ("leaf", "gate", "not") if k in _mapping(entry, place)), None)
    if kind is None:
        raise ModelFormatError(place, "expected a leaf, a gate or a not")

    def adopt(value: Any, at: str) -> Node:
        child = _whole(value, at)
        if not 0 <= child < position:
            _refuse(at, f"an earlier node, 0 to {position - 1}", child)
        if child not in loose:
            raise ModelFormatError(at, f"node {child} is the input of two nodes")
        return loose.pop(child)

    optional = {"name": _text}
    if kind == "leaf":
        said = _fields(entry, place, {"leaf": _text, "criterion": _read_criterion}, optional)
        return made(place, lambda: Leaf(said["leaf"], said["criterion"], said.get("name", "")))
    if kind == "not":
        said = _fields(entry, place, {"not": adopt}, optional)
        return made(place, lambda: Not(said["not"], said.get("name", "")))
    required = {"gate": _text, "andness": _number, "weights": _each(_number), "inputs": _each(adopt)}
    said = _fields(entry, place, required, optional)
    if abs(math.fsum(said["weights"]) - 1.0) >= 1e-9:
        raise ModelFormatError(f"{place}.weights", f"weights must sum to 1, got {math.fsum(said['weights']):g}")
    content = said["inputs"], said["andness"], said["weights"], said["gate"], said.get("name", "")
    return made(place, lambda: Gate(*content))


def _read_criterion(entry: Any, place: str) -> Criterion:
    name = _text(_mapping(entry, place).get("kind"), f"{place}.kind")
    if name not in KINDS:
        raise ModelFormatError(f"{place}.kind", f"expected one of {', '.join(KINDS)}, got {name!r}")
    kind = KINDS[name]
    readers = {key: _ENTRIES[entry][0] for key, entry in _typed(kind).items()}
    required = {key: read for key, read in readers.items() if _is_required(key, _typed(kind)[key])}
    said = _fields(entry, place, {"kind": _text} | required, readers)
    del said["kind"]
    return made(place, lambda: kind(**said))


def _typed(kind: type[Criterion]) -> dict[str, str]:
    """Return the types of the fields of a criterion, all of which a file can hold."""
    found = kind.entries()
    for name, entry in found.items():
        if entry not in _ENTRIES:
            raise NotImplementedError(f"{kind.__name__}.{name} is a {entry}; a file holds {' or '.join(_ENTRIES)}")
    return found


def _is_required(name: str, entry: str) -> bool:
    return name != "unit" and "None" not in entry


def made(place: str, make: Callable[[], T]) -> T:
    """Make something of what was read; an error of making it is an error of the document, at this place."""
    try:
        return make()
    except (ValueError, TypeError) as problem:
        if isinstance(problem, ModelFormatError):
            raise
        raise ModelFormatError(place, str(problem)) from None


def _fields(entry: Any, place: str, required: dict[str, Any], optional: dict[str, Any]) -> dict[str, Any]:
    """Read a mapping with exactly these keys, each value by its own reader."""
    readers = required | optional
    for key in _mapping(entry, place):
        if key not in readers:
            raise ModelFormatError(place or "document", f"unknown entry {key!r:.60}")
    for key in required:
        if key not in entry:
            raise ModelFormatError(place or "document", f"{key!r} is missing")
    return {key: readers[key](value, f"{place}.{key}" if place else key) for key, value in entry.items()}


def _mapping(value: Any, place: str) -> dict[str, Any]:
    return value if isinstance(value, dict) else _refuse(place, "an object", value)


def _items(value: Any, place: str) -> list[Any]:
    return value if isinstance(value, list) else _refuse(place, "a list", value)


def _text(value: Any, place: str) -> str:
    return value if isinstance(value, str) and value else _refuse(place, "text", value)


def _whole(value: Any, place: str) -> int:
    whole = isinstance(value, int) and not isinstance(value, bool)
    whole |= isinstance(value, float) and value.is_integer()  # JSON does not tell 1.0 from 1
    return int(value) if whole else _refuse(place, "a whole number", value)


def _number(value: Any, place: str) -> float:
    fits = isinstance(value, int | float) and not isinstance(value, bool) and abs(value) <= 1e300
    return float(value) if fits else _refuse(place, "a finite number", value)


def _category(value: Any, place: str) -> str | int | bool:
    return value if isinstance(value, str | bool) else _whole(value, place)


def _each(read: Callable[[Any, str], Any]) -> Callable[[Any, str], list[Any]]:
    return lambda value, place: [read(item, f"{place}[{i}]") for i, item in enumerate(_items(value, place))]


def _pair(read_first: Callable[[Any, str], Any]) -> Callable[[Any, str], tuple[Any, float]]:
    def read(value: Any, place: str) -> tuple[Any, float]:
        if len(_items(value, place)) != 2:
            raise ModelFormatError(place, f"expected two entries, got {len(value)}")
        return read_first(value[0], f"{place}[0]"), _number(value[1], f"{place}[1]")

    return read


def _breakpoints(value: Any, place: str) -> list[tuple[float, float]]:
    found = _each(_pair(_number))(value, place)
    if found != sorted(found):
        raise ModelFormatError(place, "breakpoints must increase")
    return found


def _pairs_of(first: dict[str, Any], least: int) -> dict[str, Any]:
    pair = {"type": "array", "prefixItems": [first, {"$ref": "#/$defs/truth"}], "items": False, "minItems": 2}
    return {"type": "array", "minItems": least, "items": pair}


# The types that fields of criteria may have: how each is read, and its schema.
_ENTRIES: dict[str, tuple[Callable[[Any, str], Any], dict[str, Any]]] = {
    "float": (_number, {"$ref": "#/$defs/number"}),
    "float | None": (_number, {"$ref": "#/$defs/truth"}),
    "Mark | None": (_number, {"$ref": "#/$defs/number"}),
    "str": (_text, {"$ref": "#/$defs/text"}),
    "tuple[tuple[float, float], ...]": (_breakpoints, _pairs_of({"$ref": "#/$defs/number"}, 2)),
    "tuple[tuple[Category, float], ...]": (
        _each(_pair(_category)),
        _pairs_of({"type": ["string", "integer", "boolean"]}, 1),
    ),
}


def _refuse(place: str, expected: str, value: Any) -> NoReturn:
    short = isinstance(value, str | float | None) or (isinstance(value, int) and abs(value) < 10**40)
    shown = repr(value) if short else f"a {type(value).__name__}"
    raise ModelFormatError(place, f"expected {expected}, got {shown[:60]}")


def write(document: dict[str, Any], path: str | os.PathLike[str]) -> None:
    """Write a document; see `write_whole`."""
    write_whole(encoded(document), path)


def encoded(document: dict[str, Any]) -> bytes:
    """Return what a file of this document holds."""
    text = (_layout(document) + "\n").encode()
    if len(text) > MOST_BYTES:
        raise ValueError(f"a model file holds at most {MOST_BYTES // 1024**2} MiB; this one would not be read again")
    return text


def write_whole(data: bytes, path: str | os.PathLike[str]) -> None:
    """Write a file so that the path always holds a whole one: the old or the new; a device or pipe stays what it is."""
    if is_stream(path):
        stream = _printed_to(path)
        if stream is not None:
            stream.flush()  # opened anew, a file would be written from its start
        with open(path if stream is None else stream.fileno(), "wb", closefd=stream is None) as file:
            file.write(data)
        return
    target = Path(path).resolve()  # through a link, so that the link stays one
    if not target.parent.is_dir():
        raise FileNotFoundError(f"there is no folder {target.parent} to save {target.name} in")
    draft = target.with_name(f".{os.urandom(8).hex()}.tmp")
    try:
        with draft.open("xb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        if target.exists():
            draft.chmod(stat.S_IMODE(target.stat().st_mode))
        draft.replace(target)
    except OSError as problem:
        if problem.filename is not None:
            problem.filename, problem.filename2 = os.fspath(path), None  # not the draft, of which nobody knows
        raise
    finally:
        draft.unlink(missing_ok=True)
    if hasattr(os, "O_DIRECTORY"):  # elsewhere a folder cannot be opened
        handle = os.open(target.parent, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def is_stream(path: str | os.PathLike[str]) -> bool:
    """Whether a path is a device, a pipe or, as /dev/stdout, what this program prints to: nothing to be replaced."""
    place = Path(path)
    other = place.exists() and not place.is_file() and not place.is_dir()
    return other or _printed_to(path) is not None


def _printed_to(path: str | os.PathLike[str]) -> Any:
    """Return stdout or stderr where a path such as /dev/stdout means it, be it redirected to a file."""
    if not str(Path(path).absolute()).startswith(("/dev/", "/proc/")):
        return None
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError, AttributeError):  # closed, or none of the system's
            if os.path.samestat(Path(path).stat(), os.fstat(stream.fileno())):
                return stream
    return None


def _layout(value: Any, margin: str = "") -> str:
    """Write JSON with a line for each thing that fits on one: a node, a list of weights."""
    line = json.dumps(value, ensure_ascii=False, allow_nan=False)
    if len(margin) + len(line) <= 110 or not isinstance(value, dict | list):
        return line
    deeper = margin + "  "
    if isinstance(value, list):
        return "[\n" + ",\n".join(deeper + _layout(item, deeper) for item in value) + f"\n{margin}]"
    items = (f"{deeper}{json.dumps(k, ensure_ascii=False)}: {_layout(item, deeper)}" for k, item in value.items())
    return "{\n" + ",\n".join(items) + f"\n{margin}}}"


def read(path: str | os.PathLike[str]) -> Any:
    """Read a JSON document from a file of sane size, refusing what JSON proper does not allow."""
    source, name = Path(path), "document"
    if not stat.S_ISREG(source.stat().st_mode):
        raise ModelFormatError(name, "expected a file, got a folder or device")
    with source.open("rb") as file:
        data = file.read(MOST_BYTES + 1)
    if len(data) > MOST_BYTES:
        raise ModelFormatError(name, f"larger than {MOST_BYTES // 1024**2} MiB; no model is")
    try:
        return json.loads(data.decode("utf-8"), parse_constant=_no_constant, object_pairs_hook=_no_repeats)
    except ModelFormatError:
        raise
    except UnicodeDecodeError:
        raise ModelFormatError(name, "not UTF-8 text") from None
    except RecursionError:
        raise ModelFormatError(name, "nested too deeply") from None
    except ValueError as problem:
        raise ModelFormatError(name, f"not JSON, or cut short: {problem}") from None


def _no_constant(name: str) -> NoReturn:
    raise ModelFormatError("document", f"{name} is not a number that JSON allows")


def _no_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in pairs:
        if key in found:
            raise ModelFormatError("document", f"the entry {key!r} appears twice in one object")
        found[key] = value
    return found
