"""Reads columns of the user's tables as numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import issparse

from gtgbm.data import as_frame, encode_frame, lacking
from gtgbm.exact import F64


def columns_of(X: Any, columns: Any) -> F64:
    """Return some columns of a table as floats, shape (n, len(columns)); missing values are NaN."""
    if issparse(X):
        return np.asarray(X.tocsc()[:, columns].toarray(), dtype=np.float64)
    return np.asarray(np.asarray(X)[:, columns], dtype=np.float64)


def table_of(estimator: Any, X: Any) -> Any:
    """Return the columns that a model was fitted on, in their order; those of a dataframe by name."""
    names = getattr(estimator, "feature_names_in_", None)
    frame = None if names is None else as_frame(X)
    if names is not None and frame is not None:
        missing = lacking(names, frame[0].columns)
        if missing:
            raise ValueError(f"X lacks columns that the model was fitted on: {', '.join(missing[:10])}")
        return frame[0].select(names.tolist())
    if not hasattr(X, "shape"):
        X = np.asarray(X)
    if len(X.shape) != 2:
        raise ValueError(f"X has shape {X.shape}: give a table of shape (rows, columns)")
    if X.shape[1] != estimator.n_features_in_:
        raise ValueError(
            f"X has {X.shape[1]} columns; the model was fitted on {estimator.n_features_in_}: give them all"
        )
    return X


def as_numbers(X: Any, target: F64 | None = None) -> Any:
    """Return a dataframe as numbers, shape (n, d), and other tables unchanged.

    Parameters
    ----------
    target : ndarray of float64, shape (n,), optional
        A category becomes the mean target of its rows, or NaN without a target.
    """
    frame = as_frame(X)
    if frame is None:
        return X
    table, schema = encode_frame(*frame)
    if schema.categorical:
        table = table.copy()
    for k in schema.categorical:
        table[:, k] = np.nan if target is None else _means(table[:, k], target)
    return table


def _means(codes: Any, target: F64) -> F64:
    is_known = ~np.isnan(codes)
    number = codes[is_known].astype(np.int64)
    means = np.bincount(number, weights=target[is_known]) / np.maximum(np.bincount(number), 1)
    of_rows = np.full(codes.shape[0], np.nan)
    of_rows[is_known] = means[number]
    return of_rows
