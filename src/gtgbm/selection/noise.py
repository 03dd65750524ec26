"""Tells features with any signal from noise."""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np

from gtgbm.boosting import Dataset
from gtgbm.data import issparse
from gtgbm.exact import F64, FitContext
from gtgbm.losses import Loss
from gtgbm.pricing import chance_gain
from gtgbm.selection.evidence import Evidence
from gtgbm.selection.features import Feature

_MIN_LEAF = 10
"""Fewest rows on each side of a cut, as in the trees."""


def doubtful(
    features: Iterable[Feature], evidence: Evidence, rows: Dataset, start: F64, loss: Loss, context: FitContext
) -> set[Feature]:
    """Return the features that show no signal: neither together with others nor alone.

    Parameters
    ----------
    evidence : Evidence
        Of models that bought their features without seeing the rows they are judged on.
    rows : Dataset
        All rows of the task.
    start : ndarray of float64, shape (k,)
        Constant scores, whose residuals a feature with signal explains.
    """
    n_candidates = len(evidence.rise)
    enough = math.sqrt(2.0 * math.log(max(2, n_candidates)))
    unclear = [feature for feature in features if evidence.z_score(feature) < enough]
    if not unclear or rows.n_rows < 2 * _MIN_LEAF:
        return set(unclear)
    scores = np.repeat(start[:, None], rows.n_rows, axis=1)
    residuals = loss.derivatives(scores, rows.targets, context).residuals * rows.targets.weights.as_floats()
    wanted = chance_gain(rows.table.shape[1] * start.shape[0], _MIN_LEAF / rows.n_rows)
    return {feature for feature in unclear if _best_cut(_values(rows, feature), residuals) < wanted}


def _values(rows: Dataset, feature: Feature) -> F64:
    """Return the values of a feature, shape (n,); those of a category are 0 and 1."""
    column = rows.table[:, [feature.column]]
    values = np.asarray(column.toarray() if issparse(column) else column, dtype=np.float64).ravel()
    if not feature.is_category:
        return values
    is_equal = np.isnan(values) if feature.category is None else values == feature.category
    return is_equal.astype(np.float64)


def _best_cut(values: F64, residuals: F64) -> float:
    """Return the largest gain of any cut, in row variances.

    Parameters
    ----------
    values : ndarray of float64, shape (n,)
        NaN is larger than any number.
    residuals : ndarray of float64, shape (k, n)
    """
    order, n = np.argsort(values, kind="stable"), values.shape[0]
    ordered = values[order]
    cut = np.arange(_MIN_LEAF, n - _MIN_LEAF + 1)
    # A cut is between different values; NaN differs from itself, but two NaN are not separated.
    left, right = ordered[cut - 1], ordered[cut]
    cut = cut[(left != right) & ~np.isnan(left)]
    if cut.shape[0] == 0:
        return 0.0
    centred = residuals - residuals.mean(axis=1, keepdims=True)
    variance = (centred**2).mean(axis=1)
    sums = np.cumsum(centred[:, order], axis=1)[:, cut - 1]
    gains = (sums**2 * (n / (cut * (n - cut)))).max(axis=1)
    return float(np.max(gains[variance > 0.0] / variance[variance > 0.0], initial=0.0))
