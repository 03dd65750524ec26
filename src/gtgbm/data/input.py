"""Converts input tables to dtypes and layouts that the kernels can read, without needless copies."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from scipy.sparse import csc_matrix, issparse

from gtgbm.exact import Table

__all__ = ["AnyTable", "as_table", "check_rows", "issparse"]

_MAX_ROWS = 1 << 28
"""With more rows, a packed cell would leave four bits or fewer for gradients."""

AnyTable: TypeAlias = Any
"""A dense `Table`, or a ``scipy.sparse.csc_matrix`` without duplicate entries."""


def as_table(X: Any) -> AnyTable:
    """Return a table of a dtype that the kernels support, as a view where possible.

    Parameters
    ----------
    X : ndarray or scipy sparse matrix, shape (n, d)
        float16 becomes float32, long double float64, bool uint8, and foreign byte orders become native. A
        sparse matrix becomes a `csc_matrix`.
    """
    return _as_csc(X) if issparse(X) else _known_dtype(X)


def _as_csc(X: Any) -> csc_matrix:
    by_columns = csc_matrix(X)
    if not by_columns.has_canonical_format:
        by_columns = by_columns.copy()  # do not change the user's own matrix
        by_columns.sum_duplicates()
    rows = by_columns.indices
    if rows.shape[0] and not 0 <= rows.min() <= rows.max() < X.shape[0]:
        raise ValueError("X is a sparse matrix with entries outside its shape: rebuild it")
    by_columns.data = _known_dtype(by_columns.data[:, None])[:, 0]
    return by_columns


def _known_dtype(X: Table) -> Table:
    if X.dtype == np.bool_:
        return X.view(np.uint8)
    if X.dtype == np.float16:
        return X.astype(np.float32)
    if X.dtype.kind == "f" and X.dtype.itemsize > 8:
        return X.astype(np.float64)
    if X.dtype.kind not in "fiu":
        raise ValueError(f"X has dtype {X.dtype}; numbers are needed: convert it with X.astype(float)")
    if not X.dtype.isnative:
        return X.astype(X.dtype.newbyteorder("="))
    item = X.dtype.itemsize
    if not X.flags.aligned or any(stride % item for stride in X.strides):
        return X.copy()
    return X


def check_rows(n_rows: int) -> None:
    """Raise an error if there are more training rows than a histogram cell can count."""
    if n_rows >= _MAX_ROWS:
        raise ValueError(f"X has {n_rows} rows; at most {_MAX_ROWS - 1} fit: train on a sample of the rows")
