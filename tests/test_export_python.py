"""The exported Python file says what the library says, on a bare interpreter."""

import numpy as np
import pytest
from export_cases import Expected, agree, expected, random_model, table

from baconlogic.export.python import to_python


def run(model, columns):
    """Return what the exported module says of each row."""
    module = {}
    exec(to_python(model), module)  # noqa: S102
    names = list(columns)
    truths, chances, choice = [], [], []
    trees = 1 if not hasattr(model, "trees") else len(model.trees)
    for values in zip(*columns.values(), strict=True):
        row = dict(zip(names, values, strict=True))
        try:
            truth = module["truth"](row)
        except ValueError:
            truths.append([np.nan] * trees)
            chances.append([np.nan] * len(module["CLASSES"]))
            choice.append(-1)
            continue
        truths.append(truth if isinstance(truth, list) else [truth])
        choice.append(module["CLASSES"].index(module["decide"](row)))
        if "probabilities" in module:
            chances.append(module["probabilities"](row))
    return Expected(None, np.array(truths), np.array(chances), np.array(choice), module["CLASSES"])


@pytest.mark.parametrize("seed", range(200))
def test_python_agrees(seed):
    model = random_model(seed)
    agree(run(model, table()), expected(model))
