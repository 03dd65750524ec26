"""Histograms of a level: build the smaller sibling, subtract for the larger one, find the best splits."""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

import numpy as np

from gtgbm import _core
from gtgbm.data import Tiles
from gtgbm.exact import CATEGORICAL, CELLS, F64, I32, I64, LANES, NEW, OFFERED, SKIPPED, U8, Reducer
from gtgbm.tree.nodes import Level, Splits, TreeContext
from gtgbm.tree.sibling_subtraction import KeptHistograms, SiblingPlan

_TILE_CELLS = LANES * CELLS
_TILE_BYTES = _TILE_CELLS * 8
_KEPT_BYTES = 512 << 20
"""Histograms of one level larger than this are not kept."""
_ROWS_WORTH_KEEPING = 1024
"""Fetching a parent's histogram to subtract costs about as much as adding this many rows."""
_BLOCK_BYTES = 2 << 20
"""Histograms not kept are built and scanned in blocks of about this size."""


_Looks: TypeAlias = list[tuple[U8, U8]]


class BestSplits(NamedTuple):
    """Best splits of some nodes: over owned features, over new ones, and over categories on offer."""

    owned: Splits
    new: Splits
    offered: Splits


class LevelHistograms:
    """Finds the best splits of the columns of a `Tiles` at the nodes of a level.

    Keeps the histograms of the level above while that pays, so that of two siblings only the smaller is
    built from rows.
    """

    def __init__(self, tiles: Tiles, reducer: Reducer) -> None:
        self._tiles = tiles
        self._reducer = reducer
        self._kept = KeptHistograms()
        self._kept_columns = 0

    def start_tree(self) -> None:
        """Forget the last tree's histograms."""
        self._kept.forget()

    def best_splits(self, tree: TreeContext, level: Level, nodes: I64) -> BestSplits:
        """Best splits at some nodes of a level.

        Parameters
        ----------
        nodes : ndarray of int64, shape (k,)
            Indices into `level`, ascending.
        """
        if nodes.shape[0] == 0 or self._tiles.n_columns == 0:
            self._kept.forget()
            return BestSplits(*(Splits.none(nodes.shape[0]) for _ in BestSplits._fields))
        looks = self._looks()
        level_bytes = 2 * nodes.shape[0] * self._tiles.n_tiles * _TILE_BYTES
        rows_per_node = int(level.size[nodes].sum()) // nodes.shape[0]
        if level_bytes <= _KEPT_BYTES and rows_per_node >= _ROWS_WORTH_KEEPING:
            found = self._split_keeping(tree, level, nodes, looks)
        else:
            self._kept.forget()
            found = self._split_in_blocks(tree, level, nodes, looks)
        offered = self._as_splits(*found, 3) if len(looks) > 1 else Splits.none(nodes.shape[0])
        return BestSplits(self._as_splits(*found, 0), self._as_splits(*found, 1), offered)

    def _looks(self) -> _Looks:
        """Return what columns and categories are to each scan: a second one is for categories on offer."""
        use, category_use = self._tiles.scanned_use, self._tiles.category_use
        is_offered = category_use == OFFERED
        if not is_offered.any():
            return [(use, category_use)]
        offers = np.where(use == CATEGORICAL, CATEGORICAL, SKIPPED).astype(np.uint8)
        return [(use, category_use), (offers, np.where(is_offered, NEW, SKIPPED).astype(np.uint8))]

    def measure(self, tree: TreeContext, level: Level, nodes: I64, position: int, use: U8) -> Splits:
        """Best owned splits of one column at some nodes; `use` says which columns are looked at."""
        tile = position // LANES
        hist = np.empty((nodes.shape[0], 1, LANES, CELLS), dtype=np.int64)
        codes = self._tiles.codes[tile : tile + 1]
        slots = np.arange(nodes.shape[0])
        self._build(tree, level, nodes, slots, codes, range(1), hist)
        self._reducer.sum(hist)
        columns = slice(tile * LANES, min((tile + 1) * LANES, self._tiles.n_columns))
        found = self._scan(tree, level, nodes, hist, columns, use[columns], self._tiles.category_use)
        return self._as_splits(*found, 0)

    def _as_splits(self, gain: F64, where: I32, which: int) -> Splits:
        position, bins, side = where[:, which].T
        feature = self._tiles.feature_of(position, bins)
        return Splits(feature, np.maximum(gain[:, which], 0.0), bins, side)

    def _split_keeping(self, tree: TreeContext, level: Level, nodes: I64, looks: _Looks) -> tuple[F64, I32]:
        # Parents' histograms lack the columns added since: full tiles from before, and the rest built anew.
        n_tiles = self._tiles.n_tiles
        known = n_tiles if self._kept_columns == self._tiles.n_columns else self._kept_columns // LANES
        plan = SiblingPlan(level, nodes, self._kept)
        flat = self._kept.take_buffer(plan.n_slots, n_tiles * _TILE_CELLS)
        hist = flat.reshape(plan.n_slots, n_tiles, LANES, CELLS)
        codes = self._tiles.codes
        if plan.subtracted_slot.shape[0] == 0:
            known = 0
        self._build(tree, level, plan.built, plan.built_slot, codes, range(known), hist)
        self._build(tree, level, nodes, plan.slots, codes, range(known, n_tiles), hist)
        # A subtracted sibling needs no sum over machines: its parent and its sibling were summed.
        self._reducer.sum(hist)
        self._kept.subtract(tree.pool, plan, known * _TILE_CELLS, flat)
        self._kept.keep(level, nodes, plan, flat)
        self._kept_columns = self._tiles.n_columns
        return self._scan_all(tree, level, nodes, hist, slice(0, self._tiles.n_columns), looks)

    def _split_in_blocks(self, tree: TreeContext, level: Level, nodes: I64, looks: _Looks) -> tuple[F64, I32]:
        n_tiles, n_nodes = self._tiles.n_tiles, nodes.shape[0]
        block = max(_BLOCK_BYTES // (n_nodes * _TILE_BYTES), tree.pool.size)
        best: tuple[F64, I32] | None = None
        for first in range(0, n_tiles, block):
            last = min(first + block, n_tiles)
            hist = self._kept.take_buffer(n_nodes, (last - first) * _TILE_CELLS)
            hist = hist.reshape(n_nodes, last - first, LANES, CELLS)
            codes = self._tiles.codes[first:last]
            self._build(tree, level, nodes, np.arange(n_nodes), codes, range(last - first), hist)
            self._reducer.sum(hist)
            columns = slice(first * LANES, min(last * LANES, self._tiles.n_columns))
            gain, where = self._scan_all(tree, level, nodes, hist, columns, looks)
            if best is None:
                best = gain, where
                continue
            better = gain > best[0]
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
            tree.pool,
            codes,
            tree.order.rows,
            tree.cells.values,
            level.begin[nodes],
            level.end[nodes],
            slots,
            tiles.start,
            tiles.stop,
            tree.order.cells,
            hist,
        )

    def _scan_all(
        self, tree: TreeContext, level: Level, nodes: I64, hist: I64, columns: slice, looks: _Looks
    ) -> tuple[F64, I32]:
        """Return gains (k, 2 looks) and places (k, 2 looks, 3): the best owned and new splits of each."""
        given = tree, level, nodes, hist, columns
        found = [self._scan(*given, use[columns], category_use) for use, category_use in looks]
        if len(found) == 1:
            return found[0]
        gains, places = zip(*found, strict=True)
        return np.concatenate(gains, axis=1), np.concatenate(places, axis=1)

    def _scan(
        self,
        tree: TreeContext,
        level: Level,
        nodes: I64,
        hist: I64,
        columns: slice,
        use: U8,
        category_use: U8,
    ) -> tuple[F64, I32]:
        k = nodes.shape[0]
        gain, where = np.empty((k, 2)), np.empty((k, 2, 3), dtype=np.int32)
        _core.scan_histograms(
            tree.pool,
            hist,
            self._tiles.n_bins[columns],
            use,
            self._tiles.category_row[columns],
            category_use,
            np.arange(k),
            level.total[nodes],
            tree.cells.count_bits,
            tree.min_leaf,
            gain,
            where,
        )
        where[:, :, 0] += columns.start
        return gain, where


