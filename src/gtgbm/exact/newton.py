"""Splits by curvature: the least-squares problem of Newton's steps."""

from __future__ import annotations

import math

import numpy as np

from gtgbm.exact.arrays import F64
from gtgbm.exact.weights import RowWeights

_LEAST_CURVATURE = 2.0**-10
"""Share of the largest curvature that every row has at least: the steps of rows that are all but sure would
otherwise be beyond all others, and leave those no bits."""
_BITS = 25
"""Curvatures become whole numbers whose weighted sum has at most so many bits, or a few more than rows."""


def newton_problem(residuals: F64, curvatures: F64, weights: RowWeights) -> tuple[F64, RowWeights]:
    """Return what to fit by weighted least squares, and the weights, of which rows have as many as curvature.

    The squared error of a node then falls by what the loss falls by a Newton step of each side, to second
    order; in relation to the root's it stays within [0, 1].
    """
    largest = float(curvatures.max(initial=0.0))
    if largest <= 0.0:
        return residuals, weights
    bits = max(_BITS, weights.total_cells.bit_length() + 3)
    unit = math.ldexp(1.0, bits - math.frexp(largest * weights.total_cells)[1])
    curvature = np.maximum(np.rint(np.maximum(curvatures, _LEAST_CURVATURE * largest) * unit), 1.0)
    cells = curvature.astype(np.int64)
    if not weights.are_equal:
        cells *= weights.cells
    total = int(cells.sum())
    # A node's share of the curvature takes the place of its share of the rows.
    cell_unit = total * weights.cell_unit / weights.total_cells
    row = total * weights.row / weights.total_cells
    problem = RowWeights(weights.n_rows, cells, cells, cell_unit, cell_unit, total, total, row)
    return residuals * (unit / curvature), problem
