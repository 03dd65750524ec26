"""Intervals, ties, associations and partial dependence."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from gtgbm import GTGBMClassifier, GTGBMRegressor
from gtgbm.estimators import HeldOut
from gtgbm.explain import associations, bootstrap_interval, partial_dependence
from gtgbm.metrics import METRICS

RNG = np.random.default_rng(0)
X = RNG.normal(size=(400, 6))
Y = X[:, 0] + X[:, 1] * X[:, 2]


def test_interval_is_that_of_the_formula() -> None:
    hit = np.random.default_rng(1).random(2000) < 0.8
    rows = HeldOut(hit.astype(np.float64), "binary", None, {})
    low, high = bootstrap_interval(rows, METRICS["accuracy"], np.ones(2000))
    half = 1.96 * np.sqrt(hit.mean() * (1 - hit.mean()) / 2000)
    assert low == pytest.approx(hit.mean() - half, abs=0.004)
    assert high == pytest.approx(hit.mean() + half, abs=0.004)


def test_interval_holds_the_metric_and_few_rows_have_none() -> None:
    model = GTGBMClassifier(n_estimators=5).fit(X, Y > 0)
    rows, p = HeldOut.of(model, Y > 0), model.predict_proba(X)[:, 1]
    low, high = bootstrap_interval(rows, METRICS["auc"], p)
    assert low < rows.measured(METRICS["auc"], p) < high
    few = HeldOut.of(model, Y[:10] > 0)
    assert np.isnan(bootstrap_interval(few, METRICS["auc"], p[:10])).all()


def test_codes_of_categories_have_no_order() -> None:
    codes = RNG.integers(0, 5, 3000).astype(np.float64)
    effect = np.array([0.0, 3.0, -1.0, 2.0, 0.5])
    number = effect[codes.astype(int)] + RNG.normal(size=3000)
    other = np.where(RNG.random(3000) < 0.9, (codes * 2) % 5, RNG.integers(0, 5, 3000))
    unrelated = RNG.integers(0, 40, 3000).astype(np.float64)
    table = np.column_stack([codes, number, other, unrelated])
    kinds = np.array([True, False, True, True])
    found = associations(table, table, kinds, kinds)
    np.testing.assert_allclose(found, found.T)
    assert found[0, 1] == pytest.approx(np.sqrt(np.var(effect[codes.astype(int)]) / np.var(number)), abs=0.02)
    assert found[0, 2] > 0.85
    assert found[0, 0] == pytest.approx(1.0)
    assert found[3, :3].max() < 0.1
    renamed = np.array([4.0, 2.0, 0.0, 3.0, 1.0])[codes.astype(int)]
    again = associations(np.column_stack([renamed, table[:, 1:]]), table, kinds, kinds)
    np.testing.assert_allclose(again, found)


def test_constant_and_missing_categories() -> None:
    table = np.column_stack([np.zeros(50), np.full(50, np.nan), np.arange(50.0)])
    kinds = np.array([True, True, False])
    found = associations(table, table, kinds, kinds)
    assert np.isnan(found[:2]).all()
    missing = np.where(np.arange(50) < 25, np.nan, 1.0)[:, None]
    first = (np.arange(50.0) < 25)[:, None].astype(np.float64)
    assert associations(missing, first, kinds[:1], kinds[2:])[0, 0] == pytest.approx(1.0)


def test_partial_dependence_is_the_mean_of_predictions() -> None:
    model = GTGBMRegressor(n_estimators=20).fit(X, Y)
    column = int(model.selected_features_[0])
    (found,) = partial_dependence(model, X, [column])
    for value, mean in zip(found.values, found.means, strict=True):
        table = X.copy()
        table[:, column] = value
        assert mean == pytest.approx(model.predict(table).mean(), rel=1e-12)
    assert np.ptp(found.means) > 0.1


def test_partial_dependence_of_categories() -> None:
    town = RNG.choice(["x", "y", "z"], 400, p=[0.5, 0.3, 0.2])
    frame = pd.DataFrame({"town": pd.Categorical(town), "size": X[:, 1]})
    model = GTGBMRegressor(n_estimators=30, categorical="column").fit(frame, 2.0 * (town == "z") + X[:, 1])
    (found,) = partial_dependence(model, frame, [0], [0])
    assert found.is_category
    assert len(found.values) == 3
    assert int(np.argmax(found.means)) == 2, "the rarest of the three, which comes last"
