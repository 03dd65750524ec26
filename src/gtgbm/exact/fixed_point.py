"""Residuals in fixed point, so that sums over rows are exact and independent of their order."""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass

import numpy as np

from gtgbm import _core
from gtgbm.exact.arrays import F64, I16, I64
from gtgbm.exact.context import FitContext
from gtgbm.exact.weights import RowWeights, power_of_two_scale

_GRADIENT_BITS = 28
"""Finest rounding used: 2**-28 of the largest residual, finer than LightGBM's float32 gradients."""
_AMPLE_BITS = 20
"""If all residuals were the largest one and still had so many bits, their sums are not looked at."""
_ORDINARY_EXPONENT = 400
_LARGEST_EXPONENT = 900
"""Largest exponent of values whose mean is taken as they are, and of the power of two for others."""
_MEAN_BITS = 40
"""Bits of the largest value that the values of a mean keep; with fewer, a second sum has what is left."""
_FEWEST_LEVELS = 4
"""Fewest units of fixed point of the mean absolute residual; with fewer, splits are warned of."""


@dataclass(frozen=True)
class Cells:
    """Residuals of one tree packed into histogram cells.

    Attributes
    ----------
    values : ndarray of int64, shape (n,)
        ``((round(residual * scale) << count_bits) + 1) * weight`` of each row.
    scale : float
        Fixed-point scale, a power of two.
    count_bits : int
        Number of low bits of a cell that hold the row count; the gradient has the bits above.
    total : int
        Sum of all cells: the root's gradient sum and row count. Row counts are sums of weights.
    squares : tuple of int
        The root's weighted sum of squared fixed-point residuals, as ``high * 2**32 + low``.
    n_total : int
        Rows of all workers.
    """

    values: I64
    scale: float
    count_bits: int
    total: int
    squares: tuple[int, int]
    n_total: int

    def count(self, total: I64) -> I64:
        """Return the row counts in cell sums."""
        return total & ((1 << self.count_bits) - 1)

    def gradient(self, total: I64) -> I64:
        """Return the gradient sums in cell sums, in fixed point."""
        return total >> self.count_bits

    def sse(self, total: I64, squares: I64) -> F64:
        """Return squared errors around the mean, in squared fixed-point units.

        Parameters
        ----------
        total : ndarray of int64, shape (nodes,)
        squares : ndarray of int64, shape (nodes, 2)
        """
        # Python integers are exact: floats would leave a pure node a small error that seems worth a split.
        mask = (1 << self.count_bits) - 1
        exact = zip(total.tolist(), squares.tolist(), strict=True)
        return np.array(
            [
                (((high << 32) + low) * (t & mask) - (t >> self.count_bits) ** 2) / max(t & mask, 1)
                for t, (high, low) in exact
            ],
            dtype=np.float64,
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
    count_bits = weights.total_cells.bit_length()
    # 64 bits hold the sign, a sum of n gradients (bits + count_bits) and a count (count_bits).
    safe_bits = 62 - 2 * count_bits
    scale = power_of_two_scale(largest, min(_GRADIENT_BITS, safe_bits))
    if safe_bits < _AMPLE_BITS and largest > 0.0:
        scale = _scale_of_sums(residuals, weights, centre, largest, context)
    values = np.empty(residuals.shape[0], dtype=np.int64)
    local = _core.pack_cells(pool, residuals, weights.cells, centre, scale, count_bits, values)
    total, squares_high, squares_low = communicator.sum(np.array(local, dtype=np.int64)).tolist()
    return Cells(values, scale, count_bits, total, (squares_high, squares_low), weights.n_total)


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
    if room <= 0:
        raise ValueError(
            f"the weights of {weights.n_total} rows add up to {total} units, which leaves no bits for "
            "residuals: train on a sample of the rows"
        )
    exponent = math.frexp(room / most)[1] - 1
    finest = power_of_two_scale(largest, _GRADIENT_BITS)
    scale = min(math.ldexp(1.0, max(min(exponent, 500), -500)), finest)
    levels = scale * (rises + falls) / fine / total
    if scale < finest and levels < _FEWEST_LEVELS:
        warnings.warn(
            f"the cells of {weights.n_total} rows leave the mean absolute residual {levels:.1f} units, fewer "
            f"than {_FEWEST_LEVELS} levels: train on a sample of the rows, without sample_weight, or with "
            "criterion='residuals'",
            UserWarning,
            stacklevel=2,
        )
    return scale


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
