"""Run the examples of a page and put what they print below them: `python docs/run.py docs/explain.md`.

Code blocks of a page share their names. The text block that follows a code block is what it prints. With `--check`
nothing is written, blocks that take long (their first line says "takes") are skipped, and a difference is an error.
"""

from __future__ import annotations

import argparse
import contextlib
import difflib
import io
import re
import sys
import types
from pathlib import Path

BLOCK = re.compile(r"```python\n(?P<code>.*?)```\n(?P<gap>\n```text\n(?P<text>.*?)```\n)?", re.DOTALL)


def run(page: str, *, skip_long: bool = False) -> str:
    """Return the page with what its examples print."""
    module = types.ModuleType("__page__")
    sys.modules["__page__"] = module  # where classes of the page look for their names

    def replace(block: re.Match[str]) -> str:
        code = block["code"]
        if skip_long and "takes" in code.split("\n", 1)[0]:
            return block[0]
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(code, "<page>", "exec", dont_inherit=True), vars(module))  # noqa: S102
        said = printed.getvalue()
        return f"```python\n{code}```\n" + (f"\n```text\n{said}```\n" if said else "")

    return BLOCK.sub(replace, page)


def main() -> None:
    """Rewrite or check a page; pictures are written beside it."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("page", type=Path)
    arguments.add_argument("--check", action="store_true")
    given = arguments.parse_args()
    page = given.page.resolve()
    before = page.read_text(encoding="utf-8")
    with contextlib.chdir(page.parent):
        after = run(before, skip_long=given.check)
    if not given.check:
        page.write_text(after, encoding="utf-8")
    elif after != before:
        sys.exit(
            "".join(
                difflib.unified_diff(
                    before.splitlines(keepends=True), after.splitlines(keepends=True), "page", "printed"
                )
            )
        )


if __name__ == "__main__":
    main()
