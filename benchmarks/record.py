"""What every benchmark keeps: its figures as JSON, with the machine, the versions, the command and the settings."""

from __future__ import annotations

import argparse
import importlib.metadata
import json
import os
import platform
import re
import shlex
import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
RESULTS = HERE / "results"
DATA = HERE.parents[1] / "shared" / "data"
PACKAGES = (
    "baconlogic",
    "numpy",
    "scipy",
    "scikit-learn",
    "numba",
    "torch",
    "bacon-net",
    "interpret-core",
    "duckdb",
)
_PLACE = re.compile(r"=/.*")  # NAME=/somewhere
_PLACES = ("--json", "--data")  # options that say where things are on one machine

Record = dict[str, Any]


def parser(description: str) -> argparse.ArgumentParser:
    """Return a parser with the options that all benchmarks share."""
    made = argparse.ArgumentParser(description=description.splitlines()[0])
    made.add_argument("--quick", action="store_true", help="small and short: does it run?")
    made.add_argument(
        "--json", type=Path, metavar="FILE", help="where the figures go; with --quick nowhere unless given"
    )
    made.add_argument("--data", type=Path, default=DATA, help="folder of the data files")
    return made


def parse(parser: argparse.ArgumentParser, argv: list[str] | None) -> argparse.Namespace:
    """Return the options, and in `words` what was typed."""
    words = sys.argv[1:] if argv is None else argv
    options = parser.parse_args(words)
    options.words = words
    return options


def command(name: str, words: list[str]) -> str:
    """Return the command as others would type it, without places on this machine."""
    kept: list[str] = []
    skip = False
    for word in words:
        if not skip and word.split("=")[0] not in _PLACES:
            kept.append(_PLACE.sub("=FOLDER", word))
        skip = not skip and word in _PLACES
    return shlex.join(["python", f"benchmarks/{name}.py", *kept])


def machine() -> dict[str, Any]:
    """Return what is worth knowing about this machine."""
    return {
        "processor": _processor(),
        "cores": os.cpu_count(),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "load": _load(),
    }


def _load() -> float | None:
    """Return the load of the last 15 minutes, what else was running; None where the system does not say."""
    return os.getloadavg()[2] if hasattr(os, "getloadavg") else None


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()


def versions() -> dict[str, str]:
    """Return the packages that are here."""
    found = {}
    for name in PACKAGES:
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue
    return found


def greet() -> None:
    """Print where this runs."""
    where = machine()
    print(f"{where['processor']}, {where['cores']} cores, Python {where['python']}")
    print(", ".join(f"{name} {version}" for name, version in versions().items()))


def place(name: str, options: argparse.Namespace) -> Path | None:
    """Return where the figures of a benchmark go; a quick run writes only where it is told to."""
    return options.json or (None if options.quick else RESULTS / f"{name}.json")


def keep(name: str, options: argparse.Namespace, settings: dict[str, Any], figures: dict[str, Any]) -> None:
    """Write the figures of one benchmark; what takes long does so after every step, so that a stop loses little."""
    target = place(name, options)
    if target is None:
        return
    record = {
        "name": name,
        "command": "\n".join([*getattr(options, "before", []), command(name, options.words)]),
        "machine": rounded(machine()),
        "versions": versions(),
        "settings": settings,
        "figures": rounded(figures),
    }
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")


def rounded(value: Any) -> Any:
    """Return the same with every number to five digits: more is noise, and the files stay small."""
    if isinstance(value, dict):
        return {str(key): rounded(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [rounded(each) for each in value]
    if isinstance(value, float):
        return float(f"{value:.5g}")
    return value


def read(folder: Path) -> dict[str, Record]:
    """Return the records in a folder by name."""
    found = [json.loads(path.read_text(encoding="utf-8")) for path in sorted(folder.glob("*.json"))]
    return {record["name"]: record for record in found if isinstance(record, dict) and "figures" in record}
