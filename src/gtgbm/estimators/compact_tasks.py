"""Compact multitask models for serving, which take the columns that any task selected."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from gtgbm.data import as_values
from gtgbm.estimators.compact import CompactModel
from gtgbm.estimators.outcomes import decisions, labels, predictions, probabilities
from gtgbm.estimators.rows_of_tasks import TaskPlaces, with_task
from gtgbm.estimators.threads import pool_for_rows
from gtgbm.exact import F64, I64
from gtgbm.losses import of_all_tasks
from gtgbm.tree import Forest


@dataclass(frozen=True)
class TaskForests:
    """The forest of each task, over the selected columns.

    Attributes
    ----------
    by_task : mapping of Forest
    by_column : bool
        Whether the training targets had one column per task.
    reads_task : bool
        Whether the forests read the number of the task from an additional last column.
    positions : mapping of ndarray of int64
        Positions of the classes of each task among those of all tasks.
    n_scores : int
        Number of scores of all tasks: that of their classes, or 1.
    """

    by_task: Mapping[Any, Forest]
    by_column: bool
    reads_task: bool
    positions: Mapping[Any, I64]
    n_scores: int

    @property
    def n_trees(self) -> int:
        """Number of trees of all tasks."""
        return sum(forest.n_trees for forest in self.by_task.values())

    def scores(self, table: Any, task: Any, n_jobs: int | None) -> F64:
        """Return scores of shape (k, n), or (k, n, T) without `task`."""
        tasks = list(self.by_task)
        table = table.tocsr() if issparse(table) else table
        where = TaskPlaces.of(task, table.shape[0], tasks, by_column=self.by_column)
        scores = np.empty((self.n_scores, *where.shape))
        for name, part, place in where.parts(table):
            if self.reads_task:
                part = with_task(part, np.full(part.shape[0], tasks.index(name)))
            own = self.by_task[name].scores(part, pool_for_rows(n_jobs, part.shape[0]))
            scores[(slice(None), *place)] = of_all_tasks(own, self.positions[name], self.n_scores)
        return scores


@dataclass(frozen=True, eq=False, repr=False)
class _CompactTasks(CompactModel):
    _forest: TaskForests

    @property
    def tasks_(self) -> list[Any]:
        """Ids of the tasks."""
        return list(self._forest.by_task)

    def _scores(self, X: Any, task: Any) -> tuple[F64, bool]:
        """Return scores of shape (k, n) or (k, n, T), and whether `X` was a single row."""
        table, is_row = self._table(X)
        tasks = [task] if is_row and task is not None else as_values(task)
        return self._forest.scores(table, tasks, self._n_jobs), is_row


@dataclass(frozen=True, eq=False, repr=False)
class CompactTasksRegressor(_CompactTasks):
    """The trees of a fitted multitask regressor or ranker, over the columns that any task selected.

    Predictions are identical to those of the estimator. The methods take ``X`` of shape (n, K) like those of
    ``CompactRegressor``, and the task of each row; a single row of shape (K,) has a single task.

    Attributes
    ----------
    features_ : ndarray of int64, shape (K,)
        The columns of the training table that ``X`` must hold, in this order: the ``selected_features_`` of
        the estimator.
    feature_names_ : ndarray of str, shape (K,), or None
        Their names, if the training table had names.
    n_features_in_ : int
        K, the number of columns of ``X``.
    tasks_ : list
        Ids of the tasks.
    """

    def predict(self, X: Any, task: Any = None) -> Any:
        """Predict targets, or the scores of a ranker.

        Parameters
        ----------
        X : array-like, shape (n, K) or (K,)
        task : array-like, shape (n,), or one task for a single row
            Omit it if the training targets had one column per task.

        Returns
        -------
        ndarray of float64, shape (n,), or (n, T) without `task`; one dimension less for a single row
        """
        scores, is_row = self._scores(X, task)
        predicted = predictions(scores, self._loss)
        return predicted[0] if is_row else predicted


@dataclass(frozen=True, eq=False, repr=False)
class CompactTasksClassifier(_CompactTasks):
    """The trees of a fitted multitask classifier, over the columns that any task selected.

    Predictions are identical to those of the estimator. The methods take ``X`` of shape (n, K) like those of
    ``CompactClassifier``, and the task of each row; a single row of shape (K,) has a single task.

    Attributes
    ----------
    features_ : ndarray of int64, shape (K,)
        The columns of the training table that ``X`` must hold, in this order: the ``selected_features_`` of
        the estimator.
    feature_names_ : ndarray of str, shape (K,), or None
        Their names, if the training table had names.
    n_features_in_ : int
        K, the number of columns of ``X``.
    tasks_ : list
        Ids of the tasks.
    classes_ : ndarray
        Class labels of all tasks.
    """

    classes_: NDArray[Any]

    def __post_init__(self) -> None:
        super().__post_init__()
        self.classes_.flags.writeable = False

    def decision_function(self, X: Any, task: Any = None) -> Any:
        """Return decision scores; of two classes, a score above 0 predicts the second.

        Parameters
        ----------
        X : array-like, shape (n, K) or (K,)
        task : array-like, shape (n,), or one task for a single row
            Omit it if the training targets had one column per task.

        Returns
        -------
        ndarray of float64
            As the estimator's; one dimension less for a single row.
        """
        scores, is_row = self._scores(X, task)
        decided = decisions(scores, self._loss)
        return decided[0] if is_row else decided

    def predict_proba(self, X: Any, task: Any = None) -> F64:
        """Predict the probability of each class, in the order of ``classes_``.

        Parameters
        ----------
        X : array-like, shape (n, K) or (K,)
        task : array-like, shape (n,), or one task for a single row
            Omit it if the training targets had one column per task.

        Returns
        -------
        ndarray of float64
            As the estimator's; one dimension less for a single row.
        """
        scores, is_row = self._scores(X, task)
        p = probabilities(scores, self._loss)
        return np.asarray(p[0]) if is_row else p

    def predict(self, X: Any, task: Any = None) -> Any:
        """Predict the most probable class.

        Parameters
        ----------
        X : array-like, shape (n, K) or (K,)
        task : array-like, shape (n,), or one task for a single row
            Omit it if the training targets had one column per task.

        Returns
        -------
        ndarray, shape (n,), or (n, T) without `task`; one dimension less for a single row
        """
        scores, is_row = self._scores(X, task)
        predicted = labels(decisions(scores, self._loss), self.classes_)
        return predicted[0] if is_row else predicted
