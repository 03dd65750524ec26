"""Monotone constraints: along a bound column no prediction ever goes the wrong way."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from scipy.sparse import csc_matrix, csr_matrix

from gtgbm import (
    AGBMClassifier,
    AGBMRegressor,
    GBFSRegressor,
    GTGBMClassifier,
    GTGBMRanker,
    GTGBMRegressor,
    Tree,
)
from gtgbm.exact.arrays import F64, FALLING, RISING
from gtgbm.growing.monotone import bounded_values
from gtgbm.losses import Huber, Quantile
from tests.estimators.test_determinism import bytes_of
from tests.strategies import seeds

N, D = 400, 6
RISES, FALLS = 0, 1
CONSTRAINTS = [1, -1, 0, 0, 0, 0]
searches = pytest.mark.parametrize("search", ["exhaustive", "group-testing"])
sparsities = pytest.mark.parametrize("sparse", [False, True])


def data(seed: int = 0, n: int = N) -> tuple[F64, F64]:
    """Make targets that rise with column 0 and fall with column 1 on the whole, but not everywhere."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, D))
    X[:, 4] = np.round(X[:, 4])
    y = X[:, 0] + np.sin(4.0 * X[:, 0]) - X[:, 1] + np.cos(4.0 * X[:, 1]) + X[:, 2] * X[:, 0]
    return X, y + 0.5 * rng.normal(size=n)


def thin(X: F64) -> F64:
    return np.where(np.abs(X) < 0.6, 0.0, X)


