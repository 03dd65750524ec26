"""Turns the tables of users into binned columns.

Input checks and dataframes; dense, sparse, categorical and Parquet columns; tiles of codes; samples of rows.
"""

from gtgbm.data.categories import (
    CategoryColumn,
    columns_of_features,
    encode_categories,
    encode_categories_of_tasks,
)
from gtgbm.data.columns import BinnedColumn, Columns, DenseColumns
from gtgbm.data.frame_values import UNSEEN, Kind, float_type, is_missing
from gtgbm.data.frames import (
    EncodedFrame,
    FrameColumn,
    FrameSchema,
    TableBuilder,
    as_frame,
    as_values,
    columns_of,
    encode_frame,
    lacking,
    listed,
    repeated,
)
from gtgbm.data.input import MAX_COLUMNS, AnyTable, as_table, check_rows, check_sparse, issparse, unmasked
from gtgbm.data.parquet_columns import ParquetColumns
from gtgbm.data.parquet_files import ParquetFiles, read_row_group
from gtgbm.data.parquet_numbers import ParquetNumbers
from gtgbm.data.parquet_table import ParquetTable
from gtgbm.data.row_samples import sample_rows
from gtgbm.data.sharded import ShardedColumns, row_values
from gtgbm.data.sparse import SparseCodes, SparseColumns
from gtgbm.data.spill import CodeStore, MemoryCodes, SpilledCodes
from gtgbm.data.tiles import Tiles
from gtgbm.data.values import values_of

__all__ = [
    "MAX_COLUMNS",
    "UNSEEN",
    "AnyTable",
    "BinnedColumn",
    "CategoryColumn",
    "CodeStore",
    "Columns",
    "DenseColumns",
    "EncodedFrame",
    "FrameColumn",
    "FrameSchema",
    "Kind",
    "MemoryCodes",
    "ParquetColumns",
    "ParquetFiles",
    "ParquetNumbers",
    "ParquetTable",
    "ShardedColumns",
    "SparseCodes",
    "SparseColumns",
    "SpilledCodes",
    "TableBuilder",
    "Tiles",
    "as_frame",
    "as_table",
    "as_values",
    "check_rows",
    "check_sparse",
    "columns_of",
    "columns_of_features",
    "encode_categories",
    "encode_categories_of_tasks",
    "encode_frame",
    "float_type",
    "is_missing",
    "issparse",
    "lacking",
    "listed",
    "read_row_group",
    "repeated",
    "row_values",
    "sample_rows",
    "unmasked",
    "values_of",
]
