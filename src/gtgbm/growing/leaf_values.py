"""Values of a tree's leaves, from exact sums."""

from __future__ import annotations

import numpy as np

from gtgbm import _core
from gtgbm.exact import F64, I64, Reducer, RowWeights, power_of_two_scale
from gtgbm.growing.grower import Grown
from gtgbm.losses import LeafRule, QuantileLeaf

_SMALLEST_CURVATURE = 1e-12
"""Mean curvature below which a leaf takes no step: its rows are predicted as surely as floats can say."""


def leaf_steps(
    grown: Grown,
    rule: LeafRule,
    residuals: F64,
    curvatures: F64 | None,
    missing: F64,
    weights: RowWeights,
    pool: _core.Pool,
    reducer: Reducer,
) -> F64:
    """Step of each leaf, shape (leaves,).

    Parameters
    ----------
    residuals : ndarray of float64, shape (n,)
    curvatures : ndarray of float64, shape (n,), or None
        None: all 1.
    missing : ndarray of float64, shape (n,)
        Target less score.
    """
    if isinstance(rule, QuantileLeaf):
        steps = np.empty(grown.leaves.shape[0])
        rows = grown.rows, grown.begin, grown.end
        _core.leaf_quantiles(pool, *rows, missing, weights.fine, rule.share, steps)
        return steps
    gradient = _leaf_sums(grown, residuals, weights, pool, reducer)
    total = grown.tree.n_rows[grown.leaves].astype(np.float64)
    if curvatures is not None:
        curvature = _leaf_sums(grown, curvatures, weights, pool, reducer)
    elif weights.are_equal:
        curvature = total
    else:
        curvature = _leaf_sums(grown, np.ones_like(residuals), weights, pool, reducer)
    sure = curvature <= _SMALLEST_CURVATURE * total
    steps = np.where(sure, 0.0, gradient / np.where(sure, 1.0, curvature))
    if rule.is_logarithmic:
        steps = np.where(steps > 0.0, np.log1p(np.maximum(steps, 0.0)), steps)
    return np.clip(steps, -rule.largest, rule.largest)


def _leaf_sums(grown: Grown, values: F64, weights: RowWeights, pool: _core.Pool, reducer: Reducer) -> F64:
    # Far finer than the cells: what splits may round, predictions should not.
    low, high = _core.min_max(pool, values)
    scale = power_of_two_scale(reducer.max(max(-low, high)), 62 - weights.total_fine.bit_length())
    sums: I64 = np.empty(grown.leaves.shape[0], dtype=np.int64)
    _core.leaf_sums(pool, grown.rows, grown.begin, grown.end, values, weights.fine, scale, sums)
    return reducer.sum(sums) / (scale * weights.fine_unit)