def steepest(model: Any, X: F64, column: int, sparse: bool = False) -> tuple[float, float]:
    """Return the largest fall and the largest rise of scores along a column, other values as in rows."""
    grid = np.concatenate([np.unique(X[:, column])[::7], [-50.0, 0.0, 50.0]])
    grid.sort()
    rows = np.repeat(X[:: max(1, X.shape[0] // 40)], grid.shape[0], axis=0)
    rows[:, column] = np.tile(grid, rows.shape[0] // grid.shape[0])
    table = csr_matrix(rows) if sparse else rows
    scores = model.decision_function(table) if hasattr(model, "decision_function") else model.predict(table)
    steps = np.diff(scores.reshape(-1, grid.shape[0]), axis=1)
    return float(-steps.min()), float(steps.max())


def assert_bound(model: Any, X: F64, sparse: bool = False) -> None:
    used = set(model.selected_features_.tolist())
    assert {RISES, FALLS} <= used, "nothing to see if a bound column is not used"
    assert steepest(model, X, RISES, sparse)[0] <= 0.0
    assert steepest(model, X, FALLS, sparse)[1] <= 0.0
    assert steepest(model, X, RISES, sparse)[1] > 0.0
    assert steepest(model, X, FALLS, sparse)[0] > 0.0


def assert_free(model: Any, X: F64, sparse: bool = False) -> None:
    assert steepest(model, X, RISES, sparse)[0] > 0.0
    assert steepest(model, X, FALLS, sparse)[1] > 0.0


@sparsities
@searches
@pytest.mark.parametrize(
    "loss", ["squared_error", "absolute_error", Quantile(0.8), Huber(0.5), "poisson"], ids=str
)
def test_regressors(loss: Any, search: str, sparse: bool) -> None:
    X, y = data()
    X = thin(X) if sparse else X
    target = np.round(np.exp(y / 2.0)) if loss == "poisson" else y
    base: dict[str, Any] = {"n_estimators": 40, "search": search, "loss": loss, "random_state": 0}
    table = csc_matrix(X) if sparse else X
    assert_bound(GTGBMRegressor(**base, monotone_constraints=CONSTRAINTS).fit(table, target), X, sparse)
    assert_free(GTGBMRegressor(**base).fit(table, target), X, sparse)


@sparsities
@searches
def test_classifiers_and_rankers(search: str, sparse: bool) -> None:
    X, y = data()
    X = thin(X) if sparse else X
    table = csc_matrix(X) if sparse else X
    base: dict[str, Any] = {"n_estimators": 40, "search": search, "random_state": 0}
    qid, relevance = np.arange(N) // 10, np.clip(np.round(y + 2.0), 0, 4)
    for constraints, check in ((CONSTRAINTS, assert_bound), (None, assert_free)):
        classifier = GTGBMClassifier(**base, monotone_constraints=constraints).fit(table, y > 0)
        check(classifier, X, sparse)
        ranker = GTGBMRanker(**base, monotone_constraints=constraints).fit(table, relevance, qid=qid)
        check(ranker, X, sparse)


@given(seed=seeds)
@settings(max_examples=12)
@pytest.mark.parametrize(
    "more",
    [
        {},
        {"subsample": 0.5, "colsample": 0.7},
        {"penalty": 0.01},
        {"min_node_fraction": 0.0, "min_samples_leaf": 1, "learning_rate": 1.0},
        {"loss": "absolute_error", "subsample": 0.5},
        {"loss": Quantile(0.9), "min_samples_leaf": 1},
        {"n_features_to_select": 3},
    ],
    ids=str,
)
def test_whatever_else_is_asked_for(more: dict[str, Any], seed: int) -> None:
    X, y = data(seed, 150)
    model = AGBMRegressor(**({"n_estimators": 10, "penalty": 0.0, "random_state": 0} | more))
    model.set_params(monotone_constraints=CONSTRAINTS).fit(X, y)
    assert steepest(model, X, RISES)[0] <= 0.0
    assert steepest(model, X, FALLS)[1] <= 0.0


@given(seed=seeds)
@settings(max_examples=12)
def test_missing_values_and_weights(seed: int) -> None:
    X, y = data(seed, 150)
    rng = np.random.default_rng(seed)
    X[rng.random(X.shape) < 0.2] = np.nan
    model = AGBMRegressor(n_estimators=10, penalty=0.0, monotone_constraints=CONSTRAINTS)
    model.fit(X, y, sample_weight=rng.random(150))
    rows = X[~np.isnan(X[:, :2]).any(axis=1)]
    assert steepest(model, rows, RISES)[0] <= 0.0
    assert steepest(model, rows, FALLS)[1] <= 0.0


def test_absolute_prices_and_probabilities() -> None:
    X, y = data()
    assert_bound(GBFSRegressor(n_estimators=30, penalty=2.0, monotone_constraints=CONSTRAINTS).fit(X, y), X)
    squared = AGBMClassifier(n_estimators=30, loss="squared_error", monotone_constraints=CONSTRAINTS)
    assert_bound(squared.fit(X, y > 0), X)


def test_what_is_right_anyway_stays() -> None:
    """A target that rises with the column loses little."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(N, 3))
    y = np.exp(X[:, 0]) + X[:, 1] + 0.1 * rng.normal(size=N)
    free = AGBMRegressor(n_estimators=100).fit(X, y)
    bound = AGBMRegressor(n_estimators=100, monotone_constraints=[1, 1, 0]).fit(X, y)
    assert bound.score(X, y) > free.score(X, y) - 0.03 > 0.9
    coarse: dict[str, Any] = {"n_estimators": 30, "min_samples_leaf": 60}
    right, wrong = (AGBMRegressor(**coarse, monotone_constraints={0: k}).fit(X, y) for k in (1, -1))
    assert right.score(X, y) > 0.6 > 0.3 > wrong.score(X, y)


def test_ways_to_ask() -> None:
    X, y = data()
    frame = pd.DataFrame(X, columns=list("abcdef"))
    settings_: dict[str, Any] = {"n_estimators": 8}
    expected = bytes_of(AGBMRegressor(**settings_, monotone_constraints=CONSTRAINTS).fit(X, y).trees_)
    for table, constraints in (
        (X, tuple(CONSTRAINTS)),
        (X, np.array(CONSTRAINTS)),
        (X, np.array(CONSTRAINTS, dtype=np.int8)),
        (X, {0: 1, 1: -1}),
        (X, {1: -1, 0: 1, 3: 0}),
        (frame, {"a": 1, "b": -1}),
        (frame, {0: 1, 1: -1}),
        (frame, CONSTRAINTS),
    ):
        model = AGBMRegressor(**settings_, monotone_constraints=constraints).fit(table, y)
        assert bytes_of(model.trees_) == expected
    free = bytes_of(AGBMRegressor(**settings_).fit(X, y).trees_)
    assert free != expected
    for nothing in ([0] * D, {}, {2: 0}):
        model = AGBMRegressor(**settings_, monotone_constraints=nothing).fit(X, y)
        assert bytes_of(model.trees_) == free


@pytest.mark.parametrize(
    ("constraints", "error", "part"),
    [
        ([1, -1], ValueError, "has 2 entries, but X has 6 columns"),
        ([2, 0, 0, 0, 0, 0], ValueError, "has 2:"),
        ([0.5, 0, 0, 0, 0, 0], ValueError, "has 0.5:"),
        ([True, 0, 0, 0, 0, 0], ValueError, "has True:"),
        (["up", 0, 0, 0, 0, 0], ValueError, "has 'up':"),
        ([np.nan, 0, 0, 0, 0, 0], ValueError, "has nan:"),
        ({0: 3}, ValueError, "has 3:"),
        ({6: 1}, ValueError, "has 6:"),
        ({-1: 1}, ValueError, "has -1:"),
        ({"a": 1}, ValueError, "'a'"),
        (1, TypeError, "=1 is not a list"),
        ("increasing", TypeError, "is not a list"),
    ],
)
def test_what_is_refused(constraints: Any, error: type[Exception], part: str) -> None:
    X, y = data()
    with pytest.raises(error, match="monotone_constraints") as refused:
        AGBMRegressor(monotone_constraints=constraints).fit(X, y)
    assert part in str(refused.value)


def test_categories_and_many_classes_have_no_direction() -> None:
    X, y = data()
    with pytest.raises(ValueError, match="monotone_constraints has 1 for column 4, which is categorical"):
        AGBMRegressor(categorical_features=[4], monotone_constraints={4: 1}).fit(X, y)
    with pytest.raises(ValueError, match="monotone_constraints are for two classes, but y has 3"):
        AGBMClassifier(monotone_constraints=CONSTRAINTS).fit(X, np.digitize(y, [-1.0, 1.0]))
    # Beside a bound column categories are as welcome as ever.
    model = AGBMRegressor(n_estimators=20, categorical_features=[4], monotone_constraints=CONSTRAINTS)
    assert_bound(model.fit(X, y), X)


def random_tree(rng: np.random.Generator) -> Tree:
    feature, left = [-1], [-1]
    for _ in range(int(rng.integers(1, 12))):
        leaf = int(rng.choice(np.flatnonzero(np.array(feature) < 0)))
        feature[leaf], left[leaf] = int(rng.integers(0, 3)), len(feature)
        feature += [-1, -1]
        left += [-1, -1]
    n = len(feature)
    n_rows = rng.integers(1, 50, n)
    for node in np.flatnonzero(np.array(feature) >= 0)[::-1]:  # children come after their parents
        n_rows[node] = n_rows[left[node]] + n_rows[left[node] + 1]
    flags = np.zeros(n, dtype=np.uint8)
    return Tree(
        np.array(feature, dtype=np.int32),
        rng.normal(size=n),
        flags,
        flags,
        np.array(left, dtype=np.int32),
        np.zeros(n),
        n_rows,
        np.zeros(n),
    )


def leaves_below(tree: Tree, node: int) -> list[int]:
    left = int(tree.left[node])
    return [node] if left < 0 else leaves_below(tree, left) + leaves_below(tree, left + 1)


@given(seed=seeds)
def test_values_of_leaves_are_kept_apart(seed: int) -> None:
    rng = np.random.default_rng(seed)
    tree = random_tree(rng)
    is_leaf = tree.feature < 0
    value = np.where(is_leaf, rng.normal(size=tree.n_nodes), 0.0)
    bounded = bounded_values(tree, value, np.array([RISING, FALLING, 0], dtype=np.uint8))
    for node in np.flatnonzero(~is_leaf):
        lower, upper = (bounded[leaves_below(tree, int(tree.left[node]) + side)] for side in (0, 1))
        if tree.feature[node] == 0:
            assert lower.max() <= upper.min()
        elif tree.feature[node] == 1:
            assert lower.min() >= upper.max()
    assert bounded[is_leaf].min() >= value[is_leaf].min()
    assert bounded[is_leaf].max() <= value[is_leaf].max()
    np.testing.assert_array_equal(bounded_values(tree, value, np.zeros(3, dtype=np.uint8)), value)
