"""Grows one tree, level by level: owned features, new candidates, choose, partition."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gtgbm import _core
from gtgbm.arrays import CELLS, F64, I32, I64, LANES, U8
from gtgbm.choosing import Choice, buy_new_features
from gtgbm.data.columns import DenseColumns, Tiles
from gtgbm.feature_costs import FeatureCosts
from gtgbm.fixed_point import pack
from gtgbm.histograms import LevelHistograms, measure_pairs
from gtgbm.level import Level, RowOrder, Splits, TreeContext
from gtgbm.reducer import Reducer
from gtgbm.searches import Search
from gtgbm.timings import Timings
from gtgbm.tree import Tree


@dataclass(frozen=True)
class TreeLimits:
    """When a node is not split.

    Attributes
    ----------
    min_node_rows : float
        A node with fewer rows is a leaf (α n).
    min_leaf : int
        Fewest rows of a leaf.
    max_depth : int or None
    """

    min_node_rows: float
    min_leaf: int
    max_depth: int | None


@dataclass(frozen=True)
class Purchase:
    """A feature bought by a tree.

    Attributes
    ----------
    feature : int
    gain : float
        Fall of the squared error at the node that bought it, as a fraction of the root's squared error.
    price : float
        What it cost, in the same unit.
    """

    feature: int
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


class TreeGrower:
    """Grows trees over one table; owned columns and scratch space live from tree to tree."""

    def __init__(
        self,
        columns: DenseColumns,
        search: Search,
        costs: FeatureCosts,
        limits: TreeLimits,
        pool: _core.Pool,
        reducer: Reducer,
        timings: Timings,
    ) -> None:
        self._columns = columns
        self._search = search
        self._costs = costs
        self._limits = limits
        self._pool = pool
        self._reducer = reducer
        self._timings = timings
        self._owned = Tiles(columns.n_rows)
        self._position: I64 = np.full(columns.n_columns, -1, dtype=np.int64)
        # Beyond a column's last threshold: all its values go left.
        self._thresholds: F64 = np.full((LANES, CELLS), np.inf)
        self._histograms = LevelHistograms(self._owned, reducer)
        self._all_rows: I32 = np.arange(columns.n_rows, dtype=np.int32)
        self._order = RowOrder.of(self._all_rows.copy(), np.empty(columns.n_rows, dtype=np.int64))

    def grow(self, residuals: F64) -> Grown:
        """Fit the structure of a tree to residuals by least squares.

        Parameters
        ----------
        residuals : ndarray of float64, shape (n,)
        """
        with self._timings.stage("residuals"):
            cells = pack(residuals, self._columns.n_rows, self._reducer)
            self._order.restart(self._all_rows, cells.values)
        root_sse = float(cells.sse(np.array([cells.total]), np.array([cells.squares]))[0])
        tree = TreeContext(self._pool, cells, self._order, self._limits.min_leaf, root_sse)
        self._costs.start_tree(root_sse, cells.scale)
        self._histograms.start_tree()
        self._search.start_tree(tree, self._costs)
        test_order = self._search.test_order
        # Without test rows of its own the search tests all rows, and both ranges of a node are the same.
        n_test = (self._order if test_order is None else test_order).rows.shape[0]
        level = Level.root(cells, self._columns.n_rows, n_test)
        levels: list[_SplitLevel] = []
        purchases: list[Purchase] = []
        while True:
            choice, bought = self._choose(tree, level)
            purchases += bought
            with self._timings.stage("partition"):
                done, below = self._split(tree, level, choice)
            levels.append(done)
            if below is None:
                return _assemble(levels, self._order.rows, cells.scale, purchases)
            level = below

    def _choose(self, tree: TreeContext, level: Level) -> tuple[Choice, list[Purchase]]:
        active = self._active(level)
        with self._timings.stage("histograms"):
            owned = Choice.best_of(self._histograms.best_splits(tree, level, active))
        choice = owned
        if active.shape[0] < len(level):
            choice = Choice.none(len(level))
            choice.put(active, owned)
        if active.shape[0] == 0:
            return choice, []
        searched = active[self._may_buy(level, active, owned.gain)]
        if searched.shape[0] == 0:
            return choice, []
        proposed, splits = self._search.propose(tree, level, searched, choice.gain[searched], self._costs)
        price = self._costs.new_price / tree.root_sse
        # Largest first; a stable sort keeps equals in the order of their nodes.
        turn = active[np.argsort(-level.n_rows[active], kind="stable")]

        def measure(feature: int, nodes: I64) -> Splits:
            codes, n_bins = self._search.column(feature)
            self._own(feature, codes, n_bins)
            pairs = np.zeros(nodes.shape[0], dtype=np.int64)
            return Splits(
                np.array([feature]),
                *measure_pairs(
                    tree,
                    self._reducer,
                    level,
                    nodes,
                    np.ascontiguousarray(codes)[None],
                    pairs,
                    np.array([n_bins]),
                ),
            )

        bought = buy_new_features(choice, splits, proposed, turn, self._costs, measure)
        return choice, [Purchase(f, float(choice.gain[node]) / tree.root_sse, price) for node, f in bought]

    def _may_buy(self, level: Level, nodes: I64, owned_gain: F64) -> I64:
        """Exact skip: no split gains more than the node's own squared error."""
        return np.flatnonzero(level.sse[nodes] - self._costs.new_price > owned_gain)

    def _own(self, feature: int, codes: U8, n_bins: int) -> None:
        position = self._owned.n_columns
        self._owned.append(feature, codes, n_bins)
        self._position[feature] = position
        if position == self._thresholds.shape[0]:
            self._thresholds = np.concatenate([self._thresholds, np.full_like(self._thresholds, np.inf)])
        edges = self._columns.thresholds(feature)
        self._thresholds[position, : edges.shape[0]] = edges

    def _active(self, level: Level) -> I64:
        if self._limits.max_depth is not None and level.depth >= self._limits.max_depth:
            return np.empty(0, dtype=np.int64)
        fewest = max(self._limits.min_node_rows, 2 * self._limits.min_leaf)
        return np.flatnonzero(level.n_rows >= fewest)

    def _split(self, tree: TreeContext, level: Level, choice: Choice) -> tuple[_SplitLevel, Level | None]:
        """Partition the rows of the nodes that split."""
        split = np.flatnonzero(choice.gain > 0.0)
        if split.shape[0] == 0:
            return _SplitLevel(level, split, choice, np.empty(0), np.empty(0, dtype=np.uint8)), None
        column = self._position[choice.feature[split]]
        bins, side = choice.bin[split], choice.missing_side[split]
        missing_left = (side == 1).astype(np.uint8)
        ranges = level.begin[split], level.end[split]
        stats = self._reducer.sum(self._partition(tree, tree.order, column, bins, missing_left, *ranges))
        test_left = stats[:, 0]
        if self._search.test_order is not None:
            ranges = level.test_begin[split], level.test_end[split]
            test_left = self._partition(tree, self._search.test_order, column, bins, missing_left, *ranges)[
                :, 0
            ]
        # Missing values that training never saw at a node follow the larger child.
        unseen = side == 2
        larger_left = 2 * tree.cells.count(stats[:, 1]) >= level.n_rows[split]
        missing_left[unseen] = larger_left[unseen]
        done = _SplitLevel(level, split, choice, self._thresholds[column, bins], missing_left)
        return done, level.children(split, stats, test_left)

    def _partition(
        self,
        tree: TreeContext,
        order: RowOrder,
        column: I64,
        bins: I32,
        missing_left: U8,
        begin: I64,
        end: I64,
    ) -> I64:
        stats = np.empty((column.shape[0], 4), dtype=np.int64)
        _core.partition_rows(
            self._pool,
            self._owned.codes,
            column,
            bins,
            missing_left,
            begin,
            end,
            tree.cells.count_bits,
            order.rows,
            order.cells,
            order.row_scratch,
            order.cell_scratch,
            stats,
        )
        return stats


