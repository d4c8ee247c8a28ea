"""What a decision costs once it is exported: bytes, operations and, for C, nanoseconds on this machine."""

from __future__ import annotations

import contextlib
import importlib
import shutil
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from baconlogic.core.subject import Result
from baconlogic.core.words import aligned
from baconlogic.export._c import literal, to_c
from baconlogic.export._compile import program
from baconlogic.export._program import Among, Less, Missing, Op, Past, Program, each

_TEXTS = ("python", "javascript", "sql")  # the exports that are one text, by module and function to_...
_OPERATIONS = ("arithmetic", "comparisons", "exponentials", "logarithms")
_ROWS = 256
_MAIN = """#include "model.h"
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <time.h>

static const struct model_input rows[] = {{
{rows}
}};

int main(void)
{{
    const int count = (int)(sizeof rows / sizeof rows[0]);
    double best = 1e30;
    long sum = 0, times = 1;
    for (int run = 0; run < {runs};) {{
        const clock_t start = clock();
        for (long k = 0; k < times; k++) {{
            for (int i = 0; i < count; i++) {{
                sum += model_decide(&rows[i]);
            }}
        }}
        const double seconds = (double)(clock() - start) / CLOCKS_PER_SEC;
        if (seconds < 5e-4) {{
            times *= 2;
            continue;
        }}
        const double each = 1e9 * seconds / ((double)times * count);
        best = each < best ? each : best;
        run++;
    }}
    printf("%.2f %ld\\n", best, sum);
    return 0;
}}
"""


@dataclass(frozen=True)
class Cost(Result):
    """Bytes of each export; operations of one decision, counted as if all of it were worked out; nanoseconds in C."""

    bytes: Mapping[str, int]
    arithmetic: int
    comparisons: int
    exponentials: int
    logarithms: int
    c_ns: float | None  # None where it was not measured

    @property
    def operations(self) -> int:
        """All operations together."""
        return sum(getattr(self, name) for name in _OPERATIONS)

    def line(self) -> str:
        """Say it in one line."""
        sizes = ", ".join(f"{name} {size:,} bytes" for name, size in self.bytes.items())
        took = "" if self.c_ns is None else f"; {self.c_ns:.0f} ns a decision in C here"
        return f"Cost: {sizes}; at most {self.operations:,} operations a decision{took}."

    def __str__(self) -> str:
        sizes = aligned(["export", "bytes"], [[name, f"{size:,}"] for name, size in self.bytes.items()])
        operations = aligned(["operations", "at most"], [[name, f"{getattr(self, name):,}"] for name in _OPERATIONS])
        return f"{sizes}\n\n{operations}\n\n{self.line()}"


def cost(model: Any, *, measure: bool = True) -> Cost:
    """Return what a model costs as Python, C, JavaScript and SQL; C is timed where a compiler is, unless told not to.

    The rows it is timed on are random ones around the marks of the criteria.
    """
    made = program(model)
    source = to_c(model)
    sizes = {"c": len((source.header + source.source).encode())}
    for name in _TEXTS:
        module = importlib.import_module(f"baconlogic.export._{name}")
        with contextlib.suppress(ModuleNotFoundError):  # SQL needs a package of its own
            sizes[name] = len(getattr(module, f"to_{name}")(model).encode())
    took = c_nanoseconds(model, _rows(made)) if measure else None
    return Cost(bytes=dict(sorted(sizes.items())), **_operations(made), c_ns=took)


def c_nanoseconds(model: Any, rows: Sequence[Sequence[Any]], runs: int = 200) -> float | None:
    """Return the nanoseconds of one decision in C, the best of several runs; None without a compiler.

    A row has the values of the columns in the order of the struct, None for what is missing.
    """
    compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
    if compiler is None:
        return None
    lines = ",\n".join(f"    {{{', '.join(map(_value, row)) or '0'}}}" for row in rows)
    with tempfile.TemporaryDirectory() as folder:
        to_c(model).save(folder)
        main, run = Path(folder, "main.c"), Path(folder, "run")
        main.write_text(_MAIN.format(rows=lines, runs=runs), encoding="utf-8")
        command = [compiler, "-std=c99", "-O2", str(main), str(Path(folder, "model.c")), "-o", str(run), "-lm"]
        try:
            subprocess.run(command, check=True, capture_output=True, timeout=120)  # noqa: S603
            said = subprocess.run([str(run)], check=True, capture_output=True, timeout=120)  # noqa: S603
        except (OSError, subprocess.SubprocessError):
            return None
    return float(said.stdout.split()[0])


def _value(value: Any) -> str:
    if isinstance(value, str):
        return literal(value)
    return "NAN" if value is None or value != value else repr(float(value))


def _operations(made: Program) -> dict[str, int]:
    """Count the operations of one decision, by their kind."""
    found = dict.fromkeys(_OPERATIONS, 0)
    for check in made.checks:
        found["comparisons"] += {"missing": 1, "outside": 2, "unlisted": len(check.categories)}[check.why]
    for binding in made.needed(made.choice):
        for part in each(binding.value):
            if isinstance(part, Op):
                kind = {"exp": "exponentials", "expm1": "exponentials", "log": "logarithms"}.get(part.op, "arithmetic")
                found[kind] += max(len(part.args) - 1, 1)
            elif isinstance(part, Past):
                found["arithmetic"] += 1
            elif isinstance(part, Less | Missing):
                found["comparisons"] += 1
            elif isinstance(part, Among):
                found["comparisons"] += len(part.categories)
    return found


def _rows(made: Program) -> list[list[Any]]:
    """Return random rows: numbers around the marks of their column (degrees of truth have none), known categories."""
    rng = np.random.default_rng(0)
    parts, categories = made.parts(), made.categories()
    columns: list[list[Any]] = []
    for place, column in enumerate(made.inputs):
        known = [category for asked, category in categories if asked == place]
        marks = [part.mark for part in parts if isinstance(part, Past) and part.input == place]
        if known:
            columns.append([known[i] for i in rng.integers(0, len(known), _ROWS)])
        elif marks:
            low, high = min(marks), max(marks)
            spread = (high - low) or abs(low) or 1.0
            columns.append(rng.uniform(low - spread / 2.0, high + spread / 2.0, _ROWS).tolist())
        else:
            columns.append([""] * _ROWS if column.kind == "text" else rng.random(_ROWS).tolist())
    return [list(row) for row in zip(*columns, strict=True)] or [[]]