def measure_pairs(
    tree: TreeContext,
    reducer: Reducer,
    level: Level,
    nodes: I64,
    codes: U8,
    column: I64,
    n_bins: I32,
    direction: U8,
) -> tuple[F64, I32, I32]:
    """Best splits of single columns at single nodes.

    Parameters
    ----------
    nodes : ndarray of int64, shape (k,)
    codes : ndarray of uint8, shape (columns, n)
    column : ndarray of int64, shape (k,)
        The column asked for at each node.
    n_bins : ndarray of int32, shape (columns,)
    direction : ndarray of uint8, shape (k,)
        0, RISING or FALLING.

    Returns
    -------
    gain, bin, missing_side : ndarray, shape (k,)
        As in `Splits`, but a gain of -inf where there is none.
    """
    hist = np.empty((nodes.shape[0], CELLS), dtype=np.int64)
    rows = tree.order.rows, tree.cells.values, level.begin[nodes], level.end[nodes]
    _core.build_pair_histograms(tree.pool, codes, column, *rows, hist)
    reducer.sum(hist)
    return scan_pairs(tree, hist, n_bins[column], direction, level.total[nodes], tree.min_leaf)


def scan_pairs(
    tree: TreeContext, hist: I64, n_bins: I32, direction: U8, total: I64, min_leaf: int
) -> tuple[F64, I32, I32]:
    """Best splits of single histograms (k, 256); see `measure_pairs`."""
    k = hist.shape[0]
    gain, bins, side = np.empty(k), np.empty(k, dtype=np.int32), np.empty(k, dtype=np.int32)
    bits = tree.cells.count_bits
    _core.scan_pair_histograms(tree.pool, hist, n_bins, direction, total, bits, min_leaf, gain, bins, side)
    return gain, bins, side
