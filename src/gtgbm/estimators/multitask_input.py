"""Reads the rows of several tasks, of training and of eval sets."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.sparse import issparse

from gtgbm.data import as_values
from gtgbm.estimators.base import BaseGTGBM
from gtgbm.estimators.rows import (
    EvalSets,
    Rows,
    check_all_have_offsets,
    checked_qid,
    checked_weight,
    offset_values,
    per_set,
    weight_of_queries,
)
from gtgbm.estimators.rows_of_tasks import TaskRows, check_tasks, task_offsets, task_rows
from gtgbm.estimators.target_values import target_values


@dataclass(frozen=True)
class RowColumns:
    """What `fit` gets for each row besides the table and the targets, as the user gave it."""

    task: Any = None
    weight: Any = None
    qid: Any = None
    offset: Any = None


@dataclass(frozen=True)
class _Names:
    """What errors call the arguments: those of training rows, or of the eval set."""

    y: str = "y"
    task: str = "task"
    weight: str = "sample_weight"
    qid: str = "qid"
    offset: str = "offset"


_TRAINING = _Names()
_EVAL = _Names("eval_set: y", "eval_task", "eval_sample_weight", "eval_qid", "eval_offset")


class TaskInput(BaseGTGBM):
    """Groups rows by task, and converts their targets."""

    tasks_: list[Any]
    # Whether the targets had one column per task.
    _by_column: bool

    def _training_rows(self, X: Any, y: Any, given: RowColumns) -> dict[Any, Rows]:
        """Group the training rows by task and learn from their targets; rows of weight 0 are dropped."""
        labels = self._labels(y, given.task, X.shape[0], _TRAINING)
        check_tasks(labels)
        self._by_column, self.tasks_ = given.task is None, labels.names
        weighted = replace(given, weight=checked_weight(given.weight, X.shape[0]))
        rows = self._grouped(X, labels, weighted, _TRAINING)
        rows = {name: of_task.with_weight() for name, of_task in rows.items()}
        self._learn_targets({name: of_task.y for name, of_task in rows.items()}, reset=True)
        return self._converted(rows, given.offset, X.shape[0], _TRAINING)

    def _validations(self, given: EvalSets, *, has_offset: bool) -> dict[Any, Rows]:
        """Read the eval set of each task."""
        sets = self._eval_rows(given.rows, given.weight)
        if len(sets) > 1:
            raise ValueError(f"eval_set holds {len(sets)} pairs: give one pair (X, y), with eval_task")
        if not sets:
            return {}
        (rows,) = sets
        n_rows = rows.table.shape[0]
        labels = self._labels(rows.y, given.task, n_rows, _EVAL)
        unknown = [name for name in labels.names if name not in self.tasks_]
        if unknown:
            raise ValueError(f"eval_task has {unknown[:5]!r}, which are not tasks of the training rows")
        check_all_have_offsets(has_offset, given.offset, "eval_offset")
        (qid,) = per_set(given.qid, 1, "eval_qid")
        grouped = self._grouped(rows.table, labels, RowColumns(weight=rows.weight, qid=qid), _EVAL)
        converted = self._converted(grouped, given.offset, n_rows, _EVAL)
        return {name: of_task.own() for name, of_task in converted.items()}

    def _labels(self, y: Any, task: Any, n_rows: int, names: _Names) -> TaskRows:
        y = target_values(y, names.y, is_numeric=self._y_is_numeric)
        return task_rows(y, as_values(task), n_rows, names.y, names.task)

    def _grouped(self, X: Any, labels: TaskRows, given: RowColumns, names: _Names) -> dict[Any, Rows]:
        """Return the rows of each task, which share the table; weights are validated already."""
        table = X.tocsr() if issparse(X) else X
        weight, qid = given.weight, None
        if self._ranks:
            qid = checked_qid(given.qid, X.shape[0], names.qid)
        rows = {}
        for name, at, y in zip(labels.names, labels.rows, labels.y, strict=True):
            of_task = Rows(
                table,
                y,
                None if weight is None else weight[at],
                None if qid is None else qid[at],
                shared=at,
            )
            if of_task.weight is not None and not of_task.weight.any():
                raise ValueError(f"{names.weight} is zero for all rows of task {name!r}; leave the task out")
            if of_task.qid is not None:
                weight_of_queries(of_task.weight, of_task.qid, f"{names.weight} of task {name!r}")
            rows[name] = of_task
        return rows

    def _converted(
        self, rows: Mapping[Any, Rows], offset: Any, n_rows: int, names: _Names
    ) -> dict[Any, Rows]:
        """Convert targets to numbers, and offsets to those of the scores of each task."""
        converted = {
            name: replace(of_task, y=self._numbers_of(of_task.y, names.y, name))
            for name, of_task in rows.items()
        }
        if offset is None:
            return converted
        n_scores = self._make_loss().n_scores
        shape = (n_rows, len(rows)) if self._by_column else (n_rows,)
        values = offset_values(offset, shape if n_scores == 1 else (*shape, n_scores), names.offset)
        places = [np.asarray(of_task.shared) for of_task in rows.values()]
        offsets = task_offsets(values, places, by_column=self._by_column, name=names.offset)
        return {
            name: replace(of_task, offset=self._own_offset(name, own))
            for (name, of_task), own in zip(converted.items(), offsets, strict=True)
        }
