"""Grows whole subtrees that need no search, on owned features only, in one native call."""

from __future__ import annotations

import numpy as np

from gtgbm import _core
from gtgbm.exact import I64
from gtgbm.growing.owned_columns import OwnedColumns
from gtgbm.growing.splitting import is_due, split_nodes, splittable
from gtgbm.tree import (
    Level,
    Splits,
    TreeBuilder,
    TreeContext,
    from_left_to_right,
    node_table,
    with_squares,
    without_parents,
)

_FIELD = {name: place for place, name in enumerate(_core.SUBTREE_FIELDS)}
_COLUMN, _SIDE, _LEFT = (_FIELD[name] for name in ("column", "missing_side", "left"))
_BEGIN, _END, _GRADIENT, _COUNT = (_FIELD[name] for name in ("begin", "end", "gradient", "count"))
_NO_LIMIT = 1 << 40
_SMALL_NODE = 2048
_SMALL_SHARE = 8
"""A node with at most `_SMALL_NODE` rows, or ``1 / _SMALL_SHARE`` of all rows, is small: one thread grows its
subtree without the other threads waiting long."""


def grow_down(tree: TreeContext, level: Level, owned: OwnedColumns, builder: TreeBuilder) -> I64:
    """Grow nodes on owned features; return the nodes that are due for a search, as in `node_table`.

    They are in the order of their rows, so that it does not matter how the nodes above them were grown.
    """
    if not tree.context.is_alone:
        return _grow_by_levels(tree, level, owned, builder)
    if owned.tiles.n_columns == 0:
        return level.nodes[:0]
    # All threads work on one large node together; small nodes are distributed among threads.
    n_rows = tree.order.rows.shape[0]
    total_weight = tree.cells.total[1]
    # The limit is in units of the weights, since numbers of rows are sums of weights.
    small = max(1, max(_SMALL_NODE, n_rows // _SMALL_SHARE) * total_weight // n_rows)
    is_large = level.n_rows > small
    if is_large.any():
        large = level.only(is_large)
        stop_rows = np.maximum(large.due_rows, small)
        unsplit = _grow_subtrees(tree, large, owned, builder, stop_rows, shared=True)
        level = level.only(~is_large).with_nodes(unsplit)
    due = is_due(level)
    rest = level.only(~due) if due.any() else level
    unsplit = _grow_subtrees(tree, rest, owned, builder, rest.due_rows.copy(), shared=False)
    found = np.concatenate([level.nodes[due], unsplit])
    if found.shape[0] == 0:
        return found
    found = from_left_to_right(found)
    # Summed only now: reading all rows of nodes that are grown further would take a tenth of a fit.
    return with_squares(found, lambda begin, end: tree.sums(begin, end)[:, 2:])


def _grow_by_levels(tree: TreeContext, level: Level, owned: OwnedColumns, builder: TreeBuilder) -> I64:
    """Grow level by level instead, since every histogram has to be summed over machines."""
    due_nodes = []
    below: Level | None = level
    while below is not None:
        level = below
        due = is_due(level)
        due_nodes.append(level.nodes[due])
        level.is_open &= ~due
        active = splittable(level, tree.limits)
        choice = Splits.none(len(level))
        choice.put(active, owned.best_splits(tree, level, active).owned)
        below = split_nodes(tree, level, active, choice, owned, builder)
    return from_left_to_right(without_parents(np.concatenate(due_nodes)))


def _grow_subtrees(
    tree: TreeContext,
    level: Level,
    owned: OwnedColumns,
    builder: TreeBuilder,
    stop_rows: I64,
    *,
    shared: bool,
) -> I64:
    """Grow the subtrees of all nodes of a level on owned features.

    Parameters
    ----------
    stop_rows : ndarray of int64, shape (nodes,)
        Nodes of the subtree with at most this many rows are not split.
    shared : bool
        True: all threads together grow one subtree after the other. False: each thread grows subtrees of its
        own.

    Returns
    -------
    ndarray of int64
        The nodes that were not split because of `stop_rows`, as in `node_table`, their squares still 0.
    """
    if len(level) == 0:
        none, sums = np.empty(0, dtype=np.int64), np.empty((0, 2), dtype=np.int64)
        return node_table(none, none, none, none, none, sums, sums)
    # A binary tree with k leaves has 2 k - 1 nodes.
    room = np.maximum(2 * np.minimum(level.n_rows // tree.min_leaf, level.size) - 1, 1)
    first = np.concatenate([[0], np.cumsum(room)])
    nodes, gain = np.empty((first[-1], len(_FIELD)), dtype=np.int64), np.empty(first[-1])
    n_nodes = np.empty(len(level), dtype=np.int64)
    limits, order = tree.limits, tree.order
    _core.grow_subtrees(
        pool=tree.pool,
        tiles=owned.tiles.native(),
        begin=level.begin.copy(),
        end=level.end.copy(),
        total=level.total.copy(),
        depth=level.depth.copy(),
        stop_rows=stop_rows,
        format=tree.cells.format,
        fewest_rows=limits.fewest_rows,
        min_leaf=limits.min_leaf,
        l2=limits.l2,
        max_depth=_NO_LIMIT if limits.max_depth is None else limits.max_depth,
        rows=order.rows,
        cells=tree.cells.values,
        row_scratch=order.scratch,
        ordered=order.cells,
        first=first,
        nodes=nodes,
        gain=gain,
        n_nodes=n_nodes,
        shared=shared,
    )
    # The root of a subtree has a number already; the other nodes are numbered subtree by subtree.
    local = np.arange(n_nodes.sum()) - np.repeat(np.cumsum(n_nodes) - n_nodes, n_nodes)
    place = np.repeat(first[:-1], n_nodes) + local
    used = nodes[place]
    base = builder.n_nodes - 1 + np.repeat(np.cumsum(n_nodes - 1) - (n_nodes - 1), n_nodes)
    number = np.where(local == 0, np.repeat(level.number, n_nodes), base + local)
    new = used[local > 0]
    builder.add_nodes(new[:, _COUNT], new[:, _BEGIN], new[:, _END])
    split = np.flatnonzero(used[:, _LEFT] >= 0)
    position, bins, side = used[split, _COLUMN : _SIDE + 1].astype(np.int32).T
    rules = owned.rules(owned.tiles.feature_of(position, bins), bins)
    builder.add_splits(number[split], rules, side, gain[place[split]], base[split] + used[split, _LEFT])
    is_leaf, n_rows = used[:, _LEFT] < 0, used[:, _COUNT]
    left_open = np.flatnonzero(is_leaf & (n_rows <= np.repeat(stop_rows, n_nodes)))
    begin, end, *_, depth = used[left_open, _BEGIN:].T
    total = used[left_open, _GRADIENT : _COUNT + 1]
    due_rows = np.repeat(level.due_rows, n_nodes)[left_open]
    squares = np.zeros((begin.shape[0], 2), dtype=np.int64)
    return node_table(begin, end, number[left_open], depth, due_rows, total, squares)
