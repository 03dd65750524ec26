"""The nodes of one tree level."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property

import numpy as np

from gtgbm.exact import F64, I64, Bool, Cells, squared_errors

ALWAYS_DUE = 1 << 40
"""Value of `Level.due_rows` for nodes that are always searched: more rows than any node has."""

_PARENT, _BEGIN, _END, _NUMBER, _DEPTH, _DUE_ROWS = range(6)
_FIRST, _SIZE, _GRADIENT, _COUNT, _SQUARES_HIGH, _SQUARES_LOW = range(6, 12)
"""Columns of the table of nodes of a level."""


class Level:
    """Nodes of one level: the root alone, or adjacent pairs of siblings followed by nodes without siblings.

    Attributes
    ----------
    step : int
        0 for the level of the root, and one more for each level below.
    parent : ndarray of int64, shape (nodes,)
        Index of the parent in the level above, -1 for the root.
    begin, end : ndarray of int64, shape (nodes,)
        The node's range in the tree's `RowOrder`: its rows on this machine.
    number : ndarray of int64, shape (nodes,)
        The node's number in the tree.
    depth : ndarray of int64, shape (nodes,)
        0 for the root.
    due_rows : ndarray of int64, shape (nodes,)
        A node is due for a search for new features if it has at most this many rows.
    first, size : ndarray of int64, shape (nodes,)
        The node's range if one machine had all rows: its first place, and its number of rows, whatever their
        weights.
    total : ndarray of int64, shape (nodes, 2)
        Gradient sum and row count over all machines' rows.
    squares : ndarray of int64, shape (nodes, 2)
        Sum of squared fixed-point residuals, high and low part.
    n_rows : ndarray of int64, shape (nodes,)
        Sum of the weights of the rows on all machines.
    is_open : ndarray of bool, shape (nodes,)
        False for nodes whose whole subtrees are grown already.
    """

    def __init__(self, table: I64, step: int) -> None:
        # One matrix instead of ten arrays: a level has few nodes, so the cost is the number of numpy calls.
        self._table = table
        self.step = step
        fields = table.T
        self.parent, self.begin, self.end = fields[_PARENT], fields[_BEGIN], fields[_END]
        self.number, self.depth, self.due_rows = fields[_NUMBER], fields[_DEPTH], fields[_DUE_ROWS]
        self.first, self.size = fields[_FIRST], fields[_SIZE]
        self.total: I64 = table[:, _GRADIENT:_SQUARES_HIGH]
        self.squares = table[:, _SQUARES_HIGH:]
        self.n_rows: I64 = fields[_COUNT]
        self.is_open: Bool = np.ones(table.shape[0], dtype=np.bool_)

    @cached_property
    def sse(self) -> F64:
        """Squared error around the mean of each node, in squared fixed-point units, shape (nodes,)."""
        return squared_errors(self.total, self.squares)

    @classmethod
    def root(cls, cells: Cells) -> Level:
        """Return the level of the root."""
        zero, rows = np.zeros(1, dtype=np.int64), np.full(1, cells.values.shape[0], dtype=np.int64)
        due_rows, total = np.full(1, ALWAYS_DUE, dtype=np.int64), np.array([cells.total], dtype=np.int64)
        squares = np.array([cells.squares], dtype=np.int64)
        table = node_table(zero, rows, zero, zero, due_rows, total, squares)
        table[:, _SIZE] = cells.n_total
        return cls(table, 0)

    @classmethod
    def gathered(cls, parts: list[tuple[Level, I64]]) -> Level:
        """Put nodes of several levels into one level, without parents or siblings."""
        table = without_parents(np.concatenate([level._table[nodes] for level, nodes in parts]))
        # A step is left out, since the kept histograms of the last level are not those of the parents.
        return cls(table, parts[-1][0].step + 2)

    def children(self, split: I64, n_left: I64, left_sums: I64, first_number: int) -> Level:
        """Return the level below; children inherit `due_rows` from their parents.

        Parameters
        ----------
        split : ndarray of int64, shape (k,)
            The nodes that split, ascending.
        n_left : ndarray of int64, shape (k,)
            Rows of the left children on this machine.
        left_sums : ndarray of int64, shape (k, 5)
            Number of rows, gradient sum, row count and squares (high, low) of the left children on all
            machines.
        first_number : int
            Number of the first child in the tree; the others get the next numbers.
        """
        table = np.repeat(self._table[split], 2, axis=0)
        left, right = table[0::2], table[1::2]
        table[:, _PARENT] = np.repeat(split, 2)
        left[:, _END] = right[:, _BEGIN] = left[:, _BEGIN] + n_left
        table[:, _NUMBER] = np.arange(first_number, first_number + table.shape[0])
        table[:, _DEPTH] += 1
        right[:, _SIZE:] -= left_sums
        left[:, _SIZE:] = left_sums
        right[:, _FIRST] += left_sums[:, 0]
        return Level(table, self.step + 1)

    def only(self, nodes: Bool) -> Level:
        """Return a level of some nodes, given by a mask, without parents or siblings."""
        return Level.gathered([(self, np.flatnonzero(nodes))])

    def with_nodes(self, nodes: I64) -> Level:
        """Append nodes without parents or siblings, given as in `node_table`."""
        level = Level(np.concatenate([self._table, nodes]), self.step)
        level.is_open[: len(self)] = self.is_open
        return level

    @property
    def nodes(self) -> I64:
        """Table of all nodes, as in `node_table`."""
        return self._table

    def __len__(self) -> int:
        """Return the number of nodes."""
        return int(self._table.shape[0])


def node_table(begin: I64, end: I64, number: I64, depth: I64, due_rows: I64, total: I64, squares: I64) -> I64:
    """Return the table of nodes of a `Level` without parents or siblings, whose rows are all on this machine.

    It has one row per node. `total` and `squares` have shape (nodes, 2), all others (nodes,).
    """
    parent, size = np.full(begin.shape[0], -1, dtype=np.int64), end - begin
    return np.column_stack([parent, begin, end, number, depth, due_rows, begin, size, total, squares])


def from_left_to_right(nodes: I64) -> I64:
    """Return nodes, given as in `node_table`, in the order of their rows."""
    return nodes[np.argsort(nodes[:, _FIRST], kind="stable")]


def without_parents(nodes: I64) -> I64:
    """Remove the parents of nodes in place, to put them into another level."""
    nodes[:, _PARENT] = -1
    return nodes


def with_squares(nodes: I64, squares_of: Callable[[I64, I64], I64]) -> I64:
    """Set the squares of nodes in place, by a function of begin and end."""
    if nodes.shape[0]:
        nodes[:, _SQUARES_HIGH:] = squares_of(nodes[:, _BEGIN].copy(), nodes[:, _END].copy())
    return nodes
