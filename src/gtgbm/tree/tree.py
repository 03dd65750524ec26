"""A fitted tree, as parallel arrays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace

import numpy as np

from gtgbm.exact import F64, I32, I64, U8

_COVER_BITS = 30
"""Bits of the number of rows of a root, one less than a signed integer of 32 bits has."""


@dataclass(frozen=True)
class Tree:
    """One regression tree; children are numbered after their parent, a right child follows its left sibling.

    Attributes
    ----------
    feature : ndarray of int32, shape (nodes,)
        Feature that a node splits on, -1 for a leaf.
    threshold : ndarray of float64, shape (nodes,)
        Values up to the threshold go left.
    is_category : ndarray of uint8, shape (nodes,)
        1 where the threshold is a category instead: values equal to it go right, all others left.
    missing_left : ndarray of uint8, shape (nodes,)
        1 where missing values (NaN) go left.
    left : ndarray of int32, shape (nodes,)
        Left child, -1 for a leaf; the right child is the next node.
    value : ndarray of float64, shape (nodes,)
        Leaf value that is added to the score, learning rate included; 0 for nodes that split.
    n_rows : ndarray of int64, shape (nodes,)
        Number of training rows in the node, or their sum of weights, rounded.
    gain : ndarray of float64, shape (nodes,)
        Reduction of the squared error of the residuals by the split; 0 for a leaf.
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

    def breadth_first(self) -> I64:
        """Return the nodes level by level, each level from left to right, shape (nodes,)."""
        left, order = self.left.tolist(), [0]
        for node in order:  # grows while it is read
            if left[node] >= 0:
                order += (left[node], left[node] + 1)
        return np.array(order, dtype=np.int64)

    def reordered(self, order: I64) -> Tree:
        """Return the tree with its nodes in another order, in which siblings still are neighbours."""
        number = np.empty(self.n_nodes + 1, dtype=np.int32)
        number[order] = np.arange(order.shape[0])
        number[-1] = -1  # where a leaf's -1 points
        arrays = {field.name: getattr(self, field.name)[order] for field in fields(self)}
        return Tree(**arrays | {"left": number[arrays["left"]]})

    def only(self, kept: I64) -> Tree:
        """Return the tree of some nodes, ascending; those whose children are not kept become leaves."""
        number = np.full(self.n_nodes + 1, -1, dtype=np.int32)
        number[kept] = np.arange(kept.shape[0])
        left = number[self.left[kept]]  # a leaf's -1 is the last entry, which is -1 too
        splits = left >= 0
        return Tree(
            np.where(splits, self.feature[kept], -1).astype(np.int32),
            np.where(splits, self.threshold[kept], 0.0),
            np.where(splits, self.is_category[kept], 0).astype(np.uint8),
            np.where(splits, self.missing_left[kept], 0).astype(np.uint8),
            left,
            self.value[kept],
            self.n_rows[kept],
            np.where(splits, self.gain[kept], 0.0),
        )

    def knowing(self, column: int, value: float) -> Tree:
        """Return the tree for rows whose value of a column is known: without the splits on this column."""

        def taken(node: int) -> int:
            while self.feature[node] == column:
                threshold = self.threshold[node]
                is_left = value != threshold if self.is_category[node] else value <= threshold
                node = int(self.left[node]) + (not is_left)
            return node

        nodes, left = [taken(0)], []
        for node in nodes:  # grows while it is read
            is_leaf = self.feature[node] < 0
            left.append(-1 if is_leaf else len(nodes))
            nodes += [] if is_leaf else [taken(int(self.left[node])), taken(int(self.left[node]) + 1)]
        arrays = {field.name: getattr(self, field.name)[nodes] for field in fields(self)}
        return Tree(**arrays | {"left": np.array(left, dtype=np.int32)})

    def plus(self, constant: float) -> Tree:
        """Return the tree with a constant added to the values of all leaves."""
        return replace(self, value=np.where(self.feature < 0, self.value + constant, 0.0))

    def covers(self) -> I64:
        """Return the number of training rows of each node, shape (nodes,), such that children add up.

        Every leaf has at least one row, even where weights round to none, and the root has less than 2³¹:
        what reads them divides by them, and may hold them in 32 bits.
        """
        is_leaf = self.feature < 0
        cover = np.where(is_leaf, self.n_rows, 0)
        shift = max(0, int(cover.sum()).bit_length() - _COVER_BITS)
        cover = np.where(is_leaf, np.maximum(cover >> shift, 1), 0)
        for node in np.flatnonzero(~is_leaf)[::-1].tolist():  # children come after their parents
            cover[node] = cover[self.left[node]] + cover[self.left[node] + 1]
        return cover


def leaf_tree(value: float) -> Tree:
    """Return a tree of one leaf."""
    none, no = np.array([-1], dtype=np.int32), np.zeros(1, dtype=np.uint8)
    return Tree(none, np.zeros(1), no, no, none, np.array([value]), np.ones(1, dtype=np.int64), np.zeros(1))


def importances(trees: Sequence[Tree], n_features: int) -> F64:
    """Return the share of each feature in the gain of all splits, shape (n_features,)."""
    gains = np.zeros(n_features)
    for tree in trees:
        used = tree.feature >= 0
        np.add.at(gains, tree.feature[used], tree.gain[used])
    total = gains.sum()
    return gains / total if total > 0 else gains
