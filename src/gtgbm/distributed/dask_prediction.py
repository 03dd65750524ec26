"""Prediction of dask collections, partition by partition."""

from __future__ import annotations

from typing import Any

import dask.array as da
import numpy as np
from dask import delayed

_METHODS = ("predict", "predict_proba")


def predict(model: Any, X: Any, *, method: str = "predict") -> Any:
    """Predict the rows of a dask array or dataframe, of which only the selected columns are read.

    Parameters
    ----------
    model : fitted estimator of a single task
    X : dask array or dask dataframe, shape (n, d)
    method : {"predict", "predict_proba"}
        Method of the model.

    Returns
    -------
    dask array, shape (n,) or (n, classes)
        With the partitions of `X`; not computed yet.
    """
    if method not in _METHODS or not hasattr(model, method):
        raise ValueError(f"method={method!r}: give one of {', '.join(_METHODS)} that the model has")
    width = (len(model.classes_),) if method == "predict_proba" else ()
    is_label = method == "predict" and hasattr(model, "classes_")
    empty = np.empty((0, *width), dtype=model.classes_.dtype if is_label else np.float64)
    if hasattr(X, "to_dask_array"):  # a dataframe
        names = list(getattr(model, "selected_feature_names_", ()))
        parts, lengths = (X[names] if names else X).to_delayed(), [np.nan] * X.npartitions
        predictor = model
    else:
        selected, lengths = X[:, model.selected_features_].rechunk({1: -1}), list(X.chunks[0])
        parts, predictor = selected.to_delayed().ravel(), model.compact()
    arrays = [
        da.from_delayed(delayed(_predicted)(predictor, part, method, empty), (length, *width), empty.dtype)
        for part, length in zip(parts, lengths, strict=True)
    ]
    return da.concatenate(arrays, allow_unknown_chunksizes=True)


def _predicted(model: Any, part: Any, method: str, empty: Any) -> Any:
    """Predict a partition; one without rows has the predictions `empty`."""
    return getattr(model, method)(part) if part.shape[0] else empty
