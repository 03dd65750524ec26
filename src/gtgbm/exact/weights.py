"""Sample weights as integers, so that a row of weight 2 counts exactly as two rows."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from gtgbm.exact.arrays import F64, I64, Bool

_CELL_BITS = 23
"""Fractional weights become integers whose sum has this many bits. Finer ones would leave the gradient fewer
bits of a histogram cell."""
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
    cells, fine : ndarray of int64, shape (n,), or empty where all rows weigh 1
    cell_unit, fine_unit : float
        The integer that stands for a weight of 1 in `cells` and `fine`, a power of two.
    total_cells, total_fine : int
        Sums of `cells` and `fine`.
    row : float
        Weight of an ordinary row in `cells`: that of a weight of 1 if all weights are integers, which count
        rows, else their mean, so that the scale of the weights does not matter.
    l2_unit : float
        The number in units of `cells` that stands for an L2 regularization of 1: that of a weight of 1, or of
        a curvature of 1 where `cells` are curvatures. Unlike `cell_unit`, it refers to the weights before
        extreme ones are rescaled.
    """

    n_rows: int
    cells: I64
    fine: I64
    cell_unit: float
    fine_unit: float
    total_cells: int
    total_fine: int
    row: float = 1.0
    l2_unit: float = 1.0

    @classmethod
    def equal(cls, n_rows: int) -> RowWeights:
        """Give all rows weight 1."""
        return cls(n_rows, _NO_WEIGHTS, _NO_WEIGHTS, 1.0, 1.0, n_rows, n_rows)

    @classmethod
    def of(cls, weight: F64) -> RowWeights:
        """Round weights (n,) to integers; integers of moderate size stay unchanged.

        Weights must not be negative, and not all of them may be 0.
        """
        n_rows, largest = weight.shape[0], float(weight.max())
        counts, unit = largest <= _LARGEST_COUNT and bool((weight == np.rint(weight)).all()), 1.0
        if not _ORDINARY[0] <= largest <= _ORDINARY[1]:
            # Rescaling keeps sums and units finite. The limit applies to weights near the smallest floats.
            unit = math.ldexp(1.0, min(-math.frexp(largest)[1], _LARGEST_EXPONENT))
            weight = np.ldexp(weight, -math.frexp(largest)[1])
        total = float(weight.sum())
        cell_bits = max(_CELL_BITS, n_rows.bit_length() + 2)
        if total <= 2.0**cell_bits and counts and unit == 1.0:
            integers = weight.astype(np.int64)
            return cls(n_rows, integers, integers, 1.0, 1.0, int(total), int(total))
        cells, cell_unit = _rounded(weight, total, cell_bits)
        fine, fine_unit = _rounded(weight, total, max(_FINE_BITS, cell_bits))
        totals = int(cells.sum()), int(fine.sum())
        row = cell_unit * unit if counts else totals[0] / int(np.count_nonzero(weight))
        return cls(n_rows, cells, fine, cell_unit, fine_unit, *totals, row, cell_unit * unit)

    @property
    def are_equal(self) -> bool:
        """Whether all rows weigh 1."""
        return bool(self.cells.shape[0] == 0)

    def only(self, kept: Bool) -> RowWeights:
        """Set the weights of all rows but the kept ones, shape (n,), to 0."""
        ones = np.ones(self.n_rows, dtype=np.int64)
        cells = np.where(kept, ones if self.are_equal else self.cells, 0)
        fine = np.where(kept, ones if self.are_equal else self.fine, 0)
        totals = int(cells.sum()), int(fine.sum())
        units = self.cell_unit, self.fine_unit
        return RowWeights(self.n_rows, cells, fine, *units, *totals, self.row, self.l2_unit)

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
            return values / self.n_rows
        return np.asarray(values * (self.fine / self.total_fine))

    def mean(self, values: F64) -> float:
        """Return the weighted mean of values (n,)."""
        with np.errstate(over="ignore"):  # the booster reports an infinite loss
            if self.are_equal:
                return float(values.mean())
            return float((values * self.fine).sum() / self.total_fine)


def _rounded(weight: F64, total: float, bits: int) -> tuple[I64, float]:
    unit = math.ldexp(1.0, bits - math.frexp(total)[1])
    return np.rint(weight * unit).astype(np.int64), unit
