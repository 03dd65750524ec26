"""Splits by curvature: the least-squares problem of Newton's steps."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from gtgbm.arrays import F64
from gtgbm.weights import RowWeights

_LEAST_CURVATURE = 2.0**-10
"""Share of the largest curvature that every row has at least: the steps of rows that are all but sure would
otherwise be beyond all others, and leave those no bits."""


def newton_problem(residuals: F64, curvatures: F64, weights: RowWeights) -> tuple[F64, RowWeights]:
    """Return what to fit by weighted least squares, and the weights, of which rows have as many as curvature.

    The squared error of a node then falls by what the loss falls by a Newton step of each side, to second
    order; in relation to the root's it stays within [0, 1].
    """
    curvature = np.maximum(curvatures, _LEAST_CURVATURE * curvatures.max())
    row_weights = weights.as_floats()
    found = RowWeights.of(curvature * row_weights)
    # A node's share of the curvature takes the place of its share of the rows.
    return residuals / curvature, replace(found, cell_unit=found.total_cells / float(row_weights.sum()))
