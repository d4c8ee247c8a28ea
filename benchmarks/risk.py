"""FasterRisk, run by a Python of its own: it needs a numpy, a pandas and a scikit-learn older than this library's.

Reads an .npz with X and y, prints the risk score as JSON: conditions with points, intercept, multiplier, CPU seconds.
`make bench` makes the environment .venv-fasterrisk; FASTERRISK_PYTHON names another. Columns are made binary as
FasterRisk's documentation does it.
"""

from __future__ import annotations

import contextlib
import io
import json
import sys
import time

import numpy as np
import pandas as pd
from fasterrisk.binarization_util import BinBinarizer
from fasterrisk.fasterrisk import RiskScoreOptimizer


def main(path: str, most: int) -> None:
    with np.load(path) as kept:
        X, y = kept["X"], kept["y"]
    start = time.process_time()
    with contextlib.redirect_stdout(io.StringIO()):
        binary = BinBinarizer(max_num_thresholds_per_feature=100, sampling_seed=0)
        table, _ = binary.fit_transform(pd.DataFrame(X, columns=[str(i) for i in range(X.shape[1])]))
        features = table.to_numpy(dtype=float)
        score = RiskScoreOptimizer(X=features, y=2.0 * y - 1.0, k=min(most, features.shape[1]))
        score.optimize()
    multiplier, intercept, points = score.get_models(model_index=0)
    conditions = [
        (int(binary.binarizers[i]["col"]), float(binary.binarizers[i]["threshold"]), float(points[i]))
        for i in np.flatnonzero(points)
    ]
    found = {"conditions": conditions, "intercept": float(intercept), "multiplier": float(multiplier)}
    print(json.dumps({**found, "seconds": time.process_time() - start}))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
