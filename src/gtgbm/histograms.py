"""Histograms of a level: build the smaller sibling, subtract for the larger one, find the best splits."""

from __future__ import annotations

import numpy as np

from gtgbm import _core
from gtgbm.arrays import CELLS, F64, I32, I64, LANES, U8
from gtgbm.data.columns import Tiles
from gtgbm.level import Level, Splits, TreeContext
from gtgbm.reducer import Reducer

_TILE_CELLS = LANES * CELLS
_TILE_BYTES = _TILE_CELLS * 8
_KEPT_BYTES = 512 << 20
"""Histograms of one level larger than this are not kept."""
_ROWS_WORTH_KEEPING = 1024
"""Fetching a parent's histogram to subtract costs about as much as adding this many rows."""
_BLOCK_BYTES = 2 << 20
"""Histograms not kept are built and scanned in blocks of about this size."""


class LevelHistograms:
    """Finds the best split of every column of a `Tiles` at the nodes of a level.

    Keeps the histograms of the level above while that pays, so that of two siblings only the smaller is
    built from rows.
    """

    def __init__(self, tiles: Tiles, reducer: Reducer) -> None:
        self._tiles = tiles
        self._reducer = reducer
        self._buffers = [np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64)]
        self._forget()

    def start_tree(self) -> None:
        """Forget the last tree's histograms."""
        self._forget()

    def best_splits(self, tree: TreeContext, level: Level, nodes: I64) -> Splits:
        """Best splits of all columns at some nodes of a level.

        Parameters
        ----------
        nodes : ndarray of int64, shape (k,)
            Indices into `level`, ascending.
        """
        if level.depth != self._kept_depth + 1:
            # A level in between was not asked for: what is kept is not the parents' level.
            self._forget()
        if nodes.shape[0] == 0 or self._tiles.n_columns == 0:
            self._forget()
            return Splits.none(nodes.shape[0], self._tiles.features)
        n_tiles = self._tiles.n_tiles
        level_bytes = 2 * nodes.shape[0] * n_tiles * _TILE_BYTES
        rows_per_node = int(level.size[nodes].sum()) // nodes.shape[0]
        if level_bytes <= _KEPT_BYTES and rows_per_node >= _ROWS_WORTH_KEEPING:
            return self._split_keeping(tree, level, nodes)
        self._forget()
        return self._split_in_blocks(tree, level, nodes)

    def _forget(self) -> None:
        self._kept: I64 = np.empty((0, 0, LANES, CELLS), dtype=np.int64)
        self._kept_slot: I64 = np.empty(0, dtype=np.int64)
        self._kept_columns = 0
        self._kept_depth = -1

    def _split_keeping(self, tree: TreeContext, level: Level, nodes: I64) -> Splits:
        # Parents' histograms lack the columns added since: full tiles from before, and the rest built anew.
        n_tiles = self._tiles.n_tiles
        known = n_tiles if self._kept_columns == self._tiles.n_columns else self._kept_columns // LANES
        plan = _Plan(level, nodes, self._kept_slot)
        hist = self._take_buffer(plan.n_slots, n_tiles)
        codes, every_slot = self._tiles.codes, np.arange(nodes.shape[0])
        self._build(tree, level, plan.built, plan.built_slot, codes, range(known), hist)
        self._build(tree, level, nodes, every_slot, codes, range(known, n_tiles), hist)
        # A subtracted sibling needs no sum over machines: its parent and its sibling were summed.
        self._reducer.sum(hist)
        _core.subtract_histograms(
            tree.pool, self._kept, plan.parent_slot, plan.sibling_slot, plan.subtracted_slot, known, hist
        )
        self._kept, self._kept_columns, self._kept_depth = hist, self._tiles.n_columns, level.depth
        self._kept_slot = np.full(len(level), -1, dtype=np.int64)
        self._kept_slot[nodes] = every_slot
        return self._scan(tree, level, nodes, hist, slice(0, self._tiles.n_columns))

    def _split_in_blocks(self, tree: TreeContext, level: Level, nodes: I64) -> Splits:
        n_tiles, n_nodes = self._tiles.n_tiles, nodes.shape[0]
        block = max(_BLOCK_BYTES // (n_nodes * _TILE_BYTES), tree.pool.size)
        parts = []
        for first in range(0, n_tiles, block):
            last = min(first + block, n_tiles)
            hist = self._take_buffer(n_nodes, last - first)
            codes = self._tiles.codes[first:last]
            self._build(tree, level, nodes, np.arange(n_nodes), codes, range(last - first), hist)
            self._reducer.sum(hist)
            columns = slice(first * LANES, min(last * LANES, self._tiles.n_columns))
            parts.append(self._scan(tree, level, nodes, hist, columns))
        return parts[0] if len(parts) == 1 else Splits.joined(parts)

    def _build(
        self, tree: TreeContext, level: Level, nodes: I64, slots: I64, codes: U8, tiles: range, hist: I64
    ) -> None:
        _core.build_histograms(
            tree.pool,
            codes,
            tree.order.rows,
            tree.order.cells,
            level.begin[nodes],
            level.end[nodes],
            slots,
            tiles.start,
            tiles.stop,
            hist,
        )

    def _scan(self, tree: TreeContext, level: Level, nodes: I64, hist: I64, columns: slice) -> Splits:
        splits = Splits.uninitialised(nodes.shape[0], self._tiles.features[columns])
        _core.scan_histograms(
            tree.pool,
            hist,
            self._tiles.n_bins[columns],
            np.arange(nodes.shape[0]),
            level.total[nodes],
            tree.cells.count_bits,
            tree.min_leaf,
            splits.gain,
            splits.bin,
            splits.missing_side,
        )
        return splits

    def _take_buffer(self, slots: int, tiles: int) -> I64:
        # Two buffers take turns, one level's and the one above's: fresh memory for each level would cost
        # more in page faults than filling it.
        self._buffers.reverse()
        cells = slots * tiles * _TILE_CELLS
        if self._buffers[0].shape[0] < cells:
            self._buffers[0] = np.empty(cells * 5 // 4, dtype=np.int64)
        return self._buffers[0][:cells].reshape(slots, tiles, LANES, CELLS)


def measure_pairs(
    tree: TreeContext, reducer: Reducer, level: Level, nodes: I64, codes: U8, column: I64, n_bins: I32
) -> tuple[F64, I32, I32]:
    """Best splits of single columns at single nodes.

    Parameters
    ----------
    nodes : ndarray of int64, shape (k,)
    codes : ndarray of uint8, shape (columns, n)
    column : ndarray of int64, shape (k,)
        The column asked for at each node.
    n_bins : ndarray of int32, shape (columns,)

    Returns
    -------
    gain, bin, missing_side : ndarray, shape (k, 1)
        As in `Splits`.
    """
    k = nodes.shape[0]
    hist = np.empty((k, CELLS), dtype=np.int64)
    order = tree.order
    _core.build_pair_histograms(
        tree.pool, codes, column, order.rows, order.cells, level.begin[nodes], level.end[nodes], hist
    )
    reducer.sum(hist)
    gain, bins, side = np.empty(k), np.empty(k, dtype=np.int32), np.empty(k, dtype=np.int32)
    _core.scan_pair_histograms(
        tree.pool,
        hist,
        n_bins[column].astype(np.int32),
        level.total[nodes],
        tree.cells.count_bits,
        tree.min_leaf,
        gain,
        bins,
        side,
    )
    return gain[:, None], bins[:, None], side[:, None]


class _Plan:
    """Which histograms of a level are built from rows and which by subtraction.

    Slots 0 .. k - 1 belong to the nodes asked for; further ones to siblings that are built only to be
    subtracted.
    """

    def __init__(self, level: Level, nodes: I64, kept_slot: I64) -> None:
        k = nodes.shape[0]
        size = level.size
        if kept_slot.shape[0] == 0:
            larger = np.zeros(k, dtype=np.bool_)
            parent_slot = np.full(k, -1, dtype=np.int64)
        else:
            parent_slot = kept_slot[level.parent[nodes]]
            sibling = nodes ^ 1
            is_right = (nodes & 1).astype(np.bool_)
            larger = (size[nodes] > size[sibling]) | ((size[nodes] == size[sibling]) & is_right)
            larger &= parent_slot >= 0
        slot_of = np.full(len(level), -1, dtype=np.int64)
        slot_of[nodes] = np.arange(k)
        siblings = nodes[larger] ^ 1
        extra = siblings[slot_of[siblings] < 0]
        slot_of[extra] = k + np.arange(extra.shape[0])
        self.n_slots = k + extra.shape[0]
        self.built = np.concatenate([nodes[~larger], extra])
        self.built_slot = slot_of[self.built]
        self.parent_slot = parent_slot[larger]
        self.sibling_slot = slot_of[siblings]
        self.subtracted_slot = slot_of[nodes[larger]]
