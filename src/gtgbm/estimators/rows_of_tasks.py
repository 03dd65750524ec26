"""Which rows of a table belong to which task."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix, hstack, issparse, vstack

from gtgbm.data import is_missing
from gtgbm.estimators.rows import Rows, finite
from gtgbm.exact import F64, I64

ALL_TASKS = "all tasks"
"""Name of the one task of method="single-task"."""


@dataclass(frozen=True)
class TaskRows:
    """Which rows belong to which task.

    Attributes
    ----------
    names : list
        Ids of the tasks, in the order in which they are fitted within a round.
    rows : list of ndarray of int64
        Rows of each task in the table.
    y : list of ndarray
        Targets of these rows.
    """

    names: list[Any]
    rows: list[I64]
    y: list[NDArray[Any]]


def task_rows(y: Any, task: Any, n_rows: int, y_name: str, task_name: str) -> TaskRows:
    """Group rows by task, in the order in which the tasks first occur."""
    targets = np.asarray(y)
    if targets.shape[:1] != (n_rows,):
        raise ValueError(f"{y_name} has shape {targets.shape}; X has {n_rows} rows: give one target per row")
    if task is None:
        if targets.ndim != 2:
            raise ValueError(
                f"{task_name} is missing: give the task of each row, or targets of shape (rows, tasks)"
            )
        # The attribute `columns` of an Arrow table is its data, not the names.
        names = list(getattr(y, "column_names", getattr(y, "columns", range(targets.shape[1]))))
        if not names:
            raise ValueError(f"{y_name} has no columns: give one per task")
        if len(set(names)) < len(names):
            raise ValueError(f"{y_name} has columns {names[:10]!r}: the names of tasks must be distinct")
        values = _numbers_by_column(targets, y_name, task_name)
        rows = [np.flatnonzero(~np.isnan(values[:, k])) for k in range(len(names))]
        return _with_targets(TaskRows(names, rows, [values[at, k] for k, at in enumerate(rows)]))
    shape = task.shape if isinstance(task, np.ndarray) else (len(task),)
    if shape != (n_rows,) or targets.ndim != 1:
        raise ValueError(
            f"{task_name} has shape {shape} and {y_name} {targets.shape}; X has {n_rows} rows: give one of "
            "each per row"
        )
    names, number = numbered(task)
    if any(is_missing(name) for name in names):
        raise ValueError(f"{task_name} holds NaN or None: every row needs a task")
    # Of 16 bits they are counted instead of compared.
    sortable = number.astype(np.uint16) if len(names) < 1 << 16 else number
    order = np.argsort(sortable, kind="stable")
    rows = np.split(order, np.cumsum(np.bincount(number, minlength=1))[:-1]) if names else []
    return TaskRows(names, rows, [targets[at] for at in rows])


def _numbers_by_column(targets: NDArray[Any], y_name: str, task_name: str) -> F64:
    try:
        return targets.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"{y_name} has a column for each task, which must hold numbers and NaN ({error}): give classes "
            f"as numbers, or one target per row together with {task_name}"
        ) from error


def task_offsets(values: F64, rows: Sequence[I64], *, by_column: bool, name: str) -> list[F64]:
    """Return the offsets of the rows of each task; where a row has no target of a task, they may be NaN.

    Parameters
    ----------
    values : ndarray of float64, shape (n,) or (n, T), with the scores as an additional last axis if a task
        has several
    by_column : bool
        Whether rows have an offset for each task.
    """
    of_tasks = [values[at, k] if by_column else values[at] for k, at in enumerate(rows)]
    return [finite(of_task, name) for of_task in of_tasks]


def numbered(ids: Any) -> tuple[list[Any], I64]:
    """Return different ids in the order in which they first occur, and the number of each row's."""
    values = ids.tolist() if hasattr(ids, "tolist") else list(ids)
    # Nothing in these lines is done by Python itself for each row.
    names = list(dict.fromkeys(values))
    known = dict(zip(names, range(len(names)), strict=True))
    return names, np.fromiter(map(known.__getitem__, values), dtype=np.int64, count=len(values))


def with_task(X: Any, number: I64) -> Any:
    """Append the number of the task of each row to a table as its last column."""
    column = number.astype(np.float64)[:, None]
    return (
        hstack([X, csr_matrix(column + 1.0)], format="csr") if issparse(X) else np.hstack([X, column + 1.0])
    )


