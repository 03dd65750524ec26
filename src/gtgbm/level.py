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


@dataclass(frozen=True)
class Level:
    """Nodes of one level: the root alone, or pairs of siblings next to each other.

    Attributes
    ----------
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
    """

    parent: I64
    begin: I64
    end: I64
    test_begin: I64
    test_end: I64
    total: I64
    squares: I64

    @classmethod
    def root(cls, cells: Cells, n_rows: int, n_test_rows: int) -> Level:
        """Make the level of the root."""

        def one(value: int) -> I64:
            return np.array([value], dtype=np.int64)

        return cls(
            parent=one(-1),
            begin=one(0),
            end=one(n_rows),
            test_begin=one(0),
            test_end=one(n_test_rows),
            total=one(cells.total),
            squares=np.array([cells.squares], dtype=np.int64),
        )

    @property
    def size(self) -> I64:
        """Rows of each node on this machine."""
        return self.end - self.begin


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
    def empty(cls, nodes: int, features: I64) -> Splits:
        """Make splits where nothing was found."""
        shape = (nodes, features.shape[0])
        return cls(
            features,
            np.full(shape, -np.inf),
            np.full(shape, -1, dtype=np.int32),
            np.full(shape, 2, dtype=np.int32),
        )


@dataclass(frozen=True)
class TreeContext:
    """What stays the same while one tree grows."""

    pool: _core.Pool
    cells: Cells
    order: RowOrder
    min_leaf: int
    root_sse: float
