"""The data of one tree that all its nodes share: residuals, row order, limits."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gtgbm import _core
from gtgbm.exact import I32, I64, Cells, FitContext


@dataclass(frozen=True)
class RowOrder:
    """Row ids of a tree, ordered so that the rows of every node are contiguous.

    Splitting a node reorders its range in place, so the range ``[begin, end)`` of a node never changes.

    Attributes
    ----------
    rows : ndarray of int32, shape (n,)
    scratch : ndarray of int32, shape (2, n)
    cells : ndarray of int64, shape (n,)
        Scratch space for the cells of some nodes, in the order of their rows.
    """

    rows: I32
    scratch: I32
    cells: I64

    @classmethod
    def of(cls, n_rows: int) -> RowOrder:
        """Allocate the arrays for `n_rows` rows."""
        rows, scratch = np.empty(n_rows, dtype=np.int32), np.empty((2, n_rows), dtype=np.int32)
        return cls(rows, scratch, np.empty(n_rows, dtype=np.int64))

    def start_tree(self) -> None:
        """Reset the order, so that all rows belong to the root."""
        self.rows[:] = np.arange(self.rows.shape[0], dtype=np.int32)


@dataclass(frozen=True)
class TreeLimits:
    """Conditions under which a node is split, and is searched for new features.

    Attributes
    ----------
    min_node_rows : float
        A node with fewer rows is a leaf (α n in the paper).
    min_leaf : int
        Fewest rows of a leaf.
    l2 : float
        L2 regularization in the unit of the numbers of rows: it is added to the number of rows of each side
        in the gain of a split.
    max_depth : int or None
    max_leaf_nodes : int or None
        Most leaves of a tree: those that growing best-first gives. None: no limit.
    revisit_share : float
        After a fruitless search at a node, a node below it is searched only if it has at most this share of
        the node's rows; 1: every node is searched.
    longest_backoff : int
        Back-off: most trees in a row that do not search for new features after fruitless searches.
    row : float
        What an ordinary row adds to the numbers of rows.
    """

    min_node_rows: float
    min_leaf: int
    l2: float
    max_depth: int | None
    max_leaf_nodes: int | None
    revisit_share: float
    longest_backoff: int
    row: float = 1.0

    @property
    def fewest_rows(self) -> int:
        """Fewest rows of a node that splits."""
        return max(int(np.ceil(self.min_node_rows)), 2 * self.min_leaf)


@dataclass(frozen=True)
class TreeContext:
    """The data of one tree that all its nodes share; constant while it grows, except the row order.

    Attributes
    ----------
    context : FitContext
    cells : Cells
        Residuals in fixed point.
    order : RowOrder
    limits : TreeLimits
    root_sse : float
        Squared error at the root, in squared fixed-point units.
    """

    context: FitContext
    cells: Cells
    order: RowOrder
    limits: TreeLimits
    root_sse: float

    @property
    def pool(self) -> _core.Pool:
        """Threads of the fit."""
        return self.context.pool

    @property
    def min_leaf(self) -> int:
        """Fewest rows of a leaf."""
        return self.limits.min_leaf

    def sum(self, values: I64) -> I64:
        """Return the sum of the arrays of all machines, computed in place where possible."""
        return self.context.communicator.sum(values)

    def sums(self, begin: I64, end: I64) -> I64:
        """Return the sums of ranges of rows on this machine, shape (k, 4).

        They are gradient sum, row count and squares (high, low).
        """
        sums = np.empty((begin.shape[0], 4), dtype=np.int64)
        cells = self.cells
        _core.node_sums(self.pool, self.order.rows, cells.values, begin, end, cells.format, sums)
        return sums
