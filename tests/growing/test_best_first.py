"""Trees of few leaves: the best-first part of a tree, and features that only the rest of it had bought."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csc_matrix

from gtgbm import AGBMRegressor, GTGBMClassifier, GTGBMRegressor, MultitaskGTGBMRegressor, Tree
from gtgbm.data import Tiles
from gtgbm.exact.arrays import F64, I64, LANES, NEW, OWNED
from gtgbm.growing import FeatureColumns
from gtgbm.growing.best_first import NodeFeatures, best_first, used_purchases
from gtgbm.growing.growing_tree import Purchase
from gtgbm.pricing import FeatureUnits
from tests.strategies import seeds, selects_few

N = 800


def random_tree(rng: np.random.Generator, n_splits: int) -> Tree:
    """Split random leaves; gains have ties."""
    feature, left, gain = [-1], [-1], [0.0]
    for _ in range(n_splits):
        node = int(rng.choice(np.flatnonzero(np.array(feature) < 0)))
        feature[node], left[node] = int(rng.integers(0, 5)), len(feature)
        gain[node] = float(rng.integers(1, 6))
        feature += [-1, -1]
        left += [-1, -1]
        gain += [0.0, 0.0]
    n = len(feature)
    flags, counts = np.zeros(n, dtype=np.uint8), np.arange(n, dtype=np.int64)
    return Tree(
        np.array(feature, dtype=np.int32), rng.normal(size=n), flags, flags, np.array(left, dtype=np.int32),
        rng.normal(size=n), counts, np.array(gain),
    )  # fmt: skip


@given(seeds, st.integers(0, 30), st.integers(2, 40))
def test_the_best_leaf_is_split_next(seed: int, n_splits: int, max_leaves: int) -> None:
    tree = random_tree(np.random.default_rng(seed), n_splits)
    kept, leaves = [0], {0}
    while len(leaves) < max_leaves and (can_split := [leaf for leaf in leaves if tree.feature[leaf] >= 0]):
        best = max(can_split, key=lambda leaf: (tree.gain[leaf], -leaf))
        children = {int(tree.left[best]), int(tree.left[best]) + 1}
        leaves = (leaves - {best}) | children
        kept += sorted(children)
    nodes = best_first(tree, max_leaves)
    assert nodes.tolist() == sorted(kept)
    part = tree.only(nodes)
    assert part.n_leaves == len(leaves) == min(max_leaves, n_splits + 1)
    of_split = ("feature", "threshold", "gain")
    for number, node in enumerate(nodes.tolist()):
        assert (part.value[number], part.n_rows[number]) == (tree.value[node], tree.n_rows[node])
        if node in leaves:
            assert [getattr(part, name)[number] for name in of_split] == [-1, 0.0, 0.0]
            assert part.left[number] == -1
        else:
            assert nodes[part.left[number]] == tree.left[node]
            for name in of_split:
                assert getattr(part, name)[number] == getattr(tree, name)[node]


def test_purchases_of_nodes_that_are_not_kept() -> None:
    """Node 0 splits into 1 and 2, node 1 into 3 and 4, node 2 into 5 and 6; node 2 becomes a leaf."""
    flags, zeros = np.zeros(7, dtype=np.uint8), np.zeros(7)
    features = np.array([8, 9, 7, -1, -1, -1, -1])
    gain = np.array([9.0, 4.0, 2.0, 0.0, 0.0, 0.0, 0.0])
    left = np.array([1, 3, 5, -1, -1, -1, -1], dtype=np.int32)
    tree = Tree(features.astype(np.int32), zeros, flags, flags, left, zeros, np.ones(7, np.int64), gain)
    kept = best_first(tree, 3)
    assert kept.tolist() == [0, 1, 2, 3, 4]
    of_root, of_leaf = Purchase(8, 0, 8, None, 0.9, 0.1), Purchase(7, 2, 7, None, 0.25, 0.125)
    alone = FeatureUnits(10)

    def used(features: I64, units: FeatureUnits) -> tuple[list[Purchase], list[int]]:
        uses = NodeFeatures(features, lambda feature: (feature, None))
        return used_purchases([of_root, of_leaf], tree, uses, kept, units)

    assert used(features, alone) == ([of_root], [7])
    # Now node 1 uses the feature too, for free, since node 2 had its turn first.
    shared = np.where(features == 9, 7, features)
    of_sibling = Purchase(7, 1, 7, None, 0.5, 0.125)
    assert used(shared, alone) == ([of_root, of_sibling], [])
    # Features 7 and 9 are bought together: node 1 uses what node 2 has paid.
    group = np.full(10, -1)
    group[[7, 9]] = 0
    assert used(features, FeatureUnits(10, group=group)) == (
        [of_root, Purchase(9, 1, 9, None, 0.5, 0.125)],
        [],
    )


@given(seeds, st.integers(1, 20), st.data())
def test_a_column_is_removed_from_tiles(seed: int, n_columns: int, data: st.DataObject) -> None:
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, 200, (n_columns, 9)).astype(np.uint8)
    uses = rng.choice([NEW, OWNED], n_columns)
    tiles = Tiles(9)
    for k in range(n_columns):
        tiles.append(100 + k, codes[k], 200, int(uses[k]))
    removed = data.draw(st.integers(0, n_columns - 1))
    tiles.remove(removed)
    rest = [k for k in range(n_columns) if k != removed]
    assert tiles.n_columns == n_columns - 1
    assert tiles.first_feature.tolist() == [100 + k for k in rest]
    assert tiles.use.tolist() == uses[rest].tolist()
    for position, k in enumerate(rest):
        np.testing.assert_array_equal(tiles.column(position), codes[k])
    for position in range(tiles.n_columns, tiles.n_tiles * LANES):
        assert not tiles.column(position).any()
    assert tiles.append(7, codes[removed], 200, OWNED) == n_columns - 1
    tiles.native()  # checks that histograms are wide enough


def table(seed: int = 0, d: int = 30) -> tuple[F64, F64]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(N, max(d, 10))).round(1)
    X[rng.random(X.shape) < 0.03] = np.nan
    clean = np.nan_to_num(X)
    y = clean[:, :8] @ 2.0 ** -np.arange(8) + clean[:, 0] * clean[:, 9] + 0.3 * rng.normal(size=N)
    return X[:, :d], y


def frame(seed: int = 0) -> tuple[pd.DataFrame, F64]:
    X, y = table(seed, 6)
    rng = np.random.default_rng(seed)
    found, effect = pd.DataFrame(X, columns=list("abcdef")), rng.normal(size=12)
    for name in ("g", "h"):
        codes = rng.integers(0, 12, N)
        found[name] = pd.Categorical([f"v{code}" for code in codes])
        y = y + effect[codes]
    return found, y


def sparse_table(seed: int = 0) -> tuple[Any, F64]:
    rng = np.random.default_rng(seed)
    X = rng.poisson(0.3, (N, 40)) * rng.normal(size=(N, 40))
    return csc_matrix(X), X[:, :10] @ 0.8 ** np.arange(10) + 0.3 * rng.normal(size=N)


def used_columns(trees: list[Tree]) -> set[int]:
    return {int(column) for tree in trees for column in tree.feature[tree.feature >= 0]}


def used_features(model: Any, tree: Tree) -> set[tuple[int, str]]:
    """Columns that a tree uses, or the categories of columns whose categories are features."""
    by_category = {entry.feature for entry in model.selection_history_ if entry.category is not None}
    splits = np.flatnonzero(tree.feature >= 0).tolist()
    columns = [int(tree.feature[node]) for node in splits]
    thresholds = [str(tree.threshold[node]) for node in splits]
    return {(c, at if c in by_category else "") for c, at in zip(columns, thresholds, strict=True)}


@selects_few
@pytest.mark.parametrize("make", [table, frame, sparse_table])
@pytest.mark.parametrize("search", ["exhaustive", "group-testing"])
@pytest.mark.parametrize(
    "settings", [{}, {"n_features_to_select": 5, "selection": "forward"}, {"categorical": "column"}]
)
def test_what_is_selected_is_what_trees_use(
    monkeypatch: pytest.MonkeyPatch, make: Any, search: str, settings: dict[str, Any]
) -> None:
    given_back: list[int] = []
    give_back = FeatureColumns.give_back

    def noted(self: FeatureColumns, features: I64) -> None:
        given_back.extend(features.tolist())
        give_back(self, features)

    monkeypatch.setattr(FeatureColumns, "give_back", noted)
    X, y = make()
    model = GTGBMRegressor(
        penalty=0.0002, search=search, max_leaf_nodes=4, n_estimators=25, random_state=0, **settings
    ).fit(X, y)
    if (make, search) != (sparse_table, "group-testing"):
        assert given_back, "the test needs a tree that bought more than its kept nodes use"
    assert model.n_leaves_.max() == 4
    assert set(model.selected_features_.tolist()) == used_columns(model.trees_)
    assert model.n_selected_features_ <= settings.get("n_features_to_select", np.inf)
    # The history has exactly the features that each tree is the first to use.
    seen: set[tuple[int, str]] = set()
    for t, tree in enumerate(model.trees_):
        bought = [entry for entry in model.selection_history_ if entry.tree == t]
        new = used_features(model, tree) - seen
        assert sorted(entry.feature for entry in bought) == sorted(column for column, _ in new)
        assert all(entry.gain > 0.0 for entry in bought)
        seen |= new
    assert len(seen) == len(model.selection_history_) == model.n_selected_features_


@selects_few
@pytest.mark.parametrize("method", ["multitask", "group-sparse", "independent"])
@pytest.mark.parametrize("task_order", ["sequential", "parallel"])
@pytest.mark.parametrize("search", ["exhaustive", "group-testing"])
@pytest.mark.parametrize("limit", [None, 6])
def test_tasks_give_features_back(method: str, task_order: str, search: str, limit: int | None) -> None:
    X, y = frame() if search == "exhaustive" else table()
    targets = np.column_stack([y, y + np.nan_to_num(table()[0][:, 3]), -y])
    model = MultitaskGTGBMRegressor(
        group_penalty=0.0005,
        task_penalty=0.0002,
        method=method,
        task_order=task_order,
        search=search,
        n_features_to_select=limit,
        max_leaf_nodes=4,
        n_estimators=12,
        random_state=0,
    ).fit(X, targets)
    for task, trees in model.trees_.items():
        assert max(tree.n_leaves for tree in trees) == 4
        assert set(model.task_features_[task].tolist()) == used_columns(trees)
    used = used_columns([tree for trees in model.trees_.values() for tree in trees])
    assert set(model.selected_features_.tolist()) == used
    if limit is not None and method != "independent":
        assert model.n_selected_features_ <= limit


@pytest.mark.parametrize("search", ["exhaustive", "group-testing"])
def test_a_feature_given_back_can_be_bought_again(monkeypatch: pytest.MonkeyPatch, search: str) -> None:
    given_back: set[int] = set()
    give_back = FeatureColumns.give_back

    def noted(self: FeatureColumns, features: I64) -> None:
        given_back.update(features.tolist())
        give_back(self, features)

    monkeypatch.setattr(FeatureColumns, "give_back", noted)
    X, y = table()
    model = GTGBMRegressor(
        penalty=0.0, search=search, max_leaf_nodes=6, n_estimators=40, learning_rate=0.3, random_state=0
    ).fit(X, y)
    assert given_back & set(model.selected_features_.tolist())


def test_more_leaves_than_a_tree_has_change_nothing() -> None:
    X, y = table()
    limited = AGBMRegressor(n_estimators=5, max_leaf_nodes=1000).fit(X, y)
    free = AGBMRegressor(n_estimators=5).fit(X, y)
    assert limited.selection_history_ == free.selection_history_
    np.testing.assert_array_equal(limited.predict(X), free.predict(X))


@pytest.mark.parametrize("n_jobs", [2, 3])
def test_any_number_of_threads(n_jobs: int) -> None:
    X, y = table()
    settings: dict[str, Any] = {"penalty": 0.0005, "max_leaf_nodes": 5, "l2_regularization": 2.0}
    alone, shared = (
        GTGBMClassifier(n_estimators=10, n_jobs=jobs, random_state=0, **settings).fit(X, y > 0)
        for jobs in (1, n_jobs)
    )
    assert alone.selection_history_ == shared.selection_history_
    np.testing.assert_array_equal(alone.predict_proba(X), shared.predict_proba(X))


def test_a_feature_is_selected_once_whether_trees_are_cut_or_not() -> None:
    X, y = table()
    model = GTGBMRegressor(
        penalty=0.002,
        max_leaf_nodes=16,
        min_node_fraction=0.1,
        min_samples_leaf=40,
        n_estimators=40,
        random_state=0,
    ).fit(X, y)
    assert 0 < np.count_nonzero(model.n_leaves_ == 16) < 40
    features = [entry.feature for entry in model.selection_history_]
    assert len(features) == len(set(features))
