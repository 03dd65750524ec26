"""A table with its targets, for training or validation."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from gtgbm import _core
from gtgbm.data import AnyTable, Columns, issparse
from gtgbm.exact import I64
from gtgbm.losses import Targets


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
    """

    table: AnyTable
    targets: Targets
    kept: KeptColumns | None = None

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
