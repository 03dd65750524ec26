"""Leaves, stages and contributions: what estimators predict besides targets."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from scipy.sparse import csr_matrix

from gtgbm import (
    GTGBMClassifier,
    GTGBMRanker,
    GTGBMRegressor,
    MultitaskGTGBMClassifier,
    MultitaskGTGBMRegressor,
)
from tests.export.models import Case, cases

RNG = np.random.default_rng(0)
X = RNG.normal(size=(300, 6))
X[:, 3] = RNG.integers(0, 5, 300)
SIGNAL = X[:, 0] + X[:, 1] * X[:, 2] + 2.0 * (X[:, 3] == 3)
CLASSES = np.digitize(SIGNAL, [-1, 1])
TASK = np.array(["a", "b"])[np.arange(300) % 2]
SETTINGS: dict[str, Any] = {"n_estimators": 8, "categorical_features": [3], "random_state": 0}

SINGLE = [
    (GTGBMClassifier, SIGNAL > 0, {}),
    (GTGBMClassifier, CLASSES, {}),
    (GTGBMRegressor, SIGNAL, {}),
    (GTGBMRanker, CLASSES, {"qid": np.arange(300) // 10}),
]


def fitted(estimator: Any, y: Any, given_rows: dict[str, Any], **settings: Any) -> Any:
    return estimator(**SETTINGS | settings).fit(X, y, **given_rows)


@pytest.mark.parametrize(("estimator", "y", "rows"), SINGLE)
def test_stages_are_the_models_that_were_stopped_there(estimator: Any, y: Any, rows: Any) -> None:
    model, shorter = fitted(estimator, y, rows), fitted(estimator, y, rows, n_estimators=5)
    for method in ("predict", "predict_proba", "decision_function"):
        if not hasattr(model, method):
            continue
        stages = list(getattr(model, f"staged_{method}")(X))
        assert len(stages) == 8
        np.testing.assert_array_equal(stages[-1], getattr(model, method)(X))
        for short in (stages[4], getattr(model, method)(X, n_rounds=5)):
            np.testing.assert_array_equal(short, getattr(shorter, method)(X))


@pytest.mark.parametrize("method", ["multitask", "single-task"])
def test_stages_of_tasks(method: str) -> None:
    model = MultitaskGTGBMClassifier(n_estimators=6, method=method, random_state=0)
    model.fit(X, SIGNAL > 0, task=TASK)
    for name in ("predict", "predict_proba", "decision_function"):
        stages = list(getattr(model, f"staged_{name}")(X, task=TASK))
        assert len(stages) == 6
        np.testing.assert_array_equal(stages[-1], getattr(model, name)(X, task=TASK))
        np.testing.assert_array_equal(stages[2], getattr(model, name)(X, task=TASK, n_rounds=3))


def test_tasks_by_column_that_stop_early() -> None:
    Y = np.column_stack([SIGNAL, RNG.normal(size=300)])
    model = MultitaskGTGBMRegressor(n_estimators=40, early_stopping_rounds=2, random_state=0).fit(X, Y)
    assert len(set(model.n_iter_.values())) == 2
    stages = list(model.staged_predict(X))
    assert len(stages) == max(model.n_iter_.values())
    np.testing.assert_array_equal(stages[-1], model.predict(X))
    leaves = model.apply(X)
    assert leaves.shape == (300, 2, len(stages))
    for k, trees in enumerate(model.trees_.values()):
        assert (leaves[:, k, len(trees) :] == -1).all()
        assert (leaves[:, k, : len(trees)] >= 0).all()
    contributions = model.predict_contributions(X)
    assert contributions.shape == (300, 2, 7)
    np.testing.assert_allclose(contributions.sum(axis=2), model.predict(X), rtol=1e-12)


@pytest.mark.parametrize("wrong", [9, -1, 2.5])
def test_rounds_that_cannot_be(wrong: Any) -> None:
    model = fitted(GTGBMRegressor, SIGNAL, {})
    with pytest.raises(ValueError, match=r"n_rounds=.*: the model has 8 rounds"):
        model.predict(X, n_rounds=wrong)


@pytest.mark.parametrize(("estimator", "y", "rows"), SINGLE)
def test_values_of_leaves_add_up_to_scores(estimator: Any, y: Any, rows: Any) -> None:
    model = fitted(estimator, y, rows)
    leaves, scores = model.apply(X), np.tile(model._models[None].start[:, None], 300)
    assert leaves.shape == (300, len(model.trees_))
    for k, tree in enumerate(model.trees_):
        assert (tree.feature[leaves[:, k]] == -1).all()
        scores[model._models[None].outputs[k]] += tree.value[leaves[:, k]]
    np.testing.assert_array_equal(scores, model._scores(X))


@given(cases())
def test_contributions_are_those_of_lightgbm(case: Case) -> None:
    found = case.estimator.predict_contributions(case.X)
    expected = case.estimator.to_lightgbm().predict(case.X, pred_contrib=True)
    np.testing.assert_allclose(found.reshape(expected.shape), expected, rtol=0, atol=1e-9)
    np.testing.assert_allclose(
        found.sum(axis=-1).reshape(case.X.shape[0], -1).T, case.scores, rtol=0, atol=1e-12
    )


@pytest.mark.parametrize("method", ["multitask", "single-task"])
def test_contributions_of_tasks_are_those_of_their_exports(method: str) -> None:
    model = MultitaskGTGBMClassifier(n_estimators=6, method=method, random_state=0)
    model.fit(X, np.where(TASK == "a", 0.5, 0.0) < SIGNAL, task=TASK)
    found = model.predict_contributions(X, task=TASK)
    assert found.shape == (300, 7)
    np.testing.assert_allclose(found.sum(axis=1), model.decision_function(X, task=TASK), atol=1e-12)
    for task, booster in model.to_lightgbm().items():
        at = task == TASK
        np.testing.assert_allclose(found[at], booster.predict(X[at], pred_contrib=True), rtol=0, atol=1e-9)


def test_contributions_of_wide_tables() -> None:
    model = fitted(GTGBMClassifier, CLASSES, {}, n_features_to_select=3)
    every, few = model.predict_contributions(X), model.predict_contributions(X, selected_only=True)
    assert every.shape == (300, 3, 7)
    kept = [*model.selected_features_, 6]
    np.testing.assert_array_equal(few, every[:, :, kept])
    assert not np.delete(every, kept, axis=2).any()
    sparse = model.predict_contributions(csr_matrix(X), selected_only=True)
    np.testing.assert_array_equal(sparse, few)


def test_contributions_of_dataframes_after_pickling() -> None:
    frame = pd.DataFrame({"size": X[:, 0], "town": np.array(["Ulm", "Bonn", "Graz"])[np.arange(300) % 3]})
    model = GTGBMRegressor(n_estimators=8, random_state=0).fit(frame, X[:, 0] + (frame["town"] == "Ulm"))
    found = model.predict_contributions(frame)
    assert np.abs(found[:, 1]).min() > 0.0, "all categories are summed to their column"
    np.testing.assert_allclose(found.sum(axis=1), model.predict(frame), rtol=1e-12)
    copy = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(copy.predict_contributions(frame), found)
    model.fit(frame, X[:, 0])
    assert not np.array_equal(model.predict_contributions(frame), found), "those of the last fit"


@pytest.mark.parametrize(("estimator", "y", "rows"), SINGLE)
def test_contributions_against_a_background_add_up(estimator: Any, y: Any, rows: Any) -> None:
    model = fitted(estimator, y, rows)
    background = X[:20]
    found = model.predict_contributions(X[20:60], background=background)
    np.testing.assert_allclose(found[..., -1].reshape(40, -1)[0], model._scores(background).mean(axis=1))
    np.testing.assert_allclose(
        found.sum(axis=-1).reshape(40, -1).T, model._scores(X[20:60]), rtol=0, atol=1e-12
    )
    unused = np.setdiff1d(np.arange(6), model.selected_features_)
    assert not found[..., unused].any()
    # A row against itself has nothing to explain.
    assert not np.abs(model.predict_contributions(X[:1], background=X[:1])[..., :-1]).max() > 0.0


def test_contributions_of_tasks_against_a_background() -> None:
    model = MultitaskGTGBMClassifier(n_estimators=4, method="single-task", random_state=0)
    model.fit(X, np.where(TASK == "a", 0.5, 0.0) < SIGNAL, task=TASK)
    found = model.predict_contributions(X, task=TASK, background=csr_matrix(X[:15]), selected_only=True)
    np.testing.assert_allclose(found.sum(axis=1), model.decision_function(X, task=TASK), atol=1e-12)
    for task in ("a", "b"):
        mean = model.decision_function(X[:15], task=[task] * 15).mean()
        np.testing.assert_allclose(found[task == TASK, -1], mean)


@pytest.mark.parametrize(("estimator", "y", "rows"), SINGLE)
def test_interactions_are_symmetric_and_add_up_to_contributions(estimator: Any, y: Any, rows: Any) -> None:
    model = fitted(estimator, y, rows)
    found = model.predict_contributions(X[:40], interactions=True)
    contributions = model.predict_contributions(X[:40])
    assert found.shape == (*contributions.shape, 7)
    np.testing.assert_array_equal(found, np.swapaxes(found, -1, -2))
    np.testing.assert_allclose(found.sum(axis=-1), contributions, rtol=0, atol=1e-12)
    np.testing.assert_array_equal(found[..., 6, 6], contributions[..., 6])
    few = model.predict_contributions(csr_matrix(X[:40]), interactions=True, selected_only=True)
    kept = [*model.selected_features_, 6]
    np.testing.assert_array_equal(few, found[..., kept, :][..., kept])


def test_interactions_of_tasks_and_of_columns_that_only_add_up() -> None:
    tasks = MultitaskGTGBMRegressor(n_estimators=4, method="single-task", random_state=0)
    tasks.fit(X, SIGNAL + (TASK == "a"), task=TASK)
    found = tasks.predict_contributions(X, task=TASK, interactions=True)
    np.testing.assert_allclose(found.sum(axis=2), tasks.predict_contributions(X, task=TASK), atol=1e-12)
    stumps = GTGBMRegressor(n_estimators=20, max_depth=1, random_state=0).fit(X, SIGNAL)
    assert stumps.n_selected_features_ > 1
    found = stumps.predict_contributions(X, interactions=True)
    assert not found[:, ~np.eye(7, dtype=bool)].any(), "trees of one split have no interactions"
    with pytest.raises(ValueError, match="leave background out"):
        stumps.predict_contributions(X, interactions=True, background=X[:5])


def test_interactions_that_no_memory_holds_name_the_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    def no_memory(shape: Any) -> Any:
        raise MemoryError(f"Unable to allocate {shape}")

    model = fitted(GTGBMRegressor, SIGNAL, {})
    monkeypatch.setattr(np, "empty", no_memory)
    with pytest.raises(MemoryError, match="selected_only=True, or fewer rows at a time"):
        model.predict_contributions(X, interactions=True)


def test_tasks_are_for_multitask_models() -> None:
    model = fitted(GTGBMRegressor, SIGNAL, {})
    for method in (model.apply, model.predict_contributions, model.staged_predict):
        with pytest.raises(ValueError, match="task is for multitask models"):
            method(X, task=TASK)
