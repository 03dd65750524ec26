"""Fitted attributes and scores of the multitask estimators."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.utils.validation import check_is_fitted

from gtgbm.data import FrameSchema, as_values
from gtgbm.estimators.base import BaseGTGBM
from gtgbm.estimators.compact_tasks import TaskForests
from gtgbm.estimators.fitted import categories_of, columns_of
from gtgbm.estimators.rows_of_tasks import TaskPlaces, task_rows, with_task
from gtgbm.estimators.tables import TableRead, read_columns
from gtgbm.estimators.threads import pool_for_rows
from gtgbm.exact import F64, I64
from gtgbm.losses import Loss
from gtgbm.multitask import UsedFeature
from gtgbm.tree import Tree


class TaskPredictions(BaseGTGBM):
    """Keeps and applies the models of several tasks."""

    tasks_: list[Any]
    # Whether the targets had one column per task; whether all tasks have one model (method="single-task").
    _by_column: bool
    _is_single: bool

    def _by_task(self, values: Mapping[Any, Any]) -> Any:
        return dict(values)

    @property
    def _n_columns_read(self) -> int:
        # method="single-task" trains on an additional last column: the task.
        return self.n_features_in_ + self._is_single

    def _keep_features(self, used: Sequence[UsedFeature]) -> None:
        """Set the attributes about selected features, of all tasks and by task."""
        super()._keep_features(used)
        histories = self.selection_history_
        self.shared_features_ = columns_of(feature.column for feature in used if feature.n_tasks > 1)
        self.task_features_ = {
            name: columns_of(entry.feature for entry in history) for name, history in histories.items()
        }
        self.task_categories_ = {
            name: categories_of((entry.feature, entry.category) for entry in history)
            for name, history in histories.items()
        }
        self.task_importances_ = {name: self._importances(model) for name, model in self._models.items()}

    def _task_scores(self, X: Any, task: Any, n_rounds: int | None = None, offset: Any = None) -> F64:
        """Return scores of shape (k, n), or (k, n, T) without `task`."""
        shape, reads = self._read_tables(X, task)
        scores = [
            self._forests[read.task].scores(
                read.table,
                pool_for_rows(self.n_jobs, read.table.shape[0]),
                read.columns,
                self._first_trees(read.task, n_rounds),
            )
            for read in reads
        ]
        return self._with_offset(self._combined(shape, reads, scores), offset)

    def _trees_of(self, task: Any) -> list[Tree]:
        trees = super()._trees_of(task)
        if not self._is_single:
            return trees
        # Their last column is the number of the task, counted from 1.
        return [tree.knowing(self.n_features_in_, self.tasks_.index(task) + 1.0) for tree in trees]

    def _read_tables(self, X: Any, task: Any) -> tuple[tuple[int, ...], list[TableRead]]:
        """Return (n,), or (n, T) without `task`, and the table that the forest of each task reads.

        Only the columns in use are read from a dataframe.
        """
        check_is_fitted(self, "trees_")
        used = np.unique(np.concatenate([forest.columns for forest in self._forests.values()]))
        used = used[used < self.n_features_in_]
        X, places = read_columns(self, X, used)
        table = X.tocsr() if issparse(X) else X
        where = TaskPlaces.of(as_values(task), table.shape[0], self.tasks_, by_column=self._by_column)
        if self._is_single:
            # The task is the last column, whose position depends on how many columns were read.
            used, places = np.append(used, self.n_features_in_), np.append(places, table.shape[1])
        tables = []
        for name, part, place in where.parts(table):
            if self._is_single:
                part = with_task(part, np.full(part.shape[0], self.tasks_.index(name)))
            columns: I64 = places[np.searchsorted(used, self._forests[name].columns)]
            tables.append(TableRead(name, part, columns, place))
        return where.shape, tables

    def _compact_parts(self) -> tuple[TaskForests, int | None, I64, FrameSchema | None, Loss]:
        features, schema = self._compact_columns()
        taken = np.append(features, self.n_features_in_) if self._is_single else features
        forests = {name: forest.over(taken) for name, forest in self._forests.items()}
        positions = {name: self._positions_of(name) for name in self.tasks_}
        task_forests = TaskForests(
            forests, self._by_column, self._is_single, positions, self._fitted_loss.n_scores
        )
        return task_forests, self.n_jobs, features, schema, self._fitted_loss

    def _mean_score(
        self, metric: Callable[..., float], X: Any, y: Any, task: Any, **of_rows: NDArray[Any] | None
    ) -> float:
        """Return the metric of all rows; for one target column per task, the mean over tasks.

        Parameters
        ----------
        **of_rows
            What the metric takes besides targets and predictions, for each row.
        """
        predicted = self.predict(X, task=task)
        if task is not None:
            return float(metric(y, predicted, **of_rows))
        labels, values = task_rows(y, None, predicted.shape[0], "y", "task"), []
        for k, (at, of_task) in enumerate(zip(labels.rows, labels.y, strict=True)):
            own = {name: None if value is None else value[at] for name, value in of_rows.items()}
            values.append(metric(of_task, predicted[at, k], **own))
        return float(np.mean(values))

    def predict(
        self, X: Any, task: Any = None, *, n_rounds: int | None = None, offset: Any = None
    ) -> NDArray[Any]:
        """Predict targets."""
        raise NotImplementedError
