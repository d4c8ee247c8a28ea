"""Tree -> Tree: every edit returns a new tree."""

from baconlogic.edit.removing import remove

__all__ = ["remove"]
