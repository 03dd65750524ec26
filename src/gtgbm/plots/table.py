"""Reads columns of the user's tables as numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import issparse

from gtgbm.data import as_frame, encode_frame, lacking
from gtgbm.exact import F64, Bool
from gtgbm.parameters import PARAMETERS, Context


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


def as_numbers(estimator: Any, X: Any) -> tuple[Any, Bool]:
    """Return a table as numbers, and which of its columns hold categories.

    Returns
    -------
    numbers : ndarray or sparse matrix, shape (n, d)
        Categories are codes, which have no order.
    is_category : ndarray of bool, shape (d,)
    """
    names, found = getattr(estimator, "feature_names_in_", None), as_frame(X)
    context = Context(n_features=estimator.n_features_in_, feature_names=names)
    named = PARAMETERS["categorical_features"].check(estimator.categorical_features, context)
    categorical = list(named)
    if found is not None:
        X, schema = encode_frame(*found)
        categorical += schema.categorical
    is_category = np.zeros(estimator.n_features_in_, dtype=np.bool_)
    is_category[categorical] = True
    return X, is_category
