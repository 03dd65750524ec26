"""Tables in Parquet files, of which only the columns that training needs are read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from hashlib import sha256
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from gtgbm.data.frame_values import Kind, codes_of, numbers_of
from gtgbm.data.frames import FrameColumn, FrameSchema, KnownCodes, as_values, lacking, listed
from gtgbm.data.parquet_files import ParquetFiles, ReadCount, RowGroup
from gtgbm.exact import I64, Table

_MOST_GROUPS = 64
"""Rows are drawn from all row groups, if there are no more than this; else from as many, drawn at random."""
_EXACT_IN_SINGLE = ("float", "halffloat", "int8", "int16", "uint8", "uint16", "bool")
"""Types of Arrow whose values are all exact in float32."""


class ParquetTable:
    """A table in Parquet files, for training on more than fits into memory.

    ``fit`` reads a sample of rows of all columns, then only the columns of candidates and selected features.
    Rows are in the order of the files, which is that of their names.

    Parameters
    ----------
    path : str, path, or list of them
        Files, folders, or patterns such as ``clicks/*.parquet``.
    true_sample : bool, default False
        Tables of more than 64 row groups are sampled from 64 of them. With True, rows are drawn from all row
        groups, so that the model is the same as from memory; all files are then read once.

    Attributes
    ----------
    columns : list of str
    shape : tuple of int
    """

    def __init__(self, path: Any, *, true_sample: bool = False) -> None:
        files = ParquetFiles(path)
        if files.n_rows == 0:
            raise ValueError(f"{files.paths[0]} has no rows")
        self._set(files, list(files.types), None, true_sample)

    def _set(self, files: ParquetFiles, names: list[str], rows: I64 | None, true_sample: bool) -> None:
        self._files, self.columns, self._rows, self._true_sample = files, names, rows, true_sample

    def _with(self, names: list[str], rows: I64 | None) -> ParquetTable:
        table = ParquetTable.__new__(ParquetTable)
        table._set(self._files, names, rows, self._true_sample)
        return table

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows and columns."""
        return len(self), len(self.columns)

    def __len__(self) -> int:
        """Return the number of rows."""
        return self._files.n_rows if self._rows is None else int(self._rows.shape[0])

    def __repr__(self) -> str:
        """Name the first file and the shape."""
        return f"ParquetTable({str(self._files.paths[0])!r}, shape={self.shape})"

    @property
    def n_bytes(self) -> int:
        """Bytes of the columns in the files, compressed as they are there."""
        return self._files.n_bytes([name for name in self.columns if name not in self._files.unreadable])

    @property
    def kinds(self) -> dict[str, Kind | None]:
        """What each column holds: numbers, times or categories; None: something that cannot be a feature."""
        known = {column.name: column.kind for column in self._files.columns}
        return {name: known.get(name) for name in self.columns}

    @property
    def read(self) -> ReadCount:
        """What was read so far, by this table and all others of the same files."""
        return self._files.read

    def drop(self, columns: str | Sequence[str]) -> ParquetTable:
        """Return the table without some columns, which are not read."""
        dropped = [columns] if isinstance(columns, str) else list(columns)
        self._check_known(dropped)
        return self._with([name for name in self.columns if name not in set(dropped)], self._rows)

    def select(self, columns: Sequence[str]) -> ParquetTable:
        """Return the table with some columns only, in this order."""
        self._check_known(columns)
        return self._with(list(columns), self._rows)

    def take(self, rows: I64) -> ParquetTable:
        """Return the table with some rows only, given in ascending order."""
        rows = np.asarray(rows, dtype=np.int64)
        if (np.diff(rows) <= 0).any() or (rows.shape[0] and not 0 <= rows[0] <= rows[-1] < len(self)):
            raise ValueError(f"rows must ascend and be below {len(self)}: sort them, each once")
        return self._with(self.columns, rows if self._rows is None else self._rows[rows])

    def __getitem__(self, name: str) -> NDArray[Any]:
        """Return the values of a column, such as the target, in memory."""
        if not isinstance(name, str):
            raise TypeError(f"table[{name!r}]: give the name of a column; select and drop take several")
        self._check_known([name])
        if name in self._files.unreadable:
            raise TypeError(_unreadable(self._files, name))
        parts = [batch.column(0) for _, batch in self._files.batches([name])]
        if sum(part.null_count for part in parts) and self.kinds[name] == "category":
            raise ValueError(f"column {name!r} has missing values; leave these rows out")
        # Copied, since views would keep Arrow's batches in memory.
        values = np.concatenate([np.array(as_values(_series(part))) for part in parts])
        return values if self._rows is None else values[self._rows]

    def _check_known(self, names: Sequence[str]) -> None:
        absent = lacking(names, self.columns)
        if absent:
            raise KeyError(f"there are no columns {listed(absent)}; there are {listed(self.columns)}")

    def encode(self, schema: FrameSchema | None = None) -> tuple[ParquetNumbers, FrameSchema]:
        """Return the columns as numbers, and their schema.

        Parameters
        ----------
        schema : FrameSchema or None
            Columns that the table must have, as in training. None: those of the table are described; columns
            of text are read, since their categories must be known.
        """
        if schema is None:
            described = {column.name: column for column in self._files.columns}
            for name in self.columns:
                if name in self._files.unreadable:
                    raise TypeError(_unreadable(self._files, name))
            columns = [described[name] for name in self.columns]
            text = [column.name for column in columns if column.kind == "category"]
            found = self._categories(text)
            schema = FrameSchema(
                tuple(FrameColumn(c.name, c.kind, found.get(c.name, ())) for c in columns), is_named=True
            )
            return ParquetNumbers(self._files, schema, self._rows, self._true_sample), schema
        absent = lacking([column.name for column in schema.columns], self.columns)
        if absent:
            raise ValueError(f"{self!r} has no columns {listed(absent)}, which the model needs")
        kinds = self.kinds
        for column in schema.columns:
            if kinds[column.name] != column.kind:
                raise ValueError(
                    f"{self!r}: column {column.name!r} held {column.kind} in training, here it is "
                    f"{self._files.types[column.name]}; convert it"
                )
        return ParquetNumbers(self._files, schema, self._rows, self._true_sample), schema

    def _categories(self, names: Sequence[str]) -> dict[str, tuple[str, ...]]:
        """Return the categories of columns of text, sorted."""
        found: dict[str, set[str]] = {name: set() for name in names}
        if names:
            for first, batch in self._files.batches(names):
                at = _rows_of(self._rows, first, batch.num_rows)
                part = batch if at is None else batch.take(_arrow_array(at - first))
                for name in names:
                    values = part.column(name).unique()
                    text = _series(values).cast(nw.String)
                    found[name].update(text.drop_nulls().unique().to_list())
        return {name: tuple(sorted(labels)) for name, labels in found.items()}


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

    def n_bytes(self, columns: Sequence[int] | None = None) -> int:
        """Return the bytes of some columns, or of all, in the files."""
        chosen = range(self.shape[1]) if columns is None else columns
        return self._files.n_bytes([self._schema.columns[k].name for k in chosen])

    def reading(self) -> str:
        """Say what was read in full, and how many bytes of the files were read and not read."""
        read, total = self.read, self.n_bytes()
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
            at = _rows_of(rows, first, batch.num_rows)
            if at is not None and at.shape[0] == 0:
                continue
            part = np.empty(
                (batch.num_rows if at is None else at.shape[0], columns.shape[0]), dtype, order="F"
            )
            chosen = batch if at is None else batch.take(_arrow_array(at - first))
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
        series = _series(column)
        if k in self._codes:
            return codes_of(series, self._codes[k])
        return numbers_of(series)


def _positions(rows: I64 | None, first: int, n_rows: int) -> I64:
    """Return the places of the rows that a range of the table holds."""
    if rows is None:
        return np.arange(first, first + n_rows)
    return np.arange(*np.searchsorted(rows, [first, first + n_rows]))


def _rows_of(rows: I64 | None, first: int, n_rows: int) -> I64 | None:
    """Return the wanted rows within a range of the table; None: all of them."""
    if rows is None:
        return None
    begin, end = np.searchsorted(rows, [first, first + n_rows])
    return None if end - begin == n_rows else rows[begin:end]


def _series(array: Any) -> nw.Series[Any]:
    import pyarrow as pa

    return nw.from_native(pa.chunked_array([array]), series_only=True)


def _arrow_array(values: I64) -> Any:
    import pyarrow as pa

    return pa.array(values)


def _unreadable(files: ParquetFiles, name: str) -> str:
    return (
        f"{files.paths[0]}: column {name!r} has type {files.unreadable[name]}, which is neither numbers, "
        f"times nor text: leave it out with table.drop({name!r})"
    )
