"""Rows and columns drawn anew for each round, over features that stay owned."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csc_matrix

from gtgbm import AGBMClassifier, AGBMRegressor, GBFSRegressor, GTGBMClassifier, GTGBMRegressor
from gtgbm.boosting.sampling import Sampling
from gtgbm.exact.arrays import F64
from gtgbm.exact.shard import Shard
from gtgbm.exact.weights import RowWeights
from tests.estimators.test_determinism import assert_same_model, bytes_of
from tests.strategies import seeds

N, D = 600, 12
SAMPLES: list[dict[str, float]] = [
    {"subsample": 0.5},
    {"colsample": 0.4},
    {"subsample": 0.3, "colsample": 0.6},
]
samples = pytest.mark.parametrize("sample", SAMPLES, ids=str)
searches = pytest.mark.parametrize("search", ["exhaustive", "group-testing"])


def data(n: int = N) -> tuple[F64, F64]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, D))
    y = X[:, 0] + np.sin(2.0 * X[:, 1]) + X[:, 2] + 0.6 * X[:, 3] + 0.3 * rng.normal(size=n)
    return X, y


def seed_of(random_state: int) -> int:
    return int(np.random.RandomState(random_state).randint(np.iinfo(np.int32).max))


@samples
@searches
def test_owned_features_stay_owned(sample: dict[str, Any], search: str) -> None:
    """LightGBM once forgot under bagging which features it had paid for."""
    X, y = data()
    for penalty in (0.0, 0.005):
        model = GTGBMRegressor(n_estimators=60, penalty=penalty, search=search, random_state=0, **sample).fit(
            X, y
        )
        bought = [entry.feature for entry in model.selection_history_]
        assert len(bought) == len(set(bought)) == model.n_selected_features_ > 2
        assert model.n_iter_ == 60
        first_use = {
            int(f): t for t in range(59, -1, -1) for f in model.trees_[t].feature if f >= 0
        }  # later ones are overwritten
        assert first_use == {entry.feature: entry.tree for entry in model.selection_history_}
        assert all(entry.gain > entry.price for entry in model.selection_history_)
        assert all(entry.price == pytest.approx(penalty) for entry in model.selection_history_)


@samples
@searches
def test_limits_of_features_hold(sample: dict[str, Any], search: str) -> None:
    X, y = data()
    model = GTGBMClassifier(
        n_estimators=40, penalty=0.0, n_features_to_select=3, search=search, random_state=0, **sample
    ).fit(X, np.digitize(y, [-1.0, 1.0]))
    assert model.n_selected_features_ == 3
    assert {int(f) for tree in model.trees_ for f in tree.feature if f >= 0} == set(model.selected_features_)


@samples
def test_absolute_prices_are_paid_once(sample: dict[str, Any]) -> None:
    X, y = data()
    model = GBFSRegressor(n_estimators=40, penalty=5.0, random_state=0, **sample).fit(X, y)
    bought = [entry.feature for entry in model.selection_history_]
    assert len(bought) == len(set(bought)) > 2
    # Later splits need not be worth the price.
    cheap = [tree.gain[tree.feature >= 0] for tree in model.trees_[1:]]
    assert min(gain.min() for gain in cheap if gain.size) < 5.0


@samples
@searches
def test_the_seed_decides_and_not_the_threads(sample: dict[str, Any], search: str) -> None:
    X, y = data(4000)
    settings: dict[str, Any] = {"n_estimators": 5, "search": search, **sample}
    one, two, other = (
        GTGBMRegressor(**settings, random_state=seed, n_jobs=jobs).fit(X, y)
        for seed, jobs in ((0, 1), (0, 2), (1, 1))
    )
    assert_same_model(one, two)
    assert bytes_of(one.trees_) != bytes_of(other.trees_)


def forms(X: F64) -> dict[str, tuple[Any, dict[str, Any]]]:
    rounded = np.round(np.where(np.abs(X) < 0.7, 0.0, X), 1)
    coded = X.copy()
    coded[:, :4] = np.round(coded[:, :4] * 2.0)
    return {
        "dense": (X, {}),
        "sparse": (csc_matrix(rounded), {}),
        "categories": (coded, {"categorical_features": [0, 1, 2, 3]}),
        "sparse categories": (csc_matrix(np.round(rounded)), {"categorical_features": [0, 1, 5]}),
    }


@searches
@pytest.mark.parametrize("form", forms(np.zeros((1, D))))
def test_trees_use_only_columns_drawn(form: str, search: str) -> None:
    X, y = data()
    table, settings = forms(X)[form]
    share = 0.3
    model = GTGBMClassifier(
        n_estimators=30, penalty=0.0, search=search, colsample=share, random_state=7, **settings
    ).fit(table, np.digitize(y, [-1.0, 1.0]))
    drawn = Sampling(1.0, share, seed_of(7))
    unused = 0
    for k, tree in enumerate(model.trees_):
        allowed = drawn.columns_of(k // 3, D)
        assert allowed is not None
        assert allowed.sum() == round(share * D)
        used = tree.feature[tree.feature >= 0]
        assert allowed[used].all()
        unused += (~np.isin(model.selected_features_, used)).sum()
    assert unused  # owned features that had to be left out
    assert model.n_selected_features_ > 4


def test_rows_that_are_drawn_are_all_a_tree_knows() -> None:
    """The first tree is one of the drawn rows alone, but for thresholds, of which there are the same."""
    rng = np.random.default_rng(4)
    X = rng.integers(0, 9, (N, 5)).astype(np.float64)
    y = X[:, 0] + (X[:, 1] > 4) * X[:, 2] + rng.normal(size=N)
    model = AGBMRegressor(n_estimators=1, subsample=0.5, random_state=2, init="zero", min_samples_leaf=5).fit(
        X, y
    )
    drawn = Sampling(0.5, 1.0, seed_of(2)).weights_of(0, RowWeights.equal(N), Shard.whole(N)).cells > 0
    assert 0.4 * N < drawn.sum() < 0.6 * N
    alone = AGBMRegressor(n_estimators=1, init="zero", min_samples_leaf=5).fit(X[drawn], y[drawn])
    np.testing.assert_allclose(model.predict(X), alone.predict(X), rtol=1e-6)
    assert model.trees_[0].n_rows[0] == drawn.sum()
    changed = np.where(drawn, y, -y)
    again = AGBMRegressor(n_estimators=1, subsample=0.5, random_state=2, init="zero", min_samples_leaf=5)
    np.testing.assert_allclose(again.fit(X, changed).predict(X), model.predict(X), rtol=1e-6)


@pytest.mark.parametrize("method", [AGBMRegressor, AGBMClassifier])
@samples
def test_samples_change_trees_and_still_learn(method: Any, sample: dict[str, Any]) -> None:
    X, y = data()
    target = y if method is AGBMRegressor else (y > 0).astype(np.int64)
    plain = method(n_estimators=50, random_state=0).fit(X, target)
    model = method(n_estimators=50, random_state=0, **sample).fit(X, target)
    assert bytes_of(plain.trees_) != bytes_of(model.trees_)
    assert bytes_of(model.trees_[:1]) != bytes_of(model.trees_[1:2])
    assert model.score(X, target) > 0.8


def test_rounds_differ() -> None:
    """Without a sample the second tree of a finished fit is empty; with one there is something left."""
    X, y = data(80)
    settings: dict[str, Any] = {"learning_rate": 1.0, "min_node_fraction": 0.0, "min_samples_leaf": 1}
    assert AGBMRegressor(n_estimators=5, penalty=0.0, **settings).fit(X, y).n_iter_ < 5
    model = AGBMRegressor(n_estimators=5, penalty=0.0, subsample=0.5, random_state=0, **settings).fit(X, y)
    assert model.n_iter_ == 5


def test_shares_of_one_draw_nothing() -> None:
    X, y = data()
    one = AGBMRegressor(n_estimators=4, random_state=0).fit(X, y)
    other = AGBMRegressor(n_estimators=4, subsample=1.0, colsample=1, random_state=5).fit(X, y)
    assert_same_model(one, other)


@given(seed=seeds, n=st.integers(1, 50), share=st.floats(0.01, 0.99), number=st.integers(0, 9))
def test_draws_depend_on_seed_and_round_alone(seed: int, n: int, share: float, number: int) -> None:
    drawn = Sampling(share, share, seed)
    columns = drawn.columns_of(number, n)
    rows = drawn.weights_of(number, RowWeights.equal(n), Shard.whole(n))
    assert columns is not None
    assert columns.sum() == max(1, round(share * n))
    if rows.are_equal:  # none of a few rows was drawn, so all are
        assert (1.0 - share) ** n > 1e-9
        return
    assert rows.total_cells == (rows.cells > 0).sum() > 0
    again, weights = Sampling(share, share, seed), RowWeights.of(np.arange(1.0, n + 1.0))
    np.testing.assert_array_equal(again.columns_of(number, n), columns)
    kept = again.weights_of(number, weights, Shard.whole(n))
    np.testing.assert_array_equal(kept.cells, np.where(rows.cells > 0, weights.cells, 0))


def test_draws_of_rows_have_about_the_size_asked_for() -> None:
    n = 100_000
    for share in (0.05, 0.5, 0.9):
        counts = [
            Sampling(share, 1.0, 0).weights_of(t, RowWeights.equal(n), Shard.whole(n)).total_cells
            for t in range(4)
        ]
        assert len(set(counts)) == 4
        np.testing.assert_allclose(counts, share * n, atol=5.0 * np.sqrt(n * share * (1.0 - share)))


@pytest.mark.parametrize("loss", ["absolute_error", "poisson", "quantile"])
def test_samples_go_with_weights_and_losses(loss: str) -> None:
    X, y = data()
    weight = np.random.default_rng(0).random(N) * (np.arange(N) % 4 > 0)
    settings: dict[str, Any] = {"n_estimators": 30, "loss": loss, "random_state": 0, "subsample": 0.5}
    model = AGBMRegressor(**settings).fit(X, np.exp(y / 2.0), sample_weight=weight)
    losses = model.evals_result_["training"][loss]
    assert losses[-1] < 0.7 * losses[0] or loss == "poisson"
    assert losses[-1] < losses[0]


# Once: missing rows that weigh nothing in a node went right, while the finished tree sends them to the larger
# child: residuals and the training loss were those of another model.
@given(
    seed=seeds,
    subsample=st.sampled_from([0.1, 0.4, 0.8, 1.0]),
    criterion=st.sampled_from(["residuals", "newton"]),
    weighted=st.booleans(),
    is_sparse=st.booleans(),
)
def test_the_training_loss_is_that_of_the_finished_trees(
    seed: int, subsample: float, criterion: str, weighted: bool, is_sparse: bool
) -> None:
    rng = np.random.default_rng(seed)
    X = np.round(rng.normal(size=(150, 4)), 1) * (rng.random((150, 4)) < 0.7)
    X[rng.random(X.shape) < rng.choice([0.02, 0.2])] = np.nan
    y = np.nan_to_num(X[:, 0]) + np.isnan(X[:, 1]) + 0.3 * rng.normal(size=150)
    # Half of the weights are too small for a histogram's cells.
    weight = np.where(rng.random(150) < 0.5, 1e-9, rng.random(150) + 0.5) if weighted else None
    table = csc_matrix(X) if is_sparse else X
    model = GTGBMClassifier(
        n_estimators=8, learning_rate=0.5, penalty=0.0, subsample=subsample, criterion=criterion,
        search=str(rng.choice(["exhaustive", "group-testing"])), random_state=seed,
    )  # fmt: skip
    model.fit(table, y > 0.2, weight, eval_set=(table, y > 0.2), eval_sample_weight=weight)
    seen = model.evals_result_
    np.testing.assert_allclose(seen["training"]["log_loss"], seen["validation_0"]["log_loss"], rtol=1e-9)