def together(rows: Mapping[Any, Rows], tasks: Sequence[Any]) -> Rows:
    """Concatenate the rows of all tasks into one table; its last column is the number of the task."""
    by_task = {name: of_task.own() for name, of_task in rows.items()}
    tables = [
        with_task(of_task.table, np.full(of_task.y.shape[0], tasks.index(name)))
        for name, of_task in by_task.items()
    ]
    table = vstack(tables, format="csr") if issparse(tables[0]) else np.concatenate(tables)
    y = np.concatenate([of_task.y for of_task in by_task.values()])
    offsets = [of_task.offset for of_task in by_task.values() if of_task.offset is not None]
    offset = np.concatenate(offsets) if offsets else None
    weight = None
    if any(of_task.weight is not None for of_task in by_task.values()):
        parts = by_task.values()
        weights = [np.ones(part.y.shape[0]) if part.weight is None else part.weight for part in parts]
        weight = np.concatenate(weights)
    ids = [of_task.qid for of_task in by_task.values() if of_task.qid is not None]
    qid = np.concatenate(_numbered_queries(ids)) if ids else None
    return Rows(table, y, weight, qid, offset=offset)


def queries_of_rows(qid: NDArray[Any], rows: Sequence[I64]) -> I64:
    """Return the number of the query and task of each row of a table.

    Parameters
    ----------
    qid : ndarray, shape (n,)
    rows : sequence of ndarray of int64
        The rows of each task.
    """
    numbers = np.empty(qid.shape[0], dtype=np.int64)
    for at, of_task in zip(rows, _numbered_queries([qid[at] for at in rows]), strict=True):
        numbers[at] = of_task
    return numbers


def _numbered_queries(qids: Sequence[NDArray[Any]]) -> list[I64]:
    """Return numbers for the queries of each task; equal ids of different tasks are different queries."""
    numbers, n_queries = [], 0
    for qid in qids:
        queries, number = np.unique(qid, return_inverse=True)
        numbers.append(number.ravel() + n_queries)
        n_queries += queries.shape[0]
    return numbers


@dataclass(frozen=True)
class TaskPlaces:
    """Positions of the scores of each task in the array of all scores.

    Attributes
    ----------
    shape : tuple of int
        (n,), or (n, T) if every row has scores of each task.
    places : dict
        Index into the rows, by task.
    """

    shape: tuple[int, ...]
    places: dict[Any, tuple[Any, ...]]

    @classmethod
    def of(cls, task: Any, n_rows: int, tasks: Sequence[Any], *, by_column: bool) -> TaskPlaces:
        """Return the positions for the task of each row.

        Without `task`, every row belongs to all tasks; that needs training targets with one column per task.
        """
        if task is None:
            if not by_column:
                raise ValueError("task is missing: give the task of each row, as in predict(X, task=...)")
            return cls((n_rows, len(tasks)), {name: (slice(None), k) for k, name in enumerate(tasks)})
        labels = task_rows(np.zeros(n_rows), task, n_rows, "X", "task")
        unknown = [name for name in labels.names if name not in tasks]
        if unknown:
            raise ValueError(
                f"task has {unknown[:5]!r}, which are not tasks of the training rows: {list(tasks[:10])!r}"
            )
        return cls((n_rows,), {name: (at,) for name, at in zip(labels.names, labels.rows, strict=True)})

    def parts(self, table: Any) -> Iterator[tuple[Any, Any, tuple[Any, ...]]]:
        """Yield each task with its rows of a table and the positions of its scores."""
        for name, place in self.places.items():
            yield name, table if len(self.shape) == 2 else table[place[0]], place


def check_tasks(labels: TaskRows) -> None:
    """Raise an error if a task cannot be fitted."""
    for name, y in zip(labels.names, labels.y, strict=True):
        if y.shape[0] < 2:
            raise ValueError(f"task {name!r} has a single row: give at least two, or leave it out")
        if y.dtype.kind == "f" and np.isnan(y).any():
            raise ValueError(f"y holds NaN in task {name!r}: leave those rows out, or give targets by column")


def _with_targets(labels: TaskRows) -> TaskRows:
    for name, rows in zip(labels.names, labels.rows, strict=True):
        if rows.shape[0] == 0:
            raise ValueError(f"task {name!r} has no target at all: leave its column out")
    return labels


def per_task(name: str, value: Any, tasks: list[Any]) -> list[Any]:
    """Return the value of each task, from one value for all tasks or a dict by task."""
    if not isinstance(value, dict):
        return [value] * len(tasks)
    missing = [task for task in tasks if task not in value]
    if tasks == [ALL_TASKS]:
        raise ValueError(f"{name} is a dict, but method='single-task' has one model: give one number")
    if missing:
        raise ValueError(
            f"{name} has no entry for task {missing[0]!r}: give one number, or one for each task"
        )
    return [value[task] for task in tasks]
