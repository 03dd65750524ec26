"""Functions of users cannot change the arrays of a fit."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gtgbm import GTGBMClassifier, GTGBMRegressor, MultitaskGTGBMRegressor
from gtgbm.exact.arrays import F64
from gtgbm.losses import check_loss
from gtgbm.metrics import Metric

RNG = np.random.default_rng(0)
X = RNG.normal(size=(300, 5))
Y = X[:, 0] + X[:, 1] ** 2


class Squares:
    """A squared error one of whose methods may write."""

    def __init__(self, verb: str = "") -> None:
        self.verb = verb

    def __repr__(self) -> str:
        return "Squares()"

    def _off(self, verb: str, y: F64, score: F64) -> F64:
        if verb == self.verb:
            score -= y
            return score
        return score - y

    def value(self, y: F64, score: F64) -> F64:
        return self._off("value", y, score) ** 2 / 2.0

    def gradient(self, y: F64, score: F64) -> F64:
        return self._off("gradient", y, score)

    def curvature(self, y: F64, score: F64) -> F64:
        return np.ones_like(self._off("curvature", y, score))

    def predict(self, score: F64) -> F64:
        if self.verb == "predict":
            score += 1.0
        return score

    def start(self, y: F64, averages: Any) -> float:
        if self.verb == "start":
            y.sort()
        return float(averages.mean(y))

    def check_target(self, y: F64, name: str) -> None:
        del name
        if self.verb == "check_target":
            y[0] = 3.0


@pytest.mark.parametrize("verb", ["value", "gradient", "curvature", "predict", "start", "check_target"])
@pytest.mark.parametrize("method", [GTGBMRegressor, MultitaskGTGBMRegressor])
def test_a_loss_that_writes_is_named(verb: str, method: Any) -> None:
    y = Y.copy()
    given: Any = {"task": np.arange(300) % 2} if method is MultitaskGTGBMRegressor else {}
    model = method(n_estimators=3, loss=Squares(verb), random_state=0)
    with pytest.raises(ValueError, match=rf"Squares\(\)\.{verb} writes .* copy the array first"):
        model.fit(X, y, **given).predict(X, **given)
    assert y.tobytes() == Y.tobytes()
    method(n_estimators=3, loss=Squares(), random_state=0).fit(X, y, **given)
    if verb in ("value", "gradient", "curvature"):
        with pytest.raises(ValueError, match="copy the array first"):
            check_loss(Squares(verb), y, np.zeros(300))


def wrong_loss(y: F64, prediction: F64) -> float:
    prediction -= y
    return float((prediction**2).mean())


def scaled(y: F64, prediction: F64, weight: F64, queries: Any) -> float:
    del queries, prediction
    y *= weight
    return float(y.mean())


@pytest.mark.parametrize("metric", [wrong_loss, Metric("scaled", scaled, False)])
def test_a_metric_that_writes_is_named(metric: Any) -> None:
    y = Y.copy()
    name = getattr(metric, "__name__", "scaled")
    with pytest.raises(ValueError, match=f"eval_metric '{name}' writes [^:]*: copy the array first$"):
        GTGBMRegressor(n_estimators=3, eval_metric=metric).fit(X, y, eval_set=(X, y))
    assert y.tobytes() == Y.tobytes()


def test_what_a_loss_returned_may_be_used_again() -> None:
    class Reusing(Squares):
        buffer = np.empty(300)

        def gradient(self, y: F64, score: F64) -> F64:
            return np.subtract(score, y, out=self.buffer[: y.shape[0]])

        def curvature(self, y: F64, score: F64) -> F64:
            del score
            self.buffer[: y.shape[0]] = 1.0
            return self.buffer[: y.shape[0]]

    settings: Any = {"n_estimators": 5, "random_state": 0}
    one = GTGBMRegressor(loss=Reusing(), **settings).fit(X, Y, eval_set=(X[:50], Y[:50]))
    other = GTGBMRegressor(loss=Squares(), **settings).fit(X, Y)
    assert one.predict(X).tobytes() == other.predict(X).tobytes()


def test_other_errors_stay_what_they_are() -> None:
    def failing(y: F64, prediction: F64) -> float:
        del y, prediction
        raise ValueError("no such luck")

    with pytest.raises(ValueError, match=r"^no such luck$"):
        GTGBMClassifier(n_estimators=3, eval_metric=failing).fit(X, Y > 0, eval_set=(X, Y > 0))
