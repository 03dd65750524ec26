"""The table that compares ways to train several tasks."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.metrics import average_precision_score, root_mean_squared_error

from gtgbm import MultitaskGTGBMClassifier, MultitaskGTGBMRegressor, compare_tasks

RNG = np.random.default_rng(0)
X, TASK = RNG.normal(size=(900, 8)), RNG.choice(["a", "b", "c"], 900, p=[0.6, 0.3, 0.1])
Y = X[:, 0] + (TASK == "b") * X[:, 1] + 0.3 * RNG.normal(size=900)
TRAIN, TEST = np.arange(600), np.arange(600, 900)


def test_regression() -> None:
    model = MultitaskGTGBMRegressor(n_estimators=20, group_penalty=0.01, task_penalty=0.01, random_state=0)
    found = compare_tasks(model, (X[TRAIN], Y[TRAIN], TASK[TRAIN]), (X[TEST], Y[TEST], TASK[TEST]))
    assert [one.method for one in found] == ["multitask", "group-sparse", "independent", "single-task"]
    for one in found:
        again = clone(model).set_params(method=one.method).fit(X[TRAIN], Y[TRAIN], task=TASK[TRAIN])
        predicted = again.predict(X[TEST], task=TASK[TEST])
        sizes = {}
        for name in "abc":
            rows = TASK[TEST] == name
            expected = root_mean_squared_error(Y[TEST][rows], predicted[rows])
            assert one.by_task[name] == pytest.approx(expected)
            sizes[name] = rows.sum()
        weights = [sizes[name] for name in one.by_task]
        assert one.total == pytest.approx(np.average(list(one.by_task.values()), weights=weights))
        assert one.n_features == len(again.selected_features_) >= one.n_shared
        assert one.n_by_task == {name: len(again.task_features_[name]) for name in again.tasks_}


def test_classification() -> None:
    y = np.where(Y > 0, "yes", "no")
    model = MultitaskGTGBMClassifier(n_estimators=10, random_state=0)
    train, test = (X[TRAIN], y[TRAIN], TASK[TRAIN]), (X[TEST], y[TEST], TASK[TEST])
    (one,) = compare_tasks(model, train, test, methods=["single-task"])
    p = clone(model).set_params(method="single-task").fit(*train).predict_proba(X[TEST], task=TASK[TEST])
    for name in "abc":
        rows = TASK[TEST] == name
        assert one.by_task[name] == pytest.approx(average_precision_score(y[TEST][rows] == "yes", p[rows, 1]))
