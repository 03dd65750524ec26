"""L2 regularization: gains and leaf values are those of the definition, in every search and unit."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.sparse import csc_matrix

from gtgbm import AGBMClassifier, AGBMRegressor, GTGBMRegressor, Tree
from gtgbm.exact.arrays import F64, I64
from gtgbm.exact.weights import RowWeights
from tests.strategies import selects_few

N = 600


def table(seed: int = 0) -> tuple[F64, F64]:
    """Make numbers, a column of categories, and targets far from 0."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(N, 12)).round(1)
    X[:, 3] = rng.integers(0, 5, N)
    X[rng.random(X.shape) < 0.05] = np.nan
    clean = np.nan_to_num(X)
    return X, 3.0 + clean[:, 0] + clean[:, 1] * clean[:, 2] + 2.0 * (X[:, 3] == 2) + rng.normal(size=N)


def rows_of(tree: Tree, X: F64) -> list[I64]:
    """Rows of each node; children have higher numbers than their parents."""
    rows = [np.arange(X.shape[0])] * tree.n_nodes
    for node in np.flatnonzero(tree.feature >= 0).tolist():
        values, at = X[rows[node], tree.feature[node]], tree.threshold[node]
        if tree.is_category[node]:
            left = ~((values == at) | (np.isnan(values) & np.isnan(at)))
        else:
            left = np.where(np.isnan(values), tree.missing_left[node] == 1, values <= at)
        child = int(tree.left[node])
        rows[child], rows[child + 1] = rows[node][left], rows[node][~left]
    return rows


def assert_gains(
    tree: Tree, X: F64, residuals: F64, curvatures: F64, l2: float, rounding: float = 1e-5
) -> None:
    """Compare the gains of all splits with the definition.

    Histogram cells have few bits for residuals where weights are fractions or curvatures: `rounding` is the
    error, relative to the terms that a gain is the difference of.
    """
    rows = rows_of(tree, X)
    for node in np.flatnonzero(tree.feature >= 0).tolist():
        child = int(tree.left[node])
        kept, left, right = (
            residuals[rows[k]].sum() ** 2 / (curvatures[rows[k]].sum() + l2) for k in (node, child, child + 1)
        )
        scale = abs(left) + abs(right)
        np.testing.assert_allclose(tree.gain[node], left + right - kept, rtol=0, atol=rounding * scale)


