"""The nodes of one tree level, and the best splits found for them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gtgbm import _core
from gtgbm.arrays import F64, I32, I64
from gtgbm.fixed_point import Cells


@dataclass
class RowOrder:
    """Rows of a tree, node after node, with their cells in the same order.

    Splitting a node reorders its range in place, so every node owns ``[begin, end)`` for good.
    """

    rows: I32
    cells: I64
    row_scratch: I32
    cell_scratch: I64

    @classmethod
    def of(cls, rows: I32, cells: I64) -> RowOrder:
        """Start a tree: `rows` and `cells` are taken over, not copied."""
        n = rows.shape[0]
        return cls(rows, cells, np.empty((2, n), dtype=np.int32), np.empty((2, n), dtype=np.int64))

    def restart(self, rows: I32, cells: I64) -> None:
        """Start the next tree, keeping the scratch space."""
        self.rows[:] = rows
        self.cells[:] = cells


class Level:
    """Nodes of one level: the root alone, or pairs of siblings next to each other.

    Attributes
    ----------
    depth : int
        0 for the root.
    parent : ndarray of int64, shape (nodes,)
        Index of the parent in the level above, -1 for the root.
    begin, end : ndarray of int64, shape (nodes,)
        The node's range in the tree's `RowOrder`.
    test_begin, test_end : ndarray of int64, shape (nodes,)
        The node's range in the order of the rows that group tests look at.
    total : ndarray of int64, shape (nodes,)
        Cell sum over all machines' rows.
    squares : ndarray of int64, shape (nodes, 2)
        Sum of squared fixed-point residuals, high and low part.
    n_rows : ndarray of int64, shape (nodes,)
        Rows on all machines.
    sse : ndarray of float64, shape (nodes,)
        Squared error around the mean, in squared fixed-point units.
    """

    def __init__(self, table: I64, cells: Cells, depth: int) -> None:
        # One matrix, not eight arrays: a level is a handful of nodes, and numpy calls are what it costs.
        self._table = table
        self._cells = cells
        self.depth = depth
        self.parent, self.begin, self.end, self.test_begin, self.test_end, self.total = table.T[:6]
        self.squares = table[:, 6:]
        self.n_rows: I64 = cells.count(self.total)
        self.sse: F64 = cells.sse(self.total, self.squares)

    @classmethod
    def root(cls, cells: Cells, n_rows: int, n_test_rows: int) -> Level:
        """Make the level of the root."""
        row = [-1, 0, n_rows, 0, n_test_rows, cells.total, *cells.squares]
        return cls(np.array([row], dtype=np.int64), cells, 0)

    def children(self, split: I64, left_stats: I64, left_test_rows: I64) -> Level:
        """Make the level below.

        Parameters
        ----------
        split : ndarray of int64, shape (k,)
            The nodes that split, ascending.
        left_stats : ndarray of int64, shape (k, 4)
            Local rows, cell sum and squares (high, low) of the left sides.
        left_test_rows : ndarray of int64, shape (k,)
            Test rows of the left sides.
        """
        table = np.repeat(self._table[split], 2, axis=0)
        left, right = table[0::2], table[1::2]
        table[:, 0] = np.repeat(split, 2)
        left[:, 2] = right[:, 1] = left[:, 1] + left_stats[:, 0]
        left[:, 4] = right[:, 3] = left[:, 3] + left_test_rows
        right[:, 5:] -= left_stats[:, 1:]
        left[:, 5:] = left_stats[:, 1:]
        return Level(table, self._cells, self.depth + 1)

    def __len__(self) -> int:
        """Return the number of nodes."""
        return int(self._table.shape[0])

    @property
    def size(self) -> I64:
        """Rows of each node on this machine."""
        size: I64 = self.end - self.begin
        return size


@dataclass(frozen=True)
class Splits:
    """Best split of each of some columns at each of some nodes.

    Attributes
    ----------
    features : ndarray of int64, shape (columns,)
    gain : ndarray of float64, shape (nodes, columns)
        In squared fixed-point units; -inf where there is none.
    bin : ndarray of int32, shape (nodes, columns)
        Last bin that goes left.
    missing_side : ndarray of int32, shape (nodes, columns)
        0: right, 1: left, 2: the node has no missing values.
    """

    features: I64
    gain: F64
    bin: I32
    missing_side: I32

    @classmethod
    def uninitialised(cls, nodes: int, features: I64) -> Splits:
        """Make splits to be written by a kernel."""
        shape = (nodes, features.shape[0])
        return cls(
            features, np.empty(shape), np.empty(shape, dtype=np.int32), np.empty(shape, dtype=np.int32)
        )

    @classmethod
    def joined(cls, parts: list[Splits]) -> Splits:
        """Put the columns of several splits side by side."""
        return cls(
            np.concatenate([part.features for part in parts]),
            np.concatenate([part.gain for part in parts], axis=1),
            np.concatenate([part.bin for part in parts], axis=1),
            np.concatenate([part.missing_side for part in parts], axis=1),
        )

    @classmethod
    def none(cls, nodes: int, features: I64) -> Splits:
        """Make splits where nothing was found."""
        splits = cls.uninitialised(nodes, features)
        splits.gain.fill(-np.inf)
        splits.bin.fill(-1)
        splits.missing_side.fill(2)
        return splits


@dataclass(frozen=True)
class TreeContext:
    """What stays the same while one tree grows."""

    pool: _core.Pool
    cells: Cells
    order: RowOrder
    min_leaf: int
    root_sse: float
