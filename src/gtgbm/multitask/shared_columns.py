"""A table shared by several tasks: columns are binned once, and each task uses the codes of its own rows."""

from __future__ import annotations

from threading import RLock

import numpy as np

from gtgbm import _core
from gtgbm.data import Columns, DenseColumns, sample_rows
from gtgbm.exact import F64, I32, I64, U8, U16, Shard, Table

_BATCH = 512
"""Columns encoded at a time."""


class SharedTable:
    """A dense table whose rows belong to several tasks.

    Thresholds are computed from a sample of the rows of all tasks.

    Parameters
    ----------
    seed : int
        Seed of the sample, which is the same as for a fit to the whole table.
    """

    def __init__(self, table: Table, pool: _core.Pool, max_bins: int, seed: int) -> None:
        self._table, self._pool, self._max_bins, self._seed = table, pool, max_bins, seed
        # The thread pool allows only one caller at a time.
        self._lock = RLock()
        self._columns: dict[int, SharedColumns] = {}

    def of_rows(self, rows: I64, sample: I64, threshold_rows: int) -> TaskColumns:
        """Return the columns of some rows.

        Parameters
        ----------
        rows : ndarray of int64
            Ascending.
        sample : ndarray of int64
            Positions in `rows` of the rows on which candidates are screened.
        threshold_rows : int
            Size of the sample that thresholds are computed from.
        """
        with self._lock:
            if threshold_rows not in self._columns:
                placing = sample_rows(self._table.shape[0], threshold_rows, np.random.default_rng(self._seed))
                columns = DenseColumns(self._table, self._pool, self._max_bins, placing)
                self._columns[threshold_rows] = SharedColumns(columns, self._lock)
        return TaskColumns(self._columns[threshold_rows], rows, sample)


class SharedColumns:
    """Codes of whole columns, each encoded once, when a task first needs it."""

    def __init__(self, columns: Columns, lock: RLock) -> None:
        self.n_columns = columns.n_columns
        self._columns = columns
        self._lock = lock
        self._codes: U8 = np.empty((columns.n_columns, columns.n_rows), dtype=np.uint8)
        self._n_bins: I32 = np.full(columns.n_columns, -1, dtype=np.int32)

    def thresholds(self, column: int) -> F64:
        """Return the thresholds of a column that was encoded before."""
        with self._lock:
            return self._columns.thresholds(column)

    def take(self, columns: I64, rows: I64, out: U8) -> I32:
        """Write the codes of some rows in the layout of `Columns.encode`, and return numbers of bins."""
        with self._lock:
            new = np.unique(columns[self._n_bins[columns] < 0])
            for first in range(0, new.shape[0], _BATCH):
                batch = new[first : first + _BATCH]
                codes = np.empty((batch.shape[0], self._codes.shape[1], 1), dtype=np.uint8)
                self._n_bins[batch] = self._columns.encode(batch, codes)
                self._codes[batch] = codes[:, :, 0]
        lanes = out.shape[2]
        for tile in range(-(-columns.shape[0] // lanes)):
            of_tile = columns[tile * lanes : (tile + 1) * lanes]
            out[tile, :, : of_tile.shape[0]] = self._codes[np.ix_(of_tile, rows)].T
        return self._n_bins[columns]

    def rank_codes(self, columns: I64, rows: I64, levels: int, out: U8) -> None:
        """Write coarse codes of some rows."""
        with self._lock:
            self._columns.rank_codes(columns, rows, levels, out)

    def minmax_values(self, rows: I64, out: U16) -> None:
        """Write min-max scaled values of some rows of all columns."""
        with self._lock:
            self._columns.minmax_values(rows, out)


class TaskColumns:
    """Columns of the rows of one task; see `Columns`."""

    def __init__(self, shared: SharedColumns, rows: I64, sample: I64) -> None:
        self.n_rows, self.n_columns = int(rows.shape[0]), shared.n_columns
        self.shard = Shard.whole(self.n_rows)
        self.sample = sample
        self._shared = shared
        self._rows = rows

    def thresholds(self, column: int) -> F64:
        """Return the thresholds of a column, which are the same for all tasks."""
        return self._shared.thresholds(column)

    def encode(self, columns: I64, out: U8) -> I32:
        """Write the codes of whole columns and return their numbers of bins."""
        return self._shared.take(columns, self._rows, out)

    def rank_codes(self, columns: I64, rows: I64, levels: int, out: U8) -> None:
        """Write coarse codes of some rows."""
        self._shared.rank_codes(columns, self._rows[rows], levels, out)

    def minmax_values(self, rows: I64, out: U16) -> None:
        """Write min-max scaled values of some rows of all columns."""
        self._shared.minmax_values(self._rows[rows], out)
