"""Grows trees over one table, one after the other."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

import numpy as np

from gtgbm.exact import F64, I32, I64, Bool, FitContext, RowWeights, pack, squared_errors
from gtgbm.growing.backoff import SearchBackoff
from gtgbm.growing.best_first import NodeFeatures, best_first, used_purchases
from gtgbm.growing.feature_columns import FeatureColumns
from gtgbm.growing.growing_tree import GrowingTree, Purchase
from gtgbm.growing.state import GrowerState
from gtgbm.pricing import FeatureCosts
from gtgbm.search import JointPurchase, JointSearch
from gtgbm.tree import Level, RowOrder, Tree, TreeContext, TreeLimits


@dataclass(frozen=True)
class GrownTree:
    """The structure of a tree, and the leaf of each training row.

    Attributes
    ----------
    tree : Tree
        All its leaf values are still 0.
    leaves : ndarray of int64, shape (leaves,)
        Node number of each leaf.
    begin, end : ndarray of int64, shape (leaves,)
        The rows of leaf k are ``rows[begin[k]:end[k]]``.
    rows : ndarray of int32, shape (n,)
    purchases : list of Purchase
        Features bought, in order.
    """

    tree: Tree
    leaves: I64
    begin: I64
    end: I64
    rows: I32
    purchases: list[Purchase]


class TreeGrower:
    """Grows trees over one table; owned columns and scratch space are kept from tree to tree.

    Parameters
    ----------
    limits_of : callable
        ``limits_of(weights)`` returns the limits of a tree for these sample weights.
    joint : JointSearch or None
        Finds groups of features that are worth their price only together.
    """

    def __init__(
        self,
        context: FitContext,
        columns: FeatureColumns,
        costs: FeatureCosts,
        limits_of: Callable[[RowWeights], TreeLimits],
        joint: JointSearch | None = None,
    ) -> None:
        self._context = context
        self._columns = columns
        self._costs = costs
        self._limits_of = limits_of
        self._joint = joint
        self._order = RowOrder.of(columns.owned.n_rows)
        self._backoffs: dict[int, SearchBackoff] = {}
        # Features that need no entry in the history any more: bought, used before, fixed or given.
        self._is_listed: Bool = np.zeros(columns.owned.n_features, dtype=np.bool_)

    def resume(self, history: Iterable[tuple[int, float | None]]) -> None:
        """Own the features of an earlier fit, given as pairs of a column and a category or None."""
        for column, category in history:
            feature = self._columns.owned.feature_of(column, category)
            if feature is not None:
                self._is_listed[feature] = True
                self._buy(feature)

    def own_fixed(self, columns: Iterable[int]) -> None:
        """Own the features of some columns from the start."""
        for column in columns:
            for feature in self._columns.owned.all_of(column):
                self._is_listed[feature] = True
                self._buy(feature)

    def own_given(self, columns: Iterable[int]) -> None:
        """Own the features of some categorical columns, which are not bought."""
        for column in columns:
            for feature in self._columns.owned.categories_of(column):
                self._costs.give(feature)
                self._is_listed[feature] = True
                self._columns.own(np.array([feature]))

    def state(self) -> GrowerState:
        """Return what the next tree needs to know of earlier ones."""
        costs, listed = self._costs, np.flatnonzero(self._is_listed)
        return GrowerState(costs.owned, costs.spent, listed, self._backoffs, self._columns.state())

    def restore(self, state: GrowerState) -> None:
        """Continue from the state of an interrupted fit, after owning what is owned from the start."""
        self._costs.restore(state.bought, state.spent)
        self._is_listed[state.listed] = True
        self._backoffs = state.backoffs
        self._columns.restore(state.columns)

    def _buy(self, feature: int) -> None:
        """Own a feature that no node buys, and all that are bought together with it."""
        if not self._costs.is_owned[feature]:
            self._costs.buy(feature)
            self._columns.own(self._costs.units.members(feature))

    def grow(self, residuals: F64, score: int, weights: RowWeights, allowed: Bool | None = None) -> GrownTree:
        """Fit the structure of a tree to residuals by least squares.

        Parameters
        ----------
        residuals : ndarray of float64, shape (n,)
        score : int
            Index of the score that the tree adds to. Each score has its own back-off of the search.
        weights : RowWeights
            Rows of weight 0 have no influence, but are still assigned to leaves.
        allowed : ndarray of bool, shape (columns,), or None
            Columns that the tree may use; None: all.
        """
        context, costs = self._context, self._costs
        with context.timings.stage("residuals"):
            limits = self._limits_of(weights)
            cells = pack(residuals, weights, context, centred=limits.l2 == 0.0)
            self._order.start_tree()
            features = None if allowed is None else self._columns.owned.features_of(allowed)
        root_sse = float(squared_errors(np.array([cells.total]), np.array([cells.squares]))[0])
        tree = TreeContext(context, cells, self._order, limits, root_sse)
        # The price has the unit of gains: squared fixed-point residuals times integer weights.
        costs.start_tree(root_sse, cells.scale * math.sqrt(weights.cell_unit), features)
        self._columns.start_tree(features, costs)
        backoff = self._backoffs.setdefault(score, SearchBackoff(tree.limits.longest_backoff))
        searches = backoff.start_tree(len(costs.owned)) and costs.new_price < np.inf
        bought: JointPurchase | None = None
        if searches:
            self._columns.start_search(tree, costs)
            bought = self._buy_together(tree, residuals, weights)
        growing = GrowingTree(tree, self._columns, costs, searches=searches)
        growing.grow()
        return self._finished(growing, tree, weights, bought)

    def _buy_together(self, tree: TreeContext, residuals: F64, weights: RowWeights) -> JointPurchase | None:
        """Buy a group that is worth its price, although perhaps none of its features is."""
        # At a price of 0 single features are bought anyway, and chance has no price that a group could pay.
        if self._joint is None or self._costs.above_chance or self._costs.new_price <= 0.0:
            return None
        root = Level.root(tree.cells)
        with tree.context.timings.stage("groups"):
            floor = float(
                self._columns.owned.best_splits(tree, root, np.zeros(1, dtype=np.int64)).owned.gain[0]
            )
            self._columns.owned.forget_histograms()
            found = self._joint.find(tree, residuals, weights, floor, self._costs)
        if found is not None:
            self._buy(found.feature)
        return found

    def _finished(
        self, growing: GrowingTree, tree: TreeContext, weights: RowWeights, together: JointPurchase | None
    ) -> GrownTree:
        """Return the tree that has grown, cut to its best leaves, and give back what it does not use."""
        limits, costs, builder = tree.limits, self._costs, growing.builder
        # Numbered breadth-first, so that numbers do not depend on which nodes were grown first.
        as_grown = builder.tree(tree.cells.scale, weights.cell_unit)
        order = as_grown.breadth_first()
        grown, (begin, end) = as_grown.reordered(order), (place[order] for place in builder.rows())
        number = np.empty_like(order)
        number[order] = np.arange(order.shape[0])
        purchases = [replace(bought, node=int(number[bought.node])) for bought in growing.purchases]
        is_cut = limits.max_leaf_nodes is not None and grown.n_leaves > limits.max_leaf_nodes
        if is_cut or costs.units.group is not None:
            uses = NodeFeatures(builder.features()[order], self._columns.owned.described)
            if is_cut:
                assert limits.max_leaf_nodes is not None
                kept = best_first(grown, limits.max_leaf_nodes)
                purchases, unused = used_purchases(purchases, grown, uses, kept, costs.units)
                for feature in reversed(unused):
                    self._columns.give_back(costs.units.members(feature))
                    costs.give_back(feature)
                grown, begin, end = grown.only(kept), begin[kept], end[kept]
                uses = uses._replace(feature=uses.feature[kept])
            if together is not None:
                purchases = self._described(together, grown, uses, tree.root_sse) + purchases
            if costs.units.group is not None:
                share = tree.cells.scale**2 * weights.cell_unit / max(tree.root_sse, 1.0)
                purchases = purchases + self._first_uses(purchases, grown, uses, share)
        leaves = np.flatnonzero(grown.feature < 0)
        return GrownTree(grown, leaves, begin[leaves], end[leaves], self._order.rows, purchases)

    def _described(
        self, bought: JointPurchase, tree: Tree, uses: NodeFeatures, root_sse: float
    ) -> list[Purchase]:
        """Return the purchase of a group by the first node that uses it; give it back if there is none."""
        members = self._costs.units.members(bought.feature)
        nodes = np.flatnonzero((tree.feature >= 0) & np.isin(uses.feature, members))
        if nodes.shape[0] == 0:
            self._columns.give_back(members)
            self._costs.give_back(bought.feature)
            return []
        feature = int(uses.feature[nodes[0]])
        shares = bought.gain / root_sse, bought.price / root_sse
        return [Purchase(feature, int(nodes[0]), *uses.described(feature), *shares)]

    def _first_uses(
        self, purchases: list[Purchase], tree: Tree, uses: NodeFeatures, share: float
    ) -> list[Purchase]:
        """Return the features that a tree uses for the first time and that were bought together with others.

        Parameters
        ----------
        share : float
            Factor from gains of the tree to fractions of the root's squared error.
        """
        self._is_listed[[bought.feature for bought in purchases]] = True
        found = []
        for node in np.flatnonzero(tree.feature >= 0).tolist():
            feature = int(uses.feature[node])
            if not self._is_listed[feature]:
                self._is_listed[feature] = True
                column, category = uses.described(feature)
                found.append(Purchase(feature, node, column, category, float(tree.gain[node]) * share, 0.0))
        return found
