"""Residuals of pairs of documents: against a plain double loop, and against what they are derivatives of."""

from __future__ import annotations

from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gtgbm import _core
from gtgbm.exact.arrays import F64, I64
from tests.kernels import reference
from tests.strategies import assert_refused, pools, seeds


class Ranking(NamedTuple):
    """Everything the kernel is told, in its order; queries have ``rows[begin[q]:begin[q + 1]]``."""

    rows: I64
    begin: I64
    relevance: F64
    gain: F64
    weight: F64
    discount: F64
    scores: F64
    truncation: int
    by_ndcg: bool


def random_ranking(rng: np.random.Generator, lengths: list[int], levels: int, by_ndcg: bool) -> Ranking:
    """Queries whose rows stand anywhere in the table; scores with ties, all equal, far apart, or none."""
    n, longest = sum(lengths), max(lengths, default=0)
    relevance = rng.integers(0, levels, n).astype(np.float64)
    scores = [rng.normal(size=n), rng.integers(0, 3, n) * 1.0, np.full(n, 0.3), rng.uniform(-900, 900, n)]
    return Ranking(
        rng.permutation(n),
        np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64),
        relevance,
        np.exp2(relevance) - 1.0,
        rng.choice([0.0, 0.1, 1.0, 5.0], len(lengths), p=[0.1, 0.3, 0.3, 0.3]),
        1.0 / np.log2(2.0 + np.arange(longest + int(rng.integers(3)))),
        scores[rng.integers(len(scores))],
        int(rng.choice([1, 2, 5, max(longest, 1), 1000])),
        by_ndcg,
    )


query_lengths = st.lists(st.sampled_from([0, 1, 1, 2, 3, 7, 20]), max_size=8)
rankings = st.builds(
    lambda seed, *rest: random_ranking(np.random.default_rng(seed), *rest),
    seeds, query_lengths, st.sampled_from([1, 2, 5]), st.booleans(),
)  # fmt: skip


def residuals_of(pool: _core.Pool, ranking: Ranking) -> tuple[F64, F64, float]:
    """What the kernel writes and returns."""
    residuals, curvatures = np.full((2, ranking.scores.shape[0]), 77.0)
    losses = np.full(ranking.begin.shape[0] - 1, 77.0)
    _core.rank_residuals(pool, *ranking, residuals, curvatures, losses)
    loss = float(losses.sum())
    return residuals, curvatures, loss


