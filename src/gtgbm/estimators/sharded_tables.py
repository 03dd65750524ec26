"""Reads a table whose rows are divided among workers: all workers agree on its columns and categories."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from gtgbm.data import (
    FrameColumn,
    FrameSchema,
    TableBuilder,
    as_frame,
    as_table,
    columns_of,
    encode_frame,
    float_type,
    issparse,
    listed,
    unmasked,
)
from gtgbm.estimators.tables import keep_schema
from gtgbm.exact import Communicator, Table


def read_shard(estimator: Any, parts: Sequence[Any], communicator: Communicator) -> Table:
    """Return the rows of this worker as a table of numbers, and keep the columns in the estimator.

    Parameters
    ----------
    parts : sequence of ndarray or dataframe
        Parts of the training table; a worker may have none, or parts without rows.
    """
    parts = [unmasked(part) for part in parts if part.shape[0]]
    for part in parts:
        if issparse(part):
            raise TypeError(
                "X has sparse parts, which several workers cannot train on yet: convert them with "
                "toarray(), or train on one machine"
            )
    frames = [as_frame(part) for part in parts]
    own: list[Any] | None = None
    if parts and frames[0] is not None:
        own = [frames[0][1], [(column.name, column.kind) for column in columns_of(frames[0][0])]]
    elif parts:
        own = [None, int(np.ndim(parts[0]) == 2 and parts[0].shape[1])]
    said = [json.loads(message) for message in communicator.share(json.dumps(own).encode())]
    known = next((one for one in said if one is not None), None)
    if known is None:
        raise ValueError("X has no rows on any worker: give rows to train on")
    if any(one is not None and one != known for one in said):
        raise ValueError("X has other columns on some workers than on others: give parts of one table")
    is_named, columns = known
    if is_named is None:
        estimator._schema, estimator.n_features_in_ = None, columns
        if hasattr(estimator, "feature_names_in_"):
            del estimator.feature_names_in_
        return joined([as_table(np.asarray(part)) for part in parts], columns)
    described = [FrameColumn(name, kind) for name, kind in columns]
    table, schema = _encoded([frame[0] for frame in frames if frame is not None], described, is_named)
    table, schema = _with_all_categories(table, schema, communicator)
    keep_schema(estimator, schema)
    return table


def read_eval_shard(estimator: Any, parts: Sequence[Any], name: str) -> Table:
    """Return this worker's rows of an eval set; its columns are those of the training table."""
    schema: FrameSchema | None = estimator._schema
    tables: list[Table] = []
    for part in (unmasked(part) for part in parts if part.shape[0]):
        frame = None if schema is None else as_frame(part, name)
        if (schema is None) != (frame is None):
            raise ValueError(
                f"{name}: give dataframes for both the training table and eval sets, or for none"
            )
        table = (
            as_table(np.asarray(part)) if schema is None or frame is None else schema.table(frame[0], name)
        )
        if table.ndim != 2 or table.shape[1] != estimator.n_features_in_:
            raise ValueError(
                f"{name} has shape {table.shape}; {estimator.n_features_in_} columns are expected"
            )
        tables.append(table)
    return joined(tables, estimator.n_features_in_)


def joined(tables: Sequence[Table], n_columns: int) -> Table:
    """Return parts of a table as one array; a single one is not copied."""
    if len(tables) == 1:
        return tables[0]
    dtype = np.result_type(*tables) if tables else np.dtype(np.float64)
    whole: Table = np.empty((sum(table.shape[0] for table in tables), n_columns), dtype=dtype)
    first = 0
    for table in tables:
        whole[first : first + table.shape[0]] = table
        first += table.shape[0]
    return whole


def _encoded(
    frames: Sequence[Any], columns: Sequence[FrameColumn], is_named: bool
) -> tuple[Table, FrameSchema]:
    """Convert dataframes to a table of numbers, one after the other; categories are those of these rows."""
    if len(frames) == 1:
        return encode_frame(frames[0], is_named)
    dtype = np.result_type(np.float32, *(float_type(frame) for frame in frames))
    builder = TableBuilder(columns, sum(map(len, frames)), dtype, is_named)
    names = [column.name for column in columns]
    for frame in frames:
        missing = set(names) - set(frame.columns)
        if missing:
            raise ValueError(
                f"X lacks columns {listed(sorted(missing))} in some parts: give parts of one table"
            )
        builder.add(frame.select(names))
    return builder.finish()


def _with_all_categories(
    table: Table, schema: FrameSchema, communicator: Communicator
) -> tuple[Table, FrameSchema]:
    """Replace the codes of this worker's categories by those of the categories of all workers."""
    own = {str(k): schema.columns[k].categories for k in schema.categorical}
    if not own:
        return table, schema
    said = [json.loads(message) for message in communicator.share(json.dumps(own).encode())]
    described = list(schema.columns)
    for k in schema.categorical:
        labels = sorted({label for one in said for label in one[str(k)]})
        described[k] = replace(described[k], categories=tuple(labels))
        code_of = {label: code for code, label in enumerate(labels)}
        codes = np.array([code_of[label] for label in schema.columns[k].categories] + [np.nan])
        place = np.where(np.isnan(table[:, k]), codes.shape[0] - 1, table[:, k]).astype(np.int64)
        table[:, k] = codes[place]
    return table, FrameSchema(tuple(described), schema.is_named)
