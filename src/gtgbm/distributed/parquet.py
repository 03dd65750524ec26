"""Row groups of Parquet files as partitions, which the workers read."""

from __future__ import annotations

import glob
import os
from collections.abc import Sequence
from typing import Any

from dask import delayed

from gtgbm.data import lacking, listed


def parquet_parts(
    path: str | Sequence[str], named: Sequence[str | None]
) -> tuple[list[Any], list[list[Any] | None], list[str]]:
    """Return partitions of Parquet files, to be read by workers.

    Parameters
    ----------
    path : str or sequence of str
        Files, folders or patterns.
    named : sequence of str or None
        Columns that are not features, such as the target.

    Returns
    -------
    X : list of delayed pyarrow tables
        A row group each.
    columns : list of list of delayed columns, or None
        Those of `named`.
    places : list of str
        File and row group of each partition.
    """
    import pyarrow.parquet as pq

    wanted = [name for name in named if name is not None]
    tables, places = [], []
    for file in _files([path] if isinstance(path, str) else path):
        try:
            footer = pq.read_metadata(file)
        except (OSError, ValueError) as error:
            raise ValueError(f"{file} cannot be read as Parquet: {error}") from error
        absent = lacking(wanted, footer.schema.to_arrow_schema().names)
        if absent:
            raise ValueError(
                f"{file} has no columns {listed(absent)}: give the names of columns of all files"
            )
        for group in range(footer.num_row_groups):
            tables.append(delayed(_read, pure=True)(file, group))
            places.append(f"{file}, row group {group}")
    X = [delayed(_without, pure=True)(table, wanted) for table in tables]
    columns = [
        None if name is None else [delayed(_column, pure=True)(table, name) for table in tables]
        for name in named
    ]
    return X, columns, places


def _files(paths: Sequence[str]) -> list[str]:
    """Return the files of folders and patterns, in the order of their names."""
    found: list[str] = []
    for path in paths:
        pattern = os.path.join(path, "*.parquet") if os.path.isdir(path) else path
        files = sorted(glob.glob(pattern))
        if not files:
            raise FileNotFoundError(f"path={path!r}: there are no such Parquet files")
        found += files
    return found


def _read(file: str, group: int) -> Any:
    import pyarrow.parquet as pq

    try:
        return pq.ParquetFile(file).read_row_group(group)
    except (OSError, ValueError) as error:
        raise ValueError(f"{file}, row group {group} cannot be read: {error}") from error


def _without(table: Any, names: Sequence[str]) -> Any:
    return table.drop_columns(list(names))


def _column(table: Any, name: str) -> Any:
    return table[name].to_numpy()
