"""Partitions of a table on any cluster: checked against each other, and given to workers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gtgbm.data import as_frame, columns_of, issparse, listed
from gtgbm.exact import I64

_IMBALANCE = 1.2
"""A worker keeps its partitions unless it would have so many times its share of the rows."""


@dataclass(frozen=True)
class Facts:
    """What is known of a partition.

    Attributes
    ----------
    rows : dict
        Rows of X, y and what else there is, by name.
    columns : list of (str, str), int or None
        Names and kinds of the columns of a dataframe, or the number of columns; None: it has no rows.
    """

    rows: dict[str, int]
    columns: list[tuple[str, str]] | int | None


def bundle(X: Any, y: Any, weight: Any, qid: Any) -> tuple[Any, Any, Any, Any]:
    """Put together what belongs to the rows of a partition."""
    return X, y, weight, qid


def number_of_partitions(parts: Mapping[str, Sequence[Any]]) -> int:
    """Return the number of partitions of X, the first entry; all others must have as many."""
    name, first = next(iter(parts.items()))
    for what, of_value in parts.items():
        if len(of_value) != len(first):
            raise ValueError(
                f"{name} has {len(first)} partitions, {what} {len(of_value)}: repartition them alike"
            )
    return len(first)


def first_rows(rows: I64) -> list[int]:
    """Return the number of the first row of each partition in the whole table."""
    first: list[int] = (np.cumsum(rows) - rows).tolist()
    return first


def placed(rows: I64, workers: Sequence[str], holders: Sequence[Collection[str]]) -> list[str]:
    """Give each partition to a worker.

    A partition stays where it is unless that worker would have far more rows than others.

    Parameters
    ----------
    rows : ndarray of int64
        Rows of each partition.
    workers : sequence of str
        Names of the workers.
    holders : sequence of collections of str
        Workers that have each partition already.
    """
    load: Counter[str] = Counter()
    most = _IMBALANCE * max(float(rows.sum()) / len(workers), float(rows.max(initial=1)))
    owner = [""] * len(rows)
    for k in np.argsort(-rows, kind="stable").tolist():
        here = [one for one in workers if one in holders[k] and load[one] + rows[k] <= most]
        owner[k] = min(here or workers, key=lambda one: (load[one], one))
        load[owner[k]] += int(rows[k])
    return owner


def facts_of(content: tuple[Any, ...], names: Sequence[str]) -> Facts:
    """Look at what a partition holds, on the worker that has it; the first of the names is that of X."""
    X = content[0]
    rows = {
        what: int(value.shape[0]) if hasattr(value, "shape") else len(value)
        for what, value in zip(names, content, strict=True)
        if value is not None
    }
    if rows[names[0]] == 0 or issparse(X):
        return Facts(rows, None)
    frame = as_frame(X)
    if frame is None:
        return Facts(rows, int(X.shape[1]) if X.ndim == 2 else -1)
    # A column without a single value may have any type.
    kinds = [
        (column.name, "" if frame[0][column.name].is_null().all() else str(column.kind))
        for column in columns_of(frame[0])
    ]
    return Facts(rows, kinds)


def check_facts(facts: Sequence[Facts], name: str, places: Sequence[str] | None = None) -> None:
    """Raise an error that names the partition that does not fit the others.

    Parameters
    ----------
    name : str
        What errors call the table.
    places : sequence of str, optional
        What errors call the partitions; None: their numbers.
    """
    labels = [f"partition {k}" for k in range(len(facts))] if places is None else list(places)
    for label, one in zip(labels, facts, strict=True):
        for what, n_rows in one.rows.items():
            if n_rows != one.rows[name]:
                raise ValueError(
                    f"{label}: {name} has {one.rows[name]} rows, {what} {n_rows}: give partitions of "
                    "the same rows"
                )
    filled = [
        (label, one.columns) for label, one in zip(labels, facts, strict=True) if one.columns is not None
    ]
    for label, columns in filled[1:]:
        _compare(filled[0], (label, columns), name)


def _compare(first: tuple[str, Any], other: tuple[str, Any], name: str) -> None:
    """Compare the columns of a partition with those of the first one."""
    (one, expected), (label, columns) = first, other
    if isinstance(expected, int) or isinstance(columns, int):
        if expected != columns:
            raise ValueError(f"{label} of {name} has {_width(columns)} columns, {one} has {_width(expected)}")
        return
    known, own = dict(expected), dict(columns)
    lacking, more = [key for key in known if key not in own], [key for key in own if key not in known]
    if lacking or more:
        what = (
            f"lacks columns {listed(lacking)}"
            if lacking
            else f"has columns {listed(more)}, which {one} has not"
        )
        raise ValueError(f"{label} of {name} {what}: give all partitions the same columns")
    for key, kind in own.items():
        if kind and known[key] and kind != known[key]:
            raise ValueError(
                f"{label} of {name}: column {key!r} is of type {kind}, in {one} of type {known[key]}: "
                "convert it"
            )


def _width(columns: Any) -> int:
    return columns if isinstance(columns, int) else len(columns)
