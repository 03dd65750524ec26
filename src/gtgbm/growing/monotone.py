"""Enforces monotone constraints on the leaf values of a tree."""

from __future__ import annotations

import numpy as np

from gtgbm.exact import F64, FALLING, RISING, U8
from gtgbm.tree import Tree


def bounded_values(tree: Tree, value: F64, directions: U8) -> F64:
    """Clip leaf values so that predictions satisfy the monotone constraints.

    At a split on a constrained column, the midpoint of the mean values of the two sides separates them: all
    leaves of one side are clipped to stay below it, all leaves of the other side to stay above it.

    Parameters
    ----------
    value : ndarray of float64, shape (nodes,)
        Leaf values.
    directions : ndarray of uint8, shape (columns,)
        RISING or FALLING where a column has a monotone constraint, else 0.
    """
    mean = _means(tree, value)
    bounded = value.copy()
    pending = [(0, -np.inf, np.inf)]
    while pending:
        node, low, high = pending.pop()
        left = int(tree.left[node])
        if tree.feature[node] < 0:
            bounded[node] = min(max(value[node], low), high)
            continue
        # Categories have no order, nor have missing values when they alone form one side.
        unordered = tree.is_category[node] or np.isinf(tree.threshold[node])
        direction = 0 if unordered else int(directions[tree.feature[node]])
        bounds = [[low, high], [low, high]]
        if direction in (RISING, FALLING):
            middle = min(max((mean[left] + mean[left + 1]) / 2.0, low), high)
            lower = 0 if direction == RISING else 1
            bounds[lower][1] = bounds[1 - lower][0] = middle
        pending += [(left + side, bounds[side][0], bounds[side][1]) for side in (0, 1)]
    return bounded


def _means(tree: Tree, value: F64) -> F64:
    """Return the mean leaf value of the rows at each node."""
    sums = value * tree.n_rows
    # Children have higher numbers than their parents.
    for node in np.flatnonzero(tree.feature >= 0)[::-1].tolist():
        left = int(tree.left[node])
        sums[node] = sums[left] + sums[left + 1]
    return np.asarray(sums / np.maximum(tree.n_rows, 1))
