"""Numeric columns of a table, binned on demand: the interface that training needs, and dense tables."""

from __future__ import annotations

from typing import NamedTuple, Protocol

import numpy as np

from gtgbm import _core
from gtgbm.exact import F64, I32, I64, U8, U16, Bool, Shard, Table

_ENCODE_BATCH = 512
"""Columns binned in one kernel call: enough to keep threads busy, few enough for Ctrl-C to be prompt."""

_KEPT_COLUMNS = 64
"""Codes of so many columns at a time are those of tests, which cover all columns; fewer are candidates."""


class BinnedColumn(NamedTuple):
    """A binned numeric column.

    Attributes
    ----------
    codes : ndarray of uint8, shape (n,)
    n_bins : int
    thresholds : ndarray of float64
        Upper edges: bin b holds values up to ``thresholds[b]``.
    """

    codes: U8
    n_bins: int
    thresholds: F64


class Columns(Protocol):
    """Numeric columns of a table.

    Attributes
    ----------
    n_rows, n_columns : int
        Rows are those of this worker.
    shard : Shard
        Which rows of the whole table these are.
    sample : ndarray of int64
        Rows of the whole table that thresholds are computed from, ascending.
    """

    n_rows: int
    n_columns: int
    shard: Shard
    sample: I64

    def thresholds(self, column: int) -> F64:
        """Return the thresholds of a column that was encoded before; bin b holds values up to the b-th."""
        ...

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
        ...

    def rank_codes(self, columns: I64, rows: I64, levels: int, out: U8) -> None:
        """Write coarse codes of some rows, by rank within each column.

        Parameters
        ----------
        columns : ndarray of int64, shape (c,)
        rows : ndarray of int64, shape (r,)
            Of the whole table.
        levels : int
            Number of codes. Code 0 is for missing values; the other codes have about equally many rows each.
        out : ndarray of uint8, shape (c, r)
        """
        ...

    def minmax_values(self, rows: I64, out: U16) -> None:
        """Write the values of some rows of all columns, min-max scaled per column, into `out` (d, rows)."""
        ...


class Thresholds:
    """Thresholds of the columns encoded so far.

    Attributes
    ----------
    max_bins : int
        Most bins of a column: one more than it can have thresholds.
    """

    def __init__(self, n_columns: int, max_bins: int) -> None:
        self.max_bins = max_bins
        # Thresholds are stored by batch: the batch, start and count of each column say where its own are.
        # A count of -2 means not computed yet, -1 a column without a single value.
        self._batches: list[F64] = []
        self._batch: I32 = np.zeros(n_columns, dtype=np.int32)
        self._start: I64 = np.zeros(n_columns, dtype=np.int64)
        self._count: I32 = np.full(n_columns, -2, dtype=np.int32)

    def of(self, column: int) -> F64:
        """Return the thresholds of a column."""
        start, count = int(self._start[column]), max(int(self._count[column]), 0)
        edges: F64 = self._batches[self._batch[column]][start : start + count]
        return edges

    def missing_of(self, columns: I64) -> I64:
        """Return those of some columns whose thresholds are not computed yet."""
        missing: I64 = columns[self._count[columns] == -2]
        return missing

    def keep(self, columns: I64, thresholds: F64, n_thresholds: I32) -> None:
        """Store thresholds that a kernel computed; a count of -1 marks a column without a single value."""
        is_used = np.arange(thresholds.shape[1]) < n_thresholds[:, None]
        counts = np.maximum(n_thresholds, 0)
        self._batch[columns] = len(self._batches)
        self._start[columns] = np.cumsum(counts) - counts
        self._count[columns] = n_thresholds
        self._batches.append(thresholds[is_used])

    def packed(self, columns: I64) -> tuple[F64, I32]:
        """Return thresholds (c, max_bins - 1) and their numbers (c,) for a kernel."""
        thresholds = np.zeros((columns.shape[0], self.max_bins - 1))
        for k, column in enumerate(columns.tolist()):
            edges = self.of(column)
            thresholds[k, : edges.shape[0]] = edges
        n_thresholds: I32 = self._count[columns]
        return thresholds, n_thresholds


