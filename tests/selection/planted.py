"""Tables with planted features among useless ones."""

from __future__ import annotations

from typing import Any

import numpy as np

from gtgbm.exact.arrays import F64

PLANTED = [2, 5, 11]
FEW: dict[str, Any] = {"n_features_to_select": 3, "n_estimators": 10, "random_state": 0}


def planted(seed: int = 0, n_rows: int = 400, n_columns: int = 14) -> tuple[F64, F64]:
    """Make a signal of three columns, of which one acts in steps and one falls, and noise."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, n_columns))
    signal = 1.5 * X[:, 2] - 1.2 * X[:, 5] + 1.5 * (X[:, 11] > 0.3)
    return X, signal - signal.mean() + 0.5 * rng.normal(size=n_rows)


def noise(seed: int, n_rows: int = 300, n_columns: int = 20) -> tuple[F64, F64]:
    """Make a table that says nothing about its target."""
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n_rows, n_columns)), rng.normal(size=n_rows)


def used_columns(trees: Any) -> list[int]:
    """Return the columns that trees split on."""
    return sorted({int(column) for tree in trees for column in tree.feature if column >= 0})
