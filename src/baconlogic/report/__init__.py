"""Reports: a page about a model that people can read, move and check, and words for a language model to start from.

report(model, X, y, path="model.html")    a page that needs no server and no network; .md for Markdown
prompt, check_report                      what to ask a language model, and whether what it claims is so
report_schema                             the form of its answer
"""

from baconlogic.report._check import check_report
from baconlogic.report._prompt import prompt, report_schema
from baconlogic.report._report import report

__all__ = ["check_report", "prompt", "report", "report_schema"]
