"""Reports: a page about a model that people can read, move and check, and words for a language model to start from.

report(model, X, y, path="model.html")    a page that needs no server and no network; .md for Markdown
prompt, check_report                      what to ask a language model, and whether what it claims is so
report_schema                             the form of its answer
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from baconlogic.report._report import report

if TYPE_CHECKING:
    from baconlogic.report._check import check_report
    from baconlogic.report._prompt import prompt, report_schema

__all__ = ["check_report", "prompt", "report", "report_schema"]

_ELSEWHERE = {"check_report": "_check", "prompt": "_prompt", "report_schema": "_prompt"}


def __getattr__(name: str) -> Any:
    """Bring in what is asked for."""
    if name in _ELSEWHERE:
        return getattr(import_module(f"baconlogic.report.{_ELSEWHERE[name]}"), name)
    raise AttributeError(f"module 'baconlogic.report' has no attribute {name!r}")
