"""The nodes of one tree level, and the best splits found for them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from gtgbm import _core
from gtgbm.exact import F64, I32, I64, Bool, Cells

ALWAYS_DUE = 1 << 40
"""For `Level.due_rows`: more rows than any node has."""


@dataclass(frozen=True)
class RowOrder:
    """Rows of a tree, node after node.

    Splitting a node reorders its range in place, so every node owns ``[begin, end)`` for good.

    Attributes
    ----------
    rows : ndarray of int32, shape (n,)
    scratch : ndarray of int32, shape (2, n)
    cells : ndarray of int64, shape (n,)
        Scratch: cells of some nodes in the order of their rows.
    """

    rows: I32
    scratch: I32
    cells: I64

    @classmethod
    def of(cls, n_rows: int) -> RowOrder:
        """Make room for some rows."""
        rows, scratch = np.empty(n_rows, dtype=np.int32), np.empty((2, n_rows), dtype=np.int32)
        return cls(rows, scratch, np.empty(n_rows, dtype=np.int64))

    def start_tree(self) -> None:
        """Give all rows to the root."""
        self.rows[:] = np.arange(self.rows.shape[0], dtype=np.int32)


class Level:
    """Nodes of one level: the root alone, or pairs of siblings next to each other, then nodes without any.

    Attributes
    ----------
    step : int
        0 for the root's level, one more for the level below.
    parent : ndarray of int64, shape (nodes,)
        Index of the parent in the level above, -1 for the root.
    begin, end : ndarray of int64, shape (nodes,)
        The node's range in the tree's `RowOrder`.
    number : ndarray of int64, shape (nodes,)
        The node's number in the tree.
    depth : ndarray of int64, shape (nodes,)
        0 for the root.
    due_rows : ndarray of int64, shape (nodes,)
        The node is searched for new features if it has at most so many rows.
    total : ndarray of int64, shape (nodes,)
        Cell sum over all machines' rows.
    squares : ndarray of int64, shape (nodes, 2)
        Sum of squared fixed-point residuals, high and low part.
    n_rows : ndarray of int64, shape (nodes,)
        Rows on all machines.
    is_open : ndarray of bool, shape (nodes,)
        False for nodes that are taken care of already.
    """

    def __init__(self, table: I64, cells: Cells, step: int) -> None:
        # One matrix, not ten arrays: a level is a handful of nodes, and numpy calls are what it costs.
        self._table = table
        self._cells = cells
        self.step = step
        self.parent, self.begin, self.end, self.number, self.depth, self.due_rows, self.total = table.T[:7]
        self.squares = table[:, 7:]
        self.n_rows: I64 = cells.count(self.total)
        self.is_open: Bool = np.ones(table.shape[0], dtype=np.bool_)

    @cached_property
    def sse(self) -> F64:
        """Squared error around the mean of each node, in squared fixed-point units, shape (nodes,)."""
        return self._cells.sse(self.total, self.squares)

    @classmethod
    def root(cls, cells: Cells, n_rows: int) -> Level:
        """Make the level of the root."""
        row = [-1, 0, n_rows, 0, 0, ALWAYS_DUE, cells.total, *cells.squares]
        return cls(np.array([row], dtype=np.int64), cells, 0)

    @classmethod
    def gathered(cls, parts: list[tuple[Level, I64]]) -> Level:
        """Put nodes of several levels into one; they have no parents or siblings there."""
        table = np.concatenate([level._table[nodes] for level, nodes in parts])
        table[:, 0] = -1
        last = parts[-1][0]
        # Not the step after the last one: nothing kept of that level belongs to this one.
        return cls(table, last._cells, last.step + 2)

    def children(self, split: I64, n_left: I64, left_sums: I64, due_rows: I64, first_number: int) -> Level:
        """Make the level below.

        Parameters
        ----------
        split : ndarray of int64, shape (k,)
            The nodes that split, ascending.
        n_left : ndarray of int64, shape (k,)
            Rows of the left sides on this machine.
        left_sums : ndarray of int64, shape (k, 3)
            Cell sum and squares (high, low) of the left sides on all machines.
        due_rows : ndarray of int64, shape (k,)
            What both children get.
        first_number : int
            Number in the tree of the first child; the others follow.
        """
        table = np.repeat(self._table[split], 2, axis=0)
        left, right = table[0::2], table[1::2]
        table[:, 0] = np.repeat(split, 2)
        left[:, 2] = right[:, 1] = left[:, 1] + n_left
        table[:, 3] = np.arange(first_number, first_number + table.shape[0])
        table[:, 4] += 1
        table[:, 5] = np.repeat(due_rows, 2)
        right[:, 6:] -= left_sums
        left[:, 6:] = left_sums
        return Level(table, self._cells, self.step + 1)

    def only(self, nodes: Bool) -> Level:
        """Keep some nodes, without parents or siblings."""
        return Level.gathered([(self, np.flatnonzero(nodes))])

    def with_nodes(self, nodes: I64) -> Level:
        """Append nodes without parents or siblings; columns as in `node_table`."""
        level = Level(np.concatenate([self._table, nodes]), self._cells, self.step)
        level.is_open[: len(self)] = self.is_open
        return level

    @property
    def nodes(self) -> I64:
        """All nodes, as `with_nodes` takes them."""
        return self._table

    def __len__(self) -> int:
        """Return the number of nodes."""
        return int(self._table.shape[0])

    @property
    def size(self) -> I64:
        """Rows of each node on this machine."""
        size: I64 = self.end - self.begin
        return size


def node_table(begin: I64, end: I64, number: I64, depth: I64, due_rows: I64, total: I64, squares: I64) -> I64:
    """Rows of a `Level` for nodes without parents or siblings."""
    parent = np.full(begin.shape[0], -1, dtype=np.int64)
    return np.column_stack([parent, begin, end, number, depth, due_rows, total, squares])


@dataclass
class Splits:
    """The best split found for each of some nodes: parallel arrays.

    Attributes
    ----------
    feature : ndarray of int64, shape (nodes,)
        -1 where there is none.
    gain : ndarray of float64, shape (nodes,)
        In squared fixed-point units; 0 where there is no split.
    bin : ndarray of int32, shape (nodes,)
        Last bin that goes left; for a category, its code, which goes right.
    missing_side : ndarray of int32, shape (nodes,)
        0: right, 1: left, 2: the node has no missing values.
    """

    feature: I64
    gain: F64
    bin: I32
    missing_side: I32

    @classmethod
    def none(cls, nodes: int) -> Splits:
        """No split at any node."""
        return cls(
            np.full(nodes, -1, dtype=np.int64),
            np.zeros(nodes),
            np.full(nodes, -1, dtype=np.int32),
            np.full(nodes, 2, dtype=np.int32),
        )

    def put(self, nodes: I64, other: Splits) -> None:
        """Let `nodes` split as `other` does."""
        self.feature[nodes] = other.feature
        self.gain[nodes] = other.gain
        self.bin[nodes] = other.bin
        self.missing_side[nodes] = other.missing_side

    def improve(self, nodes: I64, other: Splits) -> None:
        """Let those of `nodes` split as `other` does that gain more by it."""
        better = other.gain > self.gain[nodes]
        self.put(nodes[better], other.at(np.flatnonzero(better)))

    def at(self, rows: I64) -> Splits:
        """Take some rows."""
        return Splits(self.feature[rows], self.gain[rows], self.bin[rows], self.missing_side[rows])


@dataclass(frozen=True)
class TreeContext:
    """What stays the same while one tree grows."""

    pool: _core.Pool
    cells: Cells
    order: RowOrder
    min_leaf: int
    root_sse: float

    def sums(self, begin: I64, end: I64) -> I64:
        """Cell sum and squares (high, low) of ranges of rows, shape (k, 3)."""
        sums = np.empty((begin.shape[0], 3), dtype=np.int64)
        bits = self.cells.count_bits
        _core.node_sums(self.pool, self.order.rows, self.cells.values, begin, end, bits, sums)
        return sums


@dataclass(frozen=True)
class TreeLimits:
    """When a node is not split, and when it is not searched for new features.

    Attributes
    ----------
    min_node_rows : float
        A node with fewer rows is a leaf (α n).
    min_leaf : int
        Fewest rows of a leaf.
    max_depth : int or None
    revisit_share : float
        Where a node found nothing to buy, a node below it looks again once it has at most this share of its
        rows; 1: every node looks.
    longest_rest : int
        Most trees in a row that do not look for new features, after one that looked and found none.
    """

    min_node_rows: float
    min_leaf: int
    max_depth: int | None
    revisit_share: float
    longest_rest: int

    @property
    def fewest_rows(self) -> int:
        """Fewest rows of a node that splits."""
        return max(int(np.ceil(self.min_node_rows)), 2 * self.min_leaf)
