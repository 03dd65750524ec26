"""Models in LightGBM's format predict there what they predict here."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import lightgbm
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from sklearn.exceptions import NotFittedError

from gtgbm import (
    AGBMClassifier,
    GTGBMClassifier,
    GTGBMRanker,
    GTGBMRegressor,
    MultitaskGTGBMClassifier,
    MultitaskGTGBMRanker,
    MultitaskGTGBMRegressor,
    export,
)
from gtgbm.exact.arrays import F64
from gtgbm.export.lightgbm_model import feature_names
from gtgbm.losses import LossFunction
from tests.export.models import Case, cases

RNG = np.random.default_rng(0)
X = RNG.normal(size=(600, 6))
X[RNG.random(X.shape) < 0.1] = np.nan
X[:, 3] = RNG.integers(0, 40, 600)
SIGNAL = np.nan_to_num(X[:, 0]) + np.nan_to_num(X[:, 1] * X[:, 2]) + 2.0 * (X[:, 3] == 33)
SETTINGS: dict[str, Any] = {"n_estimators": 10, "categorical_features": [3], "random_state": 0}
TASK = np.array(["a b", "c"])[np.arange(600) % 2]


@given(cases())
@settings(max_examples=150)
def test_any_trees_have_the_same_scores_bit_for_bit(case: Case) -> None:
    raw = case.estimator.to_lightgbm().predict(case.X, raw_score=True)
    np.testing.assert_array_equal(raw.reshape(case.X.shape[0], -1).T, case.scores)


@pytest.mark.parametrize(
    ("estimator", "y"),
    [
        (GTGBMClassifier(**SETTINGS), SIGNAL > 0),
        (AGBMClassifier(loss="squared_error", **SETTINGS), SIGNAL > 0),
        (GTGBMClassifier(**SETTINGS), np.digitize(SIGNAL, [-1, 1])),
        (GTGBMRegressor(**SETTINGS), SIGNAL),
        (GTGBMRegressor(loss="absolute_error", **SETTINGS), SIGNAL),
        (GTGBMRegressor(loss="huber", **SETTINGS), SIGNAL),
        (GTGBMRegressor(loss="quantile", **SETTINGS), SIGNAL),
        (GTGBMRegressor(loss="poisson", **SETTINGS), np.exp(SIGNAL)),
        (GTGBMRegressor(loss="tweedie", **SETTINGS), np.exp(SIGNAL)),
    ],
)
def test_predictions_of_every_loss(estimator: Any, y: Any) -> None:
    model = estimator.fit(X, y)
    predicted = model.predict_proba(X) if hasattr(model, "classes_") else model.predict(X)
    if predicted.ndim == 2 and predicted.shape[1] == 2:
        predicted = predicted[:, 1]
    found = model.to_lightgbm().predict(X)
    if model.loss == "squared_error":  # there are no scores beyond 0 and 1 among probabilities
        found = np.clip(found, 0.0, 1.0) if hasattr(model, "classes_") else found
    np.testing.assert_allclose(found, predicted, rtol=1e-14)


def test_rankers() -> None:
    model = GTGBMRanker(**SETTINGS).fit(X, np.digitize(SIGNAL, [-1, 1]), qid=np.arange(600) // 10)
    np.testing.assert_array_equal(model.to_lightgbm().predict(X), model.predict(X))


@pytest.mark.parametrize("method", ["multitask", "single-task"])
def test_each_task_is_a_file(method: str, tmp_path: Path) -> None:
    model = MultitaskGTGBMClassifier(n_estimators=8, method=method, random_state=0)
    model.fit(X, np.where(TASK == "c", 1.0, 0.0) < SIGNAL, task=TASK)
    model.export_lightgbm(tmp_path / "model-{task}.txt")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["model-a_b.txt", "model-c.txt"]
    boosters = model.to_lightgbm()
    for task, file in (("a b", "model-a_b.txt"), ("c", "model-c.txt")):
        expected = model.decision_function(X, task=[task] * 600)
        read = lightgbm.Booster(model_file=tmp_path / file)
        for booster in (read, boosters[task], model.to_lightgbm(task=task)):
            np.testing.assert_array_equal(booster.predict(X, raw_score=True), expected)


def test_tasks_with_different_classes_and_rankings(tmp_path: Path) -> None:
    task = np.array(["a", "b"])[np.arange(X.shape[0]) % 2]
    y = np.where(task == "a", np.digitize(SIGNAL, [-1, 1]), SIGNAL > 0)
    model = MultitaskGTGBMClassifier(n_estimators=4, random_state=0).fit(X, y, task=task)
    boosters = model.to_lightgbm()
    scores = model.decision_function(X, np.full(X.shape[0], "a"))
    np.testing.assert_array_equal(boosters["a"].predict(X, raw_score=True), scores)
    np.testing.assert_allclose(
        boosters["a"].predict(X), model.predict_proba(X, ["a"] * X.shape[0]), rtol=1e-12
    )
    of_b = model.decision_function(X, np.full(X.shape[0], "b"))[:, 1]
    np.testing.assert_array_equal(boosters["b"].predict(X, raw_score=True), of_b)
    ranker = MultitaskGTGBMRanker(n_estimators=4, random_state=0)
    ranker.fit(X, np.digitize(SIGNAL, [-1, 1]), task=task, qid=np.arange(X.shape[0]) // 20)
    ranker.export_lightgbm(tmp_path / "{task}.txt")
    for name in "ab":
        found = lightgbm.Booster(model_file=str(tmp_path / f"{name}.txt")).predict(X)
        np.testing.assert_array_equal(found, ranker.predict(X, [name] * X.shape[0]))


def test_tasks_of_numbers_by_column(tmp_path: Path) -> None:
    model = MultitaskGTGBMRegressor(n_estimators=5, random_state=0).fit(X, np.column_stack([SIGNAL, -SIGNAL]))
    by_task = model.to_lightgbm()
    np.testing.assert_array_equal(np.column_stack([by_task[k].predict(X) for k in (0, 1)]), model.predict(X))
    with pytest.raises(ValueError, match=r"2 tasks: put \{task\} into the path"):
        model.export_lightgbm(tmp_path / "model.txt")
    with pytest.raises(ValueError, match="task=7 is not a task of the model"):
        model.export_lightgbm(tmp_path / "model.txt", task=7)
    model.export_lightgbm(tmp_path / "second.txt", task=1)
    read = lightgbm.Booster(model_file=tmp_path / "second.txt")
    np.testing.assert_array_equal(read.predict(X), model.predict(X)[:, 1])


def table() -> pd.DataFrame:
    frame = pd.DataFrame(X[:, :3], columns=["number of visits", 'a "b"', "{c}"])
    frame["town"] = np.array(["Ulm", "Köln", "Zürich", None])[RNG.integers(4, size=600)]
    frame["day"] = pd.Timestamp("2024-01-01") + pd.to_timedelta(np.arange(600), unit="h")
    return frame


@pytest.fixture(scope="module")
def of_frame() -> tuple[Any, pd.DataFrame]:
    frame = table()
    y = (frame["town"] == "Ulm") | (X[:, 0] > 0.5) | frame["town"].isna()
    return GTGBMClassifier(n_estimators=10, penalty=0.0, random_state=0).fit(frame, y), frame


def test_dataframes_by_their_codes(of_frame: tuple[Any, pd.DataFrame]) -> None:
    model, frame = of_frame
    booster = model.to_lightgbm()
    unseen = frame.assign(town="Bern")
    for given_rows in (frame, unseen):
        raw = booster.predict(export.encode_table(model, given_rows), raw_score=True)
        np.testing.assert_array_equal(raw, model.decision_function(given_rows))
    assert booster.feature_name() == ["number_of_visits", "a__b_", "_c_", "town", "day"]


def test_categorical_columns_of_pandas_are_read_by_lightgbm_itself(of_frame: tuple[Any, Any]) -> None:
    model, frame = of_frame
    given_rows = frame.assign(
        town=frame["town"].astype("category"), day=export.encode_table(model, frame)[:, 4]
    )
    raw = model.to_lightgbm().predict(given_rows, raw_score=True)
    np.testing.assert_array_equal(raw, model.decision_function(frame))


def test_leaves_are_numbered_in_the_order_of_nodes() -> None:
    model = GTGBMRegressor(**SETTINGS).fit(X, SIGNAL)
    leaf = model.to_lightgbm().predict(X, pred_leaf=True)
    for tree, at in zip(model.trees_, leaf.T, strict=True):
        assert set(at) == set(range(tree.n_leaves))


@pytest.mark.parametrize("zero", [0.0, -0.0])
def test_thresholds_of_zero_are_not_written(zero: float) -> None:
    """Readers such as lleaves take a threshold of 0 for one that is not there."""
    model = GTGBMRegressor(n_estimators=2, penalty=0.0)
    model.fit(np.array([[-1.0], [0.0], [1.0]] * 50), [0, 1, 5] * 50)
    for tree in model.trees_:
        tree.threshold[0] = zero
    model = pickle.loads(pickle.dumps(model))  # with these thresholds in what predicts, too
    text = export.lightgbm_text(export.plain_model(model))
    written = [line.split("=")[1].split() for line in text.splitlines() if line.startswith("threshold=")]
    assert written
    assert all(float(threshold) != 0.0 for thresholds in written for threshold in thresholds)
    rows = np.array([[-1.0], [-1e-30], [-0.0], [0.0], [1e-30], [1.0]])
    raw = lightgbm.Booster(model_str=text).predict(rows, raw_score=True)
    np.testing.assert_array_equal(raw, model.predict(rows))


def test_names_become_readable_and_stay_distinct() -> None:
    assert feature_names(["a b", "a_b", "a:b", "", "ü"]) == ["a_b", "a_b_", "a_b__", "Column_3", "ü"]


@pytest.mark.parametrize("category", [1.5, -2.0, 2.0**20])
def test_categories_that_lightgbm_cannot_have_are_refused(category: float, tmp_path: Path) -> None:
    numbers = np.where(np.isin(X[:, 3], [1, 2, 3, 33]), category, X[:, 3])[:, None]
    model = AGBMClassifier(n_estimators=3, categorical_features=[0], penalty=0.0)
    model.fit(numbers, numbers[:, 0] == category)
    with pytest.raises(ValueError, match=r"'Column_0' has the category .*; recode the column"):
        model.export_lightgbm(tmp_path / "model.txt")
    assert not list(tmp_path.iterdir())


class Squares(LossFunction):
    """Squared error, whose predictions are rounded."""

    def value(self, y: F64, score: F64) -> F64:
        return np.asarray((y - score) ** 2 / 2)

    def gradient(self, y: F64, score: F64) -> F64:
        return np.asarray(score - y)

    def curvature(self, y: F64, score: F64) -> F64:
        return np.ones_like(y + score)

    def predict(self, score: F64) -> F64:
        return np.rint(score)


def test_losses_that_predict_their_own_way_are_exported_as_scores() -> None:
    model = GTGBMRegressor(loss=Squares(), n_estimators=3, random_state=0).fit(X, SIGNAL)
    with pytest.warns(UserWarning, match="the exported model returns scores"):
        booster = model.to_lightgbm()
    np.testing.assert_array_equal(np.rint(booster.predict(X)), model.predict(X))


def test_what_cannot_be_written_leaves_nothing(tmp_path: Path) -> None:
    model = GTGBMRegressor(**SETTINGS).fit(X, SIGNAL)
    with pytest.raises(FileNotFoundError, match="create it"):
        model.export_lightgbm(tmp_path / "none" / "model.txt")
    with pytest.raises(ValueError, match="leave it out"):
        model.export_lightgbm(tmp_path / "model.txt", task="a")
    with pytest.raises(NotFittedError):
        GTGBMRegressor().export_lightgbm(tmp_path / "model.txt")
    assert not list(tmp_path.iterdir())


def test_the_extra_is_named_where_lightgbm_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "lightgbm", None)
    model = GTGBMRegressor(**SETTINGS).fit(X, SIGNAL)
    with pytest.raises(ImportError, match=r"to_lightgbm needs lightgbm: pip install 'gtgbm\[export\]'"):
        model.to_lightgbm()
