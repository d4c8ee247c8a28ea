"""Reports: a prompt for a written report, and a check of what was written."""

from __future__ import annotations

from baconlogic.report.checks import Finding, ReportCheck, check_report
from baconlogic.report.prompting import prompt

__all__ = ["Finding", "ReportCheck", "check_report", "prompt"]
