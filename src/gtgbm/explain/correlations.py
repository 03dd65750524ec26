"""Correlations of columns that may have missing values."""

from __future__ import annotations

import numpy as np

from gtgbm.exact import F64


def absolute_correlations(a: F64, b: F64) -> F64:
    """Return the absolute Pearson correlation of every column of one table with every column of another.

    Each pair uses the rows in which both columns have a value; infinities count as missing.

    Parameters
    ----------
    a : ndarray of float64, shape (n, p)
    b : ndarray of float64, shape (n, q)

    Returns
    -------
    ndarray of float64, shape (p, q)
        NaN if one of the columns is constant over these rows.
    """
    (a, has_a), (b, has_b) = _centred(a), _centred(b)
    if has_a.all() and has_b.all():
        # Without missing values one matrix product suffices instead of six.
        spread = np.sqrt((a * a).sum(axis=0))[:, None] * np.sqrt((b * b).sum(axis=0))
        return np.minimum(np.abs(a.T @ b) / np.where(spread > 0, spread, np.nan), 1.0)
    count = has_a.T @ has_b
    sum_a, sum_b = a.T @ has_b, has_a.T @ b
    with np.errstate(invalid="ignore", divide="ignore"):
        product = a.T @ b - sum_a * sum_b / count
        spread_a = (a * a).T @ has_b - sum_a**2 / count
        spread_b = has_a.T @ (b * b) - sum_b**2 / count
        # Columns are scaled to a standard deviation of 1, so a spread this small is rounding error.
        is_constant = (spread_a <= 1e-12 * count) | (spread_b <= 1e-12 * count)
        correlations = np.abs(product) / np.sqrt(np.where(is_constant, np.nan, spread_a * spread_b))
    return np.minimum(correlations, 1.0)


def _centred(values: F64) -> tuple[F64, F64]:
    """Return standardised columns with 0 for missing values, and an array with 1 where values are present."""
    has = np.isfinite(values)
    count = np.maximum(has.sum(axis=0), 1)
    # Scaling first, since the squares of very large numbers would be infinite.
    largest = np.abs(np.where(has, values, 0.0)).max(axis=0, initial=0.0)
    scaled = np.where(has, values, 0.0) / np.where(largest > 0, largest, 1.0)
    centred = np.where(has, scaled - scaled.sum(axis=0) / count, 0.0)
    deviation = np.sqrt((centred**2).sum(axis=0) / count)
    # A smaller deviation is the rounding error of a constant column.
    return centred * (deviation > 1e-12) / np.maximum(deviation, 1e-12), has.astype(np.float64)
