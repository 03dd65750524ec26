"""LightGBM as an independent reference: without a penalty the same trees, with one the same purchases."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import lightgbm
import numpy as np
import pytest
from sklearn.ensemble import HistGradientBoostingRegressor

from gtgbm import AGBMClassifier, AGBMRegressor, GBFSRegressor, Tree
from gtgbm.exact.arrays import F64, Bool

N_TREES = 20
MIN_LEAF = 10


def lightgbm_model(X: F64, y: F64, n_trees: int, weight: F64 | None = None, **settings: Any) -> Any:
    """Train LightGBM with one bin per value and nothing that would keep it from the best split."""
    parameters = {
        "objective": "regression",
        "learning_rate": 0.1,
        "num_leaves": 4096,
        "min_data_in_leaf": MIN_LEAF,
        "min_sum_hessian_in_leaf": 0.0,
        "lambda_l2": 0.0,
        "min_gain_to_split": 0.0,
        "boost_from_average": True,
        "max_bin": 255,
        "min_data_in_bin": 1,
        "feature_pre_filter": False,
        "enable_bundle": False,
        "deterministic": True,
        "force_col_wise": True,
        "num_threads": 1,
        "verbose": -1,
    } | settings
    return lightgbm.train(parameters, lightgbm.Dataset(X, y, weight=weight, params=parameters), n_trees)


@dataclass(frozen=True)
class Part:
    """A split as both libraries see it: the feature, and which of the node's rows go left."""

    feature: int
    left: Bool


def our_part(X: F64, tree: Tree, node: int) -> Part | None:
    if tree.feature[node] < 0:
        return None
    values = X[:, tree.feature[node]]
    missing = np.isnan(values)
    left = np.where(missing, bool(tree.missing_left[node]), values <= tree.threshold[node])
    return Part(int(tree.feature[node]), left)


def their_part(X: F64, node: dict[str, Any]) -> Part | None:
    if "split_feature" not in node:
        return None
    assert node["decision_type"] == "<="
    values = X[:, node["split_feature"]]
    missing = np.isnan(values)
    # With missing type None, NaN is read as 0; then no row of the column was missing in training.
    if node["missing_type"] == "None":
        assert not missing.any()
    left = np.where(missing, node["default_left"], values <= node["threshold"])
    return Part(int(node["split_feature"]), left)


def count_equal_splits(X: F64, ours: Tree, theirs: dict[str, Any]) -> int:
    """Walk two trees at once, assert that they split alike, and return the number of splits.

    Two features that divide a node's rows in the same way are tied, and so are missing values on the left or
    on the right of all others: then the children may come in either order.
    """
    n_splits = 0
    waiting: list[tuple[int, dict[str, Any], Bool]] = [(0, theirs, np.ones(X.shape[0], dtype=np.bool_))]
    while waiting:
        node, their_node, rows = waiting.pop()
        mine, other = our_part(X, ours, node), their_part(X, their_node)
        if mine is None or other is None:
            assert mine is None, f"we split {rows.sum()} rows on feature {mine.feature}, LightGBM does not"
            assert other is None, f"LightGBM splits {rows.sum()} rows on feature {other.feature}, we do not"
            continue
        n_splits += 1
        tied = mine.feature != other.feature or bool(np.isnan(X[rows, mine.feature]).any())
        swapped = tied and not np.array_equal(mine.left[rows], other.left[rows])
        their_left = ~other.left if swapped else other.left
        np.testing.assert_array_equal(mine.left[rows], their_left[rows])
        sides = ["right_child", "left_child"] if swapped else ["left_child", "right_child"]
        child = int(ours.left[node])
        waiting.append((child, their_node[sides[0]], rows & mine.left))
        waiting.append((child + 1, their_node[sides[1]], rows & ~mine.left))
    return n_splits