@given(pools, rankings)
def test_rank_residuals(pool: _core.Pool, ranking: Ranking) -> None:
    found, expected = residuals_of(pool, ranking), reference.rank_residuals(*ranking)
    np.testing.assert_allclose(found[0], expected[0], rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(found[1], expected[1], rtol=1e-9, atol=1e-12)
    assert found[2] == pytest.approx(expected[2], rel=1e-9)


@given(rankings)
def test_residuals_of_a_query_sum_to_nothing(ranking: Ranking) -> None:
    """What draws one document up draws another one down."""
    residuals, curvatures, loss = residuals_of(_core.Pool(1), ranking)
    for first, last in zip(ranking.begin[:-1].tolist(), ranking.begin[1:].tolist(), strict=True):
        query = residuals[ranking.rows[first:last]]
        assert abs(query.sum()) <= 1e-12 * (1.0 + np.abs(query).sum())
        if np.unique(ranking.relevance[ranking.rows[first:last]]).shape[0] < 2:
            assert (query == 0.0).all(), "nothing to rank"
    assert (curvatures >= 0.0).all()
    assert loss >= 0.0


@given(seeds, query_lengths, st.sampled_from([2, 5]))
def test_pairwise_residuals_are_derivatives(seed: int, lengths: list[int], levels: int) -> None:
    """Residuals are minus the first derivative of the loss, and curvatures its second."""
    rng = np.random.default_rng(seed)
    ranking = random_ranking(rng, lengths, levels, by_ndcg=False)
    n, step = sum(lengths), 1e-4
    ranking = ranking._replace(scores=rng.normal(size=n), truncation=max(lengths, default=1) + 1)
    residuals, curvatures, _ = residuals_of(_core.Pool(1), ranking)
    for row in range(0, n, 5):
        move = np.where(np.arange(n) == row, step, 0.0)
        moved = [ranking._replace(scores=ranking.scores + sign * move) for sign in (-1.0, 1.0)]
        below, above = (residuals_of(_core.Pool(1), one) for one in moved)
        assert residuals[row] == pytest.approx((below[2] - above[2]) / (2 * step), rel=1e-5, abs=1e-6)
        slope = (below[0][row] - above[0][row]) / (2 * step)
        assert curvatures[row] == pytest.approx(slope, rel=1e-5, abs=1e-6)


@pytest.mark.parametrize("by_ndcg", [False, True])
@pytest.mark.parametrize("truncation", [3, 30])
def test_every_pool_gives_the_same_bits(by_ndcg: bool, truncation: int) -> None:
    """Enough work for all threads, in queries of very different lengths."""
    rng = np.random.default_rng(0)
    lengths: list[int] = rng.choice([1, 2, 20, 100], 300).tolist()
    ranking = random_ranking(rng, lengths, 5, by_ndcg)
    ranking = ranking._replace(truncation=truncation, scores=rng.normal(size=sum(lengths)))
    expected = residuals_of(_core.Pool(1), ranking)
    for size in (1, 2, 3):
        for part, expected_part in zip(residuals_of(_core.Pool(size), ranking), expected, strict=True):
            np.testing.assert_array_equal(part, expected_part)


@given(seeds, st.sampled_from([2, 3, 7]), st.booleans())
def test_the_order_of_rows_does_not_matter(seed: int, length: int, by_ndcg: bool) -> None:
    """Where scores differ: documents of equal score keep the order in which they are named."""
    rng = np.random.default_rng(seed)
    ranking = random_ranking(rng, [length], 5, by_ndcg)
    ranking = ranking._replace(scores=rng.permutation(length).astype(np.float64))
    expected = residuals_of(_core.Pool(1), ranking)
    mixed = ranking._replace(rows=rng.permutation(length))
    for part, expected_part in zip(residuals_of(_core.Pool(1), mixed), expected, strict=True):
        np.testing.assert_array_equal(part, expected_part)


def three_documents(**changes: Any) -> Ranking:
    """One query in the wrong order: the best document has the lowest score."""
    relevance, discount = np.array([2.0, 0.0, 1.0]), np.array([1.0, 0.6, 0.5])
    facts = (relevance, np.exp2(relevance) - 1.0, np.array([0.25]), discount)
    ranking = Ranking(np.arange(3), np.array([0, 3]), *facts, np.zeros(3), 3, True)
    return ranking._replace(**changes)


def test_known_residuals() -> None:
    """With equal scores every pair is wrong by half, and weighs as much as NDCG would change."""
    ranking = three_documents()
    # Documents 0 and 1, 0 and 2, 1 and 2: differences of gain times differences of discount.
    pairs = 0.25 * np.array([3.0 * 0.4, 2.0 * 0.5, 1.0 * 0.1])
    pull = pairs.sum()
    expected = np.array([pairs[0] + pairs[1], -pairs[0] - pairs[2], pairs[2] - pairs[1]]) / 2
    residuals, curvatures, loss = residuals_of(_core.Pool(1), ranking)
    np.testing.assert_allclose(residuals, expected * np.log2(1.0 + pull) / pull)
    np.testing.assert_allclose(curvatures.sum(), np.log2(1.0 + pull) / 2)
    assert loss == pytest.approx(np.log(2.0) * np.log2(1.0 + pull))
    # Among the first 1 document: the pair of the second and the third does not count.
    residuals = residuals_of(_core.Pool(1), ranking._replace(truncation=1))[0]
    np.testing.assert_allclose(residuals[1] / residuals[2], pairs[0] / pairs[1])


def test_known_pairwise_residuals() -> None:
    ranking = three_documents(by_ndcg=False, scores=np.array([-1.0, 1.0, 0.0]))
    wrong = 1.0 / (1.0 + np.exp([-2.0, -1.0, -1.0]))  # pairs as above, all in the wrong order
    expected = 0.25 * np.array([wrong[0] + wrong[1], -wrong[0] - wrong[2], wrong[2] - wrong[1]])
    residuals, _, loss = residuals_of(_core.Pool(1), ranking)
    np.testing.assert_allclose(residuals, expected, atol=1e-16)
    assert loss == pytest.approx(0.25 * np.log1p(np.exp([2.0, 1.0, 1.0])).sum())


def test_scores_far_apart() -> None:
    """A pair in the right order costs nothing, one in the wrong order as much as it is wrong."""
    ranking = three_documents(by_ndcg=False, scores=np.array([1e5, 0.0, 2e5]))
    residuals, curvatures, loss = residuals_of(_core.Pool(1), ranking)
    assert residuals.tolist() == [0.25, 0.0, -0.25]
    assert curvatures.tolist() == [0.0, 0.0, 0.0]
    assert loss == 0.25e5


def test_wrong_shapes_are_refused() -> None:
    ranking, few = three_documents(), np.zeros(2)
    good = (_core.Pool(2), *ranking, np.zeros(3), np.zeros(3), np.zeros(1))
    bad: dict[str, dict[int, object]] = {
        "rows": {1: np.arange(2)},
        "row": {1: np.array([0, 1, 3])},
        "no row": {1: np.array([0, 1, -1])},
        "no begin": {2: np.zeros(0, np.int64), 5: np.zeros(0)},
        "not from 0": {2: np.array([1, 3])},
        "not to the end": {2: np.array([0, 2])},
        "beyond the end": {2: np.array([0, 4])},
        "backwards": {2: np.array([0, 3, 2, 3]), 5: np.ones(3)},
        "weights": {5: few},
        "discounts": {6: few},
        "no truncation": {8: 0},
        **{f"array {k}": {k: few} for k in (3, 4, 7, 10, 11, 12)},
    }
    assert_refused(_core.rank_residuals, good, bad)


@given(rankings, pools)
def test_rank_rows(ranking: Ranking, pool: _core.Pool) -> None:
    found = np.full_like(ranking.rows, -1)
    _core.rank_rows(pool, ranking.rows, ranking.begin, ranking.scores, found)
    for begin, end in pairwise(ranking.begin.tolist()):
        rows = ranking.rows[begin:end].tolist()
        assert found[begin:end].tolist() == sorted(rows, key=lambda row: -float(ranking.scores[row]))
