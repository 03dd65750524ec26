"""Parquet tables that are trained on without reading all of them into memory."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich.console import Console

from gtgbm.cli.columns import check_named, numbers_of_rows, say_what_was_read
from gtgbm.cli.errors import UserError
from gtgbm.cli.files import is_parquet, open_table, parts_of
from gtgbm.cli.loading import Loaded, Roles, is_libsvm
from gtgbm.data import FrameColumn, FrameSchema, ParquetTable

_SHARE = 3
"""A table that would take more than this part of the memory is read from disk."""


def stays_on_disk(path: Path, roles: Roles, parameters: dict[str, Any]) -> bool:
    """Whether a table is not read as a whole: a large one, or any where a memory limit is given."""
    if roles.task is not None or is_libsvm(path) or not is_parquet(path):
        return False
    if parameters.get("memory_limit") is not None:
        return True
    try:
        n_rows, n_columns = ParquetTable(parts_of(path)).shape
    except (OSError, ValueError):
        return False  # reading it says what is wrong
    return n_rows * n_columns * np.dtype(np.float64).itemsize > _memory() / _SHARE


def open_on_disk(
    path: Path, roles: Roles, exclude: Sequence[str], id_columns: Sequence[str], console: Console
) -> Loaded:
    """Open a table, and read only what are no features: target, weight and query columns.

    Parameters
    ----------
    exclude, id_columns : sequence of str
        Columns that are no features.
    """
    file, table = open_table(path), ParquetTable(parts_of(path))
    of_roles = {f"--{role}": [name] for role, name in roles.named().items()}
    check_named(path, file.names, {**of_roles, "--exclude": exclude, "--id-columns": id_columns})
    others = [*roles.named().values(), *exclude, *id_columns]
    numbering = numbers_of_rows(path, file, others)
    names = [name for name in table.columns if name not in {*others, *numbering}]
    if not names:
        raise UserError(f"{path} has no columns left to learn from")
    kinds = table.kinds
    for name in names:
        if kinds[name] is None:
            raise UserError(
                f"{path}: column {name!r} holds neither numbers, times nor text: --exclude {name}"
            )
    schema = FrameSchema(tuple(FrameColumn(name, kind) for name in names if (kind := kinds[name])))
    say_what_was_read(console, path, len(table), schema, numbering)
    console.print("columns are read from disk when they are needed", highlight=False)
    columns = {role: _values(path, table, name) for role, name in roles.named().items()}
    return Loaded(table.select(names), columns)


def _values(path: Path, table: ParquetTable, name: str) -> NDArray[Any]:
    try:
        values = table[name]
    except ValueError as error:
        raise UserError(f"{path}: {error}") from error
    if values.dtype.kind == "f" and np.isnan(values).any():
        raise UserError(f"{path}: column {name!r} has missing values; leave these rows out")
    return values.astype(np.str_) if values.dtype.kind == "O" else values


def _memory() -> float:
    """Return the bytes of memory of the machine; infinite where it does not tell."""
    try:
        return float(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    except (AttributeError, ValueError, OSError):
        return float("inf")
