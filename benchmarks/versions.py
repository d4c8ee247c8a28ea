"""Versions of the library side by side: each runs in processes of its own, with its own sources and compiled code.

A benchmark that compares them is called again as a worker, with one task as JSON, and prints its answer as JSON. So a
version needs no more than its folder of sources:

    python benchmarks/before_after.py --versions 0.1.0=../old/src now=src
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import subprocess
import sys
import tempfile
import zlib
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path
from typing import Any, NamedTuple

MOST_JOBS = 2
_MARK = "answer: "
_ONE_CORE = {"OMP_NUM_THREADS": "1", "NUMBA_NUM_THREADS": "1"}

Task = dict[str, Any]


class Version(NamedTuple):
    """A name and the folder of its sources."""

    name: str
    sources: Path
    here: bool = False  # the library that is imported anyway: its compiled code is where it always is

    @property
    def digest(self) -> str:
        """What tells its sources from others."""
        value = 0
        for path in sorted(self.sources.glob("baconlogic/**/*.py")):
            value = zlib.crc32(path.read_bytes(), zlib.crc32(str(path.relative_to(self.sources)).encode(), value))
        return f"{value:08x}"


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--versions", nargs="+", metavar="NAME=FOLDER", type=_version, help="sources to compare, the oldest first"
    )
    parser.add_argument("--jobs", type=int, default=1, choices=range(1, MOST_JOBS + 1), help="tasks side by side")


def chosen(options: argparse.Namespace) -> list[Version]:
    """Return the versions that were asked for: the library that would be imported, if none."""
    if options.versions:
        return list(options.versions)
    found = importlib.util.find_spec("baconlogic")
    if found is None or found.origin is None:
        raise SystemExit("baconlogic is not installed; say where its sources are with --versions now=src")
    return [Version("now", Path(found.origin).resolve().parents[1], here=True)]


def _version(word: str) -> Version:
    name, _, folder = word.partition("=")
    sources = Path(folder).resolve()
    if not (sources / "baconlogic" / "__init__.py").exists():
        raise argparse.ArgumentTypeError(f"{word!r}: give a name and a folder with baconlogic in it, e.g. now=src")
    return Version(name, sources)


def ask(script: str, version: Version, task: Task, cache: Path | None = None) -> Any:
    """Return what the worker of a script answers with this version; compiled code is kept in `cache`, if given."""
    places = {"PYTHONPATH": str(version.sources)}
    if cache or not version.here:
        kept = Path(tempfile.gettempdir()) / "baconlogic-versions" / f"{version.name}-{version.digest}"
        places["NUMBA_CACHE_DIR"] = str(cache or kept)
    words = [sys.executable, "-W", "ignore", script, "--worker", json.dumps(task)]
    done = subprocess.run(  # noqa: S603
        words, env={**os.environ, **places, **_ONE_CORE}, capture_output=True, text=True, check=False
    )
    lines = [line for line in done.stdout.splitlines() if line.startswith(_MARK)]
    if done.returncode or not lines:
        raise RuntimeError(f"{version.name}, {task}: {done.stderr.strip()[-600:]}")
    return json.loads(lines[-1][len(_MARK) :])


def ask_all(script: str, tasks: list[tuple[Version, Task]], jobs: int = 1) -> Iterator[tuple[Version, Task, Any]]:
    """Give the answers as they come; a task that fails is told and left out."""
    with ThreadPoolExecutor(jobs) as pool:
        waiting = {pool.submit(ask, script, version, task): (version, task) for version, task in tasks}
        for done in as_completed(waiting):
            try:
                yield *waiting[done], done.result()
            except RuntimeError as problem:
                print(f"failed: {problem}", flush=True)


def work(solve: Callable[[Task], Any]) -> bool:
    """Answer the task of a worker; say whether this process is one."""
    if sys.argv[1:2] != ["--worker"]:
        return False
    import baconlogic

    if not Path(baconlogic.__file__).is_relative_to(os.environ["PYTHONPATH"]):
        raise SystemExit(f"{baconlogic.__file__} was imported, not what is in {os.environ['PYTHONPATH']}")
    print(_MARK + json.dumps(solve(json.loads(sys.argv[2]))))
    return True
