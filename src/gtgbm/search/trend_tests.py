"""Trend tests: how residuals rise, fall or bend with each column, on more rows than groups are tested on.

A sum of products is an order of magnitude cheaper than a histogram. So where a table is not too wide, every
column is tested alone at large nodes, on rows enough to see the gain that a low penalty asks for.
"""

from __future__ import annotations

import numpy as np

from gtgbm import _core
from gtgbm.data import Columns
from gtgbm.exact import F64, FALLING, I64, RISING, U8, Bool, Cells, as_int16
from gtgbm.search.candidates import SampledNodes

_LEVELS = _core.TREND_LEVELS
"""Codes of a column, 0 for missing values: a trend needs no more."""
_MAX_CELLS = 1 << 25
"""Codes of all columns together: passing over them takes a few milliseconds."""
_MAX_ROWS = 10_000
_BATCH = 512
"""Columns coded in one kernel call."""
_CANDIDATES = 8


def n_trend_rows(n_columns: int, n_rows: int, n_test_rows: int) -> int:
    """Return how many rows to test for trends: 0 where group tests look at as many."""
    n_tested = min(n_rows, _MAX_ROWS, _MAX_CELLS // max(n_columns, 1))
    return n_tested if n_tested > n_test_rows else 0


class TrendTests:
    """Codes of all columns on a sample of rows, and their trends at nodes.

    Parameters
    ----------
    columns : Columns
    searched : ndarray of int64, shape (d,)
        The columns to be tested.
    rows : ndarray of int64, shape (m,)
        Ascending.
    directions : ndarray of uint8
        RISING or FALLING where a column of the table is bound to a direction, else 0.
    """

    def __init__(self, columns: Columns, searched: I64, rows: I64, directions: U8, pool: _core.Pool) -> None:
        self.rows = rows
        self._searched = searched
        self._direction: U8 = directions[searched]
        self._pool = pool
        d, m = searched.shape[0], rows.shape[0]
        self._packed: U8 = np.empty((d, -(-m // 2)), dtype=np.uint8)
        counts = np.empty((d, _LEVELS), dtype=np.int32)
        for first in range(0, d, _BATCH):
            batch = slice(first, min(d, first + _BATCH))
            codes = np.empty((batch.stop - first, m), dtype=np.uint8)
            columns.rank_codes(searched[batch], rows, _LEVELS, codes)
            _core.pack_codes(pool, codes, self._packed[batch], counts[batch])
        self._share_of_others: F64 = 1.0 - counts.max(axis=1, initial=0) / m
        code = np.arange(_LEVELS) - _LEVELS // 2
        powers = np.stack([code**power for power in range(1, 5)], axis=1)
        mean, squares, cubes, fourths = (counts @ powers / m).T
        spread = squares - mean**2
        # The square less its share of the straight trend, or one effect would count twice.
        self._slope = (cubes - mean * squares) * _inverse(spread)
        self._means = mean, squares
        self._weights = _inverse(spread), _inverse(fourths - squares**2 - self._slope**2 * spread)

    def search(self, sampled: SampledNodes, is_excluded: Bool, cells: Cells, least_share: float) -> I64:
        """Find the features that tell most about each node's residuals.

        Parameters
        ----------
        sampled : SampledNodes
            The nodes' rows among those tested.
        is_excluded : ndarray of bool
            Columns of the table not to be found.
        least_share : float
            Fewest rows on each side of a split, as a share of all rows.

        Returns
        -------
        ndarray of int64, shape (nodes, c)
            Best first; -1 where there are no more.
        """
        weight = np.zeros((sampled.begin.shape[0], 2 * self._packed.shape[1]), dtype=np.int16)
        for k in range(weight.shape[0]):
            part = slice(sampled.begin[k], sampled.end[k])
            of_rows = sampled.cells[part]
            mean = cells.gradient(sampled.total[k]) / max(sampled.n_rows[k], 1)
            centred = cells.gradient(of_rows) - cells.count(of_rows) * mean
            weight[k, sampled.positions[part]] = as_int16(centred)
        sums = np.empty((weight.shape[0], self._packed.shape[0], 2), dtype=np.int64)
        _core.trend_sums(self._pool, self._packed, weight, sums)
        # Rounding leaves the weights a sum of their own.
        surplus = weight.sum(axis=1, dtype=np.int64)[:, None]
        straight = sums[:, :, 0] - surplus * self._means[0]
        bent = sums[:, :, 1] - surplus * self._means[1] - self._slope * straight
        is_forbidden = ((self._direction == RISING) & (straight < 0.0)) | (
            (self._direction == FALLING) & (straight > 0.0)
        )
        straight[is_forbidden] = 0.0
        score = straight**2 * self._weights[0] + bent**2 * self._weights[1]
        score[:, is_excluded[self._searched] | (self._share_of_others < least_share)] = -1.0
        return np.stack([self._best(of_node) for of_node in score])

    def _best(self, score: F64) -> I64:
        """Features with the highest scores that are not negative, filled up with -1."""
        place = max(0, score.shape[0] - _CANDIDATES)
        # The few above the cut are sorted, not all; of equals the first, which a partition does not promise.
        likely = np.flatnonzero(score >= max(np.partition(score, place)[place], 0.0))
        best = likely[np.argsort(-score[likely], kind="stable")][:_CANDIDATES]
        found = np.full(_CANDIDATES, -1, dtype=np.int64)
        found[: best.shape[0]] = self._searched[best]
        return found


def _inverse(values: F64) -> F64:
    """1 / value, 0 for 0: a column that does not vary has no trend."""
    return np.divide(1.0, values, out=np.zeros_like(values), where=values > 1e-9)
