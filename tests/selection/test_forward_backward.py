"""Forward-backward selection: planted features are found, whatever the problem; what is selected is used."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from scipy import sparse

from gtgbm import AGBMRegressor, GTGBMClassifier, GTGBMRanker, GTGBMRegressor
from gtgbm.boosting import TreeSettings
from gtgbm.exact import RowWeights
from gtgbm.losses import Quantile
from tests.estimators.test_determinism import bytes_of
from tests.selection.planted import FEW, PLANTED, noise, planted, used_columns
from tests.strategies import seeds, selects_few


@settings(max_examples=8)
@given(seed=seeds)
def test_as_many_features_as_planted_are_those(seed: int) -> None:
    X, y = planted(seed)
    model = GTGBMRegressor(**FEW).fit(X, y)
    assert model.selected_features_.tolist() == PLANTED
    assert {(entry.tree, entry.price) for entry in model.selection_history_} == {(0, 0.0)}
    gains = [entry.gain for entry in model.selection_history_]
    assert gains == sorted(gains, reverse=True)
    first_loss = model.evals_result_["training"]["squared_error"][0]
    assert {entry.training_loss for entry in model.selection_history_} == {first_loss}


@pytest.mark.parametrize("search", ["exhaustive", "group-testing"])
def test_the_last_fit_is_one_of_the_selected_columns_alone(search: str) -> None:
    X, y = planted()
    model = GTGBMRegressor(**FEW, search=search).fit(X, y)
    alone = AGBMRegressor(penalty=0.0, n_estimators=10, max_leaf_nodes=31).fit(X[:, PLANTED], y)
    np.testing.assert_array_equal(model.predict(X), alone.predict(X[:, PLANTED]))


@pytest.mark.parametrize(("settings", "limit"), [({"n_features_to_select": len(PLANTED)}, 31), ({}, None)])
def test_leaves_are_limited_where_features_are(settings: dict[str, Any], limit: int | None) -> None:
    X, y = planted(n_rows=800)
    given = settings | {"n_estimators": 5, "min_node_fraction": 0.0, "min_samples_leaf": 5}
    model = GTGBMRegressor(**given).fit(X, y)
    same = GTGBMRegressor(**given, max_leaf_nodes=limit).fit(X, y)
    np.testing.assert_array_equal(model.predict(X), same.predict(X))
    most = max(tree.n_leaves for tree in model.trees_)
    assert most == limit if limit else most > 31


@pytest.mark.parametrize(("adds_up", "leaves"), [(True, 8), (False, 31)])
def test_unseen_rows_tell_how_many_leaves(adds_up: bool, leaves: int) -> None:
    rng = np.random.default_rng(5)
    X = rng.normal(size=(900, 10))
    # Trees of 8 leaves represent sums, but not a value for each of 32 patterns of signs.
    patterns = 4.0 * rng.normal(size=32)[(X[:, :5] > 0.0) @ (2 ** np.arange(5))]
    signal = X[:, :5].sum(axis=1) if adds_up else patterns
    model = GTGBMRegressor(n_features_to_select=5, min_samples_leaf=5).fit(X, signal + rng.normal(size=900))
    assert max(tree.n_leaves for tree in model.trees_) == leaves


@pytest.mark.parametrize(("n_rows", "limit"), [(1, 31), (31_999, 31), (32_000, 32), (500_123, 500)])
def test_many_rows_support_more_leaves(n_rows: int, limit: int) -> None:
    tree = TreeSettings(0.02, None, 0.0, None, "auto", 1.0, 0)
    limits = tree.limits(RowWeights.equal(n_rows))
    assert (limits.max_leaf_nodes, limits.max_depth) == (limit, limit - 1)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_classes(n_classes: int) -> None:
    X, y = planted(n_rows=700)
    classes = np.digitize(y, np.quantile(y, np.arange(1, n_classes) / n_classes))
    model = GTGBMClassifier(**FEW).fit(X, classes)
    assert model.selected_features_.tolist() == PLANTED
    assert len(model.trees_) == model.n_iter_ * (1 if n_classes == 2 else 3)


@pytest.mark.parametrize(
    "loss", ["squared_error", "absolute_error", "huber", "quantile", Quantile(0.8), "poisson", "tweedie"]
)
def test_regression_losses(loss: Any) -> None:
    X, y = planted()
    target = np.rint(np.exp(0.5 * y)) if loss in ("poisson", "tweedie") else y
    assert GTGBMRegressor(**FEW, loss=loss).fit(X, target).selected_features_.tolist() == PLANTED


@pytest.mark.parametrize("loss", ["lambdarank", "pairwise"])
def test_rankings(loss: str) -> None:
    X, y = planted(n_rows=800)
    qid = np.random.default_rng(1).permutation(np.arange(800) // 10)
    model = GTGBMRanker(**FEW, loss=loss).fit(X, np.digitize(y, [-1.0, 1.0]), qid=qid)
    assert model.selected_features_.tolist() == PLANTED


def test_weights_decide_which_rows_count() -> None:
    (X, y), (other, z) = planted(0), planted(1)
    # In the second half of the rows, other columns are planted.
    both, target = np.concatenate([X, np.roll(other, 1, axis=1)]), np.concatenate([y, z])
    weight = np.repeat([1.0, 1e-4], 400)
    model = GTGBMRegressor(**FEW).fit(both, target, sample_weight=weight)
    assert model.selected_features_.tolist() == PLANTED
    model.fit(both, target, sample_weight=weight[::-1])
    assert model.selected_features_.tolist() == [column + 1 for column in PLANTED]


@pytest.mark.parametrize("categorical", ["category", "column"])
def test_categories(categorical: str) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1500, 5))
    X[:, 0], X[:, 1] = rng.integers(0, 6, 1500), rng.integers(0, 6, 1500)
    X[::7, 0] = np.nan
    y = 3.0 * (X[:, 0] == 2) - 2.0 * np.isnan(X[:, 0]) + 1.5 * (X[:, 1] == 4) + X[:, 3]
    given: dict[str, Any] = {"categorical": categorical, "categorical_features": [0, 1], "random_state": 0}
    given["n_features_to_select"] = 4 if categorical == "category" else 3
    model = GTGBMRegressor(**given, n_estimators=10).fit(X, y + 0.5 * rng.normal(size=1500))
    found = {(entry.feature, str(entry.category)) for entry in model.selection_history_}
    by_category = {(0, "2.0"), (0, "nan"), (1, "4.0"), (3, "None")}
    by_column = {(0, "None"), (1, "None"), (3, "None")}
    assert found == (by_category if categorical == "category" else by_column)


@pytest.mark.parametrize("to", [sparse.csc_matrix, sparse.csr_matrix])
def test_sparse_tables_are_dense_tables(to: Any) -> None:
    X, y = planted()
    X[np.abs(X) < 0.5] = 0.0
    dense, found = GTGBMRegressor(**FEW).fit(X, y), GTGBMRegressor(**FEW).fit(to(X), y)
    assert found.selection_history_ == dense.selection_history_
    np.testing.assert_array_equal(found.predict(to(X)), dense.predict(X))


def test_monotone_constraints_hold() -> None:
    X, y = planted()
    model = GTGBMRegressor(**FEW, monotone_constraints={2: 1, 5: -1}).fit(X, y)
    assert model.selected_features_.tolist() == PLANTED
    for column, direction in ((2, 1.0), (5, -1.0)):
        rows = np.repeat(X[:20], 50, axis=0)
        rows[:, column] = np.tile(np.linspace(-3.0, 3.0, 50), 20)
        steps = np.diff(model.predict(rows).reshape(20, 50), axis=1)
        assert (direction * steps >= -1e-12).all()
    # A column that may only go the wrong way is worth nothing.
    wrong = GTGBMRegressor(**FEW | {"n_features_to_select": 2}, monotone_constraints={2: -1}).fit(X, y)
    assert wrong.selected_features_.tolist() == [5, 11]


def test_early_stopping_and_callbacks_are_those_of_the_last_fit() -> None:
    (X, y), rounds = planted(), []
    model = GTGBMRegressor(**FEW | {"n_estimators": 200, "learning_rate": 0.5}, early_stopping_rounds=3)
    model.fit(X, y, eval_set=planted(1), callbacks=[lambda progress: rounds.append(progress.round)])
    assert model.selected_features_.tolist() == PLANTED
    assert rounds == list(range(1, len(rounds) + 1))
    assert model.n_iter_ == model.best_iteration_ == len(rounds) - 3 < 100
    stopped = GTGBMRegressor(**FEW).fit(X, y, callbacks=[lambda progress: progress.round == 2])
    assert stopped.n_iter_ == 2
    assert "selection" in stopped.timings_


@settings(max_examples=5)
@given(seed=seeds)
def test_the_order_of_columns_does_not_matter(seed: int) -> None:
    X, y = planted(seed, n_columns=12)
    y -= X[:, 2] + X[:, 5]  # hard enough to make ties of noise possible
    order = np.random.default_rng(seed).permutation(12)
    given: dict[str, Any] = FEW | {"search": "exhaustive", "n_features_to_select": 2}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # fewer than asked for
        found = GTGBMRegressor(**given).fit(X, y)
        permuted = GTGBMRegressor(**given).fit(X[:, order], y)
    assert [order[entry.feature] for entry in permuted.selection_history_] == [
        entry.feature for entry in found.selection_history_
    ]
    np.testing.assert_array_equal(permuted.predict(X[:, order]), found.predict(X))


@pytest.mark.parametrize("search", ["exhaustive", "group-testing"])
def test_threads_change_no_bit(search: str) -> None:
    X, y = planted(n_rows=3000, n_columns=40)
    one, two = (GTGBMRegressor(**FEW, search=search, n_jobs=jobs).fit(X, y) for jobs in (1, 2))
    assert one.selection_history_ == two.selection_history_
    assert bytes_of(one.trees_) == bytes_of(two.trees_)


@pytest.mark.parametrize("seed", range(4))
@selects_few
def test_selected_are_the_features_that_trees_use(seed: int) -> None:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(200, 12))
    X[:, 3] = rng.integers(0, 5, 200)
    X[rng.random(200) < 0.05, 3] = np.nan
    y = X[:, 0] + 0.3 * X[:, 1] + (X[:, 3] == 2) + rng.normal(size=200)
    given: dict[str, Any] = {"n_features_to_select": 8, "categorical_features": [3], "random_state": seed}
    given |= {"categorical": ["category", "column"][seed % 2], "subsample": 0.5 + 0.5 * (seed % 2)}
    one = GTGBMRegressor(n_estimators=2, max_depth=1, colsample=0.6, warm_start=True, **given).fit(X, y)
    assert one.selected_features_.tolist() == used_columns(one.trees_)
    one.set_params(n_estimators=20).fit(X, y)
    assert one.selected_features_.tolist() == used_columns(one.trees_)
    stopped = GTGBMRegressor(n_estimators=40, early_stopping_rounds=2, **given).fit(X, y)
    assert stopped.selected_features_.tolist() == used_columns(stopped.trees_)


def test_a_warm_start_continues_with_the_same_features() -> None:
    X, y = planted()
    model = GTGBMRegressor(**FEW, warm_start=True).fit(X, y)
    trees = list(model.trees_)
    model.set_params(n_estimators=14).fit(X, y)
    assert model.selected_features_.tolist() == PLANTED
    assert model.n_iter_ == 14
    assert all(now is then for now, then in zip(model.trees_, trees, strict=False))
    with pytest.raises(ValueError, match=r"n_features_to_select=4: warm_start=True .* whose limit was 3"):
        model.set_params(n_features_to_select=4, n_estimators=16).fit(X, y)
    more = model.set_params(selection="forward").fit(X, y)
    assert set(PLANTED) <= set(more.selected_features_.tolist())


def test_needs_a_limit() -> None:
    X, y = planted()
    with pytest.raises(ValueError, match=r"selection='forward-backward' .* n_features_to_select .* None"):
        GTGBMRegressor(selection="forward-backward").fit(X, y)
    with pytest.raises(ValueError, match=r"selection='backward' is unknown: give one of 'auto', 'forward'"):
        GTGBMRegressor(selection="backward").fit(X, y)


@pytest.mark.parametrize("n_rows", [2, 5, 11])
@selects_few
def test_a_few_rows_are_selected_forward(n_rows: int) -> None:
    X, y = planted(n_rows=n_rows)
    given: dict[str, Any] = FEW | {"n_features_to_select": 2, "min_samples_leaf": 1}
    found, forward = (GTGBMRegressor(**given, selection=name).fit(X, y) for name in ("auto", "forward"))
    assert found.selection_history_ == forward.selection_history_
    np.testing.assert_array_equal(found.predict(X), forward.predict(X))


@pytest.mark.parametrize("n_rows", [12, 19, 30])
@selects_few
def test_small_tables_are_selected_without_error(n_rows: int) -> None:
    X, y = planted(n_rows=n_rows)
    assert GTGBMRegressor(**FEW).fit(X, y).n_selected_features_ <= 3
    assert GTGBMClassifier(**FEW).fit(X, y > np.median(y)).n_selected_features_ <= 3
    X[:, :] = 1.0
    assert GTGBMRegressor(**FEW).fit(X, y).n_selected_features_ == 0


def test_the_warning_says_why_there_are_few() -> None:
    X, y = noise(0)
    with pytest.warns(UserWarning, match=r"^no features of n_features_to_select=3 are selected") as seen:
        GTGBMRegressor(**FEW, penalty=0.2).fit(X, y)
    assert len(seen) == 1
    text = str(seen[0].message)
    assert ": the features show no signal on rows that models were not trained on" in text
    assert "use selection='forward' with a lower penalty" in text
    assert "0.2" not in text
    assert seen[0].filename == __file__
