"""Columns of Parquet files as numbers, read when they are asked for."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from hashlib import sha256
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from gtgbm.data.frame_values import codes_of, numbers_of
from gtgbm.data.frames import FrameSchema, KnownCodes
from gtgbm.data.parquet_files import ParquetFiles, RowGroup
from gtgbm.exact import I64, Table

_MOST_GROUPS = 64
"""Rows are drawn from all row groups, if there are no more than this; else from as many, drawn at random."""
_EXACT_IN_SINGLE = ("float", "halffloat", "int8", "int16", "uint8", "uint16", "bool")
"""Types of Arrow whose values are all exact in float32."""


class ParquetNumbers:
    """Columns of Parquet files as numbers, read when they are asked for.

    Attributes
    ----------
    shape : tuple of int
    dtype : numpy dtype
        That of a table in memory with the same values.
    read : ReadCount
    """

    def __init__(
        self, files: ParquetFiles, schema: FrameSchema, rows: I64 | None, true_sample: bool = False
    ) -> None:
        self._files, self._schema, self._rows, self._true_sample = files, schema, rows, true_sample
        n_rows = files.n_rows if rows is None else int(rows.shape[0])
        self.shape = n_rows, len(schema.columns)
        types = {str(files.types[column.name]) for column in schema.columns}
        self.dtype = np.dtype(np.float32 if types <= set(_EXACT_IN_SINGLE) else np.float64)
        self.read = files.read
        self._codes = {
            k: KnownCodes(column.categories)
            for k, column in enumerate(schema.columns)
            if column.kind == "category"
        }
        self._kept: dict[int, Table] | None = None

    def __getitem__(self, rows: I64) -> ParquetNumbers:
        """Return some rows, given in ascending order; they are not read yet."""
        chosen = rows if self._rows is None else self._rows[rows]
        return ParquetNumbers(self._files, self._schema, chosen, self._true_sample)

    def keeping(self) -> ParquetNumbers:
        """Return the same table, which keeps columns in memory once they were read."""
        table = ParquetNumbers(self._files, self._schema, self._rows, self._true_sample)
        table._kept = {}
        return table

    def identity(self) -> str:
        """Return a text that is the same for the same files, columns and rows."""
        rows = b"" if self._rows is None else self._rows.tobytes()
        return repr((self._files.identity(), self._schema, sha256(rows).hexdigest()))

    @cached_property
    def _total_bytes(self) -> int:
        return self._files.n_bytes([column.name for column in self._schema.columns])

    def reading(self) -> str:
        """Say what was read in full, and how many bytes of the files were read and not read."""
        read, total = self.read, self._total_bytes
        beyond = read.n_bytes - read.sampling_bytes
        whole = [column for column in self._schema.columns if column.name in read.whole_columns]
        return (
            f"{len(whole):,} of {self.shape[1]:,} columns read, {beyond / 1e9:.2f} of "
            f"{total / 1e9:.2f} GB beside a sample of {read.sampling_bytes / 1e9:.2f} GB"
        )

    def rows_to_sample(self, rng: np.random.Generator) -> I64 | None:
        """Return the rows that samples are drawn from; None: all rows.

        With many row groups, a sample of all rows would read all of the table.
        """
        groups = self._files.groups
        if self._true_sample or len(groups) <= _MOST_GROUPS:
            return None
        drawn = np.sort(rng.choice(len(groups), _MOST_GROUPS, replace=False)).tolist()
        parts = [_positions(self._rows, groups[k].first, groups[k].n_rows) for k in drawn]
        return np.concatenate(parts)

    def values(self, columns: I64, rows: I64 | None = None, *, is_sample: bool = False) -> Table:
        """Return the values of some columns, shape (rows, columns), column by column in memory.

        Parameters
        ----------
        rows : ndarray of int64 or None
            Ascending; None: all rows.
        """
        if self._kept is not None and rows is None:
            for k in columns.tolist():
                if k not in self._kept:
                    self._kept[k] = self._read(np.array([k]), None, is_sample)[:, 0]
            kept = [self._kept[k] for k in columns.tolist()]
            return np.stack(kept, axis=1) if kept else np.empty((self.shape[0], 0))
        return self._read(columns, rows, is_sample)

    def in_memory(self) -> Table:
        """Return all values of these rows."""
        return self._read(np.arange(self.shape[1]), None, is_sample=True)

    def blocks(self, columns: I64) -> Iterator[tuple[slice, Table]]:
        """Yield some columns, a range of rows at a time."""
        if columns.shape[0] == 0:
            yield slice(0, self.shape[0]), np.empty((self.shape[0], 0))
            return
        if self._kept is not None:
            yield slice(0, self.shape[0]), self.values(columns)
            return
        done = 0
        for _, part in self._parts(columns, self._rows, is_sample=False):
            if part.shape[0]:
                yield slice(done, done + part.shape[0]), part
                done += part.shape[0]

    def _read(self, columns: I64, rows: I64 | None, is_sample: bool) -> Table:
        wanted = self._rows if rows is None else rows if self._rows is None else self._rows[rows]
        n_rows = self._files.n_rows if wanted is None else int(wanted.shape[0])
        found = np.empty((n_rows, columns.shape[0]), dtype=self._dtype_of(columns), order="F")
        done = 0
        for _, part in self._parts(columns, wanted, is_sample):
            found[done : done + part.shape[0]] = part
            done += part.shape[0]
        return found

    def _parts(self, columns: I64, rows: I64 | None, is_sample: bool) -> Iterator[tuple[int, Table]]:
        """Yield the first row and values of some columns, for parts of row groups that hold wanted rows."""
        names = [self._schema.columns[k].name for k in columns.tolist()]
        groups: list[RowGroup] | None = None
        if rows is not None:
            groups = [
                group for group in self._files.groups if _positions(rows, group.first, group.n_rows).shape[0]
            ]
        dtype = self._dtype_of(columns)
        for first, batch in self._files.batches(names, groups, is_sample=is_sample):
            at = rows_of(rows, first, batch.num_rows)
            if at is not None and at.shape[0] == 0:
                continue
            part = np.empty(
                (batch.num_rows if at is None else at.shape[0], columns.shape[0]), dtype, order="F"
            )
            chosen = batch if at is None else batch.take(arrow_array(at - first))
            for place, k in enumerate(columns.tolist()):
                part[:, place] = self._numbers(chosen.column(names[place]), k)
            yield first, part

    def _dtype_of(self, columns: I64) -> Any:
        types = {str(self._files.types[self._schema.columns[k].name]) for k in columns.tolist()}
        return np.float32 if types <= set(_EXACT_IN_SINGLE) else np.float64

    def _numbers(self, column: Any, k: int) -> NDArray[Any]:
        kind = str(column.type)
        if kind in ("float", "double") or (column.null_count == 0 and kind.startswith(("int", "uint"))):
            values: NDArray[Any] = column.to_numpy(zero_copy_only=False)
            return values
        series = series_of(column)
        if k in self._codes:
            return codes_of(series, self._codes[k])
        return numbers_of(series)


def _positions(rows: I64 | None, first: int, n_rows: int) -> I64:
    """Return the places of the rows that a range of the table holds."""
    if rows is None:
        return np.arange(first, first + n_rows)
    return np.arange(*np.searchsorted(rows, [first, first + n_rows]))


def rows_of(rows: I64 | None, first: int, n_rows: int) -> I64 | None:
    """Return the wanted rows within a range of the table; None: all of them."""
    if rows is None:
        return None
    begin, end = np.searchsorted(rows, [first, first + n_rows])
    return None if end - begin == n_rows else rows[begin:end]


def series_of(array: Any) -> nw.Series[Any]:
    """Return an array of Arrow as a series."""
    import pyarrow as pa

    return nw.from_native(pa.chunked_array([array]), series_only=True)


def arrow_array(values: I64) -> Any:
    """Return numbers as an array of Arrow."""
    import pyarrow as pa

    return pa.array(values)
