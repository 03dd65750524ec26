"""Values of some columns and rows of any table."""

from __future__ import annotations

import numpy as np

from gtgbm.data.input import AnyTable
from gtgbm.data.parquet_numbers import ParquetNumbers
from gtgbm.exact import I64, Table


def values_of(table: AnyTable, columns: I64, rows: I64 | None = None) -> Table:
    """Return the values of some columns, shape (rows, columns), of all rows or of some, given ascending."""
    if isinstance(table, ParquetNumbers):
        return table.values(columns, rows, is_sample=rows is not None)
    part = table if rows is None else table[rows]
    values = part[:, columns]
    return values if isinstance(values, np.ndarray) else values.toarray()
