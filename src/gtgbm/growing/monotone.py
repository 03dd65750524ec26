"""Keeps the values of a tree's leaves in the order that monotone constraints ask for."""

from __future__ import annotations

import numpy as np

from gtgbm.exact import F64, FALLING, RISING, U8
from gtgbm.tree import Tree


def bounded_values(tree: Tree, value: F64, directions: U8) -> F64:
    """Clip leaf values so that predictions rise or fall with the columns that must.

    At a split on a bound column the two sides are kept apart by the middle of their mean values: all leaves
    of the one side stay below, all of the other above.

    Parameters
    ----------
    value : ndarray of float64, shape (nodes,)
        Values of leaves.
    directions : ndarray of uint8, shape (columns,)
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
        # Nor are missing values, alone on one side, above or below the others.
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
    """Mean value of the rows at each node."""
    sums = value * tree.n_rows
    # Children have higher numbers than their parents.
    for node in np.flatnonzero(tree.feature >= 0)[::-1].tolist():
        left = int(tree.left[node])
        sums[node] = sums[left] + sums[left + 1]
    return np.asarray(sums / np.maximum(tree.n_rows, 1))
