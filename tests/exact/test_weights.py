"""A row of weight 2 is two rows, one of weight 0 is none: the same model, bit for bit."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csc_matrix
from sklearn.utils.class_weight import compute_sample_weight

from gtgbm import (
    AGBMClassifier,
    AGBMRegressor,
    GBFSClassifier,
    GBFSRegressor,
    GTGBMClassifier,
    GTGBMRanker,
    GTGBMRegressor,
    Tree,
)
from gtgbm.exact import FitContext, exact_mean
from gtgbm.exact.arrays import F64, I64
from gtgbm.exact.weights import RowWeights
from gtgbm.losses import Huber, Poisson, Quantile, Tweedie
from tests.estimators.test_determinism import ARRAYS
from tests.strategies import seeds

N = 240
REGRESSION_LOSSES = [
    "squared_error",
    "absolute_error",
    "huber",
    "quantile",
    "poisson",
    "tweedie",
    Quantile(0.8),
    Huber(0.2),
    Tweedie(1.2),
    Poisson(),
]


def table(seed: int = 0, n: int = N, n_values: int = 12) -> tuple[F64, F64]:
    """Make columns of few values, so that bins do not depend on how often each occurs."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, n_values, (n, 10)).astype(np.float64)
    X[rng.random(X.shape) < 0.05] = np.nan
    signal = np.nan_to_num(X[:, 0]) + (X[:, 1] > 5) * np.nan_to_num(X[:, 2])
    return X, np.abs(signal / 4.0 + rng.normal(size=n))


def whole_weights(n: int = N, seed: int = 1, low: int = 0) -> I64:
    return np.random.default_rng(seed).integers(low, 4, n)


def scores_of(model: Any, X: Any) -> F64:
    return np.asarray(model._scores(X))


def from_the_root(tree: Tree) -> dict[str, bytes]:
    """Return a tree's arrays, nodes numbered depth first: its own numbers depend on sizes in rows."""
    nodes, pending = [], [0]
    while pending:
        nodes.append(pending.pop())
        left = int(tree.left[nodes[-1]])
        pending += [left + 1, left] if left >= 0 else []
    return {name: getattr(tree, name)[nodes].tobytes() for name in ARRAYS if name != "left"}


def assert_same(one: Any, other: Any, X: Any) -> None:
    """Compare all but mean losses, which are sums of floats in another order."""
    assert list(map(from_the_root, one.trees_)) == list(map(from_the_root, other.trees_))
    np.testing.assert_array_equal(one.selected_features_, other.selected_features_)
    assert [entry._replace(training_loss=0.0) for entry in one.selection_history_] == [
        entry._replace(training_loss=0.0) for entry in other.selection_history_
    ]
    np.testing.assert_array_equal(scores_of(one, X), scores_of(other, X))
    for name, values in one.evals_result_["training"].items():
        np.testing.assert_allclose(values, other.evals_result_["training"][name])
    assert one.n_selected_features_ > 1


def assert_weights_repeat(model: Any, again: Any, X: Any, y: Any, weight: I64) -> None:
    rows = np.repeat(np.arange(weight.shape[0]), weight)
    assert_same(model.fit(X, y, sample_weight=weight), again.fit(X[rows], y[rows]), X)


# Once: the start of poisson and tweedie is a sum of floats (Tweedie.start), with other last bits.
@pytest.mark.parametrize("loss", REGRESSION_LOSSES, ids=str)
@pytest.mark.parametrize("init", ["best", "zero"])
def test_whole_weights_repeat_rows(loss: Any, init: str) -> None:
    X, y = table()
    one, other = (AGBMRegressor(n_estimators=8, loss=loss, init=init, penalty=0.005) for _ in range(2))
    assert_weights_repeat(one, other, X, y, whole_weights())


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("method", [AGBMClassifier, GBFSClassifier, GTGBMClassifier])
def test_whole_weights_repeat_rows_of_classes(method: Any, n_classes: int) -> None:
    X, y = table()
    labels = np.array(["a", "b", "c"])[np.digitize(y, [2.0, 3.5][: n_classes - 1])]
    one, other = (method(n_estimators=6, random_state=0) for _ in range(2))
    assert_weights_repeat(one, other, X, labels, whole_weights())


