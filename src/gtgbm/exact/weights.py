"""Sample weights as integers, so that a row of weight 2 counts exactly as two rows."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from gtgbm.exact.arrays import F64, I64, Bool
from gtgbm.exact.communicator import ALONE, Communicator

_CELL_BITS = 23
"""Fractional weights become integers whose sum has this many bits. Finer ones would leave the gradient fewer
bits of a packed histogram cell."""
_MOST_CELL_BITS = 30
"""The same where cells are wide, and the most bits of whole weights that stay as they are: with what rounding
adds, the sum is below 2**31, for which wide cells and sums of squares have room."""
PACKED_ROW_BITS = 21
"""Most bits of the number of rows of a table with packed cells; with more they are wide."""
_FINE_BITS = 38
"""The same for leaf values, whose sums have 62 bits for weight and gradient together."""
_ORDINARY = (1e-9, 1e9)
"""Range of the largest weight within which weights are not rescaled."""
_LARGEST_COUNT = 2.0**53
"""Above this every float is an integer, so weights are not taken for counts of rows."""
_LARGEST_EXPONENT = 900
"""Of the power of two that extreme weights are rescaled by, so that products with it stay finite."""
_NO_WEIGHTS: I64 = np.empty(0, dtype=np.int64)


@dataclass(frozen=True)
class RowWeights:
    """Sample weights as integers: coarse ones for splits, finer ones for leaf values and means.

    Attributes
    ----------
    n_rows : int
        Rows of this worker.
    cells, fine : ndarray of int64, shape (n,), or empty where all rows weigh 1
    cell_unit, fine_unit : float
        The integer that stands for a weight of 1 in `cells` and `fine`, a power of two.
    total_cells, total_fine : int
        Sums of `cells` and `fine` over the rows of all workers.
    n_total : int
        Rows of all workers.
    row : float
        Weight of an ordinary row in `cells`: that of a weight of 1 if all weights are integers, which count
        rows, else their mean, so that the scale of the weights does not matter.
    l2_unit : float
        The number in units of `cells` that stands for an L2 regularization of 1: that of a weight of 1, or of
        a curvature of 1 where `cells` are curvatures. Unlike `cell_unit`, it refers to the weights before
        extreme ones are rescaled.
    are_equal : bool
        Whether all rows of all workers weigh 1.
    """

    n_rows: int
    cells: I64
    fine: I64
    cell_unit: float
    fine_unit: float
    total_cells: int
    total_fine: int
    n_total: int
    row: float = 1.0
    l2_unit: float = 1.0
    are_equal: bool = False

    @classmethod
    def equal(cls, n_rows: int, n_total: int | None = None) -> RowWeights:
        """Give all rows weight 1; `n_total` rows of all workers, None: this one has all rows."""
        total = n_rows if n_total is None else n_total
        return cls(n_rows, _NO_WEIGHTS, _NO_WEIGHTS, 1.0, 1.0, total, total, total, are_equal=True)

    @classmethod
    def of(cls, weight: F64, communicator: Communicator = ALONE) -> RowWeights:
        """Round weights (n,) to integers; integers of moderate size stay unchanged.

        Weights must not be negative, and not all of them may be 0.
        """
        n_rows = weight.shape[0]
        has_fractions = not bool((weight == np.rint(weight)).all())
        largest, fractions = communicator.max(np.array([weight.max(initial=0.0), has_fractions])).tolist()
        n_total, n_nonzero = communicator.sum(np.array([n_rows, np.count_nonzero(weight)])).tolist()
        counts, unit = largest <= _LARGEST_COUNT and not fractions, 1.0
        if not _ORDINARY[0] <= largest <= _ORDINARY[1]:
            # Rescaling keeps sums and units finite. The limit applies to weights near the smallest floats.
            unit = math.ldexp(1.0, min(-math.frexp(largest)[1], _LARGEST_EXPONENT))
            weight = np.ldexp(weight, -math.frexp(largest)[1])
            largest = math.ldexp(largest, -math.frexp(largest)[1])
        total = exact_sum(weight, largest, n_total, communicator)
        cell_bits = _CELL_BITS if n_total.bit_length() <= PACKED_ROW_BITS else _MOST_CELL_BITS
        if total <= 2.0**_MOST_CELL_BITS and counts and unit == 1.0:
            integers = weight.astype(np.int64)
            (total_count,) = _totals(communicator, integers)
            return cls(n_rows, integers, integers, 1.0, 1.0, total_count, total_count, n_total)
        cells, cell_unit = _rounded(weight, total, cell_bits)
        fine, fine_unit = _rounded(weight, total, _FINE_BITS)
        total_cells, total_fine = _totals(communicator, cells, fine)
        row = cell_unit * unit if counts else total_cells / n_nonzero
        units = cell_unit, fine_unit
        return cls(n_rows, cells, fine, *units, total_cells, total_fine, n_total, row, cell_unit * unit)

    def only(self, kept: Bool, communicator: Communicator = ALONE) -> RowWeights:
        """Set the weights of all rows but the kept ones, shape (n,), to 0."""
        ones = np.ones(self.n_rows, dtype=np.int64)
        cells = np.where(kept, ones if self.are_equal else self.cells, 0)
        fine = np.where(kept, ones if self.are_equal else self.fine, 0)
        total_cells, total_fine = _totals(communicator, cells, fine)
        return replace(
            self, cells=cells, fine=fine, total_cells=total_cells, total_fine=total_fine, are_equal=False
        )

    def as_floats(self) -> F64:
        """Return the weights as floats, shape (n,)."""
        return np.ones(self.n_rows) if self.are_equal else self.fine / self.fine_unit

    def of_rows(self, rows: I64) -> RowWeights:
        """Return the weights of some rows."""
        if self.are_equal:
            return RowWeights.equal(rows.shape[0])
        return RowWeights.of(self.as_floats()[rows])

    def shares_of(self, values: F64) -> F64:
        """Return what each of the values (n,) adds to their weighted mean."""
        if self.are_equal:
            return values / self.n_total
        return np.asarray(values * (self.fine / self.total_fine))


def power_of_two_scale(largest: float, bits: int) -> float:
    """Return the largest power of two that keeps ``largest * scale`` at or below ``2**bits``."""
    if largest == 0.0:
        return 1.0
    exponent = math.frexp(largest)[1]
    return math.ldexp(1.0, max(min(bits - exponent, 500), -500))


def exact_sum(values: F64, largest: float, n_total: int, communicator: Communicator) -> float:
    """Return the sum of values (n,) of at most `largest` over all workers, the same for every order."""
    scale = power_of_two_scale(largest, 62 - n_total.bit_length())
    return _totals(communicator, np.rint(values * scale).astype(np.int64))[0] / scale


def _totals(communicator: Communicator, *arrays: I64) -> list[int]:
    """Return the sum of each array over the rows of all workers."""
    sums: list[int] = communicator.sum(np.array([values.sum() for values in arrays], dtype=np.int64)).tolist()
    return sums


def _rounded(weight: F64, total: float, bits: int) -> tuple[I64, float]:
    unit = math.ldexp(1.0, bits - math.frexp(total)[1])
    return np.rint(weight * unit).astype(np.int64), unit
