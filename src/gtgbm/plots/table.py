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


def table_of(estimator: Any, X: Any) -> Any:
    """Return a table with the columns that a model was fitted on, in their order; dataframes go by names."""
    names = getattr(estimator, "feature_names_in_", None)
    if names is not None and hasattr(X, "columns"):
        absent = [name for name in names if name not in X.columns]
        if absent:
            raise ValueError(f"X lacks columns that the model was fitted on: {', '.join(absent[:10])}")
        return X if list(X.columns) == list(names) else X[list(names)]
    if not hasattr(X, "shape"):
        X = np.asarray(X)
    if len(X.shape) != 2:
        raise ValueError(f"X has shape {X.shape}: give a table of shape (rows, columns)")
    if X.shape[1] != estimator.n_features_in_:
        raise ValueError(
            f"X has {X.shape[1]} columns; the model was fitted on {estimator.n_features_in_}: give them all"
        )
    return X
