"""Prediction: packs trees once, then sums their leaf values over the rows of dense or sparse tables."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from gtgbm import _core
from gtgbm.data import ParquetNumbers, as_table
from gtgbm.exact import F64, I32, I64, U8, Table
from gtgbm.tree.tree import Tree

_ROWS_PER_CALL = 1 << 16
"""Rows predicted in one kernel call; Ctrl-C takes effect between calls."""
_CELLS_PER_CALL = 1 << 20
"""Values of sparse rows that are made dense at a time: 8 megabytes."""
_CHANGES_PER_PASS = 1 << 24
"""Changes of scores that are held at a time, 128 megabytes; for more, the trees are walked several times."""


class PackedTrees(NamedTuple):
    """Concatenated nodes of all trees.

    Attributes
    ----------
    first : ndarray of int64, shape (trees + 1,)
        The nodes of tree t are ``first[t]:first[t + 1]``.
    output : ndarray of int64, shape (trees,)
        Index of the score that each tree adds to.
    feature : ndarray of int32, shape (nodes,)
        Position in `Forest.columns`, -1 for a leaf.
    threshold, is_category, missing_left, left, value : ndarray, shape (nodes,)
        As in ``Tree``; children are numbered within their tree.
    """

    first: I64
    output: I64
    feature: I32
    threshold: F64
    is_category: U8
    missing_left: U8
    left: I32
    value: F64


class Forest:
    """An ensemble ready to predict; immutable, and usable in several threads at once.

    Attributes
    ----------
    columns : ndarray of int64, shape (c,)
        Columns of the table that the trees use.
    start : ndarray of float64, shape (k,)
        Initial scores.
    packed : PackedTrees
    """

    def __init__(self, columns: I64, start: F64, packed: PackedTrees) -> None:
        self.columns, self.start, self.packed = columns, start, packed
        # The constructor checks every node, so that even a corrupt tree cannot read outside the arrays.
        self._native = _core.Forest(columns.shape[0], start.shape[0], *packed)

    @property
    def n_trees(self) -> int:
        """Number of trees."""
        return int(self.packed.output.shape[0])

    @classmethod
    def of(cls, trees: Sequence[Tree], outputs: Sequence[int], start: F64) -> Forest:
        """Pack trees; `outputs` are the scores that they add to."""
        feature = _joined([tree.feature for tree in trees], np.int32)
        columns = np.unique(feature[feature >= 0]).astype(np.int64)
        position = np.where(feature >= 0, np.searchsorted(columns, feature), -1).astype(np.int32)
        packed = PackedTrees(
            np.cumsum([0, *(tree.n_nodes for tree in trees)], dtype=np.int64),
            np.array(outputs, dtype=np.int64),
            position,
            _joined([tree.threshold for tree in trees], np.float64),
            _joined([tree.is_category for tree in trees], np.uint8),
            _joined([tree.missing_left for tree in trees], np.uint8),
            _joined([tree.left for tree in trees], np.int32),
            _joined([tree.value for tree in trees], np.float64),
        )
        return cls(columns, start.copy(), packed)

    def __reduce__(self) -> tuple[Any, ...]:
        return Forest, (self.columns, self.start, self.packed)

    def over(self, features: I64) -> Forest:
        """Return the same trees for tables that have only the columns `features`, in this order."""
        assert np.isin(self.columns, features).all(), "trees use columns that are not among the features"
        order = np.argsort(features, kind="stable")
        return Forest(order[np.searchsorted(features, self.columns, sorter=order)], self.start, self.packed)

    def without_rounding(self) -> Forest:
        """Return the same trees with values rounded once, so that no sum or difference of scores rounds.

        Values become multiples of a power of two, of which all sums are whole numbers below 2 ** 53. Rows in
        the same leaves then have the same score in whatever order it was added up. Scores change by as much
        as rounding in sums would change them.
        """
        trees = np.split(np.abs(self.packed.value), self.packed.first[1:-1]) if self.n_trees else []
        largest = float(np.abs(self.start).max(initial=0.0)) + sum(float(values.max()) for values in trees)
        # A change of scores is up to twice the largest score; the other bit is for the rounding of values.
        exponent = math.frexp(largest)[1] + 2 - 53
        packed = self.packed._replace(value=_rounded(self.packed.value, exponent))
        return Forest(self.columns, _rounded(self.start, exponent), packed)

    def scores(
        self, table: Any, pool: _core.Pool, columns: I64 | None = None, n_trees: int | None = None
    ) -> F64:
        """Return the scores of rows; reads only the columns that some tree uses.

        Parameters
        ----------
        table : Table, or CSR or CSC matrix or array of scipy, shape (n, d)
        columns : ndarray of int64, shape (c,), or None
            Positions of `self.columns` in this table; None: the same as in training.
        n_trees : int or None
            Number of trees to add, the first ones; None: all.

        Returns
        -------
        ndarray of float64, shape (k, n)
        """
        scores = np.empty((self.start.shape[0], table.shape[0]))
        scores[:] = self.start[:, None]
        self.add_to(scores, table, pool, columns, (0, self.n_trees if n_trees is None else n_trees))
        return scores

    def staged_scores(
        self, table: Any, pool: _core.Pool, columns: I64 | None, stages: Sequence[int]
    ) -> Iterator[F64]:
        """Yield the scores (k, n) of the first trees, for each of some ascending numbers of trees.

        Each is a new array, with the same bits as `scores` has.
        """
        scores = np.empty((self.start.shape[0], table.shape[0]))
        scores[:] = self.start[:, None]
        for begin, end in pairwise([0, *stages]):
            self.add_to(scores, table, pool, columns, (begin, end))
            yield scores.copy()

    def add_to(
        self,
        scores: F64,
        table: Any,
        pool: _core.Pool,
        columns: I64 | None = None,
        trees: tuple[int, int] | None = None,
    ) -> None:
        """Add the leaf values of all trees, or of a range of them, to ``scores`` (k, n), tree by tree."""
        begin, end = (0, self.n_trees) if trees is None else trees
        for rows, part, places in self.parts(table, self.columns if columns is None else columns):
            sums = np.ascontiguousarray(scores[:, rows])
            self._native.predict(pool, part, places, sums, begin, end)
            scores[:, rows] = sums

    def row_scorer(self, width: int, link: _core.RowScorer.Link) -> _core.RowScorer:
        """Return the native object that predicts single rows of `width` columns, with all trees.

        Scores are those of `scores`, bit for bit. The link applies to the score of a forest of one score.
        """
        return _core.RowScorer(self._native, width, self.columns, self.start, link)

    def leaves(self, table: Any, pool: _core.Pool, columns: I64 | None = None) -> I32:
        """Return the node of each tree that each row ends in, shape (n, trees)."""
        leaves = np.empty((table.shape[0], self.n_trees), dtype=np.int32)
        for rows, part, places in self.parts(table, self.columns if columns is None else columns):
            self._native.leaves(pool, part, places, leaves[rows])
        return leaves

    def contributions_against(
        self,
        background: F64,
        table: Any,
        pool: _core.Pool,
        columns: I64,
        places: I64,
        width: int,
    ) -> F64:
        """Divide scores among columns, if unknown columns have the values of background rows.

        Parameters
        ----------
        background : ndarray of float64, shape (m, c)
            The columns `self.columns` of other rows.
        table, columns, places, width
            As in ``ForestContributions.of_rows``.

        Returns
        -------
        ndarray of float64, shape (n, k, width + 1)
            They add up to the scores; last along the last axis is the mean score of the background.
        """
        found = np.zeros((table.shape[0], self.start.shape[0], width + 1))
        found[:, :, width] = self.scores(background, pool, np.arange(self.columns.shape[0])).mean(axis=1)
        background = np.ascontiguousarray(background, dtype=np.float64)
        for rows, part, at in self.parts(table, columns):
            self._native.add_contributions(pool, part, at, background, places, found[rows])
        return found

    def contributions(self, cover: I64) -> _core.Contributions:
        """Return the native object that divides scores among columns; `cover` has the rows of each node."""
        return _core.Contributions(self._native, cover)

    def score_changes(
        self, table: Any, donor: I64, pool: _core.Pool, features: I64, columns: I64 | None = None
    ) -> F64:
        """Return how scores change if each row takes the value of one column from another row.

        All trees are walked once for all features, and again only where the other value goes the other way.

        Parameters
        ----------
        table : Table, or CSR or CSC matrix or array of scipy, shape (n, d)
        donor : ndarray of int64, shape (n,)
            The row whose value each row takes.
        features : ndarray of int64, shape (f,)
            Positions in `self.columns`, all different: the columns that are changed, one at a time.
        columns : ndarray of int64, shape (c,), or None
            As in ``scores``.

        Returns
        -------
        ndarray of float64, shape (f, k, n)
        """
        places = self.columns if columns is None else columns
        changes = np.empty((features.shape[0], self.start.shape[0], table.shape[0]))
        table, places = _narrow(table, places)
        for rows, part, at in self.parts(table, places):
            if isinstance(table, np.ndarray):
                donors, donor_rows = table, donor[rows]
            else:
                donors = as_table(table[donor[rows]][:, places].toarray())
                donor_rows = np.arange(part.shape[0])
            of_part = np.empty((*changes.shape[:2], part.shape[0]))
            self._native.score_changes(pool, part, donors, donor_rows, at, features, of_part)
            changes[:, :, rows] = of_part
        return changes

    def each_score_change(
        self, table: Any, donor: I64, pool: _core.Pool, features: I64, columns: I64 | None = None
    ) -> Iterator[F64]:
        """Yield the changes of `score_changes` by feature, shape (k, n), and hold few of them at a time."""
        step = max(1, _CHANGES_PER_PASS // max(1, self.start.shape[0] * table.shape[0]))
        for some in _slices(features.shape[0], step):
            yield from self.score_changes(table, donor, pool, features[some], columns)

    @staticmethod
    def parts(table: Any, columns: I64) -> Iterator[tuple[slice, Table, I64]]:
        """Divide a table into dense parts: rows, their values, and the positions of `columns` in them."""
        if isinstance(table, np.ndarray):
            for rows in _slices(table.shape[0], _ROWS_PER_CALL):
                yield rows, table[rows], columns
            return
        if isinstance(table, ParquetNumbers):
            for rows, part in table.blocks(columns):
                yield rows, part, np.arange(columns.shape[0])
            return
        table, columns = _narrow(table, columns)
        n_columns = columns.shape[0]
        for rows in _slices(table.shape[0], max(1, _CELLS_PER_CALL // max(1, n_columns))):
            yield rows, as_table(table[rows][:, columns].toarray()), np.arange(n_columns)


def _narrow(table: Any, columns: I64) -> tuple[Any, I64]:
    """Reduce a CSC matrix to some columns, as CSR, whose rows can be read; other tables stay as they are."""
    if isinstance(table, np.ndarray) or table.format != "csc":
        return table, columns
    return table[:, columns].tocsr(), np.arange(columns.shape[0])


def _slices(n: int, step: int) -> Iterator[slice]:
    for begin in range(0, n, step):
        yield slice(begin, min(begin + step, n))


def _rounded(values: F64, exponent: int) -> F64:
    """Round to multiples of ``2 ** exponent``."""
    return np.asarray(np.ldexp(np.rint(np.ldexp(values, -exponent)), exponent))


def _joined(arrays: Sequence[Any], dtype: Any) -> Any:
    return np.concatenate([*arrays, np.empty(0, dtype)]).astype(dtype, copy=False)
