"""The shortlist: more features bought than wanted, the best of them kept and trained on again."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from gtgbm.selection.shortlist import _times
from scipy import sparse
from sklearn.base import clone

from gtgbm import AGBMRegressor, GTGBMClassifier, GTGBMRanker, GTGBMRegressor, MultitaskGTGBMRegressor
from gtgbm.exact.arrays import F64
from tests.strategies import selects_few


def table(n_rows: int = 1500, seed: int = 0) -> tuple[F64, F64]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 30))
    return X, X[:, :8] @ np.arange(8, 0, -1) + X[:, 0] * X[:, 9] + rng.normal(size=n_rows)


def total_gains(model: Any) -> F64:
    gains = np.zeros(model.n_features_in_)
    for tree in model.trees_:
        np.add.at(gains, tree.feature[tree.feature >= 0], tree.gain[tree.feature >= 0])
    return gains


@pytest.mark.parametrize("search", ["exhaustive", "group-testing"])
@selects_few
def test_keeps_those_that_gain_most_and_trains_on_them_again(search: str) -> None:
    X, y = table()
    shared: Any = {"penalty": 0.0005, "n_estimators": 20, "search": search, "random_state": 0}
    model = GTGBMRegressor(n_features_to_select=4, shortlist=2.5, **shared).fit(X, y)
    listed = GTGBMRegressor(n_features_to_select=10, **shared).fit(X, y)
    best = np.argsort(-total_gains(listed), kind="stable")[:4]
    assert sorted(model.selected_features_) == sorted(best)
    in_order = [entry.feature for entry in listed.selection_history_ if entry.feature in best]
    assert [entry.feature for entry in model.selection_history_] == in_order

    # The second fit is one over those columns alone, all of them free at every node.
    alone = AGBMRegressor(penalty=0.0, n_estimators=20).fit(X[:, in_order], y)
    np.testing.assert_array_equal(model.predict(X), alone.predict(X[:, in_order]))
    assert {entry.tree for entry in model.selection_history_} == {0}
    first_loss = model.evals_result_["training"]["squared_error"][0]
    assert {entry.training_loss for entry in model.selection_history_} == {first_loss}
    gains = {entry.feature: (entry.gain, entry.price) for entry in listed.selection_history_}
    assert all(gains[one.feature] == (one.gain, one.price) for one in model.selection_history_)


def test_halves_again_and_again() -> None:
    """What is left of 12 is the best 3 of the best 6, each by a fit of their own."""
    X, y = table()
    shared: Any = {"penalty": 0.0005, "n_estimators": 20, "search": "exhaustive"}
    listed = AGBMRegressor(n_features_to_select=12, penalty=0.0005, n_estimators=20).fit(X, y)
    assert listed.n_selected_features_ == 12
    kept = sorted(np.argsort(-total_gains(listed), kind="stable")[:6].tolist())
    half = AGBMRegressor(penalty=0.0, n_estimators=20).fit(X[:, kept], y)
    best = [kept[k] for k in np.argsort(-total_gains(half), kind="stable")[:3]]
    model = GTGBMRegressor(n_features_to_select=3, shortlist=4, **shared).fit(X, y)
    assert sorted(model.selected_features_) == sorted(best)


def test_one_is_no_shortlist() -> None:
    X, y = table()
    plain = GTGBMRegressor(n_features_to_select=4, n_estimators=5, random_state=0)
    one = clone(plain).set_params(shortlist=1).fit(X, y)
    plain.fit(X, y)
    assert plain.selection_history_ == one.selection_history_
    np.testing.assert_array_equal(plain.predict(X), one.predict(X))


@selects_few
def test_fewer_features_than_listed() -> None:
    X, y = table()
    model = GTGBMRegressor(n_features_to_select=5, shortlist=100, penalty=0.05, n_estimators=5).fit(X, y)
    assert 0 < model.n_selected_features_ < 5
    with pytest.warns(UserWarning, match="constant"):
        nothing = GTGBMRegressor(n_features_to_select=5, shortlist=2, n_estimators=5).fit(X, np.ones_like(y))
    assert nothing.n_selected_features_ == 0


def test_categories_are_kept_one_by_one() -> None:
    rng = np.random.default_rng(0)
    kind, other = rng.integers(0, 6, 3000).astype(float), rng.integers(0, 6, 3000).astype(float)
    kind[::7] = np.nan
    y = 3.0 * (kind == 2) - 2.0 * np.isnan(kind) + 1.5 * (other == 4) + rng.normal(size=3000)
    X = np.column_stack([kind, other, rng.normal(size=3000)])
    model = GTGBMRegressor(
        n_features_to_select=3, shortlist=3, penalty=0.0001, categorical_features=[0, 1], n_estimators=20
    ).fit(X, y)
    bought = {(entry.feature, str(entry.category)) for entry in model.selection_history_}
    assert bought == {(0, "2.0"), (0, "nan"), (1, "4.0")}


def test_goes_with_early_stopping_several_classes_and_queries() -> None:
    X, y = table()
    model = GTGBMClassifier(
        n_features_to_select=3, shortlist=2, n_estimators=30, early_stopping_rounds=3, random_state=0
    ).fit(X, np.digitize(y, [-5.0, 5.0]))
    assert model.n_selected_features_ == 3
    assert len(model.trees_) == 3 * model.n_iter_
    ranker = GTGBMRanker(n_features_to_select=2, shortlist=2, n_estimators=5, random_state=0)
    ranker.fit(X, np.digitize(y, [-5.0, 5.0]), qid=np.arange(1500) // 10)
    assert ranker.n_selected_features_ == 2


def test_a_warm_start_goes_on_with_what_was_kept() -> None:
    X, y = table()
    model = GTGBMRegressor(n_features_to_select=4, shortlist=2, n_estimators=5, warm_start=True).fit(X, y)
    before, trees = model.selected_features_.tolist(), list(model.trees_)
    assert model.set_params(n_estimators=8).fit(X, y).selected_features_.tolist() == before
    assert model.n_iter_ == 8
    assert all(now is then for now, then in zip(model.trees_, trees, strict=False))


def test_the_second_fit_does_not_look_at_other_columns() -> None:
    rng = np.random.default_rng(0)
    X = sparse.random(1000, 300, density=0.05, random_state=0, format="csc")
    y = X[:, :10].toarray().sum(axis=1) + 0.1 * rng.normal(size=1000)
    shared: Any = {"n_estimators": 5, "search": "exhaustive", "random_state": 0, "n_features_to_select": 5}
    listed = GTGBMRegressor(shortlist=2, **shared).fit(X, y)
    dense = GTGBMRegressor(shortlist=2, **shared).fit(X.toarray(), y)
    assert listed.selection_history_ == dense.selection_history_
    np.testing.assert_array_equal(listed.predict(X), dense.predict(X.toarray()))


@pytest.mark.parametrize(
    ("factor", "number", "expected"), [(1.1, 50, 55), (2.2, 50, 110), (1.01, 5, 6), (1e308, 5, 10**9)]
)
def test_multiples(factor: float, number: int, expected: int) -> None:
    assert _times(factor, number) == expected


@pytest.mark.parametrize("wrong", [0.5, 0, float("nan"), "2", None])
def test_wrong_values(wrong: Any) -> None:
    X, y = table(100)
    with pytest.raises((ValueError, TypeError), match="shortlist"):
        GTGBMRegressor(n_features_to_select=2, shortlist=wrong).fit(X, y)


def test_needs_a_limit() -> None:
    X, y = table(100)
    with pytest.raises(ValueError, match=r"shortlist=2 is a multiple of n_features_to_select"):
        GTGBMRegressor(shortlist=2).fit(X, y)


# Once: a feature of the shortlist that no tree of the last fit used was selected all the same.
@pytest.mark.parametrize("seed", range(6))
@selects_few
def test_selected_are_the_features_that_trees_use(seed: int) -> None:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(200, 12))
    X[:, 3] = rng.integers(0, 5, 200)
    X[rng.random(200) < 0.05, 3] = np.nan
    y = X[:, 0] + 0.3 * X[:, 1] + (X[:, 3] == 2) + rng.normal(size=200)
    given: dict[str, Any] = {
        "penalty": 0.0,
        "n_features_to_select": 8,
        "shortlist": [1.0, 1.5, 3.0][seed % 3],
    }
    given |= {"categorical_features": [3], "categorical": ["category", "column"][seed % 2]}
    given |= {"subsample": 0.5 + 0.5 * (seed % 2), "colsample": 0.6}
    one = GTGBMRegressor(n_estimators=2, max_depth=1, random_state=seed, warm_start=True, **given).fit(X, y)
    assert_selected_are_used(one)
    assert_selected_are_used(one.set_params(n_estimators=20).fit(X, y))
    stopped = GTGBMRegressor(n_estimators=40, early_stopping_rounds=2, random_state=seed, **given).fit(X, y)
    assert_selected_are_used(stopped)
    tasks = MultitaskGTGBMRegressor(
        n_estimators=9, early_stopping_rounds=2, n_common_rounds=3 * (seed % 2), group_penalty=0.01,
        categorical_features=[3], n_features_to_select=5, random_state=seed,
        method=["multitask", "group-sparse", "independent", "single-task"][seed % 4],
    ).fit(X, y, task=np.arange(200) % 3)  # fmt: skip
    used = {name: columns_in(trees) for name, trees in tasks.trees_.items()}
    used = {name: [c for c in columns if c < 12] for name, columns in used.items()}
    assert {name: sorted(found) for name, found in tasks.task_features_.items()} == used
    assert sorted(tasks.selected_features_) == sorted(set().union(*used.values()))


def columns_in(trees: Any) -> list[int]:
    return sorted({int(column) for tree in trees for column in tree.feature if column >= 0})


def assert_selected_are_used(model: Any) -> None:
    assert sorted(model.selected_features_) == columns_in(model.trees_)
    assert [c for c in range(12) if model.feature_importances_[c] > 0] == columns_in(model.trees_)
    splits = {
        (int(column), str(float(threshold)) if is_category and model.categorical == "category" else "None")
        for tree in model.trees_
        for column, threshold, is_category in zip(tree.feature, tree.threshold, tree.is_category, strict=True)
        if column >= 0
    }
    assert splits == {(entry.feature, str(entry.category)) for entry in model.selection_history_}
