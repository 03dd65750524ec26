"""Splits the nodes of a level: which nodes may split, and how their rows are partitioned."""

from __future__ import annotations

import numpy as np

from gtgbm.exact import I64, MISSING_LEFT, Bool
from gtgbm.growing.owned_columns import OwnedColumns
from gtgbm.tree import Level, Splits, TreeBuilder, TreeContext, TreeLimits


def splittable(level: Level, limits: TreeLimits) -> I64:
    """Return the nodes that the limits allow to split, ascending."""
    may_split = level.is_open & (level.n_rows >= limits.fewest_rows)
    if limits.max_depth is not None:
        may_split &= level.depth < limits.max_depth
    return np.flatnonzero(may_split)


def is_due(level: Level) -> Bool:
    """Whether each node is due for a search: small enough after the last fruitless search above it."""
    due: Bool = level.n_rows <= level.due_rows
    return due


def split_nodes(
    tree: TreeContext, level: Level, nodes: I64, choice: Splits, owned: OwnedColumns, builder: TreeBuilder
) -> Level | None:
    """Split the nodes whose split has a gain, and return the level below; None if there are none.

    Parameters
    ----------
    nodes : ndarray of int64, shape (k,)
        Nodes that may split, ascending.
    choice : Splits
        The best split of every node of the level, on owned features.
    """
    split = nodes[choice.gain[nodes] > 0.0]
    if split.shape[0] == 0:
        return None
    splits = choice.at(split)
    missing_left = (splits.missing_side == MISSING_LEFT).astype(np.uint8)
    begin, end = level.begin[split], level.end[split]
    n_left, sums = owned.partition(tree, splits, missing_left, begin, end)
    left_sums = tree.sum(np.column_stack([n_left, sums]))
    below = level.children(split, n_left, left_sums, builder.n_nodes)
    rules = owned.rules(splits.feature, splits.bin)
    builder.add_splits(level.number[split], rules, splits.missing_side, splits.gain, below.number[0::2])
    builder.add_nodes(below.n_rows, below.begin, below.end)
    return below