@dataclass(frozen=True)
class _SplitLevel:
    """A finished level: `split` are the nodes that split, with their thresholds and missing sides."""

    level: Level
    split: I64
    choice: Choice
    threshold: F64
    missing_left: U8


def _assemble(levels: list[_SplitLevel], rows: I32, scale: float, purchases: list[Purchase]) -> Grown:
    n_nodes = sum(len(done.level) for done in levels)
    feature, left = np.full(n_nodes, -1, dtype=np.int32), np.full(n_nodes, -1, dtype=np.int32)
    threshold, gain = np.zeros(n_nodes), np.zeros(n_nodes)
    missing_left = np.zeros(n_nodes, dtype=np.uint8)
    first = 0
    for done in levels:
        at = first + done.split
        first += len(done.level)
        feature[at] = done.choice.feature[done.split]
        threshold[at] = done.threshold
        missing_left[at] = done.missing_left
        left[at] = first + 2 * np.arange(done.split.shape[0])
        gain[at] = done.choice.gain[done.split] / scale**2
    n_rows = np.concatenate([done.level.n_rows for done in levels])
    is_category = np.zeros(n_nodes, dtype=np.uint8)
    tree = Tree(feature, threshold, is_category, missing_left, left, np.zeros(n_nodes), n_rows, gain)
    leaves = np.flatnonzero(feature < 0)
    begin = np.concatenate([done.level.begin for done in levels])[leaves]
    end = np.concatenate([done.level.end for done in levels])[leaves]
    return Grown(tree, leaves, begin, end, rows, purchases)
