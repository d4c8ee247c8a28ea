"""Every benchmark but the suite in quick form, and the page written from it, in one process and a temporary folder.

It says whether they run, not how fast anything is. To run it:

    python benchmarks/smoke.py
"""

from __future__ import annotations

import importlib
import os
import tempfile
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")  # read when scikit-learn is loaded, which `write` does

import write

NAMES = ("recovery", "growth", "stability", "fit", "kernel", "predict", "export", "before_after", "reading", "speed")


def main() -> None:
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        for name in NAMES:
            print(f"\n== {name}", flush=True)
            importlib.import_module(name).main(["--quick", "--json", str(folder / "results" / f"{name}.json")])
        write.main(["--results", str(folder / "results"), "--page", str(folder / "RESULTS.md")])
        text = (folder / "RESULTS.md").read_text(encoding="utf-8")
        if text.count("Not measured. To measure it") != 1:  # the suite, which runs by itself
            raise SystemExit("a benchmark left no figures behind")


if __name__ == "__main__":
    main()
