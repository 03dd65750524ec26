"""Weights of rows as whole numbers, so that a row of weight 2 is exactly two rows."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from gtgbm.exact.arrays import F64, I64, Bool

_CELL_BITS = 23
"""Weights that are not whole numbers become such whose sum has so many bits: finer ones would leave the
gradients fewer bits of a histogram cell."""
_FINE_BITS = 38
"""The same for leaf values, which have 62 bits for weight and gradient."""
_ORDINARY = (1e-9, 1e9)
"""Largest weights that are taken as they are."""
_ALL_WHOLE = 2.0**53
"""Beyond this every float is a whole number, and says nothing by it."""
_NONE: I64 = np.empty(0, dtype=np.int64)


@dataclass(frozen=True)
class RowWeights:
    """Weights of rows, once for splits and once, finer, for leaf values and means.

    Attributes
    ----------
    n_rows : int
    cells, fine : ndarray of int64, shape (n,), or empty where all rows weigh 1
    cell_unit, fine_unit : float
        What a weight of 1 is in `cells` and `fine`: powers of two.
    total_cells, total_fine : int
        Their sums.
    row : float
        What an ordinary row weighs in `cells`: 1 where weights are whole numbers, which count rows, else
        their mean, so that the unit of weights does not matter.
    """

    n_rows: int
    cells: I64
    fine: I64
    cell_unit: float
    fine_unit: float
    total_cells: int
    total_fine: int
    row: float = 1.0

    @classmethod
    def equal(cls, n_rows: int) -> RowWeights:
        """Let all rows weigh 1."""
        return cls(n_rows, _NONE, _NONE, 1.0, 1.0, n_rows, n_rows)

    @classmethod
    def of(cls, weight: F64) -> RowWeights:
        """Round weights of at least 0, not all 0; whole numbers of moderate size stay what they are."""
        n_rows, largest = weight.shape[0], float(weight.max())
        counts, unit = largest <= _ALL_WHOLE and bool((weight == np.rint(weight)).all()), 1.0
        if not _ORDINARY[0] <= largest <= _ORDINARY[1]:
            # Only proportions count, and sums and units have to be numbers.
            unit = math.ldexp(1.0, -math.frexp(largest)[1]) if counts else 1.0
            weight = np.ldexp(weight, -math.frexp(largest)[1])
        total = float(weight.sum())
        cell_bits = max(_CELL_BITS, n_rows.bit_length() + 2)
        if total <= 2.0**cell_bits and counts and unit == 1.0:
            whole = weight.astype(np.int64)
            return cls(n_rows, whole, whole, 1.0, 1.0, int(total), int(total))
        cells, cell_unit = _rounded(weight, total, cell_bits)
        fine, fine_unit = _rounded(weight, total, max(_FINE_BITS, cell_bits))
        totals = int(cells.sum()), int(fine.sum())
        row = cell_unit * unit if counts else totals[0] / int(np.count_nonzero(weight))
        return cls(n_rows, cells, fine, cell_unit, fine_unit, *totals, row)

    @property
    def are_equal(self) -> bool:
        """Whether all rows weigh 1."""
        return bool(self.cells.shape[0] == 0)

    def only(self, kept: Bool) -> RowWeights:
        """Let all rows but some weigh nothing."""
        one = np.ones(self.n_rows, dtype=np.int64)
        cells = np.where(kept, one if self.are_equal else self.cells, 0)
        fine = np.where(kept, one if self.are_equal else self.fine, 0)
        totals = int(cells.sum()), int(fine.sum())
        return RowWeights(self.n_rows, cells, fine, self.cell_unit, self.fine_unit, *totals, self.row)

    def as_floats(self) -> F64:
        """Weights of rows, shape (n,)."""
        return np.ones(self.n_rows) if self.are_equal else self.fine / self.fine_unit

    def mean(self, values: F64) -> float:
        """Weighted mean of values (n,)."""
        with np.errstate(over="ignore"):  # an infinite loss is the booster's to report
            if self.are_equal:
                return float(values.mean())
            return float((values * self.fine).sum() / self.total_fine)


def _rounded(weight: F64, total: float, bits: int) -> tuple[I64, float]:
    unit = math.ldexp(1.0, bits - math.frexp(total)[1])
    return np.rint(weight * unit).astype(np.int64), unit
