"""How strongly columns go together, numbers and categories alike."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import csr_matrix

from gtgbm.exact import F64, Bool
from gtgbm.explain.correlations import absolute_correlations

_MOST_CATEGORIES = 64
"""Rarer categories of a column are taken together."""


def associations(a: F64, b: F64, a_is_category: Bool, b_is_category: Bool) -> F64:
    """Association of every column of one table with every column of another, from 0 to 1.

    Two columns of numbers: absolute Pearson correlation. A category and a number: correlation ratio, the root
    of the share of the number's variance between categories. Two categories: Cramér's V. The last two are
    corrected for the number of categories, so that unrelated columns have about 0. Codes of categories serve
    as names only; a missing category is one of its own.

    Parameters
    ----------
    a : ndarray of float64, shape (n, p)
    b : ndarray of float64, shape (n, q)
    a_is_category, b_is_category : ndarray of bool, shape (p,) and (q,)

    Returns
    -------
    ndarray of float64, shape (p, q)
        NaN where a column is constant.
    """
    found = np.full((a.shape[1], b.shape[1]), np.nan)
    found[np.ix_(~a_is_category, ~b_is_category)] = absolute_correlations(
        a[:, ~a_is_category], b[:, ~b_is_category]
    )
    of_a = {j: _members(a[:, j]) for j in np.flatnonzero(a_is_category).tolist()}
    of_b = {j: _members(b[:, j]) for j in np.flatnonzero(b_is_category).tolist()}
    for j, members in of_a.items():
        found[j, ~b_is_category] = _correlation_ratios(members, b[:, ~b_is_category])
        for k, others in of_b.items():
            found[j, k] = _cramers_v(members, others)
    for k, members in of_b.items():
        found[~a_is_category, k] = _correlation_ratios(members, a[:, ~a_is_category])
    return found


def _members(codes: F64) -> Any:
    """Which rows have each category: a sparse matrix of ones, shape (categories, n)."""
    _, number, counts = np.unique(codes, return_inverse=True, return_counts=True)
    if counts.shape[0] > _MOST_CATEGORIES:
        rank = np.empty(counts.shape[0], dtype=np.int64)
        rank[np.argsort(-counts, kind="stable")] = np.arange(counts.shape[0])
        number = np.minimum(rank[number], _MOST_CATEGORIES - 1)
    n = codes.shape[0]
    shape = (int(number.max(initial=-1)) + 1, n)
    return csr_matrix((np.ones(n), (number, np.arange(n))), shape=shape)


def _correlation_ratios(members: Any, values: F64) -> F64:
    has = np.isfinite(values)
    n = has.sum(axis=0)
    largest = np.abs(np.where(has, values, 0.0)).max(axis=0, initial=0.0)
    scaled = np.where(has, values, 0.0) / np.where(largest > 0, largest, 1.0)
    centred = np.where(has, scaled - scaled.sum(axis=0) / np.maximum(n, 1), 0.0)
    total = (centred**2).sum(axis=0)
    counts = members @ has.astype(np.float64)
    between = ((members @ centred) ** 2 / np.maximum(counts, 1.0)).sum(axis=0)
    n_groups = np.count_nonzero(counts, axis=0)
    is_known = (total > 1e-24 * n) & (n_groups > 1) & (n > n_groups)
    share = between / np.where(is_known, total, 1.0)
    corrected = 1.0 - (1.0 - share) * (n - 1) / np.where(is_known, n - n_groups, 1)
    return np.where(is_known, np.sqrt(np.clip(corrected, 0.0, 1.0)), np.nan)


def _cramers_v(a: Any, b: Any) -> float:
    counts: F64 = (a @ b.T).toarray()
    n, (rows, columns) = counts.sum(), counts.shape
    if rows < 2 or columns < 2 or n < 2:
        return float("nan")
    expected = np.outer(counts.sum(axis=1), counts.sum(axis=0)) / n
    share = max(0.0, float((counts**2 / expected).sum() / n - 1.0) - (rows - 1) * (columns - 1) / (n - 1))
    most = min(rows - (rows - 1) ** 2 / (n - 1), columns - (columns - 1) ** 2 / (n - 1)) - 1.0
    return float(np.sqrt(min(share / most, 1.0))) if most > 0 else float("nan")
