"""Histograms and best splits of pairs: one column at one node."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gtgbm import _core
from gtgbm.exact import CELLS, F64, I32, I64, U8
from gtgbm.tree.context import TreeContext
from gtgbm.tree.nodes import Level


@dataclass(frozen=True)
class PairColumns:
    """The column of each pair.

    Attributes
    ----------
    codes : ndarray of uint8, shape (columns, n)
    slot : ndarray of int64, shape (pairs,)
        Row of `codes` of each pair.
    n_bins : ndarray of int32, shape (pairs,)
    direction : ndarray of uint8, shape (pairs,)
        Monotone constraint: 0, RISING or FALLING.
    """

    codes: U8
    slot: I64
    n_bins: I32
    direction: U8


@dataclass(frozen=True)
class PairRows:
    """The rows of each pair's node: pair k has ``rows[begin[k]:end[k]]``, with sums ``total[k]``.

    Attributes
    ----------
    rows : ndarray of int32
        Indices into the codes of a column.
    cells : ndarray of int64, shape (n,)
        Packed residuals, indexed like the codes of a column.
    begin, end : ndarray of int64, shape (pairs,)
    total : ndarray of int64, shape (pairs, 2)
    """

    rows: I32
    cells: I64
    begin: I64
    end: I64
    total: I64


def measure_pairs(tree: TreeContext, level: Level, node: I64, columns: PairColumns) -> tuple[F64, I32, I32]:
    """Return the best split of each pair, over the rows of all machines.

    Parameters
    ----------
    node : ndarray of int64, shape (pairs,)
        Index of each pair's node in `level`.

    Returns
    -------
    gain, bin, missing_side : ndarray, shape (pairs,)
        As in `Splits`, but with a gain of -inf where there is no split.
    """
    order, cells = tree.order.rows, tree.cells.values
    rows = PairRows(order, cells, level.begin[node], level.end[node], level.total[node])
    limits = tree.limits
    hist = tree.sum(_histograms(tree, rows, columns))
    return _scan(tree, hist, rows, columns, limits.min_leaf, limits.l2)


def sampled_gains(tree: TreeContext, rows: PairRows, columns: PairColumns, min_leaf: int, l2: float) -> F64:
    """Return the gain of the best split of each pair on sampled rows only, shape (pairs,)."""
    return _scan(tree, _histograms(tree, rows, columns), rows, columns, min_leaf, l2)[0]


def _histograms(tree: TreeContext, rows: PairRows, columns: PairColumns) -> I64:
    cell_format = tree.cells.format
    hist = np.empty((rows.begin.shape[0], CELLS * cell_format.width), dtype=np.int64)
    _core.build_pair_histograms(
        pool=tree.pool,
        codes=columns.codes,
        column=columns.slot,
        rows=rows.rows,
        cells=rows.cells,
        begin=rows.begin,
        end=rows.end,
        format=cell_format,
        hist=hist,
    )
    return hist


def _scan(
    tree: TreeContext, hist: I64, rows: PairRows, columns: PairColumns, min_leaf: int, l2: float
) -> tuple[F64, I32, I32]:
    k = hist.shape[0]
    gain, bins, side = np.empty(k), np.empty(k, dtype=np.int32), np.empty(k, dtype=np.int32)
    _core.scan_pair_histograms(
        pool=tree.pool,
        hist=hist,
        n_bins=columns.n_bins,
        use=columns.direction,
        total=rows.total,
        format=tree.cells.format,
        min_leaf=min_leaf,
        l2=l2,
        gain=gain,
        bin=bins,
        missing_side=side,
    )
    return gain, bins, side
