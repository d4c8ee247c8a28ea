"""Tables for experiments: Boolean expressions, breast cancer, Iris and houses, as the paper uses them.

    X, y = boolean(appendix_b(), repeats=100)
    X, y = houses("A", rows=10_000, random_state=0)

A `Dataset` holds arrays and their names; `frame()` gives a pandas DataFrame. The same seed gives the same data.
"""

from __future__ import annotations

import array
import csv
import json
import math
import os
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

Seed = int | np.random.Generator | None

_LARGEST_TABLE = 20  # variables; 2 ** 20 rows
_CELLS = "radius texture perimeter area smoothness compactness concavity concave_points symmetry fractal_dimension"
HOUSE_FEATURES = ("price", "bed", "bath", "acre_lot", "house_size", "zip_code")


@dataclass(frozen=True, eq=False)
class Dataset:
    """Rows with names and, usually, labels; `X, y = dataset` unpacks it. Without labels y is empty."""

    X: NDArray[np.float64]  # (rows, features)
    y: NDArray[Any]  # (rows,): 0 or 1, or the name of the class; (0,) without labels
    feature_names: tuple[str, ...]
    target_names: tuple[str, ...]  # what 0, 1, ... mean; the classes where y holds their names
    description: str

    def __iter__(self) -> Iterator[NDArray[Any]]:
        return iter((self.X, self.y))

    def frame(self) -> Any:
        """Return a pandas DataFrame of the features and, where there are labels, the column `target`."""
        try:
            import pandas as pd
        except ImportError as problem:
            raise ImportError("a frame needs pandas; pip install pandas, or use X and feature_names") from problem
        frame = pd.DataFrame(self.X, columns=list(self.feature_names))
        if len(self.y):
            frame.insert(len(self.feature_names), "target", self.y)
        return frame


@dataclass(frozen=True)
class Expression:
    """A Boolean expression that uses every variable once: leaves, negated or not, joined by binary operators.

    Nodes are numbered: the n leaves from 0, then the steps in order. The last step is the whole expression.
    """

    names: tuple[str, ...]  # of the leaves; in a chain, innermost first
    steps: tuple[tuple[str, int, int], ...]  # (operator, left node, right node), n - 1 of them
    negated: tuple[bool, ...] = ()  # one a leaf; (): none
    columns: tuple[str, ...] = ()  # the order of a table's columns; (): that of the names

    def __post_init__(self) -> None:
        n = len(self.names)
        object.__setattr__(self, "names", tuple(self.names))
        object.__setattr__(self, "negated", tuple(bool(flag) for flag in self.negated) or (False,) * n)
        object.__setattr__(self, "columns", tuple(self.columns) or self.names)
        _check_names(self.names)
        if len(self.negated) != n:
            raise ValueError(f"{n} names need {n} flags in negated, got {len(self.negated)}; leave it out for none")
        if Counter(self.columns) != Counter(self.names):
            raise ValueError("columns must hold every name exactly once; leave it out for the order of the names")
        for operator, _, _ in self.steps:
            if operator not in ("and", "or"):
                raise ValueError(f"an operator is 'and' or 'or', got {operator!r}")
        used = sorted(node for _, *pair in self.steps for node in pair)
        if used != list(range(2 * n - 2)) or any(max(step[1:]) >= n + i for i, step in enumerate(self.steps)):
            raise ValueError("every node but the last must enter exactly one later step; chain(...) builds valid steps")

    @property
    def operators(self) -> tuple[str, ...]:
        """The operators in the order of the steps; in a chain, innermost first."""
        return tuple(operator for operator, _, _ in self.steps)

    def evaluate(self, X: ArrayLike) -> NDArray[np.bool_]:
        """Return the truth of each row of a table of 0/1 or Boolean values whose columns are in the order `columns`."""
        table, n = np.asarray(X), len(self.names)
        if table.ndim != 2 or table.shape[1] != n:
            raise ValueError(f"expected a table of rows and {n} columns, got shape {table.shape}; see `columns`")
        if not np.all((table == 0) | (table == 1)):
            raise ValueError("a Boolean table holds 0 and 1 only; compare with a threshold first, e.g. X > 0.5")
        place = {name: i for i, name in enumerate(self.columns)}
        values: list[Any] = [table[:, place[name]] != flag for name, flag in zip(self.names, self.negated, strict=True)]
        for operator, left, right in self.steps:
            values.append(values[left] & values[right] if operator == "and" else values[left] | values[right])
            values[left] = values[right] = None  # of a long chain only the last is needed
        return np.asarray(values[-1], dtype=np.bool_)

    def formula(self) -> str:
        """Return the expression in the notation of `Tree.parse`, with pure conjunction C and pure disjunction D."""
        plain = re.compile(r"(?!not$)[^\W\d]\w*")
        names = [name if plain.fullmatch(name) else json.dumps(name, ensure_ascii=False) for name in self.names]
        return self._write(names, {"and": ("C(", ", ", ")"), "or": ("D(", ", ", ")")})

    def __str__(self) -> str:
        """Write it as the paper does: ((A or B) and C)."""
        return self._write(self.names, {"and": ("(", " and ", ")"), "or": ("(", " or ", ")")})

    def _write(self, names: Sequence[str], signs: Mapping[str, tuple[str, str, str]]) -> str:
        n = len(names)
        parts: list[str] = []
        waiting: list[str | int] = [n + len(self.steps) - 1]
        while waiting:
            item = waiting.pop()
            if isinstance(item, str):
                parts.append(item)
            elif item < n:
                parts.append(f"not {names[item]}" if self.negated[item] else names[item])
            else:
                operator, left, right = self.steps[item - n]
                opening, between, closing = signs[operator]
                waiting += [closing, right, between, left, opening]
        return "".join(parts)