@given(seed=seeds)
@settings(max_examples=10)
def test_whole_weights_repeat_rows_of_any_table(seed: int) -> None:
    X, y = table(seed)
    for settings_ in ({"penalty": 0.0}, {"penalty": 0.01, "max_depth": 3}, {"min_samples_leaf": 9}):
        one, other = (AGBMRegressor(n_estimators=4, **settings_) for _ in range(2))
        assert_weights_repeat(one, other, X, y, whole_weights(seed=seed))


@pytest.mark.parametrize("test_rows", ["auto", None])
@pytest.mark.parametrize("loss", ["squared_error", "quantile"])
def test_group_tests_see_weights(loss: str, test_rows: Any) -> None:
    """All rows are tested, and nodes that are searched are large, counted as rows or by weight."""
    X, y = table(n=440)
    settings_ = {"loss": loss, "search": "group-testing", "test_rows": test_rows, "random_state": 0}
    one, other = (
        GTGBMRegressor(**settings_, n_estimators=6, penalty=0.005, max_depth=2, min_node_fraction=0.4)
        for _ in range(2)
    )
    assert_weights_repeat(one, other, X, y, whole_weights(440, low=1))


def test_absolute_prices_count_weights() -> None:
    X, y = table()
    one, other = (GBFSRegressor(n_estimators=6, penalty=8.0) for _ in range(2))
    assert_weights_repeat(one, other, X, y, whole_weights())
    one.fit(X, y)
    # Fractions have units of their own, and prices go by them.
    thirds = GBFSRegressor(n_estimators=6, penalty=8.0 / 3.0).fit(X, y, sample_weight=np.full(N, 1.0 / 3.0))
    np.testing.assert_array_equal(one.selected_features_, thirds.selected_features_)


@pytest.mark.parametrize("sparse", [False, True])
def test_categories_and_sparse_tables_repeat_rows(sparse: bool) -> None:
    rng = np.random.default_rng(5)
    X = rng.integers(0, 6, (N, 8)) * (rng.random((N, 8)) < 0.4) * 1.0
    y = (X[:, 0] == 3) * 2.0 + (X[:, 0] == 1) - (X[:, 4] > 2) + 0.3 * rng.normal(size=N)
    settings_: dict[str, Any] = {"n_estimators": 8, "penalty": 0.005, "categorical_features": [0, 1]}
    one, other = (AGBMRegressor(**settings_) for _ in range(2))
    assert_weights_repeat(one, other, csc_matrix(X) if sparse else X, y, whole_weights())
    assert len(one.selected_categories_[0]) > 1


@pytest.mark.parametrize("loss", ["lambdarank", "pairwise"])
def test_a_query_of_weight_two_is_two_queries(loss: str) -> None:
    X, y = table()
    relevance, qid = np.minimum(y.astype(np.int64), 4), np.arange(N) % 30
    weight = np.random.default_rng(2).integers(0, 3, 30)[qid]
    rows = np.concatenate([np.flatnonzero(weight >= k) for k in (1, 2)])
    again = np.concatenate([qid[weight >= 1], 100 + qid[weight >= 2]])
    one, other = (GTGBMRanker(n_estimators=8, loss=loss, search="exhaustive") for _ in range(2))
    one.fit(X, relevance, qid=qid, sample_weight=weight)
    other.fit(X[rows], relevance[rows], qid=again)
    assert list(map(from_the_root, one.trees_)) == list(map(from_the_root, other.trees_))
    np.testing.assert_array_equal(one.predict(X), other.predict(X))


# Once: the mean loss of a ranking does not weigh queries (RankingLoss.derivatives), neither in training nor
# in validation, where it decides early stopping.
@pytest.mark.parametrize("loss", ["lambdarank", "pairwise"])
def test_the_loss_of_rankings_weighs_queries(loss: str) -> None:
    X, y = table()
    relevance, qid = np.minimum(y.astype(np.int64), 4), np.arange(N) % 30
    weight = np.where(qid < 15, 2.0, 1.0)
    rows = np.concatenate([np.arange(N), np.flatnonzero(qid < 15)])
    again = np.concatenate([qid, 100 + qid[qid < 15]])
    model = GTGBMRanker(n_estimators=5, loss=loss, search="exhaustive").fit(
        X,
        relevance,
        qid=qid,
        sample_weight=weight,
        eval_set=[(X, relevance), (X[rows], relevance[rows])],
        eval_qid=[qid, again],
        eval_sample_weight=[weight, None],
    )
    seen = [model.evals_result_[name][loss] for name in ("training", "validation_0", "validation_1")]
    np.testing.assert_allclose(seen[1], seen[2])
    np.testing.assert_allclose(seen[0], seen[2])


