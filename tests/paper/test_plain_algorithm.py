"""The library against the paper's algorithms written down plainly."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gtgbm import (
    AGBMClassifier,
    AGBMRegressor,
    GBFSClassifier,
    GBFSRegressor,
    GTGBMClassifier,
    GTGBMRegressor,
    Tree,
)
from gtgbm.exact.arrays import F64, I64, Bool
from gtgbm.growing.growing_tree import GrowingTree
from gtgbm.search import dealing
from tests.paper.plain_algorithm import Ensemble, Node, Rules, boost

ROWS, COLUMNS = 150, 9
N_TREES = 6
MIN_LEAF = 6


def small_table(seed: int, missing: float = 0.0) -> tuple[F64, F64]:
    """Make continuous features, so that every value is a bin of its own and no two splits are tied."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(ROWS, COLUMNS))
    y = X[:, 0] + 0.7 * np.sin(3.0 * X[:, 1]) + 0.5 * X[:, 2] * X[:, 3] + 0.3 * rng.normal(size=ROWS)
    X[rng.random(X.shape) < missing] = np.nan
    return X, y


def left_rows(X: F64, tree: Tree, node: int, rows: I64) -> I64:
    values = X[rows, tree.feature[node]]
    left = np.where(np.isnan(values), tree.missing_left[node] == 1, values <= tree.threshold[node])
    going: I64 = rows[left]
    return going


def assert_same_tree(X: F64, tree: Tree, plain: list[Node]) -> None:
    """Compare two trees from the root down; nodes may be numbered differently."""
    scale = max(node.gain for node in plain)
    pairs = [(0, 0)]
    for k, j in pairs:
        node = plain[j]
        assert tree.feature[k] == node.feature
        assert tree.n_rows[k] == node.rows.shape[0]
        np.testing.assert_allclose(tree.gain[k], node.gain, rtol=1e-6, atol=1e-6 * scale)
        if node.feature >= 0:
            np.testing.assert_array_equal(left_rows(X, tree, k, node.rows), node.left_rows)
            pairs += [(int(tree.left[k]), node.left), (int(tree.left[k]) + 1, node.left + 1)]
    assert len(pairs) == len(plain) == tree.n_nodes


def assert_same(X: F64, model: Any, plain: Ensemble, scores: F64) -> None:
    """Same splits, same purchases in the same order, same predictions."""
    assert len(model.trees_) == len(plain.trees)
    for tree, nodes in zip(model.trees_, plain.trees, strict=True):
        assert_same_tree(X, tree, nodes)
    history = model.selection_history_
    assert [(entry.tree, entry.feature) for entry in history] == [
        (purchase.tree, purchase.feature) for purchase in plain.purchases
    ]
    np.testing.assert_allclose(
        [(entry.gain, entry.price) for entry in history],
        [(purchase.gain, purchase.price) for purchase in plain.purchases],
        rtol=1e-6,
    )
    np.testing.assert_allclose(scores, plain.scores, rtol=0, atol=1e-6)


@pytest.mark.parametrize("missing", [0.0, 0.2])
@pytest.mark.parametrize("penalty", [0.0, 0.005, 0.03, 0.1])
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_agbm_is_algorithm_1(seed: int, penalty: float, missing: float) -> None:
    X, y = small_table(seed, missing)
    model = AGBMRegressor(
        penalty=penalty, n_estimators=N_TREES, min_node_fraction=0.1, min_samples_leaf=MIN_LEAF
    ).fit(X, y)
    plain = boost(X, y, Rules(penalty, min_leaf=MIN_LEAF, min_node_rows=0.1 * ROWS), n_trees=N_TREES)
    assert plain.purchases
    assert_same(X, model, plain, model.predict(X))


@pytest.mark.parametrize("penalty", [0.0, 0.3, 2.0, 10.0])
@pytest.mark.parametrize("seed", [0, 1])
def test_gbfs_has_an_absolute_penalty(seed: int, penalty: float) -> None:
    X, y = small_table(seed)
    model = GBFSRegressor(
        penalty=penalty, n_estimators=N_TREES, min_node_fraction=0.1, min_samples_leaf=MIN_LEAF, max_depth=3
    ).fit(X, y)
    rules = Rules(penalty, of_root=False, min_leaf=MIN_LEAF, min_node_rows=0.1 * ROWS, max_depth=3)
    plain = boost(X, y, rules, n_trees=N_TREES)
    assert plain.purchases
    assert_same(X, model, plain, model.predict(X))


@pytest.mark.parametrize("fraction", [0.02, 0.2])
def test_node_and_leaf_sizes_follow_the_node_fraction(fraction: float) -> None:
    X, y = small_table(4)
    model = AGBMRegressor(penalty=0.01, n_estimators=N_TREES, min_node_fraction=fraction).fit(X, y)
    min_leaf = int(np.ceil(max(fraction * ROWS / 4, min(10, ROWS / 10))))
    plain = boost(X, y, Rules(0.01, min_leaf=min_leaf, min_node_rows=fraction * ROWS), n_trees=N_TREES)
    assert_same(X, model, plain, model.predict(X))


