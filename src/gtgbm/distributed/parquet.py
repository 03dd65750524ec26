"""Row groups of Parquet files as partitions, which the workers read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dask import delayed

from gtgbm.data import ParquetFiles, lacking, listed, read_row_group


def parquet_parts(
    path: Any, named: Sequence[str | None]
) -> tuple[list[Any], list[list[Any] | None], list[str]]:
    """Return partitions of Parquet files, to be read by workers.

    Parameters
    ----------
    path : str, path, or sequence of them
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
    files = ParquetFiles(path)
    wanted = [name for name in named if name is not None]
    absent = lacking(wanted, list(files.types))
    if absent:
        raise ValueError(f"{files.paths[0]} has no columns {listed(absent)}: give the names of its columns")
    groups = [(str(files.paths[group.file].resolve()), group.number) for group in files.groups]
    tables = [delayed(read_row_group, pure=True)(*group) for group in groups]
    X = [delayed(_without, pure=True)(table, wanted) for table in tables]
    columns = [
        None if name is None else [delayed(_column, pure=True)(table, name) for table in tables]
        for name in named
    ]
    return X, columns, [f"{file}, row group {number}" for file, number in groups]


def _without(table: Any, names: Sequence[str]) -> Any:
    return table.drop_columns(list(names))


def _column(table: Any, name: str) -> Any:
    return table[name].to_numpy()
