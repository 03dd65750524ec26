"""Grows what is below nodes that have nothing left to decide, each in one native call's task."""

from __future__ import annotations

import numpy as np

from gtgbm import _core
from gtgbm.exact import I64
from gtgbm.growing.owned_columns import ResidentColumns
from gtgbm.tree import Draft, Level, TreeContext, TreeLimits, node_table

_ENTRIES = 8
_NO_LIMIT = 1 << 40


def grow_subtrees(
    tree: TreeContext,
    level: Level,
    residents: ResidentColumns,
    limits: TreeLimits,
    draft: Draft,
    stop_rows: I64,
    *,
    shared: bool,
) -> I64:
    """Grow the subtrees of all nodes of a level over owned features.

    Parameters
    ----------
    stop_rows : ndarray of int64, shape (nodes,)
        Nodes below with at most so many rows are left as they are.
    shared : bool
        Whether all threads work on one subtree after the other, or each on subtrees of its own.

    Returns
    -------
    ndarray of int64
        Rows of a `Level`: the nodes left as they are.
    """
    tiles = residents.tiles
    if len(level) == 0:
        none = np.empty(0, dtype=np.int64)
        return node_table(none, none, none, none, none, none, np.empty((0, 2), dtype=np.int64))
    # A binary tree of k leaves has 2 k - 1 nodes.
    room = np.maximum(2 * np.minimum(level.n_rows // tree.min_leaf, level.size) - 1, 1)
    first = np.concatenate([[0], np.cumsum(room)])
    nodes, gain = np.empty((first[-1], _ENTRIES), dtype=np.int64), np.empty(first[-1])
    n_nodes = np.empty(len(level), dtype=np.int64)
    order = tree.order
    _core.grow_subtrees(
        tree.pool,
        tiles.codes,
        tiles.widths,
        tiles.n_bins,
        tiles.scanned_use,
        tiles.category_row,
        tiles.category_use,
        level.begin.copy(),
        level.end.copy(),
        level.total.copy(),
        level.depth.copy(),
        stop_rows,
        tree.cells.count_bits,
        limits.fewest_rows,
        tree.min_leaf,
        _NO_LIMIT if limits.max_depth is None else limits.max_depth,
        order.rows,
        tree.cells.values,
        order.scratch,
        order.cells,
        first,
        nodes,
        gain,
        n_nodes,
        shared,
    )
    # A subtree's first node has its number already; the others are numbered subtree by subtree.
    local = np.arange(n_nodes.sum()) - np.repeat(np.cumsum(n_nodes) - n_nodes, n_nodes)
    place = np.repeat(first[:-1], n_nodes) + local
    used = nodes[place]
    base = draft.n_nodes - 1 + np.repeat(np.cumsum(n_nodes - 1) - (n_nodes - 1), n_nodes)
    number = np.where(local == 0, np.repeat(level.number, n_nodes), base + local)
    new = used[local > 0]
    draft.add_nodes(tree.cells.count(new[:, 6]), new[:, 4], new[:, 5])
    split = np.flatnonzero(used[:, 3] >= 0)
    position, bins, side = used[split, :3].astype(np.int32).T
    rules = residents.rules(tiles.feature_of(position, bins), bins)
    draft.add_splits(number[split], rules, side, gain[place[split]], base[split] + used[split, 3])
    is_leaf, n_rows = used[:, 3] < 0, tree.cells.count(used[:, 6])
    left_open = np.flatnonzero(is_leaf & (n_rows <= np.repeat(stop_rows, n_nodes)))
    begin, end, total, depth = used[left_open, 4:].T
    due_rows = np.repeat(level.due_rows, n_nodes)[left_open]
    squares = tree.sums(begin.copy(), end.copy())[:, 1:]
    return node_table(begin, end, number[left_open], depth, due_rows, total, squares)
