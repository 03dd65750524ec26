"""A fitted tree, as parallel arrays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from gtgbm.exact import F64, I32, I64, U8


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


def importances(trees: Sequence[Tree], n_features: int) -> F64:
    """Return the share of each feature in the gain of all splits, shape (n_features,)."""
    gains = np.zeros(n_features)
    for tree in trees:
        used = tree.feature >= 0
        np.add.at(gains, tree.feature[used], tree.gain[used])
    total = gains.sum()
    return gains / total if total > 0 else gains
