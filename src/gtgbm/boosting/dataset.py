"""A table with its targets, for training or validation."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from gtgbm import _core
from gtgbm.data import AnyTable, Columns, ParquetNumbers, issparse, row_values
from gtgbm.exact import F64, I64, FitContext, RowWeights, Shard, assemble
from gtgbm.losses import Queries, Targets

_BATCH = 512
"""Columns that are gathered from workers at a time."""


class KeptColumns:
    """The columns of a dataset that several fits use: what one of them bins need not be binned again."""

    def __init__(self) -> None:
        self._columns: Columns | None = None
        self._pool: _core.Pool | None = None

    def get(self, pool: _core.Pool, sample: I64, make: Callable[[], Columns]) -> Columns:
        """Return the columns of the last fit, or new ones if it had other threads or another sample."""
        if (
            self._columns is None
            or self._pool is not pool
            or not np.array_equal(self._columns.sample, sample)
        ):
            self._columns, self._pool = make(), pool
        return self._columns


@dataclass(frozen=True)
class Dataset:
    """Rows of a table with their targets.

    Attributes
    ----------
    table : ndarray, scipy.sparse.csc_matrix or ParquetNumbers, shape (n, d)
    targets : Targets
        Targets, weights and queries of the rows.
    kept : KeptColumns or None
        Keeps binned columns for other fits to the same rows; None: nothing is kept.
    given_shard : Shard or None
        Which rows of the whole table these are; None: all of them.
    """

    table: AnyTable
    targets: Targets
    kept: KeptColumns | None = None
    given_shard: Shard | None = None

    @property
    def shard(self) -> Shard:
        """Which rows of the whole table these are."""
        return Shard.whole(self.n_rows) if self.given_shard is None else self.given_shard

    def values(self, columns: I64, rows: I64, context: FitContext) -> F64:
        """Return values of the whole table, shape (columns, rows); see `row_values`."""
        return row_values(self.table, columns, rows, self.shard, context)

    def whole_targets(self, context: FitContext) -> Targets:
        """Return targets, weights and queries of the rows of all workers."""
        if context.is_alone:
            return self.targets
        targets, shard = self.targets, self.shard

        def whole(values: F64 | I64) -> F64 | I64:
            return assemble(values, shard.ids, shard.n_total, context.communicator)

        weights = RowWeights.equal(shard.n_total)
        if not targets.weights.are_equal:
            weights = RowWeights.of(np.asarray(whole(targets.weights.as_floats())))
        queries = None if targets.queries is None else Queries.of(whole(targets.queries.id_of_rows()))
        return Targets(np.asarray(whole(targets.y)), weights, queries)

    def taken(self, rows: I64, targets: Targets, context: FitContext) -> Dataset:
        """Return some rows of the whole table, which every worker then has.

        Parameters
        ----------
        rows : ndarray of int64
            Ascending.
        targets : Targets
            Those of the whole table.
        """
        if rows.shape[0] < targets.y.shape[0]:
            targets = targets.of_rows(rows)
        if context.is_alone:
            if isinstance(self.table, ParquetNumbers):
                return Dataset(self.table[rows].in_memory(), targets)
            table = self.table.tocsr() if issparse(self.table) else self.table
            return Dataset(table if rows.shape[0] == self.n_rows else table[rows], targets)
        d = self.table.shape[1]
        table = np.empty((rows.shape[0], d), order="F")
        for first in range(0, d, _BATCH):
            columns = np.arange(first, min(d, first + _BATCH))
            table[:, columns] = self.values(columns, rows, context).T
        return Dataset(table, targets)

    def of_rows(self, rows: I64, columns: I64 | None = None, *, keeps: bool = False) -> Dataset:
        """Return a copy of some rows, given in ascending order.

        Parameters
        ----------
        columns : ndarray of int64 or None
            The only columns that are copied: others hold zeros, which take neither time nor memory. None: all
            columns.
        keeps : bool
            Whether binned columns are kept from fit to fit.
        """
        copied = _sparse_rows if issparse(self.table) else _dense_rows
        return Dataset(
            copied(self.table, rows, columns), self.targets.of_rows(rows), KeptColumns() if keeps else None
        )

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return int(self.targets.y.shape[0])


def _dense_rows(table: AnyTable, rows: I64, columns: I64 | None) -> AnyTable:
    if columns is None:
        return table[rows]
    # By columns, so that memory of columns that nobody writes or reads is never touched.
    copied = np.zeros((rows.shape[0], table.shape[1]), dtype=table.dtype, order="F")
    copied[:, columns] = table[np.ix_(rows, columns)]
    return copied


def _sparse_rows(table: AnyTable, rows: I64, columns: I64 | None) -> AnyTable:
    taken = table.tocsr()[rows]
    if columns is None:
        return taken.tocsc()
    is_kept = np.zeros(table.shape[1], dtype=np.bool_)
    is_kept[columns] = True
    of_kept = is_kept[taken.indices]
    start = np.concatenate([[0], np.cumsum(of_kept)])[taken.indptr]
    entries = (taken.data[of_kept], taken.indices[of_kept], start)
    return type(taken)(entries, shape=taken.shape).tocsc()
