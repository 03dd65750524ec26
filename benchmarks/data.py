"""Data sets as the benchmarks use them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Data:
    """A binary classification task.

    Attributes
    ----------
    X_train, X_test : ndarray of float32, shape (n, d), C order
    y_train, y_test : ndarray of int64, shape (n,)
        0 or 1.
    """

    X_train: NDArray[np.float32]
    y_train: NDArray[np.int64]
    X_test: NDArray[np.float32]
    y_test: NDArray[np.int64]

    def only(self, columns: Sequence[int] | None) -> Data:
        """Return the task with only some columns; all of them for None."""
        if columns is None:
            return self
        chosen = np.asarray(columns, dtype=np.int64)
        train, test = (np.ascontiguousarray(X[:, chosen]) for X in (self.X_train, self.X_test))
        return Data(train, self.y_train, test, self.y_test)


def load(path: Path) -> Data:
    """Load an npz file with X_train, y_train, X_test and y_test; labels above 0 are the second class."""
    with np.load(path, allow_pickle=False) as arrays:
        missing = {"X_train", "y_train", "X_test", "y_test"} - set(arrays.files)
        if missing:
            raise ValueError(f"{path.name} has no {', '.join(sorted(missing))}")
        return Data(
            np.ascontiguousarray(arrays["X_train"], dtype=np.float32),
            (arrays["y_train"] > 0).astype(np.int64),
            np.ascontiguousarray(arrays["X_test"], dtype=np.float32),
            (arrays["y_test"] > 0).astype(np.int64),
        )