@pytest.mark.parametrize("search", ["exhaustive", "group-testing"])
def test_rows_without_weight_are_left_out(search: str) -> None:
    X, y = table(n_values=1000)
    weight = np.random.default_rng(3).random(N) * (np.arange(N) % 3 > 0)
    kept = weight > 0
    for method, target in ((GTGBMRegressor, y), (GTGBMClassifier, np.digitize(y, [100.0, 250.0]))):
        one, other = (method(n_estimators=5, search=search, random_state=0) for _ in range(2))
        one.fit(X, target, sample_weight=weight)
        other.fit(X[kept], target[kept], sample_weight=weight[kept])
        assert_same(one, other, X)
        assert one.evals_result_ == other.evals_result_


def test_a_class_without_weight_is_no_class() -> None:
    X, y = table()
    labels = np.digitize(y, [2.0, 4.0])
    model = AGBMClassifier(n_estimators=3).fit(X, labels, sample_weight=(labels != 1) * 1.0)
    assert model.classes_.tolist() == [0, 2]


@pytest.mark.parametrize("factor", [2.0, 2.0**-7, 2.0**20, 2.0**-200])
@pytest.mark.parametrize("loss", ["squared_error", "absolute_error"])
def test_powers_of_two_change_nothing(loss: str, factor: float) -> None:
    X, y = table(n_values=1000)
    weight = np.random.default_rng(3).random(N) + 0.1
    one, other = (AGBMRegressor(n_estimators=8, loss=loss).fit(X, y, w) for w in (weight, factor * weight))
    np.testing.assert_array_equal(one.selected_features_, other.selected_features_)
    np.testing.assert_array_equal(one.predict(X), other.predict(X))
    assert one.evals_result_ == other.evals_result_


def test_twice_whole_weights_change_nothing() -> None:
    """Nodes of a quarter of the weight: a whole number, so that it doubles."""
    X, y = table(n=400)
    weight = whole_weights(400, low=1)
    weight[0] += 4 - weight.sum() % 4
    settings_: dict[str, Any] = {"n_estimators": 8, "min_node_fraction": 0.25, "min_samples_leaf": 1}
    one, other = (AGBMRegressor(**settings_).fit(X, y, w) for w in (weight, 2 * weight))
    for tree, again in zip(one.trees_, other.trees_, strict=True):
        np.testing.assert_array_equal(tree.feature, again.feature)
        np.testing.assert_array_equal(tree.threshold, again.threshold)
        np.testing.assert_array_equal(2 * tree.n_rows, again.n_rows)
    np.testing.assert_allclose(one.predict(X), other.predict(X), rtol=1e-12)


def test_leaves_are_weighted_means() -> None:
    X, y = table(n_values=1000)
    weight = np.random.default_rng(4).random(N) * 10.0
    model = AGBMRegressor(n_estimators=1, learning_rate=1.0, max_depth=1).fit(X, y, sample_weight=weight)
    predicted = model.predict(X)
    assert np.unique(predicted).shape[0] == 2
    errors = []
    for value in np.unique(predicted):
        inside = predicted == value
        assert value == pytest.approx(np.average(y[inside], weights=weight[inside]), rel=1e-6)
        errors.append((weight * (y - value) ** 2)[inside].sum())
    # No other threshold leaves less weighted squared error.
    for column in X.T:
        for left in (column <= value for value in np.unique(column[~np.isnan(column)])[20:-20]):
            sides = [left, ~left]
            means = [np.average(y[s], weights=weight[s]) for s in sides]
            rest = sum((weight * (y - m) ** 2)[s].sum() for s, m in zip(sides, means, strict=True))
            assert sum(errors) <= rest * (1.0 + 1e-6)


