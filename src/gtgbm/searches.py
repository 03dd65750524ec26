"""What a search for new features is, and the exhaustive one."""

from __future__ import annotations

from typing import Protocol

from gtgbm.arrays import F64, I64, U8
from gtgbm.data.columns import DenseColumns, Tiles
from gtgbm.feature_costs import FeatureCosts
from gtgbm.histograms import LevelHistograms
from gtgbm.level import Level, RowOrder, Splits, TreeContext
from gtgbm.reducer import Reducer
from gtgbm.timings import Timings


class Search(Protocol):
    """Proposes splits on features that are not owned yet."""

    @property
    def test_order(self) -> RowOrder | None:
        """Rows the search looks at, to be partitioned along with the tree; None: no such rows."""
        ...

    def start_tree(self, tree: TreeContext, costs: FeatureCosts) -> None:
        """Prepare for a tree."""
        ...

    def propose(
        self, tree: TreeContext, level: Level, nodes: I64, floor: F64, costs: FeatureCosts
    ) -> tuple[I64, Splits]:
        """Propose splits at some nodes.

        Parameters
        ----------
        nodes : ndarray of int64, shape (k,)
            Indices into `level`, ascending.
        floor : ndarray of float64, shape (k,)
            Gain of the best owned split; a new feature must gain more than that and its price.

        Returns
        -------
        nodes : ndarray of int64, shape (r,)
            The nodes for which there are proposals.
        splits : Splits
            One row for each of them.
        """
        ...

    def column(self, feature: int) -> tuple[U8, int]:
        """Codes (n,) and number of bins of a proposed feature."""
        ...


class ExhaustiveSearch:
    """Looks at every feature (A-GBM, GBFS)."""

    test_order: RowOrder | None = None

    def __init__(self, columns: DenseColumns, reducer: Reducer, timings: Timings) -> None:
        self._timings = timings
        with timings.stage("binning"):
            self._tiles = Tiles.of_all(columns)
        self._histograms = LevelHistograms(self._tiles, reducer)

    def start_tree(self, tree: TreeContext, costs: FeatureCosts) -> None:
        """Forget the last tree."""
        del tree, costs
        self._histograms.start_tree()

    def propose(
        self, tree: TreeContext, level: Level, nodes: I64, floor: F64, costs: FeatureCosts
    ) -> tuple[I64, Splits]:
        """Find the best split of every feature."""
        del floor, costs
        with self._timings.stage("search"):
            return nodes, self._histograms.best_splits(tree, level, nodes)

    def column(self, feature: int) -> tuple[U8, int]:
        """Codes and number of bins of a feature."""
        return self._tiles.column(feature), int(self._tiles.n_bins[feature])
