"""Converts input tables to dtypes and layouts that the kernels can read, without needless copies."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from scipy.sparse import csc_matrix, issparse

from gtgbm.data.parquet_numbers import ParquetNumbers
from gtgbm.exact import Table

__all__ = ["MAX_COLUMNS", "AnyTable", "as_table", "check_rows", "check_sparse", "issparse", "unmasked"]

_MAX_ROWS = 1 << 30
"""Whole weights of more rows could add up to 2**31, for which cells and sums of squares have no room."""

MAX_COLUMNS = 1 << 27
"""Every column takes about 50 bytes and 0.2 microseconds of a fit, even if it is empty: these take 7 GB."""

AnyTable: TypeAlias = Any
"""A dense `Table`, a ``scipy.sparse.csc_matrix`` without duplicate entries, or `ParquetNumbers`."""


def as_table(X: Any) -> AnyTable:
    """Return a table of a dtype that the kernels support, as a view where possible.

    Parameters
    ----------
    X : ndarray or scipy sparse matrix, shape (n, d)
        float16 becomes float32, long double float64, bool uint8, and foreign byte orders become native. A
        sparse matrix becomes a `csc_matrix`.
    """
    if isinstance(X, ParquetNumbers):
        return X
    return _as_csc(X) if issparse(X) else _known_dtype(X)


def check_sparse(X: Any) -> None:
    """Refuse a sparse matrix of too many columns, or one whose arrays contradict each other.

    Scipy itself reads beyond such arrays. Anything but a sparse matrix passes.
    """
    if not issparse(X) or X.ndim != 2:
        return
    if X.shape[1] > MAX_COLUMNS:
        raise ValueError(
            f"X has {X.shape[1]} columns; at most {MAX_COLUMNS} fit: leave out empty columns, as "
            "X[:, np.unique(X.nonzero()[1])] does"
        )
    problem = None
    if X.format in ("csr", "csc", "bsr"):
        problem = _problem_of_compressed(X)
    elif X.format == "coo":
        places = [(X.row, X.shape[0]), (X.col, X.shape[1])]
        if any(_are_outside(indices, size) for indices, size in places):
            problem = "entries outside its shape"
        elif not X.row.shape == X.col.shape == X.data.shape:
            problem = "arrays of different lengths"
    if problem is not None:
        raise ValueError(f"X is a broken sparse matrix, with {problem}: build it anew")


def _problem_of_compressed(X: Any) -> str | None:
    lines, width = X.shape if X.format != "csc" else X.shape[::-1]
    if X.format == "bsr":
        lines, width = lines // X.blocksize[0], width // X.blocksize[1]
    start, indices = X.indptr, X.indices
    if start.dtype.kind not in "iu" or indices.dtype.kind not in "iu":
        return "indices that are no whole numbers"
    if start.shape != (lines + 1,) or start[0] != 0 or (start[1:] < start[:-1]).any():
        return "an indptr that does not rise from 0 line by line"
    if indices.shape[0] != X.data.shape[0] or int(start[-1]) > indices.shape[0]:
        return "arrays of different lengths"
    return "entries outside its shape" if _are_outside(indices[: int(start[-1])], width) else None


def _are_outside(indices: Any, size: int) -> bool:
    return bool(indices.shape[0] and not 0 <= indices.min() <= indices.max() < size)


def unmasked(X: Any) -> Any:
    """Return a masked array as a plain one, NaN where it is masked; leave anything else as it is."""
    if not np.ma.isMaskedArray(X):
        return X
    if not np.ma.is_masked(X) or X.dtype.kind not in "fiub":
        return np.ma.getdata(X)
    floats: Any = X.astype(np.result_type(X.dtype, np.float32))
    return floats.filled(np.nan)


def _as_csc(X: Any) -> csc_matrix:
    by_columns = csc_matrix(X)
    if not by_columns.has_canonical_format:
        by_columns = by_columns.copy()  # do not change the user's own matrix
        by_columns.sum_duplicates()
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