def test_equal_fractions_change_little() -> None:
    X, y = table(n_values=1000)
    one, other = (AGBMRegressor(n_estimators=20).fit(X, y, w) for w in (None, np.full(N, 0.3)))
    np.testing.assert_array_equal(one.selected_features_, other.selected_features_)
    losses = [model.evals_result_["training"]["squared_error"] for model in (one, other)]
    np.testing.assert_allclose(losses[0], losses[1], rtol=1e-3)


# Once: gains of trees are in the units of rounded weights, here 2 ** 16 times too large. (So is n_rows.)
def test_gains_are_falls_of_weighted_squared_error() -> None:
    X, y = table()
    weight = np.random.default_rng(4).random(N)
    model = AGBMRegressor(n_estimators=1, learning_rate=1.0, max_depth=1).fit(X, y, sample_weight=weight)
    errors = [(y - p) ** 2 @ weight for p in (np.average(y, weights=weight), model.predict(X))]
    assert model.trees_[0].gain[0] == pytest.approx(errors[0] - errors[1], rel=1e-3)


@pytest.mark.parametrize("class_weight", ["balanced", {0: 3, 1: 1, 2: 2}, {0: 0.7, 2: 1.3}])
def test_weights_of_classes_are_weights_of_their_rows(class_weight: Any) -> None:
    X, y = table()
    labels = np.digitize(y, [1.0, 4.0])
    rows = compute_sample_weight(class_weight, labels)
    own = whole_weights(low=1) / 2.0
    for given_weight, expected in ((None, rows), (own, own * rows)):
        one = AGBMClassifier(n_estimators=4, class_weight=class_weight).fit(X, labels, given_weight)
        other = AGBMClassifier(n_estimators=4).fit(X, labels, expected)
        assert_same(one, other, X)
    plain = AGBMClassifier(n_estimators=4).fit(X, labels)
    assert np.abs(one.predict_proba(X) - plain.predict_proba(X)).max() > 0.01


def test_class_weights_with_labels_of_strings() -> None:
    X, y = table()
    labels = np.where(y > 4.0, "rare", "usual")
    weighted = AGBMClassifier(n_estimators=2, class_weight={"rare": 20.0}).fit(X, labels)
    plain = AGBMClassifier(n_estimators=2).fit(X, labels)
    assert np.sum(weighted.predict(X) == "rare") > np.sum(plain.predict(X) == "rare") + 10


# Once: a class that class_weight leaves no weight ends in a ZeroDivisionError (LogLoss.start).
def test_class_weight_that_leaves_one_class() -> None:
    X, y = table()
    with pytest.raises(ValueError, match="class"):
        AGBMClassifier(class_weight={0: 0.0}).fit(X, (y > 2.0).astype(np.int64))


# Once: 1e-300 is an OverflowError (weights._rounded), 1e308 an overflow in the sum (RowWeights.of).
@pytest.mark.parametrize("size", [1e-300, 1e-30, 1e30, 1e300, 1e308])
def test_weights_of_any_size(size: float) -> None:
    X, y = table()
    model = AGBMRegressor(n_estimators=3).fit(X, y, sample_weight=np.full(N, size))
    np.testing.assert_allclose(
        model.predict(X), AGBMRegressor(n_estimators=3).fit(X, y).predict(X), rtol=1e-5
    )


@given(seed=seeds)
def test_rounding_keeps_whole_numbers_and_proportions(seed: int) -> None:
    rng = np.random.default_rng(seed)
    whole = rng.integers(0, 100, 50).astype(np.float64) + (np.arange(50) == 0)
    np.testing.assert_array_equal(RowWeights.of(whole).as_floats(), whole)
    assert RowWeights.of(whole).total_cells == whole.sum()
    parts = whole * rng.random()
    np.testing.assert_allclose(RowWeights.of(parts).as_floats(), parts, atol=2.0**-36 * parts.sum())
    mean = exact_mean(whole, RowWeights.of(parts), FitContext.serial())
    assert mean == pytest.approx(np.average(whole, weights=parts))


