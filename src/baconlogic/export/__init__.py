"""A decision carried away: as Python, C, JavaScript, SQL, ONNX, LaTeX or a workbook.

    to_python(model)        a module that needs nothing but `math`
    to_c(model)             C99, a header and a source
    to_javascript(model)    an ES module
    to_sql(model)           a SELECT for SQLite, DuckDB, PostgreSQL; needs sqlglot
    to_onnx(model)          a graph; needs onnx
    to_latex(model)         the formulas
    to_excel(model)         a workbook that decides; needs openpyxl
    save(model, path)       any of them, as files
    cost(model)             what a decision costs: bytes, operations, nanoseconds

Each takes a Tree, a Decision or a fitted classifier, and prints the same program (see `expression`): criteria, missing
values, categories, threshold and probability included. What comes out says what `evaluate` says, to 1e-12.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from baconlogic.export._c import CSource, to_c
    from baconlogic.export._cost import Cost, cost
    from baconlogic.export._excel import to_excel
    from baconlogic.export._javascript import to_javascript
    from baconlogic.export._latex import to_latex
    from baconlogic.export._onnx import to_onnx
    from baconlogic.export._python import to_python
    from baconlogic.export._save import save
    from baconlogic.export._sql import to_sql

__all__ = [
    "CSource",
    "Cost",
    "cost",
    "save",
    "to_c",
    "to_excel",
    "to_javascript",
    "to_latex",
    "to_onnx",
    "to_python",
    "to_sql",
]

_CLASSES = {"CSource": "to_c", "Cost": "cost"}  # what is in the file of a function


def __getattr__(name: str) -> Any:
    """Bring in an export when it is asked for: a file is named after its function, without "to"."""
    if name not in __all__:
        raise AttributeError(f"module 'baconlogic.export' has no attribute {name!r}")
    function = _CLASSES.get(name, name)
    return getattr(import_module(f"baconlogic.export._{function.removeprefix('to_')}"), name)
