"""Columns of Parquet files: a sample of rows is read once for all columns, whole columns on demand."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gtgbm import _core
from gtgbm.data.columns import Thresholds
from gtgbm.data.parquet_numbers import ParquetNumbers
from gtgbm.data.spill import SpilledCodes
from gtgbm.exact import F64, I32, I64, U8, U16, Shard

_SAMPLE_VALUES = 1 << 23
"""Values of sampled rows that are held at a time, 64 megabytes: columns are read in batches of so many."""
_WHOLE_COLUMNS = 16
"""Whole columns that are read at once."""

Sampled = tuple[I64, int]
"""Rows, and the number of levels of their rank codes."""


class ParquetColumns:
    """Columns of a table in Parquet files, binned on demand; see `Columns`.

    Parameters
    ----------
    sample : ndarray of int64
        Rows that thresholds are computed from, ascending.
    """

    def __init__(self, table: ParquetNumbers, pool: _core.Pool, max_bins: int, sample: I64) -> None:
        self.n_rows, self.n_columns = table.shape
        self.shard = Shard.whole(self.n_rows)
        self.sample = sample
        self._table = table
        self._pool = pool
        self._thresholds = Thresholds(self.n_columns, max_bins)
        # Rows and codes by the identity of the rows and the number of levels; columns stand at `_place`.
        self._sampled: dict[tuple[int, int], tuple[I64, U8]] = {}
        self._place: I64 = np.full(self.n_columns, -1, dtype=np.int64)

    def new_store(self) -> SpilledCodes:
        """Return a place for the codes of candidates."""
        return SpilledCodes(self.n_rows)

    def sample_all(self, searched: I64, wanted: Sequence[Sampled]) -> None:
        """Read sampled rows of all columns that are searched, once; keep their codes and thresholds.

        Parameters
        ----------
        searched : ndarray of int64
        wanted : sequence of (ndarray of int64, int)
            Rows and numbers of levels that `rank_codes` will be asked for.
        """
        rows = np.unique(np.concatenate([self.sample, *(one for one, _ in wanted)]))
        self._place[searched] = np.arange(searched.shape[0])
        for one, levels in wanted:
            self._sampled[id(one), levels] = one, np.empty((searched.shape[0], one.shape[0]), dtype=np.uint8)
        size = max(1, _SAMPLE_VALUES // rows.shape[0])
        for first in range(0, searched.shape[0], size):
            batch = searched[first : first + size]
            values = self._table.values(batch, rows, is_sample=True)
            every = np.arange(batch.shape[0])
            for one, levels in wanted:
                out = self._sampled[id(one), levels][1][first : first + size]
                _core.rank_codes(self._pool, values, np.searchsorted(rows, one), every, levels, out)
            self._place_thresholds(batch, values[np.searchsorted(rows, self.sample)])

    def keep_only(self, rows: I64) -> None:
        """Drop the codes of other sampled rows, which will not be asked for again."""
        self._sampled = {key: kept for key, kept in self._sampled.items() if kept[0] is rows}

    def thresholds(self, column: int) -> F64:
        """Return the thresholds of a column that was encoded before."""
        return self._thresholds.of(column)

    def encode(self, columns: I64, out: U8) -> I32:
        """Write the codes of whole columns and return their numbers of bins."""
        lanes = out.shape[2]
        n_bins = np.empty(columns.shape[0], dtype=np.int32)
        size = max(lanes, _WHOLE_COLUMNS // lanes * lanes)
        for first in range(0, columns.shape[0], size):
            batch = columns[first : first + size]
            new = self._thresholds.missing_of(batch)
            if new.shape[0]:
                self._place_thresholds(new, self._table.values(new, self.sample))
            thresholds, n_thresholds = self._thresholds.packed(batch)
            for rows, values in self._table.blocks(batch):
                for begin in range(0, batch.shape[0], lanes):
                    of_tile = np.arange(begin, min(begin + lanes, batch.shape[0]))
                    tile = (first + begin) // lanes
                    _core.encode(
                        self._pool,
                        values,
                        of_tile,
                        thresholds[of_tile],
                        n_thresholds[of_tile],
                        out[tile : tile + 1, rows],
                    )
            n_bins[first : first + size] = n_thresholds + 1
        return n_bins

    def rank_codes(self, columns: I64, rows: I64, levels: int, out: U8) -> None:
        """Write coarse codes of some rows."""
        known = self._sampled.get((id(rows), levels))
        if known is not None:
            place = self._place[columns]
            out[:] = known[1][place]
            out[place < 0] = 0  # no column that is searched
            return
        for first in range(0, columns.shape[0], _WHOLE_COLUMNS):
            batch = columns[first : first + _WHOLE_COLUMNS]
            values = self._table.values(batch, rows)
            every = np.arange(rows.shape[0]), np.arange(batch.shape[0])
            _core.rank_codes(self._pool, values, *every, levels, out[first : first + _WHOLE_COLUMNS])

    def minmax_values(self, rows: I64, out: U16) -> None:
        """Refuse: the paper's group tests need all rows of all columns."""
        del rows, out
        raise ValueError(
            "test_rows=None tests groups on all rows of all columns, which a ParquetTable is not read for: "
            "give a number of rows, or 'auto'"
        )

    def _place_thresholds(self, columns: I64, values: F64) -> None:
        max_bins = self._thresholds.max_bins
        thresholds = np.empty((columns.shape[0], max_bins - 1))
        n_thresholds = np.empty(columns.shape[0], dtype=np.int32)
        by_column = np.ascontiguousarray(values.T, dtype=np.float64)
        _core.find_thresholds(self._pool, by_column, max_bins, thresholds, n_thresholds)
        self._thresholds.keep(columns, thresholds, n_thresholds)