@pytest.mark.parametrize("weight", [1, 1.0, np.ones(N), np.ones(N, dtype=bool), [1] * N])
def test_weights_of_one_are_no_weights(weight: Any) -> None:
    X, y = table()
    one, other = (AGBMRegressor(n_estimators=3).fit(X, y, w) for w in (None, weight))
    assert_same(one, other, X)
    assert one.evals_result_ == other.evals_result_


# Once: weights that sum to 1 left min_samples_leaf no leaf at all, and its scale jumped at 1e-9 and 1e9.
@pytest.mark.parametrize("size", [1e-300, 1e-12, 1.0 / N, 1.0, 1e7, 1e12, 1e300])
@pytest.mark.parametrize("criterion", ["residuals", "newton"])
def test_fewest_rows_of_a_leaf_do_not_depend_on_the_unit_of_weights(size: float, criterion: str) -> None:
    X, y = table()
    weight = np.random.default_rng(3).random(N) + 0.5
    given: dict[str, Any] = {"n_estimators": 4, "min_samples_leaf": 20, "criterion": criterion}
    model = AGBMClassifier(**given).fit(X, y > 2.0, sample_weight=weight * size)
    leaf = np.column_stack([tree_leaves(tree, X) for tree in model.trees_])
    sums = [np.bincount(column, weight / weight.mean()) for column in leaf.T]
    assert all(len(one[one > 0]) > 2 for one in sums)
    if criterion == "residuals":
        assert min(one[one > 0].min() for one in sums) == pytest.approx(20.0, abs=2.0)


def tree_leaves(tree: Tree, X: F64) -> I64:
    node = np.zeros(X.shape[0], dtype=np.int64)
    while (tree.left[node] >= 0).any():
        x = X[np.arange(X.shape[0]), np.maximum(tree.feature[node], 0)]
        left = np.where(np.isnan(x), tree.missing_left[node] == 1, x <= tree.threshold[node])
        node = np.where(tree.left[node] >= 0, tree.left[node] + ~left, node)
    return node


def test_equal_weights_of_any_size_ask_for_the_same_leaves() -> None:
    X, y = table()
    plain = AGBMRegressor(n_estimators=4, min_samples_leaf=25).fit(X, y)
    for size in (0.1, 0.3 / N, 7.7):
        model = AGBMRegressor(n_estimators=4, min_samples_leaf=25).fit(X, y, np.full(N, size))
        for one, other in zip(model.trees_, plain.trees_, strict=True):
            np.testing.assert_array_equal(one.feature, other.feature)


def test_whole_weights_of_any_size_count_rows() -> None:
    for size in (1, 1000, 10**7, 10**12):
        weights = RowWeights.of(np.arange(1.0, 51.0) * size)
        assert weights.row / weights.total_cells == pytest.approx(1.0 / (1275.0 * size))


@given(seed=seeds, n=st.integers(1, 50), kind=st.sampled_from(["equal", "counts", "floats", "tiny"]))
def test_weights_of_some_rows(seed: int, n: int, kind: str) -> None:
    rng = np.random.default_rng(seed)
    floats = rng.random(n) + 0.01
    made: dict[str, Any] = {"counts": rng.integers(1, 5, n) * 1.0, "floats": floats, "tiny": 1e-12 * floats}
    weights = RowWeights.equal(n) if kind == "equal" else RowWeights.of(made[kind])
    rows = np.flatnonzero(rng.random(n) < 0.7)
    rows = np.arange(1) if rows.shape[0] == 0 else rows
    some = weights.of_rows(rows)
    assert some.n_rows == rows.shape[0]
    assert some.are_equal == weights.are_equal
    shares, all_shares = some.as_floats() / some.as_floats().sum(), weights.as_floats()[rows]
    np.testing.assert_allclose(shares, all_shares / all_shares.sum(), rtol=1e-6)
    if kind == "counts":
        np.testing.assert_array_equal(some.cells, weights.cells[rows])
    values = rng.normal(size=n)
    mean = exact_mean(values, weights, FitContext.serial())
    assert weights.shares_of(values).sum() == pytest.approx(mean, rel=1e-9, abs=1e-12)
    assert weights.shares_of(np.ones(n)).sum() == pytest.approx(1.0, rel=1e-12)
