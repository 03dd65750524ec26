"""Columns of which every worker has some rows."""

from __future__ import annotations

import numpy as np

from gtgbm import _core
from gtgbm.data.columns import DenseColumns
from gtgbm.data.input import AnyTable, as_table
from gtgbm.data.values import values_of
from gtgbm.exact import F64, I64, U8, U16, FitContext, Shard, Table, assemble

_BATCH = 512
"""Columns whose sampled values are gathered at a time, 40 MB of 10,000 rows."""


def row_values(table: AnyTable, columns: I64, rows: I64, shard: Shard, context: FitContext) -> F64:
    """Return values of some rows of the whole table, which all workers then have.

    Parameters
    ----------
    table : ndarray or scipy sparse matrix, shape (n, d)
        The rows of this worker.
    columns : ndarray of int64, shape (c,)
    rows : ndarray of int64, shape (r,)
        Numbers in the whole table.

    Returns
    -------
    ndarray of float64, shape (c, r)
    """
    places, local = shard.find(rows)
    own = np.empty((columns.shape[0], local.shape[0]))
    if not isinstance(table, np.ndarray):
        own[:] = values_of(table, columns, local).T
    elif local.shape[0]:
        _core.gather(context.pool, as_table(table), local, columns, own)
    return own if shard.is_whole else assemble(own, places, rows.shape[0], context.communicator)


class ShardedColumns(DenseColumns):
    """A dense table whose rows are divided among workers, binned on demand.

    Samples of rows are gathered, so that every worker computes the same thresholds and coarse codes; codes of
    whole columns are those of the worker's own rows.

    Parameters
    ----------
    table : ndarray, shape (n, d)
        The rows of this worker.
    shard : Shard
        Which rows of the whole table these are.
    sample : ndarray of int64
        Rows of the whole table that thresholds are computed from, ascending.
    """

    def __init__(self, table: Table, shard: Shard, context: FitContext, max_bins: int, sample: I64) -> None:
        super().__init__(table, context.pool, max_bins, sample)
        self.shard = shard
        self._context = context

    def rank_codes(self, columns: I64, rows: I64, levels: int, out: U8) -> None:
        """Write coarse codes of some rows."""
        all_rows = np.arange(rows.shape[0])
        for first in range(0, columns.shape[0], _BATCH):
            values = self._values(columns[first : first + _BATCH], rows)
            places = np.arange(values.shape[0])
            part = out[first : first + _BATCH]
            _core.rank_codes(self._pool, values.T, all_rows, places, levels, part)

    def minmax_values(self, rows: I64, out: U16) -> None:
        """Write min-max scaled values of some rows of all columns."""
        all_rows = np.arange(rows.shape[0])
        for first in range(0, self.n_columns, _BATCH):
            values = self._values(np.arange(first, min(first + _BATCH, self.n_columns)), rows)
            places = np.arange(values.shape[0])
            _core.minmax_values(self._pool, values.T, all_rows, places, out[first : first + _BATCH])

    def _sampled(self, columns: I64) -> F64:
        """Return the values that thresholds are computed from, shape (columns, sample)."""
        return self._values(columns, self.sample)

    def _values(self, columns: I64, rows: I64) -> F64:
        return row_values(self.table, columns, rows, self.shard, self._context)
