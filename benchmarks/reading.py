"""How much there is to read: trees fitted to all rows of the suite, the extras and the sets with text.

Everything is worked out from the tree itself, so it can be asked of any version. Counted as violations are:

    duplicates   a feature with the same criterion twice, or rising here and falling there outside a band: the two under
                 one conjunction, or, each other's outside, under one disjunction
    levels       gates whose andness is not that of a named level
    digits       numbers of the formula with more than three significant digits
    weights      neutral gates whose weights are not in the order of weight x standard deviation of the input's truth
    parse        Tree.parse(tree.formula()) is another tree, or says other truths

To run it:

    python benchmarks/reading.py                                          the library that is imported
    python benchmarks/reading.py --versions 0.1.0=../old/src now=src
    python benchmarks/reading.py --quick                                  Iris
"""

from __future__ import annotations

import json
import os
import re
from collections import Counter
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
import peers
import record
import versions
from parts import reading as part
from problems import GROUPS, Absent, Table
from suite import EVERY

READ = ("SUITE", "EXTRA", "TEXT")
DIGITS = 3
NEUTRAL = 0.5

_STRING = re.compile(r'"(?:[^"\\]|\\.)*"')
_NUMBER = re.compile(r"(?<![\w.])[+-]?(\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?%?")


def measures(model: Any, X: Table) -> dict[str, Any]:
    """Return what there is to read of a fitted classifier, and what misleads."""
    from baconlogic import Gate, Leaf, Tree, explain

    tree = model.tree_
    nodes = dict(tree.walk())
    gates = {path: node for path, node in nodes.items() if isinstance(node, Gate)}
    text = tree.formula()
    again = Tree.parse(text)
    same = again == tree and np.array_equal(again.evaluate(_named(X)), tree.evaluate(_named(X)))
    return {
        "leaves": sum(isinstance(node, Leaf) for node in nodes.values()),
        "gates": len(gates),
        "depth": max((_above(gates, path) for path in gates), default=0),
        "words": len(str(explain.describe(model)).split()),
        "duplicates": duplicates(nodes),
        "levels": sum(node.level.andness(len(node.inputs)) != node.andness for node in gates.values()),
        "digits": sum(significant(digits) > DIGITS for digits in numbers_of(text)),
        "weights": sum(not ordered(tree, path, _named(X)) for path, g in gates.items() if g.andness == NEUTRAL),
        "parse": int(not same),
        "formula": text,
    }


def _above(gates: dict[Any, Any], path: tuple[int, ...]) -> int:
    """Return the number of gates from the root down to this one: negations do not count."""
    return sum(path[:steps] in gates for steps in range(len(path) + 1))


def _named(X: Table) -> Any:
    return X if hasattr(X, "iloc") else {f"x{i}": X[:, i] for i in range(X.shape[1])}


def duplicates(nodes: dict[Any, Any]) -> int:
    """Return the number of leaves said before, and of features that are used in two directions but not as a band."""
    from baconlogic import Leaf

    leaves = {path: node for path, node in nodes.items() if isinstance(node, Leaf)}
    said = Counter((node.feature, repr(node.criterion)) for node in leaves.values())
    found = sum(count - 1 for count in said.values())
    for feature in {node.feature for node in leaves.values()}:
        uses = {path: _rising(nodes, path) for path, node in leaves.items() if node.feature == feature}
        found += {True, False} <= {rising for path, rising in uses.items() if not _side_of_band(nodes, uses, path)}
    return found


def _side_of_band(nodes: dict[Any, Any], uses: dict[Any, bool | None], path: tuple[int, ...]) -> bool:
    """Whether a leaf has its other side beside it, under a gate that is no mean."""
    gate = _gate_above(nodes, path)
    beside = [rising for other, rising in uses.items() if other != path and _gate_above(nodes, other) == gate]
    return beside == [not uses[path]] and nodes[gate].andness != NEUTRAL


