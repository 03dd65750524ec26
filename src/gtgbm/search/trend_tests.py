"""Trend tests: linear and quadratic correlation of the residuals with each column.

A sum of products is an order of magnitude cheaper than a histogram. Where a table is not too wide, every
column can therefore be tested by itself at large nodes, on more rows than group tests use: enough to detect
the small gains that a low penalty allows.
"""

from __future__ import annotations

import numpy as np

from gtgbm import _core
from gtgbm.data import Columns
from gtgbm.exact import F64, FALLING, I64, INT16_LARGEST, RISING, U8, Bool, Cells, as_int16
from gtgbm.search.candidates import SampledNodes

TREND_LEVELS = _core.TREND_LEVELS
"""Number of codes of a column, including 0 for missing values; trends need no more."""
_MAX_CELLS = 1 << 25
"""Most codes of all columns together: one pass over them takes a few milliseconds."""
_MAX_ROWS = 10_000
_BATCH = 512
"""Columns encoded in one kernel call."""
_CANDIDATES = 8
"""Candidates per node."""


def n_trend_rows(n_columns: int, n_rows: int, n_test_rows: int) -> int:
    """Return how many rows trend tests use; 0 (no trend tests) if group tests use as many."""
    n_tested = min(n_rows, _MAX_ROWS, _MAX_CELLS // max(n_columns, 1))
    return n_tested if n_tested > n_test_rows else 0


class TrendTests:
    """Finds candidates by the trends of all columns at a node, on a sample of rows.

    Parameters
    ----------
    columns : Columns
    searched : ndarray of int64, shape (d,)
        The columns to be tested.
    rows : ndarray of int64, shape (m,)
        Ascending.
    directions : ndarray of uint8
        RISING or FALLING where a column of the table has a monotone constraint, else 0.
    """

    def __init__(self, columns: Columns, searched: I64, rows: I64, directions: U8, pool: _core.Pool) -> None:
        self.rows = rows
        self._searched = searched
        self._direction: U8 = directions[searched]
        self._pool = pool
        d, m = searched.shape[0], rows.shape[0]
        self._packed: U8 = np.empty((d, -(-m // 2)), dtype=np.uint8)
        counts = np.empty((d, TREND_LEVELS), dtype=np.int32)
        for first in range(0, d, _BATCH):
            batch = slice(first, min(d, first + _BATCH))
            codes = np.empty((batch.stop - first, m), dtype=np.uint8)
            columns.rank_codes(searched[batch], rows, TREND_LEVELS, codes)
            _core.pack_codes(pool, codes, self._packed[batch], counts[batch])
        self._share_of_others: F64 = 1.0 - counts.max(axis=1, initial=0) / m
        code = np.arange(TREND_LEVELS) - TREND_LEVELS // 2
        powers = np.stack([code**power for power in range(1, 5)], axis=1)
        mean, squares, cubes, fourths = (counts @ powers / m).T
        spread = squares - mean**2
        # The quadratic term is made orthogonal to the linear one, or one effect would count twice.
        self._slope = (cubes - mean * squares) * _inverse(spread)
        self._means = mean, squares
        self._weights = _inverse(spread), _inverse(fourths - squares**2 - self._slope**2 * spread)

    @property
    def features(self) -> I64:
        """The columns that are tested, shape (d,)."""
        return self._searched

    def search(
        self,
        sampled: SampledNodes,
        is_excluded: Bool,
        cells: Cells,
        least_share: float,
        price: F64 | None = None,
    ) -> I64:
        """Return the features that explain most of each node's residuals.

        Parameters
        ----------
        sampled : SampledNodes
            Tested rows of the nodes.
        is_excluded : ndarray of bool
            Columns of the table that must not be returned.
        least_share : float
            Fewest rows on each side of a split, as a share of all rows.
        price : ndarray of float64, shape (d,), or None
            What the first use of each tested column costs, in units of gain on the sampled rows; None: the
            same for all.

        Returns
        -------
        ndarray of int64, shape (nodes, c)
            Best first; -1 where there are no more.
        """
        weight = np.zeros((sampled.begin.shape[0], 2 * self._packed.shape[1]), dtype=np.int16)
        scales = np.empty(weight.shape[0])
        for k in range(weight.shape[0]):
            part = slice(sampled.begin[k], sampled.end[k])
            of_rows = sampled.cells[part]
            mean = sampled.total[k, 0] / max(sampled.n_rows[k], 1)
            centred = cells.gradients(of_rows) - cells.weights(of_rows) * mean
            weight[k, sampled.positions[part]] = as_int16(centred)
            scales[k] = (INT16_LARGEST / np.abs(centred).max(initial=1.0)) ** 2 * sampled.n_rows[k]
        sums = np.empty((weight.shape[0], self._packed.shape[0], 2), dtype=np.int64)
        _core.trend_sums(self._pool, self._packed, weight, sums)
        # Rounding can leave the weights a sum other than 0.
        surplus = weight.sum(axis=1, dtype=np.int64)[:, None]
        linear = sums[:, :, 0] - surplus * self._means[0]
        quadratic = sums[:, :, 1] - surplus * self._means[1] - self._slope * linear
        is_forbidden = ((self._direction == RISING) & (linear < 0.0)) | (
            (self._direction == FALLING) & (linear > 0.0)
        )
        linear[is_forbidden] = 0.0
        score = linear**2 * self._weights[0] + quadratic**2 * self._weights[1]
        if price is not None:
            # A linear fit gains its score divided by the squared scale of the weights and by the rows.
            score -= price * scales[:, None]
        score[:, is_excluded[self._searched] | (self._share_of_others < least_share)] = -np.inf
        return np.stack([self._best(of_node) for of_node in score])

    def _best(self, score: F64) -> I64:
        """Return the features with the highest finite scores, padded with -1."""
        place = max(0, score.shape[0] - _CANDIDATES)
        # Only the few best are sorted. The stable sort lets ties go to the first feature, unlike a partition.
        likely = np.flatnonzero((score >= np.partition(score, place)[place]) & np.isfinite(score))
        best = likely[np.argsort(-score[likely], kind="stable")][:_CANDIDATES]
        features = np.full(_CANDIDATES, -1, dtype=np.int64)
        features[: best.shape[0]] = self._searched[best]
        return features


def _inverse(values: F64) -> F64:
    """Return 1 / value, or 0 for values close to 0: a constant column has no trend."""
    return np.divide(1.0, values, out=np.zeros_like(values), where=values > 1e-9)
