"""What rows or queries add to a loss adds up to the loss."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gtgbm.exact.weights import RowWeights
from gtgbm.losses import Queries, RankingLoss, Targets
from gtgbm.losses.base import Loss
from gtgbm.metrics import METRICS
from tests.losses.test_losses import CONTEXT, LOSSES, label, targets_of
from tests.strategies import seeds


@given(seed=seeds, n=st.integers(3, 40), weighted=st.booleans())
@pytest.mark.parametrize("loss", LOSSES, ids=label)
def test_losses_of_rows_add_up_to_the_mean_loss(loss: Loss, seed: int, n: int, weighted: bool) -> None:
    rng = np.random.default_rng(seed)
    targets = targets_of(loss, n, rng, weighted)
    scores = rng.normal(size=(loss.n_scores, n))
    units = loss.unit_losses(scores, targets, CONTEXT)
    assert units.shape == (n,)
    expected = loss.derivatives(scores, targets, CONTEXT).mean_loss
    assert units.sum() == pytest.approx(expected, rel=1e-9, abs=1e-12)
    # A row's loss depends on its own score alone.
    moved = scores.copy()
    moved[:, 0] += 1.0
    assert (loss.unit_losses(moved, targets, CONTEXT)[1:] == units[1:]).all()


def ranking(seed: int, n_queries: int, weighted: bool) -> tuple[Targets, np.random.Generator]:
    rng = np.random.default_rng(seed)
    qid = rng.permutation(np.concatenate([np.arange(n_queries), rng.integers(0, n_queries, 30)]))
    y = np.asarray(rng.integers(0, 4, qid.shape[0]), dtype=np.float64)
    of_queries = rng.integers(1, 4, n_queries).astype(np.float64)
    weights = RowWeights.of(of_queries[qid]) if weighted else RowWeights.equal(qid.shape[0])
    return Targets(y, weights, Queries.of(qid)), rng


@given(seed=seeds, n_queries=st.integers(2, 12), weighted=st.booleans())
def test_losses_of_queries_add_up_to_the_mean_loss(seed: int, n_queries: int, weighted: bool) -> None:
    targets, rng = ranking(seed, n_queries, weighted)
    scores = rng.normal(size=(1, targets.y.shape[0]))
    loss = RankingLoss(by_ndcg=False, truncation=30)
    units = loss.unit_losses(scores, targets, CONTEXT)
    assert units.shape == (n_queries,)
    expected = loss.derivatives(scores, targets, CONTEXT).mean_loss
    assert units.sum() == pytest.approx(expected, rel=1e-9, abs=1e-12)


@given(seed=seeds, n_queries=st.integers(2, 12))
def test_losses_of_queries_by_ndcg_add_up_to_what_ndcg_lacks(seed: int, n_queries: int) -> None:
    targets, rng = ranking(seed, n_queries, weighted=False)
    assert targets.queries is not None
    y = targets.y
    for q in range(n_queries):  # a query without relevant documents has no NDCG
        y[targets.queries.rows[targets.queries.begin[q]]] = 1.0
    scores = rng.normal(size=(1, y.shape[0]))
    qid = np.empty(y.shape[0], dtype=np.int64)
    qid[targets.queries.rows] = targets.queries.number
    units = RankingLoss(by_ndcg=True, truncation=30).unit_losses(scores, targets, CONTEXT)
    assert 1.0 - units.sum() == pytest.approx(METRICS["ndcg"](y, scores[0], None, qid), rel=1e-9)
