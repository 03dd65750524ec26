"""The exhaustive search over all features (A-GBM, GBFS)."""

from __future__ import annotations

import numpy as np

from gtgbm.data import BinnedColumn, Columns, SparseColumns, Tiles
from gtgbm.exact import F64, I64, NEW, SKIPPED, U8, Bool, FitContext
from gtgbm.pricing import FeatureCosts
from gtgbm.search.base import SearchState
from gtgbm.search.sparse import SparseLevelSearch
from gtgbm.tree import Level, LevelHistograms, ScanPrices, Splits, TreeContext


class ExhaustiveSearch:
    """Searches every feature (A-GBM, GBFS).

    Parameters
    ----------
    searched : ndarray of int64
        The numeric columns.
    directions : ndarray of uint8, shape (d,)
        RISING or FALLING where a column has a monotone constraint, else 0.
    """

    def __init__(self, columns: Columns, searched: I64, directions: U8, context: FitContext) -> None:
        self._columns = columns
        self._directions = directions
        self._timings = context.timings
        dense, use = searched, directions + np.uint8(NEW)
        self._sparse: SparseLevelSearch | None = None
        with self._timings.stage("binning"):
            if isinstance(columns, SparseColumns):
                # A column without entries can never be split on, and costs nothing.
                is_searched = np.zeros(columns.n_columns, dtype=np.bool_)
                is_searched[searched] = True
                dense = columns.dense_columns
                dense, rest = dense[is_searched[dense]], columns.filled_columns
                is_searched[dense] = False
                rest = rest[is_searched[rest]]
                if rest.shape[0]:
                    self._sparse = SparseLevelSearch(columns.code_entries(rest), use[rest])
            self._tiles = Tiles.of(dense, columns.n_rows, columns.encode, use[dense])
        self._position: I64 = np.full(columns.n_columns, -1, dtype=np.int64)
        self._position[dense] = np.arange(dense.shape[0])
        self._histograms = LevelHistograms(self._tiles)
        self._n_left = searched.shape[0]

    def start_tree(self, tree: TreeContext, costs: FeatureCosts) -> None:
        """Discard the last tree's histograms, and exclude features that the tree may not use."""
        del tree
        self._histograms.start_tree()
        allowed = self._allowed(costs)
        self._tiles.skip(None if allowed.all() else ~allowed[self._tiles.first_feature])
        if self._sparse is not None:
            self._sparse.start_tree(allowed)

    def _allowed(self, costs: FeatureCosts) -> Bool:
        """Return the features (d,) that the next tree may use."""
        return costs.is_allowed

    def may_find(self, level: Level, nodes: I64, costs: FeatureCosts) -> Bool:
        """Return True for all nodes while there are features left to search."""
        del level, costs
        return np.full(nodes.shape[0], self._n_left > 0, dtype=np.bool_)

    def propose(
        self, tree: TreeContext, level: Level, nodes: I64, floor: F64, costs: FeatureCosts
    ) -> tuple[I64, Splits]:
        """Propose the best split over all features at each node, after their prices."""
        del floor
        if self._n_left <= 0 or nodes.shape[0] == 0:
            return nodes[:0], Splits.none(0)
        with self._timings.stage("search"):
            prices = ScanPrices(costs.search_prices(self._tiles.first_feature))
            best = self._histograms.best_splits(tree, level, nodes, prices).new
            if self._sparse is not None:
                price = costs.search_prices(self._sparse.features)
                sparse = self._sparse.best_splits(tree, level, nodes, price)
                of_sparse, of_dense = (costs.net_gains(split.feature, split.gain) for split in (sparse, best))
                # Ties go to the first column, whether it is stored as sparse or dense.
                wins = (of_sparse > of_dense) | (
                    (of_sparse == of_dense) & (sparse.feature >= 0) & (sparse.feature < best.feature)
                )
                best.put(np.flatnonzero(wins), sparse.at(np.flatnonzero(wins)))
            return nodes, best

    def take_column(self, feature: int) -> BinnedColumn:
        """Return the column of a feature just bought; later searches skip it."""
        self._n_left -= 1
        position = int(self._position[feature])
        if position >= 0:
            self._tiles.use[position] = SKIPPED
            codes, n_bins = self._tiles.column(position), int(self._tiles.n_bins[position])
        else:
            if self._sparse is not None:
                self._sparse.skip(feature)
            column = np.empty((1, self._columns.n_rows, 1), dtype=np.uint8)
            n_bins = int(self._columns.encode(np.array([feature]), column)[0])
            codes = column[0, :, 0]
        return BinnedColumn(codes, n_bins, self._columns.thresholds(feature))

    def return_column(self, feature: int) -> None:
        """Search a feature again."""
        self._n_left += 1
        position = int(self._position[feature])
        if position >= 0:
            self._tiles.use[position] = NEW | int(self._directions[feature])
        elif self._sparse is not None:
            self._sparse.search_again(feature)

    def state(self) -> SearchState | None:
        """Return None: only the columns taken matter."""
        return None

    def restore(self, state: SearchState | None) -> None:
        """Do nothing, see `state`."""
