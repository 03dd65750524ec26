"""Best splits of a level: builds histograms of the smaller siblings, subtracts for the larger, scans all."""

from __future__ import annotations

import numpy as np

from gtgbm import _core
from gtgbm.data import Tiles
from gtgbm.exact import CELLS, F64, I32, I64, LANES, U8
from gtgbm.tree.context import TreeContext
from gtgbm.tree.nodes import Level
from gtgbm.tree.sibling_subtraction import KeptHistograms, SiblingPlan
from gtgbm.tree.splits import SAME_PRICES, BestSplits, ScanPrices, Splits

_TILE_CELLS = LANES * CELLS
_KEPT_BYTES = 512 << 20
"""Histograms of a level that are larger than this are not kept."""
_ROWS_WORTH_KEEPING = 1024
"""Reading a parent's histogram for subtraction costs about as much as adding this many rows."""
_BLOCK_BYTES = 2 << 20
_BLOCK_TILES = 8
"""Histograms that are not kept are built and scanned in blocks of about this size, and at least so many
tiles, for every thread to have work. All workers have the same blocks, whatever their number of threads."""
_OWNED, _NEW = 0, 1
"""Index of the two splits that a scan finds at each node."""


class LevelHistograms:
    """Finds the best splits of the columns of a `Tiles` at the nodes of a level.

    Keeps the histograms of the level above while that saves time, so that only the smaller of two siblings
    is built from rows.
    """

    def __init__(self, tiles: Tiles) -> None:
        self._tiles = tiles
        self._kept = KeptHistograms()
        self._kept_columns = 0

    def start_tree(self) -> None:
        """Discard the last tree's histograms."""
        self._kept.forget()

    def best_splits(
        self, tree: TreeContext, level: Level, nodes: I64, prices: ScanPrices = SAME_PRICES
    ) -> BestSplits:
        """Return the best splits at some nodes of a level.

        Parameters
        ----------
        nodes : ndarray of int64, shape (k,)
            Indices into `level`, ascending.
        prices : ScanPrices
            The best split on new features is the one with the largest gain after the price of its column.
        """
        if nodes.shape[0] == 0 or self._tiles.n_columns == 0:
            self._kept.forget()
            return BestSplits(*(Splits.none(nodes.shape[0]) for _ in BestSplits._fields))
        level_bytes = 2 * nodes.shape[0] * self._tiles.n_tiles * 8 * _numbers_of_tile(tree)
        rows_per_node = int(level.size[nodes].sum()) // nodes.shape[0]
        if level_bytes <= _KEPT_BYTES and rows_per_node >= _ROWS_WORTH_KEEPING:
            gain, where = self._split_keeping(tree, level, nodes, prices)
        else:
            self._kept.forget()
            gain, where = self._split_in_blocks(tree, level, nodes, prices)
        other_tasks = (
            self._as_splits(gain[:, 2 + _NEW], where[:, 2 + _NEW])
            if gain.shape[1] > 2
            else Splits.none(nodes.shape[0])
        )
        owned, new = (self._as_splits(gain[:, kind], where[:, kind]) for kind in (_OWNED, _NEW))
        return BestSplits(owned, new, other_tasks)

    def measure(self, tree: TreeContext, level: Level, nodes: I64, tile: int, use: U8) -> Splits:
        """Return the best owned splits of some columns of one tile at some nodes.

        Parameters
        ----------
        nodes : ndarray of int64, shape (k,)
        tile : int
        use : ndarray of uint8, shape (n_columns,)
            SKIPPED for the other columns of the tile.
        """
        hist = _shaped(tree, np.empty((nodes.shape[0], _numbers_of_tile(tree)), dtype=np.int64))
        codes = self._tiles.codes[tile : tile + 1]
        self._build(tree, level, nodes, np.arange(nodes.shape[0]), codes, range(1), hist)
        tree.sum(hist)
        columns = slice(tile * LANES, min((tile + 1) * LANES, self._tiles.n_columns))
        gain, where = _scan(tree, level, nodes, hist, self._tiles.scanned(columns, use), columns.start)
        return self._as_splits(gain[:, _OWNED], where[:, _OWNED])

    def _as_splits(self, gain: F64, where: I32) -> Splits:
        position, bins, side = where.T
        feature = self._tiles.feature_of(position, bins)
        return Splits(feature, np.maximum(gain, 0.0), bins, side)

    def _split_keeping(
        self, tree: TreeContext, level: Level, nodes: I64, prices: ScanPrices
    ) -> tuple[F64, I32]:
        # Parents' histograms lack the columns added since. Subtract only tiles that were full then; build the
        # other tiles from rows.
        n_tiles = self._tiles.n_tiles
        known = n_tiles if self._kept_columns == self._tiles.n_columns else self._kept_columns // LANES
        plan = SiblingPlan(level, nodes, self._kept)
        flat = self._kept.take_buffer(plan.n_slots, n_tiles * _numbers_of_tile(tree))
        hist = _shaped(tree, flat)
        codes = self._tiles.codes
        if plan.subtracted_slot.shape[0] == 0:
            known = 0
        self._build(tree, level, plan.built, plan.built_slot, codes, range(known), hist)
        self._build(tree, level, nodes, plan.slots, codes, range(known, n_tiles), hist)
        # Before subtraction: the parent is summed over machines already, so the larger sibling will be too.
        _sum_built(tree, hist, [(plan.built_slot, slice(0, known)), (plan.slots, slice(known, n_tiles))])
        self._kept.subtract(tree.pool, plan, known * _numbers_of_tile(tree), flat)
        self._kept.keep(level, nodes, plan, flat)
        self._kept_columns = self._tiles.n_columns
        return self._scan_all(tree, level, nodes, hist, slice(0, self._tiles.n_columns), prices)

    def _split_in_blocks(
        self, tree: TreeContext, level: Level, nodes: I64, prices: ScanPrices
    ) -> tuple[F64, I32]:
        n_tiles, n_nodes = self._tiles.n_tiles, nodes.shape[0]
        block = max(_BLOCK_BYTES // (n_nodes * 8 * _numbers_of_tile(tree)), _BLOCK_TILES)
        best: tuple[F64, I32] | None = None
        for first in range(0, n_tiles, block):
            last = min(first + block, n_tiles)
            flat = self._kept.take_buffer(n_nodes, (last - first) * _numbers_of_tile(tree))
            hist = _shaped(tree, flat)
            codes = self._tiles.codes[first:last]
            self._build(tree, level, nodes, np.arange(n_nodes), codes, range(last - first), hist)
            tree.sum(hist)
            columns = slice(first * LANES, min(last * LANES, self._tiles.n_columns))
            gain, where = self._scan_all(tree, level, nodes, hist, columns, prices)
            if best is None:
                best = gain, where
                continue
            better = _net(gain, where, prices) > _net(*best, prices)
            best[0][better] = gain[better]
            best[1][better] = where[better]
        assert best is not None
        return best

    def _build(
        self, tree: TreeContext, level: Level, nodes: I64, slots: I64, codes: U8, tiles: range, hist: I64
    ) -> None:
        if len(tiles) == 0:
            return
        _core.build_histograms(
            pool=tree.pool,
            codes=codes,
            rows=tree.order.rows,
            cells=tree.cells.values,
            begin=level.begin[nodes],
            end=level.end[nodes],
            slot=slots,
            first_tile=tiles.start,
            last_tile=tiles.stop,
            format=tree.cells.format,
            ordered=tree.order.cells,
            hist=hist,
        )

    def _scan_all(
        self,
        tree: TreeContext,
        level: Level,
        nodes: I64,
        hist: I64,
        columns: slice,
        prices: ScanPrices,
    ) -> tuple[F64, I32]:
        """Find the best splits over owned, new and, where there are any, other tasks' features.

        Returns
        -------
        gain : ndarray of float64, shape (k, 2) or (k, 4)
            Owned and new; then the same for a second scan, of the categories that other tasks own.
        where : ndarray of int32, shape (k, 2, 3) or (k, 4, 3)
            Column, bin and side of missing values.
        """
        scanned = self._tiles.scanned(columns, price=prices.new)
        first = _scan(tree, level, nodes, hist, scanned, columns.start)
        other_tasks = self._tiles.other_tasks(columns, prices.other_tasks)
        if other_tasks is None:
            return first
        second = _scan(tree, level, nodes, hist, other_tasks, columns.start)
        return np.concatenate([first[0], second[0]], axis=1), np.concatenate([first[1], second[1]], axis=1)


def _numbers_of_tile(tree: TreeContext) -> int:
    """Return how many 64-bit integers the histograms of one tile have at one node."""
    return _TILE_CELLS * tree.cells.format.width


def _shaped(tree: TreeContext, flat: I64) -> I64:
    """Return histograms (slots, numbers) as (slots, tiles, LANES, CELLS * width)."""
    tiles = flat.shape[1] // _numbers_of_tile(tree)
    return flat.reshape(flat.shape[0], tiles, LANES, CELLS * tree.cells.format.width)


def _sum_built(tree: TreeContext, hist: I64, parts: list[tuple[I64, slice]]) -> None:
    """Sum histograms over machines, only those that were built: some slots and tiles of each part."""
    if tree.context.is_alone:
        return
    built = [hist[slots, tiles] for slots, tiles in parts]
    summed = tree.sum(np.concatenate([part.ravel() for part in built]))
    first = 0
    for (slots, tiles), part in zip(parts, built, strict=True):
        hist[slots, tiles] = summed[first : first + part.size].reshape(part.shape)
        first += part.size


def _scan(
    tree: TreeContext, level: Level, nodes: I64, hist: I64, columns: _core.TileColumns, first_column: int
) -> tuple[F64, I32]:
    k = nodes.shape[0]
    gain, where = np.empty((k, 2)), np.empty((k, 2, 3), dtype=np.int32)
    _core.scan_histograms(
        pool=tree.pool,
        columns=columns,
        hist=hist,
        slot=np.arange(k),
        total=level.total[nodes],
        format=tree.cells.format,
        min_leaf=tree.min_leaf,
        l2=tree.limits.l2,
        gain=gain,
        where=where,
    )
    where[:, :, 0] += first_column
    return gain, where


def _net(gain: F64, where: I32, prices: ScanPrices) -> F64:
    """Return gains (k, 2) or (k, 4) as in `_scan_all`, those of new features minus their prices."""
    if prices is SAME_PRICES:
        return gain
    net = gain.copy()
    for kind, price in zip(range(_NEW, gain.shape[1], 2), prices, strict=False):
        # Where there is no split, the gain is minus infinity, whatever the price.
        if price is not None:
            is_split = np.isfinite(gain[:, kind])
            net[is_split, kind] -= price[where[is_split, kind, 0]]
    return net
