"""What the engine asks of a table: codes of its columns, when something asks for them."""

from __future__ import annotations

from typing import NamedTuple, Protocol

import numpy as np

from gtgbm import _core
from gtgbm.exact import F64, I32, I64, U8, U16, Table

_ENCODE_BATCH = 512
"""Columns binned in one kernel call: enough to keep threads busy, few enough for Ctrl-C to be prompt."""


class BinnedColumn(NamedTuple):
    """A column of numbers as codes.

    Attributes
    ----------
    codes : ndarray of uint8, shape (n,)
    n_bins : int
    thresholds : ndarray of float64
        Bin b holds values up to ``thresholds[b]``.
    """

    codes: U8
    n_bins: int
    thresholds: F64


class Columns(Protocol):
    """Columns of numbers.

    Attributes
    ----------
    sample : ndarray of int64
        Rows that place thresholds, ascending.
    """

    n_rows: int
    n_columns: int
    sample: I64

    def thresholds(self, column: int) -> F64:
        """Thresholds of a column that was encoded before; bin b holds values up to ``thresholds[b]``."""
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
        """Write rough codes of some rows, shape (c, rows): 0 for missing, about equally many of others."""
        ...

    def minmax_values(self, rows: I64, out: U16) -> None:
        """Write the values of some rows of all columns, scaled by each column's range, shape (d, rows)."""
        ...


class Thresholds:
    """Thresholds of the columns encoded so far.

    Attributes
    ----------
    max_bins : int
        Bins of a column, one more than its thresholds at most.
    """

    def __init__(self, n_columns: int, max_bins: int) -> None:
        self.max_bins = max_bins
        # All thresholds one after the other, batch by batch; -2: not placed yet, -1: a column without values.
        self._batches: list[F64] = []
        self._batch: I32 = np.zeros(n_columns, dtype=np.int32)
        self._start: I64 = np.zeros(n_columns, dtype=np.int64)
        self._count: I32 = np.full(n_columns, -2, dtype=np.int32)

    def of(self, column: int) -> F64:
        """Thresholds of a column."""
        start, count = int(self._start[column]), max(int(self._count[column]), 0)
        edges: F64 = self._batches[self._batch[column]][start : start + count]
        return edges

    def missing_of(self, columns: I64) -> I64:
        """Those of some columns that have none yet."""
        missing: I64 = columns[self._count[columns] == -2]
        return missing

    def keep(self, columns: I64, thresholds: F64, n_thresholds: I32) -> None:
        """Keep what a kernel found; -1 thresholds for a column without a single value."""
        is_used = np.arange(thresholds.shape[1]) < n_thresholds[:, None]
        counts = np.maximum(n_thresholds, 0)
        self._batch[columns] = len(self._batches)
        self._start[columns] = np.cumsum(counts) - counts
        self._count[columns] = n_thresholds
        self._batches.append(thresholds[is_used])

    def packed(self, columns: I64) -> tuple[F64, I32]:
        """Thresholds of some columns as kernels take them."""
        thresholds = np.zeros((columns.shape[0], self.max_bins - 1))
        for k, column in enumerate(columns.tolist()):
            edges = self.of(column)
            thresholds[k, : edges.shape[0]] = edges
        n_thresholds: I32 = self._count[columns]
        return thresholds, n_thresholds


class DenseColumns:
    """A table of numbers whose columns are turned into codes on demand.

    Parameters
    ----------
    table : ndarray, shape (n, d)
        Any native float or integer dtype, either memory order; never copied. NaN is missing.
    max_bins : int
        At most 255.
    sample : ndarray of int64
        Rows that place thresholds, ascending.
    """

    def __init__(self, table: Table, pool: _core.Pool, max_bins: int, sample: I64) -> None:
        self.table = table
        self.n_rows, self.n_columns = table.shape
        self.sample = sample
        self._pool = pool
        self._thresholds = Thresholds(self.n_columns, max_bins)

    def thresholds(self, column: int) -> F64:
        """Thresholds of a column that was encoded before."""
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
        """Write rough codes of some rows."""
        _core.rank_codes(self._pool, self.table, rows, columns, levels, out)

    def minmax_values(self, rows: I64, out: U16) -> None:
        """Write scaled values of some rows of all columns."""
        _core.minmax_values(self._pool, self.table, rows, np.arange(self.n_columns), out)

    def _place_thresholds(self, columns: I64) -> None:
        if columns.shape[0] == 0:
            return
        values = np.empty((columns.shape[0], self.sample.shape[0]))
        _core.gather(self._pool, self.table, self.sample, columns, values)
        max_bins = self._thresholds.max_bins
        thresholds = np.empty((columns.shape[0], max_bins - 1))
        n_thresholds = np.empty(columns.shape[0], dtype=np.int32)
        _core.find_thresholds(self._pool, values, max_bins, thresholds, n_thresholds)
        self._thresholds.keep(columns, thresholds, n_thresholds)
