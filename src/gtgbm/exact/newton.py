"""Newton splits: the weighted least-squares problem that a second-order step solves."""

from __future__ import annotations

import math

import numpy as np

from gtgbm.exact.arrays import F64, I64
from gtgbm.exact.context import FitContext
from gtgbm.exact.weights import RowWeights, exact_sum

_LEAST_CURVATURE = 2.0**-10
"""Lower bound of curvatures, as a share of the largest one. Rows predicted with near certainty would
otherwise have steps so large that fixed point leaves no bits for all other rows."""
_BITS = 25
"""Curvatures become integers whose weighted sum has this many bits, or three more than the sum of weights."""
_MOST_BITS = 29
"""If that is more than so many, there may be no room for it: weight and curvature are rounded together."""
_PRODUCT_BITS = 30
"""Bits of their sum then; what rounding adds, at most a unit for each of 2**30 rows, keeps it below 2**31."""


def newton_problem(
    residuals: F64, curvatures: F64, weights: RowWeights, context: FitContext
) -> tuple[F64, RowWeights]:
    """Return the target and the weights of the least-squares problem that is equivalent to Newton's step.

    The target of a row is its residual divided by its curvature, and its weight is multiplied by its
    curvature. To second order, the squared error of a node then falls by as much as the loss falls when each
    side takes a Newton step. Divided by the root's squared error, the fall stays within [0, 1].

    Parameters
    ----------
    residuals, curvatures : ndarray of float64, shape (n,)
    """
    largest = context.largest(float(curvatures.max(initial=0.0)))
    if largest <= 0.0:
        return residuals, weights
    floored = np.maximum(curvatures, _LEAST_CURVATURE * largest)
    bits = max(_BITS, weights.total_cells.bit_length() + 3)
    if bits > _MOST_BITS:
        target, cells, l2_unit = _of_products(residuals, floored, weights, context)
    else:
        unit = math.ldexp(1.0, bits - math.frexp(largest * weights.total_cells)[1])
        curvature = np.maximum(np.rint(floored * unit), 1.0)
        # Whole numbers times whole numbers: a row of weight 2 is exactly two rows.
        cells = curvature.astype(np.int64) * (1 if weights.are_equal else weights.cells)
        target, l2_unit = residuals * (unit / curvature), unit * weights.l2_unit
    total = context.total(int(cells.sum()))
    # Limits such as the fewest rows of a leaf then apply to a node's share of the total curvature.
    cell_unit = total * weights.cell_unit / weights.total_cells
    row = total * weights.row / weights.total_cells
    units = cell_unit, cell_unit
    return target, RowWeights(
        weights.n_rows, cells, cells, *units, total, total, weights.n_total, row, l2_unit
    )


def _of_products(
    residuals: F64, curvatures: F64, weights: RowWeights, context: FitContext
) -> tuple[F64, I64, float]:
    """Round weight times curvature once, which takes fewer bits than a product of whole numbers.

    Also returns the unit of L2 regularization.
    """
    each = weights.as_floats()
    products = each * curvatures
    largest = context.largest(float(products.max(initial=0.0)))
    total = exact_sum(products, largest, weights.n_total, context.communicator)
    unit = math.ldexp(1.0, _PRODUCT_BITS - math.frexp(total)[1])
    cells = np.where(each > 0.0, np.maximum(np.rint(products * unit), 1.0), 0.0)
    target = residuals * each * unit / np.maximum(cells, 1.0)
    return target, cells.astype(np.int64), unit * weights.l2_unit / weights.cell_unit
