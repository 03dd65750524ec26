"""Reads the tables that users have, a few columns at a time."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import issparse

from gtgbm.arrays import F64


def columns_of(X: Any, columns: Any) -> F64:
    """Return some columns of a table as floats, shape (n, len(columns)); missing values are NaN."""
    if issparse(X):
        return np.asarray(X.tocsc()[:, columns].toarray(), dtype=np.float64)
    if hasattr(X, "iloc"):
        X = X.iloc[:, columns]
        return np.asarray(X.to_numpy(dtype=np.float64, na_value=np.nan))
    return np.asarray(np.asarray(X)[:, columns], dtype=np.float64)


def check_columns(estimator: Any, X: Any) -> None:
    """Refuse tables of another width than the training table's."""
    if np.ndim(X) != 2 and len(getattr(X, "shape", ())) != 2:
        raise ValueError(f"X has shape {np.shape(X)}: give a table of shape (rows, columns)")
    if X.shape[1] != estimator.n_features_in_:
        raise ValueError(
            f"X has {X.shape[1]} columns; the model was fitted on {estimator.n_features_in_}: give them all"
        )
