"""Compares the methods of the multitask estimators."""

from __future__ import annotations

from collections.abc import Sequence
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone, is_classifier

from gtgbm.metrics import metric_of
from gtgbm.parameters import METHODS


class TaskComparison(NamedTuple):
    """The result of one method.

    Attributes
    ----------
    method : str
    metric : str
    by_task : dict
        The metric on the test rows of each task.
    total : float
        Mean over tasks, weighted by test rows.
    n_features : int
        Number of features selected by any task.
    n_shared : int
        Number of columns used by at least two tasks.
    n_by_task : dict
        Number of columns used by each task.
    seconds : float
        Duration of the fit.
    """

    method: str
    metric: str
    by_task: dict[Any, float]
    total: float
    n_features: int
    n_shared: int
    n_by_task: dict[Any, int]
    seconds: float


def compare_tasks(
    estimator: Any,
    train: tuple[Any, Any, Any],
    test: tuple[Any, Any, Any],
    *,
    methods: Sequence[str] = METHODS,
    metric: str | None = None,
) -> list[TaskComparison]:
    """Fit a multitask model with several methods and otherwise equal parameters, and test each of them.

    Parameters
    ----------
    estimator : MultitaskGTGBMClassifier or MultitaskGTGBMRegressor
        It is not changed: clones of it are fitted.
    train, test : (X, y, task)
        Training and test rows, each row with its task.
    methods : sequence of str
        Values of the parameter ``method``.
    metric : str or None
        Name of a metric (``gtgbm.metrics``). None: average precision for classifiers, RMSE for regressors.

    Returns
    -------
    list of TaskComparison
        In the order of `methods`. ``pandas.DataFrame`` accepts this list.
    """
    name = metric or ("average_precision" if is_classifier(estimator) else "rmse")
    X, y, task = test
    ids = np.asarray(task, dtype=object)
    results = []
    for method in methods:
        model = clone(estimator).set_params(method=method)
        start = perf_counter()
        model.fit(train[0], train[1], task=train[2])
        seconds = perf_counter() - start
        if is_classifier(model):
            predicted, target = model.predict_proba(X, task=task)[:, 1], np.asarray(y) == model.classes_[1]
        else:
            predicted, target = model.predict(X, task=task), np.asarray(y)
        rows_of_task = {task_id: np.flatnonzero(ids == task_id) for task_id in model.tasks_}
        tested = {task_id: rows for task_id, rows in rows_of_task.items() if rows.shape[0]}
        scores = {task_id: metric_of(name)(target[rows], predicted[rows]) for task_id, rows in tested.items()}
        sizes = [rows.shape[0] for rows in tested.values()]
        results.append(
            TaskComparison(
                method,
                name,
                scores,
                float(np.average(list(scores.values()), weights=sizes)),
                model.n_selected_features_,
                int(model.shared_features_.shape[0]),
                {task_id: int(features.shape[0]) for task_id, features in model.task_features_.items()},
                seconds,
            )
        )
    return results
