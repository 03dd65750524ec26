"""Reads X and y: the columns of dataframes by name, everything else with scikit-learn's validation."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import assert_all_finite, check_consistent_length, column_or_1d, validate_data

from gtgbm.data import (
    UNSEEN,
    AnyTable,
    EncodedFrame,
    FrameSchema,
    ParquetTable,
    as_frame,
    as_table,
    check_sparse,
    encode_frame,
    lacking,
    listed,
    unmasked,
    values_of,
)
from gtgbm.estimators.target_values import target_values
from gtgbm.exact import I64

INPUT: dict[str, Any] = {"accept_sparse": ("csr", "csc"), "dtype": "numeric", "ensure_all_finite": False}
"""Options of scikit-learn's validation."""


class TableRead(NamedTuple):
    """The table that the forest of a task reads.

    Attributes
    ----------
    task : object
        None for single-task models.
    table : Table or CSR matrix, shape (m, c)
    columns : ndarray of int64
        Positions of the forest's columns in the table.
    place : tuple of index
        Position of its scores among those of all tasks.
    """

    task: Any
    table: Any
    columns: I64
    place: tuple[Any, ...]


def read_training(estimator: Any, X: Any, y: Any, *, reset: bool, y_numeric: bool = False) -> tuple[Any, Any]:
    """Validate a training table and its targets.

    With `reset`, this sets ``n_features_in_``, ``feature_names_in_`` and the schema of a dataframe; otherwise
    the table must match those of the previous fit.
    """
    check_sparse(X)
    X, y = unmasked(X), target_values(y, "y", is_numeric=y_numeric)
    if not isinstance(X, EncodedFrame | ParquetTable) and as_frame(X) is None:
        if reset:
            estimator._schema = None
        _require_frame(estimator, "X")
        return tuple(
            validate_data(estimator, X, y, **INPUT, ensure_min_samples=2, y_numeric=y_numeric, reset=reset)
        )
    if y is None:
        raise ValueError(
            f"{type(estimator).__name__} requires y to be passed, but the target y is None: give fit(X, y)"
        )
    y = column_or_1d(y, warn=True)
    if y_numeric and y.dtype.kind == "O":
        y = y.astype(np.float64)
    assert_all_finite(y, input_name="y")
    table = read_table(estimator, X, reset=reset)
    check_consistent_length(table, y)
    if not reset:
        _require_known_categories(estimator._schema, table)
    return table, y


def read_table(estimator: Any, X: Any, *, reset: bool, what: str = "X") -> Any:
    """Validate a table and return it as an array or a sparse matrix of numbers."""
    check_sparse(X)
    X = unmasked(X)
    if isinstance(X, EncodedFrame):
        if reset:
            keep_schema(estimator, X.schema)
        return X.table
    if isinstance(X, ParquetTable):
        return _parquet(estimator, X, what, reset=reset)
    named_frame = as_frame(X, what)
    if named_frame is None:
        if reset:
            estimator._schema = None
        _require_frame(estimator, what)
        return validate_data(estimator, X, **INPUT, ensure_min_samples=2 if reset else 1, reset=reset)
    frame, is_named = named_frame
    if not reset:
        if estimator._schema is None:
            return validate_data(estimator, X, **INPUT, reset=False)
        estimator._schema.check_width(frame, what)
        return estimator._schema.table(frame, what)
    table, schema = encode_frame(frame, is_named, what)
    if table.shape[0] < 2:
        raise ValueError(f"{what} has 1 sample, a minimum of 2 is required")
    keep_schema(estimator, schema)
    return table


def _parquet(estimator: Any, X: ParquetTable, what: str, *, reset: bool) -> AnyTable:
    if not reset and (estimator._schema is None or not estimator._schema.is_named):
        raise ValueError(f"{what} is a ParquetTable, but the model was trained without names: give an array")
    table, schema = X.encode(None if reset else estimator._schema)
    if reset:
        if table.shape[0] < 2 or table.shape[1] == 0:
            raise ValueError(f"{what} has shape {table.shape}: at least 2 rows and 1 column are required")
        keep_schema(estimator, schema)
    return table


def keep_schema(estimator: Any, schema: FrameSchema) -> None:
    """Set the attributes about the columns of a dataframe."""
    estimator._schema, estimator.n_features_in_ = schema, len(schema.columns)
    if schema.is_named:
        estimator.feature_names_in_ = np.array([column.name for column in schema.columns], dtype=object)
    elif hasattr(estimator, "feature_names_in_"):
        del estimator.feature_names_in_


def read_eval_table(estimator: Any, X: Any, k: int) -> AnyTable:
    """Validate the table of the k-th eval set against the training table."""
    try:
        return as_table(read_table(estimator, X, reset=False))
    except ValueError as error:
        raise ValueError(f"eval_set[{k}]: {error}") from error


def read_columns(estimator: Any, X: Any, columns: I64) -> tuple[AnyTable, I64]:
    """Validate a table for prediction, and return it with the positions of `columns` in it.

    A dataframe needs only these columns.
    """
    schema: FrameSchema | None = estimator._schema
    if isinstance(X, ParquetTable) and schema is not None and schema.is_named:
        return X.encode(schema.at(columns.tolist()))[0], np.arange(columns.shape[0])
    is_frame = not isinstance(X, np.ndarray | EncodedFrame | ParquetTable)
    named_frame = as_frame(X) if schema is not None and is_frame else None
    if schema is None or named_frame is None:
        table = read_table(estimator, X, reset=False)
        return (as_table(table) if isinstance(table, np.ndarray) else table), columns
    schema.check_width(named_frame[0])
    table = schema.at(columns.tolist()).table(named_frame[0])
    return as_table(table), np.arange(columns.shape[0])


def selected_of(X: Any, names: NDArray[Any], library: str) -> Any:
    """Return columns of a dataframe by name, or None if X is not a dataframe with names.

    Parameters
    ----------
    library : {"default", "pandas", "polars"}
        Type of the result; "default" is an array.
    """
    named_frame = as_frame(X)
    if named_frame is None or not named_frame[1]:
        return None
    frame = named_frame[0]
    missing = lacking(names, frame.columns)
    if missing:
        raise ValueError(f"X has no columns {listed(missing)}, which were selected")
    if not names.shape[0]:  # a dataframe without columns would have no rows either
        return np.empty((len(frame), 0))
    selected = frame.select(names.tolist())
    if library == "pandas":
        return selected.to_pandas()
    if library == "polars":
        return selected.to_polars()
    columns = [selected[name].to_numpy() for name in selected.columns]
    dtypes = {column.dtype for column in columns}
    is_numeric = all(dtype.kind in "fiub" for dtype in dtypes)
    return np.column_stack(columns if is_numeric else [column.astype(object) for column in columns])


def _require_known_categories(schema: FrameSchema, table: Any) -> None:
    """Raise an error if a table has categories that the previous fit did not see."""
    for k in schema.categorical:
        if (values_of(table, np.array([k])) == UNSEEN).any():
            raise ValueError(
                f"warm_start=True: column {schema.columns[k].name!r} has categories that the previous fit "
                "did not see, or that a model file does not keep, since no tree asks for them: use "
                "warm_start=False"
            )


def _require_frame(estimator: Any, what: str) -> None:
    schema: FrameSchema | None = estimator._schema
    if schema is not None and schema.categorical:
        raise ValueError(
            f"{what} is not a dataframe, but the model was trained on one with columns of text or categories "
            f"({listed(schema.text_names)}): give a dataframe"
        )