def _rising(nodes: dict[Any, Any], path: tuple[int, ...]) -> bool | None:
    """Return whether the tree's truth rises with this leaf's value; None where the leaf has no direction."""
    rising = getattr(nodes[path].criterion, "rising", None)
    if rising is None:
        return None
    above = [nodes[path[:steps]] for steps in range(len(path))]
    return rising != (sum(type(node).__name__ == "Not" for node in above) % 2 == 1)


def _gate_above(nodes: dict[Any, Any], path: tuple[int, ...]) -> tuple[int, ...]:
    steps = len(path) - 1
    while steps > 0 and not hasattr(nodes[path[:steps]], "andness"):
        steps -= 1
    return path[: max(steps, 0)]


def numbers_of(formula: str) -> list[str]:
    """Return the digits of every number in a formula; names and words in quotes are none."""
    return [found.group(1) for found in _NUMBER.finditer(_STRING.sub('""', formula))]


def significant(digits: str) -> int:
    """Return how many digits of a number say something: 0.250 has two or three, 1200 two."""
    whole, _, rest = digits.partition(".")
    kept = (whole + rest).lstrip("0")
    return len(kept.rstrip("0"))


def ordered(tree: Any, path: tuple[int, ...], X: Any) -> bool:
    """Return whether the order of weights is the order of weight x standard deviation; equal weights may be in any."""
    truths, gate = tree.evaluate(X, nodes=True), dict(tree.walk())[path]
    spread = [float(np.std(truths[(*path, i)])) for i in range(len(gate.inputs))]
    shown = [round(weight, 3) for weight in gate.weights]  # as they are printed
    influence = [w * s for w, s in zip(gate.weights, spread, strict=True)]
    pairs = [(i, j) for i in range(len(shown)) for j in range(len(shown)) if shown[i] > shown[j]]
    return all(influence[i] >= influence[j] for i, j in pairs)


def work(task: versions.Task) -> dict[str, Any]:
    """Fit the version this process has to all rows of one problem."""
    X, y = EVERY[task["problem"]](Path(task["data"]))
    return measures(peers.ours(n_jobs=1).fit(X, y), X)


def main(argv: list[str] | None = None) -> None:
    parser = record.parser(__doc__)
    versions.add_options(parser)
    parser.add_argument("--groups", nargs="+", choices=list(GROUPS), default=list(READ), help="these problems")
    parser.add_argument("--only", nargs="+", metavar="DATA", choices=list(EVERY), help="these problems alone")
    options = record.parse(parser, argv)
    record.greet()
    which = versions.chosen(options)
    names = ["Iris Virginica"] if options.quick else options.only or [n for g in options.groups for n in GROUPS[g]]
    place = record.place("reading", options)
    there = place is not None and place.exists()
    entries = json.loads(place.read_text(encoding="utf-8"))["figures"]["trees"] if there else {}
    tasks = []
    for name in names:
        try:
            EVERY[name](options.data)
        except Absent as why:
            print(f"{name} is skipped: {why}")
            continue
        new = [v for v in which if entries.get(v.name, {}).get(name, {}).get("about") != v.digest]
        tasks += [(version, {"problem": name, "data": str(options.data)}) for version in new]
    for version, task, found in versions.ask_all(__file__, tasks, options.jobs):
        entries.setdefault(version.name, {})[task["problem"]] = {"about": version.digest, **found}
        said = "  ".join(f"{figure} {found[figure]}" for figure in (*part.SIZES, *part.VIOLATIONS))
        print(f"{task['problem']:24} {version.name:8} {said}", flush=True)
        record.keep("reading", options, {"versions": [each.name for each in which]}, {"trees": entries})
    wanted = {v.name: {n: entries[v.name][n] for n in names if n in entries.get(v.name, {})} for v in which}
    print("\n" + part.told(wanted))


if __name__ == "__main__" and not versions.work(work):
    main()
