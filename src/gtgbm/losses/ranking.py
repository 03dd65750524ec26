"""Pairwise losses for ranking."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from gtgbm import _core
from gtgbm.exact import F64, FitContext, RowWeights, exact_mean
from gtgbm.losses.base import Derivatives, Link, NewtonLeaf, Targets
from gtgbm.losses.queries import Queries


@dataclass(frozen=True)
class _TargetConstants:
    """Quantities of the targets that do not depend on scores, computed once per fit.

    Attributes
    ----------
    gain : ndarray of float64, shape (n,)
    weight : ndarray of float64, shape (queries,)
        With `by_ndcg`, 1 / ideal DCG of a query, else the weight of each of its pairs.
    discount : ndarray of float64, shape (places,)
    query_weight : ndarray of float64, shape (queries,)
        Sample weight of each query.
    weights : RowWeights
        The same as integers.
    """

    gain: F64
    weight: F64
    discount: F64
    query_weight: F64
    weights: RowWeights


class RankingLoss:
    """Logistic loss of pairs of documents of a query that differ in relevance.

    Parameters
    ----------
    by_ndcg : bool
        True: LambdaMART, which weights a pair by the change of NDCG if the two documents swapped ranks.
        False: all pairs of a query have the same weight, and their weights add up to its number of documents.
    truncation : int
        With `by_ndcg`, only pairs with at least one document in the first `truncation` ranks count.
    """

    n_scores = 1
    leaf = NewtonLeaf()
    link: Link = "identity"

    def __init__(self, by_ndcg: bool, truncation: int) -> None:
        self._by_ndcg = by_ndcg
        self._truncation = truncation
        self._constants: list[tuple[Targets, _TargetConstants]] = []

    def __reduce__(self) -> tuple[Any, ...]:
        # Without the constants of a fit's targets, which would pickle the training data.
        return RankingLoss, (self._by_ndcg, self._truncation)

    def start(self, targets: Targets, context: FitContext) -> F64:
        """Return 0, since only differences of scores matter."""
        del targets, context
        return np.zeros(1)

    def derivatives(self, scores: F64, targets: Targets, context: FitContext) -> Derivatives:
        """Sum the derivatives over pairs; the mean loss is the mean over queries."""
        constants = self._constants_of(targets, context)
        residuals, curvatures, losses = self._of_queries(scores, targets, constants, context)
        return Derivatives(residuals, curvatures, exact_mean(losses, constants.weights, context))

    def unit_losses(self, scores: F64, targets: Targets, context: FitContext) -> F64:
        """Return what each query adds to the mean loss, or with `by_ndcg` to the mean of 1 - NDCG.

        With `by_ndcg` the weights of pairs depend on the scores, so losses of other scores do not compare.
        """
        assert targets.queries is not None
        constants = self._constants_of(targets, context)
        if self._by_ndcg:
            losses = 1.0 - dcg(targets.queries, constants.gain, scores[0]) * constants.weight
        else:
            losses = self._of_queries(scores, targets, constants, context)[2]
        return np.asarray(losses * (constants.query_weight / constants.query_weight.sum()))

    def _of_queries(
        self, scores: F64, targets: Targets, constants: _TargetConstants, context: FitContext
    ) -> tuple[F64, F64, F64]:
        """Return residuals and curvatures, shape (1, n), and the loss of each query."""
        assert targets.queries is not None
        residuals, curvatures = np.empty_like(scores), np.empty_like(scores)
        queries, losses = targets.queries, np.empty(len(targets.queries))
        _core.rank_residuals(
            context.pool,
            queries.rows,
            queries.begin,
            targets.y,
            constants.gain,
            constants.weight,
            constants.discount,
            scores[0],
            self._truncation if self._by_ndcg else constants.discount.shape[0],
            self._by_ndcg,
            residuals[0],
            curvatures[0],
            losses,
        )
        return residuals, curvatures, losses

    def predict(self, scores: F64) -> F64:
        """Return the score itself: documents are sorted by it."""
        score: F64 = scores[0]
        return score

    def _constants_of(self, targets: Targets, context: FitContext) -> _TargetConstants:
        for known, constants in self._constants:
            # Parts, not the whole: the same targets come with and without their offsets.
            if known.y is targets.y and known.weights is targets.weights and known.queries is targets.queries:
                return constants
        assert targets.queries is not None
        gain, discount = dcg_gains(targets.y), discounts(targets.queries)
        if self._by_ndcg:
            ideal = ideal_dcg(targets.queries, targets.y)
            weight = np.where(ideal > 0.0, 1.0 / np.where(ideal > 0.0, ideal, 1.0), 0.0)
        else:
            pairs = _unequal_pairs(targets.queries, targets.y)
            weight = targets.queries.sizes / np.maximum(pairs, 1.0)
        # All rows of a query weigh the same.
        first_rows = targets.queries.rows[targets.queries.begin[:-1]]
        query_weight = targets.weights.as_floats()[first_rows]
        weights = RowWeights.of(query_weight, context.communicator)
        constants = _TargetConstants(gain, weight, discount, query_weight, weights)
        self._constants.append((targets, constants))
        return constants


def dcg_gains(relevance: F64) -> F64:
    """Return the DCG gain of documents: 2 ** relevance - 1."""
    return np.exp2(relevance) - 1.0


def discounts(queries: Queries) -> F64:
    """Return the DCG discount of each rank, up to the length of the longest query."""
    return np.asarray(1.0 / np.log2(2.0 + np.arange(int(queries.sizes.max(initial=1)))))


def ideal_dcg(queries: Queries, relevance: F64, k: int | None = None) -> F64:
    """Return the DCG of each query's ideal order, over the first k ranks."""
    known = queries.ideals.get(k)
    if known is None or known[0] is not relevance:
        known = relevance, dcg(queries, dcg_gains(relevance), relevance, k)
        queries.ideals[k] = known
    return known[1]


def dcg(queries: Queries, gain: F64, score: F64, k: int | None = None) -> F64:
    """Return the DCG of each query's documents, sorted by score, over the first k ranks."""
    rows, place = queries.ranked(score)
    counts = np.ones(place.shape[0]) if k is None else (place < k).astype(np.float64)
    worth = mean_of_ties(queries, score[rows], discounts(queries)[place] * counts)
    return sum_of_queries(queries, gain[rows] * worth)


def mean_of_ties(queries: Queries, ranked_score: F64, values: F64) -> F64:
    """Average values over documents of the same query and score, so that ties share their ranks.

    Parameters
    ----------
    ranked_score, values : ndarray of float64, shape (n,)
        In the order of ``queries.ranked``.
    """
    begins = np.ones(ranked_score.shape[0], dtype=np.bool_)
    begins[1:] = (np.diff(ranked_score) != 0.0) | (np.diff(queries.number) != 0)
    first = np.flatnonzero(begins)
    counts = np.diff(first, append=values.shape[0])
    return np.repeat(np.add.reduceat(values, first) / counts, counts)


def sum_of_queries(queries: Queries, values: F64) -> F64:
    """Return the sum of the entries of each query."""
    return np.bincount(queries.number, weights=values, minlength=len(queries)).astype(np.float64)


def _unequal_pairs(queries: Queries, relevance: F64) -> F64:
    """Count the pairs of each query that differ in relevance."""
    size = queries.sizes.astype(np.float64)
    same = np.zeros(len(queries))
    for level in np.unique(relevance):
        is_level = (relevance[queries.rows] == level).astype(np.float64)
        count = sum_of_queries(queries, is_level)
        same += count * (count - 1.0) / 2.0
    return np.asarray(size * (size - 1.0) / 2.0 - same)
