"""Reads the tables that users have, a few columns at a time."""

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
    """Return a table with the columns that a model was fitted on, in their order; dataframes go by names."""
    names = getattr(estimator, "feature_names_in_", None)
    found = None if names is None else as_frame(X)
    if names is not None and found is not None:
        absent = lacking(names, found[0].columns)
        if absent:
            raise ValueError(f"X lacks columns that the model was fitted on: {', '.join(absent[:10])}")
        return found[0].select(names.tolist())
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
    """Return a dataframe as numbers, shape (n, d); other tables as they are.

    Parameters
    ----------
    target : ndarray of float64, shape (n,), optional
        A category becomes the mean target of its rows; without a target it has no number, and becomes NaN.
    """
    found = as_frame(X)
    if found is None:
        return X
    table, schema = encode_frame(*found)
    if schema.categorical:
        table = table.copy()
    for k in schema.categorical:
        table[:, k] = np.nan if target is None else _means(table[:, k], target)
    return table


def _means(codes: Any, target: F64) -> F64:
    is_known = ~np.isnan(codes)
    number = codes[is_known].astype(np.int64)
    means = np.bincount(number, weights=target[is_known]) / np.maximum(np.bincount(number), 1)
    found = np.full(codes.shape[0], np.nan)
    found[is_known] = means[number]
    return found
