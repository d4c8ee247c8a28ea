"""Exports as files, by what the file is called or by what is asked for."""

from __future__ import annotations

import io
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from baconlogic.core.files import write_whole

if TYPE_CHECKING:
    import os

SUFFIXES = {
    "python": (".py",),
    "c": (".c",),
    "javascript": (".js", ".mjs"),
    "sql": (".sql",),
    "onnx": (".onnx",),
    "latex": (".tex",),
    "excel": (".xlsx",),
}


def save(model: Any, path: str | os.PathLike[str], *, to: str | None = None, **options: Any) -> list[Path]:
    """Write a model in another language; return the files written.

    `to` is python, c, javascript, sql, onnx, latex or excel; without it the suffix of the path says which. `options`
    are those of the export, e.g. `trace=True`. C makes two files: the header beside the source, called like it.
    """
    place = Path(path)
    kind = to or _kind(place)
    if kind not in SUFFIXES:
        raise ValueError(f"cannot export to {kind!r}; use one of {', '.join(SUFFIXES)}")
    if kind == "c":
        options = {"name": place.stem, **options}
    made = getattr(import_module(f"baconlogic.export._{kind}"), f"to_{kind}")(model, **options)
    if kind == "c":
        header = place.with_name(f"{made.name}.h")
        write_whole(made.header.encode(), header)
        write_whole(made.source.encode(), place)
        return [place, header]
    write_whole(_as_bytes(kind, made), place)
    return [place]


def _kind(path: Path) -> str:
    for kind, suffixes in SUFFIXES.items():
        if path.suffix.lower() in suffixes:
            return kind
    known = ", ".join(suffix for suffixes in SUFFIXES.values() for suffix in suffixes)
    raise ValueError(f"{path.name!r} does not say what to export to: end it in one of {known}, or give to=")


def _as_bytes(kind: str, made: Any) -> bytes:
    if kind == "onnx":
        data: bytes = made.SerializeToString()
        return data
    if kind == "excel":
        buffer = io.BytesIO()
        made.save(buffer)
        return buffer.getvalue()
    return str(made).encode()
