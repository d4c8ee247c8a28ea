"""The command line: `baconlogic fit data.csv --target diagnosis -o model.json`, then questions to the model.

    app          the commands and their map
    running      errors as one line, exit codes
    options      what commands have in common
    tables       data files: CSV, TSV, Parquet, JSON lines, pipes
    overwriting  what a command may write over
    models       model files, and how labels of a file are those of a model
    printing     everything that is printed
    stopping     Ctrl-C while a model is learned
    scoring      how right a model is on a table
    fitting      how the options of fit are read, and the fit itself
    editing      what edits are called, and what they changed
    learning, asking, judging, changing, carrying    the commands

Heavy packages are imported inside commands, so that `--help` is quick.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command line and return its exit code: 0 fine, 1 unusable data or model, 2 wrong usage, 130 interrupted.

    141 where nobody reads the answer any more, as of `head`.
    """
    try:
        from baconlogic.cli._run import run
    except ModuleNotFoundError as problem:
        if (problem.name or "").split(".")[0] not in ("click", "rich", "shellingham", "typer"):
            raise
        sys.stderr.write(f'baconlogic: the command line needs {problem.name}; pip install "baconlogic[cli]"\n')
        return 2
    return run(sys.argv[1:] if arguments is None else arguments)
