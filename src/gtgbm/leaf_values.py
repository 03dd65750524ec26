"""Newton steps of a tree's leaves, from exact sums."""

from __future__ import annotations

import numpy as np

from gtgbm import _core
from gtgbm.arrays import F64, I64
from gtgbm.fixed_point import power_of_two_scale
from gtgbm.growing import Grown
from gtgbm.reducer import Reducer

_SMALLEST_CURVATURE = 1e-12
"""Mean curvature below which a leaf takes no step: its rows are predicted as surely as floats can say."""


def newton_steps(
    grown: Grown, residuals: F64, curvatures: F64 | None, pool: _core.Pool, reducer: Reducer
) -> F64:
    """Sum of residuals over sum of curvatures of each leaf, shape (leaves,)."""
    gradient = _leaf_sums(grown, residuals, pool, reducer)
    n_rows = grown.tree.n_rows[grown.leaves].astype(np.float64)
    if curvatures is None:
        return gradient / n_rows
    curvature = _leaf_sums(grown, curvatures, pool, reducer)
    sure = curvature <= _SMALLEST_CURVATURE * n_rows
    return np.where(sure, 0.0, gradient / np.where(sure, 1.0, curvature))


def _leaf_sums(grown: Grown, values: F64, pool: _core.Pool, reducer: Reducer) -> F64:
    n_rows = int(grown.tree.n_rows[0])
    # Far finer than the cells: what splits may round, predictions should not.
    low, high = _core.min_max(pool, values)
    scale = power_of_two_scale(reducer.max(max(-low, high)), 62 - n_rows.bit_length())
    sums: I64 = np.empty(grown.leaves.shape[0], dtype=np.int64)
    _core.leaf_sums(pool, grown.rows, grown.begin, grown.end, values, scale, sums)
    return reducer.sum(sums) / scale