def table_with_few_values(seed: int, missing: float) -> tuple[F64, F64]:
    """Make 600 rows whose columns have at most 30 values, and a target of float32 values (LightGBM's)."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 30, size=(600, 7)).astype(np.float64)
    target = 0.3 * X[:, 0] + 3.0 * np.sin(X[:, 1]) - 0.02 * X[:, 2] * X[:, 3]
    X[rng.random(X.shape) < missing] = np.nan
    target[np.isnan(X[:, 4])] += 3.0
    y = (target + rng.normal(size=600)).astype(np.float32).astype(np.float64)
    return X, y


@pytest.mark.parametrize("missing", [0.0, 0.15])
@pytest.mark.parametrize("max_depth", [1, 3, 6])
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_same_trees_without_penalty(seed: int, max_depth: int, missing: float) -> None:
    X, y = table_with_few_values(seed, missing)
    ours = AGBMRegressor(
        penalty=0.0,
        n_estimators=N_TREES,
        max_depth=max_depth,
        min_node_fraction=0.0,
        min_samples_leaf=MIN_LEAF,
    ).fit(X, y)
    theirs = lightgbm_model(X, y, N_TREES, max_depth=max_depth)
    dumped = theirs.dump_model()["tree_info"]
    assert len(ours.trees_) == len(dumped) == N_TREES
    n_splits = sum(
        count_equal_splits(X, tree, dump["tree_structure"])
        for tree, dump in zip(ours.trees_, dumped, strict=True)
    )
    assert n_splits == sum(ours.n_leaves_ - 1)
    assert n_splits >= N_TREES * max_depth
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X), rtol=0, atol=1e-5 * np.ptp(y))


@pytest.mark.parametrize("seed", [0, 1])
def test_same_predictions_on_new_rows(seed: int) -> None:
    X, y = table_with_few_values(seed, 0.0)
    # Stumps: a root has rows of every value, so that no two thresholds are tied.
    ours = AGBMRegressor(
        penalty=0.0, n_estimators=N_TREES, max_depth=1, min_node_fraction=0.0, min_samples_leaf=MIN_LEAF
    ).fit(X, y)
    theirs = lightgbm_model(X, y, N_TREES, max_depth=1)
    new = np.random.default_rng(seed + 100).uniform(-5, 35, size=(500, X.shape[1])).round(1)
    np.testing.assert_allclose(ours.predict(new), theirs.predict(new), rtol=0, atol=1e-5 * np.ptp(y))


def test_same_start_without_average() -> None:
    X, y = table_with_few_values(3, 0.0)
    ours = AGBMRegressor(
        penalty=0.0,
        n_estimators=N_TREES,
        max_depth=3,
        min_node_fraction=0.0,
        min_samples_leaf=MIN_LEAF,
        init="zero",
    ).fit(X, y)
    theirs = lightgbm_model(X, y, N_TREES, max_depth=3, boost_from_average=False)
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X), rtol=0, atol=1e-5 * np.ptp(y))


def table_with_copies(seed: int) -> tuple[F64, F64]:
    """Make six features of falling strength, a blurred copy of each, and ten of noise."""
    rng = np.random.default_rng(seed)
    strong = rng.integers(0, 40, size=(800, 6)).astype(np.float64)
    copies = np.clip(strong + rng.integers(-3, 4, size=strong.shape), 0, 45)
    noise = rng.integers(0, 40, size=(800, 10)).astype(np.float64)
    y = strong @ (2.0 ** -np.arange(6)) / 5.0 + rng.normal(size=800)
    return np.hstack([strong, copies, noise]), y.astype(np.float32).astype(np.float64)


@pytest.mark.parametrize("penalty", [0.0, 5.0, 20.0, 80.0, 200.0])
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_stumps_buy_as_lightgbm_does(seed: int, penalty: float) -> None:
    """LightGBM's gain is the fall of the squared error, so its penalty has the unit of GBFS's."""
    X, y = table_with_copies(seed)
    n_trees = 40
    ours = GBFSRegressor(
        penalty=penalty, n_estimators=n_trees, max_depth=1, min_node_fraction=0.0, min_samples_leaf=MIN_LEAF
    ).fit(X, y)
    theirs = lightgbm_model(
        X,
        y,
        n_trees,
        max_depth=1,
        num_leaves=2,
        cegb_tradeoff=1.0,
        cegb_penalty_feature_coupled=[penalty] * X.shape[1],
    )
    stumps = [dump["tree_structure"] for dump in theirs.dump_model()["tree_info"]]
    assert len(stumps) == n_trees
    used = [int(stump["split_feature"]) for stump in stumps]
    assert [int(tree.feature[0]) for tree in ours.trees_] == used
    assert [entry.feature for entry in ours.selection_history_] == list(dict.fromkeys(used))
    assert 1 < len(set(used)) < X.shape[1]
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X), rtol=0, atol=1e-5 * np.ptp(y))


def assert_same_trees(X: F64, ours: Sequence[Tree], theirs: Any) -> int:
    """Assert that all trees split alike, and return the number of splits."""
    dumped = theirs.dump_model()["tree_info"]
    assert len(ours) == len(dumped)
    return sum(
        count_equal_splits(X, tree, dump["tree_structure"]) for tree, dump in zip(ours, dumped, strict=True)
    )


def some_weights(seed: int, n: int) -> F64:
    return np.random.default_rng(seed).integers(1, 4, n).astype(np.float64)


@pytest.mark.parametrize(("l2", "max_depth"), [(2.0, 2), (20.0, 1), (300.0, 1)])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("init", ["best", "zero"])
def test_same_regularized_trees(init: str, weighted: bool, l2: float, max_depth: int) -> None:
    """A start at 0 leaves residuals with a mean far from 0, towards which leaves must not be shrunk.

    LightGBM does not search a column below a node where it had no gain. With much regularization it may have
    one there all the same, so that only the upper levels of trees can be compared.
    """
    X, y = table_with_few_values(4, 0.1)
    y = (y + 3.0).astype(np.float32).astype(np.float64)
    weight = some_weights(5, y.shape[0]) if weighted else None
    ours = AGBMRegressor(
        penalty=0.0,
        n_estimators=N_TREES,
        max_depth=max_depth,
        min_node_fraction=0.0,
        min_samples_leaf=1,
        l2_regularization=l2,
        init=init,
    ).fit(X, y, sample_weight=weight)
    settings = {"max_depth": max_depth, "lambda_l2": l2, "min_data_in_leaf": 0}
    theirs = lightgbm_model(X, y, N_TREES, weight, boost_from_average=init == "best", **settings)
    assert assert_same_trees(X, ours.trees_, theirs) == sum(ours.n_leaves_ - 1) >= N_TREES
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X), rtol=0, atol=1e-5 * np.ptp(y))


@pytest.mark.parametrize("l2", [0.5, 20.0, 300.0])
@pytest.mark.parametrize("weighted", [False, True])
def test_regularized_as_scikit_learn_does(weighted: bool, l2: float) -> None:
    """Deeper trees with much regularization, which scikit-learn searches at every node."""
    X, y = table_with_few_values(4, 0.1)
    weight = some_weights(5, y.shape[0]) if weighted else None
    ours = AGBMRegressor(
        penalty=0.0,
        n_estimators=N_TREES,
        max_depth=4,
        min_node_fraction=0.0,
        min_samples_leaf=1,
        l2_regularization=l2,
    ).fit(X, y, sample_weight=weight)
    theirs = HistGradientBoostingRegressor(
        max_iter=N_TREES,
        max_depth=4,
        max_leaf_nodes=None,
        min_samples_leaf=1,
        l2_regularization=l2,
        early_stopping=False,
    ).fit(X, y, sample_weight=weight)
    assert min(ours.n_leaves_) > 4
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X), rtol=0, atol=1e-5 * np.ptp(y))


@pytest.mark.parametrize("l2", [0.0, 0.1, 1.0, 20.0])
@pytest.mark.parametrize("weighted", [False, True])
def test_same_newton_trees_for_log_loss(weighted: bool, l2: float) -> None:
    X, y = table_with_few_values(6, 0.1)
    y = (y > np.median(y)).astype(np.float64)
    weight = some_weights(7, y.shape[0]) if weighted else None
    max_depth = 3 if l2 < 10.0 else 1
    ours = AGBMClassifier(
        penalty=0.0,
        n_estimators=5,
        max_depth=max_depth,
        min_node_fraction=0.0,
        min_samples_leaf=1,
        criterion="newton",
        l2_regularization=l2,
    ).fit(X, y, sample_weight=weight)
    settings = {"objective": "binary", "max_depth": max_depth, "lambda_l2": l2, "min_data_in_leaf": 0}
    theirs = lightgbm_model(X, y, 5, weight, **settings)
    assert assert_same_trees(X, ours.trees_, theirs) == sum(ours.n_leaves_ - 1) >= 5
    np.testing.assert_allclose(ours.predict_proba(X)[:, 1], theirs.predict(X), rtol=0, atol=1e-5)


@pytest.mark.parametrize("num_leaves", [2, 4, 13])
@pytest.mark.parametrize(("l2", "missing"), [(0.0, 0.15), (0.5, 0.0)])
@pytest.mark.parametrize("seed", [0, 1])
def test_same_trees_with_few_leaves(seed: int, num_leaves: int, l2: float, missing: float) -> None:
    """LightGBM grows leaf by leaf, so its trees have the splits of largest gain."""
    X, y = table_with_few_values(seed, missing)
    ours = AGBMRegressor(
        penalty=0.0,
        n_estimators=N_TREES,
        max_leaf_nodes=num_leaves,
        min_node_fraction=0.0,
        min_samples_leaf=MIN_LEAF,
        l2_regularization=l2,
    ).fit(X, y)
    theirs = lightgbm_model(X, y, N_TREES, num_leaves=num_leaves, lambda_l2=l2)
    assert assert_same_trees(X, ours.trees_, theirs) == N_TREES * (num_leaves - 1)
    assert (ours.n_leaves_ == num_leaves).all()
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X), rtol=0, atol=1e-5 * np.ptp(y))