def _check_names(names: Sequence[str]) -> None:
    if len(names) < 2:
        raise ValueError(f"an expression joins two or more variables, got {len(names)}")
    for name in names:
        if not isinstance(name, str) or not name.strip():
            raise ValueError(f"a name must be text that is not blank, got {name!r}")
    name, times = Counter(names).most_common(1)[0]
    if times > 1:
        raise ValueError(f"every variable is used once, but {name!r} appears {times} times; rename one of them")


def _check_count(value: Any, what: str, least: int) -> None:
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < least:
        raise ValueError(f"{what} must be a whole number of at least {least}, got {value!r}")


def chain(
    operators: Sequence[str], names: Sequence[str] | None = None, negated: Sequence[bool] | None = None
) -> Expression:
    """Return the left chain (((x1 op1 x2) op2 x3) ...): n - 1 operators, "and" or "or", innermost first.

    Without names the variables are A, B, ...; more than 26 are x0, x1, ..., as a tree calls the columns of an array.
    """
    if isinstance(operators, str):
        raise TypeError(f"operators must be a list such as ['and', 'or'], got the text {operators!r}")
    n = len(operators) + 1
    names = _names(n) if names is None else tuple(names)
    if len(names) != n:
        raise ValueError(f"{n - 1} operators join {n} variables, got {len(names)} names")
    return Expression(names, _chain_steps(tuple(operators)), tuple(negated or ()))


def appendix_b() -> Expression:
    """Return the expression of the paper's Appendix B."""
    return chain(["or", "or", "and", "and", "and", "or", "or"])


def random_chain(n: int, random_state: Seed = None, *, negate: bool = False, shuffle: bool = True) -> Expression:
    """Return a left chain of n variables with random operators.

    `shuffle` puts the variables in random order, `negate` negates each with probability 1/2; tables keep the plain
    order of the names.
    """
    return _random(_chain_steps, n, random_state, negate, shuffle)


def random_balanced(n: int, random_state: Seed = None, *, negate: bool = False, shuffle: bool = True) -> Expression:
    """Return an expression that pairs neighbours, then pairs the pairs, and so on, with random operators.

    The last of an odd number waits for the next round. `negate` and `shuffle` are those of `random_chain`.
    """
    return _random(_balanced_steps, n, random_state, negate, shuffle)


