"""What people trip over the first time: each of these once went wrong."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gtgbm import AGBMClassifier, AGBMRegressor, Callback, GTGBMRanker, losses
from gtgbm.exact.arrays import F64, I64
from tests.strategies import selects_few


def data(seed: int = 0) -> tuple[F64, I64]:
    X = np.random.default_rng(seed).normal(size=(600, 6))
    noise = np.random.default_rng(seed + 100).normal(size=600)
    return X, (X[:, 0] + 0.5 * X[:, 1] + noise > 0).astype(np.int64)


class ByHand:
    """The logistic loss, without `predict`."""

    def value(self, y: F64, score: F64) -> F64:
        return np.logaddexp(0.0, score) - y * score

    def gradient(self, y: F64, score: F64) -> F64:
        return np.asarray(1.0 / (1.0 + np.exp(-score)) - y)

    def curvature(self, y: F64, score: F64) -> F64:
        p = 1.0 / (1.0 + np.exp(-score)) + 0.0 * y
        return np.asarray(p * (1.0 - p))


def test_a_metric_of_the_losss_name_is_followed_once() -> None:
    (X, y), held_out = data(), data(1)
    settings: dict[str, Any] = {"early_stopping_rounds": 5, "learning_rate": 0.3}
    plain = AGBMClassifier(**settings).fit(X, y, eval_set=held_out)
    named = AGBMClassifier(eval_metric="log_loss", **settings).fit(X, y, eval_set=held_out)
    assert named.n_iter_ == plain.n_iter_ == named.best_iteration_
    (values,) = named.evals_result_["validation_0"].values()
    np.testing.assert_allclose(values, plain.evals_result_["validation_0"]["log_loss"])


def test_scores_of_a_loss_of_ones_own_are_log_odds() -> None:
    X, y = data()
    own = AGBMClassifier(loss=ByHand(), n_estimators=5).fit(X, y)
    known = AGBMClassifier(n_estimators=5).fit(X, y)
    np.testing.assert_allclose(own.predict_proba(X), known.predict_proba(X), atol=1e-6)
    with pytest.raises(ValueError, match="regressors"):
        AGBMClassifier(loss=losses.Quantile(0.5)).fit(X, y)


@pytest.mark.parametrize(
    "changed",
    [
        {"loss": "squared_error"},
        {"monotone_constraints": [1, 0, 0, 0, 0, 0]},
        {"categorical_features": [5]},
        {"n_features_to_select": 1},
    ],
)
def test_what_cannot_change_when_going_on(changed: dict[str, Any]) -> None:
    X, y = data()
    model = AGBMClassifier(n_estimators=5, warm_start=True).fit(np.round(X), y)
    with pytest.raises(ValueError, match=next(iter(changed))):
        model.set_params(n_estimators=10, **changed).fit(np.round(X), y)


def test_going_on_holds_out_the_same_rows() -> None:
    """Rows that trees have seen say nothing about them."""
    X, y = data()
    model = AGBMClassifier(
        n_estimators=10, warm_start=True, early_stopping_rounds=50, validation_fraction=0.3
    )
    model.fit(X, y)
    model.set_params(n_estimators=40).fit(X, y)
    values = model.evals_result_["validation_0"]["log_loss"]
    fall = -np.diff(values)
    assert fall[9] < 3 * max(abs(fall[8]), 0.01)


@selects_few
def test_ties_are_no_merit() -> None:
    """A model without a split ranks nothing, in whatever order the rows stand."""
    rng = np.random.default_rng(0)
    X, qid, relevance = rng.normal(size=(300, 3)), np.repeat(np.arange(30), 10), rng.integers(0, 3, 300)
    model = GTGBMRanker(penalty=0.9, n_estimators=3).fit(X, relevance, qid=qid)
    assert model.n_selected_features_ == 0
    best_first = np.lexsort((-relevance, qid))
    scores = [model.score(X[at], relevance[at], qid[at]) for at in (best_first, best_first[::-1])]
    assert scores[0] == pytest.approx(scores[1])
    assert scores[0] < 0.9


def test_a_class_is_no_callback() -> None:
    class Mine(Callback):
        pass

    X, y = data()
    with pytest.raises(TypeError, match=r"Mine\(\)"):
        AGBMRegressor(n_estimators=2).fit(X, y, callbacks=[Mine])  # type: ignore[list-item]


def test_a_metric_that_is_never_a_number_is_told_of() -> None:
    X, y = data()
    model = AGBMClassifier(n_estimators=4, eval_metric="auc", early_stopping_rounds=2)
    with pytest.warns(UserWarning, match="auc was NaN"):
        model.fit(X, y, eval_set=(X[y == 0], y[y == 0]))
    assert model.n_iter_ == 4


def test_metrics_must_return_numbers() -> None:
    def nothing(y: F64, prediction: F64) -> None:
        del y, prediction

    X, y = data()
    with pytest.raises(TypeError, match="eval_metric 'nothing' returned None"):
        AGBMClassifier(eval_metric=nothing, n_estimators=2).fit(X, y, eval_set=(X, y))
