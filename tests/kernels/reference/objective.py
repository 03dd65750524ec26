"""Twins of native/objective."""

from __future__ import annotations

import itertools
import math

import numpy as np

from gtgbm.exact.arrays import (
    F64,
    I32,
    I64,
)


def logistic_residuals(scores: F64, y: F64) -> tuple[F64, F64, F64]:
    """Residuals, curvatures and values of the logistic loss."""
    p = 0.5 * (1.0 + np.tanh(0.5 * scores))
    q = 0.5 * (1.0 + np.tanh(-0.5 * scores))
    return y - p, p * q, np.log1p(np.exp(-np.abs(scores))) + (np.maximum(scores, 0.0) - y * scores)


def fixed_point(values: F64, scale: float) -> I64:
    """Round to whole multiples of 1 / scale, halves to even."""
    return np.rint(values * scale).astype(np.int64)


def exponentials(values: F64) -> F64:
    """Exponentials; what is too small or too large for the kernel is 0 or infinite."""
    with np.errstate(over="ignore", under="ignore"):
        return np.where(values <= -690.0, 0.0, np.where(values >= 690.0, np.inf, np.exp(values)))


def each_weight(weights: I64, n: int) -> I64:
    """Weights of n rows: 1 where none are given."""
    return weights if weights.shape[0] else np.ones(n, dtype=np.int64)


def fixed_point_sum(values: F64, weights: I64, scale: float) -> int:
    """Exact weighted sum of rounded values."""
    weights = each_weight(weights, values.shape[0])
    return sum(q * w for q, w in zip(fixed_point(values, scale).tolist(), weights.tolist(), strict=True))


def signed_sums(values: F64, weights: I64, centre: float, scale: float) -> tuple[int, int]:
    """Exact weighted sums of rounded distances above the centre, and below it."""
    above, below = np.maximum(values - centre, 0.0), np.maximum(centre - values, 0.0)
    return fixed_point_sum(above, weights, scale), fixed_point_sum(below, weights, scale)


def pack_cells(
    residuals: F64, weights: I64, centre: float, scale: float, count_bits: int
) -> tuple[I64, int, int]:
    """Cells, their sum, and the weighted sum of squared fixed-point residuals."""
    q, weights = fixed_point(residuals - centre, scale), each_weight(weights, residuals.shape[0])
    cells = (q * 2**count_bits + 1) * weights
    squares = (v * v * w for v, w in zip(q.tolist(), weights.tolist(), strict=True))
    return cells, sum(cells.tolist()), sum(squares)


def leaf_sums(rows: I32, begin: I64, end: I64, values: F64, weights: I64, scale: float) -> I64:
    """Exact weighted sums of rounded values over the rows of each leaf."""
    weights = each_weight(weights, values.shape[0])
    leaves = [rows[b:e] for b, e in zip(begin.tolist(), end.tolist(), strict=True)]
    sums = [fixed_point_sum(values[leaf], weights[leaf], scale) for leaf in leaves]
    return np.array(sums, dtype=np.int64)


def leaf_quantiles(rows: I32, begin: I64, end: I64, values: F64, weights: I64, share: float) -> F64:
    """Value below which a share of each leaf's weight lies; 0 where a leaf weighs nothing."""
    weights, quantiles = each_weight(weights, values.shape[0]), np.zeros(begin.shape[0])
    for leaf, (b, e) in enumerate(zip(begin.tolist(), end.tolist(), strict=True)):
        inside = rows[b:e][weights[rows[b:e]] > 0]
        if inside.shape[0] == 0:
            continue
        inside = inside[np.argsort(values[inside], kind="stable")]
        found, up_to = values[inside], np.cumsum(weights[inside])
        wanted = share * float(up_to[-1])
        k = int(np.flatnonzero(up_to >= wanted)[0])
        ends_here = up_to[k] == wanted and k + 1 < inside.shape[0]
        quantiles[leaf] = found[k] + (found[k + 1] - found[k]) / 2 if ends_here else found[k]
    return quantiles


def add_to_leaves(rows: I32, begin: I64, end: I64, step: F64, scores: F64) -> F64:
    """Scores with each leaf's step added to the leaf's rows."""
    scores = scores.copy()
    for b, e, s in zip(begin.tolist(), end.tolist(), step.tolist(), strict=True):
        scores[rows[b:e]] += s
    return scores


def rank_residuals(
    rows: I64,
    begin: I64,
    relevance: F64,
    gain: F64,
    weight: F64,
    discount: F64,
    scores: F64,
    truncation: int,
    by_ndcg: bool,
) -> tuple[F64, F64, float]:
    """Residuals and curvatures of rows, and the loss: pair by pair, documents by falling score."""
    residuals, curvatures, losses = np.zeros_like(scores), np.zeros_like(scores), 0.0
    for q, query_weight in enumerate(weight.tolist()):
        documents = rows[begin[q] : begin[q + 1]]
        ranked: list[int] = sorted(documents.tolist(), key=lambda row: -float(scores[row]))
        differ = np.unique(scores[documents]).shape[0] > 1
        pull = loss = 0.0
        for (i, first), (j, second) in itertools.combinations(enumerate(ranked), 2):
            if i >= truncation or relevance[first] == relevance[second]:
                continue
            better, worse = (first, second) if relevance[first] > relevance[second] else (second, first)
            ahead, w = float(scores[better] - scores[worse]), query_weight
            if by_ndcg:
                w *= abs(float(gain[first] - gain[second])) * abs(float(discount[i] - discount[j]))
                w /= 0.01 + abs(ahead) if differ else 1.0
            wrong, right = (math.exp(-float(np.logaddexp(0.0, side))) for side in (ahead, -ahead))
            residuals[better] += w * wrong
            residuals[worse] -= w * wrong
            curvatures[[better, worse]] += w * wrong * right
            pull += 2.0 * w * wrong
            loss += w * float(np.logaddexp(0.0, -ahead))
        factor = math.log2(1.0 + pull) / pull if by_ndcg and pull > 0.0 else 1.0
        residuals[documents] *= factor
        curvatures[documents] *= factor
        losses += loss * factor
    return residuals, curvatures, losses
