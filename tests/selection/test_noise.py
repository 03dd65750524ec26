"""Noise is not selected, neither by forward-backward selection nor with penalty='auto'; signals are."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gtgbm import GTGBMClassifier, GTGBMRanker, GTGBMRegressor
from gtgbm.pricing import chance_gain, chance_of_gain
from measuring.data.whole import words
from tests.selection.planted import FEW, PLANTED, noise, planted
from tests.strategies import selects_few

SEARCHES = ["exhaustive", "group-testing"]


@pytest.mark.parametrize("given", [{"n_features_to_select": 5}, {"penalty": "auto"}], ids=str)
@pytest.mark.parametrize("method", [GTGBMRegressor, GTGBMClassifier])
@selects_few
def test_noise_is_not_selected(method: Any, given: dict[str, Any]) -> None:
    selected = []
    for seed in range(9):
        X, y = noise(seed, *[(60, 10), (300, 20), (200, 100)][seed % 3])
        model = method(n_estimators=20, random_state=seed, **given)
        selected.append(model.fit(X, y if method is GTGBMRegressor else y > 0).n_selected_features_)
    # By chance, one table in twenty has a feature that looks like a signal: benchmarks/quality/noise.py.
    assert np.count_nonzero(selected) <= 1, selected


@selects_few
def test_noise_of_queries_is_not_selected() -> None:
    X, y = noise(0, 600)
    ranker = GTGBMRanker(**FEW).fit(X, np.digitize(y, [-1.0, 1.0]), qid=np.arange(600) // 10)
    assert ranker.n_selected_features_ == 0


@pytest.mark.parametrize("search", SEARCHES)
@pytest.mark.parametrize("seed", range(3))
def test_an_automatic_penalty_buys_signals_and_no_noise(seed: int, search: str) -> None:
    X, y = planted(seed, n_rows=1000, n_columns=40)
    model = GTGBMRegressor(penalty="auto", search=search, n_estimators=10, random_state=seed).fit(X, y)
    assert model.selected_features_.tolist() == PLANTED
    # A single feature of many: the price of chance is low enough for it.
    one = GTGBMClassifier(penalty="auto", search=search, n_estimators=3, random_state=seed)
    assert one.fit(X, X[:, 7] > 0.0).selected_features_.tolist() == [7]


def test_an_automatic_penalty_has_no_limit_but_takes_one() -> None:
    X, y = planted(n_rows=1000)
    given: dict[str, Any] = {"penalty": "auto", "selection": "forward", "n_estimators": 10}
    model = GTGBMRegressor(n_features_to_select=2, **given).fit(X, y)
    assert model.n_selected_features_ == 2
    assert {2, 5, 11} > set(model.selected_features_.tolist())


@pytest.mark.parametrize(("n_features", "leaf_share"), [(1, 0.05), (20, 0.05), (20, 0.2)])
def test_the_gain_of_chance_is_that_of_simulated_noise(n_features: int, leaf_share: float) -> None:
    rng, n, n_tables = np.random.default_rng(0), 400, 2000
    fewest = int(leaf_share * n)
    cut = np.arange(fewest, n - fewest + 1)
    best = np.empty(n_tables)
    for k in range(n_tables):
        # Every column orders the rows anew.
        sums = np.cumsum(rng.normal(size=(n_features, n)), axis=1)
        centred = sums[:, cut - 1] - sums[:, -1:] * cut / n
        best[k] = (centred**2 * n / (cut * (n - cut))).max()
    assert chance_gain(n_features, leaf_share, 0.05) == pytest.approx(np.quantile(best, 0.95), rel=0.1)
    exceeded = (best > chance_gain(n_features, leaf_share, 0.05)).mean()
    assert 0.02 < exceeded < 0.06


def test_the_gain_of_chance_grows_with_what_is_looked_at() -> None:
    assert chance_gain(1, 0.1) < chance_gain(10, 0.1) < chance_gain(1000, 0.1)
    assert chance_gain(10, 0.4) < chance_gain(10, 0.1) < chance_gain(10, 0.01)
    assert chance_gain(10, 0.1, 0.5) < chance_gain(10, 0.1, 0.05) < chance_gain(10, 0.1, 0.001)
    assert np.isfinite(chance_gain(10**7, 1e-6, 1e-3))
    assert chance_gain(0, 0.5) > 0.0


@pytest.mark.parametrize("n_values", [2, 4, 300])
def test_the_chance_of_a_gain_is_that_of_simulated_noise(n_values: int) -> None:
    rng, n, fewest = np.random.default_rng(1), 300, 15
    found = []
    for _ in range(3000):
        column, y = rng.integers(0, n_values, n), rng.normal(size=n)
        order = np.argsort(column, kind="stable")
        cut = np.arange(fewest, n - fewest + 1)
        cut = cut[column[order][cut - 1] != column[order][cut]]
        sums = np.cumsum((y - y.mean())[order])[cut - 1]
        gain = (sums**2 * (n / (cut * (n - cut)))).max() / y.var()
        found.append(chance_of_gain(float(gain), cut.shape[0], fewest / n))
    for probability in (0.01, 0.05):
        share = np.mean(np.array(found) < probability)
        # An upper bound of the probability: neighbouring cuts are no independent ones.
        assert 0.2 * probability < share < 1.5 * probability
    assert chance_of_gain(100.0, 0, 0.1) == 1.0
    assert chance_of_gain(0.0, 5, 0.1) == 1.0


@selects_few
def test_weak_features_are_no_noise() -> None:
    table = words(300, 600)(None)
    for limit in (20, 60, 100):
        model = GTGBMClassifier(n_features_to_select=limit, n_estimators=60).fit(table.X, table.y)
        # Many words have a little signal each; the trees of the last fit leave out a few of them.
        assert model.n_selected_features_ >= 0.6 * limit