class DenseColumns:
    """A dense table of numbers, binned on demand.

    Parameters
    ----------
    table : ndarray, shape (n, d)
        Any native float or integer dtype, either memory order; never copied. NaN is missing.
    max_bins : int
        At most 255.
    sample : ndarray of int64
        Rows that thresholds are computed from, ascending.
    keeps_codes : bool
        Whether coarse codes of many columns are kept: other fits to the table ask for the same ones.
    """

    def __init__(
        self, table: Table, pool: _core.Pool, max_bins: int, sample: I64, *, keeps_codes: bool = False
    ) -> None:
        self.table = table
        self._kept_codes: dict[tuple[bytes, int], tuple[U8, Bool]] | None = {} if keeps_codes else None
        self.n_rows, self.n_columns = table.shape
        self.shard = Shard.whole(self.n_rows)
        self.sample = sample
        self._pool = pool
        self._thresholds = Thresholds(self.n_columns, max_bins)

    def thresholds(self, column: int) -> F64:
        """Return the thresholds of a column that was encoded before."""
        return self._thresholds.of(column)

    def encode(self, columns: I64, out: U8) -> I32:
        """Write the codes of whole columns and return their numbers of bins."""
        lanes = out.shape[2]
        n_bins = np.empty(columns.shape[0], dtype=np.int32)
        for first in range(0, columns.shape[0], _ENCODE_BATCH):
            batch = columns[first : first + _ENCODE_BATCH]
            self._place_thresholds(self._thresholds.missing_of(batch))
            tiles = out[first // lanes : (first + batch.shape[0] + lanes - 1) // lanes]
            thresholds, n_thresholds = self._thresholds.packed(batch)
            _core.encode(self._pool, self.table, batch, thresholds, n_thresholds, tiles)
            n_bins[first : first + _ENCODE_BATCH] = n_thresholds + 1
        return n_bins

    def rank_codes(self, columns: I64, rows: I64, levels: int, out: U8) -> None:
        """Write coarse codes of some rows."""
        if self._kept_codes is None or columns.shape[0] < _KEPT_COLUMNS:
            _core.rank_codes(self._pool, self.table, rows, columns, levels, out)
            return
        key, shape = (rows.tobytes(), levels), (self.n_columns, rows.shape[0])
        if key not in self._kept_codes:
            self._kept_codes[key] = np.empty(shape, dtype=np.uint8), np.zeros(shape[0], dtype=np.bool_)
        codes, is_kept = self._kept_codes[key]
        new = columns[~is_kept[columns]]
        fresh = np.empty((new.shape[0], rows.shape[0]), dtype=np.uint8)
        _core.rank_codes(self._pool, self.table, rows, new, levels, fresh)
        codes[new], is_kept[new] = fresh, True
        out[...] = codes[columns]

    def minmax_values(self, rows: I64, out: U16) -> None:
        """Write min-max scaled values of some rows of all columns."""
        _core.minmax_values(self._pool, self.table, rows, np.arange(self.n_columns), out)

    def _place_thresholds(self, columns: I64) -> None:
        if columns.shape[0] == 0:
            return
        values = self._sampled(columns)
        max_bins = self._thresholds.max_bins
        thresholds = np.empty((columns.shape[0], max_bins - 1))
        n_thresholds = np.empty(columns.shape[0], dtype=np.int32)
        _core.find_thresholds(self._pool, values, max_bins, thresholds, n_thresholds)
        self._thresholds.keep(columns, thresholds, n_thresholds)

    def _sampled(self, columns: I64) -> F64:
        """Return the values that thresholds are computed from, shape (columns, sample)."""
        values = np.empty((columns.shape[0], self.sample.shape[0]))
        _core.gather(self._pool, self.table, self.sample, columns, values)
        return values
