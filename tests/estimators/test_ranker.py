"""Rankings: gradients of pairs, queries wherever they stand, and what the ranker shares with the others."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.sparse import csr_matrix
from sklearn.base import clone

from gtgbm import GTGBMRanker
from gtgbm.exact import FitContext
from gtgbm.exact.arrays import F64, I64
from gtgbm.exact.weights import RowWeights
from gtgbm.losses.base import Derivatives, Targets
from gtgbm.losses.queries import Queries
from gtgbm.losses.ranking import RankingLoss
from gtgbm.metrics import metric_of
from tests.estimators.test_determinism import bytes_of
from tests.strategies import seeds, selects_few

CONTEXT = FitContext.serial()
kinds = st.booleans()
searches = pytest.mark.parametrize("search", ["exhaustive", "group-testing"])
losses = pytest.mark.parametrize("loss", ["lambdarank", "pairwise"])


def derivatives(y: F64, qid: NDArray[Any], score: F64, by_ndcg: bool, truncation: int = 30) -> Derivatives:
    targets = Targets(y, RowWeights.equal(y.shape[0]), Queries.of(qid))
    return RankingLoss(by_ndcg, truncation).derivatives(score[None].copy(), targets, CONTEXT)


def documents(seed: int, n: int = 40) -> tuple[F64, I64, F64]:
    rng = np.random.default_rng(seed)
    return rng.integers(0, 4, n).astype(np.float64), rng.integers(0, 6, n), rng.normal(size=n)


@given(seed=seeds, by_ndcg=kinds, shift=st.sampled_from([1.0, -3.0, 1000.0]))
def test_a_shift_of_scores_changes_nothing(seed: int, by_ndcg: bool, shift: float) -> None:
    y, qid, score = documents(seed)
    one = derivatives(y, qid, score, by_ndcg)
    # Each query by a shift of its own.
    other = derivatives(y, qid, score + shift * qid, by_ndcg)
    np.testing.assert_allclose(one.residuals, other.residuals, atol=1e-9)
    assert one.curvatures is not None
    assert other.curvatures is not None
    np.testing.assert_allclose(one.curvatures, other.curvatures, atol=1e-9)
    assert one.mean_loss == pytest.approx(other.mean_loss)
    assert np.abs(one.residuals).max() > 0.0


@given(seed=seeds)
def test_pairwise_residuals_are_slopes_of_the_loss(seed: int) -> None:
    y, qid, score = documents(seed, 12)
    n_queries, step = np.unique(qid).shape[0], 1e-5
    residuals = derivatives(y, qid, score, False).residuals[0]
    for i in range(12):
        around = [
            derivatives(y, qid, score + d * (np.arange(12) == i), False).mean_loss for d in (step, -step)
        ]
        assert (around[0] - around[1]) / (2 * step) * n_queries == pytest.approx(-residuals[i], abs=1e-6)


def plain_lambdas(y: F64, score: F64, truncation: int) -> tuple[F64, F64]:
    """LambdaMART's residuals and curvatures of one query without ties, pair by pair."""
    n, order = len(y), np.argsort(-score)
    place = np.argsort(order)
    gain, discount = 2.0**y - 1.0, 1.0 / np.log2(2.0 + place)
    ideal = np.sum(np.sort(gain)[::-1] / np.log2(2.0 + np.arange(n)))
    residual, curvature, pull = np.zeros(n), np.zeros(n), 0.0
    for a in range(n):
        for b in range(n):
            if y[a] <= y[b] or min(place[a], place[b]) >= truncation:
                continue
            change = abs(gain[a] - gain[b]) * abs(discount[a] - discount[b]) / ideal
            weight = change / (0.01 + abs(score[a] - score[b]))
            wrong = 1.0 / (1.0 + np.exp(score[a] - score[b]))
            residual[a] += weight * wrong
            residual[b] -= weight * wrong
            curvature[[a, b]] += weight * wrong * (1.0 - wrong)
            pull += 2.0 * weight * wrong
    factor = np.log2(1.0 + pull) / pull if pull else 1.0
    return residual * factor, curvature * factor


