"""Which rows of a table belong to which task."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix, hstack, issparse, vstack

from gtgbm.data import is_missing
from gtgbm.estimators.rows import Rows
from gtgbm.exact import I64

ALL_TASKS = "all tasks"
"""Name of the one task that all tasks are put into."""


@dataclass(frozen=True)
class TaskRows:
    """Which rows belong to which task.

    Attributes
    ----------
    names : list
        Ids of the tasks, in the order in which they take turns.
    rows : list of ndarray of int64
        Rows of the table of each task.
    y : list of ndarray
        Their targets.
    """

    names: list[Any]
    rows: list[I64]
    y: list[NDArray[Any]]


def task_rows(y: Any, task: Any, n_rows: int, y_name: str, task_name: str) -> TaskRows:
    """Sort rows by task; ids keep the order in which they first occur."""
    targets = np.asarray(y)
    if targets.shape[:1] != (n_rows,):
        raise ValueError(f"{y_name} has shape {targets.shape}; X has {n_rows} rows: give one target per row")
    if task is None:
        if targets.ndim != 2:
            raise ValueError(
                f"{task_name} is missing: give the task of each row, or targets of shape (rows, tasks)"
            )
        # An Arrow table has its columns themselves under this name.
        names = list(getattr(y, "column_names", getattr(y, "columns", range(targets.shape[1]))))
        if not names:
            raise ValueError(f"{y_name} has no columns: give one per task")
        if len(set(names)) < len(names):
            raise ValueError(f"{y_name} has columns {names[:10]!r}: each task must have a name of its own")
        values = targets.astype(np.float64)
        rows = [np.flatnonzero(~np.isnan(values[:, k])) for k in range(len(names))]
        return _with_targets(TaskRows(names, rows, [values[at, k] for k, at in enumerate(rows)]))
    shape = task.shape if isinstance(task, np.ndarray) else (len(task),)
    if shape != (n_rows,) or targets.ndim != 1:
        raise ValueError(
            f"{task_name} has shape {shape} and {y_name} {targets.shape}; X has {n_rows} rows: give one of "
            "each per row"
        )
    names, number = _numbered(task)
    if any(is_missing(name) for name in names):
        raise ValueError(f"{task_name} holds NaN or None: every row needs a task")
    # Of 16 bits they are counted instead of compared.
    sortable = number.astype(np.uint16) if len(names) < 1 << 16 else number
    order = np.argsort(sortable, kind="stable")
    rows = np.split(order, np.cumsum(np.bincount(number, minlength=1))[:-1]) if names else []
    return TaskRows(names, rows, [targets[at] for at in rows])


def _numbered(ids: Any) -> tuple[list[Any], I64]:
    """Return different ids in the order in which they first occur, and the number of each row's."""
    values = ids.tolist() if hasattr(ids, "tolist") else list(ids)
    # Nothing in these lines is done by Python itself for each row.
    names = list(dict.fromkeys(values))
    known = dict(zip(names, range(len(names)), strict=True))
    return names, np.fromiter(map(known.__getitem__, values), dtype=np.int64, count=len(values))


def with_task(X: Any, number: I64) -> Any:
    """Append the numbers of tasks to a table as its last column."""
    column = number.astype(np.float64)[:, None]
    return (
        hstack([X, csr_matrix(column + 1.0)], format="csr") if issparse(X) else np.hstack([X, column + 1.0])
    )


def together(rows: Mapping[Any, Rows], tasks: Sequence[Any]) -> Rows:
    """Put the rows of all tasks, task after task, into one table; its last column says which task it was."""
    own = {name: one.own() for name, one in rows.items()}
    tables = [with_task(one.table, np.full(one.y.shape[0], tasks.index(name))) for name, one in own.items()]
    table = vstack(tables, format="csr") if issparse(tables[0]) else np.concatenate(tables)
    y = np.concatenate([one.y for one in own.values()])
    if all(one.weight is None for one in own.values()):
        return Rows(table, y)
    weights = [np.ones(one.y.shape[0]) if one.weight is None else one.weight for one in own.values()]
    return Rows(table, y, np.concatenate(weights))


@dataclass(frozen=True)
class TaskPlaces:
    """Where the scores of each task stand among those of some rows.

    Attributes
    ----------
    shape : tuple of int
        Of the scores: (n,), or (n, T) where every row has a score of each task.
    places : dict
        Index into the scores, by task.
    """

    shape: tuple[int, ...]
    places: dict[Any, Any]

    @classmethod
    def of(cls, task: Any, n_rows: int, tasks: Sequence[Any], *, by_column: bool) -> TaskPlaces:
        """Find them for the task of each row; None: every row is of all tasks, if training's were so."""
        if task is None:
            if not by_column:
                raise ValueError("task is missing: give the task of each row, as in predict(X, task=...)")
            return cls((n_rows, len(tasks)), {name: (slice(None), k) for k, name in enumerate(tasks)})
        labels = task_rows(np.zeros(n_rows), task, n_rows, "X", "task")
        unknown = [name for name in labels.names if name not in tasks]
        if unknown:
            raise ValueError(f"task has {unknown[:5]!r}, which fit did not see; it saw {list(tasks[:10])!r}")
        return cls((n_rows,), {name: (at,) for name, at in zip(labels.names, labels.rows, strict=True)})

    def parts(self, table: Any) -> Iterator[tuple[Any, Any, Any]]:
        """Tasks, their rows of a table, and the places of their scores."""
        for name, place in self.places.items():
            yield name, table if len(self.shape) == 2 else table[place[0]], place


def check_tasks(labels: TaskRows) -> None:
    """Refuse tasks that cannot be trained."""
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
    """Return one value per task, given one for all or a dict."""
    if not isinstance(value, dict):
        return [value] * len(tasks)
    absent = [task for task in tasks if task not in value]
    if tasks == [ALL_TASKS]:
        raise ValueError(f"{name} is a dict, but method='single-task' has one model: give one number")
    if absent:
        raise ValueError(f"{name} has no entry for task {absent[0]!r}: give one number, or one for each task")
    return [value[task] for task in tasks]
