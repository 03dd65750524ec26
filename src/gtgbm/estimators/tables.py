"""What users hand over as X and y: dataframes by name, everything else as scikit-learn checks it."""

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
    as_frame,
    as_table,
    encode_frame,
    lacking,
    listed,
    unmasked,
)
from gtgbm.estimators.target_values import target_values
from gtgbm.exact import I64

INPUT: dict[str, Any] = {"accept_sparse": ("csr", "csc"), "dtype": "numeric", "ensure_all_finite": False}
"""What scikit-learn's validation lets through: we take all of it."""


class TableRead(NamedTuple):
    """What the forest of a task reads.

    Attributes
    ----------
    task : object
        None for models of one task.
    table : Table or CSR matrix, shape (m, c)
    columns : ndarray of int64
        Where the columns of the forest are in the table.
    place : index
        Where its scores stand among those of all tasks.
    """

    task: Any
    table: Any
    columns: I64
    place: Any


def read_training(estimator: Any, X: Any, y: Any, *, reset: bool, y_numeric: bool = False) -> tuple[Any, Any]:
    """Check a table to train on and its targets.

    Sets ``n_features_in_``, ``feature_names_in_`` and what the columns of a dataframe hold, unless the fit
    goes on with an earlier one; then the table must be of the same kind.
    """
    X, y = unmasked(X), target_values(y, "y", is_numeric=y_numeric)
    if not isinstance(X, EncodedFrame) and as_frame(X) is None:
        if reset:
            estimator._schema = None
        _refuse_array(estimator, "X")
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
        _refuse_unseen(estimator._schema, table)
    return table, y


def read_table(estimator: Any, X: Any, *, reset: bool, what: str = "X") -> Any:
    """Check a table and return it as an array or a sparse matrix of numbers."""
    X = unmasked(X)
    if isinstance(X, EncodedFrame):
        if reset:
            keep_schema(estimator, X.schema)
        return X.table
    found = as_frame(X, what)
    if found is None:
        if reset:
            estimator._schema = None
        _refuse_array(estimator, what)
        return validate_data(estimator, X, **INPUT, ensure_min_samples=2 if reset else 1, reset=reset)
    frame, is_named = found
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


def keep_schema(estimator: Any, schema: FrameSchema) -> None:
    """Remember the columns of a dataframe."""
    estimator._schema, estimator.n_features_in_ = schema, len(schema.columns)
    if schema.is_named:
        estimator.feature_names_in_ = np.array([column.name for column in schema.columns], dtype=object)
    elif hasattr(estimator, "feature_names_in_"):
        del estimator.feature_names_in_


def read_eval_table(estimator: Any, X: Any, k: int) -> AnyTable:
    """Check the table of the k-th eval set against the training table."""
    try:
        return as_table(read_table(estimator, X, reset=False))
    except ValueError as error:
        raise ValueError(f"eval_set[{k}]: {error}") from error


def read_columns(estimator: Any, X: Any, columns: I64) -> tuple[AnyTable, I64]:
    """Check a table to predict for, and return it with the places of some columns in it.

    Of a dataframe only those columns need be there.
    """
    schema: FrameSchema | None = estimator._schema
    is_frame = not isinstance(X, np.ndarray | EncodedFrame)
    found = as_frame(X) if schema is not None and is_frame else None
    if schema is None or found is None:
        table = read_table(estimator, X, reset=False)
        return (as_table(table) if isinstance(table, np.ndarray) else table), columns
    schema.check_width(found[0])
    table = schema.at(columns.tolist()).table(found[0])
    return as_table(table), np.arange(columns.shape[0])


def selected_of(X: Any, names: NDArray[Any], library: str) -> Any:
    """Take columns of a dataframe by name; None if X is no dataframe with names.

    Parameters
    ----------
    library : {"default", "pandas", "polars"}
        What to return; "default": an array.
    """
    found = as_frame(X)
    if found is None or not found[1]:
        return None
    frame = found[0]
    absent = lacking(names, frame.columns)
    if absent:
        raise ValueError(f"X has no columns {listed(absent)}, which were selected")
    if not names.shape[0]:  # a dataframe without columns would have no rows either
        return np.empty((len(frame), 0))
    chosen = frame.select(names.tolist())
    if library == "pandas":
        return chosen.to_pandas()
    if library == "polars":
        return chosen.to_polars()
    columns = [chosen[name].to_numpy() for name in chosen.columns]
    dtypes = {column.dtype for column in columns}
    is_numeric = all(dtype.kind in "fiub" for dtype in dtypes)
    return np.column_stack(columns if is_numeric else [column.astype(object) for column in columns])


def _refuse_unseen(schema: FrameSchema, table: Any) -> None:
    """Refuse categories that a fit to go on with does not know."""
    for k in schema.categorical:
        if (table[:, k] == UNSEEN).any():
            raise ValueError(
                f"warm_start=True: column {schema.columns[k].name!r} has categories that the last fit did "
                "not see; fit anew"
            )


def _refuse_array(estimator: Any, what: str) -> None:
    schema: FrameSchema | None = estimator._schema
    if schema is not None and schema.categorical:
        raise ValueError(
            f"{what} is no dataframe, but the model was trained on one with columns of text or categories "
            f"({listed(schema.text_names)}): give a dataframe"
        )
