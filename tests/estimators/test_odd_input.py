"""Input that is odd but sound must work: constants, copies, one column, two rows, huge values."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gtgbm import (
    AGBMClassifier,
    AGBMRegressor,
    GBFSClassifier,
    GBFSRegressor,
    GTGBMClassifier,
    GTGBMRegressor,
)
from gtgbm.exact.arrays import F64
from tests.strategies import selects_few

REGRESSORS = [GTGBMRegressor, AGBMRegressor, GBFSRegressor]
EXHAUSTIVE = [AGBMRegressor, GBFSRegressor, AGBMClassifier, GBFSClassifier]
SEARCHES = ["exhaustive", "group-testing"]


def table(n_rows: int = 300, n_columns: int = 6) -> tuple[F64, F64]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, n_columns))
    return X, (X[:, 0] > 0).astype(np.float64)


@pytest.mark.parametrize("test_rows", ["auto", None])
@pytest.mark.parametrize("search", SEARCHES)
@pytest.mark.parametrize("method", [GTGBMRegressor, GTGBMClassifier])
def test_columns_without_information_are_never_selected(method: Any, search: str, test_rows: Any) -> None:
    X, y = table()
    X[:, 2], X[:, 3], X[:, 5] = np.nan, 7.0, 1e300
    model = method(n_estimators=10, search=search, test_rows=test_rows, penalty=0.0, random_state=0)
    model.fit(X, y)
    assert 0 in model.selected_features_
    assert not set(model.selected_features_.tolist()) & {2, 3, 5}
    assert model.score(X, y) > 0.8


@pytest.mark.parametrize("search", SEARCHES)
@pytest.mark.parametrize("fill", [np.nan, 0.0])
@selects_few
def test_table_without_information(search: str, fill: float) -> None:
    _, y = table()
    X = np.full((300, 4), fill)
    model = GTGBMRegressor(n_estimators=3, search=search, random_state=0).fit(X, y)
    assert model.selected_features_.tolist() == []
    assert model.feature_importances_.tolist() == [0.0] * 4
    np.testing.assert_allclose(model.predict(X), y.mean(), rtol=1e-12)


@pytest.mark.parametrize("test_rows", ["auto", None])
@pytest.mark.parametrize("search", SEARCHES)
def test_huge_values(search: str, test_rows: Any) -> None:
    X, y = table()
    model = GTGBMRegressor(n_estimators=10, search=search, test_rows=test_rows, random_state=0)
    plain = model.fit(X, y).predict(X)
    # Powers of two keep the order and the distances of all values; the range is wider than the largest float.
    huge = X * 2.0**1022
    assert np.isfinite(huge).all()
    assert np.isinf(float(huge.max()) - float(huge.min()))
    np.testing.assert_array_equal(model.fit(huge, y).predict(huge), plain)
    tiny = X * 2.0**-1000
    np.testing.assert_array_equal(model.fit(tiny, y).predict(tiny), plain)


@pytest.mark.parametrize("scale", [1e-100, 1e-20, 1e20, 1e90])
def test_targets_of_any_scale(scale: float) -> None:
    X, y = table()
    plain = AGBMRegressor(n_estimators=10).fit(X, y).predict(X)
    scaled = AGBMRegressor(n_estimators=10).fit(X, y * scale).predict(X)
    np.testing.assert_allclose(scaled / scale, plain, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("method", REGRESSORS)
@pytest.mark.parametrize("constant", [0.0, 3.5, -1e50])
def test_constant_target(method: Any, constant: float) -> None:
    X, _ = table()
    with pytest.warns(UserWarning, match="constant"):
        model = method(n_estimators=5).fit(X, np.full(300, constant))
    assert model.n_selected_features_ == 0
    np.testing.assert_array_equal(model.predict(X), constant)


@pytest.mark.parametrize("search", SEARCHES)
def test_copies_of_a_column_are_bought_once(search: str) -> None:
    X, y = table()
    X[:, 3] = X[:, 4] = X[:, 0]
    model = GTGBMRegressor(n_estimators=10, search=search, penalty=0.01, random_state=0).fit(X, y)
    assert len({0, 3, 4} & set(model.selected_features_.tolist())) == 1
    assert model.score(X, y) > 0.8


@pytest.mark.parametrize("method", EXHAUSTIVE)
def test_one_column(method: Any) -> None:
    X, y = table()
    model = method(n_estimators=10, random_state=0).fit(X[:, :1], y)
    assert model.selected_features_.tolist() == [0]
    assert model.score(X[:, :1], y) > 0.8


@pytest.mark.parametrize("search", SEARCHES)
def test_sorted_rows(search: str) -> None:
    """Thresholds come from a sample of so many rows, and it must not be the first ones."""
    X = np.stack([np.arange(60_000) % 7, np.arange(60_000)], axis=1).astype(np.float64)
    y = (X[:, 1] > 55_000).astype(np.float64)
    model = GTGBMRegressor(n_estimators=10, search=search, min_node_fraction=0.01, random_state=0).fit(X, y)
    assert model.selected_features_.tolist() == [1]
    assert model.score(X, y) > 0.85


@pytest.mark.parametrize("test_rows", ["auto", None])
@pytest.mark.parametrize(("d", "s"), [(1, 1), (3, 3)])
def test_subsets_of_one_feature(d: int, s: int, test_rows: str | None) -> None:
    X = np.random.default_rng(0).normal(size=(500, d))
    model = GTGBMRegressor(
        search="group-testing", n_relevant=s, test_rows=test_rows, random_state=0, n_estimators=5
    )
    assert model.fit(X, X.sum(axis=1)).n_selected_features_ > 0


@pytest.mark.parametrize(("n", "d"), [(2, 2), (80, 5000)])
@pytest.mark.parametrize("search", SEARCHES)
def test_few_rows(search: str, n: int, d: int) -> None:
    X = np.random.default_rng(0).normal(size=(n, d))
    model = GTGBMRegressor(random_state=0, n_estimators=5, min_samples_leaf=1, search=search)
    assert model.fit(X, X[:, 0]).n_selected_features_ > 0


@pytest.mark.parametrize("method", EXHAUSTIVE)
def test_two_rows(method: Any) -> None:
    X, y = np.array([[0.0, 1.0], [1.0, 1.0]]), np.array([0.0, 1.0])
    model = method(n_estimators=50, penalty=0.0, min_samples_leaf=1).fit(X, y)
    assert model.selected_features_.tolist() == [0]
    assert np.abs(model.predict(X) - y).max() < 0.01


@given(
    n_rows=st.integers(2, 30),
    n_columns=st.integers(1, 12),
    n_values=st.integers(1, 4),
    missing=st.sampled_from([0.0, 0.3, 0.9, 1.0]),
    seed=st.integers(0, 2**20),
    search=st.sampled_from(SEARCHES),
    test_rows=st.sampled_from(["auto", 10, None]),
    penalty=st.sampled_from([0.0, 0.01, 0.5]),
    n_classes=st.integers(0, 4),
)
@selects_few
def test_small_tables_of_any_kind(
    n_rows: int,
    n_columns: int,
    n_values: int,
    missing: float,
    seed: int,
    search: str,
    test_rows: Any,
    penalty: float,
    n_classes: int,
) -> None:
    rng = np.random.default_rng(seed)
    X = rng.integers(0, n_values, size=(n_rows, n_columns)).astype(np.float64)
    X[rng.random(X.shape) < missing] = np.nan
    settings = {"n_estimators": 4, "search": search, "test_rows": test_rows, "penalty": penalty}
    if n_classes < 2 or n_rows < n_classes:
        y: Any = rng.normal(size=n_rows)
        model = GTGBMRegressor(random_state=seed, **settings).fit(X, y)
        # Boosting by least squares never fits the training rows worse than the mean does.
        assert np.mean((model.predict(X) - y) ** 2) <= np.var(y) * (1.0 + 1e-9)
    else:
        y = np.resize(np.arange(n_classes), n_rows)
        model = GTGBMClassifier(random_state=seed, **settings).fit(X, y)
        np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1.0, rtol=1e-9)
    used = {int(f) for tree in model.trees_ for f in tree.feature if f >= 0}
    assert used == set(model.selected_features_.tolist())
    assert np.isfinite(model.feature_importances_).all()
    losses = model.evals_result_["training"][model.loss]
    assert np.isfinite(losses).all()


@pytest.mark.parametrize("infinity", [np.inf, -np.inf])
@pytest.mark.parametrize("method", [GTGBMRegressor, AGBMRegressor, GBFSRegressor])
def test_infinity_is_a_very_large_number(method: Any, infinity: float) -> None:
    rng = np.random.default_rng(3)
    X = rng.normal(size=(400, 5))
    y = X[:, 0] + (X[:, 1] > 0.0)
    X[::7, 0] = X[5::50, 4] = 1e30 * np.sign(infinity)
    finite = method(n_estimators=5, random_state=0).fit(X, y)
    X[np.abs(X) == 1e30] = infinity
    model = method(n_estimators=5, random_state=0).fit(X, y)
    assert model.n_selected_features_ >= 2
    assert model.predict(X).tobytes() == finite.predict(X).tobytes()
    paper = GTGBMRegressor(n_estimators=5, search="group-testing", test_rows=None, random_state=0)
    assert np.isfinite(paper.fit(X, y, eval_set=(X, y)).predict(X)).all()
