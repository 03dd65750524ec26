"""Leaf values of a tree, computed from exact sums."""

from __future__ import annotations

import numpy as np

from gtgbm import _core
from gtgbm.exact import F64, I64, FitContext, RowWeights, power_of_two_scale, weighted_quantiles
from gtgbm.growing.grower import GrownTree
from gtgbm.losses import LeafRule, QuantileLeaf

_SMALLEST_CURVATURE = 1e-12
"""Mean curvature below which a leaf has value 0: its rows are predicted with certainty, up to rounding."""


def leaf_steps(
    grown: GrownTree,
    rule: LeafRule,
    residuals: F64,
    curvatures: F64 | None,
    weights: RowWeights,
    l2: float,
    context: FitContext,
) -> F64:
    """Return the step of each leaf, before the learning rate, shape (leaves,).

    Parameters
    ----------
    residuals : ndarray of float64, shape (n,)
        Negative gradients; for a `QuantileLeaf`, target minus score.
    curvatures : ndarray of float64, shape (n,), or None
        None: all 1.
    l2 : float
        L2 regularization, which is added to the sum of curvatures; has no effect with a `QuantileLeaf`.
    """
    if isinstance(rule, QuantileLeaf):
        return weighted_quantiles(
            grown.rows, grown.begin, grown.end, residuals, weights.fine, rule.share, context
        )
    gradient = _leaf_sums(grown, residuals, weights, context)
    total = grown.tree.n_rows[grown.leaves].astype(np.float64)
    if curvatures is not None:
        curvature = _leaf_sums(grown, curvatures, weights, context)
    elif weights.are_equal:
        curvature = total
    else:
        curvature = _leaf_sums(grown, np.ones_like(residuals), weights, context)
    # The ratio is 1 unless extreme weights were rescaled.
    curvature = curvature + l2 * (weights.l2_unit / weights.cell_unit)
    is_certain = curvature <= _SMALLEST_CURVATURE * total
    steps = np.where(is_certain, 0.0, gradient / np.where(is_certain, 1.0, curvature))
    if rule.is_logarithmic:
        steps = np.where(steps > 0.0, np.log1p(np.maximum(steps, 0.0)), steps)
    return np.clip(steps, -rule.largest, rule.largest)


def _leaf_sums(grown: GrownTree, values: F64, weights: RowWeights, context: FitContext) -> F64:
    # Sums are far finer than those of histogram cells: rounding is acceptable in splits, not in predictions.
    low, high = _core.min_max(context.pool, values)
    largest = context.largest(max(-low, high))
    scale = power_of_two_scale(largest, 62 - weights.total_fine.bit_length())
    sums: I64 = np.empty(grown.leaves.shape[0], dtype=np.int64)
    _core.leaf_sums(
        pool=context.pool,
        rows=grown.rows,
        begin=grown.begin,
        end=grown.end,
        values=values,
        weights=weights.fine,
        scale=scale,
        out=sums,
    )
    return context.communicator.sum(sums) / (scale * weights.fine_unit)
