"""Contributions of columns to the scores of a forest: path-dependent Shapley values of trees."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from gtgbm import _core
from gtgbm.exact import F64, I64
from gtgbm.tree.forest import Forest
from gtgbm.tree.tree import Tree


class ForestContributions:
    """Divides the scores of rows among the columns that trees split on.

    The values are those of TreeSHAP with ``feature_perturbation="tree_path_dependent"``: at a split on a
    column that is not known, a row goes both ways, with the shares of the training rows that did.

    Parameters
    ----------
    trees : sequence of Tree
    outputs : sequence of int
        The score that each tree adds to.
    start : ndarray of float64, shape (k,)
        Initial scores.

    Attributes
    ----------
    forest : Forest
        The same trees.
    expected : ndarray of float64, shape (k,)
        Mean scores of the training rows, what scores are if no column is known.
    """

    def __init__(self, trees: Sequence[Tree], outputs: Sequence[int], start: F64) -> None:
        self.forest = Forest.of(trees, outputs, start)
        covers = [tree.covers() for tree in trees]
        self._native = self.forest.contributions(np.concatenate([*covers, np.empty(0, np.int64)]))
        self._interactions: _core.Interactions | None = None
        self.expected = start.copy()
        for tree, cover, output in zip(trees, covers, outputs, strict=True):
            is_leaf = tree.feature < 0
            self.expected[output] += np.sum(tree.value[is_leaf] * (cover[is_leaf] / cover[0]))

    def of_rows(self, table: Any, pool: _core.Pool, columns: I64, places: I64, width: int) -> F64:
        """Return the contributions of rows.

        Parameters
        ----------
        table : Table, or CSR or CSC matrix or array of scipy, shape (n, d)
        columns : ndarray of int64, shape (c,)
            Positions of ``forest.columns`` in this table.
        places : ndarray of int64, shape (c,)
            Where their contributions go along the last axis.
        width : int
            Number of columns of the result, without the expected score.

        Returns
        -------
        ndarray of float64, shape (n, k, width + 1)
            They add up to the scores; last along the last axis is the expected score.
        """
        found = np.zeros((table.shape[0], self.expected.shape[0], width + 1))
        found[:, :, width] = self.expected
        for rows, part, at in self.forest.parts(table, columns):
            self._native.add_to(pool, part, at, places, found[rows])
        return found

    def interactions(self, table: Any, pool: _core.Pool, columns: I64, places: I64, width: int) -> F64:
        """Return the interactions of pairs of columns; parameters as in `of_rows`.

        Returns
        -------
        ndarray of float64, shape (n, k, width + 1, width + 1)
            Symmetric; the sums over the last axis are the contributions.
        """
        if self._interactions is None:
            self._interactions = _core.Interactions(self._native)
        found = np.zeros((table.shape[0], self.expected.shape[0], width + 1, width + 1))
        found[:, :, width, width] = self.expected
        for rows, part, at in self.forest.parts(table, columns):
            self._interactions.write(pool, part, at, places, found[rows])
        return found
