"""A fitted tree and a fitted ensemble: parallel arrays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from gtgbm import _core
from gtgbm.arrays import F64, I32, I64, U8, Table

_ROWS_PER_CALL = 1 << 16
"""Rows predicted in one kernel call, so that Ctrl-C is heard in between."""


@dataclass(frozen=True)
class Tree:
    """One regression tree; nodes are numbered level by level, a right child follows its left sibling.

    Attributes
    ----------
    feature : ndarray of int32, shape (nodes,)
        Feature a node splits on, -1 for a leaf.
    threshold : ndarray of float64, shape (nodes,)
        Values up to the threshold go left; where `is_category` is 1, values equal to it go right.
    is_category : ndarray of uint8, shape (nodes,)
    missing_left : ndarray of uint8, shape (nodes,)
        1 where missing values go left.
    left : ndarray of int32, shape (nodes,)
        Left child, -1 for a leaf; the right child is the next node.
    value : ndarray of float64, shape (nodes,)
        What a leaf adds to the score, the learning rate included; 0 elsewhere.
    n_rows : ndarray of int64, shape (nodes,)
        Training rows in the node.
    gain : ndarray of float64, shape (nodes,)
        Fall of the squared error of the residuals by the split; 0 for a leaf.
    """

    feature: I32
    threshold: F64
    is_category: U8
    missing_left: U8
    left: I32
    value: F64
    n_rows: I64
    gain: F64

    @property
    def n_nodes(self) -> int:
        """Number of nodes, leaves included."""
        return int(self.feature.shape[0])

    @property
    def n_leaves(self) -> int:
        """Number of leaves."""
        return int(np.count_nonzero(self.feature < 0))


def predict_scores(
    table: Table, trees: Sequence[Tree], outputs: Sequence[int], start: F64, pool: _core.Pool
) -> F64:
    """Sum trees over rows; reads only the columns that some tree uses.

    Parameters
    ----------
    outputs : sequence of int
        The score each tree adds to.
    start : ndarray of float64, shape (k,)
        Where the scores begin.

    Returns
    -------
    ndarray of float64, shape (k, n)
    """
    scores = np.repeat(start[:, None], table.shape[0], axis=1)
    add_trees(table, trees, outputs, scores, pool)
    return scores


def add_trees(
    table: Table, trees: Sequence[Tree], outputs: Sequence[int], scores: F64, pool: _core.Pool
) -> None:
    """Add trees to ``scores`` (k, n) in place."""
    if not trees:
        return
    feature = np.concatenate([tree.feature for tree in trees])
    columns = np.unique(feature[feature >= 0]).astype(np.int64)
    position = np.searchsorted(columns, feature)
    first = np.concatenate([[0], np.cumsum([tree.n_nodes for tree in trees])])
    outputs_of_trees = np.asarray(outputs, dtype=np.int64)
    arrays = (
        np.where(feature >= 0, position, -1).astype(np.int32),
        np.concatenate([tree.threshold for tree in trees]),
        np.concatenate([tree.missing_left for tree in trees]),
        np.concatenate([tree.left for tree in trees]),
        np.concatenate([tree.value for tree in trees]),
    )
    for begin in range(0, table.shape[0], _ROWS_PER_CALL):
        rows = slice(begin, begin + _ROWS_PER_CALL)
        part = np.ascontiguousarray(scores[:, rows])
        _core.predict(pool, table[rows], columns, first.astype(np.int64), outputs_of_trees, *arrays, part)
        scores[:, rows] = part