@pytest.mark.parametrize("limit", [1, 3])
def test_limit_on_features(limit: int) -> None:
    X, y = small_table(5)
    model = AGBMRegressor(
        penalty=0.0,
        n_features_to_select=limit,
        n_estimators=N_TREES,
        min_node_fraction=0.0,
        max_depth=3,
        min_samples_leaf=MIN_LEAF,
    ).fit(X, y)
    plain = boost(X, y, Rules(0.0, min_leaf=MIN_LEAF, max_depth=3, limit=limit), n_trees=N_TREES)
    assert len(plain.purchases) == limit
    assert_same(X, model, plain, model.predict(X))


@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize("method", [AGBMClassifier, GBFSClassifier])
def test_classifiers_take_newton_steps(method: Any, seed: int) -> None:
    X, target = small_table(seed)
    y = (target > 0.3).astype(np.float64)
    adaptive = method is AGBMClassifier
    penalty = 0.03 if adaptive else 1.0
    model = method(
        penalty=penalty, n_estimators=N_TREES, min_node_fraction=0.1, min_samples_leaf=MIN_LEAF
    ).fit(X, y)
    rules = Rules(penalty, of_root=adaptive, min_leaf=MIN_LEAF, min_node_rows=0.1 * ROWS)
    plain = boost(X, y, rules, n_trees=N_TREES, logistic=True)
    assert_same(X, model, plain, model.decision_function(X))


def subsets_of(seed: int, n_subsets: int, size: int) -> I64:
    rng = np.random.default_rng(seed)
    return np.stack([rng.permutation(COLUMNS)[:size] for _ in range(n_subsets)]).astype(np.int64)


def give_subsets(monkeypatch: pytest.MonkeyPatch, subsets: I64) -> None:
    monkeypatch.setattr(dealing, "deal_subsets", lambda *_: subsets)


@pytest.mark.parametrize("missing", [0.0, 0.2])
@pytest.mark.parametrize(("n_subsets", "size"), [(1, COLUMNS), (3, COLUMNS), (4, 5), (6, 3), (8, 1)])
@pytest.mark.parametrize("penalty", [0.0, 0.01])
@pytest.mark.parametrize("seed", [0, 1, 2, 3])
def test_gtgbm_is_algorithm_2(
    monkeypatch: pytest.MonkeyPatch, seed: int, n_subsets: int, size: int, penalty: float, missing: float
) -> None:
    X, y = small_table(seed, missing)
    subsets = subsets_of(seed, n_subsets, size)
    give_subsets(monkeypatch, subsets)
    model = GTGBMRegressor(
        penalty=penalty,
        search="group-testing",
        test_rows=None,
        n_estimators=N_TREES,
        min_node_fraction=0.1,
        min_samples_leaf=MIN_LEAF,
    ).fit(X, y)
    rules = Rules(penalty, min_leaf=MIN_LEAF, min_node_rows=0.1 * ROWS, subsets=subsets.tolist())
    plain = boost(X, y, rules, n_trees=N_TREES)
    assert plain.purchases
    assert_same(X, model, plain, model.predict(X))


def test_gtgbm_classifier_is_algorithm_2(monkeypatch: pytest.MonkeyPatch) -> None:
    X, target = small_table(6)
    y = (target > 0.0).astype(np.float64)
    subsets = subsets_of(6, 3, 6)
    give_subsets(monkeypatch, subsets)
    model = GTGBMClassifier(
        penalty=0.01,
        search="group-testing",
        test_rows=None,
        n_estimators=N_TREES,
        min_node_fraction=0.1,
        min_samples_leaf=MIN_LEAF,
    ).fit(X, y)
    rules = Rules(0.01, min_leaf=MIN_LEAF, min_node_rows=0.1 * ROWS, subsets=subsets.tolist())
    plain = boost(X, y, rules, n_trees=N_TREES, logistic=True)
    assert_same(X, model, plain, model.decision_function(X))


@pytest.mark.parametrize("noise", [0.0, 0.5])
@pytest.mark.parametrize("penalty", [0.0, 0.001, 0.01, 0.05, 0.2])
@pytest.mark.parametrize("method", [AGBMRegressor, GBFSRegressor, AGBMClassifier, GBFSClassifier])
def test_skipping_changes_nothing(
    monkeypatch: pytest.MonkeyPatch, method: Any, penalty: float, noise: float
) -> None:
    rng = np.random.default_rng(7)
    X = rng.normal(size=(600, 12))
    y: F64 = X[:, 0] + np.sin(3.0 * X[:, 1]) + X[:, 2] * X[:, 3] + noise * rng.normal(size=600)
    if method in (AGBMClassifier, GBFSClassifier):
        y = (y > 0.0).astype(np.float64)
    if method in (GBFSRegressor, GBFSClassifier):
        penalty *= float(((y - y.mean()) ** 2).sum())
    model = method(penalty=penalty, n_estimators=10)
    skipping = model.fit(X, y).trees_

    def search_everywhere(*arguments: Any) -> Bool:
        owned_gain = arguments[-1]
        return np.ones(owned_gain.shape[0], dtype=np.bool_)

    monkeypatch.setattr(GrowingTree, "_may_buy", search_everywhere)
    searching = model.fit(X, y).trees_
    for with_skip, without in zip(skipping, searching, strict=True):
        for name in ("feature", "threshold", "missing_left", "left", "value", "n_rows", "gain"):
            assert getattr(with_skip, name).tobytes() == getattr(without, name).tobytes(), name
