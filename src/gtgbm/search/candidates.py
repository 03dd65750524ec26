"""Columns of candidate features, encoded once each, and the sampled rows of nodes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from gtgbm import _core
from gtgbm.data import CodeStore, Columns, MemoryCodes, ParquetColumns
from gtgbm.exact import F64, I32, I64, U8, Shard, assemble
from gtgbm.tree import Level, PairColumns, PairRows, TreeContext, sampled_gains


class CandidateColumns:
    """Codes of candidate columns, each encoded once, when it is first needed.

    Parameters
    ----------
    encode : callable
        ``encode(features, out)`` writes codes (features, n_rows, 1) and returns numbers of bins.
    store : CodeStore
        Where the codes are kept.
    """

    def __init__(self, n_columns: int, encode: Callable[[I64, U8], I32], store: CodeStore) -> None:
        self._encode = encode
        self._store = store
        self._slot: I64 = np.full(n_columns, -1, dtype=np.int64)
        self._count = 0
        self.codes: U8 = store.grown(8)
        self.n_bins: I32 = np.empty(8, dtype=np.int32)

    def slots(self, features: I64) -> I64:
        """Return the rows of `codes` that hold some features; new features are encoded first."""
        new = np.unique(features[self._slot[features] < 0])
        if new.shape[0]:
            first, last = self._count, self._count + new.shape[0]
            if last > self.n_bins.shape[0]:
                self._grow(max(last, 2 * self.n_bins.shape[0]))
            self.n_bins[first:last] = self._encode(new, self.codes[first:last, :, None])
            self._slot[new] = np.arange(first, last)
            self._count = last
        return self._slot[features]

    def pairs(self, features: I64, directions: U8) -> PairColumns:
        """Return the columns of some features, one for each pair of a node and a feature.

        Parameters
        ----------
        features : ndarray of int64, shape (pairs,)
        directions : ndarray of uint8, shape (columns,)
            RISING or FALLING where a column has a monotone constraint, else 0.
        """
        slots = self.slots(features)
        return PairColumns(self.codes, slots, self.n_bins[slots], directions[features])

    def release(self) -> None:
        """Free the memory of codes that can be had again."""
        self._store.release()

    def _grow(self, capacity: int) -> None:
        self.codes = self._store.grown(capacity)
        self.n_bins = np.resize(self.n_bins, capacity)


def store_of(columns: Columns) -> CodeStore:
    """Return a place for the codes of whole columns: in memory, or on disk if that is where the table is."""
    if isinstance(columns, ParquetColumns):
        return columns.new_store()
    return MemoryCodes(columns.n_rows)


class RowSample:
    """The rows of nodes that belong to a fixed sample.

    Parameters
    ----------
    rows : ndarray of int64, shape (m,)
        Numbers in the whole table, ascending.
    shard : Shard
        Which rows of the whole table this worker has.
    """

    def __init__(self, rows: I64, shard: Shard) -> None:
        self.rows = rows
        self._own, self._local = shard.find(rows)
        self._position: I32 = np.full(shard.n_rows, -1, dtype=np.int32)
        self._position[self._local] = self._own
        self._every: I32 = np.arange(rows.shape[0], dtype=np.int32)
        self._positions: I32 = np.empty(rows.shape[0], dtype=np.int32)
        self._cells: I64 = np.empty(rows.shape[0], dtype=np.int64)

    def cells(self, tree: TreeContext) -> I64:
        """Return the packed residuals of the sample, shape (m,)."""
        own = tree.cells.values[self._local]
        if tree.context.is_alone:
            return own
        return assemble(own, self._own, self.rows.shape[0], tree.context.communicator)

    def of(self, tree: TreeContext, level: Level, nodes: I64) -> SampledNodes:
        """Return the sampled rows of some nodes."""
        cells = self.cells(tree)
        if level.size[nodes[0]] == tree.cells.n_total:
            # The root has all rows in order, so there is no need to go through the rows that are not sampled.
            first, last = np.zeros(1, dtype=np.int64), np.full(1, cells.shape[0])
            total = np.array([[part.sum() for part in _gradients_and_weights(tree, cells)]])
            return SampledNodes(self._every, cells, cells, first, last, total)
        k = nodes.shape[0]
        first, total = np.empty(k + 1, dtype=np.int64), np.empty((k, 2), dtype=np.int64)
        _core.sampled_rows(
            rows=tree.order.rows,
            cells=tree.cells.values,
            begin=level.begin[nodes],
            end=level.end[nodes],
            position=self._position,
            format=tree.cells.format,
            out_positions=self._positions,
            out_cells=self._cells,
            first=first,
            total=total,
        )
        if not tree.context.is_alone:
            return self._of_all(tree, cells, first)
        return SampledNodes(self._positions, self._cells, cells, first[:-1], first[1:], total)

    def _of_all(self, tree: TreeContext, cells: I64, first: I64) -> SampledNodes:
        """Return the sampled rows of nodes on all workers; this one found those of node k at `first[k]`."""
        n_nodes = first.shape[0] - 1
        positions = self._positions[: first[-1]].astype(np.int64)
        # 0 stands for rows of other nodes.
        own = np.repeat(np.arange(1, n_nodes + 1), np.diff(first))
        number = assemble(own, positions, self.rows.shape[0], tree.context.communicator)
        order = np.argsort(number, kind="stable")
        bounds = np.searchsorted(number[order], np.arange(1, n_nodes + 2))
        sums = np.zeros((cells.shape[0] + 1, 2), dtype=np.int64)
        np.cumsum(np.stack(_gradients_and_weights(tree, cells[order]), axis=1), axis=0, out=sums[1:])
        begin, end = bounds[:-1].astype(np.int64), bounds[1:].astype(np.int64)
        return SampledNodes(order.astype(np.int32), cells[order], cells, begin, end, sums[end] - sums[begin])


def _gradients_and_weights(tree: TreeContext, values: I64) -> tuple[I64, I64]:
    """Return what rows add to the two sums of a node, each of shape (rows,)."""
    return tree.cells.gradients(values), tree.cells.weights(values)


class SideTerms(NamedTuple):
    """Conditions on the sides of a split of sampled rows, in the unit of their numbers.

    Attributes
    ----------
    min_leaf : int
        Fewest rows of a side.
    l2 : float
        L2 regularization.
    """

    min_leaf: int
    l2: float


@dataclass(frozen=True)
class SampledNodes:
    """Sampled rows of some nodes.

    Attributes
    ----------
    positions : ndarray of int32, shape (m,)
        Positions in the sample, node by node.
    cells : ndarray of int64, shape (m,)
        Packed residuals, in the order of `positions`.
    by_position : ndarray of int64, shape (sample,)
        Packed residuals of the whole sample, in the order of the sample.
    begin, end : ndarray of int64, shape (nodes,)
        The rows of node k are ``positions[begin[k]:end[k]]``.
    total : ndarray of int64, shape (nodes, 2)
        Gradient sum and row count of each node's sampled rows.
    """

    positions: I32
    cells: I64
    by_position: I64
    begin: I64
    end: I64
    total: I64

    @property
    def n_rows(self) -> I64:
        """Number of sampled rows of each node, or their sum of weights, shape (nodes,)."""
        counts: I64 = self.total[:, 1]
        return counts

    def gains(self, tree: TreeContext, node: I64, columns: PairColumns, terms: SideTerms) -> F64:
        """Return the gain of the best split of each pair of a node and a column, on the sampled rows only."""
        begin, end, total = self.begin[node], self.end[node], self.total[node]
        rows = PairRows(self.positions, self.by_position, begin, end, total)
        return sampled_gains(tree, rows, columns, *terms)