def _random(steps: Callable[..., Any], n: int, seed: Seed, negate: bool, shuffle: bool) -> Expression:
    _check_count(n, "the number of variables", 2)
    rng = np.random.default_rng(seed)
    operators = tuple("or" if draw else "and" for draw in rng.random(n - 1) < 0.5)
    columns = _names(n)
    names = tuple(columns[i] for i in (rng.permutation(n) if shuffle else range(n)))
    return Expression(names, steps(operators), tuple(rng.random(n) < 0.5) if negate else (), columns)


def _names(n: int) -> tuple[str, ...]:
    return tuple("ABCDEFGHIJKLMNOPQRSTUVWXYZ"[:n]) if n <= 26 else tuple(f"x{i}" for i in range(n))


def _chain_steps(operators: tuple[str, ...]) -> tuple[tuple[str, int, int], ...]:
    n = len(operators) + 1
    return tuple((operator, n + i - 1 if i else 0, i + 1) for i, operator in enumerate(operators))


def _balanced_steps(operators: tuple[str, ...]) -> tuple[tuple[str, int, int], ...]:
    n = len(operators) + 1
    steps: list[tuple[str, int, int]] = []
    level = list(range(n))
    while len(level) > 1:
        above = level[len(level) // 2 * 2 :]
        pairs = list(zip(level[::2], level[1::2], strict=False))
        level = [n + len(steps) + i for i in range(len(pairs))] + above
        steps += [(operators[len(steps) + i], *pair) for i, pair in enumerate(pairs)]
    return tuple(steps)


def boolean(
    expression: Expression,
    rows: int | None = None,
    *,
    repeats: int = 1,
    noise: float = 0.0,
    random_state: Seed = None,
    shuffle_columns: bool = False,
) -> Dataset:
    """Return the truth table of an expression, or `rows` uniformly random rows of it, `repeats` times over.

    `noise` is the probability that a label is flipped, for each row by itself. Columns are in the order of
    `expression.columns`, or a random one. A deep variable of a long chain hardly ever matters in uniform rows.
    """
    if not isinstance(expression, Expression):
        raise TypeError(f"expected an Expression such as chain(['or', 'and']), got {type(expression).__name__}")
    n, rng = len(expression.names), np.random.default_rng(random_state)
    _check_count(repeats, "repeats", 1)
    if not 0.0 <= noise <= 1.0:
        raise ValueError(f"noise is the probability of a flipped label, in [0, 1], got {noise!r}")
    if rows is not None:
        _check_count(rows, "rows", 1)
        table = rng.integers(0, 2, (rows, n), dtype=np.uint8)
    elif n > _LARGEST_TABLE:
        raise ValueError(f"a truth table has at most {_LARGEST_TABLE} variables, got {n}; pass rows= for random rows")
    else:
        table = (np.arange(2**n)[:, None] >> np.arange(n)[::-1] & 1).astype(np.uint8)
    y = np.tile(expression.evaluate(table), repeats)
    y ^= rng.random(len(y)) < noise
    order = rng.permutation(n) if shuffle_columns else np.arange(n)
    X = np.tile(table[:, order], (repeats, 1)).astype(np.float64)
    names = tuple(expression.columns[i] for i in order)
    return Dataset(X, y.astype(np.int64), names, ("false", "true"), str(expression))


def breast_cancer() -> Dataset:
    """Return the Wisconsin diagnostic breast cancer data (UCI 17) with the paper's names; y = 1 is malignant.

    1 stands for the mean over the cells of an image, 2 for its standard error and 3 for the worst (largest) values.
    """
    data = _sklearn("load_breast_cancer")
    names = tuple(f"{cell}{i}" for i in (1, 2, 3) for cell in _CELLS.split())
    y = (data.target == list(data.target_names).index("malignant")).astype(np.int64)
    return Dataset(data.data, y, names, ("benign", "malignant"), "Wisconsin diagnostic breast cancer, UCI 17")


def iris() -> Dataset:
    """Return the Iris data (Fisher 1936) with the species as text in y.

    It is scikit-learn's copy, which follows Fisher; UCI 53 differs from it in two rows.
    """
    data = _sklearn("load_iris")
    species = tuple(str(name) for name in data.target_names)
    names = ("sepal_length", "sepal_width", "petal_length", "petal_width")
    return Dataset(data.data, np.array(species)[data.target], names, species, "Iris, Fisher 1936")


def _sklearn(loader: str) -> Any:
    try:
        from sklearn import datasets
    except ImportError as problem:
        raise ImportError("this data set comes with scikit-learn; pip install scikit-learn") from problem
    return getattr(datasets, loader)()


@dataclass(frozen=True)
class HouseRule:
    """A hidden rule of the paper's house experiment: a house is bought when its features exceed the thresholds."""

    operator: str  # "and": all of them, "or": any
    thresholds: tuple[tuple[str, float], ...]

    def label(self, X: ArrayLike, feature_names: Sequence[str] = HOUSE_FEATURES) -> NDArray[np.int64]:
        """Return 1 for the rows that the rule buys, else 0. A missing value in a column of the rule is an error."""
        table, names = np.asarray(X, dtype=np.float64), list(feature_names)
        if table.ndim != 2 or table.shape[1] != len(names):
            raise ValueError(f"expected a table of rows and {len(names)} columns, got shape {table.shape}")
        lacking = [name for name, _ in self.thresholds if name not in names]
        if lacking:
            raise ValueError(f"the rule `{self}` needs the column {lacking[0]!r}, got {', '.join(names)}")
        used = table[:, [names.index(name) for name, _ in self.thresholds]]
        unknown = int(np.isnan(used).any(axis=1).sum())
        if unknown:
            raise ValueError(f"`{self}` needs known values, {unknown} rows lack one; drop them, or use complete=True")
        above = used > [threshold for _, threshold in self.thresholds]
        return np.asarray((np.all if self.operator == "and" else np.any)(above, axis=1), dtype=np.int64)

    def __str__(self) -> str:
        return f" {self.operator} ".join(f"{name} > {threshold:g}" for name, threshold in self.thresholds)


HOUSE_RULES: Mapping[str, HouseRule] = MappingProxyType(
    {
        "A": HouseRule("and", (("bed", 4.0), ("bath", 3.0), ("house_size", 3000.0))),
        "B": HouseRule("or", (("bed", 4.0), ("bath", 3.0), ("acre_lot", 0.5))),
    }
)


def house_rule(case: str) -> HouseRule:
    """Return the paper's rule of case "A" or "B"."""
    if case not in HOUSE_RULES:
        raise ValueError(f"case must be one of {', '.join(HOUSE_RULES)}, got {case!r}; use None for no labels")
    return HOUSE_RULES[case]


def houses(case: str | None = "A", rows: int = 10_000, random_state: Seed = 0) -> Dataset:
    """Return made-up houses that look like listings, labelled by the paper's rule of a case; None gives no labels.

    Sizes are log-normal with heavy tails, rooms follow size, lots follow the place, prices follow all of them.
    """
    _check_count(rows, "rows", 1)
    rule = None if case is None else house_rule(case)
    return _labelled(_draw_houses(rows, np.random.default_rng(random_state)), rule, "houses made up by baconlogic")


def _labelled(X: NDArray[np.float64], rule: HouseRule | None, source: str) -> Dataset:
    if rule is None:
        return Dataset(X, np.empty(0, dtype=np.int64), HOUSE_FEATURES, (), source)
    return Dataset(X, rule.label(X), HOUSE_FEATURES, ("pass", "buy"), f"{source}; bought if {rule}")


def _draw_houses(rows: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """Draw the columns one after another; deviations are in logarithms around a typical house."""
    prefixes = np.sort(rng.choice(np.arange(6, 1000), 40, replace=False))
    codes = (100 * prefixes[:, None] + np.arange(1, 26)).ravel()
    dear = np.repeat(0.4 * rng.standard_normal(40), 25) + 0.2 * rng.standard_normal(1000)
    wide = 0.6 * rng.standard_normal(1000) - 0.5 * dear  # land is scarce where it is dear
    place = rng.choice(1000, rows, p=rng.dirichlet(np.ones(1000)))
    larger = 0.45 * rng.standard_t(8, rows)
    rooms = 0.55 * larger + 0.24 * rng.standard_normal(rows)
    baths = 0.6 * larger + 0.3 * rooms + 0.26 * rng.standard_normal(rows)
    land = wide[place] + 0.5 * larger + 0.9 * rng.standard_normal(rows)
    land += (rng.random(rows) < 0.12) * rng.exponential(1.7, rows)  # farms and woods
    value = dear[place] + 0.8 * larger + 0.25 * baths + 0.12 * land + 0.3 * rng.standard_normal(rows)
    X = np.empty((rows, len(HOUSE_FEATURES)))
    step = rng.choice((1.0, 50.0, 100.0), rows, p=(0.84, 0.04, 0.12))  # how roughly a size is known
    below = 100.0 * (rng.random(rows) < 1 / 3)  # 299,900 rather than 300,000
    X[:, 0] = 1000.0 * np.clip(np.rint(320.0 * np.exp(value)), 10.0, None) - below
    X[:, 1] = np.clip(np.rint(3.4 * np.exp(rooms)), 1.0, 99.0)
    X[:, 2] = np.clip(np.rint(2.2 * np.exp(baths)), 1.0, 99.0)
    X[:, 3] = np.clip(np.round(0.26 * np.exp(land), 2), 0.01, 100_000.0)
    X[:, 4] = np.clip(step * np.rint(1850.0 * np.exp(larger) / step), 200.0, None)
    X[:, 5] = codes[place]
    return X


def read_houses(path: str | os.PathLike[str], case: str | None = None, *, complete: bool = True) -> Dataset:
    """Read the Kaggle file "USA Real Estate Dataset" (CSV), labelled by the paper's rule of a case; None: no labels.

    `complete` keeps only rows that know all six features. Otherwise a missing value is NaN, and a case whose rule needs
    it is refused. Where the file ends within a row, that row knows the fields before the one that was cut.
    """
    rule = None if case is None else house_rule(case)  # a wrong case fails before the work
    with Path(path).open(encoding="utf-8-sig", errors="replace", newline="") as file:
        values = array.array("d", (value for known in _known_values(file, path) for value in known))
    X = np.asarray(values).reshape(-1, len(HOUSE_FEATURES))
    X = X[~np.isnan(X).any(axis=1)] if complete else X
    return _labelled(X, rule, f"houses of {Path(path).name}")


def _known_values(lines: Iterable[str], path: str | os.PathLike[str]) -> Iterator[list[float]]:
    """Give the six numbers of each row, NaN where one is missing."""
    reader = csv.reader(lines)
    header = next(reader, [])
    lacking = [name for name in HOUSE_FEATURES if name not in header]
    if lacking:
        raise ValueError(f"{path} lacks the column {lacking[0]!r} in its first line; is it the Kaggle real estate CSV?")
    places, width, short = [header.index(name) for name in HOUSE_FEATURES], len(header), 0
    for row in reader:
        if short or len(row) > width:
            raise ValueError(f"{path}, line {short or reader.line_num}: expected {width} fields; mend the line")
        if not row:
            continue
        if len(row) < width:  # the end of a file that was cut, in its last field if not before it
            short = reader.line_num
            row[-1:] = [""] * (width - len(row) + 1)
        fields = [row[i] for i in places]
        try:
            yield [float(field) if field else math.nan for field in fields]
        except ValueError:
            raise ValueError(f"{path}, line {reader.line_num}: expected numbers, got {fields}") from None
