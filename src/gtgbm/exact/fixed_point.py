"""Residuals in fixed point, so that sums over rows are exact and independent of their order."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from gtgbm import _core
from gtgbm.exact.arrays import F64, I16, I64
from gtgbm.exact.context import FitContext
from gtgbm.exact.weights import PACKED_ROW_BITS, RowWeights, power_of_two_scale

_GRADIENT_BITS = 28
"""Finest rounding used: 2**-28 of the largest residual, finer than LightGBM's float32 gradients."""
_AMPLE_BITS = 20
"""If all residuals were the largest one and still had so many bits, their sums are not looked at."""
_ORDINARY_EXPONENT = 400
_LARGEST_EXPONENT = 900
"""Largest exponent of values whose mean is taken as they are, and of the power of two for others."""
_MEAN_BITS = 40
"""Bits of the largest value that the values of a mean keep; with fewer, a second sum has what is left."""
_PACKED_COUNT_BITS = 25
"""Most bits of the sum of weights of a table with packed cells, of which it leaves residuals few enough;
Newton steps of small tables have weights of 25 bits together."""
_MOST_COUNT_BITS = 31
_WIDE_BITS = 31
"""Bits of the largest residual in wide cells. Squares and sums over 2**31 rows still fit into 63 bits."""


@dataclass(frozen=True)
class Cells:
    """Residuals of one tree packed into histogram cells.

    Attributes
    ----------
    values : ndarray of int64, shape (n,)
        Weight w and fixed-point residual ``q = round(residual * scale)`` of each row, in the format of the
        cells: ``(q * w << count_bits) + w``, or ``(q << count_bits) + w`` where cells are wide.
    scale : float
        Fixed-point scale, a power of two.
    format : CellFormat
        Number of low bits that hold a weight, and whether cells are wide: two numbers instead of one.
    total : tuple of int
        The root's gradient sum and row count. Row counts are sums of weights.
    squares : tuple of int
        The root's weighted sum of squared fixed-point residuals, as ``high * 2**32 + low``.
    n_total : int
        Rows of all workers.
    """

    values: I64
    scale: float
    format: _core.CellFormat
    total: tuple[int, int]
    squares: tuple[int, int]
    n_total: int

    def weights(self, values: I64) -> I64:
        """Return the weights of rows, given by their `values`."""
        return values & ((1 << self.format.count_bits) - 1)

    def gradients(self, values: I64) -> I64:
        """Return what rows, given by their `values`, add to gradient sums: ``q * w``, in fixed point."""
        residuals = values >> self.format.count_bits
        return residuals * self.weights(values) if self.format.is_wide else residuals


def squared_errors(total: I64, squares: I64) -> F64:
    """Return squared errors around the mean, in squared fixed-point units, shape (nodes,).

    Parameters
    ----------
    total : ndarray of int64, shape (nodes, 2)
        Gradient sum and row count.
    squares : ndarray of int64, shape (nodes, 2)
        High and low part.
    """
    # Python integers are exact: floats would leave a pure node a small error that seems worth a split.
    exact = zip(total.tolist(), squares.tolist(), strict=True)
    return np.array(
        [(((high << 32) + low) * n - g**2) / max(n, 1) for (g, n), (high, low) in exact], dtype=np.float64
    )


def pack(residuals: F64, weights: RowWeights, context: FitContext, *, centred: bool = True) -> Cells:
    """Pack residuals into cells that cannot overflow when all rows are summed.

    Parameters
    ----------
    residuals : ndarray of float64, shape (n,)
    centred : bool
        Whether to subtract the mean first, since a large mean costs resolution. No split depends on it,
        except with L2 regularization, which shrinks leaf values towards 0 and not towards the mean.
    """
    pool, communicator = context.pool, context.communicator
    low, high = _core.min_max(pool, residuals)
    largest = context.largest(max(-low, high))
    centre = _mean(residuals, weights.cells, weights.total_cells, largest, context) if centred else 0.0
    # The largest centred residual. Subtraction rounds monotonically, so the extremes stay the extremes.
    largest = context.largest(max(centre - low, high - centre))
    form = cell_format(weights)
    # 64 bits hold the sign, a sum of n gradients (bits + count_bits) and a count (count_bits).
    safe_bits = 62 - 2 * form.count_bits
    if form.is_wide:
        scale = power_of_two_scale(largest, _WIDE_BITS)
    elif safe_bits >= _AMPLE_BITS or largest <= 0.0:
        scale = power_of_two_scale(largest, min(_GRADIENT_BITS, safe_bits))
    else:
        scale = _scale_of_sums(residuals, weights, centre, largest, context)
    values = np.empty(residuals.shape[0], dtype=np.int64)
    local = _core.pack_cells(pool, residuals, weights.cells, centre, scale, form, values)
    gradient, count, squares_high, squares_low = communicator.sum(np.array(local, dtype=np.int64)).tolist()
    total, squares = (gradient, count), (squares_high, squares_low)
    return Cells(values, scale, form, total, squares, weights.n_total)


