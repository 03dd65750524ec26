"""What models of one task do, models of several tasks do as well: losses, weights, eval sets, compact()."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from gtgbm import (
    GTGBMClassifier,
    GTGBMRanker,
    MultitaskGTGBMClassifier,
    MultitaskGTGBMRegressor,
    load_model,
)
from gtgbm.exact.arrays import F64
from gtgbm.losses import LossFunction, Quantile, RankingLoss

METHODS = ("multitask", "group-sparse", "independent", "single-task")
SMALL: dict[str, Any] = {"n_estimators": 8, "random_state": 0, "min_node_fraction": 0.05}


def tables(n: int = 600) -> tuple[F64, F64, Any]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 10))
    task = np.array(["a", "b", "c"])[np.arange(n) % 3]
    y = X[:, 6] + np.where(task == "b", X[:, 2], 0.5 * X[:, 1]) + 0.1 * rng.normal(size=n)
    return X, y, task


class MyLogistic(LossFunction):
    """The logistic loss, as a user writes it."""

    def value(self, y: F64, score: F64) -> F64:
        return np.logaddexp(0.0, score) - y * score

    def gradient(self, y: F64, score: F64) -> F64:
        return 1.0 / (1.0 + np.exp(-score)) - y

    def curvature(self, y: F64, score: F64) -> F64:
        del y
        p = 1.0 / (1.0 + np.exp(-score))
        return np.asarray(p * (1.0 - p))


def test_a_users_loss_gives_probabilities() -> None:
    X, y, task = tables()
    own = MultitaskGTGBMClassifier(loss=MyLogistic(), **SMALL).fit(X, y > 0, task)
    ours = MultitaskGTGBMClassifier(**SMALL).fit(X, y > 0, task)
    np.testing.assert_allclose(own.predict_proba(X, task), ours.predict_proba(X, task), atol=0.02)


def test_losses_of_regressors_are_refused_by_both() -> None:
    X, y, task = tables()
    for fit in (
        lambda: GTGBMClassifier(loss=Quantile(), **SMALL).fit(X, y > 0),
        lambda: MultitaskGTGBMClassifier(loss=Quantile(), **SMALL).fit(X, y > 0, task),
    ):
        with pytest.raises(ValueError, match="is for regressors: use 'log_loss'"):
            fit()


def test_rows_without_weight_are_no_rows() -> None:
    X, y, task = tables()
    weight = np.where(np.arange(600) % 5 == 0, 0.0, 1.5)
    X[weight == 0.0] = 1e6
    weighted = MultitaskGTGBMRegressor(**SMALL).fit(X, y, task, sample_weight=weight)
    kept = weight > 0.0
    without = MultitaskGTGBMRegressor(**SMALL).fit(X[kept], y[kept], task[kept], sample_weight=weight[kept])
    np.testing.assert_array_equal(weighted.predict(X, task), without.predict(X, task))


def test_a_class_without_weight_is_named() -> None:
    X, y, task = tables()
    weight = np.where((task == "b") & (y > 0), 0.0, 1.0)
    with pytest.raises(ValueError, match="task 'b' has only one class"):
        MultitaskGTGBMClassifier(**SMALL).fit(X, y > 0, task, sample_weight=weight)


def test_eval_sets_are_followed_by_every_method() -> None:
    X, y, task = tables()
    for method in METHODS:
        model = MultitaskGTGBMRegressor(
            method=method, early_stopping_rounds=3, **SMALL | {"n_estimators": 50}
        )
        model.fit(X[:400], y[:400], task[:400], eval_set=(X[400:], y[400:]), eval_task=task[400:])
        for name in model.tasks_:
            values = model.evals_result_[name]["validation_0"]["squared_error"]
            best = model.best_iteration_[name]
            assert best == int(np.argmin(values)) + 1
            assert model.n_iter_[name] == best


def test_weights_of_the_eval_set_count() -> None:
    X, y, task = tables()
    data = {"eval_set": (X[400:], y[400:]), "eval_task": task[400:]}
    plain = MultitaskGTGBMRegressor(**SMALL).fit(X[:400], y[:400], task[:400], **data)
    weight = np.linspace(0.1, 3.0, 200)
    weighted = MultitaskGTGBMRegressor(**SMALL).fit(
        X[:400], y[:400], task[:400], **data, eval_sample_weight=weight
    )
    at = task[400:] == "b"
    error = (weighted.predict(X[400:], task[400:]) - y[400:]) ** 2
    last = weighted.evals_result_["b"]["validation_0"]["squared_error"][-1]
    assert last == pytest.approx(np.average(error[at], weights=weight[at]), rel=1e-9)
    assert last != plain.evals_result_["b"]["validation_0"]["squared_error"][-1]


@pytest.mark.parametrize("method", METHODS)
def test_compact_models_predict_the_same_bits(method: str, tmp_path: Any) -> None:
    X, y, task = tables()
    regressor = MultitaskGTGBMRegressor(method=method, **SMALL).fit(X, y, task)
    classifier = MultitaskGTGBMClassifier(method=method, **SMALL).fit(X, np.where(y > 0, "yes", "no"), task)
    regressor.save_model(tmp_path / "model.json")
    for one in (regressor, load_model(tmp_path / "model.json")):
        compact = pickle.loads(pickle.dumps(one.compact()))
        rows = X[:, compact.features_]
        assert compact.n_features_in_ == len(regressor.selected_features_) < 10
        np.testing.assert_array_equal(compact.predict(rows, task), regressor.predict(X, task))
        assert compact.predict(rows[4], task="b") == regressor.predict(X[4:5], ["b"])[0]
    small = classifier.compact()
    rows = X[:, small.features_]
    for name in ("predict", "predict_proba", "decision_function"):
        expected = getattr(classifier, name)(X, task)
        np.testing.assert_array_equal(getattr(small, name)(rows, task), expected)
        np.testing.assert_array_equal(getattr(small, name)(rows[7], task=task[7]), expected[7])
    np.testing.assert_array_equal(
        small.predict_proba(sparse.csr_matrix(rows), task), classifier.predict_proba(X, task)
    )


def test_compact_models_of_targets_by_column() -> None:
    X, y, _ = tables()
    Y = np.column_stack([y, X[:, 3] - y])
    model = MultitaskGTGBMRegressor(**SMALL).fit(pd.DataFrame(X).add_prefix("x"), Y)
    compact = model.compact()
    frame = pd.DataFrame(X).add_prefix("x")[compact.feature_names_]
    np.testing.assert_array_equal(compact.predict(frame), model.predict(pd.DataFrame(X).add_prefix("x")))
    assert compact.predict(X[0, compact.features_]).shape == (2,)
    with pytest.raises(ValueError, match="task has \\['c'\\], which are not tasks of the training rows"):
        compact.predict(frame, task=["c"] * 600)


def test_a_fitted_model_keeps_no_training_targets() -> None:
    """Losses of rankings know much of the rows they were trained on; fitted models shall not."""
    X, y, _ = tables()
    ranker = GTGBMRanker(**SMALL).fit(X, np.digitize(y, [0.0, 1.0]), qid=np.arange(600) // 6)
    for loss in (ranker._fitted_loss, ranker.compact()._loss):
        assert isinstance(loss, RankingLoss)
        assert not loss._constants