@pytest.mark.parametrize("search", ["exhaustive", "group-testing"])
@pytest.mark.parametrize("categorical", ["category", "column"])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("init", ["best", "zero"])
def test_gains_and_leaves_are_those_of_the_definition(
    search: str, categorical: str, weighted: bool, init: str
) -> None:
    X, y = table()
    weight = np.random.default_rng(1).uniform(0.1, 3.0, N) if weighted else np.ones(N)
    model = GTGBMRegressor(
        search=search,
        categorical_features=[3],
        categorical=categorical,
        penalty=0.0005,
        n_estimators=1,
        learning_rate=1.0,
        init=init,
        l2_regularization=25.0,
        random_state=0,
    ).fit(X, y, sample_weight=weight if weighted else None)
    (tree,) = model.trees_
    start = np.average(y, weights=weight) if init == "best" else 0.0
    residuals = weight * (y - start)
    assert tree.n_leaves > 2
    assert tree.is_category.any() or init == "zero"
    assert_gains(tree, X, residuals, weight, 25.0, 1e-3 if weighted else 1e-5)
    for leaf, rows in enumerate(rows_of(tree, X)):
        if tree.feature[leaf] < 0:
            value = residuals[rows].sum() / (weight[rows].sum() + 25.0)
            np.testing.assert_allclose(tree.value[leaf], value, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("criterion", ["residuals", "newton"])
@pytest.mark.parametrize("weighted", [False, True])
def test_leaves_of_log_loss_are_shrunk_by_their_curvature(criterion: str, weighted: bool) -> None:
    """Splits by residuals are regularized in units of weight, Newton splits in units of curvature."""
    X, y = table()
    y = (y > 4.0).astype(np.float64)
    weight = np.random.default_rng(1).integers(1, 5, N).astype(np.float64) if weighted else np.ones(N)
    model = AGBMClassifier(
        penalty=0.0, n_estimators=2, learning_rate=1.0, criterion=criterion, l2_regularization=3.0
    ).fit(X, y, sample_weight=weight if weighted else None)
    first = AGBMClassifier(
        penalty=0.0, n_estimators=1, learning_rate=1.0, criterion=criterion, l2_regularization=3.0
    ).fit(X, y, sample_weight=weight if weighted else None)
    p = first.predict_proba(X)[:, 1]
    residuals, curvatures = weight * (y - p), weight * p * (1.0 - p)
    tree = model.trees_[1]
    for leaf, rows in enumerate(rows_of(tree, X)):
        if tree.feature[leaf] < 0:
            value = residuals[rows].sum() / (curvatures[rows].sum() + 3.0)
            np.testing.assert_allclose(tree.value[leaf], value, rtol=1e-6, atol=1e-6)
    if criterion == "residuals":
        assert_gains(tree, X, residuals, weight, 3.0, 1e-3)
    else:
        # Gains are recorded in units of the mean curvature.
        unit = curvatures.sum() / weight.sum()
        rescaled = Tree(**{**vars(tree), "gain": tree.gain * unit})
        assert_gains(rescaled, X, residuals, curvatures, 3.0, 1e-2)


@pytest.mark.parametrize("exponent", [-800, -80, -7, 80, 800])
@pytest.mark.parametrize("criterion", ["residuals", "newton"])
def test_the_unit_is_that_of_the_weights(criterion: str, exponent: int) -> None:
    """Weights times any factor, and the regularization too: the same model."""
    X, y = table()
    y = (y > 4.0).astype(np.float64)
    weight = np.random.default_rng(1).integers(1, 30, N) / 8.0
    settings: dict[str, Any] = {"penalty": 0.001, "n_estimators": 4, "criterion": criterion}
    model = AGBMClassifier(l2_regularization=8.0, **settings).fit(X, y, sample_weight=weight)
    l2 = float(np.ldexp(8.0, exponent))
    scaled = AGBMClassifier(l2_regularization=l2, **settings).fit(
        X, y, sample_weight=np.ldexp(weight, exponent)
    )
    np.testing.assert_allclose(model.predict_proba(X), scaled.predict_proba(X), rtol=1e-9)
    without = AGBMClassifier(**settings).fit(X, y, sample_weight=weight)
    assert np.abs(without.predict_proba(X) - model.predict_proba(X)).max() > 1e-3


@pytest.mark.parametrize("weight", [[1e-320, 3e-320], [0.3, 0.7], [1e300, 2e300], [2.0, 3.0]])
def test_no_regularization_stays_none_in_any_unit(weight: list[float]) -> None:
    assert 0.0 * RowWeights.of(np.array(weight)).l2_unit == 0.0


def test_weights_count_rows() -> None:
    X, y = table()
    weight = np.random.default_rng(1).integers(0, 4, N)
    settings: dict[str, Any] = {"penalty": 0.001, "n_estimators": 5, "l2_regularization": 7.0}
    weighted = AGBMRegressor(**settings).fit(X, y, sample_weight=weight)
    repeated = AGBMRegressor(**settings).fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    np.testing.assert_allclose(weighted.predict(X), repeated.predict(X), rtol=1e-9)


def test_sparse_and_dense_columns() -> None:
    rng = np.random.default_rng(0)
    X = rng.poisson(0.3, (N, 40)).astype(np.float64)
    y = X[:, 0] - X[:, 1] + rng.normal(size=N)
    model = AGBMRegressor(penalty=0.001, n_estimators=10, l2_regularization=15.0)
    dense = model.fit(X, y).predict(X)
    np.testing.assert_array_equal(dense, model.fit(csc_matrix(X), y).predict(X))
    assert np.unique(dense).shape[0] > 5


@pytest.mark.parametrize("loss", ["absolute_error", "quantile"])
def test_medians_are_not_shrunk(loss: str) -> None:
    X, y = table()
    settings: dict[str, Any] = {"penalty": 0.0, "n_estimators": 1, "learning_rate": 1.0, "loss": loss}
    model = AGBMRegressor(**settings, l2_regularization=50.0).fit(X, y)
    assert [tree.n_nodes for tree in model.trees_] != [
        tree.n_nodes for tree in AGBMRegressor(**settings).fit(X, y).trees_
    ]
    (tree,), residuals = model.trees_, y - model.predict(X)
    for leaf, rows in enumerate(rows_of(tree, X)):
        if tree.feature[leaf] < 0:
            # A quantile of the rows is the value of one of them, or between two.
            assert np.sort(residuals[rows])[0] <= 0.0 <= np.sort(residuals[rows])[-1]
            assert abs(np.median(residuals[rows])) < 1e-9 or loss == "quantile"


@selects_few
@pytest.mark.parametrize("l2", [1e12, 1e300])
@pytest.mark.parametrize("method", [AGBMRegressor, GTGBMRegressor])
def test_so_much_regularization_that_nothing_is_learned(method: Any, l2: float) -> None:
    X, y = table()
    model = method(penalty=0.0, n_estimators=3, l2_regularization=l2).fit(X, y)
    np.testing.assert_allclose(model.predict(X), y.mean(), rtol=1e-6)
