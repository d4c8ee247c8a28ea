"""The command line: `baconlogic fit data.csv --target diagnosis -o model.json`, then questions to the model.

One file a command, named after it (demo stands with fit, describe with show, simplify with prune). What they share:

    _app        the map of commands
    _run        errors as one line, exit codes, Ctrl-C
    _options    options that several commands have, and how their text is read
    _tables     data files: CSV, TSV, Parquet, JSON lines, pipes
    _models     model files, and how labels of a file are those of a model
    _overwrite  what a command may write over
    _print      everything that is printed

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
        from baconlogic.cli._app import app
        from baconlogic.cli._run import run
    except ModuleNotFoundError as problem:
        if (problem.name or "").split(".")[0] not in ("click", "rich", "shellingham", "typer"):
            raise
        sys.stderr.write(f'baconlogic: the command line needs {problem.name}; pip install "baconlogic[cli]"\n')
        return 2
    return run(app, sys.argv[1:] if arguments is None else arguments)
