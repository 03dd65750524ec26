"""What users hand over becomes a dense array the kernels can read, without needless copies."""

from __future__ import annotations

import numpy as np

from gtgbm import _core
from gtgbm.arrays import Table

_MAX_ROWS = 1 << 28
"""With more rows a packed cell would leave gradients four bits or fewer."""

_MAX_ROWS_REMEDY = "train on a sample of the rows"


def as_table(X: Table) -> Table:
    """Return a 2-d array of a dtype the kernels know: a view where possible.

    Parameters
    ----------
    X : ndarray, shape (n, d)
        float16 becomes float32, long doubles float64, booleans uint8, foreign byte orders native.
    """
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


def check_table(table: Table, pool: _core.Pool) -> None:
    """Refuse infinite values and more rows than a cell can count."""
    if table.shape[0] >= _MAX_ROWS:
        raise ValueError(f"X has {table.shape[0]} rows; at most {_MAX_ROWS - 1} fit: {_MAX_ROWS_REMEDY}")
    found = np.zeros(table.shape[1], dtype=np.uint8)
    _core.find_infinities(pool, table, found)
    columns = np.flatnonzero(found)
    if columns.shape[0]:
        listed = ", ".join(map(str, columns[:5].tolist())) + (", ..." if columns.shape[0] > 5 else "")
        raise ValueError(
            f"Input X contains infinity in {columns.shape[0]} column(s) ({listed}): replace it by a finite "
            "value, or by NaN, which is treated as missing"
        )
