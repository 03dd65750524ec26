"""Grows one tree: level by level while nodes may buy features, then whole subtrees over owned ones."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np

from gtgbm import _core
from gtgbm.exact import F64, I32, I64, Bool, Reducer, RowWeights, Timings, pack
from gtgbm.growing.other_tasks_columns import OfferedColumns
from gtgbm.growing.owned_columns import ResidentColumns
from gtgbm.growing.subtrees import grow_subtrees
from gtgbm.pricing import FeatureCosts, buy_new_features
from gtgbm.search import Search
from gtgbm.tree import ALWAYS_DUE, Draft, Level, RowOrder, Splits, Tree, TreeContext, TreeLimits

_SMALL_NODE = 2048
_SMALL_SHARE = 8
"""A node with at most `_SMALL_NODE` rows, or one in `_SMALL_SHARE` of all rows, is small: one thread grows
all that is below it without the others waiting long."""


@dataclass(frozen=True)
class Purchase:
    """A feature bought by a tree.

    Attributes
    ----------
    column : int
        Column of the table.
    category : float or None
        The category bought; None for a column of numbers.
    gain : float
        Fall of the squared error at the node that bought it, as a fraction of the root's squared error.
    price : float
        What it cost, in the same unit.
    """

    column: int
    category: float | None
    gain: float
    price: float


@dataclass(frozen=True)
class Grown:
    """A tree's structure, and where each training row ended up.

    Attributes
    ----------
    tree : Tree
        Its leaf values are still 0.
    leaves : ndarray of int64, shape (leaves,)
        Node of each leaf; leaf k owns ``rows[begin[k]:end[k]]``.
    """

    tree: Tree
    leaves: I64
    begin: I64
    end: I64
    rows: I32
    purchases: list[Purchase]


class Rest:
    """Trees that do not look for new features: after one that looked and found none, ever more of them."""

    def __init__(self, longest: int) -> None:
        self._longest = longest
        self._length = self._left = 0
        self._looked = False
        self._n_owned = 0

    def start_tree(self, n_owned: int) -> bool:
        """Whether the next tree looks; `n_owned` features are owned so far."""
        if self._looked:
            found = n_owned > self._n_owned
            self._length = 0 if found else min(self._length + 1, self._longest)
            self._left = self._length
        self._looked = self._left == 0
        self._left -= not self._looked
        self._n_owned = n_owned
        return self._looked


class TreeGrower:
    """Grows trees over one table; owned columns and scratch space live from tree to tree."""

    def __init__(
        self,
        n_rows: int,
        residents: ResidentColumns,
        offers: OfferedColumns,
        search: Search,
        costs: FeatureCosts,
        limits_of: Callable[[RowWeights], TreeLimits],
        pool: _core.Pool,
        reducer: Reducer,
        timings: Timings,
    ) -> None:
        self._n_rows = n_rows
        self._residents = residents
        self._offers = offers
        self._search = search
        self._costs = costs
        self._limits_of = limits_of
        self._pool = pool
        self._reducer = reducer
        self._timings = timings
        self._order = RowOrder.of(n_rows)
        self._rests: dict[int, Rest] = {}
        self._total_weight = n_rows

    def resume(self, history: Iterable[tuple[int, float | None]]) -> None:
        """Own the features of an earlier fit, given as columns and categories."""
        for column, category in history:
            feature = self._residents.feature_of(column, category)
            if feature is not None and not self._costs.is_owned[feature]:
                self._costs.buy(feature)
                self._own(feature)

    def grow(self, residuals: F64, score: int, weights: RowWeights, allowed: Bool | None = None) -> Grown:
        """Fit the structure of a tree to residuals by least squares.

        Nodes that cannot buy a feature any more, nor any node below them, wait: they are grown last, over all
        features that the tree has bought.

        Parameters
        ----------
        residuals : ndarray of float64, shape (n,)
        score : int
            The score that the tree is for: trees of different scores look for features at times of their own.
        weights : RowWeights
            Rows of weight 0 count for nothing, but find their leaves all the same.
        allowed : ndarray of bool, shape (columns,), or None
            Columns that the tree may use; None: all.
        """
        with self._timings.stage("residuals"):
            cells = pack(residuals, weights, self._pool, self._reducer)
            self._order.start_tree()
            features = None if allowed is None else self._residents.features_of(allowed)
        self._total_weight, self._limits = weights.total_cells, self._limits_of(weights)
        root_sse = float(cells.sse(np.array([cells.total]), np.array([cells.squares]))[0])
        tree = TreeContext(self._pool, cells, self._order, self._limits.min_leaf, root_sse)
        # Gains are in squared fixed-point units, and in units of the weights.
        self._costs.start_tree(root_sse, cells.scale * math.sqrt(weights.cell_unit), features)
        self._take_offers()
        self._residents.start_tree(features)
        self._offers.start_tree(features)
        rest = self._rests.setdefault(score, Rest(self._limits.longest_rest))
        looks = rest.start_tree(len(self._costs.owned))
        self._searches = looks and self._costs.new_price < np.inf
        if self._searches:
            self._search.start_tree(tree, self._costs)
        level = Level.root(cells, self._n_rows)
        draft = Draft(level)
        waiting: list[tuple[Level, I64]] = []
        purchases: list[Purchase] = []
        while True:
            active = self._active(level)
            settled = self._has_settled(level, active)
            waiting.append((level, active[settled]))
            active = active[~settled]
            splits, bought = self._choose(tree, level, active)
            purchases += bought
            with self._timings.stage("partition"):
                below = self._split(tree, level, active, splits, draft)
            if below is None:
                break
            level = self._pass_on(tree, below, draft)
        settled_nodes = Level.gathered(waiting)
        settled_nodes.due_rows[:] = 0  # nothing is left to decide
        self._grow_down(tree, settled_nodes, draft)
        begin, end = draft.rows()
        grown = draft.tree(cells.scale, weights.cell_unit)
        leaves = np.flatnonzero(grown.feature < 0)
        return Grown(grown, leaves, begin[leaves], end[leaves], self._order.rows, purchases)

    def _active(self, level: Level) -> I64:
        may_split = level.is_open & (level.n_rows >= self._limits.fewest_rows)
        if self._limits.max_depth is not None:
            may_split &= level.depth < self._limits.max_depth
        return np.flatnonzero(may_split)

    def _has_settled(self, level: Level, nodes: I64) -> Bool:
        """Whether neither a node nor any node below it can buy anything."""
        # Exact: no split gains more than the node's squared error, and that only falls on the way down.
        if not self._searches:
            return np.ones(nodes.shape[0], dtype=np.bool_)
        may_buy = level.sse[nodes] > self._costs.new_price
        if not self._residents.has_new and not len(self._offers):
            may_buy &= self._search.may_find(level, nodes, self._costs)
        settled: Bool = ~may_buy
        return settled

    def _choose(self, tree: TreeContext, level: Level, active: I64) -> tuple[Splits, list[Purchase]]:
        """Return a split for each active node, bought features included."""
        choice = Splits.none(len(level))
        if active.shape[0] == 0:
            return choice, []
        level.due_rows[active] = (self._limits.revisit_share * level.n_rows[active]).astype(np.int64)
        with self._timings.stage("histograms"):
            best = self._residents.best_splits(tree, level, active)
        choice.put(active, best.owned)
        may_buy = self._may_buy(level, active, best.owned.gain)
        if not may_buy.any():
            return choice, []
        offered, new = Splits.none(len(level)), Splits.none(len(level))
        searched = active[may_buy]
        offered.put(searched, best.offered.at(np.flatnonzero(may_buy)))
        new.put(searched, best.new.at(np.flatnonzero(may_buy)))
        if len(self._offers):
            with self._timings.stage("offers"):
                offered.improve(searched, self._offers.best_splits(tree, level, searched))
        if self._costs.search_price < np.inf:
            nodes, found = self._search.propose(tree, level, searched, choice.gain[searched], self._costs)
            new.improve(nodes, found)
        # Largest first; a stable sort keeps equals in the order of their nodes.
        turn = active[np.argsort(-level.n_rows[active], kind="stable")]

        def own_and_measure(feature: int, later: I64) -> Splits:
            self._own(feature)
            return self._residents.measure(tree, level, later, feature)

        bought = buy_new_features(choice, [offered, new], turn, self._costs, own_and_measure)
        # Where something was found, more may be found right below.
        level.due_rows[[node for node, _, _ in bought]] = ALWAYS_DUE
        return choice, [
            Purchase(
                *self._residents.described(feature),
                float(choice.gain[node]) / tree.root_sse,
                price / tree.root_sse,
            )
            for node, feature, price in bought
        ]

    def _may_buy(self, level: Level, nodes: I64, owned_gain: F64) -> Bool:
        """Exact skip: no split gains more than the node's own squared error."""
        may_buy: Bool = level.sse[nodes] - self._costs.new_price > owned_gain
        return may_buy

    def _is_due(self, level: Level, nodes: I64) -> Bool:
        is_due: Bool = level.n_rows[nodes] <= level.due_rows[nodes]
        return is_due

    def _take_offers(self) -> None:
        """Take in what others have bought, and need not be searched for."""
        for feature in self._costs.offered:
            if self._residents.is_categorical(feature):
                self._residents.offer_category(feature)
            elif feature not in self._offers:
                self._offers.add(feature, *self._search.take_column(feature))

    def _own(self, feature: int) -> None:
        if self._residents.is_categorical(feature):
            self._residents.own_category(feature)
        else:
            source = self._offers.take if feature in self._offers else self._search.take_column
            self._residents.own_numbers(feature, *source(feature))

    def _split(
        self, tree: TreeContext, level: Level, active: I64, choice: Splits, draft: Draft
    ) -> Level | None:
        """Partition the rows of the nodes that split, and return the level below."""
        split = active[choice.gain[active] > 0.0]
        if split.shape[0] == 0:
            return None
        splits = choice.at(split)
        missing_left = (splits.missing_side == 1).astype(np.uint8)
        begin, end = level.begin[split], level.end[split]
        n_left, sums = self._residents.partition(tree, splits, missing_left, begin, end)
        below = level.children(split, n_left, self._reducer.sum(sums), level.due_rows[split], draft.n_nodes)
        rules = self._residents.rules(splits.feature, splits.bin)
        draft.add_splits(level.number[split], rules, splits.missing_side, splits.gain, below.number[0::2])
        draft.add_nodes(below.n_rows, below.begin, below.end)
        return below

    def _pass_on(self, tree: TreeContext, level: Level, draft: Draft) -> Level:
        """Grow nodes that are not due for a search down to nodes that are."""
        active = self._active(level)
        passing = active[~self._has_settled(level, active) & ~self._is_due(level, active)]
        if passing.shape[0] == 0:
            return level
        level.is_open[passing] = False
        return level.with_nodes(self._grow_down(tree, Level.gathered([(level, passing)]), draft))

    def _grow_down(self, tree: TreeContext, level: Level, draft: Draft) -> I64:
        """Grow nodes over owned features until they are due; returns those, as rows of a level."""
        with self._timings.stage("subtrees"):
            if not self._reducer.is_local:
                return self._grow_down_by_levels(tree, level, draft)
            if self._residents.tiles.n_columns == 0:
                return level.nodes[:0]
            # All threads together on one node, until nodes are small enough for one thread each.
            small = max(_SMALL_NODE, self._n_rows // _SMALL_SHARE)
            # Sizes are compared as sums of weights, like everything else.
            small = max(1, small * self._total_weight // self._n_rows)
            given = self._residents, self._limits, draft
            is_large = level.n_rows > small
            if is_large.any():
                large = level.only(is_large)
                met = grow_subtrees(tree, large, *given, np.maximum(large.due_rows, small), shared=True)
                level = level.only(~is_large).with_nodes(met)
            is_due = self._is_due(level, np.arange(len(level)))
            rest = level.only(~is_due)
            met = grow_subtrees(tree, rest, *given, rest.due_rows.copy(), shared=False)
            return np.concatenate([level.nodes[is_due], met])

    def _grow_down_by_levels(self, tree: TreeContext, level: Level, draft: Draft) -> I64:
        """Do the same where every histogram has to be summed over machines."""
        found = []
        below: Level | None = level
        while below is not None:
            level = below
            is_due = self._is_due(level, np.arange(len(level)))
            found.append(level.nodes[is_due])
            level.is_open &= ~is_due
            active = self._active(level)
            choice = Splits.none(len(level))
            choice.put(active, self._residents.best_splits(tree, level, active).owned)
            below = self._split(tree, level, active, choice, draft)
        met: I64 = np.concatenate(found)
        met[:, 0] = -1
        return met
