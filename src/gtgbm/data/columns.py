"""Columns of a dense table, binned the first time something asks for them."""

from __future__ import annotations

from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from gtgbm import _core
from gtgbm.arrays import F64, I32, I64, LANES, U8, Table

T = TypeVar("T", bound=np.generic)

_ENCODE_BATCH = 512
"""Columns binned in one kernel call: enough to keep threads busy, few enough for Ctrl-C to be prompt."""


class DenseColumns:
    """A table of numbers whose columns are turned into codes on demand.

    Parameters
    ----------
    table : ndarray, shape (n, d)
        Any native float or integer dtype, either memory order; never copied. NaN is missing.
    max_bins : int
        At most 255.
    threshold_rows : int
        Rows that place thresholds; all rows where there are fewer.
    rng : numpy Generator
        Samples those rows.
    """

    def __init__(
        self, table: Table, pool: _core.Pool, max_bins: int, threshold_rows: int, rng: np.random.Generator
    ) -> None:
        self.table = table
        self.n_rows, self.n_columns = table.shape
        self._pool = pool
        self._max_bins = max_bins
        self._thresholds: dict[int, F64] = {}
        self._sample: I64 = (
            np.arange(self.n_rows, dtype=np.int64)
            if self.n_rows <= threshold_rows
            else np.sort(rng.choice(self.n_rows, threshold_rows, replace=False)).astype(np.int64)
        )

    def thresholds(self, column: int) -> F64:
        """Thresholds of a column that was encoded before; bin b holds values up to ``thresholds[b]``."""
        return self._thresholds[column]

    def encode(self, columns: I64, out: U8) -> I32:
        """Write the codes of whole columns and return their numbers of bins.

        Parameters
        ----------
        columns : ndarray of int64, shape (c,)
        out : ndarray of uint8, shape (tiles, n, lanes)
            Column k goes to ``out[k // lanes, :, k % lanes]``.

        Returns
        -------
        ndarray of int32, shape (c,)
            0 for a column without a single value.
        """
        lanes = out.shape[2]
        n_bins = np.empty(columns.shape[0], dtype=np.int32)
        for first in range(0, columns.shape[0], _ENCODE_BATCH):
            batch = columns[first : first + _ENCODE_BATCH]
            thresholds, n_thresholds = self._find_thresholds(batch)
            tiles = out[first // lanes : (first + batch.shape[0] + lanes - 1) // lanes]
            _core.encode(self._pool, self.table, batch, thresholds, n_thresholds, tiles)
            n_bins[first : first + _ENCODE_BATCH] = n_thresholds + 1
        return n_bins

    def _find_thresholds(self, columns: I64) -> tuple[F64, I32]:
        values = np.empty((columns.shape[0], self._sample.shape[0]))
        _core.gather(self._pool, self.table, self._sample, columns, values)
        thresholds = np.empty((columns.shape[0], self._max_bins - 1))
        n_thresholds = np.empty(columns.shape[0], dtype=np.int32)
        _core.find_thresholds(self._pool, values, self._max_bins, thresholds, n_thresholds)
        for k, column in enumerate(columns.tolist()):
            self._thresholds[column] = thresholds[k, : max(int(n_thresholds[k]), 0)].copy()
        return thresholds, n_thresholds


class Tiles:
    """Codes of a growing list of columns, eight interleaved in each tile.

    One read of eight bytes gives a row's codes in eight columns, which is what makes histograms of
    scattered rows fast.
    """

    def __init__(self, n_rows: int) -> None:
        self._codes: U8 = np.zeros((1, n_rows, LANES), dtype=np.uint8)
        self._n_bins: I32 = np.zeros(LANES, dtype=np.int32)
        self._features: I64 = np.zeros(LANES, dtype=np.int64)
        self._count = 0

    @classmethod
    def of_all(cls, columns: DenseColumns) -> Tiles:
        """Encode a whole table."""
        tiles = cls(0)
        n_tiles = -(-columns.n_columns // LANES)
        tiles._codes = np.zeros((n_tiles, columns.n_rows, LANES), dtype=np.uint8)
        tiles._n_bins = np.zeros(n_tiles * LANES, dtype=np.int32)
        tiles._features = np.arange(columns.n_columns, dtype=np.int64)
        tiles._count = columns.n_columns
        tiles._n_bins[: columns.n_columns] = columns.encode(
            np.arange(columns.n_columns, dtype=np.int64), tiles._codes
        )
        return tiles

    @property
    def n_columns(self) -> int:
        """Number of columns held."""
        return self._count

    @property
    def n_tiles(self) -> int:
        """Number of tiles in use, the last one perhaps not full."""
        return -(-self._count // LANES)

    @property
    def features(self) -> I64:
        """The features, in the order they were added."""
        return self._features[: self._count]

    @property
    def codes(self) -> U8:
        """Codes, shape (n_tiles, n, 8)."""
        return self._codes[: self.n_tiles]

    @property
    def n_bins(self) -> I32:
        """Bins of each lane, shape (n_columns,)."""
        return self._n_bins[: self._count]

    def column(self, position: int) -> U8:
        """Codes of the column at a position, a strided view of shape (n,)."""
        return self._codes[position // LANES, :, position % LANES]

    def append(self, feature: int, codes: U8, n_bins: int) -> None:
        """Add a column."""
        position = self._count
        if position == self._n_bins.shape[0]:
            self._codes = _doubled(self._codes)
            self._n_bins = _doubled(self._n_bins)
            self._features = _doubled(self._features)
        self._count += 1
        self._features[position] = feature
        self._n_bins[position] = n_bins
        self.column(position)[:] = codes


def _doubled(array: NDArray[T]) -> NDArray[T]:
    grown = np.zeros((2 * array.shape[0], *array.shape[1:]), dtype=array.dtype)
    grown[: array.shape[0]] = array
    return grown
