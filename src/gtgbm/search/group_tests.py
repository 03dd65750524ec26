"""Group tests: random subsets of features are divided repeatedly, and the best part is kept.

A group of features is tested by one pseudo-feature, the sum of its scaled features; the score of the group is
the gain of the best split of its pseudo-feature. Following the best part from a whole subset down to a single
feature gives a candidate.
"""

from __future__ import annotations

import json

import numpy as np

from gtgbm import _core
from gtgbm.data import Columns
from gtgbm.exact import F64, I8, I64, LANES, U8, U16, as_int16
from gtgbm.pricing import FeatureCosts
from gtgbm.search.candidates import SampledNodes, SideTerms
from gtgbm.search.dealing import MAX_CANDIDATES, GroupTestSettings, divide


class GroupTests:
    """Random subsets of features, and the codes of their pseudo-features on a sample of rows.

    Parameters
    ----------
    columns : Columns
    searched : ndarray of int64
        The columns that are dealt into subsets.
    test_rows : ndarray of int64, shape (m,)
        The rows on which pseudo-features are computed.
    """

    def __init__(
        self,
        columns: Columns,
        searched: I64,
        test_rows: I64,
        settings: GroupTestSettings,
        pool: _core.Pool,
        rng: np.random.Generator,
    ) -> None:
        self._settings = settings
        self._searched = searched
        self._pool = pool
        self._rng = rng
        self.rows = test_rows
        self._share = test_rows.shape[0] / columns.shard.n_total
        shape = (columns.n_columns, test_rows.shape[0])
        self._codes: U8 = np.empty(shape, dtype=np.uint8)
        self._scaled: U16 | None = None
        if settings.paper_scaling:
            self._scaled = np.empty(shape, dtype=np.uint16)
            columns.minmax_values(test_rows, self._scaled)
            _core.sorted_codes(pool, self._scaled, settings.n_codes, self._codes)
        else:
            columns.rank_codes(np.arange(columns.n_columns), test_rows, settings.n_codes, self._codes)
        self._n_trees = 0
        self._members: I64 = np.empty((0, 0), dtype=np.int64)
        self._sign: I8 = np.empty(0, dtype=np.int8)
        self._tiles: U8 = np.empty((0, 0, 0, 0), dtype=np.uint8)

    def start_tree(self, residuals: I64, costs: FeatureCosts) -> None:
        """Re-draw subsets if they are due.

        Parameters
        ----------
        residuals : ndarray of int64, shape (m,)
            Fixed-point residuals of the test rows.
        costs : FeatureCosts
            Features that are owned are not dealt, and subsets hold features of similar prices.
        """
        every = self._settings.redeal_every
        is_due = self._n_trees == 0 or (every is not None and self._n_trees % every == 0)
        self._n_trees += 1
        if not is_due:
            return
        features = self._searched if every is None else self._searched[~costs.is_known[self._searched]]
        if features.shape[0] == 0:
            self.deal(features[None], residuals)
            return
        prices = costs.search_prices(features)
        self.deal(self._settings.deal(features, self._codes.shape[1], self._rng, prices), residuals)

    def deal(self, members: I64, residuals: I64) -> None:
        """Compute the pseudo-features of subsets.

        Parameters
        ----------
        members : ndarray of int64, shape (p, size)
            Features of each subset.
        residuals : ndarray of int64, shape (m,)
        """
        self._use_subsets(members)
        if members.shape[1]:
            self._sign = self._signs(residuals)
            self._build_codes()

    def state(self) -> tuple[int, I64, I8, str]:
        """Return the number of searched trees, the subsets, their signs, and the state of random numbers."""
        return self._n_trees, self._members, self._sign, json.dumps(self._rng.bit_generator.state)

    def restore(self, n_trees: int, members: I64, signs: I8, random: str) -> None:
        """Continue from the state of an interrupted fit."""
        self._n_trees, self._rng.bit_generator.state = n_trees, json.loads(random)
        self._use_subsets(members)
        if members.shape[1]:
            self._sign = signs
            self._build_codes()

    def _use_subsets(self, members: I64) -> None:
        self._members = members
        if members.shape[1] == 0:
            return
        self._shape = divide(members.shape[1], self._settings.parts)
        self._native_shape = self._shape.native()
        width = 2 if self._settings.parts == 2 else LANES
        shape = (members.shape[0], self._shape.n_tiles, self._codes.shape[1], width)
        if self._tiles.shape != shape:
            self._tiles = np.empty(shape, dtype=np.uint8)

    def _build_codes(self) -> None:
        n_codes = self._settings.n_codes
        _core.build_group_codes(
            pool=self._pool,
            values=self._codes if self._scaled is None else self._scaled,
            top=n_codes if self._scaled is None else 65535,
            members=self._members,
            sign=self._sign,
            shape=self._native_shape,
            n_codes=n_codes,
            exact=self._settings.paper_scaling,
            tiles=self._tiles,
        )

    def search(
        self, tested: SampledNodes, cell_format: _core.CellFormat, terms: SideTerms, costs: FeatureCosts
    ) -> tuple[I64, F64]:
        """Return the candidates of each node with their gain on its test rows: one feature per subset.

        Parameters
        ----------
        tested : SampledNodes
            Test rows of the nodes.
        cell_format : CellFormat
            Format of their cells.
        costs : FeatureCosts
            Of cheaper features, less gain is enough.

        Returns
        -------
        feature : ndarray of int64, shape (nodes, c)
            Those of all p subsets with `n_relevant`, else only of the best few.
        gain : ndarray of float64, shape (nodes, c)
            -inf where the test rows allow no split.
        """
        n_features = self._members.shape[1]
        kept = self._members.shape[0] if self._settings.n_relevant is not None else MAX_CANDIDATES
        shape = (tested.begin.shape[0], min(kept, self._members.shape[0]) if n_features else 0)
        feature, gain = np.empty(shape, dtype=np.int64), np.empty(shape)
        if feature.size:
            _core.search_groups(
                pool=self._pool,
                tiles=self._tiles,
                codes=self._codes,
                members=self._members,
                price=self._prices(costs),
                shape=self._native_shape,
                n_codes=self._settings.n_codes,
                positions=tested.positions,
                cells=tested.cells,
                begin=tested.begin,
                end=tested.end,
                format=cell_format,
                min_leaf=terms.min_leaf,
                l2=terms.l2,
                feature=feature,
                gain=gain,
            )
        return feature, gain

    def _prices(self, costs: FeatureCosts) -> F64:
        """Return the price of each subset's features, for gains on the test rows; empty: all are equal."""
        prices = costs.search_prices(self._members)
        if prices is None:
            return np.empty((0, 0))
        return np.where(costs.is_known[self._members], np.inf, prices * self._share)

    def _signs(self, residuals: I64) -> I8:
        d = self._codes.shape[0]
        if not self._settings.signed or self._shape.n_tiles == 0:
            return np.ones(d, dtype=np.int8)
        weight = as_int16(residuals - residuals.mean())
        correlation = np.empty(d, dtype=np.int64)
        _core.correlate(self._pool, self._codes, weight, correlation)
        # Rounding can leave the weights a mean other than 0, which would give all features the same sign.
        correlation = correlation - self._codes.sum(axis=1) * weight.mean()
        return np.where(correlation < 0, -1, 1).astype(np.int8)
