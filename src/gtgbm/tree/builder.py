"""Collects the nodes and splits of a tree while it grows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gtgbm.exact import F64, I32, I64, MISSING_LEFT, Bool
from gtgbm.tree.nodes import Level
from gtgbm.tree.splits import SplitRules
from gtgbm.tree.tree import Tree


@dataclass(frozen=True)
class _SplitNodes:
    number: I64
    rules: SplitRules
    missing_side: I32
    gain: F64
    left: I64


@dataclass(frozen=True)
class _Nodes:
    n_rows: I64
    begin: I64
    end: I64


class TreeBuilder:
    """Collects nodes, numbered in the order in which they are added, and their splits.

    Attributes
    ----------
    n_nodes : int
        Number of nodes so far.
    """

    def __init__(self, root: Level) -> None:
        self.n_nodes = 0
        self._nodes: list[_Nodes] = []
        self._splits: list[_SplitNodes] = []
        self.add_nodes(root.n_rows, root.begin, root.end)

    def add_nodes(self, n_rows: I64, begin: I64, end: I64) -> None:
        """Add nodes, which get the next numbers; all arrays have shape (nodes,)."""
        self._nodes.append(_Nodes(n_rows, begin, end))
        self.n_nodes += n_rows.shape[0]

    def add_splits(self, number: I64, rules: SplitRules, missing_side: I32, gain: F64, left: I64) -> None:
        """Record the splits of nodes; a right child has the number after its left sibling.

        Parameters
        ----------
        number : ndarray of int64, shape (k,)
            The nodes that split.
        left : ndarray of int64, shape (k,)
            Numbers of their left children.
        """
        self._splits.append(_SplitNodes(number, rules, missing_side, gain, left))

    def tree(self, scale: float, unit: float) -> Tree:
        """Return the tree, with all leaf values 0.

        Parameters
        ----------
        scale, unit : float
            `scale` is that of the fixed-point residuals and `unit` that of the weights. Recorded gains are
            divided by ``scale**2 * unit``, recorded numbers of rows by `unit`.
        """
        n = self.n_nodes
        feature, left = np.full(n, -1, dtype=np.int32), np.full(n, -1, dtype=np.int32)
        threshold, gain = np.zeros(n), np.zeros(n)
        missing_left, is_category = np.zeros(n, dtype=np.uint8), np.zeros(n, dtype=np.uint8)
        n_rows = np.concatenate([nodes.n_rows for nodes in self._nodes])
        for split in self._splits:
            at = split.number
            feature[at] = split.rules.column
            threshold[at] = split.rules.threshold
            is_category[at] = split.rules.is_category
            missing_left[at] = _missing_left(split)
            left[at] = split.left
            gain[at] = split.gain
        n_rows = np.rint(n_rows / unit).astype(np.int64)
        with np.errstate(over="ignore", divide="ignore", invalid="ignore"):  # the booster reports divergence
            gain /= scale**2 * unit
        return Tree(feature, threshold, is_category, missing_left, left, np.zeros(n), n_rows, gain)

    def features(self) -> I64:
        """Return the feature that each node splits on, -1 for a leaf, shape (nodes,)."""
        feature = np.full(self.n_nodes, -1, dtype=np.int64)
        for split in self._splits:
            feature[split.number] = split.rules.feature
        return feature

    def rows(self) -> tuple[I64, I64]:
        """Return begin and end of every node's range of rows, each of shape (nodes,)."""
        begin = np.concatenate([nodes.begin for nodes in self._nodes])
        return begin, np.concatenate([nodes.end for nodes in self._nodes])


def _missing_left(split: _SplitNodes) -> Bool:
    numeric = split.missing_side == MISSING_LEFT
    # In a categorical column, missing is a category: it goes right only where the split is on that category.
    return np.where(split.rules.is_category == 1, ~np.isnan(split.rules.threshold), numeric)
