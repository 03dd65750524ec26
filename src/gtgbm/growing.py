"""Grows one tree, level by level: owned features, new candidates, choose, partition."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from gtgbm import _core
from gtgbm.arrays import F64, I32, I64, U8
from gtgbm.choosing import Choice, buy_new_features
from gtgbm.data.columns import DenseColumns, Tiles
from gtgbm.feature_costs import FeatureCosts
from gtgbm.fixed_point import Cells, pack
from gtgbm.histograms import LevelHistograms
from gtgbm.level import Level, RowOrder, TreeContext
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
    root_sse: float
    purchases: list[Purchase]


@dataclass
class _Nodes:
    """The tree's nodes so far, one array per level."""

    feature: list[I64] = field(default_factory=list)
    threshold: list[F64] = field(default_factory=list)
    missing_left: list[U8] = field(default_factory=list)
    left: list[I64] = field(default_factory=list)
    gain: list[F64] = field(default_factory=list)
    begin: list[I64] = field(default_factory=list)
    end: list[I64] = field(default_factory=list)
    n_rows: list[I64] = field(default_factory=list)


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
        n_test = 0 if test_order is None else test_order.rows.shape[0]
        level = Level.root(cells, self._columns.n_rows, n_test)
        if test_order is None:
            level = _tests_on_all_rows(level)
        nodes, purchases, depth = _Nodes(), [], 0
        while True:
            choice, bought = self._choose(tree, level, depth)
            purchases += bought
            below = self._split(tree, level, choice, nodes)
            if below is None:
                return _assemble(nodes, self._order.rows, cells, root_sse, purchases)
            level, depth = below, depth + 1

    def _choose(self, tree: TreeContext, level: Level, depth: int) -> tuple[Choice, list[Purchase]]:
        active = self._active(tree.cells, level, depth)
        with self._timings.stage("histograms"):
            owned = Choice.best_of(self._histograms.best_splits(tree, level, active))
        choice = Choice.none(level.begin.shape[0])
        choice.put(active, owned)
        searched = active[self._may_buy(tree, level, active, owned.gain)]
        if searched.shape[0] == 0:
            return choice, []
        proposed, splits = self._search.propose(tree, level, searched, choice.gain[searched], self._costs)
        price = self._costs.new_price
        # Largest first; a stable sort keeps equals in the order of their nodes.
        turn = np.argsort(-tree.cells.count(level.total[proposed]), kind="stable")
        purchases = []
        for node, feature in buy_new_features(choice, splits, proposed, turn, self._costs):
            codes, n_bins = self._search.column(feature)
            self._owned.append(feature, codes, n_bins)
            unit = tree.root_sse
            purchases.append(Purchase(feature, float(choice.gain[node]) / unit, price / unit))
        return choice, purchases

    def _active(self, cells: Cells, level: Level, depth: int) -> I64:
        if self._limits.max_depth is not None and depth >= self._limits.max_depth:
            return np.empty(0, dtype=np.int64)
        rows = cells.count(level.total)
        splittable = (rows >= self._limits.min_node_rows) & (rows >= 2 * self._limits.min_leaf)
        return np.flatnonzero(splittable)

    def _may_buy(self, tree: TreeContext, level: Level, nodes: I64, owned_gain: F64) -> I64:
        """Exact skip: no split gains more than the node's own squared error."""
        bound = tree.cells.sse(level.total[nodes], level.squares[nodes]) - self._costs.new_price
        return np.flatnonzero(bound > owned_gain)

    def _split(self, tree: TreeContext, level: Level, choice: Choice, nodes: _Nodes) -> Level | None:
        """Record a level's nodes and partition the rows of those that split."""
        rows = tree.cells.count(level.total)
        split = np.flatnonzero(choice.gain > 0.0)
        position = {feature: k for k, feature in enumerate(self._owned.features.tolist())}
        column = np.array([position[f] for f in choice.feature[split].tolist()], dtype=np.int64)
        with self._timings.stage("partition"):
            missing_left, stats = self._partition(tree, level, choice, split, column)
        threshold = np.zeros(level.begin.shape[0])
        for k in split.tolist():
            edges = self._columns.thresholds(int(choice.feature[k]))
            threshold[k] = edges[choice.bin[k]] if choice.bin[k] < edges.shape[0] else np.inf
        left = np.full(level.begin.shape[0], -1, dtype=np.int64)
        n_before = sum(len(part) for part in nodes.feature) + level.begin.shape[0]
        left[split] = n_before + 2 * np.arange(split.shape[0])
        sides = np.zeros(level.begin.shape[0], dtype=np.uint8)
        sides[split] = missing_left
        nodes.feature.append(np.where(choice.gain > 0.0, choice.feature, -1))
        nodes.threshold.append(threshold)
        nodes.missing_left.append(sides)
        nodes.left.append(left)
        nodes.gain.append(choice.gain)
        nodes.begin.append(level.begin)
        nodes.end.append(level.end)
        nodes.n_rows.append(rows)
        return None if split.shape[0] == 0 else stats.children(level, split)

    def _partition(
        self, tree: TreeContext, level: Level, choice: Choice, split: I64, column: I64
    ) -> tuple[U8, _LeftSides]:
        side = choice.missing_side[split]
        bins = choice.bin[split]
        # Missing values that training never saw at a node follow the larger child. That is known only after
        # the partition, which they do not change.
        missing_left = (side == 1).astype(np.uint8)
        begin, end = level.begin[split], level.end[split]
        stats = self._reducer.sum(self._run(tree, tree.order, column, bins, missing_left, begin, end))
        local_left = stats[:, 0]
        left_rows = tree.cells.count(stats[:, 1])
        unseen = side == 2
        missing_left[unseen] = (2 * left_rows >= tree.cells.count(level.total[split]))[unseen]
        test_left = local_left
        if self._search.test_order is not None:
            test_left = self._run(
                tree,
                self._search.test_order,
                column,
                bins,
                missing_left,
                level.test_begin[split],
                level.test_end[split],
            )[:, 0]
        return missing_left, _LeftSides(local_left, test_left, stats[:, 1], stats[:, 2:])

    def _run(
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
class _LeftSides:
    """What the left side of each split holds; the right side is the rest."""

    rows: I64
    test_rows: I64
    total: I64
    squares: I64

    def children(self, level: Level, split: I64) -> Level:
        middle = level.begin[split] + self.rows
        test_middle = level.test_begin[split] + self.test_rows
        return Level(
            parent=np.repeat(split, 2),
            begin=_pairs(level.begin[split], middle),
            end=_pairs(middle, level.end[split]),
            test_begin=_pairs(level.test_begin[split], test_middle),
            test_end=_pairs(test_middle, level.test_end[split]),
            total=_pairs(self.total, level.total[split] - self.total),
            squares=_pairs(self.squares, level.squares[split] - self.squares),
        )


def _pairs(left: I64, right: I64) -> I64:
    paired: I64 = np.stack([left, right], axis=1).reshape(-1, *left.shape[1:])
    return paired


def _tests_on_all_rows(level: Level) -> Level:
    return Level(level.parent, level.begin, level.end, level.begin, level.end, level.total, level.squares)


def _assemble(nodes: _Nodes, rows: I32, cells: Cells, root_sse: float, purchases: list[Purchase]) -> Grown:
    feature = np.concatenate(nodes.feature).astype(np.int32)
    tree = Tree(
        feature=feature,
        threshold=np.concatenate(nodes.threshold),
        missing_left=np.concatenate(nodes.missing_left),
        left=np.concatenate(nodes.left).astype(np.int32),
        value=np.zeros(feature.shape[0]),
        n_rows=np.concatenate(nodes.n_rows),
        gain=np.concatenate(nodes.gain) / cells.scale**2,
    )
    leaves = np.flatnonzero(feature < 0)
    begin, end = np.concatenate(nodes.begin)[leaves], np.concatenate(nodes.end)[leaves]
    return Grown(tree, leaves, begin, end, rows, root_sse / cells.scale**2, purchases)
