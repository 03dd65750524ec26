"""Reciprocal rank where several documents have the same score."""

from __future__ import annotations

from typing import Any

import numpy as np

from gtgbm.exact import F64


def expected_mrr(y: F64, prediction: F64, weight: F64, queries: Any = None, k: int | None = None) -> float:
    """Mean of 1 / rank of the first relevant document, expected over random orders of tied scores.

    A prediction that is the same for every row scores what a random order scores. Queries without a relevant
    document, or without one among the first `k`, count as 0.
    """
    number, rows = queries.number, queries.rows
    score, is_relevant = prediction[rows], y[rows] > 0.0
    best = np.full(len(queries), -np.inf)
    np.maximum.at(best, number[is_relevant], score[is_relevant])
    n_queries = len(queries)
    n_before = np.bincount(number[score > best[number]], minlength=n_queries)
    is_tied = score == best[number]
    n_tied = np.bincount(number[is_tied], minlength=n_queries)
    n_relevant = np.bincount(number[is_tied & is_relevant], minlength=n_queries)
    # Chance that the first relevant document is the j-th of those tied.
    chance = n_relevant / np.maximum(n_tied, 1)
    found = np.zeros(n_queries)
    for j in range(1, int(n_tied.max(initial=0)) + 1):
        rank = n_before + j
        found += np.where((rank <= k) if k is not None else True, chance / rank, 0.0)
        chance = chance * np.maximum(n_tied - j - n_relevant + 1, 0) / np.maximum(n_tied - j, 1)
    of_query = weight[rows[queries.begin[:-1]]]
    return float(np.average(found, weights=of_query)) if of_query.sum() > 0.0 else float("nan")
