"""The multitask classifier and regressor."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import accuracy_score, r2_score

from gtgbm.estimators.compact_tasks import CompactTasksClassifier, CompactTasksRegressor
from gtgbm.estimators.documentation import TASK_ATTRIBUTES, documented
from gtgbm.estimators.multitask_base import BaseMultitask
from gtgbm.estimators.rows import checked_weight
from gtgbm.estimators.staged_classes import StagedClasses
from gtgbm.estimators.targets import ClassTargets, NumberTargets
from gtgbm.exact import F64


@documented(
    **TASK_ATTRIBUTES,
    classes_=("ndarray", "Class labels of all tasks."),
    task_classes_=(
        "dict of ndarray",
        "Class labels that the model of each task tells apart: those of its rows; with "
        "``method='single-task'`` those of all tasks.",
    ),
)
class MultitaskGTGBMClassifier(StagedClasses, ClassTargets, BaseMultitask):
    """Multitask GT-GBM classifier; tasks may have different classes.

    A feature that no task has selected yet costs a task ``group_penalty + task_penalty``, a feature that
    another task has selected costs ``task_penalty``, and the task's own features are free.
    """

    def __init__(
        self,
        *,
        n_estimators: int = 100,
        learning_rate: Any = 0.1,
        group_penalty: float = 0.001,
        task_penalty: Any = "auto",
        method: str = "multitask",
        task_order: str = "sequential",
        n_common_rounds: int = 0,
        n_features_to_select: int | str | None = None,
        selection: str = "auto",
        feature_costs: Any = None,
        feature_groups: Any = None,
        fixed_features: Any = None,
        cost_budget: float | None = None,
        n_features_per_task: int | None = None,
        min_node_fraction: float = 0.02,
        min_samples_leaf: int | None = None,
        max_depth: int | None = None,
        max_leaf_nodes: int | str | None = "auto",
        l2_regularization: float = 0.0,
        search: str = "auto",
        n_relevant: int | None = None,
        failure_probability: float = 0.1,
        test_rows: int | str | None = "auto",
        loss: Any = "log_loss",
        init: str = "best",
        max_bins: int = 255,
        categorical_features: Any = None,
        categorical: str = "category",
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
        early_stopping_rounds: int | None = None,
        validation_fraction: float = 0.1,
        eval_metric: Any = None,
        criterion: str = "residuals",
        subsample: float = 1.0,
        colsample: float = 1.0,
        monotone_constraints: Any = None,
    ) -> None:
        self._set_parameters(locals())

    def predict_proba(
        self, X: Any, task: Any = None, *, n_rounds: int | None = None, offset: Any = None
    ) -> F64:
        """Predict the probability of each class, in the order of ``classes_``.

        Parameters
        ----------
        X : array-like, shape (n, d)
        task : array-like, shape (n,)
            Task of each row. Omit it if the training targets had one column per task.
        n_rounds : int, optional
            Use only the trees of the first rounds.
        offset : array-like, as in `fit`, optional
            What is added to the scores.

        Returns
        -------
        ndarray of float64, shape (n, classes), or (n, T, classes) without `task`
            Classes that a task does not have are 0. If all tasks have the same two classes, the shape
            without `task` is (n, T): the probabilities of the second class.
        """
        return self._probabilities(self._task_scores(X, task, n_rounds, offset))

    def decision_function(
        self, X: Any, task: Any = None, *, n_rounds: int | None = None, offset: Any = None
    ) -> F64:
        """Return decision scores.

        If all tasks have the same two classes, the shape is (n,), or (n, T) without `task`, and a score above
        0 predicts the second class. Else the classes are an additional last axis: the largest score predicts
        a class, and classes that a task does not have score minus infinity.
        """
        return self._decisions(self._task_scores(X, task, n_rounds, offset))

    def predict(
        self, X: Any, task: Any = None, *, n_rounds: int | None = None, offset: Any = None
    ) -> NDArray[Any]:
        """Predict the most probable class; shape (n,), or (n, T) without `task`."""
        return self._predicted(self._task_scores(X, task, n_rounds, offset))

    def _learn_targets(self, targets: Mapping[Any, NDArray[Any]], *, reset: bool) -> None:
        super()._learn_targets(targets, reset=reset)
        self.task_classes_ = {
            name: self.classes_ if self._is_single else np.unique(y) for name, y in targets.items()
        }

    def _classes_of(self, task: Any) -> NDArray[Any]:
        return self.task_classes_.get(task, self.classes_)

    def _check_common_trees(self) -> None:
        for name, classes in self.task_classes_.items():
            if classes.shape[0] < self.classes_.shape[0]:
                lacking = np.setdiff1d(self.classes_, classes).tolist()
                raise ValueError(
                    f"n_common_rounds={self.n_common_rounds}: common trees need tasks with the same classes, "
                    f"but task {name!r} has no row of class {lacking[0]!r}; use n_common_rounds=0, or leave "
                    "the class or the task out"
                )

    def score(self, X: Any, y: Any, sample_weight: Any = None, *, task: Any = None) -> float:
        """Return the accuracy of all rows; without `task`, the mean accuracy of the tasks.

        Parameters
        ----------
        X, y, task
            As in `fit`.
        sample_weight : array-like, shape (n,), optional

        Returns
        -------
        float
        """
        return self._mean_score(accuracy_score, X, y, task, sample_weight=_weight_of(sample_weight, y))

    def compact(self) -> CompactTasksClassifier:
        """Return a small model for serving: the fitted trees only, without training data.

        Returns
        -------
        CompactTasksClassifier
            Takes the K columns selected by any task, in the order of ``selected_features_``; its predictions
            are identical to those of the estimator.
        """
        return CompactTasksClassifier(*self._compact_parts(), self.classes_.copy())


@documented(**TASK_ATTRIBUTES)
class MultitaskGTGBMRegressor(NumberTargets, BaseMultitask):
    """Multitask GT-GBM regressor.

    A feature that no task has selected yet costs a task ``group_penalty + task_penalty``, a feature that
    another task has selected costs ``task_penalty``, and the task's own features are free.
    """

    def __init__(
        self,
        *,
        n_estimators: int = 100,
        learning_rate: Any = 0.1,
        group_penalty: float = 0.001,
        task_penalty: Any = "auto",
        method: str = "multitask",
        task_order: str = "sequential",
        n_common_rounds: int = 0,
        n_features_to_select: int | str | None = None,
        selection: str = "auto",
        feature_costs: Any = None,
        feature_groups: Any = None,
        fixed_features: Any = None,
        cost_budget: float | None = None,
        n_features_per_task: int | None = None,
        min_node_fraction: float = 0.02,
        min_samples_leaf: int | None = None,
        max_depth: int | None = None,
        max_leaf_nodes: int | str | None = "auto",
        l2_regularization: float = 0.0,
        search: str = "auto",
        n_relevant: int | None = None,
        failure_probability: float = 0.1,
        test_rows: int | str | None = "auto",
        loss: Any = "squared_error",
        init: str = "best",
        max_bins: int = 255,
        categorical_features: Any = None,
        categorical: str = "category",
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
        early_stopping_rounds: int | None = None,
        validation_fraction: float = 0.1,
        eval_metric: Any = None,
        criterion: str = "residuals",
        subsample: float = 1.0,
        colsample: float = 1.0,
        monotone_constraints: Any = None,
    ) -> None:
        self._set_parameters(locals())

    def predict(self, X: Any, task: Any = None, *, n_rounds: int | None = None, offset: Any = None) -> F64:
        """Predict targets; shape (n,), or (n, T) without `task`.

        Parameters
        ----------
        X : array-like, shape (n, d)
        task : array-like, shape (n,)
            Task of each row. Omit it if the training targets had one column per task.
        n_rounds : int, optional
            Use only the trees of the first rounds.
        offset : array-like, as in `fit`, optional
            What is added to the scores.

        Returns
        -------
        ndarray of float64
        """
        return self._predicted(self._task_scores(X, task, n_rounds, offset))

    def score(self, X: Any, y: Any, sample_weight: Any = None, *, task: Any = None) -> float:
        """Return R² of all rows; without `task`, the mean R² of the tasks.

        Parameters
        ----------
        X, y, task
            As in `fit`.
        sample_weight : array-like, shape (n,), optional

        Returns
        -------
        float
        """
        return self._mean_score(r2_score, X, y, task, sample_weight=_weight_of(sample_weight, y))

    def compact(self) -> CompactTasksRegressor:
        """Return a small model for serving: the fitted trees only, without training data.

        Returns
        -------
        CompactTasksRegressor
            Takes the K columns selected by any task, in the order of ``selected_features_``; its predictions
            are identical to those of the estimator.
        """
        return CompactTasksRegressor(*self._compact_parts())


def _weight_of(sample_weight: Any, y: Any) -> F64 | None:
    return checked_weight(sample_weight, np.shape(y)[0])
