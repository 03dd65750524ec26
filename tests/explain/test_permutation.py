"""Permutation importance against tables whose columns are permuted."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csc_matrix, csr_array, csr_matrix
from sklearn.inspection import permutation_importance as sklearn_importance
from sklearn.metrics import get_scorer, mean_absolute_error, roc_auc_score

from gtgbm import (
    GTGBMClassifier,
    GTGBMRanker,
    GTGBMRegressor,
    MultitaskGTGBMClassifier,
    MultitaskGTGBMRegressor,
    _core,
)
from gtgbm.exact import F64, I64
from gtgbm.explain import permutation_importance
from gtgbm.metrics import METRICS, metric_of
from gtgbm.tree import PermutedScores

RNG = np.random.default_rng(0)
N = 600
X = RNG.normal(size=(N, 8))
X[RNG.random(X.shape) < 0.1] = np.nan
X[:, 5] = 1.0
SIGNAL = np.nan_to_num(X[:, 0]) + np.nan_to_num(X[:, 1] * X[:, 2])
CLASSES = np.array(["low", "middle", "high"])[np.digitize(SIGNAL, [-1, 1])]
QID = np.arange(N) // 10
TASK = np.array(["a", "b", "c"])[np.arange(N) % 3]
WEIGHT = RNG.integers(0, 4, N).astype(np.float64)


def model_of(estimator: Any, target: Any, **given: Any) -> Any:
    return estimator(n_estimators=15, penalty=0.002, random_state=0).fit(X, target, **given)


@pytest.mark.parametrize(
    ("estimator", "target", "metric", "scoring"),
    [
        (GTGBMClassifier, SIGNAL > 0, None, "neg_log_loss"),
        (GTGBMClassifier, SIGNAL > 0, "auc", "roc_auc"),
        (GTGBMClassifier, SIGNAL > 0, roc_auc_score, "roc_auc"),
        (GTGBMClassifier, SIGNAL > 0, get_scorer("neg_brier_score"), "neg_brier_score"),
        (GTGBMClassifier, CLASSES, None, "neg_log_loss"),
        (GTGBMClassifier, CLASSES, "accuracy", "accuracy"),
        (GTGBMRegressor, SIGNAL, "rmse", "neg_root_mean_squared_error"),
        (GTGBMRegressor, SIGNAL, "r2", "r2"),
        (GTGBMRegressor, SIGNAL, mean_absolute_error, "neg_mean_absolute_error"),
    ],
)
@pytest.mark.parametrize("weight", [None, WEIGHT])
def test_importance_is_scikit_learns(
    estimator: Any, target: Any, metric: Any, scoring: str, weight: F64 | None
) -> None:
    model = model_of(estimator, target)
    found = permutation_importance(
        model, X, target, metric=metric, n_repeats=3, sample_weight=weight, random_state=7
    )
    expected = sklearn_importance(
        model, X, target, scoring=scoring, n_repeats=3, sample_weight=weight, random_state=7
    )
    selected = model.selected_features_
    assert found.features.tolist() == selected.tolist()
    # Rows whose leaf values have the same sum are a tie here; in the model's scores rounding may order them.
    atol = 1e-4 if scoring == "roc_auc" else 1e-12
    np.testing.assert_allclose(found.importances, expected.importances[selected], atol=atol)
    np.testing.assert_allclose(found.importances_mean, expected.importances_mean[selected], atol=atol)
    np.testing.assert_allclose(found.importances_std, expected.importances_std[selected], atol=atol)
    assert not expected.importances[np.setdiff1d(np.arange(8), selected)].any()
    assert found.importances_mean.max() > 0.0
    assert found.task_importances == {}


def test_default_is_the_loss_of_the_model() -> None:
    model = model_of(GTGBMRegressor, SIGNAL)
    found = permutation_importance(model, X, SIGNAL)
    squared = permutation_importance(model, X, SIGNAL, metric="mse")
    np.testing.assert_allclose(found.importances, squared.importances, atol=1e-12)
    assert (found.metric, squared.metric) == ("squared_error", "mse")
    assert found.baseline == pytest.approx(squared.baseline)
    assert found.baseline == pytest.approx(model.evals_result_["training"]["squared_error"][-1])
    classifier = model_of(GTGBMClassifier, SIGNAL > 0)
    assert permutation_importance(classifier, X, SIGNAL > 0, metric="auc").baseline == pytest.approx(
        roc_auc_score(SIGNAL > 0, classifier.predict_proba(X)[:, 1])
    )


def permuted(donor: I64, column: int) -> F64:
    table = X.copy()
    table[:, column] = X[donor, column]
    return table


def donors(n: int, n_repeats: int, seed: int) -> list[I64]:
    """Permutations of scikit-learn: each continues the one before."""
    rng = np.random.RandomState(np.random.RandomState(seed).randint(np.iinfo(np.int32).max + 1))
    order, donor, found = np.arange(n), np.arange(n), []
    for _ in range(n_repeats):
        rng.shuffle(order)
        donor = donor[order]
        found.append(donor)
    return found


@pytest.mark.parametrize("metric", ["ndcg@10", "mrr", None])
def test_rankers_are_measured_by_query(metric: str | None) -> None:
    relevance = np.digitize(SIGNAL, [-1, 1])
    model = model_of(GTGBMRanker, relevance, qid=QID)
    weight = 1.0 + (QID % 3)
    given: dict[str, Any] = {"qid": QID, "n_repeats": 2, "sample_weight": weight}
    found = permutation_importance(model, X, relevance, metric=metric, **given)
    assert found.importances_mean.max() > 0.0
    assert found.features[found.importances_mean.argmax()] in (0, 1, 2)
    if metric is not None:
        compute = metric_of(metric)
        plain = compute(relevance, model.predict(X), weight, QID)
        assert found.baseline == pytest.approx(plain)
        for r, donor in enumerate(donors(N, 2, 0)):
            for f, column in enumerate(model.selected_features_):
                other = compute(relevance, model.predict(permuted(donor, column)), weight, QID)
                assert found.importances[f, r] == pytest.approx(plain - other, abs=1e-12)
    # The model keeps nothing of the rows that it was measured on.
    assert model._fitted_loss._constants == []


@pytest.mark.parametrize("method", ["multitask", "single-task"])
def test_values_are_permuted_within_tasks(method: str) -> None:
    y = SIGNAL > 0
    model = MultitaskGTGBMClassifier(n_estimators=9, method=method, random_state=0).fit(X, y, task=TASK)
    tasks = ["a", "b", "c"]
    for metric in (None, "log_loss"):
        found = permutation_importance(model, X, y, task=TASK, metric=metric, n_repeats=1)
        rng = np.random.RandomState(np.random.RandomState(0).randint(np.iinfo(np.int32).max + 1))
        donor = np.arange(N)
        for name in tasks:
            rows = np.flatnonzero(name == TASK)
            order = np.arange(rows.shape[0])
            rng.shuffle(order)
            donor[rows] = rows[order]
        assert list(found.task_importances) == tasks
        for f, column in enumerate(model.selected_features_):
            plain, other = (
                METRICS["log_loss"](y, p)
                for p in (
                    model.predict_proba(X, task=TASK)[:, 1],
                    model.predict_proba(permuted(donor, column), task=TASK)[:, 1],
                )
            )
            assert found.importances[f, 0] == pytest.approx(other - plain, abs=1e-12)
            mean = np.mean([found.task_importances[name][f, 0] for name in tasks])
            assert mean == pytest.approx(other - plain, abs=1e-12)
    used = model.task_features_
    for name in tasks:
        unused = [f for f, column in enumerate(model.selected_features_) if column not in used[name]]
        assert not found.task_importances[name][unused].any()


@pytest.mark.parametrize("weight", [None, WEIGHT])
def test_tasks_by_column_share_a_permutation(weight: F64 | None) -> None:
    Y = np.column_stack([SIGNAL, np.nan_to_num(X[:, 3]) + RNG.normal(size=N)])
    Y[::3, 1] = np.nan
    model = MultitaskGTGBMRegressor(n_estimators=9, random_state=0).fit(X, Y)
    found = permutation_importance(model, X, Y, n_repeats=2, sample_weight=weight)
    squared = permutation_importance(model, X, Y, n_repeats=2, sample_weight=weight, metric="mse")
    np.testing.assert_allclose(found.importances, squared.importances, atol=1e-12)
    rows = [np.arange(N), np.flatnonzero(~np.isnan(Y[:, 1]))]
    for r, donor in enumerate(donors(N, 2, 0)):
        for f, column in enumerate(model.selected_features_):
            plain, other = model.predict(X), model.predict(permuted(donor, column))
            rises = [
                METRICS["mse"](Y[at, k], other[at, k], None if weight is None else weight[at])
                - METRICS["mse"](Y[at, k], plain[at, k], None if weight is None else weight[at])
                for k, at in enumerate(rows)
            ]
            assert squared.importances[f, r] == pytest.approx(np.mean(rises), abs=1e-12)
            assert [squared.task_importances[k][f, r] for k in (0, 1)] == pytest.approx(rises, abs=1e-12)


def test_a_task_without_weight_has_no_importance() -> None:
    model = MultitaskGTGBMRegressor(n_estimators=5, random_state=0).fit(X, SIGNAL, task=TASK)
    weight = (TASK != "b").astype(np.float64)
    found = permutation_importance(model, X, SIGNAL, task=TASK, sample_weight=weight)
    assert np.isnan(found.task_importances["b"]).all()
    assert np.isfinite(found.importances).all()


@pytest.mark.parametrize("kind", [csr_matrix, csc_matrix, csr_array, np.asfortranarray, np.float32])
def test_any_table_gives_the_same_importance(kind: Any) -> None:
    table = np.where(np.isnan(X), 0.0, np.round(X, 1)).astype(np.float32).astype(np.float64)
    model = GTGBMRegressor(n_estimators=10, random_state=0).fit(table, SIGNAL)
    expected = permutation_importance(model, table, SIGNAL)
    found = permutation_importance(model, kind(table), SIGNAL)
    np.testing.assert_array_equal(found.importances, expected.importances)


@pytest.mark.parametrize("categorical", ["category", "column"])
def test_categories_of_a_dataframe_are_one_feature(categorical: str) -> None:
    town = RNG.choice(np.array(["x", "y", "z", None]), N, p=[0.4, 0.3, 0.2, 0.1])
    frame = pd.DataFrame({"size": X[:, 1], "town": pd.Categorical(town), "noise": X[:, 7]})
    y = 2.0 * (town == "z") - 1.0 * (town == "x") + np.nan_to_num(X[:, 1])
    model = GTGBMRegressor(n_estimators=20, penalty=0.01, categorical=categorical).fit(frame, y)
    found = permutation_importance(model, frame, y, metric="rmse", n_repeats=2, random_state=3)
    assert found.feature_names == ["size", "town"]
    assert found.features.tolist() == [0, 1]
    plain = METRICS["rmse"](y, model.predict(frame))
    for r, donor in enumerate(donors(N, 2, 3)):
        other = frame.assign(town=frame["town"].to_numpy()[donor])
        other["town"] = pd.Categorical(other["town"])
        rise = METRICS["rmse"](y, model.predict(other)) - plain
        assert found.importances[1, r] == pytest.approx(rise, abs=1e-12)
        assert rise > 0.5


def test_columns_without_effect_have_no_importance() -> None:
    model = model_of(GTGBMRegressor, SIGNAL)
    assert 5 not in model.selected_features_
    table = X.copy()
    (column, *_) = model.selected_features_.tolist()
    table[:, column] = 0.25
    found = permutation_importance(model, table, SIGNAL, features=[5, column, 1])
    assert found.features.tolist() == [5, column, 1]
    assert found.feature_names == ["x5", f"x{column}", "x1"]
    assert (found.importances[:2] == 0.0).all()
    assert (found.importances[2] != 0.0).all()


def test_threads_and_passes_do_not_change_bits(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(1)
    table = rng.normal(size=(5_000, 12))
    y = rng.integers(0, 3, 5_000) + (table[:, 0] > 0)
    model = GTGBMClassifier(n_estimators=5, penalty=0.0, search="exhaustive").fit(table, y)
    assert len(model.selected_features_) > 5
    serial = permutation_importance(model.set_params(n_jobs=1), table, y, n_repeats=2)
    parallel = permutation_importance(model.set_params(n_jobs=3), table, y, n_repeats=2)
    np.testing.assert_array_equal(parallel.importances, serial.importances)
    monkeypatch.setattr("gtgbm.tree.forest._CHANGES_PER_PASS", 2 * 4 * 5_000)
    monkeypatch.setattr("gtgbm.tree.forest._ROWS_PER_CALL", 999)
    passes = permutation_importance(model, table, y, n_repeats=2)
    np.testing.assert_array_equal(passes.importances, serial.importances)


def test_scores_without_an_estimator() -> None:
    model = model_of(GTGBMRegressor, SIGNAL)
    forest = model._forests[None]
    donor = np.random.default_rng(0).integers(0, N, N)
    scores = PermutedScores(forest, X, _core.Pool(2))
    columns = [int(model.selected_features_[0]), 5]
    first, unused = scores.of_columns(columns, donor)
    table = permuted(donor, columns[0])
    np.testing.assert_allclose(first[0], model.predict(table), atol=1e-12)
    # Nothing rounds, so rows in the same leaves have the same score.
    np.testing.assert_array_equal(first, forest.without_rounding().scores(table, _core.Pool(1)))
    np.testing.assert_array_equal(unused, scores.plain)


def test_a_model_from_a_file(tmp_path: Any) -> None:
    from gtgbm import load_model

    model = model_of(GTGBMClassifier, SIGNAL > 0)
    model.save_model(tmp_path / "model.json")
    found = permutation_importance(load_model(tmp_path / "model.json"), X, SIGNAL > 0)
    expected = permutation_importance(model, X, SIGNAL > 0)
    np.testing.assert_array_equal(found.importances, expected.importances)


def my_score(y: F64, prediction: F64) -> float:
    return float(np.mean(y == prediction))


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"n_repeats": 0}, "n_repeats=0 must be a whole number of at least 1"),
        ({"n_repeats": 2.5}, "n_repeats=2.5"),
        ({"n_repeats": True}, "n_repeats=True"),
        ({"features": [8]}, "features=.*from 0 to 7"),
        ({"features": [-1]}, "features=.*from 0 to 7"),
        ({"features": [0.5]}, "features=.*from 0 to 7"),
        ({"features": [1, 1]}, "a column twice"),
        ({"metric": "auc"}, "metric='auc' is not for targets of this kind"),
        ({"metric": "nonsense"}, "'nonsense' is unknown"),
        ({"metric": my_score}, "metric 'my_score' does not say"),
        ({"y": SIGNAL[:-1]}, "X has 600 rows, y has 599"),
        ({"y": np.column_stack([SIGNAL, SIGNAL])}, "y has shape"),
        ({"sample_weight": np.ones(3)}, "sample_weight has shape"),
        ({"qid": QID}, "qid is for rankers"),
        ({"task": TASK}, "task is for multitask models"),
    ],
)
def test_wrong_input_is_named(given: dict[str, Any], message: str) -> None:
    model = model_of(GTGBMRegressor, SIGNAL)
    with pytest.raises(ValueError, match=message):
        permutation_importance(model, X, **{"y": SIGNAL} | given)


def test_wrong_models_queries_and_tasks_are_named() -> None:
    model = model_of(GTGBMRegressor, SIGNAL)
    with pytest.raises(TypeError, match="no estimator of gtgbm"):
        permutation_importance(model.compact(), X, SIGNAL)
    with pytest.raises(ValueError, match="not fitted"):
        permutation_importance(GTGBMRegressor(), X, SIGNAL)
    with pytest.raises(TypeError, match="metric has 3"):
        permutation_importance(model, X, SIGNAL, metric=3)
    ranker = model_of(GTGBMRanker, np.digitize(SIGNAL, [-1, 1]), qid=QID)
    with pytest.raises(ValueError, match="qid is missing"):
        permutation_importance(ranker, X, np.digitize(SIGNAL, [-1, 1]))
    with pytest.raises(ValueError, match="differs within query"):
        permutation_importance(ranker, X, np.digitize(SIGNAL, [-1, 1]), qid=QID, sample_weight=1 + WEIGHT)
    tasks = MultitaskGTGBMRegressor(n_estimators=3).fit(X, np.column_stack([SIGNAL, SIGNAL]))
    with pytest.raises(ValueError, match="y has 3 columns: give one for each of 2 tasks"):
        permutation_importance(tasks, X, np.column_stack([SIGNAL] * 3))