@given(seed=seeds, truncation=st.sampled_from([1, 3, 30]))
def test_lambdas_are_those_of_a_plain_loop(seed: int, truncation: int) -> None:
    y, qid, score = documents(seed)
    seen = derivatives(y, qid, score, True, truncation)
    assert seen.curvatures is not None
    for query in np.unique(qid):
        rows = qid == query
        residual, curvature = plain_lambdas(y[rows], score[rows], truncation)
        np.testing.assert_allclose(seen.residuals[0, rows], residual, rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(seen.curvatures[0, rows], curvature, rtol=1e-9, atol=1e-12)


@given(seed=seeds, by_ndcg=kinds)
def test_a_query_with_nothing_to_sort_has_no_gradient(seed: int, by_ndcg: bool) -> None:
    y, qid, score = documents(seed)
    y[qid == 2], qid[0] = 3.0, 99  # all alike, and one alone
    seen = derivatives(y, qid, score, by_ndcg)
    still = (qid == 2) | (qid == 99)
    assert not seen.residuals[0, still].any()
    assert seen.residuals[0, ~still].any()
    # What one document gains another loses.
    for query in np.unique(qid):
        assert seen.residuals[0, qid == query].sum() == pytest.approx(0.0, abs=1e-9)


def data(seed: int = 0, n: int = 600, n_columns: int = 8) -> tuple[F64, I64, I64]:
    """Make queries whose levels differ much, which no model of single documents could sort out."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, n_columns))
    qid = np.sort(rng.integers(0, n // 12, n))
    utility = 2.0 * X[:, 0] - X[:, 1] + 0.3 * rng.normal(size=n)
    return X, np.clip(np.round(utility + 1.0), 0, 4).astype(np.int64), qid


@searches
@losses
def test_learns_to_rank(loss: str, search: str) -> None:
    X, y, qid = data()
    new, y_new, qid_new = data(seed=1)
    model = GTGBMRanker(n_estimators=60, loss=loss, search=search, penalty=0.01, random_state=0)
    model.fit(X, y, qid=qid)
    ndcg = metric_of("ndcg")
    chance = ndcg(y_new, np.random.default_rng(0).random(y_new.shape[0]), None, qid_new)
    assert chance < 0.75
    assert model.score(new, y_new, qid_new) > 0.95
    assert {entry.feature for entry in model.selection_history_[:2]} == {0, 1}
    assert model.score(new, y_new, qid_new) == ndcg(y_new, model.predict(new), None, qid_new)


def test_queries_may_differ_in_level() -> None:
    """A column that is the same for all documents of a query says nothing about their order."""
    X, y, qid = data()
    X[:, 5] = qid % 7
    y = np.clip(y + (qid % 7) * 2, 0, 20)
    model = GTGBMRanker(n_estimators=10, penalty=0.02, search="exhaustive").fit(X, y, qid=qid)
    assert model.selection_history_[0].feature == 0
    assert 5 not in model.selected_features_


@given(seed=seeds)
def test_rows_in_any_order(seed: int) -> None:
    """Of pairs: lambdas depend on the order of documents with equal scores, which all have at first."""
    X, y, qid = data(n=200)
    order = np.random.default_rng(seed).permutation(200)
    one, other = (GTGBMRanker(n_estimators=6, loss="pairwise", search="exhaustive") for _ in range(2))
    one.fit(X, y, qid=qid)
    other.fit(X[order], y[order], qid=qid[order])
    np.testing.assert_allclose(one.predict(X), other.predict(X), rtol=1e-9)
    np.testing.assert_array_equal(one.selected_features_, other.selected_features_)


@losses
def test_queries_need_not_stand_together_nor_be_numbers(loss: str) -> None:
    """Documents of a query stay in their order, which decides ties; queries are mixed."""
    X, y, qid = data(n=240)
    rng = np.random.default_rng(3)
    place = rng.random(240)
    for query in np.unique(qid):
        place[qid == query] = np.sort(place[qid == query])
    mixed = np.argsort(place)
    names = np.array([f"q{k:03d}" for k in range(qid.max() + 1)])
    one, other = (GTGBMRanker(n_estimators=8, loss=loss, search="exhaustive") for _ in range(2))
    one.fit(X, y, qid=qid)
    other.fit(X[mixed], y[mixed], qid=names[qid[mixed]])
    np.testing.assert_array_equal(one.predict(X), other.predict(X))
    third = GTGBMRanker(n_estimators=8, loss=loss, search="exhaustive").fit(X, y, qid=list(names[qid]))
    assert bytes_of(third.trees_) == bytes_of(one.trees_)


@losses
def test_queries_with_nothing_to_sort_do_no_harm(loss: str) -> None:
    X, y, qid = data(n=240)
    alone = np.arange(1000, 1010)
    rng = np.random.default_rng(0)
    more = np.vstack([X, rng.normal(size=(30, 8))])
    relevance = np.concatenate([y, np.full(20, 2), np.arange(10) % 5])
    model = GTGBMRanker(n_estimators=8, loss=loss, search="exhaustive")
    model.fit(more, relevance, qid=np.concatenate([qid, np.full(20, 999), alone]))
    assert np.isfinite(model.predict(more)).all()
    assert model.score(X, y, qid) > 0.9


@losses
@selects_few
def test_nothing_to_sort_at_all(loss: str) -> None:
    X, _, _ = data(n=60)
    for y, qid in ((np.ones(60), np.zeros(60)), (np.arange(60) % 3, np.arange(60))):
        model = GTGBMRanker(n_estimators=5, loss=loss, random_state=0).fit(X, y, qid=qid)
        assert not model.predict(X).any()
        assert model.n_selected_features_ == 0


@searches
def test_limits_of_features_hold(search: str) -> None:
    X, y, qid = data()
    settings: dict[str, Any] = {"n_estimators": 30, "penalty": 0.0, "search": search, "random_state": 0}
    free = GTGBMRanker(**settings).fit(X, y, qid=qid)
    bound = GTGBMRanker(**settings, n_features_to_select=2).fit(X, y, qid=qid)
    assert free.n_selected_features_ > 2
    assert bound.n_selected_features_ == 2
    used = {int(f) for tree in bound.trees_ for f in tree.feature if f >= 0}
    assert used == set(bound.selected_features_.tolist())


def test_compact_models_and_pickles_predict_the_same_bits() -> None:
    X, y, qid = data()
    model = GTGBMRanker(n_estimators=10, random_state=0).fit(X, y, qid=qid)
    compact = model.compact()
    assert compact.predict(X[:, compact.features_]).tobytes() == model.predict(X).tobytes()
    assert pickle.loads(pickle.dumps(model)).predict(X).tobytes() == model.predict(X).tobytes()
    assert bytes_of(clone(model).fit(X, y, qid=qid).trees_) == bytes_of(model.trees_)


@losses
def test_sparse_tables_and_threads(loss: str) -> None:
    X, y, qid = data(n=3000)
    X = np.where(np.random.default_rng(1).random(X.shape) < 0.5, 0.0, X)
    one, two, three = (
        GTGBMRanker(n_estimators=5, loss=loss, search="exhaustive", n_jobs=k) for k in (1, 2, 2)
    )
    trees = bytes_of(one.fit(X, y, qid=qid).trees_)
    assert bytes_of(two.fit(X, y, qid=qid).trees_) == trees
    assert bytes_of(three.fit(csr_matrix(X), y, qid=qid).trees_) == trees


def test_early_stopping_holds_out_whole_queries() -> None:
    X, y, qid = data()
    settings: dict[str, Any] = {"n_estimators": 20, "early_stopping_rounds": 20, "validation_fraction": 0.3}
    model = GTGBMRanker(**settings, search="exhaustive", eval_metric="ndcg", random_state=0)
    model.fit(X, y, qid=qid)
    seed = int(np.random.RandomState(0).randint(np.iinfo(np.int32).max))
    queries = np.unique(qid)
    drawn = np.random.default_rng(seed).choice(queries, round(0.3 * queries.shape[0]), replace=False)
    held_out = np.isin(qid, drawn)
    again = GTGBMRanker(n_estimators=model.n_iter_, search="exhaustive", eval_metric="ndcg")
    kept = ~held_out
    again.fit(X[kept], y[kept], qid=qid[kept], eval_set=(X[held_out], y[held_out]), eval_qid=qid[held_out])
    assert bytes_of(again.trees_) == bytes_of(model.trees_)
    seen = model.evals_result_["validation_0"]["ndcg"]
    assert again.evals_result_["validation_0"]["ndcg"] == seen[: model.n_iter_]
    assert model.n_iter_ == model.best_iteration_ == int(np.argmax(seen)) + 1


def test_eval_sets_have_queries_and_weights_of_their_own() -> None:
    X, y, qid = data()
    new, y_new, qid_new = data(seed=1, n=300)
    weight = np.random.default_rng(0).random(qid_new.max() + 1)[qid_new]
    model = GTGBMRanker(n_estimators=5, eval_metric=["mrr", "ndcg@3"], random_state=0).fit(
        X,
        y,
        qid=qid,
        eval_set=[(X, y), (new, y_new), (new, y_new)],
        eval_qid=[qid, qid_new, qid_new],
        eval_sample_weight=[None, None, weight],
    )
    for k, (table, target, ids, w) in enumerate(
        [(X, y, qid, None), (new, y_new, qid_new, None), (new, y_new, qid_new, weight)]
    ):
        for name in ("mrr", "ndcg@3"):
            expected = metric_of(name)(target, model.predict(table), w, ids)
            assert model.evals_result_[f"validation_{k}"][name][-1] == pytest.approx(expected)
    assert model.evals_result_["validation_0"]["lambdarank"] == pytest.approx(
        model.evals_result_["training"]["lambdarank"]
    )


def test_truncation_matters() -> None:
    X, y, qid = data()
    one, other = (GTGBMRanker(n_estimators=3, truncation_level=k, random_state=0) for k in (1, 30))
    assert one.fit(X, y, qid=qid).predict(X).tobytes() != other.fit(X, y, qid=qid).predict(X).tobytes()
