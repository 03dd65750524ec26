"""Weighted means and quantiles that do not depend on the order of the rows."""

from __future__ import annotations

import numpy as np

from gtgbm.exact import F64, I32, FitContext, RowWeights, exact_mean, weighted_quantiles


class Averages:
    """Averages over the rows, weighted as in `fit`, from which a loss computes its best constant."""

    def __init__(self, weights: RowWeights, context: FitContext | None = None) -> None:
        self._weights = weights
        self._context = FitContext.serial() if context is None else context

    def mean(self, values: F64) -> float:
        """Return the mean of values (n,); infinite if one of them is infinite or NaN."""
        return exact_mean(np.ascontiguousarray(values, dtype=np.float64), self._weights, self._context)

    def quantile(self, values: F64, share: float) -> float:
        """Return the smallest value with at least `share` of the weight at or below it.

        If it is exactly that share, return the midpoint of this value and the next one.
        """
        rows: I32 = np.arange(values.shape[0], dtype=np.int32)
        all_rows = rows, np.zeros(1, dtype=np.int64), np.full(1, values.shape[0])
        values = np.ascontiguousarray(values, dtype=np.float64)
        return float(weighted_quantiles(*all_rows, values, self._weights.fine, share, self._context)[0])