def cell_format(weights: RowWeights) -> _core.CellFormat:
    """Return packed cells if they leave the gradient enough bits, else wide ones."""
    count_bits = weights.total_cells.bit_length()
    if count_bits > _MOST_COUNT_BITS:
        raise ValueError(
            f"the weights of {weights.n_total} rows add up to {weights.total_cells} units, which is 2**31 or "
            "more: train on a sample of the rows"
        )
    is_wide = weights.n_total.bit_length() > PACKED_ROW_BITS or count_bits > _PACKED_COUNT_BITS
    return _core.CellFormat(count_bits, is_wide)


def _scale_of_sums(
    residuals: F64, weights: RowWeights, centre: float, largest: float, context: FitContext
) -> float:
    """Return the finest scale at which no sum of residuals overflows the bits above the count.

    It depends on what residuals add up to, not on the largest one: where that is far above the mean, as
    Newton steps of small curvature are, its bits are free for all others.
    """
    total = weights.total_cells
    fine = power_of_two_scale(largest, 62 - total.bit_length())
    local = _core.signed_sums(context.pool, residuals, weights.cells, centre, fine)
    rises, falls = context.communicator.sum(np.array(local, dtype=np.int64)).tolist()
    # No subset of rows adds up to more than those of one sign. Each row is rounded here and in its cell.
    most = (max(rises, falls) + total) / fine
    room = (1 << (63 - total.bit_length())) - total
    exponent = math.frexp(room / most)[1] - 1
    finest = power_of_two_scale(largest, _GRADIENT_BITS)
    return min(math.ldexp(1.0, max(min(exponent, 500), -500)), finest)


INT16_LARGEST = 32000.0
"""The largest residual in 16 bits, with some room for rounding."""


def as_int16(residuals: F64) -> I16:
    """Round fixed-point residuals to 16 bits, the largest to `INT16_LARGEST`: enough to rank features."""
    scaled: I16 = np.rint(residuals * (INT16_LARGEST / np.abs(residuals).max(initial=1.0))).astype(np.int16)
    return scaled


def exact_mean(values: F64, weights: RowWeights, context: FitContext) -> float:
    """Return the weighted mean of values (n,), which does not depend on the order of the rows.

    It is infinite if one of them is infinite or NaN.
    """
    low, high = _core.min_max(context.pool, values)
    largest = context.largest(max(-low, high))
    if largest == math.inf:
        return math.inf
    exponent = math.frexp(largest)[1]
    if abs(exponent) > _ORDINARY_EXPONENT:
        # Fixed point has no scale for such values: their mean is that of moderate ones, times a power of two.
        factor = math.ldexp(1.0, max(min(-exponent, _LARGEST_EXPONENT), -_LARGEST_EXPONENT))
        return exact_mean(values * factor, weights, context) / factor
    mean = _mean(values, weights.fine, weights.total_fine, largest, context)
    bits = 62 - weights.total_fine.bit_length()
    if bits < _MEAN_BITS:
        scaled = values * power_of_two_scale(largest, bits)
        rest = scaled - np.rint(scaled)  # what rounding to fixed point left out
        mean += _mean(rest, weights.fine, weights.total_fine, 0.5, context) / power_of_two_scale(
            largest, bits
        )
    return mean


def _mean(values: F64, weights: I64, total_weight: int, largest: float, context: FitContext) -> float:
    scale = power_of_two_scale(largest, 62 - total_weight.bit_length())
    local = _core.fixed_point_sum(context.pool, values, weights, scale)
    total = context.communicator.sum(np.array([local], dtype=np.int64))
    return float(total[0]) / scale / total_weight
