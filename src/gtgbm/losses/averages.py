"""Weighted means and quantiles that do not depend on the order of the rows."""

from __future__ import annotations

import numpy as np

from gtgbm import _core
from gtgbm.exact import F64, I32, FitContext, RowWeights, exact_mean

_LARGEST = 1e100
"""Larger values are not meaningful targets or losses, so their mean need not be exact."""


class Averages:
    """Averages over the rows, weighted as in `fit`, from which a loss computes its best constant."""

    def __init__(self, weights: RowWeights, context: FitContext | None = None) -> None:
        self._weights = weights
        self._context = FitContext.serial() if context is None else context

    def mean(self, values: F64) -> float:
        """Return the mean of values (n,); infinite or NaN if one of them is."""
        values = np.ascontiguousarray(values, dtype=np.float64)
        if not np.abs(values).max(initial=0.0) < _LARGEST:
            return self._weights.mean(values)
        return exact_mean(values, self._weights, self._context)

    def quantile(self, values: F64, share: float) -> float:
        """Return the smallest value with at least `share` of the weight at or below it.

        If it is exactly that share, return the midpoint of this value and the next one.
        """
        rows: I32 = np.arange(values.shape[0], dtype=np.int32)
        all_rows = rows, np.zeros(1, dtype=np.int64), np.full(1, values.shape[0])
        values, quantile = np.ascontiguousarray(values, dtype=np.float64), np.empty(1)
        _core.leaf_quantiles(self._context.pool, *all_rows, values, self._weights.fine, share, quantile)
        return float(quantile[0])
