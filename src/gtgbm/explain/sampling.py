"""Rows of tables of any kind, and rows drawn at random."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import issparse

from gtgbm.exact import I64


def drawn_rows(ids: Any, max_rows: int, rng: np.random.Generator) -> I64:
    """Rows of some ids, drawn at random until there are `max_rows` of them; at least one id."""
    _, number, size = np.unique(ids, return_inverse=True, return_counts=True)
    order = rng.permutation(size.shape[0])
    n_ids = max(1, int(np.searchsorted(np.cumsum(size[order]), max_rows, side="right")))
    is_drawn = np.zeros(size.shape[0], dtype=np.bool_)
    is_drawn[order[:n_ids]] = True
    return np.flatnonzero(is_drawn[number])


def at_rows(values: Any, rows: I64) -> Any:
    """Return rows of an array, dataframe, sparse matrix or list."""
    if hasattr(values, "iloc"):
        return values.iloc[rows]
    if issparse(values):
        return values.tocsr()[rows]
    # Not converted to an array: numpy would make ids that are tuples into rows of a matrix.
    return values[rows] if hasattr(values, "shape") else [values[k] for k in rows.tolist()]
