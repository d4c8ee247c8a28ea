"""What answers have in common: they are frozen, read well as text, and can be carried on as plain data or a table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np

from baconlogic.core.nodes import Node
from baconlogic.core.tree import Tree


class Result:
    """A frozen dataclass that is an answer."""

    def to_dict(self) -> dict[str, Any]:
        """Return the answer as plain data; trees are written as formulas, and what begins with _ stays inside."""
        names = [each.name for each in fields(self) if not each.name.startswith("_")]  # type: ignore[arg-type]
        return {name: _plain(getattr(self, name)) for name in names}


class Listing(Result):
    """An answer that is a table: `rows` are its lines, all of one kind."""

    rows: tuple[Result, ...]

    def to_frame(self) -> Any:
        """Return the table as a pandas frame."""
        try:
            import pandas as pd
        except ModuleNotFoundError:
            raise ModuleNotFoundError("to_frame() needs pandas: pip install pandas; to_dict() does not") from None
        return pd.DataFrame([row.to_dict() for row in self.rows])


def _plain(value: Any) -> Any:
    if isinstance(value, Result):
        return value.to_dict()
    if isinstance(value, Tree):
        return value.formula()
    if isinstance(value, Node):
        return Tree(value).formula()
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if is_dataclass(value) and not isinstance(value, type):
        return {each.name: _plain(getattr(value, each.name)) for each in fields(value)}
    return [_plain(item) for item in value] if isinstance(value, list | tuple) else value
