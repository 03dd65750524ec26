"""Missing values: their absence of a value is itself information, and nothing breaks on new ones."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gtgbm import AGBMRegressor, GTGBMClassifier, GTGBMRegressor, Tree
from gtgbm.exact.arrays import F64

SEARCHES = ["exhaustive", "group-testing"]


def table(n_columns: int = 20, n_rows: int = 2000) -> tuple[F64, F64]:
    """Make a table whose column 5 says nothing by its values, but all by their absence."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, n_columns))
    X[rng.random(n_rows) < 0.4, 5] = np.nan
    return X, 2.0 * np.isnan(X[:, 5]) + 0.1 * rng.normal(size=n_rows)


def leaf_of(tree: Tree, row: F64) -> int:
    node = 0
    while tree.feature[node] >= 0:
        x = row[tree.feature[node]]
        left = tree.missing_left[node] == 1 if np.isnan(x) else x <= tree.threshold[node]
        node = int(tree.left[node]) + (0 if left else 1)
    return node


@pytest.mark.parametrize("test_rows", ["auto", None])
@pytest.mark.parametrize("search", SEARCHES)
@pytest.mark.parametrize("method", [GTGBMRegressor, GTGBMClassifier])
def test_missingness_is_found(method: Any, search: str, test_rows: Any) -> None:
    X, y = table()
    target = y if method is GTGBMRegressor else y > 1.0
    model = method(n_estimators=20, penalty=0.05, search=search, test_rows=test_rows, random_state=0)
    model.fit(X, target)
    assert model.selected_features_.tolist() == [5]
    assert model.score(X, target) > 0.9
    # New rows: NaN goes where training put it, and so does a value.
    rows = np.zeros((2, X.shape[1]))
    rows[0, 5] = np.nan
    score = model.predict(rows) if method is GTGBMRegressor else model.decision_function(rows)
    assert score[0] > score[1] + 1.0


@pytest.mark.parametrize("high", [True, False])
def test_missing_values_join_the_side_they_resemble(high: bool) -> None:
    rng = np.random.default_rng(1)
    x = rng.uniform(-1.0, 1.0, size=3000)
    y = np.sign(x)
    x[rng.random(3000) < 0.3 * ((x > 0) == high)] = np.nan
    model = AGBMRegressor(n_estimators=40, learning_rate=0.2).fit(x[:, None], y)
    predicted = model.predict([[np.nan], [-0.5], [0.5]])
    np.testing.assert_allclose(predicted, [1.0 if high else -1.0, -1.0, 1.0], atol=0.05)


@pytest.mark.parametrize("search", SEARCHES)
def test_unseen_missing_values_follow_the_larger_child(search: str) -> None:
    rng = np.random.default_rng(2)
    X = rng.normal(size=(1500, 10))
    y = np.where(X[:, 0] > 0.8, 3.0, 0.0) + np.where(X[:, 1] > -0.5, 1.0, 0.0) + 0.1 * rng.normal(size=1500)
    model = GTGBMRegressor(n_estimators=10, search=search, random_state=0).fit(X, y)
    n_inner = 0
    for tree in model.trees_:
        for node in np.flatnonzero(tree.feature >= 0):
            left, right = tree.n_rows[tree.left[node]], tree.n_rows[tree.left[node] + 1]
            if left != right:
                assert tree.missing_left[node] == (left > right)
            n_inner += 1
    assert n_inner > 20
    nowhere = np.full((1, 10), np.nan)
    expected = y.mean() + sum(tree.value[leaf_of(tree, nowhere[0])] for tree in model.trees_)
    assert model.predict(nowhere)[0] == pytest.approx(expected, abs=1e-12)


def test_missing_values_of_training_reach_the_leaves_they_were_counted_in() -> None:
    X, y = table(6, 800)
    X[np.random.default_rng(3).random(X.shape) < 0.3] = np.nan
    model = AGBMRegressor(n_estimators=5, penalty=0.0).fit(X, y)
    for tree in model.trees_:
        reached = np.bincount([leaf_of(tree, row) for row in X], minlength=tree.n_nodes)
        leaf = tree.feature < 0
        np.testing.assert_array_equal(reached[leaf], tree.n_rows[leaf])


@pytest.mark.parametrize("search", SEARCHES)
def test_no_difference_between_kinds_of_nan(search: str) -> None:
    X, y = table()
    odd = X.copy()
    odd.view(np.uint64)[np.isnan(X)] = np.uint64(0xFFF8_0000_0000_1234)  # a NaN with a sign and a payload
    assert np.isnan(odd[np.isnan(X)]).all()
    model = GTGBMRegressor(n_estimators=5, search=search, random_state=0)
    plain = model.fit(X, y).predict(X)
    assert model.fit(odd, y).predict(odd).tobytes() == plain.tobytes()
