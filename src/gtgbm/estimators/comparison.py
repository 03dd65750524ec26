"""Compares the methods of the multitask estimators."""

from __future__ import annotations

from collections.abc import Sequence
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone, is_classifier

from gtgbm.metrics import TargetKind, metric_of
from gtgbm.parameters import METHODS

_METRICS: dict[TargetKind, str] = {
    "binary": "average_precision",
    "multiclass": "accuracy",
    "numbers": "rmse",
    "relevance": "ndcg",
}


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
    train: tuple[Any, ...],
    test: tuple[Any, ...],
    *,
    methods: Sequence[str] = METHODS,
    metric: str | None = None,
) -> list[TaskComparison]:
    """Fit a multitask model with several methods and otherwise equal parameters, and test each of them.

    Parameters
    ----------
    estimator : MultitaskGTGBMClassifier, MultitaskGTGBMRegressor or MultitaskGTGBMRanker
        It is not changed: clones of it are fitted.
    train, test : (X, y, task), or (X, y, task, qid) for rankers
        Training and test rows, each row with its task.
    methods : sequence of str
        Values of the parameter ``method``.
    metric : str or None
        Name of a metric (``gtgbm.metrics``). None: average precision for two classes, accuracy for more,
        RMSE for numbers, NDCG for rankings.

    Returns
    -------
    list of TaskComparison
        In the order of `methods`. ``pandas.DataFrame`` accepts this list.
    """
    X, y, task, qid = _columns(estimator, test, "test")
    fitted_X, fitted_y, fitted_task, fitted_qid = _columns(estimator, train, "train")
    given = {} if fitted_qid is None else {"qid": fitted_qid}
    ids = np.asarray(task, dtype=object)
    results = []
    for method in methods:
        model = clone(estimator).set_params(method=method)
        start = perf_counter()
        model.fit(fitted_X, fitted_y, task=fitted_task, **given)
        seconds = perf_counter() - start
        name = metric or _METRICS[model._kind_of_targets()]
        if is_classifier(model):
            predicted, target = model.predict_proba(X, task=task), np.searchsorted(model.classes_, y)
            predicted = predicted if predicted.shape[1] > 2 else predicted[:, 1]
        else:
            predicted, target = model.predict(X, task=task), np.asarray(y)
        rows_of_task = {task_id: np.flatnonzero(ids == task_id) for task_id in model.tasks_}
        tested = {task_id: rows for task_id, rows in rows_of_task.items() if rows.shape[0]}
        scores = {
            task_id: metric_of(name)(target[rows], predicted[rows], None, None if qid is None else qid[rows])
            for task_id, rows in tested.items()
        }
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


def _columns(estimator: Any, rows: Sequence[Any], name: str) -> tuple[Any, Any, Any, NDArray[Any] | None]:
    """Return table, targets, tasks and for rankers queries."""
    n_columns = 4 if estimator._ranks else 3
    if len(rows) != n_columns:
        wanted = "(X, y, task, qid)" if estimator._ranks else "(X, y, task)"
        raise ValueError(f"{name} has {len(rows)} entries; {type(estimator).__name__} needs {wanted}")
    return rows[0], rows[1], rows[2], np.asarray(rows[3]) if estimator._ranks else None
