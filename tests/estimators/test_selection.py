"""Which features are selected, and what a fitted model says about it."""

from __future__ import annotations

import warnings
from typing import Any, TypeAlias

import numpy as np
import pytest

from gtgbm import (
    AGBMClassifier,
    AGBMRegressor,
    GBFSClassifier,
    GBFSRegressor,
    GTGBMClassifier,
    GTGBMRegressor,
    MultitaskGTGBMRegressor,
)
from gtgbm.exact.arrays import F64
from gtgbm.search import GroupTestSettings, choose_search
from tests.strategies import selects_few

SEARCHES = ["exhaustive", "group-testing"]
Fitted: TypeAlias = tuple[Any, F64, F64]
"""A model, and the table and the target that it was fit to."""


def table(n_rows: int = 1200, n_columns: int = 30, seed: int = 0) -> tuple[F64, F64]:
    """Make a target of ten features of falling strength among many."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, n_columns))
    return X, X[:, :10] @ (0.8 ** np.arange(10)) + 0.3 * rng.normal(size=n_rows)


def used_features(model: Any) -> set[int]:
    return {int(f) for tree in model.trees_ for f in tree.feature if f >= 0}


MODELS: list[Any] = [
    AGBMRegressor(penalty=0.001),
    GBFSRegressor(penalty=5.0),
    GTGBMRegressor(search="group-testing", random_state=0),
    GTGBMRegressor(search="group-testing", test_rows=None, n_relevant=3, random_state=0),
    GTGBMRegressor(
        search="group-testing", test_rows=500, penalty=20.0, penalty_scale="absolute", random_state=0
    ),
    AGBMClassifier(penalty=0.001),
    GBFSClassifier(penalty=2.0),
    GTGBMClassifier(search="group-testing", random_state=0),
    GTGBMClassifier(search="exhaustive", loss="squared_error"),
    GTGBMRegressor(n_features_to_select=3, selection="forward", random_state=0),
    GTGBMRegressor(early_stopping_rounds=2, learning_rate=0.7, random_state=0),
]


@pytest.fixture(params=MODELS, ids=lambda model: "".join(str(model).split()), scope="module")
def fitted(request: pytest.FixtureRequest) -> Fitted:
    X, y = table()
    model = request.param.set_params(n_estimators=15)
    target = (y > 0.2).astype(np.float64) if hasattr(model, "predict_proba") else y
    return model.fit(X, target), X, target


def test_history_agrees_with_the_trees(fitted: Fitted) -> None:
    model, _, _ = fitted
    history = model.selection_history_
    assert len(history) > 1
    assert sorted(entry.feature for entry in history) == model.selected_features_.tolist()
    assert len(set(model.selected_features_.tolist())) == len(history) == model.n_selected_features_
    assert used_features(model) == set(model.selected_features_.tolist())
    rounds = [entry.tree for entry in history]
    assert rounds == sorted(rounds)
    assert rounds[-1] < model.n_iter_
    for entry in history:
        tree = model.trees_[entry.tree]
        assert entry.feature in tree.feature
        assert all(entry.feature not in earlier.feature for earlier in model.trees_[: entry.tree])
        assert entry.training_loss == model.evals_result_["training"][model.loss][entry.tree]


def test_history_says_what_was_paid(fitted: Fitted) -> None:
    model, _, _ = fitted
    scale = getattr(model, "penalty_scale", "root")
    prices = [entry.price for entry in model.selection_history_]
    for entry in model.selection_history_:
        assert entry.gain > entry.price >= 0.0
        assert entry.gain <= 1.0
    if scale == "root":
        np.testing.assert_allclose(prices, model.penalty, rtol=1e-12)
    else:
        # In units of a root's squared error, which falls from tree to tree.
        assert prices == sorted(prices)
        assert prices[0] > 0.0


def test_gains_are_shares_of_the_squared_error_at_the_root(fitted: Fitted) -> None:
    model, _, y = fitted
    first, root = model.selection_history_[0], model.trees_[0]
    assert (first.tree, first.feature) == (0, root.feature[0])
    if root.n_rows[0] == y.shape[0]:
        # Whatever the loss, the first tree fits what the mean leaves.
        assert root.gain[0] / first.gain == pytest.approx(((y - y.mean()) ** 2).sum(), rel=1e-6)


def test_importances(fitted: Fitted) -> None:
    model, X, _ = fitted
    importances = model.feature_importances_
    assert importances.shape == (X.shape[1],)
    assert importances.sum() == pytest.approx(1.0)
    assert set(np.flatnonzero(importances > 0).tolist()) == set(model.selected_features_.tolist())
    assert importances.min() >= 0.0
    gains = np.zeros(X.shape[1])
    for tree in model.trees_:
        for feature, gain in zip(tree.feature, tree.gain, strict=True):
            gains[feature] += gain if feature >= 0 else 0.0
    np.testing.assert_allclose(importances, gains / gains.sum(), rtol=1e-9)


def test_transform_keeps_the_selected_columns(fitted: Fitted) -> None:
    model, X, _ = fitted
    selected = np.sort(model.selected_features_)
    np.testing.assert_array_equal(model.get_support(indices=True), selected)
    np.testing.assert_array_equal(model.transform(X), X[:, selected])


def test_only_selected_features_matter_to_predictions(fitted: Fitted) -> None:
    model, X, _ = fitted
    other = np.full_like(X, np.nan)
    other[:, model.selected_features_] = X[:, model.selected_features_]
    np.testing.assert_array_equal(model.predict(other), model.predict(X))
    for feature in model.selected_features_:
        changed = X.copy()
        changed[:, feature] = -changed[:, feature]
        score = model.decision_function if hasattr(model, "decision_function") else model.predict
        assert (score(changed) != score(X)).any()


def test_leaves_and_rounds(fitted: Fitted) -> None:
    model, _, _ = fitted
    assert len(model.trees_) == model.n_iter_ == model.n_leaves_.shape[0]
    for tree, leaves in zip(model.trees_, model.n_leaves_, strict=True):
        leaf = tree.feature < 0
        assert leaf.sum() == leaves == tree.n_leaves
        assert 2 * leaves - 1 == tree.n_nodes
        assert (tree.left[leaf] == -1).all()
        assert tree.n_rows[leaf].sum() == tree.n_rows[0]
        inner = np.flatnonzero(~leaf)
        children = tree.left[inner]
        np.testing.assert_array_equal(tree.n_rows[inner], tree.n_rows[children] + tree.n_rows[children + 1])
        assert (tree.gain[inner] > 0).all()
        assert (tree.gain[leaf] == 0).all()
        assert (tree.value[inner] == 0).all()


@pytest.mark.parametrize("limit", [1, 2, 5])
@pytest.mark.parametrize("search", SEARCHES)
@pytest.mark.parametrize("method", [GTGBMRegressor, GTGBMClassifier])
def test_limit_is_never_exceeded(method: Any, search: str, limit: int) -> None:
    X, y = table()
    target = y if method is GTGBMRegressor else np.digitize(y, [-1.0, 1.0])
    model = method(n_estimators=10, penalty=0.0, search=search, n_features_to_select=limit, random_state=0)
    seen: list[int] = []
    model.fit(X, target, callbacks=[lambda progress: seen.append(progress.n_features)])
    assert max(seen) == seen[-1] == model.n_selected_features_ == limit
    assert len(used_features(model)) == limit


@pytest.mark.parametrize("method", [AGBMRegressor, GBFSRegressor, AGBMClassifier])
@selects_few
def test_larger_penalty_selects_fewer(method: Any) -> None:
    X, y = table()
    target = y > 0.2 if method is AGBMClassifier else y
    unit = float(((y - y.mean()) ** 2).sum()) if method is GBFSRegressor else 1.0
    sizes = [
        method(n_estimators=15, penalty=penalty * unit).fit(X, target).n_selected_features_
        for penalty in (0.0, 0.001, 0.003, 0.01, 0.03, 0.1, 0.9)
    ]
    assert sizes == sorted(sizes, reverse=True)
    assert sizes[0] == X.shape[1]
    assert 3 <= sizes[3] <= 12
    assert sizes[-1] == 0


@pytest.mark.parametrize("n_relevant", [1, 3])
@pytest.mark.parametrize("test_rows", ["auto", None])
def test_group_testing_finds_the_relevant_features(test_rows: Any, n_relevant: int) -> None:
    rng = np.random.default_rng(3)
    X = rng.uniform(size=(3000, 500))
    relevant = [17, 203, 480]
    y = X[:, relevant] @ [3.0, -3.0, 2.0] + 0.2 * rng.normal(size=3000)
    model = GTGBMRegressor(
        n_estimators=30,
        penalty=0.01,
        search="group-testing",
        test_rows=test_rows,
        n_relevant=n_relevant,
        random_state=0,
    ).fit(X, y)
    assert set(model.selected_features_.tolist()) == set(relevant)
    assert model.search_ == "group-testing"
    assert model.score(X, y) > 0.8


def test_copies_of_owned_features_are_not_bought() -> None:
    rng = np.random.default_rng(4)
    X = rng.normal(size=(1500, 20))
    X[:, 10:] = X[:, :10] + 0.05 * rng.normal(size=(1500, 10))
    y = X[:, 0] + 0.7 * X[:, 1] + 0.1 * rng.normal(size=1500)
    chosen = AGBMRegressor(n_estimators=30, penalty=0.01).fit(X, y).selected_features_ % 10
    assert sorted(chosen.tolist()) == [0, 1]


@pytest.mark.parametrize(("n_columns", "expected"), [(20_000, "group-testing"), (5, "exhaustive")])
def test_automatic_search_says_why(n_columns: int, expected: str) -> None:
    rng = np.random.default_rng(5)
    X = rng.normal(size=(300, n_columns)).astype(np.float32)
    X[:, 2] = rng.normal(size=300)
    model = GTGBMRegressor(n_estimators=2, random_state=0).fit(X, X[:, 2])
    assert model.search_ == expected
    assert model.search_.reason


# Once: with 25 columns and many rows groups were tested, and chose worse than a look at all 25.
@pytest.mark.parametrize(
    ("n_columns", "expected"), [(25, "exhaustive"), (127, "exhaustive"), (200, "group-testing")]
)
def test_automatic_search_tests_no_groups_of_few_columns(n_columns: int, expected: str) -> None:
    X = np.random.default_rng(5).normal(size=(30_000, n_columns)).astype(np.float32)
    every = np.arange(n_columns)
    found = choose_search(X.shape[0], every, 1.0, 200, 2000, GroupTestSettings())
    assert found == expected
    assert choose_search(100, every, 1.0, 200, 100, GroupTestSettings()).reason


def test_automatic_search_of_a_mostly_empty_table() -> None:
    rng = np.random.default_rng(6)
    X = np.where(rng.random((500, 3000)) < 0.01, rng.random((500, 3000)), 0.0)
    model = GTGBMRegressor(n_estimators=1, random_state=0).fit(X, rng.normal(size=500))
    assert model.search_ == "exhaustive"
    assert "%" in model.search_.reason


# Once: the remedy was to lower penalty=0.0.
def test_what_costs_nothing_is_not_to_be_lowered() -> None:
    X = np.random.default_rng(0).normal(size=(400, 10))
    flat = np.where(np.arange(10) == 3, X, 0.0)
    free: dict[str, Any] = {"penalty": 0.0, "n_features_to_select": 4, "n_estimators": 3}
    with pytest.warns(UserWarning, match="1 feature of") as seen:
        GTGBMRegressor(search="group-testing", selection="forward", **free).fit(flat, X[:, 3])
    text = str(seen[0].message)
    assert "penalty" not in text
    assert "price" not in text
    assert "raise n_estimators=3, lower min_node_fraction=0.02, or use search='exhaustive'" in text
    with pytest.warns(UserWarning, match="raise n_estimators=3, or lower min_node_fraction=0.02$"):
        AGBMRegressor(**free).fit(flat, X[:, 3])
    free_tasks: dict[str, Any] = {"group_penalty": 0.0, "task_penalty": {0: 0.0, 1: 0.0}}
    tasks = MultitaskGTGBMRegressor(n_features_to_select=4, selection="forward", **free_tasks)
    with pytest.warns(UserWarning, match="1 feature of") as seen:
        tasks.fit(flat, X[:, 3], task=np.arange(400) % 2)
    assert "penalty" not in str(seen[0].message)
    with pytest.warns(UserWarning, match="to select more, lower task_penalty=0.4, or raise"):
        tasks.set_params(task_penalty=0.4).fit(flat, X[:, 3], task=np.arange(400) % 2)


# Once: nothing was selected, or less than asked for, without a word.
def test_fewer_features_than_asked_for_are_warned_of() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 10))
    y = X[:, 0] + X[:, 1] + 0.1 * rng.normal(size=400)
    with pytest.warns(UserWarning, match=r"^no features are selected: .* lower penalty=0.9, or") as seen:
        GTGBMClassifier(penalty=0.9).fit(X, y > 0)
    assert len(seen) == 1
    assert seen[0].filename == __file__
    with pytest.warns(UserWarning, match=r"2 features of n_features_to_select=8 are selected") as seen:
        GTGBMRegressor(penalty=0.1, n_features_to_select=8, selection="forward").fit(X, y)
    assert len(seen) == 1
    with pytest.warns(UserWarning, match="lower group_penalty=0.9 or task_penalty=0.05") as seen:
        MultitaskGTGBMRegressor(group_penalty=0.9, task_penalty=0.05).fit(X, y, task=np.arange(400) % 2)
    assert len(seen) == 1
    assert seen[0].filename == __file__
    with pytest.warns(UserWarning, match=r"^1 feature of n_features_to_select=4 is selected: "):
        GTGBMRegressor(penalty=0.4, n_features_to_select=4, selection="forward").fit(X, X[:, 0])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        GTGBMRegressor(penalty=0.1, n_features_to_select=2, selection="forward").fit(X, y)
        GTGBMRegressor(n_features_to_select=2).fit(X, y)
        GTGBMRegressor(penalty=0.1).fit(X, y)
    with pytest.warns(UserWarning, match="constant") as seen:
        GTGBMRegressor().fit(X, np.ones(400))
    assert len(seen) == 1
