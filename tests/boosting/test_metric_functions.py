"""Metrics of other libraries: which way is better, and what they are given."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest
from sklearn import metrics

from gtgbm import GTGBMClassifier, GTGBMRegressor
from gtgbm.exact.arrays import F64
from gtgbm.metrics import metric_of
from gtgbm.parameters import PARAMETERS, Context

RNG = np.random.default_rng(0)
X = RNG.normal(size=(600, 6))
Y = X[:, 0] + X[:, 1] ** 2 + RNG.normal(size=600)
WEIGHT = RNG.random(300)
CLASSES = np.digitize(Y, [0.0, 2.0])


def followed(metric: Any, y: Any, method: Any = GTGBMClassifier, **given: Any) -> tuple[Any, list[float]]:
    model = method(n_estimators=12, random_state=0, eval_metric=metric)
    model.fit(X[:300], y[:300], eval_set=(X[300:], y[300:]), **given)
    return model, list(model.evals_result_["validation_0"].values())[-1]


@pytest.mark.parametrize(
    ("metric", "is_greater"),
    [
        (metrics.roc_auc_score, True),
        (metrics.average_precision_score, True),
        (metrics.accuracy_score, True),
        (metrics.f1_score, True),
        (metrics.matthews_corrcoef, True),
        (metrics.log_loss, False),
        (metrics.brier_score_loss, False),
        (metrics.zero_one_loss, False),
        (metrics.get_scorer("roc_auc"), True),
        (metrics.get_scorer("neg_log_loss"), True),
        (metrics.make_scorer(metrics.fbeta_score, beta=2.0), True),
        (partial(metrics.roc_auc_score, max_fpr=0.5), True),
        ("roc_auc", True),
        ("neg_log_loss", True),
        ("logloss", False),
        ("binary_logloss", False),
    ],
)
def test_which_way_is_better_is_known(metric: Any, is_greater: bool) -> None:
    (found,) = PARAMETERS["eval_metric"].check(metric, Context(target="binary"))
    assert found.greater_is_better is is_greater
    model, values = followed(metric, Y > 1.0)
    assert model.best_iteration_ == 1 + int(np.argmax(values) if is_greater else np.argmin(values))


def test_values_are_those_of_the_function() -> None:
    is_high = Y > 1.0
    model, values = followed(metrics.roc_auc_score, is_high, eval_sample_weight=WEIGHT)
    p = model.predict_proba(X[300:])[:, 1]
    assert values[-1] == pytest.approx(metrics.roc_auc_score(is_high[300:], p, sample_weight=WEIGHT))
    model, values = followed(metrics.get_scorer("f1"), is_high)
    assert values[-1] == pytest.approx(metrics.f1_score(is_high[300:], model.predict(X[300:])))
    model, values = followed(metrics.get_scorer("roc_auc_ovr"), CLASSES)
    p = model.predict_proba(X[300:])
    assert values[-1] == pytest.approx(metrics.roc_auc_score(CLASSES[300:], p, multi_class="ovr"))
    for scorer in ("neg_mean_squared_error", "r2", "neg_mean_absolute_error", "neg_root_mean_squared_error"):
        model, values = followed(scorer, Y, GTGBMRegressor)
        assert list(model.evals_result_["validation_0"])[-1] == scorer
        assert values[-1] == pytest.approx(metrics.get_scorer(scorer)(model, X[300:], Y[300:]))
        same = followed(metrics.get_scorer(scorer), Y, GTGBMRegressor)[1]
        np.testing.assert_allclose(same, values)


def my_score(y: F64, prediction: F64) -> float:
    return float(np.mean((y > 0.5) == (prediction > 0.5)))


def test_a_score_has_to_say_which_way_is_better() -> None:
    with pytest.raises(ValueError, match=r"my_score\.greater_is_better = True, or False"):
        followed(my_score, Y > 1.0)
    for is_greater in (False, True):
        said = partial(my_score)
        said.greater_is_better = is_greater  # type: ignore[attr-defined]
        model, values = followed(said, Y > 1.0)
        assert model.best_iteration_ == 1 + int(np.argmax(values) if is_greater else np.argmin(values))


def test_names_that_are_unknown_say_what_to_do() -> None:
    for name in ("f1", "neg_f1", "roc_auc@3", "neg_ndcg@3"):
        with pytest.raises(ValueError, match=f"'{name}' is unknown: give one of auc.* objects of get_scorer"):
            metric_of(name)
