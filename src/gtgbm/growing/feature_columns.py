"""Columns of all features: owned ones, those that other tasks own, and those still to be searched."""

from __future__ import annotations

import numpy as np

from gtgbm.exact import I64, Bool
from gtgbm.growing.other_tasks_columns import OtherTasksColumns
from gtgbm.growing.owned_columns import OwnedColumns
from gtgbm.growing.state import ColumnsState
from gtgbm.pricing import FeatureCosts
from gtgbm.search import Search
from gtgbm.tree import BestSplits, Level, ScanPrices, Splits, TreeContext


class FeatureColumns:
    """Columns of all features; a feature that is bought moves to the owned columns and stays there.

    Attributes
    ----------
    owned : OwnedColumns
        Owned numeric columns, and all categorical columns.
    """

    def __init__(self, owned: OwnedColumns, other_tasks: OtherTasksColumns, search: Search) -> None:
        self.owned = owned
        self._other_tasks = other_tasks
        self._search = search

    def start_tree(self, allowed: Bool | None, costs: FeatureCosts) -> None:
        """Add the features that other tasks have bought since, and discard the last tree's histograms.

        Parameters
        ----------
        allowed : ndarray of bool, shape (n_features,), or None
            Features that the tree may use; None: all.
        """
        for feature in costs.owned_by_other_tasks:
            if self.owned.is_categorical(feature):
                self.owned.know_category(feature)
            elif feature not in self._other_tasks:
                self._other_tasks.add(feature, self._search.take_column(feature))
        self.owned.start_tree(allowed)
        self._other_tasks.start_tree(allowed)

    def start_search(self, tree: TreeContext, costs: FeatureCosts) -> None:
        """Prepare for a tree that searches for new features."""
        self._search.start_tree(tree, costs)

    def may_find(self, level: Level, nodes: I64, costs: FeatureCosts) -> Bool | None:
        """Whether a new feature may be found at each node or below it; None: it may be at all nodes."""
        if self.owned.has_new or len(self._other_tasks):
            return None
        return self._search.may_find(level, nodes, costs)

    def propose(
        self, tree: TreeContext, level: Level, nodes: I64, best: BestSplits, costs: FeatureCosts
    ) -> tuple[Splits, Splits]:
        """Return the best splits on features of other tasks and on new features, for all nodes of a level.

        Parameters
        ----------
        nodes : ndarray of int64, shape (k,)
            The nodes to search, ascending; the others have no splits.
        best : BestSplits
            Best splits of the owned and the categorical columns at these nodes.
        """
        other_tasks, new = Splits.none(len(level)), Splits.none(len(level))
        other_tasks.put(nodes, best.other_tasks)
        new.put(nodes, best.new)
        if len(self._other_tasks):
            with tree.context.timings.stage("other tasks' columns"):
                splits = self._other_tasks.best_splits(tree, level, nodes, costs)
                _improve(other_tasks, nodes, splits, costs, of_other_tasks=True)
        if costs.search_price < float("inf"):
            found_nodes, splits = self._search.propose(tree, level, nodes, best.owned.gain, costs)
            _improve(new, found_nodes, splits, costs)
        return other_tasks, new

    def owned_splits(self, tree: TreeContext, level: Level, nodes: I64, costs: FeatureCosts) -> BestSplits:
        """Return the best splits at some nodes on owned features and on categories that are not owned."""
        features = self.owned.tiles.first_feature
        prices = ScanPrices(costs.search_prices(features), costs.other_tasks_prices(features))
        return self.owned.best_splits(tree, level, nodes, prices)

    def own(self, features: I64) -> None:
        """Move the columns of some features to the owned columns."""
        for feature in features.tolist():
            self._own(feature)

    def _own(self, feature: int) -> None:
        if self.owned.is_categorical(feature):
            self.owned.own_category(feature)
        else:
            source = self._other_tasks if feature in self._other_tasks else self._search
            self.owned.own_numbers(feature, source.take_column(feature))

    def give_back(self, features: I64) -> None:
        """Make some owned features new again; if other tasks own them, the next tree will know."""
        for feature in reversed(features.tolist()):
            self._give_back(feature)

    def _give_back(self, feature: int) -> None:
        if self.owned.is_categorical(feature):
            self.owned.drop_category(feature)
        else:
            self.owned.drop_numbers(feature)
            self._search.return_column(feature)

    def state(self) -> ColumnsState:
        """Return which columns are held, and the state of the search."""
        owned = self.owned
        features = owned.numeric_features, self._other_tasks.features
        return ColumnsState(*features, owned.tiles.category_use, self._search.state())

    def restore(self, state: ColumnsState) -> None:
        """Hold the columns of an interrupted fit; those owned from the start come first there too."""
        for feature in state.owned[len(self.owned.numeric_features) :]:
            self._own(feature)
        for feature in state.of_other_tasks:
            self._other_tasks.add(feature, self._search.take_column(feature))
        self.owned.tiles.category_use[:] = state.category_use
        self._search.restore(state.search)


def _improve(
    splits: Splits, nodes: I64, others: Splits, costs: FeatureCosts, *, of_other_tasks: bool = False
) -> None:
    """Set the splits of nodes to others where these gain more after their prices."""
    if costs.units.cost is None:
        splits.improve(nodes, others)
        return
    now = splits.at(nodes)
    net, net_of_others = (
        costs.net_gains(one.feature, one.gain, of_other_tasks=of_other_tasks) for one in (now, others)
    )
    # A split is better than none, whatever it costs: its price is compared with its gain at the purchase.
    better = np.flatnonzero((net_of_others > net) | ((now.gain <= 0.0) & (others.gain > 0.0)))
    splits.put(nodes[better], others.at(better))
