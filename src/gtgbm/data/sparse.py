"""Columns of a sparse table: only stored entries are coded; implicit zeros are never touched."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from gtgbm import _core
from gtgbm.data.columns import Thresholds
from gtgbm.exact import F64, I32, I64, U8, U16, Shard, Table

if TYPE_CHECKING:
    from scipy.sparse import csc_matrix

_COLUMN_BATCH = 8192
"""Columns binned in one kernel call: a multiple of a tile's lanes, few enough to hold their thresholds."""
_DENSE_BLOCK = 1 << 24
"""Values of sampled rows that are made dense at a time."""
_DENSE_SHARE = 0.15
"""A column with a larger share of stored entries is searched faster as a dense column."""


@dataclass(frozen=True)
class SparseCodes:
    """Codes of the stored entries of some columns.

    Attributes
    ----------
    columns : ndarray of int64, shape (c,)
    place : ndarray of int64, shape (c,)
        Position of each column in `start`.
    start : ndarray of int64, shape (columns with entries + 1,)
        The entries of the column at position j are ``[start[j], start[j + 1])``.
    rows : ndarray of int32, shape (entries,)
    codes : ndarray of uint8, shape (entries,)
        255 is missing; only the entries of `columns` have codes.
    n_bins : ndarray of int32, shape (c,)
    zero_code : ndarray of uint8, shape (c,)
        Code of the rows without an entry, which are zeros.
    """

    columns: I64
    place: I64
    start: I64
    rows: I32
    codes: U8
    n_bins: I32
    zero_code: U8


class SparseColumns:
    """A sparse table, binned on demand.

    Parameters
    ----------
    table : scipy.sparse.csc_matrix, shape (n, d)
        Without duplicate entries. NaN is missing.
    sample : ndarray of int64
        Rows that thresholds are computed from, ascending.
    """

    def __init__(self, table: csc_matrix, pool: _core.Pool, max_bins: int, sample: I64) -> None:
        self.n_rows, self.n_columns = table.shape
        self.shard = Shard.whole(self.n_rows)
        self.sample = sample
        self._table = table
        self._start: I64 = np.asarray(table.indptr, dtype=np.int64)
        self._rows: I32 = np.asarray(table.indices, dtype=np.int32)
        self._values: Table = table.data[:, None]
        self._pool = pool
        self._thresholds = Thresholds(self.n_columns, max_bins)
        self._in_sample: U8 = np.zeros(self.n_rows, dtype=np.uint8)
        self._in_sample[sample] = 1

    @property
    def dense_columns(self) -> I64:
        """Columns with so many entries that they are searched faster as dense columns."""
        return np.flatnonzero(np.diff(self._start) > _DENSE_SHARE * self.n_rows)

    @property
    def filled_columns(self) -> I64:
        """Columns with entries: others are 0 in all rows, and there may be very many of them."""
        return np.flatnonzero(np.diff(self._start))

    def thresholds(self, column: int) -> F64:
        """Return the thresholds of a column that was encoded before."""
        return self._thresholds.of(column)

    def encode(self, columns: I64, out: U8) -> I32:
        """Write the codes of whole columns and return their numbers of bins."""
        lanes = out.shape[2]
        n_bins = np.empty(columns.shape[0], dtype=np.int32)
        for first in range(0, columns.shape[0], _COLUMN_BATCH):
            batch = columns[first : first + _COLUMN_BATCH]
            thresholds, n_thresholds = self._thresholds_of(batch)
            tiles = out[first // lanes : (first + batch.shape[0] + lanes - 1) // lanes]
            table = self._start, self._rows, self._values
            _core.encode_sparse(self._pool, *table, batch, thresholds, n_thresholds, tiles)
            n_bins[first : first + _COLUMN_BATCH] = n_thresholds + 1
        return n_bins

    def code_entries(self, columns: I64) -> SparseCodes:
        """Return the codes of the stored entries of some columns, each of which must have entries."""
        codes = np.empty(self._rows.shape[0], dtype=np.uint8)
        zero_code = np.empty(columns.shape[0], dtype=np.uint8)
        n_bins = np.empty(columns.shape[0], dtype=np.int32)
        for first in range(0, columns.shape[0], _COLUMN_BATCH):
            part = slice(first, first + _COLUMN_BATCH)
            thresholds, n_thresholds = self._thresholds_of(columns[part])
            _core.code_entries(
                self._pool,
                self._start,
                self._values,
                columns[part],
                thresholds,
                n_thresholds,
                codes,
                zero_code[part],
            )
            n_bins[part] = n_thresholds + 1
        filled = self.filled_columns
        start = self._start[np.append(filled, self.n_columns)]
        place = np.searchsorted(filled, columns)
        return SparseCodes(columns, place, start, self._rows, codes, n_bins, zero_code)

    def rank_codes(self, columns: I64, rows: I64, levels: int, out: U8) -> None:
        """Write coarse codes of some rows."""
        for block in self._blocks(columns.shape[0], rows.shape[0]):
            values = self._table[:, columns[block]][rows].toarray()
            every = np.arange(values.shape[0]), np.arange(values.shape[1])
            _core.rank_codes(self._pool, values, *every, levels, out[block])

    def minmax_values(self, rows: I64, out: U16) -> None:
        """Write min-max scaled values of some rows of all columns."""
        for block in self._blocks(self.n_columns, rows.shape[0]):
            values = self._table[:, block][rows].toarray()
            every = np.arange(values.shape[0]), np.arange(values.shape[1])
            _core.minmax_values(self._pool, values, *every, out[block])

    @staticmethod
    def _blocks(n_columns: int, n_rows: int) -> list[slice]:
        size = max(1, _DENSE_BLOCK // max(n_rows, 1))
        return [slice(first, first + size) for first in range(0, n_columns, size)]

    def _thresholds_of(self, columns: I64) -> tuple[F64, I32]:
        """Return the thresholds of some columns, computing those that are new."""
        new = self._thresholds.missing_of(columns)
        if new.shape[0]:
            thresholds = np.empty((new.shape[0], self._thresholds.max_bins - 1))
            n_thresholds = np.empty(new.shape[0], dtype=np.int32)
            _core.find_sparse_thresholds(
                self._pool,
                self._start,
                self._rows,
                self._values,
                new,
                self._in_sample,
                self._thresholds.max_bins,
                thresholds,
                n_thresholds,
            )
            self._thresholds.keep(new, thresholds, n_thresholds)
        return self._thresholds.packed(columns)
