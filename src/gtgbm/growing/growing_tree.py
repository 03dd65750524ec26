"""A tree while it grows: level by level where nodes may buy features, then whole subtrees on owned ones."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gtgbm.exact import F64, I64, Bool
from gtgbm.growing.feature_columns import FeatureColumns
from gtgbm.growing.splitting import is_due, split_nodes, splittable
from gtgbm.growing.subtrees import grow_down
from gtgbm.pricing import FeatureCosts, NodePurchase, buy_features
from gtgbm.tree import ALWAYS_DUE, BestSplits, Level, Splits, TreeBuilder, TreeContext


@dataclass(frozen=True)
class Purchase:
    """A feature bought by a tree.

    Attributes
    ----------
    feature : int
        The column, or the number of one of its categories.
    node : int
        Number of the node that bought it.
    column : int
        Column of the table.
    category : float or None
        The category bought; None for a whole column.
    gain : float
        Reduction of the squared error at the node that bought it, as a fraction of the root's squared error.
    price : float
        Price in the same unit; 0 for a feature that was not bought: it is the first use of one that was
        bought together with others.
    """

    feature: int
    node: int
    column: int
    category: float | None
    gain: float
    price: float


class GrowingTree:
    """The state of one growing tree.

    A node is settled if neither it nor any node below it can buy a feature. Settled nodes wait and are grown
    last, so that they can use all features that the tree has bought.

    Parameters
    ----------
    searches : bool
        Whether the tree searches for new features; if not, it splits on owned features only.

    Attributes
    ----------
    builder : TreeBuilder
        The nodes so far.
    purchases : list of Purchase
        Features bought so far, in order.
    """

    def __init__(
        self, tree: TreeContext, columns: FeatureColumns, costs: FeatureCosts, *, searches: bool
    ) -> None:
        self._tree = tree
        self._columns = columns
        self._owned = columns.owned
        self._costs = costs
        self._searches = searches
        self._timings = tree.context.timings
        self._root = Level.root(tree.cells)
        self._waiting: list[tuple[Level, I64]] = []
        self.builder = TreeBuilder(self._root)
        self.purchases: list[Purchase] = []

    def grow(self) -> None:
        """Split nodes until no split has a gain."""
        level: Level | None = self._root
        if not self._searches:  # no node can buy a feature
            self._waiting.append((self._root, splittable(self._root, self._tree.limits)))
            level = None
        while level is not None:
            active = splittable(level, self._tree.limits)
            settled = self._has_settled(level, active)
            self._waiting.append((level, active[settled]))
            level = self._split(level, active[~settled])
        waiting = Level.gathered(self._waiting)
        waiting.due_rows[:] = 0  # none of these nodes is searched
        self._grow_down(waiting)

    def _split(self, level: Level, nodes: I64) -> Level | None:
        """Split some nodes, buying features where the gain exceeds the price, and return the level below."""
        choice = self._choose(level, nodes)
        with self._timings.stage("partition"):
            below = split_nodes(self._tree, level, nodes, choice, self._owned, self.builder)
        return None if below is None else self._pass_on(below)

    def _has_settled(self, level: Level, nodes: I64) -> Bool:
        """Whether neither each node nor any node below it can buy a feature."""
        # The bound by squared error is exact: no split gains more, and children have less of it.
        may_buy = level.sse[nodes] > self._costs.new_price
        may_find = self._columns.may_find(level, nodes, self._costs)
        if may_find is not None:
            may_buy &= may_find
        settled: Bool = ~may_buy
        return settled

    def _choose(self, level: Level, nodes: I64) -> Splits:
        """Return the split of each node of the level, after buying features."""
        choice = Splits.none(len(level))
        if nodes.shape[0] == 0:
            return choice
        tree, costs = self._tree, self._costs
        by_chance = self._gains_by_chance(level)
        costs.start_level(by_chance)
        level.due_rows[nodes] = (tree.limits.revisit_share * level.n_rows[nodes]).astype(np.int64)
        with self._timings.stage("histograms"):
            best = self._columns.owned_splits(tree, level, nodes, costs)
        choice.put(nodes, best.owned)
        may_buy = self._may_buy(level, nodes, best.owned.gain)
        if not may_buy.any():
            return choice
        at = np.flatnonzero(may_buy)
        searched = BestSplits(*(kind.at(at) for kind in best))
        proposals = self._columns.propose(tree, level, nodes[at], searched, costs)
        # Largest node first; the stable sort keeps ties in the order of their nodes.
        turn = nodes[np.argsort(-level.n_rows[nodes], kind="stable")]

        def acquire(feature: int, later: I64) -> Splits:
            together = costs.units.members(feature)
            self._columns.own(together)
            return self._owned.measure(tree, level, later, together)

        purchases = buy_features(choice, proposals, turn, costs, acquire, by_chance)
        # After a successful search, the children are searched too.
        level.due_rows[[purchase.node for purchase in purchases]] = ALWAYS_DUE
        for bought in purchases:
            self.purchases.append(self._described(bought, level, float(choice.gain[bought.node])))
        return choice

    def _gains_by_chance(self, level: Level) -> F64 | None:
        """Return what useless features gain by chance at each node of the level; None: it does not matter."""
        if not self._costs.above_chance:
            return None
        limits, n_rows = self._tree.limits, np.maximum(level.n_rows, 1).astype(np.float64)
        return self._costs.chance_prices(level.sse * limits.row / n_rows, limits.min_leaf / n_rows)

    def _described(self, bought: NodePurchase, level: Level, gain: float) -> Purchase:
        root_sse, number = self._tree.root_sse, int(level.number[bought.node])
        column, category = self._owned.described(bought.feature)
        return Purchase(bought.feature, number, column, category, gain / root_sse, bought.price / root_sse)

    def _may_buy(self, level: Level, nodes: I64, owned_gain: F64) -> Bool:
        """Whether each node may buy a feature; exact, since no split gains more than the squared error."""
        may_buy: Bool = level.sse[nodes] - self._costs.new_price > owned_gain
        return may_buy

    def _pass_on(self, level: Level) -> Level:
        """Grow nodes that are not due for a search down to nodes that are, and append these to the level."""
        active = splittable(level, self._tree.limits)
        passing = active[~self._has_settled(level, active) & ~is_due(level)[active]]
        if passing.shape[0] == 0:
            return level
        level.is_open[passing] = False
        return level.with_nodes(self._grow_down(Level.gathered([(level, passing)])))

    def _grow_down(self, level: Level) -> I64:
        with self._timings.stage("subtrees"):
            return grow_down(self._tree, level, self._owned, self.builder)
