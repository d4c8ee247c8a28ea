"""Exports as files, by what the file is called or by what is asked for."""

from __future__ import annotations

import io
import os
from importlib import import_module
from pathlib import Path
from typing import Any

from baconlogic.core.files import write_whole

SUFFIXES = {
    ".py": "python",
    ".c": "c",
    ".js": "javascript",
    ".mjs": "javascript",
    ".sql": "sql",
    ".onnx": "onnx",
    ".tex": "latex",
    ".xlsx": "excel",
}


def save(model: Any, path: str | os.PathLike[str], *, to: str | None = None, **options: Any) -> list[Path]:
    """Write a model in another language; return the files written.

    `to` is python, c, javascript, sql, onnx, latex or excel; without it the suffix of the path says which. `options`
    are those of the export, e.g. `trace=True`. C makes two files: the header beside the source, called like it.
    """
    place = Path(path)
    kind = to or SUFFIXES.get(place.suffix.lower())
    if kind is None:
        known = ", ".join(SUFFIXES)
        raise ValueError(f"{place.name!r} does not say what to export to: end it in one of {known}, or give to=")
    if kind not in SUFFIXES.values():
        raise ValueError(f"cannot export to {kind!r}; use one of {', '.join(dict.fromkeys(SUFFIXES.values()))}")
    if kind == "c":
        options = {"name": place.stem, **options}
    made = getattr(import_module(f"baconlogic.export._{kind}"), f"to_{kind}")(model, **options)
    if kind == "c":
        header = place.with_name(f"{made.name}.h")
        write_whole(made.header.encode(), header)
        write_whole(made.source.encode(), place)
        return [place, header]
    if kind == "excel":
        buffer = io.BytesIO()
        made.save(buffer)
        write_whole(buffer.getvalue(), place)
    else:
        write_whole(made.SerializeToString() if kind == "onnx" else made.encode(), place)
    return [place]
