"""Compares the ways to train several tasks."""

from __future__ import annotations

from collections.abc import Sequence
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone, is_classifier

from gtgbm.metrics import metric_of
from gtgbm.parameters import METHODS


class TaskComparison(NamedTuple):
    """One method's result.

    Attributes
    ----------
    method : str
    metric : str
    by_task : dict
        The metric on each task's test rows.
    total : float
        Their mean, weighted by test rows.
    n_features : int
        Features of all tasks together.
    n_shared : int
        Of these, used by at least two tasks.
    n_by_task : dict
        Features of each task.
    seconds : float
        Of the fit.
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
    """Fit a multitask model by several methods, with the same parameters otherwise, and test each.

    Parameters
    ----------
    estimator : MultitaskGTGBMClassifier or MultitaskGTGBMRegressor
        Not changed: copies of it are fitted.
    train, test : (X, y, task)
        Rows in the long form, one task each.
    metric : str or None
        Name of a metric (``gtgbm.metrics``); None: average precision of classifiers, RMSE of regressors.

    Returns
    -------
    list of TaskComparison
        In the order of `methods`; ``pandas.DataFrame`` takes it as it is.
    """
    name = metric or ("average_precision" if is_classifier(estimator) else "rmse")
    X, y, task = test
    ids = np.asarray(task, dtype=object)
    found = []
    for method in methods:
        model = clone(estimator).set_params(method=method)
        start = perf_counter()
        model.fit(train[0], train[1], task=train[2])
        seconds = perf_counter() - start
        if is_classifier(model):
            predicted, target = model.predict_proba(X, task=task)[:, 1], np.asarray(y) == model.classes_[1]
        else:
            predicted, target = model.predict(X, task=task), np.asarray(y)
        rows = {one: np.flatnonzero(ids == one) for one in model.tasks_}
        tested = {one: at for one, at in rows.items() if at.shape[0]}
        scores = {one: metric_of(name)(target[at], predicted[at]) for one, at in tested.items()}
        sizes = [at.shape[0] for at in tested.values()]
        found.append(
            TaskComparison(
                method,
                name,
                scores,
                float(np.average(list(scores.values()), weights=sizes)),
                model.n_selected_features_,
                int(model.shared_features_.shape[0]),
                {one: int(features.shape[0]) for one, features in model.task_features_.items()},
                seconds,
            )
        )
    return found
