"""Predictions with the first rounds, and how good a model was by then."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from gtgbm import (
    GTGBMClassifier,
    GTGBMRanker,
    GTGBMRegressor,
    MultitaskGTGBMClassifier,
    MultitaskGTGBMRegressor,
)
from gtgbm.estimators import HeldOut
from gtgbm.explain.curve import purchases, selection_curve
from gtgbm.explain.staged import staged_predictions
from gtgbm.metrics import METRICS

RNG = np.random.default_rng(0)
X = RNG.normal(size=(400, 8))
SIGNAL = X[:, 0] + X[:, 1] * X[:, 2]
TASK = np.array(["a", "b"])[np.arange(400) % 2]


def fitted(estimator: Any, n_estimators: int, target: Any, **given: Any) -> Any:
    return estimator(n_estimators=n_estimators, penalty=0.01, random_state=0).fit(X, target, **given)


@pytest.mark.parametrize(
    ("estimator", "target", "given", "predict"),
    [
        (GTGBMClassifier, SIGNAL > 0, {}, lambda m: m.predict_proba(X)[:, 1]),
        (GTGBMClassifier, np.digitize(SIGNAL, [-1, 1]), {}, lambda m: m.predict_proba(X)),
        (GTGBMRegressor, SIGNAL, {}, lambda m: m.predict(X)),
        (GTGBMRanker, np.digitize(SIGNAL, [-1, 1]), {"qid": np.arange(400) // 10}, lambda m: m.predict(X)),
    ],
)
def test_a_stage_is_the_model_that_was_stopped_there(
    estimator: Any, target: Any, given: Any, predict: Any
) -> None:
    model = fitted(estimator, 12, target, **given)
    stages = list(staged_predictions(model, X, [5, 12]))
    np.testing.assert_array_equal(stages[0], predict(fitted(estimator, 5, target, **given)))
    np.testing.assert_array_equal(stages[1], predict(model))
    assert len(list(staged_predictions(model, X))) == 12
    sparse = list(staged_predictions(model, csr_matrix(X), [5, 12]))
    np.testing.assert_array_equal(sparse, stages)


@pytest.mark.parametrize("method", ["multitask", "single-task"])
def test_stages_of_tasks(method: str) -> None:
    model = MultitaskGTGBMClassifier(n_estimators=9, method=method, random_state=0)
    model.fit(X, SIGNAL > 0, task=TASK)
    first, last = staged_predictions(model, X, [0, 9], task=TASK)
    np.testing.assert_array_equal(last, model.predict_proba(X, task=TASK)[:, 1])
    assert len(np.unique(first)) <= 2, "without trees each task has one prediction"


def test_stages_of_targets_by_column_with_tasks_that_stop_early() -> None:
    Y = np.column_stack([SIGNAL, RNG.normal(size=400)])
    Y[::3, 1] = np.nan
    model = MultitaskGTGBMRegressor(n_estimators=40, early_stopping_rounds=2, random_state=0).fit(X, Y)
    assert len(set(model.n_iter_.values())) == 2
    *_, last = staged_predictions(model, X)
    np.testing.assert_array_equal(last, model.predict(X))
    path = selection_curve(model, X, Y)
    assert path.values is not None
    assert path.values[-1] == HeldOut.of(model, Y).measured(METRICS["rmse"], model.predict(X))


def test_rounds_that_cannot_be() -> None:
    model = fitted(GTGBMRegressor, 4, SIGNAL)
    for rounds in ([5], [2, 1], [-1]):
        with pytest.raises(ValueError, match="rounds="):
            staged_predictions(model, X, rounds)


def test_path_ends_at_the_model_and_names_what_was_owned() -> None:
    model = fitted(GTGBMClassifier, 30, SIGNAL > 0)
    path = selection_curve(model, X, SIGNAL > 0)
    assert path.values is not None
    assert path.metric is METRICS["auc"]
    assert path.values[-1] == METRICS["auc"](SIGNAL > 0, model.predict_proba(X)[:, 1])
    assert path.values[0] == 0.5
    assert (path.rounds[[0, -1]] == [0, 30]).all()
    for one, entry in zip(purchases(model), model.selection_history_, strict=True):
        stage = path.after(one.n_rounds)
        assert path.rounds[stage] == entry.tree + 1
        assert path.loss[stage] == entry.training_loss
        owned = {known.feature for known in model.selection_history_ if known.tree <= entry.tree}
        assert path.n_features[stage] == len(owned)


def test_first_purchases_of_tasks() -> None:
    model = MultitaskGTGBMClassifier(n_estimators=9, random_state=0).fit(X, SIGNAL > 0, task=TASK)
    found = purchases(model)
    assert sorted(one.entry.feature for one in found) == model.selected_features_.tolist()
    turns = [(one.entry.tree, model.tasks_.index(one.task)) for one in found]
    assert turns == sorted(turns)
    for one in found:
        bought = [e for h in model.selection_history_.values() for e in h if e.feature == one.entry.feature]
        assert one.entry.tree == min(entry.tree for entry in bought)
        assert one.entry in model.selection_history_[one.task]


def test_tasks_count_by_their_rows() -> None:
    model = MultitaskGTGBMRegressor(n_estimators=3, random_state=0).fit(X, SIGNAL, task=TASK)
    kept = np.arange(400) < 300
    kept[1::2] &= np.arange(200) < 50
    rows = HeldOut.of(model, SIGNAL[kept], task=TASK[kept])
    wrong = SIGNAL[kept] + np.where(TASK[kept] == "a", 1.0, 2.0)
    assert rows.measured(METRICS["mae"], wrong) == pytest.approx((150 * 1 + 50 * 2) / 200)


def test_bad_rows_are_refused_by_name() -> None:
    model = fitted(GTGBMClassifier, 3, SIGNAL > 0)
    with pytest.raises(ValueError, match="labels that are not classes of the model"):
        selection_curve(model, X, np.full(400, 7))
    with pytest.raises(ValueError, match="metric 'rmsle' is unknown"):
        selection_curve(model, X, SIGNAL > 0, metric="rmsle")
    with pytest.raises(ValueError, match="not for targets of this kind"):
        selection_curve(model, X, SIGNAL > 0, metric="ndcg")
    with pytest.raises(ValueError, match="belong together"):
        selection_curve(model, X)
    with pytest.raises(ValueError, match="y has shape"):
        selection_curve(model, X, np.zeros((400, 2)))
    with pytest.raises(ValueError, match="task is for multitask models"):
        selection_curve(model, X, SIGNAL > 0, task=TASK)
