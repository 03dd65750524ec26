"""Parquet files that are parts of one table: their footers, and reading some columns of some row groups."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from gtgbm.data.frame_values import Kind
from gtgbm.data.frames import FrameColumn, listed, repeated

_BATCH_ROWS = 1 << 17
"""Rows that are decoded at a time; fewer where many columns are read at once."""
_BATCH_VALUES = 1 << 22
_BUFFER = 1 << 16
"""Bytes of each column that are read from disk at a time; otherwise whole columns of a row group would be."""


@dataclass(frozen=True)
class RowGroup:
    """A row group: the number of its file, its number there, its first row in the table, and its rows."""

    file: int
    number: int
    first: int
    n_rows: int


@dataclass
class ReadCount:
    """What was read so far.

    Attributes
    ----------
    n_bytes : int
        Bytes of column chunks, as compressed in the files.
    sampling_bytes : int
        Those of them that were read for samples of rows of all columns.
    whole_columns : set of str
        Columns that were read in full.
    """

    n_bytes: int = 0
    sampling_bytes: int = 0
    whole_columns: set[str] = field(default_factory=set)


class ParquetFiles:
    """Files of one table, in the order of their rows.

    Parameters
    ----------
    paths : str, path, or sequence of them
        Files, folders, or patterns such as ``clicks/*.parquet``.

    Attributes
    ----------
    columns : list of FrameColumn
        Names and kinds of all columns; those of another kind than numbers, times and text are left out.
    unreadable : dict of str to str
        Types of the columns that are left out.
    groups : list of RowGroup
    n_rows : int
    """

    def __init__(self, paths: Any) -> None:
        parquet = _parquet()
        self.paths = _found(paths)
        self._footers = [_footer(parquet, path) for path in self.paths]
        self._places = [
            {footer.row_group(0).column(k).path_in_schema: k for k in range(footer.num_columns)}
            if footer.num_row_groups
            else {}
            for footer in self._footers
        ]
        schemas = [footer.schema.to_arrow_schema() for footer in self._footers]
        self.types: dict[str, Any] = dict(zip(schemas[0].names, schemas[0].types, strict=True))
        names = list(schemas[0].names)
        if repeated(names):
            raise ValueError(
                f"{self.paths[0]} has several columns of the same name: {listed(repeated(names))}"
            )
        for path, schema in zip(self.paths[1:], schemas[1:], strict=True):
            self._check_same(path, schema)
        kinds = {name: _kind(type_) for name, type_ in self.types.items()}
        self.columns = [FrameColumn(name, kind) for name, kind in kinds.items() if kind is not None]
        self.unreadable = {name: str(self.types[name]) for name, kind in kinds.items() if kind is None}
        self.groups: list[RowGroup] = []
        self.n_rows = 0
        for file, footer in enumerate(self._footers):
            for number in range(footer.num_row_groups):
                n_rows = footer.row_group(number).num_rows
                if n_rows:
                    self.groups.append(RowGroup(file, number, self.n_rows, n_rows))
                    self.n_rows += n_rows
        self.read = ReadCount()

    def n_bytes(self, names: Sequence[str] | None = None) -> int:
        """Return the bytes of some columns, or of all, as compressed in the files."""
        return sum(self._group_bytes(group, names) for group in self.groups)

    def identity(self) -> str:
        """Return a text that changes if a file is replaced."""
        stats = [path.stat() for path in self.paths]
        return repr(
            [
                (path.name, stat.st_size, stat.st_mtime_ns)
                for path, stat in zip(self.paths, stats, strict=True)
            ]
        )

    def batches(
        self, names: Sequence[str], groups: Sequence[RowGroup] | None = None, *, is_sample: bool = False
    ) -> Iterator[tuple[int, Any]]:
        """Yield the first row and an Arrow record batch, for parts of row groups in the order of the rows.

        Parameters
        ----------
        groups : sequence of RowGroup or None
            None: all.
        is_sample : bool
            Whether the bytes are counted as those of samples.
        """
        pa, parquet = _arrow(), _parquet()
        size = max(1, min(_BATCH_ROWS, _BATCH_VALUES // max(1, len(names))))
        if not is_sample:
            self.read.whole_columns.update(names)
        opened: tuple[int, Any] | None = None
        for group in self.groups if groups is None else groups:
            path, first = self.paths[group.file], group.first
            try:
                if opened is None or opened[0] != group.file:
                    file = parquet.ParquetFile(
                        path, metadata=self._footers[group.file], pre_buffer=False, buffer_size=_BUFFER
                    )
                    opened = group.file, file
                for batch in opened[1].iter_batches(size, row_groups=[group.number], columns=list(names)):
                    yield first, batch
                    first += batch.num_rows
            except (pa.ArrowException, OSError) as error:
                raise _unreadable_group(path, group.number, error) from error
            n_bytes = self._group_bytes(group, names)
            self.read.n_bytes += n_bytes
            self.read.sampling_bytes += n_bytes if is_sample else 0

    def _group_bytes(self, group: RowGroup, names: Sequence[str] | None) -> int:
        footer, places = self._footers[group.file].row_group(group.number), self._places[group.file]
        wanted = places.values() if names is None else [places[name] for name in names]
        return sum(footer.column(k).total_compressed_size for k in wanted)

    def _check_same(self, path: Path, schema: Any) -> None:
        """Raise an error if a file has other columns or types than the first."""
        first, names = self.paths[0], list(self.types)
        absent = [name for name in names if name not in schema.names]
        if absent:
            raise ValueError(f"{path} has no columns {listed(absent)}, which {first} has: they are one table")
        more = [name for name in schema.names if name not in self.types]
        if more:
            raise ValueError(f"{path} has columns {listed(more)}, which {first} has not: they are one table")
        for name in names:
            was, here = self.types[name], schema.field(name).type
            if was != here and not _kind(was) == _kind(here) == "category":
                raise ValueError(
                    f"{path} and {first} are parts of one table, but column {name!r} is {here} in one and "
                    f"{was} in the other: convert it"
                )


def read_row_group(path: str, number: int) -> Any:
    """Return all columns of a row group, as an Arrow table."""
    pa, parquet = _arrow(), _parquet()
    try:
        with parquet.ParquetFile(path) as file:
            return file.read_row_group(number)
    except (pa.ArrowException, OSError) as error:
        raise _unreadable_group(path, number, error) from error


def _unreadable_group(path: Any, number: int, error: Exception) -> OSError:
    return OSError(f"{path}: row group {number} cannot be read: {error}; write the file again")


def _found(paths: Any) -> list[Path]:
    """Return the files that paths, folders and patterns name, in the order of their names."""
    given = [paths] if isinstance(paths, str | os.PathLike) else list(paths)
    found: list[Path] = []
    for one in given:
        path = Path(one)
        if path.is_dir():
            inside = sorted(part for part in path.rglob("*") if part.suffix in (".parquet", ".pq"))
            parts = [part for part in inside if part.is_file() and not part.name.startswith((".", "_"))]
        else:
            parts = [path] if path.is_file() else [Path(part) for part in sorted(glob.glob(str(path)))]
        if not parts:
            raise FileNotFoundError(f"{str(one)!r} names no Parquet file: check the path")
        found += parts
    return found


def _footer(parquet: Any, path: Path) -> Any:
    pa = _arrow()
    try:
        return parquet.read_metadata(path)
    except (pa.ArrowException, OSError) as error:
        raise OSError(f"{path} is not a Parquet file that can be read: {error}") from error


def _kind(type_: Any) -> Kind | None:
    """Return what a column holds; None if it is neither numbers nor times nor text."""
    types = _arrow().types
    if types.is_dictionary(type_):
        return "category" if _kind(type_.value_type) == "category" else None
    if types.is_string(type_) or types.is_large_string(type_):
        return "category"
    if types.is_integer(type_) or types.is_floating(type_) or types.is_boolean(type_) or types.is_null(type_):
        return "number"
    if types.is_decimal(type_):
        return "number"
    return "time" if types.is_temporal(type_) else None


def _arrow() -> Any:
    import pyarrow

    return pyarrow


def _parquet() -> Any:
    try:
        from pyarrow import parquet
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            'ParquetTable needs pyarrow: install it with pip install "gtgbm[table]"'
        ) from error
    return parquet
