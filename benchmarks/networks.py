"""Two networks as scikit-learn would have them: pykan's, and bacon-net of the paper's authors."""

from __future__ import annotations

import contextlib
import io
import os
import tempfile
from collections.abc import Iterator
from typing import Any

import numpy as np


class Answering:
    """What follows from the probability of the positive class."""

    def positive(self, X: Any) -> np.ndarray:
        """Return the probability of the positive class."""
        raise NotImplementedError

    def predict_proba(self, X: Any) -> np.ndarray:
        """Return the probabilities of both classes."""
        p = self.positive(X)
        return np.column_stack([1.0 - p, p])

    def predict(self, X: Any) -> np.ndarray:
        """Return 1 where it is more probable than not, else 0."""
        return (self.positive(X) > 0.5).astype(int)


class Kan(Answering):
    """pykan on standardised columns: two hidden nodes, cubic splines on three intervals, 20 steps of L-BFGS."""

    def fit(self, X: Any, y: Any) -> Kan:
        """Learn from rows and labels 0 and 1."""
        import torch
        from kan import KAN
        from sklearn.preprocessing import StandardScaler

        torch.set_num_threads(1)
        self.scaler = StandardScaler().fit(X)
        data = _tensor(self.scaler.transform(X))
        target = _tensor(y)[:, None]
        self.net = KAN(width=[X.shape[1], 2, 1], grid=3, k=3, seed=0, auto_save=False)
        loss = torch.nn.functional.binary_cross_entropy_with_logits
        with quiet():
            self.net.fit(
                {"train_input": data, "train_label": target, "test_input": data, "test_label": target},
                opt="LBFGS",
                steps=20,
                lamb=0.01,
                loss_fn=loss,
                update_grid=False,
            )
        return self

    def positive(self, X: Any) -> np.ndarray:
        """Return the probability of the positive class."""
        import torch

        with torch.no_grad():
            p: np.ndarray = torch.sigmoid(self.net(_tensor(self.scaler.transform(X)))).numpy()[:, 0]
        return p.astype(float)


class BaconNet(Answering):
    """bacon-net: sigmoid truths, its permutation and transformation layers; the best of three attempts.

    A fifth of the training rows decides which attempt is best; the rows it is judged by are never shown to it.
    """

    def fit(self, X: Any, y: Any) -> BaconNet:
        """Learn from rows and labels 0 and 1."""
        import torch
        from bacon.baconNet import baconNet
        from sklearn.model_selection import train_test_split
        from sklearn.preprocessing import StandardScaler

        torch.set_num_threads(1)
        torch.manual_seed(0)
        self.scaler = StandardScaler().fit(X)
        parts = train_test_split(self._degrees(X), y, test_size=0.2, random_state=0, stratify=y)
        seen, kept, known, hidden = (_tensor(part) for part in parts)
        with quiet():
            self.net = baconNet(
                X.shape[1], weight_normalization="softmax", loss_amplifier=1000, use_transformation_layer=True
            )
            self.net.find_best_model(
                seen,
                known[:, None],
                kept,
                hidden[:, None],
                attempts=3,
                acceptance_threshold=0.97,
                max_epochs=600,
                annealing_epochs=500,
                frozen_training_epochs=200,
                sinkhorn_iters=20,
                save_model=False,
            )
        return self

    def _degrees(self, X: Any) -> np.ndarray:
        from scipy.special import expit

        return np.asarray(expit(self.scaler.transform(X)))

    def positive(self, X: Any) -> np.ndarray:
        """Return the probability of the positive class."""
        import torch

        with torch.no_grad(), quiet():
            p = self.net(_tensor(self._degrees(X))).numpy()[:, 0].astype(float)
        return np.clip(np.nan_to_num(p, nan=0.5), 0.0, 1.0)


def _tensor(values: Any) -> Any:
    import torch

    return torch.tensor(np.asarray(values), dtype=torch.float32)


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Keep progress bars and files of a peer out of the way: it runs in a folder that goes away."""
    before = os.getcwd()  # noqa: PTH109
    with (
        tempfile.TemporaryDirectory() as folder,
        contextlib.redirect_stdout(io.StringIO()),
        contextlib.redirect_stderr(io.StringIO()),
    ):
        os.chdir(folder)
        try:
            yield
        finally:
            os.chdir(before)
