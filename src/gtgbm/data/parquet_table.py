"""Tables in Parquet files, of which only the columns that training needs are read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from gtgbm.data.frame_values import Kind
from gtgbm.data.frames import FrameColumn, FrameSchema, as_values, lacking, listed
from gtgbm.data.parquet_files import ParquetFiles, ReadCount
from gtgbm.data.parquet_numbers import ParquetNumbers, arrow_array, rows_of, series_of
from gtgbm.exact import I64


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
        left_out = set(dropped)
        return self._with([name for name in self.columns if name not in left_out], self._rows)

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
        values = np.concatenate([np.array(as_values(series_of(part))) for part in parts])
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
                at = rows_of(self._rows, first, batch.num_rows)
                part = batch if at is None else batch.take(arrow_array(at - first))
                for name in names:
                    values = part.column(name).unique()
                    text = series_of(values).cast(nw.String)
                    found[name].update(text.drop_nulls().unique().to_list())
        return {name: tuple(sorted(labels)) for name, labels in found.items()}


def _unreadable(files: ParquetFiles, name: str) -> str:
    return (
        f"{files.paths[0]}: column {name!r} has type {files.unreadable[name]}, which is neither numbers, "
        f"times nor text: leave it out with table.drop({name!r})"
    )
